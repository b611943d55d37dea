/* The code of one cubin: where calls go, what a kernel may reach, what of a callee matters. */
#include <stdlib.h>
#include <string.h>

#include "instructions/effects.h"
#include "output/report.h"

enum { SHORT_CALLEE = 64 }; /* instructions: the conversions and indices that debug code calls for */
enum { DEEPEST_CALLS = 256 };

/* What a section has to do with others; each part is made when first asked for. */
struct linkage {
    struct target *indirect;
    struct section **callees; /* each once, in the order of the calls */
    struct unresolved *unseen;
    size_t indirect_count, callee_count, unseen_count;
    uint32_t kinds, touching;
    uint32_t *walked; /* of each block: the last walk of summarise that came by */
    uint32_t in_closure, in_callees; /* stamps of the last closure and list of callees that it is in */
    bool knows_indirect, knows_callees, knows_unseen, knows_kinds;
};

static struct linkage *linkages; /* of each section */
static struct map section_places, first_homes; /* name -> section; section -> 1 + its last home */
static uint32_t *next_home;                    /* of each home: 1 + another in the same section */

static void prepare(void)
{
    size_t i;

    if (linkages)
        return;
    linkages = allocate((image.section_count + 1) * sizeof(*linkages));
    next_home = allocate((image.home_count + 1) * sizeof(*next_home));
    for (i = 0; i < image.section_count; i++)
        map_put(&section_places, image.sections[i].name, (uint32_t)i);
    for (i = 0; i < image.home_count; i++) {
        map_get(&first_homes, image.home[i].section, &next_home[i]);
        map_put(&first_homes, image.home[i].section, (uint32_t)i + 1);
    }
}

static struct linkage *linkage_of(const struct section *section)
{
    prepare();
    return &linkages[section - image.sections];
}

struct section *section_named(name wanted)
{
    uint32_t at;

    prepare();
    return wanted && map_get(&section_places, wanted, &at) ? &image.sections[at] : NULL;
}

/* Names that the driver owns --------------------------------------------------------------------------------------------- */

/* Functions of the driver and the device runtime: they touch none of the user's data by themselves. */
static const char *const system_calls[] = {
    "vprintf", "malloc", "free", "__assertfail", "__assert_fail", "__nv_aligned_device_malloc",
    "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank",
};
enum { SYSTEM_CALLS = sizeof(system_calls) / sizeof(*system_calls) };
static const char copy_call[] = "__cuda_syscall_cp_async_bulk"; /* sm_120 copies to and from shared memory by calling it */

bool is_system_call(name callee)
{
    static name names[SYSTEM_CALLS];
    unsigned i;

    if (!names[0])
        for (i = 0; i < SYSTEM_CALLS; i++)
            names[i] = name_of_text(system_calls[i]);
    for (i = 0; i < SYSTEM_CALLS; i++)
        if (callee == names[i])
            return true;
    return false;
}

bool is_allocation(name callee)
{
    return callee && (strcmp(text_of(callee), "malloc") == 0 || strcmp(text_of(callee), "__nv_aligned_device_malloc") == 0);
}

bool is_copy_call(name callee)
{
    return callee && strncmp(text_of(callee), copy_call, sizeof(copy_call) - 1) == 0;
}

static bool is_drivers(name callee) { return is_system_call(callee) || is_copy_call(callee); }

/* Targets of calls ------------------------------------------------------------------------------------------------------ */

static struct target block_at(struct section *section, uint32_t index)
{
    struct target target = { NULL, 0 };

    if (index < section->count && section->blocks[section->block_of[index]].start == index) {
        target.section = section;
        target.block = section->block_of[index];
    }
    return target;
}

struct target resolve(struct section *caller, name label)
{
    struct target target = { NULL, 0 };
    struct section *other;
    uint32_t at;

    if (!label)
        return target;
    if (map_get(&caller->labels, label, &at)) {
        target = block_at(caller, at);
        if (target.section)
            return target;
    }
    other = section_named(label);
    if (other && other->block_count) {
        target.section = other;
        return target;
    }
    if (map_get(&image.homes, label, &at)) {
        other = section_named(image.home[at].section);
        if (other)
            target = block_at(other, image.home[at].index);
    }
    return target;
}

static int compare_sections(const struct section *left, const struct section *right)
{
    return left == right ? 0 : strcmp(text_of(left->name), text_of(right->name));
}

static int by_place(const void *left, const void *right)
{
    const struct target *a = left, *b = right;
    int order = compare_sections(a->section, b->section);

    return order ? order : (a->block > b->block) - (a->block < b->block);
}

static void add_indirect(struct section *caller, struct linkage *linkage, size_t *capacity, name callee)
{
    struct target target = resolve(caller, callee);

    if (target.section) {
        linkage->indirect = grown(linkage->indirect, capacity, linkage->indirect_count + 1, sizeof(target));
        linkage->indirect[linkage->indirect_count++] = target;
    }
}

/* Functions merged into this section that nothing in it calls by name. */
static void add_merged(struct section *caller, struct linkage *linkage, size_t *capacity)
{
    static struct map direct;
    uint32_t i, at = 0, ignored;

    map_clear(&direct);
    for (i = 0; i < caller->block_count; i++)
        if (caller->blocks[i].callee)
            map_put(&direct, caller->blocks[i].callee, 1);
    map_get(&first_homes, caller->name, &at);
    for (; at; at = next_home[at - 1]) {
        name function = image.home[at - 1].function;

        if (function && function != caller->name && !map_get(&direct, function, &ignored) &&
            !strstr(text_of(function), "$__internal_"))
            add_indirect(caller, linkage, capacity, function);
    }
}

size_t indirect_targets(struct section *caller, const struct target **targets)
{
    struct linkage *linkage = linkage_of(caller);
    size_t i, kept = 0, capacity = 0;
    uint32_t ignored;

    if (!linkage->knows_indirect) {
        linkage->knows_indirect = true;
        for (i = 0; i < image.address_count; i++)
            if (!map_get(&image.kernel_names, image.addresses[i], &ignored))
                add_indirect(caller, linkage, &capacity, image.addresses[i]);
        add_merged(caller, linkage, &capacity);
        if (linkage->indirect_count)
            qsort(linkage->indirect, linkage->indirect_count, sizeof(*linkage->indirect), by_place);
        for (i = 0; i < linkage->indirect_count; i++)
            if (!kept || by_place(&linkage->indirect[kept - 1], &linkage->indirect[i]) != 0)
                linkage->indirect[kept++] = linkage->indirect[i];
        linkage->indirect_count = kept;
    }
    *targets = linkage->indirect;
    return linkage->indirect_count;
}

/* Callees that only compute ----------------------------------------------------------------------------------------------- */

struct summary {
    uint16_t *written; /* NULL: not harmless, or not known yet */
    size_t count;
};
static struct summary *summaries;
static size_t summary_count, summary_capacity;
static struct map summary_of; /* section and block -> index in summaries */

static uint32_t *walk; /* blocks of the walks that are going on, innermost last */
static size_t walk_count, walk_capacity;
static uint32_t walks;

/* What matters of a callee; one with nothing of this only computes. */
static bool is_relevant(uint8_t kind)
{
    return kind_accesses(kind) || kind == KIND_WAIT || kind == KIND_BARRIER || kind == KIND_CLUSTER_BARRIER ||
           kind == KIND_MBARRIER || kind == KIND_SIGNAL || kind == KIND_TRIGGER || kind == KIND_UNKNOWN ||
           kind == KIND_PREFETCH || kind == KIND_BARRIER_ARRIVE || kind == KIND_CLUSTER_ARRIVE;
}

static void walk_to(uint32_t *walked, uint32_t block)
{
    if (walked[block] == walks)
        return;
    walked[block] = walks;
    walk = grown(walk, &walk_capacity, walk_count + 1, sizeof(*walk));
    walk[walk_count++] = block;
}

/* Adds what a block writes; false if something in it matters. */
static bool note_written(const struct section *section, const struct block *block, uint8_t written[REGISTERS])
{
    uint32_t i;
    uint16_t k;

    if (block->unresolved || (block->calls && !block->callee))
        return false;
    for (i = block->start; i < block->end; i++) {
        const struct decoded *decoded = section->code[i].decoded;

        if (is_relevant(section->code[i].kind) || changes_callers_memory(decoded))
            return false;
        for (k = 0; k < decoded->destination_count; k++)
            if (decoded->destinations[k] < REGISTERS && decoded->destinations[k] != STACK_POINTER) /* it comes back as it was */
                written[decoded->destinations[k]] = 1;
    }
    return true;
}

/* Walks all blocks that lead on from the start, into `walk`; false if something matters in one of them. */
static bool walk_from(struct section *section, uint32_t start, uint8_t written[REGISTERS], size_t *length)
{
    uint32_t *walked = linkage_of(section)->walked;
    size_t at = walk_count;
    uint32_t i;

    if (!walked)
        walked = linkage_of(section)->walked = allocate(section->block_count * sizeof(*walked));
    walks++;
    walk_to(walked, start);
    for (; at < walk_count; at++) {
        const struct block *block = &section->blocks[walk[at]];

        if (!note_written(section, block, written))
            return false;
        *length += block->end - block->start;
        if (block->falls != NO_BLOCK)
            walk_to(walked, (uint32_t)block->falls);
        for (i = 0; i < block->jump_count; i++)
            walk_to(walked, block->jumps[i]);
    }
    return true;
}

static size_t summary_at(struct target target, unsigned depth);

/* Adds what the callees of the walked blocks, from `first` on, write; false if one is not harmless. */
static bool add_inner(struct section *section, size_t first, uint8_t written[REGISTERS], unsigned depth)
{
    size_t at, end = walk_count, k, inner;

    for (at = first; at < end; at++) {
        const struct block *block = &section->blocks[walk[at]];
        struct target target = { NULL, 0 };

        if (!block->calls)
            continue;
        target = resolve(section, block->callee);
        if (!target.section || depth >= DEEPEST_CALLS)
            return false;
        inner = summary_at(target, depth + 1);
        if (!summaries[inner].written)
            return false;
        for (k = 0; k < summaries[inner].count; k++)
            written[summaries[inner].written[k]] = 1;
    }
    return true;
}

static void summarise(struct target target, size_t at, unsigned depth)
{
    uint8_t written[REGISTERS] = { 0 };
    size_t first = walk_count, length = 0, count = 0;
    bool harmless = walk_from(target.section, target.block, written, &length) && length > SHORT_CALLEE &&
                    add_inner(target.section, first, written, depth);
    uint16_t reg;

    walk_count = first;
    if (!harmless)
        return;
    for (reg = 0; reg < REGISTERS; reg++)
        count += written[reg];
    summaries[at].written = allocate((count + 1) * sizeof(*summaries[at].written));
    for (reg = 0; reg < REGISTERS; reg++)
        if (written[reg])
            summaries[at].written[summaries[at].count++] = reg;
}

/* In recursion, the summary that is being made: not harmless. */
static size_t summary_at(struct target target, unsigned depth)
{
    uint64_t key = (uint64_t)(target.section - image.sections) << 32 | target.block;
    uint32_t at;

    if (!map_get(&summary_of, key, &at)) {
        at = (uint32_t)summary_count++;
        summaries = grown(summaries, &summary_capacity, summary_count, sizeof(*summaries));
        map_put(&summary_of, key, at);
        summarise(target, at, depth);
    }
    return at;
}

const uint16_t *written_if_harmless(struct target target, size_t *count)
{
    size_t at;

    *count = 0;
    if (!target.section || target.block >= target.section->block_count)
        return NULL;
    at = summary_at(target, 0);
    *count = summaries[at].count;
    return summaries[at].written;
}

/* What a kernel may reach -------------------------------------------------------------------------------------------------- */

static void add_callee(struct linkage *linkage, size_t *capacity, uint32_t stamp, struct section *callee)
{
    struct linkage *other = linkage_of(callee);

    if (other->in_callees == stamp)
        return;
    other->in_callees = stamp;
    linkage->callees = grown(linkage->callees, capacity, linkage->callee_count + 1, sizeof(*linkage->callees));
    linkage->callees[linkage->callee_count++] = callee;
}

static size_t callees_of(struct section *section, struct section *const **callees)
{
    static uint32_t stamp;
    struct linkage *linkage = linkage_of(section);
    bool indirect = false;
    size_t capacity = 0, k, count;
    uint32_t i;

    *callees = linkage->callees;
    if (linkage->knows_callees)
        return linkage->callee_count;
    linkage->knows_callees = true;
    stamp++;
    for (i = 0; i < section->block_count; i++) {
        const struct target *targets;
        struct target target;

        if (!section->blocks[i].calls)
            continue;
        if (section->blocks[i].callee) {
            target = resolve(section, section->blocks[i].callee);
            if (target.section)
                add_callee(linkage, &capacity, stamp, target.section);
        } else if (!indirect) {
            indirect = true; /* all of these calls go to the same */
            count = indirect_targets(section, &targets);
            for (k = 0; k < count; k++)
                add_callee(linkage, &capacity, stamp, targets[k].section);
        }
    }
    *callees = linkage->callees;
    return linkage->callee_count;
}

/* Whose code the kernel may reach, its own first. Only the last one is kept: kernels are looked at one after the other, and
 * together they would be too much. */
static size_t closure(name kernel, struct section *const **sections)
{
    static struct section **found, **open;
    static size_t found_count, open_count;
    static uint32_t stamp;
    static name known;
    struct section *const *callees, *first = section_named(kernel);
    size_t k, count;

    if (!found) {
        found = allocate((image.section_count + 1) * sizeof(*found));
        open = allocate((image.section_count + 1) * sizeof(*open));
    }
    *sections = found;
    if (known == kernel && stamp)
        return found_count;
    known = kernel;
    stamp++;
    found_count = open_count = 0;
    if (!first)
        return 0;
    linkage_of(first)->in_closure = stamp;
    found[found_count++] = open[open_count++] = first;
    while (open_count) {
        count = callees_of(open[--open_count], &callees);
        for (k = 0; k < count; k++)
            if (linkage_of(callees[k])->in_closure != stamp) {
                linkage_of(callees[k])->in_closure = stamp;
                found[found_count++] = open[open_count++] = callees[k];
            }
    }
    return found_count;
}

static const struct linkage *counted(const struct section *section)
{
    struct linkage *linkage = linkage_of(section);
    uint32_t i;

    for (i = 0; i < section->notable_count && !linkage->knows_kinds; i++) {
        uint8_t kind = section->code[section->notable[i]].kind;

        linkage->kinds |= UINT32_C(1) << kind;
        linkage->touching += kind_accesses(kind);
    }
    linkage->knows_kinds = true;
    return linkage;
}

uint32_t closure_kinds(name kernel)
{
    struct section *const *sections;
    size_t i, count = closure(kernel, &sections);
    uint32_t kinds = 0;

    for (i = 0; i < count; i++)
        kinds |= counted(sections[i])->kinds;
    return kinds;
}

/* Calls into code that is not in this file ------------------------------------------------------------------------------- */

/* Functions whose addresses the code of a section takes. */
struct taken {
    name section;
    bool drivers, others, all_constants;
};

static void note_taken(struct taken *taken, name function)
{
    uint32_t ignored;

    if (!function)
        return;
    if (is_drivers(function))
        taken->drivers = true;
    else if (function != taken->section && map_get(&image.functions, function, &ignored))
        taken->others = true;
}

static void note_all_constants(struct taken *taken)
{
    const name *symbols;
    size_t i, count = constant4_symbols(&symbols);

    taken->all_constants = true;
    for (i = 0; i < count; i++)
        note_taken(taken, symbols[i]);
}

/* c[0x4][0x20], c[0x4][R2 + 0x20] */
static void note_constants(struct taken *taken, const char *text)
{
    static const char head[] = "c[0x4][";

    while ((text = strstr(text, head)) != NULL) {
        const char *at = text += sizeof(head) - 1;
        uint32_t function;

        if ((*at == 'R' || (at[0] == 'U' && at[1] == 'R')) && !taken->all_constants)
            note_all_constants(taken);
        if (strncmp(at, "0x", 2) == 0) {
            size_t digits = strspn(at + 2, "0123456789abcdef");

            if (digits && at[2 + digits] == ']' && map_get(&image.constant4, strtoull(at, NULL, 16) & ~7ull, &function))
                note_taken(taken, function);
        }
    }
}

static size_t symbol_length(const char *at)
{
    size_t length = 0;

    while ((at[length] >= '0' && at[length] <= '9') || (at[length] >= 'a' && at[length] <= 'z') ||
           (at[length] >= 'A' && at[length] <= 'Z') || at[length] == '_' || at[length] == '$' || at[length] == '.' ||
           (unsigned char)at[length] >= 0x80)
        length++;
    return length;
}

/* 32@lo(name), 32@lo((name + 4)), 32@lo(fun@unified(name)) */
static void note_moves(struct taken *taken, const char *text)
{
    static const char head[] = "32@lo(", unified[] = "fun@unified(";

    while ((text = strstr(text, head)) != NULL) {
        const char *at = text += sizeof(head) - 1;

        at += *at == '(';
        if (strncmp(at, unified, sizeof(unified) - 1) == 0 && symbol_length(at + sizeof(unified) - 1))
            at += sizeof(unified) - 1;
        if (symbol_length(at))
            note_taken(taken, name_of(at, symbol_length(at)));
    }
}

/* Calls through registers are the driver's if the section takes addresses of no other functions. */
static bool calls_only_drivers(const struct section *section)
{
    struct taken taken = { section->name, false, false, false };
    uint32_t i;

    for (i = 0; i < section->count && !taken.others; i++) {
        const char *text = text_of(section->code[i].decoded->text);

        note_constants(&taken, text);
        note_moves(&taken, text);
    }
    return taken.drivers && !taken.others;
}

static void add_unseen(struct linkage *linkage, size_t *capacity, struct section *section, uint32_t at)
{
    const struct block *block = &section->blocks[at];
    struct unresolved unseen = { { section, block->end - 1 }, "a function pointer of unknown value", block->callee };

    linkage->unseen = grown(linkage->unseen, capacity, linkage->unseen_count + 1, sizeof(unseen));
    linkage->unseen[linkage->unseen_count++] = unseen;
}

static const struct linkage *unseen_of(struct section *section)
{
    struct linkage *linkage = linkage_of(section);
    const struct target *targets;
    enum { NOT_ASKED, SEEN, UNSEEN } indirect = NOT_ASKED;
    size_t capacity = 0;
    uint32_t i;

    for (i = 0; i < section->block_count && !linkage->knows_unseen; i++) {
        const struct block *block = &section->blocks[i];

        if (!block->calls)
            continue;
        if (!block->callee && indirect == NOT_ASKED)
            indirect = indirect_targets(section, &targets) || calls_only_drivers(section) ? SEEN : UNSEEN;
        if (block->callee ? !is_drivers(block->callee) && !resolve(section, block->callee).section : indirect == UNSEEN)
            add_unseen(linkage, &capacity, section, i);
    }
    linkage->knows_unseen = true;
    return linkage;
}

size_t closure_touches(name kernel, struct unresolved **unseen, size_t *unseen_count)
{
    static struct unresolved *all;
    static size_t capacity;
    struct section *const *sections;
    size_t i, count = closure(kernel, &sections), touched = 0;

    *unseen_count = 0;
    for (i = 0; i < count; i++) {
        const struct linkage *linkage = unseen_of(sections[i]);

        touched += counted(sections[i])->touching;
        if (!linkage->unseen_count)
            continue;
        all = grown(all, &capacity, *unseen_count + linkage->unseen_count, sizeof(*all));
        memcpy(all + *unseen_count, linkage->unseen, linkage->unseen_count * sizeof(*all));
        *unseen_count += linkage->unseen_count;
    }
    *unseen = all;
    return touched;
}
