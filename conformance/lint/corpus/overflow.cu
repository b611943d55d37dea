/* Counted loops and many conditions between two uses of one predicate: what does not change has to stay known. */
#include "corpus.h"

/* The same predicate guards the wait and, behind a counted loop, the read. */
template <bool same> INLINED void loop_between(const float *a, float *o, int n, int mode)
{
    bool leads = threadIdx.x < 32;
    if (leads) {
        pdl_wait();
    }
    float x = 0.0f;
    for (int i = 0; i < n; i++) {
        x += sqrtf((float)(i + mode));
    }
    if (same ? leads : !leads) {
        x += *(const volatile float *)(a + threadIdx.x);
        o[threadIdx.x] = x;
    }
}
BUG(loop_between, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n, int mode) { loop_between<false>(a, o, n, mode); }
OK(loop_between)(const float *a, float *o, int n, int mode) { loop_between<true>(a, o, n, mode); }

/* A loop over a number that the compiler counts out, with conditions that have nothing to do with the wait. */
template <bool same> INLINED void conditions_between(const float *a, float *o, int n, int p, int q, int r, int s)
{
    __shared__ float t[256];
    bool leads = threadIdx.x < 32;
    if (leads) {
        pdl_wait();
    }
    float x = 0.0f;
    if (p > 3) x += 1.0f, t[threadIdx.x] = x;
    if (q > 4) x += 2.0f, t[threadIdx.x ^ 1] = x;
    if (r > 5) x += 3.0f, t[threadIdx.x ^ 2] = x;
    if (s > 6) x += 4.0f, t[threadIdx.x ^ 3] = x;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        if (p > 3 && i > n) x += t[i];
        if (q > 4 && i < n) x -= t[i + 1];
        if (r > 5) x *= t[i + 2];
        if (s > 6) x += t[i + 3];
        __syncwarp();
    }
    if (p > 3) x += t[5];
    if (q > 4) x += t[6];
    if (r > 5) x += t[7];
    if (s > 6) x += t[8];
    if (same ? leads : !leads) {
        x += *(const volatile float *)(a + threadIdx.x);
        o[threadIdx.x] = x;
    }
}
BUG(conditions_between, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n, int p, int q, int r, int s)
{
    conditions_between<false>(a, o, n, p, q, r, s);
}
OK(conditions_between)(const float *a, float *o, int n, int p, int q, int r, int s) { conditions_between<true>(a, o, n, p, q, r, s); }

/* Many parameters are asked twice, once on each side of the wait. */
template <bool same> INLINED void many_modes(const float *a, float *o, int m)
{
    __shared__ float t[256];
    int warp = (int)threadIdx.x / 32;
    float x = 0.0f;
    if (m & 1) t[threadIdx.x] = 1.0f;
    if (m & 2) t[threadIdx.x ^ 1] = 2.0f;
    if (m & 4) t[threadIdx.x ^ 2] = 3.0f;
    if (m & 8) t[threadIdx.x ^ 4] = 4.0f;
    if (m & 16) t[threadIdx.x ^ 8] = 5.0f;
    if (m & 32) t[threadIdx.x ^ 16] = 6.0f;
    if (warp == 2) {
        pdl_wait();
    }
    __syncwarp();
    if (m & 1) x += t[1];
    if (m & 2) x += t[2];
    if (m & 4) x += t[3];
    if (m & 8) x += t[4];
    if (m & 16) x += t[5];
    if (m & 32) x += t[6];
    if (same ? warp == 2 : warp == 1) {
        o[threadIdx.x] = x + *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(many_modes, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int m) { many_modes<false>(a, o, m); }
OK(many_modes)(const float *a, float *o, int m) { many_modes<true>(a, o, m); }

/* A counted loop with a state per turn between two questions of one role. */
template <bool same> INLINED void turns_between(const float *a, float *o, int n)
{
    __shared__ float t[64];
    int warp = (int)threadIdx.x / 32;
    if (warp == 1) {
        pdl_wait();
    }
    float x = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 40; i++) {
        if (i == n) x += t[0];
        if (i == 2 * n) x += t[1];
        if (i > 3 && i < 9) x += t[i];
        if (i == 17) x *= t[2];
        if (i == 31) x -= t[3];
    }
    if (warp == (same ? 1 : 2)) {
        o[threadIdx.x] = x + *(const volatile float *)(a + threadIdx.x);
    }
}
BUG(turns_between, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int n) { turns_between<false>(a, o, n); }
OK(turns_between)(const float *a, float *o, int n) { turns_between<true>(a, o, n); }

/* Counted loops between the uses of one predicate: so many paths, and what tells waiters from others must stay known. */
template <bool wrong> INLINED void between_loops(const float *a, const float *b, float *o, int n)
{
    __shared__ float s[128], u[128];
    const bool producer = threadIdx.x < 32 && blockIdx.x % 2 == 0;
    for (int i = 0; i < 4; i++) { s[threadIdx.x] = (float)(i * (int)threadIdx.x); }
    if (producer) { pdl_wait(); }
    for (int i = 0; i < n; i++) { u[(threadIdx.x + i) & 127] = (float)i; }
    if (producer) { for (int i = 0; i < n; i++) { s[threadIdx.x] += a[i * 32 + threadIdx.x]; } }
    if (wrong && threadIdx.x < 64) { s[threadIdx.x] += *(const volatile float *)(b + threadIdx.x); }
    for (int i = 0; i < n; i++) { u[(threadIdx.x + i) & 127] += (float)i; }
    if (producer) { o[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x] + u[threadIdx.x]; }
}
BUG(between_loops, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *b, float *o, int n) { between_loops<true>(a, b, o, n); }
OK(between_loops)(const float *a, const float *b, float *o, int n) { between_loops<false>(a, b, o, n); }

/* A predicate of two conditions that differ by thread, used again; and the two asked one after the other. */
template <bool wrong> INLINED void inside(const float *a, float *o, int rows, int columns)
{
    const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
    const bool within = x < columns && y < rows;
    float sum = 0.0f;
    if (within) { pdl_wait(); }
    for (int k = 0; k < 4; k++) {
        if (wrong ? x < columns : within) { sum += *(const volatile float *)(a + y * columns + x + k); }
        __syncwarp();
    }
    if (within) { o[y * columns + x] = sum; }
}
BUG(inside_matrix, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o, int rows, int columns) { inside<true>(a, o, rows, columns); }
OK(inside_matrix)(const float *a, float *o, int rows, int columns) { inside<false>(a, o, rows, columns); }

template <bool wrong> INLINED void one_after_other(float *o, int n)
{
    if (threadIdx.x < 64 && (int)threadIdx.y < n) { pdl_wait(); }
    __syncwarp();
    if (threadIdx.x < 64) {
        __nanosleep(4);
        if (wrong || (int)threadIdx.y < n) { o[threadIdx.x] = 3.0f; }
    }
}
BUG(one_after_other, "partial-wait|path-without-wait|write-before-wait")(float *o, int n) { one_after_other<true>(o, n); }
OK(one_after_other)(float *o, int n) { one_after_other<false>(o, n); }
