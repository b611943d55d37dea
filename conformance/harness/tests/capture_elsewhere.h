/* capture_elsewhere.h - a device on which a capture into a given graph makes a graph of its own, as far as that can be: for tests that wrap
 * cudaStreamBeginCaptureToGraph. */
#ifndef CAPTURE_ELSEWHERE_H
#define CAPTURE_ELSEWHERE_H

#include "check.h"
#include "edges.h"

static int captures_elsewhere;

cudaError_t REAL(cudaStreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t WRAPPED(cudaStreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                   const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t WRAPPED(cudaStreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                   const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode)
{
    return captures_elsewhere && count == 0 ? cudaStreamBeginCapture(stream, mode)
                                            : REAL(cudaStreamBeginCaptureToGraph)(stream, graph, nodes, data, count, mode);
}

#endif
