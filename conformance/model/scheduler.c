/* The scheduler: picks the next enabled move, by the seed, and runs until somebody's condition holds. */
#include "api.h"
#include "choices.h"

#include <stdlib.h>

/* ---- moves that have a time: a binary heap by (time, order) ---- */

static bool sooner(const struct timed *a, const struct timed *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void sift_up(unsigned i)
{
    for (; i > 0 && sooner(&device.timed[i], &device.timed[(i - 1) / 2]); i = (i - 1) / 2) {
        struct timed t = device.timed[i];
        device.timed[i] = device.timed[(i - 1) / 2];
        device.timed[(i - 1) / 2] = t;
    }
}

static void sift_down(unsigned i)
{
    for (;;) {
        unsigned best = i;
        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < device.timed_count; child++)
            if (sooner(&device.timed[child], &device.timed[best]))
                best = child;
        if (best == i)
            return;
        struct timed t = device.timed[i];
        device.timed[i] = device.timed[best];
        device.timed[best] = t;
        i = best;
    }
}

void post(enum act act, struct op *op, struct thread *thread, uint64_t delay)
{
    if (device.timed_count == device.timed_room) {
        device.timed_room = device.timed_room != 0 ? 2 * device.timed_room : 256;
        device.timed = realloc(device.timed, device.timed_room * sizeof *device.timed);
        if (device.timed == NULL)
            abort();
    }
    struct timed t = {device.clock + delay, ++device.order, act, op, thread};
    device.timed[device.timed_count] = t;
    sift_up(device.timed_count++);
}

struct timed timed_take(unsigned i)
{
    struct timed t = device.timed[i];
    device.timed[i] = device.timed[--device.timed_count];
    if (i < device.timed_count) {
        sift_up(i);
        sift_down(i);
    }
    return t;
}

void perform(enum act act, struct op *op, struct thread *thread)
{
    device.counts.moves++;
    if (act == ACT_START)
        op_starts(op);
    else if (act == ACT_FLUSH)
        op_flushes(op);
    else
        thread_makes_runnable(thread);
}

/* ---- placing blocks ---- */

static unsigned placeable(unsigned *sms, const struct op *op)
{
    unsigned n = 0;
    for (unsigned sm = 0; sm < device.sms; sm++)
        if (block_fits(op, sm))
            sms[n++] = sm;
    return n;
}

static bool starts_in_parts(const struct op *op)
{
    const struct faults *f = &device.faults;
    const struct grid *g = op->grid;
    if ((f->domain_grid_in_parts && op->domain != 0) || (f->urgent_grid_in_parts && op->urgent) ||
        (f->long_args_grid_in_parts && has_long_args(g)) || (f->grid_after_item_in_parts && (op->features & HAS(afteritem))) ||
        (f->other_thread_grid_in_parts && (op->features & HAS(otherthread))) || (f->grid_of_graph_in_parts_again && (op->features & HAS(again))) ||
        (f->reenabled_grid_in_parts && (op->features & HAS(reenabled))) || (f->grid_in_urgent_stream_in_parts && (op->features & HAS(highstream))))
        return true;
    return !g->cooperative || device.faults.grid_in_parts || (device.faults.clustered_grid_in_parts && g->cluster > 1) ||
           (device.faults.shared_grid_in_parts && g->dynamic_shared != 0) || (device.faults.layered_grid_in_parts && g->shape[2] > 1) ||
           (device.faults.lone_thread_grid_in_parts && g->threads == 1) || (f->rows_grid_in_parts && g->shape[1] > 1);
}

/* A cooperative grid starts as a whole or not at all; blocks of equal size make the count enough. */
static bool cooperative_must_wait(const struct op *op)
{
    if (starts_in_parts(op) || op->grid->next_block != 0)
        return false;
    unsigned slots = 0;
    size_t each = op->grid->kernel->static_shared_bytes + op->grid->dynamic_shared;
    for (unsigned sm = 0; sm < device.sms; sm++) {
        size_t by_shared = each != 0 ? device.sm[sm].free_shared / each : device.slots;
        slots += by_shared < device.sm[sm].free_slots ? (unsigned)by_shared : device.sm[sm].free_slots;
    }
    return slots < op->grid->blocks;
}

/* Which of the waiting grids may place a block now: any, at random, except on the devices that break FWD-03 or TRIG-02,
 * where a dependent can be waiting beside its predecessor and the order decides. */
static unsigned pick_grid(const unsigned *fit, unsigned n)
{
    unsigned best = 0;
    if (!device.faults.dependents_steal_slots && !device.faults.unstarted_blocks_count)
        return fit[choose(n)];
    for (unsigned i = 1; i < n; i++) {
        bool later = device.placing[fit[i]]->serial > device.placing[fit[best]]->serial;
        if (later == device.faults.dependents_steal_slots)
            best = i;
    }
    return fit[best];
}

/* The grid that has begun and keeps the free slots for itself, until all its blocks are placed. */
static const struct op *half_placed(void)
{
    for (unsigned i = 0; i < device.placing_count; i++)
        if (!starts_in_parts(device.placing[i]) && device.placing[i]->grid->next_block != 0)
            return device.placing[i];
    return NULL;
}

static void place_one(void)
{
    unsigned fit[64], sms[MODEL_MOST_SMS], n = 0;
    const struct op *only = half_placed();
    for (unsigned i = 0; i < device.placing_count && n < 64; i++)
        if ((only == NULL || device.placing[i] == only || (device.faults.urgent_enters_half_placed && device.placing[i]->urgent)) && !cooperative_must_wait(device.placing[i]) &&
            placeable(sms, device.placing[i]) != 0)
            fit[n++] = i;
    if (n == 0) {
        device.place_pending = false;
        return;
    }
    unsigned which = pick_grid(fit, n);
    struct op *op = device.placing[which];
    unsigned sm = sms[choose(placeable(sms, op))];
    block_start(op, sm);
    if (op->grid->next_block == op->grid->blocks)
        device.placing[which] = device.placing[--device.placing_count];
    device.place_at = device.clock + choose_ns(2, 40);
}

/* ---- one step ---- */

/* Now and then a thread falls behind all others: that is where the rare orders come from. On a GPU that others use that is longer. */
static void run_some_thread(void)
{
    bool shared = device.faults.shared || device.faults.halts;
    unsigned n = device.runnable_count;
    struct thread *t = device.runnable[n == 1 ? 0 : choose(n)];
    uint32_t r = choose(1u << 25);
    if (r >> 16 == 0 || (shared && r >> 16 < 4)) {
        thread_stalls(t, choose_ns(50, device.faults.halts ? 2000000 : shared ? 60000 : 1500));
        return;
    }
    r &= 0xffff;
    device.burst = (int)(r & 15);
    device.tick = (3072 + (r >> 4)) / n; /* 3 to 7 ns for each access, threads run side by side */
    device.clock += device.tick;
    thread_resume(t);
}

static bool jump_to_next(void)
{
    bool place = device.place_pending && device.placing_count != 0;
    if (device.timed_count == 0 && !place)
        return false;
    uint64_t at = place ? device.place_at : device.timed[0].at;
    if (device.timed_count != 0 && device.timed[0].at < at)
        at = device.timed[0].at;
    if (at > device.clock)
        device.clock = at;
    return true;
}

bool machine_step(void)
{
    if (device.sticky != cudaSuccess)
        return false;
    if (device.explorer != NULL)
        return explorer_step(device.explorer);
    if (device.runnable_count == 0 && !jump_to_next())
        return false;
    if (device.timed_count != 0 && device.timed[0].at <= device.clock) {
        struct timed t = timed_take(0);
        perform(t.act, t.op, t.thread);
    } else if (device.place_pending && device.placing_count != 0 && device.place_at <= device.clock) {
        place_one();
    } else if (device.runnable_count != 0) {
        if (chance(device.drain))
            memory_drain_some();
        run_some_thread();
    }
    return true;
}

/* ---- until ---- */

void scheduler_reset(void)
{
    device.clock = 0;
    device.order = 0;
    device.timed_count = device.placing_count = 0;
    device.place_pending = false;
    device.place_at = 0;
    struct model_counts none = {0};
    device.counts = none;
}

/* The device is lost until the reset: nothing of it runs any more. */
void device_fails(cudaError_t error)
{
    if (device.sticky != cudaSuccess)
        return;
    device.sticky = error;
    device.deadlocked = error == cudaErrorLaunchTimeout;
    device.runnable_count = device.timed_count = device.placing_count = 0;
}

static cudaError_t outcome(void)
{
    moves_end();
    if (device.sticky == cudaSuccess)
        ops_reclaim();
    return device.sticky;
}

/* A host that waits for a long time gives up, on devices where it does. */
static bool gives_up(bool broken, uint64_t since)
{
    return broken && device.clock - since > (uint64_t)1000000 * 1024;
}

cudaError_t run_until_retired(struct op *op)
{
    const uint64_t since = device.clock;
    while (op != NULL && !op->retired && !gives_up(device.faults.stream_sync_gives_up, since))
        if (!machine_step()) {
            device_fails(cudaErrorLaunchTimeout);
            break;
        }
    return outcome();
}

cudaError_t run_until_done(const struct op *op)
{
    while (!op->done)
        if (!machine_step()) {
            device_fails(cudaErrorLaunchTimeout);
            break;
        }
    return device.sticky;
}

cudaError_t run_until_idle(void)
{
    const uint64_t since = device.clock;
    while (device.live_ops != 0 && !gives_up(device.faults.device_sync_gives_up, since))
        if (!machine_step()) {
            device_fails(cudaErrorLaunchTimeout);
            break;
        }
    return outcome();
}

cudaError_t run_a_little(void)
{
    for (int i = 0; i < 64 && device.live_ops != 0; i++)
        if (!machine_step()) {
            device_fails(cudaErrorLaunchTimeout);
            break;
        }
    return device.sticky;
}
