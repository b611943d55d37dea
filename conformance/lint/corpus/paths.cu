/* Branches that real code has: tail blocks, gotos, asserts, nested conditions, ternaries, several waits. */
#include "corpus.h"

#include <assert.h>

BUG(tail_block, "read-before-wait|path-without-wait")(const int *length, const float *a, float *o)
{
    if (global_index() >= *length) { /* the length is what the earlier grid computes */
        return;
    }
    pdl_wait();
    o[global_index()] = a[global_index()];
}
OK(tail_block)(const int length, const float *a, float *o)
{
    if (global_index() >= length) {
        return;
    }
    pdl_wait();
    o[global_index()] = a[global_index()];
}

BUG(tail_fill, "path-without-wait|write-before-wait|partial-wait")(const float *a, float *o, int n)
{
    int i = global_index();
    if (i >= n) {
        o[i] = 0.0f; /* the padding is written without a wait */
        return;
    }
    pdl_wait();
    o[i] = a[i];
}
OK(tail_fill)(const float *a, float *o, int n)
{
    int i = global_index();
    if (i >= n) {
        pdl_wait();
        o[i] = 0.0f;
        return;
    }
    pdl_wait();
    o[i] = a[i];
}

BUG(empty_row, "path-without-wait|read-before-wait")(const float *a, float *o, int rows, int columns)
{
    int row = blockIdx.x;
    if (row < rows) {
        if (columns > 0) {
            pdl_wait();
        }
        float sum = 0.0f;
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            sum += a[row * columns + c];
        }
        o[row] = sum; /* no columns: no wait, but a store */
    }
}
OK(empty_row)(const float *a, float *o, int rows, int columns)
{
    int row = blockIdx.x;
    if (row < rows) {
        pdl_wait();
        float sum = 0.0f;
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            sum += a[row * columns + c];
        }
        o[row] = sum;
    }
}

BUG(jumps, "path-without-wait|read-before-wait")(const float *a, float *o, int k)
{
    float v = 1.0f;
    if (k == 1) {
        goto one;
    }
    if (k == 2) {
        goto two;
    }
    pdl_wait();
one:
    v = *(const volatile float *)(a + threadIdx.x);
two:
    o[threadIdx.x] = v;
}
OK(jumps)(const float *a, float *o, int k)
{
    float v = 1.0f;
    if (k == 1) {
        goto one;
    }
    if (k == 2) {
        goto two;
    }
    v = 2.0f;
one:
    v += 3.0f;
two:
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}

BUG(asserted, "read-before-wait")(const int *n, const float *a, float *o)
{
    assert(*n > 0);
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(asserted)(const int n, const float *a, float *o)
{
    assert(n > 0);
    pdl_wait();
    assert(a[0] > 0.0f);
    o[threadIdx.x] = a[threadIdx.x];
}

BUG(ternary, "path-without-wait|read-before-wait")(const float *a, const float *b, float *o, int k)
{
    if (k & 4) {
        pdl_wait();
    }
    const float *p = k & 2 ? a : b;
    o[threadIdx.x] = k & 4 ? p[threadIdx.x] : *(const volatile float *)(p + 1);
}
OK(ternary)(const float *a, const float *b, float *o, int k)
{
    if (k & 4) {
        pdl_wait();
    }
    const float *p = k & 2 ? a : b;
    if (k & 4) {
        o[threadIdx.x] = p[threadIdx.x];
    }
}

BUG(two_flags, "path-without-wait|read-before-wait")(const float *a, float *o, int k, int m)
{
    bool wait = k > 0 || m > 7;
    if (wait) {
        pdl_wait();
    }
    if (k > 0 || m > 5) { /* 6 and 7 */
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(two_flags)(const float *a, float *o, int k, int m)
{
    bool wait = k > 0 || m > 5;
    if (wait) {
        pdl_wait();
    }
    if (k > 0 || m > 7) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(both_needed, "path-without-wait|read-before-wait")(const float *a, float *o, int k, int m)
{
    if (k > 0 && m > 0) {
        pdl_wait();
    }
    if (k > 0) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(both_needed)(const float *a, float *o, int k, int m)
{
    if (k > 0) {
        pdl_wait();
    }
    if (k > 0 && m > 0) {
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(wait_twice, "read-before-wait")(const float *a, const float *b, float *o)
{
    float v = a[threadIdx.x]; /* the second wait is one too many, the first one too late */
    pdl_wait();
    v += b[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(wait_twice)(const float *a, const float *b, float *o)
{
    pdl_wait();
    float v = a[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v + b[threadIdx.x];
}

BUG(null_check, "path-without-wait|read-before-wait")(const float *a, const float *bias, float *o)
{
    if (bias) {
        pdl_wait();
        o[threadIdx.x] = a[threadIdx.x] + bias[threadIdx.x];
    } else {
        o[threadIdx.x] = a[threadIdx.x];
    }
}
OK(null_check)(const float *a, const float *bias, float *o)
{
    if (bias) {
        pdl_wait();
        o[threadIdx.x] = a[threadIdx.x] + bias[threadIdx.x];
    } else {
        pdl_wait();
        o[threadIdx.x] = a[threadIdx.x];
    }
}

BUG(null_bias, "read-before-wait")(const float *a, const float *bias, float *o)
{
    float b = bias ? bias[threadIdx.x] : 0.0f;
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x] + b;
}
OK(null_bias)(const float *a, const float *bias, float *o)
{
    pdl_wait();
    float b = bias ? bias[threadIdx.x] : 0.0f;
    o[threadIdx.x] = a[threadIdx.x] + b;
}

BUG(unrolled, "read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i == 1) {
            pdl_wait();
        }
        if (n > i) {
            o[i * 256 + threadIdx.x] = *(const volatile float *)(a + i * 256 + threadIdx.x);
        }
    }
}
OK(unrolled)(const float *a, float *o, int n)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i == 0) {
            pdl_wait();
        }
        if (n > i) {
            o[i * 256 + threadIdx.x] = *(const volatile float *)(a + i * 256 + threadIdx.x);
        }
    }
}

BUG(long_switch, "path-without-wait|read-before-wait")(const float *a, float *o, int k)
{
    float v = 0.0f;
    switch (k) {
    case 0: pdl_wait(); v = a[0]; break;
    case 1: pdl_wait(); v = a[1] * 2.0f; break;
    case 2: pdl_wait(); v = a[2] - 1.0f; break;
    case 3: v = ((const volatile float *)a)[3]; break;
    case 4: pdl_wait(); v = sqrtf(a[4]); break;
    case 5: pdl_wait(); v = -a[5]; break;
    default: pdl_wait(); break;
    }
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(long_switch)(const float *a, float *o, int k)
{
    float v = 0.0f;
    switch (k) {
    case 0: pdl_wait(); v = a[0]; break;
    case 1: pdl_wait(); v = a[1] * 2.0f; break;
    case 2: pdl_wait(); v = a[2] - 1.0f; break;
    case 3: v = 7.0f; break;
    case 4: pdl_wait(); v = sqrtf(a[4]); break;
    case 5: pdl_wait(); v = -a[5]; break;
    default: break;
    }
    pdl_wait();
    o[threadIdx.x] = v;
}

/* The rows of a block are dealt to two dimensions of threads. */
BUG(two_dimensions, "partial-wait")(const float *a, float *o)
{
    if (threadIdx.x == 0) { /* one thread of each row; then a barrier of the warp only */
        pdl_wait();
    }
    __syncwarp();
    o[threadIdx.y * 32 + threadIdx.x] = *(const volatile float *)(a + threadIdx.y * 32 + threadIdx.x);
}
OK(two_dimensions)(const float *a, float *o)
{
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        pdl_wait();
    }
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = *(const volatile float *)(a + threadIdx.y * 32 + threadIdx.x);
}

/* Blocks of the second half start at another wait. */
BUG(by_block, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int half)
{
    if ((int)blockIdx.x < half) {
        pdl_wait();
        o[global_index()] = a[global_index()];
    } else if ((int)blockIdx.x > half) {
        pdl_wait();
        o[global_index()] = -a[global_index()];
    } else {
        o[global_index()] = ((const volatile float *)a)[0];
    }
}
OK(by_block)(const float *a, float *o, int half)
{
    if ((int)blockIdx.x < half) {
        pdl_wait();
        o[global_index()] = a[global_index()];
    } else {
        pdl_wait();
        o[global_index()] = -a[global_index()];
    }
}

BUG(flag_in_shared, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n)
{
    __shared__ int go;
    if (threadIdx.x == 0) {
        go = n > 3;
    }
    __syncthreads();
    if (go) {
        pdl_wait();
    }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(flag_in_shared)(const float *a, float *o, int n)
{
    __shared__ int go;
    if (threadIdx.x == 0) {
        go = n > 3;
    }
    __syncthreads();
    int mine = go;
    if (mine) {
        pdl_wait();
    }
    if (mine) {
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

BUG(loop_with_break, "read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    int i = 0;
    for (;; i++) {
        if (i == n) {
            break;
        }
        float v = *(const volatile float *)(a + i);
        if (v < 0.0f) {
            pdl_wait();
            break;
        }
    }
    pdl_wait();
    o[threadIdx.x] = (float)i;
}
OK(loop_with_break)(const float *a, float *o, int n)
{
    int i = 0;
    pdl_wait();
    for (;; i++) {
        if (i == n) {
            break;
        }
        float v = *(const volatile float *)(a + i);
        if (v < 0.0f) {
            break;
        }
    }
    o[threadIdx.x] = (float)i;
}

CALLED void wait_at_the_bottom(int n)
{
    if (n <= 0) {
        pdl_wait();
        return;
    }
    wait_at_the_bottom(n - 1);
    asm volatile("" : : : "memory");
}
CALLED void wait_on_the_way(int n)
{
    if (n <= 0) {
        return;
    }
    if (n == 5) {
        pdl_wait();
    }
    wait_on_the_way(n - 1);
    asm volatile("" : : : "memory");
}
BUG(recursive_wait, "path-without-wait|read-before-wait")(const float *a, float *o, int n)
{
    wait_on_the_way(n);
    o[threadIdx.x] = a[threadIdx.x];
}
OK(recursive_wait)(const float *a, float *o, int n)
{
    wait_at_the_bottom(n);
    o[threadIdx.x] = a[threadIdx.x];
}

typedef void (*step)(const float *, float *);
CALLED void step_waits(const float *a, float *o) { pdl_wait(); o[threadIdx.x] = a[threadIdx.x]; }
CALLED void step_waits_too(const float *a, float *o) { pdl_wait(); o[threadIdx.x] = a[threadIdx.x] * 2.0f; }
CALLED void step_forgets(const float *a, float *o) { o[threadIdx.x] = a[threadIdx.x] * 3.0f; }
__constant__ step good_steps[2] = {step_waits, step_waits_too};

BUG(given_step, "path-without-wait|read-before-wait")(step s, const float *a, float *o, int k)
{
    step mine = k ? step_waits : step_forgets;
    mine(a, o);
}
OK(given_step)(const float *a, float *o, int k)
{
    step mine = k ? step_waits : step_waits_too;
    mine(a, o);
}
