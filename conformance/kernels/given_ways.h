/* given_ways.h - for given.cu: the calls that make a node do something else than it did, and graphs in which each of them is asked. */
#ifndef GIVEN_WAYS_H_INCLUDED
#define GIVEN_WAYS_H_INCLUDED

/* WAY_DISABLED, WAY_UPDATE_DISABLED: the node is disabled while it is given parameters. INSIDE: in a child graph of what WAY_UPDATE and WAY_CHILD
 * change. */
enum way { WAY_ADDED, WAY_CLONED, WAY_SET, WAY_SET_IN_CLONE, WAY_EXEC, WAY_DISABLED, WAY_UPDATE, WAY_UPDATE_DISABLED,
           WAY_UPDATE_INSIDE, WAY_CHILD, WAY_CHILD_INSIDE, WAY_GENERAL_ADDED, WAY_GENERAL, WAY_GENERAL_EXEC, WAYS };
static const char *const way_names[WAYS] = { "a node", "cudaGraphClone", "cudaGraphKernelNodeSetParams", "cudaGraphKernelNodeSetParams in a clone",
                                             "cudaGraphExecKernelNodeSetParams", "cudaGraphExecKernelNodeSetParams of a disabled node",
                                             "cudaGraphExecUpdate", "cudaGraphExecUpdate of a disabled node", "cudaGraphExecUpdate of a child graph",
                                             "cudaGraphExecChildGraphNodeSetParams", "cudaGraphExecChildGraphNodeSetParams of a child of it",
                                             "cudaGraphAddNode", "cudaGraphNodeSetParams", "cudaGraphExecNodeSetParams" };
#define WAYS_ASKED (CUDART_VERSION >= 12030 ? WAYS : WAY_GENERAL_ADDED)

/* A kind of node, and the calls that make and change one. `which` is the number of what it is to do: of a shape, or of a memset. */
struct subject {
    cudaError_t (*add)(struct given *g, cudaGraph_t graph, unsigned which, cudaGraphNode_t *node);
    cudaError_t (*set)(struct given *g, cudaGraphNode_t node, unsigned which);
    cudaError_t (*set_exec)(struct given *g, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned which);
#if CUDART_VERSION >= 12030
    void (*fill_general)(struct given *g, struct cudaGraphNodeParams *params, unsigned which);
#endif
    cudaError_t (*look)(struct given *g, unsigned which); /* compares what the last launch left with that, and clears it */
    int may_be_refused;         /* new parameters of an executable graph, which then does what it did */
};

static void fill_params(struct given *g, struct cudaKernelNodeParams *params, unsigned which)
{
    const struct shape *s = &shapes[which];

    params->func = (void *)(uintptr_t)kernel_of(s);
    params->gridDim = sizes(s->grid);
    params->blockDim = sizes(s->block);
    params->sharedMemBytes = s->shared;
    params->kernelParams = g->values;
}

static cudaError_t shape_add(struct given *g, cudaGraph_t graph, unsigned which, cudaGraphNode_t *node)
{
    struct cudaKernelNodeParams params = PDL_ZERO;

    fill_params(g, &params, which);
    return cudaGraphAddKernelNode(node, graph, NULL, 0, &params);
}

static cudaError_t shape_set(struct given *g, cudaGraphNode_t node, unsigned which)
{
    struct cudaKernelNodeParams params = PDL_ZERO;

    fill_params(g, &params, which);
    return cudaGraphKernelNodeSetParams(node, &params);
}

static cudaError_t shape_set_exec(struct given *g, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned which)
{
    struct cudaKernelNodeParams params = PDL_ZERO;

    fill_params(g, &params, which);
    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
}

#if CUDART_VERSION >= 12030
static void shape_fill_general(struct given *g, struct cudaGraphNodeParams *params, unsigned which)
{
    struct cudaKernelNodeParams plain = PDL_ZERO;

    fill_params(g, &plain, which);
    *params = ask_generally(&plain);
}
#endif

static cudaError_t shape_look(struct given *g, unsigned which) { return look_at_shape(g, &shapes[which]); }

static const struct subject shape_subject = { shape_add, shape_set, shape_set_exec,
#if CUDART_VERSION >= 12030
                                              shape_fill_general,
#endif
                                              shape_look, 0 };

static cudaError_t give_clusters(cudaGraphNode_t node, unsigned which)
{
    cudaLaunchAttribute attribute = in_clusters(1);

    attribute.val.clusterDim.x = shapes[which].cluster[0];
    attribute.val.clusterDim.y = shapes[which].cluster[1];
    attribute.val.clusterDim.z = shapes[which].cluster[2];
    return cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
}

/* Where the kernels tell that are added from now on. An update that may change clusters may be refused, and then nothing changes. */
static void tell_elsewhere(struct given *g, int elsewhere) { g->values[0] = elsewhere && !g->clusters ? &g->elsewhere : &g->args; }

static cudaError_t add_asked(struct given *g, const struct subject *of, unsigned which, int generally, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaError_t error = cudaErrorNotSupported;

    tell_elsewhere(g, g->before && !of->may_be_refused);
#if CUDART_VERSION >= 12030
    if (generally) {
        struct cudaGraphNodeParams general = PDL_ZERO;
        of->fill_general(g, &general, which);
        error = edges_add_node(node, graph, NULL, NULL, 0, &general);
    }
#endif
    if (!generally)
        error = of->add(g, graph, which, node);
    tell_elsewhere(g, 0);
    return error;
}

/* Another node of its kind. It has other parameters; a memset or a copy that is number 1 itself differs from it in its place alone. */
static cudaError_t add_other(struct given *g, const struct subject *of, unsigned which, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaError_t error;

    tell_elsewhere(g, 1);
    error = of->add(g, graph, of->may_be_refused ? 1 : (which + 1) % SHAPES, node);
    tell_elsewhere(g, 0);
    return error;
}

/* The parameters of a node that was added before it or after it are not to be taken for its own; of two kernels the second one follows the first. */
static cudaError_t add_pair(struct given *g, const struct subject *of, unsigned which, int generally, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t other = NULL;
    cudaError_t error = g->goes_first ? cudaSuccess : add_other(g, of, which, graph, &other);

    if (error == cudaSuccess)
        error = add_asked(g, of, which, generally, graph, node);
    if (error == cudaSuccess && g->goes_first)
        error = add_other(g, of, which, graph, &other);
    if (error != cudaSuccess || of->may_be_refused)
        return error;
    return g->goes_first ? edges_add(graph, node, &other, &full, 1) : edges_add(graph, &other, node, &full, 1);
}

/* A graph of the node, a kernel perhaps a cooperative one. */
static cudaError_t graph_of(struct given *g, const struct subject *of, unsigned which, int cooperative, int generally, cudaGraph_t *graph,
                            cudaGraphNode_t *node)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaError_t error = cudaGraphCreate(graph, 0);

    value.cooperative = 1;
    if (error == cudaSuccess)
        error = add_pair(g, of, which, generally, *graph, node);
    if (error == cudaSuccess && g->clusters)
        error = give_clusters(*node, which);
    return error == cudaSuccess && cooperative ? cudaGraphKernelNodeSetAttribute(*node, cudaLaunchAttributeCooperative, &value) : error;
}

/* The graph around one that holds the node, and the node of it that stands for that. */
static cudaError_t wrap(cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaGraph_t inner = *graph;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, *graph, NULL, 0, inner);
    (void)cudaGraphDestroy(inner);
    return error;
}

static cudaError_t update_with(cudaGraphExec_t exec, cudaGraph_t other)
{
    cudaGraphExecUpdateResultInfo info;

    return cudaGraphExecUpdate(exec, other, &info);
}

/* The cooperative attribute of a kernel that has been given parameters. */
static void expect_cooperative(struct given *g, cudaGraphNode_t node, int cooperative)
{
    cudaLaunchAttributeValue value = PDL_ZERO;

    ask_expect(g->ask, "a node's attribute", cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value), cudaSuccess);
    ask_expect_number(g->ask, "it is cooperative", value.cooperative, cooperative);
}

/* Gives the node of a graph, before that is made executable, other parameters. */
static cudaError_t give_node(struct given *g, const struct subject *of, enum way way, unsigned which, cudaGraphNode_t node)
{
    if (way == WAY_SET || way == WAY_SET_IN_CLONE)
        return of->set(g, node, which);
#if CUDART_VERSION >= 12030
    if (way == WAY_GENERAL) {
        struct cudaGraphNodeParams general = PDL_ZERO;
        of->fill_general(g, &general, which);
        return cudaGraphNodeSetParams(node, &general);
    }
#endif
    return cudaSuccess;
}

/* How many child graphs the node lies in. */
static unsigned depth_of(enum way way) { return way == WAY_CHILD_INSIDE ? 2 : way == WAY_CHILD || way == WAY_UPDATE_INSIDE; }

static int updates(enum way way) { return way >= WAY_UPDATE && way <= WAY_UPDATE_INSIDE; }
static int gives_child(enum way way) { return way == WAY_CHILD || way == WAY_CHILD_INSIDE; }

/* The node does nothing, neither what it did nor what it is given. */
static cudaError_t look_at_rest(struct given *g, cudaGraphExec_t exec)
{
    cudaError_t error = cudaGraphLaunch(exec, g->ask->stream);
    volatile const uint32_t *told = g->room->data;
    unsigned i, runs = 0;

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(g->ask->stream);
    for (i = 0; i < TOLD; i++)
        runs |= told[i] != 0xFFFFFFFFu;
    g->wrong += error == cudaSuccess && runs;
    g->trials++;
    return error;
}

/* Gives the disabled node what it did before. That changes nothing in the end: what it is given next replaces it. */
static cudaError_t give_first(struct given *g, const struct subject *of, unsigned from, int cooperative, cudaGraphExec_t exec, cudaGraphNode_t node,
                              int whole)
{
    cudaGraph_t same = NULL;
    cudaGraphNode_t inside = NULL;
    cudaError_t error;

    if (!whole)
        return of->set_exec(g, exec, node, from);
    error = graph_of(g, of, from, cooperative, 0, &same, &inside);
    if (error == cudaSuccess)
        error = update_with(exec, same);
    if (same)
        (void)cudaGraphDestroy(same);
    return error;
}

/* other: what the executable graph is to become; NULL: the node is given parameters of its own. In the second half of the turns it is given
 * its old ones first. A driver is known that fails where a disabled node is cooperative: rule EDGE-27b alone asks for it. */
static cudaError_t give_disabled(struct given *g, const struct subject *of, unsigned from, unsigned which, int cooperative, cudaGraphExec_t exec,
                                 cudaGraphNode_t node, cudaGraph_t other)
{
    cudaError_t given;

    ask_expect(g->ask, "a node that is disabled", cudaGraphNodeSetEnabled(exec, node, 0), cudaSuccess);
    if (g->goes_first && give_first(g, of, from, cooperative, exec, node, other != NULL) != cudaSuccess)
        (void)cudaGetLastError(); /* a memset or copy of rows may be refused */
    given = other ? update_with(exec, other) : of->set_exec(g, exec, node, which); /* may be refused: the caller then asks what the node did before */
    if (!cooperative)
        ask_expect(g->ask, "a graph of a disabled node", look_at_rest(g, exec), cudaSuccess);
    ask_expect(g->ask, "a node that is enabled", cudaGraphNodeSetEnabled(exec, node, 1), cudaSuccess);
    return given;
}

/* other: a graph of one node that does what the executable one is to do. */
static cudaError_t give_exec(struct given *g, const struct subject *of, enum way way, unsigned from, unsigned which, int cooperative,
                             cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t other)
{
    switch (way) {
    case WAY_EXEC: return of->set_exec(g, exec, node, which);
    case WAY_DISABLED:
    case WAY_UPDATE_DISABLED: return give_disabled(g, of, from, which, cooperative, exec, node, other);
    case WAY_UPDATE:
    case WAY_UPDATE_INSIDE: return update_with(exec, other);
    case WAY_CHILD:
    case WAY_CHILD_INSIDE: return cudaGraphExecChildGraphNodeSetParams(exec, node, other);
    default: break;
    }
#if CUDART_VERSION >= 12030
    if (way == WAY_GENERAL_EXEC) {
        struct cudaGraphNodeParams general = PDL_ZERO;
        of->fill_general(g, &general, which);
        return cudaGraphExecNodeSetParams(exec, node, &general);
    }
#endif
    return cudaSuccess;
}

/* In an executable graph that does `from`: gives its node other parameters, launches it, and looks. */
static cudaError_t run_given(struct given *g, const struct subject *of, enum way way, unsigned from, unsigned which, int cooperative,
                             cudaGraphExec_t exec, cudaGraphNode_t node)
{
    cudaGraph_t other = NULL;
    cudaGraphNode_t inside = NULL;
    unsigned depth = depth_of(way) - (gives_child(way) != 0);
    cudaError_t error = cudaSuccess;

    if (updates(way) || gives_child(way))
        error = graph_of(g, of, which, cooperative, 0, &other, &inside);
    for (; depth > 0 && error == cudaSuccess; depth--)
        error = wrap(&other, &inside);
    if (error != cudaSuccess)
        return error;
    error = give_exec(g, of, way, from, which, cooperative, exec, node, other);
    if (other)
        (void)cudaGraphDestroy(other);
    if (error != cudaSuccess && (of->may_be_refused || g->clusters)) {
        (void)cudaGetLastError();
        which = from;
        error = cudaSuccess;
    }
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, g->ask->stream);
    return error == cudaSuccess ? of->look(g, which) : error;
}

static int only_adds(enum way way) { return way == WAY_ADDED || way == WAY_CLONED || way == WAY_GENERAL_ADDED; }

/* A graph whose node does `from`, or for the ways that only add one `to`, and is to do `to` when it runs. */
static cudaError_t run_way(struct given *g, const struct subject *of, enum way way, unsigned from, unsigned to, int cooperative)
{
    int adds = only_adds(way);
    unsigned depth = depth_of(way);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    g->before = !adds && !g->same_args;
    error = graph_of(g, of, adds ? to : from, cooperative, way >= WAY_GENERAL_ADDED, &graph, &node);
    g->before = 0;
    for (; depth > 0 && error == cudaSuccess; depth--)
        error = wrap(&graph, &node);
    if (error == cudaSuccess && (way == WAY_SET_IN_CLONE || way == WAY_CLONED))
        error = ask_clone_instead(&graph, way == WAY_CLONED && of != &shape_subject ? NULL : &node);
    if (error == cudaSuccess)
        error = give_node(g, of, way, to, node);
    if (error == cudaSuccess && depth_of(way) == 0 && of == &shape_subject)
        expect_cooperative(g, node, cooperative);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = run_given(g, of, way, from, to, cooperative, exec, node);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Each way of giving parameters, from each of `count` to others; every other pair of kernels is cooperative. */
static void ask_ways(struct given *g, const struct subject *of, unsigned count)
{
    unsigned way, turn;

    for (way = 0; way < (unsigned)WAYS_ASKED; way++) {
        cudaError_t error = cudaSuccess;
        for (turn = 0; turn < 2 * count && error == cudaSuccess; turn++) {
            g->goes_first = turn / count;
            error = run_way(g, of, (enum way)way, turn % count, (turn + 1 + turn / count) % count, of == &shape_subject && turn / 2 % 2);
        }
        ask_expect(g->ask, way_names[way], error, cudaSuccess);
    }
}

/* Clusters belong to a node's attributes: they change with the graph, and not with the parameters. */
static void ask_clusters(struct given *g)
{
    static const enum way ways[] = { WAY_ADDED, WAY_CLONED, WAY_UPDATE, WAY_UPDATE_INSIDE, WAY_CHILD, WAY_CHILD_INSIDE };
    unsigned way, turn;

    g->goes_first = 0; /* both nodes tell the same words then: the one that is asked about has to be the last */
    g->clusters = 1;
    for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        cudaError_t error = cudaSuccess;
        for (turn = 0; turn < 2 * SHAPES && error == cudaSuccess; turn++)
            error = run_way(g, &shape_subject, ways[way], turn % SHAPES, (turn + 1 + turn / SHAPES) % SHAPES, 0);
        ask_expect(g->ask, "a node in clusters", error, cudaSuccess);
    }
    g->clusters = 0;
}

#endif
