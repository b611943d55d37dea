/* Kernels of a language model's decoding step: tables of pages, lengths, scales and experts that the step before wrote. */
#include "corpus.h"
#include <stdint.h>
#include <cuda_bf16.h>

template <typename T> INLINED T seen_now(const T *p) { return *(const volatile T *)p; }

struct sequence { const int *pages; int first, count; };
struct decode_arguments {
    const float *keys[2];
    const int *const *page_tables;
    const int *lengths;
    float *out;
    float scale;
    int heads;
};

/* Blocks without work end after they have looked at a length that the scheduler's kernel wrote. */
template <bool late> INLINED void idle_blocks(const decode_arguments &p)
{
    if (late)
        pdl_wait();
    const int length = seen_now(p.lengths + blockIdx.y);
    if ((int)blockIdx.x * 64 >= length)
        return;
    if (!late)
        pdl_wait();
    p.out[blockIdx.x * 64 + threadIdx.x % 64] = seen_now(p.keys[0] + threadIdx.x) * p.scale;
}
BUG(length_ends_block, "read-before-wait|path-without-wait")(const __grid_constant__ decode_arguments p) { idle_blocks<false>(p); }
OK(length_ends_block)(const __grid_constant__ decode_arguments p) { idle_blocks<true>(p); }

/* One warp resolves pages into shared memory, all use them. */
BUG(pages_in_shared, "read-before-wait|partial-wait")(const __grid_constant__ decode_arguments p)
{
    __shared__ sequence s;
    __shared__ int pages[32];
    const int lane = (int)threadIdx.x & 31;
    if (threadIdx.x == 0)
        s = {p.page_tables[0], (int)blockIdx.x * 4, 32};
    __syncthreads();
    if (threadIdx.x < 32)
        pages[lane] = seen_now(s.pages + s.first + lane);
    pdl_wait();
    __syncthreads();
    p.out[threadIdx.x] = p.keys[1][pages[lane] * 32 + lane];
}
OK(pages_in_shared)(decode_arguments p)
{
    __shared__ sequence s;
    __shared__ int pages[32];
    const int lane = (int)threadIdx.x & 31;
    pdl_wait();
    if (threadIdx.x == 0)
        s = {seen_now(p.page_tables), (int)blockIdx.x * 4, 32};
    __syncthreads();
    if (threadIdx.x < 32)
        pages[lane] = seen_now(s.pages + s.first + lane);
    __syncthreads();
    p.out[threadIdx.x] = p.keys[1][pages[lane] * 32 + lane];
}

/* Row by row: each warp a row; statistics of the first row overlap with the earlier kernel's end. */
template <bool late> INLINED void norm_rows(const float *x, const float *gamma, float *y, int rows, int width)
{
    const int lane = (int)threadIdx.x & 31;
    for (int row = (int)(blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)), turn = 0; row < rows; row += (int)(gridDim.x * (blockDim.x >> 5)), turn++) {
        if (turn == 0 && late)
            pdl_wait();
        float sum = 0.0f;
        for (int i = lane; i < width; i += 32)
            sum += seen_now(x + row * width + i) * seen_now(x + row * width + i);
        for (int m = 16; m; m >>= 1)
            sum += __shfl_xor_sync(~0u, sum, m);
        if (turn == 0 && !late)
            pdl_wait();
        for (int i = lane; i < width; i += 32)
            y[row * width + i] = seen_now(x + row * width + i) * rsqrtf(sum / (float)width) * gamma[i];
    }
}
BUG(norm_statistics, "read-before-wait")(const float *x, const float *gamma, float *y, int rows, int width) { norm_rows<false>(x, gamma, y, rows, width); }
OK(norm_statistics)(const float *x, const float *gamma, float *y, int rows, int width) { norm_rows<true>(x, gamma, y, rows, width); }

/* Experts: a count per expert decides how many tiles a block has; the prefix is made by one warp. */
template <bool all> INLINED void experts(const int *counts, const float *a, float *o)
{
    __shared__ int first[33];
    if (threadIdx.x < 32) {
        if (all)
            pdl_wait();
        int n = seen_now(counts + threadIdx.x), sum = n;
        for (int d = 1; d < 32; d <<= 1) {
            int other = __shfl_up_sync(~0u, sum, d);
            sum += (int)threadIdx.x >= d ? other : 0;
        }
        first[threadIdx.x + 1] = sum;
        if (threadIdx.x == 0)
            first[0] = 0;
    } else {
        pdl_wait();
    }
    __syncthreads();
    int expert = 0;
    while (expert < 31 && first[expert + 1] <= (int)blockIdx.x)
        expert++;
    o[global_index()] = seen_now(a + expert * 32 + threadIdx.x % 32);
}
BUG(expert_prefix, "partial-wait|read-before-wait")(const int *counts, const float *a, float *o) { experts<false>(counts, a, o); }
OK(expert_prefix)(const int *counts, const float *a, float *o) { experts<true>(counts, a, o); }

/* Scores of a row: the maximum over warps goes through shared memory and back by a barrier of half the block. */
template <bool right> INLINED void two_halves(const float *q, const float *k, float *o)
{
    __shared__ float top[8];
    const int warp = (int)threadIdx.x >> 5, half = warp >> 2;
    if (half == 0) {
        if ((threadIdx.x & 127) == 0)
            pdl_wait();
        named_barrier(1, 128);
        top[warp] = seen_now(q + threadIdx.x);
    } else {
        if (right && (threadIdx.x & 127) == 0)
            pdl_wait();
        named_barrier(2, 128);
        top[warp] = seen_now(k + threadIdx.x);
    }
    __syncthreads();
    o[global_index()] = top[warp ^ 4];
}
BUG(halves_with_own_names, "partial-wait|read-before-wait")(const float *q, const float *k, float *o) { two_halves<false>(q, k, o); }
OK(halves_with_own_names)(const float *q, const float *k, float *o) { two_halves<true>(q, k, o); }

/* Quantised: a packed word holds the scale's index; the scale is read ahead of the wait, the value is not. */
BUG(scale_of_group, "read-before-wait")(const uint32_t *packed, const __nv_bfloat16 *scales, float *o, int group)
{
    const int i = global_index();
    const float scale = __bfloat162float(seen_now(scales + i / group));
    pdl_wait();
    const uint32_t word = seen_now(packed + i / 8);
    o[i] = (float)((int)(word >> (i % 8 * 4) & 15u) - 8) * scale;
}
OK(scale_of_group)(const uint32_t *packed, const __nv_bfloat16 *scales, float *o, int group)
{
    const int i = global_index();
    const int where = i / group, shift = i % 8 * 4;
    pdl_wait();
    const uint32_t word = seen_now(packed + i / 8);
    o[i] = (float)((int)(word >> shift & 15u) - 8) * __bfloat162float(seen_now(scales + where));
}

/* The cache is appended to: the slot comes from the position, which is a parameter or lies in memory. */
template <bool from_memory> INLINED void append(const float *k, float *cache, const int *position, int at)
{
    const int slot = from_memory ? seen_now(position) : at;
    float *row = cache + slot * 128;
    pdl_wait();
    row[threadIdx.x] = seen_now(k + threadIdx.x);
}
BUG(cache_slot, "read-before-wait")(const float *k, float *cache, const int *position, int at) { append<true>(k, cache, position, at); }
OK(cache_slot)(const float *k, float *cache, const int *position, int at) { append<false>(k, cache, position, at); }

/* The sampler: one block, the winner found with shared atomics, then a random number drawn from a state in memory. */
template <bool late> INLINED void sampler(const float *logits, uint64_t *state, int *token, int n)
{
    __shared__ unsigned best;
    uint64_t mine = 0;
    if (threadIdx.x == 0) {
        best = 0;
        if (!late)
            mine = atomicAdd((unsigned long long *)state, 1ull);
    }
    pdl_wait();
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        atomicMax(&best, __float_as_uint(fabsf(seen_now(logits + i))));
    __syncthreads();
    if (threadIdx.x == 0) {
        if (late)
            mine = atomicAdd((unsigned long long *)state, 1ull);
        *token = (int)(best ^ (unsigned)mine);
    }
}
BUG(sampler_state, "atomic-before-wait")(const float *logits, uint64_t *state, int *token, int n) { sampler<false>(logits, state, token, n); }
OK(sampler_state)(const float *logits, uint64_t *state, int *token, int n) { sampler<true>(logits, state, token, n); }

/* Partial results of splits: whoever has the last split adds them all. The number of splits is a parameter. */
template <bool late> INLINED void splits(const float *partial, const float *lse, float *o, int count)
{
    __shared__ float weight[16];
    if ((int)threadIdx.x < count) {
        if (late)
            pdl_wait();
        weight[threadIdx.x] = exp2f(seen_now(lse + threadIdx.x));
    }
    pdl_wait();
    __syncthreads();
    float sum = 0.0f;
    for (int s = 0; s < count; s++)
        sum += weight[s] * seen_now(partial + s * 256 + threadIdx.x);
    o[threadIdx.x] = sum;
}
BUG(split_weights, "read-before-wait|partial-wait")(const float *partial, const float *lse, float *o, int count) { splits<false>(partial, lse, o, count); }
OK(split_weights)(const float *partial, const float *lse, float *o, int count) { splits<true>(partial, lse, o, count); }

/* A plane of threads: row 0 waits for the block, by its place in two dimensions. */
template <bool right> INLINED void rows_of_threads(const float *a, float *o)
{
    const int linear = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    if (right ? linear == 0 : linear == 0 && o == nullptr)
        pdl_wait();
    __syncthreads();
    o[linear] = seen_now(a + linear);
}
BUG(linear_zero, "path-without-wait|read-before-wait|partial-wait|write-before-wait")(const float *a, float *o) { rows_of_threads<false>(a, o); }
OK(linear_zero)(const float *a, float *o) { rows_of_threads<true>(a, o); }
