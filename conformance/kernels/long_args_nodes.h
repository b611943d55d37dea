/* long_args_nodes.h - kernels with long arguments as nodes of graphs: added, changed, cloned, updated, in child graphs, bodies and
 * loops. */
#ifndef LONG_ARGS_NODES_H_INCLUDED
#define LONG_ARGS_NODES_H_INCLUDED

enum long_way { WAY_ADDED, WAY_SET, WAY_SET_IN_CLONE, WAY_CLONED, WAY_EXEC, WAY_EXEC_DISABLED, WAY_ENABLED, WAY_UPDATE, WAY_CHILD, WAY_GRANDCHILD,
                WAY_CHILD_UPDATED, WAY_CHILD_GIVEN, WAY_SET_IN_CHILD, WAY_CAPTURED, WAY_BODY, WAY_LOOP, WAY_GENERAL, WAY_GENERAL_EXEC, LONG_WAYS };
static const char *const way_names[LONG_WAYS] = { "a node", "cudaGraphKernelNodeSetParams", "cudaGraphKernelNodeSetParams in a clone",
                                                  "cudaGraphClone", "cudaGraphExecKernelNodeSetParams",
                                                  "cudaGraphExecKernelNodeSetParams of a disabled node", "cudaGraphNodeSetEnabled",
                                                  "cudaGraphExecUpdate", "cudaGraphAddChildGraphNode", "a child of a child",
                                                  "cudaGraphExecUpdate of a child graph", "cudaGraphExecChildGraphNodeSetParams",
                                                  "cudaGraphKernelNodeSetParams in a child graph",
                                                  "cudaGraphExecKernelNodeSetParams of a captured node", "a body", "a loop",
                                                  "cudaGraphNodeSetParams", "cudaGraphExecNodeSetParams" };
#define WAYS_ASKED (CUDART_VERSION >= 12030 ? LONG_WAYS : WAY_GENERAL)

struct given_args {            /* what a call is given: a list of one, or the piece */
    void *values[1];
    struct piece piece;
};

/* Of every third node, and of every third one that gets other arguments, they come in one piece. */
static struct cudaKernelNodeParams params_of(const struct long_ask *l, struct all_args *args, int other, struct given_args *given)
{
    struct cudaKernelNodeParams params = one_block_node(l->taker->kernel, ASK_WORDS / 2, given->values);

    given->values[0] = args;
    in_piece(&given->piece, args, bytes_of(l));
    if ((other ? l->trial / 3 : l->trial) % 3 == 2) {
        params.kernelParams = NULL;
        params.extra = given->piece.extra;
    }
    return params;
}

/* The kernel that works, and after a programmatic edge the one with long arguments; every other graph has that one as its first node. */
static cudaError_t add_long(struct long_ask *l, struct all_args *args, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    struct given_args given;
    struct cudaKernelNodeParams params = params_of(l, args, 0, &given);
    cudaGraphNode_t work = NULL;
    unsigned turn;
    cudaError_t error = cudaSuccess;

    for (turn = 0; turn < 2 && error == cudaSuccess; turn++)
        error = turn == l->trial % 2 ? cudaGraphAddKernelNode(node, graph, NULL, 0, &params)
                                     : ask_add_kernel(&work, graph, (const void *)SYMBOL(long_args_work), &l->args.head, ASK_WORDS / 2);
    return error == cudaSuccess ? edges_add(graph, &work, node, &data, 1) : error;
}

/* The graph becomes a child of a new one. */
static cudaError_t put_inside(cudaGraph_t *graph)
{
    cudaGraph_t before = *graph;
    cudaGraphNode_t child;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&child, *graph, NULL, 0, before);
    (void)cudaGraphDestroy(before);
    return error;
}

/* Of a graph that begins with the kernel that works, the other node. */
static cudaError_t find_long(cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphNode_t nodes[2], root;
    size_t two = 2, one = 1;
    cudaError_t error = cudaGraphGetNodes(graph, nodes, &two);

    if (error == cudaSuccess)
        error = cudaGraphGetRootNodes(graph, &root, &one);
    if (error == cudaSuccess && (two != 2 || one != 1))
        error = cudaErrorUnknown;
    *node = error == cudaSuccess && nodes[0] == root ? nodes[1] : nodes[0];
    return error;
}

/* The only node of a graph. */
static cudaError_t find_child(cudaGraph_t graph, cudaGraphNode_t *child)
{
    size_t one = 1;
    cudaError_t error = cudaGraphGetNodes(graph, child, &one);

    return error == cudaSuccess && one != 1 ? cudaErrorUnknown : error;
}

static cudaError_t capture_long(struct long_ask *l, struct all_args *args, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = l->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(long_args_work), &l->args.head, ASK_WORDS / 2, stream, NULL, 0);
    if (error == cudaSuccess)
        error = launch_given(l->taker->kernel, args, 1, ASK_WORDS / 2, 0, stream, &attribute, 1);
    end = cudaStreamEndCapture(stream, graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? find_long(*graph, node) : error;
}

#if CUDART_VERSION >= 12040
#define LOOP_ROUNDS 3u

/* After what is told stand the handle of the loop and how many rounds have ended. */
KERNEL(long_args_goes_on)
{
    uint32_t *loop = args.seen + TOLD_WORDS, ended = k_load_relaxed(loop + 2) + 1;

    k_store_relaxed(loop + 2, ended);
    k_set_condition(k_load64_relaxed(loop), ended < LOOP_ROUNDS);
}

/* Each round tells all its arguments again, where the one before did. */
static cudaError_t add_long_in_loop(struct long_ask *l, struct all_args *args, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t loop, last;
    cudaGraph_t body = NULL;
    cudaError_t error = ask_add_loop(&loop, graph, &handle, &body);

    if (error == cudaSuccess)
        error = add_long(l, args, body, node);
    if (error == cudaSuccess)
        error = ask_add_kernel(&last, body, (const void *)SYMBOL(long_args_goes_on), &l->args.head, 1);
    if (error != cudaSuccess)
        return error;
    memcpy(l->told + TOLD_WORDS, &handle, sizeof(handle));
    l->told[TOLD_WORDS + 2] = 0;
    return edges_add(body, node, &last, &full, 1);
}
#endif

static cudaError_t long_graph(struct long_ask *l, enum long_way way, struct all_args *args, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    unsigned depth = way == WAY_GRANDCHILD ? 2 : way >= WAY_CHILD && way <= WAY_SET_IN_CHILD;
    cudaError_t error;

    if (way == WAY_CAPTURED)
        return capture_long(l, args, graph, node);
    error = cudaGraphCreate(graph, 0);

#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && way == WAY_LOOP && has_conditions())
        return add_long_in_loop(l, args, *graph, node);
    if (error == cudaSuccess && way == WAY_BODY && has_conditions()) {
        cudaGraph_t body = NULL;
        cudaGraphNode_t condition;
        error = ask_add_if(&condition, *graph, *graph, 1, &body);
        return error == cudaSuccess ? add_long(l, args, body, node) : error;
    }
#endif
    if (error == cudaSuccess)
        error = add_long(l, args, *graph, node);
    for (; depth > 0 && error == cudaSuccess; depth--)
        error = put_inside(graph);
    return error;
}

/* Turns *graph and *node into those that are run. */
static cudaError_t change_graph(struct long_ask *l, enum long_way way, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    struct given_args given;
    struct cudaKernelNodeParams params = params_of(l, &l->args, 1, &given);
    cudaError_t error = cudaSuccess;
    cudaGraph_t inside;

    if (way == WAY_SET_IN_CHILD) {
        error = find_child(*graph, node);
        if (error == cudaSuccess)
            error = cudaGraphChildGraphNodeGetGraph(*node, &inside);
        if (error == cudaSuccess)
            error = find_long(inside, node);
    }
#if CUDART_VERSION >= 12030
    if (way == WAY_GENERAL) {
        struct cudaGraphNodeParams general = ask_generally(&params);
        return cudaGraphNodeSetParams(*node, &general);
    }
#endif
    if (way == WAY_CLONED || way == WAY_SET_IN_CLONE)
        error = ask_clone_instead(graph, way == WAY_SET_IN_CLONE ? node : NULL);
    if (error == cudaSuccess && (way == WAY_SET || way == WAY_SET_IN_CLONE || way == WAY_SET_IN_CHILD))
        error = cudaGraphKernelNodeSetParams(*node, &params);
    return error;
}

/* child: the node whose graph is given, for the way that gives one. */
static cudaError_t update_long(struct long_ask *l, enum long_way way, cudaGraphExec_t exec, cudaGraphNode_t child)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t other = NULL;
    cudaGraphNode_t node;
    cudaError_t error = long_graph(l, way == WAY_CHILD_GIVEN ? WAY_ADDED : way, &l->args, &other, &node);

    if (error == cudaSuccess)
        error = way == WAY_CHILD_GIVEN ? cudaGraphExecChildGraphNodeSetParams(exec, child, other) : cudaGraphExecUpdate(exec, other, &info);
    (void)cudaGraphDestroy(other);
    return error;
}

/* The graph was launched while the node is disabled: the other kernel has worked, and this one told nothing. */
static cudaError_t look_at_rest(struct long_ask *l)
{
    cudaError_t error = cudaStreamSynchronize(l->ask->stream);
    volatile const uint32_t *told = l->told;
    unsigned i, ran = 0;

    for (i = 0; i < TOLD_WORDS; i++)
        ran |= told[i] != 0;
    l->wrong += error == cudaSuccess && (ran || work_is_stale(l->room));
    return error;
}

/* The same of the executable graph. While a node is disabled, the graph is launched once without it. */
static cudaError_t change_exec(struct long_ask *l, enum long_way way, cudaGraphExec_t exec, cudaGraphNode_t node)
{
    int rests = way == WAY_ENABLED || way == WAY_EXEC_DISABLED;
    struct given_args given;
    struct cudaKernelNodeParams params = params_of(l, &l->args, 1, &given);
    cudaError_t error = way == WAY_UPDATE || way == WAY_CHILD_UPDATED ? update_long(l, way, exec, NULL) : cudaSuccess;

#if CUDART_VERSION >= 12030
    if (way == WAY_GENERAL_EXEC) {
        struct cudaGraphNodeParams general = ask_generally(&params);
        return cudaGraphExecNodeSetParams(exec, node, &general);
    }
#endif
    if (way == WAY_CHILD_GIVEN)
        return update_long(l, way, exec, node);

    if (rests) {
        error = cudaGraphNodeSetEnabled(exec, node, 0);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(exec, l->ask->stream);
    }
    if (error == cudaSuccess && (way == WAY_EXEC || way == WAY_EXEC_DISABLED || way == WAY_CAPTURED))
        error = cudaGraphExecKernelNodeSetParams(exec, node, &params);
    if (error == cudaSuccess && rests)
        error = look_at_rest(l);
    if (error == cudaSuccess && rests) {
        prepare_trial(l->room, l->trial);
        error = cudaGraphNodeSetEnabled(exec, node, 1);
    }
    return error;
}

static int gives_others(enum long_way way)
{
    return way == WAY_SET || way == WAY_SET_IN_CLONE || way == WAY_EXEC || way == WAY_EXEC_DISABLED || way == WAY_UPDATE ||
           (way >= WAY_CHILD_UPDATED && way <= WAY_CAPTURED) || way >= WAY_GENERAL;
}

/* A node that gets other parameters is every other time one of a kernel with fewer arguments until then. */
static cudaError_t run_node(struct long_ask *l, enum long_way way, unsigned which)
{
    int has_other = gives_others(way);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    next_args(l);
    l->taker -= has_other && which % 2;
    error = long_graph(l, way, has_other ? &l->other : &l->args, &graph, &node);
    l->taker = &takers[which];
    if (error == cudaSuccess)
        error = change_graph(l, way, &graph, &node);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && way == WAY_CHILD_GIVEN)
        error = find_child(graph, &node);
    if (error == cudaSuccess)
        error = change_exec(l, way, exec, node);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, l->ask->stream);
    if (error == cudaSuccess)
        error = look_at_args(l);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_each_node(struct long_ask *l)
{
    unsigned way, i;

    for (way = 0; way < (unsigned)WAYS_ASKED; way++) {
        cudaError_t error = cudaSuccess;
        for (i = 0; i < 2 * l->takers && error == cudaSuccess; i++) {
            l->taker = &takers[i / 2];
            error = run_node(l, (enum long_way)way, i / 2);
        }
        ask_expect(l->ask, way_names[way], error, cudaSuccess);
    }
}

#endif
