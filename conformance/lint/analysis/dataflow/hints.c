/* Hints: what the graph of a kernel's own section shows of its waits and triggers; nothing of it is wrong by itself. */
#include <string.h>

#include "output/report.h"

enum { QUIET = 24, LOOKED_BACK = 6 }; /* a wait among the first so many instructions, with nothing ahead of it */

static uint8_t *seen; /* of each block; scratch */
static uint32_t *work;
static size_t seen_capacity, work_capacity;

static bool is_store(uint8_t kind)
{
    return kind == KIND_STORE || kind == KIND_GENERIC_STORE || kind == KIND_ATOMIC || kind == KIND_GENERIC_ATOMIC ||
           kind == KIND_ASYNC_STORE;
}

static void push_new(uint32_t block, size_t *count)
{
    if (!seen[block]) {
        seen[block] = 1;
        work[(*count)++] = block;
    }
}

static void push_successors(const struct block *block, size_t *count)
{
    uint32_t i;

    if (block->falls != NO_BLOCK)
        push_new((uint32_t)block->falls, count);
    for (i = 0; i < block->jump_count; i++)
        push_new(block->jumps[i], count);
}

/* Marks in `seen` the blocks that can run after block `start`; it is one of them only if it lies on a cycle. */
static void mark_after(const struct section *section, uint32_t start)
{
    size_t count = 0;

    seen = grown(seen, &seen_capacity, section->block_count, sizeof(*seen));
    work = grown(work, &work_capacity, section->block_count, sizeof(*work));
    memset(seen, 0, section->block_count);
    push_successors(&section->blocks[start], &count);
    while (count)
        push_successors(&section->blocks[work[--count]], &count);
}

static uint8_t kind_at(const struct section *section, uint32_t index) { return section->code[index].kind; }

static void wait_hints(const struct section *section, uint32_t first, uint32_t ahead, struct hints *hints)
{
    uint32_t i, start = section->block_of[first];

    for (i = ahead; i < section->notable_count && hints->wait_in_loop < 0; i++) {
        uint32_t at = section->notable[i];

        if (kind_at(section, at) == KIND_WAIT && section->blocks[section->block_of[at]].in_loop)
            hints->wait_in_loop = at;
    }
    if (first < QUIET && !ahead && start == 0)
        hints->wait_at_once = first;
    mark_after(section, start);
    for (i = 0; i < section->notable_count; i++) {
        uint32_t at = section->notable[i], block = section->block_of[at];
        unsigned times = (block == start && at >= first) + (unsigned)seen[block]; /* again, in the next round of a loop */

        if (times && section->code[at].decoded->opcode->readonly) {
            hints->read_only_count += times;
            if (hints->read_only < 0)
                hints->read_only = at;
        }
    }
}

/* Whether a fence stands just ahead of this trigger, the notable instruction number `ahead`, with no access between. */
static bool after_fence(const struct section *section, uint32_t ahead)
{
    uint32_t i;

    for (i = ahead; i > 0 && ahead - i < LOOKED_BACK; i--) {
        uint8_t kind = kind_at(section, section->notable[i - 1]);

        if (kind == KIND_FENCE)
            return true;
        if (kind_accesses(kind))
            return false;
    }
    return false;
}

static void trigger_hints(const struct section *section, uint32_t first, uint32_t ahead, struct hints *hints)
{
    uint32_t i, start = section->block_of[first];

    mark_after(section, start);
    for (i = 0; i < section->notable_count && hints->store_after_trigger < 0; i++) {
        uint32_t at = section->notable[i], block = section->block_of[at];

        if (((block == start && at > first) || seen[block]) && is_store(kind_at(section, at)))
            hints->store_after_trigger = at;
    }
    for (i = ahead; i < section->notable_count && hints->fence_then_trigger < 0; i++)
        if (kind_at(section, section->notable[i]) == KIND_TRIGGER && after_fence(section, i))
            hints->fence_then_trigger = section->notable[i];
}

struct hints hints_of(const struct section *section)
{
    struct hints hints = { -1, -1, -1, -1, -1, 0 };
    bool waits = false, triggers = false;
    uint32_t i;

    for (i = 0; i < section->notable_count && !(waits && triggers); i++) {
        uint32_t at = section->notable[i];

        if (kind_at(section, at) == KIND_WAIT && !waits) {
            waits = true;
            wait_hints(section, at, i, &hints);
        } else if (kind_at(section, at) == KIND_TRIGGER && !triggers) {
            triggers = true;
            trigger_hints(section, at, i, &hints);
        }
    }
    return hints;
}
