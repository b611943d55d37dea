// 18_warp_roles_tma: warp roles and TMA copies. Every role that touches shared data waits. Licence: 0BSD
// nvcc -O3 -std=c++17 -arch=sm_90 -I.. 18_warp_roles_tma.cu -o 18_warp_roles_tma
#include <cuda/barrier>
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum {
    TILE = 1024,
    TILES = 512,
    WORDS = TILE * TILES,
    STAGES = 2,
    COMPUTE = 256,
    THREADS = COMPUTE + 32,
    BLOCKS = 128
};

using barrier = cuda::barrier<cuda::thread_scope_block>;

// The last warp copies tiles into shared memory, the others compute: a ring of STAGES tiles, two barriers for each.
__global__ void scale(unsigned *out, const unsigned *in, int tiles)
{
    __shared__ alignas(128) unsigned ring[STAGES][TILE];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[STAGES], empty[STAGES];

    pdl_trigger();
    if (threadIdx.x == 0) { // prologue: barriers, descriptors, whatever no earlier kernel writes
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1 + COMPUTE);
            init(&empty[s], 1 + COMPUTE);
        }
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    const bool copies = threadIdx.x >= COMPUTE;
    pdl_wait(); // in all roles: one warp's wait does not cover the others. The copies read; the stores below overwrite
    if (copies) {
        for (int i = blockIdx.x, n = 0; threadIdx.x == COMPUTE && i < tiles; i += gridDim.x, n++) {
            const int s = n % STAGES;
            if (n >= STAGES) {
                empty[s].arrive_and_wait();
            }
            const unsigned *tile = pdl_fresh(in) + (size_t)i * TILE;
            cuda::device::memcpy_async_tx(ring[s], tile, cuda::aligned_size_t<16>(sizeof(ring[s])), full[s]);
            (void)cuda::device::barrier_arrive_tx(full[s], 1, sizeof(ring[s]));
        }
    } else {
        for (int i = blockIdx.x, n = 0; i < tiles; i += gridDim.x, n++) {
            const int s = n % STAGES;
            full[s].arrive_and_wait();
            for (int k = threadIdx.x; k < TILE; k += COMPUTE) {
                pdl_fresh(out)[(size_t)i * TILE + k] = 3 * ring[s][k] + 1;
            }
            if (i + STAGES * gridDim.x < tiles) { // only if the copying warp will come for this stage again
                (void)empty[s].arrive();
            }
        }
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    unsigned *out = buffer[(step + 1) % 2], *in = buffer[step % 2];

    CHECK(pdl::launch(scale, BLOCKS, THREADS, 0, stream, overlap, out, in, words / TILE));
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "18_warp_roles_tma";
    m.launch = launch;
    m.words = WORDS;
    return measure(&m);
}
