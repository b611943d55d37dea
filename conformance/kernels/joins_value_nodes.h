/* joins_value_nodes.h - the pair of joins.cu with captured calls that write a value or wait for one: as nodes of graphs they order as in streams. */
#ifndef JOINS_VALUE_NODES_H_INCLUDED
#define JOINS_VALUE_NODES_H_INCLUDED

#define VALUE_NODE_WAYS 5u

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
        error = batch ? queue_batch(stream, operation, 2) : write_value(joins, stream, value_at(joins));
    return launch_captured(stream, error, exec);
}

/* The capture's follower: a dependent that waits, or a plain one. */
static cudaError_t follow_captured(struct joins *joins, cudaStream_t stream)
{
    return joins->round % 2 ? depend(joins, stream) : follow(joins, 0, stream);
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

/* Another stream waits for the value of a graph, or a second graph in that stream does. */
static cudaError_t captured_awaited(struct joins *joins, int batch, int by_graph)
{
    cudaGraphExec_t writes = NULL, waits = NULL;
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = work_and_captured_value(joins, batch, &writes);

    if (error == cudaSuccess && by_graph)
        return end_captured(launch_captured_wait(joins, stream, &waits), writes, waits);
    if (error == cudaSuccess)
        error = await_value(joins, stream);
    return end_captured(error == cudaSuccess ? follow_value(joins, stream) : error, writes, NULL);
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
        error = joins->round / 2 % 2 ? await_there(joins, stream) : write_value(joins, stream, value_at(joins));
    if (error == cudaSuccess)
        error = follow_captured(joins, stream);
    return end_captured(launch_captured(stream, error, &exec), exec, NULL);
}

/* A stream writes the value after its work, for which a graph waits. */
static cudaError_t captured_wait(struct joins *joins)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = work_and_value(joins, joins->stream[0]);

    return error == cudaSuccess ? end_captured(launch_captured_wait(joins, joins->stream[1], &exec), exec, NULL) : error;
}

static void ask_value_nodes(struct ask *ask)
{
    static const struct join joins[VALUE_NODE_WAYS] = {
        { "stale after a wait for a value that a graph writes", captured_value },
        { "stale after a wait for a value that a batch in a graph writes", captured_batch },
        { "stale in a graph that waits for a value that another graph writes", captured_in_two },
        { "stale in a graph after a value that is written or waited for", captured_between },
        { "stale in a graph that waits for a value that a stream writes", captured_wait },
    };
    const char *lack = values_lack(ask->stream);

    if (lack || !takes_batches(ask->stream))
        ask_unsupported(ask, lack ? lack : "cuStreamBatchMemOp is not supported here");
    else
        ask_joins(ask, joins, VALUE_NODE_WAYS, cudaStreamNonBlocking);
}

#endif
