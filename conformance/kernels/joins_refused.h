/* joins_refused.h - the pair of joins.cu in which a refused call stands between work and its follower, in their stream or after a wait. */
#ifndef JOINS_REFUSED_H_INCLUDED
#define JOINS_REFUSED_H_INCLUDED

static cudaError_t refused_memset(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(cudaMemsetAsync(NULL, 0, 4, stream));
}

static cudaError_t refused_rows(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)event;
    return whatever(cudaMemset2DAsync(joins->work[0].data, 4, 0, 8, 2, stream)); /* rows that are longer than their pitch */
}

static cudaError_t refused_host(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(cudaLaunchHostFunc(stream, NULL, NULL));
}

static cudaError_t refused_graph(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(cudaGraphLaunch(NULL, stream));
}

static cudaError_t refused_upload(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(cudaGraphUpload(NULL, stream));
}

/* No stream as a whole can be switched to overlap. */
static cudaError_t refused_attribute(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttributeValue value = serialization(1).val;

    (void)joins, (void)event;
    return whatever(cudaStreamSetAttribute(stream, cudaLaunchAttributeProgrammaticStreamSerialization, &value));
}

static cudaError_t refused_record(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(cudaEventRecord(NULL, stream));
}

/* For captures only; of an event that nobody waits for. */
static cudaError_t refused_external(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaEvent_t other;
    cudaError_t error = cudaEventCreateWithFlags(&other, cudaEventDisableTiming);

    (void)joins, (void)event;
    if (error != cudaSuccess)
        return error;
    (void)cudaEventRecordWithFlags(other, stream, cudaEventRecordExternal);
    return whatever(cudaEventDestroy(other));
}

static cudaError_t refused_end(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaGraph_t graph = NULL;

    (void)joins, (void)event;
    return whatever(cudaStreamEndCapture(stream, &graph)); /* of no capture */
}

static cudaError_t refused_dependencies(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)event;
    return whatever(edges_update_capture(stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies)); /* of no capture */
}

static cudaError_t refused_dependent(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute attribute = serialization(1);

    (void)event;
    return whatever(launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], 0, stream, &attribute, 1)); /* no threads */
}

static const struct named_call refused_calls[] = {
    { "stale after a memset of nothing", refused_memset },
    { "stale after a memset of rows that overlap", refused_rows },
    { "stale after no host function", refused_host },
    { "stale after no graph", refused_graph },
    { "stale after an upload of no graph", refused_upload },
    { "stale after attribute 6 of the stream", refused_attribute },
    { "stale after a record of no event", refused_record },
    { "stale after a record that is for captures only", refused_external },
    { "stale after a wait for no event", wait_for_none },
    { "stale after the end of no capture", refused_end },
    { "stale after dependencies of no capture", refused_dependencies },
    { "stale after a launch with the attribute of no threads", refused_dependent },
    { "stale after a launch of no threads", launch_no_threads },
    { "stale after a plain launch of no threads", launch_no_threads_plainly },
    { "stale after a copy without a direction", copy_nowhere },
    { "stale after a capture of the legacy stream", NULL }, /* before its follower */
};
#define REFUSED_JOINS (sizeof(refused_calls) / sizeof(refused_calls[0]))
#define REFUSED (REFUSED_JOINS - 1u) /* without that capture */

/* The legacy stream is never captured, in whatever mode: its follower comes after its work all the same. */
static cudaError_t refused_legacy_capture(struct joins *joins)
{
    enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)(joins->round % 3);
    cudaError_t error;

    prepare(joins, 1, 1);
    error = work(joins, 0, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = whatever(cudaStreamBeginCapture(cudaStreamLegacy, mode));
    return error == cudaSuccess ? follow(joins, 0, cudaStreamLegacy) : error;
}

/* Between a copy of what the work stored and its follower, or a dependent that waits. */
static cudaError_t call_behind_copy(struct joins *joins, idle_call call, int dependent)
{
    struct kernel_args reader = joins->follower[0];
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    reader.data = joins->aside;
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(joins->aside, joins->follower[0].data, PLACE_WORDS * sizeof(uint32_t), cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = call(joins, stream, NULL);
    return error == cudaSuccess ? read_or_depend(joins, &reader, stream, dependent != 0) : error;
}

/* Each call in turn, at each place in turn. */
static cudaError_t refused_between(struct joins *joins)
{
    idle_call call = refused_calls[joins->trial % REFUSED_JOINS].call;

    if (!call)
        return refused_legacy_capture(joins);
    return joins->round / 2 % 3 == 2 ? call_behind_copy(joins, call, joins->round % 2 == 0) : call_between(joins, call);
}

static void ask_refused(struct ask *ask) { ask_calls(ask, refused_calls, REFUSED_JOINS, refused_between); }

#endif
