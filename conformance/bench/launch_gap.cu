/* launch_gap.cu - how long a chain of dependent kernels takes, per kernel, with PDL and without.
 *
 * usage: pdl-launch-gap [REPETITIONS]
 * Every kernel spins for a prologue, waits, spins for a main part and a tail. One base shape; each axis is varied alone.
 * The variants of a shape (stream and graph, five modes, and what the limit needs) are interleaved, repetition by
 * repetition. Chains in a stream are queued after work that keeps the device busy, so that the host's speed does not count.
 * Prints JSON lines: one device line, one line per cell. Exit 0, 64 bad arguments, 70 a call failed, 77 no usable GPU.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) check((call), __LINE__)
#define HOLD_NS 250000
enum { MOST_REPETITIONS = 501, MOST_VARIANTS = 24, MOST_WORDS = 4 << 20, MOST_PLACES = 1 << 16 };
enum mode { PLAIN, ATTRIBUTE, EARLY, WAITED, LATE, MODES };
enum path { STREAM, GRAPH, PATHS };
static const char *const mode_names[] = {"plain", "attribute", "early", "waited", "late"};
static const char *const path_names[] = {"stream", "graph"};

struct shape { /* times in ns, depth in kernels, apart: every other kernel has 4 KiB of static shared memory,
                * words: read and written by each kernel as part of its main part */
    const char *axis;
    double value;
    unsigned blocks, threads, shared, carveout, prologue, main, tail, depth, apart, words;
};
struct variant {
    struct shape shape;
    enum mode mode;
    enum path path;
    const char *part; /* "cell", or what the limit is made of: "empty", "main", "nothing" */
    cudaGraphExec_t exec;
    double us[MOST_REPETITIONS], moved;
};

static cudaStream_t stream;
static cudaEvent_t begin, end;
static pdl_kernel step_kernel, step_shared_kernel, hold_kernel;
static struct variant variants[MOST_VARIANTS];
static unsigned *buffers[2], *places;
static int num_variants, repetitions = 51;

static void check(cudaError_t error, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "pdl-launch-gap: line %d: %s\n", line, cudaGetErrorString(error));
        exit(70);
    }
}

static __device__ unsigned long long now_ns(void)
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

static __device__ void spin(unsigned ns)
{
    const unsigned long long until = now_ns() + ns;
    while (ns != 0 && now_ns() < until) {
    }
}

struct work {
    unsigned mode, prologue, main, tail, words, *out;
    const unsigned *in;
    unsigned *places; /* where each block runs, unless NULL */
};

static __device__ void body(unsigned mode, struct work w)
{
    if (mode == EARLY)
        pdl_trigger();
    spin(w.prologue);
    pdl_wait();
    if (mode == WAITED)
        pdl_trigger();
    spin(w.main);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < w.words; i += gridDim.x * blockDim.x)
        pdl_fresh(w.out)[i] = 3 * pdl_fresh(w.in)[i] + 1;
    if (w.places != NULL && threadIdx.x == 0)
        asm volatile("{ .reg .u32 sm; mov.u32 sm, %%smid; st.global.u32 [%0], sm; }" ::"l"(w.places + blockIdx.x) : "memory");
    if (mode == LATE)
        pdl_trigger();
    spin(w.tail);
}

extern "C" __global__ void gap_step(struct work w)
{
    body(w.mode, w);
}

extern "C" __global__ void gap_step_shared(struct work w)
{
    __shared__ volatile unsigned used[1024];
    used[threadIdx.x] = w.mode;
    body(used[threadIdx.x], w);
}

extern "C" __global__ void gap_hold(unsigned ns)
{
    spin(ns);
}

static void launch(const struct variant *v, unsigned i)
{
    const struct shape *s = &v->shape;
    const int shared = s->apart && i % 2;
    struct work work = {(unsigned)v->mode, s->prologue, s->main, s->tail, s->words, buffers[(i + 1) % 2], buffers[i % 2],
                        s->words != 0 ? places + i * s->blocks : NULL};
    void *args[] = {&work};
    pdl_options options = PDL_ZERO;

    options.overlap = v->mode == PLAIN ? PDL_OVERLAP_NONE : PDL_OVERLAP_REQUIRED;
    options.carveout = s->carveout;
    CHECK(pdl_launch(shared ? &step_shared_kernel : &step_kernel, dim3(s->blocks), dim3(s->threads), args, s->shared, stream,
                     &options));
}

static void launch_chain(const struct variant *v)
{
    for (unsigned i = 0; i < v->shape.depth; i++)
        launch(v, i);
}

static void capture(struct variant *v)
{
    cudaGraph_t graph;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_chain(v);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&v->exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
}

static double time_us(const struct variant *v)
{
    unsigned ns = HOLD_NS;
    void *args[] = {&ns};
    float ms;

    CHECK(pdl_launch(&hold_kernel, dim3(1), dim3(1), args, 0, stream, NULL));
    CHECK(cudaEventRecord(begin, stream));
    if (v->path == GRAPH)
        CHECK(cudaGraphLaunch(v->exec, stream));
    else
        launch_chain(v);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return 1000.0 * ms / v->shape.depth;
}

/* The share of blocks that run on another multiprocessor than the block with the same number in the kernel before, whose
 * words they read; -1 if nothing is read. */
static double moved_blocks(const struct variant *v)
{
    static unsigned on[MOST_PLACES];
    const unsigned blocks = v->shape.blocks, all = blocks * v->shape.depth;
    unsigned moved = 0;

    if (v->shape.words == 0 || all <= blocks || all > MOST_PLACES)
        return -1;
    time_us(v);
    CHECK(cudaMemcpy(on, places, all * sizeof(*on), cudaMemcpyDefault));
    for (unsigned i = blocks; i < all; i++)
        moved += on[i] != on[i - blocks];
    return (double)moved / (all - blocks);
}

static int ascending(const void *x, const void *y)
{
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static struct variant *add(const struct shape *shape, enum mode mode, enum path path, const char *part)
{
    struct variant *v = &variants[num_variants++];

    v->shape = *shape;
    v->mode = mode;
    v->path = path;
    v->part = part;
    return v;
}

/* Main part and tail alone, an empty launch to subtract, and empty chains in the modes that overlap. */
static void add_parts(const struct shape *shape, enum path path)
{
    struct shape s = *shape;

    s.prologue = 0;
    s.depth = 1;
    add(&s, PLAIN, path, "main");
    s.main = s.tail = s.words = 0;
    add(&s, PLAIN, path, "nothing");
    s.depth = shape->depth;
    add(&s, ATTRIBUTE, path, "empty");
    add(&s, EARLY, path, "empty");
}

static void print_variant(struct variant *v)
{
    const struct shape *s = &v->shape;
    const int half = (int)(0.98 * sqrt((double)repetitions)) + 1, middle = repetitions / 2;

    qsort(v->us, (size_t)repetitions, sizeof(double), ascending);
    printf("{\"axis\":\"%s\",\"value\":%g,\"part\":\"%s\",\"path\":\"%s\",\"mode\":\"%s\",\"blocks\":%u,\"threads\":%u,"
           "\"shared\":%u,\"carveout\":%u,\"prologue_ns\":%u,\"main_ns\":%u,\"tail_ns\":%u,\"depth\":%u,\"apart\":%u,"
           "\"words\":%u,"
           "\"us\":%.4f,\"low95\":%.4f,\"high95\":%.4f",
           s->axis, s->value, v->part, path_names[v->path], mode_names[v->mode], s->blocks, s->threads, s->shared,
           s->carveout, s->prologue, s->main, s->tail, s->depth, s->apart, s->words, v->us[middle],
           v->us[middle > half ? middle - half : 0], v->us[middle + half < repetitions ? middle + half : repetitions - 1]);
    if (v->moved >= 0)
        printf(",\"moved\":%.3f", v->moved);
    puts("}");
    fflush(stdout);
}

static void measure(const struct shape *shape)
{
    num_variants = 0;
    for (int path = 0; path < PATHS; path++) {
        for (int mode = 0; mode < MODES; mode++)
            add(shape, (enum mode)mode, (enum path)path, "cell");
        add_parts(shape, (enum path)path);
    }
    for (int k = 0; k < num_variants; k++)
        if (variants[k].path == GRAPH)
            capture(&variants[k]);
    for (int r = -2; r < repetitions; r++)
        for (int k = 0; k < num_variants; k++)
            variants[k].us[r < 0 ? 0 : r] = time_us(&variants[k]);
    for (int k = 0; k < num_variants; k++) {
        variants[k].moved = moved_blocks(&variants[k]);
        if (variants[k].path == GRAPH)
            CHECK(cudaGraphExecDestroy(variants[k].exec));
        print_variant(&variants[k]);
    }
}

static void measure_matrix(unsigned sms, unsigned most_shared)
{
    const struct shape base = {"base", 0, sms, 128, 0, 0, 1000, 5000, 0, 20, 0, 0};
    const unsigned blocks[] = {1, sms / 2, sms, 2 * sms, 4 * sms, 8 * sms, 16 * sms}, threads[] = {32, 256, 512, 1024};
    const unsigned shared[] = {16, 48, 96, 110, 160}, prologues[] = {0, 250, 500, 2000, 4000, 8000};
    const unsigned mains[] = {0, 1000, 2000, 10000, 20000}, tails[] = {1000, 2000, 4000}, depths[] = {2, 5, 10, 40};
    const unsigned long_prologues[] = {250, 500, 1000, 2000, 4000}, carveouts[] = {0, 8, 16, 25, 50, 100};
    struct shape s;

#define EACH(name, list, scale, field, amount)                                                                          \
    for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {                                                       \
        s = base;                                                                                                       \
        s.axis = name;                                                                                                  \
        s.value = (list)[i] / (scale);                                                                                  \
        s.field = (amount);                                                                                             \
        measure(&s);                                                                                                    \
    }
    s = base;
    measure(&s);
    EACH("blocks", blocks, 1.0, blocks, blocks[i])
    EACH("threads", threads, 1.0, threads, threads[i])
    EACH("shared_kib", shared, 1.0, shared, shared[i] * 1024 < most_shared ? shared[i] * 1024 : most_shared)
    EACH("prologue_us", prologues, 1000.0, prologue, prologues[i])
    EACH("main_us", mains, 1000.0, main, mains[i])
    EACH("tail_us", tails, 1000.0, tail, tails[i])
    EACH("depth", depths, 1.0, depth, depths[i])
#undef EACH
    for (unsigned i = 0; i < sizeof(long_prologues) / sizeof(*long_prologues); i++) { /* too little time to hide it in */
        s = base;
        s.axis = "prologue_short_main_us";
        s.value = long_prologues[i] / 1000.0;
        s.prologue = long_prologues[i];
        s.main = 1000;
        measure(&s);
    }
    for (unsigned words = MOST_WORDS / 16; words <= MOST_WORDS; words *= 2) { /* a main part that moves memory */
        s = base;
        s.axis = "traffic_mib";
        s.value = words * sizeof(unsigned) / 1048576.0;
        s.threads = 256;
        s.main = 0;
        s.words = words;
        measure(&s);
    }
    for (unsigned i = 0; i < sizeof(carveouts) / sizeof(*carveouts); i++) { /* static shared memory in every other kernel */
        s = base;
        s.axis = "carveout_apart";
        s.value = s.carveout = carveouts[i];
        s.apart = 1;
        measure(&s);
    }
    for (unsigned i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) { /* nothing to hide: where PDL can lose */
        s = base;
        s.axis = "blocks_empty";
        s.value = s.blocks = blocks[i];
        s.prologue = s.main = 0;
        measure(&s);
    }
}

int main(int argc, char **argv)
{
    struct cudaDeviceProp device;
    int driver = 0, runtime = 0;

    if (argc > 1 && ((repetitions = atoi(argv[1])) < 5 || repetitions > MOST_REPETITIONS)) {
        fprintf(stderr, "pdl-launch-gap: REPETITIONS is from 5 to %d\n", MOST_REPETITIONS);
        return 64;
    }
    if (pdl_kernel_init(&step_kernel, gap_step) != cudaSuccess || !step_kernel.can_overlap) {
        fprintf(stderr, "pdl-launch-gap: no GPU here that can overlap kernels\n");
        return 77;
    }
    CHECK(pdl_kernel_init(&step_shared_kernel, gap_step_shared));
    CHECK(pdl_kernel_init(&hold_kernel, gap_hold));
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaFuncSetAttribute(gap_step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)device.sharedMemPerBlockOptin));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&places, MOST_PLACES * sizeof(unsigned)));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMalloc(&buffers[i], MOST_WORDS * sizeof(unsigned)));
        CHECK(cudaMemset(buffers[i], 0, MOST_WORDS * sizeof(unsigned)));
    }
    printf("{\"device\":\"%s\",\"cc\":%d,\"sms\":%d,\"driver_cuda\":%d,\"runtime\":%d,\"repetitions\":%d}\n", device.name,
           10 * device.major + device.minor, device.multiProcessorCount, driver, runtime, repetitions);
    measure_matrix((unsigned)device.multiProcessorCount, (unsigned)device.sharedMemPerBlockOptin);
    return 0;
}
