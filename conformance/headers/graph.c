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
static cudaGraphNode_t scratch_nodes[2 * MOST];
static pdl_edge_data scratch_data[MOST];

/* CUDA calls, without those that only look at the last error. */
static unsigned other_calls(void)
{
    return calls_made() - model_call_count("cudaPeekAtLastError");
}

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
    EXPECT_IS(pdl_kernel_init_driver(&driver, function_of((const void *)plain_kernel)), cudaSuccess);
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

    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaSuccess);
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

    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    return count;
}

static void connects_by_kind(void)
{
    for (unsigned kind = PDL_EDGE_FULL; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
        for (unsigned overlap = PDL_OVERLAP_IF_POSSIBLE; overlap <= PDL_OVERLAP_REQUIRED; overlap++) {
            pdl_graph_edge edge = edge_of(node[0], node[1], kind);

            EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, overlap), cudaSuccess);
            EXPECT_IS(edge.kind, kind);
            EXPECT_IS(edge.reason, PDL_REASON_NONE);
            EXPECT_IS(kind_between(node[0], node[1]), kind);
            EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaSuccess);
            EXPECT_IS(kind_between(node[0], node[1]), -1);
        }
    }
    for (unsigned kind = PDL_EDGE_FULL; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind += PDL_EDGE_LAUNCH_COMPLETION) { /* to what is no kernel */
        pdl_graph_edge edge = edge_of(node[0], empty, kind);

        EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, NULL, PDL_OVERLAP_REQUIRED), cudaSuccess);
        EXPECT_IS(kind_between(node[0], empty), kind);
        EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaSuccess);
    }
}

/* Every row of the table by its numbers, and each illegal one with a reason of its own. */
static void judges_every_row(void)
{
    const enum cudaGraphNodeType kernel = cudaGraphNodeTypeKernel, other = cudaGraphNodeTypeMemset;
    const struct {
        unsigned from_port, to_port, type, reserved;
        enum cudaGraphNodeType from, to;
        unsigned reason;
    } rows[] = {
        {0, 0, 0, 0, kernel, kernel, PDL_REASON_NONE},         {0, 0, 0, 0, other, other, PDL_REASON_NONE},
        {1, 0, 1, 0, kernel, kernel, PDL_REASON_NONE},         {2, 0, 1, 0, kernel, kernel, PDL_REASON_NONE},
        {2, 0, 0, 0, kernel, kernel, PDL_REASON_NONE},         {2, 0, 0, 0, kernel, other, PDL_REASON_NONE},
        {1, 0, 0, 0, kernel, kernel, PDL_REASON_EDGE_PORT_1},  {0, 0, 1, 0, kernel, kernel, PDL_REASON_EDGE_PORT_0},
        {1, 0, 1, 0, kernel, other, PDL_REASON_EDGE_CONSUMER}, {2, 0, 1, 0, kernel, other, PDL_REASON_EDGE_CONSUMER},
        {1, 0, 1, 0, other, kernel, PDL_REASON_EDGE_PRODUCER}, {2, 0, 1, 0, other, kernel, PDL_REASON_EDGE_PRODUCER},
        {2, 0, 0, 0, other, kernel, PDL_REASON_EDGE_PRODUCER}, {3, 0, 0, 0, kernel, kernel, PDL_REASON_EDGE_FROM_PORT},
        {255, 0, 1, 0, kernel, kernel, PDL_REASON_EDGE_FROM_PORT}, {0, 1, 0, 0, kernel, kernel, PDL_REASON_EDGE_TO_PORT},
        {1, 255, 1, 0, kernel, kernel, PDL_REASON_EDGE_TO_PORT}, {0, 0, 2, 0, kernel, kernel, PDL_REASON_EDGE_TYPE},
        {1, 0, 255, 0, kernel, kernel, PDL_REASON_EDGE_TYPE},  {1, 0, 1, 1, kernel, kernel, PDL_REASON_EDGE_RESERVED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const unsigned calls = other_calls();

        EXPECT_IS(pdl_graph_edge_judge(rows[i].from_port, rows[i].to_port, rows[i].type, rows[i].reserved, rows[i].from,
                                       rows[i].to), rows[i].reason);
        EXPECT_IS(other_calls(), calls);
    }
}

/* The table and CUDA (the model) agree on every combination. */
static void judges_as_cuda_does(void)
{
    const cudaGraphNode_t ends[2] = {node[1], empty};

    for (unsigned code = 0; code < 4 * 2 * 3 * 2 * 4; code++) {
        const unsigned port = code % 4, to_port = code / 4 % 2, type = code / 8 % 3, reserved = code / 24 % 2;
        const int from_other = code / 48 % 2, to_other = code / 96 != 0;
        const cudaGraphNode_t from = from_other ? ends[1] : node[0], to = to_other ? (from_other ? node[1] : ends[1]) : node[2];
        enum cudaGraphNodeType from_type, to_type;
        cudaGraphEdgeData data;
        cudaError_t error;

        memset(&data, 0, sizeof data);
        data.from_port = (unsigned char)port;
        data.to_port = (unsigned char)to_port;
        data.type = (unsigned char)type;
        data.reserved[4] = (unsigned char)reserved;
        EXPECT_IS(cudaGraphNodeGetType(from, &from_type), cudaSuccess);
        EXPECT_IS(cudaGraphNodeGetType(to, &to_type), cudaSuccess);
        error = PDL_IMPL_EDGES(cudaGraphAddDependencies, _v2)(graph, &from, &to, &data, 1);
        EXPECT_IS(pdl_graph_edge_judge(port, to_port, type, reserved, from_type, to_type) == PDL_REASON_NONE,
                  error == cudaSuccess);
        if (error == cudaSuccess) {
            error = PDL_IMPL_EDGES(cudaGraphRemoveDependencies, _v2)(graph, &from, &to, &data, 1);
            EXPECT_IS(error, cudaSuccess);
        }
        (void)cudaGetLastError();
    }
}

/* An own check: the error, the reason, no change, and the last error as it was. */
static void refused(int line, cudaError_t error, cudaError_t wanted, unsigned reason, unsigned wanted_reason)
{
    if (error != wanted || reason != wanted_reason || cudaPeekAtLastError() != cudaErrorInvalidDevice) {
        fprintf(stderr, "%s:%d: error %d, wanted %d; reason %u, wanted %u; last error %d\n", __FILE__, line, (int)error,
                (int)wanted, reason, wanted_reason, (int)cudaPeekAtLastError());
        failed = 1;
    }
}

static void refuses_one(int line, cudaError_t wanted, unsigned reason, cudaGraphNode_t from, cudaGraphNode_t to,
                        unsigned kind, const pdl_kernel *consumer, unsigned overlap)
{
    pdl_graph_edge edge = edge_of(from, to, kind);
    const cudaError_t error = pdl_graph_add_edges(graph, &edge, 1, consumer, overlap);

    refused(line, error, wanted, edge.reason, reason);
    EXPECT_IS(edge.kind, kind);
}

#define REFUSED(...) refuses_one(__LINE__, __VA_ARGS__)

static void refuses_edges(void)
{
    const cudaError_t value = cudaErrorInvalidValue, not_supported = cudaErrorNotSupported;
    const unsigned if_possible = PDL_OVERLAP_IF_POSSIBLE, required = PDL_OVERLAP_REQUIRED;
    const pdl_kernel never_prepared = PDL_ZERO;
    unsigned calls;

    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice); /* stays the last error */
    calls = other_calls();
    REFUSED(value, PDL_REASON_EDGE_KIND, node[0], node[1], PDL_EDGE_UNKNOWN, &plain, if_possible);
    REFUSED(value, PDL_REASON_EDGE_KIND, node[0], node[1], ~0u, &plain, if_possible);
    REFUSED(value, PDL_REASON_EDGE_NODES, NULL, node[1], PDL_EDGE_FULL, &plain, if_possible);
    REFUSED(value, PDL_REASON_EDGE_NODES, node[0], NULL, PDL_EDGE_FULL, &plain, if_possible);
    REFUSED(value, PDL_REASON_EDGE_NODES, node[0], node[0], PDL_EDGE_FULL, &plain, if_possible);
    for (unsigned kind = PDL_EDGE_PROGRAMMATIC; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
        REFUSED(value, PDL_REASON_NOT_ASKED, node[0], node[1], kind, &plain, PDL_OVERLAP_NONE);
    }
    REFUSED(value, PDL_REASON_EDGE_CONSUMER, node[0], empty, PDL_EDGE_PROGRAMMATIC, NULL, if_possible);
    REFUSED(value, PDL_REASON_EDGE_CONSUMER, node[0], empty, PDL_EDGE_BLOCK_START, NULL, required);
    REFUSED(value, 99, node[0], node[1], PDL_EDGE_FULL, &plain, 3);
    REFUSED(value, 99, node[0], node[1], PDL_EDGE_FULL, &never_prepared, if_possible);
    EXPECT_IS(pdl_graph_add_edges(NULL, NULL, 0, &plain, if_possible), value);
    EXPECT_IS(pdl_graph_add_edges(graph, NULL, 1, &plain, if_possible), value);
    EXPECT_IS(other_calls(), calls); /* not one CUDA call so far */
    for (unsigned kind = PDL_EDGE_PROGRAMMATIC; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
        REFUSED(value, PDL_REASON_EDGE_PRODUCER, empty, node[1], kind, &plain, if_possible);
        REFUSED(value, PDL_REASON_EDGE_PRODUCER, empty, node[1], kind, &erased, if_possible); /* legality comes first */
        REFUSED(not_supported, PDL_REASON_TARGET, node[0], node[1], kind, &erased, required);
    }
    REFUSED(value, PDL_REASON_EDGE_CONSUMER, node[0], empty, PDL_EDGE_PROGRAMMATIC, &plain, if_possible);
    EXPECT_IS(model_call_count("cudaGraphAddDependencies"), 0);
    EXPECT_IS(edge_count(), 0);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
}

static void falls_back(void)
{
    const pdl_kernel *const kernels[] = {&erased, &disabled, &disabled};
    const unsigned overlaps[] = {PDL_OVERLAP_IF_POSSIBLE, PDL_OVERLAP_IF_POSSIBLE, PDL_OVERLAP_REQUIRED};
    const unsigned reasons[] = {PDL_REASON_TARGET, PDL_REASON_DISABLED, PDL_REASON_DISABLED};

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned kind = PDL_EDGE_PROGRAMMATIC; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
            pdl_graph_edge edge = edge_of(node[0], node[1], kind);

            EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, kernels[i], overlaps[i]), cudaSuccess);
            EXPECT_IS(edge.kind, PDL_EDGE_FULL);
            EXPECT_IS(edge.reason, reasons[i]);
            EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_FULL);
            EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaSuccess); /* the edge knows what it is */
        }
    }
}

/* All or none: connected, refused by CUDA at the third. */
static void connects_all_or_none(void)
{
    pdl_graph_edge old = edge_of(node[2], node[3], PDL_EDGE_FULL), edges[3];

    EXPECT_IS(pdl_graph_add_edges(graph, &old, 1, &plain, PDL_OVERLAP_NONE), cudaSuccess);
    edges[0] = edge_of(node[0], node[3], PDL_EDGE_PROGRAMMATIC);
    edges[1] = edge_of(node[1], node[3], PDL_EDGE_FULL);
    edges[2] = edge_of(node[2], node[3], PDL_EDGE_PROGRAMMATIC); /* there is an edge already */
    EXPECT_IS(pdl_graph_add_edges(graph, edges, 3, &plain, PDL_OVERLAP_IF_POSSIBLE), cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidValue); /* CUDA's own */
    EXPECT_IS(edge_count(), 1);
    EXPECT_IS(edges[0].kind, PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(pdl_graph_add_edges(graph, edges, 2, &plain, PDL_OVERLAP_NONE), cudaErrorInvalidValue);
    EXPECT_IS(edges[0].reason, PDL_REASON_NOT_ASKED); /* one wrong edge is enough, wherever it stands */
    EXPECT_IS(edge_count(), 1);
    EXPECT_IS(pdl_graph_add_edges(graph, edges, 2, &plain, PDL_OVERLAP_IF_POSSIBLE), cudaSuccess);
    EXPECT_IS(edge_count(), 3);
    edges[2].kind = PDL_EDGE_BLOCK_START; /* is full */
    EXPECT_IS(pdl_graph_remove_edges(graph, edges, 3), cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_IS(edge_count(), 3);
    edges[2].kind = PDL_EDGE_FULL;
    EXPECT_IS(pdl_graph_remove_edges(graph, edges, 3), cudaSuccess);
    EXPECT_IS(edge_count(), 0);
}

static void refuses_removals(void)
{
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_UNKNOWN);
    unsigned calls;

    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
    calls = other_calls();
    EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaErrorInvalidValue);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_KIND);
    edge = edge_of(NULL, node[1], PDL_EDGE_FULL);
    EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaErrorInvalidValue);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_NODES);
    EXPECT_IS(pdl_graph_remove_edges(NULL, &edge, 1), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_remove_edges(graph, NULL, 1), cudaErrorInvalidValue);
    EXPECT_IS(other_calls(), calls);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
}

static void changes_kinds(void)
{
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_FULL);

    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_NONE), cudaSuccess);
    for (unsigned code = 0; code < 16; code++) {
        EXPECT_IS(pdl_graph_change_edge(graph, &edge, code % 4, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
        EXPECT_IS(pdl_graph_change_edge(graph, &edge, code / 4, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
        EXPECT_IS(edge.kind, code / 4);
        EXPECT_IS(kind_between(node[0], node[1]), code / 4);
    }
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_PROGRAMMATIC, &erased, PDL_OVERLAP_IF_POSSIBLE), cudaSuccess);
    EXPECT_IS(edge.kind, PDL_EDGE_FULL);
    EXPECT_IS(edge.reason, PDL_REASON_TARGET);
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_PROGRAMMATIC, &erased, PDL_OVERLAP_REQUIRED), cudaErrorNotSupported);
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_UNKNOWN, &plain, PDL_OVERLAP_REQUIRED), cudaErrorInvalidValue);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_KIND);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_FULL);
    edge.kind = PDL_EDGE_UNKNOWN; /* nor can it have been one */
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_FULL, &plain, PDL_OVERLAP_REQUIRED), cudaErrorInvalidValue);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_KIND);
    edge.kind = PDL_EDGE_PROGRAMMATIC; /* is full */
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_BLOCK_START, &plain, PDL_OVERLAP_REQUIRED), cudaErrorInvalidValue);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_FULL);
    edge.kind = PDL_EDGE_FULL;
    model_fail_next("cudaGraphAddDependencies", cudaErrorMemoryAllocation);
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_PROGRAMMATIC, &plain, PDL_OVERLAP_REQUIRED), cudaErrorMemoryAllocation);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_FULL); /* put back */
    EXPECT_IS(pdl_graph_change_edge(NULL, &edge, 0, &plain, 0), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_change_edge(graph, NULL, 0, &plain, 0), cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

static size_t node_count(void)
{
    size_t count = 0;

    EXPECT_IS(cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
    return count;
}

static void adds_kernels(void)
{
    pdl_graph_edge edges[3] = {edge_of(node[0], NULL, PDL_EDGE_PROGRAMMATIC), edge_of(node[1], NULL, PDL_EDGE_FULL),
                               edge_of(node[2], NULL, PDL_EDGE_LAUNCH_COMPLETION)};
    struct cudaKernelNodeParams params;
    cudaLaunchAttributeValue value;
    pdl_options options = PDL_ZERO;
    const dim3 grid = {6, 1, 1}, block = {8, 1, 1};
    cudaGraphNode_t added = NULL;

    options.overlap = PDL_OVERLAP_REQUIRED;
    options.has_priority = 1;
    options.priority = -1;
    options.cluster_x = 2;
    EXPECT_IS(pdl_graph_add_kernel(&added, graph, edges, 3, &plain, grid, block, args, 256, &options), cudaSuccess);
    EXPECT_IS(kind_between(node[0], added), PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(kind_between(node[1], added), PDL_EDGE_FULL);
    EXPECT_IS(kind_between(node[2], added), PDL_EDGE_LAUNCH_COMPLETION);
    EXPECT(edges[0].to == added && edges[2].to == added);
    EXPECT_IS(cudaGraphKernelNodeGetParams(added, &params), cudaSuccess);
    EXPECT(params.func == (void *)plain_kernel && params.gridDim.x == 6 && params.blockDim.x == 8);
    EXPECT_IS(params.sharedMemBytes, 256);
    EXPECT_IS(cudaGraphKernelNodeGetAttribute(added, cudaLaunchAttributePriority, &value), cudaSuccess);
    EXPECT_IS(value.priority, -1);
    EXPECT_IS(cudaGraphKernelNodeGetAttribute(added, cudaLaunchAttributeClusterDimension, &value), cudaSuccess);
    EXPECT_IS(value.clusterDim.x, 2);
    EXPECT_IS(pdl_graph_add_kernel(&added, graph, edges, 3, &erased, grid, block, args, 0, &options), cudaErrorNotSupported);
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    EXPECT_IS(pdl_graph_add_kernel(&added, graph, edges, 3, &erased, grid, block, args, 0, &options), cudaSuccess);
    EXPECT_IS(kind_between(node[0], added), PDL_EDGE_FULL);
    EXPECT_IS(edges[0].reason, PDL_REASON_TARGET);
    EXPECT_IS(edges[1].reason, PDL_REASON_NONE);
}

/* Nothing is added, whatever goes wrong and when. */
static void adds_all_or_nothing(void)
{
    const char *const calls[] = {"cudaGraphAddKernelNode", "cudaGraphKernelNodeSetAttribute", "cudaGraphAddDependencies",
                                 "cudaGraphNodeGetType"};
    pdl_graph_edge twice[2] = {edge_of(node[0], NULL, PDL_EDGE_FULL), edge_of(node[0], NULL, PDL_EDGE_PROGRAMMATIC)};
    pdl_graph_edge edge = edge_of(node[0], NULL, PDL_EDGE_PROGRAMMATIC);
    const size_t before = node_count();
    pdl_options options = PDL_ZERO;
    cudaGraphNode_t added = NULL;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.has_priority = 1;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        model_fail_next(calls[i], cudaErrorUnknown);
        EXPECT_IS(pdl_graph_add_kernel(&added, graph, &edge, 1, &plain, one, one, args, 0, &options), cudaErrorUnknown);
        EXPECT_IS(cudaGetLastError(), cudaErrorUnknown);
        EXPECT_IS(node_count(), before);
    }
    EXPECT_IS(pdl_graph_add_kernel(&added, graph, twice, 2, &plain, one, one, args, 0, &options), cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT(added == NULL);
    EXPECT_IS(node_count(), before);
    EXPECT_IS(edge_count(), 0);
}

#define NOT_ADDED(wanted, out, into, edges, count, kernel, grid, bytes, o)                                             \
    refused(__LINE__, pdl_graph_add_kernel(out, into, edges, count, kernel, grid, one, args, bytes, o), wanted, 0, 0)

static void refuses_kernels(void)
{
    const cudaError_t value = cudaErrorInvalidValue;
    pdl_graph_edge edge = edge_of(node[0], NULL, PDL_EDGE_PROGRAMMATIC);
    pdl_kernel never_prepared = PDL_ZERO;
    pdl_options o = PDL_ZERO;
    const dim3 nothing = {0, 1, 1};
    const size_t before = node_count();
    cudaGraphNode_t added;
    cudaEvent_t event;
    unsigned calls;

    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
    calls = other_calls();
    NOT_ADDED(value, NULL, graph, NULL, 0, &plain, one, 0, NULL);
    NOT_ADDED(value, &added, NULL, NULL, 0, &plain, one, 0, NULL);
    NOT_ADDED(value, &added, graph, NULL, 1, &plain, one, 0, NULL);
    NOT_ADDED(value, &added, graph, NULL, 0, NULL, one, 0, NULL);
    NOT_ADDED(value, &added, graph, NULL, 0, &never_prepared, one, 0, NULL);
    NOT_ADDED(value, &added, graph, NULL, 0, &driver, one, 0, NULL); /* the driver's own call adds it */
    NOT_ADDED(value, &added, graph, NULL, 0, &plain, one, (size_t)1 << 32, NULL);
    NOT_ADDED(cudaErrorInvalidConfiguration, &added, graph, NULL, 0, &plain, nothing, 0, NULL);
    NOT_ADDED(value, &added, graph, &edge, 1, &plain, one, 0, NULL); /* overlap was not asked for */
    EXPECT_IS(edge.reason, PDL_REASON_NOT_ASKED);
    o.event = event;
    NOT_ADDED(value, &added, graph, NULL, 0, &plain, one, 0, &o);
    o.event = NULL, o.launch_completion_event = event;
    NOT_ADDED(value, &added, graph, NULL, 0, &plain, one, 0, &o);
    o.launch_completion_event = NULL, o.overlap = 3;
    NOT_ADDED(value, &added, graph, NULL, 0, &plain, one, 0, &o);
    o.overlap = PDL_OVERLAP_REQUIRED, o.cooperative = 2;
    NOT_ADDED(value, &added, graph, NULL, 0, &plain, one, 0, &o);
    EXPECT_IS(other_calls(), calls);
    EXPECT_IS(node_count(), before);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
}

/* ---- reading ---- */

/* Arrays of every size: the right edges, or the error and a size that will do. */
static void reads_into_any_size(void)
{
    pdl_graph_edge put[6], got[MOST];
    size_t count, n = 0;

    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned j = i + 1; j < NODES; j++) {
            put[n] = edge_of(node[i], node[j], (i + j) % 4);
            EXPECT_IS(pdl_graph_add_edges(graph, &put[n++], 1, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
        }
    }
    for (size_t room = 0; room <= MOST; room++) {
        memset(got, 0xa5, sizeof got);
        count = room;
        if (room < n) {
            EXPECT_IS(pdl_graph_edges(graph, got, &count, scratch_nodes, scratch_data), cudaErrorMemoryAllocation);
            EXPECT(count > room);
        } else if (pdl_graph_edges(graph, got, &count, scratch_nodes, scratch_data) == cudaSuccess) {
            EXPECT_IS(count, n);
            EXPECT_IS(memcmp(got, put, n * sizeof *got), 0);
        } else {
            EXPECT(room == n && count > n); /* a driver that does not count for us cannot know that it was all */
        }
        for (size_t byte = room * sizeof *got; byte < sizeof got; byte++) {
            EXPECT(((unsigned char *)got)[byte] == 0xa5);
        }
        EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
    }
    count = 0;
    EXPECT_IS(pdl_graph_edges(graph, NULL, &count, scratch_nodes, scratch_data), cudaErrorMemoryAllocation);
    EXPECT_IS(pdl_graph_edges(NULL, got, &count, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_edges(graph, got, NULL, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_edges_to(NULL, got, &count, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_edges_from(NULL, got, &count, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
}

static void reads_of_nodes_and_counts(void)
{
    pdl_graph_edge edges[MOST];
    size_t count, programmatic;

    reads_into_any_size();
    count = MOST;
    EXPECT_IS(pdl_graph_edges_to(node[3], edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    EXPECT_IS(count, 3);
    for (size_t i = 0; i < count; i++) {
        EXPECT(edges[i].from == node[i] && edges[i].to == node[3] && edges[i].kind == (i + 3) % 4);
    }
    count = MOST;
    EXPECT_IS(pdl_graph_edges_from(node[0], edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    EXPECT_IS(count, 3);
    for (size_t i = 0; i < count; i++) {
        EXPECT(edges[i].from == node[0] && edges[i].to == node[i + 1] && edges[i].kind == (i + 1) % 4);
    }
    count = MOST;
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, &programmatic), cudaSuccess);
    EXPECT_IS(programmatic, 3); /* 0 to 1, 0 to 2, 2 to 3; the others are (1 + 2) % 4 == 3 and so on */
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, NULL), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_edges_to(empty, edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    EXPECT_IS(count, 0);
}

static void reads_and_steers_a_capture(void)
{
    pdl_graph_edge edges[MOST], half = PDL_ZERO;
    pdl_options overlap = PDL_ZERO;
    cudaGraph_t captured = NULL;
    cudaStream_t stream;
    size_t count = MOST;

    overlap.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_graph_edges_of_capture(stream, &captured, edges, &count), cudaErrorIllegalState);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, &captured, edges, &count), cudaSuccess);
    EXPECT(count == 1 && captured != NULL && edges[0].from != NULL && edges[0].to == NULL && edges[0].kind == PDL_EDGE_FULL);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, &overlap), cudaSuccess);
    half.from = edges[0].from;
    half.kind = PDL_EDGE_BLOCK_START;
    EXPECT_IS(pdl_graph_set_capture_edges(stream, &half, 1, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    EXPECT(count == 1 && edges[0].from == half.from && edges[0].kind == PDL_EDGE_BLOCK_START);
    count = 0;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, NULL, &count), cudaErrorMemoryAllocation);
    EXPECT_IS(count, 1);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(pdl_graph_set_capture_edges(stream, edges, 33, &plain, PDL_OVERLAP_REQUIRED), cudaErrorInvalidValue);
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, NULL), cudaErrorInvalidValue);
    EXPECT_IS(cudaStreamEndCapture(stream, &captured), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges(captured, edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    EXPECT(count == 2 && edges[0].kind == PDL_EDGE_PROGRAMMATIC && edges[1].kind == PDL_EDGE_BLOCK_START);
    EXPECT_IS(pdl_graph_set_capture_edges(stream, &half, 1, &plain, PDL_OVERLAP_REQUIRED), cudaErrorIllegalState);
    (void)cudaGetLastError();
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT(cudaDeviceSynchronize() != cudaSuccess); /* breaks the capture */
    (void)cudaGetLastError();
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaErrorStreamCaptureInvalidated);
    EXPECT_IS(count, 0);
    EXPECT(cudaStreamEndCapture(stream, &captured) != cudaSuccess);
    (void)cudaGetLastError();
}

/* Several of what the next node depends on, of different kinds. */
static void steers_a_capture_by_kinds(void)
{
    pdl_graph_edge edges[MOST], halves[2];
    cudaStream_t stream, other;
    cudaEvent_t event;
    size_t count = MOST;
    cudaGraph_t captured;

    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    halves[0] = edges[0];
    halves[0].kind = PDL_EDGE_FULL;
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    halves[1] = edges[0];
    halves[1].kind = PDL_EDGE_PROGRAMMATIC;
    EXPECT_IS(pdl_graph_set_capture_edges(stream, halves, 2, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    EXPECT(count == 2 && edges[0].kind == PDL_EDGE_FULL && edges[1].kind == PDL_EDGE_PROGRAMMATIC);
    memset(edges, 0xa5, sizeof edges);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    for (size_t byte = count * sizeof *edges; byte < sizeof edges; byte++) {
        EXPECT(((unsigned char *)edges)[byte] == 0xa5);
    }
    halves[0].kind = halves[1].kind = PDL_EDGE_FULL;
    EXPECT_IS(pdl_graph_set_capture_edges(stream, halves, 2, NULL, PDL_OVERLAP_NONE), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    EXPECT(count == 2 && edges[0].kind == PDL_EDGE_FULL && edges[1].kind == PDL_EDGE_FULL);
    EXPECT_IS(pdl_graph_set_capture_edges(stream, halves, 1, NULL, PDL_OVERLAP_NONE), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, edges, &count), cudaSuccess);
    EXPECT(count == 1 && edges[0].from == halves[0].from); /* set, not added */
    EXPECT_IS(cudaStreamEndCapture(stream, &captured), cudaSuccess);
}

/* The kind of edge data, from each of its bytes. */
static void reads_every_byte(void)
{
    for (unsigned kind = PDL_EDGE_FULL; kind <= PDL_EDGE_LAUNCH_COMPLETION; kind++) {
        pdl_edge_data data = pdl_impl_data_of(kind);

        EXPECT_IS(pdl_impl_kind_of(&data), kind);
        for (size_t byte = 0; byte < sizeof data; byte++) {
            pdl_edge_data odd = data;

            ((unsigned char *)&odd)[byte] = 3;
            EXPECT_IS(pdl_impl_kind_of(&odd), PDL_EDGE_UNKNOWN);
        }
    }
}

/* A driver without edge data: full edges only, which is said. */
static void falls_back_on_old_drivers(void)
{
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_PROGRAMMATIC), edges[MOST];
    size_t count = MOST, programmatic = 7;
    unsigned calls;

    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    model_set_versions(0, 12020);
    EXPECT_IS(pdl_graph_remove_edges(graph, &edge, 1), cudaErrorNotSupported);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_DRIVER);
    EXPECT_IS(edge.kind, PDL_EDGE_PROGRAMMATIC);
    edge = edge_of(node[2], node[3], PDL_EDGE_BLOCK_START);
    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_REQUIRED), cudaErrorNotSupported);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_DRIVER);
    EXPECT(strstr(pdl_reason_string(edge.reason), "driver of CUDA 12.3") != NULL);
    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_IF_POSSIBLE), cudaSuccess);
    EXPECT_IS(edge.kind, PDL_EDGE_FULL);
    EXPECT_IS(edge.reason, PDL_REASON_EDGE_DRIVER);
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaErrorNotSupported);
    EXPECT_IS(count, 0);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_to(node[3], edges, &count, scratch_nodes, scratch_data), cudaErrorNotSupported);
    EXPECT_IS(count, 0);
    count = MOST;
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, &programmatic), cudaErrorNotSupported);
    EXPECT_IS(programmatic, 0);
    EXPECT_IS(count, 0);
    count = MOST;
    EXPECT_IS(pdl_graph_edges_of_capture(NULL, NULL, edges, &count), cudaErrorNotSupported);
    EXPECT_IS(count, 0);
    model_set_versions(0, 12030);
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_PROGRAMMATIC, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    count = MOST;
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaSuccess);
    calls = model_call_count("cudaGraphNodeGetType");
    edge = edge_of(node[0], node[3], PDL_EDGE_FULL);
    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_NONE), cudaSuccess);
    EXPECT_IS(model_call_count("cudaGraphNodeGetType"), calls); /* a full edge is legal between any two nodes */
}

/* Counts are 0 after every error, and size queries pass NULL and 0. */
static void leaves_no_counts_behind(void)
{
    pdl_graph_edge edges[MOST];
    size_t count = 5, programmatic = 5;

    EXPECT_IS(pdl_graph_edges(NULL, edges, &count, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    count = 5;
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, NULL, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    count = 5;
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, NULL), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    count = 5;
    EXPECT_IS(pdl_graph_edges(graph, NULL, &count, scratch_nodes, scratch_data), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    count = 5;
    EXPECT_IS(pdl_graph_count_programmatic(NULL, &count, scratch_nodes, scratch_data, &programmatic), cudaErrorInvalidValue);
    EXPECT(count == 0 && programmatic == 0);
    count = programmatic = 5;
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, NULL, scratch_data, &programmatic), cudaErrorInvalidValue);
    EXPECT(count == 0 && programmatic == 0);
    count = programmatic = 5;
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, NULL, &programmatic), cudaErrorInvalidValue);
    EXPECT(count == 0 && programmatic == 0);
    programmatic = 5;
    EXPECT_IS(pdl_graph_count_programmatic(graph, NULL, NULL, NULL, &programmatic), cudaErrorInvalidValue);
    EXPECT_IS(programmatic, 0);
    count = 5;
    EXPECT_IS(pdl_graph_edges_of_capture(NULL, NULL, NULL, &count), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    count = programmatic = 5;
    model_fail_next("cudaGraphGetEdges", cudaErrorUnknown);
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, scratch_nodes, scratch_data, &programmatic), cudaErrorUnknown);
    EXPECT(count == 0 && programmatic == 0);
    count = 5;
    model_fail_next("cudaGraphGetEdges", cudaErrorUnknown);
    EXPECT_IS(pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data), cudaErrorUnknown);
    EXPECT_IS(count, 0);
    (void)cudaGetLastError();
    count = 0;
    model_fail_next("cudaGraphGetEdges", cudaErrorUnknown);
    EXPECT_IS(pdl_graph_edges(graph, NULL, &count, NULL, NULL), cudaErrorUnknown);
    EXPECT_IS(count, 0);
    EXPECT_IS(cudaGetLastError(), cudaErrorUnknown);
    count = 0;
    EXPECT_IS(pdl_graph_edges(graph, NULL, &count, NULL, NULL), cudaSuccess);
    EXPECT_IS(pdl_graph_edges_to(node[0], NULL, &count, NULL, NULL), cudaSuccess);
    EXPECT_IS(pdl_graph_count_programmatic(graph, &count, NULL, NULL, &programmatic), cudaSuccess);
}

/* A pending error of the program's own survives reading, also where that has to ask without an array for edge data. */
static void keeps_a_pending_error(void)
{
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_PROGRAMMATIC), edges[MOST];
    size_t count;

    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
    for (size_t room = 0; room < 4; room++) {
        count = room;
        (void)!pdl_graph_edges(graph, edges, &count, scratch_nodes, scratch_data);
        EXPECT(count > 0);
        EXPECT_IS(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    }
    (void)cudaGetLastError();
}

/* The names of 0.2 do what the new ones do. */
static void keeps_the_old_names(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_FULL);
    cudaStream_t stream;

    EXPECT_IS(pdl_graph_connect(graph, &edge, 1, &plain, PDL_OVERLAP_NONE), cudaSuccess);
    EXPECT_IS(pdl_graph_change(graph, &edge, PDL_EDGE_PROGRAMMATIC, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(pdl_graph_remove(graph, &edge, 1), cudaSuccess);
    EXPECT_IS(kind_between(node[0], node[1]), -1);
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_graph_connect_capture(stream, NULL, 0, NULL, PDL_OVERLAP_NONE), cudaErrorIllegalState);
    (void)cudaGetLastError();
#pragma GCC diagnostic pop
}

/* The driver's kernels: its nodes come from elsewhere, the edges are ours. */
/* As many edges as there may be, the early one first; read into an array that just holds them. */
static void steers_a_capture_at_the_limit(void)
{
    enum { LIMIT = 32 };
    pdl_graph_edge edges[LIMIT], read[LIMIT];
    cudaGraph_t captured = NULL;
    cudaStream_t stream;
    size_t count = 1;

    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(pdl_graph_edges_of_capture(stream, &captured, edges, &count), cudaSuccess);
    edges[0].kind = PDL_EDGE_PROGRAMMATIC;
    for (int i = 1; i < LIMIT; i++) {
        edges[i] = edge_of(NULL, NULL, PDL_EDGE_FULL);
        EXPECT_IS(cudaGraphAddEmptyNode(&edges[i].from, captured, NULL, 0), cudaSuccess);
    }
    EXPECT_IS(pdl_graph_set_capture_edges(stream, edges, LIMIT, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
    memset(read, 0xa5, sizeof read);
    count = LIMIT;
    EXPECT_IS(pdl_graph_edges_of_capture(stream, NULL, read, &count), cudaSuccess);
    EXPECT_IS(count, LIMIT);
    for (int i = 0; i < LIMIT; i++) {
        EXPECT(read[i].from == edges[i].from && read[i].kind == edges[i].kind);
    }
    EXPECT_IS(cudaStreamEndCapture(stream, &captured), cudaSuccess);
}

static void takes_drivers_kernels(void)
{
    pdl_kernel old;
    pdl_graph_edge edge = edge_of(node[0], node[1], PDL_EDGE_PROGRAMMATIC);

    EXPECT_IS(pdl_kernel_init_driver(&old, function_of((const void *)erased_kernel)), cudaSuccess);
    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &driver, PDL_OVERLAP_REQUIRED), cudaSuccess);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(pdl_graph_change_edge(graph, &edge, PDL_EDGE_BLOCK_START, &old, PDL_OVERLAP_IF_POSSIBLE), cudaSuccess);
    EXPECT_IS(kind_between(node[0], node[1]), PDL_EDGE_FULL);
    EXPECT_IS(edge.reason, PDL_REASON_TARGET);
}

int main(void)
{
    void (*const tests[])(void) = {
        connects_by_kind,    judges_every_row, judges_as_cuda_does, refuses_edges,   falls_back,          connects_all_or_none,
        refuses_removals,    changes_kinds,    adds_kernels,        adds_all_or_nothing, refuses_kernels, reads_into_any_size,
        reads_of_nodes_and_counts, reads_and_steers_a_capture, takes_drivers_kernels, steers_a_capture_by_kinds, steers_a_capture_at_the_limit,
        reads_every_byte, falls_back_on_old_drivers, leaves_no_counts_behind, keeps_a_pending_error, keeps_the_old_names,
    };

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
