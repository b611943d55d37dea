/* words.h - the words that memory.c keeps of a thread's own memory, for those who load and store there. */
#ifndef PDL_LINT_WORDS_H
#define PDL_LINT_WORDS_H

#include "domains/transfer.h"

struct spot {
    uint8_t space;
    expr base;
    int32_t offset;
};
struct possible {
    unsigned count;
    struct spot place[MOST_KIDS];
};

static inline int32_t as_signed(uint32_t n)
{
    return n >> 31 ? -(int32_t)(~n) - 1 : (int32_t)n;
}

static inline int32_t further(int32_t offset, unsigned bytes)
{
    return as_signed((uint32_t)offset + bytes);
}

expr base_of(const expr *terms, unsigned count);
void places_of(const struct registers *, const struct address *, unsigned spaces, struct possible *);

size_t word_at(const struct registers *, unsigned space, expr base, int64_t offset, unsigned bytes);
void remove_words(struct registers *, size_t from, size_t to);
void keep_word(struct registers *, const struct spot *, int32_t offset, unsigned bytes, struct value);

/* What stands `ahead` bytes after a place; false if it is not known. */
bool word_in(const struct registers *, const struct spot *, unsigned ahead, unsigned bytes, struct value *found);
struct value unknown_word(unsigned spaces, uint8_t varies);

void note_stored(unsigned spaces, const struct value *, unsigned count);
void note_stored_by_some(void);

#endif
