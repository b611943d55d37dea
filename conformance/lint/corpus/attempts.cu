/* What a reader who knows nothing of the analysis tries first, each wrong once and right once. */
#include "corpus.h"
#include <cooperative_groups.h>
#include <cuda.h>

INLINED unsigned place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void init_object(unsigned long long *b, unsigned n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(place(b)), "r"(n) : "memory"); }
INLINED void arrive_at(unsigned long long *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(place(b)) : "memory"); }
INLINED bool tried(unsigned long long *b, unsigned parity)
{
    unsigned done;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(place(b)), "r"(parity) : "memory");
    return done != 0;
}
INLINED void wait_for(unsigned long long *b, unsigned parity) { while (!tried(b, parity)) {} }
INLINED float fetched(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED void cluster_arrive(void) { asm volatile("barrier.cluster.arrive.release;" : : : "memory"); }
INLINED void cluster_await(void) { asm volatile("barrier.cluster.wait.acquire;" : : : "memory"); }

/* 1. Six roles by a table; the last of them waits, two others are released by it, one is not. */
template <bool forgets> INLINED void six_roles(const float *a, float *o, int n)
{
    __shared__ unsigned long long go, done;
    __shared__ float stage[32];
    const int warp = (int)threadIdx.x >> 5, lane = (int)threadIdx.x & 31;
    if (threadIdx.x == 0) { init_object(&go, 32); init_object(&done, 32); }
    __syncthreads();
    switch (warp) {
    case 0:
        wait_for(&go, 0);
        stage[lane] = fetched(a, lane);
        arrive_at(&done);
        break;
    case 1:
        wait_for(&done, 0);
        o[lane] = stage[lane];
        break;
    case 2:
        for (int i = 0; i < n; i++) { __nanosleep(20); }
        break;
    case 3:
        wait_for(forgets ? &go : &done, forgets ? 1 : 0);
        o[32 + lane] = fetched(a, 32 + lane);
        break;
    case 4:
        stage[lane] += 1.0f;
        if (!forgets) { wait_for(&go, 0); }
        o[64 + lane] = 2.0f;
        break;
    case 5:
        pdl_wait();
        arrive_at(&go);
        break;
    default: break;
    }
}
BUG(table_of_six, "partial-wait|path-without-wait|write-before-wait")(const float *a, float *o, int n) { six_roles<true>(a, o, n); }
OK(table_of_six)(const float *a, float *o, int n) { six_roles<false>(a, o, n); }

/* 2. The consumer's wait stands under a condition that is not quite that of its read. */
template <bool quite> INLINED void under_limit(const float *a, float *o, int n, int limit)
{
    __shared__ unsigned long long full;
    __shared__ int seen;
    if (threadIdx.x == 0) { init_object(&full, 1); seen = (int)clock(); }
    __syncthreads();
    const int k = *(volatile int *)&seen;
    if (threadIdx.x >= 32) {
        if (k < limit) { wait_for(&full, 0); }
        if (quite ? k < limit : k <= limit) { o[threadIdx.x] = fetched(a, n + (int)threadIdx.x); }
    } else {
        pdl_wait();
        if (threadIdx.x == 0) { arrive_at(&full); }
    }
}
BUG(object_not_quite, "partial-wait")(const float *a, float *o, int n, int limit) { under_limit<false>(a, o, n, limit); }
OK(object_not_quite)(const float *a, float *o, int n, int limit) { under_limit<true>(a, o, n, limit); }

/* 3. A cluster's barrier in two halves, twice: the block of rank 0 waits between the first pair, or between the second. */
template <bool first> INLINED void two_halves(const float *a, float *o)
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0 && first) { pdl_wait(); }
    cluster_arrive();
    if (rank == 0 && !first) { pdl_wait(); }
    cluster_await();
    float x = 0.0f;
    if (rank != 0) { x = fetched(a, (int)threadIdx.x); }
    cluster_arrive();
    cluster_await();
    if (rank != 0) { o[threadIdx.x] = x; }
}
BUG(halves_twice, "partial-wait")(const float *a, float *o) { two_halves<false>(a, o); }
OK(halves_twice)(const float *a, float *o) { two_halves<true>(a, o); }

/* 4. A relay: warp 0 waits and arrives at barrier 1, warp 1 meets it there and arrives at barrier 2, warp 2 meets that. */
template <bool order> INLINED void relay(const float *a, float *o)
{
    const int warp = (int)threadIdx.x >> 5;
    if (warp == 0) {
        if (order) { pdl_wait(); }
        named_arrive(1, 64);
        if (!order) { pdl_wait(); }
        o[threadIdx.x] = 1.0f;
    } else if (warp == 1) {
        named_barrier(1, 64);
        named_arrive(2, 64);
    } else if (warp == 2) {
        named_barrier(2, 64);
        o[threadIdx.x] = fetched(a, (int)threadIdx.x);
    }
}
BUG(relay_of_names, "partial-wait")(const float *a, float *o) { relay<false>(a, o); }
OK(relay_of_names)(const float *a, float *o) { relay<true>(a, o); }

/* 5. A persistent loop that goes down; the first turn is known by a bit that is shifted out. */
template <unsigned bits> INLINED void shifted_out(const float *a, float *o, int n)
{
    unsigned first = bits;
#pragma unroll 1
    for (int t = (int)blockIdx.x; t < n; t += (int)gridDim.x) {
        if (first & 1) { pdl_wait(); }
        first >>= 1;
        o[t] = fetched(a, t);
    }
}
BUG(first_shifted_out, "read-before-wait|path-without-wait|write-before-wait|partial-wait")(const float *a, float *o, int n) { shifted_out<2>(a, o, n); }
OK(first_shifted_out)(const float *a, float *o, int n) { shifted_out<1>(a, o, n); }

/* 6. The scheduler's word says -1 before the first tile: that turn waits. */
template <bool reads_ahead> INLINED void minus_one(const float *a, float *o, const int *order, int n)
{
    int last = -1;
    float x = 0.0f;
#pragma unroll 1
    for (int t = (int)blockIdx.x; t < n; t += (int)gridDim.x) {
        if (reads_ahead) { x += fetched(a, t); }
        if (last < 0) { pdl_wait(); }
        last = t;
        o[t] = fetched(a, t) + x;
    }
    if (last >= 0) { o[n + last] = x; }
}
BUG(last_minus_one, "read-before-wait")(const float *a, float *o, const int *order, int n) { minus_one<true>(a, o, order, n); }
OK(last_minus_one)(const float *a, float *o, const int *order, int n) { minus_one<false>(a, o, order, n); }

/* 7. Nine independent conditions and five loops between a flag's two uses. */
template <bool same> INLINED void nine_conditions(const float *a, float *o, int n, int m)
{
    __shared__ int words[64];
    words[threadIdx.x & 63] = (int)clock();
    __syncthreads();
    const volatile int *w = words;
    const bool flag = w[0] > 7, other = w[1] > 7;
    float s = 0.0f;
    if (flag) { pdl_wait(); }
#pragma unroll 1
    for (int r = 0; r < 9; r++) {
        if (w[2 + r] > r) { s += 1.0f; __nanosleep(10); }
        if (w[12 + r] > n) { s *= 2.0f; __nanosleep(20); }
#pragma unroll 1
        for (int i = 0; i < m; i++) {
            if (w[(i + r) & 63] > 3) { s -= 1.0f; __nanosleep(5); }
        }
    }
    if (w[30] > 1) { s += 4.0f; __nanosleep(1); }
    if (w[31] > 1) { s += 5.0f; __nanosleep(2); }
    if (w[32] > 1) { s += 6.0f; __nanosleep(3); }
    if (w[33] > 1) { s += 7.0f; __nanosleep(4); }
    if (w[34] > 1) { s += 8.0f; __nanosleep(5); }
    if (w[35] > 1) { s += 9.0f; __nanosleep(6); }
    if (same ? flag : other) { o[threadIdx.x] = s + fetched(a, n); }
}
BUG(nine_conditions, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n, int m) { nine_conditions<false>(a, o, n, m); }
OK(nine_conditions)(const float *a, float *o, int n, int m) { nine_conditions<true>(a, o, n, m); }

/* 8. A bulk copy whose source is a parameter's tile, started by a lane that was elected; or the tile is chosen from one's own memory. */
template <bool early> INLINED void bulk(const float *a, float *o, int n)
{
    __shared__ alignas(128) float tile[256];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { init_object(&full, 1); }
    __syncthreads();
    if (!early) { pdl_wait(); }
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" : : "r"(place(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     : : "r"(place(tile)), "l"(a + n * 256), "r"(place(&full)) : "memory");
    }
    if (early) { pdl_wait(); }
    wait_for(&full, 0);
    o[threadIdx.x] = tile[threadIdx.x & 255];
}
BUG(bulk_tile, "async-copy-before-wait")(const float *a, float *o, int n) { bulk<true>(a, o, n); }
OK(bulk_tile)(const float *a, float *o, int n) { bulk<false>(a, o, n); }

/* 9. A list in the heap, whose last node points to the parameter. */
struct heap_node { struct heap_node *next; const float *data; float own[2]; };
template <bool parameter> INLINED void heap_chain(const float *a, float *o, int n)
{
    heap_node *head = nullptr;
    for (int i = 0; i < 3; i++) {
        heap_node *one = (heap_node *)malloc(sizeof(heap_node));
        if (!one) { __trap(); }
        one->own[0] = (float)i;
        one->own[1] = (float)n;
        one->data = parameter && i == 0 ? a : one->own;
        one->next = head;
        head = one;
    }
    float s = 0.0f;
    for (const heap_node *at = head; at; at = at->next) { s += at->own[1]; }
    s += parameter ? fetched(head->next->next->data, 1) : fetched(head->own, 1);
    pdl_wait();
    o[threadIdx.x] = s + fetched(a, n);
}
BUG(heap_chain, "read-before-wait")(const float *a, float *o, int n) { heap_chain<true>(a, o, n); }
OK(heap_chain)(const float *a, float *o, int n) { heap_chain<false>(a, o, n); }

/* 10. Which warps work is a mask that is shifted by the warp's number; which wait, another shift of the same one. */
template <int by> INLINED void by_mask(const float *a, float *o, unsigned mask)
{
    const unsigned warp = threadIdx.x >> 5;
    if (mask >> warp & 1) { pdl_wait(); }
    __nanosleep(100);
    if (mask >> (warp + by) & 1) { o[threadIdx.x] = fetched(a, (int)threadIdx.x); }
}
BUG(mask_shifted, "partial-wait|path-without-wait")(const float *a, float *o, unsigned mask) { by_mask<1>(a, o, mask); }
OK(mask_shifted)(const float *a, float *o, unsigned mask) { by_mask<0>(a, o, mask); }

/* 11. A sum over all GPUs, below the wait or above it. */
template <bool early> INLINED void multi(const float *a, float *o)
{
    float x;
    if (!early) { pdl_wait(); }
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x) : "memory");
    if (early) { pdl_wait(); }
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" : : "l"(o + threadIdx.x), "f"(x) : "memory");
}
BUG(multimem_sum, "read-before-wait")(const float *a, float *o) { multi<true>(a, o); }
OK(multimem_sum)(const float *a, float *o) { multi<false>(a, o); }

/* 12. A tree walked by recursion; its leaves are handed to a function that is chosen from a table, one of which waits first. */
typedef float (*leaf_function)(const float *, int);
CALLED float leaf_plain(const float *a, int i) { return fetched(a, i); }
CALLED float leaf_waits(const float *a, int i) { pdl_wait(); return fetched(a, i); }
CALLED float leaf_waits_too(const float *a, int i) { __nanosleep(40); pdl_wait(); return fetched(a, i + 1); }
CALLED float walk(const float *a, int from, int to, leaf_function leaf)
{
    if (to - from <= 1) { return leaf(a, from); }
    const int middle = from + (to - from) / 2;
    return walk(a, from, middle, leaf) + walk(a, middle, to, leaf);
}
BUG(tree_of_leaves, "read-before-wait")(const float *a, float *o, int n, int which)
{
    const leaf_function table[2] = {leaf_plain, leaf_waits};
    const float s = walk(a, 0, n, table[which & 1]);
    pdl_wait();
    o[threadIdx.x] = s;
}
OK(tree_of_leaves)(const float *a, float *o, int n, int which)
{
    const leaf_function table[2] = {leaf_waits_too, leaf_waits};
    const float s = walk(a, 0, n, table[which & 1]);
    o[threadIdx.x] = s;
}
