/* program_stream.c - launches a program into streams, or captures it, in many ways that mean the same. */
#include "program.h"

#include <pthread.h>

#include "../edges.h"
#include "axes.h"
#include "try.h"

#define MANY_WAITS 70u

const char *const stream_way_name[STREAM_WAYS] = {
    "launched", "launched in a blocking stream", "launched in the per-thread default stream", "launched in the legacy default stream",
    "launched in a stream of high priority", "launched by two host threads in turn", "captured", "captured to a graph",
    "captured and cloned", "captured, as a child graph"
};

int stream_way_captures(enum stream_way way) { return way >= WAY_CAPTURED; }

/* ---- captures ---- */

enum cudaStreamCaptureMode program_capture_mode(struct dice *dice)
{
    static const enum cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal };

    return dice_below(dice, 2) ? cudaStreamCaptureModeRelaxed : modes[dice_below(dice, 2)];
}

/* ---- a program into its lanes ---- */

struct lanes {
    struct made *made;
    cudaStream_t stream[PROGRAM_LANES], relay;
    unsigned event[PROGRAM_LINKS]; /* the number of each link's event */
    unsigned weaker[PROGRAM_STEPS]; /* of kernels with links: the number of an event that stands for less than theirs do */
    unsigned nobodys[PROGRAM_STEPS]; /* after each step: the number of an event that it may record for nobody */
    unsigned char at_once[PROGRAM_LINKS]; /* the wait is called right after the record: the event may be recorded again before the next launch */
    int whole_device;          /* the host waits for the device, and no stream for another in the end */
    unsigned fleeting;         /* a lane whose stream is made for this program alone; 0: none is */
    unsigned first, last;      /* steps */
    cudaError_t error;
    int device;
};

/* The first link whose event the launch of this step records; PROGRAM_LINKS: it records none. */
static unsigned link_of_launch(const struct program *p, unsigned step)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].from == step && p->link[l].kind != LINK_FULL)
            return l;
    return PROGRAM_LINKS;
}

/* The first event that no wait still to be called needs; what was recorded before may be far from complete. */
static unsigned free_event(const unsigned *needed_until, unsigned step)
{
    unsigned n = 0;

    while (needed_until[n] > step)
        n++;
    return n;
}

/* The other lane has no work between the step that records and the one that waits. */
static int may_wait_at_once(const struct program *p, const struct link *link)
{
    unsigned i;

    for (i = link->from + 1; i < link->to; i++)
        if (p->step[i].lane == p->step[link->to].lane)
            return 0;
    return p->step[link->from].lane != p->step[link->to].lane;
}

static void number_events_of(struct lanes *lanes, unsigned i, unsigned *needed_until)
{
    const struct program *p = lanes->made->program;
    unsigned first = link_of_launch(p, i), longest = 0, l;

    for (l = 0; l < p->links; l++) {
        unsigned until;
        if (p->link[l].from != i)
            continue;
        lanes->at_once[l] = may_wait_at_once(p, &p->link[l]) && dice_below(&lanes->made->dice, 2);
        until = lanes->at_once[l] ? i + 1 : p->link[l].to;
        lanes->event[l] = p->link[l].kind == LINK_FULL || l == first ? free_event(needed_until, i) : lanes->event[first];
        if (needed_until[lanes->event[l]] < until)
            needed_until[lanes->event[l]] = until;
        longest = longest < until ? until : longest;
    }
    if (first != PROGRAM_LINKS) /* whoever waits for the step may wait for this one as well, and for the next */
        needed_until[lanes->event[first]] = longest;
    lanes->weaker[i] = PROGRAM_LINKS;
    if (longest && p->step[i].kind == STEP_KERNEL) {
        lanes->weaker[i] = free_event(needed_until, i);
        needed_until[lanes->weaker[i]] = longest;
    }
    lanes->nobodys[i] = free_event(needed_until, i);
}

/* An event is recorded again, by any kind of record, as soon as all waits for it are called: they wait for the record before. */
static void number_events(struct lanes *lanes)
{
    unsigned needed_until[PROGRAM_LINKS + 1] = { 0 }, i;

    for (i = 0; i < lanes->made->program->steps; i++)
        number_events_of(lanes, i, needed_until);
}

/* An ordinary event may have any flags. */
static cudaEvent_t event_of_link(const struct lanes *lanes, unsigned l)
{
    const struct program_room *room = lanes->made->room;
    unsigned n = lanes->event[l];
    int may_be_other = lanes->made->eager && lanes->made->program->link[l].kind == LINK_FULL && n < PROGRAM_OTHER_EVENTS;

    return may_be_other && l % 2 ? room->other_event[n] : room->event[n];
}

/* May this step be a graph of one node as well? Only a launch records an event and prefers a carve-out. The next step of its lane must not
 * carry the attribute: it might begin before the graph and keep it from the device. */
static int may_be_graph(const struct made *made, unsigned i)
{
    const struct program *p = made->program;

    if (program_leads_on_early(p, i))
        return 0;
    return p->step[i].kind != STEP_KERNEL || (!p->step[i].attribute && p->step[i].event == EVENT_NONE && p->step[i].carveout == NO_CARVEOUT);
}

static cudaError_t launch_as_graph(struct made *made, unsigned i, cudaStream_t stream, struct dice *dice)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = program_add_step(made, graph, i, NULL, NULL, 0, 0, &node);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = program_launch_exec(made, exec, stream, dice);
    if (exec)
        (void)cudaGraphExecDestroy(exec); /* what was launched goes on */
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_somehow(struct made *made, unsigned i, cudaStream_t stream, cudaEvent_t event, enum link_kind kind,
                                  struct dice *dice)
{
    if (made->eager && dice_below(dice, 4) == 0)
        TRY(program_change_nothing(made, stream, dice));
    if (made->eager && event == NULL && made->begun == NULL && dice_below(dice, 16) == 0 && may_be_graph(made, i))
        return launch_as_graph(made, i, stream, dice);
    return program_launch_step(made, i, stream, event, kind, dice);
}

/* An event of the same launch that stands for less than this link's; NULL: it records none. What capture makes of the one that stands for the
 * begin of the blocks no document says. */
static cudaEvent_t weaker_event(const struct lanes *lanes, unsigned l, struct dice *dice)
{
    const struct made *made = lanes->made;
    const struct link *link = &made->program->link[l];
    unsigned first = link_of_launch(made->program, link->from);

    if (lanes->weaker[link->from] == PROGRAM_LINKS)
        return NULL;
    if (link->kind == LINK_FULL && first != PROGRAM_LINKS && (!made->eager || dice_below(dice, 2)))
        return event_of_link(lanes, first);
    return made->eager || first == PROGRAM_LINKS ? made->room->event[lanes->weaker[link->from]] : NULL;
}

/* Whether a weaker one is awaited before it or after it: the stronger order counts. */
static cudaError_t await_link(const struct lanes *lanes, unsigned l, cudaStream_t stream, struct dice *dice)
{
    cudaEvent_t weaker = weaker_event(lanes, l, dice);
    unsigned turn = weaker ? dice_below(dice, 3) : 0;

    if (turn == 1)
        TRY(cudaStreamWaitEvent(stream, weaker, 0));
    TRY(program_await(lanes->made, stream, event_of_link(lanes, l), dice));
    return turn == 2 ? cudaStreamWaitEvent(stream, weaker, 0) : cudaSuccess;
}

/* Directly, or by a stream without work of its own that waits for all of them and records one event. */
static cudaError_t await_events(const struct lanes *lanes, unsigned i, struct dice *dice)
{
    const struct made *made = lanes->made;
    const struct program *p = made->program;
    cudaStream_t stream = lanes->stream[p->step[i].lane];
    cudaEvent_t relayed = made->room->spare_event[SPARE_RELAYED];
    int relay = dice_below(dice, 2) != 0, many = dice_below(dice, 4) == 0, relays = 0, waits = 0;
    cudaEvent_t last = NULL;
    unsigned l;

    for (l = 0; l < p->links; l++) {
        if (p->link[l].to != i || lanes->at_once[l])
            continue;
        if (relay && p->link[l].kind == LINK_FULL) {
            TRY(program_await(made, lanes->relay, event_of_link(lanes, l), dice));
            relays = 1;
        } else {
            last = event_of_link(lanes, l);
            TRY(await_link(lanes, l, stream, dice));
            waits++;
        }
    }
    for (l = 0; made->eager && waits > 1 && many && l < MANY_WAITS; l++)
        TRY(cudaStreamWaitEvent(stream, last, 0)); /* however often a stream waits for one event, it waits for the others */
    if (!relays)
        return cudaSuccess;
    TRY(program_record(made, relayed, lanes->relay, dice));
    return program_await(made, stream, relayed, dice);
}

/* Now and then another stream looks at what an event stands for that is recorded now. */
static cudaError_t observe(struct lanes *lanes, unsigned i, struct dice *dice)
{
    struct made *made = lanes->made;
    struct program_room *room = made->room;
    cudaEvent_t event;
    unsigned lane;

    if (made->observed == PROGRAM_SEEN || dice_below(dice, 4))
        return cudaSuccess;
    lane = made->program->legacy ? dice_below(dice, PROGRAM_LANES) : made->program->step[i].lane;
    event = room->spare_event[SPARE_OBSERVED + made->observed];
    TRY(program_record(made, event, lanes->stream[lane], dice));
    TRY(cudaStreamWaitEvent(room->observer, event, 0));
    TRY(cudaMemcpyAsync(program_seen(room, made->observed), room->data, made->program->steps * STEP_BYTES, cudaMemcpyDeviceToDevice,
                        room->observer));
    made->observed_lane[made->observed] = lane;
    made->observed_after[made->observed++] = i;
    return cudaSuccess;
}

/* What follows the launch of a step: its events, and waits for them that need not come later. */
static cudaError_t queue_events(struct lanes *lanes, unsigned i, cudaStream_t stream, struct dice *dice)
{
    struct made *made = lanes->made;
    const struct program *p = made->program;
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].from == i && p->link[l].kind == LINK_FULL)
            TRY(program_record(made, event_of_link(lanes, l), stream, dice));
    for (l = 0; l < p->links; l++)
        if (p->link[l].from == i && lanes->at_once[l])
            TRY(await_link(lanes, l, lanes->stream[p->step[p->link[l].to].lane], dice));
    if (!made->eager)
        return cudaSuccess;
    TRY(observe(lanes, i, dice));
    return dice_below(dice, 8) == 0 ? program_record(made, made->nobodys, stream, dice) : cudaSuccess;
}

/* Not between a wait and the launch that it was called for: an event tells the new stream of complete work alone. */
static int may_move(const struct lanes *lanes, unsigned i)
{
    const struct program *p = lanes->made->program;
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].to == i && lanes->at_once[l])
            return 0;
    return lanes->fleeting && p->step[i].lane == lanes->fleeting && !p->step[i].attribute;
}

/* The lane goes on in a new stream. What the old one was given it still does. */
static cudaError_t move_lane(struct lanes *lanes, unsigned lane)
{
    cudaEvent_t moved = lanes->made->room->spare_event[SPARE_MOVED];

    TRY(cudaEventRecord(moved, lanes->stream[lane]));
    TRY(cudaStreamDestroy(lanes->stream[lane]));
    TRY(cudaStreamCreateWithFlags(&lanes->stream[lane], cudaStreamNonBlocking));
    return cudaStreamWaitEvent(lanes->stream[lane], moved, 0);
}

/* What this step records anew may be a new event, made where one ended that a launch may still have to record. */
static cudaError_t renew_events(const struct lanes *lanes, unsigned i, struct dice *dice)
{
    const struct made *made = lanes->made;
    const struct program *p = made->program;
    unsigned l, first = link_of_launch(p, i);

    for (l = 0; l < p->links; l++) {
        cudaEvent_t *event = &made->room->event[lanes->event[l]];
        if (p->link[l].from != i || (p->link[l].kind != LINK_FULL && l != first) || dice_below(dice, 3))
            continue;
        TRY(cudaEventDestroy(*event));
        if (dice_below(dice, 2))
            TRY(program_pass_event(made)); /* it may take the place of the other one, for which a stream may still wait */
        TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    return cudaSuccess;
}

static cudaError_t queue_one(struct lanes *lanes, unsigned i, struct dice *dice)
{
    struct made *made = lanes->made;
    const struct program *p = made->program;
    cudaStream_t stream;
    unsigned of_launch = link_of_launch(p, i);
    cudaEvent_t event;
    enum link_kind kind;
    int awaits_own;

    if (may_move(lanes, i) && dice_below(dice, 2))
        TRY(move_lane(lanes, lanes->fleeting));
    TRY(await_events(lanes, i, dice));
    if (made->eager)
        TRY(renew_events(lanes, i, dice));
    event = of_launch == PROGRAM_LINKS ? NULL : event_of_link(lanes, of_launch);
    kind = event ? p->link[of_launch].kind : LINK_FULL;
    stream = lanes->stream[p->step[i].lane];
    made->nobodys = made->room->event[lanes->nobodys[i]];
    made->begun = lanes->weaker[i] == PROGRAM_LINKS ? NULL : made->room->event[lanes->weaker[i]];
    if (made->begun && !event && (!made->eager || dice_below(dice, 2))) {
        event = made->begun;
        kind = dice_below(dice, 2) ? LINK_TRIGGER : LINK_START;
        made->begun = NULL;
    }
    if (!made->eager && !p->step[i].attribute)
        TRY(program_capture_nothing(made, i, 1, stream));
    TRY(launch_somehow(made, i, stream, event, kind, dice));
    if (!made->eager)
        TRY(program_captured_node(made, i, stream));
    awaits_own = event && (made->eager || kind == LINK_TRIGGER) && dice_below(dice, 4) == 0; /* its stream comes after all of the launch anyway */
    if (awaits_own)
        TRY(program_await(made, stream, event, dice));
    if (!made->eager && !program_leads_on_early(p, i))
        TRY(program_capture_nothing(made, i + 1, awaits_own, stream));
    return queue_events(lanes, i, stream, dice);
}

static cudaError_t queue_steps(struct lanes *lanes)
{
    unsigned i;

    for (i = lanes->first; i < lanes->last; i++)
        TRY(queue_one(lanes, i, &lanes->made->dice));
    return cudaSuccess;
}

static void *queue_in_thread(void *opaque)
{
    struct lanes *lanes = (struct lanes *)opaque;

    lanes->error = cudaSetDevice(lanes->device); /* a thread begins with the first one */
    if (lanes->error == cudaSuccess)
        lanes->error = queue_steps(lanes);
    return NULL;
}

/* The steps before a drawn one and the others: by two more threads, or this one queues some of them. */
static cudaError_t queue_by_threads(struct lanes *lanes)
{
    unsigned all = lanes->last, cut = 1 + dice_below(&lanes->made->dice, all), own = dice_below(&lanes->made->dice, 3), part;

    TRY(cudaGetDevice(&lanes->device));
    for (part = 0; part < 2; part++) {
        pthread_t thread;
        lanes->first = part ? cut : 0;
        lanes->last = part ? all : cut;
        if (part == own) {
            TRY(queue_steps(lanes));
            continue;
        }
        if (pthread_create(&thread, NULL, queue_in_thread, lanes) != 0)
            return cudaErrorUnknown;
        (void)pthread_join(thread, NULL);
        TRY(lanes->error);
    }
    return cudaSuccess;
}

static int uses_lane(const struct program *p, unsigned lane)
{
    unsigned i;

    for (i = 0; i < p->steps; i++)
        if (p->step[i].lane == lane)
            return 1;
    return 0;
}

/* The first lane comes after all others in the end: the host waits for it alone, or else for the device; and a capture has to rejoin. What a
 * stream was given it still does after it was destroyed. */
static cudaError_t join(const struct lanes *lanes)
{
    cudaEvent_t last = lanes->made->room->spare_event[SPARE_LAST];
    unsigned lane;

    for (lane = 1; lane < PROGRAM_LANES; lane++)
        if (lanes->whole_device && lane == lanes->fleeting) {
            TRY(cudaStreamDestroy(lanes->stream[lane]));
        } else if (!lanes->whole_device && uses_lane(lanes->made->program, lane)) {
            TRY(cudaEventRecord(last, lanes->stream[lane]));
            if (lane == lanes->fleeting)
                TRY(cudaStreamDestroy(lanes->stream[lane]));
            TRY(cudaStreamWaitEvent(lanes->stream[0], last, 0));
        }
    return cudaSuccess;
}

/* All streams have work while the program is queued. */
static cudaError_t hold_lanes(const struct lanes *lanes)
{
    unsigned lane;

    for (lane = 0; lane < PROGRAM_LANES; lane++)
        if (uses_lane(lanes->made->program, lane))
            TRY(program_hold(lanes->made, lanes->stream[lane]));
    return cudaSuccess;
}

static cudaError_t queue_all(struct lanes *lanes, int by_threads)
{
    if (lanes->made->eager && dice_below(&lanes->made->dice, 2))
        TRY(hold_lanes(lanes));
    number_events(lanes);
    lanes->first = 0;
    lanes->last = lanes->made->program->steps;
    TRY(by_threads ? queue_by_threads(lanes) : queue_steps(lanes));
    return join(lanes);
}

/* Now and then beside a capture in another stream, which is nothing to it. */
static cudaError_t queue_beside(struct lanes *lanes, int by_threads)
{
    struct made *made = lanes->made;
    cudaError_t error, other;

    made->beside = dice_below(&made->dice, 2) != 0;
    error = made->beside ? program_begin_other_capture(made) : cudaSuccess;
    if (error == cudaSuccess)
        error = queue_all(lanes, by_threads);
    other = made->beside ? program_end_other_capture(made) : cudaSuccess;
    return error != cudaSuccess ? error : other;
}

/* Each thread has a default stream of its own. */
static int may_use_threads(const struct lanes *lanes) { return lanes->stream[0] != cudaStreamPerThread && lanes->relay != cudaStreamPerThread; }

static cudaError_t capture(struct lanes *lanes, int to_graph)
{
    struct made *made = lanes->made;
    enum cudaStreamCaptureMode mode = program_capture_mode(&made->dice);
    cudaError_t error, end;

    if (to_graph) {
        TRY(cudaGraphCreate(&made->graph, 0));
        TRY(program_begin_capture_to(made, lanes->stream[0], made->graph, NULL, NULL, 0, mode, &made->dice));
    } else {
        TRY(program_begin_capture(made, lanes->stream[0], mode, &made->dice));
    }
    if (!program_is_new_capture(made->room, lanes->stream[0], made->graph))
        return cudaErrorUnknown;
    error = queue_beside(lanes, mode == cudaStreamCaptureModeRelaxed && may_use_threads(lanes) && dice_below(&made->dice, 2));
    end = program_end_capture(made, lanes->stream[0], &made->graph, &made->dice);
    return error == cudaSuccess ? end : error;
}

static cudaError_t around(struct made *made, enum stream_way way)
{
    cudaGraph_t captured = made->graph, outer = NULL;
    cudaGraphNode_t node;

    if (way == WAY_CAPTURED_CLONE) {
        TRY(program_clone(made, &outer, captured, &made->dice));
        if (!program_has_same_edges(captured, outer))
            return cudaErrorUnknown;
    } else {
        TRY(cudaGraphCreate(&outer, 0));
        TRY(program_add_child(made, &node, outer, NULL, 0, captured, &made->dice));
    }
    made->graph = outer;
    return cudaGraphDestroy(captured);
}

/* Two threads share a stream of any kind but the per-thread one, which each has of its own. */
static cudaStream_t first_lane(struct made *made, enum stream_way way)
{
    const struct program_room *room = made->room;
    const cudaStream_t shared[] = { room->stream, room->blocking, cudaStreamLegacy, room->urgent };

    switch (way) {
    case WAY_BLOCKING_STREAM: return room->blocking;
    case WAY_PER_THREAD: return cudaStreamPerThread;
    case WAY_LEGACY: return cudaStreamLegacy;
    case WAY_URGENT_STREAM: return room->urgent;
    case WAY_OTHER_THREAD: return shared[dice_below(&made->dice, 4)];
    default: return room->stream;
    }
}

cudaError_t stream_make(struct made *made, enum stream_way way)
{
    struct program_room *room = made->room;
    struct lanes lanes = PDL_ZERO;

    lanes.made = made;
    made->way = way;
    made->began = made->dice;
    made->eager = made->program->legacy || !stream_way_captures(way);
    lanes.stream[0] = first_lane(made, way);
    lanes.relay = room->relay;
    if (made->program->legacy) { /* there is one way, and no event says what comes after what */
        lanes.stream[0] = cudaStreamLegacy;
        lanes.stream[1] = room->blocking;
        lanes.stream[2] = cudaStreamPerThread;
        TRY(queue_beside(&lanes, !uses_lane(made->program, 2) && dice_below(&made->dice, 2)));
        return cudaStreamSynchronize(cudaStreamLegacy);
    }
    if (stream_way_captures(way)) { /* whichever streams a capture begins in and leads through, the graph is the same */
        cudaStream_t streams[] = { room->stream, room->blocking, cudaStreamPerThread };
        unsigned first = dice_below(&made->dice, 3);
        lanes.stream[0] = streams[first];
        if (dice_below(&made->dice, 2))
            lanes.relay = streams[(first + 1) % 3];
    }
    lanes.stream[1] = room->side;
    lanes.stream[2] = lanes.stream[0] == room->urgent ? room->stream : room->urgent;
    if (!stream_way_captures(way)) {
        if (uses_lane(made->program, 1) && dice_below(&made->dice, 2)) {
            TRY(cudaStreamCreateWithFlags(&lanes.stream[1], cudaStreamNonBlocking));
            lanes.fleeting = 1;
        }
        lanes.whole_device = dice_below(&made->dice, 4) == 0;
        TRY(queue_beside(&lanes, way == WAY_OTHER_THREAD));
        return lanes.whole_device ? cudaDeviceSynchronize() : cudaStreamSynchronize(lanes.stream[0]);
    }
    TRY(capture(&lanes, way == WAY_CAPTURED_TO_GRAPH));
    return way == WAY_CAPTURED_CLONE || way == WAY_CAPTURED_CHILD ? around(made, way) : cudaSuccess;
}
