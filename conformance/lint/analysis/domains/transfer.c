/* transfer.c - one instruction's effect on the registers, as far as conditions and addresses need it.
 *
 * Unhandled instructions make their destinations unknown and hand the provenance of their sources on, so a missing case costs
 * precision and never hides an access.
 */
#include "domains/transfer.h"

#include <string.h>

enum { NUMBERS_REMEMBERED = 1024 };

static const struct kernel *evaluated;

static struct map addressable; /* provenance -> those of them that can be an address */
static struct {
    uint32_t n;
    expr expression; /* 0: none yet */
} numbers[NUMBERS_REMEMBERED];

static unsigned followed; /* evaluator_follow */
static bool names_results;
static name own_loads[2], own_stores[2]; /* by enum window: LDL, LDS; STL, STS */
static name votes[2];

void evaluator_begin(const struct kernel *kernel)
{
    evaluated = kernel;
    constants_begin(kernel);
    map_clear(&addressable);
    memset(numbers, 0, sizeof(numbers));
    own_loads[WINDOW_LOCAL] = name_of_text("LDL");
    own_loads[WINDOW_SHARED] = name_of_text("LDS");
    own_stores[WINDOW_LOCAL] = name_of_text("STL");
    own_stores[WINDOW_SHARED] = name_of_text("STS");
    votes[0] = name_of_text("VOTE");
    votes[1] = name_of_text("VOTEU");
    followed = 0;
    memory_begin();
}

void evaluator_follow(unsigned how) { followed = how; }
bool follows_variables(void) { return followed & FOLLOWS_VARIABLES; }
bool results_get_names(void) { return names_results; }
expr choice_of_numbers(expr left, expr right) { return followed & KEEPS_CHOICES ? one_number_of(left, right) : 0; }

expr numbered(uint32_t n)
{
    size_t at = (n ^ n >> 10 ^ n >> 20) % NUMBERS_REMEMBERED;

    if (!numbers[at].expression || numbers[at].n != n) {
        numbers[at].n = n;
        numbers[at].expression = number(n);
    }
    return numbers[at].expression;
}

/* operands --------------------------------------------------------------------------------------------------------- */

/* NO_REGISTER: zero. */
static struct value register_value(const struct registers *regs, uint16_t reg, unsigned half)
{
    if (reg == NO_REGISTER)
        return zero_value();
    if (half)
        reg = register_after(reg, half);
    return reg == NO_REGISTER ? (struct value){0} : regs->file[reg];
}

struct value unsigned_value(const struct registers *regs, const struct operand *operand, unsigned half)
{
    switch (operand->kind) {
    case OPERAND_REGISTER:
        if (operand->reg == NO_REGISTER)
            return operand->zero ? zero_value() : (struct value){0};
        return half ? register_value(regs, operand->reg, half) : regs->file[operand->reg];
    case OPERAND_NUMBER:
        return value_of(half ? EXPR_ZERO : numbered(operand->number), 0, 0);
    case OPERAND_CONSTANT:
        return constant_operand(regs, operand, half);
    case OPERAND_PLACE:
        return value_of(symbol_half(operand->symbol, 0), 0, 0);
    case OPERAND_HALF:
        return value_of(symbol_half(operand->symbol, operand->half), provenance_of(origin_of(ORIGIN_SYMBOL, operand->symbol)), 0);
    case OPERAND_TABLE:
        return word_of_table(regs, operand, half);
    default:
        return (struct value){0};
    }
}

struct value operand_value(const struct registers *regs, const struct operand *operand, unsigned half)
{
    struct value found = unsigned_value(regs, operand, half);

    if (operand->negated && (operand->kind == OPERAND_CONSTANT || (operand->kind == OPERAND_REGISTER && !is_zero(found))))
        found.expression = 0;
    return found;
}

struct value predicate_value(const struct registers *regs, uint16_t reg, bool negated)
{
    struct value found = reg == NO_REGISTER ? value_of(EXPR_TRUE, 0, 0) : regs->file[reg];

    if (negated && found.expression)
        found.expression = negation(found.expression);
    return found;
}

struct value condition_value(const struct registers *regs, const struct operand *operand)
{
    if (operand->kind != OPERAND_PREDICATE || (operand->reg == NO_REGISTER && !operand->zero))
        return (struct value){0};
    return predicate_value(regs, operand->reg, operand->sign == '!');
}

/* addresses -------------------------------------------------------------------------------------------------------- */

/* Addresses of functions are on the stack to return to, and parameters too small for a pointer can only be an index. */
static bool is_no_address(origin from)
{
    uint32_t n = origin_number(from), ignored;

    if (from & ORIGIN_VIA)
        return false;
    if (origin_kind(from) == ORIGIN_SYMBOL)
        return map_get(&image.functions, n, &ignored);
    if (origin_kind(from) != ORIGIN_PARAMETER)
        return false;
    for (uint32_t i = 0; i < evaluated->parameter_count; i++) {
        const struct parameter *p = &evaluated->parameters[i];

        if (p->size < 8 && p->offset <= n && n - p->offset < p->size)
            return true;
    }
    return false;
}

provenance address_provenance(const struct registers *regs, const struct address *address, uint8_t *varies)
{
    provenance found = 0, kept;

    *varies = 0;
    for (unsigned i = 0; i < address->count; i++) {
        struct value low = register_value(regs, address->reg[i], 0), high = register_value(regs, address->reg[i], 1);

        found = united(united(found, low.provenance), high.provenance);
        *varies |= low.varies | high.varies;
    }
    if (!found || map_get(&addressable, found, &kept))
        return found ? kept : 0;
    kept = provenance_without(found, is_no_address);
    map_put(&addressable, found, kept);
    return kept;
}

static bool begins_with(name text, const char *start) { return !strncmp(text_of(text), start, strlen(start)); }

static const struct operand *bracketed(const struct decoded *d)
{
    for (unsigned i = 0; i < d->count; i++)
        if (text_of(d->operands[i].text)[0] == '[')
            return &d->operands[i];
    return NULL;
}

/* The address of the barrier object that an instruction waits for or signals; 0 if that is not known. */
expr object_address(const struct registers *regs, const struct instruction *instruction)
{
    const struct decoded *d = instruction->decoded;
    const struct operand *memory = bracketed(d);
    name text = d->opcode->text;
    expr total;

    if (!memory || begins_with(text, "LDGSTS"))
        return 0;
    if (begins_with(text, "UBLKCP") || begins_with(text, "UTMALDG")) /* it is in the register after the destination's */
        return memory->address.count ? register_value(regs, memory->address.reg[0], 1).expression : EXPR_ZERO;
    if (!begins_with(text, "SYNCS") && !begins_with(text, "ARRIVES") && !begins_with(text, "UTCBAR"))
        return 0;
    total = numbered((uint32_t)memory->address.offset);
    for (unsigned i = 0; i < memory->address.count; i++)
        total = sum_of(total, register_value(regs, memory->address.reg[i], 0).expression);
    return total;
}

/* effects ---------------------------------------------------------------------------------------------------------- */

/* A result that cannot be computed, but is the same wherever this execution of the site is meant. */
struct value fresh(unsigned reg, uint32_t site, provenance from, uint8_t varies)
{
    expr expression = site ? site_result(site, reg) : 0;

    if (expression && varies & VARIES_BY_THREAD)
        note_varying_site(expression);
    if (is_predicate(reg))
        return value_of(expression ? atom(expression) : 0, 0, varies);
    return value_of(expression, from, varies);
}

/* Results that could not be expressed get the name of their place, so that two uses can still be compared. */
static void name_results(struct result *result, uint32_t site)
{
    if (!site)
        return;
    for (unsigned i = 0; i < result->count; i++)
        if (!result->value[i].expression)
            result->value[i] = fresh(result->reg[i], site, result->value[i].provenance, result->value[i].varies);
}

static void put_everywhere(const struct decoded *d, provenance from, uint8_t varies, struct result *result)
{
    for (unsigned i = 0; i < d->destination_count; i++) {
        uint16_t reg = d->destinations[i];

        put(result, reg, value_of(0, is_predicate(reg) ? 0 : from, varies));
    }
}

void put_unknown(const struct registers *regs, const struct decoded *d, uint8_t varies, struct result *result)
{
    provenance from = 0;

    for (unsigned i = d->first_source; i < d->count; i++) {
        const struct operand *operand = &d->operands[i];

        if (operand->kind == OPERAND_PREDICATE) {
            varies |= condition_value(regs, operand).varies;
        } else if (operand->kind == OPERAND_REGISTER || operand->kind == OPERAND_CONSTANT) {
            struct value found = unsigned_value(regs, operand, 0);

            from = united(from, found.provenance);
            varies |= found.varies;
        }
    }
    put_everywhere(d, from, varies, result);
}

static void put_loaded(const struct registers *regs, const struct decoded *d, struct result *result)
{
    uint8_t varies = 0;
    provenance from = d->memory < d->count ? address_provenance(regs, &d->operands[d->memory].address, &varies) : 0;

    put_everywhere(d, from ? provenance_indirect(from) : 0, varies, result);
}

static provenance provenance_of_memory(const struct registers *regs, const struct decoded *d)
{
    uint8_t varies;

    return d->memory < d->count ? address_provenance(regs, &d->operands[d->memory].address, &varies) : 0;
}

/* The memories that an instruction loads from; 0: none, or perhaps global memory. */
static unsigned loaded_spaces(const struct registers *regs, const struct decoded *d)
{
    uint8_t kind = d->opcode->kind;
    provenance from;

    for (unsigned space = WINDOW_LOCAL; space <= WINDOW_SHARED; space++)
        if (d->opcode->base == own_loads[space])
            return 1u << space;
    if (kind != KIND_LOAD && kind != KIND_GENERIC_LOAD)
        return 0;
    from = provenance_of_memory(regs, d);
    return kind == KIND_GENERIC_LOAD || provenance_has_heap(from) ? spaces_of(from) : 0; /* the heap lies in global memory */
}

/* Those that it changes, if only perhaps. */
static unsigned changed_spaces(const struct registers *regs, const struct decoded *d)
{
    uint8_t kind = d->opcode->kind;

    for (unsigned space = WINDOW_LOCAL; space <= WINDOW_SHARED; space++)
        if (d->opcode->base == own_stores[space] || (space == WINDOW_SHARED && d->opcode->changes_shared))
            return 1u << space;
    if (kind == KIND_GENERIC_STORE || kind == KIND_GENERIC_ATOMIC)
        return spaces_among(provenance_of_memory(regs, d));
    return kind == KIND_STORE || kind == KIND_ATOMIC ? spaces_among(provenance_of_memory(regs, d)) & HEAP_SPACE : 0;
}

static void put_generic(struct registers *regs, const struct decoded *d, struct value guard, uint32_t site, struct result *result)
{
    unsigned loaded = loaded_spaces(regs, d), changed = changed_spaces(regs, d);

    if (loaded) {
        load_words(regs, d, loaded, site, result);
        return;
    }
    if (changed && d->count > 1)
        store_words(regs, d, changed, guard, site);
    if (!d->destination_count)
        return;
    switch (d->opcode->kind) {
    case KIND_LOAD:
    case KIND_GENERIC_LOAD:
    case KIND_ATOMIC:
    case KIND_GENERIC_ATOMIC:
        put_loaded(regs, d, result);
        break;
    default:
        put_unknown(regs, d, 0, result);
    }
    name_results(result, site);
    if (d->opcode->base == votes[0] || d->opcode->base == votes[1])
        put_vote(regs, d, result);
}

/* The predicate after a write under a guard. */
static struct value chosen_formula(uint16_t reg, struct value guard, struct value new, struct value old)
{
    expr merged = chosen_by(reg, guard.expression, new.expression, old.expression);

    return value_of(merged, 0, new.varies | old.varies | guard.varies);
}

/* The register after a write under a guard: new where the guard holds, else old. Where it replaces the old value, nothing is reached
 * through that. */
struct value chosen_value(uint16_t reg, struct value guard, struct value new, struct value old, enum matter matter)
{
    provenance from = matter == REPLACES ? new.provenance : united(new.provenance, old.provenance);
    expr merged;

    if (new.expression && new.expression == old.expression)
        return value_of(new.expression, from, new.varies | old.varies);
    merged = chosen_by(reg, guard.expression, new.expression, old.expression);
    if (!merged)
        merged = choice_of_numbers(new.expression, old.expression);
    return value_of(merged, from, new.varies | old.varies | guard.varies);
}

/* A choice that cannot be expressed gets a name of its own as well. */
static void write_results(struct registers *regs, const struct result *result, struct value guard, enum matter matter, uint32_t site)
{
    for (unsigned i = 0; i < result->count; i++) {
        uint16_t reg = result->reg[i];
        struct value *old = &regs->file[reg];

        if (guard.expression == EXPR_TRUE) {
            *old = result->value[i];
            continue;
        }
        *old = is_predicate(reg) ? chosen_formula(reg, guard, result->value[i], *old)
                                 : chosen_value(reg, guard, result->value[i], *old, matter);
        if (!old->expression && site)
            *old = fresh(reg, site | CHOICE_SITE, old->provenance, old->varies);
    }
}

/* Predicates that an instruction writes besides what it computes: unknown. */
static void put_other_predicates(const struct decoded *d, struct result *result)
{
    for (unsigned i = 0; i < d->destination_count; i++) {
        bool there = !is_predicate(d->destinations[i]);

        for (unsigned k = 0; k < result->count && !there; k++)
            there = result->reg[k] == d->destinations[i];
        if (!there)
            put(result, d->destinations[i], value_of(0, 0, VARIES_BY_THREAD));
    }
}

/* Results that could not be expressed are still known to come from a variable. */
static void follow_variables(const struct registers *regs, const struct decoded *d, struct result *result)
{
    uint32_t ignored;
    expr from = 0;

    for (unsigned i = 0; i < d->count && !from; i++) {
        const struct operand *operand = &d->operands[i];
        expr found = operand->kind == OPERAND_PREDICATE ? condition_value(regs, operand).expression
                     : operand->reg != NO_REGISTER      ? regs->file[operand->reg].expression
                                                        : 0;

        if (found && variables_in(found, &ignored, 1))
            from = found;
    }
    for (unsigned i = 0; i < result->count && from; i++)
        if (!result->value[i].expression)
            result->value[i].expression = is_predicate(result->reg[i]) ? atom(from) : from;
}

void execute(struct registers *regs, const struct instruction *instruction, enum matter matter, uint32_t site)
{
    const struct decoded *d = instruction->decoded;
    struct value guard = value_of(EXPR_TRUE, 0, 0);
    struct result result;

    if (instruction->guarded)
        guard = predicate_value(regs, instruction->guard, instruction->guard_negated);
    if (guard.expression == EXPR_FALSE)
        return;
    if (instruction->for_elected) /* whichever thread that is, it writes a register of all */
        guard = value_of(EXPR_TRUE, 0, 0);
    result.count = 0;
    names_results = site || follows_variables(); /* that of the variable */
    if (follows_variables())
        site = 0;
    if (d->compute && d->compute(regs, instruction, &result)) {
        if (result.count < d->destination_count)
            put_other_predicates(d, &result);
        name_results(&result, site);
    } else {
        put_generic(regs, d, guard, site, &result);
    }
    if (follows_variables())
        follow_variables(regs, d, &result);
    write_results(regs, &result, guard, matter, site);
}
