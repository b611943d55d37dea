/* Labels of the lint corpus. Each kernel is a planted bug or its corrected twin, and lint has to tell them apart whatever
 * the compiler does: BUG(shape, finding) names the finding that must be there (or one of several, split by |), OK(shape)
 * must give nothing above hint. The tests read the labels from the source text; all kernels are named overlapping. */
#ifndef PDL_CORPUS_H
#define PDL_CORPUS_H

#include "pdl_device.cuh"

#define BUG(shape, finding) extern "C" __global__ void bug_##shape
#define OK(shape) extern "C" __global__ void ok_##shape
#define CALLED static __device__ __noinline__
#define INLINED static __device__ __forceinline__

INLINED int global_index(void)
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

INLINED void named_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

INLINED void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

#endif
