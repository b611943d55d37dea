/* loops_chosen.h - the pair of loops.cu with bodies that a kernel decides about. */
#ifndef LOOPS_CHOSEN_H_INCLUDED
#define LOOPS_CHOSEN_H_INCLUDED

#include "loops_setters.h"

#define CHOOSING_BLOCKS 3u

enum chosen { CHOSEN_IF, CHOSEN_LOOP, CHOSEN_OF_TWO, CHOSEN_ELSE, CHOSEN_OF_FOUR, DEFAULT_IF, DEFAULT_OF_TWO, CHOSENS };
static const char *const chosen_name[CHOSENS] = { "a body that a kernel chooses", "a loop that a kernel begins", "a body of two that a kernel chooses",
                                                  "a second body that a kernel chooses", "a body of four that a kernel chooses",
                                                  "a body that runs by default", "a body of two that runs by default" };

/* A handle without a value of its own. The last one of several bodies is asked about, the others are empty. */
static cudaError_t add_chosen(struct loops *l, enum chosen chosen, cudaGraphNode_t *node)
{
    enum cudaGraphConditionalNodeType type = chosen == CHOSEN_LOOP ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    unsigned bodies = 1;
    cudaGraph_t body[4];
    cudaError_t error;

    l->values[0] = 0;
    l->values[1] = 1;
    l->exact = 0;
#if CUDART_VERSION >= 12080
    if (chosen >= CHOSEN_OF_TWO && has_version(12080)) {
        type = chosen == CHOSEN_ELSE ? cudaGraphCondTypeIf : cudaGraphCondTypeSwitch;
        bodies = chosen == CHOSEN_OF_FOUR ? 4 : 2;
        l->exact = chosen != CHOSEN_ELSE;
        l->values[0] = chosen == CHOSEN_ELSE;
        l->values[1] = chosen == CHOSEN_ELSE ? 0 : bodies - 1;
    }
#endif
    error = ask_add_chosen(node, l->graph, l->graph, &l->handle, type, bodies, body);
    return error == cudaSuccess ? add_pair(l, body[bodies - 1]) : error;
}

/* A handle by whose default value the body runs, whose last kernel sets 0: the next launch begins with the default again. */
static cudaError_t make_default(struct loops *l, enum chosen chosen)
{
    enum cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
    cudaGraphNode_t node = NULL;
    unsigned bodies = 1;
    cudaGraph_t body[2];
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

#if CUDART_VERSION >= 12080
    if (chosen == DEFAULT_OF_TWO && has_version(12080)) {
        type = cudaGraphCondTypeSwitch;
        bodies = 2;
    }
#endif
    l->updates = l->turn % 3 == 1;
    l->lone = l->times = 1;
    if (error == cudaSuccess)
        error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 1, cudaGraphCondAssignDefault);
    if (error == cudaSuccess)
        error = ask_add_conditional(&node, l->graph, l->handle, type, bodies, body);
    if (error == cudaSuccess)
        error = add_pair(l, body[bodies - 1]);
    return error == cudaSuccess ? add_around_loop(l, &node, (const void *)SYMBOL(loops_after)) : error;
}

/* The kernel that decides; in every second turn a programmatic edge leads to it. */
static cudaError_t add_choosing(struct loops *l, cudaGraphNode_t *chooses)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t leads;
    cudaError_t error = ask_add_kernel_after(chooses, l->graph, NULL, 0, (const void *)SYMBOL(loops_chooses), &l->args, CHOOSING_BLOCKS, THREADS);

    if (error != cudaSuccess || l->turn % 2)
        return error;
    error = ask_add_kernel(&leads, l->graph, (const void *)SYMBOL(loops_leads), &l->args, THREADS);
    return error == cudaSuccess ? edges_add(l->graph, &leads, chooses, &data, 1) : error;
}

static cudaError_t make_chosen(struct loops *l, enum chosen chosen)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t chooses, node = NULL;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    l->updates = l->turn % 3 == 1;
    l->lone = chosen != CHOSEN_LOOP;
    l->times = 1;
    if (error == cudaSuccess)
        error = add_chosen(l, chosen, &node);
    if (error == cudaSuccess)
        error = add_choosing(l, &chooses);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &chooses, &node, &full, 1);
    return error == cudaSuccess ? add_around_loop(l, &node, (const void *)SYMBOL(loops_after_choice)) : error;
}

/* Of two launches one runs the body, or both do. */
static void ask_choice(struct loops *l, enum chosen chosen)
{
    int by_default = chosen >= DEFAULT_IF;
    struct wanted wanted = { by_default ? (const void *)SYMBOL(loops_follower) : (const void *)SYMBOL(loops_follows_choice),
                             by_default ? LOOPS : LOOPS / 2, 0 };
    cudaError_t error = by_default ? make_default(l, chosen) : make_chosen(l, chosen);
    char name[80];

    l->most = l->way == BY_FULL_EDGE ? MOST_ROUNDS : MANY_ROUNDS;
    wanted.trials = l->way == BY_TRIGGER && !by_default ? l->ask->trials : l->ask->trials / 8;
    snprintf(name, sizeof(name), "%s%s", chosen_name[chosen], way_name[l->way]);
    ask_runs(l, name, error, &wanted);
}

/* ---- many of them ---- */

#define MANY_CHOSEN 20u
#define RAN_AT 40u             /* behind the handles: a word of each body, how often it ran */
#define MANY_CHOSEN_LAUNCHES 4u

/* Whether this one of many bodies runs in that launch: the host has to know, too. */
#define IS_CHOSEN(which, launch) (((which) * 7 + (which) / 3 + (launch)) % 2)

/* Each thread decides about a body. */
KERNEL(loops_chooses_many)
{
    struct trial_plan plan = k_plan(&args);

    k_set_condition(k_load64_relaxed(args.data + 2 * k_thread()), IS_CHOSEN(k_thread(), plan.repeats));
}

KERNEL(loops_chosen_body) { k_store(args.data, k_load(args.data) + 1); }

/* The kernel, and after it the bodies, none of them after another one. */
static cudaError_t make_many_chosen(struct loops *l)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t chooses, node, kernel;
    cudaGraphConditionalHandle handle;
    struct kernel_args args = l->args;
    cudaGraph_t body;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);
    unsigned i;

    if (error == cudaSuccess)
        error = ask_add_kernel(&chooses, l->graph, (const void *)SYMBOL(loops_chooses_many), &l->args, MANY_CHOSEN);
    for (i = 0; i < MANY_CHOSEN && error == cudaSuccess; i++) {
        error = ask_add_chosen(&node, l->graph, l->graph, &handle, cudaGraphCondTypeIf, 1, &body);
        memcpy(l->room->data + 2 * i, &handle, sizeof(handle));
        args.data = l->args.data + RAN_AT + i;
        if (error == cudaSuccess)
            error = ask_add_kernel(&kernel, body, (const void *)SYMBOL(loops_chosen_body), &args, 1);
        if (error == cudaSuccess)
            error = edges_add(l->graph, &chooses, &node, &full, 1);
    }
    return error == cudaSuccess ? cudaGraphInstantiate(&l->exec, l->graph, 0) : error;
}

/* A kernel decides about twenty bodies at once, each by a handle of its own. */
static void ask_many_chosen(struct loops *l)
{
    unsigned launch, i, wrong = 0, ran;
    cudaError_t error;

    l->graph = NULL;
    l->exec = NULL;
    error = make_many_chosen(l);
    for (launch = 0; launch < MANY_CHOSEN_LAUNCHES && error == cudaSuccess; launch++) {
        l->room->plan.repeats = launch;
        memset(l->room->data + RAN_AT, 0, MANY_CHOSEN * sizeof(uint32_t));
        error = cudaGraphLaunch(l->exec, l->ask->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(l->ask->stream);
        for (i = 0; i < MANY_CHOSEN && error == cudaSuccess; i++) {
            ran = *(volatile uint32_t *)&l->room->data[RAN_AT + i];
            wrong += ran != IS_CHOSEN(i, launch);
        }
    }
    ask_expect(l->ask, "launches of twenty bodies that a kernel chooses", error, cudaSuccess);
    ask_expect_number(l->ask, "of twenty bodies that a kernel chooses, those that did not run as it chose", (long)wrong, 0);
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->graph)
        (void)cudaGraphDestroy(l->graph);
}

static void ask_chosen(struct ask *ask)
{
    struct loops l = PDL_ZERO;
    unsigned chosen, way, setting;

    if (!may_ask(&l, ask))
        return;
    for (chosen = 0; chosen < CHOSENS; chosen++)
        for (way = 0; way < (chosen >= DEFAULT_IF ? BY_STARTS : WAYS); way++) {
            l.way = (enum way)way;
            if (l.way == AROUND_PAIR && chosen != CHOSEN_IF && chosen != CHOSEN_LOOP)
                continue;
            ask_choice(&l, (enum chosen)chosen);
        }
    ask_many_chosen(&l);
    for (setting = 0; setting < SETTINGS; setting++)
        ask_setting(&l, (enum setting)setting);
    close_loops(&l);
}

#endif
