/* tally.h - what the trials of one part did: counted per trial, from what the pair wrote and the oracle's answer. */
#ifndef TALLY_H_INCLUDED
#define TALLY_H_INCLUDED

#include "batch.h"
#include "check_words.h"

#define TALLY_DETAILS 16u        /* forbidden trials that are told one by one */
#define TALLY_SMS 512u           /* of the SM-pair bitmap; SMs beyond it are in no pair, and in no count of possible ones */

struct forbidden {
    uint64_t batch;
    unsigned slot;
    struct slot_shape shape;
    struct trial_plan plan;
    struct trial_state state;
    struct oracle_result words;  /* wrong == 0: an early start with the right words */
};

struct hash_set {                /* open addressing; 0 is a free place */
    uint64_t *key, count;
    size_t room;
};

struct tally {
    uint64_t run, exercised, witnessed, cut_short;
    uint64_t outcome[WORD_CLASS_COUNT]; /* trials by the class of their first wrong word; [WORD_FRESH]: all fresh */
    uint64_t early_start, overlap, forbidden;
    uint64_t controls, controls_started; /* interleaved controls, and those that began inside the hold */
    uint64_t plan_hash, expected_hash;
    uint64_t repeated;           /* trials whose key is that of another one at the same place or beside it: their words prove nothing */
    struct hash_set schedules;
    struct hash_set shapes;      /* distinct launches: grids, threads, words. Trials of one shape are no independent draws */
    uint64_t sm_pairs;
    struct forbidden detail[TALLY_DETAILS];
    unsigned details;
    unsigned char *sm_pair_set;  /* TALLY_SMS * TALLY_SMS bits */
};

int tally_open(struct tally *tally);   /* 0 if memory is short */
void tally_close(struct tally *tally);

/* Pairs of SMs that a device of so many can fill. */
uint64_t tally_pairs_possible(unsigned sms);

/* Plans only: hashes of what is planned and expected. want is scratch. */
void tally_plans(struct tally *tally, const struct part *part, const struct layout *layout, const struct trial_plan *plans,
                 uint32_t *want);
/* A finished batch and its words (of check_words). sm_pairs: also collect which SMs wrote and read. */
void tally_batch(struct tally *tally, const struct part *part, const struct layout *layout, const struct buffers *b,
                 uint64_t batch, int sm_pairs, const struct checked *checked);

#endif
