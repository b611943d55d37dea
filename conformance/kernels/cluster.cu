/* cluster.cu - dependents in clusters, beyond what compose.cu says of them. GPU only.
 *
 * pair       rules    what is special
 * barrier    WAIT-07  one thread of each cluster waits, a cluster barrier follows, every thread of both blocks reads
 * remote     COMP-01  what each block of a cluster of two reads goes through the shared memory of the other one, which tells it
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

/* ---- by the other block's shared memory ---- */

/* As dependent_range() has them, of any block. */
DEVICE_FN void range_of(const struct trial_plan *plan, uint32_t block, uint32_t *first, uint32_t *last)
{
    uint32_t readers = k_blocks() - plan->skip, slot = (block - plan->skip + plan->rotate) % readers;

    *first = block < plan->skip ? 0 : k_first(plan->words, slot, readers);
    *last = block < plan->skip ? 0 : k_first(plan->words, slot + 1, readers);
}

/* All threads of both blocks: what they stored to either's shared memory is there. */
DEVICE_FN void cluster_meets(void)
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* Stores where the block of this rank has `own`. */
DEVICE_FN void store_in_block(uint32_t rank, const void *own, const uint32_t *group)
{
    uint32_t here = (uint32_t)__cvta_generic_to_shared(own), there;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "r"(there), "r"(group[0]), "r"(group[1]), "r"(group[2]), "r"(group[3]) : "memory");
}

/* Reads its own groups of words, and stores as seen those that the other block has read. */
KERNEL(cluster_remote_dependent)
{
    __shared__ __align__(16) uint32_t handed[1024][4];
    struct trial_plan plan = k_plan(&args);
    uint32_t own, own_last, others, others_last, each = k_threads() * 4, at, j, group[4];

    dependent_begins_and_waits(&args, &plan);
    range_of(&plan, k_block(), &own, &own_last);
    range_of(&plan, k_block() ^ 1, &others, &others_last);
    cluster_meets(); /* the other block has begun */
    for (at = k_group() * 4; at - k_group() * 4 < own_last - own || at - k_group() * 4 < others_last - others; at += each) {
        if (at < own_last - own) {
            for (j = 0; j < 4; j++)
                group[j] = k_load(args.data + own + at + j);
            store_in_block(k_block() % 2 ^ 1, handed[k_thread()], group);
        }
        cluster_meets();
        for (j = 0; j < 4 && at < others_last - others; j++)
            k_store(args.seen + others + at + j, handed[k_thread()][j]);
        cluster_meets(); /* before anybody stores there again */
    }
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

/* The same split of the SM's memory on both sides, with room for both (F29b). */
static cudaError_t queue_remote(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;

    options.carveout = queue_full_carveout();
    GPU_TRY(queue_primary_with(queue, trial, &options));
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
    PAIR("remote", SHAPE_WORDS, PAIR_CLUSTER, cluster_primary, cluster_remote_dependent, queue_remote),
#if CUDART_VERSION >= 12080
    PAIR("preferred", SHAPE_WORDS, PAIR_CLUSTER, cluster_primary, cluster_dependent, queue_preferred),
#endif
};
IMAGE(cluster, cluster_pairs)
#endif
