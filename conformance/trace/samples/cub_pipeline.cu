/* cub_pipeline.cu - a program that knows nothing of PDL: CUB sorts, scans and reduces, again and again; prints a digest
 *
 * usage: cub_pipeline [graph]      with `graph` each round is the launch of a graph that was captured once
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cub/cub.cuh>

#define TRY(call)                                                                                                         \
    do {                                                                                                                  \
        cudaError_t error_ = (call);                                                                                      \
        if (error_ != cudaSuccess) {                                                                                      \
            std::fprintf(stderr, "cub_pipeline: %s: %s\n", #call, cudaGetErrorString(error_));                            \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)

__global__ void fill(unsigned *out, int n, unsigned seed)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        out[i] = ((unsigned)i * 2654435761u ^ seed) * 1664525u + 1013904223u;
    }
}

int main(int argc, char **argv)
{
    const bool graph = argc > 1 && std::strcmp(argv[1], "graph") == 0;
    static const int N = 1 << 16;
    enum { ROUNDS = 60, PER_ROUND = 10 };
    unsigned *keys, *sorted, *scanned, *sum, answer = 0, digest = 0;
    void *room = nullptr;
    size_t bytes = 0, most = 0;
    TRY(cudaMalloc(&keys, (size_t)N * sizeof *keys));
    TRY(cudaMalloc(&sorted, (size_t)N * sizeof *sorted));
    TRY(cudaMalloc(&scanned, (size_t)N * sizeof *scanned));
    TRY(cudaMalloc(&sum, sizeof *sum));
    TRY(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, sorted, N));
    most = bytes;
    TRY(cub::DeviceScan::InclusiveSum(nullptr, bytes, sorted, scanned, N));
    most = bytes > most ? bytes : most;
    TRY(cub::DeviceReduce::Max(nullptr, bytes, scanned, sum, N));
    most = bytes > most ? bytes : most;
    TRY(cudaMalloc(&room, most));
    cudaStream_t stream;
    cudaGraphExec_t exec = nullptr;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    auto round = [&](unsigned seed) {
        for (unsigned k = 0; k < PER_ROUND; k++) {
            fill<<<N / 256, 256, 0, stream>>>(keys, N, seed * PER_ROUND + k);
            TRY(cudaGetLastError());
            bytes = most;
            TRY(cub::DeviceRadixSort::SortKeys(room, bytes, keys, sorted, N, 0, 32, stream));
            bytes = most;
            TRY(cub::DeviceScan::InclusiveSum(room, bytes, sorted, scanned, N, stream));
            bytes = most;
            TRY(cub::DeviceReduce::Max(room, bytes, scanned, sum, N, stream));
        }
    };
    if (graph) {
        cudaGraph_t made;
        round(0);
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        round(1);
        TRY(cudaStreamEndCapture(stream, &made));
        TRY(cudaGraphInstantiate(&exec, made, 0));
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        if (graph) {
            TRY(cudaGraphLaunch(exec, stream));
        } else {
            round(r);
        }
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaMemcpy(&answer, sum, sizeof answer, cudaMemcpyDeviceToHost));
        digest = digest * 31u + answer;
    }
    std::printf("%u\n", digest);
    return 0;
}
