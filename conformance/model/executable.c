/* What a launch of an executable graph queues. */
#include "api.h"
#include "choices.h"

#include <string.h>

struct queued queued;

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

/* How many nodes of its kind its graph had before it. */
static unsigned alike_before(const struct node *n)
{
    unsigned before = 0;
    for (size_t i = 0; i < n->index; i++)
        before += n->graph->node[i]->type == n->type;
    return before;
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
    unseen |= device.faults.fifth_wait_node_passes && alike_before(n) >= 4;
    if (e != NULL && e->op != NULL && !device.faults.wait_node_early && !unseen)
        op_after(op, e->op, at_start ? EDGE_STARTED : e->device_at);
    return op;
}

/* Devices on which a record node records nothing: in a child graph, or after so many others of its graph. */
static bool records_nothing(const struct node *n)
{
    unsigned before = alike_before(n);
    return (device.faults.third_record_node_lost && before >= 2) || (device.faults.fifth_record_node_lost && before >= 4) ||
           (device.faults.record_node_17_lost && before >= 16) || (device.faults.record_node_in_child_lost && n->graph->owner != NULL);
}

/* Devices on which a graph writes a value, or waits for one, when it is launched first only. */
static bool value_came_once(const struct value *v)
{
    return queued.launches > 1 && (v->awaited ? device.faults.value_awaited_once : device.faults.value_written_once);
}

/* Devices on which a node that writes a value, or waits for one, does nothing. */
static bool captured_value_lost(const struct node *n)
{
    return value_came_once(&n->value) || (n->value.awaited ? device.faults.captured_await_lost : device.faults.captured_value_lost);
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

struct op *node_op(const struct node *n)
{
    struct op *op;
    bool runs_all_the_same = n->type == cudaGraphNodeTypeKernel ? device.faults.disabled_cooperative_runs && n->kernel->cooperative
                                                                : device.faults.disabled_runs;
    runs_all_the_same |= device.faults.captured_disabled_runs && n->captured;
    runs_all_the_same |= device.faults.second_exec_runs_disabled && queued.features & HAS(secondexec);
    runs_all_the_same |= device.faults.disabled_layers_run && n->type == cudaGraphNodeTypeMemcpy && n->move.layers > 1;
    bool rests = device.faults.late_child_nodes_rest && n->late;
    rests |= device.faults.loop_set_once && queued.rounds != 0 && n->type == cudaGraphNodeTypeMemset;
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
        op = request_op(n->kernel);
        op->original = n->original;
        op->node.graph = n->graph->first;
        op->node.place = n->index;
        op->node.in_child = n->graph->owner != NULL && n->graph->owner->type == cudaGraphNodeTypeGraph;
        return op;
    case cudaGraphNodeTypeMemcpy: op = op_new(OP_COPY); break;
    case cudaGraphNodeTypeMemset: op = op_new(OP_SET); break;
    case cudaGraphNodeTypeHost:
        op = op_new(OP_HOST);
        op->host.call = n->host.fn;
        op->host.data = host_data_of(n);
        op_shares_image(op, n->original, queued.launches);
        return op;
    case cudaGraphNodeTypeEventRecord: return records_nothing(n) ? op_new(OP_JOIN) : record_op(n);
    case cudaGraphNodeTypeWaitEvent: return wait_op(n);
    case NODE_OF_VALUE: return captured_value_lost(n) ? op_new(OP_JOIN) : value_op(&n->value);
    default: return op_new(OP_JOIN);
    }
    op->move = n->move;
    if (device.faults.long_nodes_cut && op->move.bytes > 4096)
        op->move.bytes = 4096;
    op_shares_image(op, n->original, queued.launches);
    return op;
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

/* What broken devices make of a kernel after the first round of a loop, or in a body that a kernel chooses. */
static void later_round_changes(struct op *op)
{
    if (device.faults.chosen_cooperative_is_plain && queued.chosen && op->grid != NULL)
        op->grid->cooperative = false;
    op->later_round = queued.rounds != 0;
    op->frames_then = queued.frames_then;
    if (!op->later_round || op->grid == NULL)
        return;
    size_t bytes = op->grid->kernel->args_bytes;
    if (device.faults.later_round_args_cut && bytes > 64)
        memset(op->grid->args + 64, 0, bytes - 64);
    op->grid->cooperative &= !device.faults.later_round_cooperative_is_plain;
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

/* What a batch does after its first operation, one after the other. */
static void queue_more_values(struct node *n)
{
    for (unsigned i = 0; i < n->values_more && !(device.faults.built_batch_of_four && i >= 3); i++) {
        struct op *op = value_came_once(&n->more[i]) ? op_new(OP_JOIN) : value_op(&n->more[i]);
        op_after(op, n->last, EDGE_RETIRED);
        if (n->last != n->op)
            op_submit(n->last); /* the first and the last one are submitted with all others */
        n->last = op;
    }
}

/* Whether it is one of the later ones of many nodes that nothing comes before. */
static bool is_root_beyond(const struct node *n, size_t most)
{
    size_t roots = 0;
    for (size_t i = 0; n->incoming == 0 && i < n->index; i++)
        roots += n->graph->node[i]->incoming == 0;
    return roots >= most;
}

static bool faults_need_conditions(void)
{
    const struct faults *f = &device.faults;
    return f->only_neighbour_sets || f->child_set_stays_inside || f->body_set_stays_inside;
}

static void node_queue(struct node *n, struct op *start)
{
    bool undecided = n->undecided && !device.faults.chosen_at_launch;
    if (device.faults.inner_loop_runs_once && n->choice == BODY_LOOP && queued.rounds != 0)
        undecided = false;
    const struct graph *body = undecided ? NULL : n->undecided ? node_body_by(n, condition_now(n->handle)) : node_body(n);
    n->op = n->last = node_op(n);
    n->op->features |= node_features(n);
    if (n->type == cudaGraphNodeTypeKernel && faults_need_conditions())
        op_knows_conditions(n->op, n);
    later_round_changes(n->op);
    n->op->depth = (device.drawn.from | device.drawn.to) & HAS(deep) ? chain_depth(n) : 0;
    n->op->features |= n->op->depth >= 4 ? HAS(deep) : 0;
    bool passes = device.faults.first_wait_node_passes_stream && only_awaits(n);
    bool later_root = n->incoming == 0 && n->index > 0, in_body = n->graph->owner != NULL && n->graph->owner->type == cudaGraphNodeTypeConditional;
    passes |= later_root && (device.faults.second_root_free || (device.faults.body_root_free && in_body && n->graph->owner->incoming != 0));
    passes |= n->graph->owner == NULL ? device.faults.roots_beyond_16_free && is_root_beyond(n, 16)
                                      : device.faults.inner_roots_beyond_32_free && is_root_beyond(n, 32);
    if (!passes)
        op_after(n->op, start, EDGE_RETIRED);
    queue_more_values(n);
    if (undecided) {
        queue_undecided(n);
        return;
    }
    if (body == NULL) {
        loop_guesses(n, body, 0);
        return;
    }
    n->last = op_new(OP_JOIN);
    if (body->nodes == 0 && n->type == cudaGraphNodeTypeConditional && device.faults.empty_body_cuts)
        return;
    if (device.faults.empty_child_in_body_cuts && body->nodes == 0 && graph_is_inside(n->graph, cudaGraphNodeTypeConditional))
        return;
    struct queued outside = queued;
    uint64_t first = device.serial;
    queued.features |= n->type == cudaGraphNodeTypeConditional ? HAS(body) : HAS(child);
    if (n->choice == BODY_LOOP)
        n->last->loop = loop_new(n, NULL);
    queue_between(body, n->op, n->last);
    loop_guesses(n, body, first);
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

/* Whether a graph, a child graph or a body is one of those with room for so many ends. */
static bool has_few_ends(const struct graph *g, size_t ends)
{
    const struct faults *f = &device.faults;
    if (g->owner == NULL)
        return f->ends_beyond_16_passed && ends > 16;
    if (g->owner->choice == BODY_LOOP)
        return f->round_ends_beyond_64_passed && ends > 64;
    return g->owner->type == cudaGraphNodeTypeGraph ? f->child_ends_beyond_32_passed && ends > 32 : f->body_ends_beyond_64_passed && ends > 64;
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
    size_t ends = 0;
    for (size_t i = device.faults.graph_ends_early ? g->nodes - 1 : 0; i < g->nodes; i++) {
        ends += g->node[i]->outgoing == 0;
        if (g->node[i]->outgoing == 0 && has_few_ends(g, ends))
            continue;
        if (!(device.faults.chosen_ends_early && queued.chosen && i > 0) && !(device.faults.child_ends_by_first && is_later_end(g, i)) &&
            !(device.faults.disabled_end_forgotten && ends_in_disabled(g, g->node[i])) &&
            !(copies && g->nodes > 1 && g->node[i]->type == cudaGraphNodeTypeMemcpy) && !ends_by_others(g, g->node[i]))
            op_after(end, g->node[i]->last, meets ? EDGE_TRIGGERED : EDGE_DONE);
    }
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

static bool is_hollow(const struct graph *g)
{
    bool idle = true;
    for (size_t i = 0; i < g->nodes; i++)
        idle &= g->node[i]->disabled;
    return idle;
}

/* Whether what the stream holds is nothing to what comes after the graph, on the devices that cut there. */
static bool cuts(const struct graph *g)
{
    return is_hollow(g) && (g->nodes == 0 ? device.faults.empty_graph_cuts : device.faults.idle_graph_cuts);
}

/* The last one of the nodes that it ends in; NULL if there is one only. */
static struct op *last_of_several_ends(const struct graph *g)
{
    struct op *last = NULL;
    unsigned ends = 0;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->outgoing == 0)
            last = g->node[i]->last, ends++;
    return ends > 1 ? last : NULL;
}

/* The one kernel that it ends in; NULL if it ends in several nodes, or in another one. */
static struct op *only_end(const struct graph *g)
{
    struct op *last = NULL;
    unsigned ends = 0;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->outgoing == 0)
            last = g->node[i]->op, ends++;
    return ends == 1 && last->kind == OP_KERNEL ? last : NULL;
}

/* For the device launch-after-256-ends: what begins once so many of the nodes that the graph ends in have ended; NULL if there are no more. */
static struct op *first_ends(const struct graph *g, unsigned most)
{
    struct op *join = op_new(OP_JOIN);
    unsigned ends = 0;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->outgoing == 0 && ends++ < most)
            op_after(join, g->node[i]->last, EDGE_DONE);
    op_submit(join);
    return ends > most ? join : NULL;
}

cudaError_t graph_queue(struct graph_exec *exec, struct stream *s)
{
    struct op *start = op_new(OP_JOIN), *end = op_new(OP_JOIN), *before = s->kernel_tail;
    upload_ends(exec, s);
    memset(exec->changed, 0, sizeof exec->changed);
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
    unsigned in_flight = exec->in_flight++;
    bool passes = (device.faults.third_in_flight_free && in_flight >= 2) || (device.faults.ninth_in_flight_free && in_flight >= 8);
    if ((device.faults.urgent_exec_overlaps && s->priority < 0 && exec->in != s) || (device.faults.awaiting_exec_overlaps && awaits))
        exec->running = NULL;
    if (device.faults.lone_node_overlaps_itself && exec->copy->nodes == 1)
        exec->running = NULL;
    queued.elsewhere = exec->launches != 0 && exec->in != s;
    bool at_trigger = device.faults.elsewhere_launch_at_trigger && queued.elsewhere && exec->leaf != NULL;
    bool at_leaf = at_trigger || (device.faults.exec_waits_for_last && exec->leaf != NULL);
    enum edge_kind at = at_trigger ? EDGE_TRIGGERED : at_leaf ? EDGE_DONE : EDGE_RETIRED;
    if (device.faults.renewed_stream_frees_exec && running && exec->in == s->renews)
        exec->running = NULL;
    exec->in = s;
    if (exec->running != NULL && !device.faults.exec_overlaps_itself && !passes)
        op_after(start, at_leaf ? exec->leaf : exec->running, at); /* launches of one executable graph never overlap */
    bool forgotten = (device.faults.legacy_exec_overlapped && stream_is_legacy(s)) ||
                     (device.faults.per_thread_exec_overlapped && stream_is_per_thread(s));
    exec->running = forgotten ? NULL : end;
    if (exec->first == NULL || exec->first->retired)
        exec->first = end;
    queued.features = HAS(graph) | exec->features;
    queued.launches = ++exec->launches;
    queued.in_legacy = stream_is_legacy(s);
    queued.by_driver = device.graph_by_driver;
    queued.flags = exec->flags;
    queued.event_given = exec->event_given;
    queued.updated_often = exec->updates_taken > 32;
    queued.frames_then = exec->frames_then;
    launch_sets_conditions(exec->copy, start);
    queued.half = device.faults.uploaded_elsewhere_half && exec->launches == 1 && exec->uploaded_in != NULL && exec->uploaded_in != s;
    queue_between(exec->copy, start, end);
    struct op *some_ends = device.faults.launch_after_256_ends ? first_ends(exec->copy, 256) : NULL;
    exec->running = some_ends != NULL ? some_ends : exec->running;
    exec->leaf = only_end(exec->copy);
    if (exec->copy->nodes == 0)
        op_after(end, start, EDGE_RETIRED);
    exec->features |= HAS(again);
    op_submit(start);
    end->lone = start->lone && !has_kernels(exec->copy);
    if (has_kernels(exec->copy))
        s->previous_kernel = NULL;
    s->tail = s->last_kernel = end;
    s->behind_host_graph = exec->copy->nodes == 1 && exec->copy->node[0]->type == cudaGraphNodeTypeHost;
    s->behind_nested = exec->copy->nodes == 1 && exec->copy->node[0]->children != 0;
    s->behind_graph = true;
    s->behind_empty = exec->copy->nodes == 0;
    s->behind_hollow = is_hollow(exec->copy);
    s->last_end = last_of_several_ends(exec->copy);
    op_submit(end);
    return cudaSuccess;
}
