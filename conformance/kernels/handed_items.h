/* handed_items.h - what stands between the steps of handed.cu and changes nothing that anybody looks at, and the values that hand on. */
#ifndef HANDED_ITEMS_H_INCLUDED
#define HANDED_ITEMS_H_INCLUDED

/* ---- copies ---- */

#define ROW (CELL * sizeof(uint32_t) / 4)
#define LAYER_ROWS 2u

enum copied { COPIED, COPIED_ROWS, COPIED_BY_DRIVER };

static cudaError_t copy_words(uint32_t *to, const uint32_t *from, unsigned words, enum copied how, cudaStream_t stream)
{
    if (how == COPIED_BY_DRIVER)
        return copy_by_driver(to, from, words * sizeof(uint32_t), stream);
    if (how == COPIED_ROWS)
        return cudaMemcpy2DAsync(to, ROW, from, ROW, ROW, words * sizeof(uint32_t) / ROW, cudaMemcpyDefault, stream);
    return cudaMemcpyAsync(to, from, words * sizeof(uint32_t), cudaMemcpyDefault, stream);
}

/* Layers of rows; gaps: after each row, and after the rows of each layer. */
static struct cudaPitchedPtr layers_at(const uint32_t *words, int gaps)
{
    struct cudaPitchedPtr layers = PDL_ZERO;

    layers.ptr = (void *)words;
    layers.pitch = gaps ? 2 * ROW : ROW;
    layers.xsize = ROW;
    layers.ysize = gaps ? LAYER_ROWS + 1 : LAYER_ROWS;
    return layers;
}

static cudaError_t copy_layers(struct cudaPitchedPtr to, struct cudaPitchedPtr from, unsigned words, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.srcPtr = from;
    copy.dstPtr = to;
    copy.extent.width = ROW;
    copy.extent.height = LAYER_ROWS;
    copy.extent.depth = words * sizeof(uint32_t) / ROW / LAYER_ROWS;
    copy.kind = cudaMemcpyDefault;
    return cudaMemcpy3DAsync(&copy, stream);
}

/* ---- values: in the device's memory or in pinned memory, larger in each trial ---- */

static cudaError_t write_value(const uint32_t *at, uint32_t value, cudaStream_t stream)
{
    return queue_value("cuStreamWriteValue32", stream, at, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static const uint32_t *value_at(const struct handed *d, unsigned value)
{
    uint32_t *pinned = (uint32_t *)(d->device_of_pinned + offsetof(struct pinned, values));

    return (d->trial / TURNS % 2 ? pinned : d->memory + MEMORY + VALUES) + value;
}

static cudaError_t hand_on_value(const struct handed *d, unsigned value, cudaStream_t stream)
{
    return write_value(value_at(d, value), d->trial + 1, stream);
}

/* Queued after the write: no order of queues can hold that up then. */
static cudaError_t await_handed_value(const struct handed *d, unsigned value, cudaStream_t stream)
{
    return queue_value("cuStreamWaitValue32", stream, value_at(d, value), d->trial + 1, CU_STREAM_WAIT_VALUE_GEQ);
}

/* ---- items ---- */

static const struct kernel_args no_args = PDL_ZERO;

static void CUDART_CB do_nothing(void *opaque) { (void)opaque; }

static void CUDART_CB called_for_nothing(cudaStream_t stream, cudaError_t status, void *opaque) { (void)stream, (void)status, (void)opaque; }

static cudaError_t queue_items(const struct handed *d, const struct hand *h, cudaStream_t stream)
{
    uint32_t *scratch = d->memory + MEMORY;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < h->items && error == cudaSuccess; i++)
        error = i % 2 ? cudaMemsetAsync(scratch, 0, sizeof(uint32_t), stream) : copy_words(scratch, scratch + 1, 1, COPIED, stream);
    return error;
}

static cudaError_t allocate_and_free(size_t bytes, cudaStream_t stream)
{
    void *memory = NULL;
    cudaError_t error = cudaMallocAsync(&memory, bytes, stream);

    return error == cudaSuccess && memory ? cudaFreeAsync(memory, stream) : error;
}

static cudaError_t free_lent(struct handed *d, cudaStream_t stream)
{
    cudaError_t error = cudaFreeAsync(d->lent, stream);

    d->lent = NULL;
    return error;
}

/* More than once; whatever the answer is. */
static cudaError_t look_at(cudaStream_t stream, unsigned times)
{
    unsigned i;

    for (i = 0; i < times; i++)
        (void)whatever(cudaStreamQuery(stream));
    return cudaSuccess;
}

static cudaError_t ask_about(cudaStream_t stream)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    unsigned flags;
    int priority;
    cudaError_t error = cudaStreamGetFlags(stream, &flags);

    if (error == cudaSuccess)
        error = cudaStreamGetPriority(stream, &priority);
    return error == cudaSuccess ? cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value) : error;
}

static cudaError_t give_again(cudaStream_t stream)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaError_t error = cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);

    return error == cudaSuccess ? cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value) : error;
}

/* The stream captures launches, of which nothing is made; or the capture fails, as somebody asks for the stream. The legacy stream refuses to. */
static cudaError_t capture_in_vain(cudaStream_t stream, int fails)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaGraph_t graph = NULL;
    cudaError_t error = fails ? begin_by_driver(stream) : cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), end;

    if (error != cudaSuccess)
        return whatever(error);
    error = launch_one((const void *)SYMBOL(handed_later), &no_args, 1, stream, NULL, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(handed_later), &no_args, 1, stream, &attribute, 1);
    if (fails)
        (void)whatever(cudaStreamQuery(stream));
    end = fails ? end_by_driver(stream) : cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* An event that nobody else knows is awaited before it is ever recorded, or is recorded. */
static cudaError_t pass_event(cudaStream_t stream, int records)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = records ? cudaEventRecord(event, stream) : cudaStreamWaitEvent(stream, event, 0);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* Another stream that waits for the event as well is destroyed. */
static cudaError_t end_other(cudaEvent_t event)
{
    cudaStream_t other = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        (void)whatever(cudaStreamWaitEvent(other, event, 0));
    return error == cudaSuccess ? cudaStreamDestroy(other) : error;
}

/* Rows that are longer than their pitch. */
static cudaError_t refused_layers(uint32_t *scratch, cudaStream_t stream)
{
    struct cudaPitchedPtr to = layers_at(scratch + 2 * CELL, 0);

    to.pitch = ROW / 2;
    return copy_layers(to, layers_at(scratch + CELL, 0), CELL, stream);
}

/* Streams that are always there cannot be destroyed. */
static cudaError_t refused_end(cudaStream_t stream) { return cudaStreamDestroy(stream == cudaStreamPerThread ? stream : cudaStreamLegacy); }

static cudaError_t refused_item(const struct handed *d, enum item item, cudaStream_t stream)
{
    uint32_t *scratch = d->memory + MEMORY;

    switch (item) {
    case ITEM_NO_ROWS: return cudaMemcpy2DAsync(scratch, ROW / 2, scratch + CELL, ROW, ROW, 2, cudaMemcpyDefault, stream);
    case ITEM_NO_LAYERS: return refused_layers(scratch, stream);
    case ITEM_NO_CALLBACK: return cudaStreamAddCallback(stream, called_for_nothing, NULL, 1); /* "reserved for future use, must be 0" */
    case ITEM_NO_MEMORY: return allocate_and_free(0, stream);
    case ITEM_NO_FREE: return cudaFreeAsync(NULL, stream);
    case ITEM_NO_VALUE: return write_value(NULL, 1, stream);
    default: return refused_end(stream);
    }
}

static cudaGraphExec_t empty_graph(const struct handed *d) { return d->empty[d->trial / TURNS / 2 % 2]; }

static cudaError_t queue_item(struct handed *d, const struct hand *h, enum stop stop, cudaStream_t stream)
{
    uint32_t *scratch = d->memory + MEMORY;
    enum item item = h->item[stop];
    float ms;

    switch (item) {
    case ITEM_NONE: return cudaSuccess;
    case ITEM_COPY: return copy_words(scratch, scratch + 1, 1, COPIED, stream);
    case ITEM_SET: return cudaMemsetAsync(scratch, 0, sizeof(uint32_t), stream);
    case ITEM_ROWS: return copy_words(scratch + 2 * CELL, scratch + CELL, CELL, COPIED_ROWS, stream);
    case ITEM_LAYERS: return copy_layers(layers_at(scratch + 2 * CELL, 0), layers_at(scratch + CELL, 0), CELL, stream);
    case ITEM_HOST: return cudaLaunchHostFunc(stream, do_nothing, NULL);
    case ITEM_GRAPH: return cudaGraphLaunch(empty_graph(d), stream);
    case ITEM_CALLBACK: return cudaStreamAddCallback(stream, called_for_nothing, NULL, 0);
    case ITEM_HOST_COPY: return cudaMemcpyAsync(&d->pinned->spare[0], &d->pinned->spare[1], sizeof(uint32_t), cudaMemcpyHostToHost, stream);
    case ITEM_ALLOCATION: return allocate_and_free(sizeof(uint32_t), stream);
    case ITEM_FREE: return free_lent(d, stream);
    case ITEM_VALUE: return hand_on_value(d, VALUE_OF_ITEM, stream);
    case ITEM_AWAIT: return queue_value("cuStreamWaitValue32", stream, value_at(d, VALUE_KEPT), 0, CU_STREAM_WAIT_VALUE_EQ);
    case ITEM_QUERY: return look_at(stream, 2 + d->trial / TURNS % 3);
    case ITEM_ASK: return whatever(ask_about(stream));
    case ITEM_TIME: return whatever(cudaEventElapsedTime(&ms, d->begin, event_of(d, h)));
    case ITEM_STREAM: return end_other(stop == BEFORE_LAST && has_event(h) ? event_of(d, h) : d->told);
    case ITEM_UPLOAD: return h->by_driver ? upload_by_driver(d->empty[0], stream) : cudaGraphUpload(d->empty[0], stream);
    case ITEM_CAPTURE: return capture_in_vain(stream, d->trial / TURNS % 2 != 0);
    case ITEM_GIVEN: return whatever(give_again(stream));
    case ITEM_UNRECORDED: return pass_event(stream, 0);
    case ITEM_RECORD: return pass_event(stream, 1);
    default: return whatever(refused_item(d, item, stream));
    }
}

/* What the work stored to is freed by now: whoever is given it stores there after the work. */
static cudaError_t lend_again(struct handed *d, cudaStream_t last)
{
    size_t bytes = CELL * sizeof(uint32_t);
    cudaError_t error;

    if (!d->pinned->plan[PLACE_WORK].words)
        return cudaSuccess;
    (void)look_at(last, d->trial / TURNS % 4);
    error = cudaMallocAsync((void **)&d->again, bytes, d->loose);
    return error == cudaSuccess ? cudaMemsetAsync(d->again, SET_LAST, bytes, d->loose) : error;
}

#endif
