/* memory.cu - MEM rules: which accesses of the primary a dependent sees after its wait.
 *
 * pair    rules    what is special
 * plain   MEM-01   plain stores, plain loads
 * vector  MEM-01   128-bit stores, 128-bit loads
 * atomic  MEM-01   one atomic addition per word
 * lines   MEM-01   the dependent's lines were read before the wait and stand in its first-level cache
 */
#include "pair.h"
#include "visibility.h"

DEVICE_FN void memory_dependent(const struct kernel_args *args, uint32_t form, uint32_t lines)
{
    struct trial_plan plan = k_plan(args);

    dependent_begins(args);
    if (lines) {
        dependent_reads_lines(args, &plan);
        k_barrier(); /* on an H200, cached loads hang back once another warp of the block waits */
    }
    dependent_is_alive(args);
    dependent_waits(args, &plan);
    dependent_reads(args, &plan, form, 0, plan.words);
    dependent_finishes(args);
}

KERNEL(memory_plain_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(memory_plain_dependent) { memory_dependent(&args, FORM_PLAIN, 0); }
KERNEL(memory_vector_primary) { visibility_primary(&args, FORM_VECTOR); }
KERNEL(memory_vector_dependent) { memory_dependent(&args, FORM_VECTOR, 0); }
KERNEL(memory_atomic_primary) { visibility_primary(&args, FORM_ATOMIC); }
KERNEL(memory_lines_dependent) { memory_dependent(&args, FORM_PLAIN, 1); }

static const struct pair memory_pairs[] = {
    PAIR("plain", SHAPE_WORDS, 0, memory_plain_primary, memory_plain_dependent, queue_pair),
    PAIR("vector", SHAPE_WORDS, 0, memory_vector_primary, memory_vector_dependent, queue_pair),
    PAIR("atomic", SHAPE_WORDS, 0, memory_atomic_primary, memory_plain_dependent, queue_pair),
    PAIR("lines", SHAPE_WORDS, PAIR_LINES, memory_plain_primary, memory_lines_dependent, queue_pair),
};
IMAGE(memory, memory_pairs)
