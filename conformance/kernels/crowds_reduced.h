/* crowds_reduced.h - what crowds.cu asks of atomics that give nothing back, and of others of each type and width (crowds_reductions.h): many threads
 * of a primary change the same cells late, and a dependent that has read them before finds all of it after its wait; so does a copy. */
#ifndef CROWDS_REDUCED_H_INCLUDED
#define CROWDS_REDUCED_H_INCLUDED

#include "crowds_reductions.h"

#define REDUCED_CELLS 16u
#define REDUCED_WORDS (REDUCED_CELLS * REDUCED_CELL)
#define REDUCED_BLOCKS 8u
#define REDUCED_THREADS 32u
#define REDUCED_HITS (REDUCED_BLOCKS * REDUCED_THREADS / REDUCED_CELLS) /* threads that change one cell */

/* plan.repeats: the kind. All of the blocks change all cells. */
KERNEL(crowds_reduces)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t thread = k_block() * k_threads() + k_thread(), cell = thread % REDUCED_CELLS, nth = thread / REDUCED_CELLS;
    uint32_t by[REDUCED_CELL], expected[REDUCED_CELL];

    k_trigger();
    reduced_by(plan.repeats, plan.key, cell, nth, by);
    reduced_expects(plan.repeats, plan.key, cell, nth, expected);
    if (k_thread() == 0) {
        if (k_poll(args.state, &args.state->alive, 1, plan.bound_ns))
            k_store_relaxed(&args.state->witnessed, 1);
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_reduce(plan.repeats, args.data + cell * REDUCED_CELL, by, expected);
}

/* Each block has a copy of its own. */
KERNEL(crowds_finds_reduced)
{
    uint32_t *seen = args.seen + k_block() * REDUCED_WORDS, i;

    for (i = k_thread(); i < REDUCED_WORDS; i += k_threads())
        k_store(seen + i, k_load(args.data + i));
    k_store_relaxed(&args.state->alive, 1);
    if (WAITS)
        k_wait_device();
    for (i = k_thread(); i < REDUCED_WORDS; i += k_threads())
        k_store(seen + i, k_load(args.data + i));
}

struct reduced_room {          /* of the host: the cells as they are at first, and as they are to be; then the device's, as a copy found them, and the
                                  dependent's blocks */
    uint32_t first[REDUCED_WORDS], want[REDUCED_WORDS], found[1 + REDUCED_BLOCKS][REDUCED_WORDS];
};

enum { REDUCED_FLOATS, REDUCED_SEVERAL, REDUCED_INTEGERS, REDUCED_BITS, REDUCED_EXCHANGES, REDUCED_GROUPS };
static const char *const reduced_group[REDUCED_GROUPS] = { "floating-point values", "several floating-point values at once", "integers",
                                                           "bits, and counts up to a bound", "exchanges and comparisons" };

static unsigned group_of(uint32_t kind)
{
    return kind < RED_TWO_F32 ? REDUCED_FLOATS : kind < RED_ADD64 ? REDUCED_SEVERAL : kind < RED_AND ? REDUCED_INTEGERS
         : kind < RED_EXCHANGED64 ? REDUCED_BITS : REDUCED_EXCHANGES;
}

static void expect_reduced(struct reduced_room *room, uint32_t kind, uint64_t key)
{
    uint32_t by[REDUCED_CELL], expected[REDUCED_CELL], cell, nth;

    for (cell = 0; cell < REDUCED_CELLS; cell++) {
        reduced_at_first(kind, key, cell, room->first + cell * REDUCED_CELL);
        memcpy(room->want + cell * REDUCED_CELL, room->first + cell * REDUCED_CELL, sizeof(by));
        for (nth = 0; nth < REDUCED_HITS; nth++) {
            reduced_by(kind, key, cell, nth, by);
            reduced_expects(kind, key, cell, nth, expected);
            combine(kind, room->want + cell * REDUCED_CELL, by, expected);
        }
    }
}

static cudaError_t run_reduced(struct crowd *crowd, struct reduced_room *room, uint32_t kind, unsigned trial, unsigned *wrong)
{
    cudaStream_t stream = crowd->stream;
    unsigned i;
    cudaError_t error;

    prepare_trial(crowd->room, trial);
    crowd->room->plan.key ^= crowd->ask->seed;
    crowd->room->plan.repeats = kind;
    crowd->dress = (trial + trial / REDUCTIONS) % DRESS_GROUPED;
    expect_reduced(room, kind, crowd->room->plan.key);
    error = cudaMemcpyAsync(crowd->args.data, room->first, sizeof(room->first), cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream); /* some primaries have the attribute, and none waits */
    if (error == cudaSuccess)
        error = run_pair(crowd, (const void *)SYMBOL(crowds_reduces), (const void *)SYMBOL(crowds_finds_reduced), REDUCED_BLOCKS, REDUCED_THREADS);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(room->found, crowd->args.data, sizeof(room->found), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    for (i = 0; i < 1 + REDUCED_BLOCKS && error == cudaSuccess; i++)
        *wrong += memcmp(room->found[i], room->want, sizeof(room->want)) != 0;
    return error;
}

static void ask_reduced(struct crowd *of)
{
    struct crowd crowd = *of;
    struct reduced_room *room = NULL;
    unsigned trial = 0, wrong[REDUCED_GROUPS] = { 0 }, group;
    char text[112];
    cudaError_t error = cudaMallocHost((void **)&room, sizeof(*room));

    crowd.args.data = NULL;
    crowd.event = crowd.primary_event = NULL;
    crowd.hint = crowd.primary_hint = crowd.witnessed = crowd.trials = 0;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&crowd.args.data, sizeof(room->found));
    crowd.args.seen = crowd.args.data + REDUCED_WORDS;
    for (; ask_goes_on(crowd.ask, trial, REDUCTIONS) && error == cudaSuccess; trial++)
        error = run_reduced(&crowd, room, trial % REDUCTIONS, trial, &wrong[group_of(trial % REDUCTIONS)]);
    ask_expect(crowd.ask, "grids whose threads change the same words by atomics", error, cudaSuccess);
    if (error == cudaSuccess && crowd.witnessed < crowd.trials / 2)
        ask_skip(crowd.ask, "grids whose threads change the same words by atomics", "the two kernels hardly overlapped");
    for (group = 0; group < REDUCED_GROUPS; group++) {
        snprintf(text, sizeof(text), "blocks or copies that did not find what atomics made: %s", reduced_group[group]);
        ask_expect_none(crowd.ask, text, wrong[group], trial);
    }
    (void)cudaFree(crowd.args.data);
    (void)cudaFreeHost(room);
}

#endif
