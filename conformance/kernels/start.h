/* start.h - the pair behind every start rule: a primary that is held while its dependent must not begin.
 *
 * The blocks that hold watch the dependent's flag for hold_ns (D). Seeing it there is the forbidden outcome. Whether the
 * dependent had room is shown by a control in the same batch: the same pair, allowed to start, and seen inside D.
 */
#ifndef START_H_INCLUDED
#define START_H_INCLUDED

#include "visibility.h"

/* Watch for hold_ns; the caller is one thread of a block. */
DEVICE_FN void watches(const struct kernel_args *args, const struct trial_plan *plan)
{
    uint64_t begin = k_now();
    if (k_poll(args->state, &args->state->alive, 1, plan->hold_ns))
        k_add(&args->state->early, 1);
    else
        k_min64(&args->state->held_ns, k_now() - begin);
    k_max64(&args->state->primary_store_ns, k_now());
}

/* The dependent of every start rule but ATTR's: tells that it runs, waits, reads. */
DEVICE_FN void start_dependent(const struct kernel_args *args, uint32_t waits)
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

#endif
