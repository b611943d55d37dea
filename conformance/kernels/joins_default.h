/* joins_default.h - the pair of joins.cu with the legacy default stream and a blocking stream, one after the other: each kind of work, each
 * kind of follower, and what had stood in the follower's stream before. */
#ifndef JOINS_DEFAULT_H_INCLUDED
#define JOINS_DEFAULT_H_INCLUDED

/* The blocking stream is new, and made once the work is queued where it is the follower's. Before: it, or the legacy stream, waits for an event. */
enum before { BEFORE_NOTHING, BEFORE_KERNEL, BEFORE_GRAPH, BEFORE_EVENT, BEFORE_NEW, BEFORES };
enum then { THEN_COPY, THEN_MEMCPY, THEN_FOLLOWER }; /* of each kind */
static const enum follow_by default_follower[] = { FOLLOW_KERNEL, FOLLOW_LONG_ARGS, FOLLOW_OVERLAPPING, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_CALLBACK,
                                                   FOLLOW_EVENT };
#define THENS (THEN_FOLLOWER + sizeof(default_follower) / sizeof(default_follower[0]))

struct by_default {
    enum before before;
    unsigned then;
    cudaStream_t from, to, fresh;
    cudaEvent_t event;
    cudaGraphExec_t nothing, hollow; /* hollow: in which nothing runs */
    struct kernel_args args;   /* of the work */
    uint32_t *copied;          /* the words, where they are copied: in the device's memory */
};

static cudaError_t open_default(struct joins *joins, struct by_default *d, int into_legacy)
{
    unsigned which = joins->trial / 2;
    cudaStream_t blocking = joins->stream[joins->trial % PLACES];
    cudaError_t error = cudaMalloc((void **)&d->copied, PLACE_WORDS * sizeof(uint32_t));

    prepare(joins, 1, 1);
    d->before = (enum before)(which % BEFORES);
    d->then = (unsigned)(which / BEFORES % THENS);
    d->args = joins->work[0];
    if (d->then < THEN_FOLLOWER)
        d->args.data = d->copied;
    if (error == cudaSuccess && d->before == BEFORE_NEW && into_legacy)
        error = cudaStreamCreate(&d->fresh);
    d->from = !into_legacy ? cudaStreamLegacy : d->fresh ? d->fresh : blocking;
    d->to = into_legacy ? cudaStreamLegacy : blocking;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&d->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = open_aside(joins);
    return error == cudaSuccess ? ask_graph_of_kernel(&d->nothing, (const void *)SYMBOL(joins_silent), &joins->work[0], 1) : error;
}

/* The host waits for cudaMemcpy, which is work of the legacy stream. Copies from pinned memory are asked elsewhere (COMP-06c). */
static cudaError_t copy_then(struct joins *joins, const struct by_default *d)
{
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);
    cudaStream_t to = FOLLOWS_IN(joins, d->to);

    return d->then == THEN_MEMCPY && to == cudaStreamLegacy ? cudaMemcpy(joins->pinned->seen[0], d->copied, bytes, cudaMemcpyDeviceToHost)
                                                            : cudaMemcpyAsync(joins->pinned->seen[0], d->copied, bytes, cudaMemcpyDeviceToHost, to);
}

static cudaError_t do_before(struct joins *joins, const struct by_default *d)
{
    cudaStream_t side = joins->ask->side;
    cudaError_t error;

    switch (d->before) {
    case BEFORE_KERNEL: return launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, d->to, NULL, 0);
    case BEFORE_GRAPH: return cudaGraphLaunch(d->nothing, d->to);
    case BEFORE_EVENT:
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, side, NULL, 0);
        return error == cudaSuccess ? record_and_await(d->event, side, d->to) : error;
    default: return cudaSuccess;
    }
}

/* In two of six rounds: what has nothing to do is the last in the stream of the work. */
static cudaError_t put_hollow(struct joins *joins, struct by_default *d)
{
    unsigned which = joins->trial / 2, round = which / (BEFORES * THENS) % 6;
    cudaError_t error;

    if (round == 3)
        return whatever(cudaMemsetAsync(joins->aside, 0, 0, d->from));
    if (round != 4)
        return cudaSuccess;
    error = make_hollow(joins, which % 2 ? HOLLOW_DISABLED : HOLLOW_EMPTY, &d->hollow);
    return error == cudaSuccess ? cudaGraphLaunch(d->hollow, d->from) : error;
}

/* Until the work has got somewhere, or has ended. */
static cudaError_t ask_meanwhile(struct joins *joins, cudaStream_t stream)
{
    unsigned asks = joins->trial / 4 % 2 ? 1u << drawn(joins, 9, 7) : 0;
    cudaError_t error = cudaErrorNotReady;

    for (; asks && error == cudaErrorNotReady; asks--)
        error = cudaStreamQuery(stream);
    (void)cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

static cudaError_t run_default(struct joins *joins, struct by_default *d)
{
    cudaError_t error = do_before(joins, d);

    if (error == cudaSuccess)
        error = some_work(joins, &d->args, d->from);
    if (error == cudaSuccess)
        error = put_hollow(joins, d);
    if (error == cudaSuccess)
        error = ask_meanwhile(joins, d->from);
    if (error == cudaSuccess && d->before == BEFORE_NEW && !d->fresh) {
        error = joins->trial / 4 % 2 ? cudaStreamCreate(&d->fresh) : cudaStreamCreateWithPriority(&d->fresh, cudaStreamDefault, 0);
        d->to = d->fresh;
    }
    if (error != cudaSuccess)
        return error;
    return d->then < THEN_FOLLOWER ? copy_then(joins, d) : follow_by(joins, default_follower[d->then - THEN_FOLLOWER], d->to);
}

static cudaError_t by_default(struct joins *joins, int into_legacy)
{
    struct by_default d = PDL_ZERO;
    cudaError_t error = open_default(joins, &d, into_legacy), end;

    if (error == cudaSuccess)
        error = run_default(joins, &d);
    end = cudaDeviceSynchronize();
    if (d.event)
        (void)cudaEventDestroy(d.event);
    if (d.nothing)
        (void)cudaGraphExecDestroy(d.nothing);
    if (d.hollow)
        (void)cudaGraphExecDestroy(d.hollow);
    if (d.fresh)
        (void)cudaStreamDestroy(d.fresh);
    (void)cudaFree(d.copied);
    return error == cudaSuccess ? end : error;
}

static cudaError_t into_legacy(struct joins *joins) { return by_default(joins, 1); }
static cudaError_t from_legacy(struct joins *joins) { return by_default(joins, 0); }

static void ask_default(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in the legacy stream, after work of each kind in a blocking one", into_legacy },
        { "stale in a blocking stream, after work of each kind in the legacy one", from_legacy },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamDefault);
}

#endif
