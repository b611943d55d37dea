/* litmus.cu - runs the model's litmus programs on a GPU and counts the outcomes.
 *
 * usage: pdl-litmus-gpu [--runs N] [--seed HEX] [PROGRAM]...
 * The programs are data (conformance/model/litmus_programs.h), the kernel walks them (litmus_kernel.h). Before each step a
 * delay of 0 to 12 us, now and then up to 60, is drawn from (seed, run, grid, block, step), so that the windows open in
 * every order. Prints one JSON line per program: how often each outcome was seen, its registers in order, as pdl-litmus
 * prints the allowed ones; conformance dev litmus compares the two.
 * Exit 0, 64 bad arguments, 70 a call failed, 77 no usable GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define SEEN_WORDS 16u           /* per run: registers, the last word is the seed of the replay */
#define SEEN_SEED 15u
#define VARIABLE_WORDS (LITMUS_VARIABLES * LITMUS_LINE_WORDS)
#define BATCH 64u                /* runs queued at once: after one gate, or in one graph */
#define GATE_NS 20000000u

#define LITMUS_SEES(args, reg, value) k_store((args)->seen + (reg), (value))
#define LITMUS_AT(args, block, i) litmus_delay((args)->seen, (args)->grid, (block), (i))

DEVICE_FN void litmus_delay(const uint32_t *seen, uint32_t grid, uint32_t block, uint32_t step)
{
    uint32_t draw = words_fresh((uint64_t)k_load_l2(seen + SEEN_SEED) << 32 | 0x1171u, grid * 64 + block * 16 + step);
    /* Half of the steps are not held at all; one in 64 long enough for a third kernel of a graph to begin meanwhile (F13). */
    uint32_t most = draw % 64 == 63 ? 60000 : draw % 4 == 3 ? 12000 : draw % 4 == 2 ? 3000 : 0;
    uint64_t until = k_now() + (most ? draw / 64 % most : 0);
    uint32_t spins = 0;
    while (k_now() < until && ++spins < K_SPIN_LIMIT)
        k_pause();
}

#include "litmus_kernel.h"

extern "C" __global__ void litmus_run(struct litmus_args args) { litmus_walk(&args); }

/* One thread per run: clears its variables and registers and gives it its seed. */
extern "C" __global__ void litmus_reset(uint32_t *variables, uint32_t *seen, const uint32_t *seed)
{
    uint32_t i, run = threadIdx.x;
    for (i = 0; i < VARIABLE_WORDS; i++)
        k_store(variables + run * VARIABLE_WORDS + i, 0);
    for (i = 0; i < SEEN_WORDS; i++)
        k_store(seen + run * SEEN_WORDS + i, i == SEEN_SEED ? words_fresh(k_load_relaxed(seed), run) : 0);
}

extern "C" __global__ void litmus_gate(const uint32_t *open, uint32_t epoch)
{
    uint64_t begin = k_now();
    uint32_t spins = 0;
    while (k_load_relaxed(open) != epoch && k_now() - begin < GATE_NS && ++spins < K_SPIN_LIMIT)
        k_pause();
}

struct bench {
    cudaStream_t stream[2], observer;
    cudaEvent_t event[2], join[2];
    uint32_t *variables, *seen, *seed, *open;                         /* device */
    uint32_t *variables_host, *seen_host, *seed_host, *open_host;     /* pinned */
    uint32_t epoch;
};

static void need(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "pdl-litmus-gpu: %s: %s\n", call, cudaGetErrorName(error));
    exit(70);
}
#define NEED(call) need((call), #call)

static void open_bench(struct bench *b)
{
    int i;
    memset(b, 0, sizeof(*b));
    for (i = 0; i < 2; i++) {
        NEED(cudaStreamCreateWithFlags(&b->stream[i], cudaStreamNonBlocking));
        NEED(cudaEventCreateWithFlags(&b->event[i], cudaEventDisableTiming));
        NEED(cudaEventCreateWithFlags(&b->join[i], cudaEventDisableTiming));
    }
    NEED(cudaStreamCreateWithFlags(&b->observer, cudaStreamNonBlocking));
    NEED(cudaMalloc((void **)&b->variables, BATCH * VARIABLE_WORDS * 4));
    NEED(cudaMalloc((void **)&b->seen, BATCH * SEEN_WORDS * 4));
    NEED(cudaMalloc((void **)&b->seed, 4));
    NEED(cudaHostAlloc((void **)&b->variables_host, BATCH * VARIABLE_WORDS * 4, cudaHostAllocDefault));
    NEED(cudaHostAlloc((void **)&b->seen_host, BATCH * SEEN_WORDS * 4, cudaHostAllocDefault));
    NEED(cudaHostAlloc((void **)&b->seed_host, 4, cudaHostAllocDefault));
    NEED(cudaHostAlloc((void **)&b->open_host, 4, cudaHostAllocMapped));
    NEED(cudaHostGetDevicePointer((void **)&b->open, b->open_host, 0));
    *b->open_host = 0;
}

static struct litmus_args args_of(const struct bench *b, const struct litmus_program *p, unsigned run, unsigned grid)
{
    struct litmus_args args;
    memset(&args, 0, sizeof(args));
    args.variable = b->variables + run * VARIABLE_WORDS;
    args.seen = b->seen + run * SEEN_WORDS;
    args.grid = grid;
    memcpy(args.step, p->step[grid], sizeof(args.step));
    return args;
}

static void launch(const struct bench *b, const struct litmus_program *p, unsigned run, const struct litmus_call *call)
{
    struct litmus_args args = args_of(b, p, run, call->which);
    void *params[1] = { &args };
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    unsigned n = 0;

    memset(attributes, 0, sizeof(attributes));
    if (call->with & (WITH_ATTRIBUTE | WITH_ZERO)) {
        attributes[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[n++].val.programmaticStreamSerializationAllowed = (call->with & WITH_ATTRIBUTE) != 0;
    }
    if (call->with & (EVENT_AT_TRIGGER | EVENT_AT_START)) {
        attributes[n].id = cudaLaunchAttributeProgrammaticEvent;
        attributes[n].val.programmaticEvent.event = b->event[0];
        attributes[n++].val.programmaticEvent.triggerAtBlockStart = (call->with & EVENT_AT_START) != 0;
    }
    if (call->with & EVENT_AT_LAUNCH) {
        attributes[n].id = cudaLaunchAttributeLaunchCompletionEvent;
        attributes[n++].val.launchCompletionEvent.event = b->event[0];
    }
    config.gridDim = dim3(p->blocks[call->which]);
    config.blockDim = dim3(1);
    config.stream = b->stream[call->stream];
    config.attrs = n ? attributes : NULL;
    config.numAttrs = n;
    NEED(cudaLaunchKernelExC(&config, (const void *)litmus_run, params));
}

/* What the host reads while the device may still run, outside of every stream of the program. */
static void observe(struct bench *b, unsigned run, const struct litmus_call *call)
{
    uint32_t *word = b->variables_host + run * VARIABLE_WORDS + call->which * LITMUS_LINE_WORDS;
    NEED(cudaMemcpyAsync(word, b->variables + run * VARIABLE_WORDS + call->which * LITMUS_LINE_WORDS, 4, cudaMemcpyDeviceToHost,
                         b->observer));
    NEED(cudaStreamSynchronize(b->observer));
    b->seed_host[0] = *word; /* kept until the run's registers are read */
}

static void make_calls(struct bench *b, const struct litmus_program *p, unsigned run)
{
    const struct litmus_call *c;
    uint32_t *variables = b->variables + run * VARIABLE_WORDS;

    for (c = p->call; c < p->call + LITMUS_CALLS && c->what != CALL_END; c++) {
        cudaStream_t stream = b->stream[c->stream];
        if (c->what == CALL_LAUNCH)
            launch(b, p, run, c);
        else if (c->what == CALL_RECORD)
            NEED(cudaEventRecord(b->event[c->which], stream));
        else if (c->what == CALL_AWAIT)
            NEED(cudaStreamWaitEvent(stream, b->event[c->which], 0));
        else if (c->what == CALL_COPY)
            NEED(cudaMemcpyAsync(variables + 2 * LITMUS_LINE_WORDS, variables + c->which * LITMUS_LINE_WORDS, 4,
                                 cudaMemcpyDeviceToDevice, stream));
        else if (c->what == CALL_SYNC_EVENT)
            NEED(cudaEventSynchronize(b->event[c->which]));
        else if (c->what == CALL_SYNC_STREAM)
            NEED(cudaStreamSynchronize(stream));
        else if (c->what == CALL_READ)
            observe(b, run, c);
    }
}

static int has_call(const struct litmus_program *p, unsigned char what)
{
    int i;
    for (i = 0; i < LITMUS_CALLS && p->call[i].what != CALL_END; i++)
        if (p->call[i].what == what)
            return 1;
    return 0;
}

/* The next run begins when both streams have finished this one. */
static void join_streams(struct bench *b)
{
    NEED(cudaEventRecord(b->join[1], b->stream[1]));
    NEED(cudaStreamWaitEvent(b->stream[0], b->join[1], 0));
    NEED(cudaEventRecord(b->join[0], b->stream[0]));
    NEED(cudaStreamWaitEvent(b->stream[1], b->join[0], 0));
}

static void reset(struct bench *b)
{
    litmus_reset<<<1, BATCH, 0, b->stream[0]>>>(b->variables, b->seen, b->seed);
    NEED(cudaGetLastError());
    NEED(cudaEventRecord(b->join[0], b->stream[0]));
    NEED(cudaStreamWaitEvent(b->stream[1], b->join[0], 0));
}

static void queue_runs(struct bench *b, const struct litmus_program *p)
{
    unsigned run;
    reset(b);
    for (run = 0; run < BATCH; run++) {
        make_calls(b, p, run);
        join_streams(b);
    }
}

/* Edges as the program has them; a full edge from every node of a run to every first node of the next. */
static cudaGraph_t build_runs(const struct bench *b, const struct litmus_program *p)
{
    cudaGraph_t graph;
    cudaGraphNode_t node[LITMUS_GRIDS], before[LITMUS_GRIDS];
    struct cudaKernelNodeParams params = {};
    uint32_t *variables = b->variables, *seen = b->seen;
    const uint32_t *seed = b->seed;
    void *reset_args[3] = { &variables, &seen, &seed };
    unsigned run, g, count = 1;

    NEED(cudaGraphCreate(&graph, 0));
    params.func = (void *)litmus_reset;
    params.gridDim = dim3(1);
    params.blockDim = dim3(BATCH);
    params.kernelParams = reset_args;
    NEED(cudaGraphAddKernelNode(&before[0], graph, NULL, 0, &params));
    for (run = 0; run < BATCH; run++) {
        for (g = 0; g < p->grids; g++) {
            struct litmus_args args = args_of(b, p, run, g);
            void *kernel_args[1] = { &args };
            int e, has_edge_in = 0;
            for (e = 0; e < LITMUS_EDGES; e++)
                has_edge_in |= p->edge[e].used && p->edge[e].to == g;
            params.func = (void *)litmus_run;
            params.gridDim = dim3(p->blocks[g]);
            params.blockDim = dim3(1);
            params.kernelParams = kernel_args;
            NEED(cudaGraphAddKernelNode(&node[g], graph, has_edge_in ? NULL : before, has_edge_in ? 0 : count, &params));
        }
        for (g = 0; g < LITMUS_EDGES; g++) {
            cudaGraphEdgeData data = {};
            if (!p->edge[g].used)
                continue;
            data.from_port = p->edge[g].port;
            data.type = p->edge[g].type;
#if CUDART_VERSION >= 13000
            NEED(cudaGraphAddDependencies(graph, &node[p->edge[g].from], &node[p->edge[g].to], &data, 1));
#else
            NEED(cudaGraphAddDependencies_v2(graph, &node[p->edge[g].from], &node[p->edge[g].to], &data, 1));
#endif
        }
        count = p->grids;
        memcpy(before, node, sizeof(before));
    }
    return graph;
}

static cudaGraphExec_t graph_of(struct bench *b, const struct litmus_program *p)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    if (p->path == PATH_CAPTURED) {
        NEED(cudaStreamBeginCapture(b->stream[0], cudaStreamCaptureModeThreadLocal));
        queue_runs(b, p);
        NEED(cudaEventRecord(b->join[1], b->stream[1])); /* the side stream rejoins before the capture ends */
        NEED(cudaStreamWaitEvent(b->stream[0], b->join[1], 0));
        NEED(cudaStreamEndCapture(b->stream[0], &graph));
    } else {
        graph = build_runs(b, p);
    }
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    NEED(cudaGraphDestroy(graph));
    return exec;
}

/* One batch, after a gate that opens when all of it is queued. */
static void run_stream_batch(struct bench *b, const struct litmus_program *p)
{
    litmus_gate<<<1, 1, 0, b->stream[0]>>>(b->open, ++b->epoch);
    NEED(cudaGetLastError());
    queue_runs(b, p);
    *(volatile uint32_t *)b->open_host = b->epoch;
}

/* Programs in which the host looks while the device runs: one run at a time, no gate. */
static unsigned run_observed(struct bench *b, const struct litmus_program *p)
{
    NEED(cudaMemcpyAsync(b->seed, b->seed_host, 4, cudaMemcpyHostToDevice, b->stream[0]));
    reset(b);
    make_calls(b, p, 0);
    NEED(cudaDeviceSynchronize());
    return *b->seed_host & 1;
}

static void count_batch(struct bench *b, const struct litmus_program *p, unsigned long long *counts)
{
    unsigned run, r;
    int c;
    NEED(cudaMemcpy(b->seen_host, b->seen, BATCH * SEEN_WORDS * 4, cudaMemcpyDeviceToHost));
    NEED(cudaMemcpy(b->variables_host, b->variables, BATCH * VARIABLE_WORDS * 4, cudaMemcpyDeviceToHost));
    for (run = 0; run < BATCH; run++) {
        unsigned outcome = 0;
        for (c = 0; c < LITMUS_CALLS; c++)
            if (p->call[c].what == CALL_COPY)
                b->seen_host[run * SEEN_WORDS + p->call[c].with] = b->variables_host[run * VARIABLE_WORDS + 2 * LITMUS_LINE_WORDS];
        for (r = 0; r < p->registers; r++)
            outcome |= (b->seen_host[run * SEEN_WORDS + r] & 1) << r;
        counts[outcome]++;
    }
}

static unsigned long long run_program(struct bench *b, const struct litmus_program *p, unsigned long long runs, uint32_t seed,
                                      unsigned long long *counts)
{
    cudaGraphExec_t exec = p->path == PATH_STREAM ? NULL : graph_of(b, p);
    int observed = has_call(p, CALL_READ);
    unsigned long long done;

    for (done = 0; done < runs; done += observed ? 1 : BATCH) {
        *b->seed_host = words_fresh(seed, (uint32_t)done);
        if (observed) {
            counts[run_observed(b, p)]++;
            continue;
        }
        NEED(cudaMemcpyAsync(b->seed, b->seed_host, 4, cudaMemcpyHostToDevice, b->stream[0]));
        if (exec)
            NEED(cudaGraphLaunch(exec, b->stream[0]));
        else
            run_stream_batch(b, p);
        NEED(cudaDeviceSynchronize());
        count_batch(b, p, counts);
    }
    if (exec)
        NEED(cudaGraphExecDestroy(exec));
    return done;
}

static void print_program(const struct litmus_program *p, unsigned long long runs, const unsigned long long *counts)
{
    unsigned o, r;
    const char *between = "";
    printf("{\"program\":\"%s\",\"source\":\"%s\",\"runs\":%llu,\"observed\":{", p->name, p->source, runs);
    for (o = 0; o < 1u << p->registers; o++) {
        if (!counts[o])
            continue;
        printf("%s\"", between);
        for (r = 0; r < p->registers; r++)
            putchar(o >> r & 1 ? '1' : '0');
        printf("\":%llu", counts[o]);
        between = ",";
    }
    printf("}}\n");
    fflush(stdout);
}

static int usage(const char *what)
{
    fprintf(stderr, "pdl-litmus-gpu: %s; usage: pdl-litmus-gpu [--runs N] [--seed HEX] [PROGRAM]...\n", what);
    return 64;
}

int main(int argc, char **argv)
{
    static struct bench b;
    unsigned long long runs = 100000;
    uint32_t seed = 1;
    int i, p, first, devices = 0, found = 0;

    for (i = 1; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--runs") == 0)
            runs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = (uint32_t)strtoul(argv[i + 1], NULL, 16);
        else
            return usage("unknown option");
    }
    first = i;
    if (runs == 0 || (first < argc && strncmp(argv[first], "--", 2) == 0))
        return usage("an option lacks its value, or it is not a number above 0");
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return 77;
    open_bench(&b);
    for (p = 0; p < LITMUS_PROGRAMS; p++) {
        unsigned long long counts[1 << LITMUS_REGISTERS] = { 0 }, done;
        int wanted = first == argc;
        for (i = first; i < argc; i++)
            wanted |= strcmp(argv[i], litmus_programs[p].name) == 0;
        if (!wanted)
            continue;
        found++;
        done = run_program(&b, &litmus_programs[p], runs, seed, counts);
        print_program(&litmus_programs[p], done, counts);
    }
    return found ? 0 : usage("no program of that name");
}
