/* Straight-line code: every kind of access, above and below the wait. */
#include "corpus.h"

BUG(load, "read-before-wait")(const float *a, float *o, int n)
{
    float v = a[global_index()];
    pdl_wait();
    o[global_index()] = v * n;
}
OK(load)(const float *a, float *o, int n)
{
    pdl_wait();
    o[global_index()] = a[global_index()] * n;
}

BUG(load_vector, "read-before-wait")(const float4 *a, float4 *o)
{
    float4 v = a[global_index()];
    pdl_wait();
    o[global_index()] = v;
}
OK(load_vector)(const float4 *a, float4 *o)
{
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(load_byte, "read-before-wait")(const unsigned char *a, unsigned char *o)
{
    unsigned char v = a[global_index()];
    pdl_wait();
    o[global_index()] = v;
}
OK(load_byte)(const unsigned char *a, unsigned char *o)
{
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(load_volatile, "read-before-wait")(const volatile float *a, float *o)
{
    float v = a[global_index()];
    pdl_wait();
    o[global_index()] = v;
}
OK(load_volatile)(const volatile float *a, float *o)
{
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(load_readonly, "read-before-wait")(const float *a, float *o)
{
    __shared__ float s[1024];
    s[threadIdx.x] = __ldg(a + global_index()); /* used at once, so that the compiler does not put it off */
    __syncthreads();
    pdl_wait();
    o[global_index()] = s[threadIdx.x ^ 1];
}
OK(load_readonly)(const float *a, float *o)
{
    pdl_wait();
    o[global_index()] = pdl_fresh(a)[global_index()];
}

BUG(load_relaxed, "read-before-wait")(const unsigned *a, unsigned *o)
{
    unsigned v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    pdl_wait();
    o[global_index()] = v;
}
OK(load_relaxed)(const unsigned *a, unsigned *o)
{
    unsigned v;
    pdl_wait();
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    o[global_index()] = v;
}

BUG(load_acquire, "read-before-wait")(const unsigned *a, unsigned *o)
{
    unsigned v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    pdl_wait();
    o[global_index()] = v;
}
OK(load_acquire)(const unsigned *a, unsigned *o)
{
    unsigned v;
    pdl_wait();
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    o[global_index()] = v;
}

BUG(store, "write-before-wait")(float *o)
{
    o[global_index()] = 1.0f;
    pdl_wait();
}
OK(store)(float *o)
{
    pdl_wait();
    o[global_index()] = 1.0f;
}

BUG(store_clears, "write-before-wait")(const float *a, float *o, float *sums)
{
    sums[global_index()] = 0.0f; /* the earlier grid may still add to them */
    pdl_wait();
    o[global_index()] = a[global_index()];
}
OK(store_clears)(const float *a, float *o, float *sums)
{
    pdl_wait();
    sums[global_index()] = 0.0f;
    o[global_index()] = a[global_index()];
}

BUG(store_vector, "write-before-wait")(float4 *o, float x)
{
    o[global_index()] = make_float4(x, x, x, x);
    pdl_wait();
}
OK(store_vector)(float4 *o, float x)
{
    pdl_wait();
    o[global_index()] = make_float4(x, x, x, x);
}

BUG(store_release, "write-before-wait")(unsigned *flag)
{
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(flag), "r"(1u) : "memory");
    pdl_wait();
}
OK(store_release)(unsigned *flag)
{
    pdl_wait();
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(flag), "r"(1u) : "memory");
}

BUG(store_after_trigger, "write-before-wait")(float *o)
{
    pdl_trigger();
    o[global_index()] = 2.0f;
    pdl_wait();
}
OK(store_after_trigger)(float *o)
{
    pdl_trigger();
    pdl_wait();
    o[global_index()] = 2.0f;
}

BUG(atomic_add, "atomic-before-wait")(unsigned *o)
{
    atomicAdd(o + threadIdx.x, 1u);
    pdl_wait();
}
OK(atomic_add)(unsigned *o)
{
    pdl_wait();
    atomicAdd(o + threadIdx.x, 1u);
}

BUG(atomic_exchange, "atomic-before-wait")(unsigned *o, unsigned *seen)
{
    unsigned v = atomicExch(o + threadIdx.x, 7u);
    pdl_wait();
    seen[threadIdx.x] = v;
}
OK(atomic_exchange)(unsigned *o, unsigned *seen)
{
    pdl_wait();
    seen[threadIdx.x] = atomicExch(o + threadIdx.x, 7u);
}

BUG(atomic_compare, "atomic-before-wait")(unsigned long long *o, unsigned long long *seen)
{
    unsigned long long v = atomicCAS(o + threadIdx.x, 1ull, 7ull);
    pdl_wait();
    seen[threadIdx.x] = v;
}
OK(atomic_compare)(unsigned long long *o, unsigned long long *seen)
{
    pdl_wait();
    seen[threadIdx.x] = atomicCAS(o + threadIdx.x, 1ull, 7ull);
}

BUG(reduction_float, "atomic-before-wait")(float *o, double *d)
{
    atomicAdd(o + threadIdx.x, 1.0f);
    pdl_wait();
    atomicAdd(d, 1.0);
}
OK(reduction_float)(float *o, double *d)
{
    pdl_wait();
    atomicAdd(o + threadIdx.x, 1.0f);
    atomicAdd(d, 1.0);
}

BUG(two_reads, "read-before-wait")(const float *a, float *o)
{
    float first = a[0];
    o += first > 0.0f;
    pdl_wait();
    o[0] = first + a[0];
}
OK(two_reads)(const float *a, float *o)
{
    pdl_wait();
    float first = a[0];
    pdl_wait();
    o[0] = first + a[0];
}

BUG(missing, "no-wait")(const float *a, float *o)
{
    o[global_index()] = a[global_index()];
}
OK(missing)(const float *a, float *o)
{
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(missing_with_trigger, "no-wait")(const float *a, float *o)
{
    pdl_trigger();
    o[global_index()] = a[global_index()];
}
OK(missing_with_trigger)(const float *a, float *o)
{
    pdl_trigger();
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(chain_middle, "no-wait")(int n)
{
    __shared__ int s[32];
    s[threadIdx.x & 31] = n;
    pdl_trigger(); /* touches nothing, but the grid behind it relies on the order */
}
OK(chain_middle)(int n)
{
    __shared__ int s[32];
    s[threadIdx.x & 31] = n;
    pdl_trigger();
    pdl_wait();
}

BUG(length, "read-before-wait")(const float *a, float *o, const int *length)
{
    int n = *length; /* a scalar is read early, the bulk is right */
    pdl_wait();
    if (global_index() < n) {
        o[global_index()] = a[global_index()];
    }
}
OK(length)(const float *a, float *o, const int *length)
{
    pdl_wait();
    if (global_index() < *length) {
        o[global_index()] = a[global_index()];
    }
}

BUG(pointer_table, "read-before-wait")(const float *const *table, float *o)
{
    const float *a = table[blockIdx.x];
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(pointer_table)(const float *const *table, float *o)
{
    pdl_wait();
    const float *a = table[blockIdx.x];
    o[threadIdx.x] = a[threadIdx.x];
}

BUG(chased, "read-before-wait")(const int *index, const float *a, float *o)
{
    float v = a[index[threadIdx.x]];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(chased)(const int *index, const float *a, float *o)
{
    pdl_wait();
    o[threadIdx.x] = a[index[threadIdx.x]];
}

BUG(discard, "write-before-wait")(float *a, float *o)
{
    asm volatile("discard.global.L2 [%0], 128;" : : "l"(a) : "memory");
    pdl_wait();
    o[threadIdx.x] = 1.0f;
}
OK(discard)(float *a, float *o)
{
    asm volatile("prefetch.global.L2 [%0];" : : "l"(a));
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}

OK(prologue)(const float *a, float *o, int n)
{
    __shared__ float table[256];
    float local[16];
    for (int i = 0; i < 16; i++) {
        local[(i * n) & 15] = __sinf((float)i);
    }
    table[threadIdx.x & 255] = local[n & 15];
    __syncthreads();
    float scale = table[(threadIdx.x + 1) & 255];
    pdl_wait();
    o[global_index()] = a[global_index()] * scale + local[threadIdx.x & 15];
}
BUG(prologue, "read-before-wait")(const float *a, float *o, int n)
{
    __shared__ float table[256];
    float local[16];
    for (int i = 0; i < 16; i++) {
        local[(i * n) & 15] = __sinf((float)i);
    }
    table[threadIdx.x & 255] = local[n & 15] + a[threadIdx.x];
    __syncthreads();
    float scale = table[(threadIdx.x + 1) & 255];
    pdl_wait();
    o[global_index()] = a[global_index()] * scale + local[threadIdx.x & 15];
}
