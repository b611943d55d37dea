/* digests.c - a digest of everything that the program copies from the device to the host
 *
 * What a program prints or writes it has copied first, so a race whose effect matters shows in these bytes. A copy that has
 * not ended when its function returns is read when the program waits for anything after it has ended, and never once its
 * memory may be gone. Records go to $PDL_STRESS_DIGESTS.
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
    const void *stream, *context;
    pthread_t thread;
    unsigned long number; /* within its thread: threads take turns as they like */
    const char *after;    /* the kernel that was launched last */
};

static struct copy pending[MOST_PENDING];
static size_t pending_count;
static __thread unsigned long copies;
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

const void *current_context(void)
{
    result (*ask)(const void **) = driver_symbol("cuCtxGetCurrent");
    const void *context = NULL;
    return ask && ask(&context) == 0 ? context : NULL;
}

void copied_to_host(const void *data, size_t bytes, const void *stream, int ended)
{
    struct copy copy = {data, bytes, stream, current_context(), pthread_self(), copies++, last_kernel()};
    if (bytes == 0 || copy.number >= MOST_RECORDS) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (ended) {
        write_record(&copy);
    } else if (pending_count < MOST_PENDING) {
        pending[pending_count++] = copy;
    }
    pthread_mutex_unlock(&lock);
}

/* A default stream is one of many: each context has its own, and perhaps each thread. */
static int is_stream(const struct copy *copy, const void *stream)
{
    return copy->stream == stream && (stream != LEGACY_STREAM || copy->context == current_context())
        && (stream != THREADS_STREAM || (copy->context == current_context() && pthread_equal(copy->thread, pthread_self())));
}

/* To ask a default stream could break a capture of the program's, and so could asking one that is in a capture. */
static int is_idle(const struct copy *copy)
{
    result (*query)(const void *) = driver_symbol("cuStreamQuery");
    result (*is_capturing)(const void *, int *) = driver_symbol("cuStreamIsCapturing");
    int status = 0;
    return copy->stream != LEGACY_STREAM && copy->stream != THREADS_STREAM && query && is_capturing
        && is_capturing(copy->stream, &status) == 0 && status == 0 && query(copy->stream) == 0;
}

static int has_ended(const struct copy *copy, enum waited what, const void *handle)
{
    return (what == WAITED_FOR_STREAM && is_stream(copy, handle)) || (what == WAITED_FOR_CONTEXT && copy->context == handle)
        || is_idle(copy);
}

/* Records what has ended; of the rest, keeps what does not lie in the host's memory from `from` to `to`. */
static void settle(enum waited what, const void *handle, uintptr_t from, uintptr_t to)
{
    enum { RELAXED = 2 };
    result (*exchange)(int *) = driver_symbol("cuThreadExchangeStreamCaptureMode");
    int mode = RELAXED, relaxed = exchange && exchange(&mode) == 0;
    size_t kept = 0;
    for (size_t i = 0; i < pending_count; i++) {
        uintptr_t place = (uintptr_t)pending[i].data;
        if (has_ended(&pending[i], what, handle)) {
            write_record(&pending[i]);
        } else if (place < from || place >= to) {
            pending[kept++] = pending[i];
        }
    }
    pending_count = kept;
    if (relaxed) {
        exchange(&mode);
    }
}

void host_waited(enum waited what, const void *handle)
{
    pthread_mutex_lock(&lock);
    if (pending_count) {
        settle(what, what == WAITED_FOR_CONTEXT && !handle ? current_context() : handle, 0, 0);
    }
    pthread_mutex_unlock(&lock);
}

void memory_goes(const void *start, size_t bytes)
{
    uintptr_t from = (uintptr_t)start, to = bytes < UINTPTR_MAX - from ? from + bytes : UINTPTR_MAX;
    pthread_mutex_lock(&lock);
    if (pending_count) {
        settle(WAITED_FOR_EVENT, NULL, from, to);
    }
    pthread_mutex_unlock(&lock);
}

void stream_goes(const void *stream)
{
    size_t kept = 0;
    host_waited(WAITED_FOR_EVENT, NULL);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].stream != stream) {
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
