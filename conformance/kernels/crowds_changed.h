/* crowds_changed.h - the part of crowds.cu with a pair of nodes of many blocks in an executable graph, or a graph, that is changed: one of the two,
 * or a node beside them; or as a whole, where the pair lies in a child graph or a body. */
#ifndef CROWDS_CHANGED_H_INCLUDED
#define CROWDS_CHANGED_H_INCLUDED

/* What is done with one of two nodes: it was left out and is enabled again; or it was made with one block and is given all of them, in the
 * executable graph or in the graph, by the call for kernels or by the one for nodes of every kind; or it was made with a function that neither
 * triggers nor waits, and is given its own, there or there. Or a node beside both, of another kind, is given what it has. */
enum changed {
    CHANGED_ENABLED, CHANGED_EXECUTABLE, CHANGED_GRAPH, CHANGED_EXECUTABLE_GENERALLY, CHANGED_GRAPH_GENERALLY, CHANGED_FUNCTION,
    CHANGED_GRAPH_FUNCTION, CHANGED_BESIDE
};
#define CHANGES (CHANGED_BESIDE + BESIDES)

static int changes_graph(unsigned change)
{
    return change == CHANGED_GRAPH || change == CHANGED_GRAPH_GENERALLY || change == CHANGED_GRAPH_FUNCTION;
}

static int changes_blocks(unsigned change) { return change >= CHANGED_EXECUTABLE && change <= CHANGED_GRAPH_GENERALLY; }
static int changes_function(unsigned change) { return change == CHANGED_FUNCTION || change == CHANGED_GRAPH_FUNCTION; }

/* Of the primary or the dependent: its function, and the other one of the same arguments, after which, or before which, nothing waits. */
static const void *own_function(unsigned dependent)
{
    return dependent ? (const void *)SYMBOL(crowds_dependent) : (const void *)SYMBOL(crowds_primary);
}

static const void *idle_function(unsigned dependent)
{
    return dependent ? (const void *)SYMBOL(crowds_plain) : (const void *)SYMBOL(crowds_tick);
}

/* The pair, of these functions and numbers of blocks, and its programmatic edge. */
static cudaError_t add_crowd_pair(struct crowd *crowd, cudaGraph_t graph, const void *const *function, const unsigned *blocks, cudaGraphNode_t *node)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    unsigned i;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = ask_add_kernel_after(&node[i], graph, NULL, 0, function[i], &crowd->args, blocks[i], 1);
    return error == cudaSuccess ? edges_add(graph, &node[0], &node[1], &data, 1) : error;
}

#if CUDART_VERSION >= 12030
static cudaError_t change_generally(enum changed change, cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
    struct cudaGraphNodeParams general = ask_generally(params);

    return changes_graph(change) ? cudaGraphNodeSetParams(node, &general) : cudaGraphExecNodeSetParams(exec, node, &general);
}
#endif

static cudaError_t change_node(struct crowd *crowd, enum changed change, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned dependent,
                               unsigned blocks)
{
    void *values[1] = { &crowd->args };
    struct cudaKernelNodeParams params = one_block_node(own_function(dependent), 1, values);
    cudaError_t error;

    params.gridDim.x = blocks;
#if CUDART_VERSION >= 12030
    if (change == CHANGED_EXECUTABLE_GENERALLY || change == CHANGED_GRAPH_GENERALLY)
        return change_generally(change, exec, node, &params);
#endif
    if (changes_graph(change))
        return cudaGraphKernelNodeSetParams(node, &params);
    if (change != CHANGED_ENABLED)
        return cudaGraphExecKernelNodeSetParams(exec, node, &params);
    error = cudaGraphNodeSetEnabled(exec, node, 0);
    return error == cudaSuccess ? cudaGraphNodeSetEnabled(exec, node, 1) : error;
}

/* Whether the executable graph runs once before a node of it is changed: in every second round of all changes. */
static int runs_before(const struct crowd *crowd, unsigned change)
{
    return (change == CHANGED_EXECUTABLE || change == CHANGED_EXECUTABLE_GENERALLY || change == CHANGED_FUNCTION) &&
           crowd->trials / (6 * CHANGES) % 2;
}

static cudaError_t run_before(struct crowd *crowd, cudaGraphExec_t exec, unsigned blocks)
{
    cudaError_t error = cudaGraphLaunch(exec, crowd->ask->stream);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(crowd->ask->stream);
    prepare_crowd(crowd, blocks);
    return error;
}

/* The pair as nodes, one of which is changed, or another one beside them. */
static cudaError_t run_changed_crowd(struct crowd *crowd, const struct node_room *room, unsigned blocks, unsigned which, unsigned change)
{
    enum node_kind kind = change < CHANGED_BESIDE ? NODE_KERNEL : kinds_beside[change - CHANGED_BESIDE];
    const void *function[2] = { own_function(0), own_function(1) };
    unsigned first[2] = { blocks, blocks };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[3];
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare_crowd(crowd, blocks);
    if (changes_blocks(change))
        first[which] = 1;
    if (changes_function(change))
        function[which] = idle_function(which);
    if (error == cudaSuccess)
        error = add_crowd_pair(crowd, graph, function, first, node);
    if (error == cudaSuccess && change >= CHANGED_BESIDE)
        error = ask_add(&node[2], graph, kind, room);
    if (error == cudaSuccess && changes_graph(change))
        error = change_node(crowd, (enum changed)change, NULL, node[which], which, blocks);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && runs_before(crowd, change))
        error = run_before(crowd, exec, blocks);
    if (error == cudaSuccess && change < CHANGED_BESIDE && !changes_graph(change))
        error = change_node(crowd, (enum changed)change, exec, node[which], which, blocks);
    if (error == cudaSuccess && change >= CHANGED_BESIDE)
        give_beside(exec, node[2], kind, room);
    error = end_crowd_graph(crowd, graph, exec, error);
    crowd->trials++;
    if (error == cudaSuccess)
        look_at_crowd(crowd);
    return error;
}

/* Where the pair lies in a graph that an update changes as a whole. */
enum pair_inside { INSIDE_GRAPH, INSIDE_CHILD, INSIDE_CHILD_OF_CHILD, INSIDE_BODY, INSIDES };

static cudaError_t make_inside(struct crowd *crowd, enum pair_inside inside, const unsigned *blocks, const void *const *function, cudaGraph_t *graph)
{
    cudaGraphNode_t node[2];
    cudaGraph_t place = NULL;
    cudaError_t error = cudaGraphCreate(graph, 0);

#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && inside == INSIDE_BODY)
        error = ask_add_if(&node[0], *graph, *graph, 1, &place);
#endif
    if (error == cudaSuccess && inside == INSIDE_GRAPH)
        place = *graph;
    if (error == cudaSuccess && place == NULL)
        error = ask_add_empty_child(&node[0], *graph, &place);
    if (error == cudaSuccess && inside == INSIDE_CHILD_OF_CHILD)
        error = ask_add_empty_child(&node[0], place, &place);
    return error == cudaSuccess ? add_crowd_pair(crowd, place, function, blocks, node) : error;
}

/* The executable graph was made with one block of the primary or of the dependent, or with more of the primary; or one of the two had a function
 * that neither triggers nor waits. */
#define BEFORES 5u
static cudaError_t run_updated_inside(struct crowd *crowd, unsigned blocks, unsigned before, enum pair_inside inside)
{
    unsigned now[2] = { blocks, blocks }, then[2] = { before == 0 ? 1 : before == 1 ? blocks + 66 : blocks, before == 2 ? 1 : blocks };
    const void *own[2] = { own_function(0), own_function(1) };
    const void *was[2] = { before == 3 ? idle_function(0) : own[0], before == 4 ? idle_function(1) : own[1] };
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    prepare_crowd(crowd, blocks);
    error = make_inside(crowd, inside, then, was, &graph);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = make_inside(crowd, inside, now, own, &other);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(exec, other, &info);
    error = end_crowd_graph(crowd, graph, exec, error);
    if (other)
        (void)cudaGraphDestroy(other);
    crowd->trials++;
    if (error == cudaSuccess)
        look_at_crowd(crowd);
    return error;
}

static void ask_updated_inside(struct crowd *crowd)
{
    static const unsigned sizes[] = { 34, 130, 300 };
    unsigned trials = 3 * BEFORES * (has_conditions() ? INSIDES : INSIDE_BODY), i;
    cudaError_t error = cudaSuccess;

    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++)
        error = run_updated_inside(crowd, sizes[i % 3], i / 3 % BEFORES, (enum pair_inside)(i / (3 * BEFORES)));
    ask_expect(crowd->ask, "updates of grids in graphs, child graphs and bodies", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents that began before the last trigger, updated to other sizes or functions", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale in the last blocks of dependents, updated to other sizes or functions", crowd->stale, trials);
}

static void ask_changed_crowds(struct crowd *crowd)
{
    static const unsigned sizes[] = { 34, 130, 300 };
    struct node_room room = PDL_ZERO;
    unsigned trials = 12 * CHANGES, i;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(crowds_triggers));

    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++)
        error = run_changed_crowd(crowd, &room, sizes[i / 2 % 3], i % 2, i / 6 % CHANGES);
    ask_close_room(&room);
    ask_expect(crowd->ask, "nodes of many blocks that are changed", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents that began before the last block had triggered, one of the two changed", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale in the last blocks of dependents, one of the two changed", crowd->stale, trials);
    ask_updated_inside(crowd);
}

#endif
