/* crowds_frames.h - what crowds.cu asks of local memory, where threads keep arrays and what registers do not hold: each thread has its own, beside
 * those of a grid that overlaps its own, which may need more of it for each thread than any grid before. */
#ifndef CROWDS_FRAMES_H_INCLUDED
#define CROWDS_FRAMES_H_INCLUDED

#define FRAMES 3u
#define FRAMES_TRIALS (3 * FRAMES * FRAMES)

#ifdef PDL_MODEL
#define FRAME(name, words) volatile uint32_t *name = (volatile uint32_t *)model_local((words) * sizeof(uint32_t))
#else
#define FRAME(name, words) volatile uint32_t name[words]
#endif

/* The compiler does not know where `first` is, and keeps no word in a register. */
DEVICE_FN uint32_t frame_lost(const volatile uint32_t *frame, uint32_t words, uint32_t first, uint64_t key)
{
    uint32_t i, wrong = 0;

    for (i = 0; i < words; i++)
        wrong += frame[(first + i) % words] != words_fresh(key, i);
    return wrong;
}

/* As in keeps(): args->input is set in the second grid, which waits as well. */
DEVICE_FN void keeps_frame(const struct kernel_args *args, volatile uint32_t *frame, uint32_t words)
{
    struct trial_plan plan = k_plan(args);
    uint64_t key = plan.key + (k_block() * k_threads() + k_thread()) * 2 + (args->input ? 1 : 0);
    uint32_t first = plan.rotate % words, i, wrong;

    k_trigger();
    for (i = 0; i < words; i++)
        frame[(first + i) % words] = words_fresh(key, i);
    kept_blocks_meet(args, &plan);
    wrong = frame_lost(frame, words, first, key);
    if (args->input)
        k_wait_device();
    wrong += frame_lost(frame, words, first, key);
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_frame_small)
{
    FRAME(frame, 16);

    keeps_frame(&args, frame, 16);
}

KERNEL(crowds_frame_middle)
{
    FRAME(frame, 200);

    keeps_frame(&args, frame, 200);
}

KERNEL(crowds_frame_large)
{
    FRAME(frame, 600);

    keeps_frame(&args, frame, 600);
}

/* A smaller one is followed by a larger one the first time. */
static cudaError_t run_frames(struct crowd *crowd, unsigned trial)
{
    const void *const functions[FRAMES] = { (const void *)SYMBOL(crowds_frame_small), (const void *)SYMBOL(crowds_frame_middle),
                                            (const void *)SYMBOL(crowds_frame_large) };
    struct kernel_args args = crowd->args;
    cudaStream_t stream = crowd->ask->stream;
    unsigned threads = trial % 4 ? HANDERS : 1;
    cudaError_t error;

    prepare_trial(crowd->room, trial);
    crowd->room->plan.rotate = trial;
    crowd->room->plan.bound_ns = 100000; /* time to fill large ones */
    error = launch_crowd(functions[trial / FRAMES % FRAMES], &args, KEPT_BLOCKS, threads, stream, 0);
    args.input = args.data;
    if (error == cudaSuccess)
        error = launch_crowd(functions[trial % FRAMES], &args, KEPT_BLOCKS, threads, stream, 1);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

/* Nobody promises that grids of other frames overlap. */
static void ask_frames(struct crowd *crowd)
{
    unsigned trial, wrong = 0, met = 0;
    cudaError_t error = cudaSuccess;

    for (trial = 0; ask_goes_on(crowd->ask, trial, FRAMES_TRIALS) && error == cudaSuccess; trial++) {
        error = run_frames(crowd, trial);
        wrong += error == cudaSuccess && crowd->room->state.early;
        met += error == cudaSuccess && crowd->room->state.witnessed;
    }
    ask_expect(crowd->ask, "grids with local memory", error, cudaSuccess);
    if (error == cudaSuccess && met == 0)
        ask_skip(crowd->ask, "grids with local memory", "the two grids never met");
    ask_expect_none(crowd->ask, "grids of which a thread found other words in its local memory", wrong, FRAMES_TRIALS);
}

#endif
