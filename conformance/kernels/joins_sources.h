/* joins_sources.h - the pair of joins.cu with launches of one executable graph that came of a graph in some other way, or has outlived it. */
#ifndef JOINS_SOURCES_H_INCLUDED
#define JOINS_SOURCES_H_INCLUDED

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

static cudaError_t source_of_thread(struct joins *joins) { return fly_from(joins, SOURCE_STAYS, 1); }
static cudaError_t source_gone(struct joins *joins) { return fly_from(joins, SOURCE_GONE, 0); }
static cudaError_t source_goes(struct joins *joins) { return fly_from(joins, SOURCE_GOES, 0); }
static cudaError_t source_of_thread_goes(struct joins *joins) { return fly_from(joins, SOURCE_GOES, 1); }

static void ask_sources(struct ask *ask)
{
    static const struct join joins[] = {
        { "launches of one that another host thread made that ran beside each other or not at all", source_of_thread },
        { "launches of one whose graph was destroyed that ran beside each other or not at all", source_gone },
        { "launches of one whose graph was destroyed between them that ran beside each other or not at all", source_goes },
        { "launches of another host thread's whose graph was destroyed between them that ran beside each other or not at all",
          source_of_thread_goes },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
