/* crowds.cu - grids of many blocks, and words that are handed over while both kernels run.
 *
 * pair    rules    what is asked
 * blocks  COMP-16  grids of each number of blocks up to 320, in steps, and of 65,536, and on a GPU more around 65,536: the dependent
 *                  begins after the trigger of the last block, and its last blocks, which alone wait, see the words that the primary
 *                  stored last, whatever else its launch is given; so do those of a kernel without the attribute, which does not wait.
 *                  What waits for an event at block starts, the host too, or comes after by an edge from block starts, in a graph, a
 *                  body or a loop, goes on after the last block has begun; the host is not told of a launch-completion event before
 *                  its kernel's turn (crowds_begun.h). The order and the words of grids in a row whose shapes, launches, triggers,
 *                  waits and stores are drawn (crowds_shapes.h), which also store before they wait (crowds_marks.h), use what the device
 *                  has (crowds_before.h), and keep what is their own (crowds_own.h), and what grids find
 *                  through the read-only path (crowds_lines.h), also in lines that a grid of another stream keeps reading
 *                  (crowds_bystanders.h), or what atomics of each type and width made (crowds_reduced.h)
 * cells   COMP-16  a primary and a dependent of every two shapes, launched in streams of each kind, captured, and as nodes of graphs that are launched,
 *                  changed and nested in each way (crowds_cells.h)
 * handed  MEM-10   the primary stores words, by one thread or by several that meet in barriers; one thread fences and raises a flag, or
 *                  releases by it. One thread of the dependent polls the flag and fences, or acquires; the same and after a barrier the others
 *                  read. They have read words of the same lines before, which nobody stores to. Both blocks are the only ones or stand among many.
 *                  Two blocks also hand words to each other by turns, by accesses of each width (crowds_by_turns.h)
 * within  MEM-10a  the same from one block of a grid to another, in grids of each kind, of two blocks or of many; each block's shared memory
 *                  is its own, also in the second launch of a graph (crowds_kept.h), and so is each thread's local memory (crowds_frames.h) and
 *                  each barrier of warps or of a cluster (crowds_barriers.h);
 *                  all threads of many blocks run, meet in barriers and find there what the others stored, and atomics find and change
 *                  what was stored before them (crowds_counted.h); a thread finds what it stored last, whatever the width and the kind of
 *                  its accesses (crowds_accesses.h); what atomics give back, no other thread is given (crowds_tickets.h)
 *
 * Mutants: `nowait`, nobody waits; `eager`, the last block triggers at once and the flag is raised before the words are stored.
 */
#include <stdlib.h>

#include "cleared.h"
#include "driver_launch.h"
#include "graph_ask.h"
#include "grid_barrier.h"
#include "host_room.h"
#include "start.h"
#include "stream_calls.h"

#ifdef MUTANT_nowait
#define WAITS 0
#else
#define WAITS 1
#endif

#define LAST 8u                /* blocks at the end of each grid that do something */
#define FIRST 32u              /* blocks that tell when they began: so many messages to the host take long */
#define HANDED 24u             /* words, at least */
#define MANY_HANDED 120u       /* in memory of the device */
#define HANDERS 24u            /* threads that hand them over, if there are several */
#define RELEASED 60u           /* more trials, in which words are handed over by a release and an acquire instead of fences */
#define MOST_SWEPT 330u         /* blocks */
#define TWO_BYTES 65536u       /* blocks: the first number that two bytes do not hold */
#define EACH_STORES 8u         /* of so many blocks one stores a word, if all blocks are asked about */
#define FAR_BYTES ((size_t)72 << 20)
#define PLAIN_BOUND_NS 50000u

/* Of all rows and layers. */
#ifdef PDL_MODEL
#define CROWD_BLOCK k_block()
#define CROWD_BLOCKS k_blocks()
#else
#define CROWD_BLOCK (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))
#define CROWD_BLOCKS (gridDim.x * gridDim.y * gridDim.z)
#endif

/* The last block keeps its trigger back, then waits, bounded, for the dependent, and stores last of all. In some trials, which plan.repeats
 * marks, every other one of the blocks before the last ones only exits. */
DEVICE_FN void last_block_holds(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t at = k_block() + LAST - k_blocks();

    if (k_block() + LAST < k_blocks() && k_block() % 2 && plan.repeats)
        return;
    if (k_block() + 1 == k_blocks() && !EAGER) {
        k_delay(args->state, plan.hold_ns);
        k_store64_relaxed(&args->state->held_ns, k_now());
    }
    k_trigger();
    if (args->seen && k_block() % EACH_STORES == 0)
        k_store(args->seen + k_block() / EACH_STORES, words_fresh(plan.key, k_block()));
    if (k_block() + LAST < k_blocks())
        return;
    if (k_block() + 1 == k_blocks()) {
        if (k_poll(args->state, &args->state->alive, 1, plan.bound_ns))
            k_store_relaxed(&args->state->witnessed, 1);
        k_delay(args->state, plan.hold_ns);
        if (EAGER)
            k_store64_relaxed(&args->state->held_ns, k_now());
    }
    k_store(args->data + at, words_fresh(plan.key, at));
}

KERNEL(crowds_primary) { last_block_holds(&args); }
KERNEL_OF(crowds_primary_long, struct long_args) { last_block_holds(&args.args); }

/* In the marked trials they trigger, and wait at once, or when the primary should be over; in the last of these the first blocks cache the line and
 * outlive the primary, so that others begin only then. */
DEVICE_FN void last_blocks_read(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t at = k_block() + LAST - k_blocks(), i;

    if (k_block() < FIRST)
        k_min64(&args->state->dependent_begin_ns, k_now());
    if (waits && plan.repeats == 2 && k_block() < FIRST && k_block() + LAST < k_blocks()) {
        (void)k_load(args->data + LAST - 1);
        k_delay(args->state, plan.bound_ns + 3 * plan.hold_ns);
    }
    if (k_block() + LAST < k_blocks())
        return;
    k_store(args->data + LAST + at, k_load(args->data + LAST - 1)); /* the line is cached before the wait, too */
    k_store_relaxed(&args->state->alive, 1);
    if (waits && plan.repeats)
        k_trigger();
    if (waits && plan.repeats == 1)
        k_delay(args->state, 3 * plan.hold_ns);
    if (waits)
        k_wait_device();
    k_store(args->data + LAST + at, k_load(args->data + LAST - 1));
    for (i = at; i < k_blocks() / EACH_STORES && args->seen && waits; i += FIRST * LAST)
        if (k_load(args->seen + i) != words_fresh(plan.key, i * EACH_STORES))
            k_store_relaxed(&args->state->left, 1);
}

KERNEL(crowds_dependent) { last_blocks_read(&args, WAITS); }
KERNEL_OF(crowds_dependent_long, struct long_args) { last_blocks_read(&args.args, WAITS); }
KERNEL(crowds_plain) { last_blocks_read(&args, 0); }

KERNEL(crowds_tick) { tells_tick(&args); }

/* Which block of how many gives, and which one takes: in one grid, or each in its own. */
static const struct seat {
    unsigned blocks, giver, taker;
} seats[] = { { 2, 0, 1 }, { 2, 1, 0 }, { 130, 70, 20 }, { 130, 5, 129 }, { 200, 190, 67 }, { 40, 17, 38 } };
#define SEATS (sizeof(seats) / sizeof(seats[0]))
#define SMALL_SEATS 2u

/* The thread that fences for its block, and how many barriers stand before that beside the one there has to be. */
DEVICE_FN uint32_t speaks_for_block(const struct trial_plan *plan) { return plan->repeats % 2 ? k_threads() - 1 : 0; }
DEVICE_FN uint32_t more_barriers(const struct trial_plan *plan) { return plan->repeats / 2; }

/* Of several threads every second one fences for its own words alone, which lie beside those of the others, and counts itself. */
#define EACH_SECOND 6u
DEVICE_FN uint32_t each_speaks(const struct trial_plan *plan) { return plan->repeats == EACH_SECOND && k_threads() == HANDERS; }

/* By a release or an acquire instead of a fence and a relaxed access. */
DEVICE_FN uint32_t releases(const struct trial_plan *plan) { return plan->x_ns; }

/* Four words of eight are stored to. */
DEVICE_FN uint32_t handed_at(uint32_t i) { return i / 4 * 8 + i % 4; }

DEVICE_FN void gives(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t i;

    k_trigger();
    if (EAGER)
        k_store_relaxed(&args->state->alive, HANDERS);
    k_delay(args->state, plan.hold_ns);
    for (i = k_thread(); i < plan.reads_early; i += k_threads()) {
        k_store(args->data + handed_at(i), words_fresh(plan.key, i));
        if (i % 7 == 6 && plan.hold_ns % 2000 && !each_speaks(&plan))
            k_fence(); /* not the last one, which takes what comes after it; nor in every trial: then the last one takes all */
    }
    if (each_speaks(&plan)) {
        if (k_thread() % 2 && releases(&plan)) {
            k_add_release(&args->state->alive, 1);
        } else if (k_thread() % 2) {
            k_fence();
            k_add(&args->state->alive, 1);
        }
        return;
    }
    k_barrier();
    for (i = 0; i < more_barriers(&plan); i++)
        k_barrier();
    if (k_thread() != speaks_for_block(&plan))
        return;
    if (releases(&plan)) {
        k_store_release(&args->state->alive, 1);
    } else {
        k_fence();
        k_store_relaxed(&args->state->alive, 1);
    }
}

DEVICE_FN void takes(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t i, wrong = 0, met = 0, each = each_speaks(&plan);

    if (plan.hold_ns % 3000 == 0)
        k_trigger();
    for (i = k_thread(); i < plan.reads_early; i += k_threads())
        wrong += k_load(args->data + i / 4 * 8 + 4) == 0; /* never: it is no word of the trial */
    if (k_thread() == speaks_for_block(&plan) && k_poll(args->state, &args->state->alive, each ? HANDERS / 2 : 1, plan.bound_ns)) {
        if (releases(&plan))
            (void)k_load_acquire(&args->state->alive);
        else
            k_fence();
        k_store_relaxed(&args->state->witnessed, 1);
        met = 1;
    }
    k_barrier();
    /* A block of one thread goes by what that thread saw itself: a block of another layer sets the same mark. */
    if (!met && (k_threads() == 1 || !k_load_relaxed(&args->state->witnessed)))
        return;
    for (i = k_thread(); i < plan.reads_early; i += k_threads())
        wrong += (!each || i % 2) && k_load(args->data + handed_at(i)) != words_fresh(plan.key, i);
    if (wrong)
        k_add(&args->state->early, 1);
}

KERNEL(crowds_giver)
{
    if (k_block() == k_plan(&args).withhold)
        gives(&args);
}

KERNEL(crowds_taker)
{
    if (k_block() == k_plan(&args).skip)
        takes(&args);
}

DEVICE_FN void gives_and_takes(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t block = k_block() % plan.words; /* the model counts blocks through all layers */

    if (block != plan.withhold && block != plan.skip)
        return;
    if (k_thread() == 0)
        k_add(&args->state->finished, 1);
    if (block == plan.withhold)
        gives(args);
    else
        takes(args);
}

KERNEL(crowds_both) { gives_and_takes(&args); }
KERNEL_OF(crowds_both_long, struct long_args) { gives_and_takes(&args.args); }
KERNEL(crowds_both_waited)
{
    k_wait_device();
    gives_and_takes(&args);
}

static cudaError_t launch_crowd(const void *function, const struct kernel_args *args, unsigned blocks, unsigned threads, cudaStream_t stream,
                                int attribute)
{
    cudaLaunchAttribute six = serialization(1);

    return launch_blocks(function, args, blocks, threads, stream, &six, attribute ? 1 : 0);
}

/* What launches are given beside attribute 6 or an event, which leaves their order as it is: dynamic shared memory or attributes. */
enum crowd_dress { DRESS_NONE, DRESS_SHARED, DRESS_CLUSTERS, DRESS_URGENT, DRESS_DOMAIN, DRESS_GROUPED, CROWD_DRESSES };
#define GROUPED_BLOCKS 12u     /* of a cooperative grid in clusters: so many fit anywhere */

static size_t dress_bytes(unsigned dress) { return dress == DRESS_SHARED ? 4096 : 0; }

static unsigned dress_crowd(unsigned dress, int greatest, cudaLaunchAttribute *attributes)
{
    switch (dress) {
    case DRESS_CLUSTERS: *attributes = in_clusters(2); return 1;
    case DRESS_URGENT: *attributes = of_priority(greatest); return 1;
    case DRESS_DOMAIN: *attributes = in_remote_domain(); return 1;
    case DRESS_GROUPED: attributes[0] = in_clusters(2); attributes[1] = cooperatively(); return 2;
    default: return 0;
    }
}

struct crowd {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaStream_t stream;       /* of a pair */
    cudaStream_t urgent;       /* for launches whose events others wait for */
    double tick_ns;
    uint32_t *words[3];        /* to hand over: in pinned memory, in the device's, far away there */
    int greatest;              /* priority */
    unsigned dress;            /* of the dependent */
    cudaEvent_t event;         /* that it records; NULL: none */
    cudaEvent_t primary_event; /* that its primary records, by turns once all blocks have begun and once they have triggered */
    unsigned hint;             /* that it is given where it is offered: the nth, from 1 on */
    unsigned primary_hint;     /* the same of the primary */
    unsigned stale, early, witnessed, trials, passed; /* passed: plain kernels that did not come after the one before */
    unsigned lost;             /* words of blocks that had left */
    unsigned missed;           /* trials in which a flag was not raised, or not as often as it should be */
};

static cudaError_t open_crowd(struct crowd *crowd, struct ask *ask)
{
    cudaError_t error = open_room(&crowd->room, &crowd->args) ? cudaSuccess : cudaErrorMemoryAllocation;
    int least = 0;

    crowd->ask = ask;
    crowd->stream = ask->stream;
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &crowd->greatest);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(crowds_tick), &crowd->args, 1, ask->stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    if (error == cudaSuccess)
        crowd->tick_ns = (double)crowd->room->state.target_ns;
    return error;
}

/* Memory for words that blocks hand over; no word there is 0. */
static cudaError_t open_words(struct crowd *crowd)
{
    cudaError_t error = cudaMalloc((void **)&crowd->words[1], FAR_BYTES + 4096);

    if (error != cudaSuccess)
        return error;
    crowd->words[0] = crowd->args.data;
    crowd->words[2] = crowd->words[1] + FAR_BYTES / sizeof(uint32_t);
    error = cudaMemset(crowd->words[1], 0xEE, 4096);
    if (error == cudaSuccess)
        error = cudaMemset(crowd->words[2], 0xEE, 4096);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The plan names the blocks that give and take, and how many words; its `repeats` which threads speak for them, `x_ns` by what. */
static void prepare_seat(struct crowd *crowd, const struct seat *seat, unsigned trial, int released)
{
    prepare_trial(crowd->room, trial);
    crowd->args.data = crowd->words[(trial + trial / 18) % 3];
    crowd->room->plan.words = seat->blocks;
    crowd->room->plan.withhold = seat->giver;
    crowd->room->plan.skip = seat->taker;
    crowd->room->plan.x_ns = released ? 1 : 0;
    crowd->room->plan.repeats = trial / 4 % (EACH_SECOND + 1);
    crowd->room->plan.reads_early = crowd->args.data == crowd->words[0] ? HANDED : MANY_HANDED;
}

/* Some attributes are spare, the last one then: it is left out where the device does not offer such a launch. */
static cudaError_t launch_spare(cudaLaunchConfig_t *config, const void *function, void **params, int spare)
{
    cudaError_t error = cudaLaunchKernelExC(config, function, params);

    if (!spare || !is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    config->numAttrs--;
    return cudaLaunchKernelExC(config, function, params);
}

/* With the nth hint, from 1 on, behind these attributes; 0: none. Of long arguments most kernels take the first ones only. */
static cudaError_t launch_hinted(const void *function, const struct kernel_args *args, unsigned blocks, unsigned threads, size_t shared_bytes,
                                 cudaStream_t stream, cudaLaunchAttribute *attributes, unsigned count, unsigned hint)
{
    cudaLaunchConfig_t config;
    struct long_args copy = PDL_ZERO;
    void *params[1];

    params[0] = &copy;
    copy.args = *args;
    if (hint)
        attributes[count++] = nth_hint(hint - 1);
    config = sized_config(blocks, threads, shared_bytes, stream, attributes, count);
    return launch_spare(&config, function, params, hint != 0);
}

static cudaError_t launch_dependent(const struct crowd *crowd, const void *dependent, unsigned blocks, unsigned threads)
{
    cudaLaunchAttribute attributes[4] = { serialization(1), serialization(1), serialization(1), serialization(1) };
    unsigned count = 1 + dress_crowd(crowd->dress, crowd->greatest, attributes + 1);

    if (crowd->event)
        attributes[count++] = recording(crowd->event);
    return launch_hinted(dependent, &crowd->args, blocks, threads, dress_bytes(crowd->dress), crowd->stream, attributes, count, crowd->hint);
}

/* Some primaries have attribute 6 or a priority, too. */
static cudaError_t launch_primary(const struct crowd *crowd, const void *primary, unsigned blocks, unsigned threads)
{
    cudaLaunchAttribute both[4] = { serialization(1), of_priority(crowd->greatest) }; /* and room for an event and a hint */
    unsigned given = crowd->trials / 2 % 4, count = (given + 1) / 2;
    cudaLaunchAttribute *attributes = given == 2 ? both + 1 : both;

    if (crowd->primary_event)
        attributes[count++] = crowd->trials % 2 ? recording_begin(crowd->primary_event) : recording(crowd->primary_event);
    return launch_hinted(primary, &crowd->args, blocks, threads, 0, crowd->stream, attributes, count, crowd->primary_hint);
}

/* Primary and dependent, of so many blocks and threads each; the trial's plan is prepared. */
static cudaError_t run_pair(struct crowd *crowd, const void *primary, const void *dependent, unsigned blocks, unsigned threads)
{
    cudaStream_t stream = crowd->stream;
    cudaError_t error = launch_primary(crowd, primary, blocks, threads);

    if (error == cudaSuccess)
        error = launch_dependent(crowd, dependent, blocks, threads);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    crowd->trials += error == cudaSuccess;
    crowd->witnessed += error == cudaSuccess && crowd->room->state.witnessed;
    return error;
}

/* ---- blocks ---- */

static unsigned last_are_stale(const struct host_room *room)
{
    volatile const uint32_t *seen = room->data + LAST;
    unsigned i;

    for (i = 0; i < LAST; i++)
        if (seen[i] != words_fresh(room->plan.key, LAST - 1))
            return 1;
    return 0;
}

/* Time for so many blocks to come and go, of which a GPU begins one in less than 28 ns, and for the launch of the next grid. */
static uint32_t crowd_bound_ns(unsigned blocks) { return 200000 + 30 * blocks; }

static void prepare_crowd(struct crowd *crowd, unsigned blocks)
{
    struct host_room *room = crowd->room;

    prepare_trial(room, crowd->trials);
    room->plan.hold_ns = 10000 + 4 * (uint32_t)crowd->tick_ns;
    room->plan.bound_ns = crowd_bound_ns(blocks);
    room->plan.repeats = crowd->trials % 3;
    room->state.dependent_begin_ns = UINT64_MAX;
}

/* Whether the dependent's last blocks read other words, and whether it began before the primary's last block triggered. */
static void look_at_crowd(struct crowd *crowd)
{
    const struct host_room *room = crowd->room;

    crowd->stale += last_are_stale(room);
    crowd->early += (double)room->state.dependent_begin_ns + 1000.0 + 2.0 * crowd->tick_ns < (double)room->state.held_ns;
}

static cudaError_t run_crowd(struct crowd *crowd, unsigned blocks)
{
    cudaError_t error;

    prepare_crowd(crowd, blocks);
    error = run_pair(crowd, (const void *)SYMBOL(crowds_primary), (const void *)SYMBOL(crowds_dependent), blocks, 1);
    if (error == cudaSuccess)
        look_at_crowd(crowd);
    return error;
}

/* Many of so many blocks store a word each and leave: all words are there for the dependent and for a copy. */
static cudaError_t run_two_bytes(struct crowd *crowd)
{
    unsigned words = TWO_BYTES / EACH_STORES, i;
    uint32_t *found = (uint32_t *)malloc(words * sizeof(*found));
    cudaError_t error = found ? cudaMalloc((void **)&crowd->args.seen, words * sizeof(*found)) : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = run_crowd(crowd, TWO_BYTES);
    if (error == cudaSuccess)
        error = cudaMemcpy(found, crowd->args.seen, words * sizeof(*found), cudaMemcpyDeviceToHost);
    for (i = 0; i < words && error == cudaSuccess; i++)
        crowd->lost += found[i] != words_fresh(crowd->room->plan.key, i * EACH_STORES);
    crowd->lost += crowd->room->state.left;
    (void)cudaFree(crowd->args.seen);
    crowd->args.seen = NULL;
    free(found);
    return error;
}

/* The same of dependents whose launch is given more; they, or their primaries, may record an event or are given a hint. Nobody asks whether
 * these overlapped. */
static void ask_dressed(struct crowd *crowd)
{
    static const unsigned sizes[] = { 66, 130, 258, 300 };
    unsigned i, trials = 15 * (DRESS_GROUPED - DRESS_SHARED);
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++) {
        crowd->dress = DRESS_SHARED + i % (DRESS_GROUPED - DRESS_SHARED);
        crowd->event = i / 4 % 3 == 1 ? event : NULL;
        crowd->primary_event = i / 4 % 3 == 2 ? event : NULL;
        crowd->hint = crowd->dress == DRESS_SHARED ? i / 4 % (1 + HINT_KINDS) : 0;
        crowd->primary_hint = crowd->dress == DRESS_SHARED ? 0 : (2 * i + i / 4) % (1 + HINT_KINDS);
        error = run_crowd(crowd, sizes[i / 4 % 4]);
    }
    crowd->dress = DRESS_NONE;
    crowd->event = crowd->primary_event = NULL;
    crowd->hint = crowd->primary_hint = 0;
    if (event)
        (void)cudaEventDestroy(event);
    ask_expect(crowd->ask, "dependents of many blocks that are given more", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents given more that began before the last block had triggered", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale in the last blocks of dependents given more", crowd->stale, trials);
}

/* Without the attribute, and without a wait. Nobody is to come while the primary's last block watches. */
static cudaError_t run_plain_crowd(struct crowd *crowd, unsigned blocks, unsigned trial)
{
    struct host_room *room = crowd->room;
    cudaStream_t stream = crowd->ask->stream;
    cudaError_t error;

    prepare_trial(room, trial);
    room->plan.bound_ns = PLAIN_BOUND_NS;
    error = launch_crowd((const void *)SYMBOL(crowds_primary), &crowd->args, blocks, 1, stream, 0);
    if (error == cudaSuccess)
        error = launch_crowd((const void *)SYMBOL(crowds_plain), &crowd->args, blocks, 1, stream, 0);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    crowd->passed += error == cudaSuccess && (room->state.witnessed || last_are_stale(room));
    return error;
}

#include "crowds_beside.h"
#include "crowds_begun.h"
#include "crowds_events.h"
#include "crowds_shapes.h"
#include "crowds_bystanders.h"
#include "crowds_by_turns.h"
#include "crowds_reduced.h"

static void ask_blocks(struct ask *ask)
{
    static const unsigned sizes[] = { 255, 256, 257, 300, 513,
#ifndef PDL_MODEL /* which has no time for more than one pair of grids of so many blocks */
                                      1025, 65535, TWO_BYTES, 65537, 70000
#endif
    };
    static void (*const more[])(struct crowd *crowd) = { ask_dressed, ask_begun, ask_crowd_events, ask_shapes, ask_bystanders, ask_reduced };
    unsigned count = sizeof(sizes) / sizeof(sizes[0]), i, plain;
    struct crowd crowd = PDL_ZERO;
    cudaError_t error = open_crowd(&crowd, ask);

    for (i = 0; ask_goes_on(ask, i, 4 * count) && error == cudaSuccess; i++)
        error = run_crowd(&crowd, sizes[i % count]);
    if (error == cudaSuccess)
        error = run_two_bytes(&crowd);
    for (i = LAST + (unsigned)(ask->seed % LAST); i < MOST_SWEPT && error == cudaSuccess; i += LAST)
        error = run_crowd(&crowd, i); /* each block up to there is one of the last ones once */
    for (plain = 0; plain < 2 * count && error == cudaSuccess; plain++)
        error = run_plain_crowd(&crowd, sizes[plain % count], plain);
    ask_expect(ask, "grids of many blocks", error, cudaSuccess);
    if (error == cudaSuccess && crowd.witnessed < crowd.trials / 2)
        ask_skip(ask, "grids of many blocks", "the two kernels hardly overlapped");
    ask_expect_none(ask, "dependents that began before the last block had triggered", crowd.early, crowd.trials);
    ask_expect_none(ask, "stale in a dependent's last blocks", crowd.stale, crowd.trials);
    ask_expect_number(ask, "words that were not there of one of very many blocks", (long)crowd.lost, 0);
    ask_expect_number(ask, "kernels without the attribute that did not come after the one before", (long)crowd.passed, 0);
    for (i = 0; i < sizeof(more) / sizeof(more[0]) && error == cudaSuccess && ask->kills < ASK_WRONG_ENOUGH; i++)
        more[i](&crowd);
    (void)cudaFreeHost(crowd.room);
}

/* ---- handed ---- */

/* Once the work has ended, whether or not the two blocks met: whether the flag is another one than it was raised to. */
static unsigned is_raised_wrongly(const struct crowd *crowd, unsigned threads)
{
    uint32_t each = crowd->room->plan.repeats == EACH_SECOND && threads == HANDERS;

    return !EAGER && crowd->room->state.alive != (each ? HANDERS / 2 : 1);
}

static cudaError_t run_handed(struct crowd *crowd)
{
    const struct seat *seat = &seats[crowd->trials / 3 % SEATS];
    unsigned threads = crowd->trials % 3 ? HANDERS : 1;
    cudaError_t error;

    prepare_seat(crowd, seat, crowd->trials, crowd->trials >= ASK_TRIALS);
    crowd->primary_hint = crowd->trials % 2 ? 1 + crowd->trials / 2 % 2 : 0; /* no map: a fence does not reach another memory-sync domain */
    crowd->stream = crowd->trials / 5 % 4 == 3 ? cudaStreamLegacy : crowd->ask->stream;
    error = run_pair(crowd, (const void *)SYMBOL(crowds_giver), (const void *)SYMBOL(crowds_taker), seat->blocks, threads);
    crowd->stale += error == cudaSuccess && crowd->room->state.early != 0;
    crowd->missed += error == cudaSuccess && is_raised_wrongly(crowd, threads);
    return error;
}

static void ask_handed(struct ask *ask)
{
    struct crowd crowd = PDL_ZERO;
    cudaError_t error = open_crowd(&crowd, ask);
    unsigned i;

    if (error == cudaSuccess)
        error = open_words(&crowd);
    for (i = 0; ask_goes_on(ask, i, ASK_TRIALS + RELEASED) && error == cudaSuccess; i++)
        error = run_handed(&crowd);
    ask_expect(ask, "words that are handed over", error, cudaSuccess);
    if (error == cudaSuccess && crowd.witnessed < ASK_TRIALS / 2)
        ask_skip(ask, "words that are handed over", "the two kernels hardly overlapped");
    ask_expect_none(ask, "trials in which words were missing after the flag", crowd.stale, crowd.trials);
    ask_expect_none(ask, "trials that left another flag than was raised", crowd.missed, crowd.trials);
    if (error == cudaSuccess)
        ask_turns(&crowd);
    (void)cudaFree(crowd.words[1]);
    (void)cudaFreeHost(crowd.room);
}

#include "crowds_within.h"

#include "crowds_cells.h"

static const struct pair crowds_pairs[] = {
    PAIR_ASK("blocks", ask_blocks),
    PAIR_ASK("handed", ask_handed),
    PAIR_ASK("within", ask_within),
    PAIR_ASK("cells", ask_cells),
};
IMAGE(crowds, crowds_pairs)
