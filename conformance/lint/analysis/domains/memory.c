/* memory.c - what a thread stored on its stack, in shared memory or on the heap, so that what it loads from there is known again.
 *
 * Debug code keeps every variable on the stack and reaches it by generic pointers, so all ways to one word have to meet: a
 * place is a space, a base and an offset, the base an expression, the stack pointer for the stack. What cannot be told apart
 * is joined, never forgotten: of an unknown word it is remembered where anything ever stored in its space came from.
 */
#include "domains/words.h"

#include <string.h>

enum {
    MOST_WORDS = 4096, /* kept for one state; where a word is not kept, nothing is known of it */
    MOST_SPAN = 128,   /* bytes between the first and the last word of an array whose words are told apart; a power of two */
};

static struct {
    provenance provenance;
    uint8_t varies;
    bool asked; /* what is added from now on would have been an answer */
} stored[WINDOW_HEAP + 1]; /* ever, anywhere, by enum window */

/* Shared memory that only some threads of a block store to is not as the others have left it. They may meet at a barrier of their warp,
 * of which often nothing is in the code, so of no word it is known when that was. */
static struct {
    bool happens; /* anywhere */
    bool asked;   /* a word of shared memory was taken as this thread left it */
} stored_by_some;

void memory_begin(void)
{
    memset(stored, 0, sizeof(stored));
    stored_by_some.happens = stored_by_some.asked = false;
}

void note_stored_by_some(void)
{
    revisions += stored_by_some.asked && !stored_by_some.happens;
    stored_by_some.happens = true;
}

void note_stored(unsigned spaces, const struct value *value, unsigned count)
{
    for (unsigned space = WINDOW_LOCAL; space <= WINDOW_HEAP; space++) {
        if (!(spaces & 1u << space))
            continue;
        provenance from = stored[space].provenance;
        uint8_t varies = stored[space].varies;
        for (unsigned i = 0; i < count; i++) {
            stored[space].provenance = united(stored[space].provenance, value[i].provenance);
            stored[space].varies |= value[i].varies;
        }
        if (stored[space].asked && (from != stored[space].provenance || varies != stored[space].varies))
            revisions++;
    }
}

unsigned spaces_among(provenance from)
{
    const origin *list;
    unsigned spaces = 0;

    for (unsigned count = from ? provenance_list(from, &list) : 0; count; count--)
        if (origin_kind(list[count - 1]) == ORIGIN_WINDOW && !(list[count - 1] & ORIGIN_VIA))
            spaces |= 1u << (origin_number(list[count - 1]) & 3);
    return spaces;
}

unsigned spaces_of(provenance from)
{
    return from && provenance_only_windows(from) ? spaces_among(from) : 0;
}

int memory_compare(const struct memory_key *a, const struct memory_key *b)
{
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* places ----------------------------------------------------------------------------------------------------------- */

/* A base of more terms than a node has room for is that of the first ones, and the rest. */
expr base_of(const expr *terms, unsigned count)
{
    struct node node;
    expr base = 0;

    for (unsigned i = 0; i < count;) {
        memset(&node, 0, sizeof(node));
        node.tag = TAG_SUM_TERMS;
        node.size = 1;
        if (base)
            node.kids[node.kid_count++] = base;
        while (i < count && node.kid_count < MOST_KIDS)
            node.kids[node.kid_count++] = terms[i++];
        base = interned(&node);
    }
    return base;
}

/* False: nothing can be said. A generic address begins with its window. */
static bool place_of_terms(const expr *terms, unsigned count, uint32_t constant, uint8_t space, struct spot *place)
{
    expr kept[MOST_SIZE + 1] = {0};
    unsigned kept_count = 0;
    bool from_parameters = false;

    for (unsigned i = 0; i < count; i++) {
        from_parameters |= is_parameter_window(terms[i]);
        if (!is_window_word(terms[i]))
            kept[kept_count++] = terms[i];
    }
    *place = (struct spot){space, base_of(kept, kept_count), as_signed(constant)};
    return (!kept_count || place->base) && (space != WINDOW_CONSTANT || from_parameters);
}

static bool place_of(expr address, uint8_t space, struct spot *place)
{
    expr terms[MOST_SIZE + 1];
    uint32_t constant;
    unsigned count = sum_terms(address, terms, &constant);

    return place_of_terms(terms, count, constant, space, place);
}

static expr address_value(const struct registers *regs, const struct address *address)
{
    expr total = numbered((uint32_t)address->offset);

    for (unsigned i = 0; i < address->count && total; i++)
        total = sum_of(total, regs->file[address->reg[i]].expression);
    return total;
}

/* The places that an address can name; none if nothing is known. */
void places_of(const struct registers *regs, const struct address *address, unsigned spaces, struct possible *places)
{
    uint8_t space = spaces == LOCAL_SPACE ? WINDOW_LOCAL : spaces == SHARED_SPACE ? WINDOW_SHARED : WINDOW_CONSTANT;
    const struct node *node;
    expr total;

    places->count = 0;
    if (spaces != LOCAL_SPACE && spaces != SHARED_SPACE && spaces != CONSTANT_SPACE)
        return;
    total = address_value(regs, address);
    if (!total)
        return;
    node = node_of(total);
    if (node->tag != TAG_ANY) {
        places->count = place_of(total, space, &places->place[0]);
        return;
    }
    for (unsigned i = 0, count = node->kid_count; i < count; i++) {
        expr one = node_of(total)->kids[i]; /* nodes may move when one is made */

        if (one == EXPR_ZERO)
            continue; /* no code reads at the null pointer */
        if (!place_of(one, space, &places->place[places->count++])) {
            places->count = 0;
            return;
        }
    }
}

/* words ------------------------------------------------------------------------------------------------------------ */

/* The first word that does not come before this one. */
size_t word_at(const struct registers *regs, unsigned space, expr base, int64_t offset, unsigned bytes)
{
    struct memory_key key = {.space = (uint8_t)space, .bytes = (uint8_t)bytes, .base = base};
    size_t low = 0, high = regs->word_count;

    key.offset = offset < INT32_MIN ? INT32_MIN : offset > INT32_MAX ? INT32_MAX : (int32_t)offset;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory_compare(&regs->words[middle].key, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct value *word_value(const struct registers *regs, const struct spot *place, int32_t offset, unsigned bytes)
{
    size_t at = word_at(regs, place->space, place->base, offset, bytes);
    const struct memory_key key = {.space = place->space, .bytes = (uint8_t)bytes, .base = place->base, .offset = offset};

    return at < regs->word_count && !memory_compare(&regs->words[at].key, &key) ? &regs->words[at].value : NULL;
}

struct value *stored_word(const struct registers *regs, const struct memory_key *key)
{
    size_t at = word_at(regs, key->space, key->base, key->offset, key->bytes);

    return at < regs->word_count && !memory_compare(&regs->words[at].key, key) ? &regs->words[at].value : NULL;
}

void remove_words(struct registers *regs, size_t from, size_t to)
{
    if (from >= to)
        return;
    memmove(&regs->words[from], &regs->words[to], (regs->word_count - to) * sizeof(*regs->words));
    regs->word_count -= to - from;
}

void keep_word(struct registers *regs, const struct spot *place, int32_t offset, unsigned bytes, struct value value)
{
    size_t at = word_at(regs, place->space, place->base, offset, bytes);
    struct memory_word word = {{place->space, (uint8_t)bytes, place->base, offset}, value};

    if (at < regs->word_count && !memory_compare(&regs->words[at].key, &word.key)) {
        regs->words[at].value = value;
        return;
    }
    if (regs->word_count >= MOST_WORDS)
        return;
    regs->words = grown(regs->words, &regs->word_capacity, regs->word_count + 1, sizeof(*regs->words));
    memmove(&regs->words[at + 1], &regs->words[at], (regs->word_count - at) * sizeof(*regs->words));
    regs->words[at] = word;
    regs->word_count++;
}

void forget_shared(struct registers *regs)
{
    remove_words(regs, word_at(regs, WINDOW_SHARED, 0, INT32_MIN, 0), word_at(regs, WINDOW_SHARED + 1, 0, INT32_MIN, 0));
}

/* what stands somewhere ---------------------------------------------------------------------------------------------- */

/* A number that is the same whether its highest bit is a sign or not. */
static bool is_small(expr expression, unsigned bytes)
{
    const struct node *node = expression ? node_of(expression) : NULL;

    if (node && node->tag == TAG_SELECT)
        return is_small(node->kids[1], bytes) && is_small(node->kids[2], bytes);
    return node && node->tag == TAG_NUMBER && node->a < 1u << (8 * bytes - 1);
}

static bool parameter_word(const struct spot *place, unsigned ahead, unsigned bytes, struct value *found)
{
    if (place->base)
        *found = value_of(0, parameter_provenance(), 0);
    else if (bytes == 4)
        *found = constant_value(0, parameter_offset((int64_t)place->offset + ahead));
    return place->base || bytes == 4;
}

static expr shifted_down(expr number_of_word, const void *bits)
{
    return is_number(number_of_word) ? shift_right(number_of_word, *(const expr *)bits) : 0;
}

/* A part of a known word, `back` bytes after its first. */
static expr part_of_word(expr word, unsigned back, unsigned bytes)
{
    expr bits = numbered(8 * back);

    if (follows_variables())
        return word;
    if (word && back)
        word = for_each_choice(word, shifted_down, &bits);
    return is_small(word, bytes) ? word : 0;
}

bool word_in(const struct registers *regs, const struct spot *place, unsigned ahead, unsigned bytes, struct value *found)
{
    const struct value *word;
    unsigned back = 0;

    if (place->space == WINDOW_CONSTANT)
        return parameter_word(place, ahead, bytes, found);
    word = word_value(regs, place, further(place->offset, ahead), bytes);
    for (; !word && bytes < 4 && back < 4; back++)
        word = word_value(regs, place, further(place->offset, ahead - back), 4);
    if (!word)
        return false;
    *found = bytes == 4 ? *word : value_of(part_of_word(word->expression, back ? back - 1 : 0, bytes), 0, word->varies);
    if (place->space == WINDOW_SHARED) {
        stored_by_some.asked = true;
        found->expression = stored_by_some.happens ? 0 : found->expression;
    }
    return true;
}

/* What may stand at an unknown place: its provenance, and whether threads may find different things there. */
struct value unknown_word(unsigned spaces, uint8_t varies)
{
    struct value found = value_of(0, 0, varies);

    for (unsigned space = WINDOW_LOCAL; space <= WINDOW_HEAP; space++)
        stored[space].asked |= spaces >> space & 1;
    if (spaces & LOCAL_SPACE) {
        found.provenance = united(found.provenance, stored[WINDOW_LOCAL].provenance);
        found.varies |= stored[WINDOW_LOCAL].varies;
    }
    if (spaces & SHARED_SPACE) /* all threads find the same in shared memory */
        found.provenance = united(found.provenance, stored[WINDOW_SHARED].provenance);
    if (spaces & HEAP_SPACE) {
        found.provenance = united(found.provenance, stored[WINDOW_HEAP].provenance);
        found.varies |= VARIES_BY_THREAD;
    }
    if (spaces & CONSTANT_SPACE)
        found.provenance = united(found.provenance, parameter_provenance());
    return found;
}

/* loading ---------------------------------------------------------------------------------------------------------- */

static bool word_in_any(const struct registers *regs, const struct possible *places, unsigned ahead, unsigned bytes,
                        struct value *found)
{
    struct value other;

    if (!places->count || !word_in(regs, &places->place[0], ahead, bytes, found))
        return false;
    for (unsigned i = 1; i < places->count; i++) {
        if (!word_in(regs, &places->place[i], ahead, bytes, &other))
            return false;
        *found = joined(*found, other);
    }
    return true;
}

/* A number that all numbers that a term can be are multiples of. */
static uint32_t factor_of(expr term)
{
    const struct node *node = node_of(term);
    uint32_t n;

    if (node->tag != TAG_OPERATION || node->kid_count != 2 || !is_number_of(node->kids[1], &n))
        return 1;
    return node->a == OPERATION_MULTIPLY ? n : node->a == OPERATION_AND ? n & (0 - n) : 1;
}

/* The terms of an address that are numbers of a small range are taken out of it: the range of their sum, and what all of its
 * numbers are multiples of. */
static unsigned without_indices(expr *terms, unsigned count, struct range *sum, uint32_t *step)
{
    struct range one;
    unsigned kept = 0;

    *sum = (struct range){0, 0};
    *step = MOST_SPAN;
    for (unsigned i = 0; i < count; i++) {
        if (!value_range(terms[i], 0, &one) || one.high > MOST_SPAN || sum->high + one.high > MOST_SPAN) {
            terms[kept++] = terms[i];
            continue;
        }
        while (factor_of(terms[i]) & (*step - 1))
            *step /= 2;
        sum->low += one.low;
        sum->high += one.high;
    }
    return kept;
}

/* One of two words of an array; of numbers it is known which they are: they may name functions. */
static struct value either_word(struct value one, struct value other)
{
    expr numbers = one_number_of(one.expression, other.expression);
    struct value both = joined(one, other);

    if (numbers)
        both.expression = numbers;
    return both;
}

/* A word of an array whose index has a limit: what all of its words share. False if one of them is not known. */
static bool word_of_array(const struct registers *regs, const struct address *address, unsigned spaces, unsigned ahead,
                          unsigned bytes, struct value *found)
{
    expr terms[MOST_SIZE + 1], total = address_value(regs, address);
    struct spot place = {.space = spaces == LOCAL_SPACE ? WINDOW_LOCAL : WINDOW_SHARED};
    uint32_t constant, step;
    struct range range;
    struct value word;
    unsigned count, kept;

    if (!total || (spaces != LOCAL_SPACE && spaces != SHARED_SPACE) || node_of(total)->tag == TAG_ANY)
        return false;
    count = sum_terms(total, terms, &constant);
    kept = without_indices(terms, count, &range, &step);
    if (kept == count || !place_of_terms(terms, kept, constant, place.space, &place))
        return false;
    for (uint32_t at = range.low; at <= range.high; at += step) {
        if (!word_in(regs, &place, ahead + at, bytes, &word))
            return false;
        *found = at == range.low ? word : either_word(*found, word);
    }
    return true;
}

void load_words(const struct registers *regs, const struct decoded *d, unsigned spaces, uint32_t site, struct result *result)
{
    static const struct address nowhere;
    const struct address *address = d->memory < d->count ? &d->operands[d->memory].address : &nowhere;
    unsigned bytes = d->opcode->bytes < 4 ? d->opcode->bytes : 4;
    struct possible places;
    struct value found;
    uint8_t varies = 0;

    places_of(regs, address, spaces, &places);
    for (unsigned i = 0; i < address->count; i++)
        varies |= regs->file[address->reg[i]].varies;
    for (unsigned i = 0; i < d->destination_count; i++) {
        bool told = word_in_any(regs, &places, 4 * i, bytes, &found);
        if (!told && word_of_array(regs, address, spaces, 4 * i, bytes, &found)) {
            found.varies |= varies;
        } else if (!told) {
            found = unknown_word(spaces, varies);
            found.expression = 0;
        } else if (places.count > 1) {
            found.varies |= varies;
        }
        if (!found.expression)
            found = fresh(d->destinations[i], site, found.provenance, found.varies);
        put(result, d->destinations[i], found);
    }
}
