/* oracle_test.c - the oracle misses no corruption and names each one's class.
 *
 * usage: oracle_test [COUNT [SEED]]
 * COUNT random corruptions (100,000): one bit, one byte, one word, a tile, a tail; each built to be of a class known
 * beforehand. Then harness mutants of the oracle itself, which must be seen. Closes with "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "words.h"

#define WORDS_MAX 4096u

static uint64_t state;
static unsigned passed, failed;

static uint64_t draw(void)
{
    uint64_t x = state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static uint32_t below(uint32_t n) { return (uint32_t)(draw() % n); }

static void check(int holds, const char *what, uint64_t number)
{
    if (holds) {
        passed++;
        return;
    }
    if (failed++ < 20)
        printf("FAILED %s (corruption %llu)\n", what, (unsigned long long)number);
}

struct known { uint32_t fresh, poison, unwritten, stale; };

static struct known known_at(const struct oracle_trial *t, uint32_t i)
{
    struct known k;
    k.fresh = words_fresh(t->key, i);
    k.poison = words_poison(t->batch_key, WORDS_POISON_DATA, t->offset + i);
    k.unwritten = words_poison(t->batch_key, WORDS_POISON_SEEN, t->offset + i);
    k.stale = words_fresh(t->stale_key, i);
    return k;
}

/* Is byte b of word equal to that byte of any known value? */
static int byte_known(const struct known *k, uint32_t word, unsigned b)
{
    uint32_t w = word >> b * 8 & 0xFF;
    return w == (k->fresh >> b * 8 & 0xFF) || w == (k->poison >> b * 8 & 0xFF) || w == (k->unwritten >> b * 8 & 0xFF) ||
           w == (k->stale >> b * 8 & 0xFF);
}

static int in_trial(const struct oracle_trial *t, uint32_t word)
{
    uint32_t i;
    for (i = 0; i < t->words; i++)
        if (words_fresh(t->key, i) == word)
            return 1;
    return 0;
}

/* A wrong word of the class at this place. */
static uint32_t wrong_word(const struct oracle_trial *t, uint32_t i, enum word_class class)
{
    struct known k = known_at(t, i);
    const uint32_t values[4] = { k.fresh, k.poison, k.unwritten, k.stale };
    uint32_t word, mask;

    switch (class) {
    case WORD_STALE: return k.stale;
    case WORD_POISON: return draw() % 2 ? k.poison : k.unwritten;
    case WORD_MISPLACED: return words_fresh(t->key, (i + 1 + below(t->words - 1)) % t->words);
    case WORD_TORN:
        do {
            unsigned a = below(4), b = below(4);
            mask = (draw() % 2 ? 0xFFu : 0) | (draw() % 2 ? 0xFF00u : 0) | (draw() % 2 ? 0xFF0000u : 0) | (draw() % 2 ? 0xFF000000u : 0);
            word = (values[a] & mask) | (values[b] & ~mask);
        } while (word == k.fresh || word == k.poison || word == k.unwritten || word == k.stale || in_trial(t, word));
        return word;
    default:
        do { /* one flipped bit, or anything; some byte is nobody's */
            word = draw() % 2 ? k.fresh ^ 1u << below(32) : (uint32_t)draw();
        } while ((byte_known(&k, word, 0) && byte_known(&k, word, 1) && byte_known(&k, word, 2) && byte_known(&k, word, 3)) ||
                 in_trial(t, word));
        return word;
    }
}

static void corrupt_once(uint64_t number)
{
    static uint32_t seen[WORDS_MAX], want[WORDS_MAX];
    static struct oracle_result result;
    struct oracle_trial t;
    enum word_class class = (enum word_class)(1 + number % (WORD_CLASS_COUNT - 1));
    uint32_t first, count, i;

    memset(&t, 0, sizeof(t));
    t.key = draw();
    t.stale_key = draw();
    t.batch_key = draw();
    t.offset = below(1u << 20);
    t.words = 4 * (4 + below(60));
    oracle_expect(&t, seen);
    if (number % 64 == 0)
        check(oracle_check(&t, seen, want, &result), "an intact trial passes", number);
    count = draw() % 4 ? 1 : 1 + below(t.words / 2); /* one word, or a tile */
    first = below(t.words - count + 1);
    for (i = first; i < first + count; i++)
        seen[i] = wrong_word(&t, i, class);
    if (oracle_check(&t, seen, want, &result)) {
        check(0, "missed", number);
        return;
    }
    check(result.wrong == count && result.first == first && result.first_class == class && result.count[class] == count &&
              result.want == want[first] && result.got == seen[first],
          word_class_name[class], number);
}

/* The oracle has to notice when its own inputs are wrong. */
static void check_oracle_mutants(void)
{
    static uint32_t seen[64], want[64];
    static struct oracle_result result;
    struct oracle_trial t;

    memset(&t, 0, sizeof(t));
    t.key = 7;
    t.batch_key = 8;
    t.words = 64;
    oracle_expect(&t, seen);
    t.key = 9;
    check(!oracle_check(&t, seen, want, &result) && result.wrong == 64, "a wrong golden key is seen", 0);
    t.key = 7;
    seen[63] ^= 0x80000000u;
    check(!oracle_check(&t, seen, want, &result), "the last bit of the last word is part of the hash", 0);
    seen[63] ^= 0x80000000u;
    memset(seen, 0xFF, sizeof(seen)); /* NaN in every word */
    check(!oracle_check(&t, seen, want, &result) && result.count[WORD_FOREIGN] == 64, "NaN does not hide", 0);
}

/* One word at a time; without a trial before it nothing is stale. */
static void check_classes(void)
{
    struct oracle_trial t;

    memset(&t, 0, sizeof(t));
    t.key = 7;
    t.batch_key = 8;
    t.stale_key = 9;
    t.words = 64;
    check(oracle_classify(&t, 5, words_fresh(7, 5)) == WORD_FRESH, "a fresh word is fresh", 0);
    check(oracle_classify(&t, 5, words_fresh(9, 5)) == WORD_STALE, "the word of the trial before is stale", 0);
    check(oracle_classify(&t, 5, words_fresh(7, 6)) == WORD_MISPLACED, "one of another place is misplaced", 0);
    t.stale_key = 0;
    check(oracle_classify(&t, 5, words_fresh(0, 5)) == WORD_FOREIGN, "without a trial before nothing is stale", 0);
}

static void check_words(void)
{
    uint32_t i;
    for (i = 0; i < 1000; i++) {
        uint64_t key = draw();
        uint32_t index = (uint32_t)draw();
        check(words_index(key, words_fresh(key, index)) == index, "words_index undoes words_fresh", i);
    }
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, i;
    state = argc > 2 ? strtoull(argv[2], NULL, 16) : 0x5EED;
    for (i = 0; i < count; i++)
        corrupt_once(i);
    check_oracle_mutants();
    check_classes();
    check_words();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
