// 04_carveouts: a silent reason for no overlap, two kernels whose splits of L1 and shared memory differ. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 04_carveouts.cu -o 04_carveouts
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, CHAIN = 40, REPEATS = 101 };

static pdl_kernel first_kernel, second_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *a, host[N];

__host__ __device__ static unsigned weight(unsigned w, int taps)
{
    for (; taps > 0; taps--) { w = w * 1664525u + 1013904223u; }
    return w;
}

__global__ void first(unsigned *out, const unsigned *in, int n) // uses no shared memory
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    pdl_trigger();
    pdl_wait();
    for (; i < n; i += BLOCKS * THREADS) { pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i]; }
}

__global__ void second(unsigned *out, const unsigned *in, int n, int taps) // uses 4 KiB of it
{
    __shared__ unsigned table[4 * THREADS];
    pdl_trigger();
    for (int i = threadIdx.x; i < 4 * THREADS; i += THREADS) { table[i] = weight(i, taps / 4); }
    __syncthreads();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = pdl_fresh(in)[i] + table[i % (4 * THREADS)];
    }
}

static void launch(int i, unsigned overlap, unsigned carveout, int n, int taps)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    options.carveout = carveout; // in percent of the most there is; 0: the driver chooses for each kernel alone
    CHECK(i % 2 == 0 ? pdl_launch(&first_kernel, first, BLOCKS, THREADS, 0, stream, &options, a + N, a, n)
                     : pdl_launch(&second_kernel, second, BLOCKS, THREADS, 0, stream, &options, a, a + N, n, taps));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to; unsigned carveout; int n, taps; } v[] = {
    {0, 0, CHAIN, 0, N, TAPS}, {1, 0, CHAIN, 25, N, TAPS}, {1, 0, CHAIN, 25, 0, 0}, // plain, PDL, edges
    {0, 0, 1, 25, N, 0}, {0, 0, 1, 25, 0, 0}, {0, 1, 2, 25, N, 0}, {0, 1, 2, 25, 0, 0}, // main parts alone, and empty
    {1, 0, CHAIN, 0, N, TAPS}, // PDL, but the split is left to the driver
};
static float us[8][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].carveout, v[k].n, v[k].taps); }
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
    if (pdl_kernel_init(&first_kernel, first) != cudaSuccess || !first_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&second_kernel, second));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&a, 2 * sizeof(host)));
    CHECK(cudaMemset(a, 1, sizeof(host)));
    for (int i = 0; i < 2; i++) { launch(i, PDL_OVERLAP_REQUIRED, 25, N, TAPS); }
    CHECK(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDefault));
    for (unsigned i = 0; i < N; i++) { wrong += host[i] != 3 * 0x01010101u + weight(i % (4 * THREADS), TAPS / 4); }
    for (int i = 0; i < 8 * REPEATS; i++) { us[i % 8][i / 8] = time_us(i % 8); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN, other = median(us[7]) / CHAIN;
    float limit = median(us[2]) / CHAIN + (median(us[3]) - median(us[4]) + median(us[5]) - median(us[6])) / 2;
    printf("04_carveouts: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong (carve-outs apart %.2f us)\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong, other);
    return wrong != 0;
}
