// clean_chain.cu - correct kernels only: a chain in a graph, run many times, its words copied to the host after each run
//
//     clean_chain [RUNS [DEVICES [race]]]      race: on the last device one kernel does not wait for the one before it
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../../pdl_device.cuh"

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));        \
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
extern "C" __global__ void mix_quiet(unsigned *a, unsigned key)
{
    pdl_wait();
    a[HERE] = (a[HERE] ^ key) * 2654435761u;
}
extern "C" __global__ void shift_early(unsigned *a, unsigned *b)
{
    b[HERE] = a[(HERE + 77) % (gridDim.x * blockDim.x)];
}

static cudaGraphExec_t chain(unsigned **a, unsigned **b, unsigned words, unsigned seed, bool race, cudaStream_t stream)
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
        CHECK(cudaLaunchKernelEx(&config, race ? mix_quiet : mix, *a, i));
        CHECK(cudaLaunchKernelEx(&config, race ? shift_early : shift, *a, *b));
        unsigned *other = *a;
        *a = *b;
        *b = other;
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void run_on(int device, unsigned runs, bool race)
{
    const unsigned words = 1 << 16;
    unsigned *a, *b, *host;
    cudaStream_t stream;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&a, words * sizeof *a));
    CHECK(cudaMalloc(&b, words * sizeof *b));
    CHECK(cudaMallocHost(&host, words * sizeof *host));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned run = 0; run < runs; run++) {
        cudaGraphExec_t exec = chain(&a, &b, words, run + 1, race, stream);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(host, a, words * sizeof *host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(exec));
    }
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)std::atoi(argv[1]) : 50;
    int devices = argc > 2 ? std::atoi(argv[2]) : 1;
    for (int device = 0; device < devices; device++) {
        run_on(device, runs, argc > 3 && device + 1 == devices);
    }
    return 0;
}
