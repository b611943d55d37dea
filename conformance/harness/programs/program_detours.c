/* program_detours.c - calls that leave a graph, or an executable one, what it is: questions, refused calls, nodes and edges that come and go,
 * settings that are taken back, and what is made of the graph for nobody. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "try.h"

/* A step whose node is there and is no other graph's: a kernel, or any. PROGRAM_STEPS: there is none. */
static unsigned any_step(struct made *made, int kernel)
{
    unsigned steps = made->program->steps, first = dice_below(&made->dice, steps), k;

    for (k = 0; k < steps; k++) {
        unsigned i = (first + k) % steps;
        if (made->node[i] && !program_is_wrapped(made, i) && (!kernel || made->program->step[i].kind == STEP_KERNEL))
            return i;
    }
    return PROGRAM_STEPS;
}

/* ---- of a graph ---- */

#define MOST_EDGES (PROGRAM_LINKS + 4u)
struct edges_told {
    cudaGraphNode_t from[MOST_EDGES], to[MOST_EDGES];
    cudaGraphEdgeData data[MOST_EDGES];
    size_t count;
};

static cudaError_t tell_edges(const struct made *made, struct edges_told *told)
{
    told->count = MOST_EDGES;
    return edges_of_graph(made->inner, told->from, told->to, told->data, &told->count);
}

static cudaError_t ask_graph(const struct made *made, cudaGraphNode_t node)
{
    static struct edges_told told;
    enum cudaGraphNodeType type;
    size_t nodes, roots, into = MOST_EDGES, out = MOST_EDGES;

    TRY(cudaGraphGetNodes(made->inner, NULL, &nodes));
    TRY(cudaGraphGetRootNodes(made->inner, NULL, &roots));
    TRY(edges_into_node(node, told.from, told.data, &into));
    TRY(edges_out_of_node(node, told.to, told.data, &out));
    TRY(tell_edges(made, &told));
    TRY(cudaGraphNodeGetType(node, &type));
    return nodes >= roots && told.count >= into && told.count >= out ? cudaSuccess : cudaErrorUnknown;
}

/* An edge that there is, with its data or with none; one that there is not. */
static cudaError_t refuse_edge(struct made *made)
{
    static struct edges_told told;
    unsigned e;

    TRY(tell_edges(made, &told));
    if (!told.count)
        return cudaSuccess;
    e = dice_below(&made->dice, (unsigned)told.count);
    switch (dice_below(&made->dice, 3)) {
    case 0: return refused(edges_add(made->inner, &told.from[e], &told.to[e], &told.data[e], 1));
    case 1: return refused(edges_add(made->inner, &told.from[e], &told.to[e], NULL, 1));
    default: return refused(edges_remove(made->inner, &told.to[e], &told.from[e], dice_below(&made->dice, 2) ? &told.data[e] : NULL, 1));
    }
}

/* It depends on one node twice. */
static cudaError_t refuse_node(const struct made *made, cudaGraphNode_t after)
{
    cudaGraphNode_t twice[2] = { after, after }, node;

    return refused(cudaGraphAddEmptyNode(&node, made->inner, twice, 2));
}

/* Other arguments, and perhaps another kernel, without threads or without blocks. */
static cudaError_t refuse_params(struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned step)
{
    struct made as = *made;
    struct step_params params;

    as.decoys ^= (uint64_t)1 << step;
    program_fill_step(&as, step, &params);
    if (dice_below(&made->dice, 2))
        params.as.kernel.func = (void *)(uintptr_t)made->room->kernel[made->program->step[step].kernel];
    if (dice_below(&made->dice, 2))
        params.as.kernel.blockDim.x = 0;
    else
        params.as.kernel.gridDim.x = 0;
    return refused(exec ? cudaGraphExecKernelNodeSetParams(exec, node, &params.as.kernel) : cudaGraphKernelNodeSetParams(node, &params.as.kernel));
}

/* Each kind of edge between kernels, but into or out of cooperative ones, which are not asked here. */
static enum link_kind any_link(struct made *made, unsigned from, unsigned to)
{
    const struct step *step = made->program->step;
    int kernels = step[from].kind == STEP_KERNEL && step[to].kind == STEP_KERNEL && !step[from].cooperative && !step[to].cooperative;

    return kernels ? (enum link_kind)dice_below(&made->dice, LINK_KINDS) : LINK_FULL;
}

/* A second node of a step, launched otherwise, after one node and before one of a later step: destroyed, it leaves neither its edges nor its
 * attributes. */
static cudaError_t add_and_destroy(struct made *made, unsigned after)
{
    unsigned step = any_step(made, dice_below(&made->dice, 2) != 0), before = any_step(made, 0);
    struct made as = *made;
    cudaGraphEdgeData data;
    cudaGraphNode_t node;

    if (step == PROGRAM_STEPS)
        return cudaSuccess;
    as.decoys ^= (uint64_t)1 << step;
    data = program_edge(any_link(made, after, step));
    TRY(program_add_step(&as, made->inner, step, &made->node[after], &data, 1, 1, &node));
    made->dice = as.dice;
    if (before > after) {
        data = program_edge(any_link(made, step, before));
        TRY(program_add_edges(made, &node, &made->node[before], &data, 1));
    }
    return program_destroy_node(made, node, &made->dice);
}

/* A memset that is captured into the graph after a node. */
static cudaError_t capture_and_destroy(struct made *made, unsigned after)
{
    cudaStream_t stream = made->room->stream;
    const cudaGraphNode_t *last = NULL;
    const cudaGraphEdgeData *data = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraph_t out = NULL;
    size_t count = 0;
    cudaError_t error, end;

    TRY(program_begin_capture_to(made, stream, made->inner, &made->node[after], NULL, 1, program_capture_mode(&made->dice), &made->dice));
    error = cudaMemsetAsync(made->room->ahead, 0, 4, stream);
    if (error == cudaSuccess)
        error = program_next_dependencies(made, stream, &last, &data, &count, &made->dice);
    if (error == cudaSuccess && count == 1)
        node = last[0];
    end = program_end_capture(made, stream, &out, &made->dice);
    TRY(error);
    TRY(end);
    return node && node != made->node[after] ? program_destroy_node(made, node, &made->dice) : cudaErrorUnknown;
}

/* Another priority and another domain, then what it had. */
static cudaError_t take_back_attributes(struct made *made, unsigned step)
{
    static const cudaLaunchAttributeID ids[] = { cudaLaunchAttributePriority, cudaLaunchAttributeMemSyncDomain };
    unsigned which = dice_below(&made->dice, 2);
    cudaLaunchAttribute had = PDL_ZERO, other = PDL_ZERO;

    had.id = other.id = ids[which];
    TRY(cudaGraphKernelNodeGetAttribute(made->node[step], ids[which], &had.val));
    if (which)
        other.val.memSyncDomain = had.val.memSyncDomain == cudaLaunchMemSyncDomainRemote ? cudaLaunchMemSyncDomainDefault : cudaLaunchMemSyncDomainRemote;
    else
        other.val.priority = had.val.priority ? 0 : made->room->high_priority;
    TRY(program_set_attribute(made, made->node[step], &other, &made->dice));
    return program_set_attribute(made, made->node[step], &had, &made->dice);
}

static cudaError_t take_back_params(struct made *made, unsigned step)
{
    struct made as = *made;

    as.decoys ^= (uint64_t)1 << step;
    TRY(program_set_node(&as, made->node[step], step, dice_below(&made->dice, 2) != 0, &made->dice));
    return program_set_node(made, made->node[step], step, dice_below(&made->dice, 2) != 0, &made->dice);
}

/* A clone, a child graph of another graph, or an executable graph; of a graph that was moved into another one neither may be made. */
static cudaError_t make_of_it(struct made *made)
{
    cudaGraph_t other;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaError_t error, end;

    if (made->inner != made->graph)
        return cudaSuccess;
    switch (dice_below(&made->dice, 3)) {
    case 0: TRY(program_clone(made, &other, made->inner, &made->dice)); return cudaGraphDestroy(other);
    case 1:
        TRY(cudaGraphCreate(&other, 0));
        error = program_add_child(made, &node, other, NULL, 0, made->inner, &made->dice);
        end = cudaGraphDestroy(other);
        return error == cudaSuccess ? end : error;
    default: TRY(program_instantiate(made, &exec, made->inner, 0, &made->dice)); return cudaGraphExecDestroy(exec);
    }
}

static cudaError_t detour(struct made *made)
{
    unsigned any = any_step(made, 0), kernel = any_step(made, 1);

    if (any == PROGRAM_STEPS)
        return cudaSuccess;
    switch (dice_below(&made->dice, 10)) {
    case 0: return ask_graph(made, made->node[any]);
    case 1: return refuse_edge(made);
    case 2: return refuse_node(made, made->node[any]);
    case 3: return make_of_it(made);
    case 4: return capture_and_destroy(made, any);
    case 5: return take_back_params(made, any);
    case 6: return kernel == PROGRAM_STEPS ? cudaSuccess : refuse_params(made, NULL, made->node[kernel], kernel);
    case 7: return kernel == PROGRAM_STEPS ? cudaSuccess : take_back_attributes(made, kernel);
    default: return add_and_destroy(made, any);
    }
}

cudaError_t program_detour(struct made *made)
{
    if (!made->detours || made->bodies || !made->inner || !program_knows_nodes(made) || dice_below(&made->dice, 12))
        return cudaSuccess;
    TRY(detour(made));
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* ---- of an executable graph ---- */

/* From a graph of empty nodes, another number of them. */
static cudaError_t refuse_update(const struct made *made, cudaGraphExec_t exec, struct dice *dice)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t node;
    cudaGraph_t other;
    cudaError_t error;
    unsigned n, nodes = made->program->steps == 2 ? 3 : 2;

    TRY(cudaGraphCreate(&other, 0));
    error = cudaSuccess;
    for (n = 0; n < nodes && error == cudaSuccess; n++)
        error = cudaGraphAddEmptyNode(&node, other, NULL, 0);
    if (error == cudaSuccess)
        error = refused(program_update_exec(made, exec, other, &info, dice));
    (void)cudaGraphDestroy(other);
    return error;
}

static cudaError_t enable_again(struct made *made, cudaGraphExec_t exec, const cudaGraphNode_t *node, unsigned i)
{
    return program_enable(made, exec, node[i], !(made->left_out >> i & 1), &made->dice);
}

cudaError_t program_detour_of_exec(struct made *made, cudaGraphExec_t exec)
{
    const cudaGraphNode_t *node = made->decoy ? made->decoy->node : made->node;
    unsigned kernel;

    if (made->bodies || !made->inner || made->inner != made->graph || dice_below(&made->dice, 6))
        return cudaSuccess;
    kernel = program_knows_nodes(made) ? any_step(made, 1) : PROGRAM_STEPS;
    if (kernel != PROGRAM_STEPS && made->gone >> kernel & 1)
        return cudaSuccess;
    switch (dice_below(&made->dice, 4)) {
    case 0: TRY(refuse_update(made, exec, &made->dice)); break;
    case 1: TRY(make_of_it(made)); break;
    case 2: TRY(kernel == PROGRAM_STEPS ? cudaSuccess : enable_again(made, exec, node, kernel)); break;
    default: TRY(kernel == PROGRAM_STEPS ? cudaSuccess : refuse_params(made, exec, node[kernel], kernel)); break;
    }
    (void)cudaGetLastError();
    return cudaSuccess;
}
