/* cleared.h - device memory that is zero once it has been handed out. */
#ifndef CLEARED_H_INCLUDED
#define CLEARED_H_INCLUDED

#include <stddef.h>

#include "pdl.h"

/* A memset may end after its call, and non-blocking streams do not wait for the default stream, where it runs. */
static inline cudaError_t cleared_alloc(void **memory, size_t bytes)
{
    cudaError_t error = cudaMalloc(memory, bytes);

    if (error == cudaSuccess)
        error = cudaMemset(*memory, 0, bytes);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

#endif
