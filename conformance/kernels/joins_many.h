/* joins_many.h - the pairs of joins.cu in which the host waits for the whole device, and in which there are many streams, events or
 * graphs. */
#ifndef JOINS_MANY_H_INCLUDED
#define JOINS_MANY_H_INCLUDED

/* ---- the host waits for the device ---- */

#ifdef MUTANT_otherstream
#define WAITS_FOR_DEVICE(joins) cudaStreamSynchronize((joins)->loose)
#else
#define WAITS_FOR_DEVICE(joins) cudaDeviceSynchronize()
#endif

static cudaError_t end_of(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error;

    prepare(joins, 1, 0);
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = WAITS_FOR_DEVICE(joins);
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    return error;
}

static cudaError_t end_stream(struct joins *joins) { return end_of(joins, joins->stream[joins->trial % PLACES]); }
static cudaError_t end_per_thread(struct joins *joins) { return end_of(joins, cudaStreamPerThread); }
static cudaError_t end_legacy(struct joins *joins) { return end_of(joins, cudaStreamLegacy); }

static cudaError_t end_urgent(struct joins *joins)
{
    cudaStream_t urgent;
    int least, greatest;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest);
    if (error != cudaSuccess)
        return error;
    error = end_of(joins, urgent);
    (void)cudaStreamDestroy(urgent);
    return error;
}

/* However the host is to wait for it. */
static cudaError_t end_by_policy(struct joins *joins)
{
    static const int policies[] = { cudaSyncPolicyBlockingSync, cudaSyncPolicyYield, cudaSyncPolicySpin };
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (error != cudaSuccess)
        return error;
    prepare(joins, 1, 0);
    value.syncPolicy = (enum cudaSynchronizationPolicy)policies[joins->trial / 7 % 3];
    error = cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(FOLLOWS_IN(joins, stream));
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    (void)cudaStreamDestroy(stream);
    return error;
}

/* Its work goes on. In every other round another host thread destroys it than the one that queued the work. */
static cudaError_t leave(const struct joins *joins, cudaStream_t stream)
{
    return joins->round % 2 ? destroy_stream_by_other(stream) : cudaStreamDestroy(stream);
}

static cudaError_t end_destroyed(struct joins *joins)
{
    cudaStream_t gone;
    cudaError_t error = cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = work(joins, 0, gone);
    if (error == cudaSuccess)
        error = leave(joins, gone);
    if (error == cudaSuccess)
        error = WAITS_FOR_DEVICE(joins);
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    return error;
}

static void CUDART_CB look(void *opaque);
static void CUDART_CB look_back(cudaStream_t stream, cudaError_t status, void *opaque);
static cudaError_t follow_by_graph(struct joins *joins, cudaStream_t stream);

enum last_kind { LAST_COPY, LAST_ROWS, LAST_SET, LAST_LOOKS, LAST_GRAPH, LAST_KINDS };
#define SEEN_BYTE 0x5Au

/* A host function of a stream that is destroyed before its turn is called all the same, after the work. */
static cudaError_t end_host_destroyed(struct joins *joins)
{
    cudaStream_t gone;
    cudaError_t error = cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);

    prepare(joins, 1, 0);
    joins->pinned->host_is_stale = 1; /* until it looked */
    if (error == cudaSuccess)
        error = work(joins, 0, gone);
    if (error == cudaSuccess)
        error = cudaLaunchHostFunc(FOLLOWS_IN(joins, gone), look, joins->pinned);
    if (error == cudaSuccess)
        error = leave(joins, gone);
    return error == cudaSuccess ? WAITS_FOR_DEVICE(joins) : error;
}

/* A copy out of the work's words, one of rows of them, a memset of the words that are seen, a callback that looks, a graph. */
static cudaError_t queue_last(struct joins *joins, unsigned last, cudaStream_t stream)
{
    const struct kernel_args *reads = &joins->follower[0];
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);

    switch (last) {
    case LAST_COPY: return cudaMemcpyAsync(reads->seen, joins->aside, bytes, cudaMemcpyDeviceToHost, stream);
    case LAST_ROWS: return cudaMemcpy2DAsync(reads->seen, 8, joins->aside, 8, 8, bytes / 8, cudaMemcpyDeviceToHost, stream);
    case LAST_SET: return cudaMemsetAsync(reads->seen, SEEN_BYTE, bytes, stream);
    case LAST_LOOKS: return cudaStreamAddCallback(stream, look_back, joins->pinned, 0);
    default: return follow_by_graph(joins, stream);
    }
}

/* The last work of a stream that is destroyed before its turn, of each kind. What is copied out the work stores in the device's memory:
 * within the host's the call would wait. */
static cudaError_t end_last_destroyed(struct joins *joins)
{
    unsigned last = joins->round % LAST_KINDS, i;
    struct kernel_args works = joins->work[0];
    struct pinned *pinned = joins->pinned;
    cudaStream_t gone;
    cudaError_t error = open_aside(joins);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);
    works.data = last <= LAST_ROWS ? joins->aside : works.data;
    prepare(joins, 1, last == LAST_SET || last == LAST_LOOKS ? 0 : 1);
    pinned->host_is_stale = last == LAST_LOOKS; /* until it looked */
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &works, PLACE_WORDS, gone, NULL, 0);
    if (error == cudaSuccess)
        error = queue_last(joins, last, FOLLOWS_IN(joins, gone));
    if (error == cudaSuccess)
        error = cudaStreamDestroy(gone);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; last == LAST_SET && i < PLACE_WORDS; i++)
        pinned->host_is_stale |= pinned->seen[0][i] != SEEN_BYTE * 0x1010101u;
    return error;
}

static cudaError_t end_graph(struct joins *joins)
{
    cudaGraphNode_t node;
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, joins->stream[0]);
    if (error == cudaSuccess)
        error = WAITS_FOR_DEVICE(joins);
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_ended(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale once the device has ended, in a stream", end_stream },
        { "stale once the device has ended, in the per-thread default stream", end_per_thread },
        { "stale once the device has ended, in the legacy stream", end_legacy },
        { "stale once the device has ended, in a stream of the highest priority", end_urgent },
        { "stale once the device has ended, in a stream that was destroyed", end_destroyed },
        { "stale once the device has ended, in a graph", end_graph },
        { "stale in a host function whose stream was destroyed", end_host_destroyed },
        { "stale in the last work of a stream that was destroyed", end_last_destroyed },
        { "stale once a stream has ended that is waited for by each policy", end_by_policy },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

/* ---- many of them at once ---- */

#define MANY_WAYS 10u
#define MANY_HOSTS 1100u       /* in one round of four; in the others a third of them */
#define MANY_STREAMS 136u      /* in one round of four; in the others half of them */
#define MANY_EVENTS 4160u      /* in one round of four; in the others a quarter of them */
#define MANY_RECORDERS 520u
#define MANY_WAITS 1100u       /* in one round of four; in the others two fifths of them */
#define MANY_FOLLOWERS 7u      /* ways to come after them */
#define MANY_OVERLAPPING 1u    /* the one with attribute 6 */
#define MANY_RECORDS 260u
#define WAITS_HOLD 2000000u    /* nanoseconds: longer than they take to be queued */
#define MANY_EXECS 70u
#define MANY_LAUNCHES 130u
#define LAUNCHES_BEFORE 130u   /* of the same, which nobody looks at: with them more than a byte counts */
#define MANY_ATTRIBUTES 17u
#define LONG_HOLD 4000000u     /* nanoseconds: more than anybody may wait who gives up */

static cudaError_t await_in_last(struct joins *joins, const cudaStream_t *stream, unsigned count)
{
    cudaEvent_t event = NULL;
    cudaError_t error = work_and_record(joins, PLACES, &event);
    unsigned i;

    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(stream[count - 1 - i], event, 0);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = follow(joins, i, stream[count - 1 - i]);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* The followers are in the last streams of many; or, in every other round, in all of them. */
static cudaError_t many_streams(struct joins *joins)
{
    cudaStream_t stream[MANY_STREAMS];
    cudaError_t error = cudaSuccess;
    unsigned most = joins->round % 4 == 1 ? MANY_STREAMS : MANY_STREAMS / 2, made = 0, i;

    for (; made < most && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stream[made], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = joins->round % 2 ? await_in_all(joins, stream, made, joins->round % 4 == 3) : await_in_last(joins, stream, made);
    for (i = 0; i < made; i++)
        (void)cudaStreamDestroy(stream[i]);
    return error;
}

/* The work is in the first stream; each stream hands it on to the next one by an event of its own; many events are there. */
static cudaError_t many_events(struct joins *joins)
{
    static cudaEvent_t event[MANY_EVENTS];
    cudaError_t error = cudaSuccess;
    unsigned most = joins->round % 4 == 1 ? MANY_EVENTS : MANY_EVENTS / 4, made = 0, i;

    prepare(joins, 1, PLACES);
    for (; made < most && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[made], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    for (i = 0; i + 1 < PLACES && error == cudaSuccess; i++) {
        error = record_and_await(event[made - 1 - i], joins->stream[i], joins->stream[i + 1]);
    }
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = follow(joins, i, joins->stream[i]);
    for (i = 0; i < made; i++)
        (void)cudaEventDestroy(event[i]);
    return error;
}

/* A silent launch with an event of its own, after its trigger or its block starts. */
static cudaError_t launch_recorder(struct joins *joins, cudaEvent_t *event, unsigned nth)
{
    cudaLaunchAttribute attribute;
    cudaError_t error = cudaEventCreateWithFlags(event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    attribute = recording_at(*event, nth % 2 != 0);
    return launch_one((const void *)SYMBOL(joins_silent), &joins->work[1], 1, joins->stream[1], &attribute, 1);
}

/* Many launches with events of their own stand after the second work when the first work is launched with its event. The follower waits for
 * that event and for the last one of those launches. */
static cudaError_t many_recorders(struct joins *joins)
{
    cudaEvent_t event[MANY_RECORDERS + 1] = { 0 };
    cudaLaunchAttribute attribute;
    cudaError_t error;
    unsigned i;

    prepare(joins, 2, 1);
    error = work(joins, 1, joins->stream[1]);
    for (i = 1; i <= MANY_RECORDERS && error == cudaSuccess; i++)
        error = launch_recorder(joins, &event[i], i + joins->round);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming);
    if (error == cudaSuccess) {
        attribute = recording(event[0]);
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &attribute, 1);
    }
    for (i = 0; i <= MANY_RECORDERS && error == cudaSuccess; i += MANY_RECORDERS)
        error = cudaStreamWaitEvent(joins->stream[2], event[i], 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[2]),
                           NULL, 0);
    for (i = 0; i <= MANY_RECORDERS; i++)
        if (event[i])
            (void)cudaEventDestroy(event[i]);
    return error;
}

enum knows { KNOWS_STREAM, KNOWS_HOST, KNOWS_NONE, KNOWERS }; /* who has met a record of the event before */

/* The first record: awaited by the stream that will wait for the last one, or found complete by the host. */
static cudaError_t meet_record(struct joins *joins, cudaEvent_t event, enum knows knows)
{
    cudaError_t error;

    if (knows == KNOWS_NONE)
        return cudaSuccess;
    if (knows == KNOWS_STREAM)
        return record_and_await(event, joins->stream[0], joins->stream[1]);
    error = cudaEventRecord(event, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    return error == cudaSuccess ? cudaEventQuery(event) : error;
}

/* The words are there when the host is told that the event is complete. */
static cudaError_t find_by_event(struct joins *joins, cudaEvent_t event)
{
    cudaError_t state;

    do
        state = cudaEventQuery(event);
    while (state == cudaErrorNotReady);
    (void)cudaGetLastError();
    joins->pinned->host_is_stale = differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    return state;
}

/* One event that is recorded again and again, the last time after the work. For who has met the first record, the last one is the 256th after it:
 * none that counts records in a byte takes it for the one that it knows. In every other round each launch of a row records it. */
static cudaError_t many_records(struct joins *joins)
{
    enum knows knows = (enum knows)(joins->round / 2 % KNOWERS);
    unsigned records = knows == KNOWS_NONE ? MANY_RECORDS : 255, i;
    cudaEvent_t event = NULL;
    cudaError_t error;

    if (joins->round % 2)
        return many_rerecords(joins, joins->round % 4 == 3);
    error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    prepare(joins, 1, knows == KNOWS_HOST ? 0 : 1);
    if (error == cudaSuccess)
        error = meet_record(joins, event, knows);
    for (i = 0; i < records && error == cudaSuccess; i++)
        error = cudaEventRecord(event, joins->stream[0]);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = knows == KNOWS_HOST ? find_by_event(joins, event) : follow(joins, 0, joins->stream[1]);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* Of the first work, and the last one of the second work. */
static cudaError_t record_for_waits(struct joins *joins, cudaEvent_t *event, unsigned count)
{
    cudaError_t error = work(joins, 0, joins->stream[0]);
    unsigned i;

    for (i = 0; i + 1 < count && error == cudaSuccess; i++)
        error = cudaEventRecord(event[i], joins->stream[0]);
    if (error == cudaSuccess)
        error = work(joins, 1, joins->stream[1]);
    return error == cudaSuccess ? cudaEventRecord(event[count - 1], joins->stream[1]) : error;
}

static cudaError_t follow_many(struct joins *joins, unsigned way, cudaStream_t stream);

/* A stream is told to wait for many events, in this order or the other one. It holds nothing, or a kernel that has triggered where what comes next
 * has attribute 6. */
static cudaError_t many_waits(struct joins *joins)
{
    static cudaEvent_t event[MANY_WAITS];
    cudaError_t error = cudaSuccess;
    unsigned most = joins->round % 4 == 1 ? MANY_WAITS : MANY_WAITS * 2 / 5, made = 0, i;
    unsigned way = joins->round % MANY_FOLLOWERS, back = (joins->round + joins->round / MANY_FOLLOWERS) % 2;

    prepare(joins, 2, 1);
    joins->pinned->plan[0].hold_ns = joins->pinned->plan[1].hold_ns = WAITS_HOLD;
    joins->pinned->plan[joins->round % 4 == 2].hold_ns = WAITS_HOLD / 4 * 3; /* one ends sooner, the second work mostly last */
    for (; made < most && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[made], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = record_for_waits(joins, event, most);
    if (error == cudaSuccess && way == MANY_OVERLAPPING)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->stream[2], NULL, 0);
    for (i = 0; i < most && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(joins->stream[2], event[back ? most - 1 - i : i], 0);
    if (error == cudaSuccess)
        error = follow_many(joins, way, joins->stream[2]);
    for (i = 0; i < made; i++)
        (void)cudaEventDestroy(event[i]);
    return error;
}

/* Work and a follower, a full edge between them. */
static cudaError_t make_pair(struct joins *joins, cudaGraph_t *graph)
{
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = add_work(joins, *graph, 0, &node);
    return error == cudaSuccess ? add_follower(joins, *graph, 0, &node, 1, 0) : error;
}

/* Of many executable graphs of one graph the last one is launched. */
static cudaError_t many_execs(struct joins *joins)
{
    cudaGraphExec_t exec[MANY_EXECS];
    cudaGraph_t graph = NULL;
    cudaError_t error;
    unsigned made = 0, i;

    prepare(joins, 1, 1);
    error = make_pair(joins, &graph);
    for (; made < MANY_EXECS && error == cudaSuccess; made += error == cudaSuccess)
        error = cudaGraphInstantiate(&exec[made], graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec[made - 1], joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    for (i = 0; i < made; i++)
        (void)cudaGraphExecDestroy(exec[i]);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* What is launched in all rounds, more than 1,024 times. */
static cudaGraphExec_t launched_often;

/* A second follower comes after the work by a programmatic edge, and waits. */
static cudaError_t make_launched_often(struct joins *joins)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = add_work(joins, graph, 0, &node);
    if (error == cudaSuccess)
        error = add_follower(joins, graph, 0, &node, 1, 0);
    if (error == cudaSuccess)
        error = add_follower(joins, graph, 1, &node, 1, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&launched_often, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* One executable graph is launched many times. */
static cudaError_t many_launches(struct joins *joins)
{
    cudaError_t error = cudaSuccess;
    unsigned stale = 0, i;

    prepare(joins, 1, 2);
    if (!launched_often)
        error = make_launched_often(joins);
    for (i = 0; i < LAUNCHES_BEFORE && error == cudaSuccess; i++)
        error = cudaGraphLaunch(launched_often, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    for (i = 0; i < MANY_LAUNCHES && error == cudaSuccess; i++) {
        prepare(joins, 1, 2);
        error = cudaGraphLaunch(launched_often, joins->stream[0]);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(joins->stream[0]);
        stale |= is_stale(joins);
    }
    joins->pinned->host_is_stale = stale;
    return error;
}

struct host_items;
struct host_item {
    struct host_items *all;
    unsigned place;              /* in the order */
};

struct host_items {              /* of host functions */
    unsigned count, next, wrong, without; /* without: calls of those that get no data */
    struct host_item item[MANY_HOSTS];
};

static struct host_items host_items;

static void CUDART_CB take_place(void *opaque)
{
    struct host_item *item = (struct host_item *)opaque;

    item->all->wrong += item->place != item->all->next++;
}

/* NULL is what it is given, whatever the one before it got. */
static void CUDART_CB take_nothing(void *opaque)
{
    host_items.without++;
    host_items.wrong += opaque != NULL;
}

/* Every third one is given no data. */
static cudaError_t take_turns(cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < host_items.count && error == cudaSuccess; i++) {
        host_items.item[i].all = &host_items;
        host_items.item[i].place = i;
        error = cudaLaunchHostFunc(stream, take_place, &host_items.item[i]);
        if (error == cudaSuccess && i % 3 == 0)
            error = cudaLaunchHostFunc(stream, take_nothing, NULL);
    }
    return error;
}

/* All of them wait for the work. */
static cudaError_t many_hosts(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    host_items.next = host_items.wrong = host_items.without = 0;
    host_items.count = joins->round % 4 == 1 ? MANY_HOSTS : MANY_HOSTS / 3;
    error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = take_turns(joins->stream[0]);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = host_items.wrong != 0 || host_items.next != host_items.count || host_items.without != (host_items.count + 2) / 3;
    return error;
}

/* Until the device, the stream or an event of it has ended. */
static cudaError_t wait_long(const struct joins *joins, unsigned way)
{
    cudaEvent_t event;
    cudaError_t error;

    if (way == 0)
        return cudaDeviceSynchronize();
    if (way == 1)
        return cudaStreamSynchronize(joins->stream[0]);
    error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync);
    if (error != cudaSuccess)
        return error;
    error = cudaEventRecord(event, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(event);
    (void)cudaEventDestroy(event);
    return error;
}

/* The host waits for work of several milliseconds; or a kernel that begins at once does. */
static cudaError_t many_nanoseconds(struct joins *joins)
{
    unsigned way = joins->trial / MANY_WAYS % 4, waits = way == 3;
    cudaLaunchAttribute six = serialization(1);
    cudaError_t error;

    prepare(joins, 1, waits);
    joins->pinned->plan[0].hold_ns = LONG_HOLD;
    error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess && waits)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[0]),
                           &six, 1);
    if (error == cudaSuccess && !waits)
        error = wait_long(joins, way);
    joins->pinned->host_is_stale = error == cudaSuccess && !waits && differs(joins->pinned, joins->pinned->words, PLACE_WORDS);
    return error;
}

static void ask_many(struct ask *ask)
{
    static const struct join joins[MANY_WAYS] = {
        { "stale in the last of many streams", many_streams },
        { "stale after one of many events", many_events },
        { "stale after the events of many launches", many_recorders },
        { "stale after an event that was recorded many times", many_records },
        { "stale after one of many events that the stream waits for", many_waits },
        { "stale in the last of many executable graphs", many_execs },
        { "stale in one of many launches of one executable graph", many_launches },
        { "another one's turn or data in one of many host functions", many_hosts },
        { "stale after work of many nanoseconds", many_nanoseconds },
        { "stale in one of many pairs at once, or begun before its primary's trigger", many_pairs },
    };

    ask_joins(ask, joins, MANY_WAYS, cudaStreamNonBlocking);
    if (launched_often)
        (void)cudaGraphExecDestroy(launched_often);
    launched_often = NULL;
    ask_long(ask);
}

#endif
