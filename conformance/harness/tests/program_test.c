/* program_test.c - what is decided about a program: whether the graph that was made of it is the right one, whether a way made it, declined
 * it or was refused, whether enough of them were made, and in all ways, what its kernels watch,
 * and what is drawn at all. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#include "check.h"
#include "edges.h"
#include "programs/program_judge.c" /* whole: what decides is static */

/* ---- a graph that is told of, and what is wrong with the answers ---- */

enum lie {
    NO_LIE, EDGES_UNREADABLE, NODES_UNCOUNTED, NODE_MORE, NODE_LESS, EDGE_MORE, EDGE_LESS, EDGE_FROM_ANOTHER, EDGE_TO_ANOTHER, EDGE_FROM_PORT,
    EDGE_TO_PORT, EDGE_TYPE, EDGE_RESERVED, FROM_BEHIND, TO_BEHIND, HALF_UNREADABLE, HALF_MORE, HALF_LESS, LOSSY_TAKEN, LOSSY_OTHERWISE,
    NODES_UNREADABLE, NODES_LESS, NODES_MORE, NODES_TWICE, NODES_STRANGE, NODES_BEHIND, ROOTS_UNREADABLE, ROOTS_LESS, ROOTS_MORE, ROOTS_TWICE,
    ROOTS_OTHER, ROOTS_BEHIND, STEP_OTHER, DRIVER_UNREADABLE, DRIVER_LESS, DRIVER_PORT, DRIVER_OTHER_END, DRIVER_OTHER_NODE,
    DRIVER_OTHER_ROOT, LIES
};
static const char *const lie_name[LIES] = {
    "no lie", "edges that cannot be read", "nodes that cannot be counted", "a node more", "a node less", "an edge more", "an edge less",
    "an edge from another node", "an edge to another node", "another port", "another port of the end", "another type", "reserved bytes",
    "a beginning behind the last edge", "an end behind the last edge", "half of the edges, unreadable", "half of them and one", "half of them less one",
    "data lost without an error", "another error than that data is lost", "nodes that cannot be read", "a node that is not listed", "one node too many",
    "a node listed twice", "a node of nobody", "a node behind the last one", "roots that cannot be read", "a root that is not listed",
    "one root too many", "a root listed twice", "another node as a root", "a root behind the last one", "a step that is another one",
    "edges that the driver cannot read", "an edge less by the driver", "another port by the driver", "another end by the driver",
    "another node by the driver", "another root by the driver"
};

#define STEPS 5u
static enum lie lie;
static struct program program;
static struct made whole;
static struct program_room told_room;
static unsigned queries_without_data, queries_of_some;

static cudaGraphNode_t node_of(unsigned step) { return (cudaGraphNode_t)(void *)((char *)&program + 1 + step); }

cudaError_t WRAPPED(edges_of_graph)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count);
cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t __wrap_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
int __wrap_program_keeps_node(const struct made *of, unsigned step);
void __real_graph_compare(const struct made *of, struct difference *found);

static int loses_data(void)
{
    unsigned l, loses = 0;

    for (l = 0; l < program.links; l++)
        loses |= program.link[l].kind != LINK_FULL;
    return (int)loses;
}

/* All edges from the last to the first, for no order is promised; the rest of the room is NULL. */
static void tell_edges(cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    size_t room = *count, e;

    memset(from, 0, room * sizeof(from[0]));
    memset(to, 0, room * sizeof(to[0]));
    *count = program.links;
    for (e = 0; e < *count; e++) {
        const struct link *link = &program.link[*count - 1 - e];
        from[e] = node_of(lie == EDGE_FROM_ANOTHER && !e ? STEPS : link->from);
        to[e] = node_of(lie == EDGE_TO_ANOTHER && !e ? STEPS : link->to);
        data[e] = program_edge(link->kind);
    }
    data[1].from_port ^= lie == EDGE_FROM_PORT;
    data[1].to_port ^= lie == EDGE_TO_PORT;
    data[1].type ^= lie == EDGE_TYPE;
    data[1].reserved[sizeof(data[1].reserved) - 1] ^= lie == EDGE_RESERVED;
    if (lie == FROM_BEHIND)
        from[room - 1] = node_of(0);
    if (lie == TO_BEHIND)
        to[*count] = node_of(0);
    if (lie == EDGE_MORE) {
        from[*count] = to[*count] = node_of(0);
        ++*count;
    }
    if (lie == EDGE_LESS) {
        --*count;
        from[*count] = to[*count] = NULL;
    }
}

static cudaGraph_t honest; /* of this graph the truth is told */

static void tell_honestly(cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    enum lie of_others = lie;

    lie = NO_LIE;
    tell_edges(from, to, data, count);
    lie = of_others;
}

cudaError_t WRAPPED(edges_of_graph)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    if (graph && graph == honest) {
        tell_honestly(from, to, data, count);
        return cudaSuccess;
    }
    if (!data) {
        queries_without_data++;
        if (lie == LOSSY_TAKEN)
            return loses_data() ? cudaSuccess : cudaErrorLossyQuery;
        return lie == LOSSY_OTHERWISE ? cudaErrorInvalidValue : loses_data() ? cudaErrorLossyQuery : cudaSuccess;
    }
    if (*count <= program.links) {
        queries_of_some++;
        *count += lie == HALF_MORE;
        *count -= lie == HALF_LESS;
        return lie == HALF_UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
    }
    tell_edges(from, to, data, count);
    return lie == EDGES_UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

/* The same by the driver's call, in their own order, with lies of its own. */
static CUresult CUDAAPI tell_by_driver(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    (void)graph;
    tell_honestly(from, to, (cudaGraphEdgeData *)(void *)data, count);
    *count -= lie == DRIVER_LESS;
    data[1].from_port ^= lie == DRIVER_PORT;
    to[1] = lie == DRIVER_OTHER_END ? node_of(STEPS) : to[1];
    return lie == DRIVER_UNREADABLE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* less, more and so on: which of the lies about a list these are. */
static void tell_list(cudaGraphNode_t *nodes, size_t *count, const unsigned *steps, unsigned length, enum lie less)
{
    size_t i, room = *count;

    memset(nodes, 0, room * sizeof(nodes[0]));
    for (i = 0; i < length; i++)
        nodes[i] = node_of(steps[i]);
    *count = length;
    if (lie == less)
        nodes[--*count] = NULL;
    if (lie == less + 1)
        nodes[(*count)++] = node_of(STEPS + 1);
    if (lie == less + 2)
        nodes[0] = nodes[1];
    if (lie == less + 3)
        nodes[0] = node_of(less == ROOTS_LESS ? 1 : STEPS + 1);
    if (lie == less + 4)
        nodes[*count] = nodes[0];
}

cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    static const unsigned all[STEPS] = { 3, 0, 4, 1, 2 };

    (void)graph;
    if (!nodes) {
        *count = STEPS + (lie == NODE_MORE) - (lie == NODE_LESS);
        return lie == NODES_UNCOUNTED ? cudaErrorInvalidValue : cudaSuccess;
    }
    tell_list(nodes, count, all, STEPS, NODES_LESS);
    return lie == NODES_UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t __wrap_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    static const unsigned roots[2] = { 4, 0 };

    (void)graph;
    tell_list(nodes, count, roots, 2, ROOTS_LESS);
    return lie == ROOTS_UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

static CUresult CUDAAPI nodes_by_driver(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    cudaError_t error = __wrap_cudaGraphGetNodes(graph, nodes, count);

    nodes[0] = lie == DRIVER_OTHER_NODE ? node_of(STEPS + 1) : nodes[0];
    return (CUresult)error;
}

static CUresult CUDAAPI roots_by_driver(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    cudaError_t error = __wrap_cudaGraphGetRootNodes(graph, nodes, count);

    nodes[0] = lie == DRIVER_OTHER_ROOT ? node_of(1) : nodes[0];
    return (CUresult)error;
}

static unsigned steps_looked_at;
int __wrap_program_keeps_node(const struct made *of, unsigned step)
{
    (void)of;
    steps_looked_at |= 1u << step;
    return !(lie == STEP_OTHER && step == STEPS - 1);
}

static unsigned differences(enum lie now)
{
    struct difference found;

    memset(&found, 0, sizeof(found));
    lie = now;
    queries_without_data = queries_of_some = steps_looked_at = 0;
    __real_graph_compare(&whole, &found);
    lie = NO_LIE;
    return found.count;
}

/* 0 leads to 1 and 2, 1 and 2 lead to 3; 4 stands alone. */
static void open_program(int full)
{
    static const struct link links[] = { { 0, 1, LINK_TRIGGER }, { 0, 2, LINK_START }, { 1, 3, LINK_FULL }, { 2, 3, LINK_LAUNCH } };
    unsigned i;

    memset(&program, 0, sizeof(program));
    memset(&whole, 0, sizeof(whole));
    program.steps = STEPS;
    program.links = sizeof(links) / sizeof(links[0]);
    memcpy(program.link, links, sizeof(links));
    for (i = 0; i < program.links && full; i++)
        program.link[i].kind = LINK_FULL;
    whole.program = &program;
    whole.room = &told_room;
    told_room.driver.graph_call[DRIVER_EDGES] = (void *)tell_by_driver;
    told_room.driver.graph_call[DRIVER_NODES] = (void *)nodes_by_driver;
    told_room.driver.graph_call[DRIVER_ROOTS] = (void *)roots_by_driver;
    for (i = 0; i < STEPS; i++)
        whole.node[i] = node_of(i);
}

static void test_comparison(void)
{
    char text[96];
    int full, now;

    for (full = 0; full < 2; full++) {
        open_program(full);
        check(differences(NO_LIE) == 0, "a graph that is what it was to be does not differ");
        check(queries_without_data == 1 && queries_of_some == 1 && steps_looked_at == (1u << STEPS) - 1, "everything of it is looked at");
        for (now = NO_LIE + 1; now < LIES; now++) {
            snprintf(text, sizeof(text), "%s is a difference%s", lie_name[now], full ? ", where all edges are full" : "");
            check(differences((enum lie)now) != 0, text);
        }
    }
    open_program(0);
    program.links = 3; /* the last one goes: 3 is still no root */
    check(differences(NO_LIE) == 0 && queries_of_some == 0, "one edge of three is no half that is asked for");
}

/* ---- a clone, whose nodes have the names of their originals ---- */

cudaError_t __wrap_cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone);
cudaError_t __wrap_cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone)
{
    (void)clone;
    *node = original;
    return cudaSuccess;
}

static void test_clone(void)
{
    static const enum lie lies[] = { EDGES_UNREADABLE, EDGE_MORE, EDGE_LESS, EDGE_FROM_ANOTHER, EDGE_TO_ANOTHER, EDGE_FROM_PORT, EDGE_TO_PORT,
                                     EDGE_TYPE, EDGE_RESERVED };
    unsigned i, same;

    open_program(0);
    honest = (cudaGraph_t)(void *)&program;
    check(program_has_same_edges(honest, NULL), "a clone with the edges of its graph has the same");
    for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        lie = lies[i];
        same = (unsigned)program_has_same_edges(honest, NULL);
        lie = NO_LIE;
        check(!same, lie_name[lies[i]]);
    }
}

/* ---- what became of a way ---- */

static struct {                /* what the calls of a way do */
    cudaError_t make, exec;
    int declines, refuses, differs;
} calls;
static unsigned compared, executed, unmade, streamed;
static int drawn;              /* programs and their ways are drawn, not given */
static uint64_t began_with;    /* the dice of the last way */
static int took_detours;

cudaError_t __wrap_graph_make(struct made *of, enum graph_way way);
cudaError_t __wrap_stream_make(struct made *of, enum stream_way way);
void __wrap_graph_compare(const struct made *of, struct difference *found);
cudaError_t __wrap_exec_make(struct made *of, enum exec_way way, cudaGraphExec_t *exec);
void __wrap_graph_unmake(struct made *of);

static cudaError_t makes(struct made *of)
{
    check((drawn || (of->program == &program && of->dice.state == 77)) && !of->declined && !of->refused, "a way begins with its program and its seed");
    began_with = of->dice.state;
    took_detours = of->detours;
    of->declined = calls.declines;
    of->refused = calls.refuses;
    return calls.make;
}

cudaError_t __wrap_graph_make(struct made *of, enum graph_way way)
{
    check(drawn || way == 3, "a graph is made in the way that was named");
    return makes(of);
}

cudaError_t __wrap_stream_make(struct made *of, enum stream_way way)
{
    (void)way;
    streamed++;
    return makes(of);
}

void __wrap_graph_compare(const struct made *of, struct difference *found)
{
    (void)of;
    compared++;
    if (calls.differs)
        program_differs(found, "the graph differs");
}

/* A way's launches are tests of the device: here none comes to them. */
cudaError_t __wrap_exec_make(struct made *of, enum exec_way way, cudaGraphExec_t *exec)
{
    (void)way, (void)exec;
    executed++;
    of->changed = 0;
    return calls.exec;
}

void __wrap_graph_unmake(struct made *of)
{
    (void)of;
    unmade++;
}

static enum tried try_it(cudaError_t make, cudaError_t exec, int declines, int refuses, int differs, struct difference *found)
{
    static struct program_room room;
    struct way way = { 0 };

    memset(found, 0x5A, sizeof(*found));
    calls.make = make;
    calls.exec = exec;
    calls.declines = declines;
    calls.refuses = refuses;
    calls.differs = differs;
    compared = executed = unmade = 0;
    way.make = 3;
    return try_way(&room, &program, &way, 77, found);
}

static void test_ways(void)
{
    const cudaError_t fine = cudaSuccess, bad = cudaErrorInvalidValue, poor = cudaErrorMemoryAllocation;
    struct difference found;

    open_program(0);
    check(try_it(bad, fine, 0, 0, 0, &found) == TRIED_MADE && found.count == 1 && strstr(found.text, "cudaErrorInvalidValue"),
          "a call that fails is a difference, and named");
    check(unmade == 1 && compared == 0 && executed == 0, "then nothing is compared, and what there is is unmade");
    check(try_it(fine, bad, 0, 0, 0, &found) == TRIED_MADE && found.count == 1 && compared == 1 && executed == 1 && unmade == 1,
          "so is one that fails after the comparison");
    check(try_it(fine, fine, 0, 0, 1, &found) == TRIED_MADE && found.count == 1 && executed == 0, "what differs is not launched");
    check(try_it(bad, fine, 1, 0, 0, &found) == TRIED_DECLINED && found.count == 0, "what a way declines is no difference");
    check(try_it(bad, fine, 1, 1, 0, &found) == TRIED_REFUSED && found.count == 0, "nor what the device refuses");
    check(try_it(poor, fine, 0, 0, 0, &found) == TRIED_REFUSED && found.count == 0, "a device without memory refuses");
    check(try_it(poor, fine, 1, 0, 0, &found) == TRIED_DECLINED && found.count == 0, "a way that declines does so without memory, too");
    check(try_it(fine, poor, 0, 0, 0, &found) == TRIED_REFUSED && found.count == 0 && unmade == 1, "nor is it a difference if memory is short once the graph is made executable");
    check(try_it(fine, fine, 1, 0, 1, &found) == TRIED_MADE && found.count == 1, "a difference counts, though the way was declined");
}

/* A program, and calls that do what they are asked; nothing was compared so far. */
static void begin_try(void)
{
    open_program(0);
    memset(&calls, 0, sizeof(calls));
    compared = streamed = 0;
}

static void test_streams(void)
{
    static struct program_room room;
    struct difference found;
    struct way way = { 0 };

    begin_try();
    calls.make = cudaErrorNotSupported;
    calls.declines = 1;
    way.stream = 1;
    way.make = WAY_CAPTURED;
    check(try_way(&room, &program, &way, 77, &found) == TRIED_DECLINED && streamed == 1 && compared == 0, "streams are made by their own calls");
}

static void test_blind(void)
{
    static struct program_room room;
    struct difference found;
    struct way way = { 0 };

    begin_try();
    calls.exec = cudaErrorMemoryAllocation;
    calls.differs = 1;
    way.make = 3;
    room.blind = 1;
    check(try_way(&room, &program, &way, 77, &found) == TRIED_REFUSED && compared == 0 && found.count == 0,
          "where words alone are to tell, the graph is not compared");
}

/* ---- how often each step ran ---- */

/* Of a step of host or GPU, so many blocks ran, and of the others all. */
static unsigned runs_differ(struct program_room *room, unsigned step, uint32_t ran)
{
    uint32_t began[PROGRAM_BEGAN] = { 0 };
    struct difference found = PDL_ZERO;
    unsigned i;

    for (i = 0; i < STEPS; i++) {
        uint32_t blocks = i == step ? ran : program.step[i].kind == STEP_HOST ? 1 : 6;
        began[PROGRAM_STEPS + PROGRAM_EARLY + i] = program.step[i].kind == STEP_HOST ? 0 : blocks;
        room->staging->host_runs[i] = program.step[i].kind == STEP_HOST ? blocks : 0;
    }
    check(cudaMemcpy(room->began, began, sizeof(began), cudaMemcpyHostToDevice) == cudaSuccess, "the counts are told");
    compare_runs(&whole, &found);
    return found.count;
}

static void test_runs(void)
{
    static struct program_staging staging;
    struct program_room room = PDL_ZERO;
    unsigned i, host;

    open_program(0);
    whole.room = &room;
    room.staging = &staging;
    check(cudaMalloc((void **)&room.began, PROGRAM_BEGAN * sizeof(uint32_t)) == cudaSuccess, "there is memory");
    for (host = 0; host < 2; host++) {
        for (i = 0; i < STEPS; i++) {
            program.step[i].kind = host ? STEP_HOST : STEP_KERNEL;
            program.step[i].grid[0] = 2;
            program.step[i].grid[1] = 1;
            program.step[i].grid[2] = 3;
        }
        check(runs_differ(&room, STEPS, 0) == 0, "steps that ran once do not differ");
        for (i = 0; i < STEPS; i++)
            check(runs_differ(&room, i, host ? 2 : 7) == 1 && runs_differ(&room, i, host ? 0 : 5) == 1, "a step that ran too often, or not whole, does");
    }
    (void)cudaFree(room.began);
}

/* ---- what is counted of a program that is made in several ways ---- */

static struct counts counts_of(int declines, int refuses, int differs)
{
    static struct program_room room;
    struct program_ask how = PDL_ZERO;
    struct counts counts = PDL_ZERO;
    struct ask ask;

    begin_try();
    memset(&ask, 0, sizeof(ask));
    calls.declines = declines;
    calls.refuses = refuses;
    calls.differs = differs;
    calls.make = declines ? cudaErrorNotSupported : cudaSuccess;
    room.size.threads = 32;
    room.size.blocks = room.size.many_blocks = 4;
    room.size.shared_bytes = 1024;
    room.size.hold_ns = 100;
    room.size.clusters = 8;
    how.blind = 1; /* so that nothing is made smaller */
    drawn = 1;
    check(ask_program(&ask, &room, &how, 20, 3, &counts), "a program is made in three ways");
    drawn = 0;
    return counts;
}

static unsigned rows_of(const struct counts *counts)
{
    unsigned i, rows = 0;

    for (i = 0; i < KIT_AXIS_ROWS; i++)
        rows += counts->row[i];
    return rows;
}

static void test_counts(void)
{
    struct counts counts = counts_of(0, 0, 1);

    check(counts.made == 3 && counts.wrong == 3 && counts.declined == 0 && counts.refused == 0, "one difference makes a program wrong, in each way");
    check(rows_of(&counts) > 0, "and its kernels ran");
    counts = counts_of(1, 0, 0);
    check(counts.made == 0 && counts.wrong == 0 && counts.declined == 3 && rows_of(&counts) == 0, "of a program that no way makes nothing ran");
    counts = counts_of(1, 1, 0);
    check(counts.made == 0 && counts.refused == 3 && rows_of(&counts) == 0, "nor of one that the device refuses");
}

static void size_room(struct program_room *room)
{
    room->size.threads = 32;
    room->size.blocks = room->size.many_blocks = 4;
    room->size.hold_ns = 100;
    room->size.clusters = 8;
}

/* The dice that the last way of this program begins with. */
static uint64_t dice_of(uint64_t seed, unsigned number, struct program_room *room)
{
    struct program_ask how = PDL_ZERO;
    struct counts counts = PDL_ZERO;
    struct ask ask;

    begin_try();
    memset(&ask, 0, sizeof(ask));
    ask.seed = seed;
    calls.declines = drawn = 1;
    calls.make = cudaErrorNotSupported;
    size_room(room);
    check(ask_program(&ask, room, &how, number, 1, &counts), "a program is tried");
    drawn = 0;
    return began_with;
}

static void test_seeds(void)
{
    static struct program_room room;
    static uint32_t places[2][4];
    uint64_t first = dice_of(1, 20, &room);

    check(dice_of(1, 20, &room) == first, "the same seed asks the same program");
    check(dice_of(2, 20, &room) != first && dice_of(1, 21, &room) != first, "another seed another one, and so does another number");
    room.place[0] = places[0];
    room.place[1] = places[1];
    (void)dice_of(1, 22, &room);
    check(room.data == places[0], "without a pool there is one place for its words");
    room.pooled = &places;
    (void)dice_of(1, 22, &room);
    check(room.data == places[1], "with one there are two");
    (void)dice_of(1, 20, &room);
    check(room.data == places[0], "which take turns");
}

static void test_detours(void)
{
    static struct program_room room;
    struct difference found;
    struct way way = { 0 };

    begin_try();
    way.make = 3;
    calls.exec = cudaErrorMemoryAllocation;
    (void)try_way(&room, &program, &way, 77, &found);
    check(took_detours, "on the way to a graph there are detours");
    way.exec = EXEC_UPDATED;
    (void)try_way(&room, &program, &way, 77, &found);
    check(!took_detours, "but not where their order would count");
}

/* ---- whether enough were made ---- */

static unsigned skips(unsigned made_programs, unsigned declined, unsigned refused, const char *says)
{
    struct counts counts;
    struct ask ask;

    memset(&counts, 0, sizeof(counts));
    memset(&ask, 0, sizeof(ask));
    counts.made = made_programs;
    counts.declined = declined;
    counts.refused = refused;
    tell_unmade(&ask, &counts);
    check(ask.wrong == 0 && ask.asked == 0, "what was not made is neither wrong nor an answer");
    check(!ask.skipped || strstr(ask.text, says) != NULL, "what was not made is told");
    return ask.skipped;
}

static void test_unmade(void)
{
    check(skips(6, 3, 2, "") == 0, "more made than not are enough");
    check(skips(5, 3, 2, "3 of 10, and 2 that the device refused") == 1, "as many are not");
    check(skips(5, 5, 0, "5 of 10, and 0 that the device refused") == 1, "whoever declined them");
    check(skips(5, 0, 5, "0 of 10, and 5 that the device refused") == 1, "or refused");
    check(skips(0, 0, 0, "0 of 0") == 1, "and none at all are none");
    check(skips(1, 0, 0, "") == 0, "one of one is enough");
}

/* The largest grids of a GPU lie along x: along another dimension a launch of so many blocks would be refused. */
static void test_largest_grids(void)
{
    static struct program p;
    struct program_size size = PDL_ZERO;
    unsigned number, i, largest = 0, along_x = 0;

    size.threads = 64;
    size.blocks = size.many_blocks = 132;
    size.most_blocks = 66000;
    size.clusters = 1;
    size.hold_ns = 100;
    for (number = 0; number < 2000; number++) {
        struct dice dice = { number };
        program_draw_graph(&p, &dice, &size, number);
        for (i = 0; i < p.steps; i++)
            if (p.step[i].kind == STEP_KERNEL && program_product(p.step[i].grid) >= size.most_blocks) {
                largest++;
                along_x += p.step[i].grid[0] == size.most_blocks && p.step[i].grid[1] == 1 && p.step[i].grid[2] == 1;
            }
    }
    check(largest > 0 && along_x == largest, "the largest grids are drawn, and lie along x");
}

#include "program_drawn.h"

int main(void)
{
    test_comparison();
    test_largest_grids();
    test_clone();
    test_ways();
    test_streams();
    test_blind();
    test_watches();
    test_reads();
    test_through();
    test_all_ways();
    test_runs();
    test_counts();
    test_seeds();
    test_detours();
    test_unmade();
    test_drawn();
    test_any_stream();
    test_interference();
    test_uploads();
    test_tries();
    test_threads();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
