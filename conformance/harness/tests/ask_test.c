/* ask_test.c - what the questions of a case of kind api are drawn from: the run's seed, and the case's name; and that a wrong answer is
   recorded before the next question is put. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

static unsigned mutants;

unsigned variants_of_case(struct variant *variants, const struct case_info *info, enum profile profile)
{
    (void)info, (void)profile;
    memset(variants, 0, mutants * sizeof(*variants));
    return mutants;
}

unsigned long long run_trials(const struct case_info *info, enum profile profile, int is_model)
{
    (void)info, (void)profile, (void)is_model;
    return 1;
}

static void ask_wrongly(struct ask *ask);

const struct pair *run_find_pair(const struct case_info *info, const char *tag)
{
    static const struct pair mutant = { .ask = ask_wrongly };

    (void)info, (void)tag;
    return &mutant;
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

/* What stands in the record when the second question is put. */
static struct record *recorded;
static char said_so_far[256];

static void read_record(void)
{
    size_t length;

    fflush(recorded->file);
    rewind(recorded->file);
    length = fread(said_so_far, 1, sizeof(said_so_far) - 1, recorded->file);
    said_so_far[length] = '\0';
}

static void ask_wrongly(struct ask *ask)
{
    ask_expect_number(ask, "the first question", 1, 1);
    ask_expect_number(ask, "the second question", 1, 2);
    read_record();
    ask_expect_number(ask, "the third question", 3, 4);
    ask->kills = ask->tried = 1;
}

static void ask_rightly(struct ask *ask) { ask_expect_number(ask, "a question", 1, 1); }

static void ask_it(void (*questions)(struct ask *ask), int proving)
{
    static const char *const nobody[] = { NULL }, *const one[] = { "nowait", NULL };
    struct device device = { 0 };
    struct record record = { .file = tmpfile() };
    struct case_info info = { .name = "A-01", .proving = proving, .mutants = proving ? one : nobody };
    struct run run = { .device = &device, .record = &record };
    struct pair pair = { .ask = questions };
    enum case_status status;

    recorded = &record;
    said_so_far[0] = '\0';
    ask_case(&run, &info, &pair, &status);
    read_record();
    fclose(record.file);
}

int main(void)
{
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(2, "A-01.pair.widened.built"), "another seed draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(1, "A-02.pair.widened.built"), "another case draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") == seed_of(1, "A-01.pair.widened.built"), "the same seed draws the same ones");
    ask_it(ask_wrongly, 0);
    check(strcmp(said_so_far, "{\"record\":\"wrong\",\"case\":\"A-01\",\"what\":\"the second question\",\"answer\":\"1\"}\n") == 0,
          "the first wrong answer is recorded at once, and no other one");
    mutants = 1;
    ask_it(ask_rightly, 1);
    check(said_so_far[0] == '\0', "right answers are not, nor a mutant's wrong ones");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
