/* joins_released.h - what waits for the event of a launch, or of a graph's node. Streams wait for it and for an ordinary event that comes
 * sooner, in either order, and then do work that is no kernel. None of that work begins before the launch's event may come: when all blocks
 * have triggered, or, for an event of another kind, when the launch's turn has come. A stream that only waits for the event ends no sooner. */
#ifndef JOINS_RELEASED_H_INCLUDED
#define JOINS_RELEASED_H_INCLUDED

#define RELEASED_HOLD 200000u  /* nanoseconds: as long as it takes to queue what waits */
#define RELEASED_BYTE 0x5A

/* Looks before it triggers: none of the works that wait, each with a place of its own, may have stored its word by then. */
KERNEL(joins_looks)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t place;

    k_delay(args.state, plan.hold_ns);
    for (place = 0; place < PLACES; place++)
        if (k_load_relaxed(args.seen + place * ALL_WORDS) != 0)
            k_add(&args.state->early, 1);
    k_store_relaxed(&args.state->finished, 1);
    k_fence_system();
    k_trigger();
}

/* Queues work of one kind that changes the first word of its place, which was 0. */
typedef cudaError_t (*released_call)(struct joins *joins, unsigned place, cudaStream_t stream);

static uint32_t *released_word(const struct joins *joins, unsigned place) { return joins->follower[place].seen; }

static cudaError_t release_set(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemsetAsync(released_word(joins, place), RELEASED_BYTE, sizeof(uint32_t), stream);
}

static cudaError_t release_rows_set(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemset2DAsync(released_word(joins, place), 8, RELEASED_BYTE, 4, 2, stream);
}

static cudaError_t release_copy(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemcpyAsync(released_word(joins, place), joins->aside, sizeof(uint32_t), cudaMemcpyDefault, stream);
}

static cudaError_t release_rows_copy(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(released_word(joins, place), 8, joins->aside, 8, 4, 2, cudaMemcpyDefault, stream);
}

static cudaError_t release_driver_copy(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return copy_by_driver(released_word(joins, place), joins->aside, sizeof(uint32_t), stream);
}

static void CUDART_CB release_word(void *opaque) { *(volatile uint32_t *)opaque = RELEASED_BYTE; }

static void CUDART_CB release_in_callback(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    release_word(opaque);
}

static cudaError_t release_host(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaLaunchHostFunc(stream, release_word, joins->pinned->seen[place]);
}

static cudaError_t release_callback(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaStreamAddCallback(stream, release_in_callback, joins->pinned->seen[place], 0);
}

/* Records an ordinary event, for which another stream waits that stores. */
static cudaError_t release_record(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    if (error != cudaSuccess)
        return error;
    error = record_and_await(event, stream, joins->ask->side);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? release_set(joins, place, joins->ask->side) : error;
}

static cudaError_t release_value(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return queue_value("cuStreamWriteValue32", stream, released_word(joins, place), RELEASED_BYTE, CU_STREAM_WRITE_VALUE_DEFAULT);
}

/* Waits for the value that the word has, then stores. */
static cudaError_t release_awaited(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaError_t error = queue_value("cuStreamWaitValue32", stream, released_word(joins, place), 0, CU_STREAM_WAIT_VALUE_EQ);

    return error == cudaSuccess ? release_set(joins, place, stream) : error;
}

/* Frees memory that another stream has allocated, in which nothing is left; then stores. */
static cudaError_t release_freed(struct joins *joins, unsigned place, cudaStream_t stream)
{
    void *memory = NULL;
    cudaError_t error = cudaMallocAsync(&memory, PLACE_WORDS, joins->loose);

    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->loose);
    if (error == cudaSuccess)
        error = cudaFreeAsync(memory, stream);
    return error == cudaSuccess ? release_set(joins, place, stream) : error;
}

/* Not every driver and device offers the last three: the first of them needs pools, the others need values that streams write or wait
 * for. */
static const released_call released_calls[PLACES - 1] = { release_set,         release_rows_set, release_copy,     release_rows_copy,
                                                          release_driver_copy, release_host,     release_callback, release_record,
                                                          release_freed,       release_value,    release_awaited };
#define RELEASED_BY_POOLS 8u
#define RELEASED_BY_VALUES 9u

static unsigned count_released(const struct joins *joins)
{
    static unsigned counted;

    if (!counted)
        counted = pools_lack() ? RELEASED_BY_POOLS : values_lack(joins->loose) ? RELEASED_BY_VALUES : PLACES - 1;
    return counted;
}

/* Who records the event: the kernel that looks, at its trigger; or a silent one after it, at its trigger, at its block starts, or as its launch
 * completes; or a node after it in a graph. */
enum looks { LOOKS_ITSELF, LOOKS_BEFORE_TRIGGER, LOOKS_BEFORE_STARTS, LOOKS_BEFORE_LAUNCH, LOOKS_BEFORE_NODE, LOOKS };

/* exec: for the caller to destroy once it has ended. */
static cudaError_t launch_looks_in_graph(struct joins *joins, struct kernel_args *args, cudaEvent_t event, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t kernel, record;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&kernel, graph, (const void *)SYMBOL(joins_looks), args, 1);
    if (error == cudaSuccess)
        error = cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, event);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(*exec, joins->stream[0]);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_looks(struct joins *joins, cudaEvent_t event, cudaGraphExec_t *exec)
{
    cudaStream_t stream = joins->stream[0];
    enum looks way = (enum looks)(joins->round % LOOKS);
    int own = way == LOOKS_ITSELF;
    cudaLaunchAttribute attribute = way == LOOKS_BEFORE_LAUNCH ? recording_begin(event) : recording_at(event, way == LOOKS_BEFORE_STARTS);
    struct kernel_args args = joins->work[0];
    cudaError_t error;

    args.seen = joins->follower[0].seen;
    if (way == LOOKS_BEFORE_NODE)
        return launch_looks_in_graph(joins, &args, event, exec);
    error = launch_one((const void *)SYMBOL(joins_looks), &args, 1, stream, &attribute, own);
    if (error != cudaSuccess || own)
        return error;
    error = launch_one((const void *)SYMBOL(joins_silent), &args, 1, stream, &attribute, 1);
    if (way != LOOKS_BEFORE_LAUNCH || error == cudaSuccess)
        return error;
    (void)cudaGetLastError(); /* not every launch may record this event: then one at the trigger is asked about */
    attribute = recording(event);
    return launch_one((const void *)SYMBOL(joins_silent), &args, 1, stream, &attribute, 1);
}

/* In this order, or turned. */
static cudaError_t await_two_events(cudaStream_t stream, cudaEvent_t first, cudaEvent_t second, int turned)
{
    cudaError_t error = cudaStreamWaitEvent(stream, turned ? second : first, 0);

    return error == cudaSuccess ? cudaStreamWaitEvent(stream, turned ? first : second, 0) : error;
}

/* The ordinary event comes after shorter work in another stream. */
static cudaError_t record_sooner(struct joins *joins, cudaEvent_t sooner)
{
    cudaError_t error = work(joins, 1, joins->ask->side);

    return error == cudaSuccess ? cudaEventRecord(sooner, joins->ask->side) : error;
}

/* The host waits for a stream that only waits for the event, or asks it until it has ended: by then the kernel has looked. */
static cudaError_t await_on_host(struct joins *joins, cudaEvent_t event)
{
    cudaError_t error = cudaStreamWaitEvent(joins->loose, event, 0);

    if (error == cudaSuccess && joins->round % 2 == 0)
        error = cudaStreamSynchronize(joins->loose);
    else if (error == cudaSuccess)
        do
            error = cudaStreamQuery(joins->loose);
        while (error == cudaErrorNotReady);
    joins->pinned->host_is_stale |= *(volatile uint32_t *)&joins->pinned->state.finished == 0;
    return error;
}

static cudaError_t join_released(struct joins *joins)
{
    unsigned count = count_released(joins), place;
    cudaEvent_t event = NULL, sooner = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 2, 0);
    joins->pinned->plan[0].hold_ns = RELEASED_HOLD;
    joins->pinned->plan[1].hold_ns = RELEASED_HOLD / 4;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&sooner, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = open_aside(joins);
    if (error == cudaSuccess) /* the source of copies: if it were host memory, the call would wait */
        error = cudaMemset(joins->aside, RELEASED_BYTE, PLACE_WORDS * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = launch_looks(joins, event, &exec);
    if (error == cudaSuccess)
        error = record_sooner(joins, sooner);
    for (place = 1; place <= count && error == cudaSuccess; place++) {
        cudaStream_t stream = FOLLOWS_IN(joins, joins->stream[place]);
        error = await_two_events(stream, event, sooner, (place + joins->round) % 2);
        if (error == cudaSuccess)
            error = released_calls[place - 1](joins, place, stream);
    }
    if (error == cudaSuccess)
        error = await_on_host(joins, event);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (event)
        (void)cudaEventDestroy(event);
    if (sooner)
        (void)cudaEventDestroy(sooner);
    joins->pinned->host_is_stale |= joins->pinned->state.early != 0;
    for (place = 1; place <= count; place++)
        joins->pinned->host_is_stale |= *(volatile uint32_t *)joins->pinned->seen[place] == 0;
    return error;
}

#endif
