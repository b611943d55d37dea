/* tally.c - counts what trials did. */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#define CLOCK_SLACK_TICKS 2u    /* readings on two SMs */
#define SET_ROOM (1u << 22)      /* at most half of it is filled; beyond that the count is a lower bound */

static int set_open(struct hash_set *set)
{
    set->room = 1u << 12;
    set->count = 0;
    set->key = calloc(set->room, sizeof(*set->key));
    return set->key != NULL;
}

int tally_open(struct tally *tally)
{
    memset(tally, 0, sizeof(*tally));
    tally->sm_pair_set = calloc(TALLY_SMS * TALLY_SMS / 8, 1);
    return set_open(&tally->schedules) && set_open(&tally->shapes) && tally->sm_pair_set;
}

void tally_close(struct tally *tally)
{
    free(tally->schedules.key);
    free(tally->shapes.key);
    free(tally->sm_pair_set);
}

/* There is a free place: the set is never more than half full. */
static int set_put(uint64_t *keys, size_t room, uint64_t key)
{
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15ull >> 20) & (room - 1);
    while (keys[i]) {
        if (keys[i] == key)
            return 0;
        i = (i + 1) & (room - 1);
    }
    keys[i] = key;
    return 1;
}

static void set_grow(struct hash_set *set)
{
    size_t room = set->room * 4, i;
    uint64_t *keys = room > SET_ROOM ? NULL : calloc(room, sizeof(*keys));
    if (!keys)
        return;
    for (i = 0; i < set->room; i++)
        if (set->key[i])
            set_put(keys, room, set->key[i]);
    free(set->key);
    set->key = keys;
    set->room = room;
}

/* key: not 0. */
static void set_add(struct hash_set *set, uint64_t key)
{
    if (set->count * 2 >= set->room)
        set_grow(set);
    if (set->count * 2 < set->room)
        set->count += (uint64_t)set_put(set->key, set->room, key);
}

/* A schedule is what the seed chose of a trial's order: shape, place and kind of triggers, holds, repeats. Not its data. */
static void add_schedule(struct tally *tally, const struct slot_shape *shape, const struct trial_plan *plan)
{
    uint32_t key[12];
    key[0] = shape->primary_blocks;
    key[1] = shape->dependent_blocks;
    key[2] = shape->threads;
    key[3] = shape->words;
    key[4] = plan->flags;
    key[5] = plan->hold_ns / 32;
    key[6] = plan->withhold;
    key[7] = plan->repeats;
    key[8] = plan->rotate;
    key[9] = (uint32_t)shape->programmatic_primary;
    key[10] = plan->x_ns;
    key[11] = plan->broken_wait;
    set_add(&tally->shapes, oracle_hash(key, 4 * sizeof(key[0])) | 1); /* the first four are the launch */
    set_add(&tally->schedules, oracle_hash(key, sizeof(key)) | 1);
}

uint64_t tally_pairs_possible(unsigned sms)
{
    uint64_t counted = sms < TALLY_SMS ? sms : TALLY_SMS;
    return counted * counted;
}

static void add_sm_pair(struct tally *tally, unsigned writer, unsigned reader)
{
    unsigned bit = writer * TALLY_SMS + reader;
    if (writer >= TALLY_SMS || reader >= TALLY_SMS || (tally->sm_pair_set[bit / 8] >> bit % 8 & 1))
        return;
    tally->sm_pair_set[bit / 8] |= (unsigned char)(1u << bit % 8);
    tally->sm_pairs++;
}

static unsigned first_word(const struct slot_shape *shape, unsigned block, unsigned blocks)
{
    return shape->words / 4 * block / blocks * 4;
}

/* Which SM wrote what which SM read: both sides take the words in the order of their blocks, and the dependent's order is rotated. */
static void add_sm_pairs(struct tally *tally, const struct slot_shape *shape, const struct trial_plan *plan, const uint32_t *sm)
{
    unsigned writers = shape->primary_blocks, readers = shape->dependent_blocks - plan->skip;
    unsigned first_reader = readers - plan->rotate % readers, reader = 0, writer = 0, begin = 0;
    unsigned written = first_word(shape, 1, writers), read = first_word(shape, 1, readers);

    while (writer < writers && reader < readers) { /* words from `begin` on are of this writer and this reader */
        unsigned end = written < read ? written : read;
        if (end > begin)
            add_sm_pair(tally, sm[writer], sm[writers + (reader + first_reader) % readers + plan->skip]);
        begin = end;
        if (written == end)
            written = first_word(shape, ++writer + 1, writers);
        if (read == end)
            read = first_word(shape, ++reader + 1, readers);
    }
}

static int overlapped(const struct part *part, const struct trial_state *state)
{
    return state->primary_store_ns && state->dependent_begin_ns != UINT64_MAX &&
           state->dependent_begin_ns + CLOCK_SLACK_TICKS * part->size.tick_ns < state->primary_store_ns;
}

/* Did the trial put the rule to the test? (Start rules also need their control: see tally_batch.) */
static int is_exercised(const struct part *part, const struct slot_shape *shape, const struct trial_plan *plan,
                        const struct trial_state *state, int gate_late)
{
    if (state->cut_short || gate_late)
        return 0;
    if (strcmp(part->info->kind, "progress") == 0)
        return state->finished == shape->dependent_blocks;
    if (strcmp(part->info->kind, "start") == 0 && !part->info->proving)
        return 0; /* without a control nothing shows that the dependent had room */
    if (strcmp(part->info->kind, "start") == 0)
        return state->held_ns != UINT64_MAX && state->held_ns >= plan->hold_ns;
    if (plan->flags & PLAN_WITNESS) /* the clock has to bear the witness out */
        return state->witnessed >= shape->primary_blocks && state->dependent_begin_ns <= state->primary_store_ns;
    return overlapped(part, state);
}

static void add_forbidden(struct tally *tally, const struct slot_shape *shape, const struct trial_plan *plan,
                          const struct trial_state *state, const struct oracle_result *words, uint64_t batch, unsigned slot)
{
    struct forbidden *detail;
    tally->forbidden++;
    if (tally->details == TALLY_DETAILS)
        return;
    detail = &tally->detail[tally->details++];
    detail->batch = batch;
    detail->slot = slot;
    detail->shape = *shape;
    detail->plan = *plan;
    detail->state = *state;
    detail->words = *words;
}

static uint64_t fold(uint64_t hash, uint64_t value)
{
    uint64_t pair[2];
    pair[0] = hash;
    pair[1] = value;
    return oracle_hash(pair, sizeof(pair));
}

void tally_plans(struct tally *tally, const struct part *part, const struct layout *layout, const struct trial_plan *plans,
                 uint32_t *want)
{
    unsigned i;

    tally->plan_hash = fold(tally->plan_hash, oracle_hash(plans, layout->slots * sizeof(*plans)));
    tally->plan_hash = fold(tally->plan_hash, oracle_hash(layout->slot, layout->slots * sizeof(struct slot)));
    for (i = 0; want && i < layout->slots; i++) {
        struct oracle_trial trial = slot_trial(layout, plans, i);
        if (!slot_is_control(part, layout, i))
            tally->expected_hash = fold(tally->expected_hash, oracle_expect(&trial, want));
    }
}

static int is_forbidden(const struct part *part, int fresh, const struct trial_state *state)
{
    unsigned allowed = part->info->allowed;
    int early = state->early && strcmp(part->info->kind, "start") == 0; /* no other kind of trial is about it */

    return (!fresh && !(allowed & CASE_ALLOWS_WRONG)) || (early && !(allowed & CASE_ALLOWS_EARLY));
}

/* Returns 1 if the trial counts as exercised, as far as it can say alone. */
static int tally_trial(struct tally *tally, const struct part *part, const struct layout *layout, const struct buffers *b,
                       uint64_t batch, unsigned i, const struct checked *checked)
{
    const struct slot_shape *shape = &layout->slot[i].shape;
    const struct trial_plan *plan = &b->plan_host[i];
    const struct trial_state *state = &b->state_host[i];

    tally->expected_hash = fold(tally->expected_hash, checked->words.want_hash);
    tally->run++;
    tally->repeated += b->stale_key[i] == plan->key || (i && b->plan_host[i - 1].key == plan->key);
    tally->overlap += (uint64_t)overlapped(part, state);
    tally->witnessed += (plan->flags & PLAN_WITNESS) && state->witnessed >= shape->primary_blocks;
    tally->cut_short += state->cut_short != 0 || b->gate_late_now;
    tally->outcome[checked->fresh ? WORD_FRESH : checked->words.first_class]++;
    tally->early_start += state->early != 0;
    add_schedule(tally, shape, plan);
    if (is_forbidden(part, checked->fresh, state))
        add_forbidden(tally, shape, plan, state, &checked->words, batch, i);
    return is_exercised(part, shape, plan, state, b->gate_late_now);
}

/* A copy sets no flag: that it began early shows in what it copied. */
static int control_started(const struct part *part, const struct trial_state *state, const struct checked *checked)
{
    return part->pair->flags & PAIR_COPY ? !checked->fresh : state->early != 0;
}

/* A control that began early shows room for its own shape, not for that of a neighbour. */
static uint64_t credited(const struct layout *layout, unsigned control, const unsigned *waiting, unsigned count)
{
    const struct slot_shape *shape = &layout->slot[control].shape;
    uint64_t credit = 0;

    while (count--) {
        const struct slot_shape *held = &layout->slot[waiting[count]].shape;
        credit += held->primary_blocks == shape->primary_blocks && held->dependent_blocks == shape->dependent_blocks &&
                  held->threads == shape->threads && held->words == shape->words &&
                  held->primary_shared_bytes == shape->primary_shared_bytes;
    }
    return credit;
}

void tally_batch(struct tally *tally, const struct part *part, const struct layout *layout, const struct buffers *b,
                 uint64_t batch, int sm_pairs, const struct checked *checked)
{
    unsigned waiting[PLAN_MAX_SLOTS], held = 0, i; /* held trials whose control is still to come */

    tally_plans(tally, part, layout, b->plan_host, NULL);
    for (i = 0; i < layout->slots; i++) {
        if (slot_is_control(part, layout, i)) {
            int started = control_started(part, &b->state_host[i], &checked[i]);
            tally->controls++;
            tally->controls_started += (uint64_t)started;
            tally->exercised += started ? credited(layout, i, waiting, held) : 0;
            held = 0;
            continue;
        }
        if (tally_trial(tally, part, layout, b, batch, i, &checked[i])) {
            if (part->interleave != CONTROL_NONE)
                waiting[held++] = i;
            else
                tally->exercised++;
        }
        if (sm_pairs)
            add_sm_pairs(tally, &layout->slot[i].shape, &b->plan_host[i], b->sm_host + layout->slot[i].first_block);
    }
}
