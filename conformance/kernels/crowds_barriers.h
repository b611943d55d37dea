/* crowds_barriers.h - what crowds.cu asks of the other barriers that a kernel has beside k_barrier(): warps of a block that hand words over, in its
 * shared memory and in global memory, by barriers of their own; on a GPU also by such barriers in memory and by sums there, and blocks of a cluster
 * that hand words to the next one. Two grids do so beside each other: what one does is nothing to the other. They trigger and wait on the way. */
#ifndef CROWDS_BARRIERS_H_INCLUDED
#define CROWDS_BARRIERS_H_INCLUDED

#define MEETING_WARPS 4u
#define MEETING_THREADS (MEETING_WARPS * K_WARP_SIZE)
#define MEETING_ROUNDS 6u
#define MEETING_MANY 20u       /* rounds of some that meet by name */
#define MEETING_TRIALS 6u      /* of each way */
#define MEETING_BYTES 1024u
#define MEETING_AT 4096u       /* words of global memory before theirs, which others use */

#ifdef PDL_MODEL
#define MEETING_WAYS 1u
#else
#define MEETING_WAYS 3u
#endif

DEVICE_FN uint64_t meeting_key(const struct kernel_args *args, const struct trial_plan *plan)
{
    return plan->key + k_block() + (args->input ? k_blocks() : 0);
}

/* Everybody triggers in the middle, and all threads of the second grid wait. */
DEVICE_FN void meeting_goes_on(const struct kernel_args *args, uint32_t round)
{
    if (round == MEETING_ROUNDS / 3)
        k_trigger();
    if (round == MEETING_ROUNDS / 2 && args->input)
        k_wait_device();
}

/* In each round other threads come late. */
DEVICE_FN void meeting_is_late(const struct kernel_args *args, uint32_t who, uint32_t round)
{
    if (who % 4 == (round + (args->input ? 2 : 0)) % 4)
        k_delay(args->state, 600);
}

/* The two barriers of a pair of warps, of the 15 that a block has beside that of all its threads: four numbers of four bits each. In half
 * of the turns those of one pair and of the other are eight apart. */
DEVICE_FN uint32_t name_of_meeting(uint32_t turn, uint32_t pair, uint32_t room)
{
    uint32_t names = turn % 4 == 0 ? 0xF971u : turn % 4 == 1 ? 0xDB53u : turn % 4 == 2 ? 0x6A48u : 0xEA62u;

    return names >> 4 * (2 * pair + room) & 15;
}

/* Two pairs of warps, which have nothing to do with each other: the first warp of a pair stores, the second one looks. One barrier says
 * that there are words, another one that there is room. Words are stored in global memory, too: by turns a plain load and a relaxed one
 * find them there. */
DEVICE_FN void meets_by_name(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint64_t key = meeting_key(args, &plan);
    uint32_t pair = k_warp() / 2, lane = k_thread() % K_WARP_SIZE, both = 2 * K_WARP_SIZE, round, wrong = 0;
    uint32_t full = name_of_meeting(plan.rotate, pair, 0), room = name_of_meeting(plan.rotate, pair, 1);
    volatile uint32_t *slot = k_shared() + pair * K_WARP_SIZE;
    uint32_t *there = args->data + 2 * (((args->input ? k_blocks() : 0) + k_block()) * MEETING_THREADS / 2 + pair * K_WARP_SIZE), word, found;

    kept_blocks_meet(args, &plan);
    for (round = 0; round < plan.repeats; round++) {
        meeting_goes_on(args, round);
        meeting_is_late(args, k_warp(), round);
        if (k_warp() % 2 == 0) {
            word = words_fresh(key, round * MEETING_THREADS + pair * K_WARP_SIZE + lane);
            slot[lane] = word;
            k_store(there + 2 * lane, word);
            k_name_arrive(full, both);
            k_name_sync(room, both);
        } else {
            k_name_sync(full, both);
            lane = (lane + 1) % K_WARP_SIZE; /* what another thread stored */
            word = words_fresh(key, round * MEETING_THREADS + pair * K_WARP_SIZE + lane);
            found = round % 2 ? k_load(there + 2 * lane) : k_load_relaxed(there + 2 * lane);
            wrong += slot[lane] != word || found != word;
            k_name_arrive(room, both);
        }
    }
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_meets_by_name) { meets_by_name(&args); }

#ifndef PDL_MODEL
/* Until the barrier's phase has this parity no more. Returns 1 if it came so far, bounded. */
DEVICE_FN uint32_t phase_ended(struct trial_state *state, uint32_t barrier, uint32_t parity)
{
    uint32_t spins = 0, ended = 0;

    while (!ended && ++spins < K_SPIN_LIMIT / 8)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(ended) : "r"(barrier), "r"(parity) : "memory");
    if (!ended)
        k_add(&state->cut_short, 1);
    return ended;
}

/* All threads arrive at a barrier in shared memory, where each adds one and stores a word for the next one. Another such barrier follows before
 * anybody stores again. */
DEVICE_FN void meets_in_memory(const struct kernel_args *args)
{
    __shared__ __align__(8) uint64_t barrier[2];
    __shared__ uint32_t word[MEETING_THREADS], sum;
    struct trial_plan plan = k_plan(args);
    uint64_t key = meeting_key(args, &plan);
    uint32_t next = (k_thread() + K_WARP_SIZE + 1) % MEETING_THREADS, round, half, wrong = 0;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(barrier), counts = (uint32_t)__cvta_generic_to_shared(&sum);

    if (k_thread() < 2)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at + 8 * k_thread()), "r"(MEETING_THREADS) : "memory");
    if (k_thread() == 0)
        sum = 0;
    kept_blocks_meet(args, &plan);
    for (round = 0; round < MEETING_ROUNDS; round++) {
        meeting_goes_on(args, round);
        meeting_is_late(args, k_warp(), round);
        ((volatile uint32_t *)word)[k_thread()] = words_fresh(key, round * MEETING_THREADS + k_thread());
        asm volatile("red.relaxed.cta.shared::cta.add.u32 [%0], %1;" :: "r"(counts), "r"(1u) : "memory");
        for (half = 0; half < 2; half++) {
            asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" :: "r"(at + 8 * half) : "memory");
            if (!phase_ended(args->state, at + 8 * half, round % 2))
                wrong++;
            if (half == 0) {
                wrong += ((volatile uint32_t *)word)[next] != words_fresh(key, round * MEETING_THREADS + next);
                wrong += *(volatile uint32_t *)&sum != (round + 1) * MEETING_THREADS;
            }
        }
    }
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_meets_in_memory) { meets_in_memory(&args); }

DEVICE_FN void cluster_meeting(void)
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* Where the block of this rank has `own`. */
DEVICE_FN uint32_t in_next_block(const void *own, uint32_t rank)
{
    uint32_t here = (uint32_t)__cvta_generic_to_shared(own), there;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    return there;
}

/* Each thread stores a word in the next block of its cluster, and adds one there; what the block before stored is here then. */
DEVICE_FN void meets_in_cluster(const struct kernel_args *args)
{
    __shared__ uint32_t word[MEETING_THREADS], sum;
    struct trial_plan plan = k_plan(args);
    uint64_t key = plan.key + (args->input ? 1 : 0);
    uint32_t rank, size, there, counts, first, round, wrong = 0;

    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    there = in_next_block(word + k_thread(), (rank + 1) % size);
    counts = in_next_block(&sum, (rank + 1) % size);
    first = k_block() - rank; /* of the cluster */
    if (k_thread() == 0)
        sum = 0;
    kept_blocks_meet(args, &plan);
    cluster_meeting();
    for (round = 0; round < MEETING_ROUNDS; round++) {
        uint32_t mine = (round * 64 + first + rank) * MEETING_THREADS + k_thread();
        uint32_t before = (round * 64 + first + (rank + size - 1) % size) * MEETING_THREADS + k_thread();

        meeting_goes_on(args, round);
        meeting_is_late(args, rank, round);
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(words_fresh(key, mine)) : "memory");
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" :: "r"(counts), "r"(1u) : "memory");
        cluster_meeting();
        wrong += ((volatile uint32_t *)word)[k_thread()] != words_fresh(key, before);
        wrong += *(volatile uint32_t *)&sum != (round + 1) * MEETING_THREADS;
        cluster_meeting(); /* before anybody stores there again, or leaves */
    }
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_meets_in_cluster) { meets_in_cluster(&args); }
#endif

static const char *const meeting_name[] = { "warps that meet by barriers of their own and find other words",
                                            "threads that meet by barriers in memory and find other words",
                                            "blocks of a cluster that find other words of the one before" };

static const void *meeting_of_way(unsigned way)
{
#ifndef PDL_MODEL
    if (way)
        return way == 1 ? (const void *)SYMBOL(crowds_meets_in_memory) : (const void *)SYMBOL(crowds_meets_in_cluster);
#endif
    (void)way;
    return (const void *)SYMBOL(crowds_meets_by_name);
}

/* Two grids, of which the second may overlap the first; where clusters meet, of each size up to eight blocks. */
static cudaError_t run_meeting(struct crowd *crowd, unsigned way, unsigned trial)
{
    cudaStream_t stream = crowd->ask->stream;
    struct kernel_args args = crowd->args;
    cudaLaunchAttribute attribute[2];
    unsigned clustered = way == 2;
    cudaError_t error;

    attribute[0] = in_clusters(2u << trial % (clusters_of_eight_fit(meeting_of_way(way), MEETING_THREADS) ? 3 : 2));
    attribute[clustered] = serialization(1);
    prepare_trial(crowd->room, trial);
    args.data = crowd->words[1] + MEETING_AT;
    crowd->room->plan.rotate = trial;
    crowd->room->plan.repeats = trial % 3 == 2 ? MEETING_MANY : MEETING_ROUNDS;
    error = launch_sized(meeting_of_way(way), &args, KEPT_BLOCKS, MEETING_THREADS, MEETING_BYTES, stream, attribute, clustered);
    args.input = args.data;
    if (error == cudaSuccess)
        error = launch_sized(meeting_of_way(way), &args, KEPT_BLOCKS, MEETING_THREADS, MEETING_BYTES, stream, attribute, clustered + 1);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

/* Nobody promises that grids meet that do so much; that warps and blocks do is promised. */
static void ask_meetings(struct crowd *crowd)
{
    unsigned wrong[MEETING_WAYS] = { 0 }, trial, way;
    cudaError_t error = cudaSuccess;

    for (trial = 0; ask_goes_on(crowd->ask, trial, MEETING_TRIALS * MEETING_WAYS) && error == cudaSuccess; trial++) {
        error = run_meeting(crowd, trial % MEETING_WAYS, trial / MEETING_WAYS);
        wrong[trial % MEETING_WAYS] += error == cudaSuccess && crowd->room->state.early;
    }
    ask_expect(crowd->ask, "grids whose warps or blocks meet by other barriers", error, cudaSuccess);
    for (way = 0; way < MEETING_WAYS; way++)
        ask_expect_none(crowd->ask, meeting_name[way], wrong[way], MEETING_TRIALS);
}

#endif
