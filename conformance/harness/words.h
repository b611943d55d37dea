/* words.h - the words every buffer must hold, as functions of (key, index). Shared by kernels and oracle.
 *
 * Each function is a bijection of the 32-bit index for a fixed key, so that the oracle can tell from a foreign-looking
 * word at which index of the trial it belongs ("misplaced").
 */
#ifndef WORDS_H_INCLUDED
#define WORDS_H_INCLUDED

#include <stdint.h>

#if defined(__CUDACC__)
#define WORDS_FN static __host__ __device__ __forceinline__
#else
#define WORDS_FN static inline
#endif

/* What the primary stores at `index`. */
WORDS_FN uint32_t words_fresh(uint64_t key, uint32_t index)
{
    uint32_t x = index * 0x9E3779B1u + (uint32_t)key;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return x ^ (uint32_t)(key >> 32);
}

/* The index whose fresh word is `word`: every word has exactly one. */
WORDS_FN uint32_t words_index(uint64_t key, uint32_t word)
{
    uint32_t x = word ^ (uint32_t)(key >> 32);
    x ^= x >> 16;
    x *= 0x43021123u;
    x ^= x >> 15 ^ x >> 30;
    x *= 0x1D69E2A5u;
    x ^= x >> 16;
    return (x - (uint32_t)key) * 0x0E8B2F51u;
}

/* The three kinds of poison: what the data, the dependent's output and the primary's input hold before a trial. */
#define WORDS_POISON_DATA 0x5851F42D4C957F2Dull
#define WORDS_POISON_SEEN 0xD1342543DE82EF95ull
#define WORDS_INPUT 0xA0761D6478BD642Full

WORDS_FN uint32_t words_poison(uint64_t batch_key, uint64_t kind, uint32_t offset)
{
    return words_fresh(batch_key ^ kind, offset);
}

/* What the overwriting dependent leaves in the primary's input. */
WORDS_FN uint32_t words_overwritten(uint64_t key, uint32_t index)
{
    return words_fresh(key ^ 0xE7037ED1A0B428DBull, index);
}

#endif
