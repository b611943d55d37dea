// The second file of one_line.cu.
#include "pdl.h"
#include "pdl_device.cuh"

__global__ void of_other_file(float *out)
{
    pdl_trigger();
    pdl_wait();
    (void)out;
}

cudaError_t from_other_file(cudaStream_t stream, float *out);

cudaError_t from_other_file(cudaStream_t stream, float *out)
{
    return pdl::launch(of_other_file, 1, 1, 0, stream, pdl::overlap, out);
}
