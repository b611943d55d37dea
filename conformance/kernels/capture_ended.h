/* capture_ended.h - captures that end in this host thread or in another one. */
#ifndef CAPTURE_ENDED_H_INCLUDED
#define CAPTURE_ENDED_H_INCLUDED

#include "graph_ask.h"
#include "other_thread.h"

typedef cudaError_t(CUDARTAPI *end_capture_fn)(cudaStream_t stream, cudaGraph_t *graph);

struct ending {
    end_capture_fn call;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaError_t error;
};

static void end_capture(void *opaque)
{
    struct ending *ending = (struct ending *)opaque;

    ending->error = ending->call(ending->stream, &ending->graph);
}

/* "If the mode argument to cudaStreamBeginCapture was not cudaStreamCaptureModeRelaxed, this call must be from the same thread" */
static inline void ask_ended_elsewhere(struct ask *ask, end_capture_fn call, cudaStream_t stream, enum cudaStreamCaptureMode mode, const char *what)
{
    struct ending ending = { call, stream, NULL, cudaSuccess };

    if (!run_in_thread(end_capture, &ending))
        ask_skip(ask, what, "no thread could be had");
    else if (mode == cudaStreamCaptureModeRelaxed)
        ask_expect(ask, what, ending.error, cudaSuccess);
    else
        ask_expect_refusal(ask, what, ending.error);
    if (ending.graph)
        (void)cudaGraphDestroy(ending.graph);
    else
        ask_drop_capture(stream);
}

#endif
