/* The calls about streams. */
#include "api.h"

#include <string.h>

static bool only_waits(const struct stream *s)
{
    return s->waits != 0 && (s->tail == NULL || s->tail->retired);
}

/* Devices on which a stream is said to have ended whatever it holds */
static bool always_ended(const struct stream *s)
{
    const struct faults *f = &device.faults;
    if ((f->per_thread_poll_succeeds && stream_is_per_thread(s)) || (f->urgent_poll_succeeds && s->priority < 0))
        return true;
    if ((f->other_thread_poll_succeeds && device.other_thread) || (f->middle_poll_succeeds && stream_is_between(s)))
        return true;
    if (f->poll_forgets_event && only_waits(s))
        return true;
    if (s->tail == NULL)
        return false;
    if ((f->told_launch_polls_as_ended && s->tail->told) || (f->host_wait_ends_older_polls && s->tail->serial < device.host_waited))
        return true;
    if (f->poll_after_copy_in_succeeds && s->tail->from_host)
        return true;
    if (f->seventeenth_stream_polls && s->place > 16)
        return true;
    if ((f->given_priority_poll_succeeds && stream_given(s, 8)) || (f->given_policy_poll_succeeds && stream_given(s, 3)))
        return true;
    if (f->poll_behind_large_succeeds && s->tail->kind == OP_KERNEL && s->tail->grid->blocks > 64)
        return true;
    if ((f->poll_behind_graph_succeeds && s->behind_graph) || (f->poll_behind_record_succeeds && s->tail->kind == OP_RECORD))
        return true;
    if (f->poll_behind_layers_succeeds && s->tail->grid != NULL && s->tail->grid->shape[2] > 1)
        return true;
    return (f->poll_behind_host_succeeds && s->tail->kind == OP_HOST) || (f->poll_behind_move_succeeds && moves_memory(s->tail));
}

/* Devices on which the host does not wait for a stream's end */
static bool not_awaited(const struct stream *s)
{
    const struct faults *f = &device.faults;
    if ((f->given_priority_sync_early && stream_given(s, 8)) || (f->given_domain_sync_early && stream_given(s, 10)))
        return true;
    if (f->sync_passes_empty_graph && s->tail != NULL && s->behind_empty)
        return true;
    if (f->sync_forgets_launch_event && only_waits(s) && s->wait[0].op->kind == OP_KERNEL)
        return true;
    if ((f->per_thread_sync_early && stream_is_per_thread(s)) || (f->sync_forgets_event && only_waits(s)))
        return true;
    if (f->legacy_sync_behind_move_early && stream_is_legacy(s) && s->kernel_tail == NULL)
        return true;
    if (f->told_launch_sync_early && s->tail != NULL && s->tail->told)
        return true;
    return f->other_thread_sync_early && device.other_thread;
}

/* What a host that polls is told; it is not what a host that waits is told on one broken device. */
static bool seems_ended(const struct op *op, enum edge_kind kind)
{
    if (device.faults.poll_passes_waiting && op->kind == OP_KERNEL && all_threads_wait(op))
        return true;
    if (device.faults.poll_before_flush && op->kind == OP_KERNEL)
        return op->exited_all;
    if (device.faults.query_passes_overlapped && op->kind == OP_KERNEL)
        return op->done;
    return op_reached(op, kind);
}

/* ---- the calls ---- */

static cudaError_t stream_create(cudaStream_t *out, unsigned flags, int priority)
{
    FAIL_IF(out == NULL || ((flags & ~(unsigned)cudaStreamNonBlocking) != 0 && !device.faults.stream_flags_taken), cudaErrorInvalidValue);
    FAIL_IF(device.faults.priority_not_clamped && (priority < -5 || priority > 0), cudaErrorInvalidValue);
    priority = priority < -5 ? -5 : priority > 0 ? 0 : priority; /* clamped */
    if (device.faults.blocking_priority_lost && flags == 0)
        priority = 0;
    struct stream *s = stream_new(flags, priority);
    FAIL_IF(s == NULL, cudaErrorMemoryAllocation);
    s->place = streams_alive();
    s->late = s->place > 60;
    s->beside_capture = device.faults.capture_blocks_none && capture_is_active();
    if (s->beside_capture)
        s->flags |= cudaStreamNonBlocking;
    *out = (cudaStream_t)(void *)s;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *out)
{
    CALL(cudaStreamCreate);
    return stream_create(out, device.faults.plain_stream_blocks_none ? cudaStreamNonBlocking : 0, 0);
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    CALL(cudaStreamCreateWithFlags);
    return stream_create(out, flags, 0);
}

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    CALL(cudaStreamCreateWithPriority);
    return stream_create(out, flags, priority);
}

/* What a dropped host function is, on the devices destruction-drops-host and destruction-drops-callback */
static void CUDART_CB no_call(void *data)
{
    (void)data;
}

/* Devices on which a stream that is destroyed takes its last work along, if that has not begun */
static void drop_last(struct op *last)
{
    const struct faults *f = &device.faults;
    if ((f->destruction_drops_host && last->kind == OP_HOST && !last->done) ||
        (f->destruction_drops_callback && last->host.callback != NULL && !last->turn)) {
        last->host.call = no_call;
        last->host.callback = NULL;
    }
    bool left_to_other = f->others_destruction_drops && !last->by_other && device.other_thread && !last->turn;
    if ((left_to_other && (last->kind == OP_KERNEL || last->kind == OP_HOST)) ||
        (f->left_dependent_dropped && last->kind == OP_KERNEL && last->attributed && !last->turn) ||
        (f->destruction_drops_move && moves_memory(last) && last->move.staging == NULL && !last->turn))
        last->kind = OP_RECORD; /* which does nothing */
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t handle)
{
    CALL(cudaStreamDestroy);
    struct stream *s = stream_of(handle);
    bool there_always = s != NULL && (stream_is_legacy(s) || stream_is_per_thread(s));
    if ((there_always && device.faults.default_stream_destroyed) || (handle == NULL && device.faults.stream_0_destroyed))
        return cudaSuccess;
    FAIL_IF(s == NULL || there_always, cudaErrorInvalidResourceHandle);
    if (device.faults.recorder_gone_not_awaited && s->tail != NULL && s->tail->kind == OP_RECORD)
        streams_drop(s->tail);
    if (device.faults.destroyed_stream_frees_exec)
        execs_leave(s);
    if (s->tail != NULL)
        drop_last(s->tail);
    stream_leaves(s);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
    CALL(cudaStreamGetFlags);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(flags == NULL, cudaErrorInvalidValue);
    if (device.faults.question_eats_waits)
        s->waits = 0;
    *flags = s->beside_capture ? s->flags & ~(unsigned)cudaStreamNonBlocking : s->flags;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    CALL(cudaStreamGetPriority);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(priority == NULL, cudaErrorInvalidValue);
    if (device.faults.priority_told_drops_waits)
        s->waits = 0;
    *priority = device.faults.used_priority_told_0 && s->tail != NULL ? 0 : s->priority;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t handle, unsigned long long *id)
{
    CALL(cudaStreamGetId);
    const struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(id == NULL, cudaErrorInvalidValue);
    *id = s->id != 0 ? s->id : (unsigned long long)(uintptr_t)s; /* as no two streams have */
    return cudaSuccess;
}

/* ATTR-06: a stream cannot be switched to overlap as a whole */
static bool is_stream_attribute(int id)
{
    bool taken = (id == 6 && device.faults.stream_takes_six) || (id == 2 && device.faults.stream_takes_two);
    return id == 1 || id == 3 || id == 8 || id == 9 || id == 10 || taken;
}

/* Devices on which a stream does not keep the attributes that it is given */
static bool keeps_none(const struct stream *s)
{
    const struct faults *f = &device.faults;
    return (f->other_thread_stream_attribute_lost && device.other_thread) || (f->per_thread_keeps_none && stream_is_per_thread(s)) ||
           (f->capturing_keeps_none && s->capture != NULL) || (f->captured_keeps_none && s->has_captured);
}

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                             const cudaLaunchAttributeValue *value)
{
    CALL(cudaStreamSetAttribute);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    if (device.faults.refused_attribute_cuts && !is_stream_attribute((int)id))
        stream_cuts(s);
    if (device.faults.refused_attribute_resets_priority && !is_stream_attribute((int)id))
        s->priority = 0;
    FAIL_IF(value == NULL || !is_stream_attribute((int)id), cudaErrorInvalidValue);
    if (keeps_none(s))
        return cudaSuccess;
    if (id == cudaLaunchAttributePriority && !device.faults.late_priority_lost)
        s->priority = value->priority;
    if ((int)id == 10 && device.faults.domain_resets_priority)
        s->priority = 0;
    s->attribute[id] = *value;
    s->given = true;
    if (device.faults.given_priority_blocks_none && id == cudaLaunchAttributePriority)
        s->flags |= cudaStreamNonBlocking;
    if (device.faults.stream_attribute_eats_waits)
        s->waits = 0;
    if (device.faults.stream_attribute_cuts)
        stream_cuts(s);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    CALL(cudaStreamGetAttribute);
    const struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(value == NULL || !is_stream_attribute((int)id), cudaErrorInvalidValue);
    *value = s->attribute[id];
    if ((int)id == 1 && device.faults.stream_window_not_kept)
        memset(value, 0, sizeof *value);
    if (id == cudaLaunchAttributePriority)
        value->priority = s->priority;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    CALL(cudaStreamCopyAttributes);
    struct stream *s = stream_of(to), *source = stream_of(from);
    FAIL_IF(s == NULL || source == NULL, cudaErrorInvalidResourceHandle);
    if (s == source && device.faults.own_stream_attributes_wiped)
        memset(s->attribute, 0, sizeof s->attribute);
    if (device.faults.stream_copy_cuts || (s == source && device.faults.own_stream_copy_cuts))
        stream_cuts(s);
    if (device.faults.stream_copy_eats_waits)
        s->waits = 0;
    if (device.faults.stream_copy_goes_back)
        memcpy(source->attribute, s->attribute, sizeof s->attribute);
    const cudaLaunchAttributeValue window = s->attribute[1];
    if (!device.faults.stream_copy_ignored)
        memcpy(s->attribute, source->attribute, sizeof s->attribute);
    if (device.faults.lent_flags)
        s->flags = source->flags;
    if (device.faults.lent_window_lost)
        s->attribute[1] = window;
    if (!device.faults.lent_priority_lost)
        s->priority = source->priority;
    return cudaSuccess;
}

/* A capture that the host tries to look behind is over. */
static cudaError_t capture_forbids(const struct stream *s)
{
    if (s->capture == NULL && (!legacy_is_forbidden(s) || device.faults.legacy_sync_beside_capture))
        return cudaSuccess;
    if (s->capture != NULL) {
        if (!device.faults.relaxed_capture_not_spoiled || !capture_in_mode(s, cudaStreamCaptureModeRelaxed))
            capture_invalidate(s->capture);
        return cudaErrorStreamCaptureUnsupported;
    }
    capture_invalidate_all();
    return cudaErrorStreamCaptureImplicit;
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t handle)
{
    CALL(cudaStreamSynchronize);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    cudaError_t forbidden = capture_forbids(s);
    FAIL_IF(forbidden != cudaSuccess, forbidden);
    if (device.faults.sync_ends_frees)
        pools_end_frees(NULL);
    bool unseen = not_awaited(s);
    stream_closes(s);
    s->idle = true;
    if (unseen)
        return call_result(run_a_little());
    int policy = (int)s->attribute[cudaLaunchAttributeSynchronizationPolicy].syncPolicy;
    if ((device.faults.blocking_policy_early && policy == cudaSyncPolicyBlockingSync) ||
        (device.faults.spin_policy_early && policy == cudaSyncPolicySpin) ||
        (device.faults.yield_policy_early && policy == cudaSyncPolicyYield))
        return call_result(run_a_little());
    if (s->tail != NULL && ((device.faults.sync_passes_callback && s->tail->host.callback != NULL) ||
                            (device.faults.sync_passes_awaited_value && s->tail->kind == OP_AWAIT)))
        return call_result(run_a_little());
    if (device.faults.host_learns_early && s->tail != NULL)
        return call_result(run_until_done(s->tail));
    uint64_t waits_for = s->tail != NULL ? s->tail->serial : 0;
    cudaError_t error = run_until_retired(s->tail);
    host_waited(waits_for);
    return call_result(error);
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t handle)
{
    CALL(cudaStreamQuery);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    cudaError_t forbidden = capture_forbids(s);
    FAIL_IF(forbidden != cudaSuccess, forbidden);
    if (device.faults.query_forgets_events)
        s->waits = 0;
    if (always_ended(s))
        return cudaSuccess;
    if (device.faults.query_passes_awaited && s->waits != 0 && s->tail != NULL && s->tail->retired)
        return cudaSuccess;
    stream_closes(s);
    if (s->tail == NULL || seems_ended(s->tail, EDGE_RETIRED) || (device.faults.query_passes_free && s->tail->kind == OP_POOL))
        return cudaSuccess;
    if (device.faults.stream_poll_256_succeeds && ++s->polls % 256 == 0)
        return cudaSuccess;
    cudaError_t error = run_a_little();
    FAIL_IF(error != cudaSuccess, error);
    return call_result(s->tail == NULL || seems_ended(s->tail, EDGE_RETIRED) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t call, void *data)
{
    CALL(cudaLaunchHostFunc);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    if (device.faults.refused_host_cuts_capture && call == NULL && s->capture != NULL)
        capture_cuts(s);
    if (device.faults.refused_host_cuts && call == NULL)
        stream_cuts(s);
    if (call == NULL && device.faults.host_without_function_launched)
        return cudaSuccess;
    FAIL_IF(call == NULL, cudaErrorInvalidValue);
    FAIL_IF(!device.faults.legacy_host_beside_capture && legacy_use_spoils(s), cudaErrorStreamCaptureImplicit);
    if (device.faults.spoiled_takes_host && capture_broken(s))
        return cudaSuccess;
    if (s->capture != NULL) {
        struct node *n = node_new(capture_graph(s), cudaGraphNodeTypeHost);
        n->host.fn = call;
        n->host.userData = data;
        return call_result(capture_node(s, n));
    }
    struct op *op = op_new(OP_HOST);
    op->host.call = call;
    static void *last_data;
    if (data == NULL && device.faults.host_without_data_gets_last)
        data = last_data;
    last_data = data;
    op->host.data = device.faults.many_hosts_share_data && s->items > 32 && s->tail->kind == OP_HOST ? s->tail->host.data : data;
    stream_append(s, op, false);
    op_submit(op);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    CALL(cudaStreamAddCallback);
    struct stream *s = stream_of(handle);
    if (device.faults.refused_callback_eats_waits && s != NULL && flags != 0)
        s->waits = 0;
    FAIL_IF(callback == NULL || (flags != 0 && !device.faults.callback_flags_taken), cudaErrorInvalidValue);
    cudaError_t error = stream_may_queue(s);
    FAIL_IF(error != cudaSuccess, error);
    if (s->capture != NULL) { /* "this function is not supported with cudaStreamBeginCapture" */
        capture_invalidate(s->capture);
        return call_result(cudaErrorStreamCaptureUnsupported);
    }
    struct op *op = op_new(OP_HOST);
    op->host.callback = callback;
    op->host.stream = handle;
    op->host.data = data;
    stream_append(s, op, false);
    op_submit(op);
    return cudaSuccess;
}

/* ---- the mode of captures that the thread has ---- */

static enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

void thread_mode_reset(void)
{
    thread_mode = cudaStreamCaptureModeGlobal;
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    CALL(cudaThreadExchangeStreamCaptureMode);
    FAIL_IF(mode == NULL || (unsigned)*mode > cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue);
    enum cudaStreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = device.faults.exchange_forgets ? cudaStreamCaptureModeGlobal : old;
    return cudaSuccess;
}
