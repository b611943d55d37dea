/* joins_large_graphs.h - the part of joins.cu with graphs of 2,100 kernels, each of which comes after one other: the next one before it, or one that
 * was added up to 2,047 nodes before it. Each adds a number to what that one left, so that every edge shows, wherever a driver cuts the graph, and
 * every change of a node: by a call for each of them, by an update, in a copy. */
#ifndef JOINS_LARGE_GRAPHS_H_INCLUDED
#define JOINS_LARGE_GRAPHS_H_INCLUDED

#define LARGE_NODES 2100u

struct count_args {
    struct trial_state *state;
    const uint32_t *from;
    uint32_t *to;
    uint32_t adds, waits, hold_ns;
};

KERNEL_OF(joins_counts, struct count_args)
{
    k_trigger();
    if (args.waits)
        k_wait_device();
    k_delay(args.state, args.hold_ns);
    k_store(args.to, k_load(args.from) + args.adds);
}

/* One such graph, and what is expected of its nodes. */
struct large {
    const struct joins *joins;
    unsigned far, asked, wrong;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node[LARGE_NODES];
    uint32_t adds[LARGE_NODES], out[LARGE_NODES]; /* what it adds; whether it is disabled */
    struct count_args args; /* of the node at hand */
};

/* The node that this one comes after; LARGE_NODES: none. */
static unsigned comes_after(unsigned i, unsigned far)
{
    static const unsigned apart[] = { 63, 255, 1023, 2047 };
    unsigned back = far ? apart[i % 4] : 1;

    return i < back ? LARGE_NODES : i - back;
}

/* In the row all edges are programmatic; of the others half of each length, so that one of each kind leads over each border. */
static unsigned edge_waits(unsigned i, unsigned far) { return !far || i / 4 % 2; }

/* Around borders the words come late, also by other nodes than those next to them. */
static unsigned holds_large(unsigned i) { return (i + 3) % 64 < 6 ? 1500 : 0; }

static void *args_of_count(struct large *large, unsigned i)
{
    struct count_args *args = &large->args;

    args->state = large->joins->work[0].state;
    args->from = large->joins->longer + comes_after(i, large->far);
    args->to = large->joins->longer + i;
    args->adds = large->adds[i];
    args->waits = edge_waits(i, large->far);
    args->hold_ns = holds_large(i);
    return args;
}

static cudaError_t add_count(struct large *large, unsigned i)
{
    unsigned before = comes_after(i, large->far), waits = edge_waits(i, large->far);
    cudaGraphEdgeData data = edges_data(waits, 0, waits);
    struct kernel_args *args = (struct kernel_args *)args_of_count(large, i);
    cudaError_t error = ask_add_kernel(&large->node[i], large->graph, (const void *)SYMBOL(joins_counts), args, 1);

    if (error == cudaSuccess && before != LARGE_NODES) /* one by one: several in one call are EDGE-33's */
        error = edges_add(large->graph, &large->node[before], &large->node[i], &data, 1);
    return error;
}

static cudaError_t make_large(struct large *large, const struct joins *joins, unsigned far)
{
    cudaError_t error = cudaGraphCreate(&large->graph, 0);
    unsigned i;

    large->joins = joins;
    large->far = far;
    for (i = 0; i < LARGE_NODES && error == cudaSuccess; i++) {
        large->adds[i] = 1;
        error = add_count(large, i);
    }
    return error == cudaSuccess ? cudaGraphInstantiate(&large->exec, large->graph, 0) : error;
}

/* The words of a launch that are not what they come after and what their kernels add. A node that is disabled leaves what the memset left. */
static unsigned wrong_counts(const struct large *large, const uint32_t *words)
{
    static uint32_t want[LARGE_NODES + 1];
    unsigned wrong = 0, i;

    for (i = 0; i < LARGE_NODES; i++) {
        want[i] = large->out[i] ? 0 : want[comes_after(i, large->far)] + large->adds[i]; /* the word after the last one is 0: what a root begins with */
        wrong += words[i] != want[i];
    }
    return wrong;
}

static cudaError_t run_large(struct large *large)
{
    static uint32_t words[LARGE_NODES + 1];
    const struct joins *joins = large->joins;
    cudaError_t error = cudaMemsetAsync(joins->longer, 0, sizeof(words), joins->stream[0]);

    if (error == cudaSuccess)
        error = cudaGraphLaunch(large->exec, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(words, joins->longer, sizeof(words), cudaMemcpyDefault, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    large->asked++;
    large->wrong += error == cudaSuccess && wrong_counts(large, words) != 0;
    return error;
}

/* ---- what such graphs tell ---- */

/* What is told of the edge into a node. */
static int is_edge_into(const struct large *large, unsigned i, const cudaGraphEdgeData *told)
{
    cudaGraphEdgeData data = edges_data(edge_waits(i, large->far), 0, edge_waits(i, large->far));

    return memcmp(told, &data, sizeof(data)) == 0;
}

/* How many of these edges are none of the graph's. They are mostly told in the order in which they were added. */
static unsigned wrong_edges(const struct large *large, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                            size_t count)
{
    static unsigned char told[LARGE_NODES]; /* each node has one edge into it */
    unsigned wrong = 0, at = 0, looked;
    size_t i;

    memset(told, 0, sizeof(told));
    for (i = 0; i < count; i++) {
        for (looked = 0; looked < LARGE_NODES && large->node[at] != to[i]; looked++)
            at = (at + 1) % LARGE_NODES;
        wrong += looked == LARGE_NODES || comes_after(at, large->far) == LARGE_NODES || large->node[comes_after(at, large->far)] != from[i] ||
                 !is_edge_into(large, at, &data[i]) || told[at]++;
    }
    return wrong;
}

static void ask_edges_told(struct ask *ask, const struct large *large)
{
    static const char what[] = "the edges of 2,100 nodes";
    static cudaGraphNode_t from[LARGE_NODES], to[LARGE_NODES];
    static cudaGraphEdgeData data[LARGE_NODES];
    size_t count = LARGE_NODES, want = 0;
    unsigned i;

    for (i = 0; i < LARGE_NODES; i++)
        want += comes_after(i, large->far) != LARGE_NODES;
    ask_expect(ask, what, edges_of_graph(large->graph, from, to, data, &count), cudaSuccess);
    ask_expect_number(ask, what, (long)count, (long)want);
    ask_expect_number(ask, "edges told as others than they are", (long)(count == want ? wrong_edges(large, from, to, data, count) : 0), 0);
}

/* Whether this node of the clone comes after the clone of the node that it is to come after. */
static int found_in_clone(const struct large *large, cudaGraph_t clone, unsigned i)
{
    unsigned back = comes_after(i, large->far);
    cudaGraphNode_t node = NULL, before = NULL, told = NULL;
    cudaGraphEdgeData data = PDL_ZERO;
    size_t count = 1;

    if (back == LARGE_NODES)
        return 1;
    if (cudaGraphNodeFindInClone(&node, large->node[i], clone) != cudaSuccess ||
        cudaGraphNodeFindInClone(&before, large->node[back], clone) != cudaSuccess || edges_into_node(node, &told, &data, &count) != cudaSuccess)
        return 0;
    return count == 1 && told == before && is_edge_into(large, i, &data);
}

static void ask_found_in_clone(const struct large *large, cudaGraph_t clone)
{
    unsigned wrong = 0, i;

    for (i = 0; i < LARGE_NODES; i += 37)
        wrong += !found_in_clone(large, clone, i);
    ask_expect_number(large->joins->ask, "nodes of a clone of 2,100 that come after another node than they are to", (long)wrong, 0);
}

/* ---- changes of all nodes, each before one launch ---- */

enum large_change { LARGE_AS_MADE, LARGE_AGAIN, LARGE_GIVEN, LARGE_GIVEN_GENERALLY, LARGE_UPDATED, LARGE_COPIED, LARGE_CHANGES };

/* The node adds another number: in the executable graph, or in its graph. */
static cudaError_t give_count(struct large *large, unsigned i, enum large_change change)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(joins_counts), 1, values);

    large->adds[i] = 1 + (unsigned)change;
    values[0] = args_of_count(large, i);
    if (change == LARGE_UPDATED)
        return cudaGraphKernelNodeSetParams(large->node[i], &params);
#if CUDART_VERSION >= 12040
    if (change == LARGE_GIVEN_GENERALLY) {
        struct cudaGraphNodeParams general = ask_generally(&params);
        return cudaGraphExecNodeSetParams(large->exec, large->node[i], &general);
    }
#endif
    return cudaGraphExecKernelNodeSetParams(large->exec, large->node[i], &params);
}

/* Of the graph with far edges: full ones lead into this node and out of it, past which a disabled kernel keeps the order (EDGE-27a). */
static unsigned between_full(unsigned i) { return (i % 8 == 1 || i % 8 == 2) && i + 255 < LARGE_NODES; }

/* Nearly all are given parameters while many are disabled; then all are, and run again. */
static cudaError_t give_counts(struct large *large, enum large_change change)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < LARGE_NODES && error == cudaSuccess; i++) {
        unsigned out = change == LARGE_GIVEN && between_full(i);
        if (change != LARGE_GIVEN || i % 64 != 63)
            error = give_count(large, i, change);
        if (error == cudaSuccess && out != large->out[i])
            error = cudaGraphNodeSetEnabled(large->exec, large->node[i], !out);
        large->out[i] = out;
    }
    return error;
}

static cudaError_t update_large(struct large *large)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaError_t error = give_counts(large, LARGE_UPDATED);

    return error == cudaSuccess ? cudaGraphExecUpdate(large->exec, large->graph, &info) : error;
}

/* A clone of the graph, in a graph around it. */
static cudaError_t copy_large(struct large *large)
{
    cudaGraph_t clone = NULL, around = NULL;
    cudaGraphNode_t child = NULL;
    cudaError_t error = cudaGraphClone(&clone, large->graph);

    (void)cudaGraphExecDestroy(large->exec);
    large->exec = NULL;
    if (error == cudaSuccess) {
        ask_found_in_clone(large, clone);
        error = cudaGraphCreate(&around, 0);
    }
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&child, around, NULL, 0, clone);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&large->exec, around, 0);
    if (around)
        (void)cudaGraphDestroy(around);
    if (clone)
        (void)cudaGraphDestroy(clone);
    return error;
}

static cudaError_t change_large(struct large *large, enum large_change change)
{
    switch (change) {
    case LARGE_GIVEN:
    case LARGE_GIVEN_GENERALLY: return give_counts(large, change);
    case LARGE_UPDATED: return update_large(large);
    case LARGE_COPIED: return copy_large(large);
    default: return cudaSuccess;
    }
}

static void drop_large(struct large *large)
{
    if (large->exec)
        (void)cudaGraphExecDestroy(large->exec);
    if (large->graph)
        (void)cudaGraphDestroy(large->graph);
}

/* The row is launched twice as it was made, the other graph once, and after each change. */
static void ask_large_graph(struct ask *ask, const struct joins *joins, unsigned far)
{
    static const char *const after[] = { "graphs of 2,100 kernels", "graphs of 2,100 kernels, again", "2,100 nodes that are given parameters or disabled",
                                         "2,100 nodes that are given parameters by the general call", "an update of 2,100 nodes",
                                         "a clone of 2,100 nodes as a child graph" };
    static struct large large;
    unsigned change, most = far ? LARGE_CHANGES : LARGE_GIVEN;
    cudaError_t error;

    memset(&large, 0, sizeof(large));
    error = make_large(&large, joins, far);
    if (error == cudaSuccess && far)
        ask_edges_told(ask, &large);
    for (change = 0; change < most && error == cudaSuccess; change++) {
        if (far && change == LARGE_AGAIN)
            continue;
        error = change_large(&large, (enum large_change)change);
        if (change == LARGE_UPDATED && error == cudaErrorGraphExecUpdateFailure) { /* the graph is what it was to become all the same */
            ask_expect_update(ask, after[change], error);
            error = cudaSuccess;
            continue;
        }
        if (error == cudaSuccess)
            error = run_large(&large);
        ask_expect(ask, after[change], error, cudaSuccess);
    }
    ask_expect(ask, "graphs of 2,100 kernels", error, cudaSuccess);
    ask_expect_none(ask, far ? "stale after nodes up to 2,047 before, or other nodes than they were changed to" : "stale in a row of 2,100 nodes",
                    large.wrong, large.asked);
    drop_large(&large);
}

/* The mutant has no part in it. */
static void ask_large_graphs(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    unsigned far;
    cudaError_t error = FOLLOWS_IN_GRAPH ? open_joins(&joins, ask, cudaStreamNonBlocking) : cudaSuccess;

    if (!FOLLOWS_IN_GRAPH)
        return;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&joins.longer, (LARGE_NODES + 1) * sizeof(uint32_t));
    ask_expect(ask, "memory of large graphs", error, cudaSuccess);
    for (far = 0; far < 2 && error == cudaSuccess; far++)
        ask_large_graph(ask, &joins, far);
    close_joins(&joins);
}

#endif
