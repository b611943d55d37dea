/* driver_launch.h - launches a kernel by cuLaunchKernelEx, as cudaLaunchKernelExC does. */
#ifndef DRIVER_LAUNCH_H_INCLUDED
#define DRIVER_LAUNCH_H_INCLUDED

#include <string.h>

#include <cuda.h>

#include "driver_function.h"

#define DRIVER_ATTRIBUTES 32u  /* at most */

/* An older driver has no such call: the runtime launches then. */
static cudaError_t launch_by_driver(const cudaLaunchConfig_t *from, const void *kernel, void **values)
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
    return (cudaError_t)((launch_fn)launch)(&config, (CUfunction)function, values, NULL);
}

#endif
