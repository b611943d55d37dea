/* cluster.cu - dependents in clusters, beyond what compose.cu says of them. GPU only.
 *
 * pair       rules    what is special
 * barrier    WAIT-07  one thread of each cluster waits, a cluster barrier follows, every thread of both blocks reads
 * preferred  COMP-01b the dependent prefers clusters of two where there is room (attribute 11)
 *
 * Mutant `nobarrier`: as barrier, and those who do not wait read at once (B23, B24).
 */
#include "gpu_only.h"

#ifdef PDL_MODEL
IMAGE_WITHOUT_PAIRS(cluster)
#else

KERNEL(cluster_primary) { visibility_primary(&args, FORM_PLAIN); }

/* One thread of the cluster waits for both of its blocks. */
DEVICE_FN void cluster_waits(const struct kernel_args *args, const struct trial_plan *plan)
{
#ifndef MUTANT_nowait
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0 && k_thread() == 0)
        k_wait(args, plan);
#ifndef MUTANT_nobarrier
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
#else
    (void)args;
    (void)plan;
#endif
}

KERNEL(cluster_barrier_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
    cluster_waits(&args, &plan);
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

KERNEL(cluster_dependent) { reading_dependent(&args, WAITS); }

static cudaError_t queue_barrier(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;

    GPU_TRY(queue_primary(queue, trial, 0));
    options.overlap = PDL_OVERLAP_REQUIRED;
    options.cluster_x = 2;
    return queue_dependent_with(queue, trial, queue->stream, &options);
}

#if CUDART_VERSION >= 12080
/* Not every device takes the attribute: ATTR-12 notes its code; here the launch goes without it. */
static cudaError_t queue_preferred(const struct queue *queue, const struct trial_launch *trial)
{
    cudaLaunchAttribute preferred = PDL_ZERO;
    pdl_options options = PDL_ZERO;

    GPU_TRY(queue_primary(queue, trial, 0));
    preferred.id = cudaLaunchAttributePreferredClusterDimension;
    preferred.val.preferredClusterDim.x = 2;
    preferred.val.preferredClusterDim.y = preferred.val.preferredClusterDim.z = 1;
    options.overlap = PDL_OVERLAP_REQUIRED;
    options.cluster_x = 1;
    options.attrs = &preferred;
    options.num_attrs = 1;
    if (queue_dependent_with(queue, trial, queue->stream, &options) == cudaSuccess)
        return cudaSuccess;
    (void)cudaGetLastError();
    options.num_attrs = 0;
    return queue_dependent_with(queue, trial, queue->stream, &options);
}
#endif

static const struct pair cluster_pairs[] = {
    PAIR("barrier", SHAPE_WORDS, PAIR_CLUSTER | PAIR_BESIDE, cluster_primary, cluster_barrier_dependent, queue_barrier),
#if CUDART_VERSION >= 12080
    PAIR("preferred", SHAPE_WORDS, PAIR_CLUSTER, cluster_primary, cluster_dependent, queue_preferred),
#endif
};
IMAGE(cluster, cluster_pairs)
#endif
