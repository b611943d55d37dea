/* Whom a wait helps besides the thread that executed it: named barriers and barrier objects in shared memory.
 *
 * A thread that passed by the wait of its siblings is safe after a barrier at which a thread arrives that has waited, or that
 * was itself released in this way. What such threads signal is gathered first; then each barrier is held against it. Where a
 * number or an address cannot be followed, the barrier counts as one that helps.
 */
#include "dataflow/dataflow.h"

#include <string.h>

enum { MOST_BARRIERS = NAMED_BARRIERS, ROUNDS = 4 };

void signals_clear(struct signals *s)
{
    s->any_barrier = false;
    memset(s->barrier, 0, sizeof s->barrier);
    s->objects[0].count = s->objects[1].count = 0;
}

void signal_barrier(struct signals *s, const struct range *range, uint8_t uses)
{
    if (range == NULL) {
        s->any_barrier = true;
        return;
    }
    uint8_t *first = &s->barrier[range->low][range->high];
    if (*first == 0 || uses + 1 < *first)
        *first = (uint8_t)(uses + 1);
}

static void add_object(struct objects *objects, expr address)
{
    size_t at = 0;
    while (at < objects->count && objects->all[at] < address)
        at++;
    if (at < objects->count && objects->all[at] == address)
        return;
    objects->all = grown(objects->all, &objects->capacity, objects->count + 1, sizeof *objects->all);
    memmove(objects->all + at + 1, objects->all + at, (objects->count - at) * sizeof *objects->all);
    objects->all[at] = address;
    objects->count++;
}

void signal_object(struct signals *s, expr address, bool in_other_block)
{
    add_object(&s->objects[0], address);
    if (in_other_block)
        add_object(&s->objects[1], address);
}

static bool objects_equal(const struct objects *a, const struct objects *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->all, b->all, a->count * sizeof *a->all) == 0);
}

static bool signals_equal(const struct signals *a, const struct signals *b)
{
    return a->any_barrier == b->any_barrier && memcmp(a->barrier, b->barrier, sizeof a->barrier) == 0 &&
           objects_equal(&a->objects[0], &b->objects[0]) && objects_equal(&a->objects[1], &b->objects[1]);
}

static bool reaches_number(const struct signals *s, uint32_t first, uint32_t last, uint8_t uses)
{
    for (uint32_t low = 0; low <= last; low++)
        for (uint32_t high = first; high < MOST_BARRIERS; high++)
            if (s->barrier[low][high] && s->barrier[low][high] - 1 <= uses)
                return true;
    return false;
}

/* How many ranges were signalled, at most 2, and whether the last one found is a single number. */
static unsigned ranges_signalled(const struct signals *s, bool *single)
{
    unsigned count = 0;
    for (uint32_t low = 0; low < MOST_BARRIERS; low++)
        for (uint32_t high = low; high < MOST_BARRIERS && count < 2; high++)
            if (s->barrier[low][high]) {
                *single = low == high;
                count++;
            }
    return count;
}

/* Whether each barrier that this number can mean is one of those signalled. How many of the numbers occur depends on the size
 * of the block. If that is not known, only a single number that all waiters share says that the others have no waiter. */
static bool reaches_barrier(const struct signals *s, const struct range *range, uint8_t uses)
{
    bool single = false, threads_known = now.kernel->max_threads != 0;
    unsigned count = ranges_signalled(s, &single);
    if (range == NULL || s->any_barrier)
        return s->any_barrier || count != 0;
    if (!threads_known && range->low != range->high && !(count == 1 && single))
        return reaches_number(s, range->low, range->high, uses);
    for (uint32_t n = range->low; n <= range->high; n++)
        if (!reaches_number(s, n, n, uses))
            return false;
    return true;
}

static bool reaches_object(const struct objects *signalled, expr address)
{
    for (size_t i = 0; i < signalled->count; i++)
        if (may_be_same(address, signalled->all[i]))
            return true;
    return false;
}

bool barrier_helps(const struct range *range, uint8_t uses)
{
    now.asked_signals = true;
    signal_barrier(&now.asked[now.follow_waited], range, uses);
    return !now.heard || reaches_barrier(&now.signals, range, uses);
}

bool object_helps(expr address, bool from_other_block)
{
    now.asked_signals = true;
    add_object(&now.asked[now.follow_waited].objects[from_other_block], address);
    return !now.heard || reaches_object(&now.signals.objects[from_other_block], address);
}

/* For every number of earlier uses with which it may have been asked. */
static bool barrier_alike(const struct range *range, uint8_t first, const struct signals *a, const struct signals *b)
{
    for (uint8_t uses = first; uses <= MANY_PHASES; uses++)
        if ((a == NULL || reaches_barrier(a, range, uses)) != (b == NULL || reaches_barrier(b, range, uses)))
            return false;
    return true;
}

bool answered_alike(const struct signals *asked, const struct signals *a, const struct signals *b)
{
    if (asked->any_barrier && !barrier_alike(NULL, MANY_PHASES, a, b))
        return false;
    for (uint32_t low = 0; low < MOST_BARRIERS; low++)
        for (uint32_t high = low; high < MOST_BARRIERS; high++)
            if (asked->barrier[low][high] &&
                !barrier_alike(&(struct range){low, high}, (uint8_t)(asked->barrier[low][high] - 1), a, b))
                return false;
    for (int other = 0; other < 2; other++) {
        const struct objects *objects = &asked->objects[other];
        for (size_t i = 0; i < objects->count; i++)
            if ((a == NULL || reaches_object(&a->objects[other], objects->all[i])) !=
                (b == NULL || reaches_object(&b->objects[other], objects->all[i])))
                return false;
    }
    return true;
}

bool barrier_range(expr e, constraints known, struct range *range)
{
    if (!value_range(e, known, range) || range->low >= MOST_BARRIERS)
        return false;
    if (range->high >= MOST_BARRIERS)
        range->high = MOST_BARRIERS - 1;
    return true;
}

/* One round of gathering. It has to come to its end: what was not walked would count as never signalled. */
static bool gather_signals(bool partitioned)
{
    now.keep_constraints = partitioned;
    signals_clear(&now.gathered);
    bool done = propagate();
    if (done && partitioned && keep_more(false)) { /* conditions that are asked behind a wait as well */
        signals_clear(&now.gathered);
        done = propagate();
    }
    if (done)
        return partitioned;
    signals_clear(&now.gathered);
    if (propagate_with_few_states())
        return partitioned;
    now.keep_constraints = false;
    signals_clear(&now.gathered);
    propagate();
    return false;
}

bool judge_signals(void)
{
    bool keep = now.keep_constraints, partitioned = keep;
    now.follow_waited = now.heard = true;
    signals_clear(&now.signals);
    for (int round = 0; round < ROUNDS; round++) {
        partitioned = gather_signals(partitioned);
        struct signals last = now.signals;
        now.signals = now.gathered;
        now.gathered = last;
        if (signals_equal(&last, &now.signals) || would_repeat(true, &last, &now.signals))
            break;
    }
    now.follow_waited = false;
    now.keep_constraints = keep;
    if (would_repeat(false, NULL, &now.signals))
        return false;
    now.keep_constraints = partitioned; /* where the paths of waiters became too many, those of the others do */
    return propagate_or_merge() || keep != partitioned;
}
