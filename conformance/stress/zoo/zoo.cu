/* zoo.cu - planted PDL bugs and their corrected twins, run many times in one process
 *
 * Talks in lines on standard input and output: `list`, `run PROGRAM bug|twin COUNT`, `cost KIND LENGTH`, `reload`, `quit`.
 * A run is one graph replay or one launch sequence; it is wrong if the words in `out` differ from those of a run without
 * any overlap. `zoo --once PROGRAM bug|twin COUNT` prints a hash per run and ends: a program as a user would have it.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <time.h>
#include <vector>

#include "zoo_kernels.cuh"

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
    std::printf("{\"error\":\"%s: %s\"}\n", #call, cudaGetErrorString(e_)); std::fflush(stdout); std::exit(69); } } while (0)

const void *old_image_kernel(void);
const void *bare_kernel(bool ok);

enum how { PLAIN, ATTRIBUTE, EVENT_EDGE, SWAPPED = 16, RESTRICT_ARGS = 32 };
enum path { GRAPH, STREAM, BUILT_GRAPH, TWO_STREAMS };
static const char *const path_names[] = {"graph", "stream", "graph by hand", "two streams"};

struct step { const char *name; const void *kernel; int how; };
struct program {
    const char *name, *bug, *shape;
    path way;
    std::vector<step> bug_steps, twin_steps;
    std::vector<std::string> races;
    const char *candidate; /* why it need not be able to show on every driver; "" for all others */
    const char *label;     /* the kind of its finding */
};

static buffers buf;
static std::vector<unsigned> expected, seen;
static std::vector<program> programs;
static std::vector<std::string> skipped; /* JSON lines about programs that this machine cannot have */
static cudaEvent_t trigger_event, join_event;

#define NOW "race now"
#define LATENT "latent"
#define PLACE "relies on the trigger's place"
#define S(kernel, how) step{#kernel, (const void *)kernel, how}

static void *args_of(const step &s, buffers &p, void **slots)
{
    p = buf;
    if (s.how & SWAPPED) {
        unsigned *a = p.a; p.a = p.b; p.b = a;
    }
    if (s.how & RESTRICT_ARGS) {
        slots[0] = &p.out;
        slots[1] = &p.a;
    } else {
        slots[0] = &p;
    }
    return slots;
}

static void launch(const step &s, int how, cudaStream_t stream, cudaEvent_t event)
{
    buffers p;
    void *slots[2];
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    std::memset(attributes, 0, sizeof attributes);
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = attributes;
    if ((how & 15) == ATTRIBUTE) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (event) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticEvent;
        attributes[config.numAttrs].val.programmaticEvent.event = event;
        attributes[config.numAttrs++].val.programmaticEvent.triggerAtBlockStart = 0;
    }
    CHECK(cudaLaunchKernelExC(&config, s.kernel, (void **)args_of(s, p, slots)));
}

static void queue(const std::vector<step> &steps, cudaStream_t stream)
{
    for (const step &s : steps) {
        launch(s, s.how, stream, nullptr);
    }
}

/* EVENT_EDGE: the step runs in a second stream after a programmatic event of the step before; then both streams join. */
static void queue_two_streams(const std::vector<step> &steps, cudaStream_t one, cudaStream_t two)
{
    for (size_t i = 0; i < steps.size(); i++) {
        bool before_edge = i + 1 < steps.size() && (steps[i + 1].how & 15) == EVENT_EDGE;
        if ((steps[i].how & 15) == EVENT_EDGE) {
            CHECK(cudaStreamWaitEvent(two, trigger_event, 0));
            launch(steps[i], PLAIN, two, nullptr);
            CHECK(cudaEventRecord(join_event, two));
            CHECK(cudaStreamWaitEvent(one, join_event, 0));
        } else {
            launch(steps[i], steps[i].how, one, before_edge ? trigger_event : nullptr);
        }
    }
}

static cudaGraphExec_t captured(const program &p, const std::vector<step> &steps, cudaStream_t stream, cudaStream_t other)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    p.way == TWO_STREAMS ? queue_two_streams(steps, stream, other) : queue(steps, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Node by node; a step with ATTRIBUTE gets a programmatic edge from the one before, any other a full edge. */
static cudaGraphExec_t built(const std::vector<step> &steps)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t last = nullptr;
    CHECK(cudaGraphCreate(&graph, 0));
    for (const step &s : steps) {
        buffers p;
        void *slots[2];
        cudaGraphNode_t node;
        cudaKernelNodeParams params = {};
        cudaGraphEdgeData edge = {};
        params.func = (void *)s.kernel;
        params.gridDim = dim3(BLOCKS);
        params.blockDim = dim3(THREADS);
        params.kernelParams = (void **)args_of(s, p, slots);
        CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        if ((s.how & 15) == ATTRIBUTE) {
            edge.type = cudaGraphDependencyTypeProgrammatic;
            edge.from_port = cudaGraphKernelNodePortProgrammatic;
        }
        if (last) {
#if CUDART_VERSION >= 13000
            CHECK(cudaGraphAddDependencies(graph, &last, &node, &edge, 1));
#else
            CHECK(cudaGraphAddDependencies_v2(graph, &last, &node, &edge, 1));
#endif
        }
        last = node;
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static uint64_t now_ns(void)
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void serial(const std::vector<step> &steps, cudaStream_t stream)
{
    for (const step &s : steps) {
        launch(s, PLAIN, stream, nullptr);
        CHECK(cudaStreamSynchronize(stream));
    }
}

static void fetch(std::vector<unsigned> &into, cudaStream_t stream)
{
    into.resize(WORDS);
    CHECK(cudaMemcpyAsync(into.data(), buf.out, WORDS * sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static unsigned long long hash_of(const std::vector<unsigned> &words)
{
    unsigned long long hash = 14695981039346656037ull;
    for (unsigned word : words) {
        hash = (hash ^ word) * 1099511628211ull;
    }
    return hash;
}

struct runner {
    cudaStream_t stream, other;
    cudaGraphExec_t exec;
};

static runner ready(const program &p, const std::vector<step> &steps)
{
    runner r;
    CHECK(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&r.other, cudaStreamNonBlocking));
    serial(steps, r.stream);
    fetch(expected, r.stream);
    r.exec = p.way == STREAM ? nullptr : p.way == BUILT_GRAPH ? built(steps) : captured(p, steps, r.stream, r.other);
    return r;
}

static uint64_t run_once(const runner &r, const std::vector<step> &steps)
{
    uint64_t began = now_ns();
    if (r.exec) {
        CHECK(cudaGraphLaunch(r.exec, r.stream));
    } else {
        queue(steps, r.stream);
    }
    CHECK(cudaStreamSynchronize(r.stream));
    began = now_ns() - began;
    fetch(seen, r.stream);
    return began;
}

static void done(const runner &r)
{
    if (r.exec) {
        CHECK(cudaGraphExecDestroy(r.exec));
    }
    CHECK(cudaStreamDestroy(r.stream));
    CHECK(cudaStreamDestroy(r.other));
}

/* Prints which runs went wrong, as one character per run, so that sessions of several plans can be joined run by run. */
static void run(const program &p, const std::vector<step> &steps, long count)
{
    runner r = ready(p, steps);
    std::string marks;
    uint64_t spent = 0;
    for (long i = 0; i < count; i++) {
        spent += run_once(r, steps);
        marks += seen == expected ? '.' : 'X';
    }
    done(r);
    std::printf("{\"runs\":\"%s\",\"us\":%.3f,\"expected\":\"%016llx\"}\n", marks.c_str(),
                count ? (double)spent / 1000.0 / (double)count : 0.0, hash_of(expected));
}

/* The cost: a graph of many launch-bound kernels; prints microseconds per replay. */
static void cost(const char *kind, int length)
{
    cudaStream_t stream;
    int how = std::strcmp(kind, "pdl") == 0 ? ATTRIBUTE : PLAIN;
    program p = {"cost", "", "", GRAPH, {}, {}, {}, "", ""};
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < length; i++) {
        p.bug_steps.push_back(how == ATTRIBUTE ? S(chain, i ? ATTRIBUTE : PLAIN) : S(chain_plain, PLAIN));
    }
    cudaGraphExec_t exec = captured(p, p.bug_steps, stream, stream);
    double best = 1e30;
    for (int i = 0; i < 12; i++) {
        uint64_t began = now_ns();
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        double us = (double)(now_ns() - began) / 1000.0;
        best = us < best ? us : best;
    }
    CHECK(cudaGraphExecDestroy(exec));
    std::printf("{\"us\":%.3f}\n", best);
}

static void add(const char *name, const char *bug, const char *shape, path way, std::vector<step> bug_steps,
                std::vector<step> twin_steps, std::vector<std::string> races, const char *candidate = "", const char *label = LATENT)
{
    programs.push_back({name, bug, shape, way, bug_steps, twin_steps, races, candidate, label});
}

#include "zoo_programs.cuh"

static void list(void)
{
    for (const std::string &line : skipped) {
        std::printf("%s\n", line.c_str());
    }
    for (const program &p : programs) {
        std::printf("{\"name\":\"%s\",\"bug\":\"%s\",\"shape\":\"%s\",\"path\":\"%s\",\"bug_kernels\":[", p.name, p.bug, p.shape,
                    path_names[p.way]);
        for (size_t i = 0; i < p.bug_steps.size(); i++) {
            std::printf("%s\"%s\"", i ? "," : "", p.bug_steps[i].name);
        }
        std::printf("],\"twin_kernels\":[");
        for (size_t i = 0; i < p.twin_steps.size(); i++) {
            std::printf("%s\"%s\"", i ? "," : "", p.twin_steps[i].name);
        }
        std::printf("],\"races\":[");
        for (size_t i = 0; i < p.races.size(); i++) {
            std::printf("%s\"%s\"", i ? "," : "", p.races[i].c_str());
        }
        std::printf("],\"candidate\":\"%s\",\"label\":\"%s\"}\n", p.candidate, p.label);
    }
    std::printf("{\"end\":true}\n");
}

static void reload(void)
{
    void (*again)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "pdl_stress_reload");
    if (again) {
        again();
    }
    std::printf("{\"reloaded\":%s}\n", again ? "true" : "false");
}

static const program *named(const char *name)
{
    for (const program &p : programs) {
        if (std::strcmp(p.name, name) == 0) {
            return &p;
        }
    }
    std::printf("{\"error\":\"no program %s\"}\n", name);
    return nullptr;
}

static const std::vector<step> &steps_of(const program &p, const char *which)
{
    return std::strcmp(which, "twin") == 0 ? p.twin_steps : p.bug_steps;
}

static void answer(const char *line)
{
    char name[128], which[16];
    long count = 0;
    if (std::sscanf(line, "run %127s %15s %ld", name, which, &count) == 3) {
        const program *p = named(name);
        if (p) {
            run(*p, steps_of(*p, which), count);
        }
    } else if (std::sscanf(line, "cost %15s %ld", which, &count) == 2) {
        cost(which, (int)count);
    } else if (std::strncmp(line, "reload", 6) == 0) {
        reload();
    } else if (std::strncmp(line, "list", 4) == 0) {
        list();
    } else {
        std::printf("{\"error\":\"what?\"}\n");
    }
}

static int once(const char *name, const char *which, long count)
{
    const program *p = named(name);
    if (!p) {
        return 64;
    }
    runner r = ready(*p, steps_of(*p, which));
    for (long i = 0; i < count; i++) {
        run_once(r, steps_of(*p, which));
        std::printf("%016llx\n", hash_of(seen));
    }
    done(r);
    return 0;
}

static void make_buffers(void)
{
    unsigned *memory;
    unsigned **fields[] = {&buf.in, &buf.a, &buf.b, &buf.c, &buf.out, &buf.index, &buf.scalar};
    CHECK(cudaFree(nullptr));
    CHECK(cudaMalloc(&memory, 8 * WORDS * sizeof(unsigned)));
    for (size_t i = 0; i < 7; i++) {
        *fields[i] = memory + i * WORDS;
    }
    buf.n = WORDS;
    CHECK(cudaEventCreateWithFlags(&trigger_event, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
}

int main(int argc, char **argv)
{
    char line[512];
    make_buffers();
    add_programs();
    if (argc == 5 && std::strcmp(argv[1], "--once") == 0) {
        return once(argv[2], argv[3], std::atol(argv[4]));
    }
    add_loaded(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : nullptr);
    while (std::fgets(line, sizeof line, stdin) && std::strncmp(line, "quit", 4) != 0) {
        answer(line);
        std::fflush(stdout);
    }
    return 0;
}
