// run_example.cpp - runs the whole main() of an example, its kernels too, on the model, under many schedules.
//
// usage: on_model_NN SEEDS
// Compiled with EXAMPLE_FILE (a copy of the example with small sizes), EXAMPLE_KERNELS (their names) and EXPECTED_EDGES (how
// many edges of each graph let a kernel start early, in the order in which the graphs are made). Each seed has its process,
// because an example keeps its graphs. Exit 0: right data and the expected edges under every seed; 1: not so. With
// ON_MODEL_NO_WAIT the other way round: 0 if the example itself says "wrong" under some seed. 64: bad arguments.
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
#include "model.h"
#include "model_kernel.h"

// ---- kernels with any parameters: the model takes one struct, so they are packed, 8 bytes each ----------------------
using pack_function = void (*)(void **args, unsigned char *packed);
static std::map<const void *, pack_function> &packers()
{
    static std::map<const void *, pack_function> all;
    return all;
}

template <auto kernel> struct on_model;
template <class... P, void (*kernel)(P...)> struct on_model<kernel> {
    template <size_t... I> static void unpack(const unsigned char *packed, std::index_sequence<I...>)
    {
        kernel(*(const P *)(packed + 8 * I)...);
    }
    static void entry(const void *packed)
    {
        unpack((const unsigned char *)packed, std::index_sequence_for<P...>());
    }
    static void pack(void **args, unsigned char *packed)
    {
        const size_t sizes[] = {sizeof(P)...};
        for (size_t i = 0; i < sizeof...(P); i++)
            memcpy(packed + 8 * i, args[i], sizes[i]);
    }
    explicit on_model(const char *name) // static shared memory for the sum of a warp
    {
        static model_kernel record;
        record = {name, (const void *)kernel, 32, 128, 90, 90, 0, 8 * sizeof...(P), entry};
        model_register_kernel(&record);
        packers()[(const void *)kernel] = pack;
    }
};

// ---- what the example calls ----------------------------------------------------------------------------------------
static std::vector<unsigned> early_edges; // per graph
static int bad_graphs;

template <class T> static cudaError_t cudaMalloc(T **out, size_t bytes)
{
    return cudaMalloc((void **)out, bytes);
}

static cudaError_t launch_on_model(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    alignas(8) unsigned char packed[MODEL_ARGS_MAX] = {};
    void *one[] = {packed};
    packers().at(kernel)(args, packed);
    return cudaLaunchKernelExC(config, kernel, one);
}

static cudaError_t add_node_on_model(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                     const cudaKernelNodeParams *params)
{
    alignas(8) unsigned char packed[MODEL_ARGS_MAX] = {};
    void *one[] = {packed};
    cudaKernelNodeParams changed = *params;
    packers().at(params->func)(params->kernelParams, packed);
    changed.kernelParams = one;
    return cudaGraphAddKernelNode(node, graph, after, count, &changed);
}

static cudaError_t no_time_on_model(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 1; // the model's clock is none that anybody should measure by
    return cudaSuccess;
}

static cudaError_t instantiate_on_model(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
#define cudaLaunchKernelExC launch_on_model
#define cudaGraphAddKernelNode add_node_on_model
#define cudaEventElapsedTime no_time_on_model
#define cudaGraphInstantiateWithFlags instantiate_on_model
#include "pdl.h"
#define threadIdx (dim3(model_thread()))
#define blockIdx (dim3(model_block()))
#define blockDim (dim3(model_threads()))
#define gridDim (dim3(model_blocks())) // after pdl.h, which has members of this name
#define main example_main
#include EXAMPLE_FILE
#undef main
#undef cudaGraphInstantiateWithFlags

static cudaError_t instantiate_on_model(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    static cudaGraphNode_t nodes[2000];
    static pdl_edge_data data[1000];
    size_t room = 1000, early = 0;
    if (pdl_graph_count_programmatic(graph, &room, nodes, data, &early) != cudaSuccess)
        bad_graphs++;
    early_edges.push_back((unsigned)early);
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

#define NAMED(kernel) static on_model<kernel> registered_##kernel(#kernel);
EXAMPLE_KERNELS

static int run_seed(unsigned long long seed)
{
    const std::vector<unsigned> expected = {EXPECTED_EDGES};
    model_reset(nullptr, seed);
    const int status = example_main();
    if (bad_graphs != 0 || early_edges != expected) {
        fprintf(stderr, "%zu graphs (%d not readable), early edges:", early_edges.size(), bad_graphs);
        for (unsigned count : early_edges)
            fprintf(stderr, " %u", count);
        fputs("\n", stderr);
        return 2;
    }
    return model_deadlocked() ? 3 : status;
}

int main(int argc, char **argv)
{
    const int seeds = argc == 2 ? atoi(argv[1]) : 0;
    int right = 0, wrong = 0;
    if (seeds <= 0)
        return 64;
    for (int seed = 1; seed <= seeds; seed++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0)
            exit(run_seed((unsigned long long)seed));
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 70;
        right += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        wrong += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    }
    fprintf(stderr, "%d seeds: %d right, %d wrong, %d otherwise\n", seeds, right, wrong, seeds - right - wrong);
#ifdef ON_MODEL_NO_WAIT
    return wrong == 0 || right + wrong != seeds;
#else
    return right != seeds;
#endif
}
