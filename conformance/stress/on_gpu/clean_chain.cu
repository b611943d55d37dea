// clean_chain.cu - correct kernels only: a chain in a graph, run many times, its words copied to the host after each run
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../../pdl_device.cuh"

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error));                \
            std::exit(69);                                                            \
        }                                                                             \
    } while (0)
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void fill(unsigned *a, unsigned seed)
{
    pdl_wait();
    a[HERE] = HERE * seed;
}
extern "C" __global__ void mix(unsigned *a, unsigned key)
{
    pdl_trigger();
    pdl_wait();
    a[HERE] = (a[HERE] ^ key) * 2654435761u;
}
extern "C" __global__ void shift(unsigned *a, unsigned *b)
{
    pdl_wait();
    b[HERE] = a[(HERE + 77) % (gridDim.x * blockDim.x)];
    pdl_trigger();
}

static cudaGraphExec_t chain(unsigned **a, unsigned **b, unsigned words, unsigned seed, cudaStream_t stream)
{
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t config = {};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = words / 256;
    config.blockDim = 256;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = 1;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaLaunchKernelEx(&config, fill, *a, seed));
    for (unsigned i = 0; i < 5; i++) {
        CHECK(cudaLaunchKernelEx(&config, mix, *a, i));
        CHECK(cudaLaunchKernelEx(&config, shift, *a, *b));
        unsigned *other = *a;
        *a = *b;
        *b = other;
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

int main(int argc, char **argv)
{
    const unsigned words = 1 << 16;
    unsigned *a, *b, *host, runs = argc > 1 ? (unsigned)std::atoi(argv[1]) : 50;
    cudaStream_t stream;
    CHECK(cudaMalloc(&a, words * sizeof *a));
    CHECK(cudaMalloc(&b, words * sizeof *b));
    CHECK(cudaMallocHost(&host, words * sizeof *host));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned run = 0; run < runs; run++) {
        cudaGraphExec_t exec = chain(&a, &b, words, run + 1, stream);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(host, a, words * sizeof *host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(exec));
    }
    return 0;
}
