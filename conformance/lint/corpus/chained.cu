/* Kernels of a declared chain: each waits, and before it triggers, so they may read early what the kernel before the last one wrote.
 * judge_corpus.py declares the chain for all kernels named chained, and that the kernel just before writes parameter 2. */
#include "corpus.h"

BUG(chained_trigger_first, "trigger-before-wait")(const float *old, const float *fresh, float *o)
{
    float v = old[threadIdx.x];
    pdl_trigger();
    pdl_wait();
    o[threadIdx.x] = v + pdl_fresh(fresh)[threadIdx.x];
}
OK(chained_trigger_first)(const float *old, const float *fresh, float *o)
{
    float v = old[threadIdx.x];
    pdl_wait();
    pdl_trigger();
    o[threadIdx.x] = v + pdl_fresh(fresh)[threadIdx.x];
}

/* One lane triggers for the block; that is enough for the next grid to start. */
template <bool early> INLINED void one_lane(const float *old, const float *fresh, float *o)
{
    float v = old[threadIdx.x];
    if (early && threadIdx.x == 0) {
        pdl_trigger();
    }
    pdl_wait();
    if (!early && threadIdx.x == 0) {
        pdl_trigger();
    }
    o[threadIdx.x] = v + pdl_fresh(fresh)[threadIdx.x];
}
BUG(chained_one_lane, "trigger-before-wait")(const float *old, const float *fresh, float *o) { one_lane<true>(old, fresh, o); }
OK(chained_one_lane)(const float *old, const float *fresh, float *o) { one_lane<false>(old, fresh, o); }

/* A warp without a wait triggers: before, or after it meets the one that waits. */
template <bool early> INLINED void other_warp(const float *fresh, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    } else if (early) {
        pdl_trigger();
    }
    __syncthreads();
    if (!early && threadIdx.x == 32) {
        pdl_trigger();
    }
    o[threadIdx.x] = pdl_fresh(fresh)[threadIdx.x];
}
BUG(chained_other_warp, "trigger-before-wait")(const float *, const float *fresh, float *o) { other_warp<true>(fresh, o); }
OK(chained_other_warp)(const float *, const float *fresh, float *o) { other_warp<false>(fresh, o); }

/* The kernel just before stores its flag early and triggers late: an early read of it is right by luck only. */
BUG(chained_flag, "read-before-wait")(const int *old, const int *flag, float *o)
{
    int skip = *(const volatile int *)flag + old[0];
    pdl_wait();
    pdl_trigger();
    if (!skip) {
        o[threadIdx.x] = 1.0f;
    }
}
OK(chained_flag)(const int *old, const int *flag, float *o)
{
    int skip = old[0];
    pdl_wait();
    pdl_trigger();
    skip += *(const volatile int *)flag;
    if (!skip) {
        o[threadIdx.x] = 1.0f;
    }
}

BUG(chained_store, "write-before-wait")(const float *old, const float *, float *o, int *flag)
{
    flag[blockIdx.x] = (int)old[0];
    pdl_wait();
    pdl_trigger();
    o[threadIdx.x] = old[threadIdx.x];
}
OK(chained_store)(const float *old, const float *, float *o, int *flag)
{
    float v = old[threadIdx.x];
    pdl_wait();
    flag[blockIdx.x] = (int)old[0];
    pdl_trigger();
    o[threadIdx.x] = v;
}

/* A link that has nothing to do ends at once, and with it the order of the kernels around it. */
template <bool at_once> INLINED void nothing_to_do(const int *old, const float *fresh, float *o)
{
    if (at_once && *old == 0) {
        return;
    }
    pdl_wait();
    pdl_trigger();
    if (*old != 0) {
        o[threadIdx.x] = pdl_fresh(fresh)[threadIdx.x];
    }
}
BUG(chained_ends, "chain-without-wait")(const int *old, const float *fresh, float *o) { nothing_to_do<true>(old, fresh, o); }
OK(chained_ends)(const int *old, const float *fresh, float *o) { nothing_to_do<false>(old, fresh, o); }

/* Threads past the end may leave: the others of their block, or other blocks, wait. */
BUG(chained_tail, "chain-without-wait|no-wait")(const int *old, const float *, float *o)
{
    if (old[0] != 0) {
        o[threadIdx.x] = 1.0f;
    }
}
OK(chained_tail)(const int *old, const float *fresh, float *o, int n)
{
    int i = global_index();
    if (i >= n) {
        return;
    }
    pdl_wait();
    pdl_trigger();
    o[i] = (float)old[i] + pdl_fresh(fresh)[i];
}

/* The condition is the same for all threads of a block and decided by a loaded word, in part by the thread. */
template <bool apart> INLINED void mixed(const int *old, const float *fresh, float *o, int n)
{
    int i = global_index();
    if ((!apart && *old == 0) || i >= n) {
        return;
    }
    pdl_wait();
    pdl_trigger();
    if (*old != 0) {
        o[i] = pdl_fresh(fresh)[i];
    }
}
BUG(chained_mixed, "chain-without-wait")(const int *old, const float *fresh, float *o, int n) { mixed<false>(old, fresh, o, n); }
OK(chained_mixed)(const int *old, const float *fresh, float *o, int n) { mixed<true>(old, fresh, o, n); }
