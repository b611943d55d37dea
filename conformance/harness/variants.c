/* variants.c - chooses and judges the variants of a case. */
#include "variants.h"

#include <string.h>

#include "record_case.h"

/* Trials per variant: enough for twelve kills even where only one trial in ten shows the fault. */
static const uint64_t mutant_trials[PROFILE_COUNT] = { 64, 512, 2048, 8192 };
static const uint64_t sweep_trials[PROFILE_COUNT] = { 32, 128, 512, 2048 };
static const uint64_t triage_trials[PROFILE_COUNT] = { 64, 2048, 8192, 8192 };
static const uint32_t sweep_ns[RESOLUTION_STEPS] = { 8000, 4000, 2000, 1000, 500, 250, 125, 64, 32 };

static void start(struct variant *variant, enum variant_kind kind, const char *name, const char *image, uint64_t trials)
{
    memset(variant, 0, sizeof(*variant));
    variant->kind = kind;
    variant->name = name;
    variant->image = image;
    variant->trials = trials;
    variant->must_die = kind == VARIANT_MUTANT || kind == VARIANT_CONTROL;
}

void variants_base(struct variant *variant, const struct case_info *info, enum profile profile, int is_model, enum plant plant,
                   uint32_t x_ns)
{
    int planted = plant == PLANT_BROKEN_WAIT && info->broken_waits && info->proving;

    start(variant, VARIANT_BASE, "base", planted ? "brokenwait" : "base", run_trials(info, profile, is_model));
    if (planted) {
        variant->variation.broken_wait = x_ns ? BROKEN_EARLY : BROKEN_AT_TRIGGER;
        variant->variation.x_ns = x_ns;
    }
}

static void add_mutant(struct variant *variant, const char *tag, enum profile profile)
{
    const struct tag_info *info = case_tag(tag);

    start(variant, VARIANT_MUTANT, tag, tag, mutant_trials[profile]);
    if (info && strcmp(info->kind, "image") == 0)
        variant->raw = 1;
    if (info && info->equivalent)
        variant->may_be_equivalent = 1;
}

static unsigned add_broken(struct variant *variants, unsigned n, const char *name, uint32_t mode, int must_die, enum profile profile)
{
    start(&variants[n], VARIANT_BROKEN_WAIT, name, "brokenwait", sweep_trials[profile]);
    variants[n].variation.broken_wait = mode;
    variants[n].must_die = must_die;
    return n + 1;
}

static unsigned add_broken_waits(struct variant *variants, unsigned n, const struct case_info *info, enum profile profile)
{
    static const char *const names[RESOLUTION_STEPS] = { "early-8000", "early-4000", "early-2000", "early-1000", "early-500",
                                                         "early-250", "early-125", "early-64", "early-32" };
    const struct pair *pair = run_find_pair(info, "base");
    unsigned i;

    for (i = 0; i < RESOLUTION_STEPS; i++) {
        n = add_broken(variants, n, names[i], BROKEN_EARLY, i == 0, profile);
        variants[n - 1].variation.x_ns = sweep_ns[i];
        variants[n - 1].variation.set_flags = PLAN_WITNESS;
    }
    n = add_broken(variants, n, "at-trigger", BROKEN_AT_TRIGGER, 1, profile);
    n = add_broken(variants, n, "all-but-one", BROKEN_ALL_BUT_ONE, 1, profile);
    n = add_broken(variants, n, "before-flush", BROKEN_BEFORE_FLUSH, 0, profile);
    if (pair->flags & PAIR_LINES) { /* in a graph only one trial in ten finds a stale line on an H200 */
        n = add_broken(variants, n, "stale-lines", BROKEN_STALE_LINES, 1, profile);
        variants[n - 1].trials = profile < PROFILE_FULL ? 512 : mutant_trials[profile];
    }
    return n;
}

unsigned variants_of_case(struct variant *variants, const struct case_info *info, enum profile profile)
{
    const char *const *tag;
    unsigned n = 0;

    for (tag = info->mutants; *tag && n < VARIANTS_MAX / 2; tag++)
        add_mutant(&variants[n++], *tag, profile);
    return info->broken_waits ? add_broken_waits(variants, n, info, profile) : n;
}

unsigned variants_of_triage(struct variant *variants, const struct case_info *info, enum profile profile, int is_model,
                            enum plant plant, uint32_t x_ns)
{
    static const char *const names[] = { "as-it-failed", "attribute-off", "extra-fence", "other-sms" };
    unsigned i;

    for (i = 0; i < 4; i++) {
        variants_base(&variants[i], info, profile, is_model, plant, x_ns);
        variants[i].kind = VARIANT_TRIAGE;
        variants[i].name = names[i];
        variants[i].trials = triage_trials[profile];
    }
    variants[1].variation.control = CONTROL_ATTROFF;
    variants[2].variation.set_flags = PLAN_FENCE;
    variants[3].variation.skip = (run_find_pair(info, "base")->flags & PAIR_CLUSTER) ? 8 : 7; /* whole clusters */
    return 4;
}

int variants_applicable(const struct variant *variant, const struct device *device, const char **why)
{
    if (variant->kind == VARIANT_BROKEN_WAIT && device->is_model) {
        *why = "the model has broken devices instead";
        return 0;
    }
    return 1;
}

static void judge_sweep(const struct variant *variant, const struct variant_result *result, struct resolution *resolution)
{
    if (result->status != VARIANT_KILLED) {
        resolution->broken = 1;
        if (resolution->survivors < RESOLUTION_STEPS)
            resolution->survived[resolution->survivors++] = variant->variation.x_ns;
    } else if (!resolution->broken) {
        resolution->measured = 1;
        resolution->ns = variant->variation.x_ns;
    }
}

void variants_judge(const struct variant *variant, struct variant_result *result, struct case_evidence *evidence,
                    struct resolution *resolution)
{
    result->trials = result->tally.run;
    result->kills = result->tally.forbidden;
    result->status = judge_variant(result->kills, result->applicable, variant->may_be_equivalent);
    if (result->status == VARIANT_EQUIVALENT)
        result->why = case_tag(variant->name)->equivalent;
    if (variant->kind == VARIANT_BROKEN_WAIT && variant->variation.broken_wait == BROKEN_EARLY && result->applicable)
        judge_sweep(variant, result, resolution);
    if (result->status != VARIANT_SURVIVED || !variant->must_die)
        return;
    if (variant->kind == VARIANT_BROKEN_WAIT) {
        evidence->broken_wait_survived = 1;
    } else {
        evidence->survived++;
        evidence->survivor = variant->name;
    }
}

void variants_judge_control(struct record *record, const struct case_info *info, const struct variant_result *base,
                            struct case_evidence *evidence)
{
    struct variant variant;
    struct variant_result result = *base;

    start(&variant, VARIANT_CONTROL, info->controls[0], "base", base->tally.controls);
    result.applicable = 1;
    result.trials = base->tally.controls;
    result.kills = base->tally.controls_started;
    result.status = judge_variant(result.kills, 1, 0);
    if (result.status == VARIANT_SURVIVED) {
        evidence->survived++;
        evidence->survivor = variant.name;
    }
    record_variant(record, info, &variant, &result);
}
