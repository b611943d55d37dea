/* run_case_around.h - for run_case_test.c: what is around run_case.c. Every call is noted, and parts find what a test tells them to. */
#ifndef RUN_CASE_AROUND_H
#define RUN_CASE_AROUND_H

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
    uint64_t run, exercised, forbidden, controls, controls_started, witnessed, repeated, cut_short;
    cudaError_t queue_error, error;
};
static struct case_info info;    /* the case and the run that every call has to name */
static struct run run;
static struct found script[8];
static unsigned script_count;
static unsigned parts_run, no_part_at; /* parts that ran, and the one of them that fails */
static int pin_fits = 1;
static cudaError_t sync_error;
static unsigned syncs;
static int never_ends;           /* what a case of kind api launches */
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
    tally->cut_short = found->cut_short;
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
    of->endless = never_ends;
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
cudaError_t cudaDeviceSynchronize(void)
{
    syncs++;
    return sync_error;
}
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

#endif
