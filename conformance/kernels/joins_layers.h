/* joins_layers.h - the pairs of joins.cu with copies of layers and with callbacks: after work, between work and its follower, before a follower. */
#ifndef JOINS_LAYERS_H_INCLUDED
#define JOINS_LAYERS_H_INCLUDED

/* ---- copies of layers ---- */

#define LAYER_WAYS 6u
#define LAYER_PITCH 16u        /* bytes of a row */
#define LAYER_ROWS 2u
#define LAYERS 4u
#define LAYER_WORKS (LAYER_PITCH * LAYER_ROWS * LAYERS / (PLACE_WORDS * sizeof(uint32_t))) /* they hold the words of so many works */

static size_t half_of(size_t all, int is_halved) { return is_halved ? all / 2 : all; }

/* Two copies that make up all layers: halves beside, below or behind each other, each in its turn. */
static cudaError_t copy_layers(struct joins *joins, void *to, void *from, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    unsigned axis = joins->trial / LAYER_WAYS % 3, half;
    struct cudaMemcpy3DParms copy = PDL_ZERO;
    cudaError_t error = cudaSuccess;

    copy.srcPtr.ptr = from;
    copy.srcPtr.pitch = copy.srcPtr.xsize = LAYER_PITCH;
    copy.srcPtr.ysize = LAYER_ROWS;
    copy.dstPtr = copy.srcPtr;
    copy.dstPtr.ptr = to;
    copy.extent.width = half_of(LAYER_PITCH, axis == 0);
    copy.extent.height = half_of(LAYER_ROWS, axis == 1);
    copy.extent.depth = half_of(LAYERS, axis == 2);
    copy.kind = kind;
    for (half = 0; half < 2 && error == cudaSuccess; half++) {
        copy.srcPos.x = copy.dstPos.x = axis == 0 ? half * LAYER_PITCH / 2 : 0;
        copy.srcPos.y = copy.dstPos.y = axis == 1 ? half * LAYER_ROWS / 2 : 0;
        copy.srcPos.z = copy.dstPos.z = axis == 2 ? half * LAYERS / 2 : 0;
        error = cudaMemcpy3DAsync(&copy, FOLLOWS_IN(joins, stream));
    }
    return error;
}

/* From the words to what a follower would have copied. */
static cudaError_t copy_seen(struct joins *joins, unsigned place, cudaStream_t stream)
{
    enum cudaMemcpyKind kind = joins->trial / LAYER_WAYS % 2 ? cudaMemcpyHostToHost : cudaMemcpyDefault;

    return copy_layers(joins, joins->pinned->seen[place], joins->pinned->words, kind, stream);
}

static cudaError_t work_on_layers(struct joins *joins, unsigned followers, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare(joins, LAYER_WORKS, followers);
    for (i = 0; i < LAYER_WORKS && error == cudaSuccess; i++)
        error = work(joins, i, stream);
    return error;
}

static cudaError_t layers_after_work(struct joins *joins)
{
    cudaError_t error = work_on_layers(joins, 1, joins->stream[0]);

    return error == cudaSuccess ? copy_seen(joins, 0, joins->stream[0]) : error;
}

/* By way of the device's memory. */
static cudaError_t layers_there_and_back(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = open_aside(joins);

    if (error == cudaSuccess)
        error = work_on_layers(joins, 1, stream);
    if (error == cudaSuccess)
        error = copy_layers(joins, joins->aside, joins->pinned->words, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? copy_layers(joins, joins->pinned->seen[0], joins->aside, cudaMemcpyDeviceToHost, stream) : error;
}

static cudaError_t layers_after_event(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = work_on_layers(joins, 1, joins->stream[0]);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? copy_seen(joins, 0, joins->stream[1]) : error;
}

static cudaError_t layers_after_row(struct joins *joins)
{
    cudaError_t error = work_on_layers(joins, 1, joins->stream[0]);

    if (error == cudaSuccess)
        error = silent(joins, joins->stream[0]);
    return error == cudaSuccess ? copy_seen(joins, 0, joins->stream[0]) : error;
}

/* The copy and the dependent after it: both find the words. */
static cudaError_t layers_between(struct joins *joins)
{
    cudaError_t error = work_on_layers(joins, 2, joins->stream[0]);

    if (error == cudaSuccess)
        error = copy_seen(joins, 1, joins->stream[0]);
    return error == cudaSuccess ? depend(joins, joins->stream[0]) : error;
}

static cudaError_t layers_captured(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = work_on_layers(joins, 1, stream);

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = copy_layers(joins, joins->pinned->seen[0], joins->pinned->words, cudaMemcpyDefault, stream);
    return ask_run_capture(stream, error);
}

static void ask_layers(struct ask *ask)
{
    static const struct join joins[LAYER_WAYS] = {
        { "stale in a copy of layers", layers_after_work },
        { "stale in copies of layers to the device and back", layers_there_and_back },
        { "stale in a copy of layers after an event", layers_after_event },
        { "stale in a copy of layers after a silent kernel", layers_after_row },
        { "stale in a copy of layers or in a dependent after it", layers_between },
        { "stale in a captured copy of layers", layers_captured },
    };

    ask_joins(ask, joins, LAYER_WAYS, cudaStreamNonBlocking);
}

/* ---- callbacks ---- */

struct called {
    struct joins *joins;
    cudaStream_t stream;       /* as the call named it */
    unsigned stores, calls, wrong;
};

/* "The stream as passed to cudaStreamAddCallback"; "a callback will be executed exactly once." It finds the words, or stores them. */
static void CUDART_CB call_back(cudaStream_t stream, cudaError_t status, void *opaque)
{
    struct called *called = (struct called *)opaque;
    struct pinned *pinned = called->joins->pinned;

    called->calls++;
    called->wrong |= stream != called->stream || status != cudaSuccess;
    if (called->stores)
        store_work(pinned, 0);
    called->wrong |= differs(pinned, pinned->words, PLACE_WORDS);
}

/* "after all currently enqueued items in the stream have completed" */
static cudaError_t add_callback(struct called *called, cudaStream_t stream)
{
    called->stream = called->stores ? stream : FOLLOWS_IN(called->joins, stream);
    return cudaStreamAddCallback(called->stream, call_back, called, 0);
}

/* In every other round the host's last error is that of a launch of no threads, which is refused: it is none of any stream. */
static cudaError_t leave_error(struct joins *joins)
{
    cudaError_t error;

    if (joins->round % 2 == 0)
        return cudaSuccess;
    error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 0, joins->loose, NULL, 0);
    return error == cudaSuccess ? cudaErrorUnknown : cudaSuccess;
}

/* error: of what queued it and of what came after. It may not outlive what it is given. */
static cudaError_t end_callback(struct called *called, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();

    (void)cudaGetLastError(); /* that was left */
    called->joins->pinned->host_is_stale = called->wrong || called->calls != 1;
    return error == cudaSuccess ? end : error;
}

static cudaError_t callback_after(struct joins *joins, int after_silent, int dependent)
{
    struct called called = { joins, NULL, 0, 0, 0 };
    cudaStream_t stream = joins->stream[0];
    cudaError_t error;

    prepare(joins, 1, dependent ? 1 : 0);
    error = work(joins, 0, stream);
    if (error == cudaSuccess && after_silent)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = leave_error(joins);
    if (error == cudaSuccess)
        error = add_callback(&called, stream);
    if (error == cudaSuccess && dependent)
        error = depend(joins, stream);
    return end_callback(&called, error);
}

static cudaError_t callback_after_work(struct joins *joins) { return callback_after(joins, 0, 0); }
static cudaError_t callback_after_silent(struct joins *joins) { return callback_after(joins, 1, 0); }
static cudaError_t callback_between(struct joins *joins) { return callback_after(joins, 0, 1); }

static cudaError_t callback_after_event(struct joins *joins)
{
    struct called called = { joins, NULL, 0, 0, 0 };
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 0, &event);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = add_callback(&called, joins->stream[1]);
    (void)cudaEventDestroy(event);
    return end_callback(&called, error);
}

/* "The callback will block later work in the stream until it is finished"; with an event, what waits for that as well. */
static cudaError_t callback_before(struct joins *joins, int by_event)
{
    struct called called = { joins, NULL, 1, 0, 0 };
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = silent(joins, joins->stream[0]);
    if (error == cudaSuccess)
        error = add_callback(&called, joins->stream[0]);
    if (error == cudaSuccess && by_event)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[by_event]);
    (void)cudaEventDestroy(event);
    return end_callback(&called, error);
}

static cudaError_t callback_before_follower(struct joins *joins) { return callback_before(joins, 0); }
static cudaError_t callback_before_event(struct joins *joins) { return callback_before(joins, 1); }

static void ask_callbacks(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a callback after work", callback_after_work },
        { "stale in a callback after a silent kernel", callback_after_silent },
        { "stale in a callback after an event", callback_after_event },
        { "stale in a callback or in a dependent after it", callback_between },
        { "stale after a callback that stores", callback_before_follower },
        { "stale after a callback that stores, then an event", callback_before_event },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
