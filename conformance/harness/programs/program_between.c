/* program_between.c - host calls that change nothing of what a stream does next: queries, waits for events that have nothing to say, calls that
 * are refused, and captures in a stream that has work. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "try.h"

/* A launch that is refused leaves nothing behind: neither work nor its attribute. */
static void launch_nothing(const struct made *made, cudaStream_t stream)
{
    cudaLaunchAttribute attr;
    cudaLaunchConfig_t config;
    struct kernel_args args;
    void *params[1];
    unsigned n = 0;

    memset(&args, 0, sizeof(args));
    memset(&config, 0, sizeof(config)); /* a grid of no blocks */
    params[0] = &args;
    program_add_attribute(&attr, &n, cudaLaunchAttributeProgrammaticStreamSerialization)->programmaticStreamSerializationAllowed = 1;
    config.stream = stream;
    config.attrs = &attr;
    config.numAttrs = n;
    (void)cudaLaunchKernelExC(&config, made->room->kernel[0], params);
}

/* One of the program's ordinary events, whatever it stands for by now. */
static void ask_event(const struct made *made, int waits, struct dice *dice)
{
    cudaEvent_t event = made->room->other_event[dice_below(dice, PROGRAM_OTHER_EVENTS)];

    (void)(waits ? cudaEventSynchronize(event) : cudaEventQuery(event));
}

/* In a stream that has work: of one memset that never runs; and one that ends because the host waits for its stream. */
static void capture_between(const struct made *made, cudaStream_t stream, int spoiled)
{
    cudaGraph_t graph = NULL;

    if (stream == cudaStreamLegacy || cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess)
        return;
    (void)cudaMemsetAsync(made->room->ahead, 0, 4, stream);
    if (spoiled)
        (void)cudaStreamSynchronize(stream);
    (void)cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

void program_change_nothing(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    switch (dice_below(dice, made->beside ? 7 : 8)) { /* no document says what else a spoiled capture spoils */
    case 0: launch_nothing(made, stream); break;
    case 1: (void)cudaStreamQuery(stream); break;
    case 2: ask_event(made, 0, dice); break;
    case 3: ask_event(made, 1, dice); break;
    case 4: (void)cudaStreamWaitEvent(stream, made->room->never, 0); break;  /* never recorded: there is nothing to wait for */
    case 5: (void)cudaStreamWaitEvent(stream, made->room->passed, 0); break; /* complete */
    case 6: capture_between(made, stream, 0); break;
    default: capture_between(made, stream, 1); break;
    }
    (void)cudaGetLastError();
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
