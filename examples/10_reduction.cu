// 10_reduction: a sum in two kernels. The second is so small that it is mostly boundary. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 10_reduction.cu -o 10_reduction
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256 };

__device__ static void add_up(unsigned *out, unsigned sum) // the sum of the block's threads, written by one of them
{
    __shared__ unsigned warp[THREADS / 32];

    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0) {
        warp[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < THREADS / 32; k++) {
            sum += warp[k];
        }
        *out = sum;
    }
}

__global__ void partial(unsigned *out, const unsigned *in, int words)
{
    unsigned sum = 0;

    pdl_trigger();
    pdl_wait(); // the total of the sum before this one may still be reading: stores have to wait, too
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        sum += pdl_fresh(in)[i];
    }
    if (words != 0) {
        add_up(pdl_fresh(out) + blockIdx.x, sum);
    }
}

__global__ void total(unsigned *out, const unsigned *in, int words)
{
    pdl_trigger();
    pdl_wait();
    if (words != 0) {
        add_up(pdl_fresh(out), threadIdx.x < BLOCKS ? pdl_fresh(in)[threadIdx.x] : 0);
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    unsigned *values = buffer[0], *sums = buffer[1], *result = buffer[2];

    if (step % 2 == 0) {
        CHECK(pdl::launch(partial, BLOCKS, THREADS, 0, stream, overlap, sums, values, words));
    } else {
        CHECK(pdl::launch(total, 1, THREADS, 0, stream, overlap, result, sums, words));
    }
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "10_reduction";
    m.launch = launch;
    m.words = WORDS;
    m.kernels = 2;
    return measure(&m);
}
