/* neighbours_test.c - what the driver's calls tell of the edges of a program is compared with the edges themselves: one wrong answer
 * shows. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#include "check.h"
#include "programs/program.h"

enum call { NONE, EDGES, INTO, OUT_OF, OLD_EDGES, OLD_INTO, OLD_OUT_OF, CALLS };
static const char *const call_name[CALLS] = { "no call", "the edges", "what leads to a node", "what a node leads to",
                                              "the edges, by the older call", "what leads to a node, by the older call",
                                              "what a node leads to, by the older call" };
enum lie { UNREADABLE, ONE_LESS, ONE_MORE, OTHER_NODE, OTHER_PORT, OTHER_TYPE, LOSS_HIDDEN, LOSS_INVENTED, LIES };
static const char *const lie_name[LIES] = { "unreadable", "one less", "one more", "another node", "another port", "another type",
                                            "an answer where data is lost", "an error where none is" };

/* 0 leads to 1 and 2, which lead to 3; and 0 to 3. */
#define LINKS 5u
static const struct link links[LINKS] = { { 0, 1, LINK_TRIGGER }, { 0, 2, LINK_FULL }, { 1, 3, LINK_FULL }, { 2, 3, LINK_START },
                                          { 0, 3, LINK_FULL } };
static int all_full;
static enum call liar;
static enum lie lie;
static struct program_room room;
static struct made made;

static cudaGraphNode_t node_of(unsigned step) { return (cudaGraphNode_t)(void *)((char *)&made + 1 + step); }
static enum link_kind kind_of(unsigned l) { return all_full ? LINK_FULL : links[l].kind; }

/* Those of one direction; node: NULL for all of them. Returns whether each of them is full. */
static int tell(cudaGraphNode_t node, int into, cudaGraphNode_t *nodes, cudaGraphNode_t *ends, CUgraphEdgeData *data, size_t *count)
{
    unsigned l;
    int full = 1;

    *count = 0;
    for (l = LINKS; l-- > 0;) {
        cudaGraphEdgeData edge = program_edge(kind_of(l));
        if (node && node != node_of(into ? links[l].to : links[l].from))
            continue;
        nodes[*count] = node_of(node && !into ? links[l].to : links[l].from);
        if (ends)
            ends[*count] = node_of(links[l].to);
        if (data)
            memcpy(&data[*count], &edge, sizeof(edge));
        full = full && kind_of(l) == LINK_FULL;
        ++*count;
    }
    return full;
}

static CUresult spoiled(enum call call, cudaGraphNode_t *nodes, CUgraphEdgeData *data, size_t *count, int lost)
{
    int lies = liar == call;

    if (lies && lie == UNREADABLE)
        return CUDA_ERROR_INVALID_VALUE;
    if (lost ? !lies || lie != LOSS_HIDDEN : lies && lie == LOSS_INVENTED)
        return CUDA_ERROR_LOSSY_QUERY;
    if (!lies)
        return CUDA_SUCCESS;
    *count -= lie == ONE_LESS && *count;
    nodes[*count] = node_of(9);
    *count += lie == ONE_MORE;
    if (lie == OTHER_NODE)
        nodes[0] = node_of(9);
    if (data && lie == OTHER_PORT)
        data[0].from_port ^= 1;
    if (data && lie == OTHER_TYPE)
        data[0].type ^= 1;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI tell_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    (void)graph;
    (void)tell(NULL, 0, from, to, data, count);
    return spoiled(EDGES, from, data, count, 0);
}

static CUresult CUDAAPI tell_into(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
    (void)tell(node, 1, nodes, NULL, data, count);
    return spoiled(INTO, nodes, data, count, 0);
}

static CUresult CUDAAPI tell_out_of(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
    (void)tell(node, 0, nodes, NULL, data, count);
    return spoiled(OUT_OF, nodes, data, count, 0);
}

static CUresult CUDAAPI tell_edges_without(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    (void)graph;
    return spoiled(OLD_EDGES, from, NULL, count, !tell(NULL, 0, from, to, NULL, count));
}

static CUresult CUDAAPI tell_into_without(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return spoiled(OLD_INTO, nodes, NULL, count, !tell(node, 1, nodes, NULL, NULL, count));
}

static CUresult CUDAAPI tell_out_of_without(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return spoiled(OLD_OUT_OF, nodes, NULL, count, !tell(node, 0, nodes, NULL, NULL, count));
}

/* Of how many of its edges, each of which the key may choose, what the driver tells is taken for right. */
static unsigned taken(void)
{
    cudaGraphNode_t from[LINKS], to[LINKS];
    cudaGraphEdgeData data[LINKS];
    unsigned l, right = 0;

    for (l = 0; l < LINKS; l++) {
        from[l] = node_of(links[l].from);
        to[l] = node_of(links[l].to);
        data[l] = program_edge(kind_of(l));
    }
    for (room.key = 0; room.key < LINKS; room.key++)
        right += program_driver_tells(&made, from, to, data, LINKS) != 0;
    return right;
}

/* An older call tells no data; the one for all edges is asked for their number alone, and only where all are full. */
static int can_lie(enum call call, enum lie of)
{
    if (call < OLD_EDGES)
        return of != LOSS_HIDDEN && of != LOSS_INVENTED;
    if (call == OLD_EDGES && (of == OTHER_NODE || ((of == ONE_LESS || of == ONE_MORE || of == LOSS_INVENTED) && !all_full)))
        return 0;
    return of != OTHER_PORT && of != OTHER_TYPE && !(of == LOSS_HIDDEN && all_full);
}

int main(void)
{
    void **calls = room.driver.graph_call, **older = room.driver.older_call;
    unsigned call, now;
    char text[160];

    made.room = &room;
    calls[DRIVER_EDGES] = (void *)tell_edges;
    calls[DRIVER_INTO] = (void *)tell_into;
    calls[DRIVER_OUT_OF] = (void *)tell_out_of;
    older[OLDER_EDGES] = (void *)tell_edges_without;
    older[OLDER_INTO] = (void *)tell_into_without;
    older[OLDER_OUT_OF] = (void *)tell_out_of_without;
    for (all_full = 0; all_full < 2; all_full++) {
        liar = NONE;
        check(taken() == LINKS, "the truth is taken for right");
        for (call = NONE + 1; call < CALLS; call++)
            for (now = 0; now < LIES; now++) {
                liar = (enum call)call;
                lie = (enum lie)now;
                if (!can_lie(liar, lie))
                    continue;
                snprintf(text, sizeof(text), "%s: %s%s", call_name[call], lie_name[now], all_full ? ", where all are full" : "");
                check(taken() < LINKS, text);
            }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
