/* handed_steps.h - what handed.cu queues: its streams, events and cells, the steps that hand words on, and what links them. */
#ifndef HANDED_STEPS_H_INCLUDED
#define HANDED_STEPS_H_INCLUDED

#define HOLD_NS 15000u         /* of the slow work, as plan_works() gives it to a work that is alone */
#define AREA (2 * SPAN)        /* words: the cells, and what the last step found in them */
#define SET_FIRST 0x51
#define SET_LAST 0x5A
#define LONG 32768u            /* words before the cells that a long copy or memset takes along */
#define POLLS 64u
#define CLUSTER 2u             /* blocks */
#define SHARED_BYTES 12288u    /* of a block of a kernel with shared memory */
#define MEMORY (2 * (LONG + AREA) + CELL + SPAN) /* words: two areas with what stands before them, what joined work stores for a copy, zeroes */

struct pinned {                /* both sides see it */
    struct trial_plan plan[PLACES + 1];
    struct trial_state state[2]; /* of the slow work, and of the joined one */
    uint32_t area[AREA], fetched[AREA];
};

struct carry {                 /* what a host function copies */
    const uint32_t *from;
    uint32_t *to;
    unsigned words;
};

struct handed {
    struct ask *ask;
    cudaStream_t stream[2][KINDS], third, loose; /* stream: from, to */
    cudaEvent_t event[EVENTS], begin, fork, join, back;
    cudaEvent_t told, more[MORE]; /* what launches record that nobody awaits; other events that the last stream awaits */
    struct pinned *pinned;
    char *device_of_pinned;
    uint32_t *memory;          /* of the device: MEMORY words */
    uint32_t *area[2], *copied; /* as the device sees them: its own cells, the pinned ones; the device's second area */
    void *set_wide, *set_words; /* cuMemsetD16Async, cuMemsetD32Async */
    cudaGraphExec_t node[EVENTS], graph[2][2][2]; /* node: records the event. graph: of [device, pinned][first, last step][first, second] */
    cudaGraphExec_t empty, made; /* empty: of one node that does nothing. made: of this trial */
    struct carry carry[2];
    uint32_t want[AREA];
    unsigned trial, pins;      /* pins: the cells of this trial are pinned */
    int copies_long;           /* the first step of this trial is a long copy */
    int timed;                 /* in this trial */
};

static struct kernel_args args_of(struct handed *d, unsigned pins, enum place place)
{
    struct kernel_args args = PDL_ZERO;
    uint32_t *area = d->area[pins];

    args.plan = (const struct trial_plan *)(d->device_of_pinned + offsetof(struct pinned, plan)) + place;
    args.state = (struct trial_state *)(d->device_of_pinned + offsetof(struct pinned, state)) + (place == PLACE_JOINED);
    args.data = place == PLACE_JOINED ? area + CELL : place == PLACE_LAST && d->copies_long ? d->copied : area;
    args.seen = place == PLACE_LAST ? area + SPAN : area + 2 * CELL;
    return args;
}

/* ---- opened once ---- */

static cudaError_t open_streams_of(struct handed *d, unsigned end, int greatest)
{
    cudaStream_t *stream = d->stream[end];
    cudaError_t error = cudaStreamCreateWithFlags(&stream[KIND_NON_BLOCKING], cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&stream[KIND_URGENT_NON_BLOCKING], cudaStreamNonBlocking, greatest);
    stream[KIND_PER_THREAD] = cudaStreamPerThread;
    stream[KIND_LEGACY] = cudaStreamLegacy;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stream[KIND_BLOCKING], cudaStreamDefault);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&stream[KIND_URGENT], cudaStreamDefault, greatest) : error;
}

static cudaError_t open_node(struct handed *d, unsigned event)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddEventRecordNode(&node, graph, NULL, 0, d->event[event]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&d->node[event], graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t open_events_of(struct handed *d)
{
    cudaError_t error = cudaEventCreateWithFlags(&d->begin, cudaEventDefault);
    cudaEvent_t *plain[] = { &d->fork, &d->join, &d->back, &d->told };
    unsigned i;

    for (i = 0; i < MORE && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&d->more[i], cudaEventDisableTiming);
    for (i = 0; i < 4 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(plain[i], cudaEventDisableTiming);
    for (i = 0; i < EVENTS && error == cudaSuccess; i++) {
        error = cudaEventCreateWithFlags(&d->event[i], event_flags[i]);
        if (i == EVENT_IPC && error != cudaSuccess) { /* not everywhere */
            (void)cudaGetLastError();
            error = cudaEventCreateWithFlags(&d->event[i], cudaEventDisableTiming);
        }
        if (error == cudaSuccess && i != EVENT_IPC)
            error = open_node(d, i);
    }
    return error;
}

static cudaError_t open_empty(struct handed *d)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddEmptyNode(&node, graph, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&d->empty, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Two executable graphs of one graph, of which the second is uploaded. */
static cudaError_t open_graphs_of(struct handed *d, unsigned pins, unsigned end)
{
    struct kernel_args args = args_of(d, pins, end ? PLACE_LAST : PLACE_FIRST);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = ask_add_kernel(&node, graph, (const void *)SYMBOL(handed_step), &args, CELL);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&d->graph[pins][end][0], graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&d->graph[pins][end][1], graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphUpload(d->graph[pins][end][1], d->loose);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t open_handed(struct handed *d, struct ask *ask)
{
    int least = 0, greatest = 0;
    cudaError_t error = cudaHostAlloc((void **)&d->pinned, sizeof(*d->pinned), cudaHostAllocMapped);

    d->ask = ask;
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&d->device_of_pinned, d->pinned, 0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&d->memory, MEMORY * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaMemset(d->memory, 0, MEMORY * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = driver_function("cuMemsetD16Async", 3020, &d->set_wide);
    if (error == cudaSuccess)
        error = driver_function("cuMemsetD32Async", 3020, &d->set_words);
    if (error != cudaSuccess)
        return error;
    d->area[0] = d->memory + LONG;
    d->copied = d->area[0] + AREA + LONG;
    d->area[1] = (uint32_t *)(d->device_of_pinned + offsetof(struct pinned, area));
    error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error == cudaSuccess)
        error = open_streams_of(d, 0, greatest);
    if (error == cudaSuccess)
        error = open_streams_of(d, 1, greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&d->third, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&d->loose, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = open_events_of(d);
    if (error == cudaSuccess)
        error = open_empty(d);
    for (least = 0; least < 4 && error == cudaSuccess; least++)
        error = open_graphs_of(d, (unsigned)least / 2, (unsigned)least % 2);
    return error;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        (void)cudaEventDestroy(event);
}

static void destroy_exec(cudaGraphExec_t exec)
{
    if (exec)
        (void)cudaGraphExecDestroy(exec);
}

static void destroy_stream(cudaStream_t stream)
{
    if (stream)
        (void)cudaStreamDestroy(stream);
}

static void close_handed(struct handed *d)
{
    unsigned i;

    (void)cudaDeviceSynchronize();
    for (i = 0; i < 2 * KIND_PER_THREAD; i++) /* those before it were made */
        destroy_stream(d->stream[i / KIND_PER_THREAD][i % KIND_PER_THREAD]);
    destroy_stream(d->third);
    destroy_stream(d->loose);
    for (i = 0; i < 8; i++)
        destroy_exec(d->graph[i / 4][i / 2 % 2][i % 2]);
    for (i = 0; i < EVENTS; i++) {
        destroy_exec(d->node[i]);
        destroy_event(d->event[i]);
    }
    destroy_event(d->begin);
    destroy_event(d->fork);
    destroy_event(d->join);
    destroy_event(d->back);
    destroy_event(d->told);
    for (i = 0; i < MORE; i++)
        destroy_event(d->more[i]);
    destroy_exec(d->empty);
    (void)cudaFree(d->memory);
    (void)cudaFreeHost(d->pinned);
    (void)cudaGetLastError();
}

/* ---- what is expected ---- */

static void fill_bytes(uint32_t *words, int byte, unsigned count) { memset(words, byte, count * sizeof(*words)); }

/* Until it is stored to, a word is what nobody stores. */
static void expect_hand(struct handed *d, const struct hand *h)
{
    const struct trial_plan *plan = d->pinned->plan;
    uint32_t *want = d->want;
    unsigned i;

    for (i = 0; i < AREA; i++)
        want[i] = ~words_fresh(plan[PLACE_WORK].key, i);
    for (i = 0; i < CELL; i++) {
        want[i] = words_fresh(plan[PLACE_WORK].key, i);
        want[CELL + i] = h->joins ? words_fresh(plan[PLACE_JOINED].key, i) : want[CELL + i];
        if (h->first == STEP_EARLY)
            want[2 * CELL + i] = words_fresh(plan[PLACE_FIRST].key, i);
    }
    if (is_set(h->first))
        fill_bytes(want, h->first == STEP_REPLACE ? 0 : SET_FIRST, CELL);
    else if (h->first != STEP_NONE && h->first != STEP_EARLY && h->first != STEP_LONG_COPY)
        memcpy(want + 2 * CELL, want, CELL * sizeof(*want));
    if (is_set(h->last))
        fill_bytes(want, h->last == STEP_REPLACE ? 0 : SET_LAST, SPAN);
    else
        memcpy(want + SPAN, want, SPAN * sizeof(*want));
}

static cudaError_t prepare_hand(struct handed *d, const struct hand *h)
{
    struct pinned *pinned = d->pinned;
    struct trial_state empty = PDL_ZERO;
    unsigned i;

    plan_works(pinned->plan, PLACES, 0x4A4D, d->trial, h->joins ? 2 : 1, 0);
    pinned->plan[PLACE_WORK].hold_ns = HOLD_NS;
    pinned->plan[PLACE_FIRST].words = CELL;
    pinned->plan[PLACE_LAST].words = SPAN;
    pinned->state[0] = pinned->state[1] = empty;
    d->pins = h->first == STEP_HOST || h->last == STEP_HOST;
    d->copies_long = h->first == STEP_LONG_COPY;
    d->made = NULL;
    d->timed = 0;
    expect_hand(d, h);
    for (i = 0; i < AREA; i++)
        pinned->area[i] = ~words_fresh(pinned->plan[PLACE_WORK].key, i);
    return d->pins ? cudaSuccess : cudaMemcpy(d->area[0], pinned->area, sizeof(pinned->area), cudaMemcpyHostToDevice);
}

static cudaError_t fetch_hand(struct handed *d)
{
    struct pinned *pinned = d->pinned;

    if (!d->pins)
        return cudaMemcpy(pinned->fetched, d->area[0], sizeof(pinned->fetched), cudaMemcpyDeviceToHost);
    memcpy(pinned->fetched, pinned->area, sizeof(pinned->fetched));
    return cudaSuccess;
}

static int hand_is_stale(const struct handed *d) { return memcmp(d->pinned->fetched, d->want, sizeof(d->want)) != 0; }

static void close_hand(struct handed *d)
{
    destroy_exec(d->made);
    d->made = NULL;
}

/* ---- steps ---- */

static void CUDART_CB carry_on_host(void *opaque)
{
    const struct carry *carry = (const struct carry *)opaque;

    memcpy(carry->to, carry->from, carry->words * sizeof(uint32_t));
}

static cudaError_t step_host(struct handed *d, unsigned end, cudaStream_t stream)
{
    struct carry *carry = &d->carry[end];

    carry->from = d->pinned->area;
    carry->to = d->pinned->area + (end ? SPAN : 2 * CELL);
    carry->words = end ? SPAN : CELL;
    return cudaLaunchHostFunc(stream, carry_on_host, carry);
}

static cudaError_t copy_words(uint32_t *to, const uint32_t *from, unsigned words, int rows, cudaStream_t stream)
{
    size_t row = CELL * sizeof(uint32_t) / 4;

    if (rows)
        return cudaMemcpy2DAsync(to, row, from, row, row, words * sizeof(uint32_t) / row, cudaMemcpyDefault, stream);
    return cudaMemcpyAsync(to, from, words * sizeof(uint32_t), cudaMemcpyDefault, stream);
}

/* From host to host the call itself would wait, so pinned words go by way of the device. */
static cudaError_t step_copy(struct handed *d, unsigned end, int rows, cudaStream_t stream)
{
    uint32_t *cells = d->pins ? d->pinned->area : d->area[0], *to = cells + (end ? SPAN : 2 * CELL);
    const uint32_t *from = end && d->copies_long ? d->copied : cells;
    unsigned words = end ? SPAN : CELL;
    cudaError_t error;

    if (!d->pins)
        return copy_words(to, from, words, rows, stream);
    error = copy_words(d->copied, from, words, rows, stream);
    return error == cudaSuccess ? copy_words(to, d->copied, words, rows, stream) : error;
}

/* All cells, and much before them, to the second area; as the last step back to what it is to find. */
static cudaError_t step_long_copy(struct handed *d, unsigned end, cudaStream_t stream)
{
    const uint32_t *from = d->area[0] - LONG;
    cudaError_t error = cudaSuccess;

    if (!end || !d->copies_long)
        error = copy_words(d->copied - LONG, from, LONG + SPAN, 0, stream);
    return error == cudaSuccess && end ? copy_words(d->area[0] + SPAN, d->copied, SPAN, 0, stream) : error;
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

static int is_clustered(enum dress dress) { return dress == DRESS_CLUSTER || dress == DRESS_COOPERATIVE_CLUSTER; }

/* The attributes of a dress; how many. */
static unsigned fill_dress(const struct handed *d, enum dress dress, cudaLaunchAttribute *attribute)
{
    unsigned count = 0;
    int least, greatest = 0;

    if (is_clustered(dress)) {
        attribute[count].id = cudaLaunchAttributeClusterDimension;
        attribute[count].val.clusterDim.x = CLUSTER;
        attribute[count].val.clusterDim.y = attribute[count].val.clusterDim.z = 1;
        count++;
    }
    if (is_cooperative(dress)) {
        attribute[count].id = cudaLaunchAttributeCooperative;
        attribute[count++].val.cooperative = 1;
    } else if (dress == DRESS_URGENT) {
        (void)cudaDeviceGetStreamPriorityRange(&least, &greatest);
        attribute[count].id = cudaLaunchAttributePriority;
        attribute[count++].val.priority = greatest;
    } else if (dress == DRESS_DOMAIN) {
        attribute[count].id = cudaLaunchAttributeMemSyncDomain;
        attribute[count++].val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    } else if (dress == DRESS_EVENT) {
        attribute[count].id = cudaLaunchAttributeProgrammaticEvent;
        attribute[count++].val.programmaticEvent.event = d->told;
    }
    return count;
}

/* This kernel as its place is dressed, with one attribute more or none. The blocks of a cluster do the same. */
static cudaError_t launch_dressed(const struct handed *d, const void *function, const struct kernel_args *args, enum dress dress, unsigned blocks,
                                  unsigned threads, cudaStream_t stream, const cudaLaunchAttribute *more)
{
    cudaLaunchAttribute attribute[3] = PDL_ZERO;
    size_t shared_bytes = dress == DRESS_SHARED ? SHARED_BYTES : 0;
    unsigned count = fill_dress(d, dress, attribute);

    blocks = is_clustered(dress) ? CLUSTER : blocks;
    if (more)
        attribute[count++] = *more;
    return launch_sized(function, args, blocks, threads, shared_bytes, stream, attribute, count);
}

static cudaError_t step_kernel(struct handed *d, const struct hand *h, unsigned end, cudaStream_t stream)
{
    enum step step = end ? h->last : h->first;
    struct kernel_args args = args_of(d, d->pins, end ? PLACE_LAST : PLACE_FIRST);
    const void *function = step == STEP_LARGE     ? (const void *)SYMBOL(handed_large)
                           : step == STEP_EARLY   ? (const void *)SYMBOL(handed_early)
                           : step == STEP_FENCED  ? (const void *)SYMBOL(handed_fenced)
                           : step == STEP_WAITING ? (const void *)SYMBOL(handed_waiting)
                           : step == STEP_LARGE_WAITING ? (const void *)SYMBOL(handed_large_waiting)
                                                  : (const void *)SYMBOL(handed_step);
    cudaLaunchAttribute attribute = serialization(1);
    unsigned blocks = is_large(step) ? LARGE_BLOCKS : 1, threads = is_large(step) ? 1 : CELL;
    int attributed = step == STEP_EARLY || step == STEP_FENCED || (waits(step) && h->first != STEP_FENCED);

    if (step == STEP_FENCED) {
        attribute.id = cudaLaunchAttributeProgrammaticEvent;
        attribute.val.programmaticEvent.event = d->event[h->event];
        attribute.val.programmaticEvent.flags = attribute.val.programmaticEvent.triggerAtBlockStart = 0;
    }
    return launch_dressed(d, function, &args, h->dress[end ? PLACE_LAST : PLACE_FIRST], blocks, threads, stream, attributed ? &attribute : NULL);
}

/* end: 0 for the first step, 1 for the last one. */
static cudaError_t take_step(struct handed *d, const struct hand *h, unsigned end, cudaStream_t stream)
{
    enum step step = end ? h->last : h->first;

    switch (step) {
    case STEP_NONE: return cudaSuccess;
    case STEP_COPY: return step_copy(d, end, 0, stream);
    case STEP_ROWS: return step_copy(d, end, 1, stream);
    case STEP_LONG_COPY: return step_long_copy(d, end, stream);
    case STEP_WIDE_SET: return step_wide_set(d, end, stream);
    case STEP_WORD_SET: return step_word_set(d, end, stream);
    case STEP_REPLACE:
        return copy_words(d->pins ? d->pinned->area : d->area[0], d->memory + MEMORY - SPAN, end ? SPAN : CELL, 0, stream);
    case STEP_SET: return cudaMemsetAsync(d->area[d->pins], end ? SET_LAST : SET_FIRST, (end ? SPAN : CELL) * sizeof(uint32_t), stream);
    case STEP_SET_ROWS: return cudaMemset2DAsync(d->area[d->pins], 8, end ? SET_LAST : SET_FIRST, 8, (end ? SPAN : CELL) / 2, stream);
    case STEP_LONG_SET:
        return cudaMemsetAsync(d->area[0] - LONG, end ? SET_LAST : SET_FIRST, (LONG + (end ? SPAN : CELL)) * sizeof(uint32_t), stream);
    case STEP_HOST: return step_host(d, end, stream);
    case STEP_GRAPH: return cudaGraphLaunch(d->graph[d->pins][end][0], stream);
    case STEP_SECOND_GRAPH: return cudaGraphLaunch(d->graph[d->pins][end][1], stream);
    default: return step_kernel(d, h, end, stream);
    }
}

/* ---- links ---- */

static cudaError_t record_and_await(cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);

    return error == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : error;
}

/* Work of the third stream, and the copy that may hand it on. */
static cudaError_t launch_joined(struct handed *d, const struct hand *h)
{
    struct kernel_args work = args_of(d, d->pins, PLACE_JOINED);
    uint32_t *cell = (d->pins ? d->pinned->area : d->area[0]) + CELL;
    cudaError_t error;

    if (h->joins == JOINS_COPY)
        work.data = d->memory + MEMORY - SPAN - CELL;
    error = launch_dressed(d, (const void *)SYMBOL(handed_work), &work, h->dress[PLACE_JOINED], 1, CELL, d->third, NULL);
    return error == cudaSuccess && h->joins == JOINS_COPY ? copy_words(cell, work.data, CELL, 0, d->third) : error;
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
        error = launch_dressed(d, (const void *)SYMBOL(handed_work), &work, h->dress[PLACE_WORK], 1, CELL, stream, NULL);
    if (error == cudaSuccess && !h->more_first)
        error = record_more(d, h, stream);
    if (error == cudaSuccess && h->joins)
        error = launch_joined(d, h);
    if (error == cudaSuccess && h->joins)
        error = record_and_await(d->join, d->third, stream);
    return error == cudaSuccess ? take_step(d, h, 0, stream) : error;
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
        error = cudaEventRecordWithFlags(d->event[h->event], stream, cudaEventRecordExternal);
    return end_and_launch(d, stream, error);
}

static cudaError_t record_as_drawn(struct handed *d, const struct hand *h, cudaStream_t stream)
{
    switch (h->recorder) {
    case BY_CALL: return cudaEventRecord(d->event[h->event], stream);
    case BY_FLAGS_CALL: return cudaEventRecordWithFlags(d->event[h->event], stream, cudaEventRecordDefault);
    case BY_NODE: return cudaGraphLaunch(d->node[h->event], stream);
    default: return cudaSuccess; /* it is recorded by then */
    }
}

/* As often as patience lasts; then the host waits. */
static cudaError_t poll(cudaError_t (*query)(void *of), void *of, cudaError_t (*wait)(void *of))
{
    cudaError_t error = cudaErrorNotReady;
    unsigned i;

    for (i = 0; i < POLLS && error == cudaErrorNotReady; i++)
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

static cudaError_t come_after(struct handed *d, const struct hand *h, cudaStream_t from, cudaStream_t to)
{
    cudaEvent_t event = d->event[h->event];
    unsigned i;
    cudaError_t error = has_event(h) ? record_as_drawn(d, h, from) : cudaSuccess;

    if (error == cudaSuccess && h->asks)
        error = ask_for(event);
    if (error == cudaSuccess && h->behind_graph)
        error = cudaGraphLaunch(d->empty, to);
    for (i = 0; i < h->more && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(to, d->more[i], 0);
    if (error != cudaSuccess)
        return error;
    switch (h->link) {
    case LINK_EVENT: return cudaStreamWaitEvent(to, event, 0);
    case LINK_EVENT_SYNC: return cudaEventSynchronize(event);
    case LINK_EVENT_POLL: return poll(query_event, event, wait_event);
    case LINK_STREAM_SYNC: return cudaStreamSynchronize(from);
    case LINK_STREAM_POLL: return poll(query_stream, from, wait_stream);
    default: return cudaSuccess;
    }
}

static cudaStream_t stream_to(const struct handed *d, const struct hand *h)
{
    return h->link == LINK_SAME ? d->stream[0][h->from] : d->stream[1][h->to];
}

#ifdef MUTANT_otherstream
#define LAST_IN(d, stream) ((void)(stream), (d)->loose)
#else
#define LAST_IN(d, stream) (stream)
#endif

static cudaError_t launch_hand(struct handed *d, const struct hand *h)
{
    cudaStream_t from = d->stream[0][h->from], to = stream_to(d, h);
    int external = h->recorder == BY_EXTERNAL && has_event(h);
    cudaError_t error = cudaSuccess;

    d->timed = has_event(h) && has_timing(h->event);
    if (d->timed)
        error = cudaEventRecord(d->begin, from);
    if (error == cudaSuccess)
        error = external ? first_and_external(d, h, from) : launch_first(d, h, from);
    if (error == cudaSuccess)
        error = come_after(d, h, from, to);
    return error == cudaSuccess ? take_step(d, h, 1, LAST_IN(d, to)) : error;
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
    cudaStream_t from = d->stream[0][h->from], to = stream_to(d, h);
    cudaError_t error = cudaStreamBeginCapture(from, mode_of[h->mode]);

    if (error != cudaSuccess)
        return error;
    error = launch_first(d, h, from);
    if (error == cudaSuccess)
        error = come_after(d, h, from, to);
    if (error == cudaSuccess)
        error = take_step(d, h, 1, to);
    if (error == cudaSuccess && to != from)
        error = record_and_await(d->back, to, from);
    return end_and_launch(d, from, error);
}

#endif
