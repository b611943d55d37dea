/* joins_sources.h - the pair of joins.cu with launches of one executable graph that came of a graph in some other way, or has outlived it. */
#ifndef JOINS_SOURCES_H_INCLUDED
#define JOINS_SOURCES_H_INCLUDED

#define SOURCE_WAYS 5u         /* ways to ask */

enum source { SOURCE_STAYS, SOURCE_GONE, SOURCE_GOES };

struct making {
    struct joins *joins;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaError_t error;
};

static void make_one(void *of)
{
    struct making *making = (struct making *)of;

    making->error = one_kernel(&making->graph, &making->exec, &making->joins->work[0]);
}

#ifdef MUTANT_otherstream
#define NEEDED_EXECS FLIGHTS    /* each launch has its own */
#else
#define NEEDED_EXECS 1u
#endif

/* Graphs that the host is rid of then; the launches that are on their way go on. */
static cudaError_t end_graphs(struct making *making)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < NEEDED_EXECS && error == cudaSuccess; i++) {
        error = cudaGraphDestroy(making[i].graph);
        making[i].graph = NULL;
    }
    return error;
}

static cudaError_t fly_all(struct joins *joins, struct making *making, enum source source)
{
    cudaError_t error = source == SOURCE_GONE ? end_graphs(making) : cudaSuccess;
    unsigned i;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = 30000;
    for (i = 0; i < FLIGHTS && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(making[i % NEEDED_EXECS].exec, joins->stream[i]);
        if (error == cudaSuccess && i == 0 && source == SOURCE_GOES)
            error = end_graphs(making);
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = joins->pinned->state.early != 0 || joins->pinned->state.finished != FLIGHTS;
    return error;
}

static cudaError_t fly_from(struct joins *joins, enum source source, int elsewhere)
{
    struct making making[NEEDED_EXECS];
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < NEEDED_EXECS; i++) {
        struct making fresh = { joins, NULL, NULL, cudaErrorUnknown };
        making[i] = fresh;
        if (!elsewhere || !run_in_thread(make_one, &making[i]))
            make_one(&making[i]);
        error = error == cudaSuccess ? making[i].error : error;
    }
    if (error == cudaSuccess)
        error = fly_all(joins, making, source);
    for (i = 0; i < NEEDED_EXECS; i++) {
        if (making[i].exec)
            (void)cudaGraphExecDestroy(making[i].exec);
        if (making[i].graph)
            (void)cudaGraphDestroy(making[i].graph);
    }
    return error;
}

/* ---- what is still to come when the graph goes ---- */

#define SET_PLACE 3u            /* whose first word a memset sets */
#define LAST_PLACE 4u           /* of the follower in the stream */

/* Behind work: a copy, a host function and a kernel that take its words to the first three places, and a memset. */
static cudaError_t make_rest(struct joins *joins, struct ask_hand *hand, cudaGraph_t *graph)
{
    const void *follower = (const void *)SYMBOL(joins_follower);
    struct cudaHostNodeParams host = PDL_ZERO;
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t first, node;
    cudaError_t error = cudaGraphCreate(graph, 0);

    hand->from = joins->pinned->words;
    hand->to = joins->pinned->seen[1];
    hand->words = PLACE_WORDS;
    host.fn = ask_hand_on;
    host.userData = hand;
    set.dst = joins->follower[SET_PLACE].seen;
    set.value = 1;
    set.elementSize = 4;
    set.width = set.height = 1;
    if (error == cudaSuccess)
        error = add_work(joins, *graph, 0, &first);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&node, *graph, &first, 1, joins->follower[0].seen, joins->work[0].data, 4 * PLACE_WORDS, cudaMemcpyDefault);
    if (error == cudaSuccess)
        error = cudaGraphAddHostNode(&node, *graph, &first, 1, &host);
    if (error == cudaSuccess)
        error = ask_add_kernel_after(&node, *graph, &first, 1, follower, &joins->follower[2], 1, PLACE_WORDS);
    return error == cudaSuccess ? cudaGraphAddMemsetNode(&node, *graph, &first, 1, &set) : error;
}

/* The same as a child graph of another one. */
static cudaError_t make_rest_inside(struct joins *joins, struct ask_hand *hand, cudaGraph_t *graph)
{
    cudaGraph_t inner = NULL;
    cudaGraphNode_t node;
    cudaError_t error = make_rest(joins, hand, &inner);

    if (error == cudaSuccess)
        error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, inner);
    if (inner)
        (void)cudaGraphDestroy(inner);
    return error;
}

static void make_executable(void *of)
{
    struct making *making = (struct making *)of;

    making->error = cudaGraphInstantiate(&making->exec, making->graph, 0);
}

/* The graph is destroyed while the work holds; what comes after it, in it and in its stream, comes all the same. In every other trial another
 * host thread makes it executable, and in one of three it is a child graph. */
static cudaError_t source_goes_early(struct joins *joins)
{
    struct making making = { joins, NULL, NULL, cudaErrorUnknown };
    struct ask_hand hand = PDL_ZERO;
    unsigned turn = joins->trial / SOURCE_WAYS;
    cudaError_t error = turn % 3 == 2 ? make_rest_inside(joins, &hand, &making.graph) : make_rest(joins, &hand, &making.graph), end;

    prepare(joins, 1, 3);
    if (error == cudaSuccess && (turn % 2 == 0 || !run_in_thread(make_executable, &making)))
        make_executable(&making);
    error = error == cudaSuccess ? making.error : error;
    if (error == cudaSuccess)
        error = cudaGraphLaunch(making.exec, joins->stream[0]);
    end = making.graph ? cudaGraphDestroy(making.graph) : cudaSuccess;
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = follow(joins, LAST_PLACE, joins->stream[0]);
    end = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = ((volatile uint32_t *)joins->pinned->seen[SET_PLACE])[0] != 1 ||
                                   differs(joins->pinned, joins->pinned->seen[LAST_PLACE], PLACE_WORDS);
    if (making.exec)
        (void)cudaGraphExecDestroy(making.exec);
    return error == cudaSuccess ? end : error;
}

static cudaError_t source_of_thread(struct joins *joins) { return fly_from(joins, SOURCE_STAYS, 1); }
static cudaError_t source_gone(struct joins *joins) { return fly_from(joins, SOURCE_GONE, 0); }
static cudaError_t source_goes(struct joins *joins) { return fly_from(joins, SOURCE_GOES, 0); }
static cudaError_t source_of_thread_goes(struct joins *joins) { return fly_from(joins, SOURCE_GOES, 1); }

static void ask_sources(struct ask *ask)
{
    static const struct join joins[SOURCE_WAYS] = {
        { "launches of one that another host thread made that ran beside each other or not at all", source_of_thread },
        { "launches of one whose graph was destroyed that ran beside each other or not at all", source_gone },
        { "launches of one whose graph was destroyed between them that ran beside each other or not at all", source_goes },
        { "launches of another host thread's whose graph was destroyed between them that ran beside each other or not at all",
          source_of_thread_goes },
        { "nodes and followers that were still to come when the graph was destroyed and did not", source_goes_early },
    };

    ask_joins(ask, joins, SOURCE_WAYS, cudaStreamNonBlocking);
}

#endif
