/* What a launch of an executable graph queues. */
#include "api.h"
#include "choices.h"

#include <string.h>

struct queued queued;

static bool has_priority(const struct node *n)
{
    for (unsigned i = 0; n->kernel != NULL && i < n->kernel->num_attrs; i++)
        if (n->kernel->attrs[i].id == cudaLaunchAttributePriority)
            return true;
    return false;
}

static struct op *record_op(const struct node *n)
{
    struct op *op = op_new(OP_RECORD);
    const struct event *e = event_of(n->event);
    if (e == NULL || (device.faults.record_node_keeps_pending && e->by_node && e->op != NULL && !e->op->retired))
        return op;
    bool in_flight = e->op != NULL && !e->op->retired;
    if (in_flight && ((device.faults.record_node_keeps_launch && e->recorded == RECORDED_PROGRAMMATIC) ||
                      (device.faults.record_node_keeps_completion && e->recorded == RECORDED_LAUNCH)))
        return op;
    if (device.faults.node_record_frees_waiters && e->op != NULL)
        streams_drop(e->op);
    event_takes(event_of(n->event), RECORDED_ORDINARY, op, false);
    if (device.faults.record_node_records_both && event_of(n->old_event) != NULL)
        event_takes(event_of(n->old_event), RECORDED_ORDINARY, op, false);
    event_of(n->event)->by_node = true;
    event_of(n->event)->by_captured = n->captured;
    event_of(n->event)->launched_at = device.clock;
    if (device.faults.record_node_early || (device.faults.sleeping_record_node_early && event_of(n->event)->flags & cudaEventBlockingSync))
        event_of(n->event)->op = NULL;
    return op;
}

/* Waits for what the event stood for when the graph was launched. */
static struct op *wait_op(const struct node *n)
{
    struct op *op = op_new(OP_JOIN);
    const struct event *e = event_of(n->event);
    bool unseen = device.faults.launch_event_not_awaited && e != NULL && e->recorded != RECORDED_ORDINARY;
    unseen |= device.faults.wait_node_passes_completion && e != NULL && e->recorded == RECORDED_LAUNCH;
    if (e != NULL && e->in != NULL)
        unseen |= (device.faults.wait_node_passes_legacy && stream_is_legacy(e->in)) || (device.faults.wait_node_passes_left && e->in->magic == 0) ||
                  (device.faults.wait_node_passes_urgent && e->in->priority < 0);
    unseen |= e != NULL && ((device.faults.wait_node_passes_graph && e->behind_graph) || (device.faults.wait_node_passes_nodes && e->by_node) ||
                            (device.faults.wait_node_passes_ipc && (e->flags & cudaEventInterprocess) != 0));
    bool at_start = device.faults.wait_node_at_start && e != NULL && e->recorded == RECORDED_PROGRAMMATIC;
    unseen |= device.faults.wait_node_in_child_passes && n->graph->owner != NULL;
    if (e != NULL && e->op != NULL && !device.faults.wait_node_early && !unseen)
        op_after(op, e->op, at_start ? EDGE_STARTED : e->device_at);
    return op;
}

/* Devices on which a record node records nothing: in a child graph, or after so many others of its graph. */
static bool records_nothing(const struct node *n)
{
    unsigned before = 0;
    for (size_t i = 0; i < n->index; i++)
        before += n->graph->node[i]->type == cudaGraphNodeTypeEventRecord;
    return (device.faults.third_record_node_lost && before >= 2) || (device.faults.fifth_record_node_lost && before >= 4) ||
           (device.faults.record_node_in_child_lost && n->graph->owner != NULL);
}

/* What a host function is called with: on some devices another's. */
static void *host_data_of(const struct node *n)
{
    const struct node *first = n->graph->node[0], *before = n->index > 0 ? n->graph->node[n->index - 1] : NULL;
    if (device.faults.fifth_host_takes_data && n->index >= 4 && before->type == cudaGraphNodeTypeHost)
        return before->host.userData;
    if (device.faults.seventeenth_host_takes_data && n->index >= 16 && first->type == cudaGraphNodeTypeHost)
        return first->host.userData;
    return n->host.userData;
}

static bool in_nested_child(const struct node *n)
{
    const struct node *owner = n->graph->owner;
    return owner != NULL && owner->type == cudaGraphNodeTypeGraph && owner->graph->owner != NULL;
}

struct op *node_op(const struct node *n)
{
    struct op *op;
    bool runs_all_the_same = n->type == cudaGraphNodeTypeKernel ? device.faults.disabled_cooperative_runs && n->kernel->cooperative
                                                                : device.faults.disabled_runs;
    runs_all_the_same |= device.faults.captured_disabled_runs && n->captured;
    runs_all_the_same |= device.faults.second_exec_runs_disabled && queued.features & HAS(secondexec);
    runs_all_the_same |= device.faults.disabled_layers_run && n->type == cudaGraphNodeTypeMemcpy && n->move.layers > 1;
    bool rests = device.faults.late_child_nodes_rest && n->late;
    rests |= queued.half && n->graph->owner == NULL && n->index >= n->graph->nodes / 2;
    if ((n->disabled && !runs_all_the_same) || rests)
        return op_new(OP_JOIN);
    switch ((int)n->type) {
    case cudaGraphNodeTypeKernel:
        if (device.faults.body_cuts_arguments && n->kernel->kernel->args_bytes > 64 && graph_is_inside(n->graph, cudaGraphNodeTypeConditional))
            memset(n->kernel->args + 64, 0, n->kernel->kernel->args_bytes - 64);
        n->kernel->cooperative &= !(device.faults.nested_cooperative_is_plain && in_nested_child(n));
        if (device.faults.args_return_after_16 && queued.launches > 16)
            memcpy(n->kernel->args, n->kernel->first_args, n->kernel->kernel->args_bytes);
        return request_op(n->kernel);
    case cudaGraphNodeTypeMemcpy: op = op_new(OP_COPY); break;
    case cudaGraphNodeTypeMemset: op = op_new(OP_SET); break;
    case cudaGraphNodeTypeHost:
        op = op_new(OP_HOST);
        op->host.call = n->host.fn;
        op->host.data = host_data_of(n);
        return op;
    case cudaGraphNodeTypeEventRecord: return records_nothing(n) ? op_new(OP_JOIN) : record_op(n);
    case cudaGraphNodeTypeWaitEvent: return wait_op(n);
    default: return op_new(OP_JOIN);
    }
    op->move = n->move;
    if (device.faults.long_nodes_cut && op->move.bytes > 4096)
        op->move.bytes = 4096;
    return op;
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
           (f->edge_129_into_ignored && a->into >= 128) || (f->edge_65_out_ignored && a->nth >= 64) ||
           (f->edge_129_out_ignored && a->nth >= 128) || (f->edge_17_into_empty_lost && to_empty && a->into >= 16) ||
           (f->ninth_after_set_lost && a->nth >= 8 && a->from->type == cudaGraphNodeTypeMemset);
}

/* How many graphs a graph lies in. */
static unsigned level_of(const struct graph *g)
{
    unsigned level = 0;
    for (const struct node *owner = g->owner; owner != NULL; owner = owner->graph->owner)
        level++;
    return level;
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
    if ((f->updated_cooperative_uncovered && updated && to != NULL && to->cooperative) ||
        (f->cooperative_in_body_uncovered && in_body && from != NULL && from->cooperative))
        return true;
    if ((f->child_behind_child_uncovered && behind_child(a->to->graph)) || (f->rejoined_uncovered && a->rejoins))
        return true;
    const struct node *owner = a->to->graph->owner;
    if (f->else_uncovered && owner != NULL && owner->choice == BODY_IF && a->to->graph != owner->child[0])
        return true;
    if (f->long_args_uncover && a->to->kernel != NULL && a->to->kernel->kernel->args_bytes > 128)
        return true;
    if (f->others_graph_uncovers && a->to->graph->made_elsewhere)
        return true;
    if ((f->edge_17_uncovered && a->into >= 16) || (f->edge_33_uncovered && a->into >= 32))
        return true;
    if (f->third_level_uncovered && level_of(a->to->graph) >= 3)
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
           (f->updated_cooperative_at_touch && queued.features & HAS(updated) && a->from->kernel != NULL && a->from->kernel->cooperative);
}

/* On a device where a full edge lets go at the trigger, if it is the first of its node and another one is programmatic. */
static bool is_first_beside(const struct arc *a)
{
    const struct graph *in = a->to->graph;
    for (size_t i = 0; device.faults.first_beside_lets_go && a->first && i < in->arcs; i++)
        if (in->arc[i].to == a->to && in->arc[i].data.type == cudaGraphDependencyTypeProgrammatic)
            return true;
    return false;
}

/* What an edge means: EDGE-01, EDGE-09, EDGE-10; (2,0,default) is F18's launch completion, which no wait covers. */
static void arc_orders(const struct arc *a)
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
                                      (device.faults.port_to_disabled_lost && a->to->disabled));
    bool later_round = queued.rounds != 0;
    cut |= device.faults.later_round_edge_lost && later_round && programmatic;
    bool ignored = cut || port_lost || (device.faults.one_edge_is_enough && !a->first) || (device.faults.sixth_edge_ignored && a->into >= 5);
    bool full_lets_go = (device.faults.second_exec_full && queued.features & HAS(secondexec)) || (device.faults.third_launch_full && queued.launches > 2) ||
                        (device.faults.nested_child_unordered && in_nested_child(a->to));
    unsigned level = level_of(in);
    full_lets_go |= device.faults.fourth_level_unordered && level >= 4;
    full_lets_go |= (device.faults.level_8_unordered && level >= 8) || is_first_beside(a);
    full_lets_go |= device.faults.chosen_full_edge_lets_go && queued.chosen;
    full_lets_go |= device.faults.fifth_round_lets_go && queued.rounds >= 4;
    full_lets_go |= device.faults.many_blocks_in_body_let_go && is_many(a->from) && graph_is_inside(in, cudaGraphNodeTypeConditional);
    bool mixed = false;
    for (size_t i = 0; device.faults.eighth_launch_mixed_lost && i < in->arcs; i++)
        mixed |= in->arc[i].to == a->to && in->arc[i].data.type == cudaGraphDependencyTypeProgrammatic;
    ignored |= mixed && queued.launches >= 8 && a->to->incoming >= 3 && edge_is_default(a->data);
    if (device.faults.hundredth_launch_lets_go && kind == EDGE_DONE && queued.launches >= 100)
        kind = EDGE_STARTED;
    if (full_lets_go && kind == EDGE_DONE)
        kind = EDGE_TRIGGERED;
    ignored |= device.faults.start_edge_to_others_lost && !programmatic && a->data.from_port == 2 && a->to->type != cudaGraphNodeTypeKernel;
    bool ranked = (queued.flags & cudaGraphInstantiateFlagUseNodePriority) != 0 && has_priority(a->from);
    ignored |= device.faults.ranked_unordered && ranked && edge_is_default(a->data);
    ignored |= device.faults.start_edges_ignored && !programmatic && a->data.from_port == 2;
    ignored |= device.faults.chosen_copy_passed && queued.chosen && a->from->type == cudaGraphNodeTypeMemcpy;
    ignored |= device.faults.later_round_copy_passed && later_round && a->from->type == cudaGraphNodeTypeMemcpy;
    if (!ignored)
        op_after(a->to->op, from, kind);
    uncovered |= (device.faults.later_round_uncovered && later_round) || (device.faults.chosen_uncovered && queued.chosen);
    if (programmatic && !port_lost && !uncovered && !arc_uncovered(a))
        op_covers(a->to->op, a->from->last);
    device.edge_features = 0;
}

static unsigned chain_depth(const struct node *n)
{
    unsigned deepest = 0;
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && n->graph->arc[i].from->op != NULL && n->graph->arc[i].from->op->depth + 1 > deepest)
            deepest = n->graph->arc[i].from->op->depth + 1;
    return deepest;
}

static uint64_t node_features(const struct node *n)
{
    uint64_t has = n->type == cudaGraphNodeTypeMemset ? HAS(memset) : n->type == cudaGraphNodeTypeMemcpy ? HAS(copy)
                   : n->type == cudaGraphNodeTypeHost ? HAS(host) : 0;
    return has | queued.features | (n->captured ? HAS(captured) : 0) | (n->reenabled ? HAS(reenabled) : 0);
}

/* A node that waits for an event and that no node comes before, or one that comes after such nodes only */
static bool only_awaits(const struct node *n)
{
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && (n->graph->arc[i].from->incoming != 0 || n->graph->arc[i].from->type != cudaGraphNodeTypeWaitEvent))
            return false;
    return n->incoming != 0 || n->type == cudaGraphNodeTypeWaitEvent;
}

/* What runs is decided once the node begins. */
static void queue_undecided(struct node *n)
{
    struct queued outside = queued;
    queued.features |= HAS(body);
    n->last = op_new(OP_JOIN);
    n->op->loop = device.faults.later_round_inner_body_idle && queued.rounds != 0 ? NULL : loop_new(n, n->last);
    if (n->choice == BODY_LOOP)
        n->last->loop = loop_new(n, NULL);
    queued = outside;
    op_after(n->last, n->op, EDGE_DONE);
}

static void node_queue(struct node *n, struct op *start)
{
    bool undecided = n->undecided && !device.faults.chosen_at_launch;
    if (device.faults.inner_loop_runs_once && n->choice == BODY_LOOP && queued.rounds != 0)
        undecided = false;
    const struct graph *body = undecided ? NULL : n->undecided ? node_body_by(n, condition_now(n->handle)) : node_body(n);
    n->op = n->last = node_op(n);
    n->op->features |= node_features(n);
    n->op->depth = device.drawn.features & HAS(deep) ? chain_depth(n) : 0;
    n->op->features |= n->op->depth >= 4 ? HAS(deep) : 0;
    bool passes = device.faults.first_wait_node_passes_stream && only_awaits(n);
    if (!(device.faults.second_root_free && n->incoming == 0 && n->index > 0) && !passes)
        op_after(n->op, start, EDGE_RETIRED);
    if (undecided) {
        queue_undecided(n);
        return;
    }
    if (body == NULL)
        return;
    n->last = op_new(OP_JOIN);
    if (body->nodes == 0 && n->type == cudaGraphNodeTypeConditional && device.faults.empty_body_cuts)
        return;
    if (device.faults.empty_child_in_body_cuts && body->nodes == 0 && graph_is_inside(n->graph, cudaGraphNodeTypeConditional))
        return;
    struct queued outside = queued;
    queued.features |= n->type == cudaGraphNodeTypeConditional ? HAS(body) : HAS(child);
    if (n->choice == BODY_LOOP)
        n->last->loop = loop_new(n, NULL);
    queue_between(body, n->op, n->last);
    queued = outside;
    for (unsigned c = 0; device.faults.all_bodies_run && n->type == cudaGraphNodeTypeConditional && c < n->children; c++)
        if (n->child[c] != body)
            queue_between(n->child[c], n->op, n->last);
    op_after(n->last, n->op, EDGE_DONE);
}

/* A disabled node that nothing comes after, or one that only such a node comes after: what the device disabled-end-forgotten does not wait for. */
static bool ends_in_disabled(const struct graph *g, const struct node *n)
{
    if (n->outgoing == 0)
        return n->disabled;
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].from == n && !(g->arc[i].to->disabled && g->arc[i].to->outgoing == 0))
            return false;
    return true;
}

/* A kernel of a body that others come after by its trigger or its block starts: what the end of the body forgets on two devices. */
static bool ends_by_others(const struct graph *g, const struct node *n)
{
    bool programmatic = false, begun = false;
    if (!(device.faults.body_ends_by_programmatic || device.faults.body_ends_by_begun) || !graph_is_inside(g, cudaGraphNodeTypeConditional))
        return false;
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].from == n) {
            programmatic |= g->arc[i].data.type == cudaGraphDependencyTypeProgrammatic;
            begun |= g->arc[i].data.type == 0 && g->arc[i].data.from_port == 2;
        }
    return (device.faults.body_ends_by_programmatic && programmatic) || (device.faults.body_ends_by_begun && begun);
}

/* A node of a child graph that nothing comes after, and that is not the first such one. */
static bool is_later_end(const struct graph *g, size_t at)
{
    bool before = false;
    for (size_t i = 0; i < at; i++)
        before |= g->node[i]->outgoing == 0;
    return before && g->node[at]->outgoing == 0 && graph_is_inside(g, cudaGraphNodeTypeGraph);
}

/* The nodes of g after start and before end; neither is submitted here. */
void queue_between(const struct graph *g, struct op *start, struct op *end)
{
    for (size_t i = 0; i < g->nodes; i++)
        node_queue(g->node[i], start);
    for (size_t i = 0; i < g->arcs; i++)
        if (!(device.faults.large_graph_cut && i >= 300))
            arc_orders(&g->arc[i]);
    bool copies = device.faults.copies_end_no_body && graph_is_inside(g, cudaGraphNodeTypeConditional);
    bool rounds_meet = device.faults.rounds_meet && g->owner != NULL && g->owner->choice == BODY_LOOP;
    bool meets = rounds_meet || (device.faults.child_ends_at_trigger && graph_is_inside(g, cudaGraphNodeTypeGraph));
    for (size_t i = device.faults.graph_ends_early ? g->nodes - 1 : 0; i < g->nodes; i++)
        if (!(device.faults.chosen_ends_early && queued.chosen && i > 0) && !(device.faults.child_ends_by_first && is_later_end(g, i)) &&
            !(device.faults.disabled_end_forgotten && ends_in_disabled(g, g->node[i])) &&
            !(copies && g->nodes > 1 && g->node[i]->type == cudaGraphNodeTypeMemcpy) && !ends_by_others(g, g->node[i]))
            op_after(end, g->node[i]->last, meets ? EDGE_TRIGGERED : EDGE_DONE);
    for (size_t i = 0; i < g->nodes; i++) {
        op_submit(g->node[i]->op);
        if (g->node[i]->last != g->node[i]->op)
            op_submit(g->node[i]->last);
    }
}

static bool has_kernels(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        if (g->node[i]->type == cudaGraphNodeTypeKernel)
            return true;
        for (unsigned c = 0; c < g->node[i]->children; c++)
            if (has_kernels(g->node[i]->child[c]))
                return true;
    }
    return false;
}

static bool has_disabled(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->disabled)
            return true;
    return false;
}

/* Whether what the stream holds is nothing to what comes after the graph, on the devices that cut there. */
static bool cuts(const struct graph *g)
{
    bool idle = g->nodes != 0;
    for (size_t i = 0; i < g->nodes; i++)
        idle &= g->node[i]->disabled;
    return (device.faults.empty_graph_cuts && g->nodes == 0) || (device.faults.idle_graph_cuts && idle);
}

cudaError_t graph_queue(struct graph_exec *exec, struct stream *s)
{
    struct op *start = op_new(OP_JOIN), *end = op_new(OP_JOIN), *before = s->kernel_tail;
    bool running = exec->running != NULL && !exec->running->retired, after_empty = s->behind_empty, awaits = s->waits != 0;
    if (device.faults.running_graph_passes_stream && running && exec->in != s)
        stream_cuts(s);
    if (device.faults.graph_passes_given && stream_given(s, 8))
        stream_cuts(s);
    bool sibling = s->behind_graph && s->behind_graph_of == exec->made_from && exec->in != s;
    if (device.faults.siblings_pass && sibling && s->tail != NULL && !s->tail->retired)
        stream_cuts(s);
    s->behind_graph_of = exec->made_from;
    if (cuts(exec->copy) || (device.faults.graph_passes_empty && s->behind_empty))
        stream_cuts(s);
    if (device.faults.graph_root_overlaps && before != NULL) {
        op_after(start, before, EDGE_TRIGGERED);
        op_covers(end, before); /* the stream itself stays in order */
        s->kernel_tail = NULL;
        s->waits = 0;
    } else {
        bool second = (exec->features & HAS(secondexec)) != 0 && (exec->features & HAS(uploaded)) != 0;
        bool first = (exec->features & HAS(secondexec)) == 0 && (s->tail == NULL || s->tail->retired);
        bool forgets = (device.faults.second_exec_forgets_events && second) || (device.faults.first_exec_forgets_events && first);
        forgets |= device.faults.running_graph_forgets_events && running;
        if (device.faults.graph_keeps_last_event && s->waits > 1) {
            s->wait[0] = s->wait[s->waits - 1];
            s->waits = 1;
        }
        if (device.faults.graph_keeps_first_event && s->waits > 1)
            s->waits = 1;
        s->waits = device.faults.graph_forgets_events || forgets ? 0 : s->waits;
        stream_append(s, start, false);
    }
    if ((device.faults.other_thread_launch_overlaps && device.other_thread) || (device.faults.disabled_node_frees_exec && has_disabled(exec->copy)))
        exec->running = NULL;
    if ((device.faults.exec_behind_empty_overlaps && after_empty && exec->launches > 1) ||
        (device.faults.others_exec_overlaps && exec->made_elsewhere) || (device.faults.sourceless_exec_overlaps && exec->source_gone))
        exec->running = NULL;
    if (!running)
        exec->in_flight = 0;
    bool third = device.faults.third_in_flight_free && exec->in_flight++ >= 2;
    if ((device.faults.urgent_exec_overlaps && s->priority < 0 && exec->in != s) || (device.faults.awaiting_exec_overlaps && awaits))
        exec->running = NULL;
    if (device.faults.lone_node_overlaps_itself && exec->copy->nodes == 1)
        exec->running = NULL;
    exec->in = s;
    if (exec->running != NULL && !device.faults.exec_overlaps_itself && !third)
        op_after(start, exec->running, EDGE_RETIRED); /* launches of one executable graph never overlap */
    bool forgotten = (device.faults.legacy_exec_overlapped && stream_is_legacy(s)) ||
                     (device.faults.per_thread_exec_overlapped && stream_is_per_thread(s));
    exec->running = forgotten ? NULL : end;
    queued.features = HAS(graph) | exec->features;
    queued.launches = ++exec->launches;
    queued.in_legacy = stream_is_legacy(s);
    queued.flags = exec->flags;
    queued.half = device.faults.uploaded_elsewhere_half && exec->launches == 1 && exec->uploaded_in != NULL && exec->uploaded_in != s;
    queue_between(exec->copy, start, end);
    if (exec->copy->nodes == 0)
        op_after(end, start, EDGE_RETIRED);
    exec->features |= HAS(again);
    op_submit(start);
    if (has_kernels(exec->copy))
        s->previous_kernel = NULL;
    s->tail = s->last_kernel = end;
    s->behind_host_graph = exec->copy->nodes == 1 && exec->copy->node[0]->type == cudaGraphNodeTypeHost;
    s->behind_graph = true;
    s->behind_empty = exec->copy->nodes == 0;
    op_submit(end);
    return cudaSuccess;
}
