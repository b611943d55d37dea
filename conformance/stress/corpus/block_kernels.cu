/* block_kernels.cu - block-wide algorithms of CUB in many shapes; compiles under nvcc and under NVRTC alone */
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

template <typename type, int threads> __device__ void reduce(type *out, const type *in)
{
    using algorithm = cub::BlockReduce<type, threads>;
    __shared__ typename algorithm::TempStorage room;
    type sum = algorithm(room).Sum(in[blockIdx.x * threads + threadIdx.x]);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

template <typename type, int threads> __device__ void scan(type *out, const type *in)
{
    using algorithm = cub::BlockScan<type, threads>;
    __shared__ typename algorithm::TempStorage room;
    type mine;
    algorithm(room).InclusiveSum(in[blockIdx.x * threads + threadIdx.x], mine);
    out[blockIdx.x * threads + threadIdx.x] = mine;
}

template <typename type, int threads> __device__ void sort(type *out, const type *in)
{
    using algorithm = cub::BlockRadixSort<type, threads, 4>;
    using loader = cub::BlockLoad<type, threads, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ union { typename algorithm::TempStorage sort; typename loader::TempStorage load; } room;
    type mine[4];
    loader(room.load).Load(in + blockIdx.x * threads * 4, mine);
    __syncthreads();
    algorithm(room.sort).Sort(mine);
    cub::StoreDirectBlocked(threadIdx.x, out + blockIdx.x * threads * 4, mine);
}

template <typename type, int threads> __device__ void warps(type *out, const type *in)
{
    using algorithm = cub::WarpReduce<type>;
    __shared__ typename algorithm::TempStorage room[threads / 32];
    out[blockIdx.x * threads + threadIdx.x] = algorithm(room[threadIdx.x / 32]).Sum(in[blockIdx.x * threads + threadIdx.x]);
}

#define ONE(what, type, threads) \
    extern "C" __global__ void what##_##type##_##threads(type *out, const type *in) { what<type, threads>(out, in); }
#define SIZES(what, type) ONE(what, type, 64) ONE(what, type, 256)
#define KERNELS(type) SIZES(reduce, type) SIZES(scan, type) SIZES(sort, type) SIZES(warps, type)
KERNELS(int)
KERNELS(float)
KERNELS(double)
