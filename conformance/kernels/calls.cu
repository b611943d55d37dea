/* calls.cu - questions about what happens once per process, about whole graphs, and about the driver's functions.
 *
 * pair     rules    what is asked
 * lazy     COMP-15  does a kernel that was never loaded overlap at its first launch? GPU only
 * entries  VER-01   from which CUDA version on the driver offers the functions that the kit relies on. GPU only
 * graphs   MEM-06a  two graphs launched back to back: does the second wait for the first, which triggered?
 * green    TOOL-05  pairs in the stream of a green context that has half of the SMs. GPU only
 * cluster  ATTR-12  the code of preferred clusters on this device. GPU only
 */
#include <string.h>

#include "host_room.h"
#ifndef PDL_MODEL
#include "gpu_only.h"
#endif

/* `otherstream`, a planted bug: what has to stand after the work before it goes to another stream. */
#ifdef MUTANT_otherstream
#define SECOND_STREAM(ask) ((ask)->side)
#else
#define SECOND_STREAM(ask) ((ask)->stream)
#endif

KERNEL(calls_slow) { slow_stores(&args); }
KERNEL(calls_reader) { reader_copies(&args, 0); }
KERNEL(calls_nothing) { (void)args; }

/* ---- graphs ---- */

static cudaError_t launch_slow(struct ask *ask, const struct kernel_args *args)
{
    return launch_one((const void *)SYMBOL(calls_slow), args, ASK_WORDS / 2, ask->stream, NULL, 0);
}

static cudaError_t launch_reader(struct ask *ask, const struct kernel_args *args, int programmatic)
{
    cudaLaunchAttribute attribute = serialization(1);
    return launch_one((const void *)SYMBOL(calls_reader), args, ASK_WORDS / 2, ask->stream, &attribute, programmatic ? 1 : 0);
}

/* A graph of the slow kernel, the reader, or both with the attribute between them. */
static cudaError_t capture_graph(struct ask *ask, const struct kernel_args *args, int slow, int reader, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(ask->stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    if (slow)
        error = launch_slow(ask, args);
    if (error == cudaSuccess && reader)
        error = launch_reader(ask, args, slow);
    end = cudaStreamEndCapture(ask->stream, &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* Launches one graph, or two back to back, and looks. */
static cudaError_t launch_graphs(struct ask *ask, struct host_room *room, cudaGraphExec_t first, cudaGraphExec_t second, unsigned trial,
                                 unsigned *witnessed, unsigned *stale)
{
    cudaError_t error;

    prepare_trial(room, trial);
    error = cudaGraphLaunch(first, ask->stream);
    if (error == cudaSuccess && second)
        error = cudaGraphLaunch(second, SECOND_STREAM(ask));
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(SECOND_STREAM(ask));
    *witnessed += room->state.witnessed;
    *stale += copy_is_stale(room);
    return error;
}

static void ask_graphs(struct ask *ask)
{
    struct host_room *room = NULL;
    struct kernel_args args = PDL_ZERO;
    cudaGraphExec_t slow = NULL, reader = NULL, both = NULL;
    unsigned trial, early = 0, stale = 0, control = 0, unused = 0;
    cudaError_t error;

    if (!open_room(&room, &args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    error = capture_graph(ask, &args, 1, 0, &slow);
    error = error == cudaSuccess ? capture_graph(ask, &args, 0, 1, &reader) : error;
    error = error == cudaSuccess ? capture_graph(ask, &args, 1, 1, &both) : error;
    for (trial = 0; trial < ASK_TRIALS && error == cudaSuccess; trial++) {
        error = launch_graphs(ask, room, slow, reader, trial, &early, &stale);
        if (error == cudaSuccess)
            error = launch_graphs(ask, room, both, NULL, trial, &control, &unused);
    }
    ask_expect(ask, "launches of graphs", error, cudaSuccess);
    if (control < ASK_TRIALS / 2) {
        ask_skip(ask, "second graph", "not asked, the same kernels in one graph hardly overlapped");
    } else {
        ask_expect_none(ask, "began before the first graph's end", early, ASK_TRIALS);
        ask_expect_none(ask, "stale after the first graph", stale, ASK_TRIALS);
    }
    (void)cudaGraphExecDestroy(slow);
    (void)cudaGraphExecDestroy(reader);
    (void)cudaGraphExecDestroy(both);
    (void)cudaFreeHost(room);
}

#ifndef PDL_MODEL
/* ---- lazy: kernels that nothing but this question launches ---- */

#define FIRST_KERNEL(n) KERNEL(calls_first_##n) { reader_copies(&args, 1); }
FIRST_KERNEL(0)
FIRST_KERNEL(1)
FIRST_KERNEL(2)
FIRST_KERNEL(3)
FIRST_KERNEL(4)
FIRST_KERNEL(5)
FIRST_KERNEL(6)
FIRST_KERNEL(7)
#define FIRST(n) (const void *)SYMBOL(calls_first_##n)

static cudaError_t launch_behind_slow(struct ask *ask, struct host_room *room, const struct kernel_args *args, const void *function,
                                      unsigned *witnessed, unsigned *stale)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = launch_slow(ask, args);

    if (error == cudaSuccess)
        error = launch_one(function, args, ASK_WORDS / 2, ask->stream, &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    *witnessed += room->state.witnessed;
    *stale += copy_is_stale(room);
    return error;
}

static void ask_lazy(struct ask *ask)
{
    static const void *const first[8] = { FIRST(0), FIRST(1), FIRST(2), FIRST(3), FIRST(4), FIRST(5), FIRST(6), FIRST(7) };
    struct host_room *room = NULL;
    struct kernel_args args = PDL_ZERO;
    unsigned i, again, early[2] = { 0, 0 }, stale = 0;
    cudaError_t error;

    if (!open_room(&room, &args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    prepare_trial(room, 0);
    error = launch_slow(ask, &args); /* so that the first kernel of the pair is loaded */
    error = error == cudaSuccess ? cudaStreamSynchronize(ask->stream) : error;
    for (i = 0; i < 8; i++)
        for (again = 0; again < 2 && error == cudaSuccess; again++) {
            prepare_trial(room, 2 * i + again);
            error = launch_behind_slow(ask, room, &args, first[i], &early[again], &stale);
        }
    ask_note(ask, "launches", error);
    ask_note_number(ask, "overlapped at their first launch, of 8", (long)early[0]);
    ask_note_number(ask, "overlapped at their second launch, of 8", (long)early[1]);
    ask_note_number(ask, "stale after the wait, of 16", (long)stale);
    (void)cudaFreeHost(room);
}

/* ---- entries ---- */

static void ask_entry(struct ask *ask, const char *what, const char *name, unsigned version, long want)
{
    void *function;
    cudaError_t error = driver_function(name, version, &function);

    (void)cudaGetLastError();
    ask_expect_number(ask, what, error == cudaSuccess, want);
}

static void ask_entries(struct ask *ask)
{
    void *plain = NULL, *with_edges = NULL;

    ask_entry(ask, "cuLaunchKernelEx as of 11.6", "cuLaunchKernelEx", 11060, 1);
    ask_entry(ask, "cuLaunchKernelEx as of 11.5", "cuLaunchKernelEx", 11050, 0);
    ask_entry(ask, "cuStreamBeginCaptureToGraph as of 12.3", "cuStreamBeginCaptureToGraph", 12030, 1);
    ask_entry(ask, "cuStreamBeginCaptureToGraph as of 12.2", "cuStreamBeginCaptureToGraph", 12020, 0);
    ask_entry(ask, "cuGraphAddNode as of 12.2", "cuGraphAddNode", 12020, 1);
    if (driver_function("cuGraphAddDependencies", 12020, &plain) == cudaSuccess &&
        driver_function("cuGraphAddDependencies", 12030, &with_edges) == cudaSuccess)
        ask_expect_number(ask, "cuGraphAddDependencies is another function from 12.3 on", plain != with_edges, 1);
    (void)cudaGetLastError();
}

/* ---- green contexts ---- */

#if CUDA_VERSION >= 12050
struct green {                   /* the driver's functions */
    CUresult (CUDAAPI *resource)(CUdevice, CUdevResource *, CUdevResourceType);
    CUresult (CUDAAPI *split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned);
    CUresult (CUDAAPI *describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
    CUresult (CUDAAPI *create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
    CUresult (CUDAAPI *stream)(CUstream *, CUgreenCtx, unsigned, int);
};

static cudaError_t find_green(struct green *green)
{
    static const char *const names[5] = { "cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
                                          "cuGreenCtxCreate", "cuGreenCtxStreamCreate" };
    void *functions[5];
    unsigned i;

    for (i = 0; i < 5; i++)
        GPU_TRY(driver_function(names[i], 12050, &functions[i]));
    memcpy(green, functions, sizeof(*green));
    return cudaSuccess;
}

/* A stream on half of the SMs, in groups of what the device splits by. */
static int open_green(const struct green *green, int device, unsigned sms, cudaStream_t *stream)
{
    CUdevResource whole, half, rest;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream made;
    unsigned groups = 1;

    if (green->resource(device, &whole, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
        green->split(&half, &groups, &whole, &rest, 0, sms / 2) != CUDA_SUCCESS ||
        green->describe(&description, &half, 1) != CUDA_SUCCESS ||
        green->create(&context, description, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS ||
        green->stream(&made, context, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS)
        return 0;
    *stream = (cudaStream_t)made;
    return 1;
}

static void ask_green(struct ask *ask)
{
    struct host_room *room = NULL;
    struct kernel_args args = PDL_ZERO;
    struct ask there = *ask;
    struct green green;
    unsigned trial, witnessed = 0, stale = 0;
    int device = 0, sms = 0;
    cudaError_t error;

    if (find_green(&green) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        !open_green(&green, device, (unsigned)sms, &there.stream) || !open_room(&room, &args)) {
        (void)cudaGetLastError();
        ask_skip(ask, "green contexts", "this driver or device makes none");
        return;
    }
    for (trial = 0, error = cudaSuccess; trial < ASK_TRIALS && error == cudaSuccess; trial++) {
        prepare_trial(room, trial);
        error = launch_behind_slow(&there, room, &args, FIRST(0), &witnessed, &stale);
    }
    ask_note(ask, "launches in a green context", error);
    ask_note_number(ask, "overlapped there, of 200", (long)witnessed);
    ask_note_number(ask, "stale after the wait there, of 200", (long)stale);
    (void)cudaStreamDestroy(there.stream);
    (void)cudaFreeHost(room);
}
#else
static void ask_green(struct ask *ask) { ask_skip(ask, "green contexts", "the toolkit has no name for them"); }
#endif

/* ---- preferred clusters ---- */

static void ask_cluster(struct ask *ask)
{
#if CUDART_VERSION >= 12080
    struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaError_t error, end;

    attrs[0] = in_clusters(1);
    attrs[1].id = cudaLaunchAttributePreferredClusterDimension;
    attrs[1].val.preferredClusterDim.x = attrs[1].val.preferredClusterDim.y = attrs[1].val.preferredClusterDim.z = 1;
    error = launch_one((const void *)SYMBOL(calls_nothing), &args, 1, ask->stream, attrs, 2);
    end = cudaStreamSynchronize(ask->stream);
    ask_note(ask, "11, preferred clusters", error == cudaSuccess ? end : error);
#else
    ask_skip(ask, "11, preferred clusters", "the toolkit has no name for it");
#endif
}
#endif

static const struct pair calls_pairs[] = {
    PAIR_ASK("graphs", ask_graphs),
#ifndef PDL_MODEL
    PAIR_ASK("lazy", ask_lazy),
    PAIR_ASK("entries", ask_entries),
    PAIR_ASK("green", ask_green),
    PAIR_ASK("cluster", ask_cluster),
#endif
};
IMAGE(calls, calls_pairs)
