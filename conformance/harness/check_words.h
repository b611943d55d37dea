/* check_words.h - compares the words of a batch with the expected ones. What an answer means is tally.h's matter. */
#ifndef CHECK_WORDS_H_INCLUDED
#define CHECK_WORDS_H_INCLUDED

#include "batch.h"
#include "crew.h"

struct checked {                 /* of one slot */
    int fresh;                   /* every word is as expected */
    struct oracle_result words;
};

struct word_check {              /* room for the answers of one batch */
    struct checked slot[PLAN_MAX_SLOTS];
    size_t words_max;
    uint32_t *want;              /* scratch of the oracle, words_max for each member of the crew */
};

/* words_max: of the longest trial. threads: of the crew. NULL if memory is short. */
struct word_check *word_check_open(size_t words_max, unsigned threads);
void word_check_close(struct word_check *check);

/* Fills check->slot for each slot of the layout. The answers do not depend on the number of threads. A control of kernels says by its
 * state whether it began early: its words are not looked at, and its answer is "not fresh". */
void check_words(struct word_check *check, struct crew *crew, const struct part *part, const struct layout *layout,
                 const struct buffers *b);

/* Does a control run in this slot, which shows that the window is open and is no trial? */
int slot_is_control(const struct part *part, const struct layout *layout, unsigned slot);
/* What the oracle has to know of a slot's trial. No stale words are known of it: see buffers.stale_key. */
struct oracle_trial slot_trial(const struct layout *layout, const struct trial_plan *plans, unsigned slot);

#endif
