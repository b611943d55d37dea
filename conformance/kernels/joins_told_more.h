/* joins_told_more.h - more of what the host asks, makes or queues elsewhere in the pair told of joins.cu: in each row the calls of one kind that
 * joins_told.h does not make. */
#ifndef JOINS_TOLD_MORE_H_INCLUDED
#define JOINS_TOLD_MORE_H_INCLUDED

/* ---- questions ---- */

static cudaError_t tell_versions(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    int device = 0, count, version, least, greatest;
    char bus[32];
    cudaError_t error = cudaGetDeviceCount(&count);

    (void)joins, (void)stream, (void)event;
    if (error == cudaSuccess)
        error = cudaRuntimeGetVersion(&version);
    if (error == cudaSuccess)
        error = cudaDriverGetVersion(&version);
    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetPCIBusId(bus, sizeof(bus), device);
    return error == cudaSuccess ? cudaDeviceGetStreamPriorityRange(&least, &greatest) : error;
}

static cudaError_t tell_properties(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct cudaDeviceProp properties;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    (void)joins, (void)stream, (void)event;
    return error == cudaSuccess ? cudaGetDeviceProperties(&properties, device) : error;
}

static cudaError_t tell_function(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    const void *kernel = (const void *)SYMBOL(AWAITING_FOLLOWER);
    cudaLaunchAttribute attribute = in_clusters(2);
    cudaLaunchConfig_t config = one_block(PLACE_WORDS, NULL);
    cudaFunction_t function = NULL;
    int fit;
    cudaError_t error = cudaGetFuncBySymbol(&function, kernel);

    (void)joins, (void)stream, (void)event;
#if CUDART_VERSION >= 12030
    const char *name;
    if (error == cudaSuccess)
        error = cudaFuncGetName(&name, kernel);
#endif
    config.gridDim.x = 2;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&fit, kernel, PLACE_WORDS, 0, cudaOccupancyDefault);
    return error == cudaSuccess ? whatever(cudaOccupancyMaxActiveClusters(&fit, kernel, &config)) : error;
}

static cudaError_t tell_attributes(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureStatus status;
    cudaLaunchAttributeValue value;
    cudaError_t error = cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);

    (void)joins, (void)event;
    return error == cudaSuccess ? edges_of_capture(stream, &status, NULL, NULL, NULL, NULL, NULL) : error;
}

static cudaError_t tell_id(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    unsigned long long id;

    (void)joins, (void)event;
    return cudaStreamGetId(stream, &id);
}

/* How much the device's pool, and its graphs, have of its memory. */
static cudaError_t tell_pools(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cuuint64_t bytes = 0;
    cudaMemPool_t pool;
    int device = 0;
    cudaError_t error = pools_lack() ? cudaSuccess : cudaGetDevice(&device);

    (void)joins, (void)stream, (void)event;
    if (error != cudaSuccess || pools_lack())
        return error;
    error = cudaDeviceGetDefaultMemPool(&pool, device);
    if (error == cudaSuccess)
        error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes);
    return error == cudaSuccess ? cudaDeviceGetGraphMemAttribute(device, cudaGraphMemAttrUsedMemCurrent, &bytes) : error;
}

/* ---- what the host makes for nobody ---- */

static cudaError_t add_urgent_stream(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaStream_t made = NULL;
    cudaError_t error = open_kind(STREAM_URGENT, &made);

    (void)joins, (void)stream, (void)event;
    close_kind(&made);
    return error;
}

/* What was never allocated is freed; and memory by the older call, which is freed once the trial has ended. */
static cudaError_t add_older_pinned(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    void *seen;
    cudaError_t error = cudaFree(NULL);

    (void)stream, (void)event;
    if (error == cudaSuccess)
        error = cudaFreeHost(NULL);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer(&seen, joins->pinned, 0);
    return error == cudaSuccess && !joins->made_pinned ? cudaMallocHost(&joins->made_pinned, ALL_WORDS * sizeof(uint32_t)) : error;
}

/* A node of each kind, each after the one before it. */
static cudaError_t add_each_node(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t node[NODE_KINDS])
{
    struct node_room room = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned kind;

    room.function = (const void *)SYMBOL(joins_silent);
    room.words = joins->aside;
    room.event = joins->passed;
    for (kind = 0; kind < NODE_KINDS && error == cudaSuccess; kind++)
        error = ask_add_after(&node[kind], graph, kind ? &node[kind - 1] : NULL, kind != 0, (enum node_kind)kind, &room);
    return error;
}

typedef cudaError_t (*nodes_call)(struct joins *, cudaGraph_t, cudaGraphNode_t[NODE_KINDS]);

/* A graph of these, and what is called on it. */
static cudaError_t call_on_nodes(struct joins *joins, nodes_call call)
{
    cudaGraphNode_t node[NODE_KINDS];
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = add_each_node(joins, graph, node);
    if (error == cudaSuccess)
        error = call(joins, graph, node);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Nodes tell what they have, and are given it once more. */
static cudaError_t give_what_they_have(struct joins *joins, cudaGraphNode_t node[NODE_KINDS])
{
    void *values[1];
    struct cudaKernelNodeParams kernel = one_block_node((const void *)SYMBOL(joins_silent), 1, values);
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    cudaEvent_t recorded, awaited;
    cudaError_t error;

    values[0] = &joins->work[0];
    error = cudaGraphKernelNodeSetParams(node[NODE_KERNEL], &kernel);
    if (error == cudaSuccess)
        error = cudaGraphMemsetNodeGetParams(node[NODE_MEMSET], &set);
    if (error == cudaSuccess)
        error = cudaGraphMemsetNodeSetParams(node[NODE_MEMSET], &set);
    if (error == cudaSuccess)
        error = cudaGraphHostNodeGetParams(node[NODE_HOST], &host);
    if (error == cudaSuccess)
        error = cudaGraphHostNodeSetParams(node[NODE_HOST], &host);
    if (error == cudaSuccess)
        error = cudaGraphEventRecordNodeGetEvent(node[NODE_RECORD], &recorded);
    if (error == cudaSuccess)
        error = cudaGraphEventRecordNodeSetEvent(node[NODE_RECORD], recorded);
    if (error == cudaSuccess)
        error = cudaGraphEventWaitNodeGetEvent(node[NODE_WAIT], &awaited);
    return error == cudaSuccess ? cudaGraphEventWaitNodeSetEvent(node[NODE_WAIT], awaited) : error;
}

/* What a node stands beside, or for. */
static cudaError_t tell_neighbours(cudaGraph_t clone, cudaGraphNode_t node[NODE_KINDS])
{
    cudaLaunchAttributeValue value;
    cudaGraphNode_t cloned;
    cudaGraph_t child;
    size_t edges;
    cudaError_t error = edges_into_node(node[1], NULL, NULL, &edges);

    if (error == cudaSuccess)
        error = edges_out_of_node(node[1], NULL, NULL, &edges);
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeGetAttribute(node[NODE_KERNEL], cudaLaunchAttributePriority, &value);
    if (error == cudaSuccess)
        error = cudaGraphChildGraphNodeGetGraph(node[NODE_CHILD], &child);
    return error == cudaSuccess ? cudaGraphNodeFindInClone(&cloned, node[1], clone) : error;
}

/* An edge goes and comes back, the graph and its nodes tell what they have, it is cloned, and loses a node. */
static cudaError_t handle_graph(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t node[NODE_KINDS])
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    enum cudaGraphNodeType type;
    cudaGraph_t clone = NULL;
    size_t nodes, edges;
    cudaError_t error = edges_remove(graph, &node[0], &node[1], &full, 1);

    if (error == cudaSuccess)
        error = edges_add(graph, &node[0], &node[1], &full, 1);
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(graph, NULL, &nodes);
    if (error == cudaSuccess)
        error = cudaGraphGetRootNodes(graph, NULL, &nodes);
    if (error == cudaSuccess)
        error = edges_of_graph(graph, NULL, NULL, NULL, &edges);
    if (error == cudaSuccess)
        error = cudaGraphNodeGetType(node[0], &type);
    if (error == cudaSuccess)
        error = cudaGraphClone(&clone, graph);
    if (error == cudaSuccess)
        error = tell_neighbours(clone, node);
    if (error == cudaSuccess)
        error = give_what_they_have(joins, node);
    if (clone)
        (void)cudaGraphDestroy(clone);
    return error == cudaSuccess ? cudaGraphDestroyNode(node[NODE_KINDS - 1]) : error;
}

/* Another graph is printed, to nowhere. */
static cudaError_t print_to_nowhere(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t node[NODE_KINDS])
{
    (void)joins, (void)node;
    return cudaGraphDebugDotPrint(graph, "/dev/null", cudaGraphDebugDotFlagsVerbose);
}

static cudaError_t print_nodes(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return call_on_nodes(joins, print_to_nowhere);
}

static cudaError_t add_nodes(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return call_on_nodes(joins, handle_graph);
}

/* Nodes of another executable graph are given the parameters that they have. A copy that was made one of layers takes none of these. */
static cudaError_t give_again(struct joins *joins, cudaGraphExec_t exec, cudaGraphNode_t node[NODE_KINDS])
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    cudaLaunchAttributeValue value = of_priority(0).val;
    unsigned long long flags;
    unsigned enabled;
    cudaError_t error = cudaGraphKernelNodeGetParams(node[NODE_KERNEL], &kernel);

    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetAttribute(node[NODE_KERNEL], cudaLaunchAttributePriority, &value);
    if (error == cudaSuccess)
        error = cudaGraphMemsetNodeGetParams(node[NODE_MEMSET], &set);
    if (error == cudaSuccess)
        error = cudaGraphExecMemsetNodeSetParams(exec, node[NODE_MEMSET], &set);
    if (error == cudaSuccess)
        error = whatever(cudaGraphExecMemcpyNodeSetParams1D(exec, node[NODE_MEMCPY], joins->aside + 8, joins->aside, 16, cudaMemcpyDeviceToDevice));
    if (error == cudaSuccess)
        error = cudaGraphHostNodeGetParams(node[NODE_HOST], &host);
    if (error == cudaSuccess)
        error = cudaGraphExecHostNodeSetParams(exec, node[NODE_HOST], &host);
    if (error == cudaSuccess)
        error = cudaGraphExecEventRecordNodeSetEvent(exec, node[NODE_RECORD], joins->passed);
    if (error == cudaSuccess)
        error = cudaGraphExecEventWaitNodeSetEvent(exec, node[NODE_WAIT], joins->passed);
    if (error == cudaSuccess)
        error = cudaGraphNodeGetEnabled(exec, node[NODE_MEMSET], &enabled);
    return error == cudaSuccess ? cudaGraphExecGetFlags(exec, &flags) : error;
}

static cudaError_t change_executable_nodes(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t node[NODE_KINDS])
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphInstantiateWithFlags(&exec, graph, 0);

    if (error == cudaSuccess)
        error = give_again(joins, exec, node);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t change_nodes(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return call_on_nodes(joins, change_executable_nodes);
}

static cudaError_t add_condition(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = cudaSuccess;
#if CUDART_VERSION >= 12040
    cudaGraphNode_t node;
    cudaGraph_t graph, body;

    if (has_conditions())
        error = cudaGraphCreate(&graph, 0);
    if (has_conditions() && error == cudaSuccess) {
        error = ask_add_if(&node, graph, graph, 0, &body);
        (void)cudaGraphDestroy(graph);
    }
#endif
    (void)joins, (void)stream, (void)event;
    return error;
}

/* ---- elsewhere ---- */

static cudaError_t pool_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    void *memory = NULL;
    cudaError_t error = pools_lack() ? cudaSuccess : cudaMallocAsync(&memory, PLACE_WORDS, elsewhere(joins));

    (void)stream, (void)event;
    return memory ? cudaFreeAsync(memory, elsewhere(joins)) : error;
}

static cudaError_t move_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct cudaMemcpy3DParms layers = layers_of_words(joins->aside, joins->aside + 2 * PLACE_WORDS);
    cudaError_t error = cudaMemcpy3DAsync(&layers, elsewhere(joins));

    (void)stream, (void)event;
    if (error == cudaSuccess)
        error = cudaMemcpy2DAsync(joins->aside, 8, joins->aside + 2 * PLACE_WORDS, 8, 4, 2, cudaMemcpyDefault, elsewhere(joins));
    return error == cudaSuccess ? cudaMemset2DAsync(joins->aside, 8, 0, 4, 2, elsewhere(joins)) : error;
}

static cudaError_t cooperate_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct kernel_args copy = joins->work[0];
    void *params[1];
    dim3 one;

    (void)stream, (void)event;
    params[0] = &copy;
    one.x = one.y = one.z = 1;
    return cudaLaunchCooperativeKernel((const void *)SYMBOL(joins_silent), one, one, params, 0, elsewhere(joins));
}

/* No stream that anything is asked of blocks: the legacy one, which has these, waits for none. */
static cudaError_t move_at_once(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    uint32_t word = 0;
    cudaError_t error = cudaMemcpy(joins->aside, &word, sizeof(word), cudaMemcpyHostToDevice);

    (void)stream, (void)event;
    return error == cudaSuccess ? cudaMemset(joins->aside, 0, sizeof(word)) : error;
}

#endif
