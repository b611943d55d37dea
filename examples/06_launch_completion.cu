// 06_launch_completion: other work moves in beside a kernel once all of its blocks have begun. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 06_launch_completion.cu -o 06_launch_completion
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, ROUNDS = 400, STEPS = 10 };

static cudaStream_t side;
static cudaEvent_t begun, complete;

__global__ void mix(unsigned *data, unsigned salt, int words)
{
    pdl_wait(); // a launch-completion event gives this nothing to wait for: mix must not need the kernel it runs beside
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        unsigned x = i + salt;
        for (int k = 0; k < ROUNDS; k++) {
            x = x * 1664525u + 1013904223u;
        }
        pdl_fresh(data)[i] = x;
    }
}

__global__ void join(unsigned *out, const unsigned *a, const unsigned *b, int words)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        out[i] = a[i] + b[i];
    }
}

// The urgent kernel gets its places first; the other one fills what is left, and reads none of its results.
static void launch(cudaStream_t stream, int round, pdl_overlap overlap, int words, int)
{
    unsigned *urgent = buffer[0], *other = buffer[1], *sum = buffer[2];
    pdl_options options = PDL_ZERO; // an event of the launch itself needs no overlap

    options.launch_completion_event = overlap ? begun : NULL;
    CHECK(pdl::launch(mix, BLOCKS, THREADS, 0, stream, options, urgent, 1u * round, words));
    if (!overlap) { // for comparison: recorded after the launch, that is at its end
        CHECK(cudaEventRecord(begun, stream));
    }
    CHECK(cudaStreamWaitEvent(side, begun, 0));
    CHECK(pdl::launch(mix, BLOCKS, THREADS, 0, side, PDL_OVERLAP_NONE, other, 7u * round, words));
    CHECK(cudaEventRecord(complete, side)); // readers of the results wait for an ordinary event
    CHECK(cudaStreamWaitEvent(stream, complete, 0));
    CHECK(pdl::launch(join, BLOCKS, THREADS, 0, stream, PDL_OVERLAP_NONE, sum, urgent, other, words));
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(pdl_event_create(&begun));
    CHECK(cudaEventCreateWithFlags(&complete, cudaEventDisableTiming));
    CHECK(cudaStreamCreate(&side));
    m.name = "06_launch_completion";
    m.per = "round";
    m.launch = launch;
    m.words = WORDS;
    m.steps = STEPS;
    m.no_limit = 1;
    return measure(&m);
}
