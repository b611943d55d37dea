/* Functions called again and again: each call has its own result, though the code and the registers are the same. */
#include "corpus.h"

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED volatile int *some_words(void)
{
    __shared__ volatile int words[32];
    words[threadIdx.x & 31] = (int)clock();
    __syncthreads();
    return words;
}
CALLED int word_of(volatile int *words, int i) { return words[i & 31]; }
CALLED int word_through(volatile int *words, int i)
{
    int k = word_of(words, i);
    __nanosleep(3);
    return k + 1;
}
CALLED int word_found(volatile int *words, int i)
{
    int k = 0;
    while (k < 31 && words[k] != i) { k++; }
    return words[k];
}
CALLED bool words_agree(volatile int *words, int i) { return words[i & 31] > 3 && words[(i + 1) & 31] < 9; }

/* Who went past the wait of the first turn, because of that turn's answer, may get another answer in the next one. */
template <class F> INLINED void asks_again(const float *a, float *o, int n, bool asked_again, F answer)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const bool yes = answer(i);
        if (yes && (i == 0 || !asked_again)) { pdl_wait(); }
        __nanosleep(100);
        if (yes && (i > 0 || !asked_again)) { o[global_index()] = read_now(a, i); }
    }
}
BUG(repeated_answer, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, true, [=](int i) { return word_of(words, i) != 1; });
}
OK(repeated_answer)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, false, [=](int i) { return word_of(words, i) != 1; });
}
BUG(repeated_through_two, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, true, [=](int i) { return word_through(words, i) != 1; });
}
OK(repeated_through_two)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, false, [=](int i) { return word_through(words, i) != 1; });
}
BUG(repeated_search, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, true, [=](int i) { return word_found(words, i) != 1; });
}
OK(repeated_search)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, false, [=](int i) { return word_found(words, i) != 1; });
}
BUG(repeated_agreement, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, true, [=](int i) { return words_agree(words, i); });
}
OK(repeated_agreement)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    asks_again(a, o, n, false, [=](int i) { return words_agree(words, i); });
}

/* The answer of the turn before is kept beside the new one. */
template <bool first_waits> INLINED void compares_turns(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    int before = -1;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int k = word_of(words, i);
        if (first_waits ? i == 0 : k == 0) {
            pdl_wait();
        } else if (before == 6 && k == 5) {
            o[global_index()] = read_now(a, i);
        }
        before = k;
    }
}
BUG(repeated_compared, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n) { compares_turns<false>(a, o, n); }
OK(repeated_compared)(const float *a, float *o, int n) { compares_turns<true>(a, o, n); }

/* A pointer of this turn, where that of the first turn decided. */
CALLED int *slot_of(int *volatile *table, int i) { return table[i & 3]; }
template <bool first_only> INLINED void slots(const float *a, float *o, int n)
{
    __shared__ int *volatile table[4];
    __shared__ int slot[4];
    if (threadIdx.x < 4) { table[threadIdx.x] = clock() & 1 ? &slot[threadIdx.x] : nullptr; }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int *now = slot_of(table, i);
        if (now && (!first_only || i == 0)) { pdl_wait(); }
        if (now && (!first_only || i > 0)) { o[global_index()] = read_now(a, i); }
    }
}
BUG(repeated_pointer, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n) { slots<true>(a, o, n); }
OK(repeated_pointer)(const float *a, float *o, int n) { slots<false>(a, o, n); }

/* The guard, the wait and the read all stand in the function. */
CALLED void turn_of(volatile int *words, int i, const float *a, float *o, bool first_only)
{
    const int k = words[i & 31];
    if (k > 4 && (!first_only || i == 0)) { pdl_wait(); }
    __nanosleep(i);
    if (k > 6 && (!first_only || i > 0)) { o[global_index()] = read_now(a, i); }
}
BUG(repeated_inside, "read-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) { turn_of(words, i, a, o, true); }
}
OK(repeated_inside)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) { turn_of(words, i, a, o, false); }
}

/* The wait is at the bottom of a recursion: each turn that returns from below has waited; what it did on the way down had not. */
CALLED float descend(const float *a, int depth, bool early)
{
    float v = 0;
    if (early) { v = read_now(a, depth); }
    if (depth == 0) {
        pdl_wait();
        return v;
    }
    v += descend(a, depth - 1, early);
    return v + read_now(a, depth);
}
BUG(repeated_descent, "read-before-wait")(const float *a, float *o, int n) { o[global_index()] = descend(a, n, true); }
OK(repeated_descent)(const float *a, float *o, int n) { o[global_index()] = descend(a, n, false); }

/* One of the block's own arrays, chosen by an index with a limit; or one of them is the parameter. */
template <bool own> INLINED void chosen_array(const float *a, float *o, int n)
{
    float local[4][4];
    const float *kept[4];
    for (int i = 0; i < 16; i++) { local[i / 4][i % 4] = (float)(i + n); }
    for (int i = 0; i < 4; i++) { kept[i] = local[i]; }
    if (!own) { kept[2] = a; }
    const float **volatile hidden = kept;
    const float x = hidden[threadIdx.x & 3][n & 3];
    pdl_wait();
    o[global_index()] = x + read_now(a, n);
}
BUG(chosen_array, "read-before-wait")(const float *a, float *o, int n) { chosen_array<false>(a, o, n); }
OK(chosen_array)(const float *a, float *o, int n) { chosen_array<true>(a, o, n); }

/* A ring of stages in shared memory; its state is an object that functions change, and the waits stand in functions. */
typedef unsigned long long u64;
INLINED unsigned shared_place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
CALLED void signal(u64 *object) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(shared_place(object)) : "memory"); }
CALLED void await(u64 *object, int phase)
{
    int done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(shared_place(object)), "r"(phase) : "memory");
    }
}
struct ring_state {
    int stage, phase;
    __device__ __noinline__ void advance() { if (++stage == 3) { stage = 0; phase ^= 1; } }
};
template <bool late> INLINED void ring(const float *a, float *o, int n)
{
    __shared__ u64 full[3], empty[3];
    __shared__ float data[3][32];
    for (int i = 0; i < 3 && threadIdx.x == 0; i++) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" : : "r"(shared_place(full + i)) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" : : "r"(shared_place(empty + i)) : "memory");
    }
    __syncthreads();
    ring_state s = {0, 0};
    const int lane = (int)threadIdx.x % 32;
    if (threadIdx.x < 32) {
        if (!late) { pdl_wait(); }
#pragma unroll 1
        for (int i = 0; i < n; i++, s.advance()) {
            await(empty + s.stage, s.phase ^ 1);
            data[s.stage][lane] = late ? 1.0f : read_now(a, i * 32 + lane);
            signal(full + s.stage);
        }
        if (late) { pdl_wait(); }
    } else if (threadIdx.x < 64) {
#pragma unroll 1
        for (int i = 0; i < n; i++, s.advance()) {
            await(full + s.stage, s.phase);
            o[i * 32 + lane] = data[s.stage][lane];
            signal(empty + s.stage);
        }
    }
}
BUG(repeated_stages, "write-before-wait|partial-wait|path-without-wait")(const float *a, float *o, int n) { ring<true>(a, o, n); }
OK(repeated_stages)(const float *a, float *o, int n) { ring<false>(a, o, n); }

/* Items of a queue, some of which need the earlier grid: the first of these waits, if it is remembered that one did. */
struct item { int kind, at; };
CALLED item pop(const item *queue, int *head) { return queue[atomicAdd(head, 1) & 15]; }
template <bool remembers> INLINED void items(const float *a, float *o, int n)
{
    __shared__ item queue[16];
    __shared__ int head;
    if (threadIdx.x < 16) { queue[threadIdx.x] = {(int)(clock() & 1), (int)threadIdx.x}; }
    if (threadIdx.x == 0) { head = 0; }
    __syncthreads();
    bool waited = false;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const item next = pop(queue, &head);
        if (next.kind == 1 && !waited) {
            pdl_wait();
            waited = true;
        }
        if (next.kind == 1 || (!remembers && i > 2)) { o[next.at] = read_now(a, next.at); }
    }
}
BUG(repeated_items, "read-before-wait|path-without-wait|partial-wait|write-before-wait")(const float *a, float *o, int n) { items<false>(a, o, n); }
OK(repeated_items)(const float *a, float *o, int n) { items<true>(a, o, n); }

/* A flag of the caller, behind a pointer, says whether the function has waited in an earlier call. */
CALLED void rows(const float *a, float *o, int first, int last, bool *waited)
{
#pragma unroll 1
    for (int i = first; i < last; i++) {
        if (!*waited) {
            pdl_wait();
            *waited = true;
        }
        o[i] = read_now(a, i);
    }
}
BUG(repeated_rows, "read-before-wait|path-without-wait|partial-wait|write-before-wait")(const float *a, float *o, int n)
{
    bool waited = threadIdx.x > 64;
#pragma unroll 1
    for (int t = (int)blockIdx.x; t < n; t += (int)gridDim.x) { rows(a, o, t * 4, t * 4 + 4, &waited); }
}
OK(repeated_rows)(const float *a, float *o, int n)
{
    bool waited = false;
#pragma unroll 1
    for (int t = (int)blockIdx.x; t < n; t += (int)gridDim.x) { rows(a, o, t * 4, t * 4 + 4, &waited); }
}

/* A lambda is tried a few times; only the try that succeeds has waited. */
template <class F> CALLED bool retried(int n, F f)
{
    for (int i = 0; i < n; i++) {
        if (f(i)) { return true; }
    }
    return false;
}
BUG(repeated_tries, "read-before-wait|path-without-wait|partial-wait|write-before-wait")(const float *a, float *o, int n)
{
    retried(n, [](int i) { if (i < 2) { return false; } pdl_wait(); return true; });
    o[global_index()] = read_now(a, n);
}
OK(repeated_tries)(const float *a, float *o, int n)
{
    if (!retried(n, [](int i) { if (i < 2) { return false; } pdl_wait(); return true; })) { pdl_wait(); }
    o[global_index()] = read_now(a, n);
}

/* Two functions that call each other; the wait is at the bottom. */
CALLED void odd(int n, const float *a, float *o, bool early);
CALLED void even(int n, const float *a, float *o, bool early)
{
    if (n == 0) {
        pdl_wait();
        return;
    }
    if (early) { o[n] = read_now(a, n); }
    odd(n - 1, a, o, early);
    o[n] = read_now(a, n);
}
CALLED void odd(int n, const float *a, float *o, bool early)
{
    if (n <= 0) {
        pdl_wait();
        return;
    }
    even(n - 1, a, o, early);
    o[n] = read_now(a, n + 1);
}
BUG(repeated_mutually, "read-before-wait|write-before-wait")(const float *a, float *o, int n) { odd(n, a, o, true); }
OK(repeated_mutually)(const float *a, float *o, int n) { odd(n, a, o, false); }
