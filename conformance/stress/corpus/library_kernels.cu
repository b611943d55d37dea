/* library_kernels.cu - device-wide algorithms of CUB on one type (-DTYPE=int), as a program would call them */
#include <cub/cub.cuh>

struct less {
    __device__ bool operator()(TYPE a, TYPE b) const { return a < b; }
};

static void call_all(TYPE *in, TYPE *out, int *count, int *offsets, int n)
{
    void *temporary = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(temporary, bytes, in, out, n);
    cub::DeviceReduce::ArgMax(temporary, bytes, in, out, (long long *)count, n);
    cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n);
    cub::DeviceRadixSort::SortKeys(temporary, bytes, in, out, n);
    cub::DeviceMergeSort::SortKeys(temporary, bytes, in, n, less());
    cub::DeviceSelect::Unique(temporary, bytes, in, out, count, n);
    cub::DeviceRunLengthEncode::Encode(temporary, bytes, in, out, count, count + 1, n);
    cub::DeviceSegmentedReduce::Max(temporary, bytes, in, out, n, offsets, offsets + 1);
    cub::DeviceSegmentedSort::SortKeys(temporary, bytes, in, out, n, n, offsets, offsets + 1);
}

int main()
{
    call_all(nullptr, nullptr, nullptr, nullptr, 1);
}
