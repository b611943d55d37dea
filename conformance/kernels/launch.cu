/* launch.cu - ATTR rules: a kernel that was not allowed to overlap must not begin before its stream's work is complete.
 *
 * pair   rules     what is special
 * plain  ATTR-03   the dependent has no attribute; half of the primaries carry it themselves
 * hint   TRIG-10   as plain; no primary carries the attribute
 * zero   ATTR-05   the dependent carries the attribute with the value 0
 *
 * The primary triggers first thing and holds; the dependent does not wait, and must see every word all the same.
 * Control `attron`: the same launch with the attribute begins inside the hold.
 */
#include "pair.h"
#include "start.h"

KERNEL(launch_primary) { held_primary(&args); }
KERNEL(launch_dependent) { reading_dependent(&args, 0); }

static cudaError_t queue_plain(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, trial->programmatic_primary);
    if (error != cudaSuccess)
        return error;
    return trial->control == CONTROL_ATTRON ? queue_dependent(queue, trial) : queue_dependent_plain(queue, trial);
}

static cudaError_t queue_zero(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, 0);
    if (error != cudaSuccess)
        return error;
    return queue_dependent_raw(queue, trial, trial->control == CONTROL_ATTRON);
}

static const struct pair launch_pairs[] = {
    PAIR("plain", SHAPE_WORDS, PAIR_MIDDLE | PAIR_BESIDE, launch_primary, launch_dependent, queue_plain),
    PAIR("hint", SHAPE_WORDS, PAIR_BESIDE, launch_primary, launch_dependent, queue_plain),
    PAIR("zero", SHAPE_WORDS, PAIR_BESIDE, launch_primary, launch_dependent, queue_zero),
};
IMAGE(launch, launch_pairs)
