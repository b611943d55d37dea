/* judge.h - from tallies to the status of a case. Overlap is never required, green is never given: PASS is earned. */
#ifndef JUDGE_H_INCLUDED
#define JUDGE_H_INCLUDED

#include <stdint.h>

enum case_status { CASE_PASS, CASE_FAIL, CASE_INCONCLUSIVE, CASE_NOT_SUPPORTED, CASE_HANG, CASE_STATUS_COUNT };
extern const char *const case_status_name[CASE_STATUS_COUNT];

enum variant_status { VARIANT_KILLED, VARIANT_SURVIVED, VARIANT_EQUIVALENT, VARIANT_NOT_APPLICABLE, VARIANT_STATUS_COUNT };
extern const char *const variant_status_name[VARIANT_STATUS_COUNT];

#define JUDGE_KILLS 12u          /* fewer kills leave more than 1 in 100,000 that a rerun sees none */
#define JUDGE_FLOOR_PERCENT 80u  /* of the planned trials that have to be exercised */

struct case_evidence {
    int proving;
    uint64_t planned, exercised, forbidden;
    uint64_t run, witnessed, repeated;
    int needs_witness;           /* visibility in the widened window: the primary saw the dependent run, in most trials */
    unsigned survived;           /* applicable mutants and controls that did not die */
    const char *survivor;        /* one of them */
    int broken_wait_survived;    /* the one of the largest X */
};

enum variant_status judge_variant(uint64_t kills, int applicable, int may_be_equivalent);
/* reason: a short text, at least 128 bytes, empty if there is nothing to say. */
enum case_status judge_case(const struct case_evidence *evidence, char *reason);
/* The same for a case of kind api: how many questions were asked, answered wrong, and could not be put; mutants that survived. */
enum case_status judge_answers(int proving, unsigned asked, unsigned wrong, unsigned skipped, unsigned survived);
/* One-sided 95 % upper bound of the rate of a fault that n trials did not show: 1 - 0.05^(1/n). n > 0. */
double judge_bound95(uint64_t n);

#endif
