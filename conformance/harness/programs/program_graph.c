/* program_graph.c - makes a program as a graph, in many ways that mean the same. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "try.h"

const char *const graph_way_name[GRAPH_WAYS] = {
    "nodes, then edges one by one", "nodes in any order, then edges in any order", "each node with its edges",
    "nodes, then the edges of a kind in one call",
    "each node captured after its edges", "one capture whose dependencies are updated", "a clone", "a child graph",
    "the body of a conditional node", "the body of a loop, or one that a kernel decides about", "edges made otherwise, removed and made again",
    "nodes and edges too many, destroyed again",
    "steps between full edges as child graphs", "steps between full edges as bodies or child graphs",
    "nodes, then all edges in one call"
};

/* ---- ways to make the graph ---- */

static cudaError_t add_node(struct made *made, unsigned i)
{
    TRY(program_add_step(made, made->inner, i, NULL, NULL, 0, dice_below(&made->dice, 2) != 0, &made->node[i]));
    return program_detour(made);
}

static cudaError_t add_nodes(struct made *made)
{
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        TRY(add_node(made, i));
    return cudaSuccess;
}

static void draw_order(struct made *made, unsigned *order, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        unsigned k = dice_below(&made->dice, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

/* A node may be made before those that its edges come from. */
static cudaError_t add_nodes_in_any_order(struct made *made)
{
    unsigned order[PROGRAM_STEPS], i;

    draw_order(made, order, made->program->steps);
    for (i = 0; i < made->program->steps; i++)
        TRY(add_node(made, order[i]));
    return cudaSuccess;
}

static cudaError_t add_edge(struct made *made, unsigned l)
{
    const struct link *link = &made->program->link[l];
    cudaGraphEdgeData data = program_edge(link->kind);
    int bare = link->kind == LINK_FULL && l % 2;

    TRY(program_add_edges(made, &made->node[link->from], &made->node[link->to], bare ? NULL : &data, 1));
    return program_detour(made);
}

static cudaError_t add_edges(struct made *made)
{
    unsigned l;

    for (l = 0; l < made->program->links; l++)
        TRY(add_edge(made, l));
    return cudaSuccess;
}

static cudaError_t add_edges_in_any_order(struct made *made)
{
    unsigned order[PROGRAM_LINKS], l;

    draw_order(made, order, made->program->links);
    for (l = 0; l < made->program->links; l++)
        TRY(add_edge(made, order[l]));
    return cudaSuccess;
}

/* The links that `takes` chooses, as arrays. */
struct edge_list {
    cudaGraphNode_t from[PROGRAM_LINKS], to[PROGRAM_LINKS];
    cudaGraphEdgeData data[PROGRAM_LINKS];
    unsigned count;
};

static void list_edge(const struct made *made, unsigned l, struct edge_list *list)
{
    const struct link *link = &made->program->link[l];

    list->from[list->count] = made->node[link->from];
    list->to[list->count] = made->node[link->to];
    list->data[list->count++] = program_edge(link->kind);
}

static void list_into(const struct made *made, unsigned step, struct edge_list *list)
{
    unsigned l;

    list->count = 0;
    for (l = 0; l < made->program->links; l++)
        if (made->program->link[l].to == step)
            list_edge(made, l, list);
}

/* Full edges need no data; without any the call has to make all of them full. */
static const cudaGraphEdgeData *data_of(struct made *made, const struct edge_list *list)
{
    unsigned e;

    for (e = 0; e < list->count; e++)
        if (list->data[e].type != 0 || list->data[e].from_port != 0)
            return list->data;
    return list->count && dice_below(&made->dice, 3) == 0 ? list->data : NULL;
}

/* "If numDependencies is 0, elements in from and to will be ignored." */
static cudaError_t change_nothing(struct made *made)
{
    TRY(program_add_edges(made, NULL, NULL, NULL, 0));
    return program_remove_edges(made, NULL, NULL, NULL, 0);
}

static cudaError_t add_edges_by_kind(struct made *made)
{
    static struct edge_list list;
    unsigned kind, l;

    for (kind = 0; kind < LINK_KINDS; kind++) {
        list.count = 0;
        for (l = 0; l < made->program->links; l++)
            if (made->program->link[l].kind == (enum link_kind)kind)
                list_edge(made, l, &list);
        if (list.count)
            TRY(program_add_edges(made, list.from, list.to, data_of(made, &list), list.count));
        else
            TRY(change_nothing(made));
    }
    return cudaSuccess;
}

static cudaError_t add_edges_in_one_call(struct made *made)
{
    static struct edge_list list;
    unsigned l;

    list.count = 0;
    for (l = 0; l < made->program->links; l++)
        list_edge(made, l, &list);
    return list.count ? program_add_edges(made, list.from, list.to, list.data, list.count) : cudaSuccess;
}

static cudaError_t add_nodes_with_edges(struct made *made)
{
    static struct edge_list list;
    unsigned i;

    for (i = 0; i < made->program->steps; i++) {
        const cudaGraphEdgeData *data;
        list_into(made, i, &list);
        data = data_of(made, &list);
        TRY(program_add_step(made, made->inner, i, list.from, data, list.count, data != NULL || dice_below(&made->dice, 2), &made->node[i]));
        TRY(program_detour(made));
    }
    return cudaSuccess;
}

static cudaError_t capture_step(struct made *made, unsigned i)
{
    cudaError_t error = program_launch_step(made, i, made->room->stream, NULL, LINK_FULL, NULL);
    return error == cudaSuccess ? program_captured_node(made, i, made->room->stream) : error;
}

/* A stream has no empty node, and no memset of more than a byte at a time. */
static int is_captured(const struct step *step) { return step->kind < STEP_EMPTY && !(step->kind == STEP_SET && step->uneven); }

static cudaError_t begin_each(struct made *made)
{
    static struct edge_list list;
    unsigned i;

    for (i = 0; i < made->program->steps; i++) {
        const cudaGraphEdgeData *data;
        enum cudaStreamCaptureMode mode;
        cudaError_t error, end;
        cudaGraph_t out = NULL;
        list_into(made, i, &list);
        if (!is_captured(&made->program->step[i])) {
            TRY(program_add_step(made, made->inner, i, list.from, NULL, list.count, 0, &made->node[i]));
            continue;
        }
        data = data_of(made, &list);
        mode = program_capture_mode(&made->dice);
        TRY(program_begin_capture_to(made, made->room->stream, made->inner, list.count ? list.from : NULL, data, list.count, mode, &made->dice));
        error = capture_step(made, i);
        end = program_end_capture(made, made->room->stream, &out, &made->dice);
        TRY(error);
        TRY(end);
        TRY(program_detour(made));
    }
    return cudaSuccess;
}

/* What the stream says it depends on, each with its data, in any order. */
static int has_dependencies(struct made *made, const struct edge_list *list)
{
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0, k;
    unsigned e;

    if (program_next_dependencies(made, made->room->stream, &nodes, &data, &count, &made->dice) != cudaSuccess || count != list->count)
        return 0;
    for (e = 0; e < list->count; e++) {
        for (k = 0; k < count && nodes[k] != list->from[e]; k++)
            ;
        if (k == count || (data ? memcmp(&data[k], &list->data[e], sizeof(data[k])) != 0 : list->data[e].type != 0 || list->data[e].from_port != 0))
            return 0;
    }
    return 1;
}

/* All in one call, or some by the call that sets them and the others by the one that adds to them. */
static cudaError_t set_dependencies(struct made *made, struct edge_list *list)
{
    const cudaGraphEdgeData *data = data_of(made, list);
    unsigned set = dice_below(&made->dice, 2) ? list->count : dice_below(&made->dice, list->count + 1);

    TRY(program_depend(made, made->room->stream, set ? list->from : NULL, set ? data : NULL, set, cudaStreamSetCaptureDependencies, &made->dice));
    if (set < list->count)
        TRY(program_depend(made, made->room->stream, list->from + set, data ? data + set : NULL, list->count - set,
                           cudaStreamAddCaptureDependencies, &made->dice));
    return has_dependencies(made, list) ? cudaSuccess : cudaErrorUnknown;
}

static cudaError_t update_all(struct made *made)
{
    static struct edge_list list;
    unsigned i;

    for (i = 0; i < made->program->steps; i++) {
        list_into(made, i, &list);
        if (!is_captured(&made->program->step[i])) {
            TRY(program_add_step(made, made->inner, i, list.from, NULL, list.count, 0, &made->node[i]));
            continue;
        }
        TRY(set_dependencies(made, &list));
        TRY(capture_step(made, i));
    }
    return cudaSuccess;
}

static cudaError_t update_in_one_capture(struct made *made)
{
    cudaError_t error, end;
    cudaGraph_t out = NULL;

    TRY(program_begin_capture_to(made, made->room->stream, made->inner, NULL, NULL, 0, program_capture_mode(&made->dice), &made->dice));
    error = update_all(made);
    end = program_end_capture(made, made->room->stream, &out, &made->dice);
    return error == cudaSuccess ? end : error;
}

/* Full edges that the program does not have: added in one call without data, and removed in another. */
static cudaError_t add_and_remove_others(struct made *made)
{
    static struct edge_list list;
    unsigned from, to;

    list.count = 0;
    for (to = 1; to < made->program->steps; to++)
        for (from = 0; from < to && list.count < 12; from++)
            if (!program_is_linked(made->program, from, to) && dice_below(&made->dice, 2)) {
                list.from[list.count] = made->node[from];
                list.to[list.count++] = made->node[to];
            }
    if (!list.count)
        return cudaSuccess;
    TRY(program_add_edges(made, list.from, list.to, NULL, list.count));
    return program_remove_edges(made, list.from, list.to, NULL, list.count);
}

/* Every edge is first of the next kind that its nodes may have, then removed and made right. */
static cudaError_t correct_edges(struct made *made)
{
    unsigned l;

    TRY(add_and_remove_others(made));
    for (l = 0; l < made->program->links; l++) {
        const struct link *link = &made->program->link[l];
        int kernels = made->program->step[link->from].kind == STEP_KERNEL && made->program->step[link->to].kind == STEP_KERNEL;
        cudaGraphEdgeData wrong = program_edge(kernels ? (enum link_kind)((link->kind + 1) % LINK_KINDS) : LINK_FULL);
        TRY(program_add_edges(made, &made->node[link->from], &made->node[link->to], &wrong, 1));
        TRY(program_remove_edges(made, &made->node[link->from], &made->node[link->to], &wrong, 1));
        TRY(add_edge(made, l));
    }
    return cudaSuccess;
}

/* Extra nodes before, between and after those of the program, with edges to and from them. They are destroyed once all edges exist. */
static cudaError_t prune(struct made *made)
{
    cudaGraphNode_t extra[4];
    unsigned i, extras = 0;

    TRY(cudaGraphAddEmptyNode(&extra[extras++], made->inner, NULL, 0));
    TRY(add_nodes(made));
    for (i = 0; i < made->program->steps; i++)
        if (dice_below(&made->dice, 3) == 0)
            TRY(program_add_edges(made, &extra[0], &made->node[i], NULL, 1));
    for (i = 0; i < 3; i++) {
        cudaGraphNode_t from = made->node[dice_below(&made->dice, made->program->steps)];
        TRY(cudaGraphAddEmptyNode(&extra[extras++], made->inner, &from, 1));
    }
    TRY(add_edges(made));
    for (i = 0; i < extras; i++)
        TRY(program_destroy_node(made, extra[i], &made->dice));
    return cudaSuccess;
}

static cudaError_t make_inner(struct made *made, enum graph_way way)
{
    switch (way) {
    case WAY_WRAPPED:
    case WAY_BODIES:
        if (made->program->links % 2) /* a decoy's nodes come in the same order */
            return add_nodes_with_edges(made);
        TRY(add_nodes(made));
        break;
    case WAY_NEW_NODES: return add_nodes_with_edges(made);
    case WAY_BEGUN: return begin_each(made);
    case WAY_UPDATED_CAPTURE: return update_in_one_capture(made);
    case WAY_PRUNED: return prune(made);
    case WAY_ANY_ORDER: TRY(add_nodes_in_any_order(made)); break;
    default: TRY(add_nodes(made)); break;
    }
    switch (way) {
    case WAY_ANY_ORDER: return add_edges_in_any_order(made);
    case WAY_BY_KIND: return add_edges_by_kind(made);
    case WAY_ONE_CALL: return add_edges_in_one_call(made);
    case WAY_CORRECTED: return correct_edges(made);
    default: return add_edges(made);
    }
}

/* ---- graphs around it ---- */

static cudaError_t find_again(struct made *made, cudaGraph_t in)
{
    cudaGraphNode_t found[PROGRAM_STEPS];
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        TRY(program_find_node(made, &found[i], made->node[i], in, &made->dice));
    memcpy(made->node, found, made->program->steps * sizeof(found[0]));
    return cudaSuccess;
}

static cudaError_t set_otherwise(struct made *made, unsigned i)
{
    struct made as = *made;

    as.decoys ^= (uint64_t)1 << i;
    return program_set_node(&as, made->node[i], i, dice_below(&made->dice, 2) != 0, &made->dice);
}

/* One edge less, and one more. */
static cudaError_t change_edges(struct made *made)
{
    const struct program *p = made->program;
    unsigned to = 1 + dice_below(&made->dice, p->steps), from;

    if (p->links) {
        const struct link *link = &p->link[dice_below(&made->dice, p->links)];
        cudaGraphEdgeData data = program_edge(link->kind);
        TRY(program_remove_edges(made, &made->node[link->from], &made->node[link->to], &data, 1));
    }
    for (from = 0; to < p->steps && from < to; from++)
        if (!program_is_linked(p, from, to))
            return program_add_edges(made, &made->node[from], &made->node[to], NULL, 1);
    return cudaSuccess;
}

cudaError_t program_spoil(struct made *made)
{
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        if (!program_is_wrapped(made, i))
            TRY(set_otherwise(made, i));
    return change_edges(made);
}

/* Without the extra node; the others are still known by those that they came from, whichever of the two extra ones is gone by then. */
static cudaError_t find_without_extra(struct made *made, cudaGraph_t clone)
{
    cudaGraphNode_t extra;

    TRY(program_find_node(made, &extra, made->extra, clone, &made->dice));
    if (dice_below(&made->dice, 2)) {
        TRY(program_destroy_node(made, extra, &made->dice));
        return find_again(made, clone);
    }
    TRY(program_destroy_node(made, made->extra, &made->dice));
    TRY(find_again(made, clone));
    return program_destroy_node(made, extra, &made->dice);
}

/* Now and then a clone of the clone. */
static cudaError_t clone_it(struct made *made)
{
    cudaGraph_t clone;
    int twice = dice_below(&made->dice, 3) == 0;

    TRY(program_clone(made, &clone, made->inner, &made->dice));
    if (twice) {
        TRY(find_without_extra(made, clone));
        TRY(cudaGraphDestroy(made->inner));
        made->graph = made->inner = clone;
        TRY(program_clone(made, &clone, made->inner, &made->dice));
    }
    TRY(program_spoil(made)); /* what becomes of the graph has no part in its clone */
    TRY(twice ? find_again(made, clone) : find_without_extra(made, clone));
    TRY(cudaGraphDestroy(made->inner));
    made->graph = made->inner = clone;
    return cudaSuccess;
}

/* The nodes of the copy inside: as those of a clone, or else by the order in which both graphs list them. */
static cudaError_t find_inside(struct made *made, cudaGraph_t inside)
{
    static cudaGraphNode_t old_list[PROGRAM_STEPS], new_list[PROGRAM_STEPS];
    size_t olds = PROGRAM_STEPS, news = PROGRAM_STEPS, k;
    unsigned i;

    if (find_again(made, inside) == cudaSuccess)
        return cudaSuccess;
    (void)cudaGetLastError();
    TRY(cudaGraphGetNodes(made->inner, old_list, &olds));
    TRY(cudaGraphGetNodes(inside, new_list, &news));
    if (olds != news)
        return cudaErrorUnknown;
    for (i = 0; i < made->program->steps; i++)
        for (k = 0; k < olds; k++)
            if (old_list[k] == made->node[i]) {
                made->node[i] = new_list[k];
                break;
            }
    return cudaSuccess;
}

/* From now on the program is what lies in this graph, `levels` child graphs deep; what it was before goes, unless it was moved there. */
static cudaError_t descend(struct made *made, cudaGraph_t graph, unsigned levels, int moved)
{
    cudaGraph_t before = made->graph, inside = graph;
    cudaGraphNode_t node;
    size_t one = 1;

    made->graph = graph;
    while (levels--) {
        TRY(cudaGraphGetNodes(inside, &node, &one));
        TRY(program_child_of(made, node, &inside, &made->dice));
    }
    if (!moved)
        TRY(find_inside(made, inside));
    made->inner = inside;
    return moved ? cudaSuccess : cudaGraphDestroy(before);
}

/* A clone, by either call; or from 12.9 on the graph itself. */
static cudaError_t add_child(struct made *made, cudaGraph_t outer, int *moved)
{
    cudaGraphNode_t node;

    *moved = 0;
#if CUDART_VERSION >= 12090
    if (made->room->size.moves && dice_below(&made->dice, 3)) {
        struct cudaGraphNodeParams params = PDL_ZERO;

        *moved = (int)dice_below(&made->dice, 2);
        params.type = cudaGraphNodeTypeGraph;
        params.graph.graph = made->graph;
        params.graph.ownership = *moved ? cudaGraphChildGraphOwnershipMove : cudaGraphChildGraphOwnershipClone;
        return edges_add_node(&node, outer, NULL, NULL, 0, &params);
    }
#endif
    return program_add_child(made, &node, outer, NULL, 0, made->graph, &made->dice);
}

static cudaError_t put_into_children(struct made *made)
{
    unsigned level, deepest = 1 + dice_below(&made->dice, 3);
    cudaGraph_t outer;
    int moved;

    for (level = 1; level <= deepest; level++) {
        TRY(cudaGraphCreate(&outer, 0));
        TRY(add_child(made, outer, &moved));
        TRY(descend(made, outer, level, moved));
    }
    if (dice_below(&made->dice, 2))
        return cudaSuccess;
    TRY(program_clone(made, &outer, made->graph, &made->dice));
    return descend(made, outer, deepest, 0);
}

cudaError_t program_declines(struct made *made)
{
    made->declined = 1;
    return cudaErrorNotSupported;
}

/* Which steps are wrapped, and which of them into bodies; a decoy has those of its program. */
static void draw_wraps(struct made *made)
{
    made->wraps = dice_roll(&made->dice);
    if (dice_below(&made->dice, 2))
        made->wraps |= dice_roll(&made->dice);
    made->bodies = 0;
    if (made->way == WAY_BODIES) {
        made->bodies = dice_roll(&made->dice);
        made->bodies |= dice_roll(&made->dice);
    }
}

/* What is cloned or put into another graph was made in any of these. */
static enum graph_way any_way(struct dice *dice)
{
    static const enum graph_way ways[] = { WAY_ONE_BY_ONE, WAY_ANY_ORDER, WAY_NEW_NODES, WAY_BY_KIND,
                                           WAY_BEGUN,      WAY_UPDATED_CAPTURE, WAY_CORRECTED, WAY_PRUNED };

    return ways[dice_below(dice, sizeof(ways) / sizeof(ways[0]))];
}

cudaError_t graph_make(struct made *made, enum graph_way way)
{
    made->way = way;
    if (way == WAY_BODY || way == WAY_DECIDED) {
        TRY(program_open_body(made));
        return make_inner(made, WAY_ONE_BY_ONE);
    }
    TRY(cudaGraphCreate(&made->inner, 0));
    made->graph = made->inner;
    if (way == WAY_CLONE)
        TRY(cudaGraphAddEmptyNode(&made->extra, made->graph, NULL, 0));
    if (way == WAY_BODIES && !made->room->size.bodies)
        return program_declines(made);
    if ((way == WAY_WRAPPED || way == WAY_BODIES) && !made->decoys)
        draw_wraps(made);
    made->began = made->dice;
    TRY(make_inner(made, way == WAY_CLONE || way == WAY_CHILD ? any_way(&made->dice) : way));
    if (way == WAY_CLONE)
        return clone_it(made);
    return way == WAY_CHILD ? put_into_children(made) : cudaSuccess;
}

void graph_unmake(struct made *made)
{
    if (made->decoy)
        graph_unmake(made->decoy);
    if (made->graph)
        (void)cudaGraphDestroy(made->graph);
    made->graph = made->inner = NULL;
}
