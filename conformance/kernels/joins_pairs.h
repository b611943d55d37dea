/* joins_pairs.h - the part of joins.cu with many pairs of a primary and a dependent under way at once: what a device keeps of each pair, or shares
 * among streams, has no room for so many. */
#ifndef JOINS_PAIRS_H_INCLUDED
#define JOINS_PAIRS_H_INCLUDED

#define PAIRS_MOST 136u        /* more grids than a device runs at once */
#define PAIRS_SEATED 60u       /* so few that each primary and each dependent has a place of its own */
#define PAIRS_NS 3000000u      /* no primary is held longer while the host queues the others */

/* input: the dependent's mark that it runs; state.finished: the host's that all is queued. */
KERNEL(joins_pair_primary)
{
    struct trial_plan plan = k_plan(&args);
    uint64_t begin = k_now();
    uint32_t spins = 0;

    while (!k_load_system(&args.state->finished) && k_now() - begin < PAIRS_NS && ++spins < K_SPIN_LIMIT)
        k_pause();
    k_delay(args.state, plan.hold_ns);
    if (k_load_relaxed(args.input))
        k_add(&args.state->early, 1);
    k_trigger();
    (void)k_poll(args.state, args.input, 1, plan.bound_ns);
    k_delay(args.state, plan.hold_ns);
    k_store(args.data, plan.withhold);
}

KERNEL(joins_pair_dependent)
{
    k_store_relaxed(args.input, 1);
    k_wait_device();
    k_store(args.seen, k_load(args.data));
}

struct many_pairs {            /* pinned; a word, a mark and what was seen of the word for each pair */
    struct trial_plan plan[PAIRS_MOST];
    struct trial_state state;
    uint32_t word[PAIRS_MOST], runs[PAIRS_MOST], seen[PAIRS_MOST];
};

static cudaError_t open_pairs(struct many_pairs **pairs, struct kernel_args *args)
{
    char *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)pairs, sizeof(**pairs), cudaHostAllocMapped);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, *pairs, 0);
    if (error != cudaSuccess)
        return error;
    memset(*pairs, 0, sizeof(**pairs));
    for (i = 0; i < PAIRS_MOST; i++) {
        struct kernel_args own = PDL_ZERO;
        own.plan = (const struct trial_plan *)(device + offsetof(struct many_pairs, plan)) + i;
        own.state = (struct trial_state *)(device + offsetof(struct many_pairs, state));
        own.data = (uint32_t *)(device + offsetof(struct many_pairs, word)) + i;
        own.input = (uint32_t *)(device + offsetof(struct many_pairs, runs)) + i;
        own.seen = (uint32_t *)(device + offsetof(struct many_pairs, seen)) + i;
        args[i] = own;
        (*pairs)->plan[i].hold_ns = 3000 + i % 4 * 1000;
        (*pairs)->plan[i].bound_ns = 60000;
        (*pairs)->plan[i].withhold = 0x5A1E0001u + i; /* what the primary stores */
    }
    return error;
}

static cudaError_t launch_pair_primary(struct kernel_args *args, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(joins_pair_primary), args, 1, stream, NULL, 0);
}

static cudaError_t launch_pair_dependent(const struct joins *joins, struct kernel_args *args, cudaStream_t stream)
{
    cudaLaunchAttribute six = serialization(1);

    (void)joins;
    return launch_one((const void *)SYMBOL(joins_pair_dependent), args, 1, FOLLOWS_IN(joins, stream), &six, 1);
}

/* All primaries and then all dependents in the other order, whichever stream is the first one; or pair by pair. */
static cudaError_t queue_pairs(const struct joins *joins, struct kernel_args *args, const cudaStream_t *stream, unsigned count, unsigned by_pair)
{
    cudaError_t error = cudaSuccess;
    unsigned turned = joins->round / 2 % 2, i, at;

    for (i = 0; i < count && error == cudaSuccess; i++) {
        at = turned ? count - 1 - i : i;
        error = launch_pair_primary(&args[at], stream[at]);
        if (error == cudaSuccess && by_pair)
            error = launch_pair_dependent(joins, &args[at], stream[at]);
    }
    for (i = 0; !by_pair && i < count && error == cudaSuccess; i++) {
        at = turned ? i : count - 1 - i;
        error = launch_pair_dependent(joins, &args[at], stream[at]);
    }
    return error;
}

static cudaError_t pairs_in_streams(const struct joins *joins, struct many_pairs *pairs, struct kernel_args *args, unsigned count, unsigned by_pair)
{
    cudaStream_t stream[PAIRS_MOST];
    cudaError_t error = cudaSuccess;
    unsigned made = 0, i;

    for (; made < count && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stream[made], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = queue_pairs(joins, args, stream, count, by_pair);
    *(volatile uint32_t *)&pairs->state.finished = 1;
    for (i = 0; i < made; i++)
        (void)cudaStreamDestroy(stream[i]);
    return error;
}

/* One graph of all pairs, a programmatic edge in each, which all begin at once. */
static cudaError_t pairs_in_graph(const struct joins *joins, struct many_pairs *pairs, struct kernel_args *args, unsigned count)
{
    cudaGraphEdgeData trigger = edges_data(1, 0, 1);
    cudaGraphNode_t first, second;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned i;

    if (error != cudaSuccess)
        return error;
    pairs->state.finished = 1;
    for (i = 0; i < count && error == cudaSuccess; i++) {
        error = ask_add_kernel(&first, graph, (const void *)SYMBOL(joins_pair_primary), &args[i], 1);
        if (error == cudaSuccess)
            error = ask_add_kernel(&second, graph, (const void *)SYMBOL(joins_pair_dependent), &args[i], 1);
        if (error == cudaSuccess)
            error = edges_add(graph, &first, &second, &trigger, 1);
    }
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    (void)cudaGraphDestroy(graph);
    return error;
}

static unsigned pairs_are_stale(const struct many_pairs *pairs, unsigned count)
{
    unsigned stale = pairs->state.early != 0, i;

    for (i = 0; i < count; i++)
        stale |= pairs->seen[i] != pairs->plan[i].withhold;
    return stale;
}

/* No dependent begins before the trigger of its own primary, and its wait covers that one, however many others there are. */
static cudaError_t many_pairs(struct joins *joins)
{
    static struct kernel_args args[PAIRS_MOST];
    struct many_pairs *pairs = NULL;
    unsigned count = joins->round % 2 ? PAIRS_SEATED : PAIRS_MOST, way = joins->round % 3;
    cudaError_t error = open_pairs(&pairs, args);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = way == 2 ? pairs_in_graph(joins, pairs, args, count) : pairs_in_streams(joins, pairs, args, count, way);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = error == cudaSuccess && pairs_are_stale(pairs, count);
    if (pairs)
        (void)cudaFreeHost(pairs);
    return error;
}

#endif
