/* cooperative_graphs.h - the part of cooperative.cu that runs its grids in graphs of each kind. */
#ifndef COOPERATIVE_GRAPHS_H_INCLUDED
#define COOPERATIVE_GRAPHS_H_INCLUDED

/* Ends each round of the loop. */
static cudaError_t turn(const struct meeting *m)
{
#if CUDART_VERSION >= 12040
    struct turn args = { m->args.state, m->handle };

    return launch_given((const void *)SYMBOL(cooperative_turns), &args, 1, 1, 0, m->origin, NULL, 0);
#else
    (void)m;
    return cudaErrorNotSupported;
#endif
}

/* Both streams join the capture: into a graph of its own, or into this body. */
static cudaError_t catch_grids(const struct meeting *m, cudaGraph_t body, cudaGraph_t *graph)
{
    cudaError_t error = body ? cudaStreamBeginCaptureToGraph(m->origin, body, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal)
                             : cudaStreamBeginCapture(m->origin, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = record_and_await(m->event, m->origin, m->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(m->stream[1], m->event, 0);
    if (error == cudaSuccess)
        error = launch_grids(m);
    if (error == cudaSuccess)
        error = record_and_await(m->event, m->stream[0], m->origin);
    if (error == cudaSuccess)
        error = record_and_await(m->event, m->stream[1], m->origin);
    if (error == cudaSuccess && m->place == PLACE_LOOP)
        error = turn(m);
    end = cudaStreamEndCapture(m->origin, graph);
    return error == cudaSuccess ? end : error;
}

/* The graph becomes a child graph of another one, which takes its place. */
static cudaError_t wrap_once(cudaGraph_t *graph)
{
    cudaGraph_t child = *graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* A refused update leaves the executable graph as it was. Whether a driver may refuse this one is not asked here. */
static cudaError_t make_executable(const struct meeting *m, cudaGraphExec_t *exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t first = NULL;
    cudaGraph_t other = NULL;
    cudaError_t error = m->place == PLACE_SECOND ? cudaGraphInstantiate(&first, graph, 0) : cudaSuccess;

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (first)
        (void)cudaGraphExecDestroy(first);
    if (error != cudaSuccess || m->place != PLACE_UPDATED)
        return error;
    error = catch_grids(m, NULL, &other);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(*exec, other, &info);
    if (error == cudaErrorGraphExecUpdateFailure) {
        (void)cudaGetLastError();
        error = cudaSuccess;
    }
    if (other)
        (void)cudaGraphDestroy(other);
    return error;
}

/* The node gets the parameters that it has. Whether a driver may refuse them is not asked here. */
static cudaError_t give_anew(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaError_t error = cudaGraphKernelNodeGetParams(node, &params);

    if (error == cudaSuccess && cudaGraphExecKernelNodeSetParams(exec, node, &params) != cudaSuccess)
        (void)cudaGetLastError();
    return error;
}

/* Leaves each kernel of the graph itself out, takes it in again, and gives it parameters. */
static cudaError_t enable_anew(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphNode_t node[2 * GRIDS_MADE + 2];
    enum cudaGraphNodeType type;
    size_t count = sizeof(node) / sizeof(node[0]), i;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    for (i = 0; i < count && error == cudaSuccess; i++) {
        error = cudaGraphNodeGetType(node[i], &type);
        if (error != cudaSuccess || type != cudaGraphNodeTypeKernel)
            continue;
        error = cudaGraphNodeSetEnabled(exec, node[i], 0);
        if (error == cudaSuccess)
            error = cudaGraphNodeSetEnabled(exec, node[i], 1);
        if (error == cudaSuccess)
            error = give_anew(exec, node[i]);
    }
    return error;
}

/* Only what the last launch counts is asked about. */
static cudaError_t run_graph(const struct meeting *m, cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    int launch;
    cudaError_t error = make_executable(m, &exec, graph);

    for (launch = 0; launch < 1 + m->again && error == cudaSuccess; launch++) {
        error = clear_memory(m->args.state, GRIDS * sizeof(struct trial_state));
        if (error == cudaSuccess && launch)
            error = enable_anew(exec, graph);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(exec, m->origin);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(m->origin);
    }
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

#define DRESSED_ANEW 7u

/* Gives the grids' nodes attributes that they have, unless the device has no such ones, and a carve-out by which no fewer blocks have room. They stay
 * cooperative. */
static cudaError_t dress_anew(cudaGraph_t graph)
{
    static const cudaLaunchAttributeID ids[DRESSED_ANEW] = {
        cudaLaunchAttributePriority, cudaLaunchAttributeMemSyncDomain, cudaLaunchAttributeAccessPolicyWindow,
        cudaLaunchAttributeClusterSchedulingPolicyPreference, cudaLaunchAttributeMemSyncDomainMap, cudaLaunchAttributeClusterDimension,
        (cudaLaunchAttributeID)14 /* the carve-out, which older toolkits do not name */
    };
    cudaGraphNode_t node[2 * GRIDS_MADE + 2];
    cudaLaunchAttributeValue value;
    enum cudaGraphNodeType type;
    size_t count = sizeof(node) / sizeof(node[0]), i, k;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    for (i = 0; i < DRESSED_ANEW * count && error == cudaSuccess; i++) {
        k = i / DRESSED_ANEW;
        error = cudaGraphNodeGetType(node[k], &type);
        if (error != cudaSuccess || type != cudaGraphNodeTypeKernel)
            continue;
        error = cudaGraphKernelNodeGetAttribute(node[k], ids[i % DRESSED_ANEW], &value);
        if (i % DRESSED_ANEW + 1 == DRESSED_ANEW)
            value = whole_carveout().val;
        if (error == cudaSuccess && (ids[i % DRESSED_ANEW] != cudaLaunchAttributeClusterDimension || value.clusterDim.x > 1))
            error = cudaGraphKernelNodeSetAttribute(node[k], ids[i % DRESSED_ANEW], &value);
        if (i % DRESSED_ANEW > 1 && is_unoffered(error)) {
            (void)cudaGetLastError();
            error = cudaSuccess;
        }
    }
    return error;
}

#if CUDART_VERSION >= 12040
/* A body that runs because the kernel before it says so. */
static cudaError_t open_chosen(const struct meeting *m, cudaGraph_t graph, cudaGraph_t *body)
{
    struct turn args = { m->args.state, 0 };
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(cooperative_chooses), 1, values);
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t chooses, node;
    cudaError_t error = ask_add_chosen(&node, graph, graph, &handle, cudaGraphCondTypeIf, 1, body);

    if (error != cudaSuccess)
        return error;
    args.handle = handle;
    values[0] = &args;
    error = cudaGraphAddKernelNode(&chooses, graph, NULL, 0, &params);
    return error == cudaSuccess ? edges_add(graph, &chooses, &node, &full, 1) : error;
}

static cudaError_t open_body(struct meeting *m, cudaGraph_t graph, cudaGraph_t *body)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    cudaError_t error;

    if (m->place == PLACE_BODY && m->again)
        return open_chosen(m, graph, body);
    if (m->place == PLACE_BODY)
        return ask_add_if(&node, graph, graph, 1, body);
    error = ask_add_loop(&node, graph, &handle, body);
    if (error == cudaSuccess)
        m->handle = handle;
    return error;
}
#endif

static cudaError_t run_grids(struct meeting *m)
{
    cudaGraph_t graph = NULL, body = NULL, same = NULL;
    enum place place = m->place;
    cudaError_t error = cudaSuccess;

    if (place == PLACE_STREAMS)
        return launch_grids(m);
#if CUDART_VERSION >= 12040
    if (place == PLACE_BODY || place == PLACE_LOOP) {
        error = cudaGraphCreate(&graph, 0);
        if (error == cudaSuccess)
            error = open_body(m, graph, &body);
    }
#endif
    if (error == cudaSuccess)
        error = catch_grids(m, body, body ? &same : &graph);
    if (error == cudaSuccess && !body && !m->again)
        error = dress_anew(graph);
    if (error == cudaSuccess && place == PLACE_NESTED)
        error = wrap_once(&graph);
    if (error == cudaSuccess && place == PLACE_NESTED)
        error = wrap_once(&graph);
    if (error == cudaSuccess && place == PLACE_CLONE && m->again)
        error = wrap_once(&graph);
    if (error == cudaSuccess && place == PLACE_CLONE)
        error = ask_clone_instead(&graph, NULL);
    if (error == cudaSuccess)
        error = run_graph(m, graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

#endif
