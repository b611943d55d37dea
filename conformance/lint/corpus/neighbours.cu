/* Blocks of a cluster and groups of copies: who of them waited, and which way the news travels. */
#include "corpus.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <stdint.h>

namespace cg = cooperative_groups;
template <typename T> INLINED T at_once(const T *p) { return *(const volatile T *)p; }
INLINED unsigned place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

/* Rank 0 waits between its arrival and the end of the barrier, or ahead of its arrival. */
template <bool right> INLINED void leader_between(const float *a, float *o)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (right && cluster.block_rank() == 0)
        pdl_wait();
    auto token = cluster.barrier_arrive();
    if (!right && cluster.block_rank() == 0)
        pdl_wait();
    cluster.barrier_wait(cuda::std::move(token));
    o[global_index()] = at_once(a + global_index());
}
BUG(leader_between, "partial-wait|read-before-wait|path-without-wait|write-before-wait") __cluster_dims__(2, 1, 1) (const float *a, float *o) { leader_between<false>(a, o); }
OK(leader_between) __cluster_dims__(2, 1, 1) (const float *a, float *o) { leader_between<true>(a, o); }

/* A tile is read from the neighbour's shared memory: that is no access to global memory; the residual is. */
template <bool late> INLINED void from_neighbour(const float *a, const float *residual, float *o)
{
    __shared__ float s[128];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned other = cluster.block_rank() ^ 1u;
    float r = 0.0f;
    if (cluster.block_rank() == 0)
        pdl_wait();
    else if (!late)
        r = at_once(residual + threadIdx.x);
    if (cluster.block_rank() == 0)
        s[threadIdx.x % 128] = at_once(a + threadIdx.x);
    else
        s[threadIdx.x % 128] = 1.0f;
    cluster.sync();
    if (late)
        r = at_once(residual + threadIdx.x);
    const float x = cluster.map_shared_rank(s, other)[threadIdx.x % 128] + r;
    cluster.sync();
    o[global_index()] = x;
}
BUG(tile_of_neighbour, "partial-wait|read-before-wait|path-without-wait") __cluster_dims__(2, 1, 1) (const float *a, const float *residual, float *o)
{
    from_neighbour<false>(a, residual, o);
}
OK(tile_of_neighbour) __cluster_dims__(2, 1, 1) (const float *a, const float *residual, float *o) { from_neighbour<true>(a, residual, o); }

/* A block with nothing to do waits all the same, and leaves after the last barrier of its cluster. */
OK(leaves_late) __cluster_dims__(2, 1, 1) (const float *a, float *o, int n)
{
    const bool idle = (int)blockIdx.x >= n;
    pdl_wait();
    cg::this_cluster().sync();
    if (idle && threadIdx.x == 0)
        o[blockIdx.x] = at_once(a + blockIdx.x);
}

/* Who of a cluster waits: a condition on the block's number may leave whole clusters without a block that does. */
enum { ALL, NUMBER, RANK, HALF };
template <int who> INLINED void some_of_cluster(const float *a, float *o, int n)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (who == ALL || (who == NUMBER && (int)blockIdx.x < n) || (who == RANK && cluster.block_rank() == 0) || (who == HALF && blockIdx.x % 2 == 0))
        pdl_wait();
    cluster.sync();
    o[global_index()] = at_once(a + global_index());
}
BUG(number_in_grid, "partial-wait") __cluster_dims__(2, 1, 1) (const float *a, float *o, int n) { some_of_cluster<NUMBER>(a, o, n); }
OK(number_in_grid) __cluster_dims__(2, 1, 1) (const float *a, float *o, int n) { some_of_cluster<ALL>(a, o, n); }
BUG(half_of_cluster, "partial-wait") __cluster_dims__(1, 2, 1) (const float *a, float *o, int n) { some_of_cluster<HALF>(a, o, n); }
OK(half_of_cluster) __cluster_dims__(2, 1, 1) (const float *a, float *o, int n) { some_of_cluster<HALF>(a, o, n); }
OK(rank_of_cluster) __cluster_dims__(2, 1, 1) (const float *a, float *o, int n) { some_of_cluster<RANK>(a, o, n); }

/* Copies by the old asynchronous instructions, in groups: the first group is started ahead of the wait. */
template <bool late> INLINED void in_groups(const float *a, float *o, int n)
{
    __shared__ alignas(16) float s[4][128];
    const float4 *from = reinterpret_cast<const float4 *>(a) + threadIdx.x;
    if (late)
        pdl_wait();
    for (int i = 0; i < 3; i++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(place(&s[i][4 * (threadIdx.x & 31)])), "l"(from + 32 * i) : "memory");
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    if (!late)
        pdl_wait();
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        asm volatile("cp.async.wait_group 2;" : : : "memory");
        __syncthreads();
        sum += s[i & 3][threadIdx.x & 127];
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(place(&s[(i + 3) & 3][4 * (threadIdx.x & 31)])), "l"(from + 32 * (i + 3)) : "memory");
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    o[global_index()] = sum;
}
BUG(copies_in_groups, "async-copy-before-wait|read-before-wait")(const float *a, float *o, int n) { in_groups<false>(a, o, n); }
OK(copies_in_groups)(const float *a, float *o, int n) { in_groups<true>(a, o, n); }

/* Copies fill with zeros what lies beyond the end; a length of zero reads nothing, but the compiler cannot know it. */
template <bool late> INLINED void zero_filled(const float *a, float *o, int n)
{
    __shared__ alignas(16) float s[256];
    const int i = global_index();
    if (late)
        pdl_wait();
    const int bytes = i < n ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(place(&s[threadIdx.x])), "l"(a + i), "r"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" : : : "memory");
    pdl_wait();
    __syncthreads();
    o[i] = s[threadIdx.x ^ 1];
}
BUG(zero_filled, "async-copy-before-wait|read-before-wait")(const float *a, float *o, int n) { zero_filled<false>(a, o, n); }
OK(zero_filled)(const float *a, float *o, int n) { zero_filled<true>(a, o, n); }

/* Producers and consumers of the library's pipeline: the consumers' epilogue reads what no producer brought. */
template <bool late> INLINED void partitioned(const float *a, const float *bias, float *o, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) float s[2][64];
    cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x < 64;
    auto pipe = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (produces) {
        pdl_wait();
        for (int i = 0; i < n; i++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[i & 1][threadIdx.x], a + i * 64 + threadIdx.x, sizeof(float), pipe);
            pipe.producer_commit();
        }
    } else {
        const int lane = (int)threadIdx.x & 63;
        float sum = late ? 0.0f : at_once(bias + lane);
        for (int i = 0; i < n; i++) {
            pipe.consumer_wait();
            sum += s[i & 1][lane];
            pipe.consumer_release();
        }
        pdl_wait();
        o[blockIdx.x * 64 + lane] = late ? sum + at_once(bias + lane) : sum;
    }
}
BUG(partitioned_pipeline, "read-before-wait|partial-wait|path-without-wait")(const float *a, const float *bias, float *o, int n) { partitioned<false>(a, bias, o, n); }
OK(partitioned_pipeline)(const float *a, const float *bias, float *o, int n) { partitioned<true>(a, bias, o, n); }

/* The library's barrier, used twice: the first time nobody has waited yet. */
template <bool second> INLINED void used_twice(const float *a, float *o)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    b.arrive_and_wait();
    const float early = second ? 0.0f : at_once(a + threadIdx.x);
    pdl_wait();
    b.arrive_and_wait();
    o[global_index()] = at_once(a + (threadIdx.x ^ 1)) + early;
}
BUG(barrier_used_twice, "read-before-wait|partial-wait")(const float *a, float *o) { used_twice<false>(a, o); }
OK(barrier_used_twice)(const float *a, float *o) { used_twice<true>(a, o); }

/* Named barriers used on both sides of the wait, by all warps. */
template <bool second> INLINED void named_on_both_sides(const float *a, float *o)
{
    __shared__ float s[256];
    s[threadIdx.x] = (float)threadIdx.x;
    named_barrier(4, 256);
    const float early = second ? 0.0f : at_once(a + threadIdx.x);
    pdl_wait();
    named_barrier(4, 256);
    o[global_index()] = at_once(a + (threadIdx.x ^ 1)) + early + s[threadIdx.x ^ 8];
}
BUG(named_on_both_sides, "read-before-wait|partial-wait")(const float *a, float *o) { named_on_both_sides<false>(a, o); }
OK(named_on_both_sides)(const float *a, float *o) { named_on_both_sides<true>(a, o); }

/* The same under a guard that the compiler may turn into a predicate: only warps above the fourth meet early. */
template <bool right> INLINED void guarded_meeting(const float *a, float *o)
{
    const bool upper = threadIdx.x >= 128;
    if (upper)
        named_barrier(6, 128);
    float x = 0.0f;
    if (upper && !right)
        x = at_once(a + threadIdx.x);
    pdl_wait();
    if (upper)
        named_barrier(6, 128);
    o[global_index()] = x + at_once(a + (threadIdx.x ^ 1));
}
BUG(guarded_meeting, "read-before-wait|partial-wait")(const float *a, float *o) { guarded_meeting<false>(a, o); }
OK(guarded_meeting)(const float *a, float *o) { guarded_meeting<true>(a, o); }

/* Three groups meet in a row: the news of the wait travels upwards only. */
template <bool upwards> INLINED void news(const float *a, float *o)
{
    const int group = (int)threadIdx.x >> 6;
    if (group == (upwards ? 0 : 2))
        pdl_wait();
    if (group == 1)
        named_barrier(2, 128);
    if (group == 0)
        named_arrive(2, 128);
    if (group == 2)
        named_barrier(3, 128);
    if (group == 1)
        named_arrive(3, 128);
    if (group == 2 || group == 1)
        o[threadIdx.x] = at_once(a + threadIdx.x);
}
BUG(news_upwards, "partial-wait|read-before-wait|write-before-wait")(const float *a, float *o) { news<false>(a, o); }
OK(news_upwards)(const float *a, float *o) { news<true>(a, o); }
