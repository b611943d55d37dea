/* program_words.c - computes what the words of every step must be. */
#include "program.h"

#include "../words.h"

/* All of its bytes are the same, so that a byte-wise memset makes it, too, if it is not uneven. */
uint32_t program_set_value(const struct program *p, unsigned step)
{
    static const uint32_t differences[] = { 0, 0, 0x00010001u, 0, 0x00010203u }; /* by the bytes at a time */
    uint32_t word = 0x01010101u * (0x40u + step) ^ (p->step[step].uneven ? differences[p->step[step].element] : 0);

    return word >> (32 - 8 * p->step[step].element);
}

static uint32_t kernel_word(const struct step *step, unsigned number, uint64_t key, uint32_t word)
{
    unsigned more = step->more, i;

    for (i = 0; i < 3; i++)
        word = program_fold(word, step->grid[i]);
    for (i = 0; i < 3; i++)
        word = program_fold(word, step->block[i]);
    for (i = 0; i < 3; i++)
        word = program_fold(word, step->cluster[i]);
    word = program_fold(program_fold(word, step->shared_bytes), step->kernel);
    if (more)
        word = program_fold(program_fold(word, program_argument(more - 1)), program_argument(program_argument_seen(key, number, more)));
    return word;
}

/* The bytes that a memset writes, or a copy from those words. */
static void write_bytes(const struct program *p, unsigned i, const uint32_t *from, uint32_t *words)
{
    const struct step *step = &p->step[i];
    uint32_t value = program_set_value(p, i);
    unsigned row, k;

    for (row = 0; row < step->rows; row++)
        for (k = 0; k < step->bytes; k++)
            ((unsigned char *)words)[step->begin + row * step->pitch + k] =
                from ? ((const unsigned char *)from)[step->source + k] : ((const unsigned char *)&value)[k % step->element];
}

void program_expect_step(const struct program *p, unsigned i, uint64_t key, uint32_t words[PROGRAM_STEPS][PROGRAM_WORDS])
{
    const struct step *step = &p->step[i];
    uint32_t given[PROGRAM_WORDS];
    unsigned w, r;

    for (w = 0; w < PROGRAM_WORDS; w++) {
        uint32_t word = words_fresh(key, i * PROGRAM_WORDS + w);
        switch (step->kind) {
        case STEP_KERNEL:
        case STEP_AWAIT:
            word = kernel_word(step, i, key, word);
            for (r = 0; r < step->reads; r++)
                word = word * 0x01000193u ^ words[step->read[r]][w];
            words[i][w] = word;
            break;
        case STEP_HOST: words[i][w] = ~word; break;
        default: break;
        }
    }
    for (w = 0; w < PROGRAM_WORDS; w++)
        given[w] = program_given(key, i, w);
    if (step->kind == STEP_SET || step->kind == STEP_COPY)
        write_bytes(p, i, step->kind == STEP_SET ? NULL : step->reads ? words[step->read[0]] : given, words[i]);
}

void program_expect(const struct program *p, uint64_t key, uint64_t left_out, uint32_t words[PROGRAM_STEPS][PROGRAM_WORDS])
{
    unsigned n, i, w;

    for (n = 0; n < p->steps; n++) {
        i = (p->first + n) % p->steps;
        for (w = 0; w < PROGRAM_WORDS; w++)
            words[i][w] = program_poison(key, i);
        if (!(left_out >> i & 1))
            program_expect_step(p, i, key, words);
    }
}
