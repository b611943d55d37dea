/* Graphs: kernel nodes and edges by kind, connected, changed, removed, read; refused with a reason, nothing changed. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

enum { NODES = 4, MOST = 16 };

static pdl_kernel plain, erased, disabled, driver;
static const dim3 one = {1, 1, 1};
static cudaGraph_t graph;
static cudaGraphNode_t node[NODES], empty;
static struct number number = {1};
static void *args[] = {&number};

static pdl_graph_edge edge_of(cudaGraphNode_t from, cudaGraphNode_t to, unsigned kind)
{
    pdl_graph_edge edge = PDL_ZERO;

    edge.from = from;
    edge.to = to;
    edge.kind = kind;
    edge.reason = 99;
    return edge;
}

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&driver, 90), cudaSuccess);
    setenv("PDL_DISABLE", "1", 1);
    EXPECT_IS(pdl_kernel_init(&disabled, (const void *)plain_kernel), cudaSuccess);
    unsetenv("PDL_DISABLE");
    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    for (int i = 0; i < NODES; i++) {
        EXPECT_IS(pdl_graph_add_kernel(&node[i], graph, NULL, 0, &plain, one, one, args, 0, NULL), cudaSuccess);
    }
    EXPECT_IS(cudaGraphAddEmptyNode(&empty, graph, NULL, 0), cudaSuccess);
}

/* The kind of the edge between two nodes, read back; -1: there is none. */
static int kind_between(cudaGraphNode_t from, cudaGraphNode_t to)
{
    pdl_graph_edge edges[MOST];
    size_t count = MOST;

    EXPECT_IS(pdl_graph_edges(graph, edges, &count), cudaSuccess);
    for (size_t i = 0; i < count; i++) {
        if (edges[i].from == from && edges[i].to == to) {
            return (int)edges[i].kind;
        }
    }
    return -1;
}

static size_t edge_count(void)
{
    pdl_graph_edge edges[MOST];
    size_t count = MOST;

    EXPECT_IS(pdl_graph_edges(graph, edges, &count), cudaSuccess);
    return count;
}

static void connects_by_kind(void)
{
    for (unsigned kind = PDL_EDGE_FULL; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
        for (unsigned overlap = PDL_OVERLAP_IF_POSSIBLE; overlap <= PDL_OVERLAP_REQUIRED; overlap++) {
            pdl_graph_edge edge = edge_of(node[0], node[1], kind);

            EXPECT_IS(pdl_graph_connect(graph, &edge, 1, &plain, overlap), cudaSuccess);
            EXPECT_IS(edge.kind, kind);
            EXPECT_IS(edge.reason, PDL_REASON_NONE);
            EXPECT_IS(kind_between(node[0], node[1]), kind);
            EXPECT_IS(pdl_graph_remove(graph, &edge, 1), cudaSuccess);
            EXPECT_IS(kind_between(node[0], node[1]), -1);
        }
    }
}

int main(void)
{
    void (*const tests[])(void) = {connects_by_kind};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    EXPECT_IS(edge_count(), 0);
    return failed;
}
