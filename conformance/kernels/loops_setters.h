/* loops_setters.h - bodies and loops of loops.cu whose condition one of two kernels sets, both, or neither. */
#ifndef LOOPS_SETTERS_H_INCLUDED
#define LOOPS_SETTERS_H_INCLUDED

enum setting { SETS_BARE_IF, SETS_IF, SETS_OF_TWO, SETS_OF_FOUR, BEGINS_LOOP, ENDS_LOOP, SETTINGS };
static const char *const setting_name[SETTINGS] = {
    "a body without a default value that two kernels choose", "a body that two kernels may choose",
    "a body of two that two kernels may forbid",
    "a body of four that two kernels may choose", "a loop that two kernels may begin", "a loop that two kernels may forbid"
};

static int is_loop(enum setting setting) { return setting == BEGINS_LOOP || setting == ENDS_LOOP; }

/* The last one of several bodies is asked about, the others are empty. */
static cudaError_t add_settable(struct loops *l, enum setting setting, cudaGraphNode_t *node)
{
    enum cudaGraphConditionalNodeType type = is_loop(setting) ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    unsigned bodies = 1, runs = setting == SETS_OF_TWO || setting == ENDS_LOOP;
    cudaGraph_t body[4];
    cudaError_t error;

    l->values[0] = 0;
    l->values[1] = 1;
    l->exact = 0;
#if CUDART_VERSION >= 12080
    if ((setting == SETS_OF_TWO || setting == SETS_OF_FOUR) && has_version(12080)) {
        type = cudaGraphCondTypeSwitch;
        bodies = setting == SETS_OF_TWO ? 2 : 4;
        l->exact = 1;
        l->values[1] = bodies - 1;
    }
#endif
    l->by_default = setting == SETS_BARE_IF ? NO_DEFAULT : runs;
    error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, l->values[runs],
                                             setting == SETS_BARE_IF ? 0 : cudaGraphCondAssignDefault);
    if (error == cudaSuccess)
        error = ask_add_conditional(node, l->graph, l->handle, type, bodies, body);
    return error == cudaSuccess ? add_pair(l, body[bodies - 1]) : error;
}

/* The first kernel that may set the condition: a node of the graph, or in a child graph or a body of it, by turns. */
static cudaError_t add_first_setter(struct loops *l, cudaGraphNode_t *node)
{
    const void *const function = (const void *)SYMBOL(loops_sets_first);
    cudaGraphNode_t kernel;
    cudaGraph_t body;
    cudaError_t error;

    if (l->turn % 3 == 0)
        return ask_add_kernel(node, l->graph, function, &l->args, THREADS);
    if (l->turn % 3 == 1)
        return add_child(node, l->graph, NULL, 0, function, &l->args, THREADS);
    error = ask_add_if(node, l->graph, l->graph, 1, &body);
    return error == cudaSuccess ? ask_add_kernel(&kernel, body, function, &l->args, THREADS) : error;
}

/* Both, one that sets nothing, and the node. In every second turn programmatic edges lead from kernel to kernel. */
static cudaError_t add_setters(struct loops *l, const cudaGraphNode_t *conditional)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0), data = l->turn / 3 % 2 ? full : edges_data(1, 0, 1);
    cudaGraphNode_t first, second, third;
    cudaError_t error = add_first_setter(l, &first);

    if (error == cudaSuccess)
        error = ask_add_kernel(&second, l->graph, (const void *)SYMBOL(loops_sets_second), &l->args, THREADS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&third, l->graph, (const void *)SYMBOL(loops_sets_nothing), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &first, &second, l->turn % 3 == 0 ? &data : &full, 1);
    if (error == cudaSuccess)
        error = edges_add(l->graph, &second, &third, &data, 1);
    return error == cudaSuccess ? edges_add(l->graph, &third, conditional, &full, 1) : error;
}

/* Of two launches one runs the body. */
static void ask_setting(struct loops *l, enum setting setting)
{
    struct wanted wanted = { (const void *)SYMBOL(loops_follows_choice), LOOPS / 2, l->ask->trials / 4 };
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    l->way = BY_TRIGGER;
    l->most = MANY_ROUNDS;
    l->updates = 0;
    l->lone = !is_loop(setting);
    l->times = 1;
    if (error == cudaSuccess)
        error = add_settable(l, setting, &node);
    if (error == cudaSuccess)
        error = add_setters(l, &node);
    if (error == cudaSuccess)
        error = add_around_loop(l, &node, (const void *)SYMBOL(loops_after_choice));
    ask_runs(l, setting_name[setting], error, &wanted);
}

#endif
