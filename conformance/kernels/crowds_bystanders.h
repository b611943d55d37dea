/* crowds_bystanders.h - what crowds.cu asks of cached lines that others have brought in: a grid of another stream stands on the SMs and goes on
 * reading words, while in this stream a kernel or a copy stores beside them, in the same lines, and a grid finds there what was stored: after its
 * wait, or as an ordinary one. Of some grids that wait every other block only reads such words before the end of the primary, and leaves.
 * Nobody reads a word that another one stores to meanwhile. */
#ifndef CROWDS_BYSTANDERS_H_INCLUDED
#define CROWDS_BYSTANDERS_H_INCLUDED

#ifdef PDL_MODEL
#define SECTORS 16u            /* of eight words, which caches bring in together: the last four of them are stored to */
#define BESIDE_THREADS 8u
#else
#define SECTORS 64u
#define BESIDE_THREADS 32u
#endif
#define BESIDE_ROUNDS 3u       /* a store and a reader, each with words of its own, while the same grid stands there */
#define BESIDE_TRIALS (4 * CROWD_DRESSES)
#define BESIDE_FLAG (8 * SECTORS) /* the word behind the sectors, where words are handed over by a flag */
#define BESIDE_HERE (8 * SECTORS + 8) /* in another sector */
#define BESIDE_GONE (8 * SECTORS + 16)
#define BESIDE_BYTES ((8 * SECTORS + 17) * sizeof(uint32_t))
#define BYSTANDER_NS 1000000u  /* so long it stays at most */

struct beside_args {
    const struct trial_plan *plan;
    struct trial_state *state;   /* of the round */
    uint32_t *data;              /* SECTORS of eight words */
    uint32_t *here, *gone;       /* how many blocks of bystanders have begun in all trials, and how many may go: never reset */
    const uint32_t *leave;       /* the host's; not 0: the bystander may go */
    uint32_t round, waits, some; /* some: every other block does not wait, and only reads what nobody stores to */
    uint32_t bystanders, read_only; /* bystanders: `here` once all of this trial have begun */
};

DEVICE_FN struct trial_plan beside_plan(const struct beside_args *args)
{
    struct kernel_args planned = PDL_ZERO;

    planned.plan = args->plan;
    return k_plan(&planned);
}

DEVICE_FN uint32_t beside_load(const uint32_t *word, uint32_t read_only) { return read_only ? k_load_read_only(word) : k_load(word); }

/* Only one block asks the host: where each of 132 did, each fence of the grids beside them took 125 microseconds on an H200. */
DEVICE_FN uint32_t beside_may_go(const struct beside_args *args)
{
    if (k_block() == 0 && k_load_system(args->leave))
        k_store_relaxed(args->gone, args->bystanders);
    return k_load_relaxed(args->gone) >= args->bystanders;
}

/* All lines are in its SM's cache all the time. */
KERNEL_OF(crowds_bystander, struct beside_args)
{
    uint64_t begin = k_now();
    uint32_t i, passes = 0;

    do {
        for (i = k_thread(); i < SECTORS; i += k_threads())
            (void)beside_load(args.data + 8 * i, args.read_only);
        if (passes++ == 0 && k_thread() == 0)
            k_add(args.here, 1);
    } while (!beside_may_go(&args) && k_now() - begin < BYSTANDER_NS && passes < K_SPIN_LIMIT);
}

/* Once the bystander stands there and the reader runs, if that may. */
KERNEL_OF(crowds_beside_stores, struct beside_args)
{
    struct trial_plan plan = beside_plan(&args);
    uint32_t i;

    k_trigger();
    if (k_thread() == 0) {
        (void)k_poll(args.state, args.here, args.bystanders, plan.bound_ns);
        if (args.waits && k_poll(args.state, &args.state->alive, 1, plan.bound_ns))
            k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    for (i = k_thread(); i < 4 * SECTORS; i += k_threads())
        k_store(args.data + i / 4 * 8 + 4 + i % 4, words_fresh(plan.key + args.round, i));
}

KERNEL_OF(crowds_beside_reads, struct beside_args)
{
    struct trial_plan plan = beside_plan(&args);
    uint32_t i, wrong = 0, leaves = args.waits && args.some && k_block() % 2;

    for (i = k_thread(); i < SECTORS && (leaves || args.some); i += k_threads())
        (void)k_load(args.data + 8 * i);
    k_barrier();
    if (k_thread() == 0)
        k_store_relaxed(&args.state->alive, 1);
    if (leaves)
        return;
    if (args.waits && WAITS)
        k_wait_device();
    for (i = k_thread(); i < 4 * SECTORS; i += k_threads())
        wrong += beside_load(args.data + i / 4 * 8 + 4 + i % 4, args.read_only && !args.waits) != words_fresh(plan.key + args.round, i);
    if (wrong)
        k_add(&args.state->left, 1);
}

/* ---- host ---- */

struct beside_room {             /* pinned */
    struct trial_plan plan;
    struct trial_state state[BESIDE_ROUNDS];
    uint32_t words[BESIDE_ROUNDS][4 * SECTORS]; /* that are copied */
    uint32_t leave, here;
};

struct bystanders {
    struct crowd *crowd;
    struct beside_room *room;
    struct beside_args args;     /* as the device has the room */
    cudaStream_t side;
    unsigned sms, trial, looks, stale, missing;
};

static cudaError_t open_bystanders(struct bystanders *b, struct crowd *crowd)
{
    const void *const all[] = { (const void *)SYMBOL(crowds_bystander), (const void *)SYMBOL(crowds_beside_stores),
                                (const void *)SYMBOL(crowds_beside_reads) };
    char *device = NULL;
    int ordinal = 0, sms = 0;
    unsigned i;
    cudaError_t error = cudaGetDevice(&ordinal);

    b->crowd = crowd;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, ordinal);
    for (i = 0; i < sizeof(all) / sizeof(all[0]) && error == cudaSuccess; i++) /* the same for all: they are to stand beside each other (F29b) */
        error = cudaFuncSetAttribute(all[i], cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&b->room, sizeof(*b->room), cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, b->room, 0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&b->args.data, BESIDE_BYTES);
    if (error == cudaSuccess)
        error = clear_memory(b->args.data, BESIDE_BYTES);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&b->side, cudaStreamNonBlocking);
    if (error != cudaSuccess)
        return error;
    memset(b->room, 0, sizeof(*b->room));
    b->sms = (unsigned)sms;
    b->args.bystanders = b->sms;
    b->args.here = b->args.data + BESIDE_HERE;
    b->args.gone = b->args.data + BESIDE_GONE;
    b->args.plan = (const struct trial_plan *)device;
    b->args.state = (struct trial_state *)(device + offsetof(struct beside_room, state));
    b->args.leave = (const uint32_t *)(device + offsetof(struct beside_room, leave));
    return cudaSuccess;
}

static void close_bystanders(struct bystanders *b)
{
    if (b->side)
        (void)cudaStreamDestroy(b->side);
    (void)cudaFree(b->args.data);
    (void)cudaFreeHost(b->room);
}

static cudaError_t launch_bystander(struct bystanders *b, uint32_t read_only)
{
    volatile uint32_t *leave = &b->room->leave;

    *leave = 0;
    b->args.read_only = read_only;
    return launch_given((const void *)SYMBOL(crowds_bystander), &b->args, b->sms, BESIDE_THREADS, 0, b->side, NULL, 0);
}

static cudaError_t end_bystander(struct bystanders *b)
{
    volatile uint32_t *leave = &b->room->leave;

    *leave = 1;
    b->args.bystanders += b->sms;
    return cudaStreamSynchronize(b->side);
}

static void prepare_beside(struct bystanders *b, unsigned launch)
{
    struct trial_state empty = PDL_ZERO;
    unsigned round, i;

    b->room->plan.key = 0xBE51DEull * (2 * b->trial + launch + 1);
    b->room->plan.bound_ns = 30000;
    b->room->plan.hold_ns = 1000 + b->trial % 3 * 1000;
    for (round = 0; round < BESIDE_ROUNDS; round++) {
        b->room->state[round] = empty;
        for (i = 0; i < 4 * SECTORS; i++)
            b->room->words[round][i] = words_fresh(b->room->plan.key + round, i);
    }
}

static void look_beside(struct bystanders *b)
{
    unsigned round, stale = 0;

    for (round = 0; round < BESIDE_ROUNDS; round++)
        stale += b->room->state[round].left;
    b->stale += stale != 0;
    b->looks++;
}

/* Stores words, or copies them in rows, then reads them: with attribute 6 and a wait, or without either. */
static cudaError_t launch_beside(struct bystanders *b, unsigned round, cudaStream_t stream)
{
    cudaLaunchAttribute attributes[3] = { serialization(1), serialization(1), serialization(1) };
    unsigned dress = b->trial % CROWD_DRESSES, waits = (b->trial / CROWD_DRESSES + round) % 2, copies = !waits && b->trial / 2 % 2;
    unsigned count = waits + dress_crowd(dress, b->crowd->greatest, attributes + waits);
    unsigned blocks = dress == DRESS_GROUPED ? GROUPED_BLOCKS : (b->sms + 1) / 2 * 2;
    struct beside_args args = b->args;
    cudaError_t error;

    args.round = round;
    args.state += round;
    args.waits = waits;
    args.some = b->trial / CROWD_DRESSES / 2 % 2;
    args.read_only = b->trial % 2;
    if (copies)
        error = cudaMemcpy2DAsync(args.data + 4, 8 * sizeof(uint32_t), b->room->words[round], 4 * sizeof(uint32_t), 4 * sizeof(uint32_t), SECTORS,
                                  cudaMemcpyHostToDevice, stream);
    else
        error = launch_given((const void *)SYMBOL(crowds_beside_stores), &args, 1, BESIDE_THREADS, 0, stream, NULL, 0);
    if (error != cudaSuccess)
        return error;
    return launch_given((const void *)SYMBOL(crowds_beside_reads), &args, blocks, BESIDE_THREADS, dress_bytes(dress), stream, attributes, count);
}

static cudaError_t launch_rounds(struct bystanders *b, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    unsigned round;

    for (round = 0; round < BESIDE_ROUNDS && error == cudaSuccess; round++)
        error = launch_beside(b, round, stream);
    return error;
}

/* exec: what is launched, twice then; NULL: the rounds themselves */
static cudaError_t run_beside(struct bystanders *b, cudaGraphExec_t exec)
{
    cudaStream_t stream = b->crowd->ask->stream;
    unsigned launch;
    cudaError_t end, error = launch_bystander(b, b->trial / 3 % 2);

    for (launch = 0; launch < (exec ? 2u : 1u) && error == cudaSuccess; launch++) {
        prepare_beside(b, launch);
        error = exec ? cudaGraphLaunch(exec, stream) : launch_rounds(b, stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(&b->room->here, b->args.here, sizeof(b->room->here), cudaMemcpyDeviceToHost, stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        if (error == cudaSuccess)
            look_beside(b);
    }
    b->missing += b->room->here < b->args.bystanders;
    end = end_bystander(b);
    return error == cudaSuccess ? end : error;
}

/* Made before the bystander begins. */
static cudaError_t run_beside_captured(struct bystanders *b)
{
    cudaStream_t stream = b->crowd->ask->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t end, error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = launch_rounds(b, stream);
    end = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess)
        error = end == cudaSuccess ? cudaGraphInstantiate(&exec, graph, 0) : end;
    if (error == cudaSuccess)
        error = run_beside(b, exec);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_bystanders(struct crowd *crowd)
{
    struct bystanders b = PDL_ZERO;
    struct ask *ask = crowd->ask;
    cudaError_t error = open_bystanders(&b, crowd);

    for (; ask_goes_on(ask, b.trial, BESIDE_TRIALS) && error == cudaSuccess; b.trial++)
        error = b.trial / 2 % 3 == 2 ? run_beside_captured(&b) : run_beside(&b, NULL);
    ask_expect(ask, "grids beside one that keeps reading their lines", error, cudaSuccess);
    if (error == cudaSuccess && b.missing > BESIDE_TRIALS / 2)
        ask_skip(ask, "grids beside one that keeps reading their lines", "that one hardly stood there meanwhile");
    ask_expect_none(ask, "rows of grids that found words of before in lines that another grid kept reading", b.stale, b.looks);
    close_bystanders(&b);
}

#endif
