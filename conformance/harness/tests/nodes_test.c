/* nodes_test.c - that a kernel node of a trial gets the edges that it is given, each of its own kind, and its priority, whichever call it is made
 * by; and the type of a launch-completion edge. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "edges.h"
#include "model.h"
#include "pair.h"

extern void wait_store_primary_base(struct kernel_args args);

/* The last node with edges that was made by the call that knows no data of them. */
static cudaGraphNode_t plain_node;

cudaError_t __real_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                          const struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                          const struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                          const struct cudaKernelNodeParams *params)
{
    cudaError_t error = __real_cudaGraphAddKernelNode(node, graph, after, count, params);

    if (count)
        plain_node = *node;
    return error;
}

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
    return nodes_add(queue, &what, edges, 2, &node) == cudaSuccess && edges_are(node, from, kinds, 2) &&
           (plain_node == node) == (blocks % 2 && first == PDL_EDGE_FULL && second == PDL_EDGE_FULL);
}

static int has_high_priority(const struct queue *queue, cudaGraphNode_t node)
{
    cudaLaunchAttributeValue value;

    memset(&value, 0, sizeof(value));
    return cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value) == cudaSuccess && value.priority == queue->high_priority;
}

/* A node without edges that is to have the highest priority has it, however many blocks it has. */
static int is_urgent(struct queue *queue, unsigned blocks)
{
    cudaGraphNode_t node;
    struct node what;

    memset(&what, 0, sizeof(what));
    what.kernel = &queue->primary;
    what.blocks = blocks;
    what.threads = what.urgent = 1;
    queue->nodes->owns = queue->nodes->befores = 0;
    return nodes_add(queue, &what, NULL, 0, &node) == cudaSuccess && has_high_priority(queue, node);
}

/* Whether this node has these blocks, threads and dynamic shared bytes, and these arguments. */
static int node_is(cudaGraphNode_t node, const struct trial_launch *trial, unsigned blocks, unsigned threads, size_t shared_bytes)
{
    struct cudaKernelNodeParams params;

    memset(&params, 0, sizeof(params));
    return cudaGraphKernelNodeGetParams(node, &params) == cudaSuccess && params.gridDim.x == blocks && params.gridDim.y == 1 &&
           params.blockDim.x == threads && params.blockDim.y == 1 && params.sharedMemBytes == shared_bytes &&
           memcmp(params.kernelParams[0], &trial->args, sizeof(trial->args)) == 0;
}

/* Begins a trial of so many blocks after three nodes of the one before it. */
static struct trial_launch after_three(struct queue *queue, unsigned blocks, int line, cudaGraphNode_t *before)
{
    static struct trial_state state;
    struct trial_launch trial;
    struct node what;
    unsigned i;

    memset(&trial, 0, sizeof(trial));
    memset(&what, 0, sizeof(what));
    trial.args.state = &state;
    trial.primary_blocks = blocks;
    trial.dependent_blocks = blocks + 2;
    trial.threads = 3;
    trial.primary_shared_bytes = 64;
    what.kernel = &queue->primary;
    what.blocks = what.threads = 1;
    queue->nodes->owns = queue->nodes->befores = 0;
    for (i = 0; i < 3; i++)
        check(nodes_add(queue, &what, NULL, 0, &before[i]) == cudaSuccess && edges_are(before[i], NULL, NULL, 0), "one after nothing");
    nodes_next(queue->nodes, line);
    return trial;
}

static void check_pair(struct queue *queue, unsigned blocks)
{
    const unsigned full[3] = { PDL_EDGE_FULL, PDL_EDGE_FULL, PDL_EDGE_FULL }, early = PDL_EDGE_PROGRAMMATIC;
    cudaGraphNode_t before[3], *own = queue->nodes->own;
    struct trial_launch trial;
    int line;

    for (line = 0; line < 2; line++) {
        trial = after_three(queue, blocks, line, before);
        check(node_pair(queue, &trial, PDL_EDGE_PROGRAMMATIC) == cudaSuccess && queue->nodes->owns == 2, "a pair");
        check(edges_are(own[0], line ? before + 2 : before, full, line ? 1 : 3), "the primary comes after the trial before, in a line its last");
        check(node_is(own[0], &trial, blocks, 3, 64) && node_is(own[1], &trial, blocks + 2, 3, 0), "each of its own size");
        check(edges_are(own[1], own, &early, 1), "the dependent by the edge that was asked for");
        trial.control = CONTROL_ATTROFF;
        nodes_next(queue->nodes, line);
        check(node_pair(queue, &trial, PDL_EDGE_PROGRAMMATIC) == cudaSuccess && edges_are(own[1], own, full, 1), "by a full one in that control");
        trial.urgent_dependent = 1;
        check(!has_high_priority(queue, own[0]) && !has_high_priority(queue, own[1]) &&
              node_dependent(queue, &trial, NULL, 0, &before[0]) == cudaSuccess && has_high_priority(queue, before[0]) &&
              node_middle(queue, &trial, blocks, NULL, 0, &before[0]) == cudaSuccess && has_high_priority(queue, before[0]) &&
              node_is(before[0], &trial, blocks, 3, 0), "an urgent one has the highest priority");
    }
}

static void check_unordered(struct queue *queue, unsigned blocks)
{
    const unsigned full[3] = { PDL_EDGE_FULL, PDL_EDGE_FULL, PDL_EDGE_FULL };
    cudaGraphNode_t before[3], middle, *own = queue->nodes->own;
    struct trial_launch trial = after_three(queue, blocks, 0, before);

    check(node_unordered(queue, &trial) == cudaSuccess && queue->nodes->owns == 3, "a pair without an order, and a spacer");
    check(edges_are(own[0], before, full, 3) && edges_are(own[1], before, full, 3) && edges_are(own[2], own + 1, full, 1), "the dependent after the spacer");
    check(node_is(own[1], &trial, 1, 1, 0) && node_is(own[2], &trial, blocks + 2, 3, 0), "which is small");
    check(has_high_priority(queue, own[1]) && !has_high_priority(queue, own[2]), "and urgent");
    check(node_middle_alone(queue, &trial, &middle) == cudaSuccess && edges_are(middle, NULL, NULL, 0) && node_is(middle, &trial, 1, 3, 0) &&
          node_dependent_alone(queue, &trial, &middle) == cudaSuccess && edges_are(middle, NULL, NULL, 0) &&
          node_is(middle, &trial, blocks + 2, 3, 0) && queue->nodes->owns == 5, "alone is after nothing");
}

/* A kernel whose wait is nothing is refused, and never quietly ordered by a full edge instead. */
static void check_erased(struct queue *queue, unsigned blocks)
{
    const pdl_kernel right = queue->dependent;
    cudaGraphNode_t before[3];
    struct trial_launch trial = after_three(queue, blocks, 0, before);

    queue->dependent.can_overlap = 0;
    queue->dependent.reason = PDL_REASON_TARGET;
    check(node_pair(queue, &trial, PDL_EDGE_PROGRAMMATIC) != cudaSuccess && queue->nodes->owns == 1, "an erased kernel is no dependent");
    queue->dependent = right;
}

/* There is room for so many nodes of a trial, and one more is refused. */
static void check_full(struct queue *queue, unsigned blocks)
{
    cudaGraphNode_t before[3], node;
    struct trial_launch trial = after_three(queue, blocks, 0, before);
    struct nodes *nodes = queue->nodes;

    nodes->owns = NODES_MAX - 1;
    check(node_primary(queue, &trial, &node) == cudaSuccess && nodes->owns == NODES_MAX && nodes->own[NODES_MAX - 1] == node, "the last one");
    check(node_primary(queue, &trial, &node) == cudaErrorInvalidValue && node_middle_alone(queue, &trial, &node) == cudaErrorInvalidValue &&
          node_dependent_alone(queue, &trial, &node) == cudaErrorInvalidValue && nodes->owns == NODES_MAX, "and one too many");
    check(node_pair(queue, &trial, PDL_EDGE_FULL) == cudaErrorInvalidValue && node_unordered(queue, &trial) == cudaErrorInvalidValue, "in a pair");
    nodes->owns = NODES_MAX - 1;
    check(node_pair(queue, &trial, PDL_EDGE_FULL) == cudaErrorInvalidValue, "nor is there room for half a pair");
    nodes->owns = NODES_MAX - 1;
    check(node_middle_alone(queue, &trial, &node) == cudaSuccess && nodes->owns == NODES_MAX && nodes->own[NODES_MAX - 1] == node, "alone, too");
}

/* The launch-completion edge has the type that the device takes. */
static void check_completion(void)
{
    int refused;

    for (refused = 1; refused >= 0; refused--) {
        cudaGraphEdgeData data;
        edges_refuse_completion(refused);
        data = edges_completion();
        check(data.from_port == 2 && data.to_port == 0 && data.type == refused, "a launch-completion edge");
    }
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
    queue.middle = queue.spacer = queue.dependent = queue.primary;
    for (blocks = 1; blocks < 3; blocks++) { /* full edges of an odd number of blocks have a call of their own */
        check(is_urgent(&queue, blocks), "the highest priority");
        check(adds(&queue, blocks, PDL_EDGE_FULL, PDL_EDGE_FULL), "two full edges");
        check(adds(&queue, blocks, PDL_EDGE_PROGRAMMATIC, PDL_EDGE_FULL), "a programmatic edge and a full one");
        check(adds(&queue, blocks, PDL_EDGE_FULL, PDL_EDGE_PROGRAMMATIC), "a full edge and a programmatic one");
        check(adds(&queue, blocks, PDL_EDGE_PROGRAMMATIC, PDL_EDGE_PROGRAMMATIC), "two programmatic edges");
        check_pair(&queue, blocks);
        check_unordered(&queue, blocks);
        check_erased(&queue, blocks);
        check_full(&queue, blocks);
    }
    check_completion();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
