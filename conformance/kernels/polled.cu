/* polled.cu - what a host finds that asks a stream whether its work has ended, or waits for it.
 *
 * pair       rules    what is asked
 * streams    MEM-09c  streams of each kind, after a kernel, a dependent that waits, a memset, copies, a host function, a graph, an event
 *                     record, and a wait for the event of another stream, also after a kernel, from this thread and from another one;
 *                     after a kernel and what has nothing to do or is refused
 * events     MEM-09c  events after work, whose stream was destroyed, that were asked for before, and in another thread; events that another
 *                     thread made; streams and events once the host has waited for something else: the event of the work's own launch, or
 *                     other work that was queued later
 * recorders  MEM-09c  events of each kind, recorded in streams of each kind: by a call, by a node of a graph, and by a launch
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

KERNEL(polled_work) { slow_stores(&args); }
KERNEL(polled_nothing) { (void)args; }
KERNEL(polled_dependent) { reader_copies(&args, 1); }

/* Stores the words, makes them visible to the host, and only then triggers. */
KERNEL(polled_stores_first)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
    k_fence_system();
    k_barrier();
    k_trigger();
}

#define OPENED_NS 4000000u     /* longer than many questions take */

/* Stores once the host has asked many times and says so, or after a bounded time. It does not rest between its looks: on the model that would let
 * the time pass too fast. */
KERNEL(polled_held_open)
{
    struct trial_plan plan = k_plan(&args);
    uint64_t begin = k_now();
    uint32_t spins = 0;

    if (k_thread() == 0)
        while (!k_load_relaxed(&args.state->finished) && k_now() - begin < OPENED_NS && ++spins < K_SPIN_LIMIT)
            ;
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

enum last {
    LAST_KERNEL, LAST_DEPENDENT, LAST_MEMSET, LAST_COPY, LAST_COPY_IN, LAST_COPY_OUT, LAST_HOST, LAST_GRAPH, LAST_RECORD,
    LAST_NO_COPY, LAST_NO_MEMSET, LAST_NO_NODES, LAST_LEFT_OUT, LAST_UNRECORDED, LAST_REFUSED, /* nothing to do */
    LAST_AWAITED, LAST_KERNEL_AWAITED, LASTS
};
#define STREAMS 4u             /* non-blocking, blocking with a priority, per-thread default, legacy default */
#define WAYS 3u                /* asks until it has ended; waits; asks in another thread */
#define PLACES (LASTS * STREAMS * WAYS)
#define MANY_ASKS 300u         /* of a few works, which go on meanwhile: more than a byte counts */

struct polled {
    struct ask *ask;
    struct host_room *room;    /* of the work */
    struct kernel_args args;
    cudaStream_t stream[STREAMS]; /* the second one has the highest priority */
    cudaStream_t between;      /* as the second one, of the next priority */
    uint32_t *words;           /* two, of the device */
    cudaGraphExec_t nothing;   /* a graph of a kernel that does nothing */
    cudaGraphExec_t hollow[2]; /* one without nodes, and one of which all are disabled */
    cudaEvent_t mark, fresh;   /* that nobody looks at; that is never recorded */
    unsigned said, ended, trials;
    int copies;                /* what comes last copies the words, once it has waited */
};

static unsigned is_unfinished(const struct polled *p) { return work_is_stale(p->room) || (p->copies && copy_is_stale(p->room)); }

static cudaError_t open_hollow(struct polled *p, unsigned which)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess && which)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(polled_nothing), &p->args, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&p->hollow[which], graph, 0);
    if (error == cudaSuccess && which)
        error = cudaGraphNodeSetEnabled(p->hollow[which], node, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t open_polled(struct polled *p, struct ask *ask)
{
    int least = 0, greatest = 0;
    cudaError_t error = open_room(&p->room, &p->args) ? cudaSuccess : cudaErrorMemoryAllocation;

    p->ask = ask;
    p->stream[2] = cudaStreamPerThread;
    p->stream[3] = cudaStreamLegacy;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&p->words, 2 * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&p->stream[0], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&p->nothing, (const void *)SYMBOL(polled_nothing), &p->args, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&p->mark, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&p->fresh, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = open_hollow(p, 0);
    if (error == cudaSuccess)
        error = open_hollow(p, 1);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&p->between, cudaStreamDefault, greatest + 1);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&p->stream[1], cudaStreamDefault, greatest) : error;
}

static void close_polled(struct polled *p)
{
    (void)cudaDeviceSynchronize();
    if (p->stream[0])
        (void)cudaStreamDestroy(p->stream[0]);
    if (p->stream[1])
        (void)cudaStreamDestroy(p->stream[1]);
    if (p->between)
        (void)cudaStreamDestroy(p->between);
    if (p->nothing)
        (void)cudaGraphExecDestroy(p->nothing);
    if (p->hollow[0])
        (void)cudaGraphExecDestroy(p->hollow[0]);
    if (p->hollow[1])
        (void)cudaGraphExecDestroy(p->hollow[1]);
    if (p->mark)
        (void)cudaEventDestroy(p->mark);
    if (p->fresh)
        (void)cudaEventDestroy(p->fresh);
    (void)cudaFree(p->words);
    (void)cudaFreeHost(p->room);
}

static cudaError_t put_last(struct polled *p, enum last last, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error;

    switch (last) {
    case LAST_DEPENDENT: return launch_one((const void *)SYMBOL(polled_dependent), &p->args, ASK_WORDS / 2, stream, &attribute, 1);
    case LAST_MEMSET: return cudaMemsetAsync(p->words, 0, sizeof(uint32_t), stream);
    case LAST_COPY: return cudaMemcpyAsync(p->words, p->words + 1, sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream);
    case LAST_COPY_IN: return cudaMemcpyAsync(p->words, &p->room->looks, sizeof(uint32_t), cudaMemcpyHostToDevice, stream);
    case LAST_COPY_OUT: return cudaMemcpyAsync(&p->room->looks, p->words, sizeof(uint32_t), cudaMemcpyDeviceToHost, stream);
    case LAST_HOST: return cudaLaunchHostFunc(stream, ask_host_nothing, NULL);
    case LAST_GRAPH: return cudaGraphLaunch(p->nothing, stream);
    case LAST_RECORD: return cudaEventRecord(p->mark, stream);
    case LAST_NO_COPY: return whatever(cudaMemcpyAsync(p->words, p->words + 1, 0, cudaMemcpyDeviceToDevice, stream));
    case LAST_NO_MEMSET: return whatever(cudaMemsetAsync(p->words, 0, 0, stream));
    case LAST_NO_NODES: return cudaGraphLaunch(p->hollow[0], stream);
    case LAST_LEFT_OUT: return cudaGraphLaunch(p->hollow[1], stream);
    case LAST_UNRECORDED: return cudaStreamWaitEvent(stream, p->fresh, 0);
    case LAST_REFUSED: return whatever(launch_one((const void *)SYMBOL(polled_nothing), &p->args, 0, stream, NULL, 0)); /* no threads */
    case LAST_AWAITED: return record_and_await(p->mark, p->ask->side, stream);
    case LAST_KERNEL_AWAITED: /* the kernel may end before what the stream waits for */
        error = launch_one((const void *)SYMBOL(polled_nothing), &p->args, 1, stream, NULL, 0);
        return error == cudaSuccess ? record_and_await(p->mark, p->ask->side, stream) : error;
    default: return cudaSuccess;
    }
}

/* "cudaSuccess if all operations in stream have completed" */
/* For the work that is held until then */
static void lets_go(struct polled *p) { *(volatile uint32_t *)&p->room->state.finished = 1; }

struct look {
    struct polled *polled;
    cudaStream_t stream;
    int asks;
    cudaError_t error;
};

static void look_at(void *of)
{
    struct look *look = (struct look *)of;
    struct polled *p = look->polled;
    cudaError_t query;
    unsigned asked = 0;

    do {
        query = look->asks ? cudaStreamQuery(look->stream) : cudaSuccess;
        if (++asked == MANY_ASKS)
            lets_go(p);
    } while (query == cudaErrorNotReady);
    p->said += look->asks && query == cudaSuccess && is_unfinished(p);
    look->error = query == cudaSuccess ? cudaStreamSynchronize(look->stream) : query;
    p->ended += look->error == cudaSuccess && is_unfinished(p);
    (void)cudaGetLastError();
}

/* All places once with the one stream that has a priority, then with the other one. */
static cudaStream_t polled_stream(const struct polled *p, unsigned trial)
{
    unsigned which = trial / LASTS % STREAMS;

    return which == 1 && trial / PLACES % 2 ? p->between : p->stream[which];
}

/* The per-thread default stream of another thread is another one. */
static cudaError_t run_polled(struct polled *p, unsigned trial)
{
    cudaStream_t stream = polled_stream(p, trial);
    unsigned way = trial / LASTS / STREAMS % WAYS;
    enum last last = (enum last)(trial % LASTS);
    struct look look = { p, stream, way != 1, cudaSuccess };
    cudaError_t error;

    prepare_trial(p->room, trial);
    p->copies = last == LAST_DEPENDENT;
    error = launch_one(trial % PLACES ? (const void *)SYMBOL(polled_work) : (const void *)SYMBOL(polled_held_open), &p->args, ASK_WORDS / 2,
                       last >= LAST_AWAITED ? p->ask->side : stream, NULL, 0);
    if (error == cudaSuccess)
        error = put_last(p, last, stream);
    if (error != cudaSuccess)
        return error;
    if (way < 2 || stream == cudaStreamPerThread)
        look_at(&look);
    else if (!run_in_thread(look_at, &look))
        ask_skip(p->ask, "a stream of another thread", "no thread could be had");
    return look.error == cudaSuccess ? cudaDeviceSynchronize() : look.error;
}

static void ask_streams(struct ask *ask)
{
    struct polled p = PDL_ZERO;
    cudaError_t error = open_polled(&p, ask);

    for (; ask_goes_on(ask, p.trials, 2 * PLACES) && error == cudaSuccess; p.trials++)
        error = run_polled(&p, p.trials);
    ask_expect(ask, "work and what is last in its stream", error, cudaSuccess);
    ask_expect_none(ask, "streams that were said to have ended and had not", p.said, p.trials);
    ask_expect_none(ask, "streams that were waited for and had not ended", p.ended, p.trials);
    close_polled(&p);
}

/* ---- events ---- */

struct event_look {
    struct polled *polled;
    cudaEvent_t event;
    unsigned asks, whole;      /* before it waits; waits for the device */
    cudaError_t error;
};

/* "cudaEventQuery: cudaSuccess if all work currently captured by event has completed" */
static void look_at_event(void *of)
{
    struct event_look *look = (struct event_look *)of;
    struct polled *p = look->polled;
    cudaError_t query = cudaErrorNotReady;
    unsigned i;

    for (i = 0; i < look->asks && query == cudaErrorNotReady; i++)
        query = cudaEventQuery(look->event);
    p->said += query == cudaSuccess && work_is_stale(p->room);
    lets_go(p);
    look->error = query == cudaErrorNotReady ? cudaSuccess : query;
    if (look->error == cudaSuccess)
        look->error = look->whole ? cudaDeviceSynchronize() : cudaEventSynchronize(look->event);
    p->ended += look->error == cudaSuccess && work_is_stale(p->room);
    (void)cudaGetLastError();
}

/* Bits of the trial: asks; in another thread; the stream is destroyed meanwhile; waits for the device; another thread has made the event; in one
 * trial of 32 it asks many times, while the work is held. */
static cudaError_t run_event(struct polled *p, const cudaEvent_t events[2], unsigned trial)
{
    cudaEvent_t event = events[trial >> 4 & 1];
    unsigned many = trial % 32 == 17, asks = many ? MANY_ASKS : trial & 1;
    struct event_look look = { p, event, asks, trial >> 3 & 1, cudaSuccess };
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    prepare_trial(p->room, trial);
    if (error != cudaSuccess)
        return error;
    error = launch_one(many ? (const void *)SYMBOL(polled_held_open) : (const void *)SYMBOL(polled_work), &p->args, ASK_WORDS / 2, stream,
                       NULL, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, stream);
    if (trial & 4)
        (void)cudaStreamDestroy(stream);
    if (error == cudaSuccess && !(trial & 2))
        look_at_event(&look);
    else if (error == cudaSuccess && !run_in_thread(look_at_event, &look))
        ask_skip(p->ask, "an event in another thread", "no thread could be had");
    if (!(trial & 4))
        (void)cudaStreamDestroy(stream);
    error = error == cudaSuccess ? look.error : error;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* What the host has waited for before it asks: in every second trial the event of the work's own launch, which may come while the work goes
 * on; else what was queued later elsewhere: all of another stream, an event there, or a copy. */
enum before { BEFORE_LAUNCH, BEFORE_STREAM, BEFORE_LAUNCH_AGAIN, BEFORE_EVENT, BEFORE_LAUNCH_STILL, BEFORE_COPY, BEFORES };
#define BEFORE_TRIALS 36u

static cudaError_t wait_for_other(struct polled *p, enum before before)
{
    cudaStream_t side = p->ask->side;
    cudaError_t error;

    if (before == BEFORE_COPY)
        return cudaMemcpy(p->words, p->room->beside, sizeof(uint32_t), cudaMemcpyHostToDevice);
    error = launch_one((const void *)SYMBOL(polled_nothing), &p->args, 1, side, NULL, 0);
    if (error == cudaSuccess && before == BEFORE_EVENT)
        error = cudaEventRecord(p->mark, side);
    if (error != cudaSuccess)
        return error;
    return before == BEFORE_EVENT ? cudaEventSynchronize(p->mark) : cudaStreamSynchronize(side);
}

/* The work, an event after it, and what the host waits for. The event of the work's own launch comes first: then the event is recorded only
 * when the host has waited. event: NULL if there is none, and the work is what comes last in its stream. */
static cudaError_t work_and_other(struct polled *p, enum before before, cudaEvent_t event, cudaStream_t stream)
{
    int by_launch = before % 2 == 0;
    cudaLaunchAttribute records = recording(p->mark);
    cudaError_t error = launch_one((const void *)SYMBOL(polled_work), &p->args, ASK_WORDS / 2, stream, &records, (unsigned)by_launch);

    if (error == cudaSuccess && by_launch)
        error = cudaEventSynchronize(p->mark);
    if (error == cudaSuccess && event)
        error = cudaEventRecord(event, stream);
    return error == cudaSuccess && !by_launch ? wait_for_other(p, before) : error;
}

/* Asked once each, the event and the stream are not over unless the work is; nor is the one of them that the host waits for. */
static cudaError_t ask_both(struct polled *p, cudaEvent_t event, cudaStream_t stream, int waits_for_event)
{
    cudaError_t query = event ? cudaEventQuery(event) : cudaErrorNotReady, error = query;

    p->said += query == cudaSuccess && work_is_stale(p->room);
    if (query == cudaSuccess || query == cudaErrorNotReady)
        error = query = cudaStreamQuery(stream);
    p->said += query == cudaSuccess && work_is_stale(p->room);
    if (query == cudaSuccess || query == cudaErrorNotReady)
        error = waits_for_event ? cudaEventSynchronize(event) : cudaStreamSynchronize(stream);
    p->ended += error == cudaSuccess && work_is_stale(p->room);
    (void)cudaGetLastError();
    return error;
}

/* The stream does not wait for the legacy stream, nor that for it. */
static cudaError_t run_after_other(struct polled *p, cudaEvent_t event, unsigned trial)
{
    enum before before = (enum before)(trial % BEFORES);
    int waits_for_event = trial / BEFORES % 2 == 0;
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (error != cudaSuccess)
        return error;
    if (before % 2 == 0 && !waits_for_event)
        event = NULL;
    prepare_trial(p->room, trial);
    error = work_and_other(p, before, event, stream);
    if (error == cudaSuccess)
        error = ask_both(p, event, stream, waits_for_event);
    (void)cudaStreamDestroy(stream);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void ask_polled_events(struct ask *ask)
{
    struct polled p = PDL_ZERO;
    cudaEvent_t event[2] = { NULL, NULL };
    unsigned after = 0;
    cudaError_t error = open_polled(&p, ask);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = event_of_other(cudaEventDisableTiming, &event[1]);
    for (; ask_goes_on(ask, p.trials, 64) && error == cudaSuccess; p.trials++)
        error = run_event(&p, event, p.trials);
    ask_expect(ask, "work and an event after it", error, cudaSuccess);
    ask_expect_none(ask, "events that were said to be complete and were not", p.said, p.trials);
    ask_expect_none(ask, "events and devices that were waited for and had not ended", p.ended, p.trials);
    for (p.said = p.ended = 0; ask_goes_on(ask, after, BEFORE_TRIALS) && error == cudaSuccess; after++)
        error = run_after_other(&p, event[0], after);
    ask_expect(ask, "work, an event after it, and something else that the host waits for", error, cudaSuccess);
    ask_expect_none(ask, "events and streams that were said to be over after a wait for something else, and were not", p.said, after);
    ask_expect_none(ask, "events and streams that were waited for after something else, and were not over", p.ended, after);
    if (event[0])
        (void)cudaEventDestroy(event[0]);
    if (event[1])
        (void)cudaEventDestroy(event[1]);
    close_polled(&p);
}

/* ---- recorders ---- */

/* By a call: an event without timing, one that the host sleeps for, one with timing; by a node of a graph; by the launch, at its trigger. */
enum recorder { BY_CALL, BY_CALL_SLEEPING, BY_CALL_TIMED, BY_NODE, BY_LAUNCH, RECORDERS };
static const unsigned recorder_flags[RECORDERS] = { cudaEventDisableTiming, cudaEventDisableTiming | cudaEventBlockingSync, cudaEventDefault,
                                                    cudaEventDisableTiming, cudaEventDisableTiming };
#define RECORDER_PLACES (RECORDERS * STREAMS * WAYS)

struct recorders {
    struct polled polled;
    cudaEvent_t event[RECORDERS];
    cudaGraphExec_t exec;      /* the work, then the node that records */
};

static cudaError_t open_recorders(struct recorders *r, struct ask *ask)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[2];
    cudaError_t error = open_polled(&r->polled, ask);
    unsigned i;

    for (i = 0; i < RECORDERS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&r->event[i], recorder_flags[i]);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(polled_work), &r->polled.args, ASK_WORDS / 2);
    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&node[1], graph, &node[0], 1, r->event[BY_NODE]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&r->exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void close_recorders(struct recorders *r)
{
    unsigned i;

    (void)cudaDeviceSynchronize();
    if (r->exec)
        (void)cudaGraphExecDestroy(r->exec);
    for (i = 0; i < RECORDERS; i++)
        if (r->event[i])
            (void)cudaEventDestroy(r->event[i]);
    close_polled(&r->polled);
}

static cudaError_t work_recorded(struct recorders *r, enum recorder by, cudaStream_t stream)
{
    const struct kernel_args *args = &r->polled.args;
    cudaLaunchAttribute attribute = recording(r->event[by]);
    cudaError_t error;

    if (by == BY_NODE)
        return cudaGraphLaunch(r->exec, stream);
    if (by == BY_LAUNCH)
        return launch_one((const void *)SYMBOL(polled_stores_first), args, ASK_WORDS / 2, stream, &attribute, 1);
    error = launch_one((const void *)SYMBOL(polled_work), args, ASK_WORDS / 2, stream, NULL, 0);
    return error == cudaSuccess ? cudaEventRecord(r->event[by], stream) : error;
}

/* Each event was complete in an earlier trial, and is recorded again. */
static cudaError_t run_recorder(struct recorders *r, unsigned trial)
{
    enum recorder by = (enum recorder)(trial % RECORDERS);
    unsigned way = trial / RECORDERS / STREAMS % WAYS;
    struct event_look look = { &r->polled, r->event[by], way != 1, 0, cudaSuccess };
    cudaError_t error;

    prepare_trial(r->polled.room, trial);
    error = work_recorded(r, by, r->polled.stream[trial / RECORDERS % STREAMS]);
    if (error != cudaSuccess)
        return error;
    if (way < 2)
        look_at_event(&look);
    else if (!run_in_thread(look_at_event, &look))
        ask_skip(r->polled.ask, "an event in another thread", "no thread could be had");
    return look.error == cudaSuccess ? cudaDeviceSynchronize() : look.error;
}

static void ask_recorders(struct ask *ask)
{
    struct recorders r = PDL_ZERO;
    struct polled *p = &r.polled;
    cudaError_t error = open_recorders(&r, ask);

    for (; ask_goes_on(ask, p->trials, 2 * RECORDER_PLACES) && error == cudaSuccess; p->trials++)
        error = run_recorder(&r, p->trials);
    ask_expect(ask, "work and an event that is recorded", error, cudaSuccess);
    ask_expect_none(ask, "recorded events that were said to be complete and were not", p->said, p->trials);
    ask_expect_none(ask, "recorded events that were waited for and were not complete", p->ended, p->trials);
    close_recorders(&r);
}

static const struct pair polled_pairs[] = {
    PAIR_ASK("streams", ask_streams),
    PAIR_ASK("events", ask_polled_events),
    PAIR_ASK("recorders", ask_recorders),
};
IMAGE(polled, polled_pairs)
