/* compose.cu - pairs whose launches carry more than the attribute.
 *
 * pair                  rules     what is special
 * cluster               COMP-01   both in clusters of two blocks, small grids in clusters of four or eight where their blocks allow it
 * cluster_withhold      COMP-01   the same; one block withholds its trigger and watches: blocks are counted, not clusters
 * cooperative_primary   COMP-02   the primary is a cooperative launch
 * cooperative_dependent COMP-02a  the dependent is a cooperative launch
 * cooperative_grid      COMP-02b  the same; one thread of the grid waits, a grid-wide barrier follows, every thread reads
 * modules               COMP-15a  the primary comes from another module: it is the one of wait.cu
 * urgent                COMP-03   the dependent has the highest priority; one block of the primary withholds its trigger
 * per_thread            COMP-06   in the per-thread default stream
 * legacy                COMP-06   in the legacy default stream
 * from_per_thread       COMP-06a  primary in the per-thread default stream, dependent in the legacy one; nothing says so but the streams
 * from_legacy           COMP-06a  the other way round
 * blocked               FWD-03a   the dependent's waiting blocks fill every slot, while a kernel in another stream holds some
 *                                 and ends only after the primary (B48)
 * crowded               FWD-03a   the same, and the primary has more blocks than the device has slots
 *
 * Mutant `nobarrier`: as cooperative_grid, and those who do not wait read at once.
 */
#include "pair.h"
#include "start.h"


KERNEL(compose_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(compose_withhold_primary) { withholding_primary(&args, EAGER); }
KERNEL(compose_start_dependent) { reading_dependent(&args, 1); }

KERNEL(compose_held_primary) { held_primary(&args); }
KERNEL(compose_late_dependent) { reading_dependent(&args, 0); }
KERNEL(compose_dependent) { reading_dependent(&args, WAITS); }

/* All blocks are there at once. Those after the barrier give it four times its longest time; then the trial does not count. */
DEVICE_FN void grid_barrier(const struct kernel_args *args, const struct trial_plan *plan)
{
    struct trial_state *state = args->state;

    if (k_thread() == 0) {
        k_fence();
        k_add(&state->done, 1);
        if (!k_poll(state, &state->done, k_blocks(), 4 * plan->bound_ns)) {
            k_add(&state->cut_short, 1);
            k_wait(args, plan);
        }
        k_fence();
    }
    k_barrier();
}

KERNEL(compose_grid_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
    if (WAITS && k_block() == 0 && k_thread() == 0)
        k_wait(&args, &plan);
    if (WAITS && BARRIER)
        grid_barrier(&args, &plan);
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

/* The base image of wait.cu is a module of its own. */
#ifdef PDL_MODEL
extern void wait_store_primary_base(struct kernel_args args);
#else
extern "C" __global__ void wait_store_primary_base(struct kernel_args args);
#endif

/* In the side stream: holds its places until the primary is about to store, or for the longest time a trial lasts. */
KERNEL(compose_holder)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0)
        (void)k_poll(args.state, (const uint32_t *)&args.state->primary_store_ns, 1, plan.bound_ns);
}

static cudaError_t queue_both(const struct queue *queue, const struct trial_launch *trial, const pdl_options *primary,
                              pdl_options *dependent)
{
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = queue_primary_with(queue, trial, primary);
    dependent->overlap = PDL_OVERLAP_REQUIRED;
    return error == cudaSuccess ? queue_dependent_with(queue, trial, queue->stream, dependent) : error;
}

/* The most blocks in a cluster, up to the eight that every device takes, in which so many blocks can be launched. Large grids stay in
 * clusters of two, which find room wherever the blocks do. */
static unsigned widest_cluster(unsigned blocks)
{
    unsigned widest = blocks > 64 ? 2 : 8;

    while (blocks % widest)
        widest--;
    return widest;
}

static cudaError_t queue_cluster(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;

    primary.cluster_x = widest_cluster(trial->primary_blocks);
    dependent.cluster_x = widest_cluster(trial->dependent_blocks);
    return queue_both(queue, trial, &primary, &dependent);
}

static cudaError_t queue_cooperative_primary(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;

    primary.cooperative = 1;
    return queue_both(queue, trial, &primary, &dependent);
}

static cudaError_t queue_cooperative_dependent(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;

    dependent.cooperative = 1;
    return queue_both(queue, trial, &primary, &dependent);
}

/* A capture: one node after all that the stream waited for, or each fork would depend on each trial before it. */
static cudaError_t gather(const struct queue *queue, const struct trial_launch *trial)
{
    enum cudaStreamCaptureStatus status;
    cudaError_t error = cudaStreamIsCapturing(queue->stream, &status);

    if (error != cudaSuccess || status == cudaStreamCaptureStatusNone)
        return error;
    return cudaMemsetAsync(trial->args.input, 0, 4, queue->stream);
}

/* The pair in another stream, between a fork from the kit's own and the way back. */
static cudaError_t queue_in(const struct queue *queue, const struct trial_launch *trial, cudaStream_t stream)
{
    struct queue there = *queue;
    cudaError_t error = cudaEventRecord(queue->fork, queue->stream);

    there.stream = stream;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, queue->fork, 0);
    if (error == cudaSuccess)
        error = queue_primary(&there, trial, 0);
    if (error == cudaSuccess)
        error = queue_dependent(&there, trial);
    if (error == cudaSuccess)
        error = record_and_await(queue->join, stream, queue->stream);
    return error == cudaSuccess ? gather(queue, trial) : error;
}

static cudaError_t queue_per_thread(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_in(queue, trial, cudaStreamPerThread);
}

static cudaError_t queue_legacy(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_in(queue, trial, cudaStreamLegacy);
}

/* No event between the two: the legacy stream waits for blocking streams, and they for it. */
static cudaError_t queue_across(const struct queue *queue, const struct trial_launch *trial, cudaStream_t first, cudaStream_t second)
{
    struct queue there = *queue;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = record_and_await(queue->fork, queue->stream, first);
    there.stream = first;
    if (error == cudaSuccess)
        error = queue_primary(&there, trial, 0);
    there.stream = second;
    if (error == cudaSuccess)
        error = queue_dependent_plain(&there, trial);
    if (error == cudaSuccess)
        error = record_and_await(queue->join, second, queue->stream);
    return error;
}

static cudaError_t queue_from_per_thread(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_across(queue, trial, cudaStreamPerThread, cudaStreamLegacy);
}

static cudaError_t queue_from_legacy(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_across(queue, trial, cudaStreamLegacy, cudaStreamPerThread);
}

/* The middle kernel is the holder: half as many blocks as the dependent has, in the side stream, without the attribute. */
static cudaError_t queue_blocked(const struct queue *queue, const struct trial_launch *trial)
{
    struct trial_launch held = *trial;
    struct queue side = *queue;
    pdl_options options = PDL_ZERO;
    cudaError_t error = queue_enter_side(queue);

    side.dependent = queue->middle;
    held.dependent_blocks = (trial->dependent_blocks + 7) / 8;
    if (error == cudaSuccess)
        error = queue_dependent_with(&side, &held, queue->side, &options);
    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = queue_dependent(queue, trial);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static const struct pair compose_pairs[] = {
    PAIR("cluster", SHAPE_WORDS, PAIR_CLUSTER | PAIR_BESIDE, compose_primary, compose_dependent, queue_cluster),
    PAIR("cluster_withhold", SHAPE_WORDS, PAIR_CLUSTER | PAIR_BESIDE, compose_withhold_primary, compose_start_dependent, queue_cluster),
    PAIR("cooperative_primary", SHAPE_WORDS, 0, compose_primary, compose_dependent, queue_cooperative_primary),
    PAIR("cooperative_dependent", SHAPE_WORDS, 0, compose_primary, compose_dependent, queue_cooperative_dependent),
    PAIR("cooperative_grid", SHAPE_WORDS, 0, compose_primary, compose_grid_dependent, queue_cooperative_dependent),
    { "modules", SHAPE_WORDS, PAIR_TWO_WARPS, (const void *)wait_store_primary_base, (const void *)SYMBOL(compose_dependent),
      "wait_store_primary", "compose_dependent", queue_pair, NULL, NULL, NULL },
    PAIR("urgent", SHAPE_WORDS, PAIR_TWO_BLOCKS | PAIR_URGENT, compose_withhold_primary, compose_start_dependent, queue_pair),
    PAIR("per_thread", SHAPE_WORDS, 0, compose_primary, compose_dependent, queue_per_thread),
    PAIR("legacy", SHAPE_WORDS, 0, compose_primary, compose_dependent, queue_legacy),
    PAIR("from_per_thread", SHAPE_WORDS, 0, compose_held_primary, compose_late_dependent, queue_from_per_thread),
    PAIR("from_legacy", SHAPE_WORDS, 0, compose_held_primary, compose_late_dependent, queue_from_legacy),
    PAIR_OF_THREE("blocked", SHAPE_FILL, 0, compose_primary, compose_holder, compose_dependent, queue_blocked),
    PAIR_OF_THREE("crowded", SHAPE_OVERFLOW, PAIR_URGENT, compose_primary, compose_holder, compose_dependent, queue_blocked),
};
IMAGE(compose, compose_pairs)
