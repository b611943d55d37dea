// 09_two_layers: two fully connected layers, weights fetched before the wait. To lint: 09_two_layers.toml Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 09_two_layers.cu -o 09_two_layers
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { WIDTH = 1024, WARPS = 8, THREADS = 32 * WARPS, BLOCKS = WIDTH / WARPS, CHAIN = 40, REPEATS = 101 };

static pdl_kernel layer_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static float *weights, *values[3], host[2 * WIDTH * WIDTH], x[WIDTH], hidden[WIDTH], y[WIDTH];

// One warp per row. The weights are written once, before the first launch, so they may be read before the wait.
__global__ void layer(float *out, const float *in, const float *rows, int columns, int early)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    float w[WIDTH / 32], sum = 0;
    pdl_trigger();
    for (int k = 0; k < WIDTH / 32; k++) { w[k] = early ? rows[row * WIDTH + 32 * k + lane] : 1.0f; }
    pdl_wait();
    const float *fresh = pdl_fresh(in);
    for (int k = 0; k < WIDTH / 32; k++) { sum += 32 * k < columns ? w[k] * fresh[32 * k + lane] : 0; }
    for (int step = 16; step > 0; step /= 2) { sum += __shfl_xor_sync(0xffffffff, sum, step); }
    if (lane == 0 && columns != 0) {
        pdl_fresh(out)[row] = sum > 0 ? sum : 0;
    }
}

static void launch(int i, unsigned overlap, int columns, int early)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap;
    CHECK(pdl_launch(&layer_kernel, layer, BLOCKS, THREADS, 0, stream, &options, values[i % 2 + 1], values[i % 2],
                     weights + i % 2 * WIDTH * WIDTH, columns, early));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, columns, early; } v[] = {
    {0, 0, CHAIN, WIDTH, 1}, {1, 0, CHAIN, WIDTH, 1}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, WIDTH, 0}, {0, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static float us[5][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].columns, v[k].early); }
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
    for (int i = 0; i < 2 * WIDTH * WIDTH; i++) { host[i] = (float)(i * 7 % 11 % 3 - 1); } // small whole numbers: exact
    for (int i = 0; i < WIDTH; i++) { x[i] = (float)(i % 5); }
    CHECK(cudaMemcpy(weights, host, sizeof(host), cudaMemcpyDefault));
    CHECK(cudaMemcpy(values[0], x, sizeof(x), cudaMemcpyDefault));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED, WIDTH, 1); }
    CHECK(cudaMemcpy(y, values[2], sizeof(y), cudaMemcpyDefault));
    for (int l = 0; l < 2; l++) {
        for (int r = 0; r < WIDTH; r++) {
            float sum = 0;
            for (int c = 0; c < WIDTH; c++) { sum += host[(l * WIDTH + r) * WIDTH + c] * (l == 0 ? x : hidden)[c]; }
            if (l == 0) { hidden[r] = sum > 0 ? sum : 0; } else { wrong += y[r] != (sum > 0 ? sum : 0); }
        }
    }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("09_two_layers: plain %.2f us, PDL %.2f us per layer, gain %.2fx, %.0f %% of the limit, "
           "%d values wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
