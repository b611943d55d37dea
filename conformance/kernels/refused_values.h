/* refused_values.h - the pair of refused.cu with values that a call's documents exclude, each beside others that are right. */
#ifndef REFUSED_VALUES_H_INCLUDED
#define REFUSED_VALUES_H_INCLUDED

#include "refused_flags.h"

/* ---- copies and memsets ---- */

/* "width must not exceed either dpitch or spitch" */
static cudaError_t copy_rows(const struct values *v, size_t to_pitch, size_t from_pitch)
{
    return cudaMemcpy2DAsync(v->memory, to_pitch, v->memory + 32, from_pitch, 16, 2, cudaMemcpyDeviceToDevice, v->stream);
}
static cudaError_t copy_pitch(struct values *v) { return copy_rows(v, 12, 16); }
static cudaError_t copy_from_pitch(struct values *v) { return copy_rows(v, 16, 12); }

/* Of two rows. */
static void fill_rows(struct cudaMemcpy3DParms *copy, const struct values *v, size_t width)
{
    copy->srcPtr.ptr = v->memory;
    copy->dstPtr.ptr = v->memory + 32;
    copy->srcPtr.pitch = copy->dstPtr.pitch = copy->srcPtr.xsize = copy->dstPtr.xsize = 16;
    copy->srcPtr.ysize = copy->dstPtr.ysize = copy->extent.height = 2;
    copy->extent.width = width;
    copy->extent.depth = 1;
    copy->kind = cudaMemcpyDeviceToDevice;
}

/* "Must be 1, 2, or 4." */
static cudaError_t set_element(struct values *v)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t node;

    set.dst = v->memory;
    set.elementSize = 8;
    set.width = set.height = 1;
    return cudaGraphAddMemsetNode(&node, v->graph, NULL, 0, &set);
}

/* Two rows of 16 bytes that overlap: the pitch is one of 12. */
static void fill_short(struct cudaMemsetParams *set, const struct values *v)
{
    set->dst = v->memory;
    set->elementSize = 4;
    set->width = 4;
    set->height = 2;
    set->pitch = 12;
}

static cudaError_t set_pitch(struct values *v) { return cudaMemset2DAsync(v->memory, 12, 0, 16, 2, v->stream); }

static cudaError_t set_node_pitch(struct values *v)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t node;

    fill_short(&set, v);
    return cudaGraphAddMemsetNode(&node, v->graph, NULL, 0, &set);
}

static cudaError_t set_params_pitch(struct values *v)
{
    struct cudaMemsetParams set = PDL_ZERO;

    fill_short(&set, v);
    return cudaGraphMemsetNodeSetParams(v->set, &set);
}

static cudaError_t copy_node_pitch(struct values *v)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;
    cudaGraphNode_t node;

    fill_rows(&copy, v, 20);
    return cudaGraphAddMemcpyNode(&node, v->graph, NULL, 0, &copy);
}

static cudaError_t copy_params_pitch(struct values *v)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    fill_rows(&copy, v, 20);
    return cudaGraphMemcpyNodeSetParams(v->rows, &copy);
}

/* "Returns cudaErrorInvalidValue if ... either the original or new memory operands are multidimensional." */
static cudaError_t rows_as_one(struct values *v)
{
    return cudaGraphExecMemcpyNodeSetParams1D(v->exec, v->rows, v->memory, v->memory + 32, 4, cudaMemcpyDeviceToDevice);
}

/* ---- functions and events that there are not ---- */

static cudaError_t no_function(struct values *v) { return cudaLaunchHostFunc(v->stream, NULL, NULL); }

static cudaError_t no_node_function(struct values *v)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraphNode_t node;

    return cudaGraphAddHostNode(&node, v->graph, NULL, 0, &host);
}

static cudaError_t no_host_params(struct values *v)
{
    struct cudaHostNodeParams host = PDL_ZERO;

    return cudaGraphHostNodeSetParams(v->host, &host);
}

static cudaError_t no_exec_host_params(struct values *v)
{
    struct cudaHostNodeParams host = PDL_ZERO;

    return cudaGraphExecHostNodeSetParams(v->exec, v->host, &host);
}

#if CUDART_VERSION >= 12030
static cudaError_t no_general_function(struct values *v)
{
    struct cudaGraphNodeParams general = PDL_ZERO;
    cudaGraphNode_t node;

    general.type = cudaGraphNodeTypeHost;
    return edges_add_node(&node, v->graph, NULL, NULL, 0, &general);
}

static cudaError_t no_general_params(struct values *v)
{
    struct cudaGraphNodeParams general = PDL_ZERO;

    general.type = cudaGraphNodeTypeHost;
    return cudaGraphNodeSetParams(v->host, &general);
}

static cudaError_t no_general_exec_params(struct values *v)
{
    struct cudaGraphNodeParams general = PDL_ZERO;

    general.type = cudaGraphNodeTypeHost;
    return cudaGraphExecNodeSetParams(v->exec, v->host, &general);
}
#endif

static cudaError_t attribute_of_nothing(struct values *v)
{
    (void)v;
    return cudaFuncSetAttribute((const void *)NULL, cudaFuncAttributePreferredSharedMemoryCarveout, 50);
}

static cudaError_t occupancy(const void *function, int threads)
{
    int blocks;

    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, 0);
}
static cudaError_t occupancy_of_nothing(struct values *v) { (void)v; return occupancy(NULL, 32); }
static cudaError_t occupancy_of_none(struct values *v) { (void)v; return occupancy((const void *)SYMBOL(refused_count), 0); }

static cudaError_t upload_nothing(struct values *v) { return cudaGraphUpload(NULL, v->stream); }
/* None of them was created. */
static cudaError_t destroy_legacy(struct values *v) { (void)v; return cudaStreamDestroy(cudaStreamLegacy); }
static cudaError_t destroy_zero(struct values *v) { (void)v; return cudaStreamDestroy(NULL); }
static cudaError_t destroy_per_thread(struct values *v) { (void)v; return cudaStreamDestroy(cudaStreamPerThread); }

static cudaError_t no_record(struct values *v) { return cudaGraphEventRecordNodeSetEvent(v->record, NULL); }
static cudaError_t no_exec_record(struct values *v) { return cudaGraphExecEventRecordNodeSetEvent(v->exec, v->record, NULL); }

/* ---- nodes of another kind, or of another graph ---- */

static cudaError_t kernel_for_set(struct values *v)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(refused_count), 1, values);

    values[0] = &v->args;
    return cudaGraphExecKernelNodeSetParams(v->exec, v->set, &params);
}

static cudaError_t foreign_edge(struct values *v)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);

    return edges_add(v->graph, &v->foreign, &v->kernel, &full, 1);
}

/* "Each node in from and to must belong to graph": one of a child graph in it belongs to the child graph. */
static cudaError_t edge_of_child(struct values *v, int into, int in_child)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t outer = NULL, child = NULL;
    cudaGraphNode_t node = NULL, holder = NULL, inner = NULL;
    size_t count = 1;
    cudaError_t error = cudaGraphCreate(&outer, 0);
    int made;

    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&node, outer, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&holder, outer, NULL, 0, v->other);
    if (error == cudaSuccess)
        error = cudaGraphChildGraphNodeGetGraph(holder, &child);
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(child, &inner, &count);
    made = error == cudaSuccess && count == 1;
    if (made)
        error = edges_add(in_child ? child : outer, into ? &node : &inner, into ? &inner : &node, &full, 1);
    if (outer)
        (void)cudaGraphDestroy(outer);
    return made ? error : CALL_TAKEN;
}

static cudaError_t edge_into_child(struct values *v) { return edge_of_child(v, 1, 0); }
static cudaError_t edge_out_of_child(struct values *v) { return edge_of_child(v, 0, 0); }
static cudaError_t edge_from_around(struct values *v) { return edge_of_child(v, 1, 1); }

static cudaError_t begin_after_foreign(struct values *v)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = cudaStreamBeginCaptureToGraph(v->stream, v->graph, &v->foreign, &full, 1, cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        ask_drop_capture(v->stream);
    return error;
}

/* The same with one of its own before it, from the beginning, or later by an update; what ends in the graph is not destroyed. */
static cudaError_t depend_on_second(struct values *v, int by_update)
{
    cudaGraphEdgeData full[2];
    cudaGraphNode_t nodes[2];
    cudaGraph_t graph = NULL;
    cudaError_t error;

    nodes[0] = v->kernel;
    nodes[1] = v->foreign;
    full[0] = full[1] = edges_data(0, 0, 0);
    error = cudaStreamBeginCaptureToGraph(v->stream, v->graph, nodes, full, by_update ? 0 : 2, cudaStreamCaptureModeThreadLocal);
    if (by_update && error != cudaSuccess)
        return CALL_TAKEN;
    if (by_update)
        error = edges_update_capture(v->stream, nodes, full, 2, cudaStreamSetCaptureDependencies);
    (void)cudaStreamEndCapture(v->stream, &graph);
    return error;
}
static cudaError_t begin_after_second(struct values *v) { return depend_on_second(v, 0); }
static cudaError_t update_second(struct values *v) { return depend_on_second(v, 1); }

/* In a capture of the stream, whose graph nobody uses. */
static cudaError_t update_capture(const struct values *v, unsigned flags, int foreign)
{
    cudaGraphNode_t node = v->foreign;
    cudaError_t error = cudaStreamBeginCapture(v->stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return CALL_TAKEN;
    error = edges_update_capture(v->stream, &node, NULL, foreign ? 1 : 0, flags);
    ask_drop_capture(v->stream);
    return error;
}
static cudaError_t update_flags(struct values *v) { return update_capture(v, 2, 0); }
static cudaError_t update_foreign(struct values *v) { return update_capture(v, cudaStreamAddCaptureDependencies, 1); }

/* The legacy stream takes no part in captures: "When an invalid operation is attempted during stream capture, any associated capture
 * graphs are invalidated." Success stands for a capture that is not. */
static cudaError_t legacy_joins(struct values *v)
{
    cudaError_t error = cudaStreamBeginCapture(v->stream, cudaStreamCaptureModeThreadLocal);
    cudaGraph_t graph = NULL;

    if (error == cudaSuccess)
        error = cudaEventRecord(v->event, v->stream);
    if (error != cudaSuccess)
        return CALL_TAKEN;
    error = cudaStreamWaitEvent(cudaStreamLegacy, v->event, 0);
    (void)cudaStreamEndCapture(v->stream, &graph);
    (void)cudaGetLastError();
    if (graph) {
        (void)cudaGraphDestroy(graph);
        error = cudaSuccess;
    }
    (void)cudaEventRecord(v->event, v->stream); /* it is no captured one any more */
    return error;
}

/* "If the capture sequence had been invalidated, then a NULL graph will be returned." Success stands for any other graph. */
static cudaError_t spoiled_graph(struct values *v)
{
    cudaGraph_t graph = v->graph;
    cudaError_t error = cudaStreamBeginCapture(v->stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return CALL_TAKEN;
    (void)cudaStreamSynchronize(v->stream); /* "may not be called during capture" */
    (void)cudaGetLastError();
    error = cudaStreamEndCapture(v->stream, &graph);
    return graph == NULL ? error : cudaSuccess;
}

/* ---- conditional nodes ---- */

#if CUDART_VERSION >= 12040
static cudaError_t handle_flags(struct values *v)
{
    cudaGraphConditionalHandle handle;

    return cudaGraphConditionalHandleCreate(&handle, v->other, 0, 2);
}

/* "Allowed values are 1 for cudaGraphCondTypeWhile", one or two for if-nodes, or more than none. */
static cudaError_t bodies_of(struct values *v, enum cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    cudaGraph_t body[4];
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, v->other, 0, cudaGraphCondAssignDefault);

    return error == cudaSuccess ? ask_add_conditional(&node, v->other, handle, type, size, body) : CALL_TAKEN;
}
static cudaError_t two_loops(struct values *v) { return bodies_of(v, cudaGraphCondTypeWhile, 2); }
static cudaError_t three_bodies(struct values *v) { return bodies_of(v, cudaGraphCondTypeIf, 3); }
/* The handle "must be associated with" the graph that gets the node. */
static cudaError_t foreign_handle(struct values *v)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    cudaGraph_t body[1];
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, v->other, 0, cudaGraphCondAssignDefault);

    return error == cudaSuccess ? ask_add_conditional(&node, v->graph, handle, cudaGraphCondTypeIf, 1, body) : CALL_TAKEN;
}
static cudaError_t no_body(struct values *v) { return bodies_of(v, cudaGraphCondTypeIf, 0); }
#endif

static const struct excluded {
    const char *what;
    cudaError_t (*call)(struct values *v);
} excluded[] = {
    { "a wait with flags 2", wait_flags },
    { "a record with flags 2", record_flags },
    { "a copy of kind 5", copy_kind },
    { "an event of flags 8", event_flags },
    { "an interprocess event with timing", timed_interprocess },
    { "a stream of flags 2", stream_flags },
    { "a graph of flags 1", graph_flags },
    { "a callback of flags 1", callback_flags },
    { "a user object without flags", object_flags },
    { "memory that was freed already", free_again },
    { "a capture in mode 3", begin_mode },
    { "device -1", device_below },
    { "one device more than there are", device_beyond },
    { "attribute 6 of a stream", stream_overlaps },
    { "a cooperative stream", stream_cooperates },
    { "a launch that records its event as an external one", launch_flags },
    { "a launch that records an interprocess event", launch_interprocess },
    { "a launch in memory-sync domain 2", launch_domain },
#if CUDART_VERSION >= 12050
    { "a launch with a carve-out of 101 percent", launch_carveout_high },
    { "a launch with a carve-out of -2 percent", launch_carveout_low },
#endif
    { "a launch in clusters of 0 along x", launch_cluster_x },
    { "a launch in clusters of 0 along y", launch_cluster_y },
    { "a launch in clusters of 0 along z", launch_cluster_z },
    { "a launch with one attribute and no list of them", launch_no_list },
    { "a launch of no kernel", launch_nothing },
    { "a copy of rows that are longer than the target's pitch", copy_pitch },
    { "a copy of rows that are longer than the source's pitch", copy_from_pitch },
    { "a memset node of elements of 8 bytes", set_element },
    { "a memset of rows that are longer than their pitch", set_pitch },
    { "a memset node of rows that are longer than their pitch", set_node_pitch },
    { "parameters of a memset of rows that are longer than their pitch", set_params_pitch },
    { "a copy node of rows that are longer than their pitch", copy_node_pitch },
    { "parameters of a copy of rows that are longer than their pitch", copy_params_pitch },
    { "new parameters of one row for a copy of rows", rows_as_one },
    { "no host function", no_function },
    { "a host node without a function", no_node_function },
    { "parameters of a host node without a function", no_host_params },
    { "parameters of an executable graph's host node without a function", no_exec_host_params },
#if CUDART_VERSION >= 12030
    { "a host node without a function, by the general call", no_general_function },
    { "parameters of a host node without a function, by the general call", no_general_params },
    { "parameters of an executable graph's host node without a function, by the general call", no_general_exec_params },
#endif
    { "an attribute of no kernel", attribute_of_nothing },
    { "how many blocks of no kernel fit", occupancy_of_nothing },
    { "how many blocks of no threads fit", occupancy_of_none },
    { "an upload of no graph", upload_nothing },
    { "the end of the legacy stream", destroy_legacy },
    { "the end of stream 0", destroy_zero },
    { "the end of the per-thread stream", destroy_per_thread },
    { "no event for a node that records", no_record },
    { "no event for a node that records in an executable graph", no_exec_record },
    { "parameters of a kernel for a memset", kernel_for_set },
    { "an edge from a node of another graph", foreign_edge },
    { "an edge to a node of a child graph", edge_into_child },
    { "an edge from a node of a child graph", edge_out_of_child },
    { "an edge in a child graph from a node of the graph around it", edge_from_around },
    { "a capture that begins after a node of another graph", begin_after_foreign },
    { "a capture that begins after a node of its graph and one of another", begin_after_second },
    { "an update of a capture with flags 2", update_flags },
    { "an update of a capture by a node of another graph", update_foreign },
    { "an update of a capture by a node of its graph and one of another", update_second },
    { "the legacy stream in a capture", legacy_joins },
    { "the graph of a capture that was spoiled", spoiled_graph },
};

#if CUDART_VERSION >= 12040
static const struct excluded excluded_bodies[] = {
    { "a handle of a condition with flags 2", handle_flags },
    { "a loop with two bodies", two_loops },
    { "three bodies of one condition", three_bodies },
    { "no body of a condition", no_body },
    { "a condition of another graph", foreign_handle },
};
#endif

/* ---- asked ---- */

static cudaError_t add_rows(struct values *v)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    fill_rows(&copy, v, 8);
    return cudaGraphAddMemcpyNode(&v->rows, v->graph, NULL, 0, &copy);
}

static cudaError_t open_values(struct values *v, const struct node_room *room, cudaStream_t stream)
{
    cudaError_t error = cleared_alloc((void **)&v->args.state, sizeof(struct trial_state));

    v->stream = stream;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&v->memory, 64 * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&v->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&v->graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&v->other, 0);
    if (error == cudaSuccess)
        error = ask_add_kernel(&v->kernel, v->graph, (const void *)SYMBOL(refused_count), &v->args, 1);
    if (error == cudaSuccess)
        error = ask_add(&v->set, v->graph, NODE_MEMSET, room);
    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&v->record, v->graph, NULL, 0, v->event);
    if (error == cudaSuccess)
        error = add_rows(v);
    if (error == cudaSuccess)
        error = ask_add(&v->host, v->graph, NODE_HOST, room);
    if (error == cudaSuccess)
        error = cudaGraphAddEmptyNode(&v->foreign, v->other, NULL, 0);
    return error == cudaSuccess ? cudaGraphInstantiate(&v->exec, v->graph, 0) : error;
}

static void close_values(struct values *v)
{
    (void)cudaDeviceSynchronize();
    if (v->exec)
        (void)cudaGraphExecDestroy(v->exec);
    if (v->graph)
        (void)cudaGraphDestroy(v->graph);
    if (v->other)
        (void)cudaGraphDestroy(v->other);
    if (v->event)
        (void)cudaEventDestroy(v->event);
    (void)cudaFree(v->memory);
    (void)cudaFree(v->args.state);
}

static void ask_excluded(struct ask *ask, struct values *v, const struct excluded *list, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        ask_expect_refusal(ask, list[i].what, list[i].call(v));
        (void)cudaGetLastError();
    }
}

/* What the refused calls left: a graph of five nodes without edges, and a kernel in it and another one in the stream, which run. */
static void expect_unchanged(struct ask *ask, struct values *v)
{
    struct trial_state state = PDL_ZERO;
    size_t nodes = 0, edges = 0;
    cudaError_t error = cudaGraphGetNodes(v->graph, NULL, &nodes);

    if (error == cudaSuccess)
        error = edges_of_graph(v->graph, NULL, NULL, NULL, &edges);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(v->exec, v->stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(v->stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(&state, v->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    ask_expect(ask, "a graph and a kernel after calls that were refused", error, cudaSuccess);
    ask_expect_number(ask, "nodes of the graph", (long)nodes, 5);
    ask_expect_number(ask, "edges of the graph", (long)edges, 0);
    ask_expect_number(ask, "kernels that ran", (long)state.finished, 2);
}

static void ask_values(struct ask *ask)
{
    struct node_room room = PDL_ZERO;
    struct values v = PDL_ZERO;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(refused_count));

    if (error == cudaSuccess)
        error = open_values(&v, &room, ask->stream);
    ask_expect(ask, "what the calls need", error, cudaSuccess);
    if (error == cudaSuccess) {
        ask_excluded(ask, &v, excluded, sizeof(excluded) / sizeof(excluded[0]));
#if CUDART_VERSION >= 12040
        if (has_conditions())
            ask_excluded(ask, &v, excluded_bodies, sizeof(excluded_bodies) / sizeof(excluded_bodies[0]));
#endif
        expect_unchanged(ask, &v);
    }
    close_values(&v);
    ask_close_room(&room);
}

#endif
