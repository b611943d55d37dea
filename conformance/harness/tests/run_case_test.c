/* run_case_test.c - what a case runs, in which order, what it is judged by and what it records: parts that are told what to find. */
#include "run_case_around.h"

#define BASE "graphed 200 graph x0 c0 f0 s0 i0; "

/* ---- tests ---- */

static void test_numbers(void)
{
    open_case();
    check(run_trials(&info, PROFILE_QUICK, 0) == 20000 && run_trials(&info, PROFILE_SOAK, 0) == 2000000, "a GPU runs what the rule book says");
    check(run_trials(&info, PROFILE_SMOKE, 1) == 200 && run_trials(&info, PROFILE_QUICK, 1) == 2048, "the model no more than shows every move");
    check(run_trials(&info, PROFILE_FULL, 1) == 16384 && run_trials(&info, PROFILE_SOAK, 1) == 131072, "in each profile");
    info.proving = 0;
    check(run_trials(&info, PROFILE_QUICK, 0) == 20000 / 16 + 16, "a window that observes runs a sixteenth and sixteen more");
    info.rule_class = "measured";
    check(run_trials(&info, PROFILE_QUICK, 0) == 20000, "a measured rule reports a bound, so it runs all");
    check(run_find_pair(&info, "base") == &base_pairs[1] && run_find_pair(&info, "none") == NULL, "a pair is found by its name and image");
    info.pair = "absent";
    check(run_find_pair(&info, "base") == NULL, "one that the image lacks is not");
}

static void test_flow(void)
{
    open_case();
    expect(call('r'), 1, BASE "case PASS '' of 201, 0 ns", "the base alone, where nothing has to die");
    check(status == CASE_PASS && strcmp(records,
              "{\"record\":\"begin\",\"case\":\"TEST-01.pair.widened.captured\",\"deadline_s\":10}\n"
              "{\"record\":\"progress\",\"case\":\"TEST-01.pair.widened.captured\",\"part\":\"base\",\"done\":1024,\"planned\":4096}\n"
              "{\"record\":\"end\",\"case\":\"TEST-01.pair.widened.captured\"}\n") == 0, "it begins, says where it is, and ends");
    timed = 1;
    (void)call('r');
    check(times("\"progress\"") == 2, "where time counts, a sign of life comes when a fifth of a second has passed");
    timed = 0;
    info.path = "stream";
    expect(call('r'), 1, "200 x0 c0 f0 s0 i0; case PASS '' of 201, 0 ns", "on the stream path nothing is a graph");
    info.path = "built";
    expect(call('r'), 1, "graphed 200 graph built x0 c0 f0 s0 i0; case PASS '' of 201, 0 ns", "a graph built by hand has nodes");
    info.path = "captured";
    script[0].witnessed = 99;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "no-witness: in 99 of 200"), "the widened window of visibility needs its witness");
    info.window = "contended";
    (void)call('r');
    check(status == CASE_PASS, "another window does not");
    info.window = "widened";
    info.kind = "progress";
    (void)call('r');
    check(status == CASE_PASS, "nor does another kind");
    open_case();
    script[0].repeated = 1;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "repeated-plan: 1 of 200"), "a plan that repeats is told");
    open_case();
    script[0].exercised = 160;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "not-exercised: 160 of 201"), "what is planned is what the division says");
    script[0].cut_short = 41;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "not-exercised: 160 of 201"), "trials that were cut short were planned, too");
    open_case();
    info.proving = 0;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "observing"), "an observing case does not pass");
}

/* Base, mutants and triage run as often as the profile asks. */
static void test_profiles(void)
{
    open_case();
    run.profile = PROFILE_FULL;
    info.mutants = mutants;
    script_count = 2;
    script[1] = script[0];
    script[0].image = "nowait";
    script[0].forbidden = 12;
    (void)call('r');
    check(strncmp(noted, "graphed 200000 ", 15) == 0 && strstr(noted, "graphed 2048 ") != NULL, "a full run of a base and of its mutant");
    (void)call('s');
    check(strncmp(noted, "graphed 200000 ", 15) == 0, "and its plan");
    open_case();
    run.profile = PROFILE_QUICK;
    script[0].forbidden = 1;
    (void)call('r');
    check(strncmp(noted, "graphed 20000 ", 14) == 0 && strstr(noted, "graphed 2048 ") != NULL, "a quick run and its triage");
}

static void test_variants(void)
{
    static const char *const first = BASE "graphed 64 graph x0 c0 f0 s0 i0; ";
    char want[512];

    open_case();
    info.mutants = mutants;
    script_count = 2;
    script[1] = script[0];
    script[0].image = "nowait";
    script[0].forbidden = 12;
    snprintf(want, sizeof(want), "%s[nowait KILLED 12/200] case PASS '' of 201, 0 ns", first);
    expect(call('r'), 1, want, "a mutant runs after the base, and has to die");
    check(recorded("\"part\":\"nowait\",\"done\":1024"), "progress names the mutant");
    script[0].forbidden = 11;
    snprintf(want, sizeof(want), "%s[nowait SURVIVED 11/200] case INCONCLUSIVE 'mutant-survived: nowait' of 201, 0 ns", first);
    expect(call('r'), 1, want, "one that lives takes the PASS away");
    info.proving = 0;
    (void)call('r');
    check(!strstr(noted, "nowait"), "an observing case has no mutants to kill");
    info.proving = 1;
    script[0].error = cudaErrorUnknown;
    (void)call('r');
    check(recorded("\"record\":\"error\"") && recorded("\"part\":\"nowait\"") && recorded("\"call\":\"a call of the part\"") &&
              recorded("\"error\":\"error\""), "a device that fails in a mutant is told with part, call and error");
    check(!recorded("\"record\":\"end\"") && !strstr(noted, "case "), "and ends the case without a verdict");
    open_case();
    info.mutants = raw_one;
    script[0].forbidden = 0;
    (void)call('r');
    check(strstr(noted, "raw graphed 64") != NULL, "an erased image is launched by the raw call");

    open_case();
    info.broken_waits = 1;
    script_count = 2;
    script[1] = script[0];
    script[0].image = "brokenwait";
    script[0].forbidden = 20;
    (void)call('r');
    check(status == CASE_PASS && strstr(noted, "case PASS '' of 201, 32 ns"), "broken waits are swept, and the resolution recorded");
    check(strstr(noted, "x8000 c0 f") && strstr(noted, "x32 c0 f") && strstr(noted, "[stale-lines KILLED 20/200]"), "each with its X");
    script[0].forbidden = 3;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "the broken wait of the largest X"), "one that lives takes the PASS away");
    device.is_model = 1;
    (void)call('r');
    check(status == CASE_PASS && strstr(noted, "[early-8000 NOT_APPLICABLE 0/0 why no pair]"), "the model has none, and says so");
}

static void test_controls(void)
{
    open_case();
    info.controls = attron;
    script[0].controls = script[0].controls_started = 30;
    expect(call('r'), 1, "graphed 200 graph x0 c0 f0 s0 i1; [attron KILLED 30/30] case PASS '' of 201, 0 ns", "controls run within the base");
    info.controls = unordered;
    (void)call('r');
    check(strstr(noted, " i2; [unordered KILLED") != NULL, "either kind of them");
    script[0].controls_started = 11;
    (void)call('r');
    check(status == CASE_INCONCLUSIVE && strstr(noted, "mutant-survived: unordered"), "controls that did not start take the PASS away");
    script[0].controls_started = 30;
    info.mutants = mutants;
    (void)call('r');
    check(strstr(noted, "i0; [nowait") != NULL, "no controls stand between a mutant's trials");
}

static void test_fail(void)
{
    open_case();
    script[0].forbidden = 1;
    expect(call('r'), 1,
           BASE "forbidden base 1; graphed 64 graph x0 c0 f0 s0 i0; [as-it-failed triage 0/0] graphed 64 graph x0 c3 f0 s0 i0; "
           "[attribute-off triage 0/0] graphed 64 graph x0 c0 f40 s0 i0; [extra-fence triage 0/0] graphed 64 graph x0 c0 f0 s7 i0; "
           "[other-sms triage 0/0] case FAIL '' of 201, 0 ns", "a FAIL is told, then varied");
    check(status == CASE_FAIL, "and stays one");
    info.rule_class = "measured";
    expect(call('r'), 1, BASE "case FAIL '' of 201, 0 ns", "of a measured rule the counts are the answer");
    info.rule_class = "derived";
    info.proving = 0;
    (void)call('r');
    check(status == CASE_FAIL && strstr(noted, "[other-sms"), "an observing case can fail, too");
    script_count = 1;
    script[0].error = cudaErrorUnknown;
    (void)call('r');
    check(!strstr(noted, "case ") && recorded("\"part\":\"base\""), "a base that breaks the device has no verdict");
    info.proving = 1;
    expect(call('r'), 0, BASE "forbidden base 1; ", "but what was forbidden before that is told");
    script[0].error = cudaErrorLaunchTimeout;
    expect(call('r'), 0, BASE "forbidden base 1; ", "and a hang after it takes none of it back");
    check(!recorded("\"record\":\"end\""), "as a verdict would");
}

static void test_unsupported(void)
{
    open_case();
    info.min_cc = 91;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'the device's compute capability is too low'", "an old device");
    check(status == CASE_NOT_SUPPORTED && times("\"record\":\"end\"") == 1, "is a status of its own, and ends the case");
    info.min_cc = 90;
    info.min_toolkit = 12031;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'the toolkit is too old'", "an old toolkit");
    device.toolkit_version = 12031;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'the driver is too old'", "an old driver under a newer toolkit");
    info.min_toolkit = 12030;
    info.gpu_only = 1;
    expect(call('r'), 1, BASE "case PASS '' of 201, 0 ns", "what only hardware has runs there");
    info.proving = 0;
    (void)call('r');
    check(strstr(noted, "needs hardware") == NULL, "also where it only observes");
    info.proving = 1;
    device.is_model = 1;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'needs hardware'", "and not on the model");
    open_case();
    info.kind = "api";
    expect(call('r'), 1, "asked; ", "a case of kind api asks");
    check(status == CASE_PASS && times("\"record\":\"end\"") == 1 && recorded("\"deadline_s\":10"), "and ends");
    sync_error = cudaErrorLaunchFailure;
    expect(call('r'), 0, "asked; ", "a question that costs the device ends the run of this child");
    check(!recorded("\"record\":\"end\""), "and its case is not closed, so that it counts as a crash");
    answered = CASE_FAIL;
    expect(call('r'), 0, "asked; ", "whatever the answers were");
    check(status == CASE_FAIL && times("\"record\":\"end\"") == 1, "but a failure that was told stays one");
    sync_error = cudaSuccess;
    never_ends = 1;
    syncs = 0;
    expect(call('r'), 0, "asked; ", "and so does the failure of a case whose work never ends");
    check(syncs == 0 && times("\"record\":\"end\"") == 1, "nobody waits for the device after work that never ends");
    answered = CASE_PASS;
    expect(call('r'), 0, "asked; ", "where only a mutant's work never ends");
    check(status == CASE_PASS && times("\"record\":\"end\"") == 1, "the answers of the case stay");
    never_ends = run.endless = 0;
    info.trials[0] = 10000;
    (void)call('r');
    check(recorded("\"deadline_s\":30"), "a question may take two milliseconds");
}

static void test_device_fails(void)
{
    open_case();
    script[0].queue_error = cudaErrorUnknown;
    expect(call('r'), 0, "", "a device that fails before the first trial ends the case");
    check(recorded("a call of the queue") && !recorded("\"record\":\"end\""), "which is told, and not closed");
    check(status == CASE_STATUS_COUNT, "and has no status");
    info.rule_class = "measured";
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'refused: a call of the queue gave error'", "of a measured rule a refusal is an answer");
    check(status == CASE_NOT_SUPPORTED && times("\"record\":\"end\"") == 1 && !recorded("\"record\":\"error\""), "and closes the case");
    sync_error = cudaErrorIllegalAddress;
    expect(call('r'), 0, "", "but not if it broke the device");
    open_case();
    script[0].queue_error = cudaErrorNotSupported;
    expect(call('r'), 0, "", "nor of a case that has to prove something");
    info.proving = 0;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'refused: a call of the queue gave error'", "what only observes may need what the device lacks");
    script[0].queue_error = cudaErrorUnknown;
    expect(call('r'), 0, "", "and fails by any other error");
    open_case();
    info.rule_class = "measured";
    script[0].error = cudaErrorUnknown;
    expect(call('r'), 0, BASE, "nor after a trial");
    script[0].run = 0;
    script[0].error = cudaErrorLaunchTimeout;
    expect(call('r'), 0, BASE "unrun HANG 'base'", "nor is a deadlock an answer");

    open_case();
    script[0].error = cudaErrorLaunchTimeout;
    expect(call('r'), 0, BASE "unrun HANG 'base'", "a deadlock that the device found");
    check(status == CASE_HANG && times("\"record\":\"end\"") == 1 && recorded("\"error\":\"timeout\""), "is a HANG, closed, with its call");
    script[0].image = "nowait";
    script_count = 2;
    script[1] = script[0];
    script[1].image = NULL;
    script[1].error = cudaSuccess;
    info.mutants = mutants;
    (void)call('r');
    check(strstr(noted, "unrun HANG 'nowait'") != NULL, "the part is named");
}

static void test_triage_fails(void)
{
    open_case();
    script[0].forbidden = 1;
    info.broken_waits = 1;
    run.plant = PLANT_BROKEN_WAIT;
    run.plant_x_ns = 500;
    (void)call('r');
    check(strstr(noted, "graphed 64 graph x500 c3") != NULL, "a planted wait is varied, too");
    check(strncmp(noted, "graphed 200 graph x500 c0", 25) == 0, "and stands in the base");
    open_case();
    script[0].forbidden = 1;
    parts_run = 0;
    no_part_at = 2;
    check(call('r') == 0 && !strstr(noted, "case "), "a triage that the device ends gives no verdict");
    no_part_at = 0;
}

static void test_no_memory(void)
{
    unsigned at;

    for (at = 1; at <= 2; at++) {
        open_case();
        info.mutants = mutants;
        script_count = 2;
        script[1] = script[0];
        script[0].image = "nowait";
        script[0].forbidden = 12;
        no_tally_at = at;
        check(call('r') == 0 && !strstr(noted, "case "), "without memory there is no verdict");
        open_case();
        script[0].forbidden = 1;
        check(call('r') == 0 && !strstr(noted, "case "), "nor a triage");
    }
    no_tally_at = 0;
}

static void test_plants(void)
{
    open_case();
    run.plant = PLANT_NO_RECORD;
    check(call('r') == 1 && !recorded("\"record\":\"end\""), "a planted missing record is one");
    run.plant = PLANT_HANG;
    expect(call('r'), 0, "hang 40; ", "a planted hang lasts four times the deadline, before any trial");
    device.is_model = 1;
    expect(call('r'), 1, "sleep 124; sleep 62; sleep 31; sleep 15; sleep 7; sleep 3; sleep 1; " BASE "case PASS '' of 201, 0 ns",
           "the model's process sleeps, however often it is woken");
    info.min_cc = 100;
    expect(call('r'), 1, "unrun NOT_SUPPORTED 'the device's compute capability is too low'", "only where the case could run");
}

static void test_replay(void)
{
    open_case();
    run.profile = PROFILE_QUICK;
    run.repeated.repeats = 1000000;
    run.repeated.batch = 4;
    run.repeated.slot = 7;
    script[0].forbidden = 9;
    expect(call('p'), 1, "graphed 20000 pin graphed 4.7 x1000000 graph x0 c0 f0 s0 i0; replayed base 9 of 200", "one trial again and again");
    check(times("\"record\":\"end\"") == 1 && recorded("\"deadline_s\":110"), "with a deadline for so many");
    device.is_model = 1;
    run.repeated.repeats = 1000000000;
    expect(call('p'), 1, "graphed 2048 pin graphed 4.7 x1000000000 graph x0 c0 f0 s0 i0; replayed base 9 of 200", "the model divides its own trials");
    check(recorded("\"deadline_s\":5000030"), "the model's trials may take five milliseconds");
    device.is_model = 0;
    (void)call('p');
    check(recorded("\"deadline_s\":100010"), "a GPU's ten microseconds");
    run.repeated.repeats = 1000000;
    pin_fits = 0;
    expect(call('p'), 2, "graphed 20000 pin graphed 4.7 x1000000replayed base 0 of 0: no such trial in this case", "a trial that is not there");
    check(times("\"record\":\"end\"") == 1, "is told, and the case closed");
    pin_fits = 1;
    info.kind = "api";
    expect(call('p'), 2, "replayed base 0 of 0: its cases have answers instead of trials", "answers cannot be repeated");
    info.kind = "visibility";
    info.min_cc = 100;
    expect(call('p'), 2, "replayed base 0 of 0: the device's compute capability is too low", "nor what is not supported");
    info.min_cc = 90;
    script[0].error = cudaErrorUnknown;
    expect(call('p'), 0, "graphed 20000 pin graphed 4.7 x1000000 graph x0 c0 f0 s0 i0; ", "a device that fails is no answer");
    check(recorded("\"record\":\"error\"") && recorded("\"part\":\"base\"") && !recorded("\"record\":\"end\""), "and is told");
    no_tally_at = 1;
    expect(call('p'), 0, "", "nor is a lack of memory");
    no_tally_at = 0;
}

static void test_plan(void)
{
    open_case();
    expect(call('s'), 1, "graphed 200 planned words 2097152; plan 201 hash 5", "planning needs no device");
    expect(call('f'), 1, "graphed 200 planned words 2097152; plan 201 hash 5 full", "trial by trial if asked");
    no_tally_at = 1;
    expect(call('s'), 0, "", "without memory there is no plan");
    no_tally_at = 0;
    no_memory = 1;
    expect(call('s'), 0, "", "nor without room for the words");
    no_memory = 0;
    info.kind = "api";
    expect(call('s'), 1, "", "answers are not planned");
}

int main(void)
{
    test_numbers();
    test_flow();
    test_profiles();
    test_variants();
    test_controls();
    test_fail();
    test_unsupported();
    test_device_fails();
    test_triage_fails();
    test_no_memory();
    test_plants();
    test_replay();
    test_plan();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
