/* readback_test.c - what is told of graphs is compared whole: lists of nodes and edges to the last entry, copies, child graphs, and
 * kernels' arguments to the last byte. Each flag of an executable graph counts, and each thing that a device is to have, also where nothing
 * is told of it. */
#define PDL_MODEL 1
#define IMAGE_SUFFIX told
#define IMAGE_TAG "told"
#include "readback.cu" /* whole: what compares is static */

#include "check.h"

enum lie { NO_LIE, UNCOUNTED, UNREADABLE, COUNT_MORE, TOLD_MORE, TOLD_LESS, TWICE, OTHER_NODE, OTHER_END, OTHER_PORT, OTHER_TYPE, LIES };
static const char *const lie_name[LIES] = { "no lie", "a number that cannot be had", "a list that cannot be had", "a greater number",
                                            "an entry more", "an entry less", "an entry twice", "another node", "another end", "another port",
                                            "another type" };
static enum lie lie;
static char names[8];

static cudaGraphNode_t node_of(unsigned i) { return (cudaGraphNode_t)(void *)&names[i]; }

/* Two entries. ends: NULL where one node tells its neighbours. */
static cudaError_t tell(cudaGraphNode_t *nodes, cudaGraphNode_t *ends, cudaGraphEdgeData *data, size_t *count)
{
    static cudaGraphNode_t no_ends[LIST_ROOM];
    unsigned i;

    ends = ends ? ends : no_ends;
    if (!nodes) {
        *count = 2 + (lie == COUNT_MORE);
        return lie == UNCOUNTED ? cudaErrorInvalidValue : cudaSuccess;
    }
    for (i = 0; i < 3; i++) {
        nodes[i] = node_of(i);
        ends[i] = node_of(i + 1);
        data[i] = edges_data(0, 0, 0);
    }
    *count = 2 + (lie == TOLD_MORE) - (lie == TOLD_LESS);
    if (lie == TWICE)
        nodes[1] = nodes[0], ends[1] = ends[0];
    if (lie == OTHER_NODE)
        nodes[1] = node_of(7);
    if (lie == OTHER_END)
        ends[1] = node_of(7);
    data[1].from_port ^= lie == OTHER_PORT;
    data[1].type ^= lie == OTHER_TYPE;
    return lie == UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t WRAPPED(edges_of_graph)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count);
cudaError_t WRAPPED(edges_of_graph)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    (void)graph;
    return tell(from, to, data, count);
}

static cudaError_t CUDARTAPI tell_neighbours(cudaGraphNode_t of, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count)
{
    (void)of;
    return tell(nodes, NULL, data, count);
}

static unsigned long long more_flags; /* than an executable graph was made with */
static int untold = -1;        /* an attribute of the device that is left as the caller has it */

cudaError_t __real_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags);
cudaError_t __wrap_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags);
cudaError_t __wrap_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    cudaError_t error = __real_cudaGraphExecGetFlags(exec, flags);

    *flags |= more_flags;
    return error;
}

cudaError_t __real_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t __wrap_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t __wrap_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    return (int)attribute == untold ? cudaSuccess : __real_cudaDeviceGetAttribute(value, attribute, device);
}

/* What is told otherwise of a node with one neighbour: of its edges out, and of its edges in. */
static enum lie out_lie, in_lie;

static cudaError_t tell_one(enum lie now, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count, unsigned other)
{
    nodes[0] = node_of(now == OTHER_NODE ? 7 : other);
    nodes[1] = node_of(6);
    data[0] = edges_data(now == OTHER_PORT ? 2 : 1, 0, now != OTHER_TYPE);
    *count = now == TOLD_MORE ? 2 : now == TOLD_LESS ? 0 : 1;
    return now == UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t WRAPPED(edges_out_of_node)(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count);
cudaError_t WRAPPED(edges_out_of_node)(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count)
{
    (void)node;
    return tell_one(out_lie, nodes, data, count, 1);
}

cudaError_t WRAPPED(edges_into_node)(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count);
cudaError_t WRAPPED(edges_into_node)(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count)
{
    (void)node;
    return tell_one(in_lie, nodes, data, count, 0);
}

static void test_neighbours(void)
{
    static const enum lie lies[] = { UNREADABLE, TOLD_MORE, TOLD_LESS, OTHER_NODE, OTHER_PORT, OTHER_TYPE };
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    unsigned i, missed = 0;

    check(!data_differs(node_of(0), node_of(1), data), "two nodes are told as each other's only neighbours");
    for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        out_lie = lies[i];
        missed += !data_differs(node_of(0), node_of(1), data);
        out_lie = NO_LIE;
        in_lie = lies[i];
        missed += !data_differs(node_of(0), node_of(1), data);
        in_lie = NO_LIE;
    }
    check(missed == 0, "whatever is told otherwise of either node is a difference");
}

static unsigned more_rows, more_layers; /* that are told of a copy beyond those that it has */
static unsigned child_calls, as_before; /* calls for a child's graph so far; the one that gives the graph of the call before, 0: none */

cudaError_t __real_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params);
cudaError_t __wrap_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params);
cudaError_t __wrap_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    cudaError_t error = __real_cudaGraphMemcpyNodeGetParams(node, params);

    params->extent.height += more_rows;
    params->extent.depth += more_layers;
    return error;
}

cudaError_t __real_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t __wrap_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t __wrap_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    static cudaGraph_t before;
    cudaError_t error = __real_cudaGraphChildGraphNodeGetGraph(node, graph);

    if (++child_calls == as_before)
        *graph = before;
    before = *graph;
    return error;
}

static unsigned wrong_copy(struct told *told, unsigned rows, unsigned layers)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    unsigned before = told->ask->wrong;

    check(cudaGraphCreate(&graph, 0) == cudaSuccess && add_teller(told, TELLS_COPY, graph, &node) == cudaSuccess, "a copy");
    more_rows = rows;
    more_layers = layers;
    expect_copy(told, "a copy", node, 0);
    more_rows = more_layers = 0;
    (void)cudaGraphDestroy(graph);
    return told->ask->wrong - before;
}

static size_t spoilt = sizeof(struct kernel_args); /* the byte of a kernel's argument that is told otherwise; beyond it: none */

cudaError_t __real_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    static struct kernel_args args;
    static void *values[1] = { &args };
    cudaError_t error = __real_cudaGraphKernelNodeGetParams(node, params);

    if (spoilt < sizeof(args)) {
        memcpy(&args, params->kernelParams[0], sizeof(args));
        ((unsigned char *)&args)[spoilt] ^= 1;
        params->kernelParams = values;
    }
    return error;
}

/* How many bytes of a kernel's argument may be told otherwise without being found wrong. */
static unsigned missed_bytes(struct told *told)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    unsigned missed = 0, before;

    check(cudaGraphCreate(&graph, 0) == cudaSuccess && add_teller(told, TELLS_KERNEL, graph, &node) == cudaSuccess, "a kernel");
    before = told->ask->wrong;
    expect_kernel(told, "a kernel", node, 0);
    check(told->ask->wrong == before, "a kernel is told rightly");
    for (spoilt = 0; spoilt < sizeof(struct kernel_args); spoilt++) {
        before = told->ask->wrong;
        expect_kernel(told, "a kernel", node, 0);
        missed += told->ask->wrong != before + 1;
    }
    (void)cudaGraphDestroy(graph);
    return missed;
}

static unsigned wrong_child(struct told *told, unsigned call)
{
    unsigned before = told->ask->wrong;

    child_calls = 0;
    as_before = call;
    ask_child(told, TELLS_COPY);
    as_before = 0;
    return told->ask->wrong - before;
}

static void test_told(void)
{
    struct ask ask = PDL_ZERO;
    struct told told = PDL_ZERO;

    told.ask = &ask;
    check(cudaMalloc((void **)&told.words, 2 * TOLD_BYTES) == cudaSuccess, "memory");
    check(wrong_copy(&told, 0, 0) == 0 && wrong_child(&told, 0) == 0, "copies and child graphs are told rightly");
    check(wrong_copy(&told, 2, 0) == 1 && wrong_copy(&told, 0, 2) == 1, "rows or layers that a copy does not have are wrong");
    check(wrong_child(&told, 3) != 0 && wrong_child(&told, 4) != 0, "the graph of another child is wrong, also in a clone");
    check(missed_bytes(&told) == 0, "each byte of a kernel's argument counts");
    (void)cudaFree(told.words);
}

static unsigned wrong_flags(struct ask *ask, unsigned which, unsigned long long more)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned before = ask->wrong;

    check(cudaGraphCreate(&graph, 0) == cudaSuccess && cudaGraphInstantiate(&exec, graph, exec_flags[which]) == cudaSuccess, "an executable graph");
    more_flags = more;
    expect_flags(ask, "now", exec, which);
    more_flags = 0;
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return ask->wrong - before;
}

static unsigned wrong_abilities(struct ask *ask, int without)
{
    unsigned before = ask->wrong;

    untold = without;
    ask_abilities(ask, 0);
    untold = -1;
    return ask->wrong - before;
}

static void test_device(void)
{
    static const int abilities[] = { cudaDevAttrClusterLaunch, cudaDevAttrCooperativeLaunch, cudaDevAttrConcurrentKernels,
                                     cudaDevAttrStreamPrioritiesSupported, cudaDevAttrMemSyncDomainCount };
    struct ask ask = PDL_ZERO;
    unsigned i, missed = 0;

    check(wrong_flags(&ask, 0, 0) == 0 && wrong_flags(&ask, 1, 0) == 0, "flags are told as they were given");
    check(wrong_flags(&ask, 0, cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0 && wrong_flags(&ask, 1, cudaGraphInstantiateFlagUpload) != 0,
          "one flag more is wrong");
    check(wrong_abilities(&ask, -1) == 0, "a device has what it is to have");
    for (i = 0; i < sizeof(abilities) / sizeof(abilities[0]); i++)
        missed += wrong_abilities(&ask, abilities[i]) != 1;
    check(missed == 0, "a device of which nothing is told has not what it is to have");
}

int main(void)
{
    const struct pair_of_nodes want[2] = { { node_of(0), node_of(1) }, { node_of(1), node_of(2) } };
    char text[96];
    unsigned now;

    for (now = NO_LIE; now < LIES; now++) {
        lie = (enum lie)now;
        snprintf(text, sizeof(text), "edges: %s", lie_name[now]);
        check(edges_differ(NULL, want, 2) == (now != NO_LIE), text);
        snprintf(text, sizeof(text), "neighbours: %s", lie_name[now]);
        check(nodes_differ(tell_neighbours, NULL, node_of(0), node_of(1)) == (now != NO_LIE && now != OTHER_END), text);
        check(nodes_differ(tell_neighbours, NULL, node_of(1), node_of(0)) == (now != NO_LIE && now != OTHER_END), text);
    }
    lie = NO_LIE;
    test_neighbours();
    test_told();
    test_device();
    check(edges_differ(NULL, want, 1) && nodes_differ(tell_neighbours, NULL, node_of(0), NULL), "one entry is not two");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
