/* cluster_update.cu - updates an executable graph by a graph whose kernel has clusters of another size.
 *
 *     nvcc -arch=sm_90 -o cluster_update cluster_update.cu && ./cluster_update
 *
 * Stand-alone. One kernel node, built by hand or captured; all of its launch changes: grid, threads, dynamic shared memory and the cluster. Before
 * the update the executable graph has been launched, uploaded, or neither.
 * cudaGraphExecUpdate may refuse that, or do it. Each row shows what the update said, and what the kernel then saw.
 * Exit code: 0 refused or done in each row; 1 not so; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                          \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "cluster_update: %s: %s\n", #call, cudaGetErrorName(error_)); \
            exit(69);                                                                      \
        }                                                                                  \
    } while (0)

struct shape {
    unsigned cluster, shared_bytes, grid, threads; /* cluster 0: without the attribute */
};

__global__ void look(struct shape *seen)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(seen->cluster));
        asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(seen->shared_bytes));
        seen->grid = gridDim.x;
        seen->threads = blockDim.x;
    }
}

static cudaGraph_t built(const struct shape *shape, struct shape *seen)
{
    void *arguments[] = { &seen };
    cudaKernelNodeParams params = {};
    cudaLaunchAttributeValue value = {};
    cudaGraphNode_t node;
    cudaGraph_t graph;

    params.func = (void *)look;
    params.gridDim = shape->grid;
    params.blockDim = shape->threads;
    params.sharedMemBytes = shape->shared_bytes;
    params.kernelParams = arguments;
    TRY(cudaGraphCreate(&graph, 0));
    TRY(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value.clusterDim.x = shape->cluster;
    value.clusterDim.y = value.clusterDim.z = 1;
    if (shape->cluster)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    return graph;
}

static cudaGraph_t captured(const struct shape *shape, struct shape *seen)
{
    void *arguments[] = { &seen };
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    cudaGraph_t graph;

    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape->cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = shape->grid;
    config.blockDim = shape->threads;
    config.dynamicSmemBytes = shape->shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = shape->cluster ? 1 : 0;
    TRY(cudaStreamCreate(&config.stream));
    TRY(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeRelaxed));
    TRY(cudaLaunchKernelExC(&config, (const void *)look, arguments));
    TRY(cudaStreamEndCapture(config.stream, &graph));
    TRY(cudaStreamDestroy(config.stream));
    return graph;
}

static struct shape launched(cudaGraphExec_t exec, struct shape *seen)
{
    struct shape found;

    TRY(cudaGraphLaunch(exec, 0));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&found, seen, sizeof(found), cudaMemcpyDeviceToHost));
    return found;
}

enum before { LAUNCHED, UPLOADED, FRESH, BEFORES };
static const char *const before_name[] = { "launched", "uploaded", "fresh" };

/* 1 if the update said that it was done, and was not. */
static int row(const char *how, cudaGraph_t (*make)(const struct shape *, struct shape *), enum before is, unsigned from, unsigned to,
               struct shape *seen)
{
    const struct shape before = { from, 256, 8, 64 }, after = { to, 128, 16, 32 };
    struct shape then, alone;
    cudaGraphExec_t exec, other;
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t one = make(&before, seen), two = make(&after, seen);
    cudaError_t answer;
    int wrong;

    TRY(cudaGraphInstantiate(&exec, one, 0));
    TRY(cudaGraphInstantiate(&other, two, 0));
    if (is == LAUNCHED)
        (void)launched(exec, seen);
    if (is == UPLOADED)
        TRY(cudaGraphUpload(exec, 0));
    TRY(cudaDeviceSynchronize());
    memset(&info, 0, sizeof(info));
    answer = cudaGraphExecUpdate(exec, two, &info);
    if (answer != cudaSuccess)
        (void)cudaGetLastError();
    then = launched(exec, seen);
    alone = launched(other, seen);
    wrong = answer == cudaSuccess && memcmp(&then, &alone, sizeof(then)) != 0;
    printf("%-8s %s, cluster %u to %u: %s; the kernel saw %u (shared %u, grid %u, threads %u); instantiated alone %u%s\n", how, before_name[is], from, to,
           cudaGetErrorName(answer), then.cluster, then.shared_bytes, then.grid, then.threads, alone.cluster, wrong ? "  WRONG" : "");
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphExecDestroy(other));
    TRY(cudaGraphDestroy(one));
    TRY(cudaGraphDestroy(two));
    return wrong;
}

int main(void)
{
    static const unsigned sizes[][2] = { { 0, 2 }, { 2, 0 }, { 2, 4 }, { 4, 2 }, { 1, 2 }, { 2, 1 }, { 0, 1 }, { 2, 2 } };
    struct shape *seen;
    unsigned i, is;
    int wrong = 0;

    TRY(cudaMalloc(&seen, sizeof(*seen)));
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (is = 0; is < BEFORES; is++)
            wrong += row("built", built, (enum before)is, sizes[i][0], sizes[i][1], seen);
        for (is = 0; is < BEFORES; is++)
            wrong += row("captured", captured, (enum before)is, sizes[i][0], sizes[i][1], seen);
    }
    TRY(cudaFree(seen));
    printf("%d of 48 updates said that they were done, and were not\n", wrong);
    return wrong != 0;
}
