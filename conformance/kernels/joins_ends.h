/* joins_ends.h - for the pair `wide` of joins.cu: a graph, a child graph or a body that ends in very many nodes, or begins with them. */
#ifndef JOINS_ENDS_H_INCLUDED
#define JOINS_ENDS_H_INCLUDED

enum ends_in { ENDS_GRAPH, ENDS_CHILD, ENDS_BODY };

/* Where they lie, how many they are, in places, and whether what comes after or before them stands in the graph as well. In the first six turns more
 * than 64 of them stand in a body, and in a child graph. */
struct ends {
    enum ends_in in;
    unsigned places, beside;
};

static struct ends ends_of(const struct joins *joins)
{
    static const unsigned places[] = { 2, 9, 5, 3 };
    unsigned turn = joins->trial / WIDE_WAYS;
    struct ends ends;

    ends.in = (enum ends_in)(turn % (has_conditions() ? ENDS_BODY + 1u : ENDS_BODY));
    ends.places = places[turn % 4];
    ends.beside = ends.in != ENDS_GRAPH && turn / 3 % 2;
    return ends;
}

/* inside receives the graph itself, or that of a child graph or a body in it, whose node is the first one. */
static cudaError_t open_ends(cudaGraph_t *graph, enum ends_in in, cudaGraphNode_t *node, cudaGraph_t *inside)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    *inside = *graph;
    if (error == cudaSuccess && in == ENDS_CHILD)
        error = ask_add_empty_child(node, *graph, inside);
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && in == ENDS_BODY)
        error = ask_add_if(node, *graph, *graph, 1, inside);
#endif
    return error;
}

static cudaError_t launch_ends(cudaGraph_t graph, cudaGraphExec_t *exec, cudaStream_t stream)
{
    cudaError_t error = cudaGraphInstantiate(exec, graph, 0);

    return error == cudaSuccess ? cudaGraphLaunch(*exec, stream) : error;
}

static cudaError_t close_ends(cudaGraph_t graph, cudaGraphExec_t exec, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();

    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* In the stream, by each way in turn; the last one is a kernel with attribute 6, which waits. */
static cudaError_t follow_ends(struct joins *joins, cudaStream_t stream)
{
    static const enum follow_by ways[] = { FOLLOW_KERNEL, FOLLOW_EVENT, FOLLOW_COPY, FOLLOW_GRAPH, FOLLOW_HOST };
    unsigned turn = joins->trial / WIDE_WAYS, count = sizeof(ways) / sizeof(ways[0]), way = (turn + turn / 6) % (count + 1);
    cudaLaunchAttribute six = serialization(1);

    if (way < count)
        return follow_by(joins, ways[way], stream);
    return launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, stream), &six, 1);
}

/* What comes next comes after each of many ends, any one of which may be the last to end. */
static cudaError_t wide_ends(struct joins *joins)
{
    const struct ends ends = ends_of(joins);
    cudaGraphNode_t first, node[WIDE_NODES];
    cudaGraph_t graph = NULL, inside = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    prepare_wide(joins, ends.places, 1, joins->trial / WIDE_WAYS / 6 % 2);
    error = open_ends(&graph, ends.in, &first, &inside);
    if (error == cudaSuccess)
        error = add_words(joins, inside, node, ends.places * PLACE_WORDS);
    if (error == cudaSuccess && ends.beside)
        error = add_follower(joins, graph, 0, &first, 1, 0);
    if (error == cudaSuccess)
        error = launch_ends(graph, &exec, joins->stream[0]);
    if (error == cudaSuccess && !ends.beside)
        error = follow_ends(joins, joins->stream[0]);
    return close_ends(graph, exec, error);
}

/* Each of many readers comes after the work, and after nothing in its own graph. */
static cudaError_t wide_roots(struct joins *joins)
{
    const struct ends ends = ends_of(joins);
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaStream_t stream = joins->stream[0];
    cudaGraphNode_t first, node;
    cudaGraph_t graph = NULL, inside = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned readers = ends.places * PLACE_WORDS, i;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = open_ends(&graph, ends.in, &first, &inside);
    for (i = 0; i < readers && error == cudaSuccess; i++) {
        struct kernel_args args = reader_args(joins, i);
        error = ask_add_kernel(&node, inside, (const void *)SYMBOL(joins_follower), &args, PLACE_WORDS);
    }
    if (error == cudaSuccess && ends.beside)
        error = add_work(joins, graph, 0, &node);
    if (error == cudaSuccess && ends.beside && FOLLOWS_IN_GRAPH)
        error = edges_add(graph, &node, &first, &full, 1);
    if (error == cudaSuccess && !ends.beside)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = launch_ends(graph, &exec, FOLLOWS_IN(joins, stream));
    error = close_ends(graph, exec, error);
    joins->pinned->host_is_stale = readers_are_stale(joins, readers);
    return error;
}

#endif
