/* event.cu - EVT rules: a dependent in another stream, behind an event.
 *
 * pair          rules    what is special
 * ordinary      EVT-07   the event is recorded behind the primary; the dependent does not wait
 * programmatic  EVT-01   the event is recorded with the primary's launch; one block withholds its trigger and watches
 *
 * Control `unordered`: the same pair without the event begins inside the hold. Mutant `eager`: see trigger.cu.
 */
#include "pair.h"
#include "start.h"

#ifdef MUTANT_eager
#define EAGER 1
#else
#define EAGER 0
#endif

KERNEL(event_ordinary_primary) { held_primary(&args); }
KERNEL(event_ordinary_dependent) { start_dependent(&args, 0); }
KERNEL(event_programmatic_primary) { withholding_primary(&args, EAGER); }
KERNEL(event_programmatic_dependent) { start_dependent(&args, 1); }

static cudaError_t queue_ordinary(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? queue_unordered(queue, trial) : queue_behind_event(queue, trial, 0);
}

static cudaError_t queue_programmatic(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? queue_unordered(queue, trial) : queue_behind_event(queue, trial, 1);
}

static const struct pair event_pairs[] = {
    PAIR("ordinary", SHAPE_WORDS, 0, event_ordinary_primary, event_ordinary_dependent, queue_ordinary),
    PAIR("programmatic", SHAPE_WORDS, PAIR_TWO_BLOCKS, event_programmatic_primary, event_programmatic_dependent, queue_programmatic),
};
IMAGE(event, event_pairs)
