/* joins_thread_streams.h - the part of joins.cu's pair `legacy` with the default streams that each host thread has for itself: of another thread
 * than the one that uses the legacy stream, and of one that ends while its work goes on. */
#ifndef JOINS_THREAD_STREAMS_H_INCLUDED
#define JOINS_THREAD_STREAMS_H_INCLUDED

#define CALL_HOLD_NS 80000u    /* longer than a thread takes to begin */

struct own_stream {
    struct joins *joins;
    cudaError_t (*queue)(struct joins *joins, cudaStream_t stream);
    cudaStream_t stream;
    cudaError_t error;
};

/* In every other round behind a silent kernel, which work with the attribute overlaps. */
static cudaError_t work_in_own(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = joins->round % 2 ? silent(joins, stream) : cudaSuccess;

    return error == cudaSuccess ? launch_in_manners((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream,
                                                    (enum manner)drawn(joins, 51, MANNERS), (enum manner)drawn(joins, 50, MANNERS), (int)drawn(joins, 2, 2))
                                : error;
}

/* Graphs are asked in the pair `across`. */
static cudaError_t follow_own(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_OVERLAPPING, FOLLOW_HOST, FOLLOW_EVENT, FOLLOW_LONG_ARGS, FOLLOW_CALLBACK };

    return follow_by(joins, ways[joins->round % (sizeof(ways) / sizeof(ways[0]))], stream);
}

static void queue_there(void *of)
{
    struct own_stream *own = (struct own_stream *)of;

    own->error = own->queue(own->joins, own->stream);
}

/* In a thread that ends then. */
static cudaError_t by_other_thread(struct joins *joins, cudaError_t (*queue)(struct joins *joins, cudaStream_t stream), cudaStream_t stream)
{
    struct own_stream own = { joins, queue, stream, cudaSuccess };

    if (run_in_thread(queue_there, &own))
        return own.error;
    ask_skip(joins->ask, "a default stream of another thread", "no thread could be had");
    joins->unasked = 1;
    return cudaSuccess;
}

/* A stream keeps its order whichever thread queues what comes next. */
static cudaError_t queue_by_turn(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_HOST, FOLLOW_COPY, FOLLOW_EVENT, FOLLOW_SET, FOLLOW_GRAPH, FOLLOW_CALLBACK, FOLLOW_WAIT,
                                           FOLLOW_LONG_ARGS };

    return follow_by(joins, ways[joins->round % (sizeof(ways) / sizeof(ways[0]))], stream);
}

static cudaError_t call_there(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    joins->pinned->plan[0].hold_ns = CALL_HOLD_NS;
    error = work(joins, 0, joins->stream[0]);
    return error == cudaSuccess ? by_other_thread(joins, queue_by_turn, joins->stream[0]) : error;
}

/* A thread's own default stream comes after the legacy one, whoever used that. */
static cudaError_t own_after_legacy(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, cudaStreamLegacy);
    return error == cudaSuccess ? by_other_thread(joins, follow_own, cudaStreamPerThread) : error;
}

/* The host waits for the device, and so for the streams of threads that have ended. */
static cudaError_t host_after_own(struct joins *joins)
{
    cudaError_t error = cudaDeviceSynchronize();

    joins->followers = 0;
    look(joins->pinned);
    return error;
}

/* "will synchronize with the legacy default stream if both are used": also with that of a thread that has ended, or of one that does not use the
 * legacy stream itself. */
static cudaError_t legacy_after_own(struct joins *joins)
{
    unsigned way = joins->round % 3;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = way == 2 ? work_in_own(joins, cudaStreamPerThread) : by_other_thread(joins, work_in_own, cudaStreamPerThread);
    if (error != cudaSuccess || joins->unasked)
        return error;
    if (way == 1)
        return host_after_own(joins);
    return way == 2 ? by_other_thread(joins, follow_own, cudaStreamLegacy) : follow_own(joins, cudaStreamLegacy);
}

#endif
