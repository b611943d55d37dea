/* edges_of_capture.h - what takes the place of edges_of_capture(), in whichever version it is called, and the function itself. */
#ifndef EDGES_OF_CAPTURE_H
#define EDGES_OF_CAPTURE_H

#include "check.h"
#include "edges.h"

cudaError_t REAL(edges_of_capture)(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                   const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count);
cudaError_t WRAPPED(edges_of_capture)(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count);

#endif
