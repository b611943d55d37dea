/* Values that streams wait for: when a condition holds; and what broken devices make of them. */
#include "api.h"

#include <string.h>

/* For the devices second-waiter-passes, value-before-stores and moved-value-unseen: who waits for a value; a kernel whose stores are still to come,
 * though the value after it is there; words that memsets and copies stored last */
static const struct op *awaiting;
static struct op *before_value;
static struct {
    const void *at;
    uint32_t value;
} moved[8];

void values_reset(void)
{
    awaiting = NULL;
    before_value = NULL;
    memset(moved, 0, sizeof moved);
}

void note_moved(const struct op *op)
{
    static unsigned next;
    if (op->of_value || op->move.bytes != sizeof moved->value)
        return;
    moved[next % 8].at = op->move.to;
    memcpy(&moved[next++ % 8].value, op->move.to, sizeof moved->value);
}

static bool was_moved(const void *at, uint32_t is)
{
    for (unsigned i = 0; i < 8; i++)
        if (moved[i].at == at && moved[i].value == is)
            return true;
    return false;
}

/* CU_STREAM_WAIT_VALUE_*: at least, in cyclic order; equal; a common bit; not all bits in one of them. */
static bool condition_holds(unsigned how, uint32_t is, uint32_t wanted)
{
    const struct faults *f = &device.faults;
    switch (how) {
    case 1: return is == wanted || (f->zero_not_awaited && wanted == 0) || (f->equal_value_as_at_least && (int32_t)(is - wanted) >= 0);
    case 2:
        if (f->all_bits_awaited)
            return (is & wanted) == wanted;
        return (is & wanted) != 0 || (f->several_bits_not_awaited && (wanted & (wanted - 1)) != 0);
    case 3: return f->nor_not_awaited || (f->nor_compares_as_and ? ~(is & wanted) : ~(is | wanted)) != 0;
    default:
        if (f->value_compared_unsigned)
            return is >= wanted;
        return f->value_compared_signed ? (int32_t)is >= (int32_t)wanted : (int32_t)(is - wanted) >= 0;
    }
}

static bool wide_condition_holds(unsigned how, uint64_t is, uint64_t wanted)
{
    const struct faults *f = &device.faults;
    uint64_t common = is & wanted, neither = ~(is | wanted);
    switch (how) {
    case 1: return is == wanted;
    case 2: return (f->wide_bits_of_low_word ? (uint32_t)common : common) != 0;
    case 3: return (f->wide_nor_of_low_word ? (uint32_t)neither : neither) != 0;
    default:
        if (f->wide_compared_unsigned)
            return is >= wanted;
        return f->wide_compared_signed ? (int64_t)is >= (int64_t)wanted : (int64_t)(is - wanted) >= 0;
    }
}

bool value_is_there(const struct op *op)
{
    const struct faults *f = &device.faults;
    uint32_t is;
    memcpy(&is, op->move.from, sizeof is);
    if (f->moved_value_unseen && was_moved(op->move.from, is))
        return false;
    if (f->value_not_awaited || (f->value_in_memory_unawaited && !memory_is_pinned(op->move.from)) ||
        (f->flush_not_awaited && (op->await.flags >> 30 & 1) != 0) || (f->any_value_ends_wait && is != op->await.before))
        return true;
    if (op->await.wide && !f->wide_value_by_low_word) {
        uint64_t all;
        memcpy(&all, op->move.from, sizeof all);
        return wide_condition_holds(op->await.flags & 3, all, op->await.wanted);
    }
    if (f->held_value_not_awaited && condition_holds(op->await.flags & 3, op->await.before, op->move.value))
        return true;
    return condition_holds(op->await.flags & 3, is, op->move.value);
}

/* On the device second-waiter-passes: another one waits for this word. */
bool second_waits(const struct op *op)
{
    if (awaiting == NULL || awaiting == op)
        awaiting = op;
    return device.faults.second_waiter_passes && awaiting != op && awaiting->move.from == op->move.from;
}

/* On the device value-before-stores: what begins now finds all stores; only who runs does not. */
void stores_arrive(void)
{
    if (before_value != NULL)
        memory_flush(before_value);
    before_value = NULL;
}

/* ... the value behind this kernel, whose last block has ended. */
void value_arrives(struct op *op)
{
    if (!device.faults.value_before_stores || op->cover_open != 0)
        return;
    for (struct edge *e = op->out; e != NULL; e = e->next)
        if (e->to->of_value && e->to->blocked == 1 && !memory_is_pinned(e->to->move.to)) {
            move_memory(e->to);
            before_value = op;
        }
}

/* The flush of this kernel has come. */
void stores_arrived(const struct op *op)
{
    before_value = before_value == op ? NULL : before_value;
}

void value_was_awaited(const struct op *op)
{
    awaiting = awaiting == op ? NULL : awaiting;
}
