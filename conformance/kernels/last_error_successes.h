/* last_error_successes.h - what last_error.cu calls so that it succeeds: whatever the kit calls, each by itself. */
#ifndef LAST_ERROR_SUCCESSES_H_INCLUDED
#define LAST_ERROR_SUCCESSES_H_INCLUDED

/* What these calls name. */
struct calls {
    struct ask *ask;
    struct kernel_args args;
    cudaEvent_t event, timed;  /* the second one with timing, and complete */
    cudaGraphExec_t exec;      /* of one empty node */
    cudaStream_t blocking;
    cudaGraph_t graph;
    cudaGraph_t pair;          /* two kernels, and an edge */
    cudaGraphNode_t node[2];
    cudaGraphExec_t of_pair;
    void *pinned;
};

static const void *counting(void) { return (const void *)SYMBOL(last_error_count); }

/* ---- launches, copies and memsets ---- */

static cudaError_t launch(const struct calls *c) { return launch_one(counting(), &c->args, 1, c->ask->stream, NULL, 0); }

static cudaError_t launch_attributed(const struct calls *c)
{
    cudaLaunchAttribute attribute = serialization(1);

    return launch_one(counting(), &c->args, 1, c->ask->stream, &attribute, 1);
}

static cudaError_t launch_plainly(const struct calls *c)
{
    struct kernel_args args = c->args;
    void *values[1];
    dim3 one = PDL_ZERO;

    one.x = one.y = one.z = 1;
    values[0] = &args;
    return cudaLaunchKernel(counting(), one, one, values, 0, c->ask->stream);
}

static cudaError_t copy_here(const struct calls *c)
{
    return cudaMemcpyAsync(c->args.state, (char *)c->args.state + 8, 4, cudaMemcpyDeviceToDevice, c->ask->stream);
}

static cudaError_t copy_out(const struct calls *c)
{
    struct trial_state state;

    return cudaMemcpy(&state, c->args.state, sizeof(state), cudaMemcpyDeviceToHost);
}

static cudaError_t copy_two_rows(const struct calls *c)
{
    return cudaMemcpy2DAsync(c->args.state, 8, (char *)c->args.state + 16, 8, 4, 2, cudaMemcpyDeviceToDevice, c->ask->stream);
}

static cudaError_t set_words(const struct calls *c) { return cudaMemsetAsync(c->args.state, 0, sizeof(struct trial_state), c->ask->stream); }
static cudaError_t set_rows(const struct calls *c) { return cudaMemset2DAsync(c->args.state, 8, 0, 4, 2, c->ask->stream); }
static cudaError_t set_at_once(const struct calls *c) { return cudaMemset(c->args.state, 0, 4); }
static cudaError_t call_host(const struct calls *c) { return cudaLaunchHostFunc(c->ask->stream, ask_host_nothing, NULL); }

/* ---- memory ---- */

static cudaError_t free_memory(const struct calls *c)
{
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, 64);

    (void)c;
    return error == cudaSuccess ? cudaFree(memory) : error;
}
static cudaError_t free_nothing(const struct calls *c) { (void)c; return cudaFree(NULL); }

static cudaError_t pin_memory(const struct calls *c)
{
    void *memory = NULL;
    cudaError_t error = cudaMallocHost(&memory, 64);

    (void)c;
    return error == cudaSuccess ? cudaFreeHost(memory) : error;
}

static cudaError_t ask_memory(const struct calls *c)
{
    size_t left, total;

    (void)c;
    return cudaMemGetInfo(&left, &total);
}

static cudaError_t map_memory(const struct calls *c)
{
    void *there;

    return cudaHostGetDevicePointer(&there, c->pinned, 0);
}

/* ---- events and streams ---- */

static cudaError_t record_event(const struct calls *c) { return cudaEventRecord(c->event, c->ask->stream); }
static cudaError_t record_flagged(const struct calls *c) { return cudaEventRecordWithFlags(c->event, c->ask->stream, 0); }
static cudaError_t await_event(const struct calls *c) { return cudaStreamWaitEvent(c->ask->stream, c->event, 0); }
static cudaError_t end_stream(const struct calls *c) { return cudaStreamSynchronize(c->ask->stream); }
static cudaError_t end_device(const struct calls *c) { (void)c; return cudaDeviceSynchronize(); }
static cudaError_t end_event(const struct calls *c) { return cudaEventSynchronize(c->event); }

/* Of what has just ended. */
static cudaError_t query_stream(const struct calls *c) { return end_stream(c) == cudaSuccess ? cudaStreamQuery(c->ask->stream) : cudaSuccess; }
static cudaError_t query_event(const struct calls *c) { return end_event(c) == cudaSuccess ? cudaEventQuery(c->event) : cudaSuccess; }

static cudaError_t time_events(const struct calls *c)
{
    float ms;

    return cudaEventElapsedTime(&ms, c->timed, c->timed);
}

static cudaError_t make_stream(const struct calls *c)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreate(&stream);

    (void)c;
    return error == cudaSuccess ? cudaStreamDestroy(stream) : error;
}

static cudaError_t make_urgent_stream(const struct calls *c)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1);

    (void)c;
    return error == cudaSuccess ? cudaStreamDestroy(stream) : error;
}

static cudaError_t make_event(const struct calls *c)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreate(&event);

    (void)c;
    return error == cudaSuccess ? cudaEventDestroy(event) : error;
}

static cudaError_t ask_flags_of_stream(const struct calls *c)
{
    unsigned flags;

    return cudaStreamGetFlags(c->ask->stream, &flags);
}

static cudaError_t ask_priority(const struct calls *c)
{
    int priority;

    return cudaStreamGetPriority(c->ask->stream, &priority);
}

static cudaError_t give_policy(const struct calls *c)
{
    cudaLaunchAttributeValue value = PDL_ZERO;

    value.syncPolicy = cudaSyncPolicyAuto;
    return cudaStreamSetAttribute(c->blocking, cudaLaunchAttributeSynchronizationPolicy, &value);
}

static cudaError_t ask_policy(const struct calls *c)
{
    cudaLaunchAttributeValue value;

    return cudaStreamGetAttribute(c->ask->stream, cudaLaunchAttributeSynchronizationPolicy, &value);
}

static cudaError_t lend_attributes(const struct calls *c) { return cudaStreamCopyAttributes(c->blocking, c->ask->stream); }

static cudaError_t ask_capturing(const struct calls *c)
{
    enum cudaStreamCaptureStatus status;

    return cudaStreamIsCapturing(c->ask->stream, &status);
}

/* Such a capture ends after the error was looked at. The calls of other captures circumstances.h surrounds by some that reset it. */
static cudaError_t begin_in_graph(const struct calls *c)
{
    return cudaStreamBeginCaptureToGraph(c->ask->side, c->graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal);
}

static cudaError_t exchange_mode(const struct calls *c)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode);

    (void)c;
    return error == cudaSuccess ? cudaThreadExchangeStreamCaptureMode(&mode) : error;
}

/* ---- graphs ---- */

static struct cudaKernelNodeParams params_of_one(struct kernel_args *args, void **values)
{
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(last_error_count), 1, values);

    values[0] = args;
    return params;
}

static cudaError_t launch_graph(const struct calls *c) { return cudaGraphLaunch(c->exec, c->ask->stream); }
static cudaError_t upload_graph(const struct calls *c) { return cudaGraphUpload(c->exec, c->ask->stream); }

static cudaError_t make_exec(const struct calls *c)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphInstantiateWithFlags(&exec, c->graph, 0);

    return error == cudaSuccess ? cudaGraphExecDestroy(exec) : error;
}

static cudaError_t update_exec(const struct calls *c)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;

    return cudaGraphExecUpdate(c->of_pair, c->pair, &info);
}

static cudaError_t make_clone(const struct calls *c)
{
    cudaGraph_t clone = NULL;
    cudaError_t error = cudaGraphClone(&clone, c->pair);

    return error == cudaSuccess ? cudaGraphDestroy(clone) : error;
}

static cudaError_t make_node(const struct calls *c)
{
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphAddEmptyNode(&node, c->graph, NULL, 0);

    return error == cudaSuccess ? cudaGraphDestroyNode(node) : error;
}

static cudaError_t count_nodes(const struct calls *c)
{
    size_t nodes;
    cudaError_t error = cudaGraphGetNodes(c->pair, NULL, &nodes);

    return error == cudaSuccess ? cudaGraphGetRootNodes(c->pair, NULL, &nodes) : error;
}

static cudaError_t count_edges(const struct calls *c)
{
    size_t edges;
    cudaError_t error = edges_of_graph(c->pair, NULL, NULL, NULL, &edges);

    if (error == cudaSuccess)
        error = edges_into_node(c->node[1], NULL, NULL, &edges);
    return error == cudaSuccess ? edges_out_of_node(c->node[0], NULL, NULL, &edges) : error;
}

static cudaError_t renew_edge(const struct calls *c)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = edges_remove(c->pair, &c->node[0], &c->node[1], &full, 1);

    return error == cudaSuccess ? edges_add(c->pair, &c->node[0], &c->node[1], &full, 1) : error;
}

static cudaError_t ask_type(const struct calls *c)
{
    enum cudaGraphNodeType type;

    return cudaGraphNodeGetType(c->node[0], &type);
}

static cudaError_t ask_params(const struct calls *c)
{
    struct cudaKernelNodeParams params;

    return cudaGraphKernelNodeGetParams(c->node[0], &params);
}

static cudaError_t give_params(const struct calls *c)
{
    struct kernel_args args = c->args;
    void *values[1];
    struct cudaKernelNodeParams params = params_of_one(&args, values);

    return cudaGraphKernelNodeSetParams(c->node[0], &params);
}

static cudaError_t give_exec_params(const struct calls *c)
{
    struct kernel_args args = c->args;
    void *values[1];
    struct cudaKernelNodeParams params = params_of_one(&args, values);

    return cudaGraphExecKernelNodeSetParams(c->of_pair, c->node[0], &params);
}

static cudaError_t give_priority(const struct calls *c)
{
    cudaLaunchAttributeValue value = PDL_ZERO;

    return cudaGraphKernelNodeSetAttribute(c->node[0], cudaLaunchAttributePriority, &value);
}

static cudaError_t ask_node_priority(const struct calls *c)
{
    cudaLaunchAttributeValue value;

    return cudaGraphKernelNodeGetAttribute(c->node[0], cudaLaunchAttributePriority, &value);
}

static cudaError_t lend_node_attributes(const struct calls *c) { return cudaGraphKernelNodeCopyAttributes(c->node[1], c->node[0]); }

static cudaError_t enable_node(const struct calls *c)
{
    unsigned enabled = 0;
    cudaError_t error = cudaGraphNodeSetEnabled(c->of_pair, c->node[0], 1);

    return error == cudaSuccess ? cudaGraphNodeGetEnabled(c->of_pair, c->node[0], &enabled) : error;
}

static cudaError_t ask_exec_flags(const struct calls *c)
{
    unsigned long long flags;

    return cudaGraphExecGetFlags(c->of_pair, &flags);
}

/* ---- functions and devices ---- */

static cudaError_t ask_function(const struct calls *c)
{
    struct cudaFuncAttributes attributes;

    (void)c;
    return cudaFuncGetAttributes(&attributes, counting());
}

static cudaError_t give_carveout(const struct calls *c)
{
    (void)c;
    return cudaFuncSetAttribute(counting(), cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutDefault);
}

static cudaError_t ask_fit(const struct calls *c)
{
    int blocks;

    (void)c;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, counting(), 32, 0);
}

static cudaError_t find_function(const struct calls *c)
{
    cudaFunction_t function;

    (void)c;
    return cudaGetFuncBySymbol(&function, counting());
}

static cudaError_t ask_device(const struct calls *c)
{
    int device;

    (void)c;
    return cudaGetDevice(&device);
}

static cudaError_t ask_attribute(const struct calls *c)
{
    int device, value;
    cudaError_t error = cudaGetDevice(&device);

    (void)c;
    return error == cudaSuccess ? cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device) : error;
}

static cudaError_t ask_versions(const struct calls *c)
{
    int version;
    cudaError_t error = cudaRuntimeGetVersion(&version);

    (void)c;
    return error == cudaSuccess ? cudaDriverGetVersion(&version) : error;
}

static cudaError_t ask_priorities(const struct calls *c)
{
    int least, greatest;

    (void)c;
    return cudaDeviceGetStreamPriorityRange(&least, &greatest);
}

static const struct {
    const char *what;
    cudaError_t (*call)(const struct calls *c);
} successes[] = {
    { "a launch", launch }, { "a launch with the attribute", launch_attributed }, { "a launch without a configuration", launch_plainly },
    { "a memset", set_words }, { "a memset of rows", set_rows }, { "a memset at once", set_at_once }, { "a copy in a stream", copy_here },
    { "a copy of rows", copy_two_rows }, { "a copy to the host", copy_out }, { "a host function", call_host },
    { "new memory, and its end", free_memory }, { "the end of no memory", free_nothing }, { "new memory of the host, and its end", pin_memory },
    { "how much memory is left", ask_memory }, { "where the host's memory is for the device", map_memory },
    { "a record of an event", record_event }, { "a record with flags", record_flagged }, { "a wait for an event", await_event },
    { "the end of a stream", end_stream }, { "the end of the device's work", end_device }, { "the end of an event", end_event },
    { "a query of a stream", query_stream }, { "a query of an event", query_event }, { "the time between events", time_events },
    { "a new stream, and its end", make_stream }, { "a new urgent stream, and its end", make_urgent_stream },
    { "a new event, and its end", make_event }, { "the flags of a stream", ask_flags_of_stream }, { "the priority of a stream", ask_priority },
    { "an attribute of a stream", give_policy }, { "the attribute of a stream", ask_policy },
    { "the attributes of another stream", lend_attributes },
    { "whether a stream captures", ask_capturing }, { "a capture into a graph", begin_in_graph },
    { "another mode of captures, and the old one", exchange_mode },
    { "a launch of a graph", launch_graph }, { "an upload of a graph", upload_graph }, { "a graph that is made executable", make_exec },
    { "an update of an executable graph", update_exec }, { "a clone, and its end", make_clone }, { "a new node, and its end", make_node },
    { "the number of nodes", count_nodes }, { "the number of edges", count_edges }, { "an edge that goes and comes again", renew_edge },
    { "the kind of a node", ask_type }, { "the parameters of a node", ask_params }, { "parameters for a node", give_params },
    { "parameters for a node of an executable graph", give_exec_params }, { "an attribute for a node", give_priority },
    { "the attribute of a node", ask_node_priority }, { "the attributes of another node", lend_node_attributes },
    { "a node that is enabled", enable_node }, { "the flags of an executable graph", ask_exec_flags },
    { "the attributes of a function", ask_function }, { "an attribute for a function", give_carveout }, { "how many blocks fit", ask_fit },
    { "the driver's name for a function", find_function }, { "a number of the device", ask_device },
    { "an attribute of the device", ask_attribute }, { "the versions", ask_versions }, { "the range of priorities", ask_priorities },
};
#define SUCCESSES (sizeof(successes) / sizeof(successes[0]))

#endif
