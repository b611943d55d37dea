/* trigger.cu - TRIG rules: a dependent begins only when every block of its primary has triggered or exited.
 *
 * pair      rules     what is special
 * withhold  TRIG-01   one block withholds its trigger and watches; the others trigger, then stay or leave
 * thinned   TRIG-01   the same, and all threads of the withholding block but one store and leave at once; every second one of
 *                     the others never triggers
 * repeat    TRIG-05   the same, and the others trigger many times
 * resident  TRIG-02   every block triggers first thing, but some have not begun: shared memory limits the primary. The
 *                     dependent has a higher priority, else the blocks before it in the queue alone would hold it back
 *
 * Control `unordered`: the same pair without any dependency begins inside the hold. Mutant `eager`: the withholding
 * block triggers before its work (B42).
 */
#include "pair.h"
#include "start.h"

KERNEL(trigger_withhold_primary) { withholding_primary(&args, EAGER); }

/* A thread that ends speaks for itself alone, not for its block (B26, B27). */
KERNEL(trigger_thinned_primary)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t withholds = k_block() == plan.withhold;

    primary_begins(&args);
    if (EAGER || (!withholds && k_block() % 2))
        primary_triggers(&plan);
    if (k_thread() == 0) {
        if (withholds)
            watches(&args, &plan, NEVER);
        else if (!(plan.flags & PLAN_OTHERS_LEAVE))
            k_delay(args.state, plan.hold_ns);
    }
    primary_stores(&args, &plan, FORM_PLAIN);
}

/* The blocks that begin once others made room must not find the dependent running. */
KERNEL(trigger_resident_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    if (k_thread() == 0 && k_block() >= plan.residents && k_load_relaxed(&args.state->alive))
        k_add(&args.state->early, 1);
    k_barrier(); /* any thread triggers for its block: none may before that look */
    primary_triggers(&plan);
    residents_watch(&args, &plan);
}

KERNEL(trigger_dependent) { reading_dependent(&args, 1); }

static const struct pair trigger_pairs[] = {
    PAIR("withhold", SHAPE_WORDS, PAIR_TWO_BLOCKS, trigger_withhold_primary, trigger_dependent, queue_pair),
    PAIR("thinned", SHAPE_WORDS, PAIR_TWO_BLOCKS, trigger_thinned_primary, trigger_dependent, queue_pair),
    PAIR("repeat", SHAPE_WORDS, PAIR_TWO_BLOCKS | PAIR_REPEATS, trigger_withhold_primary, trigger_dependent, queue_pair),
    PAIR("resident", SHAPE_RESOURCE, PAIR_URGENT, trigger_resident_primary, trigger_dependent, queue_pair),
};
IMAGE(trigger, trigger_pairs)
