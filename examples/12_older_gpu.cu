// 12_older_gpu: one program for every GPU. A kernel that cannot overlap is launched as usual. Licence: 0BSD
// nvcc -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -I.. 12_older_gpu.cu -o 12_older_gpu
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, CHAIN = 40, REPEATS = 101 };

static pdl_kernel blend_kernel, older_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *buffer[2], host[N];

__host__ __device__ static unsigned weight(unsigned w, int taps)
{
    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; }
    return w;
}

__global__ void blend(unsigned *out, const unsigned *in, int n, int taps)
{
    pdl_trigger();
    const unsigned w = weight(gridDim.x, taps);
    pdl_wait();
    const unsigned *fresh = pdl_fresh(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * fresh[i] + w;
    }
}

static void launch(int i, const pdl_kernel *kernel, int n, int taps) // the same for every GPU
{
    pdl_options options = PDL_ZERO;
    options.overlap = PDL_OVERLAP_IF_POSSIBLE; // PDL_OVERLAP_REQUIRED would be an error on an older GPU
    CHECK(pdl_launch(kernel, blend, BLOCKS, THREADS, 0, stream, &options, buffer[(i + 1) % 2], buffer[i % 2], n, taps));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { const pdl_kernel *kernel; int from, to, n, taps; } v[] = {
    {&older_kernel, 0, CHAIN, N, TAPS}, {&blend_kernel, 0, CHAIN, N, TAPS}, {&blend_kernel, 0, CHAIN, 0, 0},
    {&older_kernel, 0, 1, N, 0}, {&older_kernel, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static float us[5][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].kernel, v[k].n, v[k].taps); }
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
    unsigned wrong = 0, w = weight(BLOCKS, TAPS);
    if (pdl_kernel_init(&blend_kernel, blend) != cudaSuccess) {
        fputs("skipped: no GPU here that this file was compiled for\n", stderr); return 77;
    }
    setenv("PDL_DISABLE", "1", 1); // the kill switch takes the road of an older GPU on any GPU
    CHECK(pdl_kernel_init(&older_kernel, blend));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&buffer[i], sizeof(host))); }
    for (int round = 0; round < 2; round++) { // right on both roads
        for (unsigned i = 0; i < N; i++) { host[i] = i; }
        CHECK(cudaMemcpy(buffer[0], host, sizeof(host), cudaMemcpyDefault));
        for (int i = 0; i < CHAIN; i++) { launch(i, round == 0 ? &blend_kernel : &older_kernel, N, TAPS); }
        CHECK(cudaMemcpy(host, buffer[0], sizeof(host), cudaMemcpyDefault));
        for (unsigned i = 0, x = 0; i < N; x = ++i) {
            for (int k = 0; k < CHAIN; k++) { x = 3 * x + w; }
            wrong += host[i] != x;
        }
    }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("12_older_gpu: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong (%s)\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong,
           pdl_reason_string(blend_kernel.reason));
    return wrong != 0;
}
