/* joins_external.h - the pair of joins.cu whose events are external: captured, they become event nodes. */
#ifndef JOINS_EXTERNAL_H_INCLUDED
#define JOINS_EXTERNAL_H_INCLUDED

/* What is being captured; the event that the captured call names. */
struct outside {
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
};

static cudaError_t open_outside(struct outside *out, cudaStream_t stream)
{
    cudaError_t error = cudaEventCreateWithFlags(&out->event, cudaEventDisableTiming);

    return error == cudaSuccess ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : error;
}

static cudaError_t end_outside(struct outside *out, cudaStream_t stream, cudaError_t error)
{
    cudaError_t end = cudaStreamEndCapture(stream, &out->graph);

    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? cudaGraphInstantiate(&out->exec, out->graph, 0) : error;
}

/* Once everything has ended. */
static cudaError_t close_outside(struct outside *out, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();

    if (out->exec)
        (void)cudaGraphExecDestroy(out->exec);
    if (out->graph)
        (void)cudaGraphDestroy(out->graph);
    if (out->event)
        (void)cudaEventDestroy(out->event);
    return error == cudaSuccess ? end : error;
}

/* A graph of work and a record; what waits for the event after the launch comes after the work. */
static cudaError_t join_recorded_outside(struct joins *joins)
{
    struct outside out = PDL_ZERO;
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = open_outside(&out, stream);

    prepare(joins, 1, 1);
    if (error == cudaSuccess) {
        error = work(joins, 0, stream);
        if (error == cudaSuccess)
            error = cudaEventRecordWithFlags(out.event, stream, cudaEventRecordExternal);
        error = end_outside(&out, stream, error);
    }
    if (error == cudaSuccess)
        error = cudaGraphLaunch(out.exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], out.event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    return close_outside(&out, error);
}

/* A graph that waits; it is launched once the event stands for work. */
static cudaError_t join_waited_outside(struct joins *joins)
{
    struct outside out = PDL_ZERO;
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = open_outside(&out, stream);

    prepare(joins, 1, 1);
    if (error == cudaSuccess) {
        error = cudaStreamWaitEvent(stream, out.event, cudaEventWaitExternal);
        if (error == cudaSuccess)
            error = follow(joins, 0, stream);
        error = end_outside(&out, stream, error);
    }
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaEventRecord(out.event, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(out.exec, stream);
    return close_outside(&out, error);
}

static void ask_external(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a wait for an event that a graph records", join_recorded_outside },
        { "stale in a graph that waits for an event", join_waited_outside },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
