/* oracle.c - expected words and the classes of wrong ones. The one file of the harness that includes xxHash. */
#include "oracle.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "words.h"

const char *const word_class_name[WORD_CLASS_COUNT] = { "fresh", "stale", "poison", "misplaced", "torn", "foreign" };

uint64_t oracle_hash(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

uint64_t oracle_expect(const struct oracle_trial *trial, uint32_t *want)
{
    uint32_t i;
    for (i = 0; i < trial->words; i++)
        want[i] = words_fresh(trial->key, i);
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
    if (result->want_hash == oracle_hash(seen, (size_t)trial->words * 4))
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
