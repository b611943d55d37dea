/* far.cu - the primary's words lie elsewhere than in the device's own memory. GPU only.
 *
 * pair     rules    what is special
 * managed  MEM-01b  in managed memory
 * peer     MEM-01b  in the memory of the next GPU; NOT_SUPPORTED with one GPU
 *
 * The kit poisons its own buffers only: a kernel in front of the primary poisons the trial's far words.
 */
#include "gpu_only.h"

#ifdef PDL_MODEL
IMAGE_WITHOUT_PAIRS(far)
#else

KERNEL(far_poison)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    for (i = k_block() * k_threads() + k_thread(); i < plan.words; i += k_threads() * k_blocks())
        k_store(args.data + i, words_poison(plan.batch_key, WORDS_POISON_DATA, plan.offset + i));
}

KERNEL(far_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(far_dependent) { reading_dependent(&args, WAITS); }

static cudaError_t allocate_managed(void **far, size_t bytes) { return cudaMallocManaged(far, bytes, cudaMemAttachGlobal); }

/* On the next GPU, which this one then reaches. */
static cudaError_t allocate_peer(void **far, size_t bytes)
{
    int here, count, there, reachable = 0;
    cudaError_t error;

    GPU_TRY(cudaGetDevice(&here));
    GPU_TRY(cudaGetDeviceCount(&count));
    there = (here + 1) % count;
    if (count > 1)
        GPU_TRY(cudaDeviceCanAccessPeer(&reachable, here, there));
    if (!reachable)
        return cudaErrorPeerAccessUnsupported;
    GPU_TRY(cudaSetDevice(there));
    error = cudaMalloc(far, bytes);
    GPU_TRY(cudaSetDevice(here));
    GPU_TRY(error);
    error = cudaDeviceEnablePeerAccess(there, 0);
    if (error != cudaErrorPeerAccessAlreadyEnabled)
        return error;
    (void)cudaGetLastError();
    return cudaSuccess;
}

struct places {                  /* far memory for each of the two buffers */
    char *base[2];
    void *far[2];
};

static cudaError_t find_place(struct places *places, cudaError_t (*allocate)(void **, size_t), uint32_t **data)
{
    struct whole whole;
    unsigned i;

    GPU_TRY(whole_of(*data, &whole));
    for (i = 0; i < 2; i++) {
        if (!places->base[i]) {
            GPU_TRY(allocate(&places->far[i], whole.bytes));
            places->base[i] = whole.base;
        }
        if (places->base[i] == whole.base) {
            *data = (uint32_t *)((char *)places->far[i] + ((char *)*data - whole.base));
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidDevicePointer; /* a third buffer */
}

static cudaError_t queue_far(const struct queue *queue, const struct trial_launch *trial, struct places *places,
                             cudaError_t (*allocate)(void **, size_t))
{
    struct trial_launch there = *trial;
    cudaStreamCaptureMode mode = relax();
    cudaError_t error = find_place(places, allocate, &there.args.data);

    unrelax(mode);
    GPU_TRY(error);
    GPU_TRY(launch_with(queue, &there, &queue->middle, 8, NULL, 0, 0));
    GPU_TRY(queue_primary(queue, &there, 0));
    return queue_dependent(queue, &there);
}

static cudaError_t queue_managed(const struct queue *queue, const struct trial_launch *trial)
{
    static struct places places;
    return queue_far(queue, trial, &places, allocate_managed);
}

static cudaError_t queue_peer(const struct queue *queue, const struct trial_launch *trial)
{
    static struct places places;
    return queue_far(queue, trial, &places, allocate_peer);
}

static const struct pair far_pairs[] = {
    PAIR_OF_THREE("managed", SHAPE_WORDS, 0, far_primary, far_poison, far_dependent, queue_managed),
    PAIR_OF_THREE("peer", SHAPE_WORDS, 0, far_primary, far_poison, far_dependent, queue_peer),
};
IMAGE(far, far_pairs)
#endif
