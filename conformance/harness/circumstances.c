/* circumstances.c - what may stand around a question without changing its answers. */
#include "circumstances.h"

#include <pthread.h>
#include <string.h>

#include "edges.h"

#define KEPT 512u              /* graphs and executable graphs that are kept until the end; further ones go at once */

const char *const circumstance_name[CIRCUMSTANCES] = { "alone", "in another host thread", "with an executable graph before each", "with a clone of each graph",
                                                       "with an update of each executable graph", "with a refused update of each executable graph",
                                                       "with graphs that were executable before", "with captures into graphs", "beside another capture" };

static struct {
    enum circumstance now;
    cudaGraphExec_t exec[KEPT];
    cudaGraph_t graph[KEPT];   /* clones */
    unsigned execs, graphs;
    cudaStream_t other;        /* the stream that captures beside others */
    unsigned captures;         /* under way beside it */
} around;

/* ---- what suits ---- */

#define BIT(circumstance) (1u << (circumstance))

/* Families, or single pairs, that are not asked in some circumstances, and why. */
static const struct {
    const char *family, *pair;
    unsigned not_in;
} unsuited[] = {
    { "apart", "", ~0u },      /* two host threads at once would make what is kept here */
    { "capture_calls", "", BIT(GIVEN) }, /* whose a given graph is once its capture was spoiled, no document says */
    { "crowds", "", ~BIT(IN_THREAD) }, /* large grids, hardly a graph */
    { "programs", "", ~0u },   /* the kit's programs are made in many ways of their own */
};

int circumstance_suits(const struct case_info *info, enum circumstance circumstance)
{
    size_t i;

    for (i = 0; i < sizeof(unsuited) / sizeof(unsuited[0]); i++)
        if (strcmp(info->family, unsuited[i].family) == 0 && (unsuited[i].pair[0] == '\0' || strcmp(info->pair, unsuited[i].pair) == 0) &&
            unsuited[i].not_in & BIT(circumstance))
            return 0;
    return 1;
}

#define SHARE 4u                /* of the trials; of those that are drawn from all combinations, the square of it */
#define FEWEST 32u             /* enough for one trial of each question of a list, twice */

unsigned long long circumstances_trials(const struct case_info *info, enum circumstance circumstance, unsigned long long alone)
{
    int drawn = strcmp(info->family, "handed") == 0 || strcmp(info->family, "crossed_graphs") == 0;
    unsigned long long some = alone / (drawn ? SHARE * SHARE : SHARE);

    return circumstance == ALONE || alone < FEWEST ? alone : some < FEWEST ? FEWEST : some;
}

/* ---- another thread ---- */

struct elsewhere {
    void (*run)(void *of);
    void *of;
    int device;
};

static void *run_elsewhere(void *opaque)
{
    struct elsewhere *elsewhere = opaque;

    if (cudaSetDevice(elsewhere->device) == cudaSuccess)
        elsewhere->run(elsewhere->of);
    return NULL;
}

void circumstances_run(void (*run)(void *of), void *of)
{
    struct elsewhere elsewhere = { run, of, 0 };
    pthread_t thread;

    if (around.now == IN_THREAD && cudaGetDevice(&elsewhere.device) == cudaSuccess && !pthread_create(&thread, NULL, run_elsewhere, &elsewhere))
        (void)pthread_join(thread, NULL);
    else
        run(of);
}

/* ---- graphs ---- */

static void keep_exec(cudaGraphExec_t exec)
{
    if (around.execs < KEPT)
        around.exec[around.execs++] = exec;
    else
        (void)cudaGraphExecDestroy(exec);
}

static void keep_graph(cudaGraph_t graph)
{
    if (around.graphs < KEPT)
        around.graph[around.graphs++] = graph;
    else
        (void)cudaGraphDestroy(graph);
}

cudaError_t around_graph_create(cudaGraph_t *graph, unsigned flags)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaGraphCreate(graph, flags);

    if (error == cudaSuccess && around.now == EARLY) {
        if (cudaGraphInstantiate(&exec, *graph, 0) == cudaSuccess)
            (void)cudaGraphExecDestroy(exec);
        (void)cudaGetLastError();
    }
    return error;
}

/* A graph of two empty nodes: what has another shape takes no update from it. */
static void refuse_update(cudaGraphExec_t exec)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t other = NULL;
    cudaGraphNode_t node;

    if (cudaGraphCreate(&other, 0) != cudaSuccess)
        return;
    if (cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node, other, NULL, 0) == cudaSuccess)
        (void)cudaGraphExecUpdate(exec, other, &info);
    (void)cudaGraphDestroy(other);
}

cudaError_t around_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t first = NULL;
    cudaGraph_t clone = NULL;
    cudaError_t error;

    if (around.now == SECOND)
        (void)cudaGraphInstantiate(&first, graph, 0);
    if (around.now == CLONED && cudaGraphClone(&clone, graph) == cudaSuccess)
        keep_graph(clone);
    if (around.now == SECOND || around.now == CLONED)
        (void)cudaGetLastError();
    error = cudaGraphInstantiate(exec, graph, flags);
    if (first && error != cudaSuccess) { /* of some graphs there is one at a time */
        (void)cudaGraphExecDestroy(first);
        (void)cudaGetLastError();
        return cudaGraphInstantiate(exec, graph, flags);
    }
    if (first)
        keep_exec(first);
    if (error == cudaSuccess && around.now == UPDATED)
        (void)cudaGraphExecUpdate(*exec, graph, &info);
    if (error == cudaSuccess && around.now == REFUSED_UPDATE)
        refuse_update(*exec);
    if (error == cudaSuccess && around.now != ALONE)
        (void)cudaGetLastError();
    return error;
}

/* ---- captures ---- */

/* The end gives the graph to the asker; one whose capture failed is left alone. */
static cudaError_t begin_given(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, mode);
    if (error != cudaSuccess)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void begin_other(void)
{
    if (!around.other && cudaStreamCreateWithFlags(&around.other, cudaStreamNonBlocking) != cudaSuccess)
        around.other = NULL;
    if (around.other && around.captures++ == 0)
        (void)cudaStreamBeginCapture(around.other, cudaStreamCaptureModeThreadLocal);
}

static void end_other(void)
{
    cudaGraph_t graph = NULL;

    if (around.other && around.captures != 0 && --around.captures == 0)
        (void)cudaStreamEndCapture(around.other, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

cudaError_t around_begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error;

    if (around.now == GIVEN)
        return begin_given(stream, mode);
    if (around.now == BESIDE)
        begin_other();
    error = cudaStreamBeginCapture(stream, mode);
    if (around.now == BESIDE && error != cudaSuccess)
        end_other();
    return error;
}

cudaError_t around_end_capture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = cudaStreamEndCapture(stream, graph);

    if (around.now == BESIDE)
        end_other();
    return error;
}

/* ---- begin and end ---- */

void circumstances_begin(enum circumstance circumstance)
{
    memset(&around, 0, sizeof(around));
    around.now = circumstance;
}

void circumstances_end(void)
{
    unsigned i;

    while (around.captures != 0) /* those whose ends were none of these calls */
        end_other();
    around.now = ALONE;
    (void)cudaDeviceSynchronize();
    for (i = 0; i < around.execs; i++)
        (void)cudaGraphExecDestroy(around.exec[i]);
    for (i = 0; i < around.graphs; i++)
        (void)cudaGraphDestroy(around.graph[i]);
    if (around.other)
        (void)cudaStreamDestroy(around.other);
    (void)cudaGetLastError();
}
