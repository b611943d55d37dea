/* shapes.cu - kernels whose machine code is checked: each shape three times.
 *
 *   DANGER(shape, ...)  as people write it: with restrict or __ldg. What a compiler makes of it is recorded, not asserted.
 *   SAFE(shape, ...)    the same with pdl_fresh() or pdl_wait_block(). Asserted: plain loads of the same width, below the
 *                       wait and its barrier, and no more instructions than PLAIN has.
 *   PLAIN(shape, ...)   the yardstick: the same code with neither restrict nor pdl_fresh().
 *
 * The numbers behind a SAFE shape are what has to be in the machine code: loads of global memory, the bits of each, stores, and
 * how many of all these stand above the wait because the source says so.
 * check_shapes.py compiles and reads it.
 */
#include "device_words.h"
#include "pdl_device.cuh"

#define DANGER(shape) extern "C" __global__ void danger_##shape
#define SAFE(shape, loads, bits, stores, early) extern "C" __global__ void safe_##shape
#define PLAIN(shape) extern "C" __global__ void plain_##shape
#define INLINED static __device__ __forceinline__

INLINED unsigned me(void) { return threadIdx.x; }

/* F38: every thread waits at the top */
DANGER(straight)(const float *__restrict__ a, float *__restrict__ o)
{
    pdl_wait();
    o[me()] = a[me()] + 1.0f;
}
SAFE(straight, 1, 32, 1, 0)(const float *a, float *o)
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
SAFE(vector, 1, 128, 1, 0)(const float4 *a, float4 *o)
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
SAFE(first_turn, 1, 32, 1, 0)(const float *bias, float *o, int n)
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

/* F34 with the explicit read-only load: neither clobber nor fresh pointer holds it back, so it has no safe form but no __ldg */
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

/* F35: one warp waits, then a barrier; F35b: restrict on the output alone */
DANGER(one_warp)(const float *__restrict__ a, float *o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    o[me()] = a[me()];
}
DANGER(one_warp_output)(const float *a, float *__restrict__ o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    o[me()] = a[me()];
}
SAFE(one_warp, 1, 32, 1, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(one_warp)(const float *a, float *o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    o[me()] = a[me()];
}

SAFE(wait_block, 1, 128, 1, 0)(const float4 *__restrict__ a, float4 *__restrict__ o)
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
SAFE(early_return, 1, 32, 1, 0)(const float *__restrict__ a, float *__restrict__ o, int n)
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
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    o[me()] = read(me());
}
SAFE(lambda, 1, 32, 1, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    auto read = [=](unsigned i) { return pdl_fresh(a)[i]; };
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pdl_fresh(o)[me()] = read(me());
}
PLAIN(lambda)(const float *a, float *o)
{
    auto read = [=](unsigned i) { return a[i]; };
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
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
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    p.o[me()] = p.a[me()];
}
SAFE(member, 1, 32, 1, 0)(restricted p)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pdl_fresh(p.o)[me()] = pdl_fresh(p.a)[me()];
}
PLAIN(member)(pointers p)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    p.o[me()] = p.a[me()];
}

/* restrict on the parameter of an inlined function */
INLINED void copy_restricted(const float *__restrict__ a, float *__restrict__ o) { o[me()] = a[me()]; }
INLINED void copy_fresh(const float *__restrict__ a, float *__restrict__ o) { pdl_fresh(o)[me()] = pdl_fresh(a)[me()]; }
INLINED void copy_plain(const float *a, float *o) { o[me()] = a[me()]; }
DANGER(inlined)(const float *a, float *o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    copy_restricted(a, o);
}
SAFE(inlined, 1, 32, 1, 0)(const float *a, float *o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    copy_fresh(a, o);
}
PLAIN(inlined)(const float *a, float *o)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
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
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pipeline_restricted<2>(a, o, n);
}
SAFE(pipelined, 2, 128, 2, 0)(const float4 *__restrict__ a, float4 *__restrict__ o, int n)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pipeline<2>(pdl_fresh(a), pdl_fresh(o), n);
}
PLAIN(pipelined)(const float4 *a, float4 *o, int n)
{
    if (me() < 32) {
        pdl_wait();
    }
    __syncthreads();
    pipeline<2>(a, o, n);
}

/* F36: read, wait, read again; the first read is allowed here, because nobody relies on its value */
DANGER(two_reads)(const float *__restrict__ a, float *__restrict__ o)
{
    float before = a[me()];
    pdl_wait();
    o[me()] = a[me()] - before;
}
SAFE(two_reads, 2, 32, 1, 1)(const float *__restrict__ a, float *__restrict__ o)
{
    float before = a[me()];
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()] - before;
}

/* a store before the wait and one behind it: both have to be there */
DANGER(store_before)(float *__restrict__ o, float x)
{
    o[me()] = x;
    pdl_wait();
    o[me()] = x + 1.0f;
}
SAFE(store_before, 0, 32, 2, 1)(float *__restrict__ o, float x)
{
    pdl_fresh(o)[me()] = x;
    pdl_wait();
    pdl_fresh(o)[me()] = x + 1.0f;
}

/* F36b: store, fence, trigger, store */
DANGER(stores_around_trigger)(float *__restrict__ o)
{
    o[me()] = 1.0f;
    __threadfence();
    pdl_trigger();
    o[me()] = 2.0f;
}
SAFE(stores_around_trigger, 0, 32, 2, 0)(float *__restrict__ o)
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

/* other types: what pdl_fresh() hands back keeps them */
struct alignas(8) couple {
    int first, second;
};
SAFE(couple, 1, 64, 1, 0)(const couple *__restrict__ a, couple *__restrict__ o)
{
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(couple)(const couple *a, couple *o)
{
    pdl_wait();
    o[me()] = a[me()];
}
SAFE(bytes, 1, 8, 1, 0)(const unsigned char *__restrict__ a, unsigned char *__restrict__ o)
{
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()];
}
PLAIN(bytes)(const unsigned char *a, unsigned char *o)
{
    pdl_wait();
    o[me()] = a[me()];
}
SAFE(doubles, 1, 64, 1, 0)(const double *__restrict__ a, double *__restrict__ o)
{
    pdl_wait();
    pdl_fresh(o)[me()] = pdl_fresh(a)[me()] * 2.0;
}
PLAIN(doubles)(const double *a, double *o)
{
    pdl_wait();
    o[me()] = a[me()] * 2.0;
}
