/* Blocks and their threads: starting, running, barriers, trigger, wait, exit. */
#include "api.h"
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runnable set: a random pick has to be cheap ---- */

void thread_makes_runnable(struct thread *t)
{
    t->state = THREAD_RUNNABLE;
    t->place = device.runnable_count;
    device.runnable[device.runnable_count++] = t;
}

static void thread_leaves_runnable(struct thread *t, enum thread_state state)
{
    struct thread *last = device.runnable[--device.runnable_count];
    device.runnable[t->place] = last;
    last->place = t->place;
    t->state = state;
}

void thread_stalls(struct thread *t, uint64_t delay)
{
    thread_leaves_runnable(t, THREAD_PAUSE);
    post(ACT_WAKE, NULL, t, delay);
}

/* Only for the current thread; comes back when it is runnable again and chosen. */
static void thread_rests(enum thread_state state)
{
    thread_leaves_runnable(device.current, state);
    coroutine_yield();
}

void thread_yields(void)
{
    coroutine_yield();
}

void thread_resume(struct thread *t)
{
    device.current = t;
    coroutine_resume(t->coroutine);
    device.current = NULL;
}

/* ---- blocks ---- */

static unsigned waiting_threads; /* in model_wait */

void blocks_reset(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        struct block *b = &device.block[i];
        b->op = NULL;
        b->sm = i % device.sms;
        for (unsigned t = 0; t < MODEL_MAX_THREADS; t++)
            b->thread[t].state = THREAD_DONE;
    }
    for (unsigned i = 0; i < device.sms; i++) {
        device.sm[i].free_slots = device.slots;
        device.sm[i].free_shared = MODEL_SM_SHARED;
    }
    device.runnable_count = 0;
    device.current = NULL;
    waiting_threads = 0;
    device.largest_frame = 0;
}

static size_t shared_of(const struct grid *g)
{
    return g->kernel->static_shared_bytes + g->dynamic_shared;
}

bool block_fits(const struct op *op, unsigned sm)
{
    return device.sm[sm].free_slots > 0 && device.sm[sm].free_shared >= shared_of(op->grid);
}

static void block_exits(struct block *b)
{
    struct op *op = b->op;
    struct grid *g = op->grid;
    trace(op->serial << 20 | b->index << 8 | 5);
    memory_block_exits(b);
    device.sm[b->sm].free_slots++;
    device.sm[b->sm].free_shared += shared_of(g);
    device.place_pending = true;
    for (struct block **at = &g->resident; *at != NULL; at = &(*at)->next_of_grid)
        if (*at == b) {
            *at = b->next_of_grid;
            break;
        }
    if (!b->triggered)
        g->exited += device.faults.mute_exit_counts_twice ? 2 : 1;
    g->gone++;
    g->low_exited += b->index < g->blocks / 2;
    b->op = NULL;
    op_block_exited(op);
}

static void release_barrier(struct block *b)
{
    bool all_but_one = device.faults.late_barriers_let_go && b->index >= 64 && b->at_barrier > 1 && b->at_barrier + 1 == b->live;
    bool lets_go = device.faults.fourth_barrier_lets_go && b->stores->epoch >= 3;
    lets_go |= device.faults.ninth_barrier_lets_go && b->stores->epoch >= 8;
    all_but_one |= lets_go && b->at_barrier > 1 && b->at_barrier + 1 == b->live;
    if (!all_but_one && (b->at_barrier == 0 || b->at_barrier < b->live))
        return;
    b->at_barrier = 0;
    b->stores->epoch++;
    for (unsigned i = 0; i < b->threads; i++)
        if (b->thread[i].state == THREAD_BARRIER && b->thread[i].named == 0)
            thread_makes_runnable(&b->thread[i]);
}

static void thread_main(void *argument)
{
    struct thread *t = argument;
    struct block *b = t->block;
    b->op->grid->kernel->entry(b->op->grid->args);
    thread_leaves_runnable(t, THREAD_DONE);
    if (device.faults.thread_end_triggers && !b->triggered) {
        b->triggered = true;
        b->op->grid->triggered++;
        op_block_triggered(b->op);
    }
    if (--b->live == 0)
        block_exits(b);
    else
        release_barrier(b);
}

static struct block *free_block(unsigned sm)
{
    for (unsigned i = sm; i < workers(); i += device.sms)
        if (device.block[i].op == NULL)
            return &device.block[i];
    abort();
}

/* A block of another grid on its SM that has shared memory of another size */
static const struct block *beside_other_size(const struct block *b)
{
    for (unsigned i = b->sm; i < workers(); i += device.sms) {
        const struct op *op = device.block[i].op;
        if (op != NULL && op != b->op && op->grid->dynamic_shared != 0 && op->grid->dynamic_shared != b->op->grid->dynamic_shared)
            return &device.block[i];
    }
    return NULL;
}

/* Devices on which shared memory is mixed up where sizes differ */
static unsigned char *others_memory(const struct block *b)
{
    const struct block *other = b->op->grid->dynamic_shared != 0 ? beside_other_size(b) : NULL;
    bool smaller = other != NULL && b->op->attributed && b->op->grid->dynamic_shared < other->op->grid->dynamic_shared;
    return other != NULL && (device.faults.other_sizes_share_memory || (device.faults.smaller_shares_memory && smaller)) ? other->own : NULL;
}

enum { LARGE_SHARED = 32 << 10 };

static void wipe_others(const struct block *b)
{
    for (unsigned i = b->sm; i < workers(); i += device.sms)
        if (device.block[i].op != NULL && &device.block[i] != b)
            memset(device.block[i].own, 0xd5, device.block[i].op->grid->dynamic_shared);
}

/* Devices on which the threads of a block have their local memory with those of another one */
static bool shares_frames(const struct op *op)
{
    const struct faults *f = &device.faults;
    bool graph = (op->features & HAS(graph)) != 0;
    return (f->grids_share_frames && op->attributed) || (f->graphs_share_frames && graph) || (f->clusters_share_frames && op->grid->cluster > 1) ||
           (f->older_graph_shares_frames && graph && op->frames_then < device.largest_frame);
}

static void block_prepare(struct block *b, struct op *op)
{
    struct grid *g = op->grid;
    b->op = op;
    b->index = g->next_block;
    b->threads = b->live = g->threads;
    if (b->threads > 1 && ((device.faults.late_blocks_lose_thread && b->index >= 64) ||
                           (device.faults.last_block_loses_thread && b->index >= 100 && b->index + 1 == g->blocks)))
        b->threads = b->live = g->threads - 1;
    b->at_barrier = 0;
    memset(b->at_named, 0, sizeof b->at_named);
    memset(b->ended_named, 0, sizeof b->ended_named);
    b->triggered = false;
    if (b->shared == NULL)
        b->shared = aligned_alloc(64, MODEL_BLOCK_SHARED);
    if (b->local == NULL)
        b->local = aligned_alloc(64, (size_t)MODEL_FRAME * MODEL_MAX_THREADS);
    if (b->shared == NULL || b->local == NULL)
        abort();
    bool shares = (device.faults.clusters_share_memory && g->cluster > 1) || (device.faults.grids_share_memory && op->attributed) ||
                  (device.faults.late_blocks_share_memory && b->index >= 64) ||
                  (device.faults.second_launch_shares_memory && (op->features & HAS(graph)) && (op->features & HAS(again)));
    shares |= (device.faults.bodies_share_memory && (op->features & HAS(body))) || (device.faults.layers_share_memory && g->shape[2] > 1) ||
              (device.faults.legacy_shares_memory && (op->features & HAS(legacy))) ||
              (device.faults.large_blocks_share_memory && g->dynamic_shared > LARGE_SHARED);
    b->own = shares && device.block[b->sm].shared != NULL ? device.block[b->sm].shared : b->shared;
    unsigned char *others = others_memory(b);
    b->own = others != NULL ? others : b->own;
    if (device.faults.large_block_wipes_others && g->dynamic_shared > LARGE_SHARED)
        wipe_others(b);
    memset(b->own, 0xd5, (g->dynamic_shared + 63) & ~(size_t)63); /* shared memory starts as anything */
    b->frames = shares_frames(op) && device.block[b->sm].local != NULL ? device.block[b->sm].local : b->local;
    b->next_of_grid = g->resident;
    g->resident = b;
}

void block_start(struct op *op, unsigned sm)
{
    struct block *b = free_block(sm);
    block_prepare(b, op);
    device.sm[sm].free_slots--;
    device.sm[sm].free_shared -= shared_of(op->grid);
    trace(op->serial << 20 | b->index << 8 | sm << 4 | 4);
    device.counts.moves++;
    memory_block_begins(b);
    for (unsigned i = 0; i < b->threads; i++) {
        struct thread *t = &b->thread[i];
        if (t->coroutine == NULL)
            t->coroutine = coroutine_new();
        t->block = b;
        t->index = i;
        t->waits = t->triggers = t->fences = t->acquires = t->barriers = t->named = t->used = 0;
        t->resting_since = 0;
        coroutine_begin(t->coroutine, thread_main, t);
        thread_makes_runnable(t);
    }
    op->grid->next_block++;
    op_block_started(op);
    for (unsigned i = 0; device.explorer != NULL && i < b->threads; i++)
        thread_resume(&b->thread[i]); /* up to its first access: nobody sees that */
}

/* ---- waiting threads ---- */

static void recheck_block(struct block *b)
{
    for (unsigned i = 0; i < b->threads; i++) {
        struct thread *t = &b->thread[i];
        if (t->state == THREAD_WAIT && wait_may_return(t)) {
            waiting_threads--;
            thread_makes_runnable(t);
        }
    }
}

void waiters_recheck(void)
{
    if (waiting_threads == 0)
        return;
    for (unsigned i = 0; i < workers(); i++)
        if (device.block[i].op != NULL)
            recheck_block(&device.block[i]);
}

void blocks_let_go(bool from_waits)
{
    for (unsigned i = 0; i < workers(); i++) {
        struct op *op = device.block[i].op;
        if (op != NULL && from_waits)
            op->waits_freed = true;
        else if (op != NULL)
            op_counts_as_triggered(op);
    }
    waiters_recheck();
}

/* ---- what kernels call ---- */

static struct thread *self(void)
{
    if (device.current == NULL) {
        fputs("pdl model: a device function was called outside of a kernel\n", stderr);
        abort();
    }
    return device.current;
}

unsigned model_thread(void)
{
    return self()->index;
}

unsigned model_block(void)
{
    return self()->block->index;
}

unsigned model_threads(void)
{
    return self()->block->threads;
}

unsigned model_blocks(void)
{
    return self()->block->op->grid->blocks;
}

unsigned model_shape(unsigned index)
{
    return self()->block->op->grid->shape[index];
}

unsigned model_dynamic_shared(void)
{
    return (unsigned)self()->block->op->grid->dynamic_shared;
}

unsigned model_sm(void)
{
    return self()->block->sm;
}

uint64_t model_now(void) /* a scheduling point, or a loop around it would never let anybody else run */
{
    device.clock += device.tick;
    if (--device.burst < 0)
        thread_yields();
    return device.clock >> 10;
}

void *model_shared(size_t offset)
{
    return self()->block->own + offset;
}

/* A device whose running threads lose what they have if one needs more than any before */
static void frames_grow(const struct block *b, size_t bytes)
{
    for (unsigned i = 0; device.faults.growing_frames_lost && bytes > device.largest_frame && i < workers(); i++)
        if (device.block[i].op != NULL && device.block[i].op != b->op)
            memset(device.block[i].frames, 0xd5, (size_t)MODEL_FRAME * MODEL_MAX_THREADS);
    if (bytes > device.largest_frame)
        device.largest_frame = bytes;
}

void *model_local(size_t bytes)
{
    struct thread *t = self();
    if (bytes > MODEL_FRAME)
        abort();
    frames_grow(t->block, bytes);
    t->used |= USED_FRAME | (bytes > 1024 ? USED_LARGE_FRAME : 0);
    return t->block->frames + (size_t)MODEL_FRAME * t->index;
}

void model_barrier(void)
{
    struct thread *t = self();
    struct block *b = t->block;
    t->resting_since = 0;
    b->at_barrier++;
    thread_leaves_runnable(t, THREAD_BARRIER);
    release_barrier(b);
    coroutine_yield();
}

/* ---- the barriers of some threads ---- */

/* Where those are counted that come to such a barrier: on broken devices with those of another one, or of another block of the SM. */
static unsigned *counted_at(struct block *b, unsigned id)
{
    const struct faults *f = &device.faults;
    id = f->named_barriers_are_one ? 1 : f->named_barriers_in_three_bits ? id % 8 : id;
    return &(f->named_barriers_shared ? &device.block[b->sm] : b)->at_named[id];
}

/* The threads of a block that stand there; on a broken device those that stand at another one, too. */
static void release_named(struct block *b, unsigned id)
{
    for (unsigned i = 0; i < b->threads; i++) {
        struct thread *t = &b->thread[i];
        bool same = t->named == id || device.faults.named_barriers_are_one;
        same |= device.faults.named_barriers_in_three_bits && t->named % 8 == id % 8;
        if (t->state == THREAD_BARRIER && t->named != 0 && same) {
            t->named = 0;
            thread_makes_runnable(t);
        }
    }
}

static void named_barrier_ends(struct block *b, unsigned id)
{
    *counted_at(b, id) = 0;
    b->stores->named++;
    b->ended_named[id]++;
    release_named(b, id);
    for (unsigned i = b->sm; device.faults.named_barriers_shared && i < workers(); i += device.sms)
        if (device.block[i].op != NULL)
            release_named(&device.block[i], id);
}

void model_named_barrier(unsigned id, unsigned threads, int waits)
{
    struct thread *t = self();
    struct block *b = t->block;
    t->resting_since = 0;
    bool passes = device.faults.named_barrier_passed && b->op->attributed, stands = waits && !passes;
    if (stands) {
        t->named = id;
        thread_leaves_runnable(t, THREAD_BARRIER);
    }
    t->used |= USED_NAMED;
    if (device.faults.ninth_named_barrier_lets_go && b->ended_named[id] >= 8)
        threads -= MODEL_WARP;
    if (++*counted_at(b, id) >= threads)
        named_barrier_ends(b, id);
    if (stands)
        coroutine_yield();
    else
        memory_access_point();
}

/* ---- the barrier of a grid ---- */

/* Where the blocks at the barriers of a grid are counted: on broken devices with those of another one. */
static unsigned *meeting_of(const struct op *op)
{
    static unsigned of_all;
    const struct faults *f = &device.faults;
    if (f->grid_barriers_shared)
        return &of_all;
    if (f->grid_barrier_of_primary && op->attributed && op->overlapped != NULL && op->overlapped->grid->cooperative && !op->overlapped->retired)
        return &op->overlapped->grid->met;
    return &op->grid->met;
}

static void release_meetings(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        struct block *b = &device.block[i];
        for (unsigned t = 0; b->op != NULL && t < b->threads; t++)
            if (b->thread[t].state == THREAD_MEETING && *meeting_of(b->op) >= b->thread[t].meets)
                thread_makes_runnable(&b->thread[t]);
    }
}

/* What a barrier of the grid does to memory: once before the blocks meet, and once after it. */
static void meeting_fence(const struct thread *t, bool before)
{
    const struct faults *f = &device.faults;
    if (f->grid_barrier_of_first_threads && (!before || t->index != 0))
        memory_drop_lines(&device.sm[t->block->sm], false);
    else
        fence_and_keep(f->grid_barrier_keeps_lines);
}

/* How many blocks need not have come to the thread's barrier */
static unsigned meeting_lacks(const struct thread *t)
{
    const struct faults *f = &device.faults;
    return (f->grid_barrier_lacks_one_again && (t->block->op->features & HAS(again))) || (f->fourth_grid_barrier_lacks_one && t->barriers >= 4) ||
           (f->seventeenth_grid_barrier_lacks_one && t->barriers >= 17) || (f->late_grid_barriers_lack_one && t->barriers >= 256);
}

void model_grid_barrier(void)
{
    struct thread *t = self();
    struct op *op = t->block->op;
    meeting_fence(t, true);
    model_barrier();
    if (t->index == 0) {
        unsigned *met = meeting_of(op);
        t->meets = ++t->barriers * op->grid->blocks;
        t->meets -= meeting_lacks(t);
        ++*met;
        release_meetings();
        if (*met < t->meets)
            thread_rests(THREAD_MEETING);
    }
    model_barrier();
    meeting_fence(t, false);
}

/* Below compute capability 9.0, or in an image made for it, there is neither trigger nor wait. */
static bool has_dependencies(const struct thread *t)
{
    return device.cc >= 90 && t->block->op->grid->kernel->ptx_version >= 90;
}

void model_set_condition(unsigned long long handle, unsigned value)
{
    thread_yields();
    if (!device.faults.set_by_later_block_lost || self()->block->index == 0)
        condition_set_by(self()->block->op, handle, value);
}

/* TRIG-01, TRIG-05 */
void model_trigger(void)
{
    struct thread *t = self();
    t->resting_since = 0;
    thread_yields();
    if (!has_dependencies(t))
        return;
    struct block *b = t->block;
    struct op *op = b->op;
    if (op->grid->trigger_calls++ == 0 && function_find(op->grid->kernel->func) != NULL)
        function_find(op->grid->kernel->func)->has_triggered = true;
    t->triggers++;
    if (device.faults.triggers_by_warps && b->triggered && t->triggers == 1 && t->index % MODEL_WARP == 0)
        op->grid->triggered++;
    if (device.faults.seventeenth_trigger_counts && t->triggers == 17)
        op->grid->triggered++;
    if (!b->triggered) {
        b->triggered = true;
        op->grid->triggered++;
        trace(op->serial << 20 | b->index << 8 | 6);
    }
    op_block_triggered(op);
}

/* WAIT-01, WAIT-04, WAIT-05, WAIT-10 */
void model_wait(void)
{
    struct thread *t = self();
    t->resting_since = 0;
    thread_yields();
    if (!has_dependencies(t))
        return;
    t->waits++;
    struct grid *grid = t->block->op->grid;
    if (!grid->waited && function_find(grid->kernel->func) != NULL)
        function_find(grid->kernel->func)->has_waited = true;
    grid->waited = true;
    for (uint64_t since = device.clock; device.faults.long_wait_returns && !wait_may_return(t);) {
        if (device.clock - since >= (uint64_t)10000000 << 10)
            return; /* it gives up, and what it has cached stays */
        post(ACT_WAKE, NULL, t, (uint64_t)200000 << 10);
        thread_rests(THREAD_PAUSE);
    }
    if (!wait_may_return(t)) {
        waiting_threads++;
        thread_rests(THREAD_WAIT);
    }
    trace(t->block->op->serial << 20 | t->block->index << 8 | 7);
    memory_wait_returns(t->block);
}

/* A thread that does nothing but poll rests longer and longer, up to an eighth of the time it has polled: nobody can
 * tell, and long polls cost little. */
void model_pause(uint64_t ns)
{
    struct thread *t = self();
    if (t->resting_since == 0)
        t->resting_since = device.clock + 1;
    uint64_t polled = (device.clock + 1 - t->resting_since) / 8, asked = ns << 10;
    post(ACT_WAKE, NULL, t, polled > asked ? polled : asked);
    thread_rests(THREAD_PAUSE);
}
