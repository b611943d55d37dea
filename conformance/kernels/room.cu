/* room.cu - which mix of launches overlaps: each resource driven to its limit on either side (FWD-06). GPU only.
 *
 * pair  rules    what is asked
 * mixes FWD-06a  of each mix below: in how many of MIX_TRIALS the dependent began while the primary was held, and what
 *                pdl_overlap_estimate had said. Counted, never asserted: overlap is nobody's promise
 */
#include "cleared.h"
#include "gpu_only.h"

#ifdef PDL_MODEL
IMAGE_WITHOUT_PAIRS(room)
#else
#include <stdio.h>

#define MIX_TRIALS 20u
#define MIX_BOUND_NS 40000u
#define HEAVY_WORDS 150u     /* live in registers across a barrier */
#define HEAVY_THREADS 384u

/* ---- kernels: a primary has args.input. It overlapped if a block of it saw the dependent before any block gave up: places
 * that its own blocks left are no room beside it. Of a primary of several waves (args.primary_sm is set) the last one counts. ---- */

DEVICE_FN void meets(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    if (k_thread() != 0)
        return;
    if (!args->input) {
        k_store_relaxed(&args->state->alive, 1);
        return;
    }
    k_trigger();
    if (!k_poll(args->state, &args->state->alive, 1, plan.bound_ns)) {
        k_add(&args->state->done, 1);
        k_fence();
    } else if (args->primary_sm || k_load_relaxed(&args->state->done) == 0) {
        k_add(&args->state->witnessed, 1);
    }
}

KERNEL(room_light)
{
    meets(&args);
    k_barrier();
}

extern "C" __global__ void __launch_bounds__(HEAVY_THREADS, 1) SYMBOL(room_heavy)(struct kernel_args args)
{
    uint32_t word[HEAVY_WORDS], all = 0, i;

#pragma unroll
    for (i = 0; i < HEAVY_WORDS; i++)
        word[i] = k_load(args.data + i);
    meets(&args);
    k_barrier();
#pragma unroll
    for (i = 0; i < HEAVY_WORDS; i++)
        asm volatile("xor.b32 %0, %0, %1;" : "+r"(all) : "r"(word[i])); /* keeps the registers full until here */
    if (all == 0x5EED5EEDu)
        k_store(args.seen, all);
}

KERNEL(room_static)
{
    __shared__ uint32_t room[1024];

    ((volatile uint32_t *)room)[k_thread() % 1024] = 0;
    meets(&args);
    k_barrier();
    if (((volatile uint32_t *)room)[k_thread() % 1024] != 0) /* never: keeps the room */
        k_store(args.seen, 1);
}

/* ---- the mixes ---- */

enum room_kernel { LIGHT, HEAVY, STATIC, ROOM_KERNELS };
#define FULL_REGISTERS 0u    /* threads: as many as the registers of an SM allow in one block */

struct side {
    enum room_kernel kernel;
    unsigned threads;
    unsigned per_sm;         /* blocks; 0: as many as fit alone */
    unsigned less;           /* fewer blocks than that in all; at least one is left */
    unsigned waves_halves;   /* with per_sm 0: 2 is one wave; 0 is 2 */
    unsigned shared_percent; /* dynamic shared memory of a block, of the most that one may have */
    unsigned carveout, cluster;
};
struct mix {
    const char *name;
    struct side primary, dependent;
};
/* kernel, threads, per_sm, less, waves_halves, shared_percent, carveout, cluster */
static const struct mix mixes[] = {
    { "small beside small", { LIGHT, 128, 1 }, { LIGHT, 128, 1 } },
    { "threads: all taken", { LIGHT, 1024, 0 }, { LIGHT, 32, 1 } },
    { "threads: half taken, half wanted", { LIGHT, 1024, 1 }, { LIGHT, 1024, 1 } },
    { "threads: a warp too many wanted", { LIGHT, 544, 2 }, { LIGHT, 992, 1 } },
    { "threads: all but two blocks taken", { LIGHT, 1024, 0, 2 }, { LIGHT, 32, 1 } },
    { "threads: all but two blocks taken, one wanted", { LIGHT, 1024, 0, 2 }, { LIGHT, 32, 1, 100000 } },
    { "threads: all but 16 blocks taken", { LIGHT, 1024, 0, 16 }, { LIGHT, 32, 1 } },
    { "threads: all but 66 blocks taken", { LIGHT, 1024, 0, 66 }, { LIGHT, 32, 1 } },
    { "threads: dependent wants all", { LIGHT, 128, 1 }, { LIGHT, 1024, 2 } },
    { "slots: all taken", { LIGHT, 32, 0 }, { LIGHT, 32, 1 } },
    { "slots: one left", { LIGHT, 32, 31 }, { LIGHT, 32, 1 } },
    { "slots: dependent wants all", { LIGHT, 32, 1 }, { LIGHT, 32, 32 } },
    { "registers: all taken", { HEAVY, FULL_REGISTERS, 1 }, { HEAVY, 64, 1 } },
    { "registers: half taken", { HEAVY, 128, 1 }, { HEAVY, 128, 1 } },
    { "registers: dependent wants all", { HEAVY, 64, 1 }, { HEAVY, FULL_REGISTERS, 1 } },
    { "shared: all taken, a little wanted", { LIGHT, 128, 1, 0, 0, 100, 100 }, { LIGHT, 128, 1, 0, 0, 1, 100 } },
    { "shared: all taken, none wanted", { LIGHT, 128, 1, 0, 0, 100, 100 }, { LIGHT, 128, 1, 0, 0, 0, 100 } },
    { "shared: half and a little less", { LIGHT, 128, 1, 0, 0, 49, 100 }, { LIGHT, 128, 1, 0, 0, 49, 100 } },
    { "shared: half and more", { LIGHT, 128, 1, 0, 0, 49, 100 }, { LIGHT, 128, 1, 0, 0, 55, 100 } },
    { "shared: none taken, all wanted", { LIGHT, 128, 1, 0, 0, 0, 100 }, { LIGHT, 128, 1, 0, 0, 100, 100 } },
    { "split: default, static wanted (F29b)", { LIGHT, 128, 1 }, { STATIC, 128, 1 } },
    { "split: 16 percent, static wanted", { LIGHT, 128, 1, 0, 0, 0, 16 }, { STATIC, 128, 1 } },
    { "split: 16 percent on both, static wanted", { LIGHT, 128, 1, 0, 0, 0, 16 }, { STATIC, 128, 1, 0, 0, 0, 16 } },
    { "split: all shared, static wanted", { LIGHT, 128, 1, 0, 0, 0, 100 }, { STATIC, 128, 1 } },
    { "split: static taken, none wanted", { STATIC, 128, 1 }, { LIGHT, 128, 1 } },
    { "split: static both", { STATIC, 128, 1 }, { STATIC, 128, 1 } },
    { "split: all L1, all shared", { LIGHT, 128, 1, 0, 0, 0, 101 }, { LIGHT, 128, 1, 0, 0, 0, 100 } },
    { "split: all shared, all L1", { LIGHT, 128, 1, 0, 0, 0, 100 }, { LIGHT, 128, 1, 0, 0, 0, 101 } },
    { "split: default, dynamic wanted", { LIGHT, 128, 1 }, { LIGHT, 128, 1, 0, 0, 10 } },
    { "split: one SM idle, static wanted", { LIGHT, 1024, 1, 1 }, { STATIC, 128, 1 } },
    { "cluster of 2 beside small", { LIGHT, 128, 1 }, { LIGHT, 128, 2, 0, 0, 0, 0, 2 } },
    { "cluster of 8 beside small", { LIGHT, 128, 1 }, { LIGHT, 128, 2, 0, 0, 0, 0, 8 } },
    { "cluster of 8 beside clusters of 8", { LIGHT, 128, 2, 0, 0, 0, 0, 8 }, { LIGHT, 128, 2, 0, 0, 0, 0, 8 } },
    { "cluster of 8, threads all but two blocks taken", { LIGHT, 1024, 0, 2 }, { LIGHT, 128, 2, 0, 0, 0, 0, 8 } },
    { "cluster of 8, half of the threads taken", { LIGHT, 1024, 1 }, { LIGHT, 1024, 2, 0, 0, 0, 0, 8 } },
    { "two waves", { LIGHT, 1024, 0, 0, 4 }, { LIGHT, 128, 1 } },
    { "one wave and a half", { LIGHT, 1024, 0, 0, 3 }, { LIGHT, 128, 1 } },
};
#define MIXES (sizeof(mixes) / sizeof(mixes[0]))

struct table {                   /* what all mixes share */
    struct ask *ask;
    pdl_kernel kernels[ROOM_KERNELS];
    struct kernel_args args;     /* of a dependent */
    uint32_t *words;             /* device memory behind args */
    int sms, registers;
    size_t most_shared;
};

struct prepared {                /* one side of a mix */
    pdl_options options;
    pdl_shape shape;
    int several_waves;
};

static cudaError_t prepare_side(const struct table *table, const struct side *side, struct prepared *p)
{
    const pdl_kernel *kernel = &table->kernels[side->kernel];
    unsigned threads = side->threads, round, blocks;
    struct prepared empty = PDL_ZERO;
    int fit = 0;

    *p = empty;
    if (threads == FULL_REGISTERS)
        threads = (unsigned)table->registers / (((unsigned)kernel->regs_per_thread + 7) / 8 * 8) / 32 * 32;
    if (side->kernel == HEAVY && threads > HEAVY_THREADS)
        threads = HEAVY_THREADS;
    p->shape.kernel = kernel;
    p->shape.shared_bytes = table->most_shared * side->shared_percent / 100;
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel->func, (int)threads, p->shape.shared_bytes));
    blocks = (unsigned)table->sms * (side->per_sm ? side->per_sm : (unsigned)fit);
    if (!side->per_sm && side->waves_halves)
        blocks = blocks * side->waves_halves / 2;
    p->several_waves = side->waves_halves > 2;
    round = side->cluster ? side->cluster : 1;
    blocks = blocks > side->less ? blocks - side->less : 1;
    p->shape.grid = dim3((blocks + round - 1) / round * round);
    p->shape.block = dim3(threads);
    p->options.carveout = side->carveout;
    p->options.cluster_x = side->cluster;
    p->shape.options = &p->options;
    return cudaSuccess;
}

static cudaError_t launch_side(const struct table *table, const struct prepared *p, int primary)
{
    struct kernel_args args = table->args;
    void *params[1];

    params[0] = &args;
    if (primary)
        args.input = args.data;
    if (p->several_waves)
        args.primary_sm = args.data;
    return pdl_launch(p->shape.kernel, p->shape.grid, p->shape.block, params, p->shape.shared_bytes, table->ask->stream, &p->options);
}

static cudaError_t try_mix(const struct table *table, const struct prepared *primary, const struct prepared *dependent, unsigned *overlapped)
{
    struct trial_state state;

    GPU_TRY(cudaMemsetAsync(table->args.state, 0, sizeof(state), table->ask->stream));
    GPU_TRY(launch_side(table, primary, 1));
    GPU_TRY(launch_side(table, dependent, 0));
    GPU_TRY(cudaMemcpyAsync(&state, table->args.state, sizeof(state), cudaMemcpyDeviceToHost, table->ask->stream));
    GPU_TRY(cudaStreamSynchronize(table->ask->stream));
    *overlapped += state.witnessed != 0;
    return cudaSuccess;
}

static cudaError_t measure_mix(const struct table *table, const struct mix *mix, pdl_estimate *estimate, unsigned *overlapped)
{
    struct prepared primary, dependent;
    unsigned trial;

    GPU_TRY(prepare_side(table, &mix->primary, &primary));
    GPU_TRY(prepare_side(table, &mix->dependent, &dependent));
    dependent.options.overlap = PDL_OVERLAP_REQUIRED;
    GPU_TRY(pdl_overlap_estimate(estimate, &primary.shape, &dependent.shape));
    for (trial = 0; trial < MIX_TRIALS; trial++)
        GPU_TRY(try_mix(table, &primary, &dependent, overlapped));
    return cudaSuccess;
}

static void ask_mix(const struct table *table, const struct mix *mix)
{
    pdl_estimate estimate = PDL_ZERO;
    unsigned overlapped = 0;
    char text[200];
    cudaError_t error = measure_mix(table, mix, &estimate, &overlapped);

    (void)cudaGetLastError();
    if (error != cudaSuccess)
        snprintf(text, sizeof(text), "not asked: %s", cudaGetErrorName(error));
    else
        snprintf(text, sizeof(text), "overlapped %u of %u; estimated %s%s", overlapped, MIX_TRIALS, estimate.may_overlap ? "yes" : "no: ",
                 estimate.may_overlap ? "" : pdl_reason_string(estimate.reason));
    table->ask->asked += error == cudaSuccess;
    ask_row(table->ask, mix->name, text);
}

static cudaError_t open_table(struct table *table)
{
    static const void *const functions[ROOM_KERNELS] = { (const void *)SYMBOL(room_light), (const void *)SYMBOL(room_heavy),
                                                         (const void *)SYMBOL(room_static) };
    struct trial_plan plan = PDL_ZERO;
    int device, shared;
    unsigned i;

    plan.bound_ns = MIX_BOUND_NS;
    GPU_TRY(cudaGetDevice(&device));
    GPU_TRY(cudaDeviceGetAttribute(&table->sms, cudaDevAttrMultiProcessorCount, device));
    GPU_TRY(cudaDeviceGetAttribute(&table->registers, cudaDevAttrMaxRegistersPerMultiprocessor, device));
    GPU_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    table->most_shared = (size_t)shared;
    GPU_TRY(cudaFuncSetAttribute(functions[LIGHT], cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (i = 0; i < ROOM_KERNELS; i++)
        GPU_TRY(pdl_kernel_init(&table->kernels[i], functions[i]));
    GPU_TRY(cleared_alloc((void **)&table->words, 4096));
    GPU_TRY(cudaMemcpy(table->words, &plan, sizeof(plan), cudaMemcpyHostToDevice));
    GPU_TRY(cudaDeviceSynchronize()); /* that copy may end after its call, and the question's stream does not wait for the default one */
    table->args.plan = (const struct trial_plan *)table->words;
    table->args.state = (struct trial_state *)(table->words + 64);
    table->args.data = table->args.seen = table->words + 256;
    return cudaSuccess;
}

static void ask_mixes(struct ask *ask)
{
    struct table table = PDL_ZERO;
    cudaError_t error;
    unsigned i;

    table.ask = ask;
    error = open_table(&table);
    if (error != cudaSuccess) {
        ask_note(ask, "kernels and memory of the table", error);
        return;
    }
    for (i = 0; i < MIXES; i++)
        ask_mix(&table, &mixes[i]);
    (void)cudaFree(table.words);
}

static const struct pair room_pairs[] = { PAIR_ASK("mixes", ask_mixes) };
IMAGE(room, room_pairs)
#endif
