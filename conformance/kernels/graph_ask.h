/* graph_ask.h - what the questions about graphs are put with: nodes of every kind, edges as text, codes gathered in a line. */
#ifndef GRAPH_ASK_H_INCLUDED
#define GRAPH_ASK_H_INCLUDED

#include <stdio.h>
#include <string.h>

#include "circumstances.h"
#include "edges.h"
#include "one_block.h"
#include "pair.h"

#define cudaGraphCreate around_graph_create
#define cudaGraphInstantiate around_instantiate
#if CUDART_VERSION >= 12040
#define cudaGraphConditionalHandleCreate around_condition_create
#endif
#define cudaStreamBeginCapture around_begin_capture
#define cudaStreamEndCapture around_end_capture
#define cudaMemcpyAsync around_memcpy_async
#define cudaMemsetAsync around_memset_async
#define cudaGraphAddMemcpyNode1D around_add_memcpy_node
#define cudaGraphAddMemsetNode around_add_memset_node
#define cudaStreamWaitEvent around_wait_event
#define cudaEventCreateWithFlags around_event_create
#define cudaStreamCreateWithFlags around_stream_create
#define cudaLaunchKernelExC around_launch
#define cudaGraphAddKernelNode around_add_kernel_node
#define cudaStreamCreate(stream) around_stream_create(stream, cudaStreamDefault)
#define cudaEventCreate(event) around_event_create(event, cudaEventDefault)

#define ASK_EDGES 32u

enum node_kind {
    NODE_KERNEL, NODE_MEMSET, NODE_MEMCPY, NODE_HOST, NODE_EMPTY, NODE_CHILD, NODE_RECORD, NODE_WAIT, NODE_ROWS, NODE_LAYERS, NODE_KINDS
};
static const char *const node_kind_name[NODE_KINDS] = { "kernel", "memset", "memcpy", "host", "empty", "child", "event record", "event wait",
                                                        "memset of rows", "memcpy of layers" };

static void CUDART_CB ask_host_nothing(void *opaque) { (void)opaque; }

/* What a host function copies. */
struct ask_hand {
    const uint32_t *from;
    uint32_t *to;
    unsigned words;
};

static void CUDART_CB ask_hand_on(void *opaque)
{
    const struct ask_hand *hand = (const struct ask_hand *)opaque;

    memcpy(hand->to, hand->from, hand->words * sizeof(uint32_t));
}

/* A kernel of so many blocks after these nodes. */
static cudaError_t ask_add_kernel_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                        const void *function, struct kernel_args *args, unsigned blocks, unsigned threads)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(function, threads, values);

    values[0] = args;
    params.gridDim.x = blocks;
    return cudaGraphAddKernelNode(node, graph, after, count, &params);
}

static cudaError_t ask_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const void *function, struct kernel_args *args,
                                  unsigned threads)
{
    return ask_add_kernel_after(node, graph, NULL, 0, function, args, 1, threads);
}

/* An executable graph of one kernel. */
static cudaError_t ask_graph_of_kernel(cudaGraphExec_t *exec, const void *function, struct kernel_args *args, unsigned threads)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = ask_add_kernel(&node, graph, function, args, threads);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

#if CUDART_VERSION >= 12030
/* The same kernel for the calls that take nodes of every kind. */
static struct cudaGraphNodeParams ask_generally(const struct cudaKernelNodeParams *plain)
{
    struct cudaGraphNodeParams params = PDL_ZERO;

    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = plain->func;
    params.kernel.gridDim = plain->gridDim;
    params.kernel.blockDim = plain->blockDim;
    params.kernel.sharedMemBytes = plain->sharedMemBytes;
    params.kernel.kernelParams = plain->kernelParams;
    params.kernel.extra = plain->extra;
    return params;
}

/* A kernel of one block of one thread, for the same calls. */
static struct cudaGraphNodeParams ask_general_kernel(const void *function, void **values)
{
    struct cudaKernelNodeParams plain = one_block_node(function, 1, values);

    return ask_generally(&plain);
}

static struct cudaGraphNodeParams ask_general_memset(const struct cudaMemsetParams *set)
{
    struct cudaGraphNodeParams params = PDL_ZERO;

    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = set->dst;
    params.memset.pitch = set->pitch;
    params.memset.value = set->value;
    params.memset.elementSize = set->elementSize;
    params.memset.width = set->width;
    params.memset.height = set->height;
    return params;
}
#endif

/* Launches the graph once, and waits for it. */
static cudaError_t ask_run_once(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    (void)cudaGraphExecDestroy(exec);
    return error;
}

/* Ends the stream's capture, and runs once what it captured; captured: what the calls in between gave. */
static cudaError_t ask_run_capture(cudaStream_t stream, cudaError_t captured)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);

    error = captured == cudaSuccess ? error : captured;
    if (error == cudaSuccess)
        error = ask_run_once(graph, stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* Ends what is left of a capture, whose graph and whose errors nobody asks for. */
static void ask_drop_capture(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;

    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* Finds out which launch-completion edges this device takes; edges_completion() gives those from now on. */
static cudaError_t ask_completion_edges(const void *function)
{
    struct kernel_args args = PDL_ZERO;
    cudaGraphEdgeData data = edges_data(2, 0, 0);
    cudaGraph_t graph;
    cudaGraphNode_t node[2];
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = ask_add_kernel(&node[0], graph, function, &args, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[1], graph, function, &args, 1);
    if (error == cudaSuccess)
        edges_refuse_completion(edges_add(graph, &node[0], &node[1], &data, 1) != cudaSuccess ||
                                cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Memory and events that the nodes of a question name; one of each per process is enough. */
struct node_room {
    const void *function;
    uint32_t *words;
    cudaEvent_t event;
};

static cudaError_t ask_open_room(struct node_room *room, const void *function)
{
    cudaError_t error = cudaMalloc((void **)&room->words, 256);

    room->function = function;
    return error == cudaSuccess ? cudaEventCreateWithFlags(&room->event, cudaEventDisableTiming) : error;
}

static void ask_close_room(struct node_room *room)
{
    (void)cudaEventDestroy(room->event);
    (void)cudaFree(room->words);
}

static cudaError_t ask_add_child_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    cudaGraph_t child;
    cudaGraphNode_t inside;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&inside, child, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, after, count, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

static cudaError_t ask_add_child(cudaGraphNode_t *node, cudaGraph_t graph) { return ask_add_child_after(node, graph, NULL, 0); }

/* Adds a child graph without nodes. inside receives that graph, which takes nodes. */
static cudaError_t ask_add_empty_child(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraph_t *inside)
{
    cudaGraph_t child;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddChildGraphNode(node, graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error == cudaSuccess ? cudaGraphChildGraphNodeGetGraph(*node, inside) : error;
}

/* A clone takes the place of the graph, which is destroyed, and its node that of this node, which may be NULL. */
static inline cudaError_t ask_clone_instead(cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaGraph_t source = *graph, clone;
    cudaError_t error = cudaGraphClone(&clone, source), end;

    if (error != cudaSuccess)
        return error;
    *graph = clone;
    if (node)
        error = cudaGraphNodeFindInClone(node, *node, clone);
    end = cudaGraphDestroy(source);
    return error == cudaSuccess ? end : error;
}

/* Whether toolkit and driver are of this version or later. */
static int has_version(int version)
{
    int driver = 0;

    return CUDART_VERSION >= version && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= version;
}

/* A graph becomes a child graph, as a clone and is destroyed, or by being moved, where that is offered: "the child graph is moved to the parent". */
static cudaError_t ask_nest(cudaGraphNode_t *child, cudaGraph_t graph, cudaGraph_t inner, int moved)
{
    cudaError_t error, end;

#if CUDART_VERSION >= 12090
    if (moved && has_version(12090)) {
        struct cudaGraphNodeParams params = PDL_ZERO;
        params.type = cudaGraphNodeTypeGraph;
        params.graph.graph = inner;
        params.graph.ownership = cudaGraphChildGraphOwnershipMove;
        return edges_add_node(child, graph, NULL, NULL, 0, &params);
    }
#endif
    (void)moved;
    error = cudaGraphAddChildGraphNode(child, graph, NULL, 0, inner);
    end = cudaGraphDestroy(inner);
    return error == cudaSuccess ? end : error;
}

/* A driver that does not say is taken to serve others as well. */
static inline int is_shared(void)
{
    int device, shared = 1;

    if (cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&shared, cudaDevAttrMpsEnabled, device) == cudaSuccess)
        return shared;
    (void)cudaGetLastError();
    return 1;
}

/* Conditional nodes came with it. */
static int has_conditions(void) { return has_version(12040); }

#if CUDART_VERSION >= 12040
/* A conditional node of this type; bodies[size] receives the graphs that it may run. */
static cudaError_t ask_add_conditional(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                       enum cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t *bodies)
{
    struct cudaGraphNodeParams params = PDL_ZERO;
    cudaError_t error;
    unsigned i;

    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    error = edges_add_node(node, graph, NULL, NULL, 0, &params);
    for (i = 0; i < size && error == cudaSuccess; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return error;
}

/* The same in `graph`, with a new handle that has no value of its own: a kernel that comes before the node decides. A handle belongs to the
 * outermost graph. */
static cudaError_t ask_add_chosen(cudaGraphNode_t *node, cudaGraph_t outermost, cudaGraph_t graph, cudaGraphConditionalHandle *handle,
                                  enum cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t *bodies)
{
    cudaError_t error = cudaGraphConditionalHandleCreate(handle, outermost, 0, 0);

    return error == cudaSuccess ? ask_add_conditional(node, graph, *handle, type, size, bodies) : error;
}

/* A conditional node in `graph`, whose body runs or does not. */
static cudaError_t ask_add_if(cudaGraphNode_t *node, cudaGraph_t outermost, cudaGraph_t graph, unsigned runs, cudaGraph_t *body)
{
    cudaGraphConditionalHandle handle;
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, outermost, runs, cudaGraphCondAssignDefault);

    return error == cudaSuccess ? ask_add_conditional(node, graph, handle, cudaGraphCondTypeIf, 1, body) : error;
}

/* A loop in this outermost graph. Its first round runs; a kernel of its body has to end it by its handle. */
static cudaError_t ask_add_loop(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphConditionalHandle *handle, cudaGraph_t *body)
{
    cudaError_t error = cudaGraphConditionalHandleCreate(handle, graph, 1, cudaGraphCondAssignDefault);

    return error == cudaSuccess ? ask_add_conditional(node, graph, *handle, cudaGraphCondTypeWhile, 1, body) : error;
}
#endif

/* Two layers of two rows of a word each: neither rows nor layers lie next to each other, nor does the copy have them where its source does. */
static struct cudaMemcpy3DParms layers_of_words(uint32_t *to, const uint32_t *from)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.dstPtr.ptr = to;
    copy.srcPtr.ptr = (void *)(uintptr_t)from;
    copy.dstPtr.pitch = copy.dstPtr.xsize = 2 * sizeof(uint32_t);
    copy.srcPtr.pitch = copy.srcPtr.xsize = 3 * sizeof(uint32_t);
    copy.dstPtr.ysize = copy.srcPtr.ysize = 3;
    copy.extent.width = sizeof(uint32_t);
    copy.extent.height = copy.extent.depth = 2;
    copy.kind = cudaMemcpyDefault;
    return copy;
}
#define LAYERS_TO 9u           /* words from the first one that it sets to the last one, and so on where it reads */
#define LAYERS_FROM 13u

/* A node of this kind after these nodes. */
static cudaError_t ask_add_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, enum node_kind kind,
                                 const struct node_room *room)
{
    struct kernel_args args = PDL_ZERO;
    struct cudaMemsetParams set = PDL_ZERO;
    struct cudaHostNodeParams host = PDL_ZERO;
    struct cudaMemcpy3DParms layers;

    switch (kind) {
    case NODE_KERNEL: return ask_add_kernel_after(node, graph, after, count, room->function, &args, 1, 1);
    case NODE_MEMSET:
    case NODE_ROWS:
        set.dst = room->words;
        set.elementSize = 4;
        set.width = kind == NODE_ROWS ? 1 : 4;
        set.height = kind == NODE_ROWS ? 3 : 1;
        set.pitch = kind == NODE_ROWS ? 8 : 0;
        return cudaGraphAddMemsetNode(node, graph, after, count, &set);
    case NODE_MEMCPY:
        return cudaGraphAddMemcpyNode1D(node, graph, after, count, room->words + 8, room->words, 16, cudaMemcpyDeviceToDevice);
    case NODE_HOST:
        host.fn = ask_host_nothing;
        return cudaGraphAddHostNode(node, graph, after, count, &host);
    case NODE_EMPTY: return cudaGraphAddEmptyNode(node, graph, after, count);
    case NODE_CHILD: return ask_add_child_after(node, graph, after, count);
    case NODE_RECORD: return cudaGraphAddEventRecordNode(node, graph, after, count, room->event);
    case NODE_WAIT: return cudaGraphAddEventWaitNode(node, graph, after, count, room->event);
    case NODE_LAYERS:
        layers = layers_of_words(room->words + 16, room->words + 32);
        return cudaGraphAddMemcpyNode(node, graph, after, count, &layers);
    default: return cudaErrorNotSupported;
    }
}

static cudaError_t ask_add(cudaGraphNode_t *node, cudaGraph_t graph, enum node_kind kind, const struct node_room *room)
{
    return ask_add_after(node, graph, NULL, 0, kind, room);
}

/* An executable graph of one node: of one that records this event or waits for it, or of an empty one. */
static cudaError_t ask_graph_of_one(cudaGraphExec_t *exec, enum node_kind kind, cudaEvent_t event)
{
    struct node_room room = PDL_ZERO;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    room.event = event;
    if (error != cudaSuccess)
        return error;
    error = ask_add(&node, graph, kind, &room);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t ask_graph_of_none(cudaGraphExec_t *exec)
{
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphInstantiate(exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static int is_full(cudaGraphEdgeData data)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);

    return memcmp(&data, &full, sizeof(full)) == 0;
}

/* ---- text ---- */

static void ask_append(char *text, size_t room, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, room - used, "%s", more);
}

static void ask_append_edge(char *text, size_t room, cudaGraphEdgeData data)
{
    cudaGraphEdgeData plain = edges_data(data.from_port, data.to_port, data.type);
    char edge[16];

    snprintf(edge, sizeof(edge), "%u,%u,%u", data.from_port, data.to_port, data.type);
    ask_append(text, room, edge);
    if (memcmp(&plain, &data, sizeof(data)) != 0)
        ask_append(text, room, " and reserved bytes");
}

#endif
