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
