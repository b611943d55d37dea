/* tally_test.c - what counts as exercised, as a kill and as forbidden: batches made by hand, counted by tally.c. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tally.h"
#include "words.h"

/* ---- memory: how much of it is held, and none where a test says so ---- */

static int held, no_memory;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_calloc(size_t count, size_t size)
{
    held += !no_memory;
    return no_memory ? NULL : __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
    held -= memory != NULL;
    __real_free(memory);
}

/* ---- a batch of four conforming trials, in which the dependent overlapped and waited ---- */

enum { SLOTS = 4, WORDS = 64, BLOCKS = 3 };

struct bench {
    struct case_info info;
    struct pair pair;
    struct part part;
    struct layout layout;
    struct buffers buffers;
    struct trial_plan plans[BATCH_PLANS];
    struct trial_state states[PLAN_MAX_SLOTS];
    uint32_t seen[SLOTS * WORDS], sm[SLOTS * 2 * BLOCKS], want[WORDS];
    struct crew *crew;
    struct word_check *words;
    struct tally tally;
};

static const char *const no_names[] = { NULL };

static void fill_slot(struct bench *t, unsigned i)
{
    struct slot *slot = &t->layout.slot[i];
    uint32_t word;

    slot->shape.words = WORDS;
    slot->shape.primary_blocks = slot->shape.dependent_blocks = BLOCKS;
    slot->shape.threads = 64;
    slot->first_word = i * WORDS;
    slot->first_block = i * 2 * BLOCKS;
    t->plans[i].key = 1000 + i;
    t->plans[i].batch_key = 7;
    t->plans[i].words = WORDS;
    t->plans[i].offset = i * WORDS;
    t->plans[i].hold_ns = 5000;
    t->plans[i].flags = PLAN_WITNESS;
    t->states[i].witnessed = BLOCKS;
    t->states[i].finished = BLOCKS;
    t->states[i].primary_begin_ns = 10000;
    t->states[i].dependent_begin_ns = 12000;
    t->states[i].primary_store_ns = 20000;
    t->states[i].held_ns = 5000;
    for (word = 0; word < WORDS; word++)
        t->seen[i * WORDS + word] = words_fresh(t->plans[i].key, word);
}

static struct bench *open_bench(const char *kind, enum control interleave)
{
    struct bench *t = calloc(1, sizeof(*t));
    unsigned i;

    if (!t || !tally_open(&t->tally) || !(t->crew = crew_open(1)) || !(t->words = word_check_open(WORDS, 1)))
        exit(1);
    t->info.kind = kind;
    t->info.window = "widened";
    t->info.path = "stream";
    t->info.proving = 1;
    t->info.mutants = t->info.controls = no_names;
    t->part.info = &t->info;
    t->part.pair = &t->pair;
    t->part.interleave = interleave;
    t->part.slots = t->layout.slots = SLOTS;
    t->part.size.tick_ns = 32;
    t->buffers.plan_host = t->plans;
    t->buffers.state_host = t->states;
    t->buffers.seen_host = t->seen;
    t->buffers.sm_host = t->sm;
    for (i = 0; i < SLOTS; i++)
        fill_slot(t, i);
    if (interleave != CONTROL_NONE) {
        t->layout.slot[SLOTS - 1].shape.control = interleave;
        t->states[SLOTS - 1].early = 1;
    }
    return t;
}

static void count_batch(struct bench *t, uint64_t batch, int sm_pairs)
{
    check_words(t->words, t->crew, &t->part, &t->layout, &t->buffers);
    tally_batch(&t->tally, &t->part, &t->layout, &t->buffers, batch, sm_pairs, t->words->slot);
}

/* Counts the batch and returns how many trials were exercised. */
static uint64_t count(struct bench *t)
{
    count_batch(t, 0, 1);
    return t->tally.exercised;
}

static void close_bench(struct bench *t)
{
    tally_close(&t->tally);
    word_check_close(t->words);
    crew_close(t->crew);
    free(t);
}

/* Exercised trials of a batch in which `change` was done to the second trial. */
static uint64_t exercised_after(const char *kind, enum control interleave, void (*change)(struct bench *))
{
    struct bench *t = open_bench(kind, interleave);
    uint64_t exercised;

    if (change)
        change(t);
    exercised = count(t);
    close_bench(t);
    return exercised;
}

/* ---- visibility ---- */

static void no_witness(struct bench *t) { t->states[1].witnessed = BLOCKS - 1; }
static void witness_after_the_store(struct bench *t) { t->states[1].dependent_begin_ns = 20001; }
static void cut_short(struct bench *t) { t->states[1].cut_short = 1; }
static void late_gate(struct bench *t) { t->buffers.gate_late_now = 1; }
static void without_witness(struct bench *t)
{
    t->plans[1].flags = 0;
    t->states[1].witnessed = 0;
}
static void without_witness_too_late(struct bench *t)
{
    without_witness(t);
    t->states[1].dependent_begin_ns = 20000 - 2 * 32;
}
static void without_witness_just_early(struct bench *t)
{
    without_witness(t);
    t->states[1].dependent_begin_ns = 20000 - 2 * 32 - 1;
}
static void coarse_clock(struct bench *t)
{
    without_witness_just_early(t);
    t->part.size.tick_ns = 1024;
}
static void never_begun(struct bench *t)
{
    without_witness(t);
    t->states[1].dependent_begin_ns = UINT64_MAX;
}

static void test_visibility(void)
{
    check(exercised_after("visibility", CONTROL_NONE, NULL) == 4, "a trial with its witness is exercised");
    check(exercised_after("visibility", CONTROL_NONE, no_witness) == 3, "one block without a witness takes it away");
    check(exercised_after("visibility", CONTROL_NONE, witness_after_the_store) == 3, "so does a clock that contradicts the witness");
    check(exercised_after("visibility", CONTROL_NONE, cut_short) == 3, "so does a spin that ended by its count");
    check(exercised_after("visibility", CONTROL_NONE, late_gate) == 0, "after a gate that let go by itself nothing is");
    check(exercised_after("visibility", CONTROL_NONE, without_witness) == 4, "without a planned witness the clock has to show overlap");
    check(exercised_after("visibility", CONTROL_NONE, without_witness_too_late) == 3, "by more than two ticks");
    check(exercised_after("visibility", CONTROL_NONE, without_witness_just_early) == 4, "and no more than that");
    check(exercised_after("visibility", CONTROL_NONE, coarse_clock) == 3, "of the device's own clock");
    check(exercised_after("visibility", CONTROL_NONE, never_begun) == 3, "a dependent that never began shows nothing");
}

static void test_counts(void)
{
    struct bench *t = open_bench("visibility", CONTROL_NONE);

    t->plans[1].flags = 0; /* none was planned: that one was seen does not count */
    (void)count(t);
    check(t->tally.run == 4 && t->tally.witnessed == 3 && t->tally.overlap == 4, "trials, witnesses and overlaps are counted one by one");
    check(t->tally.outcome[WORD_FRESH] == 4 && t->tally.forbidden == 0, "four fresh trials are four fresh trials");
    check(t->tally.repeated == 0, "four keys are no repetition");
    close_bench(t);
}

/* ---- progress and start ---- */

static void one_block_missing(struct bench *t) { t->states[1].finished = BLOCKS - 1; }
static void not_held(struct bench *t) { t->states[1].held_ns = UINT64_MAX; }
static void held_too_short(struct bench *t) { t->states[1].held_ns = 4999; }
static void control_stays_away(struct bench *t) { t->states[SLOTS - 1].early = 0; }
static void other_blocks(struct bench *t) { t->layout.slot[1].shape.dependent_blocks = 1; }
static void other_threads(struct bench *t) { t->layout.slot[1].shape.threads = 128; }
static void other_primary(struct bench *t) { t->layout.slot[1].shape.primary_blocks = 1; }
static void other_words(struct bench *t) { t->layout.slot[1].shape.words -= 4; }
static void other_shared(struct bench *t) { t->layout.slot[1].shape.primary_shared_bytes = 1024; }
static void control_of_more_shared(struct bench *t) { t->layout.slot[SLOTS - 1].shape.primary_shared_bytes = 1024; }
static void observing(struct bench *t) { t->info.proving = 0; }
static void control_in_front(struct bench *t)
{
    t->layout.slot[SLOTS - 1].shape.control = CONTROL_NONE;
    t->states[SLOTS - 1].early = 0;
    t->layout.slot[0].shape.control = CONTROL_UNORDERED;
    t->states[0].early = 1;
}

static void two_controls(struct bench *t)
{
    t->layout.slot[1].shape.control = CONTROL_UNORDERED;
    t->states[1].early = 1;
    t->layout.slot[2].shape.control = CONTROL_UNORDERED;
    t->states[2].early = 1;
    t->states[SLOTS - 1].early = 0;
}

static void control_stays_away_before_one(struct bench *t)
{
    t->layout.slot[1].shape.control = CONTROL_UNORDERED;
    t->states[1].early = 0;
}

static void test_progress_and_start(void)
{
    check(exercised_after("progress", CONTROL_NONE, NULL) == 4, "a trial that ended is progress");
    check(exercised_after("progress", CONTROL_NONE, one_block_missing) == 3, "one whose dependent lacks a block is none");
    check(exercised_after("start", CONTROL_UNORDERED, NULL) == 3, "a started control speaks for the three trials before it");
    check(exercised_after("start", CONTROL_UNORDERED, control_stays_away) == 0, "one that stayed away speaks for none");
    check(exercised_after("start", CONTROL_UNORDERED, control_in_front) == 0, "nor does it speak for those after it");
    check(exercised_after("start", CONTROL_UNORDERED, two_controls) == 1, "nor twice, if two follow");
    check(exercised_after("start", CONTROL_UNORDERED, control_stays_away_before_one) == 1,
          "nor for one whose own control, before it, stayed away");
    check(exercised_after("start", CONTROL_UNORDERED, other_blocks) == 2, "nor for a trial of another grid");
    check(exercised_after("start", CONTROL_UNORDERED, other_threads) == 2, "nor for one of other blocks");
    check(exercised_after("start", CONTROL_UNORDERED, other_shared) == 2, "nor for one of other shared memory");
    check(exercised_after("start", CONTROL_UNORDERED, control_of_more_shared) == 0, "also where those have less of it");
    check(exercised_after("start", CONTROL_UNORDERED, other_primary) == 2, "nor for one of another primary");
    check(exercised_after("start", CONTROL_UNORDERED, other_words) == 2, "nor for one of other words");
    check(exercised_after("start", CONTROL_UNORDERED, not_held) == 2, "a primary that was not held shows nothing");
    check(exercised_after("start", CONTROL_UNORDERED, held_too_short) == 2, "nor does one that was held too short");
    check(exercised_after("start", CONTROL_NONE, observing) == 0, "without a control nothing is exercised");
}

static void test_controls(void)
{
    struct bench *t = open_bench("start", CONTROL_ATTRON);

    (void)count(t);
    check(t->tally.run == 3 && t->tally.controls == 1 && t->tally.controls_started == 1, "a control is no trial");
    check(t->tally.forbidden == 0 && t->tally.early_start == 0, "and its early start is no forbidden one");
    close_bench(t);

    t = open_bench("start", CONTROL_UNORDERED);
    t->pair.flags = PAIR_COPY;
    t->states[SLOTS - 1].early = 0;
    check(count(t) == 0, "a copy that copied the right words did not begin early");
    close_bench(t);

    t = open_bench("start", CONTROL_UNORDERED);
    t->pair.flags = PAIR_COPY;
    t->states[SLOTS - 1].early = 0;
    t->seen[(SLOTS - 1) * WORDS] ^= 1;
    check(count(t) == 3 && t->tally.forbidden == 0, "one that copied wrong words did, and that is not forbidden");
    close_bench(t);
}

/* ---- forbidden ---- */

static uint64_t forbidden_where(unsigned allowed)
{
    struct bench *t = open_bench("start", CONTROL_UNORDERED);
    uint64_t forbidden;

    t->info.allowed = allowed;
    t->states[0].early = 1;
    t->seen[WORDS] ^= 1;
    (void)count(t);
    forbidden = t->tally.forbidden;
    close_bench(t);
    return forbidden;
}

static void test_allowed(void)
{
    check(forbidden_where(0) == 2, "an early start and a wrong word are forbidden");
    check(forbidden_where(CASE_ALLOWS_WRONG) == 1, "the word is not where wrong words are allowed");
    check(forbidden_where(CASE_ALLOWS_EARLY) == 1, "nor the start where early starts are");
    check(forbidden_where(CASE_ALLOWS_WRONG | CASE_ALLOWS_EARLY) == 0, "nor either where both are");
}

static void test_forbidden(void)
{
    struct bench *t = open_bench("visibility", CONTROL_NONE);

    t->seen[2 * WORDS + 5] = words_poison(7, WORDS_POISON_DATA, 2 * WORDS + 5);
    (void)count(t);
    check(t->tally.forbidden == 1 && t->tally.outcome[WORD_POISON] == 1 && t->tally.outcome[WORD_FRESH] == 3, "one poisoned word is one forbidden trial");
    check(t->tally.details == 1 && t->tally.detail[0].slot == 2 && t->tally.detail[0].words.first == 5, "told with its slot and word");
    close_bench(t);

    t = open_bench("visibility", CONTROL_NONE);
    cut_short(t);
    t->seen[WORDS] ^= 1;
    late_gate(t);
    (void)count(t);
    check(t->tally.forbidden == 1 && t->tally.exercised == 0,
          "wrong words of a trial that was cut short are forbidden all the same, though it counts as not exercised");
    close_bench(t);

    t = open_bench("start", CONTROL_UNORDERED);
    t->states[0].early = 1;
    t->seen[0] ^= 1;
    (void)count(t);
    check(t->tally.forbidden == 1 && t->tally.early_start == 1, "an early start with wrong words is one forbidden trial, not two");
    close_bench(t);

    t = open_bench("visibility", CONTROL_NONE);
    t->states[0].early = 1;
    (void)count(t);
    check(t->tally.forbidden == 0, "an early start is no matter of visibility");
    close_bench(t);

    t = open_bench("start", CONTROL_UNORDERED);
    t->states[0].early = 1;
    (void)count(t);
    check(t->tally.forbidden == 1 && t->tally.outcome[WORD_FRESH] == 3, "an early start is forbidden although its words are right");
    close_bench(t);

    t = open_bench("visibility", CONTROL_NONE);
    t->info.allowed = CASE_ALLOWS_WRONG;
    t->seen[0] ^= 1;
    (void)count(t);
    check(t->tally.forbidden == 0 && t->tally.outcome[WORD_FRESH] == 3, "what a rule allows is counted and not forbidden");
    close_bench(t);
}

static void test_repeated_and_details(void)
{
    struct bench *t = open_bench("visibility", CONTROL_NONE);
    unsigned batch;

    t->plans[1].key = t->plans[0].key;
    t->buffers.stale_key[3] = t->plans[3].key;
    t->seen[WORDS] ^= 1;
    for (batch = 0; batch < 2 * TALLY_DETAILS; batch++)
        count_batch(t, batch, 0);
    check(t->tally.repeated == 2 * 2 * TALLY_DETAILS, "a key of the neighbour, or of the trial before at the same place, is a repetition");
    check(t->tally.forbidden >= 2 * TALLY_DETAILS && t->tally.details == TALLY_DETAILS, "all are counted, the first ones are told");
    check(t->tally.details == TALLY_DETAILS && t->tally.detail[TALLY_DETAILS - 1].batch == TALLY_DETAILS - 1, "each with its batch");
    close_bench(t);
}

/* ---- schedules and SMs ---- */

static void test_schedules_and_sms(void)
{
    struct bench *t = open_bench("visibility", CONTROL_NONE);
    unsigned i;

    for (i = 0; i < SLOTS * 2 * BLOCKS; i++)
        t->sm[i] = i % (2 * BLOCKS);
    t->sm[0] = TALLY_SMS; /* an SM beyond the bitmap */
    (void)count(t);
    check(t->tally.schedules.count == 1 && t->tally.shapes.count == 1, "four trials of one schedule are one schedule");
    check(t->tally.sm_pairs == 3, "each reader has its writer: three pairs, though one writer of one trial cannot be told");
    close_bench(t);

    t = open_bench("visibility", CONTROL_NONE);
    t->plans[1].hold_ns += 64;
    t->layout.slot[2].shape.threads = 128;
    (void)count(t);
    check(t->tally.schedules.count == 3 && t->tally.shapes.count == 2, "another hold is another schedule, other blocks are another shape");
    close_bench(t);
    check(tally_pairs_possible(132) == 132 * 132 && tally_pairs_possible(TALLY_SMS + 9) == (uint64_t)TALLY_SMS * TALLY_SMS,
          "no more pairs are possible than are counted");
}

/* What the seed chooses of a trial, field by field; the first four are its shape. */
static unsigned *schedule_field(struct bench *t, unsigned field)
{
    struct slot_shape *shape = &t->layout.slot[0].shape;
    struct trial_plan *plan = &t->plans[0];
    unsigned *const fields[] = { &shape->primary_blocks, &shape->dependent_blocks, &shape->threads, &shape->words, &plan->flags, &plan->hold_ns,
                                 &plan->withhold, &plan->repeats, &plan->rotate, (unsigned *)&shape->programmatic_primary, &plan->x_ns,
                                 &plan->broken_wait };
    return field < sizeof(fields) / sizeof(fields[0]) ? fields[field] : NULL;
}

static void test_schedule_fields(void)
{
    struct bench *t;
    unsigned field, same = 0, shapes = 0;

    for (field = 0; field < 12; field++) {
        t = open_bench("visibility", CONTROL_NONE);
        *schedule_field(t, field) += field == 5 ? 32 : field == 3 ? -4u : 1;
        count_batch(t, 0, 0);
        same += t->tally.schedules.count != 2;
        shapes += t->tally.shapes.count != (field < 4 ? 2 : 1);
        close_bench(t);
    }
    check(same == 0, "each thing that the seed chooses makes another schedule");
    check(shapes == 0, "and the first four another shape");
    check(held == 0, "every tally gives its memory back");
}

/* The sets stop counting where memory ends, and lookups in them still end. */
static void test_full_sets(void)
{
    struct bench *t = open_bench("visibility", CONTROL_NONE);
    unsigned i;

    check(malloc_usable_size(t->tally.sm_pair_set) >= TALLY_SMS * TALLY_SMS / 8, "there is a bit for every pair of SMs");
    t->layout.slots = 1;
    no_memory = 1;
    for (i = 0; i < 2100; i++) {
        t->plans[0].withhold = i;
        count_batch(t, 0, 0);
    }
    check(t->tally.schedules.count == 2048, "half of a set is filled, no more");
    no_memory = 0;
    for (i = 0; i < 2100; i++) {
        t->plans[0].withhold = i;
        count_batch(t, 0, 0);
    }
    check(t->tally.schedules.count == 2100 && t->tally.schedules.room > 4200, "with memory it grows, and forgets nothing");
    check((t->tally.schedules.room & (t->tally.schedules.room - 1)) == 0, "to a power of two, so that every place of it can be found");
    close_bench(t);
    no_memory = 1;
    {
        struct tally tally;
        check(!tally_open(&tally), "without memory no tally opens");
    }
    no_memory = 0;
    check(held == 0, "what was held is given back");
}

static void test_hashes(void)
{
    struct bench *t = open_bench("start", CONTROL_UNORDERED);
    struct tally plans, others;
    uint64_t expected;

    if (!tally_open(&plans) || !tally_open(&others))
        exit(1);
    (void)count(t);
    tally_plans(&plans, &t->part, &t->layout, t->plans, t->want);
    check(plans.plan_hash == t->tally.plan_hash && plans.expected_hash == t->tally.expected_hash && plans.plan_hash && plans.expected_hash,
          "planning alone gives the hashes of a run");
    expected = plans.expected_hash;
    tally_plans(&others, &t->part, &t->layout, t->plans, NULL);
    check(others.plan_hash == plans.plan_hash && others.expected_hash == 0, "without scratch nothing is expected");
    t->plans[SLOTS - 1].key++;
    others.plan_hash = others.expected_hash = 0;
    tally_plans(&others, &t->part, &t->layout, t->plans, t->want);
    check(others.plan_hash != plans.plan_hash && others.expected_hash == expected, "a control is planned, and nothing is expected of it");
    t->plans[SLOTS - 2].key++;
    t->layout.slot[0].first_word++;
    others.expected_hash++;
    tally_plans(&plans, &t->part, &t->layout, t->plans, t->want);
    tally_plans(&others, &t->part, &t->layout, t->plans, t->want);
    check(others.plan_hash != plans.plan_hash && others.expected_hash != plans.expected_hash, "what came before is part of a hash");
    tally_close(&plans);
    tally_close(&others);
    close_bench(t);
}

int main(void)
{
    test_visibility();
    test_counts();
    test_progress_and_start();
    test_controls();
    test_forbidden();
    test_allowed();
    test_repeated_and_details();
    test_schedules_and_sms();
    test_schedule_fields();
    test_full_sets();
    test_hashes();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
