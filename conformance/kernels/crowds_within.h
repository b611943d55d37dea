/* crowds_within.h - what crowds.cu asks of blocks of one grid that hand words to each other, in grids of each kind, launched in each way. */
#ifndef CROWDS_WITHIN_H_INCLUDED
#define CROWDS_WITHIN_H_INCLUDED

#define WITHIN 6u
#define WITHIN_COOPERATIVE 2u
#define WITHIN_SIX (WITHIN - 1u)
enum { WITHIN_LAYERS = WITHIN, WITHIN_WAITED, WITHIN_NODE, WITHIN_CAPTURED, WITHIN_LONG, WITHIN_CHILD, WITHIN_BODY, ALL_WITHIN };
static const char *const within_name[] = { "in an ordinary grid", "in a cluster", "in a cooperative grid", "in another memory-sync domain",
                                           "in a grid of high priority", "in a grid with attribute 6", "in a grid of two layers or rows",
                                           "in a grid that has waited", "in a node",
                                           "in a captured grid", "in a grid with 2,000 bytes of arguments", "in a child graph",
                                           "in a body or a loop of a conditional node" };

static cudaLaunchAttribute within_attribute(const struct crowd *crowd, unsigned how)
{
    switch (how) {
    case 1: return in_clusters(2);
    case WITHIN_COOPERATIVE: return cooperatively();
    case 3: return in_remote_domain();
    case 4: return of_priority(crowd->greatest);
    default: return serialization(1);
    }
}

/* Two layers, or rows, of two blocks each. Both givers store the same words. Each block has one thread, which alone knows what it has seen. */
static cudaError_t launch_layers(const struct crowd *crowd, int rows, int attributed)
{
    struct kernel_args args = crowd->args;
    cudaLaunchAttribute six = serialization(1);
    cudaLaunchConfig_t config = one_block(1, crowd->ask->stream);
    void *params[1];

    params[0] = &args;
    config.gridDim.x = 2;
    config.gridDim.y = rows ? 2 : 1;
    config.gridDim.z = rows ? 1 : 2;
    config.attrs = &six;
    config.numAttrs = attributed ? 1 : 0;
    return cudaLaunchKernelExC(&config, (const void *)SYMBOL(crowds_both), params);
}

/* After another kernel, which stores nothing that they use; captured, or not. */
static cudaError_t launch_waited(const struct crowd *crowd, unsigned blocks, unsigned threads, int captured)
{
    cudaStream_t stream = crowd->ask->stream;
    cudaError_t error = captured ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : cudaSuccess;

    if (error != cudaSuccess)
        return error;
    error = launch_crowd((const void *)SYMBOL(crowds_tick), &crowd->args, 1, 1, stream, 0);
    if (error == cudaSuccess)
        error = launch_crowd((const void *)SYMBOL(crowds_both_waited), &crowd->args, blocks, threads, stream, 1);
    return captured ? ask_run_capture(stream, error) : error;
}

static cudaError_t launch_captured(const struct crowd *crowd, unsigned blocks, unsigned threads)
{
    cudaStream_t stream = crowd->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error == cudaSuccess)
        error = ask_run_capture(stream, launch_crowd((const void *)SYMBOL(crowds_both), &crowd->args, blocks, threads, stream, 0));
    return error;
}

/* A launch that hands nothing over: its blocks are others. */
static cudaError_t run_for_nothing(struct crowd *crowd, cudaGraphExec_t exec)
{
    struct trial_state empty = PDL_ZERO;
    struct trial_plan plan = crowd->room->plan;
    cudaError_t error;

    crowd->room->plan.withhold = crowd->room->plan.skip = plan.words;
    error = cudaGraphLaunch(exec, crowd->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(crowd->ask->stream);
    crowd->room->plan = plan;
    crowd->room->state = empty;
    return error;
}

/* Every other graph is launched a second time, and asked about then. */
static cudaError_t run_graph(struct crowd *crowd, cudaGraph_t graph, int again)
{
    cudaGraphExec_t exec;
    cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);

    if (error != cudaSuccess)
        return error;
    if (again)
        error = run_for_nothing(crowd, exec);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, crowd->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(crowd->ask->stream);
    (void)cudaGraphExecDestroy(exec);
    return error;
}

#if CUDART_VERSION >= 12040
/* After the first round of a loop, in which nothing was handed over: these two blocks meet in the second one. */
struct within_turn {
    uint32_t *giver, *taker, *state; /* where the plan has them; all words of the state */
    uint64_t handle;
    uint32_t gives, takes, none;
};

KERNEL_OF(crowds_within_turns, struct within_turn)
{
    uint32_t is_first = k_load_relaxed(args.giver) == args.none, i;

    for (i = 0; i < sizeof(struct trial_state) / 4 && is_first; i++)
        k_store_relaxed(args.state + i, 0);
    if (is_first) {
        k_store_relaxed(args.giver, args.gives);
        k_store_relaxed(args.taker, args.takes);
    }
    k_set_condition(args.handle, is_first);
}

static cudaError_t launch_in_loop(struct crowd *crowd, unsigned blocks, unsigned threads)
{
    struct trial_plan *plan = (struct trial_plan *)(uintptr_t)crowd->args.plan; /* as the device has it */
    struct within_turn turn = { &plan->withhold, &plan->skip, (uint32_t *)(void *)crowd->args.state, 0, 0, 0, crowd->room->plan.words };
    struct cudaKernelNodeParams params;
    cudaGraphConditionalHandle handle;
    cudaGraph_t graph, body = NULL;
    cudaGraphNode_t loop, node, last;
    void *values[1];
    cudaError_t error = cudaGraphCreate(&graph, 0);

    turn.gives = crowd->room->plan.withhold;
    turn.takes = crowd->room->plan.skip;
    crowd->room->plan.withhold = crowd->room->plan.skip = turn.none;
    if (error == cudaSuccess)
        error = ask_add_loop(&loop, graph, &handle, &body);
    if (error == cudaSuccess)
        error = ask_add_kernel_after(&node, body, NULL, 0, (const void *)SYMBOL(crowds_both), &crowd->args, blocks, threads);
    if (error == cudaSuccess) {
        turn.handle = handle;
        values[0] = &turn;
        params = one_block_node((const void *)SYMBOL(crowds_within_turns), 1, values);
        error = cudaGraphAddKernelNode(&last, body, &node, 1, &params);
    }
    if (error == cudaSuccess)
        error = run_graph(crowd, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}
#endif

/* As a node of a graph, of a child graph, or of the body of a conditional node. */
static cudaError_t launch_node(struct crowd *crowd, unsigned blocks, unsigned threads, unsigned how, int again)
{
    cudaGraph_t graph, inside = NULL;
    cudaGraphNode_t node;
    cudaError_t error;

#if CUDART_VERSION >= 12040
    if (how == WITHIN_BODY && again)
        return launch_in_loop(crowd, blocks, threads);
#endif
    error = cudaGraphCreate(&graph, 0);
    inside = graph;
    if (error == cudaSuccess && how == WITHIN_CHILD)
        error = cudaGraphCreate(&inside, 0);
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && how == WITHIN_BODY)
        error = ask_add_if(&node, graph, graph, 1, &inside);
#endif
    if (error == cudaSuccess)
        error = ask_add_kernel_after(&node, inside, NULL, 0, (const void *)SYMBOL(crowds_both), &crowd->args, blocks, threads);
    if (error == cudaSuccess && how == WITHIN_CHILD)
        error = cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inside); /* clones it */
    if (error == cudaSuccess)
        error = run_graph(crowd, graph, again);
    if (how == WITHIN_CHILD && inside)
        (void)cudaGraphDestroy(inside);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Every other grid of its kind has attribute 6 as well, or is in another memory-sync domain; if it is there anyway, it is in clusters. */
static cudaError_t run_within(struct crowd *crowd, unsigned how, unsigned trial)
{
    cudaStream_t stream = crowd->ask->stream;
    unsigned round = trial / ALL_WITHIN, threads = round % 3 ? HANDERS : 1, small = how == WITHIN_COOPERATIVE || how == WITHIN_LAYERS;
    const struct seat *seat = &seats[round / 3 % (small ? SMALL_SEATS : SEATS)];
    cudaLaunchAttribute attribute[2] = { within_attribute(crowd, how), round / 4 % 2 ? serialization(1) : within_attribute(crowd, how == 3 ? 1 : 3) };
    unsigned attributes = how == 0 ? 0 : how != WITHIN_SIX && round / 2 % 2 ? 2 : 1;
    cudaError_t error;

    prepare_seat(crowd, seat, trial, round >= ASK_TRIALS / 2);
    switch (how) {
    case WITHIN_LAYERS: error = launch_layers(crowd, round % 2 != 0, round / 2 % 2 != 0); break;
    case WITHIN_WAITED: error = launch_waited(crowd, seat->blocks, threads, round / 2 % 2 != 0); break;
    case WITHIN_NODE:
    case WITHIN_CHILD:
    case WITHIN_BODY: error = launch_node(crowd, seat->blocks, threads, how, round % 2 != 0); break;
    case WITHIN_LONG:
        error = launch_with_long_args((const void *)SYMBOL(crowds_both_long), &crowd->args, seat->blocks, threads, 0, crowd->ask->stream, NULL, 0);
        break;
    case WITHIN_CAPTURED: error = launch_captured(crowd, seat->blocks, threads); break;
    default:
        error = launch_blocks((const void *)SYMBOL(crowds_both), &crowd->args, seat->blocks, threads, stream, attribute, attributes);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    crowd->missed += error == cudaSuccess && is_raised_wrongly(crowd, how == WITHIN_LAYERS ? 1 : threads);
    return error;
}

#include "crowds_kept.h"
#include "crowds_barriers.h"
#include "crowds_frames.h"
#include "crowds_accesses.h"
#include "crowds_counted.h"
#include "crowds_tickets.h"

static void ask_within(struct ask *ask)
{
    struct crowd crowd = PDL_ZERO;
    unsigned wrong[ALL_WITHIN] = { 0 }, seen[ALL_WITHIN] = { 0 }, trial, how, ways = has_conditions() ? (unsigned)ALL_WITHIN : (unsigned)WITHIN_BODY;
    cudaError_t error = open_crowd(&crowd, ask);

    if (error == cudaSuccess)
        error = open_words(&crowd);
    for (trial = 0; ask_goes_on(ask, trial, ways * (ASK_TRIALS / 2 + RELEASED / 4)) && error == cudaSuccess; trial++) {
        how = trial % ways;
        error = run_within(&crowd, how, trial);
        seen[how] += error == cudaSuccess && crowd.room->state.witnessed;
        wrong[how] += error == cudaSuccess && (crowd.room->state.early || crowd.room->state.finished != (how == WITHIN_LAYERS ? 4 : 2));
    }
    ask_expect(ask, "grids in which blocks meet", error, cudaSuccess);
    for (how = 0; how < ways; how++) {
        if (error == cudaSuccess && seen[how] < ASK_TRIALS / 4)
            ask_skip(ask, within_name[how], "the two blocks hardly met");
        ask_expect_none(ask, within_name[how], wrong[how], seen[how]);
    }
    ask_expect_none(ask, "trials that left another flag than was raised", crowd.missed, trial);
    if (error == cudaSuccess)
        ask_kept(&crowd);
    if (error == cudaSuccess)
        ask_meetings(&crowd);
    if (error == cudaSuccess)
        ask_frames(&crowd);
    if (error == cudaSuccess)
        ask_grown(&crowd);
    if (error == cudaSuccess)
        ask_counted(&crowd);
    if (error == cudaSuccess)
        ask_accesses(&crowd);
    if (error == cudaSuccess)
        ask_tickets(&crowd);
    (void)cudaFree(crowd.words[1]);
    (void)cudaFreeHost(crowd.room);
}

#endif
