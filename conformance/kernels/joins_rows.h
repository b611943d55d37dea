/* joins_rows.h - the pairs of joins.cu with rows of kernels that overlap, and with other attributes beside those of PDL. */
#ifndef JOINS_ROWS_H_INCLUDED
#define JOINS_ROWS_H_INCLUDED

/* ---- rows of kernels that overlap and neither wait nor store ---- */

#ifdef MUTANT_otherstream
#define ROW_ENDS_EARLY 1u /* as the others, where it must not */
#else
#define ROW_ENDS_EARLY 0u
#endif

#define ROWS 11u               /* ways to ask */
#define ROW_BLOCKS 33u         /* of a large grid */
#define LONG_ROW 20u           /* kernels; more of them are asked for a few times, because the work has to outlast their launches then */
#define ROW_HOLD 8000u         /* nanoseconds for each of these: longer than a launch takes; in a graph a quarter of it is */

static cudaError_t silent(struct joins *joins, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = serialization(1);

    return launch_blocks((const void *)SYMBOL(joins_silent), &joins->work[0], joins->trial % 4 == 3 ? ROW_BLOCKS : 1, 1, stream, &attribute, 1);
}

/* The last silent kernel may have ended meanwhile, and the work not. */
static cudaError_t ask_for_row(const struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = cudaErrorNotReady;
    unsigned i;

    for (i = 0; i < joins->asks && error == cudaErrorNotReady; i++)
        error = cudaStreamQuery(stream);
    (void)cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

/* So many silent kernels, work, and silent kernels again, all with the attribute. */
static cudaError_t row_alone(struct joins *joins, unsigned ahead, unsigned kernels, cudaStream_t stream)
{
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < ahead && error == cudaSuccess; i++)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, stream, &early, 1);
    for (i = 0; i < kernels && error == cudaSuccess; i++)
        error = silent(joins, stream);
    return error == cudaSuccess ? ask_for_row(joins, stream) : error;
}

/* Each block of a large grid copies what it finds to a place of its own, for readers_are_stale(). */
static cudaError_t follow_in_blocks(struct joins *joins, cudaStream_t stream)
{
    return launch_blocks((const void *)SYMBOL(joins_block_followers), &joins->follower[0], ROW_BLOCKS, PLACE_WORDS / 4, FOLLOWS_IN(joins, stream),
                         NULL, 0);
}

/* With this hint before or after attribute 6, or with it alone. What a device refuses is launched without the hint. */
static cudaError_t launch_hinted(const void *function, const struct kernel_args *args, cudaStream_t stream, cudaLaunchAttributeID id, unsigned turn,
                                 int six)
{
    cudaLaunchAttribute attrs[2], plain = serialization(1);
    cudaError_t error;

    attrs[turn & 1] = serialization(1);
    attrs[six ? 1 - (turn & 1) : 0] = hint_of(id);
    error = launch_one(function, args, PLACE_WORDS, stream, attrs, 1 + (six != 0));
    if (error == cudaSuccess)
        return error;
    (void)cudaGetLastError();
    return launch_one(function, args, PLACE_WORDS, stream, &plain, six != 0);
}

typedef cudaError_t (*row_maker)(struct joins *joins, unsigned ahead, unsigned kernels, cudaEvent_t event);

/* Without the attribute, and perhaps with a hint. */
static cudaError_t follow_row(const struct joins *joins, cudaStream_t stream)
{
    cudaLaunchAttribute early = serialization(1);

    if (joins->hint != cudaLaunchAttributeIgnore)
        return launch_hinted((const void *)SYMBOL(joins_follower), &joins->follower[0], stream, joins->hint, 0, ROW_ENDS_EARLY);
    return launch_one((const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS, stream, &early, ROW_ENDS_EARLY);
}

/* What comes next in a stream that captures comes after an empty node as well, and after nothing less. */
static cudaError_t depend_on_more(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = edges_of_capture(stream, &status, NULL, &graph, NULL, NULL, NULL);

    if (error != cudaSuccess || status != cudaStreamCaptureStatusActive)
        return error;
    error = cudaGraphAddEmptyNode(&node, graph, NULL, 0);
    return error == cudaSuccess ? edges_update_capture(stream, &node, NULL, 1, cudaStreamAddCaptureDependencies) : error;
}

/* A row, and a follower without the attribute. joined: the event of a join with another stream, or NULL. */
static cudaError_t row(struct joins *joins, unsigned ahead, unsigned kernels, cudaEvent_t joined)
{
    cudaStream_t stream = joins->stream[0], side = joins->stream[1];
    cudaError_t error = joined ? record_and_await(joined, stream, side) : cudaSuccess;

    if (error == cudaSuccess)
        error = row_alone(joins, ahead, kernels, stream);
    if (error == cudaSuccess && joined)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, side, NULL, 0);
    if (error == cudaSuccess && joined)
        error = record_and_await(joined, side, stream);
    if (error == cudaSuccess && joins->trial / ROWS % 3 == 1)
        error = depend_on_more(stream);
    if (error == cudaSuccess)
        error = follow_row(joins, stream);
    return error;
}

/* The row stands in a stream that forks, and the follower in the stream that it comes back to. */
static cudaError_t row_in_fork(struct joins *joins, unsigned ahead, unsigned kernels, cudaEvent_t event)
{
    cudaStream_t stream = joins->stream[0], fork = joins->stream[1];
    cudaError_t error = record_and_await(event, stream, fork);

    if (error == cudaSuccess)
        error = row_alone(joins, ahead, kernels, fork);
    if (error == cudaSuccess)
        error = record_and_await(event, fork, stream);
    return error == cudaSuccess ? follow(joins, 0, stream) : error;
}

/* The row stands in the first stream, and its last kernel records the event; then the stream does, and the follower comes after that in a fork. */
static cudaError_t row_of_recorder(struct joins *joins, unsigned ahead, unsigned kernels, cudaEvent_t event)
{
    cudaStream_t stream = joins->stream[0], fork = joins->stream[1];
    cudaLaunchAttribute attrs[2] = { serialization(1), recording(event) };
    cudaError_t error = row_alone(joins, ahead, kernels, stream);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, attrs, 2);
    if (error == cudaSuccess)
        error = record_and_await(event, stream, fork);
    if (error == cudaSuccess)
        error = follow(joins, 0, fork);
    return error == cudaSuccess ? record_and_await(event, fork, stream) : error;
}

/* So many bytes from the device to the host, by a graph of its own. */
static cudaError_t copy_in_graph(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, to, from, bytes, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* The work stores to the device's memory in one stream, and what comes after it, in the same stream a silent kernel first, copies that to the
 * host. */
static cudaError_t moved(struct joins *joins, cudaStream_t from, cudaStream_t then, int in_graph)
{
    struct kernel_args args = joins->work[0];
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);
    void *words = NULL, *to = joins->pinned->seen[0];
    cudaStream_t end = FOLLOWS_IN(joins, then);
    cudaError_t error = cudaMalloc(&words, bytes);

    prepare(joins, 1, 1);
    args.data = (uint32_t *)words;
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, from, NULL, 0);
    if (error == cudaSuccess && then == from)
        error = silent(joins, from);
    if (error == cudaSuccess)
        error = in_graph ? copy_in_graph(to, words, bytes, end) : cudaMemcpyAsync(to, words, bytes, cudaMemcpyDeviceToHost, end);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    (void)cudaFree(words);
    return error;
}

static cudaError_t row_copied(struct joins *joins) { return moved(joins, joins->stream[0], joins->stream[0], 0); }
static cudaError_t row_in_graph(struct joins *joins) { return moved(joins, joins->stream[0], joins->stream[0], 1); }

static cudaError_t captured_row(struct joins *joins, row_maker make, unsigned ahead, unsigned kernels, cudaEvent_t event)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = make(joins, ahead, kernels, event);
    end = cudaStreamEndCapture(joins->stream[0], &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* With an event, if it needs one, which is made outside of the capture. */
static cudaError_t any_row(struct joins *joins, row_maker make, unsigned ahead, unsigned kernels, int events, int captured)
{
    unsigned turn = joins->trial / ROWS, hint = captured ? 0 : (joins->trial + turn) % (1 + HINT_KINDS);
    cudaEvent_t event = NULL;
    cudaError_t error = events ? cudaEventCreateWithFlags(&event, cudaEventDisableTiming) : cudaSuccess;

    prepare(joins, 1, 1);
    if (kernels > LONG_ROW)
        joins->pinned->plan[0].hold_ns = (captured ? ROW_HOLD / 4 : ROW_HOLD) * kernels;
    joins->asks = captured || turn % 2 == 0 ? 0 : 1u << turn / 2 % 7;
    joins->hint = hint ? nth_hint(hint - 1).id : cudaLaunchAttributeIgnore;
    if (error == cudaSuccess)
        error = captured ? captured_row(joins, make, ahead, kernels, event) : make(joins, ahead, kernels, event);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t row_eager(struct joins *joins) { return any_row(joins, row, joins->trial / ROWS % 2 * 6, 3, 0, 0); }

/* As many before the work in every second turn; or, in a few of the first turns, up to so many that no list of 256 holds them. */
static cudaError_t long_row(struct joins *joins, int captured)
{
    static const unsigned longer[] = { 33, 70, 140, 270 };
    unsigned turn = joins->trial / ROWS, most = sizeof(longer) / sizeof(longer[0]);

    if (turn - 1 < most)
        return any_row(joins, row, 0, longer[turn - 1], 0, captured);
    return any_row(joins, row, turn % 2 * LONG_ROW, LONG_ROW, 0, captured);
}

static cudaError_t row_eager_long(struct joins *joins) { return long_row(joins, 0); }
static cudaError_t row_eager_joined(struct joins *joins) { return any_row(joins, row, 0, 2, 1, 0); }
/* Up to three kernels before the work, and one to twelve after it, all with the attribute. */
static cudaError_t forked_row(struct joins *joins, int captured)
{
    unsigned turn = joins->trial / ROWS;

    return any_row(joins, row_in_fork, turn % 4, 1 + turn / 4 % 12, 1, captured);
}

static cudaError_t row_eager_forked(struct joins *joins) { return forked_row(joins, 0); }
static cudaError_t row_captured(struct joins *joins) { return any_row(joins, row, joins->trial / ROWS % 2 * 6, 3, 0, 1); }
static cudaError_t row_captured_long(struct joins *joins) { return long_row(joins, 1); }
static cudaError_t row_captured_joined(struct joins *joins) { return any_row(joins, row, 0, 2, 1, 1); }
static cudaError_t row_captured_forked(struct joins *joins) { return forked_row(joins, 1); }

static cudaError_t row_captured_recorder(struct joins *joins) { return any_row(joins, row_of_recorder, 0, joins->trial / ROWS % 3, 1, 1); }

static void ask_rows(struct ask *ask)
{
    static const struct join joins[ROWS] = {
        { "stale after a row of few silent kernels", row_eager },
        { "stale after a row of many silent kernels", row_eager_long },
        { "stale after silent kernels and a join", row_eager_joined },
        { "stale after silent kernels in a fork", row_eager_forked },
        { "stale after a captured row of few silent kernels", row_captured },
        { "stale after a captured row of many silent kernels", row_captured_long },
        { "stale after captured silent kernels and a join", row_captured_joined },
        { "stale after captured silent kernels in a fork", row_captured_forked },
        { "stale after a captured silent kernel that records an event", row_captured_recorder },
        { "stale in a copy to the host after a silent kernel", row_copied },
        { "stale in a graph after a silent kernel", row_in_graph },
    };

    ask_joins(ask, joins, ROWS, cudaStreamNonBlocking);
}

/* ---- launches with other attributes beside those of PDL ---- */

#define BESIDE_WAYS 9u

#ifdef MUTANT_otherstream
#define WAITS_BESIDE 0
#else
#define WAITS_BESIDE 1
#endif

/* The follower waits; in every third turn it has no attribute 6, and need not. In every other turn the work has the hint, too. */
static cudaError_t beside(struct joins *joins, cudaLaunchAttributeID id)
{
    unsigned turn = joins->trial / BESIDE_WAYS;
    int six = turn % 3 != 2;
    const void *function = WAITS_BESIDE && six ? (const void *)SYMBOL(joins_early_follower) : (const void *)SYMBOL(joins_follower);
    cudaError_t error;

    prepare(joins, 1, 1);
    error = launch_hinted((const void *)SYMBOL(joins_work), &joins->work[0], joins->stream[0], turn % 2 ? id : cudaLaunchAttributeIgnore, 0, 0);
    return error == cudaSuccess ? launch_hinted(function, &joins->follower[0], joins->stream[0], id, turn, six) : error;
}

static cudaError_t beside_map(struct joins *joins) { return beside(joins, cudaLaunchAttributeMemSyncDomainMap); }
static cudaError_t beside_scheduling(struct joins *joins) { return beside(joins, cudaLaunchAttributeClusterSchedulingPolicyPreference); }
static cudaError_t beside_window(struct joins *joins) { return beside(joins, cudaLaunchAttributeAccessPolicyWindow); }

#if CUDART_VERSION >= 13000
static cudaError_t beside_nvlink(struct joins *joins) { return beside(joins, cudaLaunchAttributeNvlinkUtilCentricScheduling); }
#else
static cudaError_t beside_nvlink(struct joins *joins) { return beside(joins, cudaLaunchAttributeIgnore); }
#endif

#if CUDART_VERSION >= 12050
static cudaError_t beside_carveout(struct joins *joins) { return beside(joins, (cudaLaunchAttributeID)14); } /* 0 percent */
#else
static cudaError_t beside_carveout(struct joins *joins) { return beside(joins, cudaLaunchAttributeIgnore); }
#endif

#if CUDART_VERSION >= 12080
static cudaError_t beside_preferred(struct joins *joins) { return beside(joins, cudaLaunchAttributePreferredClusterDimension); }
#else
static cudaError_t beside_preferred(struct joins *joins) { return beside(joins, cudaLaunchAttributeIgnore); }
#endif

/* By the driver's call in every second trial. */
static cudaError_t work_with_many(struct joins *joins, cudaLaunchAttribute *attrs)
{
    void *values[1];
    cudaLaunchConfig_t config = one_block(PLACE_WORDS, joins->stream[0]);

    values[0] = &joins->work[0];
    config.attrs = attrs;
    config.numAttrs = MANY_ATTRIBUTES;
    return joins->trial / BESIDE_WAYS % 2 ? launch_by_driver(&config, (const void *)SYMBOL(joins_work), values)
                                : cudaLaunchKernelExC(&config, (const void *)SYMBOL(joins_work), values);
}

/* The last of many attributes is the event that the follower waits for. */
static cudaError_t beside_many(struct joins *joins)
{
    cudaLaunchAttribute attrs[MANY_ATTRIBUTES];
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    memset(attrs, 0, sizeof(attrs)); /* id 0: ignored */
    attrs[MANY_ATTRIBUTES - 1] = recording(event);
    if (error == cudaSuccess)
        error = work_with_many(joins, attrs);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[1]),
                           NULL, 0);
    (void)cudaEventDestroy(event);
    return error;
}

/* Attributes that give a launch what it has without them. */
static cudaLaunchAttribute as_ever(unsigned which)
{
    cudaLaunchAttribute attribute;

    switch (which % 4) {
    case 0: return in_clusters(1);
    case 1: return of_priority(0);
    case 2: attribute = cooperatively(); break;
    default: attribute = in_remote_domain(); break;
    }
    if (which % 4 == 2)
        attribute.val.cooperative = 0;
    else
        attribute.val.memSyncDomain = cudaLaunchMemSyncDomainDefault;
    return attribute;
}

/* A dependent with one of these, before its attribute 6 or after it; in every other four turns its work has another one, too. */
static cudaError_t beside_as_ever(struct joins *joins)
{
    unsigned turn = joins->trial / BESIDE_WAYS, six = turn / 2 % 2;
    const void *function = WAITS_BESIDE ? (const void *)SYMBOL(joins_early_follower) : (const void *)SYMBOL(joins_follower);
    cudaLaunchAttribute attrs[2], more = as_ever(turn + 1);
    cudaError_t error;

    attrs[six] = serialization(1);
    attrs[1 - six] = as_ever(turn);
    prepare(joins, 1, 1);
    error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &more, turn / 4 % 2);
    return error == cudaSuccess ? launch_one(function, &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, joins->stream[0]), attrs, 2) : error;
}

/* A dependent with the attribute whose stream waits for the event of the same launch, once or twice. In every third turn it is in another
 * stream, where only the event leads to it. */
static cudaError_t beside_itself(struct joins *joins)
{
    unsigned turn = joins->trial / BESIDE_WAYS, waits = 1 + turn % 2, i;
    const void *function = WAITS_BESIDE ? (const void *)SYMBOL(joins_early_follower) : (const void *)SYMBOL(joins_follower);
    cudaStream_t stream = joins->stream[turn % 3 == 2];
    cudaLaunchAttribute attrs[1], attribute = serialization(1);
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    attrs[0] = recording(event);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], attrs, 1);
    for (i = 0; i < waits && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = launch_one(function, &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, stream), &attribute, 1);
    (void)cudaEventDestroy(event);
    return error;
}

static void ask_beside(struct ask *ask)
{
    static const struct join joins[BESIDE_WAYS] = {
        { "stale in a launch with a map of memory-sync domains", beside_map },
        { "stale in a launch with a scheduling policy", beside_scheduling },
        { "stale in a launch with an access policy window", beside_window },
        { "stale in a launch with a carve-out", beside_carveout },
        { "stale in a launch with NVLink-centric scheduling", beside_nvlink },
        { "stale in a launch with preferred clusters", beside_preferred },
        { "stale after the last of many attributes", beside_many },
        { "stale in a launch with an attribute that changes nothing", beside_as_ever },
        { "stale in a dependent of one launch in two ways", beside_itself },
    };

    ask_joins(ask, joins, BESIDE_WAYS, cudaStreamNonBlocking);
}

#endif
