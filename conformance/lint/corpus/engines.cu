/* Copies by the copy engines and by cp.async: pipelines, tensor maps in structs, copies inside the cluster, called copies. */
#include "corpus.h"
#include <cuda.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED void object_expect(void *b, unsigned n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}
INLINED void copy16(void *to, const void *from) { asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" : : "r"(at(to)), "l"(from) : "memory"); }
INLINED void copy4(void *to, const void *from, unsigned bytes) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(at(to)), "l"(from), "r"(bytes) : "memory"); }
INLINED void commit(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }
INLINED void drain(void) { asm volatile("cp.async.wait_all;" : : : "memory"); }
INLINED void bulk_load(void *to, const void *from, unsigned bytes, void *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
INLINED void tile3d(void *to, const CUtensorMap *map, int x, int y, int z, void *b)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 : : "r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(at(b)) : "memory");
}

INLINED float read_now_of(const float *p) { return ((const volatile float *)p)[threadIdx.x]; }

/* Two stages of cp.async, the first filled ahead of the wait. */
template <bool above> INLINED void two_stages(const float4 *a, float4 *o, int n)
{
    __shared__ float4 s[2][64];
    if (above) { pdl_wait(); }
    copy16(&s[0][threadIdx.x], a + threadIdx.x);
    commit();
    if (!above) { pdl_wait(); }
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) { copy16(&s[(i + 1) & 1][threadIdx.x], a + (i + 1) * 64 + threadIdx.x); }
        commit();
        asm volatile("cp.async.wait_group 1;" : : : "memory");
        __syncthreads();
        o[i * 64 + threadIdx.x] = s[i & 1][63 - threadIdx.x];
        __syncthreads();
    }
    drain();
}
BUG(copy_two_stages, "async-copy-before-wait")(const float4 *a, float4 *o, int n) { two_stages<false>(a, o, n); }
OK(copy_two_stages)(const float4 *a, float4 *o, int n) { two_stages<true>(a, o, n); }

/* A copy of which the length is computed. */
template <bool above> INLINED void computed_length(const float *a, float *o, int n)
{
    __shared__ float s[128];
    if (above) { pdl_wait(); }
    copy4(&s[threadIdx.x], a + global_index(), global_index() < n ? 4u : 0u);
    drain();
    if (!above) { pdl_wait(); }
    o[global_index()] = s[threadIdx.x];
}
BUG(copy_computed_length, "async-copy-before-wait")(const float *a, float *o, int n) { computed_length<false>(a, o, n); }
OK(copy_computed_length)(const float *a, float *o, int n) { computed_length<true>(a, o, n); }

/* A three-dimensional tile through one of several maps in a struct. */
struct maps { CUtensorMap map[3]; int which; };
template <bool above> INLINED void map_of_struct(const maps &m, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 1); }
    __syncthreads();
    if (above) { pdl_wait(); }
    if (threadIdx.x == 0) {
        object_expect(&full, 1024);
        tile3d(s, &m.map[m.which], 0, (int)blockIdx.x, 2, &full);
    }
    if (!above) { pdl_wait(); }
    object_wait(&full, 0);
    o[global_index()] = s[threadIdx.x];
}
BUG(copy_map_of_struct, "async-copy-before-wait")(const __grid_constant__ maps m, float *o) { map_of_struct<false>(m, o); }
OK(copy_map_of_struct)(const __grid_constant__ maps m, float *o) { map_of_struct<true>(m, o); }

/* A store through a tensor map. */
template <bool above> INLINED void map_store(const CUtensorMap &m, float x)
{
    __shared__ alignas(128) float s[256];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        if (above) { pdl_wait(); }
        asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" : : "l"(&m), "r"((int)blockIdx.x), "r"(at(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" : : : "memory");
    }
    if (!above) { pdl_wait(); }
}
BUG(copy_map_store, "async-copy-before-wait")(const __grid_constant__ CUtensorMap m, float x) { map_store<false>(m, x); }
OK(copy_map_store)(const __grid_constant__ CUtensorMap m, float x) { map_store<true>(m, x); }

/* A copy between two places of shared memory. */
OK(copy_inside_cluster)(const float *a, float *o, float x)
{
    __shared__ alignas(128) float s[2][64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 1); }
    s[0][threadIdx.x % 64] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        object_expect(&full, 256);
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     : : "r"(at(s[1])), "r"(at(s[0])), "r"(at(&full)) : "memory");
    }
    object_wait(&full, 0);
    pdl_wait();
    o[global_index()] = s[1][threadIdx.x % 64] + a[threadIdx.x];
}

/* A called function starts the copy. */
CALLED void start_copy(void *to, const void *from, void *b)
{
    object_expect(b, 1024);
    bulk_load(to, from, 1024, b);
}
template <bool above> INLINED void called_copy(const float *a, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 1); }
    __syncthreads();
    if (above) { pdl_wait(); }
    if (threadIdx.x == 0) { start_copy(s, a + blockIdx.x * 256, &full); }
    if (!above) { pdl_wait(); }
    object_wait(&full, 0);
    o[global_index()] = s[threadIdx.x];
}
BUG(copy_called, "async-copy-before-wait")(const float *a, float *o) { called_copy<false>(a, o); }
OK(copy_called)(const float *a, float *o) { called_copy<true>(a, o); }

/* A producer warp with four stages, full and empty objects; the producer waits or the consumers do. */
template <bool producer, bool consumer> INLINED void four_stages(const float *a, const float *bias, float *o, int n)
{
    __shared__ alignas(128) float s[4][128];
    __shared__ unsigned long long full[4], empty[4];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            object_init(&full[i], 1);
            object_init(&empty[i], 128);
        }
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128) {
            if (producer) { pdl_wait(); }
            for (int i = 0; i < n; i++) {
                object_wait(&empty[i % 4], ((unsigned)i / 4 & 1u) ^ 1u);
                object_expect(&full[i % 4], 512);
                bulk_load(s[i % 4], a + i * 128, 512, &full[i % 4]);
            }
        }
    } else {
        if (consumer) { pdl_wait(); }
        const float b = consumer ? read_now_of(bias) : 0.0f;
        float sum = b;
        for (int i = 0; i < n; i++) {
            object_wait(&full[i % 4], (unsigned)i / 4 & 1u);
            sum += s[i % 4][threadIdx.x];
            object_arrive(&empty[i % 4]);
        }
        if (!consumer) { sum += read_now_of(bias); }
        o[global_index()] = sum;
    }
}
BUG(copy_producer_forgets, "async-copy-before-wait|partial-wait")(const float *a, const float *bias, float *o, int n) { four_stages<false, true>(a, bias, o, n); }
OK(copy_producer_forgets)(const float *a, const float *bias, float *o, int n) { four_stages<true, true>(a, bias, o, n); }

/* A copy of a group of threads. */
template <bool above> INLINED void copy_of_group(const int *a, int *o)
{
    namespace cg = cooperative_groups;
    __shared__ alignas(16) int s[256];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int *mine = s + warp.meta_group_rank() * 32;
    if (above) { pdl_wait(); }
    cg::memcpy_async(warp, mine, a + blockIdx.x * 256 + warp.meta_group_rank() * 32, 128);
    cg::wait(warp);
    if (!above) { pdl_wait(); }
    o[global_index()] = mine[31 - warp.thread_rank()];
}
BUG(copy_of_group, "async-copy-before-wait|read-before-wait")(const int *a, int *o) { copy_of_group<false>(a, o); }
OK(copy_of_group)(const int *a, int *o) { copy_of_group<true>(a, o); }

/* cp.async that signals an object for which a waiting warp does not wait. */
template <bool above> INLINED void copy_that_arrives(const float4 *a, float4 *o)
{
    __shared__ float4 s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 64); }
    __syncthreads();
    if (above) { pdl_wait(); }
    copy16(&s[threadIdx.x], a + threadIdx.x);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(at(&full)) : "memory");
    object_wait(&full, 0);
    if (!above) { pdl_wait(); }
    o[threadIdx.x] = s[63 - threadIdx.x];
}
BUG(copy_that_arrives, "async-copy-before-wait")(const float4 *a, float4 *o) { copy_that_arrives<false>(a, o); }
OK(copy_that_arrives)(const float4 *a, float4 *o) { copy_that_arrives<true>(a, o); }
