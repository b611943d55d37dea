/* crowds_by_turns.h - what crowds.cu asks of two blocks, one of the primary and one of its dependent, which has not waited, that hand
 * words to each other by turns: each stores words in lines that the other one has read before, and says so by a flag. They fence, or
 * release and acquire; store and load words in each width; trigger early, late or never; and their threads meet by the barrier of the
 * block or by one of some threads. Beside most of them a grid of another stream keeps reading the same lines, elsewhere in them. Nobody
 * reads a word that another one stores to meanwhile. */
#ifndef CROWDS_BY_TURNS_H_INCLUDED
#define CROWDS_BY_TURNS_H_INCLUDED

#ifdef PDL_MODEL
#define k_name_sync(id, threads) model_named_barrier((id), (threads), 1)
#define k_name_arrive(id, threads) model_named_barrier((id), (threads), 0)
#else
#define k_name_sync(id, threads) asm volatile("barrier.sync %0, %1;" :: "r"(id), "r"(threads) : "memory")
#define k_name_arrive(id, threads) asm volatile("barrier.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory")
#endif

#define TURN_THREADS (3 * K_WARP_SIZE)
#define TURN_GROUPS (SECTORS / 2) /* of four words: so many each block stores */
#define TURN_BYTES 64u            /* of shared memory */
#define TURN_TRIALS 24u
#define TURN_MOST 20u             /* rounds */
#define TURN_USES 40u             /* acquires or fences before the first round, in some trials: more than few bits count */

enum turn_width { TURN_WORD, TURN_BYTE, TURN_HALF, TURN_STREAMED, TURN_EIGHT, TURN_FOUR, TURN_WIDTHS };
enum turn_trigger { TURN_TRIGGERS_LATE, TURN_TRIGGERS_FIRST, TURN_TRIGGERS_NEVER, TURN_TRIGGERS }; /* of the dependent; the primary: first */

struct turn_args {
    struct trial_state *state;   /* `finished` counts blocks that have gone through all rounds */
    uint32_t *data;              /* SECTORS of eight words, by turns of primary and dependent; of each the last four are stored to */
    const uint32_t *here;        /* how many blocks of bystanders have begun */
    uint64_t key;
    uint32_t bystanders, second; /* second: this is the dependent */
    uint32_t rounds, first;      /* first: the flag before the first round */
    uint32_t bound_ns, speaks;   /* speaks: the thread that fences for its block */
    uint32_t releases, adds, named, trigger; /* by a release and an acquire; the flag by an addition; by barriers of some threads */
    uint32_t uses;               /* so many acquires or fences before the first round, of the thread that speaks */
    uint32_t stores, loads;      /* enum turn_width */
};

/* Of single bytes and halves each round has another one of each word. */
DEVICE_FN uint32_t turn_byte(uint32_t round) { return round / 2 % 4; }

DEVICE_FN uint32_t turn_mask(uint32_t width, uint32_t byte)
{
    return width == TURN_BYTE ? 0xFFu << 8 * byte : width == TURN_HALF ? 0xFFFFu << 8 * (byte / 2 * 2) : ~0u;
}

DEVICE_FN void turn_stores(uint32_t *to, const uint32_t *word, uint32_t width, uint32_t byte)
{
    uint32_t j, half = byte / 2 * 2;

    if (width == TURN_FOUR)
        k_store4(to, word);
    for (j = 0; j < 4 && width != TURN_FOUR; j++)
        switch (width) {
        case TURN_BYTE: k_store8((unsigned char *)(to + j) + byte, word[j] >> 8 * byte & 0xFF); break;
        case TURN_HALF: k_store16((unsigned char *)(to + j) + half, word[j] >> 8 * half & 0xFFFF); break;
        case TURN_STREAMED: k_store_streamed(to + j, word[j]); break;
        case TURN_EIGHT: k_store64(to + j, (uint64_t)word[j + 1] << 32 | word[j]); j++; break;
        default: k_store(to + j, word[j]);
        }
}

/* What stands there; of single bytes and halves nothing else. */
DEVICE_FN void turn_loads(const uint32_t *from, uint32_t *found, uint32_t width, uint32_t byte)
{
    uint32_t j, half = byte / 2 * 2;

    if (width == TURN_FOUR)
        k_load4(from, found);
    for (j = 0; j < 4 && width != TURN_FOUR; j++)
        switch (width) {
        case TURN_BYTE: found[j] = k_load8((const unsigned char *)(from + j) + byte) << 8 * byte; break;
        case TURN_HALF: found[j] = k_load16((const unsigned char *)(from + j) + half) << 8 * half; break;
        case TURN_STREAMED: found[j] = k_load_streamed(from + j); break;
        case TURN_EIGHT: found[j] = (uint32_t)(k_load64(from + j / 2 * 2) >> 32 * (j % 2)); break;
        default: found[j] = k_load(from + j);
        }
}

DEVICE_FN void turn_words(const struct turn_args *args, uint32_t round, uint32_t group, uint32_t *word)
{
    uint32_t j;

    for (j = 0; j < 4; j++)
        word[j] = words_fresh(args->key + round, 4 * group + j);
}

/* Of the primary or the dependent */
DEVICE_FN uint32_t *turn_group(const struct turn_args *args, uint32_t group, uint32_t second)
{
    return args->data + 8 * (2 * group + second) + 4;
}

/* When the thread that speaks returns, all threads have stored their words. By barriers of some threads, the other warps do not wait for
 * that. */
DEVICE_FN void turn_is_stored(const struct turn_args *args)
{
    if (!args->named)
        k_barrier();
    else if (k_warp() == args->speaks / K_WARP_SIZE)
        k_name_sync(1u, TURN_THREADS);
    else
        k_name_arrive(1u, TURN_THREADS);
}

DEVICE_FN void turn_gives(const struct turn_args *args, uint32_t round)
{
    uint32_t *flag = args->data + BESIDE_FLAG, adds = args->adds && round, group, word[4];

    for (group = k_group(); group < TURN_GROUPS; group += k_threads()) {
        turn_words(args, round, group, word);
        turn_stores(turn_group(args, group, args->second), word, args->stores, turn_byte(round));
    }
    turn_is_stored(args);
    if (k_thread() != args->speaks)
        return;
    if (!args->releases)
        k_fence();
    if (args->releases && adds)
        k_add_release(flag, 1);
    else if (args->releases)
        k_store_release(flag, args->first + round + 1);
    else if (adds)
        k_add(flag, 1);
    else
        k_store_relaxed(flag, args->first + round + 1);
}

/* Returns 1 if the other block gave words in time. It has twice the time in the first round, in which it may wait for a bystander. */
DEVICE_FN uint32_t turn_is_given(const struct turn_args *args, uint32_t round)
{
    const uint32_t *flag = args->data + BESIDE_FLAG;
    volatile uint32_t *given = k_shared();

    if (k_thread() == args->speaks) {
        *given = k_poll(args->state, flag, args->first + round + 1, round ? args->bound_ns : 2 * args->bound_ns);
        if (args->releases)
            (void)k_load_acquire(flag);
        else
            k_fence();
    }
    if (args->named)
        k_name_sync(2u, TURN_THREADS);
    else
        k_barrier();
    return *given;
}

DEVICE_FN uint32_t turn_looks(const struct turn_args *args, uint32_t round)
{
    uint32_t byte = turn_byte(round), mask = turn_mask(args->stores, byte) & turn_mask(args->loads, byte);
    uint32_t wrong = 0, group, j, word[4], found[4];

    for (group = k_group(); group < TURN_GROUPS; group += k_threads()) {
        turn_words(args, round, group, word);
        turn_loads(turn_group(args, group, !args->second), found, args->loads, byte);
        for (j = 0; j < 4; j++)
            wrong += ((word[j] ^ found[j]) & mask) != 0;
    }
    return wrong;
}

/* Nobody has given words yet: the acquires and fences find nothing, and the later ones have to do as much as ever. */
DEVICE_FN void turn_uses(const struct turn_args *args)
{
    uint32_t i;

    for (i = 0; i < args->uses && k_thread() == args->speaks; i++)
        if (args->releases)
            (void)k_load_acquire(args->data + BESIDE_FLAG);
        else
            k_fence();
}

KERNEL_OF(crowds_by_turns, struct turn_args)
{
    uint32_t round, wrong = 0;

    if (!args.second || args.trigger == TURN_TRIGGERS_FIRST)
        k_trigger();
    if (!args.second && k_thread() == 0)
        (void)k_poll(args.state, args.here, args.bystanders, args.bound_ns);
    turn_uses(&args);
    k_barrier();
    for (round = 0; round < args.rounds; round++) {
        if (args.second && args.trigger == TURN_TRIGGERS_LATE && round == args.rounds / 2)
            k_trigger();
        if (round % 2 == args.second)
            turn_gives(&args, round);
        else if (turn_is_given(&args, round))
            wrong += turn_looks(&args, round);
        else
            break;
    }
    if (round == args.rounds && k_thread() == 0)
        k_add(&args.state->finished, 1);
    if (wrong)
        k_add(&args.state->early, 1);
    if (args.second && WAITS)
        k_wait_device();
}

/* ---- host ---- */

static struct turn_args plan_turns(const struct bystanders *b)
{
    struct turn_args args = PDL_ZERO;
    unsigned trial = b->trial;

    args.state = b->args.state;
    args.here = b->args.here;
    args.data = b->args.data;
    args.key = 0x7u * (uint64_t)TURN_MOST * (trial + 1);
    args.bystanders = trial / 2 % 3 ? b->args.bystanders : 0;
    args.rounds = trial % 8 == 5 ? TURN_MOST : 6;
    args.first = TURN_MOST * trial;
    args.bound_ns = 50000;
    args.releases = trial / 2 % 2;
    args.adds = trial / 3 % 2;
    args.named = trial / 3 % 2 == trial / 8 % 2;
    args.speaks = trial / 5 % 2 ? 0 : TURN_THREADS - 1;
    args.trigger = trial % TURN_TRIGGERS;
    args.uses = trial % 3 ? 0 : TURN_USES;
    args.stores = trial / 4 % TURN_WIDTHS;
    args.loads = (trial / 4 + trial) % TURN_WIDTHS;
    return args;
}

static cudaError_t run_turns(struct bystanders *b)
{
    struct trial_state empty = PDL_ZERO;
    struct turn_args args = plan_turns(b);
    cudaStream_t stream = b->crowd->ask->stream;
    cudaLaunchAttribute six = serialization(1);
    cudaError_t end = cudaSuccess, error = args.bystanders ? launch_bystander(b, 0) : cudaSuccess;

    b->room->state[0] = empty;
    if (error == cudaSuccess)
        error = launch_given((const void *)SYMBOL(crowds_by_turns), &args, 1, TURN_THREADS, TURN_BYTES, stream, NULL, 0);
    args.second = 1;
    if (error == cudaSuccess)
        error = launch_given((const void *)SYMBOL(crowds_by_turns), &args, 1, TURN_THREADS, TURN_BYTES, stream, &six, 1);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (args.bystanders)
        end = end_bystander(b);
    b->looks += b->room->state[0].finished == 2;
    b->stale += b->room->state[0].early != 0;
    return error == cudaSuccess ? end : error;
}

static void ask_turns(struct crowd *crowd)
{
    struct bystanders b = PDL_ZERO;
    struct ask *ask = crowd->ask;
    cudaError_t error = open_bystanders(&b, crowd);

    if (error == cudaSuccess) /* the same for both that are to stand beside each other (F29b) */
        error = cudaFuncSetAttribute((const void *)SYMBOL(crowds_by_turns), cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    for (; ask_goes_on(ask, b.trial, TURN_TRIALS) && error == cudaSuccess; b.trial++)
        error = run_turns(&b);
    ask_expect(ask, "primary and dependent that hand words to each other by turns", error, cudaSuccess);
    if (error == cudaSuccess && b.looks < TURN_TRIALS / 2)
        ask_skip(ask, "primary and dependent that hand words to each other by turns", "they hardly overlapped");
    ask_expect_none(ask, "pairs that found other words after the flag when they handed words to each other by turns", b.stale, TURN_TRIALS);
    close_bystanders(&b);
}

#endif
