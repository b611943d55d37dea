/* division.c - the steps in which debug code divides integers, and choices between two values, which end them. */
#include "domains/transfer.h"

#include <string.h>

enum { AND_TABLE = 0xC0 };

static uint32_t reciprocal_base(expr expression)
{
    return expression ? reciprocal_in(expression) : 0;
}

static bool put_reciprocal(const struct decoded *d, uint32_t of, uint8_t varies, struct result *result)
{
    if (of)
        put(result, target(d), value_of(reciprocal(of), 0, varies));
    return of != 0;
}

/* Debug code divides integers by a number in steps that begin with an estimate of its reciprocal. */
bool estimate_reciprocal(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value value;

    if (!d->count)
        return false;
    value = operand_value(regs, &d->operands[d->count - 1], 0);
    return put_reciprocal(d, reciprocal_base(value.expression), value.varies, result) || step_to_cluster(regs, instruction, result);
}

bool estimate_from_integer(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value value;
    uint32_t n;

    if (!d->count)
        return false;
    value = operand_value(regs, &d->operands[d->count - 1], 0);
    if (!value.expression || !is_number_of(value.expression, &n))
        n = reciprocal_base(value.expression);
    else if (strncmp(text_of(d->opcode->text), "I2F.U32.RP", strlen("I2F.U32.RP")))
        n = 0;
    return put_reciprocal(d, n, value.varies, result);
}

/* The high half of a product with such a reciprocal: a better one, or the quotient, perhaps 1 or 2 too small. */
expr multiply_high(expr a, expr b)
{
    uint32_t first = reciprocal_base(a), second = reciprocal_base(b);

    if (first && second)
        return reciprocal(first);
    if (!first && !second)
        return 0;
    return operation(OPERATION_QUOTIENT, 2, (expr[]){first ? b : a, numbered(first ? first : second)});
}

/* x - n * (x / n): what is left of x, while the quotient may still be too small. */
static bool is_remainder(expr expression, expr *of, uint32_t *n)
{
    expr terms[MOST_SIZE + 1];
    uint32_t constant, factor;

    if (!expression || sum_terms(expression, terms, &constant) != 2 || constant)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const struct node *quotient = node_of(terms[i]);
        uint32_t product = 1;

        for (; quotient->tag == TAG_OPERATION && quotient->a == OPERATION_MULTIPLY; quotient = node_of(quotient->kids[0])) {
            if (!is_number_of(quotient->kids[1], &factor))
                break;
            product *= factor;
        }
        *of = terms[1 - i];
        if (quotient->tag == TAG_OPERATION && quotient->a == OPERATION_QUOTIENT && quotient->kids[0] == *of &&
            is_number_of(quotient->kids[1], n) && product == 0u - *n)
            return true;
    }
    return false;
}

/* One divisor less, or not: a step of a remainder. */
static bool is_step_of_remainder(expr less, expr rest)
{
    expr of;
    uint32_t n;

    return less && is_remainder(rest, &of, &n) && less == add(rest, numbered(0u - n));
}

/* The quotient or remainder at the end of those steps, as a shift or a mask where it is one. */
static struct value divided(struct value value)
{
    expr parts[2], of;
    uint32_t n, bits = 0;

    if (is_remainder(value.expression, &of, &n) && n && !(n & (n - 1)) && is_never_negative(of))
        value.expression = bitwise(AND_TABLE, of, numbered(n - 1), EXPR_ZERO);
    value.varies = varies_as(value.expression, value.varies);
    if (!is_operation(value.expression, OPERATION_QUOTIENT))
        return value;
    parts[0] = node_of(value.expression)->kids[0];
    parts[1] = node_of(value.expression)->kids[1];
    if (!is_number_of(parts[1], &n))
        return value;
    if (!is_never_negative(parts[0]) || n & (n - 1)) {
        value.expression = operation(OPERATION_DIVIDE, 2, parts);
        return value;
    }
    while (n >> bits > 1)
        bits++;
    value.expression = shift_right(parts[0], numbered(bits));
    return value;
}

/* choices ---------------------------------------------------------------------------------------------------------- */

static struct value chosen(struct value condition, struct value a, struct value b)
{
    struct value found = value_of(0, united(a.provenance, b.provenance), a.varies | b.varies | condition.varies);

    if (condition.expression == EXPR_TRUE || condition.expression == EXPR_FALSE)
        return divided(condition.expression == EXPR_TRUE ? a : b);
    if (a.expression && is_operation(b.expression, OPERATION_QUOTIENT) && a.expression == add(b.expression, EXPR_ONE))
        found.expression = b.expression; /* one more, or not: a step of a division */
    else if (is_step_of_remainder(a.expression, b.expression))
        found.expression = b.expression;
    else
        found.expression = number_chosen(condition.expression, a.expression, b.expression);
    if (!found.expression)
        found.expression = chosen_extreme(condition.expression, a.expression, b.expression);
    if (!found.expression)
        found.expression = choice_of_numbers(a.expression, b.expression);
    if (!found.expression && !results_get_names() && is_number_or_part(a.expression) && is_number_or_part(b.expression))
        found.expression = joined(a, b).expression; /* the bits in which they agree */
    return found;
}

bool choose(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value condition, found[2];

    if (d->count < 4)
        return false;
    condition = condition_value(regs, &d->operands[3]);
    for (unsigned half = 0; half < (has(d, PART_64) ? 2 : 1); half++)
        found[half] = chosen(condition, operand_value(regs, &d->operands[1], half), operand_value(regs, &d->operands[2], half));
    if (has(d, PART_64))
        put_pair(result, target(d), found[0], found[1]);
    else
        put(result, target(d), found[0]);
    return true;
}
