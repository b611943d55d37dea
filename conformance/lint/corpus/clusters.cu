/* Barrier objects and the cluster: one block waits, and signals an object that lies in the shared memory of another one. */
#include "corpus.h"
#include <cuda.h>

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED void object_expect(void *b, unsigned n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}
INLINED float now(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED unsigned rank_in_cluster(void)
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
INLINED void meet_cluster(void) { asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory"); }
INLINED void arrive_at_rank1(void *object)
{
    asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, 1;\n\t"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}" : : "r"(at(object)) : "memory");
}

/* The leading block of a cluster waits and signals an object in the other block. */
template <bool early> INLINED void remote_signal(const float *a, float *o)
{
    __shared__ unsigned long long go;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) { object_init(&go, 1); }
    meet_cluster();
    if (rank == 0) {
        pdl_wait();
        __syncthreads();
        if (threadIdx.x == 0) {
            arrive_at_rank1(&go);
        }
        o[threadIdx.x] = now(a, threadIdx.x);
    } else {
        float x = early ? now(a, 1024 + threadIdx.x) : 0.0f;
        object_wait(&go, 0);
        if (!early) { x = now(a, 1024 + threadIdx.x); }
        o[1024 + threadIdx.x] = x;
    }
    meet_cluster();
}
BUG(other_block_signals, "partial-wait")(const float *a, float *o) { remote_signal<true>(a, o); }
OK(other_block_signals)(const float *a, float *o) { remote_signal<false>(a, o); }

/* The waiting block signals an object of its own; the other block waits for its own one. */
template <bool remote> INLINED void own_signal(const float *a, float *o)
{
    __shared__ unsigned long long go;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) { object_init(&go, 1); }
    meet_cluster();
    if (rank == 0) {
        pdl_wait();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (remote) {
                arrive_at_rank1(&go);
            } else {
                object_arrive(&go);
            }
        }
        o[threadIdx.x] = now(a, threadIdx.x);
    } else {
        if (!remote && threadIdx.x == 64) { object_arrive(&go); }
        object_wait(&go, 0);
        o[1024 + threadIdx.x] = now(a, 1024 + threadIdx.x);
    }
    meet_cluster();
}
BUG(own_block_signals, "partial-wait")(const float *a, float *o) { own_signal<false>(a, o); }
OK(own_block_signals)(const float *a, float *o) { own_signal<true>(a, o); }

/* st.async into the next block of the cluster, which waits for the bytes. */
template <bool early> INLINED void sent(const float *a, float *o)
{
    __shared__ alignas(16) float box[4];
    __shared__ unsigned long long full;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) { object_init(&full, 1); object_expect(&full, 4); }
    meet_cluster();
    if (rank == 0) {
        if (threadIdx.x == 0) {
            pdl_wait();
            const float x = now(a, 0);
            asm volatile("{\n\t.reg .b32 to, object;\n\tmapa.shared::cluster.u32 to, %0, 1;\n\tmapa.shared::cluster.u32 object, %1, 1;\n\t"
                         "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [to], %2, [object];\n\t}"
                         : : "r"(at(box)), "r"(at(&full)), "f"(x) : "memory");
        }
    } else {
        if (early) { o[threadIdx.x] = 0.0f; }
        object_wait(&full, 0);
        o[threadIdx.x] = box[0] + (float)threadIdx.x;
    }
    meet_cluster();
}
BUG(other_block_sends, "partial-wait")(const float *a, float *o) { sent<true>(a, o); }
OK(other_block_sends)(const float *a, float *o) { sent<false>(a, o); }

/* One full barrier of a multicast copy: the leader waits; the follower stores after its own object, or its second warp stores at once. */
template <bool at_once> INLINED void multicast(const float *a, float *o, const CUtensorMap &m)
{
    __shared__ alignas(128) float s[256];
    __shared__ unsigned long long full;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) { object_init(&full, 1); object_expect(&full, 1024); }
    meet_cluster();
    if (rank == 0 && threadIdx.x == 0) {
        pdl_wait();
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                     : : "r"(at(s)), "l"(&m), "r"(0), "r"(0), "r"(at(&full)), "h"((short)3) : "memory");
    }
    if (at_once && rank == 1 && threadIdx.x / 32 == 1) { o[global_index()] = 1.0f; }
    object_wait(&full, 0);
    o[global_index()] = s[threadIdx.x];
    meet_cluster();
}
BUG(other_block_copies, "partial-wait")(const float *a, float *o, const __grid_constant__ CUtensorMap m) { multicast<true>(a, o, m); }
OK(other_block_copies)(const float *a, float *o, const __grid_constant__ CUtensorMap m) { multicast<false>(a, o, m); }
