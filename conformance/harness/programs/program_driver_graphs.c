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

    if (function)
        return (cudaError_t)((instantiate_fn)function)(exec, graph, flags);
    return dice_below(dice, 2) ? cudaGraphInstantiate(exec, graph, flags) : cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t program_update_exec(const struct made *made, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info,
                                struct dice *dice)
{
    typedef CUresult(CUDAAPI *update_fn)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
    void *function = drawn_call(made, DRIVER_UPDATE, dice);

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

int program_driver_tells(const struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count)
{
    typedef CUresult(CUDAAPI *edges_fn)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
    static cudaGraphNode_t told_from[PROGRAM_LINKS + 1], told_to[PROGRAM_LINKS + 1];
    static CUgraphEdgeData told[PROGRAM_LINKS + 1];
    void *function = made->room->driver.graph_call[DRIVER_EDGES];
    size_t room = PROGRAM_LINKS + 1;

    if (!function)
        return 1;
    return ((edges_fn)function)(made->inner, told_from, told_to, told, &room) == CUDA_SUCCESS && room == count &&
           are_among(from, to, data, count, told_from, told_to, told);
}

/* ---- captures ---- */

cudaError_t program_begin_capture(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureMode mode, struct dice *dice)
{
    typedef CUresult(CUDAAPI *begin_fn)(CUstream, CUstreamCaptureMode);
    void *function = drawn_call(made, DRIVER_BEGIN, dice);

    return function ? (cudaError_t)((begin_fn)function)(stream, (CUstreamCaptureMode)mode) : cudaStreamBeginCapture(stream, mode);
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

    return function ? (cudaError_t)((depend_fn)function)(stream, nodes, (const CUgraphEdgeData *)(const void *)data, count, flags)
                    : edges_update_capture(stream, nodes, data, count, flags);
}
