/* programs.cu - programs drawn from the seed, made in many ways that must all mean the same (harness/programs).
 *
 * pair      rules    what is made
 * graphs    SAME-01  graphs: nodes and edges in every order, captured, cloned, as child graph, body and loop, updated, enabled again
 * together  EDGE-33  the same with all edges in one call
 * uploaded  SAME-03  graphs that are uploaded before their launch
 * destroyed SAME-04  graphs of several executable ones, of which one is destroyed while it runs
 * streams   SAME-02  launches: by each function, attributes in any order, each kind of stream, other threads, captured
 *
 * What a step stores depends on its launch, too. Mutant: `nowait`, no step waits.
 */
#include <string.h>

#include "graph_ask.h"
#include "kernel.h"
#include "programs/program.h"

#ifdef PDL_MODEL
#define STEP_BLOCK k_block()
#define STEP_BLOCKS (model_shape(0) * model_shape(1) * model_shape(2))
#define STEP_THREAD k_thread()
#define STEP_THREADS (model_shape(3) * model_shape(4) * model_shape(5))
#else
#define STEP_BLOCK (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))
#define STEP_BLOCKS (gridDim.x * gridDim.y * gridDim.z)
#define STEP_THREAD (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define STEP_THREADS (blockDim.x * blockDim.y * blockDim.z)
#endif
#ifdef MUTANT_nowait
#define STEPS_BLIND 1
#else
#define STEPS_BLIND 0
#endif

DEVICE_FN struct step_plan step_plan_of(const struct kernel_args *args)
{
    union {
        struct step_plan plan;
        uint32_t word[sizeof(struct step_plan) / 4];
    } u;
    uint32_t i;

    for (i = 0; i < sizeof(struct step_plan) / 4; i += 4)
        k_load4_l2((const uint32_t *)args->plan + i, u.word + i);
    return u.plan;
}

/* The block that stores word w: words are spread over all blocks, and the last one has the last word. */
DEVICE_FN uint32_t block_of_word(uint32_t w, uint32_t blocks) { return (uint32_t)(((uint64_t)(w + 1) * blocks - 1) / PROGRAM_WORDS); }

/* The same among the threads of that block. */
DEVICE_FN uint32_t thread_of_word(uint32_t w, uint32_t threads) { return ((w + 1) * threads - 1) / PROGRAM_WORDS; }

/* What a kernel is given beside the first arguments, and which kernel it is. */
struct step_given {
    uint32_t kernel, more, last, seen; /* more: how many words it has besides; last, seen: two of them */
};

/* Which instruction loads or stores the words differs from step to step; most loads take what is cached. */
DEVICE_FN uint32_t load_somehow(const uint32_t *word, uint32_t how)
{
    return how % 8 == 0 ? k_load_l2(word) : how % 8 == 1 ? k_load_relaxed(word) : k_load(word);
}

DEVICE_FN void store_somehow(uint32_t *at, uint32_t word, uint32_t how)
{
    if (how % 8 == 0)
        (void)k_exchange(at, word);
    else if (how % 8 == 1)
        k_store_relaxed(at, word);
    else
        k_store(at, word);
}

DEVICE_FN uint32_t step_word(const struct kernel_args *args, const struct step_plan *plan, const struct step_given *given, uint32_t w)
{
    uint32_t word = words_fresh(plan->key, plan->step * PROGRAM_WORDS + w), r, shape[PROGRAM_SHAPE];

    k_shape(shape);
    for (r = 0; r < PROGRAM_SHAPE; r++)
        word = program_fold(word, shape[r]);
    word = program_fold(program_fold(word, k_dynamic_shared()), given->kernel);
    if (given->more)
        word = program_fold(program_fold(word, given->last), given->seen);
    for (r = 0; r < plan->reads && r < PROGRAM_READS; r++) {
        uint32_t from = plan->read[r];
        const uint32_t *words = from & STEP_OF_HOST ? args->input : args->data;
        word = word * 0x01000193u ^ load_somehow(words + (from & STEP_NUMBER) * PROGRAM_WORDS + w, (uint32_t)plan->key + plan->step + r);
    }
    return word;
}

/* A kernel says so itself; of a memset or a copy the words do. */
DEVICE_FN int has_begun(const struct kernel_args *args, const struct step_plan *plan, uint32_t watched)
{
    uint32_t step = watched & STEP_NUMBER, word = (watched & ~STEP_OF_WORDS) >> STEP_WORD_SHIFT;

    if (watched & STEP_OF_WORDS)
        return k_load_relaxed(args->data + step * PROGRAM_WORDS + word) != program_poison(plan->key, step);
    return k_load_relaxed(args->primary_sm + step) == (uint32_t)plan->key;
}

/* Counts the steps that have begun and must not have. */
DEVICE_FN void watches_others(const struct kernel_args *args, const struct step_plan *plan)
{
    uint32_t i;

    for (i = 0; i < plan->watches && i < PROGRAM_WATCHES; i++)
        if (has_begun(args, plan, plan->watch[i]))
            k_add(args->dependent_sm, 1);
}

/* Which blocks come late differs from step to step: the first and the last one, or only one of them. */
DEVICE_FN int comes_late(const struct step_plan *plan)
{
    uint32_t who = ((uint32_t)plan->key + plan->step) % 3;

    return (STEP_BLOCK == 0 && who != 1) || (STEP_BLOCK + 1 == STEP_BLOCKS && who != 2);
}

/* Lines that are in a cache before the wait are stale after it, if the wait leaves them. all: those of other blocks, too. */
DEVICE_FN void read_early(const struct kernel_args *args, const struct step_plan *plan, int all)
{
    uint32_t w, r, sum = 0;

    for (w = 0; w < PROGRAM_WORDS; w++)
        for (r = 0; r < plan->reads && r < PROGRAM_READS; r++)
            if (!(plan->read[r] & STEP_OF_HOST) &&
                (all || (block_of_word(w, STEP_BLOCKS) == STEP_BLOCK && thread_of_word(w, STEP_THREADS) == STEP_THREAD)))
                sum += k_load(args->data + (plan->read[r] & STEP_NUMBER) * PROGRAM_WORDS + w);
    if (sum == 0x5EED5EEDu) /* keeps the loads: whoever removes this removes the test */
        k_add(&args->state->left, 1);
}

/* The words that this thread stores, or its whole block, one bit each. */
DEVICE_FN uint32_t own_words(int of_block)
{
    uint32_t w, mine = 0;

    for (w = 0; w < PROGRAM_WORDS; w++)
        if (block_of_word(w, STEP_BLOCKS) == STEP_BLOCK && (of_block || thread_of_word(w, STEP_THREADS) == STEP_THREAD))
            mine |= 1u << w;
    return mine;
}

DEVICE_FN int leads(const struct step_plan *plan) { return STEP_THREAD == (plan->flags & STEP_LAST_LEADS ? STEP_THREADS - 1 : 0); }

DEVICE_FN void says_begun(const struct kernel_args *args, const struct step_plan *plan)
{
    k_store_relaxed(args->primary_sm + plan->step, (uint32_t)plan->key);
    k_add(args->dependent_sm + PROGRAM_EARLY + plan->step, 1);
}

/* Reads as early as it may and stores as late as it can: what was not ordered is stale. */
DEVICE_FN void run_step(const struct kernel_args *args, const struct step_plan *told, const struct step_given *given)
{
    struct step_plan plan = *told;
    uint32_t word[PROGRAM_WORDS], w, mine = own_words(0);
    int leader = leads(&plan), triggers = leader || (plan.flags & STEP_TRIGGERS_ALL);
    int idle = (plan.flags & STEP_IDLE_BLOCKS) && !own_words(1);

    if ((plan.flags & STEP_LEAVES_FIRST) && !leader && !mine)
        return;
    if (leader)
        says_begun(args, &plan);
    if ((plan.flags & STEP_TRIGGERS_FIRST) && triggers)
        k_trigger();
    if ((plan.flags & STEP_READS_EARLY) && (leader || !idle))
        read_early(args, &plan, idle);
    if ((plan.flags & STEP_WAITS) && !idle)
        k_wait_device();
    if ((plan.flags & STEP_WAITS) && (plan.flags & STEP_SAYS_TWICE) && !idle)
        k_wait_device();
    if ((plan.flags & STEP_LEAVES_LATE) && !leader && !mine)
        return;
    for (w = 0; w < PROGRAM_WORDS; w++)
        if (mine >> w & 1)
            word[w] = step_word(args, &plan, given, w);
    k_barrier();
    if (leader && comes_late(&plan))
        k_delay(args->state, plan.hold_ns);
    if (leader)
        watches_others(args, &plan);
    k_barrier();
    for (w = 0; w < PROGRAM_WORDS; w++)
        if (mine >> w & 1)
            store_somehow(args->data + plan.step * PROGRAM_WORDS + w, word[w], (uint32_t)plan.key + plan.step);
    if (STEP_BLOCK == 0 && leader)
        k_store(args->seen + plan.step, (uint32_t)plan.key + plan.step);
    if ((plan.flags & (STEP_TRIGGERS_FIRST | STEP_SAYS_TWICE)) == (STEP_TRIGGERS_FIRST | STEP_SAYS_TWICE) && triggers)
        k_trigger();
    if ((plan.flags & STEP_TRIGGERS_LATE) && triggers)
        k_trigger();
}

/* So many registers hold their values while the step runs. */
#ifdef PDL_MODEL
#define HELD 1u /* the model knows no registers */
#else
#define HELD 96u
#endif
#define HELD_FROM(args, i) ((const uint32_t *)(args)->plan + (i) % (sizeof(struct step_plan) / 4))

DEVICE_FN void run_step_holding(const struct kernel_args *args, const struct step_plan *plan, const struct step_given *given)
{
    uint32_t held[HELD], lost = 0, i;

#ifndef PDL_MODEL
#pragma unroll
#endif
    for (i = 0; i < HELD; i++)
        held[i] = k_load_relaxed(HELD_FROM(args, i));
    run_step(args, plan, given);
#ifndef PDL_MODEL
#pragma unroll
#endif
    for (i = 0; i < HELD; i++)
        lost |= held[i] ^ k_load_relaxed(HELD_FROM(args, i));
    if (lost)
        k_add(args->dependent_sm, 1);
}

/* Kernels of several sizes of arguments, and of few registers and many. A node can be given another one. */
#define STEP_KERNEL_GIVEN(name, type, number, count, run)                                                         KERNEL_OF(name, type)                                                                                         {                                                                                                                 struct step_plan plan = step_plan_of(&args.head);                                                             struct step_given given = { number, count, args.more[(count)-1],                                                                          args.more[program_argument_seen(plan.key, plan.step, count)] };                   run(&args.head, &plan, &given);                                                                           }

#define SOME_ARGS 300u
#ifdef PDL_MODEL
#define MOST_ARGS 1010u        /* a launch on the model takes 4,096 bytes of arguments */
#else
#define MOST_ARGS PROGRAM_MOST_ARGS
#endif

struct some_args {
    struct kernel_args head;
    uint32_t more[SOME_ARGS];
};

struct most_args {
    struct kernel_args head;
    uint32_t more[MOST_ARGS];
};

KERNEL(programs_few)
{
    struct step_plan plan = step_plan_of(&args);
    struct step_given given = { 0, 0, 0, 0 };
    run_step(&args, &plan, &given);
}

KERNEL(programs_few_holding)
{
    struct step_plan plan = step_plan_of(&args);
    struct step_given given = { 1, 0, 0, 0 };
    run_step_holding(&args, &plan, &given);
}

STEP_KERNEL_GIVEN(programs_some, struct some_args, 2, SOME_ARGS, run_step)
STEP_KERNEL_GIVEN(programs_some_holding, struct some_args, 3, SOME_ARGS, run_step_holding)
STEP_KERNEL_GIVEN(programs_most, struct most_args, 4, MOST_ARGS, run_step)
STEP_KERNEL_GIVEN(programs_most_holding, struct most_args, 5, MOST_ARGS, run_step_holding)

#if CUDART_VERSION >= 12040
KERNEL_OF(programs_goes_on, struct program_round)
{
    uint32_t value = args.value, rounds;

    if (args.rounds) {
        rounds = k_load_relaxed(args.rounds) + 1;
        k_store_relaxed(args.rounds, rounds);
        value = rounds % PROGRAM_ROUNDS != 0;
    }
    k_set_condition(args.handle, value);
}
#endif

static void ask_programs(struct ask *ask, enum program_subject subject)
{
    const void *kernels[PROGRAM_KERNELS] = { (const void *)SYMBOL(programs_few),  (const void *)SYMBOL(programs_few_holding),
                                             (const void *)SYMBOL(programs_some), (const void *)SYMBOL(programs_some_holding),
                                             (const void *)SYMBOL(programs_most), (const void *)SYMBOL(programs_most_holding) };
    const unsigned more[PROGRAM_KERNELS] = { 0, 0, SOME_ARGS, SOME_ARGS, MOST_ARGS, MOST_ARGS };
    struct program_ask how = PDL_ZERO;

    memcpy(how.kernel, kernels, sizeof(kernels));
    memcpy(how.more, more, sizeof(more));
#if CUDART_VERSION >= 12040
    how.goes_on = (const void *)SYMBOL(programs_goes_on);
#endif
    how.blind = STEPS_BLIND;
    how.subject = subject;
    ask_expect(ask, "two kernels in a graph", ask_completion_edges(how.kernel[0]), cudaSuccess);
    program_ask(ask, &how);
}

static void ask_graphs(struct ask *ask)
{
    ask_programs(ask, PROGRAM_GRAPHS);
    if (!STEPS_BLIND)
        program_ask_sizes(ask);
}

static void ask_together(struct ask *ask) { ask_programs(ask, PROGRAM_TOGETHER); }

static void ask_streams(struct ask *ask) { ask_programs(ask, PROGRAM_STREAMS); }

static void ask_uploaded(struct ask *ask) { ask_programs(ask, PROGRAM_UPLOADED); }

static void ask_destroyed(struct ask *ask) { ask_programs(ask, PROGRAM_DESTROYED); }

static const struct pair programs_pairs[] = {
    PAIR_ASK("graphs", ask_graphs),
    PAIR_ASK("together", ask_together),
    PAIR_ASK("streams", ask_streams),
    PAIR_ASK("uploaded", ask_uploaded),
    PAIR_ASK("destroyed", ask_destroyed),
};
IMAGE(programs, programs_pairs)
