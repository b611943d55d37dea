/* joins_again.h - the pair of joins.cu in which a stream is given the same operation several times, with the same parameters: none of them is left
 * out because it was done before, and what one launch has beside its parameters is not the next one's. */
#ifndef JOINS_AGAIN_H_INCLUDED
#define JOINS_AGAIN_H_INCLUDED

#define AGAIN_WAYS 17u
#define AGAIN_LAUNCHES 6u
#define AGAIN_MASKS 8u         /* of the launches that have attribute 6, in a trial */
#define AGAIN_ITEMS 3u         /* times an item is queued */
#define AGAIN_WORDS 16u        /* that an item moves or sets, and so many others after them */
#define AGAIN_SOURCE 32u       /* of `aside`: where it reads */

/* data: how many have begun, how many have ended; seen: how many had ended when each of them looked. Without its wait a launch looks first thing. What
 * it took and saw is there before its trigger, so that the next one, however early, takes the next place. */
DEVICE_FN void runs_again(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t place = k_take(args->data, 1) % AGAIN_LAUNCHES;

    k_store_relaxed(args->seen + place, k_load_relaxed(args->data + 1));
    k_fence();
    k_trigger();
    if (waits) {
        k_wait_device();
        k_store_relaxed(args->seen + place, k_load_relaxed(args->data + 1));
    }
    k_delay(args->state, plan.hold_ns);
    k_add(args->data + 1, 1);
}

KERNEL(joins_again) { runs_again(&args, 0); }
KERNEL(joins_again_waiting) { runs_again(&args, 1); }

/* Sees how many have ended in the other stream. */
KERNEL(joins_again_follows)
{
    uint32_t place = k_take(args.seen, 1) % AGAIN_LAUNCHES;

    k_store_relaxed(args.seen + 1 + place, k_load_relaxed(args.data + 1));
}

/* Whether the words are those of the source, every rotate-th of them. Then they are others, and so is the source, if it may change. */
KERNEL(joins_again_looks)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t differ = 0, i;

    for (i = 0; i < plan.words; i += plan.rotate) {
        uint32_t word = k_load(args.input + i);
        differ |= k_load(args.data + i) != word;
        k_store(args.data + i, ~word);
        if (plan.repeats)
            k_store(args.input + i, word + 1);
    }
    k_add(&args.state->early, differ);
    k_add(&args.state->finished, 1);
}

/* ---- launches ---- */

static cudaError_t launch_again(const struct joins *joins, cudaStream_t stream, unsigned mask, unsigned waits, unsigned by_driver)
{
    const void *function = waits ? (const void *)SYMBOL(joins_again_waiting) : (const void *)SYMBOL(joins_again);
    struct kernel_args args = joins->work[0];
    cudaLaunchAttribute six = serialization(1);
    cudaLaunchConfig_t config = one_block(1, stream);
    cudaError_t error = cudaSuccess;
    void *params[1];
    unsigned n;

    params[0] = &args;
    args.data = joins->aside;
    args.seen = joins->aside + 2;
    config.attrs = &six;
    for (n = 0; n < AGAIN_LAUNCHES && error == cudaSuccess; n++) {
        config.numAttrs = mask >> n & 1;
        config.stream = n == AGAIN_LAUNCHES - 1 ? FOLLOWS_IN(joins, stream) : stream;
        error = by_driver ? launch_by_driver(&config, function, params) : cudaLaunchKernelExC(&config, function, params);
    }
    return error;
}

/* A launch that waits, or that has not the attribute, finds that all before it have ended. */
static unsigned again_is_wrong(const uint32_t *words, unsigned mask, unsigned waits)
{
    unsigned wrong = words[0] != AGAIN_LAUNCHES || words[1] != AGAIN_LAUNCHES, n;

    for (n = 0; n < AGAIN_LAUNCHES; n++)
        wrong |= waits || !(mask >> n & 1) ? words[2 + n] != n : words[2 + n] > n;
    return wrong;
}

static cudaError_t run_again(struct joins *joins, cudaStream_t stream, unsigned mask, unsigned waits, unsigned way)
{
    uint32_t words[2 + AGAIN_LAUNCHES];
    cudaError_t error = cudaMemset(joins->aside, 0, sizeof(words));

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess && way == 2)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = launch_again(joins, stream, mask, waits, way == 1);
    if (way == 2)
        error = ask_run_capture(stream, error);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(words, joins->aside, sizeof(words), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        joins->pinned->host_is_stale |= again_is_wrong(words, mask, waits);
    return error;
}

/* Of six launches each one has the attribute or has not; way: by the runtime, by the driver, or captured. */
static cudaError_t launched_again(struct joins *joins, unsigned way)
{
    cudaStream_t streams[4];
    cudaError_t error = open_aside(joins);
    unsigned i;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = 6000;
    streams[0] = joins->stream[0];
    streams[1] = joins->ask->side;
    streams[2] = cudaStreamPerThread;
    streams[3] = way == 2 ? joins->stream[1] : cudaStreamLegacy;
    for (i = 0; i < AGAIN_MASKS && error == cudaSuccess; i++)
        error = run_again(joins, streams[i % 4], (joins->round * AGAIN_MASKS + i) * 37 % 64, (joins->round + i / 4) % 2, way);
    return error;
}

static cudaError_t again_launched(struct joins *joins) { return launched_again(joins, 0); }
static cudaError_t again_by_driver(struct joins *joins) { return launched_again(joins, 1); }
static cudaError_t again_captured(struct joins *joins) { return launched_again(joins, 2); }

/* ---- long rows ---- */

#define AGAIN_APART 64u        /* words from the one that the row of one stream counts in to that of the next stream */

/* The last block has read the line before its wait, and counts one on, late. The others leave. */
KERNEL(joins_counts_on)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t count;

    k_trigger();
    if (k_block() + 1 != k_blocks())
        return;
    (void)k_load(args.data);
    k_wait_device();
    count = k_load(args.data);
    k_delay(args.state, plan.hold_ns);
    k_store(args.data, count + 1);
}

/* Each kernel overlaps the one before it; every fourth one has many blocks. */
static cudaError_t queue_long_row(const struct joins *joins, unsigned kernels, unsigned streams)
{
    struct kernel_args args = joins->work[0];
    cudaLaunchAttribute six = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned i, n;

    for (n = 0; n < kernels; n++)
        for (i = 0; i < streams && error == cudaSuccess; i++) {
            cudaStream_t stream = joins->stream[i];

            args.data = joins->aside + i * AGAIN_APART;
            error = launch_blocks((const void *)SYMBOL(joins_counts_on), &args, n % 4 == 3 ? 33 : 1, 1,
                                  n + 1 == kernels ? FOLLOWS_IN(joins, stream) : stream, &six, n ? 1 : 0);
        }
    return error;
}

/* In one stream or in two at once, or captured: the last word tells whether any kernel began to count too early. */
static cudaError_t long_again(struct joins *joins, int captured)
{
    static const unsigned sizes[] = { 20, 36, 20, 20, 70 };
    unsigned kernels = sizes[joins->round % (sizeof(sizes) / sizeof(sizes[0]))], streams = captured ? 1 : 1 + joins->round / 2 % 2, i;
    uint32_t words[2 * AGAIN_APART] = { 0 };
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = 5000 * streams; /* the host keeps ahead of them */
    if (error == cudaSuccess)
        error = put_words(joins->aside, words, 2 * AGAIN_APART);
    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = queue_long_row(joins, kernels, streams);
        error = captured ? ask_run_capture(joins->stream[0], error) : error;
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(words, joins->aside, sizeof(words), cudaMemcpyDeviceToHost);
    for (i = 0; i < streams && error == cudaSuccess; i++)
        joins->pinned->host_is_stale |= words[i * AGAIN_APART] != kernels;
    return error;
}

static cudaError_t again_in_long_row(struct joins *joins) { return long_again(joins, 0); }
static cudaError_t again_in_captured_row(struct joins *joins) { return long_again(joins, 1); }

/* ---- what is no launch of a kernel ---- */

enum again { AGAIN_BYTES, AGAIN_HALVES, AGAIN_WHOLE, AGAIN_ROWS, AGAIN_IN, AGAIN_OUT, AGAIN_WITHIN, AGAIN_COPY_ROWS, AGAIN_VALUE, AGAIN_HOST, AGAIN_GRAPH };

static cudaError_t set_again(enum again kind, uint32_t *to, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * halves_fn)(CUdeviceptr, unsigned short, size_t, CUstream);
    typedef CUresult(CUDAAPI * words_fn)(CUdeviceptr, unsigned, size_t, CUstream);
    void *call = NULL;
    cudaError_t error = driver_function(kind == AGAIN_HALVES ? "cuMemsetD16Async" : "cuMemsetD32Async", 3020, &call);

    if (error != cudaSuccess)
        return error;
    return kind == AGAIN_HALVES ? (cudaError_t)((halves_fn)call)((CUdeviceptr)(uintptr_t)to, 0x5A5Au, 2 * AGAIN_WORDS, (CUstream)stream)
                                : (cudaError_t)((words_fn)call)((CUdeviceptr)(uintptr_t)to, 0x5A5A5A5Au, AGAIN_WORDS, (CUstream)stream);
}

/* to, from: in the host's memory where it is the host's side of a copy. */
static cudaError_t queue_again(const struct joins *joins, enum again kind, uint32_t *to, uint32_t *from, struct ask_hand *hand, cudaStream_t stream)
{
    size_t bytes = AGAIN_WORDS * sizeof(uint32_t);

    switch (kind) {
    case AGAIN_BYTES: return cudaMemsetAsync(to, 0x5A, bytes, stream);
    case AGAIN_HALVES:
    case AGAIN_WHOLE: return set_again(kind, to, stream);
    case AGAIN_ROWS: return cudaMemset2DAsync(to, 8, 0x5A, 4, AGAIN_WORDS / 2, stream);
    case AGAIN_IN: return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
    case AGAIN_OUT: return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    case AGAIN_WITHIN: return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    case AGAIN_COPY_ROWS: return cudaMemcpy2DAsync(to, 8, from, 8, 4, AGAIN_WORDS / 2, cudaMemcpyDefault, stream);
    case AGAIN_VALUE: return queue_value("cuStreamWriteValue32", stream, to, 0x5A5A5A5Au, CU_STREAM_WRITE_VALUE_DEFAULT);
    case AGAIN_HOST: return cudaLaunchHostFunc(stream, ask_hand_on, hand);
    default: return cudaGraphLaunch(joins->follows, stream);
    }
}

/* A memset of words, for the graph that is launched again. */
static cudaError_t open_again(struct joins *joins)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t node;
    cudaGraph_t graph;
    cudaError_t error = joins->follows ? cudaSuccess : cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess || joins->follows)
        return error;
    set.dst = joins->aside;
    set.elementSize = 4;
    set.value = 0x5A5A5A5Au;
    set.width = AGAIN_WORDS;
    set.height = 1;
    error = cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&joins->follows, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* The item and a kernel that looks, changes what the item reads and spoils what it stored; and so again. */
static cudaError_t queue_three_times(const struct joins *joins, enum again kind, struct kernel_args *looks, uint32_t *to, uint32_t *from,
                               struct ask_hand *hand)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < AGAIN_ITEMS && error == cudaSuccess; i++) {
        error = queue_again(joins, kind, to, from, hand, stream);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(joins_again_looks), looks, 1, FOLLOWS_IN(joins, stream), NULL, 0);
    }
    return error;
}

static cudaError_t items_again(struct joins *joins, enum again kind)
{
    struct kernel_args looks = joins->work[0];
    struct pinned *pinned = joins->pinned;
    int host_reads = kind == AGAIN_IN || kind == AGAIN_HOST, host_stores = kind == AGAIN_OUT || kind == AGAIN_HOST;
    cudaError_t error = open_aside(joins);
    uint32_t *to = host_stores ? pinned->words : joins->aside, *from = host_reads ? pinned->seen[0] : joins->aside + AGAIN_SOURCE;
    struct ask_hand hand = { from, to, AGAIN_WORDS };

    prepare(joins, 1, 0);
    looks.data = host_stores ? joins->follower[0].data : to;
    looks.input = host_reads ? joins->follower[0].seen : from;
    pinned->plan[0].words = kind == AGAIN_VALUE ? 1 : AGAIN_WORDS;
    pinned->plan[0].rotate = kind == AGAIN_ROWS || kind == AGAIN_COPY_ROWS ? 2 : 1;
    pinned->plan[0].repeats = (kind >= AGAIN_IN && kind <= AGAIN_COPY_ROWS) || kind == AGAIN_HOST;
    memset(pinned->seen[0], 0x5A, AGAIN_WORDS * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = put_words(joins->aside + AGAIN_SOURCE, pinned->seen[0], AGAIN_WORDS);
    if (error == cudaSuccess)
        error = open_again(joins);
    if (error == cudaSuccess)
        error = queue_three_times(joins, kind, &looks, to, from, &hand);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    pinned->host_is_stale = pinned->state.early != 0 || pinned->state.finished != AGAIN_ITEMS;
    return error;
}

static cudaError_t again_bytes(struct joins *joins) { return items_again(joins, AGAIN_BYTES); }
static cudaError_t again_halves(struct joins *joins) { return items_again(joins, AGAIN_HALVES); }
static cudaError_t again_whole(struct joins *joins) { return items_again(joins, AGAIN_WHOLE); }
static cudaError_t again_rows(struct joins *joins) { return items_again(joins, AGAIN_ROWS); }
static cudaError_t again_in(struct joins *joins) { return items_again(joins, AGAIN_IN); }
static cudaError_t again_out(struct joins *joins) { return items_again(joins, AGAIN_OUT); }
static cudaError_t again_within(struct joins *joins) { return items_again(joins, AGAIN_WITHIN); }
static cudaError_t again_copy_rows(struct joins *joins) { return items_again(joins, AGAIN_COPY_ROWS); }
static cudaError_t again_host(struct joins *joins) { return items_again(joins, AGAIN_HOST); }
static cudaError_t again_graph(struct joins *joins) { return items_again(joins, AGAIN_GRAPH); }

static cudaError_t again_value(struct joins *joins)
{
    joins->unasked = values_lack(joins->ask->stream) != NULL;
    return joins->unasked ? cudaSuccess : items_again(joins, AGAIN_VALUE);
}

/* One event, recorded by the one stream and awaited by the other one each time: no kernel there looks before as many
 * have ended here. */
static cudaError_t again_event(struct joins *joins)
{
    struct kernel_args here = joins->work[0], there = joins->work[0];
    cudaEvent_t event = NULL;
    uint32_t words[AGAIN_LAUNCHES];
    cudaError_t error = open_aside(joins);
    unsigned wrong = 0, i;

    prepare(joins, 1, 0);
    here.data = joins->aside, here.seen = joins->aside + AGAIN_SOURCE;
    there.data = joins->aside, there.seen = joins->aside + 2; /* how many of them have begun, and what they saw */
    if (error == cudaSuccess)
        error = cudaMemset(joins->aside, 0, (AGAIN_SOURCE + AGAIN_LAUNCHES) * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (i = 0; i < AGAIN_LAUNCHES / 2 && error == cudaSuccess; i++) {
        error = launch_one((const void *)SYMBOL(joins_again), &here, 1, joins->stream[0], NULL, 0);
        if (error == cudaSuccess)
            error = record_and_await(event, joins->stream[0], joins->stream[1]);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(joins_again_follows), &there, 1, FOLLOWS_IN(joins, joins->stream[1]), NULL, 0);
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(words, there.seen, sizeof(words), cudaMemcpyDeviceToHost);
    for (i = 0; i < AGAIN_LAUNCHES / 2 && error == cudaSuccess; i++)
        wrong |= words[1 + i] < i + 1;
    joins->pinned->host_is_stale = wrong;
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static void ask_again(struct ask *ask)
{
    static const struct join joins[AGAIN_WAYS] = {
        { "early or left out among equal launches", again_launched },
        { "early or left out among equal launches by the driver", again_by_driver },
        { "early or left out among equal launches that were captured", again_captured },
        { "left out of equal memsets", again_bytes },
        { "left out of equal memsets of values of two bytes", again_halves },
        { "left out of equal memsets of words", again_whole },
        { "left out of equal memsets of rows", again_rows },
        { "left out of equal copies to the device", again_in },
        { "left out of equal copies to the host", again_out },
        { "left out of equal copies in the device", again_within },
        { "left out of equal copies of rows", again_copy_rows },
        { "left out of equal values that are written", again_value },
        { "left out of equal host functions", again_host },
        { "left out of launches of one memset's graph", again_graph },
        { "early after one event that is recorded and awaited again", again_event },
        { "early in a long row of kernels that wait", again_in_long_row },
        { "early in a captured long row of kernels that wait", again_in_captured_row },
    };

    ask_joins(ask, joins, AGAIN_WAYS, cudaStreamNonBlocking);
}

#endif
