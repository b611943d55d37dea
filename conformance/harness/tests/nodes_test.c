/* nodes_test.c - that a kernel node of a trial gets the edges that it is given, each of its own kind, and its priority, whichever call it is made
 * by. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "edges.h"
#include "model.h"
#include "pair.h"

extern void wait_store_primary_base(struct kernel_args args);

/* What leads to the node from these: ports and types, in their order. */
static int edges_are(cudaGraphNode_t node, const cudaGraphNode_t *from, const unsigned *kinds, unsigned count)
{
    cudaGraphNode_t found[NODES_MAX];
    cudaGraphEdgeData data[NODES_MAX];
    size_t edges = NODES_MAX, i, j;

    if (edges_into_node(node, found, data, &edges) != cudaSuccess || edges != count)
        return 0;
    for (i = 0; i < count; i++) {
        for (j = 0; j < count && found[j] != from[i]; j++)
            ;
        if (j == count || data[j].from_port != (kinds[i] == PDL_EDGE_FULL ? 0 : 1) || data[j].type != (kinds[i] == PDL_EDGE_FULL ? 0 : 1))
            return 0;
    }
    return 1;
}

/* A node of so many blocks after two others. */
static int adds(struct queue *queue, unsigned blocks, unsigned first, unsigned second)
{
    const unsigned kinds[2] = { first, second };
    cudaGraphNode_t node, from[2];
    pdl_graph_edge edges[2];
    struct node what;
    unsigned i;

    memset(&what, 0, sizeof(what));
    memset(edges, 0, sizeof(edges));
    what.kernel = &queue->primary;
    what.blocks = what.threads = 1;
    queue->nodes->owns = queue->nodes->befores = 0;
    for (i = 0; i < 2; i++) {
        if (nodes_add(queue, &what, NULL, 0, &from[i]) != cudaSuccess)
            return 0;
        edges[i].from = from[i];
        edges[i].kind = kinds[i];
    }
    what.blocks = blocks;
    return nodes_add(queue, &what, edges, 2, &node) == cudaSuccess && edges_are(node, from, kinds, 2);
}

/* A node without edges that is to have the highest priority has it, however many blocks it has. */
static int is_urgent(struct queue *queue, unsigned blocks)
{
    cudaLaunchAttributeValue value;
    cudaGraphNode_t node;
    struct node what;

    memset(&what, 0, sizeof(what));
    memset(&value, 0, sizeof(value));
    what.kernel = &queue->primary;
    what.blocks = blocks;
    what.threads = what.urgent = 1;
    queue->nodes->owns = queue->nodes->befores = 0;
    return nodes_add(queue, &what, NULL, 0, &node) == cudaSuccess &&
           cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value) == cudaSuccess && value.priority == queue->high_priority;
}

int main(void)
{
    struct queue queue;
    struct nodes nodes;
    unsigned blocks;

    memset(&queue, 0, sizeof(queue));
    memset(&nodes, 0, sizeof(nodes));
    model_reset("", 1);
    queue.nodes = &nodes;
    queue.high_priority = -3;
    if (cudaGraphCreate(&nodes.graph, 0) != cudaSuccess || pdl_kernel_init(&queue.primary, (const void *)wait_store_primary_base) != cudaSuccess)
        return EXIT_FAILURE;
    for (blocks = 1; blocks < 3; blocks++) { /* full edges of an odd number of blocks have a call of their own */
        check(is_urgent(&queue, blocks), "the highest priority");
        check(adds(&queue, blocks, PDL_EDGE_FULL, PDL_EDGE_FULL), "two full edges");
        check(adds(&queue, blocks, PDL_EDGE_PROGRAMMATIC, PDL_EDGE_FULL), "a programmatic edge and a full one");
        check(adds(&queue, blocks, PDL_EDGE_FULL, PDL_EDGE_PROGRAMMATIC), "a full edge and a programmatic one");
        check(adds(&queue, blocks, PDL_EDGE_PROGRAMMATIC, PDL_EDGE_PROGRAMMATIC), "two programmatic edges");
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
