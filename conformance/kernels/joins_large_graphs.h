/* joins_large_graphs.h - the part of joins.cu with graphs of 2,100 kernels, each of which comes after one other: the next one before it, or one that
 * was added up to 2,047 nodes before it. Each adds one to what that one left, so that every edge shows, wherever a driver cuts the graph. */
#ifndef JOINS_LARGE_GRAPHS_H_INCLUDED
#define JOINS_LARGE_GRAPHS_H_INCLUDED

#define LARGE_NODES 2100u
#define LARGE_LAUNCHES 2u

struct count_args {
    struct trial_state *state;
    const uint32_t *from;
    uint32_t *to;
    uint32_t waits, hold_ns;
};

KERNEL_OF(joins_counts, struct count_args)
{
    k_trigger();
    if (args.waits)
        k_wait_device();
    k_delay(args.state, args.hold_ns);
    k_store(args.to, k_load(args.from) + 1);
}

/* The node that this one comes after; LARGE_NODES: none. */
static unsigned comes_after(unsigned i, unsigned far)
{
    static const unsigned apart[] = { 63, 255, 1023, 2047 };
    unsigned back = far ? apart[i % 4] : 1;

    return i < back ? LARGE_NODES : i - back;
}

/* In the row all edges are programmatic; of the others half of each length, so that one of each kind leads over each border. */
static unsigned edge_waits(unsigned i, unsigned far) { return !far || i / 4 % 2; }

/* Around borders the words come late, also by other nodes than those next to them. */
static unsigned holds_large(unsigned i) { return (i + 3) % 64 < 6 ? 1500 : 0; }

static cudaError_t add_count(cudaGraph_t graph, struct joins *joins, unsigned i, unsigned far, cudaGraphNode_t *node)
{
    struct count_args args = PDL_ZERO;
    void *given = &args;

    args.state = joins->work[0].state;
    args.from = joins->longer + comes_after(i, far);
    args.to = joins->longer + i;
    args.waits = edge_waits(i, far);
    args.hold_ns = holds_large(i);
    return ask_add_kernel(node, graph, (const void *)SYMBOL(joins_counts), (struct kernel_args *)given, 1);
}

static cudaError_t make_large(struct joins *joins, unsigned far, cudaGraphExec_t *exec)
{
    static cudaGraphNode_t node[LARGE_NODES], from[LARGE_NODES], to[LARGE_NODES];
    static cudaGraphEdgeData data[LARGE_NODES];
    unsigned i, edges = 0;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    for (i = 0; i < LARGE_NODES && error == cudaSuccess; i++) {
        unsigned before = comes_after(i, far), waits = edge_waits(i, far);
        error = add_count(graph, joins, i, far, &node[i]);
        if (before == LARGE_NODES)
            continue;
        from[edges] = node[before];
        to[edges] = node[i];
        data[edges++] = edges_data(waits, 0, waits);
    }
    if (error == cudaSuccess)
        error = edges_add(graph, from, to, data, edges);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* The words of a launch that are not one more than those that they come after. */
static unsigned wrong_counts(const uint32_t *words, unsigned far)
{
    static uint32_t want[LARGE_NODES + 1];
    unsigned wrong = 0, i;

    for (i = 0; i < LARGE_NODES; i++) {
        want[i] = want[comes_after(i, far)] + 1; /* the word after the last one is 0: what a root begins with */
        wrong += words[i] != want[i];
    }
    return wrong;
}

static cudaError_t run_large(struct joins *joins, unsigned far, unsigned *stale)
{
    static uint32_t words[LARGE_NODES + 1];
    cudaGraphExec_t exec = NULL;
    unsigned launch;
    cudaError_t error = make_large(joins, far, &exec);

    for (launch = 0; launch < LARGE_LAUNCHES && error == cudaSuccess; launch++) {
        error = cudaMemsetAsync(joins->longer, 0, sizeof(words), joins->stream[0]);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(exec, joins->stream[0]);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(words, joins->longer, sizeof(words), cudaMemcpyDefault, joins->stream[0]);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(joins->stream[0]);
        *stale += error == cudaSuccess && wrong_counts(words, far) != 0;
    }
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

/* The mutant has no part in it. */
static void ask_large_graphs(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    unsigned stale[2] = { 0, 0 }, far;
    cudaError_t error = FOLLOWS_IN_GRAPH ? open_joins(&joins, ask, cudaStreamNonBlocking) : cudaSuccess;

    if (!FOLLOWS_IN_GRAPH)
        return;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&joins.longer, (LARGE_NODES + 1) * sizeof(uint32_t));
    for (far = 0; far < 2 && error == cudaSuccess; far++)
        error = run_large(&joins, far, &stale[far]);
    ask_expect(ask, "graphs of 2,100 kernels", error, cudaSuccess);
    ask_expect_none(ask, "stale in a row of 2,100 nodes", stale[0], LARGE_LAUNCHES);
    ask_expect_none(ask, "stale after nodes up to 2,047 before", stale[1], LARGE_LAUNCHES);
    close_joins(&joins);
}

#endif
