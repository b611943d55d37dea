/* digests.c - a digest of everything that the program copies from the device to the host
 *
 * What a program prints or writes it has copied first, so a race whose effect matters shows in these bytes. A copy that has
 * not ended when its function returns is read when the program itself waits for it. Records go to $PDL_STRESS_DIGESTS.
 */
#define _GNU_SOURCE
#include "injection.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECES = 16, MOST_PENDING = 4096, MOST_RECORDS = 20000, LINE_ROOM = 1024 };

struct copy {
    const void *data;
    size_t bytes;
    const void *stream;
    unsigned long number;
    const char *after; /* the kernel that was launched last */
};

static struct copy pending[MOST_PENDING];
static size_t pending_count;
static unsigned long copies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *output(void)
{
    static const char *path;
    static int asked;
    if (!asked) {
        path = getenv("PDL_STRESS_DIGESTS");
        asked = 1;
    }
    return path;
}

int digests_are_wanted(void)
{
    return output() != NULL;
}

/* Multiplies and rotates, eight bytes at a time. It only has to tell changed bytes from equal ones. */
static uint64_t digest_of(const unsigned char *data, size_t bytes)
{
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) ^ bytes, word = 0;
    for (; bytes >= sizeof word; data += sizeof word, bytes -= sizeof word) {
        memcpy(&word, data, sizeof word);
        state = (state ^ word) * UINT64_C(0xC2B2AE3D27D4EB4F);
        state = state << 31 | state >> 33;
    }
    word = 0;
    memcpy(&word, data, bytes);
    state = (state ^ word) * UINT64_C(0x9E3779B185EBCA87);
    return state ^ state >> 29;
}

static void write_record(const struct copy *copy)
{
    char line[LINE_ROOM], name[512];
    int n = 0, file;
    json_text(name, sizeof name, copy->after ? copy->after : "");
    n += snprintf(line, sizeof line, "{\"copy\":%lu,\"bytes\":%zu,\"after\":%s,\"digests\":[", copy->number, copy->bytes, name);
    for (size_t i = 0; i < PIECES; i++) {
        size_t from = copy->bytes * i / PIECES, to = copy->bytes * (i + 1) / PIECES;
        n += snprintf(line + n, sizeof line - (size_t)n, "%s\"%016llx\"", i ? "," : "",
                      (unsigned long long)digest_of((const unsigned char *)copy->data + from, to - from));
    }
    n += snprintf(line + n, sizeof line - (size_t)n, "]}\n");
    file = open(output(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
        if (write(file, line, (size_t)n) < 0) {
            n = 0; /* the disk is full or the file is gone; nothing can be done about it here */
        }
        close(file);
    }
}

void copied_to_host(const void *data, size_t bytes, const void *stream, int ended)
{
    pthread_mutex_lock(&lock);
    struct copy copy = {data, bytes, stream, copies++, last_kernel()};
    if (bytes && copy.number < MOST_RECORDS) {
        if (ended) {
            write_record(&copy);
        } else if (pending_count < MOST_PENDING) {
            pending[pending_count++] = copy;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* The program has waited: for one stream, for everything, or for an event. After an event each stream is asked whether it is idle. */
void host_waited(enum waited what, const void *stream)
{
    result (*query)(const void *) = what == WAITED_FOR_EVENT ? driver_symbol("cuStreamQuery") : NULL;
    size_t kept = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < pending_count; i++) {
        int ended = what == WAITED_FOR_ALL || (what == WAITED_FOR_STREAM && pending[i].stream == stream)
            || (query && query(pending[i].stream) == 0);
        if (ended) {
            write_record(&pending[i]);
        } else {
            pending[kept++] = pending[i];
        }
    }
    pending_count = kept;
    pthread_mutex_unlock(&lock);
}

void digests_forked(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &unlocked, sizeof lock);
    pending_count = 0; /* these copies are the parent's */
}
