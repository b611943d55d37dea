/* Life of an operation: new, blocked by edges, ready, started, [exited], done (flushed), retired.
 * Edges fire at a state of their predecessor; an edge to a state already reached is never made. */
#include "api.h"
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- storage: chunks that count what is still needed in them ---- */

enum { CHUNK_BYTES = 64 * 1024, CHUNK_HEAD = 64 };
struct chunk { /* aligned to its size, so that whatever lies in it finds it */
    struct chunk *next;
    size_t used, needed;
};
static struct chunk *chunks, *spare_chunks;
static unsigned chunk_count;

static struct chunk *chunk_new(void)
{
    struct chunk *c = spare_chunks;
    if (c != NULL)
        spare_chunks = c->next;
    else
        c = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
    if (c == NULL) {
        fputs("pdl model: no memory for operations\n", stderr);
        abort();
    }
    c->next = chunks;
    c->used = CHUNK_HEAD;
    c->needed = 0;
    chunks = c;
    chunk_count++;
    return c;
}

static void *carve(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    struct chunk *c = chunks;
    if (c == NULL || c->used + bytes > CHUNK_BYTES)
        c = chunk_new();
    void *p = (unsigned char *)c + c->used;
    c->used += bytes;
    c->needed++;
    memset(p, 0, bytes);
    return p;
}

static void not_needed(void *p)
{
    ((struct chunk *)((uintptr_t)p & ~(uintptr_t)(CHUNK_BYTES - 1)))->needed--;
}

static void chunk_spare(struct chunk **at)
{
    struct chunk *c = *at;
    *at = c->next;
    c->next = spare_chunks;
    spare_chunks = c;
    chunk_count--;
}

void ops_reset(void)
{
    while (chunks != NULL)
        chunk_spare(&chunks);
    loops_reset();
    values_reset();
    moves_reset();
    device.live_ops = 0;
    device.serial = device.told_function_at = device.told_memory_at = device.made_graph_at = device.host_waited = 0;
    device.pinned_memory_at = device.changed_graph_at = device.told_properties_at = device.printed_graph_at = device.told_pool_at = device.registered_at = 0;
}

/* Gives back the chunks that nothing needs any more; not while a caller still holds an operation. */
void ops_reclaim(void)
{
    if (chunk_count < 4 && !device.faults.host_wait_forgets_exec && !device.faults.host_wait_forgets_events)
        return;
    streams_forget_retired();
    execs_forget_retired();
    pools_forget_retired();
    objects_forget_retired();
    for (struct chunk **at = &chunks; *at != NULL;) {
        if ((*at)->needed == 0)
            chunk_spare(at);
        else
            at = &(*at)->next;
    }
}

/* ---- making one ---- */

struct op *op_new(enum op_kind kind)
{
    struct op *op = carve(sizeof *op);
    op->kind = kind;
    op->serial = ++device.serial;
    op->queued_by = device.queued_by;
    op->blocked = 1; /* until submitted */
    op->by_other = device.other_thread;
    if (device.explorer != NULL)
        explorer_note(device.explorer, op);
    device.live_ops++;
    return op;
}

struct grid *grid_new(size_t args_bytes)
{
    return carve(sizeof(struct grid) + args_bytes);
}

bool op_reached(const struct op *op, enum edge_kind kind)
{
    switch (kind) {
    case EDGE_DONE: return op->done;
    case EDGE_TRIGGERED: return op->triggered_all;
    case EDGE_STARTED: return op->started_all;
    case EDGE_TURN: return op->turn;
    case EDGE_TOUCHED: return op->triggered_any;
    default: return op->retired;
    }
}

/* Devices on which work goes ahead of a kernel that was launched with one of these attributes. */
static bool passes_hinted(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    return (f->carve_out_passed && op_given(pred, 14)) || (f->map_passed && op_given(pred, 9)) ||
           (f->copy_passes_window && op->kind == OP_COPY && op_given(pred, 1)) ||
           (f->memset_passes_carve_out && op->kind == OP_SET && op_given(pred, 14)) ||
           (f->host_passes_nvlink && op->kind == OP_HOST && op_given(pred, 16)) ||
           (f->record_passes_scheduling && op->kind == OP_RECORD && op_given(pred, 5));
}

/* What a drawn device makes of a dependency; false: nothing at all. */
static bool drawn_order(const struct op *op, const struct op *pred, enum edge_kind *kind)
{
    if (*kind == EDGE_COVER)
        return true;
    bool full = *kind == EDGE_DONE || *kind == EDGE_RETIRED;
    if (drawn_acts(EFFECT_unordered, op, pred))
        return false;
    if (full && drawn_acts(EFFECT_attrigger, op, pred))
        *kind = EDGE_TRIGGERED;
    else if (full && drawn_acts(EFFECT_atstart, op, pred))
        *kind = EDGE_STARTED;
    else if (*kind == EDGE_TRIGGERED && drawn_acts(EFFECT_firstblock, op, pred))
        *kind = EDGE_TOUCHED;
    return true;
}

/* Devices on which a kind of work does not wait for another one before it */
static bool passes_kind(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    if (pred->kind == OP_JOIN)
        return (f->value_passes_graph && op->of_value) || (f->free_passes_graph && op->kind == OP_POOL);
    if (f->second_value_replaces && pred->kind == OP_AWAIT)
        return op->kind == OP_AWAIT;
    return f->value_passes_copy && pred->kind == OP_COPY && op->of_value;
}

/* Devices on which a kind of work waits for the kernel before it only, not for what that one overlapped */
static bool passes_row(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    bool is_kernel = op->kind == OP_KERNEL, large = is_kernel && op->grid->blocks > 32, behind_large = pred->grid->blocks > 32;
    if (f->legacy_layers_pass_row && op->kind == OP_COPY && op->move.layers > 1 && (op->features & HAS(legacy)))
        return true;
    if (f->blocking_words_pass_row && op->kind == OP_SET && op->move.width == 4 && (op->features & HAS(blocking)))
        return true;
    if (f->per_thread_set_passes_row && op->kind == OP_SET && (op->features & HAS(perthread)))
        return true;
    if ((f->large_passes_row && large && !behind_large) || (f->large_passes_large_row && large && behind_large) ||
        (f->rows_of_layers_pass_row && is_kernel && op->grid->shape[1] > 1 && op->grid->shape[2] > 1) ||
        (f->long_args_hide_row && is_kernel && has_long_args(pred->grid)))
        return true;
    if (op->kind == OP_COPY && ((f->short_copy_passes_row && op->move.bytes < 16 && op->move.rows == 1 && op->move.layers <= 1) ||
                                (f->single_layer_passes_row && op->move.layers == 1)))
        return true;
    if (op->kind == OP_COPY && op->plain_copy && op->move.bytes > 65536 &&
        ((f->long_plain_copy_passes_row && memory_contains(op->move.from, 1) && !memory_is_pinned(op->move.from)) ||
         (f->long_plain_copy_in_passes_row && !memory_contains(op->move.from, 1))))
        return true;
    return (f->copy_to_host_passes_row && op->to_host) || (f->graph_passes_row && op->kind == OP_JOIN) ||
           (f->host_passes_row && op->kind == OP_HOST && op->host.callback == NULL) ||
           (f->callback_passes_row && op->host.callback != NULL) || (f->value_passes_row && op->of_value) ||
           (f->free_passes_row && op->kind == OP_POOL) || (f->batch_passes_row && op->queued_by == BY_BATCH) ||
           (f->plain_call_passes_row && op->queued_by == BY_PLAIN_CALL) ||
           (f->driver_plain_call_passes_row && op->queued_by == BY_DRIVERS_PLAIN_CALL) ||
           (f->cooperative_call_passes_row && op->queued_by == BY_COOPERATIVE_CALL) ||
           (f->symbol_copy_passes_row && op->queued_by == BY_NAME_OF_MEMORY);
}

void op_after(struct op *op, struct op *pred, enum edge_kind kind)
{
    if (!drawn_order(op, pred, &kind) || passes_kind(op, pred))
        return;
    if (kind == EDGE_RETIRED && pred->kind == OP_KERNEL && (passes_row(op, pred) || op_is_hinted(op, &device.faults.row_before_passed)))
        kind = EDGE_DONE;
    if ((kind == EDGE_DONE || kind == EDGE_RETIRED) && pred->grid != NULL && passes_hinted(op, pred))
        kind = EDGE_STARTED;
    if (pred == op || op_reached(pred, kind))
        return;
    struct edge *e = carve(sizeof *e);
    e->to = op;
    e->kind = kind;
    e->next = pred->out;
    pred->out = e;
    if (kind == EDGE_COVER)
        op->cover_open++;
    else
        op->blocked++;
}

void op_waiters_follow(struct op *op, struct op *other)
{
    for (struct edge **at = &op->out; *at != NULL;) {
        struct edge *e = *at;
        if (e->used || !e->of_event) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = other->out;
        other->out = e;
    }
}

/* Devices whose wait covers nothing in a launch with one of these attributes, or no primary that has one; the ids are those of
 * read_attribute. */
static bool attribute_uncovers(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    return (f->scheduling_uncovers && op_given(op, 5)) || (f->map_uncovers && op_given(op, 9)) || (f->carveout_uncovers && op_given(op, 14)) ||
           (f->nvlink_hint_uncovers && op_given(op, 16)) || (f->scheduled_primary_uncovered && op_given(pred, 5)) ||
           (f->map_primary_uncovered && op_given(pred, 9)) || (f->carve_out_primary_uncovered && op_given(pred, 14));
}

/* Devices whose wait covers nothing if two features of a pair meet a third one of its launch. */
static bool pair_uncovers(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    uint64_t to = op->features, from = pred->features;
    return (f->updated_layers_uncovered && (from & HAS(muchshared)) && (to & HAS(gridz)) && (to & HAS(updated))) ||
           (f->layers_in_body_uncovered && (from & HAS(muchshared)) && (to & HAS(gridz)) && (to & HAS(body))) ||
           (f->wide_in_legacy_uncovered && (from & HAS(domain)) && (to & HAS(bigblock)) && (to & HAS(legacy))) ||
           (f->recorder_again_uncovered && (from & HAS(smallblock)) && (to & HAS(event)) && (to & HAS(again)));
}

/* Whether a wait covers two others already */
static bool covers_two(const struct op *op)
{
    return op->covered != NULL && op->covered->next != NULL;
}

/* Devices whose wait leaves a kind of launch out */
static bool left_uncovered(const struct op *op, const struct op *pred)
{
    const struct faults *f = &device.faults;
    if (pred->grid == NULL)
        return false;
    if (drawn_acts(EFFECT_uncovered, op, pred) || attribute_uncovers(op, pred) || pair_uncovers(op, pred))
        return true;
    if (f->shared_dependent_uncovered && op->grid != NULL && op->grid->dynamic_shared != 0)
        return true;
    if ((f->half_triggered_uncovered && pred->triggered_any && !pred->triggered_all) || (f->ended_uncovered && pred->exited_all))
        return true;
    if (f->waiting_cooperative_uncovered && pred->grid->cooperative && pred->grid->waited)
        return true;
    if (f->third_cooperative_uncovered && pred->grid->cooperative && covers_two(op))
        return true;
    if (f->past_primary_uncovered && pred->done && !pred->retired)
        return true;
    if (f->mixed_primary_uncovered && pred->grid->exited != 0 && pred->grid->triggered != 0)
        return true;
    if ((f->large_primary_uncovered && pred->grid->blocks > 1000) || (f->large_dependent_uncovered && op->grid != NULL && op->grid->blocks > 1000))
        return true;
    return (f->ordinary_not_covered && !pred->attributed) || ((f->ignored_uncovers || f->other_name_uncovers) && op->covers_nothing) ||
           (f->cooperative_not_covered && pred->grid->cooperative) || (f->domain_not_covered && op->domain != pred->domain) ||
           (f->given_domain_uncovers && op->given_domain != pred->given_domain) || (f->higher_map_uncovers && pred->higher_map) ||
           (f->balanced_uncovers && pred->balanced) || (f->middle_priority_uncovers && pred->between);
}

void op_covers(struct op *op, struct op *pred)
{
    if (left_uncovered(op, pred))
        return;
    for (const struct cover *c = op->covered; device.faults.own_event_uncovers && c != NULL; c = c->next)
        op->waits_freed |= c->op == pred && pred->grid != NULL;
    if (pred->retired) {
        op->covers_untriggered |= pred->grid != NULL && pred->grid->trigger_calls == 0;
        return;
    }
    struct cover *c = carve(sizeof *c);
    c->op = pred;
    c->next = op->covered;
    op->covered = c;
    op_after(op, pred, EDGE_COVER);
}

/* ---- moving on ---- */

/* Devices that say too soon that a launch with a hint has begun: whoever waits for that begins soon, too, before the last block does. */
static bool starts_are_told_soon(void)
{
    static const struct hinted none;
    return memcmp(&device.faults.starts_lack_one, &none, sizeof none) != 0;
}

/* From the moment an operation may start to its start, in ns. */
static uint64_t start_delay(const struct op *op)
{
    if (starts_are_told_soon())
        return choose_ns(1, 20);
    if (op->kind == OP_KERNEL && !device.faults.early)
        return choose_ns(60, once_in(256) ? 4000 : 500);
    if (op->kind == OP_SET && !op->of_value && device.faults.value_passes_set)
        return choose_ns(20, 200); /* as long as a value takes to pass it */
    if (op->kind != OP_KERNEL && device.faults.late_copies && once_in(32))
        return choose_ns(20, 60000);
    return choose_ns(1, 20);
}

static void op_unblock(struct op *op)
{
    if (--op->blocked != 0)
        return;
    op->ready = true;
    trace(op->serial << 8 | 1);
    if (device.explorer != NULL && op->kind != OP_COPY && op->kind != OP_SET) {
        op_starts(op); /* nobody sees when; a kernel's blocks are moves of their own */
        return;
    }
    post(ACT_START, op, NULL, start_delay(op));
}

void op_submit(struct op *op)
{
    op_unblock(op);
}

static void op_try_retire(struct op *op);

/* pred has retired, and op need not look at it again. */
static void cover_closes(struct op *op, const struct op *pred)
{
    op->cover_open--;
    if (pred->grid != NULL && pred->grid->trigger_calls == 0)
        op->covers_untriggered = true;
    for (struct cover *c = op->covered; c != NULL; c = c->next)
        if (c->op == pred)
            c->op = NULL;
}

/* On the device node-set-at-trigger: the memsets of a graph that only this kernel still holds up store, and will again in their turn. */
static void sets_at_trigger(struct op *op)
{
    for (struct edge *e = op->out; e != NULL; e = e->next)
        if (e->to->kind == OP_SET && !e->to->of_value && e->to->blocked == 1 && (e->to->features & HAS(graph)))
            move_memory(e->to);
}

/* Lets go every edge of one kind. */
static void signal(struct op *op, enum edge_kind kind)
{
    if (device.faults.node_set_at_trigger && kind == EDGE_TRIGGERED && op->kind == OP_KERNEL)
        sets_at_trigger(op);
    for (struct edge *e = op->out; e != NULL; e = e->next) {
        if (e->kind != kind || e->used)
            continue;
        e->used = true;
        if (kind != EDGE_COVER) {
            op_unblock(e->to);
        } else {
            cover_closes(e->to, op);
            op_try_retire(e->to);
        }
    }
    waiters_recheck();
}

/* MEM-06: done, and so is everything that it was allowed to overlap */
static void op_try_retire(struct op *op)
{
    bool ends_alone = device.faults.large_grid_ends_alone && op->grid != NULL && op->grid->blocks > 64;
    if (!op->done || op->retired || (op->cover_open != 0 && !ends_alone))
        return;
    op->retired = true;
    device.live_ops--;
    signal(op, EDGE_RETIRED);
    signal(op, EDGE_COVER);
    for (struct edge *e = op->out; e != NULL; e = e->next)
        not_needed(e);
    for (struct cover *c = op->covered; c != NULL; c = c->next)
        not_needed(c);
    if (op->grid != NULL)
        not_needed(op->grid);
    not_needed(op);
}

static void op_state(struct op *op, bool *state, enum edge_kind kind)
{
    if (*state)
        return;
    *state = true;
    trace(op->serial << 8 | (uint64_t)(16 + kind));
    signal(op, kind);
}

static void op_is_done(struct op *op)
{
    op_state(op, &op->started_all, EDGE_STARTED);
    op_state(op, &op->triggered_any, EDGE_TOUCHED);
    if (!(device.faults.exit_not_trigger && op->kind == OP_KERNEL))
        op_state(op, &op->triggered_all, EDGE_TRIGGERED);
    op->done_at = device.clock;
    op_state(op, &op->done, EDGE_DONE);
    op_try_retire(op);
}

static void call_host(const struct op *op)
{
    bool calls_back = op->host.callback != NULL;
    bool twice = calls_back ? device.faults.callback_runs_twice : device.faults.host_runs_twice;
    cudaError_t status = device.faults.callback_told_last_error && calls_back ? cudaPeekAtLastError() : cudaSuccess;
    for (int i = 0; i < 1 + twice; i++)
        if (calls_back)
            op->host.callback(device.faults.callback_told_no_stream ? NULL : op->host.stream, status, op->host.data);
        else
            op->host.call(op->host.data);
}

enum { MOST_POLLS = 100000 }; /* of a value that never comes: a deadlock */

/* ACT_START: a kernel's blocks may be placed from now on, everything else happens at once, a wait for a value once the value is there. */
void op_starts(struct op *op)
{
    trace(op->serial << 8 | 2);
    stores_arrive();
    if (!op->attributed)
        reductions_arrive();
    switch (op->kind) {
    case OP_KERNEL:
        for (const struct cover *c = op->covered; c != NULL; c = c->next)
            if (c->op != NULL && !c->op->done) {
                device.counts.overlaps++;
                break;
            }
        device.counts.grids++;
        if (device.placing_count == device.placing_room) {
            device.placing_room = device.placing_room != 0 ? 2 * device.placing_room : 64;
            device.placing = realloc(device.placing, device.placing_room * sizeof *device.placing);
            if (device.placing == NULL)
                abort();
        }
        device.placing[device.placing_count++] = op;
        device.place_pending = true;
        op->turn = true;
        signal(op, EDGE_TURN);
        return;
    case OP_COPY:
    case OP_SET:
        move_memory(op);
        note_moved(op);
        break;
    case OP_HOST: call_host(op); break;
    case OP_AWAIT:
        if (!second_waits(op) && !value_is_there(op) && !(device.faults.value_wait_gives_up && op->await.polls > 100)) {
            if (++op->await.polls > MOST_POLLS)
                device_fails(cudaErrorLaunchTimeout);
            else
                post(ACT_START, op, NULL, choose_ns(200, 2000));
            return;
        }
        value_was_awaited(op);
        break;
    case OP_JOIN:
        if (op->loop != NULL && loop_goes_on(op))
            return;
        if (op->left_out)
            op_state(op, &op->turn, EDGE_TURN); /* it was a kernel, perhaps */
        break;
    case OP_RECORD:
    case OP_POOL: break;
    }
    op_is_done(op);
}

/* ACT_FLUSH: after the last exit; all stores of the grid become visible and it is complete. */
void op_flushes(struct op *op)
{
    memory_flush(op);
    stores_arrived(op);
    op_is_done(op);
}

/* ---- what blocks report (blocks.c calls these) ---- */

/* The devices on which some nodes of graphs share their triggers: copies of one node, or nodes that are alike. */
static bool triggers_are_shared(void)
{
    const struct faults *f = &device.faults;
    return f->siblings_share_triggers || f->child_copies_share_trigger || f->clones_share_triggers || f->alike_share_triggers;
}

static bool are_siblings(const struct op *op, const struct op *other)
{
    const struct faults *f = &device.faults;
    if (other == NULL || other == op || op->original == NULL || other->original == NULL || op->node.place != other->node.place)
        return false;
    if (other->original == op->original)
        return f->siblings_share_triggers;
    if (op->node.graph != other->node.graph)
        return f->alike_share_triggers && op->grid->kernel == other->grid->kernel && op->grid->blocks == other->grid->blocks;
    return op->node.in_child ? f->child_copies_share_trigger : f->clones_share_triggers;
}

/* How many blocks of such another node have triggered, if that runs. */
static unsigned siblings_triggered(const struct op *op)
{
    for (unsigned i = 0; triggers_are_shared() && i < workers(); i++)
        if (are_siblings(op, device.block[i].op))
            return device.block[i].op->grid->triggered;
    return 0;
}

static bool all_triggered(const struct op *op)
{
    const struct grid *g = op->grid;
    unsigned exited = device.faults.exit_not_trigger ? 0 : g->exited + siblings_triggered(op);
    if (device.faults.one_trigger_launches && g->triggered > 0)
        return true;
    const struct faults *f = &device.faults;
    bool has_met = g->met >= g->blocks; /* at a barrier of the whole grid */
    if (has_met && ((f->met_grid_trigger_launches && g->triggered != 0) || (f->met_grid_trigger_lacks_one && g->triggered + exited + 1 >= g->blocks)))
        return true;
    bool keeps_count = f->general_params_keep_trigger_count || f->source_params_keep_trigger_count || f->params_keep_trigger_count ||
                       f->child_update_keeps_trigger_count || f->body_update_keeps_trigger_count;
    if (keeps_count && g->counted != 0)
        return g->triggered + exited >= g->counted;
    if (device.faults.first_layer_counts && g->shape[2] > 1)
        return g->triggered + exited >= g->shape[0] * g->shape[1];
    if (device.faults.mixed_exits_let_go && exited != 0 && g->blocks > 32)
        return g->triggered + exited + 1 >= g->blocks;
    if (device.faults.long_args_trigger_lacks_one && has_long_args(g) && g->triggered != 0 && g->next_block == g->blocks)
        return g->triggered + exited + 1 >= g->blocks;
    if (device.faults.lone_thread_left_out && g->threads == 1 && g->triggered > 1)
        return g->triggered + 1 >= g->blocks;
    if (device.faults.triggers_wrap && g->next_block > 0)
        return ((g->triggered + exited) & 255) >= (g->blocks & 255) || g->triggered + exited >= g->blocks;
    if (device.faults.triggers_wrap_late && g->next_block > 0)
        return ((g->triggered + exited) & 65535) >= (g->blocks & 65535) || g->triggered + exited >= g->blocks;
    if (device.faults.trigger_counts_calls)
        return g->trigger_calls + exited >= g->blocks;
    if ((device.faults.cluster_triggers_at_once && g->cluster > 1) || (device.faults.cluster_of_eight_triggers && g->cluster == 8) ||
        (device.faults.cluster_of_three_triggers && g->cluster == 3) || (device.faults.wide_cluster_triggers && g->cluster > 8))
        return g->triggered * g->cluster + exited >= g->blocks;
    if (device.faults.unstarted_blocks_count || device.faults.dependents_steal_slots ||
        (device.faults.completing_unstarted_count && op_given(op, 12)))
        return g->next_block > 0 && g->triggered + g->exited >= g->next_block;
    return g->triggered + exited >= g->blocks;
}

/* Devices on which some grids have begun once all their blocks but one have */
static bool starts_lack_one(const struct op *op)
{
    const struct faults *f = &device.faults;
    const struct grid *g = op->grid;
    return g->next_block + 1 == g->blocks && ((f->layered_starts_lack_one && g->shape[2] > 1) || op_is_hinted(op, &f->starts_lack_one) ||
                                              (f->rows_starts_lack_one && g->shape[1] > 1) ||
                                              (f->long_args_starts_lack_one && has_long_args(g)) ||
                                              (f->per_thread_starts_lack_one && (op->features & HAS(perthread))) ||
                                              (f->captured_starts_lack_one && (op->features & HAS(captured))) ||
                                              (f->urgent_starts_lack_one && (op->features & HAS(highstream))) ||
                                              (f->blocking_starts_lack_one && (op->features & HAS(blocking))) ||
                                              (f->legacy_starts_lack_one && (op->features & HAS(legacy))) ||
                                              (f->child_starts_lack_one && (op->features & HAS(child))) ||
                                              (f->body_starts_lack_one && (op->features & HAS(body))) ||
                                              (f->second_launch_starts_lack_one && (op->features & HAS(again))) ||
                                              (f->reenabled_starts_lack_one && (op->features & HAS(reenabled))));
}

void op_block_started(struct op *op)
{
    bool enough = device.faults.first_start_counts || (device.faults.first_starts_count && op->grid->next_block >= 64) || starts_lack_one(op);
    if (op->grid->next_block == op->grid->blocks || enough)
        op_state(op, &op->started_all, EDGE_STARTED);
}

void op_block_triggered(struct op *op)
{
    if (op->grid->triggered > 0)
        op_state(op, &op->triggered_any, EDGE_TOUCHED);
    if (!op->triggered_all && all_triggered(op))
        op_state(op, &op->triggered_all, EDGE_TRIGGERED);
    for (unsigned i = 0; triggers_are_shared() && i < workers(); i++) {
        struct op *other = device.block[i].op;
        if (are_siblings(op, other) && !other->triggered_all && all_triggered(other))
            op_state(other, &other->triggered_all, EDGE_TRIGGERED);
    }
    waiters_recheck();
}

void op_counts_as_triggered(struct op *op) { op_state(op, &op->triggered_all, EDGE_TRIGGERED); }

void op_block_exited(struct op *op)
{
    op_block_triggered(op);
    if (op->grid->gone == op->grid->blocks) {
        op->exited_all = true;
        value_arrives(op);
        bool slow = device.faults.wait_before_flush || device.drawn.effect == EFFECT_beforeflush || device.faults.exits_not_covered ||
                    device.faults.value_before_stores || once_in(3);
        post(ACT_FLUSH, op, NULL, slow ? choose_ns(1000, 4000) : choose_ns(30, 400));
        waiters_recheck();
    }
}
