/* threads.cu - which threads a wait or a trigger speaks for.
 *
 * pair       rules     what is special
 * block      WAIT-07   one thread waits, a block barrier follows, every thread reads
 * warp       WAIT-07   one warp waits, a block barrier follows, every thread reads
 * flag       WAIT-07   one thread of block 0 waits, then fences and raises a flag; the other blocks wait for that flag
 * free       WAIT-06   the last warp tells that it runs while the other warps already stand in their wait
 * divergent  TRIG-07   odd threads trigger; each thread waits on a branch of its own
 * one        TRIG-06   the first warp stores and triggers for its block while the other warps still have to store
 * leave      TRIG-03   every second block stores and leaves at once; the others trigger and hold
 *
 * Mutant `nobarrier`: as block, warp and flag, and those who do not wait read at once (B23, B24).
 */
#include "pair.h"
#include "visibility.h"


enum waiter { WAITER_THREAD, WAITER_WARP, WAITER_FLAG, WAITER_FREE, WAITER_BRANCH, WAITER_ALL };

/* The others give the one that waits four times its longest time; then they wait themselves, and the trial does not count. */
DEVICE_FN void flag_hands_over(const struct kernel_args *args, const struct trial_plan *plan)
{
    struct trial_state *state = args->state;

    if (k_thread() != 0)
        return;
    if (k_block() == 0) {
        k_wait(args, plan);
        k_fence();
        k_store_relaxed(&state->done, 1);
        return;
    }
    if (!k_poll(state, &state->done, 1, 4 * plan->bound_ns)) {
        k_add(&state->cut_short, 1);
        k_wait(args, plan);
    }
    k_fence();
}

/* By then the other warps stand in their wait. */
DEVICE_FN void last_warp_is_alive(const struct kernel_args *args)
{
    if (k_thread() == k_threads() - 1) {
        k_delay(args->state, 1000);
        k_store_relaxed(&args->state->alive, 1);
        if (k_load_relaxed(&args->state->alive) == 0)
            k_add(&args->state->left, 1);
    }
}

DEVICE_FN void some_wait(const struct kernel_args *args, const struct trial_plan *plan, uint32_t waiter)
{
    uint32_t branch;

    if (waiter == WAITER_FLAG) {
        flag_hands_over(args, plan);
    } else if (waiter == WAITER_BRANCH) {
        for (branch = 0; branch < 4; branch++)
            if (k_thread() % 4 == branch)
                k_wait(args, plan);
    } else if (waiter >= WAITER_FREE || (waiter == WAITER_WARP && k_warp() == 0) || k_thread() == 0) {
        k_wait(args, plan);
    }
}

DEVICE_FN void threads_dependent(const struct kernel_args *args, uint32_t waiter)
{
    struct trial_plan plan = k_plan(args);

    dependent_begins(args);
    if (waiter == WAITER_FREE) {
        if (k_warp() == k_warps() - 1)
            last_warp_is_alive(args);
    } else {
        dependent_is_alive(args);
    }
    if (WAITS)
        some_wait(args, &plan, waiter);
    if (WAITS && BARRIER && waiter <= WAITER_FLAG)
        k_barrier();
    dependent_waited(args);
    dependent_reads(args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(args);
}

KERNEL(threads_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(threads_block_dependent) { threads_dependent(&args, WAITER_THREAD); }
KERNEL(threads_warp_dependent) { threads_dependent(&args, WAITER_WARP); }
KERNEL(threads_flag_dependent) { threads_dependent(&args, WAITER_FLAG); }
KERNEL(threads_free_dependent) { threads_dependent(&args, WAITER_FREE); }
KERNEL(threads_divergent_dependent) { threads_dependent(&args, WAITER_BRANCH); }
KERNEL(threads_dependent_of_all) { threads_dependent(&args, WAITER_ALL); }

KERNEL(threads_divergent_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    if (k_thread() % 2)
        k_trigger();
    if (k_thread() == 0)
        primary_holds(&args, &plan);
    k_barrier();
    primary_stores(&args, &plan, FORM_PLAIN);
    primary_is_done(&args, &plan);
}

KERNEL(threads_one_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    if (k_warp() == 0) {
        primary_stores(&args, &plan, FORM_PLAIN);
        if (k_thread() == 0)
            k_trigger();
    }
    if (k_thread() == k_threads() - 1)
        primary_holds(&args, &plan);
    k_barrier();
    if (k_warp() != 0)
        primary_stores(&args, &plan, FORM_PLAIN);
}

KERNEL(threads_leave_primary)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t leaves = k_block() % 2;

    primary_begins(&args);
    if (leaves && k_thread() == 0)
        k_add(&args.state->witnessed, 1); /* it does not look: the others do */
    if (!leaves) {
        primary_triggers(&plan);
        if (k_thread() == 0)
            primary_holds(&args, &plan);
        k_barrier();
    }
    primary_stores(&args, &plan, FORM_PLAIN);
}

static const struct pair threads_pairs[] = {
    PAIR("block", SHAPE_WORDS, PAIR_TWO_WARPS, threads_primary, threads_block_dependent, queue_pair),
    PAIR("warp", SHAPE_WORDS, PAIR_TWO_WARPS, threads_primary, threads_warp_dependent, queue_pair),
    PAIR("flag", SHAPE_WORDS, PAIR_TWO_WARPS, threads_primary, threads_flag_dependent, queue_pair),
    PAIR("free", SHAPE_WORDS, PAIR_TWO_WARPS, threads_primary, threads_free_dependent, queue_pair),
    PAIR("divergent", SHAPE_WORDS, PAIR_TWO_WARPS, threads_divergent_primary, threads_divergent_dependent, queue_pair),
    PAIR("one", SHAPE_WORDS, PAIR_TWO_WARPS, threads_one_primary, threads_dependent_of_all, queue_pair),
    PAIR("leave", SHAPE_WORDS, PAIR_TWO_BLOCKS, threads_leave_primary, threads_dependent_of_all, queue_pair),
};
IMAGE(threads, threads_pairs)
