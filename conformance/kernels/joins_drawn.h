/* joins_drawn.h - what the pairs of joins.cu draw from the seed: streams of each kind, work that is launched in each manner, followers of each
 * kind. */
#ifndef JOINS_DRAWN_H_INCLUDED
#define JOINS_DRAWN_H_INCLUDED

/* One of so many, for this trial. */
static unsigned drawn(const struct joins *joins, unsigned purpose, unsigned below)
{
    return (words_fresh(joins->ask->seed ^ 0x9E3779B97F4A7C15ull * (purpose + 1), joins->trial) >> 4) % below;
}

/* ---- streams ---- */

enum stream_kind { STREAM_PLAIN, STREAM_URGENT, STREAM_PER_THREAD, STREAM_BLOCKING, STREAM_LEGACY, STREAM_KINDS };
#define STREAMS_APART 3u       /* the first kinds: neither waits for the legacy stream */

static cudaError_t open_kind(enum stream_kind kind, cudaStream_t *stream)
{
    int least = 0, greatest = 0;
    cudaError_t error;

    switch (kind) {
    case STREAM_PER_THREAD: *stream = cudaStreamPerThread; return cudaSuccess;
    case STREAM_LEGACY: *stream = cudaStreamLegacy; return cudaSuccess;
    case STREAM_URGENT:
        error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
        return error == cudaSuccess ? cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest) : error;
    default: return cudaStreamCreateWithFlags(stream, kind == STREAM_BLOCKING ? cudaStreamDefault : cudaStreamNonBlocking);
    }
}

/* Its work goes on. */
static void close_kind(cudaStream_t *stream)
{
    if (*stream && *stream != cudaStreamPerThread && *stream != cudaStreamLegacy)
        (void)cudaStreamDestroy(*stream);
    *stream = NULL;
}

/* ---- work ---- */

enum tail { TAIL_NONE, TAIL_SILENT, TAIL_COPY, TAIL_SET, TAIL_HOST, TAILS }; /* what comes after the work and has nothing to do with it */

/* The work as a graph, of which nobody needs more than one launch. */
static cudaError_t work_by_graph(struct kernel_args *args, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = ask_graph_of_kernel(&exec, (const void *)SYMBOL(joins_work), args, PLACE_WORDS);

    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec); /* what was launched goes on */
    return error;
}

KERNEL_OF(joins_long_work, struct long_args) { slow_stores(&args.args); }
KERNEL_OF(joins_long_follower, struct long_args) { follower_copies(&args.args, 0); }

static cudaError_t queue_tail(struct joins *joins, enum tail tail, cudaStream_t stream)
{
    uint32_t *other = joins->aside + ALL_WORDS / 2;

    switch (tail) {
    case TAIL_NONE: return cudaSuccess;
    case TAIL_SILENT: return silent(joins, stream);
    case TAIL_COPY: return cudaMemcpyAsync(other, other + PLACE_WORDS, PLACE_WORDS, cudaMemcpyDeviceToDevice, stream);
    case TAIL_SET: return cudaMemsetAsync(other, 0, PLACE_WORDS, stream);
    default: return cudaLaunchHostFunc(stream, ask_host_nothing, NULL);
    }
}

/* Half of all works have none. */
static enum tail tail_of(const struct joins *joins)
{
    unsigned tail = drawn(joins, 3, 2 * (TAILS - 1));

    return tail < TAILS - 1 ? TAIL_NONE : (enum tail)(tail - (TAILS - 1) + 1);
}

/* Work, launched in some manner or two, with the attribute or without, or as a graph, or with long arguments; perhaps something after it. For
 * who opened `aside`. */
static cudaError_t some_work(struct joins *joins, struct kernel_args *args, cudaStream_t stream)
{
    unsigned kind = drawn(joins, 1, 4);
    cudaError_t error;

    if (kind < 2)
        error = launch_in_manners((const void *)SYMBOL(joins_work), args, PLACE_WORDS, stream, (enum manner)drawn(joins, 51, MANNERS),
                                  (enum manner)drawn(joins, 50, MANNERS), (int)drawn(joins, 2, 2));
    else if (kind == 2)
        error = work_by_graph(args, stream);
    else
        error = launch_with_long_args((const void *)SYMBOL(joins_long_work), args, 1, PLACE_WORDS, 0, stream, NULL, 0);

    return error == cudaSuccess ? queue_tail(joins, tail_of(joins), stream) : error;
}

/* ---- followers ---- */

#define SET_BYTE 0x5Au

/* WAIT and POLL: the host waits for the stream, or asks it until it has ended. */
enum follow_by { FOLLOW_KERNEL, FOLLOW_LONG_ARGS, FOLLOW_OVERLAPPING, FOLLOW_DEPENDENT, FOLLOW_COPY, FOLLOW_SET, FOLLOW_GRAPH, FOLLOW_HOST,
                 FOLLOW_CALLBACK, FOLLOW_EVENT, FOLLOW_WAIT, FOLLOW_POLL, FOLLOWS };

static void CUDART_CB look_back(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    look(opaque);
}

/* The host finds it once the stream has ended. */
static cudaError_t follow_by_host(struct joins *joins, int polls, cudaStream_t stream)
{
    cudaError_t error;

    do
        error = polls ? cudaStreamQuery(stream) : cudaStreamSynchronize(stream);
    while (error == cudaErrorNotReady);
    (void)cudaGetLastError();
    look(joins->pinned);
    return error;
}

/* Once everything has ended, the words are what the memset made of them; error: its call's. */
static cudaError_t look_at_set(struct joins *joins, cudaError_t error)
{
    volatile const uint32_t *words = joins->pinned->words;
    unsigned i;

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = joins->pinned->host_is_stale = 0; i < PLACE_WORDS; i++)
        joins->pinned->host_is_stale |= words[i] != SET_BYTE * 0x1010101u;
    return error;
}

static cudaError_t follow_by_set(struct joins *joins, cudaStream_t stream)
{
    return look_at_set(joins, cudaMemsetAsync(joins->follower[0].data, SET_BYTE, PLACE_WORDS * sizeof(uint32_t), stream));
}

static cudaError_t make_follows(struct joins *joins)
{
    return joins->follows ? cudaSuccess
                          : ask_graph_of_kernel(&joins->follows, (const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS);
}

static cudaError_t follow_by_graph(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = make_follows(joins);

    return error == cudaSuccess ? cudaGraphLaunch(joins->follows, stream) : error;
}

static cudaError_t follow_by_event(struct joins *joins, cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, drawn(joins, 4, 2) ? cudaEventDefault : cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = record_and_await(event, stream, joins->ask->side);
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow(joins, 0, joins->ask->side) : error;
}

/* The follower, in one manner or two. */
static cudaError_t launch_drawn(struct joins *joins, cudaStream_t to, int overlaps)
{
    enum manner first = (enum manner)drawn(joins, 5, MANNERS), second = (enum manner)drawn(joins, 51, MANNERS);

    return launch_in_manners((const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS, to, first, second, overlaps);
}

/* What the work of a trial with one follower left is found by a follower of this kind, in this stream. OVERLAPPING has attribute 6 and does not
 * wait: it is no follower of a kernel in its own stream. */
static cudaError_t follow_by(struct joins *joins, enum follow_by by, cudaStream_t stream)
{
    struct kernel_args *args = &joins->follower[0];
    cudaStream_t to = FOLLOWS_IN(joins, stream);

    if (by == FOLLOW_SET || by >= FOLLOW_HOST) {
        joins->followers = by == FOLLOW_EVENT ? 1 : 0;
        joins->pinned->host_is_stale = by != FOLLOW_EVENT; /* until it looked */
    }
    switch (by) {
    case FOLLOW_LONG_ARGS: return launch_with_long_args((const void *)SYMBOL(joins_long_follower), args, 1, PLACE_WORDS, 0, to, NULL, 0);
    case FOLLOW_OVERLAPPING: return launch_drawn(joins, to, 1);
    case FOLLOW_DEPENDENT: return tail_of(joins) == TAIL_SILENT ? follow(joins, 0, stream) : depend(joins, stream); /* rows are asked elsewhere */
    case FOLLOW_COPY: return copy_words(joins, stream, cudaMemcpyDefault);
    case FOLLOW_SET: return follow_by_set(joins, to);
    case FOLLOW_GRAPH: return follow_by_graph(joins, to);
    case FOLLOW_HOST: return cudaLaunchHostFunc(to, look, joins->pinned);
    case FOLLOW_CALLBACK: return cudaStreamAddCallback(to, look_back, joins->pinned, 0);
    case FOLLOW_EVENT: return follow_by_event(joins, stream);
    case FOLLOW_WAIT:
    case FOLLOW_POLL: return follow_by_host(joins, by == FOLLOW_POLL, to);
    default: return launch_drawn(joins, to, 0);
    }
}

/* What comes after many events that the stream waits for. */
static cudaError_t follow_many(struct joins *joins, unsigned way, cudaStream_t stream)
{
    static const enum follow_by ways[MANY_FOLLOWERS] = { FOLLOW_KERNEL, FOLLOW_OVERLAPPING, FOLLOW_COPY, FOLLOW_HOST, FOLLOW_GRAPH, FOLLOW_LONG_ARGS,
                                                         FOLLOW_EVENT };

    return follow_by(joins, ways[way], stream);
}

#endif
