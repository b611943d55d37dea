/* Nodes that record an event or wait for one, in a graph or in an executable one. */
#include "api.h"

/* "These nodes may not be used in loops or conditionals." */
static bool in_body(const struct graph *g)
{
    for (; g->owner != NULL; g = g->owner->graph)
        if (g->owner->type == cudaGraphNodeTypeConditional)
            return true;
    return false;
}

struct node *event_node(struct graph *g, enum cudaGraphNodeType type, cudaEvent_t event)
{
    if (event_of(event) == NULL || in_body(g))
        return NULL;
    struct node *n = node_new(g, type);
    n->event = event;
    return n;
}

static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, cudaEvent_t event,
                       enum cudaGraphNodeType type)
{
    FAIL_IF(out == NULL || graph_of(graph) == NULL || (count != 0 && deps == NULL), cudaErrorInvalidValue);
    struct node *n = event_node(graph_of(graph), type, event);
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    return node_finish(out, n, deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                                  cudaEvent_t event)
{
    CALL(cudaGraphAddEventRecordNode);
    return add(out, graph, deps, count, event, cudaGraphNodeTypeEventRecord);
}

cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                                cudaEvent_t event)
{
    CALL(cudaGraphAddEventWaitNode);
    return add(out, graph, deps, count, event, cudaGraphNodeTypeWaitEvent);
}

/* ---- other events ---- */

static cudaError_t event_changes(struct node *n, cudaEvent_t event)
{
    FAIL_IF(n == NULL || event_of(event) == NULL, cudaErrorInvalidValue);
    n->event = event;
    return cudaSuccess;
}

static struct node *of_type(cudaGraphNode_t handle, enum cudaGraphNodeType type)
{
    struct node *n = node_of(handle);
    return n != NULL && n->type == type ? n : NULL;
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphEventRecordNodeSetEvent);
    return event_changes(of_type(node, cudaGraphNodeTypeEventRecord), event);
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphEventWaitNodeSetEvent);
    return event_changes(of_type(node, cudaGraphNodeTypeWaitEvent), event);
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphExecEventRecordNodeSetEvent);
    struct node *n = exec_node(exec, node, cudaGraphNodeTypeEventRecord);
    if (device.faults.record_node_keeps_event && n != NULL)
        return cudaSuccess;
    return event_changes(n, event);
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphExecEventWaitNodeSetEvent);
    struct node *n = exec_node(exec, node, cudaGraphNodeTypeWaitEvent);
    if (device.faults.wait_node_keeps_event && n != NULL)
        return cudaSuccess;
    return event_changes(n, event);
}

static cudaError_t event_of_node(cudaGraphNode_t handle, enum cudaGraphNodeType type, cudaEvent_t *out)
{
    const struct node *n = of_type(handle, type);
    FAIL_IF(n == NULL || out == NULL, cudaErrorInvalidValue);
    *out = n->event;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    CALL(cudaGraphEventRecordNodeGetEvent);
    return event_of_node(node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    CALL(cudaGraphEventWaitNodeGetEvent);
    return event_of_node(node, cudaGraphNodeTypeWaitEvent, event);
}

/* ---- the general calls ---- */

#if CUDART_VERSION >= 12020
static cudaError_t changes(struct node *n, const struct cudaGraphNodeParams *p)
{
    const struct cudaMemcpy3DParms *copy = &p->memcpy.copyParams;
    struct cudaMemsetParams set = {p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height};
    struct cudaKernelNodeParams kernel = {p->kernel.func,           p->kernel.gridDim,      p->kernel.blockDim,
                                          p->kernel.sharedMemBytes, p->kernel.kernelParams, p->kernel.extra};
    switch ((int)p->type) {
    case cudaGraphNodeTypeKernel: return kernel_replace(n->kernel, &kernel);
    case cudaGraphNodeTypeMemset:
        FAIL_IF(!set_sound(&set), cudaErrorInvalidValue);
        set_fill(n, &set);
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        FAIL_IF(copy->srcPtr.ptr == NULL || copy->dstPtr.ptr == NULL || copy->extent.width == 0, cudaErrorInvalidValue);
        n->move.to = (char *)copy->dstPtr.ptr + copy->dstPos.x;
        n->move.from = (const char *)copy->srcPtr.ptr + copy->srcPos.x;
        n->move.bytes = copy->extent.width;
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        FAIL_IF(p->host.fn == NULL, cudaErrorInvalidValue);
        n->host.fn = p->host.fn;
        n->host.userData = p->host.userData;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: return event_changes(n, p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent: return event_changes(n, p->eventWait.event);
    default: return call_result(cudaErrorNotSupported);
    }
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    CALL(cudaGraphNodeSetParams);
    FAIL_IF(p == NULL || of_type(node, p->type) == NULL, cudaErrorInvalidValue);
    return changes(node_of(node), p);
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    CALL(cudaGraphExecNodeSetParams);
    struct node *n = p != NULL ? exec_node(exec, node, p->type) : NULL;
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    if (device.faults.general_params_ignored && exec_of(exec)->launches != 0)
        return cudaSuccess;
    return changes(n, p);
}
#endif
