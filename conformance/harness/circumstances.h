/* circumstances.h - what may stand around a question without changing its answers. The questions of a case of kind api are put once more in
 * some of them: a graph that has other executable ones, a capture beside another one, another host thread. Kernels' host code makes these calls
 * by graph_ask.h, which redirects them here.
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
    EARLY,                     /* each graph was made executable while it was empty */
    GIVEN,                     /* each capture goes into a graph that was there */
    BESIDE,                    /* while a stream captures, another one does that began before */
    CIRCUMSTANCES
};

extern const char *const circumstance_name[CIRCUMSTANCES];

/* Whether what this case asks is the same in it. */
int circumstance_suits(const struct case_info *info, enum circumstance circumstance);
/* How much to ask in it, where the number is free and that many are asked alone. */
unsigned long long circumstances_trials(const struct case_info *info, enum circumstance circumstance, unsigned long long alone);
/* From here on until circumstances_end(), which gives back what was made for it. */
void circumstances_begin(enum circumstance circumstance);
void circumstances_end(void);
/* Runs this, in another host thread if the circumstance is that. */
void circumstances_run(void (*run)(void *of), void *of);

cudaError_t around_graph_create(cudaGraph_t *graph, unsigned flags);
cudaError_t around_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t around_begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t around_end_capture(cudaStream_t stream, cudaGraph_t *graph);

#ifdef __cplusplus
}
#endif
#endif
