/* driver_function.h - asks for a function of the driver by its name, so that nothing links the driver. */
#ifndef DRIVER_FUNCTION_H_INCLUDED
#define DRIVER_FUNCTION_H_INCLUDED

#include <cuda_runtime_api.h>

/* A function of the driver, as of CUDA `version`; NULL with an error if it has none. */
static inline cudaError_t driver_function(const char *name, unsigned version, void **function)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t error;

    *function = NULL;
#if CUDART_VERSION >= 12050
    error = cudaGetDriverEntryPointByVersion(name, function, version, cudaEnableDefault, &found);
#else
    (void)version;
    error = cudaGetDriverEntryPoint(name, function, cudaEnableDefault, &found);
#endif
    if (error == cudaSuccess && (found != cudaDriverEntryPointSuccess || !*function))
        error = cudaErrorSymbolNotFound;
    return error;
}

#endif
