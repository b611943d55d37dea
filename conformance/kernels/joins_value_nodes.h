/* joins_value_nodes.h - the pair of joins.cu with nodes that write a value or wait for one, captured or built: they order as in streams. */
#ifndef JOINS_VALUE_NODES_H_INCLUDED
#define JOINS_VALUE_NODES_H_INCLUDED

#define VALUE_NODE_WAYS 8u

/* Ends the capture and launches what it holds; captured: what the calls in it gave. The executable graph is for the caller to destroy once it
 * has ended. */
static cudaError_t launch_captured(cudaStream_t stream, cudaError_t captured, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);

    error = captured == cudaSuccess ? error : captured;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(*exec, stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* If it cannot begin, launch_captured() has none to end, and says what this gave. */
static cudaError_t begin_with_work(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    return error == cudaSuccess ? work(joins, 0, stream) : error;
}

/* In a batch with a wait for a value that is there; or alone. */
static cudaError_t work_and_captured_value(struct joins *joins, int batch, cudaGraphExec_t *exec)
{
    CUstreamBatchMemOpParams operation[2];
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = begin_with_work(joins, stream);

    operation[0] = value_operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ);
    operation[1] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, value_at(joins), value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = batch ? queue_batch(stream, operation, 2) : write_alone(joins, stream, value_at(joins));
    return launch_captured(stream, error, exec);
}

/* The capture's follower: a dependent that waits, or a plain one. */
static cudaError_t follow_captured(struct joins *joins, cudaStream_t stream)
{
    return follow_or_depend(joins, stream, joins->round % 2 != 0);
}

static cudaError_t launch_captured_wait(struct joins *joins, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = await_value(joins, stream);
    if (error == cudaSuccess)
        error = follow_captured(joins, stream);
    return launch_captured(stream, error, exec);
}

static cudaError_t end_captured(cudaError_t error, cudaGraphExec_t first, cudaGraphExec_t second)
{
    cudaError_t end = cudaDeviceSynchronize();

    if (first)
        (void)cudaGraphExecDestroy(first);
    if (second)
        (void)cudaGraphExecDestroy(second);
    return error == cudaSuccess ? end : error;
}

/* Both graphs, when their first launches have ended and the value is again what it was: it is written anew, and waited for anew. */
static cudaError_t launch_both_again(struct joins *joins, cudaGraphExec_t writes, cudaGraphExec_t waits)
{
    cudaError_t error = cudaDeviceSynchronize();

    joins->pinned->host_is_stale |= is_stale(joins);
    joins->pinned->state.alive = 0;
    joins->pinned->plan[0].key += PLACES; /* the work's words are others now */
    joins->pinned->words[VALUE_WORD] = value_step(joins)->before;
    if (error == cudaSuccess)
        error = put_words(joins->aside, &value_step(joins)->before, 1);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(writes, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(waits, joins->stream[1]);
    return end_wait(joins, joins->stream[1], error);
}

/* Another stream waits for the value of a graph, or a second graph in that stream does. */
static cudaError_t captured_awaited(struct joins *joins, int batch, int by_graph)
{
    cudaGraphExec_t writes = NULL, waits = NULL;
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = work_and_captured_value(joins, batch, &writes);

    if (error == cudaSuccess && by_graph)
        error = launch_captured_wait(joins, stream, &waits);
    else if (error == cudaSuccess)
        error = await_value(joins, stream);
    if (error == cudaSuccess && !by_graph)
        error = follow_value(joins, stream);
    if (error == cudaSuccess && by_graph)
        error = launch_both_again(joins, writes, waits);
    return end_captured(error, writes, waits);
}

static cudaError_t captured_value(struct joins *joins) { return captured_awaited(joins, 0, 0); }
static cudaError_t captured_batch(struct joins *joins) { return captured_awaited(joins, 1, 0); }
static cudaError_t captured_in_two(struct joins *joins) { return captured_awaited(joins, 0, 1); }

/* Between work and what follows it, a graph writes a value, or waits for one that is there. */
static cudaError_t captured_between(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaGraphExec_t exec = NULL;
    cudaError_t error = begin_with_work(joins, stream);

    if (error == cudaSuccess)
        error = joins->round / 2 % 2 ? await_there(joins, stream) : write_alone(joins, stream, value_at(joins));
    if (error == cudaSuccess)
        error = follow_captured(joins, stream);
    error = launch_captured(stream, error, &exec);
    return end_captured(error, exec, NULL);
}

/* A stream writes the value after its work, for which a graph waits. */
static cudaError_t captured_wait(struct joins *joins)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = work_and_value(joins, joins->stream[0]);

    if (error == cudaSuccess)
        error = launch_captured_wait(joins, joins->stream[1], &exec);
    return end_captured(error, exec, NULL);
}

/* ---- built, which only the driver can do ---- */

#define OPERATIONS 12u
#define LATE_THERE 4u          /* words in the device's memory: one that is THERE after work, one for other values, others for a node's first values */
#define OTHER_VALUE 5u
#define FIRST_VALUES 6u

struct batch {
    CUstreamBatchMemOpParams operation[OPERATIONS], first[OPERATIONS]; /* first: what the node has until it is given the others */
    unsigned count;
};

static void add_operation(struct joins *joins, struct batch *b, CUstreamBatchMemOpType type, const uint32_t *at, uint32_t value, unsigned flags)
{
    int waits = type == CU_STREAM_MEM_OP_WAIT_VALUE_32;

    b->operation[b->count] = value_operation(type, at, value, flags);
    b->first[b->count] = waits ? value_operation(type, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ)
                               : value_operation(type, joins->aside + FIRST_VALUES + b->count, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    b->count++;
}

static cudaError_t batch_params(CUstreamBatchMemOpParams *operation, unsigned count, CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    typedef CUresult(CUDAAPI * current_fn)(CUcontext *);
    void *current = NULL;
    cudaError_t error = driver_function("cuCtxGetCurrent", 4000, &current);

    memset(params, 0, sizeof(*params));
    params->count = count;
    params->paramArray = operation;
    return error == cudaSuccess ? (cudaError_t)((current_fn)current)(&params->ctx) : error;
}

static cudaError_t add_batch(cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                             cudaGraphNode_t *node)
{
    typedef CUresult(CUDAAPI * add_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *);
    void *add = NULL;
    cudaError_t error = driver_function("cuGraphAddBatchMemOpNode", 11070, &add);

    return error == cudaSuccess ? (cudaError_t)((add_fn)add)((CUgraphNode *)node, (CUgraph)graph, (const CUgraphNode *)after, count, params) : error;
}

/* exec: NULL for the graph's own node. */
static cudaError_t give_batch(cudaGraphExec_t exec, cudaGraphNode_t node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    typedef CUresult(CUDAAPI * set_fn)(CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *);
    typedef CUresult(CUDAAPI * set_exec_fn)(CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *);
    void *set = NULL;
    cudaError_t error = driver_function(exec ? "cuGraphExecBatchMemOpNodeSetParams" : "cuGraphBatchMemOpNodeSetParams", 11070, &set);

    if (error != cudaSuccess)
        return error;
    return exec ? (cudaError_t)((set_exec_fn)set)((CUgraphExec)exec, (CUgraphNode)node, params)
                : (cudaError_t)((set_fn)set)((CUgraphNode)node, params);
}

/* What the node tells is what it was given. */
static cudaError_t look_at_batch(cudaGraphNode_t node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *given)
{
    typedef CUresult(CUDAAPI * get_fn)(CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *);
    CUDA_BATCH_MEM_OP_NODE_PARAMS told = PDL_ZERO;
    void *get = NULL;
    unsigned i;
    cudaError_t error = driver_function("cuGraphBatchMemOpNodeGetParams", 11070, &get);

    if (error == cudaSuccess)
        error = (cudaError_t)((get_fn)get)((CUgraphNode)node, &told);
    if (error != cudaSuccess)
        return error;
    for (i = 0; i < given->count && told.count == given->count; i++) {
        const CUstreamBatchMemOpParams *a = &told.paramArray[i], *b = &given->paramArray[i];
        if (a->operation != b->operation || a->waitValue.address != b->waitValue.address || a->waitValue.value != b->waitValue.value)
            return cudaErrorUnknown;
    }
    return told.count == given->count ? cudaSuccess : cudaErrorUnknown;
}

/* How the node gets its operations: it has them at once, or is given them, or the executable graph's node is, by a call of its own or an
 * update. */
enum giving { GIVEN_AT_ONCE, GIVEN_TO_GRAPH, GIVEN_TO_EXEC, GIVEN_BY_UPDATE, GIVINGS };

static enum giving giving_of(const struct joins *joins) { return (enum giving)(joins->round % GIVINGS); }

static cudaError_t add_values(struct joins *joins, struct batch *b, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraphNode_t *node)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params, first;
    cudaError_t error = batch_params(b->operation, b->count, &params);
    enum giving giving = giving_of(joins);

    first = params;
    first.paramArray = b->first;
    if (error == cudaSuccess)
        error = add_batch(graph, after, count, giving == GIVEN_AT_ONCE ? &params : &first, node);
    if (error == cudaSuccess && giving == GIVEN_TO_GRAPH)
        error = give_batch(NULL, *node, &params);
    return error == cudaSuccess ? look_at_batch(*node, giving >= GIVEN_TO_EXEC ? &first : &params) : error;
}

/* The graph's node is given them after all; a device that takes no such update makes a new executable graph. */
static cudaError_t update_values(cudaGraph_t graph, cudaGraphNode_t node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                                 cudaGraphExec_t *exec)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaError_t error = give_batch(NULL, node, params);

    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(*exec, graph, &info);
    if (error != cudaErrorGraphExecUpdateFailure)
        return error;
    (void)cudaGetLastError();
    error = cudaGraphExecDestroy(*exec);
    *exec = NULL;
    return error == cudaSuccess ? cudaGraphInstantiate(exec, graph, 0) : error;
}

static cudaError_t launch_with_values(struct joins *joins, struct batch *b, cudaGraph_t graph, cudaGraphNode_t node, cudaStream_t stream,
                                      cudaGraphExec_t *exec)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    cudaError_t error = batch_params(b->operation, b->count, &params);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess && giving_of(joins) == GIVEN_TO_EXEC)
        error = give_batch(*exec, node, &params);
    if (error == cudaSuccess && giving_of(joins) == GIVEN_BY_UPDATE)
        error = update_values(graph, node, &params, exec);
    return error == cudaSuccess ? cudaGraphLaunch(*exec, stream) : error;
}

/* In some rounds a clone of the graph runs, in others a graph that holds it as a child graph: but not where the node is given its
 * operations later, because nothing finds it in a child graph. */
static cudaError_t copy_built(struct joins *joins, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    unsigned how = joins->round / 2 % 3, later = giving_of(joins) >= GIVEN_TO_EXEC;
    cudaGraph_t source = *graph;
    cudaGraphNode_t child;
    cudaError_t error;

    if (how == 1)
        return ask_clone_instead(graph, later ? node : NULL);
    if (how == 0 || later)
        return cudaSuccess;
    error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&child, *graph, NULL, 0, source);
    (void)cudaGraphDestroy(source);
    return error;
}

/* Work, if any, and in every other round a dependent of it that begins at its trigger; the batch after it; and a follower, if there is one, after
 * that. */
static cudaError_t launch_built(struct joins *joins, struct batch *b, int works, int follows, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaGraphNode_t first = NULL, node = NULL, last;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    if (works)
        error = ask_add_kernel(&first, graph, (const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS);
    if (error == cudaSuccess && works && joins->round % 2)
        error = add_silent_dependent(joins, graph, &first);
    if (error == cudaSuccess)
        error = add_values(joins, b, graph, &first, works != 0, &node);
    if (error == cudaSuccess && follows && FOLLOWS_IN_GRAPH)
        error = ask_add_kernel_after(&last, graph, &node, 1, (const void *)SYMBOL(joins_follower), &joins->follower[0], 1, PLACE_WORDS);
    else if (error == cudaSuccess && follows)
        error = follow(joins, 0, stream);
    if (error == cudaSuccess)
        error = copy_built(joins, &graph, &node);
    if (error == cudaSuccess)
        error = launch_with_values(joins, b, graph, node, stream, exec);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* A third stream's work comes before the value that the batch waits for first, in every other round; else that is there. In one round of four there
 * are many operations before the last one. */
static cudaError_t launch_built_value(struct joins *joins, cudaGraphExec_t *exec)
{
    static const uint32_t none[3] = { 0 };
    unsigned late = joins->round / 3 % 2, most = joins->round % 4 == 1 ? OPERATIONS : 3;
    struct batch b;
    cudaError_t error = prepare_value(joins, 1 + late, 1);

    memset(&b, 0, sizeof(b));
    if (error == cudaSuccess)
        error = put_words(joins->aside + LATE_THERE, none, 3);
    if (error == cudaSuccess && late)
        error = work(joins, 1, joins->stream[2]);
    if (error == cudaSuccess && late)
        error = queue_value("cuStreamWriteValue32", joins->stream[2], joins->aside + LATE_THERE, THERE, CU_STREAM_WRITE_VALUE_DEFAULT);
    add_operation(joins, &b, CU_STREAM_MEM_OP_WAIT_VALUE_32, joins->aside + (late ? LATE_THERE : 1u), THERE, CU_STREAM_WAIT_VALUE_EQ);
    add_operation(joins, &b, CU_STREAM_MEM_OP_WRITE_VALUE_32, joins->aside + OTHER_VALUE, PASSED_ON, CU_STREAM_WRITE_VALUE_DEFAULT);
    while (b.count + 1 < most)
        add_operation(joins, &b, CU_STREAM_MEM_OP_WAIT_VALUE_32, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ);
    add_operation(joins, &b, CU_STREAM_MEM_OP_WRITE_VALUE_32, value_at(joins), value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    return error == cudaSuccess ? launch_built(joins, &b, 1, 0, joins->stream[0], exec) : error;
}

static cudaError_t launch_built_wait(struct joins *joins, cudaStream_t stream, cudaGraphExec_t *exec)
{
    struct batch b;

    memset(&b, 0, sizeof(b));
    add_operation(joins, &b, CU_STREAM_MEM_OP_WAIT_VALUE_32, value_at(joins), value_step(joins)->awaited, value_step(joins)->flags);
    return launch_built(joins, &b, 0, 1, stream, exec);
}

static cudaError_t built_awaited(struct joins *joins)
{
    cudaGraphExec_t writes = NULL;
    cudaError_t error = launch_built_value(joins, &writes);

    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[1]);
    return end_captured(error == cudaSuccess ? follow_value(joins, joins->stream[1]) : error, writes, NULL);
}

static cudaError_t built_in_two(struct joins *joins)
{
    cudaGraphExec_t writes = NULL, waits = NULL;
    cudaError_t error = launch_built_value(joins, &writes);

    if (error == cudaSuccess)
        error = launch_built_wait(joins, joins->stream[1], &waits);
    if (error == cudaSuccess)
        error = launch_both_again(joins, writes, waits);
    return end_captured(error, writes, waits);
}

/* Between work and its follower. */
static cudaError_t built_between(struct joins *joins)
{
    cudaGraphExec_t exec = NULL;
    struct batch b;
    cudaError_t error = prepare_value(joins, 1, 1);

    memset(&b, 0, sizeof(b));
    add_operation(joins, &b, CU_STREAM_MEM_OP_WRITE_VALUE_32, value_at(joins), value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    add_operation(joins, &b, CU_STREAM_MEM_OP_WAIT_VALUE_32, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ);
    if (error == cudaSuccess)
        error = launch_built(joins, &b, 1, 1, joins->stream[0], &exec);
    return end_captured(error, exec, NULL);
}

static void ask_value_nodes(struct ask *ask)
{
    static const struct join joins[VALUE_NODE_WAYS] = {
        { "stale after a wait for a value that a graph writes", captured_value },
        { "stale after a wait for a value that a batch in a graph writes", captured_batch },
        { "stale in a graph that waits for a value that another graph writes", captured_in_two },
        { "stale in a graph after a value that is written or waited for", captured_between },
        { "stale in a graph that waits for a value that a stream writes", captured_wait },
        { "stale after a wait for a value that a built node writes", built_awaited },
        { "stale after a node that waits for a value that another graph's node writes", built_in_two },
        { "stale after a node with a batch of values", built_between },
    };
    const char *lack = values_lack(ask->stream);

    if (lack || !takes_batches(ask->stream))
        ask_unsupported(ask, lack ? lack : "cuStreamBatchMemOp is not supported here");
    else
        ask_joins(ask, joins, VALUE_NODE_WAYS, cudaStreamNonBlocking);
}

#endif
