// Uses the C++ additions once: no cast to prepare, typed arguments to launch. Only compiled, never run.
#include "pdl.h"

void typed_kernel(float *out, const float *in, unsigned long long count);
void bare_kernel();
cudaError_t use_typed(float *out, cudaStream_t stream);

cudaError_t use_typed(float *out, cudaStream_t stream)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_kernel bare = PDL_ZERO;
    const pdl_options options = PDL_ZERO;
    cudaError_t error = pdl_kernel_init(&kernel, typed_kernel);

    if (error == cudaSuccess) {
        error = pdl_kernel_init(&bare, bare_kernel);
    }
    if (error == cudaSuccess) {
        error = pdl_launch(&kernel, typed_kernel, dim3(2), dim3(32), 0, stream, &options, out, out, 7u);
    }
    return error == cudaSuccess ? pdl_launch(&bare, bare_kernel, 1, 1, 0, stream, nullptr) : error;
}
