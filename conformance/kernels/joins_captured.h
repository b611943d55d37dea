/* joins_captured.h - the pairs of joins.cu that capture: calls that are refused there, what streams are told, and external events. */
#ifndef JOINS_CAPTURED_H_INCLUDED
#define JOINS_CAPTURED_H_INCLUDED

/* ---- refused calls in a capture, and what a stream that joined it is told ---- */

static cudaError_t begin_again(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins;
    (void)event;
    return refused(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

/* A refused call may invalidate the capture, which its end says; else what comes after it comes after what is before it. */
static cudaError_t refused_in_capture(struct joins *joins, idle_call call)
{
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = call(joins, stream, NULL);
    if (error != cudaSuccess)
        return error;
    (void)follow(joins, 0, stream);
    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    if (!graph) {
        joins->followers = 0;
        return cudaSuccess;
    }
    error = launch_and_forget(joins, graph);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t captured_launch(struct joins *joins) { return refused_in_capture(joins, launch_no_threads); }
static cudaError_t captured_begin(struct joins *joins) { return refused_in_capture(joins, begin_again); }

/* What a stream is told once it waits for an event of the capture: the same graph, and one node that it depends on. */
static cudaError_t told_of_one(cudaStream_t origin, cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureStatus status;
    cudaGraph_t graph = NULL, joined = NULL;
    size_t count = 0;
    cudaError_t error = cudaStreamWaitEvent(stream, event, 0);

    if (error == cudaSuccess)
        error = edges_of_capture(origin, &status, NULL, &graph, NULL, NULL, NULL);
    if (error == cudaSuccess)
        error = edges_of_capture(stream, &status, NULL, &joined, NULL, NULL, &count);
    if (error != cudaSuccess)
        return error;
    return status == cudaStreamCaptureStatusActive && joined == graph && count == 1 ? cudaSuccess : cudaErrorUnknown;
}

/* A launch that records one of the two events, or both. */
static cudaError_t capture_events(struct joins *joins, cudaEvent_t at_trigger, cudaEvent_t at_start)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    unsigned count = 0;

    if (error != cudaSuccess)
        return error;
    if (at_trigger) {
        attrs[count].id = cudaLaunchAttributeProgrammaticEvent;
        attrs[count++].val.programmaticEvent.event = at_trigger;
    }
    if (at_start) {
        attrs[count].id = cudaLaunchAttributeLaunchCompletionEvent;
        attrs[count++].val.launchCompletionEvent.event = at_start;
    }
    error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, attrs, count);
    if (error == cudaSuccess && at_trigger)
        error = told_of_one(stream, joins->stream[1], at_trigger);
    if (error == cudaSuccess && at_start)
        error = told_of_one(stream, joins->stream[2], at_start);
    (void)cudaStreamEndCapture(stream, &graph); /* which may find streams that did not come back */
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t captured_events(struct joins *joins)
{
    cudaEvent_t at_trigger, at_start = NULL;
    unsigned which = joins->trial / 3 % 3 + 1;
    cudaError_t error = cudaEventCreateWithFlags(&at_trigger, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&at_start, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = capture_events(joins, which & 1 ? at_trigger : NULL, which & 2 ? at_start : NULL);
    (void)cudaEventDestroy(at_trigger);
    if (at_start)
        (void)cudaEventDestroy(at_start);
    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

static void ask_captured(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a captured launch that was refused", captured_launch },
        { "stale after a second begin of a capture that was refused", captured_begin },
        { "stale after a capture whose launch recorded events", captured_events },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

/* ---- external events, which become nodes ---- */

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
