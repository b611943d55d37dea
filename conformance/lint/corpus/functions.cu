/* Functions: tables, virtual functions, guards, closures, callbacks. */
#include "corpus.h"

struct operation {
    __device__ virtual float load(const float *a, int i) const = 0;
    __device__ virtual void begin() const = 0;
};
struct eager : operation {
    __device__ __noinline__ float load(const float *a, int i) const override { return *(const volatile float *)(a + i); }
    __device__ __noinline__ void begin() const override { pdl_wait(); }
};
struct scaled : operation {
    float by;
    __device__ scaled(float x) : by(x) {}
    __device__ __noinline__ float load(const float *a, int i) const override { return by * *(const volatile float *)(a + i); }
    __device__ __noinline__ void begin() const override { pdl_wait(); asm volatile("" : : : "memory"); }
};
BUG(virtual_load, "read-before-wait")(const float *a, float *o, int k)
{
    eager e;
    scaled s((float)k);
    const operation *f = k ? (const operation *)&e : &s;
    float v = f->load(a, threadIdx.x);
    f->begin();
    o[threadIdx.x] = v;
}
OK(virtual_load)(const float *a, float *o, int k)
{
    eager e;
    scaled s((float)k);
    const operation *f = k ? (const operation *)&e : &s;
    pdl_wait();
    o[threadIdx.x] = f->load(a, threadIdx.x);
}
/* A guard object: its constructor waits, as wrappers have it. */
struct waiting_scope {
    __device__ __noinline__ waiting_scope() { pdl_wait(); }
    __device__ __noinline__ ~waiting_scope() { pdl_trigger(); }
};
BUG(scope, "read-before-wait")(const float *a, float *o)
{
    float v = *(const volatile float *)(a + threadIdx.x);
    waiting_scope scope;
    o[threadIdx.x] = v;
}
OK(scope)(const float *a, float *o)
{
    waiting_scope scope;
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* Closures: by reference, by value, passed to a called template. */
template <class F> static __device__ __noinline__ void for_rows(int n, F f)
{
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) { f(i); }
}
BUG(closure, "read-before-wait|write-before-wait")(const float *a, float *o, int n)
{
    auto body = [=](int i) { o[i] = *(const volatile float *)(a + i); };
    for_rows(n, body);
    pdl_wait();
    for_rows(n, body);
}
OK(closure)(const float *a, float *o, int n)
{
    int count = 0;
    for_rows(n, [&](int i) { count += i; });
    pdl_wait();
    for_rows(n, [&](int i) { o[i] = *(const volatile float *)(a + i) + (float)count; });
}
/* A callee that waits and then says so */
CALLED bool wait_if(int n) { if (n > 3) { pdl_wait(); return true; } return false; }
BUG(told, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int n)
{
    bool waited = wait_if(n);
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) + (float)waited; /* does not look at it */
}
OK(told)(const float *a, float *o, int n)
{
    if (!wait_if(n)) { pdl_wait(); }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* Wait in one function, barrier in another */
CALLED void first_waits(void) { if (threadIdx.x == 0) { pdl_wait(); } }
CALLED void all_meet(void) { __syncthreads(); }
CALLED void warp_meets(void) { __syncwarp(); }
BUG(split_calls, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    all_meet();
    first_waits();
    warp_meets();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
OK(split_calls)(const float *a, float *o)
{
    warp_meets();
    first_waits();
    all_meet();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* function pointers: in a parameter struct, in shared memory, as a template argument */
typedef float (*reader)(const float *, int);
CALLED float read_plain(const float *a, int i) { return *(const volatile float *)(a + i); }
CALLED float read_twice(const float *a, int i) { return *(const volatile float *)(a + i) * 2.0f; }
CALLED float read_nothing(const float *a, int i) { return (float)i; }
__device__ reader readers[3] = {read_plain, read_twice, read_nothing};
BUG(reader_table, "read-before-wait")(const float *a, float *o, int k)
{
    __shared__ reader r;
    if (threadIdx.x == 0) { r = k == 0 ? read_plain : k == 1 ? read_twice : read_nothing; }
    __syncthreads();
    float v = r(a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(reader_table)(const float *a, float *o, int k)
{
    __shared__ reader r;
    if (threadIdx.x == 0) { r = k == 0 ? read_plain : k == 1 ? read_twice : read_nothing; }
    __syncthreads();
    pdl_wait();
    o[threadIdx.x] = r(a, threadIdx.x);
}
template <reader f> INLINED float through(const float *a, int i) { return f(a, i); }
BUG(reader_argument, "read-before-wait")(const float *a, float *o)
{
    float v = through<read_twice>(a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(reader_argument)(const float *a, float *o)
{
    float v = through<read_nothing>(a, threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v + through<read_plain>(a, threadIdx.x);
}
/* The same function called before and behind the wait, harmless the first time because of its argument */
CALLED float maybe_read(const float *a, int i, bool now) { return now ? *(const volatile float *)(a + i) : 1.0f; }
BUG(twice_called, "read-before-wait")(const float *a, float *o, int n)
{
    float x = maybe_read(a, threadIdx.x, n > 3);
    pdl_wait();
    o[threadIdx.x] = x + maybe_read(a, threadIdx.x, true);
}
OK(twice_called)(const float *a, float *o, int n)
{
    float x = maybe_read(a, threadIdx.x, false);
    pdl_wait();
    o[threadIdx.x] = x + maybe_read(a, threadIdx.x, n > 3);
}
/* toolkit's own names for wait and trigger */
BUG(toolkit, "read-before-wait")(const float *a, float *o)
{
    float v = *(const volatile float *)(a + threadIdx.x);
    cudaGridDependencySynchronize();
    o[threadIdx.x] = v;
    cudaTriggerProgrammaticLaunchCompletion();
}
OK(toolkit)(const float *a, float *o)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
/* an iterator class with a loading operator*, and one whose constructor computes only */
struct cursor {
    const float *p;
    float now;
    __device__ __noinline__ cursor(const float *from) : p(from + threadIdx.x), now(*(const volatile float *)p) {}
    __device__ __noinline__ cursor &operator++() { p += blockDim.x; now = *(const volatile float *)p; return *this; }
};
struct lazy_cursor {
    const float *p;
    __device__ __noinline__ lazy_cursor(const float *from) : p(from + threadIdx.x) {}
    __device__ __noinline__ float operator*() const { return *(const volatile float *)p; }
    __device__ __noinline__ lazy_cursor &operator++() { p += blockDim.x; return *this; }
};
BUG(cursor, "read-before-wait")(const float *a, float *o, int n)
{
    cursor c(a);
    pdl_wait();
    for (int i = 0; i < n; i++, ++c) { o[i * blockDim.x + threadIdx.x] = c.now; }
}
OK(cursor)(const float *a, float *o, int n)
{
    lazy_cursor c(a);
    pdl_wait();
    for (int i = 0; i < n; i++, ++c) { o[i * blockDim.x + threadIdx.x] = *c; }
}
/* recursion over a tree, waiting at the leaves only or ahead */
CALLED float walk(const float *a, int depth, bool wait)
{
    if (depth == 0) { if (wait) { pdl_wait(); } return *(const volatile float *)(a + threadIdx.x); }
    float here = wait ? *(const volatile float *)(a + depth) : 0.0f;
    return here + walk(a, depth - 1, wait) + walk(a + 1, depth - 1, wait);
}
BUG(tree, "read-before-wait|path-without-wait")(const float *a, float *o, int n) { o[threadIdx.x] = walk(a, n, true); }
OK(tree)(const float *a, float *o, int n) { pdl_wait(); o[threadIdx.x] = walk(a, n, false); }
/* big by-value arguments and results go through the stack */
struct packet { const float *src; float *dst; float data[12]; int n; };
CALLED packet make(const float *a, float *o, int n) { packet p; p.src = a; p.dst = o; p.n = n; for (int i = 0; i < 12; i++) { p.data[i] = (float)(i * n); } return p; }
CALLED void send(packet p, bool now) { p.data[p.n & 7] += 1.0f; if (now) { for (int i = 0; i < 12; i++) { p.dst[i] = p.data[i]; } } }
CALLED packet receive(packet p) { for (int i = 0; i < 12; i++) { p.data[i] = *(const volatile float *)(p.src + i); } return p; }
BUG(packet, "read-before-wait")(const float *a, float *o, int n)
{
    packet p = receive(make(a, o, n));
    pdl_wait();
    send(p, true);
}
OK(packet)(const float *a, float *o, int n)
{
    packet p = make(a, o, n);
    pdl_wait();
    send(receive(p), true);
}
