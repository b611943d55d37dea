/* loops_between.h - the kernels of a body between the two kernels of loops.cu, which runs in some rounds only: one, or a pair of its own. */
#ifndef LOOPS_BETWEEN_H_INCLUDED
#define LOOPS_BETWEEN_H_INCLUDED

#define PATTERNS 3u
#define INNER_BEGUN_AT 43u     /* in how many rounds the second kernel of the body has begun, counting those without it */
#define INNER_WORDS_AT 48u     /* what the first kernel of the body hands on */

/* The plan's `rotate` is in which rounds the body runs, and its `residents` whether the pair's edge leads from block starts. */
DEVICE_FN int is_around_body(const struct trial_plan *plan) { return way_of(plan) == AROUND_BODY || way_of(plan) == AROUND_PAIR; }

/* In every second round of all; in every third one; in the first and the last one of the loop. */
DEVICE_FN int runs_between(const struct trial_plan *plan, uint32_t round)
{
    uint32_t in_loop = round % rounds_of(plan);

    if (plan->rotate == 0)
        return round % 2 != 0;
    if (plan->rotate == 1)
        return round % 3 == 0;
    return in_loop == 0 || in_loop + 1 == rounds_of(plan);
}

DEVICE_FN void must_run(const struct kernel_args *args, const struct trial_plan *plan)
{
    if (!runs_between(plan, k_load_relaxed(&args->state->finished)))
        k_add(&args->state->early, 1);
}

/* Hands the words on. */
KERNEL(loops_between)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0)
        must_run(&args, &plan);
    k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
}

/* Hands the words on, late, to the second one of the pair, which does not begin before the trigger. */
KERNEL(loops_inner_first)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);

    if (k_thread() == 0) {
        must_run(&args, &plan);
        if (!plan.residents && k_poll(args.state, args.data + INNER_BEGUN_AT, round + 1, plan.hold_ns))
            k_add(&args.state->early, 1);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + INNER_WORDS_AT + k_thread(), k_load(args.data + k_thread()));
}

KERNEL(loops_inner_second)
{
    if (k_thread() == 0)
        k_store_relaxed(args.data + INNER_BEGUN_AT, k_load_relaxed(&args.state->finished) + 1);
    if (WAITS)
        k_wait_device();
    k_store(args.seen + k_thread(), k_load(args.data + INNER_WORDS_AT + k_thread()));
}

#endif
