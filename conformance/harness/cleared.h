/* cleared.h - device memory that is zero when the call returns, for every stream. */
#ifndef CLEARED_H_INCLUDED
#define CLEARED_H_INCLUDED

#include <stddef.h>

#include "pdl.h"

/* A memset may end after its call, and non-blocking streams do not wait for the default stream, where it runs. */
static inline cudaError_t clear_memory(void *memory, size_t bytes)
{
    cudaError_t error = cudaMemset(memory, 0, bytes);

    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static inline cudaError_t cleared_alloc(void **memory, size_t bytes)
{
    cudaError_t error = cudaMalloc(memory, bytes);

    return error == cudaSuccess ? clear_memory(*memory, bytes) : error;
}

#endif
