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

/* What a stream is told once it waits for the event of a captured launch: the same graph, and that it depends on the launch, by an edge from this
 * port if that is not 0. */
static void expect_told(struct ask *ask, cudaStream_t origin, cudaStream_t stream, unsigned port)
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
    if (port != 0 && count == 1 && data)
        ask_expect_number(ask, "by the edge of its event", data[0].from_port == port && data[0].type == 1, 1);
}

/* Captures a launch that records a programmatic event, at its trigger or at the start of its blocks, and may record a second one when it has
 * begun. Who waits for them is told the launch. A launch with two events may be refused. */
static cudaError_t capture_events(struct joins *joins, const cudaEvent_t *event, unsigned events)
{
    int at_starts = joins->trial / 4 % 2 != 0;
    cudaLaunchAttribute attrs[2] = { recording_at(event[0], at_starts), recording_begin(event[events - 1]) };
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    unsigned i;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), launched;

    if (error != cudaSuccess)
        return error;
    launched = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, attrs, events);
    for (i = 0; i < events && launched == cudaSuccess && error == cudaSuccess; i++) {
        error = cudaStreamWaitEvent(joins->stream[1 + i], event[i], 0);
        if (error == cudaSuccess)
            expect_told(joins->ask, stream, joins->stream[1 + i], i != 0 ? 0 : 1 + at_starts);
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

/* ---- what a capture comes after, once a call was refused in it ---- */

/* The node of another graph as a dependency, or flags that there are not. */
static cudaError_t refused_update(cudaStream_t stream, unsigned flags)
{
    cudaGraph_t other = NULL;
    cudaGraphNode_t foreign = NULL;
    cudaError_t error = cudaGraphCreate(&other, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&foreign, other, NULL, 0);
    if (error == cudaSuccess)
        (void)whatever(edges_update_capture(stream, &foreign, NULL, flags > 1 ? 0 : 1, flags));
    if (other)
        (void)cudaGraphDestroy(other);
    return error;
}

static cudaError_t set_foreign(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return refused_update(stream, cudaStreamSetCaptureDependencies);
}

static cudaError_t add_foreign(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return refused_update(stream, cudaStreamAddCaptureDependencies);
}

static cudaError_t set_by_no_flag(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return refused_update(stream, 2);
}

static const struct named_call captured_calls[] = {
    { "stale after a second begin", begin_again },
    { "stale after a dependency of another graph that is set", set_foreign },
    { "stale after a dependency of another graph that is added", add_foreign },
    { "stale after dependencies with flags 2", set_by_no_flag },
};
#define CAPTURED_CALLS (sizeof(captured_calls) / sizeof(captured_calls[0]))

/* A capture takes them: an external record, its end, and that it comes after nothing. */
static int is_right_in_capture(idle_call call) { return call == refused_external || call == refused_end || call == refused_dependencies; }

#define FORKED 2u              /* streams of a capture; the first one comes after both works, the second one after one */

/* What a stream of a capture comes after. */
struct lane {
    enum cudaStreamCaptureStatus status;
    size_t count;
    cudaGraphNode_t node[FORKED];
};

static cudaError_t look_at_lane(cudaStream_t stream, struct lane *lane)
{
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    cudaError_t error;
    unsigned i;

    lane->status = cudaStreamCaptureStatusNone;
    lane->count = 0;
    error = edges_of_capture(stream, &lane->status, NULL, NULL, &nodes, &data, &lane->count);
    for (i = 0; i < FORKED && i < lane->count && nodes; i++)
        lane->node[i] = nodes[i];
    return error;
}

static int same_lane(const struct lane *a, const struct lane *b)
{
    return a->count == b->count && a->count <= FORKED && (a->count < 1 || a->node[0] == b->node[0] || a->node[0] == b->node[a->count - 1]) &&
           (a->count < 2 || a->node[1] == b->node[1] || a->node[1] == b->node[0]);
}

static cudaError_t begin_lanes(struct joins *joins, cudaEvent_t event)
{
    cudaError_t error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = work(joins, 1, joins->stream[1]);
    return error == cudaSuccess ? record_and_await(event, joins->stream[1], joins->stream[0]) : error;
}

/* The stream comes after one node now, which comes after what the stream came after before, by full edges. */
static int has_one_more(const struct lane *after, const struct lane *before)
{
    struct lane into = PDL_ZERO;
    cudaGraphEdgeData data[FORKED], full = edges_data(0, 0, 0);
    unsigned i;

    if (after->count != 1 || edges_into_node(after->node[0], NULL, NULL, &into.count) != cudaSuccess || into.count > FORKED)
        return 0;
    if (edges_into_node(after->node[0], into.node, data, &into.count) != cudaSuccess)
        return 0;
    for (i = 0; i < into.count && i < FORKED; i++)
        if (memcmp(&data[i], &full, sizeof(full)) != 0)
            return 0;
    return same_lane(&into, before);
}

/* A launch then comes after what its stream came after, and the capture gives its graph. */
static void expect_goes_on(struct joins *joins, const struct lane *before, unsigned in, cudaEvent_t event, const char *text)
{
    struct ask *ask = joins->ask;
    struct lane after = PDL_ZERO;
    cudaGraph_t graph = NULL;

    ask_expect(ask, text, work(joins, 2, joins->stream[in]), cudaSuccess);
    ask_expect(ask, text, look_at_lane(joins->stream[in], &after), cudaSuccess);
    ask_expect_number(ask, text, has_one_more(&after, before), 1);
    if (in != 0)
        ask_expect(ask, text, record_and_await(event, joins->stream[in], joins->stream[0]), cudaSuccess);
    ask_expect(ask, text, cudaStreamEndCapture(joins->stream[0], &graph), cudaSuccess);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* The refused call is made in one of a capture's streams: both come after what they did; or the capture is invalid, and its end says so. A capture
 * may take a call and leave its refusal to the graph: then its node comes after what the stream did. */
static void ask_lanes_after(struct joins *joins, idle_call call, const char *name, unsigned in, cudaEvent_t event)
{
    struct ask *ask = joins->ask;
    struct lane before[FORKED] = PDL_ZERO, after[FORKED] = PDL_ZERO;
    cudaGraph_t graph = NULL;
    char text[128];
    unsigned i;

    snprintf(text, sizeof(text), "what %s of a capture comes after, %s", in ? "another stream" : "the first stream", name);
    ask_expect(ask, text, begin_lanes(joins, event), cudaSuccess);
    for (i = 0; i < FORKED; i++) {
        ask_expect(ask, text, look_at_lane(joins->stream[i], &before[i]), cudaSuccess);
        ask_expect_number(ask, text, (long)before[i].count, i ? 1 : 2);
    }
    ask_expect(ask, text, call(joins, joins->stream[in], NULL), cudaSuccess);
    for (i = 0; i < FORKED; i++)
        ask_expect(ask, text, look_at_lane(joins->stream[i], &after[i]), cudaSuccess);
    if (after[0].status == cudaStreamCaptureStatusInvalidated) {
        ask_expect(ask, text, cudaStreamEndCapture(joins->stream[0], &graph), cudaErrorStreamCaptureInvalidated);
        (void)cudaGetLastError();
        return;
    }
    for (i = 0; i < FORKED; i++)
        ask_expect_number(ask, text, same_lane(&after[i], &before[i]) || (i == in && has_one_more(&after[i], &before[i])), 1);
    expect_goes_on(joins, &after[in], in, event, text);
}

static void ask_lanes_of(struct joins *joins, const struct named_call *calls, unsigned count, cudaEvent_t event)
{
    unsigned i;

    for (i = 0; i < 2 * count; i++)
        if (!is_right_in_capture(calls[i / 2].call))
            ask_lanes_after(joins, calls[i / 2].call, calls[i / 2].name + strlen("stale "), i % 2, event);
}

/* A launch that is refused in a capture, for its threads or its shared memory, records nothing: who waits for the event comes after what it stood
 * for. If the capture is invalid then, or the launch is taken, nothing is asked. */
static void ask_event_after_refused(struct joins *joins, unsigned why, int at_starts, cudaEvent_t event)
{
    static const char text[] = "what waits in a capture for an event that a refused launch was to record";
    struct ask *ask = joins->ask;
    struct lane before = PDL_ZERO, after = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaError_t error;

    ask_expect(ask, text, begin_lanes(joins, event), cudaSuccess);
    error = launch_refused(joins, why, recording_at(event, at_starts), joins->stream[0]);
    if (error == cudaSuccess && cudaStreamWaitEvent(joins->stream[2], event, 0) == cudaSuccess) {
        ask_expect(ask, text, look_at_lane(joins->stream[1], &before), cudaSuccess);
        ask_expect(ask, text, look_at_lane(joins->stream[2], &after), cudaSuccess);
        ask_expect_number(ask, text, same_lane(&after, &before), 1);
    }
    (void)cudaStreamEndCapture(joins->stream[0], &graph);
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* A driver is known that ends the process when the event is recorded again: rule EDGE-41b alone asks for it. */
static void ask_refused_records(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    cudaEvent_t event = NULL;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    ask_expect(ask, "streams and an event for captures", error, cudaSuccess);
    for (i = 0; error == cudaSuccess && i < 2 * 3; i++)
        ask_event_after_refused(&joins, i / 2, i % 2 != 0, event);
    if (event)
        (void)cudaEventDestroy(event);
    close_joins(&joins);
}

static void ask_lanes(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    cudaEvent_t event = NULL;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    ask_expect(ask, "streams and an event", error, cudaSuccess);
    if (error == cudaSuccess) {
        ask_lanes_of(&joins, refused_calls, REFUSED, event);
        ask_lanes_of(&joins, captured_calls, CAPTURED_CALLS, event);
    }
    if (event)
        (void)cudaEventDestroy(event);
    close_joins(&joins);
}

#define COMPLETION_BESIDES (6u + HINT_KINDS)

/* What a launch may be given beside an event of its completion. */
static cudaLaunchAttribute beside_completion(unsigned which, cudaEvent_t other)
{
    switch (which) {
    case 0: return serialization(1);
    case 1: return cooperatively();
    case 2: return in_clusters(1);
    case 3: return of_priority(0);
    case 4: return in_remote_domain();
    case 5: return recording(other);
    default: return nth_hint(which - 6);
    }
}

/* Captures a launch that records its completion and has another attribute, before that or after it, unless that is refused. Who waits for the event
 * is told the launch. */
static cudaError_t capture_completion(struct joins *joins, unsigned which, unsigned place, const cudaEvent_t *event)
{
    cudaStream_t stream = joins->stream[0];
    cudaLaunchAttribute attrs[2];
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    attrs[place] = recording_begin(event[0]);
    attrs[1 - place] = beside_completion(which, event[1]);
    if (error != cudaSuccess)
        return error;
    if (launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, attrs, 2) == cudaSuccess) {
        error = cudaStreamWaitEvent(joins->stream[1], event[0], 0);
        if (error == cudaSuccess)
            expect_told(joins->ask, stream, joins->stream[1], 0);
    }
    ask_drop_capture(stream);
    return error;
}

static void ask_completions(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    cudaEvent_t event[2] = { NULL, NULL };
    unsigned i;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    for (i = 0; i < 2 * COMPLETION_BESIDES && error == cudaSuccess; i++) {
        error = cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&event[1], cudaEventDisableTiming);
        if (error == cudaSuccess)
            error = capture_completion(&joins, i / 2, i % 2, event);
        (void)cudaEventDestroy(event[0]);
        (void)cudaEventDestroy(event[1]);
    }
    ask_expect(ask, "captured launches that record their completion", error, cudaSuccess);
    close_joins(&joins);
}

static void ask_captured(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a captured launch that was refused", captured_launch },
        { "stale after a second begin of a capture that was refused", captured_begin },
        { "stale after a capture whose launch recorded an event", captured_event },
        { "stale after a capture whose launch recorded two events", captured_two_events },
    };

    ask_lanes(ask);
    ask_completions(ask);
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
    void *function = joins->trial / 2 % 2 ? driver_function_if_any("cuEventRecordWithFlags", 11010) : NULL;

    if (function)
        return (cudaError_t)((record_fn)function)(event, stream, CU_EVENT_RECORD_EXTERNAL);
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
}

static cudaError_t await_outside(struct joins *joins, cudaEvent_t event, cudaStream_t stream)
{
    return joins->trial / 2 % 2 ? await_by_driver(stream, event, CU_EVENT_WAIT_EXTERNAL) : cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
}

/* A launch aside records the event, with its trigger or once it has begun. */
static cudaError_t record_by_launch(struct joins *joins, cudaEvent_t event, cudaStream_t stream, int begun)
{
    cudaLaunchAttribute attribute = begun ? recording_begin(event) : recording(event);

    return launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, &attribute, 1);
}

/* A graph of work and a record; what waits for the event after the launch comes after the work, also if a launch recorded it before. */
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
    if (error == cudaSuccess && joins->trial / 4 % 3 != 0)
        error = record_by_launch(joins, out.event, joins->stream[2], joins->trial / 4 % 3 == 2);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(out.exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], out.event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    return close_outside(&out, error);
}

/* Sees whether what has to come after its trigger began before that. */
KERNEL(joins_watches)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i, began;

    k_delay(args.state, plan.hold_ns);
    began = k_load_relaxed(&args.state->alive);
    k_trigger();
    for (i = 0; i < PLACE_WORDS; i++)
        k_store(args.seen + i, began ? 0 : words_fresh(plan.key, i));
}

KERNEL(joins_begins) { k_store_relaxed(&args.state->alive, 1); }

/* A kernel whose launch records the event, which comes with the trigger; it stores the words that are judged. Or the kernel after it records
 * one that comes once that has begun. */
static cudaError_t watch(struct joins *joins, cudaEvent_t event, cudaStream_t stream, int begun)
{
    cudaLaunchAttribute attribute = recording(event);
    struct kernel_args args = joins->work[0];
    cudaError_t error;

    args.seen = joins->follower[0].seen;
    error = launch_one((const void *)SYMBOL(joins_watches), &args, 1, stream, &attribute, !begun);
    return error == cudaSuccess && begun ? record_by_launch(joins, event, stream, 1) : error;
}

/* A graph that waits; it is launched once the event stands for work, or for a launch that is still to trigger. */
static cudaError_t join_waited_outside(struct joins *joins)
{
    struct outside out = PDL_ZERO;
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = open_outside(&out, stream);
    int by_launch = joins->trial / 4 % 2 != 0;

    prepare(joins, 1, 1);
    if (error == cudaSuccess) {
        error = await_outside(joins, out.event, stream);
        if (error == cudaSuccess)
            error = by_launch ? launch_one((const void *)SYMBOL(joins_begins), &joins->follower[0], 1, FOLLOWS_IN(joins, stream), NULL, 0)
                              : follow(joins, 0, stream);
        error = end_outside(&out, stream, error);
    }
    if (error == cudaSuccess)
        error = by_launch ? watch(joins, out.event, joins->stream[0], joins->trial / 8 % 2 != 0) : work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess && !by_launch)
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
