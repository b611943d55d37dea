/* program_loop.c - programs whose steps are the body of a loop. Each of its rounds has to come to the same words: before it they are as the first
 * one found them, and so is what says which steps have begun. */
#include "program.h"

#include "../edges.h"
#include "try.h"

cudaError_t program_open_loop(struct made *made, cudaGraph_t graph, cudaGraph_t *body)
{
#if CUDART_VERSION >= 12040
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams params = PDL_ZERO;
    cudaGraphNode_t node;

    TRY(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    TRY(edges_add_node(&node, graph, NULL, NULL, 0, &params));
    made->loops = 1;
    made->loop = handle;
    *body = params.conditional.phGraph_out[0];
    return cudaSuccess;
#else
    (void)made, (void)graph, (void)body;
    return cudaErrorNotSupported;
#endif
}

static cudaError_t add_full_edge(const struct made *made, cudaGraphNode_t from, cudaGraphNode_t to)
{
    cudaGraphEdgeData full = program_edge(LINK_FULL);

    return edges_add(made->inner, &from, &to, &full, 1);
}

/* Steps that began too early, and the rounds, are counted over all rounds. */
static cudaError_t begin_rounds(const struct made *made, cudaGraphNode_t *last)
{
    const struct program_room *room = made->room;
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t begun, counted;

    set.dst = room->began;
    set.elementSize = sizeof(uint32_t);
    set.width = made->program->steps;
    set.height = 1;
    TRY(cudaGraphAddMemsetNode(&begun, made->inner, NULL, 0, &set));
    set.dst = room->began + PROGRAM_STEPS + PROGRAM_EARLY;
    TRY(cudaGraphAddMemsetNode(&counted, made->inner, &begun, 1, &set));
    return cudaGraphAddMemcpyNode1D(last, made->inner, &counted, 1, room->data, room->kept, made->program->steps * STEP_BYTES,
                                    cudaMemcpyDeviceToDevice);
}

static cudaError_t add_round(const struct made *made, cudaGraph_t graph, struct program_round *round, cudaGraphNode_t *node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    void *values[1];

    values[0] = round;
    params.func = (void *)(uintptr_t)made->room->goes_on;
    params.gridDim.x = params.gridDim.y = params.gridDim.z = 1;
    params.blockDim.x = params.blockDim.y = params.blockDim.z = 1;
    params.kernelParams = values;
    return cudaGraphAddKernelNode(node, graph, NULL, 0, &params);
}

cudaError_t program_add_chooser(const struct made *made, cudaGraph_t graph, uint64_t handle, unsigned value, cudaGraphNode_t *node)
{
    struct program_round round = { handle, NULL, value };

    return add_round(made, graph, &round, node);
}

cudaError_t program_close_loop(const struct made *made)
{
    struct program_round round = { made->loop, made->room->began + PROGRAM_STEPS + 2, 0 };
    cudaGraphNode_t first, last;
    unsigned i;

    TRY(begin_rounds(made, &first));
    TRY(add_round(made, made->inner, &round, &last));
    for (i = 0; i < made->program->steps; i++) {
        if (program_is_root(made->program, i))
            TRY(add_full_edge(made, first, made->node[i]));
        TRY(add_full_edge(made, made->node[i], last));
    }
    return cudaSuccess;
}
