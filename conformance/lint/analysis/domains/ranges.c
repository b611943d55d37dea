/* ranges.c - what is known of the numbers that an expression can be, and whether two of them can be the same. */
#include "domains/values_private.h"

#include <string.h>

/* Special registers ---------------------------------------------------------------------------------------------- */

struct trait {
    int32_t limit;
    uint8_t leaves;
    bool known;
};

static const struct {
    const char *text;
    int32_t limit;
} limits[] = { /* of registers with a small range: signed and unsigned agree */
    { "SR_TID.X", 1023 },         { "SR_TID.Y", 1023 },    { "SR_TID.Z", 63 },      { "SR_LANEID", 31 },   { "SR_NTID.X", 1024 },
    { "SR_CTAID.X", 2147483646 }, { "SR_CTAID.Y", 65535 }, { "SR_CTAID.Z", 65535 }, { "SR_CgaCtaId", 15 }, { "SR_CTARANK", 15 },
};
static const char *const differ_by_thread[] = {
    "SR_TID", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK", "SR_VIRTID", NULL,
};
static const char *const differ_by_rank[] = { "SR_CgaCtaId", "SR_CTARANK", "SR_CLUSTERCTA", NULL };
static const char *const differ_by_block[] = { "SR_CTAID", NULL };

static bool begins_with_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    return false;
}

/* Names are kept for as long as the process, and so is this. */
static const struct trait *trait_of(name register_name)
{
    static struct trait *traits;
    static size_t capacity;
    struct trait *trait;
    const char *text;
    size_t i;

    if (register_name >= capacity)
        traits = grown(traits, &capacity, (size_t)register_name + 64, sizeof(*traits));
    trait = &traits[register_name];
    if (trait->known)
        return trait;
    text = text_of(register_name);
    *trait = (struct trait){ NO_LIMIT, 0, true };
    if (begins_with_one_of(text, differ_by_thread))
        trait->leaves |= LEAF_VARIES_BY_THREAD;
    if (begins_with_one_of(text, differ_by_block))
        trait->leaves |= LEAF_VARIES_BY_BLOCK;
    if (begins_with_one_of(text, differ_by_rank))
        trait->leaves |= LEAF_VARIES_BY_RANK;
    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (strcmp(text, limits[i].text) == 0)
            trait->limit = limits[i].limit;
    return trait;
}

uint8_t special_leaves(name register_name) { return trait_of(register_name)->leaves; }

/* Natural limits ------------------------------------------------------------------------------------------------- */

/* Of an exclusive or: all bits up to the highest that either has. */
static int32_t limit_of_two(expr left, expr right)
{
    uint32_t all = 0, n;
    expr inputs[2] = { left, right };
    unsigned i;

    for (i = 0; i < 2; i++) {
        if (!is_number_of(inputs[i], &n))
            n = (uint32_t)kept_limit(inputs[i]); /* NO_LIMIT is too large */
        if (n > INT32_MAX)
            return NO_LIMIT;
        all |= n;
    }
    for (i = 1; i < 32; i *= 2)
        all |= all >> i;
    return (int32_t)all;
}

int32_t find_limit(const struct node *node)
{
    uint32_t n;

    if (node->tag == TAG_SPECIAL)
        return trait_of(node->a)->limit;
    if (node->tag != TAG_OPERATION || node->kid_count < 2)
        return NO_LIMIT;
    if (node->a == OPERATION_AND && is_number_of(node->kids[1], &n) && n <= INT32_MAX)
        return (int32_t)n;
    return node->a == OPERATION_LOGIC + 60 ? limit_of_two(node->kids[0], node->kids[1]) : NO_LIMIT;
}

bool natural_limit(expr base, uint32_t *largest)
{
    if (kept_limit(base) == NO_LIMIT)
        return false;
    *largest = (uint32_t)kept_limit(base);
    return true;
}

/* Ranges --------------------------------------------------------------------------------------------------------- */

/* The range of an expression and a number combined, if the numbers that the expression can be say it. */
static bool combined_range(uint32_t op, uint32_t by, struct range *range)
{
    uint64_t high = range->high;

    switch (op) {
    case OPERATION_SHIFT_RIGHT:
    case OPERATION_SHIFT_ARITHMETIC:
        range->low = by > 31 ? 0 : range->low >> by;
        range->high = by > 31 ? 0 : range->high >> by;
        return true;
    case OPERATION_ADD:
        range->low += by;
        range->high += by;
        return high + by <= UINT32_MAX;
    case OPERATION_MULTIPLY:
        range->low *= by;
        range->high *= by;
        return high * by <= UINT32_MAX;
    case OPERATION_AND:
        return high <= by && ((by + 1) & by) == 0;
    default:
        return false;
    }
}

static bool chosen_range(const struct node *node, constraints known, struct range *range)
{
    struct range other;

    if (!value_range(node->kids[1], known, range) || !value_range(node->kids[2], known, &other))
        return false;
    range->low = range->low < other.low ? range->low : other.low;
    range->high = range->high > other.high ? range->high : other.high;
    return true;
}

bool value_range(expr e, constraints known, struct range *range)
{
    const struct node *node = node_of(e);
    uint32_t by;

    if (e == 0)
        return false;
    if (node->tag == TAG_NUMBER) {
        range->low = range->high = node->a;
        return true;
    }
    if (node->tag == TAG_SELECT)
        return chosen_range(node, known, range);
    if (node->tag == TAG_OPERATION && node->kid_count > 1 && is_number_of(node->kids[1], &by) &&
        value_range(node->kids[0], known, range) && combined_range(node->a, by, range))
        return true;
    return range_known(e, known, range);
}

/* Addresses ------------------------------------------------------------------------------------------------------ */

enum { MOST_STEPS = 1000 };

struct symbols { /* of different names, counted up to 2 */
    unsigned count;
    name first;
    unsigned steps; /* parts looked at; conditions in an expression can be long */
};

static void note_symbol(struct symbols *symbols, name symbol)
{
    if (symbols->count == 0)
        symbols->first = symbol;
    if (symbols->count == 0 || (symbols->count == 1 && symbols->first != symbol))
        symbols->count++;
}

/* The expression with one name for each variable whose address is in it; itself after too many steps. */
static expr without_names(expr e, struct symbols *symbols)
{
    struct node node = *node_of(e);
    unsigned i;

    if (e == 0 || !(leaves_in(e) & LEAF_SYMBOL) || ++symbols->steps > MOST_STEPS)
        return e;
    if (node.tag == TAG_SYMBOL) {
        note_symbol(symbols, node.a);
        return symbol_half(0, node.b);
    }
    if (node.tag == TAG_IN)
        node.a = without_names(node.a, symbols);
    for (i = 0; i < node.kid_count; i++)
        node.kids[i] = without_names(node.kids[i], symbols);
    if (node.tag == TAG_OPERATION && node.kid_count == 2 && node.a == OPERATION_ADD) /* their order may depend on the name */
        return add(node.kids[0], node.kids[1]);
    if (node.tag == TAG_OPERATION && node.kid_count == 2 && node.a == OPERATION_MULTIPLY)
        return multiply(node.kids[0], node.kids[1]);
    return interned(&node);
}

/* An expression plus a number; of a number alone the expression is 0. */
static expr parted(expr e, uint32_t *offset)
{
    expr base;

    if (is_number_of(e, offset))
        return 0;
    if (is_by_number(e, OPERATION_ADD, &base, offset))
        return base;
    *offset = 0;
    return e;
}

/* The address of a variable in the block's own shared memory: its place, and the block's number in the cluster above it. */
bool is_in_own_block(expr address)
{
    enum { OF_A_BLOCK = 1 << 24 };
    expr terms[MOST_SIZE + 1], block;
    uint32_t place, factor;
    unsigned count = address ? sum_terms(address, terms, &place) : 0, i;

    if (address != 0 && count == 0)
        return true;
    for (i = 0; i < count; i++)
        if (is_by_number(terms[i], OPERATION_MULTIPLY, &block, &factor) && factor == OF_A_BLOCK &&
            node_of(block)->tag == TAG_SPECIAL && strcmp(text_of(node_of(block)->a), "SR_CgaCtaId") == 0)
            return true;
    return false;
}

/* They differ for sure only if they are the same expression plus different numbers, or of different variables. */
static bool one_may_be(expr left, expr right)
{
    uint32_t here, there;
    expr left_base = parted(left, &here), right_base = parted(right, &there);
    struct symbols ours = { 0, 0, 0 }, theirs = { 0, 0, 0 };

    if (left_base == right_base)
        return here == there;
    return without_names(left_base, &ours) != without_names(right_base, &theirs) || ours.count != 1 || theirs.count != 1 ||
           ours.steps > MOST_STEPS || theirs.steps > MOST_STEPS;
}

bool may_be_same(expr left, expr right)
{
    const struct node *ours = node_of(left), *theirs = node_of(right);
    unsigned i;

    if (left == 0 || right == 0)
        return true;
    if (ours->tag != TAG_ANY && theirs->tag != TAG_ANY)
        return one_may_be(left, right);
    if (ours->tag != TAG_ANY)
        return may_be_same(right, left);
    for (i = 0; i < ours->kid_count; i++)
        if (may_be_same(ours->kids[i], right))
            return true;
    return false;
}
