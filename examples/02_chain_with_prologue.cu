// 02_chain_with_prologue: what PDL is for. Work that needs no earlier kernel goes above the wait. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 02_chain_with_prologue.cu -o 02_chain_with_prologue
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000 };

__device__ static unsigned weight(unsigned i, int taps)
{
    for (int k = 0; k < taps; k++) {
        i = i * 1664525u + 1013904223u;
    }
    return i;
}

__global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    __shared__ unsigned table[THREADS];

    pdl_trigger();
    table[threadIdx.x] = weight(threadIdx.x, taps); // the prologue: it reads nothing that a kernel writes
    __syncthreads();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + table[i % THREADS];
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    unsigned *out = buffer[(step + 1) % 2], *in = buffer[step % 2];

    CHECK(pdl::launch(blend, BLOCKS, THREADS, 0, stream, overlap, out, in, words, taps));
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "02_chain_with_prologue";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
