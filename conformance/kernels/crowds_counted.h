/* crowds_counted.h - what crowds.cu asks of all threads of many blocks: that each of them runs, that none leaves a barrier before the others are
 * there, that it finds after it what the others stored before, and that an atomic adds to what the thread stored before it. */
#ifndef CROWDS_COUNTED_H_INCLUDED
#define CROWDS_COUNTED_H_INCLUDED

#define COUNTED_MOST 4096u     /* threads of a grid */

/* One thread of each block comes late. */
KERNEL(crowds_counts)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t first = k_block() * k_threads(), next = (k_thread() + 1) % k_threads(), wrong;
    uint32_t *own = args.data + first + k_thread();

    k_add(&args.state->finished, 1);
    if ((k_block() + k_thread()) % k_threads() == 0)
        k_delay(args.state, plan.hold_ns);
    k_store(own, words_fresh(plan.key, first + k_thread()));
    k_barrier();
    wrong = k_load(args.data + first + next) != words_fresh(plan.key, first + next);
    k_barrier();
    k_add(own, 1);
    if (wrong)
        k_add(&args.state->early, 1);
}

/* Runs a grid of so many blocks and threads. Counts the words that are not one more than what was stored. */
static cudaError_t run_counted(struct crowd *crowd, const struct kernel_args *args, uint32_t *words, unsigned blocks, unsigned threads,
                               unsigned *wrong)
{
    cudaStream_t stream = crowd->ask->stream;
    unsigned all = blocks * threads, i;
    cudaError_t error = cudaMemsetAsync(args->data, 0xEE, COUNTED_MOST * sizeof(uint32_t), stream);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    prepare_trial(crowd->room, blocks + threads);
    crowd->room->plan.hold_ns = 2000;
    if (error == cudaSuccess)
        error = launch_blocks((const void *)SYMBOL(crowds_counts), args, blocks, threads, stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(words, args->data, COUNTED_MOST * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        return error;
    *wrong += crowd->room->state.early + (crowd->room->state.finished != all);
    for (i = 0; i < COUNTED_MOST; i++)
        *wrong += words[i] != (i < all ? words_fresh(crowd->room->plan.key, i) + 1 : 0xEEEEEEEEu);
    return cudaSuccess;
}

static void ask_counted(struct crowd *crowd)
{
    static const unsigned shapes[][2] = { { 1, 31 }, { 65, 2 }, { 100, 3 }, { 129, 3 }, { 257, 2 }, { 513, 1 }, { 1025, 3 } }; /* blocks, threads */
    struct kernel_args args = crowd->args;
    unsigned count = sizeof(shapes) / sizeof(shapes[0]), i, wrong = 0;
    uint32_t *words = NULL;
    cudaError_t error = cudaMallocHost((void **)&words, COUNTED_MOST * sizeof(uint32_t));

    args.data = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&args.data, COUNTED_MOST * sizeof(uint32_t));
    for (i = 0; ask_goes_on(crowd->ask, i, 2 * count) && error == cudaSuccess; i++)
        error = run_counted(crowd, &args, words, shapes[i % count][0], shapes[i % count][1], &wrong);
    ask_expect(crowd->ask, "grids whose threads are counted", error, cudaSuccess);
    ask_expect_none(crowd->ask, "threads that did not run, met too early, or added to something else", wrong, 2 * count);
    (void)cudaFree(args.data);
    (void)cudaFreeHost(words);
}

#endif
