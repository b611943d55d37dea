/* Votes of a warp: who is elected, whether any lane has work, whether all have. */
#include "corpus.h"

/* The elected lane waits and reads; what was voted on stays what it was. */
template <bool all> INLINED void elected_lane(const float *a, float *o)
{
    unsigned mine;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(mine));
    if (mine) {
        pdl_wait();
    }
    float v = 0.0f;
    if (all || mine) {
        v = ((const volatile float *)a)[threadIdx.x / 32];
    }
    v = __shfl_sync(~0u, v, __ffs((int)__ballot_sync(~0u, mine)) - 1);
    if (mine) {
        o[threadIdx.x / 32] = v;
    }
}
BUG(vote_elected, "partial-wait|path-without-wait")(const float *a, float *o) { elected_lane<true>(a, o); }
OK(vote_elected)(const float *a, float *o) { elected_lane<false>(a, o); }

/* The warp waits if any lane has work, or only if all have. */
template <bool all> INLINED void waits_for_work(const float *a, float *o, int n)
{
    const int i = global_index();
    const bool work = i < n;
    if (all ? __all_sync(~0u, work) : __any_sync(~0u, work)) {
        pdl_wait();
    }
    if (work) {
        o[i] = a[i];
    }
}
BUG(vote_any, "path-without-wait|partial-wait|read-before-wait|write-before-wait")(const float *a, float *o, int n) { waits_for_work<true>(a, o, n); }
OK(vote_any)(const float *a, float *o, int n) { waits_for_work<false>(a, o, n); }

/* A full warp waits; only in a full warp is anything stored. */
template <bool full> INLINED void full_warps(float *o, int n)
{
    const int i = global_index();
    const bool work = i < n, all = __all_sync(~0u, work);
    if (work && all) {
        pdl_wait();
    }
    if (full ? all : work) {
        o[i] = 1.0f;
    }
}
BUG(vote_all, "path-without-wait|partial-wait|write-before-wait")(float *o, int n) { full_warps<false>(o, n); }
OK(vote_all)(float *o, int n) { full_warps<true>(o, n); }
