/* What the edges of an executable graph mean in a launch, and what broken devices make of them. */
#include "api.h"

static bool has_priority(const struct node *n)
{
    for (unsigned i = 0; n->kernel != NULL && i < n->kernel->num_attrs; i++)
        if (n->kernel->attrs[i].id == cudaLaunchAttributePriority)
            return true;
    return false;
}

bool in_nested_child(const struct node *n)
{
    const struct node *owner = n->graph->owner;
    return owner != NULL && owner->type == cudaGraphNodeTypeGraph && owner->graph->owner != NULL;
}

static bool has_programmatic(const struct graph *g)
{
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].data.type == cudaGraphDependencyTypeProgrammatic)
            return true;
    return false;
}

/* The edges out of a child graph that are lost on devices where it matters what lies inside. */
static bool children_cut(const struct arc *a)
{
    if (device.faults.host_passes_given_child && a->from->given && a->to->type == cudaGraphNodeTypeHost)
        return true;
    if (a->from->type != cudaGraphNodeTypeGraph || a->to->type != cudaGraphNodeTypeGraph)
        return false;
    return (device.faults.child_of_programs_passed && has_programmatic(a->from->child[0])) || (device.faults.given_child_passes && a->to->given);
}

/* Whether what holds this graph is a child graph after another one. */
static bool behind_child(const struct graph *g)
{
    for (size_t i = 0; g->owner != NULL && i < g->owner->graph->arcs; i++) {
        const struct arc *a = &g->owner->graph->arc[i];
        if (a->to == g->owner && a->to->type == cudaGraphNodeTypeGraph && a->from->type == cudaGraphNodeTypeGraph)
            return true;
    }
    return false;
}

/* The edges that are lost on devices where several features have to meet. */
static bool crossing_cuts(const struct arc *a)
{
    const struct faults *f = &device.faults;
    const struct graph *in = a->to->graph, *around = in->owner != NULL ? in->owner->graph : NULL;
    bool in_body = graph_is_inside(in, cudaGraphNodeTypeConditional), in_child = graph_is_inside(in, cudaGraphNodeTypeGraph);
    bool body_around = around != NULL && graph_is_inside(around, cudaGraphNodeTypeConditional);
    bool of_body = a->from->type == cudaGraphNodeTypeConditional, to_child = a->to->type == cudaGraphNodeTypeGraph;
    bool from_set = a->from->type == cudaGraphNodeTypeMemset, set_to_copy = from_set && a->to->type == cudaGraphNodeTypeMemcpy;
    bool host_to_set = a->from->type == cudaGraphNodeTypeHost && a->to->type == cudaGraphNodeTypeMemset;
    return (f->child_in_body_unordered && in_child && body_around) || (f->inner_body_unordered && in_body && body_around) ||
           (f->child_in_body_early && in_body && to_child) || (f->condition_in_body_passed && in_body && of_body) ||
           (f->updated_copy_after_set_early && queued.features & HAS(updated) && set_to_copy) ||
           (a->to->given && ((f->given_host_passes_set && from_set && a->to->type == cudaGraphNodeTypeHost) ||
                             (f->given_set_passes_host && host_to_set) || (f->given_copy_passes_set && set_to_copy))) ||
           (f->domain_in_inner_body_passed && in_body && body_around && a->from->op->domain != 0) ||
           (f->copy_before_child_in_body_lost && in_body && to_child && a->from->type == cudaGraphNodeTypeMemcpy) ||
           (f->second_edge_in_child_lost && in_child && a->into == 1);
}

/* The full edges into and out of disabled nodes that are lost on devices where the kind of the other node matters. */
static bool disabling_cuts(const struct arc *a)
{
    const struct faults *f = &device.faults;
    enum cudaGraphNodeType to = a->to->type;
    bool set = a->from->disabled && a->from->type == cudaGraphNodeTypeMemset, other = a->from->disabled && !set;
    bool copy = a->from->disabled && a->from->type == cudaGraphNodeTypeMemcpy;
    bool to_event = to == cudaGraphNodeTypeEventRecord || to == cudaGraphNodeTypeWaitEvent;
    bool to_body = to == cudaGraphNodeTypeConditional, to_empty = to == cudaGraphNodeTypeEmpty;
    return (f->disabled_before_body_lost && other && to_body) || (f->disabled_before_event_lost && copy && to_event) ||
           (f->disabled_before_empty_lost && other && to_empty) || (f->disabled_set_before_body_lost && set && to_body) ||
           (f->disabled_set_before_event_lost && set && to_event) ||
           (f->body_before_disabled_lost && a->to->disabled && a->from->type == cudaGraphNodeTypeConditional) ||
           (f->wait_before_disabled_lost && a->to->disabled && a->from->type == cudaGraphNodeTypeWaitEvent) ||
           (f->disabled_after_first_only && a->to->disabled && a->into > 0);
}

static bool is_many(const struct node *n)
{
    return n->type == cudaGraphNodeTypeKernel && n->kernel->grid[0] > 64;
}

/* The edges that are lost on devices where a graph, or a node, has no room for many. */
static bool crowd_cuts(const struct arc *a)
{
    const struct faults *f = &device.faults;
    bool to_empty = a->to->type == cudaGraphNodeTypeEmpty;
    size_t place = (size_t)(a - a->to->graph->arc);
    return (f->ninth_in_body_lost && a->into >= 8 && graph_is_inside(a->to->graph, cudaGraphNodeTypeConditional)) ||
           (f->edge_1025_ignored && place >= 1024) || (f->edge_2049_ignored && place >= 2048) || (f->edge_65_into_ignored && a->into >= 64) ||
           (f->edge_129_into_ignored && a->into >= 128) || (f->edge_257_into_ignored && a->into >= 256) || (f->edge_65_out_ignored && a->nth >= 64) ||
           (f->edge_129_out_ignored && a->nth >= 128) || (f->edge_17_into_empty_lost && to_empty && a->into >= 16) ||
           (f->ninth_after_set_lost && a->nth >= 8 && a->from->type == cudaGraphNodeTypeMemset);
}

static bool is_child_beyond_32(const struct node *n)
{
    unsigned before = 0;
    for (size_t i = 0; n != NULL && n->type == cudaGraphNodeTypeGraph && i < n->index; i++)
        before += n->graph->node[i]->type == cudaGraphNodeTypeGraph;
    return before >= 32;
}

static bool comes_right_after(const struct node *n, enum cudaGraphNodeType type)
{
    const struct graph *g = n->graph;
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].to == n && g->arc[i].from->type == type)
            return true;
    return false;
}

/* Devices whose wait covers no programmatic edge into a node that comes after one of another kind as well. */
static bool company_uncovers(const struct node *n)
{
    const struct faults *f = &device.faults;
    return (f->beside_record_uncovered && comes_right_after(n, cudaGraphNodeTypeEventRecord)) ||
           (f->beside_wait_node_uncovered && comes_right_after(n, cudaGraphNodeTypeWaitEvent)) ||
           (f->beside_alloc_uncovered && comes_right_after(n, cudaGraphNodeTypeMemAlloc)) ||
           (f->beside_free_uncovered && comes_right_after(n, cudaGraphNodeTypeMemFree)) ||
           (f->beside_value_uncovered && comes_right_after(n, NODE_OF_VALUE)) ||
           (f->beside_host_uncovered && comes_right_after(n, cudaGraphNodeTypeHost)) ||
           (f->beside_empty_uncovered && comes_right_after(n, cudaGraphNodeTypeEmpty)) ||
           (f->beside_child_uncovered && comes_right_after(n, cudaGraphNodeTypeGraph)) ||
           (f->beside_body_uncovered && comes_right_after(n, cudaGraphNodeTypeConditional)) ||
           (f->beside_set_uncovered && comes_right_after(n, cudaGraphNodeTypeMemset)) ||
           (f->beside_copy_uncovered && comes_right_after(n, cudaGraphNodeTypeMemcpy));
}

/* The programmatic edges whose start the wait does not cover on broken devices. */
static bool arc_uncovered(const struct arc *a)
{
    const struct faults *f = &device.faults;
    const struct request *from = a->from->kernel, *to = a->to->kernel;
    bool updated = (queued.features & HAS(updated)) != 0, in_body = graph_is_inside(a->to->graph, cudaGraphNodeTypeConditional);
    if ((is_many(a->from) || is_many(a->to)) &&
        ((f->large_fan_uncovered && a->into > 1) || (f->large_of_event_uncovered && a->of_event) ||
         (f->large_third_launch_uncovered && queued.launches > 2)))
        return true;
    if ((f->launch_120_uncovers && queued.launches >= 120) || (f->launch_1025_uncovers && queued.launches > 1024))
        return true;
    if (company_uncovers(a->to) || (f->behind_free_uncovered && comes_right_after(a->from, cudaGraphNodeTypeMemFree)) ||
        (f->behind_value_uncovered && comes_right_after(a->from, NODE_OF_VALUE)))
        return true;
    if (f->late_window_uncovers && to != NULL && (to->late_to >> cudaLaunchAttributeAccessPolicyWindow & 1) != 0)
        return true;
    if ((f->new_function_uncovered || f->updated_function_uncovered || f->late_function_uncovered) && to != NULL && to->never_waited)
        return true;
    if ((f->updated_cooperative_uncovered && updated && to != NULL && to->cooperative) ||
        (f->cooperative_in_body_uncovered && in_body && from != NULL && from->cooperative))
        return true;
    if ((f->child_behind_child_uncovered && behind_child(a->to->graph)) || (f->rejoined_uncovered && a->rejoins))
        return true;
    const struct node *owner = a->to->graph->owner;
    if ((f->child_33_uncovered && is_child_beyond_32(owner)) || (f->moved_child_uncovered && a->to->graph->moved))
        return true;
    if (f->else_uncovered && owner != NULL && owner->choice == BODY_IF && a->to->graph != owner->child[0])
        return true;
    if (f->later_round_large_uncovered && queued.rounds != 0 && is_many(a->from))
        return true;
    if ((f->idle_round_uncovers_pair && queued.after_idle) || (f->third_outer_round_uncovers && queued.outer >= 2) ||
        (f->update_33_uncovers && queued.updated_often))
        return true;
    if (f->long_args_uncover && a->to->kernel != NULL && a->to->kernel->kernel->args_bytes > 128)
        return true;
    if (f->others_graph_uncovers && a->to->graph->made_elsewhere)
        return true;
    if ((f->edge_17_uncovered && a->into >= 16) || (f->edge_33_uncovered && a->into >= 32))
        return true;
    if (f->pairs_of_graph_uncovered && a->into == 0 && a->nth == 0 && a - a->to->graph->arc >= 32)
        return true;
    if (f->third_level_uncovered && graph_level(a->to->graph) >= 3)
        return true;
    return (f->made_first_uncovered && a->from->index > a->to->index) || (f->ninth_cover_lost && a->into >= 8) ||
           (f->ninth_dependent_uncovered && a->nth >= 8) || (f->legacy_graph_uncovers && queued.in_legacy && is_many(a->to));
}

/* The edges from block starts that let go before the first one on broken devices. */
static bool starts_early(const struct arc *a)
{
    const struct faults *f = &device.faults;
    const struct op *from = a->from->op;
    bool programmatic = a->data.type == cudaGraphDependencyTypeProgrammatic;
    if (from->grid == NULL)
        return false;
    if (f->clone_start_edge_early && a->to->graph->owner == NULL && a->to->graph->copies > 1)
        return true;
    if ((f->third_launch_start_edge_early && queued.launches > 2) || (f->uploaded_start_edge_early && queued.features & HAS(uploaded)))
        return true;
    if (f->later_round_start_edge_early && queued.rounds != 0)
        return true;
    if (f->given_event_start_edge_early && queued.event_given)
        return true;
    if (f->start_edge_into_domain_early && programmatic && a->to->op->domain != 0)
        return true;
    if ((f->updated_start_edge_early && programmatic && queued.features & HAS(updated)) ||
        (f->child_start_edge_early && programmatic && graph_is_inside(a->to->graph, cudaGraphNodeTypeGraph)) ||
        (f->long_args_start_edge_early && has_long_args(from->grid)) || (f->third_start_edge_early && !programmatic && a->into > 1) ||
        (f->second_exec_start_edge_early && queued.features & HAS(secondexec)) || (f->attributed_start_edge_early && from->attributed))
        return true;
    return (f->cluster_start_edge_early && from->grid->cluster > 1) || (f->domain_start_edge_early && from->domain != 0) ||
           (f->cooperative_start_edge_early && from->grid->cooperative);
}

/* The programmatic edges that let go at the first block's trigger on broken devices. */
static bool lets_go_at_touch(const struct arc *a)
{
    const struct faults *f = &device.faults;
    return (f->ninth_edge_at_touch && a->into >= 8) || (f->ninth_dependent_at_touch && a->nth >= 8) ||
           (f->given_event_lets_go && queued.event_given) ||
           (f->updated_cooperative_at_touch && queued.features & HAS(updated) && a->from->kernel != NULL && a->from->kernel->cooperative);
}

/* Whether a programmatic edge leads to it */
static bool is_reached_by_program(const struct node *n)
{
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && n->graph->arc[i].data.type == cudaGraphDependencyTypeProgrammatic)
            return true;
    return false;
}

/* On a device where a full edge lets go at the trigger, if it is the first of its node and another one is programmatic. */
static bool is_first_beside(const struct arc *a)
{
    return device.faults.first_beside_lets_go && a->first && is_reached_by_program(a->to);
}

/* For the device full-past-16-beside-program-lets-go. */
static bool is_one_of_17_beside(const struct arc *a)
{
    return device.faults.full_past_16_beside_program_lets_go && a->to->incoming > 16 && a->from->op->kind == OP_KERNEL && is_reached_by_program(a->to);
}

/* For the device edges-beyond-32-beside-program-uncovered. */
static bool is_beyond_32_beside_full(const struct arc *a)
{
    const struct graph *in = a->to->graph;
    for (size_t i = 0; device.faults.edges_beyond_32_beside_program_uncovered && a->into >= 32 && i < in->arcs; i++)
        if (in->arc[i].to == a->to && edge_is_default(in->arc[i].data))
            return true;
    return false;
}

/* Whether a programmatic edge leads to its second node, too */
static bool is_beside_trigger(const struct arc *a)
{
    const struct graph *in = a->to->graph;
    for (size_t i = 0; i < in->arcs; i++)
        if (in->arc[i].to == a->to && in->arc[i].data.from_port == 1)
            return true;
    return false;
}

/* The launch-completion edges that order nothing on broken devices */
static bool completion_lost(const struct arc *a)
{
    const struct faults *f = &device.faults;
    if (a->data.type != 0 || a->data.from_port != 2)
        return false;
    return f->start_edges_ignored || (f->start_edge_to_others_lost && a->to->type != cudaGraphNodeTypeKernel) ||
           (f->completion_of_dependent_lost && a->from->op->attributed) || (f->completion_beside_trigger_lost && is_beside_trigger(a));
}

/* On a device where a value after a kernel that has a programmatic edge as well is written at its trigger. */
static bool is_value_beside(const struct arc *a)
{
    const struct graph *in = a->to->graph;
    for (size_t i = 0; device.faults.value_beside_dependent_early && a->to->type == NODE_OF_VALUE && i < in->arcs; i++)
        if (in->arc[i].from == a->from && in->arc[i].data.type == cudaGraphDependencyTypeProgrammatic)
            return true;
    return false;
}

/* Whether edges lead from the one node to the other over so many nodes, or more, up to a few. */
static bool leads_over(const struct node *from, const struct node *to, unsigned nodes, unsigned most)
{
    const struct graph *in = to->graph;
    for (size_t i = 0; most != 0 && i < in->arcs; i++)
        if (in->arc[i].from == from && in->arc[i].to != to && leads_over(in->arc[i].to, to, nodes == 0 ? 0 : nodes - 1, most - 1))
            return true;
    for (size_t i = 0; nodes == 0 && i < in->arcs; i++)
        if (in->arc[i].from == from && in->arc[i].to == to)
            return true;
    return false;
}

/* Devices that take an edge for redundant beside others */
static bool is_dropped(const struct arc *a)
{
    const struct faults *f = &device.faults;
    if (a->data.type == cudaGraphDependencyTypeProgrammatic)
        return f->redundant_program_edge_dropped && leads_over(a->from, a->to, 1, 5);
    return edge_is_default(a->data) && ((f->redundant_edge_dropped && leads_over(a->from, a->to, 1, 5)) ||
                                        (f->far_redundant_edge_dropped && leads_over(a->from, a->to, 3, 5)));
}

/* Devices that cut large graphs into pieces */
static bool crosses(const struct arc *a)
{
    return a->from->index / 1024 != a->to->index / 1024;
}

/* What a wait covers for an edge of a graph: on a device where copies of a child graph share it, that of the first one. */
static struct op *covered_of(const struct arc *a)
{
    const struct node *owner = a->to->graph->owner;
    for (size_t i = 0; device.faults.child_copies_share_cover && owner != NULL && i < owner->index; i++) {
        const struct node *other = owner->graph->node[i];
        bool alike = other->type == cudaGraphNodeTypeGraph && other->child_of == owner->child_of && !leads_over(other, owner, 0, 5);
        if (alike && other->child[0]->node[a->from->index]->last != NULL)
            return other->child[0]->node[a->from->index]->last;
    }
    return a->from->last;
}

/* What an edge means: EDGE-01, EDGE-09, EDGE-10; (2,0,default) is F18's launch completion, which no wait covers. */
void arc_orders(const struct arc *a)
{
    bool programmatic = a->data.type == cudaGraphDependencyTypeProgrammatic;
    enum edge_kind kind = EDGE_DONE;
    bool takes = device.cc >= 90 && takes_overlap();
    bool uncovered = device.faults.edge_becomes_launch_completion || (device.faults.program_event_not_covered && a->of_event);
    if (takes && a->of_event && device.faults.program_event_first_block)
        kind = EDGE_TOUCHED;
    else if (takes && a->data.from_port == 1)
        kind = lets_go_at_touch(a) ? EDGE_TOUCHED : trigger_for(a->to->op);
    else if (takes && a->data.from_port == 2)
        kind = starts_early(a) ? EDGE_TURN : EDGE_STARTED;
    else if (takes && device.faults.full_becomes_programmatic && a->from->op->kind == OP_KERNEL &&
             a->to->op->kind == OP_KERNEL)
        kind = EDGE_TRIGGERED;
    if (device.faults.new_function_lets_go && kind == EDGE_TRIGGERED && a->from->kernel != NULL && a->from->kernel->never_triggered)
        kind = EDGE_STARTED;
    if (device.faults.later_round_at_touch && queued.rounds != 0 && kind == EDGE_TRIGGERED)
        kind = EDGE_TOUCHED;
    a->to->op->features |= a->to->incoming >= 3 ? HAS(fanin) : 0;
    device.edge_features = (a->to->incoming >= 3 ? HAS(fanin) : 0) | (a->nth >= 2 ? HAS(thirdedge) : 0);
    bool nested = a->to->last != a->to->op, body = a->to->type == cudaGraphNodeTypeConditional;
    if (nested && a->from->op->kind == OP_KERNEL && (body ? device.faults.body_begins_early : device.faults.child_begins_early))
        kind = EDGE_STARTED;
    bool of_body = a->from->type == cudaGraphNodeTypeConditional;
    struct op *from = (of_body ? device.faults.body_ends_early : device.faults.child_ends_early) ? a->from->op : a->from->last;
    const struct graph *in = a->to->graph;
    if (nested && !body && device.faults.nested_child_begins_early && in->owner != NULL && a->from->op->kind == OP_KERNEL)
        kind = EDGE_STARTED;
    bool children = a->from->type == cudaGraphNodeTypeGraph && a->to->type == cudaGraphNodeTypeGraph;
    bool cut = (device.faults.ninth_dependent_unordered && a->nth >= 8) || (device.faults.seventeenth_edge_ignored && a->into >= 16) ||
               (device.faults.child_behind_child_early && children) || (device.faults.disabled_cuts && a->from->disabled);
    bool empties = a->from->type == cudaGraphNodeTypeEmpty && a->to->type == cudaGraphNodeTypeEmpty;
    cut |= (device.faults.body_before_set_lost && of_body && a->to->type == cudaGraphNodeTypeMemset) ||
           (device.faults.set_before_body_lost && body && a->from->type == cudaGraphNodeTypeMemset) ||
           (device.faults.disabled_orders_one && a->from->disabled && a->nth > 0);
    cut |= (device.faults.second_empty_cuts && empties) || (device.faults.child_before_body_lost && body && a->from->type == cudaGraphNodeTypeGraph);
    cut |= body && ((device.faults.copy_before_body_lost && a->from->type == cudaGraphNodeTypeMemcpy) ||
                    (device.faults.host_before_body_lost && a->from->type == cudaGraphNodeTypeHost) ||
                    (device.faults.empty_before_body_lost && a->from->type == cudaGraphNodeTypeEmpty));
    cut |= device.faults.fan_of_sixteen_cut && a->nth >= 16;
    cut |= device.faults.fourth_into_empty_lost && a->into >= 3 && a->to->type == cudaGraphNodeTypeEmpty;
    cut |= device.faults.idle_condition_cuts && of_body && node_body(a->from) == NULL;
    cut |= device.faults.second_child_cut && children && a->from->child_of == a->to->child_of;
    cut |= crossing_cuts(a) || children_cut(a) || disabling_cuts(a) || crowd_cuts(a);
    bool port_lost = programmatic && ((device.faults.disabled_port_lost && a->from->disabled) ||
                                      (device.faults.disabled_port_lost_again && a->from->disabled && queued.launches > 1) ||
                                      (device.faults.port_to_disabled_lost && a->to->disabled) ||
                                      (device.faults.idle_round_frees_pair && queued.after_idle));
    bool later_round = queued.rounds != 0;
    cut |= device.faults.captured_value_unordered && a->to->type == NODE_OF_VALUE;
    cut |= device.faults.captured_await_passed && a->from->type == NODE_OF_VALUE && a->from->value.awaited;
    cut |= device.faults.alloc_node_unordered && a->to->type == cudaGraphNodeTypeMemAlloc;
    cut |= device.faults.later_round_edge_lost && later_round && programmatic;
    bool ignored = cut || port_lost || (device.faults.one_edge_is_enough && !a->first) || (device.faults.sixth_edge_ignored && a->into >= 5);
    bool full_lets_go = (device.faults.second_exec_full && queued.features & HAS(secondexec)) || (device.faults.third_launch_full && queued.launches > 2) ||
                        (device.faults.nested_child_unordered && in_nested_child(a->to));
    unsigned level = graph_level(in);
    full_lets_go |= device.faults.fourth_level_unordered && level >= 4;
    full_lets_go |= device.faults.level_32_unordered && level >= 32;
    full_lets_go |= (device.faults.level_8_unordered && level >= 8) || is_first_beside(a) || is_one_of_17_beside(a) || is_value_beside(a);
    full_lets_go |= device.faults.chosen_full_edge_lets_go && queued.chosen;
    full_lets_go |= (device.faults.launch_257_lets_go && queued.launches > 256) || (device.faults.launch_1025_lets_go && queued.launches > 1024);
    full_lets_go |= device.faults.fifth_round_lets_go && queued.rounds >= 4;
    full_lets_go |= device.faults.many_blocks_in_body_let_go && is_many(a->from) && graph_is_inside(in, cudaGraphNodeTypeConditional);
    full_lets_go |= device.faults.late_map_passed && a->from->kernel != NULL && (a->from->kernel->late_from >> 9 & 1) != 0;
    bool mixed = false;
    for (size_t i = 0; device.faults.eighth_launch_mixed_lost && i < in->arcs; i++)
        mixed |= in->arc[i].to == a->to && in->arc[i].data.type == cudaGraphDependencyTypeProgrammatic;
    ignored |= mixed && queued.launches >= 8 && a->to->incoming >= 3 && edge_is_default(a->data);
    if (kind == EDGE_DONE && a->from->op->kind == OP_KERNEL &&
        ((device.faults.alloc_node_at_trigger && a->to->type == cudaGraphNodeTypeMemAlloc) ||
         (device.faults.captured_value_at_trigger && a->to->type == NODE_OF_VALUE) ||
         (device.faults.free_node_at_trigger && a->to->type == cudaGraphNodeTypeMemFree)))
        kind = EDGE_TRIGGERED;
    if (device.faults.hundredth_launch_lets_go && kind == EDGE_DONE && queued.launches >= 100)
        kind = EDGE_STARTED;
    full_lets_go |= (device.faults.edge_across_1024_lets_go && crosses(a)) || copied_in_part(a) || a->lost_order;
    if (full_lets_go && kind == EDGE_DONE)
        kind = EDGE_TRIGGERED;
    ignored |= completion_lost(a) || is_dropped(a);
    bool ranked = (queued.flags & cudaGraphInstantiateFlagUseNodePriority) != 0 && has_priority(a->from);
    ignored |= device.faults.ranked_unordered && ranked && edge_is_default(a->data);
    ignored |= device.faults.chosen_copy_passed && queued.chosen && a->from->type == cudaGraphNodeTypeMemcpy;
    ignored |= device.faults.later_round_copy_passed && later_round && a->from->type == cudaGraphNodeTypeMemcpy;
    ignored |= device.faults.chosen_child_passed && queued.chosen && a->from->type == cudaGraphNodeTypeGraph;
    ignored |= device.faults.later_round_second_edge_lost && later_round && a->into > 0;
    ignored |= device.faults.moved_child_unordered && edge_is_default(a->data) && in->moved;
    ignored |= device.faults.later_round_body_passed && later_round && of_body;
    if (device.faults.loop_join_lost && in->owner != NULL && in->owner->choice == BODY_LOOP && of_body && a->from->incoming != 0 && a->into > 0)
        op_after(a->to->op, op_new(OP_JOIN), EDGE_DONE); /* which never comes */
    if (!ignored)
        op_after(a->to->op, from, kind);
    uncovered |= (device.faults.later_round_uncovered && later_round) || (device.faults.chosen_uncovered && queued.chosen);
    uncovered |= is_beyond_32_beside_full(a);
    uncovered |= is_dropped(a) || a->lost_cover;
    uncovered |= device.faults.edge_across_1024_uncovered && crosses(a);
    uncovered |= device.faults.far_edge_uncovered && a->from->index + 1000 <= a->to->index;
    if (programmatic && !port_lost && !uncovered && !arc_uncovered(a))
        op_covers(a->to->op, covered_of(a));
    device.edge_features = 0;
}
