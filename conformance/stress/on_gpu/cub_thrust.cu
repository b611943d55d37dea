// cub_thrust.cu - device-wide algorithms of CUB and Thrust, eagerly and in a graph; prints a digest of all their results
//
// All of them are exact in integers, so the digest is the same in every run. CUB's merge sort is a program of its own.
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error));                \
            std::exit(69);                                                            \
        }                                                                             \
    } while (0)

enum { KEYS = 1 << 20, ROUNDS = 10, BINS = 64 };
using words = thrust::device_vector<unsigned>;

struct odd {
    __host__ __device__ bool operator()(unsigned x) const { return x & 1; }
};
struct mixed {
    __host__ __device__ unsigned operator()(unsigned x) const { return (x ^ x >> 7) * 2654435761u; }
};

static unsigned long long digest = 14695981039346656037ull;
static cudaStream_t stream;
static void *storage;
static size_t room;

static void take(const words &from)
{
    std::vector<unsigned> host(from.size());
    CHECK(cudaMemcpy(host.data(), thrust::raw_pointer_cast(from.data()), from.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (unsigned word : host)
        digest = (digest ^ word) * 1099511628211ull;
}

// CUB's algorithms are asked first how much temporary storage they need.
template <typename Algorithm> static void reserve(Algorithm algorithm)
{
    size_t bytes = 0;
    CHECK(algorithm(nullptr, bytes));
    if (bytes > room) {
        CHECK(cudaFree(storage));
        CHECK(cudaMalloc(&storage, room = bytes));
    }
}

struct cub_chain {
    unsigned *keys, *sorted, *sums, *chosen, *few;

    template <typename Step> void each(Step step) const
    {
        const cub_chain c = *this;
        step([c](void *s, size_t &n) { return cub::DeviceRadixSort::SortKeys(s, n, c.keys, c.sorted, (int)KEYS, 0, 32, stream); });
        step([c](void *s, size_t &n) { return cub::DeviceScan::InclusiveSum(s, n, c.sorted, c.sums, (int)KEYS, stream); });
        step([c](void *s, size_t &n) { return cub::DeviceReduce::Sum(s, n, c.sums, c.few, (int)KEYS, stream); });
        step([c](void *s, size_t &n) { return cub::DeviceReduce::Max(s, n, c.sums, c.few + 1, (int)KEYS, stream); });
        step([c](void *s, size_t &n) { return cub::DeviceSelect::If(s, n, c.sums, c.chosen, c.few + 2, (int)KEYS, odd(), stream); });
        step([c](void *s, size_t &n) {
            return cub::DeviceHistogram::HistogramEven(s, n, c.keys, c.few + 4, BINS + 1, 0u, 1u << 31, (int)KEYS, stream);
        });
    }
};

static void by_cub(const words &in)
{
    words keys = in, sorted(KEYS), sums(KEYS), chosen(KEYS), few(4 + BINS);
    const cub_chain chain = {thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(sorted.data()), thrust::raw_pointer_cast(sums.data()),
                             thrust::raw_pointer_cast(chosen.data()), thrust::raw_pointer_cast(few.data())};
    const auto queue = [&] {
        chain.each([](auto algorithm) {
            size_t bytes = room;
            CHECK(algorithm(storage, bytes));
        });
    };
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    chain.each([](auto algorithm) { reserve(algorithm); });
    for (int round = 0; round < ROUNDS; round++)
        queue();
    CHECK(cudaStreamSynchronize(stream));
    take(sums);
    take(few);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    queue();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < ROUNDS; round++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    for (const words *result : {&sorted, &sums, &few})
        take(*result);
}

static void by_thrust(const words &in)
{
    for (int round = 0; round < ROUNDS; round++) {
        words keys = in, values(KEYS), sums(KEYS), chosen(KEYS);
        thrust::transform(in.begin(), in.end(), values.begin(), mixed());
        thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
        thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
        chosen.resize(thrust::copy_if(sums.begin(), sums.end(), chosen.begin(), odd()) - chosen.begin());
        thrust::sort(chosen.begin(), chosen.end());
        chosen.resize(thrust::unique(chosen.begin(), chosen.end()) - chosen.begin());
        digest = (digest ^ thrust::reduce(chosen.begin(), chosen.end())) * 1099511628211ull;
        take(keys);
        take(sums);
    }
}

int main()
{
    std::vector<unsigned> host(KEYS);
    unsigned state = 1;
    for (unsigned &word : host)
        word = state = state * 1664525u + 1013904223u;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const words in(host.begin(), host.end());
    CHECK(cudaDeviceSynchronize());
    by_cub(in);
    by_thrust(in);
    std::printf("%016llx\n", digest);
    return 0;
}
