/* handed_room.h - what the trials of handed.cu need: streams, events, graphs and cells, and what the cells have to hold in the end. */
#ifndef HANDED_ROOM_H_INCLUDED
#define HANDED_ROOM_H_INCLUDED

#define HOLD_NS 15000u         /* of the slow work, as plan_works() gives it to a work that is alone */
#define AREA (2 * SPAN)        /* words: the cells, and what the last step found in them */
#define SET_FIRST 0x51
#define SET_LAST 0x5A
#define LONG 32768u            /* words before the cells that a long copy or memset takes along */
#define MEMORY (2 * (LONG + AREA) + CELL + SPAN) /* words: two areas with what stands before them, what joined work stores for a copy, zeroes */
#define LAYER_ROOM (3 * CELL)  /* scratch: words that items touch, then room for layers, then the values */
#define VALUES (12 * CELL)
#define SCRATCH (13 * CELL)    /* words after these that nobody compares */
enum { VALUE_OF_LINK, VALUE_OF_JOIN, VALUE_OF_ITEM, VALUE_KEPT, VALUE_WORDS }; /* VALUE_KEPT: stays 0 */
#define BYSTANDERS 36u
#define IDLE_EVENTS 104u

struct pinned {                /* both sides see it */
    struct trial_plan plan[PLACES + 1];
    struct trial_state state[2]; /* of the slow work, and of the joined one */
    uint32_t area[AREA], fetched[AREA], spare[2], values[VALUE_WORDS];
};

struct carry {                 /* what a host function copies */
    const uint32_t *from;
    uint32_t *to;
    unsigned words;
};

struct handed {
    struct ask *ask;
    cudaStream_t stream[2][KINDS], third, loose; /* stream: from, to */
    cudaStream_t leaving, arriving; /* of this trial */
    int greatest;              /* priority */
    cudaEvent_t event[EVENTS], begin, fork, join, back;
    cudaEvent_t fresh;         /* of this trial */
    cudaStream_t bystander[BYSTANDERS]; /* blocking ones that do nothing, made before the others */
    cudaEvent_t idle[IDLE_EVENTS];
    unsigned cluster;          /* blocks, in this trial */
    int eight;                 /* clusters of 8 fit */
    int takes[HINTS];          /* this device takes launches with it */
    cudaEvent_t told, more[MORE]; /* what launches record that nobody awaits; other events that the last stream awaits */
    struct pinned *pinned;
    char *device_of_pinned;
    uint32_t *memory;          /* of the device: MEMORY words */
    uint32_t *by_way;          /* of the host: as many as a long copy takes */
    uint32_t *area[2], *copied; /* as the device sees them: its own cells, the pinned ones; the device's second area */
    void *set_wide, *set_words; /* cuMemsetD16Async, cuMemsetD32Async */
    cudaGraphExec_t node[EVENTS], awaits[EVENTS]; /* that record the event, and that wait for it */
    cudaGraphExec_t graph[2][2][2]; /* of [device, pinned][first, last step][first, second] */
    cudaGraphExec_t empty[2], made; /* empty: of one node that does nothing, of no node. made: of this trial */
    struct carry carry[2];
    uint32_t want[AREA];
    unsigned trial, pins;      /* pins: the cells of this trial are pinned */
    int copies_long;           /* the first step of this trial is a long copy */
    int timed, stale;          /* in this trial */
    int has_values, has_pools;
    uint32_t *kept, *lent, *again; /* of the pool: a block that stays, what the work stores to as well, and what is allocated after its end */
};

static struct kernel_args args_of(struct handed *d, unsigned pins, enum place place)
{
    struct kernel_args args = PDL_ZERO;
    uint32_t *area = d->area[pins];

    args.plan = (const struct trial_plan *)(d->device_of_pinned + offsetof(struct pinned, plan)) + place;
    args.state = (struct trial_state *)(d->device_of_pinned + offsetof(struct pinned, state)) + (place == PLACE_JOINED);
    args.data = place == PLACE_JOINED ? area + CELL : place == PLACE_LAST && d->copies_long ? d->copied : area;
    args.seen = place == PLACE_WORK ? d->lent : place == PLACE_LAST ? area + SPAN : area + 2 * CELL;
    return args;
}

/* ---- opened once ---- */

static int is_urgent(enum kind kind) { return kind == KIND_URGENT || kind == KIND_URGENT_NON_BLOCKING; }

/* One that is not 0, if there are any: the greatest, and then those between. */
static int priority_in_turn(const struct handed *d, unsigned turn)
{
    return d->greatest < 0 ? d->greatest + (int)(turn % (unsigned)-d->greatest) : 0;
}

/* Of the streams that are opened once: at either end one of the two has the greatest. */
static unsigned turn_of(unsigned end, enum kind kind) { return end == (kind == KIND_URGENT_NON_BLOCKING) ? 1 + end : 0; }

static cudaError_t make_stream(const struct handed *d, enum kind kind, unsigned turn, cudaStream_t *stream)
{
    unsigned flags = kind == KIND_NON_BLOCKING || kind == KIND_URGENT_NON_BLOCKING ? cudaStreamNonBlocking : cudaStreamDefault;

    return is_urgent(kind) ? cudaStreamCreateWithPriority(stream, flags, priority_in_turn(d, turn))
                           : cudaStreamCreateWithFlags(stream, flags);
}

struct made_by {               /* a thread that makes the streams of one end */
    struct handed *d;
    unsigned end;
    cudaError_t error;
};

static void make_streams(void *of)
{
    struct made_by *by = (struct made_by *)of;
    cudaStream_t *stream = by->d->stream[by->end];
    unsigned kind;

    by->error = cudaSuccess;
    for (kind = 0; kind < KIND_PER_THREAD && by->error == cudaSuccess; kind++) /* those before it are made */
        by->error = make_stream(by->d, (enum kind)kind, turn_of(by->end, (enum kind)kind), &stream[kind]);
    stream[KIND_PER_THREAD] = cudaStreamPerThread;
    stream[KIND_LEGACY] = cudaStreamLegacy;
}

/* The streams of the last steps are made by another thread of the host. */
static cudaError_t open_streams_of(struct handed *d, unsigned end)
{
    struct made_by by = { d, end, cudaSuccess };

    if (end == 0 || !run_in_thread(make_streams, &by))
        make_streams(&by);
    return by.error;
}

/* Graphs that record the event, and wait for it. Where nodes take no interprocess event, calls do it. */
static cudaError_t open_nodes(struct handed *d, unsigned event)
{
    cudaError_t error = ask_graph_of_one(&d->node[event], NODE_RECORD, d->event[event]);

    if (error == cudaSuccess)
        error = ask_graph_of_one(&d->awaits[event], NODE_WAIT, d->event[event]);
    if (event != EVENT_IPC)
        return error;
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* Interprocess events are not had everywhere: then it is one without timing. */
static cudaError_t make_event(unsigned event, cudaEvent_t *made)
{
    cudaError_t error = cudaEventCreateWithFlags(made, event_flags[event]);

    if (event != EVENT_IPC || error == cudaSuccess)
        return error;
    (void)cudaGetLastError();
    return cudaEventCreateWithFlags(made, cudaEventDisableTiming);
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
        error = make_event(i, &d->event[i]);
        if (error == cudaSuccess)
            error = open_nodes(d, i);
    }
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

/* So many streams and events are there before those that are asked about. */
static cudaError_t open_bystanders(struct handed *d)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < BYSTANDERS && error == cudaSuccess; i++)
        error = cudaStreamCreate(&d->bystander[i]);
    for (i = 0; i < IDLE_EVENTS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&d->idle[i], cudaEventDisableTiming);
    return error;
}

#define CLUSTER_SIZES 11u      /* prime to what else trials are for in turn */
static const unsigned cluster_sizes[CLUSTER_SIZES] = { 8, 4, 2, 8, 3, 4, 8, 5, 2, 6, 7 };

static cudaLaunchAttributeID id_of(enum hint hint)
{
    switch (hint) {
    case HINT_CARVEOUT: return (cudaLaunchAttributeID)14; /* which older toolkits do not name */
    case HINT_MAP: return cudaLaunchAttributeMemSyncDomainMap;
    case HINT_SCHEDULING: return cudaLaunchAttributeClusterSchedulingPolicyPreference;
    case HINT_WINDOW: return cudaLaunchAttributeAccessPolicyWindow;
#if CUDART_VERSION >= 13000
    case HINT_NVLINK: return cudaLaunchAttributeNvlinkUtilCentricScheduling;
#endif
    default: return cudaLaunchAttributeIgnore;
    }
}

/* Devices and older drivers may refuse what is only a hint. */
static void find_hints(struct handed *d)
{
    struct kernel_args args = PDL_ZERO;
    unsigned i;

    for (i = HINT_NONE + 1; i < HINTS; i++) {
        cudaLaunchAttribute hint = hint_of(id_of((enum hint)i));
        d->takes[i] = hint.id != cudaLaunchAttributeIgnore &&
                      launch_one((const void *)SYMBOL(handed_later), &args, 1, d->ask->stream, &hint, 1) == cudaSuccess;
        (void)cudaGetLastError();
    }
}

/* Something stays allocated, so that not all of the pool's memory goes back at each synchronization. */
static cudaError_t open_calls(struct handed *d)
{
    memset(d->pinned->values, 0, sizeof(d->pinned->values));
    d->has_values = values_lack(d->ask->stream) == NULL;
    d->has_pools = pools_lack() == NULL;
    return d->has_pools ? cudaMallocAsync((void **)&d->kept, CELL * sizeof(uint32_t), d->loose) : cudaSuccess;
}

static cudaError_t open_handed(struct handed *d, struct ask *ask)
{
    unsigned i;
    int least;
    cudaError_t error = cudaHostAlloc((void **)&d->pinned, sizeof(*d->pinned), cudaHostAllocMapped);

    d->ask = ask;
    d->eight = clusters_of_eight_fit((const void *)SYMBOL(handed_work), CELL);
    find_hints(d);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&d->device_of_pinned, d->pinned, 0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&d->memory, (MEMORY + SCRATCH) * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&d->by_way, (LONG + SPAN) * sizeof(uint32_t), cudaHostAllocDefault);
    if (error == cudaSuccess)
        error = cudaMemset(d->memory, 0, (MEMORY + SCRATCH) * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = driver_function("cuMemsetD16Async", 3020, &d->set_wide);
    if (error == cudaSuccess)
        error = driver_function("cuMemsetD32Async", 3020, &d->set_words);
    if (error != cudaSuccess)
        return error;
    d->area[0] = d->memory + LONG;
    d->copied = d->area[0] + AREA + LONG;
    d->area[1] = (uint32_t *)(d->device_of_pinned + offsetof(struct pinned, area));
    error = open_bystanders(d);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &d->greatest);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = open_streams_of(d, i);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&d->third, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&d->loose, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = open_calls(d);
    if (error == cudaSuccess)
        error = open_events_of(d);
    if (error == cudaSuccess)
        error = ask_graph_of_one(&d->empty[0], NODE_EMPTY, NULL);
    if (error == cudaSuccess)
        error = ask_graph_of_none(&d->empty[1]);
    for (i = 0; i < 4 && error == cudaSuccess; i++)
        error = open_graphs_of(d, i / 2, i % 2);
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
        destroy_exec(d->awaits[i]);
        destroy_event(d->event[i]);
    }
    destroy_event(d->begin);
    destroy_event(d->fork);
    destroy_event(d->join);
    destroy_event(d->back);
    destroy_event(d->told);
    for (i = 0; i < MORE; i++)
        destroy_event(d->more[i]);
    for (i = 0; i < BYSTANDERS; i++)
        destroy_stream(d->bystander[i]);
    for (i = 0; i < IDLE_EVENTS; i++)
        destroy_event(d->idle[i]);
    destroy_exec(d->empty[0]);
    destroy_exec(d->empty[1]);
    if (d->kept)
        (void)cudaFree(d->kept);
    (void)cudaFree(d->memory);
    (void)cudaFreeHost(d->by_way);
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
    else if (h->last != STEP_NONE)
        memcpy(want + SPAN, want, SPAN * sizeof(*want));
}

/* Gives a stream of this end what was drawn, or takes it back. A device may have no such windows. */
static cudaError_t give(const struct handed *d, unsigned end, enum kind kind, enum give give, int back, cudaStream_t stream)
{
    static const enum cudaSynchronizationPolicy policies[] = { cudaSyncPolicySpin, cudaSyncPolicyYield, cudaSyncPolicyBlockingSync };
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaError_t error;

    switch (give) {
    case GIVE_PRIORITY:
        value.priority = is_urgent(kind) == back ? priority_in_turn(d, back ? turn_of(end, kind) : d->trial) : 0;
        return cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value);
    case GIVE_DOMAIN:
        value.memSyncDomain = back ? cudaLaunchMemSyncDomainDefault : cudaLaunchMemSyncDomainRemote;
        return cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &value);
    case GIVE_POLICY:
        value.syncPolicy = back ? cudaSyncPolicyAuto : policies[d->trial % 3];
        return cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);
    case GIVE_WINDOW:
        value.accessPolicyWindow.base_ptr = d->memory;
        value.accessPolicyWindow.num_bytes = back ? 0 : 4096;
        value.accessPolicyWindow.hitRatio = back ? 0.0f : 1.0f;
        value.accessPolicyWindow.hitProp = back ? cudaAccessPropertyNormal : cudaAccessPropertyStreaming;
        error = cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value);
        (void)cudaGetLastError();
        return error == cudaErrorInvalidValue || error == cudaErrorNotSupported ? cudaSuccess : error;
    default: return cudaSuccess;
    }
}

static cudaStream_t stream_from(const struct handed *d, const struct hand *h) { return h->leaves ? d->leaving : d->stream[0][h->from]; }

static cudaStream_t stream_to(const struct handed *d, const struct hand *h)
{
    return h->link == LINK_SAME ? d->stream[0][h->from] : h->arrives ? d->arriving : d->stream[1][h->to];
}

/* The event is made for this trial, asked for and awaited before it is recorded. */
static cudaError_t make_fresh_event(struct handed *d, const struct hand *h)
{
    cudaError_t error = make_event(h->event, &d->fresh);

    if (error == cudaSuccess && h->asked_fresh)
        error = cudaEventQuery(d->fresh);
    return error == cudaSuccess && h->awaited_fresh ? cudaStreamWaitEvent(d->third, d->fresh, 0) : error;
}

static cudaEvent_t event_of(const struct handed *d, const struct hand *h) { return h->fresh ? d->fresh : d->event[h->event]; }

static cudaError_t prepare_streams(struct handed *d, const struct hand *h)
{
    cudaError_t error = h->leaves ? make_stream(d, h->from, d->trial, &d->leaving) : cudaSuccess;

    if (error == cudaSuccess && h->arrives)
        error = make_stream(d, h->to, d->trial, &d->arriving);
    if (error == cudaSuccess && h->fresh)
        error = make_fresh_event(d, h);
    if (error == cudaSuccess)
        error = give(d, 0, h->from, h->give[0], 0, stream_from(d, h));
    return error == cudaSuccess ? give(d, 1, h->to, h->give[1], 0, stream_to(d, h)) : error;
}

/* Memory that the work stores to as well, if an item frees it. */
static cudaError_t lend(struct handed *d, const struct hand *h)
{
    unsigned i, words = 0;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < STOPS; i++)
        words = h->item[i] == ITEM_FREE ? CELL : words;
    d->lent = d->again = NULL;
    d->pinned->plan[PLACE_WORK].words = words;
    d->pinned->plan[PLACE_JOINED].words = 0;
    if (words)
        error = cudaMallocAsync((void **)&d->lent, CELL * sizeof(uint32_t), d->loose);
    return error == cudaSuccess && words ? cudaStreamSynchronize(d->loose) : error;
}

static cudaError_t prepare_hand(struct handed *d, const struct hand *h)
{
    struct pinned *pinned = d->pinned;
    struct trial_state empty = PDL_ZERO;
    cudaError_t error;
    unsigned i;

    plan_works(pinned->plan, PLACES, 0x4A4D, d->trial, h->joins ? 2 : 1, 0);
    pinned->plan[PLACE_WORK].hold_ns = HOLD_NS;
    pinned->plan[PLACE_FIRST].words = CELL;
    pinned->plan[PLACE_LAST].words = SPAN;
    pinned->state[0] = pinned->state[1] = empty;
    d->pins = is_host(h->first) || is_host(h->last);
    d->cluster = d->eight ? cluster_sizes[d->trial % CLUSTER_SIZES] : 2 + d->trial % 3;
    d->copies_long = h->first == STEP_LONG_COPY;
    d->made = NULL;
    d->timed = d->stale = 0;
    d->stream[0][KIND_LEGACY] = d->stream[1][KIND_LEGACY] = d->trial / TURNS % 2 ? NULL : cudaStreamLegacy; /* both name it */
    error = prepare_streams(d, h);
    if (error == cudaSuccess)
        error = lend(d, h);
    expect_hand(d, h);
    for (i = 0; i < AREA; i++)
        pinned->area[i] = ~words_fresh(pinned->plan[PLACE_WORK].key, i);
    return d->pins || error != cudaSuccess ? error : cudaMemcpy(d->area[0], pinned->area, sizeof(pinned->area), cudaMemcpyHostToDevice);
}

/* By a stream that waits for no other one: only the host has waited. */
static cudaError_t fetch_hand(struct handed *d)
{
    struct pinned *pinned = d->pinned;
    size_t bytes = sizeof(pinned->fetched);
    cudaError_t error = cudaSuccess;

    if (d->pins)
        memcpy(pinned->fetched, pinned->area, bytes);
    else
        error = cudaMemcpyAsync(pinned->fetched, d->area[0], bytes, cudaMemcpyDeviceToHost, d->loose);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(d->loose);
    d->stale |= memcmp(pinned->fetched, d->want, bytes) != 0;
    return error;
}

/* Who had the memory before that was allocated again stores there no more. */
static cudaError_t fetch_again(struct handed *d)
{
    static const uint32_t set = SET_LAST * 0x01010101u;
    uint32_t words[CELL];
    cudaError_t error = d->again ? cudaMemcpy(words, d->again, sizeof(words), cudaMemcpyDeviceToHost) : cudaSuccess;
    unsigned i;

    for (i = 0; i < CELL && d->again; i++)
        d->stale |= words[i] != set;
    return error;
}

static cudaError_t close_hand(struct handed *d, const struct hand *h)
{
    cudaError_t error = h->leaves ? cudaSuccess : give(d, 0, h->from, h->give[0], 1, d->stream[0][h->from]);

    if (d->again && error == cudaSuccess)
        error = cudaFreeAsync(d->again, d->loose);
    destroy_exec(d->made);
    destroy_stream(d->leaving);
    destroy_stream(d->arriving);
    destroy_event(d->fresh);
    d->made = NULL;
    d->leaving = d->arriving = NULL;
    d->fresh = NULL;
    return error == cudaSuccess && !h->arrives ? give(d, 1, h->to, h->give[1], 1, d->stream[1][h->to]) : error;
}

#endif
