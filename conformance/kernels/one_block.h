/* one_block.h - launches and nodes of one block of so many threads, with nothing else: what a question wants beyond that it adds. */
#ifndef ONE_BLOCK_H
#define ONE_BLOCK_H

#include <cuda_runtime_api.h>

#include "pdl.h"

static inline cudaLaunchConfig_t one_block(unsigned threads, cudaStream_t stream)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim.x = config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
    config.blockDim.x = threads;
    config.stream = stream;
    return config;
}

/* values: pointers to the arguments; they have to last until the node is made. */
static inline struct cudaKernelNodeParams one_block_node(const void *function, unsigned threads, void **values)
{
    struct cudaKernelNodeParams params = PDL_ZERO;

    params.func = (void *)function;
    params.gridDim.x = params.gridDim.y = params.gridDim.z = params.blockDim.y = params.blockDim.z = 1;
    params.blockDim.x = threads;
    params.kernelParams = values;
    return params;
}

#endif
