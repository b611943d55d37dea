/* cooperative.cu - cooperative grids beside each other: each has all its blocks on the device at once.
 *
 * pair     rules     what is launched
 * at_once  COMP-02c  two cooperative grids in each of two streams, the second with the attribute; each fills the device, or more than half of
 *                    it. Every block waits, for a bounded time, until all blocks of its grid have begun.
 *
 * Mutant `crowded`: a plain kernel of one block more than fit. Its first blocks wait in vain.
 */
#include "cleared.h"
#include "host_room.h"

#define GRIDS 4u               /* of a round, one after the other in two streams */
#define GRID_THREADS 32u

#ifdef MUTANT_crowded
#define CROWDED 1
#define GRIDS_MADE 1u
#define ROUNDS 4u              /* each waits in vain for the whole time */
#define MEETING_BOUND_NS 20000000u
#else
#define CROWDED 0
#define GRIDS_MADE GRIDS
#define ROUNDS (unsigned)ask->trials
#define MEETING_BOUND_NS 4000000000u /* others may be using the GPU; a grid that waits in vain is the last one */
#endif

/* In trial_state `began` counts blocks, and `early` those that did not see all blocks of their grid begin. */
KERNEL(cooperative_meeting)
{
    if (k_thread() == 0) {
        k_trigger();
        k_add(&args.state->began, 1);
        if (!k_poll(args.state, &args.state->began, k_blocks(), MEETING_BOUND_NS))
            k_add(&args.state->early, 1);
        k_add(&args.state->finished, 1);
    }
}

struct meeting {
    struct kernel_args args;   /* of the first grid; `state` is an array, one for each grid */
    unsigned most;             /* blocks that are on the device at once */
    cudaStream_t stream[2];
    unsigned blocks, alone, missing; /* of all rounds: launched, without all the others of their grid, never run */
};

static cudaError_t open_meeting(struct meeting *m, const struct ask *ask)
{
    int device, processors = 0, fit = 0;
    cudaError_t error = cudaGetDevice(&device);

    m->stream[0] = ask->stream;
    m->stream[1] = ask->side;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&m->args.state, GRIDS * sizeof(struct trial_state));
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)SYMBOL(cooperative_meeting), GRID_THREADS, 0);
    m->most = (unsigned)(processors * fit);
    return error;
}

static cudaError_t launch_grid(const struct meeting *m, unsigned grid, unsigned blocks)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaLaunchConfig_t config = PDL_ZERO;
    struct kernel_args args = m->args;
    void *params[1];

    params[0] = &args;
    args.state += grid;
    config.gridDim.x = blocks;
    config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
    config.blockDim.x = GRID_THREADS;
    config.stream = m->stream[grid % 2];
    config.attrs = attrs;
    if (!CROWDED)
        attrs[config.numAttrs++] = cooperatively();
    if (grid >= 2)
        attrs[config.numAttrs++] = serialization(1);
    return cudaLaunchKernelExC(&config, (const void *)SYMBOL(cooperative_meeting), params);
}

/* All blocks, or more than half of them: two such grids do not fit beside each other. */
static cudaError_t run_round(struct meeting *m, unsigned round)
{
    struct trial_state state[GRIDS];
    unsigned blocks[GRIDS], grid;
    cudaError_t error = clear_memory(m->args.state, sizeof(state));

    for (grid = 0; grid < GRIDS_MADE && error == cudaSuccess; grid++) {
        blocks[grid] = CROWDED ? m->most + 1 : round >> grid & 1 ? m->most / 2 + 1 : m->most;
        error = launch_grid(m, grid, blocks[grid]);
    }
    for (grid = 0; grid < 2 && error == cudaSuccess; grid++)
        error = cudaStreamSynchronize(m->stream[grid]);
    if (error == cudaSuccess)
        error = cudaMemcpy(state, m->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    for (grid = 0; grid < GRIDS_MADE && error == cudaSuccess; grid++) {
        m->blocks += blocks[grid];
        m->alone += state[grid].early;
        m->missing += blocks[grid] - state[grid].finished;
    }
    return error;
}

static void ask_at_once(struct ask *ask)
{
    struct meeting m = PDL_ZERO;
    cudaError_t error = open_meeting(&m, ask);
    unsigned round;

    for (round = 0; ask_goes_on(ask, round, ROUNDS) && error == cudaSuccess && (CROWDED || !m.alone); round++)
        error = run_round(&m, round);
    ask_expect(ask, "cooperative grids in two streams", error, cudaSuccess);
    ask_expect_none(ask, "blocks that waited in vain for the others of their grid", m.alone, m.blocks);
    ask_expect_none(ask, "blocks that did not run", m.missing, m.blocks);
    (void)cudaFree(m.args.state);
}

static const struct pair cooperative_pairs[] = { PAIR_ASK("at_once", ask_at_once) };
IMAGE(cooperative, cooperative_pairs)
