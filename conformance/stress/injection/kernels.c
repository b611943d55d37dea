/* injection_kernels.c - which kernels there are, how they are launched, and the plan's numbers for each of them */
#define _GNU_SOURCE
#include "injection.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CONTEXTS = 8, MOST_STREAMS = 64, GAP_BUCKETS = 1001, NAME_ROOM = 16384 };
#define NAME_FORMAT "%16383s" /* a C++ template's mangled name may have thousands of characters */

struct kernel {
    const void *handle;
    char *name;
    void *home;
    int is_kernel, carved; /* the handle is a CUkernel; its carve-out has been set */
    int where, tunable, reported; /* tunable: -1 not asked yet, 0 machine code only, 1 rewritten; reported: the same */
    unsigned generation;
    uint32_t words[4]; /* the plan's, as they stand in the module of each of the contexts */
    void *contexts[MOST_CONTEXTS];
    unsigned context_count;
    unsigned long long launches[3], attribute, before_attribute;
    struct kernel *next;
};

struct plan_line {
    char *name;
    uint32_t words[4];
    struct plan_line *next;
};

enum { TABLE = 4096 };
static struct kernel *table[TABLE];
static struct plan_line *plan;
static uint32_t plan_default[4];
static int plan_on, plan_calibrates;
static unsigned generation = 1;
static struct { const void *stream; struct kernel *last; } streams[MOST_STREAMS];
static unsigned stream_next;
static unsigned gaps[GAP_BUCKETS];
static unsigned long long graph_launches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct kernel **slot(const void *handle)
{
    return &table[((uintptr_t)handle >> 4) % TABLE];
}

static struct kernel *find(const void *handle)
{
    struct kernel *kernel = *slot(handle);
    while (kernel && kernel->handle != handle) {
        kernel = kernel->next;
    }
    return kernel;
}

static struct kernel *add(const void *handle, const char *name, void *home, int where)
{
    struct kernel *kernel = find(handle);
    if (kernel == NULL) {
        kernel = calloc(1, sizeof *kernel);
        if (kernel == NULL) {
            return NULL;
        }
        kernel->handle = handle;
        kernel->next = *slot(handle);
        *slot(handle) = kernel;
    } else if (kernel->home == home && kernel->name && strcmp(kernel->name, name) == 0) {
        return kernel;
    }
    kernel->name = strdup(name); /* a handle that was reused: the old name is leaked, somebody may be printing it */
    kernel->home = home;
    kernel->where = where;
    kernel->tunable = kernel->reported = -1;
    kernel->context_count = kernel->generation = 0;
    return kernel;
}

void kernel_alias(const void *handle, const void *kernel)
{
    pthread_mutex_lock(&lock);
    const struct kernel *known = find(kernel);
    if (known) {
        add(handle, known->name, known->home, known->where);
    }
    pthread_mutex_unlock(&lock);
}

static void apply(struct kernel *kernel);
static void *current_context(void);

/* The numbers are written as soon as a kernel is known and a context is there: at its first launch it would be too late
 * for a program that launches each kernel once, because writing them takes longer than a hold. */
void kernel_found(const void *handle, const char *name, void *home, int where)
{
    pthread_mutex_lock(&lock);
    struct kernel *kernel = add(handle, name, home, where);
    if (kernel) {
        kernel->is_kernel = where == IN_LIBRARY;
    }
    if (kernel && plan_on && current_context()) {
        apply(kernel);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- plan ---------------------------------------------------------------------------------------------------------- */

static void plan_clear(void)
{
    while (plan) {
        struct plan_line *next = plan->next;
        free(plan->name);
        free(plan);
        plan = next;
    }
    memset(plan_default, 0, sizeof plan_default);
    plan_on = plan_calibrates = 0;
}

static void plan_add(const char *name, const uint32_t words[4])
{
    if (strcmp(name, "*") == 0) {
        memcpy(plan_default, words, sizeof plan_default);
        return;
    }
    struct plan_line *line = calloc(1, sizeof *line);
    if (line) {
        line->name = strdup(name);
        memcpy(line->words, words, sizeof line->words);
        line->next = plan;
        plan = line;
    }
}

/* Lines "NAME flags least span seed"; a line "calibrate" asks for launch gaps, too. */
static void plan_read(void)
{
    const char *path = getenv("PDL_STRESS_PLAN");
    FILE *file = path ? fopen(path, "r") : NULL;
    static char name[NAME_ROOM];
    uint32_t words[4];

    plan_clear();
    if (file == NULL) {
        return;
    }
    plan_on = 1;
    static char line[NAME_ROOM + 64];
    while (fgets(line, sizeof line, file)) {
        if (strcmp(line, "calibrate\n") == 0) {
            plan_calibrates = 1;
        } else if (sscanf(line, NAME_FORMAT " %u %u %u %u", name, &words[0], &words[1], &words[2], &words[3]) == 5) {
            plan_add(name, words);
        }
    }
    fclose(file);
}

__attribute__((constructor)) static void start(void)
{
    plan_read();
}

int stress_is_on(void)
{
    return plan_on;
}

int stress_watches_capture(void)
{
    return plan_on && plan_calibrates;
}

static const uint32_t *words_for(const char *name)
{
    for (const struct plan_line *line = plan; line; line = line->next) {
        if (strcmp(line->name, name) == 0) {
            return line->words;
        }
    }
    return plan_default;
}

/* ---- writing the numbers ------------------------------------------------------------------------------------------- */

static devptr variable_of(const struct kernel *kernel)
{
    result (*from_module)(devptr *, size_t *, void *, const char *) = driver_symbol("cuModuleGetGlobal_v2");
    result (*from_library)(devptr *, size_t *, void *, const char *) = driver_symbol("cuLibraryGetGlobal");
    result (*get)(devptr *, size_t *, void *, const char *) = kernel->where == IN_LIBRARY ? from_library : from_module;
    char name[NAME_ROOM];
    devptr address = 0;
    size_t bytes = 0;

    if (get == NULL || kernel->home == NULL) {
        return 0;
    }
    snprintf(name, sizeof name, "pdlstress_%s", kernel->name);
    for (char *c = strchr(name, '%'); c; c = strchr(c, '%')) {
        *c = '$'; /* as the rewriter does */
    }
    return get(&address, &bytes, kernel->home, name) == 0 && bytes >= 16 ? address : 0;
}

/* On a stream of its own, so that it works in the middle of somebody's capture. */
static int write_words(devptr address, const uint32_t words[4])
{
    result (*create)(void **, unsigned) = driver_symbol("cuStreamCreate");
    result (*copy)(devptr, const void *, size_t, void *) = driver_symbol("cuMemcpyHtoDAsync_v2");
    result (*synchronize)(void *) = driver_symbol("cuStreamSynchronize");
    result (*destroy)(void *) = driver_symbol("cuStreamDestroy_v2");
    int ok = 0;
    void *stream = NULL;

    if (!create || !copy || !synchronize || !destroy) {
        return 0;
    }
    if (create(&stream, 1) == 0) {
        ok = copy(address, words, 16, stream) == 0 && synchronize(stream) == 0;
        destroy(stream);
    }
    return ok;
}

static void *current_context(void)
{
    static result (*get)(void **);
    void *context = NULL;
    if (get == NULL) {
        get = driver_symbol("cuCtxGetCurrent");
    }
    return get && get(&context) == 0 ? context : NULL;
}

/* A new plan that says the same about this kernel leaves what was written; another one begins anew. */
static void note_plan(struct kernel *kernel)
{
    if (kernel->generation != generation) {
        const uint32_t *words = words_for(kernel->name);
        kernel->generation = generation;
        if (memcmp(kernel->words, words, sizeof kernel->words) != 0) {
            memcpy(kernel->words, words, sizeof kernel->words);
            kernel->context_count = 0;
        }
    }
}

static int context_is_done(struct kernel *kernel, void *context)
{
    for (unsigned i = 0; i < kernel->context_count && i < MOST_CONTEXTS; i++) {
        if (kernel->contexts[i] == context) {
            return 1;
        }
    }
    kernel->contexts[kernel->context_count % MOST_CONTEXTS] = context;
    kernel->context_count++;
    return 0;
}

/* Two kernels whose shared-memory carve-outs differ never overlap, which would hide every bug between them. */
static void carve(struct kernel *kernel)
{
    enum { PREFERRED_CARVEOUT = 9, ALL = 100 };
    result (*of_function)(void *, int, int) = driver_symbol("cuFuncSetAttribute");
    result (*of_kernel)(int, int, void *, int) = driver_symbol("cuKernelSetAttribute");
    result (*device_of)(int *) = driver_symbol("cuCtxGetDevice");
    int device = 0;
    if (kernel->carved) {
        return;
    }
    kernel->carved = 1;
    if (!kernel->is_kernel && of_function) {
        of_function((void *)kernel->handle, PREFERRED_CARVEOUT, ALL);
    } else if (kernel->is_kernel && of_kernel && device_of && device_of(&device) == 0) {
        of_kernel(PREFERRED_CARVEOUT, ALL, (void *)kernel->handle, device);
    }
}

/* In relaxed mode, because looking a variable up may load code, which a capture forbids. */
static void apply(struct kernel *kernel)
{
    result (*mode)(int *) = driver_symbol("cuThreadExchangeStreamCaptureMode");
    int relaxed = 2;

    note_plan(kernel);
    if (context_is_done(kernel, current_context()) || !mode || mode(&relaxed) != 0) {
        return;
    }
    devptr address = variable_of(kernel);
    kernel->tunable = address != 0 && write_words(address, kernel->words);
    if (kernel->words[0] != 0) {
        carve(kernel);
    }
    mode(&relaxed);
}

static void report(struct kernel *kernel)
{
    char text[2 * NAME_ROOM];
    if (kernel->reported != kernel->tunable) {
        kernel->reported = kernel->tunable;
        json_text(text, sizeof text, kernel->name);
        record("{\"record\":\"kernel\",\"name\":%s,\"rewritten\":%s}", text, kernel->tunable == 1 ? "true" : "false");
    }
}

static void name_unknown(const void *handle)
{
    static const char *const asked[2][2] = {{"cuFuncGetName", "cuFuncGetModule"}, {"cuKernelGetName", "cuKernelGetLibrary"}};
    for (int where = IN_MODULE; where <= IN_LIBRARY; where++) {
        result (*name_of)(const char **, const void *) = driver_symbol(asked[where][0]);
        result (*home_of)(void **, const void *) = driver_symbol(asked[where][1]);
        const char *name = NULL;
        void *home = NULL;
        if (name_of && home_of && name_of(&name, handle) == 0 && name && home_of(&home, handle) == 0) {
            struct kernel *kernel = add(handle, name, home, where);
            if (kernel) {
                kernel->is_kernel = where == IN_LIBRARY;
            }
            return;
        }
    }
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static void note_gap(void)
{
    static __thread uint64_t last;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    if (last) {
        uint64_t gap = (now - last) / 1000;
        gaps[gap < GAP_BUCKETS - 1 ? gap : GAP_BUCKETS - 1]++;
    }
    last = now;
}

static struct kernel **last_on(const void *stream)
{
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        if (streams[i].last && streams[i].stream == stream) {
            return &streams[i].last;
        }
    }
    unsigned i = stream_next++ % MOST_STREAMS;
    streams[i].stream = stream;
    streams[i].last = NULL;
    return &streams[i].last;
}

int kernel_launched(const void *handle, const void *stream, int how, int attribute, int event)
{
    int bare = 0;
    if (!plan_on) {
        return 0;
    }
    pthread_mutex_lock(&lock);
    if (find(handle) == NULL) {
        name_unknown(handle);
    }
    struct kernel *kernel = find(handle);
    if (kernel) {
        apply(kernel);
        report(kernel);
        bare = kernel->tunable != 1 && (kernel->words[0] & FLAG_PROTECT);
        kernel->launches[how]++;
        kernel->attribute += attribute != 0;
        kernel->before_attribute += event != 0 || how == BUILT;
    }
    if (how != BUILT) {
        struct kernel **last = last_on(stream);
        if (attribute && *last) {
            (*last)->before_attribute++;
        }
        *last = kernel;
        if (how == EAGER) {
            note_gap();
        }
    }
    pthread_mutex_unlock(&lock);
    return bare;
}

void graph_launched(void)
{
    __atomic_fetch_add(&graph_launches, 1, __ATOMIC_RELAXED);
}

/* For a long-running program that changes its plan itself: read the file again and rewrite the numbers of known kernels. */
__attribute__((visibility("default"))) void pdl_stress_reload(void);
void pdl_stress_reload(void)
{
    pthread_mutex_lock(&lock);
    plan_read();
    generation++;
    for (unsigned i = 0; plan_on && i < TABLE; i++) {
        for (struct kernel *kernel = table[i]; kernel; kernel = kernel->next) {
            if (kernel->launches[EAGER] + kernel->launches[CAPTURED] + kernel->launches[BUILT]) {
                apply(kernel);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

static unsigned gap_percentile(unsigned long long total, unsigned percent)
{
    unsigned long long seen = 0;
    for (unsigned i = 0; i < GAP_BUCKETS; i++) {
        seen += gaps[i];
        if (seen * 100 >= total * percent) {
            return i + 1;
        }
    }
    return GAP_BUCKETS;
}

__attribute__((destructor)) static void stop(void)
{
    char text[2 * NAME_ROOM];
    unsigned long long total = 0;
    if (!plan_calibrates) {
        return;
    }
    for (unsigned i = 0; i < TABLE; i++) {
        for (const struct kernel *k = table[i]; k; k = k->next) {
            if (k->launches[EAGER] + k->launches[CAPTURED] + k->launches[BUILT] == 0) {
                continue;
            }
            json_text(text, sizeof text, k->name);
            record("{\"record\":\"launches\",\"name\":%s,\"eager\":%llu,\"captured\":%llu,\"built\":%llu,\"attribute\":%llu,"
                   "\"before_attribute\":%llu}", text, k->launches[EAGER], k->launches[CAPTURED], k->launches[BUILT],
                   k->attribute, k->before_attribute);
        }
    }
    for (unsigned i = 0; i < GAP_BUCKETS; i++) {
        total += gaps[i];
    }
    record("{\"record\":\"gaps\",\"count\":%llu,\"median_us\":%u,\"p90_us\":%u,\"graph_launches\":%llu}", total,
           total ? gap_percentile(total, 50) : 0, total ? gap_percentile(total, 90) : 0, graph_launches);
}
