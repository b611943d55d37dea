// 07_captured_stream: a stream of overlapping launches captured into a graph, which keeps the overlap. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 07_captured_stream.cu -o 07_captured_stream
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 20, THREADS = 256, TAPS = 2000 };

static int blocks; // one per multiprocessor

__global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = gridDim.x;

    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait();
    pdl_trigger(); // not first: then a graph starts so many kernels ahead that blocks leave the multiprocessor on which
                   // their words were stored, and read them from further away (bench: traffic_mib)
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += gridDim.x * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    unsigned *out = buffer[(step + 1) % 2], *in = buffer[step % 2];

    CHECK(pdl::launch(blend, blocks, THREADS, 0, stream, overlap, out, in, words, taps));
}

// What you would write: the launches do not know that the stream is captured. measure() does the same.
cudaGraphExec_t capture(cudaStream_t stream, int steps)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < steps; i++) {
        launch(stream, i, PDL_OVERLAP_IF_POSSIBLE, WORDS, TAPS);
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
    m.name = "07_captured_stream";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    m.in_graph = 1;
    return measure(&m);
}
