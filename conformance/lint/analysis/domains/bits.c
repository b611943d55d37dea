/* bits.c - shifts, bitwise combinations and permuted bytes of expressions. */
#include "domains/values_private.h"

/* Shifts --------------------------------------------------------------------------------------------------------- */

expr shift_right(expr value, expr count)
{
    uint32_t n, by;

    if (value == 0 || count == 0)
        return 0;
    if (!is_number_of(count, &by)) /* a bit may be looked up (conditions.c) */
        return operation_of_two(OPERATION_SHIFT_RIGHT, value, count);
    if (is_number_of(value, &n))
        return number(n >> (by & 31));
    return by == 0 ? value : operation_of_two(OPERATION_SHIFT_RIGHT, value, count);
}

expr shift_arithmetic(expr value, expr count)
{
    uint32_t n, by;

    if (value == 0 || count == 0)
        return 0;
    if (!is_number_of(count, &by))
        return operation_of_two(OPERATION_SHIFT_ARITHMETIC, value, count);
    if (is_number_of(value, &n))
        return number(n >> (by & 31) | (n >> 31 && by & 31 ? ~0u << (32 - (by & 31)) : 0));
    return by == 0 ? value : operation_of_two(OPERATION_SHIFT_ARITHMETIC, value, count);
}

static expr times(expr value, const void *factor)
{
    return multiply(value, number(*(const uint32_t *)factor));
}

expr shift_left(expr value, expr count)
{
    uint32_t by;

    if (!value || !count)
        return 0;
    if (!is_number_of(count, &by))
        return operation_of_two(OPERATION_SHIFT_LEFT, value, count);
    uint32_t factor = 1u << (by & 31);
    expr choice = for_each_choice(value, times, &factor);
    return choice ? choice : times(value, &factor);
}

/* Numbers, or known bits, that a condition chooses between ---------------------------------------------------------- */

expr for_each_choice(expr value, expr (*f)(expr, const void *), const void *with)
{
    const struct node *node = node_of(value);
    expr parts[2], whole;
    unsigned i;

    if (value == 0)
        return 0;
    if (node->tag != TAG_SELECT)
        return f(value, with);
    for (i = 0; i < 2; i++) {
        parts[i] = for_each_choice(node->kids[1 + i], f, with);
        if (!is_number_or_part(parts[i]) && node_of(parts[i])->tag != TAG_SELECT)
            return 0;
    }
    whole = number_chosen(node->kids[0], parts[0], parts[1]);
    return whole ? whole : select_of(node->kids[0], parts[0], parts[1]);
}

/* f ? (g ? a : b) : c as a choice between two, where c is a or b; 0 if it is neither, or the condition gets too large. */
static expr flat_choice(expr formula, expr inner, expr other)
{
    const struct node *node = node_of(inner);
    bool first = node->tag == TAG_SELECT && node->kids[1] == other, second = node->tag == TAG_SELECT && node->kids[2] == other;
    expr both = first || second ? conjunction(formula, first ? negation(node->kids[0]) : node->kids[0]) : 0;

    return both && formula_is_small(both) ? select_of(both, node->kids[first ? 2 : 1], other) : 0;
}

static bool is_choice(expr e)
{
    const struct node *node = node_of(e);

    return node->tag == TAG_SELECT && is_number_or_part(node->kids[1]) && is_number_or_part(node->kids[2]);
}

/* Where one of two numbers or parts is all that is known of both, it is no choice: 0 is one of the words whose low half is 0. */
static expr either(expr formula, expr left, expr right)
{
    expr shared = left == right ? left : bits_shared(left, right);

    return shared == left || shared == right ? shared : select_of(formula, left, right);
}

expr number_chosen(expr formula, expr if_true, expr if_false)
{
    bool first = is_number_or_part(if_true), second = is_number_or_part(if_false);
    expr flat = 0;

    if (!formula || !if_true || !if_false)
        return 0;
    if (first && second)
        return either(formula, if_true, if_false);
    if (second)
        flat = flat_choice(formula, if_true, if_false);
    else if (first)
        flat = flat_choice(negation(formula), if_false, if_true);
    if (!flat && ((second && is_choice(if_true)) || (first && is_choice(if_false))))
        return select_of(formula, if_true, if_false);
    return flat;
}

expr extended(expr e, unsigned bits, bool is_signed)
{
    uint32_t low, mask;

    if (bits == 0 || bits > 31 || !is_number_of(e, &low))
        return bits == 32 && is_number(e) ? e : 0;
    mask = (1u << bits) - 1;
    low &= mask;
    return number(is_signed && low >> (bits - 1) ? low | ~mask : low);
}

/* Bitwise combinations ------------------------------------------------------------------------------------------- */

enum { TABLE_A = 0xF0, TABLE_B = 0xCC, TABLE_C = 0xAA, TABLE_AND = TABLE_A & TABLE_B };

static uint32_t looked_up(unsigned table, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = 0;
    unsigned row;

    for (row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

/* The bits that are the same whatever number it is. */
static void bits_known(expr e, uint32_t *mask, uint32_t *bits)
{
    const struct node *node = node_of(e);
    uint32_t others, other_bits;

    *mask = *bits = 0;
    if (node->tag == TAG_PART) {
        *mask = node->a;
        *bits = node->b;
    } else if (is_number_of(e, bits)) {
        *mask = UINT32_MAX;
    } else if (node->tag == TAG_ANY) {
        bits_known(node->kids[0], mask, bits);
        for (unsigned i = 1; i < node->kid_count; i++) {
            bits_known(node->kids[i], &others, &other_bits);
            *mask &= others & ~(*bits ^ other_bits);
        }
    }
}

/* value & mask, where the mask asks only for known bits; 0 if not. */
static expr known_bits(expr value, expr mask)
{
    uint32_t n, known, bits;

    bits_known(value, &known, &bits);
    return known && is_number_of(mask, &n) && (n & ~known) == 0 ? number(bits & n) : 0;
}

/* A condition's choice between numbers & mask; 0 if it is none. */
static expr chosen_bits(expr value, expr mask)
{
    const struct node *node = node_of(value);
    uint32_t if_true, if_false, n;

    if (node->tag != TAG_SELECT || !is_number_of(mask, &n) || !is_number_of(node->kids[1], &if_true) ||
        !is_number_of(node->kids[2], &if_false))
        return 0;
    return select_of(node->kids[0], number(if_true & n), number(if_false & n));
}

static expr both_bits(expr a, expr b)
{
    expr left = is_number(a) ? b : a, right = is_number(a) ? a : b, found;

    if ((found = known_bits(a, b)) != 0 || (found = known_bits(b, a)) != 0)
        return found;
    if (a == EXPR_ZERO || b == EXPR_ZERO)
        return EXPR_ZERO;
    found = chosen_bits(left, right);
    return found ? found : operation_of_two(OPERATION_AND, in_cluster(left, right), right);
}

/* The table that is left where an input is 0; the same table if none is. */
static unsigned reduced(unsigned table, expr a, expr b, expr c)
{
    unsigned rest = table;

    if (a == EXPR_ZERO && rest == table)
        rest = (table & ~TABLE_A & 0xFF) | (table & ~TABLE_A & 0xFF) << 4;
    if (b == EXPR_ZERO && rest == table)
        rest = (table & ~TABLE_B & 0xFF) | (table & ~TABLE_B & 0xFF) << 2;
    if (c == EXPR_ZERO && rest == table)
        rest = (table & ~TABLE_C & 0xFF) | (table & ~TABLE_C & 0xFF) << 1;
    return rest;
}

expr bitwise(unsigned table, expr a, expr b, expr c)
{
    uint32_t n[3];
    unsigned rest;

    table &= 0xFF;
    if (is_number_of(a, &n[0]) && is_number_of(b, &n[1]) && is_number_of(c, &n[2]))
        return number(looked_up(table, n[0], n[1], n[2]));
    if (table == TABLE_AND && a && b)
        return both_bits(a, b);
    switch (table) {
    case TABLE_A: return a;
    case TABLE_B: return b;
    case TABLE_C: return c;
    case TABLE_AND: return 0;
    default: break;
    }
    rest = reduced(table, a, b, c);
    if (rest != table)
        return bitwise(rest, a, b, c);
    if (table == (TABLE_B & TABLE_C))
        return bitwise(TABLE_AND, b, c, EXPR_ZERO);
    if (table == (TABLE_A & TABLE_C))
        return bitwise(TABLE_AND, a, c, EXPR_ZERO);
    return operation(OPERATION_LOGIC + table, 3, (expr[]){ a, b, c });
}

/* Permuted bytes ------------------------------------------------------------------------------------------------- */

expr bits_shared(expr left, expr right)
{
    uint32_t masks[2], bits[2], mask;

    bits_known(left, &masks[0], &bits[0]);
    bits_known(right, &masks[1], &bits[1]);
    mask = masks[0] & masks[1] & ~(bits[0] ^ bits[1]);
    return mask ? part(mask, bits[0] & mask) : 0;
}

/* Each byte of the result is one of the eight of a (0-3) and b (4-7), or its sign (8 more); known bytes stay known. */
expr permuted(uint32_t selector, expr a, expr b)
{
    uint32_t masks[2], bits[2], mask = 0, value = 0;
    unsigned to;

    bits_known(a, &masks[0], &bits[0]);
    bits_known(b, &masks[1], &bits[1]);
    for (to = 0; to < 32; to += 8, selector >>= 4) {
        unsigned source = selector >> 2 & 1, from = 8 * (selector & 3);
        uint32_t found = bits[source] >> from & 0xFF;
        if ((masks[source] >> from & 0xFF) != 0xFF)
            continue;
        mask |= 0xFFu << to;
        value |= (selector & 8 ? 0xFF * (found >> 7) : found) << to;
    }
    if (mask == UINT32_MAX)
        return number(value);
    return mask ? part(mask, value) : 0;
}
