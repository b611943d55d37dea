/* joins_told_set.h - what the host sets in the pair told of joins.cu, at the same places: limits, preferences, memory of its own that the device may
 * use, memory of both. Some of these calls may wait for the device: while the host holds a primary, they are given little time. */
#ifndef JOINS_TOLD_SET_H_INCLUDED
#define JOINS_TOLD_SET_H_INCLUDED

#define SETS_ROUNDS 12u        /* twice at each place, before a follower and before a dependent */
#define SETS_NS 1000000u       /* a primary that is held longer gives up, and proves nothing */

/* In a capture nobody promises that a call may wait for the device: there most of these are left out. */
static int work_is_captured(const struct joins *joins)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    return cudaStreamIsCapturing(joins->stream[0], &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

/* The kernels keep what they have: no preference. */
static cudaError_t set_preferences(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = cudaFuncSetCacheConfig((const void *)SYMBOL(AWAITING_FOLLOWER), cudaFuncCachePreferNone);

    (void)joins, (void)stream, (void)event;
    return error == cudaSuccess ? cudaDeviceSetCacheConfig(cudaFuncCachePreferNone) : error;
}

/* Each stays what it was; in the first round the stack has more room in between. Devices may refuse that while kernels run, or once they did. */
static cudaError_t set_limits(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    static const enum cudaLimit limits[] = { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
    size_t value = 0;
    unsigned i;
    cudaError_t error = cudaSuccess;

    (void)stream, (void)event;
    for (i = 0; i < sizeof(limits) / sizeof(limits[0]) && error == cudaSuccess && !work_is_captured(joins); i++) {
        error = cudaDeviceGetLimit(&value, limits[i]);
        if (error == cudaSuccess && i == 0 && joins->round == 0)
            (void)whatever(cudaDeviceSetLimit(limits[i], value + 16));
        if (error == cudaSuccess)
            (void)whatever(cudaDeviceSetLimit(limits[i], value));
    }
    return error;
}

/* Devices without such lines may refuse it. */
static cudaError_t reset_lines(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    if (!work_is_captured(joins))
        (void)whatever(cudaCtxResetPersistingL2Cache());
    return cudaSuccess;
}

/* Memory that nobody uses, until the trial has ended. Systems may refuse to register it, but not because an earlier trial did so: that one
 * has told the device since that it is registered no more. */
static unsigned char set_apart[4096];

static cudaError_t add_registered(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = cudaSuccess;

    (void)stream, (void)event;
    if (joins->registered || work_is_captured(joins))
        return error;
    error = cudaHostRegister(set_apart, sizeof(set_apart), cudaHostRegisterDefault);
    if (error == cudaSuccess)
        joins->registered = set_apart;
    (void)cudaGetLastError();
    return error == cudaErrorHostMemoryAlreadyRegistered ? error : cudaSuccess;
}

static cudaError_t end_registered(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = add_registered(joins, NULL, NULL);

    (void)stream, (void)event;
    if (!joins->registered)
        return error;
    joins->registered = NULL;
    return cudaHostUnregister(set_apart);
}

/* Devices may have no such memory. It is freed once the trial has ended. */
static cudaError_t add_managed(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    if (!joins->made && !work_is_captured(joins) &&
        cudaMallocManaged(&joins->made, ALL_WORDS * sizeof(uint32_t), cudaMemAttachGlobal) != cudaSuccess)
        joins->made = NULL;
    (void)cudaGetLastError();
    return cudaSuccess;
}

static const struct named_call set_calls[] = {
    { "stale after preferences of caches", set_preferences },
    { "stale after memory of the host was registered", add_registered },
    { "stale after limits of the device", set_limits },
    { "stale after persisting lines were reset", reset_lines },
    { "stale after memory of the host was registered no more", end_registered },
    { "stale after an allocation of managed memory", add_managed },
};
#define SETS (sizeof(set_calls) / sizeof(set_calls[0]))

static cudaError_t set_between(struct joins *joins) { return told_or_captured(joins, set_calls[joins->trial % SETS].call); }

static void ask_set(struct ask *ask)
{
    unsigned long long trials = ask->trials;

    ask->trials = SETS_ROUNDS * SETS; /* in every profile */
    ask_calls(ask, set_calls, SETS, set_between);
    ask->trials = trials;
    ask_meanwhile_all(ask, set_calls, SETS, SETS_NS, "what a setting let go while a primary was held");
}

#endif
