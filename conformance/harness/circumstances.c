/* circumstances.c - which circumstances suit a case, and their begin and end. */
#include "circumstances.h"

#include <string.h>

#include "circumstances_made.h"
#include "other_thread.h"

const char *const circumstance_name[CIRCUMSTANCES] = { "alone", "in another host thread", "with an executable graph before each",
                                                       "with a clone of each graph", "with an update of each executable graph",
                                                       "with a refused update of each executable graph",
                                                       "with graphs that were executable before", "with graphs that are clones",
                                                       "with captures into graphs", "beside another capture",
                                                       "with captures that began in another stream", "with copies of layers and memsets of rows",
                                                       "with questions after each wait", "with streams and events that were used before",
                                                       "with shared memory and a priority" };

struct around around;

/* ---- what suits ---- */

#define BIT(circumstance) (1u << (circumstance))

/* What a circumstance changes. */
static const unsigned changes[CIRCUMSTANCES] = { 0, ~0u, CALLED_EXEC, CALLED_EXEC, CALLED_EXEC, CALLED_EXEC, CALLED_GRAPH, CALLED_GRAPH,
                                                 CALLED_CAPTURE, CALLED_CAPTURE, CALLED_CAPTURE, CALLED_COPY, CALLED_WAIT, CALLED_MAKE,
                                                 CALLED_LAUNCH };

/* Families, or single pairs, that are not asked in some circumstances, and why. */
static const struct {
    const char *family, *pair;
    unsigned not_in;
} unsuited[] = {
    { "apart", NULL, ~0u },    /* two host threads at once would make what is kept here */
    { "crowds", NULL, ~0u },   /* hardly a graph, seconds of large grids; other host threads launch some of them there */
    { "programs", NULL, ~0u }, /* the kit's programs are made in many ways of their own */
    { "capture_calls", NULL, BIT(GIVEN) }, /* whose a given graph is once its capture was spoiled, no document says */
    { "capture", "early_join", BIT(JOINED) }, /* what has come back by halves is refused in the origin alone */
    { "event_answers", "told", BIT(AGED) }, /* events that were never recorded are asked there */
    { "kept", "declined", BIT(AGED) },
    { "given", NULL, BIT(DRESSED) }, /* shapes are told there, and sizes at their limits asked in the next two */
    { "limits", NULL, BIT(DRESSED) },
    { "cooperative", NULL, BIT(DRESSED) },
    { "last_error", NULL, BIT(ASKED) | BIT(AGED) }, /* refusals would be its last errors */
    { "joins", "allocations", BIT(SECOND) | BIT(CLONED) | BIT(UPDATED) | BIT(REFUSED_UPDATE) | BIT(EARLY) | BIT(IN_CLONE) | BIT(GIVEN) },
    /* ... where graphs cannot be copied, have one executable graph, and lose no node */
    { "kept", NULL, BIT(LAYERED) }, /* what has layers takes no new parameters, which are given there and in the next one */
    { "nested", "launches", BIT(LAYERED) },
    { "readback", "nodes", BIT(LAYERED) }, /* what is told of nodes are their layers */
};

int circumstance_suits(const struct case_info *info, enum circumstance circumstance, unsigned calls)
{
    size_t i;

    for (i = 0; i < sizeof(unsuited) / sizeof(unsuited[0]); i++)
        if (strcmp(info->family, unsuited[i].family) == 0 && (!unsuited[i].pair || strcmp(info->pair, unsuited[i].pair) == 0) &&
            unsuited[i].not_in & BIT(circumstance))
            return 0;
    if (circumstance == IN_CLONE && calls & CALLED_CONDITION)
        return 0; /* "cloning is not supported for graphs which contain conditional nodes" */
    return circumstance == IN_THREAD || (changes[circumstance] & calls) != 0;
}

#define SHARE 4u               /* of the trials; of those that are drawn from all combinations, the square of it */
#define FEWEST 32u             /* enough for one trial of each question of a list, twice */

unsigned long long circumstances_trials(const struct case_info *info, enum circumstance circumstance, unsigned long long alone)
{
    int drawn = strcmp(info->family, "handed") == 0 || strcmp(info->family, "crossed_graphs") == 0;
    unsigned long long some = alone / (drawn ? SHARE * SHARE : SHARE);

    return circumstance == ALONE || alone < FEWEST ? alone : some < FEWEST ? FEWEST : some;
}

void circumstances_run(void (*run)(void *of), void *of)
{
    if (around.now != IN_THREAD || !run_in_thread(run, of))
        run(of);
}

/* ---- begin and end ---- */

void around_keep_exec(cudaGraphExec_t exec)
{
    if (around.execs < KEPT)
        around.exec[around.execs++] = exec;
    else
        (void)cudaGraphExecDestroy(exec);
}

void around_keep_graph(cudaGraph_t graph)
{
    if (around.graphs < KEPT)
        around.graph[around.graphs++] = graph;
    else
        (void)cudaGraphDestroy(graph);
}

cudaStream_t around_other_stream(void)
{
    if (!around.other)
        (void)cudaStreamCreateWithFlags(&around.other, cudaStreamNonBlocking);
    return around.other;
}

enum cudaStreamCaptureMode around_relax(void)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

void around_restore(enum cudaStreamCaptureMode mode)
{
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    (void)cudaGetLastError();
}

void circumstances_begin(enum circumstance circumstance)
{
    memset(&around, 0, sizeof(around));
    around.now = circumstance;
}

unsigned circumstances_end(void)
{
    unsigned i;

    around_end_all_captures();
    if (around.now == ALONE)
        return around.calls;
    around.now = ALONE;
    (void)cudaDeviceSynchronize();
    for (i = 0; i < around.execs; i++)
        (void)cudaGraphExecDestroy(around.exec[i]);
    for (i = 0; i < around.graphs; i++)
        (void)cudaGraphDestroy(around.graph[i]);
    for (i = 0; i < LANES; i++) {
        if (around.lane[i].origin)
            (void)cudaStreamDestroy(around.lane[i].origin);
        if (around.lane[i].event)
            (void)cudaEventDestroy(around.lane[i].event);
    }
    if (around.other)
        (void)cudaStreamDestroy(around.other);
    (void)cudaGetLastError();
    return around.calls;
}
