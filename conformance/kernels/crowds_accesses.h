/* crowds_accesses.h - what crowds.cu asks of a thread's own words: it stores and loads them in a drawn order, by accesses of each width and kind;
 * each load finds what the thread stored last, and so does the host afterwards. It also finds the halves of eight bytes, and the bytes of four,
 * that one thread stored before a barrier, and another one after it. */
#ifndef CROWDS_ACCESSES_H_INCLUDED
#define CROWDS_ACCESSES_H_INCLUDED

#define ACCESS_WORDS 8u        /* of a thread, side by side */
#define ACCESS_STEPS 32u
#define ACCESS_MOST 2048u      /* threads of a grid */
#define ACCESS_BESIDE (ACCESS_MOST * ACCESS_WORDS) /* words before one more of each thread, beside the next thread's; and after those a byte */
#define ACCESS_BYTES ((ACCESS_BESIDE + ACCESS_MOST) * sizeof(uint32_t) + ACCESS_MOST)

enum access_kind { STORE_ONE, STORE_RELAXED, STORE_EXCHANGED, STORE_ADDED, STORE_TWO, STORE_EIGHT, STORE_LEAST, STORE_GREATEST, STORE_FOUR,
                   STORE_BYTE, STORE_HALF, STORE_STREAMED, STORE_RELEASED, STORE_COMPARED, LOAD_ONE, LOAD_L2, LOAD_RELAXED, LOAD_TWO, LOAD_FOUR,
                   LOAD_FOUR_L2, LOAD_EIGHT, LOAD_BYTE, LOAD_HALF, LOAD_STREAMED, LOAD_ACQUIRED, ACCESS_KINDS };

struct access {
    uint32_t kind, at, words, value; /* at: the first of so many words; the one after it gets one more */
    uint32_t finds;            /* whether what stood there before comes back */
    uint32_t within, mask;     /* bytes before it in its word; bits of it there */
    uint32_t hits;             /* whether a compare-and-swap is given what stands there */
};

/* Atomics that give back what stood there before */
#ifdef PDL_MODEL
#define access_adds(p, v) model_atomic_add32((p), (v))
#define access_takes_least(p, v) model_atomic_min64((p), (v))
#define access_takes_greatest(p, v) model_atomic_max64((p), (v))
#else
DEVICE_FN uint32_t access_adds(void *p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
    return old;
}

DEVICE_FN uint64_t access_takes_least(void *p, uint64_t v)
{
    uint64_t old;
    asm volatile("atom.relaxed.gpu.global.min.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
    return old;
}

DEVICE_FN uint64_t access_takes_greatest(void *p, uint64_t v)
{
    uint64_t old;
    asm volatile("atom.relaxed.gpu.global.max.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
    return old;
}
#endif

WORDS_FN struct access nth_access(uint64_t key, uint32_t thread, uint32_t step)
{
    uint32_t word = words_fresh(key, thread * ACCESS_STEPS + step);
    struct access a;

    a.kind = (word >> 8) % ACCESS_KINDS;
    a.words = a.kind == STORE_FOUR || a.kind == LOAD_FOUR || a.kind == LOAD_FOUR_L2 ? 4
            : (a.kind >= STORE_TWO && a.kind <= STORE_GREATEST) || a.kind == LOAD_TWO || a.kind == LOAD_EIGHT ? 2 : 1;
    a.at = (word >> 4) % ACCESS_WORDS / a.words * a.words;
    a.value = word;
    a.hits = word >> 16 & 1;
    a.within = a.kind == STORE_BYTE || a.kind == LOAD_BYTE ? word >> 16 & 3 : a.kind == STORE_HALF || a.kind == LOAD_HALF ? word >> 16 & 2 : 0;
    a.mask = (a.kind == STORE_BYTE || a.kind == LOAD_BYTE ? 0xFFu : a.kind == STORE_HALF || a.kind == LOAD_HALF ? 0xFFFFu : ~0u) << 8 * a.within;
    a.finds = a.kind >= LOAD_ONE || a.kind == STORE_EXCHANGED || a.kind == STORE_COMPARED ||
              ((a.kind == STORE_ADDED || a.kind == STORE_LEAST || a.kind == STORE_GREATEST) && word % 2);
    return a;
}

WORDS_FN uint64_t access_wide(const struct access *a) { return (uint64_t)(a->value + 1) << 32 | a->value; }

/* What the thread's words are after a store. */
WORDS_FN void access_changes(const struct access *a, uint32_t *words)
{
    uint64_t there = a->words == 2 ? (uint64_t)words[a->at + 1] << 32 | words[a->at] : 0;
    uint32_t j;

    if ((a->kind == STORE_LEAST && there < access_wide(a)) || (a->kind == STORE_GREATEST && there > access_wide(a)) ||
        (a->kind == STORE_COMPARED && !a->hits))
        return;
    for (j = 0; j < a->words && a->kind < LOAD_ONE; j++)
        words[a->at + j] = a->kind == STORE_ADDED ? words[a->at] + a->value
                         : ((a->value << 8 * a->within) & a->mask) + (words[a->at + j] & ~a->mask) + j;
}

DEVICE_FN void access_stores(const struct access *a, uint32_t *to)
{
    unsigned char *byte = (unsigned char *)to + a->within;
    uint32_t group[4], j;

    switch (a->kind) {
    case STORE_BYTE: k_store8(byte, a->value & 0xFF); break;
    case STORE_HALF: k_store16(byte, a->value & 0xFFFF); break;
    case STORE_STREAMED: k_store_streamed(to, a->value); break;
    case STORE_RELEASED: k_store_release(to, a->value); break;
    case STORE_EIGHT: k_store64(to, access_wide(a)); break;
    case STORE_ONE: k_store(to, a->value); break;
    case STORE_RELAXED: k_store_relaxed(to, a->value); break;
    case STORE_ADDED: k_add(to, a->value); break;
    case STORE_TWO: k_store64_relaxed(to, access_wide(a)); break;
    case STORE_LEAST: k_min64((uint64_t *)(void *)to, access_wide(a)); break;
    case STORE_GREATEST: k_max64((uint64_t *)(void *)to, access_wide(a)); break;
    default:
        for (j = 0; j < 4; j++)
            group[j] = a->value + j;
        k_store4(to, group);
    }
}

DEVICE_FN uint32_t access_finds(const struct access *a, uint32_t *from, const uint32_t *words)
{
    const unsigned char *byte = (const unsigned char *)from + a->within;
    uint32_t group[4], j, wrong = 0, there = words[a->at];
    uint64_t two = 0;

    switch (a->kind) {
    case LOAD_ONE: group[0] = k_load(from); break;
    case LOAD_L2: group[0] = k_load_l2(from); break;
    case LOAD_RELAXED: group[0] = k_load_relaxed(from); break;
    case LOAD_FOUR: k_load4(from, group); break;
    case LOAD_FOUR_L2: k_load4_l2(from, group); break;
    case LOAD_BYTE: group[0] = k_load8(byte); break;
    case LOAD_HALF: group[0] = k_load16(byte); break;
    case LOAD_STREAMED: group[0] = k_load_streamed(from); break;
    case LOAD_ACQUIRED: group[0] = k_load_acquire(from); break;
    case LOAD_EIGHT: two = k_load64(from); break;
    case STORE_COMPARED: group[0] = k_compare(from, a->hits ? there : there ^ 1u << a->value % 32, a->value); break;
    case LOAD_TWO: two = k_load64_relaxed((uint64_t *)(void *)from); break;
    case STORE_LEAST: two = access_takes_least(from, access_wide(a)); break;
    case STORE_GREATEST: two = access_takes_greatest(from, access_wide(a)); break;
    case STORE_ADDED: group[0] = access_adds(from, a->value); break;
    default: group[0] = k_exchange(from, a->value);
    }
    if (a->words == 2) {
        group[0] = (uint32_t)two;
        group[1] = (uint32_t)(two >> 32);
    }
    for (j = 0; j < a->words; j++)
        wrong += group[j] << 8 * a->within != (words[a->at + j] & a->mask);
    return wrong;
}

/* Side by side with what the other threads leave */
DEVICE_FN void access_leaves(uint32_t *data, uint32_t thread, uint32_t word)
{
    k_store(data + ACCESS_BESIDE + thread, word);
    k_store8((unsigned char *)(data + ACCESS_BESIDE + ACCESS_MOST) + thread, word & 0xFF);
}

KERNEL(crowds_accesses)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t thread = k_block() * k_threads() + k_thread(), *own = args.data + thread * ACCESS_WORDS, words[ACCESS_WORDS], step, wrong = 0;

    for (step = 0; step < ACCESS_WORDS; step++)
        words[step] = 0xEEEEEEEEu;
    for (step = 0; step < ACCESS_STEPS; step++) {
        struct access a = nth_access(plan.key, thread, step);

        if (a.finds)
            wrong += access_finds(&a, own + a.at, words);
        else
            access_stores(&a, own + a.at);
        access_changes(&a, words);
    }
    if (k_thread() % 2 == 0)
        access_leaves(args.data, thread, words[0]);
    k_barrier();
    if (k_thread() % 2)
        access_leaves(args.data, thread, words[0]);
    if (wrong)
        k_add(&args.state->early, 1);
}

static unsigned accesses_left_others(const uint32_t *there, uint64_t key, unsigned threads)
{
    const unsigned char *bytes = (const unsigned char *)(there + ACCESS_BESIDE + ACCESS_MOST);
    uint32_t words[ACCESS_WORDS];
    unsigned thread, step, wrong = 0;

    for (thread = 0; thread < threads; thread++) {
        memset(words, 0xEE, sizeof(words));
        for (step = 0; step < ACCESS_STEPS; step++) {
            struct access a = nth_access(key, thread, step);

            access_changes(&a, words);
        }
        wrong += memcmp(words, there + thread * ACCESS_WORDS, sizeof(words)) != 0 || there[ACCESS_BESIDE + thread] != words[0] ||
                 bytes[thread] != (words[0] & 0xFF);
    }
    return wrong;
}

/* In launches of each dress but the cooperative one, which has to have room. */
static cudaError_t run_accesses(struct crowd *crowd, const struct kernel_args *args, uint32_t *words, unsigned trial, unsigned *wrong)
{
    static const unsigned shapes[][2] = { { 2, 31 }, { 40, 8 }, { 70, 24 }, { 20, 32 }, { 130, 3 }, { 8, 17 } }; /* blocks, threads */
    const unsigned *shape = shapes[trial % 6];
    cudaStream_t stream = crowd->ask->stream;
    cudaLaunchAttribute attributes[2] = { serialization(1), serialization(1) };
    unsigned dress = trial % DRESS_GROUPED, given = dress_crowd(dress, crowd->greatest, attributes);
    cudaError_t error = cudaMemsetAsync(args->data, 0xEE, ACCESS_BYTES, stream);

    prepare_trial(crowd->room, trial);
    crowd->room->plan.key ^= crowd->ask->seed;
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_accesses), args, shape[0], shape[1], dress_bytes(dress), stream, attributes, given);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(words, args->data, ACCESS_BYTES, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        *wrong += crowd->room->state.early + accesses_left_others(words, crowd->room->plan.key, shape[0] * shape[1]);
    return error;
}

static void ask_accesses(struct crowd *crowd)
{
    struct kernel_args args = crowd->args;
    unsigned trial, wrong = 0;
    uint32_t *words = NULL;
    cudaError_t error = cudaMallocHost((void **)&words, ACCESS_BYTES);

    args.data = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&args.data, ACCESS_BYTES);
    for (trial = 0; ask_goes_on(crowd->ask, trial, 12) && error == cudaSuccess; trial++)
        error = run_accesses(crowd, &args, words, trial, &wrong);
    ask_expect(crowd->ask, "grids whose threads store and load their own words", error, cudaSuccess);
    ask_expect_none(crowd->ask, "threads that found, or left, other words than they had stored last", wrong, trial);
    (void)cudaFree(args.data);
    (void)cudaFreeHost(words);
}

#endif
