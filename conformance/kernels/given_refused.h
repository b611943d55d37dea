/* given_refused.h - for the pair of given.cu with nodes: what a kernel node is refused leaves its shape and its attributes as they were. */
#ifndef GIVEN_REFUSED_H_INCLUDED
#define GIVEN_REFUSED_H_INCLUDED

/* What spoils the parameters of another shape: one of its six sizes is none, a block of too many threads, too much shared memory. */
#define BAD_PARAMS 8u

static void fill_bad(struct given *g, unsigned bad, unsigned which, struct cudaKernelNodeParams *params)
{
    unsigned *size[6];

    fill_params(g, params, which);
    size[0] = &params->gridDim.x;
    size[1] = &params->gridDim.y;
    size[2] = &params->gridDim.z;
    size[3] = &params->blockDim.x;
    size[4] = &params->blockDim.y;
    size[5] = &params->blockDim.z;
    if (bad < 6)
        *size[bad] = 0;
    else if (bad == 6)
        params->blockDim.x = 4096;
    else
        params->sharedMemBytes = 1u << 30;
}

/* Attributes of the node that make no sense. */
static const struct bad_attribute {
    cudaLaunchAttributeID id;
    int number[3];
} bad_attributes[] = {
    { cudaLaunchAttributeClusterDimension, { 5, 1, 1 } }, /* divides no grid of the shapes */
    { cudaLaunchAttributeClusterDimension, { 1, 5, 1 } },
    { cudaLaunchAttributeClusterDimension, { 1, 1, 5 } },
    { cudaLaunchAttributeClusterDimension, { 2, 0, 1 } },
    { cudaLaunchAttributeMemSyncDomain, { 2, 0, 0 } },
#if CUDART_VERSION >= 12050
    { cudaLaunchAttributePreferredSharedMemoryCarveout, { 101, 0, 0 } },
    { cudaLaunchAttributePreferredSharedMemoryCarveout, { -2, 0, 0 } },
#endif
    { cudaLaunchAttributeProgrammaticStreamSerialization, { 1, 0, 0 } },
    { cudaLaunchAttributeSynchronizationPolicy, { cudaSyncPolicyYield, 0, 0 } },
};
#define BAD_ATTRIBUTES (sizeof(bad_attributes) / sizeof(bad_attributes[0]))

static cudaError_t give_bad_attribute(cudaGraphNode_t node, const struct bad_attribute *bad)
{
    cudaLaunchAttributeValue value = PDL_ZERO;

    switch ((int)bad->id) {
    case cudaLaunchAttributeClusterDimension:
        value.clusterDim.x = (unsigned)bad->number[0];
        value.clusterDim.y = (unsigned)bad->number[1];
        value.clusterDim.z = (unsigned)bad->number[2];
        break;
    case cudaLaunchAttributeMemSyncDomain: value.memSyncDomain = (cudaLaunchMemSyncDomain)bad->number[0]; break;
    default: memcpy(&value, &bad->number[0], sizeof(bad->number[0])); break;
    }
    return cudaGraphKernelNodeSetAttribute(node, bad->id, &value);
}

/* Its clusters, its memory domain and its priority. */
static cudaError_t give_attributes(cudaGraphNode_t node, unsigned which, int priority)
{
    cudaLaunchAttribute remote = in_remote_domain(), urgent = of_priority(priority);
    cudaError_t error = give_clusters(node, which);

    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetAttribute(node, remote.id, &remote.val);
    return error == cudaSuccess ? cudaGraphKernelNodeSetAttribute(node, urgent.id, &urgent.val) : error;
}

static void expect_attributes(struct given *g, cudaGraphNode_t node, unsigned which, int priority)
{
    const unsigned *want = shapes[which].cluster;
    cudaLaunchAttributeValue value;
    cudaError_t error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value);

    ask_expect(g->ask, "the clusters of a node that was refused something", error, cudaSuccess);
    ask_expect_number(g->ask, "they are those that it was given",
                      value.clusterDim.x == want[0] && value.clusterDim.y == want[1] && value.clusterDim.z == want[2], 1);
    error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeMemSyncDomain, &value);
    ask_expect(g->ask, "its memory domain", error, cudaSuccess);
    ask_expect_number(g->ask, "its memory domain", (long)value.memSyncDomain, (long)cudaLaunchMemSyncDomainRemote);
    error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value);
    ask_expect(g->ask, "its priority", error, cudaSuccess);
    ask_expect_number(g->ask, "its priority", value.priority, priority);
}

static void expect_params(struct given *g, cudaGraphNode_t node, unsigned which)
{
    const struct shape *s = &shapes[which];
    struct cudaKernelNodeParams is = PDL_ZERO;

    ask_expect(g->ask, "what a node tells that was refused something", cudaGraphKernelNodeGetParams(node, &is), cudaSuccess);
    ask_expect_number(g->ask, "its grid is the one that it was given",
                      is.gridDim.x == s->grid[0] && is.gridDim.y == s->grid[1] && is.gridDim.z == s->grid[2], 1);
    ask_expect_number(g->ask, "its block is the one that it was given",
                      is.blockDim.x == s->block[0] && is.blockDim.y == s->block[1] && is.blockDim.z == s->block[2], 1);
    ask_expect_number(g->ask, "its dynamic shared memory", (long)is.sharedMemBytes, (long)s->shared);
}

/* One bad call, for the node or for that of the executable graph. */
static cudaError_t give_bad(struct given *g, unsigned bad, unsigned which, cudaGraphNode_t node, cudaGraphExec_t exec)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaError_t error;

    if (bad >= 2 * BAD_PARAMS) {
        error = give_bad_attribute(node, &bad_attributes[bad - 2 * BAD_PARAMS]);
    } else {
        g->values[0] = &g->elsewhere;
        fill_bad(g, bad / 2, (which + 1) % SHAPES, &params);
        error = bad % 2 ? cudaGraphExecKernelNodeSetParams(exec, node, &params) : cudaGraphKernelNodeSetParams(node, &params);
        g->values[0] = &g->args;
    }
    (void)cudaGetLastError();
    return error;
}

/* Two executable graphs run in the shape that was given: one that is there and one that is made afterwards. */
static cudaError_t run_refused(struct given *g, unsigned which, cudaGraph_t graph, cudaGraphExec_t exec)
{
    cudaError_t error = cudaGraphLaunch(exec, g->ask->stream);

    if (error == cudaSuccess)
        error = look_at_shape(g, &shapes[which]);
    if (error == cudaSuccess)
        error = ask_run_once(graph, g->ask->stream);
    return error == cudaSuccess ? look_at_shape(g, &shapes[which]) : error;
}

/* Whether the call is refused is asked elsewhere, or promised nowhere: if it is taken, nothing is asked here. */
static void ask_refused_of(struct given *g, unsigned bad, unsigned which, int priority)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = graph_of(g, &shape_subject, which, 0, 0, &graph, &node);

    if (error == cudaSuccess)
        error = give_attributes(node, which, priority);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && give_bad(g, bad, which, node, exec) != cudaSuccess) {
        expect_params(g, node, which);
        expect_attributes(g, node, which, priority);
        error = run_refused(g, which, graph, exec);
    }
    ask_expect(g->ask, "a kernel node that was refused parameters and attributes", error, cudaSuccess);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* A node that is to have its own attributes has them, whether the call is taken or not. */
static void ask_own_attributes(struct given *g, unsigned which, int priority)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = graph_of(g, &shape_subject, which, 0, 0, &graph, &node);

    if (error == cudaSuccess)
        error = give_attributes(node, which, priority);
    if (error == cudaSuccess)
        (void)cudaGraphKernelNodeCopyAttributes(node, node);
    (void)cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    ask_expect(g->ask, "a kernel node that is given its own attributes", error, cudaSuccess);
    if (error == cudaSuccess) {
        expect_attributes(g, node, which, priority);
        ask_expect(g->ask, "its launch", run_refused(g, which, graph, exec), cudaSuccess);
    }
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* A node whose clusters are taken back, by clusters of one block, runs in none. */
static void ask_clusters_taken_back(struct given *g, unsigned which)
{
    cudaLaunchAttribute one = in_clusters(1);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = graph_of(g, &shape_subject, which, 0, 0, &graph, &node);

    if (error == cudaSuccess)
        error = give_clusters(node, which);
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetAttribute(node, one.id, &one.val);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    g->clusters = 0;
    if (error == cudaSuccess)
        error = run_refused(g, which, graph, exec);
    g->clusters = 1;
    ask_expect(g->ask, "a kernel node whose clusters are taken back", error, cudaSuccess);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* Of a node that was given none, before another one that was given some, or after that was destroyed. */
static cudaError_t tell_attributes(struct given *g, cudaGraph_t graph, unsigned which, cudaLaunchAttributeValue told[4])
{
    static const cudaLaunchAttributeID ids[4] = { cudaLaunchAttributeClusterDimension, cudaLaunchAttributeMemSyncDomain, cudaLaunchAttributePriority,
                                                  cudaLaunchAttributeCooperative };
    cudaGraphNode_t node;
    cudaError_t error = shape_add(g, graph, which, &node);
    unsigned i;

    memset(told, 0, 4 * sizeof(told[0]));
    for (i = 0; i < 4 && error == cudaSuccess; i++)
        error = cudaGraphKernelNodeGetAttribute(node, ids[i], &told[i]);
    return error;
}

/* A new node has nothing of one that was destroyed. */
static void ask_after_destroyed(struct given *g, unsigned which, int priority)
{
    cudaLaunchAttributeValue before[4], after[4], value = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t lost = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned differs;

    value.cooperative = 1;
    if (error == cudaSuccess)
        error = tell_attributes(g, graph, which, before);
    if (error == cudaSuccess)
        error = shape_add(g, graph, which, &lost);
    if (error == cudaSuccess)
        error = which % 2 ? give_attributes(lost, which, priority) : cudaGraphKernelNodeSetAttribute(lost, cudaLaunchAttributeCooperative, &value);
    if (error == cudaSuccess)
        error = cudaGraphDestroyNode(lost);
    if (error == cudaSuccess)
        error = tell_attributes(g, graph, which, after);
    ask_expect(g->ask, "a kernel node after one that was destroyed", error, cudaSuccess);
    differs = error == cudaSuccess && (before[0].clusterDim.x != after[0].clusterDim.x || before[0].clusterDim.y != after[0].clusterDim.y ||
                                       before[0].clusterDim.z != after[0].clusterDim.z || before[1].memSyncDomain != after[1].memSyncDomain ||
                                       before[2].priority != after[2].priority || before[3].cooperative != after[3].cooperative);
    ask_expect_number(g->ask, "it has an attribute of that one", differs, 0);
    (void)cudaGraphDestroy(graph);
}

static void ask_refused(struct given *g)
{
    int least = 0, greatest = 0;
    unsigned i;

    ask_expect(g->ask, "the range of priorities", cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
    g->clusters = 1;
    for (i = 0; i < SHAPES * (2 * BAD_PARAMS + BAD_ATTRIBUTES); i++)
        ask_refused_of(g, i / SHAPES, i % SHAPES, greatest);
    for (i = 0; i < SHAPES; i++)
        ask_own_attributes(g, i, greatest);
    for (i = 0; i < SHAPES; i++)
        ask_clusters_taken_back(g, i);
    for (i = 0; i < SHAPES; i++)
        ask_after_destroyed(g, i, greatest);
    g->clusters = 0;
}

#endif
