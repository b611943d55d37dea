/* joins_large_rows.h - the pair of joins.cu with rows of joins_rows.h whose kernels have many blocks or long arguments. */
#ifndef JOINS_LARGE_ROWS_H_INCLUDED
#define JOINS_LARGE_ROWS_H_INCLUDED

#define LARGE_ROW_WAYS 8u
#define LONG_ARGS 4096u        /* bytes; a driver of before toolkit 12.1 takes no more */

struct long_row_args {
    struct kernel_args head;
    uint32_t more[(LONG_ARGS - sizeof(struct kernel_args)) / 4];
};

/* Silent; looks at the last of its arguments, so that they are all there. */
KERNEL_OF(joins_long_silent, struct long_row_args)
{
    k_trigger();
    if (k_thread() == 0 && args.more[sizeof(args.more) / sizeof(args.more[0]) - 1] != LONG_ARGS)
        k_add(&args.head.state->left, 1);
}

enum row_kind { ROW_OF_SMALL, ROW_OF_LONG, ROW_OF_LARGE, ROW_OF_BOTH };

/* The row of a trial: what its silent kernels are, how many come before the work and after it, which of these has no attribute, where it is. */
struct large_row {
    enum row_kind kind;
    unsigned ahead, kernels, plain, large_follower, forked;
};

static cudaError_t one_of_row(struct joins *joins, const struct large_row *r, unsigned overlaps, cudaStream_t stream)
{
    static const unsigned sizes[] = { ROW_BLOCKS, 66, 130 };
    unsigned turn = joins->trial / LARGE_ROW_WAYS, blocks = r->kind == ROW_OF_LARGE || r->kind == ROW_OF_BOTH ? sizes[(turn + turn / 3) % 3] : 1;
    cudaLaunchAttribute early = serialization(1);
    struct long_row_args args = PDL_ZERO;

    if (r->kind == ROW_OF_SMALL || r->kind == ROW_OF_LARGE)
        return launch_blocks((const void *)SYMBOL(joins_silent), &joins->work[0], blocks, 1, stream, &early, overlaps);
    args.head = joins->work[0];
    args.more[sizeof(args.more) / sizeof(args.more[0]) - 1] = LONG_ARGS;
    return launch_given((const void *)SYMBOL(joins_long_silent), &args, blocks, 1, 0, stream, &early, overlaps);
}

static cudaError_t queue_large_row(struct joins *joins, const struct large_row *r, cudaStream_t stream)
{
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < r->ahead && error == cudaSuccess; i++)
        error = one_of_row(joins, r, 1, stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, &early, 1);
    for (i = 0; i < r->kernels && error == cudaSuccess; i++)
        error = one_of_row(joins, r, i != r->plain, stream);
    return error;
}

/* In the first stream, or in one that forks from it and comes back; the follower is in the first one. */
static cudaError_t queue_row_and_follower(struct joins *joins, const struct large_row *r, cudaEvent_t event)
{
    cudaStream_t stream = joins->stream[0], side = r->forked ? joins->stream[1] : stream;
    cudaError_t error = r->forked ? record_and_await(event, stream, side) : cudaSuccess;

    if (error == cudaSuccess)
        error = queue_large_row(joins, r, side);
    if (error == cudaSuccess && r->forked)
        error = record_and_await(event, side, stream);
    if (error == cudaSuccess)
        error = r->large_follower ? follow_in_blocks(joins, stream) : follow(joins, 0, stream);
    return error;
}

static cudaError_t large_row(struct joins *joins, enum row_kind kind, int captured)
{
    unsigned turn = joins->trial / LARGE_ROW_WAYS;
    struct large_row r = { kind, turn / 4 % 2 * 2, 1 + turn / 2 % 4, PLACES, kind == ROW_OF_SMALL || turn % 2 == 0, turn % 3 == 2 };
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (turn % 5 == 4 && r.kernels > 1)
        r.plain = turn % r.kernels;
    prepare(joins, 1, r.large_follower ? 0 : 1);
    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = queue_row_and_follower(joins, &r, event);
        error = captured ? ask_run_capture(joins->stream[0], error) : error;
    }
    if (event)
        (void)cudaEventDestroy(event);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale |= joins->pinned->state.left != 0 || (r.large_follower && readers_are_stale(joins, ROW_BLOCKS));
    return error;
}

static cudaError_t small_then_large(struct joins *joins) { return large_row(joins, ROW_OF_SMALL, 0); }
static cudaError_t row_of_long(struct joins *joins) { return large_row(joins, ROW_OF_LONG, 0); }
static cudaError_t row_of_large(struct joins *joins) { return large_row(joins, ROW_OF_LARGE, 0); }
static cudaError_t row_of_both(struct joins *joins) { return large_row(joins, ROW_OF_BOTH, 0); }
static cudaError_t captured_small_then_large(struct joins *joins) { return large_row(joins, ROW_OF_SMALL, 1); }
static cudaError_t captured_row_of_long(struct joins *joins) { return large_row(joins, ROW_OF_LONG, 1); }
static cudaError_t captured_row_of_large(struct joins *joins) { return large_row(joins, ROW_OF_LARGE, 1); }
static cudaError_t captured_row_of_both(struct joins *joins) { return large_row(joins, ROW_OF_BOTH, 1); }

static void ask_large_rows(struct ask *ask)
{
    static const struct join joins[LARGE_ROW_WAYS] = {
        { "stale in a large grid after small silent kernels", small_then_large },
        { "stale after silent kernels with long arguments", row_of_long },
        { "stale after large silent grids", row_of_large },
        { "stale after large silent grids with long arguments", row_of_both },
        { "stale in a large grid after captured small silent kernels", captured_small_then_large },
        { "stale after captured silent kernels with long arguments", captured_row_of_long },
        { "stale after captured large silent grids", captured_row_of_large },
        { "stale after captured large silent grids with long arguments", captured_row_of_both },
    };

    ask_joins(ask, joins, LARGE_ROW_WAYS, cudaStreamNonBlocking);
}

#endif
