// 06_launch_completion: other work moves in beside a kernel once all of its blocks have begun. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 06_launch_completion.cu -o 06_launch_completion
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, ROUNDS = 400, CHAIN = 10, REPEATS = 101 };

static pdl_kernel mix_kernel, join_kernel;
static cudaStream_t stream, side; static cudaEvent_t begin, end, begun, complete;
static unsigned *urgent, *other, *sum, host[N];

__host__ __device__ static unsigned mixed(unsigned x, int rounds)
{
    for (int k = 0; k < rounds; k++) { x = x * 1664525u + 1013904223u; }
    return x;
}

__global__ void mix(unsigned *data, unsigned salt, int rounds)
{
    pdl_wait(); // a launch-completion event gives this nothing to wait for: mix must not need the kernel it runs beside
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS) {
        pdl_fresh(data)[i] = mixed(i + salt, rounds);
    }
}

__global__ void join(unsigned *out, const unsigned *a, const unsigned *b)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS) { out[i] = a[i] + b[i]; }
}

// The urgent kernel gets its places first; the other one fills what is left, and reads none of its results.
static void launch(int i, unsigned overlap)
{
    pdl_options options = PDL_ZERO;
    options.launch_completion_event = overlap ? begun : NULL; // an event of the launch itself needs no overlap
    CHECK(pdl_launch(&mix_kernel, mix, BLOCKS, THREADS, 0, stream, &options, urgent, (unsigned)i, ROUNDS));
    if (!overlap) { CHECK(cudaEventRecord(begun, stream)); } // after the launch: at its end
    CHECK(cudaStreamWaitEvent(side, begun, 0));
    CHECK(pdl_launch(&mix_kernel, mix, BLOCKS, THREADS, 0, side, NULL, other, 7u * i, ROUNDS));
    CHECK(cudaEventRecord(complete, side)); // who reads the results waits for an ordinary event
    CHECK(cudaStreamWaitEvent(stream, complete, 0));
    CHECK(pdl_launch(&join_kernel, join, BLOCKS, THREADS, 0, stream, NULL, sum, urgent, other));
}

// ---- measuring: variants interleaved, each queued behind a busy device, so that the host's speed does not count ----
static const struct { unsigned overlap; int from, to; } v[] = {
    {0, 0, CHAIN}, {1, 0, CHAIN}, // plain: one after the other; PDL's event: side by side
};
static float us[2][REPEATS];

__global__ void hold(void) { for (long long until = clock64() + 400000; clock64() < until;) {} }

static float time_us(int k)
{
    float ms;
    hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap); }
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
    if (pdl_kernel_init(&mix_kernel, mix) != cudaSuccess || !mix_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(pdl_kernel_init(&join_kernel, join));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaStreamCreate(&side)); CHECK(cudaEventCreateWithFlags(&complete, cudaEventDisableTiming));
    CHECK(pdl_event_create(&begun));
    CHECK(cudaMalloc(&urgent, sizeof(host))); CHECK(cudaMalloc(&other, sizeof(host)));
    CHECK(cudaMalloc(&sum, sizeof(host)));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED); }
    CHECK(cudaMemcpy(host, sum, sizeof(host), cudaMemcpyDefault));
    for (unsigned i = 0, last = CHAIN - 1; i < N; i++) {
        wrong += host[i] != mixed(i + last, ROUNDS) + mixed(i + 7 * last, ROUNDS);
    }
    for (int i = 0; i < 2 * REPEATS; i++) { us[i % 2][i / 2] = time_us(i % 2); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    printf("06_launch_completion: plain %.2f us, PDL %.2f us per round, gain %.2fx, %d words wrong\n", plain, pdl,
           plain / pdl, wrong);
    return wrong != 0;
}
