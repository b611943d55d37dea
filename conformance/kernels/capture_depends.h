/* capture_depends.h - the pair of capture_calls.cu with what a stream of a capture comes after: as it is told, as it is set, and as nodes then do. */
#ifndef CAPTURE_DEPENDS_H_INCLUDED
#define CAPTURE_DEPENDS_H_INCLUDED

#define DEPENDS 6u

struct depends {
    cudaGraphNode_t node[DEPENDS + 1];
    cudaGraphEdgeData data[DEPENDS + 1];
    size_t count;
};

/* What a stream of a capture comes after now. */
static cudaError_t read_depends(cudaStream_t stream, struct depends *is)
{
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    enum cudaStreamCaptureStatus status;
    size_t i;
    cudaError_t error = edges_of_capture(stream, &status, NULL, NULL, &nodes, &data, &is->count);

    for (i = 0; i < is->count && i <= DEPENDS && error == cudaSuccess; i++) {
        is->node[i] = nodes[i];
        is->data[i] = data[i];
    }
    return error;
}

/* The same nodes with the same data, in whatever order. */
static int same_depends(const struct depends *is, const struct depends *want)
{
    size_t i, k;

    for (i = 0; i < want->count; i++) {
        unsigned found = 0;
        for (k = 0; k < is->count && k <= DEPENDS; k++)
            found += is->node[k] == want->node[i] && memcmp(&is->data[k], &want->data[i], sizeof(is->data[k])) == 0;
        if (found != 1)
            return 0;
    }
    return is->count == want->count;
}

static void expect_depends(struct ask *ask, const char *what, cudaStream_t stream, const struct depends *want)
{
    struct depends is = PDL_ZERO;

    ask_expect(ask, what, read_depends(stream, &is), cudaSuccess);
    ask_expect_number(ask, what, (long)is.count, (long)want->count);
    ask_expect_number(ask, what, same_depends(&is, want), 1);
}

/* A launch in the stream comes after these and nothing else, by edges of that data. */
static void expect_launch_after(struct ask *ask, const char *what, cudaStream_t stream, const struct depends *want)
{
    struct depends launch = PDL_ZERO, into = PDL_ZERO;

    ask_expect(ask, what, launch_nothing(stream), cudaSuccess);
    ask_expect(ask, what, read_depends(stream, &launch), cudaSuccess);
    ask_expect_number(ask, what, launch.count == 1 && is_full(launch.data[0]), 1);
    into.count = DEPENDS + 1;
    if (launch.count == 1)
        ask_expect(ask, what, edges_into_node(launch.node[0], into.node, into.data, &into.count), cudaSuccess);
    ask_expect_number(ask, what, same_depends(&into, want), 1);
}

/* A launch with attribute 6 comes after the launch before it in its stream alone, by a programmatic edge (F21). */
static void expect_overlap_after(struct ask *ask, const char *what, cudaStream_t stream)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attribute = serialization(1);
    struct depends before = PDL_ZERO, launch = PDL_ZERO, into = PDL_ZERO;

    ask_expect(ask, what, read_depends(stream, &before), cudaSuccess);
    ask_expect(ask, what, launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, stream, &attribute, 1), cudaSuccess);
    ask_expect(ask, what, read_depends(stream, &launch), cudaSuccess);
    ask_expect_number(ask, what, before.count == 1 && launch.count == 1 && is_full(launch.data[0]), 1);
    before.data[0] = edges_data(1, 0, 1);
    into.count = DEPENDS + 1;
    if (launch.count == 1)
        ask_expect(ask, what, edges_into_node(launch.node[0], into.node, into.data, &into.count), cudaSuccess);
    ask_expect_number(ask, what, same_depends(&into, &before), 1);
}

/* A launch with attribute 6 comes after this node alone, by whatever edge. */
static void expect_overlap_after_node(struct ask *ask, const char *what, cudaStream_t stream, cudaGraphNode_t node)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attribute = serialization(1);
    struct depends launch = PDL_ZERO, into = PDL_ZERO;

    ask_expect(ask, what, launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, stream, &attribute, 1), cudaSuccess);
    ask_expect(ask, what, read_depends(stream, &launch), cudaSuccess);
    into.count = DEPENDS + 1;
    if (launch.count == 1)
        ask_expect(ask, what, edges_into_node(launch.node[0], into.node, into.data, &into.count), cudaSuccess);
    ask_expect_number(ask, what, launch.count == 1 && into.count == 1 && into.node[0] == node, 1);
}

struct updating {
    cudaStream_t stream;
    struct depends depends;
    unsigned flags;
    cudaError_t error;
};

static void update_now(void *of)
{
    struct updating *u = (struct updating *)of;

    u->error = edges_update_capture(u->stream, u->depends.node, u->depends.data, u->depends.count, u->flags);
}

/* A capture of two streams: so many kernels in the first one, one in the second one. */
static cudaError_t begin_two(const struct capture *c, unsigned kernels, struct depends *launched, struct depends *forked)
{
    struct depends one = PDL_ZERO;
    cudaError_t error = cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeRelaxed);
    unsigned i;

    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    if (error == cudaSuccess)
        error = read_depends(c->side, forked);
    for (i = 0; i < kernels && error == cudaSuccess; i++) {
        error = launch_nothing(c->stream);
        if (error == cudaSuccess)
            error = read_depends(c->stream, &one);
        launched->node[i] = one.node[0];
        launched->data[i] = edges_data(i % 3, 0, i % 3 != 0); /* full, from the trigger, from the start */
    }
    launched->count = kernels;
    return error;
}

/* The fork comes back, and the capture ends. */
static void end_two(const struct capture *c, const char *what, cudaEvent_t event)
{
    cudaGraph_t graph = NULL;

    ask_expect(c->ask, what, record_and_await(event, c->side, c->stream), cudaSuccess);
    ask_expect(c->ask, what, launch_nothing(c->stream), cudaSuccess);
    ask_expect(c->ask, what, cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* "dependencyData: optional array of edge data for each dependency"; by this thread or another one, which a relaxed capture allows. */
static void ask_updated(const struct capture *c, unsigned kernels, unsigned flags, int by_thread)
{
    struct updating u = PDL_ZERO;
    struct depends want = PDL_ZERO;
    char text[96];

    snprintf(text, sizeof(text), "%u dependencies %s in a fork%s", kernels, flags == cudaStreamSetCaptureDependencies ? "set" : "added",
             by_thread ? " by another thread" : "");
    u.stream = c->side;
    u.flags = flags;
    ask_expect(c->ask, text, begin_two(c, kernels, &u.depends, &want), cudaSuccess);
    if (!by_thread || !run_in_thread(update_now, &u))
        update_now(&u);
    ask_expect(c->ask, text, u.error, cudaSuccess);
    want.count = flags == cudaStreamSetCaptureDependencies ? 0 : want.count;
    memcpy(want.node + want.count, u.depends.node, kernels * sizeof(want.node[0]));
    memcpy(want.data + want.count, u.depends.data, kernels * sizeof(want.data[0]));
    want.count += kernels;
    expect_depends(c->ask, text, c->side, &want);
    if (want.count == 1 && by_thread) /* set: what the stream had captured before counts no more */
        expect_overlap_after_node(c->ask, text, c->side, want.node[0]);
    else
        expect_launch_after(c->ask, text, c->side, &want);
    end_two(c, text, c->event);
}

/* A kernel in the first stream, for whose trigger the fork waits. */
static cudaError_t await_trigger(const struct capture *c)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attribute;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    attribute = recording_at(event, 0);
    error = launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, c->stream, &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(c->side, event, 0);
    (void)cudaEventDestroy(event);
    return error;
}

/* Dependencies that are set again before anything is captured: the last ones count alone, which may be none. In every other turn one that came by an
 * event at a trigger was the last before. */
static void ask_set_again(const struct capture *c, unsigned left)
{
    struct depends launched = PDL_ZERO, want = PDL_ZERO;
    char text[96];
    unsigned i;

    snprintf(text, sizeof(text), "%u dependencies set in a fork after %u", left, DEPENDS);
    ask_expect(c->ask, text, begin_two(c, DEPENDS, &launched, &want), cudaSuccess);
    ask_expect(c->ask, text, edges_update_capture(c->side, launched.node, launched.data, DEPENDS, cudaStreamSetCaptureDependencies), cudaSuccess);
    if (left % 2)
        ask_expect(c->ask, text, await_trigger(c), cudaSuccess);
    for (i = 0; i < left; i++) {
        want.node[i] = launched.node[DEPENDS - left + i];
        want.data[i] = launched.data[DEPENDS - left + i];
    }
    want.count = left;
    ask_expect(c->ask, text, edges_update_capture(c->side, want.node, want.data, left, cudaStreamSetCaptureDependencies), cudaSuccess);
    expect_depends(c->ask, text, c->side, &want);
    expect_launch_after(c->ask, text, c->side, &want);
    end_two(c, text, c->event);
}

/* "Captures in event the contents of stream at the time of this call": dependencies that the fork gets later are not among them. */
static void ask_recorded_before(const struct capture *c, cudaStream_t third, cudaEvent_t event, unsigned kernels, unsigned flags)
{
    struct depends launched = PDL_ZERO, want = PDL_ZERO;
    char text[112];

    snprintf(text, sizeof(text), "a record in a fork before %u dependencies are %s", kernels,
             flags == cudaStreamSetCaptureDependencies ? "set" : "added");
    ask_expect(c->ask, text, begin_two(c, kernels, &launched, &want), cudaSuccess);
    ask_expect(c->ask, text, cudaEventRecord(event, c->side), cudaSuccess);
    ask_expect(c->ask, text, edges_update_capture(c->side, launched.node, launched.data, kernels, flags), cudaSuccess);
    ask_expect(c->ask, text, cudaStreamWaitEvent(third, event, 0), cudaSuccess);
    expect_depends(c->ask, text, third, &want);
    expect_launch_after(c->ask, text, third, &want);
    ask_expect(c->ask, text, record_and_await(event, third, c->stream), cudaSuccess);
    ask_expect(c->ask, text, launch_nothing(c->side), cudaSuccess);
    end_two(c, text, c->event);
}

static void ask_records_before(const struct capture *c)
{
    cudaStream_t third = NULL;
    cudaEvent_t event = NULL;
    unsigned i;
    cudaError_t error = cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    ask_expect(c->ask, "another stream and event", error, cudaSuccess);
    for (i = 0; i < 4 && error == cudaSuccess; i++)
        ask_recorded_before(c, third, event, i / 2 ? DEPENDS : 1, i % 2 ? cudaStreamAddCaptureDependencies : cudaStreamSetCaptureDependencies);
    if (event)
        (void)cudaEventDestroy(event);
    if (third)
        (void)cudaStreamDestroy(third);
}

/* An edge of this data between two captured nodes that none led between. */
static void ask_edge_added(const struct capture *c, unsigned port)
{
    cudaGraphEdgeData data = edges_data(port, 0, port != 0);
    struct depends launched = PDL_ZERO, forked = PDL_ZERO, into = PDL_ZERO;
    cudaGraph_t graph = NULL;

    ask_expect(c->ask, "a capture of two streams", begin_two(c, 1, &launched, &forked), cudaSuccess);
    ask_expect(c->ask, "its way back", record_and_await(c->event, c->side, c->stream), cudaSuccess);
    ask_expect(c->ask, "its end", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    if (!graph)
        return;
    ask_expect(c->ask, "an edge between captured nodes", edges_add(graph, forked.node, launched.node, &data, 1), cudaSuccess);
    into.count = DEPENDS + 1;
    ask_expect(c->ask, "what it is", edges_into_node(launched.node[0], into.node, into.data, &into.count), cudaSuccess);
    forked.data[0] = data;
    ask_expect_number(c->ask, "it is the one that was added", same_depends(&into, &forked), 1);
    (void)cudaGraphDestroy(graph);
}

/* Where a capture begins: in a stream, by a mode, after nodes that were added to a graph, to a child graph, to a body, or that another capture
 * left. */
enum beginning {
    BEGIN_PLAIN, BEGIN_PER_THREAD, BEGIN_URGENT, BEGIN_RELAXED, BEGIN_GLOBAL, BEGIN_CAPTURED, BEGIN_IN_CHILD, BEGIN_IN_BODY, BEGINNINGS
};
static const char *const beginning_text[BEGINNINGS] = { "", " in the per-thread default stream", " in a stream of the greatest priority",
                                                        ", relaxed", ", of all threads", " that a capture left", " in a child graph",
                                                        " in a body" };

/* As the first capture into the graph leaves it, or by a call. */
static cudaError_t add_nothing(const struct capture *c, cudaGraph_t graph, int by_capture, cudaGraphNode_t *node)
{
    struct kernel_args args = PDL_ZERO;
    struct depends one = PDL_ZERO;
    cudaGraph_t out = NULL;
    cudaError_t error, end;

    if (!by_capture)
        return ask_add_kernel(node, graph, (const void *)SYMBOL(capture_calls_nothing), &args, 1);
    error = cudaStreamBeginCaptureToGraph(c->stream, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = launch_nothing(c->stream);
    if (error == cudaSuccess)
        error = read_depends(c->stream, &one);
    end = cudaStreamEndCapture(c->stream, &out);
    *node = one.node[0];
    return error == cudaSuccess ? end : error;
}

static cudaError_t graph_to_begin_in(enum beginning beginning, cudaGraph_t outer, cudaGraph_t *graph)
{
    cudaGraphNode_t node;

    *graph = outer;
    if (beginning == BEGIN_IN_CHILD)
        return ask_add_empty_child(&node, outer, graph);
#if CUDART_VERSION >= 12040
    if (beginning == BEGIN_IN_BODY)
        return ask_add_if(&node, outer, outer, 1, graph);
#endif
    (void)beginning;
    return cudaSuccess;
}

/* A graph that has kernels, into which a capture begins after them by edges of these data. */
static void ask_begun_after(const struct capture *c, unsigned kernels, enum beginning beginning, cudaStream_t urgent)
{
    cudaStream_t stream = beginning == BEGIN_PER_THREAD ? cudaStreamPerThread : beginning == BEGIN_URGENT ? urgent : c->stream;
    enum cudaStreamCaptureMode mode = beginning == BEGIN_RELAXED  ? cudaStreamCaptureModeRelaxed
                                      : beginning == BEGIN_GLOBAL ? cudaStreamCaptureModeGlobal
                                                                  : cudaStreamCaptureModeThreadLocal;
    struct depends after = PDL_ZERO;
    cudaGraph_t outer = NULL, graph = NULL, out = NULL;
    cudaError_t error = cudaGraphCreate(&outer, 0);
    unsigned i;
    char text[112];

    snprintf(text, sizeof(text), "a capture that begins after %u nodes of a graph%s", kernels, beginning_text[beginning]);
    if (error == cudaSuccess)
        error = graph_to_begin_in(beginning, outer, &graph);
    for (i = 0; i < kernels && error == cudaSuccess; i++) {
        error = add_nothing(c, graph, beginning == BEGIN_CAPTURED, &after.node[i]);
        after.data[i] = edges_data((i + 1) % 3, 0, (i + 1) % 3 != 0);
    }
    after.count = kernels;
    if (error == cudaSuccess)
        error = cudaStreamBeginCaptureToGraph(stream, graph, after.node, after.data, kernels, mode);
    ask_expect(c->ask, text, error, cudaSuccess);
    if (error == cudaSuccess) {
        expect_depends(c->ask, text, stream, &after);
        expect_launch_after(c->ask, text, stream, &after);
        expect_overlap_after(c->ask, text, stream);
        ask_expect(c->ask, text, cudaStreamEndCapture(stream, &out), cudaSuccess);
    }
    (void)cudaGraphDestroy(outer);
}

static void ask_beginnings(const struct capture *c)
{
    cudaStream_t urgent = NULL;
    unsigned beginning, kernels;
    int greatest;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(NULL, &greatest);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest);
    ask_expect(c->ask, "a stream of the greatest priority", error, cudaSuccess);
    for (beginning = 0; beginning < BEGINNINGS && error == cudaSuccess; beginning++)
        for (kernels = beginning == BEGIN_PLAIN ? 1 : DEPENDS / 2; kernels <= DEPENDS; kernels += beginning == BEGIN_PLAIN ? 1 : DEPENDS / 2)
            if (beginning != BEGIN_IN_BODY || has_conditions())
                ask_begun_after(c, kernels, (enum beginning)beginning, urgent);
    if (urgent)
        (void)cudaStreamDestroy(urgent);
}

/* A stream that joined before anything was captured is part of the capture, and comes after nothing. */
static void ask_joined_early(const struct capture *c, unsigned flags)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    struct depends none = PDL_ZERO;
    unsigned long long first = 0, second = 1;
    cudaGraph_t one = NULL, other = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error;

    error = cudaEventCreateWithFlags(&event, flags);
    if (error != cudaSuccess) {
        ask_skip(c->ask, "an event", "none was made");
        return;
    }
    ask_expect(c->ask, "a capture", cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ask_expect(c->ask, "a stream that joins it at once", record_and_await(event, c->stream, c->side), cudaSuccess);
    ask_expect(c->ask, "the state of that stream", cudaStreamIsCapturing(c->side, &status), cudaSuccess);
    ask_expect_number(c->ask, "the state of that stream", (long)status, (long)cudaStreamCaptureStatusActive);
    ask_expect(c->ask, "its capture", id_of(c->side, &one, &first), cudaSuccess);
    ask_expect(c->ask, "the capture", id_of(c->stream, &other, &second), cudaSuccess);
    ask_expect_number(c->ask, "they are the same", one == other && first == second, 1);
    expect_depends(c->ask, "what it comes after", c->side, &none);
    expect_launch_after(c->ask, "what a launch in it comes after", c->side, &none);
    end_two(c, "its way back", event);
    (void)cudaEventDestroy(event);
}

/* How the event that goes was recorded in the capture: by a call, or by a launch as it triggers or its blocks begin. */
enum gone { GONE_RECORDED, GONE_AT_TRIGGER, GONE_AT_START, GONES };

static cudaError_t record_and_destroy(const struct capture *c, enum gone gone)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attribute;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    attribute = recording_at(event, gone == GONE_AT_START);
    error = gone == GONE_RECORDED ? cudaEventRecord(event, c->stream)
                                  : launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, c->stream, &attribute, 1);
    (void)cudaEventDestroy(event);
    return error;
}

/* A new event, which may be where a captured one was that is gone: "if cudaEventRecord() has not been called on event", who waits for it waits
 * for nothing, and is not captured. */
static void ask_new_event(const struct capture *c, enum gone gone)
{
    static const char *const text = "a stream that waits for a new event, after the end of a captured one";
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    cudaGraph_t graph = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = record_and_destroy(c, gone);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    ask_expect(c->ask, "a captured event that goes, and a new one", error, cudaSuccess);
    ask_expect(c->ask, text, cudaStreamWaitEvent(c->side, event, 0), cudaSuccess);
    ask_expect(c->ask, text, cudaStreamIsCapturing(c->side, &status), cudaSuccess);
    ask_expect_number(c->ask, text, (long)status, (long)cudaStreamCaptureStatusNone);
    ask_expect(c->ask, "the end of that capture", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    if (event)
        (void)cudaEventDestroy(event);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* Each of two captures at once is told as what it is: by its id, and by the graph that its end gives. */
static void ask_two_told(const struct capture *c)
{
    cudaStream_t stream[2];
    cudaGraph_t told[2] = { NULL, NULL }, graph[2] = { NULL, NULL };
    unsigned long long id[2] = { 0, 0 }, again = 0;
    unsigned i;

    stream[0] = c->stream;
    stream[1] = c->side;
    for (i = 0; i < 2; i++) {
        ask_expect(c->ask, "one of two captures at once", begin(stream[i]), cudaSuccess);
        ask_expect(c->ask, "what it is told as", id_of(stream[i], &told[i], &id[i]), cudaSuccess);
    }
    ask_expect_number(c->ask, "the two are told as one", id[0] == id[1] || told[0] == told[1], 0);
    for (i = 0; i < 2; i++) {
        ask_expect(c->ask, "what it is told as later", id_of(stream[i], &graph[i], &again), cudaSuccess);
        ask_expect_number(c->ask, "it is the same", again == id[i] && graph[i] == told[i], 1);
        ask_expect(c->ask, "its end", cudaStreamEndCapture(stream[i], &graph[i]), cudaSuccess);
        ask_expect_number(c->ask, "it gives the graph that it was told as", graph[i] == told[i], 1);
        if (graph[i])
            (void)cudaGraphDestroy(graph[i]);
    }
}

#include "capture_settings.h"

static void ask_depends(struct ask *ask)
{
    struct capture c;
    unsigned i;
    cudaError_t error = open_capture(&c, ask);

    ask_expect(ask, "a stream and an event", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    for (i = 0; i < 4 * DEPENDS; i++)
        ask_updated(&c, i / 4 + 1, i % 2 ? cudaStreamAddCaptureDependencies : cudaStreamSetCaptureDependencies, i / 2 % 2 != 0);
    for (i = 0; i < DEPENDS; i++)
        ask_set_again(&c, i);
    ask_records_before(&c);
    ask_beginnings(&c);
    ask_settings(&c);
    for (i = 0; i < 3; i++)
        ask_edge_added(&c, i);
    ask_joined_early(&c, cudaEventDisableTiming);
    ask_joined_early(&c, cudaEventDefault);
    for (i = 0; i < GONES; i++)
        ask_new_event(&c, (enum gone)i);
    ask_two_told(&c);
    close_capture(&c);
}

#endif
