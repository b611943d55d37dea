/* judge_test.c - the verdict of a case, over what decides it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "judge.h"

static enum case_status judged_of(uint64_t planned, int proving, uint64_t exercised, uint64_t forbidden, unsigned survived, int broken)
{
    struct case_evidence e;
    char reason[128];
    memset(&e, 0, sizeof(e));
    e.proving = proving;
    e.planned = planned;
    e.exercised = exercised;
    e.forbidden = forbidden;
    e.survived = survived;
    e.survivor = "nowait";
    e.broken_wait_survived = broken;
    return judge_case(&e, reason);
}

static enum case_status judged(int proving, uint64_t exercised, uint64_t forbidden, unsigned survived, int broken)
{
    return judged_of(1000, proving, exercised, forbidden, survived, broken);
}

/* A PASS, except for this one thing. */
static enum case_status judged_with(int needs_witness, uint64_t exercised, uint64_t witnessed, uint64_t repeated)
{
    struct case_evidence e;
    char reason[128];
    memset(&e, 0, sizeof(e));
    e.proving = 1;
    e.planned = e.run = 1000;
    e.exercised = exercised;
    e.needs_witness = needs_witness;
    e.witnessed = witnessed;
    e.repeated = repeated;
    return judge_case(&e, reason);
}

int main(void)
{
    check(judged(1, 1000, 0, 0, 0) == CASE_PASS, "everything shown is a PASS");
    check(judged(1, 800, 0, 0, 0) == CASE_PASS, "the floor itself is enough");
    check(judged(1, 799, 0, 0, 0) == CASE_INCONCLUSIVE, "below the floor nothing is proven");
    check(judged_of(0, 1, 0, 0, 0, 0) == CASE_INCONCLUSIVE, "nothing planned proves nothing");
    check(judged(1, 1000, 1, 0, 0) == CASE_FAIL, "one forbidden outcome is a FAIL");
    check(judged(1, 0, 1, 3, 1) == CASE_FAIL, "a FAIL does not need to be exercised");
    check(judged(1, 1000, 0, 1, 0) == CASE_INCONCLUSIVE, "a surviving mutant takes the PASS away");
    check(judged(1, 1000, 0, 0, 1) == CASE_INCONCLUSIVE, "so does the broken wait of the largest X");
    check(judged_with(1, 1000, 500, 0) == CASE_PASS, "half of the trials with a witness are enough");
    check(judged_with(1, 1000, 499, 0) == CASE_INCONCLUSIVE, "fewer are not");
    check(judged_with(1, 900, 499, 0) == CASE_INCONCLUSIVE, "nor where they are half of those that were exercised");
    check(judged_with(0, 1000, 0, 0) == CASE_PASS, "where no witness is planned none is needed");
    check(judged_with(1, 1000, 1000, 1) == CASE_INCONCLUSIVE, "one repeated plan takes the PASS away");
    check(judged(0, 1000, 0, 0, 0) == CASE_INCONCLUSIVE, "an observing case never passes");
    check(judged(0, 1000, 1, 0, 0) == CASE_FAIL, "but it can fail");
    check(judge_variant(11, 1, 0) == VARIANT_SURVIVED, "eleven kills are not enough");
    check(judge_variant(12, 1, 0) == VARIANT_KILLED, "twelve are");
    check(judge_variant(0, 1, 1) == VARIANT_EQUIVALENT, "a named candidate may be equivalent");
    check(judge_variant(1, 1, 1) == VARIANT_KILLED, "and one kill shows that it is not");
    check(judge_variant(99, 0, 0) == VARIANT_NOT_APPLICABLE, "what does not apply is not scored");
    check(fabs(judge_bound95(100000) - 2.99569e-5) < 1e-9, "bound of 100,000 trials");
    check(fabs(judge_bound95(1) - 0.95) < 1e-12, "bound of one trial");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
