/* Events: what each stands for, and which streams wait for it; api_event_answers.c: what the host is told of it. */
#include "api.h"
#include "choices.h"

#include <stdlib.h>

enum { EVENT_MAGIC = 0x45564e31 };

static struct event *events; /* all that were created, also destroyed ones that have not fired */
static struct event *gone;   /* destroyed ones that have; kept, so that no new event has the handle of one */
static struct event left_captured; /* the last one that was destroyed: for the device captured-event-place-taken */
static struct op *left_by_destroyed; /* what it stood for: for the device destroyed-event-fires-next */
static struct op *place_of_destroyed; /* the same: for the device destroyed-event-place-fires */

static void free_all(struct event **list)
{
    while (*list != NULL) {
        struct event *next = (*list)->next;
        free((*list)->captured);
        free(*list);
        *list = next;
    }
}

void events_reset(void)
{
    device.unfired_destroyed = false;
    left_captured.recorded = RECORDED_NEVER;
    left_by_destroyed = place_of_destroyed = NULL;
    free_all(&events);
    free_all(&gone);
}

void events_forget_retired(void)
{
    if (left_by_destroyed != NULL && left_by_destroyed->retired)
        left_by_destroyed = NULL;
    if (place_of_destroyed != NULL && place_of_destroyed->retired)
        place_of_destroyed = NULL;
    for (struct event **at = &events; *at != NULL;) {
        struct event *e = *at;
        if (e->fires_with != NULL && e->fires_with->retired)
            e->fires_with = NULL;
        if (e->place != NULL && e->place->retired)
            e->place = NULL;
        if (e->earlier != NULL && e->earlier->retired)
            e->earlier = NULL;
        if (e->op != NULL && e->op->retired) {
            e->fired_at = e->op->done_at;
            e->op = NULL;
        }
        if (e->op != NULL || e->magic == EVENT_MAGIC) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = gone;
        gone = e;
    }
}

struct event *event_of(cudaEvent_t handle)
{
    struct event *e = (struct event *)(void *)handle;
    return e != NULL && e->magic == EVENT_MAGIC ? e : NULL;
}

cudaError_t event_usable_in_launch(cudaEvent_t handle, int flags)
{
    const struct event *e = event_of(handle);
    if (e == NULL)
        return cudaErrorInvalidResourceHandle; /* F20 */
    if ((flags & cudaEventRecordExternal) != 0)
        return device.faults.external_launch_event_taken ? cudaSuccess : cudaErrorIllegalState; /* F20 */
    if (flags != 0)
        return cudaErrorInvalidValue;
    if ((e->flags & cudaEventDisableTiming) == 0 || ((e->flags & cudaEventInterprocess) != 0 && !device.faults.interprocess_launch_event_taken))
        return cudaErrorNotSupported; /* F19 */
    return cudaSuccess;
}

/* Devices on which streams that wait for the block starts of some launches go on before the first one */
static bool starts_event_early(const struct event *e, const struct op *op)
{
    const struct faults *f = &device.faults;
    if ((f->attributed_start_event_early && op->attributed) || (f->completing_start_event_early && op_given(op, 12)) ||
        (f->moved_start_event_early && e->moved))
        return true;
    return op_is_hinted(op, &f->start_event_early) || (f->clustered_start_event_early && op->grid->cluster > 1) ||
           (f->urgent_start_event_early && op->urgent) ||
           (f->domain_start_event_early && op->domain != 0) || (f->cooperative_start_event_early && op->grid->cooperative) ||
           (f->layered_start_event_early && op->grid->shape[2] > 1);
}

/* On a device that has room for the programmatic events of eight launches under way */
static bool has_no_room(const struct event *e)
{
    unsigned others = 0;
    for (const struct event *o = events; device.faults.ninth_launch_event_lost && o != NULL; o = o->next)
        others += o != e && o->op != NULL && o->recorded == RECORDED_PROGRAMMATIC && !o->op->retired;
    return others >= 8;
}

/* EVT-01, EVT-02, EVT-03, EVT-08: from the moment the rule names on, or any time later up to completion */
void event_takes(struct event *e, enum recorded how, struct op *op, bool at_block_start)
{
    e->version++;
    bool completion_again = how == RECORDED_LAUNCH && e->recorded == RECORDED_LAUNCH && e->op != NULL && !e->op->retired;
    if (completion_again && device.faults.completion_stays_with_first)
        return;
    bool other_launch = how != RECORDED_ORDINARY && how != e->recorded && (e->recorded == RECORDED_PROGRAMMATIC || e->recorded == RECORDED_LAUNCH);
    if (other_launch && device.faults.other_launch_record_stays && e->op != NULL && !e->op->retired)
        return;
    if (device.faults.launch_record_moves_waiters && how != RECORDED_ORDINARY && e->op != NULL)
        streams_follow(e->op, op);
    e->followers = 0;
    e->rerecorded = e->op != NULL && !e->op->retired ? e->rerecorded + 1 : 0;
    bool of_failed = e->recorded == RECORDED_IN_CAPTURE && e->capture_id == device.failed_capture;
    e->recorded = how;
    e->op = op;
    e->waiters = 0;
    e->in = NULL;
    e->by_node = e->by_captured = e->behind_graph = false;
    e->capture = NULL;
    e->device_at = e->host_at = EDGE_RETIRED;
    e->at_start = at_block_start && how == RECORDED_PROGRAMMATIC;
    e->moved_early = false;
    e->serial = op->serial;
    e->polled = false;
    e->polls = 0;
    if (how == RECORDED_ORDINARY)
        return;
    bool at_start_always = device.faults.trigger_event_at_start && how == RECORDED_PROGRAMMATIC;
    if (device.faults.middle_event_at_primary && how == RECORDED_PROGRAMMATIC && !at_block_start && op->overlapped != NULL)
        e->op = op->overlapped;
    enum edge_kind soonest = at_block_start || at_start_always ? EDGE_STARTED : EDGE_TRIGGERED;
    if (e->at_start && starts_event_early(e, op))
        soonest = EDGE_TURN;
    if (how == RECORDED_PROGRAMMATIC && (device.faults.program_event_first_block || op_is_hinted(op, &device.faults.event_at_touch)))
        soonest = EDGE_TOUCHED;
    const struct grid *g = op->grid;
    if (how == RECORDED_PROGRAMMATIC && ((device.faults.grouped_event_at_touch && g->cooperative && g->cluster > 1) ||
                                         (device.faults.legacy_event_at_touch && (op->features & HAS(legacy)) != 0) ||
                                         (device.faults.event_of_rows_at_touch && g->shape[1] > 1) ||
                                         (device.faults.sharing_event_at_touch && g->dynamic_shared != 0) ||
                                         (device.faults.long_args_event_at_touch && !at_block_start && has_long_args(g))))
        soonest = EDGE_TOUCHED;
    if ((device.faults.large_launch_told_at_start && g->blocks > 32) || (device.faults.long_launch_told_at_start && g->kernel->args_bytes > 128) ||
        (device.faults.sleeping_launch_told_at_start && (e->flags & cudaEventBlockingSync) != 0) ||
        (device.faults.clustered_launch_told_at_start && g->cluster > 1) || (device.faults.domain_launch_told_at_start && op->domain != 0))
        soonest = EDGE_STARTED;
    if (device.faults.launched_blocking_event_past && how == RECORDED_PROGRAMMATIC && (e->flags & cudaEventBlockingSync) != 0)
        e->op = NULL;
    if (device.faults.launched_plain_event_past && how == RECORDED_PROGRAMMATIC && (e->flags & cudaEventBlockingSync) == 0)
        e->op = NULL;
    if (how == RECORDED_PROGRAMMATIC && (has_no_room(e) || (device.faults.record_after_spoiled_lost && of_failed)))
        e->op = NULL;
    if (device.faults.ninth_completion_record_lost && how == RECORDED_LAUNCH && e->rerecorded >= 8)
        e->op = NULL;
    if (takes_overlap())
        e->device_at = soonest;
    if (soonest == EDGE_TURN) /* the host is told as ever */
        soonest = EDGE_STARTED;
    if (device.faults.attributed_launch_told_at_touch && soonest == EDGE_TRIGGERED && op->attributed)
        soonest = EDGE_TOUCHED;
    if (!device.faults.never_overlaps && choose(2) != 0)
        e->host_at = soonest;
}

/* Devices on which the host is told of some launches' block starts, or completion, too early */
static bool told_of_launch(const struct event *e)
{
    const struct faults *f = &device.faults;
    const struct op *op = e->op;
    if (op == NULL || op->grid == NULL)
        return false;
    bool starts = f->first_start_told || (f->clustered_starts_told && op->grid->cluster > 1) || (f->urgent_starts_told && op->urgent) ||
                  (f->domain_starts_told && op->domain != 0) || op_is_hinted(op, &f->starts_told) ||
                  (f->completing_starts_told && op_given(op, 12));
    return (starts && e->at_start && op->grid->next_block != 0) || (f->domain_completion_told && e->recorded == RECORDED_LAUNCH && op->domain != 0);
}

bool event_fired_for_host(struct event *e)
{
    bool told = (device.faults.node_record_host_early && e->by_node) || (device.faults.record_behind_graph_told && e->behind_graph);
    told |= device.faults.earlier_record_told && e->moved_early && (e->earlier == NULL || e->earlier->retired);
    return e->op == NULL || op_reached(e->op, e->host_at) || told || told_of_launch(e);
}

void event_moves_to_trigger(const struct op *record, struct op *kernel)
{
    for (struct event *e = events; e != NULL; e = e->next)
        if (e->op == record) {
            e->op = kernel;
            e->device_at = e->host_at = EDGE_TRIGGERED;
        }
}

static unsigned events_alive(void)
{
    unsigned alive = 0;
    for (const struct event *e = events; e != NULL; e = e->next)
        alive += e->magic == EVENT_MAGIC;
    return alive;
}

/* Devices on which a record in this stream stands for nothing. flagged: by the function that takes flags */
static bool record_is_lost(const struct stream *s, bool flagged)
{
    const struct faults *f = &device.faults;
    if (f->flagged_record_in_urgent_lost && flagged && s->priority < 0)
        return true;
    if (s->tail == NULL)
        return false;
    if (f->records_beside_others_capture_lost && capture_is_of_others())
        return true;
    if (f->record_behind_ended_lost && s->tail->attributed && s->tail->done)
        return true;
    if ((f->record_behind_told_launch_lost && s->tail->told && !s->tail->retired) ||
        (f->others_record_lost && s->tail->kind == OP_KERNEL && s->tail->by_other != device.other_thread))
        return true;
    if (f->given_priority_record_lost && stream_given(s, 8))
        return true;
    const struct grid *grid = s->tail->grid;
    if (grid != NULL && ((f->record_behind_shared_lost && grid->dynamic_shared != 0) || (f->record_behind_cluster_lost && grid->cluster > 1)))
        return true;
    return (f->record_behind_host_lost && s->tail->kind == OP_HOST) ||
           (f->record_behind_memset_lost && s->tail->kind == OP_SET && s->tail->move.width == 1);
}

/* Devices on which a record is lost while so many others have not ended */
static bool finds_no_place(const struct event *last)
{
    unsigned pending = 0;
    if (!device.faults.pending_records_lost)
        return false;
    for (const struct event *e = events; e != NULL; e = e->next)
        pending += e != last && e->recorded == RECORDED_ORDINARY && e->op != NULL && !e->op->retired;
    return pending >= 1024;
}

static void event_record(struct event *e, struct stream *s, bool flagged)
{
    struct op *op = op_new(OP_RECORD), *before = s->last_kernel;
    bool forgets = device.faults.record_forgets_graph && s->behind_graph, behind = s->behind_graph, lost = record_is_lost(s, flagged);
    bool stays = e->recorded == RECORDED_IN_CAPTURE &&
                 (e->capture_id == device.failed_capture ? device.faults.spoiled_event_stays : device.faults.left_event_stays);
    op->timed = (e->flags & cudaEventDisableTiming) == 0;
    bool idle = (s->tail == NULL || s->tail->retired) && s->waits == 0;
    struct op *record = s->tail != NULL && s->tail->kind == OP_RECORD && s->waits != 0 && !op->timed ? s->tail : NULL;
    if (device.faults.record_drops_awaited && e->op != NULL)
        stream_drops(s, e->op);
    e->moved |= e->in != NULL && e->in != s;
    stream_append(s, op, false);
    if (op->timed)
        s->kernel_tail = NULL; /* F25 */
    bool by_launch = e->op != NULL && (e->recorded == RECORDED_PROGRAMMATIC || e->recorded == RECORDED_LAUNCH);
    bool kept = device.faults.record_keeps_first && e->recorded == RECORDED_ORDINARY;
    bool pending = e->recorded == RECORDED_ORDINARY && e->op != NULL && !e->op->retired;
    struct op *earlier = pending && e->in != NULL && e->in != s ? e->op : NULL;
    if (!kept && (!device.faults.launch_record_stays || !by_launch))
        event_takes(e, RECORDED_ORDINARY, op, false);
    e->earlier = earlier;
    e->moved_early = earlier != NULL;
    if (device.faults.timed_event_early && op->timed)
        e->host_at = EDGE_STARTED, e->op = before != NULL && !before->retired ? before : e->op;
    if (device.faults.ipc_event_early && (e->flags & cudaEventInterprocess) != 0 && before != NULL && !before->retired)
        e->op = before, e->device_at = EDGE_STARTED;
    if (device.faults.timed_wait_early && op->timed && before != NULL && !before->retired)
        e->op = before, e->device_at = EDGE_STARTED;
    if (device.faults.destroyed_event_fires_next && e->fires_with != NULL && !e->fires_with->retired && !e->fires_with->triggered_all)
        e->op = e->fires_with, e->device_at = e->host_at = EDGE_TRIGGERED;
    if (device.faults.destroyed_event_place_fires && idle && e->place != NULL && !e->place->retired) {
        op_waiters_follow(e->place, op);
        streams_follow(e->place, op);
    }
    e->place = NULL;
    if (device.faults.flagged_record_early && flagged && before != NULL && !before->retired)
        e->op = before, e->device_at = EDGE_STARTED;
    if ((device.faults.many_events_lost && events_alive() > 512) || e->late || lost || stays)
        e->op = NULL;
    if ((device.faults.asked_fresh_record_lost && e->asked_fresh) || finds_no_place(e))
        e->op = NULL;
    if (device.faults.record_repeats_record && record != NULL)
        e->op = record;
    e->asked_fresh = false;
    e->awaited = 0;
    if (forgets)
        e->device_at = EDGE_DONE; /* the stream itself stays in order */
    if (device.faults.event_at_launch)
        e->device_at = e->host_at = EDGE_DONE;
    e->in = s;
    e->behind_graph = behind;
    op_submit(op);
}

static bool is_late_waiter(struct event *e, struct stream *s)
{
    for (unsigned i = 0; i < e->waiters; i++)
        if (e->waiter[i] == s)
            return i >= 4;
    if (e->waiters < 16)
        e->waiter[e->waiters++] = s;
    return e->waiters > 4;
}

static bool is_first_waiter(struct event *e, struct stream *s)
{
    return !is_late_waiter(e, s) && e->waiter[0] == s;
}

/* Devices on which this stream does not wait for this event */
static bool event_passed(const struct stream *s, const struct event *e)
{
    const struct faults *f = &device.faults;
    if (f->waiter_33_passes && e->followers > 32)
        return true;
    if (f->old_event_passed && device.serial - e->serial > 256)
        return true;
    bool timed = (e->flags & cudaEventDisableTiming) == 0, sleeping = (e->flags & cudaEventBlockingSync) != 0;
    bool urgent = s->priority < 0, blocking = (s->flags & cudaStreamNonBlocking) == 0, per_thread = s == stream_of(cudaStreamPerThread);
    if (e->by_node && ((f->node_event_lost_in_per_thread && per_thread) || (f->node_event_lost_in_blocking && blocking) ||
                       (f->timed_node_event_lost && timed) || (f->sleeping_node_event_lost && sleeping)))
        return true;
    if ((f->polled_timed_event_lost && timed && e->polled) || (f->other_thread_event_passed && e->by_other))
        return true;
    return (f->timed_sleeping_event_lost && timed && sleeping) || (f->timed_event_after_graph_lost && timed && e->behind_graph) ||
           (f->urgent_stream_passes_timed_event && urgent && !blocking && timed) ||
           (f->urgent_stream_passes_launch_event && urgent && sleeping && e->recorded == RECORDED_PROGRAMMATIC);
}

/* Devices on which no stream waits for the launch-completion events of some launches */
static bool completion_passed(const struct op *op)
{
    const struct faults *f = &device.faults;
    if ((f->legacy_completion_passed && (op->features & HAS(legacy))) || (f->attributed_completion_passed && op->attributed) ||
        (f->recorder_completion_passed && op_given(op, 7)) || (f->cooperative_completion_passed && op->grid->cooperative))
        return true;
    return f->completion_not_awaited || (f->clustered_completion_passed && op->grid->cluster > 1) || (f->urgent_completion_passed && op->urgent) ||
           (f->domain_completion_passed && op->domain != 0);
}

/* On the device record-versions-wrap: the stream takes this record for the one that it was told to wait for before. */
static bool version_was_met(struct stream *s, const struct event *e)
{
    bool met = s->met == e && s->met_version == e->version;
    s->met = e;
    s->met_version = e->version;
    return met && device.faults.record_versions_wrap;
}

static void event_awaited(struct stream *s, struct event *e)
{
    if (device.faults.idle_event_frees && e->op == NULL)
        s->waits = 0;
    e->awaited++;
    e->followers++;
    if (event_passed(s, e) || version_was_met(s, e))
        return;
    if (e->op == NULL || op_reached(e->op, EDGE_RETIRED))
        return;
    const struct faults *f = &device.faults;
    if (f->told_launch_event_passed && e->op->told)
        return;
    if (f->moved_event_not_awaited && e->moved && e->in != s && s->tail == NULL)
        return;
    bool completion = e->recorded == RECORDED_LAUNCH, programmatic = e->recorded == RECORDED_PROGRAMMATIC;
    if (completion && (completion_passed(e->op) || (f->completion_passed_after_capture && s->has_captured) ||
                       (f->completion_not_awaited_when_idle && s->tail == NULL)))
        return;
    if ((f->event_of_capturing_stream_passed && e->in != NULL && e->in->capture != NULL) || (f->launch_event_of_other_passed && programmatic && e->by_other))
        return;
    bool covered = e->recorded == RECORDED_PROGRAMMATIC && !device.faults.program_event_not_covered;
    covered &= !(device.faults.per_thread_of_urgent_uncovered && stream_is_per_thread(s) && e->in != NULL && e->in->priority < 0);
    covered &= !(device.faults.attributed_recorder_uncovered && e->op->attributed);
    covered &= !(device.faults.driver_event_uncovered && e->op->by_driver);
    covered &= !(device.faults.second_waiter_uncovered && !is_first_waiter(e, s));
    covered &= !(device.faults.fired_launch_uncovers && e->was_fired);
    covered &= !(device.faults.polled_launch_event_uncovered && e->polled);
    struct pending_wait w = {e->op, e->device_at, covered, completion, e};
    stream_awaits(s, w);
}

/* ---- the calls ---- */

/* "Event is captured in the graph as an external event node when performing stream capture." */
static cudaError_t capture_event_node(struct stream *s, cudaEvent_t event, enum cudaGraphNodeType type)
{
    struct node *n = event_node(capture_graph(s), type, event);

    return n == NULL ? cudaErrorInvalidValue : capture_node(s, n);
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
    CALL(cudaStreamWaitEvent);
    struct stream *s = stream_of(handle);
    struct event *e = event_of(event);
    if (device.faults.no_event_ignored && event == NULL)
        return cudaSuccess;
    bool unknown = (flags & ~(unsigned)cudaEventWaitExternal) != 0;
    if (device.faults.refused_wait_eats_waits && s != NULL && (e == NULL || unknown))
        s->waits = 0;
    if (device.faults.refused_wait_cuts && s != NULL && e == NULL)
        stream_cuts(s);
    FAIL_IF(s == NULL || e == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(unknown && !device.faults.wait_flags_taken, cudaErrorInvalidValue);
    if (s->capture != NULL && (flags & cudaEventWaitExternal) != 0)
        return device.faults.external_wait_lost ? cudaSuccess : call_result(capture_event_node(s, event, cudaGraphNodeTypeWaitEvent));
    if (s->capture != NULL || e->recorded == RECORDED_IN_CAPTURE)
        return call_result(capture_wait(s, e));
    FAIL_IF(!device.faults.legacy_host_beside_capture && legacy_use_spoils(s), cudaErrorStreamCaptureImplicit);
    if (device.faults.own_event_frees && e->in == s && e->op != NULL)
        s->waits = 0;
    if (device.faults.renewed_stream_owns_event && e->in != NULL && e->in == s->renews)
        return cudaSuccess;
    if (device.faults.polled_event_not_awaited && e->polled)
        return cudaSuccess;
    if (device.faults.per_thread_passes_per_thread && e->in != NULL && e->in != s && stream_is_per_thread(e->in) && stream_is_per_thread(s))
        return cudaSuccess;
    if (device.faults.own_launch_event_cuts && e->recorded == RECORDED_PROGRAMMATIC && e->in == s)
        stream_cuts(s);
    if (device.faults.fifth_waiter_unordered && is_late_waiter(e, s))
        return cudaSuccess;
    if ((device.faults.many_streams_unordered && streams_alive() > 24) || (device.faults.sixtieth_stream_unordered && s->late))
        return cudaSuccess;
    if (!device.faults.fourth_wait_lost || s->waits < 3)
        event_awaited(s, e);
    if (stream_is_legacy(s) && s->waits != 0 && !device.faults.legacy_wait_is_no_action)
        stream_closes(s);
    if (device.faults.event_spent)
        e->op = NULL;
    return cudaSuccess;
}

/* For the device captured-event-place-taken. */
static void takes_captured_place(struct event *e)
{
    const struct event *left = &left_captured;
    if (!device.faults.captured_event_place_taken || left->recorded != RECORDED_IN_CAPTURE || !capture_is_active())
        return;
    e->captured = calloc(left->captured_count + 1, sizeof *e->captured);
    if (e->captured == NULL)
        abort();
    for (unsigned i = 0; i < left->captured_count; i++)
        e->captured[i] = left->captured[i];
    e->captured_count = left->captured_count;
    e->recorded = RECORDED_IN_CAPTURE;
    e->capture = left->capture;
    e->capture_id = left->capture_id;
}

static cudaError_t event_create(cudaEvent_t *out, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    FAIL_IF(out == NULL || ((flags & ~known) != 0 && !device.faults.event_flags_taken), cudaErrorInvalidValue);
    FAIL_IF((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming) && !device.faults.timed_interprocess_taken, cudaErrorInvalidValue);
    struct event *e = calloc(1, sizeof *e);
    FAIL_IF(e == NULL, cudaErrorMemoryAllocation);
    e->magic = EVENT_MAGIC;
    e->flags = flags;
    e->by_other = device.other_thread;
    e->fires_with = left_by_destroyed;
    left_by_destroyed = NULL;
    e->place = place_of_destroyed;
    place_of_destroyed = NULL;
    e->late = (device.faults.thousandth_event_lost && events_alive() >= 1000) || (device.faults.capture_spoils_events && capture_is_active());
    takes_captured_place(e);
    left_captured.recorded = RECORDED_NEVER;
    e->next = events;
    events = e;
    *out = (cudaEvent_t)(void *)e;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *out)
{
    CALL(cudaEventCreate);
    return event_create(out, device.faults.plain_event_untimed ? cudaEventDisableTiming : 0);
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    CALL(cudaEventCreateWithFlags);
    return event_create(out, flags);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t handle)
{
    CALL(cudaEventDestroy);
    struct event *e = event_of(handle);
    FAIL_IF(e == NULL, cudaErrorInvalidResourceHandle);
    e->magic = 0;
    left_captured = *e;
    capture_loses_event(e);
    if (device.faults.destroyed_event_cuts && e->op != NULL && e->in != NULL && e->in->tail == e->op)
        stream_cuts(e->in);
    device.unfired_destroyed |= e->op != NULL && !e->op->retired;
    if (e->recorded == RECORDED_PROGRAMMATIC && e->op != NULL && !e->op->retired && !e->op->triggered_all)
        left_by_destroyed = e->op;
    if (e->recorded == RECORDED_ORDINARY && e->op != NULL && !e->op->retired)
        place_of_destroyed = e->op;
    bool of_launch = e->recorded != RECORDED_ORDINARY && e->op != NULL;
    if (device.faults.destroyed_event_lost || (device.faults.destroyed_launch_event_lost && of_launch))
        streams_drop(e->op);
    if (device.faults.others_end_of_event_lost && e->op != NULL && e->op->by_other != device.other_thread)
        streams_drop(e->op);
    return cudaSuccess;
}

static cudaError_t event_record_in(cudaEvent_t event, cudaStream_t stream, unsigned flags, bool flagged)
{
    struct event *e = event_of(event);
    struct stream *s = stream_of(stream);
    FAIL_IF(s == NULL || e == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF((flags & ~(unsigned)cudaEventRecordExternal) != 0 && !device.faults.record_flags_taken, cudaErrorInvalidValue);
    bool nowhere = flags == cudaEventRecordExternal && s->capture == NULL; /* only captures have external records */
    if (device.faults.refused_record_fires && nowhere)
        e->op = NULL;
    FAIL_IF(nowhere && !device.faults.external_record_accepted, cudaErrorIllegalState);
    FAIL_IF(legacy_use_spoils(s), cudaErrorStreamCaptureImplicit);
    if (s->capture != NULL && flags == cudaEventRecordExternal)
        return device.faults.external_record_lost ? cudaSuccess : call_result(capture_event_node(s, event, cudaGraphNodeTypeEventRecord));
    if (s->capture != NULL) {
        cudaError_t error = capture_record(s, e);
        if (device.faults.captured_flagged_record_lost && flagged && error == cudaSuccess)
            e->captured_count = 0;
        return call_result(error);
    }
    event_record(e, s, flagged);
    if (device.faults.other_name_record_fires && s->kernel_tail != NULL && s->named != stream)
        e->op = NULL;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    CALL(cudaEventRecord);
    return event_record_in(event, stream, 0, false);
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    CALL(cudaEventRecordWithFlags);
    return event_record_in(event, stream, flags, true);
}
