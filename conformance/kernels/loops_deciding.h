/* loops_deciding.h - the kernels of loops.cu that decide about a body or a loop of their graph, and those that come after it. */
#ifndef LOOPS_DECIDING_H_INCLUDED
#define LOOPS_DECIDING_H_INCLUDED

#define SETTERS_AT 37u         /* which of two kernels set the condition */
#define DEFAULT_AT 47u         /* 1 if the body runs by the default value of its condition, 0 if it does not */
#define NO_DEFAULT 2u          /* ... the condition has none */

enum setters { SET_BY_FIRST, SET_BY_SECOND, SET_BY_BOTH, SETTERS };

/* In every second launch the body runs. Two kernels of each launch come after it, and say so in alive. */
DEVICE_FN uint32_t launch_of(const struct kernel_args *args) { return k_load_relaxed(&args->state->alive) / 2; }
DEVICE_FN uint32_t runs_in(const struct kernel_args *args, uint32_t launch) { return (k_load(args->data + CHOICE_AT) + launch) % 2; }

/* Before the kernel that decides, which begins at its trigger. */
KERNEL(loops_leads)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
}

/* The last thread of all blocks decides, late. */
KERNEL(loops_chooses)
{
    struct trial_plan plan = k_plan(&args);

    if (WAITS)
        k_wait_device();
    if (k_block() + 1 != k_blocks() || k_thread() + 1 != k_threads())
        return;
    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), k_load(args.data + VALUES_AT + runs_in(&args, launch_of(&args))));
}

/* As many rounds have ended as the launches so far were to have. */
DEVICE_FN void comes_after_choice(const struct kernel_args *args)
{
    uint32_t launch = launch_of(args), ended = 0, i;

    for (i = 0; i <= launch; i++)
        ended += runs_in(args, i) * k_load(args->data + ROUNDS_AT);
    expect_rounds(args, ended, k_load_relaxed(&args->state->finished) == ended);
}

KERNEL(loops_after_choice) { comes_after_choice(&args); }

KERNEL(loops_follows_choice)
{
    if (WAITS)
        k_wait_device();
    comes_after_choice(&args);
}

/* Where both set the condition, the first one sets the wrong value. Where one does, it sets nothing if the default value is the right
 * one. */
DEVICE_FN void sets_condition(const struct kernel_args *args, uint32_t which)
{
    struct trial_plan plan = k_plan(args);
    uint32_t setters = k_load(args->data + SETTERS_AT), runs = runs_in(args, launch_of(args));
    int sets = setters == SET_BY_BOTH || (setters == which && runs != k_load(args->data + DEFAULT_AT));

    if (WAITS)
        k_wait_device();
    if (k_thread() != 0)
        return;
    k_trigger();
    k_delay(args->state, plan.hold_ns);
    if (setters == SET_BY_BOTH && which == SET_BY_FIRST)
        runs = !runs;
    if (sets)
        k_set_condition(k_load64_relaxed(args->data + HANDLE_AT), k_load(args->data + VALUES_AT + runs));
}

KERNEL(loops_sets_first) { sets_condition(&args, SET_BY_FIRST); }

KERNEL(loops_sets_second) { sets_condition(&args, SET_BY_SECOND); }

/* Between those and the node; it sets nothing. */
KERNEL(loops_sets_nothing)
{
    (void)args;
    if (WAITS)
        k_wait_device();
}

#endif
