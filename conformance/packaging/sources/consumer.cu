// A user of both headers in CUDA C++. Needs no GPU: without one, preparing the kernel is refused.
#include <pdl.h>
#include <pdl_device.cuh>
#include <stdio.h>

__global__ void scale(float *out, const float *in)
{
    pdl_trigger();
    pdl_wait();
    pdl_fresh(out)[threadIdx.x] = 2.0f * pdl_fresh(in)[threadIdx.x];
}

int main()
{
    pdl_kernel kernel = PDL_ZERO;
    const cudaError_t error = pdl_kernel_init(&kernel, scale);

    printf("pdl %d.%d.%d\n", PDL_VERSION_MAJOR, PDL_VERSION_MINOR, PDL_VERSION_PATCH);
    return error == cudaSuccess || kernel.func == NULL ? 0 : 1;
}
