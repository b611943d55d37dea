/* program_exec.c - makes a program's graph executable, in many ways that mean the same. */
#include "program.h"

#include <string.h>

#include "try.h"

const char *const exec_way_name[EXEC_WAYS] = { "instantiated", "instantiated twice", "updated from another graph", "updated node by node",
                                               "nodes disabled and enabled again", "uploaded first", "launched three times" };

/* The same nodes and edges; the kernels work on other memory. hosts: the host functions do nothing. */
static cudaError_t make_decoy(const struct made *made, struct made *decoy, int hosts)
{
    memset(decoy, 0, sizeof(*decoy));
    decoy->program = made->program;
    decoy->room = made->room;
    decoy->dice = made->dice;
    decoy->decoy = 1;
    decoy->decoy_hosts = hosts;
    return graph_make(decoy, WAY_ONE_BY_ONE);
}

/* An update pairs nodes by the order in which they and their edges were added and removed (CUDA Programming Guide, whole graph
 * update). Only these ways keep the order of the decoy; for another order the documents promise no pairing. */
static int keeps_the_decoys_order(enum graph_way way)
{
    return way == WAY_ONE_BY_ONE || way == WAY_NEW_NODES || way == WAY_ONE_CALL;
}

static cudaError_t update_whole(struct made *made, cudaGraphExec_t *exec)
{
    cudaGraphExecUpdateResultInfo info;
    struct made decoy;
    cudaError_t error;

    if (made->graph != made->inner || !keeps_the_decoys_order(made->way))
        return program_declines(made);
    error = make_decoy(made, &decoy, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, decoy.graph, 0);
    if (error == cudaSuccess && dice_below(&made->dice, 2)) /* the last update counts */
        error = cudaGraphExecUpdate(*exec, decoy.graph, &info);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(*exec, made->graph, &info);
    graph_unmake(&decoy);
    if (error != cudaErrorGraphExecUpdateFailure || made->way == WAY_ONE_BY_ONE)
        return error;
    (void)cudaGetLastError(); /* nodes or edges that were made in another order may be refused */
    (void)cudaGraphExecDestroy(*exec);
    *exec = NULL;
    return program_declines(made);
}

static cudaError_t update_nodes(struct made *made, cudaGraphExec_t *exec)
{
    struct made decoy;
    unsigned i;
    cudaError_t error = made->graph == made->inner ? make_decoy(made, &decoy, 0) : program_declines(made);

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < made->program->steps; i++)
        if (made->program->step[i].kind == STEP_SET || made->program->step[i].kind == STEP_COPY) {
            graph_unmake(&decoy);
            return program_declines(made); /* only the kernels' parameters are set anew */
        }
    error = cudaGraphInstantiate(exec, decoy.graph, 0);
    for (i = 0; i < made->program->steps && error == cudaSuccess; i++) {
        const struct step *step = &made->program->step[i];
        struct cudaKernelNodeParams params;
        struct kernel_args args;
        void *values[1];
        if (step->kind != STEP_KERNEL)
            continue;
        memset(&params, 0, sizeof(params));
        values[0] = &args;
        params.func = (void *)(uintptr_t)made->room->kernel;
        params.gridDim = program_grid(step);
        params.blockDim = program_block(step->threads);
        params.sharedMemBytes = step->shared_bytes;
        params.kernelParams = values;
        if (dice_below(&made->dice, 2)) { /* the last parameters count */
            program_step_args(&decoy, i, &args);
            error = cudaGraphExecKernelNodeSetParams(*exec, decoy.node[i], &params);
        }
        program_step_args(made, i, &args);
        if (error == cudaSuccess)
            error = cudaGraphExecKernelNodeSetParams(*exec, decoy.node[i], &params);
    }
    graph_unmake(&decoy);
    return error;
}

static cudaError_t enable_again(struct made *made, cudaGraphExec_t exec)
{
    unsigned i;

    if (made->graph != made->inner || made->way == WAY_WRAPPED) /* a child graph is not left out */
        return program_declines(made);
    for (i = 0; i < made->program->steps; i++) {
        enum step_kind kind = made->program->step[i].kind;
        if (kind == STEP_HOST || kind == STEP_EMPTY || dice_below(&made->dice, 2))
            continue;
        TRY(cudaGraphNodeSetEnabled(exec, made->node[i], 0));
        TRY(cudaGraphNodeSetEnabled(exec, made->node[i], 1));
    }
    return cudaSuccess;
}

cudaError_t exec_make(struct made *made, enum exec_way way, cudaGraphExec_t *exec)
{
    cudaGraphExec_t first;

    *exec = NULL;
    switch (way) {
    case EXEC_UPDATED: return update_whole(made, exec);
    case EXEC_BY_NODE: return update_nodes(made, exec);
    case EXEC_SECOND:
        TRY(cudaGraphInstantiate(&first, made->graph, 0));
        if (made->way == WAY_BODY) { /* of a graph with a conditional node only one instantiation may exist at a time */
            TRY(cudaGraphExecDestroy(first));
            return cudaGraphInstantiate(exec, made->graph, 0);
        }
        TRY(cudaGraphInstantiate(exec, made->graph, 0));
        return cudaGraphExecDestroy(first);
    default: break;
    }
    TRY(cudaGraphInstantiate(exec, made->graph, way == EXEC_AGAIN ? cudaGraphInstantiateFlagUseNodePriority : 0));
    if (way == EXEC_REENABLED)
        return enable_again(made, *exec);
    return way == EXEC_UPLOADED ? cudaGraphUpload(*exec, made->room->stream) : cudaSuccess;
}
