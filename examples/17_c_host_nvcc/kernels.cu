// The kernels of 17_c_host_nvcc. Licence: 0BSD
#include "pdl_device.cuh"

extern "C" __global__ void blend(unsigned *out, const unsigned *in, int words, int taps)
{
    unsigned w = 1;

    pdl_trigger();
    for (int k = 0; k < taps; k++) { // prologue
        w = w * 1664525u + 1013904223u;
    }
    pdl_wait();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;
    }
}
