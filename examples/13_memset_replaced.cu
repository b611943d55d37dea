// 13_memset_replaced: a memset between two kernels ends the overlap; a kernel that clears keeps it. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 13_memset_replaced.cu -o 13_memset_replaced
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 18, BINS = 256, BLOCKS = 128, THREADS = 256 };

__global__ void clear(unsigned *bins, int words)
{
    pdl_trigger();
    pdl_wait(); // for the kernel that read the bins; and whatever waits for this kernel then waits for that one, too
    if (words != 0) {
        pdl_fresh(bins)[threadIdx.x] = 0;
    }
}

__global__ void count(unsigned *bins, const unsigned *values, int words)
{
    __shared__ unsigned own[BINS];

    pdl_trigger();
    own[threadIdx.x] = 0;
    __syncthreads();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        atomicAdd(&own[pdl_fresh(values)[i] % BINS], 1);
    }
    __syncthreads();
    if (words != 0) {
        atomicAdd(&pdl_fresh(bins)[threadIdx.x], own[threadIdx.x]);
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    unsigned *values = buffer[0], *bins = buffer[1];
    pdl_options options = PDL_ZERO;

    options.overlap = overlap;
    options.carveout = 25; // one kernel has shared memory and one has not: see 04_carveouts
    if (step % 2 == 0) {
        CHECK(pdl::launch(clear, 1, BINS, 0, stream, options, bins, words));
    } else {
        CHECK(pdl::launch(count, BLOCKS, THREADS, 0, stream, options, bins, values, words));
    }
}

static void launch_with_memset(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    if (step % 2 == 0) {
        CHECK(cudaMemsetAsync(buffer[1], 0, BINS * sizeof(unsigned), stream));
    } else {
        launch(stream, step, overlap, words, 0);
    }
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "13_memset_replaced";
    m.per = "step";
    m.launch = launch;
    m.launch_other = launch_with_memset;
    m.other = "PDL around a memset";
    m.words = WORDS;
    m.kernels = 2;
    return measure(&m);
}
