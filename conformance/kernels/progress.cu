/* progress.cu - FWD rules: a waiting dependent never keeps its primary from completing.
 *
 * pair            rules    what is special
 * fill            FWD-03   the primary is on every SM; the dependent's waiting blocks fill every slot that is left, several
 *                          times over
 * oversubscribed  FWD-03   the primary has more blocks than the device has slots: a dependent that began too early would
 *                          keep the rest of them out, for good
 */
#include "pair.h"
#include "visibility.h"

KERNEL(progress_fill_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(progress_fill_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
    k_wait(&args, &plan);
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

static cudaError_t queue_pair(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, trial->programmatic_primary);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

static const struct pair progress_pairs[] = {
    PAIR("fill", SHAPE_FILL, PAIR_MIDDLE, progress_fill_primary, progress_fill_dependent, queue_pair),
    PAIR("oversubscribed", SHAPE_OVERFLOW, PAIR_URGENT, progress_fill_primary, progress_fill_dependent, queue_pair),
};
IMAGE(progress, progress_pairs)
