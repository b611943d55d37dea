/* oracle.c - expected words and the classes of wrong ones. The one file of the harness that includes xxHash. */
#include "oracle.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "words.h"

const char *const word_class_name[WORD_CLASS_COUNT] = { "fresh", "stale", "poison", "misplaced", "torn", "foreign" };

uint64_t oracle_hash(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

static inline void fill_fresh(uint32_t *want, uint64_t key, uint32_t words)
{
    uint32_t i;
    for (i = 0; i < words; i++)
        want[i] = words_fresh(key, i);
}

/* Most of the host's work on a trial is this loop. Without AVX2 an x86-64 multiplies 32-bit words one pair at a time, and a GPU
 * then waits for its judge. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void fill_fresh_avx2(uint32_t *want, uint64_t key, uint32_t words)
{
    fill_fresh(want, key, words);
}

static void expect(uint32_t *want, uint64_t key, uint32_t words)
{
    (__builtin_cpu_supports("avx2") ? fill_fresh_avx2 : fill_fresh)(want, key, words);
}
#else
static void expect(uint32_t *want, uint64_t key, uint32_t words) { fill_fresh(want, key, words); }
#endif

uint64_t oracle_expect(const struct oracle_trial *trial, uint32_t *want)
{
    expect(want, trial->key, trial->words);
    return oracle_hash(want, (size_t)trial->words * 4);
}

/* Is each byte of got a byte of one of the two at the same place, and none of the two whole? */
static int mixes(uint32_t got, uint32_t a, uint32_t b)
{
    int byte;
    for (byte = 0; byte < 32; byte += 8) {
        uint32_t g = got >> byte & 0xFF;
        if (g != (a >> byte & 0xFF) && g != (b >> byte & 0xFF))
            return 0;
    }
    return got != a && got != b;
}

enum word_class oracle_classify(const struct oracle_trial *trial, uint32_t index, uint32_t got)
{
    uint32_t known[4], i, j, n = 0;

    known[n++] = words_fresh(trial->key, index);
    known[n++] = words_poison(trial->batch_key, WORDS_POISON_DATA, trial->offset + index);
    known[n++] = words_poison(trial->batch_key, WORDS_POISON_SEEN, trial->offset + index);
    if (trial->stale_key)
        known[n++] = words_fresh(trial->stale_key, index);
    if (got == known[0])
        return WORD_FRESH;
    if (got == known[1] || got == known[2])
        return WORD_POISON;
    if (n > 3 && got == known[3])
        return WORD_STALE;
    if (words_index(trial->key, got) < trial->words)
        return WORD_MISPLACED;
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++)
            if (mixes(got, known[i], known[j]))
                return WORD_TORN;
    return WORD_FOREIGN;
}

int oracle_check(const struct oracle_trial *trial, const uint32_t *seen, uint32_t *want, struct oracle_result *result)
{
    static const struct oracle_result nothing;
    uint32_t i, looked_at = 0;

    *result = nothing;
    result->want_hash = oracle_expect(trial, want);
    if (memcmp(want, seen, (size_t)trial->words * 4) == 0)
        return 1;
    for (i = 0; i < trial->words; i++) {
        enum word_class class = WORD_FRESH;
        if (seen[i] == want[i])
            continue;
        if (looked_at < ORACLE_LOOKS)
            class = oracle_classify(trial, i, seen[i]);
        if (!looked_at++) {
            result->first = i;
            result->want = want[i];
            result->got = seen[i];
            result->first_class = class;
        }
        result->wrong++;
        if (looked_at <= ORACLE_LOOKS)
            result->count[class]++;
    }
    return 0;
}
