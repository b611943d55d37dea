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

enum { TABLE = 8192, CHUNK_WORDS = 16384, PORTABLE_AND_MAPPED = 1 | 2 };

static struct plan_file plan;
static int plan_on;
static struct named *table[TABLE];
static uint32_t *chunk; /* where it is the host's memory */
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

void note_outcome(const char *kernel, int rewritten, const char *refusal, unsigned waits, unsigned triggers)
{
    struct named *known = named(kernel);
    if (known == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    known->seen++;
    known->rewritten += rewritten != 0;
    known->waits = waits;
    known->triggers = triggers;
    if (refusal && (known->refusal == NULL || strcmp(known->refusal, refusal) != 0)) {
        known->refusal = strdup(refusal); /* the old one is leaked: somebody may be printing it */
    }
    pthread_mutex_unlock(&lock);
}

/* ---- live plans ---------------------------------------------------------------------------------------------------- */

/* Makes a context current if none is: the first device's own one, which the program will need, too, and which is therefore
 * never released. `outer` says what to undo. */
int enter_context(void **outer)
{
    result (*current)(void **) = driver_symbol("cuCtxGetCurrent");
    result (*retain)(void **, int) = driver_symbol("cuDevicePrimaryCtxRetain");
    result (*push)(void *) = driver_symbol("cuCtxPushCurrent_v2");
    void *context = NULL;
    *outer = NULL;
    if (!current || (current(&context) == 0 && context)) {
        return current != NULL;
    }
    if (!retain || !push || retain(&context, 0) != 0 || push(context) != 0) {
        return 0;
    }
    *outer = context;
    return 1;
}

void leave_context(void *outer)
{
    result (*pop)(void **) = driver_symbol("cuCtxPopCurrent_v2");
    if (outer && pop) {
        pop(&outer);
    }
}

/* Memory that kernels read: the device's own where there is one device, because reading the host's takes tens of
 * microseconds; page-locked memory of the host, which all devices can read, where there are several. */
static int make_chunk(void)
{
    result (*count)(int *) = driver_symbol("cuDeviceGetCount");
    result (*on_device)(uint64_t *, size_t) = driver_symbol("cuMemAlloc_v2");
    result (*on_host)(void **, size_t, unsigned) = driver_symbol("cuMemHostAlloc");
    const size_t bytes = CHUNK_WORDS * sizeof(uint32_t);
    void *outer = NULL, *memory = NULL;
    int devices = 0;
    if (!enter_context(&outer)) {
        return 0;
    }
    int single = count && count(&devices) == 0 && devices == 1 && on_device;
    int made = single ? on_device(&chunk_address, bytes) == 0 : on_host && on_host(&memory, bytes, PORTABLE_AND_MAPPED) == 0;
    leave_context(outer);
    chunk = single ? NULL : memory;
    chunk_address = single ? chunk_address : (uint64_t)(uintptr_t)memory;
    chunk_used = 0;
    return made;
}

/* In relaxed mode and on its own stream, so that it works while the program captures a graph. */
static void copy_words(uint64_t address, const uint32_t words[WORDS])
{
    result (*mode)(int *) = driver_symbol("cuThreadExchangeStreamCaptureMode");
    result (*create)(void **, unsigned) = driver_symbol("cuStreamCreate");
    result (*copy)(uint64_t, const void *, size_t, void *) = driver_symbol("cuMemcpyHtoDAsync_v2");
    result (*synchronize)(void *) = driver_symbol("cuStreamSynchronize");
    result (*destroy)(void *) = driver_symbol("cuStreamDestroy_v2");
    void *outer = NULL, *stream = NULL;
    int relaxed = 2;
    if (!mode || !create || !copy || !synchronize || !destroy || !enter_context(&outer)) {
        return;
    }
    mode(&relaxed);
    if (create(&stream, 1) == 0) {
        copy(address, words, WORDS * sizeof words[0], stream);
        synchronize(stream);
        destroy(stream);
    }
    mode(&relaxed);
    leave_context(outer);
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
