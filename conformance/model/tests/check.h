/* What the model's tests share: a check that says where, and small kernels of their own. */
#ifndef PDL_MODEL_CHECK_H
#define PDL_MODEL_CHECK_H

#include "model.h"
#include "model_kernel.h"

#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                           \
            failures++;                                                                                              \
        }                                                                                                            \
    } while (0)
#define GIVES(code, call)                                                                                            \
    do {                                                                                                             \
        cudaError_t got_ = (call);                                                                                   \
        if (got_ != (code)) {                                                                                        \
            printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_), #code);        \
            failures++;                                                                                              \
        }                                                                                                            \
    } while (0)
#define OK(call) GIVES(cudaSuccess, call)

static inline cudaLaunchConfig_t shape(unsigned blocks, unsigned threads, cudaStream_t stream)
{
    cudaLaunchConfig_t c;
    memset(&c, 0, sizeof c);
    c.gridDim.x = blocks;
    c.blockDim.x = threads;
    c.gridDim.y = c.gridDim.z = c.blockDim.y = c.blockDim.z = 1;
    c.stream = stream;
    return c;
}

static inline cudaLaunchAttribute attribute(int id, int value)
{
    cudaLaunchAttribute a;
    memset(&a, 0, sizeof a);
    a.id = (cudaLaunchAttributeID)id;
    memcpy(a.val.pad, &value, sizeof value);
    return a;
}

static inline cudaError_t launch_with(const void *func, void *args, unsigned blocks, unsigned threads, cudaStream_t stream,
                                      cudaLaunchAttribute *attributes, unsigned count)
{
    cudaLaunchConfig_t c = shape(blocks, threads, stream);
    c.attrs = attributes;
    c.numAttrs = count;
    return cudaLaunchKernelExC(&c, func, &args);
}

static inline cudaError_t launch(const void *func, void *args, unsigned blocks, unsigned threads, cudaStream_t stream,
                                 int overlap)
{
    cudaLaunchAttribute a = attribute(6, 1);
    return launch_with(func, args, blocks, threads, stream, &a, overlap ? 1 : 0);
}

#endif
