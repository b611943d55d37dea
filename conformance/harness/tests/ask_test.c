/* ask_test.c - what the questions of a case of kind api are drawn from: the run's seed, and the case's name. */
#include <stdint.h>

#include "ask.h"
#include "check.h"
#include "record_case.h"
#include "run_case.h"
#include "variants.h"

/* ---- what is around ask.c ---- */

cudaError_t cudaGetLastError(void) { return cudaSuccess; }

const char *cudaGetErrorName(cudaError_t error)
{
    (void)error;
    return "an error";
}

unsigned variants_of_case(struct variant *variants, const struct case_info *info, enum profile profile)
{
    (void)variants, (void)info, (void)profile;
    return 0;
}

unsigned long long run_trials(const struct case_info *info, enum profile profile, int is_model)
{
    (void)info, (void)profile, (void)is_model;
    return 1;
}

const struct pair *run_find_pair(const struct case_info *info, const char *tag)
{
    (void)info, (void)tag;
    return NULL;
}

void record_variant(struct record *record, const struct case_info *info, const struct variant *variant, const struct variant_result *result)
{
    (void)record, (void)info, (void)variant, (void)result;
}

void record_asked(struct record *record, const struct case_info *info, enum case_status status, const char *reason, unsigned asked,
                  const struct answer *answers, unsigned count)
{
    (void)record, (void)info, (void)status, (void)reason, (void)asked, (void)answers, (void)count;
}

/* ---- the tests ---- */

static uint64_t drawn_from;

static void keep_seed(struct ask *ask) { drawn_from = ask->seed; }

static uint64_t seed_of(uint64_t run_seed, const char *name)
{
    struct device device = { 0 };
    struct record record = { 0 };
    struct case_info info = { .name = name };
    struct run run = { .device = &device, .record = &record, .seed = run_seed };
    struct pair pair = { .ask = keep_seed };
    enum case_status status;

    ask_case(&run, &info, &pair, &status);
    return drawn_from;
}

int main(void)
{
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(2, "A-01.pair.widened.built"), "another seed draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(1, "A-02.pair.widened.built"), "another case draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") == seed_of(1, "A-01.pair.widened.built"), "the same seed draws the same ones");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
