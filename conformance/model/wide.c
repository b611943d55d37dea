/* Accesses of sixteen bytes: two of eight. */
#include "model_kernel.h"

void model_load128(const void *p, uint32_t out[4], int cache)
{
    for (int i = 0; i < 2; i++) {
        uint64_t value = model_load64((const unsigned char *)p + 8 * i, cache);
        out[2 * i] = (uint32_t)value;
        out[2 * i + 1] = (uint32_t)(value >> 32);
    }
}

void model_store128(void *p, const uint32_t value[4])
{
    for (int i = 0; i < 2; i++)
        model_store64((unsigned char *)p + 8 * i, (uint64_t)value[2 * i + 1] << 32 | value[2 * i]);
}
