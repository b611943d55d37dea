/* access.cu - further ways in which a primary stores and a dependent reads after its wait.
 *
 * pair        rules    what is special
 * relaxed     MEM-01   relaxed stores and relaxed loads, scope gpu
 * rewrite     MEM-01   the primary also stores, last, where the dependent stores its own words after the wait
 * domain      MEM-08   the primary is launched in the remote memory-sync domain
 * persisting  MEM-01   both launched with a window that asks the L2 to keep the words
 * read_only   MEM-02   lines read before the wait by the read-only path, and again by it after the wait
 * host        MEM-01   the words lie in pinned host memory
 * bulk_store  MEM-01   the primary stores by bulk copies from shared memory (asynchronous proxy)
 * bulk_load   MEM-01   the dependent reads by bulk copies into shared memory, without a proxy fence (B44)
 *
 * split       FWD-06   the dependent has static shared memory and the primary none (F29b)
 *
 * Mutant `hoist`: the dependent's words come from a load through the read-only path that stands before its wait, as a
 * compiler may place it (B28 to B32). Mutant `waw`: the dependent of rewrite stores its words before it waits (B35, B36).
 */
#include "copies.h"
#include "pair.h"
#include "visibility.h"

KERNEL(access_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(access_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
#ifdef MUTANT_hoist
    dependent_reads(&args, &plan, FORM_READ_ONLY, 0, plan.words);
#endif
    dependent_waits(&args, &plan);
#ifndef MUTANT_hoist
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
#endif
    dependent_finishes(&args);
}

KERNEL(access_relaxed_primary) { visibility_primary(&args, FORM_RELAXED); }

KERNEL(access_relaxed_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins_and_waits(&args, &plan);
    dependent_reads(&args, &plan, FORM_RELAXED, 0, plan.words);
    dependent_finishes(&args);
}

/* ---- rewrite: the last word is the dependent's ---- */

KERNEL(access_rewrite_primary) { visibility_primary(&args, FORM_REWRITE); }

KERNEL(access_rewrite_dependent)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t first, last, i, j;

    dependent_begins(&args);
    dependent_is_alive(&args);
#ifndef MUTANT_waw
    dependent_waits(&args, &plan);
#endif
    dependent_range(&plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        for (j = 0; j < 4; j++)
            k_store(args.seen + i + j, words_fresh(plan.key, i + j));
#ifdef MUTANT_waw
    dependent_waits(&args, &plan);
#endif
    dependent_finishes(&args);
}

/* ---- the read-only path, before and after the wait ---- */

KERNEL(access_read_only_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    plan.flags |= PLAN_READ_ONLY;
    dependent_reads_lines(&args, &plan);
    k_barrier();
    dependent_is_alive(&args);
    dependent_waits(&args, &plan);
    dependent_reads(&args, &plan, FORM_READ_ONLY, 0, plan.words);
    dependent_finishes(&args);
}

/* ---- bulk copies ---- */

#ifndef PDL_MODEL
#define BULK_WORDS 1024u

/* Static shared memory on both sides, or the SMs would have to change their split between them (F29b). */
struct bulk_room {
    uint64_t barrier;
    uint64_t unused;
    uint32_t words[BULK_WORDS];
};

DEVICE_FN void bulk_store(uint32_t *to, const uint32_t *from, uint32_t words)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(shared_address(from)), "r"(words * 4) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); /* read, not written: that is the wait's to cover */
}

DEVICE_FN void bulk_load(struct bulk_room *room, const uint32_t *from, uint32_t words)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(&room->barrier)), "r"(words * 4) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(shared_address(room->words)), "l"(from), "r"(words * 4), "r"(shared_address(&room->barrier))
                 : "memory");
}

KERNEL(access_bulk_store_primary)
{
    __shared__ __align__(16) struct bulk_room room;
    struct trial_plan plan = k_plan(&args);
    uint32_t last = k_first(plan.words, k_block() + 1, k_blocks());
    uint32_t i = k_first(plan.words, k_block(), k_blocks()), n, j;

    primary_begins(&args);
    primary_triggers(&plan);
    if (k_thread() == 0)
        primary_holds(&args, &plan);
    k_barrier();
    for (; i < last; i += n) {
        n = last - i < BULK_WORDS ? last - i : BULK_WORDS;
        for (j = k_thread(); j < n; j += k_threads())
            room.words[j] = words_fresh(plan.key, i + j);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        k_barrier();
        if (k_thread() == 0)
            bulk_store(args.data + i, room.words, n);
        k_barrier();
    }
}

/* The same room, so that both sides ask for the same shared memory. */
KERNEL(access_roomy_primary)
{
    __shared__ __align__(16) struct bulk_room room;

    takes_room(&room.barrier);
    visibility_primary(&args, FORM_PLAIN);
    keeps_room(&args, &room.barrier);
}

KERNEL(access_roomy_dependent)
{
    __shared__ __align__(16) struct bulk_room room;
    struct trial_plan plan = k_plan(&args);

    takes_room(&room.barrier);
    dependent_begins_and_waits(&args, &plan);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
    keeps_room(&args, &room.barrier);
}

KERNEL(access_bulk_load_dependent)
{
    __shared__ __align__(16) struct bulk_room room;
    struct trial_plan plan = k_plan(&args);
    uint32_t first, last, i, n, j, phase = 0;

    opens_room(&room.barrier);
    dependent_begins_and_waits(&args, &plan);
    dependent_range(&plan, &first, &last);
    for (i = first; i < last; i += n) {
        n = last - i < BULK_WORDS ? last - i : BULK_WORDS;
        if (k_thread() == 0)
            bulk_load(&room, args.data + i, n);
        if (!copy_arrives(args.state, &room.barrier, phase))
            break;
        phase ^= 1;
        for (j = k_thread(); j < n; j += k_threads())
            k_store(args.seen + i + j, room.words[j]);
        k_barrier();
    }
    dependent_finishes(&args);
}
#endif

/* ---- queueing ---- */

/* The most bytes that a window may have, 0 where there are no windows. Without a share of the L2 set aside a window asks for nothing;
 * a device that has none to give (MIG) runs on without. Both once. */
static size_t set_l2_aside(void)
{
#ifndef PDL_MODEL
    static int done, window;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    int device, most;

    if (done)
        return (size_t)window;
    done = 1;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, device) != cudaSuccess ||
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most) != cudaSuccess)
        (void)cudaGetLastError();
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return (size_t)window;
#else
    return SIZE_MAX;
#endif
}

static cudaError_t queue_persisting(const struct queue *queue, const struct trial_launch *trial)
{
    cudaLaunchAttribute window = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    size_t most = set_l2_aside();
    cudaError_t error;

    window.id = cudaLaunchAttributeAccessPolicyWindow;
    window.val.accessPolicyWindow.base_ptr = trial->args.data;
    window.val.accessPolicyWindow.num_bytes = trial->words * 4 < most ? trial->words * 4 : most;
    window.val.accessPolicyWindow.hitRatio = 1.0f;
    window.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    options.attrs = &window;
    options.num_attrs = most != 0;
    error = queue_primary_with(queue, trial, &options);
    options.overlap = PDL_OVERLAP_REQUIRED;
    return error == cudaSuccess ? queue_dependent_with(queue, trial, queue->stream, &options) : error;
}

#ifndef PDL_MODEL
/* The same split of the SM's memory on both sides, with room for both (F29b). */
static cudaError_t queue_roomy(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    options.carveout = queue_full_carveout();
    error = queue_primary_with(queue, trial, &options);
    options.overlap = PDL_OVERLAP_REQUIRED;
    return error == cudaSuccess ? queue_dependent_with(queue, trial, queue->stream, &options) : error;
}
#endif

static const struct pair access_pairs[] = {
    PAIR("relaxed", SHAPE_WORDS, 0, access_relaxed_primary, access_relaxed_dependent, queue_pair),
    PAIR("rewrite", SHAPE_WORDS, 0, access_rewrite_primary, access_rewrite_dependent, queue_pair),
    PAIR("domain", SHAPE_WORDS, PAIR_BESIDE, access_primary, access_dependent, queue_domain),
    PAIR("persisting", SHAPE_WORDS, PAIR_BESIDE, access_primary, access_dependent, queue_persisting),
    PAIR("read_only", SHAPE_WORDS, PAIR_LINES, access_primary, access_read_only_dependent, queue_pair),
    PAIR("host", SHAPE_WORDS, PAIR_HOST, access_primary, access_dependent, queue_pair),
#ifndef PDL_MODEL
    PAIR("bulk_store", SHAPE_WORDS, 0, access_bulk_store_primary, access_roomy_dependent, queue_roomy),
    PAIR("bulk_load", SHAPE_WORDS, 0, access_roomy_primary, access_bulk_load_dependent, queue_roomy),
    PAIR("split", SHAPE_WORDS, 0, access_primary, access_roomy_dependent, queue_pair),
#endif
};
IMAGE(access, access_pairs)
