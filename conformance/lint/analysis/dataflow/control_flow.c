/* control_flow.c - the blocks of one section, and where each of them can go. */
#include "dataflow/control_flow.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTION_BYTES = 16,
    COLLECTIVE_REACH = 64, /* instructions from WARPSYNC.COLLECTIVE to its ENDCOLLECTIVE, at most */
    MOST_TARGETS = 1024    /* of one BSYNC; only garbage has more, and would make lists of lists */
};

/* Where a transfer goes: indices of instructions, then numbers of blocks. */
struct jumps {
    uint32_t count;
    uint32_t *to;
};

/* What the text of a transfer's operands says. */
struct transfer {
    bool has_predicate, negated;
    uint16_t reg;
    const struct operand *through;
};

/* Where the BSSYs send the threads: for each barrier register a chain, in the order of the code. */
struct gathering {
    struct map first, last; /* barrier register -> link */
    struct link {
        uint32_t target, next; /* 0: none */
    } *links;
    size_t count, capacity;
};

static bool transfers(uint8_t kind)
{
    return kind >= KIND_BRANCH && kind <= KIND_COLLECTIVE;
}

static const char *operand_text(const struct instruction *code)
{
    return text_of(code->decoded->text);
}

/* The next part between these separators that is not empty; false after the last. */
static bool next_part(const char **at, const char *end, const char *separators, const char **part, size_t *length)
{
    const char *start = *at, *after;

    while (start < end && (strchr(separators, *start) || isspace((unsigned char)*start)))
        start++;
    for (after = start; after < end && !strchr(separators, *after);)
        after++;
    *at = after;
    while (after > start && isspace((unsigned char)after[-1]))
        after--;
    *part = start;
    *length = (size_t)(after - start);
    return *length > 0;
}

static void read_predicate(const char *text, struct transfer *transfer)
{
    const char *at = text, *end = text + strcspn(text, "`"), *part;
    size_t length;

    while (!transfer->has_predicate && next_part(&at, end, " ,", &part, &length)) {
        bool negated = part[0] == '!', uniform;

        part += negated, length -= negated;
        uniform = length > 0 && part[0] == 'U';
        part += uniform, length -= uniform;
        if (length != 2 || part[0] != 'P' || !(isdigit((unsigned char)part[1]) || (part[1] == 'T' && negated)))
            continue;
        transfer->has_predicate = true;
        transfer->negated = negated;
        if (part[1] != 'T') /* !UPT: never; ptxas writes such branches around asynchronous stores */
            transfer->reg = (uint16_t)((uniform ? FIRST_UP : FIRST_P) + part[1] - '0');
    }
}

/* The first operand; a space may stand where other instructions have a comma. */
static const struct operand *read_through(const struct decoded *decoded)
{
    const char *text = text_of(decoded->text), *at = text, *part;
    const struct decoded *alone;
    size_t length;

    if (!next_part(&at, text + strlen(text), decoded->opcode->kind == KIND_CALL ? " ,`" : " ,", &part, &length))
        return NULL;
    alone = decode(decoded->opcode, part, length);
    return alone->count ? &alone->operands[0] : NULL;
}

/* Read once for each text; the pointer holds until the next call. */
static const struct transfer *transfer_of(const struct decoded *decoded)
{
    static struct map numbers;
    static struct transfer *transfers;
    static size_t count, capacity;
    struct transfer read = {.reg = NO_REGISTER};
    uint32_t number;

    if (map_get(&numbers, (uintptr_t)decoded, &number))
        return &transfers[number];
    read_predicate(text_of(decoded->text), &read);
    if (decoded->opcode->kind == KIND_CALL || decoded->opcode->kind == KIND_INDEXED_BRANCH)
        read.through = read_through(decoded);
    transfers = grown(transfers, &capacity, count + 1, sizeof(*transfers));
    transfers[count] = read;
    map_put(&numbers, (uintptr_t)decoded, (uint32_t)count);
    return &transfers[count++];
}

bool extra_predicate(const struct instruction *code, uint16_t *reg, bool *negated, bool *always)
{
    const struct transfer *transfer = transfer_of(code->decoded);

    *reg = transfer->reg;
    *negated = transfer->negated;
    *always = false; /* PT alone does not count as a predicate here */
    return transfer->has_predicate;
}

const struct operand *transfer_register(const struct instruction *code)
{
    return transfer_of(code->decoded)->through;
}

/* BRX R6 -0x110 counts from after itself; in an object file the distance is "`(((.text.kernel - .) - 0x10))", to the section. */
bool indexed_target(const struct instruction *code, uint32_t held, uint32_t *target)
{
    const char *at = operand_text(code), *section = strstr(at, "`(((.text.");
    uint32_t distance;
    char *end;

    at += strcspn(at, " ");
    at += strspn(at, " ");
    if (!section) {
        bool back = *at == '-';

        distance = (uint32_t)strtoul(at + back, &end, 16);
        if (end == at + back)
            return false;
        *target = held + code->offset + INSTRUCTION_BYTES + (back ? 0u - distance : distance);
        return true;
    }
    *target = held;
    return section == at && strstr(section, " - .) - 0x10))");
}

/* BRA.DIV and BRA.CONV jump as the warp happens to be, not by a predicate. */
bool is_divergent_jump(const struct instruction *code)
{
    uint32_t parts = code->decoded->opcode->parts;

    return parts & (PART_DIV | PART_CONV) || (parts & PART_ANY && !code->guarded);
}

/* Where each transfer goes ---------------------------------------------------------------------------------------- */

/* The label in `(label); 0 if there is none. */
static name label_in(const char *text)
{
    while ((text = strstr(text, "`("))) {
        size_t length = strcspn(text += 2, "()");

        if (length && text[length] == ')')
            return name_of(text, length);
    }
    return 0;
}

static bool label_index(const struct section *section, const struct instruction *code, uint32_t *index)
{
    name label = label_in(operand_text(code));

    return label && map_get(&section->labels, label, index);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* B and digits, as a word of its own; 0 if there is none. */
static name barrier_register(const char *text)
{
    for (const char *at = text; (at = strchr(at, 'B')); at++) {
        size_t digits = strspn(at + 1, "0123456789");

        if (digits && (at == text || !in_word(at[-1])) && !in_word(at[1 + digits]))
            return name_of(at, 1 + digits);
    }
    return 0;
}

static void gather(struct gathering *gathering, name barrier, uint32_t target)
{
    uint32_t last, number = (uint32_t)++gathering->count; /* link 0 stays empty */

    gathering->links = grown(gathering->links, &gathering->capacity, gathering->count + 1, sizeof(struct link));
    gathering->links[number] = (struct link){target, 0};
    if (map_get(&gathering->last, barrier, &last))
        gathering->links[last].next = number;
    else
        map_put(&gathering->first, barrier, number);
    map_put(&gathering->last, barrier, number);
}

static void gather_reconvergence(const struct section *section, struct gathering *gathering)
{
    name opcode = name_of_text("BSSY");

    map_clear(&gathering->first);
    map_clear(&gathering->last);
    gathering->count = 0;
    for (uint32_t index = 0; index < section->count; index++) {
        const struct instruction *code = &section->code[index];
        uint32_t target;
        name barrier;

        if (code->decoded->opcode->base != opcode)
            continue;
        barrier = barrier_register(operand_text(code));
        if (barrier && label_index(section, code, &target))
            gather(gathering, barrier, target);
    }
}

/* To where its BSSYs say, those after this instruction if there are any; nowhere, if control just goes on. */
static void reconvergence(const struct section *section, const struct gathering *gathering, uint32_t index, struct jumps *jumps)
{
    name barrier = barrier_register(operand_text(&section->code[index]));
    const struct link *links = gathering->links;
    uint32_t first, count = 0, ahead = 0;

    if (!barrier || !map_get(&gathering->first, barrier, &first))
        return;
    for (uint32_t at = first; at; at = links[at].next) {
        if (links[at].target == index + 1)
            return;
        count++;
        ahead += links[at].target > index;
    }
    count = ahead ? ahead : count;
    count = count < MOST_TARGETS ? count : MOST_TARGETS;
    jumps->to = allocate(count * sizeof(*jumps->to));
    for (uint32_t at = first; at && jumps->count < count; at = links[at].next) {
        if (!ahead || links[at].target > index)
            jumps->to[jumps->count++] = links[at].target;
    }
}

static int compare_indices(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static void sort_once_each(struct jumps *jumps)
{
    uint32_t kept = 0;

    if (jumps->count)
        qsort(jumps->to, jumps->count, sizeof(*jumps->to), compare_indices);
    for (uint32_t at = 0; at < jumps->count; at++) {
        if (!kept || jumps->to[at] != jumps->to[kept - 1])
            jumps->to[kept++] = jumps->to[at];
    }
    jumps->count = kept;
}

/* The labels in the annotation that nvdisasm gives to an indexed branch. */
static void listed_targets(const struct section *section, uint32_t index, struct jumps *jumps)
{
    static const char head[] = "BRANCH_TARGETS ";
    const char *at = strstr(operand_text(&section->code[index]), head), *end, *part;
    size_t capacity = 0, length;
    uint32_t target;

    end = at ? strchr(at += sizeof(head) - 1, '"') : NULL;
    while (end && next_part(&at, end, ",", &part, &length)) {
        if (!map_get(&section->labels, name_of(part, length), &target))
            continue;
        jumps->to = grown(jumps->to, &capacity, (size_t)jumps->count + 1, sizeof(*jumps->to));
        jumps->to[jumps->count++] = target;
    }
    sort_once_each(jumps);
}

/* A collective section is executed in line, up to its ENDCOLLECTIVE just before the target. */
static bool runs_through(const struct section *section, uint32_t index, uint32_t target)
{
    name end = name_of_text("ENDCOLLECTIVE");

    if (target <= index || target > index + COLLECTIVE_REACH)
        return false;
    for (uint32_t at = index; at < target; at++) {
        if (section->code[at].decoded->opcode->text == end)
            return true;
    }
    return false;
}

static struct jumps targets_of(const struct section *section, const struct gathering *gathering, uint32_t index)
{
    const struct instruction *code = &section->code[index];
    struct jumps jumps = {0};
    uint32_t target;

    if (code->kind == KIND_RECONVERGE) {
        reconvergence(section, gathering, index, &jumps);
    } else if (code->kind == KIND_INDEXED_BRANCH) {
        listed_targets(section, index, &jumps);
    } else if (code->kind == KIND_BRANCH || code->kind == KIND_COLLECTIVE) {
        if (label_index(section, code, &target) && (code->kind == KIND_BRANCH || !runs_through(section, index, target))) {
            jumps.to = allocate(sizeof(*jumps.to));
            jumps.to[jumps.count++] = target;
        }
    }
    return jumps;
}

/* Blocks ---------------------------------------------------------------------------------------------------------- */

static void list_notable(struct section *section)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < section->count; index++)
        count += section->code[index].kind != KIND_PLAIN;
    section->notable = allocate((count + 1) * sizeof(*section->notable));
    for (uint32_t index = 0; index < section->count; index++) {
        if (section->code[index].kind != KIND_PLAIN)
            section->notable[section->notable_count++] = index;
    }
}

/* Of each notable instruction; those that transfer nothing have none. */
static struct jumps *all_jumps(const struct section *section)
{
    static struct gathering gathering;
    static struct jumps *jumps;
    static size_t capacity;

    gather_reconvergence(section, &gathering);
    jumps = grown(jumps, &capacity, (size_t)section->notable_count + 1, sizeof(*jumps));
    for (uint32_t at = 0; at < section->notable_count; at++) {
        uint32_t index = section->notable[at];

        jumps[at] = (struct jumps){0};
        if (transfers(section->code[index].kind))
            jumps[at] = targets_of(section, &gathering, index);
    }
    return jumps;
}

/* What may have a guard and so part two states: threads that waited or met others from those that did not. */
static bool parts(const struct instruction *instruction)
{
    uint8_t kind = instruction->kind;

    return kind == KIND_WAIT || kind == KIND_MBARRIER || (instruction->guarded && (kind == KIND_BARRIER || kind == KIND_CLUSTER_BARRIER));
}

/* A block starts at the first instruction, at labels and targets, after transfers, and after what separates two states.
 * leads: of each index and of the one after the last. */
static void mark_leaders(const struct section *section, const struct jumps *jumps, bool *leads)
{
    leads[0] = true;
    for (size_t at = 0; at < section->labels.capacity; at++) {
        if (section->labels.keys[at])
            leads[section->labels.values[at]] = true;
    }
    for (uint32_t at = 0; at < section->notable_count; at++) {
        uint32_t index = section->notable[at];

        if (transfers(section->code[index].kind) || parts(&section->code[index]))
            leads[index + 1] = true;
        for (uint32_t n = 0; n < jumps[at].count; n++)
            leads[jumps[at].to[n]] = true;
    }
}

static void cut(struct section *section, const struct jumps *jumps)
{
    static bool *leads;
    static size_t capacity;
    uint32_t count = 0, number = 0;

    leads = grown(leads, &capacity, (size_t)section->count + 1, sizeof(*leads));
    memset(leads, 0, (size_t)section->count + 1);
    mark_leaders(section, jumps, leads);
    for (uint32_t index = 0; index < section->count; index++)
        count += leads[index];
    section->blocks = allocate(count * sizeof(*section->blocks));
    section->block_of = allocate(section->count * sizeof(*section->block_of));
    section->block_count = count;
    for (uint32_t index = 0; index < section->count; index++) {
        if (leads[index] && index)
            number++;
        if (leads[index])
            section->blocks[number].start = index;
        section->blocks[number].end = index + 1;
        section->block_of[index] = number;
    }
}

static void jump_to_blocks(const struct section *section, struct jumps found, struct block *block)
{
    block->jumps = found.to;
    for (uint32_t n = 0; n < found.count; n++) {
        if (found.to[n] < section->count) /* a label after the last instruction leads nowhere */
            block->jumps[block->jump_count++] = section->block_of[found.to[n]];
    }
}

static name callee_of(const char *text)
{
    const char *at = text + (text[0] == 'U');

    return at[0] == 'R' && at[1] >= '0' && at[1] <= '9' ? 0 : label_in(text);
}

static bool is_conditional(const struct instruction *code)
{
    bool guarded = code->guarded && (code->guard != NO_REGISTER || code->guard_negated);

    return guarded || transfer_of(code->decoded)->has_predicate;
}

static bool falls_through(const struct instruction *code, const struct block *block)
{
    switch (code->kind) {
    case KIND_RECONVERGE:
        return !block->jump_count;
    case KIND_CALL:
    case KIND_COLLECTIVE:
        return true;
    case KIND_INDEXED_BRANCH: /* its operands name what it goes by, no condition */
        return code->guarded && (code->guard != NO_REGISTER || code->guard_negated);
    case KIND_BRANCH:
        return is_conditional(code) || is_divergent_jump(code);
    default:
        return is_conditional(code);
    }
}

static void connect(struct section *section, const struct jumps *jumps)
{
    uint32_t notable = 0;

    for (uint32_t number = 0; number < section->block_count; number++) {
        struct block *block = &section->blocks[number];
        const struct instruction *code = &section->code[block->end - 1];
        int32_t after = number + 1 < section->block_count ? (int32_t)(number + 1) : NO_BLOCK;

        if (!transfers(code->kind)) {
            block->falls = after;
            continue;
        }
        while (section->notable[notable] != block->end - 1)
            notable++;
        block->last = code->kind;
        jump_to_blocks(section, jumps[notable], block);
        block->calls = code->kind == KIND_CALL;
        block->callee = block->calls ? callee_of(operand_text(code)) : 0;
        block->unresolved = code->kind == KIND_INDEXED_BRANCH && !block->jump_count;
        block->falls = falls_through(code, block) ? after : NO_BLOCK;
    }
}

/* Order and loops ------------------------------------------------------------------------------------------------- */

/* One walk through all blocks, without recursion: they are done in the reverse of their order, and those on a cycle make
 * a component (Tarjan). */
struct walk {
    struct block *blocks;
    struct visit {
        uint32_t number, low; /* number 0: not seen yet */
        uint32_t next;        /* successor to look at */
        bool open;            /* its component is not complete */
    } *visits;
    uint32_t *path, *open;
    uint32_t depth, open_count, seen, done;
};

static void enter(struct walk *walk, uint32_t block)
{
    struct visit *visit = &walk->visits[block];

    visit->number = visit->low = ++walk->seen;
    visit->open = true;
    walk->path[walk->depth++] = block;
    walk->open[walk->open_count++] = block;
}

static void close_component(struct walk *walk, uint32_t top)
{
    const struct block *first = &walk->blocks[top];
    bool cycle = walk->open[walk->open_count - 1] != top;
    uint32_t member;

    for (uint32_t n = 0; n < successor_count(first); n++)
        cycle |= successor(first, n) == top;
    do {
        member = walk->open[--walk->open_count];
        walk->visits[member].open = false;
        walk->blocks[member].in_loop = cycle;
    } while (member != top);
}

static void lower(struct visit *visit, uint32_t low)
{
    if (low < visit->low)
        visit->low = low;
}

static void leave(struct walk *walk)
{
    uint32_t block = walk->path[--walk->depth];
    const struct visit *visit = &walk->visits[block];

    walk->blocks[block].order = walk->done++;
    if (visit->low == visit->number)
        close_component(walk, block);
    if (walk->depth)
        lower(&walk->visits[walk->path[walk->depth - 1]], visit->low);
}

static void walk_from(struct walk *walk, uint32_t start)
{
    enter(walk, start);
    while (walk->depth) {
        uint32_t at = walk->path[walk->depth - 1], next;
        struct visit *visit = &walk->visits[at];

        if (visit->next == successor_count(&walk->blocks[at])) {
            leave(walk);
            continue;
        }
        next = successor(&walk->blocks[at], visit->next++);
        if (!walk->visits[next].number)
            enter(walk, next);
        else if (walk->visits[next].open)
            lower(visit, walk->visits[next].number);
    }
}

static void order_blocks(struct section *section)
{
    static struct visit *visits;
    static uint32_t *path, *open;
    static size_t visit_capacity, path_capacity, open_capacity;
    struct walk walk = {.blocks = section->blocks};
    uint32_t count = section->block_count;

    walk.visits = visits = grown(visits, &visit_capacity, count, sizeof(*visits));
    walk.path = path = grown(path, &path_capacity, count, sizeof(*path));
    walk.open = open = grown(open, &open_capacity, count, sizeof(*open));
    memset(visits, 0, count * sizeof(*visits));
    for (uint32_t number = 0; number < count; number++) {
        if (!visits[number].number)
            walk_from(&walk, number);
    }
    for (uint32_t number = 0; number < count; number++)
        section->blocks[number].order = count - section->blocks[number].order;
    for (uint32_t number = 0; number < count; number++) {
        const struct block *block = &section->blocks[number];

        for (uint32_t n = 0; n < successor_count(block); n++) {
            struct block *next = &section->blocks[successor(block, n)];
            next->heads_loop |= next->order <= block->order;
        }
    }
}

void cut_into_blocks(struct section *section)
{
    const struct jumps *jumps;

    if (!section->count)
        return;
    list_notable(section);
    jumps = all_jumps(section);
    cut(section, jumps);
    connect(section, jumps);
    order_blocks(section);
}
