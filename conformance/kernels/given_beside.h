/* given_beside.h - the parts of the pairs calls and nodes of given.cu with launches, or nodes, in clusters that have another attribute, before that or
 * after it: they run in their clusters all the same, also captured, and so do nodes that have these of another one. */
#ifndef GIVEN_BESIDE_H_INCLUDED
#define GIVEN_BESIDE_H_INCLUDED

enum beside { BESIDE_IGNORED, BESIDE_COOPERATIVE, BESIDE_SERIALIZATION, BESIDE_EVENT, BESIDE_COMPLETION, BESIDE_PRIORITY, BESIDE_DOMAIN, BESIDE_HINT };
#define BESIDES (BESIDE_HINT + HINT_KINDS)
#define BESIDE_SHAPE 1u        /* in clusters of two */

static cudaLaunchAttribute beside_attribute(unsigned beside, cudaEvent_t event)
{
    cudaLaunchAttribute ignored = PDL_ZERO;

    switch (beside) {
    case BESIDE_IGNORED: return ignored;
    case BESIDE_COOPERATIVE: return cooperatively();
    case BESIDE_SERIALIZATION: return serialization(1);
    case BESIDE_EVENT: return recording(event);
    case BESIDE_COMPLETION: return recording_begin(event);
    case BESIDE_PRIORITY: return of_priority(0);
    case BESIDE_DOMAIN: return in_remote_domain();
    default: return nth_hint(beside - BESIDE_HINT);
    }
}

static cudaError_t launch_beside(struct given *g, unsigned beside, unsigned place, cudaEvent_t event)
{
    const struct shape *s = &shapes[BESIDE_SHAPE];
    struct kernel_args *args = &g->args;
    cudaLaunchConfig_t config = PDL_ZERO;
    cudaLaunchAttribute attrs[2];

    attrs[place] = beside_attribute(beside, event);
    attrs[1 - place] = in_clusters(s->cluster[0]);
    config.gridDim = sizes(s->grid);
    config.blockDim = sizes(s->block);
    config.dynamicSmemBytes = s->shared;
    config.stream = g->ask->stream;
    config.attrs = attrs;
    config.numAttrs = 2;
    return cudaLaunchKernelExC(&config, (const void *)SYMBOL(given_tells), (void **)&args);
}

static cudaError_t run_beside(struct given *g, unsigned beside, unsigned place, int captured)
{
    cudaStream_t stream = g->ask->stream;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = launch_beside(g, beside, place, event);
    if (captured)
        error = ask_run_capture(stream, error);
    if (error == cudaSuccess)
        error = look_at_shape(g, &shapes[BESIDE_SHAPE]);
    (void)cudaEventDestroy(event);
    return error;
}

/* Not every one of these is an attribute of nodes. */
static int nodes_have(unsigned beside) { return beside == BESIDE_COOPERATIVE || beside >= BESIDE_PRIORITY; }

/* A node that is given both, one after the other. */
static cudaError_t run_node_beside(struct given *g, unsigned beside, unsigned place)
{
    cudaLaunchAttribute attrs[2];
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node;
    unsigned i;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    attrs[place] = beside_attribute(beside, NULL);
    attrs[1 - place] = in_clusters(shapes[BESIDE_SHAPE].cluster[0]);
    if (error == cudaSuccess)
        error = shape_add(g, graph, BESIDE_SHAPE, &node);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaGraphKernelNodeSetAttribute(node, attrs[i].id, &attrs[i].val);
    if (error == cudaSuccess)
        error = ask_run_once(graph, g->ask->stream);
    if (error == cudaSuccess)
        error = look_at_shape(g, &shapes[BESIDE_SHAPE]);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* beside: what it has, too, if nodes have that. */
static cudaError_t add_in_clusters(struct given *g, cudaGraph_t *graph, cudaGraphNode_t *node, unsigned blocks, unsigned beside,
                                   unsigned place)
{
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(given_tells), 1, g->values);
    cudaLaunchAttribute attrs[2];
    cudaError_t error = cudaGraphCreate(graph, 0);
    unsigned i;

    attrs[place] = beside_attribute(beside, NULL);
    attrs[1 - place] = in_clusters(blocks);
    params.gridDim.x = 2;
    if (error == cudaSuccess)
        error = cudaGraphAddKernelNode(node, *graph, NULL, 0, &params);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        if (nodes_have(beside) || i != place)
            error = cudaGraphKernelNodeSetAttribute(*node, attrs[i].id, &attrs[i].val);
    return error;
}

/* Launches the node in the clusters that it tells. */
static cudaError_t run_told(struct given *g, cudaGraph_t graph, cudaGraphNode_t node)
{
    struct shape shape = { { 2, 1, 1 }, { 1, 1, 1 }, 0, { 1, 1, 1 }, 0 };
    cudaLaunchAttributeValue told = PDL_ZERO;
    cudaError_t error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &told);

    if (error == cudaSuccess)
        error = ask_run_once(graph, g->ask->stream);
    shape.cluster[0] = told.clusterDim.x;
    shape.cluster[1] = told.clusterDim.y;
    shape.cluster[2] = told.clusterDim.z;
    return error == cudaSuccess ? look_at_shape(g, &shape) : error;
}

/* One of two nodes, whichever argument that is (AMB-15), has the clusters of the other one. */
static cudaError_t lend_clusters(struct given *g, unsigned beside, unsigned place)
{
    cudaGraph_t graph[2] = { NULL, NULL };
    cudaGraphNode_t node[2];
    unsigned i;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = add_in_clusters(g, &graph[i], &node[i], i + 1, beside, place);
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeCopyAttributes(node[0], node[1]);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = run_told(g, graph[i], node[i]);
    for (i = 0; i < 2; i++)
        if (graph[i])
            (void)cudaGraphDestroy(graph[i]);
    return error;
}

/* Of nodes that have no other attribute, or the same one, given before the clusters or after them. */
static void ask_lent_clusters(struct given *g)
{
    unsigned i;

    g->clusters = 1;
    for (i = 0; i < 2 * BESIDES; i++) {
        cudaError_t error = i / 2 == BESIDE_IGNORED || nodes_have(i / 2) ? lend_clusters(g, i / 2, i % 2) : cudaSuccess;
        if (i / 2 != BESIDE_IGNORED && is_unoffered(error))
            (void)cudaGetLastError();
        else
            ask_expect(g->ask, "a node in the clusters of another one", error, cudaSuccess);
    }
    g->clusters = 0;
}

/* Not every device offers each of these together. */
static void ask_beside(struct given *g)
{
    unsigned beside, i;

    g->clusters = 1;
    for (beside = 0; beside < BESIDES; beside++) {
        cudaError_t error = cudaSuccess;
        for (i = 0; i < 4 && error == cudaSuccess; i++)
            error = run_beside(g, beside, i % 2, i / 2 != 0);
        if (is_unoffered(error))
            (void)cudaGetLastError();
        else
            ask_expect(g->ask, "a launch in clusters with another attribute", error, cudaSuccess);
    }
    g->clusters = 0;
}

static void ask_nodes_beside(struct given *g)
{
    unsigned i;

    g->clusters = 1;
    for (i = 0; i < 2 * BESIDES; i++) {
        cudaError_t error = nodes_have(i / 2) ? run_node_beside(g, i / 2, i % 2) : cudaSuccess;
        if (is_unoffered(error))
            (void)cudaGetLastError();
        else
            ask_expect(g->ask, "a node in clusters with another attribute", error, cudaSuccess);
    }
    g->clusters = 0;
}

#endif
