// The file with the other copy.
#include "pdl.h"

#include "kernels.h"

int other_version();
cudaError_t other_launch(unsigned overlap);

int other_version()
{
    return PDL_VERSION_NUMBER;
}

cudaError_t other_launch(unsigned overlap)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    const cudaError_t error = pdl_kernel_init(&kernel, plain_kernel);

    options.overlap = static_cast<pdl_overlap>(overlap);
    return error == cudaSuccess ? pdl_launch(&kernel, plain_kernel, 1, 1, 0, nullptr, &options, number{1}) : error;
}
