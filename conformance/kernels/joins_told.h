/* joins_told.h - the pair of joins.cu in which the host asks about something, makes something, or queues something elsewhere, between work
 * and its follower, or a dependent that waits: in their stream, after a wait for an event, or in a capture. */
#ifndef JOINS_TOLD_H_INCLUDED
#define JOINS_TOLD_H_INCLUDED

/* Where calls are queued that have nothing to do with the work. The stream that each call is given may be asked about: none captures. */
static cudaStream_t elsewhere(const struct joins *joins) { return joins->stream[2]; }

static cudaError_t ready_or_not(cudaError_t error)
{
    (void)cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

/* ---- questions ---- */

static cudaError_t tell_memory(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    size_t left, all;

    (void)joins, (void)stream, (void)event;
    return cudaMemGetInfo(&left, &all);
}

static cudaError_t tell_device(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    int device, value;
    cudaError_t error = cudaGetDevice(&device);

    (void)joins, (void)stream, (void)event;
    if (error == cudaSuccess)
        error = cudaSetDevice(device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device) : error;
}

static cudaError_t tell_kernel(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct cudaFuncAttributes attributes;

    (void)joins, (void)stream, (void)event;
    return cudaFuncGetAttributes(&attributes, (const void *)SYMBOL(joins_follower));
}

static cudaError_t tell_occupancy(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    int blocks;

    (void)joins, (void)stream, (void)event;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)SYMBOL(AWAITING_FOLLOWER), PLACE_WORDS, 0);
}

static cudaError_t tell_stream(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureStatus status;
    unsigned flags;
    int priority;
    cudaError_t error = cudaStreamGetFlags(stream, &flags);

    (void)joins, (void)event;
    if (error == cudaSuccess)
        error = cudaStreamGetPriority(stream, &priority);
    return error == cudaSuccess ? cudaStreamIsCapturing(stream, &status) : error;
}

static cudaError_t tell_end(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return ready_or_not(cudaStreamQuery(stream));
}

/* Of the event that is awaited, too, if there is one. */
static cudaError_t tell_event(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = event ? ready_or_not(cudaEventQuery(event)) : cudaSuccess;

    (void)stream;
    return error == cudaSuccess ? ready_or_not(cudaEventQuery(joins->passed)) : error;
}

/* Whatever the last error is, it is reset. */
static cudaError_t tell_error(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)stream, (void)event;
    (void)cudaPeekAtLastError();
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* Between two events that have passed. */
static cudaError_t tell_time(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaEvent_t from = NULL, to = NULL;
    cudaError_t error = cudaEventCreate(&from);
    float ms;

    (void)stream, (void)event;
    if (error == cudaSuccess)
        error = cudaEventCreate(&to);
    if (error == cudaSuccess)
        error = cudaEventRecord(from, elsewhere(joins));
    if (error == cudaSuccess)
        error = cudaEventRecord(to, elsewhere(joins));
    if (error == cudaSuccess)
        error = cudaEventSynchronize(to);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, from, to);
    if (from)
        (void)cudaEventDestroy(from);
    if (to)
        (void)cudaEventDestroy(to);
    return error;
}

/* ---- settings ---- */

/* The kernel keeps the limit that it has. */
static cudaError_t set_kernel(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    const void *kernel = (const void *)SYMBOL(AWAITING_FOLLOWER);
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);

    (void)joins, (void)stream, (void)event;
    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, attributes.maxDynamicSharedSizeBytes);
}

/* Back and forth. */
static cudaError_t set_capture_mode(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode);

    (void)joins, (void)stream, (void)event;
    return error == cudaSuccess ? cudaThreadExchangeStreamCaptureMode(&mode) : error;
}

/* ---- what the host makes for nobody ---- */

static cudaError_t add_event(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaEvent_t made;
    cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);

    (void)joins, (void)stream, (void)event;
    return error == cudaSuccess ? cudaEventDestroy(made) : error;
}

static cudaError_t add_stream(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaStream_t made;
    cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);

    (void)joins, (void)stream, (void)event;
    return error == cudaSuccess ? cudaStreamDestroy(made) : error;
}

/* The memory is freed once the trial has ended: freeing it waits for the device. */
static cudaError_t add_memory(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return joins->made ? cudaSuccess : cudaMalloc(&joins->made, ALL_WORDS * sizeof(uint32_t));
}

static cudaError_t add_pinned(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return joins->made_pinned ? cudaSuccess : cudaHostAlloc(&joins->made_pinned, ALL_WORDS * sizeof(uint32_t), cudaHostAllocDefault);
}

static cudaError_t add_graph(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaGraphNode_t node;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0), end;

    (void)joins, (void)stream, (void)event;
    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddEmptyNode(&node, graph, NULL, 0);
    end = cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

static cudaError_t add_executable(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = ask_graph_of_kernel(&exec, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);

    (void)stream, (void)event;
    return error == cudaSuccess ? cudaGraphExecDestroy(exec) : error;
}

/* Another executable graph: its kernel is given parameters, left out and taken in again; then the graph is updated, and uploaded
 * elsewhere. */
static cudaError_t change_executable(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(joins_silent), 2, values);
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    cudaGraph_t graph;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    (void)stream, (void)event;
    if (error != cudaSuccess)
        return error;
    values[0] = &joins->work[0];
    error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphExecKernelNodeSetParams(exec, node, &params);
    if (error == cudaSuccess)
        error = cudaGraphNodeSetEnabled(exec, node, 0);
    if (error == cudaSuccess)
        error = cudaGraphNodeSetEnabled(exec, node, 1);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(exec, graph, &info);
    if (error == cudaSuccess)
        error = cudaGraphUpload(exec, elsewhere(joins));
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Captured elsewhere, and never launched. */
static cudaError_t add_capture(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(elsewhere(joins), cudaStreamCaptureModeRelaxed), end;

    (void)stream, (void)event;
    if (error != cudaSuccess)
        return error;
    error = silent(joins, elsewhere(joins));
    end = cudaStreamEndCapture(elsewhere(joins), &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* ---- elsewhere ---- */

static cudaError_t launch_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return silent(joins, elsewhere(joins));
}

static cudaError_t set_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaMemsetAsync(joins->aside, 0, 4, elsewhere(joins));
}

static cudaError_t copy_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaMemcpyAsync(joins->aside, joins->aside + PLACE_WORDS, 4, cudaMemcpyDeviceToDevice, elsewhere(joins));
}

static cudaError_t call_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaLaunchHostFunc(elsewhere(joins), ask_host_nothing, NULL);
}

static void CUDART_CB told_nothing(cudaStream_t stream, cudaError_t status, void *opaque) { (void)stream, (void)status, (void)opaque; }

static cudaError_t call_back_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaStreamAddCallback(elsewhere(joins), told_nothing, NULL, 0);
}

static cudaError_t graph_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaGraphLaunch(joins->nothing, elsewhere(joins));
}

static cudaError_t record_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaEventRecord(joins->passed, elsewhere(joins));
}

static cudaError_t await_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return cudaStreamWaitEvent(elsewhere(joins), joins->passed, 0);
}

/* The host waits for a stream, or an event, that has nothing to do with the work. */
static cudaError_t synchronize_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream, (void)event;
    return joins->round % 4 < 2 ? cudaStreamSynchronize(elsewhere(joins)) : cudaEventSynchronize(joins->passed);
}

#include "joins_told_more.h"

#define TOLD_BOUND_NS 150000u  /* so long a primary waits for its dependent where another thread has to begin before that */

static const struct named_call told_calls[] = {
    { "stale after a question about memory", tell_memory },
    { "stale after a question about the device", tell_device },
    { "stale after a question about the kernel", tell_kernel },
    { "stale after a question about its occupancy", tell_occupancy },
    { "stale after a question about the stream", tell_stream },
    { "stale after a question whether the stream has ended", tell_end },
    { "stale after a question whether an event has passed", tell_event },
    { "stale after a question about the last error", tell_error },
    { "stale after a question about the time between two events", tell_time },
    { "stale after a limit of the kernel", set_kernel },
    { "stale after an exchange of the capture mode", set_capture_mode },
    { "stale after another event", add_event },
    { "stale after another stream", add_stream },
    { "stale after an allocation", add_memory },
    { "stale after an allocation of pinned memory", add_pinned },
    { "stale after another graph", add_graph },
    { "stale after another executable graph", add_executable },
    { "stale after changes of another executable graph", change_executable },
    { "stale after a capture elsewhere", add_capture },
    { "stale after a launch elsewhere", launch_elsewhere },
    { "stale after a memset elsewhere", set_elsewhere },
    { "stale after a copy elsewhere", copy_elsewhere },
    { "stale after a host function elsewhere", call_elsewhere },
    { "stale after a callback elsewhere", call_back_elsewhere },
    { "stale after a graph elsewhere", graph_elsewhere },
    { "stale after a record elsewhere", record_elsewhere },
    { "stale after a wait elsewhere", await_elsewhere },
    { "stale after the host waited elsewhere", synchronize_elsewhere },
    { "stale after a question about versions", tell_versions },
    { "stale after a question about the device's properties", tell_properties },
    { "stale after a question about the kernel's function", tell_function },
    { "stale after a question about the stream's attributes", tell_attributes },
    { "stale after a question about the stream's number", tell_id },
    { "stale after a question about memory pools", tell_pools },
    { "stale after another graph was printed", print_nodes },
    { "stale after another stream of high priority", add_urgent_stream },
    { "stale after the end of no allocation, and an allocation by the older call", add_older_pinned },
    { "stale after another graph with nodes of each kind", add_nodes },
    { "stale after changes of the nodes of another executable graph", change_nodes },
    { "stale after another graph with a conditional node", add_condition },
    { "stale after an allocation and its end in a stream elsewhere", pool_elsewhere },
    { "stale after copies and a memset of rows and layers elsewhere", move_elsewhere },
    { "stale after a cooperative launch elsewhere", cooperate_elsewhere },
    { "stale after a copy and a memset that the host waits for", move_at_once },
};
#define TOLD (sizeof(told_calls) / sizeof(told_calls[0]))

/* Between captured work and what follows it. A relaxed capture forbids none of these calls. */
static cudaError_t told_captured(struct joins *joins, idle_call call)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error;

    prepare(joins, 1, 1);
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess)
        return error;
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = call(joins, elsewhere(joins), NULL);
    if (error == cudaSuccess)
        error = follow_or_depend(joins, stream, joins->round % 2 == 0);
    return ask_run_capture(stream, error);
}

/* What these calls use. */
static cudaError_t open_told(struct joins *joins)
{
    cudaError_t error = open_aside(joins);

    if (error == cudaSuccess && !joins->nothing)
        error = ask_graph_of_kernel(&joins->nothing, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);
    if (error == cudaSuccess && !joins->passed)
        error = cudaEventCreateWithFlags(&joins->passed, cudaEventDisableTiming);
    return error;
}

static cudaError_t end_told(struct joins *joins, cudaError_t error)
{
    if (!joins->made && !joins->made_pinned && !joins->registered)
        return error;
    error = error == cudaSuccess ? cudaDeviceSynchronize() : error;
    if (joins->registered)
        (void)cudaHostUnregister(joins->registered);
    joins->registered = NULL;
    (void)cudaFree(joins->made);
    (void)cudaFreeHost(joins->made_pinned);
    joins->made = joins->made_pinned = NULL;
    return error;
}

/* At each place in turn. */
static cudaError_t told_or_captured(struct joins *joins, idle_call call)
{
    cudaError_t error = open_told(joins);

    if (error == cudaSuccess)
        error = joins->round / 2 % 3 == 2 ? told_captured(joins, call) : call_between(joins, call);
    return end_told(joins, error);
}

/* ---- by another host thread ---- */

struct telling {
    struct joins *joins;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaError_t error;
};

static void tell_now(void *of)
{
    struct telling *t = (struct telling *)of;

    t->error = told_calls[t->joins->trial % TOLD].call(t->joins, t->stream, t->event);
}

static cudaError_t tell_there(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct telling telling = { joins, stream, event, cudaSuccess };

    if (!run_in_thread(tell_now, &telling))
        tell_now(&telling);
    return telling.error;
}

/* Each call in turn; before half of the dependents that are launched another host thread makes it. */
static cudaError_t told_between(struct joins *joins)
{
    int there = joins->round % 2 == 0 && joins->round / 2 % 3 != 2 && drawn(joins, 61, 2);
    cudaError_t error;

    joins->bound_ns = there ? TOLD_BOUND_NS : 0;
    error = told_or_captured(joins, there ? tell_there : told_calls[joins->trial % TOLD].call);
    joins->bound_ns = 0;
    return error;
}

#include "joins_meanwhile.h"
#include "joins_told_set.h"

static void ask_told(struct ask *ask)
{
    ask_calls(ask, told_calls, TOLD, told_between);
    ask_meanwhile_told(ask);
    ask_set(ask);
}

#endif
