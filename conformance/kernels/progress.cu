/* progress.cu - FWD rules: a waiting dependent never keeps its primary from completing.
 *
 * pair            rules    what is special
 * fill            FWD-03   the primary is on every SM; the dependent's waiting blocks fill every slot that is left, several
 *                          times over
 * oversubscribed  FWD-03   the primary has more blocks than the device has slots: a dependent that began too early would
 *                          keep the rest of them out, for good
 *
 * Mutant `nowait`: it dies by its words, and so shows that the waiting blocks were there before the primary had stored.
 */
#include "pair.h"
#include "visibility.h"

KERNEL(progress_fill_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(progress_fill_dependent) { reading_dependent(&args, WAITS); }

static const struct pair progress_pairs[] = {
    PAIR("fill", SHAPE_FILL, PAIR_MIDDLE, progress_fill_primary, progress_fill_dependent, queue_pair),
    PAIR("oversubscribed", SHAPE_OVERFLOW, PAIR_URGENT, progress_fill_primary, progress_fill_dependent, queue_pair),
};
IMAGE(progress, progress_pairs)
