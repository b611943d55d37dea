/* The file with the other copy. */
#include "pdl.h"

#include "kernels.h"

int other_version(void);
cudaError_t other_launch(unsigned overlap);

int other_version(void)
{
    return PDL_VERSION_NUMBER;
}

cudaError_t other_launch(unsigned overlap)
{
    struct number number = {1};
    void *args[] = {&number};
    const dim3 one = {1, 1, 1};
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    const cudaError_t error = pdl_kernel_init(&kernel, (const void *)plain_kernel);

    options.overlap = overlap;
    return error == cudaSuccess ? pdl_launch(&kernel, one, one, args, 0, 0, &options) : error;
}
