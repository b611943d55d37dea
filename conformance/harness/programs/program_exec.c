/* program_exec.c - makes a program's graph executable, in many ways that mean the same. */
#include "program.h"

#include <string.h>

#include "try.h"

const char *const exec_way_name[EXEC_WAYS] = { "instantiated", "instantiated twice", "updated from another graph", "updated node by node",
                                               "nodes left out and enabled again", "uploaded first", "launched again and again",
                                               "its source changed and destroyed" };

#define ALL_STEPS (~(uint64_t)0)

/* The same nodes and edges; these steps are launched otherwise and work on other memory. Their clusters keep their size: the driver
 * 580.159.04 says success to an update that asks for another one and goes on with the old one, and no document says which is right. */
static cudaError_t make_decoy(struct made *made, const struct program *program, uint64_t decoys, int bare)
{
    static struct made decoy;

    memset(&decoy, 0, sizeof(decoy));
    decoy.program = program;
    decoy.room = made->room;
    decoy.dice = made->program->streams || made->bodies ? made->began : made->dice; /* the same conditions, or the same calls */
    decoy.decoys = decoys;
    decoy.bodies = made->bodies;
    decoy.bare = bare && !made->program->streams;
    decoy.wraps = made->wraps;
    made->decoy = &decoy;
    if (made->program->streams) {
        TRY(stream_make(&decoy, (enum stream_way)made->way));
        decoy.inner = decoy.graph;
        return cudaSuccess;
    }
    return graph_make(&decoy, made->wraps ? (enum graph_way)made->way : WAY_ONE_BY_ONE);
}

/* One that changes nothing of what such a graph means: it allocates no memory, and priorities order nothing. */
static unsigned long long any_flag(struct made *made)
{
    static const unsigned long long flags[] = { 0, 0, cudaGraphInstantiateFlagUseNodePriority, cudaGraphInstantiateFlagAutoFreeOnLaunch };
    unsigned long long flag = flags[dice_below(&made->dice, 4)];

    return made->bare && flag == cudaGraphInstantiateFlagUseNodePriority ? 0 : flag; /* with it, an update may not change priorities */
}

/* By any call. */
static cudaError_t instantiate(struct made *made, cudaGraphExec_t *exec)
{
    unsigned long long flag = any_flag(made);

    return program_instantiate(made, exec, made->graph, flag, &made->dice);
}

/* By a call of its own, or as it is made. The launch comes in any stream. */
static cudaError_t instantiate_uploaded(struct made *made, cudaGraphExec_t *exec)
{
    const struct program_room *room = made->room;
    cudaStream_t streams[] = { room->stream, room->blocking, room->urgent };
    cudaStream_t stream = streams[dice_below(&made->dice, 3)];
    unsigned long long flag;

    if (dice_below(&made->dice, 2)) {
        TRY(instantiate(made, exec));
        return program_upload(made, *exec, stream, &made->dice);
    }
    flag = any_flag(made);
    return program_instantiate_uploaded(made, exec, made->graph, flag, stream, &made->dice);
}

/* ---- as a whole ---- */

int program_knows_nodes(const struct made *made)
{
    return !made->program->streams || made->way == WAY_CAPTURED || made->way == WAY_CAPTURED_TO_GRAPH;
}

/* An update pairs nodes by the order in which they and their edges were added and removed (CUDA Programming Guide, whole graph
 * update). Only these ways keep the order of the decoy; for another order the documents promise no pairing. */
static int keeps_the_decoys_order(const struct made *made)
{
    enum graph_way way = (enum graph_way)made->way;

    if (made->program->streams) /* captured by the same calls in the same order */
        return program_knows_nodes(made);
    return way == WAY_ONE_BY_ONE || way == WAY_NEW_NODES || way == WAY_ONE_CALL || way == WAY_WRAPPED || way == WAY_BODIES;
}

static int is_between_kernels(const struct program *p, const struct link *link)
{
    return p->step[link->from].kind == STEP_KERNEL && p->step[link->to].kind == STEP_KERNEL;
}

/* Edges between kernels that lead into the same step exchange their kinds. */
static void turn_kinds(struct program *p)
{
    unsigned l, k;

    for (l = 0; l < p->links; l++)
        for (k = l + 1; k < p->links; k++)
            if (p->link[l].to == p->link[k].to && is_between_kernels(p, &p->link[l]) && is_between_kernels(p, &p->link[k])) {
                enum link_kind kind = p->link[l].kind;
                p->link[l].kind = p->link[k].kind;
                p->link[k].kind = kind;
            }
}

/* Now and then the program with other edges between some of its kernels. A device may refuse an update to other kinds of edges, but not take it
 * and keep some of the old ones (PDL-EDGE-23). */
static const struct program *retyped(struct made *made)
{
    static struct program other;
    unsigned l;

    if (made->wraps || made->program->streams || dice_below(&made->dice, 3))
        return made->program;
    other = *made->program;
    if (dice_below(&made->dice, 2))
        turn_kinds(&other);
    for (l = 0; l < other.links && dice_below(&made->dice, 2); l++)
        if (is_between_kernels(&other, &other.link[l]) && dice_below(&made->dice, 2))
            other.link[l].kind = LINK_LAUNCH; /* no wait covers it: what stays of it shows */
    return &other;
}

/* "The API may add further restrictions in future releases": a refusal is counted. */
static cudaError_t update_to(struct made *made, const struct made *to, cudaGraphExec_t exec)
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error;

    memset(&info, 0xA5, sizeof(info));
    error = program_update_exec(made, exec, to->graph, &info, &made->dice);
    if (error == cudaSuccess && info.result != cudaGraphExecUpdateSuccess)
        return cudaErrorUnknown;
    if (error != cudaErrorGraphExecUpdateFailure)
        return error;
    (void)cudaGetLastError();
    made->refused = 1;
    return program_declines(made);
}

/* The documents promise new parameters for memsets of one row; driver 580.159.04 refuses some for one of several rows that was captured. */
static int has_no_update(const struct made *made)
{
    unsigned i;

    if (made->graph != made->inner)
        return 1;
    for (i = 0; i < made->program->steps; i++)
        if (made->program->step[i].kind == STEP_SET && made->program->step[i].rows > 1)
            return 1;
    return 0;
}

static cudaError_t update_whole(struct made *made, cudaGraphExec_t *exec)
{
    uint64_t decoys;

    if (has_no_update(made) || !keeps_the_decoys_order(made))
        return program_declines(made);
    decoys = dice_below(&made->dice, 2) ? ALL_STEPS : dice_roll(&made->dice) | 1;
    TRY(make_decoy(made, retyped(made), decoys, 1));
    TRY(instantiate(made->decoy, exec));
    made->late = made->decoy->program == made->program && dice_below(&made->dice, 2);
    if (made->late)
        return cudaSuccess;
    if (dice_below(&made->dice, 2)) /* the last update counts */
        TRY(update_to(made, made->decoy, *exec));
    return update_to(made, made, *exec);
}

/* ---- node by node ---- */

static cudaError_t set_child(const struct made *as, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned i, struct dice *dice)
{
    cudaGraph_t child;
    cudaError_t error;

    TRY(program_make_child(as, i, &child, dice));
    error = program_set_child(as, exec, node, child, dice);
    (void)cudaGraphDestroy(child);
    return error;
}

/* Gives a node of an executable graph the parameters of this step, or those of its decoy. */
static cudaError_t set_step(struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned i, int otherwise)
{
    struct made as = *made;

    as.decoys = otherwise ? (uint64_t)1 << i : 0;
    if (program_is_wrapped(made, i))
        return set_child(&as, exec, node, i, &made->dice);
    return program_set_exec_node(&as, exec, node, i, dice_below(&made->dice, 2) != 0, &made->dice);
}

/* Steps whose nodes take new parameters. What a driver makes of a captured memset or copy, elements or bytes, is its own affair, and no
 * document promises that an update to other ones is taken. */
static uint64_t settable(const struct made *made)
{
    uint64_t all = ~made->gone;
    unsigned i;

    for (i = 0; i < made->program->steps && made->program->streams; i++)
        if (made->program->step[i].kind == STEP_SET || (made->program->step[i].kind == STEP_COPY && !program_keeps_size(i)))
            all &= ~((uint64_t)1 << i);
    return all;
}

static int may_be_left_out(const struct made *made, unsigned i) { return made->program->step[i].kind <= STEP_COPY && !program_is_wrapped(made, i); }

/* Some get them while they are disabled. */
static cudaError_t set_steps(struct made *made, cudaGraphExec_t exec, const cudaGraphNode_t *node, uint64_t which, int otherwise)
{
    unsigned i;

    which &= settable(made);
    for (i = 0; i < made->program->steps; i++) {
        int out = may_be_left_out(made, i) && dice_below(&made->dice, 4) == 0;
        if (!(which >> i & 1))
            continue;
        if (out)
            TRY(program_enable(made, exec, node[i], 0, &made->dice));
        TRY(set_step(made, exec, node[i], i, otherwise));
        if (out)
            TRY(program_enable(made, exec, node[i], 1, &made->dice));
    }
    return cudaSuccess;
}

/* A node that is to keep its parameters leaves the graph; the others are still known by their nodes. */
static cudaError_t lose_node(struct made *made, uint64_t set)
{
    unsigned i = dice_below(&made->dice, made->program->steps);

    if (made->program->streams || (set >> i & 1) || dice_below(&made->dice, 2))
        return cudaSuccess;
    made->gone = (uint64_t)1 << i;
    return program_destroy_node(made, made->decoy->node[i], &made->dice);
}

/* A child graph gets a clone of itself, which changes nothing. */
static cudaError_t update_child(struct made *made, cudaGraphExec_t *exec)
{
    cudaGraphNode_t node;
    cudaGraph_t child, clone;
    size_t one = 1;
    cudaError_t error;

    TRY(instantiate(made, exec));
    TRY(cudaGraphGetNodes(made->graph, &node, &one));
    TRY(program_child_of(made, node, &child, &made->dice));
    TRY(program_clone(made, &clone, child, &made->dice));
    error = program_set_child(made, *exec, node, clone, &made->dice);
    (void)cudaGraphDestroy(clone);
    return error;
}

/* Only what differs is set anew, so that a call for one node must leave the others alone. */
static cudaError_t update_nodes(struct made *made, cudaGraphExec_t *exec)
{
    uint64_t decoys = (dice_below(&made->dice, 4) ? dice_roll(&made->dice) | 1 : ALL_STEPS) & settable(made);

    if (!made->program->streams && made->way == WAY_CHILD)
        return update_child(made, exec);
    if (has_no_update(made) || made->bodies || !program_knows_nodes(made))
        return program_declines(made);
    TRY(make_decoy(made, made->program, decoys, 0));
    TRY(instantiate(made->decoy, exec));
    if (!made->program->streams && dice_below(&made->dice, 2)) /* what becomes of the graph leaves the other nodes and the edges alone */
        TRY(program_spoil(made->decoy));
    TRY(lose_node(made, decoys));
    made->late = dice_below(&made->dice, 2) != 0;
    if (made->late)
        return cudaSuccess;
    TRY(set_steps(made, *exec, made->decoy->node, decoys & dice_roll(&made->dice), 1)); /* the last parameters count */
    return set_steps(made, *exec, made->decoy->node, decoys, 0);
}

/* Memsets and cooperative kernels do not: a driver is known that loses the order at the former (rule EDGE-27a) and the device at the
 * latter. Nor does any node where all edges come in one call: they may then be others (rule EDGE-33). */
static int stays_out(const struct made *made, unsigned i)
{
    const struct step *step = &made->program->step[i];
    int asked_elsewhere = step->kind == STEP_SET || (step->kind == STEP_KERNEL && step->cooperative);

    if (made->program->streams && (step->attribute || program_leads_on_early(made->program, i)))
        return 0;
    return !asked_elsewhere && (made->program->streams || made->way != WAY_ONE_CALL) && program_has_full_edges(made->program, i);
}

/* Before a launch these steps are left out, if all of their edges are full; of the others some are, and come back. */
static cudaError_t leave_out(struct made *made, cudaGraphExec_t exec, uint64_t which)
{
    uint64_t others = dice_roll(&made->dice);
    unsigned i, enabled = 2;

    if (made->graph != made->inner || !program_knows_nodes(made))
        return program_declines(made);
    made->left_out = 0;
    for (i = 0; i < made->program->steps; i++) {
        unsigned out = which >> i & 1 && stays_out(made, i);
        if (!may_be_left_out(made, i))
            continue;
        if (others >> i & 1)
            TRY(program_enable(made, exec, made->node[i], out, &made->dice));
        TRY(program_enable(made, exec, made->node[i], !out, &made->dice));
        TRY(program_is_enabled(made, exec, made->node[i], &enabled, &made->dice));
        if (enabled != !out)
            return cudaErrorUnknown;
        made->left_out |= (uint64_t)out << i;
    }
    return cudaSuccess;
}

/* ---- beside others ---- */

/* How many executable graphs there are of a graph is nothing to any of them. */
static cudaError_t instantiate_more(struct made *made, cudaGraphExec_t *exec, unsigned more)
{
    cudaGraphExec_t other;
    cudaError_t error;

    if (more == 0)
        return instantiate(made, exec);
    TRY(instantiate(made, &other));
    error = instantiate_more(made, exec, more - 1);
    (void)cudaGraphExecDestroy(other);
    return error;
}

/* Nodes of the other get other parameters, and some are disabled. */
static cudaError_t change_other(struct made *made, cudaGraphExec_t other, uint64_t which)
{
    unsigned i;

    if (!program_knows_nodes(made) || has_no_update(made))
        return cudaSuccess;
    TRY(set_steps(made, other, made->node, which, 1));
    for (i = 0; which && i < made->program->steps; i++)
        if (may_be_left_out(made, i) && dice_below(&made->dice, 2))
            TRY(program_enable(made, other, made->node[i], 0, &made->dice));
    return cudaSuccess;
}

/* Of two executable graphs of one graph the other is changed and destroyed. */
static cudaError_t instantiate_twice(struct made *made, cudaGraphExec_t *exec)
{
    cudaGraphExec_t other = NULL;
    cudaError_t error;
    uint64_t changed;

    TRY(instantiate(made, &other));
    if (made->bodies) { /* of a graph with a conditional node only one instantiation may exist at a time */
        TRY(cudaGraphExecDestroy(other));
        return instantiate(made, exec);
    }
    changed = dice_below(&made->dice, 2) ? dice_roll(&made->dice) : 0;
    error = change_other(made, other, changed);
    if (error == cudaSuccess)
        error = instantiate_more(made, exec, dice_below(&made->dice, 4));
    if (error == cudaSuccess && !changed && dice_below(&made->dice, 2)) {
        cudaGraphExec_t first = other;
        other = *exec;
        *exec = first;
        error = change_other(made, other, dice_roll(&made->dice));
    }
    TRY(cudaGraphExecDestroy(other));
    return error;
}

/* What becomes of the graph has no part in what was instantiated from it. */
static cudaError_t orphan(struct made *made)
{
    if (made->bodies)
        return cudaSuccess; /* the handle of a condition belongs to its graph */
    if (!made->program->streams && made->graph == made->inner) {
        TRY(program_spoil(made));
        TRY(program_destroy_node(made, made->node[dice_below(&made->dice, made->program->steps)], &made->dice));
    }
    TRY(cudaGraphDestroy(made->graph));
    made->graph = made->inner = NULL;
    return cudaSuccess;
}

cudaError_t exec_make_sibling(struct made *made, cudaGraphExec_t *exec) { return instantiate(made->decoy, exec); }

cudaError_t exec_replace(struct made *made, enum exec_way way, cudaGraphExec_t *exec)
{
    cudaGraphExec_t next;

    if (way != EXEC_AGAIN || made->bodies || made->former || dice_below(&made->dice, 4))
        return cudaSuccess;
    TRY(instantiate(made, &next));
    made->former = *exec;
    *exec = next;
    return cudaSuccess;
}

cudaError_t exec_make(struct made *made, enum exec_way way, cudaGraphExec_t *exec)
{
    *exec = NULL;
    switch (way) {
    case EXEC_UPDATED: return update_whole(made, exec);
    case EXEC_BY_NODE: return update_nodes(made, exec);
    case EXEC_SECOND: return instantiate_twice(made, exec);
    case EXEC_UPLOADED: return instantiate_uploaded(made, exec);
    default: break;
    }
    TRY(instantiate(made, exec));
    switch (way) {
    case EXEC_REENABLED: return leave_out(made, *exec, dice_roll(&made->dice));
    case EXEC_ORPHAN: return orphan(made);
    default: return cudaSuccess;
    }
}

/* A fault may come with a later launch only. Which programs are launched often is told by their steps; what fans in has five or more. */
#define OFTEN 12u

unsigned exec_launches(const struct made *made, enum exec_way way)
{
    unsigned steps = made->program->steps;

    if (way == EXEC_AGAIN)
        return steps > 4 && steps % 3 != 2 ? 3 : OFTEN;
    if (way == EXEC_UPDATED || way == EXEC_BY_NODE)
        return !made->decoy ? 1 : steps % 6 == 5 ? OFTEN : made->late ? 4 : 2;
    return way != EXEC_REENABLED ? 1 : steps % 6 == 5 ? OFTEN : 2;
}

int exec_is_decoy(const struct made *made, unsigned time) { return made->late && time % 2 == 0; }

/* This launch and the next one may be in flight at once: it works on other memory. */
int exec_may_run_twice(const struct made *made, unsigned time)
{
    uint64_t all = made->program->steps == PROGRAM_STEPS ? ALL_STEPS : ((uint64_t)1 << made->program->steps) - 1;

    return exec_is_decoy(made, time) && (made->decoy->decoys & all) == all;
}

/* To itself; or, where it was no decoy, to the decoy and back. */
cudaError_t exec_change(struct made *made, enum exec_way way, cudaGraphExec_t exec, unsigned time)
{
    uint64_t which = made->late ? made->decoy->decoys : dice_roll(&made->dice);
    int to_decoy = exec_is_decoy(made, time) || !made->late, to_itself = !exec_is_decoy(made, time);

    switch (way) {
    case EXEC_UPDATED:
        if (to_decoy)
            TRY(update_to(made, made->decoy, exec));
        return to_itself ? update_to(made, made, exec) : cudaSuccess;
    case EXEC_BY_NODE:
        if (to_decoy)
            TRY(set_steps(made, exec, made->decoy->node, which, 1));
        return to_itself ? set_steps(made, exec, made->decoy->node, which, 0) : cudaSuccess;
    case EXEC_REENABLED: return leave_out(made, exec, dice_below(&made->dice, 2) ? dice_roll(&made->dice) : 0);
    default: return cudaSuccess;
    }
}

/* ---- what happens in other streams ---- */

static int is_real(const struct made *made, uint64_t decoys, unsigned i, enum step_kind kind)
{
    return made->program->step[i].kind == kind && !(decoys >> i & 1);
}

cudaError_t program_before_launch(const struct made *made, uint64_t decoys)
{
    struct program_room *room = made->room;
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        if (is_real(made, decoys, i, STEP_AWAIT)) {
            TRY(program_launch_step(made, i, room->side, NULL, LINK_FULL, NULL));
            if (room->key >> i & 2)
                TRY(program_record_by_launch(made, room->side, room->node_event[i]));
            else
                TRY(cudaEventRecord(room->node_event[i], room->side));
        }
    return cudaSuccess;
}

/* Of the first events only. */
uint32_t *program_seen_by(const struct made *made, uint64_t decoys, unsigned record)
{
    unsigned i, nth = 0;

    for (i = 0; i < record; i++)
        nth += (unsigned)is_real(made, decoys, i, STEP_RECORD);
    return is_real(made, decoys, record, STEP_RECORD) && nth < PROGRAM_SEEN ? program_seen(made->room, nth) : NULL;
}

cudaError_t program_behind_launch(const struct made *made, uint64_t decoys)
{
    struct program_room *room = made->room;
    unsigned i, seen = 0;

    for (i = 0; i < made->program->steps; i++) {
        uint32_t *words = program_seen_by(made, decoys, i);
        if (!words)
            continue;
        TRY(cudaStreamWaitEvent(room->relay, room->node_event[i], 0));
        TRY(cudaMemcpyAsync(words, room->data, made->program->steps * STEP_BYTES, cudaMemcpyDeviceToDevice, room->relay));
        seen++;
    }
    return seen ? cudaStreamSynchronize(room->relay) : cudaSuccess;
}
