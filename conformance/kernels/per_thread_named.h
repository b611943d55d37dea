/* per_thread_named.h - the pair of per_thread.cu in which code that is compiled for per-thread default streams names the legacy stream or a
 * blocking one: each call goes there. Either comes after the work of that blocking stream, which the per-thread stream would not. */
#ifndef PER_THREAD_NAMED_H_INCLUDED
#define PER_THREAD_NAMED_H_INCLUDED

KERNEL(per_thread_reader) { reader_copies(&args, 0); }

enum named_call { NAMED_LAUNCH, NAMED_CONFIG, NAMED_COPY, NAMED_SET, NAMED_HOST, NAMED_GRAPH, NAMED_RECORD, NAMED_FLAGS_RECORD, NAMED_WAIT,
                  NAMED_SYNCHRONIZE, NAMED_QUERY, NAMED_CALLS };
static const char *const named_name[NAMED_CALLS] = { "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
                                                     "cudaLaunchHostFunc", "cudaGraphLaunch", "cudaEventRecord", "cudaEventRecordWithFlags",
                                                     "cudaStreamWaitEvent", "cudaStreamSynchronize", "cudaStreamQuery" };

#define NAMED_TRIALS 8u        /* of each call, in each of the two streams */

struct named {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    uint32_t *copied;          /* the words, where they are copied: in the device's memory */
    cudaStream_t blocking, named;
    cudaEvent_t event;
    cudaGraphExec_t exec;      /* of the reader */
};

/* Work in the stream that the call is to come after: for a wait one that the named stream would not come after else. */
static cudaError_t work_before(const struct named *n, enum named_call call)
{
    struct kernel_args args = n->args;
    cudaStream_t stream = call == NAMED_WAIT ? n->ask->side : call >= NAMED_SYNCHRONIZE ? n->named : n->blocking;

    if (call == NAMED_COPY)
        args.data = n->copied;
    return launch_one((const void *)SYMBOL(per_thread_work), &args, ASK_WORDS / 2, stream, NULL, 0);
}

static cudaError_t read_in(const struct named *n, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(per_thread_reader), &n->args, ASK_WORDS / 2, stream, NULL, 0);
}

static cudaError_t launch_named(const struct named *n, int by_config)
{
    cudaLaunchAttribute domain = in_remote_domain();
    cudaLaunchConfig_t config = one_block(ASK_WORDS / 2, n->named);
    struct kernel_args args = n->args;
    void *params[1];

    params[0] = &args;
    config.attrs = &domain;
    config.numAttrs = 1;
    return by_config ? cudaLaunchKernelExC_ptsz(&config, (const void *)SYMBOL(per_thread_reader), params)
                     : cudaLaunchKernel_ptsz((const void *)SYMBOL(per_thread_reader), config.gridDim, config.blockDim, params, 0, n->named);
}

static void CUDART_CB look_at_work(void *opaque)
{
    struct host_room *room = (struct host_room *)opaque;

    room->stale = work_is_stale(room);
}

static cudaError_t record_named(const struct named *n, int with_flags)
{
    cudaStream_t side = n->ask->side;
    cudaError_t error = with_flags ? cudaEventRecordWithFlags_ptsz(n->event, n->named, cudaEventRecordDefault)
                                   : cudaEventRecord_ptsz(n->event, n->named);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(side, n->event, 0);
    return error == cudaSuccess ? read_in(n, side) : error;
}

static cudaError_t wait_named(const struct named *n)
{
    cudaError_t error = cudaEventRecord(n->event, n->ask->side);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent_ptsz(n->named, n->event, 0);
    return error == cudaSuccess ? read_in(n, n->named) : error;
}

/* By this call in the named stream; the host, once it has waited or was told that the stream has ended. */
static cudaError_t call_named(struct named *n, enum named_call call)
{
    size_t half = ASK_WORDS / 2 * sizeof(uint32_t);
    cudaError_t error;

    switch (call) {
    case NAMED_LAUNCH:
    case NAMED_CONFIG: return launch_named(n, call == NAMED_CONFIG);
    case NAMED_COPY: return cudaMemcpyAsync_ptsz(n->room->data + ASK_WORDS / 2, n->copied, half, cudaMemcpyDeviceToHost, n->named);
    case NAMED_SET: return cudaMemsetAsync_ptsz(n->args.data, 0x5A, half, n->named);
    case NAMED_HOST: return cudaLaunchHostFunc_ptsz(n->named, look_at_work, n->room);
    case NAMED_GRAPH: return cudaGraphLaunch_ptsz(n->exec, n->named);
    case NAMED_RECORD:
    case NAMED_FLAGS_RECORD: return record_named(n, call == NAMED_FLAGS_RECORD);
    case NAMED_WAIT: return wait_named(n);
    default: break;
    }
    do
        error = call == NAMED_QUERY ? cudaStreamQuery_ptsz(n->named) : cudaStreamSynchronize_ptsz(n->named);
    while (error == cudaErrorNotReady);
    (void)cudaGetLastError();
    look_at_work(n->room);
    return error;
}

/* Once everything has ended: whether the call came too soon. */
static unsigned named_is_stale(const struct named *n, enum named_call call)
{
    volatile const uint32_t *words = n->room->data;
    unsigned i, differs = 0;

    if (call == NAMED_HOST || call >= NAMED_SYNCHRONIZE)
        return n->room->stale != 0;
    for (i = 0; i < ASK_WORDS / 2 && call == NAMED_SET; i++)
        differs |= words[i] != 0x5A5A5A5Au;
    return call == NAMED_SET ? differs : copy_is_stale(n->room);
}

static cudaError_t run_named(struct named *n, unsigned trial, unsigned *wrong)
{
    enum named_call call = (enum named_call)(trial % NAMED_CALLS);
    cudaError_t error;

    n->named = trial / NAMED_CALLS % 2 ? n->blocking : cudaStreamLegacy;
    prepare_trial(n->room, trial);
    n->room->stale = 1; /* until the host has looked */
    error = work_before(n, call);
    if (error == cudaSuccess)
        error = call_named(n, call);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    wrong[call] += error == cudaSuccess && named_is_stale(n, call);
    return error;
}

static void ask_named_units(struct ask *ask)
{
    struct named n = PDL_ZERO;
    unsigned wrong[2][NAMED_CALLS] = { { 0 } }, trial, call;
    char text[128];
    cudaError_t error = open_room(&n.room, &n.args) ? cudaMalloc((void **)&n.copied, ASK_WORDS * sizeof(uint32_t)) : cudaErrorMemoryAllocation;

    n.ask = ask;
    if (error == cudaSuccess)
        error = cudaStreamCreate(&n.blocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&n.event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&n.exec, (const void *)SYMBOL(per_thread_reader), &n.args, ASK_WORDS / 2);
    for (trial = 0; ask_goes_on(ask, trial, 2 * NAMED_TRIALS * NAMED_CALLS) && error == cudaSuccess; trial++)
        error = run_named(&n, trial, wrong[trial / NAMED_CALLS % 2]);
    ask_expect(ask, "calls in a stream by its name", error, cudaSuccess);
    for (call = 0; call < 2 * NAMED_CALLS; call++) {
        snprintf(text, sizeof(text), "too soon in %s stream, which a unit with per-thread streams named: %s", call % 2 ? "a blocking" : "the legacy",
                 named_name[call / 2]);
        ask_expect_none(ask, text, wrong[call % 2][call / 2], NAMED_TRIALS);
    }
    (void)cudaDeviceSynchronize();
    if (n.exec)
        (void)cudaGraphExecDestroy(n.exec);
    if (n.event)
        (void)cudaEventDestroy(n.event);
    if (n.blocking)
        (void)cudaStreamDestroy(n.blocking);
    (void)cudaFree(n.copied);
    (void)cudaFreeHost(n.room);
}

#endif
