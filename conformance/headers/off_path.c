/* As if the toolkit had nothing: every PDL_HAS_* is 0. Nothing is lost, and what cannot be honoured is refused. */
#define PDL_HAS_OVERLAP 0
#define PDL_HAS_MEM_SYNC_DOMAIN 0
#define PDL_HAS_LAUNCH_COMPLETION_EVENT 0
#define PDL_HAS_GRAPH_EDGES 0
#define PDL_HAS_PARAM_INFO 0
#define PDL_HAS_CARVEOUT 0
#include "pdl.h"

#include <string.h>

#include "expect.h"

static const dim3 one = {1, 1, 1};
static cudaGraphNode_t scratch_nodes[8];
static pdl_edge_data scratch_data[4];

static cudaError_t launch(const pdl_kernel *kernel, const pdl_options *options)
{
    struct number number = {1};
    void *args[] = {&number};

    return pdl_launch(kernel, one, one, args, 0, 0, options);
}

static pdl_waits nobody(cudaGraphNode_t node, void *user)
{
    (void)node, (void)user;
    return PDL_WAITS_NO;
}

/* What reads kinds is not supported; full edges are; if possible means a full edge here. */
static void graphs_have_full_edges_only(void)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_kernel kernel = PDL_ZERO;
    pdl_graph_edge edge = PDL_ZERO, edges[4];
    pdl_options options = PDL_ZERO;
    size_t count = 4, programmatic = 0, bytes = 0, findings = 0;
    cudaGraphNode_t node[2];
    cudaGraph_t graph;

    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_graph_add_kernel(&node[0], graph, NULL, 0, &kernel, one, one, args, 0, NULL), cudaSuccess);
    for (int has_overlap = 0; has_overlap < 2; has_overlap++) { /* 1: toolkits 11.8 to 12.2 */
        kernel.can_overlap = has_overlap;
        kernel.reason = has_overlap ? PDL_REASON_NONE : PDL_REASON_TOOLKIT;
        edge.from = node[0];
        edge.kind = PDL_EDGE_PROGRAMMATIC;
        options.overlap = PDL_OVERLAP_REQUIRED;
        EXPECT_IS(pdl_graph_add_kernel(&node[1], graph, &edge, 1, &kernel, one, one, args, 0, &options),
                  cudaErrorNotSupported);
        EXPECT_IS(edge.reason, has_overlap ? PDL_REASON_EDGE_TOOLKIT : PDL_REASON_TOOLKIT);
        options.overlap = PDL_OVERLAP_IF_POSSIBLE;
        EXPECT_IS(pdl_graph_add_kernel(&node[1], graph, &edge, 1, &kernel, one, one, args, 0, &options), cudaSuccess);
        EXPECT_IS(edge.kind, PDL_EDGE_FULL);
        EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_PROGRAMMATIC, &kernel, PDL_OVERLAP_REQUIRED),
                  cudaErrorNotSupported);
        EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaSuccess);
        edge.kind = PDL_EDGE_BLOCK_START;
        EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaErrorNotSupported);
        EXPECT_IS(edge.reason, PDL_REASON_EDGE_TOOLKIT);
        edge.kind = PDL_EDGE_FULL;
        EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &kernel, PDL_OVERLAP_NONE), cudaSuccess);
    }
    options.carveout = 10;
    EXPECT_IS(pdl_graph_add_kernel(&node[1], graph, NULL, 0, &kernel, one, one, args, 0, &options), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_edges_to(node[1], edges, &count, scratch_nodes, scratch_data), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_edges_from(node[1], edges, &count, scratch_nodes, scratch_data), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_edges_of_capture(0, NULL, edges, &count), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, &programmatic), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_check(graph, nobody, NULL, NULL, &bytes, NULL, &findings), cudaErrorNotSupported);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
}

int main(void)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    cudaEvent_t event, completion;

    fresh_device();
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.can_overlap, 0);
    EXPECT_IS(kernel.reason, PDL_REASON_TOOLKIT);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.overlap = PDL_OVERLAP_NONE;
    options.carveout = 10;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.carveout = 0;
    options.mem_sync_domain = PDL_DOMAIN_DEFAULT;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.mem_sync_domain = 0;
    EXPECT_IS(model_launch_count(), 0);

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    options.launch_completion_event = completion;
    EXPECT_IS(launch(&kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(model_call_count("cudaEventRecord"), 2);

    /* overlap without launch-completion events (toolkits before 12.3): that event alone goes behind */
    kernel.can_overlap = 1;
    kernel.reason = PDL_REASON_NONE;
    EXPECT_IS(launch(&kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 2);
    EXPECT_IS(model_call_count("cudaEventRecord"), 3);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    graphs_have_full_edges_only();
    return failed;
}
