/* plans.c - the plan, and what is known of each kernel by its name
 *
 * A plan's numbers stand in the code that is put into a kernel. Where the plan is live (its switch "live"), the code reads
 * them from memory instead, at each launch, so that a long-running program can change its plan by itself.
 */
#define _GNU_SOURCE
#include "loaded.h"
#include "plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 8192, CHUNK_WORDS = 16384 };

static struct plan_file plan;
static int plan_on;
static struct named *table[TABLE];
static uint32_t *chunk; /* NULL where it is the device's own memory */
static uint64_t chunk_address;
static size_t chunk_used = CHUNK_WORDS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void read_plan(void)
{
    const char *path = getenv("PDL_STRESS_PLAN");
    FILE *file = path ? fopen(path, "re") : NULL;
    unsigned line = 0;
    plan_free(&plan);
    plan_on = 0;
    if (file == NULL) {
        return;
    }
    const char *wrong = plan_read(&plan, file, &line);
    plan_on = wrong == NULL;
    fclose(file);
    if (wrong) {
        record("{\"record\":\"trouble\",\"what\":\"line %u of the plan: %s\"}", line, wrong);
    }
}

__attribute__((constructor)) static void start(void)
{
    read_plan();
}

int plan_is_on(void)
{
    return plan_on;
}

int plan_is_calibrating(void)
{
    return plan_on && plan_switch(&plan, "calibrate");
}

const struct kernel_plan *plan_of(const char *kernel)
{
    return plan_for(&plan, kernel);
}

static struct named **slot(const char *kernel)
{
    uint32_t hash = 2166136261u;
    for (const char *c = kernel; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    return &table[hash % TABLE];
}

struct named *named(const char *kernel)
{
    pthread_mutex_lock(&lock);
    struct named **place = slot(kernel), *found = *place;
    while (found && strcmp(found->name, kernel) != 0) {
        found = found->next;
    }
    if (found == NULL && (found = calloc(1, sizeof *found)) != NULL) {
        found->name = strdup(kernel);
        if (found->name) {
            found->next = *place;
            *place = found;
        } else {
            free(found);
            found = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void note_outcome(const struct kernel_outcome *outcome)
{
    struct named *known = named(outcome->name);
    const char *refusal = outcome->refusal;
    if (known == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    known->seen++;
    known->rewritten += outcome->rewritten != 0;
    known->waits = outcome->waits;
    known->triggers = outcome->triggers;
    known->registers_before = outcome->registers_before;
    known->registers = outcome->registers;
    known->spilled = outcome->spilled;
    if (refusal && (known->refusal == NULL || strcmp(known->refusal, refusal) != 0)) {
        known->refusal = strdup(refusal); /* the old text is not freed, because another thread may be printing it */
    }
    pthread_mutex_unlock(&lock);
}

void plans_forked(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &unlocked, sizeof lock);
}

void each_named(void (*tell)(const struct named *kernel))
{
    for (size_t i = 0; i < TABLE; i++) {
        for (const struct named *kernel = table[i]; kernel; kernel = kernel->next) {
            tell(kernel);
        }
    }
}

/* ---- live plans ---------------------------------------------------------------------------------------------------- */

/* Makes a context current if none is: the primary one of the first device. The program will need that one, too, so it is
 * never released. */
static int make_current(struct entered *entered)
{
    result (*current)(void **) = driver_symbol("cuCtxGetCurrent");
    result (*retain)(void **, int) = driver_symbol("cuDevicePrimaryCtxRetain");
    result (*push)(void *) = driver_symbol("cuCtxPushCurrent_v2");
    void *context = NULL;
    if (!current || (current(&context) == 0 && context)) {
        return current != NULL;
    }
    if (!retain || !push || retain(&context, 0) != 0 || push(context) != 0) {
        return 0;
    }
    entered->pushed = context;
    return 1;
}

static void exchange_capture_mode(int *mode)
{
    result (*exchange)(int *) = driver_symbol("cuThreadExchangeStreamCaptureMode");
    if (exchange) {
        exchange(mode);
    }
}

int enter_context(struct entered *entered)
{
    enum { RELAXED = 2 };
    entered->pushed = NULL;
    entered->capture_mode = RELAXED;
    exchange_capture_mode(&entered->capture_mode);
    return make_current(entered);
}

void leave_context(struct entered *entered)
{
    result (*pop)(void **) = driver_symbol("cuCtxPopCurrent_v2");
    if (entered->pushed && pop) {
        pop(&entered->pushed);
    }
    exchange_capture_mode(&entered->capture_mode);
}

/* With one device: its own memory, because a kernel needs tens of microseconds to reach the host's. With several: page-locked
 * memory of the host, which all of them can reach. */
int kernels_memory(size_t bytes, uint64_t *address, void **on_host)
{
    enum { PORTABLE_AND_MAPPED = 1 | 2 };
    result (*count)(int *) = driver_symbol("cuDeviceGetCount");
    result (*device)(uint64_t *, size_t) = driver_symbol("cuMemAlloc_v2");
    result (*host)(void **, size_t, unsigned) = driver_symbol("cuMemHostAlloc");
    struct entered entered;
    int devices = 0, made = 0;
    *on_host = NULL;
    if (enter_context(&entered)) {
        int single = count && count(&devices) == 0 && devices == 1 && device;
        made = single ? device(address, bytes) == 0 : host && host(on_host, bytes, PORTABLE_AND_MAPPED) == 0;
        *address = *on_host ? (uint64_t)(uintptr_t)*on_host : *address;
    }
    leave_context(&entered);
    return made;
}

static int make_chunk(void)
{
    void *on_host = NULL;
    int made = kernels_memory(CHUNK_WORDS * sizeof(uint32_t), &chunk_address, &on_host);
    chunk = on_host;
    chunk_used = 0;
    return made;
}

/* On a stream of its own, because the program's may be in a capture. */
static void copy_words(uint64_t address, const uint32_t words[WORDS])
{
    result (*create)(void **, unsigned) = driver_symbol("cuStreamCreate");
    result (*copy)(uint64_t, const void *, size_t, void *) = driver_symbol("cuMemcpyHtoDAsync_v2");
    result (*synchronize)(void *) = driver_symbol("cuStreamSynchronize");
    result (*destroy)(void *) = driver_symbol("cuStreamDestroy_v2");
    struct entered entered;
    void *stream = NULL;
    int possible = enter_context(&entered) && create && copy && synchronize && destroy;
    if (possible && create(&stream, 1) == 0) {
        copy(address, words, WORDS * sizeof words[0], stream);
        synchronize(stream);
        destroy(stream);
    }
    leave_context(&entered);
}

static void set_words(struct named *kernel)
{
    const struct kernel_plan *numbers = plan_for(&plan, kernel->name);
    const uint32_t words[WORDS] = {numbers->flags, numbers->least_ns, numbers->span_ns, numbers->seed};
    if (memcmp(kernel->now, words, sizeof words) == 0) {
        return;
    }
    memcpy(kernel->now, words, sizeof words);
    if (kernel->on_host) {
        memcpy(kernel->on_host, words, sizeof words);
    } else {
        copy_words(kernel->words, words);
    }
}

uint64_t live_words(struct named *kernel)
{
    pthread_mutex_lock(&lock);
    if (kernel->words == 0 && plan_switch(&plan, "live") && (chunk_used + WORDS <= CHUNK_WORDS || make_chunk())) {
        kernel->words = chunk_address + chunk_used * sizeof(uint32_t);
        kernel->on_host = chunk ? chunk + chunk_used : NULL;
        kernel->now[0] = UINT32_MAX; /* no plan's flags, so that the first numbers are written */
        chunk_used += WORDS;
        set_words(kernel);
    }
    pthread_mutex_unlock(&lock);
    return kernel->words;
}

void plan_reload(void)
{
    pthread_mutex_lock(&lock);
    read_plan();
    for (size_t i = 0; i < TABLE; i++) {
        for (struct named *kernel = table[i]; kernel; kernel = kernel->next) {
            if (kernel->words) {
                set_words(kernel);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}
