// 03_one_thread_waits: producer and consumer with one wait per block, and fresh pointers after it. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 03_one_thread_waits.cu -o 03_one_thread_waits
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 600 };

__global__ void produce(unsigned *out, const unsigned *in, int words)
{
    pdl_trigger();
    const unsigned *mine = pdl_wait_block(in); // thread 0 waits, all meet at a barrier; then a pointer through which
    unsigned *result = pdl_fresh(out);         // the compiler cannot have read before; further ones by pdl_fresh()
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        result[i] = mine[i] * 5 + 1;
    }
}

__global__ void consume(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = 1;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // the prologue runs in all threads; then one of them waits
        w = w * 1664525u + 1013904223u;
    }
    const unsigned *mine = pdl_wait_block(in);
    unsigned *result = pdl_fresh(out);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        result[i] = mine[i] + mine[i ^ 1] + w; // a neighbour's word, too: written by another thread
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    unsigned *a = buffer[0], *b = buffer[1];

    if (step % 2 == 0) {
        CHECK(pdl::launch(produce, BLOCKS, THREADS, 0, stream, overlap, b, a, words));
    } else {
        CHECK(pdl::launch(consume, BLOCKS, THREADS, 0, stream, overlap, a, b, words, taps));
    }
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "03_one_thread_waits";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    m.kernels = 2;
    return measure(&m);
}
