// pdl::launch of templates, overloads, default arguments and conversions, through nvcc; the second file launches the same kernel.
#include "pdl.h"
#include "pdl_device.cuh"

struct pair {
    int a, b;
};

struct sizes {
    static const int all = 7; // never defined: only its value may be used
};

template <typename T, int unroll> __global__ void scale(T *out, const T *in, T factor, int count)
{
    pdl_wait();
    for (int i = static_cast<int>(threadIdx.x); i < count * unroll; i += static_cast<int>(blockDim.x)) {
        pdl_fresh(out)[i] = pdl_fresh(in)[i] * factor;
    }
}

__global__ void overloaded(int *out, int value)
{
    pdl_wait();
    out[0] = value;
}

__global__ void overloaded(float *out)
{
    pdl_wait();
    out[0] = 1.0f;
}

__global__ void takes_struct(pair value, const void *address)
{
    pdl_wait();
    (void)value, (void)address;
}

__global__ void takes_nothing()
{
    pdl_wait();
}

cudaError_t from_other_file(cudaStream_t stream, float *out);

// A generic launcher, as frameworks have them.
template <typename kernel_type, typename... arguments> cudaError_t run(kernel_type kernel, cudaStream_t stream, arguments... args)
{
    return pdl::launch(kernel, dim3(2), dim3(32), 0, stream, pdl::overlap, args...);
}

int main()
{
    cudaStream_t stream = nullptr;
    float *data = nullptr;
    int *words = nullptr;
    cudaLaunchConfig_t config = {};
    pdl_options options = PDL_ZERO;
    cudaError_t error = cudaSuccess;

    options.overlap = PDL_OVERLAP_REQUIRED;
    error = pdl::launch(scale<float, 2>, 1, 32, 0, stream, pdl::overlap, data, data, 2, 0);
    error = error == cudaSuccess ? pdl::launch(scale<double, 1>, 1, 32, 0, 0, options, NULL, nullptr, 2.0f, sizes::all) : error;
    error = error == cudaSuccess ? pdl::launch(static_cast<void (*)(int *, int)>(overloaded), 1, 1, 0, stream, pdl::overlap, words, 'a') : error;
    error = error == cudaSuccess ? pdl::launch(static_cast<void (*)(float *)>(overloaded), 1, 1, 0, stream, pdl::overlap, 0) : error;
    error = error == cudaSuccess ? pdl::launch(takes_struct, 1, 1, 0, stream, pdl::overlap_required, {1, 2}, data) : error;
    error = error == cudaSuccess ? pdl::launch(takes_nothing, 1, 1, 0, stream, &options) : error;
    error = error == cudaSuccess ? pdl::launch(&config, scale<float, 2>, data, data, 2, 0) : error;
    error = error == cudaSuccess ? run(scale<float, 2>, stream, data, data, 1.0f, 0) : error;
    error = error == cudaSuccess ? from_other_file(stream, data) : error;
    return error == cudaSuccess ? 0 : 1;
}
