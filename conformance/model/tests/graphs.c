/* Graphs and capture: the legality table, what queries drop, and what attributes become (F21 to F24). */
#include "check.h"

struct arguments {
    uint32_t *p;
};
MODEL_KERNEL_OF(test_nothing, struct arguments, 16, 0, 90, 90)
{
    (void)args;
}

static struct arguments none;
static const void *const kernel = (const void *)test_nothing;

#if CUDART_VERSION >= 13000
#define add_edges cudaGraphAddDependencies
#define remove_edges cudaGraphRemoveDependencies
#define get_edges cudaGraphGetEdges
#define get_dependencies cudaGraphNodeGetDependencies
#else
#define add_edges cudaGraphAddDependencies_v2
#define remove_edges cudaGraphRemoveDependencies_v2
#define get_edges cudaGraphGetEdges_v2
#define get_dependencies cudaGraphNodeGetDependencies_v2
#endif

static cudaGraphNode_t kernel_node(cudaGraph_t g)
{
    cudaGraphNode_t n = NULL;
    void *args[1] = {&none};
    struct cudaKernelNodeParams p;
    memset(&p, 0, sizeof p);
    memcpy(&p.func, &kernel, sizeof kernel);
    p.gridDim.x = p.gridDim.y = p.gridDim.z = p.blockDim.x = p.blockDim.y = p.blockDim.z = 1;
    p.kernelParams = args;
    OK(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    return n;
}

static cudaGraphNode_t set_node(cudaGraph_t g)
{
    cudaGraphNode_t n = NULL;
    struct cudaMemsetParams p;
    memset(&p, 0, sizeof p);
    OK(cudaMalloc(&p.dst, 64));
    p.elementSize = 4;
    p.width = 16;
    p.height = 1;
    OK(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    return n;
}

static cudaGraphEdgeData edge(unsigned from_port, unsigned to_port, unsigned type)
{
    cudaGraphEdgeData d;
    memset(&d, 0, sizeof d);
    d.from_port = (unsigned char)from_port;
    d.to_port = (unsigned char)to_port;
    d.type = (unsigned char)type;
    return d;
}

static cudaError_t connect(int from_set, int to_set, cudaGraphEdgeData d)
{
    cudaGraph_t g;
    OK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t a = from_set ? set_node(g) : kernel_node(g), b = to_set ? set_node(g) : kernel_node(g);
    cudaError_t error = add_edges(g, &a, &b, &d, 1);
    OK(cudaGraphDestroy(g));
    return error;
}

static void legality(void)
{
    model_reset(NULL, 1);
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 2; to++)
            for (unsigned type = 0; type < 3; type++) {
                int legal = to == 0 && ((type == 0 && (from == 0 || from == 2)) || (type == 1 && (from == 1 || from == 2)));
                GIVES(legal ? cudaSuccess : cudaErrorInvalidValue, connect(0, 0, edge(from, to, type)));
                int plain = from == 0 && to == 0 && type == 0;
                GIVES(plain ? cudaSuccess : cudaErrorInvalidValue, connect(1, 0, edge(from, to, type)));
                if (type == 1)
                    GIVES(cudaErrorInvalidValue, connect(0, 1, edge(from, to, type)));
            }
    cudaGraphEdgeData reserved = edge(1, 0, 1);
    for (int i = 0; i < 5; i++) {
        reserved.reserved[i] = 1;
        GIVES(cudaErrorInvalidValue, connect(0, 0, reserved));
        reserved.reserved[i] = 0;
    }
}

static void edges(void)
{
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaGraphEdgeData d = edge(1, 0, 1), out[2], zero = edge(0, 0, 0);
    size_t n = 0;
    model_reset(NULL, 1);
    OK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t a = kernel_node(g), b = kernel_node(g), from[2], to[2];
    OK(add_edges(g, &a, &b, NULL, 1));
    OK(get_edges(g, NULL, NULL, NULL, &n));
    CHECK(n == 1);
    GIVES(cudaErrorInvalidValue, add_edges(g, &a, &b, &d, 1)); /* the pair is connected already */
    GIVES(cudaErrorInvalidValue, remove_edges(g, &a, &b, &d, 1)); /* EDGE-17 */
    OK(remove_edges(g, &a, &b, &zero, 1));
    OK(add_edges(g, &a, &b, &d, 1));
    GIVES(cudaErrorLossyQuery, get_edges(g, NULL, NULL, NULL, &n));
    GIVES(cudaErrorLossyQuery, get_edges(g, from, to, NULL, &n));
    GIVES(cudaErrorLossyQuery, get_dependencies(b, from, NULL, &n));
    n = 2;
    OK(get_edges(g, from, to, out, &n));
    CHECK(n == 1 && from[0] == a && to[0] == b && out[0].from_port == 1 && out[0].type == 1);
    n = 2;
    OK(get_dependencies(a, from, NULL, &n)); /* nothing is dropped there */
    CHECK(n == 0);
    GIVES(cudaErrorInvalidValue, add_edges(g, &a, &a, NULL, 1));
    OK(add_edges(g, &b, &a, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, g, 0)); /* a cycle */
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    GIVES(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(a, (cudaLaunchAttributeID)6, &value));
    GIVES(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(a, (cudaLaunchAttributeID)7, &value));
    OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &value));
    cudaGraph_t clone;
    OK(cudaGraphClone(&clone, g));
    n = 2;
    OK(get_edges(clone, from, to, out, &n));
    CHECK(n == 2 && out[0].type == 1);
    CHECK(from[0] != a);
}

/* Captures A in s, B in t after an event of kind id (0: none, B in s), and returns the one edge. */
static cudaGraphEdgeData captured(int id, int at_start, int with_attribute)
{
    cudaStream_t s, t;
    cudaEvent_t event, join;
    cudaGraph_t g = NULL;
    cudaGraphEdgeData out[4];
    cudaGraphNode_t from[4], to[4];
    cudaLaunchAttribute a = attribute(id, 0), six = attribute(6, 1);
    size_t n = 4;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    a.val.programmaticEvent.event = event; /* both events lie at the same place */
    if (id == 7)
        a.val.programmaticEvent.triggerAtBlockStart = at_start;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(launch_with(kernel, &none, 1, 1, s, &a, id != 0));
    if (id != 0)
        OK(cudaStreamWaitEvent(t, event, 0));
    OK(launch_with(kernel, &none, 1, 1, id != 0 ? t : s, &six, with_attribute ? 1 : 0));
    if (id != 0) {
        OK(cudaEventRecord(join, t));
        OK(cudaStreamWaitEvent(s, join, 0));
    }
    OK(cudaStreamEndCapture(s, &g));
    memset(out, 0xee, sizeof out);
    OK(get_edges(g, from, to, out, &n));
    CHECK(n == 1);
    return out[0];
}

static int is(cudaGraphEdgeData d, unsigned from_port, unsigned type)
{
    return d.from_port == from_port && d.to_port == 0 && d.type == type;
}

static void mapping(void)
{
    model_reset(NULL, 1);
    CHECK(is(captured(0, 0, 0), 0, 0));
    CHECK(is(captured(0, 0, 1), 1, 1)); /* F21 */
    CHECK(is(captured(7, 0, 0), 1, 1)); /* F22 */
    CHECK(is(captured(7, 1, 0), 2, 1));
    CHECK(is(captured(12, 0, 0), 2, 0)); /* F23 */
    CHECK(is(captured(7, 1, 1), 1, 1)); /* F24 */
    CHECK(is(captured(12, 0, 1), 1, 1));
}

static void capture_errors(void)
{
    cudaStream_t s, t, blocking;
    cudaEvent_t e;
    cudaGraph_t g;
    enum cudaStreamCaptureStatus status;
    model_reset(NULL, 1);
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&blocking));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorIllegalState, cudaStreamEndCapture(s, &g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorIllegalState, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(launch(kernel, &none, 1, 1, s, 0));
    OK(cudaEventRecord(e, s));
    GIVES(cudaErrorCapturedEvent, cudaEventQuery(e));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(launch(kernel, &none, 1, 1, t, 0));
    GIVES(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
    OK(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    GIVES(cudaErrorStreamCaptureInvalidated, launch(kernel, &none, 1, 1, s, 0));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureImplicit, launch(kernel, &none, 1, 1, NULL, 0));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(blocking, &g));
    OK(launch(kernel, &none, 1, 1, NULL, 0));
    OK(cudaDeviceSynchronize());
}

/* EDGE-19: joined through a programmatic event only is not joined */
static void programmatic_join(void)
{
    cudaStream_t s, t;
    cudaEvent_t fork, event;
    cudaGraph_t g;
    model_reset(NULL, 1);
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    cudaLaunchAttribute a = attribute(7, 0);
    a.val.programmaticEvent.event = event;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(launch_with(kernel, &none, 1, 1, t, &a, 1));
    OK(cudaStreamWaitEvent(s, event, 0));
    OK(launch(kernel, &none, 1, 1, s, 0));
    GIVES(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
}

static void capture_queries(void)
{
    cudaStream_t s;
    cudaGraph_t g;
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *deps;
    const cudaGraphEdgeData *data;
    cudaGraphEdgeData half = edge(1, 0, 1);
    size_t n = 0;
    model_reset(NULL, 1);
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
#if CUDART_VERSION >= 13000
    GIVES(cudaErrorIllegalState, cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 1));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(launch(kernel, &none, 1, 1, s, 0));
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, &g, &deps, NULL, &n));
    CHECK(status == cudaStreamCaptureStatusActive && n == 1);
    cudaGraphNode_t first = deps[0];
    OK(cudaStreamUpdateCaptureDependencies(s, &first, &half, 1, cudaStreamSetCaptureDependencies));
    GIVES(cudaErrorLossyQuery, cudaStreamGetCaptureInfo(s, &status, NULL, &g, &deps, NULL, &n));
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, &g, &deps, &data, &n));
    CHECK(n == 1 && data[0].from_port == 1 && data[0].type == 1);
    OK(launch(kernel, &none, 1, 1, s, 0)); /* EDGE-18: the half-edge decides, not the launch */
    OK(cudaStreamEndCapture(s, &g));
    cudaGraphEdgeData out[1];
    cudaGraphNode_t from[1], to[1];
    n = 1;
    OK(get_edges(g, from, to, out, &n));
    CHECK(n == 1 && is(out[0], 1, 1));
#else
    (void)g, (void)status, (void)deps, (void)data, (void)half, (void)n;
#endif
}

int main(void)
{
    legality();
    edges();
    mapping();
    capture_errors();
    programmatic_join();
    capture_queries();
    return failures != 0;
}
