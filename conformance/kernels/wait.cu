/* wait.cu - WAIT rules: what a dependent may rely on once its wait has returned.
 *
 * pair       rules     what is special
 * store      WAIT-01   the primary stores after its trigger, the dependent reads after its wait
 * overwrite  WAIT-01   the primary also reads `input` late, and the dependent overwrites it after its wait
 * rewait     WAIT-05   every thread waits `repeats` times
 * notrigger  WAIT-10   the primary never triggers
 */
#include "pair.h"
#include "visibility.h"

KERNEL(wait_store_primary)
{
#ifdef MUTANT_flag
    /* B42: one warp stores, fences and triggers for the block while its sibling warps still have to store. */
    struct trial_plan plan = k_plan(&args);
    primary_begins(&args);
    if (k_warp() == 0) {
        primary_stores(&args, &plan, FORM_PLAIN);
        k_fence();
        k_trigger();
    } else {
        primary_holds(&args, &plan);
        primary_stores(&args, &plan, FORM_PLAIN);
    }
#else
    visibility_primary(&args, FORM_PLAIN);
#endif
}

#if defined(MUTANT_slot) || defined(MUTANT_scalar)
/* What a word of the primary's, read before the wait, stands for: 0 if it already was fresh. Bounded by the trial. */
DEVICE_FN uint32_t read_before_the_wait(const struct kernel_args *args, const struct trial_plan *plan)
{
    uint32_t first, last, word;

    dependent_range(plan, &first, &last);
    if (first == last)
        return 0;
    word = k_load(args->data + first);
    return words_index(plan->key, word) == first ? 0 : word | 1;
}

/* The words are read after the wait, but where they go (`slot`), or what goes into each (`scalar`), was read before it. */
DEVICE_FN void waits_too_late_for_one_word(const struct kernel_args *args, const struct trial_plan *plan)
{
    uint32_t word = read_before_the_wait(args, plan), slot = 0, scalar = 0, first, last, i, j;

#ifdef MUTANT_slot
    slot = word;
#else
    scalar = word;
#endif
    k_wait(args, plan);
    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        for (j = 0; j < 4; j++)
            k_store(args->seen + (i + j + slot) % plan->words, k_load(args->data + i + j) ^ scalar);
}
#endif

KERNEL(wait_store_dependent)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t early = 0;

    dependent_begins(&args);
    dependent_is_alive(&args);
#if defined(MUTANT_nowait) || defined(MUTANT_flag) || defined(MUTANT_notrig_nowait)
    /* never waits */
#elif defined(MUTANT_warpwait)
    if (k_warp() == 0)
        k_wait(&args, &plan);
#elif defined(MUTANT_otherwait)
    if (k_warp() != 0)
        k_wait(&args, &plan);
#elif defined(MUTANT_slot) || defined(MUTANT_scalar)
    waits_too_late_for_one_word(&args, &plan);
    early = plan.words; /* nothing is left to read */
#elif defined(MUTANT_pathwait)
    if (k_block() < k_blocks() / 2 || (k_blocks() == 1 && k_warp() % 2 == 0))
        k_wait(&args, &plan);
#else
#ifdef MUTANT_latewait
    early = plan.reads_early;
    dependent_reads(&args, &plan, FORM_PLAIN, 0, early);
#endif
    k_wait(&args, &plan);
#endif
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, early, plan.words);
    dependent_finishes(&args);
}

KERNEL(wait_overwrite_primary) { visibility_primary(&args, FORM_FROM_INPUT); }

KERNEL(wait_overwrite_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
#ifdef MUTANT_war
    dependent_overwrites_input(&args, &plan);
#endif
    k_wait(&args, &plan);
    dependent_waited(&args);
#ifndef MUTANT_war
    dependent_overwrites_input(&args, &plan);
#endif
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

/* Reads half of its words after the first wait and the rest after the last: both must be fresh. */
KERNEL(wait_rewait_dependent)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    dependent_begins_and_waits(&args, &plan);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words / 2);
    for (i = 1; WAITS && i < plan.repeats; i++)
        k_wait(&args, &plan);
    dependent_reads(&args, &plan, FORM_PLAIN, plan.words / 2, plan.words);
    dependent_finishes(&args);
}

static const struct pair wait_pairs[] = {
    PAIR("store", SHAPE_WORDS, PAIR_TWO_WARPS, wait_store_primary, wait_store_dependent, queue_pair),
    PAIR("overwrite", SHAPE_WORDS, PAIR_OVERWRITE, wait_overwrite_primary, wait_overwrite_dependent, queue_pair),
    PAIR("rewait", SHAPE_WORDS, PAIR_REPEATS, wait_store_primary, wait_rewait_dependent, queue_pair),
    PAIR("notrigger", SHAPE_WORDS, PAIR_NEVER_TRIGGER, wait_store_primary, wait_store_dependent, queue_pair),
};
IMAGE(wait, wait_pairs)
