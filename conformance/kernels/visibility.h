/* visibility.h - the pair behind every visibility rule: poison, primary that stores late, dependent that reads.
 *
 * The primary triggers first, waits (bounded) until it sees that a block of the dependent runs, holds a little longer and
 * stores. So the dependent's wait has to hold back every block of it, and a wait that does not shows as poison.
 * The wait is k_wait(): the device's, or in the image `brokenwait` one that fails in a chosen way.
 */
#ifndef VISIBILITY_H_INCLUDED
#define VISIBILITY_H_INCLUDED

#include "kernel.h"

enum visibility_form { FORM_PLAIN, FORM_VECTOR, FORM_ATOMIC, FORM_RELAXED, FORM_READ_ONLY, FORM_FROM_INPUT, FORM_REWRITE };

/* Planted bugs that many families share. */
#if defined(MUTANT_nowait) || defined(MUTANT_chain)
#define WAITS 0
#else
#define WAITS 1
#endif
#ifdef MUTANT_nobarrier
#define BARRIER 0
#else
#define BARRIER 1
#endif

/* What the software waits of `brokenwait` need to know of the primary; empty in every other image. */
#ifdef MUTANT_brokenwait
#define BROKEN_WAIT 1
#else
#define BROKEN_WAIT 0
#endif

/* ---- the broken waits: software on the real device, one thread at a time ---- */

/* The primary's last stores begin at one instant, which block 0 announces: then "X ns early" has a meaning. */
DEVICE_FN void announce_and_keep_target(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (k_block() == 0)
        k_store64_relaxed(&args->state->target_ns, k_now() + plan->hold_ns + plan->x_ns + 2000);
    (void)k_poll(args->state, (const uint32_t *)&args->state->target_ns, 1, plan->bound_ns);
    k_delay_until(args->state, k_load64_relaxed(&args->state->target_ns));
}

DEVICE_FN void broken_wait(const struct kernel_args *args, const struct trial_plan *plan, uint32_t primary_blocks)
{
    struct trial_state *state = args->state;

    switch (plan->broken_wait) {
    case BROKEN_EARLY:
        (void)k_poll(state, (const uint32_t *)&state->target_ns, 1, plan->bound_ns);
        k_delay_until(state, k_load64_relaxed(&state->target_ns) - plan->x_ns);
        break;
    case BROKEN_BEFORE_FLUSH:
    case BROKEN_STALE_LINES:
        (void)k_poll(state, &state->done, primary_blocks, plan->bound_ns);
        break;
    case BROKEN_ALL_BUT_ONE:
        (void)k_poll(state, &state->done, primary_blocks - 1, plan->bound_ns);
        break;
    default:
        break;
    }
}

DEVICE_FN void k_wait(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (BROKEN_WAIT && plan->broken_wait != BROKEN_NONE)
        broken_wait(args, plan, plan->residents);
    else
        k_wait_device();
    if (plan->flags & PLAN_FENCE)
        k_fence();
}

/* ---- the primary ---- */

DEVICE_FN void primary_begins(const struct kernel_args *args)
{
    if (k_thread() == 0) {
        k_store(args->primary_sm + k_block(), k_sm());
        k_min64(&args->state->primary_begin_ns, k_now());
        k_add(&args->state->began, 1);
    }
}

DEVICE_FN void primary_triggers(const struct trial_plan *plan)
{
    if ((plan->flags & PLAN_TRIGGER_ALL) || k_thread() == 0)
        k_trigger();
}

/* Called by one thread per block while the others stand at a barrier, or by all of a warp. */
DEVICE_FN void primary_holds(const struct kernel_args *args, const struct trial_plan *plan)
{
    struct trial_state *state = args->state;
    uint32_t hold_ns = plan->hold_ns;

    if (plan->flags & PLAN_STAGGER)
        hold_ns = hold_ns * (k_block() % 8) / 8;
    if ((plan->flags & PLAN_WITNESS) && k_poll(state, &state->alive, 1, plan->bound_ns))
        k_add(&state->witnessed, 1);
    if (BROKEN_WAIT && plan->broken_wait != BROKEN_NONE)
        announce_and_keep_target(args, plan);
    else
        k_delay(state, hold_ns);
    if (BROKEN_WAIT && plan->broken_wait == BROKEN_ALL_BUT_ONE && k_block() == plan->withhold)
        k_delay(state, 4000);
    k_max64(&state->primary_store_ns, k_now());
}

DEVICE_FN void store_word(const struct kernel_args *args, const struct trial_plan *plan, uint32_t form, uint32_t i)
{
    uint32_t *p = args->data + i;
    uint32_t fresh = words_fresh(plan->key, i);

    if (form == FORM_ATOMIC)
        k_add(p, fresh - k_load_l2(p)); /* only poison can stand there: one addition makes it fresh */
    else if (form == FORM_FROM_INPUT) /* fresh if, and only if, the input still is what it was */
        k_store(p, fresh ^ k_load(args->input + i) ^ words_poison(plan->batch_key, WORDS_INPUT, plan->offset + i));
    else if (form == FORM_RELAXED)
        k_store_relaxed(p, fresh);
    else if (form == FORM_REWRITE) /* where the dependent stores its own words, last */
        k_store(args->seen + i, words_overwritten(plan->key, i));
    else
        k_store(p, fresh);
}

/* The block's words, in groups of four per thread so that a vector form has the same owner. */
DEVICE_FN void primary_stores(const struct kernel_args *args, const struct trial_plan *plan, uint32_t form)
{
    uint32_t last = k_first(plan->words, k_block() + 1, k_blocks());
    uint32_t i = k_first(plan->words, k_block(), k_blocks()) + k_group() * 4;
    uint32_t j;

    for (; i < last; i += k_threads() * 4) {
        if (form == FORM_VECTOR) {
            uint32_t group[4];
            for (j = 0; j < 4; j++)
                group[j] = words_fresh(plan->key, i + j);
            k_store4(args->data + i, group);
        } else {
            for (j = 0; j < 4; j++)
                store_word(args, plan, form, i + j);
        }
    }
}

DEVICE_FN void primary_is_done(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (!BROKEN_WAIT || plan->broken_wait == BROKEN_NONE)
        return;
    if (plan->broken_wait != BROKEN_BEFORE_FLUSH)
        k_fence();
    k_barrier();
    if (k_thread() == 0)
        k_add(&args->state->done, 1);
}

DEVICE_FN void visibility_primary(const struct kernel_args *args, uint32_t form)
{
    struct trial_plan plan = k_plan(args);
    uint32_t late = plan.flags & PLAN_TRIGGER_LATE;

    if (plan.flags & PLAN_MIDDLE) /* it carries the attribute: what stands before it must be complete */
        k_wait_device();
    primary_begins(args);
    if (!late && !(plan.flags & PLAN_TRIGGER_NEVER))
        primary_triggers(&plan);
    if (k_thread() == 0)
        primary_holds(args, &plan);
    k_barrier();
    primary_stores(args, &plan, form);
    if (late && !(plan.flags & PLAN_TRIGGER_NEVER))
        primary_triggers(&plan);
    primary_is_done(args, &plan);
}

/* ---- the dependent ---- */

DEVICE_FN void dependent_begins(const struct kernel_args *args)
{
    if (k_thread() == 0) {
        k_min64(&args->state->dependent_begin_ns, k_now());
        k_store(args->dependent_sm + k_block(), k_sm());
    }
}

/* Reads the flag back: on an H200 a store right before the wait was often not seen elsewhere until the wait returned. */
DEVICE_FN void dependent_is_alive(const struct kernel_args *args)
{
    if (k_thread() == 0) {
        k_store_relaxed(&args->state->alive, 1);
        if (k_load_relaxed(&args->state->alive) == 0)
            k_add(&args->state->left, 1);
    }
}

/* The words of this block: those of the block `rotate` further on, the first `skip` blocks having none. */
DEVICE_FN void dependent_range(const struct trial_plan *plan, uint32_t *first, uint32_t *last)
{
    uint32_t readers = k_blocks() - plan->skip;
    uint32_t slot = (k_block() - plan->skip + plan->rotate) % readers;

    if (k_block() < plan->skip) {
        *first = *last = 0;
        return;
    }
    *first = k_first(plan->words, slot, readers);
    *last = k_first(plan->words, slot + 1, readers);
}

/* Brings this thread's lines into the first-level cache while they still hold poison. */
DEVICE_FN void dependent_reads_lines(const struct kernel_args *args, const struct trial_plan *plan)
{
    uint32_t first, last, i, sum = 0;

    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        sum += (plan->flags & PLAN_READ_ONLY) ? k_load_read_only(args->data + i) : k_load(args->data + i);
    if (sum == 0x5EED5EEDu) /* keeps the loads: whoever removes this removes the test */
        k_add(&args->state->left, 1);
}

/* Reads words [begin, end) of this thread's groups of four; after the wait, or before it in the mutant `latewait`. */
DEVICE_FN void dependent_reads(const struct kernel_args *args, const struct trial_plan *plan, uint32_t form, uint32_t begin,
                               uint32_t end)
{
    uint32_t first, last, i, j;

    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4) {
        uint32_t group[4];
        if (form == FORM_VECTOR) {
            k_load4(args->data + i, group);
        } else {
            for (j = 0; j < 4; j++)
                group[j] = form == FORM_RELAXED ? k_load_relaxed(args->data + i + j) :
                           form == FORM_READ_ONLY ? k_load_read_only(args->data + i + j) : k_load(args->data + i + j);
        }
        for (j = 0; j < 4; j++)
            if (i + j >= begin && i + j < end)
                k_store(args->seen + i + j, group[j]);
    }
}

DEVICE_FN void dependent_waited(const struct kernel_args *args)
{
    if (k_thread() == 0)
        k_min64(&args->state->dependent_waited_ns, k_now());
}

DEVICE_FN void dependent_finishes(const struct kernel_args *args)
{
    k_barrier();
    if (k_thread() == 0)
        k_add(&args->state->finished, 1);
}

/* Every thread waits; the mutant `nowait` goes on at once. */
DEVICE_FN void dependent_waits(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (WAITS)
        k_wait(args, plan);
    dependent_waited(args);
}

DEVICE_FN void dependent_begins_and_waits(const struct kernel_args *args, const struct trial_plan *plan)
{
    dependent_begins(args);
    dependent_is_alive(args);
    dependent_waits(args, plan);
}

/* The whole of most dependents: tells that it runs, waits, reads. */
DEVICE_FN void reading_dependent(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);

    dependent_begins(args);
    dependent_is_alive(args);
    if (waits)
        k_wait(args, &plan);
    dependent_waited(args);
    dependent_reads(args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(args);
}

/* Stores where the primary still reads. */
DEVICE_FN void dependent_overwrites_input(const struct kernel_args *args, const struct trial_plan *plan)
{
    uint32_t first, last, i, j;

    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        for (j = 0; j < 4; j++)
            k_store(args->input + i + j, words_overwritten(plan->key, i + j));
}

#endif
