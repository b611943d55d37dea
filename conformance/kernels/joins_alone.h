/* joins_alone.h - the pairs of joins.cu with work alone in a blocking stream, of each kind that is no kernel; then, in the legacy stream, work of
 * each kind, or a copy from pinned memory. The first work is held up by an event of a stream that waits for neither, or takes its time. */
#ifndef JOINS_ALONE_H_INCLUDED
#define JOINS_ALONE_H_INCLUDED

#define ALONE_HOLD 50000u      /* nanoseconds: as long as it takes to queue both works */
#define ALONE_PAUSE 100000u    /* ... of a host function that nothing holds up */

/* ---- the first work ---- */

/* PAUSES: it is a host function that takes its time, and no event holds it up. FREED: memory is freed and allocated again. */
enum alone_by { ALONE_CALL, ALONE_CALLBACK, ALONE_GRAPH, ALONE_PAUSES, ALONE_GRAPH_PAUSES, ALONE_FREED };
struct alone_first {
    enum over over;
    enum alone_by by;
};
static const struct alone_first alone_first[] = {
    { OVER_BY_SET, ALONE_CALL },         { OVER_BY_SET_ROWS, ALONE_CALL }, { OVER_BY_COPY_IN, ALONE_CALL },
    { OVER_BY_COPY_WITHIN, ALONE_CALL }, { OVER_BY_LAYERS, ALONE_CALL },   { OVER_BY_VALUE, ALONE_CALL },
    { OVER_BY_HOST, ALONE_CALL },        { OVER_BY_HOST, ALONE_CALLBACK }, { OVER_BY_SET, ALONE_GRAPH },
    { OVER_BY_HOST, ALONE_GRAPH },       { OVER_BY_HOST, ALONE_PAUSES },   { OVER_BY_HOST, ALONE_GRAPH_PAUSES },
    { OVERS, ALONE_FREED },
};
#define ALONE_FIRSTS (sizeof(alone_first) / sizeof(alone_first[0]))
#define ALONE_SOURCES (ALONE_FIRSTS - 1) /* before a copy that reads what was stored: all but FREED */

/* ---- the second one ---- */

/* EVENT: the legacy stream records it, and who waits for it reads. */
enum alone_then_by { ALONE_THEN_CALL, ALONE_THEN_CALLBACK, ALONE_THEN_EVENT, ALONE_THEN_OVERLAPPING, ALONE_THEN_MEMCPY };
struct alone_then {
    enum over over;            /* OVERS: it reads */
    enum reader reader;
    enum alone_then_by by;
};
static const struct alone_then alone_then[] = {
    { OVER_BY_SET, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVER_BY_COPY_IN, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVER_BY_KERNEL, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVER_BY_GRAPH, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVER_BY_HOST, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVERS, READ_BY_KERNEL, ALONE_THEN_CALL },
    { OVERS, READ_BY_COPY_OUT, ALONE_THEN_CALL },
    { OVERS, READ_BY_COPY_WITHIN, ALONE_THEN_CALL },
    { OVERS, READ_BY_HOST, ALONE_THEN_CALL },
    { OVERS, READ_BY_HOST, ALONE_THEN_CALLBACK },
    { OVERS, READ_BY_KERNEL, ALONE_THEN_EVENT },
    { OVERS, READ_BY_KERNEL, ALONE_THEN_OVERLAPPING },
    { OVERS, READ_BY_COPY_OUT, ALONE_THEN_MEMCPY },
};
#define ALONE_THENS (sizeof(alone_then) / sizeof(alone_then[0]))

struct alone {
    struct neighbours n;
    enum alone_by by;
    enum alone_then_by then;
    cudaStream_t stream;       /* the blocking one */
    cudaEvent_t held, passed;  /* passed: recorded in the legacy stream */
    cudaGraphExec_t first;     /* the first work as a graph */
};

/* The per-thread default stream is a blocking one, too. */
static cudaStream_t alone_stream(const struct joins *joins)
{
    unsigned place = (joins->trial + joins->round) % (PLACES + 1);

    return place == PLACES ? cudaStreamPerThread : joins->stream[place];
}

/* Here no copy reads pinned memory, which COMP-06c asks for, and none goes from pinned memory to pinned memory, which the host may do itself. */
static void spare_host_copies(struct alone *a)
{
    struct neighbours *n = &a->n;

    n->r.pinned |= n->r.over == OVER_BY_HOST || n->second == OVER_BY_HOST || n->r.reader == READ_BY_HOST;
    if (!n->r.pinned)
        return;
    if (n->r.over == OVER_BY_COPY_IN)
        n->r.over = OVER_BY_COPY_WITHIN;
    if (n->second == OVER_BY_COPY_IN)
        n->second = OVER_BY_COPY_WITHIN;
    if (n->second == OVERS && n->r.reader != READ_BY_HOST) {
        n->r.reader = READ_BY_KERNEL;
        a->then = a->then == ALONE_THEN_MEMCPY ? ALONE_THEN_CALL : a->then;
    }
}

/* What follows is a copy of pinned memory to the device, asynchronous or not. */
static void read_by_copy(struct alone *a)
{
    struct neighbours *n = &a->n;

    n->r.pinned = 1;
    spare_host_copies(a);
    n->second = OVERS;
    n->r.reader = READ_BY_COPY_WITHIN;
    a->then = n->r.joins->round % 2 ? ALONE_THEN_MEMCPY : ALONE_THEN_CALL;
}

/* Each first work with each second one, in as many rounds as there are of these; the next time in the other memory, where both can be. */
static void choose_alone(struct alone *a, struct joins *joins, unsigned first)
{
    const struct alone_then *then = &alone_then[(joins->round + first) % ALONE_THENS];
    struct neighbours *n = &a->n;

    n->r.joins = joins;
    n->r.manner = OVER_IN_LINE;
    n->r.over = or_kernel(n, alone_first[first].over);
    n->r.reader = then->reader;
    n->second = then->over;
    n->r.pinned = (joins->round + first) % 2;
    a->by = alone_first[first].by;
    a->then = then->by;
    a->stream = alone_stream(joins);
}

static int pauses(const struct alone *a) { return a->by == ALONE_PAUSES || a->by == ALONE_GRAPH_PAUSES; }

static void CUDART_CB overwrite_late(void *opaque)
{
    host_pauses(ALONE_PAUSE);
    overwrite_words(opaque);
}

static void CUDART_CB overwrite_back(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    overwrite_words(opaque);
}

static cudaError_t queue_by_call(struct alone *a, cudaStream_t stream)
{
    return pauses(a) ? cudaLaunchHostFunc(stream, overwrite_late, a->n.r.joins->pinned->words) : overwrite(&a->n.r, a->n.r.over, 0, stream);
}

/* Captured in a stream that has no part in what is asked. */
static cudaError_t make_first_graph(struct alone *a)
{
    cudaStream_t stream = a->n.r.joins->loose;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = queue_by_call(a, stream);
    end = cudaStreamEndCapture(stream, &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&a->first, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t open_alone(struct alone *a)
{
    cudaError_t error = open_neighbours(&a->n);

    a->n.r.joins->pinned->plan[0].hold_ns = ALONE_HOLD;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&a->held, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&a->passed, a->n.r.joins->trial % 2 ? cudaEventDefault : cudaEventDisableTiming);
    return error == cudaSuccess && (a->by == ALONE_GRAPH || a->by == ALONE_GRAPH_PAUSES) ? make_first_graph(a) : error;
}

static void close_alone(struct alone *a)
{
    if (a->held)
        (void)cudaEventDestroy(a->held);
    if (a->passed)
        (void)cudaEventDestroy(a->passed);
    if (a->first)
        (void)cudaGraphExecDestroy(a->first);
    if (a->n.r.exec)
        (void)cudaGraphExecDestroy(a->n.r.exec);
}

static cudaError_t queue_first(struct alone *a)
{
    struct joins *joins = a->n.r.joins;
    cudaError_t error = cudaSuccess;

    if (!pauses(a))
        error = hold_up(joins, joins->ask->side);
    if (error == cudaSuccess && !pauses(a))
        error = record_and_await(a->held, joins->ask->side, a->stream);
    if (error != cudaSuccess)
        return error;
    if (a->by == ALONE_CALLBACK)
        return cudaStreamAddCallback(a->stream, overwrite_back, joins->pinned->words, 0);
    return a->first ? cudaGraphLaunch(a->first, a->stream) : queue_by_call(a, a->stream);
}

static void CUDART_CB read_back(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    read_words(opaque);
}

/* The host waits for cudaMemcpy, which is work of the legacy stream. */
static cudaError_t queue_then(struct alone *a)
{
    struct joins *joins = a->n.r.joins;
    uint32_t *seen = joins->pinned->seen[0];
    cudaStream_t to = FOLLOWS_IN(joins, name_of_legacy(joins, 0));
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error;

    switch (a->then) {
    case ALONE_THEN_CALLBACK: return cudaStreamAddCallback(to, read_back, joins->pinned, 0);
    case ALONE_THEN_OVERLAPPING: return launch_one((const void *)SYMBOL(joins_follower), &a->n.reads, PLACE_WORDS, to, &early, 1);
    case ALONE_THEN_MEMCPY:
        if (to == joins->loose)
            return queue_second(&a->n, to);
        return cudaMemcpy(a->n.r.target ? a->n.r.target : seen, a->n.r.source, ROW_BYTES, cudaMemcpyDefault);
    case ALONE_THEN_EVENT:
        error = record_and_await(a->passed, to, joins->ask->stream);
        return error == cudaSuccess ? queue_second(&a->n, joins->ask->stream) : error;
    default: return queue_second(&a->n, to);
    }
}

/* ---- memory that is freed ---- */

/* The mutant's memory was not freed. */
static cudaError_t free_and_allocate(uint32_t *old, uint32_t **fresh, cudaStream_t stream)
{
#ifdef MUTANT_otherstream
    (void)stream;
    *fresh = old;
    return cudaSuccess;
#else
    cudaError_t error = cudaFreeAsync(old, stream);

    return error == cudaSuccess ? cudaMallocAsync((void **)fresh, POOL_BYTES, stream) : error;
#endif
}

/* Late work of another stream uses the memory, which the blocking stream frees after an event of it and allocates again; most likely it gets
 * the same. */
static cudaError_t queue_freed(struct alone *a, struct joins *joins, uint32_t **fresh)
{
    struct kernel_args work = joins->work[0], fill = joins->work[1];
    cudaStream_t side = joins->ask->side, to = FOLLOWS_IN(joins, cudaStreamLegacy);
    cudaError_t error = cudaMallocAsync((void **)&work.data, POOL_BYTES, a->stream);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(a->stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &work, PLACE_WORDS, side, NULL, 0);
    if (error == cudaSuccess)
        error = record_and_await(a->held, side, a->stream);
    if (error == cudaSuccess)
        error = free_and_allocate(work.data, fresh, a->stream);
    fill.data = *fresh;
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_fills), &fill, PLACE_WORDS, to, NULL, 0) : error;
}

/* Whoever stores in the legacy stream is the last one to do so. */
static cudaError_t freed_alone(struct alone *a, struct joins *joins)
{
    struct pinned *pinned = joins->pinned;
    uint32_t *fresh = NULL;
    cudaError_t error = cudaSuccess, end;
    unsigned i;

    prepare(joins, 1, 0);
    joins->unasked = pools_lack() != NULL;
    if (joins->unasked)
        return error;
    a->stream = alone_stream(joins);
    error = cudaEventCreateWithFlags(&a->held, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = queue_freed(a, joins, &fresh);
    end = cudaDeviceSynchronize();
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaMemcpy(pinned->seen[0], fresh, POOL_BYTES, cudaMemcpyDeviceToHost);
    for (i = 0; i < PLACE_WORDS; i++)
        pinned->host_is_stale |= pinned->seen[0][i] != words_fresh(pinned->plan[1].key, i);
    return error == cudaSuccess ? cudaFreeAsync(fresh, a->stream) : error;
}

/* ---- each with each ---- */

static cudaError_t run_alone(struct alone *a)
{
    cudaError_t error = open_alone(a);

    if (error == cudaSuccess)
        error = queue_first(a);
    if (error == cudaSuccess)
        error = queue_then(a);
    if (error == cudaSuccess)
        error = look_at_neighbours(&a->n);
    close_alone(a);
    return error;
}

/* "When an action is taken in the legacy stream ... the legacy stream first waits on all blocking streams": for whatever they hold. */
static cudaError_t join_alone(struct joins *joins)
{
    struct alone a = PDL_ZERO;

    choose_alone(&a, joins, joins->trial % ALONE_FIRSTS);
    spare_host_copies(&a);
    return run_alone(&a);
}

static cudaError_t join_alone_freed(struct joins *joins)
{
    struct alone a = PDL_ZERO;
    cudaError_t error = freed_alone(&a, joins);

    close_alone(&a);
    return error;
}

static cudaError_t join_alone_source(struct joins *joins)
{
    struct alone a = PDL_ZERO;

    choose_alone(&a, joins, joins->trial % ALONE_SOURCES);
    read_by_copy(&a);
    return run_alone(&a);
}

/* In the order of alone_first. */
#define EACH_LONE_WORK(seen, join)                                                                          \
    { seen " after the only work of a blocking stream: a memset", join },                                   \
    { seen " after the only work of a blocking stream: a memset of rows", join },                           \
    { seen " after the only work of a blocking stream: a copy from the host", join },                       \
    { seen " after the only work of a blocking stream: a copy within the device", join },                   \
    { seen " after the only work of a blocking stream: a copy of layers", join },                           \
    { seen " after the only work of a blocking stream: a value write", join },                              \
    { seen " after the only work of a blocking stream: a host function", join },                            \
    { seen " after the only work of a blocking stream: a callback", join },                                 \
    { seen " after the only work of a blocking stream: a graph of a memset", join },                        \
    { seen " after the only work of a blocking stream: a graph of a host function", join },                 \
    { seen " after the only work of a blocking stream: a long host function", join },                       \
    { seen " after the only work of a blocking stream: a graph of a long host function", join },

static void ask_alone(struct ask *ask)
{
    static const struct join joins[ALONE_FIRSTS] = {
        EACH_LONE_WORK("wrong in the legacy stream", join_alone)
        { "wrong in the legacy stream after the only work of a blocking stream: memory that it frees", join_alone_freed },
    };

    ask_joins(ask, joins, ALONE_FIRSTS, cudaStreamDefault);
}

static void ask_alone_sources(struct ask *ask)
{
    static const struct join joins[ALONE_SOURCES] = { EACH_LONE_WORK("stale in a copy from pinned memory", join_alone_source) };

    ask_joins(ask, joins, ALONE_SOURCES, cudaStreamDefault);
}

#endif
