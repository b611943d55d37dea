/* order.cu - MEM-06: the order of a stream holds for whatever comes after a kernel that triggered.
 *
 * pair    rules    what is special
 * copy    MEM-06   a copy of the primary's words stands between the pair; the dependent reads the copy
 * behind  MEM-06   a kernel that triggers, never waits and exits stands between the pair (F11)
 *
 * After such a kernel, instead of a plain kernel (AMB-02):
 * behind_copy    WAIT-11  a copy of the primary's words
 * behind_memset  WAIT-11  a memset of the input that the primary reads last
 * behind_event   WAIT-11  an event, on which the dependent in another stream waits
 *
 * Controls: `unordered`, the copy, memset or dependent in another stream; `attron`, the dependent with the attribute begins
 * inside the hold.
 */
#include "pair.h"
#include "start.h"

KERNEL(order_primary) { held_primary(&args); }
KERNEL(order_dependent) { reading_dependent(&args, 0); }

/* Tells that it ran: a trial in which it did not, while the primary was held, says nothing of what comes after both. */
KERNEL(order_middle)
{
    k_trigger();
    k_store_relaxed(&args.state->left, 1);
}

DEVICE_FN void middle_ran(const struct kernel_args *args)
{
    if (k_thread() == 0 && k_load_relaxed(&args->state->left) == 0)
        k_add(&args->state->cut_short, 1);
}

KERNEL(order_behind_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    primary_triggers(&plan);
    if (k_thread() == 0)
        watches(&args, &plan, NEVER);
    middle_ran(&args);
    k_barrier();
    primary_stores(&args, &plan, FORM_PLAIN);
}

KERNEL(order_copy_dependent)
{
    args.data = args.input;
    reading_dependent(&args, 0);
}

static cudaError_t queue_behind(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = queue_middle(queue, trial);
    if (error != cudaSuccess)
        return error;
    return trial->control == CONTROL_ATTRON ? queue_dependent(queue, trial) : queue_dependent_plain(queue, trial);
}

/* Fresh if, and only if, the input still is what it was once the hold is over. */
KERNEL(order_input_primary)
{
    struct trial_plan plan = k_plan(&args);

    primary_begins(&args);
    primary_triggers(&plan);
    if (k_thread() == 0)
        watches(&args, &plan, NEVER);
    middle_ran(&args);
    k_barrier();
    primary_stores(&args, &plan, FORM_FROM_INPUT);
}

static cudaError_t queue_behind_copy(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_copy(queue, trial);
    error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = queue_middle(queue, trial);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(trial->args.input, trial->args.data, trial->words * 4, cudaMemcpyDeviceToDevice, queue->stream);
    return error == cudaSuccess ? queue_dependent_plain(queue, trial) : error;
}

static cudaError_t queue_behind_memset(const struct queue *queue, const struct trial_launch *trial)
{
    int unordered = trial->control == CONTROL_UNORDERED;
    cudaError_t error = unordered ? queue_enter_side(queue) : cudaSuccess;

    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = unordered ? queue_spacer(queue, trial) : queue_middle(queue, trial);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(trial->args.input, 0, trial->words * 4, unordered ? queue->side : queue->stream);
    if (error == cudaSuccess && unordered)
        error = queue_leave_side(queue);
    return error == cudaSuccess ? queue_dependent_plain(queue, trial) : error;
}

static cudaError_t queue_behind_event_of_middle(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = queue_middle(queue, trial);
    if (error == cudaSuccess)
        error = queue_enter_side(queue);
    if (error == cudaSuccess)
        error = queue_dependent_with(queue, trial, queue->side, &options);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static const struct pair order_pairs[] = {
    PAIR("copy", SHAPE_WORDS, PAIR_COPY | PAIR_BESIDE, order_primary, order_copy_dependent, queue_copy),
    PAIR_OF_THREE("behind", SHAPE_WORDS, PAIR_BESIDE, order_behind_primary, order_middle, order_dependent, queue_behind),
    PAIR_OF_THREE("behind_copy", SHAPE_WORDS, PAIR_COPY | PAIR_BESIDE, order_behind_primary, order_middle, order_copy_dependent, queue_behind_copy),
    PAIR_OF_THREE("behind_memset", SHAPE_WORDS, PAIR_COPY, order_input_primary, order_middle, order_dependent, queue_behind_memset),
    PAIR_OF_THREE("behind_event", SHAPE_WORDS, 0, order_behind_primary, order_middle, order_dependent, queue_behind_event_of_middle),
};
IMAGE(order, order_pairs)
