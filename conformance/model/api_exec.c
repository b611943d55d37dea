/* Executable graphs that are made with parameters; nodes that get other ones, of a graph or of an executable one. */
#include "api.h"
#include "choices.h"

#include <string.h>

/* ---- made with parameters ---- */

static void tell_instance(cudaGraphInstantiateParams *p, const struct graph *g, cudaError_t error)
{
    const struct node *offending = NULL;
    if (error != cudaSuccess && g != NULL && g->nodes != 0 && graph_has_cycle(g))
        offending = g->node[0];
    p->result_out = error == cudaSuccess || device.faults.refused_instance_told_made ? cudaGraphInstantiateSuccess
                    : offending != NULL ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateError;
    memcpy(&p->errNode_out, &offending, sizeof p->errNode_out);
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphInstantiateParams *p)
{
    CALL(cudaGraphInstantiateWithParams);
    FAIL_IF(p == NULL, cudaErrorInvalidValue);
    cudaError_t error = graph_instantiate(out, graph, device.faults.params_lose_flags ? 0 : p->flags);
    if (error == cudaSuccess && device.faults.instance_with_params_loses_edge)
        graph_drop_last_arc(exec_of(*out)->copy);
    if (error == cudaSuccess && (p->flags & cudaGraphInstantiateFlagUpload) != 0) {
        error = graph_upload(*out, p->uploadStream);
        exec_of(*out)->uploaded_in = stream_of(p->uploadStream);
        if (error == cudaSuccess && device.faults.upload_with_params_cuts)
            stream_cuts(stream_of(p->uploadStream));
    }
    bool untold = error == cudaSuccess && device.faults.large_instance_untold && exec_of(*out)->copy->nodes > 8;
    if (!device.faults.instance_with_params_untold && !untold)
        tell_instance(p, graph_of(graph), error);
    return error;
}

/* ---- node by node ---- */

/* The node of an executable graph that stands for one of the graph it was made from, whatever became of others of that graph. */
struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t handle, enum cudaGraphNodeType type)
{
    const struct graph_exec *e = exec_of(exec);
    const struct node *n = node_of(handle);
    if (e != NULL)
        exec_ends_loops(e);
    for (size_t i = 0; e != NULL && n != NULL && i < e->copy->nodes; i++)
        if (e->copy->node[i]->original == n)
            return n->type == type && e->copy->node[i]->type == type ? e->copy->node[i] : NULL;
    return NULL;
}

bool requests_seem_same(const struct request *is, const struct request *was)
{
    bool shared = is->shared_bytes == was->shared_bytes || device.faults.params_compared_without_shared;
    bool z = is->grid[2] == was->grid[2] || device.faults.params_compared_without_grid_z;
    return shared && z && is->kernel == was->kernel && memcmp(is->grid, was->grid, 2 * sizeof is->grid[0]) == 0 &&
           memcmp(is->block, was->block, sizeof is->block) == 0 && memcmp(is->args, was->args, is->kernel->args_bytes) == 0;
}

/* Whether a node of any executable graph of one graph was given these parameters last. */
static bool given_elsewhere(const struct graph_exec *e, const struct node *n, uint64_t does)
{
    static uint64_t graph, given;
    static unsigned place;
    bool is_same = graph == e->made_from && place == n->index && given == does;
    graph = e->made_from;
    place = n->index;
    given = does;
    return is_same;
}

/* On devices that find that nothing has changed the node does what it did. */
static void does_as_before(const struct graph_exec *e, struct node *n, const struct request *before)
{
    const struct faults *f = &device.faults;
    const uint64_t does = f->same_params_ignored || f->params_given_elsewhere_ignored ? node_does(n, 0) : 0;
    if (f->params_given_elsewhere_ignored && given_elsewhere(e, n, does))
        request_copy(n->kernel, before);
    bool compares = f->params_compared_without_shared || f->params_compared_without_grid_z;
    if ((f->same_params_ignored && does == n->given_last) || (compares && requests_seem_same(n->kernel, before)))
        request_copy(n->kernel, before);
    n->given_last = does;
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                                       const struct cudaKernelNodeParams *p)
{
    CALL(cudaGraphExecKernelNodeSetParams);
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeKernel);
    if (n == NULL && node_of(handle) != NULL && device.faults.kernel_params_for_memset)
        return cudaSuccess;
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    const struct graph_exec *e = exec_of(exec);
    if (device.faults.params_to_neighbour) {
        FAIL_IF(n->index + 1 >= e->copy->nodes || e->copy->node[n->index + 1]->kernel == NULL, cudaErrorInvalidValue);
        n = e->copy->node[n->index + 1];
    }
    bool ignored = (device.faults.params_after_launch_ignored && e->features & HAS(again)) || (device.faults.late_params_ignored && e->launches > 1) ||
                   (device.faults.other_thread_params_ignored && device.other_thread) ||
                   (device.faults.disabled_takes_no_params && n->disabled) || (device.faults.captured_params_ignored && n->captured);
    ignored |= device.faults.params_of_cloned_exec_ignored && n->original->original != NULL;
    ignored |= device.faults.tenth_params_ignored && n->renewed++ >= 10;
    ignored |= change_is_lost(exec_of(exec), CHANGE_PARAMS);
    ignored |= device.faults.disabled_takes_one_params && n->given_while_out;
    n->given_while_out = n->disabled;
    if (device.faults.params_while_out_uncover)
        arcs_lose(e->copy, n);
    bool rests = exec_under_way(e) && n->op != NULL && !n->op->ready;
    ignored |= device.faults.params_under_way_lost && rests;
    struct node *next = n->index + 1 < e->copy->nodes ? e->copy->node[n->index + 1] : NULL;
    if (device.faults.params_to_next_too && next != NULL && next->kernel != NULL)
        (void)kernel_replace(next->kernel, p);
    if (ignored || (device.faults.second_params_ignored && n->renewed++ != 0))
        return cudaSuccess;
    n->disabled &= !device.faults.params_enable;
    conditions_stay(e, device.faults.params_take_left_condition);
    n->given = true;
    static struct request before;
    request_copy(&before, n->kernel);
    unsigned grid_y = n->kernel->grid[1];
    unsigned counted = n->kernel->counted != 0 ? n->kernel->counted : request_blocks(n->kernel);
    cudaError_t error = kernel_replace(n->kernel, p);
    n->kernel->counted = device.faults.params_keep_trigger_count && request_blocks(n->kernel) > counted ? counted : 0;
    n->kernel->cooperative &= !device.faults.exec_params_lose_cooperative;
    if (device.faults.late_function_uncovered && e->launches != 0)
        request_keeps_function(n->kernel, before.kernel);
    if (error == cudaSuccess)
        does_as_before(e, n, &before);
    if (device.faults.sibling_params_reach_rest && error == cudaSuccess)
        execs_rest_set(n);
    if (device.faults.refused_params_free_exec && error != cudaSuccess)
        exec_of(exec)->running = NULL;
    if (device.faults.exec_params_keep_grid_y)
        n->kernel->grid[1] = grid_y;
    bool same = function_find(p->func) != NULL && function_find(p->func)->kernel == n->kernel->kernel;
    if (error != cudaSuccess && device.faults.refused_params_give_args && same && p->gridDim.x == 0 && p->kernelParams != NULL)
        memcpy(n->kernel->args, p->kernelParams[0], n->kernel->kernel->args_bytes);
    if (error != cudaSuccess && device.faults.refused_params_shrink_exec)
        n->kernel->grid[0] = 1;
    n->disabled |= error != cudaSuccess && device.faults.refused_params_disable;
    bool runs = e->running != NULL && !e->running->retired && n->op != NULL && n->op->grid != NULL && !n->op->ready;
    if ((device.faults.params_reach_running && runs) || (device.faults.params_reach_rest && rests))
        memcpy(n->op->grid->args, n->kernel->args, n->op->grid->kernel->args_bytes);
    return error;
}

struct node *node_of_type(cudaGraphNode_t handle, enum cudaGraphNodeType type)
{
    struct node *n = node_of(handle);
    return n != NULL && n->type == type ? n : NULL;
}

static cudaError_t set_changes(struct node *n, const struct cudaMemsetParams *p)
{
    FAIL_IF(n == NULL || !set_sound(p), cudaErrorInvalidValue);
    set_fill(n, p);
    return cudaSuccess;
}

static cudaError_t move_changes(struct node *n, struct move move)
{
    FAIL_IF(n == NULL || move.to == NULL || move.from == NULL, cudaErrorInvalidValue);
    n->move = move;
    return cudaSuccess;
}

static cudaError_t rows_change(struct node *n, const struct cudaMemcpy3DParms *p)
{
    FAIL_IF(p == NULL || !rows_sound(p) || p->extent.width == 0, cudaErrorInvalidValue);
    FAIL_IF(device.faults.narrow_rows_refused && p->extent.width == 1, cudaErrorInvalidValue);
    struct move move = copy_of(p);
    if (device.faults.rows_params_keep_pitch && n != NULL && n->move.rows > 1)
        move.from_pitch = n->move.from_pitch;
    if (device.faults.rows_params_keep_layer && n != NULL && n->move.layers > 1 && move.layers > 1)
        move.from_layer = n->move.from_layer;
    if (device.faults.rows_params_copy_one)
        move.rows = 1;
    return move_changes(n, move);
}

/* "Either the original or new memory operands" may not be multidimensional. */
static cudaError_t exec_rows_change(struct node *n, const struct cudaMemcpy3DParms *p)
{
    bool rows = n != NULL && p != NULL && (n->move.rows > 1 || p->extent.height > 1);
    if (rows && device.faults.exec_rows_ignored)
        return cudaSuccess;
    if (rows && device.faults.refused_rows_half_taken)
        n->move.rows = 1;
    FAIL_IF(n == NULL || p == NULL || rows, cudaErrorInvalidValue);
    return rows_change(n, p);
}

static cudaError_t copy_changes(struct node *n, void *to, const void *from, size_t bytes)
{
    return move_changes(n, (struct move){.to = to, .from = from, .bytes = bytes, .rows = 1});
}

static cudaError_t host_changes(struct node *n, const struct cudaHostNodeParams *p)
{
    if (n != NULL && p != NULL && p->fn == NULL && device.faults.hostless_params_taken)
        return cudaSuccess;
    FAIL_IF(n == NULL || p == NULL || p->fn == NULL, cudaErrorInvalidValue);
    n->host = *p;
    return cudaSuccess;
}

static cudaError_t source_changed(cudaGraphNode_t handle, cudaError_t error)
{
    if (error == cudaSuccess && device.faults.source_moves_copies)
        graphs_follow(node_of(handle));
    return error;
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t handle, const struct cudaMemsetParams *p)
{
    CALL(cudaGraphMemsetNodeSetParams);
    struct node *n = node_of_type(handle, cudaGraphNodeTypeMemset);
    if (n != NULL && node_is_fixed(n))
        return cudaSuccess;
    size_t rows = n != NULL ? n->move.rows : 0;
    void *to = n != NULL ? n->move.to : NULL;
    uint32_t value = n != NULL ? n->move.value : 0;
    cudaError_t error = set_changes(n, p);
    if (device.faults.captured_set_keeps_value && error == cudaSuccess && n->captured)
        n->move.value = value;
    if (device.faults.clone_set_keeps_place && error == cudaSuccess && n->original != NULL)
        n->move.to = to;
    if (device.faults.source_memset_params_keep_rows && error == cudaSuccess)
        n->move.rows = rows;
    bool in_body = n != NULL && graph_is_inside(n->graph, cudaGraphNodeTypeConditional);
    bool in_child = n != NULL && graph_is_inside(n->graph, cudaGraphNodeTypeGraph);
    if ((device.faults.body_set_changes_copies && in_body) || (device.faults.child_set_changes_copies && in_child))
        graphs_follow(n);
    return source_changed(handle, error);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void *to, const void *from, size_t bytes,
                                                     enum cudaMemcpyKind kind)
{
    CALL(cudaGraphMemcpyNodeSetParams1D);
    (void)kind;
    struct node *n = node_of_type(handle, cudaGraphNodeTypeMemcpy);
    if (n != NULL && node_is_fixed(n))
        return cudaSuccess;
    struct move old = n != NULL ? n->move : (struct move){0};
    cudaError_t error = copy_changes(n, to, from, bytes);
    if (device.faults.copy_params_keep_target && error == cudaSuccess)
        n->move.to = old.to;
    if (device.faults.copy_params_keep_source && error == cudaSuccess)
        n->move.from = old.from;
    return source_changed(handle, error);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t handle, const struct cudaMemcpy3DParms *p)
{
    CALL(cudaGraphMemcpyNodeSetParams);
    struct node *n = node_of_type(handle, cudaGraphNodeTypeMemcpy);
    if (n != NULL && node_is_fixed(n))
        return cudaSuccess;
    return source_changed(handle, rows_change(n, p));
}

cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t handle, const struct cudaHostNodeParams *p)
{
    CALL(cudaGraphHostNodeSetParams);
    struct node *n = node_of_type(handle, cudaGraphNodeTypeHost);
    if (n != NULL && node_is_fixed(n))
        return cudaSuccess;
    return host_changes(n, p);
}

/* Whether the memset is taken for the one before, on devices that do not compare all of it. */
static bool set_seems_same(const struct move *is, const struct move *was)
{
    if (was->width == 0 || is->to != was->to || is->value != was->value || is->rows != was->rows || is->bytes / is->width != was->bytes / was->width)
        return false;
    bool element = is->width == was->width, pitch = is->pitch == was->pitch;
    return (device.faults.sets_compared_without_element && pitch) || (device.faults.sets_compared_without_pitch && element);
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle, const struct cudaMemsetParams *p)
{
    CALL(cudaGraphExecMemsetNodeSetParams);
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeMemset);
    if ((device.faults.second_exec_takes_no_set && n != NULL && exec_of(exec)->features & HAS(secondexec)) ||
        (device.faults.refused_exec_takes_no_set && n != NULL && exec_of(exec)->refused))
        return cudaSuccess;
    if (n != NULL && ((device.faults.captured_exec_set_fixed && n->captured) || (device.faults.disabled_takes_no_set && n->disabled)))
        return cudaSuccess;
    if (n != NULL && change_is_lost(exec_of(exec), CHANGE_SET))
        return cudaSuccess;
    uint32_t value = n != NULL ? n->move.value : 0;
    size_t element = n != NULL ? n->move.width : 0;
    const struct move before = n != NULL ? n->move : (struct move){0};
    cudaError_t error = set_changes(n, p);
    if (error == cudaSuccess && set_seems_same(&n->move, &before))
        n->move = before;
    if (error == cudaSuccess)
        n->given = true;
    if (device.faults.exec_set_keeps_element && error == cudaSuccess)
        keep_element(&n->move, element);
    if (device.faults.refused_set_params_stop && error != cudaSuccess && n != NULL)
        n->move.rows = 0;
    if (device.faults.set_params_reach_rest && error == cudaSuccess && exec_under_way(exec_of(exec)) && !n->op->ready)
        n->op->move = n->move;
    if (device.faults.set_params_keep_value && error == cudaSuccess)
        n->move.value = value;
    if (device.faults.memset_params_enable && error == cudaSuccess)
        n->disabled = false;
    if (device.faults.set_params_to_siblings && error == cudaSuccess)
        execs_set(n);
    if (device.faults.sibling_params_reach_rest && error == cudaSuccess)
        execs_rest_set(n);
    return error;
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t handle, void *to, const void *from,
                                                         size_t bytes, enum cudaMemcpyKind kind)
{
    CALL(cudaGraphExecMemcpyNodeSetParams1D);
    (void)kind;
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeMemcpy);
    size_t before = n != NULL ? n->move.bytes : 0;
    bool multidimensional = n != NULL && (n->move.rows > 1 || n->move.layers > 1);
    if (multidimensional && device.faults.rows_take_one)
        return cudaSuccess;
    if (n != NULL && change_is_lost(exec_of(exec), CHANGE_COPY))
        return cudaSuccess;
    FAIL_IF(multidimensional, cudaErrorInvalidValue); /* "the original memory operands are multidimensional" */
    cudaError_t error = copy_changes(n, to, from, device.faults.copy_params_keep_size ? before : bytes);
    if (device.faults.refused_copy_params_stop && error != cudaSuccess && n != NULL)
        n->move.rows = 0;
    if (device.faults.copy_params_enable && error == cudaSuccess)
        n->disabled = false;
    return error;
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle, const struct cudaMemcpy3DParms *p)
{
    CALL(cudaGraphExecMemcpyNodeSetParams);
    if (device.faults.exec_copy_params_ignored)
        return cudaSuccess;
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeMemcpy);
    cudaError_t error = exec_rows_change(n, p);
    if (error == cudaSuccess && n != NULL)
        n->given = true;
    return error;
}

cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle, const struct cudaHostNodeParams *p)
{
    CALL(cudaGraphExecHostNodeSetParams);
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeHost);
    if (n != NULL && change_is_lost(exec_of(exec), CHANGE_HOST))
        return cudaSuccess;
    cudaHostFn_t function = n != NULL ? n->host.fn : NULL;
    cudaError_t error = host_changes(n, p);
    if (error == cudaSuccess && n != NULL)
        n->given = true;
    if (device.faults.refused_host_params_forget_data && error != cudaSuccess && n != NULL)
        n->host.userData = p != NULL ? p->userData : NULL;
    if (device.faults.host_params_keep_function && error == cudaSuccess)
        n->host.fn = function;
    if (device.faults.sibling_params_reach_rest && error == cudaSuccess)
        execs_rest_set(n);
    return error;
}

cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle, cudaGraph_t child)
{
    CALL(cudaGraphExecChildGraphNodeSetParams);
    struct node *n = exec_node(exec, handle, cudaGraphNodeTypeGraph);
    FAIL_IF(n == NULL || graph_of(child) == NULL, cudaErrorInvalidValue);
    const struct node *first = graph_of(child)->nodes != 0 ? graph_of(child)->node[0] : NULL;
    if (device.faults.refused_child_sticks && first != NULL && first->kernel != NULL && n->child[0]->nodes != 0 && n->child[0]->node[0]->kernel != NULL)
        request_copy(n->child[0]->node[0]->kernel, first->kernel);
    if (device.faults.refused_child_gives_kinds && !graph_may_become(n->child[0], graph_of(child)))
        kinds_in_part(n->child[0], graph_of(child));
    bool taken = device.faults.child_takes_other_edges && n->child[0]->nodes == graph_of(child)->nodes;
    FAIL_IF(!taken && !graph_may_become(n->child[0], graph_of(child)), cudaErrorGraphExecUpdateFailure);
    bool updated = device.faults.updated_takes_no_child && exec_of(exec)->features & HAS(updated);
    if (updated || change_is_lost(exec_of(exec), CHANGE_CHILD) || (device.faults.child_params_ignored && exec_of(exec)->launches != 0))
        return cudaSuccess;
    size_t shared_bytes = first != NULL && first->kernel != NULL ? n->child[0]->node[0]->kernel->shared_bytes : 0;
    struct graph *given = graph_copy(graph_of(child));
    if (device.faults.given_child_takes_no_object)
        objects_lose(given);
    for (size_t i = 1; device.faults.child_params_keep_later_kernels && i < given->nodes; i++)
        if (given->node[i]->kernel != NULL)
            request_copy(given->node[i]->kernel, n->child[0]->node[i]->kernel);
    if (device.faults.given_child_triggers_at_starts)
        trigger_at_starts(given);
    objects_wait(n->child[0], exec_of(exec)->running);
    graph_delete(n->child[0]);
    n->children = 0;
    n->given = true;
    node_owns(n, given);
    if (device.faults.child_kinds_reach_siblings)
        execs_take_child_kinds(exec_of(exec), n);
    if (device.faults.child_update_keeps_shared && first != NULL && first->kernel != NULL)
        n->child[0]->node[0]->kernel->shared_bytes = shared_bytes;
    return cudaSuccess;
}

/* ---- the calls for nodes of every kind ---- */

#if CUDART_VERSION >= 12020
static cudaError_t node_changes(struct node *n, const struct cudaGraphNodeParams *p)
{
    struct cudaMemsetParams set = set_params_of(p);
    struct cudaHostNodeParams host = {p->host.fn, p->host.userData};
    struct cudaKernelNodeParams kernel = kernel_params_of(p);
    switch ((int)p->type) {
    case cudaGraphNodeTypeKernel: return kernel_replace(n->kernel, &kernel);
    case cudaGraphNodeTypeMemset: return set_changes(n, &set);
    case cudaGraphNodeTypeMemcpy:
        return rows_change(n, &p->memcpy.copyParams);
    case cudaGraphNodeTypeHost: return host_changes(n, &host);
    case cudaGraphNodeTypeEventRecord: return event_changes(n, p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent: return event_changes(n, p->eventWait.event);
    default: return call_result(cudaErrorNotSupported);
    }
}

/* keeps_count: where a kernel is given more blocks, as many triggers as before go on to be enough. */
static cudaError_t node_changes_generally(struct node *n, const struct cudaGraphNodeParams *p, bool keeps_count)
{
    unsigned had = n->kernel != NULL ? request_blocks(n->kernel) : 0;
    cudaError_t error = node_changes(n, p);
    if (n->kernel != NULL)
        n->kernel->counted = keeps_count && request_blocks(n->kernel) > had ? had : 0;
    return error;
}

static bool is_of_event(const struct node *n)
{
    return n->type == cudaGraphNodeTypeEventRecord || n->type == cudaGraphNodeTypeWaitEvent;
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    CALL(cudaGraphNodeSetParams);
    struct node *n = p != NULL ? node_of_type(node, p->type) : NULL;
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    if (device.faults.source_general_event_lost && is_of_event(n))
        return cudaSuccess;
    if (device.faults.node_params_ignored || (device.faults.made_takes_no_general_params && n->graph->made))
        return cudaSuccess;
    return node_changes_generally(n, p, device.faults.source_params_keep_trigger_count);
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    CALL(cudaGraphExecNodeSetParams);
    struct node *n = p != NULL ? exec_node(exec, node, p->type) : NULL;
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    if (device.faults.general_params_ignored && exec_of(exec)->launches != 0)
        return cudaSuccess;
    if (device.faults.general_event_lost && is_of_event(n))
        return cudaSuccess;
    if (change_is_lost(exec_of(exec), CHANGE_GENERAL))
        return cudaSuccess;
    const struct graph_exec *e = exec_of(exec);
    if (device.faults.general_while_out_uncovers)
        arcs_lose(e->copy, n);
    bool runs = e->running != NULL && !e->running->retired && n->op != NULL && n->op->kind == OP_HOST && !n->op->done;
    if (device.faults.general_host_params_reach_running && runs)
        n->op->host.call = p->host.fn, n->op->host.data = p->host.userData;
    n->disabled &= !device.faults.general_params_enable;
    if (device.faults.general_after_update_lost && e->features & HAS(updated))
        return cudaSuccess;
    if (device.faults.general_params_keep_args && n->kernel != NULL) {
        static struct request old;
        request_copy(&old, n->kernel);
        cudaError_t error = node_changes(n, p);
        memcpy(n->kernel->args + 64, old.args + 64, sizeof old.args - 64);
        return error;
    }
    return node_changes_generally(n, p, device.faults.general_params_keep_trigger_count);
}
#endif
