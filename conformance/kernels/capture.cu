/* capture.cu - what capture makes of streams, events and attributes, read back as edges.
 *
 * pair        rules     what is captured
 * attribute   EDGE-11   a kernel with the attribute, with value 0, without it, after a half-edge, in every manner of a launch
 * event       EDGE-12   a programmatic event at triggers, and who waits for it
 * start       EDGE-13   the same at block starts
 * table       EDGE-30a  launch-completion events (AMB-10), both kinds of order at once, joins, forks, what is no kernel
 * no_kernel   EDGE-30   all of it can be captured, and nothing programmatic leads out of what is no kernel
 * half        EDGE-18   half-edges given to a capture
 * unjoined    EDGE-19   a fork that nothing brings back
 * early_join  EDGE-19a  a fork that only a programmatic event brings back
 * pending     EDGE-19b  a programmatic half-edge at the end of a capture (AMB-12)
 * removed     EDGE-20   a fork that an update of the dependencies took out
 * waiters     EVT-12    copies, memsets, host functions and events after a programmatic event
 * events      EVT-05    events that a launch must not record (AMB-12)
 * flags       EVT-06    the flag for external recording (AMB-12)
 */
#include "host_room.h"
#include "scripts.h"

/* ---- reading what was captured ---- */

static const char *letter(cudaGraphNode_t node)
{
    static const char *const kinds[] = { "kernel", "copy", "memset", "host", "graph", "empty", "wait", "record" };
    struct cudaKernelNodeParams params = PDL_ZERO;
    enum cudaGraphNodeType type;

    if (cudaGraphNodeGetType(node, &type) != cudaSuccess)
        return "?";
    if (type != cudaGraphNodeTypeKernel)
        return (unsigned)type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : "other";
    if (cudaGraphKernelNodeGetParams(node, &params) != cudaSuccess)
        return "K";
    return params.blockDim.x == 1 ? "P" : params.blockDim.x == 2 ? "M" : params.blockDim.x == 3 ? "D" : "K";
}

static int is_kernel(const char *name) { return name[0] >= 'A' && name[0] <= 'Z'; }

struct reading {
    char text[256];
    unsigned astray;             /* edges from ports that only kernels have, out of what is no kernel */
};

/* Whether its first node tells this edge, too. */
static int node_tells(cudaGraphNode_t from, cudaGraphNode_t to, cudaGraphEdgeData data)
{
    cudaGraphNode_t dependents[ASK_EDGES];
    cudaGraphEdgeData told[ASK_EDGES];
    size_t count = ASK_EDGES, i;
    unsigned same = 0;

    if (edges_out_of_node(from, dependents, told, &count) != cudaSuccess)
        return 0;
    for (i = 0; i < count; i++)
        same += dependents[i] == to && memcmp(&told[i], &data, sizeof(data)) == 0;
    return same == 1;
}

/* The edges in the order P, M, D of their names, so that equal graphs give equal texts. */
static cudaError_t read_edges(cudaGraph_t graph, struct reading *reading)
{
    cudaGraphNode_t from[ASK_EDGES], to[ASK_EDGES];
    cudaGraphEdgeData data[ASK_EDGES];
    char line[ASK_EDGES][64];
    size_t count = ASK_EDGES, i, j;

    memset(reading, 0, sizeof(*reading));
    TRY(edges_of_graph(graph, from, to, data, &count));
    for (i = 0; i < count; i++) {
        const char *a = letter(from[i]), *b = letter(to[i]);
        snprintf(line[i], sizeof(line[i]), "%s>%s ", a, b);
        ask_append_edge(line[i], sizeof(line[i]), data[i]);
        ask_append(line[i], sizeof(line[i]), node_tells(from[i], to[i], data[i]) ? "" : ", which its first node tells otherwise");
        reading->astray += (data[i].type != 0 || data[i].from_port != 0) && !is_kernel(a);
    }
    for (j = 0; j < count; j++) { /* smallest first; each is taken out by emptying it */
        size_t least = count;
        for (i = 0; i < count; i++)
            if (line[i][0] && (least == count || strcmp(line[i], line[least]) < 0))
                least = i;
        ask_append(reading->text, sizeof(reading->text), j ? "; " : "");
        ask_append(reading->text, sizeof(reading->text), line[least]);
        line[least][0] = '\0';
    }
    if (!count)
        ask_append(reading->text, sizeof(reading->text), "no edge");
    return cudaSuccess;
}

/* Captures a script; what went wrong stands in the text. */
static cudaError_t capture_script(const struct studio *s, const struct script *script, struct reading *reading)
{
    cudaGraph_t graph = NULL;
    cudaError_t error, end;

    memset(reading, 0, sizeof(*reading));
    TRY(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
    error = script->run(s);
    end = cudaStreamEndCapture(s->stream, &graph);
    if (error == cudaSuccess)
        error = end;
    if (error == cudaSuccess)
        error = read_edges(graph, reading);
    if (error != cudaSuccess)
        ask_append(reading->text, sizeof(reading->text), cudaGetErrorName(error));
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return error;
}

static void ask_scripts(struct ask *ask, const struct script *scripts, size_t count)
{
    struct studio studio;
    struct reading reading;
    size_t i;

    if (!open_studio(ask, &studio))
        return;
    for (i = 0; i < count; i++) {
        (void)capture_script(&studio, &scripts[i], &reading);
        if (scripts[i].want) {
            ask_expect_text(ask, scripts[i].what, reading.text, scripts[i].want);
        } else {
            ask->asked++;
            ask_row(ask, scripts[i].what, reading.text);
        }
    }
    close_studio(&studio);
}

#define SCRIPTS(table) table, sizeof(table) / sizeof(table[0])

static void ask_event(struct ask *ask) { ask_scripts(ask, SCRIPTS(event_scripts)); }
static void ask_start(struct ask *ask) { ask_scripts(ask, SCRIPTS(start_scripts)); }
static void ask_table(struct ask *ask) { ask_scripts(ask, SCRIPTS(table_scripts)); }
static void ask_waiters(struct ask *ask) { ask_scripts(ask, SCRIPTS(waiter_scripts)); }

/* Ends the capture in which `launched` is what the launches gave. */
static cudaError_t read_capture(cudaStream_t stream, cudaError_t launched, struct reading *reading)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);

    if (launched == cudaSuccess && (error != cudaSuccess || read_edges(graph, reading) != cudaSuccess))
        launched = cudaErrorUnknown; /* a launch that was taken has an edge */
    if (graph)
        (void)cudaGraphDestroy(graph);
    return launched;
}

static cudaError_t capture_hinted(cudaStream_t stream, cudaLaunchAttribute *attrs, struct reading *reading)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        error = launch_plain(P, stream);
    if (error == cudaSuccess)
        error = launch_with(D, stream, attrs, 2);
    return read_capture(stream, error, reading);
}

static cudaError_t capture_in_manners(cudaStream_t stream, enum manner first, enum manner second, struct reading *reading)
{
    struct kernel_args args = PDL_ZERO;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        error = launch_in_manner(P, &args, 1, stream, first, 0);
    if (error == cudaSuccess)
        error = launch_in_manner(D, &args, 3, stream, second, 1);
    return read_capture(stream, error, reading);
}

/* The attribute before or after one that says how, and never when, or one of an event, unless the device refuses that one. */
static void ask_hinted(struct ask *ask)
{
    cudaEvent_t event = NULL;
    unsigned i;
    cudaError_t made = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    ask_expect(ask, "an event", made, cudaSuccess);
    for (i = 0; i < 2 * (HINT_KINDS + 2) && made == cudaSuccess; i++) {
        cudaLaunchAttribute attrs[2];
        struct reading reading = PDL_ZERO;
        cudaError_t error;
        attrs[i % 2] = serialization(1);
        attrs[1 - i % 2] = i / 2 < HINT_KINDS ? nth_hint(i / 2) : i / 2 == HINT_KINDS ? recording(event) : recording_begin(event);
        error = capture_hinted(ask->stream, attrs, &reading);
        (void)cudaGetLastError();
        if (is_unoffered(error))
            continue;
        ask_expect(ask, "a launch with the attribute and another one", error, cudaSuccess);
        ask_expect_text(ask, "its edge", reading.text, "P>D 1,0,1");
    }
    if (event)
        (void)cudaEventDestroy(event);
}

/* Launches of every manner; no document says what the attribute is on a cooperative one. */
static void ask_in_manners(struct ask *ask)
{
    unsigned first, second;

    for (first = 0; first < MANNERS; first++)
        for (second = 0; second < MANNERS; second++) {
            struct reading reading = PDL_ZERO;
            if (second == MANNER_COOPERATIVE)
                continue;
            ask_expect(ask, "launches in some manner", capture_in_manners(ask->stream, (enum manner)first, (enum manner)second, &reading),
                       cudaSuccess);
            ask_expect_text(ask, "their edge", reading.text, "P>D 1,0,1");
        }
}

/* Also what the stream depends on between the two launches: P, by zeros. */
static void ask_attribute(struct ask *ask)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    struct reading reading = PDL_ZERO;
    cudaGraph_t graph = NULL;
    size_t count = 0;

    ask_scripts(ask, SCRIPTS(attribute_scripts));
    ask_hinted(ask);
    ask_in_manners(ask);
    ask_expect(ask, "beginning a capture", cudaStreamBeginCapture(ask->stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ask_expect(ask, "P", launch_plain(P, ask->stream), cudaSuccess);
    ask_expect(ask, "what the stream depends on", edges_of_capture(ask->stream, &status, NULL, NULL, &nodes, &data, &count),
               cudaSuccess);
    ask_expect_number(ask, "half-edges after P", (long)count, 1);
    if (count == 1 && data && nodes) {
        char text[64] = "";
        ask_append(text, sizeof(text), letter(nodes[0]));
        ask_append(text, sizeof(text), " ");
        ask_append_edge(text, sizeof(text), data[0]);
        ask_expect_text(ask, "it leaves", text, "P 0,0,0");
    }
    ask_expect(ask, "D", launch_attr(D, ask->stream, 1), cudaSuccess);
    ask_expect(ask, "the end", cudaStreamEndCapture(ask->stream, &graph), cudaSuccess);
    if (!graph || read_edges(graph, &reading) != cudaSuccess)
        ask_append(reading.text, sizeof(reading.text), "unreadable");
    ask_expect_text(ask, "what was captured", reading.text, "P>D 1,0,1");
    (void)cudaGraphDestroy(graph);
}

static void ask_no_kernel(struct ask *ask)
{
    static const struct { const struct script *scripts; size_t count; } tables[] = {
        { SCRIPTS(no_kernel_scripts) }, { SCRIPTS(table_scripts) }, { SCRIPTS(waiter_scripts) } };
    struct studio studio;
    struct reading reading;
    size_t t, i;

    if (!open_studio(ask, &studio))
        return;
    for (t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (i = 0; i < tables[t].count; i++) {
            const struct script *script = &tables[t].scripts[i];
            cudaError_t error = capture_script(&studio, script, &reading);
            if (script->taken == TAKEN_ALWAYS)
                ask_expect(ask, script->what, error, cudaSuccess);
            else if (error == cudaSuccess && script->taken == TAKEN_PERHAPS_WITH_AN_EDGE)
                ask_expect_number(ask, "an edge to what waits for the event", strcmp(reading.text, "no edge") != 0, 1);
            ask_expect_number(ask, "edges that a kernel's port would need", (long)reading.astray, 0);
            ask_row(ask, script->what, reading.text);
        }
    close_studio(&studio);
}

/* ---- half-edges ---- */

/* A graph that holds P; the capture into it begins after P by this half-edge. */
static void half_edge(struct ask *ask, cudaGraphEdgeData data, int by_update, const char *want)
{
    struct kernel_args args = PDL_ZERO;
    struct reading reading;
    cudaGraph_t graph = NULL, out = NULL;
    cudaGraphNode_t node;
    cudaError_t error;

    if (cudaGraphCreate(&graph, 0) != cudaSuccess || ask_add_kernel(&node, graph, P, &args, 1) != cudaSuccess) {
        ask_skip(ask, "a graph", "none was made");
        return;
    }
    error = cudaStreamBeginCaptureToGraph(ask->stream, graph, by_update ? NULL : &node, by_update ? NULL : &data, by_update ? 0 : 1,
                                          cudaStreamCaptureModeThreadLocal);
    ask_expect(ask, "capturing into the graph", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    if (by_update)
        ask_expect(ask, "setting the half-edge",
                   edges_update_capture(ask->stream, &node, &data, 1, cudaStreamSetCaptureDependencies), cudaSuccess);
    ask_expect(ask, "a plain launch after it", launch_plain(D, ask->stream), cudaSuccess);
    ask_expect(ask, "the end", cudaStreamEndCapture(ask->stream, &out), cudaSuccess);
    error = read_edges(graph, &reading);
    ask_expect_text(ask, by_update ? "the edge, by update" : "the edge", error == cudaSuccess ? reading.text : "unreadable", want);
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(graph);
}

static void ask_half(struct ask *ask)
{
    half_edge(ask, edges_data(0, 0, 0), 0, "P>D 0,0,0");
    half_edge(ask, edges_data(1, 0, 1), 0, "P>D 1,0,1");
    half_edge(ask, edges_data(1, 0, 1), 1, "P>D 1,0,1");
    half_edge(ask, edges_data(2, 0, 1), 1, "P>D 2,0,1");
    ask_expect(ask, "an update of a stream that is not capturing",
               edges_update_capture(ask->stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies), cudaErrorIllegalState);
}

/* K in the side stream; the origin comes back after it in this way. WAY_NONE_...: it does not, and this comes after K. */
enum way { WAY_EVENT_ONLY, WAY_EVENT_AND_KERNEL, WAY_START_AND_KERNEL, WAY_NONE, WAY_REMOVED, WAY_FULL, WAY_NONE_SET, WAY_NONE_COPY, WAY_NONE_HOST };

static cudaError_t leave_loose(const struct studio *s, enum way way)
{
    switch ((int)way) {
    case WAY_NONE_SET: return cudaMemsetAsync(s->words, 0, 16, s->side);
    case WAY_NONE_COPY: return cudaMemcpyAsync(s->words, s->words + 8, 16, cudaMemcpyDeviceToDevice, s->side);
    case WAY_NONE_HOST: return cudaLaunchHostFunc(s->side, ask_host_nothing, NULL);
    default: return cudaSuccess;
    }
}

/* How the side stream comes into the capture: by a record, or by an event of the launch itself. */
enum entry { ENTERS_BY_RECORD, ENTERS_AT_TRIGGER, ENTERS_AT_START, ENTRIES };

static cudaError_t fork_off(const struct studio *s, enum entry entry)
{
    cudaError_t error = entry == ENTERS_BY_RECORD ? launch_plain(P, s->stream)
                                                  : launch_event(P, s->stream, s->fork, entry == ENTERS_AT_START, 0);

    if (error != cudaSuccess)
        return error;
    return entry == ENTERS_BY_RECORD ? record_and_await(s->fork, s->stream, s->side) : cudaStreamWaitEvent(s->side, s->fork, 0);
}

/* What leads up to the end of the capture has to succeed; returned is what the end itself gave. */
static cudaError_t fork_and_back_in_mode(struct ask *ask, const struct studio *s, enum entry entry, enum way way, enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(s->stream, mode), end;

    if (error == cudaSuccess)
        error = fork_off(s, entry);
    if (error == cudaSuccess)
        error = launch_event(M, s->side, s->released, way == WAY_START_AND_KERNEL, 0);
    if (error == cudaSuccess)
        error = leave_loose(s, way);
    if (error == cudaSuccess && way <= WAY_START_AND_KERNEL)
        error = cudaStreamWaitEvent(s->stream, s->released, 0);
    if (error == cudaSuccess && (way == WAY_EVENT_AND_KERNEL || way == WAY_START_AND_KERNEL))
        error = launch_plain(D, s->stream);
    if (error == cudaSuccess && way == WAY_REMOVED)
        error = edges_update_capture(s->side, NULL, NULL, 0, cudaStreamSetCaptureDependencies);
    if (error == cudaSuccess && way == WAY_FULL)
        error = join(s);
    end = cudaStreamEndCapture(s->stream, &graph);
    ask_expect_number(ask, "a graph came of it", graph != NULL, end == cudaSuccess);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    ask_expect(ask, "what is captured before the end", error, cudaSuccess);
    return end;
}

static cudaError_t fork_and_back(struct ask *ask, const struct studio *s, enum entry entry, enum way way)
{
    return fork_and_back_in_mode(ask, s, entry, way, cudaStreamCaptureModeThreadLocal);
}

static void ask_unjoined(struct ask *ask)
{
    static const enum way loose[] = { WAY_NONE, WAY_NONE_SET, WAY_NONE_COPY, WAY_NONE_HOST };
    struct studio studio;
    unsigned i, entry;

    if (!open_studio(ask, &studio))
        return;
    for (entry = 0; entry < ENTRIES; entry++) {
        ask_expect(ask, "a fork that an ordinary event brings back", fork_and_back(ask, &studio, (enum entry)entry, WAY_FULL), cudaSuccess);
        for (i = 0; i < sizeof(loose) / sizeof(loose[0]); i++)
            ask_expect_refusal(ask, "a fork that nothing brings back", fork_and_back(ask, &studio, (enum entry)entry, loose[i]));
    }
    close_studio(&studio);
}

static void ask_early_join(struct ask *ask)
{
    static const struct { const char *what; enum way way; } forks[] = {
        { "a fork that a programmatic event and a kernel bring back", WAY_EVENT_AND_KERNEL },
        { "a fork that an event at block starts and a kernel bring back", WAY_START_AND_KERNEL },
        { "a fork that a programmatic event brings back", WAY_EVENT_ONLY },
    };
    struct studio studio;
    unsigned i, mode, entry;

    if (!open_studio(ask, &studio))
        return;
    for (mode = 0; mode < 3; mode++)
        for (i = 0; i < ENTRIES * sizeof(forks) / sizeof(forks[0]); i++) {
            entry = i % ENTRIES;
            ask_expect_refusal(ask, forks[i / ENTRIES].what,
                               fork_and_back_in_mode(ask, &studio, (enum entry)entry, forks[i / ENTRIES].way, (enum cudaStreamCaptureMode)mode));
        }
    close_studio(&studio);
}

static void ask_pending(struct ask *ask)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    struct kernel_args args = PDL_ZERO;
    cudaGraph_t graph = NULL, out = NULL;
    cudaGraphNode_t node;

    if (cudaGraphCreate(&graph, 0) != cudaSuccess || ask_add_kernel(&node, graph, P, &args, 1) != cudaSuccess ||
        cudaStreamBeginCaptureToGraph(ask->stream, graph, &node, &data, 1, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
        ask_note(ask, "a capture after 1,0,1", cudaGetLastError());
        return;
    }
    ask_note(ask, "ending a capture that a programmatic half-edge began", cudaStreamEndCapture(ask->stream, &out));
    (void)cudaGraphDestroy(graph);
}

static void ask_removed(struct ask *ask)
{
    struct studio studio;

    if (!open_studio(ask, &studio))
        return;
    ask_expect(ask, "a fork that an update took out", fork_and_back(ask, &studio, ENTERS_BY_RECORD, WAY_REMOVED), cudaSuccess);
    ask_expect_refusal(ask, "the same fork left in", fork_and_back(ask, &studio, ENTERS_BY_RECORD, WAY_NONE));
    close_studio(&studio);
}

/* ---- events that a launch must not record ---- */

/* Eagerly, then in a capture. */
static void note_launch(struct ask *ask, const char *what, cudaEvent_t event, int kind, int flags)
{
    char text[96];
    cudaGraph_t graph = NULL;
    int captured;

    for (captured = 0; captured < 2; captured++) {
        cudaError_t error;
        if (captured && cudaStreamBeginCapture(ask->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
            return;
        error = kind == 2 ? launch_completion(P, ask->stream, event, flags) : launch_event(P, ask->stream, event, kind, flags);
        snprintf(text, sizeof(text), "%s, %s%s", what, kind == 2 ? "launch completion" : kind ? "at block starts" : "at triggers",
                 captured ? ", captured" : "");
        ask_note(ask, text, error);
        if (captured)
            (void)cudaStreamEndCapture(ask->stream, &graph);
        else
            (void)cudaStreamSynchronize(ask->stream);
        if (graph)
            (void)cudaGraphDestroy(graph);
        (void)cudaGetLastError();
    }
}

static void note_flags(struct ask *ask, const char *what, unsigned create, int flags)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, create);
    int kind;

    if (error != cudaSuccess) {
        ask_note(ask, what, error);
        return;
    }
    for (kind = 0; kind < 3; kind++)
        note_launch(ask, what, event, kind, flags);
    (void)cudaEventDestroy(event);
}

static void ask_events(struct ask *ask)
{
    int kind;

    note_flags(ask, "good", cudaEventDisableTiming, 0);
    note_flags(ask, "timing", cudaEventDefault, 0);
    note_flags(ask, "interprocess", cudaEventDisableTiming | cudaEventInterprocess, 0);
    for (kind = 0; kind < 3; kind++)
        note_launch(ask, "null", NULL, kind, 0);
}

static void ask_flags(struct ask *ask) { note_flags(ask, "external", cudaEventDisableTiming, cudaEventRecordExternal); }

static const struct pair capture_pairs[] = {
    PAIR_ASK("attribute", ask_attribute),
    PAIR_ASK("event", ask_event),
    PAIR_ASK("start", ask_start),
    PAIR_ASK("table", ask_table),
    PAIR_ASK("no_kernel", ask_no_kernel),
    PAIR_ASK("half", ask_half),
    PAIR_ASK("unjoined", ask_unjoined),
    PAIR_ASK("early_join", ask_early_join),
    PAIR_ASK("pending", ask_pending),
    PAIR_ASK("removed", ask_removed),
    PAIR_ASK("waiters", ask_waiters),
    PAIR_ASK("events", ask_events),
    PAIR_ASK("flags", ask_flags),
};
IMAGE(capture, capture_pairs)
