/* Waits that only some threads execute, and what does or does not spread them to the block. */
#include "corpus.h"

BUG(thread0, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    o[threadIdx.x] = a[threadIdx.x];
}
OK(thread0)(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    __syncthreads();
    pdl_fresh(o)[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(wait_block, "read-before-wait")(const float *a, float *o)
{
    float early = *(const volatile float *)a;
    o = pdl_wait_block(o);
    o[threadIdx.x] = early;
}
OK(wait_block)(const float *a, float *o)
{
    o = pdl_wait_block(o);
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(warp0, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncwarp();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(warp0)(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(lane0, "partial-wait")(const float *a, float *o)
{
    if ((threadIdx.x & 31) == 0) {
        pdl_wait();
    }
    __syncwarp(); /* a warp barrier is not enough by the text */
    o[threadIdx.x] = a[threadIdx.x];
}
OK(lane0)(const float *a, float *o)
{
    if ((threadIdx.x & 31) == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(barrier_before, "partial-wait")(const float *a, float *o)
{
    __syncthreads(); /* on the wrong side of the wait */
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    o[threadIdx.x] = a[threadIdx.x];
}
OK(barrier_before)(const float *a, float *o)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(read_between, "partial-wait|read-before-wait")(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    float v = *(const volatile float *)(a + threadIdx.x);
    __syncthreads();
    o[threadIdx.x] = v;
}
OK(read_between)(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    __syncthreads();
    float v = *(const volatile float *)(a + threadIdx.x);
    __syncthreads();
    o[threadIdx.x] = v;
}

BUG(store_between, "partial-wait")(float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    o[threadIdx.x] = 0.0f;
    __syncthreads();
    o[threadIdx.x + 1] = 0.0f;
}
OK(store_between)(float *o)
{
    if (threadIdx.x == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.x] = 0.0f;
    __syncthreads();
    o[threadIdx.x + 1] = 0.0f;
}

BUG(waiter_only, "partial-wait")(const float *a, float *o)
{
    float v = 1.0f;
    if (threadIdx.x == 64) {
        pdl_wait();
        v = a[0];
    } else {
        v = ((const volatile float *)a)[1];
    }
    __syncthreads();
    o[threadIdx.x] = v;
}
OK(waiter_only)(const float *a, float *o)
{
    __shared__ float v;
    if (threadIdx.x == 64) {
        pdl_wait();
        v = a[0];
    }
    __syncthreads();
    o[threadIdx.x] = v;
}

BUG(same_threads, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncwarp();
    if (threadIdx.x < 64) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(same_threads)(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncwarp();
    if (threadIdx.x < 32) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(other_warps, "partial-wait")(const float *a, float *o)
{
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        pdl_wait();
    }
    __syncwarp();
    if (warp == 1) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(other_warps)(const float *a, float *o)
{
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        pdl_wait();
    }
    __syncwarp();
    if (warp == 0) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(nested_uniform, "path-without-wait|partial-wait|read-before-wait")(const float *a, float *o, int n)
{
    if (threadIdx.x < 32) {
        if (n > 0) { /* if it is not, nobody waits */
            pdl_wait();
        }
    }
    __syncthreads();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(nested_uniform)(const float *a, float *o, int n)
{
    if (threadIdx.x < 64) {
        if (threadIdx.x < 32) {
            pdl_wait();
        } else {
            o += n;
        }
    }
    __syncthreads();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(tail_threads, "path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    int i = global_index();
    if (i < n) {
        pdl_wait();
    }
    o[i] = a[i];
}
OK(tail_threads)(const float *a, float *o, int n)
{
    int i = global_index();
    if (i < n) {
        pdl_wait();
        o[i] = a[i];
    }
}

BUG(named_left_out, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    if (threadIdx.x >= 128) { /* the waiting warp takes no part in this barrier */
        named_barrier(1, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
OK(named_left_out)(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    if (threadIdx.x < 128) {
        named_barrier(1, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

BUG(named_wrong_id, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
        named_arrive(2, 128);
    } else {
        named_barrier(1, 96);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
OK(named_wrong_id)(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
        named_arrive(1, 128);
    } else {
        named_barrier(1, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

BUG(elected, "partial-wait")(const float *a, float *o)
{
    unsigned one;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(one));
    if (one) {
        pdl_wait();
    }
    __syncwarp();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(elected)(const float *a, float *o)
{
    unsigned one;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(one));
    if (one) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(cluster_rank, "partial-wait|path-without-wait")(const float *a, float *o)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0) {
        pdl_wait();
    }
    __syncthreads(); /* only the block, not the cluster */
    o[global_index()] = *(const volatile float *)(a + threadIdx.x);
}
OK(cluster_rank)(const float *a, float *o)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0) {
        pdl_wait();
    }
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory");
    o[global_index()] = *(const volatile float *)(a + threadIdx.x);
}

BUG(other_block, "path-without-wait|partial-wait")(const float *a, float *o)
{
    if (blockIdx.x == 0) { /* threads of other blocks do not wait, and no barrier reaches them */
        pdl_wait();
    }
    __syncthreads();
    o[global_index()] = a[global_index()];
}
OK(other_block)(const float *a, float *o)
{
    if (blockIdx.x == 0) {
        pdl_wait();
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(vote, "partial-wait")(const float *a, float *o, int n)
{
    bool mine = threadIdx.x == (unsigned)n;
    if (mine) {
        pdl_wait();
    }
    if (__any_sync(0xffffffffu, mine)) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(vote)(const float *a, float *o, int n)
{
    bool mine = threadIdx.x == (unsigned)n;
    if (mine) {
        pdl_wait();
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(late_half, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o)
{
    __shared__ float s[256];
    if (threadIdx.x >= 128) {
        pdl_wait();
        s[threadIdx.x & 127] = a[threadIdx.x];
    } else {
        s[threadIdx.x + 128] = *(const volatile float *)(a + threadIdx.x);
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
OK(late_half)(const float *a, float *o)
{
    __shared__ float s[256];
    if (threadIdx.x >= 128) {
        pdl_wait();
        s[threadIdx.x & 127] = a[threadIdx.x];
    } else {
        s[threadIdx.x + 128] = (float)threadIdx.x;
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}

/* Only half of the block comes to the barrier at which the first warp says that it waited; no branch is left of that. */
BUG(guarded_barrier, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    if (threadIdx.x < 64) {
        named_barrier(1, 64);
    }
    o[threadIdx.x] = a[threadIdx.x];
}
OK(guarded_barrier)(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    if (threadIdx.x < 64) {
        named_barrier(1, 64);
    }
    if (threadIdx.x < 64) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
