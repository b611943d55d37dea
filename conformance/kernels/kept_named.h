/* kept_named.h - the pair of kept.cu with updates that are refused and say which node they were refused for. */
#ifndef KEPT_NAMED_H_INCLUDED
#define KEPT_NAMED_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

#define NAMED_NODES WORDS
#define NAMED_EDGES 5u
#define NO_NODE NAMED_NODES

/* Kernels, each of which sets the word of its number; the executable graph is made of the first shape of its row. */
struct named {
    const char *what;
    unsigned nodes, edges, from_to[NAMED_EDGES][2];
    unsigned other;            /* a bit for each node that is a memset, or a cooperative kernel */
    int cooperative;
    unsigned source;           /* what is updated, of those below */
    unsigned may_be, from;     /* which nodes may be named, a bit each, none: NULL; the one that a wrong edge comes from */
    enum cudaGraphExecUpdateResult result;
};

#define CHAIN { { 0, 1 }, { 1, 2 } }
#define TOPOLOGY cudaGraphExecUpdateErrorTopologyChanged
#define FAN(third) { { 0, 4 }, { 1, 4 }, { third, 4 }, { 3, 5 }, { 2, 5 } }
static const struct named named_source[] = {
    { "a fork and its join", 4, 4, { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } }, 0, 0, 0, 0, NO_NODE, cudaGraphExecUpdateSuccess },
    { "a chain", 3, 2, CHAIN, 0, 0, 1, 0, NO_NODE, cudaGraphExecUpdateSuccess },
    { "nodes after three and two", 6, 5, FAN(2), 0, 0, 2, 0, NO_NODE, cudaGraphExecUpdateSuccess },
};
static const struct named named[] = {
    { "a node more", 4, 3, { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 0, 0, 1, 0, NO_NODE, TOPOLOGY },
    { "a node less", 2, 1, { { 0, 1 } }, 0, 0, 1, 0, NO_NODE, TOPOLOGY },
    { "an edge more", 3, 3, { { 0, 1 }, { 1, 2 }, { 0, 2 } }, 0, 0, 1, 4, NO_NODE, TOPOLOGY },
    { "an exit more", 3, 2, { { 0, 1 }, { 0, 2 } }, 0, 0, 1, 2 | 4, NO_NODE, TOPOLOGY },
    { "another third dependency", 6, 5, FAN(3), 0, 0, 2, 16 | 32, 3, TOPOLOGY },
    { "an edge from another node", 4, 4, { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 3 } }, 0, 0, 0, 4 | 8, 1, TOPOLOGY },
    { "a memset at its beginning", 3, 2, CHAIN, 1, 0, 1, 1, NO_NODE, cudaGraphExecUpdateErrorNodeTypeChanged },
    { "a memset in the middle", 3, 2, CHAIN, 2, 0, 1, 2, NO_NODE, cudaGraphExecUpdateErrorNodeTypeChanged },
    { "a memset at its end", 3, 2, CHAIN, 4, 0, 1, 4, NO_NODE, cudaGraphExecUpdateErrorNodeTypeChanged },
    { "a cooperative kernel at its beginning", 3, 2, CHAIN, 1, 1, 1, 1, NO_NODE, cudaGraphExecUpdateErrorAttributesChanged },
    { "a cooperative kernel at its end", 3, 2, CHAIN, 4, 1, 1, 4, NO_NODE, cudaGraphExecUpdateErrorAttributesChanged },
};

/* `word`: what all of its kernels set, or that each sets its own one. */
static cudaError_t make_named(struct kept *kept, const struct named *shape, unsigned word, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaLaunchAttributeValue cooperative = PDL_ZERO;
    struct cudaMemsetParams set = set_of(kept->args[0].data, 0);
    cudaError_t error = cudaGraphCreate(graph, 0);
    unsigned i;

    cooperative.cooperative = 1;
    for (i = 0; i < shape->nodes && error == cudaSuccess; i++) {
        unsigned other = shape->other >> i & 1;
        error = other && !shape->cooperative ? cudaGraphAddMemsetNode(&node[i], *graph, NULL, 0, &set)
                                             : add_set(kept, *graph, word == NO_NODE ? i : word, &node[i]);
        if (error == cudaSuccess && other && shape->cooperative)
            error = cudaGraphKernelNodeSetAttribute(node[i], cudaLaunchAttributeCooperative, &cooperative);
    }
    for (i = 0; i < shape->edges && error == cudaSuccess; i++)
        error = edges_add(*graph, &node[shape->from_to[i][0]], &node[shape->from_to[i][1]], &full, 1);
    return error;
}

/* Whether a node that was named is one of these; none of them: it has to be NULL. */
static int is_one_of(cudaGraphNode_t is, const cudaGraphNode_t *node, unsigned may_be)
{
    unsigned i;

    for (i = 0; i < NAMED_NODES; i++)
        if ((may_be >> i & 1) && is == node[i])
            return 1;
    return !may_be && !is;
}

#if CUDART_VERSION >= 12050 /* before, no version of a function can be chosen */
/* By the driver's call as it was at first, which said the same of a node of another type: "hErrorNode_out will be set to the node from
 * hGraph". */
static void ask_older_named(struct kept *kept, const struct named *shape, cudaGraphExec_t exec, cudaGraph_t other,
                            const cudaGraphNode_t *node)
{
    typedef CUresult(CUDAAPI * update_fn)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *);
    void *update = driver_function_if_any("cuGraphExecUpdate", 10020);
    CUgraphNode named_node;
    CUgraphExecUpdateResult result;
    char text[112];

    if (!update || shape->result != cudaGraphExecUpdateErrorNodeTypeChanged)
        return;
    memset(&named_node, 0x5A, sizeof(named_node));
    memset(&result, 0x5A, sizeof(result));
    snprintf(text, sizeof(text), "an update by the older cuGraphExecUpdate with %s", shape->what);
    ask_expect(kept->ask, text, (cudaError_t)((update_fn)update)((CUgraphExec)exec, (CUgraph)other, &named_node, &result),
               cudaErrorGraphExecUpdateFailure);
    ask_expect_number(kept->ask, text, (long)result, (long)shape->result);
    ask_expect_number(kept->ask, text, is_one_of((cudaGraphNode_t)named_node, node, shape->may_be), 1);
}
#endif

/* "resultInfo->errorNode will be set to the node from hGraph. resultInfo->errorFromNode will be set to the mismatched dependency." */
static void ask_named_by(struct kept *kept, const struct named *shape)
{
    struct ask *ask = kept->ask;
    const struct named *source = &named_source[shape->source];
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t old[NAMED_NODES] = { NULL }, node[NAMED_NODES] = { NULL };
    char text[96];

    memset(&info, 0x5A, sizeof(info));
    snprintf(text, sizeof(text), "an update of %s by one with %s", source->what, shape->what);
    ask_expect(ask, text, make_named(kept, source, NO_NODE, &graph, old), cudaSuccess);
    ask_expect(ask, text, make_named(kept, shape, 0, &other, node), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
#if CUDART_VERSION >= 12050
    ask_older_named(kept, shape, exec, other, node);
#endif
    ask_expect(ask, text, cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    ask_expect_number(ask, text, (long)info.result, (long)shape->result);
    snprintf(text, sizeof(text), "the node that was named for %s is one that it may be", shape->what);
    ask_expect_number(ask, text, is_one_of(info.errorNode, node, shape->may_be), 1);
    if (shape->result != TOPOLOGY || shape->from != NO_NODE) {
        snprintf(text, sizeof(text), "the node before it that was named for %s", shape->what);
        ask_expect_number(ask, text, info.errorFromNode == (shape->from == NO_NODE ? NULL : node[shape->from]), 1);
    }
    snprintf(text, sizeof(text), "a launch of %s after %s", source->what, shape->what);
    expect_words(kept, exec, text, (1u << source->nodes) - 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static void ask_named(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned i;

    if (!open_kept(&kept, ask))
        return;
    for (i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        ask_named_by(&kept, &named[i]);
    close_kept(&kept);
}

#endif
