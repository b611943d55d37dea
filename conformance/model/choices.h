/* Where the machine's choices come from: a generator seeded once (xoroshiro128+), or the explorer. Integers only, so
 * that every build makes the same choices. Inline: a choice is made at every step. */
#ifndef PDL_MODEL_CHOICES_H
#define PDL_MODEL_CHOICES_H

#include "explore.h"
#include "machine.h"

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t random_bits(void)
{
    uint64_t a = device.random[0], b = device.random[1], result = a + b;
    b ^= a;
    device.random[0] = rotate(a, 24) ^ b ^ b << 16;
    device.random[1] = rotate(b, 37);
    return result;
}

/* 0 to n-1 */
static inline uint32_t choose(uint32_t n)
{
    if (device.explorer != NULL)
        return explorer_choose(device.explorer, n);
    return (uint32_t)((random_bits() >> 32) * n >> 32);
}

static inline bool chance(uint32_t of_256)
{
    return random_bits() >> 56 < of_256;
}

/* True once in n times; not a choice of its own for the explorer, which takes every order of moves anyway. */
static inline bool once_in(uint32_t n)
{
    return device.explorer == NULL && choose(n) == 0;
}

/* A time in clock units. The explorer has none: there every order of moves is a choice of its own. */
static inline uint64_t choose_ns(uint64_t low, uint64_t high)
{
    if (device.explorer != NULL)
        return 0;
    return (low << 10) + ((random_bits() >> 40) * ((high - low) << 10) >> 24);
}

static inline uint64_t mix(uint64_t digest, uint64_t value)
{
    uint64_t z = (digest ^ value) * 0x9e3779b97f4a7c15u;
    return z ^ z >> 29;
}

/* The digest of what happened. */
static inline void trace(uint64_t value)
{
    device.trace = rotate(device.trace, 9) * 0x9e3779b97f4a7c15u + value;
}

#endif
