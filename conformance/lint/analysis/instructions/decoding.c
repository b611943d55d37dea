/* decoding.c - which registers an instruction writes, and all that is known of it from its text. */
#include "instructions/operands.h"

#include <string.h>

enum { LINE = 64 /* bytes that come into the cache together */, CHUNK = 1 << 18 };

/* What an instruction writes ---------------------------------------------------------------------------------------- */

static const struct {
    const char *base;
    uint8_t words;
} wide_results[] = {
    {"HMMA", 4},    {"IMMA", 4},    {"DMMA", 8},    {"QMMA", 4},    {"OMMA", 4},  {"BMMA", 4},  {"HGMMA", 128},
    {"IGMMA", 128}, {"QGMMA", 128}, {"BGMMA", 128}, {"LDTM", 128},  {"LDSM", 4},  {"LDT", 64},  {"TEX", 4},
    {"TLD", 4},     {"TLD4", 4},    {"TXD", 4},     {"CS2R", 2},    {"FADD2", 2}, {"FFMA2", 2}, {"FMUL2", 2},
    {"DADD", 2},    {"DMUL", 2},    {"DFMA", 2},    {"UGETNEXTWORKID", 4}, {"MOV64IUR", 2}, {"LEPC", 2},
};
static const char *const no_result[] = {
    "STS", "STL", "STG", "ST", "REDG", "RED", "BAR", "BRA", "EXIT", "MEMBAR", "BSSY", "BSYNC", "STSM", "UTMALDG", "UTMASTG",
    "UTMAREDG", "UBLKCP", "UBLKRED", "UTMAPF", "LDGSTS", "STAS", "WARPSYNC", "CCTL", "NANOSLEEP", "DEPBAR", "BMOV", "CALL",
    "RET", "UTMACCTL", "UBLKPF", "SUST", "BREAK", NULL,
};
static const char *const only_predicates[] = {
    "ISETP", "UISETP", "FSETP", "UFSETP", "DSETP", "HSETP2", "PSETP", "UPSETP", "PLOP3", "UPLOP3", "FCHK", NULL,
};

static const char *const unpacks[] = {"R2P", "UR2UP", "R2UP", NULL};
static const char *const votes[] = {"VOTE", "VOTEU", "UVOTE", NULL}; /* the last operand is what is voted on */
enum { MOST_PREDICATES = 7 };

static bool is_among(const char *const *texts, const char *text)
{
    while (*texts && strcmp(*texts, text))
        texts++;
    return *texts;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);

    return length >= wanted && !strcmp(text + length - wanted, end);
}

/* Of a conversion, which names two types, the result's only; 0: it is none. */
static unsigned converted_words(const char *text, const char *base)
{
    const char *wide = strstr(text, ".F64"), *narrow = strstr(text, ".F32");

    if (!strcmp(base, "F2F")) /* the result's type comes first */
        return wide && !(narrow && narrow < wide) && !strstr(text, "F16.F64") ? 2 : 1;
    if (!strcmp(base, "F2I"))
        return strstr(text, ".S64") || strstr(text, ".U64") ? 2 : 1;
    if (!strcmp(base, "I2F"))
        return wide ? 2 : 1;
    return 0;
}

/* Of a load from multicast memory: F32x4 takes four registers, F16x8 four as well. */
static unsigned multicast_words(const struct opcode *opcode)
{
    const char *vector = strpbrk(text_of(opcode->text), "x");

    if (!vector)
        return opcode->parts & PART_64 || ends_with(text_of(opcode->text), "64") || strstr(text_of(opcode->text), "64.") ? 2 : opcode->words;
    return vector[1] == '2' ? 2 : 4;
}

/* How many registers the result takes. */
static unsigned result_words(const struct opcode *opcode)
{
    const char *text = text_of(opcode->text), *base = text_of(opcode->base);
    unsigned words = opcode->words;

    if (converted_words(text, base))
        return converted_words(text, base);
    if (!strcmp(base, "SHF") || !strcmp(base, "USHF")) /* one half of a wider shift */
        return 1;
    if (!strcmp(base, "LDGMC"))
        return multicast_words(opcode);

    for (size_t i = 0; i < sizeof(wide_results) / sizeof(*wide_results); i++) {
        if (!strcmp(wide_results[i].base, base))
            words = wide_results[i].words;
    }
    if (strncmp(text, "CS2R.32", 7) == 0)
        words = 1;
    if (words < 2 && (opcode->parts & PART_WIDE || ends_with(text, ".F64") || ends_with(text, ".S64") ||
                      ends_with(text, ".U64") || strstr(text, ".F64.") || strstr(text, ".ARRIVE.TRANS64")))
        words = 2;
    return words;
}

struct written {
    uint16_t reg[MOST_RESULTS];
    unsigned count, first_source;
};

static void add_written(struct written *written, uint16_t reg)
{
    if (reg != NO_REGISTER && written->count < MOST_RESULTS)
        written->reg[written->count++] = reg;
}

static bool is_read_predicate(const struct operand *operand)
{
    return operand->kind == OPERAND_PREDICATE && operand->sign == '!';
}

/* Predicates and one run of registers, at the front; a second run only where the first is RZ. */
static void find_written(struct written *written, const struct opcode *opcode, const struct operand *operands, unsigned count)
{
    bool has_registers = false;
    unsigned at = 0;

    while (at < count && at < 3 && !is_read_predicate(&operands[at])) {
        const struct operand *operand = &operands[at];

        if (operand->kind == OPERAND_PREDICATE) {
            add_written(written, operand->reg);
            at++;
            continue;
        }
        if (operand->kind != OPERAND_REGISTER || has_registers)
            break;
        for (unsigned i = 0, words = result_words(opcode); i < words; i++)
            add_written(written, register_after(operand->reg, i));
        has_registers = !operand->zero;
        at++;
        if (at == count || operands[at].kind != OPERAND_PREDICATE)
            break;
    }
    written->first_source = at < count ? at : 0;
}

/* R2P PR, R0, 0xf: the predicates whose bits are set in the mask; all of them, if it is no number. */
static void find_unpacked(struct written *written, uint16_t first, const struct operand *operands, unsigned count)
{
    const struct operand *mask = count > 2 ? &operands[count - 1] : NULL;
    uint32_t bits = mask != NULL && mask->kind == OPERAND_NUMBER ? mask->number : UINT32_MAX;

    for (unsigned i = 0; i < MOST_PREDICATES; i++) {
        if (bits >> i & 1)
            add_written(written, (uint16_t)(first + i));
    }
    written->first_source = count > 1;
}

static void destinations_of(struct written *written, const struct opcode *opcode, const struct operand *operands, unsigned count)
{
    const char *base = text_of(opcode->base);

    written->count = written->first_source = 0;
    if (!count || is_among(no_result, base))
        return;
    if (is_among(unpacks, base)) {
        find_unpacked(written, strcmp(base, "R2P") ? FIRST_UP : FIRST_P, operands, count);
        return;
    }
    if (!is_among(only_predicates, base)) {
        find_written(written, opcode, operands, is_among(votes, base) ? count - 1 : count);
        if (written->first_source == 0 && is_among(votes, base))
            written->first_source = count - 1;
        return;
    }
    for (unsigned i = 0; i < 2 && i < count; i++) {
        if (operands[i].kind == OPERAND_PREDICATE || operands[i].kind == OPERAND_REGISTER)
            add_written(written, operands[i].reg);
    }
    written->first_source = count < 2 ? count : 2;
}

/* Decoding ---------------------------------------------------------------------------------------------------------- */

/* Memory for good. What belongs together lies together, on lines of its own: following a path means reading instructions here and there,
 * and takes as long as they take to get into the cache. */
static char *lines_for(size_t bytes)
{
    static char *next;
    static size_t left;

    bytes = (bytes + LINE - 1) / LINE * LINE;
    if (bytes > left) {
        left = bytes > CHUNK ? bytes : CHUNK;
        next = allocate(left + LINE);
        next += LINE - (uintptr_t)next % LINE;
    }
    next += bytes;
    left -= bytes;
    return next - bytes;
}

static unsigned next_in_memory(const struct operand *operands, unsigned from, unsigned count)
{
    while (from < count && !strchr(text_of(operands[from].text), '['))
        from++;
    return from;
}

static struct decoded *decoded_from(const struct opcode *opcode, name text)
{
    static struct operand operands[MOST_OPERANDS];
    static struct written written;
    const char *bytes = text_of(text);
    unsigned count = split_operands(bytes, strlen(bytes), operands);
    unsigned memory = next_in_memory(operands, 0, count);
    size_t operands_size = count * sizeof(*operands), written_size;
    struct decoded *decoded;

    destinations_of(&written, opcode, operands, count);
    written_size = written.count * sizeof(*written.reg);
    decoded = (struct decoded *)lines_for(sizeof(*decoded) + operands_size + written_size);
    decoded->opcode = opcode;
    decoded->compute = opcode->compute;
    decoded->text = text;
    decoded->count = (uint8_t)count;
    decoded->first_source = (uint8_t)written.first_source;
    decoded->memory = (uint8_t)memory;
    decoded->second_memory = (uint8_t)(memory < count ? next_in_memory(operands, memory + 1, count) : count);
    decoded->operands = memcpy(decoded + 1, operands, operands_size);
    decoded->destination_count = (uint16_t)written.count;
    decoded->destinations = memcpy((char *)(decoded + 1) + operands_size, written.reg, written_size);
    return decoded;
}

const struct decoded *decode(const struct opcode *opcode, const char *operands, size_t length)
{
    static struct map known;
    static struct decoded **all;
    static size_t count, capacity;
    name text = name_of(operands, length);
    uint64_t key = (uint64_t)opcode->text << 32 | text;
    uint32_t index;

    if (map_get(&known, key, &index))
        return all[index];
    all = grown(all, &capacity, count + 1, sizeof(struct decoded *));
    all[count] = decoded_from(opcode, text);
    map_put(&known, key, (uint32_t)count);
    return all[count++];
}
