/* pdl_device.cuh - v0.3.0 - CUDA Programmatic Dependent Launch, device side - MIT, licence text at the end
 *
 * pdl_wait() holds the calling thread until the grids this one depends on are complete and their memory is visible.
 * pdl_trigger() says that this block no longer minds if the next grid starts. Neither needs the other to be correct.
 *
 *     __global__ void scale(float *out, const float *in)
 *     {
 *         int i = ...;                            // prologue: indices, constants, nothing that another grid writes
 *         pdl_trigger();                          // the next grid may be started from here on
 *         pdl_wait();                             // every thread, before its first access to shared data
 *         const float *fresh = pdl_fresh(in);
 *         pdl_fresh(out)[i] = 2.0f * fresh[i];
 *     }
 *
 * In a kernel that is launched with overlap, do not
 *    1. put __restrict__ on any pointer, not even on the output alone: loads then move above the wait (PDL_RESTRICT)
 *    2. read with __ldg what another grid writes: no fresh pointer keeps such a read below the wait, and few fences do
 *    3. read something before the wait and again after it through the same pointer: the first value may be reused
 *    4. store before the wait what the earlier grid still reads or writes: nothing orders the two
 *    5. publish by fence and pdl_trigger(): the trigger orders nothing, and with restrict the stores are removed
 *    6. let one thread wait for its block without the pointers that pdl_wait_block() returns
 *    7. wait on one path only: each thread that touches shared data needs a wait on every path that leads there
 *    8. omit the wait, even where this kernel reads nothing: later kernels rely on it for their order. A wait and the
 *       attribute of the launches that need it come and go in one commit: conformance/results/field has two that did not
 *    9. spin until the next grid has done something: nothing guarantees that it starts before this one ends
 *   10. build any part of it for less than compute_90: that part has no wait. pdl.h refuses overlap to such kernels, but
 *       cannot see it where device LTO or -rdc links such a part into an image for compute_90: see below
 *
 * How kernels are written today
 *   Warp-specialised  Every role that touches global memory waits by itself: producer warps, the epilogue, and a tile
 *                     scheduler that reads problem sizes or a counter. A role that only uses registers and shared memory
 *                     does not. A barrier after one role's wait does not replace the wait of another (5 to 7 above).
 *   TMA, mbarrier     The thread that issues bulk copies waits before the first of them; consumers that read the tiles from
 *                     shared memory through the mbarrier need no wait for that. Descriptor prefetch and barrier
 *                     initialisation belong before the wait. Bulk stores of the epilogue need the wait of the thread that
 *                     issues them.
 *   Persistent        Wait once, before the first tile: it covers all of the earlier grid. Trigger early only if the next
 *                     grid fits beside this one; a persistent grid that fills the GPU leaves it no room.
 *   Clusters          Each block of the cluster waits by itself. The barrier of a cluster does not extend a wait.
 *   Split-K           The blocks that accumulate wait like all others; a counter or workspace that the earlier grid resets
 *                     is shared data, also when it is only added to.
 *   pdl_fresh()       Needed where a load could move above the wait or be reused from before it: one thread waits for others,
 *                     restrict anywhere in the kernel, reads on both sides of the wait. Not needed where each thread waits
 *                     in straight-line code before its first access, without restrict; it costs no instruction there.
 *   Where to trigger  Memory-bound chains: after the wait, because an early trigger lets the next grid's blocks take places
 *                     that this one needs. A prologue worth hiding in the next kernel: first thing. conformance/bench
 *                     measures both; its page recommends per shape.
 *
 * Below compute_90, wait and trigger are nothing, which is safe because pdl.h launches such kernels without overlap: CUDA
 * says what a kernel was compiled for. With device LTO it says what the kernel was linked for: one compiled to lto_80 and
 * linked for sm_90 reports compute_90 and has no wait, and neither has one that waits in a helper compiled for less. No
 * query of CUDA shows it. The image does: it has a symbol with pdl_wait_erased in its name (cuobjdump -elf, lint).
 * Elsewhere (CPU builds, HIP) the functions exist and do nothing. Includes nothing, so it works under NVRTC. No option
 * turns waits off.
 *
 * PDL_TARGET_GUARD  1: a warning, 2: an error, in each device compilation below compute_90. nvcc's and CMake's default
 *                   architecture is older, and then nothing overlaps
 * PDL_STRESS        for tests: opens race windows wider, see below
 */
#ifndef PDL_DEVICE_CUH_INCLUDED
#define PDL_DEVICE_CUH_INCLUDED

#ifdef PDL_HAS_DEVICE
#error "PDL_HAS_DEVICE is set by pdl_device.cuh alone: remove your definition"
#endif

/* PDL_HAS_DEVICE  1 where wait and trigger are instructions, 0 where they are nothing: on the host, below compute_90
 * PDL_RESTRICT    __restrict__ where no kernel can overlap, nothing where one can, for code that older targets share.
 *                 Put it on the parameter or member itself; deeper in a type, host and device would differ in a name.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PDL_HAS_DEVICE 1
#define PDL_RESTRICT
#else
#define PDL_HAS_DEVICE 0
#define PDL_RESTRICT __restrict__
#endif

#if defined(__CUDA_ARCH__) && !PDL_HAS_DEVICE && defined(PDL_TARGET_GUARD) && PDL_TARGET_GUARD + 0 > 1
#error "compiled for less than compute_90, so kernels cannot overlap: add sm_90 (nvcc -arch=sm_90, CMAKE_CUDA_ARCHITECTURES=90)"
#elif defined(__CUDA_ARCH__) && !PDL_HAS_DEVICE && defined(PDL_TARGET_GUARD) && PDL_TARGET_GUARD + 0 > 0
#warning "compiled for less than compute_90, so kernels cannot overlap: add sm_90 (nvcc -arch=sm_90, CMAKE_CUDA_ARCHITECTURES=90)"
#endif

/* CUDA, HIP (whose own headers may come later), and everything else. */
#if defined(__CUDACC__)
#define PDL_DEVICE_ static __device__ __forceinline__
#elif defined(__HIP__)
#define PDL_DEVICE_ static __attribute__((device)) inline
#else
#define PDL_DEVICE_ static inline
#endif

#ifdef __cplusplus
extern "C++" { /* in case somebody includes this file inside extern "C" */
#endif

/* Test builds only: -DPDL_STRESS=7000 makes each pdl_wait() trigger first and then, like each pdl_trigger(), hold its
 * thread for up to 7,000 ns, so that a dependent without a proper wait runs while this grid has yet to store. A program
 * whose result changes was wrong, unless it publishes by fence and trigger. Undefined or 0 it is no code at all.
 *
 * PDL_STRESS_LEAST  the shortest hold in ns, three quarters of the longest if not defined
 * PDL_STRESS_SEED   chooses each block's delay between the two, 1 if not defined
 * PDL_STRESS_WORDS  a pointer to three words of your device memory, declared ahead of this file: shortest, longest, seed.
 *                   They are read at run time in place of the three numbers; a longest of 0 neither triggers nor holds
 */
#if PDL_HAS_DEVICE && defined(PDL_STRESS) && PDL_STRESS + 0 > 0
#ifndef PDL_STRESS_LEAST
#define PDL_STRESS_LEAST ((PDL_STRESS) / 4 * 3)
#endif
#ifndef PDL_STRESS_SEED
#define PDL_STRESS_SEED 1
#endif
#define PDL_STRESS_(early) pdl_stress(early)

static __device__ __forceinline__ void pdl_stress(bool early)
{
#ifdef PDL_STRESS_WORDS
    const volatile unsigned *words = PDL_STRESS_WORDS;
    const unsigned least = words[0], most = words[1], seed = words[2];
#else
    const unsigned least = PDL_STRESS_LEAST, most = PDL_STRESS, seed = PDL_STRESS_SEED;
#endif
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z, threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned at_once = 2048u / threads < 32u ? 2048u / threads : 32u;
    unsigned sms, mix = (block + 1u) * 0x85EBCA6Bu ^ seed * 0x9E3779B1u ^ blocks * 0x27D4EB2Fu ^ threads;
    unsigned long long began, now;

    if (early && most) {
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    }
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
    if (!most || blocks - block > sms * at_once) {
        return; /* a dependent starts after the last block's trigger: holding blocks of earlier waves finds nothing */
    }
    mix = (mix ^ (mix >> 15)) * 0xC2B2AE35u;
    mix = least < most ? least + (mix ^ (mix >> 16)) % (most - least + 1u) : most;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    for (unsigned turn = 0; turn < mix / 16u + 64u; turn++) { /* bounded, should the timer stand still */
        asm volatile("nanosleep.u32 40;\n\tmov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
        if (now - began >= mix) {
            break;
        }
    }
}
#else
#define PDL_STRESS_(early) ((void)0)
#endif

/* Holds the calling thread until every grid that this one depends on is complete and flushed.
 *
 * The default is that each thread which touches shared data calls it; then no barrier is needed. A second call returns
 * at once, and so does a call in a grid that was launched without overlap.
 *
 * Memory   afterwards all stores of those grids are visible to the caller, those made after their trigger too.
 *          The clobber keeps the compiler from moving ordinary accesses across; for restrict and __ldg see the list.
 */
PDL_DEVICE_ void pdl_wait(void)
{
#if PDL_HAS_DEVICE
    PDL_STRESS_(true);
    asm volatile("griddepcontrol.wait;" ::: "memory");
#elif defined(__CUDA_ARCH__)
    /* a symbol in the image, by which tools know it; no instruction is left of this */
    asm volatile("{ .global .b8 pdl_wait_erased; .reg .u64 mark; mov.u64 mark, pdl_wait_erased; }");
#endif
}

/* Lets the next grid start once every block of this one has called it or has exited.
 *
 * One thread is enough for its block; more calls change nothing. A hint about time and never about memory: it publishes
 * nothing, and work of other warps of the block may still be going on. Without it, the exit of a block counts.
 */
PDL_DEVICE_ void pdl_trigger(void)
{
#if PDL_HAS_DEVICE
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    PDL_STRESS_(false);
#endif
}

#ifdef __cplusplus
/* The same address as a pointer of which the compiler knows nothing: taken after the wait, for loads and for stores.
 *
 * pointer  to global memory (device, managed or mapped host memory), of any type; never to shared or local memory
 *
 * Memory   what is read through the result is read after the wait and the barrier above this line, as a plain load,
 *          whatever was read from the same address before them. It costs no instruction and keeps the width of the
 *          type; an alignment promised by __builtin_assume_aligned() has to be promised again. It cannot hold back an
 *          explicit __ldg, and it is not volatile: two reads with no barrier or wait between them may become one.
 */
template <typename pdl_type>
PDL_DEVICE_ pdl_type *pdl_fresh(pdl_type *pointer)
{
#if PDL_HAS_DEVICE
    const volatile void *any = pointer; /* casts here, so that const and volatile types work, too */
    unsigned long long address = __cvta_generic_to_global(const_cast<const void *>(any));
    asm volatile("" : "+l"(address) : : "memory");
    return static_cast<pdl_type *>(__cvta_global_to_generic(address));
#else
    return pointer;
#endif
}

/* One thread waits for its whole block: wait, barrier, fresh pointer.
 *
 * Only where one wait per block is really wanted. It contains a __syncthreads(), on every target, so every thread of
 * the block must reach it. All shared data must then be read and written through the pointer returned; further ones
 * come from pdl_fresh():
 *
 *     float *mine = pdl_wait_block(a);
 *     const float *theirs = pdl_fresh(b);
 *
 * pointer  as for pdl_fresh()
 *
 * Memory   as pdl_wait(), for all threads of the block, through fresh pointers.
 */
template <typename pdl_type>
PDL_DEVICE_ pdl_type *pdl_wait_block(pdl_type *pointer)
{
#if PDL_HAS_DEVICE
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        pdl_wait();
    }
#endif
#if defined(__CUDACC__) || defined(__HIP__)
    __syncthreads();
#endif
    return pdl_fresh(pointer);
}
#endif /* __cplusplus */

#undef PDL_STRESS_
#undef PDL_DEVICE_

#ifdef __cplusplus
} /* extern "C++" */
#endif

#endif /* PDL_DEVICE_CUH_INCLUDED */

/* MIT License
 *
 * Copyright (c) 2026 the pdl authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
 * permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of
 * the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
