/* Atomics and relaxed stores: they are made where the L2 is. */
#include "choices.h"

#include <stdlib.h>
#include <string.h>

void model_store32_relaxed(void *p, uint32_t value)
{
    const struct faults *f = &device.faults;
    uint32_t *at = memory_at_l2(p, 4, f->relaxed_store_overtaken);
    uint64_t has = device.current->block->op->features;
    if (!(f->relaxed_store_lost_in_bodies && (has & HAS(body))) && !(f->relaxed_store_lost_in_legacy && (has & HAS(legacy))))
        *at = value;
}

void model_store64_relaxed(void *p, uint64_t value)
{
    *(uint64_t *)memory_at_l2(p, 8, device.faults.wide_relaxed_store_overtaken) = value;
}

/* Whether, before the wait, another grid than the thread's was the last one to add anything, to this word. */
static bool other_grid_added(const void *at)
{
    uint64_t grid = device.current->block->op->serial;
    bool other = device.added_at == at && device.added_by != grid;
    device.added_at = at;
    device.added_by = grid;
    return other && before_open_wait(device.current);
}

uint32_t model_atomic_add32(void *p, uint32_t value)
{
    const uint64_t *held = device.faults.add_gives_cached ? line_held(p) : NULL;
    uint32_t of_cache = held == NULL ? 0 : (uint32_t)((uintptr_t)p % 8 != 0 ? *held >> 32 : *held);
    uint32_t *q = memory_at_l2(p, 4, device.faults.add_overtaken), old = *q;
    bool lost = device.faults.late_adds_lost && device.current->block->index >= 256;
    lost |= device.faults.add_behind_other_grid_lost && other_grid_added(q);
    *q = lost ? old : old + value;
    trace(old);
    return device.faults.add_gives_new ? *q : held != NULL ? of_cache : old;
}

uint32_t model_atomic_exch32(void *p, uint32_t value)
{
    uint32_t *q = memory_at_l2(p, 4, false), old = *q;
    if (!device.faults.exchange_lost_after_wait || device.current->waits == 0)
        *q = value;
    trace(old);
    return old;
}

/* Whether another block of its grid was the last one to change this word so; changes: the thread's block does now. */
static bool other_block_compared(const void *at, bool changes)
{
    struct changed *c = &device.compared[(uintptr_t)at / 4 % (sizeof device.compared / sizeof device.compared[0])];
    uint64_t block = device.current->block->stores->owner;
    bool other = c->at == at && c->by != block && c->by >> 8 == block >> 8;
    if (changes)
        *c = (struct changed){at, block};
    return other;
}

uint32_t model_atomic_cas32(void *p, uint32_t compare, uint32_t value)
{
    uint32_t *q = memory_at_l2(p, 4, device.faults.compare_overtaken), old = *q;
    bool hits = device.faults.compare_by_half ? (uint16_t)old == (uint16_t)compare : old == compare;
    bool lies = other_block_compared(q, hits) && !hits && device.faults.lost_compare_succeeds;
    device.current->used |= USED_COMPARE;
    if (hits)
        *q = value;
    trace(old);
    return lies ? compare : old;
}

/* Takes the value where it is the one that counts; half: the lower four bytes of it, on broken devices. */
static uint64_t takes64(uint64_t old, uint64_t value, bool taken, bool half)
{
    trace(old);
    return !taken ? old : half ? (old & ~(uint64_t)UINT32_MAX) | (uint32_t)value : value;
}

uint64_t model_atomic_min64(void *p, uint64_t value)
{
    uint64_t *q = memory_at_l2(p, 8, device.faults.least_overtaken), old = *q;
    bool less = device.faults.min_compares_half ? (uint32_t)value < (uint32_t)old : value < old;
    *q = takes64(old, value, less, device.faults.min_stores_half);
    return device.faults.least_gives_new ? *q : old;
}

uint64_t model_atomic_max64(void *p, uint64_t value)
{
    uint64_t *q = memory_at_l2(p, 8, device.faults.least_overtaken), old = *q;
    bool more = device.faults.max_compares_half ? (uint32_t)value > (uint32_t)old : device.faults.max_is_signed ? (int64_t)value > (int64_t)old : value > old;
    *q = takes64(old, value, more, device.faults.max_stores_half);
    return old;
}

/* ---- of any type and width ---- */

struct reduction {
    unsigned kind, bytes;
    uint32_t *at, by[4], expected[4];
    model_reduction makes;
};
static struct reduction *late; /* what is still to come */
static unsigned late_count;

void reductions_reset(void)
{
    late_count = 0;
}

void reductions_arrive(void)
{
    for (unsigned i = 0; i < late_count; i++)
        late[i].makes(late[i].kind, late[i].at, late[i].by, late[i].expected);
    late_count = 0;
}

static void comes_late(const struct reduction *r)
{
    if (late_count % 64 == 0)
        late = realloc(late, (late_count + 64) * sizeof *late);
    if (late == NULL)
        abort();
    late[late_count++] = *r;
}

/* What broken devices make of it instead. */
static void reduces_wrong(const struct reduction *r, unsigned traits, const uint32_t *before)
{
    const struct faults *f = &device.faults;
    uint32_t *at = r->at;
    if (f->halves_added_as_one && traits & MODEL_REDUCES_HALVES)
        at[0] = before[0] + r->by[0];
    else if (f->wide_add_loses_carry && traits & MODEL_REDUCES_SUM)
        at[1] = before[1] + r->by[1];
    else if (f->signed_least_unsigned && traits & MODEL_REDUCES_SIGNED && (before[0] ^ r->by[0]) >> 31 != 0)
        at[0] = at[0] == before[0] ? r->by[0] : before[0];
    else if (f->several_reduced_as_one && traits & MODEL_REDUCES_SEVERAL)
        memcpy(at + 1, before + 1, r->bytes - sizeof *at);
    else if (f->count_has_no_bound && traits & MODEL_REDUCES_COUNT)
        at[0] = before[0] + 1;
    else if (f->wide_compare_by_half && traits & MODEL_REDUCES_COMPARED && memcmp(before, r->expected, r->bytes - sizeof *at) == 0)
        memcpy(at, r->by, r->bytes);
}

/* Whether, before the wait, another grid than the thread's was the last one to change what is there. */
static bool other_grid_reduced(const void *at)
{
    struct changed *c = &device.reduced[(uintptr_t)at / 16 % (sizeof device.reduced / sizeof device.reduced[0])];
    uint64_t grid = device.current->block->op->serial;
    bool other = c->at == at && c->by != grid;
    *c = (struct changed){at, grid};
    return other && before_open_wait(device.current);
}

void model_reduce(unsigned kind, void *p, const uint32_t *by, const uint32_t *expected, unsigned bytes, unsigned traits, model_reduction makes)
{
    const struct faults *f = &device.faults;
    struct reduction r = {.kind = kind, .bytes = bytes, .at = memory_at_l2(p, bytes, f->reduction_overtaken), .makes = makes};
    uint32_t before[4];
    if (f->reduction_keeps_line)
        line_stays(p);
    if (bytes == 8)
        device.current->used |= USED_WIDE;
    bool is_late = device.current->block->index >= 16;
    if ((f->reduction_behind_other_grid_lost && other_grid_reduced(r.at)) || (f->late_reductions_lost && is_late))
        return;
    memcpy(r.by, by, bytes);
    memcpy(r.expected, expected, bytes);
    if (f->float_reductions_uncovered && traits & MODEL_REDUCES_FLOATS) {
        comes_late(&r);
        return;
    }
    memcpy(before, r.at, bytes);
    makes(kind, r.at, r.by, r.expected);
    reduces_wrong(&r, traits, before);
    trace(r.at[0]);
}
