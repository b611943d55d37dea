/* nodes.c - the steps that graphs built by hand are made of: one kernel node with its incoming edges at a time. */
#include "pair.h"

#include <string.h>

/* The incoming edges: those given, or full ones from everything of the trial before. */
static unsigned incoming(const struct nodes *nodes, const pdl_graph_edge *given, unsigned count, pdl_graph_edge *edges)
{
    unsigned i;

    memset(edges, 0, NODES_MAX * sizeof(*edges));
    for (i = 0; i < count; i++)
        edges[i] = given[i];
    for (; !count && i < nodes->befores; i++)
        edges[i].from = nodes->before[i];
    return i;
}

static int all_full(const pdl_graph_edge *edges, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        if (edges[i].kind != PDL_EDGE_FULL)
            return 0;
    return 1;
}

static dim3 along_x(unsigned x)
{
    dim3 d;

    d.x = x;
    d.y = d.z = 1;
    return d;
}

/* Full edges by the function that knows no other ones: no data means the same as zeros (EDGE-01). */
static cudaError_t add_without_data(const struct nodes *nodes, struct node *what, const pdl_graph_edge *edges, unsigned count,
                                    cudaGraphNode_t *node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaGraphNode_t from[NODES_MAX];
    void *values[1];
    unsigned i;

    for (i = 0; i < count; i++)
        from[i] = edges[i].from;
    values[0] = &what->args;
    params.func = (void *)what->kernel->func;
    params.gridDim = along_x(what->blocks);
    params.blockDim = along_x(what->threads);
    params.sharedMemBytes = (unsigned)what->shared_bytes;
    params.kernelParams = values;
    return cudaGraphAddKernelNode(node, nodes->graph, count ? from : NULL, count, &params);
}

static cudaError_t add_by_kind(const struct queue *queue, struct node *what, pdl_graph_edge *edges, unsigned count,
                               cudaGraphNode_t *node)
{
    pdl_options options = PDL_ZERO;
    void *values[1];

    values[0] = &what->args;
    options.overlap = all_full(edges, count) ? PDL_OVERLAP_NONE : PDL_OVERLAP_REQUIRED;
    options.has_priority = (unsigned)what->urgent;
    options.priority = what->urgent ? queue->high_priority : 0;
    return pdl_graph_add_kernel(node, queue->nodes->graph, edges, count, what->kernel, along_x(what->blocks),
                                along_x(what->threads), values, what->shared_bytes, &options);
}

cudaError_t nodes_add(const struct queue *queue, struct node *what, const pdl_graph_edge *given, unsigned given_count,
                      cudaGraphNode_t *node)
{
    struct nodes *nodes = queue->nodes;
    pdl_graph_edge edges[NODES_MAX];
    unsigned count = incoming(nodes, given, given_count, edges);
    cudaError_t error;

    if (nodes->owns == NODES_MAX)
        return cudaErrorInvalidValue;
    if (all_full(edges, count) && !what->urgent && what->blocks % 2)
        error = add_without_data(nodes, what, edges, count, node);
    else
        error = add_by_kind(queue, what, edges, count, node);
    if (error == cudaSuccess)
        nodes->own[nodes->owns++] = *node;
    return error;
}

void nodes_next(struct nodes *nodes, int line)
{
    unsigned first = line && nodes->owns ? nodes->owns - 1 : 0;

    nodes->befores = nodes->owns - first;
    memcpy(nodes->before, nodes->own + first, nodes->befores * sizeof(nodes->own[0]));
    nodes->owns = 0;
}

static struct node node_of(const pdl_kernel *kernel, const struct trial_launch *trial, unsigned blocks)
{
    struct node what = PDL_ZERO;

    what.kernel = kernel;
    what.args = trial->args;
    what.blocks = blocks;
    what.threads = trial->threads;
    return what;
}

cudaError_t node_primary(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node)
{
    struct node what = node_of(&queue->primary, trial, trial->primary_blocks);

    what.shared_bytes = trial->primary_shared_bytes;
    return nodes_add(queue, &what, NULL, 0, node);
}

cudaError_t node_middle(const struct queue *queue, const struct trial_launch *trial, unsigned blocks,
                        const pdl_graph_edge *edges, unsigned count, cudaGraphNode_t *node)
{
    struct node what = node_of(&queue->middle, trial, blocks);

    what.urgent = trial->urgent_dependent;
    return nodes_add(queue, &what, edges, count, node);
}

cudaError_t node_dependent(const struct queue *queue, const struct trial_launch *trial, const pdl_graph_edge *edges,
                           unsigned count, cudaGraphNode_t *node)
{
    struct node what = node_of(&queue->dependent, trial, trial->dependent_blocks);
    pdl_graph_edge kept[NODES_MAX];
    unsigned i;

    for (i = 0; i < count; i++) {
        kept[i] = edges[i];
        if (trial->control == CONTROL_ATTROFF)
            kept[i].kind = PDL_EDGE_FULL;
    }
    what.urgent = trial->urgent_dependent;
    return nodes_add(queue, &what, kept, count, node);
}

static cudaError_t add_alone(const struct queue *queue, struct node *what, cudaGraphNode_t *node)
{
    struct nodes *nodes = queue->nodes;
    cudaError_t error;

    if (nodes->owns == NODES_MAX)
        return cudaErrorInvalidValue;
    error = add_without_data(nodes, what, NULL, 0, node);
    if (error == cudaSuccess)
        nodes->own[nodes->owns++] = *node;
    return error;
}

cudaError_t node_middle_alone(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node)
{
    struct node what = node_of(&queue->middle, trial, 1);

    return add_alone(queue, &what, node);
}

cudaError_t node_dependent_alone(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node)
{
    struct node what = node_of(&queue->dependent, trial, trial->dependent_blocks);

    return add_alone(queue, &what, node);
}

cudaError_t node_pair(const struct queue *queue, const struct trial_launch *trial, unsigned kind)
{
    pdl_graph_edge edge = PDL_ZERO;
    cudaGraphNode_t dependent;
    cudaError_t error = node_primary(queue, trial, &edge.from);

    edge.kind = kind;
    return error == cudaSuccess ? node_dependent(queue, trial, &edge, 1, &dependent) : error;
}

/* The spacer is urgent: it must not come after primary blocks that have not begun. */
cudaError_t node_unordered(const struct queue *queue, const struct trial_launch *trial)
{
    struct node spacer = node_of(&queue->spacer, trial, 1);
    pdl_graph_edge edge = PDL_ZERO;
    cudaGraphNode_t node;
    cudaError_t error = node_primary(queue, trial, &node);

    spacer.threads = 1;
    spacer.urgent = 1;
    if (error == cudaSuccess)
        error = nodes_add(queue, &spacer, NULL, 0, &edge.from);
    return error == cudaSuccess ? node_dependent(queue, trial, &edge, 1, &node) : error;
}
