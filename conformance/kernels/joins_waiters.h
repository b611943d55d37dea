/* joins_waiters.h - the question of joins.cu with one event that all of many streams wait for, while what it stands for is under way. */
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

#endif
