/* Where control goes: guards, loops, jumps, votes. */
#include "corpus.h"

/* Bounds checked before the wait: threads that leave have touched nothing, so the twin is right. */
BUG(bounds_then_flag, "write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int *left, int n)
{
    int i = global_index();
    if (i >= n) { left[blockIdx.x] = 1; return; }
    pdl_wait();
    o[i] = a[i];
}
OK(bounds_then_flag)(const float *a, float *o, int *left, int n)
{
    int i = global_index();
    if (i >= n) { return; }
    pdl_wait();
    left[blockIdx.x] = 0;
    o[i] = a[i];
}
BUG(bounds_from_memory, "read-before-wait|path-without-wait")(const float *a, float *o, const int *n)
{
    int i = global_index();
    if (i >= *n) { return; } /* the length is what the kernel before wrote */
    pdl_wait();
    o[i] = a[i];
}
OK(bounds_from_memory)(const float *a, float *o, const int *n)
{
    int i = global_index();
    pdl_wait();
    if (i >= *n) { return; }
    o[i] = a[i];
}
/* After half of the block left, a barrier of the rest: what it is worth depends on where the wait is */
BUG(left_then_barrier, "partial-wait|read-before-wait")(const float *a, float *o, int n)
{
    if (global_index() >= n) { return; }
    float v = *(const volatile float *)(a + threadIdx.x);
    if (threadIdx.x == 0) { pdl_wait(); }
    __syncthreads();
    o[threadIdx.x] = v;
}
OK(left_then_barrier)(const float *a, float *o, int n)
{
    if (global_index() >= n) { return; }
    if (threadIdx.x == 0) { pdl_wait(); }
    __syncthreads();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(any_votes, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n)
{
    if (__any_sync(0xffffffffu, (int)threadIdx.x > n)) { pdl_wait(); }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(any_votes)(const float *a, float *o, int n)
{
    if (__any_sync(0xffffffffu, (int)threadIdx.x > n)) { pdl_wait(); } else { pdl_wait(); }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(or_barrier, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int n)
{
    if (__syncthreads_or((int)threadIdx.x == n)) { pdl_wait(); } /* the same for the block; not always */
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(or_barrier)(const float *a, float *o, int n)
{
    pdl_wait();
    if (__syncthreads_or((int)threadIdx.x == n)) { o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); }
}
BUG(fall_through, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int mode)
{
    switch (mode) {
    case 0: asm volatile("" : : : "memory");
    case 1: pdl_wait();
    case 2: o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); /* enters behind the wait */
    }
}
OK(fall_through)(const float *a, float *o, int mode)
{
    switch (mode) {
    case 0: asm volatile("" : : : "memory");
    case 1: ;
    case 2: pdl_wait(); o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(waits_last, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    for (int i = 0; i < n; i++) {
        o[i * 128 + threadIdx.x] = *(const volatile float *)(a + i * 128 + threadIdx.x);
        if (i == n - 1) { pdl_wait(); }
    }
}
OK(waits_last)(const float *a, float *o, int n)
{
    for (int i = 0; i < n; i++) {
        pdl_wait();
        o[i * 128 + threadIdx.x] = *(const volatile float *)(a + i * 128 + threadIdx.x);
    }
}
/* A flag of the launch decides: without it this instance never waits, and lint cannot know who sets it. */
BUG(launch_flag, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, bool overlapped)
{
    if (overlapped) { pdl_wait(); }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(launch_flag)(const float *a, float *o, bool overlapped)
{
    if (overlapped) { pdl_trigger(); }
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(syncwarp_only, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    if (threadIdx.x % 32 == 0) { pdl_wait(); }
    __syncwarp();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(syncwarp_only)(const float *a, float *o)
{
    if (threadIdx.x % 32 == 0) { pdl_wait(); }
    __syncthreads();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(shuffled, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    int go = 0;
    if (threadIdx.x % 32 == 0) { pdl_wait(); go = n; }
    go = __shfl_sync(0xffffffffu, go, 0); /* a shuffle orders no memory of other warps' waits */
    if (go > 3) { o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); }
}
OK(shuffled)(const float *a, float *o, int n)
{
    pdl_wait();
    int go = __shfl_sync(0xffffffffu, n, 0);
    if (go > 3) { o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); }
}
BUG(two_phases, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    __shared__ float s[128];
    if (threadIdx.x == 0) { pdl_wait(); }
    s[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); /* ahead of the barrier */
    __syncthreads();
    o[threadIdx.x] = s[127 - threadIdx.x];
}
OK(two_phases)(const float *a, float *o)
{
    __shared__ float s[128];
    if (threadIdx.x == 0) { pdl_wait(); }
    s[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = s[127 - threadIdx.x] + *(const volatile float *)(a + threadIdx.x);
}
/* Named barriers: half of the block meets, the other half reads on. */
BUG(half_meets, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    if (threadIdx.x < 128) {
        if (threadIdx.x == 0) { pdl_wait(); }
        named_barrier(1, 128);
    }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(half_meets)(const float *a, float *o)
{
    if (threadIdx.x < 128) {
        if (threadIdx.x == 0) { pdl_wait(); }
        named_barrier(1, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(group_of_warps, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    int group = threadIdx.x / 128;
    if (group == 0 && threadIdx.x % 128 < 32) { pdl_wait(); }
    named_barrier(1 + group, 128); /* each group its own: the second has no waiter */
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(group_of_warps)(const float *a, float *o)
{
    int group = threadIdx.x / 128;
    if (threadIdx.x % 128 < 32) { pdl_wait(); }
    named_barrier(1 + group, 128);
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* handing over by arrive and sync */
BUG(hand_over, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    if (threadIdx.x < 64) {
        named_arrive(2, 128);
        pdl_wait(); /* too late for those that it has let go */
        o[threadIdx.x] = 1.0f;
    } else {
        named_barrier(2, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
OK(hand_over)(const float *a, float *o)
{
    if (threadIdx.x < 64) {
        pdl_wait();
        named_arrive(2, 128);
        o[threadIdx.x] = 1.0f;
    } else {
        named_barrier(2, 128);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
/* y and z blocks, 2D roles */
BUG(plane, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    if (threadIdx.y == 0) { pdl_wait(); }
    o[threadIdx.y * 32 + threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(plane)(const float *a, float *o)
{
    if (threadIdx.y == 0 && threadIdx.x == 0) { pdl_wait(); }
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* linear thread number of a 3D block, as the library asks for it */
BUG(linear_rank, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (rank < 32) { pdl_wait(); } else { asm volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }
    o[rank] = *(const volatile float *)(a + rank);
}
OK(linear_rank)(const float *a, float *o)
{
    int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (rank < 32) { pdl_wait(); }
    asm volatile("barrier.cta.sync 0;" : : : "memory");
    o[rank] = *(const volatile float *)(a + rank);
}
/* the wait stands in the else branch of a check that throws, and behind an assertion */
BUG(float_test, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, float scale)
{
    if (scale != 0.0f) { pdl_wait(); }
    o[threadIdx.x] = scale * *(const volatile float *)(a + threadIdx.x);
}
OK(float_test)(const float *a, float *o, float scale)
{
    if (scale != 0.0f) { pdl_wait(); o[threadIdx.x] = scale * *(const volatile float *)(a + threadIdx.x); return; }
    pdl_wait();
    o[threadIdx.x] = 0.0f;
}
BUG(wide_test, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, long long n)
{
    if (n > 4294967296ll) { pdl_wait(); }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(wide_test)(const float *a, float *o, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { pdl_wait(); o[i] = *(const volatile float *)(a + i); }
}
