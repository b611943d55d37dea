/* event.cu - EVT rules: a dependent in another stream, after an event.
 *
 * pair          rules    what is special
 * ordinary      EVT-07   the event is recorded after the primary; the dependent does not wait
 * recorder      ATTR-03  one stream; the dependent's launch records a programmatic event and has no other attribute
 * completer     ATTR-03  the same with a launch-completion event
 * programmatic  EVT-01   the event is recorded with the primary's launch; one block withholds its trigger and watches
 * rerecorded    EVT-07   the same event was recorded before, with the primary's launch: the waiter follows the later record
 * relayed       EVT-07   the event has two waiters, and the other stream records an event of its own between its wait and the dependent
 * recorded_late EVT-07a  the other way round: it is recorded again, after the primary, once the waiter comes after it
 * attributed    ATTR-11  as ordinary, and the dependent carries the attribute
 * covered       EVT-11   the event is recorded with the primary's launch; the dependent waits
 * covered_attr  EVT-11   the same, and the dependent carries the attribute (AMB-09); its stream waits for an older event, too
 * covered_start EVT-11   as covered, the event is released at block starts; the primary never triggers
 * resident      EVT-02   the event is released at block starts, but some blocks have not begun: shared memory limits the primary
 * fan_in        COMP-04  two programmatic events, of kernels in two more streams, each of which stores half of the words
 * completion    EVT-09   a launch-completion event instead; the dependent waits (F18)
 *
 * Controls: `unordered`, the same pair without the event begins inside the hold; `attron`, the same launch with the attribute does. Mutants
 * `eager`: see trigger.cu; `lce`: a launch-completion event instead of the programmatic one.
 */
#include "pair.h"
#include "start.h"


KERNEL(event_ordinary_primary) { held_primary(&args); }
KERNEL(event_ordinary_dependent) { reading_dependent(&args, 0); }
KERNEL(event_programmatic_primary) { withholding_primary(&args, EAGER); }
KERNEL(event_first_of_two) { first_of_two(&args); }
KERNEL(event_second_of_two) { second_of_two(&args); }
KERNEL(event_programmatic_dependent) { reading_dependent(&args, 1); }

static cudaError_t queue_ordinary(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? queue_unordered(queue, trial) : queue_behind_event(queue, trial, 0);
}

static cudaError_t queue_programmatic(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? queue_unordered(queue, trial) : queue_behind_event(queue, trial, 1);
}

KERNEL(event_covered_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(event_covered_dependent) { reading_dependent(&args, WAITS); }

static int is_captured(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

/* With the attribute, in the side stream after the primary's event: an ordinary one, or recorded with its launch. Where it is launched, primaries
 * of an odd number of blocks have a second event before them, which the side stream waits for last: it takes nothing away from the first. In a
 * graph it would be a full edge, beside which the two hardly overlap. */
static cudaError_t queue_with_attribute(const struct queue *queue, const struct trial_launch *trial, int programmatic)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;
    int second = programmatic && trial->primary_blocks % 2 && !is_captured(queue->stream);
    cudaError_t error = second ? cudaEventRecord(queue->join, queue->stream) : cudaSuccess;

    if (programmatic)
        primary.event = queue->fork;
    if (error == cudaSuccess)
        error = queue_primary_with(queue, trial, &primary);
    if (error == cudaSuccess && !programmatic)
        error = cudaEventRecord(queue->fork, queue->stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    if (error == cudaSuccess && second)
        error = cudaStreamWaitEvent(queue->side, queue->join, 0);
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

/* ---- at block starts, and at the completion of the launch ---- */

KERNEL(event_mute_primary) { mute_primary(&args); }

/* As trigger.cu's resident pair, without a trigger: blocks that begin later cannot say whether the dependent began before the
 * last of them. */
KERNEL(event_resident_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    residents_watch(&args, &plan);
}

/* The dependent in the side stream after an event of the primary's launch. */
static cudaError_t queue_behind_options(const struct queue *queue, const struct trial_launch *trial, pdl_options *primary)
{
    pdl_options dependent = PDL_ZERO;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = queue_primary_with(queue, trial, primary);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    dependent.has_priority = (unsigned)trial->urgent_dependent;
    dependent.priority = trial->urgent_dependent ? queue->high_priority : 0;
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->side, &dependent);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

/* Behind a primary of an odd number of blocks, by the launch of a kernel of one block; else by a call. */
static cudaError_t record_again(const struct queue *queue, const struct trial_launch *trial)
{
    struct queue again = *queue;
    struct trial_launch one = *trial;
    pdl_options options = PDL_ZERO;

    if (trial->primary_blocks % 2 == 0)
        return cudaEventRecord(queue->fork, queue->stream);
    again.primary = queue->spacer; /* has nothing to wait for there */
    one.primary_blocks = one.threads = 1;
    one.primary_shared_bytes = 0;
    options.event = queue->fork;
    return queue_primary_with(&again, &one, &options);
}

/* The event is recorded with the primary's launch, and again after it: before the other stream waits for it, or after. */
static cudaError_t queue_twice(const struct queue *queue, const struct trial_launch *trial, int again_first)
{
    pdl_options primary = PDL_ZERO, dependent = PDL_ZERO;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    primary.event = queue->fork;
    error = queue_primary_with(queue, trial, &primary);
    if (error == cudaSuccess && again_first)
        error = cudaEventRecord(queue->fork, queue->stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    if (error == cudaSuccess && !again_first)
        error = record_again(queue, trial);
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->side, &dependent);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static cudaError_t queue_rerecorded(const struct queue *queue, const struct trial_launch *trial) { return queue_twice(queue, trial, 1); }
static cudaError_t queue_recorded_late(const struct queue *queue, const struct trial_launch *trial) { return queue_twice(queue, trial, 0); }

/* Neither another waiter of the event nor a record in the waiting stream takes anything away from what comes later. */
static cudaError_t queue_relayed(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = record_and_await(queue->fork, queue->stream, queue->stream); /* its own: nothing to wait for */
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(queue->join, queue->side);
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->side, &options);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

/* What the dependent's launch records says nothing about what stands before it. */
static cudaError_t queue_recording(const struct queue *queue, const struct trial_launch *trial, pdl_options *dependent)
{
    cudaError_t error = queue_primary(queue, trial, 0);

    if (error != cudaSuccess)
        return error;
    if (trial->control == CONTROL_ATTRON)
        return queue_dependent(queue, trial);
    return queue_dependent_with(queue, trial, queue->stream, dependent);
}

static cudaError_t queue_recorder(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options dependent = PDL_ZERO;

    dependent.event = queue->join;
    return queue_recording(queue, trial, &dependent);
}

static cudaError_t queue_completer(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options dependent = PDL_ZERO;

    dependent.launch_completion_event = queue->join;
    return queue_recording(queue, trial, &dependent);
}

static cudaError_t queue_at_start(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options primary = PDL_ZERO;

#ifdef MUTANT_lce
    primary.launch_completion_event = queue->fork;
#else
    primary.event = queue->fork;
    primary.event_trigger = PDL_EVENT_AT_BLOCK_START;
#endif
    return queue_behind_options(queue, trial, &primary);
}

/* The stream waits for all that `other` did. */
static cudaError_t bring_back(const struct queue *queue, cudaStream_t other)
{
    return record_and_await(queue->fork, other, queue->stream);
}

/* Launches `kernel`, with the event, in a stream that begins after the queue's. */
static cudaError_t launch_aside(const struct queue *queue, const struct trial_launch *trial, const pdl_kernel *kernel, cudaStream_t stream,
                                cudaEvent_t event)
{
    struct queue there = *queue;
    pdl_options options = PDL_ZERO;
    cudaError_t error = cudaEventRecord(queue->fork, queue->stream);

    there.stream = stream;
    there.primary = *kernel;
    options.event = event;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, queue->fork, 0);
    return error == cudaSuccess ? queue_primary_with(&there, trial, &options) : error;
}

/* The dependent stands in the queue's own stream, after both events; the full way back comes after it. */
static cudaError_t queue_fan_in(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = launch_aside(queue, trial, &queue->middle, queue->side, queue->join);
    if (error == cudaSuccess)
        error = launch_aside(queue, trial, &queue->primary, cudaStreamPerThread, queue->old);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->stream, queue->old, 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->stream, queue->join, 0);
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->stream, &options);
    if (error == cudaSuccess)
        error = bring_back(queue, queue->side);
    return error == cudaSuccess ? bring_back(queue, cudaStreamPerThread) : error;
}

static cudaError_t queue_completion(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options primary = PDL_ZERO;

    primary.launch_completion_event = queue->fork;
    return queue_behind_options(queue, trial, &primary);
}

static const struct pair event_pairs[] = {
    PAIR("ordinary", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_ordinary_primary, event_ordinary_dependent, queue_ordinary),
    PAIR("rerecorded", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_ordinary_primary, event_ordinary_dependent, queue_rerecorded),
    PAIR("recorder", SHAPE_WORDS, PAIR_BESIDE, event_ordinary_primary, event_ordinary_dependent, queue_recorder),
    PAIR("completer", SHAPE_WORDS, PAIR_BESIDE, event_ordinary_primary, event_ordinary_dependent, queue_completer),
    PAIR("relayed", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_ordinary_primary, event_ordinary_dependent, queue_relayed),
    PAIR("recorded_late", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_covered_primary, event_covered_dependent, queue_recorded_late),
    PAIR("programmatic", SHAPE_WORDS, PAIR_TWO_BLOCKS | PAIR_BESIDE | PAIR_SIDE, event_programmatic_primary, event_programmatic_dependent,
         queue_programmatic),
    PAIR("attributed", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_ordinary_primary, event_ordinary_dependent, queue_attributed),
    PAIR("covered", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_covered_primary, event_covered_dependent, queue_programmatic),
    PAIR("covered_attr", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_covered_primary, event_covered_dependent, queue_covered_attr),
    PAIR("covered_start", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_mute_primary, event_covered_dependent, queue_at_start),
    PAIR("resident", SHAPE_RESOURCE, PAIR_URGENT, event_resident_primary, event_programmatic_dependent, queue_at_start),
    PAIR_OF_THREE("fan_in", SHAPE_WORDS, PAIR_TWO_BLOCKS, event_first_of_two, event_second_of_two, event_programmatic_dependent, queue_fan_in),
    PAIR("completion", SHAPE_WORDS, PAIR_BESIDE | PAIR_SIDE, event_covered_primary, event_covered_dependent, queue_completion),
};
IMAGE(event, event_pairs)
