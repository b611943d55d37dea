// 13_memset_replaced: a memset between two kernels ends the overlap; a kernel that clears keeps it. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 13_memset_replaced.cu -o 13_memset_replaced
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 18, BINS = 256, BLOCKS = 128, THREADS = 256, CHAIN = 40, REPEATS = 101 };

static pdl_kernel clear_kernel, count_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *values, *bins, host[N], counted[BINS], expected[BINS];

__global__ void clear(unsigned *out, int n)
{
    pdl_trigger();
    pdl_wait(); // for the kernel that read the bins; and so that who waits for this one waits for that one, too
    if (n != 0) { pdl_fresh(out)[threadIdx.x] = 0; }
}

__global__ void count(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned own[BINS];
    pdl_trigger();
    own[threadIdx.x] = 0;
    __syncthreads();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        atomicAdd(&own[pdl_fresh(in)[i] % BINS], 1);
    }
    __syncthreads();
    if (n != 0) { atomicAdd(&pdl_fresh(out)[threadIdx.x], own[threadIdx.x]); }
}

static void launch(int i, unsigned overlap, int memset, int n)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    options.carveout = 25; // one kernel has shared memory and one has not: see 04_carveouts
    if (i % 2 == 0 && memset) {
        CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof(unsigned), stream));
    } else {
        CHECK(i % 2 == 0 ? pdl_launch(&clear_kernel, clear, 1, BINS, 0, stream, &options, bins, n)
                         : pdl_launch(&count_kernel, count, BLOCKS, THREADS, 0, stream, &options, bins, values, n));
    }
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, memset, n; } v[] = {
    {0, 0, CHAIN, 1, N}, {1, 0, CHAIN, 0, N}, {1, 0, CHAIN, 0, 0}, // memset and plain, clear and PDL, edges
    {0, 0, 1, 0, N}, {0, 0, 1, 0, 0}, {0, 1, 2, 0, N}, {0, 1, 2, 0, 0}, {1, 0, CHAIN, 1, N}, // last: memset and PDL
};
static float us[8][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].memset, v[k].n); }
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
    if (pdl_kernel_init(&clear_kernel, clear) != cudaSuccess || !clear_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&count_kernel, count));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&values, sizeof(host)));
    CHECK(cudaMalloc(&bins, sizeof(counted)));
    for (unsigned i = 0; i < N; i++) { expected[(host[i] = i * i >> 3) % BINS]++; }
    CHECK(cudaMemcpy(values, host, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED, 0, N); }
    CHECK(cudaMemcpy(counted, bins, sizeof(counted), cudaMemcpyDefault));
    for (int i = 0; i < BINS; i++) { wrong += counted[i] != expected[i]; }
    for (int i = 0; i < 8 * REPEATS; i++) { us[i % 8][i / 8] = time_us(i % 8); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN, other = median(us[7]) / CHAIN;
    float limit = median(us[2]) / CHAIN + (median(us[3]) - median(us[4]) + median(us[5]) - median(us[6])) / 2;
    printf("13_memset_replaced: plain %.2f us, PDL %.2f us per step, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong (PDL around a memset %.2f us)\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong, other);
    return wrong != 0;
}
