/* joins_symbols.h - the pair of joins.cu with memory of the device that has a name: copies to it and from it by that name come after the work before
 * them, wherever that stands, and move the bytes that their offset says. Launched, captured and as nodes. */
#ifndef JOINS_SYMBOLS_H_INCLUDED
#define JOINS_SYMBOLS_H_INCLUDED

#define NAMED_WORDS 64u
#define NAMED_WAYS 8u

DEVICE_WORDS(joins_named, NAMED_WORDS);

enum named_manner { NAMED_LAUNCHED, NAMED_CAPTURED, NAMED_NODES, NAMED_DEPENDENT };

struct naming {
    struct joins *joins;
    enum named_manner manner;
    int to;                    /* words are copied there; else from there. NAMED_DEPENDENT: captured */
    size_t offset;             /* bytes */
    struct kernel_args work, reads;
};

/* Work stores there late. What it stores is copied out, or copied over with what it was to store, and read. */
static cudaError_t open_naming(struct naming *n)
{
    static const size_t words[] = { 0, 1, 3, 4, 17, NAMED_WORDS - PLACE_WORDS };
    struct joins *joins = n->joins;
    void *at = NULL;
    size_t bytes = 0;
    cudaError_t error = cudaGetSymbolAddress(&at, WORDS_OF(joins_named));

    if (error == cudaSuccess)
        error = cudaGetSymbolSize(&bytes, WORDS_OF(joins_named));
    prepare(joins, 1, 1);
    n->manner = (enum named_manner)(joins->trial % NAMED_WAYS / 2);
    n->to = joins->trial % 2 != 0;
    n->offset = 4 * words[joins->round % (sizeof(words) / sizeof(words[0]))];
    n->work = joins->work[n->manner == NAMED_DEPENDENT ? 0 : n->to];
    n->reads = joins->follower[0];
    n->work.data = n->reads.data = (uint32_t *)at + n->offset / 4;
    store_fresh(joins->pinned, 0, joins->pinned->seen[1]);
    return error == cudaSuccess && bytes != NAMED_WORDS * sizeof(uint32_t) ? cudaErrorInvalidValue : error;
}

static cudaError_t copy_by_name(const struct naming *n, cudaStream_t stream)
{
    struct pinned *pinned = n->joins->pinned;

    return n->to ? cudaMemcpyToSymbolAsync(WORDS_OF(joins_named), pinned->seen[1], ROW_BYTES, n->offset, cudaMemcpyHostToDevice, stream)
                 : cudaMemcpyFromSymbolAsync(pinned->seen[0], WORDS_OF(joins_named), ROW_BYTES, n->offset, cudaMemcpyDeviceToHost, stream);
}

/* Captured work stands in line. */
static cudaError_t queue_by_name(struct naming *n, cudaStream_t *blocking)
{
    enum standing standing = n->manner == NAMED_LAUNCHED ? (enum standing)(n->joins->round % STANDINGS) : STANDS_IN_LINE;
    cudaStream_t stream = NULL;
    cudaError_t error = work_before(n->joins, standing, &n->work, blocking, &stream);

    if (error == cudaSuccess)
        error = copy_by_name(n, FOLLOWS_IN(n->joins, stream));
    if (error != cudaSuccess || !n->to)
        return error;
    return launch_one((const void *)SYMBOL(joins_follower), &n->reads, PLACE_WORDS, stream, NULL, 0);
}

/* A dependent reads there before its wait, and after it. */
static cudaError_t queue_dependent_by_name(struct naming *n, cudaStream_t stream)
{
    cudaLaunchAttribute six = serialization(1);
    cudaError_t error = launch_one((const void *)SYMBOL(joins_work), &n->work, PLACE_WORDS, stream, NULL, 0);

    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_early_follower), &n->reads, PLACE_WORDS, FOLLOWS_IN(n->joins, stream), &six, 1);
}

static cudaError_t add_by_name(struct naming *n, cudaGraph_t graph)
{
    struct pinned *pinned = n->joins->pinned;
    cudaGraphNode_t work, copy, reads;
    cudaError_t error = ask_add_kernel(&work, graph, (const void *)SYMBOL(joins_work), &n->work, PLACE_WORDS);

    if (error == cudaSuccess && n->to)
        error = cudaGraphAddMemcpyNodeToSymbol(&copy, graph, &work, 1, WORDS_OF(joins_named), pinned->seen[1], ROW_BYTES, n->offset,
                                               cudaMemcpyHostToDevice);
    else if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNodeFromSymbol(&copy, graph, &work, 1, pinned->seen[0], WORDS_OF(joins_named), ROW_BYTES, n->offset,
                                                 cudaMemcpyDeviceToHost);
    if (error != cudaSuccess || !n->to)
        return error;
    return ask_add_kernel_after(&reads, graph, &copy, 1, (const void *)SYMBOL(joins_follower), &n->reads, 1, PLACE_WORDS);
}

static cudaError_t run_nodes_by_name(struct naming *n, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = add_by_name(n, graph);
    if (error == cudaSuccess)
        error = ask_run_once(graph, stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t move_by_name(struct joins *joins)
{
    struct naming n = PDL_ZERO;
    cudaStream_t stream = joins->stream[0], blocking = NULL;
    int captured;
    cudaError_t error;

    n.joins = joins;
    error = open_naming(&n);
    if (error != cudaSuccess)
        return error;
    if (n.manner == NAMED_NODES)
        return run_nodes_by_name(&n, stream);
    captured = n.manner == NAMED_CAPTURED || (n.manner == NAMED_DEPENDENT && n.to);
    if (captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = n.manner == NAMED_DEPENDENT ? queue_dependent_by_name(&n, stream) : queue_by_name(&n, &blocking);
        error = captured ? ask_run_capture(stream, error) : error;
    }
    close_kind(&blocking); /* its work goes on */
    return error;
}

static void ask_symbols(struct ask *ask)
{
    static const struct join joins[NAMED_WAYS] = {
        { "stale in a copy from memory that has a name", move_by_name },
        { "stale after a copy to memory that has a name", move_by_name },
        { "stale in a captured copy from memory that has a name", move_by_name },
        { "stale after a captured copy to memory that has a name", move_by_name },
        { "stale in a node that copies from memory that has a name", move_by_name },
        { "stale after a node that copies to memory that has a name", move_by_name },
        { "stale in a dependent that had read memory that has a name", move_by_name },
        { "stale in a captured dependent that had read memory that has a name", move_by_name },
    };

    ask_joins(ask, joins, NAMED_WAYS, cudaStreamNonBlocking);
}

#endif
