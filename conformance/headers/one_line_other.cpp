// The second unit of one_line.cpp: it launches the same kernel, and has a table of its own.
#include "pdl.h"

#include "kernels.h"

void launch_from_other_unit(cudaStream_t stream);

void launch_from_other_unit(cudaStream_t stream)
{
    if (pdl::launch(plain_kernel, 1, 1, 0, stream, pdl::overlap, {1}) != cudaSuccess) {
        throw 1;
    }
}
