/* event.cu - EVT rules: a dependent in another stream, behind an event.
 *
 * pair          rules    what is special
 * ordinary      EVT-07   the event is recorded behind the primary; the dependent does not wait
 * programmatic  EVT-01   the event is recorded with the primary's launch; one block withholds its trigger and watches
 * attributed    ATTR-11  as ordinary, and the dependent carries the attribute
 * covered       EVT-11   the event is recorded with the primary's launch; the dependent waits
 * covered_attr  EVT-11   the same, and the dependent carries the attribute (AMB-09)
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

KERNEL(event_covered_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(event_covered_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
#ifndef MUTANT_nowait
    k_wait(&args, &plan);
#endif
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

/* With the attribute, in the side stream behind the primary's event: an ordinary one, or recorded with its launch. */
static cudaError_t queue_with_attribute(const struct queue *queue, const struct trial_launch *trial, int programmatic)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;
    cudaError_t error;

    if (programmatic) {
        primary.overlap = PDL_OVERLAP_REQUIRED;
        primary.event_only = 1;
        primary.event = queue->fork;
    }
    error = queue_primary_with(queue, trial, &primary);
    if (error == cudaSuccess && !programmatic)
        error = cudaEventRecord(queue->fork, queue->stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    dependent.overlap = PDL_OVERLAP_REQUIRED;
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->side, &dependent);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static cudaError_t queue_attributed(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_with_attribute(queue, trial, 0);
}

static cudaError_t queue_covered_attr(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_with_attribute(queue, trial, 1);
}

static const struct pair event_pairs[] = {
    PAIR("ordinary", SHAPE_WORDS, 0, event_ordinary_primary, event_ordinary_dependent, queue_ordinary),
    PAIR("programmatic", SHAPE_WORDS, PAIR_TWO_BLOCKS, event_programmatic_primary, event_programmatic_dependent, queue_programmatic),
    PAIR("attributed", SHAPE_WORDS, 0, event_ordinary_primary, event_ordinary_dependent, queue_attributed),
    PAIR("covered", SHAPE_WORDS, 0, event_covered_primary, event_covered_dependent, queue_programmatic),
    PAIR("covered_attr", SHAPE_WORDS, 0, event_covered_primary, event_covered_dependent, queue_covered_attr),
};
IMAGE(event, event_pairs)
