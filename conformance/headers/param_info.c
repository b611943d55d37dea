#include "param_info.h"

#include <cuda_runtime_api.h>

int param_info_count = 1;

#if CUDART_VERSION >= 12040
cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size)
{
    if (param_info_count < 0) {
        return cudaSetDevice(99); /* fails, and leaves its error as the last one */
    }
    if (func == NULL || index >= (size_t)param_info_count) {
        return cudaGetDevice(NULL);
    }
    *offset = 4 * index;
    *size = 4;
    return cudaSuccess;
}
#endif
