/* State machines: a variable that a loop sets to numbers in turn decides in which turn the kernel waits. */
#include "corpus.h"

/* a switch in a loop; the bug loads one state too early */
template <bool early> INLINED void switched(const float *a, float *o, int n)
{
    int state = 0;
    float v = 0.0f;
    while (state != 3) {
        switch (state) {
        case 0:
            if (early) {
                v = *(const volatile float *)(a + 1);
            }
            state = 1;
            break;
        case 1:
            pdl_wait();
            v += a[threadIdx.x];
            state = 2;
            break;
        default:
            o[threadIdx.x] = v;
            state = --n > 0 ? 2 : 3;
            break;
        }
    }
}
BUG(switched, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n) { switched<true>(a, o, n); }
OK(switched)(const float *a, float *o, int n) { switched<false>(a, o, n); }

/* enumerators in a struct, asked for with ifs; the machine goes back to an earlier state */
enum phase { PREPARES, WAITS, LOADS, STORES, ENDS };
struct machine {
    phase now;
    int left;
    float sum;
    __device__ void go(phase next) { now = next; }
};
template <phase second> INLINED void enumerated(const float *a, float *o, int n)
{
    machine m = {PREPARES, n, (float)threadIdx.x};
    for (;;) {
        if (m.now == PREPARES) {
            m.sum *= 2.0f;
            m.go(second);
        } else if (m.now == WAITS) {
            pdl_wait();
            m.go(second == WAITS ? LOADS : STORES);
        } else if (m.now == LOADS) {
            m.sum += *(const volatile float *)(a + m.left * 32 + threadIdx.x);
            m.go(--m.left > 0 ? LOADS : second == WAITS ? STORES : WAITS);
        } else if (m.now == STORES) {
            o[threadIdx.x] = m.sum;
            m.go(ENDS);
        } else {
            break;
        }
    }
}
BUG(enumerated, "read-before-wait|path-without-wait")(const float *a, float *o, int n) { enumerated<LOADS>(a, o, n); }
OK(enumerated)(const float *a, float *o, int n) { enumerated<WAITS>(a, o, n); }

/* a persistent kernel: shared memory is cleared in one phase, the wait comes ahead of the next; each ends at a barrier */
template <int waits_in> INLINED void phased(const float *a, float *o, int tiles)
{
    __shared__ float s[128];
    int phase = 0;
    for (int t = (int)blockIdx.x; t < tiles;) {
        if (phase == 0) {
            s[threadIdx.x] = 0.0f;
        }
        if (phase == waits_in) {
            pdl_wait();
        }
        __syncthreads();
        if (phase > 0) {
            o[t * 128 + threadIdx.x] = s[threadIdx.x ^ 1] + *(const volatile float *)(a + t * 128 + threadIdx.x);
            t += (int)gridDim.x;
        }
        if (phase < 3) {
            phase++;
        }
    }
}
BUG(phased, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int tiles)
{
    phased<2>(a, o, tiles);
}
OK(phased)(const float *a, float *o, int tiles) { phased<1>(a, o, tiles); }

/* ping-pong: two buffers in turn, and nothing of global memory before the second has been filled */
template <bool early> INLINED void ping_pong(const float *a, float *o, int tiles)
{
    __shared__ float s[2][128];
    int phase = 0;
    bool waited = false;
    for (int t = 0; t < tiles; t++) {
        s[phase][threadIdx.x] = (float)t;
        if (phase == 1 && !waited) {
            pdl_wait();
            waited = true;
        }
        if (waited || early) {
            o[t * 128 + threadIdx.x] = s[phase][threadIdx.x] + *(const volatile float *)(a + t);
        }
        phase ^= 1;
    }
}
BUG(ping_pong, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int tiles)
{
    ping_pong<true>(a, o, tiles);
}
OK(ping_pong)(const float *a, float *o, int tiles) { ping_pong<false>(a, o, tiles); }

/* the wait in the fourth turn of a counted loop, that neither is unrolled nor ends before it */
template <int first> INLINED void fourth_turn(const float *a, float *o, int n)
{
    float v = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 4 || i < n; i++) {
        if (i == 3) {
            pdl_wait();
        }
        if (i >= first) {
            v += *(const volatile float *)(a + i * 32 + threadIdx.x);
        }
    }
    o[threadIdx.x] = v;
}
BUG(fourth_turn, "read-before-wait|path-without-wait")(const float *a, float *o, int n) { fourth_turn<2>(a, o, n); }
OK(fourth_turn)(const float *a, float *o, int n) { fourth_turn<3>(a, o, n); }

/* one warp waits in one state, all meet in the next; the bug leaves the barrier out */
template <bool meets> INLINED void machine_of_block(const float *a, float *o, int n)
{
    int state = 0;
    while (state < 3) {
        if (state == 0) {
            if (threadIdx.x < 32) {
                pdl_wait();
            }
            state = 1;
        } else if (state == 1) {
            if (meets) {
                __syncthreads();
            }
            state = 2;
        } else {
            o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x + n);
            state = --n > 0 ? 2 : 3;
        }
    }
}
BUG(machine_of_block, "partial-wait|path-without-wait")(const float *a, float *o, int n) { machine_of_block<false>(a, o, n); }
OK(machine_of_block)(const float *a, float *o, int n) { machine_of_block<true>(a, o, n); }

/* a called function says which state comes next */
CALLED int following(int state, int left)
{
    __nanosleep(20);
    return state < 2 ? state + 1 : left > 0 ? 2 : 3;
}
template <int waits_in> INLINED void stepped(const float *a, float *o, int n)
{
    for (int state = 0; state != 3; state = following(state, --n)) {
        if (state == waits_in) {
            pdl_wait();
        }
        if (state == 2) {
            o[n * 32 + threadIdx.x] = *(const volatile float *)(a + n * 32 + threadIdx.x);
        }
    }
}
BUG(stepped, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    stepped<4>(a, o, n);
    pdl_wait();
    o[0] = a[0];
}
OK(stepped)(const float *a, float *o, int n)
{
    stepped<1>(a, o, n);
}

/* more states than are kept apart: the bug is still found */
BUG(many_states, "read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    float v = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 40 + n; i++) {
        if (i == 39) {
            pdl_wait();
        }
        if (i >= 30) {
            v += *(const volatile float *)(a + i * 32 + threadIdx.x);
        }
    }
    o[threadIdx.x] = v;
}

/* pointers in an array that a loop fills and reads, in debug code on the stack */
struct slice {
    const float *from;
    int elements;
};
template <bool early> INLINED void slices(const float *a, const float *b, float *o, int n)
{
    slice list[4];
    float *own[2] = {o, o + n};
    float v = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        list[i].elements = i * n; /* the pointers behind must stay what they are */
        list[i].from = i & 1 ? a : b;
    }
    if (early) {
        v = *(const volatile float *)list[n & 3].from;
    }
    pdl_wait();
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        v += *(const volatile float *)(list[i].from + list[i].elements);
    }
    own[n & 1][threadIdx.x] = v;
}
BUG(slices, "read-before-wait")(const float *a, const float *b, float *o, int n) { slices<true>(a, b, o, n); }
OK(slices)(const float *a, const float *b, float *o, int n) { slices<false>(a, b, o, n); }

/* numbers in an array on the stack ahead of the wait, beside a pointer to shared memory */
template <bool early> INLINED void running_sums(const float *a, float *o, int n)
{
    __shared__ float s[128];
    float partial[6], *mine = s + threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 6; i++) {
        partial[i] = (float)(i + n);
    }
#pragma unroll 1
    for (int i = 1; i < 6; i++) {
        partial[i] += partial[i - 1];
    }
    *mine = partial[5];
    if (early) {
        mine = o + threadIdx.x;
    }
    *mine += partial[n % 6];
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x] + a[threadIdx.x];
}
BUG(running_sums, "read-before-wait|write-before-wait")(const float *a, float *o, int n) { running_sums<true>(a, o, n); }
OK(running_sums)(const float *a, float *o, int n) { running_sums<false>(a, o, n); }

/* a called function of debug code keeps pointers in an aligned frame of its own, below that of its caller */
CALLED int compared(const float *p, int n)
{
    alignas(16) const float *volatile list[4] = {p, p + n, p, p + 2 * n};
    return n + (list[0] == list[1 + (n & 1)]);
}
BUG(aligned_frames, "write-before-wait")(const float *a, float *o, int n)
{
    __shared__ float s[128];
    float *volatile mine = o + threadIdx.x;
    n += compared(a, n);
    *mine = (float)n;
    pdl_wait();
    o[threadIdx.x] = s[threadIdx.x] + a[n];
}
OK(aligned_frames)(const float *a, float *o, int n)
{
    __shared__ float s[128];
    float *volatile mine = s + threadIdx.x;
    n += compared(a, n);
    *mine = (float)n;
    pdl_wait();
    o[threadIdx.x] = *mine + a[n];
}

/* wait and barrier in a called function, which asks itself which thread it is */
CALLED void one_warp_waits(void)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    __syncthreads();
}
CALLED void one_warp_passes(void)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
    }
}
CALLED int this_thread(void)
{
    __nanosleep(20);
    return (int)threadIdx.x;
}
CALLED bool leads(int thread)
{
    __nanosleep(20);
    return thread < 32;
}
BUG(waits_inside, "partial-wait")(const float *a, float *o)
{
    one_warp_passes();
    o[this_thread()] = a[this_thread()];
}
OK(waits_inside)(const float *a, float *o)
{
    one_warp_waits();
    o[this_thread()] = a[this_thread()];
}
BUG(asks_inside, "partial-wait|path-without-wait")(const float *a, float *o)
{
    if (leads(this_thread())) {
        pdl_wait();
    }
    __syncwarp();
    o[this_thread()] = a[this_thread()];
}
OK(asks_inside)(const float *a, float *o)
{
    if (leads(this_thread())) {
        pdl_wait();
    }
    __syncthreads();
    o[this_thread()] = a[this_thread()];
}
