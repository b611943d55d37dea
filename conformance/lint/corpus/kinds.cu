/* Kinds of memory and of access. */
#include "corpus.h"
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <assert.h>
#include <new>

INLINED unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__managed__ float managed_table[64];
__constant__ const float *constant_pointers[4];
__device__ float *device_pointer;
struct view { const float *data; int rows, columns; float *out; };
struct tensors { view inputs[6]; int count; };

BUG(half_vectors, "read-before-wait")(const __half2 *a, __half2 *o)
{
    __half2 v = __ldcs(a + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = __hmul2(v, v);
}
OK(half_vectors)(const __half2 *a, __half2 *o)
{
    pdl_wait();
    __half2 v = __ldcs(a + threadIdx.x);
    o[threadIdx.x] = __hmul2(v, v);
}
BUG(copied_struct, "read-before-wait")(const view *v, float *o)
{
    view mine;
    memcpy(&mine, v, sizeof mine);
    pdl_wait();
    o[threadIdx.x] = (float)(mine.rows * mine.columns);
}
OK(copied_struct)(const view *v, float *o)
{
    view mine;
    pdl_wait();
    memcpy(&mine, v, sizeof mine);
    o[threadIdx.x] = (float)(mine.rows * mine.columns) + *(const volatile float *)mine.data;
}
BUG(cleared, "write-before-wait")(float4 *o, int n)
{
    memset(o + threadIdx.x * 4, 0, 64);
    pdl_wait();
    o[threadIdx.x].x = (float)n;
}
OK(cleared)(float4 *o, int n)
{
    float4 local[4];
    memset(local, 0, sizeof local);
    pdl_wait();
    memcpy(o + threadIdx.x * 4, local, sizeof local);
}
BUG(managed, "read-before-wait")(float *o)
{
    float v = *(volatile float *)&managed_table[threadIdx.x & 63];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(managed)(float *o)
{
    pdl_wait();
    o[threadIdx.x] = *(volatile float *)&managed_table[threadIdx.x & 63];
}
BUG(constant_pointers, "read-before-wait")(float *o, int k)
{
    float v = constant_pointers[k & 3][threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(constant_pointers)(float *o, int k)
{
    const float *p = constant_pointers[k & 3];
    pdl_wait();
    o[threadIdx.x] = pdl_fresh(p)[threadIdx.x];
}
BUG(device_pointer, "read-before-wait")(float *o)
{
    float *p = device_pointer;
    pdl_wait();
    p[threadIdx.x] = 1.0f;
}
OK(device_pointer)(float *o)
{
    pdl_wait();
    device_pointer[threadIdx.x] = 1.0f;
}
BUG(tensor_list, "read-before-wait")(const __grid_constant__ tensors t, int k)
{
    const view &v = t.inputs[blockIdx.y];
    float x = v.data[threadIdx.x];
    pdl_wait();
    v.out[threadIdx.x] = x;
}
OK(tensor_list)(const __grid_constant__ tensors t, int k)
{
    const view &v = t.inputs[blockIdx.y];
    int i = (int)threadIdx.x * v.columns;
    pdl_wait();
    v.out[i] = pdl_fresh(v.data)[i];
}
BUG(tensor_list_by_value, "read-before-wait")(tensors t, int k)
{
    t.inputs[k].data += 3; /* changed, so copied to the stack */
    float x = t.inputs[blockIdx.y].data[threadIdx.x];
    pdl_wait();
    t.inputs[k].out[threadIdx.x] = x;
}
OK(tensor_list_by_value)(tensors t, int k)
{
    t.inputs[k].data += 3;
    pdl_wait();
    t.inputs[k].out[threadIdx.x] = t.inputs[blockIdx.y].data[threadIdx.x];
}
BUG(as_number, "read-before-wait")(uintptr_t a, uintptr_t o)
{
    float v = *(volatile float *)((a & ~(uintptr_t)15) | (threadIdx.x * 16));
    pdl_wait();
    *(float *)(o + threadIdx.x * 4) = v;
}
OK(as_number)(uintptr_t a, uintptr_t o)
{
    pdl_wait();
    float v = *(volatile float *)((a & ~(uintptr_t)15) | (threadIdx.x * 16));
    *(float *)(o + threadIdx.x * 4) = v;
}
BUG(shuffled_pointer, "read-before-wait")(const float *a, const float *b, float *o)
{
    const float *mine = threadIdx.x & 1 ? a : b;
    mine = (const float *)__shfl_xor_sync(0xffffffffu, (unsigned long long)mine, 1);
    float v = *(const volatile float *)(mine + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(shuffled_pointer)(const float *a, const float *b, float *o)
{
    const float *mine = threadIdx.x & 1 ? a : b;
    mine = (const float *)__shfl_xor_sync(0xffffffffu, (unsigned long long)mine, 1);
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(mine + threadIdx.x);
}
/* Dynamic shared memory carved up into typed parts, a pointer kept among them */
struct carved { float *where; int count; float data[128]; };
BUG(carved, "write-before-wait")(float *o, int n)
{
    extern __shared__ char raw[];
    carved *c = (carved *)raw;
    if (threadIdx.x == 0) { c->where = o; c->count = n; }
    __syncthreads();
    c->where[threadIdx.x] = (float)c->count;
    pdl_wait();
}
OK(carved)(float *o, int n)
{
    extern __shared__ char raw[];
    carved *c = (carved *)raw;
    if (threadIdx.x == 0) { c->where = o; c->count = n; }
    c->data[threadIdx.x] = (float)n;
    __syncthreads();
    float x = c->data[127 - threadIdx.x];
    pdl_wait();
    c->where[threadIdx.x] = x;
}
/* A helper that takes either kind of memory. */
CALLED float total(const float *p, int n)
{
    float s = 0.0f;
    for (int i = 0; i < n; i++) { s += p[i]; }
    return s;
}
CALLED void fill(float *p, int n, float x)
{
    for (int i = 0; i < n; i++) { p[i] = x; }
}
BUG(either_memory, "read-before-wait|partial-wait")(const float *a, float *o, int n)
{
    __shared__ float s[64];
    fill(s, 64, (float)n);
    __syncthreads();
    float x = total(s, 64) + total(a, n);
    pdl_wait();
    o[threadIdx.x] = x;
}
OK(either_memory)(const float *a, float *o, int n)
{
    __shared__ float s[64];
    float local[8];
    fill(s, 64, (float)n);
    fill(local, 8, 2.0f);
    __syncthreads();
    float x = total(s, 64) + total(local, 8);
    pdl_wait();
    o[threadIdx.x] = x + total(a, n);
}
/* heap, messages, assertions: the driver's business */
BUG(heap, "read-before-wait")(const float *a, float *o, int n)
{
    float *p = (float *)malloc(64);
    if (p) { p[0] = a[threadIdx.x]; }
    pdl_wait();
    o[threadIdx.x] = p ? p[0] : 0.0f;
    free(p);
}
OK(heap)(const float *a, float *o, int n)
{
    assert(n > 0);
    if (n == 77) { printf("%d %p\n", n, a); }
    pdl_wait();
    float *p = (float *)malloc(64);
    if (p) { p[0] = a[threadIdx.x]; }
    o[threadIdx.x] = p ? p[0] : 0.0f;
    free(p);
}
/* texture objects and surfaces */
BUG(texel, "texture-before-wait")(cudaTextureObject_t t, float *o)
{
    float v = tex1Dfetch<float>(t, (int)threadIdx.x) + tex2DLod<float>(t, 1.0f, 2.0f, 0.0f);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(texel)(cudaTextureObject_t t, float *o)
{
    pdl_wait();
    int at = *(volatile int *)o; /* or the compiler moves the texture read above the wait: it knows no order there */
    o[threadIdx.x] = tex1Dfetch<float>(t, at) + tex2DLod<float>(t, (float)at, 2.0f, 0.0f) + tex3D<float>(t, (float)at, 2.0f, 3.0f);
}
BUG(gathered, "texture-before-wait")(cudaTextureObject_t t, float *o)
{
    float4 v = tex2Dgather<float4>(t, 0.5f, 0.5f, 1);
    float w = tex2DGrad<float>(t, 0.1f, 0.2f, make_float2(0.1f, 0.1f), make_float2(0.2f, 0.1f)) + texCubemap<float>(t, 0.1f, 0.2f, 0.3f);
    pdl_wait();
    o[threadIdx.x] = v.x + w;
}
OK(gathered)(cudaTextureObject_t t, float *o)
{
    pdl_wait();
    float at = *(volatile float *)o;
    float4 v = tex2Dgather<float4>(t, at, 0.5f, 1);
    float w = tex2DGrad<float>(t, at, 0.2f, make_float2(0.1f, 0.1f), make_float2(0.2f, 0.1f)) + texCubemap<float>(t, at, 0.2f, 0.3f);
    o[threadIdx.x] = v.x + w;
}
BUG(surface3, "write-before-wait")(cudaSurfaceObject_t s, float x)
{
    surf3Dwrite(x, s, 0, 1, (int)threadIdx.x);
    __syncthreads();
    pdl_wait();
}
OK(surface3)(cudaSurfaceObject_t s, float *o)
{
    pdl_wait();
    float x;
    surf2DLayeredread(&x, s, 4, 2, (int)threadIdx.x);
    o[threadIdx.x] = x;
}
/* wide atomics and exchange */
BUG(wide_exchange, "atomic-before-wait")(void *p, float *o)
{
    unsigned long long lo = 1, hi = 2;
    asm volatile("{ .reg .b128 d, e; mov.b128 d, {%0, %1}; atom.global.relaxed.gpu.exch.b128 e, [%2], d; mov.b128 {%0, %1}, e; }" : "+l"(lo), "+l"(hi) : "l"(p) : "memory");
    pdl_wait();
    o[threadIdx.x] = (float)(lo + hi);
}
OK(wide_exchange)(void *p, float *o)
{
    unsigned long long lo = 1, hi = 2;
    pdl_wait();
    asm volatile("{ .reg .b128 d, e; mov.b128 d, {%0, %1}; atom.global.relaxed.gpu.exch.b128 e, [%2], d; mov.b128 {%0, %1}, e; }" : "+l"(lo), "+l"(hi) : "l"(p) : "memory");
    o[threadIdx.x] = (float)(lo + hi);
}
BUG(half_atomic, "atomic-before-wait")(__half2 *p, __nv_bfloat162 *q, float *o)
{
    atomicAdd(p, __half2half2(__float2half(1.0f)));
    pdl_wait();
    atomicAdd(q, __nv_bfloat162());
}
OK(half_atomic)(__half2 *p, __nv_bfloat162 *q, float *o)
{
    __shared__ int n;
    if (threadIdx.x == 0) { n = 0; }
    __syncthreads();
    atomicAdd(&n, 1);
    pdl_wait();
    atomicAdd(p, __half2half2(__float2half(1.0f)));
    atomicAdd(q, __nv_bfloat162());
}
/* eviction hints, policies, lines thrown away */
BUG(policy, "read-before-wait")(const float4 *a, float4 *o)
{
    unsigned long long p;
    float4 v;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + threadIdx.x), "l"(p));
    asm volatile("griddepcontrol.wait;" : : : "memory");
    o[threadIdx.x] = v;
}
OK(policy)(const float4 *a, float4 *o)
{
    unsigned long long p;
    float4 v;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
    asm volatile("griddepcontrol.wait;" : : : "memory");
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + threadIdx.x), "l"(p) : "memory");
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" : : "l"(a) : "memory");
    o[threadIdx.x] = v;
}
/* spills: many live values, pointers among them */
template <bool late> static __device__ __forceinline__ void crowded(const float *a, const float *b, float *o, int n)
{
    float x[96];
#pragma unroll
    for (int i = 0; i < 96; i++) { x[i] = (float)(n * i) * 1.0001f; }
    if (!late) { pdl_wait(); }
#pragma unroll
    for (int i = 0; i < 96; i++) { x[i] += *(const volatile float *)(a + i * n); }
    if (late) { pdl_wait(); }
#pragma unroll
    for (int i = 0; i < 96; i++) { o[i * 128 + threadIdx.x] = x[i] * *(const volatile float *)(b + i); }
}
extern "C" __global__ void __launch_bounds__(1024, 2) bug_crowded(const float *a, const float *b, float *o, int n);
extern "C" __global__ void __launch_bounds__(1024, 2) ok_crowded(const float *a, const float *b, float *o, int n);
BUG(crowded, "read-before-wait")(const float *a, const float *b, float *o, int n) { crowded<true>(a, b, o, n); }
OK(crowded)(const float *a, const float *b, float *o, int n) { crowded<false>(a, b, o, n); }
/* cluster memory: async stores to other blocks' shared memory are no global accesses */
BUG(remote_store, "read-before-wait")(const float *a, float *o)
{
    __shared__ alignas(16) float s[128];
    __shared__ uint64_t b;
    unsigned there, object;
    if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 128;" : : "r"(smem(&b)) : "memory"); }
    __syncthreads();
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(smem(&s[threadIdx.x])));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(object) : "r"(smem(&b)));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" : : "r"(there), "f"(*(const volatile float *)(a + threadIdx.x)), "r"(object) : "memory");
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x];
}
OK(remote_store)(const float *a, float *o)
{
    __shared__ alignas(16) float s[128];
    __shared__ uint64_t b;
    unsigned there, object;
    if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 128;" : : "r"(smem(&b)) : "memory"); }
    __syncthreads();
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(smem(&s[threadIdx.x])));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(object) : "r"(smem(&b)));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" : : "r"(there), "f"((float)threadIdx.x), "r"(object) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" : : "r"(there), "r"(threadIdx.x), "r"(object) : "memory");
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x] + a[threadIdx.x];
}
BUG(bulk_add, "async-copy-before-wait|write-before-wait|atomic-before-wait")(float *o, float x)
{
    __shared__ alignas(128) float s[128];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) { asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512; cp.async.bulk.commit_group;" : : "l"(o), "r"(smem(s)) : "memory"); }
    pdl_wait();
}
OK(bulk_add)(float *o, float x)
{
    __shared__ alignas(128) float s[128];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    pdl_wait();
    if (threadIdx.x == 0) { asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512; cp.async.bulk.commit_group;" : : "l"(o), "r"(smem(s)) : "memory"); }
}
