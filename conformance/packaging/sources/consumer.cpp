// A user of pdl.h in C++11, a second file of the same program. Needs no GPU.
#include <pdl.h>

extern "C" int refused_in_cxx(void);

extern "C" int refused_in_cxx(void)
{
    pdl_kernel kernel = PDL_ZERO;
    const pdl_options options = PDL_ZERO;

    return pdl_kernel_init(&kernel, nullptr) == cudaErrorInvalidValue &&
           pdl_launch(&kernel, dim3(1), dim3(1), nullptr, 0, nullptr, &options) != cudaSuccess;
}
