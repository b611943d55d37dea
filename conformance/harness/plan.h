/* plan.h - everything that is chosen before a trial runs: a function of (seed, case, part, trial), nothing else.
 *
 * Shapes (grid sizes, words) belong to a slot of a batch, because a captured graph fixes them; what the plan struct holds
 * is drawn anew for every replay. All draws go through plan_draw(): a counter-based generator, no state.
 */
#ifndef PLAN_H_INCLUDED
#define PLAN_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "case.h"
#include "kernel_args.h"
#include "pair.h"

#define PLAN_MAX_SLOTS 256u      /* trials per batch */
#define PLAN_CONTROL_EVERY 4u    /* start rules: every fourth trial of a batch is a control */

struct device_size {             /* what shapes depend on */
    unsigned sms, warp, max_threads, slots_per_sm, threads_per_sm;
    size_t shared_per_sm, shared_per_block; /* bytes */
    unsigned words_min, words_max, words_big;  /* words_big: one trial in a hundred */
    unsigned hold_start_ns;      /* D of the start rules */
    unsigned hold_max_ns;        /* visibility: longest hold after the witness */
    unsigned bound_ns;           /* longest wait for a witness */
    unsigned tick_ns;            /* of the device's clock, as device.c measured it */
};

struct plan_source {             /* where draws come from */
    uint64_t seed;
    uint64_t stream;             /* hash of case name and part (base, tag, triage) */
};

struct slot_shape {
    unsigned words, primary_blocks, dependent_blocks, threads, residents;
    unsigned fit;                /* SHAPE_RESOURCE: primary blocks per SM */
    size_t primary_shared_bytes;
    enum control control;
    int programmatic_primary;
};

/* 64 bits for (source, index, purpose). */
uint64_t plan_draw(struct plan_source source, uint64_t index, uint32_t purpose);
struct plan_source plan_source_make(uint64_t seed, const char *case_name, const char *part);

/* The size of a GPU's or the model's shapes. toy: the model's; a plan without a device for 16 SMs or more is a GPU's. */
void plan_size_fill(struct device_size *size, unsigned sms, int toy);

/* Shape of slot `slot` of group `group`. control: what every PLAN_CONTROL_EVERY-th slot becomes, or CONTROL_NONE. */
void plan_shape(struct slot_shape *shape, const struct case_info *info, const struct pair *pair, const struct device_size *size,
                struct plan_source source, uint64_t group, unsigned slot, enum control control);

/* Plan of trial number `trial` (counted over the case) in that shape. */
void plan_trial(struct trial_plan *plan, const struct case_info *info, const struct pair *pair, const struct device_size *size,
                struct plan_source source, uint64_t trial, const struct slot_shape *shape);

/* Key of the poison of batch number `batch`. */
uint64_t plan_batch_key(struct plan_source source, uint64_t batch);

#endif
