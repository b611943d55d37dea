/* joins_driver.h - the pair of joins.cu whose work is moved, awaited and followed by calls of the driver: those with a name of their own for each
 * direction and for rows, layers, widths of values and host functions, also captured and behind events. The runtime has calls that do the same,
 * which are asked elsewhere. */
#ifndef JOINS_DRIVER_H_INCLUDED
#define JOINS_DRIVER_H_INCLUDED

#define DRIVER_ROWS 4u         /* of a copy or a memset of rows, or of layers with two each */
#define DRIVER_BYTES (PLACE_WORDS * sizeof(uint32_t))

/* Work and what comes after it are queued in one stream at once, or captured and then run; or the stream waits for an event after work in another. */
enum driver_manner { DRIVER_AT_ONCE, DRIVER_CAPTURED, DRIVER_BEHIND_EVENT, DRIVER_MANNERS };

static cudaError_t work_by_manner(struct joins *joins, const struct kernel_args *args, unsigned manner)
{
    cudaStream_t stream = joins->stream[0], from = manner == DRIVER_BEHIND_EVENT ? joins->stream[1] : stream;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess && manner == DRIVER_CAPTURED)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), args, PLACE_WORDS, from, NULL, 0);
    if (error == cudaSuccess && manner == DRIVER_BEHIND_EVENT)
        error = record_and_await(event, from, stream);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t end_by_manner(const struct joins *joins, unsigned manner, cudaError_t error)
{
    return manner == DRIVER_CAPTURED ? ask_run_capture(joins->stream[0], error) : error;
}

/* ---- copies ---- */

enum driver_copy { COPY_TO_DEVICE, COPY_TO_HOST, COPY_IN_DEVICE, COPY_OF_ROWS, COPY_OF_LAYERS, DRIVER_COPIES };

static CUdeviceptr at_device(const void *of) { return (CUdeviceptr)(uintptr_t)of; }

/* Whether it reads, or stores to, the device's own memory. */
static int reads_device(enum driver_copy how) { return how != COPY_TO_DEVICE; }
static int stores_to_device(enum driver_copy how) { return how == COPY_TO_DEVICE || how == COPY_IN_DEVICE || how == COPY_OF_LAYERS; }

static cudaError_t copy_rows_by_driver(void *to, const void *from, CUstream stream)
{
    typedef CUresult(CUDAAPI *copy_fn)(const CUDA_MEMCPY2D *, CUstream);
    CUDA_MEMCPY2D copy = PDL_ZERO;
    void *function = NULL;
    cudaError_t error = driver_function("cuMemcpy2DAsync", 3020, &function);

    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = at_device(from);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = DRIVER_BYTES / DRIVER_ROWS;
    copy.Height = DRIVER_ROWS;
    return error == cudaSuccess ? (cudaError_t)((copy_fn)function)(&copy, stream) : error;
}

static cudaError_t copy_layers_by_driver(void *to, const void *from, CUstream stream)
{
    typedef CUresult(CUDAAPI *copy_fn)(const CUDA_MEMCPY3D *, CUstream);
    CUDA_MEMCPY3D copy = PDL_ZERO;
    void *function = NULL;
    cudaError_t error = driver_function("cuMemcpy3DAsync", 3020, &function);

    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = at_device(from);
    copy.dstDevice = at_device(to);
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = DRIVER_BYTES / (2 * DRIVER_ROWS);
    copy.srcHeight = copy.dstHeight = copy.Height = 2;
    copy.Depth = DRIVER_ROWS;
    return error == cudaSuccess ? (cudaError_t)((copy_fn)function)(&copy, stream) : error;
}

static cudaError_t copy_one_way(enum driver_copy how, void *to, const void *from, CUstream stream)
{
    typedef CUresult(CUDAAPI *down_fn)(CUdeviceptr, const void *, size_t, CUstream);
    typedef CUresult(CUDAAPI *up_fn)(void *, CUdeviceptr, size_t, CUstream);
    typedef CUresult(CUDAAPI *inside_fn)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    static const char *const name[] = { "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync" };
    void *function = NULL;
    cudaError_t error = driver_function(name[how], 3020, &function);

    if (error != cudaSuccess)
        return error;
    switch (how) {
    case COPY_TO_DEVICE: return (cudaError_t)((down_fn)function)(at_device(to), from, DRIVER_BYTES, stream);
    case COPY_TO_HOST: return (cudaError_t)((up_fn)function)(to, at_device(from), DRIVER_BYTES, stream);
    default: return (cudaError_t)((inside_fn)function)(at_device(to), at_device(from), DRIVER_BYTES, stream);
    }
}

static cudaError_t copy_place(enum driver_copy how, void *to, const void *from, cudaStream_t stream)
{
    if (how == COPY_OF_ROWS)
        return copy_rows_by_driver(to, from, (CUstream)stream);
    return how == COPY_OF_LAYERS ? copy_layers_by_driver(to, from, (CUstream)stream) : copy_one_way(how, to, from, (CUstream)stream);
}

/* Work, and a copy of what it stored, in memory of the kind that the copy reads. */
static cudaError_t driver_copies(struct joins *joins)
{
    enum driver_copy how = (enum driver_copy)(joins->round % DRIVER_COPIES);
    struct kernel_args args = joins->work[0];
    unsigned manner = joins->round / DRIVER_COPIES % DRIVER_MANNERS;
    uint32_t *copied;
    cudaStream_t end = FOLLOWS_IN(joins, joins->stream[0]);
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    copied = joins->aside + PLACE_WORDS;
    args.data = reads_device(how) ? joins->aside : args.data;
    if (error == cudaSuccess)
        error = work_by_manner(joins, &args, manner);
    if (error == cudaSuccess)
        error = copy_place(how, stores_to_device(how) ? (void *)copied : joins->pinned->seen[0],
                           reads_device(how) ? (void *)joins->aside : joins->pinned->words, end);
    if (error == cudaSuccess && stores_to_device(how))
        error = cudaMemcpyAsync(joins->pinned->seen[0], copied, DRIVER_BYTES, cudaMemcpyDeviceToHost, end);
    return end_by_manner(joins, manner, error);
}

/* Between the work and a follower, or a dependent that waits: that one copies what the copy left. */
static cudaError_t driver_copies_between(struct joins *joins)
{
    enum driver_copy how = (enum driver_copy)(joins->round % DRIVER_COPIES);
    unsigned turn = joins->round / DRIVER_COPIES, waits = turn % 2 == 0, manner = (turn + 1) / 2 % 2 ? DRIVER_CAPTURED : DRIVER_AT_ONCE;
    struct kernel_args args = joins->work[0], reads = joins->follower[0];
    uint32_t *copied;
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    copied = joins->aside + PLACE_WORDS;
    args.data = reads_device(how) ? joins->aside : args.data;
    reads.data = stores_to_device(how) ? copied : reads.data;
    if (error == cudaSuccess)
        error = work_by_manner(joins, &args, manner);
    if (error == cudaSuccess)
        error = copy_place(how, stores_to_device(how) ? copied : joins->pinned->words, reads_device(how) ? joins->aside : joins->pinned->words, stream);
    if (error == cudaSuccess)
        error = read_or_depend(joins, &reads, stream, waits);
    return end_by_manner(joins, manner, error);
}

/* ---- memsets ---- */

enum driver_set { SET_BYTES, SET_HALVES, SET_WORDS, DRIVER_WIDTHS };

static cudaError_t set_in_line(enum driver_set width, void *to, CUstream stream)
{
    typedef CUresult(CUDAAPI *bytes_fn)(CUdeviceptr, unsigned char, size_t, CUstream);
    typedef CUresult(CUDAAPI *halves_fn)(CUdeviceptr, unsigned short, size_t, CUstream);
    typedef CUresult(CUDAAPI *words_fn)(CUdeviceptr, unsigned, size_t, CUstream);
    static const char *const name[] = { "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async" };
    void *function = NULL;
    cudaError_t error = driver_function(name[width], 3020, &function);

    if (error != cudaSuccess)
        return error;
    switch (width) {
    case SET_BYTES: return (cudaError_t)((bytes_fn)function)(at_device(to), SET_BYTE, DRIVER_BYTES, stream);
    case SET_HALVES: return (cudaError_t)((halves_fn)function)(at_device(to), SET_BYTE * 0x101u, DRIVER_BYTES / 2, stream);
    default: return (cudaError_t)((words_fn)function)(at_device(to), SET_BYTE * 0x1010101u, DRIVER_BYTES / 4, stream);
    }
}

static cudaError_t set_rows_by_driver(enum driver_set width, void *to, CUstream stream)
{
    typedef CUresult(CUDAAPI *bytes_fn)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
    typedef CUresult(CUDAAPI *halves_fn)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream);
    typedef CUresult(CUDAAPI *words_fn)(CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream);
    static const char *const name[] = { "cuMemsetD2D8Async", "cuMemsetD2D16Async", "cuMemsetD2D32Async" };
    size_t row = DRIVER_BYTES / DRIVER_ROWS;
    void *function = NULL;
    cudaError_t error = driver_function(name[width], 3020, &function);

    if (error != cudaSuccess)
        return error;
    switch (width) {
    case SET_BYTES: return (cudaError_t)((bytes_fn)function)(at_device(to), row, SET_BYTE, row, DRIVER_ROWS, stream);
    case SET_HALVES: return (cudaError_t)((halves_fn)function)(at_device(to), row, SET_BYTE * 0x101u, row / 2, DRIVER_ROWS, stream);
    default: return (cudaError_t)((words_fn)function)(at_device(to), row, SET_BYTE * 0x1010101u, row / 4, DRIVER_ROWS, stream);
    }
}

/* What comes too early, the work stores over. */
static cudaError_t driver_sets(struct joins *joins)
{
    enum driver_set width = (enum driver_set)(joins->round % DRIVER_WIDTHS);
    unsigned turn = joins->round / DRIVER_WIDTHS, manner = turn / 2 % DRIVER_MANNERS;
    CUstream end = (CUstream)FOLLOWS_IN(joins, joins->stream[0]);
    void *words = joins->follower[0].data;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = work_by_manner(joins, &joins->work[0], manner);
    if (error == cudaSuccess)
        error = turn % 2 ? set_rows_by_driver(width, words, end) : set_in_line(width, words, end);
    return look_at_set(joins, end_by_manner(joins, manner, error));
}

/* Between the work and a follower, or a dependent that waits: that one copies what the memset left. */
static cudaError_t driver_sets_between(struct joins *joins)
{
    enum driver_set width = (enum driver_set)(joins->round % DRIVER_WIDTHS);
    unsigned turn = joins->round / DRIVER_WIDTHS, waits = turn / 2 % 2 == 0, i;
    unsigned manner = (turn / 2 + turn / 4) % 2 ? DRIVER_CAPTURED : DRIVER_AT_ONCE;
    volatile const uint32_t *seen = joins->pinned->seen[0];
    cudaStream_t stream = joins->stream[0];
    void *words = joins->follower[0].data;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = work_by_manner(joins, &joins->work[0], manner);
    if (error == cudaSuccess)
        error = turn % 2 == 0 ? set_rows_by_driver(width, words, (CUstream)stream) : set_in_line(width, words, (CUstream)stream);
    if (error == cudaSuccess)
        error = read_or_depend(joins, &joins->follower[0], stream, waits);
    error = end_by_manner(joins, manner, error);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < PLACE_WORDS; i++)
        joins->pinned->host_is_stale |= seen[i] != SET_BYTE * 0x1010101u;
    return error;
}

/* ---- the host ---- */

static cudaError_t driver_calls_host(struct joins *joins)
{
    typedef CUresult(CUDAAPI *host_fn)(CUstream, CUhostFn, void *);
    unsigned manner = joins->round % DRIVER_MANNERS;
    void *function = NULL;
    cudaError_t error = driver_function("cuLaunchHostFunc", 10000, &function);

    prepare(joins, 1, 0);
    joins->pinned->host_is_stale = 1; /* until it looked */
    if (error == cudaSuccess)
        error = work_by_manner(joins, &joins->work[0], manner);
    if (error == cudaSuccess)
        error = (cudaError_t)((host_fn)function)((CUstream)FOLLOWS_IN(joins, joins->stream[0]), look, joins->pinned);
    return end_by_manner(joins, manner, error);
}

/* By a call that waits, or by one that is asked until it says that all has ended. */
static cudaError_t wait_by_driver(const char *name, void *of)
{
    typedef CUresult(CUDAAPI *wait_fn)(void *);
    void *function = NULL;
    cudaError_t error = driver_function(name, 2000, &function);

    while (error == cudaSuccess && (error = (cudaError_t)((wait_fn)function)(of)) == cudaErrorNotReady)
        error = cudaSuccess;
    return error;
}

/* Of the stream, or of an event after the work. */
static cudaError_t driver_waits(struct joins *joins)
{
    static const char *const name[] = { "cuStreamSynchronize", "cuEventSynchronize", "cuStreamQuery", "cuEventQuery" };
    unsigned which = joins->round % 4;
    cudaStream_t stream = joins->stream[0], end = FOLLOWS_IN(joins, stream);
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess && which % 2)
        error = cudaEventRecord(event, end);
    if (error == cudaSuccess)
        error = wait_by_driver(name[which], which % 2 ? (void *)event : (void *)end);
    look(joins->pinned);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* ---- calls of the runtime that wait ---- */

static cudaError_t copy_and_wait(struct joins *joins)
{
    size_t row = DRIVER_BYTES / DRIVER_ROWS;
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    if (joins->round % 2)
        return cudaMemcpy2D(joins->pinned->seen[0], row, joins->aside, row, row, DRIVER_ROWS, cudaMemcpyDeviceToHost);
    copy.srcPtr.ptr = joins->aside;
    copy.srcPtr.pitch = copy.srcPtr.xsize = copy.extent.width = row / 2;
    copy.srcPtr.ysize = copy.extent.height = 2;
    copy.dstPtr = copy.srcPtr;
    copy.dstPtr.ptr = joins->pinned->seen[0];
    copy.extent.depth = DRIVER_ROWS;
    copy.kind = cudaMemcpyDeviceToHost;
    return cudaMemcpy3D(&copy);
}

/* Work in a stream that blocks, and a copy of rows or layers that has no stream: it comes after the work, and "returns only once the copy has
 * completed". */
static cudaError_t waiting_copies(struct joins *joins)
{
    struct kernel_args args = joins->work[0];
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 0);
    args.data = joins->aside;
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[0]), NULL, 0);
    if (error == cudaSuccess)
        error = copy_and_wait(joins);
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->seen[0], PLACE_WORDS);
    return error;
}

static cudaError_t waiting_sets(struct joins *joins)
{
    size_t row = DRIVER_BYTES / DRIVER_ROWS;
    void *words = joins->follower[0].data;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = work(joins, 0, FOLLOWS_IN(joins, joins->stream[0]));
    if (error == cudaSuccess)
        error = joins->round % 2 ? cudaMemset2D(words, row, SET_BYTE, row, DRIVER_ROWS) : cudaMemset(words, SET_BYTE, DRIVER_BYTES);
    return look_at_set(joins, error);
}

static void ask_by_driver(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a copy by a call of the driver", driver_copies },
        { "stale after a copy by a call of the driver", driver_copies_between },
        { "words that were stored after a memset by a call of the driver", driver_sets },
        { "stale after a memset by a call of the driver", driver_sets_between },
        { "stale in a host function by cuLaunchHostFunc", driver_calls_host },
        { "stale when a call of the driver said that all had ended", driver_waits },
        { "stale in a copy of rows or layers that the host waits for", waiting_copies },
        { "words that were stored after a memset that the host calls without a stream", waiting_sets },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamDefault);
}

#endif
