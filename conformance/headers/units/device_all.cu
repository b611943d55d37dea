// Both headers through nvcc: every device function, the typed launch of a template kernel, fresh pointers of many types.
#include "pdl.h"
#include "pdl_device.cuh"

struct pair_of {
    float first;
    double second;
};

template <typename T> __global__ void copy(T *out, const T *in, int count)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);

    pdl_trigger();
    pdl_wait();
    if (i < count) {
        pdl_fresh(out)[i] = pdl_fresh(in)[i];
    }
}

__global__ void one_waits(volatile int *out, const pair_of *in, const void *plain)
{
    const pair_of *fresh = pdl_wait_block(in);
    volatile int *mine = pdl_fresh(out);

    mine[threadIdx.x] = static_cast<int>(fresh->first) + (pdl_fresh(plain) != nullptr) + PDL_HAS_DEVICE;
}

// The trap that fresh pointers are for: with restrict, the compiler may use the value read before the wait once more.
__global__ void restricted(float *__restrict__ out, const float *__restrict__ in)
{
    const float before = in[threadIdx.x];
    const float *fresh = pdl_wait_block(in);

    pdl_fresh(out)[threadIdx.x] = before + fresh[threadIdx.x];
}

cudaError_t use_all(float4 *out, float4 *in, cudaStream_t stream)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_kernel other = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    cudaError_t error = pdl_kernel_init(&kernel, copy<float4>);

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    if (error == cudaSuccess) {
        error = pdl_launch(&kernel, copy<float4>, 4, 128, 0, stream, &options, out, in, 512);
    }
    return error == cudaSuccess ? pdl_kernel_init(&other, one_waits) : error;
}
