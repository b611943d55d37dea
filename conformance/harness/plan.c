/* plan.c - shapes and plans of trials, drawn from one seed. */
#include "plan.h"

#include <string.h>

enum purpose {
    DRAW_KEY = 1, DRAW_WORDS, DRAW_BIG, DRAW_MANY_PRIMARY, DRAW_PRIMARY, DRAW_MANY_DEPENDENT, DRAW_DEPENDENT, DRAW_THREADS,
    DRAW_FIT, DRAW_EXTRA, DRAW_WITNESS, DRAW_HOLD, DRAW_TRIGGER, DRAW_EARLY, DRAW_WITHHOLD, DRAW_REPEATS, DRAW_ROTATE,
    DRAW_LEAVE, DRAW_EXIT, DRAW_READ_ONLY, DRAW_MIDDLE, DRAW_LATE, DRAW_BATCH
};

static uint64_t mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

uint64_t plan_draw(struct plan_source source, uint64_t index, uint32_t purpose)
{
    uint64_t x = mix64(source.seed + 0x9E3779B97F4A7C15ull * (purpose + 1));
    x = mix64(x ^ source.stream);
    return mix64(x + 0xD1B54A32D192ED03ull * (index + 1));
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = mix64(h ^ (unsigned char)*text);
    return h;
}

struct plan_source plan_source_make(uint64_t seed, const char *case_name, const char *part)
{
    struct plan_source source;
    source.seed = seed;
    source.stream = hash_text(mix64(hash_text(0x5044u, case_name)), part);
    return source;
}

void plan_size_fill(struct device_size *size, unsigned sms, int toy)
{
    size->sms = sms;
    size->words_min = toy ? 16 : 256;
    size->words_max = toy ? 64 : 4096;
    size->words_big = toy ? 256 : 65536;
    size->hold_start_ns = 5000;
    size->hold_max_ns = 1500;
    size->bound_ns = 20000;
    size->tick_ns = 32;
    size->warp = toy ? 4 : 32;
    size->max_threads = toy ? 32 : 1024;
    size->slots_per_sm = toy ? 4 : 32;
    size->threads_per_sm = toy ? 128 : 2048;
    size->shared_per_sm = toy ? 65536 : 233472;
    size->shared_per_block = toy ? 49152 : 232448;
}

/* A draw in [low, high], small values as likely as large ones on a logarithmic scale. */
static unsigned draw_log(uint64_t bits, unsigned low, unsigned high)
{
    unsigned octaves = 0, octave, base;
    while (octaves < 31 && (low << (octaves + 1)) <= high)
        octaves++;
    octave = (unsigned)(bits >> 32) % (octaves + 1);
    base = low << octave;
    return base + (unsigned)((bits & 0xFFFFFFFFu) % ((octave == octaves ? high - base : base - 1) + 1));
}

static unsigned draw_in(uint64_t bits, unsigned low, unsigned high)
{
    return low + (unsigned)((bits >> 16) % (high - low + 1));
}

static unsigned at_least(unsigned x, unsigned y) { return x > y ? x : y; }

/* 1 block to twice the SMs; one draw in three has more blocks than SMs. */
static unsigned draw_blocks(const struct device_size *size, uint64_t many, uint64_t bits, unsigned least)
{
    if (many % 3 == 0)
        return draw_in(bits, size->sms + 1, 2 * size->sms);
    return draw_log(bits, least, at_least(size->sms, least)); /* one SM, two blocks */
}

static unsigned power_of_two_at_least(unsigned x, unsigned low, unsigned high)
{
    unsigned p = low;
    while (p < x && p < high)
        p *= 2;
    return p;
}

/* The primary's blocks fit `fit` to an SM by shared memory, which leaves the dependent's blocks all they need; and there is
 * at most one more per SM than that. */
static void shape_resource(struct slot_shape *shape, const struct device_size *size, struct plan_source source, uint64_t index)
{
    shape->fit = 1 + (unsigned)(plan_draw(source, index, DRAW_FIT) % 2);
    shape->primary_shared_bytes = size->shared_per_sm / (shape->fit + 1) + 1024;
    shape->residents = shape->fit * size->sms;
    shape->primary_blocks = shape->residents + draw_in(plan_draw(source, index, DRAW_EXTRA), 1, size->sms);
}

/* Blocks of half the longest fill an SM's threads with few of them: one trial stays short. */
static void shape_fill(struct slot_shape *shape, const struct pair *pair, const struct device_size *size, uint64_t bits)
{
    unsigned fit, slots;

    shape->threads = at_least(size->max_threads / 2, 2 * size->warp);
    fit = size->threads_per_sm / shape->threads;
    slots = size->sms * (fit < size->slots_per_sm ? fit : size->slots_per_sm);
    shape->primary_blocks = at_least(shape->primary_blocks, size->sms);
    shape->dependent_blocks = slots / 2 * draw_in(bits, 1, 3);
    if (pair->shape == SHAPE_OVERFLOW) {
        shape->primary_blocks = slots + draw_in(bits >> 8, 1, at_least(slots / 4, 1));
        shape->dependent_blocks = slots + draw_in(bits >> 24, 1, at_least(slots / 4, 1));
    }
}

/* At most eight words or so per thread on the side with fewer blocks; one shape in four has twice as many threads. */
static void shape_threads(struct slot_shape *shape, const struct device_size *size, uint64_t bits)
{
    unsigned fewer = shape->primary_blocks < shape->dependent_blocks ? shape->primary_blocks : shape->dependent_blocks;

    shape->threads = power_of_two_at_least(shape->words / fewer / 8, 2 * size->warp, size->max_threads / 2);
    if (bits % 4 == 0 && shape->threads < size->max_threads / 2)
        shape->threads *= 2;
}

/* Where threads are what is asked about, one shape in four with few blocks has the longest ones, and words for each of their threads. */
static void shape_many_threads(struct slot_shape *shape, const struct pair *pair, const struct device_size *size, uint64_t bits)
{
    unsigned fewer = shape->primary_blocks, more = shape->dependent_blocks;

    if (fewer > more) {
        fewer = shape->dependent_blocks;
        more = shape->primary_blocks;
    }
    if (!(pair->flags & PAIR_TWO_WARPS) || (bits >> 20 & 3) || fewer > 2 || more > at_least(size->sms / 4, 2))
        return;
    shape->threads = size->max_threads;
    shape->words = 4 * shape->threads * fewer;
}

/* One shape in sixteen of a start rule has few threads, whole warps or not, and few words for them. */
static void shape_few_threads(struct slot_shape *shape, const struct device_size *size, uint64_t bits)
{
    if (bits >> 8 & 15)
        return;
    shape->words = size->words_min;
    shape->threads = draw_log(bits >> 12, 1, 2 * size->warp);
}

static void shape_contended(struct slot_shape *shape, const struct device_size *size)
{
    shape->threads = size->max_threads;
    shape->primary_blocks = size->sms * at_least(1, size->threads_per_sm / size->max_threads);
    if (size->slots_per_sm * size->max_threads < size->threads_per_sm)
        shape->primary_blocks = size->sms * size->slots_per_sm;
    shape->dependent_blocks = shape->primary_blocks;
}

void plan_shape(struct slot_shape *shape, const struct case_info *info, const struct pair *pair, const struct device_size *size,
                struct plan_source source, uint64_t group, unsigned slot, enum control control)
{
    unsigned least = (pair->flags & PAIR_TWO_BLOCKS) ? 2 : 1;
    unsigned first = control != CONTROL_NONE ? slot - slot % PLAN_CONTROL_EVERY : slot; /* a control has the shape it speaks for */
    uint64_t index = group * PLAN_MAX_SLOTS + first;

    memset(shape, 0, sizeof(*shape));
    shape->words = draw_log(plan_draw(source, index, DRAW_WORDS), size->words_min, size->words_max) & ~3u;
    shape->primary_blocks = draw_blocks(size, plan_draw(source, index, DRAW_MANY_PRIMARY), plan_draw(source, index, DRAW_PRIMARY), least);
    shape->dependent_blocks = draw_blocks(size, plan_draw(source, index, DRAW_MANY_DEPENDENT), plan_draw(source, index, DRAW_DEPENDENT), 1);
    if (plan_draw(source, index, DRAW_BIG) % 100 == 0) { /* enough blocks that the few big ones do not set the pace */
        shape->words = size->words_big;
        shape->primary_blocks = at_least(shape->primary_blocks, size->sms);
        shape->dependent_blocks = at_least(shape->dependent_blocks, size->sms);
    }
    if (pair->shape == SHAPE_RESOURCE)
        shape_resource(shape, size, source, index);
    if (pair->shape == SHAPE_FILL || pair->shape == SHAPE_OVERFLOW)
        shape_fill(shape, pair, size, plan_draw(source, index, DRAW_EXTRA));
    if (pair->flags & PAIR_CLUSTER) {
        shape->primary_blocks = (shape->primary_blocks + 1) & ~1u;
        shape->dependent_blocks = (shape->dependent_blocks + 1) & ~1u;
    }
    if (!shape->threads)
        shape_threads(shape, size, plan_draw(source, index, DRAW_THREADS));
    if (pair->shape == SHAPE_WORDS)
        shape_many_threads(shape, pair, size, plan_draw(source, index, DRAW_THREADS));
    if (pair->shape == SHAPE_WORDS && strcmp(info->kind, "start") == 0)
        shape_few_threads(shape, size, plan_draw(source, index, DRAW_THREADS));
    if (strcmp(info->window, "contended") == 0)
        shape_contended(shape, size);
    if (!shape->residents)
        shape->residents = shape->primary_blocks;
    if (control != CONTROL_NONE && slot % PLAN_CONTROL_EVERY == PLAN_CONTROL_EVERY - 1)
        shape->control = control;
    shape->programmatic_primary = (pair->flags & PAIR_MIDDLE) && shape->control == CONTROL_NONE &&
                                  plan_draw(source, group * PLAN_MAX_SLOTS + slot, DRAW_MIDDLE) % 2 == 0;
}

static uint32_t draw_reads_early(uint64_t bits, uint32_t words)
{
    switch (bits % 3) {
    case 0: return 1;
    case 1: return words;
    default: return draw_log(bits >> 8, 1, words);
    }
}

static uint32_t visibility_flags(const struct case_info *info, const struct pair *pair, struct plan_source source, uint64_t trial)
{
    uint32_t flags = plan_draw(source, trial, DRAW_TRIGGER) % 2 ? PLAN_TRIGGER_ALL : 0;

    if (strcmp(info->window, "natural") == 0)
        return flags | (plan_draw(source, trial, DRAW_LATE) % 2 ? PLAN_TRIGGER_LATE : 0);
    if (strcmp(info->window, "contended") == 0)
        return flags | PLAN_STAGGER;
    if (pair->flags & PAIR_NEVER_TRIGGER)
        return flags | PLAN_TRIGGER_NEVER;
    if (strcmp(info->kind, "visibility") == 0 && plan_draw(source, trial, DRAW_WITNESS) % 8 != 0)
        flags |= PLAN_WITNESS;
    return flags;
}

/* Without a witness the hold alone has to cover the dependent's start. */
static uint32_t visibility_hold(const struct case_info *info, const struct pair *pair, const struct device_size *size, uint64_t bits,
                                uint32_t flags)
{
    if (strcmp(info->window, "natural") == 0)
        return 0;
    if (strcmp(info->window, "contended") == 0)
        return draw_in(bits, 2000, 8000);
    if ((pair->flags & PAIR_LINES) && (flags & PLAN_WITNESS)) /* time for most blocks to have read their lines */
        return draw_in(bits, 2000, 2000 + size->hold_max_ns);
    if (strcmp(info->kind, "progress") == 0 || (flags & PLAN_WITNESS))
        return draw_in(bits, 0, size->hold_max_ns);
    return draw_in(bits, 4000, 8000);
}

void plan_trial(struct trial_plan *plan, const struct case_info *info, const struct pair *pair, const struct device_size *size,
                struct plan_source source, uint64_t trial, const struct slot_shape *shape)
{
    memset(plan, 0, sizeof(*plan));
    plan->key = plan_draw(source, trial, DRAW_KEY);
    plan->words = shape->words;
    plan->bound_ns = size->bound_ns;
    plan->residents = shape->residents;
    plan->rotate = (uint32_t)(plan_draw(source, trial, DRAW_ROTATE) % shape->dependent_blocks);
    plan->repeats = (pair->flags & PAIR_REPEATS) ? draw_in(plan_draw(source, trial, DRAW_REPEATS), 2, 9) : 1;
    if (shape->programmatic_primary)
        plan->flags |= PLAN_MIDDLE;
    if (strcmp(info->kind, "start") == 0) {
        plan->hold_ns = size->hold_start_ns;
        plan->withhold = (uint32_t)(plan_draw(source, trial, DRAW_WITHHOLD) % shape->primary_blocks);
        plan->flags |= plan_draw(source, trial, DRAW_TRIGGER) % 2 ? PLAN_TRIGGER_ALL : 0;
        plan->flags |= plan_draw(source, trial, DRAW_LEAVE) % 2 ? PLAN_OTHERS_LEAVE : 0;
        plan->flags |= plan_draw(source, trial, DRAW_EXIT) % 2 ? PLAN_WITHHOLD_EXIT : 0;
        return;
    }
    plan->flags |= visibility_flags(info, pair, source, trial);
    plan->hold_ns = visibility_hold(info, pair, size, plan_draw(source, trial, DRAW_HOLD), plan->flags);
    plan->reads_early = draw_reads_early(plan_draw(source, trial, DRAW_EARLY), plan->words);
    plan->flags |= plan_draw(source, trial, DRAW_READ_ONLY) % 2 ? PLAN_READ_ONLY : 0;
    plan->withhold = (uint32_t)(plan_draw(source, trial, DRAW_WITHHOLD) % shape->primary_blocks);
}

uint64_t plan_batch_key(struct plan_source source, uint64_t batch)
{
    return plan_draw(source, batch, DRAW_BATCH);
}
