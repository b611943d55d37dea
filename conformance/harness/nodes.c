/* nodes.c - the steps that graphs built by hand are made of: one kernel node with its incoming edges at a time. */
#include "pair.h"

#include <string.h>

#include "edges.h"

static cudaGraphEdgeData data_of(enum edge edge)
{
    switch (edge) {
    case EDGE_PROGRAMMATIC: return edges_data(1, 0, 1);
    case EDGE_BLOCK_START: return edges_data(2, 0, 1);
    case EDGE_LAUNCH_COMPLETION: return edges_data(2, 0, 0);
    default: return edges_data(0, 0, 0);
    }
}

/* The incoming edges: those given, or full ones from everything of the trial before. */
static unsigned incoming(const struct nodes *nodes, const struct node_after *after, unsigned count, cudaGraphNode_t *from,
                         cudaGraphEdgeData *data)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        from[i] = after[i].node;
        data[i] = data_of(after[i].edge);
    }
    for (; !count && i < nodes->befores; i++) {
        from[i] = nodes->before[i];
        data[i] = data_of(EDGE_FULL);
    }
    return i;
}

/* No data at all means the same as zeros (EDGE-01): a node with an odd number of blocks says it so. */
static const cudaGraphEdgeData *data_or_none(const cudaGraphEdgeData *data, unsigned edges, unsigned blocks)
{
    unsigned i;

    for (i = 0; i < edges; i++)
        if (data[i].from_port || data[i].type)
            return data;
    return blocks % 2 ? NULL : data;
}

cudaError_t nodes_add(const struct queue *queue, const pdl_kernel *kernel, struct kernel_args *args, unsigned blocks,
                      unsigned threads, size_t shared_bytes, const struct node_after *after, unsigned count,
                      cudaGraphNode_t *node)
{
    struct nodes *nodes = queue->nodes;
    cudaGraphNode_t from[NODES_MAX];
    cudaGraphEdgeData data[NODES_MAX];
    struct cudaGraphNodeParams params;
    void *values[1];
    unsigned edges = incoming(nodes, after, count, from, data);
    cudaError_t error;

    values[0] = args;
    memset(&params, 0, sizeof(params));
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)kernel->func;
    params.kernel.gridDim.x = blocks;
    params.kernel.blockDim.x = threads;
    params.kernel.gridDim.y = params.kernel.gridDim.z = params.kernel.blockDim.y = params.kernel.blockDim.z = 1;
    params.kernel.sharedMemBytes = (unsigned)shared_bytes;
    params.kernel.kernelParams = values;
    if (nodes->owns == NODES_MAX)
        return cudaErrorInvalidValue;
    error = edges_add_node(node, nodes->graph, edges ? from : NULL,
                           edges ? data_or_none(data, edges, blocks) : NULL, edges, &params);
    if (error == cudaSuccess)
        nodes->own[nodes->owns++] = *node;
    return error;
}

void nodes_next(struct nodes *nodes)
{
    memcpy(nodes->before, nodes->own, sizeof(nodes->before));
    nodes->befores = nodes->owns;
    nodes->owns = 0;
}

static cudaError_t urgent(const struct queue *queue, cudaGraphNode_t node)
{
    cudaLaunchAttributeValue value;

    memset(&value, 0, sizeof(value));
    value.priority = queue->high_priority;
    return cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value);
}

cudaError_t node_primary(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node)
{
    struct kernel_args args = trial->args;

    return nodes_add(queue, &queue->primary, &args, trial->primary_blocks, trial->threads, trial->primary_shared_bytes, NULL, 0,
                     node);
}

cudaError_t node_middle(const struct queue *queue, const struct trial_launch *trial, unsigned blocks,
                        const struct node_after *after, unsigned count, cudaGraphNode_t *node)
{
    struct kernel_args args = trial->args;

    return nodes_add(queue, &queue->middle, &args, blocks, trial->threads, 0, after, count, node);
}

cudaError_t node_dependent(const struct queue *queue, const struct trial_launch *trial, const struct node_after *after,
                           unsigned count, cudaGraphNode_t *node)
{
    struct kernel_args args = trial->args;
    struct node_after full[NODES_MAX];
    cudaError_t error;
    unsigned i;

    for (i = 0; i < count; i++) {
        full[i] = after[i];
        if (trial->control == CONTROL_ATTROFF)
            full[i].edge = EDGE_FULL;
    }
    error = nodes_add(queue, &queue->dependent, &args, trial->dependent_blocks, trial->threads, 0, full, count, node);
    return error == cudaSuccess && trial->urgent_dependent ? urgent(queue, *node) : error;
}

cudaError_t node_pair(const struct queue *queue, const struct trial_launch *trial, enum edge edge)
{
    struct node_after after;
    cudaGraphNode_t dependent;
    cudaError_t error = node_primary(queue, trial, &after.node);

    after.edge = edge;
    return error == cudaSuccess ? node_dependent(queue, trial, &after, 1, &dependent) : error;
}

cudaError_t node_unordered(const struct queue *queue, const struct trial_launch *trial)
{
    struct kernel_args args = trial->args;
    struct node_after after;
    cudaGraphNode_t node;
    cudaError_t error = node_primary(queue, trial, &node);

    after.edge = EDGE_FULL;
    if (error == cudaSuccess)
        error = nodes_add(queue, &queue->spacer, &args, 1, 1, 0, NULL, 0, &after.node);
    if (error == cudaSuccess) /* not behind primary blocks that have not begun */
        error = urgent(queue, after.node);
    return error == cudaSuccess ? node_dependent(queue, trial, &after, 1, &node) : error;
}
