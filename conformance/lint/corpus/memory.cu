/* Which memory an access means: textures, module variables, generic pointers, the stack. */
#include "corpus.h"

/* The compiler moves a texture read above the wait by itself (see lint/shapes/shapes.cu); these stay where they are. */
INLINED float fetch(cudaTextureObject_t t, int i)
{
    float v, y, z, w;
    asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(v), "=f"(y), "=f"(z), "=f"(w) : "l"(t), "r"(i) : "memory");
    return v + y + z + w;
}

INLINED float surface_load(cudaSurfaceObject_t s, int x)
{
    float v;
    asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=f"(v) : "l"(s), "r"(x), "r"(0) : "memory");
    return v;
}

INLINED void surface_store(cudaSurfaceObject_t s, int x, float v)
{
    asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], %3;" : : "l"(s), "r"(x), "r"(0), "f"(v) : "memory");
}

BUG(texture, "texture-before-wait")(cudaTextureObject_t t, float *o)
{
    float v = fetch(t, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(texture)(cudaTextureObject_t t, const int *index, float *o)
{
    pdl_wait();
    o[threadIdx.x] = fetch(t, pdl_fresh(index)[threadIdx.x]); /* nothing to fetch from until the index is there */
}

BUG(surface_read, "texture-before-wait")(cudaSurfaceObject_t s, float *o)
{
    __shared__ float t[256];
    t[threadIdx.x] = surface_load(s, threadIdx.x * 4);
    __syncthreads();
    pdl_wait();
    o[threadIdx.x] = t[threadIdx.x ^ 1];
}
OK(surface_read)(cudaSurfaceObject_t s, float *o)
{
    pdl_wait();
    o[threadIdx.x] = surface_load(s, threadIdx.x * 4);
}

BUG(surface_write, "write-before-wait")(cudaSurfaceObject_t s, float x)
{
    surface_store(s, threadIdx.x * 4, x);
    __syncthreads(); /* without it ptxas puts the store off, behind the wait */
    pdl_wait();
}
OK(surface_write)(cudaSurfaceObject_t s, float x)
{
    pdl_wait();
    surface_store(s, threadIdx.x * 4, x);
}

__device__ float module_variable[256];
__device__ int module_counter = 3;
__constant__ float constant_variable[64];
static __device__ const float module_table[8] = {1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f, 64.0f, 128.0f};

BUG(module_variable, "read-before-wait")(float *o)
{
    float v = module_variable[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(module_variable)(float *o)
{
    pdl_wait();
    o[threadIdx.x] = module_variable[threadIdx.x];
}

BUG(module_counter, "atomic-before-wait")(float *o)
{
    int v = atomicAdd(&module_counter, 1);
    pdl_wait();
    o[threadIdx.x] = (float)v;
}
OK(module_counter)(float *o)
{
    pdl_wait();
    o[threadIdx.x] = (float)atomicAdd(&module_counter, 1);
}

OK(constant_memory)(const float *a, float *o)
{
    float v = constant_variable[threadIdx.x & 63];
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x] * v;
}
OK(constant_table)(const float *a, float *o, int k)
{
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x] * module_table[k & 7];
}

BUG(generic_pointer, "read-before-wait")(float *a, float *o, int k)
{
    __shared__ float s[32];
    s[threadIdx.x & 31] = (float)k;
    __syncthreads();
    float *p = k ? a : s;
    float v = *(volatile float *)(p + 1);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(generic_pointer)(float *a, float *o, int k)
{
    __shared__ float s[32], t[32];
    s[threadIdx.x & 31] = t[threadIdx.x & 31] = (float)k;
    __syncthreads();
    float *p = k ? s : t; /* generic, but shared either way */
    float v = *(volatile float *)(p + 1);
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}

BUG(generic_store, "write-before-wait")(float *a, int k)
{
    __shared__ float s[32];
    float *p = k ? a : s;
    *(volatile float *)(p + threadIdx.x) = 1.0f;
    pdl_wait();
}
OK(generic_store)(float *a, int k)
{
    __shared__ float s[64];
    float *p = k ? s : s + 32;
    *(volatile float *)(p + (threadIdx.x & 31)) = 1.0f;
    pdl_wait();
    a[threadIdx.x] = s[threadIdx.x & 31];
}

CALLED void fill(float *p, int n) { for (int i = 0; i < n; i++) { ((volatile float *)p)[i] = (float)i; } }

BUG(filled_by_callee, "write-before-wait")(float *a, float *o, int n)
{
    fill(a, n);
    pdl_wait();
    o[threadIdx.x] = a[n];
}
OK(filled_by_callee)(float *a, float *o, int n)
{
    float stack[8];
    fill(stack, n & 7); /* the callee writes to its caller's stack */
    pdl_wait();
    o[threadIdx.x] = a[n] + stack[n & 7];
}

BUG(stack_holds_pointer, "read-before-wait")(const float *a, const float *b, float *o, int k)
{
    const float *both[2] = {a, b};
    float v = *(const volatile float *)(both[k & 1] + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(stack_holds_pointer)(const float *a, const float *b, float *o, int k)
{
    const float *both[2] = {a, b};
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(both[k & 1] + threadIdx.x);
}

BUG(shared_atomic, "atomic-before-wait")(unsigned *o)
{
    __shared__ unsigned s[32];
    atomicAdd(&s[threadIdx.x & 31], 1u);
    atomicAdd(o, 1u);
    pdl_wait();
    o[1 + threadIdx.x] = s[threadIdx.x & 31];
}
OK(shared_atomic)(unsigned *o)
{
    __shared__ unsigned s[32];
    atomicAdd(&s[threadIdx.x & 31], 1u);
    __syncthreads();
    pdl_wait();
    atomicAdd(o, s[threadIdx.x & 31]);
}

BUG(multicast, "read-before-wait|write-before-wait|atomic-before-wait")(float *a, float *o)
{
    float v;
    asm volatile("multimem.ld_reduce.global.add.f32 %0, [%1];" : "=f"(v) : "l"(a) : "memory");
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(multicast)(float *a, float *o)
{
    float v;
    pdl_wait();
    asm volatile("multimem.ld_reduce.global.add.f32 %0, [%1];" : "=f"(v) : "l"(a) : "memory");
    o[threadIdx.x] = v;
}

BUG(cluster_shared, "read-before-wait")(float *a, float *o)
{
    __shared__ float s[32];
    unsigned there;
    float v;
    s[threadIdx.x & 31] = a[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(s)));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(cluster_shared)(float *a, float *o)
{
    __shared__ float s[32];
    unsigned there;
    float v;
    s[threadIdx.x & 31] = (float)blockIdx.x;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(s)));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}
