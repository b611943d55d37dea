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

/* ---- what a kernel watches ---- */

/* 0 leads to all others: to 1 by its first trigger, to 2 by a full edge and so on; 4 is no step that leaves words on the device. */
static void test_watches(void)
{
    static const unsigned watched[PROGRAM_WATCHES] = { 2, 3, 5, 6 };
    struct dice dice = { 5 };
    unsigned i, right = 0;

    memset(&program, 0, sizeof(program));
    program.steps = 9;
    program.links = program.steps - 1;
    for (i = 1; i < program.steps; i++) {
        program.link[i - 1].to = i;
        program.link[i - 1].kind = i == 1 || i == 6 ? LINK_TRIGGER : LINK_FULL;
    }
    program.step[0].flags = STEP_TRIGGERS_FIRST;
    program.step[3].kind = STEP_SET;
    program.step[4].kind = STEP_EMPTY;
    program.step[5].kind = STEP_COPY;
    program_entitle(&program, &dice);
    check(program.step[0].watches == PROGRAM_WATCHES && program.step[0].watch[0] == 2 && program.step[0].watch[1] == 3 &&
              program.step[0].watch[2] == 5 && program.step[0].watch[3] == 7, "a kernel watches all that comes after its end, as far as there is room");
    program.step[0].flags = STEP_TRIGGERS_LATE;
    program.link[0].kind = LINK_START;
    program_entitle(&program, &dice);
    for (i = 0; i < program.step[0].watches; i++)
        right += program.step[0].watch[i] == watched[i];
    check(right == PROGRAM_WATCHES, "and what comes after its trigger, if that is late");
}

/* Of a row of kernels the last one may read all, and directly after it comes one. */
static void test_reads(void)
{
    uint64_t read = 0;
    unsigned i, r;

    memset(&program, 0, sizeof(program));
    program.steps = 6;
    program.links = program.steps - 1;
    for (i = 1; i < program.steps; i++) {
        program.link[i - 1].from = i - 1;
        program.link[i - 1].to = i;
        program.link[i - 1].kind = LINK_FULL;
    }
    for (i = 0; i < 20; i++) {
        struct dice dice = { i };
        program_entitle(&program, &dice);
        check(program.step[5].read[0] == 4, "a step reads what comes directly before it");
        for (r = 0; r < program.step[5].reads; r++)
            read |= (uint64_t)1 << program.step[5].read[r];
    }
    check(read == 31, "and now and then any that came before that");
}

/* A kernel, what is none and moves nothing, and a kernel, behind a row of others: the last one reads the one before first of all, and that one
   watches it. */
static void test_through(void)
{
    unsigned i, read_first = 0;

    memset(&program, 0, sizeof(program));
    program.steps = 20;
    program.links = program.steps - 1;
    for (i = 1; i < program.steps; i++) {
        program.link[i - 1].from = i - 1;
        program.link[i - 1].to = i;
        program.link[i - 1].kind = LINK_FULL;
    }
    program.step[18].kind = STEP_EMPTY;
    for (i = 0; i < 20; i++) {
        struct dice dice = { i };
        program_entitle(&program, &dice);
        read_first += program.step[19].reads != 0 && program.step[19].read[0] == 17;
    }
    check(read_first == 20, "a step reads what comes before it through one that moves nothing");
    check(program.step[17].watches == 1 && program.step[17].watch[0] == 19, "and a kernel watches what comes after it so");
}

/* ---- which ways are taken ---- */

/* Of so many programs, each made in one way. */
static unsigned taken(enum program_subject subject, unsigned programs, unsigned make, unsigned exec)
{
    unsigned number, n = 0;

    for (number = 0; number < programs; number++) {
        struct way way = way_of(subject, number, 0);
        check(way.stream == (subject == PROGRAM_STREAMS), "streams are made by their own ways");
        n += way.make == make && way.exec == exec;
    }
    return n;
}

static void test_all_ways(void)
{
    unsigned make, exec, ways = 0;

    for (make = 0; make < WAY_ONE_CALL; make++)
        for (exec = 0; exec < EXEC_WAYS; exec++)
            ways += (taken(PROGRAM_GRAPHS, WAY_ONE_CALL * EXEC_WAYS, make, exec) != 0) == (exec != EXEC_UPLOADED);
    check(ways == WAY_ONE_CALL * EXEC_WAYS, "every way to make a graph meets every way to make it executable, but that of uploads");
    for (make = ways = 0; make < STREAM_WAYS; make++)
        ways += taken(PROGRAM_STREAMS, STREAM_WAYS * EXEC_WAYS, make, EXEC_PLAIN) != 0;
    check(ways == STREAM_WAYS, "every kind of stream and of capture is taken");
    for (exec = ways = 0; exec < EXEC_WAYS; exec++)
        ways += (taken(PROGRAM_STREAMS, STREAM_WAYS * EXEC_WAYS, WAY_CAPTURED_TO_GRAPH, exec) != 0) == (exec != EXEC_UPLOADED);
    check(ways == EXEC_WAYS, "and so is every executable graph of a capture whose nodes are known");
    for (make = ways = 0; make < GRAPH_WAYS; make++)
        ways += (taken(PROGRAM_TOGETHER, EXEC_WAYS * WAY_ONE_CALL, make, EXEC_AGAIN) != 0) == (make == WAY_ONE_CALL);
    check(ways == GRAPH_WAYS, "all edges in one call are asked apart, and always");
    for (exec = ways = 0; exec < EXEC_WAYS; exec++)
        ways += (taken(PROGRAM_UPLOADED, 3, 0, exec) + taken(PROGRAM_UPLOADED, 3, 1, exec) + taken(PROGRAM_UPLOADED, 3, 2, exec) != 0) ==
                (exec == EXEC_BY_NODE || exec == EXEC_REENABLED || exec == EXEC_UPLOADED);
    check(ways == EXEC_WAYS, "what is uploaded is changed node by node, or has had its nodes left out, or is nothing else");
    check(taken(PROGRAM_DESTROYED, WAY_ONE_CALL, 0, EXEC_SECOND) == 1, "what is destroyed while it runs is one of several of its graph");
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
    room->size.threads = 32;
    room->size.blocks = room->size.many_blocks = 4;
    room->size.hold_ns = 100;
    room->size.clusters = 8;
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

/* ---- what is drawn of everything ---- */

#define DRAWN 1000u

/* Nearly all steps after one, or before one. */
static int is_fan(const struct program *p)
{
    unsigned l, out = 0, in = 0;

    for (l = 0; l < p->links; l++) {
        out += p->link[l].from == 0;
        in += p->link[l].to == p->steps - 1;
    }
    return p->steps >= PROGRAM_STEPS / 2 && (out == p->steps - 1 || in == p->steps - 1);
}

/* Most of its steps are kernels that overlap what comes before them, and wait for none of it. */
static int is_loose(const struct program *p)
{
    unsigned i, loose = 0;

    for (i = 0; i < p->steps; i++)
        loose += p->step[i].kind == STEP_KERNEL && p->step[i].attribute &&
                 (p->step[i].flags & (STEP_TRIGGERS_FIRST | STEP_WAITS)) == STEP_TRIGGERS_FIRST;
    return p->steps > 3 && loose * 2 > p->steps;
}

static void test_drawn(void)
{
    static struct program p;
    struct program_size size = PDL_ZERO;
    unsigned number, fans[2] = { 0 }, loose[2] = { 0 }, legacy[2] = { 0 }, kinds[STEP_KINDS] = { 0 }, i;

    size.threads = 64;
    size.blocks = size.many_blocks = 4;
    size.clusters = 1;
    size.hold_ns = 100;
    for (number = 0; number < 2 * DRAWN; number++) {
        struct dice dice = { number };
        size.programmatic = number % 2;
        program_draw_graph(&p, &dice, &size, number / 2);
        fans[number % 2] += is_fan(&p);
        loose[number % 2] += is_loose(&p);
        for (i = 0; i < p.steps; i++)
            kinds[p.step[i].kind]++;
        program_draw_stream(&p, &dice, &size, number / 2);
        legacy[number % 2] += p.legacy;
    }
    check(fans[0] > DRAWN / 64 && fans[1] == 0, "fans are drawn, but not where all edges are to be programmatic");
    check(loose[0] > DRAWN / 16 && loose[1] < loose[0] / 4, "so are programs of kernels that wait for nothing");
    for (i = 0; i < STEP_KINDS; i++)
        check(kinds[i] * 2 > kinds[STEP_RECORD] && kinds[i] * 2 > kinds[STEP_EMPTY],
              "steps of each kind are drawn, no kind much less often than those that move nothing");
    check(legacy[0] > DRAWN / 12 && legacy[1] == 0, "and programs of which a part is in the legacy stream");
}

static void test_any_stream(void)
{
    static char streams[3];
    struct program_room room = PDL_ZERO;
    struct dice dice = { 1 };
    unsigned i, met = 0;

    room.stream = (cudaStream_t)(void *)&streams[0];
    room.blocking = (cudaStream_t)(void *)&streams[1];
    room.urgent = (cudaStream_t)(void *)&streams[2];
    for (i = 0; i < 100; i++) {
        cudaStream_t stream = any_stream(&room, &dice);
        met |= stream == room.stream ? 1 : stream == room.blocking ? 2 : stream == room.urgent ? 4 : stream == cudaStreamPerThread ? 8 :
               stream == cudaStreamLegacy ? 16 : 32;
    }
    check(met == 31, "a graph is launched in a stream of any kind");
}

/* How many of 32 executable graphs are destroyed while they run for the last time. */
static unsigned destroyed(int destroys, enum exec_way way, int bodies)
{
    unsigned i, gone = 0;
    cudaGraph_t graph;

    open_program(0);
    told_room.destroys = destroys;
    whole.bodies = (uint64_t)bodies;
    check(cudaGraphCreate(&graph, 0) == cudaSuccess, "there is a graph");
    for (i = 0; i < 32; i++) {
        cudaGraphExec_t exec = NULL;
        check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "and an executable one of it");
        check(interfere(&whole, &exec, way, 1) == cudaSuccess, "what is done to it is taken");
        gone += !exec;
        if (exec)
            (void)cudaGraphExecDestroy(exec);
    }
    told_room.destroys = 0;
    (void)cudaGraphDestroy(graph);
    return gone;
}

static void test_interference(void)
{
    unsigned some = destroyed(0, EXEC_PLAIN, 0);

    check(some > 4 && some < 28, "now and then an executable graph is destroyed while it runs");
    check(destroyed(1, EXEC_PLAIN, 0) == 32 && destroyed(1, EXEC_SECOND, 0) == 32, "where that is asked, always");
    check(destroyed(0, EXEC_SECOND, 0) == 0 && destroyed(1, EXEC_PLAIN, 1) == 0, "and where it may end the process, never");
}

static unsigned uploads;
static cudaGraphExec_t uploaded;
static cudaStream_t uploaded_in;
cudaError_t __wrap_program_upload(const struct made *of, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice);
cudaError_t __wrap_program_upload(const struct made *of, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice)
{
    (void)of, (void)dice;
    uploads++;
    uploaded = exec;
    uploaded_in = stream;
    return cudaSuccess;
}

cudaError_t __wrap_program_launch_earlier(const struct made *of, cudaGraphExec_t exec);
cudaError_t __wrap_program_launch_earlier(const struct made *of, cudaGraphExec_t exec)
{
    (void)of, (void)exec;
    return cudaSuccess;
}

cudaError_t __wrap_program_change_nothing(const struct made *of, cudaStream_t stream, struct dice *dice);
cudaError_t __wrap_program_change_nothing(const struct made *of, cudaStream_t stream, struct dice *dice)
{
    (void)of, (void)stream, (void)dice;
    return cudaSuccess;
}

/* While an earlier launch runs, the graph is uploaded again, where uploads are asked. */
static void test_uploads(void)
{
    cudaGraphExec_t exec = (cudaGraphExec_t)(void *)&uploads;
    cudaStream_t stream = (cudaStream_t)(void *)&uploaded;

    open_program(0);
    whole.bodies = 1; /* no second executable graph */
    uploads = 0;
    check(launch_earlier(&whole, exec, EXEC_PLAIN, 1, stream) == cudaSuccess && uploads == 0, "a graph that is launched twice needs no upload");
    told_room.uploads = 1;
    check(launch_earlier(&whole, exec, EXEC_PLAIN, 1, stream) == cudaSuccess && uploads == 1 && uploaded == exec && uploaded_in == stream,
          "but has one between the launches where that is asked");
    told_room.uploads = 0;
}

static struct program_room asked_room;

/* How often programs were made of two. */
static unsigned tries(enum program_subject subject)
{
    struct program_room *room = &asked_room;
    struct program_ask how = PDL_ZERO;
    struct ask ask;

    begin_try();
    memset(&ask, 0, sizeof(ask));
    ask.trials = 1;
    how.subject = subject;
    calls.declines = drawn = 1;
    calls.make = cudaErrorNotSupported;
    unmade = 0;
    room->size.threads = 32;
    room->size.blocks = room->size.many_blocks = 4;
    room->size.hold_ns = 100;
    room->size.clusters = 8;
    ask_programs(&ask, room, &how);
    drawn = 0;
    return unmade;
}

static void test_tries(void)
{
    check(tries(PROGRAM_GRAPHS) == 6, "a program is made in three ways");
    check(tries(PROGRAM_DESTROYED) == 2 && tries(PROGRAM_UPLOADED) == 2 && tries(PROGRAM_TOGETHER) == 2, "or in one, where one thing is asked");
    (void)tries(PROGRAM_UPLOADED);
    check(asked_room.uploads && !asked_room.destroys, "uploads are asked apart");
    (void)tries(PROGRAM_DESTROYED);
    check(asked_room.destroys && !asked_room.uploads, "and so are ends while a graph runs");
}

static pthread_t ran_in;
static void tell_thread(void *of)
{
    (void)of;
    ran_in = pthread_self();
}

/* How many of 480 parts for this stream another thread did. */
static unsigned elsewhere(cudaStream_t stream)
{
    struct part part = PDL_ZERO;
    unsigned i, others = 0;

    begin_try();
    part.made = &whole;
    part.stream = stream;
    for (i = 0; i < 480; i++) {
        (void)by_any_thread(&part, tell_thread);
        others += !pthread_equal(ran_in, pthread_self());
    }
    return others;
}

static void test_threads(void)
{
    unsigned others = elsewhere(NULL);

    check(others > 4 && others < 60, "now and then another thread makes a graph executable, or launches it");
    check(elsewhere(cudaStreamPerThread) == 0, "but not in the stream of this one");
}

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
