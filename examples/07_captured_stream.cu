// 07_captured_stream: a stream of overlapping launches captured into a graph, which keeps the overlap. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 07_captured_stream.cu -o 07_captured_stream
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 20, THREADS = 256, TAPS = 2000, CHAIN = 40, REPEATS = 101 };

static pdl_kernel blend_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *buffer[2], host[N]; static int blocks; // one per multiprocessor

__host__ __device__ static unsigned weight(unsigned w, int taps)
{
    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; }
    return w;
}

__global__ void blend(unsigned *out, const unsigned *in, int n, int taps)
{
    const unsigned w = weight(gridDim.x, taps);
    pdl_wait();
    pdl_trigger(); // not first: then a graph starts so many kernels ahead that blocks leave the multiprocessor on which
                   // their words were stored, and read them from further away (bench: traffic_mib)
    const unsigned *fresh = pdl_fresh(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        pdl_fresh(out)[i] = 3 * fresh[i] + w;
    }
}

static void launch(int i, unsigned overlap, int n, int taps) // nothing here knows whether the stream is captured
{
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(pdl_launch(&blend_kernel, blend, blocks, THREADS, 0, stream, &options, buffer[(i + 1) % 2],
                     buffer[i % 2], n, taps));
}

// ---- measuring: variants interleaved, each captured into a graph and replayed ----
static const struct { unsigned overlap; int from, to, n, taps; } v[] = {
    {0, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, N, TAPS}, {1, 0, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 0, 1, N, 0}, {0, 0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static cudaGraphExec_t exec[5];
static float us[5][REPEATS];

static void build(int k)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = v[k].from; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].n, v[k].taps); }
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
    unsigned wrong = 0;
    if (pdl_kernel_init(&blend_kernel, blend) != cudaSuccess || !blend_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, blend_kernel.device));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&buffer[i], sizeof(host))); }
    for (unsigned i = 0; i < N; i++) { host[i] = i; }
    CHECK(cudaMemcpy(buffer[0], host, sizeof(host), cudaMemcpyDefault));
    for (int k = 0; k < 5; k++) { build(k); }
    CHECK(cudaGraphLaunch(exec[1], stream));
    CHECK(cudaMemcpy(host, buffer[0], sizeof(host), cudaMemcpyDefault));
    for (unsigned i = 0, w = weight(blocks, TAPS); i < N; i++) {
        unsigned x = i;
        for (int k = 0; k < CHAIN; k++) { x = 3 * x + w; }
        wrong += host[i] != x;
    }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("07_captured_stream: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
