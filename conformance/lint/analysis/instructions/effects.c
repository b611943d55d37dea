/* effects.c - what one instruction writes, what it reads for that, and what of it is asked in any case. */
#include <string.h>

#include "instructions/effects.h"

struct effect *effects;
static size_t effect_count, effect_capacity;
struct piece *pieces;
static size_t piece_count, piece_capacity;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The registers in a text, wherever they stand; one of 64 or more bits is named by its first. */
static void mention(struct bits *bits, const char *at, const char *end, unsigned words)
{
    for (const char *start = at; at < end; at++) {
        bool predicate = *at == 'P', uniform = at > start && at[-1] == 'U';
        size_t first, after, number = 0;

        if ((!predicate && *at != 'R') || at + 1 == end || !is_digit(at[1]))
            continue;
        for (; at + 1 < end && is_digit(at[1]); at++)
            number = number < REGISTERS ? number * 10 + (size_t)(at[1] - '0') : number;
        first = number + (predicate ? (uniform ? FIRST_UP : FIRST_P) : (uniform ? FIRST_UR : FIRST_R));
        after = first + (predicate ? 1 : words);
        set_from(bits, first, after < REGISTERS ? after : REGISTERS);
    }
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* [R1] or [R1+-0x10]: a word on the stack; false if there is none in this text. */
static bool stack_slot(const char *text, unsigned *slot)
{
    while ((text = strstr(text, "[R1"))) {
        uint64_t offset = 0;
        bool minus = false;
        const char *digits;

        text += strlen("[R1");
        if (starts_with(text, "+0x") || (minus = starts_with(text, "+-0x"))) {
            for (digits = text += minus ? 4 : 3; is_digit(*text) || (*text >= 'a' && *text <= 'f'); text++)
                offset = offset << 4 | (uint64_t)(is_digit(*text) ? *text - '0' : *text - 'a' + 10);
            if (text == digits)
                continue;
        }
        if (*text == ']') {
            *slot = (unsigned)((minus ? 0 - offset : offset) >> 2) % SLOTS;
            return true;
        }
    }
    return false;
}

/* The words that a shared, local or generic address may name. */
static void add_memory(struct bits *bits, const struct opcode *opcode, const char *text, const char *operands)
{
    unsigned slot;

    if (starts_with(text, "STS") || starts_with(text, "LDS")) {
        set(bits, SHARED);
    } else if (!starts_with(text, "STL") && !starts_with(text, "LDL")) {
        set(bits, GENERIC);
        set(bits, SHARED);
        if (starts_with(text, "LD"))
            set_from(bits, FIRST_SLOT, SHARED);
    } else if (stack_slot(operands, &slot)) {
        for (unsigned word = 0; word < opcode->words; word++)
            set(bits, FIRST_SLOT + (slot + word) % SLOTS);
    } else {
        set_from(bits, FIRST_SLOT, SHARED);
        set(bits, GENERIC);
    }
}

bool changes_callers_memory(const struct decoded *decoded)
{
    const struct opcode *opcode = decoded->opcode;
    unsigned slot;

    if (starts_with(text_of(opcode->base), "STL"))
        return !stack_slot(text_of(decoded->text), &slot);
    return opcode->changes_shared || starts_with(text_of(opcode->base), "STS");
}

/* U?[FHD](ADD|FMA|MUL|MNMX|SEL|SET|RND)|MUFU|[HDIQOB]G?MMA|I2F|F2F, at the start. */
static bool computes_real(const char *text)
{
    static const char *const operations[] = {"ADD", "FMA", "MUL", "MNMX", "SEL", "SET", "RND"};
    const char *at = text + (text[0] == 'U');

    if (starts_with(text, "MUFU") || starts_with(text, "I2F") || starts_with(text, "F2F"))
        return true;
    if (text[0] && strchr("HDIQOB", text[0]) && starts_with(text + 1 + (text[1] == 'G'), "MMA"))
        return true;
    if (!*at || !strchr("FHD", *at))
        return false;
    for (size_t n = 0; n < sizeof(operations) / sizeof(operations[0]); n++) {
        if (starts_with(at + 1, operations[n]))
            return true;
    }
    return false;
}

/* Of one instruction, while it is looked at. */
struct reading {
    const char *opcode, *operands, *end;
    struct bits written, read, asked, address; /* address: the registers in operands with [..] */
    const char *sources;                       /* after the first operand */
};

static void read_parts(struct reading *reading)
{
    const char *at = reading->operands;
    bool any = false;

    reading->sources = reading->end;
    while (at < reading->end) {
        size_t blanks = strspn(at, " \t"), length = strcspn(at, ",");
        const char *after = at + length;

        if (memchr(at, '[', length))
            mention(&reading->address, at, after, 2);
        if (blanks < length && any && reading->sources == reading->end)
            reading->sources = at;
        any |= blanks < length;
        at = after < reading->end ? after + 1 : after;
    }
}

static void read_destinations(struct reading *reading, const struct decoded *decoded)
{
    for (unsigned n = 0; n < decoded->destination_count; n++) {
        if (decoded->destinations[n] < REGISTERS)
            set(&reading->written, decoded->destinations[n]);
    }
}

static bool moves_all_predicates(const char *text)
{
    static const char *const starts[] = {"P2R", "R2P", "UP2UR", "UR2UP", "UP2R", "R2UP"};

    for (size_t n = 0; n < sizeof(starts) / sizeof(starts[0]); n++) {
        if (starts_with(text, starts[n]))
            return true;
    }
    return false;
}

/* Only where they read or write matters, not what they carry. What a surface is stands partitioned from its address. */
static bool only_address_matters(uint8_t kind, const char *text)
{
    return (kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOMIC || kind == KIND_PREFETCH) && !starts_with(text, "SU");
}

static bool accesses_only(uint8_t kind)
{
    return (kind_accesses(kind) && kind != KIND_ASYNC_LOAD) || kind == KIND_PREFETCH || kind == KIND_UNKNOWN;
}

/* Memory, where what is there afterwards is no register of the instruction's. */
static bool changes_memory(const struct opcode *opcode)
{
    return opcode->changes_shared || opcode->kind == KIND_GENERIC_ATOMIC;
}

static void add_changed(struct reading *reading, const struct opcode *opcode)
{
    if (opcode->changes_shared)
        set(&reading->written, SHARED);
    else
        add_memory(&reading->written, opcode, reading->opcode, reading->operands);
    reading->read = reading->address;
}

static void read_effect(struct reading *reading, const struct decoded *decoded, struct effect *effect)
{
    const struct opcode *opcode = decoded->opcode;
    const char *text = reading->opcode;
    bool plain = opcode->kind == KIND_PLAIN;

    if (moves_all_predicates(text)) {
        mention(&reading->asked, reading->operands, reading->end, 2);
        set_from(&reading->asked, FIRST_P, REGISTERS);
        set_from(&reading->written, FIRST_P, REGISTERS);
        effect->always = true;
    } else if (opcode->kind == KIND_GENERIC_STORE || (plain && (starts_with(text, "STL") || starts_with(text, "STS")))) {
        add_memory(&reading->written, opcode, text, reading->operands);
        mention(&reading->read, reading->operands, reading->end, opcode->words + 1u);
        effect->always = !plain;
    } else if (opcode->kind == KIND_GENERIC_LOAD || (plain && (starts_with(text, "LDL") || starts_with(text, "LDS")))) {
        read_destinations(reading, decoded);
        reading->read = reading->address;
        add_memory(&reading->read, opcode, text, reading->operands);
        effect->always = !plain;
        effect->replaces = true;
    } else {
        read_destinations(reading, decoded);
        effect->replaces = !changes_memory(opcode);
        if (changes_memory(opcode))
            add_changed(reading, opcode);
        effect->always = !plain;
        effect->real = plain && computes_real(text);
        if (plain)
            mention(&reading->read, reading->sources, reading->end, opcode->words > 2 ? opcode->words : 2);
        else if (!only_address_matters(opcode->kind, text)) /* by what it reads in any case all is said */
            mention(&reading->asked, reading->operands, reading->end, 8);
    }
    if (!plain && (kind_is_generic(opcode->kind) || only_address_matters(opcode->kind, text))
        && opcode->kind != KIND_GENERIC_ATOMIC)
        reading->asked = reading->address;
    effect->only_accesses = accesses_only(opcode->kind);
}

static uint8_t keep_pieces(const struct bits *bits)
{
    uint8_t count = 0;

    for (uint32_t word = 0; word < WORDS; word++) {
        if (!bits->word[word])
            continue;
        pieces = grown(pieces, &piece_capacity, piece_count + 1, sizeof(*pieces));
        pieces[piece_count++] = (struct piece){bits->word[word], word};
        count++;
    }
    return count;
}

uint32_t effect_of(const struct decoded *decoded)
{
    static struct map numbers;
    struct reading reading = {.opcode = text_of(decoded->opcode->text), .operands = text_of(decoded->text)};
    struct effect effect = {0};
    uint32_t number;

    if (map_get(&numbers, (uintptr_t)decoded, &number))
        return number;
    reading.end = reading.operands + strlen(reading.operands);
    read_parts(&reading);
    read_effect(&reading, decoded, &effect);
    effect.pieces = (uint32_t)piece_count;
    effect.written = keep_pieces(&reading.written);
    effect.read = keep_pieces(&reading.read);
    effect.asked = keep_pieces(&reading.asked);
    effects = grown(effects, &effect_capacity, effect_count + 1, sizeof(*effects));
    effects[effect_count] = effect;
    map_put(&numbers, (uintptr_t)decoded, (uint32_t)effect_count);
    return (uint32_t)effect_count++;
}
