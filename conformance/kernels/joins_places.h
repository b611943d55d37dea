/* joins_places.h - the pair of joins.cu with words that lie in memory of other kinds than most of the kit's: allocated by a stream,
 * managed, written in passing by the host, registered, or mapped anew where other memory was. Work stores there late, and the follower
 * reads there. In memory like others it is a copy from one device to another, which is the same. */
#ifndef JOINS_PLACES_H_INCLUDED
#define JOINS_PLACES_H_INCLUDED

#include <stdlib.h>

enum lie { LIE_PLAIN, LIE_POOLED, LIE_MANAGED, LIE_COMBINED, LIE_REGISTERED, LIES };
#define LIE_BYTES 4096u
#define MAPPED_TWICE 2u        /* pieces of memory, by turns at one address */

struct lying {
    uint32_t *at;              /* as the device names it */
    void *host;                /* what is registered, or was allocated by the host */
    char *registered;          /* whole pages of it */
};
static struct lying lying_in[LIES]; /* until all is asked: to make and to free it takes longer than a trial */

/* Not before the first trial that asks for it. The model has no memory but its own. */
static cudaError_t make_lying(struct lying *l, enum lie lie, cudaStream_t stream)
{
    cudaError_t error = cudaErrorNotSupported;

    if (lie == LIE_POOLED && !pools_lack()) {
        error = cudaMallocAsync((void **)&l->at, LIE_BYTES, stream);
        return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
    }
    if (lie == LIE_POOLED)
        return error;
    if (lie == LIE_PLAIN)
        return cudaMalloc((void **)&l->at, LIE_BYTES);
    if (lie == LIE_MANAGED)
        return cudaMallocManaged((void **)&l->at, LIE_BYTES, cudaMemAttachGlobal);
    if (lie == LIE_COMBINED)
        error = cudaHostAlloc(&l->host, LIE_BYTES, cudaHostAllocMapped | cudaHostAllocWriteCombined);
#ifndef PDL_MODEL
    if (lie == LIE_REGISTERED) {
        char *p = (char *)malloc(2 * LIE_BYTES);

        l->host = p;
        if (!p)
            return cudaErrorMemoryAllocation;
        l->registered = p + (LIE_BYTES - (uintptr_t)p % LIE_BYTES) % LIE_BYTES;
        error = cudaHostRegister(l->registered, LIE_BYTES, cudaHostRegisterMapped);
    }
#endif
    return error == cudaSuccess ? cudaHostGetDevicePointer((void **)&l->at, l->registered ? l->registered : l->host, 0) : error;
}

static void end_lying(struct lying *l, enum lie lie)
{
    if (lie <= LIE_MANAGED && l->at)
        (void)cudaFree(l->at);
#ifndef PDL_MODEL
    if (lie == LIE_REGISTERED) {
        if (l->at)
            (void)cudaHostUnregister(l->registered);
        free(l->host);
    }
#endif
    if (lie == LIE_COMBINED && l->host)
        (void)cudaFreeHost(l->host);
    memset(l, 0, sizeof(*l));
}

/* ---- followers ---- */

enum lie_follower { LIE_KERNEL, LIE_DEPENDENT, LIE_EVENT, LIE_COPY };
#define LIE_READERS 3u         /* that are kernels: a driver is known whose copies read pinned memory too early (COMP-04d) */

/* "Copies memory from one device to memory on another device": within one, it is a copy like others. */
static cudaError_t copy_as_peer(struct joins *joins, const uint32_t *from, cudaStream_t stream)
{
    struct kernel_args args = joins->follower[0];
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    args.data = joins->aside;
    if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(joins->aside, device, from, device, PLACE_WORDS * sizeof(uint32_t), FOLLOWS_IN(joins, stream));
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_follower), &args, PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0) : error;
}

static cudaError_t follow_there(struct joins *joins, uint32_t *at, enum lie_follower by, cudaStream_t stream)
{
    struct kernel_args *args = &joins->follower[0];
    cudaLaunchAttribute attribute = serialization(1);

    switch (by) {
    case LIE_DEPENDENT:
        return launch_one((const void *)SYMBOL(joins_early_follower), args, PLACE_WORDS, FOLLOWS_IN(joins, stream), &attribute, 1);
    case LIE_COPY:
        return cudaMemcpyAsync(joins->pinned->seen[0], at, PLACE_WORDS * sizeof(uint32_t), cudaMemcpyDefault, FOLLOWS_IN(joins, stream));
    default: return launch_one((const void *)SYMBOL(joins_follower), args, PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0);
    }
}

/* at: where words of nobody lie. */
static cudaError_t work_there(struct joins *joins, uint32_t *at, enum lie_follower by)
{
    cudaStream_t stream = joins->stream[by == LIE_EVENT];
    struct kernel_args args = joins->work[0], read = joins->follower[0];
    cudaEvent_t event = NULL;
    cudaError_t error = open_aside(joins);

    args.data = joins->follower[0].data = at;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = put_words(at, joins->pinned->words, PLACE_WORDS);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, joins->stream[0], NULL, 0);
    if (error == cudaSuccess && by == LIE_EVENT)
        error = record_and_await(event, joins->stream[0], stream);
    if (error == cudaSuccess)
        error = follow_there(joins, at, by, stream);
    joins->follower[0] = read;
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* A copy from one device to another comes after the work in its own stream, or wherever else that stands. */
static cudaError_t copy_behind_work(struct joins *joins, uint32_t *at)
{
    struct kernel_args args = joins->work[0];
    cudaStream_t stream = NULL, blocking = NULL;
    cudaError_t error = open_aside(joins);

    args.data = at;
    if (error == cudaSuccess)
        error = put_words(at, joins->pinned->words, PLACE_WORDS);
    if (error == cudaSuccess)
        error = work_before(joins, (enum standing)(joins->round % STANDINGS), &args, &blocking, &stream);
    if (error == cudaSuccess)
        error = copy_as_peer(joins, at, stream);
    close_kind(&blocking); /* its work goes on */
    return error;
}

/* What a device does not offer is not asked. */
static cudaError_t lie_in(struct joins *joins, enum lie lie)
{
    struct lying *l = &lying_in[lie];
    cudaError_t error = l->at ? cudaSuccess : make_lying(l, lie, joins->stream[0]);

    prepare(joins, 1, 1);
    if (error != cudaSuccess)
        end_lying(l, lie);
    if (is_unoffered(error) || (lie == LIE_REGISTERED && error != cudaSuccess)) { /* how much may be registered is not the device's choice */
        joins->unasked = 1;
        error = whatever(error);
    } else if (error == cudaSuccess) {
        if (lie == LIE_PLAIN)
            return copy_behind_work(joins, l->at);
        error = work_there(joins, l->at, (enum lie_follower)(joins->round % (LIE_READERS + (lie == LIE_MANAGED))));
    }
    return error;
}

static cudaError_t lie_plainly(struct joins *joins) { return lie_in(joins, LIE_PLAIN); }
static cudaError_t lie_pooled(struct joins *joins) { return lie_in(joins, LIE_POOLED); }
static cudaError_t lie_managed(struct joins *joins) { return lie_in(joins, LIE_MANAGED); }
static cudaError_t lie_combined(struct joins *joins) { return lie_in(joins, LIE_COMBINED); }
static cudaError_t lie_registered(struct joins *joins) { return lie_in(joins, LIE_REGISTERED); }

/* ---- mapped anew ---- */

#ifdef PDL_MODEL
static cudaError_t lie_mapped(struct joins *joins)
{
    prepare(joins, 1, 1);
    joins->unasked = 1;
    return cudaSuccess;
}
#else
struct mapping {
    CUdeviceptr at;
    size_t bytes;
    CUmemGenericAllocationHandle piece[MAPPED_TWICE];
    CUmemAllocationProp of;
    void *reserve, *create, *map, *access, *unmap, *release, *leave, *granularity;
};

static cudaError_t find_mapping(struct mapping *m)
{
    static const char *const names[] = { "cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemUnmap", "cuMemRelease",
                                         "cuMemAddressFree", "cuMemGetAllocationGranularity" };
    void **const functions[] = { &m->reserve, &m->create, &m->map, &m->access, &m->unmap, &m->release, &m->leave, &m->granularity };
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]) && error == cudaSuccess; i++)
        error = driver_function(names[i], 10020, functions[i]);
    return error;
}

static cudaError_t open_mapping(struct mapping *m)
{
    typedef CUresult(CUDAAPI * create_fn)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    int device = 0;
    unsigned i;
    cudaError_t error = cudaGetDevice(&device);

    m->of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    m->of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    m->of.location.id = device;
    if (error == cudaSuccess)
        error = find_mapping(m);
    if (error == cudaSuccess)
        error = (cudaError_t)((CUresult(CUDAAPI *)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags))m->granularity)(
            &m->bytes, &m->of, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (error == cudaSuccess)
        error = (cudaError_t)((CUresult(CUDAAPI *)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))m->reserve)(
            &m->at, m->bytes, 0, 0, 0);
    for (i = 0; i < MAPPED_TWICE && error == cudaSuccess; i++)
        error = (cudaError_t)((create_fn)m->create)(&m->piece[i], m->bytes, &m->of, 0);
    return error;
}

/* The words of this piece, which nobody uses before the call has returned. */
static cudaError_t map_piece(const struct mapping *m, unsigned piece)
{
    CUmemAccessDesc access = PDL_ZERO;
    cudaError_t error = (cudaError_t)((CUresult(CUDAAPI *)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))m->map)(
        m->at, m->bytes, 0, m->piece[piece], 0);

    access.location = m->of.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (error != cudaSuccess)
        return error;
    return (cudaError_t)((CUresult(CUDAAPI *)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))m->access)(m->at, m->bytes, &access, 1);
}

/* Once all work that uses it has ended. */
static cudaError_t unmap_piece(const struct mapping *m)
{
    return (cudaError_t)((CUresult(CUDAAPI *)(CUdeviceptr, size_t))m->unmap)(m->at, m->bytes);
}

static void close_mapping(const struct mapping *m)
{
    unsigned i;

    for (i = 0; i < MAPPED_TWICE; i++)
        if (m->piece[i])
            (void)((CUresult(CUDAAPI *)(CUmemGenericAllocationHandle))m->release)(m->piece[i]);
    if (m->at)
        (void)((CUresult(CUDAAPI *)(CUdeviceptr, size_t))m->leave)(m->at, m->bytes);
}

/* Both pieces in turn are read by a kernel, then the first one again, which holds what was stored when it was there before. */
static cudaError_t work_mapped(struct joins *joins, const struct mapping *m)
{
    struct pinned *pinned = joins->pinned;
    uint32_t *at = (uint32_t *)(uintptr_t)m->at;
    struct kernel_args read = joins->follower[0];
    cudaError_t error = map_piece(m, 0), end;
    unsigned turn;

    for (turn = 0; turn < 3 && error == cudaSuccess; turn++) {
        if (turn == 1) /* what is there is other than what the first piece holds */
            error = put_words(at, pinned->words, PLACE_WORDS);
        read.data = at;
        read.seen = joins->follower[turn].seen;
        if (error == cudaSuccess)
            error = turn == 0 ? work_there(joins, at, (enum lie_follower)(joins->round % (LIE_COPY + 1)))
                              : launch_one((const void *)SYMBOL(joins_follower), &read, PLACE_WORDS, joins->stream[0], NULL, 0);
        end = cudaDeviceSynchronize();
        error = error == cudaSuccess ? end : error;
        end = unmap_piece(m);
        error = error == cudaSuccess ? end : error;
        if (turn < 2 && error == cudaSuccess)
            error = map_piece(m, 1 - turn);
    }
    pinned->host_is_stale = differs(pinned, pinned->seen[2], PLACE_WORDS) ||
                            memcmp(pinned->seen[1], pinned->words, PLACE_WORDS * sizeof(uint32_t)) != 0;
    return error;
}

static cudaError_t lie_mapped(struct joins *joins)
{
    struct mapping m = PDL_ZERO;
    cudaError_t error = open_mapping(&m);

    prepare(joins, 1, 1);
    if (is_unoffered(error) || error == cudaErrorSymbolNotFound) {
        joins->unasked = 1;
        error = whatever(error);
    } else if (error == cudaSuccess) {
        error = work_mapped(joins, &m);
    }
    close_mapping(&m);
    return error;
}
#endif

static void ask_places(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a copy from one device to another, which is the same", lie_plainly },
        { "stale in memory that a stream allocated", lie_pooled },
        { "stale in managed memory", lie_managed },
        { "stale in write-combined memory", lie_combined },
        { "stale in registered memory", lie_registered },
        { "stale where memory was mapped anew", lie_mapped },
    };

    unsigned i;

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
    for (i = 0; i < LIES; i++)
        end_lying(&lying_in[i], (enum lie)i);
}

#endif
