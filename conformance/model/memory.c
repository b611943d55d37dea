/* Memory: the arena is the L2, which the host shares; in front of it a store buffer per block and two caches per SM.
 * model.h states the rules. Everything is indexed by offset in the arena, so that no choice depends on an address. */
#include "choices.h"
#include "drawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the arena: first fit, in granules ---- */

enum { GRANULE_SHIFT = 9, LARGE_BYTES = 1 << 20 };
#define ARENA_BYTES ((size_t)8 << 30)
#define SPARSE_BYTES ((size_t)1 << 30) /* so large an allocation stays as the host gives it, or it would take as much of its memory */
#define GRANULES (ARENA_BYTES >> GRANULE_SHIFT)

struct allocation {
    size_t at, bytes, asked; /* granule-sized; what the caller wanted */
    bool pinned;             /* host memory */
};
static unsigned char *arena, *granule_used;
static struct allocation *allocations; /* by address */
static size_t allocation_count, allocation_room, bytes_in_use;

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fputs("pdl model: cannot reserve device memory\n", stderr);
        abort();
    }
    return p;
}

static void buffers_reset(void);

void memory_reset(void)
{
    if (arena == NULL) {
        arena = reserve(ARENA_BYTES);
        granule_used = reserve(GRANULES);
    }
    for (size_t i = 0; i < allocation_count; i++)
        memset(granule_used + (allocations[i].at >> GRANULE_SHIFT), 0, allocations[i].bytes >> GRANULE_SHIFT);
    allocation_count = bytes_in_use = 0;
    for (unsigned i = 0; i < device.sms; i++) {
        device.sm[i].cached_generation = device.sm[i].read_only_generation = 1;
        memset(device.sm[i].cached, 0, sizeof device.sm[i].cached);
        memset(device.sm[i].read_only, 0, sizeof device.sm[i].read_only);
    }
    buffers_reset();
    memory_unmark_all();
    reductions_reset();
    constants_reset();
}

/* A process that forks often, as tests do, copies all that it has: whole pages that a large allocation filled go back. */
static void give_back(const struct allocation *a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (a->at + page - 1) / page * page, end = (a->at + a->bytes) / page * page;
    if (end > begin && a->bytes >= LARGE_BYTES)
        (void)madvise(arena + begin, end - begin, MADV_DONTNEED);
}

/* Its first and last bytes may share pages with others'. */
static void leave_sparse(const struct allocation *a)
{
    give_back(a);
    memset(arena + a->at, 0xcb, LARGE_BYTES);
    memset(arena + a->at + a->bytes - LARGE_BYTES, 0xcb, LARGE_BYTES);
}

void *memory_allocate(size_t bytes, bool pinned)
{
    size_t need = (bytes + ((size_t)1 << GRANULE_SHIFT) - 1) >> GRANULE_SHIFT << GRANULE_SHIFT, at = 0, i = 0;
    if (bytes == 0 || bytes > ARENA_BYTES)
        return NULL;
    for (; i < allocation_count && allocations[i].at - at < need; i++)
        at = allocations[i].at + allocations[i].bytes;
    if (at + need > ARENA_BYTES)
        return NULL;
    if (allocation_count == allocation_room) {
        allocation_room = allocation_room != 0 ? 2 * allocation_room : 64;
        allocations = realloc(allocations, allocation_room * sizeof *allocations);
        if (allocations == NULL)
            abort();
    }
    memmove(allocations + i + 1, allocations + i, (allocation_count - i) * sizeof *allocations);
    struct allocation a = {at, need, bytes, pinned};
    allocations[i] = a;
    allocation_count++;
    bytes_in_use += need;
    memset(granule_used + (at >> GRANULE_SHIFT), 1, need >> GRANULE_SHIFT);
    if (need >= SPARSE_BYTES)
        leave_sparse(&a);
    else
        memset(arena + at, 0xcb, need); /* fresh memory holds anything, but the same thing every time */
    return arena + at;
}

static struct allocation *allocation_at(const void *p)
{
    size_t at = (size_t)((uintptr_t)p - (uintptr_t)arena);
    for (size_t i = 0; i < allocation_count; i++)
        if (allocations[i].at <= at && at < allocations[i].at + allocations[i].bytes)
            return &allocations[i];
    return NULL;
}

uint32_t memory_word(const void *p)
{
    return (uint32_t)(((uintptr_t)p - (uintptr_t)arena) >> 3);
}

bool memory_free(void *p)
{
    struct allocation *a = allocation_at(p);
    if (a == NULL || arena + a->at != (unsigned char *)p)
        return false;
    memory_unmarks((uint32_t)(a->at >> 3));
    memset(granule_used + (a->at >> GRANULE_SHIFT), 0, a->bytes >> GRANULE_SHIFT);
    give_back(a);
    bytes_in_use -= a->bytes;
    allocation_count--;
    memmove(a, a + 1, (allocation_count - (size_t)(a - allocations)) * sizeof *a);
    return true;
}

bool memory_contains(const void *p, size_t bytes)
{
    const struct allocation *a = allocation_at(p);
    return a != NULL && (size_t)((uintptr_t)p - (uintptr_t)arena) - a->at + bytes <= a->asked;
}

bool memory_is_pinned(const void *p)
{
    const struct allocation *a = allocation_at(p);
    return a != NULL && a->pinned;
}

size_t memory_total(void)
{
    return ARENA_BYTES;
}

size_t memory_in_use(void)
{
    return bytes_in_use;
}

/* ---- words and their bytes ---- */

static inline uint64_t *l2(uint32_t word)
{
    return (uint64_t *)(void *)arena + word;
}

/* All bits of the bytes that have a bit in `bytes` */
static inline uint64_t mask_of(unsigned bytes)
{
    uint64_t each = bytes * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    return ((each + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101)) * 0xff;
}

static inline uint64_t blend(uint64_t old, uint64_t value, unsigned bytes)
{
    uint64_t mask = mask_of(bytes);
    return (old & ~mask) | (value & mask);
}

/* ---- caches ---- */

static inline struct line *line_of(struct line *lines, uint32_t word)
{
    return &lines[(word >> 2) & (LINES - 1)];
}

/* What the memory holds in front of the L2, for telling states apart: the digest of one word as every SM has it. */
uint64_t memory_digest(const void *p)
{
    uint32_t word = (uint32_t)(((uintptr_t)p - (uintptr_t)arena) >> 3);
    uint64_t digest = *l2(word);
    for (unsigned i = 0; i < device.sms; i++) {
        const struct sm *sm = &device.sm[i];
        const struct line *a = &sm->cached[(word >> 2) & (LINES - 1)], *b = &sm->read_only[(word >> 2) & (LINES - 1)];
        bool in_a = a->generation == sm->cached_generation && a->tag == word >> 2;
        bool in_b = b->generation == sm->read_only_generation && b->tag == word >> 2;
        digest = mix(digest, in_a ? a->data[word & 3] : 0xaaaaaaaaaaaaaaaau);
        digest = mix(digest, in_b ? b->data[word & 3] : 0xbbbbbbbbbbbbbbbbu);
    }
    return digest;
}

static inline bool line_holds(const struct line *l, uint32_t word, uint32_t generation)
{
    return l->generation == generation && l->tag == word >> 2;
}

static void line_fill(struct line *l, uint32_t word, uint32_t generation)
{
    l->tag = word >> 2;
    l->generation = generation;
    l->by = device.current->block->stores->owner;
    memcpy(l->data, l2(word & ~3u), LINE_BYTES);
}

/* An SM sees its own stores: its cached copy follows. The read-only path does not. */
static inline void cached_store(struct sm *sm, uint32_t word, uint64_t value, unsigned bytes)
{
    struct line *l = line_of(sm->cached, word);
    if (line_holds(l, word, sm->cached_generation))
        l->data[word & 3] = blend(l->data[word & 3], value, bytes);
}

static inline void cached_drop(struct sm *sm, uint32_t word)
{
    struct line *l = line_of(sm->cached, word);
    if (line_holds(l, word, sm->cached_generation))
        l->generation = sm->cached_generation - 1;
}

static uint64_t cached_load(struct line *lines, uint32_t generation, uint32_t word)
{
    struct line *l = line_of(lines, word);
    bool held = line_holds(l, word, generation), stale = held && l->data[word & 3] != *l2(word);
    bool believed = device.explorer == NULL ? chance(device.hit) : !stale || choose(2) != 0;
    if (!held || !believed)
        line_fill(l, word, generation);
    else
        device.counts.stale_hits += stale;
    return l->data[word & 3];
}

/* ---- store buffers ---- */

static void buffers_reset(void)
{
    for (unsigned i = 0; i < device.buffer_count; i++) {
        device.buffers[i]->next = device.spare_buffers;
        device.spare_buffers = device.buffers[i];
    }
    device.buffer_count = 0;
}

static struct store_buffer *buffer_new(unsigned sm, uint64_t owner)
{
    struct store_buffer *b = device.spare_buffers;
    if (b != NULL)
        device.spare_buffers = b->next;
    else
        b = malloc(sizeof *b);
    if (device.buffer_count == device.buffer_room) {
        device.buffer_room = device.buffer_room != 0 ? 2 * device.buffer_room : 64;
        device.buffers = realloc(device.buffers, device.buffer_room * sizeof *device.buffers);
    }
    if (b == NULL || device.buffers == NULL)
        abort();
    b->used = 0;
    b->sm = sm;
    b->owner = owner;
    b->epoch = b->named = 0;
    b->next = NULL;
    b->place = device.buffer_count;
    device.buffers[device.buffer_count++] = b;
    return b;
}

static void buffer_release(struct store_buffer *b)
{
    struct store_buffer *last = device.buffers[--device.buffer_count];
    device.buffers[b->place] = last;
    last->place = b->place;
    b->next = device.spare_buffers;
    device.spare_buffers = b;
}

void memory_drain(struct store_buffer *b, unsigned slot)
{
    const struct store *s = &b->slot[slot];
    b->used &= ~((uint64_t)1 << slot);
    *l2(s->word) = blend(*l2(s->word), s->value, s->bytes);
    cached_store(&device.sm[b->sm], s->word, s->value, s->bytes);
}

static void drain_all(struct store_buffer *b)
{
    while (b->used != 0)
        memory_drain(b, (unsigned)__builtin_ctzll(b->used));
}

/* One move of the machine: some buffered store becomes visible. */
void memory_drain_one(unsigned buffer, unsigned nth)
{
    struct store_buffer *b = device.buffers[buffer];
    uint64_t used = b->used;
    for (; nth > 0; nth--)
        used &= used - 1;
    memory_drain(b, (unsigned)__builtin_ctzll(used));
}

void memory_drain_some(void)
{
    if (device.buffer_count == 0)
        return;
    struct store_buffer *b = device.buffers[choose(device.buffer_count)];
    if (b->used == 0)
        return;
    unsigned from = choose(STORE_SLOTS);
    uint64_t above = b->used >> from << from;
    memory_drain(b, (unsigned)__builtin_ctzll(above != 0 ? above : b->used));
}

static inline struct store *pending(struct store_buffer *b, uint32_t word)
{
    unsigned slot = word & (STORE_SLOTS - 1);
    return (b->used >> slot & 1) != 0 && b->slot[slot].word == word ? &b->slot[slot] : NULL;
}

static void settle(struct block *block, uint32_t word) /* the block's own stores to the word, before an L2 access */
{
    if (pending(block->stores, word) != NULL)
        memory_drain(block->stores, word & (STORE_SLOTS - 1));
    if (!device.faults.exchange_keeps_line)
        cached_drop(&device.sm[block->sm], word);
}

/* ---- blocks, waits, flushes ---- */

void memory_drop_lines(struct sm *sm, bool read_only_too)
{
    sm->cached_generation += 2;
    if (read_only_too)
        sm->read_only_generation += 2;
}

void memory_block_begins(struct block *block)
{
    block->stores = buffer_new(block->sm, block->op->serial << 8 | block->index);
    const struct faults *f = &device.faults;
    const struct op *op = block->op;
    bool keeps = f->begin_keeps_read_only || (f->graph_begin_keeps_read_only && (op->features & HAS(graph))) ||
                 (f->cooperative_begin_keeps_read_only && op->grid->cooperative) || (f->domain_begin_keeps_read_only && op->domain != 0);
    block->late = others_were_there(block) && op->covered != NULL && op->cover_open == 0;
    bool keeps_all = (f->late_blocks_keep_lines && block->late) || (f->begin_keeps_busy_lines && others_stand_there(block));
    if (!keeps_all && !drawn_acts(EFFECT_keepslines, op, op))
        memory_drop_lines(&device.sm[block->sm], !keeps);
    constants_block_begins(block);
}

void memory_block_exits(struct block *block)
{
    if (block->stores->used == 0) {
        buffer_release(block->stores);
    } else {
        block->stores->next = block->op->grid->unflushed;
        block->op->grid->unflushed = block->stores;
    }
    block->stores = NULL;
}

void memory_flush(struct op *op)
{
    for (unsigned flushed = 0; op->grid->unflushed != NULL; flushed++) {
        struct store_buffer *b = op->grid->unflushed;
        op->grid->unflushed = b->next;
        if (device.faults.flush_ends_early && flushed >= 2048)
            b->used = 0;
        for (unsigned slot = 0; slot < STORE_SLOTS; slot++)
            if (store_is_lost(b->slot[slot].word))
                b->used &= ~((uint64_t)1 << slot);
        drain_all(b);
        buffer_release(b);
    }
}

static void keep_pinned_lines(struct sm *sm)
{
    for (unsigned i = 0; i < LINES; i++)
        if (sm->cached[i].generation == sm->cached_generation && memory_is_pinned(arena + (size_t)sm->cached[i].tag * LINE_BYTES))
            sm->cached[i].generation += 2; /* as drop_lines does */
}

static void drop_stores(struct store_buffer *b, unsigned thread)
{
    for (unsigned slot = 0; slot < STORE_SLOTS; slot++)
        if (b->slot[slot].thread == thread)
            b->used &= ~((uint64_t)1 << slot);
}

void memory_wait_returns(struct block *block)
{
    unsigned waits = device.current->waits;
    if ((device.faults.wait_drops_stores && waits == 1) || (device.faults.tenth_wait_drops_stores && waits == 10))
        drop_stores(block->stores, device.current->index);
    if (device.faults.driver_wait_keeps_pinned && block->op->by_driver)
        keep_pinned_lines(&device.sm[block->sm]);
    lines_stay(&device.sm[block->sm]);
    bool keeps = device.faults.wait_stale_lines || (device.faults.cluster_wait_stale && block->op->grid->cluster > 1) ||
                 (device.faults.window_keeps_lines && op_given(block->op, 1)) || (device.faults.large_grid_keeps_lines && block->op->grid->blocks > 64) ||
                 (device.faults.fenced_wait_keeps_lines && device.current->fences != 0) ||
                 drawn_acts(EFFECT_waitkeeps, block->op, block->op) || (device.faults.triggered_wait_keeps_lines && block->triggered) || (device.faults.late_blocks_keep_lines && block->late);
    if (device.faults.wait_drops_own_lines || device.faults.wait_drops_own_grids_lines)
        drop_lines_of(&device.sm[block->sm], block->stores->owner, device.faults.wait_drops_own_grids_lines);
    else if (!keeps)
        memory_drop_lines(&device.sm[block->sm], true);
}

/* ---- accesses ---- */

void memory_access_point(void)
{
    if (device.current == NULL) {
        fputs("pdl model: device memory was accessed outside of a kernel\n", stderr);
        abort();
    }
    device.counts.accesses++;
    device.clock += device.tick;
    if (--device.burst < 0)
        thread_yields();
}

static inline size_t offset_of(const void *p, size_t bytes)
{
    size_t at = (size_t)((uintptr_t)p - (uintptr_t)arena);
    if (at >= ARENA_BYTES || !granule_used[at >> GRANULE_SHIFT]) {
        device_fails(cudaErrorIllegalAddress);
        thread_yields();
    }
    if ((at & (bytes - 1)) != 0) {
        device_fails(cudaErrorMisalignedAddress);
        thread_yields();
    }
    return at;
}

/* Whether only other threads of the block have stored to the word, which is not in the L2 yet. */
static bool stored_by_other(struct block *b, uint32_t word)
{
    const struct store *own = pending(b->stores, word);
    return own != NULL && own->thread != device.current->index && own->thread != MODEL_MAX_THREADS;
}

static uint64_t load_word(struct block *b, uint32_t word, unsigned bytes, int cache)
{
    struct sm *sm = &device.sm[b->sm];
    uint64_t value;
    if (cache == MODEL_LD_RELAXED && device.faults.relaxed_passes_barrier && stored_by_other(b, word))
        return *l2(word);
    if (cache == MODEL_LD_NC)
        return cached_load(sm->read_only, sm->read_only_generation, word);
    if (cache == MODEL_LD_CA && finds_dropped_line(sm, word, bytes, &value))
        return value;
    if (cache == MODEL_LD_CA) {
        value = cached_load(sm->cached, sm->cached_generation, word);
    } else {
        if (cache == MODEL_LD_RELAXED)
            settle(b, word);
        else
            cached_drop(sm, word); /* no later load of this SM may see older words */
        value = *l2(word);
    }
    const struct store *own = pending(b->stores, word);
    if (own != NULL && ((device.faults.wide_load_misses_half && bytes == WHOLE_WORD && own->bytes != WHOLE_WORD) ||
                        (device.faults.l2_load_misses_own && cache == MODEL_LD_CG)))
        return value;
    bool hidden = device.faults.barrier_publishes_nothing || (device.faults.named_barrier_publishes_nothing && own != NULL && own->named != b->stores->named);
    if (own != NULL && !(hidden && stored_by_other(b, word)))
        value = blend(value, own->value, own->bytes & bytes);
    return value;
}

static void store_word(struct thread *t, uint32_t word, uint64_t value, unsigned bytes)
{
    struct store_buffer *b = t->block->stores;
    unsigned slot = word & (STORE_SLOTS - 1);
    struct store *s = &b->slot[slot];
    t->resting_since = 0;
    cached_store(&device.sm[t->block->sm], word, value, bytes);
    if ((b->used >> slot & 1) != 0 && s->word == word) {
        if (device.faults.half_lost_past_barrier && s->thread != t->index && s->epoch != b->epoch)
            s->bytes = 0;
        s->value = blend(s->value, value, bytes);
        s->bytes |= (unsigned char)bytes;
        s->wide |= bytes == WHOLE_WORD;
        if (s->thread != t->index && !device.faults.fence_leaves_second_thread)
            s->thread = MODEL_MAX_THREADS; /* of several: any fence takes it along */
        return;
    }
    if (device.explorer == NULL && !chance(device.lazy)) {
        *l2(word) = blend(*l2(word), value, bytes);
        return;
    }
    if ((b->used >> slot & 1) != 0)
        memory_drain(b, slot);
    struct store fresh = {word, (unsigned char)bytes, (unsigned char)t->index, bytes == WHOLE_WORD, b->epoch, b->named, value};
    *s = fresh;
    b->used |= (uint64_t)1 << slot;
    device.counts.buffered_stores++;
}

/* Up to four bytes that lie in one half of a word */
static uint32_t load_bytes(const void *p, unsigned bytes, int cache)
{
    memory_access_point();
    size_t at = offset_of(p, bytes);
    unsigned within = at & 7, mask = ((1u << bytes) - 1) << within;
    uint64_t word = load_word(device.current->block, (uint32_t)(at >> 3), mask, cache);
    uint32_t value = (uint32_t)((word & mask_of(mask)) >> 8 * within);
    trace(value);
    return value;
}

uint32_t model_load8(const void *p, int cache)
{
    return load_bytes(p, 1, cache);
}

uint32_t model_load16(const void *p, int cache)
{
    return load_bytes(p, 2, cache);
}

uint32_t model_load32(const void *p, int cache)
{
    return load_bytes(p, 4, cache);
}

uint64_t model_load64(const void *p, int cache)
{
    memory_access_point();
    size_t at = offset_of(p, 8);
    uint64_t value = load_word(device.current->block, (uint32_t)(at >> 3), WHOLE_WORD, cache);
    trace(value);
    return value;
}

static void store_bytes(void *p, uint32_t value, unsigned bytes)
{
    memory_access_point();
    size_t at = offset_of(p, bytes);
    unsigned within = at & 7, mask = ((1u << bytes) - 1) << within;
    uint32_t word = (uint32_t)(at >> 3);
    uint64_t stored = (uint64_t)value << 8 * within;
    if (device.faults.narrow_store_takes_word && bytes < 4) {
        unsigned around = within < 4 ? 0x0f : 0xf0;
        stored = blend(*l2(word), stored, mask);
        mask = around;
    }
    store_word(device.current, word, stored, mask);
}

void model_store8(void *p, uint32_t value)
{
    store_bytes(p, value, 1);
}

void model_store16(void *p, uint32_t value)
{
    store_bytes(p, value, 2);
}

void model_store32(void *p, uint32_t value)
{
    store_bytes(p, value, 4);
}

void model_store64(void *p, uint64_t value)
{
    memory_access_point();
    store_word(device.current, (uint32_t)(offset_of(p, 8) >> 3), value, WHOLE_WORD);
}

/* Where an access is made that goes past stores and caches; overtaken: on broken devices, what the block has stored to the word comes after it. */
void *memory_at_l2(void *p, size_t bytes, bool overtaken)
{
    memory_access_point();
    size_t at = offset_of(p, bytes);
    device.current->resting_since = 0;
    if (!device.faults.atomics_pass_stores && !overtaken)
        for (size_t word = at >> 3; word << 3 < at + bytes; word++)
            settle(device.current->block, (uint32_t)word);
    return arena + at;
}
