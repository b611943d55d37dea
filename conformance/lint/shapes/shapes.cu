/* shapes.cu - kernels whose machine code is checked: each shape three times.
 *
 *   DANGER(shape)       as people write it: with restrict or __ldg. What a compiler makes of it is recorded, not asserted.
 *   PLAIN(shape)        the yardstick: the same code with neither restrict nor pdl_fresh().
 *   SAFE(shape, read, written, early)
 *                       the same with restrict and with pdl_fresh() or pdl_wait_block(). Asserted: every access below the wait
 *                       and its barrier, no load read-only; and against PLAIN: as many loads and stores, as wide, none generic
 *                       that is not so there, no instruction more.
 *
 * The numbers are what the source says, so that PLAIN itself cannot hide a fault: at least so many bits read and written, and
 * so many accesses above the wait. types.cuh has the shapes that differ by type alone; check_shapes.py compiles and judges.
 */
#include "device_words.h"
#include "pdl_device.cuh"

#define DANGER(shape) extern "C" __global__ void danger_##shape
#define SAFE(shape, read, written, early) extern "C" __global__ void safe_##shape
#define PLAIN(shape) extern "C" __global__ void plain_##shape
#define INLINED static __device__ __forceinline__

INLINED unsigned me(void) { return threadIdx.x; }
INLINED void one_warp_waits(void)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
}

/* F38: every thread waits at the top */
DANGER(straight)(const float *__restrict__ a, float *__restrict__ o)
{
    pdl_wait();
    o[me()] = a[me()] + 1.0f;
}
SAFE(straight, 32, 32, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()] + 1.0f;
}
PLAIN(straight)(const float *a, float *o)
{
    pdl_wait();
    o[me()] = a[me()] + 1.0f;
}

/* the same with 128 bits: the width has to survive */
DANGER(vector)(const float4 *__restrict__ a, float4 *__restrict__ o)
{
    pdl_wait();
    o[me()] = a[me()];
}
SAFE(vector, 128, 128, 0)(const float4 *__restrict__ a, float4 *__restrict__ o)
{
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(vector)(const float4 *a, float4 *o)
{
    pdl_wait();
    o[me()] = a[me()];
}

/* F34: a loop whose first turn waits */
DANGER(first_turn)(const float *__restrict__ bias, float *__restrict__ o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        o[t * 128 + me()] = bias[me()];
    }
}
SAFE(first_turn, 32, 32, 0)(const float *__restrict__ bias, float *__restrict__ o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        pdl_fresh(o)[t * 128 + me()] = pdl_fresh(bias)[me()];
    }
}
PLAIN(first_turn)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        o[t * 128 + me()] = bias[me()];
    }
}

/* the same, the pointer made fresh once, in the first turn, under its old name */
SAFE(first_turn_once, 32, 32, 0)(const float *__restrict__ bias, float *__restrict__ o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
            bias = pdl_fresh(bias);
            o = pdl_fresh(o);
        }
        o[t * 128 + me()] = bias[me()];
    }
}
PLAIN(first_turn_once)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        o[t * 128 + me()] = bias[me()];
    }
}

/* F34 with the explicit read-only load: no fresh pointer and not every fence holds it, so no safe form has __ldg */
DANGER(first_turn_ldg)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        o[t * 128 + me()] = __ldg(bias + me());
    }
}
DANGER(ldg_fenced)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
            __threadfence();
        }
        o[t * 128 + me()] = __ldg(bias + me());
    }
}
DANGER(ldg_fenced_block)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
            __threadfence_block();
        }
        o[t * 128 + me()] = __ldg(bias + me());
    }
}
DANGER(ldg_fresh)(const float *bias, float *o, int n)
{
#pragma unroll 1
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        o[t * 128 + me()] = __ldg(pdl_fresh(bias) + me());
    }
}

/* F35: one warp waits, then a barrier; F35b: restrict on the output alone */
DANGER(one_warp)(const float *__restrict__ a, float *o)
{
    one_warp_waits();
    o[me()] = a[me()];
}
DANGER(one_warp_output)(const float *a, float *__restrict__ o)
{
    one_warp_waits();
    o[me()] = a[me()];
}
SAFE(one_warp, 32, 32, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    one_warp_waits();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(one_warp)(const float *a, float *o)
{
    one_warp_waits();
    o[me()] = a[me()];
}

/* the macro is nothing where an overlap can be, so that accesses without pdl_fresh() are those of PLAIN */
SAFE(restrict_macro, 32, 32, 0)(const float *PDL_RESTRICT a, float *PDL_RESTRICT o)
{
    one_warp_waits();
    o[me()] = a[me()];
}
PLAIN(restrict_macro)(const float *a, float *o)
{
    one_warp_waits();
    o[me()] = a[me()];
}

/* F35 with the form made for it */
SAFE(wait_block, 128, 128, 0)(const float4 *__restrict__ a, float4 *__restrict__ o)
{
    const float4 *mine = pdl_wait_block(a);
    pdl_fresh(o)[me()] = mine[me()];
}
PLAIN(wait_block)(const float4 *a, float4 *o)
{
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[me()] = a[me()];
}

/* threads behind the end leave early */
DANGER(early_return)(const float *__restrict__ a, float *__restrict__ o, int n)
{
    if ((int)me() >= n) {
        return;
    }
    pdl_wait();
    o[me()] = a[me()];
}
SAFE(early_return, 32, 32, 0)(const float *__restrict__ a, float *__restrict__ o, int n)
{
    if ((int)me() >= n) {
        return;
    }
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(early_return)(const float *a, float *o, int n)
{
    if ((int)me() >= n) {
        return;
    }
    pdl_wait();
    o[me()] = a[me()];
}

/* a lambda that captured the pointer before the wait */
DANGER(lambda)(const float *__restrict__ a, float *__restrict__ o)
{
    auto read = [=](unsigned i) { return a[i]; };
    one_warp_waits();
    o[me()] = read(me());
}
SAFE(lambda, 32, 32, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    auto read = [=](unsigned i) { return pdl_fresh(a)[i]; };
    one_warp_waits();
    pdl_fresh(o)[me()] = read(me());
}
PLAIN(lambda)(const float *a, float *o)
{
    auto read = [=](unsigned i) { return a[i]; };
    one_warp_waits();
    o[me()] = read(me());
}

/* pointers in a struct that is a parameter */
struct restricted {
    const float *__restrict__ a;
    float *__restrict__ o;
};
struct pointers {
    const float *a;
    float *o;
};
DANGER(member)(restricted p)
{
    one_warp_waits();
    p.o[me()] = p.a[me()];
}
SAFE(member, 32, 32, 0)(restricted p)
{
    one_warp_waits();
    pdl_fresh(p.o)[me()] = pdl_fresh(p.a)[me()];
}
PLAIN(member)(pointers p)
{
    one_warp_waits();
    p.o[me()] = p.a[me()];
}

/* restrict on the parameter of an inlined function */
INLINED void copy_restricted(const float *__restrict__ a, float *__restrict__ o) { o[me()] = a[me()]; }
INLINED void copy_fresh(const float *__restrict__ a, float *__restrict__ o) { pdl_fresh(o)[me()] = pdl_fresh(a)[me()]; }
INLINED void copy_plain(const float *a, float *o) { o[me()] = a[me()]; }
DANGER(inlined)(const float *a, float *o)
{
    one_warp_waits();
    copy_restricted(a, o);
}
SAFE(inlined, 32, 32, 0)(const float *a, float *o)
{
    one_warp_waits();
    copy_fresh(a, o);
}
PLAIN(inlined)(const float *a, float *o)
{
    one_warp_waits();
    copy_plain(a, o);
}

/* fresh pointers handed on to a function of others, which has restrict */
SAFE(handed_on, 32, 32, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    one_warp_waits();
    copy_restricted(pdl_fresh(a), pdl_fresh(o));
}
PLAIN(handed_on)(const float *a, float *o)
{
    one_warp_waits();
    copy_plain(a, o);
}

/* a templated pipeline: the first stage is loaded ahead of the loop */
template <int stages> INLINED void pipeline(const float4 *a, float4 *o, int n)
{
    float4 held[stages];
#pragma unroll
    for (int s = 0; s < stages; s++) {
        held[s] = a[s * 128 + me()];
    }
#pragma unroll 1
    for (int t = 0; t < n; t++) {
#pragma unroll
        for (int s = 0; s < stages; s++) {
            o[(t * stages + s) * 128 + me()] = held[s];
        }
    }
}
template <int stages> INLINED void pipeline_restricted(const float4 *__restrict__ a, float4 *__restrict__ o, int n)
{
    pipeline<stages>(a, o, n);
}
DANGER(pipelined)(const float4 *__restrict__ a, float4 *__restrict__ o, int n)
{
    one_warp_waits();
    pipeline_restricted<2>(a, o, n);
}
SAFE(pipelined, 256, 256, 0)(const float4 *__restrict__ a, float4 *__restrict__ o, int n)
{
    one_warp_waits();
    pipeline<2>(pdl_fresh(a), pdl_fresh(o), n);
}
PLAIN(pipelined)(const float4 *a, float4 *o, int n)
{
    one_warp_waits();
    pipeline<2>(a, o, n);
}

/* F36: read, wait, read again; the first read is allowed here, because nobody relies on its value */
DANGER(two_reads)(const float *__restrict__ a, float *__restrict__ o)
{
    float before = a[me()];
    pdl_wait();
    o[me()] = a[me()] - before;
}
SAFE(two_reads, 64, 32, 1)(const float *__restrict__ a, float *__restrict__ o)
{
    float before = a[me()];
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()] - before;
}
PLAIN(two_reads)(const float *a, float *o)
{
    float before = a[me()];
    pdl_wait();
    o[me()] = a[me()] - before;
}

/* a store before the wait and one behind it: both have to be there */
DANGER(store_before)(float *__restrict__ o, float x)
{
    o[me()] = x;
    pdl_wait();
    o[me()] = x + 1.0f;
}
SAFE(store_before, 0, 64, 1)(float *__restrict__ o, float x)
{
    pdl_fresh(o)[me()] = x;
    pdl_wait();
    pdl_fresh(o)[me()] = x + 1.0f;
}
PLAIN(store_before)(float *o, float x)
{
    o[me()] = x;
    pdl_wait();
    o[me()] = x + 1.0f;
}

/* F36b: store, fence, trigger, store */
DANGER(stores_around_trigger)(float *__restrict__ o)
{
    o[me()] = 1.0f;
    __threadfence();
    pdl_trigger();
    o[me()] = 2.0f;
}
SAFE(stores_around_trigger, 0, 64, 0)(float *__restrict__ o)
{
    pdl_fresh(o)[me()] = 1.0f;
    __threadfence();
    pdl_trigger();
    pdl_fresh(o)[me()] = 2.0f;
}
PLAIN(stores_around_trigger)(float *o)
{
    o[me()] = 1.0f;
    __threadfence();
    pdl_trigger();
    o[me()] = 2.0f;
}

#include "types.cuh"
