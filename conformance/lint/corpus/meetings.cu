/* Named barriers: arrive and sync, numbers that are used again, numbers that are computed, and chains of them. */
#include "corpus.h"

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED void unaligned_sync(int id, int threads) { asm volatile("barrier.sync %0, %1;" : : "r"(id), "r"(threads) : "memory"); }
INLINED void unaligned_arrive(int id, int threads) { asm volatile("barrier.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory"); }

/* One number, met twice: before the wait and after it. */
template <bool second> INLINED void met_twice(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        named_barrier(1, 64);
        pdl_wait();
        named_barrier(1, 64);
    } else if (threadIdx.x < 64) {
        named_barrier(1, 64);
        if (!second) {
            o[threadIdx.x] = read_now(a, (int)threadIdx.x);
        }
        named_barrier(1, 64);
        if (second) {
            o[threadIdx.x] = read_now(a, (int)threadIdx.x);
        }
    }
}
BUG(meet_before_and_after, "partial-wait")(const float *a, float *o) { met_twice<false>(a, o); }
OK(meet_before_and_after)(const float *a, float *o) { met_twice<true>(a, o); }

/* Met three times, the wait between the second and the third. */
template <int at> INLINED void met_thrice(const float *a, float *o)
{
    if (threadIdx.x < 64) {
        named_barrier(2, 128);
        named_barrier(2, 128);
        pdl_wait();
        named_barrier(2, 128);
    } else {
        float x = 0.0f;
        named_barrier(2, 128);
        if (at == 1) { x = read_now(a, (int)threadIdx.x); }
        named_barrier(2, 128);
        if (at == 2) { x = read_now(a, (int)threadIdx.x); }
        named_barrier(2, 128);
        if (at == 3) { x = read_now(a, (int)threadIdx.x); }
        o[threadIdx.x] = x;
    }
}
BUG(meet_first_of_three, "partial-wait")(const float *a, float *o) { met_thrice<1>(a, o); }
BUG(meet_second_of_three, "partial-wait")(const float *a, float *o) { met_thrice<2>(a, o); }
OK(meet_third_of_three)(const float *a, float *o) { met_thrice<3>(a, o); }

/* Producers arrive after their wait, consumers sync. */
template <bool after> INLINED void arrive_and_sync(const float *a, float *o)
{
    if (threadIdx.x < 128) {
        if (after) { pdl_wait(); }
        named_arrive(3, 256);
        if (!after) { pdl_wait(); }
    } else {
        named_barrier(3, 256);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(meet_arrive_early, "partial-wait|read-before-wait")(const float *a, float *o) { arrive_and_sync<false>(a, o); }
OK(meet_arrive_early)(const float *a, float *o) { arrive_and_sync<true>(a, o); }

/* The forms for warps that are not converged. */
template <bool after> INLINED void unaligned(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        if (after) { pdl_wait(); }
        unaligned_arrive(4, 96);
        if (!after) { pdl_wait(); }
    } else {
        unaligned_sync(4, 96);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(meet_unaligned, "partial-wait|read-before-wait")(const float *a, float *o) { unaligned<false>(a, o); }
OK(meet_unaligned)(const float *a, float *o) { unaligned<true>(a, o); }

/* Three groups: A waits, tells B, which tells C. */
template <bool in_order> INLINED void relay(const float *a, float *o)
{
    const int group = (int)threadIdx.x / 64;
    if (group == 0) {
        pdl_wait();
        named_arrive(1, 128);
    } else if (group == 1) {
        if (in_order) {
            named_barrier(1, 128);
            named_arrive(2, 128);
        } else {
            named_arrive(2, 128);
            named_barrier(1, 128);
        }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    } else {
        named_barrier(2, 128);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(meet_in_a_relay, "partial-wait|read-before-wait")(const float *a, float *o) { relay<false>(a, o); }
OK(meet_in_a_relay)(const float *a, float *o) { relay<true>(a, o); }

/* The number is computed from the warp group: each group meets itself only. */
template <bool everywhere> INLINED void own_number(const float *a, float *o)
{
    const int group = (int)threadIdx.x / 128;
    if (threadIdx.x % 128 < 32 && (everywhere || group == 0)) {
        pdl_wait();
    }
    if (group == 0) {
        named_barrier(1, 128);
    } else {
        named_barrier(2, 128);
    }
    o[threadIdx.x] = read_now(a, (int)threadIdx.x);
}
BUG(meet_own_group, "partial-wait|read-before-wait")(const float *a, float *o) { own_number<false>(a, o); }
OK(meet_own_group)(const float *a, float *o) { own_number<true>(a, o); }

/* The producer arrives in each turn; its wait stands ahead of the loop. */
template <bool ahead> INLINED void turn_by_turn(const float *a, float *o, int n)
{
    if (threadIdx.x < 32) {
        if (ahead) { pdl_wait(); }
        for (int i = 0; i < n; i++) {
            named_arrive(5, 64);
            named_barrier(6, 64);
        }
        if (!ahead) { pdl_wait(); }
    } else {
        for (int i = 0; i < n; i++) {
            named_barrier(5, 64);
            o[i * 32 + (int)threadIdx.x] = read_now(a, i);
            named_arrive(6, 64);
        }
    }
}
BUG(meet_each_turn, "partial-wait|write-before-wait|read-before-wait")(const float *a, float *o, int n) { turn_by_turn<false>(a, o, n); }
OK(meet_each_turn)(const float *a, float *o, int n) { turn_by_turn<true>(a, o, n); }

/* A barrier with a vote, of the block and of a number. */
template <bool after> INLINED void vote_of_number(const float *a, float *o)
{
    int any = 0;
    if (threadIdx.x < 64) {
        if (after) { if (threadIdx.x < 32) { pdl_wait(); } }
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbarrier.red.or.pred q, 7, 64, p;\n\tselp.s32 %0, 1, 0, q;\n\t}"
                     : "=r"(any) : "r"((int)threadIdx.x & 1) : "memory");
        if (!after) { if (threadIdx.x < 32) { pdl_wait(); } }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x) + (float)any;
    }
}
BUG(meet_to_vote, "partial-wait|read-before-wait")(const float *a, float *o) { vote_of_number<false>(a, o); }
OK(meet_to_vote)(const float *a, float *o) { vote_of_number<true>(a, o); }

/* A called function meets at a number that it is given. */
CALLED void meet_at(int id) { asm volatile("barrier.sync %0, 128;" : : "r"(id) : "memory"); }
template <bool same> INLINED void called_meeting(const float *a, float *o)
{
    if (threadIdx.x < 64) {
        pdl_wait();
        meet_at(1);
    } else {
        if (same) { meet_at(1); }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
        if (!same) { meet_at(1); }
    }
}
BUG(meet_in_a_call, "partial-wait|read-before-wait")(const float *a, float *o) { called_meeting<false>(a, o); }
OK(meet_in_a_call)(const float *a, float *o) { called_meeting<true>(a, o); }

/* Only warps under a condition of a parameter meet the waiting one. */
template <bool all> INLINED void meets_by_parameter(const float *a, float *o, int deep)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    if (all || deep) {
        __syncthreads();
    }
    o[global_index()] = read_now(a, global_index());
}
BUG(meet_if_told, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int deep) { meets_by_parameter<false>(a, o, deep); }
OK(meet_if_told)(const float *a, float *o, int deep) { meets_by_parameter<true>(a, o, deep); }

/* Reuse by phases: numbers 1 and 2 take turns, as two groups of consumers do. */
template <bool waits_first> INLINED void alternating(const float *a, float *o, int n)
{
    const int group = (int)threadIdx.x / 128;
    if (waits_first) { pdl_wait(); }
    if (group == 1) {
        named_arrive(1, 256);
    }
    for (int i = 0; i < n; i++) {
        named_barrier(1 + group, 256);
        o[i * 256 + (int)threadIdx.x] = read_now(a, i);
        named_arrive(2 - group, 256);
    }
    if (!waits_first) { pdl_wait(); }
}
BUG(meet_alternating, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o, int n) { alternating<false>(a, o, n); }
OK(meet_alternating)(const float *a, float *o, int n) { alternating<true>(a, o, n); }

/* The block's barrier is met before the wait and again after it. */
template <bool second> INLINED void block_twice(const float *a, float *o)
{
    __syncthreads();
    float x = 0.0f;
    if (threadIdx.x >= 32 && !second) { x = read_now(a, (int)threadIdx.x); }
    if (threadIdx.x < 32) { pdl_wait(); }
    __syncthreads();
    if (threadIdx.x >= 32 && second) { x = read_now(a, (int)threadIdx.x); }
    o[threadIdx.x] = x;
}
BUG(meet_block_twice, "partial-wait|read-before-wait")(const float *a, float *o) { block_twice<false>(a, o); }
OK(meet_block_twice)(const float *a, float *o) { block_twice<true>(a, o); }
