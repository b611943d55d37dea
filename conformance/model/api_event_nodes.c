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
    if (event_of(event) == NULL || (in_body(g) && !device.faults.event_node_in_body))
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

cudaError_t event_changes(struct node *n, cudaEvent_t event)
{
    if (n != NULL && event == NULL && device.faults.no_event_taken)
        return cudaSuccess;
    FAIL_IF(n == NULL || event_of(event) == NULL, cudaErrorInvalidValue);
    n->old_event = n->event;
    n->event = event;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphEventRecordNodeSetEvent);
    if (device.faults.record_told_as_before && node_of_type(node, cudaGraphNodeTypeEventRecord) != NULL)
        return cudaSuccess;
    return event_changes(node_of_type(node, cudaGraphNodeTypeEventRecord), event);
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphEventWaitNodeSetEvent);
    return event_changes(node_of_type(node, cudaGraphNodeTypeWaitEvent), event);
}

static void lets_go(struct op *op, struct op *waiter)
{
    for (struct edge *e = op->out; e != NULL && !op->retired; e = e->next)
        if (e->to == waiter && !e->used && e->kind != EDGE_COVER) {
            e->used = true;
            op_submit(waiter); /* one less to wait for */
        }
}

/* What another event changes of a launch that is under way, on the devices where it does. */
static void event_reaches_launch(const struct graph_exec *e, const struct node *n, cudaEvent_t event)
{
    struct event *was = event_of(n->event);
    if (e->running == NULL || e->running->retired || n->op == NULL || n->op->done || was == NULL || event_of(event) == NULL)
        return;
    if (device.faults.event_reaches_record_to_come && n->type == cudaGraphNodeTypeEventRecord && was->op == n->op) {
        was->op = NULL;
        event_takes(event_of(event), RECORDED_ORDINARY, n->op, false);
    }
    if (device.faults.event_reaches_wait_to_come && n->type == cudaGraphNodeTypeWaitEvent && was->op != NULL)
        lets_go(was->op, n->op);
}

static cudaError_t exec_event_changes(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t event, bool keeps)
{
    struct node *n = exec_node(exec, node, type);
    if (n != NULL) {
        exec_of(exec)->event_given = true;
        event_reaches_launch(exec_of(exec), n, event);
        if (device.faults.event_given_frees_exec)
            exec_of(exec)->running = NULL;
    }
    keeps |= device.faults.other_thread_event_not_taken && device.other_thread;
    keeps |= device.faults.exec_takes_no_third_event && n != NULL && n->old_event != NULL && event != n->old_event;
    keeps |= device.faults.captured_takes_no_event && n != NULL && n->captured;
    keeps |= device.faults.event_after_update_lost && n != NULL && (exec_of(exec)->features & HAS(updated)) != 0;
    return keeps && n != NULL ? cudaSuccess : event_changes(n, event);
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphExecEventRecordNodeSetEvent);
    return exec_event_changes(exec, node, cudaGraphNodeTypeEventRecord, event, device.faults.record_node_keeps_event);
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    CALL(cudaGraphExecEventWaitNodeSetEvent);
    return exec_event_changes(exec, node, cudaGraphNodeTypeWaitEvent, event, device.faults.wait_node_keeps_event);
}

static cudaError_t event_of_node(cudaGraphNode_t handle, enum cudaGraphNodeType type, cudaEvent_t *out)
{
    const struct node *n = node_of_type(handle, type);
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
