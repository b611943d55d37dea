/* per_thread.cu - what code calls that is compiled for per-thread default streams: entry points of their own names, to which stream 0 means
 * the calling thread's stream.
 *
 * pair      rule     what is asked
 * captured  ATTR-14  what becomes a node of a capture of the per-thread stream: each of these calls, given stream 0;
 *                    the edge data that such a capture is given and tells, and its mode; cudaMemset beside a capture that the legacy stream
 *                    must not disturb
 * waits     ATTR-14  which work the host finds done once it waited in stream 0, or was told that it has ended: that of the per-thread stream;
 *                    a batch of the driver that waits for the host keeps that stream busy
 * named     ATTR-14  what each of these calls comes after that is given cudaStreamLegacy or a blocking stream: the work of blocking streams
 *                    (per_thread_named.h)
 */
#include <string.h>

#include <cuda.h>

#include "capture_ended.h"
#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

/* The runtime's headers give these names by macros, to whole files. */
PAIR_EXTERN_C_BEGIN
cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args);
cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data);
cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t CUDARTAPI cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemset_ptds(void *to, int value, size_t bytes);
cudaError_t CUDARTAPI cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
#if CUDART_VERSION >= 13000
#define UNIT_NAME(name, version) name##_ptsz
#else
#define UNIT_NAME(name, version) name##version##_ptsz
#endif
#define unit_of_capture UNIT_NAME(cudaStreamGetCaptureInfo, _v3)
#define unit_update_capture UNIT_NAME(cudaStreamUpdateCaptureDependencies, _v2)
cudaError_t CUDARTAPI unit_of_capture(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count);
cudaError_t CUDARTAPI unit_update_capture(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count,
                                          unsigned flags);
PAIR_EXTERN_C_END

KERNEL(per_thread_work) { slow_stores(&args); }
KERNEL(per_thread_nothing) { (void)args; }

/* ---- captured ---- */

#define UNIT_SHARED 512u       /* bytes of dynamic shared memory of each launch */

struct unit {
    struct ask *ask;
    struct kernel_args args;
    uint32_t *words;
    cudaEvent_t event;
};

/* Of each launch: few blocks, since one of the launches is cooperative, and dimensions that all differ. */
static dim3 unit_grid(void)
{
    dim3 grid;

    grid.x = 1;
    grid.y = 3;
    grid.z = 2;
    return grid;
}

static dim3 unit_block(void)
{
    dim3 block;

    block.x = 4;
    block.y = 2;
    block.z = 3;
    return block;
}

static int is_shape(dim3 is, dim3 want) { return is.x == want.x && is.y == want.y && is.z == want.z; }

static cudaError_t launch_plainly(struct unit *u)
{
    void *params[1];

    params[0] = &u->args;
    return cudaLaunchKernel_ptsz((const void *)SYMBOL(per_thread_nothing), unit_grid(), unit_block(), params, UNIT_SHARED, 0);
}

static cudaError_t launch_by_config(struct unit *u)
{
    cudaLaunchAttribute attributes[4];
    cudaLaunchConfig_t config = one_block(1, 0); /* 0: the entry point takes it for the per-thread stream */
    void *params[1];

    params[0] = &u->args;
    attributes[0] = in_remote_domain();
    attributes[1] = cooperatively();
    attributes[2] = of_priority(0);
    attributes[3] = serialization(1);
    config.attrs = attributes;
    config.numAttrs = 4;
    config.gridDim = unit_grid();
    config.blockDim = unit_block();
    config.dynamicSmemBytes = UNIT_SHARED;
    return cudaLaunchKernelExC_ptsz(&config, (const void *)SYMBOL(per_thread_nothing), params);
}

static cudaError_t copy_word(struct unit *u) { return cudaMemcpyAsync_ptsz(u->words, u->words + 1, 4, cudaMemcpyDeviceToDevice, 0); }
static cudaError_t set_word(struct unit *u) { return cudaMemsetAsync_ptsz(u->words, 0, 4, 0); }

/* The driver has that stream by the same name, whoever calls it. */
static cudaError_t set_by_driver(struct unit *u)
{
    typedef CUresult(CUDAAPI *set_8)(CUdeviceptr, unsigned char, size_t, CUstream);
    void *function;
    cudaError_t error = driver_function("cuMemsetD8Async", 3020, &function);

    return error == cudaSuccess ? (cudaError_t)((set_8)function)((CUdeviceptr)(uintptr_t)u->words, 0, 4, CU_STREAM_PER_THREAD) : error;
}

static cudaError_t record_outside_by_driver(struct unit *u)
{
    typedef CUresult(CUDAAPI *record_fn)(CUevent, CUstream, unsigned);
    void *function;
    cudaError_t error = driver_function("cuEventRecordWithFlags", 11010, &function);

    return error == cudaSuccess ? (cudaError_t)((record_fn)function)((CUevent)u->event, CU_STREAM_PER_THREAD, CU_EVENT_RECORD_EXTERNAL) : error;
}

static cudaError_t call_host(struct unit *u)
{
    (void)u;
    return cudaLaunchHostFunc_ptsz(0, ask_host_nothing, NULL);
}
static cudaError_t record_external(struct unit *u) { return cudaEventRecordWithFlags_ptsz(u->event, 0, cudaEventRecordExternal); }
static cudaError_t wait_external(struct unit *u) { return cudaStreamWaitEvent_ptsz(0, u->event, cudaEventWaitExternal); }

/* Another stream comes to the capture by this record, and a node of it stands for it. */
static cudaError_t record_and_fork(struct unit *u)
{
    cudaError_t error = cudaEventRecord_ptsz(u->event, 0);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(u->ask->side, u->event, 0);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(u->words, 0, 4, u->ask->side);
    if (error == cudaSuccess)
        error = cudaEventRecord(u->event, u->ask->side);
    return error == cudaSuccess ? cudaStreamWaitEvent_ptsz(0, u->event, 0) : error;
}

static const struct {
    const char *name;
    cudaError_t (*call)(struct unit *unit);
    enum cudaGraphNodeType type;
} unit_calls[] = {
    { "cudaLaunchKernel", launch_plainly, cudaGraphNodeTypeKernel },
    { "cudaLaunchKernelExC", launch_by_config, cudaGraphNodeTypeKernel },
    { "cudaMemcpyAsync", copy_word, cudaGraphNodeTypeMemcpy },
    { "cudaMemsetAsync", set_word, cudaGraphNodeTypeMemset },
    { "cudaLaunchHostFunc", call_host, cudaGraphNodeTypeHost },
    { "cudaEventRecordWithFlags", record_external, cudaGraphNodeTypeEventRecord },
    { "cudaStreamWaitEvent", wait_external, cudaGraphNodeTypeWaitEvent },
    { "cudaEventRecord", record_and_fork, cudaGraphNodeTypeMemset },
    { "cuMemsetD8Async", set_by_driver, cudaGraphNodeTypeMemset },
    { "cuEventRecordWithFlags", record_outside_by_driver, cudaGraphNodeTypeEventRecord },
};
#define UNIT_CALLS (sizeof(unit_calls) / sizeof(unit_calls[0]))

/* What became of a launch: by the second call it had four attributes, of which two are asked. */
static void expect_unit_launch(struct unit *u, cudaGraphNode_t node, int by_config)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaLaunchAttributeValue domain = PDL_ZERO, cooperative = PDL_ZERO;

    ask_expect(u->ask, "what a launch in stream 0 was given", cudaGraphKernelNodeGetParams(node, &params), cudaSuccess);
    ask_expect_number(u->ask, "its dynamic shared memory", (long)params.sharedMemBytes, (long)UNIT_SHARED);
    ask_expect_number(u->ask, "its grid is the one of the call", is_shape(params.gridDim, unit_grid()), 1);
    ask_expect_number(u->ask, "its block is the one of the call", is_shape(params.blockDim, unit_block()), 1);
    if (!by_config)
        return;
    ask_expect(u->ask, "its first attribute", cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeMemSyncDomain, &domain), cudaSuccess);
    ask_expect_number(u->ask, "its first attribute", (long)domain.memSyncDomain, (long)cudaLaunchMemSyncDomainRemote);
    ask_expect(u->ask, "its second attribute", cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &cooperative), cudaSuccess);
    ask_expect_number(u->ask, "its second attribute", (long)cooperative.cooperative, 1);
}

/* The one node that this call adds to a capture of the per-thread stream. */
static void ask_call(struct unit *u, unsigned call, int begun_by_name)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    size_t count = 0;
    char text[96];
    cudaError_t error, end;

    snprintf(text, sizeof(text), "%s in stream 0 of a unit with per-thread streams", unit_calls[call].name);
    error = begun_by_name ? cudaStreamBeginCapture_ptsz(0, cudaStreamCaptureModeThreadLocal)
                          : cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = unit_calls[call].call(u);
    if (error == cudaSuccess)
        error = cudaStreamIsCapturing_ptsz(0, &status);
    end = begun_by_name ? cudaStreamEndCapture(cudaStreamPerThread, &graph) : cudaStreamEndCapture_ptsz(0, &graph);
    ask_expect(u->ask, text, error == cudaSuccess ? end : error, cudaSuccess);
    ask_expect_number(u->ask, "whether that stream captures", (long)status, (long)cudaStreamCaptureStatusActive);
    if (graph && cudaGraphGetNodes(graph, NULL, &count) == cudaSuccess && count == 1 && cudaGraphGetNodes(graph, &node, &count) == cudaSuccess)
        (void)cudaGraphNodeGetType(node, &type);
    ask_expect_number(u->ask, "its nodes", (long)count, 1);
    ask_expect_number(u->ask, "their type", (long)type, (long)unit_calls[call].type);
    if (node && unit_calls[call].type == cudaGraphNodeTypeKernel && type == cudaGraphNodeTypeKernel)
        expect_unit_launch(u, node, unit_calls[call].call == launch_by_config);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
}

/* What the next node in stream 0 depends on, by the calls of such code: one node, by an edge with these data. */
static void expect_unit_edge(struct unit *u, const char *what, cudaGraphNode_t *node, cudaGraphEdgeData want)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    unsigned long long id = 0, same = 1;
    cudaGraph_t graph = NULL, told = NULL;
    size_t count = 0;

    ask_expect(u->ask, "the id of the capture", edges_of_capture(cudaStreamPerThread, &status, &same, &graph, &nodes, &data, &count), cudaSuccess);
    ask_expect(u->ask, what, unit_of_capture(0, &status, &id, &told, &nodes, &data, &count), cudaSuccess);
    ask_expect_number(u->ask, "the id of the capture", (long)id, (long)same);
    ask_expect_number(u->ask, "it tells the graph of the capture", told && told == graph, 1);
    ask_expect_number(u->ask, what, (long)status, (long)cudaStreamCaptureStatusActive);
    ask_expect_number(u->ask, what, (long)count, 1);
    if (count == 1 && nodes && data) {
        ask_expect_number(u->ask, what, memcmp(&data[0], &want, sizeof(want)) == 0, 1);
        *node = nodes[0];
    }
}

/* The edge of a captured graph of two kernels. */
static void expect_captured_edge(struct unit *u, cudaGraph_t graph, cudaGraphEdgeData want)
{
    cudaGraphNode_t from[2], to[2];
    cudaGraphEdgeData data[2];
    size_t count = 2;

    ask_expect(u->ask, "the edges of the capture", edges_of_graph(graph, from, to, data, &count), cudaSuccess);
    ask_expect_number(u->ask, "the edges of the capture", (long)count, 1);
    ask_expect_number(u->ask, "the data of its edge are those that the update gave", count == 1 && memcmp(&data[0], &want, sizeof(want)) == 0, 1);
}

/* The stream is given this dependency beside the one that it has. */
static void expect_unit_two(struct unit *u, cudaGraphNode_t node)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    unsigned long long id = 0;
    cudaGraph_t graph = NULL;
    size_t count = 0;

    ask_expect(u->ask, "one dependency more", unit_update_capture(0, &node, NULL, 1, cudaStreamAddCaptureDependencies), cudaSuccess);
    ask_expect(u->ask, "what a stream depends on then", unit_of_capture(0, &status, &id, &graph, &nodes, &data, &count), cudaSuccess);
    ask_expect_number(u->ask, "what a stream depends on then", (long)count, 2);
}

/* A kernel, then its stream is to depend on it by a programmatic edge, then another kernel; in the end on both of them. */
static void ask_unit_data(struct unit *u)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0), programmatic = edges_data(1, 0, 1);
    cudaGraphNode_t node = NULL;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture_ptsz(0, cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        error = launch_plainly(u);
    ask_expect(u->ask, "a captured kernel", error, cudaSuccess);
    expect_unit_edge(u, "what a stream depends on after a kernel", &node, full);
    if (node)
        ask_expect(u->ask, "an update of that", unit_update_capture(0, &node, &programmatic, 1, cudaStreamSetCaptureDependencies), cudaSuccess);
    expect_unit_edge(u, "what a stream depends on after an update", &node, programmatic);
    ask_expect(u->ask, "another kernel", launch_plainly(u), cudaSuccess);
    if (node)
        expect_unit_two(u, node);
    ask_expect(u->ask, "the end of the capture", cudaStreamEndCapture_ptsz(0, &graph), cudaSuccess);
    if (graph)
        expect_captured_edge(u, graph, programmatic);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
}

/* While a blocking stream captures, the legacy stream takes no work; a memset of such code is none of its work. */
static void ask_set_beside(struct unit *u)
{
    cudaStream_t blocking = NULL;
    cudaGraph_t graph = NULL;
    uint32_t word = 0;
    cudaError_t error = cudaStreamCreate(&blocking), end;

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed);
    ask_expect(u->ask, "a capture of a blocking stream", error, cudaSuccess);
    if (error == cudaSuccess) {
        error = cudaMemset_ptds(u->words, 1, sizeof(word));
        end = cudaStreamEndCapture(blocking, &graph);
        ask_expect(u->ask, "cudaMemset of a unit with per-thread streams beside it", error, cudaSuccess);
        ask_expect(u->ask, "the end of the capture", end, cudaSuccess);
        ask_expect(u->ask, "what it set", cudaMemcpy_ptds(&word, u->words, sizeof(word), cudaMemcpyDeviceToHost), cudaSuccess);
        ask_expect_number(u->ask, "what it set", (long)word, 0x01010101);
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (blocking)
        (void)cudaStreamDestroy(blocking);
    (void)cudaGetLastError();
}

/* A capture of another stream has the mode that such code gave it. */
static void ask_unit_mode(struct unit *u, enum cudaStreamCaptureMode mode)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t error = cudaStreamBeginCapture_ptsz(u->ask->stream, mode);
    const char *what = mode == cudaStreamCaptureModeRelaxed ? "the end of a relaxed capture of such a unit in another thread"
                                                            : "the end of a capture of such a unit in another thread";

    ask_expect(u->ask, "a capture by a unit with per-thread streams", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    ask_expect(u->ask, "whether the stream that it named captures", cudaStreamIsCapturing_ptsz(u->ask->stream, &status), cudaSuccess);
    ask_expect_number(u->ask, "whether the stream that it named captures", (long)status, (long)cudaStreamCaptureStatusActive);
    ask_ended_elsewhere(u->ask, cudaStreamEndCapture_ptsz, u->ask->stream, mode, what);
    (void)cudaGetLastError();
}

static void ask_captured_units(struct ask *ask)
{
    struct unit u = PDL_ZERO;
    unsigned call;
    cudaError_t error = cudaMalloc((void **)&u.words, 8);

    u.ask = ask;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&u.event, cudaEventDisableTiming);
    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (call = 0; call < 2 * UNIT_CALLS && error == cudaSuccess; call++)
        ask_call(&u, call / 2, (int)(call % 2));
    if (error == cudaSuccess) {
        ask_unit_data(&u);
        ask_set_beside(&u);
        ask_unit_mode(&u, cudaStreamCaptureModeRelaxed);
        ask_unit_mode(&u, cudaStreamCaptureModeThreadLocal);
        ask_unit_mode(&u, cudaStreamCaptureModeGlobal);
    }
    if (u.event)
        (void)cudaEventDestroy(u.event);
    (void)cudaFree(u.words);
}

/* ---- waits ---- */

enum unit_wait { UNIT_SYNCHRONIZE, UNIT_QUERY, UNIT_COPY, UNIT_COPY_IN, UNIT_WAITS };

struct unit_room {
    struct host_room *room;
    struct kernel_args args;
    cudaGraphExec_t exec;      /* of the work */
    uint32_t *word;            /* of the device */
    unsigned wrong[UNIT_WAITS], trials[UNIT_WAITS], taken_late;
};

/* Either name of a direction. */
static enum cudaMemcpyKind direction_of(unsigned trial, enum cudaMemcpyKind named)
{
    return trial / (2 * UNIT_WAITS) % 2 ? cudaMemcpyDefault : named;
}

/* "For transfers from pinned host memory to device memory, the function is synchronous with respect to the host": what is written to the
 * source then is not copied. */
static cudaError_t copy_unit_in(struct unit_room *r, unsigned trial)
{
    uint32_t found = 0;
    cudaError_t error;

    r->room->looks = trial + 1;
    error = cudaMemcpy_ptds(r->word, &r->room->looks, sizeof(r->room->looks), direction_of(trial, cudaMemcpyHostToDevice));
    r->room->looks = 0;
    if (error == cudaSuccess)
        error = cudaMemcpy_ptds(&found, r->word, sizeof(found), cudaMemcpyDeviceToHost);
    r->taken_late += error == cudaSuccess && found != trial + 1;
    return error;
}

/* Work in the per-thread stream, by a launch or by a graph; then the host waits, or asks, in stream 0. */
static cudaError_t run_unit(struct unit_room *r, unsigned trial)
{
    enum unit_wait wait = (enum unit_wait)(trial % UNIT_WAITS);
    int done = 1;
    cudaError_t error;

    prepare_trial(r->room, trial);
    error = trial / UNIT_WAITS % 2 ? cudaGraphLaunch_ptsz(r->exec, 0)
                                   : launch_one((const void *)SYMBOL(per_thread_work), &r->args, ASK_WORDS / 2, cudaStreamPerThread, NULL, 0);
    if (error != cudaSuccess)
        return error;
    if (wait == UNIT_SYNCHRONIZE)
        error = cudaStreamSynchronize_ptsz(0);
    else if (wait == UNIT_COPY)
        error = cudaMemcpy_ptds(&r->room->looks, r->word, sizeof(r->room->looks), direction_of(trial, cudaMemcpyDeviceToHost));
    else if (wait == UNIT_COPY_IN)
        error = copy_unit_in(r, trial);
    else
        done = cudaStreamQuery_ptsz(0) == cudaSuccess;
    r->wrong[wait] += done && work_is_stale(r->room);
    r->trials[wait]++;
    (void)cudaGetLastError();
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* Until the host writes the value, the stream that the batch was queued in has not done its work: a driver that has batches tells so, by whichever
 * name. */
static void ask_unit_batch(struct ask *ask, struct unit_room *r)
{
    volatile uint32_t *word = r->room->data;
    CUstreamBatchMemOpParams wait = value_operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, r->args.data, 1, CU_STREAM_WAIT_VALUE_EQ);
    cudaError_t error, told, by_name;

    if (values_lack(cudaStreamPerThread) || !takes_batches(cudaStreamPerThread))
        return;
    *word = 0;
    error = queue_batch(cudaStreamPerThread, &wait, 1);
    told = cudaStreamQuery_ptsz(0);
    by_name = cudaStreamQuery(cudaStreamPerThread);
    *word = 1;
    if (error == cudaSuccess) {
        ask_expect(ask, "whether stream 0 has ended while a batch in it waits", told, cudaErrorNotReady);
        ask_expect(ask, "whether the per-thread stream has", by_name, cudaErrorNotReady);
    }
    ask_expect(ask, "what came after the batch", cudaDeviceSynchronize(), cudaSuccess);
    (void)cudaGetLastError();
}

static void ask_waiting_units(struct ask *ask)
{
    static const char *const name[UNIT_WAITS] = { "work that a wait in stream 0 left undone", "work that was said to have ended and had not",
                                                  "work that a copy in stream 0 left undone",
                                                  "work that a copy to the device in stream 0 left undone" };
    struct unit_room r = PDL_ZERO;
    unsigned trial = 0, wait;
    cudaError_t error = open_room(&r.room, &r.args) ? cudaMalloc((void **)&r.word, 4) : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&r.exec, (const void *)SYMBOL(per_thread_work), &r.args, ASK_WORDS / 2);
    for (; ask_goes_on(ask, trial, ASK_TRIALS) && error == cudaSuccess; trial++)
        error = run_unit(&r, trial);
    if (error == cudaSuccess)
        ask_unit_batch(ask, &r);
    ask_expect(ask, "work in the per-thread stream", error, cudaSuccess);
    for (wait = 0; wait < UNIT_WAITS; wait++)
        ask_expect_none(ask, name[wait], r.wrong[wait], r.trials[wait]);
    ask_expect_none(ask, "copies in stream 0 that took what was written after the call", r.taken_late, r.trials[UNIT_COPY_IN]);
    (void)cudaDeviceSynchronize();
    if (r.exec)
        (void)cudaGraphExecDestroy(r.exec);
    (void)cudaFree(r.word);
    (void)cudaFreeHost(r.room);
}

#include "per_thread_named.h"

static const struct pair per_thread_pairs[] = {
    PAIR_ASK("captured", ask_captured_units),
    PAIR_ASK("waits", ask_waiting_units),
    PAIR_ASK("named", ask_named_units),
};
IMAGE(per_thread, per_thread_pairs)
