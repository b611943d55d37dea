/* loops.cu - loops of conditional nodes whose bodies hold a programmatic edge, or what else may lead from kernel to kernel there.
 *
 * pair    rules     what is launched
 * chosen  EDGE-26b  an if-node, its second body, the last one of two or four bodies, or a loop, which a kernel before it decides anew in each
 *                   launch; or a body that runs by the default value of its handle, which a kernel of the launch before changed; in each of
 *                   them the two kernels of `bodies`, with each kind of edge or node between them. Or a body or a loop whose condition one
 *                   of two kernels sets, in a row or inside a child graph or a body, or both do, or neither where there is a default value
 * bodies  EDGE-26b  a loop whose body is a kernel that triggers and one that waits, added as nodes, captured, inside a child graph of the
 *                   body, inside a body that runs, also a later one of several, or another loop, updated, or two such loops in a row. Each kind of edge leads from the
 *                   one to the other, or a copy or memset stands between or after them, or between them a child graph, or between or after
 *                   them a body of one kernel, or between them one of such a pair, that runs in some rounds only. 5 rounds, 20, or 260; a loop
 *                   around the loop has 2, 5 or 20. After the loop comes a kernel, and after the graph one in its stream; all of that
 *                   twice, in one stream or in two, and in streams of each kind
 * mixed   EDGE-26e  a loop of three rounds, or a body that runs once, which holds up to eight kernels, child graphs and conditional nodes,
 *                   with edges as drawn, and after all of them a kernel that ends the round; launched twice
 *
 * In `bodies` and `chosen` a disabled kernel stands before the loop or body, and in two trials of three a loop of another graph runs before
 * the launches or beside them. Some executable graphs are updated, made anew, uploaded, or given parameters that they have, before their first
 * launch or between two. Any value but 0 lets a loop go on, or a body run, whichever thread of whichever block sets it. In every second
 * trial a loop's condition is set in its last round only, as in the CUDA Programming Guide's example.
 *
 * Mutant `nowait`: nobody waits.
 */
#include "gpu_only.h"

#if CUDART_VERSION < 12040
IMAGE_WITHOUT_PAIRS(loops)
#else
#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

#ifdef MUTANT_nowait
#define WAITS 0
#else
#define WAITS 1
#endif

#define ROUNDS 5u              /* of each loop, in most trials */
#define MANY_ROUNDS 20u
#define MOST_ROUNDS 260u       /* more than a byte counts */
#define BESIDE_ROUNDS 24u      /* of the loop of another graph */
#define SHORT_HOLD_NS 2000u    /* where there are more rounds than a byte counts, and in the loop of another graph */
#define LOOPS 2u               /* one after the other: launches of the graph */
#define OUTER_ROUNDS 2u        /* of a loop around the loop, in most trials; in the others it has more, and the loop in it as few */
#define MORE_OUTER_ROUNDS 5u
#define MANY_OUTER_ROUNDS 20u
#define THREADS 16u            /* of each kernel in a loop, a word each */
#define FIRST_BLOCKS 2u        /* of the first kernel: the other one only triggers, at once */
#define SET_BYTE 0x5Au         /* of what a memset stores */
#define SECOND_AT THREADS      /* the second kernel's words, among all of them */
#define HANDLE_AT 32u
#define BEGUN_AT 34u           /* how often the second kernel has begun */
#define CHOICE_AT 35u          /* the first launch's: 1 if the body is to run */
#define ROUNDS_AT 36u          /* of a body that runs */
#define INNER_AT 38u           /* the handle of a body between the two, or after them */
#define OUTER_AT 40u           /* the handle of a loop around the loop, or of the other one of two loops */
#define VALUES_AT 44u          /* of a condition that a kernel decides: the one with which the body does not run, and the one with which it does */
#define OUTER_BEGUN_AT 42u     /* how many rounds of a loop around the loop have begun */
#define GO_AT 46u              /* the value with which a loop goes on */
#define NO_BODY 0x100u         /* a value that names no body, whatever is added; its lowest byte is 0 */
#define LOOP_STREAMS 5u        /* one of each kind */
#define RENEWED_TRIALS 2u      /* of each loop, after the first trial */

/* What leads from the first kernel to the second. A copy, a child graph or a body between hands the words on in args.seen, or from there; a
 * memset stores over what the kernel before it stored there. About a body after both the second one decides. */
enum way { BY_TRIGGER, BY_FULL_EDGE, BY_STARTS, AROUND_COPY, BEFORE_COPY, AROUND_BODY, AROUND_SET, BEFORE_SET, AROUND_CHILD, AROUND_PAIR,
           BEFORE_BODY, WAYS };
static const char *const way_name[WAYS] = { "", " by a full edge", " by an edge from block starts", " around a copy", " before a copy",
                                            " around a body", " around a memset", " before a memset", " around a child graph",
                                            " around a body of a pair", " before a body" };

/* What the trial's plan has as `withhold`, `repeats`, `skip`, which is how often the loop runs in a launch, and `reads_early`: whether
 * only a loop's last round sets its condition. Until then it keeps the value with which the loop began, by default or by a kernel. */
DEVICE_FN uint32_t way_of(const struct trial_plan *plan) { return plan->withhold; }
DEVICE_FN uint32_t rounds_of(const struct trial_plan *plan) { return plan->repeats; }
DEVICE_FN uint32_t times_of(const struct trial_plan *plan) { return plan->skip; }
DEVICE_FN int sets_last_only(const struct trial_plan *plan) { return plan->reads_early != 0; }
DEVICE_FN uint32_t value_to_go(const struct kernel_args *args, int goes_on) { return goes_on ? k_load(args->data + GO_AT) : 0; }
DEVICE_FN uint32_t all_rounds_of(const struct trial_plan *plan) { return LOOPS * times_of(plan) * rounds_of(plan); }

/* Whether a loop goes on after a round. */
DEVICE_FN void decides_round(const struct kernel_args *args, const struct trial_plan *plan, uint32_t handle_at, int goes_on)
{
    if (!goes_on || !sets_last_only(plan))
        k_set_condition(k_load64_relaxed(args->data + handle_at), value_to_go(args, goes_on));
}

#include "loops_between.h"

/* Whether a memset has come since a kernel stored there. */
DEVICE_FN int is_set(const struct kernel_args *args) { return k_load(args->seen + k_thread()) == SET_BYTE * 0x1010101u; }
DEVICE_FN void unset(const struct kernel_args *args) { k_store(args->seen + k_thread(), 0); }

DEVICE_FN uint32_t word_of(const struct trial_plan *plan, uint32_t round) { return words_fresh(plan->key, round * THREADS + k_thread()); }

/* Whether these words are of that round, and have been stored over where a memset ends it. */
DEVICE_FN int ended_with(const struct kernel_args *args, const struct trial_plan *plan, uint32_t round)
{
    return k_load(args->data + SECOND_AT + k_thread()) == word_of(plan, round) && (way_of(plan) != BEFORE_SET || is_set(args));
}

/* A round begins once the one before it has ended, and sees its words; its kernel stores late. left: the rounds that began, finished: those
 * that ended. */
DEVICE_FN void begins_round(const struct kernel_args *of)
{
    struct kernel_args args = *of;
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);

    if (round != 0 && !ended_with(&args, &plan, round - 1))
        k_add(&args.state->witnessed, 1);
    if (way_of(&plan) == AROUND_SET)
        unset(&args);
    if (k_thread() == 0) {
        if (k_load_relaxed(&args.state->left) != round)
            k_add(&args.state->early, 1);
        k_add(&args.state->left, 1);
        if (is_around_body(&plan))
            k_set_condition(k_load64_relaxed(args.data + INNER_AT), (uint32_t)runs_between(&plan, round));
        if (way_of(&plan) != BY_STARTS && k_poll(args.state, args.data + BEGUN_AT, round + 1, plan.hold_ns))
            k_add(&args.state->early, 1);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + k_thread(), word_of(&plan, round));
}

KERNEL(loops_first)
{
    if (k_block() == 0)
        begins_round(&args);
    else
        k_trigger();
}

/* In every round. */
KERNEL(loops_hands_on) { k_store(args.seen + k_thread(), k_load(args.data + k_thread())); }

DEVICE_FN int reads_copy(const struct trial_plan *plan, uint32_t round)
{
    return way_of(plan) == AROUND_COPY || way_of(plan) == AROUND_CHILD || (is_around_body(plan) && runs_between(plan, round));
}

/* Decides whether there is another round; never more than all loops have. Any thread may set it. */
DEVICE_FN void ends_round(const struct kernel_args *args, const struct trial_plan *plan, uint32_t round)
{
    uint32_t ended = round + 1;

    if (k_thread() != round % k_threads())
        return;
    k_store_relaxed(&args->state->finished, ended);
    decides_round(args, plan, HANDLE_AT, ended % rounds_of(plan) != 0 && ended < all_rounds_of(plan));
}

/* Ends the round late, or decides late whether the body after it runs. witnessed: wrong words. */
KERNEL(loops_second)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);
    const uint32_t *found = reads_copy(&plan, round) ? args.seen : args.data;
    int hands_on = way_of(&plan) == BEFORE_COPY || way_of(&plan) == BEFORE_BODY;
    uint32_t *stored = hands_on ? args.seen : args.data + SECOND_AT;

    if (k_thread() == 0)
        k_store_relaxed(args.data + BEGUN_AT, round + 1);
    if (WAITS)
        k_wait_device();
    if (k_load(found + k_thread()) != word_of(&plan, round) || (way_of(&plan) == AROUND_SET && !is_set(&args)))
        k_add(&args.state->witnessed, 1);
    if (way_of(&plan) == BEFORE_SET)
        unset(&args);
    k_barrier();
    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(stored + k_thread(), word_of(&plan, round));
    if (way_of(&plan) != BEFORE_BODY)
        ends_round(&args, &plan, round);
    else if (k_thread() == 0)
        k_set_condition(k_load64_relaxed(args.data + INNER_AT), (uint32_t)runs_between(&plan, round));
}

/* After the body that the second one decides about: it has handed the words on where it runs; in the other rounds this kernel does. */
KERNEL(loops_third)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);
    const uint32_t *found = runs_between(&plan, round) ? args.data + SECOND_AT : args.seen;

    if (k_load(found + k_thread()) != word_of(&plan, round))
        k_add(&args.state->witnessed, 1);
    k_store(args.data + SECOND_AT + k_thread(), word_of(&plan, round));
    k_barrier();
    ends_round(&args, &plan, round);
}

/* as_wanted: whether that many rounds had ended when this kernel began. */
DEVICE_FN void find_rounds(const struct kernel_args *args, uint32_t ended, int as_wanted)
{
    struct trial_plan plan = k_plan(args);

    if (!as_wanted)
        k_add(&args->state->early, 1);
    else if (ended != 0 && !ended_with(args, &plan, ended - 1))
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
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), value_to_go(&args, 1));
}

KERNEL(loops_ends)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t ended = k_load_relaxed(&args.state->finished), begun = k_load_relaxed(args.data + OUTER_BEGUN_AT);

    find_rounds(&args, ended, ended != 0 && ended % rounds_of(&plan) == 0);
    if (k_thread() == 0)
        decides_round(&args, &plan, OUTER_AT, begun % times_of(&plan) != 0);
}

/* Before each of two loops: lets the next one run, late, and hands its handle to the kernel that ends the rounds. */
KERNEL(loops_next)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t ended = k_load_relaxed(&args.state->finished);
    uint64_t before = k_load64_relaxed(args.data + HANDLE_AT), next = k_load64_relaxed(args.data + OUTER_AT);

    find_rounds(&args, ended, ended % rounds_of(&plan) == 0);
    if (k_thread() != 0)
        return;
    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_store64_relaxed(args.data + HANDLE_AT, next);
    k_store64_relaxed(args.data + OUTER_AT, before);
    k_set_condition(next, value_to_go(&args, 1));
}

/* Its node is disabled: it must not run. */
KERNEL(loops_idle) { k_add(&args.state->early, 1); }

/* The loop of another graph. */
KERNEL(loops_beside)
{
    uint32_t ended = k_load_relaxed(&args.state->finished) + 1;

    k_delay(args.state, SHORT_HOLD_NS);
    k_store_relaxed(&args.state->finished, ended);
    k_set_condition(k_load64_relaxed(args.data + HANDLE_AT), value_to_go(&args, ended < BESIDE_ROUNDS));
}

KERNEL(loops_after) { comes_after(&args); }

#include "loops_deciding.h"

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
    cudaGraphNode_t first, idle, after; /* the first kernel of the two; the disabled one before the loop or body; the one after */
    int updates;               /* the executable graph is updated before its launches */
    cudaEvent_t event;         /* between two launches in two streams */
    /* of the loop, of a body between the two kernels, and of a loop around the loop or of the other one of two */
    cudaGraphConditionalHandle handle, inner, outer;
    struct host_room *room_beside; /* this and the next four: of the loop of another graph */
    struct kernel_args args_beside;
    cudaGraph_t graph_beside;
    cudaGraphExec_t exec_beside;
    cudaGraphConditionalHandle beside;
    cudaStream_t apart, stream[LOOP_STREAMS]; /* apart: where that loop runs beside the launches */
    enum way way;
    unsigned turn;             /* how many questions of the pair were asked before */
    unsigned most;             /* rounds, in the first of the trials that have many */
    unsigned times;            /* that the loop runs in a launch */
    int lone;                  /* a body that runs once */
    int nested;                /* in a loop around it */
    uint32_t values[2];        /* of a condition: see VALUES_AT */
    uint32_t by_default;       /* what DEFAULT_AT says */
    int exact;                 /* the values name bodies; else 1 stands for any value but 0 */
    unsigned stale, early, missing;
};

#include "loops_made.h"

/* What comes after the graph in its stream, how many bodies that are not passed over all launches have together, and in how many trials. */
struct wanted {
    const void *follower;
    unsigned bodies;
    unsigned long long trials;
};

/* Of a loop around the loop. */
static unsigned outer_rounds_in(const struct loops *l, unsigned trial)
{
    if (trial % 8 != 1)
        return OUTER_ROUNDS;
    return l->turn % 2 ? MANY_OUTER_ROUNDS : MORE_OUTER_ROUNDS;
}

static unsigned rounds_in(const struct loops *l, unsigned trial)
{
    unsigned many = l->way == BY_TRIGGER ? 7 : 1;

    if (l->lone)
        return 1;
    if (l->times > OUTER_ROUNDS)
        return OUTER_ROUNDS;
    if (l->times == 1 && l->most == MOST_ROUNDS && trial % 32 == many)
        return MOST_ROUNDS;
    return l->times == 1 && trial % 8 == many ? MANY_ROUNDS : ROUNDS;
}

/* Fills in what the kernels are told. Returns how many rounds a loop has. */
static unsigned prepare_loops(struct loops *l, unsigned trial)
{
    static const uint32_t values[] = { 1, 0x100, 0x80000000u, 2, 0x10000 };
    uint32_t go = values[(trial + l->turn) % (sizeof(values) / sizeof(values[0]))];
    unsigned rounds, i;

    if (l->nested)
        l->times = outer_rounds_in(l, trial);
    rounds = rounds_in(l, trial);
    prepare_trial(l->room, trial);
    if (rounds == MOST_ROUNDS || l->times > OUTER_ROUNDS)
        l->room->plan.hold_ns = SHORT_HOLD_NS;
    memcpy(l->room->data + HANDLE_AT, &l->handle, sizeof(l->handle));
    l->room->data[BEGUN_AT] = l->room->data[OUTER_BEGUN_AT] = l->room->data[INNER_BEGUN_AT] = 0;
    memcpy(l->room->data + INNER_AT, &l->inner, sizeof(l->inner));
    memcpy(l->room->data + OUTER_AT, &l->outer, sizeof(l->outer));
    l->room->plan.skip = l->times;
    l->room->plan.withhold = l->way;
    l->room->plan.repeats = rounds;
    l->room->plan.reads_early = (trial / 2 + l->turn) % 2;
    l->room->plan.rotate = (trial + l->turn) % PATTERNS;
    l->room->plan.residents = inner_starts(l->turn);
    l->room->data[CHOICE_AT] = trial % 2;
    l->room->data[GO_AT] = go;
    l->room->data[DEFAULT_AT] = l->by_default;
    l->room->data[SETTERS_AT] = (trial + l->turn) % SETTERS;
    for (i = 0; i < 2; i++)
        l->room->data[VALUES_AT + i] = l->exact || !l->values[i] ? l->values[i] : go;
    if (l->exact && trial / 2 % 2)
        l->room->data[VALUES_AT] = NO_BODY + l->values[1];
    l->room->data[ROUNDS_AT] = rounds;
    return rounds;
}

static cudaError_t launch_beside(struct loops *l, unsigned trial, cudaStream_t stream)
{
    prepare_trial(l->room_beside, trial);
    l->room_beside->data[GO_AT] = l->room->data[GO_AT];
    memcpy(l->room_beside->data + HANDLE_AT, &l->beside, sizeof(l->beside));
    return cudaGraphLaunch(l->exec_beside, stream);
}

/* In every other trial the launches stand in two streams; one of them is by the driver. A loop of another graph stands before them, runs beside them,
 * or is not launched: `beside` is 1, 2 or 0. */
static cudaError_t run_loops(struct loops *l, unsigned trial, const struct wanted *wanted)
{
    unsigned moves = trial % 2, place = trial / 2 + l->turn, beside = place % 3;
    cudaStream_t stream[] = { l->stream[place % LOOP_STREAMS], l->stream[(place + 1) % LOOP_STREAMS] };
    cudaLaunchAttribute attribute = serialization(1);
    volatile const struct trial_state *state = &l->room->state;
    unsigned rounds = prepare_loops(l, trial), all = wanted->bodies * l->times * rounds, i;
    cudaError_t error = beside ? launch_beside(l, trial, beside == 1 ? stream[0] : l->apart) : cudaSuccess;

    for (i = 0; i < LOOPS && error == cudaSuccess; i++) {
        if (i && moves)
            error = record_and_await(l->event, stream[0], stream[1]);
        if (error == cudaSuccess)
            error = (place + i) % 2 ? graph_by_driver(l->exec, stream[i && moves]) : cudaGraphLaunch(l->exec, stream[i && moves]);
        if (error == cudaSuccess)
            error = launch_one(wanted->follower, &l->args, THREADS, stream[i && moves], &attribute, 1);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream[moves]);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->apart);
    if (error != cudaSuccess)
        return error;
    l->missing += beside && l->room_beside->state.finished != BESIDE_ROUNDS;
    l->stale += state->witnessed != 0;
    l->early += state->early != 0;
    l->missing += state->finished != all || state->left != all || state->alive != 2 * LOOPS;
    return cudaSuccess;
}

static void drop_graphs(struct loops *l)
{
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->graph)
        (void)cudaGraphDestroy(l->graph);
    l->exec = NULL;
    l->graph = NULL;
}

static void ask_runs(struct loops *l, const char *name, cudaError_t error, const struct wanted *wanted)
{
    struct ask *ask = l->ask;
    char text[112];
    unsigned trial;

    l->stale = l->early = l->missing = 0;
    if (error == cudaSuccess)
        error = make_executable(l);
    for (trial = 0; ask_goes_on(ask, trial, wanted->trials) && error == cudaSuccess; trial++) {
        if (trial && trial <= RENEWED_TRIALS)
            error = renew(l, (enum renewal)((trial + l->turn) % RENEWALS));
        if (error == cudaSuccess)
            error = run_loops(l, trial, wanted);
    }
    ask_expect(ask, name, error, cudaSuccess);
    snprintf(text, sizeof(text), "%s: rounds that read words before they were stored", name);
    ask_expect_none(ask, text, l->stale, wanted->trials);
    snprintf(text, sizeof(text), "%s: kernels that began before a round had ended, or before the trigger", name);
    ask_expect_none(ask, text, l->early, wanted->trials);
    snprintf(text, sizeof(text), "%s: other rounds or kernels than there should be", name);
    ask_expect_none(ask, text, l->missing, wanted->trials);
    drop_graphs(l);
    l->turn++;
}

static cudaError_t make_beside(struct loops *l)
{
    cudaGraphNode_t loop, node;
    cudaGraph_t body;
    cudaError_t error = cudaGraphCreate(&l->graph_beside, 0);

    if (error == cudaSuccess)
        error = ask_add_loop(&loop, l->graph_beside, &l->beside, &body);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node, body, (const void *)SYMBOL(loops_beside), &l->args_beside, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&l->exec_beside, l->graph_beside, 0) : error;
}

static cudaError_t open_streams(struct loops *l)
{
    int least, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    l->stream[0] = l->ask->stream;
    l->stream[1] = cudaStreamLegacy;
    l->stream[2] = l->ask->side;
    l->stream[3] = cudaStreamPerThread;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&l->stream[4], cudaStreamDefault, greatest);
    return error == cudaSuccess ? cudaStreamCreateWithFlags(&l->apart, cudaStreamNonBlocking) : error;
}

static int may_ask(struct loops *l, struct ask *ask)
{
    l->ask = ask;
    if (!has_conditions())
        ask_skip(ask, "loops", "the driver is older than they are");
    else if (!open_room(&l->room, &l->args) || !open_room(&l->room_beside, &l->args_beside))
        ask_skip(ask, "pinned host memory", "not given");
    else
        ask_expect(ask, "memory for copies", cudaMalloc((void **)&l->args.seen, THREADS * sizeof(uint32_t)), cudaSuccess);
    if (l->args.seen)
        ask_expect(ask, "an event", cudaEventCreateWithFlags(&l->event, cudaEventDisableTiming), cudaSuccess);
    if (l->event)
        ask_expect(ask, "streams", open_streams(l), cudaSuccess);
    if (l->apart)
        ask_expect(ask, "a loop of another graph", make_beside(l), cudaSuccess);
    return l->exec_beside != NULL;
}

static void close_loops(struct loops *l)
{
    (void)cudaEventDestroy(l->event);
    (void)cudaGraphExecDestroy(l->exec_beside);
    (void)cudaGraphDestroy(l->graph_beside);
    (void)cudaStreamDestroy(l->stream[4]);
    (void)cudaStreamDestroy(l->apart);
    (void)cudaFree(l->args.seen);
    (void)cudaFreeHost(l->room);
    (void)cudaFreeHost(l->room_beside);
}

/* No child graph holds a conditional node; a capture makes neither of them, and no edge from block starts without an event. A body of a pair is
 * asked about alone and in a loop in a loop. */
static int can_make(enum made made, enum way way)
{
    int has_body = way == AROUND_BODY || way == BEFORE_BODY;

    if (made == MADE_IN_LATER_BODY)
        return has_version(12080) && (way == BY_FULL_EDGE || way == BEFORE_SET);
    if (way == AROUND_PAIR)
        return made == MADE_OF_NODES || made == MADE_IN_LOOP;
    if (made == MADE_BY_CAPTURE)
        return !has_body && way != AROUND_CHILD && way != BY_STARTS;
    return !has_body || (made != MADE_IN_CHILD && made != MADE_TWICE);
}

static unsigned long long trials_of(const struct loops *l) { return l->ask->trials / (l->way == BY_TRIGGER && l->times == 1 ? 2 : 8); }

static void ask_loop(struct loops *l, enum made made)
{
    struct wanted wanted = { (const void *)SYMBOL(loops_follower), LOOPS, 0 };
    cudaError_t error = make_loop(l, made);
    char name[80];

    wanted.trials = trials_of(l);
    l->most = (made + l->way) % 5 == 0 ? MOST_ROUNDS : MANY_ROUNDS; /* those of each kind, in one way or two */
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
    close_loops(&l);
}

#include "loops_chosen.h"
#include "loops_mixed.h"

static const struct pair loops_pairs[] = {
    PAIR_ASK("bodies", ask_loops),
    PAIR_ASK("chosen", ask_chosen),
    PAIR_ASK("mixed", ask_mixed),
};
IMAGE(loops, loops_pairs)
#endif
