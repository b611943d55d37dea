/* Calls: waits and reads in functions that are called, chosen by pointer, recursive, or handed what they read. */
#include "corpus.h"
#include <stdio.h>

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }

/* A function that waits only if it is told to. */
CALLED void wait_if(int asked)
{
    if (asked) {
        pdl_wait();
    }
}
BUG(call_that_may_wait, "path-without-wait|partial-wait|read-before-wait")(const float *a, float *o, int n) { wait_if(n); o[global_index()] = read_now(a, global_index()); }
OK(call_that_may_wait)(const float *a, float *o, int n) { wait_if(1); o[global_index()] = read_now(a, global_index()) + (float)n; }

/* A function that waits and says so. */
CALLED bool waited(int asked)
{
    if (asked > 3) {
        pdl_wait();
        return true;
    }
    return false;
}
BUG(call_that_answers, "path-without-wait|partial-wait|read-before-wait")(const float *a, float *o, int n)
{
    const bool yes = waited(n);
    o[global_index()] = read_now(a, global_index()) + (yes ? 1.0f : 0.0f);
}
OK(call_that_answers)(const float *a, float *o, int n)
{
    if (waited(n)) {
        o[global_index()] = read_now(a, global_index());
    }
}

/* Functions of a table of constants; one of them reads. */
CALLED float no_read(const float *, int i) { return (float)i; }
CALLED float one_read(const float *a, int i) { return read_now(a, i); }
CALLED float two_reads(const float *a, int i) { return read_now(a, i) + read_now(a, i + 1); }
using reader = float (*)(const float *, int);
__constant__ reader readers[3] = {no_read, one_read, two_reads};
BUG(call_of_constant_table, "read-before-wait")(const float *a, float *o, int n)
{
    const float x = readers[n % 3](a, global_index());
    pdl_wait();
    o[global_index()] = x;
}
OK(call_of_constant_table)(const float *a, float *o, int n)
{
    pdl_wait();
    o[global_index()] = readers[n % 3](a, global_index());
}

/* Two functions that call each other; the deepest waits. */
CALLED float odd(const float *a, int n);
CALLED float even(const float *a, int n) { return n == 0 ? 0.0f : odd(a, n - 1) + 1.0f; }
CALLED float odd(const float *a, int n) { return n == 0 ? read_now(a, 0) : even(a, n - 1) * 2.0f; }
BUG(call_each_other, "read-before-wait")(const float *a, float *o, int n)
{
    const float x = even(a, n);
    pdl_wait();
    o[global_index()] = x;
}
OK(call_each_other)(const float *a, float *o, int n)
{
    pdl_wait();
    o[global_index()] = even(a, n);
}

/* A struct of pointers comes back from a function. */
struct pair { const float *left, *right; };
CALLED pair split(const float *a, int n) { return pair{a, a + n}; }
template <bool above> INLINED void returned_pointers(const float *a, float *o, int n)
{
    const pair p = split(a, n);
    if (above) { pdl_wait(); }
    const float x = read_now(p.left, 0) + read_now(p.right, 0);
    if (!above) { pdl_wait(); }
    o[global_index()] = x;
}
BUG(call_returns_pointers, "read-before-wait")(const float *a, float *o, int n) { returned_pointers<false>(a, o, n); }
OK(call_returns_pointers)(const float *a, float *o, int n) { returned_pointers<true>(a, o, n); }

/* The callee writes through a reference to a pointer. */
CALLED void choose(const float *&to, const float *a, const float *b, int n) { to = n & 1 ? a : b; }
template <bool above> INLINED void by_reference(const float *a, const float *b, float *o, int n)
{
    const float *p = nullptr;
    choose(p, a, b, n);
    if (above) { pdl_wait(); }
    const float x = read_now(p, global_index());
    if (!above) { pdl_wait(); }
    o[global_index()] = x;
}
BUG(call_by_reference, "read-before-wait")(const float *a, const float *b, float *o, int n) { by_reference<false>(a, b, o, n); }
OK(call_by_reference)(const float *a, const float *b, float *o, int n) { by_reference<true>(a, b, o, n); }

/* A function fills the caller's array: no global memory before the wait. */
CALLED void fill(float *to, int n)
{
    for (int i = 0; i < n; i++) { to[i] = (float)(i * i); }
}
OK(call_fills_stack)(const float *a, float *o, int n)
{
    float own[16];
    fill(own, n & 15);
    pdl_wait();
    o[global_index()] = own[n & 7] + a[global_index()];
}
BUG(call_fills_stack, "write-before-wait")(const float *a, float *o, int n)
{
    float own[16];
    fill(own, n & 15);
    fill(o + 16 * global_index(), n & 15);
    pdl_wait();
    o[global_index()] = own[n & 7] + a[global_index()];
}

/* A virtual function of an object on the stack. */
struct source { __device__ virtual float get(int i) const = 0; };
struct constant_source : source { float x; __device__ float get(int i) const override { return x * (float)i; } };
struct memory_source : source { const float *p; __device__ float get(int i) const override { return read_now(p, i); } };
CALLED float ask(const source *s, int i) { return s->get(i); }
BUG(call_virtual, "read-before-wait")(const float *a, float *o, int n)
{
    memory_source m;
    m.p = a;
    constant_source c;
    c.x = 2.0f;
    const float x = ask(n ? (const source *)&m : &c, global_index());
    pdl_wait();
    o[global_index()] = x;
}
OK(call_virtual)(const float *a, float *o, int n)
{
    memory_source m;
    m.p = a;
    constant_source c;
    c.x = 2.0f;
    pdl_wait();
    o[global_index()] = ask(n ? (const source *)&m : &c, global_index());
}

/* The wait is in the function, the barrier in the kernel. */
CALLED void first_warp_waits(void)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
}
BUG(call_waits_for_block, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { first_warp_waits(); __syncwarp(); o[global_index()] = read_now(a, global_index()); }
OK(call_waits_for_block)(const float *a, float *o) { first_warp_waits(); __syncthreads(); o[global_index()] = read_now(a, global_index()); }

/* Printing and assertions touch the driver's memory only. */
OK(call_prints)(const float *a, float *o, int n)
{
    if (n < 0 && threadIdx.x == 0) { printf("n is %d\n", n); }
    pdl_wait();
    o[global_index()] = a[global_index()];
}
BUG(call_prints, "read-before-wait")(const float *a, float *o, int n)
{
    if (n < 0 && threadIdx.x == 0) { printf("a begins with %f\n", read_now(a, 0)); }
    pdl_wait();
    o[global_index()] = a[global_index()];
}

/* A functor that holds a reference to a pointer. */
template <typename F> CALLED float apply(F f, int i) { return f(i); }
template <bool above> INLINED void functor(const float *a, float *o, int n)
{
    const float *p = a + n;
    auto get = [&p, n](int i) { return read_now(p, i * n); };
    if (above) { pdl_wait(); }
    const float x = apply(get, (int)threadIdx.x);
    if (!above) { pdl_wait(); }
    o[global_index()] = x;
}
BUG(call_of_functor, "read-before-wait")(const float *a, float *o, int n) { functor<false>(a, o, n); }
OK(call_of_functor)(const float *a, float *o, int n) { functor<true>(a, o, n); }
