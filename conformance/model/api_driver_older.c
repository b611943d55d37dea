/* The driver's functions as they were before edges had data and calls took flags. */
#include "api_driver.h"

#include <stddef.h>
#include <string.h>

static unsigned add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    if (device.faults.older_adds_one_edge && count > 1)
        count = 1;
    BY_DRIVER(graph_add_dependencies(graph, from, to, NULL, count));
}

static unsigned remove_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    BY_DRIVER(device.faults.older_removes_nothing ? cudaSuccess : graph_remove_dependencies(graph, from, to, NULL, count));
}

static cudaError_t tell_edges_as_told(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    static edge_data lost[4096];
    cudaError_t error = graph_get_edges(graph, from, to, device.faults.older_loses_data ? lost : NULL, count);
    if (device.faults.older_tells_edge_twice && error == cudaSuccess && to != NULL && *count > 1) {
        from[*count - 1] = from[0];
        to[*count - 1] = to[0];
    }
    return error;
}

static unsigned tell_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    BY_DRIVER(tell_edges_as_told(graph, from, to, count));
}

static unsigned tell_into(cudaGraphNode_t node, cudaGraphNode_t *from, size_t *count)
{
    if (device.faults.older_tells_one_dependency && *count > 1)
        *count = 1;
    BY_DRIVER(graph_node_arcs(node, false, from, NULL, count));
}

static unsigned tell_out_of(cudaGraphNode_t node, cudaGraphNode_t *to, size_t *count)
{
    static edge_data lost[4096];
    BY_DRIVER(graph_node_arcs(node, true, to, device.faults.older_dependents_lose_data ? lost : NULL, count));
}

/* Without room for data, even for none: half-edges that have some are an error. */
static cudaError_t capture_as_told(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                   const cudaGraphNode_t **nodes, size_t *count)
{
    cudaError_t error = capture_info(stream, status, id, graph, nodes, NULL, count);
    if (error == cudaSuccess && device.faults.older_capture_tells_none && count != NULL)
        *count = 0;
    return error;
}

static unsigned tell_capture(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                             const cudaGraphNode_t **nodes, size_t *count)
{
    BY_DRIVER(capture_as_told(stream, status, id, graph, nodes, count));
}

static cudaError_t status_as_told(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)
{
    cudaError_t error = capture_info(stream, status, id, NULL, NULL, NULL, NULL);
    if (device.faults.older_status_has_no_id && id != NULL)
        *id = 0;
    return error;
}

static unsigned tell_status(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)
{
    BY_DRIVER(status_as_told(stream, status, id));
}

static unsigned depend(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned flags)
{
    BY_DRIVER(capture_update(stream, nodes, NULL, device.faults.older_depends_on_one && count > 1 ? 1 : count, flags));
}

static unsigned begin_capture(cudaStream_t stream)
{
    BY_DRIVER(device.faults.older_begins_nothing ? cudaSuccess : cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

/* On a device that drops the last edge. */
static cudaError_t instantiate_as_told(cudaGraphExec_t *exec, cudaGraph_t graph)
{
    struct graph *g = graph_of(graph);
    if (!device.faults.older_instantiates_less || g == NULL || g->arcs == 0)
        return cudaGraphInstantiate(exec, graph, 0);
    struct arc last = g->arc[g->arcs - 1];
    graph_drop_last_arc(g);
    cudaError_t error = cudaGraphInstantiate(exec, graph, 0);
    (void)graph_connect(g, last.from, last.to, last.data);
    return error;
}

static unsigned instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *wrong, char *text, size_t room)
{
    (void)wrong, (void)text, (void)room;
    BY_DRIVER(instantiate_as_told(exec, graph));
}

static cudaError_t update_as_told(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *wrong, enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    cudaError_t error = device.faults.older_update_ignored ? cudaSuccess : cudaGraphExecUpdate(exec, graph, &info);
    *wrong = device.faults.older_update_names_no_node ? NULL : info.errorNode;
    *result = info.result;
    return error;
}

static unsigned update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *wrong, enum cudaGraphExecUpdateResult *result)
{
    BY_DRIVER(update_as_told(exec, graph, wrong, result));
}

static unsigned add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct any_params *p)
{
    return driver_add_any(node, graph, after, NULL, device.faults.older_new_node_first ? 0 : count, p);
}

/* What they read is how the structure of today's calls begins. */
static struct kernel_params older_params(const struct kernel_params *p)
{
    struct kernel_params params = *p;
    params.kern = params.context = NULL;
    if (device.faults.older_kernel_in_one_block)
        params.grid[0] = params.grid[1] = params.grid[2] = 1;
    return params;
}

static unsigned add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct kernel_params *p)
{
    struct kernel_params params = older_params(p);
    return driver_add_kernel(node, graph, after, count, &params);
}

static unsigned set_kernel(cudaGraphNode_t node, const struct kernel_params *p)
{
    struct kernel_params params = older_params(p);
    return device.faults.older_kernel_keeps_params ? cudaSuccess : driver_set_kernel(node, &params);
}

static unsigned set_exec_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct kernel_params *p)
{
    struct kernel_params params = older_params(p);
    return device.faults.older_exec_kernel_keeps_params ? cudaSuccess : driver_set_exec_kernel(exec, node, &params);
}

/* Fills what its structure had, and nothing after that. */
static unsigned tell_kernel(cudaGraphNode_t node, struct kernel_params *p)
{
    struct kernel_params told;
    unsigned error = driver_tell_kernel(node, &told);
    if (error != cudaSuccess)
        return error;
    if (device.faults.older_tells_one_thread)
        told.block[0] = 1;
    memcpy(p, &told, offsetof(struct kernel_params, kern));
    return cudaSuccess;
}

static const struct driver_function calls[] = {
    { "cuGraphAddDependencies", 10000, (any_function)add_edges },
    { "cuGraphRemoveDependencies", 10000, (any_function)remove_edges },
    { "cuGraphGetEdges", 10000, (any_function)tell_edges },
    { "cuGraphNodeGetDependencies", 10000, (any_function)tell_into },
    { "cuGraphNodeGetDependentNodes", 10000, (any_function)tell_out_of },
    { "cuStreamGetCaptureInfo", 11030, (any_function)tell_capture },
    { "cuStreamGetCaptureInfo", 10010, (any_function)tell_status },
    { "cuStreamUpdateCaptureDependencies", 11030, (any_function)depend },
    { "cuStreamBeginCapture", 10000, (any_function)begin_capture },
    { "cuGraphInstantiate", 11000, (any_function)instantiate },
    { "cuGraphExecUpdate", 10020, (any_function)update },
    { "cuGraphAddNode", 12020, (any_function)add_any },
    { "cuGraphAddKernelNode", 10000, (any_function)add_kernel },
    { "cuGraphKernelNodeSetParams", 10000, (any_function)set_kernel },
    { "cuGraphExecKernelNodeSetParams", 10010, (any_function)set_exec_kernel },
    { "cuGraphKernelNodeGetParams", 10000, (any_function)tell_kernel },
};

any_function driver_older_call(const char *name, unsigned asked)
{
    return driver_named(calls, sizeof calls / sizeof calls[0], name, asked);
}
