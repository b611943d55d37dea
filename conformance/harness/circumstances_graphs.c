/* circumstances_graphs.c - graphs and executable graphs as the circumstance has them. */
#include "circumstances_made.h"

static void keep_clone(cudaGraph_t graph)
{
    cudaGraph_t clone = NULL;

    if (cudaGraphClone(&clone, graph) == cudaSuccess)
        around_keep_graph(clone);
    else
        (void)cudaGetLastError();
}

/* ---- graphs ---- */

/* Two nodes and an edge that are gone again, and an executable graph from before; maybe while the asker captures. */
static void give_history(cudaGraph_t graph)
{
    enum cudaStreamCaptureMode mode = around_relax();
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[2] = { NULL, NULL };

    if (cudaGraphAddEmptyNode(&node[0], graph, NULL, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node[1], graph, &node[0], 1) == cudaSuccess &&
        cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess)
        (void)cudaGraphExecDestroy(exec);
    if (node[0])
        (void)cudaGraphDestroyNode(node[0]);
    if (node[1])
        (void)cudaGraphDestroyNode(node[1]);
    around_restore(mode);
}

/* The graph becomes a clone of itself, which has one as well. */
static void become_clone(cudaGraph_t *graph)
{
    cudaGraph_t clone = NULL;

    if (cudaGraphClone(&clone, *graph) != cudaSuccess) {
        (void)cudaGetLastError();
        return;
    }
    around_keep_graph(*graph);
    *graph = clone;
    keep_clone(clone);
}

cudaError_t around_graph_create(cudaGraph_t *graph, unsigned flags)
{
    cudaError_t error = cudaGraphCreate(graph, flags);

    around.calls |= CALLED_GRAPH;
    if (error == cudaSuccess && around.now == EARLY)
        give_history(*graph);
    if (error == cudaSuccess && around.now == IN_CLONE)
        become_clone(graph);
    return error;
}

#if CUDART_VERSION >= 12040
cudaError_t around_condition_create(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value, unsigned flags)
{
    around.calls |= CALLED_CONDITION;
    return cudaGraphConditionalHandleCreate(handle, graph, value, flags);
}
#endif

/* ---- executable graphs ---- */

/* A graph of two empty nodes: what has another shape takes no update from it. */
static void refuse_update(cudaGraphExec_t exec)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t other = NULL;
    cudaGraphNode_t node;

    if (cudaGraphCreate(&other, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess &&
        cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess)
        (void)cudaGraphExecUpdate(exec, other, &info);
    if (other)
        (void)cudaGraphDestroy(other);
    (void)cudaGetLastError();
}

/* Of some graphs there is one executable graph at a time. */
static cudaError_t instantiate_second(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphExec_t first = NULL;
    cudaError_t error;

    if (cudaGraphInstantiate(&first, graph, 0) != cudaSuccess) {
        (void)cudaGetLastError();
        return cudaGraphInstantiate(exec, graph, flags);
    }
    error = cudaGraphInstantiate(exec, graph, flags);
    if (error == cudaSuccess) {
        around_keep_exec(first);
        return error;
    }
    (void)cudaGraphExecDestroy(first);
    (void)cudaGetLastError();
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t around_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error;

    around.calls |= CALLED_EXEC;
    if (around.now == CLONED)
        keep_clone(graph);
    error = around.now == SECOND ? instantiate_second(exec, graph, flags) : cudaGraphInstantiate(exec, graph, flags);
    if (error == cudaSuccess && around.now == UPDATED && cudaGraphExecUpdate(*exec, graph, &info) != cudaSuccess)
        (void)cudaGetLastError();
    if (error == cudaSuccess && around.now == REFUSED_UPDATE)
        refuse_update(*exec);
    return error;
}
