/* capture_test.c - a capture into a graph that is given makes that graph, whatever else it tells of itself. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "capture_calls.cu" /* whole: what is asked is static */

#include "check.h"

static int goes_elsewhere;     /* a capture makes a graph of its own, not the one that it was given */

cudaError_t __real_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                 const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t __wrap_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                 const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t __wrap_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                                 const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode)
{
    return goes_elsewhere ? cudaStreamBeginCapture(stream, mode)
                          : __real_cudaStreamBeginCaptureToGraph(stream, graph, nodes, data, count, mode);
}

/* Whether a captured launch is found wrong, in the first stream and mode; place: as in enum place. */
static int is_wrong(const struct settings *settings, enum place place, int elsewhere)
{
    struct settings s = *settings;

    goes_elsewhere = elsewhere;
    check(capture_setting(&s, SETTING_STREAMS * place) == cudaSuccess, "a capture");
    goes_elsewhere = 0;
    return s.wrong != 0;
}

int main(void)
{
    struct ask ask = PDL_ZERO;
    struct capture c = PDL_ZERO;
    struct settings s = PDL_ZERO;
    unsigned i;

    c.ask = &ask;
    s.capture = &c;
    for (i = 0; i < 2; i++)
        check(cudaEventCreateWithFlags(&s.event[i], cudaEventDisableTiming) == cudaSuccess, "an event of a launch");
    check(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking) == cudaSuccess &&
              cudaStreamCreateWithFlags(&c.side, cudaStreamNonBlocking) == cudaSuccess &&
              cudaEventCreateWithFlags(&c.event, cudaEventDisableTiming) == cudaSuccess,
          "two streams and an event");
    s.stream[0] = c.stream;
    check(!is_wrong(&s, PLACE_OWN, 0) && !is_wrong(&s, PLACE_OWN, 1), "a capture that is given no graph makes one");
    for (i = PLACE_GIVEN; i <= PLACE_CHILD; i++)
        check(!is_wrong(&s, (enum place)i, 0) && is_wrong(&s, (enum place)i, 1), "one that is given a graph makes that, and no other");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
