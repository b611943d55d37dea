/* joins_ends.h - for the pair `wide` of joins.cu: a graph, a child graph, a body or a round of a loop that ends in very many nodes, or begins
 * with them. */
#ifndef JOINS_ENDS_H_INCLUDED
#define JOINS_ENDS_H_INCLUDED

enum ends_in { ENDS_GRAPH, ENDS_CHILD, ENDS_BODY };

/* Where they lie, how many they are, in places, and whether what comes after or before them stands in the graph as well. In the first six turns more
 * than 64 of them stand in a body, and in a child graph. */
struct ends {
    enum ends_in in;
    unsigned places, beside;
};

static struct ends ends_of(const struct joins *joins)
{
    static const unsigned places[] = { 2, 9, 5, 3 };
    unsigned turn = joins->trial / WIDE_WAYS;
    struct ends ends;

    ends.in = (enum ends_in)(turn % (has_conditions() ? ENDS_BODY + 1u : ENDS_BODY));
    ends.places = places[turn % 4];
    ends.beside = ends.in != ENDS_GRAPH && turn / 3 % 2;
    return ends;
}

/* inside receives the graph itself, or that of a child graph or a body in it, whose node is the first one. */
static cudaError_t open_ends(cudaGraph_t *graph, enum ends_in in, cudaGraphNode_t *node, cudaGraph_t *inside)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    *inside = *graph;
    if (error == cudaSuccess && in == ENDS_CHILD)
        error = ask_add_empty_child(node, *graph, inside);
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && in == ENDS_BODY)
        error = ask_add_if(node, *graph, *graph, 1, inside);
#endif
    return error;
}

static cudaError_t launch_ends(cudaGraph_t graph, cudaGraphExec_t *exec, cudaStream_t stream)
{
    cudaError_t error = cudaGraphInstantiate(exec, graph, 0);

    return error == cudaSuccess ? cudaGraphLaunch(*exec, stream) : error;
}

static cudaError_t close_ends(cudaGraph_t graph, cudaGraphExec_t exec, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();

    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* In the stream, by each way in turn; the last one is a kernel with attribute 6, which waits. */
static cudaError_t follow_ends(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_EVENT, FOLLOW_COPY, FOLLOW_GRAPH, FOLLOW_HOST };
    unsigned turn = joins->trial / WIDE_WAYS, count = sizeof(ways) / sizeof(ways[0]), way = (turn + turn / 6) % (count + 1);
    cudaLaunchAttribute six = serialization(1);

    if (way < count)
        return follow_by(joins, ways[way], stream);
    return launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, stream), &six, 1);
}

/* What comes next comes after each of many ends, any one of which may be the last to end. */
static cudaError_t wide_ends(struct joins *joins)
{
    const struct ends ends = ends_of(joins);
    cudaGraphNode_t first, node[WIDE_NODES];
    cudaGraph_t graph = NULL, inside = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    prepare_wide(joins, ends.places, 1, joins->trial / WIDE_WAYS / 6 % 2);
    error = open_ends(&graph, ends.in, &first, &inside);
    if (error == cudaSuccess)
        error = add_words(joins, inside, node, ends.places * PLACE_WORDS);
    if (error == cudaSuccess && ends.beside)
        error = add_follower(joins, graph, 0, &first, 1, 0);
    if (error == cudaSuccess)
        error = launch_ends(graph, &exec, joins->stream[0]);
    if (error == cudaSuccess && !ends.beside)
        error = follow_ends(joins, joins->stream[0]);
    return close_ends(graph, exec, error);
}

/* Each of many readers comes after the work, and after nothing in its own graph. */
static cudaError_t wide_roots(struct joins *joins)
{
    const struct ends ends = ends_of(joins);
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaStream_t stream = joins->stream[0];
    cudaGraphNode_t first, node;
    cudaGraph_t graph = NULL, inside = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned readers = ends.places * PLACE_WORDS, i;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = open_ends(&graph, ends.in, &first, &inside);
    for (i = 0; i < readers && error == cudaSuccess; i++) {
        struct kernel_args args = reader_args(joins, i);
        error = ask_add_kernel(&node, inside, (const void *)SYMBOL(joins_follower), &args, PLACE_WORDS);
    }
    if (error == cudaSuccess && ends.beside)
        error = add_work(joins, graph, 0, &node);
    if (error == cudaSuccess && ends.beside && FOLLOWS_IN_GRAPH)
        error = edges_add(graph, &node, &first, &full, 1);
    if (error == cudaSuccess && !ends.beside)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = launch_ends(graph, &exec, FOLLOWS_IN(joins, stream));
    error = close_ends(graph, exec, error);
    joins->pinned->host_is_stale = readers_are_stale(joins, readers);
    return error;
}

/* ---- one executable graph or one loop, again and again ---- */

#define COUNTERS 300u          /* more than a byte counts */
#define COUNTS 3u              /* launches, or rounds */

/* Reads before it holds: what begins too early finds what is still to be changed. */
KERNEL_OF(joins_adds_late, struct count_args)
{
    uint32_t word = k_load(args.from);

    k_trigger();
    k_delay(args.state, args.hold_ns);
    k_store(args.to, word + 1);
}

/* Each adds one to a word of its own; every 48th comes later than those before it. */
static cudaError_t add_counters(struct joins *joins, cudaGraph_t graph)
{
    struct count_args counts = PDL_ZERO;
    void *given = &counts;
    cudaGraphNode_t node;
    cudaError_t error = cudaSuccess;
    unsigned i;

    counts.state = joins->work[0].state;
    for (i = 0; i < COUNTERS && error == cudaSuccess; i++) {
        counts.from = counts.to = joins->longer + i;
        counts.hold_ns = i % 48 == 47 ? i / 48 * WIDE_HOLD / 2 : 0;
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_adds_late), (struct kernel_args *)given, 1);
    }
    return error;
}

/* So many launches, each in another stream, which come after each other all the same; a copy comes after the last one. error: of the calls that made
 * the graph, which is destroyed. */
static cudaError_t launch_counters(struct joins *joins, cudaGraph_t graph, unsigned launches, uint32_t *words, cudaError_t error)
{
    cudaGraphExec_t exec = NULL;
    unsigned i;

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    for (i = 0; i < launches && error == cudaSuccess; i++)
        error = cudaGraphLaunch(exec, joins->stream[i]);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(words, joins->longer, COUNTERS * sizeof(uint32_t), cudaMemcpyDefault, joins->stream[launches - 1]);
    return close_ends(graph, exec, error);
}

static cudaError_t count_launches(struct joins *joins, cudaGraph_t graph, uint32_t *words)
{
    cudaError_t error = add_counters(joins, graph);

    return launch_counters(joins, graph, COUNTS, words, error);
}

#if CUDART_VERSION >= 12040
struct round_args {
    uint32_t *rounds;
    uint64_t handle;           /* of the loop */
};

KERNEL_OF(joins_rounds, struct round_args)
{
    uint32_t round = k_load(args.rounds) + 1;

    k_store(args.rounds, round);
    k_set_condition(args.handle, round < COUNTS);
}

/* Each round of a loop comes after the one before. */
static cudaError_t count_rounds(struct joins *joins, cudaGraph_t graph, uint32_t *words)
{
    struct round_args rounds = PDL_ZERO;
    void *given = &rounds;
    cudaGraphConditionalHandle handle = 0;
    cudaGraph_t body = NULL;
    cudaGraphNode_t node;
    cudaError_t error = ask_add_loop(&node, graph, &handle, &body);

    rounds.rounds = joins->longer + COUNTERS;
    rounds.handle = handle;
    if (error == cudaSuccess)
        error = ask_add_kernel(&node, body, (const void *)SYMBOL(joins_rounds), (struct kernel_args *)given, 1);
    if (error == cudaSuccess)
        error = add_counters(joins, body);
    return launch_counters(joins, graph, 1, words, error);
}
#endif

typedef cudaError_t (*counter)(struct joins *joins, cudaGraph_t graph, uint32_t *words);

static void ask_counters(struct joins *joins, counter count, const char *what)
{
    uint32_t words[COUNTERS] = { 0 };
    cudaGraph_t graph = NULL;
    unsigned wrong = 0, i;
    cudaError_t error = cudaMemset(joins->longer, 0, (COUNTERS + 1) * sizeof(uint32_t));

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = count(joins, graph, words);
    for (i = 0; i < COUNTERS; i++)
        wrong += words[i] != COUNTS;
    ask_expect(joins->ask, "kernels that count launches or rounds", error, cudaSuccess);
    ask_expect_none(joins->ask, what, wrong, COUNTERS);
}

/* The mutant has no part in it. */
static void ask_ends(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    cudaError_t error;

    if (!FOLLOWS_IN_GRAPH)
        return;
    error = open_joins(&joins, ask, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&joins.longer, (COUNTERS + 1) * sizeof(uint32_t));
    ask_expect(ask, "memory for counts", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_counters(&joins, count_launches, "words that a launch read before the one before had ended");
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && has_conditions())
        ask_counters(&joins, count_rounds, "words that a round of a loop read before the one before had ended");
#endif
    close_joins(&joins);
}

#endif
