/* batch_test.c - what batches plan, and what makes a trial count: without a device, on buffers filled by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "check.h"
#include "tally.h"
#include "words.h"

static const char *const nobody[] = { NULL };
static struct case_info info = { "TEST-01.pair.widened.captured", "TEST-01", "documented", "visibility", "test", "pair", "widened",
                                 "captured", 0, 1, 0, 0, 90, 12030, { 64, 64, 64, 64 }, nobody, nobody, 0 };
static struct pair pair;
static struct layout layout;
static struct trial_plan first[BATCH_PLANS], second[BATCH_PLANS];

static void open_part(struct part *part, unsigned sms, uint64_t trials)
{
    memset(part, 0, sizeof(*part));
    part->info = &info;
    part->pair = &pair;
    plan_size_fill(&part->size, sms, sms < 16);
    part->source = plan_source_make(7, info.name, "base");
    part->words_capacity = (size_t)PLAN_MAX_SLOTS * part->size.words_max + (size_t)(PLAN_MAX_SLOTS / 16) * part->size.words_big;
    (void)part_divide(part, trials, 1);
}

/* Every batch has keys of its own, or the words of the replay before would pass for this one's. */
static void check_keys(unsigned sms)
{
    struct part part;
    unsigned i, j, same = 0, alike = 0;

    open_part(&part, sms, 100000);
    check(part.replays > 1, "a group of the test is replayed");
    check(part_group(&part, 0) == part_group(&part, 2), "batches 0 and 2 are of one group");
    batch_layout(&layout, &part, part_group(&part, 0));
    batch_plan(first, &part, &layout, 0);
    batch_plan(second, &part, &layout, 2);
    for (i = 0; i < layout.slots; i++) {
        same += first[i].key == second[i].key;
        for (j = 0; j < i; j++)
            alike += first[i].key == first[j].key;
    }
    check(same == 0, "no trial of a batch has the key of the one before it at the same place");
    check(alike == 0, "no two trials of a batch have one key");
    check(first[BATCH_POISON].key != second[BATCH_POISON].key, "each batch has poison of its own");
    check(first[0].batch_key == first[BATCH_POISON].key, "trials know their batch's poison");
}

/* Readers take the words of other blocks, by a shift that changes. */
static void check_rotation(unsigned sms)
{
    struct part part;
    unsigned i, wide = 0, turned = 0, outside = 0;

    open_part(&part, sms, 100000);
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (i = 0; i < layout.slots; i++) {
        unsigned readers = layout.slot[i].shape.dependent_blocks;
        wide += readers > 2;
        turned += readers > 2 && first[i].rotate != 0;
        outside += first[i].rotate >= readers;
    }
    check(wide > layout.slots / 4, "many trials of the test have several readers");
    check(turned * 2 > wide, "most of them rotate");
    check(outside == 0, "none further than there are readers");
}

/* Buffers as a device would leave them on which everything went well: each word fresh, each primary witnessed. */
static void fill(struct buffers *b, const struct part *part, uint64_t batch)
{
    unsigned i;
    uint32_t w;

    batch_layout(&layout, part, part_group(part, batch));
    batch_plan(b->plan_host, part, &layout, batch);
    for (i = 0; i < layout.slots; i++) {
        struct trial_state *state = &b->state_host[i];
        memset(state, 0, sizeof(*state));
        state->alive = 1;
        state->witnessed = layout.slot[i].shape.primary_blocks;
        state->primary_begin_ns = 1000;
        state->dependent_begin_ns = 2000;
        state->primary_store_ns = 3000;
        for (w = 0; w < layout.slot[i].shape.words; w++)
            b->seen_host[layout.slot[i].first_word + w] = words_fresh(b->plan_host[i].key, w);
    }
}

static int open_buffers(struct buffers *b, const struct part *part)
{
    memset(b, 0, sizeof(*b));
    b->plan_host = calloc(BATCH_PLANS, sizeof(*b->plan_host));
    b->state_host = calloc(PLAN_MAX_SLOTS, sizeof(*b->state_host));
    b->seen_host = calloc(part->words_capacity, sizeof(*b->seen_host));
    return b->plan_host && b->state_host && b->seen_host;
}

static struct tally counted;     /* of the last batch */

static void count(const struct part *part, const struct buffers *b, uint64_t batch)
{
    static uint32_t want[65536];

    if (!tally_open(&counted))
        exit(1);
    tally_batch(&counted, part, &layout, b, batch, 0, want);
    tally_close(&counted);
}

static void check_tally(void)
{
    struct part part;
    struct buffers b;
    unsigned i;

    open_part(&part, 4, 256);
    if (!open_buffers(&b, &part))
        exit(1);
    fill(&b, &part, 0);
    count(&part, &b, 0);
    check(counted.run == layout.slots && counted.outcome[WORD_FRESH] == counted.run, "a batch of fresh words is counted fresh");
    check(counted.exercised == counted.run && counted.forbidden == 0, "and every trial exercised");
    check(counted.repeated == 0, "and none repeated");
    check(counted.shapes.count > 1 && counted.shapes.count <= counted.run, "and their shapes counted");

    b.gate_late_now = 1;
    count(&part, &b, 0);
    check(counted.exercised == 0 && counted.cut_short == counted.run, "after a gate that let go by itself nothing is exercised");
    b.gate_late_now = 0;

    for (i = 0; i < layout.slots; i++)
        b.state_host[i].dependent_begin_ns = 3001;
    count(&part, &b, 0);
    check(counted.exercised == 0, "a witness that the clock contradicts is none");

    fill(&b, &part, 0);
    for (i = 0; i < layout.slots; i++)
        b.state_host[i].witnessed = 0;
    count(&part, &b, 0);
    check(counted.exercised < counted.run / 2 && counted.witnessed == 0, "a trial with a planned witness is not exercised without");

    fill(&b, &part, 0);
    for (i = 0; i < layout.slots; i++)
        b.stale_key[i] = b.plan_host[i].key;
    count(&part, &b, 0);
    check(counted.repeated == counted.run, "a plan that repeats the one before it is noticed");
    memset(b.stale_key, 0, sizeof(b.stale_key));

    fill(&b, &part, 0);
    b.seen_host[layout.slot[3].first_word] ^= 1;
    count(&part, &b, 0);
    check(counted.forbidden == 1 && counted.details == 1 && counted.detail[0].slot == 3, "one wrong bit is found, and where");
}

int main(void)
{
    check_keys(4);
    check_keys(132);
    check_rotation(4);
    check_rotation(132);
    check_tally();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
