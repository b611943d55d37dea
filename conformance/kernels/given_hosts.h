/* given_hosts.h - the pair of given.cu with many host functions in one graph, each with data of its own. */
#ifndef GIVEN_HOSTS_H_INCLUDED
#define GIVEN_HOSTS_H_INCLUDED

#define HOSTS 40u

struct host_call {
    unsigned calls, order;
    unsigned *next;            /* how many were called before */
};

struct hosts {
    struct ask *ask;
    struct host_call call[HOSTS], other[HOSTS]; /* that are to be called, and that are replaced */
    unsigned next, wrong, trials;
};

/* Others may run at the same time only in graphs whose order is not looked at. */
static void CUDART_CB host_counts(void *opaque)
{
    struct host_call *call = (struct host_call *)opaque;

    call->calls++;
    if (call->next)
        call->order = (*call->next)++;
}

static void prepare_hosts(struct hosts *h, int in_line)
{
    unsigned i;

    memset(h->call, 0, sizeof(h->call));
    memset(h->other, 0, sizeof(h->other));
    h->next = 0;
    for (i = 0; i < HOSTS && in_line; i++)
        h->call[i].next = &h->next;
}

/* In a line or side by side. */
static cudaError_t add_hosts(struct host_call *calls, int in_line, cudaGraph_t graph, cudaGraphNode_t *node)
{
    struct cudaHostNodeParams params = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned i;

    params.fn = host_counts;
    for (i = 0; i < HOSTS && error == cudaSuccess; i++) {
        params.userData = &calls[i];
        error = cudaGraphAddHostNode(&node[i], graph, i ? &node[i - 1] : NULL, in_line && i ? 1 : 0, &params);
    }
    return error;
}

static cudaError_t capture_hosts(struct hosts *h, cudaGraph_t *graph)
{
    cudaStream_t stream = h->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < HOSTS && error == cudaSuccess; i++)
        error = cudaLaunchHostFunc(stream, host_counts, &h->call[i]);
    end = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? end : error;
}

/* exec: NULL, and the nodes are given new data in their graph. */
static cudaError_t give_hosts(struct hosts *h, cudaGraphExec_t exec, const cudaGraphNode_t *node)
{
    struct cudaHostNodeParams params = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned i;

    params.fn = host_counts;
    for (i = 0; i < HOSTS && error == cudaSuccess; i++) {
        params.userData = &h->call[i];
        error = exec ? cudaGraphExecHostNodeSetParams(exec, node[i], &params) : cudaGraphHostNodeSetParams(node[i], &params);
    }
    return error;
}

enum host_way { HOSTS_ADDED, HOSTS_CAPTURED, HOSTS_SET, HOSTS_EXEC, HOSTS_CLONED, HOSTS_UPDATED, HOSTS_CHILD, HOST_WAYS };
static const char *const host_way_names[HOST_WAYS] = { "host nodes", "captured host functions", "cudaGraphHostNodeSetParams",
                                                       "cudaGraphExecHostNodeSetParams", "cudaGraphClone", "cudaGraphExecUpdate",
                                                       "cudaGraphAddChildGraphNode" };

static cudaError_t update_hosts(struct hosts *h, int in_line, cudaGraphExec_t exec)
{
    cudaGraphNode_t node[HOSTS];
    cudaGraph_t other = NULL;
    cudaError_t error = cudaGraphCreate(&other, 0);

    if (error == cudaSuccess)
        error = add_hosts(h->call, in_line, other, node);
    if (error == cudaSuccess)
        error = update_with(exec, other);
    (void)cudaGraphDestroy(other);
    return error;
}

static cudaError_t make_hosts(struct hosts *h, enum host_way way, int in_line, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    int replaced = way == HOSTS_SET || way == HOSTS_EXEC || way == HOSTS_UPDATED;
    cudaGraphNode_t child;
    cudaError_t error;

    if (way == HOSTS_CAPTURED)
        return capture_hosts(h, graph);
    error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = add_hosts(replaced ? h->other : h->call, in_line, *graph, node);
    if (error == cudaSuccess && way == HOSTS_SET)
        error = give_hosts(h, NULL, node);
    else if (error == cudaSuccess && way == HOSTS_CHILD)
        error = wrap(graph, &child);
    else if (error == cudaSuccess && way == HOSTS_CLONED)
        error = ask_clone_instead(graph, NULL);
    return error;
}

static void look_at_hosts(struct hosts *h, int in_line)
{
    unsigned i, differs = 0;

    for (i = 0; i < HOSTS; i++)
        differs |= h->call[i].calls != 1 || h->other[i].calls != 0 || (in_line && h->call[i].order != i);
    h->wrong += differs;
    h->trials++;
}

static cudaError_t run_hosts(struct hosts *h, enum host_way way, int in_line)
{
    cudaGraphNode_t node[HOSTS];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    prepare_hosts(h, in_line);
    error = make_hosts(h, way, in_line, &graph, node);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && way == HOSTS_EXEC)
        error = give_hosts(h, exec, node);
    if (error == cudaSuccess && way == HOSTS_UPDATED)
        error = update_hosts(h, in_line, exec);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, h->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(h->ask->stream);
    if (error == cudaSuccess)
        look_at_hosts(h, in_line);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_hosts(struct ask *ask)
{
    static struct hosts hosts;
    struct hosts *h = &hosts;
    unsigned way;

    memset(h, 0, sizeof(*h));
    h->ask = ask;
    for (way = 0; way < HOST_WAYS; way++) {
        cudaError_t error = run_hosts(h, (enum host_way)way, 1);
        if (error == cudaSuccess && way != HOSTS_CAPTURED) /* captured functions of one stream stand in a line */
            error = run_hosts(h, (enum host_way)way, 0);
        ask_expect(ask, host_way_names[way], error, cudaSuccess);
    }
    ask_expect_none(ask, "graphs whose host functions were called with other data, in another order, or not once each", h->wrong, h->trials);
}

#endif
