/* kept_made.h - the pairs of kept.cu with a row of all items, however it was made: it updates another one, is a child graph or a body, and loses
 * nodes and edges there. */
#ifndef KEPT_MADE_H_INCLUDED
#define KEPT_MADE_H_INCLUDED

/* ---- a row ---- */

enum made { MADE_BY_HAND, MADE_BY_CAPTURE, MADE_AS_CLONE, MADE_WITHOUT_NODE, MADE_WITHOUT_EDGE, MADES };
static const char *const made_name[MADES] = { "made by hand", "captured", "a clone", "that lost a node", "that lost an edge" };

#define UNMOVED CAUGHT

/* Items and a host function, one after the other, `first` first; each sets the word of its number, but for one that sets the next one. */
struct row {
    unsigned first, nodes, moved; /* without the host function there is a node less */
    unsigned onto;             /* not 0: all set the word before this one */
    int kernels;               /* instead of the other items */
    cudaGraph_t graph;
    cudaGraphNode_t node[CAUGHT];
};

static unsigned number_in_row(const struct row *row, unsigned place) { return (row->first + place) % row->nodes; }

static unsigned word_in_row(const struct row *row, unsigned number)
{
    return row->onto ? row->onto - 1 : number == row->moved ? (number + 1) % row->nodes : number;
}

static cudaError_t add_to_row(struct kept *kept, struct row *row, cudaGraph_t graph, unsigned number)
{
    enum item item = row->kernels ? ITEM_KERNEL : (enum item)number;
    struct cudaHostNodeParams host = PDL_ZERO;
    unsigned word = word_in_row(row, number);

    fill_host(kept, word, &host);
    return number == SINGLE_HOST ? cudaGraphAddHostNode(&row->node[number], graph, NULL, 0, &host)
                                 : add_item_to(graph, item, &kept->args[word], kept->source, &row->node[number]);
}

static cudaError_t fill_row(struct kept *kept, struct row *row, cudaGraph_t graph)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < row->nodes && error == cudaSuccess; i++) {
        error = add_to_row(kept, row, graph, number_in_row(row, i));
        if (error == cudaSuccess && i)
            error = edges_add(graph, &row->node[number_in_row(row, i - 1)], &row->node[number_in_row(row, i)], &full, 1);
    }
    return error;
}

static cudaError_t capture_row(struct kept *kept, struct row *row)
{
    cudaStream_t stream = kept->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < row->nodes && error == cudaSuccess; i++) {
        unsigned number = number_in_row(row, i);
        error = queue_caught(kept, row->kernels && number < ITEMS ? (unsigned)ITEM_KERNEL : number, word_in_row(row, number), 0, stream);
    }
    end = cudaStreamEndCapture(stream, &row->graph);
    return error == cudaSuccess ? end : error;
}

/* The nodes of a row, by its edges. */
static cudaError_t find_row(struct row *row, cudaGraph_t graph)
{
    cudaGraphEdgeData data = edges_data(0, 0, 0);
    cudaGraphNode_t node = NULL;
    size_t one = 1;
    unsigned i;
    cudaError_t error = cudaGraphGetRootNodes(graph, &node, &one);

    for (i = 0; i < row->nodes && error == cudaSuccess && one == 1 && is_full(data); i++) {
        row->node[number_in_row(row, i)] = node;
        if (i + 1 < row->nodes)
            error = edges_out_of_node(node, &node, &data, &one);
    }
    return error == cudaSuccess && (one != 1 || !is_full(data)) ? cudaErrorUnknown : error;
}

static cudaError_t clone_row(struct row *row)
{
    cudaError_t error = ask_clone_instead(&row->graph, NULL);

    return error == cudaSuccess ? find_row(row, row->graph) : error;
}

/* An empty node comes after the last one, or an edge leads from the first one to the third one; and goes. */
static cudaError_t come_and_go(struct row *row, int node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t empty, *from = &row->node[row->first], *to = &row->node[number_in_row(row, 2)];
    cudaError_t error = node ? cudaGraphAddEmptyNode(&empty, row->graph, &row->node[number_in_row(row, row->nodes - 1)], 1)
                             : edges_add(row->graph, from, to, &full, 1);

    if (error != cudaSuccess)
        return error;
    return node ? cudaGraphDestroyNode(empty) : edges_remove(row->graph, from, to, &full, 1);
}

static cudaError_t make_row(struct kept *kept, struct row *row, enum made made)
{
    cudaError_t error;

    if (made == MADE_BY_CAPTURE) {
        error = capture_row(kept, row);
        return error == cudaSuccess ? find_row(row, row->graph) : error;
    }
    error = cudaGraphCreate(&row->graph, 0);
    if (error == cudaSuccess)
        error = fill_row(kept, row, row->graph);
    if (error == cudaSuccess && made == MADE_AS_CLONE)
        error = clone_row(row);
    if (error == cudaSuccess && (made == MADE_WITHOUT_NODE || made == MADE_WITHOUT_EDGE))
        error = come_and_go(row, made == MADE_WITHOUT_NODE);
    return error;
}

static unsigned set_by_row(const struct row *row)
{
    return ((1u << row->nodes) - 1) & ~(row->moved < row->nodes ? 1u << row->moved : 0);
}

/* ---- updates from a row ---- */

/* The node sets its own word again. */
static cudaError_t give_back(struct kept *kept, const struct row *row, cudaGraphExec_t exec, unsigned which)
{
    return row->kernels && which < ITEMS ? give_word(kept, exec, row->node[which], which) : move_caught(kept, exec, row->node, which, which);
}

/* One of the executable graph's nodes is left out, and then one is given its own parameters by the node that it was made of: an update from a row
 * changes neither which nodes run nor by which nodes they are known. A row by hand and a captured one are of kernels: what else a capture's
 * nodes are like is its own affair. */
static void ask_updated_by(struct kept *kept, enum made made, enum made by, unsigned which)
{
    struct ask *ask = kept->ask;
    struct row row = PDL_ZERO, other;
    unsigned out = (which + 2) % ITEMS, all = ALL_CAUGHT & ~(1u << out);
    cudaGraphExec_t exec = NULL;
    cudaError_t error;
    char text[128];

    snprintf(text, sizeof(text), "a row %s, updated by one %s with %s moved", made_name[made], made_name[by], single_name(which));
    row.nodes = CAUGHT;
    row.moved = UNMOVED;
    row.first = which;
    row.kernels = (made == MADE_BY_CAPTURE) != (by == MADE_BY_CAPTURE);
    other = row;
    other.moved = which;
    ask_expect(ask, text, make_row(kept, &row, made), cudaSuccess);
    ask_expect(ask, text, make_row(kept, &other, by), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, row.graph, 0), cudaSuccess);
    ask_expect(ask, text, cudaGraphNodeSetEnabled(exec, row.node[out], 0), cudaSuccess);
    error = update_from(exec, other.graph);
    ask_expect_update(ask, text, error);
    if (error == cudaSuccess) {
        expect_words(kept, exec, text, all & ~(1u << which));
        ask_expect(ask, text, give_back(kept, &row, exec, which), cudaSuccess);
        expect_words(kept, exec, text, all);
        ask_expect(ask, text, cudaGraphNodeSetEnabled(exec, row.node[out], 1), cudaSuccess);
        expect_words(kept, exec, text, ALL_CAUGHT);
    }
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(row.graph);
    (void)cudaGraphDestroy(other.graph);
}

/* ---- rows in other graphs ---- */

enum nest { NEST_CHILD, NEST_GRANDCHILD, NEST_MOVED, NEST_BODY, NESTS };
static const char *const nest_name[NESTS] = { "a child graph", "a child of a child", "a child graph that was moved", "a body" };

/* Receives the child node and, in row->node, the nodes as they are in there; inner: their graph. */
static cudaError_t nest_row(struct kept *kept, struct row *row, enum nest nest, cudaGraph_t *graph, cudaGraph_t *inner, cudaGraphNode_t *child)
{
    cudaGraph_t middle = NULL;
    cudaError_t error = cudaGraphCreate(graph, 0);

#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && nest == NEST_BODY) {
        error = ask_add_if(child, *graph, *graph, 1, inner);
        return error == cudaSuccess ? fill_row(kept, row, *inner) : error;
    }
#endif
    if (error == cudaSuccess)
        error = make_row(kept, row, MADE_BY_HAND);
    if (error == cudaSuccess && nest == NEST_GRANDCHILD)
        error = cudaGraphCreate(&middle, 0);
    if (error == cudaSuccess)
        error = ask_nest(child, middle ? middle : *graph, row->graph, nest == NEST_MOVED);
    if (error == cudaSuccess && middle)
        error = cudaGraphAddChildGraphNode(child, *graph, NULL, 0, middle);
    if (middle)
        (void)cudaGraphDestroy(middle);
    if (error == cudaSuccess)
        error = cudaGraphChildGraphNodeGetGraph(*child, inner);
    if (error == cudaSuccess && middle) {
        cudaGraphNode_t node = NULL;
        size_t one = 1;
        error = cudaGraphGetNodes(*inner, &node, &one);
        if (error == cudaSuccess)
            error = cudaGraphChildGraphNodeGetGraph(node, inner);
    }
    return error == cudaSuccess ? find_row(row, *inner) : error;
}

static struct row row_of(enum nest nest, unsigned which)
{
    struct row row = PDL_ZERO;

    row.nodes = nest == NEST_BODY ? ITEMS : CAUGHT;
    row.first = (which + 1) % row.nodes; /* it is the last one */
    row.moved = UNMOVED;
    return row;
}

/* A row that stands in no other graph, or a graph around it: what a child graph, or one with a child, is given. */
static cudaError_t make_given(struct kept *kept, struct row *row, enum nest nest, cudaGraph_t *given)
{
    cudaGraphNode_t child;
    cudaError_t error = make_row(kept, row, MADE_BY_HAND);

    *given = row->graph;
    if (error != cudaSuccess || nest != NEST_GRANDCHILD)
        return error;
    error = cudaGraphCreate(given, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&child, *given, NULL, 0, row->graph);
    (void)cudaGraphDestroy(row->graph);
    return error;
}

/* "Updates the work represented by hNode in hGraphExec as though the nodes contained in hNode's graph had the parameters contained in
 * childGraph's nodes at instantiation": each of them, there and in its child graphs. Or an update of all changes it. */
static void ask_given_inside(struct kept *kept, enum nest nest, unsigned which, int whole)
{
    struct ask *ask = kept->ask;
    struct row row = row_of(nest, which), other = row;
    cudaGraph_t graph = NULL, inner = NULL, given = NULL, unasked = NULL;
    cudaGraphNode_t child = NULL, unused = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;
    char text[128];

    snprintf(text, sizeof(text), "%s with %s moved by %s", nest_name[nest], single_name(which), whole ? "an update" : "another child graph");
    other.moved = which;
    ask_expect(ask, text, nest_row(kept, &row, nest, &graph, &inner, &child), cudaSuccess);
    ask_expect(ask, text, whole ? nest_row(kept, &other, nest, &given, &unasked, &unused) : make_given(kept, &other, nest, &given), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, set_by_row(&row));
    error = whole ? update_from(exec, given) : cudaGraphExecChildGraphNodeSetParams(exec, child, given);
    ask_expect_update(ask, text, error);
    if (error == cudaSuccess)
        expect_words(kept, exec, text, set_by_row(&other));
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(given);
}

/* Of a row in another graph a node goes, then each edge that is left but one. */
static void ask_lost_inside(struct kept *kept, enum nest nest, unsigned which)
{
    struct ask *ask = kept->ask;
    struct row row = row_of(nest, which + 2);
    cudaGraphEdgeData full[CAUGHT];
    cudaGraph_t graph = NULL, inner = NULL;
    cudaGraphNode_t child = NULL, from[CAUGHT], to[CAUGHT];
    cudaGraphExec_t exec = NULL;
    size_t edges = CAUGHT, left = row.nodes - (which == row.first || which == number_in_row(&row, row.nodes - 1) ? 2 : 3);
    char text[128];

    snprintf(text, sizeof(text), "%s that lost %s", nest_name[nest], single_name(which));
    ask_expect(ask, text, nest_row(kept, &row, nest, &graph, &inner, &child), cudaSuccess);
    ask_expect(ask, text, cudaGraphDestroyNode(row.node[which]), cudaSuccess);
    ask_expect(ask, text, edges_of_graph(inner, from, to, full, &edges), cudaSuccess);
    ask_expect_number(ask, text, (long)edges, (long)left);
    if (edges > 1)
        ask_expect(ask, text, edges_remove(inner, from + 1, to + 1, full + 1, edges - 1), cudaSuccess);
    expect_edges(ask, text, inner, 1);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, set_by_row(&row) & ~(1u << which));
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* "If there is a launch in flight it will not be terminated": a row in another graph comes after a late kernel, and the executable graph, or the
 * graph, is gone by then. */
static void ask_gone(struct kept *kept, enum nest nest, struct kernel_args *late, int source)
{
    struct ask *ask = kept->ask;
    struct row row = row_of(nest, ITEM_COPY);
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL, inner = NULL;
    cudaGraphNode_t child = NULL, kernel = NULL;
    cudaGraphExec_t exec = NULL;
    char text[128];

    snprintf(text, sizeof(text), "%s, while it runs its %s is destroyed", nest_name[nest], source ? "graph" : "executable graph");
    ask_expect(ask, text, nest_row(kept, &row, nest, &graph, &inner, &child), cudaSuccess);
    ask_expect(ask, text, ask_add_kernel(&kernel, graph, (const void *)SYMBOL(kept_late), late, 1), cudaSuccess);
    ask_expect(ask, text, edges_add(graph, &kernel, &child, &full, 1), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, text, cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    ask_expect(ask, text, source ? cudaGraphDestroy(graph) : cudaGraphExecDestroy(exec), cudaSuccess);
    ask_expect_number(ask, text, words_then(kept), (long)set_by_row(&row));
    if (source)
        (void)cudaGraphExecDestroy(exec);
    else
        (void)cudaGraphDestroy(graph);
}

static void ask_all_gone(struct kept *kept)
{
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned i;

    if (!open_late(kept, &room, &late))
        return;
    for (i = 0; i < 2 * NESTS; i++)
        if (i / 2 != NEST_BODY || has_conditions())
            ask_gone(kept, (enum nest)(i / 2), &late, (int)(i % 2));
    (void)cudaFreeHost(room);
}

static void ask_made(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned which, i;

    if (!open_kept(&kept, ask))
        return;
    for (which = 0; which < CAUGHT; which++) {
        for (i = 0; i < 2 * MADES && takes_changes(which); i++)
            ask_updated_by(&kept, i / MADES ? MADE_BY_CAPTURE : MADE_BY_HAND, (enum made)(i % MADES), which);
        for (i = 0; i < NESTS; i++) {
            if (i == NEST_BODY && (!has_conditions() || which == SINGLE_HOST))
                continue;
            if (i != NEST_MOVED && takes_changes(which))
                ask_given_inside(&kept, (enum nest)i, which, 1);
            if (i < NEST_MOVED && takes_changes(which))
                ask_given_inside(&kept, (enum nest)i, which, 0);
            ask_lost_inside(&kept, (enum nest)i, which);
        }
    }
    ask_all_gone(&kept);
    close_kept(&kept);
}

#endif
