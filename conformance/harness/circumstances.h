/* circumstances.h - what may stand around a question without changing its answers. The questions of a case of kind api are put once more in
 * some of them: a graph that has other executable ones, a capture beside another one, another host thread. Kernels' host code makes these calls
 * by graph_ask.h, which redirects them here; alone, what it calls is seen, and a circumstance of which nothing is called is left out.
 */
#ifndef CIRCUMSTANCES_H_INCLUDED
#define CIRCUMSTANCES_H_INCLUDED

#include <cuda_runtime_api.h>

#include "case.h"

#ifdef __cplusplus
extern "C" {
#endif

enum circumstance {
    ALONE,
    IN_THREAD,                 /* another host thread asks */
    SECOND,                    /* each executable graph is the second one of its graph */
    CLONED,                    /* each graph that becomes executable has a clone */
    UPDATED,                   /* each executable graph has been updated from its own graph */
    REFUSED_UPDATE,            /* ... has been refused an update */
    EARLY,                     /* each graph had other nodes, and was made executable, before */
    IN_CLONE,                  /* each graph is a clone, and has one */
    GIVEN,                     /* each capture goes into a graph that was there, executable, and cloned */
    BESIDE,                    /* while a stream captures, another one does that began before or after it */
    JOINED,                    /* each capture began in another stream, which the asker's one joined */
    LAYERED,                   /* each copy is one of layers, each memset one of rows */
    ASKED,                     /* after each wait for an event, the stream and the event are asked, and calls are refused */
    AGED,                      /* each stream and each event has been used before */
    DRESSED,                   /* each kernel has some shared memory, and each launch with attributes a priority, if it has none */
    CIRCUMSTANCES
};

extern const char *const circumstance_name[CIRCUMSTANCES];

/* Whether what this case asks is the same in it, and makes a call that it changes; calls: what circumstances_end() gave of the case alone. */
int circumstance_suits(const struct case_info *info, enum circumstance circumstance, unsigned calls);
/* How much to ask in it, where the number is free and that many are asked alone. */
unsigned long long circumstances_trials(const struct case_info *info, enum circumstance circumstance, unsigned long long alone);
/* From here on until circumstances_end(), which gives back what was made for it, and tells the kinds of calls that were made, a bit each. */
void circumstances_begin(enum circumstance circumstance);
unsigned circumstances_end(void);
/* Runs this, in another host thread if the circumstance is that. */
void circumstances_run(void (*run)(void *of), void *of);

cudaError_t around_graph_create(cudaGraph_t *graph, unsigned flags);
#if CUDART_VERSION >= 12040
cudaError_t around_condition_create(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value, unsigned flags);
#endif
cudaError_t around_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t around_begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t around_end_capture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t around_memcpy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t around_memset_async(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t around_add_memcpy_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to,
                                   const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t around_add_memset_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params);
cudaError_t around_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t around_event_create(cudaEvent_t *event, unsigned flags);
cudaError_t around_stream_create(cudaStream_t *stream, unsigned flags);
cudaError_t around_launch(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t around_add_kernel_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params);

#ifdef __cplusplus
}
#endif
#endif
