/* attributes.cu - several attributes of one kernel node or stream, whoever set them and when: each tells what it was last given.
 *
 * pair     rules     what is asked
 * nodes    ATTR-15g  attributes of a node that was added or captured, of a clone, in a child graph or a body, and when its graph was made executable;
 *                    set by this thread or by another, or copied; read then, after others that are refused, after other values, and after new
 *                    parameters
 * streams  ATTR-15g  attributes of a stream that another thread set, also after others that are refused; of one that captures or has captured, of
 *                    one that has those of another one, and of a thread's own default stream
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"

KERNEL(attributes_nothing) { (void)args; }

#define CARVE_OUT ((cudaLaunchAttributeID)14) /* which older toolkits do not name */
#define WINDOW_BYTES 4096u

struct kind {
    cudaLaunchAttributeID id;
    const char *name;
};
/* Each is "valid for graph nodes" by driver_types.h. */
static const struct kind node_kinds[] = {
    { cudaLaunchAttributeCooperative, "cooperative" },
    { cudaLaunchAttributePriority, "the priority" },
    { cudaLaunchAttributeMemSyncDomain, "the memory domain" },
    { cudaLaunchAttributeMemSyncDomainMap, "the map of memory domains" },
    { cudaLaunchAttributeClusterSchedulingPolicyPreference, "the cluster scheduling policy" },
    { cudaLaunchAttributeAccessPolicyWindow, "the access policy window" },
#if CUDART_VERSION >= 12050
    { CARVE_OUT, "the carve-out" },
#endif
};
/* ... and each of these "valid for streams". */
static const struct kind stream_kinds[] = {
    { cudaLaunchAttributePriority, "the priority" },
    { cudaLaunchAttributeMemSyncDomain, "the memory domain" },
    { cudaLaunchAttributeMemSyncDomainMap, "the map of memory domains" },
    { cudaLaunchAttributeSynchronizationPolicy, "the synchronization policy" },
    { cudaLaunchAttributeAccessPolicyWindow, "the access policy window" },
};
#define NODE_ATTRIBUTES (sizeof(node_kinds) / sizeof(node_kinds[0]))
#define STREAM_ATTRIBUTES (sizeof(stream_kinds) / sizeof(stream_kinds[0]))

struct holder {
    struct ask *ask;
    const struct kind *kinds;
    unsigned count;
    cudaGraphNode_t node;      /* NULL: the stream has them */
    cudaStream_t stream;
    int least, greatest;       /* priorities */
    void *memory;              /* WINDOW_BYTES of the device */
    unsigned set, first;       /* which values, and which attribute is set first */
    cudaError_t error;
    unsigned wrong;
};

static long number_in(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    int percent = 0;

    switch ((int)id) {
    case cudaLaunchAttributeCooperative: return value->cooperative;
    case cudaLaunchAttributePriority: return value->priority;
    case cudaLaunchAttributeMemSyncDomain: return (long)value->memSyncDomain;
    case cudaLaunchAttributeMemSyncDomainMap: return value->memSyncDomainMap.default_ * 256L + value->memSyncDomainMap.remote;
    case cudaLaunchAttributeSynchronizationPolicy: return (long)value->syncPolicy;
    case cudaLaunchAttributeAccessPolicyWindow:
        return (long)((uintptr_t)value->accessPolicyWindow.base_ptr % 65536 * 65536 + value->accessPolicyWindow.num_bytes);
    case (int)CARVE_OUT: memcpy(&percent, value, sizeof(percent)); return percent;
    default: return (long)value->clusterSchedulingPolicyPreference;
    }
}

/* What it is to be, in the first set of values or in the second; as a number, too. */
static long value_of(const struct holder *h, cudaLaunchAttributeID id, unsigned set, cudaLaunchAttributeValue *value)
{
    int percent;

    memset(value, 0, sizeof(*value));
    switch ((int)id) {
    case cudaLaunchAttributeCooperative: return value->cooperative = set == 0;
    case cudaLaunchAttributePriority: return value->priority = set == 0 ? h->greatest : h->least;
    case cudaLaunchAttributeMemSyncDomain:
        value->memSyncDomain = set == 0 ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault;
        return (long)value->memSyncDomain;
    case cudaLaunchAttributeMemSyncDomainMap:
        value->memSyncDomainMap.default_ = (unsigned char)(set == 0 ? 1 : 0);
        value->memSyncDomainMap.remote = (unsigned char)(set == 0 ? 0 : 1);
        return value->memSyncDomainMap.default_ * 256L + value->memSyncDomainMap.remote;
    case cudaLaunchAttributeSynchronizationPolicy:
        value->syncPolicy = set == 0 ? cudaSyncPolicyBlockingSync : cudaSyncPolicyYield;
        return (long)value->syncPolicy;
    case cudaLaunchAttributeAccessPolicyWindow:
        value->accessPolicyWindow.base_ptr = h->memory;
        value->accessPolicyWindow.num_bytes = set == 0 ? WINDOW_BYTES : WINDOW_BYTES / 2;
        value->accessPolicyWindow.hitRatio = 1.0f;
        value->accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        value->accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        return number_in(id, value);
    case (int)CARVE_OUT:
        percent = set == 0 ? 50 : 25;
        memcpy(value, &percent, sizeof(percent));
        return percent;
    default:
        value->clusterSchedulingPolicyPreference = set == 0 ? cudaClusterSchedulingPolicySpread : cudaClusterSchedulingPolicyLoadBalancing;
        return (long)value->clusterSchedulingPolicyPreference;
    }
}

/* All of them, beginning with h->first. */
static void set_all(void *opaque)
{
    struct holder *h = (struct holder *)opaque;
    cudaLaunchAttributeValue value;
    unsigned i;

    h->error = cudaSuccess;
    for (i = 0; i < h->count && h->error == cudaSuccess; i++) {
        cudaLaunchAttributeID id = h->kinds[(h->first + i) % h->count].id;
        (void)value_of(h, id, h->set, &value);
        h->error = h->node ? cudaGraphKernelNodeSetAttribute(h->node, id, &value) : cudaStreamSetAttribute(h->stream, id, &value);
    }
}

static void set_by(struct holder *h, unsigned set, int by_thread)
{
    h->set = set;
    if (by_thread && !run_in_thread(set_all, h))
        ask_skip(h->ask, "another thread", "none could be had");
    else if (!by_thread)
        set_all(h);
    ask_expect(h->ask, "several attributes", h->error, cudaSuccess);
}

static void expect_all(struct holder *h, const char *when, cudaGraphNode_t node, unsigned set)
{
    cudaLaunchAttributeValue want, is;
    char text[128];
    unsigned i;

    for (i = 0; i < h->count; i++) {
        cudaLaunchAttributeID id = h->kinds[i].id;
        memset(&is, 0x5A, sizeof(is));
        snprintf(text, sizeof(text), "%s %s", h->kinds[i].name, when);
        ask_expect(h->ask, text, node ? cudaGraphKernelNodeGetAttribute(node, id, &is) : cudaStreamGetAttribute(h->stream, id, &is),
                   cudaSuccess);
        ask_expect_number(h->ask, text, number_in(id, &is), value_of(h, id, set, &want));
    }
}

/* Attributes that streams or nodes do not have. Whether they are refused is asked elsewhere: they are none of the others. */
static void refuse_others(const struct holder *h)
{
    static const cudaLaunchAttributeID others[] = { cudaLaunchAttributeProgrammaticStreamSerialization, cudaLaunchAttributeSynchronizationPolicy,
                                                    cudaLaunchAttributeClusterDimension };
    cudaLaunchAttributeValue value = PDL_ZERO;
    unsigned i;

    value.clusterDim.x = 7; /* divides no grid that is asked here */
    value.clusterDim.y = value.clusterDim.z = 1;
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (h->node && cudaGraphKernelNodeSetAttribute(h->node, others[i], &value) == cudaSuccess && i == 2) {
            value.clusterDim.x = 1;
            (void)cudaGraphKernelNodeSetAttribute(h->node, others[i], &value);
        } else if (!h->node && others[i] != cudaLaunchAttributeSynchronizationPolicy) {
            (void)cudaStreamSetAttribute(h->stream, others[i], &value);
        }
    (void)cudaGetLastError();
}

/* ---- nodes ---- */

static cudaError_t capture_node(struct ask *ask, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    struct kernel_args args = PDL_ZERO;
    size_t one = 1;
    cudaError_t error = cudaStreamBeginCapture(ask->stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(attributes_nothing), &args, 1, ask->stream, NULL, 0);
    end = cudaStreamEndCapture(ask->stream, graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(*graph, node, &one);
    ask_expect_number(ask, "the nodes of a captured launch", (long)one, 1);
    return error;
}

static cudaError_t add_node(cudaGraph_t *graph, cudaGraphNode_t *node)
{
    struct kernel_args args = PDL_ZERO;
    cudaError_t error = cudaGraphCreate(graph, 0);

    return error == cudaSuccess ? ask_add_kernel(node, *graph, (const void *)SYMBOL(attributes_nothing), &args, 1) : error;
}

enum origin { ORIGIN_ADDED, ORIGIN_CAPTURED, ORIGIN_CLONE, ORIGIN_CHILD, ORIGIN_BODY, ORIGINS };

/* The node of a clone, in a child graph or in a body. graph: what is around it. */
static cudaError_t nest_node(enum origin origin, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaGraph_t source = NULL, inner = NULL;
    cudaGraphNode_t child = NULL;
    size_t one = 1;
    cudaError_t error;

#if CUDART_VERSION >= 12040
    if (origin == ORIGIN_BODY) {
        struct kernel_args args = PDL_ZERO;
        error = cudaGraphCreate(graph, 0);
        if (error == cudaSuccess)
            error = ask_add_if(&child, *graph, *graph, 1, &inner);
        return error == cudaSuccess ? ask_add_kernel(node, inner, (const void *)SYMBOL(attributes_nothing), &args, 1) : error;
    }
#endif
    error = add_node(&source, node);
    if (error == cudaSuccess && origin == ORIGIN_CLONE)
        error = cudaGraphClone(graph, source);
    else if (error == cudaSuccess)
        error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess && origin != ORIGIN_CLONE)
        error = cudaGraphAddChildGraphNode(&child, *graph, NULL, 0, source);
    if (error == cudaSuccess && origin != ORIGIN_CLONE)
        error = cudaGraphChildGraphNodeGetGraph(child, &inner);
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(inner ? inner : *graph, node, &one);
    (void)cudaGraphDestroy(source);
    return error;
}

static cudaError_t make_node(struct ask *ask, enum origin origin, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    switch (origin) {
    case ORIGIN_ADDED: return add_node(graph, node);
    case ORIGIN_CAPTURED: return capture_node(ask, graph, node);
    default: return nest_node(origin, graph, node);
    }
}

static cudaError_t renew(cudaGraphNode_t node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    struct kernel_args args = PDL_ZERO;
    void *values[1];

    values[0] = &args;
    params.func = (void *)SYMBOL(attributes_nothing);
    params.gridDim.x = 2;
    params.gridDim.y = params.gridDim.z = 1;
    params.blockDim.x = params.blockDim.y = params.blockDim.z = 1;
    params.kernelParams = values;
    return cudaGraphKernelNodeSetParams(node, &params);
}

/* A clone has what the node had before it was given other values. */
static void ask_of_clone(struct holder *h, cudaGraph_t graph, int by_thread)
{
    struct ask *ask = h->ask;
    cudaGraph_t clone = NULL;
    cudaGraphNode_t cloned = NULL;

    ask_expect(ask, "a clone", cudaGraphClone(&clone, graph), cudaSuccess);
    ask_expect(ask, "its node", cudaGraphNodeFindInClone(&cloned, h->node, clone), cudaSuccess);
    ask_expect_number(ask, "there is one", cloned != NULL, 1);
    set_by(h, 1, by_thread);
    expect_all(h, "of a node that was given other values", h->node, 1);
    if (cloned)
        expect_all(h, "of the node of a clone", cloned, 0);
    if (clone)
        (void)cudaGraphDestroy(clone);
}

/* made: the graph was made executable before the attributes are set. */
static void ask_node(struct holder *h, enum origin origin, int made, int by_thread)
{
    struct ask *ask = h->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;

    ask_expect(ask, "a node", make_node(ask, origin, &graph, &h->node), cudaSuccess);
    ask_expect_number(ask, "there is a node", h->node != NULL, 1);
    if (!h->node) {
        if (graph)
            (void)cudaGraphDestroy(graph);
        return;
    }
    if (made)
        ask_expect(ask, "an executable graph", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    set_by(h, 0, by_thread);
    expect_all(h, "of a node", h->node, 0);
    refuse_others(h);
    expect_all(h, "of a node that was refused others", h->node, 0);
    ask_expect(ask, "new parameters", renew(h->node), cudaSuccess);
    expect_all(h, "of a node with new parameters", h->node, 0);
    if (origin <= ORIGIN_CLONE)
        ask_of_clone(h, graph, by_thread);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* "Copies attributes from source node src to destination node dst", whichever argument is which (AMB-15): both have all of one of them then.
 * They are of two graphs; the first one is of this origin. */
static void ask_copied(struct holder *h, enum origin origin)
{
    struct ask *ask = h->ask;
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaGraph_t graph[2] = { NULL, NULL };
    cudaGraphNode_t node[2] = { NULL, NULL };
    unsigned i, set;

    value.clusterDim.y = value.clusterDim.z = 1;
    for (i = 0; i < 2; i++) {
        ask_expect(ask, "a node", make_node(ask, i ? ORIGIN_ADDED : origin, &graph[i], &node[i]), cudaSuccess);
        ask_expect(ask, "two blocks for it", renew(node[i]), cudaSuccess);
        value.clusterDim.x = 2 - i;
        ask_expect(ask, "its clusters", cudaGraphKernelNodeSetAttribute(node[i], cudaLaunchAttributeClusterDimension, &value), cudaSuccess);
        h->node = node[i];
        set_by(h, i, 0);
    }
    ask_expect(ask, "a copy of all attributes", cudaGraphKernelNodeCopyAttributes(node[0], node[1]), cudaSuccess);
    memset(&value, 0, sizeof(value));
    ask_expect(ask, "one of them", cudaGraphKernelNodeGetAttribute(node[0], cudaLaunchAttributeCooperative, &value), cudaSuccess);
    set = value.cooperative ? 0 : 1;
    for (i = 0; i < 2; i++) {
        expect_all(h, "of nodes of which one has those of the other", node[i], set);
        memset(&value, 0, sizeof(value));
        ask_expect(ask, "its clusters", cudaGraphKernelNodeGetAttribute(node[i], cudaLaunchAttributeClusterDimension, &value), cudaSuccess);
        ask_expect_number(ask, "its clusters", (long)value.clusterDim.x, 2 - (long)set);
        (void)cudaGraphDestroy(graph[i]);
    }
}

static int open_holder(struct holder *h, struct ask *ask, const struct kind *kinds, unsigned count)
{
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&h->least, &h->greatest);

    h->ask = ask;
    h->kinds = kinds;
    h->count = count;
    if (error == cudaSuccess)
        error = cudaMalloc(&h->memory, WINDOW_BYTES);
    ask_expect(ask, "the range of priorities, and memory", error, cudaSuccess);
    return error == cudaSuccess;
}

static void ask_nodes(struct ask *ask)
{
    struct holder h = PDL_ZERO;
    unsigned i, origins = has_conditions() ? ORIGINS : ORIGIN_BODY;

    if (!open_holder(&h, ask, node_kinds, NODE_ATTRIBUTES))
        return;
    for (h.first = 0; h.first < NODE_ATTRIBUTES; h.first++) {
        for (i = 0; i < 4 * origins; i++) {
            h.node = NULL;
            ask_node(&h, (enum origin)(i / 4), i & 1, (int)(i >> 1 & 1));
        }
        for (i = 0; i < origins; i++)
            ask_copied(&h, (enum origin)i);
    }
    (void)cudaFree(h.memory);
}

/* ---- streams ---- */

/* A capture leaves a stream the attributes that it had, those that it is given beside the capture, and those that it is given later. */
static void ask_captured_stream(struct holder *h, unsigned set, enum cudaStreamCaptureMode mode)
{
    set_by(h, set, 0);
    ask_expect(h->ask, "a capture", cudaStreamBeginCapture(h->stream, mode), cudaSuccess);
    expect_all(h, "of a stream that captures", NULL, set);
    set_by(h, !set, 0);
    expect_all(h, "of a stream that was given them as it captured", NULL, !set);
    ask_drop_capture(h->stream);
    expect_all(h, "of a stream that has captured", NULL, !set);
    set_by(h, set, 0);
    expect_all(h, "of a stream that was given them after a capture", NULL, set);
}

/* "Copies attributes from source stream src to destination stream dst": each of them, once. */
static void ask_copied_stream(struct holder *h, unsigned set)
{
    struct holder to = *h;
    cudaError_t error = cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking);

    ask_expect(h->ask, "another stream", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    set_by(h, set, 0);
    set_by(&to, !set, 0);
    error = cudaStreamCopyAttributes(to.stream, h->stream);
    if (error == cudaErrorNotSupported) {
        ask_skip(h->ask, "cudaStreamCopyAttributes", "not supported here");
    } else {
        ask_expect(h->ask, "a copy of all attributes", error, cudaSuccess);
        expect_all(&to, "of a stream that has those of another one", NULL, set);
        set_by(&to, !set, 0);
        expect_all(h, "of a stream whose attributes another one had", NULL, set);
    }
    (void)cudaStreamDestroy(to.stream);
}

/* The thread's own default stream: it is this thread's that keeps them. */
static void keep_in_own_stream(void *opaque)
{
    struct holder *h = (struct holder *)opaque;
    cudaLaunchAttributeValue want, is;
    unsigned i;

    h->stream = cudaStreamPerThread;
    set_all(h);
    for (i = 0; i < h->count && h->error == cudaSuccess; i++) {
        cudaLaunchAttributeID id = h->kinds[i].id;
        memset(&is, 0x5A, sizeof(is));
        h->error = cudaStreamGetAttribute(h->stream, id, &is);
        h->wrong += h->error == cudaSuccess && number_in(id, &is) != value_of(h, id, h->set, &want);
    }
}

static void ask_own_stream(struct holder *h, unsigned set)
{
    struct holder own = *h;

    own.set = set;
    if (!run_in_thread(keep_in_own_stream, &own)) {
        ask_skip(h->ask, "the per-thread default stream of another thread", "none could be had");
        return;
    }
    ask_expect(h->ask, "attributes of the per-thread default stream", own.error, cudaSuccess);
    ask_expect_none(h->ask, "attributes that the per-thread default stream does not keep", own.wrong, own.count);
}

static void ask_streams(struct ask *ask)
{
    struct holder h = PDL_ZERO;
    unsigned i;

    if (!open_holder(&h, ask, stream_kinds, STREAM_ATTRIBUTES))
        return;
    for (i = 0; i < 4 * STREAM_ATTRIBUTES; i++) {
        h.first = i / 4;
        ask_expect(ask, "a stream", cudaStreamCreateWithFlags(&h.stream, i & 1 ? cudaStreamNonBlocking : cudaStreamDefault), cudaSuccess);
        set_by(&h, i >> 1 & 1, 1);
        expect_all(&h, "of a stream that another thread set", NULL, i >> 1 & 1);
        refuse_others(&h);
        expect_all(&h, "of a stream that was refused others", NULL, i >> 1 & 1);
        set_by(&h, !(i >> 1 & 1), 1);
        expect_all(&h, "of a stream that another thread set to another value", NULL, !(i >> 1 & 1));
        ask_captured_stream(&h, i >> 1 & 1, (enum cudaStreamCaptureMode)(i % 3));
        ask_copied_stream(&h, i >> 1 & 1);
        ask_own_stream(&h, i >> 1 & 1);
        (void)cudaStreamDestroy(h.stream);
    }
    (void)cudaFree(h.memory);
}

static const struct pair attributes_pairs[] = {
    PAIR_ASK("nodes", ask_nodes),
    PAIR_ASK("streams", ask_streams),
};
IMAGE(attributes, attributes_pairs)
