/* predicates.c - what bitwise instructions, comparisons and combinations of predicates compute. */
#include "domains/transfer.h"

#include <string.h>

enum { LAST_PREDICATE = 6 };

/* LOP3 -------------------------------------------------------------------------------------------------------------- */

struct logic {
    unsigned table;
    expr second, third;
};

static expr combined_with(expr value, const void *with)
{
    const struct logic *logic = with;

    return bitwise(logic->table, value, logic->second, logic->third);
}

/* Of a choice between two numbers it is a choice, too, if the rest are numbers. */
static expr combined(unsigned rows, expr a, expr b, expr c)
{
    struct logic logic = {rows, b, c};

    if (a && b && c && node_of(a)->tag == TAG_SELECT && is_number(b) && is_number(c))
        return for_each_choice(a, combined_with, &logic);
    return bitwise(rows, a, b, c);
}

bool combine_bits(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    bool tests = d->count && d->operands[0].kind == OPERAND_PREDICATE;
    const struct operand *rest = d->operands + tests;
    struct value a, b, c;
    expr expression = 0;
    uint8_t varies;

    if (d->count < 5u + tests)
        return false;
    a = operand_value(regs, &rest[1], 0);
    b = operand_value(regs, &rest[2], 0);
    c = operand_value(regs, &rest[3], 0);
    varies = a.varies | b.varies | c.varies;
    if (rest[4].kind == OPERAND_NUMBER)
        expression = combined(rest[4].number & 0xFF, a.expression, b.expression, c.expression);
    varies = varies_as(expression, varies);
    if (tests && d->operands[0].reg != NO_REGISTER)
        put(result, d->operands[0].reg,
            value_of(expression ? comparison(COMPARES_NE, false, expression, EXPR_ZERO) : 0, 0, varies));
    if (rest[0].kind == OPERAND_REGISTER)
        put(result, rest[0].reg, value_of(expression, united(united(a.provenance, b.provenance), c.provenance), varies));
    return true;
}

/* ISETP ------------------------------------------------------------------------------------------------------------- */

/* One side is unknown; the other may still decide. */
static expr half_known(const struct decoded *d, expr wanted, expr extra)
{
    if ((wanted == EXPR_FALSE || extra == EXPR_FALSE) && has(d, PART_AND))
        return EXPR_FALSE;
    return (wanted == EXPR_TRUE || extra == EXPR_TRUE) && has(d, PART_OR) ? EXPR_TRUE : 0;
}

static expr with_extra(const struct decoded *d, expr wanted, expr extra)
{
    if (!wanted || !extra)
        return half_known(d, wanted, extra);
    if (has(d, PART_XOR))
        return 0;
    return has(d, PART_OR) ? disjunction(wanted, extra) : conjunction(wanted, extra);
}

static bool is_written_predicate(const struct operand *operand)
{
    return operand->kind == OPERAND_PREDICATE && operand->reg != NO_REGISTER;
}

/* Of the high halves of two wide integers; `low` is the answer for the low ones. */
static expr of_high_halves(const struct decoded *d, expr a, expr b, expr low)
{
    enum comparison how = (enum comparison)d->opcode->comparison;
    bool is_signed = !has(d, PART_UNSIGNED);
    enum comparison strictly = how == COMPARES_LE ? COMPARES_LT : how == COMPARES_GE ? COMPARES_GT : how;
    expr same = comparison(COMPARES_EQ, false, a, b), high = comparison(strictly, is_signed, a, b), formula;

    if (how == COMPARES_NOT || !same || !high)
        return 0;
    if (how == COMPARES_EQ)
        return conjunction(same, low);
    formula = disjunction(high, how == COMPARES_NE ? low : conjunction(same, low));
    return formula && formula_is_small(formula) ? formula : 0;
}

bool compare_integers(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    const struct operand *operands = d->operands;
    struct value a, b, extra;
    expr formula = 0;
    uint8_t varies;

    if (d->count < 5)
        return false;
    a = operand_value(regs, &operands[2], 0);
    b = operand_value(regs, &operands[3], 0);
    extra = condition_value(regs, &operands[4]);
    varies = a.varies | b.varies | extra.varies;
    if (has(d, PART_EX) && d->count > 5) {
        struct value low = condition_value(regs, &operands[5]);

        varies |= low.varies;
        if (a.expression && b.expression && low.expression)
            formula = of_high_halves(d, a.expression, b.expression, low.expression);
    }
    if (has(d, PART_WIDE_COMPARE) && !has(d, PART_EX)) {
        struct value high[2] = {operand_value(regs, &operands[2], 1), operand_value(regs, &operands[3], 1)};
        expr low = 0;

        varies |= high[0].varies | high[1].varies;
        if (a.expression && b.expression && d->opcode->comparison != COMPARES_NOT)
            low = comparison((enum comparison)d->opcode->comparison, false, a.expression, b.expression);
        if (low && high[0].expression && high[1].expression)
            formula = of_high_halves(d, high[0].expression, high[1].expression, low);
    }
    if (a.expression && b.expression && d->opcode->comparison != COMPARES_NOT && !has(d, PART_WIDE_COMPARE))
        formula = comparison((enum comparison)d->opcode->comparison, !has(d, PART_UNSIGNED), a.expression, b.expression);
    if (is_written_predicate(&operands[0]))
        put(result, operands[0].reg, value_of(with_extra(d, formula, extra.expression), 0, varies));
    if (is_written_predicate(&operands[1]))
        put(result, operands[1].reg, value_of(with_extra(d, formula ? negation(formula) : 0, extra.expression), 0, varies));
    return true;
}

/* VOTE -------------------------------------------------------------------------------------------------------------- */

/* A lane that says yes knows that one does; a lane that says no knows that not all do. */
void put_vote(const struct registers *regs, const struct decoded *d, struct result *result)
{
    expr said = condition_value(regs, &d->operands[d->count - 1]).expression;
    bool any = has(d, PART_ANY);

    for (unsigned i = 0; i < result->count && said && (any || has(d, PART_ALL)); i++) {
        struct value *answer = &result->value[i];
        expr both = !is_predicate(result->reg[i]) || !answer->expression ? 0
                    : any ? disjunction(said, answer->expression) : conjunction(said, answer->expression);

        if (both && formula_is_small(both))
            answer->expression = both;
    }
}

/* PLOP3 ------------------------------------------------------------------------------------------------------------- */

static bool is_constant(expr formula)
{
    return formula == EXPR_TRUE || formula == EXPR_FALSE;
}

/* first ? when_true : when_false, none of them unknown. */
static expr choice_of(expr first, expr when_true, expr when_false)
{
    if (!is_constant(when_true) && !is_constant(when_false))
        return disjunction(conjunction(first, when_true), conjunction(negation(first), when_false));
    if (when_true == EXPR_TRUE)
        return disjunction(first, when_false);
    if (when_true == EXPR_FALSE)
        return conjunction(negation(first), when_false);
    if (when_false == EXPR_TRUE)
        return disjunction(negation(first), when_true);
    return conjunction(first, when_true);
}

/* The formula of a truth table, as short as it can be; 0 if an unknown input matters. */
static expr from_table(unsigned table, const expr *inputs, unsigned count)
{
    unsigned width = 1u << (count - 1); /* rows in which the first input has one value */
    unsigned rows = (1u << width) - 1, low = table & rows, high = table >> width & rows;
    unsigned spread = width == 4 ? 0x11 : 0x55;
    expr when_false = low ? EXPR_TRUE : EXPR_FALSE, when_true = high ? EXPR_TRUE : EXPR_FALSE;

    if ((table & 0xFF) == 0)
        return EXPR_FALSE;
    if ((table & 0xFF) == 0xFF)
        return EXPR_TRUE;
    if (width > 1) {
        when_false = from_table(low * spread, inputs + 1, count - 1);
        when_true = from_table(high * spread, inputs + 1, count - 1);
    }
    if (low == high || (when_true && when_true == when_false)) /* the other inputs decide, whatever this one is */
        return when_true;
    if (inputs[0] && when_true && when_false)
        return choice_of(inputs[0], when_true, when_false);
    if (inputs[0] == EXPR_TRUE)
        return when_true;
    return inputs[0] == EXPR_FALSE ? when_false : 0;
}

bool combine_predicates(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    expr inputs[3];
    uint8_t varies = 0;

    if (d->count < 6)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        struct value value = condition_value(regs, &d->operands[2 + i]);

        inputs[i] = value.expression;
        varies |= value.varies;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct operand *table = 5 + i < d->count ? &d->operands[5 + i] : NULL;
        bool is_table = table && table->kind == OPERAND_NUMBER;

        if (is_written_predicate(&d->operands[i]))
            put(result, d->operands[i].reg, value_of(is_table ? from_table(table->number & 0xFF, inputs, 3) : 0, 0, varies));
    }
    return true;
}

/* P2R --------------------------------------------------------------------------------------------------------------- */

/* P2R R0, PR, RZ, 0x2: one predicate kept in a register, at its place. Several at once are not followed. */
bool keep_predicate(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    uint16_t reg = text_of(d->opcode->base)[0] == 'U' ? FIRST_UP : FIRST_P;
    uint32_t mask = d->count == 4 && d->operands[3].kind == OPERAND_NUMBER ? d->operands[3].number : 0;

    if (d->opcode->text != d->opcode->base || mask == 0 || mask & (mask - 1) || mask > 1u << LAST_PREDICATE || !d->operands[2].zero)
        return false;
    for (uint32_t rest = mask; rest > 1; rest >>= 1)
        reg++;
    struct value kept = predicate_value(regs, reg, false);
    put(result, target(d), value_of(select_of(kept.expression, number(mask), EXPR_ZERO), 0, kept.varies));
    return true;
}

/* Choices that a condition makes ------------------------------------------------------------------------------------- */

expr chosen_by(uint16_t reg, expr formula, expr if_true, expr if_false)
{
    expr merged = 0;

    if (!formula || !if_true || !if_false)
        return 0;
    if (is_predicate(reg)) {
        merged = disjunction(conjunction(formula, if_true), conjunction(negation(formula), if_false));
        return merged && formula_is_small(merged) ? merged : 0;
    }
    merged = number_chosen(formula, if_true, if_false);
    return merged ? merged : chosen_extreme(formula, if_true, if_false);
}

expr where_holds(expr e, expr formula)
{
    const struct node *node = node_of(e);

    if (e == formula || e == negation(formula))
        return e == formula ? EXPR_TRUE : EXPR_FALSE;
    if (node->tag == TAG_NOT)
        return negation(where_holds(node->kids[0], formula));
    return node->tag == TAG_AND ? conjunction(where_holds(node->kids[0], formula), where_holds(node->kids[1], formula)) : e;
}

static expr where_all_hold(expr e, const struct ways *ways)
{
    for (unsigned i = 0; i < MOST_WAYS && ways->held[i]; i++)
        e = where_holds(e, ways->held[i]);
    return e;
}

bool is_chosen(expr whole, const struct ways *ways, expr if_true)
{
    const struct node *node = whole ? node_of(whole) : NULL;

    if (!node || !if_true)
        return false;
    if (node->tag == TAG_AND || node->tag == TAG_NOT)
        return where_all_hold(whole, ways) == if_true;
    if (node->tag == TAG_SELECT) {
        expr condition = where_all_hold(node->kids[0], ways), chosen = condition == EXPR_TRUE ? node->kids[1] : node->kids[2];

        return is_number(condition) && (chosen == if_true || is_chosen(chosen, ways, if_true));
    }
    for (unsigned i = 0; node->tag == TAG_OPERATION && node->kid_count == 2 && i < 2; i++)
        for (unsigned n = 0; n < MOST_WAYS && node->kids[i] == if_true; n++)
            if (chosen_extreme(ways->held[n], if_true, node->kids[1 - i]) == whole)
                return true;
    return false;
}

/* QSPC -------------------------------------------------------------------------------------------------------------- */

/* QSPC.E.S P0, RZ, [R4]: whether a generic address lies in the block's own shared memory; .D: in that of its cluster, .L: in local,
 * .G: in global memory. */
bool query_space(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    const struct address *address = d->memory < d->count ? &d->operands[d->memory].address : NULL;
    const char *which = strrchr(text_of(d->opcode->text), '.');
    uint8_t varies;
    unsigned asked, spaces;

    if (!which || !strchr("SDLG", which[1]) || !which[1] || which[2])
        return false;
    asked = 1u << (which[1] == 'S' || which[1] == 'D' ? WINDOW_SHARED : which[1] == 'L' ? WINDOW_LOCAL : WINDOW_HEAP);
    if (!address || address->count != 1 || !is_written_predicate(&d->operands[0]) || d->destination_count != 1)
        return false;
    spaces = spaces_of(address_provenance(regs, address, &varies));
    if (!spaces || spaces & 1u << WINDOW_CONSTANT || (spaces & asked && spaces != asked))
        return false;
    if (which[1] == 'S' && spaces == asked && !is_in_own_block(regs->file[address->reg[0]].expression))
        return false;
    put(result, d->operands[0].reg, value_of(spaces == asked ? EXPR_TRUE : EXPR_FALSE, 0, 0));
    return true;
}
