/* The first turn of a persistent loop in further forms, loops that may have no turn, and conditions used twice with a loop between. */
#include "corpus.h"

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }

/* tile < gridDim.x holds in the first turn only, and there always. */
template <bool less> INLINED void below_the_grid(const float *a, float *o, unsigned tiles)
{
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (less ? tile < gridDim.x : tile >= gridDim.x) {
            pdl_wait();
        }
        o[tile * 128 + threadIdx.x] = read_now(a, (int)(tile * 128 + threadIdx.x));
    }
}
BUG(first_below_grid, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, unsigned tiles) { below_the_grid<false>(a, o, tiles); }
OK(first_below_grid)(const float *a, float *o, unsigned tiles) { below_the_grid<true>(a, o, tiles); }

/* A bit remembers that this thread waited. */
template <bool set> INLINED void remembered_bit(const float *a, float *o, int n)
{
    unsigned bits = set ? 0u : 1u;
    for (int i = (int)blockIdx.x; i < n; i += (int)gridDim.x) {
        if ((bits & 1u) == 0u) {
            pdl_wait();
            bits |= 1u;
        }
        bits += 2u;
        o[i] = read_now(a, i) + (float)bits;
    }
}
BUG(first_by_bit, "path-without-wait|read-before-wait|partial-wait|write-before-wait|no-wait")(const float *a, float *o, int n) { remembered_bit<false>(a, o, n); }
OK(first_by_bit)(const float *a, float *o, int n) { remembered_bit<true>(a, o, n); }

/* Counted from minus one. */
template <int first> INLINED void counted_up(const float *a, float *o, int n)
{
    int turn = -1;
    int i = (int)blockIdx.x;
    while (i < n) {
        if (++turn == first) {
            pdl_wait();
        }
        o[i] = read_now(a, i);
        i += (int)gridDim.x;
    }
}
BUG(first_counted, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { counted_up<1>(a, o, n); }
OK(first_counted)(const float *a, float *o, int n) { counted_up<0>(a, o, n); }

/* The last tile comes first. */
template <int at> INLINED void downwards(const float *a, float *o, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (i == n - 1 - at) {
            pdl_wait();
        }
        o[i * 64 + (int)threadIdx.x] = read_now(a, i);
    }
}
BUG(first_from_the_end, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { downwards<1>(a, o, n); }
OK(first_from_the_end)(const float *a, float *o, int n) { downwards<0>(a, o, n); }

/* Stage and phase: the first time both are zero. */
template <int at> INLINED void stage_and_phase(const float *a, float *o, int n)
{
    int stage = 0, phase = 0;
    for (int i = 0; i < n; i++) {
        if (stage == at && phase == 0) {
            pdl_wait();
        }
        o[i * 64 + (int)threadIdx.x] = read_now(a, i);
        if (++stage == 4) {
            stage = 0;
            phase ^= 1;
        }
    }
}
BUG(first_stage, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { stage_and_phase<2>(a, o, n); }
OK(first_stage)(const float *a, float *o, int n) { stage_and_phase<0>(a, o, n); }

/* In the inner loop of the first tile. */
template <int at> INLINED void first_of_both(const float *a, float *o, int tiles, int k)
{
    for (int tile = (int)blockIdx.x; tile < tiles; tile += (int)gridDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            if (tile == (int)blockIdx.x && i == at) {
                pdl_wait();
            }
            sum += read_now(a, tile * k + i);
        }
        if (k > 0) {
            o[tile] = sum;
        }
    }
}
BUG(first_of_both, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int tiles, int k) { first_of_both<1>(a, o, tiles, k); }
OK(first_of_both)(const float *a, float *o, int tiles, int k) { first_of_both<0>(a, o, tiles, k); }

/* The first element of a range that starts at a parameter. */
template <int at> INLINED void from_parameter(const float *a, float *o, int begin, int end, int step)
{
    for (int i = begin; i < end; i += step) {
        if (i == begin + at) {
            pdl_wait();
        }
        o[i * 64 + (int)threadIdx.x] = read_now(a, i);
    }
}
BUG(first_from_parameter, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int begin, int end, int step) { from_parameter<1>(a, o, begin, end, step); }
OK(first_from_parameter)(const float *a, float *o, int begin, int end, int step) { from_parameter<0>(a, o, begin, end, step); }

/* A loop with 64-bit counts. */
template <bool first> INLINED void wide_count(const float *a, float *o, unsigned long long n)
{
    const unsigned long long begin = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x, step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = begin; i < n; i += step) {
        if (first ? i == begin : i != begin) {
            pdl_wait();
        }
        o[i] = ((const volatile float *)a)[i];
    }
}
BUG(first_wide, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, unsigned long long n) { wide_count<false>(a, o, n); }
OK(first_wide)(const float *a, float *o, unsigned long long n) { wide_count<true>(a, o, n); }

/* The wait in the loop; what is read after it needs at least one turn. */
template <bool asked> INLINED void after_the_loop(const float *a, float *o, int n)
{
    float x = 0.0f;
    for (int i = 0; i < n; i++) {
        if (i == 0) {
            pdl_wait();
        }
        x += read_now(a, i);
    }
    if (!asked || n > 0) {
        o[global_index()] = x;
    }
}
BUG(first_of_none, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { after_the_loop<false>(a, o, n); }
OK(first_of_none)(const float *a, float *o, int n) { after_the_loop<true>(a, o, n); }

/* Software pipelining by hand: the load of the first tile is lifted out of the loop, the wait is not. */
template <bool above> INLINED void lifted_load(const float *a, float *o, int n)
{
    if (above) {
        pdl_wait();
    }
    float next = (int)blockIdx.x < n ? read_now(a, (int)blockIdx.x) : 0.0f;
    for (int i = (int)blockIdx.x; i < n; i += (int)gridDim.x) {
        if (!above && i == (int)blockIdx.x) {
            pdl_wait();
        }
        const float x = next;
        const int after = i + (int)gridDim.x;
        if (after < n) {
            next = read_now(a, after);
        }
        o[i] = x;
    }
}
BUG(first_lifted, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n) { lifted_load<false>(a, o, n); }
OK(first_lifted)(const float *a, float *o, int n) { lifted_load<true>(a, o, n); }

/* do and while, with the test of the first turn at the end. */
template <bool start> INLINED void tested_at_the_end(const float *a, float *o, int n)
{
    bool waited = start;
    int i = (int)blockIdx.x;
    if (start) {
        pdl_wait();
    }
    do {
        o[i] = read_now(a, i);
        if (!waited) {
            pdl_wait();
            waited = true;
        }
        i += (int)gridDim.x;
    } while (i < n);
}
BUG(first_at_the_end, "read-before-wait|path-without-wait|write-before-wait|partial-wait")(const float *a, float *o, int n) { tested_at_the_end<false>(a, o, n); }
OK(first_at_the_end)(const float *a, float *o, int n) { tested_at_the_end<true>(a, o, n); }

/* One flag, used twice, with a counted loop between. */
template <bool same> INLINED void loop_in_between(const float *a, float *o, int flag, int n)
{
    __shared__ float s[64];
    if (flag) {
        pdl_wait();
    }
    for (int i = 0; i < n; i++) {
        s[(threadIdx.x + (unsigned)i) % 64] += (float)i;
        __syncthreads();
    }
    if (same ? flag : n) {
        o[global_index()] = read_now(a, global_index()) + s[threadIdx.x % 64];
    }
}
BUG(flag_loop_flag, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int flag, int n) { loop_in_between<false>(a, o, flag, n); }
OK(flag_loop_flag)(const float *a, float *o, int flag, int n) { loop_in_between<true>(a, o, flag, n); }

/* Three flags and three loops. */
template <bool right> INLINED void flags_and_loops(const float *a, const float *b, const float *c, float *o, int f, int g, int h, int n)
{
    float x = 0.0f;
    __shared__ float s[64];
    if (f || g || h) { pdl_wait(); }
    for (int i = 0; i < n; i++) { s[threadIdx.x % 64] += 1.0f; __syncwarp(); }
    if (f) { x += read_now(a, global_index()); }
    for (int i = 0; i < n; i += 2) { s[threadIdx.x % 64] *= 2.0f; __syncwarp(); }
    if (g) { x += read_now(b, global_index()); }
    for (int i = 0; i < n; i += 3) { s[threadIdx.x % 64] -= 3.0f; __syncwarp(); }
    if (right ? h : n > 3) { x += read_now(c, global_index()); }
    if (f && g && h) { o[global_index()] = x + s[threadIdx.x % 64]; }
}
BUG(flags_and_loops, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *b, const float *c, float *o, int f, int g, int h, int n) { flags_and_loops<false>(a, b, c, o, f, g, h, n); }
OK(flags_and_loops)(const float *a, const float *b, const float *c, float *o, int f, int g, int h, int n) { flags_and_loops<true>(a, b, c, o, f, g, h, n); }

/* Bits of a mask say which warps wait, and which read. */
template <unsigned readers> INLINED void mask_of_warps(const float *a, float *o)
{
    const unsigned warp = threadIdx.x / 32;
    if (0x35u >> warp & 1u) {
        pdl_wait();
    }
    if (readers >> warp & 1u) {
        o[global_index()] = read_now(a, global_index());
    }
}
BUG(mask_of_warps, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o) { mask_of_warps<0x37u>(a, o); }
OK(mask_of_warps)(const float *a, float *o) { mask_of_warps<0x31u>(a, o); }

/* A shift that happens under a condition, then a test of the result. */
template <bool right> INLINED void guarded_shift(const float *a, float *o, unsigned mask, int twice)
{
    unsigned bits = mask;
    if (twice) {
        bits <<= 1;
    }
    if (bits & 4u) {
        pdl_wait();
    }
    __syncwarp();
    if ((right ? bits : mask) & 4u) {
        o[global_index()] = read_now(a, global_index());
    }
}
BUG(guarded_shift, "partial-wait|path-without-wait|read-before-wait|write-before-wait")(const float *a, float *o, unsigned mask, int twice) { guarded_shift<false>(a, o, mask, twice); }
OK(guarded_shift)(const float *a, float *o, unsigned mask, int twice) { guarded_shift<true>(a, o, mask, twice); }

/* A 64-bit shift under a condition. */
template <bool right> INLINED void guarded_wide_shift(const float *a, float *o, unsigned long long mask, int by)
{
    unsigned long long bits = mask;
    if (threadIdx.x < 32) {
        bits >>= by;
    }
    const bool wanted = (bits & 1u) != 0;
    if (wanted) {
        pdl_wait();
    }
    if (right ? wanted : (mask & 1u) != 0) {
        o[global_index()] = read_now(a, global_index());
    }
}
BUG(guarded_wide_shift, "partial-wait|path-without-wait|read-before-wait|write-before-wait")(const float *a, float *o, unsigned long long mask, int by) { guarded_wide_shift<false>(a, o, mask, by); }
OK(guarded_wide_shift)(const float *a, float *o, unsigned long long mask, int by) { guarded_wide_shift<true>(a, o, mask, by); }
