/* Fences, releases and acquires, and what they leave undone on broken devices. */
#include "machine.h"

/* Whether a word lies so far in memory that some devices treat it otherwise. */
bool is_far(uint32_t word)
{
    return word >= (64u << 20) / 8;
}

bool store_is_lost(uint32_t word)
{
    if ((device.faults.managed_stores_lost && memory_is_marked(MARK_MANAGED, word)) ||
        (device.faults.combined_stores_lost && memory_is_marked(MARK_COMBINED, word)))
        return true;
    return (device.faults.far_stores_lost && is_far(word)) || (device.faults.stores_beyond_4g_lost && word >= ((uint64_t)4 << 30) / 8);
}

/* Devices on which a fence does nothing in some launches */
static bool fence_is_lost(const struct thread *t)
{
    const struct faults *f = &device.faults;
    const struct op *op = t->block->op;
    if (op_is_hinted(op, &f->fence_lost) || (f->later_round_fence_lost && op->later_round))
        return true;
    return (f->fence_not_in_domains && op->domain != 0) || (f->fence_not_in_clusters && op->grid->cluster > 1) ||
           (f->fence_not_in_cooperative && op->grid->cooperative) || (f->fence_not_in_layers && (op->features & HAS(gridz))) ||
           (f->fence_not_in_rows && (op->features & HAS(gridy))) || (f->fence_not_in_bodies && (op->features & HAS(body))) ||
           (f->fence_not_in_graphs && (op->features & HAS(graph))) || (f->fence_not_again && (op->features & HAS(again))) ||
           (f->fence_not_in_children && (op->features & HAS(child))) || (f->fence_not_in_captured && (op->features & HAS(captured))) ||
           (f->fence_not_with_long_args && has_long_args(op->grid)) || (f->fence_not_after_wait && t->waits > 0) ||
           (f->waited_fence_lost_in_graphs && t->waits > 0 && (op->features & HAS(graph))) || (f->fence_17_lost && t->fences > 16) ||
           (f->attributed_fence_lost_in_rows && op->attributed && (op->features & HAS(gridy))) ||
           (f->fence_lost_in_clusters_of_domains && op->domain != 0 && op->grid->cluster > 1) ||
           (f->legacy_fence_lost && (op->features & HAS(legacy))) ||
           (f->fence_of_late_threads_lost && t->index >= 16 && t->block->stores->epoch != 0) ||
           (f->fence_not_in_late_blocks && t->block->index >= 64);
}

static bool is_narrow(const struct store *s) /* of one or two bytes */
{
    return __builtin_popcount(s->bytes) <= 2;
}

/* Words that a fence leaves behind on broken devices; taken: so many have gone before. */
static bool fence_leaves(const struct store *s, unsigned taken)
{
    const struct faults *f = &device.faults;
    return (f->fence_takes_eight && taken >= 8) || (f->fence_takes_24 && taken >= 24) || (f->fence_leaves_far_words && is_far(s->word)) ||
           (f->fence_leaves_narrow && is_narrow(s)) || (f->fence_leaves_wide && s->wide);
}

/* The same of a release */
static bool release_leaves(const struct thread *t, const struct store *s)
{
    const struct faults *f = &device.faults;
    return f->release_is_relaxed || (f->untriggered_release_lost && !t->block->triggered) || (f->release_before_wait_late && before_open_wait(t)) ||
           (f->release_leaves_narrow && is_narrow(s)) || (f->release_leaves_wide && s->wide);
}

/* Whether one other thread stored the word, before a barrier of its block, of all threads or of some. */
static bool before_barrier(const struct store *s, const struct store_buffer *b, bool by_all_only)
{
    return s->thread != MODEL_MAX_THREADS && (s->epoch != b->epoch || (s->named != b->named && !by_all_only));
}

/* Drops what the SM has cached; keeps: not on this broken device. own: only what the block itself has brought in. */
static void drop_lines(const struct block *block, bool keeps, bool own)
{
    struct sm *sm = &device.sm[block->sm];
    sm->fenced = sm->cached_generation;
    if (own)
        drop_lines_of(sm, block->stores->owner, false);
    else if (!keeps)
        memory_drop_lines(sm, false);
}

static bool fence_keeps_lines(const struct thread *t)
{
    const struct faults *f = &device.faults;
    return f->fence_keeps_lines || (f->late_fence_keeps_lines && t->block->index >= 16) || (f->triggered_fence_keeps_lines && t->block->triggered) ||
           (f->second_fence_keeps_lines && t->fences > 1) || (f->fence_33_keeps_lines && t->fences > 32);
}

void fence_and_keep(bool lines)
{
    memory_access_point();
    struct thread *t = device.current;
    struct store_buffer *b = t->block->stores;
    unsigned taken = 0;
    t->fences++;
    if (fence_is_lost(t))
        return;
    uint64_t fenced = device.faults.fence_before_wait_late && before_open_wait(t) ? 0 : b->used;
    for (uint64_t left = fenced; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        const struct store *s = &b->slot[slot];
        bool shared = s->thread == MODEL_MAX_THREADS && !device.faults.fence_leaves_shared_words;
        bool older = before_barrier(s, b, device.faults.fence_leaves_past_named) && !device.faults.fence_leaves_other_threads &&
                     !(device.faults.fence_leaves_past_barriers && s->epoch + 1 < b->epoch);
        if ((s->thread == t->index || shared || older) && !fence_leaves(s, taken))
            memory_drain(b, slot), taken++;
    }
    drop_lines(t->block, lines || fence_keeps_lines(t), device.faults.fence_drops_own_lines);
}

void model_fence(void)
{
    fence_and_keep(false);
}

/* Makes visible what the thread has stored, alone or with others, and what others had before a barrier: all but what broken devices leave. */
static void release_stores(const struct thread *t)
{
    struct store_buffer *b = t->block->stores;
    for (uint64_t left = b->used; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        const struct store *s = &b->slot[slot];
        bool older = before_barrier(s, b, device.faults.release_leaves_past_named) && !device.faults.release_leaves_other_threads;
        if ((s->thread == t->index || s->thread == MODEL_MAX_THREADS || older) && !release_leaves(t, s))
            memory_drain(b, slot);
    }
}

void model_store32_release(void *p, uint32_t value)
{
    memory_access_point();
    device.current->used |= USED_RELEASE;
    release_stores(device.current);
    model_store32_relaxed(p, value);
}

void model_atomic_add32_release(void *p, uint32_t value)
{
    memory_access_point();
    device.current->used |= USED_RELEASE;
    if (!device.faults.release_of_add_lost)
        release_stores(device.current);
    bool merged = device.faults.release_adds_merged && device.current->index % 32 > 1;
    if (!merged && !device.faults.release_adds_nothing)
        (void)model_atomic_add32(p, value);
}

uint32_t model_load32_acquire(const void *p)
{
    uint32_t value = model_load32(p, MODEL_LD_RELAXED);
    const struct faults *f = &device.faults;
    bool again = device.current->acquires++ != 0, keeps = f->acquire_33_keeps_lines && device.current->acquires > 32;
    device.current->used |= USED_ACQUIRE;
    drop_lines(device.current->block, keeps || f->acquire_keeps_lines || (f->second_acquire_keeps_lines && again), f->acquire_drops_own_lines);
    return value;
}
