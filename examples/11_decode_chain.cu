// 11_decode_chain: 20 small dependent kernels, as for one token, in a graph that is replayed. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 11_decode_chain.cu -o 11_decode_chain
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { WIDTH = 512, WARPS = 8, THREADS = 32 * WARPS, BLOCKS = WIDTH / WARPS, CHAIN = 20, REPEATS = 101 };

static pdl_kernel step_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *weights, *state[2], host[CHAIN * WIDTH * WIDTH], x[2][WIDTH], y[WIDTH];

// One warp per row: a row of weights (nobody writes them, so they are fetched before the wait) times the state.
__global__ void step(unsigned *out, const unsigned *in, const unsigned *rows, int columns, int early)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned w[WIDTH / 32], sum = 0;
    pdl_trigger();
    for (int k = 0; k < WIDTH / 32; k++) { w[k] = early ? rows[row * WIDTH + 32 * k + lane] : 1; }
    pdl_wait();
    const unsigned *fresh = pdl_fresh(in);
    for (int k = 0; k < WIDTH / 32; k++) { sum += 32 * k < columns ? w[k] * fresh[32 * k + lane] : 0; }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (lane == 0 && columns != 0) { pdl_fresh(out)[row] = sum ^ sum >> 7; }
}

static void launch(int i, unsigned overlap, int columns, int early)
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(pdl_launch(&step_kernel, step, BLOCKS, THREADS, 0, stream, &options, state[(i + 1) % 2], state[i % 2],
                     weights + i * WIDTH * WIDTH, columns, early));
}

// ---- measuring: variants interleaved, each captured into a graph and replayed ----
static const struct { unsigned overlap; int from, to, columns, early; } v[] = {
    {0, 0, CHAIN, WIDTH, 1}, {1, 0, CHAIN, WIDTH, 1}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, WIDTH, 0}, {0, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static cudaGraphExec_t exec[5];
static float us[5][REPEATS];

static void build(int k)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].columns, v[k].early); }
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
    CHECK(cudaMalloc(&weights, sizeof(host)));
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&state[i], sizeof(y))); }
    for (unsigned i = 0; i < CHAIN * WIDTH * WIDTH; i++) { host[i] = i * 2654435761u >> 20; }
    for (unsigned i = 0; i < WIDTH; i++) { x[0][i] = i; }
    CHECK(cudaMemcpy(weights, host, sizeof(host), cudaMemcpyDefault));
    CHECK(cudaMemcpy(state[0], x[0], sizeof(y), cudaMemcpyDefault));
    for (int k = 0; k < 5; k++) { build(k); }
    CHECK(cudaGraphLaunch(exec[1], stream));
    CHECK(cudaMemcpy(y, state[0], sizeof(y), cudaMemcpyDefault));
    for (int r = 0; r < CHAIN * WIDTH; r++) {
        unsigned sum = 0;
        for (int c = 0; c < WIDTH; c++) { sum += host[r * WIDTH + c] * x[r / WIDTH % 2][c]; }
        x[(r / WIDTH + 1) % 2][r % WIDTH] = sum ^ sum >> 7;
    }
    for (int i = 0; i < WIDTH; i++) { wrong += y[i] != x[0][i]; }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("11_decode_chain: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
