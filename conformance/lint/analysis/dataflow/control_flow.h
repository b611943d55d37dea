/* What the files that read a listing share: blocks are made once all instructions and labels of a section are there. */
#ifndef PDL_LINT_FLOW_H
#define PDL_LINT_FLOW_H

#include "analysis.h"

void cut_into_blocks(struct section *);

/* Where a block can go: the block after it first, then its jumps. */
static inline uint32_t successor_count(const struct block *block)
{
    return block->jump_count + (block->falls != NO_BLOCK);
}

static inline uint32_t successor(const struct block *block, uint32_t which)
{
    if (block->falls == NO_BLOCK)
        return block->jumps[which];
    return which ? block->jumps[which - 1] : (uint32_t)block->falls;
}

#endif
