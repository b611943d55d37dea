/* injection_images.c - recognises PTX, has it rewritten by the kit's own rewriter in another process, writes records */
#define _GNU_SOURCE
#include "injection.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { PATH_ROOM = 4096, LINE_ROOM = 65536, MOST_VARIABLES = 4096, LONGEST_HEADER = 1 << 16 };

void json_text(char *out, size_t room, const char *text)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *text && n + 8 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 32 || c > 126) {
            n += (size_t)snprintf(out + n, 7, "\\u%04x", c);
        } else {
            out[n++] = (char)c;
        }
    }
    out[n++] = '"';
    out[n] = 0;
}

void record(const char *format, ...)
{
    static char line[LINE_ROOM];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *path = getenv("PDL_STRESS_RECORDS");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    va_list arguments;

    if (file < 0) {
        return;
    }
    pthread_mutex_lock(&lock);
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (n > 0 && n < LINE_ROOM - 1) {
        line[n] = '\n';
        if (write(file, line, (size_t)n + 1) < 0) {
            n = 0; /* nothing to be done about it here */
        }
    }
    pthread_mutex_unlock(&lock);
    close(file);
}

char *file_contents(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *data = NULL;
    if (file >= 0 && fstat(file, &status) == 0 && (data = malloc((size_t)status.st_size + 1)) != NULL) {
        size_t done = 0;
        ssize_t n = 1;
        while (done < (size_t)status.st_size && (n = read(file, data + done, (size_t)status.st_size - done)) > 0) {
            done += (size_t)n;
        }
        data[done] = 0;
        *size = done;
    }
    if (file >= 0) {
        close(file);
    }
    return data;
}

static int file_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    int ok = file && fwrite(data, 1, size, file) == size;
    return file ? (fclose(file) == 0 && ok) : 0;
}

/* Text that has .version within its first 64 KiB; ELF files and fat binaries begin with other bytes. */
static int is_ptx(const char *image)
{
    size_t n = 0;
    while (n < LONGEST_HEADER && image[n] && (image[n] == '\t' || image[n] == '\n' || image[n] == '\r' || (image[n] & 0x80)
                                              || (image[n] >= 32 && image[n] < 127))) {
        if (strncmp(image + n, ".version", 8) == 0) {
            return 1;
        }
        n++;
    }
    return 0;
}

static int run(char *const argv[])
{
    char *clean[MOST_VARIABLES];
    size_t n = 0;
    pid_t child;
    int status = 0;
    for (char **variable = environ; *variable && n + 1 < MOST_VARIABLES; variable++) {
        if (strncmp(*variable, "LD_PRELOAD=", 11) != 0) {
            clean[n++] = *variable;
        }
    }
    clean[n] = NULL;
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, clean) != 0) {
        return -1;
    }
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Gives the PTX to a part of the kit as a file and returns the file that comes out of it. */
static char *through(char *part, const char *arch, const void *ptx, size_t size, size_t *new_size)
{
    static unsigned count;
    const char *folder = getenv("PDL_STRESS_FOLDER");
    char *python = getenv("PDL_STRESS_PYTHON"), *package = getenv("PDL_STRESS_PACKAGE");
    char in[PATH_ROOM], out[PATH_ROOM], *data = NULL;
    unsigned n = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);

    if (!folder || !python || !package) {
        return NULL;
    }
    snprintf(in, sizeof in, "%s/%d-%u.ptx", folder, (int)getpid(), n);
    snprintf(out, sizeof out, "%s/%d-%u.out", folder, (int)getpid(), n);
    char *to_text[] = {python, package, "stress", part, in, out, NULL};
    char *to_code[] = {python, package, "stress", part, (char *)arch, in, "-o", out, NULL};
    if (file_write(in, ptx, size) && run(arch ? to_code : to_text) == 0) {
        data = file_contents(out, new_size);
    }
    unlink(in);
    unlink(out);
    return data;
}

const void *image_rewritten(const void *image, size_t size, size_t *new_size)
{
    if (!stress_is_on() || image == NULL || !is_ptx(image)) {
        return NULL;
    }
    size_t length = size ? strnlen(image, size) : strlen(image);
    size_t got = 0;
    char *text = through("jit", NULL, image, length, &got);
    if (new_size) {
        *new_size = got + 1;
    }
    return text;
}

void *cubin_of(const char *ptx, size_t *size)
{
    const char *target = strstr(ptx, ".target");
    char arch[64] = "-arch=";
    size_t n = strlen(arch);
    if (!stress_is_on() || target == NULL) {
        return NULL;
    }
    for (target += 7; *target == ' ' || *target == '\t'; target++) {
    }
    while (n + 1 < sizeof arch && (*target == '_' || (*target >= '0' && *target <= '9') || (*target >= 'a' && *target <= 'z'))) {
        arch[n++] = *target++;
    }
    arch[n] = 0;
    return through("ptxas", arch, ptx, strlen(ptx), size);
}
