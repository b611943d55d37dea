/* The driver's functions that capture, put together and read graphs, and make and change executable ones. */
#include "api_driver.h"

#include <string.h>

static unsigned instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    BY_DRIVER(cudaGraphInstantiateWithFlags(exec, graph, flags));
}

static cudaError_t instantiate_with_as_told(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    cudaError_t error = cudaGraphInstantiateWithParams(exec, graph, params);
    if (error == cudaSuccess && device.faults.driver_with_params_loses_edge)
        graph_drop_last_arc(exec_of(*exec)->copy);
    return error;
}

static unsigned instantiate_with(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    BY_DRIVER(instantiate_with_as_told(exec, graph, params));
}

/* On a device that makes all edges of a graph full. */
static void fill_edges(cudaGraph_t graph)
{
    struct graph *g = graph_of(graph);
    for (size_t a = 0; g != NULL && a < g->arcs; a++)
        memset(&g->arc[a].data, 0, sizeof g->arc[a].data);
}

static cudaError_t clone_as_told(cudaGraph_t *out, cudaGraph_t graph)
{
    cudaError_t error = cudaGraphClone(out, graph);
    if (error == cudaSuccess && device.faults.driver_clone_full)
        fill_edges(*out);
    return error;
}

static unsigned clone(cudaGraph_t *out, cudaGraph_t graph)
{
    BY_DRIVER(clone_as_told(out, graph));
}

static unsigned update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    if (device.faults.driver_update_ignored) {
        memset(info, 0, sizeof *info);
        return cudaSuccess;
    }
    BY_DRIVER(cudaGraphExecUpdate(exec, graph, info));
}

static unsigned upload(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (device.faults.driver_upload_cuts && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    BY_DRIVER(cudaGraphUpload(exec, stream));
}

static unsigned enable(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    BY_DRIVER(device.faults.driver_disables_nothing && enabled == 0 ? cudaSuccess : cudaGraphNodeSetEnabled(exec, node, enabled));
}

static unsigned begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    BY_DRIVER(cudaStreamBeginCapture(stream, mode));
}

static cudaError_t end_capture_as_told(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = cudaStreamEndCapture(stream, graph);
    if (error == cudaSuccess && device.faults.driver_capture_full)
        fill_edges(*graph);
    return error;
}

static unsigned end_capture(cudaStream_t stream, cudaGraph_t *graph)
{
    BY_DRIVER(end_capture_as_told(stream, graph));
}

static cudaError_t add_child_as_told(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraph_t child)
{
    cudaError_t error = cudaGraphAddChildGraphNode(node, graph, after, count, child);
    cudaGraph_t inside = NULL;
    if (error == cudaSuccess && device.faults.driver_child_full && cudaGraphChildGraphNodeGetGraph(*node, &inside) == cudaSuccess)
        fill_edges(inside);
    return error;
}

static unsigned add_child(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraph_t child)
{
    BY_DRIVER(add_child_as_told(node, graph, after, count, child));
}

static unsigned depend(cudaStream_t stream, cudaGraphNode_t *nodes, const edge_data *data, size_t count, unsigned flags)
{
    if (device.faults.driver_depends_full)
        data = NULL;
    BY_DRIVER(capture_update(stream, nodes, data, count, flags));
}

static cudaError_t tell_edges_as_told(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, edge_data *data, size_t *count)
{
    cudaError_t error = graph_get_edges(graph, from, to, data, count);
    if (error == cudaSuccess && device.faults.driver_tells_full && data != NULL)
        memset(data, 0, *count * sizeof *data);
    return error;
}

static unsigned tell_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, edge_data *data, size_t *count)
{
    BY_DRIVER(tell_edges_as_told(graph, from, to, data, count));
}

static cudaError_t tell_neighbours_as_told(cudaError_t error, edge_data *data, const size_t *count)
{
    if (error == cudaSuccess && device.faults.driver_tells_neighbours_full && data != NULL)
        memset(data, 0, *count * sizeof *data);
    return error;
}

static unsigned tell_into(cudaGraphNode_t node, cudaGraphNode_t *from, edge_data *data, size_t *count)
{
    BY_DRIVER(tell_neighbours_as_told(graph_node_arcs(node, false, from, data, count), data, count));
}

static unsigned tell_out_of(cudaGraphNode_t node, cudaGraphNode_t *to, edge_data *data, size_t *count)
{
    if (device.faults.driver_tells_no_dependents) {
        *count = 0;
        return cudaSuccess;
    }
    BY_DRIVER(tell_neighbours_as_told(graph_node_arcs(node, true, to, data, count), data, count));
}

static unsigned destroy_node(cudaGraphNode_t node)
{
    BY_DRIVER(device.faults.driver_destroys_no_node ? cudaSuccess : cudaGraphDestroyNode(node));
}

static unsigned find_node(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone_of)
{
    if (device.faults.driver_finds_original) {
        *found = node;
        return cudaSuccess;
    }
    BY_DRIVER(cudaGraphNodeFindInClone(found, node, clone_of));
}

static unsigned begin_capture_to(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after, const edge_data *data, size_t count,
                                 enum cudaStreamCaptureMode mode)
{
    if (device.faults.driver_captures_to_full)
        data = NULL;
    BY_DRIVER(cudaStreamBeginCaptureToGraph(stream, graph, after, data, count, mode));
}

static cudaError_t tell_capture_as_told(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **nodes, const edge_data **data, size_t *count)
{
    cudaError_t error = capture_info(stream, status, id, graph, nodes, data, count);
    if (error == cudaSuccess && device.faults.driver_tells_no_half_edges && data != NULL)
        *data = NULL;
    if (error == cudaSuccess && device.faults.driver_tells_next_capture && id != NULL)
        ++*id;
    return error;
}

static unsigned tell_capture(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                             const cudaGraphNode_t **nodes, const edge_data **data, size_t *count)
{
    BY_DRIVER(tell_capture_as_told(stream, status, id, graph, nodes, data, count));
}

static unsigned set_attribute(cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    BY_DRIVER(device.faults.driver_sets_no_attribute ? cudaSuccess : cudaGraphKernelNodeSetAttribute(node, id, value));
}

static unsigned get_attribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    BY_DRIVER(device.faults.driver_tells_no_attribute ? cudaSuccess : cudaGraphKernelNodeGetAttribute(node, id, value));
}

static unsigned set_child(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    BY_DRIVER(device.faults.driver_keeps_child ? cudaSuccess : cudaGraphExecChildGraphNodeSetParams(exec, node, child));
}

static unsigned tell_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    BY_DRIVER(cudaGraphGetNodes(graph, nodes, count));
}

static unsigned tell_roots(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    BY_DRIVER(device.faults.driver_tells_all_as_roots ? cudaGraphGetNodes(graph, nodes, count) : cudaGraphGetRootNodes(graph, nodes, count));
}

static unsigned tell_child(cudaGraphNode_t node, cudaGraph_t *child)
{
    BY_DRIVER(cudaGraphChildGraphNodeGetGraph(node, child));
}

static cudaError_t enabled_as_told(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    cudaError_t error = cudaGraphNodeGetEnabled(exec, node, enabled);
    if (error == cudaSuccess && device.faults.driver_tells_enabled)
        *enabled = 1;
    return error;
}

static unsigned tell_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    BY_DRIVER(enabled_as_told(exec, node, enabled));
}

static unsigned destroy_exec(cudaGraphExec_t exec)
{
    if (device.faults.driver_end_frees_stream && exec_of(exec) != NULL && exec_of(exec)->running != NULL && exec_of(exec)->in != NULL)
        stream_cuts(exec_of(exec)->in);
    BY_DRIVER(device.faults.driver_destroys_no_exec && exec_of(exec) != NULL ? cudaSuccess : cudaGraphExecDestroy(exec));
}

static cudaError_t capturing_as_told(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    cudaError_t error = cudaStreamIsCapturing(stream, status);
    if (error == cudaSuccess && device.faults.driver_captures_nowhere)
        *status = cudaStreamCaptureStatusNone;
    return error;
}

static unsigned tell_capturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    BY_DRIVER(capturing_as_told(stream, status));
}

static cudaError_t flags_as_told(cudaGraphExec_t exec, unsigned long long *flags)
{
    cudaError_t error = cudaGraphExecGetFlags(exec, flags);
    if (error == cudaSuccess && device.faults.driver_tells_no_flags)
        *flags = 0;
    return error;
}

static unsigned tell_flags(cudaGraphExec_t exec, unsigned long long *flags)
{
    BY_DRIVER(flags_as_told(exec, flags));
}

static unsigned copy_attributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    BY_DRIVER(device.faults.driver_lends_nothing ? cudaSuccess : cudaGraphKernelNodeCopyAttributes(to, from));
}

static const struct driver_function calls[] = {
    { "cuGraphInstantiateWithFlags", 11040, (any_function)instantiate },
    { "cuGraphClone", 10000, (any_function)clone },
    { "cuGraphExecUpdate", 12000, (any_function)update },
    { "cuGraphInstantiateWithParams", 12000, (any_function)instantiate_with },
    { "cuGraphUpload", 11010, (any_function)upload },
    { "cuGraphNodeSetEnabled", 11060, (any_function)enable },
    { "cuStreamBeginCapture", 10010, (any_function)begin_capture },
    { "cuStreamEndCapture", 10000, (any_function)end_capture },
    { "cuGraphAddChildGraphNode", 10000, (any_function)add_child },
    { "cuStreamUpdateCaptureDependencies", 12030, (any_function)depend },
    { "cuGraphGetEdges", 12030, (any_function)tell_edges },
    { "cuGraphNodeGetDependencies", 12030, (any_function)tell_into },
    { "cuGraphNodeGetDependentNodes", 12030, (any_function)tell_out_of },
    { "cuGraphDestroyNode", 10000, (any_function)destroy_node },
    { "cuGraphNodeFindInClone", 10000, (any_function)find_node },
    { "cuStreamBeginCaptureToGraph", 12030, (any_function)begin_capture_to },
    { "cuStreamGetCaptureInfo", 12030, (any_function)tell_capture },
    { "cuGraphKernelNodeSetAttribute", 11000, (any_function)set_attribute },
    { "cuGraphKernelNodeGetAttribute", 11000, (any_function)get_attribute },
    { "cuGraphExecChildGraphNodeSetParams", 11010, (any_function)set_child },
    { "cuGraphExecGetFlags", 12000, (any_function)tell_flags },
    { "cuGraphKernelNodeCopyAttributes", 11000, (any_function)copy_attributes },
    { "cuGraphNodeGetEnabled", 11060, (any_function)tell_enabled },
    { "cuGraphExecDestroy", 10000, (any_function)destroy_exec },
    { "cuStreamIsCapturing", 10000, (any_function)tell_capturing },
    { "cuGraphGetNodes", 10000, (any_function)tell_nodes },
    { "cuGraphGetRootNodes", 10000, (any_function)tell_roots },
    { "cuGraphChildGraphNodeGetGraph", 10000, (any_function)tell_child },
};

any_function driver_graph_call(const char *name, unsigned asked)
{
    return driver_named(calls, sizeof calls / sizeof calls[0], name, asked);
}
