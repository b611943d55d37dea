/* joins_conditions.h - the pair of joins.cu with waits for values by every condition: written by a stream, a kernel or the host.
 *
 * Who waits for a value that never comes waits for good: so once the host has looked long enough, it writes one that ends every wait. */
#ifndef JOINS_CONDITIONS_H_INCLUDED
#define JOINS_CONDITIONS_H_INCLUDED

/* Works, and writes the value that the plan names to the word that `seen` is. */
KERNEL(joins_value_work)
{
    struct trial_plan plan = k_plan(&args);

    slow_stores(&args);
    k_barrier();
    if (k_thread() != 0)
        return;
    k_fence_system();
    k_store_relaxed(args.seen, plan.repeats);
}

/* not_yet: what the wait lasts on at, though it differs from what stood there before. */
static const struct condition conditions[] = {
    { { CU_STREAM_WAIT_VALUE_EQ, 5, 0, 0 }, 0x80000000u, 0 },
    { { CU_STREAM_WAIT_VALUE_AND, 0, 0x50, 0x10 }, 0xFFFFFFAFu, 0xFFFFFFFFu },
    { { CU_STREAM_WAIT_VALUE_GEQ, 6, 7, 9 }, 5, 7 },
    { { CU_STREAM_WAIT_VALUE_NOR, 0x0000FFFFu, 0xFFFF0000u, 0x0000FFFEu }, 0xFFFFFFFFu, 0 },
    { { CU_STREAM_WAIT_VALUE_GEQ | CU_STREAM_WAIT_VALUE_FLUSH, 6, 7, 9 }, 5, 7 },
};
enum { CONDITION_ZERO, CONDITION_BITS, CONDITION_LEAST, CONDITION_NOR, CONDITION_FLUSH, CONDITIONS };

/* None of these holds up the host, who has to end the wait. */
static cudaError_t wait_and_follow(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_DEPENDENT, FOLLOW_COPY, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_EVENT };
    cudaError_t error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);

    if (error == cudaSuccess)
        error = await_value(joins, stream);
    return error == cudaSuccess ? follow_by(joins, ways[drawn(joins, 14, sizeof(ways) / sizeof(ways[0]))], stream) : error;
}

/* A stream writes a value that does not end the wait, and one that does after its work. */
static cudaError_t condition_by_stream(struct joins *joins)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = queue_value("cuStreamWriteValue32", joins->stream[0], value_at(joins), joins->condition->not_yet, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = write_value(joins, joins->stream[0], value_at(joins));
    if (error == cudaSuccess)
        error = wait_and_follow(joins, joins->stream[1]);
    return end_wait(joins, joins->stream[1], error);
}

static cudaError_t condition_by_kernel(struct joins *joins)
{
    struct kernel_args args = joins->work[0];
    cudaError_t error = prepare_value(joins, 1, 1);

    args.seen = value_at(joins);
    joins->pinned->plan[0].repeats = value_step(joins)->written;
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_value_work), &args, PLACE_WORDS, joins->stream[0], NULL, 0);
    if (error == cudaSuccess)
        error = wait_and_follow(joins, joins->stream[1]);
    return end_wait(joins, joins->stream[1], error);
}

static cudaError_t by_condition(struct joins *joins, unsigned condition)
{
    static const join_maker ways[] = { condition_by_stream, condition_by_kernel, value_of_host };

    joins->condition = &conditions[condition];
    return ways[joins->trial / CONDITIONS % (sizeof(ways) / sizeof(ways[0]))](joins);
}

static cudaError_t zero_awaited(struct joins *joins) { return by_condition(joins, CONDITION_ZERO); }
static cudaError_t bits_awaited(struct joins *joins) { return by_condition(joins, CONDITION_BITS); }
static cudaError_t least_awaited(struct joins *joins) { return by_condition(joins, CONDITION_LEAST); }
static cudaError_t nor_awaited(struct joins *joins) { return by_condition(joins, CONDITION_NOR); }
static cudaError_t flush_awaited(struct joins *joins) { return by_condition(joins, CONDITION_FLUSH); }

static void ask_conditions(struct ask *ask)
{
    struct join joins[CONDITIONS] = {
        { "stale after a wait for zero", zero_awaited },
        { "stale after a wait for one of several bits", bits_awaited },
        { "stale after a wait for a value or what comes after it", least_awaited },
    };
    static const struct join nor = { "stale after a wait for a bit that is not set", nor_awaited };
    static const struct join flush = { "stale after a wait that flushes", flush_awaited };
    const char *lack = values_lack(ask->stream);
    unsigned count = CONDITION_NOR;

    if (lack) {
        ask_unsupported(ask, lack);
        return;
    }
    if (driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR))
        joins[count++] = nor;
    if (driver_tells(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES))
        joins[count++] = flush;
    ask_joins(ask, joins, count, cudaStreamNonBlocking);
}

#endif
