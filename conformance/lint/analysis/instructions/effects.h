/* effects.c: what an instruction does to the sets of registers and memory that liveness.c follows backwards. */
#ifndef PDL_LINT_EFFECTS_H
#define PDL_LINT_EFFECTS_H

#include "analysis.h"

/* A set's bits: the registers; words of the stack, of which those after the last share a bit with one of these; shared
 * memory; words reached by generic addresses, but for spilled registers, which loads from the stack itself reach. */
enum {
    FIRST_SLOT = REGISTERS,
    SLOTS = 256,
    SHARED = FIRST_SLOT + SLOTS,
    GENERIC,
    BITS,
    WORDS = (BITS + 63) / 64,
    REGISTER_WORDS = (REGISTERS + 63) / 64
};
struct bits {
    uint64_t word[WORDS];
};

/* What an instruction does to such sets, its guard aside, as pieces of them, because they are nearly empty. */
struct piece {
    uint64_t bits;
    uint32_t word;
};
struct effect {
    uint32_t pieces;              /* the first of them: what it writes, what it reads for that, what it reads in any case */
    uint8_t written, read, asked; /* how many pieces */
    bool replaces;                /* what it writes is gone */
    bool always;                  /* it matters by itself */
    bool only_accesses;           /* and it signals no other thread */
    bool real; /* it computes a floating-point number, which is not an address: what it was computed from is not used in memory */
};
extern struct effect *effects;
extern struct piece *pieces;

/* Whether a function with this instruction may leave its caller's memory changed: it stores elsewhere than in its own frame. */
bool changes_callers_memory(const struct decoded *);

/* Its number among the effects; made once for each decoded instruction. */
uint32_t effect_of(const struct decoded *);

static inline void set(struct bits *bits, size_t bit)
{
    bits->word[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline void set_from(struct bits *bits, size_t first, size_t end)
{
    for (size_t bit = first; bit < end; bit++)
        set(bits, bit);
}

static inline bool has(const struct bits *bits, size_t bit)
{
    return bits->word[bit / 64] >> bit % 64 & 1;
}

#endif
