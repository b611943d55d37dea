/* long_args_queued.h - many launches of one kernel with long arguments stand behind a slow one: each has arguments of its own. */
#ifndef LONG_ARGS_QUEUED_H_INCLUDED
#define LONG_ARGS_QUEUED_H_INCLUDED

/* So many stand behind the slow kernel: fewer of the long ones. */
static unsigned queued_launches(const struct long_ask *l) { return l->taker->words <= TOLD_WORDS ? QUEUED : QUEUED / 16; }

/* The arguments of the nth launch, which differ from those of each other one in every word, and where it tells them. */
static void queued_args(struct long_ask *l, uint32_t *told, unsigned nth)
{
    uint32_t i;

    l->args.head.seen = told + nth * TOLD_WORDS;
    for (i = 0; i < l->taker->words; i++)
        l->args.more[i] = l->other.more[i] + nth;
}

static cudaError_t launch_queued(struct long_ask *l, uint32_t *told)
{
    cudaError_t error = cudaSuccess;
    unsigned nth;

    for (nth = 0; nth < queued_launches(l) && error == cudaSuccess; nth++) {
        struct way way = { MANNER_PLAIN, CATCHING_NOTHING, (int)(nth % 2), 0, 0, nth % 3 == 1, nth % 4 < 2 };
        queued_args(l, told, nth);
        error = launch_long(l, &way);
    }
    return error;
}

/* An executable graph of that kernel, which gets other arguments after each of its launches. */
static cudaError_t launch_queued_graph(struct long_ask *l, uint32_t *told, cudaGraph_t graph, cudaGraphExec_t *exec)
{
    struct given_args given;
    struct cudaKernelNodeParams params;
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaSuccess;
    unsigned nth;

    for (nth = 0; nth < queued_launches(l) && error == cudaSuccess; nth++) {
        queued_args(l, told, nth);
        params = params_of(l, &l->args, 0, &given);
        if (node) {
            error = cudaGraphExecKernelNodeSetParams(*exec, node, &params);
        } else {
            error = cudaGraphAddKernelNode(&node, graph, NULL, 0, &params);
            if (error == cudaSuccess)
                error = cudaGraphInstantiate(exec, graph, 0);
        }
        if (error == cudaSuccess)
            error = cudaGraphLaunch(*exec, l->stream);
    }
    return error;
}

static cudaError_t look_at_queued(struct long_ask *l, uint32_t *told)
{
    cudaError_t error = cudaStreamSynchronize(l->stream);
    unsigned nth, differs = 0;
    uint32_t i;

    for (nth = 0; nth < queued_launches(l) && error == cudaSuccess; nth++) {
        queued_args(l, told, nth);
        for (i = 0; i < TOLD_WORDS && i < l->taker->words; i++)
            differs |= ((volatile const uint32_t *)l->told)[nth * TOLD_WORDS + i] != told_word(l, i);
    }
    l->wrong += differs;
    l->stale += error == cudaSuccess && (work_is_stale(l->room) || copy_is_stale(l->room));
    l->trial++;
    return error;
}

static cudaError_t run_queued(struct long_ask *l, int in_graphs)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    uint32_t *told = l->args.head.seen;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    next_args(l);
    l->room->plan.hold_ns = QUEUED_HOLD_NS;
    memset(l->told, 0, QUEUED * TOLD_WORDS * 4);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(long_args_work), &l->args.head, ASK_WORDS / 2, l->stream, NULL, 0);
    if (error == cudaSuccess)
        error = in_graphs ? launch_queued_graph(l, told, graph, &exec) : launch_queued(l, told);
    if (error == cudaSuccess)
        error = look_at_queued(l, told);
    l->args.head.seen = told;
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* Of 1,024 bytes, and of the greatest length. */
static void ask_queued(struct long_ask *l, int in_graphs)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 8; i < l->takers && error == cudaSuccess; i += 5) {
        l->taker = &takers[i];
        error = run_queued(l, in_graphs);
    }
    ask_expect(l->ask, in_graphs ? "launches of a graph with other arguments each" : "launches after a slow kernel", error, cudaSuccess);
}

#endif
