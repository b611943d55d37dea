/* from_device_graph.cu - COMP-11: graphs that a kernel launches, by the device runtime's three ways.
 *
 * edge    a graph of writer and reader is launched: does the edge between them mean what it means from the host?
 * member  the launcher is a primary: does its dependent's edge, or wait, cover the graph that it launched?
 * behind  a kernel follows the launcher's graph in its stream: does it also follow the launched graph?
 * root    the launched graph's first kernel waits, while its launcher still works: what does that wait cover?
 *
 * All stores are late. stale: trials whose reader missed words. If this driver refuses a way, its code is printed.
 */
#include "edges.h"
#include "from_device.h"

enum way { WAY_HOST, WAY_FORGET, WAY_TAIL, WAY_SIBLING, WAYS };

static const char *const way_names[] = { "from the host", "fired and forgotten", "tail", "sibling" };

/* How a reader is ordered after what stores, and whether it waits. */
struct link {
    const char *name;
    unsigned port, type;
    int waits;
};

static const struct link links[] = {
    { "full edge, no wait", 0, 0, 0 },
    { "programmatic edge", 1, 1, 1 },
    { "programmatic edge, no wait", 1, 1, 0 },
    { "block-start edge", 2, 1, 1 },
};
enum { LINKS = sizeof(links) / sizeof(links[0]) };

/* ---- kernels ---- */

__device__ static void launch_graph(struct shared *s, cudaGraphExec_t exec, int way)
{
    cudaStream_t stream = way == WAY_TAIL ? cudaStreamGraphTailLaunch : cudaStreamGraphFireAndForget;
    cudaError_t error;

    if (way == WAY_SIBLING)
        stream = cudaStreamGraphFireAndForgetAsSibling;
    error = cudaGraphLaunch(exec, stream);
    if (error != cudaSuccess)
        s->refused = (unsigned)error;
}

/* Triggers, holds until it is overlapped or the bound, stores. */
__global__ void graph_writer(struct shared *s)
{
    pdl_trigger();
    if (threadIdx.x == 0)
        meet(s);
    __syncthreads();
    store_late(s);
}

__global__ void graph_reader(struct shared *s, int waits)
{
    begin_early(s);
    if (waits)
        pdl_wait();
    read_words(s);
}

__global__ void launcher(struct shared *s, cudaGraphExec_t exec, int way)
{
    launch_graph(s, exec, way);
    pdl_trigger();
}

/* Stores late; the launched graph's first kernel may be early. */
__global__ void storing_launcher(struct shared *s, cudaGraphExec_t exec, int way)
{
    if (threadIdx.x == 0) {
        launch_graph(s, exec, way);
        pdl_trigger();
        meet(s);
    }
    __syncthreads();
    store_late(s);
}

/* ---- graphs ---- */

static cudaError_t add(cudaGraph_t graph, cudaGraphNode_t *node, const void *function, unsigned threads, void **params)
{
    struct cudaKernelNodeParams what = PDL_ZERO;

    what.func = (void *)function;
    what.gridDim = dim3(1);
    what.blockDim = dim3(threads);
    what.kernelParams = params;
    return cudaGraphAddKernelNode(node, graph, NULL, 0, &what);
}

static cudaError_t join(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, const struct link *link)
{
    cudaGraphEdgeData data = edges_data(link->port, 0, link->type);

    return edges_add(graph, &from, &to, &data, 1);
}

/* Makes the executable graph, which the device may launch, and destroys the graph. */
static cudaError_t make_launchable(cudaGraph_t graph, cudaGraphExec_t *exec, cudaStream_t stream)
{
    TRY(cudaGraphInstantiate(exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    TRY(cudaGraphUpload(*exec, stream));
    return cudaGraphDestroy(graph);
}

/* Writer, link, reader; without a link the writer alone. */
static cudaError_t make_inner(struct shared *s, const struct link *link, cudaGraphExec_t *exec, cudaStream_t stream)
{
    int waits = link ? link->waits : 0;
    void *params[] = { &s, &waits };
    cudaGraphNode_t writer, reader;
    cudaGraph_t graph;

    TRY(cudaGraphCreate(&graph, 0));
    TRY(add(graph, &writer, (const void *)graph_writer, WORDS, params));
    if (link) {
        TRY(add(graph, &reader, (const void *)graph_reader, WORDS, params));
        TRY(join(graph, writer, reader, link));
    }
    return make_launchable(graph, exec, stream);
}

static cudaError_t make_root(struct shared *s, cudaGraphExec_t *exec, cudaStream_t stream)
{
    int waits = 1;
    void *params[] = { &s, &waits };
    cudaGraphNode_t reader;
    cudaGraph_t graph;

    TRY(cudaGraphCreate(&graph, 0));
    TRY(add(graph, &reader, (const void *)graph_reader, WORDS, params));
    return make_launchable(graph, exec, stream);
}

/* The launcher's graph: a kernel that launches `inner`, and a reader after it if there is a link. */
static cudaError_t make_outer(struct shared *s, const void *function, unsigned threads, cudaGraphExec_t inner, int way,
                              const struct link *link, cudaGraphExec_t *exec)
{
    int waits = link ? link->waits : 0;
    void *params[] = { &s, &inner, &way }, *reading[] = { &s, &waits };
    cudaGraphNode_t first, reader;
    cudaGraph_t graph;

    TRY(cudaGraphCreate(&graph, 0));
    TRY(add(graph, &first, function, threads, params));
    if (link) {
        TRY(add(graph, &reader, (const void *)graph_reader, WORDS, reading));
        TRY(join(graph, first, reader, link));
    }
    TRY(cudaGraphInstantiate(exec, graph, 0));
    return cudaGraphDestroy(graph);
}

/* ---- questions ---- */

/* attribute: 0 or 1, of a waiting or bare reader that is launched after the graph; -1: there is none. */
static cudaError_t run_trials(const struct setup *setup, struct shared *s, unsigned trials, cudaGraphExec_t exec, int attribute,
                              cudaStream_t stream, struct counts *c)
{
    cudaLaunchAttribute overlap = overlapping();
    int waits = attribute == 1;
    void *params[] = { &s, &waits };
    unsigned i;

    for (i = 0; i < trials && !c->refused; i++) {
        TRY(empty(s, i, stream));
        TRY(cudaGraphLaunch(exec, stream));
        if (attribute >= 0)
            TRY(launch((const void *)graph_reader, WORDS, params, stream, &overlap, (unsigned)attribute));
        TRY(count_words(setup, s, stream, c));
    }
    return cudaSuccess;
}

static struct setup name_setup(const char *question, int way, const char *name)
{
    struct setup setup = { question, "COMP-11", "stale", "" };

    snprintf(setup.text, sizeof(setup.text), "%s, %s", way_names[way], name);
    return setup;
}

/* Runs the trials if both graphs could be made, prints the result and destroys the graphs. outer: NULL if the host launches `inner`. */
static cudaError_t finish(const char *question, int way, const char *name, cudaError_t made, struct shared *s, unsigned trials,
                          cudaGraphExec_t inner, cudaGraphExec_t outer, int attribute, cudaStream_t stream)
{
    struct setup setup = name_setup(question, way, name);
    struct counts c = PDL_ZERO;

    if (made == cudaSuccess)
        TRY(run_trials(&setup, s, trials, outer ? outer : inner, attribute, stream, &c));
    c.refused = made == cudaSuccess ? c.refused : (unsigned)made;
    tell(&setup, &c, 0);
    if (outer)
        TRY(cudaGraphExecDestroy(outer));
    return inner ? cudaGraphExecDestroy(inner) : cudaSuccess;
}

static cudaError_t ask_edge(struct shared *s, unsigned trials, int way, const struct link *link, cudaStream_t stream)
{
    cudaGraphExec_t inner = NULL, outer = NULL;
    cudaError_t made;

    if (!is_due())
        return cudaSuccess;
    made = make_inner(s, link, &inner, stream);
    if (made == cudaSuccess && way != WAY_HOST)
        made = make_outer(s, (const void *)launcher, 1, inner, way, NULL, &outer);
    return finish("edge", way, link->name, made, s, trials, inner, outer, -1, stream);
}

/* link: the dependent is a node of the launcher's graph, after the launcher; without one a kernel follows that graph. */
static cudaError_t ask_order(struct shared *s, unsigned trials, int way, const struct link *link, int attribute,
                             cudaStream_t stream)
{
    const char *name = link ? link->name : attribute ? "attribute and wait" : "ordinary launch, no wait";
    cudaGraphExec_t inner = NULL, outer = NULL;
    cudaError_t made;

    if (!is_due())
        return cudaSuccess;
    made = make_inner(s, NULL, &inner, stream);
    if (made == cudaSuccess)
        made = make_outer(s, (const void *)launcher, 1, inner, way, link, &outer);
    return finish(link ? "member" : "behind", way, name, made, s, trials, inner, outer, attribute, stream);
}

static cudaError_t ask_root(struct shared *s, unsigned trials, int way, cudaStream_t stream)
{
    cudaGraphExec_t inner = NULL, outer = NULL;
    cudaError_t made;

    if (!is_due())
        return cudaSuccess;
    made = make_root(s, &inner, stream);
    if (made == cudaSuccess)
        made = make_outer(s, (const void *)storing_launcher, WORDS, inner, way, NULL, &outer);
    return finish("root", way, "first kernel waits", made, s, trials, inner, outer, -1, stream);
}

/* The launcher alone, in a stream instead of a graph: is its launch from the device accepted? */
static cudaError_t ask_outside(struct shared *s, unsigned trials, cudaStream_t stream)
{
    int way = WAY_FORGET;
    struct setup setup = name_setup("edge", way, "programmatic edge, launcher in no graph");
    struct counts c = PDL_ZERO;
    cudaGraphExec_t inner;
    void *params[] = { &s, &inner, &way };
    unsigned i;

    if (!is_due())
        return cudaSuccess;
    TRY(make_inner(s, &links[1], &inner, stream));
    for (i = 0; i < trials && !c.refused; i++) {
        TRY(empty(s, i, stream));
        c.refused = (unsigned)launch((const void *)launcher, 1, params, stream, NULL, 0);
        if (!c.refused)
            TRY(count_words(&setup, s, stream, &c));
    }
    tell(&setup, &c, 0);
    return cudaGraphExecDestroy(inner);
}

cudaError_t ask_graphs(struct shared *s, unsigned trials, cudaStream_t stream)
{
    int way, link;

    for (way = WAY_HOST; way < WAYS; way++)
        for (link = 0; link < LINKS; link++)
            TRY(ask_edge(s, trials, way, &links[link], stream));
    for (way = WAY_FORGET; way < WAYS; way++) {
        for (link = 0; link < LINKS; link++)
            TRY(ask_order(s, trials, way, &links[link], -1, stream));
        TRY(ask_order(s, trials, way, NULL, 0, stream));
        TRY(ask_order(s, trials, way, NULL, 1, stream));
        TRY(ask_root(s, trials, way, stream));
    }
    return ask_outside(s, trials, stream);
}
