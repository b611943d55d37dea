/* uses_after_wait.c - whether a value that was loaded before the wait is used after it. */
#include <ctype.h>
#include <string.h>

#include "dataflow/control_flow.h"

enum {
    LIMIT = 4000,            /* states looked at; enough for any function we have seen */
    WORDS = FIRST_P / 64     /* general and uniform registers */
};
struct set {
    uint64_t word[WORDS];
};

/* The registers that an instruction's sources name. */
struct mentions {
    size_t first;
    uint32_t count;
};
static uint16_t *mentioned;
static size_t mentioned_count, mentioned_capacity;

/* A place from which the walk goes on, with the loaded registers that still hold what was loaded. */
struct state {
    uint32_t block;
    bool waited;
    struct set live;
};
struct visits {
    struct map by_hash; /* hash -> index in seen; equal hashes one after another */
    struct state *seen;
    uint32_t *work; /* indices in seen, the last is next */
    size_t seen_count, seen_capacity, work_count, work_capacity;
};

static bool has(const struct set *set, unsigned reg)
{
    return reg < FIRST_P && (set->word[reg / 64] >> reg % 64 & 1);
}

static bool is_empty(const struct set *set)
{
    uint64_t any = 0;

    for (unsigned word = 0; word < WORDS; word++)
        any |= set->word[word];
    return !any;
}

/* R4 or UR4 as a word, without what follows its digits; NO_REGISTER for anything else. Moves past it. */
static uint16_t register_at(const char *text, const char **at)
{
    const char *digits = *at + 1, *name_start = *at - (*at > text && (*at)[-1] == 'U');
    bool uniform = name_start < *at;
    unsigned number = 0;

    for (; isdigit((unsigned char)*digits); digits++)
        number = number < FIRST_UR ? number * 10 + (unsigned)(*digits - '0') : number;
    if (digits > *at + 2 && (*at)[1] == '0')
        number = FIRST_UR; /* R02 is written otherwise */
    if (digits == *at + 1 || number >= FIRST_UR || (name_start > text && isalnum((unsigned char)name_start[-1])))
        number = FIRST_UR;
    *at = digits;
    return number == FIRST_UR ? NO_REGISTER : (uint16_t)(number + (uniform ? FIRST_UR : FIRST_R));
}

static void read_mentions(const struct decoded *decoded, struct mentions *mentions)
{
    mentions->first = mentioned_count;
    for (unsigned n = decoded->first_source; n < decoded->count; n++) {
        const char *text = text_of(decoded->operands[n].text), *at = text;

        while ((at = strchr(at, 'R'))) {
            uint16_t reg = register_at(text, &at);

            if (reg == NO_REGISTER)
                continue;
            mentioned = grown(mentioned, &mentioned_capacity, mentioned_count + 1, sizeof(*mentioned));
            mentioned[mentioned_count++] = reg;
            mentions->count++;
        }
    }
}

/* Read once for each decoded instruction; the pointer holds until the next call. */
static const struct mentions *mentions_of(const struct decoded *decoded)
{
    static struct map numbers;
    static struct mentions *all;
    static size_t count, capacity;
    struct mentions mentions = {0};
    uint32_t number;

    if (map_get(&numbers, (uintptr_t)decoded, &number))
        return &all[number];
    read_mentions(decoded, &mentions);
    all = grown(all, &capacity, count + 1, sizeof(*all));
    all[count] = mentions;
    map_put(&numbers, (uintptr_t)decoded, (uint32_t)count);
    return &all[count++];
}

/* A register that was overwritten under a guard: what stands under the same guard sees the new value. */
struct shadow {
    uint16_t reg, guard;
    bool negated;
};
enum { MOST_SHADOWS = 16 };
struct shadows { /* of one block; more than fit are not remembered */
    struct shadow all[MOST_SHADOWS];
    unsigned count;
};

static bool is_shadowed(const struct shadows *shadows, unsigned reg, uint16_t guard, bool negated)
{
    for (unsigned i = 0; i < shadows->count; i++)
        if (shadows->all[i].reg == reg && shadows->all[i].guard == guard && shadows->all[i].negated == negated)
            return true;
    return false;
}

/* They end when their guard is written. */
static void end_shadows(struct shadows *shadows, unsigned predicate)
{
    unsigned left = 0;

    for (unsigned i = 0; i < shadows->count; i++)
        if (shadows->all[i].guard != predicate)
            shadows->all[left++] = shadows->all[i];
    shadows->count = left;
}

static bool uses(const struct instruction *code, const struct set *live, const struct shadows *shadows)
{
    const struct mentions *mentions = mentions_of(code->decoded);

    for (uint32_t n = 0; n < mentions->count; n++) {
        uint16_t reg = mentioned[mentions->first + n];

        if (has(live, reg) && !is_shadowed(shadows, reg, code->guard, code->guard_negated))
            return true;
    }
    return false;
}

static void clear(struct set *live, unsigned reg)
{
    live->word[reg / 64] &= ~((uint64_t)1 << reg % 64);
}

static void overwrite(const struct instruction *code, struct set *live, struct shadows *shadows)
{
    for (unsigned n = 0; n < code->decoded->destination_count; n++) {
        unsigned reg = code->decoded->destinations[n];

        if (is_predicate(reg))
            end_shadows(shadows, reg);
        if (!has(live, reg))
            continue;
        if (!code->guarded || is_shadowed(shadows, reg, code->guard, !code->guard_negated))
            clear(live, reg);
        else if (shadows->count < MOST_SHADOWS && code->guard != NO_REGISTER)
            shadows->all[shadows->count++] = (struct shadow){(uint16_t)reg, code->guard, code->guard_negated};
    }
}

/* From this instruction to the end of its block, or until nothing is left: the first use, or -1. */
static int64_t first_use(const struct section *section, uint32_t from, struct state *state)
{
    struct shadows shadows = {.count = 0};

    for (uint32_t index = from; index < section->blocks[state->block].end; index++) {
        const struct instruction *code = &section->code[index];

        if (code->kind == KIND_WAIT) {
            state->waited = true;
            continue;
        }
        if (state->waited && uses(code, &state->live, &shadows))
            return index;
        overwrite(code, &state->live, &shadows);
        if (is_empty(&state->live))
            break;
    }
    return -1;
}

static uint64_t hash_of(const struct state *state)
{
    uint64_t hash = (uint64_t)state->block << 1 | state->waited;

    for (unsigned word = 0; word < WORDS; word++) {
        hash = (hash ^ state->live.word[word]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same(const struct state *left, const struct state *right)
{
    return left->block == right->block && left->waited == right->waited
           && memcmp(&left->live, &right->live, sizeof(left->live)) == 0;
}

/* The state, if it is new, is to be walked from. */
static void visit(struct visits *visits, const struct state *state)
{
    uint64_t hash = hash_of(state);
    uint32_t at;

    for (; map_get(&visits->by_hash, hash, &at); hash++) {
        if (same(&visits->seen[at], state))
            return;
    }
    map_put(&visits->by_hash, hash, (uint32_t)visits->seen_count);
    visits->seen = grown(visits->seen, &visits->seen_capacity, visits->seen_count + 1, sizeof(*visits->seen));
    visits->work = grown(visits->work, &visits->work_capacity, visits->work_count + 1, sizeof(*visits->work));
    visits->work[visits->work_count++] = (uint32_t)visits->seen_count;
    visits->seen[visits->seen_count++] = *state;
}

static void visit_successors(struct visits *visits, const struct section *section, const struct state *state)
{
    const struct block *block = &section->blocks[state->block];
    struct state next = *state;

    for (uint32_t n = 0; !is_empty(&state->live) && n < successor_count(block); n++) {
        next.block = successor(block, n);
        visit(visits, &next);
    }
}

int64_t used_after_wait(const struct section *section, uint32_t load)
{
    static struct visits visits;
    const struct decoded *decoded = section->code[load].decoded;
    struct state state = {.block = section->block_of[load]};
    int64_t use;

    for (unsigned n = 0; n < decoded->destination_count; n++) {
        if (decoded->destinations[n] < FIRST_P)
            state.live.word[decoded->destinations[n] / 64] |= (uint64_t)1 << decoded->destinations[n] % 64;
    }
    map_clear(&visits.by_hash);
    visits.seen_count = visits.work_count = 0;
    use = first_use(section, load + 1, &state);
    visit_successors(&visits, section, &state);
    while (use < 0 && visits.work_count && visits.seen_count < LIMIT) {
        state = visits.seen[visits.work[--visits.work_count]];
        use = first_use(section, section->blocks[state.block].start, &state);
        if (use < 0)
            visit_successors(&visits, section, &state);
    }
    return use;
}
