/* circumstances_graphs.c - graphs and executable graphs as the circumstance has them. */
#include "circumstances_made.h"

#include "edges.h"

static void keep_exec(cudaGraphExec_t exec)
{
    if (around.execs < KEPT)
        around.exec[around.execs++] = exec;
    else
        (void)cudaGraphExecDestroy(exec);
}

static void keep_clone(cudaGraph_t graph)
{
    cudaGraph_t clone = NULL;

    if (cudaGraphClone(&clone, graph) != cudaSuccess)
        return;
    if (around.graphs < KEPT)
        around.graph[around.graphs++] = clone;
    else
        (void)cudaGraphDestroy(clone);
}

/* ---- graphs ---- */

/* Two nodes and an edge that are gone again, and an executable graph from before. */
static void give_history(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[2] = { NULL, NULL };

    if (cudaGraphAddEmptyNode(&node[0], graph, NULL, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node[1], graph, &node[0], 1) == cudaSuccess &&
        cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess)
        (void)cudaGraphExecDestroy(exec);
    if (node[0])
        (void)cudaGraphDestroyNode(node[0]);
    if (node[1])
        (void)cudaGraphDestroyNode(node[1]);
}

/* The graph becomes a clone of itself, which has one as well. */
static void become_clone(cudaGraph_t *graph)
{
    cudaGraph_t clone = NULL;

    if (cudaGraphClone(&clone, *graph) != cudaSuccess)
        return;
    if (around.graphs < KEPT)
        around.graph[around.graphs++] = *graph;
    else
        (void)cudaGraphDestroy(*graph);
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
    if (error == cudaSuccess && around.now != ALONE)
        (void)cudaGetLastError();
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

    if (cudaGraphCreate(&other, 0) != cudaSuccess)
        return;
    if (cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess)
        (void)cudaGraphExecUpdate(exec, other, &info);
    (void)cudaGraphDestroy(other);
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
        keep_exec(first);
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
    if (around.now == CLONED) {
        keep_clone(graph);
        (void)cudaGetLastError();
    }
    error = around.now == SECOND ? instantiate_second(exec, graph, flags) : cudaGraphInstantiate(exec, graph, flags);
    if (error == cudaSuccess && around.now == UPDATED)
        (void)cudaGraphExecUpdate(*exec, graph, &info);
    if (error == cudaSuccess && around.now == REFUSED_UPDATE)
        refuse_update(*exec);
    if (error == cudaSuccess && around.now != ALONE)
        (void)cudaGetLastError();
    return error;
}
