/* records.c - appends lines of JSON to the file that the command reads */
#define _GNU_SOURCE
#include "injection.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_ROOM = 65536 };

static __thread int writing;

int record_is_being_written(void)
{
    return writing;
}

void record(const char *format, ...)
{
    static char line[LINE_ROOM];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *path = getenv("PDL_STRESS_RECORDS");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    va_list arguments;

    if (file < 0) {
        return;
    }
    writing = 1;
    pthread_mutex_lock(&lock);
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (n > 0 && n < LINE_ROOM - 1) {
        line[n] = '\n';
        if (write(file, line, (size_t)n + 1) < 0) {
            n = 0; /* the disk is full or the file is gone; nothing can be done about it here */
        }
    }
    pthread_mutex_unlock(&lock);
    writing = 0;
    close(file);
}
