/* loops.cu - loops of conditional nodes whose bodies hold a programmatic edge. GPU only: no kernel of the model sets a condition.
 *
 * pair    rules     what is launched
 * bodies  EDGE-26b  a loop whose body is a kernel that triggers and one that waits, added as nodes, captured, or inside a child graph of the
 *                   body; after the loop a kernel, and after the graph one in its stream; all of that twice
 *
 * Mutant `nowait`: nobody waits.
 */
#include "gpu_only.h"

#if defined(PDL_MODEL) || CUDART_VERSION < 12040
IMAGE_WITHOUT_PAIRS(loops)
#else
#include "graph_ask.h"
#include "host_room.h"

#ifdef MUTANT_nowait
#define WAITS 0
#else
#define WAITS 1
#endif

#define ROUNDS 5u              /* of each loop */
#define LOOPS 2u               /* one after the other */
#define THREADS 16u            /* of each kernel in a loop, a word each */
#define HANDLE_AT 32u          /* of the words */

/* A round begins once the one before it has ended; its kernel stores late. left: the rounds that began, finished: those that ended. */
KERNEL(loops_first)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished);

    if (k_thread() == 0) {
        if (k_load_relaxed(&args.state->left) != round)
            k_add(&args.state->early, 1);
        k_add(&args.state->left, 1);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, round * THREADS + k_thread()));
}

/* Ends the round late, and decides whether there is another one; never more than all loops have. witnessed: words that were not the round's. */
KERNEL(loops_second)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round, ended;

    if (WAITS)
        k_wait_device();
    round = k_load_relaxed(&args.state->finished);
    if (k_load(args.data + k_thread()) != words_fresh(plan.key, round * THREADS + k_thread()))
        k_add(&args.state->witnessed, 1);
    k_barrier();
    if (k_thread() != 0)
        return;
    k_delay(args.state, plan.hold_ns);
    ended = round + 1;
    k_store_relaxed(&args.state->finished, ended);
    cudaGraphSetConditional(*(const cudaGraphConditionalHandle *)(args.data + HANDLE_AT), ended % ROUNDS != 0 && ended < LOOPS * ROUNDS);
}

DEVICE_FN void comes_after(const struct kernel_args *args)
{
    uint32_t ended = k_load_relaxed(&args->state->finished);

    if (ended == 0 || ended % ROUNDS != 0)
        k_add(&args->state->early, 1);
    k_add(&args->state->alive, 1);
}

KERNEL(loops_after) { comes_after(&args); }

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
    cudaGraphConditionalHandle handle;
    unsigned stale, early, missing;
};

enum made { MADE_OF_NODES, MADE_BY_CAPTURE, MADE_IN_CHILD, MADES };
static const char *const made_name[MADES] = { "a loop", "a loop whose body was captured", "a loop with a child graph" };

static cudaError_t add_pair(struct loops *l, cudaGraph_t body)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t first, second;
    cudaError_t error = ask_add_kernel(&first, body, (const void *)SYMBOL(loops_first), &l->args, THREADS);

    if (error == cudaSuccess)
        error = ask_add_kernel(&second, body, (const void *)SYMBOL(loops_second), &l->args, THREADS);
    return error == cudaSuccess ? edges_add(body, &first, &second, &data, 1) : error;
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
        error = launch_one((const void *)SYMBOL(loops_second), &l->args, THREADS, stream, &attribute, 1);
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

static cudaError_t make_loop(struct loops *l, enum made made)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t loop, after;
    cudaGraph_t body;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 1, cudaGraphCondAssignDefault);
    if (error == cudaSuccess)
        error = ask_add_conditional(&loop, l->graph, l->handle, cudaGraphCondTypeWhile, 1, &body);
    if (error == cudaSuccess)
        error = made == MADE_OF_NODES ? add_pair(l, body) : made == MADE_BY_CAPTURE ? capture_pair(l, body) : nest_pair(l, body);
    if (error == cudaSuccess)
        error = ask_add_kernel(&after, l->graph, (const void *)SYMBOL(loops_after), &l->args, 1);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &loop, &after, &full, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&l->exec, l->graph, 0) : error;
}

static cudaError_t run_loops(struct loops *l, unsigned trial)
{
    cudaLaunchAttribute attribute = serialization(1);
    volatile const struct trial_state *state = &l->room->state;
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare_trial(l->room, trial);
    memcpy(l->room->data + HANDLE_AT, &l->handle, sizeof(l->handle));
    for (i = 0; i < LOOPS && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(l->exec, l->ask->stream);
        if (error == cudaSuccess)
            error = launch_one((const void *)SYMBOL(loops_follower), &l->args, 1, l->ask->stream, &attribute, 1);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->ask->stream);
    if (error != cudaSuccess)
        return error;
    l->stale += state->witnessed != 0;
    l->early += state->early != 0;
    l->missing += state->finished != LOOPS * ROUNDS || state->left != LOOPS * ROUNDS || state->alive != 2 * LOOPS;
    return cudaSuccess;
}

static void ask_made(struct loops *l, enum made made)
{
    struct ask *ask = l->ask;
    cudaError_t error = make_loop(l, made);
    char text[96];
    unsigned trial;

    l->stale = l->early = l->missing = 0;
    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++)
        error = run_loops(l, trial);
    ask_expect(ask, made_name[made], error, cudaSuccess);
    snprintf(text, sizeof(text), "%s: rounds that read words before they were stored", made_name[made]);
    ask_expect_none(ask, text, l->stale, ask->trials);
    snprintf(text, sizeof(text), "%s: kernels that began before a round had ended", made_name[made]);
    ask_expect_none(ask, text, l->early, ask->trials);
    snprintf(text, sizeof(text), "%s: other rounds or kernels than there should be", made_name[made]);
    ask_expect_none(ask, text, l->missing, ask->trials);
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->graph)
        (void)cudaGraphDestroy(l->graph);
    l->exec = NULL;
    l->graph = NULL;
}

static void ask_loops(struct ask *ask)
{
    struct loops l = PDL_ZERO;
    unsigned made;

    l.ask = ask;
    if (!has_conditions()) {
        ask_skip(ask, "loops", "the driver is older than they are");
        return;
    }
    if (!open_room(&l.room, &l.args)) {
        ask_skip(ask, "pinned host memory", "not given");
        return;
    }
    for (made = 0; made < MADES; made++)
        ask_made(&l, (enum made)made);
    (void)cudaFreeHost(l.room);
}

static const struct pair loops_pairs[] = {
    PAIR_ASK("bodies", ask_loops),
};
IMAGE(loops, loops_pairs)
#endif
