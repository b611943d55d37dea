/* driver_function.h - asks for a function of the driver by its name, so that nothing links the driver. */
#ifndef DRIVER_FUNCTION_H_INCLUDED
#define DRIVER_FUNCTION_H_INCLUDED

#include <cuda_runtime_api.h>

/* What is found under this name, as of CUDA `version`. */
static inline cudaError_t driver_entry(const char *name, unsigned version, void **function, enum cudaDriverEntryPointQueryResult *found)
{
#if CUDART_VERSION >= 12050
    return cudaGetDriverEntryPointByVersion(name, function, version, cudaEnableDefault, found);
#else
    (void)version;
    return cudaGetDriverEntryPoint(name, function, cudaEnableDefault, found);
#endif
}

/* A function of the driver; NULL with an error if it has none. */
static inline cudaError_t driver_function(const char *name, unsigned version, void **function)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t error;

    *function = NULL;
    error = driver_entry(name, version, function, &found);
    if (error == cudaSuccess && (found != cudaDriverEntryPointSuccess || !*function))
        error = cudaErrorSymbolNotFound;
    return error;
}

/* The same for a caller that can do without: NULL if the driver has none, and no error stays. */
static inline void *driver_function_if_any(const char *name, unsigned version)
{
    void *function = NULL;

    if (driver_function(name, version, &function) == cudaSuccess)
        return function;
    (void)cudaGetLastError();
    return NULL;
}

#endif
