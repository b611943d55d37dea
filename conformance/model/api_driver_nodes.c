/* The driver's functions that add nodes to graphs, and give them other parameters there or in an executable graph. */
#include "api_driver.h"

#include <string.h>

static char the_context;

bool driver_has_context(const void *context)
{
    return context == &the_context;
}

static unsigned current_context(void **context)
{
    *context = &the_context;
    return cudaSuccess;
}

static struct cudaKernelNodeParams kernel_of(const struct kernel_params *p)
{
    const struct function *f = (const struct function *)p->func;
    return (struct cudaKernelNodeParams){(void *)(uintptr_t)f->kernel->func,
                                         {p->grid[0], p->grid[1], p->grid[2]},
                                         {p->block[0], p->block[1], p->block[2]},
                                         device.faults.driver_node_loses_shared ? 0 : p->shared_bytes,
                                         p->params,
                                         p->extra};
}

static struct cudaMemsetParams set_of(const struct set_params *p)
{
    return (struct cudaMemsetParams){(void *)(uintptr_t)p->to, p->pitch, p->value, p->bytes,
                                     p->width, device.faults.driver_node_sets_one_row ? 1 : p->height};
}

static struct cudaMemcpy3DParms copy_as_told(const struct layers_copy *c)
{
    struct cudaMemcpy3DParms p = layers_of(c);
    if (device.faults.driver_node_copies_32 && p.extent.width > 32)
        p.extent.width = 32;
    return p;
}

static struct cudaHostNodeParams host_of(const struct host_params *p)
{
    return (struct cudaHostNodeParams){p->fn, p->data};
}

/* ---- new nodes ---- */

unsigned driver_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct kernel_params *p)
{
    struct cudaKernelNodeParams params = kernel_of(p);
    if (device.faults.driver_node_after_one && count > 1)
        count = 1;
    BY_DRIVER(cudaGraphAddKernelNode(node, graph, after, count, &params));
}

static unsigned add_set(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct set_params *p,
                        void *context)
{
    struct cudaMemsetParams params = set_of(p);
    if (!driver_has_context(context))
        return cudaErrorDeviceUninitialized;
    BY_DRIVER(cudaGraphAddMemsetNode(node, graph, after, count, &params));
}

static unsigned add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct layers_copy *p,
                         void *context)
{
    struct cudaMemcpy3DParms params = copy_as_told(p);
    if (!driver_has_context(context))
        return cudaErrorDeviceUninitialized;
    BY_DRIVER(cudaGraphAddMemcpyNode(node, graph, after, count, &params));
}

static unsigned add_host(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct host_params *p)
{
    struct cudaHostNodeParams params = host_of(p);
    BY_DRIVER(cudaGraphAddHostNode(node, graph, after, device.faults.driver_host_node_first ? 0 : count, &params));
}

static unsigned add_empty(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    BY_DRIVER(cudaGraphAddEmptyNode(node, graph, after, device.faults.driver_empty_node_joins_less && count > 1 ? count - 1 : count));
}

static unsigned add_record(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event)
{
    BY_DRIVER(cudaGraphAddEventRecordNode(node, graph, device.faults.driver_record_node_first ? NULL : after,
                                          device.faults.driver_record_node_first ? 0 : count, event));
}

static unsigned add_await(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_await_node_empty ? cudaGraphAddEmptyNode(node, graph, after, count)
                                                    : cudaGraphAddEventWaitNode(node, graph, after, count, event));
}

/* As the runtime lays them out. */
static struct cudaGraphNodeParams any_of(const struct any_params *p)
{
    struct cudaGraphNodeParams all;
    memset(&all, 0, sizeof all);
    all.type = (enum cudaGraphNodeType)p->type;
    switch (p->type) {
    case cudaGraphNodeTypeKernel: {
        struct cudaKernelNodeParams kernel = kernel_of(&p->of.kernel);
        memcpy(&all.kernel, &kernel, sizeof kernel);
        break;
    }
    case cudaGraphNodeTypeMemset: {
        struct cudaMemsetParams set = set_of(&p->of.set.set);
        memcpy(&all.memset, &set, sizeof set);
        break;
    }
    case cudaGraphNodeTypeMemcpy: all.memcpy.copyParams = copy_as_told(&p->of.copy.copy); break;
    case cudaGraphNodeTypeHost:
        all.host.fn = p->of.host.fn;
        all.host.userData = p->of.host.data;
        break;
    case cudaGraphNodeTypeEventRecord: all.eventRecord.event = p->of.event; break;
    case cudaGraphNodeTypeWaitEvent: all.eventWait.event = p->of.event; break;
    default: break;
    }
    return all;
}

unsigned driver_add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const edge_data *data, size_t count,
                        const struct any_params *p)
{
    struct cudaGraphNodeParams params = any_of(p);
    BY_DRIVER(graph_add_node(node, graph, after, device.faults.driver_new_node_full ? NULL : data, count, &params));
}

/* ---- other parameters of a node ---- */

unsigned driver_set_kernel(cudaGraphNode_t node, const struct kernel_params *p)
{
    struct cudaKernelNodeParams params = kernel_of(p);
    BY_DRIVER(device.faults.driver_kernel_keeps_params ? cudaSuccess : cudaGraphKernelNodeSetParams(node, &params));
}

static unsigned set_set(cudaGraphNode_t node, const struct set_params *p)
{
    struct cudaMemsetParams params = set_of(p);
    BY_DRIVER(device.faults.driver_set_keeps_params ? cudaSuccess : cudaGraphMemsetNodeSetParams(node, &params));
}

static unsigned set_copy(cudaGraphNode_t node, const struct layers_copy *p)
{
    struct cudaMemcpy3DParms params = copy_as_told(p);
    BY_DRIVER(cudaGraphMemcpyNodeSetParams(node, &params));
}

static unsigned set_host(cudaGraphNode_t node, const struct host_params *p)
{
    struct cudaHostNodeParams params = host_of(p);
    BY_DRIVER(device.faults.driver_host_keeps_params ? cudaSuccess : cudaGraphHostNodeSetParams(node, &params));
}

static unsigned set_record(cudaGraphNode_t node, cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_record_keeps_event ? cudaSuccess : cudaGraphEventRecordNodeSetEvent(node, event));
}

static unsigned set_await(cudaGraphNode_t node, cudaEvent_t event)
{
    BY_DRIVER(cudaGraphEventWaitNodeSetEvent(node, event));
}

static unsigned set_any(cudaGraphNode_t node, const struct any_params *p)
{
    struct cudaGraphNodeParams params = any_of(p);
    BY_DRIVER(device.faults.driver_any_keeps_params ? cudaSuccess : cudaGraphNodeSetParams(node, &params));
}

/* ---- other parameters of a node of an executable graph ---- */

unsigned driver_set_exec_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct kernel_params *p)
{
    struct cudaKernelNodeParams params = kernel_of(p);
    BY_DRIVER(device.faults.driver_exec_kernel_keeps_params ? cudaSuccess : cudaGraphExecKernelNodeSetParams(exec, node, &params));
}

static unsigned set_exec_set(cudaGraphExec_t exec, cudaGraphNode_t node, const struct set_params *p, void *context)
{
    struct cudaMemsetParams params = set_of(p);
    if (!driver_has_context(context))
        return cudaErrorDeviceUninitialized;
    BY_DRIVER(device.faults.driver_exec_set_keeps_params ? cudaSuccess : cudaGraphExecMemsetNodeSetParams(exec, node, &params));
}

static unsigned set_exec_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const struct layers_copy *p, void *context)
{
    struct cudaMemcpy3DParms params = copy_as_told(p);
    if (!driver_has_context(context))
        return cudaErrorDeviceUninitialized;
    BY_DRIVER(device.faults.driver_exec_copy_keeps_params ? cudaSuccess : cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
}

static unsigned set_exec_host(cudaGraphExec_t exec, cudaGraphNode_t node, const struct host_params *p)
{
    struct cudaHostNodeParams params = host_of(p);
    BY_DRIVER(device.faults.driver_exec_host_keeps_params ? cudaSuccess : cudaGraphExecHostNodeSetParams(exec, node, &params));
}

static unsigned set_exec_record(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_exec_record_keeps_event ? cudaSuccess : cudaGraphExecEventRecordNodeSetEvent(exec, node, event));
}

static unsigned set_exec_await(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_exec_await_keeps_event ? cudaSuccess : cudaGraphExecEventWaitNodeSetEvent(exec, node, event));
}

static unsigned set_exec_any(cudaGraphExec_t exec, cudaGraphNode_t node, const struct any_params *p)
{
    struct cudaGraphNodeParams params = any_of(p);
    BY_DRIVER(device.faults.driver_exec_any_keeps_params ? cudaSuccess : cudaGraphExecNodeSetParams(exec, node, &params));
}

/* ---- what nodes tell ---- */

static cudaError_t tell_kernel_as_told(cudaGraphNode_t node, struct kernel_params *p)
{
    struct cudaKernelNodeParams told;
    cudaFunction_t function = NULL;
    cudaError_t error = cudaGraphKernelNodeGetParams(node, &told);
    if (error == cudaSuccess)
        error = cudaGetFuncBySymbol(&function, told.func);
    if (error != cudaSuccess)
        return error;
    *p = (struct kernel_params){.func = function,
                                .grid = {told.gridDim.x, told.gridDim.y, told.gridDim.z},
                                .block = {told.blockDim.x, told.blockDim.y, told.blockDim.z},
                                .shared_bytes = device.faults.driver_tells_node_unshared ? 0 : told.sharedMemBytes,
                                .params = told.kernelParams};
    if (device.faults.driver_tells_nodes_one_row)
        p->grid[1] = 1;
    return cudaSuccess;
}

unsigned driver_tell_kernel(cudaGraphNode_t node, struct kernel_params *p)
{
    BY_DRIVER(tell_kernel_as_told(node, p));
}

static cudaError_t tell_host_as_told(cudaGraphNode_t node, struct host_params *p)
{
    struct cudaHostNodeParams told = {0};
    cudaError_t error = cudaGraphHostNodeGetParams(node, &told);
    *p = (struct host_params){told.fn, device.faults.driver_tells_no_data ? NULL : told.userData};
    return error;
}

static unsigned tell_host(cudaGraphNode_t node, struct host_params *p)
{
    BY_DRIVER(tell_host_as_told(node, p));
}

static unsigned tell_recorded(cudaGraphNode_t node, cudaEvent_t *event)
{
    BY_DRIVER(device.faults.driver_tells_no_event ? cudaSuccess : cudaGraphEventRecordNodeGetEvent(node, event));
}

static unsigned tell_awaited(cudaGraphNode_t node, cudaEvent_t *event)
{
    BY_DRIVER(cudaGraphEventWaitNodeGetEvent(node, event));
}

static cudaError_t tell_type_as_told(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    cudaError_t error = cudaGraphNodeGetType(node, type);
    if (error == cudaSuccess && device.faults.driver_tells_sets_as_copies && *type == cudaGraphNodeTypeMemset)
        *type = cudaGraphNodeTypeMemcpy;
    return error;
}

static unsigned tell_type(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    BY_DRIVER(tell_type_as_told(node, type));
}

static const struct driver_function calls[] = {
    { "cuCtxGetCurrent", 4000, (any_function)current_context },
    { "cuGraphAddKernelNode", 12000, (any_function)driver_add_kernel },
    { "cuGraphAddMemsetNode", 10000, (any_function)add_set },
    { "cuGraphAddMemcpyNode", 10000, (any_function)add_copy },
    { "cuGraphAddHostNode", 10000, (any_function)add_host },
    { "cuGraphAddEmptyNode", 10000, (any_function)add_empty },
    { "cuGraphAddEventRecordNode", 11010, (any_function)add_record },
    { "cuGraphAddEventWaitNode", 11010, (any_function)add_await },
    { "cuGraphAddNode", 12030, (any_function)driver_add_any },
    { "cuGraphKernelNodeSetParams", 12000, (any_function)driver_set_kernel },
    { "cuGraphMemsetNodeSetParams", 10000, (any_function)set_set },
    { "cuGraphMemcpyNodeSetParams", 10000, (any_function)set_copy },
    { "cuGraphHostNodeSetParams", 10000, (any_function)set_host },
    { "cuGraphEventRecordNodeSetEvent", 11010, (any_function)set_record },
    { "cuGraphEventWaitNodeSetEvent", 11010, (any_function)set_await },
    { "cuGraphNodeSetParams", 12020, (any_function)set_any },
    { "cuGraphExecKernelNodeSetParams", 12000, (any_function)driver_set_exec_kernel },
    { "cuGraphExecMemsetNodeSetParams", 10020, (any_function)set_exec_set },
    { "cuGraphExecMemcpyNodeSetParams", 10020, (any_function)set_exec_copy },
    { "cuGraphExecHostNodeSetParams", 10020, (any_function)set_exec_host },
    { "cuGraphExecEventRecordNodeSetEvent", 11010, (any_function)set_exec_record },
    { "cuGraphExecEventWaitNodeSetEvent", 11010, (any_function)set_exec_await },
    { "cuGraphExecNodeSetParams", 12020, (any_function)set_exec_any },
    { "cuGraphKernelNodeGetParams", 12000, (any_function)driver_tell_kernel },
    { "cuGraphHostNodeGetParams", 10000, (any_function)tell_host },
    { "cuGraphEventRecordNodeGetEvent", 11010, (any_function)tell_recorded },
    { "cuGraphEventWaitNodeGetEvent", 11010, (any_function)tell_awaited },
    { "cuGraphNodeGetType", 10000, (any_function)tell_type },
};

any_function driver_node_call(const char *name, unsigned asked)
{
    return driver_named(calls, sizeof calls / sizeof calls[0], name, asked);
}
