/* Paths: waits that some path leaves out, and paths that only look as if they did. */
#include "corpus.h"

BUG(uniform_path, "path-without-wait")(const float *a, float *o, int flag)
{
    if (flag) {
        pdl_wait();
    }
    o[global_index()] = a[global_index()];
}
OK(uniform_path)(const float *a, float *o, int flag)
{
    if (flag) {
        pdl_wait();
        o[global_index()] = a[global_index()];
    }
}

BUG(uniform_path_barrier, "path-without-wait|partial-wait")(const float *a, float *o, int flag)
{
    if (flag > 3) {
        pdl_wait();
    }
    __syncthreads(); /* if nobody waits, the barrier helps nobody */
    o[global_index()] = a[global_index()];
}
OK(uniform_path_barrier)(const float *a, float *o, int flag)
{
    if (flag > 3) {
        pdl_trigger();
    }
    pdl_wait();
    __syncthreads();
    o[global_index()] = a[global_index()];
}

BUG(one_arm_reads, "path-without-wait")(const float *a, float *o, int flag)
{
    if (flag) {
        pdl_wait();
        o[0] = a[0];
    } else {
        o[1] = a[1];
    }
}
OK(one_arm_reads)(const float *a, float *o, int flag)
{
    if (flag) {
        pdl_wait();
        o[0] = a[0];
    } else {
        pdl_wait();
        o[1] = a[1];
    }
}

BUG(early_return, "read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    int i = global_index();
    if (i >= n || a[i] < 0.0f) {
        return;
    }
    pdl_wait();
    o[i] = a[i];
}
OK(early_return)(const float *a, float *o, int n)
{
    int i = global_index();
    if (i >= n) {
        return;
    }
    pdl_wait();
    o[i] = a[i];
}

BUG(early_return_stores, "path-without-wait|write-before-wait|partial-wait")(const float *a, float *o, int n)
{
    int i = global_index();
    if (i >= n) {
        o[i] = 0.0f;
        return;
    }
    pdl_wait();
    o[i] = a[i];
}
OK(early_return_stores)(const float *a, float *o, int n)
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

BUG(switch_case, "path-without-wait")(const float *a, float *o, int k)
{
    switch (k) {
    case 0: pdl_wait(); o[0] = a[1]; break;
    case 1: o[1] = a[5]; break;
    case 2: pdl_wait(); o[3] = 1.0f; break;
    case 3: pdl_wait(); o[4] = a[2] * 3.0f; break;
    case 4: pdl_wait(); o[7] = a[7] + a[8]; break;
    case 5: pdl_wait(); o[9] = a[7] - a[8]; break;
    default: break;
    }
}
OK(switch_case)(const float *a, float *o, int k)
{
    switch (k) {
    case 0: pdl_wait(); o[0] = a[1]; break;
    case 1: pdl_wait(); o[1] = a[5]; break;
    case 2: pdl_wait(); o[3] = 1.0f; break;
    case 3: pdl_wait(); o[4] = a[2] * 3.0f; break;
    case 4: pdl_wait(); o[7] = a[7] + a[8]; break;
    case 5: pdl_wait(); o[9] = a[7] - a[8]; break;
    default: break;
    }
}

BUG(loop_wait_late, "read-before-wait")(const float *a, float *o, int n)
{
    float sum = 0.0f;
    for (int t = 0; t < n; t++) {
        if (t == 1) {
            pdl_wait();
        }
        sum += *(const volatile float *)(a + t);
    }
    pdl_wait();
    o[global_index()] = sum;
}
OK(loop_wait_late)(const float *a, float *o, int n)
{
    float sum = 0.0f;
    for (int t = 0; t < n; t++) {
        if (t == 0) {
            pdl_wait();
        }
        sum += *(const volatile float *)(a + t);
    }
    pdl_wait();
    o[global_index()] = sum;
}

BUG(loop_zero_trips, "path-without-wait")(const float *a, float *o, int n)
{
    for (int t = 0; t < n; t++) { /* with n = 0 nobody waits */
        pdl_wait();
        o[t] = a[t];
    }
    o[global_index() + n] = 1.0f;
}
OK(loop_zero_trips)(const float *a, float *o, int n)
{
    for (int t = 0; t < n; t++) {
        pdl_wait();
        o[t] = a[t];
    }
    pdl_wait();
    o[global_index() + n] = 1.0f;
}

BUG(loop_before, "read-before-wait")(const float *a, float *o, int n)
{
    float sum = 0.0f;
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        sum += a[t];
    }
    pdl_wait();
    o[global_index()] = sum;
}
OK(loop_before)(const float *a, float *o, int n)
{
    float sum = 0.0f;
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        sum += (float)t;
    }
    pdl_wait();
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        sum += a[t];
    }
    o[global_index()] = sum;
}

BUG(grid_stride, "read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    bool waited = false;
    for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) {
        float v = a[i];
        if (!waited) {
            pdl_wait();
            waited = true;
        }
        o[i] = v;
    }
}
OK(grid_stride)(const float *a, float *o, int n)
{
    bool waited = false;
    for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) {
        if (!waited) {
            pdl_wait();
            waited = true;
        }
        o[i] = a[i];
    }
}

BUG(nested, "path-without-wait")(const float *a, float *o, int n, int m)
{
    if (n > 0) {
        if (m > 0) {
            pdl_wait();
        }
        o[global_index()] = a[global_index()];
    }
}
OK(nested)(const float *a, float *o, int n, int m)
{
    if (n > 0) {
        if (m > 0) {
            o = o + 1;
        }
        pdl_wait();
        o[global_index()] = a[global_index()];
    }
}

BUG(same_condition, "path-without-wait")(const float *a, float *o, int n, int m)
{
    if (n > 4) {
        pdl_wait();
    }
    __syncthreads();
    if (m > 4) {
        o[global_index()] = a[global_index()];
    }
}
OK(same_condition)(const float *a, float *o, int n, int m)
{
    if (n > 4) {
        pdl_wait();
    }
    __syncthreads();
    if (n > 4) {
        o[global_index()] = a[global_index()];
    }
    __syncthreads();
    if (n > 5) { /* implied */
        o[global_index()] += m;
    }
}

BUG(predicated, "path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    int i = global_index();
    if (n != 3) {
        pdl_wait();
    }
    if (i < n) {
        o[i] = a[i];
    }
}
OK(predicated)(const float *a, float *o, int n)
{
    int i = global_index();
    float x = n == 3 ? 1.0f : 2.0f;
    pdl_wait();
    if (i < n) {
        o[i] = a[i] * x;
    }
}

BUG(do_while, "read-before-wait")(const float *a, float *o, int n)
{
    float x = 0.0f;
    int i = 0;
    do {
        x += ((const volatile float *)a)[i];
        pdl_wait();
    } while (++i < n);
    o[0] = x;
}
OK(do_while)(const float *a, float *o, int n)
{
    float x = 0.0f;
    int i = 0;
#pragma unroll 1 /* unrolled, the code skips the waits on a path that only arithmetic rules out */
    do {
        pdl_wait();
        x += ((const volatile float *)a)[i];
    } while (++i < n);
    o[0] = x;
}

BUG(infinite_loop, "read-before-wait")(volatile unsigned *flag, float *o)
{
    while (*flag == 0u) { /* spins on what the earlier grid writes, before the wait */
    }
    pdl_wait();
    o[global_index()] = 1.0f;
}
OK(infinite_loop)(volatile unsigned *flag, float *o)
{
    pdl_wait();
    while (*flag == 0u) {
    }
    o[global_index()] = 1.0f;
}

BUG(trap_path, "path-without-wait")(const float *a, float *o, int n)
{
    if (n == 7) {
        asm volatile("trap;");
    } else if (n > 9) {
        pdl_wait();
    }
    o[global_index()] = a[global_index()];
}
OK(trap_path)(const float *a, float *o, int n)
{
    if (n == 7) {
        asm volatile("trap;");
    } else {
        pdl_wait();
    }
    if (n != 7) {
        o[global_index()] = a[global_index()];
    }
}
