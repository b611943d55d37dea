/* joins_kernels.h - the works of joins.cu, and what follows them. */
#ifndef JOINS_KERNELS_H_INCLUDED
#define JOINS_KERNELS_H_INCLUDED

KERNEL(joins_work) { slow_stores(&args); }

/* Through the path for what nobody writes while the kernel runs. */
KERNEL(joins_read_only)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    for (i = k_thread(); i < plan.words; i += k_threads())
        k_store(args.seen + i, k_load_read_only(args.data + i));
}

/* Neither waits nor stores. */
KERNEL(joins_silent)
{
    (void)args;
    k_trigger();
}

/* The last of many blocks have a word each and store it late; or see the words. */
KERNEL(joins_large_work)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t back = k_blocks() - 1 - k_block();

    k_trigger();
    if (back >= PLACE_WORDS)
        return;
    k_delay(args.state, plan.hold_ns);
    k_store(args.data + back, words_fresh(plan.key, back));
}

KERNEL(joins_large_follower)
{
    struct trial_plan plan = k_plan(&args);

    k_wait_device();
    if (k_block() < plan.words)
        k_store(args.seen + k_block(), k_load(args.data + k_block()));
}

KERNEL(joins_follower) { follower_copies(&args, 0); }

KERNEL(joins_block_followers)
{
    struct kernel_args own = args;

    own.seen += k_block() * k_plan(&args).words;
    follower_copies(&own, 0);
}

KERNEL(joins_waiting_follower) { follower_copies(&args, 1); }

/* Reads the words before its wait, too. */
DEVICE_FN void reads_early(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t i;

    for (i = k_thread(); i < plan.words; i += k_threads())
        k_store(args->seen + i, k_load(args->data + i));
    follower_copies(args, 1);
}

KERNEL(joins_early_follower) { reads_early(&args); }
KERNEL(joins_fenced_follower)
{
    k_fence();
    reads_early(&args);
}

/* For launches of one graph, which never overlap, whatever it triggers: a launch that finds another one on its way counts it. */
KERNEL(joins_alone)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    k_add(&args.state->began, 1);
    k_delay(args.state, plan.hold_ns);
    if (k_load_relaxed(&args.state->began) != k_load_relaxed(&args.state->finished) + 1)
        k_add(&args.state->early, 1);
    k_add(&args.state->finished, 1);
}

#endif
