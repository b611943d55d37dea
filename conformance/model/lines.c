/* Lines of an SM's caches, for the broken devices: who brought them in, and who stands there. */
#include "api.h"

bool others_were_there(struct block *block)
{
    uint64_t *sms = &block->op->grid->began_on[block->sm / 64], bit = UINT64_C(1) << block->sm % 64;
    bool were = (*sms & bit) != 0;
    *sms |= bit;
    return were;
}

bool others_stand_there(const struct block *block)
{
    for (unsigned i = block->sm; i < workers(); i += device.sms)
        if (device.block[i].op != NULL && device.block[i].op != block->op)
            return true;
    return false;
}

void drop_lines_of(struct sm *sm, uint64_t owner, bool of_grid)
{
    unsigned shift = of_grid ? 8 : 0;
    for (unsigned i = 0; i < LINES; i++) {
        if (sm->cached[i].by >> shift == owner >> shift)
            sm->cached[i].generation = 0;
        if (sm->read_only[i].by >> shift == owner >> shift)
            sm->read_only[i].generation = 0;
    }
}

static bool is_narrow(unsigned bytes) /* one or two */
{
    return __builtin_popcount(bytes) <= 2;
}

bool finds_dropped_line(const struct sm *sm, uint32_t word, unsigned bytes, uint64_t *found)
{
    const struct faults *f = &device.faults;
    const struct line *l = &sm->cached[(word >> 2) & (LINES - 1)];
    bool held = l->tag == word >> 2 && (sm->cached_generation - l->generation) % 2 == 0; /* not filled since, nor dropped alone */
    bool by_fence = held && l->generation == sm->fenced;
    *found = l->data[word & 3];
    return (held && f->narrow_load_keeps_lines && is_narrow(bytes)) || (by_fence && f->fenced_narrow_load_keeps_lines && is_narrow(bytes)) ||
           (by_fence && f->fenced_wide_load_keeps_lines && bytes == WHOLE_WORD);
}
