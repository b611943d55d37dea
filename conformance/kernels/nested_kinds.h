/* nested_kinds.h - the part of nested.cu in which executable graphs are made of one graph whose only edge has another kind each time: each keeps the
 * kind that the edge had when it was made. */
#ifndef NESTED_KINDS_H_INCLUDED
#define NESTED_KINDS_H_INCLUDED

enum edge_of_time { TIME_FULL, TIME_TRIGGER, TIME_START, TIMES };
#define TIME_ORDERS 6u

/* What it finds at once, and what it finds after its wait. */
KERNEL(nested_twofold_reader)
{
    if (k_thread() == 0)
        k_store_relaxed(&args.state->alive, 1);
    k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
    k_wait_device();
    k_store(args.seen + PART + k_thread(), k_load(args.data + k_thread()));
}

static cudaGraphEdgeData data_of_time(unsigned time) { return edges_data(time, 0, time != TIME_FULL); }

/* After a full edge both have to be fresh, after the others what it finds after its wait. */
static int time_is_stale(const struct nested *n, unsigned time)
{
    uint32_t seen[2 * PART];
    unsigned i;

    if (cudaMemcpy(seen, n->args.seen, sizeof(seen), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (i = time == TIME_FULL ? 0 : PART; i < 2 * PART; i++)
        if (seen[i] != words_fresh(n->room->plan.key, i % PART))
            return 1;
    return 0;
}

/* Changes nothing but the edge between any two. */
static cudaError_t make_times(struct nested *n, const unsigned *time, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[2];
    unsigned i;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(nested_writer), &n->args, PART);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[1], graph, (const void *)SYMBOL(nested_twofold_reader), &n->args, PART);
    for (i = 0; i < TIMES && error == cudaSuccess; i++) {
        cudaGraphEdgeData data = data_of_time(time[i]), before = data_of_time(time[i ? i - 1 : 0]);
        if (i)
            error = edges_remove(graph, &node[0], &node[1], &before, 1);
        if (error == cudaSuccess)
            error = edges_add(graph, &node[0], &node[1], &data, 1);
        if (error == cudaSuccess)
            error = cudaGraphInstantiate(&exec[i], graph, 0);
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* All three are launched; and again once the first one is gone. */
static cudaError_t run_times(struct nested *n, unsigned order, unsigned *stale)
{
    unsigned time[TIMES], i, launch;
    cudaGraphExec_t exec[TIMES] = { NULL, NULL, NULL };
    cudaError_t error;

    time[0] = order % TIMES;
    time[1] = (time[0] + 1 + order / TIMES) % TIMES;
    time[2] = TIMES - time[0] - time[1];
    error = make_times(n, time, exec);
    for (launch = 0; launch < 2 * TIMES && error == cudaSuccess; launch++) {
        i = launch % TIMES;
        if (launch == TIMES) {
            error = cudaGraphExecDestroy(exec[0]);
            exec[0] = NULL;
        }
        if (exec[i] == NULL || error != cudaSuccess)
            continue;
        error = launch_nested(n, 2 * TIMES * order + launch, exec[i]);
        *stale += error == cudaSuccess && time_is_stale(n, time[i]);
    }
    for (i = 0; i < TIMES; i++)
        if (exec[i])
            (void)cudaGraphExecDestroy(exec[i]);
    return error;
}

static void ask_times(struct nested *n)
{
    struct ask *ask = n->ask;
    unsigned order, stale = 0;
    cudaError_t error = cudaSuccess;

    for (order = 0; order < TIME_ORDERS && error == cudaSuccess; order++)
        error = run_times(n, order, &stale);
    ask_expect(ask, "executable graphs of one graph whose edge changes in between", error, cudaSuccess);
    ask_expect_none(ask, "stale by the kind that the edge had when its executable graph was made", stale, TIME_ORDERS * (2 * TIMES - 1));
}

#endif
