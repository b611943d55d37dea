/* kernel.h - the only way a kernel of the kit touches the device: PTX on a GPU, calls into conformance/model there.
 *
 * One source, two devices: every .cu of conformance/kernels is CUDA C++ for nvcc and C for the model. All accesses are
 * volatile PTX, so that what is tested is the device and not the compiler (conformance/lint/shapes checks that).
 * KERNEL(name) opens a kernel whose only parameter is `struct kernel_args args`; SYMBOL(name) adds the image's suffix,
 * because CMake compiles a family's file once per tag. KERNEL_OF(name, type) opens one whose only parameter is `type args`.
 * DEVICE_WORDS(name, count) is memory of the device that has a name, CONSTANT_WORDS(name, count) constant memory, and WORDS_OF(name) what calls of
 * the host name it by.
 */
#ifndef KERNEL_H_INCLUDED
#define KERNEL_H_INCLUDED

#include "kernel_args.h"
#include "words.h"

#define KERNEL_PASTE2(a, b) a##_##b
#define KERNEL_PASTE(a, b) KERNEL_PASTE2(a, b)
#ifdef IMAGE_SUFFIX
#define SYMBOL(name) KERNEL_PASTE(name, IMAGE_SUFFIX)
#else
#define SYMBOL(name) name
#endif

#define K_SPIN_LIMIT 4000000u /* iterations; a second bound beside the clock for every spin */

#ifdef PDL_MODEL
/* ---- the model ---- */
#include "model_kernel.h"

#define DEVICE_FN static inline
#define KERNEL(name) MODEL_KERNEL(SYMBOL(name))
#define KERNEL_OF(name, type) MODEL_KERNEL_OF_TYPE(SYMBOL(name), type)
#define DEVICE_WORDS(name, count) static struct model_words SYMBOL(name) = { MODEL_WORDS_MAGIC, (count) * sizeof(uint32_t), NULL, NULL }
#define CONSTANT_WORDS(name, count) DEVICE_WORDS(name, count)
#define WORDS_OF(name) ((const void *)&SYMBOL(name))
#define K_WARP_SIZE 4u
#define k_thread() model_thread()
#define k_block() model_block()
#define k_threads() model_threads()
#define k_blocks() model_blocks()
#define k_dynamic_shared() model_dynamic_shared()
#define k_shared() ((volatile uint32_t *)model_shared(0))
#define k_sm() model_sm()
#define k_now() model_now()
#define k_load(p) model_load32((p), MODEL_LD_CA)
#define k_load_l2(p) model_load32((p), MODEL_LD_CG)
#define k_load_read_only(p) model_load32((p), MODEL_LD_NC)
#define k_load_relaxed(p) model_load32((p), MODEL_LD_RELAXED)
#define k_load_acquire(p) model_load32_acquire(p)
#define k_load_streamed(p) model_load32((p), MODEL_LD_CA)
#define k_load_constant(name, i) model_load_constant(&SYMBOL(name), (i))
#define k_load8(p) model_load8((p), MODEL_LD_CA)
#define k_load16(p) model_load16((p), MODEL_LD_CA)
#define k_load64(p) model_load64((p), MODEL_LD_CA)
#define k_load_system(p) model_load32((p), MODEL_LD_RELAXED)
#define k_load64_relaxed(p) model_load64((p), MODEL_LD_RELAXED)
#define k_load4(p, out) model_load128((p), (out), MODEL_LD_CA)
#define k_load4_l2(p, out) model_load128((p), (out), MODEL_LD_CG)
#define k_store(p, v) model_store32((p), (v))
#define k_store8(p, v) model_store8((p), (v))
#define k_store16(p, v) model_store16((p), (v))
#define k_store64(p, v) model_store64((p), (v))
#define k_store_streamed(p, v) model_store32((p), (v))
#define k_store_release(p, v) model_store32_release((p), (v))
#define k_store4(p, v) model_store128((p), (v))
#define k_store_relaxed(p, v) model_store32_relaxed((p), (v))
#define k_store64_relaxed(p, v) model_store64_relaxed((p), (v))
#define k_add(p, v) ((void)model_atomic_add32((p), (v)))
#define k_add_release(p, v) model_atomic_add32_release((p), (v))
#define k_take(p, v) model_atomic_add32((p), (v))
#define k_exchange(p, v) model_atomic_exch32((p), (v))
#define k_compare(p, old, v) model_atomic_cas32((p), (old), (v))
#define k_min64(p, v) ((void)model_atomic_min64((p), (v)))
#define k_max64(p, v) ((void)model_atomic_max64((p), (v)))
#define k_fence() model_fence()
#define k_fence_system() model_fence()
#define k_barrier() model_barrier()
#define k_pause() model_pause(32)
#define k_trigger() model_trigger()
#define k_wait_device() model_wait()
#define k_set_condition(handle, value) model_set_condition((handle), (value))

DEVICE_FN void k_shape(uint32_t *shape)
{
    uint32_t i;

    for (i = 0; i < 9; i++)
        shape[i] = model_shape(i);
}

#else
/* ---- a GPU ---- */
#include "pdl_device.cuh"

#define DEVICE_FN static __device__ __forceinline__
#define KERNEL(name) extern "C" __global__ void SYMBOL(name)(struct kernel_args args)
#define KERNEL_OF(name, type) extern "C" __global__ void SYMBOL(name)(type args)
#define DEVICE_WORDS(name, count) static __device__ uint32_t SYMBOL(name)[count]
#define CONSTANT_WORDS(name, count) static __constant__ uint32_t SYMBOL(name)[count]
#define WORDS_OF(name) ((const void *)SYMBOL(name))
#define K_WARP_SIZE 32u
#define k_thread() threadIdx.x
#define k_block() blockIdx.x
#define k_threads() blockDim.x
#define k_blocks() gridDim.x

DEVICE_FN uint32_t k_sm(void)
{
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

/* x, y and z of the launch's grid, of a block in threads, and of a cluster in blocks. */
DEVICE_FN void k_shape(uint32_t *shape)
{
    shape[0] = gridDim.x;
    shape[1] = gridDim.y;
    shape[2] = gridDim.z;
    shape[3] = blockDim.x;
    shape[4] = blockDim.y;
    shape[5] = blockDim.z;
    shape[6] = shape[7] = shape[8] = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(shape[6]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(shape[7]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(shape[8]));
#endif
}

DEVICE_FN uint32_t k_dynamic_shared(void)
{
    uint32_t bytes;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

/* The block's dynamic shared memory. */
DEVICE_FN volatile uint32_t *k_shared(void)
{
    extern __shared__ __align__(16) uint32_t k_shared_words[];
    return k_shared_words;
}

DEVICE_FN uint64_t k_now(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
    return ns;
}

#define K_LOAD32(name, op)                                                        \
    DEVICE_FN uint32_t name(const void *p)                                        \
    {                                                                             \
        uint32_t v;                                                               \
        asm volatile(op " %0, [%1];" : "=r"(v) : "l"(p) : "memory");              \
        return v;                                                                 \
    }
K_LOAD32(k_load, "ld.global.ca.u32")
K_LOAD32(k_load_l2, "ld.global.cg.u32")
K_LOAD32(k_load_read_only, "ld.global.nc.u32")
K_LOAD32(k_load_relaxed, "ld.relaxed.gpu.global.u32")
K_LOAD32(k_load_acquire, "ld.acquire.gpu.global.u32")
K_LOAD32(k_load_streamed, "ld.global.cs.u32")
K_LOAD32(k_load8, "ld.global.ca.u8")
K_LOAD32(k_load16, "ld.global.ca.u16")
K_LOAD32(k_load_system, "ld.relaxed.sys.global.u32") /* what the host writes */

/* Of memory that CONSTANT_WORDS names. */
#define k_load_constant(name, i) load_constant(SYMBOL(name) + (i))
DEVICE_FN uint32_t load_constant(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.const.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_constant(p)) : "memory");
    return v;
}

DEVICE_FN uint64_t k_load64_relaxed(const void *p)
{
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

DEVICE_FN uint64_t k_load64(const void *p)
{
    uint64_t v;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

#define K_LOAD128(name, op)                                                                    \
    DEVICE_FN void name(const void *p, uint32_t *out)                                          \
    {                                                                                          \
        asm volatile(op " {%0, %1, %2, %3}, [%4];"                                             \
                     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3]) : "l"(p)         \
                     : "memory");                                                              \
    }
K_LOAD128(k_load4, "ld.global.ca.v4.u32")
K_LOAD128(k_load4_l2, "ld.global.cg.v4.u32")

#define K_STORE32(name, op)                                                       \
    DEVICE_FN void name(void *p, uint32_t v)                                      \
    {                                                                             \
        asm volatile(op " [%0], %1;" :: "l"(p), "r"(v) : "memory");               \
    }
K_STORE32(k_store, "st.global.u32")
K_STORE32(k_store8, "st.global.u8")
K_STORE32(k_store16, "st.global.u16")
K_STORE32(k_store_streamed, "st.global.cs.u32")
K_STORE32(k_store_relaxed, "st.relaxed.gpu.global.u32")
K_STORE32(k_store_release, "st.release.gpu.global.u32")
K_STORE32(k_add, "red.relaxed.gpu.global.add.u32")
K_STORE32(k_add_release, "red.release.gpu.global.add.u32")

DEVICE_FN void k_store4(void *p, const uint32_t *v)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(p), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

DEVICE_FN void k_store64(void *p, uint64_t v)
{
    asm volatile("st.global.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

DEVICE_FN void k_store64_relaxed(void *p, uint64_t v)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

/* Adds, and tells what was there before. */
DEVICE_FN uint32_t k_take(void *p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
    return old;
}

/* What was there before. */
DEVICE_FN uint32_t k_exchange(void *p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
    return old;
}

/* The same; v is stored only where it is as expected. */
DEVICE_FN uint32_t k_compare(void *p, uint32_t expected, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(expected), "r"(v) : "memory");
    return old;
}

DEVICE_FN void k_min64(void *p, uint64_t v)
{
    asm volatile("red.relaxed.gpu.global.min.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

DEVICE_FN void k_max64(void *p, uint64_t v)
{
    asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

#define k_fence() __threadfence()
#define k_fence_system() __threadfence_system()
#define k_barrier() __syncthreads()
#define k_pause() ((void)0)
#define k_trigger() pdl_trigger()
#define k_wait_device() pdl_wait()
#define k_set_condition(handle, value) cudaGraphSetConditional((handle), (value))
#endif

/* ---- built from the above, for both devices ---- */

DEVICE_FN uint32_t k_warp(void) { return k_thread() / K_WARP_SIZE; }
DEVICE_FN uint32_t k_warps(void) { return (k_threads() + K_WARP_SIZE - 1) / K_WARP_SIZE; }

/* The plan, read past the first-level cache: a replay's plan must not be an earlier one's. */
DEVICE_FN struct trial_plan k_plan(const struct kernel_args *args)
{
    union {
        struct trial_plan plan;
        uint32_t word[sizeof(struct trial_plan) / 4];
    } u;
    const uint32_t *source = (const uint32_t *)args->plan;
    uint32_t i;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (i = 0; i < sizeof(struct trial_plan) / 4; i += 4)
        k_load4_l2(source + i, u.word + i);
    return u.plan;
}

/* Spin until the clock stands at `target` or later. */
DEVICE_FN void k_delay_until(struct trial_state *state, uint64_t target)
{
    uint32_t spins = 0;
    while (k_now() < target) {
        if (++spins > K_SPIN_LIMIT) {
            k_add(&state->cut_short, 1);
            return;
        }
        k_pause();
    }
}

DEVICE_FN void k_delay(struct trial_state *state, uint32_t ns) { k_delay_until(state, k_now() + ns); }

/* Spin until *flag is at least `least`, for at most bound_ns. Returns 1 if it was, else 0. */
DEVICE_FN uint32_t k_poll(struct trial_state *state, const uint32_t *flag, uint32_t least, uint32_t bound_ns)
{
    uint64_t begin = k_now();
    uint32_t spins = 0;
    do {
        if (k_load_relaxed(flag) >= least)
            return 1;
        if (++spins > K_SPIN_LIMIT) {
            k_add(&state->cut_short, 1);
            return 0;
        }
        k_pause();
    } while (k_now() - begin < bound_ns);
    return 0;
}

/* Block b of n handles words [k_first(words, b, n), k_first(words, b + 1, n)): whole groups of four. At most 65,536 words
 * and 2^18 blocks: nothing here overflows. */
DEVICE_FN uint32_t k_first(uint32_t words, uint32_t block, uint32_t blocks) { return words / 4 * block / blocks * 4; }

/* Which of the block's groups is this thread's first: neighbouring groups belong to different warps, so that every warp
 * has work as soon as there are as many groups as warps. Where the last warp is not whole, they are counted by thread. */
DEVICE_FN uint32_t k_group(void)
{
    return k_threads() % K_WARP_SIZE ? k_thread() : k_thread() % K_WARP_SIZE * k_warps() + k_warp();
}

#endif
