/* program_stream.c - launches a program into streams, or captures it, in many ways that mean the same. */
#include "program.h"

#include <pthread.h>
#include <string.h>

#include "../edges.h"
#include "try.h"

#define ATTRIBUTES (PROGRAM_ATTRIBUTES + 4u)
#define MOST_EDGES (PROGRAM_STEPS * PROGRAM_STEPS / 2)
#define MANY_WAITS 70u

const char *const stream_way_name[STREAM_WAYS] = {
    "launched", "launched in a blocking stream", "launched in the per-thread default stream", "launched in the legacy default stream",
    "launched in a stream of high priority", "launched by two host threads in turn", "captured", "captured to a graph",
    "captured and cloned", "captured, as a child graph"
};

int stream_way_captures(enum stream_way way) { return way >= WAY_CAPTURED; }

/* ---- one launch: its attributes in any order, with entries that are to be ignored between them ---- */

static unsigned list_attributes(const struct made *made, unsigned index, cudaEvent_t event, enum link_kind event_kind, int in_stream,
                                cudaLaunchAttribute *attrs)
{
    unsigned n = program_list_attributes(made, index, attrs);

    if (in_stream && made->program->step[index].attribute)
        program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticStreamSerialization)->programmaticStreamSerializationAllowed = 1;
    if (event) {
        cudaLaunchAttributeValue *value = program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticEvent);
        value->programmaticEvent.event = event;
        value->programmaticEvent.triggerAtBlockStart = event_kind == LINK_START;
    }
    return n;
}

static unsigned shuffle(cudaLaunchAttribute *attrs, unsigned n, struct dice *dice)
{
    unsigned i;

    if (dice_below(dice, 2))
        program_add_attribute(attrs, &n, cudaLaunchAttributeIgnore);
    for (i = n; i > 1; i--) {
        unsigned k = dice_below(dice, i);
        cudaLaunchAttribute swap = attrs[i - 1];
        attrs[i - 1] = attrs[k];
        attrs[k] = swap;
    }
    return n;
}

static cudaError_t launch_kernel(const struct made *made, unsigned index, cudaStream_t stream, cudaEvent_t event, enum link_kind event_kind,
                                 struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    cudaLaunchAttribute attrs[ATTRIBUTES];
    cudaLaunchConfig_t config;
    struct step_params params;
    const struct cudaKernelNodeParams *kernel = &params.as.kernel;
    unsigned n = list_attributes(made, index, event, event_kind, made->program->streams, attrs);

    memset(&params, 0, sizeof(params));
    program_fill_kernel(made, index, &params);
    memset(&config, 0, sizeof(config));
    config.gridDim = kernel->gridDim;
    config.blockDim = kernel->blockDim;
    config.dynamicSmemBytes = kernel->sharedMemBytes;
    config.stream = stream;
    if (n == 0 && dice && dice_below(dice, 2))
        return cudaLaunchKernel(kernel->func, config.gridDim, config.blockDim, params.values, config.dynamicSmemBytes, stream);
    if (n == 1 && step->cooperative && dice && dice_below(dice, 2))
        return cudaLaunchCooperativeKernel(kernel->func, config.gridDim, config.blockDim, params.values, config.dynamicSmemBytes, stream);
    if (dice) {
        if (made->program->streams && !step->attribute && dice_below(dice, 4) == 0)
            program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticStreamSerialization); /* value 0: the same as none */
        n = shuffle(attrs, n, dice);
    }
    config.attrs = n ? attrs : NULL;
    config.numAttrs = n;
    return cudaLaunchKernelExC(&config, kernel->func, params.values);
}

/* "The function will return once the pageable buffer has been copied" (API synchronization behavior): it may then change. */
static cudaError_t copy_from_pageable(const struct step_params *params, cudaStream_t stream)
{
    char pageable[STEP_BYTES];
    cudaError_t error;

    memcpy(pageable, params->as.copy.from, params->as.copy.bytes);
    error = cudaMemcpyAsync(params->as.copy.to, pageable, params->as.copy.bytes, cudaMemcpyHostToDevice, stream);
    memset(pageable, 0xA5, sizeof(pageable));
    return error;
}

/* dice: not captured by the caller, so that calls without a stream mean the legacy default stream, and the host may give other memory. */
static cudaError_t launch_copy(const struct made *made, unsigned index, const struct step_params *params, cudaStream_t stream, struct dice *dice)
{
    enum cudaMemcpyKind kind = program_copy_kind(made->program, index);
    int otherwise = made->eager && dice && dice_below(dice, 2);

    if (otherwise && !made->program->step[index].reads)
        return copy_from_pageable(params, stream);
    if (otherwise && stream == cudaStreamLegacy)
        return cudaMemcpy(params->as.copy.to, params->as.copy.from, params->as.copy.bytes, kind);
    return cudaMemcpyAsync(params->as.copy.to, params->as.copy.from, params->as.copy.bytes, kind, stream);
}

static cudaError_t launch_set(const struct made *made, unsigned index, const struct cudaMemsetParams *set, cudaStream_t stream, struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    int value = (int)(set->value & 255);

    if (step->rows > 1)
        return cudaMemset2DAsync(set->dst, set->pitch, value, step->bytes, set->height, stream);
    if (stream == cudaStreamLegacy && dice && dice_below(dice, 2))
        return cudaMemset(set->dst, value, step->bytes);
    return cudaMemsetAsync(set->dst, value, step->bytes, stream);
}

cudaError_t program_launch_step(const struct made *made, unsigned index, cudaStream_t stream, cudaEvent_t event, enum link_kind event_kind,
                                struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    struct step_params params;

    if (step->kind == STEP_KERNEL || step->kind == STEP_AWAIT)
        return launch_kernel(made, index, stream, event, event_kind, dice);
    program_fill_step(made, index, &params);
    switch (step->kind) {
    case STEP_SET: return launch_set(made, index, &params.as.set, stream, dice);
    case STEP_COPY: return launch_copy(made, index, &params, stream, dice);
    case STEP_HOST: return program_launch_host(made, index, stream);
    default: return cudaErrorNotSupported;
    }
}

/* ---- captures ---- */

enum cudaStreamCaptureMode program_capture_mode(struct dice *dice)
{
    static const enum cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal };

    return dice_below(dice, 2) ? cudaStreamCaptureModeRelaxed : modes[dice_below(dice, 2)];
}

static int is_known(const struct made *made, unsigned steps, cudaGraphNode_t node)
{
    unsigned i;

    for (i = 0; i < steps; i++)
        if (made->node[i] == node)
            return 1;
    return 0;
}

cudaError_t program_captured_node(struct made *made, unsigned step, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0, i;

    TRY(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusActive)
        return cudaErrorUnknown;
    TRY(edges_of_capture(stream, &status, NULL, NULL, &nodes, &data, &count));
    for (i = 0; i < count; i++)
        if (!is_known(made, step, nodes[i])) {
            made->node[step] = nodes[i];
            return cudaSuccess;
        }
    return cudaErrorUnknown;
}

/* ---- a program into its lanes ---- */

struct lanes {
    struct made *made;
    cudaStream_t stream[PROGRAM_LANES], relay;
    unsigned fleeting;         /* a lane whose stream is made for this program alone; 0: none is */
    unsigned first, last;      /* steps */
    cudaError_t error;
    int device;
};

/* The event that the launch of this step records, if one does; else NULL. */
static cudaEvent_t event_of_step(const struct made *made, unsigned step, enum link_kind *kind)
{
    unsigned l;

    *kind = LINK_FULL;
    for (l = 0; l < made->program->links; l++)
        if (made->program->link[l].from == step && made->program->link[l].kind != LINK_FULL) {
            *kind = made->program->link[l].kind;
            return made->room->event[l];
        }
    return NULL;
}

/* An ordinary event may have any flags. */
static cudaEvent_t full_event(const struct made *made, unsigned l)
{
    return made->eager && l < PROGRAM_OTHER_EVENTS ? made->room->other_event[l] : made->room->event[l];
}

static cudaEvent_t event_to_await(const struct made *made, unsigned l)
{
    enum link_kind kind;

    return made->program->link[l].kind == LINK_FULL ? full_event(made, l) : event_of_step(made, made->program->link[l].from, &kind);
}

/* May this step be a graph of one kernel as well? The next step of its lane must not carry the attribute: it might begin before
 * the graph and keep it from the device. */
static int may_be_graph(const struct made *made, unsigned i)
{
    const struct program *p = made->program;
    unsigned next = program_next_in_lane(p, i);

    return p->step[i].kind == STEP_KERNEL && !p->step[i].attribute && (next == PROGRAM_STEPS || !p->step[next].attribute);
}

static cudaError_t launch_as_graph(struct made *made, unsigned i, cudaStream_t stream)
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
        error = cudaGraphLaunch(exec, stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec); /* what was launched goes on */
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_somehow(struct made *made, unsigned i, cudaStream_t stream, cudaEvent_t event, enum link_kind kind,
                                  struct dice *dice)
{
    if (made->eager && dice_below(dice, 4) == 0)
        program_change_nothing(made, stream, dice);
    if (made->eager && event == NULL && dice_below(dice, 8) == 0 && may_be_graph(made, i))
        return launch_as_graph(made, i, stream);
    return program_launch_step(made, i, stream, event, kind, dice);
}

/* Without flags both calls mean the same. */
static cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, struct dice *dice)
{
    return dice_below(dice, 2) ? cudaEventRecord(event, stream) : cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

/* Directly, or by a stream without work of its own that waits for all of them and records one event. */
static cudaError_t await_events(const struct lanes *lanes, unsigned i, struct dice *dice)
{
    const struct made *made = lanes->made;
    const struct program *p = made->program;
    cudaStream_t stream = lanes->stream[p->step[i].lane];
    cudaEvent_t relayed = made->room->event[PROGRAM_LINKS - 2];
    int relay = dice_below(dice, 2) != 0, many = dice_below(dice, 4) == 0, relays = 0, waits = 0;
    cudaEvent_t last = NULL;
    unsigned l;

    for (l = 0; l < p->links; l++) {
        if (p->link[l].to != i)
            continue;
        if (relay && p->link[l].kind == LINK_FULL) {
            TRY(cudaStreamWaitEvent(lanes->relay, event_to_await(made, l), 0));
            relays = 1;
        } else {
            last = event_to_await(made, l);
            TRY(cudaStreamWaitEvent(stream, last, 0));
            waits++;
        }
    }
    for (l = 0; made->eager && waits > 1 && many && l < MANY_WAITS; l++)
        TRY(cudaStreamWaitEvent(stream, last, 0)); /* however often a stream waits for one event, it waits for the others */
    if (!relays)
        return cudaSuccess;
    TRY(record_event(relayed, lanes->relay, dice));
    return cudaStreamWaitEvent(stream, relayed, 0);
}

static cudaError_t queue_one(const struct lanes *lanes, unsigned i, struct dice *dice)
{
    struct made *made = lanes->made;
    const struct program *p = made->program;
    cudaStream_t stream = lanes->stream[p->step[i].lane];
    enum link_kind kind;
    cudaEvent_t event = event_of_step(made, i, &kind);
    unsigned l;

    TRY(await_events(lanes, i, dice));
    TRY(launch_somehow(made, i, stream, event, kind, dice));
    if (!made->eager)
        TRY(program_captured_node(made, i, stream));
    for (l = 0; l < p->links; l++)
        if (p->link[l].from == i && p->link[l].kind == LINK_FULL)
            TRY(record_event(full_event(made, l), stream, dice));
    return cudaSuccess;
}

static cudaError_t queue_steps(const struct lanes *lanes)
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

static cudaError_t queue_by_threads(struct lanes *lanes)
{
    unsigned all = lanes->last, half = (all + 1) / 2, part;

    TRY(cudaGetDevice(&lanes->device));
    for (part = 0; part < 2; part++) {
        pthread_t thread;
        lanes->first = part ? half : 0;
        lanes->last = part ? all : half;
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

/* The first lane comes after all others in the end: the host waits for it alone, and a capture has to rejoin. What a stream was given it
 * still does after it was destroyed. */
static cudaError_t join(const struct lanes *lanes)
{
    cudaEvent_t last = lanes->made->room->event[PROGRAM_LINKS - 1];
    unsigned lane;

    for (lane = 1; lane < PROGRAM_LANES; lane++)
        if (uses_lane(lanes->made->program, lane)) {
            TRY(cudaEventRecord(last, lanes->stream[lane]));
            if (lane == lanes->fleeting)
                TRY(cudaStreamDestroy(lanes->stream[lane]));
            TRY(cudaStreamWaitEvent(lanes->stream[0], last, 0));
        }
    return cudaSuccess;
}

static cudaError_t queue_all(struct lanes *lanes, int by_threads)
{
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
        TRY(cudaStreamBeginCaptureToGraph(lanes->stream[0], made->graph, NULL, NULL, 0, mode));
    } else {
        TRY(cudaStreamBeginCapture(lanes->stream[0], mode));
    }
    if (!program_is_new_capture(made->room, lanes->stream[0], made->graph))
        return cudaErrorUnknown;
    error = queue_beside(lanes, mode == cudaStreamCaptureModeRelaxed && may_use_threads(lanes) && dice_below(&made->dice, 2));
    end = cudaStreamEndCapture(lanes->stream[0], &made->graph);
    return error == cudaSuccess ? end : error;
}

/* A clone has the edges of its graph, each with its data. */
static int has_same_edges(cudaGraph_t graph, cudaGraph_t clone)
{
    static cudaGraphNode_t from[2][MOST_EDGES], to[2][MOST_EDGES];
    static cudaGraphEdgeData data[2][MOST_EDGES];
    size_t count[2] = { MOST_EDGES, MOST_EDGES }, e, k;

    if (edges_of_graph(graph, from[0], to[0], data[0], &count[0]) != cudaSuccess ||
        edges_of_graph(clone, from[1], to[1], data[1], &count[1]) != cudaSuccess || count[0] != count[1])
        return 0;
    for (e = 0; e < count[0]; e++) {
        cudaGraphNode_t first, second;
        if (cudaGraphNodeFindInClone(&first, from[0][e], clone) != cudaSuccess || cudaGraphNodeFindInClone(&second, to[0][e], clone) != cudaSuccess)
            return 0;
        for (k = 0; k < count[1] && !(from[1][k] == first && to[1][k] == second); k++)
            ;
        if (k == count[1] || memcmp(&data[0][e], &data[1][k], sizeof(data[0][e])) != 0)
            return 0;
    }
    return 1;
}

static int has_edge(const struct made *made, unsigned from, unsigned to, enum link_kind kind)
{
    static cudaGraphNode_t nodes[MOST_EDGES];
    static cudaGraphEdgeData data[MOST_EDGES];
    cudaGraphEdgeData want = program_edge(kind);
    size_t count = MOST_EDGES, e;

    if (edges_into_node(made->node[to], nodes, data, &count) != cudaSuccess)
        return 0;
    for (e = 0; e < count; e++)
        if (nodes[e] == made->node[from])
            return memcmp(&data[e], &want, sizeof(want)) == 0;
    return 0;
}

static unsigned links_into(const struct program *p, unsigned step)
{
    unsigned l, into = 0;

    for (l = 0; l < p->links; l++)
        into += p->link[l].to == step;
    return into;
}

/* Of two dependencies on one node the stronger counts, so that an event may become another edge where there are others. */
static int depends_on_one(const struct program *p, unsigned step)
{
    unsigned i, into = links_into(p, step);

    for (i = 0; i < step; i++)
        into += p->step[i].lane == p->step[step].lane;
    return into == 1;
}

/* A cooperative launch with the attribute is an open question. */
int program_captured_right(const struct made *made, enum stream_way way)
{
    const struct program *p = made->program;
    unsigned i, l, next;

    if (way != WAY_CAPTURED && way != WAY_CAPTURED_TO_GRAPH)
        return 1;
    for (i = 0; i < p->steps; i++) {
        next = program_next_in_lane(p, i);
        if (next != PROGRAM_STEPS && p->step[i].kind == STEP_KERNEL && p->step[next].kind == STEP_KERNEL && p->step[next].attribute &&
            !p->step[next].cooperative && !links_into(p, next) && !has_edge(made, i, next, LINK_TRIGGER))
            return 0;
    }
    for (l = 0; l < p->links; l++)
        if (p->link[l].kind != LINK_FULL && depends_on_one(p, p->link[l].to) && !has_edge(made, p->link[l].from, p->link[l].to, p->link[l].kind))
            return 0;
    return 1;
}

static cudaError_t around(struct made *made, enum stream_way way)
{
    cudaGraph_t captured = made->graph, outer = NULL;
    cudaGraphNode_t node;

    if (way == WAY_CAPTURED_CLONE) {
        TRY(cudaGraphClone(&outer, captured));
        if (!has_same_edges(captured, outer))
            return cudaErrorUnknown;
    } else {
        TRY(cudaGraphCreate(&outer, 0));
        TRY(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, captured));
    }
    made->graph = outer;
    return cudaGraphDestroy(captured);
}

cudaError_t stream_make(struct made *made, enum stream_way way)
{
    struct program_room *room = made->room;
    struct lanes lanes;

    memset(&lanes, 0, sizeof(lanes));
    lanes.made = made;
    made->way = way;
    made->began = made->dice;
    made->eager = made->program->legacy || !stream_way_captures(way);
    lanes.stream[0] = way == WAY_BLOCKING_STREAM ? room->blocking : way == WAY_PER_THREAD ? cudaStreamPerThread
                      : way == WAY_LEGACY ? cudaStreamLegacy : way == WAY_URGENT_STREAM ? room->urgent : room->stream;
    lanes.relay = room->relay;
    if (made->program->legacy) { /* there is one way, and no event says what comes after what */
        lanes.stream[0] = cudaStreamLegacy;
        lanes.stream[1] = room->blocking;
        lanes.stream[2] = cudaStreamPerThread;
        TRY(queue_beside(&lanes, 0));
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
    lanes.stream[2] = way == WAY_URGENT_STREAM ? room->stream : room->urgent;
    if (!stream_way_captures(way)) {
        if (uses_lane(made->program, 1) && dice_below(&made->dice, 2)) {
            TRY(cudaStreamCreateWithFlags(&lanes.stream[1], cudaStreamNonBlocking));
            lanes.fleeting = 1;
        }
        TRY(queue_beside(&lanes, way == WAY_OTHER_THREAD));
        return cudaStreamSynchronize(lanes.stream[0]);
    }
    TRY(capture(&lanes, way == WAY_CAPTURED_TO_GRAPH));
    return way == WAY_CAPTURED_CLONE || way == WAY_CAPTURED_CHILD ? around(made, way) : cudaSuccess;
}
