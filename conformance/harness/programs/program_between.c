/* program_between.c - host calls that change nothing of what a stream does next: queries, waits for events that have nothing to say and for
 * other streams, moves of no bytes, settings and questions, what is made for nobody, and captures in a stream that has work; more of them in
 * program_beside.c. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "../other_thread.h"
#include "try.h"

static cudaError_t ready_or_not(cudaError_t error) { return error == cudaErrorNotReady ? cudaSuccess : error; }

/* One of the program's ordinary events, whatever it stands for by now. */
static cudaError_t ask_event(const struct made *made, int waits, struct dice *dice)
{
    cudaEvent_t event = made->room->other_event[dice_below(dice, PROGRAM_OTHER_EVENTS)];

    return ready_or_not(waits ? cudaEventSynchronize(event) : cudaEventQuery(event));
}

/* There is nothing to wait for: it was never recorded, or what it stands for is long complete. */
static cudaError_t await_nothing(cudaEvent_t event, cudaStream_t stream)
{
    TRY(cudaEventQuery(event));
    TRY(cudaEventSynchronize(event));
    return cudaStreamWaitEvent(stream, event, 0);
}

/* The host waits for a stream that has nothing to do with the others. */
static cudaError_t wait_elsewhere(const struct made *made)
{
    cudaStream_t other;
    cudaError_t error, end;

    TRY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    error = cudaEventRecord(made->room->passed, other);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(other);
    end = cudaStreamDestroy(other);
    return error == cudaSuccess ? end : error;
}

enum question { ASK_NOTHING, ASK_STREAM, ASK_CAPTURED_EVENT };

/* A stream that captures, or a captured event, may be neither waited for nor queried (CUDA Programming Guide, prohibited operations). */
static int gives_answer(const struct made *made, cudaStream_t stream, enum question question, struct dice *dice)
{
    int waits = dice_below(dice, 2) != 0;

    switch (question) {
    case ASK_STREAM: return (waits ? cudaStreamSynchronize(stream) : cudaStreamQuery(stream)) == cudaSuccess;
    case ASK_CAPTURED_EVENT:
        return cudaEventRecord(made->room->captured, stream) != cudaSuccess ||
               (waits ? cudaEventSynchronize(made->room->captured) : cudaEventQuery(made->room->captured)) == cudaSuccess;
    default: return 0;
    }
}

/* A capture, in a stream that has work, of one memset that never runs. If its stream was waited for or queried, it ends with an error. After the
 * same of one of its events it may end either way. */
static cudaError_t capture_between(const struct made *made, cudaStream_t stream, enum question question, struct dice *dice)
{
    cudaGraph_t graph = NULL;
    cudaError_t error;
    int answered;

    if (stream == cudaStreamLegacy)
        return cudaSuccess;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    (void)cudaMemsetAsync(made->room->ahead, 0, 4, stream);
    answered = gives_answer(made, stream, question, dice);
    error = cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (answered || (question != ASK_CAPTURED_EVENT && (error == cudaSuccess) != (question == ASK_NOTHING)))
        return cudaErrorUnknown;
    return cudaSuccess;
}

/* Copies and memsets of no bytes are no work that anything could stand behind. */
static cudaError_t move_nothing(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    const struct program_room *room = made->room;

    switch (dice_below(dice, 3)) {
    case 0: return cudaMemcpyAsync(room->ahead, room->data, 0, cudaMemcpyDeviceToDevice, stream);
    case 1: return cudaMemcpyAsync(room->ahead, room->staging, 0, cudaMemcpyHostToDevice, stream);
    default: return cudaMemsetAsync(room->ahead, 0, 0, stream);
    }
}

/* Questions about the kernel, the device and the stream. */
static cudaError_t ask_about(const struct made *made, cudaStream_t stream)
{
    const void *kernel = made->room->kernel[0];
    struct cudaFuncAttributes attributes;
    enum cudaStreamCaptureStatus status;
    unsigned flags;
    int answer;

    TRY(cudaFuncGetAttributes(&attributes, kernel));
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answer, kernel, 1, 0));
    TRY(cudaDeviceGetAttribute(&answer, cudaDevAttrMultiProcessorCount, 0));
    TRY(cudaStreamGetPriority(stream, &answer));
    if (stream != cudaStreamLegacy)
        TRY(cudaStreamIsCapturing(stream, &status));
    return cudaStreamGetFlags(stream, &flags);
}

/* The kernel keeps the limit that it has. */
static cudaError_t set_anew(const struct made *made)
{
    const void *kernel = made->room->kernel[0];
    struct cudaFuncAttributes attributes;

    TRY(cudaFuncGetAttributes(&attributes, kernel));
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, attributes.maxDynamicSharedSizeBytes);
}

cudaError_t program_pass_event(const struct made *made)
{
    cudaEvent_t event;
    cudaError_t error;

    TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    error = made->beside ? cudaSuccess : cudaEventRecord(event, made->room->apart);
    TRY(cudaEventDestroy(event));
    return error;
}

/* An executable graph of one node that does nothing, or of none. */
static cudaError_t make_hollow(int has_node, cudaGraphExec_t *exec)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error, end;

    TRY(cudaGraphCreate(&graph, 0));
    error = has_node ? cudaGraphAddEmptyNode(&node, graph, NULL, 0) : cudaSuccess;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    end = cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* How much memory is left, then an event that is complete at once, and an executable graph that nobody uses. */
static cudaError_t make_unused(const struct made *made)
{
    cudaGraphExec_t exec;
    size_t left, all;

    TRY(cudaMemGetInfo(&left, &all));
    TRY(program_pass_event(made));
    TRY(make_hollow(1, &exec));
    return cudaGraphExecDestroy(exec);
}

static cudaError_t launch_hollow(cudaStream_t stream, struct dice *dice)
{
    cudaGraphExec_t exec;
    cudaError_t error, end;

    TRY(make_hollow(dice_below(dice, 2) != 0, &exec));
    error = cudaGraphLaunch(exec, stream);
    end = cudaGraphExecDestroy(exec);
    return error == cudaSuccess ? end : error;
}

static cudaError_t call_between(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    switch (dice_below(dice, made->beside ? 18 : 20)) { /* no document says what else a spoiled capture spoils */
    case 0: return ready_or_not(cudaStreamQuery(stream));
    case 1: return ask_event(made, 0, dice);
    case 2: return ask_event(made, 1, dice);
    case 3: return await_nothing(made->room->never, stream);
    case 4: return await_nothing(made->room->passed, stream);
    case 5: return wait_elsewhere(made);
    case 6: return capture_between(made, stream, ASK_NOTHING, dice);
    case 7: return move_nothing(made, stream, dice);
    case 8: return ask_about(made, stream);
    case 9: return set_anew(made);
    case 10: return make_unused(made);
    case 11: return launch_hollow(stream, dice);
    case 18: return capture_between(made, stream, ASK_STREAM, dice);
    case 19: return capture_between(made, stream, ASK_CAPTURED_EVENT, dice);
    default: return program_call_beside(made, stream, dice);
    }
}

struct called {                /* by another thread */
    const struct made *made;
    cudaStream_t stream;
    struct dice *dice;
    cudaError_t error;
};

static void call_by_thread(void *of)
{
    struct called *called = (struct called *)of;

    called->error = call_between(called->made, called->stream, called->dice);
}

cudaError_t program_change_nothing(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    struct called called = { made, stream, dice, cudaErrorUnknown };
    int other = stream != cudaStreamPerThread && dice_below(dice, 32) == 0; /* that of another thread is another stream */

    if (!other || !run_in_thread(call_by_thread, &called))
        call_by_thread(&called);
    (void)cudaGetLastError();
    return called.error;
}

/* into: the graph that it adds to, if it was begun so */
int program_is_new_capture(struct program_room *room, cudaStream_t stream, cudaGraph_t into)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long before = room->last_capture;
    cudaGraph_t graph = NULL;

    return edges_of_capture(stream, &status, &room->last_capture, &graph, NULL, NULL, NULL) == cudaSuccess && room->last_capture != before &&
           graph != NULL && (into == NULL || graph == into);
}

/* Beside a capture: another one, which gets its own node alone. */
cudaError_t program_begin_other_capture(const struct made *made)
{
    TRY(cudaStreamBeginCapture(made->room->apart, cudaStreamCaptureModeRelaxed));
    return cudaMemsetAsync(made->room->ahead, 0, 4, made->room->apart);
}

cudaError_t program_end_other_capture(const struct made *made)
{
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    cudaError_t error;

    TRY(cudaMemsetAsync(made->room->ahead, 0, 4, made->room->apart));
    TRY(cudaStreamEndCapture(made->room->apart, &graph));
    error = cudaGraphGetNodes(graph, NULL, &nodes);
    (void)cudaGraphDestroy(graph);
    return error != cudaSuccess || nodes == 2 ? error : cudaErrorUnknown;
}
