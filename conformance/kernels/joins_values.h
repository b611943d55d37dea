/* joins_values.h - the pair of joins.cu with values that a stream writes and another one, or the host, waits for.
 *
 * "Synchronization ordering established through this API is not visible to CUDA": so each wait is queued after the write that ends it, which
 * no order of the queues can then hold up. */
#ifndef JOINS_VALUES_H_INCLUDED
#define JOINS_VALUES_H_INCLUDED

#define VALUE_WAYS 13u
#define VALUE_PLACE (PLACES - 1) /* no work stores there: the value stands in the middle of it */
#define THERE 7u
#define PASSED_ON 8u           /* instead of it, by a batch that waited */
#define VALUE_WORD (VALUE_PLACE * PLACE_WORDS + PLACE_WORDS / 2)

struct value_step {
    unsigned flags;
    uint32_t before, awaited, written;
};

/* "a cyclic greater-or-equal", equal, a common bit. Who compares numbers otherwise takes some of what stands there before for the value. */
static const struct value_step value_steps[] = {
    { CU_STREAM_WAIT_VALUE_GEQ, 6, 7, 9 },
    { CU_STREAM_WAIT_VALUE_EQ, 8, 7, 7 },
    { CU_STREAM_WAIT_VALUE_GEQ, 0xFFFFFFFEu, 2, 2 },
    { CU_STREAM_WAIT_VALUE_AND, 0xFFFFFFFBu, 4, 0x14 },
    { CU_STREAM_WAIT_VALUE_GEQ, 0x7FFFFFFFu, 0x80000000u, 0x80000001u },
};

/* The step that a trial asks for, or one that is drawn. */
struct condition {
    struct value_step step;
    uint32_t not_yet, sure;    /* a value that ends no wait for it, one that ends every such wait */
};

static const struct value_step *value_step(const struct joins *joins)
{
    return joins->condition ? &joins->condition->step : &value_steps[drawn(joins, 6, sizeof(value_steps) / sizeof(value_steps[0]))];
}

static uint32_t *value_in_host(const struct joins *joins) { return joins->follower[0].data + VALUE_WORD; }

/* In pinned memory, or in the device's. */
static uint32_t *value_at(const struct joins *joins)
{
    return drawn(joins, 7, 2) ? joins->aside : value_in_host(joins);
}

/* Asked once, before anything is queued: what asks waits for the device. */
static int offers_batches(const struct joins *joins)
{
    static int offers = -1;

    if (offers < 0)
        offers = takes_batches(joins->loose);
    return offers;
}

/* Beside it in the device's memory stands a value that is there already. */
static cudaError_t prepare_value(struct joins *joins, unsigned works, unsigned followers)
{
    uint32_t values[2] = { value_step(joins)->before, THERE };
    cudaError_t error = open_aside(joins);

    (void)offers_batches(joins);
    prepare(joins, works, followers);
    joins->pinned->words[VALUE_WORD] = values[0];
    return error == cudaSuccess ? put_words(joins->aside, values, 2) : error;
}

static cudaError_t write_alone(struct joins *joins, cudaStream_t stream, uint32_t *at)
{
    return queue_value("cuStreamWriteValue32", stream, at, value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
}

/* Alone, as a batch, or as the second one of a batch, whose first one writes a word that nobody looks at. */
static cudaError_t write_value(struct joins *joins, cudaStream_t stream, uint32_t *at)
{
    unsigned batch = offers_batches(joins) ? drawn(joins, 60, 3) : 0;
    CUstreamBatchMemOpParams writes[2];

    if (batch == 0)
        return write_alone(joins, stream, at);
    writes[0] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, joins->aside + 3, THERE, CU_STREAM_WRITE_VALUE_DEFAULT);
    writes[batch - 1] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, at, value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    return queue_batch(stream, writes, batch);
}

static cudaError_t await_value(struct joins *joins, cudaStream_t stream)
{
    return queue_value("cuStreamWaitValue32", stream, value_at(joins), value_step(joins)->awaited, value_step(joins)->flags);
}

static cudaError_t await_there(struct joins *joins, cudaStream_t stream)
{
    return queue_value("cuStreamWaitValue32", stream, joins->aside + 1, THERE, CU_STREAM_WAIT_VALUE_EQ);
}

/* Work, and the value after it. */
static cudaError_t work_and_value(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], stream);
    return error == cudaSuccess ? write_value(joins, stream, value_at(joins)) : error;
}

/* Whether a kernel that does not wait may pass such a call and overlap the one before is not asked. */
static cudaError_t follow_value(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_DEPENDENT, FOLLOW_COPY, FOLLOW_SET, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_CALLBACK,
                                           FOLLOW_EVENT, FOLLOW_WAIT, FOLLOW_POLL };

    return follow_by(joins, ways[joins->trial / VALUE_WAYS % (sizeof(ways) / sizeof(ways[0]))], stream);
}

/* Whatever is drawn, one dependent comes right behind a value that is written after plain work. */
static cudaError_t dependent_in_line(struct joins *joins)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = write_value(joins, joins->stream[0], value_at(joins));
    return error == cudaSuccess ? depend(joins, joins->stream[0]) : error;
}

static cudaError_t value_in_line(struct joins *joins)
{
    cudaError_t error;

    if (joins->trial == VALUE_WAYS) /* the first one that a dependent follows */
        return dependent_in_line(joins);
    error = work_and_value(joins, joins->stream[0]);
    return error == cudaSuccess ? follow_value(joins, joins->stream[0]) : error;
}

/* "Work ordered after the operation will block until the given condition on the memory is satisfied." Another stream, which a kernel stands in,
 * waits for the value; and for one that is there. */
static cudaError_t await_both(struct joins *joins, int for_two)
{
    cudaError_t error = work_and_value(joins, joins->stream[0]);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->stream[1], NULL, 0);
    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[1]);
    if (error == cudaSuccess && for_two)
        error = await_there(joins, joins->stream[1]);
    return error == cudaSuccess ? follow_value(joins, joins->stream[1]) : error;
}

static cudaError_t value_awaited(struct joins *joins) { return await_both(joins, 0); }

/* Two values that are written as one of eight bytes: another stream waits for each of them. */
static cudaError_t wide_value(struct joins *joins)
{
    static const uint32_t before[2] = { 0, 0 };
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = put_words(joins->aside, before, 2);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = write_wide_value(joins->stream[0], joins->aside, (uint64_t)THERE << 32 | PASSED_ON);
    if (error == cudaSuccess)
        error = queue_value("cuStreamWaitValue32", stream, joins->aside, PASSED_ON, CU_STREAM_WAIT_VALUE_EQ);
    if (error == cudaSuccess)
        error = await_there(joins, stream);
    return error == cudaSuccess ? follow_value(joins, stream) : error;
}

static cudaError_t two_values_awaited(struct joins *joins)
{
    int wide = drawn(joins, 56, 2) && driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);

    return wide ? wide_value(joins) : await_both(joins, 1);
}

/* A stream that only waits for an event writes the value, for which a third one waits; or it waits for one that is there. */
static cudaError_t after_event(struct joins *joins, int writes)
{
    cudaStream_t last = joins->stream[writes ? 2 : 1];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = prepare_value(joins, 1, 1);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess && writes)
        error = write_value(joins, joins->stream[1], value_at(joins));
    if (error == cudaSuccess)
        error = writes ? await_value(joins, last) : await_there(joins, last);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow_value(joins, last) : error;
}

static cudaError_t value_after_event(struct joins *joins) { return after_event(joins, 1); }
static cudaError_t there_after_event(struct joins *joins) { return after_event(joins, 0); }

/* Between work and what comes after it the stream waits for a value that is there. */
static cudaError_t there_between(struct joins *joins)
{
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = await_there(joins, joins->stream[0]);
    return error == cudaSuccess ? follow_value(joins, joins->stream[0]) : error;
}

/* ... for a value that comes after work of another stream. */
static cudaError_t value_between(struct joins *joins)
{
    cudaError_t error = prepare_value(joins, 2, 1);

    if (error == cudaSuccess)
        error = work(joins, 1, joins->stream[1]);
    if (error == cudaSuccess)
        error = write_value(joins, joins->stream[1], value_at(joins));
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[0]);
    return error == cudaSuccess ? follow_value(joins, joins->stream[0]) : error;
}

#define HELD_NS 40000u         /* longer than the host takes to queue what comes then */

/* By the stream's own write, or by a copy. */
static cudaError_t reset_value(struct joins *joins, cudaStream_t stream)
{
    uint32_t *from = &joins->pinned->plan[1].repeats;

    if (joins->round % 2 == 0)
        return queue_value("cuStreamWriteValue32", stream, value_at(joins), value_step(joins)->before, CU_STREAM_WRITE_VALUE_DEFAULT);
    *from = value_step(joins)->before;
    return cudaMemcpyAsync(value_at(joins), from, sizeof(*from), cudaMemcpyDefault, stream);
}

/* As a counter that each step begins anew: the value is there when the wait for it is queued, and no more when the wait's turn comes. Another
 * stream writes it again, after work. */
static cudaError_t value_again(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0], beside = joins->stream[1];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = prepare_value(joins, 2, 1);
    joins->pinned->plan[1].hold_ns = HELD_NS;
    joins->pinned->words[VALUE_WORD] = value_step(joins)->written;
    if (error == cudaSuccess)
        error = put_words(joins->aside, &value_step(joins)->written, 1);
    if (error == cudaSuccess)
        error = work(joins, 1, stream);
    if (error == cudaSuccess)
        error = reset_value(joins, stream);
    if (error == cudaSuccess)
        error = record_and_await(event, stream, beside);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], beside);
    if (error == cudaSuccess)
        error = write_value(joins, beside, value_at(joins));
    if (error == cudaSuccess)
        error = await_value(joins, stream);
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow_value(joins, stream) : error;
}

#define LATE_POLLS 500u       /* of the host, which take longer than a device may like to wait */
#define END_POLLS 2000000u    /* some seconds */

static void store_value(struct joins *joins, uint32_t value)
{
    __sync_synchronize(); /* what was stored before is there before the value */
    *(volatile uint32_t *)(joins->pinned->words + VALUE_WORD) = value;
}

/* The stream is not to end so soon. */
static unsigned goes_on(cudaStream_t stream)
{
    cudaError_t state = cudaErrorNotReady;
    unsigned i;

    for (i = 0; i < LATE_POLLS && state == cudaErrorNotReady; i++)
        state = cudaStreamQuery(stream);
    (void)cudaGetLastError();
    return state == cudaErrorNotReady;
}

/* The stream is to end. If it does not, or what was queued was refused, no stream stays behind that waits for good. */
static cudaError_t end_wait(struct joins *joins, cudaStream_t stream, cudaError_t error)
{
    uint32_t sure = joins->condition ? joins->condition->sure : value_step(joins)->written;
    cudaError_t state = cudaErrorNotReady, end = cudaSuccess;
    unsigned i;

    for (i = 0; i < END_POLLS && error == cudaSuccess && state == cudaErrorNotReady; i++)
        state = cudaStreamQuery(stream);
    (void)cudaGetLastError();
    store_value(joins, sure);
    if (joins->aside && state != cudaSuccess) {
        end = queue_value("cuStreamWriteValue32", joins->loose, joins->aside, sure, CU_STREAM_WRITE_VALUE_DEFAULT);
        (void)queue_value("cuStreamWriteValue32", joins->loose, joins->aside + 1, PASSED_ON, CU_STREAM_WRITE_VALUE_DEFAULT);
    }
    if (end == cudaSuccess)
        end = cudaDeviceSynchronize();
    joins->pinned->host_is_stale |= state == cudaErrorNotReady;
    return error == cudaSuccess ? end : error;
}

/* The host stores the words and then the value, late. Nothing that the host calls before may wait for the device. */
static cudaError_t value_of_host(struct joins *joins)
{
    struct pinned *pinned = joins->pinned;
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = prepare_value(joins, 1, 1);
    unsigned waits;

    if (error == cudaSuccess)
        error = queue_value("cuStreamWaitValue32", stream, value_in_host(joins), value_step(joins)->awaited, value_step(joins)->flags);
    if (error == cudaSuccess)
        error = drawn(joins, 8, 2) ? follow_by(joins, FOLLOW_HOST, stream) : follow(joins, 0, stream);
    waits = error == cudaSuccess && goes_on(stream);
    if (waits && joins->condition) {
        store_value(joins, joins->condition->not_yet);
        waits = goes_on(stream);
    }
    store_work(pinned, 0);
    store_value(joins, value_step(joins)->written);
    error = end_wait(joins, stream, error);
    pinned->host_is_stale |= !waits;
    return error;
}

/* "will provide a memory fence before the write, which has similar semantics to __threadfence_system() but is scoped to the stream": a host
 * that finds the value finds the words. Nothing is written beside it. */
static cudaError_t value_for_host(struct joins *joins)
{
    volatile const uint32_t *value = joins->pinned->words + VALUE_WORD;
    uint32_t written = value_step(joins)->written, before, behind;
    cudaStream_t stream = joins->stream[0];
    cudaError_t state = cudaErrorNotReady, error = prepare_value(joins, 1, 0);

    before = value[-1];
    behind = value[1];
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], stream);
    if (error == cudaSuccess)
        error = write_value(joins, stream, value_in_host(joins));
    while (error == cudaSuccess && *value != written && state == cudaErrorNotReady)
        state = cudaStreamQuery(stream);
    (void)cudaGetLastError();
    __sync_synchronize(); /* processors may read the words before the value */
    joins->pinned->host_is_stale = *value != written || differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    if (error == cudaSuccess)
        error = state == cudaErrorNotReady || state == cudaSuccess ? cudaStreamSynchronize(stream) : state;
    joins->pinned->host_is_stale |= value[-1] != before || value[1] != behind;
    return error;
}

#define POLLER_BOUND 300000u   /* nanoseconds: longer than all that stands before the value */

/* Runs while the work does, and reads the words once it finds the value, which is its `input`. */
KERNEL(joins_value_poller)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    k_store_relaxed(&args.state->alive, 1);
    if (!k_poll(args.state, args.input, 1, plan.bound_ns))
        return;
    k_fence_system();
    for (i = 0; i < PLACE_WORDS; i++)
        k_store(args.seen + i, k_load(args.data + i));
    k_store_relaxed(&args.state->finished, 1);
}

/* The words that a kernel stores late, or a memset or copy after it, in the device's memory; then the value: alone, in a batch, or as eight bytes. */
static cudaError_t queue_polled_value(struct joins *joins, unsigned by, unsigned mover)
{
    uint32_t *at = joins->aside + VALUE_WORD, *words = joins->aside;
    struct kernel_args args = joins->work[0];
    cudaStream_t stream = joins->stream[0];
    CUstreamBatchMemOpParams operation = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, at, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    cudaError_t error;

    args.data = mover ? words + ALL_WORDS / 2 : words;
    error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, stream, NULL, 0);
    if (error == cudaSuccess && mover)
        error = cudaMemcpyAsync(words, mover == 1 ? args.data : joins->follower[1].seen, PLACE_WORDS * sizeof(uint32_t), cudaMemcpyDefault, stream);
    if (error != cudaSuccess)
        return error;
    switch (by) {
    case 1: return queue_batch(stream, &operation, 1);
    case 2: return write_wide_value(stream, at, 1);
    default: return queue_value("cuStreamWriteValue32", stream, at, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    }
}

/* "a memory fence before the write": a kernel that finds the value finds the words, too, though it began before them. It is launched first, and need
 * not run at the same time as the work: a value that it does not find in time asks nothing. */
static cudaError_t value_for_kernel(struct joins *joins)
{
    uint32_t old[PLACE_WORDS] = { 0 };
    unsigned by = joins->round % 3, mover = joins->round / 3 % 3;
    struct kernel_args poller = joins->follower[0];
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    store_fresh(joins->pinned, 0, joins->pinned->seen[1]);
    joins->pinned->plan[PLACES].bound_ns = POLLER_BOUND;
    poller.data = joins->aside;
    poller.input = joins->aside + VALUE_WORD;
    if ((by == 1 && !offers_batches(joins)) || (by == 2 && !driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)))
        by = 0;
    if (error == cudaSuccess)
        error = put_words(joins->aside, old, PLACE_WORDS);
    if (error == cudaSuccess)
        error = put_words(poller.input, old, 2);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_value_poller), &poller, 1, FOLLOWS_IN(joins, joins->stream[1]), NULL, 0);
    if (error == cudaSuccess)
        error = queue_polled_value(joins, by, mover);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->unasked = joins->pinned->state.finished == 0;
    return error;
}

#define MANY_VALUES 180u
#define MANY_FIRST 1000u       /* what the first wait is for; each next one is for one less */

/* Many writes stand behind the work, and many waits in another stream, of which the first holds the others up: their values are there already.
 * Each writes a value of its own. */
static cudaError_t queue_many_values(struct joins *joins)
{
    cudaError_t error = some_work(joins, &joins->work[0], joins->stream[0]);
    uint32_t i;

    for (i = 0; i < MANY_VALUES && error == cudaSuccess; i++)
        error = queue_value("cuStreamWriteValue32", joins->stream[0], joins->aside + i, MANY_FIRST + i, CU_STREAM_WRITE_VALUE_DEFAULT);
    for (i = 0; i < MANY_VALUES && error == cudaSuccess; i++)
        error = queue_value("cuStreamWaitValue32", joins->stream[1], joins->aside + i, MANY_FIRST - i, CU_STREAM_WAIT_VALUE_GEQ);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[1]) : error;
}

static cudaError_t many_values(struct joins *joins)
{
    uint32_t values[MANY_VALUES], i;
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    for (i = 0; i < MANY_VALUES; i++)
        values[i] = MANY_FIRST - i;
    values[0]--;
    if (error == cudaSuccess)
        error = put_words(joins->aside, values, MANY_VALUES);
    if (error == cudaSuccess)
        error = queue_many_values(joins);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(values, joins->aside, sizeof(values), cudaMemcpyDeviceToHost);
    for (i = 0; i < MANY_VALUES && error == cudaSuccess; i++)
        joins->pinned->host_is_stale |= values[i] != MANY_FIRST + i;
    return error;
}

#define BATCH_WORDS 254u       /* of a batch beside the value: "count must be less than 256" */

/* The value, and so many words more: they lie in the longer memory of the device. */
static cudaError_t write_in_batch(struct joins *joins, unsigned words, cudaStream_t stream)
{
    CUstreamBatchMemOpParams writes[BATCH_WORDS + 1];
    uint32_t written = value_step(joins)->written, i;

    writes[0] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, value_at(joins), written, CU_STREAM_WRITE_VALUE_DEFAULT);
    for (i = 0; i < words; i++)
        writes[i + 1] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, joins->longer + i, MANY_FIRST + i, CU_STREAM_WRITE_VALUE_DEFAULT);
    return queue_batch(stream, writes, words + 1);
}

/* Work, a batch that comes after it, and who waits for the value. */
static cudaError_t queue_after_batch(struct joins *joins, unsigned words, cudaStream_t *blocking)
{
    enum standing standing = (enum standing)(1 + joins->round % (STANDINGS - 1));
    cudaStream_t writes = NULL;
    cudaError_t error = prepare_value(joins, 1, 1);

    if (error == cudaSuccess)
        error = work_before(joins, standing, &joins->work[0], blocking, &writes);
    if (error == cudaSuccess)
        error = write_in_batch(joins, words, writes);
    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[1]);
    if (error == cudaSuccess)
        error = follow_value(joins, joins->stream[1]);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* "The operations are enqueued in the order they appear in the array", behind all that the stream waits for: who waits for the first
 * one, in a stream that waits for nothing else, finds the work; and none is left out. */
static cudaError_t value_in_batch(struct joins *joins)
{
    static const unsigned counts[] = { 1, BATCH_WORDS, 0 };
    unsigned words = counts[joins->round / (STANDINGS - 1) % 3], i;
    uint32_t seen[BATCH_WORDS] = { 0 };
    cudaStream_t blocking = NULL;
    cudaError_t error = open_longer(joins);

    joins->unasked = !offers_batches(joins);
    if (joins->unasked)
        return error;
    if (error == cudaSuccess)
        error = put_words(joins->longer, seen, BATCH_WORDS);
    if (error == cudaSuccess)
        error = queue_after_batch(joins, words, &blocking);
    if (error == cudaSuccess)
        error = cudaMemcpy(seen, joins->longer, sizeof(seen), cudaMemcpyDeviceToHost);
    for (i = 0; i < words && error == cudaSuccess; i++)
        joins->pinned->host_is_stale |= seen[i] != MANY_FIRST + i;
    close_kind(&blocking);
    return error;
}

static void ask_values(struct ask *ask)
{
    static const struct join joins[VALUE_WAYS] = {
        { "stale after a value that the stream writes", value_in_line },
        { "stale after a wait for a value", value_awaited },
        { "stale after waits for two values", two_values_awaited },
        { "stale after a value that is written after an event", value_after_event },
        { "stale after waits for an event and for a value that is there", there_after_event },
        { "stale after work and a wait for a value that is there", there_between },
        { "stale after work and a wait for a value", value_between },
        { "stale after a value that the host writes late", value_of_host },
        { "stale for a host that finds a value", value_for_host },
        { "stale for a kernel that finds a value", value_for_kernel },
        { "stale after many values, or another one written", many_values },
        { "stale after a wait for a value that was there before, and comes again", value_again },
        { "stale after a batch of values, or another one written", value_in_batch },
    };
    const char *lack = values_lack(ask->stream);

    if (lack)
        ask_unsupported(ask, lack);
    else
        ask_joins(ask, joins, VALUE_WAYS, cudaStreamNonBlocking);
}

#endif
