/* joins_values.h - the pair of joins.cu with values that a stream writes and another one, or the host, waits for.
 *
 * "Synchronization ordering established through this API is not visible to CUDA": so each wait is queued after the write that ends it, which
 * no order of the queues can then hold up. */
#ifndef JOINS_VALUES_H_INCLUDED
#define JOINS_VALUES_H_INCLUDED

#define VALUE_WAYS 12u
#define VALUE_PLACE (PLACES - 1) /* no work stores there: the value stands in the middle of it */
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

static const struct value_step *value_step(const struct joins *joins)
{
    return &value_steps[joins->trial / VALUE_WAYS % (sizeof(value_steps) / sizeof(value_steps[0]))];
}

static uint32_t *value_in_host(const struct joins *joins) { return joins->follower[0].data + VALUE_WORD; }

/* In pinned memory, or in every other turn in the device's. */
static uint32_t *value_at(const struct joins *joins)
{
    return joins->trial / VALUE_WAYS % 2 ? joins->aside : value_in_host(joins);
}

static cudaError_t prepare_value(struct joins *joins, unsigned works, unsigned followers)
{
    const struct value_step *step = value_step(joins);
    cudaError_t error = open_aside(joins);

    prepare(joins, works, followers);
    joins->pinned->words[VALUE_WORD] = step->before;
    if (error == cudaSuccess)
        error = cudaMemcpy(joins->aside, &step->before, sizeof(step->before), cudaMemcpyHostToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static cudaError_t write_value(struct joins *joins, cudaStream_t stream, uint32_t *at)
{
    return queue_value("cuStreamWriteValue32", stream, at, value_step(joins)->written, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static cudaError_t await_value(struct joins *joins, cudaStream_t stream)
{
    return queue_value("cuStreamWaitValue32", stream, value_at(joins), value_step(joins)->awaited, value_step(joins)->flags);
}

/* Work, perhaps a silent kernel that overlaps it, and the value. */
static cudaError_t work_and_value(struct joins *joins, unsigned followers, int row, cudaStream_t stream)
{
    cudaError_t error = prepare_value(joins, 1, followers);

    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess && row)
        error = silent(joins, stream);
    return error == cudaSuccess ? write_value(joins, stream, value_at(joins)) : error;
}

/* ... for which another stream waits. */
static cudaError_t work_and_awaited(struct joins *joins, unsigned followers, int row)
{
    cudaError_t error = work_and_value(joins, followers, row, joins->stream[0]);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->stream[1], NULL, 0);
    return error == cudaSuccess ? await_value(joins, joins->stream[1]) : error;
}

static cudaError_t value_in_line(struct joins *joins)
{
    cudaError_t error = work_and_value(joins, 1, 0, joins->stream[0]);

    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

static cudaError_t value_before_dependent(struct joins *joins)
{
    cudaError_t error = work_and_value(joins, 1, 0, joins->stream[0]);

    return error == cudaSuccess ? depend(joins, joins->stream[0]) : error;
}

/* "Work ordered after the operation will block until the given condition on the memory is satisfied." */
static cudaError_t value_awaited(struct joins *joins)
{
    cudaError_t error = work_and_awaited(joins, 1, 0);

    return error == cudaSuccess ? follow(joins, 0, joins->stream[1]) : error;
}

static cudaError_t value_after_row(struct joins *joins)
{
    cudaError_t error = work_and_awaited(joins, 1, 1);

    return error == cudaSuccess ? follow(joins, 0, joins->stream[1]) : error;
}

static cudaError_t value_before_copy(struct joins *joins)
{
    cudaError_t error = work_and_awaited(joins, 1, 0);

    return error == cudaSuccess ? copy_words(joins, joins->stream[1], cudaMemcpyDefault) : error;
}

static cudaError_t value_before_host(struct joins *joins)
{
    cudaError_t error = work_and_awaited(joins, 0, 0);

    joins->pinned->host_is_stale = 1; /* until it looked */
    return error == cudaSuccess ? cudaLaunchHostFunc(FOLLOWS_IN(joins, joins->stream[1]), look, joins->pinned) : error;
}

static cudaError_t value_before_graph(struct joins *joins)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = work_and_awaited(joins, 1, 0), end;

    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&exec, (const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, FOLLOWS_IN(joins, joins->stream[1]));
    end = cudaDeviceSynchronize();
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error == cudaSuccess ? end : error;
}

static cudaError_t value_before_event(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = work_and_awaited(joins, 1, 0);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[1], joins->stream[2]);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[2]) : error;
}

/* The stream that writes the value only waits for an event. */
static cudaError_t value_after_event(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = prepare_value(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = write_value(joins, joins->stream[1], value_at(joins));
    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[2]);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[2]) : error;
}

/* Between a kernel and what comes after it the stream waits for a value that comes after work of another stream. */
static cudaError_t value_between(struct joins *joins, int dependent)
{
    cudaError_t error = prepare_value(joins, 2, 1);

    if (error == cudaSuccess)
        error = work(joins, 1, joins->stream[1]);
    if (error == cudaSuccess)
        error = write_value(joins, joins->stream[1], value_at(joins));
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = await_value(joins, joins->stream[0]);
    if (error != cudaSuccess)
        return error;
    return dependent ? depend(joins, joins->stream[0]) : follow(joins, 0, joins->stream[0]);
}

static cudaError_t value_between_followers(struct joins *joins) { return value_between(joins, 0); }
static cudaError_t value_between_dependents(struct joins *joins) { return value_between(joins, 1); }

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
        error = work(joins, 0, stream);
    if (error == cudaSuccess && joins->trial / VALUE_WAYS % 2)
        error = silent(joins, stream);
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

static void ask_values(struct ask *ask)
{
    static const struct join joins[VALUE_WAYS] = {
        { "stale after a value that the stream writes", value_in_line },
        { "stale in a dependent after a value that the stream writes", value_before_dependent },
        { "stale after a wait for a value", value_awaited },
        { "stale after a wait for a value that is written after a silent kernel", value_after_row },
        { "stale in a copy after a wait for a value", value_before_copy },
        { "stale in a host function after a wait for a value", value_before_host },
        { "stale in a graph after a wait for a value", value_before_graph },
        { "stale after an event behind a wait for a value", value_before_event },
        { "stale after a value that is written after an event", value_after_event },
        { "stale after work and a wait for a value", value_between_followers },
        { "stale in a dependent after work and a wait for a value", value_between_dependents },
        { "stale for a host that finds a value", value_for_host },
    };
    const char *lack = values_lack(ask->stream);

    if (lack)
        ask_unsupported(ask, lack);
    else
        ask_joins(ask, joins, VALUE_WAYS, cudaStreamNonBlocking);
}

#endif
