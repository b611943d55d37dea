// 08_graph_by_hand: a graph without a stream. Edges say how early each kernel may start, and are checked. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 08_graph_by_hand.cu -o 08_graph_by_hand
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 20, THREADS = 256, TAPS = 2000, STEPS = 40 };

static pdl_kernel blend_kernel;
static int blocks; // one per multiprocessor

__global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = 1;

    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait();    // every kernel waits: after one that does not, a full edge does not cover what came before it
    pdl_trigger(); // here, so that one kernel is ahead, and each block where its words are: see 07_captured_stream
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += gridDim.x * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

static pdl_waits waits(cudaGraphNode_t, void *) // asked by pdl_graph_check: every node is a blend, and blend waits
{
    return PDL_WAITS_YES;
}

static void check(cudaGraph_t graph) // finds an edge over which a kernel could miss what another one stores
{
    static unsigned char scratch[PDL_GRAPH_SCRATCH(STEPS, STEPS)];
    pdl_graph_finding found[STEPS];
    size_t bytes = sizeof(scratch), count = STEPS;

    CHECK(pdl_graph_check(graph, waits, NULL, scratch, &bytes, found, &count));
    if (count != 0) {
        fprintf(stderr, "%s\n", found[0].sentence);
        exit(1);
    }
}

static cudaGraph_t build(int steps, pdl_overlap overlap, int words, int taps)
{
    pdl_options options = PDL_ZERO;
    pdl_graph_edge edge = PDL_ZERO;
    cudaGraph_t graph;
    cudaGraphNode_t node;

    options.overlap = overlap;
    edge.kind = overlap != PDL_OVERLAP_NONE ? PDL_EDGE_PROGRAMMATIC : PDL_EDGE_FULL;
    CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < steps; i++) {
        void *args[] = {&buffer[(i + 1) % 2], &buffer[i % 2], &words, &taps};
        const size_t edges = i != 0; // the first node has none
        CHECK(pdl_graph_add_kernel(&node, graph, &edge, edges, &blend_kernel, blocks, THREADS, args, 0, &options));
        edge.from = node;
    }
    check(graph);
    return graph;
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(pdl_kernel_init(&blend_kernel, blend));
    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, blend_kernel.device));
    measure_buffers(WORDS);
    m.name = "08_graph_by_hand";
    m.build = build;
    m.words = WORDS;
    m.prologue = TAPS;
    m.steps = STEPS;
    return measure(&m);
}
