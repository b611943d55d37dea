/* Bodies of conditional nodes that run again, and those that a kernel chooses. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 10000 }; /* of a loop that never ends: a deadlock */

struct loop { /* one that a launch has queued, or a node that is still to be decided */
    const struct node *node;
    struct queued queued;
    struct op *last; /* the end of a node that is still to be decided; NULL: this is a loop */
    struct loop *next;
    struct op *of;              /* where a guess is looked at, or a launch begins; NULL: neither */
    const struct graph *begins; /* a launch of this graph begins */
    const struct graph *guess;  /* the body that was queued because the condition has a default value */
    uint64_t first, past;       /* ... its operations have the serial numbers between */
};
static struct loop *open_loops; /* all that have not ended: for the device loop-beside-loop-once */

static unsigned long long condition_handles, value_room;
static unsigned *condition_value;  /* of each handle: one for all executable graphs that have it */
static unsigned long long *condition_place; /* the handle whose value it has: itself, or another one on a device */
static unsigned *condition_before; /* ..., until it was set last: for the devices *body-decided-early */
static struct setting {
    bool set;       /* by a kernel, since its launch began or its node was decided: for the device first-set-counts */
    unsigned level; /* how many graphs are around its node: for the devices *-set-stays-inside */
} *condition_setting;

static void conditions_grow(void)
{
    const unsigned long long room = value_room;
    value_room = 2 * condition_handles + 64;
    condition_value = realloc(condition_value, value_room * sizeof *condition_value);
    condition_place = realloc(condition_place, value_room * sizeof *condition_place);
    condition_before = realloc(condition_before, value_room * sizeof *condition_before);
    condition_setting = realloc(condition_setting, value_room * sizeof *condition_setting);
    if (condition_value == NULL || condition_before == NULL || condition_place == NULL || condition_setting == NULL)
        abort();
    memset(condition_value + room, 0, (value_room - room) * sizeof *condition_value);
    memset(condition_setting + room, 0, (value_room - room) * sizeof *condition_setting);
}

unsigned long long condition_new(unsigned long long shares)
{
    if (++condition_handles >= value_room)
        conditions_grow();
    condition_place[condition_handles] = shares != 0 ? condition_place[shares] : condition_handles;
    return condition_handles;
}

void condition_set(unsigned long long handle, unsigned value)
{
    if (handle == 0 || handle > condition_handles)
        return;
    handle = condition_place[handle];
    condition_before[handle] = condition_value[handle];
    condition_value[handle] = value;
}

static bool set_is_lost(const struct op *op, unsigned long long handle)
{
    const struct faults *f = &device.faults;
    bool own = op->within == handle, outside = !own && condition_setting[handle].level < op->level;
    return (f->first_set_counts && condition_setting[handle].set) || (f->only_neighbour_sets && op->level == 0 && !op->next_to_condition) ||
           (outside && f->child_set_stays_inside && (op->features & HAS(child))) ||
           (outside && f->body_set_stays_inside && (op->features & HAS(body)));
}

void condition_set_by(const struct op *op, unsigned long long handle, unsigned value)
{
    if (handle == 0 || handle > condition_handles || set_is_lost(op, handle))
        return;
    condition_setting[handle].set = true;
    condition_set(handle, value);
}

/* For the devices of set_is_lost() */
void op_knows_conditions(struct op *op, const struct node *n)
{
    const struct graph *g = n->graph;
    for (size_t i = 0; i < g->arcs; i++)
        op->next_to_condition |= g->arc[i].from == n && g->arc[i].to->type == cudaGraphNodeTypeConditional;
    for (; g->owner != NULL; g = g->owner->graph, op->level++)
        if (op->within == 0)
            op->within = g->owner->handle;
}

unsigned condition_now(unsigned long long handle)
{
    return handle != 0 && handle <= condition_handles ? condition_value[condition_place[handle]] : 0;
}

struct loop *loop_new(const struct node *n, struct op *last)
{
    struct loop *loop = malloc(sizeof *loop);
    if (loop == NULL)
        abort();
    if (queued.rounds != 0 && n != NULL && n->choice == BODY_LOOP)
        queued.outer = queued.rounds;
    queued.rounds = 0;
    loop->node = n;
    loop->queued = queued;
    loop->last = last;
    loop->of = NULL;
    loop->begins = loop->guess = NULL;
    loop->next = open_loops;
    open_loops = loop;
    return loop;
}

void loops_reset(void)
{
    while (open_loops != NULL) {
        struct loop *next = open_loops->next;
        free(open_loops);
        open_loops = next;
    }
}

/* Nothing that is still to be decided, nor a launch. */
static bool is_outermost_loop(const struct loop *loop)
{
    return loop->last == NULL && loop->begins == NULL && loop->node->graph->owner == NULL;
}

static bool is_beside_another(const struct loop *loop)
{
    const struct loop *other = open_loops;
    while (other != NULL && (!is_outermost_loop(other) || other->node->graph == loop->node->graph))
        other = other->next;
    return other != NULL && loop->node->graph->owner == NULL;
}

static bool is_behind_another(const struct loop *loop)
{
    for (size_t i = 0; i < loop->node->index; i++)
        if (loop->node->graph->node[i]->choice == BODY_LOOP)
            return true;
    return false;
}

static bool has_given(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->given)
            return true;
    return false;
}

static bool is_captured(const struct graph *g) { return g->nodes != 0 && g->node[0]->captured; }

static bool holds_loop(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->choice == BODY_LOOP)
            return true;
    return false;
}

/* Devices on which some loops have few rounds */
static bool ends_after(const struct loop *loop, unsigned rounds)
{
    const struct faults *f = &device.faults;
    const struct graph *in = loop->node->graph, *body = loop->node->child[0];
    return (f->outer_loop_of_four_rounds && rounds >= 4 && holds_loop(body)) || (f->captured_loop_of_64_rounds && rounds >= 64 && is_captured(body)) ||
           (f->body_loop_of_64_rounds && rounds >= 64 && graph_is_inside(in, cudaGraphNodeTypeConditional));
}

/* Devices on which some loops run once */
static bool runs_once(const struct loop *loop)
{
    const struct faults *f = &device.faults;
    const struct node *owner = loop->node->graph->owner;
    if (f->other_body_loop_once && owner != NULL && owner->choice != BODY_LOOP && owner->child[0] != loop->node->graph)
        return true;
    return (f->elsewhere_loop_runs_once && loop->queued.elsewhere) || (f->legacy_loop_once && loop->queued.in_legacy) ||
           (f->driver_loop_once && loop->queued.by_driver) ||
           (f->loop_beside_loop_once && is_beside_another(loop)) || (f->loop_behind_loop_once && is_behind_another(loop)) ||
           (f->third_level_loop_once && graph_level(loop->node->graph) >= 2) || (f->given_loop_once && has_given(loop->node->graph));
}

/* What the condition says after a round */
static unsigned value_after_round(const struct loop *loop)
{
    const struct node *n = loop->node;
    unsigned value = condition_now(n->handle);
    if (device.faults.loop_round_by_default && !n->undecided && !condition_setting[n->handle].set)
        value = n->condition;
    if (device.faults.loop_value_counts_once)
        condition_set(n->handle, 0);
    return value;
}

static bool has_another_round(const struct loop *loop)
{
    unsigned rounds = loop->queued.rounds;
    if (rounds == MOST_ROUNDS)
        device_fails(cudaErrorLaunchTimeout);
    if (runs_once(loop) || ends_after(loop, rounds))
        return false;
    if ((device.faults.loop_by_low_byte && (condition_now(loop->node->handle) & 255) == 0) || (device.faults.loop_of_256_rounds && rounds >= 256))
        return false;
    return value_after_round(loop) != 0 && rounds < MOST_ROUNDS && !(device.faults.loop_runs_once && rounds >= 1) &&
           !(device.faults.loop_of_four_rounds && rounds >= 4) && !(device.faults.loop_of_16_rounds && rounds >= 16);
}

static bool is_behind_disabled(const struct node *n)
{
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && n->graph->arc[i].from->disabled)
            return true;
    return false;
}

/* Whether a kernel decides about this body that began by a programmatic edge. */
static bool is_behind_dependent(const struct node *n)
{
    const struct graph *g = n->graph;
    for (size_t i = 0; i < g->arcs; i++)
        for (size_t k = 0; g->arc[i].to == n && k < g->arcs; k++)
            if (g->arc[k].to == g->arc[i].from && g->arc[k].data.type == cudaGraphDependencyTypeProgrammatic)
                return true;
    return false;
}

/* The value by which a node that a kernel decides about runs. */
static unsigned decided_value(const struct node *n)
{
    bool early = n->graph->owner != NULL ? device.faults.inner_body_decided_early : device.faults.body_decided_early;
    return early && is_behind_dependent(n) ? condition_before[n->handle] : condition_now(n->handle);
}

static void queue_body(const struct loop *loop, struct op *start, struct op *end)
{
    const struct node *n = loop->node;
    const struct graph *body = node_body_by(n, loop->last != NULL ? decided_value(n) : condition_now(n->handle));
    if (device.faults.chosen_last_idle && loop->last != NULL && n->children > 2 && body == n->child[n->children - 1])
        body = NULL;
    if (device.faults.chosen_switch_by_low_byte && loop->last != NULL && n->choice == BODY_SWITCH)
        body = node_body_by(n, condition_now(n->handle) & 255);
    if (device.faults.chosen_behind_disabled_idle && loop->last != NULL && is_behind_disabled(n))
        body = NULL;
    struct queued outside = queued;
    condition_setting[n->handle].set = false;
    queued = loop->queued;
    queued.chosen = loop->last != NULL;
    if (queued.chosen) {
        queued.after_idle = n->was_idle && n->graph->owner != NULL;
        n->graph->node[n->index]->was_idle = body == NULL;
    }
    if (body != NULL)
        queue_between(body, start, end);
    queued = outside;
}

static void loop_ends(struct op *op)
{
    struct loop **at = &open_loops;
    while (*at != op->loop)
        at = &(*at)->next;
    *at = op->loop->next;
    free(op->loop);
    op->loop = NULL;
}

/* ---- default values: a launch gives them to its conditions when it begins, and a kernel may set others before the node begins ---- */

/* cudaGraphConditionalHandleCreate says "Applied at the beginning of each graph execution": a loop around the node does not give them
 * again. No question asks about that, because a driver might read a round of a loop as an execution of its body. */

static void condition_begins(const struct node *n, unsigned level)
{
    bool keeps = n->choice == BODY_LOOP ? device.faults.loop_keeps_value : device.faults.body_keeps_value;
    if (!n->undecided && !keeps)
        condition_set(n->handle, n->condition);
    condition_setting[n->handle].set = false;
    condition_setting[n->handle].level = level;
}

static void conditions_begin(const struct graph *g, unsigned level)
{
    for (size_t i = 0; i < g->nodes; i++) {
        const struct node *n = g->node[i];
        if (n->type == cudaGraphNodeTypeConditional && n->handle != 0)
            condition_begins(n, level);
        for (unsigned c = 0; c < n->children; c++)
            conditions_begin(n->child[c], level + 1);
    }
}

/* The conditions of a graph get their values once this operation, with which its launch begins, is done. */
void launch_sets_conditions(const struct graph *g, struct op *start)
{
    if (!graph_has_condition(g))
        return;
    start->loop = loop_new(NULL, NULL);
    start->loop->of = start;
    start->loop->begins = g;
}

/* What a node with a default value runs is queued by that value, so that the host need not wait until the node begins. Once it begins, it
 * is seen whether a kernel has set another one. */
void loop_guesses(const struct node *n, const struct graph *body, uint64_t first)
{
    bool stays = n->choice == BODY_LOOP ? device.faults.loop_begins_by_default : device.faults.default_beats_kernel;
    if (n->type != cudaGraphNodeTypeConditional || n->undecided || n->handle == 0 || stays)
        return;
    struct queued outside = queued;
    struct loop *loop = n->op->loop = loop_new(n, n->last);
    queued = outside;
    loop->queued.features |= HAS(body);
    loop->queued.rounds = n->choice == BODY_LOOP ? 0 : outside.rounds;
    loop->of = n->op;
    loop->guess = body;
    loop->first = first;
    loop->past = device.serial;
}

/* What was queued after op by a wrong guess does nothing. */
static void leave_out(const struct loop *loop, const struct op *op)
{
    for (const struct edge *e = op->out; e != NULL; e = e->next) {
        if (e->to->left_out || e->to->ready || e->to == loop->last || e->to->serial <= loop->first || e->to->serial > loop->past)
            continue;
        e->to->left_out = true;
        e->to->kind = OP_JOIN;
        if (e->to->loop != NULL)
            loop_ends(e->to);
        leave_out(loop, e->to);
    }
}

/* false: op is done. A node that was to run nothing has no end of its own: it gets its body before it is done. */
static bool guess_goes_on(struct op *op)
{
    struct loop guess = *op->loop;
    const struct node *n = guess.node;
    struct queued outside = queued;
    queued = guess.queued;
    bool as_guessed = node_body_by(n, decided_value(n)) == guess.guess;
    queued = outside;
    loop_ends(op);
    if (device.faults.loop_default_counts_once && n->choice == BODY_LOOP && !condition_setting[n->handle].set)
        condition_set(n->handle, 0);
    condition_setting[n->handle].set = false;
    if (as_guessed)
        return false;
    if (guess.guess != NULL) {
        leave_out(&guess, op);
        queue_body(&guess, op, guess.last);
        return false;
    }
    queued = guess.queued;
    if (n->choice == BODY_LOOP)
        op->loop = loop_new(n, NULL);
    queued = outside;
    struct op *start = op_new(OP_JOIN);
    op->ready = false;
    op->blocked = 1;
    queue_body(&guess, start, op);
    op_submit(start);
    op_submit(op);
    return true;
}

static bool is_within(const struct loop *loop, const struct graph *whole)
{
    if (loop->of == NULL || loop->begins != NULL)
        return loop->of != NULL && loop->begins == whole;
    const struct graph *g = loop->node->graph;
    while (g->owner != NULL)
        g = g->owner->graph;
    return g == whole;
}

/* The nodes of the launches of this graph change, or go. Those that have a default value keep to it: what a kernel sets in a launch that
 * still runs then is not seen. No question does so. */
static void guesses_hold(const struct graph *whole)
{
    for (struct loop *loop = open_loops, *next; loop != NULL; loop = next) {
        next = loop->next;
        if (!is_within(loop, whole))
            continue;
        if (loop->begins != NULL)
            conditions_begin(whole, 0);
        loop_ends(loop->of);
    }
}

/* A round of a loop has ended: another one begins if the condition says so. Or a node begins that a kernel before it may have decided. */
bool loop_goes_on(struct op *op)
{
    struct loop *loop = op->loop;
    struct op *start, *last = op;
    if (loop->begins != NULL) {
        conditions_begin(loop->begins, 0);
        loop_ends(op);
        return false;
    }
    if (loop->of != NULL)
        return guess_goes_on(op);
    if (loop->last != NULL) {
        queue_body(loop, op, loop->last);
        loop_ends(op);
        return false;
    }
    loop->queued.rounds++;
    if (!has_another_round(loop)) {
        condition_setting[loop->node->handle].set = false;
        loop_ends(op);
        return false;
    }
    if (device.faults.first_round_ends_loop && loop->queued.rounds == 1) {
        last = op_new(OP_JOIN);
        last->loop = loop;
        op->loop = NULL;
    }
    start = op_new(OP_JOIN);
    last->ready = false;
    last->blocked = 1;
    queue_body(loop, start, last);
    op_submit(start);
    op_submit(last);
    return last == op;
}

bool has_loop(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        if (g->node[i]->choice == BODY_LOOP || g->node[i]->undecided)
            return true;
        for (unsigned c = 0; c < g->node[i]->children; c++)
            if (has_loop(g->node[i]->child[c]))
                return true;
    }
    return false;
}

/* What a loop or a chosen node is still to do is queued from its nodes: before those are changed or go, the host waits for it. */
void exec_ends_loops(const struct graph_exec *e)
{
    if (e->launches != 0 && has_loop(e->copy))
        (void)run_until_idle();
    guesses_hold(e->copy);
}

/* A loop has ended with 0. */
static void conditions_take_left(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        struct node *n = g->node[i];
        if (n->type == cudaGraphNodeTypeConditional && !n->undecided)
            n->condition = n->choice == BODY_LOOP ? 0 : condition_now(n->handle);
        for (unsigned c = 0; c < n->children; c++)
            conditions_take_left(n->child[c]);
    }
}

void conditions_stay(const struct graph_exec *e, bool stay)
{
    if (!stay || e->launches == 0)
        return;
    (void)run_until_idle();
    conditions_take_left(e->copy);
}
