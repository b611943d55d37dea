/* mbarrier objects: whose signal a thread waits for decides whether it is ordered behind a wait. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}

BUG(wrong_object, "partial-wait|read-before-wait")(const float *a, const float *w, float *o)
{
    __shared__ unsigned long long data, weights;
    __shared__ float s[64];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&data, 32);
        object_init(&weights, 32);
    }
    __syncthreads();
    if (warp == 0) { /* brings data, waits */
        pdl_wait();
        s[threadIdx.x] = a[threadIdx.x];
        object_arrive(&data);
    } else if (warp == 1) { /* computes something; does not wait */
        s[threadIdx.x] = (float)threadIdx.x;
        object_arrive(&weights);
    } else { /* relies on the warp that did not wait */
        object_wait(&weights, 0);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) * s[32];
    }
}
OK(wrong_object)(const float *a, const float *w, float *o)
{
    __shared__ unsigned long long data, weights;
    __shared__ float s[64];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&data, 32);
        object_init(&weights, 32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        s[threadIdx.x] = a[threadIdx.x];
        object_arrive(&data);
    } else if (warp == 1) {
        s[threadIdx.x] = (float)threadIdx.x;
        object_arrive(&weights);
    } else {
        object_wait(&weights, 0);
        object_wait(&data, 0);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) * s[32];
    }
}

BUG(epilogue_alone, "partial-wait|path-without-wait|read-before-wait|write-before-wait")(const float *a, const float *residual, float *o, int n)
{
    __shared__ unsigned long long full[2];
    __shared__ float s[2][32];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&full[0], 32);
        object_init(&full[1], 32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        for (int t = 0; t < n; t++) {
            s[t & 1][threadIdx.x] = a[t * 32 + threadIdx.x];
            object_arrive(&full[t & 1]);
        }
    } else {
        float r = residual[threadIdx.x]; /* before the first signal */
        for (int t = 0; t < n; t++) {
            object_wait(&full[t & 1], (t >> 1) & 1);
            o[t * 32 + threadIdx.x] = s[t & 1][threadIdx.x & 31] + r;
        }
    }
}
OK(epilogue_alone)(const float *a, const float *residual, float *o, int n)
{
    __shared__ unsigned long long full[2];
    __shared__ float s[2][32];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&full[0], 32);
        object_init(&full[1], 32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        for (int t = 0; t < n; t++) {
            s[t & 1][threadIdx.x] = a[t * 32 + threadIdx.x];
            object_arrive(&full[t & 1]);
        }
    } else {
        pdl_wait();
        float r = residual[threadIdx.x];
        for (int t = 0; t < n; t++) {
            object_wait(&full[t & 1], (t >> 1) & 1);
            o[t * 32 + threadIdx.x] = s[t & 1][threadIdx.x & 31] + r;
        }
    }
}

/* cp.async with a barrier object as its completion */
BUG(copy_object, "async-copy-before-wait|partial-wait")(const float4 *a, float4 *o)
{
    __shared__ unsigned long long b;
    __shared__ float4 s[128];
    if (threadIdx.x == 0) {
        object_init(&b, blockDim.x);
    }
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(at(&s[threadIdx.x])), "l"(a + threadIdx.x) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(at(&b)) : "memory");
    object_wait(&b, 0);
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}
OK(copy_object)(const float4 *a, float4 *o)
{
    __shared__ unsigned long long b;
    __shared__ float4 s[128];
    if (threadIdx.x == 0) {
        object_init(&b, blockDim.x);
    }
    __syncthreads();
    pdl_wait();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(at(&s[threadIdx.x])), "l"(a + threadIdx.x) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(at(&b)) : "memory");
    object_wait(&b, 0);
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}

/* The roles of a warp-specialised kernel as called functions. */
CALLED void produce(float *s, const float *a, unsigned long long *full, bool waits)
{
    if (waits) {
        pdl_wait();
    }
    s[threadIdx.x & 31] = *(const volatile float *)(a + threadIdx.x);
    object_arrive(full);
}
CALLED void consume(const float *s, float *o, unsigned long long *full)
{
    object_wait(full, 0);
    o[threadIdx.x] = s[threadIdx.x & 31];
}
BUG(called_roles, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *b, float *o, int n)
{
    __shared__ unsigned long long full[2];
    __shared__ float s[2][32];
    if (threadIdx.x == 0) {
        object_init(&full[0], 32);
        object_init(&full[1], 32);
    }
    __syncthreads();
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        produce(s[0], a, &full[0], true);
    } else if (warp == 1) {
        produce(s[1], b, &full[1], false);
    } else {
        consume(s[warp & 1], o, &full[warp & 1]);
    }
}
OK(called_roles)(const float *a, const float *b, float *o, int n)
{
    __shared__ unsigned long long full[2];
    __shared__ float s[2][32];
    if (threadIdx.x == 0) {
        object_init(&full[0], 32);
        object_init(&full[1], 32);
    }
    __syncthreads();
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        produce(s[0], a, &full[0], true);
    } else if (warp == 1) {
        produce(s[1], b, &full[1], true);
    } else {
        consume(s[warp & 1], o, &full[warp & 1]);
    }
}

/* Between wait and signal lie more ways than lint can keep apart. Who signals has to be found nevertheless. */
template <int ROUNDS> INLINED void many_ways(volatile int *own, int flags)
{
#pragma unroll
    for (int round = 0; round < ROUNDS; round++)
#pragma unroll
        for (int bit = 0; bit < 10; bit++)
            if (flags >> bit & 1)
                for (int i = own[bit]; i < 9; i++)
                    own[bit] = i + round;
}
BUG(many_ways, "partial-wait|read-before-wait")(const float *a, float *o, int flags)
{
    __shared__ unsigned long long data, ready;
    __shared__ int own[10];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&data, 32);
        object_init(&ready, 32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        many_ways<12>(own, flags);
        object_arrive(&data);
    } else if (warp == 1) {
        many_ways<2>(own, flags);
        object_arrive(&ready);
    } else { /* relies on the warp that did not wait */
        object_wait(&ready, 0);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
OK(many_ways)(const float *a, float *o, int flags)
{
    __shared__ unsigned long long data, ready;
    __shared__ int own[10];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        object_init(&data, 32);
        object_init(&ready, 32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        many_ways<12>(own, flags);
        object_arrive(&data);
    } else if (warp == 1) {
        many_ways<2>(own, flags);
        object_arrive(&ready);
    } else {
        object_wait(&data, 0);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

/* A matrix unit's commit (sm_100) or an arrive lets the last warp store. */
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
#define COMMIT(b) asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" : : "r"(at(b)) : "memory")
#else
#define COMMIT(b) object_arrive(b)
#endif
INLINED bool elected(void)
{
    unsigned yes;
    asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(yes));
    return yes != 0;
}
template <bool wrong> INLINED void accumulated(const float *a, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ unsigned long long full, sum, free;
    if (threadIdx.x == 0) { object_init(&full, 1); object_init(&sum, 1); object_init(&free, 32); }
    __syncthreads();
    const int warp = threadIdx.x / 32;
    if (warp == 0) {
        if (elected()) {
            pdl_wait();
            s[0] = ((const volatile float *)a)[blockIdx.x];
            object_arrive(&full);
        }
    } else if (warp == 1) {
        object_wait(&full, 0);
        if (elected()) { COMMIT(&sum); }
    } else if (warp == 2) {
        object_arrive(&free);
    } else {
        object_wait(wrong ? &free : &sum, 0);
        o[blockIdx.x * 32 + (threadIdx.x & 31)] = s[0];
    }
}
BUG(object_accumulated, "partial-wait")(const float *a, float *o) { accumulated<true>(a, o); }
OK(object_accumulated)(const float *a, float *o) { accumulated<false>(a, o); }
