/* between.cu - something that is no kernel stands between primary and dependent (COMP-05, AMB-16).
 *
 * item     what stands there                       item     what stands there
 * memset   a memset of the trial's scratch words   host     a host function
 * copy     a copy within them                      graph    the launch of a graph of one empty node
 * event    an event record without timing          alloc    an allocation and its release, in stream order
 * timed    an event record with timing             old      a wait for an event that was recorded long ago
 *
 * Each item twice: the dependent waits (ITEM), or it does not (ITEM_bare). Overlap tells whether the item keeps the
 * attribute from taking effect; wrong words tell what that dependent could not rely on.
 */
#include "pair.h"
#include "visibility.h"

DEVICE_FN void between_dependent_of(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);

    dependent_begins(args);
    dependent_is_alive(args);
    if (waits)
        k_wait(args, &plan);
    dependent_waited(args);
    dependent_reads(args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(args);
}

KERNEL(between_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(between_dependent) { between_dependent_of(&args, 1); }
KERNEL(between_bare_dependent) { between_dependent_of(&args, 0); }

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

static cudaError_t item_host(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaLaunchHostFunc(queue->stream, nothing, NULL);
}

static cudaError_t item_graph(const struct queue *queue, const struct trial_launch *trial)
{
    (void)trial;
    return cudaGraphLaunch(queue->nothing, queue->stream);
}

#ifndef PDL_MODEL
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
QUEUE_ITEM(host)
QUEUE_ITEM(graph)
#ifndef PDL_MODEL
QUEUE_ITEM(alloc)
#endif

#define PAIRS_OF_ITEM(name, queue)                                                  \
    PAIR(name, SHAPE_WORDS, 0, between_primary, between_dependent, queue),          \
    PAIR(name "_bare", SHAPE_WORDS, 0, between_primary, between_bare_dependent, queue)

static const struct pair between_pairs[] = {
    PAIRS_OF_ITEM("memset", queue_memset), PAIRS_OF_ITEM("copy", queue_copying), PAIRS_OF_ITEM("event", queue_event),
    PAIRS_OF_ITEM("timed", queue_timed), PAIRS_OF_ITEM("old", queue_old), PAIRS_OF_ITEM("host", queue_host),
    PAIRS_OF_ITEM("graph", queue_graph),
#ifndef PDL_MODEL
    PAIRS_OF_ITEM("alloc", queue_alloc),
#endif
};
IMAGE(between, between_pairs)
