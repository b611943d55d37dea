/* joins_awaiting.h - the pair of joins.cu whose followers have the attribute and are launched while their stream still waits for an event. */
#ifndef JOINS_AWAITING_H_INCLUDED
#define JOINS_AWAITING_H_INCLUDED

#define AWAITING 15u           /* questions */
#define FAILED_WAYS 24u
#define ROW_OF_ITEMS 16u

/* Watches for the dependent while it must not begin, then triggers. */
KERNEL(joins_triggers_late)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0 && k_poll(args.state, &args.state->alive, 1, plan.hold_ns))
        k_add(&args.state->early, 1);
    k_barrier();
    k_trigger();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Who records the event: a stream of each kind, plainly or with timing; the event is complete at once where `late` is 0. */
static cudaError_t record_aside(struct joins *joins, unsigned how, int late, cudaEvent_t *event)
{
    cudaStream_t side = how % 2 ? cudaStreamPerThread : joins->stream[1];
    cudaError_t error = cudaEventCreateWithFlags(event, how / 2 % 2 ? cudaEventDefault : cudaEventDisableTiming);

    cudaLaunchAttribute records = recording(error == cudaSuccess ? *event : NULL);

    if (error == cudaSuccess && late && how % 4 == 1) /* by the launch itself: whose wait that is covers it */
        return launch_one((const void *)SYMBOL(joins_work), &joins->work[1], PLACE_WORDS, side, &records, 1);
    if (error == cudaSuccess && late)
        error = work(joins, 1, side);
    return error == cudaSuccess ? cudaEventRecord(*event, side) : error;
}

/* What leaves the event that the stream waits for what it was: nothing, a question, a record of an event, a wait for that as well. */
static cudaError_t ask_or_record(unsigned which, cudaStream_t stream)
{
    cudaEvent_t other = NULL;
    cudaError_t error = cudaSuccess;

    if (which == 1)
        return whatever(cudaStreamQuery(stream));
    if (which >= 2)
        error = cudaEventCreateWithFlags(&other, cudaEventDisableTiming);
    if (which == 3 && error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, other, 0); /* never recorded: nothing to wait for */
    if (which >= 2 && error == cudaSuccess)
        error = cudaEventRecord(other, stream);
    if (other)
        (void)cudaEventDestroy(other);
    return error;
}

/* How a follower is launched beside its attribute; the last one: the primary is a large grid, too. */
enum dress { DRESS_PLAIN, DRESS_CLUSTER, DRESS_COOPERATIVE, DRESS_EVENT, DRESS_LARGE, DRESSES };

static cudaError_t launch_follower(struct joins *joins, const void *then, unsigned dress, cudaStream_t stream)
{
    unsigned blocks = dress == DRESS_CLUSTER ? 2 : 1;
    cudaEvent_t unawaited = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&unawaited, cudaEventDisableTiming);
    cudaLaunchAttribute attribute[2] = { serialization(1), dress == DRESS_CLUSTER ? in_clusters(blocks) : dress == DRESS_COOPERATIVE ? cooperatively()
                                                           : recording(unawaited) };

    if (error == cudaSuccess)
        error = launch_blocks(then, &joins->follower[0], blocks, PLACE_WORDS, stream, attribute, dress == DRESS_PLAIN ? 1 : 2);
    if (unawaited)
        (void)cudaEventDestroy(unawaited);
    return error;
}

/* A kernel, a wait for an event, and a follower with the attribute. */
static cudaError_t await_between(struct joins *joins, const void *first, const void *then, int late)
{
    unsigned how = joins->trial / AWAITING, large = first == (const void *)SYMBOL(joins_work) && how % DRESSES == DRESS_LARGE;
    unsigned blocks = large ? LARGE_BLOCKS : 1, threads = large ? 1 : PLACE_WORDS;
    cudaStream_t stream = how % 6 == 2 || how % 6 == 4 ? cudaStreamPerThread : joins->stream[0]; /* the event is another stream's */
    cudaLaunchAttribute attribute = serialization(1), ways[] = { attribute, in_remote_domain(), cooperatively() };
    cudaEvent_t event = NULL;
    cudaError_t error;

    prepare(joins, late ? 2 : 1, 1);
    error = launch_blocks(large ? (const void *)SYMBOL(joins_large_work) : first, &joins->work[0], blocks, threads, stream,
                          &ways[large ? 0 : how % 3], how / 4 % 2);
    if (error == cudaSuccess)
        error = record_aside(joins, how, late, &event);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = ask_or_record(how % 4 == 1 ? how / 4 % 2 : how / 2 % 4, stream);
    if (error == cudaSuccess)
        error = large ? launch_blocks((const void *)SYMBOL(joins_large_follower), &joins->follower[0], blocks, threads, FOLLOWS_IN(joins, stream),
                                      &attribute, 1)
                      : launch_follower(joins, then, how % DRESSES, FOLLOWS_IN(joins, stream));
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t await_late(struct joins *joins)
{
    return await_between(joins, (const void *)SYMBOL(joins_work), (const void *)SYMBOL(AWAITING_FOLLOWER), 1);
}

static cudaError_t await_complete(struct joins *joins)
{
    return await_between(joins, (const void *)SYMBOL(joins_work), (const void *)SYMBOL(AWAITING_FOLLOWER), 0);
}

/* The follower does not wait, and what it finds is not asked: only when it begins. */
static cudaError_t await_trigger(struct joins *joins, int late)
{
    cudaError_t error = await_between(joins, (const void *)SYMBOL(joins_triggers_late), (const void *)SYMBOL(joins_follower), late);

    joins->followers = 0;
    joins->pinned->host_is_stale = joins->pinned->state.early;
    return error;
}

static cudaError_t await_late_trigger(struct joins *joins) { return await_trigger(joins, 1); }
static cudaError_t await_trigger_only(struct joins *joins) { return await_trigger(joins, 0); }

/* Between work and its follower, which has no attribute, the stream captures launches with the attribute. */
static cudaError_t after_captured(struct joins *joins)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    cudaError_t error, end;

    prepare(joins, 1, 1);
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, &attribute, 1);
    end = cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? follow(joins, 0, stream) : error;
}

/* Launches that two streams capture: alone, with the attribute, or one that records an event. The capture fails, because one of them was asked for
 * meanwhile, or because the one that joined does not come back. */
static cudaError_t capture_and_fail(struct joins *joins, unsigned way, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute attribute = way / 4 % 3 == 1 ? serialization(1) : recording(event);
    cudaStream_t other = joins->stream[1], origin = way / 2 % 2 ? other : stream;
    cudaError_t error = begin_by_driver(origin), end;

    if (error != cudaSuccess)
        return error;
    error = record_and_await(event, origin, origin == stream ? other : stream);
    if (error == cudaSuccess)
        error = silent(joins, other);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);
    if (error == cudaSuccess && way / 4 % 3)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, &attribute, 1);
    if (error == cudaSuccess && way % 2)
        (void)whatever(cudaStreamQuery(stream));
    end = end_by_driver(origin); /* that it fails is asked elsewhere */
    return error == cudaSuccess ? end : error;
}

/* Between work and its follower, or a dependent that waits: nothing of what was captured has run, and the order is what it was. */
static cudaError_t after_failed_capture(struct joins *joins)
{
    unsigned way = joins->round * 7 % FAILED_WAYS; /* the first twelve rounds meet each two of its four parts */
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = capture_and_fail(joins, way, joins->stream[0], event);
    if (error == cudaSuccess)
        error = follow_or_depend(joins, joins->stream[0], way / 12 != 0);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* How a stream joins a capture and leaves it: by records, and with its end; by the event of a launch; the same, and the capture is spoiled. */
enum joining { JOINS_BY_RECORD, JOINS_BY_LAUNCH, JOINS_IN_VAIN };

static cudaError_t join_by_launch(struct joins *joins, cudaStream_t origin, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute records = recording(event);
    cudaError_t error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, origin, &records, 1);

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0) : error;
}

/* A stream that joins a capture, and leaves it with its end, comes after what it came after before. */
static cudaError_t join_capture(struct joins *joins, cudaStream_t origin, cudaStream_t stream, cudaEvent_t event, enum joining how)
{
    cudaGraph_t graph = NULL;
    cudaError_t end, error = cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = how == JOINS_BY_RECORD ? record_and_await(event, origin, stream) : join_by_launch(joins, origin, stream, event);
    if (error == cudaSuccess && how == JOINS_IN_VAIN)
        (void)cudaStreamQuery(origin);
    else if (error == cudaSuccess)
        error = record_and_await(event, stream, origin);
    end = cudaStreamEndCapture(origin, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (how == JOINS_IN_VAIN)
        end = end == cudaErrorStreamCaptureInvalidated ? whatever(end) : cudaErrorUnknown;
    return error == cudaSuccess ? end : error;
}

/* The work, in the stream that was captured; or in the origin's, where its launch records the event that the spoiled capture had. */
static cudaError_t after_capture_by(struct joins *joins, cudaEvent_t event, enum joining how, int records_again)
{
    cudaLaunchAttribute records = recording(event);
    cudaStream_t stream = joins->stream[1];
    cudaError_t error = records_again ? cudaSuccess : work(joins, 0, stream);

    if (error == cudaSuccess)
        error = join_capture(joins, joins->stream[0], stream, event, how);
    if (error != cudaSuccess || !records_again)
        return error == cudaSuccess ? follow(joins, 0, stream) : error;
    error = launch_one((const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS, joins->stream[0], &records, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0);
}

static cudaError_t after_joined_capture(struct joins *joins)
{
    unsigned turn = joins->round % 4;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error != cudaSuccess)
        return error;
    error = after_capture_by(joins, event, turn == 3 ? JOINS_IN_VAIN : (enum joining)turn, turn == 3);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t join_capture_of_third(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaEvent_t own = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&own, cudaEventDisableTiming);

    (void)event;
    if (error != cudaSuccess)
        return error;
    error = join_capture(joins, joins->stream[2], stream, own, (enum joining)(joins->round % 3));
    (void)cudaEventDestroy(own);
    return error;
}

static cudaError_t await_across_capture(struct joins *joins) { return call_after_wait(joins, join_capture_of_third, joins->round % 2 != 0); }

static void CUDART_CB store_second(void *of) { store_work((struct pinned *)of, 1); }

/* The second work is the last of a row of host functions, or of copies, between a kernel and a dependent that waits; or the first one of a row, which
 * memsets follow. */
static cudaError_t depend_on_row(struct joins *joins)
{
    struct pinned *pinned = joins->pinned;
    cudaStream_t stream = joins->stream[0];
    unsigned i, row = joins->round % 3;
    cudaError_t error;

    prepare(joins, 2, 1);
    store_fresh(pinned, 1, pinned->seen[1]);
    error = work(joins, 0, stream);
    for (i = 1; i <= ROW_OF_ITEMS && error == cudaSuccess; i++)
        if (row == 2 && i > 1)
            error = cudaMemsetAsync(pinned->seen[2], (int)i, PLACE_WORDS * 4, stream);
        else if (row != 0)
            error = cudaMemcpyAsync(row == 1 && i < ROW_OF_ITEMS ? pinned->seen[2] : pinned->words + PLACE_WORDS, pinned->seen[1], PLACE_WORDS * 4,
                                    cudaMemcpyDefault, stream);
        else
            error = cudaLaunchHostFunc(stream, i < ROW_OF_ITEMS ? ask_host_nothing : store_second, pinned);
    return error == cudaSuccess ? depend(joins, stream) : error;
}

/* The stream is given an attribute that it has. */
static cudaError_t after_attribute(struct joins *joins) { return call_in_line(joins, give_attribute, 1); }

/* "cudaErrorNotReady" changes nothing: the stream still waits. */
static cudaError_t ask_awaited(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    (void)joins, (void)stream;
    return ask_once(event);
}

static cudaError_t await_asked(struct joins *joins) { return call_after_wait(joins, ask_awaited, joins->round % 2 != 0); }

/* The event stands for work before the capture that its stream has begun since: others may wait for it. */
static cudaError_t await_before_capture(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    cudaGraph_t graph = NULL;
    cudaEvent_t event;
    cudaError_t error = work_and_record(joins, 1, &event), end;

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, NULL, 0);
    error = await_and_follow(joins, event, error);
    end = cudaStreamEndCapture(stream, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* A graph, a wait for the work, and a copy of the words. */
static cudaError_t copy_after_graph(struct joins *joins)
{
    size_t bytes = PLACE_WORDS * sizeof(uint32_t);
    cudaStream_t stream = joins->stream[1];
    cudaGraphExec_t exec = NULL;
    uint32_t *copy = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaMalloc((void **)&copy, bytes), end;

    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&exec, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);
    if (error == cudaSuccess)
        error = work_and_record(joins, 1, &event);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(copy, joins->pinned->words, bytes, cudaMemcpyHostToDevice, FOLLOWS_IN(joins, stream));
    end = cudaDeviceSynchronize();
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaMemcpy(joins->pinned->seen[0], copy, bytes, cudaMemcpyDeviceToHost);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaFree(copy);
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

/* An event, and a stream that the legacy stream blocks, which are made while another stream captures. */
static cudaError_t make_beside_capture(cudaStream_t capturing, cudaEvent_t *event, cudaStream_t *blocking)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed), end;

    if (error != cudaSuccess)
        return error;
    error = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(blocking, cudaStreamDefault);
    end = cudaStreamEndCapture(capturing, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? end : error;
}

/* Work in the legacy stream comes before what that stream is given then; or the event stands for work. */
static cudaError_t await_made_beside(struct joins *joins)
{
    int by_event = joins->trial / AWAITING % 2 != 0;
    cudaStream_t blocking = NULL, follows;
    cudaEvent_t event = NULL;
    cudaError_t error = make_beside_capture(joins->stream[2], &event, &blocking), end;

    prepare(joins, 1, 1);
    follows = by_event ? joins->stream[1] : blocking;
    if (error == cudaSuccess)
        error = work(joins, 0, by_event ? joins->stream[0] : cudaStreamLegacy);
    if (error == cudaSuccess && by_event)
        error = record_and_await(event, joins->stream[0], follows);
    if (error == cudaSuccess)
        error = follow(joins, 0, follows);
    end = cudaDeviceSynchronize();
    if (event)
        (void)cudaEventDestroy(event);
    if (blocking)
        (void)cudaStreamDestroy(blocking);
    return error == cudaSuccess ? end : error;
}

#include "joins_staged.h"

static void ask_awaiting(struct ask *ask)
{
    static const struct join joins[AWAITING] = {
        { "stale after a kernel and a wait for an event that is late", await_late },
        { "stale after a kernel and a wait for an event that is complete", await_complete },
        { "begun before the trigger, after a wait for an event that is late", await_late_trigger },
        { "begun before the trigger, after a wait for an event that is complete", await_trigger_only },
        { "stale after a capture of launches with the attribute", after_captured },
        { "stale after a capture of launches that failed", after_failed_capture },
        { "stale in a stream that joined a capture after the work", after_joined_capture },
        { "stale in a stream that joined a capture after its wait for an event", await_across_capture },
        { "stale after an attribute of the stream", after_attribute },
        { "stale after a wait for an event that the host then asks for", await_asked },
        { "stale after an event whose stream captures by now", await_before_capture },
        { "stale in a copy after a graph and a wait", copy_after_graph },
        { "stale after an event, or in a stream, that was made while another stream captured", await_made_beside },
        { "stale after a kernel and a row of host functions or copies", depend_on_row },
        { "stale after a kernel and a long copy from pageable memory", follow_staged },
    };

    ask_joins(ask, joins, AWAITING, cudaStreamNonBlocking);
}

#endif
