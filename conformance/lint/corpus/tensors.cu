/* Tensor maps in parameters, multicast, reductions, prefetches, cluster launches. */
#include "corpus.h"
#include <cuda.h>
#include <stdint.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

INLINED unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void init(uint64_t *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(smem(b)), "r"(n) : "memory"); }
INLINED void expect(uint64_t *b, unsigned n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(smem(b)), "r"(n) : "memory"); }
INLINED void block_until(uint64_t *b, unsigned phase)
{
    asm volatile("{\n\t.reg .pred p;\nL_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra L_%=;\n\t}" : : "r"(smem(b)), "r"(phase) : "memory");
}
INLINED void tile2d(void *to, const CUtensorMap *map, int x, int y, uint64_t *b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 : : "r"(smem(to)), "l"(map), "r"(x), "r"(y), "r"(smem(b)) : "memory");
}

BUG(map_param, "async-copy-before-wait")(const __grid_constant__ CUtensorMap map, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory"); }
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 1024); tile2d(s, &map, 0, (int)blockIdx.x, &full); }
    pdl_wait();
    block_until(&full, 0);
    o[threadIdx.x] = s[threadIdx.x];
}
OK(map_param)(const __grid_constant__ CUtensorMap map, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory"); }
    __syncthreads();
    pdl_wait();
    if (threadIdx.x == 0) { expect(&full, 1024); tile2d(s, &map, 0, (int)blockIdx.x, &full); }
    block_until(&full, 0);
    o[threadIdx.x] = s[threadIdx.x];
}

/* two loads of one stage: the weights may run ahead, the activations may not; here both do */
BUG(map_two, "async-copy-before-wait|partial-wait")(const __grid_constant__ CUtensorMap w, const __grid_constant__ CUtensorMap x, float *o, int n)
{
    __shared__ alignas(128) float s[2][256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0) {
            expect(&full, 2048);
            tile2d(s[0], &w, i, 0, &full);
            tile2d(s[1], &x, i, 0, &full);
            if (i == 0) { pdl_wait(); }
        }
        block_until(&full, i & 1);
        sum += s[0][threadIdx.x] * s[1][threadIdx.x];
        __syncthreads();
    }
    o[threadIdx.x] = sum;
}
OK(map_two)(const __grid_constant__ CUtensorMap w, const __grid_constant__ CUtensorMap x, float *o, int n)
{
    __shared__ alignas(128) float s[2][256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0) {
            if (i == 0) { pdl_wait(); }
            expect(&full, 2048);
            tile2d(s[0], &w, i, 0, &full);
            tile2d(s[1], &x, i, 0, &full);
        }
        block_until(&full, i & 1);
        sum += s[0][threadIdx.x] * s[1][threadIdx.x];
        __syncthreads();
    }
    pdl_wait();
    o[threadIdx.x] = sum;
}

BUG(map_reduce_add, "async-copy-before-wait|partial-wait|write-before-wait|path-without-wait")(const __grid_constant__ CUtensorMap map, const float *a, float x)
{
    __shared__ alignas(128) float s[256];
    s[threadIdx.x] = x; /* adds into a buffer that is not zeroed yet */
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     : : "l"(&map), "r"(0), "r"((int)blockIdx.x), "r"(smem(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory");
    } else {
        pdl_wait();
    }
}
OK(map_reduce_add)(const __grid_constant__ CUtensorMap map, const float *a, float x)
{
    __shared__ alignas(128) float s[256];
    s[threadIdx.x] = x;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     : : "l"(&map), "r"(0), "r"((int)blockIdx.x), "r"(smem(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory");
    }
}

/* the map itself lies in global memory, written by the kernel before */
BUG(map_pointer, "read-before-wait|async-copy-before-wait")(const CUtensorMap *maps, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" : : "l"(maps) : "memory");
        expect(&full, 1024);
        tile2d(s, maps + blockIdx.x, 0, 0, &full);
    }
    block_until(&full, 0);
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x];
}
OK(map_pointer)(const CUtensorMap *maps, float *o)
{
    __shared__ alignas(128) float s[256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) { init(&full, 1); }
    __syncthreads();
    pdl_wait();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" : : "l"(maps) : "memory");
        expect(&full, 1024);
        tile2d(s, maps + blockIdx.x, 0, 0, &full);
    }
    block_until(&full, 0);
    o[threadIdx.x] = s[threadIdx.x];
}

/* clusters: whose barrier helps whom */
BUG(cluster_arrive_only, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o)
{
    if (threadIdx.x == 0) { pdl_wait(); }
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
    float v = *(const volatile float *)(a + threadIdx.x); /* between arrive and wait */
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
    o[threadIdx.x] = v;
}
OK(cluster_arrive_only)(const float *a, float *o)
{
    if (threadIdx.x == 0) { pdl_wait(); }
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(cluster_before, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o)
{
    cg::this_cluster().sync();
    if (threadIdx.x < 32) { pdl_wait(); }
    __syncwarp();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(cluster_before)(const float *a, float *o)
{
    if (threadIdx.x < 32) { pdl_wait(); }
    cg::this_cluster().sync();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* rank 0 multicasts; the others read what it brought and one more word by themselves */
BUG(cluster_leader, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *bias, float *o)
{
    __shared__ float s[128];
    cg::cluster_group c = cg::this_cluster();
    float extra = *(const volatile float *)(bias + threadIdx.x);
    if (c.block_rank() == 0) {
        pdl_wait();
        for (unsigned r = 0; r < c.num_blocks(); r++) { c.map_shared_rank(s, r)[threadIdx.x] = a[threadIdx.x]; }
    }
    c.sync();
    o[c.thread_rank()] = s[threadIdx.x] + extra;
}
OK(cluster_leader)(const float *a, const float *bias, float *o)
{
    __shared__ float s[128];
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 0) {
        pdl_wait();
        for (unsigned r = 0; r < c.num_blocks(); r++) { c.map_shared_rank(s, r)[threadIdx.x] = a[threadIdx.x]; }
    }
    c.sync();
    o[c.thread_rank()] = s[threadIdx.x] + *(const volatile float *)(bias + threadIdx.x);
}

/* multimem: switch reductions over many GPUs' memory */
BUG(multimem, "read-before-wait|atomic-before-wait")(const float *a, float *o)
{
    float v;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(v) : "l"(a + threadIdx.x) : "memory");
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(multimem)(const float *a, float *o)
{
    float v;
    pdl_wait();
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(v) : "l"(a + threadIdx.x) : "memory");
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(v) : "memory");
}
BUG(multimem_store, "write-before-wait|atomic-before-wait")(float *o, float x)
{
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(x) : "memory");
    pdl_wait();
}
OK(multimem_store)(float *o, float x)
{
    pdl_wait();
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(x) : "memory");
}
