/* run_case.c - runs a case: its base, then, for a proving case, everything that has to die; last its record. */
#include "run_case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "part.h"
#include "record_case.h"
#include "variants.h"

const struct pair *run_find_pair(const struct case_info *info, const char *tag)
{
    const struct image *image = case_image(info->family, tag);
    unsigned i;
    for (i = 0; image && i < image->count; i++)
        if (strcmp(image->pairs[i].name, info->pair) == 0)
            return &image->pairs[i];
    return NULL;
}

/* The model claims no bound: it runs as many trials as show every move, and no more. */
static const unsigned long long model_trials[PROFILE_COUNT] = { 512, 2048, 16384, 131072 };

unsigned long long run_trials(const struct case_info *info, enum profile profile, int is_model)
{
    unsigned long long trials = info->trials[profile];

    if (is_model && trials > model_trials[profile])
        trials = model_trials[profile];
    /* A window that only observes needs enough to report a rate, not a bound; a measured rule reports a bound. */
    return info->proving || strcmp(info->rule_class, "measured") == 0 ? trials : trials / 16 + 16;
}

double run_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum control interleaved_control(const struct case_info *info)
{
    if (!info->controls[0])
        return CONTROL_NONE;
    return strcmp(info->controls[0], "unordered") == 0 ? CONTROL_UNORDERED : CONTROL_ATTRON;
}

struct case_run {                /* a case while it runs */
    struct run *run;
    const struct case_info *info;
    double begin_s, told_s;
    const char *part_name;
};

static void tell_progress(void *context, uint64_t done, uint64_t planned)
{
    struct case_run *c = context;
    double now = run_now_s();
    if (c->run->record->timeless ? done % SIGN_EVERY_TRIALS != 0 : now - c->told_s < SIGN_EVERY_S)
        return;
    c->told_s = now;
    record_begin(c->run->record, "progress");
    record_text(c->run->record, "case", c->info->name);
    record_text(c->run->record, "part", c->part_name);
    record_count(c->run->record, "done", done);
    record_count(c->run->record, "planned", planned);
    record_end(c->run->record);
}

static void fill_part(struct part *part, struct run *run, const struct case_info *info, const struct pair *pair,
                      const struct device_size *size, const struct variant *variant)
{
    memset(part, 0, sizeof(*part));
    part->info = info;
    part->pair = pair;
    part->size = *size;
    part->source = plan_source_make(run->seed, info->name, variant->name);
    part->variation = variant->variation;
    part->interleave = variant->kind == VARIANT_BASE ? interleaved_control(info) : CONTROL_NONE;
    part->words_capacity = (size_t)PLAN_MAX_SLOTS * size->words_max + (size_t)(PLAN_MAX_SLOTS / 16) * size->words_big;
}

/* Replayed as a graph: captured, or built by hand. */
static int is_graphed(const struct case_info *info) { return strcmp(info->path, "stream") != 0; }

/* One part: its own image, queue and tally. */
static int run_part(struct case_run *c, const struct variant *variant, struct variant_result *result, struct fault *fault)
{
    const struct pair *pair = run_find_pair(c->info, variant->image), *base = run_find_pair(c->info, "base");
    struct progress progress;
    struct nodes nodes;
    struct queue queue;
    struct part part;
    int graphed = is_graphed(c->info);
    double begin = run_now_s();

    c->part_name = variant->name;
    progress.tell = tell_progress;
    progress.context = c;
    if (!part_queue(&queue, c->run->device, pair, base, variant->raw, fault))
        return 0;
    queue.nodes = strcmp(c->info->path, "built") == 0 ? &nodes : NULL;
    fill_part(&part, c->run, c->info, pair, &c->run->device->size, variant);
    result->planned = part_divide(&part, variant->trials, graphed);
    if (c->run->repeated.repeats &&
        !part_pin(&part, c->run->repeated.batch, c->run->repeated.slot, c->run->repeated.repeats, graphed)) {
        result->why = "no such trial in this case";
        return 1;
    }
    result->primary = queue.primary;
    result->dependent = queue.dependent;
    result->pair = pair;
    if (!part_run(&part, c->run->device, &queue, graphed, &result->tally, &progress, fault))
        return 0;
    result->wall_s = run_now_s() - begin;
    return 1;
}

/* The device failed: say where, so that the parent can tell a hang from a crash. */
static int tell_fault(struct case_run *c, const struct fault *fault)
{
    record_begin(c->run->record, "error");
    record_text(c->run->record, "case", c->info->name);
    record_text(c->run->record, "part", c->part_name);
    record_text(c->run->record, "call", fault->call);
    record_text(c->run->record, "error", cudaGetErrorName(fault->error));
    record_end(c->run->record);
    return 0;
}

/* A hang limit, not a performance limit. A GPU takes ten microseconds a trial, and a quarter of a millisecond for a program
 * of kind api. The model takes many milliseconds for one, and its machine may be busy with other work, but each sign moves the limit. */
static uint64_t deadline_s(const struct case_run *c)
{
    int is_model = c->run->device->is_model, asks = strcmp(c->info->kind, "api") == 0;
    uint64_t trials = c->run->repeated.repeats;

    if (!trials)
        trials = run_trials(c->info, c->run->profile, is_model);
    return is_model ? 30 + trials * 50 / 10000 : 10 + trials * (asks ? 20 : 1) / 10000;
}

static void tell_begin(struct case_run *c)
{
    record_begin(c->run->record, "begin");
    record_text(c->run->record, "case", c->info->name);
    record_count(c->run->record, "deadline_s", deadline_s(c));
    record_end(c->run->record);
}

/* A hang that lasts four times the deadline, then ends by itself. The model has a logical clock, in which no kernel takes real
   time, so there the process itself gives no sign. */
static int hang(struct case_run *c, struct fault *fault)
{
    unsigned left_s = (unsigned)(4 * deadline_s(c));

    if (!c->run->device->is_model)
        return batch_hang(c->run->device, left_s, fault);
    while (left_s)
        left_s = sleep(left_s);
    return 1;
}

/* Self-tests of whoever watches this process. */
static int plant(struct case_run *c, struct fault *fault)
{
    if (c->run->plant == PLANT_CRASH)
        raise(SIGSEGV);
    return c->run->plant != PLANT_HANG || hang(c, fault);
}

static void tell_end(struct case_run *c)
{
    record_begin(c->run->record, "end");
    record_text(c->run->record, "case", c->info->name);
    record_end(c->run->record);
}

/* The model found that no move is enabled, or a driver's own watchdog fired. */
static int is_hang(const struct fault *fault) { return fault->error == cudaErrorLaunchTimeout; }

static int run_variants(struct case_run *c, struct case_evidence *evidence, struct resolution *resolution, struct fault *fault)
{
    struct variant variants[VARIANTS_MAX];
    unsigned count = variants_of_case(variants, c->info, c->run->profile), i;

    for (i = 0; i < count; i++) {
        struct variant_result result = PDL_ZERO;

        if (!tally_open(&result.tally))
            return 0;
        result.applicable = variants_applicable(&variants[i], c->run->device, &result.why);
        if (result.applicable && !run_part(c, &variants[i], &result, fault)) {
            tally_close(&result.tally);
            return 0;
        }
        variants_judge(&variants[i], &result, evidence, resolution);
        record_variant(c->run->record, c->info, &variants[i], &result);
        tally_close(&result.tally);
    }
    return 1;
}

static int run_triage(struct case_run *c, struct fault *fault)
{
    struct variant variants[VARIANTS_MAX];
    unsigned count = variants_of_triage(variants, c->info, c->run->profile, c->run->device->is_model, c->run->plant, c->run->plant_x_ns), i;

    for (i = 0; i < count; i++) {
        struct variant_result result = PDL_ZERO;

        if (!tally_open(&result.tally))
            return 0;
        result.applicable = 1;
        if (!run_part(c, &variants[i], &result, fault)) {
            tally_close(&result.tally);
            return 0;
        }
        record_variant(c->run->record, c->info, &variants[i], &result);
        tally_close(&result.tally);
    }
    return 1;
}

/* Of a measured rule the counts are the answer. */
static int is_judged(const struct case_info *info) { return strcmp(info->rule_class, "measured") != 0; }

static int run_supported(struct case_run *c, struct variant_result *base, enum case_status *status, struct fault *fault)
{
    struct variant variant;
    struct case_evidence evidence = PDL_ZERO;
    struct resolution resolution = PDL_ZERO;
    char reason[128];
    int done;

    variants_base(&variant, c->info, c->run->profile, c->run->device->is_model, c->run->plant, c->run->plant_x_ns);
    done = run_part(c, &variant, base, fault);
    if (is_judged(c->info)) /* also those before a fault: once is enough */
        record_forbidden(c->run->record, c->info, &variant, base);
    if (!done)
        return 0;
    evidence.proving = c->info->proving;
    evidence.planned = base->planned;
    evidence.exercised = base->tally.exercised;
    evidence.forbidden = base->tally.forbidden;
    evidence.run = base->tally.run;
    evidence.witnessed = base->tally.witnessed;
    evidence.repeated = base->tally.repeated;
    evidence.needs_witness = strcmp(c->info->kind, "visibility") == 0 && strcmp(c->info->window, "widened") == 0;
    if (is_judged(c->info) && base->tally.forbidden && !run_triage(c, fault))
        return 0;
    if (c->info->controls[0])
        variants_judge_control(c->run->record, c->info, base, &evidence);
    if (c->info->proving && !run_variants(c, &evidence, &resolution, fault))
        return 0;
    *status = judge_case(&evidence, reason);
    record_case(c->run->record, c->info, c->run->device, base, *status, reason, &resolution, run_now_s() - c->begin_s);
    return 1;
}

static const char *unsupported(const struct case_info *info, const struct device *device)
{
    if (device->cc < info->min_cc)
        return "the device's compute capability is too low";
    if (device->toolkit_version < info->min_toolkit)
        return "the toolkit is too old";
    if (device->driver_version < info->min_toolkit)
        return "the driver is too old";
    if (info->gpu_only && device->is_model)
        return "needs hardware";
    return NULL;
}

/* A case that only observes needs what not every device has, such as pools of memory. */
static int lacks_means(const struct case_info *info, const struct fault *fault)
{
    return !info->proving && fault->error == cudaErrorNotSupported;
}

/* A measured rule asks whether a graph can be made at all: that it was refused, before any trial and with the device unharmed,
 * is an answer. */
static const char *refusal(const struct case_info *info, const struct variant_result *base, const struct fault *fault)
{
    static char text[160];

    if ((is_judged(info) && !lacks_means(info, fault)) || base->tally.run || is_hang(fault) || cudaDeviceSynchronize() != cudaSuccess)
        return NULL;
    (void)cudaGetLastError();
    snprintf(text, sizeof(text), "refused: %s gave %s", fault->call, cudaGetErrorName(fault->error));
    return text;
}

int run_case(struct run *run, const struct case_info *info, enum case_status *status)
{
    struct case_run c = PDL_ZERO;
    struct variant_result base = PDL_ZERO;
    struct fault fault = PDL_ZERO;
    const char *why = unsupported(info, run->device);
    int done = 1, lost = 0;

    c.run = run;
    c.info = info;
    c.begin_s = run_now_s();
    c.part_name = "base";
    tell_begin(&c);
    if (!tally_open(&base.tally))
        return 0;
    if (why) {
        *status = CASE_NOT_SUPPORTED;
        record_unrun(run->record, info, *status, why);
    } else if (strcmp(info->kind, "api") == 0) {
        ask_case(run, info, run_find_pair(info, "base"), status);
        lost = run->endless || cudaDeviceSynchronize() != cudaSuccess; /* by this case, so the next one gets a child of its own */
        done = !lost || run->endless || *status == CASE_FAIL;
    } else if (!plant(&c, &fault) || !run_supported(&c, &base, status, &fault)) {
        if ((why = refusal(info, &base, &fault)) != NULL) {
            *status = CASE_NOT_SUPPORTED;
            record_unrun(run->record, info, *status, why);
        } else {
            done = tell_fault(&c, &fault);
        }
        if (!done && is_hang(&fault) && !(is_judged(info) && base.tally.forbidden)) { /* a hang says no more than a forbidden trial */
            *status = CASE_HANG;
            record_unrun(run->record, info, *status, c.part_name);
            tell_end(&c);
        }
    }
    if (done && run->plant != PLANT_NO_RECORD)
        tell_end(&c);
    tally_close(&base.tally);
    return done && !lost;
}

int replay_case(struct run *run, const struct case_info *info)
{
    struct variant variant;
    struct variant_result base = PDL_ZERO;
    struct case_run c = PDL_ZERO;
    struct fault fault = PDL_ZERO;
    int done;

    c.run = run;
    c.info = info;
    c.part_name = "base";
    base.why = strcmp(info->kind, "api") == 0 ? "its cases have answers instead of trials" : unsupported(info, run->device);
    tell_begin(&c);
    if (!tally_open(&base.tally))
        return 0;
    variants_base(&variant, info, run->profile, run->device->is_model, run->plant, run->plant_x_ns);
    done = base.why || run_part(&c, &variant, &base, &fault);
    if (!done)
        tell_fault(&c, &fault);
    else
        record_replayed(run->record, info, &variant, &base);
    if (done)
        tell_end(&c);
    done = done && base.why ? 2 : done;
    tally_close(&base.tally);
    return done;
}

int plan_case(struct run *run, const struct case_info *info, const struct device_size *size, int is_model, int trials)
{
    struct variant variant;
    struct part part;
    struct tally tally;
    uint32_t *want = malloc((size_t)size->words_big * sizeof(*want));
    uint64_t planned;

    if (strcmp(info->kind, "api") == 0) { /* nothing is drawn */
        free(want);
        return 1;
    }
    if (!want || !tally_open(&tally))
        return 0;
    variants_base(&variant, info, run->profile, is_model, PLANT_NONE, 0);
    fill_part(&part, run, info, run_find_pair(info, "base"), size, &variant);
    planned = part_divide(&part, variant.trials, is_graphed(info));
    part_plan(&part, &tally, want);
    record_plan(run->record, info, &part, &tally, planned, trials);
    tally_close(&tally);
    free(want);
    return 1;
}
