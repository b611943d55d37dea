/* joins_told_rows.h - the pair of joins.cu with several of the calls that change nothing, and of those that are refused, wherever one can stand:
 * before work, after it, after the record of its event, after a stream's wait for that, and after the follower. What one call leaves behind
 * may only show in a later one. */
#ifndef JOINS_TOLD_ROWS_H_INCLUDED
#define JOINS_TOLD_ROWS_H_INCLUDED

#define TOLD_ROWS 2u
#define TOLD_ROW 5u            /* calls at one place, at most */

/* stream: in which those are called that are refused, or that ask. */
static cudaError_t some_calls(struct joins *joins, unsigned place, cudaStream_t stream, cudaEvent_t event)
{
    unsigned base = 60 + place * (TOLD_ROW + 1), calls = drawn(joins, base, TOLD_ROW + 1), i;
    cudaError_t error = cudaSuccess;

    for (i = 1; i <= calls && error == cudaSuccess; i++) {
        unsigned which = drawn(joins, base + i, TOLD + REFUSED);
        idle_call call = which < TOLD ? told_calls[which].call : refused_calls[which - TOLD].call;
        error = call(joins, stream, event);
    }
    return error;
}

static cudaError_t record_and_some_calls(struct joins *joins, cudaStream_t from, cudaStream_t to, cudaEvent_t event)
{
    cudaError_t error = cudaEventRecord(event, from);

    if (error == cudaSuccess)
        error = some_calls(joins, 2, to, event);
    return error == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : error;
}

/* Every other one is a dependent that waits. */
static cudaError_t follow_calls(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_LONG_ARGS, FOLLOW_COPY, FOLLOW_SET, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_CALLBACK,
                                           FOLLOW_EVENT, FOLLOW_WAIT, FOLLOW_POLL };
    unsigned way = drawn(joins, 59, sizeof(ways) / sizeof(ways[0]));

    return joins->round % 2 == 0 ? depend(joins, stream) : follow_by(joins, ways[way], stream);
}

/* The follower comes in the work's stream, or in another one after the event. */
static cudaError_t told_row(struct joins *joins)
{
    cudaStream_t from = joins->stream[0], to = joins->stream[joins->trial % TOLD_ROWS];
    cudaEvent_t event = NULL;
    cudaError_t error = open_told(joins);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = some_calls(joins, 0, from, event);
    if (error == cudaSuccess)
        error = work(joins, 0, from);
    if (error == cudaSuccess)
        error = some_calls(joins, 1, from, event);
    if (error == cudaSuccess && to != from)
        error = record_and_some_calls(joins, from, to, event);
    if (error == cudaSuccess)
        error = some_calls(joins, 3, to, event);
    if (error == cudaSuccess)
        error = follow_calls(joins, to);
    if (error == cudaSuccess)
        error = some_calls(joins, 4, to, event);
    if (event)
        (void)cudaEventDestroy(event);
    return end_told(joins, error);
}

static void ask_told_rows(struct ask *ask)
{
    static const struct join joins[TOLD_ROWS] = {
        { "stale after calls that change nothing", told_row },
        { "stale after an event and calls that change nothing", told_row },
    };

    ask_joins(ask, joins, TOLD_ROWS, cudaStreamNonBlocking);
}

#endif
