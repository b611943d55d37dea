/* refused_record.cu - captures a launch that is refused and was to record an event, records the event again, and counts the processes that die.
 *
 *     nvcc -arch=sm_90 -o refused_record refused_record.cu && ./refused_record [PROCESSES]
 *
 * Stand-alone. In each process a launch with too many threads or too much shared memory is refused, in a stream that captures or in one that does
 * not; then the capture ends, and the event is used as its row says. A row says how many processes ended well, died of a signal, or had a
 * call refused that must not be.
 * Exit code: 0 no process died; 1 one did; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY(call)                                                                          \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "refused_record: %s: %s\n", #call, cudaGetErrorName(error_)); \
            _exit(69);                                                                     \
        }                                                                                  \
    } while (0)

enum attribute { NO_EVENT, AT_TRIGGER, AT_START };
enum then { RECORDED, RECORDED_IN_CAPTURE, DESTROYED };
static const char *const attribute_name[] = { "no event", "an event, at the trigger", "an event, at block starts" };
static const char *const then_name[] = { "recorded", "recorded in a capture", "destroyed" };

struct row {
    int captures;
    int earlier;               /* the event was recorded in the capture before */
    enum attribute attribute;
    int shared;                /* refused for its shared memory, not for its threads */
    enum then then;
};
static const struct row rows[] = {
    { 1, 1, AT_TRIGGER, 0, RECORDED_IN_CAPTURE }, { 1, 1, AT_TRIGGER, 1, RECORDED_IN_CAPTURE }, { 1, 1, AT_START, 0, RECORDED_IN_CAPTURE },
    { 1, 1, AT_TRIGGER, 0, RECORDED },            { 1, 1, AT_TRIGGER, 0, DESTROYED },           { 1, 0, AT_TRIGGER, 0, RECORDED_IN_CAPTURE },
    { 1, 0, AT_TRIGGER, 0, RECORDED },            { 1, 1, NO_EVENT, 0, RECORDED_IN_CAPTURE },   { 0, 0, AT_TRIGGER, 0, RECORDED },
    { 0, 0, AT_TRIGGER, 0, RECORDED_IN_CAPTURE },
};

__global__ void nothing() {}

static void launch_refused(const struct row *row, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};

    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = row->attribute == AT_START;
    config.gridDim = dim3(1);
    config.blockDim = dim3(row->shared ? 32 : 1u << 16);
    config.dynamicSmemBytes = row->shared ? (size_t)1 << 24 : 0;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = row->attribute != NO_EVENT;
    if (cudaLaunchKernelExC(&config, (const void *)nothing, NULL) == cudaSuccess) {
        fprintf(stderr, "refused_record: the launch was not refused\n");
        _exit(69);
    }
    (void)cudaGetLastError();
}

static void end_capture(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;

    (void)cudaStreamEndCapture(stream, &graph); /* whether the refused call has spoiled it is no matter here */
    (void)cudaGetLastError();
    if (graph)
        TRY(cudaGraphDestroy(graph));
}

static void run(const struct row *row)
{
    cudaStream_t stream;
    cudaEvent_t event;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    if (row->captures)
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    nothing<<<1, 32, 0, stream>>>();
    if (row->earlier)
        TRY(cudaEventRecord(event, stream));
    nothing<<<1, 32, 0, stream>>>();
    launch_refused(row, stream, event);
    if (row->captures)
        end_capture(stream);
    if (row->then == RECORDED_IN_CAPTURE)
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (row->then != DESTROYED)
        TRY(cudaEventRecord(event, stream));
    if (row->then == RECORDED_IN_CAPTURE)
        end_capture(stream);
    TRY(cudaDeviceSynchronize());
    TRY(cudaEventDestroy(event));
    TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(cudaEventRecord(event, stream));
    TRY(cudaDeviceSynchronize());
}

static int run_row(const struct row *row, int processes, int *fine, int *died, int *refused)
{
    for (int i = 0; i < processes; i++) {
        pid_t child;
        int status;
        fflush(stdout);
        child = fork();
        if (child < 0)
            return 69;
        if (child == 0) {
            run(row);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child)
            return 69;
        ++*(WIFSIGNALED(status) ? died : WEXITSTATUS(status) ? refused : fine);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 8, all_fine = 0, all_died = 0;

    if (processes < 1 || processes > 10000) {
        fprintf(stderr, "usage: refused_record [PROCESSES], from 1 to 10000\n");
        return 64;
    }
    printf("| the stream | the event | the launch has | refused for its | the event is then | ended well | died | refused |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        int fine = 0, died = 0, refused = 0, wrong = run_row(row, processes, &fine, &died, &refused);
        if (wrong)
            return wrong;
        printf("| %s | %s | %s | %s | %s | %d | %d | %d |\n", row->captures ? "captures" : "does not capture",
               row->earlier ? "recorded before" : "new", attribute_name[row->attribute], row->shared ? "shared memory" : "threads",
               then_name[row->then], fine, died, refused);
        all_fine += fine;
        all_died += died;
    }
    return all_died ? 1 : all_fine ? 0 : 69;
}
