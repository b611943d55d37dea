/* kernels.c - the handles of kernels, and how often and in what way each kernel is launched */
#define _GNU_SOURCE
#include "injection.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STREAMS = 64, GAP_BUCKETS = 1001, TEXT_ROOM = 32768, TABLE = 4096 };

struct kernel {
    const void *handle;
    struct named *name;
    int is_kernel, reported; /* the handle is a CUkernel; a record has been written */
    unsigned long known_at;  /* how many modules had been unloaded when its name was last sure */
    uint64_t carved;         /* a bit for each device on which its carve-out has been set */
    unsigned long long launches[3], attribute, before_attribute, cooperative;
    struct kernel *next;
};

static struct kernel *table[TABLE];
static struct {
    const void *stream, *context; /* the context of a default stream, because each has its own */
    pthread_t thread;             /* of a thread's default stream */
    struct kernel *last;
} streams[MOST_STREAMS];
static unsigned stream_next;
static unsigned gaps[GAP_BUCKETS];
static unsigned long long graph_launches, unknown_launches;
static const char *last_launched;
static unsigned long unloads;
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

static void report_launches(struct kernel *kernel)
{
    char text[TEXT_ROOM];
    if (kernel->launches[EAGER] + kernel->launches[CAPTURED] + kernel->launches[BUILT] == 0) {
        return;
    }
    json_text(text, sizeof text, kernel->name->name);
    record("{\"record\":\"launches\",\"name\":%s,\"eager\":%llu,\"captured\":%llu,\"built\":%llu,\"attribute\":%llu,"
           "\"before_attribute\":%llu,\"cooperative\":%llu}", text, kernel->launches[EAGER], kernel->launches[CAPTURED], kernel->launches[BUILT],
           kernel->attribute, kernel->before_attribute, kernel->cooperative);
}

static void forget_launches(struct kernel *kernel)
{
    memset(kernel->launches, 0, sizeof kernel->launches);
    kernel->attribute = kernel->before_attribute = kernel->cooperative = 0;
}

/* The driver may use a handle again after its module is unloaded; it then stands for another kernel. */
static struct kernel *add(const void *handle, struct named *name, int where)
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
    }
    kernel->known_at = unloads;
    if (kernel->name != name) {
        if (kernel->name && plan_is_calibrating()) {
            report_launches(kernel);
        }
        forget_launches(kernel);
        kernel->name = name;
        kernel->carved = 0;
        kernel->reported = 0;
        kernel->is_kernel = where == IN_LIBRARY;
    }
    return kernel;
}

void kernel_found(const void *handle, const char *name, int where)
{
    struct named *known = plan_is_on() ? named(name) : NULL;
    if (known) {
        pthread_mutex_lock(&lock);
        add(handle, known, where);
        pthread_mutex_unlock(&lock);
    }
}

void kernel_alias(const void *handle, const void *kernel)
{
    pthread_mutex_lock(&lock);
    const struct kernel *known = find(kernel);
    if (known) {
        add(handle, known->name, IN_MODULE);
    }
    pthread_mutex_unlock(&lock);
}

/* Two kernels whose shared-memory carve-outs differ never overlap, which would hide every bug between them. A CUfunction belongs to one
 * context; a CUkernel has a carve-out on each device. */
static void carve(struct kernel *kernel)
{
    enum { PREFERRED_CARVEOUT = 9, ALL = 100, RELAXED = 2 };
    result (*of_function)(void *, int, int) = driver_symbol("cuFuncSetAttribute");
    result (*of_kernel)(int, int, void *, int) = driver_symbol("cuKernelSetAttribute");
    result (*device_of)(int *) = driver_symbol("cuCtxGetDevice");
    result (*mode)(int *) = driver_symbol("cuThreadExchangeStreamCaptureMode");
    int device = 0, capture = RELAXED; /* setting it may load code; during a capture only the relaxed mode allows that */
    if (kernel->is_kernel && (!device_of || device_of(&device) != 0)) {
        return;
    }
    if (kernel->carved >> device % 64 & 1 || !(plan_of(kernel->name->name)->flags & ~(uint32_t)PLAN_EMPTY) || !mode || mode(&capture) != 0) {
        return;
    }
    kernel->carved |= UINT64_C(1) << device % 64;
    if (!kernel->is_kernel && of_function) {
        of_function((void *)kernel->handle, PREFERRED_CARVEOUT, ALL);
    } else if (kernel->is_kernel && of_kernel) {
        of_kernel(PREFERRED_CARVEOUT, ALL, (void *)kernel->handle, device);
    }
    mode(&capture);
}

static void report(struct kernel *kernel)
{
    char name[TEXT_ROOM], why[1024] = "null";
    const struct named *known = kernel->name;
    if (kernel->reported) {
        return;
    }
    kernel->reported = 1;
    json_text(name, sizeof name, known->name);
    if (known->rewritten < known->seen || known->seen == 0) {
        json_text(why, sizeof why, known->refusal ? known->refusal : known->seen ? "the plan leaves it alone"
                  : "its image was not seen when it was loaded");
    }
    record("{\"record\":\"kernel\",\"name\":%s,\"rewritten\":%s,\"why\":%s,\"waits\":%u,\"triggers\":%u}", name,
           known->seen && known->rewritten == known->seen ? "true" : "false", why, known->waits, known->triggers);
}

/* Asks the driver for the name of a handle that was obtained in a way that is not replaced here, such as enumeration. */
static struct kernel *name_unknown(const void *handle)
{
    static const char *const asked[2] = {"cuFuncGetName", "cuKernelGetName"};
    for (int where = IN_MODULE; where <= IN_LIBRARY; where++) {
        result (*name_of)(const char **, const void *) = driver_symbol(asked[where]);
        const char *name = NULL;
        if (name_of && name_of(&name, handle) == 0 && name) {
            struct named *known = named(name);
            return known ? add(handle, known, where) : NULL;
        }
    }
    return NULL;
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
    const void *context = stream == LEGACY_STREAM || stream == THREADS_STREAM ? current_context() : NULL;
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        if (streams[i].last && streams[i].stream == stream && streams[i].context == context
            && (stream != THREADS_STREAM || pthread_equal(streams[i].thread, pthread_self()))) {
            return &streams[i].last;
        }
    }
    unsigned i = stream_next++ % MOST_STREAMS;
    streams[i].stream = stream;
    streams[i].context = context;
    streams[i].thread = pthread_self();
    streams[i].last = NULL;
    return &streams[i].last;
}

static int count_launch(struct kernel *kernel, int how, int attribute, int event)
{
    const struct named *known = kernel->name;
    carve(kernel);
    report(kernel);
    kernel->launches[how]++;
    kernel->attribute += attribute != 0;
    kernel->before_attribute += event != 0 || how == BUILT;
    return (plan_of(known->name)->flags & PLAN_WAIT) && !(known->seen && known->rewritten == known->seen);
}

int kernel_launched(const void *handle, const void *stream, int how, int attribute, int event, int cooperative)
{
    int bare = 0;
    if (!plan_is_on()) {
        return 0;
    }
    pthread_mutex_lock(&lock);
    struct kernel *kernel = find(handle);
    if (!kernel || kernel->known_at != unloads) {
        struct kernel *asked = name_unknown(handle);
        kernel = asked ? asked : kernel;
    }
    if (kernel) {
        bare = count_launch(kernel, how, attribute, event);
        kernel->cooperative += cooperative != 0;
        __atomic_store_n(&last_launched, kernel->name->name, __ATOMIC_RELAXED);
    } else {
        unknown_launches++;
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

void code_unloaded(void)
{
    pthread_mutex_lock(&lock);
    unloads++;
    pthread_mutex_unlock(&lock);
}

const char *last_kernel(void)
{
    return __atomic_load_n(&last_launched, __ATOMIC_RELAXED);
}

void graph_launched(void)
{
    __atomic_fetch_add(&graph_launches, 1, __ATOMIC_RELAXED);
}

/* Reads the plan file again. A long-running program with a live plan calls this. */
__attribute__((visibility("default"))) void pdl_stress_reload(void);
void pdl_stress_reload(void)
{
    plan_reload();
}

static pid_t owner; /* of these counts: a child of vfork has the same memory, and no count of its own */

/* ---- a fork -------------------------------------------------------------------------------------------------------- */

/* In the child: the parent reports its own launches, and a lock that another of the parent's threads held would stay locked. */
static void forget_parent(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &unlocked, sizeof lock);
    for (unsigned i = 0; i < TABLE; i++) {
        for (struct kernel *kernel = table[i]; kernel; kernel = kernel->next) {
            forget_launches(kernel);
        }
    }
    memset(gaps, 0, sizeof gaps);
    graph_launches = unknown_launches = 0;
    owner = getpid();
    plans_forked();
    digests_forked();
}

__attribute__((constructor)) static void watch_forks(void)
{
    owner = getpid();
    pthread_atfork(NULL, NULL, forget_parent);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

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
    unsigned long long total = 0;
    if (!plan_is_calibrating() || getpid() != owner) {
        return;
    }
    owner = 0;
    for (unsigned i = 0; i < TABLE; i++) {
        for (struct kernel *kernel = table[i]; kernel; kernel = kernel->next) {
            report_launches(kernel);
        }
    }
    for (unsigned i = 0; i < GAP_BUCKETS; i++) {
        total += gaps[i];
    }
    record("{\"record\":\"gaps\",\"count\":%llu,\"median_us\":%u,\"p90_us\":%u,\"graph_launches\":%llu,\"unknown_launches\":%llu}",
           total, total ? gap_percentile(total, 50) : 0, total ? gap_percentile(total, 90) : 0, graph_launches, unknown_launches);
}

/* Forked workers, such as those of Python's multiprocessing, end without destructors. These are what the C library's functions do, which a
 * child of vfork may call while another thread of its parent holds the loader's lock: so they are not looked up. */
static void end_at_once(int status) __attribute__((noreturn));
static void end_at_once(int status)
{
    if (!record_is_being_written()) {
        stop();
    }
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}
VISIBLE void _exit(int status)
{
    end_at_once(status);
}
VISIBLE void _Exit(int status)
{
    end_at_once(status);
}
