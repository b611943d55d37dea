/* Bulk copies (calls of the driver on some targets), multicast memory, memory from the device's heap, guarded addresses. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_expect(void *b, unsigned n)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(at(b)), "r"(n) : "memory");
}
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}
INLINED void bulk_load(void *to, const void *from, unsigned bytes, void *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
INLINED void bulk_store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" : : "l"(to), "r"(at(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" : : : "memory");
}
INLINED void bulk_add(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" : : "l"(to), "r"(at(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" : : : "memory");
}

/* A store of the engine before the wait */
template <bool late> INLINED void engine_store(float *o, float x)
{
    __shared__ alignas(128) float s[128];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (!late) {
        if (threadIdx.x == 0) {
            bulk_store(o + blockIdx.x * 128, s, sizeof s);
        }
    }
    pdl_wait();
    if (late) {
        if (threadIdx.x == 0) {
            bulk_store(o + blockIdx.x * 128, s, sizeof s);
        }
    }
}
BUG(engine_store, "async-copy-before-wait")(float *o, float x) { engine_store<false>(o, x); }
OK(engine_store)(float *o, float x) { engine_store<true>(o, x); }

template <bool late> INLINED void engine_add(float *o, float x)
{
    __shared__ alignas(128) float s[128];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (late) {
        pdl_wait();
    }
    if (threadIdx.x == 0) {
        bulk_add(o + blockIdx.x * 128, s, sizeof s);
    }
    if (!late) {
        pdl_wait();
    }
}
BUG(engine_add, "async-copy-before-wait")(float *o, float x) { engine_add<false>(o, x); }
OK(engine_add)(float *o, float x) { engine_add<true>(o, x); }

/* Two objects: weights are copied by a warp that does not wait, data by one that does. Who reads the result has to wait for
 * the second. */
template <bool right> INLINED void two_copies(const float *w, const float *a, const float *b, float *o)
{
    __shared__ alignas(128) float s[2][128];
    __shared__ unsigned long long weights, data;
    if (threadIdx.x == 0) {
        object_init(&weights, 1);
        object_init(&data, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        object_expect(&weights, 512);
        asm volatile("prefetch.global.L2 [%0];" : : "l"(w));
        pdl_wait();
        object_expect(&data, 512);
        bulk_load(s[0], a, 512, &data);
        bulk_load(s[1], w, 512, &weights);
    } else if (threadIdx.x >= 32) {
        if (right) {
            object_wait(&data, 0);
        }
        o[threadIdx.x] = *(const volatile float *)(b + threadIdx.x) + s[0][threadIdx.x & 127];
    }
}
BUG(two_copies, "partial-wait|path-without-wait|read-before-wait")(const float *w, const float *a, const float *b, float *o) { two_copies<false>(w, a, b, o); }
OK(two_copies)(const float *w, const float *a, const float *b, float *o) { two_copies<true>(w, a, b, o); }

/* A copy signals its own object; a reader that waits for another one is not released by it. */
template <bool right> INLINED void copy_signals(const float *a, const float *b, float *o)
{
    __shared__ alignas(128) float s[128];
    __shared__ unsigned long long copied, computed;
    if (threadIdx.x == 0) {
        object_init(&copied, 1);
        object_init(&computed, 32);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        object_expect(&copied, 512);
        bulk_load(s, a, 512, &copied);
    } else if (threadIdx.x >= 32 && threadIdx.x < 64) {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&computed)) : "memory");
    } else if (threadIdx.x >= 64) {
        object_wait(right ? &copied : &computed, 0);
        o[threadIdx.x] = *(const volatile float *)(b + threadIdx.x) + s[threadIdx.x & 127];
    }
}
BUG(copy_signals, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *b, float *o) { copy_signals<false>(a, b, o); }
OK(copy_signals)(const float *a, const float *b, float *o) { copy_signals<true>(a, b, o); }

/* Multicast memory */
BUG(multicast_load, "read-before-wait")(const float *a, float *o)
{
    float4 x;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(a + threadIdx.x * 4) : "memory");
    pdl_wait();
    o[threadIdx.x] = x.x + x.y + x.z + x.w;
}
OK(multicast_load)(const float *a, const float *b, float *o)
{
    pdl_wait();
    float2 x;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v2.f32 {%0, %1}, [%2];"
                 : "=f"(x.x), "=f"(x.y) : "l"(a + threadIdx.x * 2) : "memory");
    o[threadIdx.x] = x.x + x.y + pdl_fresh(b)[threadIdx.x];
}
BUG(multicast_store, "write-before-wait|atomic-before-wait")(float *o, float x)
{
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(x) : "memory");
    pdl_wait();
}
BUG(multicast_add, "atomic-before-wait|write-before-wait")(float *o, float x)
{
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(x) : "memory");
    pdl_wait();
}

/* A block's own memory from the heap: no earlier grid knows it. */
OK(heap_scratch)(const float *a, float *o, int n)
{
    float *scratch = static_cast<float *>(malloc(sizeof(float) * 8));
    if (scratch == nullptr) {
        return;
    }
    for (int i = 0; i < 8; i++) {
        scratch[i] = sqrtf((float)(i + n));
    }
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x] + scratch[n & 7];
    free(scratch);
}
BUG(heap_scratch, "read-before-wait")(const float *a, float *o, int n)
{
    float *scratch = static_cast<float *>(malloc(sizeof(float) * 8));
    if (scratch == nullptr) {
        return;
    }
    for (int i = 0; i < 8; i++) {
        scratch[i] = *(const volatile float *)(a + i);
    }
    pdl_wait();
    o[threadIdx.x] = scratch[n & 7];
    free(scratch);
}

/* The address is computed under the guard under which it is used; elsewhere the register held something else. */
template <bool global> INLINED void guarded_address(const int *a, int *o, int shift, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = n;
    __syncthreads();
    int x = 0;
    bool small = (int)threadIdx.x < n;
    const int *from = global ? a : s;
    if (small) {
        x = *(const volatile int *)(from + (threadIdx.x >> (shift & 3)));
    }
    pdl_wait();
    o[threadIdx.x] = x;
}
BUG(guarded_address, "read-before-wait")(const int *a, int *o, int shift, int n) { guarded_address<true>(a, o, shift, n); }
OK(guarded_address)(const int *a, int *o, int shift, int n) { guarded_address<false>(a, o, shift, n); }
