// after.cu: the three kernels of before.cu with PDL. What changed is in the tutorial, step by step. Licence: 0BSD
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, ROWS = 4096 };

static unsigned *table; // written once, before the first launch

__global__ void embed(unsigned *hidden, const unsigned *tokens, const unsigned *rows, int words)
{
    pdl_trigger();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(hidden)[i] = rows[pdl_fresh(tokens)[i] % ROWS];
    }
}

__global__ void rotate(unsigned *rotated, const unsigned *hidden, int words, int taps)
{
    unsigned w = 1;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // reads nothing that a kernel writes, so it runs before the wait
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(rotated)[i] = 3 * pdl_fresh(hidden)[i] + w;
    }
}

__global__ void add(unsigned *tokens, const unsigned *rotated, int words)
{
    pdl_trigger();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(tokens)[i] = pdl_fresh(tokens)[i] + pdl_fresh(rotated)[i];
    }
}

static void launch(cudaStream_t stream, int, pdl_overlap overlap, int words, int taps)
{
    unsigned *tokens = buffer[0], *hidden = buffer[1], *rotated = buffer[2];

    CHECK(pdl::launch(embed, BLOCKS, THREADS, 0, stream, overlap, hidden, tokens, table, words));
    CHECK(pdl::launch(rotate, BLOCKS, THREADS, 0, stream, overlap, rotated, hidden, words, taps));
    CHECK(pdl::launch(add, BLOCKS, THREADS, 0, stream, overlap, tokens, rotated, words));
}

int main(void)
{
    measurement m = PDL_ZERO;

    table = measure_constants(ROWS, 0);
    m.name = "after";
    m.per = "round";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
