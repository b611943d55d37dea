/* order.cu - MEM-06: the order of a stream holds for whatever stands behind a kernel that triggered.
 *
 * pair    rules    what is special
 * copy    MEM-06   a copy of the primary's words stands between the pair; the dependent reads the copy
 * behind  MEM-06   a kernel that triggers, never waits and exits stands between the pair (F11)
 *
 * Controls: `unordered`, the copy in another stream; `attron`, the dependent with the attribute begins inside the hold.
 */
#include "pair.h"
#include "start.h"

KERNEL(order_primary) { held_primary(&args); }
KERNEL(order_dependent) { start_dependent(&args, 0); }

KERNEL(order_middle)
{
    (void)args;
    k_trigger();
}

KERNEL(order_copy_dependent)
{
    args.data = args.input;
    start_dependent(&args, 0);
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

static const struct pair order_pairs[] = {
    PAIR("copy", SHAPE_WORDS, PAIR_COPY, order_primary, order_copy_dependent, queue_copy),
    PAIR_OF_THREE("behind", SHAPE_WORDS, 0, order_primary, order_middle, order_dependent, queue_behind),
};
IMAGE(order, order_pairs)
