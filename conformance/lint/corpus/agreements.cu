/* Answers of called functions that branch several times: who waits and who reads depends on where those ways meet again. */
#include "corpus.h"

INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED volatile int *some_words(void)
{
    __shared__ volatile int words[32];
    words[threadIdx.x & 31] = (int)clock();
    __syncthreads();
    return words;
}
CALLED int agree_two(volatile int *w, int i) { return w[i & 31] > 3 && w[(i + 1) & 31] < 9 ? 7 : 2; }
CALLED int agree_three(volatile int *w, int i) { return w[i & 31] > 3 && w[(i + 1) & 31] < 9 && w[(i + 2) & 31] != 5; }
CALLED bool agree_three_bool(volatile int *w, int i) { return w[i & 31] > 3 && w[(i + 1) & 31] < 9 && w[(i + 2) & 31] != 5; }
CALLED int agree_or(volatile int *w, int i) { return (w[i & 31] > 3 && w[(i + 1) & 31] < 9) || w[(i + 2) & 31] == 5; }
CALLED int words_after(int p, int i) { return (p * 5 + i) % 11; }
CALLED int one_of_three(volatile int *w, int i)
{
    int which = 3;
    if (w[i & 31] > 3) {
        which = 1;
    } else if (w[(i + 1) & 31] < 9) {
        which = 2;
    }
    return which;
}

/* Wrong: whoever got "yes" in the first turn waits; in a later turn others may get it, and read. */
template <class F> INLINED void waits_at_first(const float *a, float *o, int n, F yes)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const bool now = yes(i);
        if (now && i == 0) { pdl_wait(); }
        __nanosleep(100);
        if (now && i > 0) { o[global_index()] = read_now(a, i); }
    }
}
template <class F> INLINED void waits_and_reads(const float *a, float *o, int n, F yes)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const bool now = yes(i);
        if (now) { pdl_wait(); }
        __nanosleep(100);
        if (now) { o[global_index()] = read_now(a, i); }
    }
}
BUG(agreed_two, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return agree_two(words, i) == 7; });
}
OK(agreed_two)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return agree_two(words, i) == 7; });
}
BUG(agreed_three, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return agree_three(words, i) != 0; });
}
OK(agreed_three)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return agree_three(words, i) != 0; });
}
BUG(agreed_three_bool, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return agree_three_bool(words, i); });
}
OK(agreed_three_bool)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return agree_three_bool(words, i); });
}
BUG(agreed_either, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return agree_or(words, i) != 0; });
}
OK(agreed_either)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return agree_or(words, i) != 0; });
}
BUG(agreed_both_calls, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return agree_three_bool(words, i) && agree_or(words, i + 3) != 0; });
}
OK(agreed_both_calls)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return agree_three_bool(words, i) && agree_or(words, i + 3) != 0; });
}
BUG(agreed_one_of_three, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_at_first(a, o, n, [=](int i) { return one_of_three(words, i) == 2; });
}
OK(agreed_one_of_three)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    waits_and_reads(a, o, n, [=](int i) { return one_of_three(words, i) == 2; });
}

/* The same question with another answer: who reads is not who waited. */
BUG(agreed_otherwise, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int which = one_of_three(words, i);
        if (which == 2) { pdl_wait(); }
        __nanosleep(100);
        if (which != 1) { o[global_index()] = read_now(a, i); }
    }
}
OK(agreed_otherwise)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int which = one_of_three(words, i);
        if (which != 1) { pdl_wait(); }
        __nanosleep(100);
        if (which == 2) { o[global_index()] = read_now(a, i); }
    }
}

/* What the turn before answered, kept across the call: it is not this turn's answer. */
template <bool kept> INLINED void keeps_answer(const float *a, float *o, int n)
{
    volatile int *words = some_words();
    int before = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int which = one_of_three(words, i);
        if (which == 2) { pdl_wait(); }
        __nanosleep(100);
        if (kept ? which == 2 : before == 2 && i == 1 && n == 2) { o[global_index()] = read_now(a, i); }
        before = agree_three(words, i) ? which : 2;
    }
}
BUG(kept_answer, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n) { keeps_answer<false>(a, o, n); }
OK(kept_answer)(const float *a, float *o, int n) { keeps_answer<true>(a, o, n); }

/* Two calls of one function in one turn, each with an answer of its own. */
BUG(two_answers, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int first = agree_or(words, i), second = agree_or(words, i + 1);
        if (first) { pdl_wait(); }
        __nanosleep(100);
        if (second) { o[global_index()] = read_now(a, i); }
    }
}
OK(two_answers)(const float *a, float *o, int n)
{
    volatile int *words = some_words();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int first = agree_or(words, i), second = agree_or(words, i + 1);
        if (first) { pdl_wait(); }
        __nanosleep(100);
        if (first && second) { o[global_index()] = read_now(a, i); }
    }
}

/* Ways that meet in the loop itself, without a call. */
template <bool right> INLINED void meets_in_loop(const float *a, float *o, int n, int p, int q)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int which = 0;
        if (p > 3) {
            __nanosleep(10);
            if (q < 9) {
                __nanosleep(20);
                which = 1;
            }
        }
        __nanosleep(30);
        if (which) { pdl_wait(); }
        __nanosleep(100);
        if (right ? which != 0 : p > 3) { o[global_index()] = read_now(a, i); }
    }
}
BUG(met_in_loop, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n, int p, int q) { meets_in_loop<false>(a, o, n, p, q); }
OK(met_in_loop)(const float *a, float *o, int n, int p, int q) { meets_in_loop<true>(a, o, n, p, q); }

/* The condition changes in the loop: what was chosen by it in one turn says nothing of the next. */
template <bool right> INLINED void changes_in_loop(const float *a, float *o, int n, int p)
{
    int which = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (p > 3) {
            __nanosleep(20);
            which = 1;
        }
        __nanosleep(30);
        if (right ? which != 0 : p > 3 && i == 0) { pdl_wait(); }
        if (!right) { p = words_after(p, i); }
        __nanosleep(100);
        if (right ? which != 0 : p > 3) { o[global_index()] = read_now(a, i); }
    }
}
BUG(changed_in_loop, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int n, int p) { changes_in_loop<false>(a, o, n, p); }
OK(changed_in_loop)(const float *a, float *o, int n, int p) { changes_in_loop<true>(a, o, n, p); }

/* What was asked on one of two ways, and met again there, no longer tells these two apart. */
CALLED int asked_on_one_way(volatile int *w, int p, int q)
{
    int which = 2;
    if (p > 3) {
        if (q > 3) { w[0] = 1; }
        w[1] = 2;
        which = 1;
    }
    w[2] = 3;
    return which;
}
template <bool right> INLINED void asks_on_one_way(const float *a, float *o, int p, int q)
{
    const int which = asked_on_one_way(some_words(), p, q);
    if (which == 2) { pdl_wait(); }
    __nanosleep(100);
    if (right ? p <= 3 : p > 3 && q <= 3) { o[global_index()] = read_now(a, global_index()); }
}
BUG(asked_on_one_way, "read-before-wait|write-before-wait|path-without-wait|partial-wait")(const float *a, float *o, int p, int q) { asks_on_one_way<false>(a, o, p, q); }
OK(asked_on_one_way)(const float *a, float *o, int p, int q) { asks_on_one_way<true>(a, o, p, q); }
