/* between.cu - something that is no kernel stands between primary and dependent (COMP-05, AMB-16).
 *
 * item     what stands there                       item     what stands there
 * memset   a memset of the trial's scratch words   host     a host function
 * copy     a copy within them                      graph    the launch of a graph of one empty node
 * event    an event record without timing          alloc    an allocation and its release, in stream order
 * timed    an event record with timing             old      a wait for an event that was recorded long ago
 * to_host  a copy into pinned host memory          kernels  the launch of a graph of one kernel
 * to_gpu   a copy from there                       prefetch a prefetch of managed memory (GPU only)
 * memop    a write of one word in stream order (GPU only)   copy2d   a copy of two rows (GPU only)
 * own      an event that the stream records and waits for   through  the same through another stream, which does nothing
 *
 * Each item twice: the dependent waits (ITEM), or it does not (ITEM_bare). Overlap tells whether the item keeps the
 * attribute from taking effect; wrong words tell what that dependent could not rely on.
 */
#include "one_block.h"
#include "pair.h"
#include "visibility.h"
#ifndef PDL_MODEL
#include "gpu_only.h"
#endif

KERNEL(between_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(between_dependent) { reading_dependent(&args, WAITS); }
KERNEL(between_bare_dependent) { reading_dependent(&args, 0); }
KERNEL(between_nothing) { (void)args; }

static void CUDART_CB nothing(void *unused) { (void)unused; }

typedef cudaError_t (*item_fn)(const struct queue *queue, const struct trial_launch *trial);

static cudaError_t queue_between(const struct queue *queue, const struct trial_launch *trial, item_fn item)
{
    cudaError_t error = queue_primary(queue, trial, 0);

    if (error == cudaSuccess)
        error = item(queue, trial);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

static cudaError_t item_memset(const struct queue *queue, const struct trial_launch *trial)
{
    return cudaMemsetAsync(trial->args.input, 0, 16, queue->stream);
}

static cudaError_t item_copying(const struct queue *queue, const struct trial_launch *trial)
{
    return cudaMemcpyAsync(trial->args.input, trial->args.input + 4, 16, cudaMemcpyDeviceToDevice, queue->stream);
}

static cudaError_t item_event(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaEventRecord(queue->fork, queue->stream);
}

static cudaError_t item_timed(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaEventRecord(queue->timed, queue->stream);
}

static cudaError_t item_old(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaStreamWaitEvent(queue->stream, queue->old, 0);
}

static cudaError_t item_own(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return record_and_await(queue->fork, queue->stream, queue->stream);
}

static cudaError_t item_through(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_enter_side(queue);

    (void)trial;
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static cudaError_t item_host(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaLaunchHostFunc(queue->stream, nothing, NULL);
}

/* By turns a graph of no node, and one of a node that does nothing. */
static cudaError_t item_graph(const struct queue *queue, const struct trial_launch *trial)
{
    return cudaGraphLaunch(queue->nothing[trial->dependent_blocks % 2], queue->stream);
}

/* Made once, in whatever capture: pinned words that only copies touch. */
static cudaError_t host_words(void **words)
{
    static void *pinned;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaError_t error = cudaSuccess;

    if (!pinned) {
        (void)cudaThreadExchangeStreamCaptureMode(&mode);
        error = cudaHostAlloc(&pinned, 64, cudaHostAllocDefault);
        (void)cudaThreadExchangeStreamCaptureMode(&mode);
    }
    *words = pinned;
    return error;
}

static cudaError_t item_to_host(const struct queue *queue, const struct trial_launch *trial)
{
    void *words;
    cudaError_t error = host_words(&words);
    return error == cudaSuccess ? cudaMemcpyAsync(words, trial->args.input, 16, cudaMemcpyDeviceToHost, queue->stream) : error;
}

static cudaError_t item_to_gpu(const struct queue *queue, const struct trial_launch *trial)
{
    void *words;
    cudaError_t error = host_words(&words);
    return error == cudaSuccess ? cudaMemcpyAsync(trial->args.input, words, 16, cudaMemcpyHostToDevice, queue->stream) : error;
}

/* Made once: a graph of one kernel, launched plainly. */
static cudaError_t item_kernels(const struct queue *queue, const struct trial_launch *trial)
{
    static cudaGraphExec_t exec;
    struct kernel_args args = trial->args;
    void *params[1];
    struct cudaKernelNodeParams node_params = one_block_node((const void *)SYMBOL(between_nothing), 1, params);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaSuccess;

    if (!exec) {
        params[0] = &args;
        error = cudaGraphCreate(&graph, 0);
        if (error == cudaSuccess)
            error = cudaGraphAddKernelNode(&node, graph, NULL, 0, &node_params);
        if (error == cudaSuccess)
            error = cudaGraphInstantiate(&exec, graph, 0);
    }
    return error == cudaSuccess ? cudaGraphLaunch(exec, queue->stream) : error;
}

#ifndef PDL_MODEL
static cudaError_t item_copy2d(const struct queue *queue, const struct trial_launch *trial)
{
    return cudaMemcpy2DAsync(trial->args.input, 32, trial->args.input + 4, 32, 16, 2, cudaMemcpyDeviceToDevice, queue->stream);
}

static cudaError_t prefetch(void *memory, size_t bytes, cudaStream_t stream)
{
    int device;

    GPU_TRY(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
    struct cudaMemLocation here = PDL_ZERO;
    here.type = cudaMemLocationTypeDevice;
    here.id = device;
    return cudaMemPrefetchAsync(memory, bytes, here, 0, stream);
#else
    return cudaMemPrefetchAsync(memory, bytes, device, stream);
#endif
}

static cudaError_t item_prefetch(const struct queue *queue, const struct trial_launch *trial)
{
    static void *managed;

    (void)trial;
    if (!managed)
        GPU_TRY(cudaMallocManaged(&managed, 65536, cudaMemAttachGlobal));
    return prefetch(managed, 65536, queue->stream);
}

static cudaError_t item_memop(const struct queue *queue, const struct trial_launch *trial)
{
    typedef CUresult (CUDAAPI *write_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    static write_fn write_value;

    if (!write_value) {
        void *function;
        GPU_TRY(driver_function("cuStreamWriteValue32", 11070, &function));
        write_value = (write_fn)function;
    }
    return write_value((CUstream)queue->stream, (CUdeviceptr)(uintptr_t)trial->args.input, 1, 0) == CUDA_SUCCESS ? cudaSuccess
                                                                                                                  : cudaErrorNotSupported;
}

static cudaError_t item_alloc(const struct queue *queue, const struct trial_launch *trial)
{
    void *memory;
    cudaError_t error = cudaMallocAsync(&memory, 4096, queue->stream);

    (void)trial;
    return error == cudaSuccess ? cudaFreeAsync(memory, queue->stream) : error;
}
#endif

#define QUEUE_ITEM(item)                                                                         \
    static cudaError_t queue_##item(const struct queue *queue, const struct trial_launch *trial) \
    {                                                                                            \
        return queue_between(queue, trial, item_##item);                                         \
    }
QUEUE_ITEM(memset)
QUEUE_ITEM(copying)
QUEUE_ITEM(event)
QUEUE_ITEM(timed)
QUEUE_ITEM(old)
QUEUE_ITEM(own)
QUEUE_ITEM(through)
QUEUE_ITEM(host)
QUEUE_ITEM(graph)
QUEUE_ITEM(to_host)
QUEUE_ITEM(to_gpu)
QUEUE_ITEM(kernels)
#ifndef PDL_MODEL
QUEUE_ITEM(alloc)
QUEUE_ITEM(copy2d)
QUEUE_ITEM(prefetch)
QUEUE_ITEM(memop)
#endif

#define PAIRS_OF_ITEM(name, queue)                                                  \
    PAIR(name, SHAPE_WORDS, 0, between_primary, between_dependent, queue),          \
    PAIR(name "_bare", SHAPE_WORDS, 0, between_primary, between_bare_dependent, queue)

static const struct pair between_pairs[] = {
    PAIRS_OF_ITEM("memset", queue_memset), PAIRS_OF_ITEM("copy", queue_copying), PAIRS_OF_ITEM("event", queue_event),
    PAIRS_OF_ITEM("timed", queue_timed), PAIRS_OF_ITEM("old", queue_old), PAIRS_OF_ITEM("host", queue_host),
    PAIRS_OF_ITEM("graph", queue_graph), PAIRS_OF_ITEM("to_host", queue_to_host), PAIRS_OF_ITEM("to_gpu", queue_to_gpu),
    PAIRS_OF_ITEM("kernels", queue_kernels), PAIRS_OF_ITEM("own", queue_own), PAIRS_OF_ITEM("through", queue_through),
#ifndef PDL_MODEL
    PAIRS_OF_ITEM("alloc", queue_alloc), PAIRS_OF_ITEM("copy2d", queue_copy2d), PAIRS_OF_ITEM("prefetch", queue_prefetch),
    PAIRS_OF_ITEM("memop", queue_memop),
#endif
};
IMAGE(between, between_pairs)
