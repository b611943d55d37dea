/* joins_waiters.h - the questions of joins.cu with one event that all of many streams wait for, or that each launch of a row records anew, while what
 * it stands for is under way. */
#ifndef JOINS_WAITERS_H_INCLUDED
#define JOINS_WAITERS_H_INCLUDED

#define WAITERS_HOLD 600000u   /* nanoseconds: longer than it takes until most of the streams have been given a kernel */

/* Waits, for an event of a launch is there before its words, and finds them. */
KERNEL(joins_finds_words)
{
    struct trial_plan plan = k_plan(&args);

    k_wait_device();
    if (k_load(args.data + k_thread()) != words_fresh(plan.key, k_thread()))
        k_add(&args.state->early, 1);
    if (k_thread() == 0)
        k_add(&args.state->finished, 1);
}

/* By a call after the work, or by its launch. */
static cudaError_t record_work(struct joins *joins, cudaEvent_t event, unsigned by_launch)
{
    cudaLaunchAttribute records = recording(event);
    cudaError_t error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &records, by_launch);

    return error == cudaSuccess && !by_launch ? cudaEventRecord(event, joins->stream[0]) : error;
}

/* Each stream waits, and is given a kernel: the last one first, which nobody held up. */
static cudaError_t await_in_all(struct joins *joins, const cudaStream_t *stream, unsigned count, unsigned by_launch)
{
    volatile const struct trial_state *state = &joins->pinned->state;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming), end;
    unsigned i;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = WAITERS_HOLD;
    if (error == cudaSuccess)
        error = record_work(joins, event, by_launch);
    for (i = 0; i < count && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(stream[i], event, 0);
    for (i = count; i > 0 && error == cudaSuccess; i--)
        error = launch_one((const void *)SYMBOL(joins_finds_words), &joins->work[0], PLACE_WORDS, FOLLOWS_IN(joins, stream[i - 1]), NULL, 0);
    end = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = state->early != 0 || state->finished != count;
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? end : error;
}

/* ---- recorded again and again ---- */

#define RERECORDS 24u
#define RERECORDS_HOLD 300000u /* nanoseconds, of the first launch: longer than it takes to queue the others and who waits for them */
#define RERECORD_HOLD 2000u    /* of the others */

/* Leaves a mark before it triggers. */
KERNEL(joins_marks)
{
    struct trial_plan plan = k_plan(&args);

    k_delay(args.state, plan.hold_ns);
    k_store_relaxed(args.data, 1);
    k_fence_system();
    k_trigger();
}

KERNEL(joins_finds_mark)
{
    if (k_load_relaxed(args.data) == 0)
        k_add(&args.state->early, 1);
    k_add(&args.state->finished, 1);
}

/* At the launch's trigger, its block starts, its completion, or by a call after it. */
enum rerecord { RERECORD_TRIGGER, RERECORD_STARTS, RERECORD_COMPLETION, RERECORD_CALL, RERECORD_KINDS };

static struct kernel_args of_mark(const struct joins *joins, unsigned launch, unsigned mark)
{
    struct kernel_args args = joins->work[launch != 0];

    args.data = joins->follower[0].data + mark;
    return args;
}

static cudaError_t record_again(struct joins *joins, cudaEvent_t event, enum rerecord how, unsigned launch)
{
    cudaLaunchAttribute records = how == RERECORD_COMPLETION ? recording_begin(event) : recording_at(event, how == RERECORD_STARTS);
    struct kernel_args args = of_mark(joins, launch, launch);
    cudaError_t error = launch_one((const void *)SYMBOL(joins_marks), &args, 1, joins->stream[0], &records, how != RERECORD_CALL);

    if (how == RERECORD_COMPLETION && is_unoffered(error)) {
        (void)cudaGetLastError();
        return record_again(joins, event, RERECORD_STARTS, launch);
    }
    return error == cudaSuccess && how == RERECORD_CALL ? cudaEventRecord(event, joins->stream[0]) : error;
}

/* Finds the mark of the launch that recorded the event; or, where it need not have left it, of the one before. */
static cudaError_t find_mark(struct joins *joins, cudaEvent_t event, enum rerecord how, unsigned launch)
{
    unsigned own = how == RERECORD_TRIGGER || how == RERECORD_CALL;
    struct kernel_args args = of_mark(joins, launch, own ? launch : launch ? launch - 1 : RERECORDS);
    cudaStream_t stream = joins->stream[1 + launch % (PLACES - 1)];
    cudaError_t error = cudaStreamWaitEvent(stream, event, 0);

    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_finds_mark), &args, 1, FOLLOWS_IN(joins, stream), NULL, 0) : error;
}

/* A row of launches, each of which records the event, and after each of them one who waits for it. */
static cudaError_t many_rerecords(struct joins *joins, unsigned mixed)
{
    struct pinned *pinned = joins->pinned;
    volatile const struct trial_state *state = &pinned->state;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming), end;
    unsigned i;

    prepare(joins, 2, 0);
    pinned->plan[0].hold_ns = RERECORDS_HOLD;
    pinned->plan[1].hold_ns = RERECORD_HOLD;
    for (i = 0; i <= RERECORDS; i++)
        pinned->words[i] = i == RERECORDS;
    for (i = 0; i < RERECORDS && error == cudaSuccess; i++) {
        enum rerecord how = mixed ? (enum rerecord)(i % RERECORD_KINDS) : RERECORD_COMPLETION;
        error = record_again(joins, event, how, i);
        if (error == cudaSuccess)
            error = find_mark(joins, event, how, i);
    }
    end = cudaDeviceSynchronize();
    pinned->host_is_stale = state->early != 0 || state->finished != RERECORDS;
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? end : error;
}

#endif
