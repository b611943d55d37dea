/* program_loop.c - programs whose steps are the body of a conditional node, which may be a loop. Each of its rounds has to come to the same words: before it they are as the first
 * one found them, and so is what says which steps have begun. */
#include "program.h"

#include "../edges.h"
#include "try.h"

static cudaError_t add_loop(struct made *made, cudaGraph_t graph, cudaGraph_t *body)
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

/* Whether each step of its program can be the body of a conditional node. */
static int may_be_conditions(const struct made *made)
{
    const struct program *p = made->program;
    unsigned i;

    for (i = 0; i < p->steps; i++)
        if (p->step[i].kind > STEP_COPY || !program_has_full_edges(p, i))
            return 0;
    return 1;
}

/* In every other loop some steps lie in child graphs, or all of them in conditional nodes where they can: a driver is known whose loops do
 * not end if conditional nodes stand beside other steps, and rule EDGE-26e alone asks for it. */
static cudaError_t open_loop(struct made *made)
{
    if (dice_below(&made->dice, 2)) {
        int conditions = may_be_conditions(made);
        made->wraps = conditions ? ~(uint64_t)0 : dice_roll(&made->dice) & ~(uint64_t)made->bodies;
        made->bodies = conditions ? ~(uint64_t)0 : made->bodies;
    }
    return add_loop(made, made->graph, &made->inner);
}

cudaError_t program_open_body(struct made *made)
{
    cudaGraphNode_t node;
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        if (made->program->step[i].kind == STEP_HOST || made->program->step[i].kind > STEP_EMPTY ||
            (made->program->step[i].cooperative && !made->room->size.cooperative_bodies))
            return program_declines(made); /* a body takes no host functions and no events */
    for (i = 0; i < made->program->links; i++)
        if (made->program->link[i].kind == LINK_LAUNCH)
            return program_declines(made); /* a driver is known whose bodies end too early then: rule EDGE-26d alone asks for it */
    if (!made->room->size.bodies || (made->way == WAY_DECIDED && !made->room->goes_on))
        return program_declines(made);
    made->bodies = 1;
    TRY(cudaGraphCreate(&made->graph, 0));
    if (dice_below(&made->dice, 2))
        TRY(program_add_condition(made, made->graph, NULL, 0, &node, NULL));
    if (made->way == WAY_DECIDED && dice_below(&made->dice, 3))
        return open_loop(made);
    return program_add_condition(made, made->graph, NULL, 0, &node, &made->inner);
}
