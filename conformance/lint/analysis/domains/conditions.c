/* conditions.c - formulas: what comparisons and their combinations say, as intervals of one expression where that is so. */
#include "domains/values_private.h"

#include <string.h>

enum { ANSWERS = 1 << 10, MOST_FORMULA_NODES = 24 };
#define LARGEST ((int64_t)UINT32_MAX)

/* Comparisons that were asked for lately. */
static struct answer {
    expr left, right, formula;
    uint32_t how;
} answers[ANSWERS];

void conditions_begin(void) { memset(answers, 0, sizeof(answers)); }

/* Combinations --------------------------------------------------------------------------------------------------- */

expr negation(expr formula)
{
    struct node node = { .tag = TAG_NOT, .size = 1, .kid_count = 1, .kids = { formula } };
    const struct node *inner = node_of(formula);

    if (formula == 0)
        return 0;
    if (inner->tag == TAG_NUMBER)
        return inner->a ? EXPR_FALSE : EXPR_TRUE;
    return inner->tag == TAG_NOT ? inner->kids[0] : interned(&node);
}

/* a of a and b. */
static bool has_part(expr both, expr part)
{
    const struct node *node = node_of(both);

    return node->tag == TAG_AND && (node->kids[0] == part || node->kids[1] == part);
}

expr conjunction(expr left, expr right)
{
    struct node node = { .tag = TAG_AND, .size = 1, .kid_count = 2, .kids = { left, right } };

    if (left == EXPR_FALSE || right == EXPR_FALSE)
        return EXPR_FALSE;
    if (left == 0 || right == 0)
        return 0;
    if (left == EXPR_TRUE || left == right || has_part(right, left))
        return right;
    return right == EXPR_TRUE || has_part(left, right) ? left : interned(&node);
}

/* Written with "and", so that there is one way to write it. */
expr disjunction(expr left, expr right) { return negation(conjunction(negation(left), negation(right))); }

expr atom(expr site)
{
    struct node node = { .tag = TAG_ATOM, .size = 1, .a = site };

    return site ? interned(&node) : 0;
}

static unsigned count_nodes(expr e, unsigned most)
{
    expr parts[MOST_KIDS + 1];
    unsigned count = 1, part_count = parts_of(node_of(e), parts), i;

    for (i = 0; i < part_count && count <= most; i++)
        count += count_nodes(parts[i], most - count);
    return count;
}

bool formula_is_small(expr formula) { return count_nodes(formula, MOST_FORMULA_NODES) <= MOST_FORMULA_NODES; }

/* Comparisons with a number -------------------------------------------------------------------------------------- */

static int64_t read_as(uint32_t n, bool is_signed) { return is_signed ? (int32_t)n : (int64_t)n; }

static expr within(expr base, bool is_signed, int64_t low, int64_t high)
{
    struct node node = { .tag = TAG_IN, .size = 1, .a = base, .b = is_signed, .low = low, .high = high };

    return interned(&node);
}

static expr of_numbers(enum comparison how, int64_t left, int64_t right)
{
    bool holds = how == COMPARES_EQ ? left == right : how == COMPARES_LT ? left < right : left <= right;

    return holds ? EXPR_TRUE : EXPR_FALSE;
}

/* A condition chooses between two numbers: what is asked is asked of the condition. False: it is not such a choice. */
static bool of_choice(const struct node *left, enum comparison how, bool is_signed, int64_t value, expr *formula)
{
    uint32_t if_true, if_false;
    expr either, other;

    if (left->tag != TAG_SELECT || !is_number_of(left->kids[1], &if_true) || !is_number_of(left->kids[2], &if_false))
        return false;
    either = conjunction(left->kids[0], of_numbers(how, read_as(if_true, is_signed), value));
    other = conjunction(negation(left->kids[0]), of_numbers(how, read_as(if_false, is_signed), value));
    *formula = disjunction(either, other);
    return true;
}

/* What is said of the smaller or the larger of two is said of either or of both; `either` for the smaller one. 0: it is neither. */
static expr of_extreme(const struct node *extreme, bool is_signed, bool either, expr (*said)(expr, const void *), const void *with)
{
    uint32_t op = extreme->tag == TAG_OPERATION && extreme->kid_count == 2 ? extreme->a : OPERATION_NAMED;
    bool smaller = op == (is_signed ? OPERATION_MIN_SIGNED : OPERATION_MIN_UNSIGNED);
    expr first, second;

    if (!smaller && op != (is_signed ? OPERATION_MAX_SIGNED : OPERATION_MAX_UNSIGNED))
        return 0;
    first = said(extreme->kids[0], with);
    second = said(extreme->kids[1], with);
    if (first == 0 || second == 0)
        return 0;
    return smaller == either ? disjunction(first, second) : conjunction(first, second);
}

struct asked {
    enum comparison how;
    bool is_signed;
    expr other;
};

static expr below_other(expr e, const void *with)
{
    const struct asked *asked = with;

    return comparison(asked->how, asked->is_signed, e, asked->other);
}

static expr above_other(expr e, const void *with)
{
    const struct asked *asked = with;

    return comparison(asked->how, asked->is_signed, asked->other, e);
}

static bool is_extreme_of_number(const struct node *node)
{
    return node->tag == TAG_OPERATION && node->kid_count == 2 && node->a >= OPERATION_MIN_SIGNED && node->a <= OPERATION_MAX_UNSIGNED &&
           is_number(node->kids[1]);
}

/* The smaller of x and a number is that number wherever x is not below it, and never above it; the larger, the other way round. */
static expr equals_extreme(const struct node *node, uint32_t n, expr (*equals)(expr, uint32_t))
{
    bool is_signed = node->a == OPERATION_MIN_SIGNED || node->a == OPERATION_MAX_SIGNED;
    bool smaller = node->a == OPERATION_MIN_SIGNED || node->a == OPERATION_MIN_UNSIGNED;
    int64_t value = read_as(n, is_signed), bound = read_as(node_of(node->kids[1])->a, is_signed);

    if (value == bound)
        return comparison(smaller ? COMPARES_GE : COMPARES_LE, is_signed, node->kids[0], node->kids[1]);
    return (value > bound) == smaller ? EXPR_FALSE : equals(node->kids[0], n);
}

static expr equals_as_it_is(expr e, uint32_t n) { return comparison(COMPARES_EQ, false, e, number(n)); }

/* A bitwise combination is 0 only if each input is 0 that alone makes it 1: a | b & c is, where a is and b & c. */
static expr zero_parts(unsigned table, const expr inputs[3])
{
    static const unsigned columns[3] = { 0xF0, 0xCC, 0xAA };
    expr left[3] = { inputs[0], inputs[1], inputs[2] }, whole = EXPR_TRUE, part_is_zero;
    bool any = false;
    unsigned i;

    for (i = 0; i < 3; i++) {
        if ((table & columns[i]) != columns[i])
            continue;
        any = true;
        left[i] = EXPR_ZERO;
        part_is_zero = comparison(COMPARES_EQ, false, inputs[i], EXPR_ZERO);
        if (part_is_zero == 0)
            return 0;
        whole = conjunction(whole, part_is_zero);
    }
    if (!any)
        return 0;
    part_is_zero = comparison(COMPARES_EQ, false, bitwise(table, left[0], left[1], left[2]), EXPR_ZERO);
    return part_is_zero ? conjunction(whole, part_is_zero) : 0;
}

/* Whether a combination of bits is 0; 0 if nothing simpler says that. */
static expr of_bits(expr left)
{
    const struct node *node = node_of(left);
    uint32_t mask, below;
    int64_t highest;
    expr masked;

    if (node->tag == TAG_OPERATION && node->a >= OPERATION_LOGIC && node->a < OPERATION_NAMED && node->kid_count == 3)
        return zero_parts(node->a - OPERATION_LOGIC, node->kids);
    if (!is_by_number(left, OPERATION_AND, &masked, &mask) || mask == 0)
        return 0;
    below = mask & (0u - mask); /* its lowest bit; all above it are asked for: x & ~31 == 0 is x < 32 */
    highest = kept_limit(masked) > 0 ? kept_limit(masked) : LARGEST;
    return highest & ~(int64_t)(mask | (below - 1)) ? 0 : comparison(COMPARES_LT, false, masked, number(below));
}

/* What was shifted right, and how far: of base / 2^shift, where base has 31 bits. */
static expr before_shifts(expr base, uint32_t *shift)
{
    uint32_t by;
    expr inner;

    *shift = 0;
    while (is_by_number(base, OPERATION_SHIFT_RIGHT, &inner, &by) && kept_limit(inner) != NO_LIMIT) {
        *shift = by > 31 || *shift + by > 31 ? 31 : *shift + by;
        base = inner;
    }
    return base;
}

/* first <= e <= last. One interval where e was shifted, so that the opposite says something as well. */
static expr between(expr e, uint32_t first, uint32_t last)
{
    uint32_t shift;
    expr base = before_shifts(e, &shift);
    int64_t low = (int64_t)first << shift, high = (((int64_t)last + 1) << shift) - 1;
    int64_t limit = kept_limit(base) == NO_LIMIT ? LARGEST : kept_limit(base);

    if (shift == 0 && node_of(e)->tag == TAG_OPERATION) /* what is known of the parts of an operation counts */
        return conjunction(comparison(COMPARES_GE, false, e, number(first)), comparison(COMPARES_LE, false, e, number(last)));
    if (low > limit)
        return EXPR_FALSE;
    return low == 0 && high >= limit ? EXPR_TRUE : within(base, false, low, high < limit ? high : limit);
}

/* base + added OPERATOR value, unsigned, as an interval of base: that is how a - 1 < 3 is asked. */
static expr of_sum(enum comparison how, expr base, uint32_t added, int64_t value)
{
    int64_t first = -(int64_t)added, last = (how == COMPARES_LT ? value - 1 : value) - (int64_t)added;

    if (last < first)
        return EXPR_FALSE;
    if (last - first >= LARGEST)
        return EXPR_TRUE;
    first = (uint32_t)first;
    last = (uint32_t)last;
    if (first <= last)
        return between(base, (uint32_t)first, (uint32_t)last);
    return negation(within(base, false, last + 1, first - 1));
}

/* As an interval of what is compared, or of what it was shifted right from. */
static expr of_interval(enum comparison how, bool is_signed, expr left, int64_t value)
{
    int64_t low = 0, high = LARGEST, first, last, unit;
    uint32_t shift, added;
    expr base = before_shifts(left, &shift), inner;

    if (shift == 0 && !is_signed && how != COMPARES_EQ && is_by_number(base, OPERATION_ADD, &inner, &added))
        return of_sum(how, inner, added, value);
    if (kept_limit(base) != NO_LIMIT) {
        high = kept_limit(base);
        is_signed = false;
    } else if (is_signed) {
        low = INT32_MIN;
        high = INT32_MAX;
    }
    unit = (int64_t)1 << shift;
    first = how == COMPARES_EQ ? value * unit : low;
    last = (how == COMPARES_LT ? value - 1 : value) * unit + (unit - 1);
    first = first > low ? first : low;
    last = last < high ? last : high;
    if (first > last)
        return EXPR_FALSE;
    return first == low && last == high ? EXPR_TRUE : within(base, is_signed, first, last);
}

/* What bit is looked up in a table of bits: x of (table >> x) & 1, or of (1 << x) & table. 0: it is no such thing. */
static expr bit_looked_up(expr e, uint32_t *table, bool *shifts_table)
{
    const struct node *node;
    uint32_t mask, shifted;
    expr inner;

    if (!is_by_number(e, OPERATION_AND, &inner, &mask))
        return 0;
    node = node_of(inner);
    if (node->tag != TAG_OPERATION || node->kid_count != 2 || !is_number_of(node->kids[0], &shifted))
        return 0;
    *shifts_table = node->a == OPERATION_SHIFT_RIGHT && mask == 1;
    *table = *shifts_table ? shifted : mask;
    return *shifts_table || (node->a == OPERATION_SHIFT_LEFT && shifted == 1) ? node->kids[1] : 0;
}

/* Whether such a bit is 0 or 1: whether x is one of the places of ones. */
static expr of_looked_up_bit(enum comparison how, expr left, int64_t value)
{
    uint32_t table, first, last;
    bool shifts_table;
    expr place = how == COMPARES_EQ ? bit_looked_up(left, &table, &shifts_table) : 0, whole = EXPR_FALSE;

    if (place == 0 || (value != 0 && !(shifts_table && value == 1)))
        return 0;
    for (first = 0; first < 32; first = last + 1) {
        last = first;
        if (!(table >> first & 1))
            continue;
        while (last < 31 && table >> (last + 1) & 1)
            last++;
        whole = disjunction(whole, between(place, first, last));
    }
    return value ? whole : negation(whole);
}

/* x + a == n is x == n - a, and -x == n is x == -n: counted down to 0, as the compiler does. 0: left is neither. */
static expr of_moved(expr left, uint32_t n)
{
    uint32_t by;
    expr inner;

    if (is_by_number(left, OPERATION_ADD, &inner, &by))
        return comparison(COMPARES_EQ, false, inner, number(n - by));
    if (is_by_number(left, OPERATION_MULTIPLY, &inner, &by) && by == UINT32_MAX)
        return comparison(COMPARES_EQ, false, inner, number(0u - n));
    return 0;
}

static expr with_number(enum comparison how, bool is_signed, expr left, expr right)
{
    const struct node *node = node_of(left);
    int64_t value = read_as(node_of(right)->a, is_signed);
    expr found;

    if (node->tag == TAG_NUMBER)
        return of_numbers(how, read_as(node->a, is_signed), value);
    if (of_choice(node, how, is_signed, value, &found))
        return found;
    if (how == COMPARES_EQ && is_extreme_of_number(node))
        return equals_extreme(node, node_of(right)->a, equals_as_it_is);
    found = how == COMPARES_EQ ? 0 : of_extreme(node, is_signed, true, below_other, &(struct asked){ how, is_signed, right });
    if (found == 0)
        found = of_looked_up_bit(how, left, value);
    if (found == 0 && how == COMPARES_EQ && value == 0)
        found = of_bits(left);
    if (found == 0 && how == COMPARES_EQ)
        found = of_moved(left, node_of(right)->a);
    return found ? found : of_interval(how, is_signed, left, value);
}

/* Numbers as an index is computed from them ------------------------------------------------------------------------ */

expr equals_number(expr e, uint32_t n)
{
    const struct node *node = e ? node_of(e) : NULL;
    uint32_t by;
    expr inner;

    if (!node)
        return 0;
    if (is_by_number(e, OPERATION_MULTIPLY, &inner, &by) && by)
        return n % by ? EXPR_FALSE : equals_number(inner, n / by);
    if (is_by_number(e, OPERATION_ADD, &inner, &by))
        return equals_number(inner, n - by);
    if (is_extreme_of_number(node))
        return equals_extreme(node, n, equals_number);
    return comparison(COMPARES_EQ, false, e, number(n));
}

/* Any comparison ------------------------------------------------------------------------------------------------- */

static const char *special_text(expr e) { return node_of(e)->tag == TAG_SPECIAL ? text_of(node_of(e)->a) : ""; }

/* The place of a thread in its block, or of a block in its grid, and the size of that: SR_TID.X and SR_NTID.X. */
static bool is_place_in(expr place, expr size)
{
    const char *text = special_text(place), *of = special_text(size);

    if (strncmp(text, "SR_TID.", 7) && strncmp(text, "SR_CTAID.", 9))
        return false;
    return strncmp(of, "SR_N", 4) == 0 && strcmp(text + 3, of + 4) == 0;
}

static expr relation(enum comparison how, bool is_signed, expr left, expr right)
{
    struct node node = { .tag = TAG_RELATION, .size = 1, .kid_count = 2, .a = how, .b = is_signed, .kids = { left, right } };

    if (is_place_in(left, right))
        return how == COMPARES_LT ? EXPR_TRUE : EXPR_FALSE;
    if (is_place_in(right, left))
        return EXPR_FALSE;
    return interned(&node);
}

static enum comparison mirrored(enum comparison how)
{
    switch (how) {
    case COMPARES_LT: return COMPARES_GT;
    case COMPARES_LE: return COMPARES_GE;
    case COMPARES_GT: return COMPARES_LT;
    case COMPARES_GE: return COMPARES_LE;
    default: return how;
    }
}

/* x + 1 is never x. */
static bool differ_by_number(expr left, expr right)
{
    expr first[MOST_SIZE + 1], second[MOST_SIZE + 1];
    uint32_t a = 0, b = 0;
    unsigned count = sum_terms(left, first, &a), i;

    if (sum_terms(right, second, &b) != count || a == b)
        return false;
    for (i = 0; i < count; i++)
        if (first[i] != second[i])
            return false;
    return count != 0;
}

/* Where one side is the smaller or the larger of two; 0: neither is. */
static expr of_extremes(enum comparison how, bool is_signed, expr left, expr right)
{
    expr found = of_extreme(node_of(right), is_signed, false, above_other, &(struct asked){ how, is_signed, left });

    return found ? found : of_extreme(node_of(left), is_signed, true, below_other, &(struct asked){ how, is_signed, right });
}

static expr compared(enum comparison how, bool is_signed, expr left, expr right)
{
    expr found;

    switch (how) {
    case COMPARES_NE: return negation(compared(COMPARES_EQ, is_signed, left, right));
    case COMPARES_GE: return negation(compared(COMPARES_LT, is_signed, left, right));
    case COMPARES_GT: return negation(compared(COMPARES_LE, is_signed, left, right));
    case COMPARES_NOT: return 0;
    default: break;
    }
    if (is_number(right))
        return with_number(how, is_signed, left, right);
    if (left == right)
        return how == COMPARES_LT ? EXPR_FALSE : EXPR_TRUE;
    if (how == COMPARES_EQ && differ_by_number(left, right))
        return EXPR_FALSE;
    found = how == COMPARES_EQ ? 0 : of_extremes(how, is_signed, left, right);
    if (found)
        return found;
    if (how == COMPARES_LE) /* a <= b is not (b < a) */
        return negation(relation(COMPARES_LT, is_signed, right, left));
    return how == COMPARES_EQ && right < left ? relation(how, is_signed, right, left) : relation(how, is_signed, left, right);
}

expr comparison(enum comparison how, bool is_signed, expr left, expr right)
{
    uint32_t key = (uint32_t)how * 2 + is_signed;
    struct answer *answer;

    if (left == 0 || right == 0 || is_vague(left) || is_vague(right))
        return 0;
    if (is_number(left) && !is_number(right))
        return comparison(mirrored(how), is_signed, right, left);
    answer = &answers[mixed(mixed(left, right * 5), key) % ANSWERS];
    if (answer->left != left || answer->right != right || answer->how != key) {
        expr formula = compared(how, is_signed, left, right); /* may overwrite *answer, so that is filled afterwards */
        *answer = (struct answer){ left, right, formula, key };
    }
    return answer->formula;
}

/* Lanes of a warp ------------------------------------------------------------------------------------------------- */

static bool is_special(expr e, const char *text) { return strcmp(special_text(e), text) == 0; }

/* What differs between threads in this is the place in their warp, or nothing does. */
static bool only_by_lane(expr e)
{
    expr parts[MOST_KIDS + 1], inner;
    uint32_t mask;
    unsigned count, i;

    if (!leaf_varies(e, VARIES_BY_THREAD) || is_special(e, "SR_LANEID"))
        return true;
    if (is_by_number(e, OPERATION_AND, &inner, &mask) && mask < 32 && is_special(inner, "SR_TID.X"))
        return true;
    count = parts_of(node_of(e), parts);
    for (i = 0; i < count; i++)
        if (!only_by_lane(parts[i]))
            return false;
    return count != 0 && node_of(e)->tag != TAG_SITE;
}

bool varies_by_lane(expr formula) { return formula && leaf_varies(formula, VARIES_BY_THREAD) && only_by_lane(formula); }
