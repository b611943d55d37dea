/* circumstances_streams.c - captures, copies, waits, streams, events and launches as the circumstance has them. */
#include "circumstances_made.h"

#include <string.h>

static int is_default(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread; }

/* A default stream cannot be asked for it while another one captures. */
static int captures_nothing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;

    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone;
}

/* The end of a capture gave this: but for the wrong thread, or for no room for a graph, its capture is over. */
static int is_over(cudaError_t error) { return error != cudaErrorStreamCaptureWrongThread && error != cudaErrorInvalidValue; }

/* ---- captures into graphs ---- */

/* The end gives the graph to the asker; one whose capture failed is left alone. */
static cudaError_t begin_given(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL, clone = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    enum cudaStreamCaptureMode relaxed;

    if (error != cudaSuccess)
        return error;
    relaxed = around_relax();
    if (cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess)
        around_keep_exec(exec);
    if (cudaGraphClone(&clone, graph) == cudaSuccess)
        around_keep_graph(clone);
    around_restore(relaxed);
    error = cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, mode);
    if (error != cudaSuccess)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* ---- captures beside ---- */

/* A relaxed one forbids the asker's thread no call, and ends in any. */
static void begin_other(void)
{
    enum cudaStreamCaptureMode mode = around_relax();

    if (around_other_stream() &&
        (around.captures != 0 || cudaStreamBeginCapture(around.other, cudaStreamCaptureModeRelaxed) == cudaSuccess))
        around.captures++;
    around_restore(mode);
}

static void end_other(void)
{
    cudaGraph_t graph = NULL;

    if (around.other && around.captures != 0 && --around.captures == 0)
        (void)cudaStreamEndCapture(around.other, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* Every other capture is the older one. */
static cudaError_t begin_beside(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    int older = around.begun++ % 2;
    cudaError_t error;

    if (!older)
        begin_other();
    error = cudaStreamBeginCapture(stream, mode);
    if (older && error == cudaSuccess)
        begin_other();
    if (!older && error != cudaSuccess)
        end_other();
    return error;
}

/* ---- captures that began in another stream ---- */

static struct lane *lane_of(cudaStream_t joined)
{
    unsigned i;

    for (i = 0; i < LANES; i++)
        if (around.lane[i].joined == joined)
            return &around.lane[i];
    return NULL;
}

static cudaError_t open_lane(struct lane *lane)
{
    enum cudaStreamCaptureMode mode = around_relax();
    cudaError_t error = lane->origin ? cudaSuccess : cudaStreamCreateWithFlags(&lane->origin, cudaStreamNonBlocking);

    if (error == cudaSuccess && !lane->event)
        error = cudaEventCreateWithFlags(&lane->event, cudaEventDisableTiming);
    around_restore(mode);
    return error;
}

static cudaError_t follow(struct lane *lane, cudaStream_t first, cudaStream_t then)
{
    cudaError_t error = cudaEventRecord(lane->event, first);

    return error == cudaSuccess ? cudaStreamWaitEvent(then, lane->event, 0) : error;
}

static cudaError_t end_in_origin(struct lane *lane, cudaGraph_t *graph)
{
    cudaError_t error;

    (void)follow(lane, lane->joined, lane->origin);
    (void)cudaGetLastError();
    error = cudaStreamEndCapture(lane->origin, graph);
    if (is_over(error))
        lane->joined = NULL;
    return error;
}

static cudaError_t begin_joined(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct lane *lane = lane_of(NULL);
    cudaGraph_t graph = NULL;
    cudaError_t error;

    if (!lane || is_default(stream) || !captures_nothing(stream) || open_lane(lane) != cudaSuccess)
        return cudaStreamBeginCapture(stream, mode);
    error = cudaStreamBeginCapture(lane->origin, mode);
    if (error != cudaSuccess)
        return error;
    lane->joined = stream;
    error = follow(lane, lane->origin, stream);
    if (error == cudaSuccess)
        return error;
    (void)end_in_origin(lane, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* ---- captures ---- */

cudaError_t around_begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    around.calls |= CALLED_CAPTURE;
    switch (around.now) {
    case GIVEN: return begin_given(stream, mode);
    case BESIDE: return begin_beside(stream, mode);
    case JOINED: return begin_joined(stream, mode);
    default: return cudaStreamBeginCapture(stream, mode);
    }
}

cudaError_t around_end_capture(cudaStream_t stream, cudaGraph_t *graph)
{
    struct lane *lane = stream ? lane_of(stream) : NULL;
    cudaError_t error = lane ? end_in_origin(lane, graph) : cudaStreamEndCapture(stream, graph);

    if (around.now == BESIDE && is_over(error)) {
        end_other();
        if (error == cudaSuccess)
            (void)cudaGetLastError();
    }
    return error;
}

/* Those whose ends were none of these calls. */
void around_end_all_captures(void)
{
    cudaGraph_t graph = NULL;
    unsigned i;

    while (around.captures != 0)
        end_other();
    for (i = 0; i < LANES; i++)
        if (around.lane[i].joined && end_in_origin(&around.lane[i], &graph) == cudaSuccess)
            (void)cudaGraphDestroy(graph);
}

/* ---- copies of layers, memsets of rows ---- */

#define LAYERS 2u
#define ROWS 2u

static struct cudaMemcpy3DParms layers_of(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = { 0 };

    copy.extent.width = bytes / (LAYERS * ROWS);
    copy.extent.height = ROWS;
    copy.extent.depth = LAYERS;
    copy.srcPtr.ptr = (void *)from;
    copy.srcPtr.pitch = copy.srcPtr.xsize = copy.extent.width;
    copy.srcPtr.ysize = ROWS;
    copy.dstPtr = copy.srcPtr;
    copy.dstPtr.ptr = to;
    copy.kind = kind;
    return copy;
}

static int is_layered(size_t bytes) { return around.now == LAYERED && bytes != 0 && bytes % (LAYERS * ROWS) == 0; }

cudaError_t around_memcpy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy;

    around.calls |= CALLED_COPY;
    if (!is_layered(bytes))
        return cudaMemcpyAsync(to, from, bytes, kind, stream);
    copy = layers_of(to, from, bytes, kind);
    return cudaMemcpy3DAsync(&copy, stream);
}

cudaError_t around_memset_async(void *to, int value, size_t bytes, cudaStream_t stream)
{
    around.calls |= CALLED_COPY;
    if (!is_layered(bytes))
        return cudaMemsetAsync(to, value, bytes, stream);
    return cudaMemset2DAsync(to, bytes / ROWS, value, bytes / ROWS, ROWS, stream);
}

cudaError_t around_add_memcpy_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to,
                                   const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;

    around.calls |= CALLED_COPY;
    if (!is_layered(bytes))
        return cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, kind);
    copy = layers_of(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, after, count, &copy);
}

cudaError_t around_add_memset_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params)
{
    struct cudaMemsetParams rows;

    around.calls |= CALLED_COPY;
    if (!params || params->height != 1 || params->width % ROWS != 0 || !is_layered(LAYERS * params->width))
        return cudaGraphAddMemsetNode(node, graph, after, count, params);
    rows = *params;
    rows.height = ROWS;
    rows.width = params->width / ROWS;
    rows.pitch = rows.width * rows.elementSize;
    return cudaGraphAddMemsetNode(node, graph, after, count, &rows);
}

/* ---- questions after a wait ---- */

static void CUDART_CB never_called(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream;
    (void)status;
    (void)opaque;
}

/* "flags is reserved for future use and must be 0"; a pitch is no shorter than its row. */
static void ask_and_be_refused(cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureMode mode = around_relax();
    cudaLaunchAttributeValue value;
    unsigned flags;
    int priority;
    static char bytes[4];

    if (captures_nothing(stream)) {
        (void)cudaStreamGetFlags(stream, &flags);
        (void)cudaStreamGetPriority(stream, &priority);
        (void)cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value);
        (void)cudaStreamAddCallback(stream, never_called, NULL, 1);
        (void)cudaMemcpy2DAsync(bytes, 1, bytes + 1, 1, 2, 2, cudaMemcpyHostToHost, stream); /* a lone row has no pitch */
        (void)cudaEventQuery(event);
        (void)cudaStreamQuery(stream);
    }
    around_restore(mode);
}

cudaError_t around_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t error = cudaStreamWaitEvent(stream, event, flags);

    around.calls |= CALLED_WAIT;
    if (around.now == ASKED && error == cudaSuccess)
        ask_and_be_refused(stream, event);
    return error;
}

/* ---- streams and events that were used before ---- */

/* It has been recorded and awaited, and all is over. */
static void use_event(cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureMode mode = around_relax();

    if (around_other_stream() && cudaEventRecord(event, stream ? stream : around.other) == cudaSuccess) {
        (void)cudaStreamWaitEvent(around.other, event, 0);
        (void)cudaStreamSynchronize(around.other);
    }
    around_restore(mode);
}

static void use_stream(cudaStream_t stream)
{
    cudaEvent_t event;

    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) {
        (void)cudaGetLastError();
        return;
    }
    use_event(stream, event);
    (void)cudaEventDestroy(event);
}

/* What needs no flags is made by either call in turn. */
cudaError_t around_event_create(cudaEvent_t *event, unsigned flags)
{
    cudaError_t error = flags == cudaEventDefault && around.made++ % 2 == 0 ? cudaEventCreate(event) : cudaEventCreateWithFlags(event, flags);

    around.calls |= CALLED_MAKE;
    if (around.now == AGED && error == cudaSuccess)
        use_event(NULL, *event);
    return error;
}

cudaError_t around_stream_create(cudaStream_t *stream, unsigned flags)
{
    cudaError_t error = flags == cudaStreamDefault && around.made++ % 2 == 0 ? cudaStreamCreate(stream) : cudaStreamCreateWithFlags(stream, flags);

    around.calls |= CALLED_MAKE;
    if (around.now == AGED && error == cudaSuccess)
        use_stream(*stream);
    return error;
}

/* ---- launches ---- */

#define DRESS_BYTES 1024u
#define DRESS_ATTRIBUTES 16u

/* One more attribute, if there is room and the launch has none of its kind. */
static void add_priority(cudaLaunchConfig_t *config, cudaLaunchAttribute *room)
{
    unsigned i;

    if (config->numAttrs == 0 || config->numAttrs >= DRESS_ATTRIBUTES || !config->attrs)
        return;
    for (i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == cudaLaunchAttributePriority)
            return;
        room[i] = config->attrs[i];
    }
    memset(&room[i], 0, sizeof(room[i]));
    room[i].id = cudaLaunchAttributePriority;
    room[i].val.priority = -1;
    config->attrs = room;
    config->numAttrs++;
}

cudaError_t around_launch(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    cudaLaunchAttribute room[DRESS_ATTRIBUTES];
    cudaLaunchConfig_t dressed;

    around.calls |= CALLED_LAUNCH;
    if (around.now != DRESSED || !config)
        return cudaLaunchKernelExC(config, function, args);
    dressed = *config;
    if (dressed.dynamicSmemBytes == 0)
        dressed.dynamicSmemBytes = DRESS_BYTES;
    add_priority(&dressed, room);
    return cudaLaunchKernelExC(&dressed, function, args);
}

cudaError_t around_add_kernel_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    struct cudaKernelNodeParams dressed;

    around.calls |= CALLED_LAUNCH;
    if (around.now != DRESSED || !params || params->sharedMemBytes != 0)
        return cudaGraphAddKernelNode(node, graph, after, count, params);
    dressed = *params;
    dressed.sharedMemBytes = DRESS_BYTES;
    return cudaGraphAddKernelNode(node, graph, after, count, &dressed);
}
