/* Memory pools as handles: the device's own and those that are made, what is told of them, and what becomes of them. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static struct memory_pool {
    uint32_t magic;
    bool reuses[1 + cudaMemPoolReuseAllowInternalDependencies]; /* by the attributes' numbers */
    struct memory_pool *next;
} default_pool = {.reuses = {true, true, true, true}}, *made, *current = &default_pool;
enum { MEMORY_POOL_MAGIC = 0x9001 };

void memory_pools_reset(void)
{
    while (made != NULL) {
        struct memory_pool *next = made->next;
        free(made);
        made = next;
    }
    current = &default_pool;
}

struct memory_pool *memory_pool_of(cudaMemPool_t handle)
{
    struct memory_pool *pool = (struct memory_pool *)(void *)handle;
    for (const struct memory_pool *known = made; known != NULL; known = known->next)
        if (known == pool)
            return pool->magic == MEMORY_POOL_MAGIC ? pool : NULL;
    return pool == &default_pool ? pool : NULL;
}

struct memory_pool *memory_pool_now(void)
{
    return current;
}

bool memory_pool_is_made(const struct memory_pool *pool)
{
    return pool != &default_pool;
}

bool memory_pool_is_gone(const struct memory_pool *pool)
{
    return pool != &default_pool && pool->magic != MEMORY_POOL_MAGIC;
}

bool memory_pool_lacks_reuse(const struct memory_pool *pool)
{
    return !(pool->reuses[1] && pool->reuses[2] && pool->reuses[3]);
}

/* ---- the calls ---- */

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
    CALL(cudaMemPoolCreate);
    FAIL_IF(out == NULL || props == NULL || props->allocType != cudaMemAllocationTypePinned, cudaErrorInvalidValue);
    FAIL_IF(props->location.type != cudaMemLocationTypeDevice || props->location.id != current_device(), cudaErrorInvalidValue);
    struct memory_pool *pool = malloc(sizeof *pool);
    FAIL_IF(pool == NULL, cudaErrorMemoryAllocation);
    *pool = default_pool;
    pool->magic = MEMORY_POOL_MAGIC;
    pool->next = made;
    made = pool;
    memset(pool->reuses, true, sizeof pool->reuses);
    *out = (cudaMemPool_t)(void *)pool;
    return cudaSuccess;
}

/* Its handle stays, as memory may still be its. */
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t handle)
{
    CALL(cudaMemPoolDestroy);
    struct memory_pool *pool = memory_pool_of(handle);
    FAIL_IF(pool == NULL || pool == &default_pool, cudaErrorInvalidValue);
    pool->magic = 0;
    current = current == pool ? &default_pool : current;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int index)
{
    CALL(cudaDeviceGetDefaultMemPool);
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    FAIL_IF(index != current_device(), cudaErrorInvalidDevice); /* nobody asks for another one's */
    *out = (cudaMemPool_t)(void *)&default_pool;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int index, cudaMemPool_t pool)
{
    CALL(cudaDeviceSetMemPool);
    FAIL_IF(index != current_device(), cudaErrorInvalidDevice);
    FAIL_IF(memory_pool_of(pool) == NULL, cudaErrorInvalidValue);
    current = memory_pool_of(pool);
    return cudaSuccess;
}

/* In the model a pool keeps all that it has, and gives nothing back. */
cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t handle, size_t bytes)
{
    CALL(cudaMemPoolTrimTo);
    (void)bytes;
    FAIL_IF(memory_pool_of(handle) == NULL, cudaErrorInvalidValue);
    if (device.faults.trim_ends_frees)
        pools_end_frees(memory_pool_of(handle));
    if (device.faults.trim_gives_live)
        pool_gives_live(memory_pool_of(handle));
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value)
{
    CALL(cudaMemPoolSetAttribute);
    struct memory_pool *pool = memory_pool_of(handle);
    FAIL_IF(pool == NULL || value == NULL, cudaErrorInvalidValue);
    FAIL_IF(attribute < cudaMemPoolReuseFollowEventDependencies || attribute > cudaMemPoolAttrReleaseThreshold, cudaErrorInvalidValue);
    if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
        pool->reuses[attribute] = *(const int *)value != 0;
    return cudaSuccess;
}

/* No figure is kept: who asks for one only asks whether that changes anything. */
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
