/* record_test.c - the records of a case, byte by byte: what only hardware has is in them, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "part.h"
#include "record_case.h"

const char *const case_suite = "a suite", *const case_rules_hash = "a hash";

/* Plans of two trials; what they say does not matter here. */
uint64_t part_batches(const struct part *part) { return part->pairs; }
uint64_t part_group(const struct part *part, uint64_t batch) { return batch + part->replays; }
void batch_layout(struct layout *layout, const struct part *part, uint64_t group)
{
    memset(layout, 0, sizeof(*layout));
    layout->slots = part->slots;
    layout->slot[1].shape.control = CONTROL_ATTRON;
    layout->slot[0].shape.words = (unsigned)group;
}
void batch_plan(struct trial_plan *plans, const struct part *part, const struct layout *layout, uint64_t batch)
{
    (void)part;
    (void)layout;
    memset(plans, 0, sizeof(*plans) * 2);
    plans[0].key = batch + 0x10;
    plans[0].flags = PLAN_TRIGGER_NEVER | PLAN_TRIGGER_ALL;
    plans[1].flags = PLAN_TRIGGER_LATE | PLAN_WITNESS;
    plans[1].broken_wait = BROKEN_STALE_LINES;
}

static const char *const nobody[] = { NULL };
static const struct case_info info = { "TEST-01.pair", "TEST-01", "documented", "visibility", "test", "pair", "widened", "captured", 0, 1, 0, 0, 90,
                                       12030, { 1, 2, 3, 4 }, nobody, nobody, 0 };
static struct record record;
static char text[16384];

static void open_record(int timeless)
{
    record_open(&record, tmpfile());
    record.timeless = timeless;
    if (!record.file)
        exit(1);
}

/* Exactly these lines were recorded. */
static void expect(const char *want, const char *what)
{
    size_t length;

    rewind(record.file);
    length = fread(text, 1, sizeof(text) - 1, record.file);
    text[length] = '\0';
    fclose(record.file);
    check(strcmp(text, want) == 0, what);
    if (strcmp(text, want) != 0)
        printf("    recorded: %s    expected: %s", text, want);
}

static struct pair pair;
static struct variant variant;
static struct variant_result result;
static struct resolution resolution;
static struct device device;

static void fill(void)
{
    static struct tally *tally = &result.tally;
    unsigned i;

    memset(&result, 0, sizeof(result));
    memset(&variant, 0, sizeof(variant));
    memset(&resolution, 0, sizeof(resolution));
    memset(&device, 0, sizeof(device));
    variant.name = "a-name";
    variant.image = "an-image";
    pair.primary_name = "first";
    pair.dependent_name = "second";
    result.pair = &pair;
    result.kills = 41;
    result.trials = 42;
    result.planned = 90;
    result.wall_s = 0.5;
    result.primary.ptx_version = 90;
    result.primary.binary_version = 91;
    result.primary.regs_per_thread = 32;
    result.primary.can_overlap = 1;
    result.dependent.reason = PDL_REASON_DISABLED;
    tally->run = 80;
    tally->exercised = 70;
    tally->forbidden = 3;
    tally->witnessed = 60;
    tally->cut_short = 2;
    for (i = 0; i < WORD_CLASS_COUNT; i++)
        tally->outcome[i] = i + 1;
    tally->early_start = 8;
    tally->overlap = 9;
    tally->schedules.count = 10;
    tally->shapes.count = 11;
    tally->sm_pairs = 12;
    tally->plan_hash = 0xAB;
    tally->expected_hash = 0xCD;
    device.size.sms = 2;
}

#define OUTCOMES "\"outcomes\":{\"fresh\":1,\"stale\":2,\"poison\":3,\"misplaced\":4,\"torn\":5,\"foreign\":6,\"early_start\":8,\"overlap\":9}"
#define KERNELS(primary, dependent)                                                                                              \
    "\"kernels\":[{\"name\":\"first\",\"image\":\"" primary "\",\"ptx_version\":90,\"binary_version\":91,\"registers\":32,"      \
    "\"can_overlap\":true,\"reason\":null},{\"name\":\"second\",\"image\":\"" dependent "\",\"ptx_version\":0,\"binary_version\":0," \
    "\"registers\":0,\"can_overlap\":false,\"reason\":\"the environment variable PDL_DISABLE is set\"}]"
#define CASE "\"case\":\"TEST-01.pair\",\"rule\":\"TEST-01\",\"class\":\"documented\",\"kind\":\"visibility\",\"window\":\"widened\"," \
    "\"path\":\"captured\",\"proving\":true"

static void test_variants(void)
{
    fill();
    variant.kind = VARIANT_MUTANT;
    variant.must_die = 1;
    result.status = VARIANT_KILLED;
    open_record(1);
    record_variant(&record, &info, &variant, &result);
    expect("{\"record\":\"variant\",\"case\":\"TEST-01.pair\",\"tag\":\"a-name\",\"kind\":\"mutant\",\"status\":\"KILLED\",\"kills\":41,\"trials\":42,"
           "\"exercised\":70,\"must_die\":true,\"x_ns\":null,\"reason\":null,\"image\":\"an-image\"," OUTCOMES ","
           KERNELS("an-image", "an-image") ",\"wall_s\":null}\n", "a mutant");
    variant.kind = VARIANT_BROKEN_WAIT;
    variant.variation.broken_wait = BROKEN_EARLY;
    variant.variation.x_ns = 4000;
    variant.may_be_equivalent = 1;
    variant.raw = 1;
    result.status = VARIANT_NOT_APPLICABLE;
    result.why = "a reason";
    open_record(0);
    record_variant(&record, &info, &variant, &result);
    expect("{\"record\":\"variant\",\"case\":\"TEST-01.pair\",\"tag\":\"a-name\",\"kind\":\"broken_wait\",\"status\":\"NOT_APPLICABLE\",\"kills\":41,"
           "\"trials\":42,\"exercised\":70,\"must_die\":false,\"x_ns\":4000,\"reason\":\"a reason\",\"image\":\"an-image\"," OUTCOMES ","
           KERNELS("base", "an-image") ",\"wall_s\":0.5}\n", "a broken wait of some X, launched by the raw call");
    variant.kind = VARIANT_TRIAGE;
    variant.variation.broken_wait = BROKEN_AT_TRIGGER;
    result.pair = NULL;
    result.why = NULL;
    open_record(1);
    record_variant(&record, &info, &variant, &result);
    expect("{\"record\":\"variant\",\"case\":\"TEST-01.pair\",\"tag\":\"a-name\",\"kind\":\"triage\",\"kills\":3,\"trials\":80,\"exercised\":70,"
           "\"must_die\":false,\"x_ns\":null,\"reason\":null,\"image\":\"an-image\"," OUTCOMES ",\"kernels\":[],\"wall_s\":null}\n",
           "triage has counts and no status");
}

#define CASE_TAIL "\"schedules\":10,\"shapes\":11,\"sm_pairs\":12,\"sm_pairs_possible\":4,\"base_s\":0.5,\"wall_s\":2,"                \
    "\"plan_hash\":\"00000000000000ab\",\"expected_hash\":\"00000000000000cd\"," KERNELS("base", "base") "}\n"
#define TRIALS "\"trials\":{\"planned\":90,\"run\":80,\"exercised\":70,\"witnessed\":60,\"cut_short\":2}"

static void test_cases(void)
{
    fill();
    open_record(0);
    record_case(&record, &info, &device, &result, CASE_FAIL, "", &resolution, 2.0);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"FAIL\",\"reason\":null," TRIALS "," OUTCOMES ",\"bound95\":null,\"resolution_ns\":null,"
           "\"survived_x\":[]," CASE_TAIL, "a FAIL has no bound");
    resolution.broken = 1;
    open_record(0);
    record_case(&record, &info, &device, &result, CASE_FAIL, "", &resolution, 2.0);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"FAIL\",\"reason\":null," TRIALS "," OUTCOMES ",\"bound95\":null,\"resolution_ns\":null,"
           "\"survived_x\":[]," CASE_TAIL, "a resolution that was not measured is not told, whatever survived");
    resolution.broken = 0;
    result.tally.forbidden = 0;
    result.tally.exercised = 1;
    resolution.measured = 1;
    resolution.ns = 250;
    resolution.survivors = 2;
    resolution.survived[0] = 125;
    resolution.survived[1] = 64;
    open_record(0);
    record_case(&record, &info, &device, &result, CASE_PASS, "a reason", &resolution, 2.0);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"PASS\",\"reason\":\"a reason\",\"trials\":{\"planned\":90,\"run\":80,\"exercised\":1,"
           "\"witnessed\":60,\"cut_short\":2}," OUTCOMES ",\"bound95\":0.95,\"resolution_ns\":250,\"survived_x\":[125,64]," CASE_TAIL,
           "a PASS on a GPU has its bound and resolution");
    device.is_model = 1;
    open_record(0);
    record_case(&record, &info, &device, &result, CASE_PASS, "", &resolution, 2.0);
    rewind(record.file);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"PASS\",\"reason\":null,\"trials\":{\"planned\":90,\"run\":80,\"exercised\":1,"
           "\"witnessed\":60,\"cut_short\":2}," OUTCOMES ",\"bound95\":null,\"resolution_ns\":250,\"survived_x\":[125,64]," CASE_TAIL,
           "the model claims none");
    device.is_model = 0;
    result.tally.exercised = 0;
    open_record(0);
    record_case(&record, &info, &device, &result, CASE_INCONCLUSIVE, "", &resolution, 2.0);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"INCONCLUSIVE\",\"reason\":null,\"trials\":{\"planned\":90,\"run\":80,\"exercised\":0,"
           "\"witnessed\":60,\"cut_short\":2}," OUTCOMES ",\"bound95\":null,\"resolution_ns\":250,\"survived_x\":[125,64]," CASE_TAIL,
           "nor does a case without an exercised trial");
    open_record(1);
    record_unrun(&record, &info, CASE_NOT_SUPPORTED, "too old");
    expect("{\"record\":\"case\"," CASE ",\"status\":\"NOT_SUPPORTED\",\"reason\":\"too old\",\"trials\":{\"planned\":0,\"run\":0,\"exercised\":0,"
           "\"witnessed\":0,\"cut_short\":0}}\n", "a case that did not run counts nothing");
}

static void test_answers(void)
{
    char what[] = "a \"call\"", answer[] = "an\tanswer";
    struct answer rows[2] = { { what, answer }, { answer, what } };

    open_record(1);
    record_asked(&record, &info, CASE_FAIL, "wrong", 7, rows, 2);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"FAIL\",\"reason\":\"wrong\",\"trials\":{\"planned\":7,\"run\":7,\"exercised\":7,\"witnessed\":0,"
           "\"cut_short\":0},\"outcomes\":{},\"answers\":[{\"what\":\"a \\\"call\\\"\",\"answer\":\"an\\u0009answer\"},"
           "{\"what\":\"an\\u0009answer\",\"answer\":\"a \\\"call\\\"\"}]}\n", "questions and answers");
    open_record(1);
    record_asked(&record, &info, CASE_PASS, "", 0, rows, 0);
    expect("{\"record\":\"case\"," CASE ",\"status\":\"PASS\",\"reason\":null,\"trials\":{\"planned\":0,\"run\":0,\"exercised\":0,\"witnessed\":0,"
           "\"cut_short\":0},\"outcomes\":{},\"answers\":[]}\n", "none of either");
}

static void fill_forbidden(struct forbidden *f)
{
    memset(f, 0, sizeof(*f));
    f->batch = 21;
    f->slot = 22;
    f->shape.words = 256;
    f->shape.primary_blocks = 3;
    f->shape.dependent_blocks = 4;
    f->shape.threads = 64;
    f->shape.primary_shared_bytes = 1024;
    f->shape.residents = 5;
    f->shape.programmatic_primary = 1;
    f->plan.key = 0xEF;
    f->plan.hold_ns = 1;
    f->plan.bound_ns = 2;
    f->plan.withhold = 6;
    f->plan.repeats = 7;
    f->plan.rotate = 8;
    f->plan.broken_wait = BROKEN_EARLY;
    f->plan.x_ns = 500;
    f->state.witnessed = 9;
    f->state.early = 1;
    f->state.primary_begin_ns = 1000;
    f->state.primary_store_ns = 3000;
    f->state.dependent_begin_ns = 900;
    f->state.dependent_waited_ns = UINT64_MAX;
}

#define PLAN "\"plan\":{\"words\":256,\"blocks_primary\":3,\"blocks_dependent\":4,\"threads\":64,\"primary_shared_bytes\":1024,\"residents\":5," \
    "\"programmatic_primary\":true,\"key\":\"00000000000000ef\",\"flags\":0,\"trigger\":\"start\",\"trigger_all_threads\":false,"       \
    "\"witness\":false,\"hold_ns\":1,\"bound_ns\":2,\"withhold\":6,\"repeats\":7,\"rotate\":8,\"broken_wait\":\"early\",\"x_ns\":500}"

static void test_forbidden(void)
{
    static const char first[] = "{\"record\":\"forbidden\",\"case\":\"TEST-01.pair\",\"image\":\"an-image\",\"path\":\"captured\",\"batch\":21,\"slot\":22,"
        PLAN ",\"state\":{\"witnessed\":9,\"early\":1,\"primary_store_ns\":2000,\"dependent_begin_ns\":-100,\"dependent_waited_ns\":null},"
        "\"seen\":{\"wrong\":0}}\n";
    static const char second[] = "{\"record\":\"forbidden\",\"case\":\"TEST-01.pair\",\"image\":\"an-image\",\"path\":\"captured\",\"batch\":21,\"slot\":22,"
        PLAN ",\"state\":{\"witnessed\":9,\"early\":1,\"primary_store_ns\":null,\"dependent_begin_ns\":null,\"dependent_waited_ns\":null},"
        "\"seen\":{\"wrong\":4,\"class\":\"torn\",\"first\":3,\"want\":\"0000000000000011\",\"got\":\"0000000000000012\",\"stale\":1,\"poison\":2,"
        "\"misplaced\":3,\"torn\":4,\"foreign\":5}}\n";
    static char both[4096];
    struct forbidden *f;
    unsigned i;

    fill();
    result.tally.details = 2;
    fill_forbidden(&result.tally.detail[0]);
    f = &result.tally.detail[1];
    fill_forbidden(f);
    f->state.primary_begin_ns = UINT64_MAX;
    f->state.dependent_begin_ns = 0;
    f->words.wrong = 4;
    f->words.first_class = WORD_TORN;
    f->words.first = 3;
    f->words.want = 0x11;
    f->words.got = 0x12;
    for (i = 0; i < WORD_CLASS_COUNT; i++)
        f->words.count[i] = i;
    open_record(1);
    record_forbidden(&record, &info, &variant, &result);
    snprintf(both, sizeof(both), "%s%s", first, second);
    expect(both, "forbidden trials, with what they saw and when");
    result.tally.details = 1;
    open_record(1);
    record_replayed(&record, &info, &variant, &result);
    snprintf(both, sizeof(both), "%s{\"record\":\"replayed\",\"case\":\"TEST-01.pair\",\"reason\":null,\"forbidden\":3,\"run\":80,\"exercised\":70," OUTCOMES "}\n",
             first);
    expect(both, "a repeated trial");
}

static void test_start_and_plan(void)
{
    struct run run;
    struct part part;
    struct tally tally;

    fill();
    memset(&run, 0, sizeof(run));
    memset(&part, 0, sizeof(part));
    memset(&tally, 0, sizeof(tally));
    strcpy(device.name, "a GPU");
    strcpy(device.uuid_hash, "abc");
    device.cc = 90;
    device.size.tick_ns = 32;
    device.driver_version = 1;
    device.runtime_version = 2;
    device.toolkit_version = 3;
    run.profile = PROFILE_SOAK;
    run.seed = 0x5EED;
    open_record(1);
    record_start(&record, &device, &run, "test");
    expect("{\"record\":\"start\",\"family\":\"test\",\"suite\":\"a suite\",\"rules_hash\":\"a hash\",\"profile\":\"soak\",\"seed\":\"0000000000005eed\","
           "\"model\":false,\"device\":{\"name\":\"a GPU\",\"cc\":90,\"sms\":2,\"uuid_hash\":\"abc\",\"tick_ns\":32},\"driver\":1,\"runtime\":2,"
           "\"toolkit\":3}\n", "what runs on what");
    part.pairs = 2;
    part.slots = 2;
    part.replays = 5;
    tally.plan_hash = 1;
    tally.expected_hash = 2;
    open_record(1);
    record_plan(&record, &info, &part, &tally, 64, 0);
    expect("{\"record\":\"plan\"," CASE ",\"planned\":64,\"batches\":2,\"slots\":2,\"plan_hash\":\"0000000000000001\","
           "\"expected_hash\":\"0000000000000002\"}\n", "a plan's hashes");
    open_record(1);
    record_plan(&record, &info, &part, &tally, 64, 1);
    rewind(record.file);
    check(fread(text, 1, sizeof(text), record.file) > 1000, "and its trials");
    check(strstr(text, "\n{\"record\":\"trial\",\"case\":\"TEST-01.pair\",\"batch\":0,\"slot\":0,") != NULL, "one record for each");
    check(strstr(text, "\"batch\":1,\"slot\":0,\"control\":false,\"words\":6,") && strstr(text, "\"key\":\"0000000000000011\""), "each in its batch's layout");
    check(strstr(text, "\"slot\":1,\"control\":true") && strstr(text, "\"trigger\":\"never\",\"trigger_all_threads\":true,\"witness\":false") &&
              strstr(text, "\"trigger\":\"late\",\"trigger_all_threads\":false,\"witness\":true") && strstr(text, "\"broken_wait\":\"stale-lines\""),
          "with what was drawn");
    fclose(record.file);
}

int main(void)
{
    test_variants();
    test_cases();
    test_answers();
    test_forbidden();
    test_start_and_plan();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
