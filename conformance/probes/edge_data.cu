/* edge_data.cu - adds several edges of different data in one call, reads them back, and runs the graph.
 *
 *     nvcc -arch=sm_90 -o edge_data edge_data.cu && ./edge_data
 *
 * Stand-alone. Graph: A -programmatic-> B -full-> C. A triggers first, works for 20 us and stores; B waits for A; C does not wait,
 * because a full edge orders it. The two edges are added in one call and one by one, through the runtime and through the driver.
 * Exit code: 0 every edge kept its data and C saw A's words; 1 not so; 69 the program could not run.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                       \
    do {                                                                                \
        cudaError_t error_ = (call);                                                    \
        if (error_ != cudaSuccess) {                                                    \
            fprintf(stderr, "edge_data: %s: %s\n", #call, cudaGetErrorName(error_));   \
            return 69;                                                                  \
        }                                                                               \
    } while (0)

#if CUDART_VERSION >= 13000
#define ADD_DEPENDENCIES cudaGraphAddDependencies
#define GET_EDGES cudaGraphGetEdges
#define DRIVER_NAME "cuGraphAddDependencies"
#define DRIVER_VERSION 13000
#else
#define ADD_DEPENDENCIES cudaGraphAddDependencies_v2
#define GET_EDGES cudaGraphGetEdges_v2
#define DRIVER_NAME "cuGraphAddDependencies_v2"
#define DRIVER_VERSION 12030
#endif

enum { RUNS = 20, THREADS = 256 };

__global__ void first(unsigned *words, unsigned value)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < 20000);
    words[threadIdx.x] = value;
}

__global__ void second(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__global__ void third(const unsigned *words, unsigned *seen)
{
    seen[threadIdx.x] = ((const volatile unsigned *)words)[threadIdx.x];
}

enum way { RUNTIME_AT_ONCE, DRIVER_AT_ONCE, ONE_BY_ONE, WAYS };
static const char *const names[WAYS] = { "runtime, one call", "driver, one call", "runtime, one by one" };
typedef CUresult(CUDAAPI *driver_add)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);

static int add_edges(enum way way, cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data)
{
    void *function = NULL;

    if (way == ONE_BY_ONE) {
        TRY(ADD_DEPENDENCIES(graph, &from[0], &to[0], &data[0], 1));
        TRY(ADD_DEPENDENCIES(graph, &from[1], &to[1], &data[1], 1));
        return 0;
    }
    if (way == RUNTIME_AT_ONCE) {
        TRY(ADD_DEPENDENCIES(graph, from, to, data, 2));
        return 0;
    }
#if CUDART_VERSION >= 12050
    cudaDriverEntryPointQueryResult found;
    TRY(cudaGetDriverEntryPointByVersion(DRIVER_NAME, &function, DRIVER_VERSION, cudaEnableDefault, &found));
#else
    cudaDriverEntryPointQueryResult found;
    TRY(cudaGetDriverEntryPoint(DRIVER_NAME, &function, cudaEnableDefault, &found));
#endif
    if (!function || ((driver_add)function)(graph, from, to, (const CUgraphEdgeData *)data, 2) != CUDA_SUCCESS) {
        fprintf(stderr, "edge_data: the driver's %s cannot be called\n", DRIVER_NAME);
        return 69;
    }
    return 0;
}

static int add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, void *function, void **values)
{
    cudaKernelNodeParams params = {};

    params.func = function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(function == (void *)second ? 1 : THREADS);
    params.kernelParams = values;
    TRY(cudaGraphAddKernelNode(node, graph, NULL, 0, &params));
    return 0;
}

/* Returns 0 or 1, or 69. */
static int ask(enum way way, unsigned *words, unsigned *seen)
{
    cudaGraphEdgeData data[2] = {}, got[2] = {};
    cudaGraphNode_t from[2], to[2], got_from[2], got_to[2], a, b, c;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    unsigned host[THREADS], value = 7, old = 0, wrong_edges = 0;
    void *of_first[] = { &words, &value }, *of_third[] = { &words, &seen };
    size_t count = 2;

    data[0].from_port = cudaGraphKernelNodePortProgrammatic;
    data[0].type = cudaGraphDependencyTypeProgrammatic;
    TRY(cudaGraphCreate(&graph, 0));
    if (add_kernel(&a, graph, (void *)first, of_first) || add_kernel(&b, graph, (void *)second, NULL) ||
        add_kernel(&c, graph, (void *)third, of_third))
        return 69;
    from[0] = a, to[0] = b, from[1] = b, to[1] = c;
    if (add_edges(way, graph, from, to, data))
        return 69;
    TRY(GET_EDGES(graph, got_from, got_to, got, &count));
    for (int i = 0; i < 2; i++)
        wrong_edges += memcmp(&got[i], &data[got_from[i] == a ? 0 : 1], sizeof(got[i])) != 0;
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    for (int run = 0; run < RUNS; run++) {
        TRY(cudaMemset(words, 0, THREADS * sizeof(unsigned)));
        TRY(cudaGraphLaunch(exec, 0));
        TRY(cudaDeviceSynchronize());
        TRY(cudaMemcpy(host, seen, sizeof(host), cudaMemcpyDeviceToHost));
        old += host[THREADS - 1] != value;
    }
    printf("%-20s  %u of 2 edges have other data than was given, C read old words in %u of %d runs\n", names[way], wrong_edges, old, RUNS);
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return wrong_edges || old;
}

int main(void)
{
    int driver, runtime, bad = 0;
    unsigned *words, *seen;

    TRY(cudaDriverGetVersion(&driver));
    TRY(cudaRuntimeGetVersion(&runtime));
    TRY(cudaMalloc(&words, THREADS * sizeof(unsigned)));
    TRY(cudaMalloc(&seen, THREADS * sizeof(unsigned)));
    printf("runtime %d.%d, driver of CUDA %d.%d\n", runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    for (int way = 0; way < WAYS; way++) {
        int told = ask((enum way)way, words, seen);
        if (told == 69)
            return 69;
        bad |= told;
    }
    return bad;
}
