/* run_case_test.c - what a case runs, in which order, what it is judged by and what it records: parts that are told what to find. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "check.h"
#include "part.h"
#include "record_case.h"
#include "variants.h"

/* ---- what is around run_case.c: every call is noted, and parts find what a test tells them to ---- */

static char noted[4096], records[8192];

static void note(const char *format, ...)
{
    size_t used = strlen(noted);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(noted + used, sizeof(noted) - used, format, arguments);
    va_end(arguments);
}

/* A clock of its own: each look at it takes a second. */
static long now_s, began_s;
int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    time->tv_sec = ++now_s;
    time->tv_nsec = 250000000;
    return 0;
}

unsigned sleep(unsigned seconds)
{
    note("sleep %u; ", seconds);
    return seconds / 2;
}

static unsigned tallies, tallies_left, no_tally_at, no_memory;
int tally_open(struct tally *tally)
{
    memset(tally, 0, sizeof(*tally));
    tallies_left++;
    return ++tallies != no_tally_at;
}

void tally_close(struct tally *tally)
{
    (void)tally;
    tallies_left--;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return no_memory ? NULL : __real_malloc(size); }

struct found {                   /* by the parts whose variant's image has this name; NULL: by all */
    const char *image;
    uint64_t run, exercised, forbidden, controls, controls_started, witnessed, repeated;
    cudaError_t queue_error, error;
};
static struct case_info info;    /* the case and the run that every call has to name */
static struct run run;
static struct found script[8];
static unsigned script_count;
static unsigned parts_run, no_part_at; /* parts that ran, and the one of them that fails */
static int pin_fits = 1;
static cudaError_t sync_error;
static enum case_status answered; /* by a case of kind api */

static const struct pair base_pairs[] = { { .name = "other" }, { .name = "pair", .flags = PAIR_LINES } };
static const struct pair mutant_pairs[] = { { .name = "pair" } };
static const struct image images[] = { { "test", "base", base_pairs, 2 }, { "test", "nowait", mutant_pairs, 1 },
                                       { "test", "image", mutant_pairs, 1 }, { "test", "brokenwait", mutant_pairs, 1 } };

const struct image *case_image(const char *family, const char *tag)
{
    unsigned i;

    for (i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        if (strcmp(images[i].family, family) == 0 && strcmp(images[i].tag, tag) == 0)
            return &images[i];
    return NULL;
}

const struct tag_info *case_tag(const char *tag)
{
    static const struct tag_info image = { "image", "image", "t", NULL };

    return strcmp(tag, "image") == 0 ? &image : NULL;
}

static const struct found *found_by(const struct pair *pair)
{
    static const struct found nothing;
    unsigned i, k;

    for (k = 0; k < script_count; k++) {
        if (!script[k].image)
            return &script[k];
        for (i = 0; i < sizeof(images) / sizeof(images[0]); i++)
            if (strcmp(images[i].tag, script[k].image) == 0 && pair >= images[i].pairs && pair < images[i].pairs + images[i].count)
                return &script[k];
    }
    return &nothing;
}

int part_queue(struct queue *queue, struct device *device, const struct pair *pair, const struct pair *base_pair, int raw,
               struct fault *fault)
{
    check(device == run.device, "the queue is the device's");
    memset(queue, 0, sizeof(*queue));
    check(base_pair == &base_pairs[1], "the pair of the base is the case's own");
    if (raw)
        note("raw ");
    fault->error = found_by(pair)->queue_error;
    fault->call = "a call of the queue";
    queue->primary.num_params = 11;
    queue->dependent.num_params = 12;
    return fault->error == cudaSuccess;
}

uint64_t part_divide(struct part *part, uint64_t trials, int graphed)
{
    check(!part->pinned && !part->slots && part->info == &info &&
              part->source.seed == run.seed, "a part begins with what its case says, and nothing else");
    note("%s%u", graphed ? "graphed " : "", (unsigned)trials);
    part->slots = 8;
    return trials + 1;
}

int part_pin(struct part *part, uint64_t batch, unsigned slot, uint64_t repeats, int graphed)
{
    note(" pin%s %u.%u x%u", graphed ? " graphed" : "", (unsigned)batch, slot, (unsigned)repeats);
    (void)part;
    return pin_fits;
}

int part_run(struct part *part, struct device *device, const struct queue *queue, int graphed, struct tally *tally,
             const struct progress *progress, struct fault *fault)
{
    const struct found *found = found_by(part->pair);

    (void)device;
    note("%s%s x%u c%u f%x s%u i%u; ", graphed ? " graph" : "", queue->nodes ? " built" : "", part->variation.x_ns,
         (unsigned)part->variation.control, part->variation.set_flags, part->variation.skip, (unsigned)part->interleave);
    progress->tell(progress->context, 1024, 4096);
    progress->tell(progress->context, 1025, 4096);
    tally->run = found->run;
    tally->exercised = found->exercised;
    tally->forbidden = found->forbidden;
    tally->controls = found->controls;
    tally->controls_started = found->controls_started;
    tally->witnessed = found->witnessed;
    tally->repeated = found->repeated;
    fault->error = ++parts_run == no_part_at ? cudaErrorUnknown : found->error;
    fault->call = "a call of the part";
    return fault->error == cudaSuccess;
}

void part_plan(const struct part *part, struct tally *tally, uint32_t *want)
{
    want[part->size.words_big - 1] = 1; /* all of it is there to be written */
    tally->plan_hash = 5;
    note(" planned words %u", (unsigned)part->words_capacity);
}

int batch_hang(struct device *device, uint32_t seconds, struct fault *fault)
{
    (void)device;
    fault->error = cudaErrorUnknown;
    fault->call = "the hang ended";
    note("hang %u; ", seconds);
    return 0;
}

void ask_case(struct run *of, const struct case_info *asked, const struct pair *pair, enum case_status *status)
{
    check(of == &run && asked == &info && pair == &base_pairs[1], "questions are put to the case's own pair");
    *status = answered;
    note("asked; ");
}

void record_variant(struct record *record, const struct case_info *of, const struct variant *variant, const struct variant_result *result)
{
    check(record == run.record && of == &info, "records are of this run and case");
    note("[%s %s %u/%u%s%s] ", variant->name, variant->kind == VARIANT_TRIAGE ? "triage" : variant_status_name[result->status],
         (unsigned)result->kills, (unsigned)result->trials, result->why ? " why" : "", result->pair ? "" : " no pair");
}

void record_case(struct record *record, const struct case_info *of, const struct device *on, const struct variant_result *base,
                 enum case_status status, const char *reason, const struct resolution *resolution, double wall_s)
{
    check(record == run.record && of == &info, "records are of this run and case");
    check(on == run.device, "on its device");
    check(wall_s == (double)(now_s - began_s) && base->wall_s >= 1 && base->wall_s <= wall_s - 1, "times are differences");
    check(base->primary.num_params == 11 && base->dependent.num_params == 12 && strcmp(base->pair->name, "pair") == 0, "whose kernels ran is kept");
    note("case %s '%s' of %u, %u ns", case_status_name[status], reason, (unsigned)base->planned, resolution->ns);
}

void record_forbidden(struct record *record, const struct case_info *of, const struct variant *variant, const struct variant_result *result)
{
    check(record == run.record && of == &info, "records are of this run and case");
    if (result->tally.forbidden)
        note("forbidden %s %u; ", variant->name, (unsigned)result->tally.forbidden);
}

void record_unrun(struct record *record, const struct case_info *of, enum case_status status, const char *reason)
{
    check(record == run.record && of == &info, "records are of this run and case");
    note("unrun %s '%s'", case_status_name[status], reason);
}

void record_plan(struct record *record, const struct case_info *of, const struct part *part, const struct tally *tally,
                 uint64_t planned, int trials)
{
    check(record == run.record && of == &info, "records are of this run and case");
    (void)part;
    note("; plan %u hash %u%s", (unsigned)planned, (unsigned)tally->plan_hash, trials ? " full" : "");
}

void record_replayed(struct record *record, const struct case_info *of, const struct variant *variant, const struct variant_result *result)
{
    check(record == run.record && of == &info, "records are of this run and case");
    note("replayed %s %u of %u%s%s", variant->name, (unsigned)result->tally.forbidden, (unsigned)result->tally.run,
         result->why ? ": " : "", result->why ? result->why : "");
}

const char *cudaGetErrorName(cudaError_t error) { return error == cudaErrorLaunchTimeout ? "timeout" : "error"; }
cudaError_t cudaDeviceSynchronize(void) { return sync_error; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }

/* ---- a case and a device ---- */

static const char *const nobody[] = { NULL }, *const mutants[] = { "nowait", NULL }, *const raw_one[] = { "image", NULL };
static const char *const attron[] = { "attron", NULL }, *const unordered[] = { "unordered", NULL };
static struct device device;
static enum case_status status;
static int timed;                /* as on a GPU: signs of life come by the clock */

static void open_case(void)
{
    static const struct case_info a_case = { "TEST-01.pair.widened.captured", "TEST-01", "documented", "visibility", "test", "pair", "widened",
                                             "captured", 0, 1, 0, 0, 90, 12030, { 200, 20000, 200000, 2000000 }, nobody, nobody, 0 };
    info = a_case;
    memset(&device, 0, sizeof(device));
    device.cc = 90;
    device.toolkit_version = device.driver_version = 12030;
    device.size.words_max = 4096;
    device.size.words_big = 65536;
    memset(&run, 0, sizeof(run));
    run.device = &device;
    run.seed = 3;
    script_count = 1;
    memset(script, 0, sizeof(script));
    script[0].run = script[0].exercised = script[0].witnessed = 200;
    pin_fits = 1;
    sync_error = cudaSuccess;
}

/* Nothing may count on what happens to lie on the stack. */
static void dirty_stack(void)
{
    volatile unsigned char dirt[65536];
    unsigned i;

    for (i = 0; i < sizeof(dirt); i++)
        dirt[i] = 0xA5;
}

/* Calls run, replay or plan, and keeps what was noted and recorded. */
static int call(int how)
{
    static struct record record;
    FILE *file = tmpfile();
    size_t length;
    int done;

    if (!file)
        exit(1);
    record_open(&record, file);
    record.timeless = !timed;
    run.record = &record;
    noted[0] = '\0';
    tallies = tallies_left = 0;
    began_s = now_s + 1;
    dirty_stack();
    status = CASE_STATUS_COUNT;
    done = how == 'r' ? run_case(&run, &info, &status) : how == 'p' ? replay_case(&run, &info) :
           plan_case(&run, &info, &device.size, device.is_model, how == 'f');
    check(tallies_left == 0 || tallies == no_tally_at, "every tally is closed");
    rewind(file);
    length = fread(records, 1, sizeof(records) - 1, file);
    records[length] = '\0';
    fclose(file);
    return done;
}

static void expect(int done, int wanted, const char *want, const char *what)
{
    check(done == wanted, what);
    check(strcmp(noted, want) == 0, what);
    if (strcmp(noted, want) != 0)
        printf("    noted:    %s\n    expected: %s\n", noted, want);
}

static int recorded(const char *text) { return strstr(records, text) != NULL; }

/* How often this text was recorded. */
static unsigned times(const char *text)
{
    unsigned n = 0;
    const char *at;

    for (at = strstr(records, text); at; at = strstr(at + 1, text))
        n++;
    return n;
}

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
    answered = CASE_PASS;
    sync_error = cudaSuccess;
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
