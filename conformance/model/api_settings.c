/* What the host sets of the device, of functions and of its own memory. None of it changes what the model does. */
#include "api.h"

enum { LIMITS = 8, REGISTERED = 16 };

static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20}; /* stack, printf's buffer, malloc's heap */

cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    CALL_QUERY(cudaDeviceGetLimit);
    FAIL_IF(value == NULL || (unsigned)limit >= LIMITS, cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    CALL(cudaDeviceSetLimit);
    FAIL_IF((unsigned)limit >= LIMITS, cudaErrorInvalidValue);
    if (device.faults.limit_frees_waits)
        blocks_let_go(true);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache preference)
{
    CALL(cudaFuncSetCacheConfig);
    FAIL_IF(function_find(func) == NULL, cudaErrorInvalidDeviceFunction);
    FAIL_IF((unsigned)preference > cudaFuncCachePreferEqual, cudaErrorInvalidValue);
    if (device.faults.preference_triggers)
        blocks_let_go(false);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache preference)
{
    CALL(cudaDeviceSetCacheConfig);
    FAIL_IF((unsigned)preference > cudaFuncCachePreferEqual, cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache(void)
{
    CALL(cudaCtxResetPersistingL2Cache);
    return cudaSuccess;
}

static void *registered[REGISTERED];

void settings_reset(void)
{
    for (unsigned i = 0; i < REGISTERED; i++)
        registered[i] = NULL;
}

static void **registered_at(const void *p)
{
    for (unsigned i = 0; i < REGISTERED; i++)
        if (registered[i] == p)
            return &registered[i];
    return NULL;
}

cudaError_t CUDARTAPI cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    CALL(cudaHostRegister);
    (void)flags;
    FAIL_IF(p == NULL || bytes == 0, cudaErrorInvalidValue);
    FAIL_IF(registered_at(p) != NULL, cudaErrorHostMemoryAlreadyRegistered);
    void **place = registered_at(NULL);
    FAIL_IF(place == NULL, cudaErrorMemoryAllocation);
    *place = p;
    device.registered_at = device.serial;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostUnregister(void *p)
{
    CALL(cudaHostUnregister);
    FAIL_IF(p == NULL, cudaErrorInvalidValue);
    void **place = registered_at(p);
    FAIL_IF(place == NULL, cudaErrorHostMemoryNotRegistered);
    if (!device.faults.registered_stays)
        *place = NULL;
    return cudaSuccess;
}
