/* last_error.cu - the last error of a host thread.
 *
 * pair   rules     what is asked
 * order  ATTR-15a  after two failures, and after a failure and calls of many kinds that succeed
 * kinds  ATTR-15a  after failures of every kind: of captures, graphs, edges, events, launches and attributes; and that asking resets it
 * names  ATTR-15e  the names and the texts of the errors that calls give which take part in PDL, and of a code that is none
 * whose  ATTR-15a  in another thread after a failure in this one, and here after a failure there that was asked for there
 */
#include "cleared.h"
#include "graph_ask.h"
#include "host_room.h"

KERNEL(last_error_count) { k_add(&args.state->finished, 1); }
KERNEL(last_error_busy) { k_delay(args.state, 200000); }

#include "last_error_successes.h"

enum between { FULL, PROGRAMMATIC, CYCLE };

/* The second node of a graph depends on the first one by an edge of this kind, or each on the other. */
static cudaError_t make_pair(const struct calls *calls, cudaGraph_t *graph, cudaGraphNode_t node[2], enum between between)
{
    struct kernel_args args = calls->args;
    cudaGraphEdgeData data = edges_data(between == PROGRAMMATIC, 0, between == PROGRAMMATIC);
    cudaError_t error = cudaGraphCreate(graph, 0);
    unsigned i;

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = ask_add_kernel(&node[i], *graph, (const void *)SYMBOL(last_error_count), &args, 1);
    if (error == cudaSuccess)
        error = edges_add(*graph, &node[0], &node[1], &data, 1);
    return error == cudaSuccess && between == CYCLE ? edges_add(*graph, &node[1], &node[0], &data, 1) : error;
}

static cudaError_t open_made(struct calls *calls)
{
    cudaError_t error = make_pair(calls, &calls->pair, calls->node, FULL);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&calls->of_pair, calls->pair, 0);
    if (error == cudaSuccess)
        error = cudaHostAlloc(&calls->pinned, 64, cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaEventCreate(&calls->timed);
    if (error == cudaSuccess)
        error = cudaEventRecord(calls->timed, calls->ask->stream);
    return error == cudaSuccess ? cudaEventSynchronize(calls->timed) : error;
}

static cudaError_t open_calls(struct calls *calls, struct ask *ask)
{
    cudaError_t error = cleared_alloc((void **)&calls->args.state, sizeof(struct trial_state));

    calls->ask = ask;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&calls->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = ask_graph_of_one(&calls->exec, NODE_EMPTY, NULL);
    if (error == cudaSuccess)
        error = cudaStreamCreate(&calls->blocking);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&calls->graph, 0);
    if (error == cudaSuccess)
        error = open_made(calls);
    (void)cudaGetLastError();
    return error;
}

static void close_calls(struct calls *calls)
{
    if (calls->of_pair)
        (void)cudaGraphExecDestroy(calls->of_pair);
    if (calls->pair)
        (void)cudaGraphDestroy(calls->pair);
    if (calls->timed)
        (void)cudaEventDestroy(calls->timed);
    (void)cudaFreeHost(calls->pinned);
    if (calls->exec)
        (void)cudaGraphExecDestroy(calls->exec);
    if (calls->graph)
        (void)cudaGraphDestroy(calls->graph);
    if (calls->blocking)
        (void)cudaStreamDestroy(calls->blocking);
    if (calls->event)
        (void)cudaEventDestroy(calls->event);
    (void)cudaFree(calls->args.state);
}

/* Two ways to fail, which have codes of their own. */
static cudaError_t fail(const struct calls *calls, int how)
{
    return how ? cudaEventRecord(NULL, calls->ask->stream)
               : launch_one((const void *)SYMBOL(last_error_count), &calls->args, 0, calls->ask->stream, NULL, 0);
}

/* "Returns the last error that has been produced by any of the runtime calls": one that succeeds produces none. */
static void ask_success(const struct calls *calls, unsigned how, int failure)
{
    cudaGraph_t graph = NULL;
    cudaError_t failed = fail(calls, failure), error = successes[how].call(calls);
    cudaError_t seen = cudaPeekAtLastError(), last = cudaGetLastError(), after = cudaGetLastError(); /* ask_expect() resets it */
    char text[96];

    (void)cudaStreamEndCapture(calls->ask->side, &graph); /* of a capture, if that is what succeeded */
    if (graph && graph != calls->graph)
        (void)cudaGraphDestroy(graph);
    ask_expect_refusal(calls->ask, "a call that cannot succeed", failed);
    ask_expect(calls->ask, successes[how].what, error, cudaSuccess);
    snprintf(text, sizeof(text), "the last error after %s", successes[how].what);
    if (successes[how].call == give_carveout) { /* only told: drivers of release 580 reset it there, and nothing of PDL rests on it */
        ask_row(calls->ask, text, cudaGetErrorName(seen));
        return;
    }
    ask_expect(calls->ask, text, seen, failed);
    ask_expect(calls->ask, text, last, failed);
    ask_expect(calls->ask, "the last error after it was asked for", after, cudaSuccess);
}

/* cudaErrorNotReady "is not considered an error and is therefore not reported": the last error stays what it was, none or another one. */
static void ask_unready(const struct calls *calls, int failure)
{
    cudaError_t error = launch_one((const void *)SYMBOL(last_error_busy), &calls->args, 1, calls->ask->stream, NULL, 0);
    cudaError_t before = cudaSuccess, stream, event, seen, last;

    if (error == cudaSuccess)
        error = cudaEventRecord(calls->event, calls->ask->stream);
    if (failure)
        before = fail(calls, 0);
    stream = error == cudaSuccess ? cudaStreamQuery(calls->ask->stream) : error;
    seen = cudaPeekAtLastError();
    event = error == cudaSuccess ? cudaEventQuery(calls->event) : error;
    last = cudaGetLastError();
    ask_expect(calls->ask, "the last error after a stream that is busy, looked at", seen, before);
    ask_expect(calls->ask, "the last error after an event that is not complete", last, before);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(calls->ask->stream);
    ask_expect(calls->ask, "a busy stream", error, cudaSuccess);
    if (stream != cudaErrorNotReady && event != cudaErrorNotReady)
        ask_skip(calls->ask, "the last error after a busy stream", "it was not busy any more");
}

static void ask_order(struct ask *ask)
{
    struct calls calls = PDL_ZERO;
    cudaError_t error = open_calls(&calls, ask), last;
    unsigned i;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        (void)fail(&calls, (int)i);
        last = fail(&calls, (int)!i);
        ask_expect(ask, "the last error of two", cudaGetLastError(), last);
    }
    for (i = 0; i < 2 * SUCCESSES && error == cudaSuccess; i++)
        ask_success(&calls, i % SUCCESSES, i >= SUCCESSES);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        ask_unready(&calls, (int)i);
    close_calls(&calls);
}

/* ---- of every kind ---- */

static cudaError_t begin(cudaStream_t stream) { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); }

/* A capture that leads into the side stream ends before it leads back. */
static cudaError_t end_unjoined(const struct calls *calls)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(calls->ask->stream);

    if (error == cudaSuccess)
        error = record_and_await(calls->event, calls->ask->stream, calls->ask->side);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(last_error_count), &calls->args, 1, calls->ask->side, NULL, 0);
    return error == cudaSuccess ? cudaStreamEndCapture(calls->ask->stream, &graph) : cudaSuccess;
}

static cudaError_t merge_captures(const struct calls *calls)
{
    cudaError_t error = begin(calls->ask->stream);

    if (error == cudaSuccess)
        error = begin(calls->ask->side);
    if (error == cudaSuccess)
        error = cudaEventRecord(calls->event, calls->ask->side);
    return error == cudaSuccess ? cudaStreamWaitEvent(calls->ask->stream, calls->event, 0) : cudaSuccess;
}

static cudaError_t end_captured(const struct calls *calls)
{
    return begin(calls->ask->stream) == cudaSuccess ? cudaStreamSynchronize(calls->ask->stream) : cudaSuccess;
}

static cudaError_t end_spoiled(const struct calls *calls)
{
    cudaGraph_t graph = NULL;

    (void)end_captured(calls);
    (void)cudaGetLastError();
    return cudaStreamEndCapture(calls->ask->stream, &graph);
}

static cudaError_t end_none(const struct calls *calls)
{
    cudaGraph_t graph = NULL;

    return cudaStreamEndCapture(calls->ask->stream, &graph);
}

static cudaError_t capture_legacy(const struct calls *calls)
{
    (void)calls;
    return begin(cudaStreamLegacy);
}

static cudaError_t instantiate_cycle(const struct calls *calls)
{
    cudaGraphNode_t node[2];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = make_pair(calls, &graph, node, CYCLE);

    error = error == cudaSuccess ? cudaGraphInstantiate(&exec, graph, 0) : cudaSuccess;
    (void)cudaGraphDestroy(graph);
    return error;
}

/* The data of the edge are not asked for. */
static cudaError_t lose_data(const struct calls *calls)
{
    cudaGraphNode_t node[2], from, to;
    cudaGraph_t graph = NULL;
    size_t count = 1;
    cudaError_t error = make_pair(calls, &graph, node, PROGRAMMATIC);

    error = error == cudaSuccess ? edges_of_graph(graph, &from, &to, NULL, &count) : cudaSuccess;
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t add_edge_twice(const struct calls *calls)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t node[2];
    cudaGraph_t graph = NULL;
    cudaError_t error = make_pair(calls, &graph, node, PROGRAMMATIC);

    error = error == cudaSuccess ? edges_add(graph, &node[0], &node[1], &data, 1) : cudaSuccess;
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t time_untimed(const struct calls *calls)
{
    float ms;

    return cudaEventElapsedTime(&ms, calls->event, calls->event);
}

static cudaError_t allow_too_much(const struct calls *calls)
{
    (void)calls;
    return cudaFuncSetAttribute((const void *)SYMBOL(last_error_count), cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30);
}

static cudaError_t launch_crowd(const struct calls *calls)
{
    cudaLaunchAttribute attribute = cooperatively();

    return launch_blocks((const void *)SYMBOL(last_error_count), &calls->args, 1u << 20, 1, calls->ask->stream, &attribute, 1);
}

static cudaError_t copy_nowhere(const struct calls *calls)
{
    return cudaMemcpyAsync(calls->args.state, (char *)calls->args.state + 8, 4, (enum cudaMemcpyKind)7, calls->ask->stream);
}

static cudaError_t overlap_whole_stream(const struct calls *calls)
{
    cudaLaunchAttributeValue value = serialization(1).val;

    return cudaStreamSetAttribute(calls->ask->stream, cudaLaunchAttributeProgrammaticStreamSerialization, &value);
}

static cudaError_t ask_for_captured(const struct calls *calls)
{
    cudaError_t error = begin(calls->ask->stream);

    if (error == cudaSuccess)
        error = cudaEventRecord(calls->event, calls->ask->stream);
    return error == cudaSuccess ? cudaEventQuery(calls->event) : cudaSuccess;
}

static cudaError_t end_elsewhere(const struct calls *calls)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = begin(calls->ask->stream);

    if (error == cudaSuccess)
        error = record_and_await(calls->event, calls->ask->stream, calls->ask->side);
    return error == cudaSuccess ? cudaStreamEndCapture(calls->ask->side, &graph) : cudaSuccess;
}

static cudaError_t use_legacy_beside(const struct calls *calls)
{
    return begin(calls->blocking) == cudaSuccess ? cudaMemsetAsync(calls->args.state, 0, 4, cudaStreamLegacy) : cudaSuccess;
}

/* From a graph of two nodes, for an executable graph of one. */
static cudaError_t update_from_pair(const struct calls *calls)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraphNode_t node[2];
    cudaGraph_t graph = NULL;
    cudaError_t error = make_pair(calls, &graph, node, PROGRAMMATIC);

    error = error == cudaSuccess ? cudaGraphExecUpdate(calls->exec, graph, &info) : cudaSuccess;
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t copy_wide_rows(const struct calls *calls)
{
    char *words = (char *)calls->args.state;

    return cudaMemcpy2DAsync(words, 4, words + 32, 8, 8, 2, cudaMemcpyDeviceToDevice, calls->ask->stream);
}

static cudaError_t attributes_of_none(const struct calls *calls)
{
    struct cudaFuncAttributes attributes;

    (void)calls;
    return cudaFuncGetAttributes(&attributes, NULL);
}

static cudaError_t record_time(const struct calls *calls)
{
    cudaLaunchAttribute attribute;
    cudaEvent_t event;
    cudaError_t error = cudaEventCreate(&event);

    if (error != cudaSuccess)
        return cudaSuccess;
    attribute = recording(event);
    error = launch_one((const void *)SYMBOL(last_error_count), &calls->args, 1, calls->ask->stream, &attribute, 1);
    (void)cudaEventDestroy(event);
    return error;
}

static const struct {
    const char *what;
    cudaError_t (*call)(const struct calls *);
} failing[] = {
    { "the last error after asking for a captured event", ask_for_captured },
    { "the last error after a capture's end in another stream", end_elsewhere },
    { "the last error after work in the legacy stream beside a capture", use_legacy_beside },
    { "the last error after an update from a graph of another shape", update_from_pair },
    { "the last error after a copy of rows wider than their pitch", copy_wide_rows },
    { "the last error after the attributes of no function", attributes_of_none },
    { "the last error after a launch whose event keeps time", record_time },
    { "the last error after the end of a capture with a loose end", end_unjoined },
    { "the last error after a wait for an event of another capture", merge_captures },
    { "the last error after waiting for a stream that captures", end_captured },
    { "the last error after the end of a spoiled capture", end_spoiled },
    { "the last error after the end of no capture", end_none },
    { "the last error after a capture of the legacy stream", capture_legacy },
    { "the last error after a graph with a cycle", instantiate_cycle },
    { "the last error after edges without their data", lose_data },
    { "the last error after an edge that there is", add_edge_twice },
    { "the last error after the time of an event without timing", time_untimed },
    { "the last error after a limit beyond the device's", allow_too_much },
    { "the last error after a cooperative grid of too many blocks", launch_crowd },
    { "the last error after a copy without a direction", copy_nowhere },
    { "the last error after attribute 6 of a stream", overlap_whole_stream },
};

/* "Returns the last error that has been produced by any of the runtime calls [...] and resets it to cudaSuccess." */
static void ask_kinds(struct ask *ask)
{
    struct calls calls = PDL_ZERO;
    cudaError_t error = open_calls(&calls, ask), failed, seen, last, after;
    unsigned i;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (i = 0; i < sizeof(failing) / sizeof(failing[0]) && error == cudaSuccess; i++) {
        failed = failing[i].call(&calls);
        seen = cudaPeekAtLastError();
        last = cudaGetLastError();
        after = cudaPeekAtLastError();
        ask_drop_capture(ask->stream);
        ask_drop_capture(ask->side);
        ask_drop_capture(calls.blocking);
        if (failed == cudaSuccess) {
            ask_skip(ask, failing[i].what, "the call did not fail");
            continue;
        }
        ask_expect(ask, failing[i].what, seen, failed);
        ask_expect(ask, failing[i].what, last, failed);
        ask_expect(ask, "the last error after it was asked for", after, cudaSuccess);
    }
    close_calls(&calls);
}

/* ---- names ---- */

#define NAMED(code) { code, #code }
static const struct { cudaError_t error; const char *name; } named[] = {
    NAMED(cudaErrorInvalidValue), NAMED(cudaErrorMemoryAllocation), NAMED(cudaErrorInvalidConfiguration), NAMED(cudaErrorInvalidDeviceFunction),
    NAMED(cudaErrorNoDevice), NAMED(cudaErrorInvalidResourceHandle), NAMED(cudaErrorNotReady), NAMED(cudaErrorNotSupported),
    NAMED(cudaErrorIllegalState), NAMED(cudaErrorLossyQuery), NAMED(cudaErrorIllegalAddress), NAMED(cudaErrorLaunchTimeout),
    NAMED(cudaErrorLaunchFailure), NAMED(cudaErrorLaunchOutOfResources), NAMED(cudaErrorCooperativeLaunchTooLarge),
    NAMED(cudaErrorStreamCaptureUnsupported), NAMED(cudaErrorStreamCaptureInvalidated), NAMED(cudaErrorStreamCaptureMerge),
    NAMED(cudaErrorStreamCaptureUnmatched), NAMED(cudaErrorStreamCaptureUnjoined), NAMED(cudaErrorStreamCaptureIsolation),
    NAMED(cudaErrorStreamCaptureImplicit), NAMED(cudaErrorStreamCaptureWrongThread), NAMED(cudaErrorCapturedEvent),
    NAMED(cudaErrorGraphExecUpdateFailure), NAMED(cudaErrorInvalidClusterSize), NAMED(cudaErrorUnknown),
};

/* "Returns a string containing the name of an error code in the enum. If the error code is not recognized, 'unrecognized error code' is
 * returned." Each has a description, which is not that of success, nor of a code that is none. */
static void ask_names(struct ask *ask)
{
    static const char *const unknown = "unrecognized error code";
    const char *success = cudaGetErrorString(cudaSuccess);
    int none = 9999;
    unsigned i;

    ask_expect_number(ask, "another name of a code that is none", strcmp(cudaGetErrorName((cudaError_t)none), unknown), 0);
    ask_expect_number(ask, "another text of a code that is none", strcmp(cudaGetErrorString((cudaError_t)none), unknown), 0);
    ask_expect_number(ask, "the name of success", strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess"), 0);
    for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        const char *name = cudaGetErrorName(named[i].error), *text = cudaGetErrorString(named[i].error);
        char what[96];

        snprintf(what, sizeof(what), "another name of %s", named[i].name);
        ask_expect_number(ask, what, !name || strcmp(name, named[i].name) != 0, 0);
        snprintf(what, sizeof(what), "no text of its own for %s", named[i].name);
        ask_expect_number(ask, what, !text || !text[0] || strcmp(text, success) == 0 || strcmp(text, unknown) == 0, 0);
    }
}

/* ---- whose ---- */

struct other {
    const struct calls *calls;
    int failure;
    cudaError_t at_first, failed, last, taken, after;
};

/* Asking for the last error there resets that thread's own. */
static void fail_in_thread(void *of)
{
    struct other *other = (struct other *)of;

    other->at_first = cudaPeekAtLastError();
    other->failed = fail(other->calls, other->failure);
    other->last = cudaPeekAtLastError();
    other->taken = cudaGetLastError();
    other->after = cudaGetLastError();
}

/* "... in the same instance of the CUDA Runtime library in the host thread" */
static void ask_thread(const struct calls *calls, int failure)
{
    struct other other = { calls, !failure, cudaSuccess, cudaSuccess, cudaSuccess, cudaSuccess, cudaSuccess };
    cudaError_t failed = fail(calls, failure), last;
    struct ask *ask = calls->ask;

    if (!run_in_thread(fail_in_thread, &other)) {
        ask_skip(ask, "the last error of another thread", "no thread could be had");
        return;
    }
    last = cudaGetLastError();
    ask_expect(ask, "the last error of a thread in which no call has failed", other.at_first, cudaSuccess);
    ask_expect(ask, "the last error of another thread", other.last, other.failed);
    ask_expect(ask, "the last error that another thread asks for", other.taken, other.failed);
    ask_expect(ask, "the last error of another thread after it was asked for", other.after, cudaSuccess);
    ask_expect(ask, "the last error of this thread", last, failed);
}

static void end_in_thread(void *of)
{
    struct other *other = (struct other *)of;
    cudaGraph_t graph = NULL;

    other->failed = cudaStreamEndCapture(other->calls->ask->stream, &graph);
    other->last = cudaPeekAtLastError();
}

/* Only the thread that began such a capture may end it. */
static void ask_other_end(const struct calls *calls)
{
    struct other other = { calls, 0, cudaSuccess, cudaSuccess, cudaSuccess, cudaSuccess, cudaSuccess };

    if (begin(calls->ask->stream) != cudaSuccess || !run_in_thread(end_in_thread, &other) || other.failed == cudaSuccess)
        ask_skip(calls->ask, "the last error after a capture's end in another thread", "no thread could be had, or it ended the capture");
    else
        ask_expect(calls->ask, "the last error after a capture's end in another thread", other.last, other.failed);
    ask_drop_capture(calls->ask->stream);
}

static void ask_whose(struct ask *ask)
{
    struct calls calls = PDL_ZERO;
    cudaError_t error = open_calls(&calls, ask);
    int i;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_other_end(&calls);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        ask_thread(&calls, i);
    close_calls(&calls);
}

static const struct pair last_error_pairs[] = {
    PAIR_ASK("order", ask_order),
    PAIR_ASK("kinds", ask_kinds),
    PAIR_ASK("names", ask_names),
    PAIR_ASK("whose", ask_whose),
};
IMAGE(last_error, last_error_pairs)
