/* crowds_reduced.h - what crowds.cu asks of atomics that give nothing back, and of others of each type and width (crowds_reductions.h):
 * many threads of a primary change the same cells late, and a dependent that has read them before finds all of it after its wait; so does a
 * copy. Some of the cells both grids change, the dependent before its wait. Some threads also store a cell of their own, change it, and
 * find it so. */
#ifndef CROWDS_REDUCED_H_INCLUDED
#define CROWDS_REDUCED_H_INCLUDED

#include "crowds_reductions.h"

#define REDUCED_CELLS 16u
#define REDUCED_WORDS (REDUCED_CELLS * REDUCED_CELL)
#define REDUCED_COMMON 8u      /* cells after these both grids change */
#define REDUCED_BLOCKS 8u      /* that look, of the dependent */
#define REDUCED_THREADS 256u   /* of all blocks of a grid */
#define REDUCED_HITS (REDUCED_THREADS / REDUCED_CELLS) /* threads of a grid that change one cell */
#define REDUCED_OWNERS 64u     /* threads with a cell of their own */
#define REDUCED_FINDS 2u       /* times that they look at it, by loads of each width */

/* In what order threads exchange and compare is not known: those have all cells for one grid. */
WORDS_FN uint32_t is_in_common(uint32_t kind, uint32_t cell) { return kind < RED_EXCHANGED64 && cell >= REDUCED_COMMON; }

DEVICE_FN void reduces(const struct trial_plan *plan, uint32_t *cells, uint32_t cell, uint32_t nth)
{
    uint32_t by[REDUCED_CELL], expected[REDUCED_CELL];

    reduced_by(plan->repeats, plan->key, cell, nth, by);
    reduced_expects(plan->repeats, plan->key, cell, nth, expected);
    k_reduce(plan->repeats, cells + cell * REDUCED_CELL, by, expected);
}

/* Stores the thread's cell, of which the line is cached, changes it and keeps what it finds then; own: of all these threads the cells, and
 * then what they found. */
DEVICE_FN void reduces_own(const struct trial_plan *plan, uint32_t *own, uint32_t owner)
{
    uint32_t *cell = own + owner * REDUCED_CELL, *finds = own + (REDUCED_OWNERS + REDUCED_FINDS * owner) * REDUCED_CELL;
    uint32_t first[REDUCED_CELL], j;

    reduced_at_first(plan->repeats, plan->key, owner, first);
    (void)k_load(cell);
    for (j = 0; j < REDUCED_CELL; j++)
        k_store(cell + j, first[j]);
    (void)k_load(cell);
    reduces(plan, own, owner, owner % 2);
    for (j = 0; j < REDUCED_CELL; j++)
        k_store(finds + j, k_load(cell + j));
    k_load4(cell, first);
    k_store4(finds + REDUCED_CELL, first);
}

/* plan.repeats: the kind; args.input: of the threads with cells of their own. All of the blocks change all cells, half of the threads
 * early. */
KERNEL(crowds_reduces)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t thread = k_block() * k_threads() + k_thread(), cell = thread % REDUCED_CELLS, nth = thread / REDUCED_CELLS;

    k_trigger();
    if (is_in_common(plan.repeats, cell) && nth % 2)
        reduces(&plan, args.data, cell, nth);
    if (thread < REDUCED_OWNERS)
        reduces_own(&plan, args.input, thread);
    if (k_thread() == 0) {
        if (k_poll(args.state, &args.state->alive, 1, plan.bound_ns))
            k_store_relaxed(&args.state->witnessed, 1);
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    if (!is_in_common(plan.repeats, cell) || nth % 2 == 0)
        reduces(&plan, args.data, cell, nth);
}

/* Each of the first blocks has a copy of its own. All blocks change the common cells before their wait. */
KERNEL(crowds_finds_reduced)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t thread = k_block() * k_threads() + k_thread(), cell = thread % REDUCED_CELLS, *seen = args.seen + k_block() * REDUCED_WORDS, i;

    for (i = k_thread(); i < REDUCED_WORDS && k_block() < REDUCED_BLOCKS; i += k_threads())
        k_store(seen + i, k_load(args.data + i));
    if (is_in_common(plan.repeats, cell))
        reduces(&plan, args.data, cell, REDUCED_HITS + thread / REDUCED_CELLS);
    k_store_relaxed(&args.state->alive, 1);
    if (k_block() >= REDUCED_BLOCKS)
        return;
    if (WAITS)
        k_wait_device();
    for (i = k_thread(); i < REDUCED_WORDS; i += k_threads())
        k_store(seen + i, k_load(args.data + i));
}

struct reduced_room {          /* of the host: the cells as they are at first, and as they are to be; then the device's, as a copy found them, and the
                                  dependent's blocks */
    uint32_t first[REDUCED_WORDS], want[REDUCED_WORDS], found[1 + REDUCED_BLOCKS][REDUCED_WORDS];
    uint32_t own[REDUCED_OWNERS][REDUCED_CELL]; /* of some threads, in the same memory */
    uint32_t finds[REDUCED_OWNERS][REDUCED_FINDS][REDUCED_CELL]; /* what they found there */
};
#define REDUCED_FOUND (sizeof(struct reduced_room) - offsetof(struct reduced_room, found))

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
        for (nth = 0; nth < (is_in_common(kind, cell) ? 2 : 1) * REDUCED_HITS; nth++) {
            reduced_by(kind, key, cell, nth, by);
            reduced_expects(kind, key, cell, nth, expected);
            combine(kind, room->want + cell * REDUCED_CELL, by, expected);
        }
    }
}

/* The copy has all words, the dependent's blocks those that it does not change, and the threads what they made of their own. */
static unsigned reduced_is_wrong(const struct reduced_room *room, uint32_t kind, uint64_t key)
{
    unsigned wrong = memcmp(room->found[0], room->want, sizeof(room->want)) != 0, i, j;
    size_t bytes = kind < RED_EXCHANGED64 ? REDUCED_COMMON * REDUCED_CELL * sizeof(uint32_t) : sizeof(room->want);

    for (i = 1; i < 1 + REDUCED_BLOCKS; i++)
        wrong += memcmp(room->found[i], room->want, bytes) != 0;
    for (i = 0; i < REDUCED_OWNERS; i++) {
        uint32_t want[REDUCED_CELL], by[REDUCED_CELL], expected[REDUCED_CELL];

        reduced_at_first(kind, key, i, want);
        reduced_by(kind, key, i, i % 2, by);
        reduced_expects(kind, key, i, i % 2, expected);
        combine(kind, want, by, expected);
        wrong += memcmp(room->own[i], want, sizeof(want)) != 0;
        for (j = 0; j < REDUCED_FINDS; j++)
            wrong += memcmp(room->finds[i][j], want, sizeof(want)) != 0;
    }
    return wrong;
}

static cudaError_t run_reduced(struct crowd *crowd, struct reduced_room *room, uint32_t kind, unsigned trial, unsigned *wrong)
{
    cudaStream_t stream = crowd->stream;
    unsigned threads = trial % 2 ? 8 : 32; /* of a block */
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
        error = run_pair(crowd, (const void *)SYMBOL(crowds_reduces), (const void *)SYMBOL(crowds_finds_reduced), REDUCED_THREADS / threads,
                         threads);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(room->found, crowd->args.data, REDUCED_FOUND, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        *wrong += reduced_is_wrong(room, kind, crowd->room->plan.key);
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
        error = cudaMalloc((void **)&crowd.args.data, REDUCED_FOUND);
    crowd.args.seen = crowd.args.data + REDUCED_WORDS;
    crowd.args.input = crowd.args.data + (1 + REDUCED_BLOCKS) * REDUCED_WORDS;
    for (; ask_goes_on(crowd.ask, trial, REDUCTIONS) && error == cudaSuccess; trial++)
        error = run_reduced(&crowd, room, trial % REDUCTIONS, trial, &wrong[group_of(trial % REDUCTIONS)]);
    ask_expect(crowd.ask, "grids whose threads change the same words by atomics", error, cudaSuccess);
    if (error == cudaSuccess && crowd.witnessed < crowd.trials / 2)
        ask_skip(crowd.ask, "grids whose threads change the same words by atomics", "the two kernels hardly overlapped");
    for (group = 0; group < REDUCED_GROUPS; group++) {
        snprintf(text, sizeof(text), "blocks, threads or copies that did not find what atomics made: %s", reduced_group[group]);
        ask_expect_none(crowd.ask, text, wrong[group], trial);
    }
    (void)cudaFree(crowd.args.data);
    (void)cudaFreeHost(room);
}

#endif
