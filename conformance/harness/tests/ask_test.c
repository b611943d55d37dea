/* ask_test.c - what the questions of a case of kind api are drawn from: the run's seed, and the case's name; and that a wrong answer is
   recorded before the next question is put. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "circumstances.h"
#include "check.h"
#include "record_case.h"
#include "run_case.h"
#include "variants.h"

/* ---- what is around ask.c ---- */

cudaError_t cudaGetLastError(void) { return cudaSuccess; }

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : error == cudaErrorInvalidValue ? "cudaErrorInvalidValue" : "an error";
}

static unsigned mutants;

unsigned variants_of_case(struct variant *variants, const struct case_info *info, enum profile profile)
{
    (void)info, (void)profile;
    unsigned i;

    memset(variants, 0, mutants * sizeof(*variants));
    for (i = 0; i < mutants; i++)
        variants[i].name = "nowait";
    return mutants;
}

unsigned long long run_trials(const struct case_info *info, enum profile profile, int is_model)
{
    (void)info;
    return 1 + 10 * (unsigned)profile + 100 * (unsigned)is_model;
}

static double now_s = 1000.0;

double run_now_s(void) { return now_s; }

/* Each look at the stream takes a hundredth of a second; after so many of them its work has ended. */
static unsigned looks_left;
static cudaError_t ended_with;

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    now_s += 0.01;
    if (looks_left == 0)
        return ended_with;
    looks_left--;
    return cudaErrorNotReady;
}

static void ask_wrongly(struct ask *ask);

static void (*mutant_asks)(struct ask *ask) = ask_wrongly;

const struct pair *run_find_pair(const struct case_info *info, const char *tag)
{
    static struct pair mutant;

    (void)info, (void)tag;
    mutant.ask = mutant_asks;
    return &mutant;
}

static unsigned long long kills, tried;
static enum variant_status judged;
static unsigned variants_judged;
static unsigned answered, answers_kept;
static char told[512];
static enum case_status verdict;

void record_variant(struct record *record, const struct case_info *info, const struct variant *variant, const struct variant_result *result)
{
    (void)record, (void)info, (void)variant;
    kills = result->kills;
    tried = result->trials;
    judged = result->status;
    variants_judged++;
}

void record_asked(struct record *record, const struct case_info *info, enum case_status status, const char *reason, unsigned asked,
                  const struct answer *answers, unsigned count)
{
    (void)record, (void)info, (void)answers;
    verdict = status;
    answered = asked;
    answers_kept = count;
    snprintf(told, sizeof(told), "%s", reason);
}

/* What stands around questions is no call of these tests: each circumstance that suits is told. */
const char *const circumstance_name[CIRCUMSTANCES] = { "alone", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                                                       "twelve", "thirteen", "fourteen" };
#define CALLS 5u               /* what the case alone is said to have called */
static enum circumstance around;
static unsigned circumstances, begins, open_ones, runs;

int circumstance_suits(const struct case_info *info, enum circumstance circumstance, unsigned calls)
{
    (void)info;
    return circumstance != EARLY && calls == CALLS;
}

unsigned long long circumstances_trials(const struct case_info *info, enum circumstance circumstance, unsigned long long alone)
{
    (void)info;
    return circumstance == ALONE ? alone : 1;
}

void circumstances_begin(enum circumstance circumstance)
{
    around = circumstance;
    circumstances |= circumstance != ALONE ? 1u << circumstance : 0;
    begins++;
    open_ones++;
}

unsigned circumstances_end(void)
{
    around = ALONE;
    open_ones--;
    return CALLS;
}

void circumstances_run(void (*run)(void *of), void *of)
{
    runs++;
    run(of);
}

static unsigned unrun;

void record_unrun(struct record *record, const struct case_info *info, enum case_status status, const char *reason)
{
    (void)record, (void)info;
    unrun++;
    verdict = status;
    snprintf(told, sizeof(told), "%s", reason);
}

/* ---- the tests ---- */

static struct ask kept;

static void keep(struct ask *ask) { kept = *ask; }

/* What a case of this name is asked with in such a run. */
static const struct ask *asked_in(uint64_t seed, enum profile profile, int is_model, const char *name)
{
    struct device device = { .is_model = is_model };
    struct record record = { 0 };
    struct case_info info = { .name = name };
    struct run run = { .device = &device, .record = &record, .seed = seed, .profile = profile };
    struct pair pair = { .ask = keep };
    enum case_status status;

    ask_case(&run, &info, &pair, &status);
    return &kept;
}

/* How much is asked in this profile. */
static unsigned long long trials_of(enum profile profile, int is_model) { return asked_in(1, profile, is_model, "a case")->trials; }

static uint64_t seed_of(uint64_t run_seed, const char *name) { return asked_in(run_seed, PROFILE_SMOKE, 0, name)->seed; }

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

static int timeless;

static int on_model;
static uint64_t run_seed;
static int endless;
static int has_mutants = 1;
static enum profile run_profile;

static void ask_it(void (*questions)(struct ask *ask), int proving)
{
    static const char *const nobody[] = { NULL }, *const one[] = { "nowait", NULL };
    struct device device = { .is_model = on_model };
    struct record record = { .file = tmpfile(), .timeless = timeless };
    struct case_info info = { .name = "A-01", .proving = proving, .mutants = proving && has_mutants ? one : nobody };
    struct run run = { .device = &device, .record = &record, .seed = run_seed, .profile = run_profile };
    struct pair pair = { .ask = questions };
    enum case_status status;

    recorded = &record;
    said_so_far[0] = '\0';
    ask_case(&run, &info, &pair, &status);
    endless = run.endless;
    read_record();
    fclose(record.file);
}

/* ---- signs of a loop ---- */

/* Each trial takes a tenth of a second. */
static void ask_slowly(struct ask *ask)
{
    unsigned trial;

    for (trial = 0; ask_goes_on(ask, trial, 4); trial++)
        now_s += 0.1;
    ask_expect_number(ask, "trials", trial, 4);
}

static void ask_long(struct ask *ask)
{
    unsigned trial;

    for (trial = 0; ask_goes_on(ask, trial, 3000); trial++)
        now_s += 0.1;
    ask_expect_number(ask, "trials", trial, 3000);
}

static unsigned signs(void)
{
    unsigned count = 0;
    const char *at = said_so_far;

    for (; (at = strstr(at, "\"part\":\"trials\"")); at++)
        count++;
    return count;
}

static void test_signs(void)
{
    mutants = 0;
    ask_it(ask_slowly, 0);
    check(signs() == 3 && strstr(said_so_far, "\"done\":2,\"planned\":4"), "a loop says five times a second how far it is");
    check(verdict == CASE_INCONCLUSIVE && answered == 1, "and makes each of its trials");
    timeless = 1;
    ask_it(ask_slowly, 0);
    check(signs() == 0, "on the model no time is told");
    ask_it(ask_long, 0);
    check(signs() == 2 && strstr(said_so_far, "\"done\":2048,\"planned\":3000"), "but that 1,024 trials more are done");
    timeless = 0;
}

/* ---- work that never ends ---- */

static cudaError_t awaited(struct ask *ask, unsigned looks)
{
    looks_left = looks;
    return ask_await(ask, NULL);
}

static void ask_for_ever(struct ask *ask)
{
    (void)awaited(ask, 1);
    ask_expect(ask, "work", awaited(ask, 1000000), cudaSuccess);
}

static void ask_second_for_ever(struct ask *ask)
{
    if (around == SECOND)
        ask_for_ever(ask);
    else
        ask_rightly(ask);
}

static void ask_for_ever_and_kill(struct ask *ask)
{
    ask_for_ever(ask);
    ask_expect_none(ask, "trials", JUDGE_KILLS, 64);
}

/* Where the work of the case alone ends. */
static void test_endless_elsewhere(void)
{
    on_model = 1;
    open_ones = 0;
    ask_it(ask_second_for_ever, 1);
    check(verdict == CASE_FAIL && endless, "work that never ends in a circumstance is wrong, too");
    check(open_ones == 1, "and the circumstance is left open, for its end waits for the device");
    on_model = 0;
    open_ones = 0;
    mutants = 2;
    variants_judged = 0;
    mutant_asks = ask_for_ever_and_kill;
    ask_it(ask_rightly, 1);
    check(verdict == CASE_INCONCLUSIVE && endless && variants_judged == 1, "after a mutant whose work never ends no other is asked");
    check(strstr(told, "nowait: not asked") != NULL && strstr(told, "survived") == NULL, "which is told of the others");
    mutants = 1;
    ask_it(ask_rightly, 1);
    check(verdict == CASE_PASS && endless && judged == VARIANT_KILLED, "the last one may die by it");
    mutant_asks = ask_wrongly;
    mutants = 0;
}

static void test_endless(void)
{
    struct ask ask;

    memset(&ask, 0, sizeof(ask));
    check(awaited(&ask, 1000) == cudaSuccess && !ask.endless, "the first work of a case may take ten seconds");
    check(awaited(&ask, 50000) == cudaSuccess && !ask.endless, "later work may take fifty times as long");
    check(awaited(&ask, 1000 * 50000) == cudaErrorLaunchTimeout && ask.endless,
          "work that takes a thousand times as long as the longest never ends");
    memset(&ask, 0, sizeof(ask));
    ended_with = cudaErrorLaunchFailure;
    check(awaited(&ask, 1) == cudaErrorLaunchFailure && !ask.endless, "work that failed has ended");
    ended_with = cudaSuccess;
    check(awaited(&ask, 190) == cudaSuccess && !ask.endless, "after short work other work may take almost two seconds");
    memset(&ask, 0, sizeof(ask));
    check(awaited(&ask, 1) == cudaSuccess && awaited(&ask, 2) == cudaSuccess, "short work ends");
    check(awaited(&ask, 400) == cudaErrorLaunchTimeout && ask.endless, "after short work what takes four seconds never ends");
    mutants = 0;
    ask_it(ask_for_ever, 1);
    check(verdict == CASE_FAIL && endless, "work that never ends is wrong, and the run knows that it cannot wait for the device");
    ask_it(ask_rightly, 1);
    check(verdict == CASE_PASS && !endless, "after a case whose work ends the run can wait for the device");
}

/* ---- each answer that is not the wanted one is wrong, by however little ---- */

static void ask_codes(struct ask *ask)
{
    ask_expect(ask, "a", cudaErrorNotSupported, cudaSuccess);
    ask_expect(ask, "b", cudaErrorNotSupported, cudaErrorInvalidValue);
    ask_expect(ask, "c", cudaSuccess, cudaErrorInvalidValue);
    ask_expect_refusal(ask, "d", cudaSuccess);
    ask_expect_text(ask, "e", "P>D 1,0,1; P>M 0,0,0", "P>D 1,0,1");
    ask_expect_text(ask, "f", "P>D 1,0,1", "P>D 1,0,1; P>M 0,0,0");
    ask_expect_text(ask, "g", "P>D 1,0,1", "P>D 1,1,1");
    ask_expect_text(ask, "h", "", "no edge");
    ask_expect_number(ask, "i", 2, 1);
    ask_expect_number(ask, "j", 0, 1);
    ask_expect_number(ask, "k", -1, 255);
    ask_expect_number(ask, "l", 1l << 32, 0);
    ask_expect_none(ask, "m", 1, 99);
    ask_expect(ask, "n", cudaErrorMemoryAllocation, cudaErrorInvalidValue);
    ask_expect_update(ask, "o", cudaErrorInvalidValue);
}

static void ask_rest(struct ask *ask)
{
    ask_expect(ask, "a", cudaErrorInvalidValue, cudaErrorInvalidValue);
    ask_expect_refusal(ask, "b", cudaErrorNotSupported);
    ask_expect_text(ask, "c", "0,0,0", "0,0,0");
    ask_expect_number(ask, "d", -1, -1);
    ask_expect_none(ask, "e", 0, 99);
    ask_note(ask, "f", cudaErrorNotSupported);
    ask_note_number(ask, "g", 7);
}

static void ask_and_skip(struct ask *ask)
{
    ask_rightly(ask);
    ask_skip(ask, "another question", "could not be put");
}

static void ask_skip_and_err(struct ask *ask)
{
    ask_and_skip(ask);
    ask_expect_number(ask, "a third question", 1, 2);
}

static void ask_what_is_not_there(struct ask *ask) { ask_unsupported(ask, "no such thing"); }

static void ask_and_lack(struct ask *ask)
{
    ask_rightly(ask);
    ask_unsupported(ask, "no such thing");
}

static void ask_too_much(struct ask *ask)
{
    unsigned i;

    for (i = 0; i <= ASK_ROWS; i++)
        ask_note_number(ask, "a row", i);
}

static void ask_again(struct ask *ask)
{
    unsigned i;

    ask_expect_number(ask, "a question", 1, 1);
    for (i = 0; i < 2 * ASK_ROWS; i++)
        ask_note_number(ask, "a row", i % (ASK_ROWS - 2));
    ask_expect_number(ask, "a last question", 1, 1);
}

static void ask_otherwise(struct ask *ask)
{
    ask_again(ask);
    ask_note_number(ask, "another row", 0); /* the answer was given, but to no such question */
}

/* There is no memory for the first call, so the second question has nothing to ask about. */
static void ask_without_memory(struct ask *ask)
{
    ask_expect(ask, "room", cudaErrorMemoryAllocation, cudaSuccess);
    ask_expect_number(ask, "what lies there", 1, 2);
}

static void ask_with_little_memory(struct ask *ask)
{
    ask_rightly(ask);
    ask_expect(ask, "more room", cudaErrorMemoryAllocation, cudaSuccess);
}

static void ask_for_update(struct ask *ask)
{
    ask_expect_update(ask, "an update", cudaErrorGraphExecUpdateFailure);
    ask_expect_number(ask, "what was updated", 1, 2);
}

static void ask_after_refused_update(struct ask *ask)
{
    ask_rightly(ask);
    ask_expect_update(ask, "an update", cudaErrorGraphExecUpdateFailure);
}

/* Nothing that these questions were told is wrong, nor is it right: so many could not be put. */
static int could_not_be_put(void (*questions)(struct ask *ask), unsigned skipped)
{
    struct ask ask;

    memset(&ask, 0, sizeof(ask));
    questions(&ask);
    return ask.wrong == 0 && ask.skipped == skipped;
}

static void test_means(void)
{
    unsigned code, lacking = 0;

    for (code = 0; code < 2000; code++)
        lacking += ask_lacks_means((cudaError_t)code) != 0;
    check(lacking == 3 && ask_lacks_means(cudaErrorMemoryAllocation) && ask_lacks_means(cudaErrorCallRequiresNewerDriver) &&
              ask_lacks_means(cudaErrorInsufficientDriver), "three errors say nothing of the device, and no other one");
    check(could_not_be_put(ask_without_memory, 2), "what lacks its means, and what comes after it, accuses nobody");
    check(could_not_be_put(ask_for_update, 2), "nor does an update that was refused");
    mutants = 0;
    ask_it(ask_with_little_memory, 1);
    check(verdict == CASE_INCONCLUSIVE && strstr(told, "more room") != NULL, "but it keeps a case from passing, and is told");
    ask_it(ask_after_refused_update, 1);
    check(verdict == CASE_INCONCLUSIVE && strstr(told, "the update was refused") != NULL, "and so does the update");
}

static unsigned wrong_of(void (*questions)(struct ask *ask))
{
    struct ask ask;

    memset(&ask, 0, sizeof(ask));
    questions(&ask);
    return ask.wrong;
}

static void few_kills(struct ask *ask) { ask_expect_none(ask, "trials", JUDGE_KILLS - 1, 64); }
static void enough_kills(struct ask *ask) { ask_expect_none(ask, "trials", JUDGE_KILLS, 64); }

static void test_verdicts(void)
{
    struct ask ask;

    memset(&ask, 0, sizeof(ask));
    ask_codes(&ask);
    check(ask.asked == 15 && ask.wrong == 15 && ask.skipped == 0, "every answer that is not the wanted one is wrong");
    check(wrong_of(ask_rest) == 0, "the wanted ones are not, nor what is only noted");
    mutants = 0;
    ask_it(ask_rest, 1);
    ask_it(ask_and_skip, 1);
    check(verdict == CASE_INCONCLUSIVE && strstr(told, "could not be put"), "a question that could not be put keeps a case from passing");
    ask_it(ask_skip_and_err, 1);
    check(verdict == CASE_FAIL && strstr(told, "a third question: 1, not 2"), "but it excuses no wrong answer to another one");
    ask_it(ask_what_is_not_there, 1);
    check(verdict == CASE_NOT_SUPPORTED && unrun == 1 && strcmp(told, "no such thing") == 0, "what a device does not have is not supported, with a reason");
    ask_it(ask_and_lack, 1);
    check(verdict == CASE_PASS && unrun == 1, "but not once it has answered");
    ask_it(ask_too_much, 1);
    check(verdict == CASE_INCONCLUSIVE && answers_kept == ASK_ROWS, "so do answers that the record has no room for");
    ask_it(ask_again, 1);
    check(verdict == CASE_PASS && answers_kept == ASK_ROWS, "those that it has already need no room");
    ask_it(ask_otherwise, 1);
    check(verdict == CASE_INCONCLUSIVE, "but the same answer to another question does");
    mutants = 1;
    mutant_asks = few_kills;
    ask_it(ask_rightly, 1);
    check(verdict == CASE_INCONCLUSIVE && judged == VARIANT_SURVIVED && kills == JUDGE_KILLS - 1 && tried == 64, "so does a mutant with eleven kills");
    check(strstr(told, "mutant-survived: nowait") != NULL, "which is named");
    mutant_asks = enough_kills;
    ask_it(ask_rightly, 1);
    check(verdict == CASE_PASS && judged == VARIANT_KILLED && kills == JUDGE_KILLS && answered == 1, "twelve are enough");
    ask_it(ask_rightly, 0);
    check(verdict == CASE_INCONCLUSIVE, "what only observes passes never");
    variants_judged = 0;
    ask_it(ask_wrongly, 1);
    check(verdict == CASE_FAIL && variants_judged == 0, "a wrong answer fails the case, and no mutant is asked then");
}

static void ask_second_wrongly(struct ask *ask) { ask_expect_number(ask, "a question", around == SECOND, 0); }

static void ask_second_starved(struct ask *ask)
{
    ask_expect(ask, "a call", around == SECOND ? cudaErrorMemoryAllocation : cudaSuccess, cudaSuccess);
    ask_expect_number(ask, "a question", around == SECOND, 0);
}

static void ask_second_wrongly_and_starved(struct ask *ask)
{
    ask_expect_number(ask, "a question", around == SECOND, 0);
    ask_expect(ask, "a call", around == SECOND ? cudaErrorMemoryAllocation : cudaSuccess, cudaSuccess);
}

/* With fewer trials than alone. */
static void ask_alone_rightly(struct ask *ask) { ask_expect_number(ask, "a question", around != ALONE && ask->trials == 1, 0); }

/* How often circumstances were begun. */
static unsigned begins_of(void (*questions)(struct ask *ask))
{
    begins = runs = 0;
    ask_it(questions, 1);
    return begins;
}

static unsigned bits(unsigned of)
{
    unsigned count = 0;

    for (; of; of &= of - 1)
        count++;
    return count;
}

static void test_circumstances(void)
{
    unsigned none, drawn;

    mutants = 0;
    on_model = 1;
    ask_it(ask_second_wrongly, 1);
    check(verdict == CASE_FAIL && strstr(told, "two: a question: 1, not 0") != NULL, "what is wrong in a circumstance is wrong with the case, and named");
    check(answered == 1 && answers_kept == 1, "but the answers are those that were given alone");
    check(strstr(said_so_far, "\"what\":\"a question\",\"answer\":\"1\"") != NULL, "and is recorded at once");
    ask_it(ask_second_starved, 1);
    check(verdict == CASE_INCONCLUSIVE && strstr(told, "two: a call: ") != NULL,
          "a call that lacked its means in a circumstance keeps the case from passing, and is named");
    ask_it(ask_second_wrongly_and_starved, 1);
    check(verdict == CASE_FAIL, "but what was wrong before that call stays wrong");
    check(begins_of(ask_alone_rightly) == 2 && verdict == CASE_FAIL && !strchr(told, ';'), "one circumstance in which something is wrong is enough");
    check(begins_of(ask_wrongly) == 1 && begins_of(ask_and_skip) == 1, "none is needed if something is wrong or missing alone");
    circumstances = 0;
    check(begins_of(ask_rightly) == CIRCUMSTANCES - 1 && runs == begins, "all are put by the one that may be another thread");
    check(verdict == CASE_PASS && circumstances == (1u << CIRCUMSTANCES) - 1 - (1u << ALONE) - (1u << EARLY),
          "on the model the questions are put in all that suit");
    check(open_ones == 0 && told[0] == '\0', "each has its end, and nothing is told");
    has_mutants = 0;
    ask_it(ask_rightly, 1);
    has_mutants = 1;
    circumstances = 0;
    ask_it(ask_rightly, 0);
    check(circumstances == 0, "but what only observes in none");
    check(answers_kept == 1, "whose answers are kept, though those in circumstances before were not");
    on_model = 0;
    ask_it(ask_rightly, 1);
    check(bits(circumstances) == 1, "and on a GPU in one");
    for (run_seed = 1, none = drawn = 0; run_seed < 200; run_seed++) {
        circumstances = 0;
        ask_it(ask_rightly, 1);
        none += circumstances == 0;
        drawn |= circumstances;
    }
    check(bits(drawn) == CIRCUMSTANCES - 2, "which the seed draws");
    check(none == 0, "where the one that it draws does not suit, in the next one that does");
    run_seed = 0;
    run_profile = PROFILE_FULL;
    check(begins_of(ask_rightly) == CIRCUMSTANCES - 1, "but in all of them in a full run");
    run_profile = PROFILE_SMOKE;
}

int main(void)
{
    test_verdicts();
    test_means();
    test_circumstances();
    test_signs();
    test_endless();
    test_endless_elsewhere();
    mutant_asks = ask_wrongly;
    mutants = 0;
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(2, "A-01.pair.widened.built"), "another seed draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") != seed_of(1, "A-02.pair.widened.built"), "another case draws other questions");
    check(seed_of(1, "A-01.pair.widened.built") == seed_of(1, "A-01.pair.widened.built"), "the same seed draws the same ones");
    check(trials_of(PROFILE_SMOKE, 0) == 1 && trials_of(PROFILE_SOAK, 0) == 31 && trials_of(PROFILE_QUICK, 1) == 111,
          "as much is asked as the profile says, on a GPU and on the model");
    ask_it(ask_wrongly, 0);
    check(strcmp(said_so_far, "{\"record\":\"wrong\",\"case\":\"A-01\",\"what\":\"the second question\",\"answer\":\"1\"}\n") == 0,
          "the first wrong answer is recorded at once, and no other one");
    mutants = 1;
    ask_it(ask_rightly, 1);
    check(said_so_far[0] == '\0', "right answers are not, nor a mutant's wrong ones");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
