/* joins_pools.h - the pair of joins.cu with memory that is allocated and freed in the order of streams: who gets memory that a kernel used before
 * must not begin before that kernel has ended, or else its late stores lie over what the new user stored. */
#ifndef JOINS_POOLS_H_INCLUDED
#define JOINS_POOLS_H_INCLUDED

#define POOL_WAYS 10u
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

struct pool_use {              /* of the memory by the work, and then by who stores at once */
    struct joins *joins;
    cudaStream_t stream;
    uint32_t *old, *fresh;
};

/* Memory that work uses. Something stays allocated, so that not all of the pool's memory goes back at each synchronization. */
static cudaError_t use_first(struct pool_use *use, struct joins *joins, cudaStream_t stream)
{
    struct kernel_args args = joins->work[0];
    cudaError_t error = cudaSuccess;

    use->joins = joins;
    use->stream = stream;
    use->old = use->fresh = NULL;
    prepare(joins, 1, 0);
    if (!joins->aside)
        error = cudaMallocAsync((void **)&joins->aside, POOL_BYTES, stream);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&use->old, POOL_BYTES, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    args.data = use->old;
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, stream, NULL, 0) : error;
}

#ifdef MUTANT_otherstream
/* It is used again although it was not freed, in a stream that waits for nothing. */
static cudaError_t free_first(struct pool_use *use, cudaStream_t stream)
{
    (void)use, (void)stream;
    return cudaSuccess;
}

static cudaError_t use_again(struct pool_use *use, cudaStream_t stream, int dependent)
{
    struct kernel_args args = use->joins->work[1];

    (void)stream, (void)dependent;
    args.data = use->fresh = use->old;
    return launch_one((const void *)SYMBOL(joins_fills), &args, PLACE_WORDS, use->joins->loose, NULL, 0);
}
#else
static cudaError_t free_first(struct pool_use *use, cudaStream_t stream) { return cudaFreeAsync(use->old, stream); }

/* "Basic stream ordering allows future work submitted into the same stream to use the allocation." A dependent waits first. */
static cudaError_t use_again(struct pool_use *use, cudaStream_t stream, int dependent)
{
    const void *function = dependent ? (const void *)SYMBOL(joins_waits_and_fills) : (const void *)SYMBOL(joins_fills);
    struct kernel_args args = use->joins->work[1];
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = cudaMallocAsync((void **)&use->fresh, POOL_BYTES, stream);

    args.data = use->fresh;
    return error == cudaSuccess ? launch_one(function, &args, PLACE_WORDS, stream, &attribute, dependent ? 1 : 0) : error;
}
#endif

/* What lies there in the end; error: of what was queued. what: names the question whose first trial tells whether the pool gave the same memory
 * again, as it need not. */
static cudaError_t end_use(struct pool_use *use, const char *what, cudaError_t error)
{
    struct pinned *pinned = use->joins->pinned;
    cudaError_t end = cudaDeviceSynchronize();
    unsigned i;

    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaMemcpy(pinned->seen[0], use->fresh, POOL_BYTES, cudaMemcpyDeviceToHost);
    if (use->joins->trial < POOL_WAYS)
        ask_row(use->joins->ask, what, use->fresh == use->old ? "the same memory" : "other memory");
    for (i = 0; i < PLACE_WORDS; i++)
        pinned->host_is_stale |= pinned->seen[0][i] != words_fresh(pinned->plan[1].key, i);
    if (use->fresh && error == cudaSuccess)
        error = cudaFreeAsync(use->fresh, use->stream);
    return error;
}

/* All of it in one stream; with a silent kernel that overlaps the work. */
static cudaError_t use_in_line(struct joins *joins, int row, int dependent, const char *what)
{
    cudaStream_t stream = joins->stream[0];
    struct pool_use use;
    cudaError_t error = use_first(&use, joins, stream);

    if (error == cudaSuccess && row)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = free_first(&use, stream);
    if (error == cudaSuccess)
        error = use_again(&use, stream, dependent);
    return end_use(&use, what, error);
}

static cudaError_t pool_in_line(struct joins *joins) { return use_in_line(joins, 0, 0, "allocated again"); }
static cudaError_t pool_after_silent(struct joins *joins) { return use_in_line(joins, 1, 0, "allocated again after a silent kernel"); }
static cudaError_t pool_to_dependent(struct joins *joins) { return use_in_line(joins, 0, 1, "allocated again for a dependent"); }

/* Freed by another stream, which waits for an event. */
static cudaError_t pool_freed_after_event(struct joins *joins)
{
    cudaEvent_t event = NULL;
    struct pool_use use;
    cudaError_t error = use_first(&use, joins, joins->stream[0]);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess)
        error = free_first(&use, joins->stream[1]);
    if (error == cudaSuccess)
        error = use_again(&use, joins->stream[1], 0);
    if (event)
        (void)cudaEventDestroy(event);
    return end_use(&use, "freed after an event and allocated again", error);
}

/* Whether it has ended, the host may be told either way. */
static cudaError_t look_once(cudaStream_t stream)
{
    cudaError_t state = cudaStreamQuery(stream);

    (void)cudaGetLastError();
    return state == cudaErrorNotReady ? cudaSuccess : state;
}

/* Allocated by another stream, which waits for nothing: the pool may give it other memory, or make it wait. polls: so often the host looks whether
 * the first stream has ended, while the work goes on. */
static cudaError_t use_elsewhere(struct joins *joins, int row, unsigned polls, const char *what)
{
    cudaStream_t stream = joins->stream[0];
    struct pool_use use;
    cudaError_t error = use_first(&use, joins, stream);

    if (error == cudaSuccess && row)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = free_first(&use, stream);
    for (; polls && error == cudaSuccess; polls--)
        error = look_once(stream);
    if (error == cudaSuccess)
        error = use_again(&use, joins->stream[1], 0);
    return end_use(&use, what, error);
}

static unsigned polls_of(const struct joins *joins) { return 1 + joins->trial / POOL_WAYS % 4; }

static cudaError_t pool_elsewhere(struct joins *joins) { return use_elsewhere(joins, 0, 0, "allocated elsewhere"); }
static cudaError_t pool_elsewhere_later(struct joins *joins) { return use_elsewhere(joins, 0, polls_of(joins), "allocated elsewhere later"); }

static cudaError_t pool_elsewhere_after_silent(struct joins *joins)
{
    return use_elsewhere(joins, 1, polls_of(joins), "allocated elsewhere after a silent kernel");
}

/* A stream allocates memory that another stream has freed. It waits for an event first: one that is recorded after the free, or the event
 * of a launch after it, whose kernel has attribute 6 and may trigger while the work goes on. */
static cudaError_t use_after_event(struct joins *joins, int of_launch)
{
    cudaStream_t stream = joins->stream[0];
    cudaLaunchAttribute attrs[2] = { serialization(1), serialization(1) };
    cudaEvent_t event = NULL;
    struct pool_use use;
    cudaError_t error = use_first(&use, joins, stream);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess && !of_launch)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = free_first(&use, stream);
    attrs[1] = recording(event);
    if (error == cudaSuccess)
        error = of_launch ? launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, attrs, 2) : cudaEventRecord(event, stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = use_again(&use, joins->stream[1], 0);
    if (event)
        (void)cudaEventDestroy(event);
    return end_use(&use, of_launch ? "allocated after a launch's event" : "allocated after an event", error);
}

static cudaError_t pool_after_event(struct joins *joins) { return use_after_event(joins, 0); }
static cudaError_t pool_after_launch_event(struct joins *joins) { return use_after_event(joins, 1); }

/* Between work on other memory and a dependent. */
static cudaError_t pool_between(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    void *memory = NULL;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaMallocAsync(&memory, POOL_BYTES, stream);
    if (error == cudaSuccess)
        error = cudaFreeAsync(memory, stream);
    return error == cudaSuccess ? depend(joins, stream) : error;
}

static void ask_pools(struct ask *ask)
{
    static const struct join joins[POOL_WAYS] = {
        { "overwritten in memory that its stream allocates again", pool_in_line },
        { "overwritten in memory that its stream allocates again after a silent kernel", pool_after_silent },
        { "overwritten in memory that its stream allocates again for a dependent", pool_to_dependent },
        { "overwritten in memory that is freed after an event", pool_freed_after_event },
        { "overwritten in memory that another stream allocates", pool_elsewhere },
        { "overwritten in memory that another stream allocates later", pool_elsewhere_later },
        { "overwritten in memory that another stream allocates after a silent kernel", pool_elsewhere_after_silent },
        { "overwritten in memory that another stream allocates after an event", pool_after_event },
        { "overwritten in memory that another stream allocates after a launch's event", pool_after_launch_event },
        { "stale in a dependent after an allocation", pool_between },
    };
    const char *lack = pools_lack();

    if (lack)
        ask_unsupported(ask, lack);
    else
        ask_joins(ask, joins, POOL_WAYS, cudaStreamNonBlocking);
}

#endif
