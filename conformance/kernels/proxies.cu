/* proxies.cu - what the dependent reads, or the primary stores, by other ways than loads and stores. GPU only.
 *
 * pair           rules    what is special
 * texture        MEM-01d  the dependent reads through a texture, after its wait
 * texture_lines  MEM-02   the same, and it read its lines through the texture before the wait, too
 * tensor_load    MEM-01d  the dependent reads by a tensor map (TMA) without a proxy fence (B44)
 * tensor_store   MEM-01d  the primary stores by a tensor map
 * rewritten      MEM-07   the primary rewrites, last, the tensor map that the dependent reads by; a proxy fence stands
 *                         after the dependent's wait
 */
#include "copies.h"
#include "gpu_only.h"

#ifdef PDL_MODEL
IMAGE_WITHOUT_PAIRS(proxies)
#else

KERNEL(proxies_primary) { visibility_primary(&args, FORM_PLAIN); }

/* ---- textures over a whole buffer ---- */

DEVICE_FN uint32_t texture_word(cudaTextureObject_t texture, uint32_t index)
{
    uint32_t texel[4]; /* the first is the word */
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(texel[0]), "=r"(texel[1]), "=r"(texel[2]), "=r"(texel[3]) : "l"(texture), "r"(index) : "memory");
    return texel[0];
}

DEVICE_FN void reads_texture(const struct kernel_args *args, const struct trial_plan *plan, cudaTextureObject_t texture, int keep)
{
    uint32_t first, last, i, j, sum = 0;

    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        for (j = 0; j < 4; j++) {
            uint32_t word = texture_word(texture, plan->offset + i + j);
            if (keep)
                k_store(args->seen + i + j, word);
            sum += word;
        }
    if (sum == 0x5EED5EEDu) /* keeps the reads: whoever removes this removes the test */
        k_add(&args->state->left, 1);
}

KERNEL_WITH(proxies_texture_dependent, cudaTextureObject_t texture)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins_and_waits(&args, &plan);
    reads_texture(&args, &plan, texture, 1);
    dependent_finishes(&args);
}

KERNEL_WITH(proxies_texture_lines_dependent, cudaTextureObject_t texture)
{
    struct trial_plan plan = k_plan(&args);

    reads_texture(&args, &plan, texture, 0);
    k_barrier();
    dependent_begins_and_waits(&args, &plan);
    reads_texture(&args, &plan, texture, 1);
    dependent_finishes(&args);
}

static cudaError_t make_texture(const struct whole *whole, cudaTextureObject_t *texture)
{
    struct cudaResourceDesc what = PDL_ZERO;
    struct cudaTextureDesc how = PDL_ZERO;

    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = whole->base;
    what.res.linear.sizeInBytes = whole->bytes;
    what.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    how.readMode = cudaReadModeElementType;
    return cudaCreateTextureObject(texture, &what, &how, NULL);
}

/* The texture of the buffer that holds these words; there are two buffers. */
static cudaError_t texture_of(const uint32_t *data, cudaTextureObject_t *texture)
{
    static struct { char *base; cudaTextureObject_t texture; } made[2];
    struct whole whole;
    unsigned i;

    GPU_TRY(whole_of(data, &whole));
    for (i = 0; i < 2; i++) {
        if (!made[i].base) {
            GPU_TRY(make_texture(&whole, &made[i].texture));
            made[i].base = whole.base;
        }
        if (made[i].base == whole.base) {
            *texture = made[i].texture;
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidTexture; /* a third buffer */
}

static cudaError_t queue_texture(const struct queue *queue, const struct trial_launch *trial)
{
    cudaStreamCaptureMode mode = relax();
    cudaTextureObject_t texture = 0;
    cudaError_t error = texture_of(trial->args.data, &texture);

    unrelax(mode);
    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    return error == cudaSuccess ? launch_dependent_with(queue, trial, &texture, 0) : error;
}

/* ---- tensor maps over a whole buffer: one dimension, boxes of 32 words ---- */

#define BOX_WORDS 32u        /* a trial's place in the buffers is a multiple of this */
#define ROOM_WORDS 1024u
#define DECOY_SHIFT 32u      /* words by which the decoy map is off */

struct tensor_room {
    uint32_t words[ROOM_WORDS]; /* 128-byte aligned: what a tensor copy needs */
    uint64_t barrier;
};

struct maps {                /* of one trial's data */
    CUtensorMap real, decoy;
};

/* One thread asks for `boxes` boxes from word `at` of the buffer on. */
DEVICE_FN void tensor_load(struct tensor_room *room, const void *map, uint32_t at, uint32_t boxes)
{
    uint32_t barrier = shared_address(&room->barrier), i;

    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(boxes * BOX_WORDS * 4) : "memory");
    for (i = 0; i < boxes; i++)
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                     :: "r"(shared_address(room->words + i * BOX_WORDS)), "l"(map), "r"(at + i * BOX_WORDS), "r"(barrier) : "memory");
}

DEVICE_FN void reads_tensor(const struct kernel_args *args, const struct trial_plan *plan, struct tensor_room *room, const void *map)
{
    uint32_t first, last, i, n, j, phase = 0;

    dependent_range(plan, &first, &last);
    for (i = first; i < last; i += n) {
        n = last - i < ROOM_WORDS ? last - i : ROOM_WORDS;
        if (k_thread() == 0)
            tensor_load(room, map, plan->offset + i, (n + BOX_WORDS - 1) / BOX_WORDS);
        if (!copy_arrives(args->state, &room->barrier, phase))
            return;
        phase ^= 1;
        for (j = k_thread(); j < n; j += k_threads())
            k_store(args->seen + i + j, room->words[j]);
        k_barrier();
    }
}

KERNEL_WITH(proxies_tensor_load_dependent, const __grid_constant__ struct maps maps)
{
    __shared__ __align__(128) struct tensor_room room;
    struct trial_plan plan = k_plan(&args);

    opens_room(&room.barrier);
    dependent_begins_and_waits(&args, &plan);
    reads_tensor(&args, &plan, &room, &maps.real);
    dependent_finishes(&args);
}

/* Whole boxes: where two blocks store the same word, it is the same word; after the last one lies nothing. */
DEVICE_FN void tensor_stores(const struct kernel_args *args, const struct trial_plan *plan, struct tensor_room *room, const void *map)
{
    uint32_t last = k_first(plan->words, k_block() + 1, k_blocks());
    uint32_t i = k_first(plan->words, k_block(), k_blocks()), n, j;

    (void)args;
    for (i = i < last ? i / BOX_WORDS * BOX_WORDS : last; i < last; i += ROOM_WORDS) {
        n = last - i < ROOM_WORDS ? (last - i + BOX_WORDS - 1) / BOX_WORDS : ROOM_WORDS / BOX_WORDS;
        for (j = k_thread(); j < n * BOX_WORDS; j += k_threads())
            room->words[j] = words_fresh(plan->key, i + j);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        k_barrier();
        for (j = 0; k_thread() == 0 && j < n; j++)
            asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];"
                         :: "l"(map), "r"(plan->offset + i + j * BOX_WORDS), "r"(shared_address(room->words + j * BOX_WORDS))
                         : "memory");
        if (k_thread() == 0) {
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); /* read, not written: that is the wait's to cover */
        }
        k_barrier();
    }
}

KERNEL_WITH(proxies_tensor_store_primary, const __grid_constant__ struct maps maps)
{
    __shared__ __align__(128) struct tensor_room room;
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    primary_triggers(&plan);
    if (k_thread() == 0)
        primary_holds(&args, &plan);
    k_barrier();
    tensor_stores(&args, &plan, &room, &maps.real);
}

/* Static shared memory as the other side has it. */
KERNEL(proxies_roomy_primary)
{
    __shared__ __align__(128) struct tensor_room room;

    takes_room(&room.barrier);
    visibility_primary(&args, FORM_PLAIN);
    keeps_room(&args, &room.barrier);
}

KERNEL(proxies_roomy_dependent)
{
    __shared__ __align__(128) struct tensor_room room;
    struct trial_plan plan = k_plan(&args);

    takes_room(&room.barrier);
    dependent_begins_and_waits(&args, &plan);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
    keeps_room(&args, &room.barrier);
}

/* ---- rewritten: the map lies in the trial's scratch words; first the decoy, off by DECOY_SHIFT, then the real one ---- */

/* By eight threads at once, 16 bytes each: a reader that does not wait finds the one or the other. */
DEVICE_FN void stores_map(const struct kernel_args *args, const CUtensorMap *map)
{
    const uint32_t *words = (const uint32_t *)map;
    uint32_t part[4], j;

    if (k_block() != 0 || k_thread() >= sizeof(*map) / 16)
        return;
    for (j = 0; j < 4; j++)
        part[j] = words[k_thread() * 4 + j];
    k_store4(args->input + k_thread() * 4, part);
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}

KERNEL_WITH(proxies_decoy, const __grid_constant__ struct maps maps) { stores_map(&args, &maps.decoy); }

KERNEL_WITH(proxies_rewriting_primary, const __grid_constant__ struct maps maps)
{
    __shared__ __align__(128) struct tensor_room room;

    takes_room(&room.barrier);
    visibility_primary(&args, FORM_PLAIN);
    stores_map(&args, &maps.real);
    keeps_room(&args, &room.barrier);
}

KERNEL(proxies_rewritten_dependent)
{
    __shared__ __align__(128) struct tensor_room room;
    struct trial_plan plan = k_plan(&args);

    opens_room(&room.barrier);
    dependent_begins_and_waits(&args, &plan);
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(args.input) : "memory");
    reads_tensor(&args, &plan, &room, args.input);
    dependent_finishes(&args);
}

static cudaError_t encode(CUtensorMap *map, char *base, size_t bytes)
{
    typedef CUresult (CUDAAPI *encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                                          const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static encode_fn encode_tiled;
    cuuint64_t size[1] = { bytes / 4 }, stride[1] = { 16 }; /* one dimension has no stride; the array may not be missing */
    cuuint32_t box[1] = { BOX_WORDS }, step[1] = { 1 };

    if (!encode_tiled) {
        void *function;
        GPU_TRY(driver_function("cuTensorMapEncodeTiled", 12000, &function));
        encode_tiled = (encode_fn)function;
    }
    return encode_tiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 1, base, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
               ? cudaSuccess : cudaErrorInvalidValue;
}

/* The maps of the buffer that holds these words; there are two buffers. */
static cudaError_t maps_of(const uint32_t *data, struct maps **maps)
{
    static struct { char *base; struct maps maps; } made[2];
    struct whole whole;
    unsigned i;

    GPU_TRY(whole_of(data, &whole));
    for (i = 0; i < 2; i++) {
        if (!made[i].base) {
            GPU_TRY(encode(&made[i].maps.real, whole.base, whole.bytes));
            GPU_TRY(encode(&made[i].maps.decoy, whole.base + DECOY_SHIFT * 4, whole.bytes - DECOY_SHIFT * 4));
            made[i].base = whole.base;
        }
        if (made[i].base == whole.base) {
            *maps = &made[i].maps;
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidResourceHandle; /* a third buffer */
}

static cudaError_t queue_tensor(const struct queue *queue, const struct trial_launch *trial)
{
    struct maps *maps = NULL;

    GPU_TRY(maps_of(trial->args.data, &maps));
    GPU_TRY(launch_primary_with(queue, trial, maps, queue_full_carveout()));
    return launch_dependent_with(queue, trial, maps, queue_full_carveout());
}

static cudaError_t queue_rewritten(const struct queue *queue, const struct trial_launch *trial)
{
    struct maps *maps = NULL;

    GPU_TRY(maps_of(trial->args.data, &maps));
    GPU_TRY(launch_with(queue, trial, &queue->middle, 1, maps, 0, queue_full_carveout()));
    GPU_TRY(launch_primary_with(queue, trial, maps, queue_full_carveout()));
    return launch_dependent_with(queue, trial, maps, queue_full_carveout());
}

static const struct pair proxies_pairs[] = {
    PAIR("texture", SHAPE_WORDS, 0, proxies_primary, proxies_texture_dependent, queue_texture),
    PAIR("texture_lines", SHAPE_WORDS, PAIR_LINES, proxies_primary, proxies_texture_lines_dependent, queue_texture),
    PAIR("tensor_load", SHAPE_WORDS, 0, proxies_roomy_primary, proxies_tensor_load_dependent, queue_tensor),
    PAIR("tensor_store", SHAPE_WORDS, 0, proxies_tensor_store_primary, proxies_roomy_dependent, queue_tensor),
    PAIR_OF_THREE("rewritten", SHAPE_WORDS, 0, proxies_rewriting_primary, proxies_decoy, proxies_rewritten_dependent, queue_rewritten),
};
IMAGE(proxies, proxies_pairs)
#endif
