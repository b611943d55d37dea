/* crowds_frames.h - what crowds.cu asks of local memory, where threads keep arrays and what registers do not hold: each thread has its own, beside
 * those of a grid that overlaps its own, which may need more of it for each thread than any grid before, also in a graph that was made before. */
#ifndef CROWDS_FRAMES_H_INCLUDED
#define CROWDS_FRAMES_H_INCLUDED

#define FRAMES 3u
#define FRAMES_TRIALS (3 * FRAMES * FRAMES)

/* The compiler does not know where `first` is, and keeps no word in a register. */
DEVICE_FN uint32_t frame_lost(const volatile uint32_t *frame, uint32_t words, uint32_t step, uint32_t first, uint64_t key)
{
    uint32_t i, wrong = 0;

    for (i = 0; i < words; i += step)
        wrong += frame[(first + i) % words] != words_fresh(key, i);
    return wrong;
}

/* As in keeps(): args->input is set in the second grid, which waits as well; args->seen in one beside both. Every so many words are used. Each block of
 * the first grid stores a word late, and a block of the second one has read the line before, and finds the word after its wait. */
DEVICE_FN void keeps_words(const struct kernel_args *args, volatile uint32_t *frame, uint32_t words, uint32_t step)
{
    struct trial_plan plan = k_plan(args);
    uint64_t key = plan.key + (k_block() * k_threads() + k_thread()) * 4 + (args->input ? 1 : 0) + (args->seen ? 2 : 0);
    uint32_t first = plan.rotate % words, i, wrong;

    k_trigger();
    for (i = 0; i < words; i += step)
        frame[(first + i) % words] = words_fresh(key, i);
    if (args->input)
        (void)k_load(args->data + k_block());
    kept_blocks_meet(args, &plan);
    wrong = frame_lost(frame, words, step, first, key);
    if (args->input) {
        k_wait_device();
        wrong += k_load(args->data + k_block()) != words_fresh(plan.key, k_block());
    } else if (!args->seen && k_thread() == 0) {
        k_delay(args->state, plan.hold_ns);
        k_store(args->data + k_block(), words_fresh(plan.key, k_block()));
    }
    wrong += frame_lost(frame, words, step, first, key);
    if (wrong)
        k_add(&args->state->early, 1);
}

DEVICE_FN void keeps_frame(const struct kernel_args *args, volatile uint32_t *frame, uint32_t words) { keeps_words(args, frame, words, 1); }

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

/* Larger than any before: the device may have to move the local memory of all threads. */
KERNEL(crowds_frame_grown)
{
    FRAME(frame, 800);

    keeps_words(&args, frame, 800, 16);
}

KERNEL(crowds_frame_grown_again)
{
    FRAME(frame, 1000);

    keeps_words(&args, frame, 1000, 20);
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
    ask_expect_none(crowd->ask, "grids of which a thread found other words in its local memory, or after its wait", wrong, FRAMES_TRIALS);
}

/* ---- graphs that were made before, and launches of other kinds, beside a grid with more of it than any before ---- */

enum grown_way { GROWN_CAPTURED, GROWN_CHILD, GROWN_CLUSTERED, GROWN_COOPERATIVE, GROWN_DOMAIN, GROWN_WAYS };
#define GROWN_TIMES 3u         /* the first time it does not grow */
#define GROWN_TRIALS (GROWN_TIMES * GROWN_WAYS * 2)
#ifdef PDL_MODEL
#define GROWN_THREADS 8u
#else
#define GROWN_THREADS 64u
#endif

struct grown {
    struct crowd *crowd;
    cudaGraphExec_t exec[GROWN_CHILD + 1];
};

/* A grid and its dependent. */
static cudaError_t launch_frames(const struct crowd *crowd, enum grown_way way)
{
    cudaStream_t stream = crowd->ask->stream;
    struct kernel_args args = crowd->args;
    cudaLaunchAttribute attribute[2];
    unsigned plain = way < GROWN_CLUSTERED;
    cudaError_t error;

    attribute[0] = way == GROWN_CLUSTERED ? in_clusters(2) : way == GROWN_COOPERATIVE ? cooperatively() : in_remote_domain();
    error = launch_blocks((const void *)SYMBOL(crowds_frame_small), &args, KEPT_BLOCKS, GROWN_THREADS, stream, attribute, plain ? 0 : 1);
    args.input = args.data;
    attribute[!plain] = serialization(1);
    if (error != cudaSuccess)
        return error;
    return launch_blocks((const void *)SYMBOL(crowds_frame_middle), &args, KEPT_BLOCKS, GROWN_THREADS, stream, attribute, plain ? 1 : 2);
}

static cudaError_t open_grown(struct grown *g)
{
    cudaGraph_t graph = NULL, outer = NULL;
    cudaGraphNode_t node;
    cudaError_t end, error = cudaStreamBeginCapture(g->crowd->ask->stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = launch_frames(g->crowd, GROWN_CAPTURED);
    end = cudaStreamEndCapture(g->crowd->ask->stream, &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&g->exec[GROWN_CAPTURED], graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&outer, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&g->exec[GROWN_CHILD], outer, 0);
    if (outer)
        (void)cudaGraphDestroy(outer);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_grown_beside(const struct crowd *crowd, unsigned times)
{
    const void *const functions[GROWN_TIMES] = { (const void *)SYMBOL(crowds_frame_small), (const void *)SYMBOL(crowds_frame_grown),
                                                 (const void *)SYMBOL(crowds_frame_grown_again) };
    struct kernel_args args = crowd->args;

    args.seen = args.data;
    return launch_blocks(functions[times], &args, KEPT_BLOCKS, GROWN_THREADS, crowd->ask->side, NULL, 0);
}

/* By turns the grid beside them comes after them and before them. */
static cudaError_t run_grown(const struct grown *g, unsigned trial)
{
    struct crowd *crowd = g->crowd;
    enum grown_way way = (enum grown_way)(trial / 2 % GROWN_WAYS);
    unsigned times = trial / (2 * GROWN_WAYS), i;
    cudaError_t error = cudaSuccess;

    prepare_trial(crowd->room, trial);
    crowd->room->plan.rotate = trial;
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        if (i != trial % 2)
            error = launch_grown_beside(crowd, times);
        else
            error = way <= GROWN_CHILD ? cudaGraphLaunch(g->exec[way], crowd->ask->stream) : launch_frames(crowd, way);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(crowd->ask->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(crowd->ask->side) : error;
}

/* Nor does anybody promise that these do. */
static void ask_grown(struct crowd *crowd)
{
    struct grown g = PDL_ZERO;
    unsigned trial, wrong = 0, i;
    cudaError_t error;

    g.crowd = crowd;
    error = open_grown(&g);
    for (trial = 0; ask_goes_on(crowd->ask, trial, GROWN_TRIALS) && error == cudaSuccess; trial++) {
        error = run_grown(&g, trial);
        wrong += error == cudaSuccess && crowd->room->state.early;
    }
    for (i = 0; i <= GROWN_CHILD; i++)
        if (g.exec[i])
            (void)cudaGraphExecDestroy(g.exec[i]);
    ask_expect(crowd->ask, "grids beside one with more local memory", error, cudaSuccess);
    ask_expect_none(crowd->ask, "grids beside one with more local memory, or in a graph that is older, whose threads found other words there", wrong,
                    GROWN_TRIALS);
}

#endif
