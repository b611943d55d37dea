/* chain.cu - three kernels and more in one stream, every one but the first with the attribute: does the last one's wait
 * reach back to the first?
 *
 * pair      rules     what stands between primary and dependent
 * relay     WAIT-13   a kernel that triggers, then waits
 * links     COMP-09   three of them
 * silent    WAIT-08   a kernel that triggers, never waits and exits (AMB-01, F10)
 * mute      WAIT-08   a kernel that neither triggers nor waits
 * partial   WAIT-08   a kernel of four blocks, only the first of which waits
 * leavers   WAIT-08   a kernel of which all warps but the first return at once, without a wait
 * deep      FWD-05    eight silent kernels
 * queued    FWD-05a   nothing; five silent kernels stand before the primary
 *
 * The primary triggers, holds until the dependent at the end of the chain runs, and stores last; in links it holds until one
 * of the kernels after it runs, and long enough for the rest. Mutant `chain`: the dependent does not wait and relies on
 * the waits of the kernels between (B38 to B41).
 */
#include "pair.h"
#include "visibility.h"

KERNEL(chain_primary) { visibility_primary(&args, FORM_PLAIN); }

/* Four links in a row are too many to wait for: the first one's flag and some time have to do. */
KERNEL(chain_patient_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    primary_triggers(&plan);
    if (k_thread() == 0) {
        primary_holds(&args, &plan);
        k_delay(args.state, 4000);
        k_max64(&args.state->primary_store_ns, k_now());
    }
    k_barrier();
    primary_stores(&args, &plan, FORM_PLAIN);
}

KERNEL(chain_dependent) { reading_dependent(&args, WAITS); }

KERNEL(chain_waiting)
{
    (void)args;
    k_trigger();
    k_wait_device();
}

KERNEL(chain_link)
{
    k_trigger();
    dependent_is_alive(&args);
    k_wait_device();
}

KERNEL(chain_silent)
{
    (void)args;
    k_trigger();
}

KERNEL(chain_mute) { (void)args; }

KERNEL(chain_partial)
{
    (void)args;
    k_trigger();
    if (k_block() == 0)
        k_wait_device();
}

KERNEL(chain_leavers)
{
    (void)args;
    if (k_warp() != 0)
        return;
    k_trigger();
    k_wait_device();
}

static cudaError_t queue_chain(const struct queue *queue, const struct trial_launch *trial, unsigned links, unsigned blocks)
{
    cudaError_t error = queue_primary(queue, trial, 0);

    for (; links && error == cudaSuccess; links--)
        error = queue_middle_of(queue, trial, blocks, 1);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

static cudaError_t queue_one(const struct queue *queue, const struct trial_launch *trial) { return queue_chain(queue, trial, 1, 1); }
static cudaError_t queue_wide(const struct queue *queue, const struct trial_launch *trial) { return queue_chain(queue, trial, 1, 4); }
static cudaError_t queue_three(const struct queue *queue, const struct trial_launch *trial) { return queue_chain(queue, trial, 3, 1); }
static cudaError_t queue_deep(const struct queue *queue, const struct trial_launch *trial) { return queue_chain(queue, trial, 8, 1); }

/* The first kernel has no attribute. None of the five waits, so nothing else would order the primary's stores after the kernel that filled the
 * words. More than five would fill the launch queue, and the gate could not open. */
static cudaError_t queue_queued(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < 5 && error == cudaSuccess; i++)
        error = queue_middle_of(queue, trial, 1, i > 0);
    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 1);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

static const struct pair chain_pairs[] = {
    PAIR_OF_THREE("relay", SHAPE_WORDS, PAIR_BESIDE, chain_primary, chain_waiting, chain_dependent, queue_wide),
    PAIR_OF_THREE("links", SHAPE_WORDS, PAIR_BESIDE, chain_patient_primary, chain_link, chain_dependent, queue_three),
    PAIR_OF_THREE("silent", SHAPE_WORDS, PAIR_BESIDE, chain_primary, chain_silent, chain_dependent, queue_one),
    PAIR_OF_THREE("mute", SHAPE_WORDS, PAIR_BESIDE, chain_primary, chain_mute, chain_dependent, queue_one),
    PAIR_OF_THREE("partial", SHAPE_WORDS, PAIR_BESIDE, chain_primary, chain_partial, chain_dependent, queue_wide),
    PAIR_OF_THREE("leavers", SHAPE_WORDS, PAIR_TWO_WARPS | PAIR_BESIDE, chain_primary, chain_leavers, chain_dependent, queue_wide),
    PAIR_OF_THREE("deep", SHAPE_WORDS, 0, chain_primary, chain_silent, chain_dependent, queue_deep),
    PAIR_OF_THREE("queued", SHAPE_WORDS, 0, chain_primary, chain_silent, chain_dependent, queue_queued),
};
IMAGE(chain, chain_pairs)
