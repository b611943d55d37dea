/* check_words_test.c - each slot of each batch is checked, whichever thread takes it, and none is answered from the batch before. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_words.h"
#include "words.h"

enum { WORDS = 256, ROUNDS = 200 };

static struct part part;         /* without controls */
static struct layout layout;
static struct buffers buffers;

static void open_batch(unsigned slots)
{
    unsigned i;

    layout.slots = slots;
    for (i = 0; i < slots; i++) {
        layout.slot[i].shape.words = i % 7 ? WORDS / 2 : WORDS;
        layout.slot[i].first_word = (size_t)i * WORDS;
    }
}

/* Words of trials that draw their keys from `round`; wrong: the slot whose last word is not right. */
static void fill_batch(unsigned round, unsigned wrong)
{
    unsigned i, word;

    for (i = 0; i < layout.slots; i++) {
        uint32_t *seen = buffers.seen_host + layout.slot[i].first_word;
        buffers.stale_key[i] = buffers.plan_host[i].key;
        buffers.plan_host[i].key = (uint64_t)round * PLAN_MAX_SLOTS + i + 1;
        buffers.plan_host[i].batch_key = round;
        buffers.plan_host[i].offset = (uint32_t)layout.slot[i].first_word;
        for (word = 0; word < layout.slot[i].shape.words; word++)
            seen[word] = words_fresh(buffers.plan_host[i].key, word);
        if (i == wrong)
            seen[word - 1] = words_fresh(buffers.stale_key[i], word - 1);
    }
}

/* ---- who takes a slot: where the test says so, a member of its own for each, else whoever is free ---- */

static int one_each;
void __real_crew_work(struct crew *crew, unsigned tasks, unsigned at_once, void (*task)(void *, unsigned, unsigned), void *context);
void __wrap_crew_work(struct crew *crew, unsigned tasks, unsigned at_once, void (*task)(void *, unsigned, unsigned), void *context);

void __wrap_crew_work(struct crew *crew, unsigned tasks, unsigned at_once, void (*task)(void *, unsigned, unsigned), void *context)
{
    unsigned i;

    if (!one_each) {
        __real_crew_work(crew, tasks, at_once, task, context);
        return;
    }
    for (i = 0; i < tasks; i++)
        task(context, i, i);
}

/* Members whose scratch another one has written to. */
static unsigned share_scratch(unsigned members)
{
    static uint32_t want[WORDS];
    struct word_check *words = word_check_open(WORDS, members);
    unsigned i, shared = 0;

    if (!words)
        return members;
    open_batch(members);
    fill_batch(1, members);
    one_each = 1;
    check_words(words, NULL, &part, &layout, &buffers);
    one_each = 0;
    for (i = 0; i < members; i++) {
        struct oracle_trial trial = slot_trial(&layout, buffers.plan_host, i);
        (void)oracle_expect(&trial, want);
        shared += memcmp(words->want + (size_t)i * WORDS, want, trial.words * sizeof(want[0])) != 0;
    }
    word_check_close(words);
    return shared;
}

/* Slots with an answer that is not theirs. */
static unsigned misjudged(const struct checked *checked, unsigned wrong, uint32_t *want)
{
    unsigned i, count = 0;

    for (i = 0; i < layout.slots; i++) {
        struct oracle_trial trial = slot_trial(&layout, buffers.plan_host, i);
        const struct oracle_result *result = &checked[i].words;
        count += result->want_hash != oracle_expect(&trial, want) || checked[i].fresh != (i != wrong) ||
                 (i == wrong && (result->wrong != 1 || result->first_class != WORD_STALE || result->first != trial.words - 1));
    }
    return count;
}

static unsigned misjudged_by(unsigned threads)
{
    static uint32_t want[WORDS];
    static const unsigned sizes[] = { 1, 8, 16, 121, 128, PLAN_MAX_SLOTS };
    struct crew *crew = crew_open(threads);
    struct word_check *words = word_check_open(WORDS, threads);
    unsigned round, count = 0;

    if (!crew || !words)
        return 1;
    for (round = 0; round < ROUNDS; round++) {
        unsigned wrong;
        open_batch(sizes[round % (sizeof(sizes) / sizeof(sizes[0]))]);
        wrong = round * 31 % (layout.slots + 1); /* now and then none */
        fill_batch(threads * ROUNDS + round, wrong);
        check_words(words, crew, &part, &layout, &buffers);
        count += misjudged(words->slot, wrong, want);
    }
    word_check_close(words);
    crew_close(crew);
    return count;
}

/* A trial of as many words as a GPU's longest has, of which the last one is wrong, or none. */
static unsigned big_is_misjudged(unsigned wrong)
{
    enum { BIG = 65536 };
    struct crew *crew = crew_open(2);
    struct word_check *words = word_check_open(BIG, 2);
    uint32_t word, *const kept = buffers.seen_host, *seen = calloc(BIG, sizeof(*seen));
    unsigned judged = 1;

    if (crew && words && seen) {
        buffers.seen_host = seen;
        layout.slots = 1;
        layout.slot[0].shape.words = BIG;
        layout.slot[0].first_word = 0;
        buffers.plan_host[0].key = 77;
        buffers.plan_host[0].offset = 0;
        for (word = 0; word < BIG; word++)
            seen[word] = words_fresh(77, word);
        seen[BIG - 1] ^= wrong;
        check_words(words, crew, &part, &layout, &buffers);
        judged = words->slot[0].fresh;
    }
    buffers.seen_host = kept;
    word_check_close(words);
    crew_close(crew);
    free(seen);
    return judged != !wrong;
}

int main(void)
{
    buffers.plan_host = calloc(BATCH_PLANS, sizeof(*buffers.plan_host));
    buffers.seen_host = calloc((size_t)PLAN_MAX_SLOTS * WORDS, sizeof(*buffers.seen_host));
    if (!buffers.plan_host || !buffers.seen_host)
        return 1;
    open_batch(PLAN_MAX_SLOTS);
    fill_batch(0, PLAN_MAX_SLOTS); /* so that there are old words at every place */
    check(misjudged_by(1) == 0, "one thread checks every slot of every batch");
    check(misjudged_by(2) == 0, "so do two");
    check(misjudged_by(8) == 0, "and eight");
    check(share_scratch(8) == 0, "each of them with scratch of its own");
    check(!big_is_misjudged(0) && !big_is_misjudged(1), "a long trial is checked to its last word");
    printf("%u passed, %u failed\n", passed, failed);
    free(buffers.plan_host);
    free(buffers.seen_host);
    return failed != 0;
}
