/* publish.cu - what a dependent may see without a wait. Measured only: nothing here is promised before PTX ISA 9.2.
 *
 * pair         rules    what the primary does; the dependent never waits unless said so
 * fence_each   MEM-03   stores, fences in every thread, barrier, triggers, then stays until the dependent runs
 * fence_one    MEM-03   stores, barrier, fences in one thread, triggers, then stays (AMB-06)
 * fence_system MEM-03   as fence_each, with a fence of scope system
 * fence_domain MEM-03a  as fence_each, in the remote memory-sync domain: a fence of scope gpu does not reach the reader's
 * unfenced     TRIG-08  stores, barrier, triggers, then stays (AMB-05, F4)
 * implicit     TRIG-04  never triggers: stores and ends (AMB-04)
 * early_store  MEM-05   reads its input late; the dependent overwrites it before it waits (AMB-22)
 */
#include "pair.h"
#include "visibility.h"

enum publishing { PUBLISH_UNFENCED, PUBLISH_FENCE_EACH, PUBLISH_FENCE_ONE, PUBLISH_FENCE_SYSTEM };

DEVICE_FN void publishing_primary(const struct kernel_args *args, uint32_t form)
{
    struct trial_plan plan = k_plan(args);

    primary_begins(args);
    primary_stores(args, &plan, FORM_PLAIN);
    if (form == PUBLISH_FENCE_EACH)
        k_fence();
    if (form == PUBLISH_FENCE_SYSTEM)
        k_fence_system();
    k_barrier(); /* any thread triggers for its block: none may before all have stored */
    if (k_thread() == 0) {
        if (form == PUBLISH_FENCE_ONE)
            k_fence();
        k_trigger();
        primary_holds(args, &plan);
    }
}

KERNEL(publish_fence_each_primary) { publishing_primary(&args, PUBLISH_FENCE_EACH); }
KERNEL(publish_fence_one_primary) { publishing_primary(&args, PUBLISH_FENCE_ONE); }
KERNEL(publish_fence_system_primary) { publishing_primary(&args, PUBLISH_FENCE_SYSTEM); }
KERNEL(publish_unfenced_primary) { publishing_primary(&args, PUBLISH_UNFENCED); }
KERNEL(publish_implicit_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(publish_early_store_primary) { visibility_primary(&args, FORM_FROM_INPUT); }

KERNEL(publish_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

KERNEL(publish_early_store_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
    dependent_overwrites_input(&args, &plan);
    k_wait(&args, &plan);
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

static const struct pair publish_pairs[] = {
    PAIR("fence_each", SHAPE_WORDS, 0, publish_fence_each_primary, publish_dependent, queue_pair),
    PAIR("fence_one", SHAPE_WORDS, 0, publish_fence_one_primary, publish_dependent, queue_pair),
    PAIR("fence_system", SHAPE_WORDS, 0, publish_fence_system_primary, publish_dependent, queue_pair),
    PAIR("fence_domain", SHAPE_WORDS, PAIR_BESIDE, publish_fence_each_primary, publish_dependent, queue_domain),
    PAIR("unfenced", SHAPE_WORDS, 0, publish_unfenced_primary, publish_dependent, queue_pair),
    PAIR("implicit", SHAPE_WORDS, PAIR_NEVER_TRIGGER, publish_implicit_primary, publish_dependent, queue_pair),
    PAIR("early_store", SHAPE_WORDS, PAIR_OVERWRITE, publish_early_store_primary, publish_early_store_dependent, queue_pair),
};
IMAGE(publish, publish_pairs)
