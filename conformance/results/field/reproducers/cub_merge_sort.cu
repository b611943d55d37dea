/* cub_merge_sort.cu - sorts with CUB's merge sort and compares with the host's.
 *
 *     nvcc -std=c++17 -arch=sm_90 -cudart shared -o cub_merge_sort cub_merge_sort.cu
 *     ./cub_merge_sort                                          # as shipped
 *     python3 conformance stress -- ./cub_merge_sort            # the same program with its window opened
 *
 * The sort's own kernels do not trigger early enough to show the early read; stress puts a trigger and a delay in front of each
 * primary, which is legal for any kernel. Exit code: 0 every sort is right; 1 one was wrong; 69 the program could not run.
 */
#include <algorithm>
#include <cstdio>
#include <cub/device/device_merge_sort.cuh>
#include <vector>

#define TRY(call)                                                                              \
    do {                                                                                       \
        cudaError_t error_ = (call);                                                           \
        if (error_ != cudaSuccess) {                                                           \
            std::fprintf(stderr, "cub_merge_sort: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                         \
        }                                                                                      \
    } while (0)

enum { RUNS = 30, KEYS = 1 << 20 };

struct less_than {
    __host__ __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};

int main()
{
    std::vector<unsigned> keys(KEYS), sorted(KEYS);
    unsigned *device, state = 1;
    void *storage = nullptr;
    size_t bytes = 0;
    int wrong = 0;

    TRY(cudaMalloc(&device, KEYS * sizeof *device));
    TRY(cub::DeviceMergeSort::SortKeys(nullptr, bytes, device, (int)KEYS, less_than()));
    TRY(cudaMalloc(&storage, bytes));
    for (int run = 0; run < RUNS; run++) {
        for (unsigned &key : keys)
            key = state = state * 1664525u + 1013904223u;
        TRY(cudaMemcpy(device, keys.data(), KEYS * sizeof *device, cudaMemcpyHostToDevice));
        TRY(cub::DeviceMergeSort::SortKeys(storage, bytes, device, (int)KEYS, less_than()));
        TRY(cudaMemcpy(sorted.data(), device, KEYS * sizeof *device, cudaMemcpyDeviceToHost));
        std::sort(keys.begin(), keys.end());
        wrong += keys != sorted;
    }
    std::printf("%d of %d sorts wrong\n", wrong, (int)RUNS);
    return wrong != 0;
}
