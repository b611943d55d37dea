/* Every broken device breaks its rule within a few trials, and the conforming ones never do: one small scenario
 * for each of those whose fault is in the machine. That the kit's cases notice every device is tested by conformance dev devices. */
#include "check.h"

enum { WORDS = 256 };
static int prints_traces;

struct arguments {
    uint32_t *data, *seen, *flag;
    uint32_t fresh, triggers, waits, reads_early, withhold, hold;
};

static uint32_t first_of(unsigned block)
{
    return WORDS * block / model_blocks();
}

/* Triggers (block `withhold` only after its hold), holds, stores. */
MODEL_KERNEL_OF(producer, struct arguments, 16, 0, 90, 90)
{
    if (model_thread() == 0 && model_load32(args.flag, MODEL_LD_RELAXED) != 0)
        model_atomic_add32(args.flag + 1, 1); /* no block may begin beside its dependent */
    model_barrier();
    for (unsigned i = 0; i < args.triggers && model_block() != args.withhold; i++)
        model_trigger();
    model_pause(args.hold);
    if (model_thread() == 0 && model_load32(args.flag, MODEL_LD_RELAXED) != 0)
        model_atomic_add32(args.flag + 1, model_block() == args.withhold);
    for (uint32_t i = first_of(model_block()) + model_thread(); i < first_of(model_block() + 1); i += model_threads())
        model_store32(args.data + i, args.fresh + i);
}

MODEL_KERNEL_OF(consumer, struct arguments, 16, 0, 90, 90)
{
    uint32_t first = first_of(model_block()) + model_thread(), last = first_of(model_block() + 1);
    model_store32_relaxed(args.flag, 1);
    for (uint32_t i = first; args.reads_early && i < last; i += model_threads())
        (void)model_load32(args.data + i, MODEL_LD_CA);
    for (unsigned i = 0; i < args.waits; i++)
        model_wait();
    for (uint32_t i = first; i < last; i += model_threads())
        model_store32(args.seen + i, model_load32(args.data + i, MODEL_LD_CA));
}

struct bench {
    cudaStream_t s, t;
    cudaEvent_t event, timeless;
    struct arguments args;
};

static struct arguments fresh_arguments(const struct bench *b, unsigned trial)
{
    struct arguments a = b->args;
    memset(a.data, 0, WORDS * 4);
    memset(a.seen, 0, WORDS * 4);
    memset(a.flag, 0, 64);
    a.fresh = 1000 * (trial + 1);
    a.triggers = 1;
    a.waits = 1;
    a.withhold = 1u << 30;
    a.hold = 1500;
    return a;
}

static int wrong(const struct arguments *a, const uint32_t *seen)
{
    for (uint32_t i = 0; i < WORDS; i++)
        if (seen[i] != a->fresh + i)
            return 1;
    return 0;
}

static cudaError_t pair(const struct bench *b, struct arguments *a, unsigned blocks, unsigned readers, int attributes)
{
    cudaLaunchAttribute six = attribute(6, attributes == 2 ? 0 : 1);
    cudaError_t error = launch((const void *)producer, a, blocks, 32, b->s, 0);
    if (error == cudaSuccess)
        error = launch_with((const void *)consumer, a, readers, 32, b->s, &six, attributes != 0);
    return error;
}

/* 1: a rule is broken */
typedef int scenario(const struct bench *b, unsigned trial);

static int ends_wrong(struct arguments *a)
{
    return cudaDeviceSynchronize() != cudaSuccess || wrong(a, a->seen) || a->flag[1] != 0;
}

static int waits(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    return pair(b, &a, 6, 3, 1) != cudaSuccess || ends_wrong(&a);
}

static int reads_lines(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.reads_early = 1;
    return pair(b, &a, 2, 2, 1) != cudaSuccess || ends_wrong(&a);
}

static int waits_twice(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.waits = 2;
    return pair(b, &a, 2, 2, 1) != cudaSuccess || ends_wrong(&a);
}

static int never_triggers(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.triggers = 0;
    return pair(b, &a, 2, 2, 1) != cudaSuccess || ends_wrong(&a);
}

static int withholds(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.withhold = 1;
    return pair(b, &a, 3, 2, 1) != cudaSuccess || ends_wrong(&a);
}

static int triggers_often(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.withhold = 1;
    a.triggers = 9;
    return pair(b, &a, 3, 2, 1) != cudaSuccess || ends_wrong(&a);
}

/* More blocks than fit, limited by shared memory that the consumer does not need: the late ones must not find it running. */
static int late_blocks(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    void *args[1] = {&a};
    cudaLaunchConfig_t c = shape(9, 8, b->s);
    c.dynamicSmemBytes = 40 * 1024;
    OK(cudaLaunchKernelExC(&c, (const void *)producer, args));
    return launch((const void *)consumer, &a, 4, 8, b->s, 1) != cudaSuccess || ends_wrong(&a);
}

static int fills_the_device(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.hold = 200;
    return pair(b, &a, 40, 64, 1) != cudaSuccess || ends_wrong(&a);
}

static int plain(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.waits = 0;
    return pair(b, &a, 4, 3, 0) != cudaSuccess || ends_wrong(&a);
}

static int value_zero(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.waits = 0;
    return pair(b, &a, 4, 3, 2) != cudaSuccess || ends_wrong(&a);
}

static int plain_behind_attribute(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    a.waits = 0;
    OK(launch((const void *)producer, &a, 2, 32, b->s, 1));
    OK(launch((const void *)consumer, &a, 2, 32, b->s, 0));
    return ends_wrong(&a);
}

static int syncs_event(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    OK(launch((const void *)producer, &a, 4, 32, b->s, 0));
    OK(cudaEventRecord(b->event, b->s));
    int broken = cudaEventSynchronize(b->event) != cudaSuccess || wrong(&a, a.data);
    return cudaDeviceSynchronize() != cudaSuccess || broken;
}

static int copies(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    OK(launch((const void *)producer, &a, 4, 32, b->s, 0));
    OK(cudaMemcpyAsync(a.seen, a.data, WORDS * 4, cudaMemcpyDeviceToDevice, b->s));
    return ends_wrong(&a);
}

static int awaits_programmatic_event(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial);
    cudaLaunchAttribute seven = attribute(7, 0);
    seven.val.programmaticEvent.event = b->timeless;
    a.withhold = 1;
    OK(launch_with((const void *)producer, &a, 3, 32, b->s, &seven, 1));
    OK(cudaStreamWaitEvent(b->t, b->timeless, 0));
    OK(launch((const void *)consumer, &a, 2, 32, b->t, 1));
    return ends_wrong(&a);
}

static int runs_graph(cudaGraph_t g, const struct bench *b, struct arguments *a)
{
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphLaunch(exec, b->s));
    int broken = ends_wrong(a);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(g);
    return broken;
}

/* F15: producer, a kernel that neither waits nor does anything, a plain consumer */
static int captured_chain(const struct bench *b, unsigned trial)
{
    struct arguments a = fresh_arguments(b, trial), idle = a;
    cudaGraph_t g = NULL;
    idle.hold = 0;
    idle.data = b->args.data + 2 * WORDS;
    idle.flag = b->args.flag + 4;
    a.waits = 0;
    OK(cudaStreamBeginCapture(b->s, cudaStreamCaptureModeGlobal));
    OK(launch((const void *)producer, &a, 2, 32, b->s, 0));
    OK(launch((const void *)producer, &idle, 1, 1, b->s, 1));
    OK(launch((const void *)consumer, &a, 2, 32, b->s, 0));
    OK(cudaStreamEndCapture(b->s, &g));
    return runs_graph(g, b, &a);
}

static int built_pair(const struct bench *b, unsigned trial, int programmatic, unsigned consumer_waits)
{
    struct arguments a = fresh_arguments(b, trial);
    void *args[1] = {&a};
    struct cudaKernelNodeParams p;
    cudaGraph_t g;
    cudaGraphNode_t from, to;
    cudaGraphEdgeData d;
    const void *kernels[2] = {(const void *)producer, (const void *)consumer};
    a.waits = consumer_waits;
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    d.from_port = d.type = programmatic ? 1 : 0;
    p.gridDim.x = 2;
    p.blockDim.x = 32;
    p.gridDim.y = p.gridDim.z = p.blockDim.y = p.blockDim.z = 1;
    p.kernelParams = args;
    OK(cudaGraphCreate(&g, 0));
    memcpy(&p.func, &kernels[0], sizeof p.func);
    OK(cudaGraphAddKernelNode(&from, g, NULL, 0, &p));
    memcpy(&p.func, &kernels[1], sizeof p.func);
    OK(cudaGraphAddKernelNode(&to, g, NULL, 0, &p));
#if CUDART_VERSION >= 13000
    if (cudaGraphAddDependencies(g, &from, &to, &d, 1) != cudaSuccess)
        return 1;
    d.to_port = 1;
    if (cudaGraphAddDependencies(g, &to, &from, &d, 1) == cudaSuccess)
        return 1;
    size_t n = 0;
    if (programmatic && cudaGraphGetEdges(g, NULL, NULL, NULL, &n) != cudaErrorLossyQuery)
        return 1;
#else
    if (cudaGraphAddDependencies_v2(g, &from, &to, &d, 1) != cudaSuccess)
        return 1;
    d.to_port = 1;
    if (cudaGraphAddDependencies_v2(g, &to, &from, &d, 1) == cudaSuccess)
        return 1;
    size_t n = 0;
    if (programmatic && cudaGraphGetEdges_v2(g, NULL, NULL, NULL, &n) != cudaErrorLossyQuery)
        return 1;
#endif
    return runs_graph(g, b, &a);
}

static int programmatic_edge(const struct bench *b, unsigned trial)
{
    return built_pair(b, trial, 1, 1);
}

static int full_edge(const struct bench *b, unsigned trial)
{
    return built_pair(b, trial, 0, 0);
}

static const struct {
    const char *device;
    scenario *breaks;
} scenarios[] = {
    {"wait-at-trigger", waits},
    {"wait-before-flush", waits},
    {"wait-some-blocks", waits},
    {"wait-stale-lines", reads_lines},
    {"second-wait-hangs", waits_twice},
    {"wait-needs-trigger", never_triggers},
    {"exit-not-trigger", never_triggers},
    {"one-trigger-launches", withholds},
    {"trigger-counts-calls", triggers_often},
    {"unstarted-blocks-count", late_blocks},
    {"dependents-steal-slots", fills_the_device},
    {"plain-overlaps", plain},
    {"value-zero-overlaps", value_zero},
    {"attribute-leaks", plain_behind_attribute},
    {"event-at-launch", syncs_event},
    {"copy-does-not-wait", copies},
    {"program-event-first-block", awaits_programmatic_event},
    {"capture-loses-order", captured_chain},
    {"edge-becomes-launch-completion", programmatic_edge},
    {"full-becomes-programmatic", full_edge},
    {"illegal-edge-accepted", programmatic_edge},
    {"legal-edge-refused", programmatic_edge},
    {"lossy-query-succeeds", programmatic_edge},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* How many of the trials are broken; a trial that breaks the device ends them. */
static unsigned count_broken(const char *device, uint64_t seed, scenario *breaks, unsigned trials)
{
    struct bench b;
    unsigned broken = 0;
    model_reset(device, seed);
    memset(&b, 0, sizeof b);
    OK(cudaMalloc((void **)&b.args.data, 3 * WORDS * 4));
    OK(cudaMalloc((void **)&b.args.seen, WORDS * 4));
    OK(cudaMalloc((void **)&b.args.flag, 64));
    OK(cudaStreamCreateWithFlags(&b.s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b.t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&b.event));
    OK(cudaEventCreateWithFlags(&b.timeless, cudaEventDisableTiming));
    for (unsigned t = 0; t < trials; t++) {
        broken += (unsigned)breaks(&b, t);
        if (cudaPeekAtLastError() == cudaErrorLaunchTimeout)
            break;
    }
    if (prints_traces)
        printf("%s %u %016llx\n", device, (unsigned)seed, (unsigned long long)model_trace());
    return broken;
}

/* devices [SEEDS [trace]]: with trace, prints what the machine did, which must be the same from every build */
int main(int argc, char **argv)
{
    prints_traces = argc > 2;
    unsigned seeds = argc > 1 ? (unsigned)argv[1][0] - '0' : 3;
    for (int s = 0; s < SCENARIOS; s++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            if (count_broken(scenarios[s].device, seed, scenarios[s].breaks, 32) == 0) {
                printf("%s, seed %u: its rule holds\n", scenarios[s].device, (unsigned)seed);
                failures++;
            }
            const char *sound[] = {"", "early", "never-overlaps", "seldom-overlaps", "shared", "halts", "late-copies"};
            for (size_t d = 0; d < sizeof(sound) / sizeof(*sound); d++)
                if (count_broken(sound[d], seed, scenarios[s].breaks, 32) != 0) {
                    printf("conforming '%s', scenario of %s, seed %u: a rule is broken\n", sound[d], scenarios[s].device,
                           (unsigned)seed);
                    failures++;
                }
        }
    return failures != 0;
}
