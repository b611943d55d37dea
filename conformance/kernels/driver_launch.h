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
    void *launch = driver_function_if_any("cuLaunchKernelEx", 11060);

    if (!launch || cudaGetFuncBySymbol(&function, kernel) != cudaSuccess) {
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

/* A kernel's arguments in one piece, for calls that take `extra`. */
struct piece {
    size_t bytes;
    void *extra[5];
};

static inline void in_piece(struct piece *piece, void *args, size_t bytes)
{
    piece->bytes = bytes;
    piece->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    piece->extra[1] = args;
    piece->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    piece->extra[3] = &piece->bytes;
    piece->extra[4] = CU_LAUNCH_PARAM_END;
}

/* By cuLaunchKernel, which takes no attributes. */
static cudaError_t launch_piece_simply(const cudaLaunchConfig_t *from, const void *kernel, struct piece *piece)
{
    typedef CUresult(CUDAAPI *launch_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
    dim3 grid = from->gridDim, block = from->blockDim;
    cudaFunction_t function = NULL;
    void *launch = NULL;
    cudaError_t error = driver_function("cuLaunchKernel", 4000, &launch);

    if (error == cudaSuccess)
        error = cudaGetFuncBySymbol(&function, kernel);
    if (error != cudaSuccess)
        return error;
    return (cudaError_t)((launch_fn)launch)((CUfunction)function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)from->dynamicSmemBytes,
                                            (CUstream)from->stream, NULL, piece->extra);
}

/* The kernel's only argument, of so many bytes, in one piece; simply: by the call without attributes, if there are none. */
static inline cudaError_t launch_in_piece(const cudaLaunchConfig_t *from, const void *kernel, void *args, size_t bytes, int simply)
{
    struct piece piece;

    in_piece(&piece, args, bytes);
    return simply && from->numAttrs == 0 ? launch_piece_simply(from, kernel, &piece) : launch_as_driver_is_told(from, kernel, &args, piece.extra);
}

#endif
