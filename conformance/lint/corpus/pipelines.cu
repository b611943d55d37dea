/* Copies that run on by themselves: cp.async, bulk and tensor copies, single and multi-stage. */
#include "corpus.h"

INLINED unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

INLINED void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(to)), "l"(from) : "memory");
}

INLINED void commit(void)
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}

template <int pending> INLINED void wait_copies(void)
{
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

BUG(async_copy, "async-copy-before-wait")(const float4 *a, float4 *o)
{
    __shared__ float4 s[256];
    copy16(&s[threadIdx.x], a + threadIdx.x);
    commit();
    pdl_wait();
    wait_copies<0>();
    __syncthreads();
    o[threadIdx.x] = s[255 - threadIdx.x];
}
OK(async_copy)(const float4 *a, float4 *o)
{
    __shared__ float4 s[256];
    pdl_wait();
    copy16(&s[threadIdx.x], a + threadIdx.x);
    commit();
    wait_copies<0>();
    __syncthreads();
    o[threadIdx.x] = s[255 - threadIdx.x];
}

/* The prologue of a multi-stage pipeline is the classic place of an early read. */
template <int stages, bool late> INLINED void pipeline(const float4 *a, float4 *o, int n)
{
    __shared__ float4 s[stages][128];
    if (!late) {
        pdl_wait();
    }
    for (int t = 0; t < stages - 1; t++) {
        copy16(&s[t][threadIdx.x], a + t * 128 + threadIdx.x);
        commit();
    }
    if (late) {
        pdl_wait();
    }
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int t = 0; t < n; t++) {
        wait_copies<stages - 2>();
        __syncthreads();
        sum.x += s[t % stages][127 - threadIdx.x].x;
        copy16(&s[(t + stages - 1) % stages][threadIdx.x], a + (t + stages - 1) * 128 + threadIdx.x);
        commit();
    }
    o[threadIdx.x] = sum;
}

BUG(pipeline2, "async-copy-before-wait")(const float4 *a, float4 *o, int n) { pipeline<2, true>(a, o, n); }
OK(pipeline2)(const float4 *a, float4 *o, int n) { pipeline<2, false>(a, o, n); }
BUG(pipeline4, "async-copy-before-wait")(const float4 *a, float4 *o, int n) { pipeline<4, true>(a, o, n); }
OK(pipeline4)(const float4 *a, float4 *o, int n) { pipeline<4, false>(a, o, n); }

BUG(weights_first, "async-copy-before-wait")(const float4 *weights, const float4 *x, float4 *o)
{
    __shared__ float4 w[128], s[128];
    copy16(&w[threadIdx.x], weights + threadIdx.x);
    copy16(&s[threadIdx.x], x + threadIdx.x); /* the activations went along with the weights */
    commit();
    pdl_wait();
    wait_copies<0>();
    __syncthreads();
    o[threadIdx.x].x = w[127 - threadIdx.x].x * s[127 - threadIdx.x].y;
}
OK(weights_prefetched)(const float4 *weights, const float4 *x, float4 *o)
{
    asm volatile("prefetch.global.L2 [%0];" : : "l"(weights + threadIdx.x));
    pdl_wait();
    o[threadIdx.x].x = weights[threadIdx.x].x * x[threadIdx.x].y;
}

BUG(register_pipeline, "read-before-wait")(const float *a, float *o, int n)
{
    float next = *(const volatile float *)(a + threadIdx.x); /* first stage ahead of the wait */
    pdl_wait();
    for (int t = 1; t < n; t++) {
        float now = next;
        next = *(const volatile float *)(a + t * 128 + threadIdx.x);
        o[t * 128 + threadIdx.x] = now;
    }
}
OK(register_pipeline)(const float *a, float *o, int n)
{
    pdl_wait();
    float next = *(const volatile float *)(a + threadIdx.x);
    for (int t = 1; t < n; t++) {
        float now = next;
        next = *(const volatile float *)(a + t * 128 + threadIdx.x);
        o[t * 128 + threadIdx.x] = now;
    }
}

BUG(wait_in_stage, "async-copy-before-wait")(const float4 *a, float4 *o, int n)
{
    __shared__ float4 s[2][128];
    for (int t = 0; t < n; t++) { /* the copy of each stage stands above the stage's wait */
        copy16(&s[t & 1][threadIdx.x], a + t * 128 + threadIdx.x);
        commit();
        pdl_wait();
        wait_copies<0>();
        __syncthreads();
        o[t * 128 + threadIdx.x] = s[t & 1][127 - threadIdx.x];
        __syncthreads();
    }
}
OK(wait_in_stage)(const float4 *a, float4 *o, int n)
{
    __shared__ float4 s[2][128];
    for (int t = 0; t < n; t++) {
        pdl_wait();
        copy16(&s[t & 1][threadIdx.x], a + t * 128 + threadIdx.x);
        commit();
        wait_copies<0>();
        __syncthreads();
        o[t * 128 + threadIdx.x] = s[t & 1][127 - threadIdx.x];
        __syncthreads();
    }
}

struct alignas(64) tensor_map {
    unsigned long long words[16];
};

BUG(tensor_load, "async-copy-before-wait")(const __grid_constant__ tensor_map map, float *o)
{
    __shared__ alignas(128) float s[1024];
    __shared__ alignas(8) unsigned long long b;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(shared_address(&b)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     : : "r"(shared_address(s)), "l"(&map), "r"(0), "r"(0), "r"(shared_address(&b)) : "memory");
    }
    pdl_wait();
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
OK(tensor_load)(const __grid_constant__ tensor_map map, float *o)
{
    __shared__ alignas(128) float s[1024];
    __shared__ alignas(8) unsigned long long b;
    if (threadIdx.x == 0) { /* the descriptor is a parameter: it may be fetched early */
        asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(shared_address(&b)) : "memory");
    }
    pdl_wait();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     : : "r"(shared_address(s)), "l"(&map), "r"(0), "r"(0), "r"(shared_address(&b)) : "memory");
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}

BUG(tensor_store, "async-copy-before-wait")(const __grid_constant__ tensor_map map, float x)
{
    __shared__ alignas(128) float s[1024];
    s[threadIdx.x] = x;
    __syncthreads();
    asm volatile("fence.proxy.async;" : : : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 : : "l"(&map), "r"(0), "r"(0), "r"(shared_address(s)) : "memory");
    pdl_wait();
}
OK(tensor_store)(const __grid_constant__ tensor_map map, float x)
{
    __shared__ alignas(128) float s[1024];
    s[threadIdx.x] = x;
    __syncthreads();
    asm volatile("fence.proxy.async;" : : : "memory");
    pdl_wait();
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 : : "l"(&map), "r"(0), "r"(0), "r"(shared_address(s)) : "memory");
}

BUG(bulk_store, "async-copy-before-wait")(float *o, float x)
{
    __shared__ alignas(128) float s[256];
    s[threadIdx.x & 255] = x;
    __syncthreads();
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" : : "l"(o), "r"(shared_address(s)) : "memory");
    pdl_wait();
}
OK(bulk_store)(float *o, float x)
{
    __shared__ alignas(128) float s[256];
    s[threadIdx.x & 255] = x;
    __syncthreads();
    pdl_wait();
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" : : "l"(o), "r"(shared_address(s)) : "memory");
}

BUG(bulk_reduce, "async-copy-before-wait")(unsigned *o, unsigned x)
{
    __shared__ alignas(128) unsigned s[256];
    s[threadIdx.x & 255] = x;
    __syncthreads();
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;"
                 : : "l"(o), "r"(shared_address(s)) : "memory");
    pdl_wait();
}
OK(bulk_reduce)(unsigned *o, unsigned x)
{
    __shared__ alignas(128) unsigned s[256];
    s[threadIdx.x & 255] = x;
    __syncthreads();
    pdl_wait();
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;"
                 : : "l"(o), "r"(shared_address(s)) : "memory");
}
