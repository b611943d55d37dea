/* crossed_graphs.cu - the order of nodes in graphs where their kinds, their places and the ways to make and to launch a graph meet.
 *
 * pair    rules    what is asked
 * nodes   EDGE-45  rows of nodes that hand words on from cell to cell, in a graph, in child graphs and in bodies of conditional nodes, inside each
 *                  other; kinds, places, edges, how the graph is made and what is launched, in which stream, are drawn for each trial
 *
 * A node that begins too soon hands on what was in the cell before, or sets what is stored to after it.
 * Mutant `graphedge`: there are no edges.
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"
#include "crossed_drawn.h"

#define SIDE CELLS             /* cells beside: what the second node reads, what it stores, what the reader finds there */
#define ALL_CELLS (CELLS + 3u)
#define EVENT_KINDS 3u

#define ROWS 4u                /* of a copy or a memset of rows: all of a cell but the end of each row */
#define ROW_PITCH (CELL_BYTES / ROWS)
#define ROW_BYTES (ROW_PITCH - sizeof(uint32_t))

/* Triggers, waits or not, reads, and stores late. The last threads of the grid have the words. */
DEVICE_FN void hands_on(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t first = k_blocks() * k_threads() - CELL, at = k_block() * k_threads() + k_thread(), word, beside = 0;

    if (k_thread() == 0)
        k_trigger();
    if (waits)
        k_wait_device();
    if (at < first)
        return;
    word = k_load(args->data + at - first);
    if (args->input)
        beside = k_load(args->input + at - first);
    k_delay(args->state, plan.hold_ns);
    k_store(args->seen + at - first, word);
    if (args->input)
        k_store(args->primary_sm + at - first, beside);
}

KERNEL(crossed_carrier) { hands_on(&args, 0); }
KERNEL(crossed_waiting_carrier) { hands_on(&args, 1); }

enum hold { HOLD_QUICK, HOLD_SLOW, HOLD_LONG, HOLDS };

struct hand {                  /* what a host function copies */
    const uint32_t *from;
    uint32_t *to;
};

struct crossed_pinned {        /* both sides see it; the second half of the cells is for graphs that are not launched */
    struct trial_plan plan[HOLDS];
    struct trial_state state;
    uint32_t cells[2][ALL_CELLS][CELL], poison[ALL_CELLS][CELL];
};

struct crossed {
    struct ask *ask;
    struct crossed_pinned *pinned;
    char *seen_by_device;      /* the same */
    uint32_t (*cells)[ALL_CELLS][CELL]; /* of the device: two times all */
    cudaStream_t street[STREETS];
    cudaEvent_t event[EVENT_KINDS][2], recorded, past;
    struct drawn drawn;
    unsigned trial;
    uint64_t key;
    unsigned decoy;            /* 1 while a graph is made that is not launched */
    cudaGraph_t outermost;     /* of the graph that is made: handles of conditions belong to it */
    struct kernel_args args[2][PARTS], args_ahead, args_beside;
    struct hand hand[2][PARTS];
};

static const void *carrier_of(const struct part *part)
{
    return part->programmatic ? (const void *)SYMBOL(crossed_waiting_carrier) : (const void *)SYMBOL(crossed_carrier);
}

/* Rows keep their place when a graph is updated: a driver need not take others. */
static uint32_t *cell_of_host(struct crossed *c, unsigned cell)
{
    int pinned = cell < CELLS && c->drawn.pinned[cell];

    return pinned ? c->pinned->cells[c->decoy][cell] : c->cells[c->decoy][cell];
}

static uint32_t *cell_of_device(struct crossed *c, unsigned cell)
{
    size_t place = offsetof(struct crossed_pinned, cells) + (c->decoy * ALL_CELLS + cell) * CELL_BYTES;

    return cell < CELLS && c->drawn.pinned[cell] ? (uint32_t *)(c->seen_by_device + place) : c->cells[c->decoy][cell];
}

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
    struct kernel_args *args = fill_args(c, &c->args[c->decoy][part], c->drawn.part[part].cell, c->drawn.part[part].slow ? HOLD_SLOW : HOLD_QUICK);

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

static void CUDART_CB hand_on(void *opaque)
{
    const struct hand *hand = (const struct hand *)opaque;

    memcpy(hand->to, hand->from, CELL_BYTES);
}

static struct hand *hand_of(struct crossed *c, unsigned part)
{
    struct hand *hand = &c->hand[c->decoy][part];

    hand->from = cell_of_host(c, c->drawn.part[part].cell);
    hand->to = cell_of_host(c, c->drawn.part[part].cell + 1);
    return hand;
}

static unsigned value_of(const struct part *part) { return part->kind == PART_SET_HALVES ? part->value * 0x0101u + 0x80u : part->value; }

#include "crossed_made.h"

/* ---- what the cells have to hold ---- */

/* A part does to one byte of a cell what it does to its cell; rows leave the end of each as it is. */
static void act(const struct part *part, unsigned char (*cells)[CELL_BYTES])
{
    unsigned char *here = cells[part->cell], *next = cells[part->cell + 1];
    unsigned i, value = value_of(part);

    for (i = 0; i < CELL_BYTES; i++) {
        int in_rows = i % ROW_PITCH < ROW_BYTES, rows = part->kind == PART_SET_ROWS || part->kind == PART_COPY_ROWS;
        if (rows && !in_rows)
            continue;
        if (is_set(part->kind))
            here[i] = (unsigned char)(part->kind == PART_SET_HALVES && i % 2 ? value >> 8 : value);
        else if (carries(part->kind))
            next[i] = here[i];
    }
}

static void fill_cells(struct crossed *c, uint32_t (*cells)[CELL])
{
    unsigned cell, i;

    for (cell = 0; cell < ALL_CELLS; cell++)
        for (i = 0; i < CELL; i++) {
            uint32_t word = words_fresh(c->key, cell * CELL + i);
            cells[cell][i] = cell == 0 || cell == SIDE ? word : ~word;
        }
}

static int is_right(struct crossed *c, unsigned cell, const uint32_t *want, const uint32_t (*in_device)[CELL])
{
    return memcmp(cell < CELLS && c->drawn.pinned[cell] ? c->pinned->cells[0][cell] : in_device[cell], want, CELL_BYTES) == 0;
}

/* The first part that was too soon, PARTS: none was; PARTS + 1: the graph, after the kernel before it. */
static cudaError_t find_too_soon(struct crossed *c, unsigned *part)
{
    static uint32_t want[ALL_CELLS][CELL], got[ALL_CELLS][CELL];
    const struct drawn *d = &c->drawn;
    unsigned i, cell, owner[ALL_CELLS];
    cudaError_t error = cudaMemcpy(got, c->cells[0], sizeof(got), cudaMemcpyDeviceToHost);

    fill_cells(c, want);
    for (cell = 0; cell < ALL_CELLS; cell++)
        owner[cell] = PARTS + 1;
    if (d->ahead)
        memcpy(want[1], want[0], CELL_BYTES);
    for (i = 0; i < d->parts; i++) {
        act(&d->part[i], (unsigned char(*)[CELL_BYTES])want);
        if (is_set(d->part[i].kind) || carries(d->part[i].kind))
            owner[d->part[i].cell + (carries(d->part[i].kind) ? 1 : 0)] = i;
    }
    if (d->beside != NOWHERE) {
        memcpy(want[SIDE + 1], want[SIDE], CELL_BYTES);
        memcpy(want[SIDE + 2], want[SIDE], CELL_BYTES);
        owner[SIDE + 1] = owner[SIDE + 2] = d->beside;
    }
    *part = PARTS;
    for (cell = 0; cell < ALL_CELLS && *part == PARTS; cell++)
        if (!is_right(c, cell, want[cell], (const uint32_t(*)[CELL])got))
            *part = owner[cell];
    return error;
}

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

/* Made from a graph of the same nodes and edges that does something else, which the driver may refuse. */
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
    if (error != cudaErrorGraphExecUpdateFailure)
        return error;
    (void)cudaGetLastError();
    error = cudaGraphExecDestroy(*exec);
    *exec = NULL;
    return error == cudaSuccess ? cudaGraphInstantiate(exec, graph, 0) : error;
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
    default: return cudaGraphInstantiate(&exec[0], graph, 0);
    }
}

/* The kernel before it, if there is one, and the graph; the host waits. */
static cudaError_t launch(struct crossed *c, cudaGraphExec_t exec)
{
    cudaStream_t stream = c->street[c->drawn.street];
    cudaError_t error = prepare_cells(c), end;

    if (error == cudaSuccess && c->drawn.uploaded)
        error = cudaGraphUpload(exec, stream);
    if (error == cudaSuccess && c->drawn.ahead)
        error = launch_one((const void *)SYMBOL(crossed_carrier), fill_args(c, &c->args_ahead, 0, HOLD_SLOW), CELL, stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    end = c->trial % 2 ? cudaStreamSynchronize(stream) : cudaDeviceSynchronize();
    return error == cudaSuccess ? end : error;
}

static cudaError_t run_crossed(struct crossed *c, unsigned *too_soon)
{
    struct dice dice = { c->ask->seed ^ (uint64_t)c->trial * 0xD1342543DE82EF95ull };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec[2] = { NULL, NULL };
    unsigned i;
    cudaError_t error;

    c->key = dice.state;
    draw_trial(&c->drawn, &dice);
    error = make_graph(c, 0, &graph);
    if (error == cudaSuccess)
        error = make_executable(c, graph, exec);
    if (error == cudaSuccess)
        error = launch(c, exec[0]);
    if (error == cudaSuccess && c->drawn.again)
        error = launch(c, exec[0]);
    if (error == cudaSuccess)
        error = find_too_soon(c, too_soon);
    for (i = 0; i < 2; i++)
        if (exec[i])
            (void)cudaGraphExecDestroy(exec[i]);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

#include "crossed_judged.h"

static const struct pair crossed_graphs_pairs[] = { PAIR_ASK("nodes", ask_nodes) };
IMAGE(crossed_graphs, crossed_graphs_pairs)
