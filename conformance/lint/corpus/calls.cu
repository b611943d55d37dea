/* Device functions that are called and not inlined, through names, pointers and tables. */
#include "corpus.h"

CALLED float read_one(const float *a, int i) { return *(const volatile float *)(a + i) * 3.0f; }
CALLED void write_one(float *o, int i, float x) { *(volatile float *)(o + i) = x + 1.0f; }
CALLED void wait_called(void) { pdl_wait(); }
CALLED void wait_deep(void) { wait_called(); asm volatile("" : : : "memory"); }
CALLED void wait_sometimes(int n) { if (n > 2) { pdl_wait(); } }
CALLED float only_computes(float x) { return x * x + __sinf(x); }
CALLED float wait_and_read(const float *a, int i) { pdl_wait(); return *(const volatile float *)(a + i); }
CALLED float read_and_wait(const float *a, int i) { float v = *(const volatile float *)(a + i); pdl_wait(); return v; }
CALLED float outer_read(const float *a, int i) { return read_one(a, i) + 1.0f; }

BUG(callee_reads, "read-before-wait")(const float *a, float *o)
{
    float v = read_one(a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(callee_reads)(const float *a, float *o)
{
    pdl_wait();
    o[threadIdx.x] = read_one(a, threadIdx.x);
}

BUG(callee_waits, "read-before-wait")(const float *a, float *o)
{
    float v = read_one(a, threadIdx.x);
    wait_called();
    o[threadIdx.x] = v;
}
OK(callee_waits)(const float *a, float *o)
{
    wait_called();
    o[threadIdx.x] = read_one(a, threadIdx.x);
}

BUG(callee_writes, "write-before-wait")(float *o)
{
    write_one(o, threadIdx.x, 2.0f);
    wait_called();
}
OK(callee_writes)(float *o)
{
    wait_called();
    write_one(o, threadIdx.x, 2.0f);
}

BUG(deep, "read-before-wait")(const float *a, float *o)
{
    float v = outer_read(a, threadIdx.x);
    wait_deep();
    o[threadIdx.x] = v;
}
OK(deep)(const float *a, float *o)
{
    wait_deep();
    o[threadIdx.x] = outer_read(a, threadIdx.x);
}

BUG(callee_sometimes, "path-without-wait|read-before-wait")(const float *a, float *o, int n)
{
    wait_sometimes(n);
    o[threadIdx.x] = read_one(a, threadIdx.x);
}
OK(callee_sometimes)(const float *a, float *o, int n)
{
    wait_sometimes(n);
    wait_called();
    o[threadIdx.x] = read_one(a, threadIdx.x);
}

BUG(callee_order, "read-before-wait")(const float *a, float *o) { o[threadIdx.x] = read_and_wait(a, threadIdx.x); }
OK(callee_order)(const float *a, float *o) { o[threadIdx.x] = wait_and_read(a, threadIdx.x); }

BUG(callee_computes, "read-before-wait")(const float *a, float *o, float x)
{
    float v = only_computes(x) + read_one(a, 1);
    pdl_wait();
    o[threadIdx.x] = only_computes(v);
}
OK(callee_computes)(const float *a, float *o, float x)
{
    float v = only_computes(x);
    pdl_wait();
    o[threadIdx.x] = only_computes(v) + read_one(a, 1);
}

BUG(callee_one_thread, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        wait_called();
    }
    o[threadIdx.x] = read_one(a, threadIdx.x);
}
OK(callee_one_thread)(const float *a, float *o)
{
    if (threadIdx.x == 0) {
        wait_called();
    }
    __syncthreads();
    o[threadIdx.x] = read_one(a, threadIdx.x);
}

CALLED int recurse(const float *a, int n) { return n <= 0 ? (int)*(const volatile float *)a : recurse(a + 1, n - 1) + n; }

BUG(recursion, "read-before-wait")(const float *a, float *o, int n)
{
    int v = recurse(a, n);
    pdl_wait();
    o[threadIdx.x] = (float)v;
}
OK(recursion)(const float *a, float *o, int n)
{
    pdl_wait();
    o[threadIdx.x] = (float)recurse(a, n);
}

typedef float (*reader)(const float *, int);
CALLED float plain_reader(const float *a, int i) { return *(const volatile float *)(a + i); }
CALLED float doubling_reader(const float *a, int i) { return 2.0f * *(const volatile float *)(a + i); }
__device__ reader reader_table[2] = {plain_reader, doubling_reader};
__constant__ reader constant_readers[2] = {plain_reader, doubling_reader};

BUG(pointer_call, "read-before-wait")(const float *a, float *o, int k)
{
    float v = constant_readers[k](a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(pointer_call)(const float *a, float *o, int k)
{
    pdl_wait();
    o[threadIdx.x] = constant_readers[k](a, threadIdx.x);
}

BUG(device_table_call, "read-before-wait")(const float *a, float *o, int k)
{
    float v = reader_table[k](a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(device_table_call)(const float *a, float *o, int k)
{
    pdl_wait();
    o[threadIdx.x] = reader_table[k](a, threadIdx.x);
}

struct loader {
    __device__ virtual float get(int i) const = 0;
};
struct global_loader : loader {
    const float *a;
    __device__ explicit global_loader(const float *p) : a(p) {}
    __device__ float get(int i) const override { return *(const volatile float *)(a + i); }
};
struct scaled_loader : loader {
    const float *a;
    __device__ explicit scaled_loader(const float *p) : a(p) {}
    __device__ float get(int i) const override { return 0.5f * *(const volatile float *)(a + i); }
};

BUG(virtual_call, "read-before-wait")(const float *a, float *o, int k)
{
    global_loader x(a);
    scaled_loader y(a + 1);
    const loader *l = k ? (const loader *)&x : (const loader *)&y;
    float v = l->get(threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(virtual_call)(const float *a, float *o, int k)
{
    pdl_wait();
    global_loader x(a);
    scaled_loader y(a + 1);
    const loader *l = k ? (const loader *)&x : (const loader *)&y;
    o[threadIdx.x] = l->get(threadIdx.x);
}

BUG(slow_division, "read-before-wait")(const double *a, double *o)
{
    double v = 1.0 / a[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(slow_division)(const double *a, double *o, double x)
{
    double v = 1.0 / x; /* the compiler calls a slow path of its own */
    float w = sinf((float)x * 1.0e9f);
    pdl_wait();
    o[threadIdx.x] = v * a[threadIdx.x] + w;
}

#include <stdio.h>

BUG(message, "read-before-wait")(const float *a, float *o, int n)
{
    if (n < 0) {
        printf("negative %d\n", n);
    }
    float v = a[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(message)(const float *a, float *o, int n)
{
    if (n < 0) {
        printf("negative %d\n", n);
    }
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}

/* The second call finds its target through a register that the first has to keep. */
INLINED void failing_twice(const char *what, int n)
{
    if (n < 0) {
        __assert_fail(what, "calls", 1, "");
        __assert_fail(what, "calls", 2, "");
    }
}
BUG(failing_twice, "read-before-wait")(const float *a, float *o, int n)
{
    float v = *(const volatile float *)(a + threadIdx.x);
    failing_twice("n", n);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(failing_twice)(const float *a, float *o, int n)
{
    failing_twice("n", n);
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}

/* a recursion that ends only in turns with other numbers than the first ones */
CALLED int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
template <bool early> INLINED void recursive_numbers(const float *a, float *o, int n)
{
    int k = ackermann(2, n);
    float v = early ? *(const volatile float *)(a + k) : 0.0f;
    pdl_wait();
    o[threadIdx.x] = v + *(const volatile float *)(a + k + 1);
}
BUG(recursive_numbers, "read-before-wait")(const float *a, float *o, int n) { recursive_numbers<true>(a, o, n); }
OK(recursive_numbers)(const float *a, float *o, int n) { recursive_numbers<false>(a, o, n); }
