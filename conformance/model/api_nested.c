/* Graphs inside graphs: child graphs, bodies of conditional nodes, clones, nodes that an executable graph leaves out. */
#include "api.h"

#include <stdlib.h>

/* What runs of a node's children, by the value of its condition. */
const struct graph *node_body_by(const struct node *n, unsigned value)
{
    bool by_condition = n->choice == BODY_IF || n->choice == BODY_LOOP;
    unsigned which = by_condition ? value == 0 : n->choice == BODY_SWITCH && !device.faults.switch_runs_first ? value : 0;
    if (device.faults.later_round_switch_first && n->choice == BODY_SWITCH && queued.rounds != 0)
        which = 0;
    if (device.faults.inner_condition_ignored && n->type == cudaGraphNodeTypeConditional && graph_is_inside(n->graph, cudaGraphNodeTypeConditional))
        which = 0;
    if (device.faults.inner_else_ignored && n->choice == BODY_IF && n->children == 2 && n->graph->owner != NULL)
        which = 0;
    if (device.faults.switch_by_one_byte && n->choice == BODY_SWITCH)
        which &= 255;
    if (device.faults.last_of_switch_idle && n->choice == BODY_SWITCH && n->children >= 3 && which + 1 == n->children)
        which = n->children;
    if (device.faults.ninth_of_switch_idle && n->choice == BODY_SWITCH && which >= 8)
        which = n->children;
    if (device.faults.if_by_one_byte && n->choice == BODY_IF && (value & 255) == 0)
        which = n->children;
    if (device.faults.idle_body_runs && n->type == cudaGraphNodeTypeConditional && n->children == 1)
        which = 0;
    return !n->disabled && which < n->children ? n->child[which] : NULL;
}

const struct graph *node_body(const struct node *n)
{
    bool body_keeps = device.faults.body_keeps_value && (n->choice == BODY_IF || n->choice == BODY_SWITCH);
    bool keeps = body_keeps || (device.faults.loop_keeps_value && n->choice == BODY_LOOP);
    return node_body_by(n, keeps ? condition_now(n->handle) : n->condition);
}

cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out)
{
    CALL(cudaGraphChildGraphNodeGetGraph);
    const struct node *n = node_of(node);
    FAIL_IF(out == NULL || n == NULL || n->type != cudaGraphNodeTypeGraph, cudaErrorInvalidValue);
    if (device.faults.clone_tells_original_child && n->original != NULL)
        n = n->original;
    *out = (cudaGraph_t)(void *)(device.faults.child_handle_is_copy ? graph_copy(n->child[0]) : n->child[0]);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original, cudaGraph_t clone)
{
    CALL(cudaGraphNodeFindInClone);
    const struct graph *g = graph_of(clone);
    FAIL_IF(out == NULL || node_of(original) == NULL || g == NULL, cudaErrorInvalidValue);
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->original == node_of(original)) {
            *out = (cudaGraphNode_t)(void *)g->node[device.faults.beyond_1024_found_is_neighbour && i >= 1024 ? i - 1 : i];
            return cudaSuccess;
        }
    if (device.faults.find_late_in_clone && g->copied_from == node_of(original)->graph->number && g->nodes != 0) {
        *out = (cudaGraphNode_t)(void *)g->node[g->nodes - 1];
        return cudaSuccess;
    }
    return call_result(cudaErrorInvalidValue);
}

/* The node of an executable graph, if it is of a kind that may be left out. */
static struct node *node_in(cudaGraphExec_t exec, cudaGraphNode_t handle)
{
    const struct node *n = node_of(handle);
    bool may_be_left_out = n != NULL && (n->type == cudaGraphNodeTypeKernel || n->type == cudaGraphNodeTypeMemcpy || n->type == cudaGraphNodeTypeMemset);
    return may_be_left_out ? exec_node(exec, handle, n->type) : NULL;
}

static void memsets_follow(const struct graph *g, bool enabled)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->type == cudaGraphNodeTypeMemset)
            g->node[i]->disabled = !enabled;
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    CALL(cudaGraphNodeSetEnabled);
    device.changed_graph_at = device.serial;
    struct node *n = node_in(exec, node);
    if (n == NULL && exec_of(exec) != NULL && exec_of(exec)->copy->nodes != 0 && device.faults.refused_disabling_takes_first)
        exec_of(exec)->copy->node[0]->disabled = true;
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    if (device.faults.other_thread_enabling_ignored && device.other_thread)
        return cudaSuccess;
    struct graph_exec *e = exec_of(exec);
    if ((device.faults.uploaded_takes_no_disabling && enabled == 0 && (e->features & HAS(uploaded)) != 0) ||
        (device.faults.capture_forbids_disabling && enabled == 0 && capture_is_active()))
        return cudaSuccess;
    if (enabled == 0 && change_is_lost(e, CHANGE_DISABLES))
        return cudaSuccess;
    bool runs = e->running != NULL && !e->running->retired && n->op != NULL && !n->op->done;
    if (device.faults.disabling_stops_memset && enabled == 0 && runs && n->op->kind == OP_SET)
        n->op->move.rows = 0;
    if (device.faults.enabling_frees_exec || (device.faults.disabling_again_frees_exec && enabled == 0 && n->disabled))
        e->running = NULL;
    if (device.faults.disabling_forgets_events && enabled == 0 && e->running != NULL && !e->running->retired)
        e->in->waits = 0;
    conditions_stay(e, device.faults.enabling_takes_left_condition && n->disabled && enabled != 0);
    n->reenabled |= n->disabled && enabled != 0;
    n->given_while_out &= enabled == 0;
    if (device.faults.disabling_takes_memsets && n->type == cudaGraphNodeTypeMemset)
        memsets_follow(e->copy, enabled != 0);
    n->disabled = enabled == 0 || (device.faults.enabled_by_one_only && enabled != 1) || (device.faults.enabling_ignored && n->disabled);
    bool counts = device.faults.disabling_is_counted || device.faults.enabling_is_counted;
    n->told_disabled += enabled == 0 ? 1 : n->told_disabled > 0 || device.faults.enabling_is_counted ? -1 : 0;
    if (device.faults.enabling_is_counted && n->told_disabled > 1)
        n->told_disabled = 1;
    if (counts)
        n->disabled = n->told_disabled > 0;
    if (device.faults.disabling_reaches_siblings && enabled == 0)
        execs_disable(n);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    CALL(cudaGraphNodeGetEnabled);
    const struct node *n = node_in(exec, node);
    FAIL_IF(n == NULL || enabled == NULL, cudaErrorInvalidValue);
    if (device.faults.sibling_tells_enabled)
        n = execs_oldest(n);
    bool updated = (exec_of(exec)->features & HAS(updated)) != 0;
    bool always = device.faults.enabled_always || (device.faults.captured_told_enabled && n->captured);
    *enabled = !n->disabled || always || (device.faults.enabled_told_after_update && updated);
    return cudaSuccess;
}

/* "The graph cannot be used in a child node. [...] The graph cannot be cloned." */
bool graph_has_condition(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        const struct node *n = g->node[i];
        if (n->type == cudaGraphNodeTypeConditional)
            return true;
        for (unsigned c = 0; c < n->children; c++)
            if (graph_has_condition(n->child[c]))
                return true;
    }
    return false;
}

/* cudaConditionalNodeParams: what a body may hold, at any depth. */
static bool may_be_in_body(const struct node *n)
{
    if (n->type == cudaGraphNodeTypeEventRecord || n->type == cudaGraphNodeTypeWaitEvent)
        return device.faults.event_node_in_body;
    return n->type != cudaGraphNodeTypeHost || device.faults.host_node_in_body;
}

bool bodies_hold_the_allowed(const struct graph *g, bool in_body)
{
    for (size_t i = 0; i < g->nodes; i++) {
        const struct node *n = g->node[i];
        if (in_body && !may_be_in_body(n))
            return false;
        for (unsigned c = 0; c < n->children; c++)
            if (!bodies_hold_the_allowed(n->child[c], in_body || n->type == cudaGraphNodeTypeConditional))
                return false;
    }
    return true;
}

#if CUDART_VERSION >= 12030

/* For the device handles-by-four-bits: the handle that was made sixteen before the next one of this graph; 0: none, or another device */
static unsigned long long handle_sixteen_before(const struct graph *g)
{
    const struct condition *c = device.faults.handles_by_four_bits ? g->conditions : NULL; /* the newest one comes first */
    for (unsigned i = 1; i < 16 && c != NULL; i++)
        c = c->next;
    return c != NULL ? c->handle : 0;
}

cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned value,
                                                       unsigned flags)
{
    CALL(cudaGraphConditionalHandleCreate);
    struct graph *g = graph_of(graph);
    FAIL_IF(out == NULL || g == NULL || (flags > cudaGraphCondAssignDefault && !device.faults.handle_flags_taken), cudaErrorInvalidValue);
    struct condition *c = calloc(1, sizeof *c);
    FAIL_IF(c == NULL, cudaErrorMemoryAllocation);
    c->handle = condition_new(handle_sixteen_before(g));
    c->undecided = flags != cudaGraphCondAssignDefault;
    c->value = c->undecided ? 0 : value;
    condition_set(c->handle, c->value);
    c->next = g->conditions;
    g->conditions = c;
    *out = c->handle;
    return cudaSuccess;
}

static const struct condition *condition_of(const struct graph *g, unsigned long long handle)
{
    for (const struct graph *at = g; at != NULL; at = at->owner != NULL ? at->owner->graph : NULL)
        for (const struct condition *c = at->conditions; c != NULL; c = c->next)
            if (c->handle == handle || device.faults.handles_confused)
                return c;
    return NULL;
}

static bool bodies_sound(const struct cudaConditionalNodeParams *p)
{
    if (p->type == cudaGraphCondTypeWhile)
        return p->size == 1 || (p->size == 2 && device.faults.two_loop_bodies_taken);
    if (p->type == cudaGraphCondTypeIf)
        return p->size == 1 || p->size == 2 || (p->size == 3 && device.faults.three_bodies_taken) || (p->size == 0 && device.faults.no_body_taken);
    return (int)p->type == 2 && p->size >= 1 && p->size <= MODEL_BODIES; /* switch, from 12.8 on */
}

static struct node *conditional_node(struct graph *g, struct cudaConditionalNodeParams *p)
{
    const struct condition *c = condition_of(g, p->handle);
    static const struct condition unknown;
    if (c == NULL && device.faults.foreign_handle_taken)
        c = &unknown;
    if (c == NULL || !bodies_sound(p))
        return NULL;
    struct node *n = node_new(g, cudaGraphNodeTypeConditional);
    bool runs_all_the_same = device.faults.idle_loop_runs && p->type == cudaGraphCondTypeWhile;
    bool loops = p->type == cudaGraphCondTypeWhile && !runs_all_the_same;
    n->choice = (int)p->type == 2 ? BODY_SWITCH : runs_all_the_same ? BODY_ALWAYS : loops ? BODY_LOOP : BODY_IF;
    n->handle = c->handle;
    n->undecided = c->undecided;
    n->condition = c->value;
    n->body = calloc(p->size, sizeof *n->body);
    if (n->body == NULL)
        abort();
    for (unsigned i = 0; i < p->size; i++) {
        node_owns(n, graph_new());
        n->body[i] = (cudaGraph_t)(void *)n->child[i];
    }
    p->phGraph_out = n->body;
    return n;
}

struct node *nested_node(struct graph *g, struct cudaGraphNodeParams *p)
{
    if (p->type == cudaGraphNodeTypeConditional)
        return conditional_node(g, &p->conditional);
    struct graph *child = graph_of(p->graph.graph);
    if (child == NULL || child == g || child->owner != NULL || graph_has_condition(child))
        return NULL;
    struct node *n = node_new(g, cudaGraphNodeTypeGraph);
#if CUDART_VERSION >= 12090
    if (p->graph.ownership == cudaGraphChildGraphOwnershipMove || device.faults.clone_is_moved) {
        node_owns(n, child);
        child->moved = true;
        if (device.faults.moved_edges_full)
            edges_become_full(child);
        return n;
    }
#endif
    node_owns(n, graph_copy(child));
    n->child_of = child->number;
    return n;
}

#endif

/* A child graph of as many nodes as the one before it gets that one's edges. */
static void edges_of_child_before(struct graph *copy, const struct node *n)
{
    const struct node *before = n->index > 0 ? n->graph->node[n->index - 1] : NULL;
    if (before == NULL || before->type != cudaGraphNodeTypeGraph || before->child[0]->nodes != copy->nodes)
        return;
    while (copy->arcs != 0)
        graph_drop_last_arc(copy);
    for (size_t i = 0; i < before->child[0]->arcs; i++) {
        const struct arc *a = &before->child[0]->arc[i];
        (void)graph_connect(copy, copy->node[a->from->index], copy->node[a->to->index], a->data);
    }
}

cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                                 size_t count, cudaGraph_t child)
{
    CALL(cudaGraphAddChildGraphNode);
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || graph_of(child) == NULL, cudaErrorInvalidValue);
    FAIL_IF(graph_has_condition(graph_of(child)), cudaErrorInvalidValue);
    struct node *n = node_new(graph_of(graph), cudaGraphNodeTypeGraph);
    struct graph *copy = graph_copy(graph_of(child));
    if (device.faults.child_takes_no_object)
        objects_lose(copy);
    graph_loses_values(copy);
    if (device.faults.child_edges_full)
        edges_become_full(copy);
    if (device.faults.second_child_takes_edges)
        edges_of_child_before(copy, n);
    node_owns(n, copy);
    n->child_of = copy->copied_from;
    return node_finish(out, n, deps, NULL, count);
}
