/* joins_wide.h - the pairs of joins.cu with graphs of very many edges, and with captures of very many nodes or streams, or several at
 * once. */
#ifndef JOINS_WIDE_H_INCLUDED
#define JOINS_WIDE_H_INCLUDED

#define WIDE_PLACES 9u
#define WIDE_NODES (WIDE_PLACES * PLACE_WORDS)
#define WIDE_SILENT 120u       /* kernels that do nothing: with theirs there are more edges than a byte counts */
#define WIDE_ALL (WIDE_SILENT + WIDE_NODES)
#define FAR_NODES 4200u
#define WIDE_WAYS 7u
#define WIDE_HOLD 40000u       /* nanoseconds */

/* One of many works: its last thread's word. plan.withhold is the thread number, counted from 1, whose word comes much later than all
 * others. */
KERNEL(joins_word)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t last = k_threads() - 1;

    k_trigger();
    if (k_thread() != last)
        return;
    k_delay(args.state, plan.hold_ns + (plan.withhold == last + 1 ? WIDE_HOLD : 0));
    k_store(args.data, words_fresh(plan.key, last));
}

/* The later of many works hold longer, and the last one longest; or the earlier ones do, and any one longest. */
static void prepare_wide(struct joins *joins, unsigned places, unsigned followers, unsigned from_last)
{
    unsigned words = places * PLACE_WORDS, longest = from_last ? joins->trial * 37 % words : words - 1, i;

    prepare(joins, places, followers);
    for (i = 0; i < places; i++) {
        joins->pinned->plan[i].hold_ns = 3000 + 1000 * (from_last ? places - 1 - i : i);
        joins->pinned->plan[i].withhold = i == longest / PLACE_WORDS ? longest % PLACE_WORDS + 1 : 0;
    }
}

/* The arguments of the work that stores this one of all words. */
static struct kernel_args word_args(const struct joins *joins, unsigned word)
{
    struct kernel_args args = joins->work[word / PLACE_WORDS];

    args.data += word % PLACE_WORDS;
    return args;
}

static cudaError_t add_words(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t *node, unsigned words)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < words && error == cudaSuccess; i++) {
        struct kernel_args args = word_args(joins, i);
        error = ask_add_kernel(&node[i], graph, (const void *)SYMBOL(joins_word), &args, i % PLACE_WORDS + 1);
    }
    return error;
}

/* Kernels that do nothing. They are added before the others, so their edges are the first ones. */
static cudaError_t add_silent(struct joins *joins, cudaGraph_t graph, const cudaGraphNode_t *after, size_t afters, cudaGraphNode_t *node)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < WIDE_SILENT && error == cudaSuccess; i++)
        error = ask_add_kernel_after(&node[i], graph, after, afters, (const void *)SYMBOL(joins_silent), &joins->work[0], 1, 1);
    return error;
}

/* A reader that gets all its full edges as it is made. */
static cudaError_t add_reader_after(struct joins *joins, cudaGraph_t graph, const cudaGraphNode_t *after, unsigned count)
{
    cudaGraphNode_t node;

    if (!FOLLOWS_IN_GRAPH)
        return add_follower(joins, graph, 0, after, count, 0);
    return ask_add_kernel_after(&node, graph, after, count, (const void *)SYMBOL(joins_follower), &joins->follower[0], 1, PLACE_WORDS);
}

/* A reader that waits: its edges from the works are programmatic, and those before them full; or the other way round. */
static cudaError_t add_mixed_reader(struct joins *joins, cudaGraph_t graph, const cudaGraphNode_t *after, int full_works)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0), trigger = edges_data(1, 0, 1);
    cudaGraphNode_t reader;
    cudaError_t error = add_follower_node(joins, graph, 0, NULL, 0, 1, &reader);
    unsigned i;

    for (i = 0; i < WIDE_ALL && reader && error == cudaSuccess; i++)
        error = edges_add(graph, &after[i], &reader, (i < WIDE_SILENT) != full_works ? &full : &trigger, 1);
    return error;
}

enum wide { WIDE_BARE, WIDE_FULL, WIDE_PROGRAMMATIC, WIDE_MIXED, WIDE_THROUGH };

/* From many works into one reader: by full edges, by programmatic ones, by both, or through a node of another kind, which is an empty one most
 * often. */
static cudaError_t wide_in(struct joins *joins, enum wide wide)
{
    cudaGraphNode_t node[WIDE_ALL], between;
    cudaGraph_t graph;
    unsigned turn = joins->trial / WIDE_WAYS, kind = turn % 3 ? turn % BETWEEN_BODY : 0;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare_wide(joins, WIDE_PLACES, 1, turn % 2);
    if (error == cudaSuccess)
        error = add_silent(joins, graph, NULL, 0, node);
    if (error == cudaSuccess)
        error = add_words(joins, graph, node + WIDE_SILENT, WIDE_NODES);
    if (error == cudaSuccess && wide == WIDE_BARE)
        error = add_reader_after(joins, graph, node, WIDE_ALL);
    else if (error == cudaSuccess && wide == WIDE_MIXED)
        error = add_mixed_reader(joins, graph, node, turn / 2 % 2 != 0);
    else if (error == cudaSuccess && wide == WIDE_THROUGH)
        error = add_between(joins, graph, graph, kind, node, WIDE_ALL, &between);
    else if (error == cudaSuccess)
        error = add_follower(joins, graph, 0, node, WIDE_ALL, wide == WIDE_PROGRAMMATIC);
    if (error == cudaSuccess && wide == WIDE_THROUGH)
        error = add_follower(joins, graph, 0, &between, 1, 0);
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Each trial by another way, so that the lists are asked as well as single edges. */
static cudaError_t wide_full(struct joins *joins) { return wide_in(joins, joins->trial / WIDE_WAYS / 2 % 2 ? WIDE_FULL : WIDE_BARE); }
static cudaError_t wide_programmatic(struct joins *joins) { return wide_in(joins, joins->trial / WIDE_WAYS % 2 ? WIDE_PROGRAMMATIC : WIDE_MIXED); }
static cudaError_t wide_through(struct joins *joins) { return wide_in(joins, WIDE_THROUGH); }

/* Of this one of many readers: what it saw lies after what those before it saw. */
static struct kernel_args reader_args(const struct joins *joins, unsigned reader)
{
    struct kernel_args args = joins->follower[0];

    args.seen += reader * joins->works * PLACE_WORDS;
    return args;
}

/* So many readers' first place of words. */
static unsigned readers_are_stale(const struct joins *joins, unsigned readers)
{
    const uint32_t *seen = joins->pinned->seen[0];
    unsigned stale = 0, i;

    for (i = 0; i < readers; i++)
        stale |= differs(joins->pinned, seen + i * joins->works * PLACE_WORDS, PLACE_WORDS);
    return stale;
}

static cudaError_t add_one_reader(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t after, unsigned reader, unsigned port)
{
    const void *function = port ? (const void *)SYMBOL(joins_waiting_follower) : (const void *)SYMBOL(joins_follower);
    struct kernel_args args = reader_args(joins, reader);
    cudaGraphEdgeData data = edges_data(port, 0, port != 0);
    cudaGraphNode_t node;
    cudaError_t error;

    if (!FOLLOWS_IN_GRAPH)
        return launch_one(function, &args, PLACE_WORDS, joins->loose, NULL, 0);
    error = ask_add_kernel(&node, graph, function, &args, PLACE_WORDS);
    return error == cudaSuccess ? edges_add(graph, &after, &node, &data, 1) : error;
}

/* From one work into many readers; in every other turn from a node of another kind that comes after the work. */
static cudaError_t wide_out(struct joins *joins)
{
    cudaGraphNode_t node, first, silent[WIDE_SILENT];
    cudaGraph_t graph;
    unsigned turn = joins->trial / WIDE_WAYS, port = turn % 4 == 2, i;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = add_work(joins, graph, 0, &node);
    first = node;
    if (error == cudaSuccess && turn % 2)
        error = add_between(joins, graph, graph, turn / 2 % BETWEEN_BODY, &first, 1, &node);
    if (error == cudaSuccess)
        error = add_silent(joins, graph, &node, 1, silent);
    for (i = 0; i < WIDE_NODES && error == cudaSuccess; i++)
        error = add_one_reader(joins, graph, node, i, port);
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = readers_are_stale(joins, WIDE_NODES);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Whether the graph tells so many nodes, no two of them the same. */
static unsigned tells_all(cudaGraph_t graph, size_t want)
{
    static cudaGraphNode_t list[FAR_NODES + 8];
    size_t count = sizeof(list) / sizeof(list[0]), i, k;

    if (cudaGraphGetNodes(graph, list, &count) != cudaSuccess || count != want)
        return 0;
    for (i = 0; i < count; i++)
        for (k = 0; k < i; k++)
            if (list[i] == list[k])
                return 0;
    return 1;
}

/* The reader comes after the work by a line of many empty nodes. */
static cudaError_t wide_far(struct joins *joins)
{
    cudaGraphNode_t node, next;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned i;

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = add_work(joins, graph, 0, &node);
    for (i = 0; i < FAR_NODES && error == cudaSuccess; i++) {
        error = cudaGraphAddEmptyNode(&next, graph, &node, 1);
        node = next;
    }
    if (error == cudaSuccess)
        error = add_follower(joins, graph, 0, &node, 1, 0);
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    joins->pinned->host_is_stale = error == cudaSuccess && !tells_all(graph, FAR_NODES + 1 + FOLLOWS_IN_GRAPH);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t wide_ends(struct joins *joins);
static cudaError_t wide_roots(struct joins *joins);
static void ask_ends(struct ask *ask);

static void ask_wide(struct ask *ask)
{
    static const struct join joins[WIDE_WAYS] = {
        { "stale after 144 works", wide_full },
        { "stale after 144 primaries", wide_programmatic },
        { "stale after 144 works and a node of another kind", wide_through },
        { "stale in one of 144 readers", wide_out },
        { "stale after work and 2,100 empty nodes, or these are not told", wide_far },
        { "stale after a graph, child graph or body that ends in up to 144 works", wide_ends },
        { "stale in one of up to 144 readers that a graph, child graph or body begins with", wide_roots },
    };

    ask_joins(ask, joins, WIDE_WAYS, cudaStreamNonBlocking);
    ask_large_graphs(ask);
    ask_ends(ask);
}

/* ---- captures ---- */

#define CAPTURE_NODES 4200u    /* in one round of four; in the others a quarter of them */
#define CAPTURE_LANES 32u
#define CAPTURES 12u

/* The follower comes after the work by a row of memsets and kernels. */
static cudaError_t capture_long_row(struct joins *joins, cudaEvent_t fork, cudaEvent_t back)
{
    cudaStream_t stream = joins->stream[0];
    uint32_t *aside = joins->follower[PLACES - 1].seen;
    cudaError_t error = work(joins, 0, stream);
    unsigned nodes = joins->round % 4 ? CAPTURE_NODES / 4 : CAPTURE_NODES, i;

    (void)fork;
    (void)back;
    for (i = 0; i < nodes && error == cudaSuccess; i++)
        error = i % 4 ? cudaMemsetAsync(aside, 0, 4, stream)
                      : launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);
    return error == cudaSuccess ? follow(joins, 0, stream) : error;
}

static cudaError_t captured_long_row(struct joins *joins) { return join_captured_streams(joins, 1, capture_long_row); }

struct lanes {
    cudaStream_t stream[CAPTURE_LANES];
    cudaEvent_t fork, back;
};

/* Whether each stream comes to the capture from the one before it, not all from the first one. */
static int lanes_in_row(const struct joins *joins) { return joins->round % 4 == 2; }

/* In this stream one of many readers of the first work, then a work of its own. */
static cudaError_t fill_lane(struct joins *joins, const struct lanes *lanes, unsigned i)
{
    struct kernel_args reader = reader_args(joins, i), word = word_args(joins, PLACE_WORDS + i);
    cudaError_t error = cudaStreamWaitEvent(lanes->stream[i], lanes->fork, 0);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_follower), &reader, PLACE_WORDS, FOLLOWS_IN(joins, lanes->stream[i]), NULL, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_word), &word, i % PLACE_WORDS + 1, lanes->stream[i], NULL, 0);
    return error == cudaSuccess && lanes_in_row(joins) ? cudaEventRecord(lanes->fork, lanes->stream[i]) : error;
}

/* In the first stream, or in another one that waits for a record of it, which stands for the last nodes of all of them. */
static cudaError_t follow_lanes(struct joins *joins, const struct lanes *lanes)
{
    cudaStream_t stream = joins->trial / 3 % 4 < 2 ? joins->stream[0] : lanes->stream[0];
    cudaError_t error = cudaSuccess;

    if (stream != joins->stream[0])
        error = record_and_await(lanes->fork, joins->stream[0], stream);
    if (error == cudaSuccess)
        error = follow(joins, PLACES - 1, stream);
    return error == cudaSuccess && stream != joins->stream[0] ? record_and_await(lanes->back, stream, joins->stream[0]) : error;
}

static cudaError_t fill_lanes(struct joins *joins, const struct lanes *lanes)
{
    cudaError_t error = work(joins, 0, joins->stream[0]);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaEventRecord(lanes->fork, joins->stream[0]);
    for (i = 0; i < CAPTURE_LANES && error == cudaSuccess; i++)
        error = fill_lane(joins, lanes, i);
    for (i = lanes_in_row(joins) ? CAPTURE_LANES - 1 : 0; i < CAPTURE_LANES && error == cudaSuccess; i++)
        error = record_and_await(lanes->back, lanes->stream[i], joins->stream[0]);
    return error == cudaSuccess ? follow_lanes(joins, lanes) : error;
}

static cudaError_t capture_many_lanes(struct joins *joins, const struct lanes *lanes)
{
    const struct pinned *pinned = joins->pinned;
    cudaError_t error;

    prepare_wide(joins, 1 + CAPTURE_LANES / PLACE_WORDS, 0, joins->trial / 3 % 2);
    error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = ask_run_capture(joins->stream[0], fill_lanes(joins, lanes));
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = readers_are_stale(joins, CAPTURE_LANES) |
                                   differs(pinned, pinned->seen[PLACES - 1], joins->works * PLACE_WORDS);
    return error;
}

/* Many streams come after one in a capture, or each after the one before it, and the first one comes after all of them. */
static cudaError_t captured_lanes(struct joins *joins)
{
    struct lanes lanes = PDL_ZERO;
    cudaError_t error = cudaEventCreateWithFlags(&lanes.fork, cudaEventDisableTiming);
    unsigned made = 0, i;

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&lanes.back, cudaEventDisableTiming);
    for (; made < CAPTURE_LANES && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&lanes.stream[made], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = capture_many_lanes(joins, &lanes);
    for (i = 0; i < made; i++)
        (void)cudaStreamDestroy(lanes.stream[i]);
    if (lanes.fork)
        (void)cudaEventDestroy(lanes.fork);
    if (lanes.back)
        (void)cudaEventDestroy(lanes.back);
    return error;
}

/* Ends each of so many captures that were begun, and runs what it captured after the ones before. */
static cudaError_t run_captures(struct joins *joins, unsigned begun, cudaError_t captured)
{
    cudaGraph_t graph[CAPTURES] = { NULL };
    cudaError_t error = captured, end;
    unsigned i;

    for (i = 0; i < begun; i++) {
        end = cudaStreamEndCapture(joins->stream[i], &graph[i]);
        error = error == cudaSuccess ? end : error;
    }
    for (i = 0; i < begun; i++) {
        if (error == cudaSuccess)
            error = ask_run_once(graph[i], joins->stream[i]);
        if (graph[i])
            (void)cudaGraphDestroy(graph[i]);
    }
    return error;
}

/* Several captures at once, in each of them work and a follower. What they captured runs one after the other. */
static cudaError_t captured_together(struct joins *joins)
{
    cudaError_t error = cudaSuccess;
    unsigned begun = 0, i;

    prepare(joins, CAPTURES, 0);
    for (i = 0; i < CAPTURES; i++)
        joins->pinned->plan[i].hold_ns = 5000;
    for (; begun < CAPTURES && error == cudaSuccess; begun += error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[begun], cudaStreamCaptureModeThreadLocal);
    for (i = 0; i < CAPTURES && error == cudaSuccess; i++)
        error = work(joins, i, joins->stream[i]);
    for (i = 0; i < CAPTURES && error == cudaSuccess; i++)
        error = follow(joins, i, joins->stream[i]);
    error = run_captures(joins, begun, error);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < CAPTURES; i++) /* when it ran, those before it had ended */
        joins->pinned->host_is_stale |= differs(joins->pinned, joins->pinned->seen[i], (i + 1) * PLACE_WORDS);
    return error;
}

static void ask_captures(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a captured row of 1,100", captured_long_row },
        { "stale in one of 32 captured streams, or after all of them", captured_lanes },
        { "stale in one of twelve captures at once", captured_together },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
