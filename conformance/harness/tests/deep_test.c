/* deep_test.c - what is asked beside the drawn programs is compared to its last byte: one that the host is told otherwise shows. So does an
 * answer about a stream that captures, or about its event, which has none, and one of a driver's call that denies what another one says. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#include "capture_elsewhere.h"
#include "case.h"
#include "check.h"
#include "pair.h"
#include "programs/program.h"

/* ---- a byte that is told otherwise, in each copy to the host of so many bytes ---- */

static size_t told_bytes, told_at;
static enum told { TELL_EACH, TELL_FIRST, TELL_ELSEWHERE } told; /* elsewhere: from other memory than the first */
static const void *told_from;  /* the memory of the first */

cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = __real_cudaMemcpy(to, from, bytes, kind);

    if (bytes != told_bytes || kind != cudaMemcpyDeviceToHost)
        return error;
    if (told == TELL_EACH || (told == TELL_FIRST && !told_from) || (told == TELL_ELSEWHERE && told_from && from != told_from))
        ((unsigned char *)to)[told_at] ^= 1;
    told_from = told_from ? told_from : from;
    return error;
}

static struct ask asked;
static uint64_t asked_seed = 1;

/* The pair of this name of a family; bytes: 0 tells the truth. */
static void put_of(const char *family, const char *name, size_t bytes, size_t at)
{
    const struct image *image = case_image(family, "base");
    unsigned i;

    memset(&asked, 0, sizeof(asked));
    (void)cudaStreamCreateWithFlags(&asked.stream, cudaStreamNonBlocking);
    (void)cudaStreamCreateWithFlags(&asked.side, cudaStreamNonBlocking);
    asked.seed = asked_seed;
    told_from = NULL;
    told_bytes = bytes;
    told_at = at;
    for (i = 0; i < image->count; i++)
        if (strcmp(image->pairs[i].name, name) == 0)
            image->pairs[i].ask(&asked);
    told_bytes = 0;
    (void)cudaStreamDestroy(asked.stream);
    (void)cudaStreamDestroy(asked.side);
}

/* Of the programs, with as few of them as can be. */
static void put(const char *name, size_t bytes, size_t at) { put_of("programs", name, bytes, at); }

static void put_in(enum told in, const char *name, size_t bytes, size_t at)
{
    told = in;
    put(name, bytes, at);
    told = TELL_EACH;
}

static int says(const char *what) { return strstr(asked.text, what) != NULL; }

static void test_sizes(void)
{
    static const char wrong[] = "memsets and copies of graphs that take other bytes";
    size_t bytes = (size_t)1 << 20 | 4; /* the longest, and one more that nothing may touch */

    put("graphs", 0, 0);
    check(asked.asked && !asked.wrong, "memsets and copies are right where the truth is told");
    put("graphs", bytes, 0);
    check(says(wrong), "their first byte is looked at");
    put("graphs", bytes, bytes - 1);
    check(says(wrong), "and the one behind their last");
    put_in(TELL_ELSEWHERE, "graphs", bytes, bytes - 1);
    check(says(wrong), "in the memory of the copies as in that of the memsets");
}

/* Of four kernels in turn, and of a kernel and what moves its words. */
static void test_rows(void)
{
    put("streams", 0, 0);
    check(asked.asked && !asked.wrong, "long rows are right where the truth is told");
    put("streams", 4 * STEP_BYTES, 4 * STEP_BYTES - 1);
    check(says("chains of launches that end with other words"), "the last word of a chain of launches is looked at");
    put_in(TELL_FIRST, "streams", 4 * STEP_BYTES, 4 * STEP_BYTES - 1);
    check(says("chains of launches that end with other words"), "in the first stream as in the last one");
    put("streams", 5 * STEP_BYTES, 5 * STEP_BYTES - 1);
    check(says("rows of copies and memsets that end with other words"), "and that of a row of copies, which nothing writes again");
}

/* ---- questions about a stream that captures, and about its event: they spoil the capture, and a lie says that all is well ---- */

enum lie { NO_LIE, CAPTURED_ANSWERS, NOTHING_LAUNCHED, CAPTURE_KEPT, LIES }; /* kept: though its stream was asked, which has no answer */
static struct program_room room;
static enum lie lie;
static unsigned lied;

static cudaError_t answer(cudaError_t error, int is_wrong, enum lie of)
{
    lied += lie == of && is_wrong;
    return lie == of && is_wrong ? cudaSuccess : error;
}

static int captures(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

/* Launches since the host waited for a stream: of a long row there are many in one stream. */
#define MANY_LAUNCHES 80u
static unsigned launches, long_in; /* one bit for each kind of stream: that of this thread, others */
static void note_wait(const char *call, const void *of)
{
    if (strcmp(call, "cudaStreamSynchronize") != 0)
        return;
    if (launches > MANY_LAUNCHES)
        long_in |= of == (const void *)cudaStreamPerThread ? 1 : 2;
    launches = 0;
}

#define ASKED(name, type, is_captured, spoils)                        \
    cudaError_t __real_##name(type of);                               \
    cudaError_t __wrap_##name(type of);                               \
    cudaError_t __wrap_##name(type of)                                \
    {                                                                 \
        int captured = is_captured;                                   \
        note_wait(#name, (const void *)of);                           \
        if (spoils && captured && lie == CAPTURE_KEPT) {              \
            lied++;                                                   \
            return cudaErrorStreamCaptureUnsupported;                 \
        }                                                             \
                                                                      \
        return answer(__real_##name(of), captured, CAPTURED_ANSWERS); \
    }
ASKED(cudaStreamQuery, cudaStream_t, captures(of), 1)
ASKED(cudaStreamSynchronize, cudaStream_t, captures(of), 1)
ASKED(cudaEventQuery, cudaEvent_t, of == room.captured, 0)
ASKED(cudaEventSynchronize, cudaEvent_t, of == room.captured, 0)

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    cudaError_t error = __real_cudaLaunchKernelExC(config, function, args);

    launches++;
    return answer(error, error != cudaSuccess, NOTHING_LAUNCHED);
}

static int more_nodes;         /* so many more are counted than there are */
cudaError_t __real_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    cudaError_t error = __real_cudaGraphGetNodes(graph, nodes, count);

    *count += (size_t)more_nodes;
    return error;
}

void programs_few_base(struct kernel_args args);

static void open_room(struct made *made)
{
    static const void *kernels[PROGRAM_KERNELS];
    static struct program program; /* of no steps */
    unsigned i;

    for (i = 0; i < PROGRAM_KERNELS; i++)
        kernels[i] = (const void *)programs_few_base;
    room.kernel = kernels;
    check(cudaStreamCreateWithFlags(&room.stream, cudaStreamNonBlocking) == cudaSuccess, "there is a stream");
    check(program_open_room(&room) == cudaSuccess, "there is room");
    memset(made, 0, sizeof(*made));
    made->room = &room;
    made->program = &program;
}

/* Calls that change nothing, as the dice have them, where some of them are answered that must not be. */
static void test_questions(struct made *made)
{
    unsigned seed, missed = 0, wrong = 0, all[LIES] = { 0 };

    for (seed = 0; seed < 200 * LIES; seed++) {
        struct dice dice = { seed / LIES };
        cudaError_t error;
        lie = (enum lie)(seed % LIES);
        lied = 0;
        error = program_change_nothing(made, room.stream, &dice);
        wrong += !lied && error != cudaSuccess;
        missed += lied && error == cudaSuccess;
        all[lie] += lied != 0;
    }
    lie = NO_LIE;
    check(wrong == 0, "calls that change nothing succeed");
    check(all[CAPTURE_KEPT] > 5, "some streams that capture are asked");
    check(all[CAPTURED_ANSWERS] > 10 && all[NOTHING_LAUNCHED] > 5 && missed == 0,
          "an answer about what is captured is an error, and so are a capture that outlives the question and a launch that has to be refused");
}

static cudaError_t capture_beside(const struct made *made, int more)
{
    cudaError_t error = program_begin_other_capture(made);

    more_nodes = more;
    if (error == cudaSuccess)
        error = program_end_other_capture(made);
    more_nodes = 0;
    return error;
}

static void test_captures(struct made *made)
{
    cudaGraph_t graph = NULL;
    unsigned i;

    check(capture_beside(made, 0) == cudaSuccess, "a capture beside others has its own nodes");
    check(capture_beside(made, 1) != cudaSuccess && capture_beside(made, -1) != cudaSuccess, "none of the others', and all of them");
    for (i = 0; i < 2; i++) {
        check(cudaStreamBeginCapture(room.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess, "a capture");
        check(program_is_new_capture(&room, room.stream, NULL), "is new");
        check(!program_is_new_capture(&room, room.stream, NULL), "and is not, when it has the number of the one before");
        check(cudaStreamEndCapture(room.stream, &graph) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess, "ends");
    }
}

/* A capture into a graph that it was given, and into no other one. */
static void test_given(void)
{
    cudaGraph_t given = NULL, other = NULL, graph = NULL;

    check(cudaGraphCreate(&given, 0) == cudaSuccess && cudaGraphCreate(&other, 0) == cudaSuccess, "two graphs");
    check(cudaStreamBeginCaptureToGraph(room.stream, given, NULL, NULL, 0, cudaStreamCaptureModeRelaxed) == cudaSuccess, "a capture into one");
    check(!program_is_new_capture(&room, room.stream, other), "is none into the other one");
    room.last_capture = 0;
    check(program_is_new_capture(&room, room.stream, given), "and is one into its own");
    check(cudaStreamEndCapture(room.stream, &graph) == cudaSuccess && graph == given, "which it gives");
    check(cudaGraphDestroy(given) == cudaSuccess && cudaGraphDestroy(other) == cudaSuccess, "they end");
}

/* Captured launches that record events are looked for in the graph that their capture was given. */
static void test_elsewhere(void)
{
    static const char wrong[] = "captured launches without an attribute, an edge or a graph of theirs";

    put_of("capture_calls", "depends", 0, 0);
    check(asked.asked && !asked.wrong, "captured launches have a graph of theirs where there is one");
    captures_elsewhere = 1;
    put_of("capture_calls", "depends", 0, 0);
    captures_elsewhere = 0;
    check(says(wrong), "another graph than the given one is none of theirs");
}

static int shortens;           /* a time between two events is told a third too short */

cudaError_t __real_cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t __wrap_cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t __wrap_cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t error = __real_cudaEventElapsedTime(ms, from, to);

    if (shortens && error == cudaSuccess)
        *ms *= 2.0f / 3;
    return error;
}

static void test_times(void)
{
    put_of("event_answers", "times", 0, 0);
    check(asked.asked && !asked.wrong, "times between events are right where the truth is told");
    shortens = 1;
    put_of("event_answers", "times", 0, 0);
    shortens = 0;
    check(says("times between two events that are not those of their last records"), "a time that is a third too short is wrong");
    check(says("times that are too short since an event of a stream that is gone"), "also where the stream is gone");
}

/* The number of a capture, as the driver's older call tells it: one more than it is. */
static void *status_call;
static int other_number;

static CUresult CUDAAPI tell_status(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    CUresult result = ((CUresult(CUDAAPI *)(CUstream, CUstreamCaptureStatus *, cuuint64_t *))status_call)(stream, status, id);

    *id += (cuuint64_t)other_number;
    return result;
}

static void test_numbers(const struct made *made)
{
    enum cudaStreamCaptureStatus status;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaSuccess;
    struct dice dice = { 1 };
    unsigned i, asked_for = 0, noticed = 0;

    status_call = room.driver.older_call[OLDER_STATUS];
    if (!status_call) /* before toolkit 12.5 the driver is asked for nothing */
        return;
    room.driver.older_call[OLDER_STATUS] = (void *)tell_status;
    check(cudaStreamBeginCapture(room.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess, "a capture");
    for (i = 0; i < 100; i++) {
        other_number = (int)(i % 2);
        if (!program_status_by_older(made, room.stream, &status, &dice, &error))
            continue;
        asked_for++;
        noticed += (error != cudaSuccess) == (other_number != 0);
    }
    check(asked_for > 10 && noticed == asked_for, "has one number by either call");
    check(cudaStreamEndCapture(room.stream, &graph) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess, "ends");
    room.driver.older_call[OLDER_STATUS] = status_call;
}

/* What the driver's call says of a capture, beside what the next node comes after: another number, another graph, or that there is none. */
static void *info_call;
static unsigned told_infos, other_info;

static CUresult CUDAAPI tell_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                  const CUgraphEdgeData **data, size_t *count)
{
    typedef CUresult(CUDAAPI *info_fn)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **,
                                       const CUgraphEdgeData **, size_t *);
    CUresult result = ((info_fn)info_call)(stream, status, id, graph, nodes, data, count);

    told_infos++;
    *id += other_info == 1;
    *graph = other_info == 2 ? (CUgraph)(void *)&room : *graph;
    *status = other_info == 3 ? CU_STREAM_CAPTURE_STATUS_NONE : *status;
    return result;
}

static void test_info(const struct made *made)
{
    void *older = room.driver.older_call[OLDER_INFO];
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    cudaGraph_t graph = NULL;
    struct dice dice = { 1 };
    unsigned i, asked_for = 0, wrong = 0;
    size_t count;

    info_call = room.driver.graph_call[DRIVER_INFO];
    if (!info_call)
        return;
    room.driver.graph_call[DRIVER_INFO] = (void *)tell_info;
    room.driver.older_call[OLDER_INFO] = NULL;
    check(cudaStreamBeginCapture(room.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess, "a capture");
    for (i = 0; i < 200; i++) {
        cudaError_t error;
        other_info = i % 4;
        told_infos = 0;
        error = program_next_dependencies(made, room.stream, &nodes, &data, &count, &dice);
        asked_for += told_infos;
        wrong += (error != cudaSuccess) != (told_infos && other_info);
    }
    check(asked_for > 20 && wrong == 0, "the driver tells the number and the graph of a capture that the runtime tells");
    check(cudaStreamEndCapture(room.stream, &graph) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess, "the capture ends");
    room.driver.graph_call[DRIVER_INFO] = info_call;
    room.driver.older_call[OLDER_INFO] = older;
}

/* The driver's older call says that an answer would lose data. */
static CUresult CUDAAPI tell_loss(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                  size_t *count)
{
    (void)stream, (void)status, (void)id, (void)graph, (void)nodes, (void)count;
    return CUDA_ERROR_LOSSY_QUERY;
}

/* What the next node of a capture comes after has a full edge, which has no data. */
static void test_loss(const struct made *made)
{
    void *older = room.driver.older_call[OLDER_INFO];
    const cudaGraphNode_t *nodes = NULL;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaSuccess;
    struct dice dice = { 1 };
    unsigned i, asked_for[2] = { 0 }, wrong = 0;
    size_t count;

    if (!older)
        return;
    check(cudaStreamBeginCapture(room.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess &&
              cudaMemsetAsync(room.ahead, 0, 4, room.stream) == cudaSuccess, "a capture of one memset");
    for (i = 0; i < 200; i++) {
        room.driver.older_call[OLDER_INFO] = i % 2 ? (void *)tell_loss : older;
        error = cudaErrorNotReady;
        if (!program_told_by_older(made, room.stream, &nodes, &count, &dice, &error) && error == cudaErrorNotReady)
            continue; /* the dice have it asked otherwise */
        asked_for[i % 2]++;
        wrong += (error == cudaSuccess) != (i % 2 == 0);
    }
    check(asked_for[0] > 10 && asked_for[1] > 10 && wrong == 0, "has no data to lose: who says so is wrong");
    check(cudaStreamEndCapture(room.stream, &graph) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess, "ends");
    room.driver.older_call[OLDER_INFO] = older;
}

/* Who made an executable graph says that it could not, or names a node that was to blame. */
static void *with_call;
static int blames;

static CUresult CUDAAPI instantiate_with(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    CUresult result = ((CUresult(CUDAAPI *)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))with_call)(exec, graph, params);

    if (blames == 1)
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    if (blames == 2)
        params->hErrNode_out = (CUgraphNode)(void *)&blames;
    return result;
}

static void test_blame(const struct made *made)
{
    cudaGraph_t graph = NULL;
    unsigned i, wrong = 0, lies = 0;
    struct dice dice = { 1 };

    with_call = room.driver.graph_call[DRIVER_INSTANTIATE_WITH];
    if (!with_call)
        return;
    check(cudaGraphCreate(&graph, 0) == cudaSuccess, "a graph");
    for (i = 0; i < 200; i++) {
        cudaGraphExec_t exec = NULL;
        struct dice before = dice;
        blames = (int)(i % 3);
        room.driver.graph_call[DRIVER_INSTANTIATE_WITH] = (void *)instantiate_with;
        lied = blames && program_goes_by_driver(made, &before);
        lies += lied;
        wrong += (program_instantiate_uploaded(made, &exec, graph, 0, room.stream, &dice) != cudaSuccess) != (lied != 0);
        wrong += cudaStreamSynchronize(room.stream) != cudaSuccess || cudaGraphExecDestroy(exec) != cudaSuccess;
    }
    check(lies > 10 && wrong == 0, "a graph that was made blames no node");
    check(cudaGraphDestroy(graph) == cudaSuccess, "ends");
    room.driver.graph_call[DRIVER_INSTANTIATE_WITH] = with_call;
}

/* What holds in front of a graph holds for longer than the graph's own steps do. */
static void test_ahead(struct made *made)
{
    check(program_prepare_behind(made, room.stream) == cudaSuccess, "there is work in front of a graph");
    check(room.staging->ahead[0].hold_ns == 3 * room.size.hold_ns && room.staging->ahead[0].flags == STEP_TRIGGERS_FIRST,
          "that triggers and holds");
    check(cudaStreamSynchronize(room.stream) == cudaSuccess && room.staging->ahead_mark[0] == (uint32_t)room.key,
          "and says that it has ended");
}

/* By the seed, in a stream of one kind or another. */
static void test_long_rows(void)
{
    long_in = 0;
    for (asked_seed = 1; asked_seed <= 8; asked_seed++)
        put("streams", 0, 0);
    asked_seed = 1;
    check(long_in == 3, "more launches than a queue holds are in a stream of one kind or another");
}

int main(void)
{
    struct made made;

    open_room(&made);
    test_questions(&made);
    test_captures(&made);
    test_given();
    test_numbers(&made);
    test_info(&made);
    test_loss(&made);
    test_blame(&made);
    test_ahead(&made);
    program_close_room(&room);
    test_elsewhere();
    test_times();
    test_sizes();
    test_rows();
    test_long_rows();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
