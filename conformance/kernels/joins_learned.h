/* joins_learned.h - the pair of joins.cu about what is known of events: the host has learned that a launch's event is complete while the
 * launch's kernel goes on; a stream waits twice for one event, which another stream has recorded again in between; and kernels, with the attribute or
 * without, come after an event in streams of each kind. None of it takes anything from what a stream comes after. */
#ifndef JOINS_LEARNED_H_INCLUDED
#define JOINS_LEARNED_H_INCLUDED

/* The host waits for it, or asks until it is complete. */
static cudaError_t learn_of(const struct joins *joins, cudaEvent_t event)
{
    unsigned asks = drawn(joins, 60, 2);
    cudaError_t error;

    do
        error = asks ? cudaEventQuery(event) : cudaEventSynchronize(event);
    while (error == cudaErrorNotReady);
    (void)cudaGetLastError();
    return error;
}

/* The work triggers first thing, or its blocks begin, and stores late: what the host learns tells nothing of its end. */
static cudaError_t work_and_learn(struct joins *joins, cudaEvent_t event, cudaStream_t stream)
{
    cudaLaunchAttribute records = recording_at(event, (int)drawn(joins, 61, 2));
    cudaError_t error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, &records, 1);

    return error == cudaSuccess ? learn_of(joins, event) : error;
}

/* Behind the work in its stream, which is of any kind: a dependent in every second round, whose wait covers the work, or something else. */
static cudaError_t join_learned(struct joins *joins)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_COPY, FOLLOW_SET, FOLLOW_HOST, FOLLOW_EVENT, FOLLOW_GRAPH, FOLLOW_CALLBACK,
                                           FOLLOW_LONG_ARGS, FOLLOW_POLL, FOLLOW_WAIT };
    enum follow_by by = joins->round % 2 ? ways[joins->round / 2 % (sizeof(ways) / sizeof(ways[0]))] : FOLLOW_DEPENDENT;
    cudaEvent_t event = NULL;
    cudaStream_t stream = NULL;
    cudaError_t error = open_kind((enum stream_kind)drawn(joins, 62, STREAM_KINDS), &stream);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess && by == FOLLOW_GRAPH)
        error = make_follows(joins); /* while the work goes on there is no time for it */
    if (error == cudaSuccess)
        error = work_and_learn(joins, event, stream);
    if (error == cudaSuccess)
        error = follow_by(joins, by, stream);
    if (event)
        (void)cudaEventDestroy(event);
    close_kind(&stream); /* what was queued there goes on */
    return error;
}

/* Its wait covers the work that records the event. */
static cudaError_t waiting_follower(struct joins *joins, cudaStream_t waits)
{
    return launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, waits), NULL, 0);
}

/* In a stream that waits for the launch's event, too. */
static cudaError_t join_learned_elsewhere(struct joins *joins)
{
    cudaStream_t waits = joins->stream[1];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work_and_learn(joins, event, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(waits, event, 0);
    if (error == cudaSuccess)
        error = waiting_follower(joins, waits);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* Work whose launch records the event, or a record after it; and a stream that waits for it. */
static cudaError_t work_and_await(struct joins *joins, unsigned place, unsigned by_launch, cudaEvent_t event, cudaStream_t waits)
{
    cudaStream_t stream = joins->stream[place];
    cudaLaunchAttribute records = recording(event);
    cudaError_t error = launch_one((const void *)SYMBOL(joins_work), &joins->work[place], PLACE_WORDS, stream, &records, by_launch);

    if (error == cudaSuccess && !by_launch)
        error = cudaEventRecord(event, stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(waits, event, 0) : error;
}

/* A stream waits for an event, and once more when another stream has recorded it again: it comes after both records. */
static cudaError_t join_awaited_twice(struct joins *joins)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_COPY, FOLLOW_HOST, FOLLOW_GRAPH, FOLLOW_EVENT };
    unsigned way = joins->round % 4, i;
    cudaStream_t waits = joins->stream[2];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 2, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = work_and_await(joins, i, way >> i & 1, event, waits);
    if (error == cudaSuccess && way == 0)
        error = follow_by(joins, ways[joins->round / 4 % (sizeof(ways) / sizeof(ways[0]))], waits);
    else if (error == cudaSuccess) /* it may begin at a trigger */
        error = waiting_follower(joins, waits);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* A kernel that does not wait, with attribute 6 or without, in a stream of each kind; all of them wait for the event. The work's own stream is
 * left out. The legacy stream, which waits for others, comes last. */
static cudaError_t follow_in_each(struct joins *joins, const cudaStream_t *stream, cudaStream_t works, cudaEvent_t event, unsigned attributed)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned kind;

    joins->followers = 0;
    for (kind = 0; kind < STREAM_KINDS && error == cudaSuccess; kind++) {
        if (stream[kind] == works)
            continue;
        error = cudaStreamWaitEvent(stream[kind], event, 0);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(joins_follower), &joins->follower[joins->followers++], PLACE_WORDS,
                               FOLLOWS_IN(joins, stream[kind]), &attribute, attributed);
    }
    return error;
}

/* The event is recorded behind work in a stream of one kind. The attribute concerns only the kernel before it in its own stream: the wait for the
 * event still holds. */
static cudaError_t join_each_kind(struct joins *joins)
{
    cudaStream_t stream[STREAM_KINDS] = PDL_ZERO;
    unsigned turn = joins->round / STREAM_KINDS, kind;
    cudaStream_t works = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, turn / 2 % 2 ? cudaEventDefault : cudaEventDisableTiming);

    prepare(joins, 1, STREAM_KINDS);
    joins->pinned->plan[0].hold_ns = 30000;
    for (kind = 0; kind < STREAM_KINDS && error == cudaSuccess; kind++)
        error = open_kind((enum stream_kind)kind, &stream[kind]);
    if (error == cudaSuccess)
        error = open_kind((enum stream_kind)(joins->round % STREAM_KINDS), &works);
    if (error == cudaSuccess)
        error = work(joins, 0, works);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, works);
    if (error == cudaSuccess)
        error = follow_in_each(joins, stream, works, event, turn % 2 == 0);
    if (event)
        (void)cudaEventDestroy(event);
    close_kind(&works);
    for (kind = 0; kind < STREAM_KINDS; kind++)
        close_kind(&stream[kind]);
    return error;
}

static void ask_learned(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a launch whose event the host had found complete", join_learned },
        { "stale in a stream that waits for a launch's event of which the host had learned", join_learned_elsewhere },
        { "stale in a stream that waits twice for an event which two streams record", join_awaited_twice },
        { "stale in streams of each kind that wait for an event of another stream, of each kind", join_each_kind },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
