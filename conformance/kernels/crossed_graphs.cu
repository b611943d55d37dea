/* crossed_graphs.cu - the order of nodes in graphs where their kinds, their places and the ways to make and to launch a graph meet.
 *
 * pair    rules    what is asked
 * nodes   EDGE-45  rows of nodes that hand words on from cell to cell, in a graph, in child graphs and in bodies of conditional nodes,
 *                  inside each other; kinds, attributes, places, edges, how the graph is made and what is launched, in which stream, are drawn
 *                  for each trial; and each kind after each, where the nodes of an executable graph are given parameters
 *
 * A node that begins too soon hands on what was in the cell before, or sets what is stored to after it.
 * Mutant `graphedge`: there are no edges.
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"
#include "crossed_drawn.h"

#define SIDE CELLS             /* cells beside: what the second node reads, what it stores, what the reader finds there */
#define RECORD (CELLS + 3u)    /* what another stream finds after an event that a node records */
#define ALL_CELLS (CELLS + 4u)
#define MANY 1025u             /* blocks of one thread */

#define ROWS 4u                /* of a copy or a memset of rows: all of a cell but the end of each row */
#define ROW_PITCH (CELL_BYTES / ROWS)
#define ROW_BYTES (ROW_PITCH - sizeof(uint32_t))

/* Triggers, waits or not, reads, and stores late. The first and the last of the threads that there have to be have the words. */
DEVICE_FN void hands_on(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t at = k_block() * k_threads() + k_thread(), word, beside = 0;

    if (k_thread() == 0)
        k_trigger();
    if (waits)
        k_wait_device();
    if (at >= CELL / 2 && at < plan.words - CELL / 2)
        return;
    at -= at < CELL / 2 ? 0 : plan.words - CELL;
    word = k_load(args->data + at);
    if (args->input)
        beside = k_load(args->input + at);
    k_delay(args->state, plan.hold_ns);
    k_store(args->seen + at, word);
    if (args->input)
        k_store(args->primary_sm + at, beside);
}

KERNEL(crossed_carrier) { hands_on(&args, 0); }
KERNEL(crossed_waiting_carrier) { hands_on(&args, 1); }

enum hold { HOLD_QUICK, HOLD_SLOW, HOLD_LONG, HOLDS };
enum event { EVENT_FORK, EVENT_JOIN, EVENT_RECORDED, EVENT_AWAITED, EVENTS }; /* the last two are those of nodes */
#define EVENT_KINDS 3u         /* without timing, with it, and one that puts the waiting thread to sleep */

struct crossed_pinned {        /* both sides see it; the second half of the cells is for graphs that are not launched */
    struct trial_plan plan[2][HOLDS]; /* of kernels of CELL threads, of those of MANY blocks */
    struct trial_state state;
    uint32_t cells[2][ALL_CELLS][CELL], poison[ALL_CELLS][CELL];
};

struct crossed {
    struct ask *ask;
    struct crossed_pinned *pinned;
    char *seen_by_device;      /* the same */
    uint32_t (*cells)[ALL_CELLS][CELL]; /* of the device: two times all */
    cudaStream_t street[STREETS];
    cudaEvent_t event[EVENT_KINDS][EVENTS];
    struct drawn drawn;
    int mps, greatest;         /* greatest: of all priorities */
    unsigned trial;
    uint64_t key;
    unsigned decoy;            /* 1 while a graph is made that is not launched */
    cudaGraph_t outermost;     /* of the graph that is made: handles of conditions belong to it */
    struct kernel_args args[2][PARTS], args_ahead, args_beside, args_after;
    struct ask_hand hand[2][PARTS];
};

static const void *carrier_of(const struct part *part)
{
    return part->programmatic ? (const void *)SYMBOL(crossed_waiting_carrier) : (const void *)SYMBOL(crossed_carrier);
}

static int is_rows(enum part_kind kind) { return kind == PART_SET_ROWS || kind == PART_COPY_ROWS; }

/* The cell of a part, or the next one, as host code names it. Rows are in their place in a decoy, too: updates of others may be refused. */
static uint32_t *cell_of_host(struct crossed *c, const struct part *part, unsigned next)
{
    unsigned cell = part->cell + next, half = is_rows(part->kind) ? 0 : c->decoy;

    return c->drawn.pinned[cell] ? c->pinned->cells[half][cell] : c->cells[half][cell];
}

static uint32_t *cell_of_device(struct crossed *c, unsigned cell)
{
    size_t place = offsetof(struct crossed_pinned, cells) + (c->decoy * ALL_CELLS + cell) * CELL_BYTES;

    return cell < CELLS && c->drawn.pinned[cell] ? (uint32_t *)(c->seen_by_device + place) : c->cells[c->decoy][cell];
}

static cudaEvent_t event_of_trial(const struct crossed *c, enum event event) { return c->event[c->trial / 2 % EVENT_KINDS][event]; }

/* From that cell to the next one. */
static struct kernel_args *fill_args(struct crossed *c, struct kernel_args *args, unsigned from, enum hold hold)
{
    static const struct kernel_args none = PDL_ZERO;

    *args = none;
    args->plan = (const struct trial_plan *)(c->seen_by_device + offsetof(struct crossed_pinned, plan)) + hold;
    args->state = (struct trial_state *)(c->seen_by_device + offsetof(struct crossed_pinned, state));
    args->data = cell_of_device(c, from);
    args->seen = cell_of_device(c, from + 1);
    return args;
}

static struct kernel_args *args_of(struct crossed *c, unsigned part)
{
    const struct part *is = &c->drawn.part[part];
    struct kernel_args *args = fill_args(c, &c->args[c->decoy][part], is->cell, is->slow ? HOLD_SLOW : HOLD_QUICK);

    args->plan += is->kind == PART_MANY ? HOLDS : 0;
    if (part == c->drawn.reader) {
        args->input = cell_of_device(c, SIDE + 1);
        args->primary_sm = cell_of_device(c, SIDE + 2);
    }
    return args;
}

static struct kernel_args *args_beside(struct crossed *c)
{
    return fill_args(c, &c->args_beside, SIDE, c->drawn.beside_slow ? HOLD_LONG : HOLD_QUICK);
}

static struct ask_hand *hand_of(struct crossed *c, unsigned part)
{
    struct ask_hand *hand = &c->hand[c->decoy][part];

    hand->from = cell_of_host(c, &c->drawn.part[part], 0);
    hand->to = cell_of_host(c, &c->drawn.part[part], 1);
    hand->words = CELL;
    return hand;
}

static unsigned value_of(const struct part *part) { return part->kind == PART_SET_HALVES ? part->value * 0x0101u + 0x80u : part->value; }

#include "crossed_made.h"

#include "crossed_renewed.h"

#include "crossed_judged.h"

/* ---- a trial ---- */

static cudaError_t prepare_cells(struct crossed *c)
{
    cudaError_t error;

    c->key = c->key * 0x9E3779B97F4A7C15ull + 1;
    fill_cells(c, c->pinned->poison);
    memcpy(c->pinned->cells[0], c->pinned->poison, sizeof(c->pinned->poison));
    error = cudaMemcpyAsync(c->cells[0], c->pinned->poison, sizeof(c->pinned->poison), cudaMemcpyHostToDevice, c->ask->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(c->ask->stream) : error;
}

static cudaError_t make_graph(struct crossed *c, unsigned decoy, cudaGraph_t *graph)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    c->decoy = decoy;
    c->outermost = *graph;
    if (error == cudaSuccess)
        error = make_row(c, *graph, NOWHERE);
    c->decoy = 0;
    return error;
}

/* The driver may refuse a change: then the graph is made executable anew. */
static cudaError_t unless_refused(cudaGraph_t graph, cudaGraphExec_t *exec, cudaError_t error)
{
    if (error != cudaErrorGraphExecUpdateFailure)
        return error;
    (void)cudaGetLastError();
    error = cudaGraphExecDestroy(*exec);
    *exec = NULL;
    return error == cudaSuccess ? cudaGraphInstantiate(exec, graph, 0) : error;
}

/* Made from a graph of the same nodes and edges that does something else. */
static cudaError_t make_updated(struct crossed *c, cudaGraph_t graph, cudaGraphExec_t *exec)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t decoy = NULL;
    cudaError_t error = make_graph(c, 1, &decoy);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, decoy, 0);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(*exec, graph, &info);
    if (decoy)
        (void)cudaGraphDestroy(decoy);
    return unless_refused(graph, exec, error);
}

static cudaError_t make_renewed(cudaGraph_t graph, cudaGraphExec_t *exec)
{
    cudaError_t error = cudaGraphInstantiate(exec, graph, 0);

    return error == cudaSuccess ? unless_refused(graph, exec, renew_nodes(graph, *exec)) : error;
}

/* exec[0] is what is launched. */
static cudaError_t make_executable(struct crossed *c, cudaGraph_t graph, cudaGraphExec_t exec[2])
{
    cudaGraph_t clone = NULL;
    cudaError_t error = cudaSuccess;

    switch (c->drawn.executable) {
    case EXECUTABLE_SECOND:
        error = cudaGraphInstantiate(&exec[1], graph, 0);
        return error == cudaSuccess ? cudaGraphInstantiate(&exec[0], graph, 0) : error;
    case EXECUTABLE_CLONE:
        error = cudaGraphClone(&clone, graph);
        if (error == cudaSuccess)
            error = cudaGraphInstantiate(&exec[0], clone, 0);
        if (clone)
            (void)cudaGraphDestroy(clone);
        return error;
    case EXECUTABLE_UPDATED: return make_updated(c, graph, &exec[0]);
    case EXECUTABLE_RENEWED: return make_renewed(graph, &exec[0]);
    default: return cudaGraphInstantiate(&exec[0], graph, 0);
    }
}

struct making {
    struct crossed *c;
    cudaGraph_t graph;
    cudaGraphExec_t exec[2];
    cudaError_t error;
};

static void make_both(void *opaque)
{
    struct making *making = (struct making *)opaque;

    making->error = make_graph(making->c, 0, &making->graph);
    if (making->error == cudaSuccess)
        making->error = make_executable(making->c, making->graph, making->exec);
}

/* What the event stands for that a node waits for. */
static cudaError_t launch_awaited(struct crossed *c)
{
    const void *function = (const void *)SYMBOL(crossed_carrier);
    cudaError_t error = launch_one(function, fill_args(c, &c->args_beside, SIDE, HOLD_LONG), CELL, c->ask->side, NULL, 0);

    return error == cudaSuccess ? cudaEventRecord(event_of_trial(c, EVENT_AWAITED), c->ask->side) : error;
}

/* Another stream looks at the words once a node has recorded its event. */
static cudaError_t follow_record(struct crossed *c)
{
    struct kernel_args *args = fill_args(c, &c->args_after, c->drawn.part[c->drawn.record].cell, HOLD_QUICK);
    cudaError_t error = cudaStreamWaitEvent(c->ask->side, event_of_trial(c, EVENT_RECORDED), 0);

    args->seen = cell_of_device(c, RECORD);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(crossed_carrier), args, CELL, c->ask->side, NULL, 0) : error;
}

/* The kernel before the graph; in another stream, which the graph's stream waits for then. */
static cudaError_t launch_ahead(struct crossed *c, cudaStream_t stream)
{
    int beside = c->drawn.ahead == AHEAD_BESIDE;
    cudaStream_t in = beside ? c->ask->side : stream;
    cudaEvent_t event = event_of_trial(c, EVENT_FORK);
    struct kernel_args *args = fill_args(c, &c->args_ahead, 0, HOLD_SLOW);
    cudaError_t error = launch_one((const void *)SYMBOL(crossed_carrier), args, CELL, in, NULL, 0);

    if (error == cudaSuccess && beside)
        error = cudaEventRecord(event, in);
    return error == cudaSuccess && beside ? cudaStreamWaitEvent(stream, event, 0) : error;
}

/* The kernel before it, if there is one, and the graph; the host waits. */
static cudaError_t launch(struct crossed *c, cudaGraphExec_t exec)
{
    cudaStream_t stream = c->street[c->drawn.street];
    int beside = c->drawn.wait != NOWHERE || c->drawn.record != NOWHERE;
    cudaError_t error = prepare_cells(c), end;

    if (error == cudaSuccess && c->drawn.wait != NOWHERE)
        error = launch_awaited(c);
    if (error == cudaSuccess && c->drawn.uploaded)
        error = cudaGraphUpload(exec, stream);
    if (error == cudaSuccess && c->drawn.ahead != AHEAD_INSIDE)
        error = launch_ahead(c, stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess && c->drawn.record != NOWHERE)
        error = follow_record(c);
    end = c->trial % 2 && !beside ? cudaStreamSynchronize(stream) : cudaDeviceSynchronize();
    return error == cudaSuccess ? end : error;
}

static cudaError_t run_crossed(struct crossed *c, unsigned *too_soon)
{
    struct dice dice = { c->ask->seed ^ (uint64_t)c->trial * 0xD1342543DE82EF95ull };
    struct making making = { c, NULL, { NULL, NULL }, cudaSuccess };
    unsigned i;
    cudaError_t error;

    c->key = dice.state;
    draw_trial(&c->drawn, &dice, c->trial, c->mps);
    if (!c->drawn.by_thread || !run_in_thread(make_both, &making))
        make_both(&making);
    error = making.error;
    if (error == cudaSuccess)
        error = launch(c, making.exec[0]);
    if (error == cudaSuccess && c->drawn.again)
        error = launch(c, making.exec[0]);
    if (error == cudaSuccess)
        error = find_too_soon(c, too_soon);
    for (i = 0; i < 2; i++)
        if (making.exec[i])
            (void)cudaGraphExecDestroy(making.exec[i]);
    if (making.graph)
        (void)cudaGraphDestroy(making.graph);
    return error;
}

/* "An operation may be scheduled at any time once the nodes on which it depends are complete." */
static void ask_nodes(struct ask *ask)
{
    static struct crossed c;
    static const struct crossed nothing = PDL_ZERO;
    struct tallies t = PDL_ZERO;
    unsigned soon = PARTS;
    char text[360] = "graphs that were drawn";
    cudaError_t error;

    c = nothing;
    error = open_crossed(&c, ask);
    for (; ask_goes_on(ask, c.trial, ask->trials) && error == cudaSuccess && t.wrong < ASK_WRONG_ENOUGH; c.trial++) {
        error = run_crossed(&c, &soon);
        if (error == cudaSuccess)
            judge_trial(&c, &t, soon);
        else if (c.drawn.parts)
            tell_trial(&c.drawn, c.trial, NOWHERE, text, sizeof(text));
    }
    ask_expect_text(ask, "the first node that was too soon", t.first[0] ? t.first : "none", "none");
    ask_expect(ask, text, error, cudaSuccess);
    tell_tallies(ask, "too soon: %s", part_name, t.kind, PART_KINDS);
    tell_tallies(ask, "too soon in a graph%s", place_name, t.place, PLACES);
    tell_tallies(ask, "trials with a node too soon, %s", made_name, t.made, MADES);
    tell_tallies(ask, "trials with a node too soon, %s", executable_name, t.executable, EXECUTABLES);
    tell_tallies(ask, "trials with a node too soon in a stream: %s", street_name, t.street, STREETS);
    ask_expect_none(ask, "graphs too soon after a kernel", t.unordered, c.trial);
    close_crossed(&c);
}

static const struct pair crossed_graphs_pairs[] = { PAIR_ASK("nodes", ask_nodes) };
IMAGE(crossed_graphs, crossed_graphs_pairs)
