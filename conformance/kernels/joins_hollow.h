/* joins_hollow.h - the pair of joins.cu with graphs in which nothing runs: what comes after them, or after a memset of no bytes, is of any kind. */
#ifndef JOINS_HOLLOW_H_INCLUDED
#define JOINS_HOLLOW_H_INCLUDED

/* Each kind in turn after a graph without nodes, after one whose nodes are disabled, and after a memset of no bytes. */
static cudaError_t hollow_before_any(struct joins *joins)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_LONG_ARGS, FOLLOW_COPY, FOLLOW_SET, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_CALLBACK,
                                           FOLLOW_EVENT };
    cudaStream_t stream = joins->stream[0];
    cudaGraphExec_t exec = NULL;
    unsigned hollow = joins->round % 3, graph = hollow < 2;
    cudaError_t error = graph ? make_hollow(joins, hollow ? HOLLOW_DISABLED : HOLLOW_EMPTY, &exec) : open_aside(joins), end;

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = graph ? cudaGraphLaunch(exec, stream) : whatever(cudaMemsetAsync(joins->aside, 0, 0, stream));
    if (error == cudaSuccess)
        error = follow_by(joins, ways[joins->round / 3 % (sizeof(ways) / sizeof(ways[0]))], stream);
    end = cudaDeviceSynchronize();
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error == cudaSuccess ? end : error;
}

static void ask_hollow(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a graph without nodes", hollow_empty },
        { "stale after a wait and a graph without nodes", hollow_empty_waiting },
        { "stale after a graph whose nodes are disabled", hollow_disabled },
        { "stale after a wait and a graph whose nodes are disabled", hollow_disabled_waiting },
        { "stale after a graph whose child graph has no nodes", hollow_child },
        { "stale after a wait and a graph whose child graph has no nodes", hollow_child_waiting },
        { "stale after an upload", hollow_upload },
        { "stale after a wait and an upload", hollow_upload_waiting },
    };
    static const struct join bodies[] = {
        { "stale after a graph whose body has no nodes", hollow_body },
        { "stale after a wait and a graph whose body has no nodes", hollow_body_waiting },
    };

    static const struct join kinds[] = {
        { "stale in work of any kind after what has nothing to do", hollow_before_any },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
    ask_joins(ask, kinds, 1, cudaStreamNonBlocking);
    if (has_conditions())
        ask_joins(ask, bodies, sizeof(bodies) / sizeof(bodies[0]), cudaStreamNonBlocking);
}

#endif
