/* matrix_lossy.h - the pair of matrix.cu with queries without edge data: of a graph, of a node, and of a capturing stream. */
#ifndef MATRIX_LOSSY_H_INCLUDED
#define MATRIX_LOSSY_H_INCLUDED

static void query_without_data(struct ask *ask, cudaGraphEdgeData data, cudaError_t want)
{
    cudaGraphNode_t from[2], to[2];
    struct two two;
    size_t count = 2;

    if (!open_edge(ask, &two, data))
        return;
    ask_expect(ask, "edges of the graph", edges_of_graph(two.graph, from, to, NULL, &count), want);
    if (want == cudaSuccess)
        ask_expect_number(ask, "it is the edge", count == 1 && from[0] == two.from && to[0] == two.to, 1);
    count = 2;
    ask_expect(ask, "edges into the node", edges_into_node(two.to, from, NULL, &count), want);
    if (want == cudaSuccess)
        ask_expect_number(ask, "it comes from the first", count == 1 && from[0] == two.from, 1);
    count = 2;
    ask_expect(ask, "edges out of the node", edges_out_of_node(two.from, to, NULL, &count), want);
    if (want == cudaSuccess)
        ask_expect_number(ask, "it leads to the second", count == 1 && to[0] == two.to, 1);
    (void)cudaGraphDestroy(two.graph);
}

#define FAN 12u
/* Kernels that one, the last node, comes after by edges of these data. */
static int open_fan(struct ask *ask, cudaGraph_t *graph, cudaGraphNode_t *node, const cudaGraphEdgeData *data)
{
    struct kernel_args args = PDL_ZERO;
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    for (i = 0; i <= FAN && error == cudaSuccess; i++)
        error = ask_add_kernel(&node[i], *graph, (const void *)SYMBOL(matrix_nothing), &args, 1);
    for (i = 0; i < FAN && error == cudaSuccess; i++)
        error = edges_add(*graph, &node[i], &node[FAN], &data[i], 1);
    ask_expect(ask, "kernels that one comes after", error, cudaSuccess);
    return error == cudaSuccess;
}

/* The edge at this place is of this data, and the others are full: all edges and those into the one are not told, a full one is. */
static void query_fan(struct ask *ask, cudaGraphEdgeData one, unsigned place)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[FAN + 1], from[FAN], to[FAN];
    cudaGraphEdgeData data[FAN];
    size_t count = FAN;
    unsigned i;

    for (i = 0; i < FAN; i++)
        data[i] = i == place ? one : edges_data(0, 0, 0);
    if (open_fan(ask, &graph, node, data)) {
        ask_expect(ask, "all edges of a fan", edges_of_graph(graph, from, to, NULL, &count), cudaErrorLossyQuery);
        count = FAN;
        ask_expect(ask, "the edges into its end", edges_into_node(node[FAN], from, NULL, &count), cudaErrorLossyQuery);
        count = FAN;
        ask_expect(ask, "a full edge of it", edges_out_of_node(node[(place + 1) % FAN], to, NULL, &count), cudaSuccess);
        ask_expect_number(ask, "a full edge of it", count == 1 && to[0] == node[FAN], 1);
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* A capture into a graph of two kernels, whose stream, or another one that joins it, depends on the first of them, or on both. */
static cudaError_t begin_after(struct ask *ask, cudaGraph_t *graph, cudaGraphNode_t *node, const cudaGraphEdgeData *data, unsigned count, int forked)
{
    struct kernel_args args = PDL_ZERO;
    cudaEvent_t event = NULL;
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = ask_add_kernel(&node[i], *graph, (const void *)SYMBOL(matrix_nothing), &args, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaStreamBeginCaptureToGraph(ask->stream, *graph, forked ? NULL : node, forked ? NULL : data, forked ? 0 : count,
                                              cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess && forked)
        error = record_and_await(event, ask->stream, ask->side);
    if (error == cudaSuccess && forked)
        error = edges_update_capture(ask->side, node, data, count, cudaStreamSetCaptureDependencies);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* Which half-edges a capturing stream depends on, asked without room for their data: one of this port, alone or before a full one. */
static void capture_without_data(struct ask *ask, unsigned port, unsigned full, int forked, cudaError_t want)
{
    cudaStream_t stream = forked ? ask->side : ask->stream;
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    cudaGraph_t graph = NULL, into;
    cudaGraphNode_t node[2];
    cudaGraphEdgeData data[2];
    size_t count = 0;

    data[0] = edges_data(port, 0, port != 0);
    data[1] = edges_data(0, 0, 0);
    if (begin_after(ask, &graph, node, data, 1 + full, forked) != cudaSuccess) {
        ask_skip(ask, "a capturing stream", "could not be made");
        ask_drop_capture(ask->stream);
        return;
    }
    ask_expect(ask, "half-edges of a capture", edges_of_capture(stream, &status, NULL, NULL, &nodes, NULL, &count), want);
    if (want == cudaSuccess)
        ask_expect_number(ask, "it comes after it", status == cudaStreamCaptureStatusActive && count == 1 && nodes && nodes[0] == node[0], 1);
    if (forked)
        (void)edges_update_capture(stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies);
    else
        (void)edges_update_capture(stream, node, &data[1], 1, cudaStreamSetCaptureDependencies);
    (void)cudaStreamEndCapture(ask->stream, &into);
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(graph);
}

static void ask_lossy(struct ask *ask)
{
    unsigned place, port;
    int forked;

    query_without_data(ask, edges_data(0, 0, 0), cudaSuccess);
    query_without_data(ask, edges_data(1, 0, 1), cudaErrorLossyQuery);
    query_without_data(ask, edges_data(2, 0, 1), cudaErrorLossyQuery);
    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(matrix_nothing)), cudaSuccess);
    query_without_data(ask, edges_completion(), cudaErrorLossyQuery);
    for (place = 0; place < FAN; place++)
        query_fan(ask, place % 3 ? edges_data(place % 3, 0, 1) : edges_completion(), place);
    for (forked = 0; forked < 2; forked++) {
        capture_without_data(ask, 0, 0, forked, cudaSuccess);
        for (port = 2; port < 6; port++)
            capture_without_data(ask, port / 2, port % 2, forked, cudaErrorLossyQuery);
    }
}

#endif
