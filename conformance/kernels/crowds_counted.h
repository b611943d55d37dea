/* crowds_counted.h - what crowds.cu asks of all threads of many blocks: that each of them runs, that none leaves a barrier before the others are
 * there, that it finds after it what the others stored before, and that atomics find what the thread stored before,
 * are found by it, and store, or keep the greatest or the least of eight bytes; also after a trigger and a wait. */
#ifndef CROWDS_COUNTED_H_INCLUDED
#define CROWDS_COUNTED_H_INCLUDED

#define COUNTED_MOST 4096u     /* threads of a grid */
#define COUNTED_WORDS (4 * COUNTED_MOST)
#define COUNTED_ROUNDS 3u      /* of two barriers each */
#define COUNTED_MANY 140u      /* in the grid of one block: more barriers than one byte counts */
#define COUNTED_HIGH 0xFFFFFF00u /* beyond what stands there before; the number of a thread is added */
#define COUNTED_LOW 0x100u     /* below it */

/* Each thread stores a word, and finds what its neighbours stored; in some rounds, the first and the last one among them,
 * one thread of each block comes late. */
DEVICE_FN uint32_t meets(const struct kernel_args *args, const struct trial_plan *plan, uint32_t first, uint32_t fresh)
{
    uint32_t next = (k_thread() + 1) % k_threads(), before = (k_thread() + k_threads() - 1) % k_threads(), wrong = 0, round;

    for (round = plan->repeats; round-- > 0;) {
        if ((k_block() + k_thread() + round) % k_threads() == 0 && round % (plan->repeats > COUNTED_ROUNDS ? 12 : COUNTED_ROUNDS - 1) == 0)
            k_delay(args->state, plan->hold_ns);
        k_store(args->data + first + k_thread(), fresh + round);
        k_barrier();
        wrong += k_load(args->data + first + next) != words_fresh(plan->key, first + next) + round;
        if (before % 2) /* not of all: on some devices such a load would bring the store to where the atomics are */
            wrong += k_load_relaxed(args->data + first + before) != words_fresh(plan->key, first + before) + round;
        k_barrier();
    }
    return wrong;
}

DEVICE_FN void counts(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t first = k_block() * k_threads(), *own = args->data + first + k_thread(), fresh = words_fresh(plan.key, first + k_thread()), wrong;

    k_add(&args->state->finished, 1);
    wrong = meets(args, &plan, first, fresh);
    wrong += k_load(own) != fresh; /* the line is cached */
    wrong += k_exchange(own, ~fresh) != fresh;
    wrong += k_load(own) != ~fresh;
    k_add(own, 1);
    if (k_thread() == 0)
        k_store64_relaxed(args->data + COUNTED_MOST + 2 * k_block(), (uint64_t)fresh << 32 | ~fresh);
    k_max64(args->data + 2 * COUNTED_MOST + 2 * k_block(), (uint64_t)(COUNTED_HIGH + k_thread()) << 32 | fresh);
    if (k_thread() == 0)
        k_max64(args->data + 2 * COUNTED_MOST + 2 * k_block(), (uint64_t)COUNTED_LOW << 32 | fresh); /* the least, unless it is taken for signed */
    k_min64(args->data + 3 * COUNTED_MOST + 2 * k_block(), (uint64_t)(COUNTED_LOW + k_thread()) << 32 | fresh);
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_counts) { counts(&args); }
KERNEL(crowds_counts_later)
{
    k_trigger();
    k_wait_device();
    counts(&args);
}

/* One more than the other bits of what was stored; then, as halves of eight bytes of each block, what its first thread stored, and the greatest
 * and the least of what its threads offered. */
static uint32_t counted_word(uint64_t key, unsigned i, unsigned blocks, unsigned threads)
{
    unsigned part = i / COUNTED_MOST, half = i % COUNTED_MOST;
    uint32_t word;

    if (i < blocks * threads)
        return ~words_fresh(key, i) + 1;
    if (part == 0 || half >= 2 * blocks)
        return 0xEEEEEEEEu;
    word = words_fresh(key, half / 2 * threads + (part == 2 ? threads - 1 : 0));
    if (part == 1)
        return half % 2 ? word : ~word;
    return half % 2 == 0 ? word : part == 2 ? COUNTED_HIGH + threads - 1 : COUNTED_LOW;
}

/* Runs a grid of so many blocks and threads, which begins with a wait or does not. Counts the words that are wrong. */
static cudaError_t run_counted(struct crowd *crowd, const struct kernel_args *args, uint32_t *words, unsigned blocks, unsigned threads,
                               int later, unsigned *wrong)
{
    cudaStream_t stream = crowd->ask->stream;
    unsigned i;
    cudaError_t error = cudaMemsetAsync(args->data, 0xEE, COUNTED_WORDS * sizeof(uint32_t), stream);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    prepare_trial(crowd->room, blocks + threads);
    crowd->room->plan.hold_ns = 2000;
    crowd->room->plan.repeats = blocks == 1 ? COUNTED_MANY : COUNTED_ROUNDS;
    if (error == cudaSuccess && later)
        error = launch_one((const void *)SYMBOL(crowds_tick), &crowd->args, 1, stream, NULL, 0);
    if (error == cudaSuccess)
        error = launch_crowd(later ? (const void *)SYMBOL(crowds_counts_later) : (const void *)SYMBOL(crowds_counts), args, blocks, threads,
                             stream, later);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(words, args->data, COUNTED_WORDS * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        return error;
    *wrong += crowd->room->state.early + (crowd->room->state.finished != blocks * threads);
    for (i = 0; i < COUNTED_WORDS; i++)
        *wrong += words[i] != counted_word(crowd->room->plan.key, i, blocks, threads);
    return cudaSuccess;
}

static void ask_counted(struct crowd *crowd)
{
    static const unsigned shapes[][2] = { { 1, 31 }, { 65, 2 }, { 100, 3 }, { 129, 3 }, { 257, 2 }, { 513, 1 }, { 1025, 3 } }; /* blocks, threads */
    struct kernel_args args = crowd->args;
    unsigned count = sizeof(shapes) / sizeof(shapes[0]), i, wrong = 0;
    uint32_t *words = NULL;
    cudaError_t error = cudaMallocHost((void **)&words, COUNTED_WORDS * sizeof(uint32_t));

    args.data = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&args.data, COUNTED_WORDS * sizeof(uint32_t));
    for (i = 0; ask_goes_on(crowd->ask, i, 2 * count) && error == cudaSuccess; i++)
        error = run_counted(crowd, &args, words, shapes[i % count][0], shapes[i % count][1], (int)(i / count), &wrong);
    ask_expect(crowd->ask, "grids whose threads are counted", error, cudaSuccess);
    ask_expect_none(crowd->ask, "threads that did not run, met too early, or added to something else", wrong, 2 * count);
    (void)cudaFree(args.data);
    (void)cudaFreeHost(words);
}

#endif
