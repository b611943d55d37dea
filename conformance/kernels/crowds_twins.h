/* crowds_twins.h - what crowds.cu asks of two graphs alike that run at once: the triggers of a node, and what a wait covers, are each one's own. The
 * pair is that of crowds.cu; the second one's primary triggers at once, while the first one's last block keeps its trigger back. */
#ifndef CROWDS_TWINS_H_INCLUDED
#define CROWDS_TWINS_H_INCLUDED

#define TWINS_HOLD_NS 30000u   /* time to launch the second one */
#define TWIN_TURNS 8u          /* of each kind */

/* What the two executable graphs are made of: one graph, two clones of one, or two captures of the same calls. */
enum twins_of { TWINS_OF_GRAPH, TWINS_OF_CLONES, TWINS_OF_CAPTURES, TWIN_KINDS };

struct twins {
    struct crowd *crowd;       /* whose room the first one's pair has */
    struct host_room *room;    /* the second one's */
    struct kernel_args args;
    unsigned stale;
};

static cudaError_t give_twin(const struct twins *t, cudaGraphExec_t exec, const cudaGraphNode_t *node, unsigned blocks)
{
    struct kernel_args args = t->args;
    void *values[1];
    cudaError_t error = cudaSuccess;
    unsigned i;

    values[0] = &args;
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        struct cudaKernelNodeParams params = one_block_node(own_function(i), 1, values);

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

/* The pair with its own arguments, captured. */
static cudaError_t capture_twin(const struct kernel_args *args, unsigned blocks, cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_crowd(own_function(0), args, blocks, 1, stream, 0);
    if (error == cudaSuccess)
        error = launch_crowd(own_function(1), args, blocks, 1, stream, 1);
    end = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? end : error;
}

/* graph: two captures or two clones, which executable graphs are made of, and the graph that was cloned or, in their place, serves both; node: of the
 * second one. Captures have their own arguments, all others those of the first. */
static cudaError_t make_twins(struct twins *t, enum twins_of of, unsigned blocks, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    const void *const functions[2] = { own_function(0), own_function(1) };
    unsigned sizes[2] = { blocks, blocks }, i;
    cudaError_t error;

    if (of == TWINS_OF_CAPTURES) {
        error = capture_twin(&t->crowd->args, blocks, t->crowd->ask->stream, &graph[0]);
        return error == cudaSuccess ? capture_twin(&t->args, blocks, t->crowd->ask->stream, &graph[1]) : error;
    }
    error = cudaGraphCreate(&graph[2], 0);
    if (error == cudaSuccess)
        error = add_crowd_pair(t->crowd, graph[2], functions, sizes, node);
    for (i = 0; i < 2 && of == TWINS_OF_CLONES && error == cudaSuccess; i++)
        error = cudaGraphClone(&graph[i], graph[2]);
    for (i = 0; i < 2 && of == TWINS_OF_CLONES && error == cudaSuccess; i++)
        error = cudaGraphNodeFindInClone(&node[i], node[i], graph[1]);
    return error;
}

static cudaError_t run_twins(struct twins *t, enum twins_of of, unsigned blocks, unsigned trial)
{
    cudaGraphExec_t exec[2] = { NULL, NULL };
    cudaGraph_t graph[3] = { NULL, NULL, NULL };
    cudaGraphNode_t node[2];
    unsigned i;
    cudaError_t error = make_twins(t, of, blocks, graph, node);

    prepare_twins(t, blocks, trial);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaGraphInstantiate(&exec[i], of == TWINS_OF_GRAPH ? graph[2] : graph[i], 0);
    if (error == cudaSuccess && of != TWINS_OF_CAPTURES)
        error = give_twin(t, exec[1], node, blocks);
    if (error == cudaSuccess)
        error = launch_twins(t, exec, trial % 2);
    destroy_two(exec, graph, 3);
    return error;
}

static void ask_twins(struct crowd *crowd)
{
    static const unsigned sizes[] = { LAST + 1, 34, 130, 300 };
    struct twins t = PDL_ZERO;
    unsigned i, trials = TWIN_TURNS * TWIN_KINDS;
    cudaError_t error = open_room(&t.room, &t.args) ? cudaSuccess : cudaErrorMemoryAllocation;

    t.crowd = crowd;
    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++) {
        error = run_twins(&t, (enum twins_of)(i / TWIN_TURNS), sizes[i / 2 % 4], i);
        if (error == cudaSuccess)
            look_at_crowd(crowd);
        t.stale += error == cudaSuccess && last_are_stale(t.room);
    }
    (void)cudaFreeHost(t.room);
    ask_expect(crowd->ask, "two executable graphs alike at once: of one graph, of two clones, of two captures", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents that began before their own primary's last block had triggered, beside a twin", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale in the last blocks of dependents beside a twin", crowd->stale + t.stale, 2 * trials);
}

#endif
