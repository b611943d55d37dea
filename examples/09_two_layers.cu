// 09_two_layers: two fully connected layers, weights fetched before the wait. To lint: 09_two_layers.toml Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 09_two_layers.cu -o 09_two_layers
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { WIDTH = 1024, BATCH = 4, WARPS = 8, THREADS = 32 * WARPS, BLOCKS = WIDTH / WARPS, CHAIN = 40, REPEATS = 101 };

static pdl_kernel layer_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static float *weights, *values[3], host[2 * WIDTH * WIDTH], x[BATCH * WIDTH], hidden[BATCH * WIDTH], y[BATCH * WIDTH];

// One warp per row, for a batch. The weights are written once, before the first launch: fetch them before the wait.
__global__ void layer(float *out, const float *in, const float *rows, int batch, int early)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    float w[WIDTH / 32];
    pdl_trigger();
    for (int k = 0; k < WIDTH / 32; k++) { w[k] = early ? rows[row * WIDTH + 32 * k + lane] : 1.0f; }
    pdl_wait();
    for (int b = 0; b < batch; b++) {
        const float *fresh = pdl_fresh(in) + b * WIDTH;
        float sum = 0;
        for (int k = 0; k < WIDTH / 32; k++) { sum += w[k] * fresh[32 * k + lane]; }
        for (int step = 16; step > 0; step /= 2) { sum += __shfl_xor_sync(0xffffffff, sum, step); }
        if (lane == 0) { pdl_fresh(out)[b * WIDTH + row] = sum > 0 ? sum : 0; }
    }
}

static void launch(int i, unsigned overlap, int batch, int early)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(pdl_launch(&layer_kernel, layer, BLOCKS, THREADS, 0, stream, &options, values[i % 2 + 1], values[i % 2],
                     weights + i % 2 * WIDTH * WIDTH, batch, early));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, batch, early; } v[] = {
    {0, 0, CHAIN, BATCH, 1}, {1, 0, CHAIN, BATCH, 1}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, BATCH, 0}, {0, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static float us[5][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].batch, v[k].early); }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return 1000 * ms;
}

static float median(float *t)
{
    for (int i = 1; i < REPEATS; i++) {
        for (int j = i; j > 0 && t[j - 1] > t[j]; j--) { float x = t[j]; t[j] = t[j - 1]; t[j - 1] = x; }
    }
    return t[REPEATS / 2];
}

int main(void)
{
    int wrong = 0;
    if (pdl_kernel_init(&layer_kernel, layer) != cudaSuccess || !layer_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 3; i++) { CHECK(cudaMalloc(&values[i], sizeof(x))); }
    CHECK(cudaMalloc(&weights, sizeof(host)));
    for (unsigned i = 0; i < 2 * WIDTH * WIDTH; i++) { host[i] = (i * 2654435761u >> 30) - 1.0f; } // -1 to 2: exact
    for (int i = 0; i < BATCH * WIDTH; i++) { x[i] = (float)(i % 7 % 5); }
    CHECK(cudaMemcpy(weights, host, sizeof(host), cudaMemcpyDefault));
    CHECK(cudaMemcpy(values[0], x, sizeof(x), cudaMemcpyDefault));
    for (int i = 0; i < 2; i++) { launch(i, PDL_OVERLAP_REQUIRED, BATCH, 1); } // more would write the same again
    CHECK(cudaMemcpy(y, values[2], sizeof(y), cudaMemcpyDefault));
    for (int i = 0; i < 2 * BATCH * WIDTH; i++) {
        const int row = i % WIDTH, l = i / (BATCH * WIDTH), b = i / WIDTH % BATCH;
        const float *rows = host + (l * WIDTH + row) * WIDTH, *in = (l == 0 ? x : hidden) + b * WIDTH;
        float sum = 0;
        for (int c = 0; c < WIDTH; c++) { sum += rows[c] * in[c]; }
        sum = sum > 0 ? sum : 0;
        if (l == 0) { hidden[b * WIDTH + row] = sum; } else { wrong += y[b * WIDTH + row] != sum; }
    }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("09_two_layers: plain %.2f us, PDL %.2f us per layer, gain %.2fx, %.0f %% of the limit, "
           "%d values wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
