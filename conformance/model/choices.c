/* Where the machine's choices come from: a generator seeded once (xoroshiro128+), or the explorer. Integers only, so
 * that every build makes the same choices. */
#include "explore.h"
#include "machine.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t scramble(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void choices_seed(uint64_t seed)
{
    device.random[0] = scramble(&seed);
    device.random[1] = scramble(&seed) | 1;
    device.trace = 0;
    device.lazy = 96 + choose(128);
    device.hit = 128 + choose(112);
    device.drain = 2 + choose(24);
}

static inline uint64_t next(void)
{
    uint64_t a = device.random[0], b = device.random[1], result = a + b;
    b ^= a;
    device.random[0] = rotate(a, 24) ^ b ^ b << 16;
    device.random[1] = rotate(b, 37);
    return result;
}

uint32_t choose(uint32_t n)
{
    if (device.explorer != NULL)
        return explorer_choose(device.explorer, n);
    return (uint32_t)((next() >> 32) * n >> 32);
}

bool chance(uint32_t of_256)
{
    return next() >> 56 < of_256;
}

uint64_t choose_ns(uint64_t low, uint64_t high)
{
    if (device.explorer != NULL)
        return 0;
    return (low << 10) + ((next() >> 40) * ((high - low) << 10) >> 24);
}

void trace(uint64_t value)
{
    device.trace = rotate(device.trace, 9) * 0x9e3779b97f4a7c15u + value;
}
