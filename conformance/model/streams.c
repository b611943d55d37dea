/* Streams: which operation waits for which. All of it is decided when the call is made; the machine then only follows edges. */
#include "api.h"
#include "choices.h"

#include <stdlib.h>
#include <string.h>

static struct stream legacy, per_thread[2]; /* of the first host thread, and of any other one */
static bool legacy_of_other; /* its last work was queued by another host thread than the first */
static struct stream *streams; /* all that were created, also destroyed ones that work is left of */
static struct stream *gone;    /* destroyed ones without work; kept, so that no new stream has the handle of one */
static unsigned long long ids, left_id; /* so many streams were created; for the device stream-id-again: of the one that was destroyed last */
static struct stream *left;    /* the last one that was destroyed before its work ended, until a new one is made */

static void stream_begin(struct stream *s, unsigned flags, int priority)
{
    *s = (struct stream){.magic = STREAM_MAGIC, .flags = flags, .priority = priority};
}

static void free_all(struct stream **list)
{
    while (*list != NULL) {
        struct stream *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

void streams_reset(void)
{
    stream_begin(&legacy, 0, 0);
    stream_begin(&per_thread[0], 0, 0);
    stream_begin(&per_thread[1], 0, 0);
    legacy_of_other = false;
    free_all(&streams);
    free_all(&gone);
    left = NULL;
    left_id = 0;
    events_reset();
}

struct stream *stream_of(cudaStream_t handle)
{
    if (handle == NULL && device.faults.stream_0_is_per_thread)
        return &per_thread[device.other_thread];
    if (handle == NULL || handle == cudaStreamLegacy)
        return &legacy;
    if (handle == cudaStreamPerThread)
        return &per_thread[device.other_thread];
    struct stream *s = (struct stream *)(void *)handle;
    for (const struct stream *known = streams; known != NULL; known = known->next)
        if (known == s)
            return s->magic == STREAM_MAGIC ? s : NULL;
    return NULL;
}

bool stream_is_legacy(const struct stream *s)
{
    return s == &legacy;
}

struct stream *stream_legacy(void)
{
    return &legacy;
}

bool stream_is_per_thread(const struct stream *s)
{
    return s == &per_thread[0] || s == &per_thread[1];
}

bool stream_is_between(const struct stream *s)
{
    return s->priority < 0 && s->priority > -5;
}

struct stream *stream_per_thread_of_other(void)
{
    return &per_thread[!device.other_thread];
}

bool stream_given(const struct stream *s, int id)
{
    static const cudaLaunchAttributeValue none;
    return memcmp(&s->attribute[id], &none, sizeof none) != 0;
}

struct stream *stream_new(unsigned flags, int priority)
{
    struct stream *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    stream_begin(s, flags, priority);
    for (const struct stream *o = streams; device.faults.fresh_stream_has_old_values && o != NULL; o = o->next)
        if (o->magic == 0) {
            memcpy(s->attribute, o->attribute, sizeof s->attribute);
            break;
        }
    s->made_at = device.serial;
    s->by_other = device.other_thread;
    s->renews = left;
    s->id = device.faults.stream_id_again && left_id != 0 ? left_id : ++ids;
    if (left != NULL)
        left->renewed = true;
    left = NULL;
    left_id = 0;
    s->first = streams == NULL && gone == NULL;
    s->next = streams;
    streams = s;
    return s;
}

void stream_leaves(struct stream *s)
{
    s->magic = 0; /* the legacy stream still waits for it */
    left_id = s->id;
    left = s->tail != NULL && !s->tail->retired ? s : left;
}

static bool is_blocking(const struct stream *s)
{
    return (s->flags & cudaStreamNonBlocking) == 0;
}

bool legacy_is_forbidden(const struct stream *s)
{
    if (s != &legacy || device.faults.legacy_beside_capture)
        return false;
    if (per_thread[0].capture != NULL || per_thread[1].capture != NULL)
        return true;
    for (const struct stream *o = streams; o != NULL; o = o->next)
        if (o->capture != NULL && is_blocking(o))
            return true;
    return false;
}

bool legacy_use_spoils(const struct stream *s)
{
    if (!legacy_is_forbidden(s))
        return false;
    capture_invalidate_all();
    return true;
}

/* ---- order ---- */

/* Devices on which what such a call queues skips the order of the legacy stream */
static bool call_skips_legacy(enum queued_by by)
{
    const struct faults *f = &device.faults;
    return (f->batch_skips_legacy && by == BY_BATCH) || (f->driver_plain_call_skips_legacy && by == BY_DRIVERS_PLAIN_CALL) ||
           (f->plain_call_skips_legacy && by == BY_PLAIN_CALL) || (f->cooperative_call_skips_legacy && by == BY_COOPERATIVE_CALL) ||
           (f->symbol_copy_skips_legacy && by == BY_NAME_OF_MEMORY) || (f->peer_copy_skips_legacy && by == BY_PEERS);
}

/* Devices on which this work of a stream skips the order of the legacy stream */
static bool skips_legacy_order(const struct stream *s, const struct op *op)
{
    const struct faults *f = &device.faults;
    if ((s != &legacy && f->seventeenth_stream_skips_legacy && s->place > 16) || call_skips_legacy(op->queued_by))
        return true;
    if (s == &legacy)
        return (f->other_thread_legacy_alone && device.other_thread) ||
               (f->long_legacy_alone && has_long_args(op->grid));
    if (f->other_per_thread_skips_legacy && s == &per_thread[1] && !legacy_of_other)
        return true;
    return (f->first_behind_event_skips_legacy && s->tail == NULL && s->waits != 0) || (f->other_thread_skips_legacy && device.other_thread);
}

/* Devices on which the legacy stream's order leaves out work of a kind, as the last of its stream */
static bool left_out_of_legacy_order(const struct op *tail)
{
    const struct faults *f = &device.faults;
    return (f->default_streams_pass_values && (tail->of_value || tail->kind == OP_AWAIT)) ||
           (f->default_streams_pass_callbacks && tail->host.callback != NULL) || (f->default_streams_pass_frees && tail->kind == OP_POOL) ||
           (f->default_streams_pass_layers && tail->move.layers > 1);
}

/* Devices on which work of a kind in the legacy stream does not wait for work before which its own stream held none */
static bool passes_lone(const struct op *op, const struct op *tail)
{
    const struct faults *f = &device.faults;
    bool moves = moves_memory(tail);
    if (!tail->lone)
        return false;
    if ((f->legacy_passes_lone_graphs && tail->kind == OP_JOIN) || (f->legacy_passes_lone_frees && tail->kind == OP_POOL))
        return true;
    if (f->legacy_source_passes_lone_work && op->kind == OP_COPY && memory_is_pinned(op->move.from) && tail->kind != OP_KERNEL)
        return true;
    switch (op->kind) {
    case OP_KERNEL: return f->legacy_kernel_passes_hosts && tail->kind == OP_HOST;
    case OP_COPY:
    case OP_SET: return f->legacy_move_passes_lone_moves && moves;
    case OP_RECORD: return f->legacy_record_passes_lone_work && (moves || tail->kind == OP_HOST);
    case OP_JOIN: return f->legacy_graph_passes_lone_work && (moves || tail->kind == OP_HOST);
    case OP_HOST: return f->legacy_host_passes_lone_work && (moves || tail->kind == OP_HOST);
    default: return false;
    }
}

/* Work of the legacy stream comes after what the threads have in their own default streams. */
static void order_behind_threads(struct op *op)
{
    const struct faults *f = &device.faults;
    if (f->legacy_host_passes_per_thread && op->kind == OP_HOST)
        return;
    for (unsigned i = 0; i < 2; i++) {
        struct op *tail = per_thread[i].tail;
        bool passes = (f->legacy_joins_own_thread_only && i != device.other_thread) ||
                      (f->legacy_passes_per_thread_items && tail != NULL && tail->kind != OP_KERNEL);
        if (tail != NULL && !passes)
            op_after(op, tail, EDGE_RETIRED);
    }
}

static void order_behind_others(struct stream *s, struct op *op)
{
    if (skips_legacy_order(s, op))
        return;
    if (device.faults.legacy_runs_alone || (device.faults.plain_copy_alone && op->plain_copy) || (device.faults.attribute_skips_legacy && op->attributed))
        return;
    if (s != &legacy) {
        bool skips = (device.faults.blocking_set_skips_legacy && op->kind == OP_SET) || (device.faults.copy_out_skips_legacy && op->to_host);
        skips |= (device.faults.new_stream_passes_legacy && legacy.tail != NULL && legacy.tail->serial <= s->made_at) ||
                 (device.faults.legacy_passed_after_graph && s->tail != NULL && s->tail->kind == OP_JOIN);
        skips |= device.faults.legacy_items_passed && legacy.tail != NULL && legacy.tail->kind != OP_KERNEL;
        skips |= (legacy.tail != NULL && left_out_of_legacy_order(legacy.tail)) ||
                 (device.faults.long_args_pass_legacy && has_long_args(op->grid));
        skips |= (device.faults.attributed_passes_legacy && op->attributed && legacy.tail != NULL && legacy.tail->attributed) ||
                 (device.faults.awaiting_passes_legacy && op->attributed && s->waits != 0);
        if (is_blocking(s) && legacy.tail != NULL && !skips && !(device.faults.legacy_frees_one && !stream_is_per_thread(s) && !s->first))
            op_after(op, legacy.tail, device.faults.row_of_legacy_passed ? EDGE_DONE : EDGE_RETIRED);
        return;
    }
    if ((device.faults.timed_legacy_record_alone && op->timed) || (device.faults.legacy_record_alone && op->kind == OP_RECORD) || (device.faults.legacy_graph_alone && op->kind == OP_JOIN))
        return;
    unsigned joined = 0, held = 0, hundred = 0;
    if ((device.faults.legacy_host_alone && op->kind == OP_HOST) || (device.faults.legacy_copy_out_alone && op->to_host))
        return;
    order_behind_threads(op);
    for (struct stream *o = streams; o != NULL; o = o->next) {
        if (!is_blocking(o) || o->tail == NULL || left_out_of_legacy_order(o->tail))
            continue;
        if (o->magic == 0 && (device.faults.destroyed_stream_not_joined || (device.faults.renewed_stream_leaves_legacy && o->renewed)))
            continue;
        if (device.faults.waiting_stream_not_joined && o->waits != 0)
            continue;
        if (o->tail->grid != NULL && ((device.faults.legacy_passes_long_args && has_long_args(o->tail->grid)) ||
                                      (device.faults.legacy_passes_triggered && o->tail->triggered_all)))
            continue;
        if ((device.faults.legacy_passes_urgent && o->priority < 0) || (device.faults.legacy_passes_middle && stream_is_between(o)) ||
            (device.faults.legacy_passes_awaiting && o->tail_awaited))
            continue;
        if ((device.faults.legacy_passes_given && stream_given(o, 8)) ||
            (device.faults.legacy_host_passes_records && op->kind == OP_HOST && o->tail->kind == OP_RECORD))
            continue;
        if ((device.faults.legacy_host_passes_graphs && op->kind == OP_HOST && o->tail->kind == OP_JOIN) ||
            (device.faults.plain_copy_passes_attributed && op->plain_copy && o->tail->kind == OP_KERNEL && o->tail->attributed))
            continue;
        if (device.faults.elsewhere_made_stream_not_joined && o->by_other && !device.other_thread)
            continue;
        if (device.faults.legacy_kernel_passes_copies && o->tail->kind == OP_COPY && op->kind == OP_KERNEL)
            continue;
        if (passes_lone(op, o->tail))
            continue;
        if (device.faults.legacy_joins_hundred && o->magic != 0 && hundred++ >= 100)
            continue;
        if (device.faults.legacy_joins_sixteen && o->magic != 0 && held++ >= 16)
            continue;
        if (device.faults.ninth_blocking_not_joined && o->magic != 0 && joined++ >= 8)
            continue;
        op_after(op, o->tail, EDGE_RETIRED);
        if (device.faults.legacy_joins_one)
            return;
    }
}

bool moves_memory(const struct op *op)
{
    return op->kind == OP_COPY || op->kind == OP_SET;
}

bool takes_overlap(void)
{
    if (device.faults.never_overlaps)
        return false;
    if (device.faults.seldom_overlaps)
        return once_in(8);
    return device.faults.early || !once_in(256);
}

bool reads_boldly(void)
{
    return !device.faults.never_overlaps && (device.faults.early || choose(2) != 0);
}

enum edge_kind trigger_for(const struct op *op)
{
    const struct faults *f = &device.faults;
    return ((f->urgent_jumps && op->urgent) || (f->urgent_stream_jumps && op->features & HAS(highstream))) || op_is_hinted(op, &f->jumps) ? EDGE_TOUCHED : EDGE_TRIGGERED;
}

static uint64_t stream_features(const struct stream *s)
{
    uint64_t has = s == &legacy ? HAS(legacy) : stream_is_per_thread(s) ? HAS(perthread) : is_blocking(s) ? HAS(blocking) : 0;
    has |= s->priority < 0 ? HAS(highstream) : 0;
    has |= s->tail != NULL && s->tail != s->kernel_tail ? HAS(afteritem) : 0;
    return has | HAS(eager);
}

static uint64_t item_features(const struct op *op)
{
    return op->kind == OP_SET ? HAS(memset) : op->kind == OP_COPY ? HAS(copy) : op->kind == OP_HOST ? HAS(host) : 0;
}

/* On broken devices: this copy or memset is the same as the last one of its stream, which has not ended, and is left out. */
static bool moves_again(struct stream *s, struct op *op)
{
    const struct op *before = s->last_moved;
    s->last_moved = op;
    if (before == NULL || before->retired || before->kind != op->kind)
        return false;
    const struct move *last = &before->move, *now = &op->move;
    bool same = last->to == now->to && last->from == now->from && last->bytes == now->bytes && last->width == now->width && last->rows == now->rows &&
                last->value == now->value;
    return same && now->staging == NULL && (op->kind == OP_SET ? device.faults.again_not_set : device.faults.again_not_copied);
}

void stream_append(struct stream *s, struct op *op, bool programmatic)
{
    memcpy(&op->given_domain, &s->attribute[10], sizeof op->given_domain);
    op->features |= stream_features(s) | item_features(op);
    if (moves_memory(op) && moves_again(s, op))
        op->kind = OP_JOIN;
    if (op->kind == OP_KERNEL) {
        op->depth = s->kernel_tail != NULL ? s->kernel_tail->depth + 1 : 0;
        op->features |= op->depth >= 4 ? HAS(deep) : 0;
    }
    bool passes_copy = device.faults.kernel_passes_long_copy && op->kind == OP_KERNEL && s->tail != NULL && s->tail->kind == OP_COPY &&
                       s->tail->move.bytes > 65536;
    bool forgets = passes_graph(s, op) || passes_copy || passes_first_thread(s, op);
    if (op->kind != OP_KERNEL) /* whose place is taken where it is made, also by a graph */
        op_shares_place(op);
    op->lone = op->kind != OP_KERNEL && (s->tail == NULL || s->tail->retired);
    s->idle = false;
    s->polls = 0;
    s->items = op->kind == OP_KERNEL ? s->items : s->items + 1;
    forgets |= s->left_unordered == 1 && s->tail != NULL;
    s->left_unordered -= s->left_unordered != 0;
    if (!forgets)
        order_behind_tail(s, op, programmatic && op->kind == OP_KERNEL);
    else
        op_covers(op, s->tail); /* the stream itself stays in order */
    s->behind_graph = s->behind_empty = false;
    if (op->kind != OP_RECORD || !device.faults.record_cuts_wait)
        order_behind_waits(s, op);
    order_behind_others(s, op);
    bool sets_again = op->kind == OP_SET && s->tail != NULL && s->tail->kind == OP_SET && s->tail->move.width == op->move.width;
    if (device.faults.memset_repeats_value && sets_again)
        op->move.value = s->tail->move.value;
    s->tail_awaited = s->waits != 0;
    if (op->kind == OP_KERNEL)
        s->items = 0;
    if (op->kind == OP_KERNEL)
        s->kernel_tail = s->previous_kernel = s->last_kernel = op;
    else if (op->kind != OP_RECORD)
        s->kernel_tail = NULL;
    if (op->kind != OP_RECORD || device.faults.record_cuts_wait)
        s->waits = 0;
    s->deaf = s->given = s->moved_nothing = s->behind_failed = false;
    s->told_to_wait = 0;
    s->tail = op;
    legacy_of_other = s == &legacy ? device.other_thread : legacy_of_other;
    if (op->kind == OP_KERNEL && device.other_thread)
        device.other_launch_at = op->serial;
}

static void forget_retired(struct stream *s)
{
    unsigned kept = 0;
    if (s->tail != NULL && s->tail->retired)
        s->tail = NULL;
    if (s->kernel_tail != NULL && s->kernel_tail->retired)
        s->kernel_tail = NULL;
    if (s->last_moved != NULL && s->last_moved->retired)
        s->last_moved = NULL;
    if (s->last_end != NULL && s->last_end->retired)
        s->last_end = NULL;
    if (s->owed != NULL && s->owed->retired)
        s->owed = NULL;
    if (s->previous_kernel != NULL && s->previous_kernel->retired)
        s->previous_kernel = NULL;
    if (s->last_kernel != NULL && s->last_kernel->retired)
        s->last_kernel = NULL;
    for (unsigned i = 0; i < s->waits; i++)
        if (!s->wait[i].op->retired && !device.faults.host_wait_forgets_events)
            s->wait[kept++] = s->wait[i];
    s->waits = kept;
}

/* Whether nothing asks for it any more: calls take long where thousands of such streams stand in the list. */
static bool is_gone(const struct stream *s)
{
    return s->magic != STREAM_MAGIC && s->tail == NULL && s->waits == 0 && s->capture == NULL && !device.faults.fresh_stream_has_old_values;
}

/* Handles that point at retired operations point at nothing: a dependency on them is met. */
void streams_forget_retired(void)
{
    forget_retired(&legacy);
    forget_retired(&per_thread[0]);
    forget_retired(&per_thread[1]);
    for (struct stream **at = &streams; *at != NULL;) {
        struct stream *s = *at;
        forget_retired(s);
        if (!is_gone(s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        s->next = gone;
        gone = s;
    }
    events_forget_retired();
}

static bool is_ninth(const struct stream *s, const struct op *op)
{
    unsigned others = 0;
    for (unsigned i = 0; i < s->waits; i++) {
        if (s->wait[i].op == op)
            return false;
        unsigned k = 0;
        while (k < i && s->wait[k].op != s->wait[i].op)
            k++;
        others += k == i;
    }
    return others >= 8;
}

/* Before the next operation. */
void stream_awaits(struct stream *s, struct pending_wait wait)
{
    if (s->waits == MAX_WAITS && device.faults.many_waits_lose_one) {
        s->waits = 0;
        s->deaf = true;
    }
    if (++s->told_to_wait > 256 && device.faults.wait_257_lost)
        return;
    if (s->deaf || (device.faults.ninth_wait_lost && is_ninth(s, wait.op)))
        return;
    for (unsigned i = 0; device.faults.later_wait_replaces && i < s->waits; i++)
        if (s->wait[i].event == wait.event) {
            s->wait[i] = wait;
            return;
        }
    if (s->waits == MAX_WAITS) { /* fold them into one operation */
        struct op *join = op_new(OP_JOIN);
        order_behind_waits(s, join);
        op_submit(join);
        struct pending_wait folded = {join, EDGE_RETIRED, true, false, NULL};
        s->wait[0] = folded;
        s->waits = 1;
    }
    s->wait[s->waits++] = wait;
}

void stream_drops(struct stream *s, const struct op *op)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < s->waits; i++)
        if (s->wait[i].op != op)
            s->wait[kept++] = s->wait[i];
    s->waits = kept;
}

void streams_drop(const struct op *op)
{
    for (struct stream *s = streams; s != NULL; s = s->next)
        stream_drops(s, op);
}

void streams_follow(const struct op *op, struct op *other)
{
    for (struct stream *s = streams; s != NULL; s = s->next)
        for (unsigned i = 0; i < s->waits; i++)
            if (s->wait[i].op == op)
                s->wait[i].op = other;
}

void stream_cuts(struct stream *s)
{
    s->tail = s->kernel_tail = s->previous_kernel = s->last_kernel = NULL;
}

unsigned pairs_beside(const struct stream *s)
{
    unsigned pairs = 0;
    for (const struct stream *o = streams; o != NULL; o = o->next)
        pairs += o != s && o->tail != NULL && o->tail->overlapped != NULL && !o->tail->retired;
    return pairs;
}

struct stream *stream_at_place(unsigned place)
{
    struct stream *s = streams;
    while (s != NULL && (s->place != place || s->magic != STREAM_MAGIC))
        s = s->next;
    return s;
}

unsigned streams_alive(void)
{
    unsigned alive = 0;
    for (const struct stream *s = streams; s != NULL; s = s->next)
        alive += s->magic == STREAM_MAGIC;
    return alive;
}

cudaError_t streams_run_but_per_thread(bool of_others)
{
    cudaError_t error = run_until_retired(legacy.tail);
    if (of_others && error == cudaSuccess)
        error = run_until_retired(per_thread[device.other_thread].tail);
    for (const struct stream *s = streams; s != NULL && error == cudaSuccess; s = s->next)
        error = run_until_retired(s->tail);
    return error;
}

/* Makes the tail stand for all that the stream has to wait for: events awaited since the last work, and in the legacy
 * stream the other streams. Overlap with the kernel before it stays possible, as after an untimed record (F26). */
void stream_closes(struct stream *s)
{
    if (s->waits == 0 && s != &legacy)
        return;
    struct op *join = op_new(OP_RECORD);
    stream_append(s, join, false);
    op_submit(join);
}
