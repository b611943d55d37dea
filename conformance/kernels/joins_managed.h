/* joins_managed.h - the pair of joins.cu with managed memory, pieces of which one call moves or discards: "the batch as a whole executes in
 * stream order". What was moved is what it was; what was discarded is whatever is stored there next. */
#ifndef JOINS_MANAGED_H_INCLUDED
#define JOINS_MANAGED_H_INCLUDED

#define MANAGED_WAYS 2u

#if CUDART_VERSION >= 13000

#define MANAGED_PIECE ((size_t)1 << 16)
#define MANAGED_PIECES 3u      /* the words begin in the first one, or in the second one */

static uint32_t *managed_words(const struct joins *joins)
{
    return (uint32_t *)(void *)((char *)joins->managed + joins->round % 2 * MANAGED_PIECE);
}

static cudaError_t prepare_managed(struct joins *joins)
{
    prepare(joins, 1, 1);
    return joins->managed ? cudaSuccess : cudaMallocManaged(&joins->managed, MANAGED_PIECES * MANAGED_PIECE, cudaMemAttachGlobal);
}

static cudaError_t work_into_managed(struct joins *joins, cudaStream_t stream)
{
    struct kernel_args args = joins->work[0];

    args.data = managed_words(joins);
    return launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, stream, NULL, 0);
}

/* Every other one is a dependent that waits. */
static cudaError_t follow_in_managed(struct joins *joins, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = serialization(1);
    struct kernel_args args = joins->follower[0];
    int depends = joins->round / 2 % 2 != 0;

    args.data = managed_words(joins);
    return launch_one(depends ? (const void *)SYMBOL(AWAITING_FOLLOWER) : (const void *)SYMBOL(joins_follower), &args, PLACE_WORDS,
                      FOLLOWS_IN(joins, stream), &attribute, depends);
}

struct managed_pieces {        /* of different sizes, in either order */
    void *at[MANAGED_PIECES];
    size_t bytes[MANAGED_PIECES];
};

static struct managed_pieces cut_managed(const struct joins *joins)
{
    struct managed_pieces pieces;
    unsigned i;

    for (i = 0; i < MANAGED_PIECES; i++) {
        unsigned which = joins->round / 4 % 2 ? MANAGED_PIECES - 1 - i : i;
        pieces.at[i] = (char *)joins->managed + which * MANAGED_PIECE;
        pieces.bytes[i] = MANAGED_PIECE >> which;
    }
    return pieces;
}

/* The first piece goes to the host or the device, the others to the other one. */
static cudaError_t move_managed(const struct joins *joins, cudaStream_t stream)
{
    struct managed_pieces pieces = cut_managed(joins);
    struct cudaMemLocation to[2];
    size_t first[2] = { 0, 1 };
    unsigned host = joins->round / 8 % 2;
    cudaError_t error;

    memset(to, 0, sizeof(to));
    to[host].type = cudaMemLocationTypeHost;
    to[!host].type = cudaMemLocationTypeDevice;
    error = cudaGetDevice(&to[!host].id);
    return error == cudaSuccess ? cudaMemPrefetchBatchAsync(pieces.at, pieces.bytes, MANAGED_PIECES, to, first, 2, 0, stream) : error;
}

static cudaError_t discard_managed(struct joins *joins, cudaStream_t stream)
{
    struct managed_pieces pieces = cut_managed(joins);

    return cudaMemDiscardBatchAsync(pieces.at, pieces.bytes, MANAGED_PIECES, 0, stream);
}

static cudaError_t moved_between(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = prepare_managed(joins);

    if (error == cudaSuccess)
        error = work_into_managed(joins, stream);
    if (error == cudaSuccess)
        error = move_managed(joins, stream);
    return error == cudaSuccess ? follow_in_managed(joins, stream) : error;
}

/* After work elsewhere, and before a copy that stores the words. */
static cudaError_t discarded_before(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = prepare_managed(joins);

    store_fresh(joins->pinned, 0, joins->pinned->seen[1]);
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = discard_managed(joins, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(managed_words(joins), joins->pinned->seen[1], PLACE_WORDS * sizeof(uint32_t), cudaMemcpyDefault, stream);
    return error == cudaSuccess ? follow_in_managed(joins, stream) : error;
}

static void ask_managed(struct ask *ask)
{
    static const struct join joins[MANAGED_WAYS] = {
        { "stale after moves of managed memory", moved_between },
        { "stale in managed memory that was discarded before", discarded_before },
    };
    int device, concurrent = 0;

    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device) != cudaSuccess ||
        !concurrent)
        ask_unsupported(ask, "host and device cannot use managed memory at one time here");
    else
        ask_joins(ask, joins, MANAGED_WAYS, cudaStreamNonBlocking);
}

#else
static void ask_managed(struct ask *ask) { ask_unsupported(ask, "the toolkit is older than cudaMemPrefetchBatchAsync"); }
#endif

#endif
