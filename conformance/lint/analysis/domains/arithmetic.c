/* arithmetic.c - what integer instructions compute: sums, products, shifts. */
#include "domains/transfer.h"

#include <string.h>

enum { MOST_SOURCES = 4 };
#define MINUS_ONE 0xFFFFFFFFu

/* Operands after the destination, without predicates. */
struct sources {
    unsigned count; /* of which the first few are in the list */
    const struct operand *list[MOST_SOURCES];
};

static void find_sources(const struct decoded *d, struct sources *sources)
{
    sources->count = 0;
    for (unsigned i = 1; i < d->count; i++) {
        if (d->operands[i].kind == OPERAND_PREDICATE)
            continue;
        if (sources->count < MOST_SOURCES)
            sources->list[sources->count] = &d->operands[i];
        sources->count++;
    }
}

/* Nobody knows a carry. */
static void put_carries(const struct decoded *d, struct result *result)
{
    for (unsigned i = 1; i < 3 && i < d->count; i++)
        if (d->operands[i].kind == OPERAND_PREDICATE)
            put(result, d->operands[i].reg, value_of(0, 0, 0));
}

static bool is_negative(const struct operand *operand)
{
    return operand->sign == '-';
}

/* A number's text says its sign itself. */
static bool is_minus(const struct operand *operand)
{
    return is_negative(operand) && operand->kind != OPERAND_NUMBER;
}

static bool is_inverted(const struct operand *operand)
{
    return operand->sign == '-' || operand->sign == '~';
}

static expr product_of(expr a, expr b)
{
    return a == EXPR_ZERO || b == EXPR_ZERO ? EXPR_ZERO : multiply(a, b);
}

/* additions -------------------------------------------------------------------------------------------------------- */

static struct value addend(const struct registers *regs, const struct operand *operand, unsigned half)
{
    struct value value;

    if (!is_minus(operand))
        return operand_value(regs, operand, half);
    value = unsigned_value(regs, operand, half);
    value.expression = product_of(value.expression, numbered(MINUS_ONE));
    return value;
}

static struct value sum(const struct registers *regs, const struct decoded *d, unsigned half)
{
    struct value total = zero_value();

    for (unsigned i = 1; i < d->count; i++) {
        struct value value;

        if (d->operands[i].kind == OPERAND_PREDICATE)
            continue;
        value = addend(regs, &d->operands[i], half);
        total.expression = sum_of(total.expression, value.expression);
        total.provenance = united(total.provenance, value.provenance);
        total.varies |= value.varies;
    }
    return total;
}

static void put_sum(struct result *result, uint16_t reg, struct value value)
{
    value.expression = place_in_cluster(value.expression);
    value.varies = varies_as(value.expression, value.varies);
    put(result, reg, value);
}

bool add_integers(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value total = sum(regs, d, 0);

    put_carries(d, result);
    if (has(d, PART_64)) {
        struct value high = sum(regs, d, 1);

        high.expression = 0;
        put_pair(result, target(d), total, high);
        return true;
    }
    if (has(d, PART_X))
        total.expression = 0;
    put_sum(result, target(d), total);
    return true;
}

/* products --------------------------------------------------------------------------------------------------------- */

struct product {
    struct value a, b, c;
    const struct operand *addend;
    expr expression; /* of a * b */
    provenance provenance;     /* of the whole */
    uint8_t varies;
    bool negative_product; /* one factor has a minus */
    bool moved, negative; /* moved: a factor is RZ */
};

static void put_wide_product(const struct registers *regs, const struct decoded *d, const struct product *p,
                             struct result *result)
{
    struct value high = operand_value(regs, p->addend, 1);
    struct value low = value_of(p->negative ? 0 : sum_of(p->expression, p->c.expression), p->provenance, p->varies);

    high.varies |= p->varies;
    if (!p->moved)
        high.expression = 0;
    put_pair(result, target(d), low, high);
}

static bool is_register(const struct operand *operand)
{
    return operand->kind == OPERAND_REGISTER && operand->reg != NO_REGISTER;
}

static expr low_product(const struct registers *regs, const struct decoded *d, const struct product *p)
{
    expr expression = 0;

    if (p->moved && is_negative(p->addend)) {
        if (p->addend->kind == OPERAND_NUMBER)
            return p->c.expression;
        return product_of(unsigned_value(regs, p->addend, 0).expression, numbered(MINUS_ONE));
    }
    if ((!p->negative || p->moved) && !has(d, PART_X | PART_HI))
        expression = sum_of(p->expression, p->c.expression);
    else if (is_register(p->addend) && is_negative(p->addend) && !p->negative_product && !has(d, PART_X | PART_HI))
        expression = sum_of(p->expression, product_of(unsigned_value(regs, p->addend, 0).expression, numbered(MINUS_ONE)));
    if (has(d, PART_HI) && is_zero(p->c) && !p->negative)
        expression = multiply_high(p->a.expression, p->b.expression);
    return expression;
}

bool multiply_and_add(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct sources sources;
    struct product p;

    find_sources(d, &sources);
    if (sources.count < 3)
        return false;
    p.a = operand_value(regs, sources.list[0], 0);
    p.b = operand_value(regs, sources.list[1], 0);
    p.c = operand_value(regs, sources.list[2], 0);
    p.addend = sources.list[2];
    p.moved = is_zero(p.a) || is_zero(p.b);
    p.negative_product = is_minus(sources.list[0]) || is_minus(sources.list[1]);
    p.negative = p.negative_product || is_negative(sources.list[2]);
    p.provenance = p.c.provenance;
    if (p.b.expression == EXPR_ONE)
        p.provenance = united(p.provenance, p.a.provenance);
    else if (p.a.expression == EXPR_ONE)
        p.provenance = united(p.provenance, p.b.provenance);
    p.varies = p.c.varies | (p.moved ? 0 : p.a.varies | p.b.varies);
    p.expression = p.moved ? EXPR_ZERO : product_of(p.a.expression, p.b.expression);
    put_carries(d, result);
    if (has(d, PART_WIDE))
        put_wide_product(regs, d, &p, result);
    else
        put_sum(result, target(d), value_of(low_product(regs, d, &p), p.provenance, p.varies));
    return true;
}

/* LEA: index << count + base ---------------------------------------------------------------------------------------- */

/* The upper half of index << count, if that is asked for plainly: index >> 32 - count. */
static expr scaled_down(expr index, expr count)
{
    uint32_t bits;

    if (!count || !is_number_of(count, &bits) || !bits || bits >= 32)
        return 0;
    return shift_right(index, numbered(32 - bits));
}

bool scale_and_add(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value index, base, third, whole;
    struct sources sources;
    bool inverted;

    find_sources(d, &sources);
    if (sources.count < 3)
        return false;
    index = operand_value(regs, sources.list[0], 0);
    base = operand_value(regs, sources.list[1], 0);
    third = operand_value(regs, sources.list[2], 0);
    inverted = is_inverted(sources.list[0]) || is_inverted(sources.list[1]);
    whole = value_of(0, base.provenance, index.varies | base.varies);
    put_carries(d, result);
    if (has(d, PART_HI) && !has(d, PART_SX32) && sources.count == 4 && third.expression == EXPR_ZERO) {
        if (!inverted)
            whole.expression = sum_of(scaled_down(index.expression, operand_value(regs, sources.list[3], 0).expression),
                                      base.expression);
    } else if (has(d, PART_HI | PART_SX32 | PART_64)) {
        if (has(d, PART_64)) {
            put_pair(result, target(d), whole, value_of(0, operand_value(regs, sources.list[1], 1).provenance, whole.varies));
            return true;
        }
    } else if (!inverted) {
        whole.expression = sum_of(shift_left(index.expression, third.expression), base.expression);
    }
    put(result, target(d), whole);
    return true;
}

/* shifts ----------------------------------------------------------------------------------------------------------- */

/* By less than a word: a number below 32, or an unknown count that is not taken modulo 32 (.W). */
static bool is_within_word(const struct decoded *d, expr count)
{
    uint32_t by;

    if (count && is_number_of(count, &by))
        return by < 32;
    return !strstr(text_of(d->opcode->text), ".W");
}

bool shift_bits(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value low, count, high = zero_value();
    bool within_word;
    expr expression;

    if (d->count < 3)
        return false;
    low = operand_value(regs, &d->operands[1], 0);
    count = operand_value(regs, &d->operands[2], 0);
    if (d->count > 3)
        high = operand_value(regs, &d->operands[3], 0);
    within_word = is_within_word(d, count.expression);
    if (has(d, PART_R) && has(d, PART_HI) && is_zero(low) && within_word)
        expression = has(d, PART_U32) || is_never_negative(high.expression) ? shift_right(high.expression, count.expression)
                                                                           : shift_arithmetic(high.expression, count.expression);
    else if (has(d, PART_R) && !has(d, PART_HI) && d->count > 3 && is_zero(high) && within_word)
        expression = shift_right(low.expression, count.expression);
    else if (has(d, PART_L) && !has(d, PART_HI) && is_zero(high) && within_word)
        expression = shift_left(low.expression, count.expression);
    else
        expression = operation(OPERATION_NAMED + d->opcode->text, 3, (expr[]){low.expression, count.expression, high.expression});
    put(result, target(d), value_of(expression, 0, low.varies | count.varies | high.varies));
    return true;
}

struct width {
    unsigned bits;
    bool is_signed;
};

static expr extended_by(expr value, const void *with)
{
    const struct width *width = with;

    return extended(value, width->bits, width->is_signed);
}

bool extend_sign(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value value;
    expr count, expression = 0;
    uint32_t bits;

    if (d->count < 3)
        return false;
    value = operand_value(regs, &d->operands[1], 0);
    count = operand_value(regs, &d->operands[2], 0).expression;
    if (value.expression && count && is_number_of(count, &bits) && bits && bits < 32) {
        struct width width = {bits, !has(d, PART_U32)};

        expression = for_each_choice(value.expression, extended_by, &width);
    }
    put(result, target(d), value_of(expression, 0, value.varies));
    return true;
}

/* smaller or larger of two ------------------------------------------------------------------------------------------- */

/* Instructions whose choice is not a constant are told apart by opcode and by the predicate that chooses. */
static uint32_t other_extreme(const struct decoded *d)
{
    static struct map known;
    const struct operand *last = &d->operands[d->count - 1];
    const char *parts[] = {text_of(d->opcode->text), text_of(last->text), has(d, PART_U32) ? ".u" : ".s"};
    uint64_t key = (uint64_t)d->opcode->text << 32 | last->text;
    uint32_t found;
    char text[256];

    if (map_get(&known, key, &found))
        return OPERATION_NAMED + found;
    snprintf(text, sizeof(text), "%s%s%s", parts[0], parts[1], parts[2]);
    found = name_of_text(text);
    map_put(&known, key, found);
    return OPERATION_NAMED + found;
}

static uint32_t extreme_of(const struct decoded *d)
{
    const struct operand *last = &d->operands[d->count - 1];
    bool is_unsigned = has(d, PART_U32);

    if (!last->zero)
        return other_extreme(d);
    if (last->sign == '!')
        return is_unsigned ? OPERATION_MAX_UNSIGNED : OPERATION_MAX_SIGNED;
    return is_unsigned ? OPERATION_MIN_UNSIGNED : OPERATION_MIN_SIGNED;
}

static expr extreme(uint32_t op, expr left, expr right)
{
    uint32_t a, b;
    bool first;

    if (!left || !right || op >= OPERATION_NAMED || !is_number_of(left, &a) || !is_number_of(right, &b))
        return operation(op, 2, (expr[]){left, right});
    first = op == OPERATION_MIN_SIGNED || op == OPERATION_MAX_SIGNED ? (int32_t)a < (int32_t)b : a < b;
    return first == (op == OPERATION_MIN_SIGNED || op == OPERATION_MIN_UNSIGNED) ? left : right;
}

/* a < b ? a : b, in whatever order it is asked: the smaller of both, or the larger; 0 if it is neither. */
expr chosen_extreme(expr condition, expr a, expr b)
{
    static const uint32_t smaller[2] = {OPERATION_MIN_UNSIGNED, OPERATION_MIN_SIGNED};
    static const uint32_t larger[2] = {OPERATION_MAX_UNSIGNED, OPERATION_MAX_SIGNED};

    if (!condition || !a || !b)
        return 0;
    if (is_number(a)) /* the number stands last in expressions */
        return is_number(b) ? 0 : chosen_extreme(negation(condition), b, a);
    for (unsigned sign = 0; sign < 2; sign++) {
        if (condition == comparison(COMPARES_LT, sign, a, b) || condition == comparison(COMPARES_LE, sign, a, b))
            return extreme(smaller[sign], a, b);
        if (condition == comparison(COMPARES_GT, sign, a, b) || condition == comparison(COMPARES_GE, sign, a, b))
            return extreme(larger[sign], a, b);
    }
    return 0;
}

bool take_extreme(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    const struct operand *sources[2];
    struct value a, b;
    unsigned count = 0;

    if (d->count < 4 || d->operands[0].kind != OPERAND_REGISTER || d->operands[d->count - 1].kind != OPERAND_PREDICATE)
        return false;
    for (unsigned i = 1; i + 1 < d->count; i++) { /* sm_100 names two results of a comparison, too */
        const struct operand *operand = &d->operands[i];

        if (operand->kind == OPERAND_PREDICATE ? !operand->zero || operand->sign : count == 2)
            return false;
        if (operand->kind != OPERAND_PREDICATE)
            sources[count++] = operand;
    }
    if (count != 2)
        return false;
    a = operand_value(regs, sources[0], 0);
    b = operand_value(regs, sources[1], 0);
    put(result, target(d),
        value_of(extreme(extreme_of(d), a.expression, b.expression), 0, a.varies | b.varies));
    return true;
}

/* VIADDMNMX: of a sum and a number. */
bool take_extreme_of_sum(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    unsigned first = d->count - 4; /* sm_100 names two results of a comparison, too */
    struct value a, b, c;

    if (d->count < 5 || d->operands[0].kind != OPERAND_REGISTER || d->operands[d->count - 1].kind != OPERAND_PREDICATE)
        return false;
    for (unsigned i = 1; i < first; i++)
        if (d->operands[i].kind != OPERAND_PREDICATE || !d->operands[i].zero || d->operands[i].sign)
            return false;
    a = operand_value(regs, &d->operands[first], 0);
    b = operand_value(regs, &d->operands[first + 1], 0);
    c = operand_value(regs, &d->operands[first + 2], 0);
    if (d->operands[first].sign || d->operands[first + 1].sign || d->operands[first + 2].sign || !a.expression || !b.expression)
        return false;
    put(result, target(d),
        value_of(extreme(extreme_of(d), add(a.expression, b.expression), c.expression), 0, a.varies | b.varies | c.varies));
    return true;
}

bool take_absolute(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value value;
    uint32_t n;

    if (d->count < 2)
        return false;
    value = operand_value(regs, &d->operands[1], 0);
    if (!value.expression)
        return false;
    if (!(is_number_of(value.expression, &n) && n < 1u << 31) && !is_never_negative(value.expression))
        return false;
    put(result, target(d), value);
    return true;
}
