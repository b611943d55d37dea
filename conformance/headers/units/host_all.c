/* Uses every host function once; compiled as C and as C++. Only compiled, never run. */
#include "pdl.h"

extern const void *const kernel_address;
cudaError_t use_launches(cudaStream_t stream, cudaEvent_t event);
cudaError_t use_others(cudaFunction_t function, cudaStream_t stream, cudaLaunchAttribute *attrs);
const char *use_estimate(const pdl_kernel *first, const pdl_kernel *second);
cudaError_t use_graphs(cudaGraph_t graph, cudaGraphNode_t first, const pdl_kernel *kernel, void **args);
cudaError_t use_reading(cudaGraph_t graph, cudaGraphNode_t node, cudaStream_t stream);
cudaError_t use_check(cudaGraph_t graph, pdl_graph_finding *findings, size_t *num_findings);

cudaError_t use_launches(cudaStream_t stream, cudaEvent_t event)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    dim3 grid = {1, 1, 1};
    int number = 1;
    void *args[1];
    cudaError_t error = pdl_kernel_init(&kernel, kernel_address);

    args[0] = &number;
    if (error != cudaSuccess || !kernel.can_overlap) {
        return error;
    }
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    error = pdl_launch(&kernel, grid, grid, args, 0, stream, &options);
#ifndef __cplusplus
    if (error == cudaSuccess) {
        error = PDL_LAUNCH(&kernel, grid, grid, 0, stream, NULL, &number, &grid);
    }
#endif
    return error == cudaSuccess ? pdl_event_create(&event) : error;
}

cudaError_t use_others(cudaFunction_t function, cudaStream_t stream, cudaLaunchAttribute *attrs)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    unsigned count = 0;
    cudaError_t error = pdl_kernel_init_driver(&kernel, function);

    if (error == cudaSuccess) {
        error = pdl_attributes_fill(&kernel, &options, attrs, PDL_MAX_ATTRIBUTES, &count);
    }
    return error == cudaSuccess ? pdl_events_record_behind(&kernel, &options, stream) : error;
}

const char *use_estimate(const pdl_kernel *first, const pdl_kernel *second)
{
    pdl_shape primary = PDL_ZERO;
    pdl_shape dependent = PDL_ZERO;
    pdl_estimate estimate = PDL_ZERO;

    primary.kernel = first;
    dependent.kernel = second;
    if (pdl_overlap_estimate(&estimate, &primary, &dependent) != cudaSuccess) {
        return "no estimate";
    }
    return pdl_reason_string(estimate.reason);
}

cudaError_t use_graphs(cudaGraph_t graph, cudaGraphNode_t first, const pdl_kernel *kernel, void **args)
{
    pdl_graph_edge edge = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    dim3 one = {1, 1, 1};
    cudaGraphNode_t node;
    cudaError_t error;

    edge.from = first;
    edge.kind = PDL_EDGE_PROGRAMMATIC;
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    error = pdl_graph_add_kernel(&node, graph, &edge, 1, kernel, one, one, args, 0, &options);
    error = error == cudaSuccess ? pdl_graph_change_edge(graph, &edge, PDL_EDGE_FULL, kernel, PDL_OVERLAP_NONE) : error;
    error = error == cudaSuccess ? pdl_graph_remove_edges(graph, &edge, 1) : error;
    return error == cudaSuccess ? pdl_graph_add_edges(graph, &edge, 1, kernel, PDL_OVERLAP_REQUIRED) : error;
}

cudaError_t use_reading(cudaGraph_t graph, cudaGraphNode_t node, cudaStream_t stream)
{
    pdl_graph_edge edges[8];
    cudaGraphNode_t scratch_nodes[16];
    pdl_edge_data scratch_data[8];
    size_t count = 8, programmatic;
    cudaError_t error = pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, &programmatic);

    error = error == cudaSuccess ? pdl_graph_edges_to(node, edges, &count, scratch_nodes, scratch_data) : error;
    error = error == cudaSuccess ? pdl_graph_edges_from(node, edges, &count, scratch_nodes, scratch_data) : error;
    return error == cudaSuccess ? pdl_graph_edges_of_capture(stream, &graph, edges, &count) : error;
}

static pdl_waits nobody_waits(cudaGraphNode_t node, void *user)
{
    (void)node, (void)user;
    return PDL_WAITS_NO;
}

cudaError_t use_check(cudaGraph_t graph, pdl_graph_finding *findings, size_t *num_findings)
{
    static unsigned char scratch[PDL_GRAPH_SCRATCH(10, 20)];
    size_t bytes = sizeof scratch;

    return pdl_graph_check(graph, nobody_waits, NULL, scratch, &bytes, findings, num_findings);
}
