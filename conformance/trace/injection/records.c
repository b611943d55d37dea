/* records.c - keeps events in memory; a thread of its own formats and writes them, so that a launch only pays for a copy */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 8192, LINE_ROOM = 1 << 16, FLUSH_MS = 250, FLUSHES_PER_ACTIVITY_FLUSH = 8 };

struct chunk {
    struct event events[CHUNK];
    size_t count;
    struct chunk *next;
};

static const char *const operation_names[OPERATIONS] = {
    "launch", "graph", "memset", "copy", "host", "event", "timed_event", "wait_event", "allocate", "free", "memory_value",
    "synchronize", "capture_begin", "capture_end"};

static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER, file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *first_chunk, *last_chunk;
static int file = -1, started, stopping;
static uint64_t event_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *trace_folder(void)
{
    return getenv("PDL_TRACE_FOLDER");
}

int trace_is_on(void)
{
    return started && !stopping;
}

uint64_t host_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t thread_number(void)
{
    static __thread uint32_t number;
    if (!number) {
        number = (uint32_t)syscall(SYS_gettid);
    }
    return number;
}

void write_block(const char *text, size_t bytes)
{
    pthread_mutex_lock(&file_lock);
    while (file >= 0 && bytes > 0) {
        ssize_t n = write(file, text, bytes);
        if (n <= 0) {
            break; /* a full disk: the reader finds a file that ends early and says so */
        }
        text += n;
        bytes -= (size_t)n;
    }
    pthread_mutex_unlock(&file_lock);
}

void record(const char *format, ...)
{
    char *line = malloc(LINE_ROOM);
    va_list arguments;
    if (!line) {
        return;
    }
    va_start(arguments, format);
    int n = vsnprintf(line, LINE_ROOM - 1, format, arguments);
    va_end(arguments);
    if (n > 0 && n < LINE_ROOM - 1) {
        line[n] = '\n';
        write_block(line, (size_t)n + 1);
    }
    free(line);
}

void note_event(const struct event *event)
{
    pthread_mutex_lock(&event_lock);
    if (!last_chunk || last_chunk->count == CHUNK) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk) {
            pthread_mutex_unlock(&event_lock);
            return;
        }
        chunk->count = 0;
        chunk->next = NULL;
        if (last_chunk) {
            last_chunk->next = chunk;
        } else {
            first_chunk = chunk;
        }
        last_chunk = chunk;
    }
    last_chunk->events[last_chunk->count++] = *event;
    pthread_mutex_unlock(&event_lock);
}

static size_t format_event(char *out, size_t room, const struct event *e, uint64_t number)
{
    const char *name = operation_names[e->operation];
    unsigned long long begin = e->begin, end = e->end, id = number;
    if (e->operation == OP_LAUNCH) {
        return (size_t)snprintf(out, room, "[\"launch\",%llu,%llu,%llu,%u,%u,%d,%u,[%u,%u,%u],[%u,%u,%u],%u,%u,%d,%llu]\n", id, begin,
                                end, e->thread, e->stream, e->code, e->kernel, e->grid[0], e->grid[1], e->grid[2], e->block[0],
                                e->block[1], e->block[2], e->shared, e->flags, e->carveout, (unsigned long long)e->detail);
    }
    return (size_t)snprintf(out, room, "[\"%s\",%llu,%llu,%llu,%u,%u,%d,%llu,%u]\n", name, id, begin, end, e->thread, e->stream,
                            e->code, (unsigned long long)e->detail, e->flags);
}

static void flush_events(void)
{
    enum { ROOM = CHUNK * 256 };
    pthread_mutex_lock(&event_lock);
    struct chunk *chunk = first_chunk;
    first_chunk = last_chunk = NULL;
    pthread_mutex_unlock(&event_lock);
    while (chunk) {
        struct chunk *next = chunk->next;
        char *text = malloc(ROOM);
        size_t used = 0;
        for (size_t i = 0; text && i < chunk->count; i++) {
            used += format_event(text + used, ROOM - used, &chunk->events[i], event_count++);
        }
        if (text) {
            write_block(text, used);
        }
        free(text);
        free(chunk);
        chunk = next;
    }
}

/* Two clocks are read together from time to time, so that times of the host and of the device can be put on one axis. */
static void write_clocks(void)
{
    uint64_t before = host_now(), device = activity_now(), after = host_now();
    if (device) {
        record("[\"clock\",%llu,%llu]", (unsigned long long)(before + (after - before) / 2), (unsigned long long)device);
    }
}

static void flush(int all)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    flush_events();
    pthread_mutex_unlock(&one);
    write_clocks();
    activity_flush(all);
}

static void *flusher(void *unused)
{
    const struct timespec pause = {0, FLUSH_MS * 1000000L};
    (void)unused;
    for (unsigned n = 1; !stopping; n++) {
        nanosleep(&pause, NULL);
        if (!stopping && n % FLUSHES_PER_ACTIVITY_FLUSH == 0) {
            flush(0);
        } else if (!stopping) {
            flush_events();
        }
    }
    return NULL;
}

static void stop(void)
{
    if (!started || stopping) {
        return;
    }
    flush(1);
    if (inside_write) {
        inside_write();
    }
    record("{\"end\":%llu}", (unsigned long long)host_now());
    stopping = 1;
}

static const char *rank_text(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text && *text) {
            return text;
        }
    }
    return "";
}

static void write_process(void)
{
    static const char *const watched[] = {"CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH", "CUDA_MODULE_LOADING", "PDL_DISABLE",
                                          "NV_COMPUTE_PROFILER_PERFWORKS_DIR", "CUDA_DEVICE_MAX_CONNECTIONS", "LD_PRELOAD"};
    char name[4096] = "", text[8192], line[32768];
    ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
    name[length > 0 ? length : 0] = 0;
    json_text(text, sizeof text, name);
    size_t n = (size_t)snprintf(line, sizeof line, "{\"process\":%d,\"program\":%s,", (int)getpid(), text);
    json_text(text, sizeof text, rank_text());
    n += (size_t)snprintf(line + n, sizeof line - n, "\"rank\":%s,\"began\":%llu,\"environment\":{", text,
                          (unsigned long long)host_now());
    const char *comma = "";
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        const char *value = getenv(watched[i]);
        if (value && strlen(value) < 4000) {
            json_text(text, sizeof text, value);
            n += (size_t)snprintf(line + n, sizeof line - n, "%s\"%s\":%s", comma, watched[i], text);
            comma = ",";
        }
    }
    record("%s}}", line);
}

/* A forked child starts from nothing: CUDA does not survive a fork, and the parent writes its own events. */
static void forget_parent(void)
{
    pthread_once_t fresh = PTHREAD_ONCE_INIT;
    pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&once, &fresh, sizeof once);
    memcpy(&event_lock, &unlocked, sizeof unlocked);
    memcpy(&file_lock, &unlocked, sizeof unlocked);
    first_chunk = last_chunk = NULL;
    started = 0;
    if (file >= 0) {
        close(file);
    }
    file = -1;
}

static void begin(void)
{
    char path[4096];
    const char *folder = trace_folder(), *ranks = getenv("PDL_TRACE_RANK");
    pthread_t thread;
    if (!folder || (ranks && *ranks && strcmp(ranks, rank_text()) != 0)) {
        return;
    }
    for (int n = 0; file < 0 && n < 1000; n++) { /* a process id can be used again in a long run */
        snprintf(path, sizeof path, "%s/process-%d-%d.jsonl", folder, (int)getpid(), n);
        file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (file < 0) {
        return;
    }
    started = 1;
    stopping = 0;
    write_process();
    activity_start();
    write_clocks();
    atexit(stop);
    pthread_atfork(NULL, NULL, forget_parent);
    if (pthread_create(&thread, NULL, flusher, NULL) == 0) {
        pthread_detach(thread);
    }
}

void trace_start(void)
{
    pthread_once(&once, begin);
}

/* Worker processes of Python end by _exit, which runs no handler. */
VISIBLE void _exit(int status)
{
    void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
    stop();
    if (real) {
        real(status);
    }
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}
