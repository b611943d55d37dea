/* joins_far.h - the pair of joins.cu whose rows lie so far apart that the last ones begin more than 4 GiB behind the first: copies, memsets, and what
 * a kernel stores before a dependent that waits. Nothing between the rows is touched. */
#ifndef JOINS_FAR_H_INCLUDED
#define JOINS_FAR_H_INCLUDED

#define FAR_WAYS 6u
#define FAR_ROWS 6u            /* each holds the words of one work */
#define FAR_ROW_BYTES (PLACE_WORDS * sizeof(uint32_t))
#define FAR_PITCH_SHIFT 20     /* plan.repeats counts a pitch in MiB */

/* Copies the rows' words, which it may have read before its wait. */
KERNEL(joins_far_follower)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i, again;

    for (again = 0; again < 2; again++) {
        for (i = k_thread(); i < plan.words; i += k_threads()) {
            const uint32_t *row = args.data + ((uint64_t)(i / PLACE_WORDS * plan.repeats) << FAR_PITCH_SHIFT) / sizeof(uint32_t);
            k_store(args.seen + i, k_load(row + i % PLACE_WORDS));
        }
        k_wait_device();
    }
}

/* A pitch of 1 GiB, or where a device has not so much room, of 1 MiB. */
static cudaError_t open_far(struct joins *joins)
{
    size_t pitch = (size_t)1 << 30;
    cudaError_t error = cudaSuccess;

    if (joins->far)
        return cudaSuccess;
    if (cudaMalloc((void **)&joins->far, (FAR_ROWS - 1) * pitch + FAR_ROW_BYTES) != cudaSuccess) {
        (void)cudaGetLastError();
        pitch = (size_t)1 << FAR_PITCH_SHIFT;
        error = cudaMalloc((void **)&joins->far, (FAR_ROWS - 1) * pitch + FAR_ROW_BYTES);
    }
    joins->far_pitch = pitch;
    return error;
}

static uint32_t *far_row(const struct joins *joins, unsigned row) { return joins->far + row * (joins->far_pitch / sizeof(uint32_t)); }

/* Each work stores its words where they are copied from, or in its row. */
static cudaError_t far_works(struct joins *joins, int in_rows, unsigned followers, cudaStream_t stream)
{
    cudaError_t error = open_far(joins);
    unsigned i;

    prepare(joins, FAR_ROWS, followers);
    joins->pinned->plan[PLACES].repeats = (uint32_t)(joins->far_pitch >> FAR_PITCH_SHIFT);
    for (i = 0; i < FAR_ROWS && error == cudaSuccess; i++) {
        struct kernel_args args = joins->work[i];
        args.data = in_rows ? far_row(joins, i) : args.data;
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, stream, NULL, 0);
    }
    return error;
}

static cudaError_t far_follow(struct joins *joins, cudaStream_t stream, unsigned overlaps)
{
    struct kernel_args args = joins->follower[0];
    cudaLaunchAttribute six = serialization(1);

    args.data = joins->far;
    return launch_one((const void *)SYMBOL(joins_far_follower), &args, PLACE_WORDS, FOLLOWS_IN(joins, stream), &six, overlaps);
}

static cudaError_t copy_to_rows(const struct joins *joins, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(joins->far, joins->far_pitch, joins->pinned->words, FAR_ROW_BYTES, FAR_ROW_BYTES, FAR_ROWS, cudaMemcpyDefault, stream);
}

static cudaError_t far_in(struct joins *joins)
{
    cudaError_t error = far_works(joins, 0, 1, joins->stream[0]);

    if (error == cudaSuccess)
        error = copy_to_rows(joins, joins->stream[0]);
    return error == cudaSuccess ? far_follow(joins, joins->stream[0], 0) : error;
}

static cudaError_t far_out(struct joins *joins)
{
    cudaError_t error = far_works(joins, 1, 1, joins->stream[0]);

    return error == cudaSuccess ? cudaMemcpy2DAsync(joins->pinned->seen[0], FAR_ROW_BYTES, joins->far, joins->far_pitch, FAR_ROW_BYTES, FAR_ROWS,
                                                    cudaMemcpyDefault, FOLLOWS_IN(joins, joins->stream[0])) : error;
}

/* Over what the works stored there. */
static cudaError_t far_set(struct joins *joins)
{
    unsigned wrong = 0, i;
    cudaError_t error = far_works(joins, 1, 0, joins->stream[0]);

    if (error == cudaSuccess)
        error = cudaMemset2DAsync(joins->far, joins->far_pitch, RELEASED_BYTE, FAR_ROW_BYTES, FAR_ROWS, joins->stream[0]);
    if (error == cudaSuccess)
        error = far_follow(joins, joins->stream[0], 0);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < FAR_ROWS * PLACE_WORDS && error == cudaSuccess; i++)
        wrong |= joins->pinned->seen[0][i] != RELEASED_BYTE * 0x1010101u;
    joins->pinned->host_is_stale = wrong;
    return error;
}

/* Two rows in each of three layers. */
static cudaError_t far_layers(struct joins *joins)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;
    cudaError_t error = far_works(joins, 0, 1, joins->stream[0]);

    copy.srcPtr.ptr = joins->pinned->words;
    copy.srcPtr.pitch = copy.srcPtr.xsize = copy.extent.width = FAR_ROW_BYTES;
    copy.dstPtr.ptr = joins->far;
    copy.dstPtr.pitch = copy.dstPtr.xsize = joins->far_pitch;
    copy.srcPtr.ysize = copy.dstPtr.ysize = copy.extent.height = 2;
    copy.extent.depth = FAR_ROWS / 2;
    copy.kind = cudaMemcpyDefault;
    if (error == cudaSuccess)
        error = cudaMemcpy3DAsync(&copy, joins->stream[0]);
    return error == cudaSuccess ? far_follow(joins, joins->stream[0], 0) : error;
}

static cudaError_t far_pair(struct joins *joins)
{
    cudaError_t error = far_works(joins, 1, 1, joins->stream[0]);

    return error == cudaSuccess ? far_follow(joins, joins->stream[0], 1) : error;
}

static cudaError_t far_captured(struct joins *joins)
{
    cudaError_t error = open_far(joins);

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = far_works(joins, 0, 1, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaMemset2DAsync(joins->far, joins->far_pitch, 0, FAR_ROW_BYTES, FAR_ROWS, joins->stream[0]);
    if (error == cudaSuccess)
        error = copy_to_rows(joins, joins->stream[0]);
    if (error == cudaSuccess)
        error = far_follow(joins, joins->stream[0], 0);
    return ask_run_capture(joins->stream[0], error);
}

static void ask_far_rows(struct ask *ask)
{
    static const struct join joins[FAR_WAYS] = {
        { "stale after a copy to rows beyond 4 GiB", far_in },
        { "stale after a copy from rows beyond 4 GiB", far_out },
        { "wrong after a memset of rows beyond 4 GiB", far_set },
        { "stale after a copy to layers beyond 4 GiB", far_layers },
        { "stale in a dependent that reads beyond 4 GiB", far_pair },
        { "stale after a captured memset of rows beyond 4 GiB, and a copy to them", far_captured },
    };

    ask_joins(ask, joins, FAR_WAYS, cudaStreamNonBlocking);
}

#endif
