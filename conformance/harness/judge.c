/* judge.c - the verdict of a case. */
#include "judge.h"

#include <math.h>
#include <stdio.h>

const char *const case_status_name[CASE_STATUS_COUNT] = { "PASS", "FAIL", "INCONCLUSIVE", "NOT_SUPPORTED", "HANG" };
const char *const variant_status_name[VARIANT_STATUS_COUNT] = { "KILLED", "SURVIVED", "EQUIVALENT_HERE", "NOT_APPLICABLE" };

enum variant_status judge_variant(uint64_t kills, int applicable, int may_be_equivalent)
{
    if (!applicable)
        return VARIANT_NOT_APPLICABLE;
    if (may_be_equivalent) /* a rerun that sees no kill changes nothing: neither answer takes the PASS away */
        return kills ? VARIANT_KILLED : VARIANT_EQUIVALENT;
    return kills >= JUDGE_KILLS ? VARIANT_KILLED : VARIANT_SURVIVED;
}

enum case_status judge_case(const struct case_evidence *evidence, char *reason)
{
    reason[0] = '\0';
    if (evidence->forbidden)
        return CASE_FAIL;
    if (!evidence->proving) {
        snprintf(reason, 128, "observing: %llu of %llu trials were exercised", (unsigned long long)evidence->exercised,
                 (unsigned long long)evidence->planned);
        return CASE_INCONCLUSIVE;
    }
    if (evidence->exercised == 0 || evidence->exercised * 100 < evidence->planned * JUDGE_FLOOR_PERCENT) {
        snprintf(reason, 128, "not-exercised: %llu of %llu trials, the floor is %u %%", (unsigned long long)evidence->exercised,
                 (unsigned long long)evidence->planned, JUDGE_FLOOR_PERCENT);
        return CASE_INCONCLUSIVE;
    }
    if (evidence->repeated) {
        snprintf(reason, 128, "repeated-plan: %llu of %llu trials expected the words of another one",
                 (unsigned long long)evidence->repeated, (unsigned long long)evidence->run);
        return CASE_INCONCLUSIVE;
    }
    if (evidence->needs_witness && evidence->witnessed * 2 < evidence->run) {
        snprintf(reason, 128, "no-witness: in %llu of %llu trials the primary saw the dependent run, half is the floor",
                 (unsigned long long)evidence->witnessed, (unsigned long long)evidence->run);
        return CASE_INCONCLUSIVE;
    }
    if (evidence->survived) {
        snprintf(reason, 128, "mutant-survived: %s%s", evidence->survivor, evidence->survived > 1 ? " and others" : "");
        return CASE_INCONCLUSIVE;
    }
    if (evidence->broken_wait_survived) {
        snprintf(reason, 128, "mutant-survived: the broken wait of the largest X");
        return CASE_INCONCLUSIVE;
    }
    return CASE_PASS;
}

enum case_status judge_answers(int proving, unsigned asked, unsigned wrong, unsigned skipped, unsigned survived)
{
    if (wrong)
        return CASE_FAIL;
    return proving && asked && !skipped && !survived ? CASE_PASS : CASE_INCONCLUSIVE;
}

double judge_bound95(uint64_t n) { return -expm1(log(0.05) / (double)n); }
