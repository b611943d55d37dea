/* record_case.c - writes the records of a case. */
#include "record_case.h"

#include <string.h>

#include "part.h"

static const char *const profile_names[PROFILE_COUNT] = { "smoke", "quick", "full", "soak" };
static const char *const variant_kinds[] = { "base", "mutant", "control", "broken_wait", "triage" };
static const char *const broken_waits[] = { "none", "early", "at-trigger", "before-flush", "all-but-one", "stale-lines" };

void record_start(struct record *record, const struct device *device, const struct run *run, const char *family)
{
    record_begin(record, "start");
    record_text(record, "family", family);
    record_text(record, "suite", case_suite);
    record_text(record, "rules_hash", case_rules_hash);
    record_text(record, "profile", profile_names[run->profile]);
    record_hex(record, "seed", run->seed);
    record_bool(record, "model", device->is_model);
    record_object(record, "device");
    record_text(record, "name", device->name);
    record_count(record, "cc", (uint64_t)device->cc);
    record_count(record, "sms", device->size.sms);
    record_text(record, "uuid_hash", device->uuid_hash);
    record_count(record, "tick_ns", device->size.tick_ns);
    record_close(record, '}');
    record_count(record, "driver", (uint64_t)device->driver_version);
    record_count(record, "runtime", (uint64_t)device->runtime_version);
    record_count(record, "toolkit", (uint64_t)device->toolkit_version);
    record_end(record);
}

static void shape_fields(struct record *record, const struct slot_shape *shape)
{
    record_count(record, "words", shape->words);
    record_count(record, "blocks_primary", shape->primary_blocks);
    record_count(record, "blocks_dependent", shape->dependent_blocks);
    record_count(record, "threads", shape->threads);
    record_count(record, "primary_shared_bytes", shape->primary_shared_bytes);
    record_count(record, "residents", shape->residents);
    record_bool(record, "programmatic_primary", shape->programmatic_primary);
}

static void plan_fields(struct record *record, const struct trial_plan *plan)
{
    record_hex(record, "key", plan->key);
    record_count(record, "flags", plan->flags);
    record_text(record, "trigger", plan->flags & PLAN_TRIGGER_NEVER ? "never" : plan->flags & PLAN_TRIGGER_LATE ? "late" : "start");
    record_bool(record, "trigger_all_threads", (plan->flags & PLAN_TRIGGER_ALL) != 0);
    record_bool(record, "witness", (plan->flags & PLAN_WITNESS) != 0);
    record_count(record, "hold_ns", plan->hold_ns);
    record_count(record, "bound_ns", plan->bound_ns);
    record_count(record, "withhold", plan->withhold);
    record_count(record, "repeats", plan->repeats);
    record_count(record, "rotate", plan->rotate);
    record_text(record, "broken_wait", broken_waits[plan->broken_wait]);
    record_count(record, "x_ns", plan->x_ns);
}

static void time_field(struct record *record, const char *key, uint64_t time, uint64_t origin)
{
    if (time == 0 || time == UINT64_MAX || origin == UINT64_MAX)
        record_null(record, key);
    else
        record_number(record, key, (double)(int64_t)(time - origin));
}

/* Times count from the beginning of the primary, in ns. */
static void state_fields(struct record *record, const struct trial_state *state)
{
    uint64_t origin = state->primary_begin_ns;

    record_count(record, "witnessed", state->witnessed);
    record_count(record, "early", state->early);
    time_field(record, "primary_store_ns", state->primary_store_ns, origin);
    time_field(record, "dependent_begin_ns", state->dependent_begin_ns, origin);
    time_field(record, "dependent_waited_ns", state->dependent_waited_ns, origin);
}

static void word_fields(struct record *record, const struct oracle_result *words)
{
    unsigned i;

    record_count(record, "wrong", words->wrong);
    if (!words->wrong)
        return;
    record_text(record, "class", word_class_name[words->first_class]);
    record_count(record, "first", words->first);
    record_hex(record, "want", words->want);
    record_hex(record, "got", words->got);
    for (i = WORD_STALE; i < WORD_CLASS_COUNT; i++)
        record_count(record, word_class_name[i], words->count[i]);
}

void record_forbidden(struct record *record, const struct case_info *info, const struct variant *variant,
                      const struct variant_result *result)
{
    const struct tally *tally = &result->tally;
    unsigned i;

    for (i = 0; i < tally->details; i++) {
        const struct forbidden *f = &tally->detail[i];
        record_begin(record, "forbidden");
        record_text(record, "case", info->name);
        record_text(record, "image", variant->image);
        record_text(record, "path", info->path);
        record_count(record, "batch", f->batch);
        record_count(record, "slot", f->slot);
        record_object(record, "plan");
        shape_fields(record, &f->shape);
        plan_fields(record, &f->plan);
        record_close(record, '}');
        record_object(record, "state");
        state_fields(record, &f->state);
        record_close(record, '}');
        record_object(record, "seen");
        word_fields(record, &f->words);
        record_close(record, '}');
        record_end(record);
    }
}

static void kernel_fields(struct record *record, const pdl_kernel *kernel, const char *name, const char *image)
{
    record_item_object(record);
    record_text(record, "name", name);
    record_text(record, "image", image);
    record_count(record, "ptx_version", (uint64_t)kernel->ptx_version);
    record_count(record, "binary_version", (uint64_t)kernel->binary_version);
    record_count(record, "registers", (uint64_t)kernel->regs_per_thread);
    record_bool(record, "can_overlap", kernel->can_overlap);
    record_text(record, "reason", kernel->can_overlap ? NULL : pdl_reason_string(kernel->reason));
    record_close(record, '}');
}

static void kernels_field(struct record *record, const struct variant_result *result, const char *image, int raw)
{
    record_array(record, "kernels");
    if (result->pair) {
        kernel_fields(record, &result->primary, result->pair->primary_name, raw ? "base" : image);
        kernel_fields(record, &result->dependent, result->pair->dependent_name, image);
    }
    record_close(record, ']');
}

static void outcome_fields(struct record *record, const struct tally *tally)
{
    unsigned i;

    record_object(record, "outcomes");
    for (i = 0; i < WORD_CLASS_COUNT; i++)
        record_count(record, word_class_name[i], tally->outcome[i]);
    record_count(record, "early_start", tally->early_start);
    record_count(record, "overlap", tally->overlap);
    record_close(record, '}');
}

void record_variant(struct record *record, const struct case_info *info, const struct variant *variant,
                    const struct variant_result *result)
{
    int broken = variant->variation.broken_wait == BROKEN_EARLY;

    record_begin(record, "variant");
    record_text(record, "case", info->name);
    record_text(record, "tag", variant->name);
    record_text(record, "kind", variant_kinds[variant->kind]);
    if (variant->kind == VARIANT_TRIAGE) {
        record_count(record, "kills", result->tally.forbidden);
        record_count(record, "trials", result->tally.run);
    } else {
        record_text(record, "status", variant_status_name[result->status]);
        record_count(record, "kills", result->kills);
        record_count(record, "trials", result->trials);
    }
    record_count(record, "exercised", result->tally.exercised);
    record_bool(record, "must_die", variant->must_die && !variant->may_be_equivalent);
    if (broken)
        record_count(record, "x_ns", variant->variation.x_ns);
    else
        record_null(record, "x_ns");
    record_text(record, "reason", result->why);
    record_text(record, "image", variant->image);
    outcome_fields(record, &result->tally);
    kernels_field(record, result, variant->image, variant->raw);
    record_seconds(record, "wall_s", result->wall_s);
    record_end(record);
}

void record_replayed(struct record *record, const struct case_info *info, const struct variant *variant,
                     const struct variant_result *result)
{
    const struct tally *tally = &result->tally;

    record_forbidden(record, info, variant, result);
    record_begin(record, "replayed");
    record_text(record, "case", info->name);
    record_text(record, "reason", result->why);
    record_count(record, "forbidden", tally->forbidden);
    record_count(record, "run", tally->run);
    record_count(record, "exercised", tally->exercised);
    outcome_fields(record, tally);
    record_end(record);
}

static void case_fields(struct record *record, const struct case_info *info)
{
    record_text(record, "case", info->name);
    record_text(record, "rule", info->rule);
    record_text(record, "class", info->rule_class);
    record_text(record, "kind", info->kind);
    record_text(record, "window", info->window);
    record_text(record, "path", info->path);
    record_bool(record, "proving", info->proving);
}

static void trials_field(struct record *record, uint64_t planned, const struct tally *tally)
{
    record_object(record, "trials");
    record_count(record, "planned", planned);
    record_count(record, "run", tally ? tally->run : 0);
    record_count(record, "exercised", tally ? tally->exercised : 0);
    record_count(record, "witnessed", tally ? tally->witnessed : 0);
    record_count(record, "cut_short", tally ? tally->cut_short : 0);
    record_close(record, '}');
}

static void resolution_fields(struct record *record, const struct resolution *resolution)
{
    unsigned i;

    if (resolution->measured)
        record_count(record, "resolution_ns", resolution->ns);
    else
        record_null(record, "resolution_ns");
    record_array(record, "survived_x");
    for (i = 0; i < resolution->survivors; i++)
        record_item_count(record, resolution->survived[i]);
    record_close(record, ']');
}

void record_case(struct record *record, const struct case_info *info, const struct device *device, const struct variant_result *base,
                 enum case_status status, const char *reason, const struct resolution *resolution, double wall_s)
{
    const struct tally *tally = &base->tally;

    record_begin(record, "case");
    case_fields(record, info);
    record_text(record, "status", case_status_name[status]);
    record_text(record, "reason", reason[0] ? reason : NULL);
    trials_field(record, base->planned, tally);
    outcome_fields(record, tally);
    if (tally->exercised && !tally->forbidden && !device->is_model)
        record_number(record, "bound95", judge_bound95(tally->exercised));
    else
        record_null(record, "bound95");
    resolution_fields(record, resolution);
    record_count(record, "schedules", tally->schedules.count);
    record_count(record, "shapes", tally->shapes.count);
    record_count(record, "sm_pairs", tally->sm_pairs);
    record_count(record, "sm_pairs_possible", tally_pairs_possible(device->size.sms));
    record_seconds(record, "base_s", base->wall_s);
    record_seconds(record, "wall_s", wall_s);
    record_hex(record, "plan_hash", tally->plan_hash);
    record_hex(record, "expected_hash", tally->expected_hash);
    kernels_field(record, base, "base", 0);
    record_end(record);
}

void record_asked(struct record *record, const struct case_info *info, enum case_status status, const char *text, unsigned asked,
                  const struct answer *answers, unsigned count)
{
    struct tally counts = PDL_ZERO;
    unsigned i;

    counts.run = counts.exercised = asked;
    record_begin(record, "case");
    case_fields(record, info);
    record_text(record, "status", case_status_name[status]);
    record_text(record, "reason", text[0] ? text : NULL);
    trials_field(record, asked, &counts);
    record_object(record, "outcomes");
    record_close(record, '}');
    record_array(record, "answers");
    for (i = 0; i < count; i++) {
        record_item_object(record);
        record_text(record, "what", answers[i].what);
        record_text(record, "answer", answers[i].answer);
        record_close(record, '}');
    }
    record_close(record, ']');
    record_end(record);
}

void record_unrun(struct record *record, const struct case_info *info, enum case_status status, const char *reason)
{
    record_begin(record, "case");
    case_fields(record, info);
    record_text(record, "status", case_status_name[status]);
    record_text(record, "reason", reason);
    trials_field(record, 0, NULL);
    record_end(record);
}

static void plan_trials(struct record *record, const struct case_info *info, const struct part *part)
{
    static struct trial_plan plans[BATCH_PLANS];
    static struct layout layout;
    uint64_t batch;
    unsigned i;

    for (batch = 0; batch < part_batches(part); batch++) {
        batch_layout(&layout, part, part_group(part, batch));
        batch_plan(plans, part, &layout, batch);
        for (i = 0; i < layout.slots; i++) {
            record_begin(record, "trial");
            record_text(record, "case", info->name);
            record_count(record, "batch", batch);
            record_count(record, "slot", i);
            record_bool(record, "control", layout.slot[i].shape.control != CONTROL_NONE);
            shape_fields(record, &layout.slot[i].shape);
            plan_fields(record, &plans[i]);
            record_end(record);
        }
    }
}

void record_plan(struct record *record, const struct case_info *info, const struct part *part, const struct tally *tally,
                 uint64_t planned, int trials)
{
    record_begin(record, "plan");
    case_fields(record, info);
    record_count(record, "planned", planned);
    record_count(record, "batches", part_batches(part));
    record_count(record, "slots", part->slots);
    record_hex(record, "plan_hash", tally->plan_hash);
    record_hex(record, "expected_hash", tally->expected_hash);
    record_end(record);
    if (trials)
        plan_trials(record, info, part);
}
