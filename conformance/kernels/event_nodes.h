/* event_nodes.h - the pair of event_answers.cu with nodes that record an event, or wait for one, and are given another one, or are many. */
#ifndef EVENT_NODES_H_INCLUDED
#define EVENT_NODES_H_INCLUDED

KERNEL(answers_reader) { reader_copies(&args, 0); }

/* When the node is given the second event; BACK: and the first one again; GENERALLY: by the call for nodes of every kind; RUNNING: while a
 * launch is under way, which keeps the first one. */
enum given { GIVEN_SOURCE, GIVEN_SOURCE_GENERALLY, GIVEN_EXEC, GIVEN_GENERALLY, GIVEN_LAUNCHED, GIVEN_BACK, GIVEN_TWICE, GIVEN_LATE,
             GIVEN_ELSEWHERE, GIVEN_UPDATED, GIVEN_BY_UPDATE, GIVEN_INSIDE_BY_UPDATE, GIVEN_RUNNING, GIVEN_RUNNING_BY_UPDATE, GIVENS };
static const char *const given_name[GIVENS] = { "in its graph", "in its graph by the general call", "in an executable graph",
                                               "in an executable graph by the general call", "in one that was launched",
                                               "in an executable graph and back",
                                                "in an executable graph twice", "in its graph, once that was made executable",
                                                "in an executable graph by another host thread", "in one that was updated",
                                                "by an update of an executable graph", "in a child graph by an update", "while a launch is under way",
                                                "by an update while a launch is under way" };

struct moved {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaEvent_t event[3];
    cudaGraph_t graph;
    cudaGraphNode_t node;      /* that records or waits */
    cudaGraphExec_t exec;
    int waits;                 /* it waits */
    unsigned stale, unfinished, trials;
};

static void destroy_moved(const struct moved *m)
{
    if (m->exec)
        (void)cudaGraphExecDestroy(m->exec);
    if (m->graph)
        (void)cudaGraphDestroy(m->graph);
}

static const void *function_of(const struct moved *m)
{
    return m->waits ? (const void *)SYMBOL(answers_reader) : (const void *)SYMBOL(answers_work);
}

/* In a stream that captures: the wait and the kernel that reads, or the kernel that works and the record. */
static cudaError_t queue_moved(const struct moved *m)
{
    cudaStream_t stream = m->ask->stream;
    cudaError_t error = m->waits ? cudaStreamWaitEvent(stream, m->event[0], cudaEventWaitExternal) : cudaSuccess;

    if (error == cudaSuccess)
        error = launch_one(function_of(m), &m->args, ASK_WORDS / 2, stream, NULL, 0);
    return error == cudaSuccess && !m->waits ? cudaEventRecordWithFlags(m->event[0], stream, cudaEventRecordExternal) : error;
}

/* One of the two nodes is the kernel, and the other one records or waits. */
static cudaError_t find_moved(struct moved *m, cudaGraph_t graph)
{
    cudaGraphNode_t node[2] = { NULL, NULL };
    enum cudaGraphNodeType type[2] = { cudaGraphNodeTypeEmpty, cudaGraphNodeTypeEmpty };
    enum cudaGraphNodeType want = m->waits ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
    unsigned i, kernels = 0, found = 0;
    size_t count = 2;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    ask_expect_number(m->ask, "the nodes of a kernel and an event's", error == cudaSuccess ? (long)count : 2, 2);
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = cudaGraphNodeGetType(node[i], &type[i]);
        kernels += type[i] == cudaGraphNodeTypeKernel;
        found += type[i] == want;
        m->node = type[i] == want ? node[i] : m->node;
    }
    ask_expect_number(m->ask, "they are a kernel's and an event's", error != cudaSuccess || (kernels == 1 && found == 1), 1);
    return error;
}

static cudaError_t capture_moved(struct moved *m)
{
    cudaError_t error = cudaStreamBeginCapture(m->ask->stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = queue_moved(m);
    end = cudaStreamEndCapture(m->ask->stream, &m->graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? find_moved(m, m->graph) : error;
}

/* The work and a record of the first event after it; or a wait for the first event, and a reader after it. */
static cudaError_t make_moved(struct moved *m)
{
    cudaGraphNode_t kernel;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = cudaGraphCreate(&m->graph, 0);

    if (error == cudaSuccess)
        error = m->waits ? cudaGraphAddEventWaitNode(&m->node, m->graph, NULL, 0, m->event[0])
                         : cudaGraphAddEventRecordNode(&m->node, m->graph, NULL, 0, m->event[0]);
    if (error == cudaSuccess)
        error = ask_add_kernel(&kernel, m->graph, function_of(m), &m->args, ASK_WORDS / 2);
    if (error != cudaSuccess)
        return error;
    return m->waits ? edges_add(m->graph, &m->node, &kernel, &full, 1) : edges_add(m->graph, &kernel, &m->node, &full, 1);
}

/* Both nodes lie in a child graph from now on. */
static cudaError_t nest_moved(struct moved *m)
{
    cudaGraph_t around = NULL, inner = NULL;
    cudaGraphNode_t child;
    cudaError_t error = cudaGraphCreate(&around, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddChildGraphNode(&child, around, NULL, 0, m->graph);
    (void)cudaGraphDestroy(m->graph);
    m->graph = around;
    if (error == cudaSuccess)
        error = cudaGraphChildGraphNodeGetGraph(child, &inner);
    return error == cudaSuccess ? find_moved(m, inner) : error;
}

static cudaError_t give_source(const struct moved *m, cudaEvent_t event)
{
    return m->waits ? cudaGraphEventWaitNodeSetEvent(m->node, event) : cudaGraphEventRecordNodeSetEvent(m->node, event);
}

static cudaError_t give_exec(const struct moved *m, cudaEvent_t event)
{
    return m->waits ? cudaGraphExecEventWaitNodeSetEvent(m->exec, m->node, event) : cudaGraphExecEventRecordNodeSetEvent(m->exec, m->node, event);
}

#if CUDART_VERSION >= 12030
static struct cudaGraphNodeParams event_generally(const struct moved *m, cudaEvent_t event)
{
    struct cudaGraphNodeParams general = PDL_ZERO;

    general.type = m->waits ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
    if (m->waits)
        general.eventWait.event = event;
    else
        general.eventRecord.event = event;
    return general;
}
#endif

/* By the call for nodes of every kind, in an executable graph or in its graph; older toolkits have none. */
static cudaError_t give_generally(const struct moved *m, cudaEvent_t event, int in_exec)
{
#if CUDART_VERSION >= 12030
    struct cudaGraphNodeParams general = event_generally(m, event);

    return in_exec ? cudaGraphExecNodeSetParams(m->exec, m->node, &general) : cudaGraphNodeSetParams(m->node, &general);
#else
    return in_exec ? give_exec(m, event) : give_source(m, event);
#endif
}

struct given_elsewhere {
    const struct moved *moved;
    cudaError_t error;
};

static void give_exec_in_thread(void *opaque)
{
    struct given_elsewhere *given = (struct given_elsewhere *)opaque;

    given->error = give_exec(given->moved, given->moved->event[1]);
}

/* Another host thread gives the second event; this one, where no other could be had. */
static cudaError_t give_elsewhere(const struct moved *m)
{
    struct given_elsewhere given = { m, cudaErrorUnknown };

    if (!run_in_thread(give_exec_in_thread, &given)) {
        ask_skip(m->ask, "an event that another host thread gives", "no thread was had");
        give_exec_in_thread(&given);
    }
    return given.error;
}

/* An update from the graph, whose node has the second event. Where the device refuses that, the node's call gives it; or another executable graph
 * is made, because that call names no node of a child graph. */
static cudaError_t give_by_update(struct moved *m, enum given given)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaError_t error = give_source(m, m->event[1]);

    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(m->exec, m->graph, &info);
    if (error != cudaErrorGraphExecUpdateFailure)
        return error;
    (void)cudaGetLastError();
    ask_skip(m->ask, "an update that gives a node another event", "the device refuses it");
    if (given != GIVEN_INSIDE_BY_UPDATE)
        return give_exec(m, m->event[1]);
    (void)cudaGraphExecDestroy(m->exec);
    m->exec = NULL;
    return cudaGraphInstantiate(&m->exec, m->graph, 0);
}

static int is_running(enum given given) { return given == GIVEN_RUNNING || given == GIVEN_RUNNING_BY_UPDATE; }

static int in_source(enum given given) { return given == GIVEN_SOURCE || given == GIVEN_SOURCE_GENERALLY; }

/* Which event the node of the executable graph has then. */
static unsigned has_then(enum given given)
{
    return given == GIVEN_BACK || given == GIVEN_LATE || is_running(given) ? 0 : given == GIVEN_TWICE ? 2 : 1;
}

static cudaError_t give_event(struct moved *m, enum given given)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaError_t error = given == GIVEN_SOURCE ? give_source(m, m->event[1]) : cudaSuccess;

    if (given == GIVEN_SOURCE_GENERALLY)
        error = give_generally(m, m->event[1], 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&m->exec, m->graph, 0);
    if (error == cudaSuccess && given == GIVEN_LAUNCHED)
        error = cudaGraphLaunch(m->exec, m->ask->stream);
    if (error == cudaSuccess && given == GIVEN_LATE)
        error = give_source(m, m->event[1]);
    if (error == cudaSuccess && given == GIVEN_UPDATED)
        error = cudaGraphExecUpdate(m->exec, m->graph, &info);
    if (error == cudaSuccess && given == GIVEN_ELSEWHERE)
        error = give_elsewhere(m);
    else if (error == cudaSuccess && (given == GIVEN_BY_UPDATE || given == GIVEN_INSIDE_BY_UPDATE))
        error = give_by_update(m, given);
    else if (error == cudaSuccess && given == GIVEN_GENERALLY)
        error = give_generally(m, m->event[1], 1);
    else if (error == cudaSuccess && !in_source(given) && given != GIVEN_LATE && !is_running(given))
        error = give_exec(m, m->event[1]);
    if (error == cudaSuccess && (given == GIVEN_BACK || given == GIVEN_TWICE))
        error = give_exec(m, m->event[has_then(given)]);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* "hNode is also not modified by this call" */
static void expect_event(const struct moved *m, enum given given)
{
    unsigned want = in_source(given) || given == GIVEN_LATE || given == GIVEN_BY_UPDATE || given == GIVEN_INSIDE_BY_UPDATE;
    cudaEvent_t event = NULL;
    cudaError_t error = m->waits ? cudaGraphEventWaitNodeGetEvent(m->node, &event) : cudaGraphEventRecordNodeGetEvent(m->node, &event);

    ask_expect(m->ask, "the event of a node", error, cudaSuccess);
    ask_expect_number(m->ask, "the event of a node is the one that it was given in its graph", event == m->event[want], 1);
}

/* "Already enqueued or running launches of hGraphExec are not affected by this call" */
static cudaError_t launch_moved(struct moved *m, enum given given)
{
    cudaError_t error = cudaGraphLaunch(m->exec, m->ask->stream);

    if (error == cudaSuccess && given == GIVEN_RUNNING)
        error = give_exec(m, m->event[1]);
    return error == cudaSuccess && given == GIVEN_RUNNING_BY_UPDATE ? give_by_update(m, given) : error;
}

/* Who waits for the event that the node has comes after the work; the other ones are complete, as they were. */
static cudaError_t run_recorded(struct moved *m, enum given given, unsigned has)
{
    cudaError_t error = launch_moved(m, given), query;
    unsigned i;

    for (i = 0; i < 3 && error == cudaSuccess; i++) {
        query = i == has ? cudaSuccess : cudaEventQuery(m->event[i]);
        m->unfinished += query == cudaErrorNotReady;
        error = query == cudaErrorNotReady ? cudaSuccess : query;
        (void)cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(m->ask->side, m->event[has], 0);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(answers_reader), &m->args, ASK_WORDS / 2, m->ask->side, NULL, 0) : error;
}

/* The event that the node has stands for work in the other stream; the other ones are complete. Or all are complete, and the work stands in the
 * stream of the launch: a node without a node before it comes after that, as well. */
static cudaError_t run_awaited(struct moved *m, enum given given, unsigned has)
{
    cudaStream_t stream = m->trials / 2 % 2 && !is_running(given) ? m->ask->stream : m->ask->side;
    cudaError_t error = launch_one((const void *)SYMBOL(answers_work), &m->args, ASK_WORDS / 2, stream, NULL, 0);

    if (error == cudaSuccess && stream == m->ask->side)
        error = cudaEventRecord(m->event[has], m->ask->side);
    return error == cudaSuccess ? launch_moved(m, given) : error;
}

static cudaError_t launch_and_look(struct moved *m, enum given given, unsigned has)
{
    cudaError_t error, end;

    prepare_trial(m->room, m->trials++);
    m->room->plan.bound_ns = 20000;
    m->room->plan.hold_ns = is_running(given) ? 100000 : 20000; /* longer than the node is given its event */
    error = m->waits ? run_awaited(m, given, has) : run_recorded(m, given, has);
    end = cudaDeviceSynchronize();
    m->stale += error == cudaSuccess && end == cudaSuccess && copy_is_stale(m->room);
    return error == cudaSuccess ? end : error;
}

static cudaError_t run_moved(struct moved *m, enum given given, int captured)
{
    unsigned i;
    cudaError_t error;

    m->graph = NULL;
    m->exec = NULL;
    m->node = NULL;
    error = captured ? capture_moved(m) : make_moved(m);
    if (error == cudaSuccess && given == GIVEN_INSIDE_BY_UPDATE)
        error = nest_moved(m);
    prepare_trial(m->room, m->trials);
    for (i = 0; i < 3 && error == cudaSuccess; i++)
        error = cudaEventRecord(m->event[i], m->ask->stream); /* complete soon */
    if (error == cudaSuccess)
        error = give_event(m, given);
    if (error == cudaSuccess)
        expect_event(m, given);
    if (error == cudaSuccess)
        error = launch_and_look(m, given, has_then(given));
    if (error == cudaSuccess && is_running(given))
        error = launch_and_look(m, GIVEN_EXEC, 1);
    destroy_moved(m);
    return error;
}

/* ---- many of them ---- */

#define RECORDS 12u            /* in a graph, of each number up to this one; and in one graph more: */
#define MANY_RECORDS 40u

/* Work, and after it so many records, each of its own event: built or captured. */
static cudaError_t make_records(struct moved *m, const cudaEvent_t *event, unsigned records, int captured)
{
    cudaStream_t stream = m->ask->stream;
    cudaGraphNode_t kernel, node;
    cudaError_t error = captured ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : cudaGraphCreate(&m->graph, 0), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    error = captured ? launch_one(function_of(m), &m->args, ASK_WORDS / 2, stream, NULL, 0)
                     : ask_add_kernel(&kernel, m->graph, function_of(m), &m->args, ASK_WORDS / 2);
    for (i = 0; i < records && error == cudaSuccess; i++)
        error = captured ? cudaEventRecordWithFlags(event[i], stream, cudaEventRecordExternal)
                         : cudaGraphAddEventRecordNode(&node, m->graph, &kernel, 1, event[i]);
    if (!captured)
        return error;
    end = cudaStreamEndCapture(stream, &m->graph);
    return error == cudaSuccess ? end : error;
}

static unsigned some_incomplete(const cudaEvent_t *event, unsigned records)
{
    unsigned i, incomplete = 0;

    for (i = 0; i < records; i++)
        incomplete |= cudaEventQuery(event[i]) != cudaSuccess;
    (void)cudaGetLastError();
    return incomplete;
}

/* Whichever of the events a stream waits for, it comes after the work of the launch; and all are complete once the stream of the launch is. */
static cudaError_t run_records(struct moved *m, const cudaEvent_t *event, unsigned records, int captured)
{
    cudaError_t error, end;
    unsigned i;

    m->graph = NULL;
    m->exec = NULL;
    error = make_records(m, event, records, captured);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&m->exec, m->graph, 0);
    for (i = 0; i < records && error == cudaSuccess; i += 1 + i / (records > RECORDS ? 2 : 5)) {
        prepare_trial(m->room, m->trials++);
        m->room->plan.bound_ns = 20000;
        error = cudaGraphLaunch(m->exec, m->ask->stream);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(m->ask->side, event[records - 1 - i], 0);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(answers_reader), &m->args, ASK_WORDS / 2, m->ask->side, NULL, 0);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(m->ask->stream);
        m->unfinished += error == cudaSuccess && some_incomplete(event, records);
        end = cudaDeviceSynchronize();
        error = error == cudaSuccess ? end : error;
        m->stale += error == cudaSuccess && copy_is_stale(m->room);
    }
    destroy_moved(m);
    return error;
}

static void ask_records(struct moved *m, const cudaEvent_t *event)
{
    cudaError_t error = cudaSuccess;
    unsigned records;

    m->waits = 0;
    m->trials = m->stale = m->unfinished = 0;
    for (records = 1; records <= RECORDS && error == cudaSuccess; records++) {
        error = run_records(m, event, records, 0);
        if (error == cudaSuccess)
            error = run_records(m, event, records, 1);
    }
    if (error == cudaSuccess)
        error = run_records(m, event, MANY_RECORDS, 0);
    ask_expect(m->ask, "graphs of up to forty records", error, cudaSuccess);
    ask_expect_none(m->ask, "stale after one of up to forty records of a graph", m->stale, m->trials);
    ask_expect_none(m->ask, "not recorded, though the stream of the launch had ended", m->unfinished, m->trials);
}

/* So many waits, each for its own event, and a reader after all of them: built or captured. */
static cudaError_t make_waits(struct moved *m, const cudaEvent_t *event, unsigned waits, int captured)
{
    cudaStream_t stream = m->ask->stream;
    cudaGraphNode_t kernel, node[MANY_RECORDS];
    cudaError_t error = captured ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : cudaGraphCreate(&m->graph, 0), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < waits && error == cudaSuccess; i++)
        error = captured ? cudaStreamWaitEvent(stream, event[i], cudaEventWaitExternal)
                         : cudaGraphAddEventWaitNode(&node[i], m->graph, NULL, 0, event[i]);
    if (error == cudaSuccess)
        error = captured ? launch_one(function_of(m), &m->args, ASK_WORDS / 2, stream, NULL, 0)
                         : ask_add_kernel_after(&kernel, m->graph, node, waits, function_of(m), &m->args, 1, ASK_WORDS / 2);
    if (!captured)
        return error;
    end = cudaStreamEndCapture(stream, &m->graph);
    return error == cudaSuccess ? end : error;
}

/* One of the events stands for work in another stream, the others for what has ended. */
static cudaError_t run_waits(struct moved *m, const cudaEvent_t *event, unsigned waits, int captured)
{
    cudaError_t error, end;
    unsigned i;

    m->graph = NULL;
    m->exec = NULL;
    error = make_waits(m, event, waits, captured);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&m->exec, m->graph, 0);
    for (i = 0; i < waits && error == cudaSuccess; i += 1 + i / 2) {
        prepare_trial(m->room, m->trials++);
        m->room->plan.bound_ns = m->room->plan.hold_ns = 10000;
        error = launch_one((const void *)SYMBOL(answers_work), &m->args, ASK_WORDS / 2, m->ask->side, NULL, 0);
        if (error == cudaSuccess)
            error = cudaEventRecord(event[waits - 1 - i], m->ask->side);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(m->exec, m->ask->stream);
        end = cudaDeviceSynchronize();
        error = error == cudaSuccess ? end : error;
        m->stale += error == cudaSuccess && copy_is_stale(m->room);
    }
    destroy_moved(m);
    return error;
}

/* The events have been recorded, by the questions about records. */
static void ask_waits(struct moved *m, const cudaEvent_t *event)
{
    static const unsigned waits[] = { 5, RECORDS, MANY_RECORDS };
    cudaError_t error = cudaSuccess;
    unsigned i;

    m->waits = 1;
    m->trials = m->stale = 0;
    for (i = 0; i < 3 && error == cudaSuccess; i++)
        error = run_waits(m, event, waits[i], (int)(i % 2));
    ask_expect(m->ask, "graphs of up to forty waits for events", error, cudaSuccess);
    ask_expect_none(m->ask, "stale after up to forty waits of a graph for an event each", m->stale, m->trials);
}

static void ask_many_of_events(struct moved *m)
{
    cudaEvent_t event[MANY_RECORDS] = { NULL };
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < MANY_RECORDS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&event[i], cudaEventDisableTiming);
    ask_expect(m->ask, "forty events", error, cudaSuccess);
    if (error == cudaSuccess) {
        ask_records(m, event);
        ask_waits(m, event);
    }
    for (i = 0; i < MANY_RECORDS && event[i]; i++)
        (void)cudaEventDestroy(event[i]);
}

static cudaError_t open_moved(struct moved *m, struct ask *ask)
{
    cudaError_t error = open_room(&m->room, &m->args) ? cudaSuccess : cudaErrorMemoryAllocation;
    unsigned i;

    m->ask = ask;
    for (i = 0; i < 3 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&m->event[i], cudaEventDisableTiming);
    return error;
}

static void close_moved(struct moved *m)
{
    unsigned i;

    for (i = 0; i < 3; i++)
        if (m->event[i])
            (void)cudaEventDestroy(m->event[i]);
    (void)cudaFreeHost(m->room);
}

static void ask_moved(struct ask *ask)
{
    struct moved m = PDL_ZERO;
    unsigned given, round;
    char text[96];
    cudaError_t error = open_moved(&m, ask);

    for (given = 0; given < 2 * GIVENS && error == cudaSuccess; given++) {
        m.waits = given >= GIVENS;
        m.trials = m.stale = m.unfinished = 0;
        for (round = 0; round < 4 && error == cudaSuccess; round++)
            error = run_moved(&m, (enum given)(given % GIVENS), (int)(round % 2));
        snprintf(text, sizeof(text), "stale by a %s node that was given another event %s", m.waits ? "wait" : "record", given_name[given % GIVENS]);
        ask_expect_none(ask, text, m.stale, m.trials);
        snprintf(text, sizeof(text), "recorded, though not the event of the node %s", given_name[given % GIVENS]);
        ask_expect_none(ask, text, m.unfinished, m.trials);
    }
    ask_expect(ask, "nodes that are given another event", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_many_of_events(&m);
    close_moved(&m);
}

#endif
