/* crossed_renewed.h - gives the nodes of an executable graph of crossed_graphs.cu the parameters that they have, one by one: "edges cannot be
 * changed" so, and none may be. What lies in child graphs is given with them; bodies are left alone, and so are copies of rows, which take
 * no parameters. */
#ifndef CROSSED_RENEWED_H_INCLUDED
#define CROSSED_RENEWED_H_INCLUDED

#define RENEWED_MOST (PARTS + 1u) /* nodes outside of others */

static cudaError_t renew_kernel(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaError_t error = cudaGraphKernelNodeGetParams(node, &params);

    return error == cudaSuccess ? cudaGraphExecKernelNodeSetParams(exec, node, &params) : error;
}

static cudaError_t renew_set(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaMemsetParams params = PDL_ZERO;
    cudaError_t error = cudaGraphMemsetNodeGetParams(node, &params);

    return error == cudaSuccess ? cudaGraphExecMemsetNodeSetParams(exec, node, &params) : error;
}

static cudaError_t renew_copy(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaMemcpy3DParms params = PDL_ZERO;
    cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &params);

    return error == cudaSuccess && params.extent.height == 1 ? cudaGraphExecMemcpyNodeSetParams(exec, node, &params) : error;
}

static cudaError_t renew_host(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaHostNodeParams params = PDL_ZERO;
    cudaError_t error = cudaGraphHostNodeGetParams(node, &params);

    return error == cudaSuccess ? cudaGraphExecHostNodeSetParams(exec, node, &params) : error;
}

static cudaError_t renew_event(cudaGraphExec_t exec, cudaGraphNode_t node, int waits)
{
    cudaEvent_t event = NULL;
    cudaError_t error = waits ? cudaGraphEventWaitNodeGetEvent(node, &event) : cudaGraphEventRecordNodeGetEvent(node, &event);

    if (error != cudaSuccess)
        return error;
    return waits ? cudaGraphExecEventWaitNodeSetEvent(exec, node, event) : cudaGraphExecEventRecordNodeSetEvent(exec, node, event);
}

static cudaError_t renew_child(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    cudaGraph_t child = NULL;
    cudaError_t error = cudaGraphChildGraphNodeGetGraph(node, &child);

    return error == cudaSuccess ? cudaGraphExecChildGraphNodeSetParams(exec, node, child) : error;
}

static cudaError_t renew_node(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    enum cudaGraphNodeType type;
    cudaError_t error = cudaGraphNodeGetType(node, &type);

    if (error != cudaSuccess)
        return error;
    switch (type) {
    case cudaGraphNodeTypeKernel: return renew_kernel(exec, node);
    case cudaGraphNodeTypeMemset: return renew_set(exec, node);
    case cudaGraphNodeTypeMemcpy: return renew_copy(exec, node);
    case cudaGraphNodeTypeHost: return renew_host(exec, node);
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: return renew_event(exec, node, type == cudaGraphNodeTypeWaitEvent);
    case cudaGraphNodeTypeGraph: return renew_child(exec, node);
    default: return cudaSuccess;
    }
}

static cudaError_t renew_nodes(cudaGraph_t graph, cudaGraphExec_t exec)
{
    cudaGraphNode_t node[RENEWED_MOST];
    size_t count = RENEWED_MOST, i;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    for (i = 0; i < count && error == cudaSuccess; i++)
        error = renew_node(exec, node[i]);
    return error;
}

#endif
