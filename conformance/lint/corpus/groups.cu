/* Cooperative groups: their barriers are block-wide, narrower or wider than the block. */
#include "corpus.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

BUG(group_block, "partial-wait|read-before-wait")(const float *a, float *o)
{
    cg::thread_block block = cg::this_thread_block();
    block.sync(); /* on the wrong side */
    if (block.thread_rank() == 0) {
        pdl_wait();
    }
    o[block.thread_rank()] = a[block.thread_rank()];
}
OK(group_block)(const float *a, float *o)
{
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        pdl_wait();
    }
    block.sync();
    o[block.thread_rank()] = pdl_fresh(a)[block.thread_rank()];
}

BUG(group_tile, "partial-wait|path-without-wait")(const float *a, float *o)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (tile.thread_rank() == 0) {
        pdl_wait();
    }
    tile.sync(); /* a warp barrier */
    o[threadIdx.x] = a[threadIdx.x];
}
OK(group_tile)(const float *a, float *o)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    float x = cg::reduce(tile, (float)threadIdx.x, cg::plus<float>());
    pdl_wait();
    tile.sync();
    o[threadIdx.x] = a[threadIdx.x] + x;
}

BUG(group_cluster, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.thread_rank() == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[cluster.thread_rank()] = *(const volatile float *)(a + cluster.thread_rank());
}
OK(group_cluster)(const float *a, float *o)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.thread_rank() == 0) {
        pdl_wait();
    }
    cluster.sync();
    o[cluster.thread_rank()] = *(const volatile float *)(a + cluster.thread_rank());
}

BUG(group_copy, "async-copy-before-wait|read-before-wait|partial-wait")(const float *a, float *o)
{
    __shared__ float s[256];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, a, sizeof s);
    pdl_wait();
    cg::wait(block);
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}
OK(group_copy)(const float *a, float *o)
{
    __shared__ float s[256];
    cg::thread_block block = cg::this_thread_block();
    pdl_wait();
    cg::memcpy_async(block, s, a, sizeof s);
    cg::wait(block);
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}

BUG(group_grid, "read-before-wait")(const float *a, float *o)
{
    cg::grid_group grid = cg::this_grid();
    float v = *(const volatile float *)(a + grid.thread_rank());
    pdl_wait();
    grid.sync();
    o[grid.thread_rank()] = v;
}
OK(group_grid)(const float *a, float *o)
{
    cg::grid_group grid = cg::this_grid();
    pdl_wait();
    o[grid.thread_rank()] = *(const volatile float *)(a + grid.thread_rank());
    grid.sync();
    o[grid.thread_rank() ^ 1] += 1.0f;
}

BUG(group_elected, "partial-wait")(const float *a, float *o)
{
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) {
        pdl_wait();
    }
    active.sync();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(group_elected)(const float *a, float *o)
{
    cg::coalesced_group active = cg::coalesced_threads();
    pdl_wait();
    active.sync();
    o[threadIdx.x] = a[threadIdx.x] + (float)active.thread_rank();
}
