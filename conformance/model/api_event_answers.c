/* What the host is told of events: whether they are complete, once they are, and the times between them. */
#include "api.h"

static bool stream_is_gone(const struct event *e)
{
    return e->in != NULL && e->in->magic != STREAM_MAGIC;
}

static cudaError_t run_until_fired(struct event *e)
{
    while (!event_fired_for_host(e) && device.sticky == cudaSuccess)
        if (!machine_step())
            device_fails(cudaErrorLaunchTimeout);
    if (device.sticky == cudaSuccess)
        ops_reclaim();
    return device.sticky;
}

/* Devices on which an event is said to be complete whatever it stands for */
static bool seems_fired(const struct event *e)
{
    const struct faults *f = &device.faults;
    if ((f->other_thread_event_succeeds && device.other_thread) || (f->left_event_succeeds && stream_is_gone(e)))
        return true;
    if (f->elsewhere_made_event_succeeds && e->by_other && !device.other_thread)
        return true;
    if (f->old_event_succeeds && device.serial - e->serial > 64)
        return true;
    if (f->overtaken_event_succeeds && e->in != NULL && e->in->tail != e->op)
        return true;
    if (f->second_timed_poll_succeeds && e->polled && (e->flags & cudaEventDisableTiming) == 0)
        return true;
    if (f->legacy_event_succeeds && e->in != NULL && stream_is_legacy(e->in))
        return true;
    if ((f->sleeping_node_event_succeeds && e->by_node && (e->flags & cudaEventBlockingSync) != 0) || (f->event_after_graph_succeeds && e->behind_graph))
        return true;
    if (e->in != NULL && ((f->ipc_event_succeeds && (e->flags & cudaEventInterprocess) != 0 && e->in->priority == 0) ||
                          (f->blocking_launch_event_succeeds && e->recorded == RECORDED_PROGRAMMATIC && (e->in->flags & cudaStreamNonBlocking) == 0)))
        return true;
    if (f->completion_event_succeeds && e->recorded == RECORDED_LAUNCH && e->op != NULL && !e->op->started_all)
        return true;
    if (f->host_wait_ends_older_events && e->serial < device.host_waited)
        return true;
    if (f->told_versions_wrap && e->was_told && e->told_version == e->version)
        return true;
    return e->was_fired && (f->fired_stays_fired || (f->fired_launch_event_stays && e->recorded == RECORDED_PROGRAMMATIC));
}

/* Devices on which the host does not wait for an event */
static bool event_not_awaited(const struct event *e)
{
    const struct faults *f = &device.faults;
    if ((f->polled_event_sync_early && e->polled) || (f->left_event_sync_early && stream_is_gone(e)) ||
        (f->other_thread_event_sync_early && device.other_thread) || (f->sleeping_host_early && (e->flags & cudaEventBlockingSync) != 0))
        return true;
    if ((e->flags & cudaEventDisableTiming) == 0 &&
        ((f->timed_event_after_graph_early && e->behind_graph) || (f->timed_node_event_early && e->by_node)))
        return true;
    if (f->elsewhere_made_event_sync_early && e->by_other && !device.other_thread)
        return true;
    if (f->completion_event_sync_early && e->recorded == RECORDED_LAUNCH && e->op != NULL && !e->op->retired)
        return true;
    if ((f->node_event_sync_early && e->by_node) || (f->launch_event_sync_early && e->recorded == RECORDED_PROGRAMMATIC))
        return true;
    if (f->host_wait_ends_older_events && e->serial < device.host_waited)
        return true;
    if (e->in == NULL)
        return false;
    if (f->awaited_sync_early && e->awaited != 0)
        return true;
    if (f->given_policy_event_early && stream_given(e->in, 3))
        return true;
    return (f->urgent_event_sync_early && e->in->priority < 0) || (f->legacy_event_sync_early && stream_is_legacy(e->in)) ||
           (f->per_thread_event_sync_early && e->in == stream_of(cudaStreamPerThread));
}

/* On some devices not by a launch. */
static bool is_captured(const struct event *e, bool only_by_calls)
{
    return e->recorded == RECORDED_IN_CAPTURE && !(only_by_calls && e->captured_count == 1 && e->captured[0].of_event);
}

/* For the devices told-launch-*. */
static void host_knows(const struct event *e)
{
    if (e->op != NULL && e->recorded == RECORDED_PROGRAMMATIC)
        e->op->told = true;
    if (device.faults.told_launch_ends_frees)
        pools_pass_told();
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t handle)
{
    CALL(cudaEventQuery);
    struct event *e = event_of(handle);
    FAIL_IF(e == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(is_captured(e, device.faults.captured_launch_event_told), cudaErrorCapturedEvent);
    e->asked_fresh = e->recorded == RECORDED_NEVER;
    if (device.faults.timed_fresh_not_ready && e->recorded == RECORDED_NEVER && (e->flags & cudaEventDisableTiming) == 0)
        return cudaErrorNotReady;
    if (device.faults.fresh_event_not_ready && e->recorded == RECORDED_NEVER && device.unfired_destroyed)
        return cudaErrorNotReady;
    if (e->recorded != RECORDED_NEVER && event_fired_for_host(e))
        e->was_fired = true;
    if (event_fired_for_host(e)) {
        e->was_told = true;
        e->told_version = e->version;
        host_knows(e);
    }
    if (event_fired_for_host(e) || (device.faults.second_poll_succeeds && e->polled) || seems_fired(e))
        return cudaSuccess;
    if (device.faults.poll_256_succeeds && ++e->polls % 256 == 0)
        return cudaSuccess;
    e->polled = true;
    if (device.faults.query_takes_waits_back && e->awaited != 0)
        streams_drop(e->op);
    cudaError_t error = run_a_little();
    FAIL_IF(error != cudaSuccess, error);
    return call_result(event_fired_for_host(e) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t handle)
{
    CALL(cudaEventSynchronize);
    struct event *e = event_of(handle);
    FAIL_IF(e == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(is_captured(e, device.faults.captured_launch_event_passed), cudaErrorCapturedEvent);
    if (device.faults.event_sync_ends_frees)
        pools_end_frees(NULL);
    if (event_not_awaited(e))
        return call_result(run_a_little());
    e->was_fired = e->recorded != RECORDED_NEVER;
    cudaError_t error = run_until_fired(e);
    host_knows(e);
    host_waited(e->serial);
    return call_result(error);
}

static uint64_t event_time(struct event *e)
{
    uint64_t time = e->op != NULL ? e->op->done_at : e->fired_at;
    if (device.faults.node_times_of_launch && e->by_node)
        return e->launched_at;
    if (e->first_time == 0)
        e->first_time = time;
    return device.faults.first_time_stays ? e->first_time : time;
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    CALL(cudaEventElapsedTime);
    struct event *a = event_of(start), *b = event_of(end);
    FAIL_IF(ms == NULL, cudaErrorInvalidValue);
    bool until_never = b != NULL && b->recorded == RECORDED_NEVER && !device.faults.time_until_never_told;
    FAIL_IF(a == NULL || b == NULL || a->recorded == RECORDED_NEVER || until_never ||
                (((a->flags | b->flags) & cudaEventDisableTiming) != 0 && !device.faults.untimed_time_told),
            cudaErrorInvalidResourceHandle);
    if ((!event_fired_for_host(a) && !device.faults.start_time_not_awaited) || !event_fired_for_host(b))
        return device.faults.unfinished_time_told ? (*ms = 0, cudaSuccess) : cudaErrorNotReady;
    int64_t ticks = (int64_t)(event_time(b) - event_time(a));
    bool sleeping = ((a->flags | b->flags) & cudaEventBlockingSync) != 0;
    if ((device.faults.times_across_streams_zero && a->in != b->in) || (device.faults.sleeping_times_zero && sleeping) ||
        (device.faults.crowded_times_zero && b->serial - a->serial > 64) || (device.faults.mixed_times_zero && a->by_node != b->by_node) ||
        (device.faults.per_thread_times_zero && a->in == stream_of(cudaStreamPerThread)) || (device.faults.times_to_graph_zero && b->behind_graph))
        ticks = 0;
    if (device.faults.far_times_zero && b->serial - a->serial > 1000)
        ticks = 0;
    if (device.faults.far_node_times_zero && a->by_node && b->by_node && b->serial - a->serial > 3)
        ticks = 0;
    if ((device.faults.node_times_in_tenths && b->by_node) || (device.faults.external_times_in_tenths && b->by_captured))
        ticks /= 10;
    if (device.faults.same_event_time_told && a == b)
        ticks = 1 << 20;
    if (device.faults.left_start_times_zero && stream_is_gone(a))
        ticks = 0;
    *ms = (float)ticks / (1024.0f * 1e6f);
    return cudaSuccess;
}
