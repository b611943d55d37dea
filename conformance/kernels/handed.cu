/* handed.cu - work that is handed on: whoever comes after it finds it, in every combination of what can be drawn.
 *
 * pair      rule     what is asked
 * streams   COMP-17  slow work, a step after it in its stream, and a step that comes after both: in the same stream, after an event, by the
 *                    default streams' own order, or because the host waited; streams and events of each kind, recorded in each way,
 *                    launched or captured
 *
 * Faults that need two or three things together are seen by no question that changes one thing at a time. Here the seed draws all of them.
 * Two things are not left to the draw: each step stands right after each other step, and after each number of events.
 * Mutant `otherstream`: the last step runs in a stream that waits for nothing.
 */
#include <cuda.h>
#include <string.h>

#include "driver_function.h"
#include "graph_ask.h"
#include "host_room.h"

#define CELL 16u               /* words */
#define CELLS 3u               /* the slow work's, that of work which is joined, and the first step's */
#define SPAN (CELLS * CELL)
#define LARGE_BLOCKS 1025u
#define TEXT 768u
#define HANDS 8u               /* for each trial of the profile */
#define TURNS 8u               /* what trials are for in turn: see pair_steps() */
#define MORE 40u               /* other events that a stream awaits, at most */

KERNEL(handed_work) { slow_stores(&args); }
KERNEL(handed_later) { (void)args; }
KERNEL(handed_step) { follower_copies(&args, 0); }
/* Meets in barriers before it waits. */
KERNEL(handed_waiting)
{
    k_barrier();
    k_barrier();
    follower_copies(&args, 1);
}

/* Some of many blocks copy a word each: others in each trial. */
DEVICE_FN void some_blocks_copy(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t back = k_blocks() - 1 - k_block(), each = LARGE_BLOCKS / SPAN, word = back / each;

    if (back % each == plan.key % each && word < plan.words)
        k_store(args->seen + word, k_load(args->data + word));
}

KERNEL(handed_large) { some_blocks_copy(&args); }

/* The same, and each block waits. */
KERNEL(handed_large_waiting)
{
    k_wait_device();
    some_blocks_copy(&args);
}

/* Launched with the attribute: neither waits nor reads. */
KERNEL(handed_early)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() < plan.words)
        k_store(args.seen + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Makes its words visible to all before it triggers: the launch's event stands for them. */
KERNEL(handed_fenced)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() < plan.words)
        k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
    k_fence_system();
    k_barrier();
    k_trigger();
}

/* Triggers before it stores: who waits for the launch's event, and in its kernel, finds the words. */
KERNEL(handed_late)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t word = k_thread() < plan.words ? k_load(args.data + k_thread()) : 0;

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    if (k_thread() < plan.words)
        k_store(args.seen + k_thread(), word);
}

enum step { STEP_KERNEL, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LONG_COPY, STEP_SET, STEP_WIDE_SET, STEP_WORD_SET, STEP_SET_ROWS,
            STEP_LONG_SET, STEP_REPLACE, STEP_HOST, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_NONE, STEP_EARLY, STEP_FENCED, STEP_WAITING,
            STEP_LARGE_WAITING, STEP_COOPERATIVE };
static const char *const step_name[] = { "a kernel", "a large grid", "a copy", "a copy of rows", "a long copy", "a memset",
                                         "a memset of 16-bit values", "a memset of 32-bit values",
                                         "a memset of rows", "a long memset", "a copy over the words", "a host function", "a graph",
                                         "the second executable graph of a graph", "nothing",
                                         "a kernel that overlaps", "a kernel with a programmatic event", "a kernel that waits",
                                         "a large grid that waits", "a cooperative kernel" };
static const enum step first_steps[] = { STEP_KERNEL, STEP_LARGE, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LONG_COPY, STEP_SET,
                                         STEP_WIDE_SET, STEP_WORD_SET, STEP_SET_ROWS, STEP_LONG_SET,
                                         STEP_REPLACE, STEP_HOST, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_NONE, STEP_EARLY };
static const enum step last_steps[] = { STEP_KERNEL, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LONG_COPY, STEP_SET, STEP_WIDE_SET,
                                        STEP_WORD_SET, STEP_SET_ROWS, STEP_LONG_SET,
                                        STEP_REPLACE, STEP_HOST, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_WAITING, STEP_WAITING,
                                        STEP_LARGE_WAITING,
                                        STEP_COOPERATIVE };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum kind { KIND_NON_BLOCKING, KIND_BLOCKING, KIND_URGENT, KIND_URGENT_NON_BLOCKING, KIND_PER_THREAD, KIND_LEGACY, KINDS };
static const char *const kind_name[KINDS] = { "a non-blocking stream", "a blocking stream", "a blocking stream of the highest priority",
                                              "a non-blocking stream of the highest priority", "the per-thread stream",
                                              "the legacy stream" };

enum link { LINK_SAME, LINK_EVENT, LINK_LEGACY, LINK_EVENT_SYNC, LINK_EVENT_POLL, LINK_STREAM_SYNC, LINK_STREAM_POLL, LINKS };
static const char *const link_name[LINKS] = { "in the same stream", "after an event", "by the legacy stream's order",
                                              "after the host waited for an event",
                                              "after the host polled an event", "after the host waited for the stream",
                                              "after the host polled the stream" };

enum recorder { BY_CALL, BY_FLAGS_CALL, BY_NODE, BY_EXTERNAL, BY_LAUNCH, RECORDERS };
static const char *const recorder_name[RECORDERS] = { "recorded", "recorded with flags", "recorded by a node",
                                                      "recorded by a captured external record",
                                                      "recorded by the launch" };

#define EVENTS 5u
static const unsigned event_flags[EVENTS] = { cudaEventDisableTiming, cudaEventDefault, cudaEventDisableTiming | cudaEventBlockingSync,
                                              cudaEventBlockingSync, cudaEventDisableTiming | cudaEventInterprocess };
static const char *const event_name[EVENTS] = { "an event", "an event with timing", "an event with blocking sync",
                                                "an event with timing and blocking sync",
                                                "an interprocess event" };
#define EVENT_IPC 4u
static int has_timing(unsigned event) { return !(event_flags[event] & cudaEventDisableTiming); }

static const char *const mode_name[4] = { "launched", "captured", "captured in the thread's mode", "captured in the relaxed mode" };
static const enum cudaStreamCaptureMode mode_of[4] = { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeGlobal,
                                                       cudaStreamCaptureModeThreadLocal,
                                                       cudaStreamCaptureModeRelaxed };

enum { JOINS_NOTHING, JOINS_WORK, JOINS_COPY }; /* JOINS_COPY: a copy there hands on what the work stored */

enum dress { DRESS_NONE, DRESS_CLUSTER, DRESS_COOPERATIVE, DRESS_SHARED, DRESS_URGENT, DRESS_DOMAIN, DRESS_EVENT,
             DRESS_COOPERATIVE_CLUSTER, DRESSES }; /* how a kernel is launched */
static const char *const dress_name[DRESSES] = { "", "in clusters", "cooperative", "with shared memory", "of the highest priority",
                                                 "in the remote memory-sync domain", "with a programmatic event that nobody awaits",
                                                 "cooperative and in clusters" };
enum hint { HINT_NONE, HINT_CARVEOUT, HINT_MAP, HINT_SCHEDULING, HINT_WINDOW, HINT_NVLINK, HINTS }; /* what the launch has besides */
static const char *const hint_name[HINTS] = { "", "a carve-out", "a map of memory-sync domains", "a scheduling policy", "an access policy window",
                                              "NVLink-centric scheduling" };
enum place { PLACE_WORK, PLACE_JOINED, PLACE_FIRST, PLACE_LAST, PLACES };
static const char *const place_name[PLACES] = { "the work", "the joined work", "the first step", "the last step" };

enum give { GIVE_NOTHING, GIVE_PRIORITY, GIVE_DOMAIN, GIVE_POLICY, GIVE_WINDOW, GIVES }; /* what a stream is given before the trial */
static const char *const give_name[GIVES] = { "", "another priority", "the remote memory-sync domain", "another synchronization policy",
                                              "an access policy window" };

struct way {                   /* how a step is launched */
    enum step step;
    enum dress dress;
};

struct hand {                  /* what is drawn for a trial */
    enum step first, last;
    enum kind from, to;        /* streams */
    enum link link;
    enum recorder recorder;
    unsigned event, mode;      /* mode: 0 if all but an external record is launched */
    int asks;                  /* the host asks for the event before a stream waits for it */
    int by_node;               /* the wait for the event is a node of a graph */
    enum dress dress[PLACES];  /* of those that are kernels */
    enum hint hint[PLACES];    /* the same */
    unsigned joins;            /* the first stream awaits a third one: JOINS_* */
    unsigned more;             /* so many other events the last stream awaits as well */
    int more_first;            /* those are recorded before the work, not after it */
    int behind_graph;          /* in the last stream stands an empty graph, before what it awaits */
    enum give give[2];         /* of the two streams, if they are made by a call */
    unsigned items;            /* small copies and memsets of other words between the work and the first step */
    unsigned awaited;          /* so often another stream was told to wait for the event before */
    int fresh, asked_fresh, awaited_fresh; /* the event is made for this trial; it was asked for, or awaited, before it was recorded */
    enum recorder again;       /* how the event is recorded again once a stream waits for it; BY_LAUNCH: it is not */
    int late;                  /* the launch's event says nothing of its words yet */
    int leaves;                /* the first stream is made for this trial, and destroyed once the event is recorded */
    unsigned later;            /* so many kernels come after the record, in the first stream */
    int marked;                /* an event that nobody waits for is recorded after the work, in the first stream */
    int by_thread;             /* another thread of the host makes the calls */
};

/* ---- what is drawn ---- */

static unsigned drawn(uint64_t seed, unsigned trial, unsigned purpose, unsigned below)
{
    return (words_fresh(seed ^ 0x9E3779B97F4A7C15ull * (purpose + 1), trial) >> 4) % below;
}

static int is_made(enum kind kind) { return kind < KIND_PER_THREAD; }
static int blocks_legacy(enum kind kind) { return kind == KIND_BLOCKING || kind == KIND_URGENT || kind == KIND_PER_THREAD; }
static int is_graph(enum step step) { return step == STEP_GRAPH || step == STEP_SECOND_GRAPH; }
static int is_set(enum step step) { return step >= STEP_SET && step <= STEP_REPLACE; }
static int is_large(enum step step) { return step == STEP_LARGE || step == STEP_LARGE_WAITING; }
static int is_kernel(enum step step) { return step == STEP_KERNEL || is_large(step) || step >= STEP_EARLY; }
static int is_cooperative(enum dress dress) { return dress == DRESS_COOPERATIVE || dress == DRESS_COOPERATIVE_CLUSTER; }
static int waits(enum step step) { return step == STEP_WAITING || step == STEP_LARGE_WAITING; }
static int has_event(const struct hand *h) { return h->link == LINK_EVENT || h->link == LINK_EVENT_SYNC || h->link == LINK_EVENT_POLL; }

/* What no document promises together, or CUDA does not take, is replaced by something plain. */
static void mend_steps(struct hand *h)
{
    if (h->recorder == BY_LAUNCH && has_event(h)) { /* the event says nothing but that all blocks have triggered: whoever reads has to wait */
        h->first = STEP_FENCED;
        h->last = waits(h->last) ? h->last : STEP_WAITING;
    }
    if (h->first == STEP_EARLY && waits(h->last))
        h->first = STEP_KERNEL; /* that it has ended does not say that the work before it has */
    if ((h->joins || h->by_node) && h->last == STEP_LARGE_WAITING)
        h->last = STEP_WAITING; /* a grid that may begin at once could leave no room for work that it has to wait for */
    if (h->first == STEP_LONG_COPY && (h->last == STEP_HOST || is_set(h->last) || is_graph(h->last)))
        h->last = STEP_KERNEL; /* the last step reads what was copied, in the device's memory */
    if (h->first == STEP_HOST && (h->last == STEP_LONG_COPY || h->last == STEP_LONG_SET)) /* what is long lies in the device's memory */
        h->last = h->last == STEP_LONG_COPY ? STEP_COPY : STEP_SET;
    if (h->first == STEP_LONG_SET && h->last == STEP_HOST)
        h->first = STEP_SET;
    if (h->link == LINK_LEGACY && h->first == STEP_HOST && h->last == STEP_COPY)
        h->last = STEP_ROWS; /* a short copy of what a host function wrote is COMP-06c's question */
}

/* A large grid is not made of clusters. No launch is cooperative and may overlap as well; who records an event is launched in a plain way. */
static void mend_dress(enum step step, enum dress *dress)
{
    int cooperative = is_cooperative(*dress), grouped = cooperative || *dress == DRESS_CLUSTER;

    if (step == STEP_COOPERATIVE) {
        *dress = cooperative ? *dress : DRESS_COOPERATIVE;
        return;
    }
    if (!is_kernel(step) || (is_large(step) && grouped) || (step >= STEP_EARLY && cooperative))
        *dress = DRESS_NONE;
    if (step == STEP_FENCED && (grouped || *dress == DRESS_DOMAIN || *dress == DRESS_EVENT))
        *dress = DRESS_NONE;
}

/* Who is fenced makes its words visible in its own domain. */
static void mend_hints(struct hand *h)
{
    if (!is_kernel(h->first) || (h->first == STEP_FENCED && h->hint[PLACE_FIRST] == HINT_MAP))
        h->hint[PLACE_FIRST] = HINT_NONE;
    if (!is_kernel(h->last))
        h->hint[PLACE_LAST] = HINT_NONE;
    if (!h->joins)
        h->hint[PLACE_JOINED] = HINT_NONE;
}

/* What is captured, wholly or up to an external record, records no event for others. Another thread does not capture, and its own stream
 * is not that of this one. */
static void mend_place(struct hand *h)
{
    int captured = h->mode || (h->recorder == BY_EXTERNAL && has_event(h));
    unsigned i;

    for (i = 0; i < PLACES && captured; i++)
        h->dress[i] = h->dress[i] == DRESS_EVENT ? DRESS_NONE : h->dress[i];
    if (captured && !h->mode)
        h->more = 0;
    if (h->mode || h->link != LINK_EVENT)
        h->behind_graph = 0;
    if (h->link != LINK_EVENT && h->link != LINK_SAME)
        h->more = 0;
    if (h->mode)
        h->by_thread = 0;
    if (h->by_thread && h->from == KIND_PER_THREAD)
        h->from = KIND_BLOCKING;
    if (h->by_thread && h->to == KIND_PER_THREAD)
        h->to = KIND_BLOCKING;
}

/* A stream that leaves is not needed any more; who is fenced makes its words visible in its own domain. */
static void mend_streams(struct hand *h)
{
    int later = h->link == LINK_EVENT || h->link == LINK_EVENT_SYNC || h->link == LINK_EVENT_POLL;

    if (h->mode || !is_made(h->from) || !(later || h->link == LINK_LEGACY))
        h->leaves = 0;
    if (h->mode || !later)
        h->later = h->awaited = h->fresh = 0;
    if (h->mode)
        h->marked = 0;
    if (h->mode || h->link != LINK_EVENT || (h->by_node && h->again == BY_NODE))
        h->again = BY_LAUNCH;
    if (h->by_node || h->recorder == BY_NODE || h->again == BY_NODE)
        h->fresh = 0; /* nodes name events that are there */
    if (h->recorder != BY_LAUNCH || h->link != LINK_EVENT)
        h->late = 0; /* the host waits for no kernel by its event */
    h->give[0] = is_made(h->from) && !(h->first == STEP_FENCED && h->give[0] == GIVE_DOMAIN) ? h->give[0] : GIVE_NOTHING;
    h->give[1] = is_made(h->to) && h->link != LINK_SAME ? h->give[1] : GIVE_NOTHING;
}

static void mend(struct hand *h)
{
    int may_capture = h->link == LINK_SAME || h->link == LINK_EVENT;

    if (h->link == LINK_LEGACY && !(h->from == KIND_LEGACY && blocks_legacy(h->to))) {
        h->from = blocks_legacy(h->from) ? h->from : KIND_BLOCKING;
        h->to = KIND_LEGACY;
    }
    if (!may_capture || h->from == KIND_LEGACY || h->to == KIND_LEGACY || is_graph(h->first) || is_graph(h->last))
        h->mode = 0;
    if (h->mode || h->link != LINK_EVENT)
        h->asks = h->by_node = 0;
    if (h->mode)
        h->recorder = h->recorder == BY_CALL ? BY_CALL : BY_FLAGS_CALL;
    if (h->recorder == BY_EXTERNAL && (h->from == KIND_LEGACY || is_graph(h->first)))
        h->recorder = BY_CALL;
    if (h->event == EVENT_IPC && (h->mode || h->recorder == BY_EXTERNAL || h->recorder == BY_LAUNCH))
        h->event = 2;
    if (h->recorder == BY_LAUNCH && has_timing(h->event)) /* "must disable timing" */
        h->event = 2;
    if (h->recorder == BY_LAUNCH) /* who waits by a node has no primary */
        h->by_node = 0;
    if (h->link == LINK_LEGACY && h->first == STEP_NONE)
        h->joins = JOINS_NOTHING; /* a wait that nothing came after is no work that the legacy stream waits for */
    mend_place(h);
    mend_steps(h);
    mend_dress(h->first, &h->dress[PLACE_FIRST]);
    mend_dress(h->last, &h->dress[PLACE_LAST]);
    mend_hints(h);
    mend_streams(h);
}

/* What stands in a row, in each way that needs more than a priority. */
static const struct way ways_first[] = {
    { STEP_KERNEL, DRESS_NONE }, { STEP_KERNEL, DRESS_CLUSTER }, { STEP_KERNEL, DRESS_COOPERATIVE }, { STEP_KERNEL, DRESS_SHARED },
    { STEP_KERNEL, DRESS_DOMAIN }, { STEP_KERNEL, DRESS_EVENT }, { STEP_KERNEL, DRESS_COOPERATIVE_CLUSTER },
    { STEP_LARGE, DRESS_NONE }, { STEP_COPY, DRESS_NONE }, { STEP_ROWS, DRESS_NONE }, { STEP_LONG_COPY, DRESS_NONE }, { STEP_SET, DRESS_NONE },
    { STEP_WIDE_SET, DRESS_NONE }, { STEP_WORD_SET, DRESS_NONE }, { STEP_SET_ROWS, DRESS_NONE }, { STEP_LONG_SET, DRESS_NONE },
    { STEP_REPLACE, DRESS_NONE },
    { STEP_HOST, DRESS_NONE }, { STEP_GRAPH, DRESS_NONE }, { STEP_NONE, DRESS_NONE }
};
static const struct way ways_last[] = {
    { STEP_KERNEL, DRESS_NONE }, { STEP_KERNEL, DRESS_CLUSTER }, { STEP_KERNEL, DRESS_SHARED }, { STEP_KERNEL, DRESS_DOMAIN },
    { STEP_KERNEL, DRESS_EVENT }, { STEP_COOPERATIVE, DRESS_COOPERATIVE },
    { STEP_COOPERATIVE, DRESS_COOPERATIVE_CLUSTER }, { STEP_WAITING, DRESS_NONE }, { STEP_WAITING, DRESS_CLUSTER }, { STEP_WAITING, DRESS_SHARED },
    { STEP_WAITING, DRESS_DOMAIN }, { STEP_WAITING, DRESS_EVENT }, { STEP_LARGE, DRESS_NONE },
    { STEP_LARGE_WAITING, DRESS_NONE }, { STEP_COPY, DRESS_NONE }, { STEP_ROWS, DRESS_NONE }, { STEP_LONG_COPY, DRESS_NONE },
    { STEP_SET, DRESS_NONE }, { STEP_WIDE_SET, DRESS_NONE }, { STEP_WORD_SET, DRESS_NONE }, { STEP_SET_ROWS, DRESS_NONE },
    { STEP_LONG_SET, DRESS_NONE }, { STEP_REPLACE, DRESS_NONE }, { STEP_HOST, DRESS_NONE }, { STEP_GRAPH, DRESS_NONE }
};

static const unsigned more_events[] = { 0, 1, 3, 5, 16, 40 };

/* In 1 of 8 trials a step stands right after another one in their stream, in 1 of 8 after several events: each with each, in turn, because
 * drawing leaves some out. */
static void pair_steps(struct hand *h, unsigned trial)
{
    unsigned round = trial / TURNS, turn = trial % TURNS;
    unsigned others = turn ? COUNT(more_events) : COUNT(ways_first), other = round % others;
    struct way last = ways_last[round / others % COUNT(ways_last)];

    if (turn > 1)
        return;
    h->mode = 0;
    h->items = 0;
    h->marked = 0; /* nothing stands between them */
    h->link = turn ? LINK_EVENT : LINK_SAME;
    h->recorder = BY_CALL;
    h->more = turn ? more_events[other] : 0;
    h->first = turn ? h->first : ways_first[other].step;
    h->dress[PLACE_FIRST] = turn ? h->dress[PLACE_FIRST] : ways_first[other].dress;
    h->last = last.step;
    h->dress[PLACE_LAST] = last.dress;
}

/* Mostly few, now and then very many. */
static unsigned some_kernels(unsigned of_64)
{
    return of_64 < 40 ? 1 : of_64 < 50 ? 2 : of_64 < 54 ? 10 : of_64 < 57 ? 40 : of_64 < 61 ? 80 : of_64 < 63 ? 300 : 1100;
}

static struct hand draw_hand(uint64_t seed, unsigned trial)
{
    static const enum link links[] = { LINK_SAME, LINK_SAME, LINK_EVENT, LINK_EVENT, LINK_LEGACY, LINK_EVENT_SYNC, LINK_EVENT_POLL,
                                       LINK_STREAM_SYNC, LINK_STREAM_POLL, LINK_EVENT };
    struct hand h;
    unsigned i;

    h.first = first_steps[drawn(seed, trial, 1, COUNT(first_steps))];
    h.last = last_steps[drawn(seed, trial, 2, COUNT(last_steps))];
    h.from = (enum kind)drawn(seed, trial, 3, KINDS);
    h.to = (enum kind)drawn(seed, trial, 4, KINDS);
    h.link = links[drawn(seed, trial, 5, COUNT(links))];
    h.recorder = (enum recorder)drawn(seed, trial, 6, RECORDERS);
    h.event = drawn(seed, trial, 7, EVENTS);
    h.mode = drawn(seed, trial, 8, 2) ? 1 + drawn(seed, trial, 9, 3) : 0;
    h.joins = drawn(seed, trial, 10, 3) ? JOINS_NOTHING : JOINS_WORK + drawn(seed, trial, 10, 6) / 3;
    h.asks = drawn(seed, trial, 11, 3) == 0;
    h.by_node = drawn(seed, trial, 29, 3) == 0;
    for (i = 0; i < PLACES; i++)
        h.dress[i] = drawn(seed, trial, 12 + i, 2) ? DRESS_NONE : (enum dress)(1 + drawn(seed, trial, 12 + PLACES + i, DRESSES - 1));
    for (i = 0; i < PLACES; i++)
        h.hint[i] = drawn(seed, trial, 48 + i, 3) ? HINT_NONE : (enum hint)(1 + drawn(seed, trial, 48 + PLACES + i, HINTS - 1));
    h.more = drawn(seed, trial, 24, 2) ? 0 : more_events[drawn(seed, trial, 25, COUNT(more_events))];
    h.more_first = drawn(seed, trial, 26, 2) != 0;
    h.behind_graph = drawn(seed, trial, 27, 2) != 0;
    for (i = 0; i < 2; i++)
        h.give[i] = drawn(seed, trial, 30 + i, 2) ? GIVE_NOTHING : (enum give)(1 + drawn(seed, trial, 32 + i, GIVES - 1));
    h.leaves = drawn(seed, trial, 34, 4) == 0;
    h.later = drawn(seed, trial, 35, 3) == 0 ? some_kernels(drawn(seed, trial, 36, 64)) : 0;
    h.items = drawn(seed, trial, 37, 8) ? 0 : drawn(seed, trial, 45, 24) ? 12 : 1100;
    h.again = drawn(seed, trial, 46, 4) ? BY_LAUNCH : drawn(seed, trial, 47, 2) ? BY_CALL : BY_NODE;
    h.awaited = drawn(seed, trial, 38, 3) == 0 ? 1 + drawn(seed, trial, 39, 8) * 3 : 0;
    h.fresh = drawn(seed, trial, 40, 4) == 0;
    h.asked_fresh = drawn(seed, trial, 41, 2) != 0;
    h.awaited_fresh = drawn(seed, trial, 42, 2) != 0;
    h.late = drawn(seed, trial, 43, 2) != 0;
    h.marked = drawn(seed, trial, 44, 4) == 0;
    pair_steps(&h, trial);
    h.by_thread = drawn(seed, trial, 28, 8) == 0 || (trial % 2 == 0 && (is_large(h.first) || is_large(h.last)));
    mend(&h);
    return h;
}

static void tell_hand(const struct hand *h, char *text, size_t room)
{
    char more[64];
    unsigned i;

    snprintf(text, room, "%s%s in %s; %s", h->joins == JOINS_COPY ? "joined copy, then " : h->joins ? "joined work, then " : "",
             step_name[h->first], kind_name[h->from], link_name[h->link]);
    if (has_event(h)) {
        ask_append(text, room, ", which is ");
        ask_append(text, room, event_name[h->event]);
        ask_append(text, room, " ");
        ask_append(text, room, recorder_name[h->recorder]);
        ask_append(text, room, h->asks ? " and asked for" : "");
        ask_append(text, room, h->by_node ? " and awaited by a node" : "");
    }
    if (h->more) {
        snprintf(more, sizeof(more), ", and after %u others that are recorded %s", h->more, h->more_first ? "before the work" : "after it");
        ask_append(text, room, more);
    }
    if (h->items) {
        snprintf(more, sizeof(more), ", after %u copies and memsets", h->items);
        ask_append(text, room, more);
    }
    ask_append(text, room, h->again != BY_LAUNCH ? ", an event that is recorded again" : "");
    ask_append(text, room, h->late ? ", which stores after its trigger" : "");
    ask_append(text, room, h->marked ? ", which a record follows" : "");
    ask_append(text, room, h->fresh ? ", a new event" : "");
    ask_append(text, room, h->awaited ? ", which another stream awaits as well" : "");
    if (h->later) {
        snprintf(more, sizeof(more), ", before %u later kernels", h->later);
        ask_append(text, room, more);
    }
    ask_append(text, room, h->leaves ? ", whose stream is destroyed then" : "");
    ask_append(text, room, h->behind_graph ? ", after an empty graph: " : ": ");
    ask_append(text, room, step_name[h->last]);
    if (h->link != LINK_SAME) {
        ask_append(text, room, " in ");
        ask_append(text, room, kind_name[h->to]);
    }
    ask_append(text, room, "; ");
    ask_append(text, room, mode_name[h->mode]);
    ask_append(text, room, h->by_thread ? " by another thread" : "");
    for (i = 0; i < 2; i++) {
        if (!h->give[i])
            continue;
        ask_append(text, room, i ? "; the last stream was given " : "; the first stream was given ");
        ask_append(text, room, give_name[h->give[i]]);
    }
    for (i = 0; i < PLACES; i++) {
        if (!h->dress[i] || (i == PLACE_JOINED && !h->joins))
            continue;
        ask_append(text, room, "; ");
        ask_append(text, room, place_name[i]);
        ask_append(text, room, " ");
        ask_append(text, room, dress_name[h->dress[i]]);
    }
    for (i = 0; i < PLACES; i++) {
        if (!h->hint[i])
            continue;
        ask_append(text, room, "; ");
        ask_append(text, room, place_name[i]);
        ask_append(text, room, " with ");
        ask_append(text, room, hint_name[h->hint[i]]);
    }
}

#include "handed_room.h"
#include "handed_steps.h"

/* ---- a trial ---- */

struct handed_answers {
    unsigned stale[LINKS], trials[LINKS], short_times, times;
    char first[LINKS][TEXT];    /* what was stale first */
};

static cudaError_t run_hand(struct handed *d, const struct hand *h, struct handed_answers *answers)
{
    float ms = 0;
    cudaError_t error = prepare_hand(d, h), closed;

    if (error == cudaSuccess)
        error = h->mode ? capture_hand(d, h) : h->by_thread ? launch_by_thread(d, h) : launch_hand(d, h);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = fetch_hand(d);
    if (error == cudaSuccess && d->timed) {
        error = cudaEventElapsedTime(&ms, d->begin, event_of(d, h));
        answers->times++;
        answers->short_times += error == cudaSuccess && (double)ms * 1e6 < HOLD_NS / 2.0;
    }
    closed = close_hand(d, h);
    if (error != cudaSuccess || closed != cudaSuccess)
        return error != cudaSuccess ? error : closed;
    if (hand_is_stale(d) && answers->stale[h->link]++ == 0)
        tell_hand(h, answers->first[h->link], sizeof(answers->first[h->link]));
    answers->trials[h->link]++;
    return cudaSuccess;
}

static void ask_handed(struct ask *ask)
{
    static struct handed_answers answers;
    struct handed d = PDL_ZERO;
    struct hand h = PDL_ZERO;
    char text[TEXT] = "streams, events, and graphs";
    cudaError_t error = open_handed(&d, ask);
    unsigned link;

    memset(&answers, 0, sizeof(answers));
    for (; ask_goes_on(ask, d.trial, HANDS * ask->trials) && error == cudaSuccess; d.trial++) {
        h = draw_hand(ask->seed, d.trial);
        error = run_hand(&d, &h, &answers);
    }
    if (error != cudaSuccess && d.trial)
        tell_hand(&h, text, sizeof(text));
    ask_expect(ask, text, error, cudaSuccess);
    for (link = 0; link < LINKS; link++)
        ask_expect_none(ask, answers.stale[link] ? answers.first[link] : link_name[link], answers.stale[link], answers.trials[link]);
    ask_expect_none(ask, "times between events that were shorter than the work between them", answers.short_times, answers.times);
    close_handed(&d);
}

static const struct pair handed_pairs[] = { PAIR_ASK("streams", ask_handed) };
IMAGE(handed, handed_pairs)
