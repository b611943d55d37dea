/* C++ that hides where a read stands: constructors, lambdas, members, templates, iterators. */
#include "corpus.h"

struct problem {
    const float *x;
    const int *shape;
    float *out;
    int n;
};

/* A tile scheduler whose constructor reads the shape from device memory. */
struct scheduler {
    int rows;
    __device__ explicit scheduler(const problem &p) : rows(p.shape[blockIdx.x]) {}
    __device__ int row(int i) const { return i % rows; }
};

BUG(constructor, "read-before-wait")(problem p)
{
    scheduler s(p);
    pdl_wait();
    p.out[threadIdx.x] = p.x[s.row(threadIdx.x)];
}
OK(constructor)(problem p)
{
    pdl_wait();
    scheduler s(p);
    p.out[threadIdx.x] = p.x[s.row(threadIdx.x)];
}

struct fused {
    float4 residual, gamma;
    __device__ fused(const float4 *r, const float4 *g, int i) : residual(r[i]), gamma(g[i]) {}
    __device__ float4 operator()(float4 v) const
    {
        return make_float4(v.x * gamma.x + residual.x, v.y * gamma.y, v.z * gamma.z, v.w * gamma.w + residual.w);
    }
};

BUG(fused_operator, "read-before-wait")(const float4 *r, const float4 *g, const float4 *x, float4 *o)
{
    fused f(r, g, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = f(x[threadIdx.x]);
}
OK(fused_operator)(const float4 *r, const float4 *g, const float4 *x, float4 *o)
{
    pdl_wait();
    fused f(r, g, threadIdx.x);
    o[threadIdx.x] = f(x[threadIdx.x]);
}

struct scoped_wait {
    __device__ scoped_wait() {}
    __device__ ~scoped_wait() { pdl_wait(); } /* waits at the end of the scope */
};

BUG(destructor, "write-before-wait|read-before-wait")(const float *a, float *o)
{
    scoped_wait w;
    o[threadIdx.x] = a[threadIdx.x];
}
OK(destructor)(const float *a, float *o)
{
    {
        scoped_wait w;
    }
    o[threadIdx.x] = a[threadIdx.x];
}

BUG(lambda, "read-before-wait")(const float *a, float *o, int n)
{
    auto get = [=](int i) { return a[i] * n; };
    float v = get(threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(lambda)(const float *a, float *o, int n)
{
    auto get = [=](int i) { return a[i] * n; };
    pdl_wait();
    o[threadIdx.x] = get(threadIdx.x);
}

BUG(struct_member, "read-before-wait")(problem p)
{
    float v = p.x[threadIdx.x];
    pdl_wait();
    p.out[threadIdx.x] = v * p.n;
}
OK(struct_member)(problem p)
{
    int n = p.n * 2; /* parameters themselves are no memory that anyone writes */
    pdl_wait();
    p.out[threadIdx.x] = p.x[threadIdx.x] * n;
}

struct batch {
    problem all[4];
};

BUG(indexed_parameter, "read-before-wait")(const __grid_constant__ batch b, int k)
{
    const problem &p = b.all[k & 3];
    float v = p.x[threadIdx.x];
    pdl_wait();
    p.out[threadIdx.x] = v;
}
OK(indexed_parameter)(const __grid_constant__ batch b, int k)
{
    const problem &p = b.all[k & 3];
    pdl_wait();
    p.out[threadIdx.x] = p.x[threadIdx.x];
}

template <typename T, bool early> INLINED void templated(const T *a, T *o)
{
    T v = T();
    if (early) {
        v = a[threadIdx.x];
    }
    pdl_wait();
    if (!early) {
        v = a[threadIdx.x];
    }
    o[threadIdx.x] = v;
}

BUG(template_half, "read-before-wait")(const short *a, short *o) { templated<short, true>(a, o); }
OK(template_half)(const short *a, short *o) { templated<short, false>(a, o); }
BUG(template_wide, "read-before-wait")(const ulonglong2 *a, ulonglong2 *o) { templated<ulonglong2, true>(a, o); }
OK(template_wide)(const ulonglong2 *a, ulonglong2 *o) { templated<ulonglong2, false>(a, o); }

struct iterator {
    const float *p;
    __device__ float operator*() const { return *p; }
    __device__ iterator &operator++() { ++p; return *this; }
};

BUG(iterator, "read-before-wait")(const float *a, float *o, int n)
{
    iterator i = {a};
    float sum = *i;
    pdl_wait();
    for (int t = 1; t < n; t++) {
        sum += *++i;
    }
    o[threadIdx.x] = sum;
}
OK(iterator)(const float *a, float *o, int n)
{
    iterator i = {a};
    pdl_wait();
    float sum = *i;
    for (int t = 1; t < n; t++) {
        sum += *++i;
    }
    o[threadIdx.x] = sum;
}

struct guard {
    bool on;
    __device__ explicit guard(bool enable) : on(enable) { if (on) { pdl_wait(); } }
};

BUG(switched_off, "path-without-wait")(const float *a, float *o, bool enable)
{
    guard g(enable); /* a run-time switch: off, nobody waits */
    o[threadIdx.x] = a[threadIdx.x];
}
OK(switched_off)(const float *a, float *o, bool enable)
{
    guard g(true);
    o[threadIdx.x] = a[threadIdx.x] + (enable ? 1.0f : 0.0f);
}

template <bool enable> struct static_guard {
    __device__ static_guard() { if (enable) { pdl_wait(); } }
};

BUG(compiled_out, "no-wait|path-without-wait")(const float *a, float *o)
{
    static_guard<false> g;
    o[threadIdx.x] = a[threadIdx.x];
}
OK(compiled_out)(const float *a, float *o)
{
    static_guard<true> g;
    o[threadIdx.x] = a[threadIdx.x];
}
