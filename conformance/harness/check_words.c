/* check_words.c - most of the host's work on a trial is to compute its words, and a GPU would wait for a single thread to do it. */
#include "check_words.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_ONCE 8u         /* that a thread takes: few enough that no thread ends long after the others */

struct batch_of {                /* what the threads share */
    struct word_check *check;
    const struct part *part;
    const struct layout *layout;
    const struct buffers *b;
};

int slot_is_control(const struct part *part, const struct layout *layout, unsigned slot)
{
    return part->interleave != CONTROL_NONE && layout->slot[slot].shape.control != CONTROL_NONE;
}

struct oracle_trial slot_trial(const struct layout *layout, const struct trial_plan *plans, unsigned slot)
{
    struct oracle_trial trial = PDL_ZERO;

    trial.key = plans[slot].key;
    trial.batch_key = plans[slot].batch_key;
    trial.offset = plans[slot].offset;
    trial.words = layout->slot[slot].shape.words;
    return trial;
}

static void check_slot(void *context, unsigned slot, unsigned member)
{
    const struct batch_of *of = context;
    struct checked *checked = &of->check->slot[slot];
    struct oracle_trial trial = slot_trial(of->layout, of->b->plan_host, slot);

    if (slot_is_control(of->part, of->layout, slot) && !(of->part->pair->flags & PAIR_COPY)) {
        memset(checked, 0, sizeof(*checked));
        return;
    }
    trial.stale_key = of->b->stale_key[slot];
    checked->fresh = oracle_check(&trial, of->b->seen_host + of->layout->slot[slot].first_word,
                                  of->check->want + member * of->check->words_max, &checked->words);
}

void check_words(struct word_check *check, struct crew *crew, const struct part *part, const struct layout *layout,
                 const struct buffers *b)
{
    struct batch_of of;

    of.check = check;
    of.part = part;
    of.layout = layout;
    of.b = b;
    crew_work(crew, layout->slots, SLOTS_AT_ONCE, check_slot, &of);
}

struct word_check *word_check_open(size_t words_max, unsigned threads)
{
    struct word_check *check = calloc(1, sizeof(*check));

    if (!check)
        return NULL;
    check->words_max = words_max;
    check->want = calloc(words_max * threads, sizeof(*check->want));
    if (check->want)
        return check;
    free(check);
    return NULL;
}

void word_check_close(struct word_check *check)
{
    free(check->want);
    free(check);
}
