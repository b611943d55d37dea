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

/* Those of marked memory stay when all are dropped next. */
static void keep_marked_lines(struct sm *sm, enum mark mark)
{
    for (unsigned i = 0; i < LINES; i++)
        if (sm->cached[i].generation == sm->cached_generation && memory_is_marked(mark, sm->cached[i].tag * (LINE_BYTES / 8)))
            sm->cached[i].generation += 2;
}

void lines_stay(struct sm *sm)
{
    if (device.faults.wait_keeps_named_lines)
        keep_marked_lines(sm, MARK_NAMED);
    if (device.faults.wait_keeps_pooled_lines)
        keep_marked_lines(sm, MARK_POOLED);
    if (device.faults.wait_keeps_graph_memory)
        keep_marked_lines(sm, MARK_OF_GRAPH);
}

static struct line *line_at(const void *p)
{
    return &device.sm[device.current->block->sm].cached[(memory_word(p) >> 2) & (LINES - 1)];
}

const uint64_t *line_held(const void *p)
{
    const struct line *l = line_at(p);
    const struct store_buffer *b = device.current->block->stores;
    uint32_t word = memory_word(p);
    unsigned slot = word & (STORE_SLOTS - 1);
    if ((b->used >> slot & 1) != 0 && b->slot[slot].word == word)
        return NULL;
    return l->tag == word >> 2 && l->generation == device.sm[device.current->block->sm].cached_generation ? &l->data[word & 3] : NULL;
}

void line_stays(const void *p)
{
    struct line *l = line_at(p);
    uint32_t generation = device.sm[device.current->block->sm].cached_generation;
    if (l->tag == memory_word(p) >> 2 && l->generation == generation - 1)
        l->generation = generation;
}
