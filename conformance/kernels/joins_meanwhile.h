/* joins_meanwhile.h - the part of the pair told of joins.cu with the same calls, and those that are refused, while work is half done: the host holds
 * a primary, first before its trigger, then while its dependent waits, and more stands behind both. No call lets any of it go. */
#ifndef JOINS_MEANWHILE_H_INCLUDED
#define JOINS_MEANWHILE_H_INCLUDED

#define MEANWHILE_NS 20000000u /* longer than a call takes that does not wait for the device */
#define MEANWHILES 4u          /* ways in which each call is asked */
#define MEANWHILE_LOOKS 1000u  /* looks at most: no device has to let a dependent begin early */

enum held { HELD_BEGUN = 1, HELD_TRIGGERS, HELD_STORES };

/* Until the host says so: at the latest after a while. */
DEVICE_FN uint32_t host_says(const struct kernel_args *args, uint32_t step)
{
    uint32_t bound_ns = k_plan(args).bound_ns, spins = 0;
    uint64_t begin = k_now();

    while (k_load_system(&args->state->finished) < step) {
        if (k_now() - begin >= bound_ns || ++spins > K_SPIN_LIMIT)
            return 0;
        k_pause();
    }
    return 1;
}

/* Triggers, and stores its words, when the host says so. */
KERNEL(joins_held)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0) {
        k_store_relaxed(&args.state->began, 1);
        if (host_says(&args, HELD_TRIGGERS))
            k_store_relaxed(&args.state->witnessed, 1);
        k_trigger();
        (void)host_says(&args, HELD_STORES);
    }
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* A dependent that waits, and a kernel that comes after both. */
static cudaError_t queue_held(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = launch_one((const void *)SYMBOL(joins_held), &joins->work[0], PLACE_WORDS, stream, NULL, 0);

    if (error == cudaSuccess)
        error = depend(joins, stream);
    return error == cudaSuccess ? follow(joins, 1, stream) : error;
}

/* The same as nodes of a graph: the kernel beside the dependent, after a full edge. */
static cudaError_t launch_held(struct joins *joins, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaGraphEdgeData trigger = edges_data(1, 0, 1), full = edges_data(0, 0, 0);
    cudaGraphNode_t held, after[2];
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&held, graph, (const void *)SYMBOL(joins_held), &joins->work[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&after[0], graph, (const void *)SYMBOL(AWAITING_FOLLOWER), &joins->follower[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&after[1], graph, (const void *)SYMBOL(joins_follower), &joins->follower[1], PLACE_WORDS);
    if (error == cudaSuccess)
        error = edges_add(graph, &held, &after[0], &trigger, 1); /* one by one: rule EDGE-33 alone asks for more in a call */
    if (error == cudaSuccess)
        error = edges_add(graph, &held, &after[1], &full, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? cudaGraphLaunch(*exec, stream) : error;
}

/* Waits until the device has set this, but not for long. */
static void await_word(volatile const uint32_t *word, cudaStream_t stream)
{
    unsigned looks;

    for (looks = 0; looks < MEANWHILE_LOOKS && !*word && cudaStreamQuery(stream) == cudaErrorNotReady; looks++) {
    }
    (void)cudaGetLastError();
}

/* What the call, if there is one, lets go has the time of two questions to begin. */
static cudaError_t call_and_look(struct joins *joins, idle_call call, cudaEvent_t event)
{
    cudaError_t error = call ? call(joins, joins->stream[0], event) : cudaSuccess;

    (void)whatever(cudaStreamQuery(joins->stream[0]));
    (void)whatever(cudaStreamQuery(joins->stream[0]));
    return error;
}

/* A dependent that began before the host let the primary trigger is wrong, unless the primary had given up waiting for the host. */
static cudaError_t call_while_held(struct joins *joins, idle_call call, int waits, cudaEvent_t event)
{
    volatile struct trial_state *state = &joins->pinned->state;
    cudaStream_t stream = joins->stream[0];
    unsigned early;
    cudaError_t error, end;

    await_word(&state->began, stream);
    error = call_and_look(joins, waits ? NULL : call, event);
    early = state->alive != 0;
    state->finished = HELD_TRIGGERS;
    await_word(&state->alive, stream);
    if (error == cudaSuccess)
        error = call_and_look(joins, waits ? call : NULL, event);
    state->finished = HELD_STORES;
    end = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = early && state->witnessed;
    return error == cudaSuccess ? end : error;
}

/* In a graph or not, before the trigger or while the dependent waits. Another stream waits for an event behind all of it. */
static cudaError_t meanwhile(struct joins *joins, idle_call call, unsigned way, uint32_t bound_ns)
{
    cudaGraphExec_t exec = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 3);
    joins->pinned->plan[0].bound_ns = bound_ns;
    if (error == cudaSuccess)
        error = way % 2 ? launch_held(joins, joins->stream[0], &exec) : queue_held(joins, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = follow(joins, 2, joins->stream[1]);
    if (error == cudaSuccess)
        error = call_while_held(joins, call, way / 2, event);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* Each call in each way; the host holds a primary for so long at most. */
static void ask_meanwhile_all(struct ask *ask, const struct named_call *calls, unsigned count, uint32_t bound_ns, const char *what)
{
    struct joins joins = PDL_ZERO;
    const char *last = what;
    unsigned stale = 0;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    for (; joins.trial < MEANWHILES * count && error == cudaSuccess; joins.trial++) {
        last = calls[joins.trial / MEANWHILES].name;
        error = open_told(&joins);
        if (error == cudaSuccess)
            error = meanwhile(&joins, calls[joins.trial / MEANWHILES].call, joins.trial % MEANWHILES, bound_ns);
        error = end_told(&joins, error);
        if (error == cudaSuccess && is_stale(&joins)) {
            stale++;
            what = last; /* the last one that let something go */
        }
    }
    ask_expect(ask, error == cudaSuccess ? "calls while a primary is held" : last, error, cudaSuccess);
    ask_expect_none(ask, what, stale, joins.trial);
    close_joins(&joins);
}

/* ---- calls with the stream of the held primary, or with the event that is recorded after it ---- */

/* Launches of which nothing is made. */
static cudaError_t capture_in_its_stream(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), end;

    (void)event;
    if (error != cudaSuccess)
        return error;
    error = silent(joins, stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, &attribute, 1);
    end = cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

static cudaError_t lend_and_borrow(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = cudaStreamCopyAttributes(elsewhere(joins), stream);

    (void)event;
    return error == cudaSuccess ? cudaStreamCopyAttributes(stream, elsewhere(joins)) : error;
}

/* What waits for the event waits for the record that there was. */
static cudaError_t record_it_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream;
    return cudaEventRecord(event, elsewhere(joins));
}

static cudaError_t await_it_elsewhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)stream;
    return cudaStreamWaitEvent(joins->stream[3], event, 0);
}

/* The stream that waits for the event goes; what it holds does not. */
static cudaError_t leave_waiting(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaStream_t left = joins->stream[1];
    cudaError_t error = cudaStreamCreateWithFlags(&joins->stream[1], cudaStreamNonBlocking);

    (void)stream, (void)event;
    return error == cudaSuccess ? cudaStreamDestroy(left) : error;
}

static const struct named_call own_calls[] = {
    { "stale after a copy of no bytes", copy_nothing },
    { "stale after a memset of no bytes", set_nothing },
    { "stale after a copy of no rows", copy_no_rows },
    { "stale after a memset of no rows", set_no_rows },
    { "stale after an attribute of the stream", give_attribute },
    { "stale after a capture of its stream", capture_in_its_stream },
    { "stale after attributes that streams lend each other", lend_and_borrow },
    { "stale after another record of the event", record_it_elsewhere },
    { "stale after another wait for the event", await_it_elsewhere },
    { "stale after the end of the stream that waits", leave_waiting },
};

static void ask_meanwhile_told(struct ask *ask)
{
    ask_meanwhile_all(ask, told_calls, TOLD, MEANWHILE_NS, "what a call let go while a primary was held");
    ask_meanwhile_all(ask, refused_calls, REFUSED, MEANWHILE_NS, "what a refused call let go while a primary was held");
    ask_meanwhile_all(ask, own_calls, sizeof(own_calls) / sizeof(own_calls[0]), MEANWHILE_NS,
                      "what a call with its stream let go while a primary was held");
}

#endif
