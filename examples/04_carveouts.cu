// 04_carveouts: a silent reason for no overlap, two kernels whose splits of L1 and shared memory differ. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 04_carveouts.cu -o 04_carveouts
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, ROWS = 4 };

__global__ void first(unsigned *out, const unsigned *in, int words) // uses no shared memory
{
    pdl_trigger();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i];
    }
}

__global__ void second(unsigned *out, const unsigned *in, int words, int taps) // uses 4 KiB of shared memory
{
    __shared__ unsigned table[ROWS][THREADS];

    pdl_trigger();
    for (int row = 0; row < ROWS; row++) {
        unsigned w = row * THREADS + threadIdx.x;
        for (int k = 0; k < taps / ROWS; k++) {
            w = w * 1664525u + 1013904223u;
        }
        table[row][threadIdx.x] = w;
    }
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = pdl_fresh(in)[i] + table[i / THREADS % ROWS][threadIdx.x];
    }
}

static void launch_with(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps, unsigned carveout)
{
    unsigned *a = buffer[0], *b = buffer[1];
    pdl_options options = PDL_ZERO;

    options.overlap = overlap;
    options.carveout = carveout; // in percent of the most there is; 0: the driver chooses for each kernel alone
    if (step % 2 == 0) {
        CHECK(pdl::launch(first, BLOCKS, THREADS, 0, stream, options, b, a, words));
    } else {
        CHECK(pdl::launch(second, BLOCKS, THREADS, 0, stream, options, a, b, words, taps));
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    launch_with(stream, step, overlap, words, taps, 25);
}

static void launch_apart(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    launch_with(stream, step, overlap, words, taps, 0);
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "04_carveouts";
    m.launch = launch;
    m.launch_other = launch_apart;
    m.other = "carve-outs apart";
    m.words = WORDS;
    m.prologue = TAPS;
    m.kernels = 2;
    return measure(&m);
}
