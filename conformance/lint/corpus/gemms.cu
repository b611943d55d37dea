/* Warp-specialised GEMMs as CUTLASS builds them: classes for pipelines, schedulers and roles. */
#include "corpus.h"
#include <stdint.h>

INLINED unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

struct transaction_barrier {
    uint64_t word;
    __device__ __forceinline__ void init(unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(smem(&word)), "r"(n) : "memory"); }
    __device__ __forceinline__ void arrive() { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(smem(&word)) : "memory"); }
    __device__ __forceinline__ void expect(unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(smem(&word)), "r"(bytes) : "memory"); }
    __device__ __forceinline__ bool try_wait(unsigned phase) {
        int done;
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(smem(&word)), "r"(phase) : "memory");
        return done;
    }
    __device__ __forceinline__ void wait(unsigned phase) { while (!try_wait(phase)) { } }
};

template <int stages> struct pipeline_state {
    int index = 0, count = 0;
    unsigned phase;
    __device__ pipeline_state(unsigned first) : phase(first) {}
    __device__ pipeline_state &operator++() { count++; if (++index == stages) { index = 0; phase ^= 1u; } return *this; }
};

template <int stages> struct load_pipeline {
    struct storage { transaction_barrier full[stages], empty[stages]; };
    storage &s;
    __device__ load_pipeline(storage &where, unsigned consumers) : s(where) {
        if (threadIdx.x == 0) { for (int i = 0; i < stages; i++) { s.full[i].init(1); s.empty[i].init(consumers); } asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
        __syncthreads();
    }
    __device__ void acquire(pipeline_state<stages> p, unsigned bytes) { s.empty[p.index].wait(p.phase); s.full[p.index].expect(bytes); }
    __device__ transaction_barrier *barrier(pipeline_state<stages> p) { return &s.full[p.index]; }
    __device__ void consumer_wait(pipeline_state<stages> p) { s.full[p.index].wait(p.phase); }
    __device__ void release(pipeline_state<stages> p) { s.empty[p.index].arrive(); }
};

INLINED void bulk(void *to, const void *from, unsigned bytes, transaction_barrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(smem(to)), "l"(from), "r"(bytes), "r"(smem(&b->word)) : "memory");
}

struct tile_loop {
    int tile, tiles;
    __device__ tile_loop(int n) : tile((int)blockIdx.x), tiles(n) {}
    __device__ bool valid() const { return tile < tiles; }
    __device__ void advance() { tile += (int)gridDim.x; }
};

struct gemm_arguments {
    const float *a, *b, *c;
    float *d;
    const float *alpha;
    int tiles, k;
};

struct gemm_storage {
    alignas(128) float a[4][256];
    alignas(128) float c[256];
    load_pipeline<4>::storage pipe;
    transaction_barrier c_full;
};

enum { role_load = 0, role_epilogue_load = 1, role_math = 2 };

/* where: bit 0 load warp waits, bit 1 epilogue-load warp waits, bit 2 math warps wait before the store, bit 3 alpha early */
template <int where> static __device__ __forceinline__ void gemm(const gemm_arguments &g)
{
    extern __shared__ __align__(128) char raw[];
    gemm_storage &s = *reinterpret_cast<gemm_storage *>(raw);
    int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    int role = warp < 2 ? warp : role_math;
    float alpha = 1.0f;
    if (where & 8) {
        alpha = *(const volatile float *)g.alpha;
    }
    load_pipeline<4> pipe(s.pipe, 128);
    if (threadIdx.x == 0) { s.c_full.init(1); }
    __syncthreads();
    bool leader = threadIdx.x % 32 == 0;
    if (role == role_load) {
        if (where & 1) { pdl_wait(); }
        pipeline_state<4> state(1u);
        for (tile_loop tiles(g.tiles); tiles.valid(); tiles.advance()) {
            for (int k = 0; k < g.k; k++, ++state) {
                if (leader) {
                    pipe.acquire(state, 1024);
                    bulk(s.a[state.index], g.a + (tiles.tile * g.k + k) * 256, 1024, pipe.barrier(state));
                }
            }
        }
    } else if (role == role_epilogue_load) {
        if (where & 2) { pdl_wait(); }
        for (tile_loop tiles(g.tiles); tiles.valid(); tiles.advance()) {
            if (leader) {
                s.c_full.expect(1024);
                bulk(s.c, g.c + tiles.tile * 256, 1024, &s.c_full);
            }
        }
    } else {
        if (where & 4) { pdl_wait(); }
        pipeline_state<4> state(0u);
        unsigned c_phase = 0;
        for (tile_loop tiles(g.tiles); tiles.valid(); tiles.advance()) {
            float sum = 0.0f;
            for (int k = 0; k < g.k; k++, ++state) {
                pipe.consumer_wait(state);
                sum += s.a[state.index][threadIdx.x & 255];
                pipe.release(state);
            }
            s.c_full.wait(c_phase);
            c_phase ^= 1u;
            g.d[tiles.tile * 256 + threadIdx.x] = sum * alpha + s.c[threadIdx.x & 255];
        }
    }
}
BUG(gemm_c_load, "async-copy-before-wait|partial-wait|path-without-wait")(const __grid_constant__ gemm_arguments g) { gemm<1 | 4>(g); }
BUG(gemm_a_load, "async-copy-before-wait|partial-wait|path-without-wait")(const __grid_constant__ gemm_arguments g) { gemm<2 | 4>(g); }
BUG(gemm_alpha, "read-before-wait")(const __grid_constant__ gemm_arguments g) { gemm<1 | 2 | 4 | 8>(g); }
BUG(gemm_no_load, "async-copy-before-wait|partial-wait|path-without-wait")(const __grid_constant__ gemm_arguments g) { gemm<4>(g); }
OK(gemm_c_load)(const __grid_constant__ gemm_arguments g) { gemm<1 | 2 | 4>(g); }
OK(gemm_a_load)(const __grid_constant__ gemm_arguments g) { gemm<1 | 2>(g); } /* math is released by what the loaders brought */

/* The grouped form: pointers and sizes of each group come from memory; who reads them? */
struct group_arguments {
    const float *const *a;
    float *const *d;
    const int *rows;
    int groups;
};
template <int where> static __device__ __forceinline__ void grouped(const group_arguments &g)
{
    __shared__ alignas(128) float s[256];
    __shared__ transaction_barrier full, info_full;
    __shared__ int info[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) { full.init(1); info_full.init(1); }
    __syncthreads();
    if (warp == 0) { /* scheduler */
        if (where & 1) { pdl_wait(); }
        if (threadIdx.x == 0) {
            int group = 0, left = (int)blockIdx.x;
            while (group < g.groups && left >= g.rows[group]) { left -= g.rows[group++]; }
            info[0] = group;
            info[1] = left;
            info_full.arrive();
        }
    } else if (warp == 1) { /* loads */
        if (where & 2) { pdl_wait(); }
        info_full.wait(0);
        if (threadIdx.x == 32) {
            full.expect(1024);
            bulk(s, g.a[info[0]] + info[1] * 256, 1024, &full);
        }
    } else {
        if (where & 4) { pdl_wait(); }
        info_full.wait(0);
        full.wait(0);
        g.d[info[0]][info[1] * 256 + threadIdx.x] = s[threadIdx.x & 255];
    }
}
BUG(grouped_schedule, "read-before-wait|partial-wait|path-without-wait")(const __grid_constant__ group_arguments g) { grouped<2 | 4>(g); }
BUG(grouped_load, "async-copy-before-wait|partial-wait|path-without-wait|read-before-wait|write-before-wait")(const __grid_constant__ group_arguments g) { grouped<4>(g); }
OK(grouped_schedule)(const __grid_constant__ group_arguments g) { grouped<1 | 2 | 4>(g); }
OK(grouped_load)(const __grid_constant__ group_arguments g) { grouped<1 | 2>(g); } /* the math warps hang on the signals of those two */

/* Dynamic persistence: one thread draws tiles with an atomic and hands them round through a ring of barriers. */
struct ring { transaction_barrier full[2], empty[2]; int tile[2]; };
template <bool waits> static __device__ __forceinline__ void drawn(int *counter, const float *a, float *o, int tiles)
{
    __shared__ ring r;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) { r.full[i].init(1); r.empty[i].init(blockDim.x - 32); }
    }
    __syncthreads();
    pipeline_state<2> state(threadIdx.x < 32 ? 1u : 0u);
    if (threadIdx.x < 32) {
        if (waits) { pdl_wait(); }
        if (threadIdx.x == 0) {
            for (int t = 0; t < tiles; ++state) {
                r.empty[state.index].wait(state.phase);
                t = atomicAdd(counter, 1);
                r.tile[state.index] = t;
                r.full[state.index].arrive();
            }
        }
        return;
    }
    pdl_wait();
    for (;; ++state) {
        r.full[state.index].wait(state.phase);
        int t = r.tile[state.index];
        r.empty[state.index].arrive();
        if (t >= tiles) { break; }
        o[t * 128 + threadIdx.x] = a[t * 128 + threadIdx.x];
    }
}
BUG(drawn, "atomic-before-wait|partial-wait|path-without-wait")(int *counter, const float *a, float *o, int tiles) { drawn<false>(counter, a, o, tiles); }
OK(drawn)(int *counter, const float *a, float *o, int tiles) { drawn<true>(counter, a, o, tiles); }

/* setmaxnreg and wgmma where the architecture has them */
template <bool waits> static __device__ __forceinline__ void hopper(const float *a, const float *bias, float *o)
{
    __shared__ alignas(128) float s[1024];
    __shared__ transaction_barrier full;
    if (threadIdx.x == 0) { full.init(1); }
    __syncthreads();
    if (threadIdx.x >= 128) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
        pdl_wait();
        if (threadIdx.x == 128) { full.expect(4096); bulk(s, a, 4096, &full); }
        return;
    }
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
    if (waits) { pdl_wait(); }
    float extra = *(const volatile float *)(bias + threadIdx.x);
    full.wait(0);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    uint64_t d = (smem(s) >> 4) & 0x3fff;
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]) : "l"(d), "l"(d));
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
#else
    unsigned r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(smem(s) + (threadIdx.x & 31) * 16) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]) : "r"(r0), "r"(r1), "r"(r2), "r"(r3));
#endif
    o[threadIdx.x] = acc[0] + acc[1] + acc[2] + acc[3] + extra;
}
BUG(hopper_bias, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *bias, float *o) { hopper<false>(a, bias, o); }
OK(hopper_bias)(const float *a, const float *bias, float *o) { hopper<true>(a, bias, o); }
