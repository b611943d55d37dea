// 11_decode_chain: 20 small dependent kernels, as for one token, in a graph that is replayed. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 11_decode_chain.cu -o 11_decode_chain
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WIDTH = 512, WARPS = 8, THREADS = 32 * WARPS, BLOCKS = WIDTH / WARPS, STEPS = 20 };

static unsigned *weights;

// One warp per row: a row of weights (no kernel writes them, so they are fetched before the wait) times the state.
__global__ void step(unsigned *out, const unsigned *in, const unsigned *rows, int columns, int early)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned w[WIDTH / 32], sum = 0;

    pdl_trigger();
    for (int k = 0; k < WIDTH / 32; k++) {
        w[k] = early ? rows[row * WIDTH + 32 * k + lane] : 1;
    }
    pdl_wait();
    const unsigned *fresh = pdl_fresh(in);
    for (int k = 0; k < WIDTH / 32; k++) {
        sum += 32 * k < columns ? w[k] * fresh[32 * k + lane] : 0;
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (lane == 0 && columns != 0) {
        pdl_fresh(out)[row] = sum ^ sum >> 7;
    }
}

static void launch(cudaStream_t stream, int i, pdl_overlap overlap, int columns, int early)
{
    unsigned *out = buffer[(i + 1) % 2], *in = buffer[i % 2], *rows = weights + i * WIDTH * WIDTH;

    CHECK(pdl::launch(step, BLOCKS, THREADS, 0, stream, overlap, out, in, rows, columns, early));
}

int main(void)
{
    measurement m = PDL_ZERO;

    weights = measure_constants(STEPS * WIDTH * WIDTH, 0);
    m.name = "11_decode_chain";
    m.launch = launch;
    m.words = WIDTH;
    m.prologue = 1;
    m.steps = STEPS;
    m.in_graph = 1;
    return measure(&m);
}
