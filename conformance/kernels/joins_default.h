/* joins_default.h - the pair of joins.cu with the legacy default stream and a blocking stream, one after the other: each kind of work, each
 * kind of follower, and what had stood in the follower's stream before. */
#ifndef JOINS_DEFAULT_H_INCLUDED
#define JOINS_DEFAULT_H_INCLUDED

/* The work itself; a silent kernel with the attribute overlaps it, or it has the attribute and overlaps one; a graph of it. */
enum first_work { FIRST_KERNEL, FIRST_ROW, FIRST_ATTRIBUTED, FIRST_GRAPH, FIRSTS };
/* The blocking stream is new, and made once the work is queued where it is the follower's. */
enum before { BEFORE_NOTHING, BEFORE_KERNEL, BEFORE_GRAPH, BEFORE_NEW, BEFORES };
enum then { THEN_KERNEL, THEN_GRAPH, THEN_HOST, THEN_COPY, THEN_MEMCPY, THENS };

struct by_default {
    enum first_work first;
    enum before before;
    enum then then;
    cudaStream_t from, to, fresh;
    cudaGraphExec_t works, follows, nothing;
    struct kernel_args args;   /* of the work */
    uint32_t *copied;          /* the words, where they are copied: in the device's memory */
};

static cudaError_t open_default(struct joins *joins, struct by_default *d, int into_legacy)
{
    unsigned which = joins->trial / 2;
    cudaStream_t blocking = joins->stream[joins->trial % PLACES];
    cudaError_t error = cudaMalloc((void **)&d->copied, PLACE_WORDS * sizeof(uint32_t));

    prepare(joins, 1, 1);
    d->first = (enum first_work)(which % FIRSTS);
    d->before = (enum before)(which / FIRSTS % BEFORES);
    d->then = (enum then)(which / FIRSTS / BEFORES % THENS);
    d->args = joins->work[0];
    if (d->then >= THEN_COPY)
        d->args.data = d->copied;
    if (error == cudaSuccess && d->before == BEFORE_NEW && into_legacy)
        error = cudaStreamCreate(&d->fresh);
    d->from = !into_legacy ? cudaStreamLegacy : d->fresh ? d->fresh : blocking;
    d->to = into_legacy ? cudaStreamLegacy : blocking;
    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&d->works, (const void *)SYMBOL(joins_work), &d->args, PLACE_WORDS);
    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&d->follows, (const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS);
    return error == cudaSuccess ? ask_graph_of_kernel(&d->nothing, (const void *)SYMBOL(joins_silent), &joins->work[0], 1) : error;
}

static cudaError_t do_first(struct joins *joins, const struct by_default *d)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error;

    switch (d->first) {
    case FIRST_GRAPH: return cudaGraphLaunch(d->works, d->from);
    case FIRST_ATTRIBUTED:
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, d->from, NULL, 0);
        return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_work), &d->args, PLACE_WORDS, d->from, &attribute, 1) : error;
    default:
        error = launch_one((const void *)SYMBOL(joins_work), &d->args, PLACE_WORDS, d->from, NULL, 0);
        return error == cudaSuccess && d->first == FIRST_ROW ? silent(joins, d->from) : error;
    }
}

/* The host waits for cudaMemcpy, which is work of the legacy stream. Copies from pinned memory are asked elsewhere (COMP-06c). */
static cudaError_t copy_then(struct joins *joins, const struct by_default *d)
{
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);
    cudaStream_t to = FOLLOWS_IN(joins, d->to);

    return d->then == THEN_MEMCPY && to == cudaStreamLegacy ? cudaMemcpy(joins->pinned->seen[0], d->copied, bytes, cudaMemcpyDeviceToHost)
                                                            : cudaMemcpyAsync(joins->pinned->seen[0], d->copied, bytes, cudaMemcpyDeviceToHost, to);
}

static cudaError_t do_then(struct joins *joins, const struct by_default *d)
{
    switch (d->then) {
    case THEN_GRAPH: return cudaGraphLaunch(d->follows, FOLLOWS_IN(joins, d->to));
    case THEN_HOST:
        joins->followers = 0;
        joins->pinned->host_is_stale = 1; /* until it looked */
        return cudaLaunchHostFunc(FOLLOWS_IN(joins, d->to), look, joins->pinned);
    case THEN_COPY:
    case THEN_MEMCPY: return copy_then(joins, d);
    default: return follow(joins, 0, d->to);
    }
}

static cudaError_t run_default(struct joins *joins, struct by_default *d)
{
    cudaError_t error = cudaSuccess;

    if (d->before == BEFORE_KERNEL)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, d->to, NULL, 0);
    if (d->before == BEFORE_GRAPH)
        error = cudaGraphLaunch(d->nothing, d->to);
    if (error == cudaSuccess)
        error = do_first(joins, d);
    if (error == cudaSuccess && d->before == BEFORE_NEW && !d->fresh) {
        error = joins->trial / 4 % 2 ? cudaStreamCreate(&d->fresh) : cudaStreamCreateWithPriority(&d->fresh, cudaStreamDefault, 0);
        d->to = d->fresh;
    }
    return error == cudaSuccess ? do_then(joins, d) : error;
}

static cudaError_t by_default(struct joins *joins, int into_legacy)
{
    struct by_default d = PDL_ZERO;
    cudaError_t error = open_default(joins, &d, into_legacy), end;

    if (error == cudaSuccess)
        error = run_default(joins, &d);
    end = cudaDeviceSynchronize();
    if (d.works)
        (void)cudaGraphExecDestroy(d.works);
    if (d.follows)
        (void)cudaGraphExecDestroy(d.follows);
    if (d.nothing)
        (void)cudaGraphExecDestroy(d.nothing);
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
