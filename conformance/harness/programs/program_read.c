/* program_read.c - reads back the graph that was made of a program. */
#include "program.h"

#include <string.h>

#include "../edges.h"

static void edge_differs(struct difference *found, const struct link *link, const char *what, cudaGraphEdgeData data)
{
    cudaGraphEdgeData want = program_edge(link->kind);

    program_differs(found, "%u>%u was to be %u,%u,%u and is %s%u,%u,%u", link->from, link->to, want.from_port, want.to_port, want.type, what,
                    data.from_port, data.to_port, data.type);
}

/* The answer has `count` nodes, steps that `which` tells, each once, and nothing after them. */
static int lists_steps(const struct made *made, cudaGraphNode_t *nodes, size_t count, uint64_t which)
{
    unsigned i;
    size_t k;

    for (i = 0; i < made->program->steps; i++) {
        for (k = 0; k < count && nodes[k] != made->node[i]; k++)
            ;
        if ((k < count) != (which >> i & 1))
            return 0;
        count -= k < count;
        if (which >> i & 1)
            memmove(&nodes[k], &nodes[k + 1], (PROGRAM_STEPS - k) * sizeof(nodes[0]));
    }
    return count == 0 && nodes[0] == NULL;
}

static int lists(const struct made *made, int roots, int by_driver, uint64_t which)
{
    cudaGraphNode_t nodes[PROGRAM_STEPS + 2];
    size_t count = PROGRAM_STEPS + 1;

    memset(nodes, -1, sizeof(nodes));
    return program_nodes(made, roots, by_driver, nodes, &count) == cudaSuccess && lists_steps(made, nodes, count, which);
}

/* By the runtime's calls, and by the driver's. */
static int has_roots(const struct made *made)
{
    uint64_t all = made->program->steps == PROGRAM_STEPS ? ~(uint64_t)0 : ((uint64_t)1 << made->program->steps) - 1, roots = all;
    unsigned l;
    int by_driver;

    for (l = 0; l < made->program->links; l++)
        roots &= ~((uint64_t)1 << made->program->link[l].to);
    for (by_driver = 0; by_driver < 2; by_driver++)
        if (!lists(made, 0, by_driver, all) || !lists(made, 1, by_driver, roots))
            return 0;
    return 1;
}

/* A query without data is an answer where every edge is full, and an error where it would lose one's data. */
static int loses_no_data(const struct made *made, cudaGraphNode_t *from, cudaGraphNode_t *to)
{
    size_t count = PROGRAM_LINKS + 1;
    unsigned l, full = 1;

    for (l = 0; l < made->program->links; l++)
        full &= made->program->link[l].kind == LINK_FULL;
    return edges_of_graph(made->inner, from, to, NULL, &count) == (full ? cudaSuccess : cudaErrorLossyQuery);
}

/* Nodes, edges, and the launches of kernels. */
void graph_compare(const struct made *made, struct difference *found)
{
    static cudaGraphNode_t from[PROGRAM_LINKS + 1], to[PROGRAM_LINKS + 1];
    static cudaGraphEdgeData data[PROGRAM_LINKS + 1];
    const struct program *p = made->program;
    size_t count = PROGRAM_LINKS + 1, some = p->links / 2, nodes = 0, e;
    unsigned i, l;

    if (edges_of_graph(made->inner, from, to, data, &count) != cudaSuccess || cudaGraphGetNodes(made->inner, NULL, &nodes) != cudaSuccess) {
        program_differs(found, "its edges cannot be read");
        return;
    }
    for (l = 0; l < p->links; l++) {
        cudaGraphEdgeData want = program_edge(p->link[l].kind);
        for (e = 0; e < count && !(from[e] == made->node[p->link[l].from] && to[e] == made->node[p->link[l].to]); e++)
            ;
        if (e == count || memcmp(&data[e], &want, sizeof(want)) != 0)
            edge_differs(found, &p->link[l], e < count ? "" : "absent ", e < count ? data[e] : want);
    }
    for (e = count; e < PROGRAM_LINKS + 1; e++)
        if (from[e] || to[e])
            program_differs(found, "after its edges the arrays are not empty");
    if (some > 1 && (edges_of_graph(made->inner, from, to, data, &some) != cudaSuccess || some != p->links / 2))
        program_differs(found, "asked for half of its edges, it gave another number");
    if (!program_driver_tells(made, from, to, data, count))
        program_differs(found, "the driver's call tells other edges");
    if (p->links && !loses_no_data(made, from, to))
        program_differs(found, "asked for its edges without their data, it gave another answer");
    if (count != p->links || nodes != p->steps)
        program_differs(found, "it has %u nodes and %u edges instead of %u and %u", (unsigned)nodes, (unsigned)count, p->steps, p->links);
    if (!has_roots(made))
        program_differs(found, "its nodes or its roots are others");
    for (i = 0; i < p->steps; i++)
        if (!program_keeps_node(made, i))
            program_differs(found, "step %u is another node or launch, has lost an attribute, or has another event", i);
}
