/* loops.cu - loops of conditional nodes whose bodies hold a programmatic edge, or what else may lead from kernel to kernel there.
 *
 * pair    rules     what is launched
 * chosen  EDGE-26b  an if-node, one of two bodies, or a loop, which a kernel before it decides anew in each launch; in each of them the same
 * bodies  EDGE-26b  a loop whose body is a kernel that triggers and one that waits, added as nodes, captured, inside a child graph of the
 *                   body, inside a body that runs or another loop, or updated. Each kind of edge leads from the one to the other, or
 *                   a copy stands between or after them, or a body between them that runs in every second round. 5 rounds or 20.
 *                   After the loop comes a kernel, and after the graph one in its stream; all of that twice
 *
 * Mutant `nowait`: nobody waits.
 */
#include "gpu_only.h"

#if CUDART_VERSION < 12040
IMAGE_WITHOUT_PAIRS(loops)
#else
#include "graph_ask.h"
#include "host_room.h"

#ifdef MUTANT_nowait
#define WAITS 0
#else
#define WAITS 1
#endif

#define ROUNDS 5u              /* of each loop, in most trials */
#define MANY_ROUNDS 20u
#define LOOPS 2u               /* one after the other: launches of the graph */
#define OUTER_ROUNDS 2u        /* of a loop around the loop */
#define THREADS 16u            /* of each kernel in a loop, a word each */
#define SECOND_AT THREADS      /* the second kernel's words, among all of them */
#define HANDLE_AT 32u
#define BEGUN_AT 34u           /* how often the second kernel has begun */
#define CHOICE_AT 35u          /* the first launch's: 1 if the body is to run */
#define ROUNDS_AT 36u          /* of a body that runs */
#define INNER_AT 38u           /* the handle of a body between the two */
#define OUTER_AT 40u           /* the handle of a loop around the loop */
#define OUTER_BEGUN_AT 42u     /* how many rounds of that one have begun */

/* What leads from the first kernel to the second. A copy, or a body between, hands the words on in args.seen, or from there. */
enum way { BY_TRIGGER, BY_FULL_EDGE, BY_STARTS, AROUND_COPY, BEFORE_COPY, AROUND_BODY, WAYS };
static const char *const way_name[WAYS] = { "", " by a full edge", " by an edge from block starts", " around a copy", " before a copy",
                                            " around a body" };

/* What the trial's plan has as `withhold`, `repeats` and `skip`: how often the loop runs in a launch. */
DEVICE_FN uint32_t way_of(const struct trial_plan *plan) { return plan->withhold; }
DEVICE_FN uint32_t rounds_of(const struct trial_plan *plan) { return plan->repeats; }
DEVICE_FN uint32_t times_of(const struct trial_plan *plan) { return plan->skip; }
DEVICE_FN uint32_t all_rounds_of(const struct trial_plan *plan) { return LOOPS * times_of(plan) * rounds_of(plan); }

DEVICE_FN uint32_t word_of(const struct trial_plan *plan, uint32_t round) { return words_fresh(plan->key, round * THREADS + k_thread()); }

/* A round begins once the one before it has ended, and sees its words; its kernel stores late. left: the rounds that began, finished: those
 * that ended. */
KERNEL(loops_first)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);

    if (round != 0 && k_load(args.data + SECOND_AT + k_thread()) != word_of(&plan, round - 1))
        k_add(&args.state->witnessed, 1);
    if (k_thread() == 0) {
        if (k_load_relaxed(&args.state->left) != round)
            k_add(&args.state->early, 1);
        k_add(&args.state->left, 1);
        if (way_of(&plan) == AROUND_BODY)
            k_set_condition(k_load64_relaxed(args.data + INNER_AT), round % 2);
        if (way_of(&plan) != BY_STARTS && k_poll(args.state, args.data + BEGUN_AT, round + 1, plan.hold_ns))
            k_add(&args.state->early, 1);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + k_thread(), word_of(&plan, round));
}

/* In every second round, between the two: hands the words on. */
KERNEL(loops_between)
{
    if (k_thread() == 0 && k_load_relaxed(&args.state->finished) % 2 == 0)
        k_add(&args.state->early, 1);
    k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
}

DEVICE_FN int reads_copy(const struct trial_plan *plan, uint32_t round)
{
    return way_of(plan) == AROUND_COPY || (way_of(plan) == AROUND_BODY && round % 2);
}

/* Ends the round late, and decides whether there is another one; never more than all loops have. witnessed: words that were not the round's. */
KERNEL(loops_second)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished), ended = round + 1;
    const uint32_t *found = reads_copy(&plan, round) ? args.seen : args.data;
    uint32_t *stored = way_of(&plan) == BEFORE_COPY ? args.seen : args.data + SECOND_AT;

    if (k_thread() == 0)
        k_store_relaxed(args.data + BEGUN_AT, ended);
    if (WAITS)
        k_wait_device();
    if (k_load(found + k_thread()) != word_of(&plan, round))
        k_add(&args.state->witnessed, 1);
    k_barrier();
    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(stored + k_thread(), word_of(&plan, round));
    if (k_thread() != 0)
        return;
    k_store_relaxed(&args.state->finished, ended);
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), ended % rounds_of(&plan) != 0 && ended < all_rounds_of(&plan));
}

/* as_wanted: whether that many rounds had ended when this kernel began. */
DEVICE_FN void find_rounds(const struct kernel_args *args, uint32_t ended, int as_wanted)
{
    struct trial_plan plan = k_plan(args);

    if (!as_wanted)
        k_add(&args->state->early, 1);
    else if (ended != 0 && k_load(args->data + SECOND_AT + k_thread()) != word_of(&plan, ended - 1))
        k_add(&args->state->witnessed, 1);
    k_barrier(); /* threads look at alive, too */
}

DEVICE_FN void expect_rounds(const struct kernel_args *args, uint32_t ended, int as_wanted)
{
    find_rounds(args, ended, as_wanted);
    if (k_thread() == 0)
        k_add(&args->state->alive, 1);
}

DEVICE_FN void comes_after(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t ended = k_load_relaxed(&args->state->finished);

    expect_rounds(args, ended, ended != 0 && ended % (times_of(&plan) * rounds_of(&plan)) == 0);
}

/* Before and after the loop in a loop around it: the first one lets it run, late, the second one lets both run again. */
KERNEL(loops_begins)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() != 0)
        return;
    k_trigger();
    k_store_relaxed(args.data + OUTER_BEGUN_AT, k_load_relaxed(args.data + OUTER_BEGUN_AT) + 1);
    k_delay(args.state, plan.hold_ns);
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), 1);
}

KERNEL(loops_ends)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t ended = k_load_relaxed(&args.state->finished), begun = k_load_relaxed(args.data + OUTER_BEGUN_AT);

    find_rounds(&args, ended, ended != 0 && ended % rounds_of(&plan) == 0);
    if (k_thread() == 0)
        k_set_condition(k_load64_relaxed(args.data + OUTER_AT), begun % times_of(&plan) != 0);
}

KERNEL(loops_after) { comes_after(&args); }

/* In every second launch the body runs. Two kernels of each launch come after it, and say so in alive. */
DEVICE_FN uint32_t launch_of(const struct kernel_args *args) { return k_load_relaxed(&args->state->alive) / 2; }
DEVICE_FN uint32_t runs_in(const struct kernel_args *args, uint32_t launch) { return (k_load(args->data + CHOICE_AT) + launch) % 2; }

/* Decides late. */
KERNEL(loops_chooses)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() != 0)
        return;
    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), runs_in(&args, launch_of(&args)));
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

KERNEL(loops_follower)
{
    if (WAITS)
        k_wait_device();
    comes_after(&args);
}

struct loops {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle, inner, outer; /* of the loop, a body between the two kernels, a loop around the loop */
    enum way way;
    unsigned times;            /* that the loop runs in a launch */
    int lone;                  /* a body that runs once */
    unsigned stale, early, missing;
};

enum made { MADE_OF_NODES, MADE_BY_CAPTURE, MADE_IN_CHILD, MADE_IN_BODY, MADE_BY_UPDATE, MADE_IN_LOOP, MADES };
static const char *const made_name[MADES] = { "a loop", "a loop whose body was captured", "a loop with a child graph", "a loop in a body",
                                              "an updated loop", "a loop in a loop" };

/* From the first kernel's words or to the second one's. */
static uint32_t *copies_to(const struct loops *l) { return l->way == AROUND_COPY ? l->args.seen : l->args.data + SECOND_AT; }
static uint32_t *copies_from(const struct loops *l) { return l->way == AROUND_COPY ? l->args.data : l->args.seen; }

static cudaError_t add_copy(struct loops *l, cudaGraph_t body, cudaGraphNode_t *node, const cudaGraphNode_t *after)
{
    return cudaGraphAddMemcpyNode1D(node, body, after, 1, copies_to(l), copies_from(l), THREADS * sizeof(uint32_t), cudaMemcpyDefault);
}

/* A conditional node behind a node of the body: the first kernel decides about it in each round. */
static cudaError_t add_between(struct loops *l, cudaGraph_t body, cudaGraphNode_t *node, const cudaGraphNode_t *after)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t kernel;
    cudaGraph_t inside;
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->inner, l->graph, 0, 0);

    if (error == cudaSuccess)
        error = ask_add_conditional(node, body, l->inner, cudaGraphCondTypeIf, 1, &inside);
    if (error == cudaSuccess)
        error = ask_add_kernel(&kernel, inside, (const void *)SYMBOL(loops_between), &l->args, THREADS);
    return error == cudaSuccess ? edges_add(body, after, node, &full, 1) : error;
}

static cudaError_t add_pair(struct loops *l, cudaGraph_t body)
{
    cudaGraphEdgeData data = l->way == BY_TRIGGER || l->way == BEFORE_COPY ? edges_data(1, 0, 1)
                             : l->way == BY_STARTS                         ? edges_data(2, 0, 1)
                                                                           : edges_data(0, 0, 0);
    cudaGraphNode_t first, second, last;
    cudaError_t error = ask_add_kernel(&first, body, (const void *)SYMBOL(loops_first), &l->args, THREADS);

    last = first;
    if (error == cudaSuccess && l->way == AROUND_COPY)
        error = add_copy(l, body, &last, &first);
    if (error == cudaSuccess && l->way == AROUND_BODY)
        error = add_between(l, body, &last, &first);
    if (error == cudaSuccess)
        error = ask_add_kernel(&second, body, (const void *)SYMBOL(loops_second), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(body, &last, &second, &data, 1);
    return error == cudaSuccess && l->way == BEFORE_COPY ? add_copy(l, body, &last, &second) : error;
}

static cudaError_t capture_copy(struct loops *l, enum way way)
{
    if (l->way != way)
        return cudaSuccess;
    return cudaMemcpyAsync(copies_to(l), copies_from(l), THREADS * sizeof(uint32_t), cudaMemcpyDefault, l->ask->stream);
}

static cudaError_t capture_pair(struct loops *l, cudaGraph_t body)
{
    cudaStream_t stream = l->ask->stream;
    cudaLaunchAttribute attribute = serialization(1);
    cudaGraph_t same = NULL;
    cudaError_t error = cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(loops_first), &l->args, THREADS, stream, NULL, 0);
    if (error == cudaSuccess)
        error = capture_copy(l, AROUND_COPY);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(loops_second), &l->args, THREADS, stream, &attribute,
                           l->way == BY_TRIGGER || l->way == BEFORE_COPY);
    if (error == cudaSuccess)
        error = capture_copy(l, BEFORE_COPY);
    end = cudaStreamEndCapture(stream, &same);
    return error == cudaSuccess ? end : error;
}

static cudaError_t nest_pair(struct loops *l, cudaGraph_t body)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = add_pair(l, child);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, body, NULL, 0, child);
    if (child)
        (void)cudaGraphDestroy(child);
    return error;
}

/* A loop around the loop, and in it two kernels before and after that one. */
static cudaError_t add_around(struct loops *l, cudaGraphNode_t *outermost)
{
    cudaGraphEdgeData full[2] = { edges_data(0, 0, 0), edges_data(0, 0, 0) };
    cudaGraphNode_t node[3]; /* kernel, loop, kernel */
    cudaGraph_t around, body;
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->outer, l->graph, 1, cudaGraphCondAssignDefault);

    if (error == cudaSuccess)
        error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 0, 0);
    if (error == cudaSuccess)
        error = ask_add_conditional(outermost, l->graph, l->outer, cudaGraphCondTypeWhile, 1, &around);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], around, (const void *)SYMBOL(loops_begins), &l->args, THREADS);
    if (error == cudaSuccess)
        error = ask_add_conditional(&node[1], around, l->handle, cudaGraphCondTypeWhile, 1, &body);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[2], around, (const void *)SYMBOL(loops_ends), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(around, node, node + 1, full, 2);
    return error == cudaSuccess ? add_pair(l, body) : error;
}

/* outermost: the loop, or the body around it, as a node of the graph. */
static cudaError_t add_loop(struct loops *l, enum made made, cudaGraphNode_t *outermost)
{
    cudaGraphNode_t loop;
    cudaGraph_t around = l->graph, body;
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 1, cudaGraphCondAssignDefault);

    if (error == cudaSuccess && made == MADE_IN_BODY)
        error = ask_add_if(outermost, l->graph, l->graph, 1, &around);
    if (error == cudaSuccess)
        error = ask_add_conditional(&loop, around, l->handle, cudaGraphCondTypeWhile, 1, &body);
    if (made != MADE_IN_BODY)
        *outermost = loop;
    if (error != cudaSuccess)
        return error;
    return made == MADE_BY_CAPTURE ? capture_pair(l, body) : made == MADE_IN_CHILD ? nest_pair(l, body) : add_pair(l, body);
}

/* By the graph that it was made from. */
static cudaError_t update_loop(struct loops *l)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;

    return cudaGraphExecUpdate(l->exec, l->graph, &info);
}

static cudaError_t make_loop(struct loops *l, enum made made)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t loop = NULL, after;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    l->times = made == MADE_IN_LOOP ? OUTER_ROUNDS : 1;
    if (error == cudaSuccess)
        error = made == MADE_IN_LOOP ? add_around(l, &loop) : add_loop(l, made, &loop);
    if (error == cudaSuccess)
        error = ask_add_kernel(&after, l->graph, (const void *)SYMBOL(loops_after), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &loop, &after, &full, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&l->exec, l->graph, 0);
    return error == cudaSuccess && made == MADE_BY_UPDATE ? update_loop(l) : error;
}

/* What comes after the graph in its stream, how many bodies that are not passed over all launches have together, and in how many trials. */
struct wanted {
    const void *follower;
    unsigned bodies;
    unsigned long long trials;
};

static unsigned rounds_in(const struct loops *l, unsigned trial)
{
    int many = l->times == 1 && trial % 8 == (l->way == BY_TRIGGER ? 7 : 1);

    if (l->lone)
        return 1;
    return many ? MANY_ROUNDS : ROUNDS;
}

static cudaError_t run_loops(struct loops *l, unsigned trial, const struct wanted *wanted)
{
    cudaLaunchAttribute attribute = serialization(1);
    volatile const struct trial_state *state = &l->room->state;
    cudaError_t error = cudaSuccess;
    unsigned rounds = rounds_in(l, trial), all = wanted->bodies * l->times * rounds, i;

    prepare_trial(l->room, trial);
    memcpy(l->room->data + HANDLE_AT, &l->handle, sizeof(l->handle));
    l->room->data[BEGUN_AT] = l->room->data[OUTER_BEGUN_AT] = 0;
    memcpy(l->room->data + INNER_AT, &l->inner, sizeof(l->inner));
    memcpy(l->room->data + OUTER_AT, &l->outer, sizeof(l->outer));
    l->room->plan.skip = l->times;
    l->room->plan.withhold = l->way;
    l->room->plan.repeats = rounds;
    l->room->data[CHOICE_AT] = trial % 2;
    l->room->data[ROUNDS_AT] = rounds;
    for (i = 0; i < LOOPS && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(l->exec, l->ask->stream);
        if (error == cudaSuccess)
            error = launch_one(wanted->follower, &l->args, THREADS, l->ask->stream, &attribute, 1);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->ask->stream);
    if (error != cudaSuccess)
        return error;
    l->stale += state->witnessed != 0;
    l->early += state->early != 0;
    l->missing += state->finished != all || state->left != all || state->alive != 2 * LOOPS;
    return cudaSuccess;
}

static void ask_runs(struct loops *l, const char *name, cudaError_t error, const struct wanted *wanted)
{
    struct ask *ask = l->ask;
    char text[112];
    unsigned trial;

    l->stale = l->early = l->missing = 0;
    for (trial = 0; ask_goes_on(ask, trial, wanted->trials) && error == cudaSuccess; trial++)
        error = run_loops(l, trial, wanted);
    ask_expect(ask, name, error, cudaSuccess);
    snprintf(text, sizeof(text), "%s: rounds that read words before they were stored", name);
    ask_expect_none(ask, text, l->stale, wanted->trials);
    snprintf(text, sizeof(text), "%s: kernels that began before a round had ended, or before the trigger", name);
    ask_expect_none(ask, text, l->early, wanted->trials);
    snprintf(text, sizeof(text), "%s: other rounds or kernels than there should be", name);
    ask_expect_none(ask, text, l->missing, wanted->trials);
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->graph)
        (void)cudaGraphDestroy(l->graph);
    l->exec = NULL;
    l->graph = NULL;
}

static int may_ask(struct loops *l, struct ask *ask)
{
    l->ask = ask;
    if (!has_conditions())
        ask_skip(ask, "loops", "the driver is older than they are");
    else if (!open_room(&l->room, &l->args))
        ask_skip(ask, "pinned host memory", "not given");
    else
        ask_expect(ask, "memory for copies", cudaMalloc((void **)&l->args.seen, THREADS * sizeof(uint32_t)), cudaSuccess);
    return l->args.seen != NULL;
}

/* No child graph holds a conditional node; a capture makes none, and no edge from block starts without an event. */
static int can_make(enum made made, enum way way)
{
    return way == AROUND_BODY ? made != MADE_IN_CHILD && made != MADE_BY_CAPTURE : way != BY_STARTS || made != MADE_BY_CAPTURE;
}

static unsigned long long trials_of(const struct loops *l) { return l->ask->trials / (l->way == BY_TRIGGER && l->times == 1 ? 2 : 8); }

static void ask_loop(struct loops *l, enum made made)
{
    struct wanted wanted = { (const void *)SYMBOL(loops_follower), LOOPS, 0 };
    cudaError_t error = make_loop(l, made);
    char name[80];

    wanted.trials = trials_of(l);
    snprintf(name, sizeof(name), "%s%s", made_name[made], way_name[l->way]);
    ask_runs(l, name, error, &wanted);
}

static void ask_loops(struct ask *ask)
{
    struct loops l = PDL_ZERO;
    unsigned made, way;

    if (!may_ask(&l, ask))
        return;
    for (made = 0; made < MADES; made++)
        for (way = 0; way < WAYS; way++) {
            l.way = (enum way)way;
            if (can_make((enum made)made, l.way))
                ask_loop(&l, (enum made)made);
        }
    (void)cudaFree(l.args.seen);
    (void)cudaFreeHost(l.room);
}

/* ---- what a kernel decides ---- */

enum chosen { CHOSEN_IF, CHOSEN_LOOP, CHOSEN_OF_TWO, CHOSENS };
static const char *const chosen_name[CHOSENS] = { "a body that a kernel chooses", "a loop that a kernel begins", "a body of two that a kernel chooses" };

/* A handle without a value of its own. */
static cudaError_t add_chosen(struct loops *l, enum chosen chosen, cudaGraphNode_t *node)
{
    enum cudaGraphConditionalNodeType type = chosen == CHOSEN_LOOP ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    unsigned bodies = 1;
    cudaGraph_t body[2];
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 0, 0);

#if CUDART_VERSION >= 12080
    if (chosen == CHOSEN_OF_TWO && has_version(12080)) { /* the first one is empty */
        type = cudaGraphCondTypeSwitch;
        bodies = 2;
    }
#endif
    if (error == cudaSuccess)
        error = ask_add_conditional(node, l->graph, l->handle, type, bodies, body);
    return error == cudaSuccess ? add_pair(l, body[bodies - 1]) : error;
}

static cudaError_t make_chosen(struct loops *l, enum chosen chosen)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t chooses, node = NULL, after;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    l->lone = chosen != CHOSEN_LOOP;
    l->times = 1;
    if (error == cudaSuccess)
        error = add_chosen(l, chosen, &node);
    if (error == cudaSuccess)
        error = ask_add_kernel(&chooses, l->graph, (const void *)SYMBOL(loops_chooses), &l->args, THREADS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&after, l->graph, (const void *)SYMBOL(loops_after_choice), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &chooses, &node, &full, 1);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &node, &after, &full, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&l->exec, l->graph, 0) : error;
}

/* Of two launches one runs the body. */
static void ask_choice(struct loops *l, enum chosen chosen)
{
    struct wanted wanted = { (const void *)SYMBOL(loops_follows_choice), LOOPS / 2, 0 };
    cudaError_t error = make_chosen(l, chosen);
    char name[80];

    wanted.trials = l->way == BY_TRIGGER ? l->ask->trials : l->ask->trials / 8;
    snprintf(name, sizeof(name), "%s%s", chosen_name[chosen], way_name[l->way]);
    ask_runs(l, name, error, &wanted);
}

static void ask_chosen(struct ask *ask)
{
    struct loops l = PDL_ZERO;
    unsigned chosen, way;

    if (!may_ask(&l, ask))
        return;
    for (chosen = 0; chosen < CHOSENS; chosen++)
        for (way = 0; way < WAYS; way++) {
            l.way = (enum way)way;
            ask_choice(&l, (enum chosen)chosen);
        }
    (void)cudaFree(l.args.seen);
    (void)cudaFreeHost(l.room);
}

static const struct pair loops_pairs[] = {
    PAIR_ASK("bodies", ask_loops),
    PAIR_ASK("chosen", ask_chosen),
};
IMAGE(loops, loops_pairs)
#endif
