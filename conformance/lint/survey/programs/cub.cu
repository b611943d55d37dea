/* One call of each of CUB's device-wide algorithms that waits or triggers by itself, so that its kernels are compiled. It never runs. */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_transform.cuh>

struct less_than {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

struct doubled {
    __device__ float operator()(float x) const { return 2.0f * x; }
};

template <typename T> void sort(T *keys, T *sorted, int *values, int n)
{
    size_t bytes = 0;
    cub::DeviceMergeSort::SortKeys(nullptr, bytes, keys, n, less_than());
    cub::DeviceMergeSort::SortPairs(nullptr, bytes, keys, values, n, less_than());
    cub::DeviceMergeSort::StableSortKeys(nullptr, bytes, keys, n, less_than());
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, sorted, n);
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, values, values, n);
}

template <typename T> void fold(T *in, T *out, int *offsets, int n)
{
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, in, out, n);
    cub::DeviceReduce::ReduceByKey(nullptr, bytes, offsets, offsets, in, out, offsets, less_than(), n);
    cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
    cub::DeviceScan::ExclusiveSumByKey(nullptr, bytes, offsets, in, out, n);
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, offsets, offsets + 1);
    cub::DeviceSelect::Unique(nullptr, bytes, in, out, offsets, n);
    cub::DeviceRunLengthEncode::Encode(nullptr, bytes, in, out, offsets, offsets, n);
    cub::DeviceHistogram::HistogramEven(nullptr, bytes, in, offsets, 257, T(0), T(256), n);
}

void use(float *f, int *i, long long *l, int n)
{
    sort(f, f, i, n);
    sort(l, l, i, n);
    fold(f, f, i, n);
    fold(i, i, i, n);
    cub::DeviceTransform::Transform(f, f, n, doubled());
}
