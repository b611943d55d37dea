/* joins_left.h - the part of joins_allocations.h with memory that a graph leaves allocated: what becomes of it then, and who may have it next. */
#ifndef JOINS_LEFT_H_INCLUDED
#define JOINS_LEFT_H_INCLUDED

#define TAKEN_ROUNDS 20u       /* of the question: others take memory, which takes time */

/* How memory that a graph left allocated is freed. */
enum freed_by { FREED_BY_STREAM, FREED_BY_GRAPH, FREED_BY_LAUNCH, FREED_BYS };

static cudaError_t make_freeing(struct lending *l, struct joins *joins, uint32_t *memory)
{
    cudaError_t error = begin_lending(l, joins, joins->stream[0]);

    return end_lending(l, error == cudaSuccess ? lend_no_more(l, memory) : error, 0);
}

/* Memory of a stream's pool, used as lend_beside() does. */
static cudaError_t take_in_stream(struct joins *joins, size_t bytes, cudaStream_t stream)
{
    struct kernel_args args = joins->work[1];
    uint32_t *memory = NULL;
    cudaError_t error = cudaMallocAsync((void **)&memory, bytes, stream);

    args.data = memory;
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_fills), &args, PLACE_WORDS, stream, NULL, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[3], PLACE_WORDS, stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(joins->pinned->seen[2], memory, POOL_BYTES, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? cudaFreeAsync(memory, stream) : error;
}

/* At once two other streams take memory, by a graph and of a pool: what was freed behind work is not theirs before that has ended. */
static cudaError_t take_meanwhile(struct lending *l, struct lending *taking)
{
    struct joins *joins = l->joins;
    cudaError_t error = cudaGraphLaunch(taking->exec, joins->stream[1]);

    return error == cudaSuccess ? take_in_stream(joins, l->bytes, joins->stream[2]) : error;
}

static cudaError_t make_taking(struct lending *taking, struct joins *joins)
{
    uint32_t *memory = NULL;
    cudaError_t error = begin_lending(taking, joins, joins->stream[1]);

    return end_lending(taking, error == cudaSuccess ? lend_beside(taking, &memory) : error, 0);
}

/* "Graph destruction does not automatically free any live graph-allocated memory": what others take then, and have used before the
 * follower comes, is other memory. In half of these trials the launch has ended when its graph goes. */
static cudaError_t drop_and_take(struct lending *l, struct lending *taking)
{
    cudaError_t error = drawn(l->joins, 12, 2) ? cudaDeviceSynchronize() : cudaSuccess;

    drop_lending(l);
    l->exec = NULL;
    l->graph = NULL;
    if (error == cudaSuccess && taking->exec)
        error = take_meanwhile(l, taking);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* A launch, what follows it, and the end of the memory. taking: what others launch then, if it is executable. In some trials the graph is
 * gone before anything follows the last launch. */
static cudaError_t lend_once(struct lending *l, struct lending *freeing, struct lending *taking, struct kernel_args *reads, enum freed_by by,
                             int is_last)
{
    int dependent = drawn(l->joins, 9, 2) != 0, drops = is_last && FOLLOWS_IN_GRAPH && drawn(l->joins, 11, 2);
    const void *function = dependent ? (const void *)SYMBOL(joins_waiting_follower) : (const void *)SYMBOL(joins_follower);
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = l->joins->stream[0];
    cudaError_t error = cudaGraphLaunch(l->exec, stream);

    if (error == cudaSuccess && drops)
        error = drop_and_take(l, taking);
    if (error == cudaSuccess)
        error = launch_one(function, reads, PLACE_WORDS, FOLLOWS_IN(l->joins, stream), &attribute, dependent);
    if (error == cudaSuccess && by == FREED_BY_GRAPH)
        error = cudaGraphLaunch(freeing->exec, stream);
    else if (error == cudaSuccess && FOLLOWS_IN_GRAPH && (by == FREED_BY_STREAM || is_last)) /* the mutant's is no pool's */
        error = cudaFreeAsync(reads->data, stream);
    if (error == cudaSuccess && taking->exec && !drops)
        error = take_meanwhile(l, taking);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The others' words are theirs. The next launch's work waits for them again. */
static void expect_taken(struct joins *joins)
{
    expect_words(joins, 1, 1);
    expect_words(joins, 2, 1);
    joins->pinned->state.alive = 0;
}

/* Memory that a graph leaves to its stream: what follows reads it, and frees it. Then the graph is launched again. In some trials others take
 * memory meanwhile. */
static cudaError_t lend_on(struct joins *joins)
{
    struct lending l = PDL_ZERO, freeing = PDL_ZERO, taking = PDL_ZERO;
    enum freed_by by = (enum freed_by)drawn(joins, 8, FREED_BYS);
    int taken = FOLLOWS_IN_GRAPH && joins->round < TAKEN_ROUNDS && by != FREED_BY_LAUNCH; /* all of the mutant's memory is the same */
    struct kernel_args reads;
    uint32_t *memory = NULL;
    unsigned launches;
    cudaError_t error = begin_lending(&l, joins, joins->stream[0]);

    prepare(joins, 1, 1);
    if (taken) {
        joins->pinned->plan[0].hold_ns = SLOW_NS;
        joins->pinned->plan[2].hold_ns = joins->pinned->plan[3].hold_ns = 3 * SLOW_NS;
    }
    if (error == cudaSuccess)
        error = use_late(&l, &memory);
    error = end_lending(&l, error, by == FREED_BY_LAUNCH ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0);
    if (error == cudaSuccess && by == FREED_BY_GRAPH)
        error = make_freeing(&freeing, joins, memory);
    if (error == cudaSuccess && taken)
        error = make_taking(&taking, joins);
    reads = with_data(&joins->follower[0], memory);
    for (launches = 0; launches < 2 && error == cudaSuccess; launches++) {
        joins->pinned->plan[0].key += launches * PLACES; /* so that neither what the first launch left there nor others' words are fresh */
        error = lend_once(&l, &freeing, &taking, &reads, by, launches == 1);
        joins->pinned->host_is_stale |= is_stale(joins);
        if (taken)
            expect_taken(joins);
    }
    drop_lending(&taking);
    drop_lending(&freeing);
    drop_lending(&l);
    return error;
}

#endif
