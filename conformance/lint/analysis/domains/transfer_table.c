/* transfer_table.c - which function says what an opcode computes; moves, constants, special registers.
 *
 * Such a function puts the registers and predicates that its instruction writes into the result. It returns false, and puts
 * nothing there, where it cannot say.
 */
#include "domains/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool move(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;

    if (d->count < 2)
        return false;
    if (has(d, PART_64))
        put_pair(result, target(d), operand_value(regs, &d->operands[1], 0), operand_value(regs, &d->operands[1], 1));
    else
        put(result, target(d), operand_value(regs, &d->operands[1], 0));
    return true;
}

/* R2UR UR4, R8; of R2UR P0, UR4, R8 the predicate says whether all threads hold the same. */
static bool move_to_uniform(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    unsigned to = d->count && d->operands[0].kind == OPERAND_PREDICATE;

    for (unsigned i = to + 1; i < d->count; i++) {
        if (d->operands[i].kind == OPERAND_REGISTER && d->operands[to].kind == OPERAND_REGISTER) {
            put(result, d->operands[to].reg, operand_value(regs, &d->operands[i], 0));
            return true;
        }
    }
    return false;
}

static bool load_constant(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;

    if (d->count < 2 || d->operands[0].kind != OPERAND_REGISTER)
        return false;
    for (unsigned i = 0; i < d->opcode->words; i++) {
        struct value value = operand_value(regs, &d->operands[d->count - 1], i);

        if (i == 0 && has(d, PART_NARROW))
            value = value_of(operation(OPERATION_NAMED + d->opcode->text, 1, &value.expression), 0, value.varies);
        put(result, register_after(target(d), i), value);
    }
    return true;
}

/* special registers ------------------------------------------------------------------------------------------------ */

enum { SPECIAL_ZERO = 1 << 3, SPECIAL_CHANGES = 1 << 4, SPECIAL_SHARED_WINDOW = 1 << 5 }; /* besides enum varies */

static const struct {
    const char *start;
    unsigned traits;
} special_registers[] = {
    {"SR_CLOCK", SPECIAL_CHANGES},        {"SR_GLOBALTIMER", SPECIAL_CHANGES},
    {"SR_REGALLOC", SPECIAL_CHANGES},     {"SR_SMEMSZ", SPECIAL_CHANGES},
    {"SR_TID", VARIES_BY_THREAD},         {"SR_LANEID", VARIES_BY_THREAD},
    {"SR_EQMASK", VARIES_BY_THREAD},      {"SR_LTMASK", VARIES_BY_THREAD},
    {"SR_LEMASK", VARIES_BY_THREAD},      {"SR_GTMASK", VARIES_BY_THREAD},
    {"SR_GEMASK", VARIES_BY_THREAD},      {"SR_VIRTID", VARIES_BY_THREAD},
    {"SR_CgaCtaId", VARIES_BY_RANK},      {"SR_CTARANK", VARIES_BY_RANK},
    {"SR_CLUSTERCTA", VARIES_BY_RANK},    {"SR_CTAID", VARIES_BY_BLOCK},
};

static unsigned traits_by_text(const char *text)
{
    unsigned traits = strcmp(text, "SRZ") ? 0 : SPECIAL_ZERO;

    for (size_t i = 0; i < sizeof(special_registers) / sizeof(*special_registers); i++)
        if (!strncmp(text, special_registers[i].start, strlen(special_registers[i].start)))
            traits |= special_registers[i].traits;
    if (!strcmp(text, "SR_SWINHI") || !strcmp(text, "SR_SHMEMHI"))
        traits |= SPECIAL_SHARED_WINDOW;
    return traits;
}

static unsigned traits_of(name text)
{
    static struct map known;
    uint32_t traits;

    if (!map_get(&known, text, &traits)) {
        traits = traits_by_text(text_of(text));
        map_put(&known, text, traits);
    }
    return traits;
}

static bool read_special(const struct decoded *d, bool wide, bool zero_wide, struct result *result)
{
    struct value value = zero_value(), after = {0};
    unsigned traits;
    name source;

    if (!d->count)
        return false;
    source = d->operands[d->count - 1].text;
    traits = traits_of(source);
    if (traits & SPECIAL_CHANGES)
        return false;
    if (traits & SPECIAL_ZERO) {
        after = value;
        wide = zero_wide;
    } else {
        value = value_of(special(source), 0, traits & VARIES_IN_ANY_WAY);
        if (traits & SPECIAL_SHARED_WINDOW)
            value.provenance = provenance_of(origin_of(ORIGIN_WINDOW, WINDOW_SHARED));
    }
    if (wide)
        put_pair(result, target(d), value, after);
    else
        put(result, target(d), value);
    return true;
}

static bool read_special_register(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;

    (void)regs;
    return read_special(d, false, !has(d, PART_32), result);
}

static bool read_special_pair(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;

    (void)regs;
    return read_special(d, !has(d, PART_32), !has(d, PART_32), result);
}

/* half-precision immediates ----------------------------------------------------------------------------------------- */

#define NO_HALF 0x10000u
enum { HALF_FRACTION = 10, HALF_LARGEST = 15, HALF_SMALLEST = -14, HALF_INFINITE = 31 };

/* Nearest, ties to even; NO_HALF if it is too large. */
static uint32_t half_of(double number)
{
    uint32_t sign = signbit(number) ? 0x8000 : 0, bits, exponent_bits = 0;
    double fraction;
    int exponent;

    if (isnan(number))
        return sign | HALF_INFINITE << HALF_FRACTION | 0x200;
    if (isinf(number))
        return sign | HALF_INFINITE << HALF_FRACTION;
    fraction = frexp(fabs(number), &exponent) * 2; /* 1 <= fraction < 2, or 0 */
    exponent--;
    if (number == 0 || exponent < HALF_SMALLEST - HALF_FRACTION - 1)
        return sign;
    if (exponent > HALF_LARGEST)
        return NO_HALF;
    if (exponent < HALF_SMALLEST) {
        fraction = ldexp(fraction, exponent - HALF_SMALLEST);
    } else {
        exponent_bits = (uint32_t)(exponent + HALF_LARGEST);
        fraction -= 1;
    }
    fraction = ldexp(fraction, HALF_FRACTION);
    bits = (uint32_t)fraction;
    fraction -= bits;
    bits += (fraction > 0.5 || (fraction == 0.5 && bits & 1));
    bits += exponent_bits << HALF_FRACTION; /* what is rounded up to a whole power moves the exponent on */
    return bits >> HALF_FRACTION >= HALF_INFINITE ? NO_HALF : sign | bits;
}

static uint32_t half_by_text(const char *text)
{
    double number;
    char *end;

    if (!*text || strpbrk(text, "xX(") || strchr(" \t\v\f\r\n", *text))
        return NO_HALF;
    number = strtod(text, &end);
    return *end ? NO_HALF : half_of(number);
}

static uint32_t half_named(name text)
{
    static struct map known;
    uint32_t half;

    if (!map_get(&known, text, &half)) {
        half = half_by_text(text_of(text));
        map_put(&known, text, half);
    }
    return half;
}

/* RZ, not URZ; possibly with a suffix. */
static bool is_wide_zero(const struct operand *operand, bool may_be_negative)
{
    const char *text = text_of(operand->text);

    if (operand->kind != OPERAND_REGISTER || !operand->zero)
        return false;
    return text[may_be_negative && operand->sign == '-'] == 'R';
}

/* The compiler's other way to load a constant: -0 * 0 + (high, low). */
static bool move_halves(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    uint32_t high, low;

    (void)regs;
    if (d->count != 5 || !is_wide_zero(&d->operands[1], true) || !is_wide_zero(&d->operands[2], false))
        return false;
    high = half_named(d->operands[3].text);
    low = half_named(d->operands[4].text);
    if (high == NO_HALF || low == NO_HALF)
        return false;
    put(result, target(d), value_of(numbered(high << 16 | low), 0, 0));
    return true;
}

/* bytes, lanes ------------------------------------------------------------------------------------------------------ */

struct permutation {
    uint32_t selector;
    expr after;
};

static expr permuted_as(expr value, const void *with)
{
    const struct permutation *permutation = with;

    return permuted(permutation->selector, value, permutation->after);
}

/* One or two bytes of a word, the rest zero; 0: it is something else. */
static expr bytes_taken(expr word, uint32_t pattern, expr rest)
{
    uint32_t first = pattern & 0xF, second = pattern >> 4 & 0xF;
    bool two = second == first + 1 && second < 4;

    if (rest != EXPR_ZERO || first > 3 || (!two && !(second & 4)) || !(pattern >> 8 & 4) || !(pattern >> 12 & 4))
        return 0;
    if (node_of(word)->tag == TAG_SELECT || node_of(word)->tag == TAG_PART || node_of(word)->tag == TAG_ANY || is_number(word))
        return 0;
    return bitwise(0xC0, shift_right(word, number(8 * first)), number(two ? 0xFFFF : 0xFF), EXPR_ZERO);
}

static bool permute(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value a, selector, b;
    uint32_t pattern;
    expr expression = 0;

    if (d->count < 4 || d->opcode->text != d->opcode->base)
        return false;
    a = operand_value(regs, &d->operands[1], 0);
    selector = operand_value(regs, &d->operands[2], 0);
    b = operand_value(regs, &d->operands[3], 0);
    if (is_number_of(selector.expression, &pattern)) {
        struct permutation permutation = {pattern, b.expression};

        expression = a.expression ? bytes_taken(a.expression, pattern, b.expression) : permuted(pattern, 0, b.expression);
        if (!expression && a.expression)
            expression = for_each_choice(a.expression, permuted_as, &permutation);
    }
    if (!expression)
        expression = operation(OPERATION_PERMUTE, 3, (expr[]){a.expression, selector.expression, b.expression});
    put(result, target(d), value_of(expression, united(a.provenance, b.provenance), a.varies | selector.varies | b.varies));
    return true;
}

static bool is_warp_number(expr expression)
{
    static name thread;
    const struct node *node, *inner;
    uint32_t count;

    if (!is_operation(expression, OPERATION_SHIFT_RIGHT))
        return false;
    if (!thread)
        thread = name_of_text("SR_TID.X");
    node = node_of(expression);
    inner = node_of(node->kids[0]);
    return is_number_of(node->kids[1], &count) && count >= 5 && inner->tag == TAG_SPECIAL && inner->a == thread;
}

/* The warp's number, read from lane 0, is the number that every lane would compute itself. */
static bool shuffle(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    struct value source;
    unsigned at = 0;

    if (d->count < 4)
        return false;
    while (at < 2 && d->operands[at].kind != OPERAND_REGISTER)
        at++;
    if (at == 2)
        return false;
    source = operand_value(regs, &d->operands[at + 1], 0);
    if (!is_warp_number(source.expression))
        return false;
    put(result, d->operands[at].reg, source);
    return true;
}

/* Of one thread, or of those that hold the same: it cannot be computed, and threads differ. */
static bool differ_by_thread(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    put_unknown(regs, instruction->decoded, VARIES_BY_THREAD, result);
    return true;
}

/* the table --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *base;
    computation *compute;
} table[] = {
    {"MOV", move},                  {"UMOV", move},
    {"MOV32I", move},               {"R2UR", move_to_uniform},
    {"LDC", load_constant},         {"ULDC", load_constant},
    {"LDCU", load_constant},        {"S2R", read_special_register},
    {"S2UR", read_special_register}, {"CS2R", read_special_pair},
    {"CS2UR", read_special_pair},   {"IADD3", add_integers},
    {"UIADD3", add_integers},       {"VIADD", add_integers},
    {"UVIADD", add_integers},       {"IADD", add_integers},
    {"UIADD", add_integers},        {"IADD32I", add_integers},
    {"IMAD", multiply_and_add},     {"UIMAD", multiply_and_add},
    {"IABS", take_absolute},        {"I2F", estimate_from_integer},
    {"I2FP", step_to_cluster},      {"UI2FP", step_to_cluster},
    {"FMUL", step_to_cluster},      {"UFMUL", step_to_cluster},
    {"UF2I", step_to_cluster},
    {"MUFU", estimate_reciprocal},  {"F2I", estimate_reciprocal},
    {"HFMA2", move_halves},         {"SHF", shift_bits},
    {"USHF", shift_bits},           {"SHL", shift_bits},
    {"SHR", shift_bits},            {"USHL", shift_bits},
    {"USHR", shift_bits},           {"SGXT", extend_sign},
    {"USGXT", extend_sign},         {"LEA", scale_and_add},
    {"ULEA", scale_and_add},        {"LOP3", combine_bits},
    {"ULOP3", combine_bits},        {"SEL", choose},
    {"USEL", choose},               {"FSEL", choose},
    {"UFSEL", choose},              {"PRMT", permute},
    {"UPRMT", permute},             {"VIMNMX", take_extreme},
    {"IMNMX", take_extreme},
    {"VIADDMNMX", take_extreme_of_sum}, {"UVIADDMNMX", take_extreme_of_sum},        {"UIMNMX", take_extreme},
    {"UVIMNMX", take_extreme},      {"SHFL", shuffle},
    {"ISETP", compare_integers},    {"UISETP", compare_integers},
    {"PLOP3", combine_predicates},  {"UPLOP3", combine_predicates},
    {"P2R", keep_predicate},        {"UP2UR", keep_predicate},      {"QSPC", query_space},
};

computation *computes(const char *base)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (!strcmp(table[i].base, base))
            return table[i].compute;
    return !strncmp(base, "ELECT", 5) || !strncmp(base, "MATCH", 5) ? differ_by_thread : NULL;
}
