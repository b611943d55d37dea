/* decisions_test.c - which variants a case runs, what they are judged by, and the verdict on answers: without a device. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "record_case.h"
#include "variants.h"

static const char *const nobody[] = { NULL };
static const char *const two[] = { "nowait", "image", NULL };
static const char *const same[] = { "same", NULL };
static const char *const attron[] = { "attron", NULL };
static struct pair pair = { "pair", SHAPE_WORDS, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL };
static struct case_info info = { "TEST-01.pair.widened.captured", "TEST-01", "documented", "visibility", "test", "pair", "widened",
                                 "captured", 0, 1, 1, 0, 90, 12030, { 64, 64, 64, 64 }, two, attron, 0 };

/* What the harness would find in its tables. */
const struct tag_info *case_tag(const char *tag)
{
    static const struct tag_info tags[] = { { "nowait", "kernel", "t", NULL }, { "image", "image", "t", NULL },
                                            { "same", "kernel", "t", "never seen" }, { "attron", "control", "t", NULL } };
    unsigned i;

    for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        if (strcmp(tags[i].tag, tag) == 0)
            return &tags[i];
    return NULL;
}

const struct pair *run_find_pair(const struct case_info *of, const char *tag)
{
    (void)of;
    (void)tag;
    return &pair;
}

unsigned long long run_trials(const struct case_info *of, enum profile profile, int is_model)
{
    return of->trials[profile] / (is_model ? 2 : 1);
}

static struct variant_result recorded;
static enum variant_kind recorded_kind;
void record_variant(struct record *record, const struct case_info *of, const struct variant *variant, const struct variant_result *result)
{
    (void)record;
    (void)of;
    recorded = *result;
    recorded_kind = variant->kind;
}

static const struct variant *named(const struct variant *variants, unsigned count, const char *name)
{
    unsigned i;

    for (i = 0; i < count; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

static void test_base(void)
{
    struct variant base;

    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_NONE, 0);
    check(base.kind == VARIANT_BASE && strcmp(base.image, "base") == 0 && base.trials == 64 && !base.must_die, "the base runs all trials");
    check(base.variation.broken_wait == BROKEN_NONE && base.variation.x_ns == 0, "with its own wait");
    variants_base(&base, &info, PROFILE_QUICK, 1, PLANT_NONE, 0);
    check(base.trials == 32, "on the model as many as run_trials() says");
    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_BROKEN_WAIT, 0);
    check(strcmp(base.image, "brokenwait") == 0 && base.variation.broken_wait == BROKEN_AT_TRIGGER, "a planted wait returns at the trigger");
    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_BROKEN_WAIT, 500);
    check(base.variation.broken_wait == BROKEN_EARLY && base.variation.x_ns == 500, "or as early as it was asked");
    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_HANG, 500);
    check(strcmp(base.image, "base") == 0, "another plant leaves the wait alone");
    info.broken_waits = 0;
    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_BROKEN_WAIT, 0);
    check(strcmp(base.image, "base") == 0, "a case without broken waits has nothing to plant");
    info.broken_waits = 1;
    info.proving = 0;
    variants_base(&base, &info, PROFILE_QUICK, 0, PLANT_BROKEN_WAIT, 0);
    check(strcmp(base.image, "base") == 0, "nor has one that only observes");
    info.proving = 1;
}

static void test_list(void)
{
    struct variant variants[VARIANTS_MAX];
    unsigned count = variants_of_case(variants, &info, PROFILE_QUICK), i, must = 0;
    const struct variant *v;

    check(count == 2 + RESOLUTION_STEPS + 3, "two mutants, the sweep and three other broken waits");
    v = named(variants, count, "nowait");
    check(v && v->kind == VARIANT_MUTANT && v->must_die && !v->raw && !v->may_be_equivalent && v->trials == 512, "a mutant has to die");
    v = named(variants, count, "image");
    check(v && v->raw, "an erased image is launched by the raw call");
    v = named(variants, count, "early-8000");
    check(v && v->must_die && v->variation.x_ns == 8000 && v->variation.broken_wait == BROKEN_EARLY && v->trials == 128, "the largest X");
    check(v && v->variation.set_flags == PLAN_WITNESS && strcmp(v->image, "brokenwait") == 0, "with a witness, from its own image");
    v = named(variants, count, "early-4000");
    check(v && !v->must_die && v->variation.x_ns == 4000, "a smaller X may survive");
    v = named(variants, count, "early-32");
    check(v && !v->must_die && v->variation.x_ns == 32, "so may the smallest");
    v = named(variants, count, "at-trigger");
    check(v && v->must_die && v->variation.broken_wait == BROKEN_AT_TRIGGER, "at the trigger has to die");
    v = named(variants, count, "all-but-one");
    check(v && v->must_die && v->variation.broken_wait == BROKEN_ALL_BUT_ONE, "all blocks but one has to die");
    v = named(variants, count, "before-flush");
    check(v && !v->must_die && v->variation.broken_wait == BROKEN_BEFORE_FLUSH, "before the flush may live");
    check(!named(variants, count, "stale-lines"), "stale lines are for pairs that read lines early");
    for (i = 0; i < count; i++)
        must += (unsigned)variants[i].must_die;
    check(must == 5, "five have to die");
    pair.flags = PAIR_LINES;
    count = variants_of_case(variants, &info, PROFILE_QUICK);
    v = named(variants, count, "stale-lines");
    check(v && v->must_die && v->trials == 512, "stale lines have to die, and get more trials");
    count = variants_of_case(variants, &info, PROFILE_FULL);
    v = named(variants, count, "stale-lines");
    check(v && v->trials == 2048, "and more in a longer profile");
    pair.flags = 0;
    info.mutants = same;
    info.broken_waits = 0;
    count = variants_of_case(variants, &info, PROFILE_SMOKE);
    check(count == 1 && variants[0].may_be_equivalent && variants[0].trials == 64, "a candidate may be equivalent");
    info.mutants = two;
    info.broken_waits = 1;
}

/* How many trials each gets, in each profile; and every X of the sweep. */
static void test_trials(void)
{
    static const uint64_t mutant[] = { 64, 512, 2048, 8192 }, sweep[] = { 32, 128, 512, 2048 }, triage[] = { 64, 2048, 8192, 8192 };
    static const uint32_t x[] = { 8000, 4000, 2000, 1000, 500, 250, 125, 64, 32 };
    struct variant variants[VARIANTS_MAX];
    unsigned profile, i;
    char name[16];

    for (profile = 0; profile < PROFILE_COUNT; profile++) {
        unsigned count = variants_of_case(variants, &info, (enum profile)profile);
        const struct variant *v = named(variants, count, "nowait");
        check(v && v->trials == mutant[profile], "a mutant's trials");
        for (i = 0; i < RESOLUTION_STEPS; i++) {
            snprintf(name, sizeof(name), "early-%u", x[i]);
            v = named(variants, count, name);
            check(v == &variants[2 + i] && v->trials == sweep[profile] && v->variation.x_ns == x[i], "an X of the sweep, the largest first");
        }
        v = named(variants, count, "before-flush");
        check(v && v->trials == sweep[profile] && v->variation.set_flags == 0 && v->variation.x_ns == 0, "another broken wait");
        (void)variants_of_triage(variants, &info, (enum profile)profile, 0, PLANT_NONE, 0);
        for (i = 0; i < 4; i++)
            check(variants[i].trials == triage[profile], "a variation of a FAIL");
    }
}

static void test_triage(void)
{
    struct variant variants[VARIANTS_MAX];
    unsigned count = variants_of_triage(variants, &info, PROFILE_QUICK, 0, PLANT_NONE, 0), i;

    check(count == 4, "four variations");
    for (i = 0; i < count; i++)
        check(variants[i].kind == VARIANT_TRIAGE && variants[i].trials == 2048 && !variants[i].must_die, "none of which is judged");
    check(variants[0].variation.control == CONTROL_NONE && !variants[0].variation.set_flags && !variants[0].variation.skip, "as it failed");
    check(variants[1].variation.control == CONTROL_ATTROFF, "without the attribute");
    check(variants[2].variation.set_flags == PLAN_FENCE, "with a fence");
    check(variants[3].variation.skip == 7, "on other SMs");
    pair.flags = PAIR_CLUSTER;
    (void)variants_of_triage(variants, &info, PROFILE_QUICK, 0, PLANT_NONE, 0);
    check(variants[3].variation.skip == 8, "by whole clusters");
    pair.flags = 0;
}

static void test_applicable(void)
{
    static struct device device;
    struct variant variant;
    const char *why = NULL;

    memset(&variant, 0, sizeof(variant));
    variant.kind = VARIANT_BROKEN_WAIT;
    device.is_model = 1;
    check(!variants_applicable(&variant, &device, &why) && why, "the model has no broken waits");
    device.is_model = 0;
    for (device.cc = 90; device.cc <= 120; device.cc += 10)
        check(variants_applicable(&variant, &device, &why), "a GPU has, whichever it is");
    device.is_model = 1;
    variant.kind = VARIANT_MUTANT;
    check(variants_applicable(&variant, &device, &why), "mutants run on both");
}

static struct case_evidence judge_one(enum variant_kind kind, int must_die, uint64_t kills, int applicable, int candidate, uint32_t x_ns,
                                      struct resolution *resolution, enum variant_status *status)
{
    struct variant variant;
    struct variant_result result;
    struct case_evidence evidence;

    memset(&variant, 0, sizeof(variant));
    memset(&result, 0, sizeof(result));
    memset(&evidence, 0, sizeof(evidence));
    variant.kind = kind;
    variant.name = candidate ? "same" : "nowait";
    variant.must_die = must_die;
    variant.may_be_equivalent = candidate;
    if (x_ns)
        variant.variation.broken_wait = BROKEN_EARLY;
    variant.variation.x_ns = x_ns;
    result.applicable = applicable;
    result.tally.run = 100;
    result.tally.forbidden = kills;
    variants_judge(&variant, &result, &evidence, resolution);
    check(result.trials == 100 && result.kills == kills, "kills and trials are the tally's");
    *status = result.status;
    return evidence;
}

static void test_judge(void)
{
    struct resolution resolution;
    enum variant_status status;
    struct case_evidence e;

    memset(&resolution, 0, sizeof(resolution));
    e = judge_one(VARIANT_MUTANT, 1, JUDGE_KILLS, 1, 0, 0, &resolution, &status);
    check(status == VARIANT_KILLED && !e.survived && !e.broken_wait_survived, "twelve kills kill");
    e = judge_one(VARIANT_MUTANT, 1, JUDGE_KILLS - 1, 1, 0, 0, &resolution, &status);
    check(status == VARIANT_SURVIVED && e.survived == 1 && strcmp(e.survivor, "nowait") == 0 && !e.broken_wait_survived, "eleven do not");
    e = judge_one(VARIANT_MUTANT, 1, 0, 0, 0, 0, &resolution, &status);
    check(status == VARIANT_NOT_APPLICABLE && !e.survived, "what does not apply cannot survive");
    e = judge_one(VARIANT_MUTANT, 1, 0, 1, 1, 0, &resolution, &status);
    check(status == VARIANT_EQUIVALENT && !e.survived, "a candidate that nothing kills is equivalent here");
    e = judge_one(VARIANT_BROKEN_WAIT, 1, 0, 1, 0, 0, &resolution, &status);
    check(status == VARIANT_SURVIVED && e.broken_wait_survived && !e.survived, "a broken wait that must die and lives");
    e = judge_one(VARIANT_BROKEN_WAIT, 0, 0, 1, 0, 0, &resolution, &status);
    check(!e.broken_wait_survived && !e.survived, "one that may live");
    check(!resolution.measured && !resolution.broken && resolution.survivors == 0, "none of these is the sweep's");
}

static void test_sweep(void)
{
    struct resolution resolution;
    enum variant_status status;

    memset(&resolution, 0, sizeof(resolution));
    (void)judge_one(VARIANT_BROKEN_WAIT, 1, 50, 1, 0, 8000, &resolution, &status);
    (void)judge_one(VARIANT_BROKEN_WAIT, 0, 50, 1, 0, 4000, &resolution, &status);
    check(resolution.measured && resolution.ns == 4000 && !resolution.broken, "the smallest X killed so far");
    (void)judge_one(VARIANT_BROKEN_WAIT, 0, 3, 1, 0, 2000, &resolution, &status);
    (void)judge_one(VARIANT_BROKEN_WAIT, 0, 50, 1, 0, 1000, &resolution, &status);
    check(resolution.ns == 4000 && resolution.broken, "a kill below a survivor does not count");
    check(resolution.survivors == 1 && resolution.survived[0] == 2000, "the survivor is listed");
    memset(&resolution, 0, sizeof(resolution));
    (void)judge_one(VARIANT_BROKEN_WAIT, 1, 0, 0, 0, 8000, &resolution, &status);
    check(!resolution.measured && !resolution.broken, "what does not apply measures nothing");
}

static void test_control(void)
{
    struct variant_result base;
    struct case_evidence evidence;

    memset(&base, 0, sizeof(base));
    memset(&evidence, 0, sizeof(evidence));
    base.tally.controls = 16;
    base.tally.controls_started = 16;
    base.tally.run = 99;
    variants_judge_control(NULL, &info, &base, &evidence);
    check(!evidence.survived && recorded.status == VARIANT_KILLED && recorded.kills == 16 && recorded.trials == 16, "controls that started");
    check(recorded_kind == VARIANT_CONTROL, "are recorded as controls");
    base.tally.controls_started = JUDGE_KILLS - 1;
    variants_judge_control(NULL, &info, &base, &evidence);
    check(evidence.survived == 1 && strcmp(evidence.survivor, "attron") == 0 && recorded.status == VARIANT_SURVIVED, "controls that did not");
    base.tally.controls = base.tally.controls_started = 0;
    variants_judge_control(NULL, &info, &base, &evidence);
    check(evidence.survived == 2 && recorded.status == VARIANT_SURVIVED, "controls of which none ran have shown nothing, either");
}

static void test_answers(void)
{
    check(judge_answers(1, 3, 0, 0, 0) == CASE_PASS, "all answers as they should be");
    check(judge_answers(1, 3, 1, 0, 0) == CASE_FAIL, "one wrong");
    check(judge_answers(0, 3, 1, 0, 0) == CASE_FAIL, "a wrong one of a case that observes");
    check(judge_answers(1, 3, 1, 1, 1) == CASE_FAIL, "wrong beats what could not be asked");
    check(judge_answers(0, 3, 0, 0, 0) == CASE_INCONCLUSIVE, "observing proves nothing");
    check(judge_answers(1, 0, 0, 0, 0) == CASE_INCONCLUSIVE, "nothing asked");
    check(judge_answers(1, 3, 0, 1, 0) == CASE_INCONCLUSIVE, "a question that could not be put");
    check(judge_answers(1, 3, 0, 0, 1) == CASE_INCONCLUSIVE, "a mutant that survived");
}

int main(void)
{
    info.controls = attron;
    test_base();
    test_list();
    test_trials();
    test_triage();
    test_applicable();
    test_judge();
    test_sweep();
    test_control();
    test_answers();
    info.mutants = nobody;
    printf("%u checks passed, %u failed\n", passed, failed);
    return failed != 0;
}
