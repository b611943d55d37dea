// 03_one_thread_waits: producer and consumer with one wait per block, and pointers made fresh behind it. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 03_one_thread_waits.cu -o 03_one_thread_waits
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 600, CHAIN = 40, REPEATS = 101 };

static pdl_kernel produce_kernel, consume_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *a, *b, host[N];

__global__ void produce(unsigned *out, const unsigned *in, int n)
{
    pdl_trigger();
    const unsigned *mine = pdl_wait_block(in); // thread 0 waits, all meet at a barrier, and get a pointer that the
    unsigned *result = pdl_fresh(out);         // compiler cannot have read before; each further pointer by pdl_fresh()
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) { result[i] = mine[i] * 5 + 1; }
}

__global__ void consume(unsigned *out, const unsigned *in, int n, int taps)
{
    unsigned w = 1;
    pdl_trigger();
    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; } // prologue: all threads; then one of them waits
    const unsigned *mine = pdl_wait_block(in);
    unsigned *result = pdl_fresh(out);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        result[i] = mine[i] + mine[i ^ 1] + w; // a neighbour's word, too: written by another thread
    }
}

static void launch(int i, unsigned overlap, int n, int taps)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(i % 2 == 0 ? pdl_launch(&produce_kernel, produce, BLOCKS, THREADS, 0, stream, &options, b, a, n)
                     : pdl_launch(&consume_kernel, consume, BLOCKS, THREADS, 0, stream, &options, a, b, n, taps));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to, n, taps; } v[] = {
    {0, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, N, 0}, {0, 0, 1, 0, 0}, {0, 1, 2, N, 0}, {0, 1, 2, 0, 0}, // each main part alone, and an empty launch
};
static float us[7][REPEATS];

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
    unsigned w = 1, wrong = 0;
    if (pdl_kernel_init(&produce_kernel, produce) != cudaSuccess || !produce_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&consume_kernel, consume));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&a, 2 * sizeof(host)));
    b = a + N;
    for (unsigned i = 0; i < N; i++) { host[i] = i * i; }
    CHECK(cudaMemcpy(a, host, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < 2; i++) { launch(i, PDL_OVERLAP_REQUIRED, N, TAPS); }
    CHECK(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDefault));
    for (int k = 0; k < TAPS; k++) { w = w * 1664525u + 1013904223u; }
    for (unsigned i = 0; i < N; i++) {
        wrong += host[i] != 5 * i * i + 1 + 5 * (i ^ 1) * (i ^ 1) + 1 + w;
    }
    for (int i = 0; i < 7 * REPEATS; i++) { us[i % 7][i / 7] = time_us(i % 7); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + (median(us[3]) - median(us[4]) + median(us[5]) - median(us[6])) / 2;
    printf("03_one_thread_waits: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
