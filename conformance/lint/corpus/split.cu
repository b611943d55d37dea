/* Split barriers: arriving and waiting are two instructions, and a sibling's wait counts only if it stands above its arrive.
 * Barrier waits under a guard: who does not execute one is released by nobody. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}
INLINED bool object_test(void *b, unsigned parity)
{
    int done;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.s32 %0, 1, 0, p;\n\t}"
                 : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
    return done != 0;
}
INLINED void guarded_try(void *b, unsigned parity, int guard)
{
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 q, %2, 0;\n\tmov.pred p, 0;\n"
                 "\t@q mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t}" : : "r"(at(b)), "r"(parity), "r"(guard) : "memory");
}
INLINED void cluster_arrive(void) { asm volatile("barrier.cluster.arrive.aligned;" : : : "memory"); }
INLINED void cluster_arrive_relaxed(void) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory"); }
INLINED void cluster_wait(void) { asm volatile("barrier.cluster.wait.aligned;" : : : "memory"); }
INLINED unsigned cluster_rank(void) { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }

/* Only some threads wait for the object, and the others read as well. */
template <bool all> INLINED void some_wait(const float *a, float *o, int n)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        object_init(&full, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        if (all || (int)threadIdx.x < n) {
            object_wait(&full, 0);
        }
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(some_wait_for_object, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o, int n) { some_wait<false>(a, o, n); }
OK(some_wait_for_object)(const float *a, float *o, int n) { some_wait<true>(a, o, n); }

/* The guard stands at the instruction itself, and nobody asks how the wait ended. */
BUG(guarded_instruction, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        object_init(&full, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        guarded_try(&full, 0, n & (int)threadIdx.x);
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

/* A test that may fail, and both ways read. */
template <bool retry> INLINED void tested(const float *a, float *o)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        object_init(&full, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        bool done = object_test(&full, 0);
        if (!done && retry) {
            object_wait(&full, 0);
        }
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(test_fails, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { tested<false>(a, o); }
OK(test_fails)(const float *a, float *o) { tested<true>(a, o); }

/* One lane waits for the object, the rest of the warp for that lane. */
OK(lane_waits)(const float *a, float *o)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        object_init(&full, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        if (threadIdx.x % 32 == 0) {
            object_wait(&full, 0);
        }
        __syncwarp();
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}

/* The waiting warp arrives at the cluster's barrier before it waits. */
template <bool above> INLINED void cluster_split(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        if (above) {
            pdl_wait();
        }
        cluster_arrive();
        if (!above) {
            pdl_wait();
        }
    } else {
        cluster_arrive();
    }
    cluster_wait();
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(cluster_split, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { cluster_split<false>(a, o); }
OK(cluster_split)(const float *a, float *o) { cluster_split<true>(a, o); }

/* All arrive together; the wait stands between arrive and wait, so a second barrier is needed. */
template <bool second, bool relaxed> INLINED void between(const float *a, float *o)
{
    if (relaxed) {
        cluster_arrive_relaxed();
    } else {
        cluster_arrive();
    }
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    cluster_wait();
    if (second) {
        cluster_arrive();
        cluster_wait();
    }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(wait_between, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { between<false, false>(a, o); }
OK(wait_between)(const float *a, float *o) { between<true, false>(a, o); }
BUG(wait_between_relaxed, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { between<false, true>(a, o); }
OK(wait_between_relaxed)(const float *a, float *o) { between<true, true>(a, o); }

/* The first block of a cluster waits for all. */
template <bool above> INLINED void rank_waits(const float *a, float *o)
{
    if (!above) {
        cluster_arrive();
    }
    if (cluster_rank() == 0) {
        pdl_wait();
    }
    if (above) {
        cluster_arrive();
    }
    cluster_wait();
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
BUG(rank_waits, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { rank_waits<false>(a, o); }
OK(rank_waits)(const float *a, float *o) { rank_waits<true>(a, o); }

/* bar.arrive on the block's own barrier, before the wait. */
template <bool above> INLINED void block_split(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        if (above) {
            pdl_wait();
        }
        asm volatile("barrier.cta.arrive.aligned 0, 128;" : : : "memory");
        if (!above) {
            pdl_wait();
        }
    } else {
        asm volatile("barrier.cta.sync.aligned 0, 128;" : : : "memory");
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(block_split, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { block_split<false>(a, o); }
OK(block_split)(const float *a, float *o) { block_split<true>(a, o); }

/* A named barrier used twice; the waiter waits between its two arrivals. */
template <bool above> INLINED void named_twice(const float *a, float *o)
{
    __shared__ float s[64];
    if (threadIdx.x < 32) {
        if (above) {
            pdl_wait();
        }
        s[threadIdx.x] = 1.0f;
        named_arrive(3, 96);
        if (!above) {
            pdl_wait();
        }
        s[threadIdx.x + 32] = *(const volatile float *)(a + threadIdx.x + 64);
        named_arrive(3, 96);
    } else if (threadIdx.x < 96) {
        named_barrier(3, 96);
        float x = *(const volatile float *)(a + threadIdx.x);
        named_barrier(3, 96);
        o[threadIdx.x] = s[threadIdx.x - 32] + x;
    }
}
BUG(named_twice, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { named_twice<false>(a, o); }
OK(named_twice)(const float *a, float *o) { named_twice<true>(a, o); }

/* The roles part before a barrier. One of them waits after it, and in the right twin they meet at a second barrier. */
template <bool second> INLINED void parts_and_meets(const float *a, float *o)
{
    __shared__ float s[128];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1.0f;
        __syncthreads();
        pdl_wait();
        if (second) {
            __syncthreads();
        }
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) + s[threadIdx.x + 1];
    } else {
        s[threadIdx.x] = 2.0f;
        __syncthreads();
        float x = s[threadIdx.x - 1];
        if (second) {
            __syncthreads();
        }
        o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x) + x;
    }
}
BUG(parts_and_meets, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { parts_and_meets<false>(a, o); }
OK(parts_and_meets)(const float *a, float *o) { parts_and_meets<true>(a, o); }
