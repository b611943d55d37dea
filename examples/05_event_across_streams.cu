// 05_event_across_streams: a programmatic event starts a kernel in another stream early, in a graph. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 05_event_across_streams.cu -o 05_event_across_streams
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 18, BLOCKS = 64, THREADS = 256, TAPS = 1000, STEPS = 20 };

static cudaStream_t side[STEPS];
static cudaEvent_t triggered, joined;

__global__ void step(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = 1;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait(); // also in the other stream: the event says "triggered", not "complete"
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

// One round: a step from buffer 0 to 1; from there two more, to 0 and 2. Each round has its own side stream: in a used
// one the kernel before would be a second edge, and a kernel with two edges does not start early.
static void launch(cudaStream_t stream, int round, pdl_overlap overlap, int words, int taps)
{
    unsigned *a = buffer[0], *b = buffer[1], *c = buffer[2];
    pdl_options first = PDL_ZERO; // itself it starts in order, because it follows two streams

    first.event = overlap ? triggered : NULL;
    CHECK(pdl::launch(step, BLOCKS, THREADS, 0, stream, first, b, a, words, taps));
    if (!overlap) { // the same program, only later
        CHECK(cudaEventRecord(triggered, stream));
    }
    CHECK(cudaStreamWaitEvent(side[round], triggered, 0));
    CHECK(pdl::launch(step, BLOCKS, THREADS, 0, side[round], overlap, c, b, words, taps));
    CHECK(pdl::launch(step, BLOCKS, THREADS, 0, stream, overlap, a, b, words, taps));
    CHECK(cudaEventRecord(joined, side[round])); // an ordinary event: the next round needs both to be complete
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(pdl_event_create(&triggered));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    for (int i = 0; i < STEPS; i++) {
        CHECK(cudaStreamCreate(&side[i]));
    }
    m.name = "05_event_across_streams";
    m.per = "round";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    m.steps = STEPS;
    m.in_graph = 1;
    return measure(&m);
}
