/* What comes next in a stream that waits for events: it comes after what they stand for, on a broken device after less. */
#include "api.h"

/* Devices on which this work of a stream does not wait for the events that the stream waits for */
static bool forgets_events(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    bool idle = s->tail == NULL || s->tail->retired;
    if ((f->middle_stream_forgets_events && stream_is_between(s)) || (f->batch_forgets_events && op->queued_by == BY_BATCH) ||
        (f->driver_plain_call_forgets_events && op->queued_by == BY_DRIVERS_PLAIN_CALL) ||
        (f->symbol_copy_forgets_events && op->queued_by == BY_NAME_OF_MEMORY) || (f->unordered_beside_others_capture && capture_is_of_others()))
        return true;
    if (f->copy_out_forgets_behind_host && op->to_host && s->tail != NULL && s->tail->kind == OP_HOST)
        return true;
    if (f->driver_forgets_events && device.by_driver && op->attributed)
        return true;
    if ((f->given_priority_forgets_events && stream_given(s, 8)) || (f->given_domain_forgets_events && stream_given(s, 10)))
        return true;
    if ((f->dependent_forgets_many_events && op->attributed && s->waits > 4) || (f->host_forgets_many_events && op->kind == OP_HOST && s->waits > 16))
        return true;
    if ((f->dependent_forgets_257_events && op->attributed && s->told_to_wait > 256) ||
        (f->copy_forgets_65_events && op->kind == OP_COPY && s->told_to_wait > 64))
        return true;
    if ((f->halves_forget_events && op->kind == OP_SET && op->move.width == 2 && s->waits > 1) ||
        (f->domain_dependent_forgets_events && op->domain != 0 && op->attributed))
        return true;
    bool cooperative = op->kind == OP_KERNEL && op->grid->cooperative, behind_graph = s->tail != NULL && s->tail->kind == OP_JOIN;
    if (cooperative && ((f->cooperative_cluster_forgets_events && op->grid->cluster > 1) ||
                        (f->cooperative_behind_graph_forgets_events && behind_graph)))
        return true;
    if ((f->carve_out_forgets_events && op_given(op, 14)) || (f->scheduling_forgets_events && op_given(op, 5)))
        return true;
    if (op->kind == OP_KERNEL)
        return (f->cooperative_forgets_events && op->grid->cooperative) || (f->shared_forgets_events && op->grid->dynamic_shared != 0);
    if (op->kind == OP_COPY)
        return (f->rows_copy_forgets_events && op->move.rows > 1) || (f->layers_copy_forgets_events && op->move.layers > 1);
    if ((f->callback_forgets_events && op->host.callback != NULL) || (f->value_forgets_events && op->of_value) ||
        (f->free_forgets_events && op->kind == OP_POOL))
        return true;
    if (f->awaited_value_eats_waits && op->kind == OP_AWAIT)
        return true;
    if (f->idle_halves_forget_events && idle && op->kind == OP_SET && op->move.width == 2)
        return true;
    return idle && ((f->idle_host_forgets_events && op->kind == OP_HOST) || (f->idle_memset_forgets_events && op->kind == OP_SET));
}

/* Devices on which the wait of such work does not cover the kernel of an event that its stream waited for */
static bool awaited_uncovers(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    for (unsigned i = 0; f->cooperative_start_event_uncovered && i < s->waits; i++)
        if (s->wait[i].kind == EDGE_STARTED && op->kind == OP_KERNEL && op->grid->cooperative)
            return true;
    return (f->long_args_event_uncovered && has_long_args(op->grid)) || (f->primary_hides_event && op->attributed && s->kernel_tail != NULL);
}

static bool awaits_trigger(const struct stream *s)
{
    for (unsigned i = 0; i < s->waits; i++)
        if (s->wait[i].kind == EDGE_TRIGGERED)
            return true;
    return false;
}

/* Devices on which a kernel, mostly one with attribute 6, takes the record of some streams' events, right behind a kernel, for that kernel's trigger */
static struct op *takes_for_trigger(const struct stream *s, const struct op *op, const struct pending_wait *wait)
{
    const struct faults *f = &device.faults;
    const struct stream *in = wait->event != NULL ? wait->event->in : NULL;
    if (in == NULL || op->kind != OP_KERNEL || wait->op->kind != OP_RECORD || in->tail != wait->op || in->kernel_tail == NULL)
        return NULL;
    bool blocking = in->flags == cudaStreamDefault && !stream_is_legacy(in) && !stream_is_per_thread(in);
    if (!op->attributed)
        return f->blocking_records_at_trigger && blocking && (op->features & HAS(blocking)) ? in->kernel_tail : NULL;
    bool takes = (f->lower_event_at_trigger && in->priority > s->priority) || (f->higher_event_at_trigger && in->priority < s->priority) ||
                 (f->legacy_record_at_trigger && stream_is_legacy(in)) || (f->per_thread_record_at_trigger && stream_is_per_thread(in)) ||
                 (f->blocking_record_at_trigger && blocking) || (f->record_at_trigger_in_per_thread && stream_is_per_thread(s));
    return takes ? in->kernel_tail : NULL;
}

void order_behind_waits(struct stream *s, struct op *op)
{
    if ((device.faults.copy_forgets_events && moves_memory(op)) || (device.faults.attribute_forgets_events && op->attributed))
        return;
    if ((device.faults.long_copy_forgets_events && op->kind == OP_COPY && op->move.bytes > 65536) ||
        (device.faults.large_grid_forgets_events && op->kind == OP_KERNEL && op->grid->blocks > 64))
        return;
    if (forgets_events(s, op) || (device.faults.long_args_forget_events && has_long_args(op->grid)) ||
        (device.faults.copy_after_graph_forgets_events && op->kind == OP_COPY && s->tail != NULL && s->tail->kind == OP_JOIN))
        return;
    unsigned first = device.faults.second_wait_lost && s->waits > 1 ? 1 : 0;
    if (device.faults.dependent_keeps_last_event && op->attributed && s->waits > 1)
        first = s->waits - 1;
    if (device.faults.value_keeps_last_event && op->of_value && s->waits > 1)
        first = s->waits - 1;
    unsigned programs = 0; /* programmatic events */
    for (unsigned i = first; i < s->waits; i++) {
        struct op *awaited = s->wait[i].op;
        if (device.faults.attributed_passes_completion && op->attributed && s->wait[i].completion)
            continue;
        if (device.faults.copy_forgets_launch_events && op->kind == OP_COPY && awaited->kind == OP_KERNEL)
            continue;
        if (device.faults.item_passes_event_of_group && op->kind != OP_KERNEL && awaited->grid != NULL && awaited->grid->cooperative)
            continue;
        if (device.faults.free_forgets_node_events && op->kind == OP_POOL && s->wait[i].op->kind == OP_RECORD)
            continue;
        struct op *kernel = takes_for_trigger(s, op, &s->wait[i]);
        if (kernel != NULL) {
            op_after(op, kernel, EDGE_TRIGGERED);
            op_covers(op, awaited);
            continue;
        }
        op_after(op, s->wait[i].op, s->wait[i].kind);
        if (awaited->out != NULL && awaited->out->to == op)
            awaited->out->of_event = true;
        if (device.faults.start_event_beside_trigger_uncovered && s->wait[i].kind == EDGE_STARTED && awaits_trigger(s))
            continue;
        programs += s->wait[i].covered;
        if (device.faults.third_program_event_uncovered && programs > 2)
            continue;
        if (s->wait[i].covered && !awaited_uncovers(s, op) && (i + 1 == s->waits || !device.faults.last_event_covered))
            op_covers(op, s->wait[i].op);
    }
}
