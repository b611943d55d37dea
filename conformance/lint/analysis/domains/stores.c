/* stores.c - what is known of a thread's own memory after an instruction that stores there, or may have. */
#include "domains/words.h"

enum {
    MOST_DATA = 8,     /* words that one instruction stores */
    MOST_SLACK = 1024, /* bytes that a frame can lie lower than it has to */
};

struct data {
    unsigned count;
    struct value value[MOST_DATA];
    uint8_t bytes; /* of each: 1, 2 or 4 */
    struct value guard;
    uint32_t site; /* 0: what is chosen there gets no name */
};

static expr low_bits(expr value, const void *mask)
{
    return bitwise(0xC0, value, *(const expr *)mask, EXPR_ZERO);
}

/* What an operation leaves that reads the word as well, or that a warp does together: only where it comes from is known, and what
 * was there may stay. What lanes store for each other are parts of matrices, never an address. */
static void data_of_operation(const struct registers *regs, const struct decoded *d, struct data *data)
{
    provenance from = 0;

    data->site = 0;
    data->guard = value_of(0, 0, 0);
    for (unsigned n = d->first_source; n < d->count && !d->opcode->scatters; n++)
        for (unsigned i = 0; i < data->count && d->operands[n].kind == OPERAND_REGISTER; i++)
            from = united(from, unsigned_value(regs, &d->operands[n], i).provenance);
    for (unsigned i = 0; i < data->count; i++)
        data->value[i] = value_of(0, from, 0);
}

static bool is_plain_store(const struct opcode *opcode)
{
    return !opcode->changes_shared && opcode->kind != KIND_ATOMIC && opcode->kind != KIND_GENERIC_ATOMIC;
}

static void data_to_store(const struct registers *regs, const struct decoded *d, struct data *data)
{
    unsigned bytes = d->opcode->bytes;

    data->count = (bytes + 3) / 4 < MOST_DATA ? (bytes + 3) / 4 : MOST_DATA;
    data->bytes = (uint8_t)(bytes < 4 ? bytes : 4);
    if (!is_plain_store(d->opcode)) {
        data_of_operation(regs, d, data);
        return;
    }
    for (unsigned i = 0; i < data->count; i++) {
        data->value[i] = operand_value(regs, &d->operands[d->count - 1], i);
        data->value[i].known = 1;
    }
    if (bytes < 4 && data->count && data->value[0].expression) {
        expr mask = numbered((1u << 8 * bytes) - 1);

        data->value[0].expression = for_each_choice(data->value[0].expression, low_bits, &mask);
    }
}

/* Where something may have been stored instead, or into a part of it. */
static void join_words(struct registers *regs, size_t from, size_t to, const struct data *data)
{
    for (; from < to; from++) {
        struct value *word = &regs->words[from].value;
        bool whole = regs->words[from].key.bytes == data->bytes;

        for (unsigned i = 0; i < data->count; i++) {
            bool zeros = word->expression == EXPR_ZERO && data->value[i].expression == EXPR_ZERO;

            *word = joined(*word, data->value[i]);
            if (!whole && !zeros)
                word->expression = 0;
        }
    }
}

static void remove_overlapping(struct registers *regs, const struct spot *place, unsigned bytes)
{
    size_t from = word_at(regs, place->space, place->base, (int64_t)place->offset - 3, 0), to;

    while (from < regs->word_count) {
        const struct memory_key *key = &regs->words[from].key;

        if (key->space != place->space || key->base != place->base || key->offset >= (int64_t)place->offset + bytes)
            return;
        to = from + (place->offset < (int64_t)key->offset + key->bytes);
        remove_words(regs, from, to);
        from += to == from;
    }
}

static bool is_told(struct value value)
{
    return value.provenance || (value.expression && node_of(value.expression)->tag != TAG_SITE);
}

/* Where a base lies: between these distances from another base that is not a frame's. */
struct frame_place {
    expr base;
    int64_t nearest, farthest;
};

/* A function of debug code puts its frame at a multiple of 16 below its caller's: (stack pointer - bytes) & ~15. */
static bool is_aligned_down(expr base, expr *inner, uint32_t *slack)
{
    const struct node *node = base ? node_of(base) : NULL;
    uint32_t mask;

    if (node && node->tag == TAG_SUM_TERMS && node->kid_count == 1)
        node = node_of(node->kids[0]);
    if (!node || node->tag != TAG_OPERATION || node->a != OPERATION_AND || node->kid_count != 2)
        return false;
    if (!is_number_of(node->kids[1], &mask))
        return false;
    *slack = ~mask;
    *inner = node->kids[0];
    return (*slack & (*slack + 1)) == 0 && *slack < MOST_SLACK;
}

static struct frame_place frame_place_of(expr base)
{
    struct frame_place found = {base, 0, 0};
    expr inner, terms[MOST_SIZE + 1];
    uint32_t slack, constant;

    while (is_aligned_down(found.base, &inner, &slack)) {
        unsigned count = sum_terms(inner, terms, &constant);

        found.base = base_of(terms, count);
        found.nearest += (int64_t)as_signed(constant) - slack;
        found.farthest += as_signed(constant);
    }
    return found;
}

/* As join_words, without the words of other frames that this place cannot reach. */
static void join_near(struct registers *regs, size_t from, size_t to, const struct spot *place, unsigned bytes,
                      const struct data *data)
{
    struct frame_place here = frame_place_of(place->base), there = here;
    expr last = place->base;

    for (; from < to; from++) {
        const struct memory_key *key = &regs->words[from].key;

        if (key->base != last)
            there = frame_place_of(last = key->base);
        if (here.base != there.base || (here.nearest + place->offset < there.farthest + key->offset + key->bytes &&
                                        there.nearest + key->offset < here.farthest + place->offset + bytes))
            join_words(regs, from, from + 1, data);
    }
}

/* A store under a guard leaves the new word or what was there, and of both it is known which, as of a register. */
static void keep_old(const struct registers *regs, const struct spot *place, struct data *data)
{
    struct value old, *new = data->value;

    for (unsigned i = 0; i < data->count && data->guard.expression != EXPR_TRUE; i++) {
        if (!word_in(regs, place, 4 * i, data->bytes, &old))
            old = unknown_word(1u << place->space, 0);
        new[i] = chosen_value(NO_REGISTER, data->guard, new[i], old, MATTERS);
        if (!new[i].expression && data->site)
            new[i] = fresh(i, data->site | CHOICE_SITE, new[i].provenance, new[i].varies);
    }
}

/* Words under the same base are replaced; what stands under another base may be the same word, and is joined. */
static void store_at(struct registers *regs, const struct spot *place, unsigned bytes, struct data *data)
{
    size_t here = word_at(regs, place->space, place->base, INT32_MIN, 0);
    size_t after = word_at(regs, place->space, place->base + 1, INT32_MIN, 0);

    join_near(regs, word_at(regs, place->space, 0, INT32_MIN, 0), here, place, bytes, data);
    join_near(regs, after, word_at(regs, place->space + 1u, 0, INT32_MIN, 0), place, bytes, data);
    keep_old(regs, place, data);
    remove_overlapping(regs, place, bytes);
    for (unsigned i = 0; i < data->count; i++) {
        /* words of shared memory whose value is unknown are not kept: there are too many */
        if (place->space == WINDOW_LOCAL || is_told(data->value[i]))
            keep_word(regs, place, further(place->offset, 4 * i), data->bytes, data->value[i]);
    }
}

void store_words(struct registers *regs, const struct decoded *d, unsigned spaces, struct value guard, uint32_t site)
{
    struct possible places = {0};
    struct data data = {.guard = guard, .site = site};

    data_to_store(regs, d, &data);
    note_stored(spaces, data.value, data.count);
    if (spaces & SHARED_SPACE && (guard.varies | regs->split) & VARIES_BY_THREAD)
        note_stored_by_some();
    if (spaces == CONSTANT_SPACE)
        return; /* it cannot be known */
    if (d->memory < d->count && !d->opcode->scatters)
        places_of(regs, &d->operands[d->memory].address, spaces, &places);
    if (places.count == 1) {
        store_at(regs, &places.place[0], d->opcode->bytes, &data);
        return;
    }
    for (unsigned space = WINDOW_LOCAL; space <= WINDOW_SHARED; space++)
        if (spaces & 1u << space)
            join_words(regs, word_at(regs, space, 0, INT32_MIN, 0), word_at(regs, space + 1, 0, INT32_MIN, 0), &data);
}
