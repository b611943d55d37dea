/* program_steps.c - one step of a program as a node of a graph: its arguments, its attributes, and what a host step does. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "../words.h"
#include "try.h"

int program_is_decoy(const struct made *made, unsigned step) { return (made->decoys >> step & 1) != 0; }

void program_step_args(const struct made *made, unsigned step, struct kernel_args *args)
{
    const struct program_room *room = made->room;
    const struct program_staging *device = (const struct program_staging *)(const void *)room->mapped;

    memset(args, 0, sizeof(*args));
    args->plan = (const struct trial_plan *)(const void *)(room->plan + step + (program_is_decoy(made, step) ? PROGRAM_STEPS : 0));
    args->data = room->data + (program_is_decoy(made, step) ? PROGRAM_STEPS * PROGRAM_WORDS : 0);
    args->state = room->state;
    args->primary_sm = room->began;
    args->dependent_sm = room->began + PROGRAM_STEPS;
    args->seen = (uint32_t *)(uintptr_t)device->mark;
    args->input = (uint32_t *)(uintptr_t)device->from_host;
}

uint32_t *program_words_of(const struct made *made, unsigned step)
{
    return made->room->data + ((program_is_decoy(made, step) ? PROGRAM_STEPS : 0) + step) * PROGRAM_WORDS;
}

/* What a copy reads: words of the same memory. */
uint32_t *program_source_of(const struct made *made, unsigned step)
{
    return program_words_of(made, step) - step * PROGRAM_WORDS + made->program->step[step].read[0] * PROGRAM_WORDS;
}

void program_fill_kernel(const struct made *made, unsigned index, struct kernel_args *args, void **values,
                         struct cudaKernelNodeParams *kernel)
{
    const struct step *step = &made->program->step[index];
    int otherwise = program_is_decoy(made, index);

    program_step_args(made, index, args);
    values[0] = args;
    memset(kernel, 0, sizeof(*kernel));
    kernel->func = (void *)(uintptr_t)made->room->kernel;
    kernel->gridDim.x = step->grid[0] + (otherwise && !step->cooperative ? step->cluster : 0);
    kernel->gridDim.y = step->grid[1];
    kernel->gridDim.z = step->grid[2];
    kernel->blockDim.x = otherwise && step->threads > 1 ? step->threads - 1 : step->threads;
    kernel->blockDim.y = kernel->blockDim.z = 1;
    kernel->sharedMemBytes = otherwise && step->shared_bytes ? step->shared_bytes - 128 : step->shared_bytes;
    kernel->kernelParams = values;
}

cudaError_t program_set_attributes(const struct made *made, unsigned index, cudaGraphNode_t node)
{
    const struct step *step = &made->program->step[index];
    cudaLaunchAttributeValue value;

    memset(&value, 0, sizeof(value));
    if (step->cluster > 1) {
        value.clusterDim.x = step->cluster;
        value.clusterDim.y = value.clusterDim.z = 1;
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    }
    memset(&value, 0, sizeof(value));
    value.cooperative = 1;
    if (step->cooperative)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    if (made->bare && program_is_decoy(made, index))
        return cudaSuccess;
    value.priority = made->room->high_priority;
    if (step->urgent)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
    value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    if (step->domain)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeMemSyncDomain, &value));
    return cudaSuccess;
}

void program_fill_set(const struct made *made, unsigned index, struct cudaMemsetParams *set)
{
    memset(set, 0, sizeof(*set));
    set->dst = program_words_of(made, index);
    set->value = program_is_decoy(made, index) ? 0 : program_set_word(index);
    set->elementSize = 4;
    set->width = PROGRAM_WORDS;
    set->height = 1;
    set->pitch = PROGRAM_WORDS * 4;
}

static cudaError_t add_general(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                               const cudaGraphEdgeData *data, size_t count, cudaGraphNode_t *node)
{
    const struct step *step = &made->program->step[index];
    struct cudaGraphNodeParams params;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    struct cudaKernelNodeParams kernel;
    struct kernel_args args;
    void *values[1];

    memset(&params, 0, sizeof(params));
    switch (step->kind) {
    case STEP_KERNEL:
        program_fill_kernel(made, index, &args, values, &kernel);
        params.type = cudaGraphNodeTypeKernel;
        params.kernel.func = kernel.func;
        params.kernel.gridDim = kernel.gridDim;
        params.kernel.blockDim = kernel.blockDim;
        params.kernel.sharedMemBytes = kernel.sharedMemBytes;
        params.kernel.kernelParams = kernel.kernelParams;
        break;
    case STEP_SET:
        program_fill_set(made, index, &set);
        params.type = cudaGraphNodeTypeMemset;
        params.memset.dst = set.dst;
        params.memset.pitch = set.pitch;
        params.memset.value = set.value;
        params.memset.elementSize = set.elementSize;
        params.memset.width = set.width;
        params.memset.height = set.height;
        break;
    case STEP_COPY:
        params.type = cudaGraphNodeTypeMemcpy;
        params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
        params.memcpy.copyParams.srcPtr.ptr = program_source_of(made, index);
        params.memcpy.copyParams.dstPtr.ptr = program_words_of(made, index);
        params.memcpy.copyParams.srcPtr.pitch = params.memcpy.copyParams.dstPtr.pitch = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.srcPtr.xsize = params.memcpy.copyParams.dstPtr.xsize = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.srcPtr.ysize = params.memcpy.copyParams.dstPtr.ysize = 1;
        params.memcpy.copyParams.extent.width = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.extent.height = params.memcpy.copyParams.extent.depth = 1;
        break;
    case STEP_HOST:
        program_fill_host(made, index, &host);
        params.type = cudaGraphNodeTypeHost;
        params.host.fn = host.fn;
        params.host.userData = host.userData;
        break;
    default: params.type = cudaGraphNodeTypeEmpty; break;
    }
    return edges_add_node(node, graph, deps, data, count, &params);
}

/* By the function of its kind, which makes full edges. */
static cudaError_t add_typed(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                             cudaGraphNode_t *node)
{
    const struct step *step = &made->program->step[index];
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    struct kernel_args args;
    void *values[1];

    switch (step->kind) {
    case STEP_KERNEL:
        program_fill_kernel(made, index, &args, values, &kernel);
        return cudaGraphAddKernelNode(node, graph, deps, count, &kernel);
    case STEP_SET: program_fill_set(made, index, &set); return cudaGraphAddMemsetNode(node, graph, deps, count, &set);
    case STEP_COPY:
        return cudaGraphAddMemcpyNode1D(node, graph, deps, count, program_words_of(made, index), program_source_of(made, index), PROGRAM_WORDS * 4,
                                        cudaMemcpyDeviceToDevice);
    case STEP_HOST: program_fill_host(made, index, &host); return cudaGraphAddHostNode(node, graph, deps, count, &host);
    default: return cudaGraphAddEmptyNode(node, graph, deps, count);
    }
}

int program_may_wrap(const struct program *p, unsigned index)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if ((p->link[l].from == index || p->link[l].to == index) && p->link[l].kind != LINK_FULL)
            return 0;
    return p->step[index].hold_ns % 3 != 0; /* two of three, so that both kinds stand beside each other */
}

static cudaError_t add_inside(const struct made *made, cudaGraph_t graph, unsigned index)
{
    cudaGraphNode_t inside;

    TRY(add_typed(made, graph, index, NULL, 0, &inside));
    return made->program->step[index].kind == STEP_KERNEL ? program_set_attributes(made, index, inside) : cudaSuccess;
}

cudaError_t program_make_child(const struct made *made, unsigned index, cudaGraph_t *child)
{
    cudaError_t error;

    TRY(cudaGraphCreate(child, 0));
    error = add_inside(made, *child, index);
    if (error != cudaSuccess)
        (void)cudaGraphDestroy(*child);
    return error;
}

/* A body takes no host functions. */
static int goes_into_body(const struct made *made, unsigned index)
{
    return made->bodies && index % 2 && made->program->step[index].kind != STEP_HOST && made->program->step[index].kind != STEP_EMPTY;
}

static cudaError_t add_wrapped(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                               cudaGraphNode_t *node)
{
    cudaGraph_t child;
    cudaError_t error;

    if (goes_into_body(made, index)) {
        TRY(program_add_condition(graph, deps, count, node, &child));
        return add_inside(made, child, index);
    }
    TRY(program_make_child(made, index, &child));
    error = cudaGraphAddChildGraphNode(node, graph, deps, count, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

cudaError_t program_add_step(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, int general, cudaGraphNode_t *node)
{
    if (made->way == WAY_WRAPPED && program_may_wrap(made->program, index))
        return add_wrapped(made, graph, index, deps, count, node);
    if (general)
        TRY(add_general(made, graph, index, deps, data, count, node));
    else
        TRY(add_typed(made, graph, index, deps, count, node));
    return made->program->step[index].kind == STEP_KERNEL ? program_set_attributes(made, index, *node) : cudaSuccess;
}

/* A host step looks whether the kernels before it are complete, and writes its words. */
static void CUDART_CB host_step_runs(void *opaque)
{
    const struct program_host_step *host = (const struct program_host_step *)opaque;
    struct program_room *room = host->room;
    volatile const uint32_t *mark = room->staging->mark;
    unsigned i;

    if (host->decoy)
        return;
    for (i = 0; i < host->reads; i++)
        room->host_wrong += mark[host->read[i]] != (uint32_t)room->key + host->read[i];
    for (i = 0; i < PROGRAM_WORDS; i++)
        room->staging->from_host[host->step][i] = ~words_fresh(room->key, host->step * PROGRAM_WORDS + i);
}

void program_fill_host(const struct made *made, unsigned index, struct cudaHostNodeParams *host)
{
    const struct step *step = &made->program->step[index];
    struct program_host_step *data = &made->room->host[program_is_decoy(made, index) ? PROGRAM_STEPS + index : index];

    data->room = made->room;
    data->decoy = program_is_decoy(made, index);
    data->step = index;
    data->reads = step->reads;
    memcpy(data->read, step->read, sizeof(data->read));
    memset(host, 0, sizeof(*host));
    host->fn = host_step_runs;
    host->userData = data;
}

cudaError_t program_launch_host(const struct made *made, unsigned index, cudaStream_t stream)
{
    struct cudaHostNodeParams host;

    program_fill_host(made, index, &host);
    return cudaLaunchHostFunc(stream, host.fn, host.userData);
}
