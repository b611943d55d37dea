/* joins_legacy.h - the pairs of joins.cu in which a blocking stream that also waits for an event, or another thread, meets the legacy
 * stream. */
#ifndef JOINS_LEGACY_H_INCLUDED
#define JOINS_LEGACY_H_INCLUDED

#define LEGACY_TURN 24u        /* trials; after so many, questions change their manner */

/* Work in the second place, in a stream that nobody waits for but by the event. */
static cudaError_t work_aside(struct joins *joins, cudaEvent_t *event)
{
    cudaError_t error = cudaEventCreateWithFlags(event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = work(joins, 1, joins->ask->side);
    return error == cudaSuccess ? cudaEventRecord(*event, joins->ask->side) : error;
}

/* The legacy stream comes after the work of a blocking stream, also if that waits for an event by now. */
static cudaError_t join_waiting(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaStream_t stream = joins->stream[joins->trial % PLACES];
    cudaError_t error;

    prepare(joins, 2, 1);
    joins->works = 1; /* whether the legacy stream comes after the event as well is not asked */
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = work_aside(joins, &event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, cudaStreamLegacy);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* A blocking stream whose first work has an event to wait for comes after the legacy stream, too. */
static cudaError_t join_first(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaStream_t fresh;
    cudaError_t error = cudaStreamCreate(&fresh);

    if (error != cudaSuccess)
        return error;
    prepare(joins, 2, 1);
    error = work(joins, 0, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = work_aside(joins, &event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(fresh, event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, fresh);
    if (event)
        (void)cudaEventDestroy(event);
    (void)cudaStreamDestroy(fresh);
    return error;
}

/* Work in the legacy stream, which a silent kernel with the attribute overlaps there; a blocking stream comes after both. */
static cudaError_t join_legacy_row(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = silent(joins, cudaStreamLegacy);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[joins->trial % PLACES]) : error;
}

#define FORTY 40u
#define LEGACY_MOST 136u       /* in one round of four */

/* All blocking streams hold work, one of them the slow one; of the most of them the first one and the last one do. */
static cudaError_t join_forty(struct joins *joins)
{
    cudaStream_t stream[LEGACY_MOST] = { NULL };
    cudaError_t error = cudaSuccess;
    unsigned most = joins->round % 4 == 1, count = most ? LEGACY_MOST : FORTY, slow = most ? 0 : joins->trial * 7 % FORTY, i;

    prepare(joins, 1 + most, 1);
    for (i = 0; i < count && error == cudaSuccess; i++)
        error = cudaStreamCreate(&stream[i]);
    for (i = 0; i < count && error == cudaSuccess; i++)
        error = i == slow || (most && i + 1 == count)
                    ? work(joins, i != slow, stream[i])
                    : launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream[i], NULL, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < count; i++)
        if (stream[i])
            (void)cudaStreamDestroy(stream[i]);
    return error;
}

/* What the legacy stream records stands for all that it comes after, the per-thread stream's too, with timing or without. */
static cudaError_t join_recorded(struct joins *joins)
{
    static const unsigned flags[] = { cudaEventDefault, cudaEventDisableTiming, cudaEventBlockingSync };
    unsigned round = joins->trial / LEGACY_TURN, place = joins->trial % (PLACES + 1);
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, flags[round % 3]);

    if (error != cudaSuccess)
        return error;
    prepare(joins, 1, 1);
    error = work(joins, 0, place == PLACES ? cudaStreamPerThread : joins->stream[place]);
    if (error == cudaSuccess)
        error = round / 3 % 2 ? record_by_driver(event, NULL) : cudaEventRecord(event, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->ask->side, event, 0); /* it is none of the blocking ones */
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->ask->side);
    (void)cudaEventDestroy(event);
    return error;
}

/* Stream 0 waits for the event of another stream, or records one itself. */
static cudaError_t join_zero_by_driver(struct joins *joins)
{
    cudaStream_t side = joins->ask->side, from = joins->trial / LEGACY_TURN % 2 ? side : 0, to = from == side ? 0 : side;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, from);
    if (error == cudaSuccess)
        error = record_by_driver(event, from);
    if (error == cudaSuccess)
        error = await_by_driver(to, event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, to);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t launch_in_zero(const void *kernel, const struct kernel_args *args, cudaStream_t stream)
{
    struct kernel_args copy = *args;
    cudaLaunchConfig_t config = one_block(PLACE_WORDS, stream);
    void *values[1];

    values[0] = &copy;
    return launch_by_driver(&config, kernel, values);
}

/* The driver's stream 0 is the legacy one: its kernel comes after a blocking stream, or before it. */
static cudaError_t join_launched_by_driver(struct joins *joins)
{
    cudaStream_t blocking = joins->stream[joins->trial % PLACES], zero = NULL;
    int works = joins->trial / LEGACY_TURN % 2 != 0;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = works ? launch_in_zero((const void *)SYMBOL(joins_work), &joins->work[0], zero) : work(joins, 0, blocking);
    if (error != cudaSuccess)
        return error;
    return works ? follow(joins, 0, blocking)
                 : launch_in_zero((const void *)SYMBOL(joins_follower), &joins->follower[0], FOLLOWS_IN(joins, zero));
}

/* One stream has two names, 0 and cudaStreamLegacy: the work is queued by the one, and what comes after it by the other. */
static cudaStream_t name_of_legacy(const struct joins *joins, unsigned other)
{
    return (joins->round + other) % 2 ? cudaStreamLegacy : (cudaStream_t)NULL;
}

static cudaError_t work_by_name(struct joins *joins, unsigned followers)
{
    prepare(joins, 1, followers);
    return work(joins, 0, name_of_legacy(joins, 0));
}

/* In every other pair of rounds a silent kernel overlaps the work by the follower's name. */
static cudaError_t join_other_name(struct joins *joins)
{
    cudaStream_t other = name_of_legacy(joins, 1);
    cudaError_t error = work_by_name(joins, 1);

    if (error == cudaSuccess && joins->round / 2 % 2)
        error = silent(joins, other);
    return error == cudaSuccess ? follow(joins, 0, other) : error;
}

static cudaError_t join_dependent_by_name(struct joins *joins)
{
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error = work_by_name(joins, 1);

    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS,
                                             FOLLOWS_IN(joins, name_of_legacy(joins, 1)), &early, 1)
                                : error;
}

static cudaError_t join_recorded_by_name(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = work_by_name(joins, 1);
    if (error == cudaSuccess)
        error = record_and_await(event, name_of_legacy(joins, 1), joins->ask->side);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->ask->side);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t join_host_by_name(struct joins *joins)
{
    cudaError_t error = work_by_name(joins, 0);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(FOLLOWS_IN(joins, name_of_legacy(joins, 1)));
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    return error;
}

static cudaError_t join_copy_in_legacy(struct joins *joins) { return moved(joins, joins->stream[joins->trial % PLACES], cudaStreamLegacy, 0); }
static cudaError_t join_copy_after_legacy(struct joins *joins) { return moved(joins, cudaStreamLegacy, joins->stream[joins->trial % PLACES], 0); }

struct join_crew {
    struct joins *joins;
    cudaStream_t stream;
    cudaError_t error;
};

static void follow_in_thread(void *of)
{
    struct join_crew *crew = (struct join_crew *)of;

    crew->error = follow(crew->joins, 0, crew->stream);
}

static cudaError_t join_by_thread(struct joins *joins, cudaStream_t first, cudaStream_t then)
{
    struct join_crew crew = { joins, then, cudaSuccess };
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, first);
    if (error != cudaSuccess)
        return error;
    if (!run_in_thread(follow_in_thread, &crew)) {
        ask_skip(joins->ask, "a follower of another thread", "no thread could be had");
        return follow(joins, 0, then);
    }
    return crew.error;
}

static cudaError_t join_legacy_by_thread(struct joins *joins) { return join_by_thread(joins, joins->stream[0], cudaStreamLegacy); }
static cudaError_t join_blocking_by_thread(struct joins *joins) { return join_by_thread(joins, cudaStreamLegacy, joins->stream[0]); }

#endif
