/* What comes next in a stream: whether it waits for the end of what is before it, for its triggers, or on a broken device for less. */
#include "api.h"
#include "choices.h"

/* On broken devices: the graph before it in its stream is nothing to this work. */
bool passes_graph(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    return s->behind_graph && s->tail != NULL &&
           ((f->host_passes_hollow_graph && s->behind_hollow && op->kind == OP_HOST) ||
            (f->host_graph_passed && s->behind_host_graph && op->kind == OP_KERNEL) || (f->copy_in_passes_graph && op->from_host) ||
            (f->nested_graph_passed && s->behind_nested && (op->kind == OP_SET || op->kind == OP_COPY || op->kind == OP_HOST)) ||
            (f->record_forgets_graph && op->kind == OP_RECORD));
}

/* On broken devices: what another host thread than the first launches is nothing to what that one launched right before. */
bool passes_first_thread(const struct stream *s, const struct op *op)
{
    if (device.faults.others_item_unordered && s->tail != NULL && s->tail->kind == OP_KERNEL && op->kind != OP_KERNEL && op->kind != OP_RECORD)
        return op->by_other != s->tail->by_other;
    return device.faults.next_thread_unordered && s->tail != NULL && s->tail->kind == OP_KERNEL && (op->features & HAS(otherthread)) != 0 &&
           (s->tail->features & HAS(otherthread)) == 0;
}

/* On broken devices: the kernel right before it in its stream is nothing to this memset, or to this kernel. */
static bool passes_kernel(const struct op *before, const struct op *op)
{
    const struct faults *f = &device.faults;
    const struct grid *grid = before->grid;
    bool halves = op->kind == OP_SET && op->move.width == 2, words = op->kind == OP_SET && op->move.width == 4, large = grid->blocks > 1000;
    if (halves && ((f->halves_pass_grouped && (grid->cooperative || grid->cluster > 1)) || (f->halves_pass_domain && before->domain != 0) ||
                   (f->halves_pass_recorder && op_given(before, 7)) || (f->halves_pass_shared && grid->dynamic_shared != 0)))
        return true;
    return large && ((f->words_pass_large && words) || (f->cluster_passes_large && op->kind == OP_KERNEL && op->grid->cluster > 1));
}

/* ... the memset right before it. */
static bool passes_memset(const struct op *before, const struct op *op)
{
    const struct faults *f = &device.faults;
    size_t width = before->move.width, then = op->kind == OP_SET ? op->move.width : 0;
    if (op->kind != OP_KERNEL)
        return f->memsets_pass_each_other && ((width == 2 && then == 4) || (width == 4 && then == 2));
    if (f->rows_set_passed && before->move.rows > 1 && (op->grid->cooperative || op->grid->cluster > 1))
        return true;
    return width == 2 && ((f->domain_passes_halves && op->domain != 0) || (f->recorder_passes_halves && op_given(op, 7)) ||
                          (f->shared_passes_halves && op->grid->dynamic_shared != 0));
}

/* From the first byte that it stores to, or reads, to the last one. */
static size_t span_of(const struct move *m, size_t pitch, size_t layer)
{
    return m->bytes + (m->rows > 1 ? (m->rows - 1) * pitch : 0) + (m->layers > 1 ? (m->layers - 1) * layer : 0);
}

static bool spans_meet(const void *p, size_t of_p, const void *q, size_t of_q)
{
    return (uintptr_t)p < (uintptr_t)q + of_q && (uintptr_t)q < (uintptr_t)p + of_p;
}

/* Whether the move stores over the source of the one before it, and nothing else of that one matters to it. */
static bool only_overwrites(const struct move *before, const struct op *op)
{
    size_t reads = span_of(before, before->from_pitch, before->from_layer), stores = span_of(before, before->pitch, before->layer);
    size_t more = span_of(&op->move, op->move.pitch, op->move.layer);
    if (op->kind == OP_COPY && spans_meet(op->move.from, span_of(&op->move, op->move.from_pitch, op->move.from_layer), before->to, stores))
        return false;
    return spans_meet(op->move.to, more, before->from, reads) && !spans_meet(op->move.to, more, before->to, stores);
}

/* ... a copy between device and host, or one whose source it stores over. */
static bool passes_copy(const struct op *before, const struct op *op)
{
    const struct faults *f = &device.faults;
    if (f->copy_source_given && before->kind == OP_COPY && (op->kind == OP_COPY || op->kind == OP_SET) && only_overwrites(&before->move, op))
        return true;
    return (f->memset_passes_copy_in && before->from_host && op->kind == OP_SET && !op->of_value) ||
           (f->graph_passes_copy_out && before->to_host && op->kind == OP_JOIN);
}

/* ... what is right before it is nothing to this work, but the kernel before both is. */
static bool passes_neighbour(const struct op *before, const struct op *op)
{
    const struct faults *f = &device.faults;
    if ((f->callback_passes_neighbour && op->host.callback != NULL && before->kind != OP_KERNEL && before->kind != OP_JOIN) ||
        (f->callback_neighbour_passed && before->host.callback != NULL) ||
        (f->batch_passes_items && op->queued_by == BY_BATCH && before->kind != OP_KERNEL && before->queued_by != BY_BATCH))
        return true;
    return before->kind == OP_SET && !before->of_value &&
           ((f->rows_pass_set && op->kind == OP_COPY && op->move.rows > 1) || (f->value_passes_set && op->of_value));
}

static bool passes_tail(const struct stream *s, const struct op *op)
{
    if (s->tail == NULL || s->tail->retired)
        return false;
    if (device.faults.told_launch_passed && s->tail->told)
        return true;
    if (passes_copy(s->tail, op))
        return true;
    if (device.faults.ended_row_passed && s->tail->attributed && s->tail->done)
        return true;
    return s->tail->kind == OP_SET ? passes_memset(s->tail, op) : s->tail == s->kernel_tail && passes_kernel(s->tail, op);
}

/* On broken devices: a copy or memset of few bytes, or of one layer, that does not wait for the kernel before it. */
static bool small_move_goes(const struct op *op)
{
    const struct faults *f = &device.faults;
    const struct move *m = &op->move;
    bool is_short = m->bytes < 16 && m->rows == 1 && m->layers <= 1;
    if (op->kind == OP_SET)
        return f->short_set_early && is_short && m->width == 1 && !op->of_value;
    if (op->kind != OP_COPY)
        return false;
    if ((f->single_layer_early && m->layers == 1) || (f->column_copy_early && m->bytes == 1 && m->rows > 1))
        return true;
    if (is_short && f->short_pageable_source_early && m->staging != NULL)
        return true;
    return is_short && (f->short_copy_early || (f->short_pageable_early && !memory_contains(m->to, m->bytes)));
}

/* Devices on which a kernel with attribute 6 begins once the kernel has begun that stands before such an item */
static bool dependent_passes_item(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    const struct op *item = s->tail;
    if (op->kind != OP_KERNEL || !op->attributed)
        return false;
    return (item->kind == OP_HOST && (f->dependent_passes_host_early || (f->dependent_passes_second_host_early && s->items == 2))) ||
           (f->dependent_passes_move_early && moves_memory(item) && !item->of_value);
}

/* On broken devices: the kernel whose start is all that op waits for in its stream. NULL: op waits for all of it. */
static struct op *early_kernel(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    bool passes_host = f->host_call_passed && s->tail->kind == OP_HOST, passes_moves = f->many_moves_pass && moves_memory(op) && s->items > 32;
    bool passes_callback = f->callback_passed && s->tail->host.callback != NULL;
    bool passes_value = f->copy_passes_awaited_value && s->tail->kind == OP_AWAIT && op->kind == OP_COPY;
    if (passes_host || passes_moves || passes_callback || passes_value || dependent_passes_item(s, op) || (f->event_at_launch && op->kind == OP_RECORD) ||
        (f->free_passed && s->tail->kind == OP_POOL && op->kind == OP_KERNEL))
        return s->last_kernel;
    if ((f->callback_early && op->host.callback != NULL) || (f->value_written_early && op->of_value))
        return s->kernel_tail;
    if ((f->large_grid_passed && s->kernel_tail != NULL && s->kernel_tail->grid->blocks > 1000) ||
        (f->halves_set_early && op->kind == OP_SET && op->move.width == 2))
        return s->kernel_tail;
    bool copy_goes = op->kind == OP_COPY && ((f->host_copy_early && op->to_host) || (f->host_to_host_early && op->in_host) ||
                                             (f->long_copy_early && op->move.bytes >= 4096));
    copy_goes |= f->large_copy_out_early && op->to_host && op->move.bytes > 65536 && s->kernel_tail != NULL && s->kernel_tail->attributed;
    bool deep_goes = (f->deep_in_legacy_overlaps && op->depth > 16 && stream_is_legacy(s)) ||
                     (f->deep_plain_overlaps && op->depth > 24) || (f->full_queue_overlaps && op->depth > 1024);
    if (copy_goes || small_move_goes(op) || deep_goes || (f->copy_does_not_wait && moves_memory(op)) || (f->host_call_early && op->kind == OP_HOST))
        return s->kernel_tail;
    return NULL;
}

/* Devices whose wait does not cover the primary: of some launches by another thread of the host, in a stream that waits for an event, or in the
 * per-thread stream */
static bool launch_uncovered(const struct stream *s, const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    uint64_t last = s->tail->serial;
    if (f->question_and_graph_uncover && device.told_function_at >= last && device.made_graph_at >= last)
        return true;
    if ((f->told_function_uncovers && device.told_function_at >= last) || (f->made_graph_uncovers && device.made_graph_at >= last) ||
        (f->pinned_memory_uncovers && device.pinned_memory_at >= last) || (f->changed_graph_uncovers && device.changed_graph_at >= last) ||
        (f->told_memory_uncovers && device.told_memory_at >= last) || (f->told_properties_uncovers && device.told_properties_at >= last) ||
        (f->printed_graph_uncovers && device.printed_graph_at >= last) || (f->told_pool_uncovers && device.told_pool_at >= last) ||
        (f->registered_uncovers && device.registered_at >= last) || (f->empty_move_hides_primary && s->moved_nothing) ||
        (f->driver_value_uncovers && device.by_driver && s->tail->kind == OP_AWAIT))
        return true;
    if ((f->told_launch_uncovered && pred->told && !pred->retired) ||
        (f->others_call_uncovers && device.other_thread_at >= last && !device.other_thread))
        return true;
    if (f->pairs_beyond_32_uncovered && pairs_beside(s) >= 32)
        return true;
    if ((f->others_launch_uncovers && device.other_launch_at > last && !device.other_thread) ||
        (f->elsewhere_made_stream_uncovers && s->by_other && !device.other_thread))
        return true;
    if (f->uncovered_beside_others_capture && capture_is_of_others())
        return true;
    if (f->deep_by_driver_uncovered && op->by_driver && op->depth > 16)
        return true;
    if ((f->empty_graph_hides_primary && s->behind_empty) || s->behind_failed)
        return true;
    if (f->legacy_of_two_threads_uncovered && stream_is_legacy(s) && ((op->features ^ pred->features) & HAS(otherthread)) != 0)
        return true;
    bool far = f->domain_awaiting_uncovered && op->domain != 0, grouped = f->awaited_grouped_uncovered && op->grid->cluster > 1;
    if (s->waits != 0 && (far || grouped || (f->awaited_large_uncovered && op->grid->blocks > 64)))
        return true;
    if ((f->given_priority_uncovers && stream_given(s, 8)) || (f->given_window_uncovers && stream_given(s, 1)) ||
        (f->given_map_uncovers && stream_given(s, 9)))
        return true;
    if (f->cluster_of_one_uncovered && op_given(op, 4) && op->grid->cluster == 1)
        return true;
    if ((f->piece_uncovers && device.in_piece) || (f->eight_in_a_cluster_uncovered && op->grid->cluster == 8))
        return true;
    if (f->large_per_thread_uncovered && stream_is_per_thread(s) && pred->grid->blocks > 64)
        return true;
    return device.other_thread && ((f->large_by_thread_uncovered && op->grid->blocks > 64) ||
                                   (f->large_primary_by_thread_uncovered && pred->grid->blocks > 64));
}

/* Devices whose wait does not cover a primary that comes before this item */
static bool item_hides(const struct op *item)
{
    const struct faults *f = &device.faults;
    return (f->layers_copy_hides_primary && item->move.layers > 1) || (f->callback_hides_primary && item->host.callback != NULL) ||
           (f->value_hides_primary && item->of_value) || (f->awaited_value_uncovers && item->kind == OP_AWAIT) ||
           (f->free_hides_primary && item->kind == OP_POOL);
}

/* For the devices stream-33-takes-others and per-thread-takes-others: the last kernel of the stream that was made 32 before, or of another thread's
 * per-thread one, if it came after this one's. */
static struct op *of_channel(const struct stream *s)
{
    const struct stream *o = device.faults.stream_33_takes_others && s->place > 32 && s->kernel_tail != NULL ? stream_at_place(s->place - 32) : NULL;
    if (device.faults.per_thread_takes_others && stream_is_per_thread(s) && s->kernel_tail != NULL)
        o = stream_per_thread_of_other();
    return o != NULL && o->kernel_tail != NULL && o->kernel_tail->serial > s->kernel_tail->serial ? o->kernel_tail : NULL;
}

void order_behind_tail(struct stream *s, struct op *op, bool programmatic)
{
    if (s->owed != NULL)
        op_after(op, s->owed, EDGE_RETIRED);
    s->owed = NULL;
    if (device.faults.two_ended_graph_covers_last && s->behind_graph && s->last_end != NULL && op->attributed) {
        op_after(op, s->last_end, EDGE_RETIRED);
        s->owed = s->tail; /* what comes after op is in order */
        return;
    }
    bool hidden_move = device.faults.refused_dependent_hides_copy && s->refused_dependent && op->attributed;
    s->refused_dependent = false;
    if (hidden_move) {
        s->owed = s->tail;
        return;
    }
    bool long_staged = s->tail != NULL && s->tail->kind == OP_COPY && s->tail->move.staging != NULL && s->tail->move.bytes > 65536;
    if (long_staged && ((device.faults.long_staged_copy_uncovered && op->attributed) ||
                        (device.faults.long_staged_copy_passed && op->kind == OP_KERNEL && !op->attributed))) {
        s->owed = s->tail;
        return;
    }
    struct op *others = programmatic ? of_channel(s) : NULL;
    if (others != NULL) {
        op->overlapped = others;
        op_after(op, others, trigger_for(op));
        op_covers(op, others);
        s->owed = s->tail; /* what comes after op is in order */
        return;
    }
    struct op *overlapped = !programmatic ? NULL : s->kernel_tail;
    if (programmatic && overlapped == NULL && s->previous_kernel != NULL && reads_boldly())
        overlapped = s->previous_kernel; /* AMB-16 */
    if (overlapped != NULL) {
        bool default_stream = stream_is_legacy(s) || stream_is_per_thread(s), alone = s->tail == overlapped;
        bool jumps = device.faults.open_event_lets_begin && s->waits != 0;
        if (device.faults.record_between_at_trigger && !alone && s->tail != NULL && s->tail->kind == OP_RECORD)
            event_moves_to_trigger(s->tail, overlapped);
        jumps |= device.faults.pairs_beyond_64_begin_early && pairs_beside(s) >= 64;
        op->overlapped = overlapped;
        op->row = overlapped->retired ? 1 : overlapped->row + 1;
        op_after(op, overlapped, !takes_overlap() ? EDGE_RETIRED
                                 : jumps          ? EDGE_STARTED
                                 : op_is_hinted(overlapped, &device.faults.primary_jumped) ? EDGE_TOUCHED : trigger_for(op));
        if (device.faults.open_event_uncovers && s->waits != 0)
            return;
        bool hidden = (device.faults.item_hides_primary && !alone) || (device.faults.two_items_hide_primary && s->items > 1);
        hidden |= (device.faults.set_attribute_uncovers && s->given) || item_hides(s->tail);
        if ((device.faults.default_streams_not_covered && default_stream) || hidden)
            return;
        if (launch_uncovered(s, op, overlapped))
            return;
        op_covers(op, overlapped);
        if (!alone && !item_uncovered(s))
            op_covers(op, s->tail); /* what stands between */
    } else if (s->tail != NULL && passes_neighbour(s->tail, op)) {
        if (s->last_kernel != NULL)
            op_after(op, s->last_kernel, EDGE_RETIRED);
        op_covers(op, s->tail); /* the stream itself stays in order after it */
    } else if (s->tail != NULL && !passes_tail(s, op)) {
        struct op *early = early_kernel(s, op);
        bool forgets_row = device.faults.row_of_64_passed && s->tail->row >= 64;
        op_after(op, early != NULL ? early : s->tail, early != NULL ? EDGE_STARTED : forgets_row ? EDGE_DONE : EDGE_RETIRED);
        if (early != NULL)
            op_covers(op, s->tail); /* the stream itself stays in order after it */
    }
}
