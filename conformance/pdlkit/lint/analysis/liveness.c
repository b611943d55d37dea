/* liveness.c - which registers can still matter to a question of the analysis, and so which instructions have to be evaluated.
 *
 * Addresses, conditions, barriers and what goes to memory matter; a register matters if what it holds can end up there. All
 * else (the arithmetic of a kernel, nearly all of it) is skipped.
 */
#include <string.h>

#include "flow.h"

/* A set's bits: the registers; words of the stack, of which those behind the last share a bit with one of these; shared
 * memory; words reached by generic addresses, but for spilled registers, which loads from the stack itself reach. */
enum {
    FIRST_SLOT = REGISTERS,
    SLOTS = 256,
    SHARED = FIRST_SLOT + SLOTS,
    GENERIC,
    BITS,
    WORDS = (BITS + 63) / 64,
    REGISTER_WORDS = (REGISTERS + 63) / 64
};
struct bits {
    uint64_t word[WORDS];
};

/* What an instruction does to such sets, its guard aside, as pieces of them, because they are nearly empty. */
struct piece {
    uint64_t bits;
    uint32_t word;
};
struct effect {
    uint32_t pieces;              /* the first of them: what it writes, what it reads for that, what it reads in any case */
    uint8_t written, read, asked; /* how many pieces */
    bool replaces;                /* what it writes is gone */
    bool always;                  /* it matters by itself */
    bool real; /* it computes a floating-point number, which is no address: what it was made of is of no use in memory */
};
static struct effect *effects;
static size_t effect_count, effect_capacity;
static struct piece *pieces;
static size_t piece_count, piece_capacity;

static void set(struct bits *bits, size_t bit)
{
    bits->word[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void set_from(struct bits *bits, size_t first, size_t end)
{
    for (size_t bit = first; bit < end; bit++)
        set(bits, bit);
}

static bool has(const struct bits *bits, size_t bit)
{
    return bits->word[bit / 64] >> bit % 64 & 1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The registers in a text, wherever they stand; one of 64 or more bits is named by its first. */
static void mention(struct bits *bits, const char *at, const char *end, unsigned words)
{
    for (const char *start = at; at < end; at++) {
        bool predicate = *at == 'P', uniform = at > start && at[-1] == 'U';
        size_t first, behind, number = 0;

        if ((!predicate && *at != 'R') || at + 1 == end || !is_digit(at[1]))
            continue;
        for (; at + 1 < end && is_digit(at[1]); at++)
            number = number < REGISTERS ? number * 10 + (size_t)(at[1] - '0') : number;
        first = number + (predicate ? (uniform ? FIRST_UP : FIRST_P) : (uniform ? FIRST_UR : FIRST_R));
        behind = first + (predicate ? 1 : words);
        set_from(bits, first, behind < REGISTERS ? behind : REGISTERS);
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
    const char *sources;                       /* behind the first operand */
};

static void read_parts(struct reading *reading)
{
    const char *at = reading->operands;
    bool any = false;

    reading->sources = reading->end;
    while (at < reading->end) {
        size_t blanks = strspn(at, " \t"), length = strcspn(at, ",");
        const char *behind = at + length;

        if (memchr(at, '[', length))
            mention(&reading->address, at, behind, 2);
        if (blanks < length && any && reading->sources == reading->end)
            reading->sources = at;
        any |= blanks < length;
        at = behind < reading->end ? behind + 1 : behind;
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

/* Only where they read or write matters, not what they carry. */
static bool only_address_matters(uint8_t kind)
{
    return kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOMIC || kind == KIND_TEXTURE || kind == KIND_PREFETCH;
}

static void read_effect(struct reading *reading, const struct decoded *decoded, struct effect *effect)
{
    const struct opcode *opcode = decoded->opcode;
    const char *text = reading->opcode;
    bool plain = opcode->kind == KIND_PLAIN;

    if (moves_all_predicates(text)) {
        mention(&reading->asked, reading->operands, reading->end, 2);
        set_from(&reading->asked, FIRST_P, REGISTERS);
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
        effect->replaces = true;
        effect->always = !plain;
        effect->real = plain && computes_real(text);
        if (plain)
            mention(&reading->read, reading->sources, reading->end, opcode->words > 2 ? opcode->words : 2);
        else if (!only_address_matters(opcode->kind)) /* by what it reads in any case all is said */
            mention(&reading->asked, reading->operands, reading->end, 8);
    }
    if (!plain && (kind_is_generic(opcode->kind) || only_address_matters(opcode->kind))
        && opcode->kind != KIND_GENERIC_ATOMIC)
        reading->asked = reading->address;
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

/* Made once for each decoded instruction. */
static uint32_t effect_of(const struct decoded *decoded)
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

/* Backwards through the blocks ------------------------------------------------------------------------------------ */

struct sets {
    struct bits live;   /* asked for */
    struct bits stored; /* only goes to memory */
};

struct search {
    const struct section *section;
    bool *chosen;          /* blocks that are looked at */
    bool *ends;            /* those behind which nothing is asked: they wait */
    struct sets *entering; /* of each block */
    bool *matters;         /* of each instruction */
    uint32_t *effect;      /* of each instruction of the chosen */
    uint32_t *first, *predecessors; /* those of block n: from first[n] to first[n + 1] */
    uint32_t *block_at;    /* by the order of blocks */
    uint64_t *waiting;     /* bits of places in that order */
    bool everything_asked; /* all blocks are chosen */
};

static bool waits_always(const struct section *section, const struct block *block)
{
    const struct instruction *last = &section->code[block->end - 1];

    return last->kind == KIND_WAIT && !last->guarded;
}

/* The blocks that can be reached without a wait; all, if something is called, which may lead anywhere. */
static void choose_before_wait(struct search *search)
{
    const struct section *section = search->section;
    uint32_t *work = allocate(section->block_count * sizeof(*work)), count = 0, chosen = 1;

    search->chosen[work[count++] = 0] = true;
    while (count) {
        const struct block *block = &section->blocks[work[--count]];

        if (block->calls) {
            memset(search->chosen, true, section->block_count);
            search->everything_asked = true;
            return;
        }
        for (uint32_t n = 0; n < successor_count(block) && !waits_always(section, block); n++) {
            uint32_t next = successor(block, n);

            if (!search->chosen[next]) {
                search->chosen[work[count++] = next] = true;
                chosen++;
            }
        }
    }
    search->everything_asked = chosen == section->block_count;
}

static void choose(struct search *search, bool until_wait)
{
    const struct section *section = search->section;

    if (until_wait) {
        choose_before_wait(search);
    } else {
        memset(search->chosen, true, section->block_count);
        search->everything_asked = true;
    }
    for (uint32_t number = 0; number < section->block_count; number++)
        search->ends[number] = !search->everything_asked && waits_always(section, &section->blocks[number]);
}

static void list_predecessors(struct search *search)
{
    const struct section *section = search->section;
    uint32_t count = section->block_count, *first = allocate(((size_t)count + 2) * sizeof(*first));

    for (uint32_t number = 0; number < count; number++) {
        for (uint32_t n = 0; search->chosen[number] && n < successor_count(&section->blocks[number]); n++)
            first[successor(&section->blocks[number], n) + 2]++;
    }
    for (uint32_t number = 0; number <= count; number++)
        first[number + 1] += first[number];
    search->predecessors = allocate(first[count + 1] * sizeof(*search->predecessors));
    for (uint32_t number = 0; number < count; number++) {
        for (uint32_t n = 0; search->chosen[number] && n < successor_count(&section->blocks[number]); n++)
            search->predecessors[first[successor(&section->blocks[number], n) + 1]++] = number;
    }
    search->first = first;
}

static void begin_at_blocks(struct search *search)
{
    const struct section *section = search->section;

    memset(search->matters, true, section->count);
    for (uint32_t number = 0; number < section->block_count; number++) {
        const struct block *block = &section->blocks[number];

        search->block_at[block->order - 1] = number;
        if (!search->chosen[number]) {
            set_from(&search->entering[number].live, 0, BITS);
            continue;
        }
        for (uint32_t index = block->start; index < block->end; index++) {
            search->matters[index] = false;
            search->effect[index] = effect_of(section->code[index].decoded);
        }
    }
}

/* All chosen blocks are to be looked at (again), with this bit in what they leave in memory. */
static void ask_again(struct search *search, bool shared)
{
    for (uint32_t number = 0; number < search->section->block_count; number++) {
        uint32_t place = search->section->blocks[number].order - 1;

        if (!search->chosen[number])
            continue;
        search->waiting[place / 64] |= (uint64_t)1 << place % 64;
        if (shared)
            set(&search->entering[number].stored, SHARED);
    }
}

static void unite(struct bits *bits, const struct bits *more)
{
    for (unsigned word = 0; word < WORDS; word++)
        bits->word[word] |= more->word[word];
}

static uint64_t common(const struct bits *bits, const struct piece *piece, unsigned count)
{
    uint64_t found = 0;

    for (unsigned n = 0; n < count; n++)
        found |= bits->word[piece[n].word] & piece[n].bits;
    return found;
}

static void add_pieces(struct bits *bits, const struct piece *piece, unsigned count, uint16_t guard)
{
    for (unsigned n = 0; n < count; n++)
        bits->word[piece[n].word] |= piece[n].bits;
    if (guard < REGISTERS)
        set(bits, guard);
}

/* From behind an instruction to ahead of it; whether it matters. */
static bool step_back(struct sets *sets, const struct instruction *code, const struct effect *effect)
{
    const struct piece *written = &pieces[effect->pieces], *read = written + effect->written, *asked = read + effect->read;
    bool is_asked = common(&sets->live, written, effect->written);
    bool is_kept = common(&sets->stored, written, effect->written);

    if (is_asked || is_kept) {
        for (unsigned n = 0; effect->replaces && !code->guarded && n < effect->written; n++) {
            sets->live.word[written[n].word] &= ~written[n].bits;
            sets->stored.word[written[n].word] &= ~written[n].bits;
        }
        if (is_asked)
            add_pieces(&sets->live, read, effect->read, code->guard);
        else if (!effect->real)
            add_pieces(&sets->stored, read, effect->read, code->guard);
    }
    if (effect->always)
        add_pieces(&sets->live, asked, effect->asked, code->guard);
    return is_asked || is_kept || effect->always;
}

static void look_at_block(struct search *search, uint32_t number, bool shared, struct sets *sets)
{
    const struct section *section = search->section;
    const struct block *block = &section->blocks[number];

    memset(sets, 0, sizeof(*sets));
    if (shared)
        set(&sets->stored, SHARED);
    for (uint32_t n = 0; n < successor_count(block) && !search->ends[number]; n++) {
        const struct sets *next = &search->entering[successor(block, n)];

        unite(&sets->live, &next->live);
        unite(&sets->stored, &next->stored);
    }
    for (uint32_t index = block->end; index-- > block->start;) {
        const struct instruction *code = &section->code[index];

        if (code->kind == KIND_CALL || code->kind == KIND_RETURN) { /* who is there may look at anything */
            set_from(&sets->live, 0, BITS);
            search->matters[index] = true;
        } else if (step_back(sets, code, &effects[search->effect[index]])) {
            search->matters[index] = true;
        }
    }
}

/* The last place below `below` that waits, else that of all; false if none waits. */
static bool next_place(const struct search *search, uint32_t below, uint32_t *place)
{
    uint32_t words = search->section->block_count / 64 + 1, start = below / 64;

    for (uint32_t n = 0; n <= words; n++) {
        uint32_t word = (start + words - n % words) % words;
        uint64_t found = search->waiting[word];

        if (n == 0)
            found &= ((uint64_t)1 << below % 64) - 1;
        if (found) {
            *place = word * 64 + 63 - (uint32_t)__builtin_clzll(found);
            return true;
        }
    }
    return false;
}

/* Until nothing is added, last blocks first. */
static void settle(struct search *search, bool shared)
{
    uint32_t place = search->section->block_count;

    ask_again(search, shared);
    while (next_place(search, place, &place)) {
        uint32_t number = search->block_at[place];
        struct sets sets;

        search->waiting[place / 64] &= ~((uint64_t)1 << place % 64);
        look_at_block(search, number, shared, &sets);
        if (memcmp(&sets, &search->entering[number], sizeof(sets)) == 0)
            continue;
        search->entering[number] = sets;
        for (uint32_t n = search->first[number]; n < search->first[number + 1]; n++) {
            uint32_t before = search->section->blocks[search->predecessors[n]].order - 1;

            search->waiting[before / 64] |= (uint64_t)1 << before % 64;
        }
    }
}

static bool shared_memory_matters(const struct search *search)
{
    for (uint32_t number = 0; number < search->section->block_count; number++) {
        const struct sets *sets = &search->entering[number];

        if (search->chosen[number] && (has(&sets->live, SHARED) || has(&sets->stored, SHARED)))
            return true;
    }
    return false;
}

static void keep_entering(const struct search *search, struct liveness *liveness)
{
    uint32_t count = search->section->block_count;

    liveness->entering = allocate(count * sizeof(*liveness->entering));
    liveness->any = allocate(count * sizeof(*liveness->any));
    for (uint32_t number = 0; number < count; number++) {
        const struct sets *sets = &search->entering[number];
        uint64_t *entering = liveness->entering[number];

        liveness->any[number] = true;
        for (unsigned word = 0; word < REGISTER_WORDS; word++) {
            uint64_t all = (word + 1) * 64 <= REGISTERS ? UINT64_MAX : ((uint64_t)1 << REGISTERS % 64) - 1;

            entering[word] = (sets->live.word[word] | sets->stored.word[word]) & all;
            liveness->any[number] &= entering[word] == all;
        }
    }
}

const struct liveness *liveness_of(struct section *section, bool until_wait)
{
    static struct sets *entering;
    static uint32_t *effect;
    static size_t entering_capacity, effect_room;
    struct liveness *liveness = section->liveness[until_wait];
    struct search search = {.section = section};
    size_t blocks = section->block_count;

    if (liveness)
        return liveness;
    liveness = section->liveness[until_wait] = allocate(sizeof(*liveness));
    if (!blocks)
        return liveness;
    search.entering = entering = grown(entering, &entering_capacity, blocks, sizeof(*entering));
    search.effect = effect = grown(effect, &effect_room, section->count, sizeof(*effect));
    memset(entering, 0, blocks * sizeof(*entering));
    search.chosen = allocate(blocks);
    search.ends = allocate(blocks);
    search.block_at = allocate(blocks * sizeof(*search.block_at));
    search.waiting = allocate((blocks / 64 + 1) * sizeof(*search.waiting));
    search.matters = liveness->matters = allocate(section->count);
    choose(&search, until_wait);
    list_predecessors(&search);
    begin_at_blocks(&search);
    settle(&search, false);
    if (shared_memory_matters(&search))
        settle(&search, true); /* it is read by other threads, elsewhere */
    keep_entering(&search, liveness);
    return liveness;
}
