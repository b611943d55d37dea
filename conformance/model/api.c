/* Entering and leaving calls: the lock, call counts, planted failures, last and sticky errors, the reset. */
#include "api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct device device;

static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static _Thread_local cudaError_t own_error;
static _Thread_local bool call_failed; /* for the device success-clears-error */
static cudaError_t shared_error;       /* for the device last-error-shared */
static unsigned taken; /* so often an error was asked for: for the device error-taken-from-all-threads */
static _Thread_local unsigned taken_then; /* ... when this thread looked last */
static unsigned count[SYMBOL_COUNT];
static cudaError_t planted[SYMBOL_COUNT];

#define MODEL_SYMBOL_NAME(name) #name,
static const char *const symbol_name[SYMBOL_COUNT] = {MODEL_SYMBOLS(MODEL_SYMBOL_NAME)};

static cudaError_t *last_error(void)
{
    if (device.faults.error_taken_from_all_threads && taken_then != taken)
        own_error = cudaSuccess;
    taken_then = taken;
    return device.faults.last_error_shared ? &shared_error : &own_error;
}

static void lock_make(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void lock_take(void)
{
    pthread_once(&lock_once, lock_make);
    pthread_mutex_lock(&lock);
}

static pthread_t first_thread; /* that reset the device: the one that drawn devices call the first */

/* Devices on which some calls reset the last error */
static bool clears_error(enum symbol symbol)
{
    const struct faults *f = &device.faults;
    switch (symbol) {
    case SYMBOL_cudaGraphInstantiateWithFlags: return f->instance_clears_error;
    case SYMBOL_cudaStreamBeginCaptureToGraph: return f->capture_clears_error;
    case SYMBOL_cudaFree: return f->free_clears_error;
    case SYMBOL_cudaGraphExecUpdate: return f->update_clears_error;
    case SYMBOL_cudaEventElapsedTime: return f->time_clears_error;
    case SYMBOL_cudaLaunchHostFunc: return f->host_call_clears_error;
    case SYMBOL_cudaOccupancyMaxActiveBlocksPerMultiprocessor: return f->fit_clears_error;
    case SYMBOL_cudaGraphKernelNodeSetParams: return f->params_clear_error;
    default: return false;
    }
}

struct call call_begin(enum symbol symbol, bool despite_sticky)
{
    lock_take();
    if (device.cc == 0)
        model_reset(NULL, 1);
    objects_forget_retired();
    struct call call = {cudaSuccess};
    device.other_thread = !pthread_equal(pthread_self(), first_thread);
    if (device.other_thread)
        device.other_thread_at = device.serial;
    count[symbol]++;
    call_failed = false;
    if (clears_error(symbol))
        *last_error() = cudaSuccess;
    if (planted[symbol] != cudaSuccess) {
        call.error = planted[symbol];
        planted[symbol] = cudaSuccess;
    } else if (!device.usable) {
        call.error = cudaErrorNoDevice;
    } else if (!despite_sticky) {
        call.error = device.sticky;
    }
    return call;
}

void call_end(struct call *call)
{
    (void)call;
    if (device.faults.success_clears_error && !call_failed)
        *last_error() = cudaSuccess;
    pthread_mutex_unlock(&lock);
}

/* Devices on which some errors do not become the last one */
static bool is_overlooked(cudaError_t error)
{
    const struct faults *f = &device.faults;
    switch ((int)error) {
    case cudaErrorLossyQuery: return f->lossy_not_last_error;
    case cudaErrorCapturedEvent: return f->captured_event_not_last;
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation: return f->capture_error_not_last;
    case cudaErrorStreamCaptureUnmatched: return f->unmatched_end_not_last;
    case cudaErrorStreamCaptureImplicit: return f->implicit_not_last;
    case cudaErrorStreamCaptureWrongThread: return f->wrong_thread_not_last;
    case cudaErrorGraphExecUpdateFailure: return f->update_failure_not_last;
    case cudaErrorInvalidPitchValue: return f->pitch_not_last;
    case cudaErrorInvalidDeviceFunction: return f->function_not_last;
    case cudaErrorNotSupported: return f->unsupported_not_last;
    case cudaErrorLaunchOutOfResources: return f->resources_not_last;
    default: return false;
    }
}

cudaError_t call_result(cudaError_t error)
{
    call_failed |= error != cudaSuccess;
    if (error == cudaErrorNotReady && device.faults.unready_clears_error)
        *last_error() = cudaSuccess;
    bool stays = device.faults.first_error_stays && *last_error() != cudaSuccess;
    stays |= is_overlooked(error);
    if (error != cudaSuccess && (error != cudaErrorNotReady || device.faults.unready_is_last) && !stays)
        *last_error() = error;
    return error;
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    lock_take();
    count[SYMBOL_cudaGetLastError]++;
    cudaError_t error = *last_error();
    bool stays = (device.faults.lossy_stays_last && error == cudaErrorLossyQuery) || (device.faults.capture_keeps_last && capture_is_active());
    if (!stays)
        *last_error() = device.sticky;
    taken++;
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
    lock_take();
    count[SYMBOL_cudaPeekAtLastError]++;
    cudaError_t error = *last_error();
    if (device.faults.peek_clears)
        *last_error() = device.sticky;
    pthread_mutex_unlock(&lock);
    return error;
}

static bool read_size(const char *name, unsigned least, unsigned most, unsigned *size)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || text[0] == '\0')
        return true;
    unsigned long value = strtoul(text, &end, 10);
    bool sound = text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= least && value <= most;
    if (sound)
        *size = (unsigned)value;
    return sound;
}

unsigned model_sms(void)
{
    return device.sms;
}

void model_reset(const char *variant, uint64_t seed)
{
    lock_take();
    const struct variant *v = variant_find(variant);
    int cc = device.cc;
    device.sms = MODEL_SMS;
    device.slots = MODEL_SLOTS;
    bool sized = read_size("PDL_MODEL_SMS", 1, MODEL_MOST_SMS, &device.sms) &&
                 read_size("PDL_MODEL_SLOTS", 2, MODEL_MOST_SLOTS, &device.slots);
    scheduler_reset();
    blocks_reset();
    objects_reset(true);
    ops_reset();
    captures_reset();
    graphs_reset();
    objects_reset(false);
    streams_reset();
    pools_reset();
    memory_pools_reset();
    named_words_reset();
    settings_reset();
    graph_memories_reset();
    memory_reset();
    functions_reset();
    devices_reset();
    launches_reset();
    memset(count, 0, sizeof count);
    memset(planted, 0, sizeof planted);
    device.usable = v != NULL && sized;
    device.variant = v;
    memset(&device.faults, 0, sizeof device.faults);
    memset(&device.drawn, 0, sizeof device.drawn);
    if (v != NULL)
        (void)drawn_read(variant, &device.drawn);
    first_thread = pthread_self();
    if (v != NULL && v->flag != SIZE_MAX)
        *(bool *)((char *)&device.faults + v->flag) = true;
    device.cc = cc != 0 ? cc : 90;
    device.runtime_version = CUDART_VERSION;
    device.driver_version = CUDART_VERSION;
    device.sticky = cudaSuccess;
    device.deadlocked = false;
    own_error = shared_error = cudaSuccess;
    choices_seed(seed);
    pthread_mutex_unlock(&lock);
}

static int symbol_find(const char *name)
{
    for (int i = 0; i < SYMBOL_COUNT; i++)
        if (strcmp(symbol_name[i], name) == 0)
            return i;
    return -1;
}

unsigned model_call_count(const char *symbol)
{
    int i = symbol_find(symbol);
    return i < 0 ? 0 : count[i];
}

void model_fail_next(const char *symbol, cudaError_t error)
{
    int i = symbol_find(symbol);
    if (i >= 0)
        planted[i] = error;
}

void model_set_cc(int major, int minor)
{
    lock_take();
    if (device.cc == 0)
        model_reset(NULL, 1);
    device.cc = 10 * major + minor;
    pthread_mutex_unlock(&lock);
}

void model_set_versions(int runtime, int driver)
{
    if (runtime != 0)
        device.runtime_version = runtime;
    if (driver != 0)
        device.driver_version = driver;
}

int model_deadlocked(void)
{
    return device.deadlocked;
}

uint64_t model_trace(void)
{
    return device.trace;
}

void model_get_counts(struct model_counts *counts)
{
    *counts = device.counts;
    counts->clock_ns = device.clock >> 10;
}
