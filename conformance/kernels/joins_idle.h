/* joins_idle.h - the pairs of joins.cu in which calls that have nothing to do, or that are refused, stand between work and follower, and in which
 * the follower is queued by another call. */
#ifndef JOINS_IDLE_H_INCLUDED
#define JOINS_IDLE_H_INCLUDED

/* ---- calls without effect ---- */

typedef cudaError_t (*idle_call)(struct joins *joins, cudaStream_t stream, cudaEvent_t event);

static cudaError_t copy_nothing(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)event;
    return whatever(cudaMemcpyAsync(joins->follower[0].seen, joins->follower[0].data, 0, cudaMemcpyDefault, stream));
}

static cudaError_t set_nothing(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)event;
    return whatever(cudaMemsetAsync(joins->follower[0].seen, 0, 0, stream));
}

/* Of no rows, or of rows of no bytes. */
static cudaError_t copy_no_rows(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    size_t bytes = joins->round / 4 % 2 ? 4 : 0, rows = bytes ? 0 : 2;

    (void)event;
    return whatever(cudaMemcpy2DAsync(joins->follower[0].seen, 4, joins->follower[0].data, 4, bytes, rows, cudaMemcpyDefault, stream));
}

static cudaError_t set_no_rows(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    size_t bytes = joins->round / 4 % 2 ? 4 : 0, rows = bytes ? 0 : 2;

    (void)event;
    return whatever(cudaMemset2DAsync(joins->follower[0].seen, 4, 0, bytes, rows, stream));
}

static cudaError_t wait_for_none(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins;
    (void)event;
    return whatever(cudaStreamWaitEvent(stream, NULL, 0));
}

static cudaError_t launch_no_threads(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)event;
    return whatever(launch_one((const void *)SYMBOL(joins_follower), &joins->follower[0], 0, stream, NULL, 0));
}

static cudaError_t launch_no_threads_plainly(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    struct kernel_args copy = joins->follower[0];
    void *params[1];
    dim3 grid, block;

    (void)event;
    params[0] = &copy;
    grid.x = grid.y = grid.z = block.y = block.z = 1;
    block.x = 0;
    return whatever(cudaLaunchKernel((const void *)SYMBOL(joins_follower), grid, block, params, 0, stream));
}

/* "the direction of the memcpy passed to the API call is not one of the types" */
static cudaError_t copy_nowhere(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)event;
    return whatever(cudaMemcpyAsync(joins->follower[0].seen, joins->follower[0].data, 4, (enum cudaMemcpyKind)7, stream));
}

static cudaError_t give_attribute(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttributeValue value = PDL_ZERO;

    (void)joins;
    (void)event;
    value.syncPolicy = cudaSyncPolicyAuto;
    return whatever(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
}

/* "This flag is invalid when used outside of capture." A record that is taken all the same makes the event another one's. */
static cudaError_t record_outside(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    joins->unasked = cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal) == cudaSuccess;
    (void)cudaGetLastError();
    return cudaSuccess;
}

#ifdef MUTANT_otherstream
#define AWAITING_FOLLOWER joins_follower
#define EARLY_FOLLOWER joins_follower
#define FENCED_FOLLOWER joins_follower
#else
#define AWAITING_FOLLOWER joins_waiting_follower
#define EARLY_FOLLOWER joins_early_follower
#define FENCED_FOLLOWER joins_fenced_follower
#endif

/* A follower; or a dependent: one with the attribute, which waits; in two of three trials it has read the words before, in one of them after a
 * fence. Which trials these are is drawn, so that nothing else alternates with it. */
static cudaError_t read_or_depend(struct joins *joins, struct kernel_args *args, cudaStream_t stream, unsigned dependent)
{
    const void *functions[] = { (const void *)SYMBOL(AWAITING_FOLLOWER), (const void *)SYMBOL(EARLY_FOLLOWER),
                                (const void *)SYMBOL(FENCED_FOLLOWER) };
    cudaLaunchAttribute attribute = serialization(1);

    return launch_one(dependent ? functions[words_fresh(0xDE9, joins->trial) % 3] : (const void *)SYMBOL(joins_follower), args, PLACE_WORDS,
                      FOLLOWS_IN(joins, stream), dependent ? &attribute : NULL, dependent);
}

static cudaError_t depend(struct joins *joins, cudaStream_t stream) { return read_or_depend(joins, &joins->follower[0], stream, 1); }

static cudaError_t follow_or_depend(struct joins *joins, cudaStream_t stream, int dependent)
{
    return read_or_depend(joins, &joins->follower[0], stream, dependent != 0);
}

/* Between a stream's wait for an event and its follower, or a dependent that waits. */
static cudaError_t call_after_wait(struct joins *joins, idle_call call, int dependent)
{
    cudaEvent_t event = NULL;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = call(joins, joins->stream[1], event);
    if (error == cudaSuccess)
        error = follow_or_depend(joins, joins->stream[1], dependent);
    (void)cudaEventDestroy(event);
    return error;
}

/* Between work and its follower, or a dependent that waits. */
static cudaError_t call_in_line(struct joins *joins, idle_call call, int dependent)
{
    cudaStream_t stream = joins->stream[0];
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = call(joins, stream, NULL);
    return error == cudaSuccess ? follow_or_depend(joins, stream, dependent) : error;
}

/* A call, and what it is called wrong with. */
struct named_call {
    const char *name;
    idle_call call;
};

/* Each of these calls in turn, which `make` puts somewhere. */
static void ask_calls(struct ask *ask, const struct named_call *calls, unsigned count, join_maker make)
{
    struct join joins[JOINS_MAX];
    unsigned i;

    for (i = 0; i < count; i++) {
        joins[i].name = calls[i].name;
        joins[i].make = make;
    }
    ask_joins(ask, joins, count, cudaStreamNonBlocking);
}

/* In each round at another place. */
static cudaError_t call_between(struct joins *joins, idle_call call)
{
    int dependent = joins->round % 2 == 0;

    return joins->round / 2 % 2 ? call_after_wait(joins, call, dependent) : call_in_line(joins, call, dependent);
}

static cudaError_t idle_copy(struct joins *joins) { return call_between(joins, copy_nothing); }
static cudaError_t idle_set(struct joins *joins) { return call_between(joins, set_nothing); }
static cudaError_t idle_copy_of_rows(struct joins *joins) { return call_between(joins, copy_no_rows); }
static cudaError_t idle_set_of_rows(struct joins *joins) { return call_between(joins, set_no_rows); }
static cudaError_t idle_attribute(struct joins *joins) { return call_between(joins, give_attribute); }

/* The record that is refused leaves the event what it stood for. */
static cudaError_t idle_record(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = record_outside(joins, joins->stream[2], event);
    return await_and_follow(joins, event, error);
}

/* In the work's own stream. */
static cudaError_t idle_in_line(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = copy_nothing(joins, joins->stream[0], NULL);
    if (error == cudaSuccess)
        error = set_nothing(joins, joins->stream[0], NULL);
    if (error == cudaSuccess && joins->round % 2)
        error = copy_nowhere(joins, joins->stream[0], NULL);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* An event that is destroyed leaves its stream as it was. */
static cudaError_t idle_destruction(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 1, &event);

    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? follow(joins, 0, joins->stream[0]) : error;
}

/* In a capture between work and follower. The call may invalidate the capture, which its end says, or be taken and make the graph one that
 * cannot be made executable: then nothing is asked. Else what comes after it comes after what is before it. */
static cudaError_t idle_captured(struct joins *joins, idle_call call)
{
    cudaStream_t stream = joins->stream[0];
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;
    cudaError_t error;

    prepare(joins, 1, 1);
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = call(joins, stream, NULL);
    (void)follow_or_depend(joins, stream, joins->round % 2 != 0);
    (void)cudaStreamEndCapture(stream, &graph);
    joins->unasked = !graph || cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess;
    (void)cudaGetLastError();
    if (error == cudaSuccess && !joins->unasked)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t idle_in_capture(struct joins *joins) { return idle_captured(joins, copy_nothing); }
static cudaError_t idle_set_in_capture(struct joins *joins) { return idle_captured(joins, joins->round % 3 ? set_nothing : set_no_rows); }
static cudaError_t idle_rows_in_capture(struct joins *joins) { return idle_captured(joins, copy_no_rows); }

/* "If cudaEventRecord() has not been called on event", it is complete: also one that is made once another one was destroyed before its time. */
static cudaError_t idle_event(struct joins *joins)
{
    cudaEvent_t event, fresh = NULL;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    (void)cudaEventDestroy(event);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventQuery(fresh);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(joins->stream[1], fresh, 0);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[1]);
    if (fresh)
        (void)cudaEventDestroy(fresh);
    return error;
}

static void ask_idle(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale after a copy of no bytes", idle_copy },
        { "stale after a memset of no bytes", idle_set },
        { "stale after an event that was to be recorded again and was refused", idle_record },
        { "stale after an attribute of the stream", idle_attribute },
        { "stale after an event that is destroyed, in its stream", idle_destruction },
        { "stale after a copy and a memset that move nothing", idle_in_line },
        { "stale after a captured copy of no bytes", idle_in_capture },
        { "stale after a copy of no rows", idle_copy_of_rows },
        { "stale after a memset of no rows", idle_set_of_rows },
        { "stale after a captured memset of no bytes, or no rows", idle_set_in_capture },
        { "stale after a captured copy of no rows", idle_rows_in_capture },
        { "stale after a wait and one for an event that was never recorded", idle_event },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

/* ---- followers that are queued by other calls ---- */

/* Copies what it finds, as a follower does. */
static cudaError_t copy_words(struct joins *joins, cudaStream_t stream, enum cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(joins->pinned->seen[0], joins->pinned->words, joins->works * PLACE_WORDS * sizeof(uint32_t), kind,
                           FOLLOWS_IN(joins, stream));
}

static cudaError_t call_copy(struct joins *joins, enum cudaMemcpyKind kind)
{
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, joins->stream[0]);
    return error == cudaSuccess ? copy_words(joins, joins->stream[0], kind) : error;
}

static cudaError_t call_default(struct joins *joins) { return call_copy(joins, cudaMemcpyDefault); }
static cudaError_t call_host(struct joins *joins) { return call_copy(joins, cudaMemcpyHostToHost); }

/* Rows of two bytes: more of them than a copy of rows has in most programs. */
static cudaError_t call_rows(struct joins *joins)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare(joins, PLACES, 1);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = work(joins, i, joins->stream[0]);
    if (error != cudaSuccess)
        return error;
    return cudaMemcpy2DAsync(joins->pinned->seen[0], 2, joins->pinned->words, 2, 2, ALL_WORDS * 2, cudaMemcpyDefault,
                             FOLLOWS_IN(joins, joins->stream[0]));
}

/* A copy from pinned memory reads it after the work, which a kernel, or a graph of it, does there. */
static cudaError_t call_from_pinned(struct joins *joins, int in_graph)
{
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);
    cudaStream_t stream = joins->stream[0], end = FOLLOWS_IN(joins, stream);
    cudaGraphExec_t exec = NULL;
    void *aside = NULL;
    cudaError_t error = cudaMalloc(&aside, bytes);

    prepare(joins, 1, 1);
    if (error == cudaSuccess && in_graph)
        error = ask_graph_of_kernel(&exec, (const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = in_graph ? cudaGraphLaunch(exec, stream) : work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(aside, joins->pinned->words, bytes, cudaMemcpyHostToDevice, end);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(joins->pinned->seen[0], aside, bytes, cudaMemcpyDeviceToHost, end);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaFree(aside);
    return error;
}

static cudaError_t call_from_pinned_work(struct joins *joins) { return call_from_pinned(joins, 0); }
static cudaError_t call_from_pinned_graph(struct joins *joins) { return call_from_pinned(joins, 1); }

/* Another stream waits for an event that the driver's call recorded, without flags. */
static cudaError_t call_record(struct joins *joins)
{
    typedef CUresult(CUDAAPI *record_fn)(CUevent, CUstream, unsigned);
    void *record = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = driver_function("cuEventRecordWithFlags", 11010, &record);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = (cudaError_t)((record_fn)record)((CUevent)event, (CUstream)joins->stream[0], CU_EVENT_RECORD_DEFAULT);
    return await_and_follow(joins, event, error);
}

static cudaError_t oldest_launch(struct joins *joins, cudaStream_t stream, int cooperative)
{
    struct kernel_args copy = joins->follower[0];
    void *params[1];
    dim3 grid, block;

    params[0] = &copy;
    grid.x = grid.y = grid.z = block.y = block.z = 1;
    block.x = PLACE_WORDS;
    if (cooperative)
        return cudaLaunchCooperativeKernel((const void *)SYMBOL(joins_follower), grid, block, params, 0, FOLLOWS_IN(joins, stream));
    return cudaLaunchKernel((const void *)SYMBOL(joins_follower), grid, block, params, 0, FOLLOWS_IN(joins, stream));
}

/* In the stream of the work, or, with an event, in another one. */
static cudaError_t call_oldest(struct joins *joins, int by_event, int cooperative)
{
    cudaEvent_t event = NULL;
    cudaError_t error = work_and_record(joins, 1, &event);

    if (error == cudaSuccess && by_event)
        error = cudaStreamWaitEvent(joins->stream[1], event, 0);
    if (error == cudaSuccess)
        error = oldest_launch(joins, joins->stream[by_event], cooperative);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t call_plainly(struct joins *joins) { return call_oldest(joins, 0, 0); }
static cudaError_t call_plainly_waiting(struct joins *joins) { return call_oldest(joins, 1, 0); }
static cudaError_t call_cooperative(struct joins *joins) { return call_oldest(joins, 0, 1); }
static cudaError_t call_cooperative_waiting(struct joins *joins) { return call_oldest(joins, 1, 1); }

static cudaError_t call_plainly_behind(struct joins *joins);
static cudaError_t call_driver_behind(struct joins *joins);
static cudaError_t call_cooperative_behind(struct joins *joins);
static cudaError_t call_there(struct joins *joins);

static void ask_called(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a copy whose direction is left to the driver", call_default },
        { "stale in a copy from host to host", call_host },
        { "stale in a copy of many rows", call_rows },
        { "stale in a copy from pinned memory that a kernel writes", call_from_pinned_work },
        { "stale in a copy from pinned memory that a graph writes", call_from_pinned_graph },
        { "stale after an event that cuEventRecordWithFlags recorded", call_record },
        { "stale in what another host thread queues", call_there },
        { "stale after cudaLaunchKernel", call_plainly },
        { "stale after an event and cudaLaunchKernel", call_plainly_waiting },
        { "stale after cudaLaunchKernel, wherever the work stands", call_plainly_behind },
        { "stale after cuLaunchKernel, wherever the work stands", call_driver_behind },
        { "stale after cudaLaunchCooperativeKernel", call_cooperative },
        { "stale after an event and cudaLaunchCooperativeKernel", call_cooperative_waiting },
        { "stale after cudaLaunchCooperativeKernel, wherever the work stands", call_cooperative_behind },
    };
    unsigned count = sizeof(joins) / sizeof(joins[0]);
    int device, cooperative = 1;

    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device) == cudaSuccess && !cooperative)
        count -= 3; /* it has no such launches */
    ask_joins(ask, joins, count, cudaStreamNonBlocking);
}

#endif
