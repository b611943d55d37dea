// clean_kernels.cuh - a chain of correct kernels with PDL, and one of them without its wait
#ifndef PDL_STRESS_CLEAN_KERNELS_CUH
#define PDL_STRESS_CLEAN_KERNELS_CUH

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../../pdl_device.cuh"

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));        \
            std::exit(69);                                                            \
        }                                                                             \
    } while (0)
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
enum { WORDS = 1 << 16, BLOCK = 256 };

extern "C" __global__ void fill(unsigned *a, unsigned seed)
{
    pdl_wait();
    a[HERE] = HERE * seed;
}
extern "C" __global__ void mix(unsigned *a, unsigned key)
{
    pdl_trigger();
    pdl_wait();
    a[HERE] = (a[HERE] ^ key) * 2654435761u;
}
extern "C" __global__ void shift(unsigned *a, unsigned *b)
{
    pdl_wait();
    b[HERE] = a[(HERE + 77) % (gridDim.x * blockDim.x)];
    pdl_trigger();
}
extern "C" __global__ void mix_quiet(unsigned *a, unsigned key)
{
    pdl_wait();
    a[HERE] = (a[HERE] ^ key) * 2654435761u;
}
extern "C" __global__ void shift_early(unsigned *a, unsigned *b)
{
    b[HERE] = a[(HERE + 77) % (gridDim.x * blockDim.x)];
}

// Both words and where the next kernel finds them.
struct words {
    unsigned *now, *next;
};

static cudaLaunchConfig_t overlapping(cudaStream_t stream, cudaLaunchAttribute *overlap)
{
    cudaLaunchConfig_t config = {};
    overlap->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap->val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = WORDS / BLOCK;
    config.blockDim = BLOCK;
    config.stream = stream;
    config.attrs = overlap;
    config.numAttrs = 1;
    return config;
}

static void launch_fill(const words &place, unsigned seed, cudaStream_t stream)
{
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t config = overlapping(stream, &overlap);
    CHECK(cudaLaunchKernelEx(&config, fill, place.now, seed));
}

static void launch_steps(words &place, unsigned steps, bool race, cudaStream_t stream)
{
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t config = overlapping(stream, &overlap);
    for (unsigned i = 0; i < steps; i++) {
        CHECK(cudaLaunchKernelEx(&config, race ? mix_quiet : mix, place.now, i));
        CHECK(cudaLaunchKernelEx(&config, race ? shift_early : shift, place.now, place.next));
        unsigned *other = place.now;
        place.now = place.next;
        place.next = other;
    }
}

#endif
