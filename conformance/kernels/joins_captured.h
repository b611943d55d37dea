/* joins_captured.h - the pairs of joins.cu that capture: calls that are refused there, what streams are told, and external events. */
#ifndef JOINS_CAPTURED_H_INCLUDED
#define JOINS_CAPTURED_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

/* ---- refused calls in a capture, and what a stream that joined it is told ---- */

static cudaError_t begin_again(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins;
    (void)event;
    return whatever(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static cudaError_t captured_launch(struct joins *joins) { return idle_captured(joins, launch_no_threads); }
static cudaError_t captured_begin(struct joins *joins) { return idle_captured(joins, begin_again); }

/* What a stream is told once it waits for the event of a captured launch: the same graph, and that it depends on the launch. */
static void expect_told(struct ask *ask, cudaStream_t origin, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    cudaGraph_t graph = NULL, joined = NULL;
    cudaGraphNode_t launch = NULL;
    size_t count = 0;

    ask_expect(ask, "what the launch's stream is told", edges_of_capture(origin, &status, NULL, &graph, &nodes, &data, &count), cudaSuccess);
    if (count == 1 && nodes)
        launch = nodes[0];
    ask_expect(ask, "what the other stream is told", edges_of_capture(stream, &status, NULL, &joined, &nodes, &data, &count), cudaSuccess);
    ask_expect_number(ask, "it joined the capture", status == cudaStreamCaptureStatusActive && graph && joined == graph, 1);
    ask_expect_number(ask, "it depends on the launch", count == 1 && nodes && launch && nodes[0] == launch, 1);
}

/* Captures a launch that records a programmatic event, at its trigger or at the start of its blocks, and may record a second one when it has
 * begun. Who waits for them is told the launch. A launch with two events may be refused. */
static cudaError_t capture_events(struct joins *joins, const cudaEvent_t *event, unsigned events)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    unsigned i;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), launched;

    if (error != cudaSuccess)
        return error;
    attrs[0] = recording(event[0]);
    attrs[0].val.programmaticEvent.triggerAtBlockStart = joins->trial / 4 % 2 != 0;
    attrs[1].id = cudaLaunchAttributeLaunchCompletionEvent;
    attrs[1].val.launchCompletionEvent.event = event[events - 1];
    launched = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, attrs, events);
    for (i = 0; i < events && launched == cudaSuccess && error == cudaSuccess; i++) {
        error = cudaStreamWaitEvent(joins->stream[1 + i], event[i], 0);
        if (error == cudaSuccess)
            expect_told(joins->ask, stream, joins->stream[1 + i]);
    }
    (void)cudaStreamEndCapture(stream, &graph); /* which may find a stream that did not come back */
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess && events == 1 ? launched : error;
}

static cudaError_t captured_events(struct joins *joins, unsigned events)
{
    cudaEvent_t event[2] = { NULL, NULL };
    cudaError_t error = cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[1], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = capture_events(joins, event, events);
    (void)cudaEventDestroy(event[0]);
    (void)cudaEventDestroy(event[1]);
    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

static cudaError_t captured_event(struct joins *joins) { return captured_events(joins, 1); }
static cudaError_t captured_two_events(struct joins *joins) { return captured_events(joins, 2); }

static void ask_captured(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a captured launch that was refused", captured_launch },
        { "stale after a second begin of a capture that was refused", captured_begin },
        { "stale after a capture whose launch recorded an event", captured_event },
        { "stale after a capture whose launch recorded two events", captured_two_events },
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

/* By the runtime, or, in every second trial of each join, by the driver, whose flags have the same values. */
static cudaError_t record_outside_of(struct joins *joins, cudaEvent_t event, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *record_fn)(CUevent, CUstream, unsigned);
    void *function = NULL;

    if (joins->trial / 2 % 2 && driver_function("cuEventRecordWithFlags", 11010, &function) == cudaSuccess)
        return (cudaError_t)((record_fn)function)(event, stream, CU_EVENT_RECORD_EXTERNAL);
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
}

static cudaError_t await_outside(struct joins *joins, cudaEvent_t event, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *wait_fn)(CUstream, CUevent, unsigned);
    void *function = NULL;

    if (joins->trial / 2 % 2 && driver_function("cuStreamWaitEvent", 3020, &function) == cudaSuccess)
        return (cudaError_t)((wait_fn)function)(stream, event, CU_EVENT_WAIT_EXTERNAL);
    return cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
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
            error = record_outside_of(joins, out.event, stream);
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
        error = await_outside(joins, out.event, stream);
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
