/* Events in captures: what they are recorded behind, and what waits for them. */
#include "capture.h"

#include <stdlib.h>

/* Devices on which a captured record forgets what was overlapped */
static bool record_loses_row(const struct stream *s, const struct lane *l)
{
    const struct faults *f = &device.faults;
    const struct request *last = l->halves != 0 ? l->half[0].node->kernel : NULL;
    return f->capture_loses_order || (f->fork_loses_order && s->capture->origin != s) || (f->record_behind_join_loses_row && l->halves > 1) ||
           (f->record_behind_recorder_loses_row && s->capture->origin == s && last != NULL && last->event != NULL);
}

/* On a broken device a stream that has only waited for launches' events records nothing of them. */
static unsigned without_awaited(struct half_edge *half, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (!half[i].of_event)
            half[kept++] = half[i];
    return kept;
}

/* An ordinary record: what is after the event is the lane as it stands, full edges only, with all that it overlapped. */
cudaError_t capture_record(struct stream *s, struct event *e)
{
    if (capture_broken(s))
        return device.faults.spoiled_capture_records ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
    struct lane *l = lane_of(s->capture, s);
    event_holds(e, s, l->half, l->halves);
    unsigned count = l->halves;
    bool forgets = record_loses_row(s, l);
    if (!forgets && l->behinds != 0) {
        e->captured = realloc(e->captured, (count + l->behinds) * sizeof *e->captured);
        if (e->captured == NULL)
            abort();
        for (unsigned i = 0; i < l->behinds; i++) {
            struct half_edge h = {l->behind[i], full_edge, false, false};
            e->captured[count++] = h;
        }
    }
    if (device.faults.record_forgets_one_overlapped && !forgets && l->behinds > 1)
        count--;
    if (device.faults.join_record_keeps_last && count > 1) {
        e->captured[0] = e->captured[count - 1];
        count = 1;
    }
    if (device.faults.record_keeps_eight && count > 8)
        count = 8;
    if (device.faults.per_thread_record_keeps_one && count > 1 && s == stream_of(cudaStreamPerThread))
        count = 1;
    if (device.faults.relayed_event_lost)
        count = without_awaited(e->captured, count);
    for (unsigned i = 0; i < count; i++)
        e->captured[i].kept_default = edge_is_default(e->captured[i].data);
    e->captured_count = count;
    return cudaSuccess;
}

/* What a stream that waits for an event in a capture depends on then; on broken devices less if it had joined before, or had something to
 * depend on. */
static struct half_edge awaited_half(struct half_edge h, bool joined_before, bool beside)
{
    if (device.faults.start_beside_other_at_trigger && beside && h.of_event)
        h.data.from_port = cudaGraphKernelNodePortProgrammatic;
    if (!joined_before || !h.of_event)
        return h;
    if (device.faults.event_in_fork_full)
        h.data = full_edge;
    if (device.faults.start_in_fork_at_trigger)
        h.data.from_port = cudaGraphKernelNodePortProgrammatic;
    return h;
}

/* Devices on which what an event stands for is what its stream comes after once somebody waits for it. */
static void event_grows(const struct capture *c, struct event *e)
{
    for (const struct lane *l = c->lanes; l != NULL; l = l->next)
        if (l->stream == e->captured_in && ((device.faults.record_before_set_gone && l->set) || (device.faults.record_before_added_grows && l->added)))
            event_holds(e, l->stream, l->half, l->halves);
}

/* For the device fourth-hand-fork-lost: whether the stream comes to the capture from one that came from one that came from another one. */
static bool joins_deep(const struct capture *c, const struct event *e, struct lane *l, bool is_new)
{
    for (const struct lane *from = c->lanes; is_new && from != NULL; from = from->next)
        if (from->stream == e->captured_in)
            l->hands = from->hands + 1;
    return device.faults.fourth_hand_fork_lost && is_new && l->hands >= 3;
}

cudaError_t capture_wait(struct stream *s, struct event *e)
{
    if (e->recorded != RECORDED_IN_CAPTURE) {
        if (e->recorded == RECORDED_NEVER || device.faults.isolation_ignored)
            return cudaSuccess;
        s->capture->invalid = true;
        return cudaErrorStreamCaptureIsolation;
    }
    struct capture *c = capture_of_id(e->capture_id);
    if (c == NULL || e->capture != c)
        return device.faults.past_captured_event_taken ? cudaSuccess : cudaErrorCapturedEvent;
    if (s->capture != NULL && s->capture != c && device.faults.merge_ignored)
        return cudaSuccess;
    if (s->capture != NULL && s->capture != c) {
        c->invalid = !device.faults.merge_spoils_one;
        s->capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (c->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (stream_is_legacy(s) && device.faults.legacy_joins)
        return cudaSuccess;
    if (stream_is_legacy(s)) {
        c->invalid = true;
        return cudaErrorStreamCaptureImplicit;
    }
    unsigned lanes = 0;
    for (const struct lane *known = c->lanes; known != NULL; known = known->next)
        lanes++;
    bool is_new = s->capture == NULL, is_fifth = is_new && lanes >= 4;
    struct lane *l = lane_of(c, s);
    if (device.faults.second_join_lost && !is_new && c->origin != s)
        return cudaSuccess;
    if ((device.faults.fifth_lane_lost && is_fifth) || (device.faults.ninth_lane_lost && is_new && lanes >= 8))
        return cudaSuccess;
    if (device.faults.joined_capture_cuts && is_new)
        stream_cuts(s);
    if (device.faults.joined_capture_forgets_events && is_new)
        s->waits = 0;
    if (device.faults.join_replaces)
        l->halves = 0;
    if (device.faults.join_forgets_overlapped)
        l->behinds = 0;
    if (device.faults.lane_17_lost && is_new && lanes >= 16)
        return cudaSuccess;
    bool sleeping = (e->flags & cudaEventBlockingSync) != 0;
    bool lost = (device.faults.sleeping_join_lost && sleeping) || (device.faults.per_thread_join_lost && s == stream_of(cudaStreamPerThread));
    lost |= (device.faults.idle_origin_not_joined && l->halves == 0 && c->origin == s) ||
            (device.faults.captured_timed_event_lost && (e->flags & cudaEventDisableTiming) == 0);
    event_grows(c, e);
    bool of_start = e->captured_count == 1 && e->captured[0].of_event && e->captured[0].data.from_port == 2;
    if (device.faults.second_waiter_of_start_full && of_start && e->captured_waits++ == 1)
        e->captured[0].data = full_edge;
    if (device.faults.second_waiter_full && e->captured_count == 1 && e->captured[0].of_event && e->awaited++ % 2 != 0)
        e->captured[0].data = full_edge;
    bool beside = l->halves != 0;
    l->by_program |= is_new && e->captured_count != 0 && e->captured[0].of_event;
    lost |= joins_deep(c, e, l, is_new);
    for (unsigned i = 0; i < e->captured_count && !lost; i++)
        lane_depends(l, awaited_half(e->captured[i], !is_new && c->origin != s, beside));
    if (device.faults.event_spent)
        e->captured_count = 0;
    return cudaSuccess;
}
