/* nested_ends.h - the pairs of nested.cu in which a body ends with a kernel that only goes before others by its trigger or its block starts. */
#ifndef NESTED_ENDS_H_INCLUDED
#define NESTED_ENDS_H_INCLUDED

/* Where the reader is: a node after the conditional node, or launched after the graph. */
enum reader_at { READER_IN_GRAPH, READER_IN_STREAM, READERS_AT };

#if CUDART_VERSION >= 12040
/* In the body: the writer, and a kernel that may begin while it runs, which nothing follows. The mutant's reader is ordered by nothing. */
static cudaError_t make_ending(struct nested *n, cudaGraphEdgeData data, enum reader_at at, cudaGraph_t *graph, cudaGraphExec_t *exec)
{
    cudaGraph_t body;
    cudaGraphNode_t node, writer, last, reader;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = ask_add_if(&node, *graph, *graph, 1, &body);
    if (error == cudaSuccess)
        error = ask_add_kernel(&writer, body, (const void *)SYMBOL(nested_writer), &n->args, PART);
    if (error == cudaSuccess)
        error = ask_add_kernel(&last, body, (const void *)SYMBOL(nested_nothing), &n->args, 1);
    if (error == cudaSuccess)
        error = edges_add(body, &writer, &last, &data, 1);
    if (error == cudaSuccess && at == READER_IN_GRAPH)
        error = ask_add_kernel(&reader, *graph, (const void *)SYMBOL(nested_reader), &n->args, PART);
    if (error == cudaSuccess && at == READER_IN_GRAPH && EDGES_KEPT)
        error = add_edge(*graph, node, reader, 0);
    return error == cudaSuccess ? cudaGraphInstantiate(exec, *graph, 0) : error;
}

static cudaError_t launch_ending(struct nested *n, unsigned trial, cudaGraphExec_t exec, enum reader_at at)
{
    cudaStream_t stream = n->ask->stream;
    cudaError_t error = prepare_nested(n, trial);

    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess && at == READER_IN_STREAM)
        error = launch_one((const void *)SYMBOL(nested_reader), &n->args, PART, EDGES_KEPT ? stream : n->ask->side, NULL, 0);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(n->ask->side);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

static void ask_ending(struct nested *n, cudaGraphEdgeData data, enum reader_at at)
{
    struct ask *ask = n->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned trial, stale = 0;
    cudaError_t error = make_ending(n, data, at, &graph, &exec);
    char text[96];

    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        error = launch_ending(n, trial, exec, at);
        stale += error == cudaSuccess && readers_are_stale(n, 1, 0);
    }
    ask_expect(ask, "launches of a graph with such a body", error, cudaSuccess);
    snprintf(text, sizeof(text), "stale after a body, %s, whose kernels have an edge %u,%u,%u", at == READER_IN_GRAPH ? "in its graph" : "in the stream",
             data.from_port, data.to_port, data.type);
    ask_expect_none(ask, text, stale, ask->trials);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
}
#else
static void ask_ending(struct nested *n, cudaGraphEdgeData data, enum reader_at at)
{
    (void)data;
    (void)at;
    ask_skip(n->ask, "conditional nodes", "this toolkit has none");
}
#endif

/* By each of these edges, where the device takes it. */
static void ask_endings(struct ask *ask, const cudaGraphEdgeData *data, unsigned count)
{
    struct nested n = PDL_ZERO;
    unsigned i;

    if (open_nested(&n, ask) != cudaSuccess)
        ask_skip(ask, "memory", "none was given");
    for (i = 0; i < count * READERS_AT && n.args.data; i++)
        ask_ending(&n, data[i / READERS_AT], (enum reader_at)(i % READERS_AT));
    close_nested(&n);
}

static void ask_ends(struct ask *ask)
{
    cudaGraphEdgeData data[2];

    data[0] = edges_data(1, 0, 1);
    data[1] = edges_data(2, 0, 1);
    ask_endings(ask, data, 2);
}

/* What becomes of a launch-completion event that is captured into a body. */
static void ask_ends_begun(struct ask *ask)
{
    cudaGraphEdgeData data;

    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(nested_nothing)), cudaSuccess);
    data = edges_completion();
    ask_endings(ask, &data, 1);
}

#endif
