/* readback.cu - what is read is what was made or set: lists of nodes and edges, attributes of streams, the priority that a capture copies
 * from its stream, and the conditional node that a handle belongs to.
 *
 * pair      rules    what is asked
 * lists     EDGE-36  nodes, roots, edges, a node's dependencies and dependents: counted without room, and read with room for 1 and more
 * kinds     EDGE-36  the same of nodes of every two kinds, in a graph, a child graph and a body, also when an edge or a node is gone
 * nodes     EDGE-36a what a node of each kind tells of itself: as it was made, changed, in a clone, a child graph or a body, captured
 * flags     EDGE-36b the flags that an executable graph was made with
 * streams   ATTR-16  every priority, policy and domain, given to a stream when it is made or later; what kernels captured from it have; a stream
 *                    that was given work, and one that is made after another was destroyed; the ids of streams
 * handles   EDGE-37  three conditional nodes, whose handles were made in any order
 * functions ATTR-15b the numbers of the device, told by two calls, and what it must have; a function's limit of dynamic shared memory, raised
 *                    and lowered, its carve-out, and those of another function; a launch beyond the limit; its static shared memory; how
 *                    many blocks and clusters of it fit; its name; what the driver tells of it
 */
#include <stdio.h>

#include "cleared.h"
#include "graph_ask.h"
#include "kernel.h"
#include "host_room.h"
#include "launch_attributes.h"

KERNEL(readback_nothing) { (void)args; }
KERNEL(readback_other) { (void)args; }

/* ---- lists ---- */

#define LIST_NODES 6u
#define LIST_ENTRIES 8u        /* of any list, at most */
#define LIST_ROOM 12u          /* more than any list is asked for */
#define NOWHERE 99u            /* an entry that has no second node, or no edge */

struct edge {
    unsigned from, to, from_port, type;
};
/* Edges of every kind leave the first node and enter the fourth one: with room for some of them it matters whose data is told. */
static const struct edge list_edges[] = { { 0, 1, 0, 0 }, { 0, 2, 1, 1 }, { 1, 3, 2, 1 }, { 2, 3, 0, 0 }, { 3, 4, 2, 0 },
                                          { 0, 3, 1, 1 }, { 0, 4, 2, 1 }, { 5, 3, 2, 0 } };

struct listed {                /* what one call answered */
    cudaGraphNode_t node[LIST_ROOM], to[LIST_ROOM];
    cudaGraphEdgeData data[LIST_ROOM];
    size_t count;
};

struct kernels {
    cudaGraph_t graph;
    cudaGraphNode_t node[LIST_NODES];
};

/* Without room the call gets no arrays and only counts. */
typedef cudaError_t (*lister)(const struct kernels *k, struct listed *listed, int room);

static cudaError_t list_nodes(const struct kernels *k, struct listed *listed, int room)
{
    return cudaGraphGetNodes(k->graph, room ? listed->node : NULL, &listed->count);
}

static cudaError_t list_roots(const struct kernels *k, struct listed *listed, int room)
{
    return cudaGraphGetRootNodes(k->graph, room ? listed->node : NULL, &listed->count);
}

static cudaError_t list_edges_of(const struct kernels *k, struct listed *listed, int room)
{
    return edges_of_graph(k->graph, room ? listed->node : NULL, room ? listed->to : NULL, room ? listed->data : NULL, &listed->count);
}

static cudaError_t list_into(const struct kernels *k, struct listed *listed, int room)
{
    return edges_into_node(k->node[3], room ? listed->node : NULL, room ? listed->data : NULL, &listed->count);
}

static cudaError_t list_out_of(const struct kernels *k, struct listed *listed, int room)
{
    return edges_out_of_node(k->node[0], room ? listed->node : NULL, room ? listed->data : NULL, &listed->count);
}

static cudaGraphEdgeData list_edge(unsigned i)
{
    const struct edge *edge = &list_edges[i];

    return edge->from_port == 2 && edge->type == 0 ? edges_completion() : edges_data(edge->from_port, 0, edge->type);
}

struct entry {
    unsigned node, to, edge;   /* edge: whose data stands beside it, or NOWHERE */
};

static const struct list {
    const char *name;
    lister read;
    unsigned entries;
    struct entry entry[LIST_ENTRIES];
} lists[] = {
    { "the nodes", list_nodes, 6,
      { { 0, NOWHERE, NOWHERE }, { 1, NOWHERE, NOWHERE }, { 2, NOWHERE, NOWHERE },
        { 3, NOWHERE, NOWHERE }, { 4, NOWHERE, NOWHERE }, { 5, NOWHERE, NOWHERE } } },
    { "the roots", list_roots, 2, { { 0, NOWHERE, NOWHERE }, { 5, NOWHERE, NOWHERE } } },
    { "the edges", list_edges_of, 8,
      { { 0, 1, 0 }, { 0, 2, 1 }, { 1, 3, 2 }, { 2, 3, 3 }, { 3, 4, 4 }, { 0, 3, 5 }, { 0, 4, 6 }, { 5, 3, 7 } } },
    { "the dependencies of a node", list_into, 4,
      { { 1, NOWHERE, 2 }, { 2, NOWHERE, 3 }, { 0, NOWHERE, 5 }, { 5, NOWHERE, 7 } } },
    { "the dependents of a node", list_out_of, 4,
      { { 1, NOWHERE, 0 }, { 2, NOWHERE, 1 }, { 3, NOWHERE, 5 }, { 4, NOWHERE, 6 } } },
};

/* plain: full edges only, which may be counted without room for their data. */
static cudaError_t open_kernels(struct kernels *k, int plain)
{
    struct kernel_args args = PDL_ZERO;
    cudaError_t error = cudaGraphCreate(&k->graph, 0);
    unsigned i;

    for (i = 0; i < LIST_NODES && error == cudaSuccess; i++)
        error = ask_add_kernel(&k->node[i], k->graph, (const void *)SYMBOL(readback_nothing), &args, 1);
    for (i = 0; i < sizeof(list_edges) / sizeof(list_edges[0]) && error == cudaSuccess; i++) {
        const struct edge *e = &list_edges[i];
        cudaGraphEdgeData data = plain ? edges_data(0, 0, 0) : list_edge(i);
        error = edges_add(k->graph, &k->node[e->from], &k->node[e->to], &data, 1);
    }
    return error;
}

static int is_entry(const struct kernels *k, const struct entry *want, const struct listed *got, unsigned at)
{
    cudaGraphEdgeData data = list_edge(want->edge == NOWHERE ? 0 : want->edge);

    return got->node[at] == k->node[want->node] && (want->to == NOWHERE || got->to[at] == k->node[want->to]) &&
           (want->edge == NOWHERE || memcmp(&got->data[at], &data, sizeof(data)) == 0);
}

/* Each entry that there was room for is one of the list's, none of them twice, and so many are told; after the last one comes NULL, and beyond
 * the room nothing is written. */
static int is_right(const struct kernels *k, const struct list *list, const struct listed *got, const struct listed *untouched, unsigned room)
{
    unsigned at, i, filled = room < list->entries ? room : list->entries, seen = 0;

    for (at = 0; at < filled; at++) {
        for (i = 0; i < list->entries && !is_entry(k, &list->entry[i], got, at); i++)
            ;
        if (i == list->entries || seen >> i & 1)
            return 0;
        seen |= 1u << i;
    }
    for (; at < room; at++)
        if (got->node[at] || (list->entry[0].to != NOWHERE && got->to[at]))
            return 0;
    for (; at < LIST_ROOM; at++)
        if (got->node[at] != untouched->node[at] || got->to[at] != untouched->to[at] ||
            memcmp(&got->data[at], &untouched->data[at], sizeof(got->data[at])) != 0)
            return 0;
    return got->count == filled;
}

static void ask_list(struct ask *ask, const struct list *list, const struct kernels *plain, const struct kernels *mixed)
{
    struct listed got, untouched;
    unsigned room, wrong = 0, calls = 0;
    char text[96];

    memset(&got, 0, sizeof(got));
    snprintf(text, sizeof(text), "counting %s", list->name);
    ask_expect(ask, text, list->read(plain, &got, 0), cudaSuccess);
    ask_expect_number(ask, text, (long)got.count, (long)list->entries);
    memset(&untouched, 0x5A, sizeof(untouched));
    for (room = 1; room < list->entries + 3; room++, calls++) {
        got = untouched;
        got.count = room;
        wrong += list->read(mixed, &got, 1) != cudaSuccess || !is_right(mixed, list, &got, &untouched, room);
    }
    (void)cudaGetLastError();
    snprintf(text, sizeof(text), "wrong answers with room for some of %s, all and more", list->name);
    ask_expect_none(ask, text, wrong, calls);
}

static void ask_lists(struct ask *ask)
{
    struct kernels plain = PDL_ZERO, mixed = PDL_ZERO;
    cudaError_t error = ask_completion_edges((const void *)SYMBOL(readback_nothing));
    unsigned i;

    if (error == cudaSuccess)
        error = open_kernels(&plain, 1);
    if (error == cudaSuccess)
        error = open_kernels(&mixed, 0);
    ask_expect(ask, "two graphs of six kernels", error, cudaSuccess);
    for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && error == cudaSuccess; i++)
        ask_list(ask, &lists[i], &plain, &mixed);
    if (plain.graph)
        (void)cudaGraphDestroy(plain.graph);
    if (mixed.graph)
        (void)cudaGraphDestroy(mixed.graph);
}

/* ---- handles ---- */

#if CUDART_VERSION >= 12040
#define HANDLES 3u

/* The body of each node sets a word of its own. */
static cudaError_t add_condition(cudaGraph_t graph, cudaGraphConditionalHandle handle, uint32_t *word)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraph_t body;
    cudaGraphNode_t node;
    cudaError_t error = ask_add_conditional(&node, graph, handle, cudaGraphCondTypeIf, 1, &body);

    if (error != cudaSuccess)
        return error;
    set.dst = word;
    set.value = set.elementSize = 4;
    set.width = set.height = 1;
    return cudaGraphAddMemsetNode(&node, body, NULL, 0, &set);
}

/* runs: whose bodies are to run, a bit each; order: in which the nodes are made, a digit each. */
static cudaError_t make_conditions(cudaGraph_t graph, uint32_t *words, unsigned runs, const char *order)
{
    cudaGraphConditionalHandle handle[HANDLES];
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < HANDLES && error == cudaSuccess; i++)
        error = cudaGraphConditionalHandleCreate(&handle[i], graph, runs >> i & 1, cudaGraphCondAssignDefault);
    for (i = 0; i < HANDLES && error == cudaSuccess; i++) {
        unsigned which = (unsigned)(order[i] - '0');
        error = add_condition(graph, handle[which], words + which);
    }
    return error;
}

static cudaError_t run_conditions(cudaGraph_t graph, uint32_t *words, cudaStream_t stream, unsigned *ran)
{
    uint32_t seen[HANDLES] = { 0, 0, 0 };
    cudaGraphExec_t exec = NULL;
    unsigned i;
    cudaError_t error = cudaMemsetAsync(words, 0, sizeof(seen), stream);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(seen, words, sizeof(seen), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    for (i = 0; i < HANDLES; i++)
        *ran |= (unsigned)(seen[i] != 0) << i;
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static void ask_handles(struct ask *ask)
{
    static const char *const orders[] = { "012", "021", "102", "120", "201", "210" };
    unsigned runs, order, wrong = 0, asked = 0;
    uint32_t *words = NULL;
    cudaError_t error = cleared_alloc((void **)&words, HANDLES * sizeof(*words));

    for (runs = 0; runs < 1u << HANDLES; runs++)
        for (order = 0; order < sizeof(orders) / sizeof(orders[0]) && error == cudaSuccess; order++, asked++) {
            unsigned ran = 0;
            cudaGraph_t graph = NULL;
            error = cudaGraphCreate(&graph, 0);
            if (error == cudaSuccess)
                error = make_conditions(graph, words, runs, orders[order]);
            if (error == cudaSuccess)
                error = run_conditions(graph, words, ask->stream, &ran);
            wrong += error == cudaSuccess && ran != runs;
            if (graph)
                (void)cudaGraphDestroy(graph);
        }
    ask_expect(ask, "graphs of three conditional nodes", error, cudaSuccess);
    ask_expect_none(ask, "graphs in which other bodies ran than those whose handles said so", wrong, asked);
    (void)cudaFree(words);
}
#else
static void ask_handles(struct ask *ask) { ask_skip(ask, "conditional nodes", "the toolkit is older than 12.4"); }
#endif

#include "readback_device.h"
#include "readback_functions.h"
#include "readback_kinds.h"
#include "readback_nodes.h"
#include "readback_streams.h"
#include "readback_flags.h"

static const struct pair readback_pairs[] = {
    PAIR_ASK("nodes", ask_nodes),
    PAIR_ASK("flags", ask_flags),
    PAIR_ASK("lists", ask_lists),
    PAIR_ASK("kinds", ask_kinds),
    PAIR_ASK("streams", ask_streams),
    PAIR_ASK("handles", ask_handles),
    PAIR_ASK("functions", ask_functions),
};
IMAGE(readback, readback_pairs)
