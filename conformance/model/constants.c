/* Constant memory: each SM has a cache for it, of which nothing is left when a block begins. */
#include "choices.h"

#include <string.h>

enum { CONSTANTS = 64 }; /* words that a name may have */

static struct { /* what the last copy or memset did that changed words of a name */
    bool part, from_device, set;
} moved;

struct constants { /* of an SM */
    const struct model_words *of;
    const struct model_kernel *kernel; /* whose block began there last */
    uint32_t word[CONSTANTS];
};
static struct constants cached[MODEL_MOST_SMS];

void constants_reset(void)
{
    memset(cached, 0, sizeof cached);
    memset(&moved, 0, sizeof moved);
}

/* Devices on which some blocks find there what others left */
static bool keeps(const struct op *op, const struct constants *c)
{
    const struct faults *f = &device.faults;
    if ((f->part_copy_keeps_constants && moved.part) || (f->device_copy_keeps_constants && moved.from_device) ||
        (f->set_keeps_constants && moved.set))
        return true;
    return (f->attributed_keeps_constants && op->attributed) || (f->graph_keeps_constants && (op->features & HAS(graph)) != 0) ||
           (f->clustered_keeps_constants && op->grid->cluster > 1) || (f->again_keeps_constants && op->grid->kernel == c->kernel);
}

void constants_block_begins(const struct block *block)
{
    struct constants *c = &cached[block->sm];
    if (!keeps(block->op, c))
        c->of = NULL;
    c->kernel = block->op->grid->kernel;
}

void constants_moved(const struct op *op)
{
    const struct move *m = &op->move;
    size_t bytes = named_words_at(m->to);
    if (bytes == 0)
        return;
    moved.set = op->kind == OP_SET;
    moved.part = op->kind == OP_COPY && m->bytes != bytes;
    moved.from_device = op->kind == OP_COPY && m->staging == NULL && memory_contains(m->from, 1) && !memory_is_pinned(m->from);
}

uint32_t model_load_constant(const struct model_words *words, unsigned index)
{
    struct constants *c = &cached[device.current->block->sm];
    memory_access_point();
    device.current->resting_since = 0;
    device.current->used |= USED_CONSTANT;
    if (c->of != words && words->p != NULL && !(c->of != NULL && device.faults.constant_names_mixed)) {
        c->of = words;
        memcpy(c->word, words->p, words->bytes < sizeof c->word ? words->bytes : sizeof c->word);
    }
    trace(c->word[index % CONSTANTS]);
    return c->word[index % CONSTANTS];
}
