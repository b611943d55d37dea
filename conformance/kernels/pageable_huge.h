/* pageable_huge.h - the part of pageable.cu's pair `large` in which work of the device follows a long copy or memset: words all over it are stored
 * late, and looked at, whatever part a device moves first or last. */
#ifndef PAGEABLE_HUGE_H_INCLUDED
#define PAGEABLE_HUGE_H_INCLUDED

#define HUGE_BYTES ((33u << 20) + 4u)
#define HUGE_STEP (1u << 16)   /* bytes from one word that is looked at to the next */
#define HUGE_LOOKS ((HUGE_BYTES - 4) / HUGE_STEP)
#define LONG_BYTES ((1u << 20) + 70000u) /* where pinned memory is copied */
#define LONG_ROOM ((1u << 20) + 73728u)
#define LONG_STEP (1u << 12)
#define HUGE_BYTE 0x5A          /* of memsets */
#define HUGE_HOLD_NS 20000u

/* `repeats` words from one to the next. */
KERNEL(pageable_fills)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    for (i = k_thread(); i < plan.words; i += k_threads())
        k_store(args.data + (size_t)i * plan.repeats, words_fresh(plan.key, i));
}

DEVICE_FN void looks_all_over(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t i;

    if (waits)
        k_wait_device();
    for (i = k_thread(); i < plan.words; i += k_threads())
        k_store(args->seen + i, k_load(args->input + (size_t)i * plan.repeats));
}

KERNEL(pageable_looks) { looks_all_over(&args, 0); }
KERNEL(pageable_waits_and_looks) { looks_all_over(&args, 1); }

enum huge_place { HUGE_FIRST, HUGE_SECOND, HUGE_PINNED, HUGE_TO_PINNED, HUGE_PLACES };

/* What is moved: from where to where; where both are the same, a memset of it. */
static const struct huge_move {
    const char *name;
    enum huge_place from, to;
    size_t bytes, step;
} huge_moves[] = {
    { "a copy of 33 MiB within the device", HUGE_FIRST, HUGE_SECOND, HUGE_BYTES, HUGE_STEP },
    { "a memset of 33 MiB", HUGE_FIRST, HUGE_FIRST, HUGE_BYTES, HUGE_STEP },
    { "a copy of more than 1 MiB from pinned memory", HUGE_PINNED, HUGE_FIRST, LONG_BYTES, LONG_STEP },
    { "a copy of more than 1 MiB to pinned memory", HUGE_FIRST, HUGE_PINNED, LONG_BYTES, LONG_STEP },
    { "a copy of more than 1 MiB within pinned memory", HUGE_PINNED, HUGE_TO_PINNED, LONG_BYTES, LONG_STEP },
};
#define HUGE_MOVES (sizeof(huge_moves) / sizeof(huge_moves[0]))

enum huge_follower { HUGE_KERNEL, HUGE_DEPENDENT, HUGE_ROWS, HUGE_HOST, HUGE_FOLLOWERS };

struct huge {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    unsigned char *memory[HUGE_PLACES];
    uint32_t *seen;            /* pinned */
    const struct huge_move *move; /* of this trial */
    unsigned wrong[HUGE_MOVES], trials[HUGE_MOVES], all;
};

static cudaError_t open_huge(struct huge *h, struct ask *ask)
{
    cudaError_t error = cudaErrorMemoryAllocation;

    h->ask = ask;
    if (open_room(&h->room, &h->args))
        error = cudaMalloc((void **)&h->memory[HUGE_FIRST], HUGE_BYTES + 4);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&h->memory[HUGE_SECOND], HUGE_BYTES + 4);
    if (error == cudaSuccess)
        error = cudaMallocHost((void **)&h->memory[HUGE_PINNED], 2 * LONG_ROOM + HUGE_LOOKS * sizeof(uint32_t));
    if (error != cudaSuccess)
        return error;
    h->memory[HUGE_TO_PINNED] = h->memory[HUGE_PINNED] + LONG_ROOM;
    h->seen = (uint32_t *)(h->memory[HUGE_TO_PINNED] + LONG_ROOM);
    return cudaSuccess;
}

static void close_huge(struct huge *h)
{
    (void)cudaDeviceSynchronize();
    (void)cudaFree(h->memory[HUGE_FIRST]);
    (void)cudaFree(h->memory[HUGE_SECOND]);
    (void)cudaFreeHost(h->memory[HUGE_PINNED]);
    (void)cudaFreeHost(h->room);
}

/* A memset of all of that memory, and a copy to other memory: the last word of both, and the one after it. */
static cudaError_t try_huge(struct ask *ask, unsigned char *const *memory, unsigned *wrong)
{
    unsigned char seen[2][8];
    unsigned i;
    cudaError_t error = cudaMemsetAsync(memory[0] + HUGE_BYTES, 0, 4, ask->stream);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(memory[1] + HUGE_BYTES - 4, 0, 8, ask->stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(memory[0], HUGE_BYTE, HUGE_BYTES, ask->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(memory[1], memory[0], HUGE_BYTES, cudaMemcpyDeviceToDevice, ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaMemcpy(seen[i], memory[i] + HUGE_BYTES - 4, 8, cudaMemcpyDeviceToHost);
    for (i = 0; i < 16 && error == cudaSuccess; i++)
        *wrong += seen[i / 8][i % 8] != (i % 8 < 4 ? HUGE_BYTE : 0);
    return error;
}

/* ---- what follows ---- */

/* In its turn the host looks at the pinned memory. */
static void CUDART_CB host_looks(void *opaque)
{
    struct huge *h = (struct huge *)opaque;
    unsigned i;

    for (i = 0; i < h->room->plan.words; i++)
        h->seen[i] = *(volatile uint32_t *)(h->memory[h->move->to] + i * h->move->step);
}

static cudaError_t look_by_kernel(const struct huge *h, int waits, cudaStream_t stream)
{
    cudaLaunchAttribute six = serialization(1);

    return launch_one(waits ? (const void *)SYMBOL(pageable_waits_and_looks) : (const void *)SYMBOL(pageable_looks), &h->args, ASK_WORDS / 2, stream,
                      &six, waits ? 1 : 0);
}

static cudaError_t follow_huge(struct huge *h, enum huge_follower follower)
{
    cudaStream_t stream = h->ask->stream;

    switch (follower) {
    case HUGE_ROWS:
        return cudaMemcpy2DAsync(h->seen, sizeof(uint32_t), h->memory[h->move->to], h->move->step, sizeof(uint32_t), h->room->plan.words,
                                 cudaMemcpyDefault, stream);
    case HUGE_HOST: return cudaLaunchHostFunc(stream, host_looks, h);
    default: return look_by_kernel(h, follower == HUGE_DEPENDENT, stream);
    }
}

/* The kernel stores late, the words are moved, the follower looks. */
static cudaError_t queue_huge(struct huge *h, enum huge_follower follower)
{
    const struct huge_move *move = h->move;
    cudaStream_t stream = h->ask->stream;
    cudaError_t error = launch_one((const void *)SYMBOL(pageable_fills), &h->args, ASK_WORDS / 2, stream, NULL, 0);

    if (error == cudaSuccess)
        error = move->from == move->to ? cudaMemsetAsync(h->memory[move->to], HUGE_BYTE, move->bytes, stream)
                                       : cudaMemcpyAsync(h->memory[move->to], h->memory[move->from], move->bytes, cudaMemcpyDefault, stream);
    return error == cudaSuccess ? follow_huge(h, follower) : error;
}

static unsigned huge_is_wrong(const struct huge *h)
{
    unsigned i;

    for (i = 0; i < h->room->plan.words; i++)
        if (h->seen[i] != (h->move->from == h->move->to ? HUGE_BYTE * 0x1010101u : words_fresh(h->room->plan.key, i)))
            return 1;
    return 0;
}

static cudaError_t try_follower(struct huge *h, unsigned which, enum huge_follower follower)
{
    cudaError_t error;

    h->move = &huge_moves[which];
    prepare_trial(h->room, h->all++);
    h->room->plan.hold_ns = HUGE_HOLD_NS;
    h->room->plan.words = (uint32_t)((h->move->bytes - 4) / h->move->step);
    h->room->plan.repeats = (uint32_t)(h->move->step / sizeof(uint32_t));
    h->args.data = (uint32_t *)h->memory[h->move->from];
    h->args.input = (uint32_t *)h->memory[h->move->to];
    h->args.seen = h->seen;
    memset(h->seen, 0, HUGE_LOOKS * sizeof(uint32_t));
    error = queue_huge(h, follower);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    h->trials[which]++;
    h->wrong[which] += error == cudaSuccess && huge_is_wrong(h);
    return error;
}

/* Each follower of each move. Only pinned memory is the host's to look at. Graphs, and what waits for events, would have the long pair be asked again
 * in many circumstances: both are asked of shorter copies. */
static cudaError_t try_followers(struct huge *h)
{
    cudaError_t error = cudaSuccess;
    unsigned which, follower;

    for (which = 0; which < HUGE_MOVES; which++)
        for (follower = 0; follower < HUGE_FOLLOWERS && error == cudaSuccess; follower++)
            if (follower != HUGE_HOST || huge_moves[which].to >= HUGE_PINNED)
                error = try_follower(h, which, (enum huge_follower)follower);
    return error;
}

static void ask_huge(struct ask *ask)
{
    struct huge h = PDL_ZERO;
    unsigned wrong = 0, i;
    char text[96];
    cudaError_t error = open_huge(&h, ask);

    if (error == cudaSuccess)
        error = try_huge(ask, h.memory, &wrong);
    ask_expect(ask, "a memset and a copy of 33 MiB", error, cudaSuccess);
    ask_expect_none(ask, "bytes at the end of a memset and a copy of 33 MiB that are others", wrong, 16);
    if (error == cudaSuccess)
        error = try_followers(&h);
    ask_expect(ask, "work after long copies and memsets", error, cudaSuccess);
    for (i = 0; i < HUGE_MOVES; i++) {
        snprintf(text, sizeof(text), "stale after %s", huge_moves[i].name);
        ask_expect_none(ask, text, h.wrong[i], h.trials[i]);
    }
    close_huge(&h);
}

#endif
