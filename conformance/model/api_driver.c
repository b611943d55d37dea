/* The few functions of the driver that a program may ask the runtime for: pdl.h launches and describes CUfunctions by them.
 * A CUfunction of the model is its struct function. */
#include "api.h"

#include <string.h>

enum { MAX_THREADS = 0, SHARED_BYTES = 1, REGISTERS = 4, PTX_VERSION = 5, BINARY_VERSION = 6 }; /* CU_FUNC_ATTRIBUTE_* */

/* CUlaunchConfig */
struct driver_config {
    unsigned grid[3], block[3], shared_bytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned num_attrs;
};

static unsigned function_attribute(int *value, int attribute, cudaFunction_t function)
{
    const struct function *f = (const struct function *)function;
    if (!function_exists(f))
        return cudaErrorInvalidResourceHandle;
    switch (attribute) {
    case MAX_THREADS: *value = f->kernel->max_threads > 0 ? f->kernel->max_threads : MODEL_MAX_THREADS; break;
    case SHARED_BYTES: *value = (int)f->kernel->static_shared_bytes; break;
    case REGISTERS: *value = f->kernel->registers; break;
    case PTX_VERSION: *value = function_ptx(f); break;
    case BINARY_VERSION: *value = f->kernel->binary_version; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* Without a last error, as the driver. */
static unsigned launch(const struct driver_config *c, cudaFunction_t function, void **args, void **extra)
{
    const struct function *f = (const struct function *)function;
    cudaLaunchConfig_t config;
    (void)extra;
    memset(&config, 0, sizeof config);
    config.gridDim.x = c->grid[0], config.gridDim.y = c->grid[1], config.gridDim.z = c->grid[2];
    config.blockDim.x = c->block[0], config.blockDim.y = c->block[1], config.blockDim.z = c->block[2];
    config.dynamicSmemBytes = c->shared_bytes;
    config.stream = c->stream;
    config.attrs = c->attrs;
    config.numAttrs = c->num_attrs;
    cudaError_t before = cudaGetLastError();
    cudaError_t error = cudaLaunchKernelExC(&config, f->kernel->func, args);
    (void)cudaGetLastError();
    (void)call_result(before);
    return (unsigned)error;
}

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t *function, const void *func)
{
    CALL_QUERY(cudaGetFuncBySymbol);
    FAIL_IF(function == NULL, cudaErrorInvalidValue);
    struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    *function = (cudaFunction_t)f;
    return cudaSuccess;
}

/* asked: the version of the function that is wanted; nothing is found below the one that brought it. */
static void entry_point(const char *name, unsigned asked, void **address)
{
    union {
        void *object;
        void (*function)(void);
    } found = {NULL};
    if (strcmp(name, "cuFuncGetAttribute") == 0 && asked >= 2020)
        found.function = (void (*)(void))function_attribute;
    else if (strcmp(name, "cuLaunchKernelEx") == 0 && asked >= 11060 && device.driver_version >= 11080)
        found.function = (void (*)(void))launch;
    *address = found.object;
}

#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion
#if CUDART_VERSION >= 12050
#define ENTRY_POINT(suffix)                                                                                          \
    cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion##suffix(const char *name, void **address, unsigned version, \
                                                                   unsigned long long flags,                        \
                                                                   enum cudaDriverEntryPointQueryResult *status);   \
    cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion##suffix(const char *name, void **address, unsigned version, \
                                                                   unsigned long long flags,                        \
                                                                   enum cudaDriverEntryPointQueryResult *status)
#else
#define ENTRY_POINT(suffix)                                                                                          \
    cudaError_t CUDARTAPI cudaGetDriverEntryPoint##suffix(const char *name, void **address, unsigned long long flags, \
                                                          enum cudaDriverEntryPointQueryResult *status);            \
    cudaError_t CUDARTAPI cudaGetDriverEntryPoint##suffix(const char *name, void **address, unsigned long long flags, \
                                                          enum cudaDriverEntryPointQueryResult *status)
#define version UINT32_MAX
#endif

ENTRY_POINT()
{
    CALL_QUERY(cudaGetDriverEntryPoint);
    FAIL_IF(name == NULL || address == NULL, cudaErrorInvalidValue);
    (void)flags, (void)status;
    entry_point(name, version, address);
    return cudaSuccess;
}

/* What a unit compiled for the per-thread default stream calls. */
ENTRY_POINT(_ptsz)
{
    CALL_QUERY(cudaGetDriverEntryPoint);
    FAIL_IF(name == NULL || address == NULL, cudaErrorInvalidValue);
    (void)flags, (void)status;
    entry_point(name, version, address);
    return cudaSuccess;
}
