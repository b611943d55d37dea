/* Executable graphs that are updated as a whole. */
#include "api.h"
#include "choices.h"

#include <string.h>

/* Why an update is refused: a node of the graph that it would take over and, if one of its edges is to blame, the node that this leads from. */
struct refusal {
    const struct node *of, *from, *old; /* old: of the executable graph */
};

static enum cudaGraphExecUpdateResult update_result(const struct graph *a, const struct graph *b, struct refusal *refusal);

static enum cudaGraphExecUpdateResult update_result_of_node(const struct node *a, const struct node *b, struct refusal *refusal)
{
    refusal->of = b;
    refusal->old = a;
    if (device.faults.type_change_told_as_edge && a->type != b->type && a->kernel == NULL && b->kernel == NULL)
        return cudaGraphExecUpdateErrorTopologyChanged;
    if (a->type != b->type || a->children != b->children || a->choice != b->choice)
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (device.faults.other_arguments_not_taken && a->kernel != NULL && a->kernel->kernel->args_bytes != b->kernel->kernel->args_bytes)
        return cudaGraphExecUpdateErrorFunctionChanged;
    if (a->kernel != NULL && a->kernel->cooperative != b->kernel->cooperative)
        return cudaGraphExecUpdateErrorAttributesChanged;
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    if (a->type == cudaGraphNodeTypeConditional ? device.faults.body_shape_ignored : device.faults.child_shape_ignored)
        return result;
    unsigned compared = device.faults.second_bodies_ignored && a->children > 1 ? 1 : a->children;
    for (unsigned c = 0; c < compared && result == cudaGraphExecUpdateSuccess; c++)
        result = update_result(a->child[c], b->child[c], refusal);
    return result;
}

/* The dependency of this node that stands at this place, or NULL. */
static const struct node *dependency(const struct node *n, unsigned place)
{
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && place-- == 0)
            return n->graph->arc[i].from;
    return NULL;
}

static enum cudaGraphExecUpdateResult same_dependencies(const struct node *a, const struct node *b, struct refusal *refusal)
{
    refusal->of = b;
    refusal->old = a;
    if (a->incoming != b->incoming)
        return cudaGraphExecUpdateErrorTopologyChanged;
    for (unsigned i = 0; i < a->incoming; i++)
        if (dependency(a, i)->index != dependency(b, i)->index) {
            refusal->from = dependency(b, device.faults.refusal_names_first_dependency ? 0 : i);
            return cudaGraphExecUpdateErrorTopologyChanged;
        }
    return cudaGraphExecUpdateSuccess;
}

/* "Only 1D memsets and memcpys can be changed"; rows are taken all the same, as drivers do. */
static bool layers_change(const struct node *a, const struct node *b)
{
    const struct move *old = &a->move, *other = &b->move;
    return (old->layers > 1 || other->layers > 1) &&
           (old->to != other->to || old->from != other->from || old->bytes != other->bytes || old->rows != other->rows || old->layers != other->layers);
}

/* EDGE-38: whether the second graph has the shape of the first, and if not, what differs. */
static enum cudaGraphExecUpdateResult update_result(const struct graph *a, const struct graph *b, struct refusal *refusal)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    if (a->nodes != b->nodes) {
        refusal->of = device.faults.new_count_names_node && b->nodes != 0 ? b->node[b->nodes - 1] : NULL;
        return cudaGraphExecUpdateErrorTopologyChanged;
    }
    for (size_t i = 0; i < a->nodes && result == cudaGraphExecUpdateSuccess; i++)
        result = same_dependencies(a->node[i], b->node[i], refusal);
    for (size_t i = 0; i < a->arcs && result == cudaGraphExecUpdateSuccess; i++)
        if (a->arc[i].from->index != b->arc[i].from->index || a->arc[i].to->index != b->arc[i].to->index) {
            *refusal = (struct refusal){b->arc[i].to, b->arc[i].from, a->arc[i].to};
            result = cudaGraphExecUpdateErrorTopologyChanged;
        }
    for (size_t i = 0; i < a->nodes && result == cudaGraphExecUpdateSuccess; i++)
        result = update_result_of_node(a->node[i], b->node[i], refusal);
    for (size_t i = 0; i < a->nodes && result == cudaGraphExecUpdateSuccess; i++)
        if (layers_change(a->node[i], b->node[i])) {
            *refusal = (struct refusal){b->node[i], NULL, a->node[i]};
            result = cudaGraphExecUpdateErrorParametersChanged;
        }
    return result;
}

/* ---- whether anything has changed, for the devices that look ---- */

static uint64_t digest_with(uint64_t digest, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return digest;
}

uint64_t node_does(const struct node *n, uint64_t digest)
{
    const struct move *m = &n->move;
    const uint64_t moved[] = {(uintptr_t)m->to, (uintptr_t)m->from, m->bytes, m->rows, m->pitch, m->value, m->width};
    digest = digest_with(digest, moved, sizeof moved);
    digest = digest_with(digest, &n->host, sizeof n->host);
    digest = digest_with(digest, &n->event, sizeof n->event);
    if (n->kernel != NULL) {
        digest = digest_with(digest, &n->kernel->kernel, sizeof n->kernel->kernel);
        digest = digest_with(digest, n->kernel->grid, sizeof n->kernel->grid);
        digest = digest_with(digest, n->kernel->block, sizeof n->kernel->block);
        digest = digest_with(digest, &n->kernel->shared_bytes, sizeof n->kernel->shared_bytes);
        digest = digest_with(digest, n->kernel->args, n->kernel->kernel->args_bytes);
    }
    for (unsigned c = 0; c < n->children; c++)
        digest ^= graph_does(n->child[c]) << (c + 1);
    return digest;
}

uint64_t graph_does(const struct graph *g)
{
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t i = 0; i < g->nodes; i++)
        digest = node_does(g->node[i], digest);
    for (size_t i = 0; i < g->arcs; i++)
        digest = digest_with(digest, &g->arc[i].data, sizeof g->arc[i].data);
    return digest;
}

bool graph_may_become(const struct graph *a, const struct graph *b)
{
    struct refusal unsaid = {NULL, NULL, NULL};
    return update_result(a, b, &unsaid) == cudaGraphExecUpdateSuccess;
}

static void tell_refusal(cudaGraphExecUpdateResultInfo *info, const struct refusal *refusal)
{
    const struct node *of = refusal->of;
    if (of != NULL && device.faults.update_names_old_node)
        of = refusal->old->original;
    if (of != NULL && device.faults.update_names_first_node)
        of = of->graph->node[0];
    if (device.faults.update_names_no_node)
        of = NULL;
    memcpy(&info->errorNode, &of, sizeof info->errorNode);
    const struct node *from = refusal->from;
    if (device.faults.changed_type_names_from && of != NULL && info->result != cudaGraphExecUpdateErrorTopologyChanged)
        from = dependency(of, 0);
    if (!device.faults.update_names_no_from)
        memcpy(&info->errorFromNode, &from, sizeof info->errorFromNode);
}

static bool same_edge_data(const struct graph *a, const struct graph *b)
{
    for (size_t i = 0; i < a->arcs; i++)
        if (memcmp(&a->arc[i].data, &b->arc[i].data, sizeof(edge_data)) != 0)
            return false;
    for (size_t i = 0; i < a->nodes; i++)
        for (unsigned c = 0; c < a->node[i]->children; c++)
            if (!same_edge_data(a->node[i]->child[c], b->node[i]->child[c]))
                return false;
    return true;
}

/* Whether the edges into each node have the same data, in another order */
static bool kinds_swapped(const struct graph *a, const struct graph *b)
{
    for (size_t i = 0; i < a->arcs; i++) {
        int more = 0;
        for (size_t k = 0; k < a->arcs; k++) {
            more += a->arc[k].to == a->arc[i].to && memcmp(&a->arc[k].data, &a->arc[i].data, sizeof(edge_data)) == 0;
            more -= b->arc[k].to == b->arc[i].to && memcmp(&b->arc[k].data, &a->arc[i].data, sizeof(edge_data)) == 0;
        }
        if (more != 0)
            return false;
    }
    return !same_edge_data(a, b);
}

/* The conditions of nodes in bodies, or in child graphs. */
static void keep_inner_conditions(struct node *n, const struct node *old)
{
    for (unsigned c = 0; c < n->children; c++)
        for (size_t i = 0; i < n->child[c]->nodes; i++)
            n->child[c]->node[i]->condition = old->child[c]->node[i]->condition;
}

/* The blocks of kernels in child graphs. */
static void keep_inner_threads(struct node *n, const struct node *old)
{
    for (size_t i = 0; n->type == cudaGraphNodeTypeGraph && i < n->child[0]->nodes; i++)
        if (n->child[0]->node[i]->kernel != NULL)
            memcpy(n->child[0]->node[i]->kernel->block, old->child[0]->node[i]->kernel->block, sizeof n->child[0]->node[i]->kernel->block);
}

static void keep_below(struct graph *g, const struct graph *old, unsigned depth)
{
    for (size_t i = 0; i < g->nodes; i++) {
        if (depth >= 2 && g->node[i]->kernel != NULL)
            request_copy(g->node[i]->kernel, old->node[i]->kernel);
        for (unsigned c = 0; c < g->node[i]->children; c++)
            keep_below(g->node[i]->child[c], old->node[i]->child[c], depth + 1);
    }
}

/* As many elements as there are, of the size that they had. */
void keep_element(struct move *move, size_t element)
{
    if (move->width == 0)
        return; /* of a copy */
    move->bytes = move->bytes / move->width * element;
    move->width = element;
}

/* What comes after triggers comes after block starts from now on. */
void trigger_at_starts(struct graph *g)
{
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].data.from_port == cudaGraphKernelNodePortProgrammatic)
            g->arc[i].data.from_port = cudaGraphKernelNodePortLaunchCompletion;
}

/* The blocks that kernels inside are done with once they have triggered. */
static void keep_inner_counts(struct node *n, const struct node *old)
{
    for (unsigned c = 0; c < n->children; c++)
        for (size_t i = 0; i < n->child[c]->nodes; i++) {
            struct request *r = n->child[c]->node[i]->kernel;
            const struct request *before = old->child[c]->node[i]->kernel;
            if (r != NULL)
                r->counted = request_blocks(r) > request_blocks(before) ? request_blocks(before) : 0;
        }
}

/* What is known of the functions that kernels had. */
static void keep_functions(struct graph *g, const struct graph *old)
{
    for (size_t i = 0; i < g->nodes; i++) {
        if (g->node[i]->kernel != NULL)
            request_keeps_function(g->node[i]->kernel, old->node[i]->kernel->kernel);
        for (unsigned c = 0; c < g->node[i]->children; c++)
            keep_functions(g->node[i]->child[c], old->node[i]->child[c]);
    }
}

/* What an update leaves of a node as it was, on the devices that break one. */
static void node_keeps_values(struct node *n, const struct node *old)
{
    n->value = old->value;
    memcpy(n->more, old->more, sizeof n->more);
}

static bool is_beside_program(const struct node *n)
{
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].data.type == cudaGraphDependencyTypeProgrammatic)
            return true;
    return false;
}

static void move_keeps(struct node *n, const struct node *old)
{
    bool same_place = n->move.to == old->move.to && n->move.bytes == old->move.bytes && is_beside_program(n);
    if (device.faults.update_keeps_source_beside_program && n->type == cudaGraphNodeTypeMemcpy && same_place)
        n->move.from = old->move.from;
    if (device.faults.update_keeps_set_value_beside_program && n->type == cudaGraphNodeTypeMemset && same_place)
        n->move.value = old->move.value;
}

static void node_keeps(struct node *n, const struct node *old)
{
    move_keeps(n, old);
    if (device.faults.update_keeps_values && n->type == NODE_OF_VALUE && n->values_more == old->values_more)
        node_keeps_values(n, old);
    if (device.faults.update_from_captured_clone_keeps_moves && n->captured && n->original != NULL && n->original->original != NULL)
        n->move = old->move;
    if (device.faults.update_keeps_element)
        keep_element(&n->move, old->move.width);
    if (device.faults.update_passes_disabled && old->disabled)
        n->move = old->move;
    if (device.faults.update_keeps_disabled_source && old->disabled && n->type == cudaGraphNodeTypeMemcpy)
        n->move.from = old->move.from;
    for (size_t i = 1; device.faults.update_keeps_inner_hosts && n->children != 0 && i < n->child[0]->nodes; i++)
        n->child[0]->node[i]->host = old->child[0]->node[i]->host;
    bool of_event = n->type == cudaGraphNodeTypeEventRecord || n->type == cudaGraphNodeTypeWaitEvent;
    if (device.faults.captured_update_keeps_event && of_event && n->captured)
        n->event = old->event;
    for (size_t i = 0; device.faults.child_update_keeps_events && n->type == cudaGraphNodeTypeGraph && i < n->child[0]->nodes; i++)
        n->child[0]->node[i]->event = old->child[0]->node[i]->event;
    if ((device.faults.child_update_keeps_trigger_count && n->type == cudaGraphNodeTypeGraph) ||
        (device.faults.body_update_keeps_trigger_count && n->type == cudaGraphNodeTypeConditional))
        keep_inner_counts(n, old);
    if (device.faults.update_keeps_inner_threads)
        keep_inner_threads(n, old);
    if (device.faults.update_keeps_inner_condition)
        keep_inner_conditions(n, old);
    if (device.faults.update_keeps_condition || (device.faults.update_keeps_choice && n->choice == BODY_SWITCH))
        n->condition = old->condition;
    for (unsigned c = 0; device.faults.update_keeps_body && n->type == cudaGraphNodeTypeConditional && c < n->children; c++)
        for (size_t i = 0; i < n->child[c]->nodes; i++)
            if (n->child[c]->node[i]->type == cudaGraphNodeTypeMemset)
                n->child[c]->node[i]->move = old->child[c]->node[i]->move;
    for (size_t i = 0; device.faults.update_keeps_loop_kernels && (n->choice == BODY_LOOP || n->undecided) && i < n->child[0]->nodes; i++)
        if (n->child[0]->node[i]->kernel != NULL)
            request_copy(n->child[0]->node[i]->kernel, old->child[0]->node[i]->kernel);
    for (size_t i = 1; device.faults.update_keeps_later_inside && n->children != 0 && i < n->child[0]->nodes; i++)
        if (n->child[0]->node[i]->kernel != NULL)
            request_copy(n->child[0]->node[i]->kernel, old->child[0]->node[i]->kernel);
}

/* What a node that was given something while it is disabled keeps, and that the next update finds it so. */
static void node_rests(struct node *n, const struct node *old)
{
    const struct faults *f = &device.faults;
    if (f->disabled_takes_one_update && old->given_while_out && n->kernel != NULL)
        request_copy(n->kernel, old->kernel);
    if (f->disabled_move_takes_one_update && old->given_while_out)
        n->move = old->move;
    n->given_while_out = old->disabled;
}

static void keep_edges_inside(struct node *n, const struct node *old)
{
    for (unsigned c = 0; c < n->children; c++)
        for (size_t k = 0; k < n->child[c]->arcs; k++)
            n->child[c]->arc[k].data = old->child[c]->arc[k].data;
}

/* For the device update-compares-arguments-to-256. */
static void keep_alike(struct request *is, const struct request *was)
{
    const size_t compared = 256;
    if (is->kernel == was->kernel && is->kernel->args_bytes > compared && memcmp(is->args, was->args, compared) == 0)
        memcpy(is->args, was->args, is->kernel->args_bytes);
}

/* For the device update-compares-without-clusters. */
static void keep_lone_clusters(struct request *is, const struct request *was)
{
    if (!requests_seem_same(is, was))
        return;
    is->cluster = was->cluster;
    memcpy(is->clusters, was->clusters, sizeof is->clusters);
}

/* ... and of a graph. */
static void graph_keeps(struct graph *copy, const struct graph *old)
{
    arcs_keep_lost(copy, old);
    for (size_t i = 256; device.faults.update_keeps_beyond_256 && i < copy->nodes; i++)
        copy->node[i]->move = old->node[i]->move;
    for (size_t i = 1024; device.faults.update_keeps_beyond_1024 && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL)
            request_copy(copy->node[i]->kernel, old->node[i]->kernel);
    for (size_t i = 0; device.faults.update_compares_without_clusters && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL)
            keep_lone_clusters(copy->node[i]->kernel, old->node[i]->kernel);
    for (size_t i = 0; device.faults.update_compares_args_to_256 && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL)
            keep_alike(copy->node[i]->kernel, old->node[i]->kernel);
    for (size_t i = 3; device.faults.update_keeps_kernels && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL && old->node[i]->kernel != NULL)
            request_copy(copy->node[i]->kernel, old->node[i]->kernel);
    for (size_t i = 1; device.faults.update_keeps_shape && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL && old->node[i]->kernel != NULL)
            memcpy(copy->node[i]->kernel->grid, old->node[i]->kernel->grid, sizeof copy->node[i]->kernel->grid);
    for (size_t i = 0; device.faults.update_keeps_threads && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL && old->node[i]->kernel != NULL)
            memcpy(copy->node[i]->kernel->block, old->node[i]->kernel->block, sizeof copy->node[i]->kernel->block);
    for (size_t i = 0; device.faults.update_keeps_clusters && i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL && old->node[i]->kernel != NULL)
            memcpy(copy->node[i]->kernel->clusters, old->node[i]->kernel->clusters, sizeof copy->node[i]->kernel->clusters);
    for (size_t i = 0; device.faults.update_keeps_hosts && i < copy->nodes; i++)
        copy->node[i]->host = old->node[i]->host;
    for (size_t i = copy->nodes; device.faults.update_keeps_last_host && i > 0; i--)
        if (copy->node[i - 1]->type == cudaGraphNodeTypeHost) {
            copy->node[i - 1]->host = old->node[i - 1]->host;
            break;
        }
    for (size_t i = 0; device.faults.update_keeps_edges && i < copy->arcs; i++)
        copy->arc[i].data = old->arc[i].data;
    for (size_t i = 0; device.faults.update_keeps_inner_edges && i < copy->nodes; i++)
        keep_edges_inside(copy->node[i], old->node[i]);
    if (device.faults.update_triggers_at_starts)
        trigger_at_starts(copy);
    for (size_t i = 0; device.faults.captured_update_keeps_args && i < copy->nodes; i++)
        if (copy->node[i]->captured && copy->node[i]->kernel != NULL)
            memcpy(copy->node[i]->kernel->args, old->node[i]->kernel->args, sizeof copy->node[i]->kernel->args);
    for (size_t i = 0; i < copy->nodes; i++) {
        node_keeps(copy->node[i], old->node[i]);
        node_rests(copy->node[i], old->node[i]);
    }
    if (device.faults.updated_function_uncovered)
        keep_functions(copy, old);
    if (device.faults.updated_cooperative_is_plain)
        graph_starts_in_parts(copy, false);
    if (device.faults.update_keeps_grandchildren)
        keep_below(copy, old, 0);
}

/* What is changed of an executable graph although the update is refused, on the device that does so. */
static void moves_in_part(struct graph *g, const struct graph *other)
{
    for (size_t i = 0; i < g->nodes && i < other->nodes && g->node[i]->type == other->node[i]->type; i++)
        g->node[i]->move = other->node[i]->move;
}

void kinds_in_part(struct graph *g, const struct graph *other)
{
    for (size_t i = 0; g->arcs == other->arcs && i < g->arcs; i++)
        if (g->arc[i].from->kernel != NULL && g->arc[i].to->kernel != NULL)
            g->arc[i].data = other->arc[i].data;
}

/* ... or of its nodes' state, host functions and events. */
static void keeps_in_part(struct graph *g, const struct graph *other)
{
    if (device.faults.refused_update_gives_kinds)
        kinds_in_part(g, other);
    for (size_t i = 0; device.faults.refused_update_enables && i < g->nodes; i++)
        g->node[i]->disabled = false;
    for (size_t i = 0; i < g->nodes && i < other->nodes && g->node[i]->type == other->node[i]->type; i++) {
        if (device.faults.refused_update_gives_data)
            g->node[i]->host = other->node[i]->host;
        if (device.faults.refused_update_gives_event)
            g->node[i]->event = other->node[i]->event;
    }
}

/* What is left undone of an update that is not performed, and what is told of it. */
static cudaError_t update_refused(struct graph_exec *e, const struct graph *g, cudaGraphExecUpdateResultInfo *info, const struct refusal *refusal)
{
    e->refused = true;
    if (device.faults.refused_update_moves)
        moves_in_part(e->copy, g);
    keeps_in_part(e->copy, g);
    if (device.faults.refused_update_frees_exec)
        e->running = NULL;
    tell_refusal(info, refusal);
    return call_result(cudaErrorGraphExecUpdateFailure);
}

/* On broken devices: this update changes nothing. */
static bool update_ignored(struct graph_exec *e, const struct graph *g)
{
    const struct faults *f = &device.faults;
    if (f->refused_update_sticks && e->refused)
        return true;
    bool ignored = (f->update_after_launch_ignored && e->features & HAS(again)) || (f->uploaded_takes_no_update && e->features & HAS(uploaded));
    ignored |= (f->other_thread_update_ignored && device.other_thread) || (f->second_exec_takes_no_update && e->features & HAS(secondexec));
    ignored |= f->update_from_same_ignored && e->updated_from == g->number;
    ignored |= (f->tenth_update_ignored && e->updates++ >= 10) || (f->update_from_clone_ignored && g->copied_from == e->made_from);
    ignored |= f->update_under_way_lost && exec_under_way(e);
    const uint64_t does = f->unchanged_update_ignored ? graph_does(g) : 0;
    ignored |= f->unchanged_update_ignored && e->taken_from == g->number && e->taken == does;
    e->updated_from = e->taken_from = g->number;
    e->taken = does;
    return ignored || (f->second_update_ignored && e->updates++ != 0);
}

/* What no update changes: by which nodes it is known, and which of them are disabled. */
static void keep_state(struct graph *copy, const struct graph_exec *e)
{
    for (size_t i = 0; i < copy->nodes; i++) {
        struct node *n = copy->node[i];
        const struct node *old = e->copy->node[i];
        n->given_last = old->given_last;
        if (!device.faults.update_renames_nodes)
            n->original = old->original;
        if (device.faults.params_enable)
            continue;
        bool enables = device.faults.update_enables_items && n->kernel == NULL;
        enables |= device.faults.second_update_enables && e->features & HAS(updated);
        n->disabled = old->disabled && !enables;
        n->told_disabled = old->told_disabled;
    }
}

/* The executable graph gets the copy for its own. */
static void take_update(struct graph_exec *e, struct graph *copy)
{
    if (device.faults.update_reaches_rest && exec_under_way(e))
        rest_takes(e->copy, copy);
    if (device.faults.update_reaches_bodies && exec_under_way(e))
        bodies_take(e->copy, copy);
    if (device.faults.update_frees_running)
        e->running = NULL;
    if (device.faults.update_takes_no_object)
        objects_lose(copy);
    if (device.faults.replaced_objects_stay)
        e->copy->objects = NULL;
    if (!device.faults.update_ends_objects)
        objects_wait_for(e->copy, e);
    graph_delete(e->copy);
    e->copy = copy;
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    CALL(cudaGraphExecUpdate);
    const struct faults *f = &device.faults;
    struct graph_exec *e = exec_of(handle);
    const struct graph *g = graph_of(graph);
    FAIL_IF(e == NULL || g == NULL || info == NULL, cudaErrorInvalidValue);
    exec_ends_loops(e);
    /* EDGE-23 leaves changed edge data open: refused, or taken over */
    bool takes_kinds = f->kinds_reach_siblings || f->kinds_reach_source;
    bool refuses = !takes_kinds && !f->update_keeps_edges && !f->update_keeps_inner_edges && choose(2) != 0;
    struct refusal refusal = {NULL, NULL, NULL};
    const enum cudaGraphExecUpdateResult before = info->result;
    memset(info, 0, sizeof *info);
    info->result = update_result(e->copy, g, &refusal);
    bool other_bodies = refusal.of != NULL && refusal.of->type == cudaGraphNodeTypeConditional && refusal.old->type == cudaGraphNodeTypeConditional;
    if (info->result != cudaGraphExecUpdateSuccess && (f->any_shape_updates || (f->other_bodies_ignored && other_bodies))) {
        info->result = cudaGraphExecUpdateSuccess;
        return cudaSuccess;
    }
    bool swapped = info->result == cudaGraphExecUpdateSuccess && f->swapped_kinds_stay && kinds_swapped(e->copy, g);
    if (info->result == cudaGraphExecUpdateSuccess && !same_edge_data(e->copy, g) && refuses && !swapped)
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
    if (info->result != cudaGraphExecUpdateSuccess)
        return update_refused(e, g, info, &refusal);
    if (update_ignored(e, g))
        return cudaSuccess;
    struct graph *copy = graph_copy(g);
    graph_keeps(copy, e->copy);
    for (size_t i = 0; swapped && i < copy->arcs; i++)
        copy->arc[i].data = e->copy->arc[i].data;
    keep_state(copy, e);
    bool other_kinds = takes_kinds && !same_edge_data(e->copy, copy);
    take_update(e, copy);
    if (device.faults.kinds_reach_siblings && other_kinds)
        execs_take_kinds(e);
    if (device.faults.kinds_reach_source && other_kinds)
        graph_takes_kinds(e->made_from, copy);
    conditions_stay(e, device.faults.update_takes_left_condition);
    e->features |= HAS(updated);
    e->updates_taken++;
    if (device.faults.update_leaves_result)
        info->result = before;
    return cudaSuccess;
}
