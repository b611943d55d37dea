/* The graph functions whose signature depends on the toolkit: edge data came in 12.3 under suffixed names and moved into
 * the plain ones in 13.0. The work is done by one function each, which api.h declares. */
#include "api.h"

#if CUDART_VERSION >= 13000

cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                       const edge_data *data, size_t count, struct cudaGraphNodeParams *params)
{
    CALL(cudaGraphAddNode);
    return graph_add_node(out, graph, deps, data, count, params);
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    CALL(cudaGraphAddDependencies);
    return graph_add_dependencies(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    CALL(cudaGraphRemoveDependencies);
    return graph_remove_dependencies(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, edge_data *data,
                                        size_t *count)
{
    CALL(cudaGraphGetEdges);
    return graph_get_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *deps, edge_data *data,
                                                   size_t *count)
{
    CALL(cudaGraphNodeGetDependencies);
    return graph_node_arcs(node, false, deps, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *deps, edge_data *data,
                                                     size_t *count)
{
    CALL(cudaGraphNodeGetDependentNodes);
    return graph_node_arcs(node, true, deps, data, count);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                               unsigned long long *id, cudaGraph_t *graph,
                                               const cudaGraphNode_t **deps, const edge_data **data, size_t *count)
{
    CALL(cudaStreamGetCaptureInfo);
    return capture_info(stream, status, id, graph, deps, data, count);
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *deps,
                                                          const edge_data *data, size_t count, unsigned flags)
{
    CALL(cudaStreamUpdateCaptureDependencies);
    return capture_update(stream, deps, data, count, flags);
}

#else

/* PLAIN: without edge data; SUFFIXED: with. Both count as the plain name. */
cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                       size_t count, struct cudaGraphNodeParams *params)
{
    CALL(cudaGraphAddNode);
    return graph_add_node(out, graph, deps, NULL, count, params);
}

cudaError_t CUDARTAPI cudaGraphAddNode_v2(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                          const edge_data *data, size_t count, struct cudaGraphNodeParams *params)
{
    CALL(cudaGraphAddNode);
    return graph_add_node(out, graph, deps, data, count, params);
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t count)
{
    CALL(cudaGraphAddDependencies);
    return graph_add_dependencies(graph, from, to, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    CALL(cudaGraphAddDependencies);
    return graph_add_dependencies(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to, size_t count)
{
    CALL(cudaGraphRemoveDependencies);
    return graph_remove_dependencies(graph, from, to, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                     const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    CALL(cudaGraphRemoveDependencies);
    return graph_remove_dependencies(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    CALL(cudaGraphGetEdges);
    return graph_get_edges(graph, from, to, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                           edge_data *data, size_t *count)
{
    CALL(cudaGraphGetEdges);
    return graph_get_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *deps, size_t *count)
{
    CALL(cudaGraphNodeGetDependencies);
    return graph_node_arcs(node, false, deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *deps, edge_data *data,
                                                      size_t *count)
{
    CALL(cudaGraphNodeGetDependencies);
    return graph_node_arcs(node, false, deps, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *deps, size_t *count)
{
    CALL(cudaGraphNodeGetDependentNodes);
    return graph_node_arcs(node, true, deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *deps, edge_data *data,
                                                        size_t *count)
{
    CALL(cudaGraphNodeGetDependentNodes);
    return graph_node_arcs(node, true, deps, data, count);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                  unsigned long long *id, cudaGraph_t *graph,
                                                  const cudaGraphNode_t **deps, size_t *count)
{
    CALL(cudaStreamGetCaptureInfo);
    return capture_info(stream, status, id, graph, deps, NULL, count);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                  unsigned long long *id, cudaGraph_t *graph,
                                                  const cudaGraphNode_t **deps, const edge_data **data, size_t *count)
{
    CALL(cudaStreamGetCaptureInfo);
    return capture_info(stream, status, id, graph, deps, data, count);
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *deps, size_t count,
                                                          unsigned flags)
{
    CALL(cudaStreamUpdateCaptureDependencies);
    return capture_update(stream, deps, NULL, count, flags);
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *deps,
                                                             const edge_data *data, size_t count, unsigned flags)
{
    CALL(cudaStreamUpdateCaptureDependencies);
    return capture_update(stream, deps, data, count, flags);
}

#endif
