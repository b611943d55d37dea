/* names.c - the plan, and what is known of each kernel by its name
 *
 * A plan's numbers stand in the code that is put into a kernel. Where the plan is live (its switch "live"), the code reads
 * them from memory of the host instead, at each launch, so that a long-running program can change its plan by itself.
 */
#define _GNU_SOURCE
#include "injection.h"
#include "plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 8192, WORDS = 4, CHUNK_WORDS = 16384, PORTABLE_AND_MAPPED = 1 | 2 };

static struct plan_file plan;
static int plan_on;
static struct named *table[TABLE];
static uint32_t *chunk;
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

/* Page-locked memory that every device reads at the host's own address. It needs some context to be made in. */
static void *page_locked(size_t bytes)
{
    result (*allocate)(void **, size_t, unsigned) = driver_symbol("cuMemHostAlloc");
    result (*current)(void **) = driver_symbol("cuCtxGetCurrent");
    result (*retain)(void **, int) = driver_symbol("cuDevicePrimaryCtxRetain");
    result (*push)(void *) = driver_symbol("cuCtxPushCurrent_v2");
    result (*pop)(void **) = driver_symbol("cuCtxPopCurrent_v2");
    void *context = NULL, *memory = NULL;
    if (!allocate || !current || !retain || !push || !pop) {
        return NULL;
    }
    if (current(&context) == 0 && context) {
        return allocate(&memory, bytes, PORTABLE_AND_MAPPED) == 0 ? memory : NULL;
    }
    if (retain(&context, 0) == 0 && push(context) == 0) { /* the program will need it, too, so it is never released */
        memory = allocate(&memory, bytes, PORTABLE_AND_MAPPED) == 0 ? memory : NULL;
        pop(&context);
    }
    return memory;
}

static void set_words(struct named *kernel)
{
    const struct kernel_plan *numbers = plan_for(&plan, kernel->name);
    const uint32_t words[WORDS] = {numbers->flags, numbers->least_ns, numbers->span_ns, numbers->seed};
    memcpy(kernel->words, words, sizeof words);
}

uint64_t live_words(struct named *kernel)
{
    pthread_mutex_lock(&lock);
    if (kernel->words == NULL && plan_switch(&plan, "live")) {
        if (chunk_used + WORDS > CHUNK_WORDS) {
            chunk = page_locked(CHUNK_WORDS * sizeof *chunk);
            chunk_used = chunk ? 0 : CHUNK_WORDS;
        }
        if (chunk) {
            kernel->words = chunk + chunk_used;
            chunk_used += WORDS;
            set_words(kernel);
        }
    }
    pthread_mutex_unlock(&lock);
    return (uint64_t)(uintptr_t)kernel->words;
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
