/* event_answers.cu - what the host is told of events.
 *
 * pair   rules   what is asked
 * times  EVT-15  the time between two events, of the default kind or with blocking synchronization, that are recorded again and again, by one
 *                stream, by two, or by nodes of one graph or of two, with one kernel or many between them; since an event of a
 *                stream that is gone, and between an event and itself
 * told   EVT-17  whether an event is complete that was complete before and is recorded again, by the stream or by a node of a graph; who
 *                comes after an event that either records again while a record of it is still to come, also where another stream does and
 *                the host waits; the time of events that are not complete, were never recorded or keep no time; a record that only
 *                captures may ask for
 * moved  EVT-17a nodes that record an event, or wait for one, and are given another one, in their graph or in an executable one, also while a
 *                launch is under way; one to twelve nodes of a graph that record an event each
 */
#include <stdio.h>

#include "graph_ask.h"
#include "host_room.h"

/* ---- times ---- */

#define TIMES_ROUNDS 16u       /* for each kind of event */
#define TIMES_CROWD 64u        /* other work between the events of every second round of a recorder */
#define TIMES_LONG_CROWD 1100u /* in its last round, but not of one graph */
#define TIMES_HOLD_NS 50000u

/* trial_state: held_ns is when the kernel before the first event ended, dependent_begin_ns when the kernel after the second one began. */
KERNEL(answers_before)
{
    struct trial_plan plan = k_plan(&args);

    k_delay(args.state, plan.hold_ns);
    k_store64_relaxed(&args.state->held_ns, k_now());
}
KERNEL(answers_between)
{
    struct trial_plan plan = k_plan(&args);

    k_delay(args.state, plan.hold_ns);
}
KERNEL(answers_idle) { (void)args; }
KERNEL(answers_after) { k_store64_relaxed(&args.state->dependent_begin_ns, k_now()); }
KERNEL(answers_tick) { tells_tick(&args); }

static cudaError_t launch_timed(const void *function, const struct kernel_args *args, cudaStream_t stream)
{
    return launch_one(function, args, 1, stream, NULL, 0);
}

struct times {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaEvent_t event[3];      /* two with timing, one without */
    cudaGraphExec_t whole[2];  /* an event, the kernel between, an event; with other work after that kernel */
    cudaGraphExec_t single[2]; /* one of the events */
};

static cudaError_t record_around(struct times *times, unsigned crowd)
{
    cudaGraph_t graph;
    cudaGraphNode_t last, next;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned i;

    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&last, graph, NULL, 0, times->event[0]);
    for (i = 0; i <= crowd && error == cudaSuccess; i++) {
        error = ask_add_kernel_after(&next, graph, &last, 1, i ? (const void *)SYMBOL(answers_idle) : (const void *)SYMBOL(answers_between),
                                     &times->args, 1, 1);
        last = next;
    }
    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&next, graph, &last, 1, times->event[1]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&times->whole[crowd != 0], graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t make_graphs(struct times *times)
{
    cudaError_t error = record_around(times, 0);

    if (error == cudaSuccess)
        error = record_around(times, TIMES_CROWD);
    if (error == cudaSuccess)
        error = ask_graph_of_one(&times->single[0], NODE_RECORD, times->event[0]);
    return error == cudaSuccess ? ask_graph_of_one(&times->single[1], NODE_RECORD, times->event[1]) : error;
}

enum recorder { RECORDED_BY_STREAM, RECORDED_BY_GRAPH, RECORDED_BY_TWO, RECORDED_BY_GRAPHS, RECORDERS };

/* Records the second event in this stream, which may be another one than that of the first; what is to come after it goes there too. */
static cudaError_t record_end(const struct times *times, enum recorder by, cudaStream_t stream, cudaStream_t end)
{
    cudaError_t error = end == stream ? cudaSuccess : cudaEventRecord(times->event[2], stream);

    if (error == cudaSuccess && end != stream)
        error = cudaStreamWaitEvent(end, times->event[2], 0);
    if (error != cudaSuccess)
        return error;
    return by == RECORDED_BY_GRAPHS ? cudaGraphLaunch(times->single[1], end) : cudaEventRecord(times->event[1], end);
}

/* An event, the kernel between, and an event, which is not recorded by the graph of all three. */
static cudaError_t record_both(const struct times *times, enum recorder by, unsigned crowd, cudaStream_t end)
{
    cudaStream_t stream = times->ask->stream;
    cudaError_t error = by == RECORDED_BY_GRAPHS ? cudaGraphLaunch(times->single[0], stream) : cudaEventRecord(times->event[0], stream);
    unsigned i;

    if (error == cudaSuccess)
        error = launch_timed((const void *)SYMBOL(answers_between), &times->args, stream);
    for (i = 0; i < crowd && error == cudaSuccess; i++)
        error = launch_timed((const void *)SYMBOL(answers_idle), &times->args, stream);
    return error == cudaSuccess ? record_end(times, by, stream, end) : error;
}

static cudaError_t run_round(const struct times *times, unsigned round, float *ms)
{
    enum recorder by = (enum recorder)(round % RECORDERS);
    unsigned turn = round / RECORDERS, crowded = turn % 2, crowd = turn % 4 == 3 ? TIMES_LONG_CROWD : TIMES_CROWD;
    cudaStream_t end = by == RECORDED_BY_TWO ? times->ask->side : times->ask->stream;
    cudaError_t error = launch_timed((const void *)SYMBOL(answers_before), &times->args, times->ask->stream);

    if (error == cudaSuccess && by == RECORDED_BY_GRAPH)
        error = cudaGraphLaunch(times->whole[crowded], end);
    else if (error == cudaSuccess)
        error = record_both(times, by, crowded * crowd, end);
    if (error == cudaSuccess)
        error = launch_timed((const void *)SYMBOL(answers_after), &times->args, end);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(end);
    return error == cudaSuccess ? cudaEventElapsedTime(ms, times->event[0], times->event[1]) : error;
}

/* At least what the kernel between the events took: "the resulting time may be greater than expected". Kernels and events need not read one
 * clock, so steps of the kernels' clock and 5 us are left to it. */
static void ask_rounds(struct times *times)
{
    struct host_room *room = times->room;
    unsigned wrong = 0, round;
    cudaError_t error = launch_timed((const void *)SYMBOL(answers_tick), &times->args, times->ask->stream);
    double left;

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(times->ask->stream);
    if (error == cudaSuccess)
        error = make_graphs(times);
    left = 5000.0 + 2.0 * (double)room->state.target_ns;
    for (round = 0; ask_goes_on(times->ask, round, TIMES_ROUNDS) && error == cudaSuccess; round++) {
        double took, least = (double)(room->plan.hold_ns = TIMES_HOLD_NS + 4 * (uint32_t)room->state.target_ns + round / RECORDERS % 3 * 20000);
        float ms = -1.0f;

        room->state.held_ns = room->state.dependent_begin_ns = 0; /* a kernel that does not run leaves its stamp so */
        error = run_round(times, round, &ms);
        took = (double)ms * 1e6;
        wrong += error == cudaSuccess && (!room->state.held_ns || !room->state.dependent_begin_ns || took < least - left);
    }
    ask_expect(times->ask, "the time between two events", error, cudaSuccess);
    ask_expect_none(times->ask, "times between two events that are not those of their last records", wrong, round);
}

/* Work between two events of a stream that is destroyed before the time is asked for; the second one is recorded there or in another stream. */
static cudaError_t time_left(const struct times *times, int apart, float *ms)
{
    cudaStream_t left;
    cudaError_t error = cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking), ended;

    if (error != cudaSuccess)
        return error;
    error = cudaEventRecord(times->event[0], left);
    if (error == cudaSuccess)
        error = launch_timed((const void *)SYMBOL(answers_between), &times->args, left);
    if (error == cudaSuccess)
        error = record_end(times, RECORDED_BY_TWO, left, apart ? times->ask->side : left);
    ended = cudaStreamDestroy(left);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(times->event[1]);
    if (error == cudaSuccess)
        error = ended;
    return error == cudaSuccess ? cudaEventElapsedTime(ms, times->event[0], times->event[1]) : error;
}

/* Events outlive their streams; and no time passes between an event and itself. */
static void ask_left(struct times *times)
{
    double left = 5000.0 + 2.0 * (double)times->room->state.target_ns;
    cudaError_t error = cudaSuccess;
    unsigned i, wrong = 0, passed = 0;

    times->room->plan.hold_ns = TIMES_HOLD_NS + 4 * (uint32_t)times->room->state.target_ns;
    for (i = 0; i < 4 && error == cudaSuccess; i++) {
        float ms = -1.0f, none = -1.0f;
        error = time_left(times, i % 2, &ms);
        wrong += error == cudaSuccess && (double)ms * 1e6 < (double)times->room->plan.hold_ns - left;
        if (error == cudaSuccess)
            error = cudaEventElapsedTime(&none, times->event[i / 2], times->event[i / 2]);
        passed += error == cudaSuccess && none != 0.0f;
    }
    ask_expect(times->ask, "the time between events of a stream that is gone", error, cudaSuccess);
    ask_expect_none(times->ask, "times that are too short since an event of a stream that is gone", wrong, i);
    ask_expect_none(times->ask, "times that passed between an event and itself", passed, i);
}

static void close_times(struct times *times)
{
    unsigned i;

    for (i = 0; i < 2; i++) {
        if (times->whole[i])
            (void)cudaGraphExecDestroy(times->whole[i]);
        if (times->single[i])
            (void)cudaGraphExecDestroy(times->single[i]);
        times->whole[i] = times->single[i] = NULL;
    }
    for (i = 0; i < 3; i++) {
        if (times->event[i])
            (void)cudaEventDestroy(times->event[i]);
        times->event[i] = NULL;
    }
}

static void ask_times_between(struct times *times)
{
    ask_rounds(times);
    ask_left(times);
}

/* Two events with these flags, and one without timing. */
static void ask_times_of(struct times *times, unsigned flags)
{
    if (cudaEventCreateWithFlags(&times->event[0], flags) == cudaSuccess && cudaEventCreateWithFlags(&times->event[1], flags) == cudaSuccess &&
        cudaEventCreateWithFlags(&times->event[2], cudaEventDisableTiming) == cudaSuccess)
        ask_times_between(times);
    else
        ask_skip(times->ask, "an event", "none was made");
    close_times(times);
}

static void ask_times(struct ask *ask)
{
    struct times times = PDL_ZERO;

    times.ask = ask;
    if (!open_room(&times.room, &times.args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    prepare_trial(times.room, 0);
    ask_times_of(&times, cudaEventDefault);
    ask_times_of(&times, cudaEventBlockingSync);
    (void)cudaFreeHost(times.room);
}

/* ---- told ---- */

#define TOLD_ROUNDS 20u
#define TOLD_HOLD_NS 100000u
#define PENDING_ROUNDS 22u
#define ELSEWHERE_ROUND 16u /* from this round on another stream makes the second record */

KERNEL(answers_work) { slow_stores(&args); }

struct told {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaEvent_t event[2], untimed; /* with timing; without it */
    cudaGraphExec_t exec;          /* the work, then a node that records the second event */
    unsigned early, early_times, not_ready, rounds;
    unsigned passed;               /* came before the last of two records */
};

/* An executable graph of this kernel and then a node that records the second event. */
static cudaError_t record_by_node(struct told *told, const void *function, unsigned threads, cudaGraphExec_t *exec)
{
    cudaGraph_t graph;
    cudaGraphNode_t node[2];
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], graph, function, &told->args, threads);
    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&node[1], graph, &node[0], 1, told->event[1]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t open_told(struct told *told, struct ask *ask)
{
    cudaError_t error = open_room(&told->room, &told->args) ? cudaSuccess : cudaErrorMemoryAllocation;

    told->ask = ask;
    if (error == cudaSuccess)
        error = cudaEventCreate(&told->event[0]);
    if (error == cudaSuccess)
        error = cudaEventCreate(&told->event[1]);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&told->untimed, cudaEventDisableTiming);
    return error == cudaSuccess ? record_by_node(told, (const void *)SYMBOL(answers_work), ASK_WORDS / 2, &told->exec) : error;
}

static void close_told(struct told *told)
{
    (void)cudaDeviceSynchronize();
    if (told->exec)
        (void)cudaGraphExecDestroy(told->exec);
    if (told->event[0])
        (void)cudaEventDestroy(told->event[0]);
    if (told->event[1])
        (void)cudaEventDestroy(told->event[1]);
    if (told->untimed)
        (void)cudaEventDestroy(told->untimed);
    (void)cudaFreeHost(told->room);
}

/* The second event is complete from the round before. Asked at once, it may say so again only if the work has stored its words; and there is no
 * time as long as it is not complete, neither until it nor since it, whether the first event is complete or not. */
static cudaError_t ask_again(struct told *told, unsigned round)
{
    float ms;
    cudaStream_t stream = told->ask->stream;
    cudaError_t error, query, time, since;
    int early;

    prepare_trial(told->room, round);
    told->room->plan.hold_ns = TOLD_HOLD_NS;
    error = cudaEventRecord(told->event[0], stream);
    if (error == cudaSuccess && round % 2)
        error = cudaGraphLaunch(told->exec, stream);
    if (error == cudaSuccess && round % 2 == 0)
        error = launch_one((const void *)SYMBOL(answers_work), &told->args, ASK_WORDS / 2, stream, NULL, 0);
    if (error == cudaSuccess && round % 2 == 0)
        error = cudaEventRecord(told->event[1], stream);
    if (error != cudaSuccess)
        return error;
    query = cudaEventQuery(told->event[1]);
    if (query != cudaSuccess && query != cudaErrorNotReady)
        return query;
    early = query == cudaSuccess && work_is_stale(told->room);
    time = cudaEventElapsedTime(&ms, told->event[0], told->event[1]);
    since = cudaEventElapsedTime(&ms, told->event[1], told->event[0]);
    query = cudaEventQuery(told->event[1]);
    if (query != cudaSuccess && query != cudaErrorNotReady)
        return query;
    told->early += early || (query == cudaSuccess && work_is_stale(told->room));
    told->not_ready += query == cudaErrorNotReady; /* so it was not complete before that either */
    told->early_times += query == cudaErrorNotReady && (time != cudaErrorNotReady || since != cudaErrorNotReady);
    (void)cudaGetLastError();
    told->rounds++;
    error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaEventQuery(told->event[1]);
    return error == cudaSuccess ? cudaEventQuery(told->event[1]) : error; /* now everybody knows that it is complete */
}

/* Counts its launches, late. */
KERNEL(answers_counted)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t before = k_load_relaxed(&args.state->began);

    k_delay(args.state, plan.hold_ns);
    k_store_relaxed(&args.state->began, before + 1);
}
/* Takes longer, and tells so at another place: for another stream. */
KERNEL(answers_elsewhere)
{
    k_delay(args.state, 2 * (uint64_t)k_plan(&args).hold_ns);
    k_store_relaxed(&args.state->alive, 1);
}
/* How many it counted by now. */
KERNEL(answers_count_seen) { k_store_relaxed(&args.state->finished, k_load_relaxed(&args.state->began)); }

/* The kernel that counts and a record of the second event, by the graph or by the stream. */
static cudaError_t count_and_record(struct told *told, cudaGraphExec_t exec, int by_graph)
{
    cudaStream_t stream = told->ask->stream;
    cudaError_t error;

    if (by_graph)
        return cudaGraphLaunch(exec, stream);
    error = launch_timed((const void *)SYMBOL(answers_counted), &told->args, stream);
    return error == cudaSuccess ? cudaEventRecord(told->event[1], stream) : error;
}

/* A record that still was to come when the event was recorded again counts no more: who waits for the event, another stream or the host, comes
 * after the second one. */
static cudaError_t record_while_pending(struct told *told, cudaGraphExec_t exec, unsigned round)
{
    volatile const struct trial_state *state = &told->room->state;
    cudaStream_t side = told->ask->side;
    cudaError_t error;
    uint32_t seen = 0;

    prepare_trial(told->room, round);
    told->room->plan.hold_ns = 20000;
    error = count_and_record(told, exec, round % 4 != 1);
    if (error == cudaSuccess)
        error = count_and_record(told, exec, round % 4 != 2);
    if (error == cudaSuccess && round / 4 % 2) {
        error = cudaEventSynchronize(told->event[1]);
        seen = state->began;
    } else if (error == cudaSuccess) {
        error = cudaStreamWaitEvent(side, told->event[1], 0);
        if (error == cudaSuccess)
            error = launch_timed((const void *)SYMBOL(answers_count_seen), &told->args, side);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(side);
        seen = state->finished;
    }
    told->passed += error == cudaSuccess && seen != 2;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The same for the host if another stream records it the second time: then it stands for what that stream holds. */
static cudaError_t record_elsewhere(struct told *told, unsigned round)
{
    volatile const struct trial_state *state = &told->room->state;
    cudaStream_t side = told->ask->side;
    cudaError_t error;

    prepare_trial(told->room, round);
    told->room->plan.hold_ns = 20000;
    error = count_and_record(told, NULL, 0);
    if (error == cudaSuccess)
        error = launch_timed((const void *)SYMBOL(answers_elsewhere), &told->args, side);
    if (error == cudaSuccess)
        error = cudaEventRecord(told->event[1], side);
    if (error == cudaSuccess)
        do
            error = round % 2 ? cudaEventQuery(told->event[1]) : cudaEventSynchronize(told->event[1]);
        while (error == cudaErrorNotReady);
    told->passed += error == cudaSuccess && !state->alive;
    (void)cudaGetLastError();
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void ask_pending(struct told *told)
{
    cudaGraphExec_t exec = NULL;
    unsigned round;
    cudaError_t error = record_by_node(told, (const void *)SYMBOL(answers_counted), 1, &exec);

    for (round = 0; ask_goes_on(told->ask, round, PENDING_ROUNDS) && error == cudaSuccess; round++)
        error = round < ELSEWHERE_ROUND ? record_while_pending(told, exec, round) : record_elsewhere(told, round);
    ask_expect(told->ask, "events that are recorded while a record of them is to come", error, cudaSuccess);
    ask_expect_none(told->ask, "who waited for such an event and came before the second record", told->passed, round);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
}

/* "If cudaEventRecord() has not been called on event, ... cudaSuccess", also a second time. */
static void ask_fresh(struct ask *ask)
{
    static const unsigned flags[] = { cudaEventDefault, cudaEventDisableTiming, cudaEventBlockingSync,
                                      cudaEventBlockingSync | cudaEventDisableTiming };
    unsigned i;

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        cudaEvent_t fresh = NULL;
        cudaError_t error = cudaEventCreateWithFlags(&fresh, flags[i]);
        if (error == cudaSuccess)
            error = cudaEventQuery(fresh);
        if (error == cudaSuccess)
            error = cudaEventSynchronize(fresh);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(ask->side, fresh, 0);
        if (error == cudaSuccess)
            error = cudaEventQuery(fresh);
        ask_expect(ask, "an event that was never recorded", error, cudaSuccess);
        if (fresh)
            (void)cudaEventDestroy(fresh);
    }
}

static void ask_refusals(struct told *told)
{
    struct ask *ask = told->ask;
    cudaEvent_t never;
    float ms;

    ask_expect(ask, "an event", cudaEventCreate(&never), cudaSuccess);
    ask_expect_refusal(ask, "the time since an event that was never recorded", cudaEventElapsedTime(&ms, never, told->event[1]));
    ask_expect_refusal(ask, "the time until an event that was never recorded", cudaEventElapsedTime(&ms, told->event[0], never));
    ask_expect(ask, "recording an event without timing", cudaEventRecord(told->untimed, ask->stream), cudaSuccess);
    ask_expect(ask, "its end", cudaEventSynchronize(told->untimed), cudaSuccess);
    ask_expect_refusal(ask, "the time since an event without timing", cudaEventElapsedTime(&ms, told->untimed, told->event[1]));
    ask_expect_refusal(ask, "the time until an event without timing", cudaEventElapsedTime(&ms, told->event[0], told->untimed));
    ask_expect_refusal(ask, "a record for captures only, outside of captures",
                       cudaEventRecordWithFlags(told->event[0], ask->stream, cudaEventRecordExternal));
    (void)cudaEventDestroy(never);
}

static void ask_told(struct ask *ask)
{
    struct told told = PDL_ZERO;
    cudaError_t error = open_told(&told, ask);
    unsigned round;

    for (round = 0; ask_goes_on(ask, round, TOLD_ROUNDS) && error == cudaSuccess; round++)
        error = ask_again(&told, round);
    ask_expect(ask, "events that are recorded again", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_pending(&told);
    if (error == cudaSuccess)
        ask_refusals(&told);
    ask_fresh(ask);
    if (error == cudaSuccess && told.not_ready < TOLD_ROUNDS / 4)
        ask_skip(ask, "events that are recorded again", "the work had ended before the host could ask");
    ask_expect_none(ask, "events that were said to be complete and were not", told.early, told.rounds);
    ask_expect_none(ask, "times of events that were not complete", told.early_times, told.rounds);
    close_told(&told);
}

#include "event_nodes.h"

static const struct pair event_answers_pairs[] = {
    PAIR_ASK("times", ask_times),
    PAIR_ASK("told", ask_told),
    PAIR_ASK("moved", ask_moved),
};
IMAGE(event_answers, event_answers_pairs)
