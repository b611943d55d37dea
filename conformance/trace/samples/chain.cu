/* chain.cu - the same graph of short kernels written without PDL, with a wait first, and with a trigger and a wait first
 *
 * usage: chain plain|wait|trigger [KERNELS] [NANOSECONDS] [BLOCKS]
 *
 * `whatif` on the first has to find what the others have: the time per kernel is printed by each.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../../pdl.h"
#include "../../../pdl_device.cuh"

#define TRY(call)                                                                                                         \
    do {                                                                                                                  \
        cudaError_t error_ = (call);                                                                                      \
        if (error_ != cudaSuccess) {                                                                                      \
            std::fprintf(stderr, "chain: %s: %s\n", #call, cudaGetErrorString(error_));                                   \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)

static __device__ void work(unsigned *out, const unsigned *in, unsigned ns)
{
    unsigned long long from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
    for (int i = 0; i < 1000000; i++) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
        if (now - from >= ns) {
            break;
        }
    }
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 1664525u + 1013904223u;
}

__global__ void plain(unsigned *out, const unsigned *in, unsigned ns) { work(out, in, ns); }

__global__ void waits(unsigned *out, const unsigned *in, unsigned ns)
{
    pdl_wait();
    work(pdl_fresh(out), pdl_fresh(in), ns);
}

__global__ void triggers(unsigned *out, const unsigned *in, unsigned ns)
{
    pdl_trigger();
    pdl_wait();
    work(pdl_fresh(out), pdl_fresh(in), ns);
}

typedef void (*link_type)(unsigned *, const unsigned *, unsigned);

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const link_type link = std::strcmp(mode, "wait") == 0 ? waits : std::strcmp(mode, "trigger") == 0 ? triggers : plain;
    const int kernels = argc > 2 ? std::atoi(argv[2]) : 40, blocks = argc > 4 ? std::atoi(argv[4]) : 132, threads = 128;
    const unsigned ns = argc > 3 ? (unsigned)std::atoi(argv[3]) : 2000;
    enum { REPLAYS = 20, ROUNDS = 40 };
    unsigned *buffer[2], sum = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t begin, end;
    float ms = 0, least = 1e9f;

    if (argc < 2 || kernels < 1 || blocks < 1 || (link == plain && std::strcmp(mode, "plain") != 0)) {
        std::fprintf(stderr, "usage: chain plain|wait|trigger [KERNELS] [NANOSECONDS] [BLOCKS]\n");
        return 64;
    }
    pdl_kernel kernel;
    pdl_options options = PDL_ZERO;
    options.overlap = link == plain ? PDL_OVERLAP_NONE : PDL_OVERLAP_REQUIRED;
    TRY(pdl_kernel_init(&kernel, (const void *)link));
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    for (unsigned *&b : buffer) {
        TRY(cudaMalloc(&b, sizeof(unsigned) * (size_t)blocks * threads));
        TRY(cudaMemset(b, 1, sizeof(unsigned) * (size_t)blocks * threads));
    }
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++) {
        TRY(pdl_launch(&kernel, link, (unsigned)blocks, threads, 0, stream, &options, buffer[(i + 1) % 2], (const unsigned *)buffer[i % 2], ns));
    }
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    for (int r = 0; r < ROUNDS; r++) {
        TRY(cudaEventRecord(begin, stream));
        for (int i = 0; i < REPLAYS; i++) {
            TRY(cudaGraphLaunch(exec, stream));
        }
        TRY(cudaEventRecord(end, stream));
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaEventElapsedTime(&ms, begin, end));
        least = ms < least ? ms : least;
    }
    TRY(cudaMemcpy(&sum, buffer[kernels % 2], sizeof sum, cudaMemcpyDeviceToHost));
    std::fprintf(stderr, "{\"mode\": \"%s\", \"us_per_kernel\": %.4f}\n", mode, 1000.0 * least / REPLAYS / kernels);
    std::printf("%u\n", sum);
    return 0;
}
