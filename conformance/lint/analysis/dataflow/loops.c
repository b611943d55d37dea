/* The first turn of a loop: kernels that work on several tiles often wait with the first one only.
 *
 * Where a loop holds a wait, paths that have gone round it are kept apart from those in its first turn. Then whatever says
 * "first" (a flag, a count, a tile's number, a pointer) is known on the first turn, because nothing has been joined yet.
 */
#include "dataflow/control_flow.h"
#include "dataflow/dataflow.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 64, MOST_NESTED = 6, UNSEEN = 0 };

static unsigned loops_numbered; /* of the kernel and what it calls: a bit of `turns` each */
static uint32_t kernels_begun;

void loops_begin(void)
{
    kernels_begun++;
    loops_numbered = 0;
}

/* One search for cycles among the blocks whose depth is at least `depth` (Tarjan, without recursion). */
struct search {
    struct section *section;
    uint8_t *depth; /* of each block: in how many loops found so far, less those that it is the head of */
    uint8_t least;
    uint32_t *number, *low, *next, *path, *open;
    bool *is_open;
    uint32_t path_count, open_count, seen;
};

/* A wait, or a call that may lead to one. */
static bool may_wait(const struct section *section, const struct block *block)
{
    if (block->calls) {
        struct target target = block->callee ? resolve((struct section *)section, block->callee) : (struct target){0};
        if (target.section == NULL)
            return block->callee == 0;
        return target.section == section || closure_kinds(target.section->name) >> KIND_WAIT & 1;
    }
    for (uint32_t i = block->start; i < block->end; i++)
        if (section->code[i].kind == KIND_WAIT)
            return true;
    return false;
}

/* The block of the cycle that is entered from outside; of several the one that comes first. */
static uint32_t head_of(const struct search *search, const uint32_t *members, uint32_t count, const bool *inside)
{
    const struct section *section = search->section;
    uint32_t head = members[0];
    bool entered = false;
    for (uint32_t i = 0; i < count; i++)
        if (section->blocks[members[i]].order < section->blocks[head].order)
            head = members[i];
    for (uint32_t from = 0; from < section->block_count; from++) {
        const struct block *block = &section->blocks[from];
        for (uint32_t n = 0; n < successor_count(block) && !inside[from]; n++) {
            uint32_t to = successor(block, n);
            if (!inside[to] || (entered && section->blocks[to].order >= section->blocks[head].order))
                continue;
            head = to;
            entered = true;
        }
    }
    return head;
}

static void note_loop(struct search *search, const uint32_t *members, uint32_t count)
{
    struct section *section = search->section;
    bool waits = false, *inside = allocate(section->block_count);
    for (uint32_t i = 0; i < count; i++) {
        waits = waits || may_wait(section, &section->blocks[members[i]]);
        inside[members[i]] = true;
    }
    if (waits && loops_numbered < MOST_LOOPS) {
        uint64_t bit = (uint64_t)1 << loops_numbered++;
        uint32_t head = head_of(search, members, count, inside);
        section->blocks[head].heads_turns |= bit;
        for (uint32_t i = 0; i < count; i++) {
            section->blocks[members[i]].in_turns |= bit;
            search->depth[members[i]] += members[i] != head;
        }
    }
    free(inside);
}

static void open_block(struct search *search, uint32_t block)
{
    search->number[block] = search->low[block] = ++search->seen;
    search->next[block] = 0;
    search->is_open[block] = true;
    search->path[search->path_count++] = block;
    search->open[search->open_count++] = block;
}

static void close_block(struct search *search)
{
    uint32_t block = search->path[--search->path_count], first = search->open_count;
    if (search->path_count) {
        uint32_t *low = &search->low[search->path[search->path_count - 1]];
        *low = search->low[block] < *low ? search->low[block] : *low;
    }
    if (search->low[block] != search->number[block])
        return;
    do
        search->is_open[search->open[--first]] = false;
    while (search->open[first] != block);
    uint32_t count = search->open_count - first;
    bool cycle = count > 1;
    const struct block *only = &search->section->blocks[block];
    for (uint32_t n = 0; n < successor_count(only); n++)
        cycle = cycle || successor(only, n) == block;
    if (cycle)
        note_loop(search, search->open + first, count);
    search->open_count = first;
}

static void search_from(struct search *search, uint32_t start)
{
    open_block(search, start);
    while (search->path_count) {
        uint32_t block = search->path[search->path_count - 1];
        if (search->next[block] == successor_count(&search->section->blocks[block])) {
            close_block(search);
            continue;
        }
        uint32_t to = successor(&search->section->blocks[block], search->next[block]++);
        if (search->depth[to] < search->least)
            continue;
        if (search->number[to] == UNSEEN)
            open_block(search, to);
        else if (search->is_open[to] && search->number[to] < search->low[block])
            search->low[block] = search->number[to];
    }
}

/* Loops, then the loops inside them, which are what is left of their cycles without their heads. */
void find_loops(struct section *section)
{
    uint32_t count = section->block_count;
    if (section->knows_loops_of == kernels_begun || count == 0)
        return;
    section->knows_loops_of = kernels_begun;
    for (uint32_t block = 0; block < count; block++)
        section->blocks[block].in_turns = section->blocks[block].heads_turns = 0;
    struct search search = {.section = section, .depth = allocate(count), .is_open = allocate(count)};
    uint32_t *words = allocate((size_t)count * 5 * sizeof *words);
    search.number = words;
    search.low = words + count;
    search.next = words + 2 * (size_t)count;
    search.path = words + 3 * (size_t)count;
    search.open = words + 4 * (size_t)count;
    unsigned before = loops_numbered + 1;
    for (search.least = 0; search.least < MOST_NESTED && loops_numbered != before; search.least++) {
        before = loops_numbered;
        memset(search.number, 0, count * sizeof *search.number);
        search.seen = 0;
        for (uint32_t block = 0; block < count; block++)
            if (search.number[block] == UNSEEN && search.depth[block] >= search.least)
                search_from(&search, block);
    }
    free(words);
    free(search.depth);
    free(search.is_open);
}

/* The block that a path comes from, in the target's section; for the return of a call that is the block of the call. */
static const struct block *came_from(const struct node_state *from, const struct node_state *target)
{
    if (from->context == target->context && from->section == target->section)
        return &from->section->blocks[from->block];
    const struct block *before = target->block ? &target->section->blocks[target->block - 1] : NULL;
    bool returns = before != NULL && before->calls && before->falls == (int32_t)target->block;
    return returns && from->section->blocks[from->block].last == KIND_RETURN ? before : NULL;
}

uint64_t turns_after(node_id from, node_id target, uint64_t turns)
{
    const struct node_state *to = &now.nodes[target];
    const struct block *block = &to->section->blocks[to->block], *last = came_from(&now.nodes[from], to);
    if (last == NULL)
        return turns & ~block->heads_turns;
    uint64_t left = last->in_turns & ~block->in_turns, entered = block->in_turns & ~last->in_turns;
    return (turns & ~left & ~entered) | (block->heads_turns & last->in_turns);
}
