/* joins_manners.h - the pairs of joins.cu in which one kernel is launched in two manners at once, each with each: the work, a silent
 * kernel, or what comes after them. */
#ifndef JOINS_MANNERS_H_INCLUDED
#define JOINS_MANNERS_H_INCLUDED

#define ROW_MANNERS 4u         /* questions */
#define AWAIT_MANNERS 6u
#define PAIRS_OF_MANNERS (MANNERS * (MANNERS + 1u) / 2u)

/* In every round of the question two others, or the same one twice. */
static void two_manners(unsigned round, enum manner *first, enum manner *second)
{
    unsigned left = round % PAIRS_OF_MANNERS, least = 0;

    for (; left >= MANNERS - least; least++)
        left -= MANNERS - least;
    *first = (enum manner)least;
    *second = (enum manner)(least + left);
}

static cudaError_t launch_in_two(struct joins *joins, const void *function, struct kernel_args *args, cudaStream_t stream, int overlaps)
{
    enum manner first, second;

    two_manners(joins->round, &first, &second);
    return launch_in_manners(function, args, PLACE_WORDS, stream, first, second, overlaps);
}

static cudaError_t follow_in_two(struct joins *joins, cudaStream_t stream)
{
    return launch_in_two(joins, (const void *)SYMBOL(joins_follower), &joins->follower[0], FOLLOWS_IN(joins, stream), ROW_ENDS_EARLY);
}

/* ---- after a row of silent kernels ---- */

static cudaError_t row_and_two(struct joins *joins, unsigned ahead, unsigned kernels, cudaEvent_t event)
{
    cudaError_t error = row_alone(joins, ahead, kernels, joins->stream[0]);

    (void)event;
    return error == cudaSuccess ? follow_in_two(joins, joins->stream[0]) : error;
}

static cudaError_t two_after_row(struct joins *joins)
{
    prepare(joins, 1, 1);
    return row_and_two(joins, 0, 1 + joins->round % 3, NULL);
}

static cudaError_t two_after_captured_row(struct joins *joins)
{
    prepare(joins, 1, 1);
    return captured_row(joins, row_and_two, 0, 1 + joins->round % 3, NULL);
}

static cudaError_t row_ends_in_two(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = row_alone(joins, 0, joins->round % 2, joins->stream[0]);
    if (error == cudaSuccess)
        error = launch_in_two(joins, (const void *)SYMBOL(joins_silent), &joins->work[0], joins->stream[0], 1);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

static cudaError_t row_begins_in_two(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = launch_in_two(joins, (const void *)SYMBOL(joins_work), &joins->work[0], joins->stream[0], 1);
    if (error == cudaSuccess)
        error = silent(joins, joins->stream[0]);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

static void ask_row_manners(struct ask *ask)
{
    static const struct join joins[ROW_MANNERS] = {
        { "stale in a launch of two manners after a row of silent kernels", two_after_row },
        { "stale in a launch of two manners after a captured row of silent kernels", two_after_captured_row },
        { "stale after a silent kernel that was launched in two manners", row_ends_in_two },
        { "stale after a silent kernel and work that was launched in two manners", row_begins_in_two },
    };

    ask_joins(ask, joins, ROW_MANNERS, cudaStreamNonBlocking);
}

/* ---- dependents in a stream that still waits for an event ---- */

/* A kernel, a wait for the event of the second work, and a dependent; one of the two in two manners. late: the slow one of both works. */
static cudaError_t await_then(struct joins *joins, const void *primary, int primary_in_two, const void *then, unsigned late)
{
    cudaStream_t stream = joins->stream[0], to = FOLLOWS_IN(joins, stream);
    cudaLaunchAttribute attribute = serialization(1);
    cudaEvent_t event = NULL;
    cudaError_t error;

    prepare(joins, 2, 1);
    joins->pinned->plan[late].hold_ns = 15000;
    joins->pinned->plan[1 - late].hold_ns = 2000;
    error = primary_in_two ? launch_in_two(joins, primary, &joins->work[0], stream, 0)
                           : launch_one(primary, &joins->work[0], PLACE_WORDS, stream, NULL, 0);
    if (error == cudaSuccess)
        error = record_aside(joins, joins->round + joins->round / MANNERS, 1, &event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = primary_in_two ? launch_one(then, &joins->follower[0], PLACE_WORDS, to, &attribute, 1)
                               : launch_in_two(joins, then, &joins->follower[0], to, 1);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t await_as_dependent(struct joins *joins)
{
    return await_then(joins, (const void *)SYMBOL(joins_work), 0, (const void *)SYMBOL(AWAITING_FOLLOWER), 0);
}

static cudaError_t await_late_as_dependent(struct joins *joins)
{
    return await_then(joins, (const void *)SYMBOL(joins_work), 0, (const void *)SYMBOL(AWAITING_FOLLOWER), 1);
}

static cudaError_t await_after_primary(struct joins *joins)
{
    return await_then(joins, (const void *)SYMBOL(joins_work), 1, (const void *)SYMBOL(AWAITING_FOLLOWER), 0);
}

/* The dependent does not wait, and what it finds is not asked: only when it begins. */
static cudaError_t await_trigger_in_two(struct joins *joins)
{
    cudaError_t error = await_then(joins, (const void *)SYMBOL(joins_triggers_late), 0, (const void *)SYMBOL(joins_follower), 0);

    joins->followers = 0;
    joins->pinned->host_is_stale = joins->pinned->state.early;
    return error;
}

/* Work that records an event at its trigger or its block starts; recorder: it is launched in two manners. In every other three rounds it is itself
 * a dependent, of a silent kernel. */
static cudaError_t record_by_work(struct joins *joins, cudaEvent_t event, int recorder)
{
    struct kernel_args *args = &joins->work[0];
    enum manner first = MANNER_PLAIN, second = MANNER_PLAIN;
    int depends = joins->round / 3 % 2;
    cudaLaunchAttribute attrs[5];
    cudaLaunchConfig_t config;
    cudaError_t error = depends ? launch_one((const void *)SYMBOL(joins_silent), args, 1, joins->stream[1], NULL, 0) : cudaSuccess;

    if (recorder)
        two_manners(joins->round, &first, &second);
    if (error == cudaSuccess)
        error = config_in_manners(&config, attrs, PLACE_WORDS, joins->stream[1], first, second, depends);
    if (error != cudaSuccess)
        return error;
    attrs[config.numAttrs++] = recording_at(event, (joins->round + joins->round / PAIRS_OF_MANNERS) % 2 != 0);
    return cudaLaunchKernelExC(&config, (const void *)SYMBOL(joins_work), (void **)&args);
}

/* A dependent in a stream that only waits for the event of a launch; the one or the other in two manners. */
static cudaError_t depend_on_event(struct joins *joins, int recorder)
{
    cudaStream_t stream = joins->stream[0];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = record_by_work(joins, event, recorder);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = recorder ? depend(joins, stream)
                         : launch_in_two(joins, (const void *)SYMBOL(AWAITING_FOLLOWER), &joins->follower[0], FOLLOWS_IN(joins, stream), 1);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t await_launch_in_two(struct joins *joins) { return depend_on_event(joins, 0); }
static cudaError_t await_recorder_in_two(struct joins *joins) { return depend_on_event(joins, 1); }

static void ask_await_manners(struct ask *ask)
{
    static const struct join joins[AWAIT_MANNERS] = {
        { "stale in a dependent of two manners after a slow kernel and a wait for an event", await_as_dependent },
        { "stale in a dependent of two manners after a kernel and a wait for an event that is late", await_late_as_dependent },
        { "stale after a kernel of two manners and a wait for an event", await_after_primary },
        { "begun in two manners before the trigger, after a wait for an event", await_trigger_in_two },
        { "stale in a dependent of two manners after the event of a launch", await_launch_in_two },
        { "stale in a dependent after the event of a launch of two manners", await_recorder_in_two },
    };

    ask_joins(ask, joins, AWAIT_MANNERS, cudaStreamNonBlocking);
}

#endif
