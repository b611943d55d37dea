/* edges.h - the calls that carry edge data, each under one name: toolkit 13 moved them from suffixed names to the plain
 * ones. Raw on purpose: mutants and questions need edges that pdl.h refuses. */
#ifndef EDGES_H_INCLUDED
#define EDGES_H_INCLUDED

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
#define EDGES_NAME(name, suffix) name
#else
#define EDGES_NAME(name, suffix) name##suffix
#endif

#define edges_add_node EDGES_NAME(cudaGraphAddNode, _v2)
#define edges_add EDGES_NAME(cudaGraphAddDependencies, _v2)
#define edges_remove EDGES_NAME(cudaGraphRemoveDependencies, _v2)
#define edges_of_graph EDGES_NAME(cudaGraphGetEdges, _v2)
#define edges_into_node EDGES_NAME(cudaGraphNodeGetDependencies, _v2)
#define edges_out_of_node EDGES_NAME(cudaGraphNodeGetDependentNodes, _v2)
#define edges_of_capture EDGES_NAME(cudaStreamGetCaptureInfo, _v3)
#define edges_update_capture EDGES_NAME(cudaStreamUpdateCaptureDependencies, _v2)

/* from_port, to_port, type. */
static inline cudaGraphEdgeData edges_data(unsigned from_port, unsigned to_port, unsigned type)
{
    cudaGraphEdgeData data;
    unsigned i;

    for (i = 0; i < sizeof(data.reserved); i++)
        data.reserved[i] = 0;
    data.from_port = (unsigned char)from_port;
    data.to_port = (unsigned char)to_port;
    data.type = (unsigned char)type;
    return data;
}

/* A launch-completion edge: 2,0,0, or 2,0,1 where the device refuses that one, as it may: no document calls it legal (AMB-11).
 * Which of them, graph_ask.h finds out. */
#ifdef __cplusplus
extern "C" {
#endif
cudaGraphEdgeData edges_completion(void);
void edges_refuse_completion(int refused);
#ifdef __cplusplus
}
#endif

#endif
