/* Library code around the wait: libcu++ barriers and pipelines, CUB block algorithms, atomic_ref. */
#include "corpus.h"

#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

BUG(pipeline_object, "async-copy-before-wait|read-before-wait")(const float *a, float *o, int n)
{
    __shared__ float s[2][128];
    cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline();
    p.producer_acquire();
    cuda::memcpy_async(&s[0][threadIdx.x], a + threadIdx.x, sizeof(float), p);
    p.producer_commit();
    pdl_wait();
    for (int t = 1; t < n; t++) {
        p.producer_acquire();
        cuda::memcpy_async(&s[t & 1][threadIdx.x], a + t * 128 + threadIdx.x, sizeof(float), p);
        p.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(p);
        o[(t - 1) * 128 + threadIdx.x] = s[(t - 1) & 1][threadIdx.x];
        p.consumer_release();
    }
}
OK(pipeline_object)(const float *a, float *o, int n)
{
    __shared__ float s[2][128];
    cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline();
    pdl_wait();
    p.producer_acquire();
    cuda::memcpy_async(&s[0][threadIdx.x], a + threadIdx.x, sizeof(float), p);
    p.producer_commit();
    for (int t = 1; t < n; t++) {
        p.producer_acquire();
        cuda::memcpy_async(&s[t & 1][threadIdx.x], a + t * 128 + threadIdx.x, sizeof(float), p);
        p.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(p);
        o[(t - 1) * 128 + threadIdx.x] = s[(t - 1) & 1][threadIdx.x];
        p.consumer_release();
    }
}

BUG(barrier_object, "async-copy-before-wait|read-before-wait")(const float *a, float *o)
{
    __shared__ float s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) {
        init(&b, blockDim.x);
    }
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], a + threadIdx.x, sizeof(float), b);
    pdl_wait();
    b.arrive_and_wait();
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}
OK(barrier_object)(const float *a, float *o)
{
    __shared__ float s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) {
        init(&b, blockDim.x);
    }
    __syncthreads();
    pdl_wait();
    cuda::memcpy_async(&s[threadIdx.x], a + threadIdx.x, sizeof(float), b);
    b.arrive_and_wait();
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}

BUG(block_load, "read-before-wait")(const float *a, float *o)
{
    typedef cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> load;
    __shared__ typename load::TempStorage storage;
    float x[4];
    load(storage).Load(a + blockIdx.x * 512, x);
    pdl_wait();
    for (int i = 0; i < 4; i++) {
        o[blockIdx.x * 512 + i * 128 + threadIdx.x] = x[i];
    }
}
OK(block_load)(const float *a, float *o)
{
    typedef cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> load;
    typedef cub::BlockScan<float, 128> scan;
    __shared__ typename load::TempStorage storage;
    __shared__ typename scan::TempStorage scratch;
    float x[4], before = (float)threadIdx.x;
    scan(scratch).ExclusiveSum(before, before);
    pdl_wait();
    load(storage).Load(pdl_fresh(a) + blockIdx.x * 512, x);
    for (int i = 0; i < 4; i++) {
        o[blockIdx.x * 512 + i * 128 + threadIdx.x] = x[i] + before;
    }
}

BUG(block_reduce, "partial-wait|path-without-wait")(const float *a, float *o)
{
    typedef cub::BlockReduce<float, 128> reduce;
    __shared__ typename reduce::TempStorage storage;
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    float sum = reduce(storage).Sum(*(const volatile float *)(a + threadIdx.x)); /* reads ahead of the barrier in it */
    if (threadIdx.x == 0) {
        o[blockIdx.x] = sum;
    }
}
OK(block_reduce)(const float *a, float *o)
{
    typedef cub::BlockReduce<float, 128> reduce;
    __shared__ typename reduce::TempStorage storage;
    pdl_wait();
    float sum = reduce(storage).Sum(*(const volatile float *)(a + threadIdx.x));
    if (threadIdx.x == 0) {
        o[blockIdx.x] = sum;
    }
}

BUG(atomic_object, "atomic-before-wait")(unsigned *counter, float *o)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*counter);
    unsigned mine = c.fetch_add(1, cuda::memory_order_acq_rel);
    pdl_wait();
    o[mine] = 1.0f;
}
OK(atomic_object)(unsigned *counter, float *o)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*counter);
    pdl_wait();
    unsigned mine = c.fetch_add(1, cuda::memory_order_acq_rel);
    o[mine] = 1.0f;
}

BUG(acquired_flag, "read-before-wait|atomic-before-wait")(unsigned *flag, const float *a, float *o)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> f(*flag);
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(acquired_flag)(unsigned *flag, const float *a, float *o)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> f(*flag);
    pdl_wait();
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    o[threadIdx.x] = a[threadIdx.x];
}

/* Arrival and wait apart: the warp that waits for the earlier grid does so before it arrives, or after. */
template <bool late> INLINED void token(const float *a, float *o)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) {
        init(&b, blockDim.x);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (!late) {
            pdl_wait();
        }
        auto arrived = b.arrive();
        if (late) {
            pdl_wait();
        }
        b.wait(cuda::std::move(arrived));
    } else {
        b.arrive_and_wait();
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
}
BUG(barrier_token, "partial-wait|path-without-wait|read-before-wait|write-before-wait")(const float *a, float *o) { token<true>(a, o); }
OK(barrier_token)(const float *a, float *o) { token<false>(a, o); }
