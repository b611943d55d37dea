/* driver_launch.h - launches a kernel by cuLaunchKernelEx, as cudaLaunchKernelExC does, or with its arguments in one piece. */
#ifndef DRIVER_LAUNCH_H_INCLUDED
#define DRIVER_LAUNCH_H_INCLUDED

#include <string.h>

#include <cuda.h>

#include "driver_function.h"

#define DRIVER_ATTRIBUTES 32u  /* at most */

/* The values in a list of pointers, or all in one piece as `extra` tells. An older driver has no such call: the runtime launches then,
 * with the list. */
static cudaError_t launch_as_driver_is_told(const cudaLaunchConfig_t *from, const void *kernel, void **values, void **extra)
{
    typedef CUresult(CUDAAPI *launch_fn)(const CUlaunchConfig *, CUfunction, void **, void **);
    CUlaunchAttribute attrs[DRIVER_ATTRIBUTES];
    CUlaunchConfig config;
    cudaFunction_t function = NULL;
    void *launch = NULL;

    if (driver_function("cuLaunchKernelEx", 11060, &launch) != cudaSuccess || cudaGetFuncBySymbol(&function, kernel) != cudaSuccess) {
        (void)cudaGetLastError();
        return cudaLaunchKernelExC(from, kernel, values);
    }
    memset(&config, 0, sizeof(config));
    config.gridDimX = from->gridDim.x, config.gridDimY = from->gridDim.y, config.gridDimZ = from->gridDim.z;
    config.blockDimX = from->blockDim.x, config.blockDimY = from->blockDim.y, config.blockDimZ = from->blockDim.z;
    config.sharedMemBytes = (unsigned)from->dynamicSmemBytes;
    config.hStream = (CUstream)from->stream;
    if (from->numAttrs)
        memcpy(attrs, from->attrs, from->numAttrs * sizeof(attrs[0])); /* both libraries have the same attributes */
    config.attrs = attrs;
    config.numAttrs = from->numAttrs;
    return (cudaError_t)((launch_fn)launch)(&config, (CUfunction)function, extra ? NULL : values, extra);
}

static inline cudaError_t launch_by_driver(const cudaLaunchConfig_t *from, const void *kernel, void **values)
{
    return launch_as_driver_is_told(from, kernel, values, NULL);
}

/* The kernel's only argument, of so many bytes, in one piece. */
static inline cudaError_t launch_in_piece(const cudaLaunchConfig_t *from, const void *kernel, void *args, size_t bytes)
{
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, args, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };

    return launch_as_driver_is_told(from, kernel, &args, extra);
}

#endif
