/* The first turn of a persistent loop waits: every form in which code says "first". */
#include "corpus.h"

#define TILES(t) for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x)
#define COPY(t) o[t * 128 + threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x)

BUG(turn_by_tile, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    TILES(t) {
        if (t == (int)(blockIdx.x + gridDim.x)) {
            pdl_wait();
        }
        COPY(t);
    }
}
OK(turn_by_tile)(const float *a, float *o, int tiles)
{
    TILES(t) {
        if (t == (int)blockIdx.x) {
            pdl_wait();
        }
        COPY(t);
    }
}

OK(turn_by_flag)(const float *a, float *o, int tiles)
{
    bool first = true;
    TILES(t) {
        if (first) {
            pdl_wait();
            first = false;
        }
        COPY(t);
    }
}
BUG(turn_by_flag, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    bool first = false;
    TILES(t) {
        if (first) {
            pdl_wait();
        }
        first = true;
        COPY(t);
    }
}

OK(turn_by_count)(const float *a, float *o, int tiles)
{
    int turn = 0;
    TILES(t) {
        if (turn == 0) {
            pdl_wait();
        }
        COPY(t);
        ++turn;
    }
}
BUG(turn_by_count, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    int turn = 0;
    TILES(t) {
        COPY(t);
        if (turn == 0) {
            pdl_wait();
        }
        ++turn;
    }
}

OK(turn_by_pointer)(const float *a, float *o, int tiles)
{
    const float *from = a + blockIdx.x * 128, *begin = from;
    TILES(t) {
        if (from == begin) {
            pdl_wait();
        }
        o[t * 128 + threadIdx.x] = *(const volatile float *)(from + threadIdx.x);
        from += gridDim.x * 128;
    }
}
BUG(turn_by_pointer, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    const float *from = a + blockIdx.x * 128, *begin = from;
    TILES(t) {
        if (from != begin) {
            pdl_wait();
        }
        o[t * 128 + threadIdx.x] = *(const volatile float *)(from + threadIdx.x);
        from += gridDim.x * 128;
    }
}

/* The counter wraps at the number of stages: the phase says whether it is the first round. */
OK(turn_by_stage)(const float *a, float *o, int tiles)
{
    __shared__ float s[4][128];
    int stage = 0, round = 0;
    TILES(t) {
        if (round == 0 && stage == 0) {
            pdl_wait();
        }
        s[stage][threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
        __syncthreads();
        o[t * 128 + threadIdx.x] = s[stage][127 - threadIdx.x];
        if (++stage == 4) {
            stage = 0;
            round++;
        }
    }
}
BUG(turn_by_stage, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    __shared__ float s[4][128];
    int stage = 0, round = 0;
    TILES(t) {
        if (round == 0 && stage == 1) {
            pdl_wait();
        }
        s[stage][threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
        __syncthreads();
        o[t * 128 + threadIdx.x] = s[stage][127 - threadIdx.x];
        if (++stage == 4) {
            stage = 0;
            round++;
        }
    }
}

/* The producer warp waits with its first tile; an inner loop stands around the wait. */
OK(turn_in_inner_loop)(const float *a, float *o, int tiles, int k)
{
    TILES(t) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            if (t == (int)blockIdx.x && i == 0) {
                pdl_wait();
            }
            sum += *(const volatile float *)(a + (t * k + i) * 128 + threadIdx.x);
        }
        if (k > 0) {
            o[t * 128 + threadIdx.x] = sum;
        }
    }
}
BUG(turn_in_inner_loop, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles, int k)
{
    TILES(t) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            if (t == (int)blockIdx.x && i == 1) {
                pdl_wait();
            }
            sum += *(const volatile float *)(a + (t * k + i) * 128 + threadIdx.x);
        }
        if (k > 0) {
            o[t * 128 + threadIdx.x] = sum;
        }
    }
}

/* Counts down, and asks for the number of turns that are left. */
OK(turn_by_rest)(const float *a, float *o, int turns)
{
    int t = (int)blockIdx.x;
    for (int left = turns; left > 0; left--) {
        if (left == turns) {
            pdl_wait();
        }
        COPY(t);
        t += (int)gridDim.x;
    }
}
BUG(turn_by_rest, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int turns)
{
    int t = (int)blockIdx.x;
    for (int left = turns; left > 0; left--) {
        if (left == 1) {
            pdl_wait();
        }
        COPY(t);
        t += (int)gridDim.x;
    }
}

/* The flag stands in a struct, as schedulers of libraries have it. */
struct tile_state {
    int tile, step, last;
    bool first;
    __device__ void advance() { tile += step; first = false; }
    __device__ bool valid() const { return tile < last; }
};
OK(turn_in_struct)(const float *a, float *o, int tiles)
{
    for (tile_state s = {(int)blockIdx.x, (int)gridDim.x, tiles, true}; s.valid(); s.advance()) {
        if (s.first) {
            pdl_wait();
        }
        COPY(s.tile);
    }
}
BUG(turn_in_struct, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    for (tile_state s = {(int)blockIdx.x, (int)gridDim.x, tiles, true}; s.valid(); s.advance()) {
        COPY(s.tile);
        if (s.first) {
            pdl_wait();
        }
    }
}

/* do ... while, and the wait in the middle */
OK(turn_in_middle)(const float *a, float *o, int n)
{
    int t = 0;
    float x = 0.0f;
    do {
        x += sqrtf((float)t);
        if (t == 0) {
            pdl_wait();
        }
        x += *(const volatile float *)(a + t * 128 + threadIdx.x);
    } while (++t < n);
    o[threadIdx.x] = x;
}
BUG(turn_in_middle, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int n)
{
    int t = 0;
    float x = 0.0f;
    do {
        x += *(const volatile float *)(a + t * 128 + threadIdx.x);
        if (t == 0) {
            pdl_wait();
        }
    } while (++t < n);
    o[threadIdx.x] = x;
}

/* do ... while with an unsigned count, and the wait in its first turn. */
template <unsigned at_turn> INLINED void counted_unsigned(const float *a, float *o, unsigned n)
{
    unsigned t = 0;
    float x = 0.0f;
    do {
        if (t == at_turn) { pdl_wait(); }
        x += *(const volatile float *)(a + t * 128 + threadIdx.x);
    } while (++t < n);
    o[threadIdx.x] = x;
}
BUG(turn_unsigned, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, unsigned n) { counted_unsigned<1>(a, o, n); }
OK(turn_unsigned)(const float *a, float *o, unsigned n) { counted_unsigned<0>(a, o, n); }

/* At least two turns, counted down from the larger of two numbers. */
template <int first> INLINED void at_least_two(const float *a, float *o, int n)
{
    const int turns = n < 2 ? 2 : n;
    float x = 0.0f;
#pragma unroll 1
    for (int t = 0; t < turns; t++) {
        if (t == first) { pdl_wait(); }
        if (t >= first) { x += *(const volatile float *)(a + t * 128 + threadIdx.x); }
    }
    o[threadIdx.x] = x;
}
BUG(turn_of_two, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { at_least_two<2>(a, o, n); }
OK(turn_of_two)(const float *a, float *o, int n) { at_least_two<1>(a, o, n); }

/* Threads below the smaller of two numbers are below either. */
template <bool below> INLINED void few_threads(const float *a, float *o, int n)
{
    const int some = n < 64 ? n : 64;
    if (threadIdx.x < 64u) { pdl_wait(); }
    if (below ? (int)threadIdx.x < some : (int)threadIdx.x <= 64) { o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x); }
}
BUG(few_threads, "partial-wait|path-without-wait")(const float *a, float *o, int n) { few_threads<false>(a, o, n); }
OK(few_threads)(const float *a, float *o, int n) { few_threads<true>(a, o, n); }

/* Tiles of this block, counted down from a quotient; the compiler takes turns out of the loop. */
template <bool last> INLINED void counted_down(const float *a, float *o, int tiles)
{
    int left = (tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x, t = (int)blockIdx.x;
    const int total = left;
    while (left > 0) {
        if (last ? left == 1 && total > 1 : left == total) { pdl_wait(); }
        o[t * 128 + threadIdx.x] = a[t * 128 + threadIdx.x];
        left--;
        t += (int)gridDim.x;
    }
}
BUG(counted_down, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int tiles) { counted_down<true>(a, o, tiles); }
OK(counted_down)(const float *a, float *o, int tiles) { counted_down<false>(a, o, tiles); }
