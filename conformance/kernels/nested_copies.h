/* nested_copies.h - the part of nested.cu with several child graphs of one graph under way at once: in each the reader begins after the
 * trigger of its own writer, and its wait covers that one. */
#ifndef NESTED_COPIES_H_INCLUDED
#define NESTED_COPIES_H_INCLUDED

#define COPIES 4u
#define COPY_TRIALS 12u

/* Where the plan says so it keeps its trigger back, and watches, bounded, for its reader, who is not to come before that. */
KERNEL(nested_copied_writer)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0 && plan.withhold && k_poll(args.state, &args.state->alive, 1, plan.hold_ns))
        k_add(&args.state->early, 1);
    slow_stores(&args);
}

struct copies {
    struct nested *n;          /* whose words they share */
    struct host_room *room[COPIES];
    struct kernel_args args[COPIES];
};

static int open_copies(struct copies *c, struct nested *n)
{
    unsigned i, opened = 0;

    c->n = n;
    for (i = 0; i < COPIES; i++) {
        opened += open_room(&c->room[i], &c->args[i]) != 0;
        c->args[i].data = n->args.data + 4 * i * PART; /* a writer's part and one that readers look at beside it */
        c->args[i].seen = c->args[i].data + 2 * PART;
    }
    return opened == COPIES;
}

static void close_copies(struct copies *c)
{
    unsigned i;

    for (i = 0; i < COPIES; i++)
        (void)cudaFreeHost(c->room[i]);
}

static cudaError_t give_copy(cudaGraphNode_t node, const void *function, struct kernel_args *args)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(function, PART, values);

    values[0] = args;
    return cudaGraphKernelNodeSetParams(node, &params);
}

/* What lies in the child graph node gets memory of its own. */
static cudaError_t part_copy(struct copies *c, cudaGraphNode_t child, unsigned i)
{
    cudaGraph_t inside = NULL;
    cudaGraphNode_t from = NULL, to = NULL;
    cudaGraphEdgeData data = PDL_ZERO;
    size_t count = 1;
    cudaError_t error = cudaGraphChildGraphNodeGetGraph(child, &inside);

    if (error == cudaSuccess)
        error = edges_of_graph(inside, &from, &to, &data, &count);
    if (error == cudaSuccess)
        error = give_copy(from, (const void *)SYMBOL(nested_copied_writer), &c->args[i]);
    return error == cudaSuccess ? give_copy(to, (const void *)SYMBOL(nested_waiting_reader), &c->args[i]) : error;
}

#define CHILDREN_BEFORE 32u

/* Child graphs without nodes. */
static cudaError_t add_children_before(cudaGraph_t graph)
{
    cudaGraphNode_t child;
    cudaGraph_t inside;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < CHILDREN_BEFORE && error == cudaSuccess; i++)
        error = ask_add_empty_child(&child, graph, &inside);
    return error;
}

/* many: after many other child graphs. */
static cudaError_t make_copies(struct copies *c, int many, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL, source = NULL;
    cudaGraphNode_t node[2], child;
    unsigned i;
    cudaError_t error = cudaGraphCreate(&source, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], source, (const void *)SYMBOL(nested_copied_writer), &c->args[0], PART);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[1], source, (const void *)SYMBOL(nested_waiting_reader), &c->args[0], PART);
    if (error == cudaSuccess)
        error = add_edge(source, node[0], node[1], 1);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess && many)
        error = add_children_before(graph);
    for (i = 0; i < COPIES && error == cudaSuccess; i++) {
        error = cudaGraphAddChildGraphNode(&child, graph, NULL, 0, source);
        if (error == cudaSuccess && i)
            error = part_copy(c, child, i);
    }
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (source)
        (void)cudaGraphDestroy(source);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static unsigned copies_are_stale(struct copies *c)
{
    static uint32_t words[4 * COPIES * PART];
    unsigned i, k, stale = 0;

    if (cudaMemcpy(words, c->n->args.data, sizeof(words), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (i = 0; i < COPIES; i++)
        for (k = 0; k < PART; k++)
            stale |= words[(4 * i + 2) * PART + k] != words_fresh(c->room[i]->plan.key, k);
    return stale;
}

/* How many readers began while their own writer kept its trigger back. */
static unsigned early_copies(const struct copies *c)
{
    unsigned i, early = 0;

    for (i = 0; i < COPIES; i++)
        early += c->room[i]->state.early != 0;
    return early;
}

/* Each in turn has the slowest writer; each in turn triggers at once, while the other writers keep their triggers back, in turn for longer. */
static cudaError_t launch_copies(struct copies *c, unsigned trial, cudaGraphExec_t exec)
{
    unsigned i;

    for (i = 0; i < COPIES; i++) {
        prepare_trial(c->room[i], (trial + 1) * COPIES + i);
        c->room[i]->plan.hold_ns = 3000 + (trial + i) % COPIES * 6000;
        c->room[i]->plan.withhold = trial % COPIES != i;
    }
    return launch_nested(c->n, trial, exec);
}

static void ask_copies_around(struct ask *ask, struct nested *n)
{
    struct copies c = PDL_ZERO;
    cudaGraphExec_t exec[2] = { NULL, NULL };
    unsigned trial, stale = 0, early = 0;
    cudaError_t error = open_copies(&c, n) ? make_copies(&c, 0, &exec[0]) : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = make_copies(&c, 1, &exec[1]);
    for (trial = 0; trial < COPY_TRIALS && error == cudaSuccess; trial++) {
        error = launch_copies(&c, trial, exec[trial / COPIES % 2]);
        stale += error == cudaSuccess && copies_are_stale(&c);
        early += error == cudaSuccess ? early_copies(&c) : 0;
    }
    ask_expect(ask, "launches of four child graphs of one graph", error, cudaSuccess);
    ask_expect_none(ask, "stale in one of four child graphs of one graph", stale, COPY_TRIALS);
    ask_expect_none(ask, "readers in one of four child graphs of one graph that began before their own writer had triggered", early,
                    COPIES * COPY_TRIALS);
    for (trial = 0; trial < 2; trial++)
        if (exec[trial])
            (void)cudaGraphExecDestroy(exec[trial]);
    close_copies(&c);
}

#endif
