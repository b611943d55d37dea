/* joins_long.h - the part of joins.cu with work that goes on for tens of milliseconds after its trigger, as attention and matrix products do:
 * whatever waits for it waits that long. */
#ifndef JOINS_LONG_H_INCLUDED
#define JOINS_LONG_H_INCLUDED

#define LONG_STEP 20000000u    /* nanoseconds */
#define LONG_PRIMARIES 3u      /* launched, a node, a node of a body: all at once */
#define LONG_FOLLOWERS 9u

/* Each delay is bounded by itself. */
KERNEL(joins_lasting_work)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    k_trigger();
    for (i = 0; i < plan.repeats && k_thread() == 0; i++)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

static cudaError_t follow_long(struct joins *joins, const void *function, unsigned place, cudaStream_t stream, unsigned overlaps)
{
    cudaLaunchAttribute early = serialization(1);

    return launch_one(function, &joins->follower[place], PLACE_WORDS, stream, &early, overlaps);
}

/* A launch that records an event. After it in its stream a dependent and an ordinary kernel; after its event a kernel that waits; after an event of
 * the stream an ordinary kernel and a copy. */
static cudaError_t launch_long(struct joins *joins, cudaEvent_t of_launch, cudaEvent_t of_stream)
{
    const void *waits = (const void *)SYMBOL(joins_waiting_follower), *follows = (const void *)SYMBOL(joins_follower);
    cudaLaunchAttribute attribute = recording(of_launch);
    cudaStream_t *stream = joins->stream;
    cudaError_t error = launch_one((const void *)SYMBOL(joins_lasting_work), &joins->work[0], PLACE_WORDS, stream[0], &attribute, 1);

    if (error == cudaSuccess)
        error = follow_long(joins, waits, 0, stream[0], 1);
    if (error == cudaSuccess)
        error = follow_long(joins, follows, 1, stream[0], 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream[1], of_launch, 0);
    if (error == cudaSuccess)
        error = follow_long(joins, waits, 2, stream[1], 0);
    if (error == cudaSuccess)
        error = record_and_await(of_stream, stream[0], stream[2]);
    if (error == cudaSuccess)
        error = follow_long(joins, follows, 3, stream[2], 0);
    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(joins->follower[4].seen, joins->follower[4].data, PLACE_WORDS * sizeof(uint32_t), cudaMemcpyDefault, stream[2]);
}

/* Work and its followers, by an edge of each kind, in the graph or in a body of it. */
static cudaError_t run_long_graph(struct joins *joins, unsigned primary, cudaGraphExec_t *exec)
{
    unsigned first = 2 * primary + 3;
    cudaGraph_t outer = NULL, graph = NULL;
    cudaGraphNode_t node;
    cudaError_t error = open_fan(primary == 2 && has_conditions() ? FAN_IN_BODY : FAN_PLAIN, &outer, &graph);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_lasting_work), &joins->work[primary], PLACE_WORDS);
    if (error == cudaSuccess)
        error = add_follower(joins, graph, first, &node, 1, 1);
    if (error == cudaSuccess)
        error = add_follower(joins, graph, first + 1, &node, 1, 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, outer, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(*exec, joins->stream[2 + primary]);
    if (outer)
        (void)cudaGraphDestroy(outer);
    return error;
}

static unsigned long_is_stale(const struct joins *joins, unsigned follower)
{
    unsigned primary = follower < 5 ? 0 : (follower - 3) / 2, i;
    volatile const uint32_t *seen = joins->pinned->seen[follower] + primary * PLACE_WORDS;

    for (i = 0; i < PLACE_WORDS; i++)
        if (seen[i] != words_fresh(joins->pinned->plan[primary].key, i))
            return 1;
    return 0;
}

/* All of it at once; and the host waits for the launch. */
static cudaError_t run_long(struct joins *joins, unsigned steps, unsigned *stale)
{
    cudaGraphExec_t exec[LONG_PRIMARIES] = { NULL, NULL, NULL };
    cudaEvent_t event[2] = { NULL, NULL };
    unsigned i;
    cudaError_t error = cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming);

    prepare(joins, LONG_PRIMARIES, 0);
    for (i = 0; i < LONG_PRIMARIES; i++) {
        joins->pinned->plan[i].hold_ns = LONG_STEP;
        joins->pinned->plan[i].repeats = steps;
    }
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[1], cudaEventDisableTiming);
    for (i = 1; i < LONG_PRIMARIES && error == cudaSuccess; i++)
        error = run_long_graph(joins, i, &exec[i]);
    if (error == cudaSuccess)
        error = launch_long(joins, event[0], event[1]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[1]);
    *stale += error == cudaSuccess && differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < LONG_FOLLOWERS && error == cudaSuccess; i++)
        *stale += long_is_stale(joins, i);
    for (i = 0; i < 2; i++)
        if (event[i])
            (void)cudaEventDestroy(event[i]);
    for (i = 1; i < LONG_PRIMARIES; i++)
        if (exec[i])
            (void)cudaGraphExecDestroy(exec[i]);
    return error;
}

/* 20 milliseconds; with many trials also 200. The mutant has no part in it. */
static void ask_long(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    unsigned stale = 0, runs = 1;
    cudaError_t error = FOLLOWS_IN_GRAPH ? open_joins(&joins, ask, cudaStreamNonBlocking) : cudaSuccess;

    if (!FOLLOWS_IN_GRAPH)
        return;
    if (error == cudaSuccess)
        error = run_long(&joins, 1, &stale);
    if (error == cudaSuccess && ask->trials > 1000) {
        error = run_long(&joins, 10, &stale);
        runs++;
    }
    ask_expect(ask, "work of 20 milliseconds or more", error, cudaSuccess);
    ask_expect_none(ask, "stale after work of 20 milliseconds or more", stale, runs * (LONG_FOLLOWERS + 1));
    close_joins(&joins);
}

#endif
