// 01_two_kernels: the smallest change. Each kernel gains a trigger and a wait, each launch one option. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 01_two_kernels.cu -o 01_two_kernels
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256 };

__global__ void twice(unsigned *out, const unsigned *in, int words)
{
    pdl_trigger(); // the next kernel may start from here on: a hint that publishes nothing
    pdl_wait();    // every thread: the kernel before is complete, and its stores are visible
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 2 * pdl_fresh(in)[i] + 1;
    }
}

__global__ void square(unsigned *out, const unsigned *in, int words)
{
    pdl_trigger();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        const unsigned x = pdl_fresh(in)[i];
        pdl_fresh(out)[i] = x * x;
    }
}

// Your code says pdl::overlap. Here it may also be PDL_OVERLAP_NONE, the same as <<<BLOCKS, THREADS, 0, stream>>>.
static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    unsigned *a = buffer[0], *b = buffer[1];

    if (step % 2 == 0) {
        CHECK(pdl::launch(twice, BLOCKS, THREADS, 0, stream, overlap, b, a, words));
    } else {
        CHECK(pdl::launch(square, BLOCKS, THREADS, 0, stream, overlap, a, b, words));
    }
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "01_two_kernels";
    m.launch = launch;
    m.words = WORDS;
    m.kernels = 2;
    return measure(&m);
}
