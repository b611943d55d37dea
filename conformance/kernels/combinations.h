/* combinations.h - the part of matrix.cu that puts every combination of ports and type between every two kinds of nodes. */
#ifndef COMBINATIONS_H_INCLUDED
#define COMBINATIONS_H_INCLUDED

#include "graph_ask.h"

#define PORTS 4u
#define TO_PORTS 2u
#define TYPES 3u
#define COMBINATIONS (PORTS * TO_PORTS * TYPES)

enum fate { FATE_TAKEN, FATE_REFUSED, FATE_OPEN };
enum column { COLUMN_PORTS, COLUMN_TO_PORT, COLUMN_TYPES, COLUMN_PORT_ONE, COLUMN_OPEN }; /* the rule that a row belongs to */

static enum column column_of(int from_kernel, cudaGraphEdgeData d)
{
    if (d.to_port != 0)
        return COLUMN_TO_PORT;
    if (d.from_port > 2 || (d.from_port != 0 && !from_kernel))
        return COLUMN_PORTS;
    if (d.type == 0 && d.from_port == 1)
        return COLUMN_PORT_ONE;
    return d.type == 0 && d.from_port == 2 ? COLUMN_OPEN : COLUMN_TYPES;
}

static enum fate fate_of(int from_kernel, int to_kernel, cudaGraphEdgeData d)
{
    switch (column_of(from_kernel, d)) {
    case COLUMN_OPEN: return FATE_OPEN;
    case COLUMN_TYPES:
        if (d.type == 0)
            return FATE_TAKEN;
        return d.type == 1 && d.from_port != 0 && from_kernel && to_kernel ? FATE_TAKEN : FATE_REFUSED;
    default: return FATE_REFUSED;
    }
}

static cudaGraphEdgeData combination(unsigned i) { return edges_data(i / (TO_PORTS * TYPES), i / TYPES % TO_PORTS, i % TYPES); }

/* Both nodes in a graph of their own; 0 if the device has no such nodes. */
static int open_two(cudaGraph_t *graph, cudaGraphNode_t *from, cudaGraphNode_t *to, enum node_kind a, enum node_kind b,
                    const struct node_room *room)
{
    if (cudaGraphCreate(graph, 0) != cudaSuccess)
        return 0;
    if (ask_add(from, *graph, a, room) == cudaSuccess && ask_add(to, *graph, b, room) == cudaSuccess)
        return 1;
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(*graph);
    return 0;
}

static int is_only_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, cudaGraphEdgeData want)
{
    cudaGraphNode_t first[2], second[2];
    cudaGraphEdgeData data[2];
    size_t count = 2;

    return edges_of_graph(graph, first, second, data, &count) == cudaSuccess && count == 1 && first[0] == from && second[0] == to &&
           memcmp(&data[0], &want, sizeof(want)) == 0;
}

/* What became of the two nodes and the edge. */
enum tried_edge { EDGE_NO_NODES, EDGE_REFUSED, EDGE_TAKEN, EDGE_LOST /* taken, and not there */ };

/* Adds the edge to a fresh pair of nodes; instantiated: the code of making it executable, where it was taken. */
static cudaError_t try_edge(enum node_kind a, enum node_kind b, cudaGraphEdgeData data, const struct node_room *room, enum tried_edge *tried,
                            cudaError_t *instantiated)
{
    cudaGraph_t graph;
    cudaGraphNode_t from, to;
    cudaGraphExec_t exec;
    cudaError_t error;

    *tried = EDGE_NO_NODES;
    if (!open_two(&graph, &from, &to, a, b, room))
        return cudaErrorNotSupported;
    error = edges_add(graph, &from, &to, &data, 1);
    *tried = error != cudaSuccess ? EDGE_REFUSED : is_only_edge(graph, from, to, data) ? EDGE_TAKEN : EDGE_LOST;
    if (error == cudaSuccess && instantiated) {
        *instantiated = cudaGraphInstantiate(&exec, graph, 0);
        if (*instantiated == cudaSuccess)
            (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(graph);
    return error;
}

static void judge_column(struct ask *ask, enum column column)
{
    struct node_room room;
    enum tried_edge tried;
    unsigned a, b, i, put = 0;

    if (ask_open_room(&room, (const void *)SYMBOL(matrix_nothing)) != cudaSuccess) {
        ask_skip(ask, "memory and an event", "none were given");
        return;
    }
    for (a = 0; a < NODE_KINDS; a++)
        for (b = 0; b < NODE_KINDS; b++)
            for (i = 0; i < COMBINATIONS; i++) {
                cudaGraphEdgeData data = combination(i);
                enum fate fate = fate_of(a == NODE_KERNEL, b == NODE_KERNEL, data);
                cudaError_t got;
                char what[64] = "";
                if (column_of(a == NODE_KERNEL, data) != column)
                    continue;
                got = try_edge((enum node_kind)a, (enum node_kind)b, data, &room, &tried, NULL);
                if (tried == EDGE_NO_NODES) {
                    snprintf(what, sizeof(what), "%s to %s", node_kind_name[a], node_kind_name[b]);
                    ask_skip(ask, what, "no such nodes could be made");
                    continue;
                }
                put++;
                ask->asked++;
                if (tried == (fate == FATE_TAKEN ? EDGE_TAKEN : EDGE_REFUSED))
                    continue;
                snprintf(what, sizeof(what), "%s to %s ", node_kind_name[a], node_kind_name[b]);
                ask_append_edge(what, sizeof(what), data);
                if (fate == FATE_TAKEN && tried == EDGE_LOST)
                    ask_expect_text(ask, what, "taken, and not there", "taken");
                else if (fate == FATE_TAKEN)
                    ask_expect(ask, what, got, cudaSuccess);
                else
                    ask_expect_refusal(ask, what, got);
            }
    ask_expect_number(ask, "combinations put", (long)put > 0, 1);
    ask_close_room(&room);
}

/* Ports that no number of ports comes near, between kernels, by each type. */
static void judge_high_ports(struct ask *ask)
{
    static const unsigned ports[] = { 4, 8, 16, 127, 128, 254, 255 };
    struct node_room room;
    enum tried_edge tried;
    unsigned i;

    if (ask_open_room(&room, (const void *)SYMBOL(matrix_nothing)) != cudaSuccess) {
        ask_skip(ask, "memory and an event", "none were given");
        return;
    }
    for (i = 0; i < TYPES * sizeof(ports) / sizeof(ports[0]); i++) {
        cudaGraphEdgeData data = edges_data(ports[i / TYPES], 0, i % TYPES);
        char what[64] = "kernel to kernel ";
        ask_append_edge(what, sizeof(what), data);
        ask_expect_refusal(ask, what, try_edge(NODE_KERNEL, NODE_KERNEL, data, &room, &tried, NULL));
    }
    ask_close_room(&room);
}

static void ask_ports(struct ask *ask)
{
    judge_column(ask, COLUMN_PORTS);
    judge_high_ports(ask);
}

/* Ports of the second node, of which only number 0 is one. */
static void ask_to_port(struct ask *ask)
{
    static const unsigned ports[] = { 1, 2, 3, 4, 8, 16, 127, 128, 254, 255 };
    struct node_room room;
    enum tried_edge tried;
    unsigned i;

    judge_column(ask, COLUMN_TO_PORT);
    if (ask_open_room(&room, (const void *)SYMBOL(matrix_nothing)) != cudaSuccess) {
        ask_skip(ask, "memory and an event", "none were given");
        return;
    }
    for (i = 0; i < 2 * sizeof(ports) / sizeof(ports[0]); i++) {
        cudaGraphEdgeData data = edges_data(i % 2, ports[i / 2], i % 2);
        char what[64] = "kernel to kernel ";
        ask_append_edge(what, sizeof(what), data);
        ask_expect_refusal(ask, what, try_edge(NODE_KERNEL, NODE_KERNEL, data, &room, &tried, NULL));
    }
    ask_close_room(&room);
}

static void ask_types(struct ask *ask) { judge_column(ask, COLUMN_TYPES); }
static void ask_port_one(struct ask *ask) { judge_column(ask, COLUMN_PORT_ONE); }

/* "cudaSuccess: 0,0,0 2,0,0; cudaErrorInvalidValue: 0,0,1 ...": the combinations of one code together. */
static void write_codes(char *text, size_t room, const cudaError_t *got)
{
    unsigned i, j, seen;

    text[0] = '\0';
    for (i = 0; i < COMBINATIONS; i++) {
        for (seen = j = 0; j < i; j++)
            seen |= got[j] == got[i];
        if (seen)
            continue;
        ask_append(text, room, text[0] ? "; " : "");
        ask_append(text, room, cudaGetErrorName(got[i]));
        ask_append(text, room, ":");
        for (j = i; j < COMBINATIONS; j++)
            if (got[j] == got[i]) {
                ask_append(text, room, " ");
                ask_append_edge(text, room, combination(j));
            }
    }
}

static void ask_codes_of(struct ask *ask, unsigned a, unsigned b, const struct node_room *room)
{
    cudaError_t got[COMBINATIONS], instantiated;
    char text[640], what[64];
    enum tried_edge tried = EDGE_TAKEN;
    unsigned i;

    for (i = 0; i < COMBINATIONS && tried != EDGE_NO_NODES; i++) {
        cudaGraphEdgeData data = combination(i);
        instantiated = cudaSuccess;
        got[i] = try_edge((enum node_kind)a, (enum node_kind)b, data, room, &tried, &instantiated);
        ask->asked += tried != EDGE_NO_NODES;
        if (tried == EDGE_NO_NODES || instantiated == cudaSuccess)
            continue;
        snprintf(what, sizeof(what), "instantiating %s to %s %u,%u,%u", node_kind_name[a], node_kind_name[b], data.from_port,
                 data.to_port, data.type);
        ask_note(ask, what, instantiated);
    }
    if (tried == EDGE_NO_NODES)
        return;
    write_codes(text, sizeof(text), got);
    snprintf(what, sizeof(what), "%s to %s", node_kind_name[a], node_kind_name[b]);
    ask_row(ask, what, text);
}

/* The same by the call that adds a node with its edges. */
static void ask_codes_of_new_node(struct ask *ask, const struct node_room *room)
{
    cudaError_t got[COMBINATIONS];
    struct kernel_args args = PDL_ZERO;
    struct cudaGraphNodeParams params = PDL_ZERO;
    void *values[1];
    char text[640];
    unsigned i;

    values[0] = &args;
    params = ask_general_kernel(room->function, values);
    for (i = 0; i < COMBINATIONS; i++) {
        cudaGraphEdgeData data = combination(i);
        cudaGraph_t graph;
        cudaGraphNode_t from, to;
        if (cudaGraphCreate(&graph, 0) != cudaSuccess)
            return;
        (void)ask_add(&from, graph, NODE_KERNEL, room);
        got[i] = edges_add_node(&to, graph, &from, &data, 1, &params);
        ask->asked++;
        (void)cudaGetLastError();
        (void)cudaGraphDestroy(graph);
    }
    write_codes(text, sizeof(text), got);
    ask_row(ask, "kernel to kernel, by cudaGraphAddNode", text);
}

static void ask_codes(struct ask *ask)
{
    struct node_room room;
    unsigned a, b;

    if (ask_open_room(&room, (const void *)SYMBOL(matrix_nothing)) != cudaSuccess)
        return;
    for (a = 0; a < NODE_KINDS; a++)
        for (b = 0; b < NODE_KINDS; b++)
            ask_codes_of(ask, a, b, &room);
    ask_codes_of_new_node(ask, &room);
    ask_close_room(&room);
}

static void ask_reserved(struct ask *ask)
{
    static const unsigned rows[3][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 } };
    struct node_room room;
    enum tried_edge tried;
    unsigned row, byte;

    if (ask_open_room(&room, (const void *)SYMBOL(matrix_nothing)) != cudaSuccess)
        return;
    for (row = 0; row < 3; row++)
        for (byte = 0; byte < sizeof(((cudaGraphEdgeData *)0)->reserved); byte++) {
            cudaGraphEdgeData data = edges_data(rows[row][0], rows[row][1], rows[row][2]);
            char what[48];
            data.reserved[byte] = 1;
            snprintf(what, sizeof(what), "%u,%u,%u reserved %u", rows[row][0], rows[row][1], rows[row][2], byte);
            ask_note(ask, what, try_edge(NODE_KERNEL, NODE_KERNEL, data, &room, &tried, NULL));
        }
    ask_close_room(&room);
}

#endif
