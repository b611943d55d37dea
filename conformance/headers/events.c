/* Events: in the launch with overlap, behind it without, never lost. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased, disabled;
static cudaStream_t stream, other;
static cudaEvent_t event, completion;
static const dim3 one = {1, 1, 1};

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    setenv("PDL_DISABLE", "1", 1);
    EXPECT_IS(pdl_kernel_init(&disabled, (const void *)plain_kernel), cudaSuccess);
    unsetenv("PDL_DISABLE");
}

static cudaError_t launch(const pdl_kernel *kernel, const pdl_options *options)
{
    struct number number = {10000};
    void *args[] = {&number};

    return pdl_launch(kernel, one, one, args, 0, stream, options);
}

static void go_with_the_launch(void)
{
    pdl_options options = PDL_ZERO;
    unsigned calls;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    options.launch_completion_event = completion;
    calls = calls_made();
    EXPECT_IS(launch(&plain, &options), cudaSuccess);
    EXPECT_IS(calls_made() - calls, 1);
    EXPECT_IS(attributes_of_last(), 3);
    EXPECT(last_attribute(6) != NULL);
    EXPECT(last_attribute(7) != NULL && last_attribute(7)->programmaticEvent.event == event);
    EXPECT(last_attribute(7) != NULL && last_attribute(7)->programmaticEvent.triggerAtBlockStart == 0);
    EXPECT(last_attribute(7) != NULL && last_attribute(7)->programmaticEvent.flags == 0);
    EXPECT(last_attribute(12) != NULL && last_attribute(12)->launchCompletionEvent.event == completion);
    EXPECT(last_attribute(12) != NULL && last_attribute(12)->launchCompletionEvent.flags == 0);
    options.event_trigger = PDL_EVENT_AT_BLOCK_START;
    EXPECT_IS(launch(&plain, &options), cudaSuccess);
    EXPECT(last_attribute(7) != NULL && last_attribute(7)->programmaticEvent.triggerAtBlockStart == 1);
    EXPECT_IS(model_call_count("cudaEventRecord"), 0);
}

static void come_alone(void)
{
    pdl_options options = PDL_ZERO;

    options.event = event;
    EXPECT_IS(launch(&plain, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT(last_attribute(7) != NULL && last_attribute(7)->programmaticEvent.event == event);
    options.event = NULL;
    options.launch_completion_event = completion;
    EXPECT_IS(launch(&plain, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT(last_attribute(12) != NULL && last_attribute(12)->launchCompletionEvent.event == completion);
    EXPECT_IS(launch(&erased, &options), cudaSuccess); /* it needs no wait in the kernel */
    EXPECT_IS(attributes_of_last(), 1);
    options.event = event;
    EXPECT_IS(launch(&plain, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 2);
    EXPECT_IS(model_call_count("cudaEventRecord"), 0);
}

/* Where the launch cannot carry them: one record follows for each event, after the launch and in its stream. */
static void go_behind(const pdl_kernel *kernel, unsigned overlap, unsigned completion_carried)
{
    pdl_options options = PDL_ZERO;
    unsigned calls;

    set_up();
    options.overlap = overlap;
    options.event = event;
    options.event_trigger = PDL_EVENT_AT_BLOCK_START;
    calls = calls_made();
    EXPECT_IS(launch(kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(calls_made() - calls, 2);
    EXPECT_IS(model_call_count("cudaEventRecord"), 1);
    EXPECT_IS(cudaEventQuery(event), cudaErrorNotReady); /* recorded after the kernel: an unrecorded event is ready */
    EXPECT_IS(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
    EXPECT_IS(cudaStreamSynchronize(other), cudaSuccess); /* in the launch's stream: there is nothing in another one */
    EXPECT_IS(cudaStreamQuery(stream), cudaSuccess);
    EXPECT_IS(cudaEventSynchronize(event), cudaSuccess);
    options.launch_completion_event = completion;
    options.event_trigger = 0;
    EXPECT_IS(launch(kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), completion_carried);
    EXPECT_IS(model_call_count("cudaEventRecord"), 3 - completion_carried);
    EXPECT_IS(cudaEventQuery(event), cudaErrorNotReady);
    EXPECT_IS(cudaEventSynchronize(event), cudaSuccess);
    EXPECT_IS(cudaEventSynchronize(completion), cudaSuccess);
}

static void refuse_timing(void)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_options options = PDL_ZERO;
    cudaEvent_t timing;

    EXPECT_IS(cudaEventCreateWithFlags(&timing, cudaEventDefault), cudaSuccess);
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = timing;
    EXPECT_IS(launch(&plain, &options), cudaErrorNotSupported); /* CUDA's own */
    EXPECT_IS(model_launch_count(), 0);
    EXPECT_IS(model_call_count("cudaEventRecord"), 0);
    EXPECT_IS(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT_IS(pdl_launch(&disabled, one, one, args, 0, stream, &options), cudaSuccess); /* behind, any event will do */
}

static void fail_behind_the_launch(void)
{
    pdl_options options = PDL_ZERO;

    options.event = event;
    options.launch_completion_event = completion;
    model_fail_next("cudaEventRecord", cudaErrorInvalidResourceHandle);
    EXPECT_IS(launch(&disabled, &options), cudaErrorInvalidResourceHandle);
    EXPECT_IS(model_launch_count(), 1); /* the one documented case */
    EXPECT_IS(model_call_count("cudaEventRecord"), 1);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

/* Behind, in a capture: the fork joins by the recorded event, as with any event. */
static void are_captured_behind(void)
{
    pdl_options options = PDL_ZERO;
    struct number number = {1};
    void *args[] = {&number};
    cudaGraph_t graph;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(launch(&erased, &options), cudaSuccess);
    EXPECT_IS(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, other, NULL), cudaSuccess);
    options.event = completion;
    EXPECT_IS(cudaEventRecord(completion, other), cudaSuccess);
    EXPECT_IS(cudaStreamWaitEvent(stream, completion, 0), cudaSuccess);
    EXPECT_IS(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
}

static void are_created_without_timing(void)
{
    cudaEvent_t made = NULL;
    float ms;

    EXPECT_IS(pdl_event_create(&made), cudaSuccess);
    EXPECT(made != NULL);
    EXPECT_IS(cudaEventRecord(made, stream), cudaSuccess);
    EXPECT_IS(cudaEventSynchronize(made), cudaSuccess);
    EXPECT(cudaEventElapsedTime(&ms, made, made) != cudaSuccess);
    model_fail_next("cudaEventCreateWithFlags", cudaErrorMemoryAllocation);
    EXPECT_IS(pdl_event_create(&made), cudaErrorMemoryAllocation);
}

int main(void)
{
    void (*const tests[])(void) = {go_with_the_launch,     come_alone,          refuse_timing,
                                   fail_behind_the_launch, are_captured_behind, are_created_without_timing};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    go_behind(&erased, PDL_OVERLAP_NONE, PDL_HAS_LAUNCH_COMPLETION_EVENT);
    go_behind(&erased, PDL_OVERLAP_IF_POSSIBLE, PDL_HAS_LAUNCH_COMPLETION_EVENT);
    go_behind(&disabled, PDL_OVERLAP_NONE, 0);
    go_behind(&disabled, PDL_OVERLAP_IF_POSSIBLE, 0);
    go_behind(&disabled, PDL_OVERLAP_REQUIRED, 0);
    return failed;
}
