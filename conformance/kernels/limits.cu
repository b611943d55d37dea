/* limits.cu - what must be refused is refused, and leaves nothing behind: launches beyond a limit, the legacy stream beside a capture, graphs
 * with a cycle, updates that change a graph's shape.
 *
 * pair     rules    what is asked
 * shapes   ATTR-15  launches at each limit of grids, blocks, shared memory, clusters and cooperative kernels, and one beyond it; with the
 *                   attribute and without it, by the driver's call and by others
 * legacy   EDGE-34  work of each kind in the legacy stream while another stream captures
 * cycles   EDGE-35  graphs whose edges, full and programmatic ones, make a cycle, and graphs with such a child graph
 * updates  EDGE-38  updates of an executable graph from graphs of another shape
 */
#include <stdio.h>

#include "cleared.h"
#include "driver_launch.h"
#include "graph_ask.h"
#include "host_room.h"

/* Every thread counts itself. */
KERNEL(limits_count) { k_add(&args.state->finished, 1); }
KERNEL(limits_shared) { k_add(&args.state->finished, 1); } /* the same, allowed all the shared memory of a block */

/* ---- shapes ---- */

struct limits {                  /* of the device and of the two kernels */
    struct kernel_args args;
    long threads, block[3], grid[3], shared, shared_allowed, together, together_shared;
    cudaStream_t stream;
};

struct launch {                  /* in grid and block a size that is not given, 0, means 1 */
    const char *what;
    long grid[3], block[3];
    long shared;
    unsigned cluster;            /* ALONG(x, y, z), where 0 means 1; 0: none */
    int cooperative;             /* FIRST of its attributes or LAST, or not */
};
#define FIRST 1
#define LAST 2
#define NONE (-1)                /* means a size of 0 */
#define ALONG(x, y, z) ((x) | (y) << 8 | (z) << 16)

static unsigned size_of(long named) { return named == NONE ? 0u : named ? (unsigned)named : 1u; }

static dim3 sizes_of(const long *named)
{
    dim3 sizes;

    sizes.x = size_of(named[0]);
    sizes.y = size_of(named[1]);
    sizes.z = size_of(named[2]);
    return sizes;
}

static unsigned product_of(dim3 sizes) { return sizes.x * sizes.y * sizes.z; }

enum how { HOW_PLAIN, HOW_ATTRIBUTE, HOW_DRIVER, HOW_OLDEST_CALL, HOW_NODE, HOWS };
static const char *const how_text[HOWS] = { "", ", with the attribute", ", by cuLaunchKernelEx", ", by cudaLaunchKernel", ", by a node" };

static const void *kernel_of(const struct limits *limits, const struct launch *launch)
{
    return launch->shared > limits->shared ? (const void *)SYMBOL(limits_shared) : (const void *)SYMBOL(limits_count);
}

static cudaError_t add_node(cudaGraph_t graph, const struct limits *limits, const struct launch *launch, void **values)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaGraphNode_t node;

    params.func = (void *)kernel_of(limits, launch);
    params.gridDim = sizes_of(launch->grid);
    params.blockDim = sizes_of(launch->block);
    params.sharedMemBytes = (unsigned)launch->shared;
    params.kernelParams = values;
    return cudaGraphAddKernelNode(&node, graph, NULL, 0, &params);
}

/* Which of the three calls refuses a node that does not fit is not promised. */
static cudaError_t launch_node(const struct limits *limits, const struct launch *launch, void **values)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = add_node(graph, limits, launch, values);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, limits->stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_it(const struct limits *limits, const struct launch *launch, enum how how)
{
    cudaLaunchAttribute attrs[5] = PDL_ZERO; /* one that is not filled in is ignored */
    cudaLaunchConfig_t config = PDL_ZERO;
    struct kernel_args args = limits->args;
    void *params[1];

    params[0] = &args;
    if (how == HOW_NODE)
        return launch_node(limits, launch, params);
    config.gridDim = sizes_of(launch->grid);
    config.blockDim = sizes_of(launch->block);
    if (how == HOW_OLDEST_CALL)
        return cudaLaunchKernel(kernel_of(limits, launch), config.gridDim, config.blockDim, params, (size_t)launch->shared, limits->stream);
    config.dynamicSmemBytes = (size_t)launch->shared;
    config.stream = limits->stream;
    config.attrs = attrs;
    if (how == HOW_ATTRIBUTE)
        attrs[config.numAttrs++] = serialization(1);
    if (launch->cooperative == FIRST)
        attrs[config.numAttrs++] = cooperatively();
    if (launch->cluster) {
        attrs[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attrs[config.numAttrs].val.clusterDim.x = size_of(launch->cluster & 255);
        attrs[config.numAttrs].val.clusterDim.y = size_of(launch->cluster >> 8 & 255);
        attrs[config.numAttrs].val.clusterDim.z = size_of(launch->cluster >> 16);
        config.numAttrs++;
    }
    if (launch->cooperative == LAST) {
        attrs[4] = cooperatively();
        config.numAttrs = 5;
    }
    return how == HOW_DRIVER ? launch_by_driver(&config, kernel_of(limits, launch), params)
                             : cudaLaunchKernelExC(&config, kernel_of(limits, launch), params);
}

static int count_threads(const struct limits *limits, unsigned *threads)
{
    struct trial_state state;

    if (cudaStreamSynchronize(limits->stream) != cudaSuccess ||
        cudaMemcpy(&state, limits->args.state, sizeof(state), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 0;
    *threads = state.finished;
    return 1;
}

/* Launches a kernel that always runs, then the one that is asked about. If that is refused, none of its threads may run. */
static void ask_launch(struct ask *ask, const struct limits *limits, const struct launch *launch, int fits)
{
    static const struct launch before = { "", { 0 }, { 0 }, 0, 0, 0 };
    unsigned ran_before, ran_after;
    int how, hows = launch->cluster || launch->cooperative ? HOW_OLDEST_CALL : HOWS; /* the others take no attributes */

    for (how = 0; how < hows; how++) {
        long want = 1 + (fits ? (long)product_of(sizes_of(launch->grid)) * product_of(sizes_of(launch->block)) : 0);
        char text[160];
        cudaError_t error, seen, last;

        if (how == HOW_DRIVER && fits && launch->shared > limits->shared)
            continue; /* the runtime's call allowed it that much: whether this is the driver's word too, no document says */
        if (!count_threads(limits, &ran_before) || launch_it(limits, &before, HOW_PLAIN) != cudaSuccess) {
            ask_skip(ask, launch->what, "the kernel before it did not run");
            return;
        }
        error = launch_it(limits, launch, (enum how)how);
        seen = cudaPeekAtLastError();
        last = cudaGetLastError();
        snprintf(text, sizeof(text), "%s%s", launch->what, how_text[how]);
        if (how != HOW_DRIVER) { /* what it answers is no call's of the runtime */
            ask_expect(ask, "the last error, looked at", seen, error);
            ask_expect(ask, "the last error", last, error);
        }
        if (fits)
            ask_expect(ask, text, error, cudaSuccess);
        else if (launch->cooperative && !launch->cluster && how != HOW_DRIVER)
            ask_expect(ask, text, error, cudaErrorCooperativeLaunchTooLarge);
        else
            ask_expect_refusal(ask, text, error);
        snprintf(text, sizeof(text), "threads that ran of %s%s", launch->what, how_text[how]);
        if (count_threads(limits, &ran_after))
            ask_expect_number(ask, text, (long)(ran_after - ran_before), want);
        else
            ask_skip(ask, text, "they cannot be counted");
    }
}

static void ask_blocks(struct ask *ask, const struct limits *limits)
{
    const struct launch fit[] = {
        { "a block of the most threads", { 0 }, { limits->threads }, 0, 0, 0 },
        { "a block of the most threads along y", { 0 }, { 0, limits->block[1] }, 0, 0, 0 },
        { "a block of the most threads along z", { 0 }, { 0, 0, limits->block[2] }, 0, 0, 0 },
        { "a block of the most threads along x and y", { 0 }, { limits->threads / 2, 2 }, 0, 0, 0 },
    };
    const struct launch beyond[] = {
        { "a block of one thread more", { 0 }, { limits->threads + 1 }, 0, 0, 0 },
        { "a block of one thread more along y", { 0 }, { 0, limits->block[1] + 1 }, 0, 0, 0 },
        { "a block of one thread more along z", { 0 }, { 0, 0, limits->block[2] + 1 }, 0, 0, 0 },
        { "a block of one column too many", { 0 }, { limits->threads / 2 + 1, 2 }, 0, 0, 0 },
        { "a block of 0 threads along x", { 0 }, { NONE }, 0, 0, 0 },
        { "a block of 0 threads along y", { 0 }, { 0, NONE }, 0, 0, 0 },
        { "a block of 0 threads along z", { 0 }, { 0, 0, NONE }, 0, 0, 0 },
    };
    unsigned i;

    for (i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
        ask_launch(ask, limits, &fit[i], 1);
    for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
        ask_launch(ask, limits, &beyond[i], 0);
}

/* As many blocks as there may be, in a node that is not launched. */
static void ask_widest_node(struct ask *ask, const struct limits *limits, unsigned along)
{
    struct launch widest = PDL_ZERO;
    struct kernel_args args = limits->args;
    cudaGraph_t graph = NULL;
    void *values[1];

    values[0] = &args;
    widest.grid[along] = limits->grid[along];
    ask_expect(ask, "a graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a node of the most blocks along one axis", add_node(graph, limits, &widest, values), cudaSuccess);
    (void)cudaGraphDestroy(graph);
}

static void ask_grids(struct ask *ask, const struct limits *limits)
{
    const struct launch beyond[] = {
        { "a grid of one block more along x", { limits->grid[0] + 1 }, { 0 }, 0, 0, 0 },
        { "a grid of one block more along y", { 0, limits->grid[1] + 1 }, { 0 }, 0, 0, 0 },
        { "a grid of one block more along z", { 0, 0, limits->grid[2] + 1 }, { 0 }, 0, 0, 0 },
        { "a grid of 0 blocks along x", { NONE }, { 0 }, 0, 0, 0 },
        { "a grid of 0 blocks along y", { 0, NONE }, { 0 }, 0, 0, 0 },
        { "a grid of 0 blocks along z", { 0, 0, NONE }, { 0 }, 0, 0, 0 },
    };
    unsigned i;
#ifndef PDL_MODEL /* which has no time for so many blocks */
    const struct launch fit[] = {
        { "a grid of the most blocks along y", { 0, limits->grid[1] }, { 0 }, 0, 0, 0 },
        { "a grid of the most blocks along z", { 0, 0, limits->grid[2] }, { 0 }, 0, 0, 0 },
    };

    for (i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
        ask_launch(ask, limits, &fit[i], 1);
#endif
    for (i = 0; i < 3; i++)
        ask_widest_node(ask, limits, i);
    for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
        ask_launch(ask, limits, &beyond[i], 0);
}

static int cluster_fits(struct ask *ask, const struct limits *limits, const struct launch *launch)
{
    cudaLaunchAttribute attribute = in_clusters(launch->cluster);
    cudaLaunchConfig_t config = PDL_ZERO;
    cudaError_t error;
    int fit = 0;

    config.gridDim = sizes_of(launch->grid);
    config.blockDim = sizes_of(launch->block);
    config.attrs = &attribute;
    config.numAttrs = 1;
    error = cudaOccupancyMaxActiveClusters(&fit, kernel_of(limits, launch), &config);
    if (error != cudaErrorInvalidClusterSize) /* which a part of a device may say that is too small for this cluster */
        ask_expect(ask, "how many clusters fit", error, cudaSuccess);
    (void)cudaGetLastError();
    return error == cudaSuccess && fit > 0;
}

static void ask_resources(struct ask *ask, const struct limits *limits)
{
    const struct launch fit[] = {
        { "a block of all its shared memory", { 0 }, { 0 }, limits->shared, 0, 0 },
        { "a block of all the shared memory that it may be allowed", { 0 }, { 0 }, limits->shared_allowed, 0, 0 },
        { "a cooperative grid of as many blocks as fit", { limits->together }, { 32 }, 0, 0, FIRST },
        { "a cooperative grid of as many blocks as fit with all their shared memory", { limits->together_shared }, { 32 }, limits->shared, 0, FIRST },
        { "a cluster of 8 blocks", { 16 }, { 32 }, 0, 8, 0 },
    };
    unsigned fits = sizeof(fit) / sizeof(fit[0]) - (cluster_fits(ask, limits, &fit[4]) ? 0 : 1); /* parts of devices have fewer than 8 SMs */
    const struct launch beyond[] = {
        { "a block of one byte more than it may be allowed", { 0 }, { 0 }, limits->shared_allowed + 1, 0, 0 },
        { "a cooperative grid of one block more than fit", { limits->together + 1 }, { 32 }, 0, 0, FIRST },
        { "a cooperative grid of one block more, by the last of its attributes", { limits->together + 1 }, { 32 }, 0, 0, LAST },
        { "a cooperative grid of one block more along y", { 0, limits->together + 1 }, { 32 }, 0, 0, FIRST },
        { "a cooperative grid of one block more along z", { 0, 0, limits->together + 1 }, { 32 }, 0, 0, FIRST },
        { "a cooperative grid of one block more with all its shared memory", { limits->together_shared + 1 }, { 32 }, limits->shared, 0, FIRST },
        { "a cooperative grid of clusters that does not fit", { 2 * (limits->together / 2 + 1) }, { 32 }, 0, 2, FIRST },
        { "a grid of clusters, cooperative by its last attribute, that does not fit", { 2 * (limits->together / 2 + 1) }, { 32 }, 0, 2, LAST },
        { "clusters of 8 in a grid of 12", { 12 }, { 32 }, 0, 8, 0 },
        { "clusters of 3 in a grid of 4", { 4 }, { 32 }, 0, 3, 0 },
        { "clusters of 2 along y in a grid of 3", { 0, 3 }, { 32 }, 0, ALONG(0, 2, 0), 0 },
        { "clusters of 2 along z in a grid of 3", { 0, 0, 3 }, { 32 }, 0, ALONG(0, 0, 2), 0 },
        { "a cluster of 16 that its kernel was not allowed", { 16 }, { 32 }, 0, 16, 0 },
        { "a cluster of 2 by 2 by 4 that its kernel was not allowed", { 2, 2, 4 }, { 32 }, 0, ALONG(2, 2, 4), 0 },
    };
    unsigned i;

    for (i = 0; i < fits; i++)
        ask_launch(ask, limits, &fit[i], 1);
    for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
        ask_launch(ask, limits, &beyond[i], 0);
}

static cudaError_t read_attribute(long *value, enum cudaDeviceAttr attribute)
{
    int device, number = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&number, attribute, device);
    *value = number;
    return error;
}

static cudaError_t open_limits(struct limits *limits, cudaStream_t stream)
{
    const struct {
        long *value;
        enum cudaDeviceAttr attribute;
    } asked[] = { { &limits->threads, cudaDevAttrMaxThreadsPerBlock }, { &limits->block[1], cudaDevAttrMaxBlockDimY },
                  { &limits->block[2], cudaDevAttrMaxBlockDimZ },      { &limits->grid[0], cudaDevAttrMaxGridDimX },
                  { &limits->grid[1], cudaDevAttrMaxGridDimY },        { &limits->grid[2], cudaDevAttrMaxGridDimZ },
                  { &limits->shared, cudaDevAttrMaxSharedMemoryPerBlock },
                  { &limits->shared_allowed, cudaDevAttrMaxSharedMemoryPerBlockOptin }, { &limits->together, cudaDevAttrMultiProcessorCount } };
    cudaError_t error = cleared_alloc((void **)&limits->args.state, sizeof(struct trial_state));
    unsigned i;
    int fit = 0;

    for (i = 0; i < sizeof(asked) / sizeof(asked[0]) && error == cudaSuccess; i++)
        error = read_attribute(asked[i].value, asked[i].attribute);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)SYMBOL(limits_shared), cudaFuncAttributeMaxDynamicSharedMemorySize, (int)limits->shared_allowed);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)SYMBOL(limits_count), 32, 0);
    limits->together_shared = limits->together;
    limits->together *= fit;
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)SYMBOL(limits_count), 32, (size_t)limits->shared);
    limits->together_shared *= fit;
    limits->stream = stream;
    return error;
}

#include "limits_crowds.h"

static void ask_shapes(struct ask *ask)
{
    struct limits limits = PDL_ZERO;
    cudaError_t error = open_limits(&limits, ask->stream);

    ask_expect(ask, "limits of the device", error, cudaSuccess);
    if (error == cudaSuccess) {
        ask_blocks(ask, &limits);
        ask_grids(ask, &limits);
        ask_resources(ask, &limits);
        ask_crowds(ask, &limits);
    }
    (void)cudaFree(limits.args.state);
}

/* ---- legacy ---- */

static cudaError_t count_in(struct kernel_args *args, cudaStream_t stream, int programmatic)
{
    cudaLaunchAttribute attribute = serialization(1);

    return launch_one((const void *)SYMBOL(limits_count), args, 1, stream, &attribute, programmatic ? 1 : 0);
}

enum use { USE_LAUNCH, USE_MEMSET, USE_COPY, USE_RECORD, USE_GRAPH, USE_HOST, USE_WAIT, USE_END, USE_POLL, USES };
static const char *const use_names[USES] = { "a launch", "a memset", "a copy", "a record of an event", "a launch of a graph",
                                             "a host function", "a wait for an event", "waiting for the end of all", "asking for the end of all" };

struct used {                    /* what the legacy stream is used with */
    struct kernel_args args;
    unsigned *words;             /* two */
    cudaEvent_t event;
    cudaGraph_t graph;           /* of one empty node */
    cudaGraphExec_t exec;
};

static cudaError_t open_used(struct used *used)
{
    cudaGraphNode_t node;
    cudaError_t error = cleared_alloc((void **)&used->args.state, sizeof(struct trial_state));

    if (error == cudaSuccess)
        error = cleared_alloc((void **)&used->words, 2 * sizeof(unsigned));
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&used->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&used->graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&node, used->graph, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiateWithFlags(&used->exec, used->graph, 0);
    return error == cudaSuccess ? cudaGraphLaunch(used->exec, cudaStreamLegacy) : error; /* the first launch may allocate */
}

static void close_used(struct used *used)
{
    if (used->exec)
        (void)cudaGraphExecDestroy(used->exec);
    if (used->graph)
        (void)cudaGraphDestroy(used->graph);
    if (used->event)
        (void)cudaEventDestroy(used->event);
    (void)cudaFree(used->words);
    (void)cudaFree(used->args.state);
}

static cudaError_t use_legacy(struct used *used, enum use use)
{
    switch (use) {
    case USE_MEMSET: return cudaMemsetAsync(used->words, 1, sizeof(unsigned), cudaStreamLegacy);
    case USE_COPY: return cudaMemcpyAsync(used->words, used->words + 1, sizeof(unsigned), cudaMemcpyDeviceToDevice, cudaStreamLegacy);
    case USE_RECORD: return cudaEventRecord(used->event, cudaStreamLegacy);
    case USE_GRAPH: return cudaGraphLaunch(used->exec, cudaStreamLegacy);
    case USE_HOST: return cudaLaunchHostFunc(cudaStreamLegacy, ask_host_nothing, NULL);
    case USE_WAIT: return cudaStreamWaitEvent(cudaStreamLegacy, used->event, 0);
    case USE_END: return cudaStreamSynchronize(cudaStreamLegacy);
    case USE_POLL: return cudaStreamQuery(cudaStreamLegacy);
    default: return count_in(&used->args, cudaStreamLegacy, 1);
    }
}

/* "When any stream in the same context that was not created with cudaStreamNonBlocking is being captured, any attempted use of the legacy
 * stream is invalid", and what is being captured is invalid then, too. blocks: this stream is such a one. */
static void ask_legacy_beside(struct ask *ask, struct used *used, enum use use, cudaStream_t stream, const char *name, int blocks)
{
    struct limits limits = PDL_ZERO;
    cudaError_t began, legacy, after, ended;
    cudaGraph_t graph = NULL;
    unsigned ran_before = 0, ran_after = 0;
    size_t nodes = 0;
    char text[96];
    int counts;

    limits.args = used->args;
    limits.stream = cudaStreamLegacy;
    counts = count_threads(&limits, &ran_before);
    began = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (began == cudaSuccess)
        began = count_in(&used->args, stream, 1);
    legacy = use_legacy(used, use);
    after = count_in(&used->args, stream, 1);
    ended = cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    snprintf(text, sizeof(text), "%s in the legacy stream while %s captures", use_names[use], name);
    ask_expect(ask, name, began, cudaSuccess);
    (blocks ? ask_expect_refusal(ask, text, legacy) : ask_expect(ask, text, legacy, cudaSuccess));
    snprintf(text, sizeof(text), "a launch in %s after that", name);
    (blocks ? ask_expect_refusal(ask, text, after) : ask_expect(ask, text, after, cudaSuccess));
    snprintf(text, sizeof(text), "the end of the capture of %s", name);
    (blocks ? ask_expect_refusal(ask, text, ended) : ask_expect(ask, text, ended, cudaSuccess));
    ask_expect_number(ask, "a graph came of it", graph != NULL, !blocks);
    if (graph && !blocks) {
        ask_expect(ask, "the graph's nodes", cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
        ask_expect_number(ask, "the graph's nodes", (long)nodes, 2);
    }
    if (counts && cudaDeviceSynchronize() == cudaSuccess && count_threads(&limits, &ran_after)) /* no kernel ran in any stream */
        ask_expect_number(ask, "kernels that ran meanwhile", (long)(ran_after - ran_before), !blocks && use == USE_LAUNCH);
    else
        ask_skip(ask, text, "what ran cannot be counted");
    if (graph)
        (void)cudaGraphDestroy(graph);
}

static void ask_legacy(struct ask *ask)
{
    struct used used = PDL_ZERO;
    cudaStream_t blocking = NULL;
    cudaError_t error = open_used(&used);
    int use;

    if (error == cudaSuccess)
        error = cudaStreamCreate(&blocking);
    ask_expect(ask, "what the streams are used with, and a stream", error, cudaSuccess);
    for (use = 0; use < USES && error == cudaSuccess; use++) {
        ask_legacy_beside(ask, &used, (enum use)use, blocking, "a blocking stream", 1);
        ask_legacy_beside(ask, &used, (enum use)use, cudaStreamPerThread, "the per-thread stream", 1);
        if (use < USE_END) /* whether these are among the calls that a capture of mode global forbids is open */
            ask_legacy_beside(ask, &used, (enum use)use, ask->stream, "a non-blocking stream", 0);
        ask_expect(ask, "a launch in the blocking stream later", count_in(&used.args, blocking, 0), cudaSuccess);
        ask_expect(ask, "its end", cudaStreamSynchronize(blocking), cudaSuccess);
    }
    if (blocking)
        (void)cudaStreamDestroy(blocking);
    close_used(&used);
}

/* ---- cycles ---- */

#define MOST_IN_CYCLE 100u
static const unsigned cycle_sizes[] = { 1, 2, 3, 4, 9, 17, 40, MOST_IN_CYCLE };

/* By the call that also says what came of it: that it has succeeded it says of what it has not refused only. */
static cudaError_t instantiate_told(struct ask *ask, cudaGraphExec_t *exec, cudaGraph_t graph)
{
    cudaGraphInstantiateParams params = PDL_ZERO;
    cudaError_t error;

    params.result_out = cudaGraphInstantiateError;
    error = cudaGraphInstantiateWithParams(exec, graph, &params);
    ask_expect_number(ask, "it is said to have succeeded", params.result_out == cudaGraphInstantiateSuccess, error == cudaSuccess);
    return error;
}

/* Makes a graph executable, perhaps as a child graph of another one. */
static cudaError_t make_executable(struct ask *ask, cudaGraph_t graph, int in_child, int told)
{
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    cudaGraph_t outer = NULL;
    cudaError_t error = in_child ? cudaGraphCreate(&outer, 0) : cudaSuccess;

    if (error == cudaSuccess && in_child)
        error = cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph);
    if (error == cudaSuccess)
        error = told ? instantiate_told(ask, &exec, in_child ? outer : graph) : cudaGraphInstantiate(&exec, in_child ? outer : graph, 0);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (outer)
        (void)cudaGraphDestroy(outer);
    return error;
}

/* Nodes in a line whose last edge goes back to one before it. Where that is refused, when the edge is added or when the graph, or the one
 * around it, is made executable, is not promised. Without that edge it is made executable, and said to have been. */
static void ask_cycle(struct ask *ask, unsigned nodes, unsigned back_to, unsigned port, int in_child)
{
    struct kernel_args args = PDL_ZERO;
    cudaGraphNode_t node[MOST_IN_CYCLE];
    cudaGraphEdgeData data = edges_data(port, 0, port != 0);
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    char text[128];
    unsigned i;

    for (i = 0; i < nodes && error == cudaSuccess; i++)
        error = ask_add_kernel(&node[i], graph, (const void *)SYMBOL(limits_count), &args, 1);
    for (i = 0; i + 1 < nodes && error == cudaSuccess; i++)
        error = edges_add(graph, &node[i], &node[i + 1], &data, 1);
    snprintf(text, sizeof(text), "%u nodes in a line, by edges of port %u", nodes, port);
    ask_expect(ask, text, error, cudaSuccess);
    if (error == cudaSuccess && back_to == 0)
        ask_expect(ask, "the line made executable", make_executable(ask, graph, in_child, 1), cudaSuccess);
    if (error == cudaSuccess)
        error = edges_add(graph, &node[nodes - 1], &node[back_to], &data, 1);
    if (error == cudaSuccess)
        error = make_executable(ask, graph, in_child, (int)(nodes + back_to) % 2);
    (void)cudaGetLastError();
    snprintf(text, sizeof(text), "%u nodes, the last before number %u, by edges of port %u%s", nodes, back_to + 1, port,
             in_child ? ", in a child graph" : "");
    ask_expect_refusal(ask, text, error);
    (void)cudaGraphDestroy(graph);
}

static void ask_cycles(struct ask *ask)
{
    unsigned i, k, port;

    for (i = 0; i < sizeof(cycle_sizes) / sizeof(cycle_sizes[0]); i++)
        for (k = 0; k < 2 * 3 * 2; k++) {
            port = k / 2 % 3;
            ask_cycle(ask, cycle_sizes[i], k < 6 ? 0 : cycle_sizes[i] / 2, port, k % 2 != 0);
        }
}

#include "limits_updates.h"

static const struct pair limits_pairs[] = {
    PAIR_ASK("shapes", ask_shapes),
    PAIR_ASK("legacy", ask_legacy),
    PAIR_ASK("cycles", ask_cycles),
    PAIR_ASK("updates", ask_updates),
};
IMAGE(limits, limits_pairs)
