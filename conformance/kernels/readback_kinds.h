/* readback_kinds.h - what lists of nodes and edges tell of nodes of every two kinds, in a graph, in a child graph and in a body, and what they tell
 * once an edge or a node is gone, also of edges beside it that have other data. */
#ifndef READBACK_KINDS_H_INCLUDED
#define READBACK_KINDS_H_INCLUDED

#define LISTED_KINDS (NODE_KINDS + 1u) /* the last one is a conditional node */

enum where { IN_GRAPH, IN_CHILD, IN_BODY, WHERES };
static const char *const where_name[WHERES] = { "in a graph", "in a child graph", "in a body" };

/* The graph around all, and the one that is asked about. */
struct place {
    cudaGraph_t outermost, graph;
};

/* "host and event nodes" may not be in bodies, nor may conditional nodes in child graphs. */
static int may_be_there(enum where where, unsigned kind, int conditions)
{
    if (where == IN_BODY)
        return conditions && kind != NODE_HOST && kind != NODE_RECORD && kind != NODE_WAIT;
    return kind != NODE_KINDS || (where == IN_GRAPH && conditions);
}

static cudaError_t open_place(struct place *place, enum where where)
{
    cudaGraph_t source = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&place->outermost, 0);

    place->graph = place->outermost;
    if (error != cudaSuccess || where == IN_GRAPH)
        return error;
#if CUDART_VERSION >= 12040
    if (where == IN_BODY)
        return ask_add_if(&node, place->outermost, place->outermost, 1, &place->graph);
#endif
    error = cudaGraphCreate(&source, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, place->outermost, NULL, 0, source);
    (void)cudaGraphDestroy(source);
    return error == cudaSuccess ? cudaGraphChildGraphNodeGetGraph(node, &place->graph) : error;
}

static cudaError_t add_listed(const struct place *place, unsigned kind, const struct node_room *room, cudaGraphNode_t *node)
{
#if CUDART_VERSION >= 12040
    cudaGraph_t body;

    if (kind == NODE_KINDS)
        return ask_add_if(node, place->outermost, place->graph, 1, &body);
#endif
    return ask_add(node, place->graph, (enum node_kind)kind, room);
}

struct pair_of_nodes {
    cudaGraphNode_t from, to;
};

/* Whether other edges are told than these, each of them full. */
static unsigned edges_differ(cudaGraph_t graph, const struct pair_of_nodes *want, size_t count)
{
    cudaGraphNode_t from[LIST_ROOM], to[LIST_ROOM];
    cudaGraphEdgeData data[LIST_ROOM];
    size_t counted = 99, told = LIST_ROOM, i, k;
    unsigned found;

    if (edges_of_graph(graph, NULL, NULL, NULL, &counted) != cudaSuccess || edges_of_graph(graph, from, to, data, &told) != cudaSuccess)
        return 1;
    for (k = 0; k < count; k++) {
        for (i = found = 0; i < told && i < LIST_ROOM; i++)
            found += from[i] == want[k].from && to[i] == want[k].to && is_full(data[i]);
        if (found != 1)
            return 1;
    }
    return counted != count || told != count;
}

typedef cudaError_t(CUDARTAPI *list_fn)(cudaGraphNode_t of, cudaGraphNode_t *node, cudaGraphEdgeData *data, size_t *count);

/* Whether other nodes are told than this one and, if there is one, the other one, by full edges; none: neither. */
static unsigned nodes_differ(list_fn list, cudaGraphNode_t of, cudaGraphNode_t one, cudaGraphNode_t other)
{
    cudaGraphNode_t node[LIST_ROOM];
    cudaGraphEdgeData data[LIST_ROOM];
    size_t counted = 99, told = LIST_ROOM, want = (one != NULL) + (other != NULL), i;
    unsigned ones = 0, others = 0, programmatic = 0;

    if (list(of, NULL, NULL, &counted) != cudaSuccess || list(of, node, data, &told) != cudaSuccess)
        return 1;
    for (i = 0; i < told && i < LIST_ROOM; i++) {
        ones += node[i] == one;
        others += node[i] == other;
        programmatic += !is_full(data[i]);
    }
    return counted != want || told != want || ones != (one != NULL) || others != (other != NULL) || programmatic;
}

/* The first node leads to the second one, and by way of an empty one as well. */
static cudaError_t ask_two_kinds(const struct place *place, unsigned a, unsigned b, const struct node_room *room, unsigned *wrong)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = place->graph;
    cudaGraphNode_t from = NULL, to = NULL, empty = NULL;
    struct pair_of_nodes left;
    unsigned i;
    cudaError_t error = add_listed(place, a, room, &from);

    if (error == cudaSuccess)
        error = add_listed(place, b, room, &to);
    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&empty, graph, &from, 1);
    if (error == cudaSuccess)
        error = edges_add(graph, &empty, &to, &full, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++) { /* the edge comes, goes and comes again */
        const struct pair_of_nodes edges[3] = { { from, empty }, { empty, to }, { from, to } };
        error = edges_add(graph, &from, &to, &full, 1);
        *wrong |= edges_differ(graph, edges, 3) | nodes_differ(edges_out_of_node, from, to, empty) | nodes_differ(edges_into_node, to, from, empty);
        if (error == cudaSuccess && i == 0)
            error = edges_remove(graph, &from, &to, &full, 1);
        *wrong |= i == 0 && (edges_differ(graph, edges, 2) | nodes_differ(edges_out_of_node, from, empty, NULL) |
                             nodes_differ(edges_into_node, to, empty, NULL));
    }
    left.from = from;
    left.to = to;
    if (error == cudaSuccess)
        error = cudaGraphDestroyNode(empty);
    *wrong |= edges_differ(graph, &left, 1) | nodes_differ(edges_out_of_node, from, to, NULL) | nodes_differ(edges_into_node, to, from, NULL);
    if (a == NODE_KINDS) /* that a conditional node may be destroyed is not said */
        return error;
    if (error == cudaSuccess)
        error = cudaGraphDestroyNode(from);
    *wrong |= edges_differ(graph, NULL, 0) | nodes_differ(edges_into_node, to, NULL, NULL);
    return error;
}

/* Whether another edge than this one is told between the two kernels, by either of them. */
static unsigned data_differs(cudaGraphNode_t first, cudaGraphNode_t second, cudaGraphEdgeData data)
{
    cudaGraphNode_t after[2], before[2];
    cudaGraphEdgeData out[2], in[2];
    size_t outs = 2, ins = 2;

    if (edges_out_of_node(first, after, out, &outs) != cudaSuccess || edges_into_node(second, before, in, &ins) != cudaSuccess)
        return 1;
    return outs != 1 || after[0] != second || memcmp(&out[0], &data, sizeof(data)) != 0 || ins != 1 || before[0] != first ||
           memcmp(&in[0], &data, sizeof(data)) != 0;
}

/* A kernel that is added after another one by an edge with data, which new parameters leave as it is and its data removes. */
static cudaError_t ask_added_with_data(const struct place *place, cudaGraphEdgeData data, unsigned *wrong)
{
    static struct kernel_args args = PDL_ZERO;
    struct cudaGraphNodeParams params = PDL_ZERO;
    struct cudaKernelNodeParams other;
    cudaGraphNode_t first, second;
    void *values[1];
    cudaError_t error = ask_add_kernel(&first, place->graph, (const void *)SYMBOL(readback_nothing), &args, 1);

    values[0] = &args;
    params = ask_general_kernel((const void *)SYMBOL(readback_nothing), values);
    if (error == cudaSuccess)
        error = edges_add_node(&second, place->graph, &first, &data, 1, &params);
    *wrong |= error == cudaSuccess && data_differs(first, second, data);
    other = one_block_node((const void *)SYMBOL(readback_nothing), 2, values);
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetParams(first, &other);
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetParams(second, &other);
    *wrong |= error == cudaSuccess && data_differs(first, second, data);
    if (error == cudaSuccess)
        error = edges_remove(place->graph, &first, &second, &data, 1);
    *wrong |= error == cudaSuccess && (nodes_differ(edges_out_of_node, first, NULL, NULL) | nodes_differ(edges_into_node, second, NULL, NULL));
    return error;
}

#define STAR 3u                /* nodes before a kernel, and after it */

static cudaError_t add_to_star(const struct place *place, int is_empty, cudaGraphNode_t *node)
{
    static struct kernel_args args = PDL_ZERO;

    return is_empty ? cudaGraphAddEmptyNode(node, place->graph, NULL, 0)
                    : ask_add_kernel(node, place->graph, (const void *)SYMBOL(readback_nothing), &args, 1);
}

/* Whether other nodes are told than these, but for the one that is lost, or other data of their edges. */
static unsigned star_differs(list_fn list, cudaGraphNode_t of, const cudaGraphNode_t *node, const cudaGraphEdgeData *data, unsigned lost)
{
    cudaGraphNode_t told[STAR];
    cudaGraphEdgeData of_told[STAR];
    size_t count = STAR, i;
    unsigned k, found = 0;

    if (list(of, told, of_told, &count) != cudaSuccess || count != STAR - (lost < STAR))
        return 1;
    for (i = 0; i < count; i++)
        for (k = 0; k < STAR; k++)
            found += k != lost && told[i] == node[k] && memcmp(&of_told[i], &data[k], sizeof(data[k])) == 0;
    return found != count;
}

/* Three edges into a kernel and three out of it, with other data each. The nodes in this place go: the other edges keep what they have. */
static cudaError_t ask_star(const struct place *place, unsigned lost, unsigned *wrong)
{
    cudaGraphNode_t middle = NULL, before[STAR], after[STAR];
    cudaGraphEdgeData data[STAR];
    unsigned i;
    cudaError_t error = add_to_star(place, 0, &middle);

    for (i = 0; i < STAR && error == cudaSuccess; i++) {
        unsigned port = i == lost ? 0 : 1 + (i == STAR - 1 || (lost == STAR - 1 && i != 0));
        data[i] = edges_data(port, 0, port != 0);
        error = add_to_star(place, i == lost, &before[i]);
        if (error == cudaSuccess)
            error = add_to_star(place, i == lost, &after[i]);
        if (error == cudaSuccess)
            error = edges_add(place->graph, &before[i], &middle, &data[i], 1);
        if (error == cudaSuccess)
            error = edges_add(place->graph, &middle, &after[i], &data[i], 1);
    }
    if (error != cudaSuccess)
        return error;
    *wrong |= star_differs(edges_into_node, middle, before, data, STAR) | star_differs(edges_out_of_node, middle, after, data, STAR);
    error = cudaGraphDestroyNode(before[lost]);
    if (error == cudaSuccess)
        error = cudaGraphDestroyNode(after[lost]);
    *wrong |= star_differs(edges_into_node, middle, before, data, lost) | star_differs(edges_out_of_node, middle, after, data, lost);
    return error;
}

static void ask_stars_at(struct ask *ask, enum where where)
{
    unsigned lost, wrong = 0;
    cudaError_t error = cudaSuccess;

    for (lost = 0; lost < STAR && error == cudaSuccess; lost++) {
        struct place place = PDL_ZERO;
        unsigned differs = 0;
        error = open_place(&place, where);
        if (error == cudaSuccess)
            error = ask_star(&place, lost, &differs);
        if (place.outermost)
            (void)cudaGraphDestroy(place.outermost);
        wrong += differs;
    }
    ask_expect(ask, "edges of a kernel beside which nodes are destroyed", error, cudaSuccess);
    ask_expect_none(ask, "kernels beside which nodes were destroyed, with other edges then", wrong, STAR);
}

static void ask_kinds_at(struct ask *ask, enum where where, const struct node_room *room)
{
    unsigned a, b, wrong = 0, asked = 0, port;
    int conditions = has_conditions();
    cudaError_t error = cudaSuccess;

    for (a = 0; a < LISTED_KINDS; a++)
        for (b = 0; b < LISTED_KINDS && error == cudaSuccess; b++) {
            struct place place = PDL_ZERO;
            unsigned differs = 0;
            if (!may_be_there(where, a, conditions) || !may_be_there(where, b, conditions))
                continue;
            error = open_place(&place, where);
            if (error == cudaSuccess)
                error = ask_two_kinds(&place, a, b, room, &differs);
            for (port = 0; port < 3 && error == cudaSuccess; port++)
                error = ask_added_with_data(&place, edges_data(port, 0, port != 0), &differs);
            if (where != IN_BODY && error == cudaSuccess)
                error = ask_added_with_data(&place, edges_completion(), &differs);
            if (place.outermost)
                (void)cudaGraphDestroy(place.outermost);
            wrong += differs;
            asked++;
        }
    ask_expect(ask, where_name[where], error, cudaSuccess);
    ask_expect_none(ask, where_name[where], wrong, asked);
}

static void ask_kinds(struct ask *ask)
{
    struct node_room room = PDL_ZERO;
    unsigned where;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(readback_nothing));

    if (error == cudaSuccess)
        error = ask_completion_edges((const void *)SYMBOL(readback_nothing));
    ask_expect(ask, "memory and an event of nodes", error, cudaSuccess);
    for (where = 0; where < WHERES && error == cudaSuccess; where++)
        if (where != IN_BODY || has_conditions()) {
            ask_kinds_at(ask, (enum where)where, &room);
            ask_stars_at(ask, (enum where)where);
        }
    ask_close_room(&room);
}

#endif
