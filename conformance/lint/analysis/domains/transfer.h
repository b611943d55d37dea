/* evaluator.h - what the files share that say what one instruction does to the registers. */
#ifndef PDL_LINT_EVALUATOR_H
#define PDL_LINT_EVALUATOR_H

#include "analysis.h"

typedef bool computation(struct registers *, const struct instruction *, struct result *);

static inline struct value value_of(expr expression, provenance from, uint8_t varies)
{
    return (struct value){.expression = expression, .provenance = from, .varies = varies, .known = 1};
}

static inline struct value zero_value(void) { return value_of(EXPR_ZERO, 0, 0); }

/* RZ, or a register that holds the same, wherever it came from. */
static inline bool is_zero(struct value value) { return value.expression == EXPR_ZERO && !value.provenance && !value.varies; }

/* Most sets are empty or the same, and then no call is needed. */
static inline provenance united(provenance a, provenance b)
{
    if (a == b || !b)
        return a;
    return a ? provenance_union(a, b) : b;
}

static inline expr sum_of(expr a, expr b)
{
    if (!a || !b)
        return 0;
    if (a == EXPR_ZERO)
        return b;
    return b == EXPR_ZERO ? a : add(a, b);
}

static inline void put(struct result *result, uint16_t reg, struct value value)
{
    if (reg == NO_REGISTER || result->count == MOST_RESULTS)
        return;
    value.known = 1;
    result->reg[result->count] = reg;
    result->value[result->count++] = value;
}

static inline void put_pair(struct result *result, uint16_t reg, struct value low, struct value high)
{
    put(result, reg, low);
    put(result, register_after(reg, 1), high);
}

static inline bool has(const struct decoded *d, uint32_t parts) { return (d->opcode->parts & parts) != 0; }

/* The register that the first operand names. */
static inline uint16_t target(const struct decoded *d)
{
    return d->count && d->operands[0].kind == OPERAND_REGISTER ? d->operands[0].reg : NO_REGISTER;
}

static inline bool is_operation(expr expression, uint32_t op)
{
    const struct node *node = expression ? node_of(expression) : NULL;

    return node && node->tag == TAG_OPERATION && node->a == op;
}

static inline bool is_never_negative(expr expression)
{
    uint32_t largest;

    return expression && natural_limit(expression, &largest);
}

/* ranks.c */

expr place_in_cluster(expr sum); /* of a block, if it is computed so; else the sum */
computation step_to_cluster;

/* constants.c */

bool is_word_of_driver(expr); /* from the constants ahead of the parameters */

/* transfer.c */

expr numbered(uint32_t n); /* number(n), remembered */
/* As if no sign stood ahead of it. */
struct value unsigned_value(const struct registers *, const struct operand *, unsigned half);
struct value condition_value(const struct registers *, const struct operand *);
bool follows_variables(void);
expr choice_of_numbers(expr, expr); /* 0, unless such choices are kept */
bool results_get_names(void); /* of what is executed now, those that cannot be expressed */
/* Results that cannot be computed; they come from where the sources do. */
void put_unknown(const struct registers *, const struct decoded *, uint8_t varies, struct result *);
/* The register, or word (NO_REGISTER), after a write under a guard: the new value where the guard holds, else the old one. */
struct value chosen_value(uint16_t reg, struct value guard, struct value new, struct value old, enum matter);

/* constants.c */

void constants_begin(const struct kernel *);
struct value constant_value(uint32_t bank, uint32_t offset);
struct value constant_operand(const struct registers *, const struct operand *, unsigned half); /* c[bank][...] */
struct value word_of_table(const struct registers *, const struct operand *, unsigned half); /* of a table that has a name */
provenance parameter_provenance(void);           /* of all parameters */
uint32_t parameter_offset(int64_t at); /* in constant bank 0, of the byte at `at` of the parameters */
bool is_window_word(expr);             /* a word of constant bank 0 that holds where local or constant memory begins */
bool is_parameter_window(expr);

/* memory.c, stores.c */

enum {
    LOCAL_SPACE = 1u << WINDOW_LOCAL,
    SHARED_SPACE = 1u << WINDOW_SHARED,
    CONSTANT_SPACE = 1u << WINDOW_CONSTANT,
    HEAP_SPACE = 1u << WINDOW_HEAP, /* of its words nothing is kept but where they came from */
};
void memory_begin(void);
unsigned spaces_of(provenance); /* where an address with these provenance lies; 0: perhaps in global memory */
unsigned spaces_among(provenance); /* those where it may lie */
void load_words(const struct registers *, const struct decoded *, unsigned spaces, uint32_t site, struct result *);
/* `guard`: under which it does; `site`: the number of the place, 0 in a loop. */
void store_words(struct registers *, const struct decoded *, unsigned spaces, struct value guard, uint32_t site);

/* arithmetic.c, division.c, predicates.c */

computation add_integers, multiply_and_add, scale_and_add, shift_bits, extend_sign, take_extreme, take_absolute, choose;
computation take_extreme_of_sum;
computation estimate_reciprocal, estimate_from_integer;
expr chosen_extreme(expr condition, expr, expr); /* condition ? first : second, if that is the smaller or larger of both; else 0 */
expr multiply_high(expr, expr); /* the high half of a product, if it is a step of a division */
computation combine_bits, compare_integers, combine_predicates, keep_predicate, query_space;
void put_vote(const struct registers *, const struct decoded *, struct result *); /* of a result that has a name */

#endif
