// 08_graph_by_hand: a graph without a stream. Edges say how early each kernel may start, and are checked. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 08_graph_by_hand.cu -o 08_graph_by_hand
#include <stdio.h>
#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { fprintf(stderr, \
    "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); exit(1); } } while (0)
enum { N = 1 << 20, THREADS = 256, TAPS = 2000, CHAIN = 40, REPEATS = 101 };

static pdl_kernel blend_kernel;
static cudaStream_t stream; static cudaEvent_t begin, end;
static unsigned *buffer[2], host[N]; static int blocks; // one per multiprocessor

__global__ void blend(unsigned *out, const unsigned *in, int n, int taps)
{
    unsigned w = 1;
    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; }
    pdl_wait(); // each kernel waits: behind one that does not, a full edge would not cover what came before it
    pdl_trigger(); // here, so that one kernel is ahead, and each block where its words are: see 07_captured_stream
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

static pdl_waits waits(cudaGraphNode_t, void *) { return PDL_WAITS_YES; } // every node is a blend, and blend waits

static void check(cudaGraph_t graph) // an edge over which a kernel could miss what another one stores would be found
{
    static unsigned char scratch[PDL_GRAPH_SCRATCH(CHAIN, CHAIN)];
    pdl_graph_finding found[CHAIN];
    size_t bytes = sizeof(scratch), count = CHAIN;
    CHECK(pdl_graph_check(graph, waits, NULL, scratch, &bytes, found, &count));
    if (count != 0) { fprintf(stderr, "%s\n", found[0].sentence); exit(1); }
}

static cudaGraph_t build(unsigned overlap, int length, int n, int taps)
{
    cudaGraph_t graph; cudaGraphNode_t node; pdl_graph_edge edge = PDL_ZERO; pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE; CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < length; i++, edge.from = node) { // the first one has no edge
        void *args[] = {&buffer[(i + 1) % 2], &buffer[i % 2], &n, &taps};
        edge.kind = overlap != PDL_OVERLAP_NONE ? PDL_EDGE_PROGRAMMATIC : PDL_EDGE_FULL;
        CHECK(pdl_graph_add_kernel(&node, graph, &edge, i != 0, &blend_kernel, blocks, THREADS, args, 0, &options));
    }
    check(graph);
    return graph;
}

// ---- measuring: variants interleaved, each a graph that is replayed ----
static const struct { unsigned overlap; int length, n, taps; } v[] = {
    {0, CHAIN, N, TAPS}, {1, CHAIN, N, TAPS}, {1, CHAIN, 0, 0}, // plain, PDL, its bare boundaries
    {0, 1, N, 0}, {0, 1, 0, 0}, // the main part alone, and an empty launch to take off
};
static cudaGraphExec_t exec[5];
static float us[5][REPEATS];

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
    unsigned wrong = 0, w = 1, x = 0;
    if (pdl_kernel_init(&blend_kernel, blend) != cudaSuccess || !blend_kernel.can_overlap) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr); return 77;
    }
    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, blend_kernel.device));
    CHECK(cudaStreamCreate(&stream)); CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&buffer[i], sizeof(host))); }
    CHECK(cudaMemset(buffer[0], 0, sizeof(host)));
    for (int k = 0; k < 5; k++) {
        cudaGraph_t graph = build(v[k].overlap, v[k].length, v[k].n, v[k].taps);
        CHECK(cudaGraphInstantiateWithFlags(&exec[k], graph, 0)); CHECK(cudaGraphDestroy(graph));
    }
    CHECK(cudaGraphLaunch(exec[1], stream));
    CHECK(cudaMemcpy(host, buffer[0], sizeof(host), cudaMemcpyDefault));
    for (int k = 0; k < TAPS; k++) { w = w * 1664525u + 1013904223u; }
    for (int k = 0; k < CHAIN; k++) { x = 3 * x + w; }
    for (int i = 0; i < N; i++) { wrong += host[i] != x; }
    for (int i = 0; i < 5 * REPEATS; i++) { us[i % 5][i / 5] = time_us(i % 5); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("08_graph_by_hand: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
