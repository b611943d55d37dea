/* hooks.c - replaces the driver's functions that put work on a stream or make a graph: notes each call and passes it on */
#define _GNU_SOURCE
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static int captures; /* streams that are being captured; while there are none, no stream is asked whether it is */

static int is_capturing(const void *stream, int per_thread)
{
    static result (*plain)(const void *, int *), (*own)(const void *, int *);
    int status = 0;
    if (__atomic_load_n(&captures, __ATOMIC_RELAXED) <= 0) {
        return 0;
    }
    if (!plain) {
        plain = (result(*)(const void *, int *))driver_symbol("cuStreamIsCapturing");
        own = (result(*)(const void *, int *))driver_symbol("cuStreamIsCapturing_ptsz");
    }
    result (*ask)(const void *, int *) = per_thread && own ? own : plain;
    return ask && ask(stream, &status) == 0 && status == 1;
}

static struct event begun(int operation, const void *stream, int per_thread, uint64_t detail)
{
    struct event event = {.operation = (uint16_t)operation, .detail = detail, .carveout = -2};
    trace_start();
    if (trace_is_on()) {
        event.thread = thread_number();
        event.stream = stream_number(stream, per_thread);
        event.flags = is_capturing(stream, per_thread) ? IN_CAPTURE : 0;
        if (operation == OP_GRAPH || operation == OP_SYNCHRONIZE) {
            event.flags |= activity_sampled(operation) ? 0 : NOT_SAMPLED;
        }
        event.begin = host_now();
    }
    return event;
}

static result ended(struct event *event, result code)
{
    if (event->begin) {
        event->end = host_now();
        event->code = (int16_t)code;
        note_event(event);
    }
    return code;
}

/* One function that puts an operation on a stream. */
#define ONE(name, per_thread, operation, stream, detail, parameters, arguments)                                            \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        struct event event = begun(operation, stream, per_thread, (uint64_t)(uintptr_t)(detail));                          \
        return ended(&event, real arguments);                                                                              \
    }
/* Both variants of such a function; synchronous ones end in _ptds, the others in _ptsz. */
#define ASYNC(name, operation, stream, detail, parameters, arguments)                                                      \
    ONE(name, 0, operation, stream, detail, parameters, arguments)                                                         \
    ONE(name##_ptsz, 1, operation, stream, detail, parameters, arguments)
#define SYNC(name, operation, parameters, arguments)                                                                       \
    ONE(name, 0, operation, NULL, 0, parameters, arguments)                                                                \
    ONE(name##_ptds, 1, operation, NULL, 0, parameters, arguments)

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static unsigned flag_of(const struct attribute *attribute)
{
    const unsigned *cluster = attribute->value.cluster;
    int number = attribute->value.number;
    switch (attribute->id) {
    case COOPERATIVE:
        return number ? ASKED_COOPERATIVE : 0;
    case CLUSTER:
        return cluster[0] * cluster[1] * cluster[2] > 1 ? ASKED_CLUSTER : 0;
    case SERIALIZATION:
        return number ? ASKED_OVERLAP : 0;
    case EVENT:
        return ASKED_EVENT;
    case COMPLETION_EVENT:
        return ASKED_COMPLETION_EVENT;
    case UPDATABLE:
        return number ? ASKED_UPDATABLE : 0;
    default:
        return 0;
    }
}

static struct event launch_begun(const struct launch *launch, const void *function, int per_thread, unsigned flags)
{
    struct event event = {.operation = OP_LAUNCH, .carveout = -2, .shared = launch->shared, .flags = flags};
    int first = 0;
    trace_start();
    if (!trace_is_on()) {
        return event;
    }
    for (unsigned i = 0; launch->attributes && i < launch->attribute_count; i++) {
        event.flags |= flag_of(&launch->attributes[i]);
        if (launch->attributes[i].id == EVENT || launch->attributes[i].id == COMPLETION_EVENT) {
            event.detail = (uint64_t)(uintptr_t)launch->attributes[i].value.event;
        }
        event.carveout = launch->attributes[i].id == CARVEOUT ? launch->attributes[i].value.number : event.carveout;
    }
    for (int i = 0; i < 3; i++) {
        event.grid[i] = launch->grid[i];
        event.block[i] = launch->block[i];
    }
    event.thread = thread_number();
    event.stream = stream_number(launch->stream, per_thread);
    event.kernel = kernel_number(function, &first);
    event.flags |= (first ? FIRST_OF_KERNEL : 0) | (is_capturing(launch->stream, per_thread) ? IN_CAPTURE : 0);
    event.flags |= !(event.flags & IN_CAPTURE) && !activity_sampled(OP_LAUNCH) ? NOT_SAMPLED : 0;
    event.begin = host_now();
    return event;
}

/* Launches with the attribute added. If the driver refuses that, launches as the program asked. */
static result asked_launch(const struct launch *launch, void *function, void **arguments, void **extra, int per_thread)
{
    struct changed_launch asked;
    struct hook *hook = hook_named(per_thread ? "cuLaunchKernelEx_ptsz" : "cuLaunchKernelEx");
    result (*real) EXTENSIBLE_LAUNCH = (result(*) EXTENSIBLE_LAUNCH)(hook ? real_symbol(hook) : NULL);
    if (!real) {
        return NO_REAL_FUNCTION;
    }
    int may_ask = launch_with_overlap(launch, &asked);
    return may_ask && real(&asked.launch, function, arguments, extra) == 0 ? 0 : real(launch, function, arguments, extra);
}

#define LAUNCHES(suffix, per_thread)                                                                                       \
    VISIBLE result cuLaunchKernel##suffix PLAIN_LAUNCH;                                                                    \
    VISIBLE result cuLaunchKernel##suffix PLAIN_LAUNCH                                                                     \
    {                                                                                                                      \
        REAL(cuLaunchKernel##suffix, result(*) PLAIN_LAUNCH)                                                               \
        const struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                                \
        struct event event = launch_begun(&launch, f, per_thread, 0);                                                      \
        if (whatif_asks && whatif_asks(event.kernel, f, event.flags)) {                                                    \
            return ended(&event, asked_launch(&launch, f, arguments, extra, per_thread));                                  \
        }                                                                                                                  \
        return ended(&event, real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra));                           \
    }                                                                                                                      \
    VISIBLE result cuLaunchCooperativeKernel##suffix COOPERATIVE_LAUNCH;                                                   \
    VISIBLE result cuLaunchCooperativeKernel##suffix COOPERATIVE_LAUNCH                                                    \
    {                                                                                                                      \
        REAL(cuLaunchCooperativeKernel##suffix, result(*) COOPERATIVE_LAUNCH)                                              \
        const struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                                \
        struct event event = launch_begun(&launch, f, per_thread, ASKED_COOPERATIVE);                                      \
        return ended(&event, real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments));                                  \
    }                                                                                                                      \
    VISIBLE result cuLaunchKernelEx##suffix EXTENSIBLE_LAUNCH;                                                             \
    VISIBLE result cuLaunchKernelEx##suffix EXTENSIBLE_LAUNCH                                                              \
    {                                                                                                                      \
        REAL(cuLaunchKernelEx##suffix, result(*) EXTENSIBLE_LAUNCH)                                                        \
        if (!launch) {                                                                                                     \
            return real(launch, f, arguments, extra);                                                                      \
        }                                                                                                                  \
        struct event event = launch_begun(launch, f, per_thread, 0);                                                       \
        if (whatif_asks && whatif_asks(event.kernel, f, event.flags)) {                                                    \
            return ended(&event, asked_launch(launch, f, arguments, extra, per_thread));                                   \
        }                                                                                                                  \
        return ended(&event, real(launch, f, arguments, extra));                                                           \
    }
LAUNCHES(, 0)
LAUNCHES(_ptsz, 1)

/* ---- what stands between kernels ----------------------------------------------------------------------------------- */

ASYNC(cuMemsetD8Async, OP_MEMSET, s, 0, (devptr d, unsigned char v, size_t n, void *s), (d, v, n, s))
ASYNC(cuMemsetD16Async, OP_MEMSET, s, 0, (devptr d, unsigned short v, size_t n, void *s), (d, v, n, s))
ASYNC(cuMemsetD32Async, OP_MEMSET, s, 0, (devptr d, unsigned v, size_t n, void *s), (d, v, n, s))
ASYNC(cuMemsetD2D8Async, OP_MEMSET, s, 0, (devptr d, size_t p, unsigned char v, size_t w, size_t h, void *s), (d, p, v, w, h, s))
ASYNC(cuMemsetD2D16Async, OP_MEMSET, s, 0, (devptr d, size_t p, unsigned short v, size_t w, size_t h, void *s), (d, p, v, w, h, s))
ASYNC(cuMemsetD2D32Async, OP_MEMSET, s, 0, (devptr d, size_t p, unsigned v, size_t w, size_t h, void *s), (d, p, v, w, h, s))
ASYNC(cuMemcpyAsync, OP_COPY, s, 0, (devptr d, devptr f, size_t n, void *s), (d, f, n, s))
ASYNC(cuMemcpyHtoDAsync_v2, OP_COPY, s, 0, (devptr d, const void *f, size_t n, void *s), (d, f, n, s))
ASYNC(cuMemcpyDtoHAsync_v2, OP_COPY, s, 0, (void *d, devptr f, size_t n, void *s), (d, f, n, s))
ASYNC(cuMemcpyDtoDAsync_v2, OP_COPY, s, 0, (devptr d, devptr f, size_t n, void *s), (d, f, n, s))
ASYNC(cuMemcpy2DAsync_v2, OP_COPY, s, 0, (const void *c, void *s), (c, s))
ASYNC(cuMemcpy3DAsync_v2, OP_COPY, s, 0, (const void *c, void *s), (c, s))
ASYNC(cuMemcpyPeerAsync, OP_COPY, s, 0, (devptr d, void *dc, devptr f, void *fc, size_t n, void *s), (d, dc, f, fc, n, s))
ASYNC(cuLaunchHostFunc, OP_HOST, s, 0, (void *s, void (*f)(void *), void *d), (s, f, d))
ASYNC(cuStreamAddCallback, OP_HOST, s, 0, (void *s, void (*f)(void *, int, void *), void *d, unsigned flags), (s, f, d, flags))
ASYNC(cuStreamWaitEvent, OP_WAIT_EVENT, s, e, (void *s, void *e, unsigned flags), (s, e, flags))
ASYNC(cuMemAllocAsync, OP_ALLOCATE, s, 0, (devptr *p, size_t n, void *s), (p, n, s))
ASYNC(cuMemAllocFromPoolAsync, OP_ALLOCATE, s, 0, (devptr *p, size_t n, void *pool, void *s), (p, n, pool, s))
ASYNC(cuMemFreeAsync, OP_FREE, s, 0, (devptr p, void *s), (p, s))
ASYNC(cuStreamWriteValue32_v2, OP_MEMORY_VALUE, s, 0, (void *s, devptr p, uint32_t v, unsigned flags), (s, p, v, flags))
ASYNC(cuStreamWriteValue64_v2, OP_MEMORY_VALUE, s, 0, (void *s, devptr p, uint64_t v, unsigned flags), (s, p, v, flags))
ASYNC(cuStreamWaitValue32_v2, OP_MEMORY_VALUE, s, 0, (void *s, devptr p, uint32_t v, unsigned flags), (s, p, v, flags))
ASYNC(cuStreamWaitValue64_v2, OP_MEMORY_VALUE, s, 0, (void *s, devptr p, uint64_t v, unsigned flags), (s, p, v, flags))
ASYNC(cuStreamBatchMemOp_v2, OP_MEMORY_VALUE, s, 0, (void *s, unsigned n, void *p, unsigned flags), (s, n, p, flags))
ASYNC(cuStreamSynchronize, OP_SYNCHRONIZE, s, 0, (void *s), (s))
SYNC(cuMemcpy, OP_COPY, (devptr d, devptr f, size_t n), (d, f, n))
SYNC(cuMemcpyHtoD_v2, OP_COPY, (devptr d, const void *f, size_t n), (d, f, n))
SYNC(cuMemcpyDtoH_v2, OP_COPY, (void *d, devptr f, size_t n), (d, f, n))
SYNC(cuMemcpyDtoD_v2, OP_COPY, (devptr d, devptr f, size_t n), (d, f, n))
SYNC(cuMemsetD8_v2, OP_MEMSET, (devptr d, unsigned char v, size_t n), (d, v, n))
SYNC(cuMemsetD16_v2, OP_MEMSET, (devptr d, unsigned short v, size_t n), (d, v, n))
SYNC(cuMemsetD32_v2, OP_MEMSET, (devptr d, unsigned v, size_t n), (d, v, n))
ONE(cuCtxSynchronize, 0, OP_SYNCHRONIZE, NULL, 0, (void), ())
ONE(cuEventSynchronize, 0, OP_SYNCHRONIZE, NULL, e, (void *e), (e))

/* Whether an event keeps its time is decided when it is created. */
#define RECORD(name, per_thread, parameters, arguments)                                                                    \
    ONE(name, per_thread, event_is_timed(e) ? OP_TIMED_EVENT : OP_EVENT, s, e, parameters, arguments)
RECORD(cuEventRecord, 0, (void *e, void *s), (e, s))
RECORD(cuEventRecord_ptsz, 1, (void *e, void *s), (e, s))
RECORD(cuEventRecordWithFlags, 0, (void *e, void *s, unsigned flags), (e, s, flags))
RECORD(cuEventRecordWithFlags_ptsz, 1, (void *e, void *s, unsigned flags), (e, s, flags))

VISIBLE result cuEventCreate(void **event, unsigned flags);
VISIBLE result cuEventCreate(void **event, unsigned flags)
{
    REAL(cuEventCreate, result(*)(void **, unsigned))
    result code = real(event, flags);
    if (code == 0 && event) {
        event_created(*event, flags);
    }
    return code;
}

/* ---- capture and graphs -------------------------------------------------------------------------------------------- */

#define CAPTURE_BEGIN(name, per_thread, parameters, arguments)                                                             \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        struct event event = begun(OP_CAPTURE_BEGIN, s, per_thread, 0);                                                    \
        result code = ended(&event, real arguments);                                                                       \
        __atomic_fetch_add(&captures, code == 0, __ATOMIC_RELAXED);                                                        \
        return code;                                                                                                       \
    }
#define CAPTURE_END(name, per_thread)                                                                                      \
    VISIBLE result name(void *s, void **graph);                                                                            \
    VISIBLE result name(void *s, void **graph)                                                                             \
    {                                                                                                                      \
        REAL(name, result(*)(void *, void **))                                                                             \
        struct event event = begun(OP_CAPTURE_END, s, per_thread, 0);                                                      \
        result code = ended(&event, real(s, graph));                                                                       \
        if (__atomic_fetch_sub(&captures, 1, __ATOMIC_RELAXED) <= 0) {                                                     \
            __atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);                                                            \
        }                                                                                                                  \
        return code;                                                                                                       \
    }
CAPTURE_BEGIN(cuStreamBeginCapture_v2, 0, (void *s, int mode), (s, mode))
CAPTURE_BEGIN(cuStreamBeginCapture_v2_ptsz, 1, (void *s, int mode), (s, mode))
CAPTURE_BEGIN(cuStreamBeginCaptureToGraph, 0, (void *s, void *g, const void *d, const void *e, size_t n, int mode), (s, g, d, e, n, mode))
CAPTURE_BEGIN(cuStreamBeginCaptureToGraph_ptsz, 1, (void *s, void *g, const void *d, const void *e, size_t n, int mode), (s, g, d, e, n, mode))
CAPTURE_END(cuStreamEndCapture, 0)
CAPTURE_END(cuStreamEndCapture_ptsz, 1)

#define INSTANTIATE(name, parameters, arguments)                                                                           \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        trace_start();                                                                                                     \
        void *own = graph;                                                                                                 \
        graph = whatif_graph ? whatif_graph(graph) : graph;                                                                \
        result code = real arguments;                                                                                      \
        if (code == 0 && exec && whatif_instantiated) {                                                                    \
            whatif_instantiated(*exec, own, graph);                                                                        \
        }                                                                                                                  \
        if (code == 0 && exec && trace_is_on()) {                                                                          \
            graph_instantiated(*exec, graph);                                                                              \
        }                                                                                                                  \
        return code;                                                                                                       \
    }
INSTANTIATE(cuGraphInstantiateWithFlags, (void **exec, void *graph, uint64_t flags), (exec, graph, flags))
INSTANTIATE(cuGraphInstantiate_v2, (void **exec, void *graph, void **node, char *log, size_t room), (exec, graph, node, log, room))
INSTANTIATE(cuGraphInstantiateWithParams, (void **exec, void *graph, void *parameters), (exec, graph, parameters))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz, (void **exec, void *graph, void *parameters), (exec, graph, parameters))

#define UPDATE(name, parameters, arguments)                                                                                \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        graph = whatif_graph ? whatif_graph(graph) : graph;                                                                \
        result code = real arguments;                                                                                      \
        if (code == 0 && trace_is_on()) {                                                                                  \
            graph_changed(exec, graph);                                                                                    \
        }                                                                                                                  \
        return code;                                                                                                       \
    }
UPDATE(cuGraphExecUpdate, (void *exec, void *graph, void **node, int *answer), (exec, graph, node, answer))
UPDATE(cuGraphExecUpdate_v2, (void *exec, void *graph, void *info), (exec, graph, info))

#define GRAPH_LAUNCH(name, per_thread)                                                                                     \
    ONE(name, per_thread, OP_GRAPH, s, exec_number(exec), (void *exec, void *s), (exec, s))
GRAPH_LAUNCH(cuGraphLaunch, 0)
GRAPH_LAUNCH(cuGraphLaunch_ptsz, 1)

/* A destroyed handle is forgotten, because the driver may use its address again. */
#define ENDS(name, type, handle, forget)                                                                                   \
    VISIBLE result name(type handle);                                                                                      \
    VISIBLE result name(type handle)                                                                                       \
    {                                                                                                                      \
        REAL(name, result(*)(type))                                                                                        \
        forget;                                                                                                            \
        return real(handle);                                                                                               \
    }
ENDS(cuGraphExecDestroy, void *, exec, graph_destroyed(exec))
ENDS(cuStreamDestroy_v2, void *, stream, forget_stream(stream))
ENDS(cuModuleUnload, void *, module, forget_kernels())
ENDS(cuLibraryUnload, void *, library, forget_kernels())

VISIBLE result cuFuncSetAttribute(void *function, int attribute, int value);
VISIBLE result cuFuncSetAttribute(void *function, int attribute, int value)
{
    REAL(cuFuncSetAttribute, result(*)(void *, int, int))
    kernel_changed(function, attribute);
    return real(function, attribute, value);
}

VISIBLE result cuKernelSetAttribute(int attribute, int value, void *kernel, int device);
VISIBLE result cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
    REAL(cuKernelSetAttribute, result(*)(int, int, void *, int))
    kernel_changed(kernel, attribute);
    return real(attribute, value, kernel, device);
}

VISIBLE result cuInit(unsigned flags);
VISIBLE result cuInit(unsigned flags)
{
    REAL(cuInit, result(*)(unsigned))
    trace_start(); /* CUPTI must be set up before a context is created */
    return real(flags);
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

struct hook trace_hooks[] = {
    ONE_HOOK(cuInit),
    BOTH(cuLaunchKernel),
    BOTH(cuLaunchKernelEx),
    BOTH(cuLaunchCooperativeKernel),
    BOTH(cuGraphLaunch),
    HOOK(cuGraphInstantiate, cuGraphInstantiate_v2, 11000, 12000, 0),
    HOOK(cuGraphInstantiate, cuGraphInstantiateWithFlags, 12000, NEVER, 0),
    ONE_HOOK(cuGraphInstantiateWithFlags),
    BOTH(cuGraphInstantiateWithParams),
    HOOK(cuGraphExecUpdate, cuGraphExecUpdate, 0, 12000, 0),
    HOOK(cuGraphExecUpdate, cuGraphExecUpdate_v2, 12000, NEVER, 0),
    ONE_HOOK(cuGraphExecDestroy),
    BOTH_SINCE(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010),
    BOTH(cuStreamBeginCaptureToGraph),
    BOTH(cuStreamEndCapture),
    HOOK(cuStreamDestroy, cuStreamDestroy_v2, 4000, NEVER, 0),
    ONE_HOOK(cuModuleUnload),
    ONE_HOOK(cuLibraryUnload),
    ONE_HOOK(cuEventCreate),
    ONE_HOOK(cuFuncSetAttribute),
    ONE_HOOK(cuKernelSetAttribute),
    BOTH(cuEventRecord),
    BOTH(cuEventRecordWithFlags),
    BOTH(cuMemsetD8Async),
    BOTH(cuMemsetD16Async),
    BOTH(cuMemsetD32Async),
    BOTH(cuMemsetD2D8Async),
    BOTH(cuMemsetD2D16Async),
    BOTH(cuMemsetD2D32Async),
    BOTH(cuMemcpyAsync),
    BOTH_SINCE(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020),
    BOTH_SINCE(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020),
    BOTH_SINCE(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020),
    BOTH_SINCE(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, 3020),
    BOTH_SINCE(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, 3020),
    BOTH(cuMemcpyPeerAsync),
    BOTH(cuLaunchHostFunc),
    BOTH(cuStreamAddCallback),
    BOTH(cuStreamWaitEvent),
    BOTH(cuMemAllocAsync),
    BOTH(cuMemAllocFromPoolAsync),
    BOTH(cuMemFreeAsync),
    BOTH_SINCE(cuStreamWriteValue32, cuStreamWriteValue32_v2, 11070),
    BOTH_SINCE(cuStreamWriteValue64, cuStreamWriteValue64_v2, 11070),
    BOTH_SINCE(cuStreamWaitValue32, cuStreamWaitValue32_v2, 11070),
    BOTH_SINCE(cuStreamWaitValue64, cuStreamWaitValue64_v2, 11070),
    BOTH_SINCE(cuStreamBatchMemOp, cuStreamBatchMemOp_v2, 11070),
    BOTH(cuStreamSynchronize),
    BOTH_SYNC(cuMemcpy, cuMemcpy, 0),
    BOTH_SYNC(cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020),
    BOTH_SYNC(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020),
    BOTH_SYNC(cuMemcpyDtoD, cuMemcpyDtoD_v2, 3020),
    BOTH_SYNC(cuMemsetD8, cuMemsetD8_v2, 3020),
    BOTH_SYNC(cuMemsetD16, cuMemsetD16_v2, 3020),
    BOTH_SYNC(cuMemsetD32, cuMemsetD32_v2, 3020),
    ONE_HOOK(cuCtxSynchronize),
    ONE_HOOK(cuEventSynchronize),
};
const size_t trace_hook_count = sizeof trace_hooks / sizeof trace_hooks[0];

/* The tracing library's own list. The libraries of `whatif` and of `--inside` define longer ones, which override this weak one. */
WEAK const struct hook_table hook_tables[] = {{trace_hooks, &trace_hook_count}};
WEAK const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
