/* program_driver_graphs.c - the driver's own calls, by which graphs are captured, put together, read, made executable and changed as well. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#include "../edges.h"
#include "try.h"

/* What an older driver lacks stays NULL. */
void program_open_driver_graphs(struct program_room *room)
{
    static const struct driver_call calls[DRIVER_GRAPH_CALLS] = {
        [DRIVER_INSTANTIATE] = { "cuGraphInstantiateWithFlags", 11040 }, [DRIVER_CLONE] = { "cuGraphClone", 10000 },
        [DRIVER_UPDATE] = { "cuGraphExecUpdate", 12000 }, [DRIVER_UPLOAD] = { "cuGraphUpload", 11010 },
        [DRIVER_ENABLE] = { "cuGraphNodeSetEnabled", 11060 }, [DRIVER_BEGIN] = { "cuStreamBeginCapture", 10010 },
        [DRIVER_END] = { "cuStreamEndCapture", 10000 }, [DRIVER_CHILD] = { "cuGraphAddChildGraphNode", 10000 },
        [DRIVER_DEPEND] = { "cuStreamUpdateCaptureDependencies", WITH_EDGE_DATA }, [DRIVER_EDGES] = { "cuGraphGetEdges", WITH_EDGE_DATA },
        [DRIVER_INTO] = { "cuGraphNodeGetDependencies", WITH_EDGE_DATA }, [DRIVER_OUT_OF] = { "cuGraphNodeGetDependentNodes", WITH_EDGE_DATA },
        [DRIVER_DESTROY_NODE] = { "cuGraphDestroyNode", 10000 }, [DRIVER_FIND] = { "cuGraphNodeFindInClone", 10000 },
        [DRIVER_TO_GRAPH] = { "cuStreamBeginCaptureToGraph", 12030 }, [DRIVER_INFO] = { "cuStreamGetCaptureInfo", WITH_EDGE_DATA },
        [DRIVER_SET_ATTRIBUTE] = { "cuGraphKernelNodeSetAttribute", 11000 }, [DRIVER_GET_ATTRIBUTE] = { "cuGraphKernelNodeGetAttribute", 11000 },
        [DRIVER_CHILD_PARAMS] = { "cuGraphExecChildGraphNodeSetParams", 11010 }, [DRIVER_NODES] = { "cuGraphGetNodes", 10000 },
        [DRIVER_ROOTS] = { "cuGraphGetRootNodes", 10000 }, [DRIVER_CHILD_OF] = { "cuGraphChildGraphNodeGetGraph", 10000 },
        [DRIVER_ENABLED] = { "cuGraphNodeGetEnabled", 11060 }, [DRIVER_DESTROY_EXEC] = { "cuGraphExecDestroy", 10000 },
        [DRIVER_CAPTURING] = { "cuStreamIsCapturing", 10000 }, [DRIVER_INSTANTIATE_WITH] = { "cuGraphInstantiateWithParams", 12000 },
    };
    unsigned i;

    for (i = 0; i < DRIVER_GRAPH_CALLS; i++)
        room->driver.graph_call[i] = program_driver_call(&calls[i]);
}

/* The call, if it is this time by the driver's. */
static void *drawn_call(const struct made *made, enum driver_graph_call call, struct dice *dice)
{
    void *function = made->room->driver.graph_call[call];

    return function && program_goes_by_driver(made, dice) ? function : NULL;
}

/* ---- executable graphs ---- */

cudaError_t program_instantiate(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags, struct dice *dice)
{
    typedef CUresult(CUDAAPI *instantiate_fn)(CUgraphExec *, CUgraph, unsigned long long);
    void *function = drawn_call(made, DRIVER_INSTANTIATE, dice);
    cudaError_t error;

    if (flags == 0 && program_instantiated_by_older(made, exec, graph, dice, &error))
        return error;
    if (function)
        return (cudaError_t)((instantiate_fn)function)(exec, graph, flags);
    return dice_below(dice, 2) ? cudaGraphInstantiate(exec, graph, flags) : cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t program_instantiate_uploaded(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags,
                                         cudaStream_t stream, struct dice *dice)
{
    typedef CUresult(CUDAAPI *with_fn)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *);
    void *function = drawn_call(made, DRIVER_INSTANTIATE_WITH, dice);
    cudaGraphInstantiateParams params;
    cudaError_t error;

    _Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(params), "both libraries take the same parameters");
    memset(&params, 0, sizeof(params));
    params.flags = flags | cudaGraphInstantiateFlagUpload;
    params.uploadStream = stream;
    params.result_out = cudaGraphInstantiateError;
    error = function ? (cudaError_t)((with_fn)function)(exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)(void *)&params)
                     : cudaGraphInstantiateWithParams(exec, graph, &params);
    if (error == cudaSuccess && (params.result_out != cudaGraphInstantiateSuccess || params.errNode_out))
        return cudaErrorUnknown;
    return error;
}

cudaError_t program_update_exec(const struct made *made, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info,
                                struct dice *dice)
{
    typedef CUresult(CUDAAPI *update_fn)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
    void *function = drawn_call(made, DRIVER_UPDATE, dice);
    cudaError_t error;

    if (program_updated_by_older(made, exec, graph, info, dice, &error))
        return error;
    _Static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(*info), "both libraries have the same answer");
    return function ? (cudaError_t)((update_fn)function)(exec, graph, (CUgraphExecUpdateResultInfo *)(void *)info)
                    : cudaGraphExecUpdate(exec, graph, info);
}

cudaError_t program_upload(const struct made *made, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice)
{
    typedef CUresult(CUDAAPI *upload_fn)(CUgraphExec, CUstream);
    void *function = drawn_call(made, DRIVER_UPLOAD, dice);

    return function ? (cudaError_t)((upload_fn)function)(exec, stream) : cudaGraphUpload(exec, stream);
}

cudaError_t program_enable(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled, struct dice *dice)
{
    typedef CUresult(CUDAAPI *enable_fn)(CUgraphExec, CUgraphNode, unsigned);
    void *function = drawn_call(made, DRIVER_ENABLE, dice);

    return function ? (cudaError_t)((enable_fn)function)(exec, node, enabled) : cudaGraphNodeSetEnabled(exec, node, enabled);
}

cudaError_t program_is_enabled(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled, struct dice *dice)
{
    typedef CUresult(CUDAAPI *enabled_fn)(CUgraphExec, CUgraphNode, unsigned *);
    void *function = drawn_call(made, DRIVER_ENABLED, dice);

    return function ? (cudaError_t)((enabled_fn)function)(exec, node, enabled) : cudaGraphNodeGetEnabled(exec, node, enabled);
}

cudaError_t program_destroy_exec(const struct made *made, cudaGraphExec_t exec, struct dice *dice)
{
    typedef CUresult(CUDAAPI *destroy_fn)(CUgraphExec);
    void *function = drawn_call(made, DRIVER_DESTROY_EXEC, dice);

    return function ? (cudaError_t)((destroy_fn)function)(exec) : cudaGraphExecDestroy(exec);
}

/* ---- graphs ---- */

cudaError_t program_clone(const struct made *made, cudaGraph_t *clone, cudaGraph_t graph, struct dice *dice)
{
    typedef CUresult(CUDAAPI *clone_fn)(CUgraph *, CUgraph);
    void *function = drawn_call(made, DRIVER_CLONE, dice);

    return function ? (cudaError_t)((clone_fn)function)(clone, graph) : cudaGraphClone(clone, graph);
}

cudaError_t program_add_child(const struct made *made, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              cudaGraph_t child, struct dice *dice)
{
    typedef CUresult(CUDAAPI *child_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph);
    void *function = drawn_call(made, DRIVER_CHILD, dice);

    return function ? (cudaError_t)((child_fn)function)(node, graph, after, count, child)
                    : cudaGraphAddChildGraphNode(node, graph, after, count, child);
}

cudaError_t program_nodes(const struct made *made, int roots, int by_driver, cudaGraphNode_t *nodes, size_t *count)
{
    typedef CUresult(CUDAAPI *nodes_fn)(CUgraph, CUgraphNode *, size_t *);
    void *function = by_driver ? made->room->driver.graph_call[roots ? DRIVER_ROOTS : DRIVER_NODES] : NULL;

    if (function)
        return (cudaError_t)((nodes_fn)function)(made->inner, nodes, count);
    return roots ? cudaGraphGetRootNodes(made->inner, nodes, count) : cudaGraphGetNodes(made->inner, nodes, count);
}

cudaError_t program_child_of(const struct made *made, cudaGraphNode_t node, cudaGraph_t *child, struct dice *dice)
{
    typedef CUresult(CUDAAPI *child_fn)(CUgraphNode, CUgraph *);
    void *function = drawn_call(made, DRIVER_CHILD_OF, dice);

    return function ? (cudaError_t)((child_fn)function)(node, child) : cudaGraphChildGraphNodeGetGraph(node, child);
}

cudaError_t program_destroy_node(const struct made *made, cudaGraphNode_t node, struct dice *dice)
{
    typedef CUresult(CUDAAPI *destroy_fn)(CUgraphNode);
    void *function = drawn_call(made, DRIVER_DESTROY_NODE, dice);

    return function ? (cudaError_t)((destroy_fn)function)(node) : cudaGraphDestroyNode(node);
}

cudaError_t program_find_node(const struct made *made, cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone, struct dice *dice)
{
    typedef CUresult(CUDAAPI *find_fn)(CUgraphNode *, CUgraphNode, CUgraph);
    void *function = drawn_call(made, DRIVER_FIND, dice);

    return function ? (cudaError_t)((find_fn)function)(found, node, clone) : cudaGraphNodeFindInClone(found, node, clone);
}

cudaError_t program_set_child(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child, struct dice *dice)
{
    typedef CUresult(CUDAAPI *child_fn)(CUgraphExec, CUgraphNode, CUgraph);
    void *function = drawn_call(made, DRIVER_CHILD_PARAMS, dice);

    return function ? (cudaError_t)((child_fn)function)(exec, node, child) : cudaGraphExecChildGraphNodeSetParams(exec, node, child);
}

cudaError_t program_set_attribute(const struct made *made, cudaGraphNode_t node, const cudaLaunchAttribute *attribute, struct dice *dice)
{
    typedef CUresult(CUDAAPI *set_fn)(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *);
    void *function = drawn_call(made, DRIVER_SET_ATTRIBUTE, dice);
    CUkernelNodeAttrValue value;

    _Static_assert(sizeof(value) == sizeof(attribute->val), "both libraries have the same values");
    memcpy(&value, &attribute->val, sizeof(value));
    return function ? (cudaError_t)((set_fn)function)(node, (CUkernelNodeAttrID)attribute->id, &value)
                    : cudaGraphKernelNodeSetAttribute(node, attribute->id, &attribute->val);
}

cudaError_t program_attribute_of(const struct made *made, cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    typedef CUresult(CUDAAPI *get_fn)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *);
    void *function = made->room->driver.graph_call[DRIVER_GET_ATTRIBUTE];
    CUkernelNodeAttrValue told = PDL_ZERO;
    cudaError_t error;

    if (!function)
        return cudaGraphKernelNodeGetAttribute(node, id, value);
    error = (cudaError_t)((get_fn)function)(node, (CUkernelNodeAttrID)id, &told);
    memcpy(value, &told, sizeof(told));
    return error;
}

/* Each of these edges, with its data, is among those. */
static int are_among(const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count,
                     const cudaGraphNode_t *all_from, const cudaGraphNode_t *all_to, const CUgraphEdgeData *all_data)
{
    size_t e, k;

    for (e = 0; e < count; e++) {
        for (k = 0; k < count && !(from[e] == all_from[k] && to[e] == all_to[k]); k++)
            ;
        if (k == count || memcmp(&data[e], &all_data[k], sizeof(data[e])) != 0)
            return 0;
    }
    return 1;
}

/* The driver's call for one direction tells `count` neighbours of a node; `other` is among them, with this data. */
static int tells_neighbour(const struct made *made, enum driver_graph_call call, cudaGraphNode_t node, size_t count, cudaGraphNode_t other,
                           const cudaGraphEdgeData *data)
{
    typedef CUresult(CUDAAPI *neighbours_fn)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
    static cudaGraphNode_t told[PROGRAM_LINKS + 1];
    static CUgraphEdgeData told_data[PROGRAM_LINKS + 1];
    void *function = made->room->driver.graph_call[call];
    size_t room = PROGRAM_LINKS + 1, k;

    if (!function)
        return 1;
    if (((neighbours_fn)function)(node, told, told_data, &room) != CUDA_SUCCESS || room != count)
        return 0;
    for (k = 0; k < room && told[k] != other; k++)
        ;
    return k < room && memcmp(&told_data[k], data, sizeof(*data)) == 0;
}

static size_t times_in(const cudaGraphNode_t *nodes, size_t count, cudaGraphNode_t node)
{
    size_t e, times = 0;

    for (e = 0; e < count; e++)
        times += nodes[e] == node;
    return times;
}

int program_driver_tells(const struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count)
{
    typedef CUresult(CUDAAPI *edges_fn)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
    static cudaGraphNode_t told_from[PROGRAM_LINKS + 1], told_to[PROGRAM_LINKS + 1];
    static CUgraphEdgeData told[PROGRAM_LINKS + 1];
    void *function = made->room->driver.graph_call[DRIVER_EDGES];
    size_t room = PROGRAM_LINKS + 1, e = count ? made->room->key % count : 0;

    if (!function)
        return 1;
    return ((edges_fn)function)(made->inner, told_from, told_to, told, &room) == CUDA_SUCCESS && room == count &&
           are_among(from, to, data, count, told_from, told_to, told) && program_older_tells(made, from, to, data, count) &&
           (count == 0 || (tells_neighbour(made, DRIVER_INTO, to[e], times_in(to, count, to[e]), from[e], &data[e]) &&
                           tells_neighbour(made, DRIVER_OUT_OF, from[e], times_in(from, count, from[e]), to[e], &data[e])));
}

/* ---- captures ---- */

cudaError_t program_begin_capture(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureMode mode, struct dice *dice)
{
    typedef CUresult(CUDAAPI *begin_fn)(CUstream, CUstreamCaptureMode);
    void *function = drawn_call(made, DRIVER_BEGIN, dice);
    cudaError_t error;

    if (program_begun_by_older(made, stream, dice, &error))
        return error;
    return function ? (cudaError_t)((begin_fn)function)(stream, (CUstreamCaptureMode)mode) : cudaStreamBeginCapture(stream, mode);
}

cudaError_t program_begin_capture_to(const struct made *made, cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                     const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode, struct dice *dice)
{
    typedef CUresult(CUDAAPI *begin_fn)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode);
    void *function = drawn_call(made, DRIVER_TO_GRAPH, dice);

    return function ? (cudaError_t)((begin_fn)function)(stream, graph, deps, (const CUgraphEdgeData *)(const void *)data, count,
                                                        (CUstreamCaptureMode)mode)
                    : cudaStreamBeginCaptureToGraph(stream, graph, deps, data, count, mode);
}

cudaError_t program_is_capturing(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureStatus *status, struct dice *dice)
{
    typedef CUresult(CUDAAPI *capturing_fn)(CUstream, CUstreamCaptureStatus *);
    void *function = drawn_call(made, DRIVER_CAPTURING, dice);
    CUstreamCaptureStatus told = CU_STREAM_CAPTURE_STATUS_NONE;
    cudaError_t error;

    if (program_status_by_older(made, stream, status, dice, &error))
        return error;
    if (!function)
        return cudaStreamIsCapturing(stream, status);
    error = (cudaError_t)((capturing_fn)function)(stream, &told);
    *status = (enum cudaStreamCaptureStatus)told;
    return error;
}

cudaError_t program_next_dependencies(const struct made *made, cudaStream_t stream, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data,
                                      size_t *count, struct dice *dice)
{
    typedef CUresult(CUDAAPI *info_fn)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **,
                                       size_t *);
    void *function = drawn_call(made, DRIVER_INFO, dice);
    enum cudaStreamCaptureStatus status;
    struct told_capture runtime = PDL_ZERO;
    CUstreamCaptureStatus told = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    const CUgraphEdgeData *edges = NULL;
    cudaError_t error;

    if (program_told_by_older(made, stream, nodes, count, dice, &error)) {
        *data = NULL;
        return error;
    }
    if (!function)
        return edges_of_capture(stream, &status, NULL, NULL, nodes, data, count);
    TRY(program_tell_capture(stream, &runtime));
    TRY((cudaError_t)((info_fn)function)(stream, &told, &id, &graph, nodes, &edges, count));
    *data = (const cudaGraphEdgeData *)(const void *)edges;
    return program_tells_same(&runtime, (unsigned)told, id, graph) ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t program_end_capture(const struct made *made, cudaStream_t stream, cudaGraph_t *graph, struct dice *dice)
{
    typedef CUresult(CUDAAPI *end_fn)(CUstream, CUgraph *);
    void *function = drawn_call(made, DRIVER_END, dice);

    return function ? (cudaError_t)((end_fn)function)(stream, graph) : cudaStreamEndCapture(stream, graph);
}

cudaError_t program_depend(const struct made *made, cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count,
                           unsigned flags, struct dice *dice)
{
    typedef CUresult(CUDAAPI *depend_fn)(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned);
    void *function = drawn_call(made, DRIVER_DEPEND, dice);
    cudaError_t error;

    if (program_depended_by_older(made, stream, nodes, data, count, flags, dice, &error))
        return error;
    return function ? (cudaError_t)((depend_fn)function)(stream, nodes, (const CUgraphEdgeData *)(const void *)data, count, flags)
                    : edges_update_capture(stream, nodes, data, count, flags);
}
