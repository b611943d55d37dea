/* arrays.cu - calls that take an array of edge data, asked with several entries that differ.
 *
 * pair       rules     what is asked
 * edges      EDGE-33   cudaGraphAddDependencies with 1 to 64 edges in a line, out of one node, into one node, also from the
 *                      node on that was made last
 * round_trip EDGE-33   what cudaGraphGetEdges answers, fed back in one call, makes the same graph
 * driver     EDGE-33   the same through cuGraphAddDependencies of the driver
 * new_node   EDGE-33b  cudaGraphAddNode of a node of each kind with its dependencies
 * removed    EDGE-33b  cudaGraphRemoveDependencies of several edges, and cuGraphRemoveDependencies of the driver; a clone made then lacks them, too
 * begun      EDGE-33b  cudaStreamBeginCaptureToGraph
 * updated    EDGE-33b  cudaStreamUpdateCaptureDependencies, set and added
 */
#include <cuda.h>

#include "driver_function.h"
#include "graph_ask.h"
#include "kernel.h"

KERNEL(arrays_nothing) { (void)args; }

#define WEB_EDGES 64u
#define WEB_KINDS 4u
#define WEB_ORDERS 9u

enum web_shape { WEB_LINE, WEB_OUT, WEB_IN, WEB_BACK, WEB_SHAPES }; /* WEB_BACK: the node that was made last is named first */
static const char *const web_shape_name[WEB_SHAPES] = { "in a line", "out of one node", "into one node",
                                                        "into one node, from the last one on" };
static const unsigned web_sizes[] = { 1, 2, 3, 4, 5, 8, 17, 63, 64 };
#define WEB_SIZES (sizeof(web_sizes) / sizeof(web_sizes[0]))

/* Kernels, the edges that they are to have, and the data of each edge. */
struct web {
    enum web_shape shape;
    unsigned edges;
    cudaGraph_t graph;
    cudaGraphNode_t node[WEB_EDGES + 1], from[WEB_EDGES], to[WEB_EDGES];
    cudaGraphEdgeData data[WEB_EDGES];
};

static cudaGraphEdgeData web_kind(unsigned i)
{
    static const unsigned rows[WEB_KINDS - 1][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 } };

    if (i % WEB_KINDS == WEB_KINDS - 1)
        return edges_completion();
    return edges_data(rows[i % WEB_KINDS][0], rows[i % WEB_KINDS][1], rows[i % WEB_KINDS][2]);
}

/* The kind of edge i: every order of three kinds in turn, then all four, one that differs from the others, and runs of eight. */
static cudaGraphEdgeData web_data(unsigned order, unsigned i)
{
    static const unsigned char threes[6][3] = { { 0, 1, 3 }, { 0, 3, 1 }, { 1, 0, 3 }, { 1, 3, 0 }, { 3, 0, 1 }, { 3, 1, 0 } };

    if (order < 6)
        return web_kind(threes[order][i % 3]);
    if (order == 6)
        return web_kind(i + 2);
    return order == 7 ? web_kind(i == 1 ? 2 : 0) : web_kind(i / 8 + 1);
}

static cudaError_t web_add_kernels(struct web *web, unsigned first, unsigned last)
{
    struct kernel_args args = PDL_ZERO;
    cudaError_t error = cudaSuccess;

    for (; first < last && error == cudaSuccess; first++)
        error = ask_add_kernel(&web->node[first], web->graph, (const void *)SYMBOL(arrays_nothing), &args, 1);
    return error;
}

/* The node that edge i leaves, and the one it enters. */
static unsigned web_from(const struct web *web, unsigned i) { return web->shape == WEB_OUT ? 0 : web->shape == WEB_BACK ? web->edges - 1 - i : i; }
static unsigned web_to(const struct web *web, unsigned i) { return web->shape >= WEB_IN ? web->edges : i + 1; }

static void web_name_edges(struct web *web)
{
    unsigned i;

    for (i = 0; i < web->edges; i++) {
        web->from[i] = web->node[web_from(web, i)];
        web->to[i] = web->node[web_to(web, i)];
    }
}

static cudaError_t web_open(struct web *web, enum web_shape shape, unsigned edges, unsigned order, unsigned kernels)
{
    unsigned i;
    cudaError_t error;

    memset(web, 0, sizeof(*web));
    web->shape = shape;
    web->edges = edges;
    for (i = 0; i < edges; i++)
        web->data[i] = web_data(order, i);
    error = cudaGraphCreate(&web->graph, 0);
    if (error == cudaSuccess)
        error = web_add_kernels(web, 0, kernels);
    web_name_edges(web);
    return error;
}

static cudaError_t web_add_one_by_one(struct web *web)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < web->edges && error == cudaSuccess; i++)
        error = edges_add(web->graph, &web->from[i], &web->to[i], &web->data[i], 1);
    return error;
}

/* ---- reading back ---- */

static void web_tell(char *text, size_t room, const struct web *web, unsigned i, const char *got)
{
    char want[16] = "";

    ask_append_edge(want, sizeof(want), web->data[i]);
    snprintf(text, room, "%u edges %s: number %u is %s, not %s", web->edges, web_shape_name[web->shape], i + 1, got, want);
}

/* How many of the edges of `graph` are not what they were to be; text: the first of them. skip: edges that are to be absent. */
static unsigned web_wrong(const struct web *web, cudaGraph_t graph, const cudaGraphNode_t *node, const unsigned char *absent, char *text,
                          size_t room)
{
    static cudaGraphNode_t from[WEB_EDGES + 1], to[WEB_EDGES + 1];
    static cudaGraphEdgeData data[WEB_EDGES + 1];
    size_t count = WEB_EDGES + 1, e;
    unsigned i, wrong = 0, wanted = 0;

    if (edges_of_graph(graph, from, to, data, &count) != cudaSuccess) {
        web_tell(text, room, web, 0, "unreadable");
        return web->edges;
    }
    for (i = 0; i < web->edges; i++) {
        char got[16] = "absent";
        int there = 0, same = 0;

        for (e = 0; e < count && !there; e++)
            if (from[e] == node[web_from(web, i)] && to[e] == node[web_to(web, i)]) {
                there = 1;
                same = memcmp(&data[e], &web->data[i], sizeof(data[e])) == 0;
                got[0] = '\0';
                ask_append_edge(got, sizeof(got), data[e]);
            }
        wanted += !(absent && absent[i]);
        if (absent && absent[i] ? !there : there && same)
            continue;
        if (!wrong++)
            web_tell(text, room, web, i, got);
    }
    if (!wrong && count != wanted) {
        snprintf(text, room, "%u edges %s: the graph has %u", wanted, web_shape_name[web->shape], (unsigned)count);
        wrong++;
    }
    return wrong;
}

/* The same read node by node, where a node has several edges. */
static unsigned web_wrong_at_node(const struct web *web, char *text, size_t room)
{
    static cudaGraphNode_t other[WEB_EDGES];
    static cudaGraphEdgeData data[WEB_EDGES];
    size_t count = WEB_EDGES, e;
    unsigned i, wrong = 0;
    cudaError_t error;

    if (web->shape == WEB_LINE)
        return 0;
    error = web->shape == WEB_OUT ? edges_out_of_node(web->node[0], other, data, &count)
                                  : edges_into_node(web->node[web->edges], other, data, &count);
    if (error != cudaSuccess || count != web->edges) {
        web_tell(text, room, web, 0, "not among the node's edges");
        return 1;
    }
    for (i = 0; i < web->edges; i++) {
        char got[16] = "absent";
        int same = 0;

        for (e = 0; e < count; e++)
            if (other[e] == web->node[web->shape == WEB_OUT ? web_to(web, i) : web_from(web, i)]) {
                same = memcmp(&data[e], &web->data[i], sizeof(data[e])) == 0;
                got[0] = '\0';
                ask_append_edge(got, sizeof(got), data[e]);
            }
        if (!same && !wrong++)
            web_tell(text, room, web, i, got);
    }
    return wrong;
}

/* ---- the calls: each makes all edges of a web whose kernels are there ---- */

typedef cudaError_t (*web_maker)(struct ask *ask, struct web *web);

static cudaError_t make_in_one_call(struct ask *ask, struct web *web)
{
    (void)ask;
    return edges_add(web->graph, web->from, web->to, web->data, web->edges);
}

/* One graph is made edge by edge; its own answer makes the second one. */
static cudaError_t make_again(struct ask *ask, struct web *web)
{
    static cudaGraphNode_t from[WEB_EDGES], to[WEB_EDGES];
    static cudaGraphEdgeData data[WEB_EDGES];
    struct web second = *web;
    size_t count = WEB_EDGES, e;
    unsigned n;
    cudaError_t error = web_add_one_by_one(web);

    (void)ask;
    if (error == cudaSuccess)
        error = edges_of_graph(web->graph, from, to, data, &count);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&second.graph, 0);
    if (error == cudaSuccess)
        error = web_add_kernels(&second, 0, web->edges + 1);
    for (e = 0; error == cudaSuccess && e < count; e++)
        for (n = 0; n <= web->edges; n++) {
            from[e] = from[e] == web->node[n] ? second.node[n] : from[e];
            to[e] = to[e] == web->node[n] ? second.node[n] : to[e];
        }
    if (error == cudaSuccess)
        error = edges_add(second.graph, from, to, data, count);
    (void)cudaGraphDestroy(web->graph);
    *web = second;
    return error;
}

/* The driver's functions: those with edge data, which CUDA 12.3 brought. */
typedef CUresult(CUDAAPI *of_edges)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);

static cudaError_t call_driver(const char *name, const struct web *web, unsigned edges)
{
    void *function = NULL;

    if (driver_function(name, CUDART_VERSION >= 13000 ? 13000 : 12030, &function) != cudaSuccess)
        return cudaErrorNotSupported;
    return ((of_edges)function)(web->graph, web->from, web->to, (const CUgraphEdgeData *)web->data, edges) == CUDA_SUCCESS
               ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t make_by_driver(struct ask *ask, struct web *web)
{
    cudaError_t error = call_driver("cuGraphAddDependencies", web, web->edges);

    if (error == cudaErrorNotSupported)
        ask_skip(ask, "cuGraphAddDependencies with edge data", "this driver has none");
    return error;
}

static cudaError_t make_by_new_node(struct ask *ask, struct web *web)
{
    struct kernel_args args = PDL_ZERO;
    struct cudaGraphNodeParams params = PDL_ZERO;
    void *values[1];

    (void)ask;
    values[0] = &args;
    params = ask_general_kernel((const void *)SYMBOL(arrays_nothing), values);
    return edges_add_node(&web->node[web->edges], web->graph, web->from, web->data, web->edges, &params);
}

static cudaError_t launch_captured(struct ask *ask)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(1, ask->stream);
    void *params[1];

    params[0] = &args;
    return cudaLaunchKernelExC(&config, (const void *)SYMBOL(arrays_nothing), params);
}

/* Ends the capture and finds the node that it added: the one that is none of the others. */
static cudaError_t end_and_find(struct ask *ask, struct web *web)
{
    static cudaGraphNode_t nodes[WEB_EDGES + 1];
    cudaGraph_t out = NULL;
    size_t count = WEB_EDGES + 1, i;
    unsigned known;
    cudaError_t error = cudaStreamEndCapture(ask->stream, &out);

    if (error == cudaSuccess)
        error = cudaGraphGetNodes(web->graph, nodes, &count);
    for (i = 0; error == cudaSuccess && i < count; i++) {
        for (known = 0; known < web->edges && web->node[known] != nodes[i]; known++)
            ;
        if (known == web->edges)
            web->node[web->edges] = nodes[i];
    }
    return error;
}

static cudaError_t make_by_begin(struct ask *ask, struct web *web)
{
    cudaError_t error = cudaStreamBeginCaptureToGraph(ask->stream, web->graph, web->from, web->data, web->edges,
                                                      cudaStreamCaptureModeThreadLocal);
    cudaError_t end;

    if (error != cudaSuccess)
        return error;
    error = launch_captured(ask);
    end = end_and_find(ask, web);
    return error == cudaSuccess ? end : error;
}

/* The first half is set, the second half added. */
static cudaError_t make_by_update(struct ask *ask, struct web *web)
{
    unsigned half = (web->edges + 1) / 2;
    cudaError_t error = cudaStreamBeginCaptureToGraph(ask->stream, web->graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = edges_update_capture(ask->stream, web->from, web->data, half, cudaStreamSetCaptureDependencies);
    if (error == cudaSuccess && web->edges > half)
        error = edges_update_capture(ask->stream, web->from + half, web->data + half, web->edges - half, cudaStreamAddCaptureDependencies);
    if (error == cudaSuccess)
        error = launch_captured(ask);
    end = end_and_find(ask, web);
    return error == cudaSuccess ? end : error;
}

/* ---- the questions ---- */

/* kernels_less: the call adds the last kernel itself. */
static void ask_web(struct ask *ask, web_maker make, enum web_shape shape, unsigned edges, unsigned order, unsigned kernels_less,
                    unsigned long long *wrong)
{
    static struct web web;
    char text[128] = "";
    cudaError_t error = web_open(&web, shape, edges, order, edges + 1 - kernels_less);
    unsigned bad = 0;

    if (error == cudaSuccess)
        error = make(ask, &web);
    if (error == cudaSuccess) {
        bad = web_wrong(&web, web.graph, web.node, NULL, text, sizeof(text));
        bad += web_wrong_at_node(&web, text, sizeof(text));
    } else {
        snprintf(text, sizeof(text), "%u edges %s: %s", edges, web_shape_name[shape], cudaGetErrorName(error));
        bad = !ask->skipped; /* a maker that cannot ask says so; any other refusal of legal edges is wrong */
        (void)cudaGetLastError();
    }
    ask->asked++;
    if (bad)
        ask_row(ask, "wrong", text);
    *wrong += bad != 0;
    (void)cudaGraphDestroy(web.graph);
}

/* Backwards three sizes are enough. */
static int web_is_asked(unsigned shape, size_t size) { return shape != WEB_BACK || size % 3 == 2; }

static void ask_webs(struct ask *ask, web_maker make, unsigned shapes, unsigned kernels_less)
{
    unsigned shape, order;
    size_t size;

    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(arrays_nothing)), cudaSuccess);
    for (shape = 0; shape < WEB_SHAPES; shape++) {
        unsigned long long wrong = 0, calls = 0;
        char what[96];

        if (!(shapes >> shape & 1))
            continue;
        for (order = 0; order < WEB_ORDERS && !ask->skipped; order++)
            for (size = 0; size < WEB_SIZES && !ask->skipped; size++)
                if (web_is_asked(shape, size)) {
                    ask_web(ask, make, (enum web_shape)shape, web_sizes[size], order, kernels_less, &wrong);
                    calls++;
                }
        snprintf(what, sizeof(what), "calls with an edge of other data, %s", web_shape_name[shape]);
        ask_expect_none(ask, what, wrong, calls);
    }
}

#define ALL_SHAPES (1u << WEB_LINE | 1u << WEB_OUT | INTO_ONE)
#define INTO_ONE (1u << WEB_IN | 1u << WEB_BACK)

static void ask_edges(struct ask *ask) { ask_webs(ask, make_in_one_call, ALL_SHAPES, 0); }
static void ask_round_trip(struct ask *ask) { ask_webs(ask, make_again, ALL_SHAPES, 0); }
static void ask_begun(struct ask *ask) { ask_webs(ask, make_by_begin, INTO_ONE, 1); }
static void ask_updated(struct ask *ask) { ask_webs(ask, make_by_update, INTO_ONE, 1); }
static void ask_driver(struct ask *ask) { ask_webs(ask, make_by_driver, ALL_SHAPES, 0); }

/* ---- new nodes of other kinds ---- */

/* For the call that adds nodes of every kind. */
static struct cudaGraphNodeParams general_of(enum node_kind kind, const struct node_room *room)
{
    struct cudaGraphNodeParams params = PDL_ZERO;
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = room->words;
    set.elementSize = set.width = 4;
    set.height = 1;
    if (kind == NODE_MEMSET)
        return ask_general_memset(&set);
    params.type = kind == NODE_LAYERS ? cudaGraphNodeTypeMemcpy : kind == NODE_HOST ? cudaGraphNodeTypeHost
                  : kind == NODE_RECORD ? cudaGraphNodeTypeEventRecord : kind == NODE_WAIT ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEmpty;
    if (kind == NODE_LAYERS)
        params.memcpy.copyParams = layers_of_words(room->words + 16, room->words + 32);
    if (kind == NODE_HOST)
        params.host.fn = ask_host_nothing;
    if (kind == NODE_RECORD)
        params.eventRecord.event = room->event;
    if (kind == NODE_WAIT)
        params.eventWait.event = room->event;
    return params;
}

/* Full edges from kernels and launch-completion edges, into a node of this kind, which may be there. */
static cudaError_t open_mixed(struct web *web, unsigned edges, unsigned turn, enum node_kind kind, const struct node_room *room, int there)
{
    cudaError_t error = web_open(web, WEB_IN, edges, turn, edges);
    unsigned i;

    for (i = 0; i < edges; i++)
        web->data[i] = (i + turn) % 3 ? edges_data(0, 0, 0) : edges_completion();
    if (error == cudaSuccess && there)
        error = ask_add(&web->node[edges], web->graph, kind, room);
    web_name_edges(web);
    return error;
}

/* Whether the device takes such edges into nodes of this kind by the call that adds edges, and tells them as they are: no document says so. */
static int takes_mixed(unsigned edges, unsigned turn, enum node_kind kind, const struct node_room *room)
{
    static struct web web;
    char text[128];
    cudaError_t error = open_mixed(&web, edges, turn, kind, room, 1);
    int taken;

    if (error == cudaSuccess)
        error = web_add_one_by_one(&web);
    taken = error == cudaSuccess && !web_wrong(&web, web.graph, web.node, NULL, text, sizeof(text)) && !web_wrong_at_node(&web, text, sizeof(text));
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(web.graph);
    return taken;
}

/* The node comes with its edges; a driver may refuse them here. */
static unsigned new_kind_is_wrong(struct ask *ask, unsigned edges, unsigned turn, enum node_kind kind, const struct node_room *room)
{
    static struct web web;
    struct cudaGraphNodeParams params = general_of(kind, room);
    char text[128] = "";
    unsigned wrong = 0;
    cudaError_t error = open_mixed(&web, edges, turn, kind, room, 0);

    if (error == cudaSuccess)
        error = edges_add_node(&web.node[edges], web.graph, web.from, web.data, edges, &params);
    if (error == cudaSuccess)
        wrong = web_wrong(&web, web.graph, web.node, NULL, text, sizeof(text)) + web_wrong_at_node(&web, text, sizeof(text));
    if (wrong)
        ask_row(ask, node_kind_name[kind], text);
    ask->asked++;
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(web.graph);
    return wrong != 0;
}

static void ask_new_kinds(struct ask *ask)
{
    static const enum node_kind kinds[] = { NODE_MEMSET, NODE_LAYERS, NODE_HOST, NODE_EMPTY, NODE_RECORD, NODE_WAIT };
    struct node_room room = PDL_ZERO;
    unsigned kind, turn, size, wrong = 0, calls = 0;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(arrays_nothing));

    ask_expect(ask, "memory and an event of nodes", error, cudaSuccess);
    for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]) && error == cudaSuccess && edges_completion().type == 0; kind++)
        for (turn = 0; turn < 3; turn++)
            for (size = 0; size < WEB_SIZES; size += 4) /* 1, 5 and 64 edges */
                if (takes_mixed(web_sizes[size], turn, kinds[kind], &room)) {
                    wrong += new_kind_is_wrong(ask, web_sizes[size], turn, kinds[kind], &room);
                    calls++;
                }
    ask_expect_none(ask, "new nodes of other kinds with an edge of other data", wrong, calls);
    ask_close_room(&room);
}

static void ask_new_node(struct ask *ask)
{
    ask_webs(ask, make_by_new_node, INTO_ONE, 1);
    ask_new_kinds(ask);
}

/* By the runtime, or by the driver if it has the call. */
static cudaError_t take_away(const struct web *taken, int by_driver)
{
    cudaError_t error = by_driver ? call_driver("cuGraphRemoveDependencies", taken, taken->edges) : cudaErrorNotSupported;

    return error == cudaErrorNotSupported ? edges_remove(taken->graph, taken->from, taken->to, taken->data, taken->edges) : error;
}

/* The same of a clone that is made now, whose nodes are found by those of the graph. */
static unsigned web_clone_wrong(const struct web *web, const unsigned char *absent, char *text, size_t room)
{
    static cudaGraphNode_t node[WEB_EDGES + 1];
    cudaGraph_t clone = NULL;
    cudaError_t error = cudaGraphClone(&clone, web->graph);
    unsigned wrong = 1, i;

    for (i = 0; i <= web->edges && error == cudaSuccess; i++)
        error = cudaGraphNodeFindInClone(&node[i], web->node[i], clone);
    if (error == cudaSuccess)
        wrong = web_wrong(web, clone, node, absent, text, room);
    else
        snprintf(text, room, "%u edges %s, in a clone: %s", web->edges, web_shape_name[web->shape], cudaGetErrorName(error));
    if (clone)
        (void)cudaGraphDestroy(clone);
    return wrong;
}

/* Every other edge goes in one call, the others stay, in some orders also in a clone; then all are named. "Specifying an edge that does not exist in
 * the graph, with data matching edgeData, results in an error." */
static void ask_removed_of(struct ask *ask, enum web_shape shape, unsigned edges, unsigned order, int by_driver, unsigned long long *wrong)
{
    static struct web web, taken;
    unsigned char absent[WEB_EDGES];
    char text[128] = "";
    unsigned i, n = 0;
    cudaError_t error = web_open(&web, shape, edges, order, edges + 1);

    if (error == cudaSuccess)
        error = web_add_one_by_one(&web);
    for (i = 0; i < edges; i++) {
        absent[i] = i % 2 == order % 2;
        taken.from[n] = web.from[i];
        taken.to[n] = web.to[i];
        taken.data[n] = web.data[i];
        n += absent[i];
    }
    taken.graph = web.graph;
    taken.edges = n;
    if (error == cudaSuccess && n)
        error = take_away(&taken, by_driver);
    if (error != cudaSuccess)
        snprintf(text, sizeof(text), "%u of %u edges %s: %s", n, edges, web_shape_name[shape], cudaGetErrorName(error));
    ask->asked++;
    taken = web; /* some of these edges are gone now, wherever in the array they stand */
    if (error == cudaSuccess && !web_wrong(&web, web.graph, web.node, absent, text, sizeof(text)) &&
        (order % 3 || !web_clone_wrong(&web, absent, text, sizeof(text))) && n && take_away(&taken, by_driver) == cudaSuccess)
        snprintf(text, sizeof(text), "%u edges %s: %u that are gone were taken away again", edges, web_shape_name[shape], n);
    if (text[0]) {
        ask_row(ask, "wrong", text);
        ++*wrong;
    }
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(web.graph);
}

static void ask_removed(struct ask *ask)
{
    unsigned long long wrong = 0, calls = 0;
    unsigned shape, order;
    size_t size;

    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(arrays_nothing)), cudaSuccess);
    for (shape = 0; shape < WEB_SHAPES; shape++)
        for (order = 0; order < WEB_ORDERS; order++)
            for (size = 0; size < WEB_SIZES; size++)
                if (web_is_asked(shape, size)) {
                    ask_removed_of(ask, (enum web_shape)shape, web_sizes[size], order, (size + order + shape) % 2 != 0, &wrong);
                    calls++;
                }
    ask_expect_none(ask, "removals that took other edges", wrong, calls);
}

static const struct pair arrays_pairs[] = {
    PAIR_ASK("edges", ask_edges),
    PAIR_ASK("round_trip", ask_round_trip),
    PAIR_ASK("new_node", ask_new_node),
    PAIR_ASK("removed", ask_removed),
    PAIR_ASK("begun", ask_begun),
    PAIR_ASK("updated", ask_updated),
    PAIR_ASK("driver", ask_driver),
};
IMAGE(arrays, arrays_pairs)
