/* joins_events.h - the pair of joins.cu in which streams come after others by events. */
#ifndef JOINS_EVENTS_H_INCLUDED
#define JOINS_EVENTS_H_INCLUDED

/* Work in the first stream, and an event after it. */
static cudaError_t work_and_record(struct joins *joins, unsigned followers, cudaEvent_t *event)
{
    cudaError_t error;

    *event = NULL;
    error = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    prepare(joins, 1, followers);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    return error == cudaSuccess ? cudaEventRecord(*event, joins->stream[0]) : error;
}

/* The event goes once its follower is queued. error: of what came before. */
static cudaError_t await_and_follow(struct joins *joins, cudaEvent_t event, cudaError_t error)
{
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t join_eight(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 8, &event);
    unsigned i;

    for (i = 0; i < 8 && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(joins->stream[i + 1], event, 0);
    for (i = 0; i < 8 && error == cudaSuccess; i++)
        error = follow(joins, i, joins->stream[i + 1]);
    (void)cudaEventDestroy(event);
    return error;
}

/* A new event, in whose place an awaited one may have been, is complete at once. */
static cudaError_t record_in_its_place(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    error = cudaEventRecord(event, joins->stream[PLACES - 1]);
    (void)cudaEventDestroy(event);
    return error;
}

/* "Any associated resources will automatically be released asynchronously at completion." */
static cudaError_t join_destroyed(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    (void)cudaEventDestroy(event);
    if (error == cudaSuccess && joins->round % 3 == 1)
        error = record_in_its_place(joins);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    return error == cudaSuccess && joins->round % 3 == 2 ? record_in_its_place(joins) : error;
}

/* Whether it is complete, the host may be told either way. */
static cudaError_t ask_once(cudaEvent_t event)
{
    cudaError_t query = cudaEventQuery(event);

    (void)cudaGetLastError();
    return query == cudaErrorNotReady ? cudaSuccess : query;
}

/* The work records a programmatic event itself, and `awaits` waits for that. */
static cudaError_t launch_and_await(struct joins *joins, unsigned flags, cudaStream_t awaits)
{
    cudaLaunchAttribute attribute;
    cudaEvent_t event = NULL;
    cudaError_t error = joins->trial / 44 % 2 ? event_of_other(flags, &event) : cudaEventCreateWithFlags(&event, flags);

    prepare(joins, 1, 1);
    if (error != cudaSuccess)
        return error;
    attribute = recording(event);
    error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &attribute, 1);
    if (error == cudaSuccess && joins->trial / 22 % 2)
        error = ask_once(event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(awaits, event, 0);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess && joins->round % 2 ? record_in_its_place(joins) : error;
}

/* A programmatic event that the launch itself records: the follower's wait covers the launch. */
static cudaError_t join_launched(struct joins *joins)
{
    unsigned flags = cudaEventDisableTiming | (joins->trial / 11 % 2 ? cudaEventBlockingSync : 0); /* how the host would wait makes no difference */
    cudaError_t error = launch_and_await(joins, flags, joins->stream[1]);

    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[1]), NULL, 0);
}

/* Waiting for the programmatic event in the launch's own stream lets nothing go there. */
static cudaError_t join_launched_own(struct joins *joins)
{
    cudaError_t error = launch_and_await(joins, cudaEventDisableTiming, joins->stream[0]);

    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* The host has asked for the event before. */
static cudaError_t join_polled(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = ask_once(event);
    return await_and_follow(joins, event, error);
}

static cudaError_t join_own(struct joins *joins)
{
    cudaEvent_t event, own;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&own, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return error;
    error = cudaEventRecord(own, joins->stream[1]);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], own, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    (void)cudaEventDestroy(own);
    (void)cudaEventDestroy(event);
    return error;
}

#define REFUSALS 5u

/* A launch that no device takes: of no threads, of too many, with too much shared memory, in clusters that the grid does not hold, or cooperative with
 * more blocks than fit. */
static cudaError_t launch_refused(struct joins *joins, unsigned why, cudaLaunchAttribute records, cudaStream_t stream)
{
    cudaLaunchConfig_t config = one_block(why == 0 ? 0 : why == 1 ? 1u << 16 : PLACE_WORDS, stream);
    struct kernel_args *args = &joins->follower[1];
    cudaLaunchAttribute attrs[2];
    cudaError_t error;

    attrs[0] = records;
    attrs[1] = why == 3 ? in_clusters(2) : cooperatively();
    config.attrs = attrs;
    config.numAttrs = why < 3 ? 1 : 2;
    config.dynamicSmemBytes = why == 2 ? (size_t)1 << 24 : 0;
    config.gridDim.x = why == 4 ? 1u << 20 : 1;
    error = cudaLaunchKernelExC(&config, (const void *)SYMBOL(joins_follower), (void **)&args);
    (void)cudaGetLastError();
    return error == cudaSuccess ? cudaErrorUnknown : cudaSuccess;
}

/* Such launches record nothing: neither at their trigger nor as they complete. */
static cudaError_t join_refused(struct joins *joins)
{
    unsigned why = joins->round % REFUSALS;
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = launch_refused(joins, why, recording(event), joins->stream[2]);
    if (error == cudaSuccess)
        error = launch_refused(joins, why, recording_begin(event), joins->stream[2]);
    return await_and_follow(joins, event, error);
}

static cudaError_t join_attribute(struct joins *joins)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaError_t error;

    prepare(joins, 1, 1);
    value.syncPolicy = cudaSyncPolicyAuto;
    error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSetAttribute(joins->stream[0], cudaLaunchAttributeSynchronizationPolicy, &value);
    value.syncPolicy = (enum cudaSynchronizationPolicy)0;
    value.memSyncDomain = cudaLaunchMemSyncDomainDefault;
    if (error == cudaSuccess)
        error = cudaStreamSetAttribute(joins->stream[0], cudaLaunchAttributeMemSyncDomain, &value);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* Kernels without the attribute read the words by the read-only path before the work and after it. */
static cudaError_t join_read_only(struct joins *joins)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare(joins, 1, PLACES);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = launch_one((const void *)SYMBOL(joins_read_only), &joins->follower[i], PLACE_WORDS, joins->stream[0], NULL, 0);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = launch_one((const void *)SYMBOL(joins_read_only), &joins->follower[i], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[0]), NULL, 0);
    return error;
}

/* A stream waits for an event, which is then recorded in that stream, by a call or by the launch of a silent kernel: what comes later there, and what
 * waits for the new record, comes after what the old one stood for. */
static cudaError_t join_recorded_by_waiter(struct joins *joins)
{
    cudaStream_t waits = joins->stream[1], last = joins->stream[2];
    cudaLaunchAttribute records;
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 2, &event);

    records = recording(event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(waits, event, 0);
    if (error == cudaSuccess)
        error = joins->round % 2 ? launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, waits, &records, 1)
                                 : cudaEventRecord(event, waits);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(last, event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, waits);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[1], PLACE_WORDS, FOLLOWS_IN(joins, last), NULL, 0);
    (void)cudaEventDestroy(event);
    return error;
}

/* The stream waits for the completion of a silent launch as well, unless the device has no such event: that takes nothing from what it comes after. */
static cudaError_t await_begun(struct joins *joins, cudaStream_t waits)
{
    cudaEvent_t event = NULL;
    cudaLaunchAttribute records;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    records = recording_begin(event);
    error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[3], 1, joins->stream[3], &records, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(waits, event, 0);
    else if (is_unoffered(error))
        error = whatever(error);
    (void)cudaEventDestroy(event);
    return error;
}

#define AWAITED_MOST 4u

/* A stream waits for the events of two works, of which the first is slow: recorded by a call, or by the launch as it triggers or its blocks begin.
 * The follower waits, some with attribute 6 behind a third work in their own stream, which is the slow one then. In one round of eight there are
 * four works whose launches record, and the stream waits for the slow one's event last. */
static cudaError_t join_two_kinds(struct joins *joins)
{
    unsigned depends = joins->round % 2 == 0, turn = joins->round / 2, first = depends ? turn % 3 : 2 - turn % 2, i;
    unsigned kind[AWAITED_MOST] = { first, depends ? (turn + 1) % 3 : 3 - first, 1, 1 };
    unsigned events = joins->round % 8 == 7 ? AWAITED_MOST : 2, slow = depends ? 2 : events == 2 ? 0 : (joins->trial + events - 1) % events;
    cudaLaunchAttribute attribute = serialization(1);
    cudaEvent_t event[AWAITED_MOST] = { NULL, NULL, NULL, NULL };
    cudaError_t error = cudaSuccess;

    prepare(joins, events + depends, 1);
    for (i = 0; i < events + depends; i++)
        joins->pinned->plan[i].hold_ns = i == slow ? 15000 : 2000;
    if (depends)
        error = work(joins, 2, joins->stream[0]);
    for (i = 0; i < events && error == cudaSuccess; i++) {
        cudaLaunchAttribute records;
        error = cudaEventCreateWithFlags(&event[i], cudaEventDisableTiming);
        records = recording_at(event[i], kind[i] == 2);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(joins_work), &joins->work[i], PLACE_WORDS, joins->stream[i + 1], &records, kind[i] != 0);
        if (error == cudaSuccess && kind[i] == 0)
            error = cudaEventRecord(event[i], joins->stream[i + 1]);
    }
    for (i = 0; i < events && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(joins->stream[0], event[(joins->trial + i) % events], 0);
    if (error == cudaSuccess && joins->round % 4 == 0)
        error = await_begun(joins, joins->stream[0]);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[0]),
                           &attribute, depends);
    for (i = 0; i < events; i++)
        if (event[i])
            (void)cudaEventDestroy(event[i]);
    return error;
}

#define LANES 10u

/* Work in the first stream; the others come after it, work in each of them; the first one comes after all. */
static cudaError_t capture_lanes(struct joins *joins, cudaEvent_t fork, cudaEvent_t back)
{
    cudaError_t error = work(joins, 0, joins->stream[0]);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaEventRecord(fork, joins->stream[0]);
    for (i = 1; i < LANES && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(joins->stream[i], fork, 0);
    for (i = 1; i < LANES && error == cudaSuccess; i++)
        error = follow(joins, i, joins->stream[i]);
    for (i = 1; i < LANES && error == cudaSuccess; i++) {
        error = record_and_await(back, joins->stream[i], joins->stream[0]);
    }
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* The first stream holds nothing when the second comes to the capture and does the work, after which the first one comes. */
static cudaError_t capture_aside(struct joins *joins, cudaEvent_t fork, cudaEvent_t back)
{
    cudaError_t error = record_and_await(fork, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[1]);
    if (error == cudaSuccess)
        error = record_and_await(back, joins->stream[1], joins->stream[0]);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* By events without timing, or with it. */
static cudaError_t join_captured_streams(struct joins *joins, unsigned followers, cudaError_t (*captures)(struct joins *, cudaEvent_t, cudaEvent_t))
{
    unsigned flags = joins->round % 2 ? cudaEventDefault : cudaEventDisableTiming;
    cudaEvent_t fork, back;
    cudaError_t error = cudaEventCreateWithFlags(&fork, flags);

    prepare(joins, 1, followers);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&back, flags);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = ask_run_capture(joins->stream[0], captures(joins, fork, back));
    (void)cudaEventDestroy(fork);
    (void)cudaEventDestroy(back);
    return error;
}

/* A stream that waits for the event of its own last kernel still comes after all of that, without attribute 6. */
static cudaError_t capture_own(struct joins *joins, cudaEvent_t fork, cudaEvent_t back)
{
    cudaLaunchAttribute attribute;
    cudaEvent_t own = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&own, cudaEventDisableTiming);

    (void)fork, (void)back;
    if (error != cudaSuccess)
        return error;
    attribute = recording_at(own, joins->round % 2);
    error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[0], own, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[0]);
    (void)cudaEventDestroy(own);
    return error;
}

static cudaError_t join_captured_own(struct joins *joins) { return join_captured_streams(joins, 1, capture_own); }
static cudaError_t join_lanes(struct joins *joins) { return join_captured_streams(joins, LANES, capture_lanes); }
static cudaError_t join_aside(struct joins *joins) { return join_captured_streams(joins, 1, capture_aside); }

static void ask_events(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in one of eight streams that wait for one event", join_eight },
        { "stale after a wait for an event that was destroyed then", join_destroyed },
        { "stale after a wait for a launch's event that was destroyed then", join_launched },
        { "stale after a wait for an event, and one for an event of the same stream", join_own },
        { "stale after an event that a refused launch was to record", join_refused },
        { "stale in a stream that was given an attribute", join_attribute },
        { "stale on the read-only path, after work in the same stream", join_read_only },
        { "stale in one of ten captured streams", join_lanes },
        { "stale in a captured stream after one that had joined it first", join_aside },
        { "stale after a programmatic event in its own stream", join_launched_own },
        { "stale after a programmatic event in its own stream, captured", join_captured_own },
        { "stale after an event that the host had asked for", join_polled },
        { "stale after two events of different kinds", join_two_kinds },
        { "stale after an event that a stream which waits for it records again", join_recorded_by_waiter },
        { "work of another kind that began before a launch's event", join_released },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
