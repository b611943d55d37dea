/* crowds_shaped_graphs.h - the rows of crowds_shapes.h as graphs: captured, in a child graph, in a body or a loop of a conditional node; renewed. */
#ifndef CROWDS_SHAPED_GRAPHS_H_INCLUDED
#define CROWDS_SHAPED_GRAPHS_H_INCLUDED

static cudaError_t capture_shapes(const struct shapes *s, struct shaped_row *row, cudaGraph_t *graph)
{
    cudaError_t end, error = cudaStreamBeginCapture(row->stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = launch_shapes(s, row);
    end = cudaStreamEndCapture(row->stream, graph);
    return error == cudaSuccess ? end : error;
}

#if CUDART_VERSION >= 12040
/* The body of a conditional node: one that runs, in every other trial because a kernel before it says so, or that of a loop, whose last kernel ends
 * a round. */
static cudaError_t open_shaped_body(const struct shapes *s, cudaGraph_t graph, enum shaped_way way, cudaGraph_t *body, cudaGraphNode_t *last)
{
    int loops = way == SHAPED_IN_LOOP;
    struct shaped_turn turn = { loops ? s->args.state : NULL, 0 };
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    struct cudaKernelNodeParams params;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node, chooses;
    void *values[1];
    cudaError_t error;

    if (!loops && s->trial / 2 % 2)
        return ask_add_if(&node, graph, graph, 1, body);
    error = cudaGraphConditionalHandleCreate(&handle, graph, loops ? 1 : 0, loops ? cudaGraphCondAssignDefault : 0);
    if (error == cudaSuccess)
        error = ask_add_conditional(&node, graph, handle, loops ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf, 1, body);
    if (error != cudaSuccess)
        return error;
    turn.handle = handle;
    values[0] = &turn;
    params = one_block_node((const void *)SYMBOL(crowds_turns), 1, values);
    if (loops)
        return cudaGraphAddKernelNode(last, *body, NULL, 0, &params);
    error = cudaGraphAddKernelNode(&chooses, graph, NULL, 0, &params);
    return error == cudaSuccess ? edges_add(graph, &chooses, &node, &full, 1) : error;
}
#endif

/* Makes the graph the child graph of another one, or of the body of a conditional node there. */
static cudaError_t wrap_shapes(const struct shapes *s, cudaGraph_t *graph, enum shaped_way way)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t last = NULL;
    cudaGraph_t inner = *graph, inside;
    cudaGraphNode_t node;
    cudaError_t error;

    if (way == SHAPED_CAPTURED)
        return cudaSuccess;
    *graph = NULL;
    error = cudaGraphCreate(graph, 0);
    inside = *graph;
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && way >= SHAPED_IN_BODY)
        error = open_shaped_body(s, *graph, way, &inside, &last);
#else
    (void)s;
#endif
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, inside, NULL, 0, inner); /* clones it */
    if (error == cudaSuccess && last)
        error = edges_add(inside, &node, &last, &full, 1);
    (void)cudaGraphDestroy(inner);
    return error;
}

/* Gives the executable graph, or its child graph, what it has. Devices may refuse that; it changes nothing. */
static void renew_shapes(const struct shaped_row *row, cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t child = NULL;
    cudaGraphNode_t node;
    size_t one = 1;

    if (row->way != SHAPED_IN_CHILD)
        (void)cudaGraphExecUpdate(exec, graph, &info);
    else if (cudaGraphGetNodes(graph, &node, &one) == cudaSuccess && cudaGraphChildGraphNodeGetGraph(node, &child) == cudaSuccess)
        (void)cudaGraphExecChildGraphNodeSetParams(exec, node, child);
    (void)cudaGetLastError();
}

/* Captured, and launched twice, in between now and then renewed. */
static cudaError_t run_captured_shapes(struct shapes *s, struct shaped_row *row)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned launch;
    cudaError_t error = capture_shapes(s, row, &graph);

    if (error == cudaSuccess)
        error = wrap_shapes(s, &graph, row->way);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    for (launch = 0; launch < 2 && error == cudaSuccess; launch++) {
        prepare_shapes(s, launch);
        error = cudaGraphLaunch(exec, row->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(row->stream);
        if (error == cudaSuccess)
            look_at_shapes(s, row);
        if (error == cudaSuccess && s->trial % 2)
            renew_shapes(row, exec, graph);
    }
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

#endif
