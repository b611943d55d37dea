/* A user of pdl.h in C99. Needs no GPU: it only makes calls that are refused before CUDA is asked. */
#include <pdl.h>
#include <stdio.h>

int main(void)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    const dim3 one = {1, 1, 1};

    if (pdl_kernel_init(&kernel, NULL) != cudaErrorInvalidValue) {
        return 1;
    }
    options.overlap = PDL_OVERLAP_REQUIRED;
    if (pdl_launch(&kernel, one, one, NULL, 0, NULL, &options) == cudaSuccess) {
        return 1;
    }
    printf("pdl %d.%d.%d\n", PDL_VERSION_MAJOR, PDL_VERSION_MINOR, PDL_VERSION_PATCH);
    return 0;
}
