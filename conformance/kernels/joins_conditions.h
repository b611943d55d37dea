/* joins_conditions.h - the pair of joins.cu with waits for values by every condition, alone and in batches: written by a stream, a kernel or
 * the host, or by what only moves memory; and with many streams that wait for one word.
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

/* Makes the value of whatever stands there. */
KERNEL(joins_value_adder)
{
    struct trial_plan plan = k_plan(&args);

    k_add(args.seen, plan.repeats - k_load_relaxed(args.seen));
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

/* None of these holds up the host, who has to end the wait. A kernel that is launched the first time may be loaded then, which may wait for the
 * device: so plain followers come first, before any stream waits for the host. */
static cudaError_t follow_wait(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_DEPENDENT, FOLLOW_COPY, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_EVENT };
    unsigned which = joins->trial < CONDITIONS ? 0 : drawn(joins, 14, sizeof(ways) / sizeof(ways[0]));

    return follow_by(joins, ways[which], stream);
}

static cudaError_t stand_silent(struct joins *joins, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);
}

static cudaError_t wait_and_follow(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = stand_silent(joins, stream);

    if (error == cudaSuccess)
        error = await_value(joins, stream);
    return error == cudaSuccess ? follow_wait(joins, stream) : error;
}

/* A value that does not end the wait, and one that does after work. */
static cudaError_t write_both(struct joins *joins)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = queue_value("cuStreamWriteValue32", joins->stream[0], value_at(joins), joins->condition->not_yet, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    return error == cudaSuccess ? write_value(joins, joins->stream[0], value_at(joins)) : error;
}

static cudaError_t condition_by_stream(struct joins *joins)
{
    cudaError_t error = write_both(joins);

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

#define SETTER_SOURCE 2u       /* in the device's memory, behind the value and the one that is there */

static void CUDART_CB set_value_word(void *opaque)
{
    struct joins *joins = (struct joins *)opaque;

    store_value(joins, value_step(joins)->written);
}

/* A memset, a copy to the device or within it, one of rows, an atomic access, or the host in its turn, which reaches pinned memory only. */
static cudaError_t set_by_other(struct joins *joins, unsigned setter, cudaStream_t stream)
{
    uint32_t *at = value_at(joins), *other = joins->aside + SETTER_SOURCE, written = value_step(joins)->written;
    struct kernel_args args = joins->work[1];
    typedef CUresult(CUDAAPI *words_fn)(CUdeviceptr, unsigned, size_t, CUstream);
    void *function = NULL;
    cudaError_t error;

    joins->pinned->plan[1].repeats = written;
    args.seen = at;
    switch (setter) {
    case 0:
        error = driver_function("cuMemsetD32Async", 3020, &function);
        return error == cudaSuccess ? (cudaError_t)((words_fn)function)(at_device(at), written, 1, (CUstream)stream) : error;
    case 1: return cudaMemcpyAsync(at, &joins->pinned->plan[1].repeats, 4, cudaMemcpyDefault, stream);
    case 2: return cudaMemcpyAsync(at, other, 4, cudaMemcpyDefault, stream);
    case 3: return cudaMemcpy2DAsync(at, 4, other, 4, 4, 1, cudaMemcpyDefault, stream);
    case 4: return launch_one((const void *)SYMBOL(joins_value_adder), &args, 1, stream, NULL, 0);
    default: return cudaLaunchHostFunc(stream, set_value_word, joins);
    }
}

/* ... at once, or by a graph: "a value that comes" is one that stands there, whoever stored it. */
static cudaError_t condition_by_other(struct joins *joins)
{
    unsigned setter = drawn(joins, 43, value_at(joins) == joins->aside ? 5 : 6), captured = drawn(joins, 44, 2);
    uint32_t written = value_step(joins)->written;
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = put_words(joins->aside + SETTER_SOURCE, &written, 1);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], stream);
    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = set_by_other(joins, setter, stream);
        error = captured ? ask_run_capture(stream, error) : error;
    }
    if (error == cudaSuccess)
        error = wait_and_follow(joins, joins->stream[1]);
    return end_wait(joins, joins->stream[1], error);
}

static cudaError_t by_condition(struct joins *joins, unsigned condition)
{
    static const join_maker ways[] = { condition_by_stream, condition_by_kernel, value_of_host, condition_by_other };

    joins->condition = &conditions[condition];
    return ways[joins->trial / CONDITIONS % (sizeof(ways) / sizeof(ways[0]))](joins);
}

static cudaError_t zero_awaited(struct joins *joins) { return by_condition(joins, CONDITION_ZERO); }
static cudaError_t bits_awaited(struct joins *joins) { return by_condition(joins, CONDITION_BITS); }
static cudaError_t least_awaited(struct joins *joins) { return by_condition(joins, CONDITION_LEAST); }
static cudaError_t nor_awaited(struct joins *joins) { return by_condition(joins, CONDITION_NOR); }
static cudaError_t flush_awaited(struct joins *joins) { return by_condition(joins, CONDITION_FLUSH); }

#define WIDE_PLACE 4u          /* in the device's memory: the lower word is what it is to be, the upper one comes after the work */

/* Who compares but 32 bits, or numbers otherwise, takes what stands there before for the value, or waits for good. */
static const struct wide_step {
    unsigned flags;
    uint32_t before[2];        /* the lower word first */
    uint64_t awaited;
    uint32_t written;          /* the upper word */
} wide_steps[] = {
    { CU_STREAM_WAIT_VALUE_GEQ, { 7, 0 }, 0x100000000ull, 1 },
    { CU_STREAM_WAIT_VALUE_EQ, { 7, 0 }, 0x100000007ull, 1 },
    { CU_STREAM_WAIT_VALUE_GEQ, { 7, 0xFFFFFFFFu }, 5, 0 },
    { CU_STREAM_WAIT_VALUE_GEQ, { 7, 0x7FFFFFFFu }, 0x8000000000000007ull, 0x80000000u },
    { CU_STREAM_WAIT_VALUE_AND, { 0, 0xFFFFFFFBu }, 0x400000010ull, 0x14 },
    { CU_STREAM_WAIT_VALUE_NOR, { 0xFFFFFFFFu, 0x0000FFFFu }, 0xFFFF000000000000ull, 0x0000FFFEu },
};
#define WIDE_STEPS (sizeof(wide_steps) / sizeof(wide_steps[0]))

/* A wait for 64 bits, of which 32 are there. */
static cudaError_t wide_awaited(struct joins *joins)
{
    unsigned steps = WIDE_STEPS - (driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR) ? 0 : 1);
    const struct wide_step *step = &wide_steps[joins->trial / (CONDITIONS + 3) % steps];
    cudaStream_t stream = joins->stream[1];
    cudaError_t error;

    joins->condition = &conditions[CONDITION_LEAST];
    error = prepare_value(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaMemcpy(joins->aside + WIDE_PLACE, step->before, sizeof(step->before), cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize(); /* the streams do not wait for that copy */
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = queue_value("cuStreamWriteValue32", joins->stream[0], joins->aside + WIDE_PLACE + 1, step->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = stand_silent(joins, stream);
    if (error == cudaSuccess)
        error = await_wide_value(stream, joins->aside + WIDE_PLACE, step->awaited, step->flags);
    if (error == cudaSuccess)
        error = follow_wait(joins, stream);
    return end_wait(joins, stream, error);
}

/* ---- batches ---- */

static CUstreamBatchMemOpParams wait_operation(struct joins *joins)
{
    return value_operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, value_at(joins), value_step(joins)->awaited, value_step(joins)->flags);
}

/* "Operations are enqueued in the order they appear in the array": a batch waits for the value and writes another one, for which a third stream
 * waits. */
static cudaError_t batch_between(struct joins *joins)
{
    CUstreamBatchMemOpParams batch[2];
    cudaError_t error;

    joins->condition = &conditions[joins->trial / CONDITIONS % CONDITION_NOR];
    error = write_both(joins);
    if (error == cudaSuccess) {
        batch[0] = wait_operation(joins);
        batch[1] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, joins->aside + 1, PASSED_ON, CU_STREAM_WRITE_VALUE_DEFAULT);
        error = queue_batch(joins->stream[1], batch, 2);
    }
    if (error == cudaSuccess)
        error = stand_silent(joins, joins->stream[2]);
    if (error == cudaSuccess)
        error = queue_value("cuStreamWaitValue32", joins->stream[2], joins->aside + 1, PASSED_ON, CU_STREAM_WAIT_VALUE_EQ);
    if (error == cudaSuccess)
        error = follow_wait(joins, joins->stream[2]);
    return end_wait(joins, joins->stream[2], error);
}

#define BATCH_MOST 255u /* a batch takes less than 256 */

/* A batch waits for the value and, before it and after it, for one that is there; every second one waits for the value at its end. */
static cudaError_t batch_of_waits(struct joins *joins)
{
    CUstreamBatchMemOpParams batch[BATCH_MOST];
    unsigned waits = 2 + drawn(joins, 40, BATCH_MOST - 1), i;
    cudaError_t error;

    joins->condition = &conditions[drawn(joins, 15, CONDITION_NOR)];
    error = write_both(joins);
    if (error == cudaSuccess)
        error = stand_silent(joins, joins->stream[1]);
    if (error == cudaSuccess) {
        for (i = 0; i < waits; i++)
            batch[i] = value_operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ);
        batch[drawn(joins, 42, 2) ? waits - 1 : drawn(joins, 41, waits)] = wait_operation(joins);
        error = queue_batch(joins->stream[1], batch, waits);
    }
    if (error == cudaSuccess)
        error = follow_wait(joins, joins->stream[1]);
    return end_wait(joins, joins->stream[1], error);
}

/* ---- many streams ---- */

/* Two streams wait for one word, or as many as there are, each with a follower; the work's stream sets it. */
static cudaError_t crowd_awaits(struct joins *joins)
{
    unsigned crowd = drawn(joins, 45, 2) ? 2 : PLACES - 2, i;
    cudaError_t error;

    joins->condition = &conditions[drawn(joins, 46, CONDITION_NOR)];
    error = write_both(joins);
    joins->followers = crowd;
    for (i = 0; i < crowd && error == cudaSuccess; i++)
        error = await_value(joins, joins->stream[i + 1]);
    for (i = 0; i < crowd && error == cudaSuccess; i++)
        error = follow(joins, i, joins->stream[i + 1]);
    return end_wait(joins, joins->stream[crowd], error);
}

static void ask_conditions(struct ask *ask)
{
    struct join joins[CONDITIONS + 4] = {
        { "stale after a wait for zero", zero_awaited },
        { "stale after a wait for one of several bits", bits_awaited },
        { "stale after a wait for a value or what comes after it", least_awaited },
    };
    static const struct join nor = { "stale after a wait for a bit that is not set", nor_awaited };
    static const struct join wide = { "stale after a wait for 64 bits", wide_awaited };
    static const struct join batches[2] = { { "stale after a batch that waits and writes", batch_between },
                                            { "stale after a batch that waits for two values", batch_of_waits } };
    static const struct join crowd = { "stale in one of several streams that wait for one value", crowd_awaits };
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
    if (driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS))
        joins[count++] = wide;
    if (takes_batches(ask->stream)) {
        joins[count++] = batches[0];
        joins[count++] = batches[1];
    }
    joins[count++] = crowd;
    ask_joins(ask, joins, count, cudaStreamNonBlocking);
}

#endif
