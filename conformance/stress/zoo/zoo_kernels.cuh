/* zoo_kernels.cuh - one kernel per way to get a wait wrong, with its corrected twin (names end in _ok)
 *
 * The comments name the shape: missing, late, partial, moved by the compiler, write-after-read, transitive.
 * Included by zoo.cu. GDC_WAIT stands for a library's wait that a build flag switches on.
 */
#include "../../../pdl_device.cuh"
#include "zoo.h"

#define WAIT_IF(on) do { if (on) { pdl_wait(); } } while (0)
#define PAIR(name) /* name and name_ok differ in `ok` alone */                                                    \
    static __device__ __forceinline__ void name##_body(struct buffers p, const bool ok);                           \
    ZOO(name) { name##_body(p, false); }                                                                           \
    ZOO(name##_ok) { name##_body(p, true); }                                                                       \
    static __device__ __forceinline__ void name##_body(struct buffers p, const bool ok)

static __device__ __forceinline__ unsigned fresh_value(unsigned x) { return 3 * x + 1; }

/* ---- correct producers --------------------------------------------------------------------------------------------- */

ZOO(poison)
{
    unsigned i = HERE;
    p.in[i] = i * 2654435761u;
    p.a[i] = p.b[i] = p.c[i] = p.out[i] = 0xDEADu;
    p.index[i] = 0;
    if (i < 32) {
        p.scalar[i] = 0;
    }
}
ZOO(produce) { pdl_wait(); p.a[HERE] = fresh_value(p.in[HERE]); }
ZOO(produce_early) { pdl_trigger(); pdl_wait(); p.a[HERE] = fresh_value(p.in[HERE]); }
ZOO(produce_published) { pdl_wait(); p.a[HERE] = fresh_value(p.in[HERE]); __threadfence(); pdl_trigger(); }
ZOO(produce_b) { pdl_wait(); p.b[HERE] = p.in[HERE] + 5; }
ZOO(produce_c) { pdl_wait(); p.c[HERE] = p.in[HERE] + 9; }
ZOO(produce_index) { pdl_wait(); p.index[HERE] = (HERE * 7 + 3) % p.n; p.a[HERE] = fresh_value(p.in[HERE]); }
ZOO(produce_index_early) { pdl_trigger(); pdl_wait(); p.index[HERE] = (HERE * 7 + 3) % p.n; p.a[HERE] = fresh_value(p.in[HERE]); }
ZOO(produce_scalar) { pdl_wait(); p.a[HERE] = fresh_value(p.in[HERE]); if (HERE < 32) { p.scalar[HERE] = p.n - 64; } }
ZOO(read_in) { pdl_wait(); p.a[HERE] = fresh_value(p.in[HERE]); }
ZOO(zero_a) { pdl_wait(); p.a[HERE] = 0; }
ZOO(copy_a) { pdl_wait(); p.out[HERE] = p.a[HERE]; }
ZOO(finish_b) { pdl_wait(); p.out[HERE] = p.b[HERE] ^ 0x55u; }
ZOO(unrelated) { pdl_wait(); p.b[HERE] = p.in[HERE] * 11; }

/* ---- missing wait -------------------------------------------------------------------------------------------------- */

PAIR(consume) { WAIT_IF(ok); p.out[HERE] = p.a[HERE]; }
PAIR(gdc) /* the library's device half is compiled out */
{
    if (ok) {
        asm volatile("griddepcontrol.wait;" : : : "memory");
    }
    p.out[HERE] = p.a[(HERE + 1) % p.n];
}
PAIR(transform) { WAIT_IF(ok); p.b[HERE] = p.a[HERE] * 17; } /* a new kernel in the middle of a chain */
PAIR(first_site) { WAIT_IF(ok); p.b[HERE] = p.a[HERE] + 2; }
PAIR(second_site) { WAIT_IF(ok); p.out[HERE] = p.b[HERE] + 4; }
PAIR(join) { WAIT_IF(ok); p.out[HERE] = p.a[HERE] + p.b[HERE]; }
PAIR(other_pair) { WAIT_IF(ok); p.out[HERE] = p.c[HERE] + p.b[HERE]; }
PAIR(skip_previous) { WAIT_IF(ok); p.out[HERE] = p.a[HERE] * 19; } /* "its input is not from the previous kernel" */
PAIR(bystander) { WAIT_IF(ok); p.b[HERE] = 1; }                   /* touches nothing shared, and releases its successor */
ZOO(last_copy) { p.out[HERE] = p.a[HERE] - 2; }
ZOO(behind_bystander) { pdl_wait(); p.out[HERE] = p.a[HERE] - 1; }

/* ---- partial wait -------------------------------------------------------------------------------------------------- */

PAIR(sparse_path) { if (ok || blockIdx.x % 2 == 0) { pdl_wait(); } p.out[HERE] = p.a[HERE] + 3; }
PAIR(load_warp) { if (ok || threadIdx.x < 32) { pdl_wait(); } p.out[HERE] = p.a[HERE] + 6; }
PAIR(one_thread) { if (ok || threadIdx.x == 0) { pdl_wait(); } p.out[HERE] = p.a[HERE] + 7; }
PAIR(scale_warp) /* the warp that loads the scale has no wait, its siblings do */
{
    __shared__ unsigned scale[32];
    if (ok || threadIdx.x / 32 != 1) {
        pdl_wait();
    }
    if (threadIdx.x / 32 == 1) {
        scale[threadIdx.x % 32] = p.a[blockIdx.x * 32 + threadIdx.x % 32];
    }
    __syncthreads();
    p.out[HERE] = scale[threadIdx.x % 32] * p.in[HERE];
}
PAIR(tile_scheduler) /* every warp reads the offsets, one has waited: seen in a GEMM over sequences of different lengths */
{
    if (ok || threadIdx.x < 32) {
        pdl_wait();
    }
    unsigned offset = *(const volatile unsigned *)&p.index[blockIdx.x];
    p.out[HERE] = p.in[(offset + threadIdx.x) % p.n];
}
PAIR(early_return) /* the path that leaves early has looked at the index before */
{
    WAIT_IF(ok);
    if (p.index[HERE] == 0) {
        p.out[HERE] = 77;
        return;
    }
    pdl_wait();
    p.out[HERE] = p.a[HERE] + 8;
}

/* ---- wait after a dependent read ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ unsigned volatile_load(const unsigned *x) { return *(const volatile unsigned *)x; }

PAIR(index_early) { WAIT_IF(ok); unsigned i = volatile_load(&p.index[HERE]); pdl_wait(); p.out[HERE] = p.in[i % p.n]; }
PAIR(offset_early)
{
    WAIT_IF(ok);
    unsigned offset = volatile_load(&p.index[blockIdx.x + 1]);
    pdl_wait();
    p.out[HERE] = p.a[(offset + threadIdx.x) % p.n];
}
PAIR(merge_path) /* as CUB's merge sort of CUDA 13.0 does it */
{
    WAIT_IF(ok);
    unsigned from = volatile_load(&p.index[blockIdx.x]), to = volatile_load(&p.index[blockIdx.x + 1]);
    pdl_wait();
    p.out[HERE] = p.a[(from + threadIdx.x) % p.n] + p.in[to % p.n];
}
struct scheduler {
    unsigned tiles;
    __device__ explicit scheduler(const unsigned *shapes) : tiles(volatile_load(shapes)) {}
};
PAIR(constructor_shape) { WAIT_IF(ok); scheduler s(p.scalar); pdl_wait(); p.out[HERE] = p.a[HERE] + s.tiles; }
PAIR(constructor_gamma) { WAIT_IF(ok); unsigned gamma = volatile_load(&p.b[HERE]); pdl_wait(); p.out[HERE] = p.a[HERE] * gamma; }
PAIR(frozen_bias) { WAIT_IF(ok); unsigned bias = volatile_load(&p.c[threadIdx.x]); pdl_wait(); p.out[HERE] = p.a[HERE] + bias; }
PAIR(slot_early) { WAIT_IF(ok); unsigned slot = volatile_load(&p.index[HERE]); pdl_wait(); p.out[slot % p.n] = p.a[HERE]; }
PAIR(length_bound)
{
    WAIT_IF(ok);
    unsigned length = volatile_load(&p.scalar[0]);
    pdl_wait();
    if (HERE < length) {
        p.out[HERE] = p.a[HERE];
    }
}
PAIR(prefetch_early) { WAIT_IF(ok); unsigned x = volatile_load(&p.a[HERE]); pdl_wait(); p.out[HERE] = x + p.b[HERE]; }
PAIR(staged_copy) /* the first asynchronous copy is issued above the wait, as a software pipeliner does it */
{
    __shared__ unsigned stage[THREADS];
    unsigned to = (unsigned)__cvta_generic_to_shared(&stage[threadIdx.x]);
    WAIT_IF(ok);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" : : "r"(to), "l"(&p.a[HERE]) : "memory");
    pdl_wait();
    asm volatile("cp.async.wait_group 0;" : : : "memory");
    p.out[HERE] = stage[threadIdx.x] + 12;
}

/* ---- wait defeated by the compiler --------------------------------------------------------------------------------- */

extern "C" __global__ void restrict_hoist(unsigned *__restrict__ out, const unsigned *__restrict__ in)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncthreads();
    out[HERE] = in[HERE] + 21;
}
extern "C" __global__ void restrict_hoist_ok(unsigned *out, const unsigned *in)
{
    pdl_wait();
    pdl_fresh(out)[HERE] = pdl_fresh(in)[HERE] + 21;
}

/* ---- write-after-read, write-after-write --------------------------------------------------------------------------- */

PAIR(overwrite_input) { WAIT_IF(ok); p.in[HERE] = 0xBADu; }
PAIR(store_first) { WAIT_IF(ok); p.a[HERE] = 5; pdl_wait(); p.b[HERE] = 6; }
PAIR(accumulate) { WAIT_IF(ok); atomicAdd(&p.a[HERE], p.in[HERE]); }
PAIR(iterate) /* in place of two buffers, several times in a row: a -> b, b -> a, ... by the pointers it is given */
{
    WAIT_IF(ok);
    p.b[HERE] = p.a[(HERE + p.n / 2 + THREADS) % p.n] + 1;
}
ZOO(chain) { pdl_wait(); p.b[HERE] = p.b[HERE] + 1; }
ZOO(chain_plain) { p.b[HERE] = p.b[HERE] + 1; }
