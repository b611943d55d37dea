// 10_reduction: a sum in two kernels. The second is so small that it is mostly boundary. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 10_reduction.cu -o 10_reduction
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, CHAIN = 40, REPEATS = 101 };

static pdl_kernel partial_kernel, total_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *values, *sums, host[N];

__device__ static void add_up(unsigned *out, unsigned sum) // the sum of the block's threads, written by one of them
{
    __shared__ unsigned warp[THREADS / 32];
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0) { warp[threadIdx.x / 32] = sum; }
    __syncthreads();
    for (int k = 1; threadIdx.x == 0 && k < THREADS / 32; k++) { sum += warp[k]; }
    if (threadIdx.x == 0) { *out = sum; }
}

__global__ void partial(unsigned *out, const unsigned *in, int n)
{
    unsigned sum = 0;
    pdl_trigger();
    pdl_wait(); // the total of the sum before this one may still be reading: stores have to wait, too
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) { sum += pdl_fresh(in)[i]; }
    if (n != 0) { add_up(pdl_fresh(out) + blockIdx.x, sum); }
}

__global__ void total_of(unsigned *out, const unsigned *in, int n)
{
    pdl_trigger();
    pdl_wait();
    if (n != 0) { add_up(pdl_fresh(out), threadIdx.x < BLOCKS ? pdl_fresh(in)[threadIdx.x] : 0); }
}

static void launch(int i, unsigned overlap, int n)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(i % 2 == 0 ? pdl_launch(&partial_kernel, partial, BLOCKS, THREADS, 0, stream, &options, sums, values, n)
                     : pdl_launch(&total_kernel, total_of, 1, THREADS, 0, stream, &options, sums + BLOCKS, sums, n));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, n; } v[] = {
    {0, 0, CHAIN, N}, {1, 0, CHAIN, N}, {1, 0, CHAIN, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, N}, {0, 0, 1, 0}, {0, 1, 2, N}, {0, 1, 2, 0}, // each main part alone, and an empty launch to take off
};
static float us[7][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].n); }
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
    unsigned sum = 0, expected = 0, wrong;
    if (pdl_kernel_init(&partial_kernel, partial) != cudaSuccess || !partial_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&total_kernel, total_of));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&values, sizeof(host)));
    CHECK(cudaMalloc(&sums, (BLOCKS + 1) * sizeof(unsigned)));
    for (unsigned i = 0; i < N; i++) { expected += host[i] = i * i; }
    CHECK(cudaMemcpy(values, host, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < 2; i++) { launch(i, PDL_OVERLAP_REQUIRED, N); }
    CHECK(cudaMemcpy(&sum, sums + BLOCKS, sizeof(sum), cudaMemcpyDefault));
    wrong = sum != expected;
    for (int i = 0; i < 7 * REPEATS; i++) { us[i % 7][i / 7] = time_us(i % 7); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + (median(us[3]) - median(us[4]) + median(us[5]) - median(us[6])) / 2;
    printf("10_reduction: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
