/* The one kernel of all litmus programs: each block's thread 0 walks its steps. Written against kernel.h's operations, so
 * that a GPU can run the same programs. Includer: provide k_block, k_thread, k_load, k_store, k_load_relaxed, k_store_relaxed,
 * k_fence, k_trigger, k_wait_device and DEVICE_FN, and LITMUS_AT (a no-op, or a delay before each step on hardware). */
#ifndef PDL_LITMUS_KERNEL_H
#define PDL_LITMUS_KERNEL_H

#include "litmus_programs.h"
#include <stdint.h>

struct litmus_args {
    uint32_t *variable; /* LITMUS_LINE_WORDS words each */
    uint32_t *seen;     /* one per register */
    uint32_t grid, program;
    struct litmus_step step[LITMUS_BLOCKS][LITMUS_STEPS];
};

DEVICE_FN void litmus_do(const struct litmus_args *args, struct litmus_step step)
{
    uint32_t *p = args->variable + step.variable * LITMUS_LINE_WORDS;

    if (step.what == LIT_STORE)
        k_store(p, step.value);
    else if (step.what == LIT_STORE_RELAXED)
        k_store_relaxed(p, step.value);
    else if (step.what == LIT_LOAD)
        LITMUS_SEES(args, step.value, k_load(p));
    else if (step.what == LIT_LOAD_RELAXED)
        LITMUS_SEES(args, step.value, k_load_relaxed(p));
    else if (step.what == LIT_FENCE)
        k_fence();
    else if (step.what == LIT_TRIGGER)
        k_trigger();
    else if (step.what == LIT_WAIT)
        k_wait_device();
}

DEVICE_FN void litmus_walk(const struct litmus_args *args)
{
    uint32_t i;

    if (k_thread() != 0)
        return;
    for (i = 0; i < LITMUS_STEPS && args->step[k_block()][i].what != LIT_END; i++) {
        LITMUS_AT(args, k_block(), i);
        litmus_do(args, args->step[k_block()][i]);
    }
    LITMUS_AT(args, k_block(), LITMUS_STEPS);
}

#endif
