/* Handshakes between warps as people write them: rings of stages, order barriers, doorbells, drains. */
#include "corpus.h"
#include <stdint.h>

INLINED float fetch(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED unsigned in_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

struct doorbell {
    uint64_t word;
    __device__ __forceinline__ void init(int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(in_shared(this)), "r"(n) : "memory"); }
    __device__ __forceinline__ void ring() { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(in_shared(this)) : "memory"); }
    __device__ __forceinline__ void ring_with(unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(in_shared(this)), "r"(bytes) : "memory"); }
    __device__ __forceinline__ bool rang(unsigned phase)
    {
        unsigned yes;
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(yes) : "r"(in_shared(this)), "r"(phase) : "memory");
        return yes != 0;
    }
    __device__ __forceinline__ void listen(unsigned phase) { while (!rang(phase)) { __nanosleep(20); } }
};

INLINED void start_copy(void *to, const void *from, unsigned bytes, doorbell *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(in_shared(to)), "l"(from), "r"(bytes), "r"(in_shared(b)) : "memory");
}

/* The thread that waits arms the object, another one starts the copy. */
template <bool same> INLINED void armed_elsewhere(const float *a, float *o)
{
    __shared__ alignas(128) float tile[256];
    __shared__ doorbell full;
    if (threadIdx.x == 0)
        full.init(1);
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        full.ring_with(sizeof tile);
        if (same)
            start_copy(tile, a, sizeof tile, &full);
    }
    if (!same && threadIdx.x == 32)
        start_copy(tile, a, sizeof tile, &full);
    full.listen(0);
    o[global_index()] = tile[threadIdx.x];
}
BUG(armed_by_waiter, "async-copy-before-wait|partial-wait")(const float *a, float *o) { armed_elsewhere<false>(a, o); }
OK(armed_by_waiter)(const float *a, float *o) { armed_elsewhere<true>(a, o); }

/* A ring of three stages with one object each, named one by one; the consumer looks at C before the first stage is full. */
template <bool late> INLINED void ring(const float *a, const float *c, float *d, int n)
{
    __shared__ alignas(128) float stage[3][128];
    __shared__ doorbell full[3], empty[3];
    const int warp = (int)threadIdx.x >> 5;
    if (threadIdx.x == 0)
        for (int i = 0; i < 3; i++) {
            full[i].init(1);
            empty[i].init(4);
        }
    __syncthreads();
    if (warp == 4) {
        if ((threadIdx.x & 31) == 0) {
            pdl_wait();
            for (int i = 0; i < n; i++) {
                empty[i % 3].listen((unsigned)(i / 3 & 1) ^ 1u);
                full[i % 3].ring_with(sizeof stage[0]);
                start_copy(stage[i % 3], a + i * 128, sizeof stage[0], &full[i % 3]);
            }
        }
    } else {
        float sum = late ? 0.0f : fetch(c, (int)threadIdx.x);
        for (int i = 0; i < n; i++) {
            full[i % 3].listen((unsigned)(i / 3 & 1));
            sum += stage[i % 3][threadIdx.x];
            __syncwarp();
            if ((threadIdx.x & 31) == 0)
                empty[i % 3].ring();
        }
        if (late) {
            pdl_wait();
            sum += fetch(c, (int)threadIdx.x);
        }
        pdl_wait();
        d[blockIdx.x * 128 + threadIdx.x] = sum;
    }
}
BUG(ring_of_three, "read-before-wait|partial-wait|path-without-wait")(const float *a, const float *c, float *d, int n) { ring<false>(a, c, d, n); }
OK(ring_of_three)(const float *a, const float *c, float *d, int n) { ring<true>(a, c, d, n); }

/* Two math groups take turns by named barriers; the first one waits, and hands over to the second after its wait, or before. */
template <bool right> INLINED void in_order(const float *a, float *o)
{
    __shared__ float s[256];
    const int group = (int)threadIdx.x >> 7;
    if (group == 0) {
        if (!right)
            named_arrive(3, 256);
        pdl_wait();
        s[threadIdx.x] = fetch(a, (int)threadIdx.x);
        if (right)
            named_arrive(3, 256);
    } else {
        named_barrier(3, 256);
        s[threadIdx.x] = fetch(a, (int)threadIdx.x);
    }
    __syncthreads();
    o[global_index()] = s[threadIdx.x ^ 128];
}
BUG(order_of_groups, "partial-wait|read-before-wait")(const float *a, float *o) { in_order<false>(a, o); }
OK(order_of_groups)(const float *a, float *o) { in_order<true>(a, o); }

/* A helper thread rings for everybody once it has waited; who does not listen races. */
template <bool all> INLINED void one_helper(const float *a, float *o)
{
    __shared__ doorbell ready;
    if (threadIdx.x == 0)
        ready.init(1);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        pdl_wait();
        ready.ring();
    }
    if (all || threadIdx.x >= 32)
        ready.listen(0);
    o[global_index()] = fetch(a, global_index());
}
BUG(helper_rings, "partial-wait|read-before-wait")(const float *a, float *o) { one_helper<false>(a, o); }
OK(helper_rings)(const float *a, float *o) { one_helper<true>(a, o); }

/* Only tried, not listened to: the answer is thrown away. */
template <bool spins> INLINED void only_tried(const float *a, float *o)
{
    __shared__ doorbell ready;
    if (threadIdx.x == 0)
        ready.init(1);
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        ready.ring();
    } else if (spins) {
        ready.listen(0);
    } else {
        (void)ready.rang(0);
    }
    o[global_index()] = fetch(a, global_index());
}
BUG(tried_once, "partial-wait|read-before-wait")(const float *a, float *o) { only_tried<false>(a, o); }
OK(tried_once)(const float *a, float *o) { only_tried<true>(a, o); }

/* Listens for a limited number of turns, and then uses another source. */
template <bool gives_up> INLINED void impatient(const float *a, float *o)
{
    __shared__ doorbell ready;
    if (threadIdx.x == 0)
        ready.init(1);
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        ready.ring();
    }
    bool yes = false;
    for (int i = 0; i < 100 && !yes; i++)
        yes = ready.rang(0);
    if (!yes && !gives_up)
        pdl_wait();
    o[global_index()] = fetch(a, global_index());
}
BUG(gives_up_waiting, "partial-wait|read-before-wait")(const float *a, float *o) { impatient<true>(a, o); }
OK(gives_up_waiting)(const float *a, float *o) { impatient<false>(a, o); }

/* Three warps hand on: load, compute, store. The middle one forgets to listen. */
template <bool listens> INLINED void relay(const float *a, float *o)
{
    __shared__ doorbell loaded, computed;
    __shared__ float s[32], t[32];
    const int warp = (int)threadIdx.x >> 5, lane = (int)threadIdx.x & 31;
    if (threadIdx.x == 0) {
        loaded.init(32);
        computed.init(32);
    }
    __syncthreads();
    if (warp == 0) {
        pdl_wait();
        s[lane] = fetch(a, lane);
        loaded.ring();
    } else if (warp == 1) {
        if (listens)
            loaded.listen(0);
        t[lane] = s[lane] * 2.0f;
        computed.ring();
    } else if (warp == 2) {
        computed.listen(0);
        o[lane] = t[lane] + fetch(o, lane);
    }
}
BUG(relay_of_three, "partial-wait|read-before-wait|write-before-wait")(const float *a, float *o) { relay<false>(a, o); }
OK(relay_of_three)(const float *a, float *o) { relay<true>(a, o); }

/* A drain at the end: the producer waits only for its last stage, which is too late. */
template <bool early> INLINED void drains(const float *a, float *o, int n)
{
    __shared__ float s[2][32];
    const int warp = (int)threadIdx.x >> 5, lane = (int)threadIdx.x & 31;
    if (warp == 0) {
        if (early)
            pdl_wait();
        for (int i = 0; i < n; i++) {
            named_barrier(2, 64);
            s[i & 1][lane] = fetch(a, i * 32 + lane);
            named_barrier(1, 64);
        }
        if (!early)
            pdl_wait();
        named_barrier(3, 64);
    } else if (warp == 1) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            named_barrier(2, 64);
            named_barrier(1, 64);
            sum += s[i & 1][lane];
        }
        named_barrier(3, 64);
        o[lane] = sum;
    }
}
BUG(drain_too_late, "read-before-wait|partial-wait")(const float *a, float *o, int n) { drains<false>(a, o, n); }
OK(drain_too_late)(const float *a, float *o, int n) { drains<true>(a, o, n); }

/* The barrier's number depends on the warpgroup. */
template <bool right> INLINED void numbered(const float *a, float *o)
{
    const int group = __shfl_sync(~0u, (int)threadIdx.x >> 7, 0);
    if ((threadIdx.x & 127) < 32 && (right || group == 0))
        pdl_wait();
    named_barrier(1 + group, 128);
    o[global_index()] = fetch(a, global_index());
}
BUG(number_of_group, "partial-wait|read-before-wait")(const float *a, float *o) { numbered<false>(a, o); }
OK(number_of_group)(const float *a, float *o) { numbered<true>(a, o); }

/* Waits for both objects in turn; the second is rung by somebody who never waited, the first by somebody who did. */
template <bool first> INLINED void two_bells(const float *a, float *o)
{
    __shared__ doorbell bells[2];
    if (threadIdx.x < 2)
        bells[threadIdx.x].init(1);
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        bells[0].ring();
    } else if (threadIdx.x == 32) {
        bells[1].ring();
    } else if (threadIdx.x >= 64) {
        bells[1].listen(0);
        const float early = first ? 0.0f : fetch(a, 7);
        bells[0].listen(0);
        o[threadIdx.x] = fetch(a, (int)threadIdx.x) + early;
    }
}
BUG(two_bells, "partial-wait|read-before-wait")(const float *a, float *o) { two_bells<false>(a, o); }
OK(two_bells)(const float *a, float *o) { two_bells<true>(a, o); }
