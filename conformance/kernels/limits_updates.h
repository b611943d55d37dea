/* limits_updates.h - the pair of limits.cu with graphs of other shapes, nodes and edges than those that they are to update. */
#ifndef LIMITS_UPDATES_H_INCLUDED
#define LIMITS_UPDATES_H_INCLUDED

#define UPDATE_NODES 4u

struct shape {                   /* a graph of kernels, and what becomes of an executable graph of the first shape that is updated from it */
    const char *what;
    unsigned nodes, edges, from_to[3][2];
    unsigned empty, cooperative; /* a bit for each node */
    int refused;
    enum cudaGraphExecUpdateResult result;
};

static const struct shape shapes[] = {
    { "the same", 3, 2, { { 0, 1 }, { 1, 2 } }, 0, 0, 0, cudaGraphExecUpdateSuccess },
    { "a node more", 4, 3, { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 0, 0, 1, cudaGraphExecUpdateErrorTopologyChanged },
    { "a node less", 2, 1, { { 0, 1 } }, 0, 0, 1, cudaGraphExecUpdateErrorTopologyChanged },
    { "an edge more", 3, 3, { { 0, 1 }, { 1, 2 }, { 0, 2 } }, 0, 0, 1, cudaGraphExecUpdateErrorTopologyChanged },
    { "an edge less", 3, 1, { { 0, 1 } }, 0, 0, 1, cudaGraphExecUpdateErrorTopologyChanged },
    { "an edge from another node", 3, 2, { { 0, 1 }, { 0, 2 } }, 0, 0, 1, cudaGraphExecUpdateErrorTopologyChanged },
    { "an empty node instead of a kernel", 3, 2, { { 0, 1 }, { 1, 2 } }, 4, 0, 1, cudaGraphExecUpdateErrorNodeTypeChanged },
    { "a cooperative kernel instead of one that is not", 3, 2, { { 0, 1 }, { 1, 2 } }, 0, 2, 1, cudaGraphExecUpdateErrorAttributesChanged },
};

static cudaError_t fill_shape(cudaGraph_t graph, const struct shape *shape, unsigned port)
{
    struct kernel_args args = PDL_ZERO;
    cudaGraphEdgeData data = edges_data(port, 0, port != 0), full = edges_data(0, 0, 0);
    cudaLaunchAttributeValue cooperative = PDL_ZERO;
    cudaGraphNode_t node[UPDATE_NODES];
    cudaError_t error = cudaSuccess;
    unsigned i;

    cooperative.cooperative = 1;
    for (i = 0; i < shape->nodes && error == cudaSuccess; i++) {
        error = shape->empty >> i & 1 ? cudaGraphAddEmptyNode(&node[i], graph, NULL, 0)
                                      : ask_add_kernel(&node[i], graph, (const void *)SYMBOL(limits_count), &args, 1);
        if (error == cudaSuccess && shape->cooperative >> i & 1)
            error = cudaGraphKernelNodeSetAttribute(node[i], cudaLaunchAttributeCooperative, &cooperative);
    }
    for (i = 0; i < shape->edges && error == cudaSuccess; i++) {
        unsigned to = shape->from_to[i][1];
        error = edges_add(graph, &node[shape->from_to[i][0]], &node[to], shape->empty >> to & 1 ? &full : &data, 1);
    }
    return error;
}

/* Where the shape is: an update compares what lies inside, too. */
enum inside {
    IN_GRAPH, IN_CHILD, IN_CHILD_OF_CHILD,
#if CUDART_VERSION >= 12040
    IN_BODY,
#endif
#if CUDART_VERSION >= 12080
    IN_OTHER_BODY,
#endif
    INSIDES
};
static const char *const inside_name[] = { "", " in a child graph", " in a child graph's child graph", " in a body",
                                           " in a conditional node's second body" };

#if CUDART_VERSION >= 12080
/* A conditional node whose first body has always the same shape. */
static cudaError_t fill_other_body(cudaGraph_t graph, const struct shape *shape, unsigned port)
{
    cudaGraphConditionalHandle handle = 0;
    cudaGraph_t body[2];
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);

    if (error == cudaSuccess)
        error = ask_add_conditional(&node, graph, handle, cudaGraphCondTypeIf, 2, body);
    if (error == cudaSuccess)
        error = fill_shape(body[0], &shapes[0], port);
    return error == cudaSuccess ? fill_shape(body[1], shape, port) : error;
}
#endif

static cudaError_t add_child_of_shape(cudaGraph_t graph, const struct shape *shape, unsigned port, unsigned deep)
{
    cudaGraphNode_t node;
    cudaGraph_t child = NULL;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = deep > 1 ? add_child_of_shape(child, shape, port, deep - 1) : fill_shape(child, shape, port);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child);
    if (child)
        (void)cudaGraphDestroy(child);
    return error;
}

static cudaError_t make_shape(cudaGraph_t *graph, const struct shape *shape, unsigned port, enum inside inside)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error != cudaSuccess || inside == IN_GRAPH)
        return error == cudaSuccess ? fill_shape(*graph, shape, port) : error;
#if CUDART_VERSION >= 12040
    if (inside == IN_BODY) {
        cudaGraphNode_t node;
        cudaGraph_t body;
        error = ask_add_if(&node, *graph, *graph, 1, &body);
        return error == cudaSuccess ? fill_shape(body, shape, port) : error;
    }
#endif
#if CUDART_VERSION >= 12080
    if (inside == IN_OTHER_BODY)
        return fill_other_body(*graph, shape, port);
#endif
    return add_child_of_shape(*graph, shape, port, inside == IN_CHILD_OF_CHILD ? 2 : 1);
}

static void ask_update(struct ask *ask, const struct shape *shape, unsigned port, enum inside inside)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t graph[2] = { NULL, NULL };
    cudaGraphExec_t exec = NULL;
    cudaError_t error = make_shape(&graph[0], &shapes[0], port, inside);
    char text[144];

    if (error == cudaSuccess)
        error = make_shape(&graph[1], shape, port, inside);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph[0], 0);
    snprintf(text, sizeof(text), "an update by edges of port %u with %s%s", port, shape->what, inside_name[inside]);
    ask_expect(ask, text, error, cudaSuccess);
    if (error == cudaSuccess) {
        info.result = cudaGraphExecUpdateError; /* neither of the answers */
        error = cudaGraphExecUpdate(exec, graph[1], &info);
        (void)cudaGetLastError();
        ask_expect(ask, text, error, shape->refused ? cudaErrorGraphExecUpdateFailure : cudaSuccess);
        ask_expect_number(ask, text, (long)info.result, (long)shape->result);
        (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(graph[0]);
    (void)cudaGraphDestroy(graph[1]);
}

#define OTHER_TYPES (NODE_WAIT + 1u) /* each kind up to it is a type of its own */

/* "A node type changed": of graphs of one node each, by every two types. */
static void ask_other_type(struct ask *ask, const struct node_room *room, unsigned from, unsigned to)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t graph[2] = { NULL, NULL };
    cudaGraphNode_t node[2];
    cudaGraphExec_t exec = NULL;
    char text[96];
    unsigned i;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = cudaGraphCreate(&graph[i], 0);
        if (error == cudaSuccess)
            error = ask_add(&node[i], graph[i], (enum node_kind)(i ? to : from), room);
    }
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph[0], 0);
    snprintf(text, sizeof(text), "an update of a node: %s, now %s", node_kind_name[from], node_kind_name[to]);
    ask_expect(ask, text, error, cudaSuccess);
    if (error == cudaSuccess) {
        error = cudaGraphExecUpdate(exec, graph[1], &info);
        (void)cudaGetLastError();
        ask_expect(ask, text, error, cudaErrorGraphExecUpdateFailure);
        ask_expect_number(ask, text, (long)info.result, (long)cudaGraphExecUpdateErrorNodeTypeChanged);
        (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(graph[0]);
    (void)cudaGraphDestroy(graph[1]);
}

static void ask_other_types(struct ask *ask)
{
    struct node_room room = PDL_ZERO;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(limits_count));
    unsigned from, to;

    ask_expect(ask, "memory and an event of nodes", error, cudaSuccess);
    for (from = 0; from < OTHER_TYPES && error == cudaSuccess; from++)
        for (to = 0; to < OTHER_TYPES; to++)
            if (from != to)
                ask_other_type(ask, &room, from, to);
    ask_close_room(&room);
}

/* What nodes have beside whether they are cooperative: nothing; a priority, given first or last; so a memory-sync domain */
#define LENT_BESIDES 5u

static cudaError_t graph_of_one(cudaGraph_t *graph, cudaGraphNode_t *node, int cooperative, unsigned beside)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attrs[2];
    unsigned last = beside % 2, i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    attrs[last] = cooperatively();
    attrs[last].val.cooperative = cooperative;
    attrs[1 - last] = beside < 3 ? of_priority(0) : in_remote_domain();
    if (error == cudaSuccess)
        error = ask_add_kernel(node, *graph, (const void *)SYMBOL(limits_count), &args, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        if (beside || i == last)
            error = cudaGraphKernelNodeSetAttribute(*node, attrs[i].id, &attrs[i].val);
    return error;
}

/* Updates the executable graph of a node that is as cooperative as this one tells: it is taken, if the node is, too. */
static cudaError_t update_as_told(cudaGraph_t graph, cudaGraphNode_t node, unsigned beside)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaLaunchAttributeValue told = PDL_ZERO;
    cudaGraph_t other = NULL;
    cudaGraphNode_t alike;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &told);

    if (error == cudaSuccess)
        error = graph_of_one(&other, &alike, told.cooperative, beside);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, other, 0);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(exec, graph, &info);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (other)
        (void)cudaGraphDestroy(other);
    return error;
}

/* A node that has the attributes of another one is as cooperative as it tells. */
static void ask_lent_attributes(struct ask *ask)
{
    cudaError_t error = cudaSuccess;
    unsigned beside, i;

    for (beside = 0; beside < LENT_BESIDES && error == cudaSuccess; beside++) {
        cudaGraph_t graph[2] = { NULL, NULL };
        cudaGraphNode_t node[2];
        for (i = 0; i < 2 && error == cudaSuccess; i++)
            error = graph_of_one(&graph[i], &node[i], i != 0, beside);
        if (error == cudaSuccess)
            error = cudaGraphKernelNodeCopyAttributes(node[0], node[1]); /* whichever of them changes (AMB-15) */
        for (i = 0; i < 2 && error == cudaSuccess; i++)
            error = update_as_told(graph[i], node[i], beside);
        for (i = 0; i < 2; i++)
            if (graph[i])
                (void)cudaGraphDestroy(graph[i]);
    }
    ask_expect(ask, "an update with a node that has another one's attributes, and is as cooperative as before", error, cudaSuccess);
    (void)cudaGetLastError();
}

/* The last one is a second body, which came later. */
static int is_offered(enum inside inside) { return (int)inside <= (int)IN_CHILD_OF_CHILD + 1 || has_version(12080); }

static void ask_updates(struct ask *ask)
{
    unsigned inside, port, i;

    ask_other_types(ask);
    ask_lent_attributes(ask);
    for (inside = 0; inside < INSIDES && is_offered((enum inside)inside); inside++)
        for (port = 0; port < 2; port++)
            for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
                ask_update(ask, &shapes[i], port, (enum inside)inside);
}

#endif
