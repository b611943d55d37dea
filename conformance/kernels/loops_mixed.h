/* loops_mixed.h - the pair of loops.cu whose loops and bodies hold kernels, child graphs and conditional nodes, as drawn from the seed. */
#ifndef LOOPS_MIXED_H_INCLUDED
#define LOOPS_MIXED_H_INCLUDED

#define MIXED_NODES 8u         /* at most, before the last node of a body */
#define FEWEST_MIXED 2u
#define BEFORE_AT MIXED_NODES  /* after the words in which nodes count their rounds: for each, a bit for every node that comes before it */
#define AFTER_SET 0x80000000u  /* the bit of a memset with which each round begins */
#define MIXED_ROUNDS 3u

enum mixed_kind { MIXED_KERNEL, MIXED_CHILD, MIXED_IF, MIXED_ELSE, MIXED_SWITCH };

/* Runs once in each round, after the nodes that come before it. args.input: the word in which it counts its rounds. */
KERNEL(loops_node)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t round = k_load_relaxed(&args.state->finished), before = k_load(args.input + BEFORE_AT), i;

    k_trigger();
    if (WAITS)
        k_wait_device();
    for (i = 0; i < MIXED_NODES; i++)
        if ((before >> i & 1) && k_load(args.data + i) != round + 1)
            k_add(&args.state->witnessed, 1);
    if ((before & AFTER_SET) && k_load(args.seen) != SET_BYTE * 0x1010101u)
        k_add(&args.state->witnessed, 1);
    if (k_load_relaxed(args.input) != round)
        k_add(&args.state->early, 1);
    k_delay(args.state, plan.hold_ns);
    k_store(args.input, round + 1);
}

/* In a body that must not run. */
KERNEL(loops_forbidden) { k_add(&args.state->early, 1); }

/* Comes after all nodes, and ends each round of a loop. Once all launches together have had their rounds, no loop goes on. */
KERNEL(loops_last)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t ended = k_load_relaxed(&args.state->finished) + 1, i;

    for (i = 0; i < plan.words; i++)
        if (k_load(args.data + i) != ended)
            k_add(&args.state->witnessed, 1);
    k_store(args.seen, 0);
    k_store_relaxed(&args.state->finished, ended);
    if (rounds_of(&plan) > 1)
        decides_round(&args, &plan, HANDLE_AT, ended % rounds_of(&plan) != 0 && ended < LOOPS * rounds_of(&plan));
}

struct mixed {
    struct loops l;
    cudaGraph_t body;
    cudaGraphNode_t set, node[MIXED_NODES];
    enum mixed_kind kind[MIXED_NODES];
    uint32_t before[MIXED_NODES];
    unsigned count, rounds, drawn, kernels; /* of nodes, of rounds, and of draws so far; whether most nodes are kernels */
    uint64_t key;
    unsigned long long stale, others;
};

static unsigned draw_mixed(struct mixed *n, unsigned limit) { return words_fresh(n->key, n->drawn++) % limit; }

static struct kernel_args mixed_args(const struct mixed *n, unsigned i)
{
    struct kernel_args args = n->l.args;

    args.input = args.data + i;
    return args;
}

/* One of its bodies runs: the one that the handle's default value names, in every round. */
static cudaError_t add_mixed_condition(struct mixed *n, unsigned i)
{
    enum cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
    struct kernel_args args = mixed_args(n, i);
    unsigned bodies = 1, runs = 0, value = 1, b;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t inside;
    cudaGraph_t body[3];
    cudaError_t error;

#if CUDART_VERSION >= 12080
    if (n->kind[i] != MIXED_IF && has_version(12080)) {
        int one_of_three = n->kind[i] == MIXED_SWITCH;
        type = one_of_three ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf;
        bodies = one_of_three ? 3 : 2;
        runs = one_of_three ? draw_mixed(n, bodies) : 1;
        value = one_of_three ? runs : 0;
    }
#endif
    error = cudaGraphConditionalHandleCreate(&handle, n->l.graph, value, cudaGraphCondAssignDefault);
    if (error == cudaSuccess)
        error = ask_add_conditional(&n->node[i], n->body, handle, type, bodies, body);
    for (b = 0; b < bodies && error == cudaSuccess; b++)
        error = ask_add_kernel(&inside, body[b], (const void *)(b == runs ? SYMBOL(loops_node) : SYMBOL(loops_forbidden)), &args, 1);
    return error;
}

/* Edges to this node from nodes before it, as drawn; programmatic ones only from kernel to kernel. */
static cudaError_t add_mixed_edges(struct mixed *n, unsigned to)
{
    unsigned from, of = 2 + draw_mixed(n, 3);
    cudaError_t error = cudaSuccess;

    for (from = 0; from < to && error == cudaSuccess; from++) {
        int kernels = n->kind[from] == MIXED_KERNEL && n->kind[to] == MIXED_KERNEL;
        cudaGraphEdgeData data = kernels && draw_mixed(n, 4) ? edges_data(1, 0, 1) : edges_data(0, 0, 0);
        if (draw_mixed(n, of))
            continue;
        n->before[to] |= 1u << from;
        error = edges_add(n->body, &n->node[from], &n->node[to], &data, 1);
    }
    return error;
}

static cudaError_t add_mixed_set(struct mixed *n)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = n->l.args.seen;
    set.value = SET_BYTE;
    set.elementSize = set.height = 1;
    set.width = sizeof(uint32_t);
    return cudaGraphAddMemsetNode(&n->set, n->body, NULL, 0, &set);
}

/* In some loops there are many kernels, in others many conditional nodes. */
static enum mixed_kind draw_mixed_kind(struct mixed *n)
{
    if (n->count == 1 || draw_mixed(n, 2 + 2 * n->kernels) == 0)
        return (enum mixed_kind)(MIXED_IF + draw_mixed(n, 3));
    return draw_mixed(n, 4) ? MIXED_KERNEL : MIXED_CHILD;
}

static cudaError_t add_mixed_node(struct mixed *n, unsigned i, int after_set)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    const void *function = (const void *)SYMBOL(loops_node);
    struct kernel_args args = mixed_args(n, i);
    cudaError_t error;

    n->kind[i] = draw_mixed_kind(n);
    n->before[i] = 0;
    error = n->kind[i] == MIXED_KERNEL ? ask_add_kernel(&n->node[i], n->body, function, &args, 1)
          : n->kind[i] == MIXED_CHILD ? add_child(&n->node[i], n->body, NULL, 0, function, &args, 1) : add_mixed_condition(n, i);
    if (error == cudaSuccess)
        error = add_mixed_edges(n, i);
    if (error != cudaSuccess || !after_set || n->before[i])
        return error;
    n->before[i] = AFTER_SET;
    return edges_add(n->body, &n->set, &n->node[i], &full, 1);
}

/* few: one conditional node and the last kernel, a body that is known to end. */
static cudaError_t make_mixed(struct mixed *n, int few)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t outer, last;
    int after_set = draw_mixed(n, 2) != 0;
    unsigned i;
    cudaError_t error = cudaGraphCreate(&n->l.graph, 0);

    n->kernels = draw_mixed(n, 4) == 0;
    n->rounds = draw_mixed(n, 8) ? MIXED_ROUNDS : 1;
    n->count = few ? 1 : FEWEST_MIXED + draw_mixed(n, MIXED_NODES - FEWEST_MIXED + 1);
    if (error == cudaSuccess)
        error = n->rounds == 1 ? ask_add_if(&outer, n->l.graph, n->l.graph, 1, &n->body)
                               : ask_add_loop(&outer, n->l.graph, &n->l.handle, &n->body);
    if (error == cudaSuccess && after_set)
        error = add_mixed_set(n);
    for (i = 0; i < n->count && error == cudaSuccess; i++)
        error = add_mixed_node(n, i, after_set);
    if (error == cudaSuccess)
        error = ask_add_kernel(&last, n->body, (const void *)SYMBOL(loops_last), &n->l.args, 1);
    for (i = 0; i < n->count && error == cudaSuccess; i++)
        error = edges_add(n->body, &n->node[i], &last, &full, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&n->l.exec, n->l.graph, 0) : error;
}

static void prepare_mixed(struct mixed *n, unsigned trial)
{
    uint32_t *data = n->l.room->data;

    prepare_trial(n->l.room, trial);
    n->l.room->plan.hold_ns = trial % 3 * 2000;
    n->l.room->plan.words = n->count;
    n->l.room->plan.repeats = n->rounds;
    n->l.room->plan.reads_early = trial % 2;
    memset(data, 0, MIXED_NODES * sizeof(*data));
    data[GO_AT] = 1;
    memcpy(data + BEFORE_AT, n->before, sizeof(n->before));
    memcpy(data + HANDLE_AT, &n->l.handle, sizeof(n->l.handle));
}

/* Launches the graph twice, and does not wait for ever. */
static cudaError_t run_mixed(struct mixed *n, unsigned trial)
{
    volatile const struct trial_state *state = &n->l.room->state;
    cudaStream_t stream = n->l.ask->stream;
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare_mixed(n, trial);
    for (i = 0; i < LOOPS && error == cudaSuccess; i++)
        error = cudaGraphLaunch(n->l.exec, stream);
    if (error == cudaSuccess)
        error = ask_await(n->l.ask, stream);
    n->stale += error == cudaSuccess && state->witnessed != 0;
    n->others += error == cudaSuccess && (state->early != 0 || state->finished != LOOPS * n->rounds);
    return error;
}

static cudaError_t ask_mixed_loop(struct mixed *n, unsigned trial)
{
    cudaError_t error;

    n->key = n->l.ask->seed + trial;
    n->drawn = 0;
    error = make_mixed(n, trial == 0);
    if (error == cudaSuccess)
        error = run_mixed(n, trial);
    if (n->l.ask->endless)
        return error;
    drop_graphs(&n->l);
    return error;
}

static void ask_mixed(struct ask *ask)
{
    struct mixed n = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned trial;

    if (!may_ask(&n.l, ask))
        return;
    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && n.stale < ASK_WRONG_ENOUGH && error == cudaSuccess; trial++)
        error = ask_mixed_loop(&n, trial);
    ask_expect_none(ask, "loops and bodies that never ended", error == cudaErrorLaunchTimeout, trial);
    if (error != cudaErrorLaunchTimeout)
        ask_expect(ask, "loops and bodies with conditional nodes in them", error, cudaSuccess);
    ask_expect_none(ask, "loops and bodies with a node that did not come after what it follows", n.stale, trial);
    ask_expect_none(ask, "loops and bodies with other rounds, or with a node that did not run once in each", n.others, trial);
    if (!ask->endless)
        close_loops(&n.l);
}

#endif
