/* program_captured.c - what a capture made of a program: its nodes, and the edges between them; and calls in captures that change nothing. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "try.h"

#define MOST_EDGES (PROGRAM_STEPS * PROGRAM_STEPS / 2)

static int is_known(const struct made *made, unsigned steps, cudaGraphNode_t node)
{
    unsigned i;

    for (i = 0; i < steps; i++)
        if (made->node[i] == node)
            return 1;
    return 0;
}

cudaError_t program_captured_node(struct made *made, unsigned step, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0, i;

    TRY(program_is_capturing(made, stream, &status, &made->dice));
    if (status != cudaStreamCaptureStatusActive)
        return cudaErrorUnknown;
    TRY(program_next_dependencies(made, stream, &nodes, &data, &count, &made->dice));
    for (i = 0; i < count; i++)
        if (!is_known(made, step, nodes[i])) {
            made->node[step] = nodes[i];
            return cudaSuccess;
        }
    return cudaErrorUnknown;
}

/* A stream without work comes after this one, and this one after that. Not while this one waits for an event of a launch: no document says what
 * of such a wait another event passes on. */
static cudaError_t fork_and_join(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    cudaStream_t other = made->room->observer;

    TRY(program_record(made, made->room->captured, stream, dice));
    TRY(program_await(made, other, made->room->captured, dice));
    TRY(program_record(made, made->room->captured, other, dice));
    return program_await(made, stream, made->room->captured, dice);
}

/* What a kernel with the attribute overlaps a stream comes after all the same, and no document says whether its capture tells it. */
static int is_overlapped(const struct program *p, unsigned until)
{
    unsigned i;

    for (i = 0; i < until && !p->step[i].attribute; i++)
        ;
    return i < until;
}

/* It is told to depend on what it depends on already. */
static cudaError_t depend_again(const struct made *made, unsigned i, cudaStream_t stream, struct dice *dice)
{
    static cudaGraphNode_t again[PROGRAM_STEPS];
    static cudaGraphEdgeData same[PROGRAM_STEPS];
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0, k;

    if (is_overlapped(made->program, i))
        return cudaSuccess;
    TRY(program_next_dependencies(made, stream, &nodes, &data, &count, dice));
    if (count == 0 || count > PROGRAM_STEPS)
        return count ? cudaErrorUnknown : cudaSuccess;
    for (k = 0; k < count; k++) {
        again[k] = nodes[k];
        same[k] = data ? data[k] : program_edge(LINK_FULL);
    }
    return program_depend(made, stream, again, same, count, cudaStreamSetCaptureDependencies, dice);
}

cudaError_t program_capture_nothing(struct made *made, unsigned i, int waits, cudaStream_t stream)
{
    struct dice *dice = &made->dice;
    enum cudaStreamCaptureStatus status;

    TRY(program_is_capturing(made, stream, &status, dice));
    if (status != cudaStreamCaptureStatusActive) /* no other stream of the program has led to it so far */
        return cudaSuccess;
    switch (dice_below(dice, 16)) {
    case 0: return waits ? cudaSuccess : fork_and_join(made, stream, dice);
    case 1: return depend_again(made, i, stream, dice);
    case 2: return program_depend(made, stream, NULL, NULL, 0, cudaStreamAddCaptureDependencies, dice);
    default: return cudaSuccess;
    }
}

int program_has_same_edges(cudaGraph_t graph, cudaGraph_t clone)
{
    static cudaGraphNode_t from[2][MOST_EDGES], to[2][MOST_EDGES];
    static cudaGraphEdgeData data[2][MOST_EDGES];
    size_t count[2] = { MOST_EDGES, MOST_EDGES }, e, k;

    if (edges_of_graph(graph, from[0], to[0], data[0], &count[0]) != cudaSuccess ||
        edges_of_graph(clone, from[1], to[1], data[1], &count[1]) != cudaSuccess || count[0] != count[1])
        return 0;
    for (e = 0; e < count[0]; e++) {
        cudaGraphNode_t first, second;
        if (cudaGraphNodeFindInClone(&first, from[0][e], clone) != cudaSuccess || cudaGraphNodeFindInClone(&second, to[0][e], clone) != cudaSuccess)
            return 0;
        for (k = 0; k < count[1] && !(from[1][k] == first && to[1][k] == second); k++)
            ;
        if (k == count[1] || memcmp(&data[0][e], &data[1][k], sizeof(data[0][e])) != 0)
            return 0;
    }
    return 1;
}

static int has_edge(const struct made *made, unsigned from, unsigned to, enum link_kind kind)
{
    static cudaGraphNode_t nodes[MOST_EDGES];
    static cudaGraphEdgeData data[MOST_EDGES];
    cudaGraphEdgeData want = program_edge(kind);
    size_t count = MOST_EDGES, e;

    if (edges_into_node(made->node[to], nodes, data, &count) != cudaSuccess)
        return 0;
    for (e = 0; e < count; e++)
        if (nodes[e] == made->node[from])
            return memcmp(&data[e], &want, sizeof(want)) == 0;
    return 0;
}

static unsigned links_into(const struct program *p, unsigned step)
{
    unsigned l, into = 0;

    for (l = 0; l < p->links; l++)
        into += p->link[l].to == step;
    return into;
}

/* Of two dependencies on one node the stronger counts, so that an event may become another edge where there are others. */
static int depends_on_one(const struct program *p, unsigned step)
{
    unsigned i, into = links_into(p, step);

    for (i = 0; i < step; i++)
        into += p->step[i].lane == p->step[step].lane;
    return into == 1;
}

/* No document says which edges capture makes of a cooperative launch with the attribute, or of one that also waits for events. */
static int may_be_read_twice(const struct program *p, unsigned step)
{
    return p->step[step].attribute && (p->step[step].cooperative || links_into(p, step));
}

int program_captured_right(const struct made *made, enum stream_way way)
{
    const struct program *p = made->program;
    unsigned i, l, next;

    if (way != WAY_CAPTURED && way != WAY_CAPTURED_TO_GRAPH)
        return 1;
    for (i = 0; i < p->steps; i++) {
        next = program_next_in_lane(p, i);
        if (next != PROGRAM_STEPS && p->step[i].kind == STEP_KERNEL && p->step[next].kind == STEP_KERNEL && p->step[next].attribute &&
            !may_be_read_twice(p, next) && !has_edge(made, i, next, LINK_TRIGGER))
            return 0;
        if (p->step[i].kind == STEP_KERNEL && !program_keeps_node(made, i))
            return 0;
    }
    for (l = 0; l < p->links; l++)
        if (depends_on_one(p, p->link[l].to) && !has_edge(made, p->link[l].from, p->link[l].to, p->link[l].kind))
            return 0;
    return 1;
}
