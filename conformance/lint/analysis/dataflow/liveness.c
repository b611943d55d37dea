/* liveness.c - which registers can still matter to a question of the analysis, and so which instructions have to be evaluated.
 *
 * Addresses, conditions, barriers and what goes to memory matter; a register matters if what it holds can end up there. All
 * else (the arithmetic of a kernel, nearly all of it) is skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "instructions/effects.h"
#include "dataflow/control_flow.h"

enum { MOST_RETURNS = 1 << 16 }; /* ways back from the callees in a section; more, and any register may matter there */

struct sets {
    struct bits live;   /* asked for */
    struct bits stored; /* only goes to memory */
    struct bits used;   /* of both: not replaced first, be it under the guard that its uses have as well */
};

/* What the rest of a block and those after it ask. */
struct rest {
    struct sets sets;
    struct bits guarded; /* of what is used: only under one guard, in this block */
    uint16_t by[BITS];   /* as guard_of() says */
};

struct search {
    const struct section *section;
    enum attention attention;
    bool *chosen;          /* blocks that are looked at */
    bool *ends;            /* those after which nothing is asked: they wait */
    struct sets *entering; /* of each block */
    uint8_t *matters;      /* of each instruction */
    uint32_t *effect;      /* of each instruction of the chosen */
    uint32_t *first, *predecessors; /* those of block n: from first[n] to first[n + 1] */
    uint32_t *first_way, *ways;     /* the same of blocks to which it leads */
    bool closed;           /* what is called is walked in this section and returns to it */
    uint32_t *block_at;    /* by the order of blocks */
    uint64_t *waiting;     /* bits of places in that order */
    bool everything_asked; /* all blocks are chosen */
};

static bool waits_always(const struct section *section, const struct block *block)
{
    const struct instruction *last = &section->code[block->end - 1];

    return last->kind == KIND_WAIT && !last->guarded;
}

/* Calls and returns of a section. */
struct calls {
    uint32_t *after, *callee; /* of each call */
    size_t count, after_capacity, callee_capacity, returns;
};

/* False if something is called that is not in this section. */
static bool list_calls(struct section *section, struct calls *calls)
{
    for (uint32_t number = 0; number < section->block_count; number++) {
        const struct block *block = &section->blocks[number];

        calls->returns += block->last == KIND_RETURN;
        if (!block->calls)
            continue;
        struct target target = resolve(section, block->callee);
        if (target.section != section)
            return false;
        calls->after = grown(calls->after, &calls->after_capacity, calls->count + 1, sizeof(*calls->after));
        calls->callee = grown(calls->callee, &calls->callee_capacity, calls->count + 1, sizeof(*calls->callee));
        calls->after[calls->count] = block->falls == NO_BLOCK ? target.block : (uint32_t)block->falls;
        calls->callee[calls->count++] = target.block;
    }
    return calls->count * calls->returns <= MOST_RETURNS;
}

static void list_ways(struct search *search)
{
    const struct section *section = search->section;
    size_t capacity = 0, count = 0, call = 0;
    struct calls calls = {0};

    search->closed = search->attention != ALL_OF_IT && list_calls(&image.sections[section - image.sections], &calls);
    search->first_way = allocate(((size_t)section->block_count + 1) * sizeof(*search->first_way));
    for (uint32_t number = 0; number < section->block_count; number++) {
        const struct block *block = &section->blocks[number];
        size_t most = count + successor_count(block) + calls.count + 1;

        search->ways = grown(search->ways, &capacity, most, sizeof(*search->ways));
        for (uint32_t n = 0; n < successor_count(block); n++)
            search->ways[count++] = successor(block, n);
        if (search->closed && block->calls)
            search->ways[count++] = calls.callee[call++];
        for (size_t n = 0; search->closed && block->last == KIND_RETURN && n < calls.count; n++)
            search->ways[count++] = calls.after[n];
        search->first_way[number + 1] = (uint32_t)count;
    }
    free(calls.after);
    free(calls.callee);
}

/* The blocks that can be reached without a wait; all, if something is called that may lead anywhere. */
static void choose_before_wait(struct search *search)
{
    const struct section *section = search->section;
    uint32_t *work = allocate(section->block_count * sizeof(*work)), count = 0, chosen = 1;

    search->chosen[work[count++] = 0] = true;
    while (count) {
        uint32_t number = work[--count];
        const struct block *block = &section->blocks[number];

        if (block->calls && !search->closed) {
            memset(search->chosen, true, section->block_count);
            search->everything_asked = true;
            return;
        }
        for (uint32_t n = search->first_way[number]; n < search->first_way[number + 1] && !waits_always(section, block); n++) {
            uint32_t next = search->ways[n];

            if (!search->chosen[next]) {
                search->chosen[work[count++] = next] = true;
                chosen++;
            }
        }
    }
    search->everything_asked = chosen == section->block_count;
}

static void choose(struct search *search)
{
    const struct section *section = search->section;

    if (search->attention == UNTIL_A_WAIT) {
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
    const uint32_t *first_way = search->first_way;
    uint32_t count = search->section->block_count, *first = allocate(((size_t)count + 2) * sizeof(*first));

    for (uint32_t number = 0; number < count; number++) {
        for (uint32_t n = first_way[number]; search->chosen[number] && n < first_way[number + 1]; n++)
            first[search->ways[n] + 2]++;
    }
    for (uint32_t number = 0; number <= count; number++)
        first[number + 1] += first[number];
    search->predecessors = allocate(first[count + 1] * sizeof(*search->predecessors));
    for (uint32_t number = 0; number < count; number++) {
        for (uint32_t n = first_way[number]; search->chosen[number] && n < first_way[number + 1]; n++)
            search->predecessors[first[search->ways[n] + 1]++] = number;
    }
    search->first = first;
}

/* Whoever is there may use these. */
static void ask_all(struct sets *sets, size_t first, size_t end)
{
    set_from(&sets->live, first, end);
    set_from(&sets->used, first, end);
}

static void begin_at_blocks(struct search *search)
{
    const struct section *section = search->section;

    memset(search->matters, MATTERS, section->count);
    for (uint32_t number = 0; number < section->block_count; number++) {
        const struct block *block = &section->blocks[number];

        search->block_at[block->order - 1] = number;
        if (!search->chosen[number]) {
            ask_all(&search->entering[number], 0, BITS);
            continue;
        }
        for (uint32_t index = block->start; index < block->end; index++) {
            search->matters[index] = MATTERS_NOT;
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

/* The predicate and what it has to be; NO_REGISTER: there is no guard, or it is PT. */
static uint16_t guard_of(const struct instruction *code)
{
    return code->guard < REGISTERS ? (uint16_t)(code->guard * 2 + code->guard_negated) : NO_REGISTER;
}

/* Ahead of an instruction that writes a predicate, that predicate is another guard. */
static void end_guards(struct rest *rest, const struct piece *written, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        for (unsigned word = 0; word < WORDS && written[n].word >= FIRST_P / 64; word++) {
            for (uint64_t left = rest->guarded.word[word]; left; left &= left - 1) {
                uint32_t guard = rest->by[word * 64 + (unsigned)__builtin_ctzll(left)] / 2u;

                if (guard / 64 == written[n].word && written[n].bits >> guard % 64 & 1)
                    rest->guarded.word[word] &= ~(left & (0 - left));
            }
        }
    }
}

/* Whether what is written is read only under its own guard, if it has one: no thread uses what was there before. */
static bool is_replaced(const struct rest *rest, const struct instruction *code, const struct piece *written, unsigned count)
{
    uint16_t guard = guard_of(code);

    for (unsigned n = 0; n < count && code->guarded; n++) {
        uint32_t word = written[n].word;
        uint64_t left = written[n].bits & rest->sets.used.word[word];

        if (guard == NO_REGISTER || left & ~rest->guarded.word[word])
            return false;
        for (; left; left &= left - 1)
            if (rest->by[word * 64 + (unsigned)__builtin_ctzll(left)] != guard)
                return false;
    }
    return true;
}

static void use_under(struct rest *rest, uint16_t guard, const struct piece *read, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        uint32_t word = read[n].word;
        uint64_t *guarded = &rest->guarded.word[word], *used = &rest->sets.used.word[word], kept = 0;

        for (uint64_t left = guard == NO_REGISTER ? 0 : read[n].bits & (*guarded | ~*used); left; left &= left - 1) {
            uint64_t bit = left & (0 - left);
            uint16_t *by = &rest->by[word * 64 + (unsigned)__builtin_ctzll(left)];

            if (!(*guarded & bit))
                *by = guard;
            if (*by == guard)
                kept |= bit;
        }
        *guarded = (*guarded & ~read[n].bits) | kept;
        *used |= read[n].bits;
    }
}

static void take_out(struct bits *bits, const struct piece *piece, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        bits->word[piece[n].word] &= ~piece[n].bits;
}

/* To `bits`, which are those of the rest that are live or those that are stored. What a store leaves in memory is read without its
 * guard. */
static void add_pieces(struct rest *rest, struct bits *bits, const struct instruction *code, const struct effect *effect,
                       const struct piece *piece, unsigned count)
{
    use_under(rest, effect->replaces ? guard_of(code) : NO_REGISTER, piece, count);
    for (unsigned n = 0; n < count; n++)
        bits->word[piece[n].word] |= piece[n].bits;
    if (code->guard < REGISTERS) {
        set(bits, code->guard);
        set(&rest->sets.used, code->guard);
        rest->guarded.word[code->guard / 64] &= ~((uint64_t)1 << code->guard % 64);
    }
}

/* From after an instruction to before it; returns whether the instruction matters. `always`: whether it matters by itself. */
static enum matter step_back(struct rest *rest, const struct instruction *code, const struct effect *effect, bool always)
{
    const struct piece *written = &pieces[effect->pieces], *read = written + effect->written, *asked = read + effect->read;
    struct bits *live = &rest->sets.live, *stored = &rest->sets.stored;
    bool is_asked = common(live, written, effect->written), is_kept = common(stored, written, effect->written), replaces;

    end_guards(rest, written, effect->written);
    replaces = effect->replaces && is_replaced(rest, code, written, effect->written);
    if (replaces) {
        take_out(&rest->sets.used, written, effect->written);
        take_out(&rest->guarded, written, effect->written);
    }
    if (effect->replaces && !code->guarded) {
        take_out(live, written, effect->written);
        take_out(stored, written, effect->written);
    }
    if (is_asked)
        add_pieces(rest, live, code, effect, read, effect->read);
    else if (is_kept && !effect->real)
        add_pieces(rest, stored, code, effect, read, effect->read);
    if (always || (effect->always && is_asked))
        add_pieces(rest, live, code, effect, asked, effect->asked);
    else if (effect->always && is_kept)
        add_pieces(rest, stored, code, effect, asked, effect->asked);
    if (!is_asked && !is_kept && !always)
        return MATTERS_NOT;
    return replaces ? REPLACES : MATTERS;
}

static void look_at_block(struct search *search, uint32_t number, bool shared, struct sets *sets)
{
    const struct section *section = search->section;
    const struct block *block = &section->blocks[number];
    struct rest rest;

    memset(&rest.sets, 0, sizeof(rest.sets));
    memset(&rest.guarded, 0, sizeof(rest.guarded)); /* what later blocks ask may be asked under no guard */
    if (shared)
        set(&rest.sets.stored, SHARED);
    for (uint32_t n = search->first_way[number]; n < search->first_way[number + 1] && !search->ends[number]; n++) {
        const struct sets *next = &search->entering[search->ways[n]];

        unite(&rest.sets.live, &next->live);
        unite(&rest.sets.stored, &next->stored);
        unite(&rest.sets.used, &next->used);
    }
    for (uint32_t index = block->end; index-- > block->start;) {
        const struct instruction *code = &section->code[index];
        const struct effect *effect = &effects[search->effect[index]];
        bool always = effect->always && !(search->attention == ITS_SIGNALS && effect->only_accesses);

        if (code->kind == KIND_CALL) /* the results of one that is not walked differ as these do */
            ask_all(&rest.sets, FIRST_ARGUMENT, LAST_ARGUMENT + 1);
        if (!search->closed && (code->kind == KIND_CALL || code->kind == KIND_RETURN)) { /* who is there may look at anything */
            ask_all(&rest.sets, 0, BITS);
            search->matters[index] = MATTERS;
        } else {
            search->matters[index] = (uint8_t)step_back(&rest, code, effect, always);
        }
    }
    *sets = rest.sets;
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

const struct liveness *liveness_of(struct section *section, enum attention attention)
{
    static struct sets *entering;
    static uint32_t *effect;
    static size_t entering_capacity, effect_room;
    struct liveness *liveness = section->liveness[attention];
    struct search search = {.section = section, .attention = attention};
    size_t blocks = section->block_count;

    if (liveness)
        return liveness;
    liveness = section->liveness[attention] = allocate(sizeof(*liveness));
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
    list_ways(&search);
    choose(&search);
    list_predecessors(&search);
    begin_at_blocks(&search);
    settle(&search, false);
    if (shared_memory_matters(&search))
        settle(&search, true); /* it is read by other threads, elsewhere */
    keep_entering(&search, liveness);
    return liveness;
}
