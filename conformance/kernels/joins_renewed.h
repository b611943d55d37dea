/* joins_renewed.h - the pair of joins.cu with new streams that may have the handle, or the place, of one that was destroyed while its work goes on:
 * they are other streams, and nothing that holds for the one that is gone holds for them. */
#ifndef JOINS_RENEWED_H_INCLUDED
#define JOINS_RENEWED_H_INCLUDED

#define RENEWED_MOST 3u        /* new streams of a trial */
#define RENEWED_HOLD_NS 400000u /* the work: long enough for streams to come and go meanwhile, also where many were made before */

struct renewal {
    struct joins *joins;
    cudaStream_t gone, fresh[RENEWED_MOST]; /* fresh[0] is made first, and likeliest has what the other one had */
    unsigned count;            /* of those */
};

/* The stream that is to go. */
static cudaError_t begin_renewal(struct renewal *r, struct joins *joins, enum stream_kind kind, unsigned followers)
{
    struct renewal none = PDL_ZERO;

    *r = none;
    r->joins = joins;
    r->count = joins->round % 2 ? RENEWED_MOST : 1;
    prepare(joins, 1, followers);
    joins->pinned->plan[0].hold_ns = RENEWED_HOLD_NS;
    return open_kind(kind, &r->gone);
}

/* "The function will return immediately", also if the device still does work of the stream. The new ones are made then. */
static cudaError_t renew(struct renewal *r, enum stream_kind kind)
{
    cudaError_t error = cudaStreamDestroy(r->gone);
    unsigned i;

    r->gone = NULL;
    for (i = 0; i < r->count && error == cudaSuccess; i++)
        error = open_kind(kind, &r->fresh[i]);
    return error;
}

/* Once all has ended. error: of what was queued. */
static cudaError_t end_renewal(struct renewal *r, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();
    unsigned i;

    close_kind(&r->gone);
    for (i = 0; i < RENEWED_MOST; i++)
        close_kind(&r->fresh[i]);
    return error == cudaSuccess ? end : error;
}

static cudaError_t queue_renewed(struct renewal *r, cudaEvent_t event, enum stream_kind kind)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_OVERLAPPING, FOLLOW_HOST, FOLLOW_COPY, FOLLOW_GRAPH, FOLLOW_WAIT, FOLLOW_EVENT,
                                           FOLLOW_LONG_ARGS, FOLLOW_SET, FOLLOW_CALLBACK, FOLLOW_POLL };
    struct joins *joins = r->joins;
    cudaError_t error = work(joins, 0, r->gone);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaEventRecord(event, r->gone);
    if (error == cudaSuccess)
        error = renew(r, kind);
    for (i = 0; i < r->count && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(r->fresh[i], event, 0);
    return error == cudaSuccess ? follow_by(joins, ways[joins->round % (sizeof(ways) / sizeof(ways[0]))], r->fresh[0]) : error;
}

/* A stream need not wait for its own events: this one is another stream's. */
static cudaError_t renew_after_event(struct joins *joins)
{
    enum stream_kind kind = joins->round / 2 % 2 ? STREAM_URGENT : STREAM_PLAIN;
    struct renewal r;
    cudaEvent_t event = NULL;
    cudaError_t error = begin_renewal(&r, joins, kind, 1);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, joins->round % 3 ? cudaEventDisableTiming : cudaEventDefault);
    if (error == cudaSuccess)
        error = queue_renewed(&r, event, joins->round % 4 == 3 ? STREAM_PLAIN : kind);
    if (event)
        (void)cudaEventDestroy(event);
    return end_renewal(&r, error);
}

/* The wait in the new stream's kernel covers the launch that recorded the event. */
static cudaError_t renew_after_launch(struct joins *joins)
{
    struct renewal r;
    cudaEvent_t event = NULL;
    cudaLaunchAttribute records;
    cudaError_t error = begin_renewal(&r, joins, STREAM_PLAIN, 1);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    records = recording_at(event, joins->round % 2);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, r.gone, &records, 1);
    if (error == cudaSuccess)
        error = renew(&r, STREAM_PLAIN);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(r.fresh[0], event, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, r.fresh[0]), NULL, 0);
    if (event)
        (void)cudaEventDestroy(event);
    return end_renewal(&r, error);
}

/* The legacy stream comes after both: the new stream's work, of which there is little, does not stand for what went before. */
static cudaError_t renew_before_legacy(struct joins *joins)
{
    struct renewal r;
    cudaError_t error = begin_renewal(&r, joins, STREAM_BLOCKING, 1);
    unsigned i;

    if (error == cudaSuccess)
        error = work(joins, 0, r.gone);
    if (error == cudaSuccess)
        error = renew(&r, STREAM_BLOCKING);
    for (i = 0; i < r.count && error == cudaSuccess; i++)
        error = silent(joins, r.fresh[i]);
    if (error == cudaSuccess)
        error = follow(joins, 0, cudaStreamLegacy);
    return end_renewal(&r, error);
}

/* Memory that the one freed is not the other's before its last use has ended. */
static cudaError_t use_renewed(struct renewal *r, struct kernel_args *last)
{
    struct joins *joins = r->joins;
    struct kernel_args args = joins->work[0];
    cudaError_t error = joins->pooled ? cudaSuccess : cudaMallocAsync((void **)&joins->pooled, POOL_BYTES, r->gone);

    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&args.data, POOL_BYTES, r->gone);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(r->gone);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, r->gone, NULL, 0);
    if (error == cudaSuccess)
        error = cudaFreeAsync(args.data, r->gone);
    if (error == cudaSuccess)
        error = renew(r, STREAM_PLAIN);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&last->data, POOL_BYTES, r->fresh[0]);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_fills), last, PLACE_WORDS, r->fresh[0], NULL, 0) : error;
}

static cudaError_t renew_memory(struct joins *joins)
{
    struct pinned *pinned = joins->pinned;
    struct kernel_args last = joins->work[1];
    struct renewal r;
    cudaError_t error = begin_renewal(&r, joins, STREAM_PLAIN, 0);
    unsigned i;

    joins->unasked = pools_lack() != NULL;
    last.data = NULL;
    if (error == cudaSuccess && !joins->unasked)
        error = use_renewed(&r, &last);
    error = end_renewal(&r, error);
    if (!last.data || error != cudaSuccess)
        return error;
    error = cudaMemcpy(pinned->seen[0], last.data, POOL_BYTES, cudaMemcpyDeviceToHost);
    for (i = 0; i < PLACE_WORDS; i++)
        pinned->host_is_stale |= pinned->seen[0][i] != words_fresh(pinned->plan[1].key, i);
    return error == cudaSuccess ? cudaFree(last.data) : error;
}

/* An executable graph that runs in the one does not run beside itself in the other. */
static cudaError_t renew_launch(struct joins *joins)
{
    struct renewal r;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = begin_renewal(&r, joins, STREAM_PLAIN, 0);

    if (error == cudaSuccess)
        error = one_kernel(&graph, &exec, &joins->work[0]);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, r.gone);
    if (error == cudaSuccess)
        error = renew(&r, STREAM_PLAIN);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, r.fresh[0]);
    error = end_renewal(&r, error);
    joins->pinned->host_is_stale = joins->pinned->state.early != 0 || joins->pinned->state.finished != 2;
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_renewed(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a new stream, after an event of one that was destroyed", renew_after_event },
        { "stale in a new stream, after the event of a launch in one that was destroyed", renew_after_launch },
        { "stale in the legacy stream, after a new stream and one that was destroyed", renew_before_legacy },
        { "overwritten in memory that a new stream allocates, after one that was destroyed", renew_memory },
        { "beside itself in a new stream, an executable graph of one that was destroyed", renew_launch },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
