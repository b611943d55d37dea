/* operands.c - what the operands of an instruction say. */
#include "instructions/operands.h"

#include <string.h>

#define LARGEST_OFFSET (INT64_C(1) << 60) /* what is larger stays there, so that sums of a few do not overflow */
#define LARGEST_REGISTER 99999u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f'); /* nvdisasm writes no capitals */
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_symbol(char c)
{
    return is_word(c) || c == '$' || c == '.';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
}

static const char *after_prefix(const char *at, const char *text)
{
    size_t length = strlen(text);

    return strncmp(at, text, length) ? NULL : at + length;
}

/* Registers --------------------------------------------------------------------------------------------------------- */

static const struct file {
    const char *start;
    char none; /* R + Z, P + T */
    bool predicates;
    uint16_t first, last;
} files[] = {
    {"R", 'Z', false, FIRST_R, FIRST_R + 254},
    {"UR", 'Z', false, FIRST_UR, FIRST_UR + 254},
    {"P", 'T', true, FIRST_P, FIRST_UP - 1},
    {"UP", 'T', true, FIRST_UP, REGISTERS - 1},
};
enum { FILES = sizeof(files) / sizeof(*files) };

struct mention { /* of a register */
    const struct file *file;
    uint16_t reg; /* NO_REGISTER: one that no instruction can name, or none */
    bool none;    /* RZ, PT... */
};

uint16_t register_after(uint16_t reg, unsigned step)
{
    for (unsigned i = 0; i < FILES; i++) {
        if (reg >= files[i].first && reg <= files[i].last)
            return step <= (unsigned)(files[i].last - reg) ? (uint16_t)(reg + step) : NO_REGISTER;
    }
    return NO_REGISTER;
}

static unsigned decimal(const char **at)
{
    unsigned found = 0;

    for (; is_digit(**at); ++*at)
        found = found > LARGEST_REGISTER ? found : found * 10 + (unsigned)(**at - '0');
    return found;
}

/* The register that begins here; `at` is moved past it. */
static bool read_register(const char **at, struct mention *mention)
{
    for (unsigned i = 0; i < FILES; i++) {
        const char *next = after_prefix(*at, files[i].start);

        if (!next || (*next != files[i].none && !is_digit(*next)))
            continue;
        *mention = (struct mention){&files[i], NO_REGISTER, !is_digit(*next)};
        if (mention->none) {
            *at = next + 1;
            return true;
        }
        *at = next;
        mention->reg = register_after(files[i].first, decimal(at));
        return true;
    }
    return false;
}

static bool read_data_register(const char **at, struct mention *mention)
{
    const char *from = *at;

    if (read_register(at, mention) && !mention->file->predicates)
        return true;
    *at = from;
    return false;
}

/* Numbers ----------------------------------------------------------------------------------------------------------- */

/* 0x and digits, which go on up to a character that is none. */
static bool read_hex(const char **at, int64_t *found)
{
    const char *digits = after_prefix(*at, "0x");

    if (!digits || !is_hex(*digits))
        return false;
    for (*found = 0; is_hex(*digits); digits++) {
        int64_t digit = is_digit(*digits) ? *digits - '0' : *digits - 'a' + 10;

        *found = *found < LARGEST_OFFSET / 16 ? *found * 16 + digit : LARGEST_OFFSET;
    }
    *at = digits;
    return true;
}

static bool read_signed_hex(const char **at, int64_t *found)
{
    const char *digits = **at == '-' ? *at + 1 : *at;
    bool negative = digits != *at;

    if (!read_hex(&digits, found))
        return false;
    *found = negative ? -*found : *found;
    *at = digits;
    return true;
}

/* A whole text that is one integer, of which the low 32 bits are kept. */
static bool read_integer(const char *at, uint32_t *found)
{
    bool negative = *at == '-';
    const char *digits = negative ? at + 1 : at, *hex = after_prefix(digits, "0x");
    uint32_t base = hex ? 16 : 10, sum = 0;

    digits = hex ? hex : digits;
    if (!*digits)
        return false;
    for (; *digits; digits++) {
        if (!(hex ? is_hex(*digits) : is_digit(*digits)))
            return false;
        sum = sum * base + (uint32_t)(is_digit(*digits) ? *digits - '0' : *digits - 'a' + 10);
    }
    *found = negative ? 0u - sum : sum;
    return true;
}

/* Kinds of operands; each is tried if those before it do not fit --------------------------------------------------- */

/* "|" alone is not a negation. */
static bool is_negated(const char *text)
{
    return strcspn(text, "-~!") < strspn(text, "-~!|");
}

static bool as_register(struct operand *operand, const char *text)
{
    const char *at = text + strspn(text, "-~|!");
    struct mention mention;

    if (!read_register(&at, &mention))
        return false;
    if (mention.none || mention.reg != NO_REGISTER) /* nothing is known of an operand that is out of range */
        operand->kind = mention.file->predicates ? OPERAND_PREDICATE : OPERAND_REGISTER;
    operand->negated = is_negated(text);
    operand->zero = mention.none;
    operand->reg = mention.reg;
    return true;
}

static bool as_constant(struct operand *operand, const char *text)
{
    struct mention index = {NULL, NO_REGISTER, true};
    const char *inside = after_prefix(text + strspn(text, "-~|"), "c[");
    int64_t bank, offset = 0;

    if (!inside || !read_hex(&inside, &bank))
        return false;
    inside = after_prefix(inside, "][");
    if (!inside)
        return false;
    if (read_data_register(&inside, &index) && *inside == '+')
        inside++;
    (void)read_signed_hex(&inside, &offset);
    if (*inside != ']')
        return false;
    if (!index.none && index.reg == NO_REGISTER)
        return true;
    operand->kind = OPERAND_CONSTANT;
    operand->negated = is_negated(text);
    operand->indexed = !index.none;
    operand->reg = index.reg;
    operand->bank = bank < UINT32_MAX ? (uint32_t)bank : UINT32_MAX;
    operand->offset = offset;
    return true;
}

static bool as_number(struct operand *operand, const char *text)
{
    if (!read_integer(text, &operand->number))
        return false;
    operand->kind = OPERAND_NUMBER;
    return true;
}

static size_t symbol_length(const char *text)
{
    size_t length = 0;

    while (is_symbol(text[length]))
        length++;
    return length;
}

/* 32@lo((name)), 32@hi(fun@unified(name)), anywhere in the text. */
static bool as_half(struct operand *operand, const char *text)
{
    const char *start = text;

    while ((start = strstr(start, "32@")) != NULL) {
        const char *low = after_prefix(start, "32@lo("), *from = low ? low : after_prefix(start, "32@hi("), *unified;

        start++;
        if (!from)
            continue;
        from += *from == '(';
        unified = after_prefix(from, "fun@unified(");
        if (unified && is_symbol(*unified))
            from = unified;
        if (!is_symbol(*from))
            continue;
        operand->kind = OPERAND_HALF;
        operand->half = low ? 0 : 1;
        operand->symbol = name_of(from, symbol_length(from));
        return true;
    }
    return false;
}

static bool as_place(struct operand *operand, const char *text)
{
    const char *from = after_prefix(text, "`(");
    size_t length;

    if (!from)
        return false;
    from += from[0] == '$' && is_symbol(from[1]);
    length = symbol_length(from);
    if (!length || strcmp(from + length, ")"))
        return false;
    operand->kind = OPERAND_PLACE;
    operand->symbol = name_of(from, length);
    return true;
}

/* Of +`((kernel.const_opt.0.12 + -0x8000))] the name and the number. */
static void read_place_of_table(struct operand *operand, const char *text)
{
    const char *from = after_prefix(text, "+`(("), *to = from ? strstr(from, " + ") : NULL;
    int64_t distance;

    text = to ? to + 3 : "";
    if (!read_signed_hex(&text, &distance) || !after_prefix(text, "))"))
        return;
    operand->symbol = name_of(from, (size_t)(to - from));
    operand->offset = distance;
}

static bool as_table(struct operand *operand, const char *text)
{
    struct mention index;
    const char *inside;
    int64_t bank;

    text = after_prefix(text, "c[");
    if (!text)
        return false;
    inside = text;
    inside = read_hex(&inside, &bank) ? after_prefix(inside, "][") : text;
    if (!inside || !read_data_register(&inside, &index) || index.reg == NO_REGISTER || !after_prefix(inside, "+`"))
        return false;
    operand->kind = OPERAND_TABLE;
    operand->reg = index.reg;
    read_place_of_table(operand, inside);
    return true;
}

static bool (*const attempts[])(struct operand *, const char *) = {as_register, as_constant, as_number,
                                                                   as_half,     as_place,    as_table};

/* Addresses --------------------------------------------------------------------------------------------------------- */

/* Behind the [ of desc[URn][..], if that is what begins here, or of [..]; `last` is the last ] of the text. */
static const char *opened(const char *at, const char *last)
{
    const char *number = after_prefix(at, "desc[UR");

    if (number && is_digit(*number)) {
        (void)decimal(&number);
        number = after_prefix(number, "][");
        if (number && number <= last)
            return number;
    }
    return *at == '[' ? at + 1 : NULL;
}

/* The number that ends here, with 0x ahead of it, and the sign. */
static int64_t number_before(const char *start, const char *end)
{
    const char *at = end;
    int64_t found = 0;

    while (at > start && is_hex(at[-1]))
        at--;
    if (at == end || at - start < 2 || at[-1] != 'x' || at[-2] != '0')
        return 0;
    at -= at - start > 2 && at[-3] == '-' ? 3 : 2;
    (void)read_signed_hex(&at, &found);
    return found;
}

static const char *after_suffixes(const char *at)
{
    while (at[0] == '.' && is_word(at[1])) {
        for (at++; is_word(*at);)
            at++;
    }
    return at;
}

static void read_address(struct address *address, const char *text)
{
    const char *inside = NULL, *last = strrchr(text, ']'), *end;
    struct mention mention;

    for (; last && text < last && !inside; text++)
        inside = opened(text, last);
    if (!inside)
        return;
    address->present = true;
    end = strchr(inside, ']');
    address->offset = number_before(inside, end);
    while (inside < end) {
        if (!read_data_register(&inside, &mention)) {
            inside++;
            continue;
        }
        inside = after_suffixes(inside);
        if (mention.reg != NO_REGISTER && address->count < sizeof(address->reg) / sizeof(*address->reg))
            address->reg[address->count++] = mention.reg;
    }
}

static void read_operand(struct operand *operand, const char *text, size_t length)
{
    *operand = (struct operand){.kind = OPERAND_OTHER, .reg = NO_REGISTER, .text = name_of(text, length)};
    text = text_of(operand->text); /* ends with a 0 */
    operand->sign = strchr("-~!|", *text) ? *text : 0;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        if (attempts[i](operand, text))
            break;
    }
    if (strchr(text, '['))
        read_address(&operand->address, text);
}

unsigned split_operands(const char *text, size_t length, struct operand *operands)
{
    const char *end = text + length;
    unsigned count = 0;

    while (text < end && count < MOST_OPERANDS) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *last = comma ? comma : end;

        while (text < last && is_space(*text))
            text++;
        while (last > text && is_space(last[-1]))
            last--;
        if (last > text)
            read_operand(&operands[count++], text, (size_t)(last - text));
        text = comma ? comma + 1 : end;
    }
    return count;
}
