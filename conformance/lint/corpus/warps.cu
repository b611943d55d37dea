/* Warp specialisation: one warp moves data, the others compute. */
#include "corpus.h"

INLINED unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

INLINED void barrier_init(unsigned long long *b, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(shared_address(b)), "r"(count) : "memory");
}

INLINED void barrier_expect(unsigned long long *b, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(shared_address(b)), "r"(bytes) : "memory");
}

INLINED void barrier_arrive(unsigned long long *b)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(shared_address(b)) : "memory");
}

INLINED void barrier_wait(unsigned long long *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(shared_address(b)), "r"(parity) : "memory");
}

INLINED void bulk_load(void *to, const void *from, unsigned bytes, unsigned long long *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(b)) : "memory");
}

struct stages {
    alignas(128) float data[4][256];
    unsigned long long full[4], empty[4];
};

INLINED void make_barriers(stages *s)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            barrier_init(&s->full[i], 1);
            barrier_init(&s->empty[i], blockDim.x - 64);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    __syncthreads();
}

/* A producer warp and consumers that read only what it brought; `second` loads more in a warp of its own. */
#define SPECIALISED(producer_wait, second_wait, consumer_extra)                                                     \
    __shared__ stages s;                                                                                             \
    int warp = threadIdx.x / 32;                                                                                     \
    make_barriers(&s);                                                                                               \
    if (warp == 0) {                                                                                                 \
        if (threadIdx.x == 0) {                                                                                      \
            producer_wait;                                                                                           \
            for (int t = 0; t < n; t++) {                                                                            \
                barrier_wait(&s.empty[t & 3], (unsigned)((t >> 2) & 1) ^ 1u);                                        \
                barrier_expect(&s.full[t & 3], 1024);                                                                \
                bulk_load(s.data[t & 3], a + t * 256, 1024, &s.full[t & 3]);                                         \
            }                                                                                                        \
        }                                                                                                            \
    } else if (warp == 1) {                                                                                          \
        if (threadIdx.x == 32) {                                                                                     \
            second_wait;                                                                                             \
            for (int t = 0; t < n; t++) {                                                                            \
                barrier_wait(&s.empty[t & 3], (unsigned)((t >> 2) & 1) ^ 1u);                                        \
                bulk_load(s.data[t & 3] + 128, scales + t * 256, 512, &s.full[t & 3]);                               \
            }                                                                                                        \
        }                                                                                                            \
    } else {                                                                                                         \
        consumer_extra;                                                                                              \
        float sum = 0.0f;                                                                                            \
        for (int t = 0; t < n; t++) {                                                                                \
            barrier_wait(&s.full[t & 3], (unsigned)(t >> 2) & 1);                                                    \
            sum += s.data[t & 3][threadIdx.x & 255];                                                                 \
            barrier_arrive(&s.empty[t & 3]);                                                                         \
        }                                                                                                            \
        keep = sum;                                                                                                  \
    }

OK(specialised)(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f;
    SPECIALISED(pdl_wait(), pdl_wait(), (void)0)
    pdl_wait();
    o[threadIdx.x] = keep;
}
BUG(specialised_second, "partial-wait|async-copy-before-wait")(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f; /* the warp that brings the scales does not wait */
    SPECIALISED(pdl_wait(), (void)0, (void)0)
    pdl_wait();
    o[threadIdx.x] = keep;
}
BUG(specialised_first, "async-copy-before-wait|partial-wait")(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f;
    SPECIALISED((void)0, pdl_wait(), (void)0)
    pdl_wait();
    o[threadIdx.x] = keep;
}
BUG(specialised_none, "no-wait")(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f;
    SPECIALISED((void)0, (void)0, (void)0)
    o[threadIdx.x] = keep;
}
BUG(specialised_alpha, "partial-wait|read-before-wait")(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f, alpha = 1.0f; /* the consumers read a scalar early */
    SPECIALISED(pdl_wait(), pdl_wait(), alpha = *(const volatile float *)scales)
    pdl_wait();
    o[threadIdx.x] = keep * alpha;
}
OK(specialised_alpha)(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f, alpha = 1.0f;
    SPECIALISED(pdl_wait(), pdl_wait(), pdl_wait(); alpha = *(const volatile float *)scales)
    pdl_wait();
    o[threadIdx.x] = keep * alpha;
}
OK(specialised_top)(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f;
    pdl_wait();
    SPECIALISED((void)0, (void)0, (void)0)
    o[threadIdx.x] = keep;
}
OK(specialised_consumers)(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f; /* the consumers store behind the data that the waiting warps brought */
    __shared__ stages s;
    int warp = threadIdx.x / 32;
    make_barriers(&s);
    if (warp == 0) {
        if (threadIdx.x == 0) {
            pdl_wait();
            for (int t = 0; t < n; t++) {
                barrier_wait(&s.empty[t & 3], (unsigned)((t >> 2) & 1) ^ 1u);
                barrier_expect(&s.full[t & 3], 1024);
                bulk_load(s.data[t & 3], a + t * 256, 1024, &s.full[t & 3]);
            }
        }
    } else {
        for (int t = 0; t < n; t++) {
            barrier_wait(&s.full[t & 3], (unsigned)(t >> 2) & 1);
            keep += s.data[t & 3][threadIdx.x & 255];
            o[t * 256 + threadIdx.x] = keep * scales[0];
            barrier_arrive(&s.empty[t & 3]);
        }
    }
}
BUG(specialised_store, "partial-wait|write-before-wait")(const float *a, const float *scales, float *o, int n)
{
    float keep = 0.0f; /* the consumers clear the output before any data came */
    SPECIALISED(pdl_wait(), pdl_wait(), o[threadIdx.x] = 0.0f)
    if (warp > 1) {
        o[threadIdx.x] = keep;
    }
}

BUG(roles_by_switch, "partial-wait|path-without-wait")(const float *a, const float *b, float *o)
{
    __shared__ float s[4][32];
    int lane = threadIdx.x & 31;
    switch (threadIdx.x >> 5) {
    case 0: pdl_wait(); s[0][lane] = a[lane]; break;
    case 1: s[1][lane] = *(const volatile float *)(b + lane); break;
    case 2: pdl_wait(); s[2][lane] = a[lane + 64]; break;
    default: s[3][lane] = 1.0f; break;
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x >> 5][lane];
}
OK(roles_by_switch)(const float *a, const float *b, float *o)
{
    __shared__ float s[4][32];
    int lane = threadIdx.x & 31;
    switch (threadIdx.x >> 5) {
    case 0: pdl_wait(); s[0][lane] = a[lane]; break;
    case 1: pdl_wait(); s[1][lane] = *(const volatile float *)(b + lane); break;
    case 2: pdl_wait(); s[2][lane] = a[lane + 64]; break;
    default: s[3][lane] = 1.0f; break;
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x >> 5][lane];
}

BUG(roles_by_shuffle, "partial-wait")(const float *a, float *o)
{
    int warp = __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0);
    if (warp == 0) {
        pdl_wait();
    }
    __syncwarp();
    if (warp <= 1) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(roles_by_shuffle)(const float *a, float *o)
{
    int warp = __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0);
    if (warp == 0) {
        pdl_wait();
    }
    __syncwarp();
    if (warp == 0) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}

/* The consumers' warp makes the barrier object. What it asked there decides its later branches, which divide the block all the same. */
INLINED void roles_in_turn(bool first_waits, const float *a, const float *b, float *o)
{
    __shared__ unsigned long long full[4], empty[4];
    __shared__ float s[2][32];
    int warp = __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0);
    if (warp == 4) {
        for (int i = 0; i < 4; i++) {
            barrier_init(&full[i], 128);
            barrier_init(&empty[i], 128);
        }
    }
    __syncthreads();
    if (warp < 2) {
        if (first_waits) {
            pdl_wait();
        }
        s[0][threadIdx.x & 31] = a[threadIdx.x];
        barrier_arrive(&full[0]);
    } else if (warp < 4) {
        pdl_wait();
        s[1][threadIdx.x & 31] = b[threadIdx.x];
        barrier_arrive(&full[0]);
    } else {
        barrier_wait(&full[0], 0);
        o[threadIdx.x] = s[0][threadIdx.x & 31] + s[1][threadIdx.x & 31];
    }
}
BUG(roles_in_turn, "partial-wait")(const float *a, const float *b, float *o) { roles_in_turn(false, a, b, o); }
OK(roles_in_turn)(const float *a, const float *b, float *o) { roles_in_turn(true, a, b, o); }

BUG(producer_named, "partial-wait")(const float *a, float *o, int n)
{
    __shared__ float s[2][128];
    if (threadIdx.x < 128) {
        for (int t = 0; t < n; t++) { /* the loaders do not wait, the writers do */
            s[t & 1][threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
            named_barrier(1, 256);
            named_barrier(2, 256);
        }
    } else {
        pdl_wait();
        for (int t = 0; t < n; t++) {
            named_barrier(1, 256);
            o[t * 128 + threadIdx.x - 128] = s[t & 1][threadIdx.x - 128];
            named_barrier(2, 256);
        }
    }
}
OK(producer_named)(const float *a, float *o, int n)
{
    __shared__ float s[2][128];
    if (threadIdx.x < 128) {
        pdl_wait();
        for (int t = 0; t < n; t++) {
            s[t & 1][threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
            named_barrier(1, 256);
            named_barrier(2, 256);
        }
    } else {
        for (int t = 0; t < n; t++) {
            named_barrier(1, 256);
            o[t * 128 + threadIdx.x - 128] = s[t & 1][threadIdx.x - 128];
            named_barrier(2, 256);
        }
    }
}

BUG(early_role_exit, "partial-wait|path-without-wait|async-copy-before-wait|read-before-wait")(const float *a, const float *b, float *o)
{
    __shared__ float s[64];
    int warp = threadIdx.x / 32;
    if (warp == 3) { /* a helper that leaves early, and reads */
        o[threadIdx.x] = *(const volatile float *)(b + threadIdx.x);
        return;
    }
    if (warp == 0) {
        pdl_wait();
        s[threadIdx.x] = a[threadIdx.x];
    }
    named_barrier(1, 96);
    o[threadIdx.x] = s[threadIdx.x & 31];
}
OK(early_role_exit)(const float *a, const float *b, float *o)
{
    __shared__ float s[64];
    int warp = threadIdx.x / 32;
    if (warp == 3) {
        return;
    }
    if (warp == 0) {
        pdl_wait();
        s[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
    }
    named_barrier(1, 96);
    o[threadIdx.x] = s[threadIdx.x & 31];
}
