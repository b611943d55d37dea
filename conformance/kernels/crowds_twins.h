/* crowds_twins.h - what crowds.cu asks of two executable graphs of one graph that run at once: the triggers of a node, and what a wait covers, are
 * each one's own. The pair is that of crowds.cu; the second one's primary triggers at once, while the first one's last block keeps its trigger back. */
#ifndef CROWDS_TWINS_H_INCLUDED
#define CROWDS_TWINS_H_INCLUDED

#define TWINS_HOLD_NS 30000u   /* time to launch the second one */

struct twins {
    struct crowd *crowd;       /* whose room the first one's pair has */
    struct host_room *room;    /* the second one's */
    struct kernel_args args;
    unsigned stale;
};

static cudaError_t give_twin(const struct twins *t, cudaGraphExec_t exec, const cudaGraphNode_t *node, unsigned blocks)
{
    const void *const functions[2] = { (const void *)SYMBOL(crowds_primary), (const void *)SYMBOL(crowds_dependent) };
    struct kernel_args args = t->args;
    void *values[1];
    cudaError_t error = cudaSuccess;
    unsigned i;

    values[0] = &args;
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        struct cudaKernelNodeParams params = one_block_node(functions[i], 1, values);

        params.gridDim.x = blocks;
        error = cudaGraphExecKernelNodeSetParams(exec, node[i], &params);
    }
    return error;
}

static void prepare_twins(struct twins *t, unsigned blocks, unsigned trial)
{
    t->crowd->trials = trial; /* other blocks leave at once, other dependents trigger */
    prepare_crowd(t->crowd, blocks);
    t->crowd->room->plan.hold_ns += TWINS_HOLD_NS;
    prepare_trial(t->room, trial + 1);
    t->room->plan.hold_ns = 0;
    t->room->plan.repeats = 0;
    t->room->plan.bound_ns = t->crowd->room->plan.bound_ns;
    t->room->state.dependent_begin_ns = UINT64_MAX;
}

/* Either one is launched first; both have ended before one of them is destroyed. */
static cudaError_t launch_twins(const struct twins *t, const cudaGraphExec_t *exec, unsigned first)
{
    const struct ask *ask = t->crowd->ask;
    cudaError_t error = cudaGraphLaunch(exec[first], first ? ask->side : ask->stream), ended;

    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec[1 - first], first ? ask->stream : ask->side);
    ended = cudaStreamSynchronize(ask->side);
    error = error == cudaSuccess ? ended : error;
    ended = cudaStreamSynchronize(ask->stream);
    return error == cudaSuccess ? ended : error;
}

static cudaError_t run_twins(struct twins *t, unsigned blocks, unsigned trial)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphExec_t exec[2] = { NULL, NULL };
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[2];
    unsigned i;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare_twins(t, blocks, trial);
    if (error == cudaSuccess)
        error = ask_add_kernel_after(&node[0], graph, NULL, 0, (const void *)SYMBOL(crowds_primary), &t->crowd->args, blocks, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel_after(&node[1], graph, NULL, 0, (const void *)SYMBOL(crowds_dependent), &t->crowd->args, blocks, 1);
    if (error == cudaSuccess)
        error = edges_add(graph, &node[0], &node[1], &data, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaGraphInstantiate(&exec[i], graph, 0);
    if (error == cudaSuccess)
        error = give_twin(t, exec[1], node, blocks);
    if (error == cudaSuccess)
        error = launch_twins(t, exec, trial % 2);
    destroy_two(exec, &graph, 1);
    return error;
}

static void ask_twins(struct crowd *crowd)
{
    static const unsigned sizes[] = { LAST + 1, 34, 130, 300 };
    struct twins t = PDL_ZERO;
    unsigned i, trials = 12;
    cudaError_t error = open_room(&t.room, &t.args) ? cudaSuccess : cudaErrorMemoryAllocation;

    t.crowd = crowd;
    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++) {
        error = run_twins(&t, sizes[i / 2 % 4], i);
        if (error == cudaSuccess)
            look_at_crowd(crowd);
        t.stale += error == cudaSuccess && last_are_stale(t.room);
    }
    (void)cudaFreeHost(t.room);
    ask_expect(crowd->ask, "two executable graphs of one graph at once", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents that began before their own primary's last block had triggered, beside a twin", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale in the last blocks of dependents beside a twin", crowd->stale + t.stale, 2 * trials);
}

#endif
