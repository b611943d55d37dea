/* crowds_tickets.h - what crowds.cu asks of what atomics give back: the threads of two grids, of which the second one may overlap the
 * first, take tickets from one counter, and none is given twice, though each SM has had the counter in its cache; many threads swap the
 * same cells by compare-and-swap, and one of them all is told that it did; and the last block of a grid to take a ticket finds what all
 * blocks stored before they took theirs. */
#ifndef CROWDS_TICKETS_H_INCLUDED
#define CROWDS_TICKETS_H_INCLUDED

#define TICKETS_EACH 4u        /* of a thread */
#define TICKETS_THREADS 320u   /* of both grids, at most */
#define TICKETS_GRIDS 2u
#define TICKETS_CELLS 32u
#define TICKETS_BLOCKS 40u     /* of a grid, at most */
#define TICKETS_TRIALS 6u
#define TICKETS_STORED 4u      /* words of eight that a block stores for the last one */

/* All words are 0 at first. The counters lie in lines of their own, whose second word nobody stores to. */
struct tickets {
    uint32_t counter[8], last[TICKETS_GRIDS][8], holder[TICKETS_EACH * TICKETS_THREADS], cell[TICKETS_CELLS], told[TICKETS_CELLS];
    uint32_t words[TICKETS_GRIDS][TICKETS_BLOCKS][8];
    uint32_t summed[TICKETS_GRIDS], wrong; /* summed: blocks that were the last one of their grid */
};

/* Each ticket gets the number of the thread that took it, which reads the counter's line anew each time. */
DEVICE_FN void takes_tickets(struct tickets *t, uint32_t thread)
{
    uint32_t i, ticket;

    for (i = 0; i < TICKETS_EACH; i++) {
        (void)k_load(&t->counter[1]);
        ticket = k_take(&t->counter[0], 1);
        if (ticket < TICKETS_EACH * TICKETS_THREADS)
            k_store(&t->holder[ticket], thread + 1);
        else
            k_add(&t->wrong, 1);
    }
}

/* All begin with the same cell. Who is told that the cell was free is its owner. */
DEVICE_FN void takes_cells(struct tickets *t, uint32_t thread)
{
    uint32_t i;

    for (i = 0; i < TICKETS_CELLS; i++)
        if (k_compare(&t->cell[i], 0, thread + 1) == 0)
            k_add(&t->told[i], 1);
}

/* Before, all threads have read words beside those that the blocks store. */
DEVICE_FN void last_block_looks(struct tickets *t, uint32_t grid, uint64_t key, uint32_t is_last)
{
    uint32_t i, j, wrong = 0;

    for (i = k_thread(); i < k_blocks() && is_last; i += k_threads())
        for (j = 0; j < TICKETS_STORED; j++)
            wrong += k_load(&t->words[grid][i][j]) != words_fresh(key, i * TICKETS_STORED + j);
    if (wrong)
        k_add(&t->wrong, 1);
    if (is_last && k_thread() == 0)
        k_add(&t->summed[grid], 1);
}

/* args.input is set in the second grid, which waits in the end: then both are over. */
KERNEL(crowds_tickets)
{
    struct trial_plan plan = k_plan(&args);
    struct tickets *t = (struct tickets *)(void *)args.data;
    uint32_t grid = args.input ? 1 : 0, i;
    uint64_t key = plan.key + grid;
    volatile uint32_t *is_last = k_shared();

    k_trigger();
    for (i = k_thread(); i < k_blocks(); i += k_threads())
        (void)k_load(&t->words[grid][i][TICKETS_STORED]);
    takes_tickets(t, (grid * k_blocks() + k_block()) * k_threads() + k_thread());
    takes_cells(t, (grid * k_blocks() + k_block()) * k_threads() + k_thread());
    if (k_thread() < TICKETS_STORED)
        k_store(&t->words[grid][k_block()][k_thread()], words_fresh(key, k_block() * TICKETS_STORED + k_thread()));
    k_barrier();
    if (k_thread() == 0) {
        k_fence();
        *is_last = k_take(&t->last[grid][0], 1) == k_blocks() - 1;
        k_fence();
    }
    k_barrier();
    last_block_looks(t, grid, key, *is_last);
    if (grid)
        k_wait_device();
}

static unsigned tickets_are_wrong(const struct tickets *t, unsigned threads)
{
    unsigned taken[TICKETS_THREADS] = { 0 }, wrong = t->wrong != 0 || t->counter[0] != TICKETS_EACH * threads || t->counter[1] != 0, i;

    for (i = 0; i < TICKETS_EACH * threads; i++)
        if (t->holder[i] - 1 < threads)
            taken[t->holder[i] - 1]++;
    for (i = 0; i < threads; i++)
        wrong |= taken[i] != TICKETS_EACH;
    for (i = 0; i < TICKETS_CELLS; i++)
        wrong |= t->told[i] != 1 || t->cell[i] - 1 >= threads;
    for (i = 0; i < TICKETS_GRIDS; i++)
        wrong |= t->summed[i] != 1;
    return wrong;
}

/* In launches of each dress but the cooperative one, which has to have room. */
static cudaError_t run_tickets(struct crowd *crowd, const struct kernel_args *first, struct tickets *found, unsigned trial, unsigned *wrong)
{
    static const unsigned shapes[][2] = { { 10, 16 }, { 20, 8 }, { 40, 4 }, { 5, 31 } }; /* blocks, threads */
    const unsigned *shape = shapes[trial % 4];
    cudaLaunchAttribute attributes[3];
    unsigned dress = trial % DRESS_GROUPED, i, count;
    struct kernel_args args = *first;
    cudaStream_t stream = crowd->ask->stream;
    cudaError_t error = cudaMemsetAsync(args.data, 0, sizeof(*found), stream);

    dress = dress == DRESS_CLUSTERS && shape[0] % 2 ? DRESS_NONE : dress;
    prepare_trial(crowd->room, trial);
    crowd->room->plan.key ^= crowd->ask->seed;
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    for (i = 0; i < TICKETS_GRIDS && error == cudaSuccess; i++) {
        attributes[0] = serialization(1);
        count = i + dress_crowd(dress, crowd->greatest, attributes + i);
        args.input = i ? args.data : NULL;
        error = launch_sized((const void *)SYMBOL(crowds_tickets), &args, shape[0], shape[1], dress_bytes(DRESS_SHARED), stream, attributes,
                             count);
    }
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(found, args.data, sizeof(*found), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        *wrong += tickets_are_wrong(found, TICKETS_GRIDS * shape[0] * shape[1]);
    return error;
}

static void ask_tickets(struct crowd *crowd)
{
    struct kernel_args args = crowd->args;
    struct tickets *found = NULL;
    unsigned trial, wrong = 0;
    cudaError_t error = cudaMallocHost((void **)&found, sizeof(*found));

    args.data = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&args.data, sizeof(*found));
    for (trial = 0; ask_goes_on(crowd->ask, trial, TICKETS_TRIALS) && error == cudaSuccess; trial++)
        error = run_tickets(crowd, &args, found, trial, &wrong);
    ask_expect(crowd->ask, "grids whose threads take tickets", error, cudaSuccess);
    ask_expect_none(crowd->ask, "grids in which a ticket or a cell was given twice, or the last block did not find the words of all", wrong,
                    trial);
    (void)cudaFree(args.data);
    (void)cudaFreeHost(found);
}

#endif
