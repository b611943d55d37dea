/* inside.c - memory for what kernels record of their warps, and the file that it is written to at the end
 *
 * The plan says which kernels record. All of them share one ring of records; a record holds the number of its kernel. When
 * the program ends, the ring is copied from the device and written as it is, next to this process's file of JSON lines.
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
static void *ring_on_host;
static int ring_state; /* 0: not tried, 1: there, -1: impossible */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void loading_begins(void)
{
    trace_start();
}

void image_refused(result code)
{
    record("{\"inside\":\"refused\",\"code\":%d}", code);
}

static int make_ring(void)
{
    result (*clear)(uint64_t, unsigned char, size_t) = driver_symbol("cuMemsetD8_v2");
    const size_t bytes = (size_t)RECORDS * sizeof(struct warp_record);
    struct entered entered;
    if (!kernels_memory(bytes, &ring, &ring_on_host)) {
        return -1;
    }
    if (ring_on_host) {
        memset(ring_on_host, 0, bytes);
        return 1;
    }
    int cleared = enter_context(&entered) && clear && clear(ring, 0, bytes) == 0;
    leave_context(&entered);
    return cleared ? 1 : -1;
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
    int fine = ring_state == 1 && number < name_count;
    pthread_mutex_unlock(&lock);
    *room = (struct record_room){ring, RECORDS - 1, number};
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
           "\"why\":%s}", text, kernel->seen, kernel->rewritten, kernel->waits, kernel->triggers, kernel->registers_before,
           kernel->registers, why);
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

/* Kernels may still run: the program need not have waited for its last ones. */
static void *from_device(size_t bytes)
{
    result (*synchronize)(void) = driver_symbol("cuCtxSynchronize");
    result (*copy)(void *, uint64_t, size_t) = driver_symbol("cuMemcpyDtoH_v2");
    struct entered entered;
    void *data = malloc(bytes);
    int entered_one = enter_context(&entered);
    result code = data && synchronize && copy && entered_one ? synchronize() : NO_REAL_FUNCTION;
    code = code == 0 ? copy(data, ring, bytes) : code;
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
    const size_t bytes = (size_t)RECORDS * sizeof(struct warp_record);
    char text[NAME_ROOM];
    each_named(tell);
    if (ring_state != 1) {
        return;
    }
    for (uint32_t i = 0; i < name_count; i++) {
        json_text(text, sizeof text, names[i]);
        record("{\"inside\":\"number\",\"number\":%u,\"name\":%s}", i, text);
    }
    char *data = ring_on_host ? ring_on_host : from_device(bytes);
    if (data) {
        write_all(data, bytes);
    }
    if (data != ring_on_host) {
        free(data);
    }
}

/* CUDA does not outlive a fork, and the ring is the parent's to read. */
static void forget_parent(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &unlocked, sizeof lock);
    plans_forked();
    ring_state = 0;
    name_count = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent);
}

const struct hook_table hook_tables[] = {{trace_hooks, &trace_hook_count}, {load_hooks, &load_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
