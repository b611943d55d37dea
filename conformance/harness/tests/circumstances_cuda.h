/* circumstances_cuda.h - for circumstances_test.c: a CUDA that runs nothing. It writes down each call in the order that they are made, knows what
 * is there and which streams capture, keeps a last error and a mode of captures, and fails where it is told to.
 */
#ifndef CIRCUMSTANCES_CUDA_H
#define CIRCUMSTANCES_CUDA_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

/* ---- what is there ---- */

#define OBJECTS 4096u

enum object { GRAPH, EXEC, STREAM, EVENT, NODE, OBJECT_KINDS };

static unsigned made[OBJECT_KINDS];
static char alive[OBJECT_KINDS][OBJECTS];
static unsigned captures_of[OBJECTS]; /* by stream: the stream in which the capture began that it takes part in, or 0 */
static cudaGraph_t into[OBJECTS];     /* by stream: the graph that was given for its capture */
static unsigned recorded_in[OBJECTS]; /* by event: the same of the capture that it was recorded in */
static unsigned misused;              /* what was named that is not there or something else, given back while it captured, or forbidden then */

static void *handle_of(enum object kind, unsigned number) { return (void *)(uintptr_t)(10000u * (kind + 1) + number); }

#define DEFAULTS 4000u         /* and one or two: the streams that are there without being made */

static unsigned number_of(enum object kind, const void *handle)
{
    uintptr_t value = (uintptr_t)handle;

    misused += kind == STREAM ? value >= 10000u && value / 10000u != kind + 1 : value / 10000u != kind + 1;
    return (unsigned)(value != 0 && value < 10000u ? DEFAULTS + value : value % 10000u);
}

static void *make(enum object kind)
{
    unsigned number = ++made[kind] % OBJECTS;

    alive[kind][number] = 1;
    return handle_of(kind, number);
}

static void give_back(enum object kind, const void *handle)
{
    unsigned number = number_of(kind, handle);

    misused += !alive[kind][number] || (kind == STREAM && captures_of[number] != 0);
    alive[kind][number] = 0;
}

static unsigned count_alive(enum object kind)
{
    unsigned count = 0, i;

    for (i = 0; i < OBJECTS; i++)
        count += alive[kind][i] != 0;
    return count;
}

static int some_capture(void)
{
    unsigned i;

    for (i = 0; i < OBJECTS; i++)
        if (captures_of[i])
            return 1;
    return 0;
}

/* ---- what is called, and what it gives ---- */

#define CALLS 4096u

static char calls_made[CALLS];
static cudaError_t last_error;
static enum cudaStreamCaptureMode thread_mode;
static const char *failing;           /* the call that fails, NULL: none */
static unsigned failing_first, failing_times; /* the first of these calls that does, counted from 1, and how many do; those of the failing one */
static unsigned failing_calls;

static void say(const char *format, ...)
{
    size_t used = strlen(calls_made);
    va_list values;

    va_start(values, format);
    vsnprintf(calls_made + used, sizeof(calls_made) - used, format, values);
    va_end(values);
}

static cudaError_t refuse(cudaError_t error) { return last_error = error; }

static cudaError_t answer(const char *call)
{
    if (!failing || strcmp(call, failing) != 0)
        return cudaSuccess;
    failing_calls++;
    return failing_calls >= failing_first && failing_calls - failing_first < failing_times ? refuse(cudaErrorUnknown) : cudaSuccess;
}

#define FAILS(call) do { cudaError_t given = answer(call); if (given != cudaSuccess) { say(call " fails; "); return given; } } while (0)

static void fail_in(const char *call, unsigned first, unsigned times)
{
    failing = call;
    failing_first = first;
    failing_times = times;
    failing_calls = 0;
}

/* ---- graphs ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    FAILS("create");
    *graph = make(GRAPH);
    say("create g%u %u; ", number_of(GRAPH, *graph), flags);
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    FAILS("clone");
    *clone = make(GRAPH);
    say("clone g%u g%u; ", number_of(GRAPH, *clone), number_of(GRAPH, graph));
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    say("gone g%u; ", number_of(GRAPH, graph));
    give_back(GRAPH, graph);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    FAILS("exec");
    *exec = make(EXEC);
    misused += some_capture() && thread_mode != cudaStreamCaptureModeRelaxed;
    say("exec x%u g%u %llu; ", number_of(EXEC, *exec), number_of(GRAPH, graph), flags);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    say("gone x%u; ", number_of(EXEC, exec));
    give_back(EXEC, exec);
    return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    memset(info, 0, sizeof(*info));
    FAILS("update");
    say("update x%u g%u; ", number_of(EXEC, exec), number_of(GRAPH, graph));
    return cudaSuccess;
}

static void say_place(const char *what, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    say("%s g%u after %zu n%u: ", what, number_of(GRAPH, graph), count, count ? number_of(NODE, *after) : 0);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    FAILS("empty");
    *node = make(NODE);
    say_place("empty", graph, after, count);
    say("n%u; ", number_of(NODE, *node));
    return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    say("gone n%u; ", number_of(NODE, node));
    give_back(NODE, node);
    return cudaSuccess;
}

#if CUDART_VERSION >= 12040
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value, unsigned flags)
{
    FAILS("condition");
    *handle = 7;
    say("condition g%u %u %u; ", number_of(GRAPH, graph), value, flags);
    return cudaSuccess;
}
#endif

static void say_layers(const struct cudaMemcpy3DParms *copy)
{
    misused += copy->srcArray || copy->dstArray;
    say("%p>%p %zux%zux%zu %zu,%zu>%zu,%zu %d", copy->srcPtr.ptr, copy->dstPtr.ptr, copy->extent.width, copy->extent.height, copy->extent.depth,
        copy->srcPtr.pitch, copy->srcPtr.ysize, copy->dstPtr.pitch, copy->dstPtr.ysize, (int)copy->kind);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    FAILS("copy");
    *node = make(NODE);
    say_place("copy", graph, after, count);
    say("%p>%p %zu %d; ", from, to, bytes, (int)kind);
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *copy)
{
    FAILS("copy");
    *node = make(NODE);
    say_place("layers", graph, after, count);
    say_layers(copy);
    say("; ");
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *set)
{
    FAILS("set");
    if (!set)
        return refuse(cudaErrorInvalidValue);
    *node = make(NODE);
    say_place("set", graph, after, count);
    say("%p %u of %u %zux%zu %zu; ", set->dst, set->value, set->elementSize, set->width, set->height, set->pitch);
    return cudaSuccess;
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    FAILS("stream");
    *stream = make(STREAM);
    say("stream s%u %u; ", number_of(STREAM, *stream), flags);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    say("plain ");
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    say("gone s%u; ", number_of(STREAM, stream));
    give_back(STREAM, stream);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    FAILS("event");
    *event = make(EVENT);
    recorded_in[number_of(EVENT, *event)] = 0;
    say("event e%u %u; ", number_of(EVENT, *event), flags);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    say("plain ");
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    say("gone e%u; ", number_of(EVENT, event));
    give_back(EVENT, event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    FAILS("record");
    recorded_in[number_of(EVENT, event)] = captures_of[number_of(STREAM, stream)];
    say("record e%u s%u; ", number_of(EVENT, event), number_of(STREAM, stream));
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    FAILS("wait");
    if (recorded_in[number_of(EVENT, event)])
        captures_of[number_of(STREAM, stream)] = recorded_in[number_of(EVENT, event)];
    say("wait s%u e%u %u; ", number_of(STREAM, stream), number_of(EVENT, event), flags);
    return cudaSuccess;
}

#define QUESTION(name, parameters, ...) \
    cudaError_t name parameters \
    { \
        misused += some_capture() && thread_mode != cudaStreamCaptureModeRelaxed; \
        say(__VA_ARGS__); \
        return cudaSuccess; \
    }
#define REFUSAL(name, parameters, ...) \
    cudaError_t name parameters \
    { \
        say(__VA_ARGS__); \
        return refuse(cudaErrorInvalidValue); \
    }

QUESTION(cudaStreamSynchronize, (cudaStream_t stream), "end s%u; ", number_of(STREAM, stream))
QUESTION(cudaStreamQuery, (cudaStream_t stream), "query s%u; ", number_of(STREAM, stream))
QUESTION(cudaEventQuery, (cudaEvent_t event), "query e%u; ", number_of(EVENT, event))
QUESTION(cudaDeviceSynchronize, (void), "end; ")
QUESTION(cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags), "flags s%u; ", (*flags = 0, number_of(STREAM, stream)))
QUESTION(cudaStreamGetPriority, (cudaStream_t stream, int *priority), "priority s%u; ", (*priority = 0, number_of(STREAM, stream)))
QUESTION(cudaStreamGetAttribute, (cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value), "attribute %d s%u; ", (int)id,
         (memset(value, 0, sizeof(*value)), number_of(STREAM, stream)))
REFUSAL(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t call, void *of, unsigned flags), "callback s%u%s %u; ",
        number_of(STREAM, stream), call && !of ? "" : "?", flags)
REFUSAL(cudaMemcpy2DAsync, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            enum cudaMemcpyKind kind, cudaStream_t stream), "rows s%u %+d %zu %zu %zux%zu %d; ", number_of(STREAM, stream),
        (int)((const char *)from - (const char *)to), to_pitch, from_pitch, width, height, (int)kind)

/* ---- copies ---- */

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    FAILS("copy");
    say("copy s%u: %p>%p %zu %d; ", number_of(STREAM, stream), from, to, bytes, (int)kind);
    return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy, cudaStream_t stream)
{
    FAILS("copy");
    say("layers s%u: ", number_of(STREAM, stream));
    say_layers(copy);
    say("; ");
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    FAILS("set");
    say("set s%u: %p %d %zu; ", number_of(STREAM, stream), to, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    FAILS("set");
    say("set s%u: %p %d %zux%zu %zu; ", number_of(STREAM, stream), to, value, width, height, pitch);
    return cudaSuccess;
}

/* ---- launches ---- */

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    unsigned i;

    FAILS("launch");
    (void)args;
    if (!config)
        return refuse(cudaErrorInvalidValue);
    say("launch %p s%u %zu", function, number_of(STREAM, config->stream), config->dynamicSmemBytes);
    for (i = 0; i < config->numAttrs && config->attrs; i++)
        say(" %d:%d", (int)config->attrs[i].id, config->attrs[i].val.priority);
    say("; ");
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    FAILS("kernel");
    if (!params)
        return refuse(cudaErrorInvalidValue);
    *node = make(NODE);
    say_place("kernel", graph, after, count);
    say("%p %u; ", params->func, params->sharedMemBytes);
    return cudaSuccess;
}

/* ---- captures ---- */

static cudaError_t begin_in(cudaStream_t stream, cudaGraph_t graph)
{
    if (stream == cudaStreamLegacy)
        return refuse(cudaErrorStreamCaptureUnsupported);
    if (captures_of[number_of(STREAM, stream)])
        return refuse(cudaErrorIllegalState);
    captures_of[number_of(STREAM, stream)] = number_of(STREAM, stream);
    into[number_of(STREAM, stream)] = graph;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    FAILS("begin");
    say("begin s%u %d; ", number_of(STREAM, stream), (int)mode);
    return begin_in(stream, NULL);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes, const cudaGraphEdgeData *data,
                                          size_t count, enum cudaStreamCaptureMode mode)
{
    FAILS("begin");
    say("begin s%u g%u%s %d; ", number_of(STREAM, stream), number_of(GRAPH, graph), nodes || data || count ? "?" : "", (int)mode);
    return begin_in(stream, graph);
}

static cudaError_t end_refused;       /* what each end of a capture gives, if it is an error: as in another thread */

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    unsigned number = number_of(STREAM, stream), i;

    FAILS("finish");
    say("finish s%u; ", number);
    if (end_refused != cudaSuccess)
        return refuse(end_refused);
    if (captures_of[number] != number || number == 0)
        return refuse(captures_of[number] ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState);
    for (i = 0; i < OBJECTS; i++)
        captures_of[i] = captures_of[i] == number ? 0 : captures_of[i];
    *graph = into[number] ? into[number] : make(GRAPH);
    return cudaSuccess;
}

/* Of the legacy stream nothing can be asked while another one captures. */
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (stream == cudaStreamLegacy && some_capture())
        return refuse(cudaErrorStreamCaptureImplicit);
    *status = captures_of[number_of(STREAM, stream)] ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    enum cudaStreamCaptureMode before = thread_mode;

    say("mode %d; ", (int)*mode);
    thread_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- the host thread ---- */

static _Thread_local int device = -1;

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaGetDevice(int *of)
{
    FAILS("get device");
    *of = device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int to)
{
    FAILS("set device");
    device = to;
    return cudaSuccess;
}

/* ---- from the start ---- */

static void forget_calls(void) { calls_made[0] = '\0'; }

/* Two streams, an event and a graph are there: s1 and s2, e1, g1. */
static void begin_anew(void)
{
    memset(made, 0, sizeof(made));
    memset(alive, 0, sizeof(alive));
    memset(captures_of, 0, sizeof(captures_of));
    memset(recorded_in, 0, sizeof(recorded_in));
    misused = 0;
    last_error = end_refused = cudaSuccess;
    thread_mode = cudaStreamCaptureModeGlobal;
    failing = NULL;
    (void)make(STREAM);
    (void)make(STREAM);
    (void)make(EVENT);
    (void)make(GRAPH);
    forget_calls();
}

#endif
