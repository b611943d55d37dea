/* joins_before.h - the pair of joins.cu with work that stands before a call in each way that the call comes after it: for calls that are
 * asked in all of them. Here these are the older calls that launch kernels, which take no attributes. */
#ifndef JOINS_BEFORE_H_INCLUDED
#define JOINS_BEFORE_H_INCLUDED

/* In the call's own stream; in another one, whose event that one awaits; there before a silent kernel that may overlap the work; in the
 * legacy stream, before a call in a blocking one; and the other way round. */
enum standing { STANDS_IN_LINE, STANDS_BEFORE_EVENT, STANDS_BEFORE_SILENT, STANDS_IN_LEGACY, STANDS_IN_BLOCKING, STANDINGS };

static cudaError_t event_between(cudaStream_t from, cudaStream_t to)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = record_and_await(event, from, to);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* then: the call's stream. blocking: a blocking stream that was made for it, which the caller closes. */
static cudaError_t work_before(struct joins *joins, enum standing standing, const struct kernel_args *args, cudaStream_t *blocking,
                               cudaStream_t *then)
{
    cudaStream_t works = joins->stream[0];
    cudaError_t error = cudaSuccess;

    *then = standing == STANDS_BEFORE_EVENT ? joins->stream[2] : works;
    if (standing >= STANDS_IN_LEGACY) {
        error = open_kind(STREAM_BLOCKING, blocking);
        works = standing == STANDS_IN_LEGACY ? cudaStreamLegacy : *blocking;
        *then = standing == STANDS_IN_LEGACY ? *blocking : cudaStreamLegacy;
    }
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), args, PLACE_WORDS, works, NULL, 0);
    if (error == cudaSuccess && standing == STANDS_BEFORE_EVENT)
        error = event_between(works, *then);
    return error == cudaSuccess && standing == STANDS_BEFORE_SILENT ? silent(joins, works) : error;
}

/* ---- the older calls ---- */

enum older_call { CALL_PLAIN, CALL_BY_DRIVER, CALL_COOPERATIVE };

static cudaError_t launch_by_older(struct joins *joins, enum older_call call, cudaStream_t stream)
{
    cudaLaunchConfig_t config = one_block(PLACE_WORDS, stream);
    struct kernel_args copy = joins->follower[0];

    if (call == CALL_BY_DRIVER)
        return launch_in_piece(&config, (const void *)SYMBOL(joins_follower), &copy, sizeof(copy), 1);
    return oldest_launch(joins, stream, call == CALL_COOPERATIVE);
}

static cudaError_t call_behind(struct joins *joins, enum older_call call)
{
    cudaStream_t blocking = NULL, stream = NULL;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work_before(joins, (enum standing)(1 + joins->round % (STANDINGS - 1)), &joins->work[0], &blocking, &stream);
    if (error == cudaSuccess)
        error = launch_by_older(joins, call, FOLLOWS_IN(joins, stream));
    close_kind(&blocking); /* its work goes on */
    return error;
}

static cudaError_t call_plainly_behind(struct joins *joins) { return call_behind(joins, CALL_PLAIN); }
static cudaError_t call_driver_behind(struct joins *joins) { return call_behind(joins, CALL_BY_DRIVER); }
static cudaError_t call_cooperative_behind(struct joins *joins) { return call_behind(joins, CALL_COOPERATIVE); }

#endif
