// 09_two_layers: two fully connected layers, weights fetched before the wait. To lint: 09_two_layers.toml Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 09_two_layers.cu -o 09_two_layers
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WIDTH = 1024, BATCH = 4, WARPS = 8, THREADS = 32 * WARPS, BLOCKS = WIDTH / WARPS, COLUMNS = WIDTH / 32 };

static float *weights;

// One warp per row, for a batch. The weights are written once, before the first launch: fetch them before the wait.
__global__ void layer(float *out, const float *in, const float *rows, int batch, int early)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    float w[COLUMNS];

    pdl_trigger();
    for (int k = 0; k < COLUMNS; k++) {
        w[k] = early ? rows[row * WIDTH + 32 * k + lane] : 1.0f;
    }
    pdl_wait();
    for (int b = 0; b < batch; b++) {
        const float *fresh = pdl_fresh(in) + b * WIDTH;
        float sum = 0;
        for (int k = 0; k < COLUMNS; k++) {
            sum += w[k] * fresh[32 * k + lane];
        }
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        }
        if (lane == 0) {
            pdl_fresh(out)[b * WIDTH + row] = fminf(fmaxf(sum, 0.0f), 1000.0f);
        }
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int early)
{
    float *out = (float *)buffer[(step + 1) % 2], *in = (float *)buffer[step % 2];
    const float *rows = weights + step % 2 * WIDTH * WIDTH;

    CHECK(pdl::launch(layer, BLOCKS, THREADS, 0, stream, overlap, out, in, rows, words / WIDTH, early));
}

int main(void)
{
    measurement m = PDL_ZERO;

    weights = (float *)measure_constants(2 * WIDTH * WIDTH, 1);
    m.name = "09_two_layers";
    m.per = "layer";
    m.launch = launch;
    m.words = BATCH * WIDTH;
    m.prologue = 1;
    m.floats = 1;
    return measure(&m);
}
