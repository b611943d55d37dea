// crowded.cu - loads a GPU until it is killed: `crowded compute|memory|graphs`; see crowded.py
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t error_ = (call);                                                    \
        if (error_ != cudaSuccess) {                                                    \
            std::fprintf(stderr, "crowded: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                  \
        }                                                                               \
    } while (0)

enum { WORDS = 1 << 26, BLOCKS = 1056, THREADS = 256, NODES = 200 };

// About a millisecond of arithmetic in every block.
__global__ void compute(float *words)
{
    float x = threadIdx.x;
    for (int i = 0; i < 100000; i++)
        x = x * 1.0001f + 0.5f;
    words[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void move(float *words)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < WORDS / 2; i += gridDim.x * blockDim.x)
        words[WORDS / 2 + i] = words[i] + 1.0f;
}
__global__ void touch(float *words) { words[threadIdx.x] += 1.0f; }

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    float *words;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaMalloc(&words, WORDS * sizeof *words));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (std::strcmp(how, "compute") == 0) {
        compute<<<BLOCKS, THREADS, 0, stream>>>(words);
    } else if (std::strcmp(how, "memory") == 0) {
        move<<<BLOCKS, THREADS, 0, stream>>>(words);
    } else if (std::strcmp(how, "graphs") == 0) {
        for (int i = 0; i < NODES; i++)
            touch<<<1, THREADS, 0, stream>>>(words);
    } else {
        return 64;
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::printf("loading\n");
    std::fflush(stdout);
    for (;;) {
        for (int i = 0; i < 8; i++)
            CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
}
