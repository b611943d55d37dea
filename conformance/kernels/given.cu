/* given.cu - a kernel runs in the shape that it was last given, whichever call gave it.
 *
 * pair     rules     what is asked
 * calls    ATTR-15c  launches by each call of the runtime and of the driver, cooperative ones too: grid, block and dynamic shared memory, also
 *                    one number of them alone; in clusters, with each other attribute
 * nodes    ATTR-15c  nodes that are given another shape and other arguments than they had, and every other one another kernel: by each call that
 *                    gives parameters, also while they are disabled, by an update, in a clone and in child graphs, also one number or another
 *                    kernel alone (given_lone.h); each stands in a row with another kernel of another shape, after it or before it; captured
 *                    launches by each call; a node that is refused parameters and attributes
 * sets     ATTR-15d  memset nodes of one row or several that had another place, value, width, element or pitch before, in the same ways; each
 *                    stands beside another one, added before it or after it
 * copies   ATTR-15d  copy nodes of a row, rows or layers that had another place, width, number or distance of them before, in the same ways
 * hosts    ATTR-15h  40 host functions in a graph, each with data of its own: in a line and side by side; added, captured, given other data
 *                    in the graph and in the executable one, cloned, updated and in a child graph
 * crowds   ATTR-15c  cooperative launches of more blocks than fit, by each call: refused, and nothing runs
 */
#include <string.h>

#include "driver_launch.h"
#include "graph_ask.h"
#include "host_room.h"

#define TOLD_SHAPE 9u          /* the grid, a block and a cluster in x, y and z */
#define TOLD (TOLD_SHAPE + 2)  /* ... the bytes of dynamic shared memory, and which kernel it is */

/* Every block whose x is 0 says the same. */
DEVICE_FN void tells_shape(const struct kernel_args *args, uint32_t kernel)
{
    uint32_t shape[TOLD_SHAPE], i;

    k_shape(shape);
    if (k_thread() != 0 || k_block() != 0)
        return;
    for (i = 0; i < TOLD_SHAPE; i++)
        k_store(args->data + i, shape[i]);
    k_store(args->data + TOLD_SHAPE, k_dynamic_shared());
    k_store(args->data + TOLD_SHAPE + 1, kernel);
}

KERNEL(given_tells) { tells_shape(&args, 0); }
KERNEL(given_tells_too) { tells_shape(&args, 1); }

struct shape {
    unsigned grid[3], block[3], shared;
    unsigned cluster[3];        /* where clusters are asked */
    unsigned kernel;            /* 1: given_tells_too */
};
#define SHAPES 4u
#define LONE_SHAPES 9u         /* behind those: the first of them, and others that differ from it in one number alone */
#define LONE_CLUSTERED (SHAPES + LONE_SHAPES) /* two that differ in their clusters */
/* The second to the fourth differ from each other in all places, and the first from each of them in all but one or two. */
static const struct shape shapes[LONE_CLUSTERED + 2] = {
    { { 1, 1, 1 }, { 4, 1, 1 }, 0, { 1, 1, 1 }, 0 },
    { { 2, 3, 1 }, { 2, 2, 3 }, 256, { 2, 1, 1 }, 0 },
    { { 3, 1, 2 }, { 1, 3, 2 }, 1000, { 1, 1, 2 }, 1 },
    { { 1, 2, 3 }, { 3, 1, 4 }, 512, { 1, 2, 1 }, 1 },
    { { 2, 2, 2 }, { 2, 2, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 3, 2, 2 }, { 2, 2, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 3, 2 }, { 2, 2, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 2, 3 }, { 2, 2, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 3, 2, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 2, 3, 2 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 2, 2, 3 }, 256, { 1, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 2, 2, 2 }, 512, { 1, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 2, 2, 2 }, 256, { 1, 1, 1 }, 1 },
    { { 2, 2, 2 }, { 2, 2, 2 }, 256, { 2, 1, 1 }, 0 },
    { { 2, 2, 2 }, { 2, 2, 2 }, 256, { 1, 2, 1 }, 0 },
};

struct given {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args, elsewhere; /* elsewhere: of other nodes, and of a node before it is given something */
    void *launch, *launch_cooperative; /* the driver's; NULL: it has none */
    CUfunction function[2];
    void *values[1];            /* the kernel's arguments */
    int before;                 /* nodes are added with parameters that they will not run with */
    int same_args;              /* ... but with the arguments that they will */
    unsigned goes_first;        /* not 0: of two nodes of a graph the one that is asked about is the first; while disabled it is given twice */
    int clusters;               /* kernel nodes are made with the clusters of their shapes */
    const struct move *moves;   /* what memset and copy nodes are given */
    unsigned wrong, trials;
};

static const void *kernel_of(const struct shape *s)
{
    return s->kernel ? (const void *)SYMBOL(given_tells_too) : (const void *)SYMBOL(given_tells);
}

static int open_given(struct given *g, struct ask *ask)
{
    cudaFunction_t function[2] = { NULL, NULL };

    g->ask = ask;
    if (!open_room(&g->room, &g->args) || cudaGetFuncBySymbol(&function[0], (const void *)SYMBOL(given_tells)) != cudaSuccess ||
        cudaGetFuncBySymbol(&function[1], (const void *)SYMBOL(given_tells_too)) != cudaSuccess) {
        ask_skip(ask, "pinned host memory and functions of the driver", "not given");
        return 0;
    }
    g->function[0] = (CUfunction)function[0];
    g->function[1] = (CUfunction)function[1];
    g->elsewhere = g->args;
    g->elsewhere.data += (offsetof(struct host_room, beside) - offsetof(struct host_room, data)) / sizeof(uint32_t);
    g->values[0] = &g->args;
    g->launch = driver_function_if_any("cuLaunchKernel", 4000);
    g->launch_cooperative = driver_function_if_any("cuLaunchCooperativeKernel", 9000);
    return 1;
}

static dim3 sizes(const unsigned *of)
{
    dim3 d;

    d.x = of[0];
    d.y = of[1];
    d.z = of[2];
    return d;
}

/* ---- launches by each call ---- */

enum call { CALL_PLAIN, CALL_CONFIG, CALL_DRIVER, CALL_DRIVER_CONFIG, CALL_COOPERATIVE, CALL_CONFIG_COOPERATIVE, CALL_DRIVER_COOPERATIVE,
            CALL_DRIVER_CONFIG_COOPERATIVE, CALLS };
static const char *const call_names[CALLS] = { "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
                                               "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC, cooperative",
                                               "cuLaunchCooperativeKernel", "cuLaunchKernelEx, cooperative" };

static int has_call(const struct given *g, enum call call)
{
    switch (call) {
    case CALL_DRIVER: return g->launch != NULL;
    case CALL_DRIVER_COOPERATIVE: return g->launch_cooperative != NULL;
    default: return 1;
    }
}

static cudaError_t launch_config(const struct shape *s, void **params, cudaStream_t stream, int cooperative, int by_driver)
{
    cudaLaunchAttribute attribute = cooperatively();
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = sizes(s->grid);
    config.blockDim = sizes(s->block);
    config.dynamicSmemBytes = s->shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cooperative ? 1 : 0;
    return by_driver ? launch_by_driver(&config, kernel_of(s), params) : cudaLaunchKernelExC(&config, kernel_of(s), params);
}

static cudaError_t launch_driver(const struct given *g, const struct shape *s, void **params, cudaStream_t stream, int cooperative)
{
    typedef CUresult(CUDAAPI *plain_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
    typedef CUresult(CUDAAPI *cooperative_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **);

    CUfunction function = g->function[s->kernel];

    if (cooperative)
        return (cudaError_t)((cooperative_fn)g->launch_cooperative)(function, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
                                                                    s->block[2], s->shared, (CUstream)stream, params);
    return (cudaError_t)((plain_fn)g->launch)(function, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->shared,
                                              (CUstream)stream, params, NULL);
}

static cudaError_t launch_by(const struct given *g, enum call call, const struct shape *s, cudaStream_t stream)
{
    struct kernel_args copy = g->args;
    const void *kernel = kernel_of(s);
    void *params[1];

    params[0] = &copy;
    switch (call) {
    case CALL_PLAIN: return cudaLaunchKernel(kernel, sizes(s->grid), sizes(s->block), params, s->shared, stream);
    case CALL_COOPERATIVE: return cudaLaunchCooperativeKernel(kernel, sizes(s->grid), sizes(s->block), params, s->shared, stream);
    case CALL_CONFIG:
    case CALL_CONFIG_COOPERATIVE: return launch_config(s, params, stream, call == CALL_CONFIG_COOPERATIVE, 0);
    case CALL_DRIVER:
    case CALL_DRIVER_COOPERATIVE: return launch_driver(g, s, params, stream, call == CALL_DRIVER_COOPERATIVE);
    default: return launch_config(s, params, stream, call == CALL_DRIVER_CONFIG_COOPERATIVE, 1);
    }
}

/* No document says in which steps a device gives shared memory: 1000 bytes may be some more. */
static unsigned shared_differs(uint32_t told, unsigned want) { return want % 256 ? told < want || told > want + 256 : told != want; }

/* What the kernel told since this was asked last is what it was given. */
static cudaError_t look_at_shape(struct given *g, const struct shape *s)
{
    cudaError_t error = cudaStreamSynchronize(g->ask->stream);
    volatile const uint32_t *told = g->room->data;
    unsigned want[TOLD_SHAPE] = { 0, 0, 0, 0, 0, 0, 1, 1, 1 }, i, differs = 0;

    memcpy(want, s->grid, sizeof(s->grid));
    memcpy(want + 3, s->block, sizeof(s->block));
    if (g->clusters)
        memcpy(want + 6, s->cluster, sizeof(s->cluster));
    for (i = 0; i < TOLD_SHAPE; i++)
        differs |= told[i] != want[i];
    differs |= shared_differs(told[TOLD_SHAPE], s->shared) || told[TOLD_SHAPE + 1] != s->kernel;
    g->wrong += error == cudaSuccess && differs;
    g->trials++;
    memset(g->room->data, 0xFF, TOLD * sizeof(uint32_t));
    return error;
}

/* A launch that no device takes, of too many threads or with too much shared memory, in the clusters of this shape and in the remote domain: what is
 * launched next has nothing of it. */
static void launch_in_vain(struct given *g, const struct shape *s, unsigned turn)
{
    cudaLaunchAttribute attrs[2] = { in_remote_domain(), in_clusters(1) };
    struct kernel_args copy = g->elsewhere;
    cudaLaunchConfig_t config = PDL_ZERO;
    void *params[1];

    params[0] = &copy;
    attrs[1].val.clusterDim.x = s->cluster[0];
    attrs[1].val.clusterDim.y = s->cluster[1];
    attrs[1].val.clusterDim.z = s->cluster[2];
    config.gridDim = sizes(s->grid);
    config.blockDim = sizes(s->block);
    config.blockDim.x *= turn % 2 ? 1u << 16 : 1;
    config.dynamicSmemBytes = turn % 2 ? 0 : (size_t)1 << 24;
    config.stream = g->ask->stream;
    config.attrs = attrs;
    config.numAttrs = 2;
    ask_expect_refusal(g->ask, "a launch in clusters that no device takes",
                       turn / 2 % 2 ? launch_by_driver(&config, kernel_of(s), params) : cudaLaunchKernelExC(&config, kernel_of(s), params));
    (void)cudaGetLastError();
}

static void ask_beside(struct given *g); /* given_beside.h and given_lone.h, which need what comes first */
static cudaError_t launch_lone(struct given *g, enum call call);

static void ask_calls(struct ask *ask)
{
    struct given g = PDL_ZERO;
    cudaError_t error;
    unsigned call, i;

    if (!open_given(&g, ask))
        return;
    for (call = 0; call < CALLS; call++) {
        error = cudaSuccess;
        for (i = 0; i < SHAPES && has_call(&g, (enum call)call) && error == cudaSuccess; i++) {
            if (call % 2)
                launch_in_vain(&g, &shapes[i], call / 2 + i);
            error = launch_by(&g, (enum call)call, &shapes[i], ask->stream);
            if (error == cudaSuccess)
                error = look_at_shape(&g, &shapes[i]);
        }
        if (has_call(&g, (enum call)call) && error == cudaSuccess)
            error = launch_lone(&g, (enum call)call);
        ask_expect(ask, call_names[call], error, cudaSuccess);
    }
    ask_beside(&g);
    ask_expect_none(ask, "launches that ran in another shape", g.wrong, g.trials);
    (void)cudaFreeHost(g.room);
}

/* ---- nodes ---- */

#include "given_ways.h"

/* A launch by this call, captured: the node tells whether it is cooperative, and the graph runs it in its shape. */
static cudaError_t run_captured(struct given *g, enum call call, const struct shape *s)
{
    cudaStream_t stream = g->ask->stream;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    size_t one = 1;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_by(g, call, s, stream);
    end = cudaStreamEndCapture(stream, &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(graph, &node, &one);
    if (error == cudaSuccess)
        expect_cooperative(g, node, call >= CALL_COOPERATIVE);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = look_at_shape(g, s);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

#include "given_lone.h"
#include "given_beside.h"
#include "given_refused.h"

static void ask_nodes(struct ask *ask)
{
    struct given g = PDL_ZERO;
    unsigned call, turn;

    if (!open_given(&g, ask))
        return;
    ask_ways(&g, &shape_subject, SHAPES);
    for (call = 0; call < CALLS; call++) {
        cudaError_t error = cudaSuccess;
        for (turn = 0; turn < SHAPES && has_call(&g, (enum call)call) && error == cudaSuccess; turn++)
            error = run_captured(&g, (enum call)call, &shapes[turn]);
        ask_expect(ask, call_names[call], error, cudaSuccess);
    }
    ask_clusters(&g);
    ask_lone_ways(&g);
    ask_lone_clusters(&g);
    ask_lent_clusters(&g);
    ask_nodes_beside(&g);
    ask_refused(&g);
    ask_expect_none(ask, "kernels of graphs that ran in another shape", g.wrong, g.trials);
    (void)cudaFreeHost(g.room);
}

#include "given_moves.h"
#include "given_hosts.h"

/* ---- crowds ---- */

/* "The total number of blocks launched cannot exceed the maximum number of blocks per multiprocessor ... times the number of multiprocessors" */
static void ask_crowds(struct ask *ask)
{
    struct given g = PDL_ZERO;
    struct shape crowd = { { 1, 1, 1 }, { 32, 1, 1 }, 512, { 1, 1, 1 }, 0 };
    int device = 0, processors = 0, fit = 0, cooperative = 0;
    unsigned call, ran = 0;

    if (!open_given(&g, ask))
        return;
    ask_expect(ask, "the device", cudaGetDevice(&device), cudaSuccess);
    ask_expect(ask, "whether it takes cooperative launches", cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device), cudaSuccess);
    ask_expect(ask, "its multiprocessors", cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), cudaSuccess);
    ask_expect(ask, "how many blocks fit", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)SYMBOL(given_tells), 32, crowd.shared),
               cudaSuccess);
    crowd.grid[0] = (unsigned)(processors * fit) + 1;
    memset(g.room->data, 0xFF, TOLD * sizeof(uint32_t));
    for (call = CALL_COOPERATIVE; call < CALLS && cooperative; call++)
        if (has_call(&g, (enum call)call))
            ask_expect_refusal(ask, call_names[call], launch_by(&g, (enum call)call, &crowd, ask->stream));
    ask_expect(ask, "the end of the stream", cudaStreamSynchronize(ask->stream), cudaSuccess);
    ran = g.room->data[0] != 0xFFFFFFFFu;
    ask_expect_number(ask, "a kernel that was refused ran", (long)ran, 0);
    (void)cudaFreeHost(g.room);
}

static const struct pair given_pairs[] = {
    PAIR_ASK("calls", ask_calls),
    PAIR_ASK("nodes", ask_nodes),
    PAIR_ASK("sets", ask_sets),
    PAIR_ASK("copies", ask_copies),
    PAIR_ASK("hosts", ask_hosts),
    PAIR_ASK("crowds", ask_crowds),
};
IMAGE(given, given_pairs)
