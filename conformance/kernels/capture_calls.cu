/* capture_calls.cu - what a capture takes and tells, beside the edges that it makes.
 *
 * pair       rules    what is asked
 * forbidden  EDGE-40  waits across the border of a capture, ends in another stream or another thread, looks at what is captured
 *                     or was, the device's end, a capture of the legacy stream: each is refused, and what it spoils is told as spoiled;
 *                     a capture beside one that fails goes on; one that joins one of two ends of a stream does not end well
 * spoiled    EDGE-40a what a capture of two streams refuses once it is invalid, what its end says, and what its streams and its event do then
 * told       EDGE-41  the ids of a capture's streams and of captures that follow each other, the mode of captures that a thread gives back,
 *                     the dependents of a captured node, the state of the legacy stream beside a capture, memory that is allocated then
 * depends    EDGE-41  what a stream of a capture comes after: set and added by a call, with several data, in a fork, by another thread, or as
 *                     the capture begins, in a child graph or a body, too; a stream that joined before anything was captured; two captures at
 *                     once; what a launch that records an event is captured as, in each mode (capture_settings.h)
 */
#include "capture_ended.h"
#include "graph_ask.h"
#include "host_room.h"

KERNEL(capture_calls_nothing) { (void)args; }

static cudaError_t launch_nothing(cudaStream_t stream)
{
    static const struct kernel_args args = PDL_ZERO;

    return launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, stream, NULL, 0);
}

#define MODES 3u               /* in which streams are captured */

/* ---- forbidden ---- */

struct capture {
    struct ask *ask;
    cudaStream_t stream, side, blocking;
    cudaEvent_t event;
};

/* A capture of one kernel so far. */
static cudaError_t begin_in_mode(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error = cudaStreamBeginCapture(stream, mode);

    return error == cudaSuccess ? launch_nothing(stream) : error;
}

static cudaError_t begin(cudaStream_t stream) { return begin_in_mode(stream, cudaStreamCaptureModeGlobal); }

/* By either of the calls that tell it. */
static void expect_state(const struct capture *c, const char *what, cudaStream_t stream, enum cudaStreamCaptureStatus want)
{
    enum cudaStreamCaptureStatus other = want == cudaStreamCaptureStatusNone ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    enum cudaStreamCaptureStatus status = other, beside = other;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0;

    ask_expect(c->ask, what, cudaStreamIsCapturing(stream, &status), cudaSuccess);
    ask_expect_number(c->ask, what, (long)status, (long)want);
    ask_expect(c->ask, what, edges_of_capture(stream, &beside, NULL, NULL, &nodes, &data, &count), cudaSuccess);
    ask_expect_number(c->ask, what, (long)beside, (long)want);
}

static void expect_invalidated(const struct capture *c, const char *what, cudaStream_t stream)
{
    expect_state(c, what, stream, cudaStreamCaptureStatusInvalidated);
}

/* What is told of a capture that was spoiled, and that it gives no graph. */
static void expect_spoiled(const struct capture *c, const char *what)
{
    cudaGraph_t graph = NULL;

    expect_invalidated(c, what, c->stream);
    ask_expect_refusal(c->ask, what, launch_nothing(c->stream));
    ask_expect_refusal(c->ask, what, cudaEventRecord(c->event, c->stream));
    ask_expect_refusal(c->ask, what, cudaStreamEndCapture(c->stream, &graph));
    ask_expect_number(c->ask, what, graph != NULL, 0);
    expect_state(c, what, c->stream, cudaStreamCaptureStatusNone);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* "It is invalid to wait on a non-captured event from a stream which is being captured" */
static cudaError_t wait_for_before(const struct capture *c) { return cudaStreamWaitEvent(c->stream, c->event, 0); }
static cudaError_t end_stream(const struct capture *c) { return cudaStreamSynchronize(c->stream); }
static cudaError_t poll_stream(const struct capture *c) { return cudaStreamQuery(c->stream); }
static cudaError_t end_device(const struct capture *c)
{
    (void)c;
    return cudaDeviceSynchronize();
}

/* By a call, or by a launch once its blocks have triggered, or have begun. */
#define RECORDINGS 3u
static cudaError_t record_by(const struct capture *c, unsigned how)
{
    cudaLaunchAttribute attribute = recording_at(c->event, how == 2);
    struct kernel_args args = PDL_ZERO;

    if (how == 0)
        return cudaEventRecord(c->event, c->stream);
    return launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, c->stream, &attribute, 1);
}

/* "It is invalid to synchronize or query the execution status of a stream which is being captured or a captured event"; whether that spoils the
 * capture is open. */
static void ask_captured_event(const struct capture *c, unsigned how)
{
    unsigned polls;

    for (polls = 0; polls < 2; polls++) {
        cudaError_t error = begin(c->stream);
        if (error == cudaSuccess)
            error = record_by(c, how);
        ask_expect(c->ask, "an event in a capture", error, cudaSuccess);
        ask_expect_refusal(c->ask, polls ? "asking for a captured event" : "waiting for a captured event",
                           polls ? cudaEventQuery(c->event) : cudaEventSynchronize(c->event));
        ask_drop_capture(c->stream);
    }
}

/* "It is invalid to merge two separate capture graphs": "any associated capture graphs are invalidated" */
static void ask_merge(const struct capture *c)
{
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = begin(c->side);
    if (error == cudaSuccess)
        error = cudaEventRecord(c->event, c->side);
    ask_expect(c->ask, "two captures and an event of one", error, cudaSuccess);
    ask_expect_refusal(c->ask, "a wait in the other one", cudaStreamWaitEvent(c->stream, c->event, 0));
    expect_spoiled(c, "a capture that was to wait for an event of another one");
    expect_invalidated(c, "the other one", c->side);
    ask_drop_capture(c->side);
}

/* A capture whose end fails, as a stream that joined it does not lead back. */
static void fail_capture(const struct capture *c)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->blocking);
    if (error == cudaSuccess)
        error = launch_nothing(c->blocking);
    ask_expect(c->ask, "a capture that leads into another stream and not back", error, cudaSuccess);
    ask_expect_refusal(c->ask, "its end", cudaStreamEndCapture(c->stream, &graph));
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* What fails is the one capture: another one that goes on beside it gives its graph. */
static void ask_failed_beside(const struct capture *c)
{
    cudaGraph_t graph = NULL;
    size_t nodes = 0;

    ask_expect(c->ask, "a capture beside one that fails", begin(c->side), cudaSuccess);
    fail_capture(c);
    expect_state(c, "its state then", c->side, cudaStreamCaptureStatusActive);
    ask_expect(c->ask, "another launch in it", launch_nothing(c->side), cudaSuccess);
    ask_expect(c->ask, "the end of the capture beside one that failed", cudaStreamEndCapture(c->side, &graph), cudaSuccess);
    if (graph)
        ask_expect(c->ask, "its nodes", cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    ask_expect_number(c->ask, "its nodes", (long)nodes, 2);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* Which end of a stream that comes after two is joined by the first stream. */
enum half { HALF_FIRST, HALF_SECOND, HALVES };

static cudaError_t join_half(const struct capture *c, enum half half)
{
    cudaStream_t halves[2];
    cudaError_t error = begin(c->stream);
    unsigned i;

    halves[0] = c->side;
    halves[1] = c->blocking;
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = record_and_await(c->event, c->stream, halves[i]);
        if (error == cudaSuccess)
            error = launch_nothing(halves[i]);
    }
    if (error == cudaSuccess && half == HALF_FIRST)
        error = record_and_await(c->event, c->side, c->stream);
    if (error == cudaSuccess)
        error = record_and_await(c->event, c->blocking, c->side);
    if (error == cudaSuccess && half == HALF_SECOND)
        error = cudaStreamWaitEvent(c->stream, c->event, 0);
    return error;
}

static void ask_half_joined(const struct capture *c, enum half half)
{
    cudaGraph_t graph = NULL;

    ask_expect(c->ask, "a capture that joins one of two ends of another stream", join_half(c, half), cudaSuccess);
    ask_expect(c->ask, "its end", cudaStreamEndCapture(c->stream, &graph), cudaErrorStreamCaptureUnjoined);
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* The capture ends in the stream that it began in. */
static void ask_other_end(const struct capture *c)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    if (error == cudaSuccess)
        error = record_and_await(c->event, c->side, c->stream);
    ask_expect(c->ask, "a capture that leads into another stream and back", error, cudaSuccess);
    ask_expect_refusal(c->ask, "its end in that stream", cudaStreamEndCapture(c->side, &graph));
    ask_expect_number(c->ask, "a graph came of it", graph != NULL, 0);
    ask_drop_capture(c->stream);
}

static void ask_other_thread(const struct capture *c, enum cudaStreamCaptureMode mode, const char *what)
{
    cudaError_t error = cudaStreamBeginCapture(c->stream, mode);

    ask_expect(c->ask, "a capture that another thread is to end", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_ended_elsewhere(c->ask, cudaStreamEndCapture, c->stream, mode, what);
}

static void ask_spoilers(const struct capture *c)
{
    static const struct { const char *what; cudaError_t (*call)(const struct capture *); } spoilers[] = {
        { "a wait for an event of before the capture", wait_for_before },
        { "waiting for the stream that captures", end_stream },
        { "asking whether it has ended", poll_stream },
        { "waiting for the device while a stream captures", end_device },
    };
    unsigned i;

    for (i = 0; i < sizeof(spoilers) / sizeof(spoilers[0]); i++) {
        ask_expect(c->ask, "an event before the capture", cudaEventRecord(c->event, c->side), cudaSuccess);
        ask_expect(c->ask, "a capture", begin(c->stream), cudaSuccess);
        ask_expect_refusal(c->ask, spoilers[i].what, spoilers[i].call(c));
        expect_spoiled(c, spoilers[i].what);
        (void)cudaGetLastError();
    }
}

/* "The operation is not permitted on an event which was last recorded in a capturing stream": nor is it when the capture has ended. The event
 * serves again once it is recorded anew. */
static void ask_past(const struct capture *c, unsigned how)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_by(c, how);
    ask_expect(c->ask, "a record in a capture", error, cudaSuccess);
    ask_expect(c->ask, "the end of the capture", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    ask_expect_refusal(c->ask, "a wait for an event of a capture that has ended", cudaStreamWaitEvent(c->side, c->event, 0));
    ask_expect_refusal(c->ask, "a wait for it in the stream of the capture", cudaStreamWaitEvent(c->stream, c->event, 0));
    ask_expect_refusal(c->ask, "asking for it", cudaEventQuery(c->event));
    ask_expect_refusal(c->ask, "the host's wait for it", cudaEventSynchronize(c->event));
    if (graph)
        (void)cudaGraphDestroy(graph);
    ask_expect_refusal(c->ask, "a wait for it when the graph is gone", cudaStreamWaitEvent(c->side, c->event, 0));
    ask_expect_refusal(c->ask, "asking for it when the graph is gone", cudaEventQuery(c->event));
    ask_expect(c->ask, "recording it anew", cudaEventRecord(c->event, c->stream), cudaSuccess);
    ask_expect(c->ask, "a wait for it then", cudaStreamWaitEvent(c->side, c->event, 0), cudaSuccess);
    ask_expect(c->ask, "the host's wait for it then", cudaEventSynchronize(c->event), cudaSuccess);
}

static cudaError_t open_capture(struct capture *c, struct ask *ask)
{
    c->ask = ask;
    c->stream = ask->stream;
    c->side = ask->side;
    c->blocking = NULL;
    if (cudaEventCreateWithFlags(&c->event, cudaEventDisableTiming) != cudaSuccess)
        return cudaErrorMemoryAllocation;
    return cudaStreamCreate(&c->blocking);
}

static void close_capture(struct capture *c)
{
    if (c->blocking)
        (void)cudaStreamDestroy(c->blocking);
    (void)cudaEventDestroy(c->event);
}

static void ask_forbidden(struct ask *ask)
{
    struct capture c;
    unsigned half, how;
    cudaError_t error = open_capture(&c, ask);

    ask_expect(ask, "a stream and an event", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    ask_spoilers(&c);
    ask_merge(&c);
    for (how = 0; how < RECORDINGS; how++) {
        ask_captured_event(&c, how);
        ask_past(&c, how);
    }
    ask_failed_beside(&c);
    for (half = 0; half < HALVES; half++)
        ask_half_joined(&c, (enum half)half);
    ask_other_end(&c);
    ask_other_thread(&c, cudaStreamCaptureModeGlobal, "a capture's end in another thread");
    ask_other_thread(&c, cudaStreamCaptureModeThreadLocal, "the end of a capture of its thread in another thread");
    ask_other_thread(&c, cudaStreamCaptureModeRelaxed, "the end of a relaxed capture in another thread");
    ask_expect_refusal(ask, "a capture of the legacy stream", cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeThreadLocal));
    ask_expect(ask, "a launch after all that", launch_nothing(ask->stream), cudaSuccess);
    ask_expect(ask, "its end", cudaDeviceSynchronize(), cudaSuccess);
    close_capture(&c);
}

/* ---- told ---- */

/* graph, or NULL: receives what is captured into. */
static cudaError_t id_of(cudaStream_t stream, cudaGraph_t *graph, unsigned long long *id)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0;

    return edges_of_capture(stream, &status, id, graph, &nodes, &data, &count);
}

static int are_both(const cudaGraphNode_t *is, cudaGraphNode_t one, cudaGraphNode_t other)
{
    return (is[0] == one && is[1] == other) || (is[0] == other && is[1] == one);
}

/* A stream that joins a capture tells its id; and the first kernel has two dependents, one in each stream. */
static void ask_fork(const struct capture *c)
{
    unsigned long long first = 0, second = 1;
    cudaGraphNode_t node[3], to[4] = { NULL };
    cudaGraphEdgeData data[4];
    size_t nodes = 3, count = 4, starts = 0, i;
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    ask_expect(c->ask, "a capture of two streams", error, cudaSuccess);
    ask_expect(c->ask, "the id of the first stream's capture", id_of(c->stream, NULL, &first), cudaSuccess);
    ask_expect(c->ask, "the same beside its graph", id_of(c->stream, &graph, &second), cudaSuccess);
    ask_expect_number(c->ask, "they are the same", first == second, 1);
    ask_expect(c->ask, "the id of the second one's", id_of(c->side, NULL, &second), cudaSuccess);
    ask_expect_number(c->ask, "they are the same", first == second, 1);
    ask_expect(c->ask, "a launch in the first stream", launch_nothing(c->stream), cudaSuccess);
    ask_expect(c->ask, "an event of the second one", cudaEventRecord(c->event, c->side), cudaSuccess);
    ask_expect(c->ask, "a wait for it in the first one", cudaStreamWaitEvent(c->stream, c->event, 0), cudaSuccess);
    error = cudaStreamEndCapture(c->stream, &graph);
    ask_expect(c->ask, "the end", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    ask_expect(c->ask, "the nodes", cudaGraphGetNodes(graph, node, &nodes), cudaSuccess);
    ask_expect_number(c->ask, "the nodes", (long)nodes, 3);
    for (i = 0; i < nodes && nodes == 3; i++) {
        count = 4;
        ask_expect(c->ask, "the dependents of a node", edges_out_of_node(node[i], to, data, &count), cudaSuccess);
        starts += count == 2;
        if (count == 2)
            ask_expect_number(c->ask, "they are the two others, by full edges",
                              are_both(to, node[(i + 1) % 3], node[(i + 2) % 3]) && is_full(data[0]) && is_full(data[1]), 1);
        ask_expect_number(c->ask, "dependents of a node: two, or none", count == 2 || count == 0, 1);
    }
    ask_expect_number(c->ask, "nodes with two dependents", (long)starts, 1);
    (void)cudaGraphDestroy(graph);
}

#include "capture_depends.h"

/* How many nodes the next one in this stream depends on. */
static void expect_dependencies(const struct capture *c, const char *what, cudaStream_t stream, long want)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0;

    ask_expect(c->ask, what, edges_of_capture(stream, &status, NULL, NULL, &nodes, &data, &count), cudaSuccess);
    ask_expect_number(c->ask, what, (long)count, want);
    count = 0;
    ask_expect(c->ask, what, edges_of_capture(stream, &status, NULL, NULL, NULL, NULL, &count), cudaSuccess);
    ask_expect_number(c->ask, "the number alone", (long)count, want);
}

/* A stream that joined a capture waits for its first stream once more; or is given that one's kernel as a dependency. */
static void ask_second_wait(const struct capture *c, int by_update)
{
    struct depends last = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->stream);
    if (error == cudaSuccess)
        error = read_depends(c->stream, &last);
    expect_dependencies(c, "a stream that joined a capture and launched", c->side, 1);
    if (error == cudaSuccess)
        error = by_update ? edges_update_capture(c->side, last.node, NULL, 1, cudaStreamAddCaptureDependencies)
                          : record_and_await(c->event, c->stream, c->side);
    ask_expect(c->ask, "a second wait, or a dependency more", error, cudaSuccess);
    expect_dependencies(c, "a stream that waits for its capture's first stream again", c->side, 2);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    if (error == cudaSuccess)
        error = record_and_await(c->event, c->side, c->stream);
    ask_expect(c->ask, "the way back", error, cudaSuccess);
    ask_expect(c->ask, "the end", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* What spoils a capture spoils it for each of its streams. */
static void ask_spoiled_fork(const struct capture *c)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    ask_expect(c->ask, "a capture of two streams", error, cudaSuccess);
    ask_expect_refusal(c->ask, "waiting for the first one", cudaStreamSynchronize(c->stream));
    expect_invalidated(c, "the state of the second one", c->side);
    ask_expect_refusal(c->ask, "the end", cudaStreamEndCapture(c->stream, &graph));
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* "unique over the lifetime of the process": of captures that gave a graph, and of one that failed. */
static void ask_ids(const struct capture *c)
{
    unsigned long long id[3] = { 0, 0, 0 };
    unsigned i;

    for (i = 0; i < 3; i++) {
        ask_expect(c->ask, "a capture", begin(c->stream), cudaSuccess);
        ask_expect(c->ask, "its id", id_of(c->stream, NULL, &id[i]), cudaSuccess);
        ask_drop_capture(c->stream);
        if (i == 0)
            fail_capture(c);
        if (i == 1) {
            ask_expect(c->ask, "a capture that fails", begin(c->stream), cudaSuccess);
            ask_expect(c->ask, "its id", id_of(c->stream, NULL, &id[i]), cudaSuccess);
            ask_expect_refusal(c->ask, "what spoils it", cudaStreamSynchronize(c->stream));
            ask_drop_capture(c->stream);
        }
    }
    ask_expect_number(c->ask, "captures have ids of their own", id[0] != id[1] && id[1] != id[2] && id[0] != id[2], 1);
}

/* A capture, in whatever mode, leaves its thread the mode that it had. */
static void ask_mode_after(const struct capture *c, enum cudaStreamCaptureMode thread, enum cudaStreamCaptureMode mode)
{
    enum cudaStreamCaptureMode before = thread, after;

    ask_expect(c->ask, "a mode", cudaThreadExchangeStreamCaptureMode(&before), cudaSuccess);
    ask_expect(c->ask, "a capture", cudaStreamBeginCapture(c->stream, mode), cudaSuccess);
    ask_drop_capture(c->stream);
    after = before;
    ask_expect(c->ask, "the mode of the beginning", cudaThreadExchangeStreamCaptureMode(&after), cudaSuccess);
    ask_expect_number(c->ask, "the mode of a thread after a capture", (long)after, (long)thread);
}

/* What a thread gives back is the mode that it had. */
static void ask_modes(struct ask *ask)
{
    static const enum cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeRelaxed, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal };
    enum cudaStreamCaptureMode before = cudaStreamCaptureModeRelaxed, mode;
    unsigned i;

    ask_expect(ask, "a mode", cudaThreadExchangeStreamCaptureMode(&before), cudaSuccess);
    ask_expect_number(ask, "the mode that a thread begins with", (long)before, (long)cudaStreamCaptureModeGlobal);
    for (i = 0; i < 3; i++) {
        mode = modes[(i + 1) % 3];
        ask_expect(ask, "another mode", cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
        ask_expect_number(ask, "the mode before it", (long)mode, (long)modes[i]);
    }
    ask_expect(ask, "the mode of the beginning", cudaThreadExchangeStreamCaptureMode(&before), cudaSuccess);
    ask_expect_number(ask, "the mode before that", (long)before, (long)modes[0]);
}

/* "If this is called on cudaStreamLegacy while a blocking stream in the same context is capturing, it will return
 * cudaErrorStreamCaptureImplicit"; "the blocking stream capture is not invalidated". */
static void ask_legacy_status(const struct capture *c)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph = NULL;

    ask_expect(c->ask, "a capture of a blocking stream", begin(c->blocking), cudaSuccess);
    ask_expect(c->ask, "the state of the legacy stream beside it", cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
    ask_expect(c->ask, "the end of the capture", cudaStreamEndCapture(c->blocking, &graph), cudaSuccess);
    ask_expect(c->ask, "the state of the legacy stream later", cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaSuccess);
    ask_expect_number(c->ask, "the state of the legacy stream later", (long)status, (long)cudaStreamCaptureStatusNone);
    ask_expect_number(c->ask, "a graph came of the capture", graph != NULL, 1);
    if (graph)
        (void)cudaGraphDestroy(graph);
    ask_expect(c->ask, "another capture of it", begin(c->blocking), cudaSuccess);
    ask_expect(c->ask, "the id of the legacy stream's capture", id_of(cudaStreamLegacy, NULL, &id), cudaErrorStreamCaptureImplicit);
    ask_drop_capture(c->blocking); /* whether that question spoils it is open */
}

#include "capture_memory.h"

/* "returning the captured graph": that of a capture in which nothing was called has no nodes. */
static void ask_empty(const struct capture *c, cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    size_t nodes = 1;

    ask_expect(c->ask, "a capture of nothing", cudaStreamBeginCapture(stream, mode), cudaSuccess);
    ask_expect(c->ask, "the end of a capture of nothing", cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ask_expect_number(c->ask, "a graph of a capture of nothing", graph != NULL, 1);
    if (!graph)
        return;
    ask_expect(c->ask, "the nodes of a capture of nothing", cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    ask_expect_number(c->ask, "the nodes of a capture of nothing", (long)nodes, 0);
    (void)cudaGraphDestroy(graph);
}

static void ask_told(struct ask *ask)
{
    struct capture c;
    unsigned i;
    cudaError_t error = open_capture(&c, ask);

    ask_expect(ask, "a stream and an event", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    ask_fork(&c);
    ask_second_wait(&c, 0);
    ask_second_wait(&c, 1);
    ask_spoiled_fork(&c);
    ask_ids(&c);
    for (i = 0; i < 6; i++)
        ask_empty(&c, i % 2 ? cudaStreamPerThread : c.stream, (enum cudaStreamCaptureMode)(i / 2));
    ask_modes(ask);
    for (i = 0; i < 9; i++)
        ask_mode_after(&c, (enum cudaStreamCaptureMode)(i / 3), (enum cudaStreamCaptureMode)(i % 3));
    ask_legacy_status(&c);
    ask_allocation(&c, cudaStreamCaptureModeRelaxed);
    ask_allocation(&c, cudaStreamCaptureModeThreadLocal);
    close_capture(&c);
}

#include "capture_spoiled.h"

static const struct pair capture_calls_pairs[] = {
    PAIR_ASK("forbidden", ask_forbidden),
    PAIR_ASK("told", ask_told),
    PAIR_ASK("spoiled", ask_spoiled),
    PAIR_ASK("depends", ask_depends),
};
IMAGE(capture_calls, capture_calls_pairs)
