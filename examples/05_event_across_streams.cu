// 05_event_across_streams: a programmatic event starts a kernel in another stream early, in a graph. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 05_event_across_streams.cu -o 05_event_across_streams
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 18, BLOCKS = 64, THREADS = 256, TAPS = 1000, CHAIN = 20, REPEATS = 101 };
static pdl_kernel step_kernel;
static cudaStream_t stream, side[CHAIN]; static cudaEvent_t begin, end, triggered, joined;
static unsigned *state[3], host[2][N];

__global__ void step(unsigned *out, const unsigned *in, int n, int taps)
{
    unsigned w = 1;
    pdl_trigger();
    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; } // prologue
    pdl_wait(); // also in the other stream: the event says "triggered", not "complete"
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

// One round: a step from state 0 to 1; from there two more, to 0 and 2. Each round has its own side stream: in a used
// one the kernel before would be a second edge, and a kernel with two edges does not start early.
static void launch(int i, unsigned overlap, int n, int taps)
{
    pdl_options first = PDL_ZERO, second = PDL_ZERO;
    second.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    first.event = overlap ? triggered : NULL; // its launch is an ordinary one, because it follows two streams
    CHECK(pdl_launch(&step_kernel, step, BLOCKS, THREADS, 0, stream, &first, state[1], state[0], n, taps));
    if (!overlap) { CHECK(cudaEventRecord(triggered, stream)); } // the same program, only later
    CHECK(cudaStreamWaitEvent(side[i], triggered, 0));
    CHECK(pdl_launch(&step_kernel, step, BLOCKS, THREADS, 0, side[i], &second, state[2], state[1], n, taps));
    CHECK(pdl_launch(&step_kernel, step, BLOCKS, THREADS, 0, stream, &second, state[0], state[1], n, taps));
    CHECK(cudaEventRecord(joined, side[i])); // an ordinary event: the next round needs both to be complete
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
}

// ---- measuring: variants interleaved, each captured into a graph and replayed ----
static const struct { unsigned overlap; int n, taps; } v[] = {
    {0, N, TAPS}, {1, N, TAPS}, {1, 0, 0}, // plain, PDL, its bare boundaries
    {0, N, 0}, {0, 0, 0}, // rounds of main parts alone, and empty rounds to take off
};
static cudaGraphExec_t exec[5];
static float us[5][REPEATS];

static void build(int k)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < CHAIN; i++) { launch(i, v[k].overlap, v[k].n, v[k].taps); }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec[k], graph, 0)); CHECK(cudaGraphDestroy(graph));
}

static float time_us(int k)
{
    float ms;
    CHECK(cudaGraphLaunch(exec[0], stream)); // keeps the device busy, so that the host's speed does not count
    CHECK(cudaEventRecord(begin, stream)); CHECK(cudaGraphLaunch(exec[k], stream)); CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end)); CHECK(cudaEventElapsedTime(&ms, begin, end));
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
    if (pdl_kernel_init(&step_kernel, step) != cudaSuccess || !step_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming)); CHECK(pdl_event_create(&triggered));
    for (int i = 0; i < CHAIN; i++) { CHECK(cudaStreamCreate(&side[i])); }
    for (int i = 0; i < 3; i++) { CHECK(cudaMalloc(&state[i], sizeof(host[0]))); }
    CHECK(cudaMemset(state[0], 0, sizeof(host[0])));
    for (int k = 0; k < 5; k++) { build(k); }
    CHECK(cudaGraphLaunch(exec[1], stream));
    CHECK(cudaMemcpy(host[0], state[0], sizeof(host[0]), cudaMemcpyDefault));
    CHECK(cudaMemcpy(host[1], state[2], sizeof(host[1]), cudaMemcpyDefault));
    unsigned x = 0, w = 1;
    for (int k = 0; k < TAPS; k++) { w = w * 1664525u + 1013904223u; }
    for (int k = 0; k < 2 * CHAIN; k++) { x = 3 * x + w; }
    for (int i = 0; i < 2 * N; i++) { wrong += host[i / N][i % N] != x; }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = (median(us[2]) + median(us[3]) - median(us[4])) / CHAIN;
    printf("05_event_across_streams: plain %.2f us, PDL %.2f us per round, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
