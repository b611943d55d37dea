/* handed_steps.h - what handed.cu queues: the steps that hand words on, and what links them. */
#ifndef HANDED_STEPS_H_INCLUDED
#define HANDED_STEPS_H_INCLUDED

#define SHARED_BYTES 12288u    /* of a block of a kernel with shared memory */

/* ---- steps ---- */

static void CUDART_CB carry_on_host(void *opaque)
{
    const struct carry *carry = (const struct carry *)opaque;

    memcpy(carry->to, carry->from, carry->words * sizeof(uint32_t));
}

static void CUDART_CB carry_in_callback(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream;
    if (status == cudaSuccess)
        carry_on_host(opaque);
}

static cudaError_t step_host(struct handed *d, enum step step, unsigned end, cudaStream_t stream)
{
    struct carry *carry = &d->carry[end];

    carry->from = d->pinned->area;
    carry->to = d->pinned->area + (end ? SPAN : 2 * CELL);
    carry->words = end ? SPAN : CELL;
    return step == STEP_CALLBACK ? cudaStreamAddCallback(stream, carry_in_callback, carry, 0) : cudaLaunchHostFunc(stream, carry_on_host, carry);
}

static cudaError_t copy_by_way(const struct handed *d, uint32_t *to, const uint32_t *from, unsigned words, cudaStream_t stream)
{
    size_t bytes = words * sizeof(uint32_t);
    cudaError_t error = cudaMemcpyAsync(d->copied, from, bytes, cudaMemcpyHostToDevice, stream);

    return error == cudaSuccess ? cudaMemcpyAsync(to, d->copied, bytes, cudaMemcpyDeviceToHost, stream) : error;
}

/* From host to host the call itself would wait, so pinned words go by way of the device; layers always do, with gaps there. */
static cudaError_t step_copy(struct handed *d, enum step step, unsigned end, cudaStream_t stream)
{
    uint32_t *cells = d->pins ? d->pinned->area : d->area[0], *to = cells + (end ? SPAN : 2 * CELL);
    const uint32_t *from = end && d->copies_long ? d->copied : cells;
    unsigned words = end ? SPAN : CELL;
    enum copied how = step == STEP_ROWS ? COPIED_ROWS : d->trial / TURNS % 3 ? COPIED : COPIED_BY_DRIVER;
    cudaError_t error;

    if (step == STEP_LAYERS) {
        error = copy_layers(layers_at(d->memory + MEMORY + LAYER_ROOM, 1), layers_at(from, 0), words, stream);
        return error == cudaSuccess ? copy_layers(layers_at(to, 0), layers_at(d->memory + MEMORY + LAYER_ROOM, 1), words, stream) : error;
    }
    if (!d->pins)
        return copy_words(to, from, words, how, stream);
    if (how == COPIED && d->trial % 2)
        return copy_by_way(d, to, from, words, stream);
    error = copy_words(d->copied, from, words, how, stream);
    return error == cudaSuccess ? copy_words(to, d->copied, words, how, stream) : error;
}

/* All cells, and much before them, to the second area: within the device, or by way of the host. */
static cudaError_t copy_long(const struct handed *d, cudaStream_t stream)
{
    const uint32_t *from = d->area[0] - LONG;
    size_t bytes = (LONG + SPAN) * sizeof(uint32_t);
    cudaError_t error;

    if (d->trial / TURNS % 2 == 0)
        return copy_words(d->copied - LONG, from, LONG + SPAN, COPIED, stream);
    error = cudaMemcpyAsync(d->by_way, from, bytes, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? cudaMemcpyAsync(d->copied - LONG, d->by_way, bytes, cudaMemcpyHostToDevice, stream) : error;
}

/* As the last step back to what it is to find. */
static cudaError_t step_long_copy(struct handed *d, unsigned end, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (!end || !d->copies_long)
        error = copy_long(d, stream);
    return error == cudaSuccess && end ? copy_words(d->area[0] + SPAN, d->copied, SPAN, COPIED, stream) : error;
}

static cudaError_t step_wide_set(struct handed *d, unsigned end, cudaStream_t stream)
{
    typedef CUresult (CUDAAPI *set_fn)(CUdeviceptr, unsigned short, size_t, CUstream);
    unsigned words = end ? SPAN : CELL, byte = end ? SET_LAST : SET_FIRST;

    return (cudaError_t)((set_fn)d->set_wide)((CUdeviceptr)(uintptr_t)d->area[d->pins], (unsigned short)(byte << 8 | byte), 2 * words,
                                              (CUstream)stream);
}

static cudaError_t step_word_set(struct handed *d, unsigned end, cudaStream_t stream)
{
    typedef CUresult (CUDAAPI *set_fn)(CUdeviceptr, unsigned, size_t, CUstream);
    unsigned byte = end ? SET_LAST : SET_FIRST;

    return (cudaError_t)((set_fn)d->set_words)((CUdeviceptr)(uintptr_t)d->area[d->pins], byte * 0x01010101u, end ? SPAN : CELL, (CUstream)stream);
}

/* One call for each word. */
static cudaError_t step_write(struct handed *d, unsigned end, cudaStream_t stream)
{
    uint32_t value = (end ? SET_LAST : SET_FIRST) * 0x01010101u;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < (end ? SPAN : CELL) && error == cudaSuccess; i++)
        error = write_value(d->area[d->pins] + i, value, stream);
    return error;
}

static int is_clustered(enum dress dress) { return dress == DRESS_CLUSTER || dress == DRESS_COOPERATIVE_CLUSTER; }

/* The attributes of a dress, and a hint; how many. */
static unsigned fill_dress(const struct handed *d, enum dress dress, enum hint hint, cudaLaunchAttribute *attribute)
{
    unsigned count = 0;

    if (d->takes[hint] && d->trial % 2)
        attribute[count++] = hint_of(id_of(hint));

    if (is_clustered(dress))
        attribute[count++] = in_clusters(d->cluster);
    if (is_cooperative(dress))
        attribute[count++] = cooperatively();
    if (dress == DRESS_URGENT)
        attribute[count++] = of_priority(d->greatest);
    if (dress == DRESS_DOMAIN)
        attribute[count++] = in_remote_domain();
    if (dress == DRESS_EVENT)
        attribute[count++] = recording(d->told);
    if (d->takes[hint] && d->trial % 2 == 0)
        attribute[count++] = hint_of(id_of(hint));
    return count;
}

/* This kernel as its place is dressed, with one attribute more or none. The blocks of a cluster, and those of rows and layers, do the same. */
static cudaError_t launch_dressed(const struct handed *d, const struct hand *h, enum place place, const void *function,
                                  const struct kernel_args *args, unsigned blocks, unsigned threads, cudaStream_t stream,
                                  const cudaLaunchAttribute *more)
{
    cudaLaunchAttribute attribute[4] = PDL_ZERO;
    enum dress dress = h->dress[place];
    unsigned count = fill_dress(d, dress, h->hint[place], attribute);
    struct kernel_args copy = *args;
    cudaLaunchConfig_t config;
    void *values[1];

    values[0] = &copy;
    if (more)
        attribute[count++] = *more;
    config = sized_config(is_clustered(dress) ? d->cluster : blocks, threads, dress == DRESS_SHARED ? SHARED_BYTES : 0, stream, attribute, count);
    if (dress == DRESS_LAYERS)
        config.gridDim.y = config.gridDim.z = 2;
    return h->by_driver ? launch_by_driver(&config, function, values) : cudaLaunchKernelExC(&config, function, values);
}

static cudaError_t step_kernel(struct handed *d, const struct hand *h, unsigned end, cudaStream_t stream)
{
    enum step step = end ? h->last : h->first;
    struct kernel_args args = args_of(d, d->pins, end ? PLACE_LAST : PLACE_FIRST);
    const void *function = step == STEP_LARGE     ? (const void *)SYMBOL(handed_large)
                           : step == STEP_EARLY   ? (const void *)SYMBOL(handed_early)
                           : step == STEP_FENCED  ? h->late ? (const void *)SYMBOL(handed_late) : (const void *)SYMBOL(handed_fenced)
                           : step == STEP_WAITING ? (const void *)SYMBOL(handed_waiting)
                           : step == STEP_LARGE_WAITING ? (const void *)SYMBOL(handed_large_waiting)
                                                  : (const void *)SYMBOL(handed_step);
    cudaLaunchAttribute attribute = step == STEP_FENCED ? recording(event_of(d, h)) : serialization(1);
    unsigned blocks = is_large(step) ? LARGE_BLOCKS : 1, threads = is_large(step) ? 1 : CELL;
    int attributed = step == STEP_EARLY || step == STEP_FENCED || step == STEP_UNWAITING || (waits(step) && h->first != STEP_FENCED);

    return launch_dressed(d, h, end ? PLACE_LAST : PLACE_FIRST, function, &args, blocks, threads, stream, attributed ? &attribute : NULL);
}

/* end: 0 for the first step, 1 for the last one. */
static cudaError_t take_step(struct handed *d, const struct hand *h, unsigned end, cudaStream_t stream)
{
    enum step step = end ? h->last : h->first;

    switch (step) {
    case STEP_NONE: return cudaSuccess;
    case STEP_COPY:
    case STEP_ROWS:
    case STEP_LAYERS: return step_copy(d, step, end, stream);
    case STEP_WRITE: return step_write(d, end, stream);
    case STEP_LONG_COPY: return step_long_copy(d, end, stream);
    case STEP_WIDE_SET: return step_wide_set(d, end, stream);
    case STEP_WORD_SET: return step_word_set(d, end, stream);
    case STEP_REPLACE:
        return copy_words(d->pins ? d->pinned->area : d->area[0], d->memory + MEMORY - SPAN, end ? SPAN : CELL, COPIED, stream);
    case STEP_SET: return cudaMemsetAsync(d->area[d->pins], end ? SET_LAST : SET_FIRST, (end ? SPAN : CELL) * sizeof(uint32_t), stream);
    case STEP_SET_ROWS: return cudaMemset2DAsync(d->area[d->pins], 8, end ? SET_LAST : SET_FIRST, 8, (end ? SPAN : CELL) / 2, stream);
    case STEP_LONG_SET:
        return cudaMemsetAsync(d->area[0] - LONG, end ? SET_LAST : SET_FIRST, (LONG + (end ? SPAN : CELL)) * sizeof(uint32_t), stream);
    case STEP_HOST:
    case STEP_CALLBACK: return step_host(d, step, end, stream);
    case STEP_GRAPH: return cudaGraphLaunch(d->graph[d->pins][end][0], stream);
    case STEP_SECOND_GRAPH: return cudaGraphLaunch(d->graph[d->pins][end][1], stream);
    default: return step_kernel(d, h, end, stream);
    }
}

/* ---- links ---- */

/* Work of the third stream, and the copy that may hand it on. */
static cudaError_t launch_joined(struct handed *d, const struct hand *h)
{
    struct kernel_args work = args_of(d, d->pins, PLACE_JOINED);
    uint32_t *cell = (d->pins ? d->pinned->area : d->area[0]) + CELL;
    cudaError_t error;

    if (h->joins == JOINS_COPY)
        work.data = d->memory + MEMORY - SPAN - CELL;
    error = launch_dressed(d, h, PLACE_JOINED, (const void *)SYMBOL(handed_work), &work, 1, CELL, d->third, NULL);
    return error == cudaSuccess && h->joins == JOINS_COPY ? copy_words(cell, work.data, CELL, COPIED, d->third) : error;
}

static cudaError_t join(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    cudaError_t error = launch_joined(d, h);

    if (error != cudaSuccess || !h->by_value)
        return error == cudaSuccess ? record_and_await(d->join, d->third, stream) : error;
    error = hand_on_value(d, VALUE_OF_JOIN, d->third);
    return error == cudaSuccess ? await_handed_value(d, VALUE_OF_JOIN, stream) : error;
}

/* The other events that the last stream awaits as well. */
static cudaError_t record_more(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < h->more && error == cudaSuccess; i++)
        error = cudaEventRecord(d->more[i], stream);
    return error;
}

/* The slow work, work of a third stream that is joined, and the first step. */
static cudaError_t launch_first(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    struct kernel_args work = args_of(d, d->pins, PLACE_WORK);
    cudaError_t error = h->joins ? record_and_await(d->fork, stream, d->third) : cudaSuccess;

    if (error == cudaSuccess && h->more_first)
        error = record_more(d, h, stream);
    if (error == cudaSuccess)
        error = launch_dressed(d, h, PLACE_WORK, (const void *)SYMBOL(handed_work), &work, 1, CELL, stream, NULL);
    if (error == cudaSuccess && !h->more_first)
        error = record_more(d, h, stream);
    if (error == cudaSuccess && h->joins)
        error = join(d, h, stream);
    if (error == cudaSuccess)
        error = queue_items(d, h, stream);
    if (error == cudaSuccess)
        error = queue_item(d, h, AFTER_WORK, stream);
    if (error == cudaSuccess)
        error = take_step(d, h, 0, stream);
    if (error == cudaSuccess)
        error = queue_item(d, h, AFTER_FIRST, stream);
    return error == cudaSuccess && h->marked ? cudaEventRecord(d->told, stream) : error;
}

static cudaError_t end_and_launch(struct handed *d, cudaStream_t stream, cudaError_t captured)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);

    error = captured == cudaSuccess ? error : captured;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&d->made, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? cudaGraphLaunch(d->made, stream) : error;
}

/* An external record of a capture records whenever its graph runs. */
static cudaError_t first_and_external(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, mode_of[d->trial % 4]);

    if (error != cudaSuccess)
        return error;
    error = launch_first(d, h, stream);
    if (error == cudaSuccess)
        error = cudaEventRecordWithFlags(event_of(d, h), stream, cudaEventRecordExternal);
    return end_and_launch(d, stream, error);
}

static cudaError_t record_as_drawn(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    switch (h->recorder) {
    case BY_CALL: return cudaEventRecord(event_of(d, h), stream);
    case BY_FLAGS_CALL: return cudaEventRecordWithFlags(event_of(d, h), stream, cudaEventRecordDefault);
    case BY_DRIVER: return record_by_driver(event_of(d, h), stream);
    case BY_NODE: return d->node[h->event] ? cudaGraphLaunch(d->node[h->event], stream) : cudaEventRecord(event_of(d, h), stream);
    default: return cudaSuccess; /* it is recorded by then */
    }
}

/* As often as patience lasts, in some trials sooner; then the host waits. */
static cudaError_t poll(const struct handed *d, cudaError_t (*query)(void *of), void *of, cudaError_t (*wait)(void *of))
{
    unsigned polls = 1u << d->trial / TURNS % 7;
    cudaError_t error = cudaErrorNotReady;
    unsigned i;

    for (i = 0; i < polls && error == cudaErrorNotReady; i++)
        error = query(of);
    if (error != cudaErrorNotReady)
        return error;
    (void)cudaGetLastError();
    return wait(of);
}

static cudaError_t query_event(void *event) { return cudaEventQuery((cudaEvent_t)event); }
static cudaError_t wait_event(void *event) { return cudaEventSynchronize((cudaEvent_t)event); }
static cudaError_t query_stream(void *stream) { return cudaStreamQuery((cudaStream_t)stream); }
static cudaError_t wait_stream(void *stream) { return cudaStreamSynchronize((cudaStream_t)stream); }

/* Whatever the answer is. */
static cudaError_t ask_for(cudaEvent_t event)
{
    cudaError_t error = cudaEventQuery(event);

    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

/* Another stream waits for the event as well, later kernels come in the first stream, and that stream ends, whose work goes on. */
static cudaError_t leave(struct handed *d, const struct hand *h, cudaStream_t from)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < h->awaited && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(d->third, event_of(d, h), 0);
    for (i = 0; i < h->later && error == cudaSuccess; i++)
        error = launch_one((const void *)SYMBOL(handed_later), &no_args, 1, from, &attribute, h->later_overlap);
    if (error != cudaSuccess || !h->leaves)
        return error;
    d->leaving = NULL;
    return cudaStreamDestroy(from);
}

static cudaError_t record_again(struct handed *d, const struct hand *h)
{
    cudaEvent_t event = event_of(d, h);
    cudaLaunchAttribute recorder = h->again == AGAIN_AT_COMPLETION ? recording_begin(event) : recording_at(event, h->again == AGAIN_AT_STARTS);

    if (h->again == AGAIN_NOT)
        return cudaSuccess;
    if (h->again >= AGAIN_AT_TRIGGERS)
        return launch_one((const void *)SYMBOL(handed_later), &no_args, 1, d->third, &recorder, 1);
    return h->again == AGAIN_BY_NODE && d->node[h->event] ? cudaGraphLaunch(d->node[h->event], d->third) : cudaEventRecord(event, d->third);
}

/* The wait stands for the record before it, whoever records the event again then. */
static cudaError_t await_and_record(struct handed *d, const struct hand *h, cudaStream_t to)
{
    cudaEvent_t event = event_of(d, h);
    cudaError_t error = h->by_node && d->awaits[h->event] ? cudaGraphLaunch(d->awaits[h->event], to)
                        : h->recorder == BY_DRIVER        ? await_by_driver(to, event, 0)
                                                          : cudaStreamWaitEvent(to, event, 0);

    return error == cudaSuccess ? record_again(d, h) : error;
}

static cudaError_t await_link(struct handed *d, const struct hand *h, cudaStream_t from, cudaStream_t to)
{
    cudaEvent_t event = event_of(d, h);

    switch (h->link) {
    case LINK_EVENT: return await_and_record(d, h, to);
    case LINK_VALUE: return await_handed_value(d, VALUE_OF_LINK, to);
    case LINK_EVENT_SYNC: return cudaEventSynchronize(event);
    case LINK_EVENT_POLL: return poll(d, query_event, event, wait_event);
    case LINK_STREAM_SYNC: return cudaStreamSynchronize(from);
    case LINK_STREAM_POLL: return poll(d, query_stream, from, wait_stream);
    default: return cudaSuccess;
    }
}

static cudaError_t come_after(struct handed *d, const struct hand *h, cudaStream_t from, cudaStream_t to)
{
    unsigned i;
    cudaError_t error = has_event(h) ? record_as_drawn(d, h, from) : cudaSuccess;

    if (error == cudaSuccess && h->asks)
        error = ask_for(event_of(d, h));
    if (error == cudaSuccess && h->link == LINK_VALUE)
        error = hand_on_value(d, VALUE_OF_LINK, from);
    if (error == cudaSuccess && !h->leaves_late)
        error = leave(d, h, from);
    if (error == cudaSuccess && h->behind == BEHIND_GRAPH)
        error = cudaGraphLaunch(empty_graph(d), to);
    if (error == cudaSuccess && h->behind == BEHIND_KERNEL)
        error = launch_one((const void *)SYMBOL(handed_later), &no_args, 1, to, NULL, 0);
    if (error == cudaSuccess)
        error = queue_item(d, h, BEFORE_LINK, to);
    for (i = 0; i < h->more && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(to, d->more[i], 0);
    if (error == cudaSuccess)
        error = await_link(d, h, from, to);
    if (error == cudaSuccess && h->leaves_late)
        error = leave(d, h, from);
    return error == cudaSuccess ? queue_item(d, h, BEFORE_LAST, to) : error;
}

#ifdef MUTANT_otherstream
#define LAST_IN(d, stream) ((void)(stream), (d)->loose)
#else
#define LAST_IN(d, stream) (stream)
#endif

static cudaError_t launch_hand(struct handed *d, const struct hand *h)
{
    cudaStream_t from = stream_from(d, h), to = stream_to(d, h);
    int external = h->recorder == BY_EXTERNAL && has_event(h);
    cudaError_t error = cudaSuccess;

    d->timed = has_event(h) && has_timing(h->event) && h->again == AGAIN_NOT; /* else the time is that of the other record */
    if (d->timed)
        error = cudaEventRecord(d->begin, from);
    if (error == cudaSuccess)
        error = external ? first_and_external(d, h, from) : launch_first(d, h, from);
    if (error == cudaSuccess)
        error = come_after(d, h, from, to);
    if (error == cudaSuccess)
        error = take_step(d, h, 1, LAST_IN(d, to));
    if (error == cudaSuccess)
        error = queue_item(d, h, AFTER_LAST, to);
    return error == cudaSuccess ? lend_again(d, to) : error;
}

struct by_thread {
    struct handed *d;
    const struct hand *h;
    cudaError_t error;
};

static void launch_in_thread(void *of)
{
    struct by_thread *by = (struct by_thread *)of;

    by->error = launch_hand(by->d, by->h);
}

static cudaError_t launch_by_thread(struct handed *d, const struct hand *h)
{
    struct by_thread by = { d, h, cudaSuccess };

    return run_in_thread(launch_in_thread, &by) ? by.error : launch_hand(d, h);
}

static cudaError_t capture_hand(struct handed *d, const struct hand *h)
{
    cudaStream_t from = stream_from(d, h), to = stream_to(d, h);
    cudaError_t error = cudaStreamBeginCapture(from, mode_of[h->mode]);

    if (error != cudaSuccess)
        return error;
    error = launch_first(d, h, from);
    if (error == cudaSuccess)
        error = come_after(d, h, from, to);
    if (error == cudaSuccess)
        error = take_step(d, h, 1, to);
    if (error == cudaSuccess)
        error = queue_item(d, h, AFTER_LAST, to);
    if (error == cudaSuccess && to != from)
        error = record_and_await(d->back, to, from);
    return end_and_launch(d, from, error);
}

/* Of the last stream, or of that in which all was captured. */
static cudaError_t wait_for_end(struct handed *d, const struct hand *h)
{
    cudaStream_t last = h->mode ? stream_from(d, h) : stream_to(d, h);
    cudaError_t error;

    switch (h->end) {
    case END_STREAM: return cudaStreamSynchronize(last);
    case END_POLL: return poll(d, query_stream, last, wait_stream);
    case END_EVENT:
        error = cudaEventRecord(d->back, last);
        return error == cudaSuccess ? cudaEventSynchronize(d->back) : error;
    default: return cudaDeviceSynchronize();
    }
}

/* Once the host has waited as drawn, and once all has ended. */
static cudaError_t look_at_end(struct handed *d, const struct hand *h)
{
    cudaError_t error = wait_for_end(d, h);

    if (error == cudaSuccess && h->end != END_DEVICE)
        error = fetch_hand(d);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = fetch_hand(d);
    return error == cudaSuccess ? fetch_again(d) : error;
}

#endif
