/* odd.cu - attribute arrays as programs really write them.
 *
 * pair      rules     the dependent's attributes
 * ignored   ATTR-07   ignore, 6 = 1, ignore
 * unread    ATTR-08   none, beside a pointer that must not be looked at
 * on_off    ATTR-09   6 = 1, then 6 = 0
 * off_on    ATTR-09   6 = 0, then 6 = 1
 * two       ATTR-09   6 = 2
 * minus     ATTR-09   6 = -1
 * plain     WAIT-04   none; it waits all the same
 *
 * What no document describes is measured; where a launch is refused, a plain one takes its place and the trial shows no
 * overlap. family `ask` notes the codes.
 */
#include "pair.h"
#include "start.h"

KERNEL(odd_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(odd_held_primary) { held_primary(&args); }
KERNEL(odd_plain_dependent) { reading_dependent(&args, 0); }

KERNEL(odd_dependent) { reading_dependent(&args, WAITS); }

static void fill_attribute(cudaLaunchAttribute *attribute, int value)
{
    attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = value;
}

static cudaError_t queue_ignored(const struct queue *queue, const struct trial_launch *trial)
{
    cudaLaunchAttribute attrs[3] = PDL_ZERO;
    cudaError_t error = queue_primary(queue, trial, 0);

    if (error != cudaSuccess || trial->control == CONTROL_ATTROFF)
        return error == cudaSuccess ? queue_dependent_plain(queue, trial) : error;
    attrs[0].id = attrs[2].id = cudaLaunchAttributeIgnore;
    fill_attribute(&attrs[1], 1);
    return queue_dependent_attrs(queue, trial, attrs, 3);
}

static cudaError_t queue_unread(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, 0);

    if (error != cudaSuccess)
        return error;
    if (trial->control == CONTROL_ATTRON)
        return queue_dependent(queue, trial);
    return queue_dependent_attrs(queue, trial, (cudaLaunchAttribute *)(uintptr_t)16, 0);
}

static cudaError_t queue_plain(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, 0);
    return error == cudaSuccess ? queue_dependent_plain(queue, trial) : error;
}

static cudaError_t queue_values(const struct queue *queue, const struct trial_launch *trial, int first, int second, unsigned count)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaError_t error = queue_primary(queue, trial, 0);

    if (error != cudaSuccess)
        return error;
    fill_attribute(&attrs[0], first);
    fill_attribute(&attrs[1], second);
    error = queue_dependent_attrs(queue, trial, attrs, count);
    if (error == cudaSuccess)
        return error;
    (void)cudaGetLastError();
    return queue_dependent_plain(queue, trial);
}

static cudaError_t queue_on_off(const struct queue *queue, const struct trial_launch *trial) { return queue_values(queue, trial, 1, 0, 2); }
static cudaError_t queue_off_on(const struct queue *queue, const struct trial_launch *trial) { return queue_values(queue, trial, 0, 1, 2); }
static cudaError_t queue_two(const struct queue *queue, const struct trial_launch *trial) { return queue_values(queue, trial, 2, 0, 1); }
static cudaError_t queue_minus(const struct queue *queue, const struct trial_launch *trial) { return queue_values(queue, trial, -1, 0, 1); }

static const struct pair odd_pairs[] = {
    PAIR("ignored", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_ignored),
    PAIR("unread", SHAPE_WORDS, PAIR_BESIDE, odd_held_primary, odd_plain_dependent, queue_unread),
    PAIR("on_off", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_on_off),
    PAIR("off_on", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_off_on),
    PAIR("two", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_two),
    PAIR("minus", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_minus),
    PAIR("plain", SHAPE_WORDS, PAIR_BESIDE, odd_primary, odd_dependent, queue_plain),
};
IMAGE(odd, odd_pairs)
