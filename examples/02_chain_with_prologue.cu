// 02_chain_with_prologue: what PDL is for. Work that needs no earlier kernel goes above the wait. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 02_chain_with_prologue.cu -o 02_chain_with_prologue
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, CHAIN = 40, REPEATS = 101 };

static pdl_kernel blend_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *buffer[2], host[N];

__host__ __device__ static unsigned weight(unsigned i, int taps)
{
    for (int k = 0; k < taps; k++) { i = i * 1664525u + 1013904223u; }
    return i;
}

__global__ void blend(unsigned *out, const unsigned *in, int n, int taps)
{
    __shared__ unsigned table[THREADS];
    pdl_trigger();
    table[threadIdx.x] = weight(threadIdx.x, taps); // the prologue: it reads nothing that a kernel writes
    __syncthreads();
    pdl_wait();
    const unsigned *fresh = pdl_fresh(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * fresh[i] + table[i % THREADS];
    }
}

static void launch(int i, unsigned overlap, int n, int taps)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(pdl_launch(&blend_kernel, blend, BLOCKS, THREADS, 0, stream, &options, buffer[(i + 1) % 2],
                     buffer[i % 2], n, taps));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, n, taps; } v[] = {
    {0, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, N, 0}, {0, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static float us[5][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].n, v[k].taps); }
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
    if (pdl_kernel_init(&blend_kernel, blend) != cudaSuccess || !blend_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&buffer[i], sizeof(host))); }
    for (unsigned i = 0; i < N; i++) { host[i] = i; }
    CHECK(cudaMemcpy(buffer[0], host, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED, N, TAPS); }
    CHECK(cudaMemcpy(host, buffer[0], sizeof(host), cudaMemcpyDefault));
    for (unsigned i = 0; i < THREADS; i++) {
        const unsigned w = weight(i, TAPS);
        for (unsigned j = i; j < N; j += THREADS) {
            unsigned x = j;
            for (int k = 0; k < CHAIN; k++) { x = 3 * x + w; }
            wrong += host[j] != x;
        }
    }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("02_chain_with_prologue: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
