/* crowds_kept.h - what crowds.cu asks of shared memory: each block has its own, beside the other blocks of its grid and those of a grid that
 * overlaps it, which may have more or less of it, and static shared memory, too. */
#ifndef CROWDS_KEPT_H_INCLUDED
#define CROWDS_KEPT_H_INCLUDED

#define KEPT_BLOCKS 8u         /* the last ones of each of the two grids */
#define KEPT_MANY 100u
#define KEPT_FIXED 768u        /* words of static shared memory */
#define KEPT_WORDS 4096u       /* of dynamic shared memory are filled, all over it */
#define KEPT_SIZES 5u          /* of 1 to 16 KiB */
#define KEPT_ROUNDS 10u        /* of these sizes; then come large ones, of which a launch has to be allowed those over 48 KiB */
#ifdef PDL_MODEL
static const unsigned kept_large[] = { 40960 };
#else
static const unsigned kept_large[] = { 50176, 66560, 98304 };
#endif
#define KEPT_LARGE (sizeof(kept_large) / sizeof(kept_large[0]))

/* All these blocks of both grids, bounded. The first grid tells whether they met: the second one counts its blocks also once they have left. */
DEVICE_FN void kept_blocks_meet(const struct kernel_args *args, const struct trial_plan *plan)
{
    k_barrier();
    if (k_thread() == 0) {
        k_add(&args->state->alive, 1);
        if (k_poll(args->state, &args->state->alive, 2 * KEPT_BLOCKS, plan->bound_ns) && !args->input)
            k_store_relaxed(&args->state->witnessed, 1);
    }
    k_barrier();
}

/* args.input is set in the second grid. Each of these blocks fills its shared memory, `fixed` too, meets all of them, bounded, and looks for its
 * words. */
DEVICE_FN void keeps(const struct kernel_args *args, volatile uint32_t *fixed, uint32_t fixed_words)
{
    struct trial_plan plan = k_plan(args);
    volatile uint32_t *own = k_shared();
    uint64_t key = plan.key + k_block() + (args->input ? k_blocks() : 0);
    uint32_t all = k_dynamic_shared() / 4, step = (all + KEPT_WORDS - 1) / KEPT_WORDS, words = all / step, wrong = 0, i;

    k_trigger();
    if (k_block() + KEPT_BLOCKS < k_blocks())
        return;
    for (i = k_thread(); i < words; i += k_threads())
        own[i * step] = words_fresh(key, i);
    for (i = k_thread(); i < fixed_words; i += k_threads())
        fixed[i] = ~words_fresh(key, i);
    kept_blocks_meet(args, &plan);
    for (i = k_thread(); i < words; i += k_threads()) /* what another thread stored, too */
        wrong += own[(words - 1 - i) * step] != words_fresh(key, words - 1 - i);
    for (i = k_thread(); i < fixed_words; i += k_threads())
        wrong += fixed[fixed_words - 1 - i] != ~words_fresh(key, fixed_words - 1 - i);
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_keeps) { keeps(&args, NULL, 0); }

/* With static shared memory beside what the launch gives it; the model has none. */
KERNEL(crowds_keeps_fixed)
{
#ifdef PDL_MODEL
    keeps(&args, NULL, 0);
#else
    __shared__ uint32_t fixed[KEPT_FIXED];

    keeps(&args, fixed, KEPT_FIXED);
#endif
}

/* Whatever they have of it, both kernels are to fit beside each other on an SM: it does not change its split while something runs there (F29b).
 * In every third round they are to need other splits. */
static cudaError_t split_kept(unsigned round)
{
    cudaError_t error = cudaFuncSetAttribute((const void *)SYMBOL(crowds_keeps), cudaFuncAttributePreferredSharedMemoryCarveout,
                                             round % 3 == 2 ? cudaSharedmemCarveoutMaxL1 : cudaSharedmemCarveoutMaxShared);

    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute((const void *)SYMBOL(crowds_keeps_fixed), cudaFuncAttributePreferredSharedMemoryCarveout,
                                cudaSharedmemCarveoutMaxShared);
}

static cudaError_t allow_kept(void)
{
    int most = (int)kept_large[KEPT_LARGE - 1];
    cudaError_t error = cudaFuncSetAttribute((const void *)SYMBOL(crowds_keeps), cudaFuncAttributeMaxDynamicSharedMemorySize, most);

    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute((const void *)SYMBOL(crowds_keeps_fixed), cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

/* Of the first and of the second grid. A cooperative one is to fit anywhere: it has no large ones. */
static void size_kept(unsigned round, unsigned how, size_t bytes[2])
{
    unsigned size = round % KEPT_SIZES, large = round - KEPT_ROUNDS;

    bytes[0] = (size_t)1024 << size;
    bytes[1] = (size_t)1024 << ((round + how) % 2 ? (size + 1 + how % 4) % KEPT_SIZES : size);
    if (round >= KEPT_ROUNDS && how != WITHIN_COOPERATIVE) {
        bytes[large / KEPT_LARGE % 2] = kept_large[large % KEPT_LARGE];
        if (how % 3 == 0 && KEPT_LARGE > 1)
            bytes[0] = kept_large[(large + 1) % KEPT_LARGE];
    }
}

/* A grid of this kind, and one more that may overlap it, in half of the trials with another amount of shared memory, or with static one beside it.
 * A cooperative one has no more blocks than fit anywhere. */
static cudaError_t launch_kept(const struct crowd *crowd, unsigned how, unsigned trial)
{
    cudaStream_t stream = crowd->ask->stream;
    cudaLaunchAttribute attribute[2];
    struct kernel_args args = crowd->args;
    unsigned round = trial / WITHIN;
    const void *second = (round / 2 + how) % 2 ? (const void *)SYMBOL(crowds_keeps_fixed) : (const void *)SYMBOL(crowds_keeps);
    unsigned threads = trial % 3 || round >= KEPT_ROUNDS ? HANDERS : 1, kind = how == 0 || how == WITHIN_SIX ? 0 : 1;
    unsigned blocks = how == WITHIN_COOPERATIVE || round % 2 ? KEPT_BLOCKS : KEPT_MANY;
    size_t bytes[2];
    cudaError_t error = split_kept(round);

    size_kept(round, how, bytes);
    attribute[0] = within_attribute(crowd, how);
    attribute[kind] = serialization(1);
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_keeps), &args, blocks, threads, bytes[0], stream, attribute, how ? 1 : 0);
    args.input = args.data;
    if (error == cudaSuccess)
        error = launch_sized(second, &args, blocks, threads, bytes[1], stream, attribute, kind + 1);
    return error;
}

/* The same as a graph that is launched twice. What the first launch does is asked as well. */
static cudaError_t launch_kept_twice(const struct crowd *crowd, unsigned how, unsigned trial)
{
    cudaStream_t stream = crowd->ask->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned launches, early = 0;
    cudaError_t end, error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = launch_kept(crowd, how, trial);
    end = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess)
        error = end == cudaSuccess ? cudaGraphInstantiate(&exec, graph, 0) : end;
    for (launches = 0; launches < 2 && error == cudaSuccess; launches++) {
        prepare_trial(crowd->room, trial);
        error = cudaGraphLaunch(exec, stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        early += crowd->room->state.early;
    }
    crowd->room->state.early = early;
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t run_kept(struct crowd *crowd, unsigned how, unsigned trial)
{
    cudaError_t error;

    prepare_trial(crowd->room, trial);
    error = trial / WITHIN % 3 == 1 ? launch_kept_twice(crowd, how, trial) : launch_kept(crowd, how, trial);
    return error == cudaSuccess ? cudaStreamSynchronize(crowd->ask->stream) : error;
}

static void ask_kept(struct crowd *crowd)
{
    unsigned wrong[WITHIN] = { 0 }, met = 0, trial, how, planned = (KEPT_ROUNDS + 2 * KEPT_LARGE) * WITHIN;
    char text[96];
    cudaError_t error = allow_kept();

    for (trial = 0; ask_goes_on(crowd->ask, trial, planned) && error == cudaSuccess; trial++) {
        error = run_kept(crowd, trial % WITHIN, trial);
        wrong[trial % WITHIN] += error == cudaSuccess && crowd->room->state.early;
        met += error == cudaSuccess && crowd->room->state.witnessed;
    }
    ask_expect(crowd->ask, "grids with shared memory", error, cudaSuccess);
    if (error == cudaSuccess && met < planned / 8)
        ask_skip(crowd->ask, "grids with shared memory", "the two grids hardly met");
    for (how = 0; how < WITHIN; how++) {
        snprintf(text, sizeof(text), "others' words in the shared memory of a block %s", within_name[how]);
        ask_expect_none(crowd->ask, text, wrong[how], planned / WITHIN);
    }
}

#endif
