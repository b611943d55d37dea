/* The registers that matter at the entry of each block, as liveness.c says, in the form that fixed_point.c copies and compares. */
#include "dataflow/dataflow.h"

#include <string.h>

static struct live **lives[ATTENTIONS]; /* by section: of each of its blocks */

static struct live live_in(const struct liveness *liveness, uint32_t block)
{
    struct live live = {.made = true};
    struct run runs[REGISTERS];
    uint16_t reg[REGISTERS];
    for (unsigned r = 0; r < REGISTERS; r++) {
        uint64_t word = liveness->any[block] ? UINT64_MAX : liveness->entering[block][r / 64] >> r % 64;
        if (!(word & 1)) {
            r = word ? r : r | 63; /* nothing more in this word */
            continue;
        }
        if (live.run_count == 0 || runs[live.run_count - 1].first + runs[live.run_count - 1].count != (int)r)
            runs[live.run_count++] = (struct run){(uint16_t)r, 0};
        runs[live.run_count - 1].count++;
        reg[live.count++] = (uint16_t)r;
    }
    live.runs = allocate(live.run_count * sizeof *runs);
    memcpy(live.runs, runs, live.run_count * sizeof *runs);
    live.reg = allocate(live.count * sizeof *reg + 1);
    memcpy(live.reg, reg, live.count * sizeof *reg);
    return live;
}

const struct live *live_of(struct section *section, uint32_t block)
{
    enum attention attention = attention_to(section);
    if (lives[attention] == NULL)
        lives[attention] = allocate(image.section_count * sizeof *lives[attention]);
    struct live **live = &lives[attention][section - image.sections];
    if (*live == NULL)
        *live = allocate(section->block_count * sizeof **live);
    if (!(*live)[block].made)
        (*live)[block] = live_in(liveness_of(section, attention), block);
    return &(*live)[block];
}
