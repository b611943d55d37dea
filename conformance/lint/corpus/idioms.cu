/* C++ as users write it around a wait: objects that remember, guards of scopes, helpers with lambdas, dispatch by type and by table. */
#include "corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/utility>
#include <stdint.h>

namespace cg = cooperative_groups;
template <typename T> INLINED T current(const T *p) { return *(const volatile T *)p; }

/* An input that waits when it is first read. */
struct lazy_input {
    const float *data;
    bool ready = false;
    __device__ __forceinline__ float operator[](int i)
    {
        if (!ready) {
            pdl_wait();
            ready = true;
        }
        return current(data + i);
    }
};
template <bool lazily> INLINED void through_object(const float *a, float *o, int n)
{
    lazy_input in{a};
    float sum = 0.0f;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        sum += lazily ? in[i] : current(in.data + i);
    pdl_wait();
    o[global_index()] = sum;
}
BUG(lazy_input, "read-before-wait")(const float *a, float *o, int n) { through_object<false>(a, o, n); }
OK(lazy_input)(const float *a, float *o, int n) { through_object<true>(a, o, n); }

/* Waits when it is made, and may be made too late. */
struct dependency {
    __device__ __forceinline__ explicit dependency(bool wanted) { if (wanted) pdl_wait(); }
    __device__ __forceinline__ ~dependency() { pdl_trigger(); }
};
BUG(scoped_too_late, "read-before-wait|atomic-before-wait")(float *histogram, const int *keys, int n)
{
    __shared__ int mine[64];
    if (threadIdx.x < 64)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        atomicAdd(&mine[current(keys + i) & 63], 1);
    __syncthreads();
    dependency d(true);
    if (threadIdx.x < 64)
        atomicAdd(histogram + threadIdx.x, (float)mine[threadIdx.x]);
}
OK(scoped_in_time)(float *histogram, const int *keys, int n)
{
    __shared__ int mine[64];
    if (threadIdx.x < 64)
        mine[threadIdx.x] = 0;
    __syncthreads();
    dependency d(true);
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        atomicAdd(&mine[current(keys + i) & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(histogram + threadIdx.x, (float)mine[threadIdx.x]);
}

/* A function that is not inlined gets a functor; what that does decides. */
template <typename F> CALLED float apply_to(const float *p, int i, F f) { return f(p, i) * 3.0f; }
template <bool waits> INLINED void with_functor(const float *a, float *o)
{
    const int i = global_index();
    const float x = apply_to(a, i, [](const float *p, int k) {
        if (waits)
            pdl_wait();
        return current(p + k);
    });
    if (!waits)
        pdl_wait();
    o[i] = x;
}
BUG(functor_called, "read-before-wait")(const float *a, float *o) { with_functor<false>(a, o); }
OK(functor_called)(const float *a, float *o) { with_functor<true>(a, o); }

/* A reader by type; one of the types reads early. */
struct reads_late { static __device__ float get(const float *a, int i) { pdl_wait(); return current(a + i); } };
struct reads_early { static __device__ float get(const float *a, int i) { float x = current(a + i); pdl_wait(); return x; } };
template <typename... Readers> INLINED float by_number(int which, const float *a, int i)
{
    float x = 0.0f;
    int n = 0;
    (void)((which == n++ && (x = Readers::get(a, i), true)) || ...);
    return x;
}
BUG(fold_of_types, "read-before-wait|path-without-wait")(const float *a, float *o, int which)
{
    const float x = by_number<reads_late, reads_late, reads_early>(which, a, global_index());
    pdl_wait();
    o[global_index()] = x;
}
OK(fold_of_types)(const float *a, float *o, int which)
{
    const float x = by_number<reads_late, reads_late, reads_late>(which, a, global_index());
    pdl_wait();
    o[global_index()] = x;
}

/* An optional value: there is one only behind the wait. */
template <bool early> INLINED void optional_value(const float *a, float *o, int n)
{
    cuda::std::optional<float> found;
    if (early && (int)threadIdx.x < n)
        found = current(a + threadIdx.x);
    pdl_wait();
    if (!found && (int)threadIdx.x < n)
        found = current(a + threadIdx.x);
    o[global_index()] = found.value_or(1.0f);
}
BUG(optional_early, "read-before-wait|partial-wait")(const float *a, float *o, int n) { optional_value<true>(a, o, n); }
OK(optional_early)(const float *a, float *o, int n) { optional_value<false>(a, o, n); }

/* The first turn told by std::exchange. */
template <bool right> INLINED void exchanged(const float *a, float *o, int n)
{
    bool first = true;
    for (int t = (int)blockIdx.x; t < n; t += (int)gridDim.x) {
        if (cuda::std::exchange(first, false) == right)
            pdl_wait();
        o[t * 64 + threadIdx.x % 64] = current(a + t);
    }
}
BUG(exchanged_flag, "partial-wait|read-before-wait|path-without-wait|write-before-wait")(const float *a, float *o, int n) { exchanged<false>(a, o, n); }
OK(exchanged_flag)(const float *a, float *o, int n) { exchanged<true>(a, o, n); }

/* An array of pointers in registers, turned round by one each step. */
template <bool late> INLINED void turned(const float *a, const float *b, float *o)
{
    cuda::std::array<const float *, 2> from{a, b};
    float sum = 0.0f;
    if (late)
        pdl_wait();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (!late && i == 1)
            pdl_wait();
        sum += current(from[0] + threadIdx.x);
        cuda::std::swap(from[0], from[1]);
    }
    o[global_index()] = sum;
}
BUG(swapped_inputs, "read-before-wait")(const float *a, const float *b, float *o) { turned<false>(a, b, o); }
OK(swapped_inputs)(const float *a, const float *b, float *o) { turned<true>(a, b, o); }

/* A tile of threads reduces; its leader alone waited. */
template <bool all> INLINED void tiles_reduce(const float *a, float *o)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    if (all ? block.thread_rank() == 0 : tile.thread_rank() == 0)
        pdl_wait();
    if (all)
        block.sync();
    else
        tile.sync();
    const float sum = cg::reduce(tile, current(a + block.thread_rank()), cg::plus<float>());
    if (tile.thread_rank() == 0)
        o[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = sum;
}
BUG(leader_of_tile, "partial-wait|read-before-wait")(const float *a, float *o) { tiles_reduce<false>(a, o); }
OK(leader_of_tile)(const float *a, float *o) { tiles_reduce<true>(a, o); }

/* Threads that are active together: one of them waits for those. */
BUG(active_threads, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o, int n)
{
    if (global_index() < n) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            pdl_wait();
        active.sync();
        o[global_index()] = current(a + global_index());
    }
}
OK(active_threads)(const float *a, float *o, int n)
{
    if (global_index() < n) {
        cg::coalesced_group active = cg::coalesced_threads();
        pdl_wait();
        const float x = current(a + global_index());
        o[global_index()] = active.shfl(x, 0);
    }
}

/* A block's barrier split in two by tokens: what stands between is not ordered. */
template <bool between> INLINED void split_group(const float *a, float *o)
{
    __shared__ float s[32];
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x < 32) {
        pdl_wait();
        s[threadIdx.x] = current(a + threadIdx.x);
    }
    auto token = block.barrier_arrive();
    float early = 1.0f;
    if (between && threadIdx.x >= 32)
        early = current(a + threadIdx.x);
    block.barrier_wait(cuda::std::move(token));
    if (!between && threadIdx.x >= 32)
        early = current(a + threadIdx.x);
    o[global_index()] = early * s[threadIdx.x & 31];
}
BUG(split_group, "partial-wait|read-before-wait")(const float *a, float *o) { split_group<true>(a, o); }
OK(split_group)(const float *a, float *o) { split_group<false>(a, o); }

/* A compile-time loop over roles. */
template <int role, typename F> INLINED void for_roles(int mine, F f)
{
    if (mine == role)
        f(cuda::std::integral_constant<int, role>());
    if constexpr (role > 0)
        for_roles<role - 1>(mine, f);
}
template <int silent> INLINED void roles_by_template(const float *a, float *o)
{
    __shared__ float s[8];
    for_roles<7>((int)threadIdx.x / 32, [&](auto role) {
        if (role.value % 2 == 0 && role.value != silent)
            pdl_wait();
        if (role.value % 2 == 0)
            s[role.value] = current(a + role.value);
        else
            s[role.value] = (float)role.value;
    });
    __syncthreads();
    o[global_index()] = s[threadIdx.x % 8];
}
BUG(roles_by_template, "partial-wait|read-before-wait")(const float *a, float *o) { roles_by_template<4>(a, o); }
OK(roles_by_template)(const float *a, float *o) { roles_by_template<8>(a, o); }

/* A state that is kept in shared memory: whoever comes second must find that the first one waited. */
BUG(shared_flag_alone, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o)
{
    __shared__ volatile bool waited;
    if (threadIdx.x == 0)
        waited = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        pdl_wait();
        waited = true;
    }
    if (waited || threadIdx.x > 100)
        o[global_index()] = current(a + threadIdx.x);
}

/* A function not inlined that asks for its role itself, and another one that meets. */
CALLED void prepare(bool mine) { if (mine) pdl_wait(); }
CALLED void meet(int threads) { named_barrier(5, threads); }
template <bool right> INLINED void meets_in_calls(const float *a, float *o)
{
    const int warp = (int)threadIdx.x >> 5;
    if (warp < 2) {
        prepare(warp == 0);
        if (right)
            meet(64);
        o[threadIdx.x] = current(a + threadIdx.x);
    }
}
BUG(meets_in_calls, "partial-wait|read-before-wait|write-before-wait")(const float *a, float *o) { meets_in_calls<false>(a, o); }
OK(meets_in_calls)(const float *a, float *o) { meets_in_calls<true>(a, o); }

/* Pointers come as numbers, as some launchers pass them. */
template <bool late> INLINED void as_numbers(uint64_t a, uint64_t o, uint32_t stride)
{
    const float *from = reinterpret_cast<const float *>(a + (uint64_t)blockIdx.x * stride);
    float *to = reinterpret_cast<float *>(o | 0u);
    float x = late ? 0.0f : current(from + threadIdx.x);
    pdl_wait();
    if (late)
        x = current(from + threadIdx.x);
    to[global_index()] = x;
}
BUG(addresses_as_numbers, "read-before-wait")(uint64_t a, uint64_t o, uint32_t stride) { as_numbers<false>(a, o, stride); }
OK(addresses_as_numbers)(uint64_t a, uint64_t o, uint32_t stride) { as_numbers<true>(a, o, stride); }

/* A state machine with goto, as generated code has it. */
template <bool right> INLINED void with_goto(const float *a, float *o, int n)
{
    int i = (int)threadIdx.x;
    float sum = 0.0f;
    if (n == 0)
        goto done;
    if (right)
        pdl_wait();
again:
    sum += current(a + i);
    i += (int)blockDim.x;
    if (i < n)
        goto again;
done:
    pdl_wait();
    o[global_index()] = sum;
}
BUG(with_goto, "read-before-wait")(const float *a, float *o, int n) { with_goto<false>(a, o, n); }
OK(with_goto)(const float *a, float *o, int n) { with_goto<true>(a, o, n); }
