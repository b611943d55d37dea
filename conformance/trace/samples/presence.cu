/* presence.cu - what a tracing tool changes: chains of short kernels that note their own start and end by the device's clock
 *
 * usage: presence graph|eager plain|pdl [KERNELS] [REPEATS] [NANOSECONDS] [BLOCKS]
 *
 * Prints one JSON object: the time per kernel between two events around a whole chain, and, between each kernel and the
 * next, overlap (negative: gap) as the kernels saw it. Run it alone, then under a tool, and compare.
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
            std::fprintf(stderr, "presence: %s: %s\n", #call, cudaGetErrorString(error_));                                \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)

struct stamps {
    unsigned long long start, end;
};

static __device__ unsigned long long now(void)
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

static __device__ void hold(unsigned long long from, unsigned ns)
{
    for (int i = 0; i < 1000000 && now() - from < ns; i++) {
    }
}

__global__ void link_of_chain(stamps *out, unsigned ns)
{
    const unsigned long long start = now();
    pdl_trigger();
    hold(start, ns / 2);
    pdl_wait();
    hold(now(), ns / 2);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&out->start, start);
        atomicMax(&out->end, now());
    }
}

static void launch(stamps *out, unsigned ns, int blocks, bool overlap, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap ? 1 : 0;
    TRY(cudaLaunchKernelEx(&config, link_of_chain, out, ns));
}

static double percentile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[(size_t)(share * (double)(values.size() - 1))];
}

int main(int argc, char **argv)
{
    const bool graph = argc > 1 && std::strcmp(argv[1], "graph") == 0, pdl = argc > 2 && std::strcmp(argv[2], "pdl") == 0;
    const int kernels = argc > 3 ? std::atoi(argv[3]) : 200, repeats = argc > 4 ? std::atoi(argv[4]) : 50;
    const unsigned ns = argc > 5 ? (unsigned)std::atoi(argv[5]) : 2000;
    const int blocks = argc > 6 ? std::atoi(argv[6]) : 4;
    std::vector<double> per_kernel, overlaps;
    std::vector<stamps> seen((size_t)kernels);
    stamps *stamps_on_device;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraphExec_t exec = nullptr;

    if (argc < 3 || kernels < 2 || repeats < 1 || blocks < 1) {
        std::fprintf(stderr, "usage: presence graph|eager plain|pdl [KERNELS] [REPEATS] [NANOSECONDS] [BLOCKS]\n");
        return 64;
    }
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    TRY(cudaMalloc(&stamps_on_device, sizeof(stamps) * (size_t)kernels));
    if (graph) {
        cudaGraph_t made;
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int i = 0; i < kernels; i++) {
            launch(stamps_on_device + i, ns, blocks, pdl, stream);
        }
        TRY(cudaStreamEndCapture(stream, &made));
        TRY(cudaGraphInstantiate(&exec, made, 0));
    }
    for (int r = 0; r < repeats + 3; r++) { /* the first three warm up */
        for (stamps &s : seen) {
            s = {~0ull, 0};
        }
        TRY(cudaMemcpy(stamps_on_device, seen.data(), sizeof(stamps) * seen.size(), cudaMemcpyHostToDevice));
        TRY(cudaEventRecord(begin, stream));
        if (graph) {
            TRY(cudaGraphLaunch(exec, stream));
        }
        for (int i = 0; !graph && i < kernels; i++) {
            launch(stamps_on_device + i, ns, blocks, pdl, stream);
        }
        TRY(cudaEventRecord(end, stream));
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaMemcpy(seen.data(), stamps_on_device, sizeof(stamps) * seen.size(), cudaMemcpyDeviceToHost));
        float ms = 0;
        TRY(cudaEventElapsedTime(&ms, begin, end));
        if (r >= 3) {
            per_kernel.push_back(1000.0 * ms / kernels);
            for (int i = 0; i + 1 < kernels; i++) {
                overlaps.push_back(((double)seen[(size_t)i].end - (double)seen[(size_t)i + 1].start) / 1000);
            }
        }
    }
    const double share = (double)std::count_if(overlaps.begin(), overlaps.end(), [](double o) { return o > 0; });
    std::printf("{\"path\": \"%s\", \"pdl\": %s, \"kernels\": %d, \"us_per_kernel\": {\"p10\": %.3f, \"p50\": %.3f, \"p90\": %.3f}, "
                "\"overlapping\": %.4f, \"overlap_us\": {\"p5\": %.3f, \"p50\": %.3f, \"p95\": %.3f}}\n",
                graph ? "graph" : "eager", pdl ? "true" : "false", kernels, percentile(per_kernel, 0.1), percentile(per_kernel, 0.5),
                percentile(per_kernel, 0.9), share / (double)overlaps.size(), percentile(overlaps, 0.05), percentile(overlaps, 0.5),
                percentile(overlaps, 0.95));
    const char *path = std::getenv("PRESENCE_STAMPS");
    std::FILE *file = path ? std::fopen(path, "w") : nullptr;
    for (size_t i = 0; file && i < seen.size(); i++) { /* of the last repetition */
        std::fprintf(file, "%llu %llu\n", seen[i].start, seen[i].end);
    }
    return file && std::fclose(file) != 0;
}
