/* disabled_nodes.cu - launches graphs in which the node between two kernels is disabled.
 *
 *     nvcc -arch=sm_90 -o disabled_nodes disabled_nodes.cu && ./disabled_nodes
 *
 * Stand-alone. Graph: writer -full-> X -full-> reader, where X is a kernel, a memset or a copy. The writer works for 50 us and stores;
 * the reader copies what it stored, without a wait. cudaGraphNodeSetEnabled documents a disabled node as an empty one, so the reader
 * must find the new words, and a host that synchronised with the stream must find the writer ended.
 * Exit code: 0 always so; 1 not so; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>

#define TRY(call)                                                                          \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "disabled_nodes: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                     \
        }                                                                                  \
    } while (0)

enum { RUNS = 20, THREADS = 64 };

__global__ void writer(unsigned *words, unsigned value, unsigned triggers, volatile unsigned *ended)
{
    unsigned long long begin, now;

    if (triggers)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < 50000);
    words[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        *ended = value;
}

__global__ void middle(unsigned *other) { other[threadIdx.x] = threadIdx.x; }

__global__ void reader(const unsigned *words, unsigned *seen)
{
    seen[threadIdx.x] = ((const volatile unsigned *)words)[threadIdx.x];
}

enum kind { KERNEL, MEMSET, COPY, KINDS };
static const char *const kinds[KINDS] = { "kernel", "memset", "copy" };

struct memory {
    unsigned *words, *other, *seen;
    unsigned *ended; /* host memory */
};

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const void *function, void **arguments)
{
    cudaKernelNodeParams params = {};

    params.func = (void *)function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(THREADS);
    params.kernelParams = arguments;
    return cudaGraphAddKernelNode(node, graph, after, after != NULL, &params);
}

static cudaError_t add_middle(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, enum kind kind, struct memory *m)
{
    cudaMemsetParams set = {};
    void *arguments[] = { &m->other };

    if (kind == KERNEL)
        return add_kernel(node, graph, after, (const void *)middle, arguments);
    if (kind == COPY)
        return cudaGraphAddMemcpyNode1D(node, graph, after, 1, m->other, m->other + THREADS, THREADS * sizeof(unsigned), cudaMemcpyDeviceToDevice);
    set.dst = m->other;
    set.elementSize = 4;
    set.width = THREADS;
    set.height = 1;
    return cudaGraphAddMemsetNode(node, graph, after, 1, &set);
}

/* Launches with X enabled or disabled; counts the runs in which the reader or the host came too early. */
static int check(enum kind kind, unsigned triggers, unsigned enabled, struct memory *m, int *wrong)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, between, last;
    unsigned old_words = 0, too_early = 0, run, value = 0, i;
    void *writes[] = { &m->words, &value, &triggers, &m->ended }, *reads[] = { &m->words, &m->seen };

    TRY(cudaGraphCreate(&graph, 0));
    TRY(add_kernel(&first, graph, NULL, (const void *)writer, writes));
    TRY(add_middle(&between, graph, &first, kind, m));
    TRY(add_kernel(&last, graph, &between, (const void *)reader, reads));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphNodeSetEnabled(exec, between, enabled));
    for (run = 0; run < RUNS; run++) {
        cudaKernelNodeParams params = {};
        unsigned seen[THREADS], stale = 0;

        value = 1000 * (kind * 4 + triggers * 2 + enabled + 1) + run;
        params.func = (void *)writer;
        params.gridDim = dim3(1);
        params.blockDim = dim3(THREADS);
        params.kernelParams = writes;
        TRY(cudaGraphExecKernelNodeSetParams(exec, first, &params));
        TRY(cudaGraphLaunch(exec, 0));
        TRY(cudaStreamSynchronize(0));
        too_early += *(volatile unsigned *)m->ended != value;
        TRY(cudaDeviceSynchronize());
        TRY(cudaMemcpy(seen, m->seen, sizeof seen, cudaMemcpyDeviceToHost));
        for (i = 0; i < THREADS; i++)
            stale |= seen[i] != value;
        old_words += stale;
    }
    printf("| %s | %s | %s | %u of %d | %u of %d |\n", kinds[kind], triggers ? "triggers first" : "does not trigger",
           enabled ? "enabled" : "disabled", old_words, RUNS, too_early, RUNS);
    *wrong |= old_words != 0 || too_early != 0;
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return 0;
}

int main(void)
{
    struct memory m = {};
    int version = 0, driver = 0, wrong = 0, kind;
    unsigned way;

    TRY(cudaRuntimeGetVersion(&version));
    TRY(cudaDriverGetVersion(&driver));
    TRY(cudaMalloc((void **)&m.words, THREADS * sizeof(unsigned)));
    TRY(cudaMalloc((void **)&m.other, 2 * THREADS * sizeof(unsigned)));
    TRY(cudaMalloc((void **)&m.seen, THREADS * sizeof(unsigned)));
    TRY(cudaHostAlloc((void **)&m.ended, sizeof(unsigned), cudaHostAllocDefault));
    TRY(cudaMemset(m.words, 0, THREADS * sizeof(unsigned)));
    *m.ended = 0;
    printf("runtime %d.%d, driver of CUDA %d.%d\n\n", version / 1000, version % 1000 / 10, driver / 1000, driver % 1000 / 10);
    printf("| between writer and reader | the writer | it is | the reader saw old words | the host came too early |\n|---|---|---|---|---|\n");
    for (kind = 0; kind < KINDS; kind++)
        for (way = 0; way < 4; way++)
            if (check((enum kind)kind, way / 2, way % 2, &m, &wrong) != 0)
                return 69;
    return wrong;
}
