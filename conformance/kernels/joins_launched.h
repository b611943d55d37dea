/* joins_launched.h - the pair of joins.cu with graphs that are launched into captures. */
#ifndef JOINS_LAUNCHED_H_INCLUDED
#define JOINS_LAUNCHED_H_INCLUDED

/* What the launched graph holds: the second work and the first follower with an edge of either kind, that follower alone, or nothing. */
enum launched_graph { LAUNCHED_FULL, LAUNCHED_PROGRAMMATIC, LAUNCHED_FOLLOWER, LAUNCHED_EMPTY, LAUNCHED_GRAPHS };

struct launched {
    enum launched_graph what;
    int forked, joined;        /* not in the first stream; behind the last work, too, which another stream of the capture does */
    int in_row, overlaps;      /* behind kernels that overlap; what comes behind it has the attribute and waits */
    cudaGraphExec_t exec;
    cudaEvent_t event;
};

/* elsewhere: the follower leaves what it finds where nobody looks. */
static cudaError_t fill_launched(struct joins *joins, enum launched_graph what, cudaGraph_t graph, int elsewhere)
{
    struct kernel_args *follower = &joins->follower[elsewhere ? PLACES - 1 : 0];
    int programmatic = what == LAUNCHED_PROGRAMMATIC;
    const void *function = programmatic ? (const void *)SYMBOL(joins_waiting_follower) : (const void *)SYMBOL(joins_follower);
    cudaGraphEdgeData data = programmatic ? edges_data(1, 0, 1) : edges_data(0, 0, 0);
    cudaGraphNode_t node[2];
    cudaError_t error = cudaSuccess;

    if (what < LAUNCHED_FOLLOWER)
        error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(joins_work), &joins->work[1], PLACE_WORDS);
    if (error == cudaSuccess && what != LAUNCHED_EMPTY)
        error = ask_add_kernel(&node[1], graph, function, follower, PLACE_WORDS);
    return error == cudaSuccess && what < LAUNCHED_FOLLOWER ? edges_add(graph, &node[0], &node[1], &data, 1) : error;
}

static cudaError_t open_launched(struct joins *joins, struct launched *l, int elsewhere)
{
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = fill_launched(joins, l->what, graph, elsewhere);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&l->exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? cudaEventCreateWithFlags(&l->event, cudaEventDisableTiming) : error;
}

static void close_launched(struct launched *l)
{
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->event)
        (void)cudaEventDestroy(l->event);
}

/* Work, the graph, and the last follower. */
static cudaError_t capture_launched(struct joins *joins, const struct launched *l, cudaStream_t stream)
{
    struct kernel_args *last = &joins->follower[joins->followers - 1];
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error = l->in_row ? row_alone(joins, 0, 1 + joins->round % 3, stream) : work(joins, 0, stream);

    if (error == cudaSuccess && l->joined)
        error = work(joins, joins->works - 1, joins->stream[1]);
    if (error == cudaSuccess && l->joined)
        error = record_and_await(l->event, joins->stream[1], stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->exec, stream);
    if (error != cudaSuccess || !l->overlaps)
        return error == cudaSuccess ? follow(joins, joins->followers - 1, stream) : error;
    return launch_one((const void *)SYMBOL(joins_waiting_follower), last, PLACE_WORDS, FOLLOWS_IN(joins, stream), &early, 1);
}

/* In the first stream of a capture, or (forked) in one that joins it; or (joined) behind work in both. */
static cudaError_t capture_all(struct joins *joins, const struct launched *l, cudaGraph_t *graph)
{
    cudaStream_t stream = joins->stream[0], in = joins->stream[l->forked];
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = l->forked || l->joined ? record_and_await(l->event, stream, joins->stream[1]) : cudaSuccess;
    if (error == cudaSuccess)
        error = capture_launched(joins, l, in);
    if (error == cudaSuccess && l->forked)
        error = record_and_await(l->event, in, stream);
    end = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? end : error;
}

/* An executable graph of a capture that differs in what the launched graph holds, updated from this one. */
static cudaError_t run_updated(struct joins *joins, const struct launched *l, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    struct launched other = *l;
    cudaGraph_t before = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    other.exec = NULL;
    other.event = NULL;
    error = open_launched(joins, &other, 1);
    if (error == cudaSuccess)
        error = capture_all(joins, &other, &before);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, before, 0);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(exec, graph, &info);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (before)
        (void)cudaGraphDestroy(before);
    close_launched(&other);
    return error;
}

static cudaError_t launched_into(struct joins *joins, int forked, int joined)
{
    unsigned turn = joins->round / LAUNCHED_GRAPHS;
    struct launched l = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaError_t error;

    l.what = (enum launched_graph)(joins->round % LAUNCHED_GRAPHS);
    l.forked = forked;
    l.joined = joined;
    l.in_row = turn % 2 != 0;
    l.overlaps = turn / 2 % 2 != 0;
    prepare(joins, (l.what < LAUNCHED_FOLLOWER ? 2 : 1) + (joined ? 1 : 0), l.what == LAUNCHED_EMPTY ? 1 : 2);
    error = open_launched(joins, &l, 0);
    if (error == cudaSuccess)
        error = capture_all(joins, &l, &graph);
    if (error == cudaSuccess)
        error = (turn ^ turn / 2) % 2 ? run_updated(joins, &l, graph) : ask_run_once(graph, joins->stream[0]);
    if (graph)
        (void)cudaGraphDestroy(graph);
    close_launched(&l);
    return error;
}

static cudaError_t launched_in_first(struct joins *joins) { return launched_into(joins, 0, 0); }
static cudaError_t launched_in_fork(struct joins *joins) { return launched_into(joins, 1, 0); }
static cudaError_t launched_behind_join(struct joins *joins) { return launched_into(joins, 0, 1); }

static void ask_launched(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a graph that was launched into a capture, or behind it", launched_in_first },
        { "stale where a stream was that had joined the capture", launched_in_fork },
        { "stale where two streams had joined before", launched_behind_join },
    };
    cudaGraphExec_t nothing = NULL;
    cudaError_t error = ask_graph_of_one(&nothing, NODE_EMPTY, NULL);

    ask_expect(ask, "a graph of an empty node", error, cudaSuccess);
    if (ask_captures_launch(nothing, ask->stream))
        ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
    else
        ask_skip(ask, "graphs that are launched into a capture", "this device captures none");
    (void)cudaGraphExecDestroy(nothing);
}

#endif
