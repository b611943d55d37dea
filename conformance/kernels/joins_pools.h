/* joins_pools.h - the pair of joins.cu with memory that is allocated and freed in the order of streams: who gets memory that was used before must
 * not begin before its last use has ended, or else late stores lie over what the new user stored. */
#ifndef JOINS_POOLS_H_INCLUDED
#define JOINS_POOLS_H_INCLUDED

#define POOL_WAYS 9u
#define POOL_BYTES (PLACE_WORDS * sizeof(uint32_t))

/* Stores at once. */
DEVICE_FN void fill_words(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);

    if (k_thread() == 0)
        k_store_relaxed(&args->state->alive, 1);
    if (waits)
        k_wait_device();
    k_store(args->data + k_thread(), words_fresh(plan.key, k_thread()));
}

KERNEL(joins_fills) { fill_words(&args, 0); }
KERNEL(joins_waits_and_fills) { fill_words(&args, 1); }

/* What happens between the end of the memory's first use and its second one: the stream that freed it is asked whether it has ended, is
 * destroyed, or waits for an event; the host waits for a stream or an event that have nothing to do with it, allocates other memory or
 * has what graphs keep given back, at which a pool gives back what nobody uses; or the stream that takes it waits for an event of the
 * stream of its first use: one that was recorded before that, or one that the launch of that use records as it triggers, for which the host may
 * wait as well, or begins; or for one of other work that is queued after the free, and ends before that use. */
enum since { SINCE_NOTHING, SINCE_POLLED, SINCE_DESTROYED, SINCE_WAITS, SINCE_SYNC, SINCE_EVENT, SINCE_MALLOC, SINCE_GRAPH_TRIM, SINCES,
             SINCE_OLDER = SINCES, SINCE_NEWER };
#define SINCE_HOLD_NS 40000u   /* longer than the host takes for that */
#define SINCE_LONG_NS 150000u  /* ... if it is long */
#define SINCE_BYTES (1u << 21) /* which an allocator asks the system for */
/* Who takes it: the stream that freed it, a dependent there, another stream, one that waits for an event after the free, another host thread in such
 * a stream, or the stream that had allocated it first, while another one used and freed it. */
enum taker { TAKER_SAME, TAKER_DEPENDENT, TAKER_OTHER, TAKER_AFTER_EVENT, TAKER_THREAD, TAKER_OWNER, TAKERS };
static const char *const taker_name[TAKERS] = { "allocated again", "allocated again for a dependent", "allocated elsewhere",
                                                "allocated after an event", "allocated in another host thread",
                                                "allocated by its first owner" };

/* Whose the memory is: the device's pool's; one's that was made, as it is or without one of the ways to give memory again; of such a one that is
 * trimmed, or destroyed, once the memory is freed. */
enum own_pool { POOL_OF_DEVICE, POOL_MADE, POOL_NO_EVENTS, POOL_NO_CHANCE, POOL_NO_DEPENDENCIES, POOL_TRIMMED, POOL_DESTROYED };

struct pool_use {              /* of the memory by the work, and then by who stores at once */
    struct joins *joins;
    enum taker taker;
    int by_launch;             /* the event that the taker, or the host, waits for is the one of the work's own launch */
    int apart;                 /* TAKER_THREAD: each of the two host threads uses its own per-thread stream alone */
    size_t bytes;
    cudaStream_t first, works, frees, takes; /* first: allocates it; works: uses it */
    cudaEvent_t event, older;
    uint32_t *old, *fresh;
    void *other;               /* allocated meanwhile */
    enum own_pool kind;
    cudaMemPool_t pool;        /* NULL: the device's */
    struct kernel_args args;   /* of the work */
    cudaError_t error;         /* of the second use */
};

/* It keeps what it has: to give that back at each synchronization takes long. */
static cudaError_t make_pool(cudaMemPool_t *pool, enum own_pool kind)
{
    cuuint64_t keeps = ~(cuuint64_t)0;
    struct cudaMemPoolProps props = PDL_ZERO;
    int off = 0;
    cudaError_t error = cudaGetDevice(&props.location.id);

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    if (error == cudaSuccess)
        error = cudaMemPoolCreate(pool, &props);
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keeps);
    if (error == cudaSuccess && kind == POOL_NO_EVENTS)
        error = cudaMemPoolSetAttribute(*pool, cudaMemPoolReuseFollowEventDependencies, &off);
    if (error == cudaSuccess && kind == POOL_NO_CHANCE)
        error = cudaMemPoolSetAttribute(*pool, cudaMemPoolReuseAllowOpportunistic, &off);
    if (error == cudaSuccess && kind == POOL_NO_DEPENDENCIES)
        error = cudaMemPoolSetAttribute(*pool, cudaMemPoolReuseAllowInternalDependencies, &off);
    return error;
}

/* A trial that destroys its pool makes one. Of the other trials every third one uses the device's own pool. */
static cudaError_t open_pool(struct pool_use *use)
{
    cudaMemPool_t *made = use->joins->pool;
    cudaError_t error = cudaSuccess;

    if (use->kind == POOL_DESTROYED)
        return make_pool(&use->pool, use->kind);
    use->kind = drawn(use->joins, 16, 3) ? (enum own_pool)(1 + drawn(use->joins, 17, POOL_DESTROYED - 1)) : POOL_OF_DEVICE;
    if (use->kind == POOL_OF_DEVICE)
        return cudaSuccess;
    made += use->kind == POOL_TRIMMED ? 0 : use->kind - POOL_MADE;
    if (!*made)
        error = make_pool(made, use->kind);
    use->pool = *made;
    return error;
}

/* By name, or as the device's pool of the moment. */
static cudaError_t take_from_pool(struct pool_use *use, uint32_t **memory, cudaStream_t stream)
{
    cudaMemPool_t devices;
    int device = 0;
    cudaError_t error, end;

    if (!use->pool)
        return cudaMallocAsync((void **)memory, use->bytes, stream);
    if (drawn(use->joins, 18, 2))
        return cudaMallocFromPoolAsync((void **)memory, use->bytes, use->pool, stream);
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetDefaultMemPool(&devices, device);
    if (error != cudaSuccess)
        return error;
    error = cudaDeviceSetMemPool(device, use->pool);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)memory, use->bytes, stream);
    end = cudaDeviceSetMemPool(device, devices);
    return error == cudaSuccess ? end : error;
}

/* What becomes of the pool once the memory is freed: "the resources associated with the pool will be released automatically once there are no more
 * outstanding allocations", and free operations count as such until they complete. */
static cudaError_t leave_pool(struct pool_use *use)
{
    cudaError_t error = cudaSuccess;

    if (use->kind == POOL_TRIMMED)
        error = cudaMemPoolTrimTo(use->pool, 0);
    if (use->kind == POOL_DESTROYED) {
        error = cudaMemPoolDestroy(use->pool);
        use->pool = NULL;
    }
    return error;
}

static cudaError_t open_use(struct pool_use *use)
{
    static const size_t times[] = { 1, 64, 2048 }; /* up to 128 KiB */
    static const enum stream_kind takers[] = { STREAM_PLAIN, STREAM_URGENT, STREAM_PER_THREAD, STREAM_LEGACY };
    struct joins *joins = use->joins;
    enum stream_kind first = use->apart ? STREAM_PER_THREAD : (enum stream_kind)drawn(joins, 6, STREAM_KINDS);
    enum stream_kind taker = use->apart ? STREAM_PER_THREAD : first == STREAM_PER_THREAD ? STREAM_URGENT : takers[drawn(joins, 8, 4)];
    cudaError_t error = open_kind(first, &use->first);

    use->works = use->taker == TAKER_OWNER || (!use->apart && drawn(joins, 57, 3) == 0) ? joins->stream[2] : use->first;
    use->bytes = POOL_BYTES * times[drawn(joins, 7, 3)];
    if (error == cudaSuccess)
        error = open_kind(taker, &use->takes);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&use->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&use->older, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = open_pool(use);
    return error == cudaSuccess ? open_aside(joins) : error;
}

/* Of a launch that records it as it triggers, or begins, by turns. */
static cudaLaunchAttribute recording_by_turns(const struct pool_use *use, cudaEvent_t event)
{
    return recording_at(event, (use->joins->round + use->joins->round / 4) % 2 != 0);
}

/* It triggers first thing, and uses the memory late: who waits for its event may begin before that, and is given other memory. Other work holds it up,
 * so that its event is still to come when the memory is allocated again. */
static cudaError_t work_that_records(struct pool_use *use)
{
    cudaLaunchAttribute records = recording_by_turns(use, use->older);
    cudaError_t error = work(use->joins, 3, use->works);

    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_work), &use->args, PLACE_WORDS, use->works, &records, 1);
}

/* Work uses it, in the stream that allocated it or in another one. Something stays allocated, so that not all of the pool's memory goes back at each
 * synchronization. */
static cudaError_t use_first(struct pool_use *use)
{
    struct joins *joins = use->joins;
    cudaError_t error = cudaSuccess;

    if (!joins->pooled)
        error = cudaMallocAsync((void **)&joins->pooled, POOL_BYTES, use->first);
    if (error == cudaSuccess)
        error = take_from_pool(use, &use->old, use->first);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(use->first);
    if (error == cudaSuccess)
        error = cudaEventRecord(use->older, use->first);
    if (error == cudaSuccess && use->works != use->first)
        error = cudaStreamWaitEvent(use->works, use->older, 0);
    use->args = joins->work[0];
    use->args.data = use->old;
    if (error == cudaSuccess && use->by_launch)
        return work_that_records(use);
    return error == cudaSuccess ? some_work(joins, &use->args, use->works) : error;
}

static int frees_in_thread(const struct joins *joins) { return drawn(joins, 60, 3) == 0; }

static void free_now(void *of)
{
    struct pool_use *use = (struct pool_use *)of;

#ifdef MUTANT_otherstream
    use->error = cudaSuccess;
#else
    use->error = cudaFreeAsync(use->old, use->frees);
#endif
}

/* In the stream that used it, or in another one that waits for an event, unless the launch of that use records one; in one of three trials by
 * another host thread, for which the per-thread stream would be another one. */
static cudaError_t free_first(struct pool_use *use)
{
    cudaError_t error = cudaSuccess;

    use->frees = use->works;
    if (use->taker != TAKER_OWNER && !use->by_launch && !use->apart && drawn(use->joins, 9, 3) == 0) {
        use->frees = use->works == use->first ? use->joins->stream[2] : use->first;
        error = record_and_await(use->event, use->works, use->frees);
    }
    if (error != cudaSuccess)
        return error;
    if (use->frees == cudaStreamPerThread || !frees_in_thread(use->joins) || !run_in_thread(free_now, use))
        free_now(use);
    return use->error;
}

/* Whether it has ended, the host may be told either way. */
static cudaError_t look_once(cudaStream_t stream)
{
    cudaError_t state = cudaStreamQuery(stream);

    (void)cudaGetLastError();
    return state == cudaErrorNotReady ? cudaSuccess : state;
}

/* The event that is waited for is recorded, or its own launch's, whose kernel has attribute 6 and may trigger while the work goes on. */
static cudaError_t take_after_event(struct pool_use *use)
{
    struct joins *joins = use->joins;
    cudaLaunchAttribute attrs[2] = { serialization(1), recording_by_turns(use, use->event) };
    cudaError_t error = drawn(joins, 10, 2) ? cudaEventRecord(use->event, use->frees)
                                            : launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, use->frees, attrs, 2);

    return error == cudaSuccess ? cudaStreamWaitEvent(use->takes, use->event, 0) : error;
}

/* Work that was queued later has nothing to do with the memory, and ends before its use does. */
static cudaError_t await_newer(struct pool_use *use)
{
    struct joins *joins = use->joins;
    cudaError_t error = work(joins, 2, joins->stream[3]);

    return error == cudaSuccess ? record_and_await(use->older, joins->stream[3], use->takes) : error;
}

/* None of that waits for the stream that freed the memory. */
static cudaError_t host_since(struct pool_use *use, enum since since)
{
    struct joins *joins = use->joins;
    int device = 0;
    cudaError_t error = cudaSuccess;

    switch (since) {
    case SINCE_SYNC:
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->loose, NULL, 0);
        return error == cudaSuccess ? cudaStreamSynchronize(joins->loose) : error;
    case SINCE_EVENT: return cudaEventSynchronize(use->older);
    case SINCE_MALLOC: return cudaMalloc(&use->other, drawn(joins, 58, 4) ? POOL_BYTES : SINCE_BYTES);
    case SINCE_GRAPH_TRIM:
        error = cudaGetDevice(&device);
        return error == cudaSuccess ? cudaDeviceGraphMemTrim(device) : error;
    default: return error;
    }
}

static cudaError_t pass_since(struct pool_use *use, enum since since)
{
    struct joins *joins = use->joins;
    unsigned polls = 1 + drawn(joins, 11, 4);
    cudaError_t error = cudaSuccess;

    for (; since == SINCE_POLLED && polls && error == cudaSuccess; polls--)
        error = look_once(use->frees);
    if (since == SINCE_DESTROYED && use->frees == use->first)
        close_kind(&use->first); /* its work goes on */
    if (since == SINCE_OLDER)
        error = cudaStreamWaitEvent(use->takes, use->older, 0);
    if (since == SINCE_NEWER)
        error = await_newer(use);
    if (error == cudaSuccess && since < SINCES)
        error = host_since(use, since);
    if (since == SINCE_WAITS) {
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->stream[1], NULL, 0);
        if (error == cudaSuccess)
            error = record_and_await(use->event, joins->stream[1], use->frees);
    }
    return error;
}

/* "Basic stream ordering allows future work submitted into the same stream to use the allocation." The mutant's memory was not freed, and its
 * stream waits for nothing. */
static void use_again(void *of)
{
    struct pool_use *use = (struct pool_use *)of;
    struct kernel_args args = use->joins->work[1];
    cudaLaunchAttribute attribute = serialization(1);
    int dependent = use->taker == TAKER_DEPENDENT && tail_of(use->joins) != TAIL_SILENT; /* rows are asked elsewhere */

#ifdef MUTANT_otherstream
    dependent = 0;
    if (use->taker > TAKER_DEPENDENT && use->takes != use->first)
        close_kind(&use->takes);
    use->takes = use->joins->loose;
    use->fresh = use->old;
    use->error = cudaSuccess;
#else
    use->error = take_from_pool(use, &use->fresh, use->takes);
#endif
    args.data = use->fresh;
    if (use->error == cudaSuccess)
        use->error = launch_one(dependent ? (const void *)SYMBOL(joins_waits_and_fills) : (const void *)SYMBOL(joins_fills), &args, PLACE_WORDS,
                                use->takes, &attribute, dependent ? 1 : 0);
}

static cudaError_t take_again(struct pool_use *use)
{
    if (use->taker <= TAKER_DEPENDENT || use->taker == TAKER_OWNER) {
        close_kind(&use->takes);
        use->takes = use->taker == TAKER_OWNER ? use->first : use->frees;
    }
    if (use->taker != TAKER_THREAD || !run_in_thread(use_again, use))
        use_again(use);
    return use->error;
}

/* What lies there in the end; error: of what was queued. The first trials tell whether the pool gave the same memory again, as it need not. */
static cudaError_t end_use(struct pool_use *use, cudaError_t error)
{
    struct pinned *pinned = use->joins->pinned;
    cudaError_t end = cudaDeviceSynchronize();
    unsigned i;

    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaMemcpy(pinned->seen[0], use->fresh, POOL_BYTES, cudaMemcpyDeviceToHost);
    if (use->joins->trial < POOL_WAYS)
        ask_row(use->joins->ask, taker_name[use->taker], use->fresh == use->old ? "the same memory" : "other memory");
    for (i = 0; i < PLACE_WORDS; i++)
        pinned->host_is_stale |= pinned->seen[0][i] != words_fresh(pinned->plan[1].key, i);
    if (use->fresh && error == cudaSuccess)
        error = cudaFreeAsync(use->fresh, use->takes);
    if (use->takes != use->first && use->takes != use->frees && use->takes != use->joins->loose)
        close_kind(&use->takes);
    close_kind(&use->first);
    (void)cudaFree(use->other);
    if (use->event)
        (void)cudaEventDestroy(use->event);
    if (use->older)
        (void)cudaEventDestroy(use->older);
    return error;
}

/* Mostly the host calls something where nothing else happens; not where the pool is destroyed: a driver is known that ends the process
 * there. In most rounds another stream that takes the memory waits for an event. */
static enum since draw_since(const struct joins *joins, enum taker taker, enum own_pool kind)
{
    unsigned since = drawn(joins, 12, SINCE_SYNC), call = drawn(joins, 59, SINCES - SINCE_SYNC + 1);

    if (taker == TAKER_OTHER && joins->round % 4 == 1 && kind != POOL_DESTROYED)
        return SINCE_EVENT;
    if (taker == TAKER_OTHER && joins->round % 4 != 0)
        return joins->round % 4 == 2 ? SINCE_OLDER : SINCE_NEWER;
    return (enum since)(since != SINCE_NOTHING || kind == POOL_DESTROYED || call == 0 ? since : SINCE_SYNC + call - 1);
}

static cudaError_t use_pool(struct joins *joins, enum own_pool kind, unsigned ways)
{
    struct pool_use use = PDL_ZERO;
    enum taker taker = (enum taker)(joins->trial % ways);
    enum since since = draw_since(joins, taker, kind);
    cudaError_t error;

    use.joins = joins;
    use.kind = kind;
    use.taker = taker;
    use.by_launch = (since == SINCE_OLDER && joins->round / 8 % 4 != 3) || (since == SINCE_EVENT && taker == TAKER_OTHER);
    use.apart = taker == TAKER_THREAD && joins->round % 4 == 1;
    prepare(joins, 1, 0);
    if (frees_in_thread(joins))
        joins->pinned->plan[0].hold_ns = SINCE_HOLD_NS;
    if (since == SINCE_NEWER) {
        joins->pinned->plan[0].hold_ns = SINCE_LONG_NS;
        joins->pinned->plan[2].hold_ns = SINCE_HOLD_NS;
    }
    if (since >= SINCE_SYNC && since < SINCES)
        joins->pinned->plan[0].hold_ns = since == SINCE_MALLOC && drawn(joins, 58, 4) == 0 ? SINCE_LONG_NS : SINCE_HOLD_NS;
    error = open_use(&use);
    if (error == cudaSuccess)
        error = use_first(&use);
    if (error == cudaSuccess)
        error = free_first(&use);
    if (error == cudaSuccess)
        error = leave_pool(&use);
    if (error == cudaSuccess && use.taker == TAKER_AFTER_EVENT)
        error = take_after_event(&use);
    else if (error == cudaSuccess && use.taker > TAKER_DEPENDENT)
        error = pass_since(&use, since);
    if (error == cudaSuccess)
        error = take_again(&use);
    return end_use(&use, error);
}

static cudaError_t use_twice(struct joins *joins) { return use_pool(joins, POOL_OF_DEVICE, POOL_WAYS); }

#define LOST_POOLS 64u         /* one after the other */
#define LOST_HOLD_NS 100000u   /* long enough for a pool to be destroyed meanwhile */

/* A pool whose memory is freed, and which is destroyed, while work uses that memory: freed in the work's stream, or in one that waits for an event. */
static cudaError_t lose_pool(struct joins *joins, cudaStream_t works, cudaStream_t frees, cudaEvent_t event)
{
    struct kernel_args args = joins->work[0];
    cudaMemPool_t pool = NULL;
    cudaError_t error = make_pool(&pool, POOL_DESTROYED), end;

    if (error == cudaSuccess)
        error = cudaMallocFromPoolAsync((void **)&args.data, POOL_BYTES, pool, works);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(works);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, works, NULL, 0);
    if (error == cudaSuccess && frees != works)
        error = record_and_await(event, works, frees);
    if (error == cudaSuccess)
        error = cudaFreeAsync(args.data, frees);
    if (error == cudaSuccess)
        error = cudaMemPoolDestroy(pool);
    end = cudaDeviceSynchronize();
    return error == cudaSuccess ? end : error;
}

/* Their streams stay until all of them are gone. */
static cudaError_t lose_pools(struct joins *joins)
{
    cudaStream_t stream[2 * LOST_POOLS] = { NULL };
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    unsigned i;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = LOST_HOLD_NS;
    for (i = 0; i < 2 * LOST_POOLS && error == cudaSuccess; i++) {
        error = cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
        if (i % 2 && error == cudaSuccess)
            error = lose_pool(joins, stream[i - 1], stream[i - i / 2 % 2], event);
    }
    for (i = 0; i < 2 * LOST_POOLS; i++)
        if (stream[i])
            (void)cudaStreamDestroy(stream[i]);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* The first trial destroys many pools before its own: a driver that cannot do that is met there, and soon. */
static cudaError_t use_gone(struct joins *joins)
{
    cudaError_t error = joins->trial == 0 ? lose_pools(joins) : cudaSuccess;

    return error == cudaSuccess ? use_pool(joins, POOL_DESTROYED, TAKERS) : error;
}

/* Between work on other memory, or a wait for an event after it, and a follower. */
static cudaError_t pool_between(struct joins *joins)
{
    static const enum follow_by ways[] = { FOLLOW_DEPENDENT, FOLLOW_COPY, FOLLOW_DEPENDENT, FOLLOW_GRAPH, FOLLOW_HOST, FOLLOW_EVENT, FOLLOW_WAIT,
                                           FOLLOW_POLL };
    unsigned after_event = drawn(joins, 13, 2), beside = drawn(joins, 15, 2); /* another stream captures */
    cudaStream_t stream = joins->stream[after_event];
    cudaEvent_t event = NULL;
    void *memory = NULL;
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess && after_event)
        error = record_and_await(event, joins->stream[0], stream);
    if (error == cudaSuccess && beside)
        error = cudaStreamBeginCapture(joins->stream[2], cudaStreamCaptureModeRelaxed);
    if (error == cudaSuccess)
        error = cudaMallocAsync(&memory, POOL_BYTES, stream);
    if (error == cudaSuccess)
        error = cudaFreeAsync(memory, stream);
    if (beside)
        ask_drop_capture(joins->stream[2]);
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow_by(joins, ways[joins->trial / POOL_WAYS % (sizeof(ways) / sizeof(ways[0]))], stream) : error;
}

#include "joins_apart.h"

/* So small that no kernel of these would fit: a late memset stands before the free, another memset comes after the allocation. */
static cudaError_t use_small(struct joins *joins)
{
    unsigned char *old = NULL, *fresh = NULL, *seen = (unsigned char *)joins->pinned->seen[0];
    size_t bytes = (size_t)4 << drawn(joins, 14, 4), i;
    cudaError_t error;

    prepare(joins, 1, 0);
    error = cudaMallocAsync((void **)&old, bytes, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->stream[0]);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(old, 1, bytes, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaFreeAsync(old, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&fresh, bytes, joins->stream[1]);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(fresh, 2, bytes, joins->stream[1]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(seen, fresh, bytes, cudaMemcpyDeviceToHost);
    for (i = 0; i < bytes; i++)
        joins->pinned->host_is_stale |= seen[i] != 2;
    return error == cudaSuccess ? cudaFreeAsync(fresh, joins->stream[1]) : error;
}

static void ask_joins_with_pools(struct ask *ask, const struct join *joins, unsigned count)
{
    const char *lack = pools_lack();

    if (lack)
        ask_unsupported(ask, lack);
    else
        ask_joins(ask, joins, count, cudaStreamNonBlocking);
}

/* A driver is known that ends the process: rule COMP-17d alone asks for it. */
static void ask_gone_pools(struct ask *ask)
{
    static const struct join joins[TAKERS] = {
        { "overwritten in memory that its stream allocates again, once its pool is destroyed", use_gone },
        { "overwritten in memory that its stream allocates again for a dependent, once its pool is destroyed", use_gone },
        { "overwritten in memory that another stream allocates, once its pool is destroyed", use_gone },
        { "overwritten in memory that another stream allocates after an event, once its pool is destroyed", use_gone },
        { "overwritten in memory that another host thread allocates, once its pool is destroyed", use_gone },
        { "overwritten in memory that its first owner allocates again, once its pool is destroyed", use_gone },
    };

    ask_joins_with_pools(ask, joins, TAKERS);
}

static void ask_pools(struct ask *ask)
{
    static const struct join joins[POOL_WAYS] = {
        { "overwritten in memory that its stream allocates again", use_twice },
        { "overwritten in memory that its stream allocates again for a dependent", use_twice },
        { "overwritten in memory that another stream allocates", use_twice },
        { "overwritten in memory that another stream allocates after an event", use_twice },
        { "overwritten in memory that another host thread allocates", use_twice },
        { "overwritten in memory that its first owner allocates again", use_twice },
        { "stale after an allocation", pool_between },
        { "allocations that share memory with others", allocate_apart },
        { "overwritten in a few bytes that another stream allocates", use_small },
    };

    ask_joins_with_pools(ask, joins, POOL_WAYS);
}

#endif
