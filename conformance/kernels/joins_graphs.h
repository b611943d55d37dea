/* joins_graphs.h - the pairs of joins.cu with graphs in streams: graphs in which nothing runs, or that are only uploaded, and graphs beside the
 * default streams. */
#ifndef JOINS_GRAPHS_H_INCLUDED
#define JOINS_GRAPHS_H_INCLUDED

/* ---- graphs in which nothing runs ---- */

enum hollow { HOLLOW_EMPTY, HOLLOW_DISABLED, HOLLOW_CHILD, HOLLOW_BODY };
typedef cudaError_t hollow_call(cudaGraphExec_t exec, cudaStream_t stream); /* a launch, or an upload, which executes nothing */

static cudaError_t make_hollow(struct joins *joins, enum hollow hollow, cudaGraphExec_t *exec)
{
    cudaGraph_t graph, inside;
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess && hollow == HOLLOW_DISABLED)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);
    if (error == cudaSuccess && hollow == HOLLOW_CHILD)
        error = ask_add_empty_child(&node, graph, &inside);
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && hollow == HOLLOW_BODY)
        error = add_empty_body(graph, graph, NULL, 0, &node);
#endif
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess && hollow == HOLLOW_DISABLED)
        error = cudaGraphNodeSetEnabled(*exec, node, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Between work and follower; or between the follower and its stream's wait for the work. In every other round it is a dependent that waits. */
static cudaError_t after_hollow(struct joins *joins, enum hollow hollow, hollow_call *call, unsigned by_event)
{
    cudaGraphExec_t exec = NULL;
    cudaEvent_t event;
    cudaError_t error = make_hollow(joins, hollow, &exec), end;

    if (error != cudaSuccess)
        return error;
    error = work_and_record(joins, 1, &event);
    if (error == cudaSuccess && by_event)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = call(exec, joins->stream[by_event]);
    if (error == cudaSuccess)
        error = follow_or_depend(joins, joins->stream[by_event], joins->round % 2 != 0);
    end = cudaDeviceSynchronize();
    (void)cudaGraphExecDestroy(exec);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? end : error;
}

static cudaError_t hollow_empty(struct joins *joins) { return after_hollow(joins, HOLLOW_EMPTY, cudaGraphLaunch, 0); }
static cudaError_t hollow_empty_waiting(struct joins *joins) { return after_hollow(joins, HOLLOW_EMPTY, cudaGraphLaunch, 1); }
static cudaError_t hollow_disabled(struct joins *joins) { return after_hollow(joins, HOLLOW_DISABLED, cudaGraphLaunch, 0); }
static cudaError_t hollow_disabled_waiting(struct joins *joins) { return after_hollow(joins, HOLLOW_DISABLED, cudaGraphLaunch, 1); }
static cudaError_t hollow_child(struct joins *joins) { return after_hollow(joins, HOLLOW_CHILD, cudaGraphLaunch, 0); }
static cudaError_t hollow_child_waiting(struct joins *joins) { return after_hollow(joins, HOLLOW_CHILD, cudaGraphLaunch, 1); }
static cudaError_t hollow_body(struct joins *joins) { return after_hollow(joins, HOLLOW_BODY, cudaGraphLaunch, 0); }
static cudaError_t hollow_body_waiting(struct joins *joins) { return after_hollow(joins, HOLLOW_BODY, cudaGraphLaunch, 1); }
/* By each library in turn. */
static hollow_call *some_upload(const struct joins *joins) { return joins->round / 2 % 2 ? upload_by_driver : cudaGraphUpload; }

static cudaError_t hollow_upload(struct joins *joins) { return after_hollow(joins, HOLLOW_DISABLED, some_upload(joins), 0); }
static cudaError_t hollow_upload_waiting(struct joins *joins) { return after_hollow(joins, HOLLOW_DISABLED, some_upload(joins), 1); }

/* ---- graphs beside the default streams ---- */

/* The work, or the follower, or both as graphs of one kernel. */
static cudaError_t across(struct joins *joins, cudaStream_t from, cudaStream_t to, int graph_works, int graph_follows)
{
    cudaGraphExec_t works = NULL, follows = NULL;
    cudaError_t error = ask_graph_of_kernel(&works, (const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS), end;

    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&follows, (const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS);
    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = graph_works ? cudaGraphLaunch(works, from) : work(joins, 0, from);
    if (error == cudaSuccess)
        error = graph_follows ? cudaGraphLaunch(follows, FOLLOWS_IN(joins, to)) : follow(joins, 0, to);
    end = cudaDeviceSynchronize();
    (void)cudaGraphExecDestroy(works);
    (void)cudaGraphExecDestroy(follows);
    return error == cudaSuccess ? end : error;
}

static cudaStream_t blocking(struct joins *joins) { return joins->stream[joins->trial % PLACES]; }
static cudaError_t across_into_legacy(struct joins *joins) { return across(joins, blocking(joins), cudaStreamLegacy, 0, 1); }
static cudaError_t across_graph_into_legacy(struct joins *joins) { return across(joins, blocking(joins), cudaStreamLegacy, 1, 0); }
static cudaError_t across_from_legacy(struct joins *joins) { return across(joins, cudaStreamLegacy, blocking(joins), 0, 1); }
static cudaError_t across_graph_from_legacy(struct joins *joins) { return across(joins, cudaStreamLegacy, blocking(joins), 1, 0); }
static cudaError_t across_into_per_thread(struct joins *joins) { return across(joins, cudaStreamLegacy, cudaStreamPerThread, 0, 1); }
static cudaError_t across_graph_into_per_thread(struct joins *joins) { return across(joins, cudaStreamLegacy, cudaStreamPerThread, 1, 0); }
static cudaError_t across_from_per_thread(struct joins *joins) { return across(joins, cudaStreamPerThread, cudaStreamLegacy, 0, 1); }
static cudaError_t across_graph_from_per_thread(struct joins *joins) { return across(joins, cudaStreamPerThread, cudaStreamLegacy, 1, 0); }

static void ask_across(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a graph in the legacy stream, after a blocking one", across_into_legacy },
        { "stale in the legacy stream, after a graph in a blocking one", across_graph_into_legacy },
        { "stale in a graph in a blocking stream, after the legacy one", across_from_legacy },
        { "stale in a blocking stream, after a graph in the legacy one", across_graph_from_legacy },
        { "stale in a graph in the per-thread stream, after the legacy one", across_into_per_thread },
        { "stale in the per-thread stream, after a graph in the legacy one", across_graph_into_per_thread },
        { "stale in a graph in the legacy stream, after the per-thread one", across_from_per_thread },
        { "stale in the legacy stream, after a graph in the per-thread one", across_graph_from_per_thread },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamDefault);
}

#endif
