/* Memory pools as handles: the device's own, and what is told of them. */
#include "api.h"

#include <string.h>

static struct memory_pool {
    uint32_t magic;
} default_pool = {0x9001};

static const struct memory_pool *memory_pool_of(cudaMemPool_t handle)
{
    const struct memory_pool *pool = (const struct memory_pool *)(const void *)handle;
    return pool == &default_pool ? pool : NULL;
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int index)
{
    CALL(cudaDeviceGetDefaultMemPool);
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    FAIL_IF(index != current_device(), cudaErrorInvalidDevice); /* nobody asks for another one's */
    *out = (cudaMemPool_t)(void *)&default_pool;
    return cudaSuccess;
}

/* In the model no figure is kept: who asks for one only asks whether that changes anything. */
static cudaError_t tell_bytes(void *out)
{
    memset(out, 0, sizeof(uint64_t));
    device.told_pool_at = device.serial;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *out)
{
    CALL(cudaMemPoolGetAttribute);
    FAIL_IF(memory_pool_of(pool) == NULL || out == NULL || attribute < cudaMemPoolAttrReservedMemCurrent, cudaErrorInvalidValue);
    return tell_bytes(out);
}

cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int index, enum cudaGraphMemAttributeType attribute, void *out)
{
    CALL(cudaDeviceGetGraphMemAttribute);
    FAIL_IF(index != current_device() || out == NULL || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh, cudaErrorInvalidValue);
    return tell_bytes(out);
}
