// 12_older_gpu: one program for every GPU. A kernel that cannot overlap is launched as usual. Licence: 0BSD
// nvcc -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -I.. 12_older_gpu.cu -o 12_older_gpu
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000 };

__global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = gridDim.x;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait(); // nothing in code for older GPUs, where no kernel starts early
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

// The same for every GPU: pdl::overlap. pdl::overlap_required would be an error on an older one.
static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    unsigned *out = buffer[(step + 1) % 2], *in = buffer[step % 2];

    CHECK(pdl::launch(blend, BLOCKS, THREADS, 0, stream, overlap, out, in, words, taps));
}

int main(void)
{
    measurement m = PDL_ZERO;
    pdl_kernel kernel;

    CHECK(pdl_kernel_init(&kernel, blend)); // only to ask why: launches need no pdl_kernel
    m.name = "12_older_gpu";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    m.any_gpu = 1;
    m.note = pdl_reason_string(pdl_kernel_reason(&kernel)); // try it with PDL_DISABLE=1
    return measure(&m);
}
