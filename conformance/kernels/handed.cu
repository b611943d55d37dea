/* handed.cu - work that is handed on: whoever comes after it finds it, in every combination of what can be drawn.
 *
 * pair      rule     what is asked
 * streams   COMP-17  slow work, a step after it in its stream, and a step that comes after both: in the same stream, after an event or a value,
 *                    by the default streams' own order, or because the host waited; streams and events of each kind, recorded in each way,
 *                    launched or captured; between them may stand what changes nothing: work on other words, calls that only ask, calls
 *                    that are refused; in the end the host waits for the device, or for the last stream in any way
 *
 * Faults that need two or three things together are seen by no question that changes one thing at a time. Here the seed draws all of them.
 * What stands right beside each other is not left to the draw: see pair_steps().
 * Mutant `otherstream`: the last step runs in a stream that waits for nothing.
 */
#include <cuda.h>
#include <string.h>

#include "driver_function.h"
#include "driver_launch.h"
#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

#define CELL 16u               /* words */
#define CELLS 3u               /* the slow work's, that of work which is joined, and the first step's */
#define SPAN (CELLS * CELL)
#define LARGE_BLOCKS 1025u
#define TEXT 768u
#define HANDS 8u               /* for each trial of the profile */
#define TURNS 8u               /* what trials are for in turn: see pair_steps() */
#define PAIRED 4u              /* of these */
#define MORE 40u               /* other events that a stream awaits, at most */

/* Stores to memory that it was lent, too, and late. */
KERNEL(handed_work)
{
    struct trial_plan plan = k_plan(&args);

    slow_stores(&args);
    if (k_thread() < plan.words)
        k_store(args.seen + k_thread(), words_fresh(plan.key, k_thread()));
}

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

enum step { STEP_KERNEL, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LAYERS, STEP_LONG_COPY, STEP_SET, STEP_WIDE_SET, STEP_WORD_SET, STEP_SET_ROWS,
            STEP_LONG_SET, STEP_WRITE, STEP_REPLACE, STEP_HOST, STEP_CALLBACK, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_NONE, STEP_EARLY, STEP_FENCED,
            STEP_WAITING, STEP_LARGE_WAITING, STEP_UNWAITING, STEP_COOPERATIVE };
static const char *const step_name[] = { "a kernel", "a large grid", "a copy", "a copy of rows", "a copy of layers", "a long copy", "a memset",
                                         "a memset of 16-bit values", "a memset of 32-bit values",
                                         "a memset of rows", "a long memset", "values that the stream writes", "a copy over the words",
                                         "a host function", "a callback", "a graph",
                                         "the second executable graph of a graph", "nothing",
                                         "a kernel that overlaps", "a kernel with a programmatic event", "a kernel that waits",
                                         "a large grid that waits", "a kernel with attribute 6 that does not wait", "a cooperative kernel" };
static const enum step first_steps[] = { STEP_KERNEL, STEP_LARGE, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LAYERS, STEP_LONG_COPY, STEP_SET,
                                         STEP_WIDE_SET, STEP_WORD_SET, STEP_SET_ROWS, STEP_LONG_SET, STEP_WRITE,
                                         STEP_REPLACE, STEP_HOST, STEP_CALLBACK, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_NONE, STEP_EARLY };
static const enum step last_steps[] = { STEP_KERNEL, STEP_LARGE, STEP_COPY, STEP_ROWS, STEP_LAYERS, STEP_LONG_COPY, STEP_SET, STEP_WIDE_SET,
                                        STEP_WORD_SET, STEP_SET_ROWS, STEP_LONG_SET, STEP_WRITE,
                                        STEP_REPLACE, STEP_HOST, STEP_CALLBACK, STEP_GRAPH, STEP_SECOND_GRAPH, STEP_NONE, STEP_WAITING, STEP_WAITING,
                                        STEP_LARGE_WAITING, STEP_UNWAITING,
                                        STEP_COOPERATIVE };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum kind { KIND_NON_BLOCKING, KIND_BLOCKING, KIND_URGENT, KIND_URGENT_NON_BLOCKING, KIND_PER_THREAD, KIND_LEGACY, KINDS };
static const char *const kind_name[KINDS] = { "a non-blocking stream", "a blocking stream", "a blocking stream of the highest priority",
                                              "a non-blocking stream of the highest priority", "the per-thread stream",
                                              "the legacy stream" };

enum link { LINK_SAME, LINK_EVENT, LINK_VALUE, LINK_LEGACY, LINK_EVENT_SYNC, LINK_EVENT_POLL, LINK_STREAM_SYNC, LINK_STREAM_POLL, LINKS };
static const char *const link_name[LINKS] = { "in the same stream", "after an event", "after a value", "by the legacy stream's order",
                                              "after the host waited for an event",
                                              "after the host polled an event", "after the host waited for the stream",
                                              "after the host polled the stream" };

enum end { END_DEVICE, END_STREAM, END_POLL, END_EVENT, ENDS }; /* what the host waits for at last */
static const char *const end_name[ENDS] = { "the device", "the last stream", "the last stream by polling", "an event after the last step" };

enum recorder { BY_CALL, BY_FLAGS_CALL, BY_DRIVER, BY_NODE, BY_EXTERNAL, BY_LAUNCH, RECORDERS };
static const char *const recorder_name[RECORDERS] = { "recorded", "recorded with flags", "recorded by the driver's call",
                                                      "recorded by a node",
                                                      "recorded by a captured external record",
                                                      "recorded by the launch" };

/* By a call, by a node, or by a launch: at its triggers, at its block starts, or at its launch completion. */
enum again { AGAIN_NOT, AGAIN_BY_CALL, AGAIN_BY_NODE, AGAIN_AT_TRIGGERS, AGAIN_AT_STARTS, AGAIN_AT_COMPLETION, AGAINS };
static const char *const again_name[AGAINS] = { "", ", an event that is recorded again", ", an event that a node records again",
                                                ", an event that a launch records again", ", an event that a launch records again at its block starts",
                                                ", an event that a launch records again at its completion" };

enum event_kind { EVENT_PLAIN, EVENT_TIMED, EVENT_BLOCKING, EVENT_TIMED_BLOCKING, EVENT_IPC, EVENTS };
static const unsigned event_flags[EVENTS] = { cudaEventDisableTiming, cudaEventDefault, cudaEventDisableTiming | cudaEventBlockingSync,
                                              cudaEventBlockingSync, cudaEventDisableTiming | cudaEventInterprocess };
static const char *const event_name[EVENTS] = { "an event", "an event with timing", "an event with blocking sync",
                                                "an event with timing and blocking sync", "an interprocess event" };
static int has_timing(unsigned event) { return !(event_flags[event] & cudaEventDisableTiming); }

static const char *const mode_name[4] = { "launched", "captured", "captured in the thread's mode", "captured in the relaxed mode" };
static const enum cudaStreamCaptureMode mode_of[4] = { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeGlobal,
                                                       cudaStreamCaptureModeThreadLocal,
                                                       cudaStreamCaptureModeRelaxed };

enum { JOINS_NOTHING, JOINS_WORK, JOINS_COPY }; /* JOINS_COPY: a copy there hands on what the work stored */

enum { BEHIND_NOTHING, BEHIND_GRAPH, BEHIND_KERNEL, BEHINDS }; /* an empty graph, a kernel without effect */
static const char *const behind_name[BEHINDS] = { ": ", ", after an empty graph: ", ", after another kernel: " };

enum dress { DRESS_NONE, DRESS_CLUSTER, DRESS_COOPERATIVE, DRESS_SHARED, DRESS_URGENT, DRESS_DOMAIN, DRESS_EVENT,
             DRESS_COOPERATIVE_CLUSTER, DRESS_LAYERS, DRESSES }; /* how a kernel is launched */
static const char *const dress_name[DRESSES] = { "", "in clusters", "cooperative", "with shared memory", "of the highest priority",
                                                 "in the remote memory-sync domain", "with a programmatic event that nobody awaits",
                                                 "cooperative and in clusters", "of two rows in two layers" };
enum hint { HINT_NONE, HINT_CARVEOUT, HINT_MAP, HINT_SCHEDULING, HINT_WINDOW, HINT_NVLINK, HINTS }; /* what the launch has besides */
static const char *const hint_name[HINTS] = { "", "a carve-out", "a map of memory-sync domains", "a scheduling policy", "an access policy window",
                                              "NVLink-centric scheduling" };
enum place { PLACE_WORK, PLACE_JOINED, PLACE_FIRST, PLACE_LAST, PLACES };
static const char *const place_name[PLACES] = { "the work", "the joined work", "the first step", "the last step" };

enum give { GIVE_NOTHING, GIVE_PRIORITY, GIVE_DOMAIN, GIVE_POLICY, GIVE_WINDOW, GIVES }; /* what a stream is given before the trial */
static const char *const give_name[GIVES] = { "", "another priority", "the remote memory-sync domain", "another synchronization policy",
                                              "an access policy window" };

/* What stands between and changes nothing that anybody looks at: work, of which some may be captured, then calls that give the stream nothing to do,
 * and calls that are refused. */
enum item { ITEM_NONE, ITEM_COPY, ITEM_SET, ITEM_ROWS, ITEM_LAYERS, ITEM_HOST, ITEM_GRAPH, ITEM_CALLBACK, ITEM_HOST_COPY, ITEM_ALLOCATION, ITEM_FREE,
            ITEM_VALUE, ITEM_AWAIT, ITEM_QUERY, ITEM_ASK, ITEM_TIME, ITEM_STREAM, ITEM_UPLOAD, ITEM_CAPTURE, ITEM_GIVEN, ITEM_UNRECORDED, ITEM_RECORD,
            ITEM_NO_ROWS, ITEM_NO_LAYERS, ITEM_NO_CALLBACK, ITEM_NO_MEMORY,
            ITEM_NO_FREE, ITEM_NO_VALUE, ITEM_NO_END, ITEMS };
static const char *const item_name[ITEMS] = { "", "a copy", "a memset", "a copy of rows", "a copy of layers", "a host function", "an empty graph",
                                              "a callback", "a copy from host to host", "an allocation and its end",
                                              "the end of memory that the work stores to", "a value", "a wait for a value that is there",
                                              "queries of the stream", "questions about the stream", "a question for the time",
                                              "the end of another stream that waits", "an upload of a graph", "a capture",
                                              "an attribute that the stream has", "a wait for an event that nobody recorded",
                                              "a record of another event", "a refused copy of rows", "a refused copy of layers",
                                              "a refused callback", "a refused allocation", "a refused end of an allocation", "a refused value",
                                              "a refused end of the stream" };
#define CAPTURED_ITEMS ITEM_HOST /* the last one that a capture takes */
#define WORKS ITEM_AWAIT         /* the last one that is work */

enum stop { AFTER_WORK, AFTER_FIRST, BEFORE_LINK, BEFORE_LAST, AFTER_LAST, STOPS }; /* BEFORE_LINK: in the last stream */
static const char *const stop_name[STOPS] = { "after the work", "after the first step", "in the last stream before what it awaits",
                                              "before the last step", "after the last step" };

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
    int by_value;              /* by a value, not by an event */
    unsigned more;             /* so many other events the last stream awaits as well */
    int more_first;            /* those are recorded before the work, not after it */
    unsigned behind;           /* in the last stream stands something, before what it awaits: BEHIND_* */
    enum give give[2];         /* of the two streams, if they are made by a call */
    unsigned items;            /* small copies and memsets of other words between the work and the first step */
    enum item item[STOPS];
    unsigned awaited;          /* so often another stream was told to wait for the event before */
    int fresh, asked_fresh, awaited_fresh; /* the event is made for this trial; it was asked for, or awaited, before it was recorded */
    enum again again;          /* how the event is recorded again once a stream waits for it */
    int late;                  /* the launch's event says nothing of its words yet */
    int leaves;                /* the first stream is made for this trial, and destroyed once the event is recorded */
    int leaves_late;           /* ... and awaited */
    int arrives;               /* the last stream is made for this trial */
    unsigned later;            /* so many kernels come after the record, in the first stream */
    int later_overlap;         /* with attribute 6: they may begin before the work ends that the event stands for */
    int marked;                /* an event that nobody waits for is recorded after the work, in the first stream */
    int by_thread;             /* another thread of the host makes the calls */
    int by_driver;             /* the driver launches the kernels */
    enum end end;
};

static int is_made(enum kind kind) { return kind < KIND_PER_THREAD; }
static int blocks_legacy(enum kind kind) { return kind == KIND_BLOCKING || kind == KIND_URGENT || kind == KIND_PER_THREAD; }
static int is_graph(enum step step) { return step == STEP_GRAPH || step == STEP_SECOND_GRAPH; }
static int is_set(enum step step) { return step >= STEP_SET && step <= STEP_REPLACE; }
static int is_host(enum step step) { return step == STEP_HOST || step == STEP_CALLBACK; }
static int is_large(enum step step) { return step == STEP_LARGE || step == STEP_LARGE_WAITING; }
static int is_kernel(enum step step) { return step == STEP_KERNEL || is_large(step) || step >= STEP_EARLY; }
static int is_cooperative(enum dress dress) { return dress == DRESS_COOPERATIVE || dress == DRESS_COOPERATIVE_CLUSTER; }
static int waits(enum step step) { return step == STEP_WAITING || step == STEP_LARGE_WAITING; }
static int is_awaited(const struct hand *h) { return h->link == LINK_EVENT || h->link == LINK_VALUE; }
static int has_event(const struct hand *h) { return h->link == LINK_EVENT || h->link == LINK_EVENT_SYNC || h->link == LINK_EVENT_POLL; }

#include "handed_room.h"
#include "handed_drawn.h"
#include "handed_items.h"
#include "handed_steps.h"

/* ---- a trial ---- */

struct handed_answers {
    unsigned stale[LINKS], trials[LINKS], wrong, short_times, times;
    char first[LINKS][TEXT];    /* what was stale first */
};

static cudaError_t run_hand(struct handed *d, const struct hand *h, struct handed_answers *answers)
{
    float ms = 0;
    cudaError_t error = prepare_hand(d, h), closed;

    if (error == cudaSuccess)
        error = h->mode ? capture_hand(d, h) : h->by_thread ? launch_by_thread(d, h) : launch_hand(d, h);
    if (error == cudaSuccess)
        error = look_at_end(d, h);
    if (error == cudaSuccess && d->timed) {
        error = cudaEventElapsedTime(&ms, d->begin, event_of(d, h));
        answers->times++;
        answers->short_times += error == cudaSuccess && (double)ms * 1e6 < HOLD_NS / 2.0;
    }
    closed = close_hand(d, h);
    if (error != cudaSuccess || closed != cudaSuccess)
        return error != cudaSuccess ? error : closed;
    answers->wrong += d->stale != 0;
    if (d->stale && answers->stale[h->link]++ == 0)
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
    for (; ask_goes_on(ask, d.trial, HANDS * ask->trials) && error == cudaSuccess && answers.wrong < ASK_WRONG_ENOUGH; d.trial++) {
        h = draw_hand(&d, ask->seed, d.trial);
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
