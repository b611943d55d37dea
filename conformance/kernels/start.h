/* start.h - the pair behind every start rule: a primary that is held while its dependent must not begin.
 *
 * The blocks that hold watch the dependent's flag for hold_ns (D). Seeing it there is the forbidden outcome. Whether the
 * dependent had room is shown by a control in the same batch: the same pair, allowed to start, and seen inside D.
 */
#ifndef START_H_INCLUDED
#define START_H_INCLUDED

#include "visibility.h"

/* A planted bug: the block that withholds its trigger triggers before its work. */
#ifdef MUTANT_eager
#define EAGER 1
#else
#define EAGER 0
#endif

#define NEVER 0xFFFFFFFFu

/* Watch for hold_ns; the caller is one thread of a block. The dependent must stay away until `leavers` blocks have left their places,
 * or for the whole time. That is asked once the dependent was seen: when it began, no more blocks had left than now. */
DEVICE_FN void watches(const struct kernel_args *args, const struct trial_plan *plan, uint32_t leavers)
{
    uint64_t begin = k_now();
    if (k_poll(args->state, &args->state->alive, 1, plan->hold_ns)) {
        k_fence();
        if (k_load_relaxed(&args->state->left) < leavers)
            k_add(&args->state->early, 1);
    } else {
        k_min64(&args->state->held_ns, k_now() - begin);
    }
    k_max64(&args->state->primary_store_ns, k_now());
}

/* The primary that triggers first thing, holds and watches, then stores. */
DEVICE_FN void held_primary(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    if (plan.flags & PLAN_MIDDLE) /* it carries the attribute: what stands before it must be complete */
        k_wait_device();
    primary_begins(args);
    primary_triggers(&plan);
    if (k_thread() == 0)
        watches(args, &plan, NEVER);
    k_barrier();
    primary_stores(args, &plan, FORM_PLAIN);
}

/* Everybody but the withholding block triggers; it watches, then triggers or just exits. eager: a bug, it triggers first. */
DEVICE_FN void withholding_primary(const struct kernel_args *args, uint32_t eager)
{
    struct trial_plan plan = k_plan(args);
    uint32_t withholds = k_block() == plan.withhold;
    uint32_t i;

    primary_begins(args);
    if (eager)
        primary_triggers(&plan);
    if (!withholds)
        for (i = 0; i < plan.repeats; i++)
            primary_triggers(&plan);
    if (k_thread() == 0) {
        if (withholds)
            watches(args, &plan, NEVER);
        else if (!(plan.flags & PLAN_OTHERS_LEAVE))
            k_delay(args->state, plan.hold_ns);
    }
    k_barrier();
    if (withholds && !(plan.flags & PLAN_WITHHOLD_EXIT))
        primary_triggers(&plan);
    primary_stores(args, &plan, FORM_PLAIN);
}

/* One of two primaries: `share` 0 has the even groups of four words, 1 the odd ones. */
DEVICE_FN void stores_share(const struct kernel_args *args, const struct trial_plan *plan, uint32_t share)
{
    uint32_t last = k_first(plan->words, k_block() + 1, k_blocks());
    uint32_t i = k_first(plan->words, k_block(), k_blocks()) + k_group() * 4, j;

    for (; i < last; i += k_threads() * 4)
        for (j = 0; j < 4 && i / 4 % 2 == share; j++)
            store_word(args, plan, FORM_PLAIN, i + j);
}

/* Withholds the trigger of one block, as withholding_primary(), and stores its share. */
DEVICE_FN void first_of_two(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    primary_begins(args);
    if (k_block() != plan.withhold)
        primary_triggers(&plan);
    else if (k_thread() == 0)
        watches(args, &plan, NEVER);
    k_barrier();
    stores_share(args, &plan, 0);
}

DEVICE_FN void second_of_two(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    k_trigger();
    if (k_thread() == 0)
        k_delay(args->state, plan.hold_ns / 2);
    k_barrier();
    stores_share(args, &plan, 1);
}

/* The primary that never triggers: block starts have to do. */
DEVICE_FN void mute_primary(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    primary_begins(args);
    if (k_thread() == 0)
        primary_holds(args, &plan);
    k_barrier();
    primary_stores(args, &plan, FORM_PLAIN);
}

/* The blocks that are resident first keep their places until all of them have watched; then all store and leave. There is room for
 * plan->residents blocks, so the rest cannot all have begun before as many have left, however long anything took. The time that places
 * are kept for is bounded: where a block begins later than that, the others have left, and the dependent may run while it watches. */
DEVICE_FN void residents_watch(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (k_thread() == 0 && k_block() < plan->residents) {
        watches(args, plan, k_blocks() - plan->residents);
        k_add(&args->state->done, 1);
        (void)k_poll(args->state, &args->state->done, plan->residents, plan->bound_ns);
    }
    k_barrier();
    primary_stores(args, plan, FORM_PLAIN);
    if (k_thread() == 0) {
        k_add(&args->state->left, 1);
        k_fence();
    }
}

#endif
