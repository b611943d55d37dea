/* Seeding the choices, and what the seed decides once for the whole run: how lazy the memory is. */
#include "choices.h"

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
    bool late = device.faults.wait_before_flush || device.drawn.effect == EFFECT_beforeflush || device.faults.exits_not_covered; /* nothing is visible before the flush */
    device.lazy = late ? 256 : 96 + choose(128);
    device.hit = device.faults.wait_stale_lines ? 256 : 128 + choose(112);
    device.drain = late ? 0 : 2 + choose(24);
}
