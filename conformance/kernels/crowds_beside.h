/* crowds_beside.h - for crowds.cu: nodes of other kinds beside grids of many blocks, which are given what they have. */
#ifndef CROWDS_BESIDE_H_INCLUDED
#define CROWDS_BESIDE_H_INCLUDED

static const enum node_kind kinds_beside[] = { NODE_MEMSET, NODE_MEMCPY, NODE_HOST, NODE_CHILD, NODE_RECORD, NODE_WAIT };
#define BESIDES (sizeof(kinds_beside) / sizeof(kinds_beside[0]))

/* Drivers may refuse some of it; it changes nothing. */
static void give_beside(cudaGraphExec_t exec, cudaGraphNode_t node, enum node_kind kind, const struct node_room *room)
{
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    cudaGraph_t child;

    if (kind == NODE_MEMSET && cudaGraphMemsetNodeGetParams(node, &set) == cudaSuccess)
        (void)cudaGraphExecMemsetNodeSetParams(exec, node, &set);
    else if (kind == NODE_MEMCPY)
        (void)cudaGraphExecMemcpyNodeSetParams1D(exec, node, room->words + 8, room->words, 16, cudaMemcpyDeviceToDevice);
    else if (kind == NODE_HOST && cudaGraphHostNodeGetParams(node, &host) == cudaSuccess)
        (void)cudaGraphExecHostNodeSetParams(exec, node, &host);
    else if (kind == NODE_CHILD && cudaGraphChildGraphNodeGetGraph(node, &child) == cudaSuccess)
        (void)cudaGraphExecChildGraphNodeSetParams(exec, node, child);
    else if (kind == NODE_RECORD)
        (void)cudaGraphExecEventRecordNodeSetEvent(exec, node, room->event);
    else if (kind == NODE_WAIT)
        (void)cudaGraphExecEventWaitNodeSetEvent(exec, node, room->event);
    (void)cudaGetLastError();
}

#endif
