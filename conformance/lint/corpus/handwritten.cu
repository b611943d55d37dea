/* Hand-written PTX: predicated waits, cache operators, discard, wide loads, generic and uniform addresses. */
#include "corpus.h"

BUG(predicated_wait, "path-without-wait|partial-wait|read-before-wait")(const float *a, float *o, int n)
{
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 3; @p griddepcontrol.wait; }" : : "r"(n) : "memory");
    o[threadIdx.x] = a[threadIdx.x];
}
OK(predicated_wait)(const float *a, float *o, int n)
{
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 3; @p griddepcontrol.wait; @!p griddepcontrol.wait; }" : : "r"(n) : "memory");
    o[threadIdx.x] = a[threadIdx.x];
}

BUG(predicated_thread, "partial-wait")(const float *a, float *o)
{
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p griddepcontrol.wait; }" : : "r"(threadIdx.x) : "memory");
    o[threadIdx.x] = a[threadIdx.x];
}
OK(predicated_thread)(const float *a, float *o)
{
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p griddepcontrol.wait; bar.sync 0; }" : : "r"(threadIdx.x) : "memory");
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}

BUG(predicated_load, "read-before-wait")(const float *a, float *o, int n)
{
    float v = 0.0f;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3; @p ld.global.f32 %0, [%1]; }" : "+f"(v) : "l"(a + threadIdx.x), "r"(threadIdx.x), "r"(n) : "memory");
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(predicated_load)(const float *a, float *o, int n)
{
    float v = 0.0f;
    pdl_wait();
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3; @p ld.global.f32 %0, [%1]; }" : "+f"(v) : "l"(a + threadIdx.x), "r"(threadIdx.x), "r"(n) : "memory");
    o[threadIdx.x] = v;
}

BUG(no_clobber, "read-before-wait")(const float *a, float *o)
{
    float v;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(a + threadIdx.x) : "memory");
    asm volatile("griddepcontrol.wait;");
    o[threadIdx.x] = v;
}
OK(no_clobber)(const float *a, float *o)
{
    float v;
    asm volatile("griddepcontrol.wait;");
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(a + threadIdx.x) : "memory");
    *(volatile float *)(o + threadIdx.x) = v;
}

BUG(streaming, "read-before-wait")(const float4 *a, float4 *o)
{
    float4 v;
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + threadIdx.x) : "memory");
    pdl_wait();
    __stcs(o + threadIdx.x, v);
}
OK(streaming)(const float4 *a, float4 *o)
{
    float4 v;
    pdl_wait();
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + threadIdx.x) : "memory");
    __stcs(o + threadIdx.x, v);
}

BUG(reduction, "atomic-before-wait")(float *o, float x)
{
    asm volatile("red.global.gpu.add.f32 [%0], %1;" : : "l"(o), "f"(x) : "memory");
    pdl_wait();
    o[threadIdx.x + 1] = x;
}
OK(reduction)(float *o, float x)
{
    pdl_wait();
    asm volatile("red.global.gpu.add.f32 [%0], %1;" : : "l"(o), "f"(x) : "memory");
}

BUG(reduction_vector, "atomic-before-wait")(float *o, float x)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" : : "l"(o), "f"(x) : "memory");
    pdl_wait();
    o[threadIdx.x + 4] = x;
}
OK(reduction_vector)(float *o, float x)
{
    pdl_wait();
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" : : "l"(o), "f"(x) : "memory");
}

BUG(atomic_system, "atomic-before-wait")(unsigned long long *o)
{
    unsigned long long v = atomicCAS_system(o, 1ull, 2ull);
    pdl_wait();
    o[threadIdx.x + 1] = v;
}
OK(atomic_system)(unsigned long long *o)
{
    pdl_wait();
    o[threadIdx.x + 1] = atomicCAS_system(o, 1ull, 2ull);
}

BUG(atomic_generic, "atomic-before-wait")(unsigned *o, int k)
{
    __shared__ unsigned s[32];
    unsigned *p = k ? o : s;
    s[threadIdx.x & 31] = 0;
    __syncthreads();
    unsigned v = atomicMax(p + (threadIdx.x & 31), 5u);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(atomic_generic)(unsigned *o, int k)
{
    __shared__ unsigned s[32], t[32];
    unsigned *p = k ? s : t;
    s[threadIdx.x & 31] = t[threadIdx.x & 31] = 0;
    __syncthreads();
    unsigned v = atomicMax(p + (threadIdx.x & 31), 5u);
    pdl_wait();
    o[threadIdx.x] = v;
}

/* A bulk copy between the blocks of a cluster touches no global memory; one from global memory does. */
BUG(bulk_from_global, "async-copy-before-wait")(const float *a, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ alignas(8) unsigned long long b;
    unsigned there = (unsigned)__cvta_generic_to_shared(s), object = (unsigned)__cvta_generic_to_shared(&b);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(object) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" : : "r"(object) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     : : "r"(there), "l"(a), "r"(object) : "memory");
    }
    pdl_wait();
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x & 255];
}
OK(bulk_from_global)(const float *a, float *o)
{
    __shared__ alignas(128) float s[512];
    __shared__ alignas(8) unsigned long long b;
    unsigned there = (unsigned)__cvta_generic_to_shared(s), object = (unsigned)__cvta_generic_to_shared(&b);
    s[threadIdx.x] = (float)threadIdx.x;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(object) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" : : "r"(object) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     : : "r"(there + 1024u), "r"(there), "r"(object) : "memory");
    }
    pdl_wait();
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x & 255] + a[threadIdx.x];
}

BUG(bulk_prefetch, "read-before-wait")(const float *a, float *o)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" : : "l"(a) : "memory");
    float v = *(const volatile float *)(a + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(bulk_prefetch)(const float *a, float *o)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" : : "l"(a) : "memory");
    asm volatile("prefetch.global.L2 [%0];" : : "l"(o) : "memory");
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}

BUG(barrier_reduction, "partial-wait")(const float *a, float *o, int n)
{
    int all;
    if (threadIdx.x == (unsigned)n) {
        pdl_wait();
    }
    asm volatile("activemask.b32 %0;" : "=r"(all));
    o[threadIdx.x] = a[threadIdx.x] + (float)all;
}
OK(barrier_reduction)(const float *a, float *o, int n)
{
    if (threadIdx.x == (unsigned)n) {
        pdl_wait();
    }
    int all = __syncthreads_and(n < 5); /* a barrier with a result is a barrier */
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x] + (float)all;
}

BUG(barrier_count, "partial-wait")(const float *a, float *o, int n)
{
    int mine = threadIdx.x / 64;
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    named_barrier(mine + 1, 64); /* one barrier for each 64 threads: only the first 64 know of the wait */
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(barrier_count)(const float *a, float *o, int n)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    int number = __syncthreads_count(threadIdx.x < (unsigned)n);
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) + (float)number;
}

/* Time, sleep, ids, votes and shuffles are no accesses. */
BUG(clock, "write-before-wait")(long long *times, float *o)
{
    long long begin = clock64();
    times[blockIdx.x] = begin;
    pdl_wait();
    o[threadIdx.x] = 1.0f;
}
OK(clock)(long long *times, float *o)
{
    long long begin = clock64();
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    __nanosleep(100);
    int x = __shfl_xor_sync(0xffffffffu, (int)t, 1) + __popc(__ballot_sync(0xffffffffu, (int)t & 1));
    pdl_wait();
    times[blockIdx.x] = begin + x;
    o[threadIdx.x] = 1.0f;
}
