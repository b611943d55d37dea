/* inside.c - memory for what kernels record of their warps, and the file that it is written to at the end
 *
 * The plan says which kernels record. All of them share one ring of records; a record holds the number of its kernel. Ahead of
 * the records stands how many were begun. When the program or the ring's context ends, as much of the ring as was used is copied from
 * the device and written as it is, next to this process's file of JSON lines.
 */
#define _GNU_SOURCE
#include "loaded.h"
#include "trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 1 << 20, MOST_KERNELS = 4096, NAME_ROOM = 1 << 14 };

static char *names[MOST_KERNELS];
static uint32_t name_count;
static uint64_t ring;
static void *ring_on_host, *ring_context;
static int ring_state; /* 0: not tried, 1: there, -1: impossible, or written already */
static int written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void loading_begins(void)
{
    trace_start();
}

void image_refused(result code)
{
    record("{\"inside\":\"refused\",\"code\":%d}", code);
}

static void *current_context(void)
{
    result (*current)(void **) = driver_symbol("cuCtxGetCurrent");
    struct entered entered;
    void *context = NULL;
    if (enter_context(&entered) && current) {
        current(&context);
    }
    leave_context(&entered);
    return context;
}

/* On a stream of its own, because the default one may not be used while the program captures. */
static int clear_ring(size_t bytes)
{
    result (*create)(void **, unsigned) = driver_symbol("cuStreamCreate");
    result (*clear)(uint64_t, unsigned char, size_t, void *) = driver_symbol("cuMemsetD8Async");
    result (*synchronize)(void *) = driver_symbol("cuStreamSynchronize");
    result (*destroy)(void *) = driver_symbol("cuStreamDestroy_v2");
    void *stream = NULL;
    if (!create || !clear || !synchronize || !destroy || create(&stream, 1) != 0) {
        return 0;
    }
    int cleared = clear(ring, 0, bytes, stream) == 0 && synchronize(stream) == 0;
    destroy(stream);
    return cleared;
}

/* The program may release the primary context, which would free the ring in it. */
static void keep_primary_context(void)
{
    result (*state)(int, unsigned *, int *) = driver_symbol("cuDevicePrimaryCtxGetState");
    result (*retain)(void **, int) = driver_symbol("cuDevicePrimaryCtxRetain");
    unsigned flags = 0;
    int active = 0;
    void *context;
    if (state && retain && state(0, &flags, &active) == 0 && active) {
        retain(&context, 0);
    }
}

static int make_ring(void)
{
    const size_t bytes = ((size_t)RECORDS + 1) * sizeof(struct warp_record);
    struct entered entered;
    int made = enter_context(&entered) && kernels_memory(bytes, &ring, &ring_on_host);
    if (made && ring_on_host) {
        memset(ring_on_host, 0, bytes);
    } else if (made) {
        made = clear_ring(bytes);
    }
    leave_context(&entered);
    if (!made) {
        record("{\"inside\":\"lost\",\"why\":\"there is no memory for the records\"}");
        return -1;
    }
    ring_context = current_context();
    keep_primary_context();
    atexit(inside_write); /* later than the driver's own handlers were registered, so it runs before them */
    return 1;
}

/* Memory of the device belongs to one context; a kernel in another one must not write there. */
static int ring_is_reached(void)
{
    return ring_state == 1 && (ring_on_host || current_context() == ring_context);
}

int record_room(const char *kernel, struct record_room *room)
{
    uint32_t number = 0;
    pthread_mutex_lock(&lock);
    ring_state = ring_state ? ring_state : make_ring();
    while (number < name_count && strcmp(names[number], kernel) != 0) {
        number++;
    }
    if (number == name_count && number < MOST_KERNELS && (names[number] = strdup(kernel)) != NULL) {
        name_count++;
    }
    int fine = ring_is_reached() && number < name_count;
    pthread_mutex_unlock(&lock);
    *room = (struct record_room){ring + sizeof(struct warp_record), RECORDS - 1, number};
    return fine;
}

static void tell(const struct named *kernel)
{
    char text[NAME_ROOM], why[1024];
    if (!(plan_of(kernel->name)->flags & PLAN_RECORD) || strlen(kernel->name) > sizeof text / 8) {
        return;
    }
    json_text(text, sizeof text, kernel->name);
    json_text(why, sizeof why, kernel->refusal ? kernel->refusal : "");
    record("{\"inside\":\"kernel\",\"name\":%s,\"images\":%d,\"rewritten\":%d,\"waits\":%u,\"triggers\":%u,\"registers\":[%u,%u],"
           "\"spilled\":%d,\"why\":%s}", text, kernel->seen, kernel->rewritten, kernel->waits, kernel->triggers,
           kernel->registers_before, kernel->registers, kernel->spilled, why);
}

static void write_all(const char *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/inside-%d.records", trace_folder(), (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (file >= 0 && bytes > 0) {
        ssize_t n = write(file, data, bytes);
        if (n <= 0) {
            record("{\"inside\":\"lost\",\"why\":\"the file of records could not be written\"}");
            break;
        }
        data += n;
        bytes -= (size_t)n;
    }
    if (file >= 0) {
        close(file);
    }
}

/* The bytes up to the last record that was begun. */
static size_t used_bytes(uint64_t begun)
{
    return ((size_t)(begun < RECORDS ? begun : RECORDS) + 1) * sizeof(struct warp_record);
}

/* Kernels may still run: the program need not have waited for its last ones. */
static void *from_device(size_t *bytes)
{
    result (*synchronize)(void) = driver_symbol("cuCtxSynchronize");
    result (*copy)(void *, uint64_t, size_t) = driver_symbol("cuMemcpyDtoH_v2");
    result (*push)(void *) = driver_symbol("cuCtxPushCurrent_v2");
    result (*pop)(void **) = driver_symbol("cuCtxPopCurrent_v2");
    struct entered entered;
    void *data = NULL, *ours = NULL;
    uint64_t begun = 0;
    int entered_one = enter_context(&entered);
    int pushed = push && pop && ring_context && push(ring_context) == 0;
    result code = synchronize && copy && entered_one ? synchronize() : NO_REAL_FUNCTION;
    code = code == 0 ? copy(&begun, ring, sizeof begun) : code;
    *bytes = used_bytes(begun);
    data = code == 0 ? malloc(*bytes) : NULL;
    code = code == 0 ? data ? copy(data, ring, *bytes) : NO_REAL_FUNCTION : code;
    if (pushed) {
        pop(&ours);
    }
    leave_context(&entered);
    if (code == 0) {
        return data;
    }
    record("{\"inside\":\"lost\",\"why\":\"copying the records from the device failed with error %d\"}", code);
    free(data);
    return NULL;
}

void inside_write(void)
{
    size_t bytes = 0;
    char text[NAME_ROOM];
    if (__atomic_exchange_n(&written, 1, __ATOMIC_ACQ_REL)) {
        return;
    }
    each_named(tell);
    if (ring_state != 1) {
        return;
    }
    for (uint32_t i = 0; i < name_count; i++) {
        json_text(text, sizeof text, names[i]);
        record("{\"inside\":\"number\",\"number\":%u,\"name\":%s}", i, text);
    }
    char *data = ring_on_host ? ring_on_host : from_device(&bytes);
    if (data && data == ring_on_host) {
        bytes = used_bytes(*(const uint64_t *)ring_on_host);
    }
    if (data) {
        write_all(data, bytes);
    }
    if (data != ring_on_host) {
        free(data);
    }
}

/* The ring goes with its context. Kernels that are loaded afterwards do not record. */
static void context_ends(void)
{
    if (ring_state == 1) {
        inside_write();
        record("{\"inside\":\"lost\",\"why\":\"the program ended the context of the records; what ran afterwards is not in them\"}");
        ring_state = -1;
    }
}

VISIBLE result cuCtxDestroy_v2(void *context);
VISIBLE result cuCtxDestroy_v2(void *context)
{
    REAL(cuCtxDestroy_v2, result(*)(void *))
    if (context && context == ring_context) {
        context_ends();
    }
    return real(context);
}

VISIBLE result cuDevicePrimaryCtxReset_v2(int device);
VISIBLE result cuDevicePrimaryCtxReset_v2(int device)
{
    REAL(cuDevicePrimaryCtxReset_v2, result(*)(int))
    context_ends();
    return real(device);
}

static struct hook context_hooks[] = {
    HOOK(cuCtxDestroy, cuCtxDestroy_v2, 4000, NEVER, 0), HOOK(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, 11000, NEVER, 0)};
static const size_t context_hook_count = sizeof context_hooks / sizeof context_hooks[0];

/* CUDA does not outlive a fork, and the ring is the parent's to read. */
static void forget_parent(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &unlocked, sizeof lock);
    plans_forked();
    ring_state = 0;
    written = 0;
    name_count = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent);
}

const struct hook_table hook_tables[] = {
    {trace_hooks, &trace_hook_count}, {load_hooks, &load_hook_count}, {context_hooks, &context_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
