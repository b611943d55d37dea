/* Warps with roles: how a warp learns its role (a switch, a chain of ranges, a packed table, a shuffle), and what it does in it. */
#include "corpus.h"

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }

/* Eight roles by switch: loaders wait, one warp reads the scheduler's counter. */
template <bool all> INLINED void eight_roles(const float *a, const int *work, float *o)
{
    __shared__ float s[8];
    switch (threadIdx.x / 32) {
    case 0: pdl_wait(); s[0] = a[0]; break;
    case 1: pdl_wait(); s[1] = a[1] * 2.0f; break;
    case 2: s[2] = 2.0f; break;
    case 3: pdl_wait(); s[3] = a[3] - 1.0f; break;
    case 4: s[4] = (float)clock(); break;
    case 5: if (all) { pdl_wait(); } s[5] = (float)((const volatile int *)work)[blockIdx.x]; break;
    case 6: pdl_wait(); s[6] = a[6] / 3.0f; break;
    default: s[7] = 0.0f; break;
    }
    __syncthreads();
    pdl_wait();
    o[global_index()] = s[threadIdx.x % 8];
}
BUG(role_of_eight, "partial-wait|read-before-wait")(const float *a, const int *work, float *o) { eight_roles<false>(a, work, o); }
OK(role_of_eight)(const float *a, const int *work, float *o) { eight_roles<true>(a, work, o); }

/* The default role reads. */
template <bool all> INLINED void default_role(const float *a, float *o, int mode)
{
    float x = 0.0f;
    switch (mode) {
    case 10: pdl_wait(); x = a[1]; break;
    case 11: pdl_wait(); x = a[2] + 1.0f; break;
    case 12: pdl_wait(); x = a[3] * 2.0f; break;
    case 13: pdl_wait(); x = a[4] / 5.0f; break;
    case 14: pdl_wait(); x = a[5] - 9.0f; break;
    default: if (all) { pdl_wait(); } x = read_now(a, 0); break;
    }
    if (!all) {
        pdl_wait();
    }
    o[global_index()] = x;
}
BUG(role_default, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int mode) { default_role<false>(a, o, mode); }
OK(role_default)(const float *a, float *o, int mode) { default_role<true>(a, o, mode); }

/* Ranges of warps, as hand-written kernels have them. */
template <bool all> INLINED void ranges(const float *a, const float *scale, float *o)
{
    __shared__ float s[256];
    const int warp = (int)threadIdx.x >> 5;
    if (warp < 4) {
        pdl_wait();
        s[threadIdx.x] = read_now(a, global_index());
    } else if (warp == 4) {
        if (all) {
            pdl_wait();
        }
        s[threadIdx.x] = read_now(scale, (int)blockIdx.x);
    } else if (warp < 7) {
        s[threadIdx.x] = 1.0f;
    } else {
        pdl_wait();
        s[threadIdx.x] = read_now(a, 0);
    }
    __syncthreads();
    o[global_index()] = s[255 - threadIdx.x];
}
BUG(role_by_range, "partial-wait|read-before-wait")(const float *a, const float *scale, float *o) { ranges<false>(a, scale, o); }
OK(role_by_range)(const float *a, const float *scale, float *o) { ranges<true>(a, scale, o); }

/* The role stands packed in a constant: four bits for each warp. */
template <bool all> INLINED void packed(const float *a, float *o)
{
    __shared__ float s[256];
    const unsigned role = 0x33210210u >> (threadIdx.x / 32 * 4) & 15u;
    switch (role) {
    case 0: pdl_wait(); s[threadIdx.x] = read_now(a, 7); break;
    case 1: s[threadIdx.x] = 4.0f; break;
    case 2: if (all) { pdl_wait(); } s[threadIdx.x] = read_now(a, (int)threadIdx.x); break;
    default: s[threadIdx.x] = (float)threadIdx.x; break;
    }
    __syncthreads();
    o[global_index()] = s[255 - threadIdx.x];
}
BUG(role_packed, "partial-wait|read-before-wait")(const float *a, float *o) { packed<false>(a, o); }
OK(role_packed)(const float *a, float *o) { packed<true>(a, o); }

/* A role from threadIdx.y. */
template <bool all> INLINED void by_row(const float *a, float *o)
{
    __shared__ float s[4][32];
    if (threadIdx.y == 0) {
        pdl_wait();
        s[0][threadIdx.x] = read_now(a, (int)threadIdx.x);
    } else if (threadIdx.y == 1) {
        if (all) {
            pdl_wait();
        }
        s[1][threadIdx.x] = read_now(a, 32 + (int)threadIdx.x);
    } else {
        s[threadIdx.y][threadIdx.x] = 0.0f;
    }
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = s[3 - threadIdx.y][threadIdx.x];
}
BUG(role_by_row, "partial-wait|read-before-wait")(const float *a, float *o) { by_row<false>(a, o); }
OK(role_by_row)(const float *a, float *o) { by_row<true>(a, o); }

/* Each role loops; the switch stands inside the loop. */
template <bool all> INLINED void role_each_turn(const float *a, float *o, int n)
{
    __shared__ float s[128];
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    if (warp != 3 || all) {
        pdl_wait();
    }
    for (int i = 0; i < n; i++) {
        switch (warp) {
        case 0: s[threadIdx.x] = read_now(a, i); break;
        case 1: s[threadIdx.x] = read_now(a, i + 1) * 2.0f; break;
        case 2: s[threadIdx.x] = read_now(a, i + 2) - 1.0f; break;
        case 3: s[threadIdx.x] = read_now(a, i + 3) + 3.0f; break;
        default: break;
        }
        __syncthreads();
        if (warp == 0) {
            o[i] = s[threadIdx.x + 64];
        }
        __syncthreads();
    }
}
BUG(role_each_turn, "partial-wait|read-before-wait")(const float *a, float *o, int n) { role_each_turn<false>(a, o, n); }
OK(role_each_turn)(const float *a, float *o, int n) { role_each_turn<true>(a, o, n); }

/* Cases that fall through: the waiting case ends in the reading one, and so does another that does not wait. */
template <bool all> INLINED void falling(const float *a, float *o, int stage)
{
    float x = 0.0f;
    switch (stage) {
    case 4: x += 4.0f; /* fall through */
    case 3: x *= 3.0f; pdl_wait(); x += read_now(a, 3); break;
    case 2: x += 2.0f; if (all) { pdl_wait(); } /* fall through */
    case 1: if (all && stage == 1) { pdl_wait(); } x += read_now(a, 1); break;
    case 0: x = 1.0f; break;
    default: return;
    }
    pdl_wait();
    o[global_index()] = x;
}
BUG(role_falls_through, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int stage) { falling<false>(a, o, stage); }
OK(role_falls_through)(const float *a, float *o, int stage) { falling<true>(a, o, stage); }

/* A switch inside a switch. */
template <bool all> INLINED void nested_switch(const float *a, float *o, int mode)
{
    __shared__ float s[128];
    switch (mode) {
    case 0:
        switch (threadIdx.x / 32) {
        case 0: pdl_wait(); s[threadIdx.x] = read_now(a, 1); break;
        case 1: s[threadIdx.x] = 1.0f; break;
        case 2: if (all) { pdl_wait(); } s[threadIdx.x] = read_now(a, 3); break;
        default: s[threadIdx.x] = 7.0f; break;
        }
        break;
    case 1: pdl_wait(); s[threadIdx.x] = read_now(a, 5); break;
    case 2: pdl_wait(); s[threadIdx.x] = read_now(a, 6) * 9.0f; break;
    case 3: s[threadIdx.x] = 0.0f; break;
    default: pdl_wait(); s[threadIdx.x] = read_now(a, 7) / 9.0f; break;
    }
    __syncthreads();
    pdl_wait();
    o[global_index()] = s[127 - threadIdx.x];
}
BUG(role_in_a_mode, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o, int mode) { nested_switch<false>(a, o, mode); }
OK(role_in_a_mode)(const float *a, float *o, int mode) { nested_switch<true>(a, o, mode); }

/* One warp waits and hands on what it read through shared memory; the others read shared memory only. */
template <bool barrier> INLINED void handed_on(const float *a, float *o)
{
    __shared__ float s[32];
    if (threadIdx.x < 32) {
        pdl_wait();
        s[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
    __syncthreads();
    if (barrier || threadIdx.x < 64) {
        o[global_index()] = s[threadIdx.x % 32];
    }
}
OK(role_hands_on)(const float *a, float *o) { handed_on<true>(a, o); }
BUG(role_hands_on, "partial-wait|write-before-wait")(const float *a, float *o)
{
    __shared__ float s[32];
    if (threadIdx.x < 32) {
        pdl_wait();
        s[threadIdx.x] = read_now(a, (int)threadIdx.x);
    } else {
        o[global_index()] = 0.0f; /* cleared by the other warps while the earlier grid may still read it */
    }
    __syncthreads();
    o[global_index()] += s[threadIdx.x % 32];
}

/* The elected thread of the producer warp waits; the other lanes of that warp read. */
template <bool all> INLINED void lanes_of_the_producer(const float *a, float *o)
{
    __shared__ float s[64];
    if (threadIdx.x / 32 == 1) {
        if (all || threadIdx.x % 32 == 0) {
            pdl_wait();
        }
        s[threadIdx.x % 32] = read_now(a, (int)threadIdx.x);
    }
    __syncthreads();
    o[global_index()] = s[threadIdx.x % 32];
}
BUG(role_lanes, "partial-wait|read-before-wait")(const float *a, float *o) { lanes_of_the_producer<false>(a, o); }
OK(role_lanes)(const float *a, float *o) { lanes_of_the_producer<true>(a, o); }

/* States of a machine: each thread goes through load, compute and store. */
template <bool first> INLINED void machine(const float *a, float *o)
{
    enum { begin, load, compute, store, end } state = begin;
    float x = 0.0f;
    while (state != end) {
        switch (state) {
        case begin: if (first) { pdl_wait(); } state = load; break;
        case load: x = read_now(a, global_index()); state = compute; break;
        case compute: if (!first) { pdl_wait(); } x = x * 2.0f + 1.0f; state = store; break;
        default: o[global_index()] = x; state = end; break;
        }
    }
}
BUG(machine_in_steps, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o) { machine<false>(a, o); }
OK(machine_in_steps)(const float *a, float *o) { machine<true>(a, o); }
