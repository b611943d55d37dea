/* inside.cu - kernels that note themselves what `trace --inside` records: start, wait begun, wait ended, trigger, exit of each block
 *
 * usage: inside graph|eager plain|pdl [KERNELS] [REPLAYS] [BLOCKS]
 *
 * stdout: one JSON object with a digest of the results and the time per kernel. $INSIDE_STAMPS names a file for the times: one
 * line per launch and block. In half of the blocks only one warp triggers and one leaves early.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "../../../pdl_device.cuh"

#define TRY(call)                                                                                                         \
    do {                                                                                                                  \
        cudaError_t error_ = (call);                                                                                      \
        if (error_ != cudaSuccess) {                                                                                      \
            std::fprintf(stderr, "inside: %s: %s\n", #call, cudaGetErrorString(error_));                                  \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)

enum { THREADS = 128, WARPS = THREADS / 32, PROLOGUE_NS = 1000, MAIN_NS = 2000, LEAVES_EARLY = 3 };

struct stamps {
    unsigned long long start, wait_begun, wait_ended, trigger, exit;
};

static __device__ __forceinline__ unsigned long long now(void)
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

static __device__ __forceinline__ void hold(unsigned ns)
{
    const unsigned long long from = now();
    for (int i = 0; i < 1000000 && now() - from < ns; i++) {
    }
}

/* Each warp's own times; a wait or trigger that is not reached leaves its 0. */
__global__ void stamped(stamps *out, unsigned *next, const unsigned *last)
{
    stamps own = {now(), 0, 0, 0, 0};
    const unsigned warp = threadIdx.x / 32, i = blockIdx.x * THREADS + threadIdx.x;
    const bool odd = blockIdx.x % 2 == 1;
    hold(PROLOGUE_NS);
    if (!odd || warp == 0) { /* of an odd block only one warp triggers: that counts for the block */
        own.trigger = now();
        pdl_trigger();
    }
    own.wait_begun = now();
    pdl_wait();
    own.wait_ended = now();
    next[i] = pdl_fresh(last)[i] * 1664525u + 1013904223u;
    if (!(odd && warp == LEAVES_EARLY)) {
        hold(MAIN_NS);
    }
    if (threadIdx.x % 32 == 0) {
        stamps *place = out + (size_t)blockIdx.x * WARPS + warp;
        place->start = own.start;
        place->wait_begun = own.wait_begun;
        place->wait_ended = own.wait_ended;
        place->trigger = own.trigger;
        place->exit = now();
    }
}

static void launch(stamps *out, unsigned *next, const unsigned *last, int blocks, bool overlap, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap ? 1 : 0;
    TRY(cudaLaunchKernelEx(&config, stamped, out, next, last));
}

/* One line per block: its first warp's start, wait and trigger, its last warp's end of the wait and exit, as the records are read. */
static void write_blocks(std::FILE *file, const std::vector<stamps> &seen, int launches, int blocks)
{
    for (int b = 0; b < launches * blocks; b++) {
        stamps block = {~0ull, ~0ull, 0, ~0ull, 0};
        for (int w = 0; w < WARPS; w++) {
            const stamps &warp = seen[(size_t)b * WARPS + (size_t)w];
            block.start = std::min(block.start, warp.start);
            block.wait_begun = std::min(block.wait_begun, warp.wait_begun);
            block.wait_ended = std::max(block.wait_ended, warp.wait_ended);
            block.trigger = warp.trigger ? std::min(block.trigger, warp.trigger) : block.trigger;
            block.exit = std::max(block.exit, warp.exit);
        }
        std::fprintf(file, "%d %d %llu %llu %llu %llu %llu\n", b / blocks, b % blocks, block.start, block.wait_begun, block.wait_ended,
                     block.trigger, block.exit);
    }
}

int main(int argc, char **argv)
{
    const bool graph = argc > 1 && std::strcmp(argv[1], "graph") == 0, pdl = argc > 2 && std::strcmp(argv[2], "pdl") == 0;
    const int kernels = argc > 3 ? std::atoi(argv[3]) : 40, replays = argc > 4 ? std::atoi(argv[4]) : 20;
    const int blocks = argc > 5 ? std::atoi(argv[5]) : 132;
    if (argc < 3 || kernels < 2 || replays < 1 || blocks < 1) {
        std::fprintf(stderr, "usage: inside graph|eager plain|pdl [KERNELS] [REPLAYS] [BLOCKS]\n");
        return 64;
    }
    const size_t words = (size_t)blocks * THREADS, warps = (size_t)kernels * (size_t)blocks * WARPS;
    std::vector<stamps> seen(warps), all;
    std::vector<unsigned> result(words);
    std::vector<float> per_kernel;
    stamps *stamps_on_device;
    unsigned *buffer[2];
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraphExec_t exec = nullptr;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    TRY(cudaMalloc(&stamps_on_device, warps * sizeof(stamps)));
    for (unsigned *&b : buffer) {
        TRY(cudaMalloc(&b, words * sizeof(unsigned)));
        TRY(cudaMemset(b, 1, words * sizeof(unsigned)));
    }
    auto chain = [&] {
        for (int i = 0; i < kernels; i++) {
            launch(stamps_on_device + (size_t)i * (size_t)blocks * WARPS, buffer[(i + 1) % 2], buffer[i % 2], blocks, pdl, stream);
        }
    };
    if (graph) { /* the first that the driver sees of the kernel is this capture, so its code is loaded in it */
        cudaGraph_t made;
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        chain();
        TRY(cudaStreamEndCapture(stream, &made));
        TRY(cudaGraphInstantiate(&exec, made, 0));
    }
    for (int r = 0; r < replays; r++) {
        float ms = 0;
        TRY(cudaEventRecord(begin, stream));
        if (graph) {
            TRY(cudaGraphLaunch(exec, stream));
        } else {
            chain();
        }
        TRY(cudaEventRecord(end, stream));
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaEventElapsedTime(&ms, begin, end));
        per_kernel.push_back(1000.0f * ms / (float)kernels);
        TRY(cudaMemcpy(seen.data(), stamps_on_device, warps * sizeof(stamps), cudaMemcpyDeviceToHost));
        all.insert(all.end(), seen.begin(), seen.end());
    }
    TRY(cudaMemcpy(result.data(), buffer[kernels % 2], words * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned digest = 2166136261u;
    for (unsigned word : result) {
        digest = (digest ^ word) * 16777619u;
    }
    std::sort(per_kernel.begin(), per_kernel.end());
    const char *path = std::getenv("INSIDE_STAMPS");
    std::FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (path && !file) {
        std::fprintf(stderr, "inside: %s cannot be written\n", path);
        return 1;
    }
    std::FILE *const outputs[] = {stdout, file};
    for (std::FILE *output : outputs) {
        if (output) {
            std::fprintf(output, "{\"path\": \"%s\", \"pdl\": %s, \"launches\": %d, \"blocks\": %d, \"digest\": %u, \"us_per_kernel\": %.3f}\n",
                         graph ? "graph" : "eager", pdl ? "true" : "false", kernels * replays, blocks, digest,
                         (double)per_kernel[per_kernel.size() / 2]);
        }
    }
    if (file) {
        write_blocks(file, all, kernels * replays, blocks);
    }
    return file && std::fclose(file) != 0;
}
