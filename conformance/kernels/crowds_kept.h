/* crowds_kept.h - what crowds.cu asks of shared memory: each block has its own, beside the other blocks of its grid and those of a grid that
 * overlaps it. */
#ifndef CROWDS_KEPT_H_INCLUDED
#define CROWDS_KEPT_H_INCLUDED

#define KEPT_BLOCKS 8u         /* of each of the two grids */

/* args.input is set in the second grid. Each block fills its shared memory, meets all blocks, bounded, and looks for its words. */
KERNEL(crowds_keeps)
{
    struct trial_plan plan = k_plan(&args);
    volatile uint32_t *own = k_shared();
    uint64_t key = plan.key + k_block() + (args.input ? k_blocks() : 0);
    uint32_t words = k_dynamic_shared() / 4, wrong = 0, i;

    k_trigger();
    for (i = k_thread(); i < words; i += k_threads())
        own[i] = words_fresh(key, i);
    k_barrier();
    if (k_thread() == 0) {
        k_add(&args.state->alive, 1);
        if (k_poll(args.state, &args.state->alive, 2 * k_blocks(), plan.bound_ns))
            k_store_relaxed(&args.state->witnessed, 1);
    }
    k_barrier();
    for (i = k_thread(); i < words; i += k_threads()) /* what another thread stored, too */
        wrong += own[words - 1 - i] != words_fresh(key, words - 1 - i);
    if (wrong)
        k_add(&args.state->early, 1);
}

/* A grid of this kind, and one more that may overlap it. */
static cudaError_t run_kept(struct crowd *crowd, unsigned how, unsigned trial)
{
    cudaStream_t stream = crowd->ask->stream;
    cudaLaunchAttribute attribute[2];
    struct kernel_args args = crowd->args;
    size_t bytes = (size_t)1024 << trial / WITHIN % 5;
    unsigned threads = trial % 3 ? HANDED : 1, kind = how == 0 || how == WITHIN_SIX ? 0 : 1;
    cudaError_t error;

    attribute[0] = within_attribute(how);
    attribute[kind] = serialization(1);
    prepare_trial(crowd->room, trial);
    error = launch_sized((const void *)SYMBOL(crowds_keeps), &args, KEPT_BLOCKS, threads, bytes, stream, attribute, how ? 1 : 0);
    args.input = args.data;
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_keeps), &args, KEPT_BLOCKS, threads, bytes, stream, attribute, kind + 1);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

static void ask_kept(struct crowd *crowd)
{
    unsigned wrong[WITHIN] = { 0 }, met = 0, trial, how, planned = 10 * WITHIN;
    char text[96];
    cudaError_t error = cudaSuccess;

    for (trial = 0; ask_goes_on(crowd->ask, trial, planned) && error == cudaSuccess; trial++) {
        error = run_kept(crowd, trial % WITHIN, trial);
        wrong[trial % WITHIN] += error == cudaSuccess && crowd->room->state.early;
        met += error == cudaSuccess && crowd->room->state.witnessed;
    }
    ask_expect(crowd->ask, "grids with shared memory", error, cudaSuccess);
    if (error == cudaSuccess && met < planned / 4)
        ask_skip(crowd->ask, "grids with shared memory", "the two grids hardly met");
    for (how = 0; how < WITHIN; how++) {
        snprintf(text, sizeof(text), "others' words in the shared memory of a block %s", within_name[how]);
        ask_expect_none(crowd->ask, text, wrong[how], planned / WITHIN);
    }
}

#endif
