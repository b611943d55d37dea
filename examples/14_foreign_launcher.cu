// 14_foreign_launcher: a library launches the kernel (CUTLASS, CUB); pdl.h only fills in the attributes. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 14_foreign_launcher.cu -o 14_foreign_launcher
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000 };

static pdl_kernel blend_kernel;

__global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = 1;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}

// Stands for somebody else's code that launches your kernel and takes attributes, but knows nothing of PDL.
static cudaError_t library_launch(const void *func, void **args, cudaStream_t stream, cudaLaunchAttribute *attrs,
                                  unsigned num_attrs)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = BLOCKS;
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = attrs;
    config.numAttrs = num_attrs;
    return cudaLaunchKernelExC(&config, func, args);
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    void *args[] = {&buffer[(step + 1) % 2], &buffer[step % 2], &words, &taps};
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    pdl_options options = PDL_ZERO;
    unsigned count;

    options.overlap = overlap;
    CHECK(pdl_attributes_fill(&blend_kernel, &options, attrs, PDL_MAX_ATTRIBUTES, &count));
    CHECK(library_launch((const void *)blend, args, stream, attrs, count));
    CHECK(pdl_events_record_behind(&blend_kernel, &options, stream)); // only matters with events; costs nothing without
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(pdl_kernel_init(&blend_kernel, blend));
    m.name = "14_foreign_launcher";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
