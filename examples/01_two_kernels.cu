// 01_two_kernels: the smallest change. Each kernel gains a trigger and a wait, each launch one option. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 01_two_kernels.cu -o 01_two_kernels
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, CHAIN = 40, REPEATS = 101 };

static pdl_kernel twice_kernel, square_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *a, *b, host[N];

__global__ void twice(unsigned *out, const unsigned *in, int n)
{
    pdl_trigger(); // the next kernel may start from here on: a hint that publishes nothing
    pdl_wait();    // every thread: the kernel before is complete, and its stores are visible
    const unsigned *fresh = pdl_fresh(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 2 * fresh[i] + 1;
    }
}

__global__ void square(unsigned *out, const unsigned *in, int n)
{
    pdl_trigger();
    pdl_wait();
    const unsigned *fresh = pdl_fresh(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = fresh[i] * fresh[i];
    }
}

static void launch(int i, unsigned overlap, int n) // with overlap 0 it is the same as <<<BLOCKS, THREADS, 0, stream>>>
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(i % 2 == 0 ? pdl_launch(&twice_kernel, twice, BLOCKS, THREADS, 0, stream, &options, b, a, n)
                     : pdl_launch(&square_kernel, square, BLOCKS, THREADS, 0, stream, &options, a, b, n));
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
    int wrong = 0;
    if (pdl_kernel_init(&twice_kernel, twice) != cudaSuccess || !twice_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&square_kernel, square));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&a, 2 * sizeof(host)));
    b = a + N;
    for (unsigned i = 0; i < N; i++) { host[i] = i; }
    CHECK(cudaMemcpy(a, host, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED, N); }
    CHECK(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDefault));
    for (unsigned i = 0; i < N; i++) {
        unsigned x = i;
        for (int k = 0; k < CHAIN / 2; k++) { x = (2 * x + 1) * (2 * x + 1); }
        wrong += host[i] != x;
    }
    for (int i = 0; i < 7 * REPEATS; i++) { us[i % 7][i / 7] = time_us(i % 7); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + (median(us[3]) - median(us[4]) + median(us[5]) - median(us[6])) / 2;
    printf("01_two_kernels: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
