/* disabled_nodes.cu - launches graphs in which the node between two kernels is disabled.
 *
 *     nvcc -arch=sm_90 -o disabled_nodes disabled_nodes.cu && ./disabled_nodes
 *
 * Stand-alone. Graph: writer -full-> X -full-> reader, where X is a kernel (plain, cooperative or of a cluster), a memset or a copy. The writer works for 50 us and stores;
 * the reader copies what it stored, without a wait. cudaGraphNodeSetEnabled documents a disabled node as an empty one, so the reader
 * must find the new words, and a host that synchronised with the stream must find the writer ended. In half of the runs the writer
 * gets new parameters before each launch. An error of CUDA ends the process that sees it, so each row is a process of its own.
 * Exit code: 0 always so; 1 not so; 69 a call of CUDA failed, which the row says, too.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY(call)                                                                          \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "disabled_nodes: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                     \
        }                                                                                  \
    } while (0)

enum { RUNS = 20, THREADS = 64 };

__global__ void writer(unsigned *words, unsigned given, unsigned triggers, volatile unsigned *shared)
{
    unsigned long long begin, now;
    unsigned value = given ? given : shared[0];

    if (triggers)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < 50000);
    words[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        shared[1] = value;
}

__global__ void middle(unsigned *other) { other[threadIdx.x] = threadIdx.x; }

__global__ void reader(const unsigned *words, unsigned *seen)
{
    seen[threadIdx.x] = ((const volatile unsigned *)words)[threadIdx.x];
}

enum kind { KERNEL, COOPERATIVE, CLUSTER, MEMSET, COPY, KINDS };
static const char *const kinds[KINDS] = { "kernel", "cooperative kernel", "kernel with clusters of 2", "memset", "copy" };

struct memory {
    unsigned *words, *other, *seen;
    unsigned *shared; /* host memory: the value to store, and the last one that was stored */
};

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const void *function, unsigned blocks,
                              void **arguments)
{
    cudaKernelNodeParams params = {};

    params.func = (void *)function;
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(THREADS);
    params.kernelParams = arguments;
    return cudaGraphAddKernelNode(node, graph, after, after != NULL, &params);
}

static cudaError_t add_middle_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, enum kind kind, struct memory *m)
{
    void *arguments[] = { &m->other };
    cudaLaunchAttributeValue value = {};
    cudaError_t error = add_kernel(node, graph, after, (const void *)middle, kind == CLUSTER ? 2 : 1, arguments);

    if (error != cudaSuccess || kind == KERNEL)
        return error;
    if (kind == COOPERATIVE) {
        value.cooperative = 1;
        return cudaGraphKernelNodeSetAttribute(*node, cudaLaunchAttributeCooperative, &value);
    }
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    return cudaGraphKernelNodeSetAttribute(*node, cudaLaunchAttributeClusterDimension, &value);
}

static cudaError_t add_middle(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, enum kind kind, struct memory *m)
{
    cudaMemsetParams set = {};

    if (kind < MEMSET)
        return add_middle_kernel(node, graph, after, kind, m);
    if (kind == COPY)
        return cudaGraphAddMemcpyNode1D(node, graph, after, 1, m->other, m->other + THREADS, THREADS * sizeof(unsigned), cudaMemcpyDeviceToDevice);
    set.dst = m->other;
    set.elementSize = 4;
    set.width = THREADS;
    set.height = 1;
    return cudaGraphAddMemsetNode(node, graph, after, 1, &set);
}

struct row {
    enum kind kind;
    unsigned triggers, enabled, updated;
};

/* One launch: whether the reader saw old words, and whether the host came too early. */
static int launch(cudaGraphExec_t exec, cudaGraphNode_t first, const struct row *row, unsigned value, struct memory *m, unsigned *stale,
                  unsigned *too_early)
{
    unsigned seen[THREADS], old = 0, given = row->updated ? value : 0, triggers = row->triggers, i;
    void *arguments[] = { &m->words, &given, &triggers, &m->shared };
    cudaKernelNodeParams params = {};

    params.func = (void *)writer;
    params.gridDim = dim3(1);
    params.blockDim = dim3(THREADS);
    params.kernelParams = arguments;
    if (row->updated)
        TRY(cudaGraphExecKernelNodeSetParams(exec, first, &params));
    *(volatile unsigned *)m->shared = value;
    TRY(cudaGraphLaunch(exec, 0));
    TRY(cudaStreamSynchronize(0));
    *too_early += ((volatile unsigned *)m->shared)[1] != value;
    usleep(1000); /* a writer that still runs ends */
    TRY(cudaMemcpy(seen, m->seen, sizeof seen, cudaMemcpyDeviceToHost));
    for (i = 0; i < THREADS; i++)
        old |= seen[i] != value;
    *stale += old;
    return 0;
}

static int check(const struct row *row)
{
    struct memory m = {};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, between, last;
    unsigned old_words = 0, too_early = 0, run, given = 0, triggers = row->triggers;
    void *writes[] = { &m.words, &given, &triggers, &m.shared }, *reads[] = { &m.words, &m.seen };

    TRY(cudaMalloc((void **)&m.words, THREADS * sizeof(unsigned)));
    TRY(cudaMalloc((void **)&m.other, 2 * THREADS * sizeof(unsigned)));
    TRY(cudaMalloc((void **)&m.seen, THREADS * sizeof(unsigned)));
    TRY(cudaHostAlloc((void **)&m.shared, 2 * sizeof(unsigned), cudaHostAllocMapped));
    TRY(cudaMemset(m.words, 0, THREADS * sizeof(unsigned)));
    TRY(cudaGraphCreate(&graph, 0));
    TRY(add_kernel(&first, graph, NULL, (const void *)writer, 1, writes));
    TRY(add_middle(&between, graph, &first, row->kind, &m));
    TRY(add_kernel(&last, graph, &between, (const void *)reader, 1, reads));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphNodeSetEnabled(exec, between, row->enabled));
    for (run = 0; run < RUNS; run++)
        if (launch(exec, first, row, run + 1, &m, &old_words, &too_early) != 0)
            return 69;
    printf(" %u of %d | %u of %d |\n", old_words, RUNS, too_early, RUNS);
    return old_words != 0 || too_early != 0;
}

/* A row of the table, in a process of its own. */
static int ask(const struct row *row)
{
    int status = 0;
    pid_t child;

    printf("| %s | %s | %s | %s |", kinds[row->kind], row->triggers ? "triggers first" : "does not trigger", row->updated ? "yes" : "no",
           row->enabled ? "enabled" : "disabled");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        int code = check(row);
        fflush(stdout);
        _exit(code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        printf(" ended by a signal | |\n");
    else if (WEXITSTATUS(status) == 69)
        printf(" ended by an error | |\n");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 69;
}

int main(void)
{
    int worst = 0;
    unsigned i;

    printf("runtime %d.%d\n\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    printf("| between writer and reader | the writer | gets new parameters | it is | the reader saw old words | the host came too early |\n"
           "|---|---|---|---|---|---|\n");
    for (i = 0; i < KINDS * 8; i++) {
        struct row row = { (enum kind)(i / 8), i / 4 % 2, i % 2, i / 2 % 2 };
        int code = ask(&row);
        worst = code > worst ? code : worst;
    }
    return worst;
}
