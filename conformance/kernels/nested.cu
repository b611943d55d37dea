/* nested.cu - order around graphs: into and out of what lies inside a graph, and between a graph and its stream.
 *
 * pair      rules     what is launched
 * around    EDGE-25a  a writer that triggers, a graph of one kernel between full edges, a reader that does not wait: the graph a
 *                     child, a child after a child, one graph twice, all of it inside a child, the body of a conditional node; a child or a
 *                     body that ends with copies, and a copy behind it; four child graphs of one graph at once; a writer with twelve readers,
 *                     which may be the roots of a child or of a body; and a reader after 24 kernels, the last of which is the writer
 * launches  COMP-12a  a graph after an event of another stream, also while it still runs; and one executable graph in two streams
 *                     at once, perhaps changed meanwhile, or refused a change, or after the host has waited for something else;
 *                     two executable graphs of one graph in a stream; and a graph that goes, or its executable one, while it runs
 * changed   EDGE-23b  an executable graph that was launched, then given new parameters or another graph's; executable graphs of one graph whose
 *                     edge has another kind each time
 * chains    EDGE-25b  a writer that triggers, two nodes of each two kinds that there are, a reader that does not wait, in a row; the first of the two
 *                     may be a kernel whose start leads to the second; and an edge beside a path of others that nobody on it waits for
 * past      EDGE-27c  the same, and a disabled kernel, copy or copy of layers between the two
 * past_set  EDGE-27a  ... a disabled memset, of a row or of several
 * past_port EDGE-27d  a writer, a node of each kind, a disabled kernel, a programmatic edge, a reader that waits
 *                     (past, past_set and past_port: half of them in a second launch)
 * ends      EDGE-26c  a body that ends with a writer and a kernel after it by a programmatic edge; a reader after the body, or after the graph
 * ends_begun EDGE-26d the same by a launch-completion edge
 *
 * Mutant `graphedge`: an edge is programmatic or missing, the event is not awaited, or the graph is instantiated twice.
 */
#include "graph_ask.h"
#include "host_room.h"

#ifdef MUTANT_graphedge
#define EDGES_KEPT 0
#else
#define EDGES_KEPT 1
#endif

#define PART 16u               /* words of each part of the memory: the writer's, the inner kernel's, what each reader saw */
#define READERS 12u
#define WRITERS 24u
#define PARTS (2u + 2u * READERS)

KERNEL(nested_writer) { slow_stores(&args); }
KERNEL(nested_nothing) { (void)args; }

/* Copies what the writer stored, late. */
KERNEL(nested_inner)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t word = k_load(args.data + k_thread());

    if (k_thread() == 0) {
        k_store_relaxed(&args.state->alive, 1);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + PART + k_thread(), word);
}

DEVICE_FN void reads(const struct kernel_args *args, uint32_t waits)
{
    if (k_thread() == 0)
        k_store_relaxed(&args->state->alive, 1);
    if (waits)
        k_wait_device();
    k_store(args->seen + k_thread(), k_load(args->data + k_thread()));
    k_store(args->seen + PART + k_thread(), k_load(args->data + PART + k_thread()));
}

KERNEL(nested_reader) { reads(&args, 0); }
KERNEL(nested_waiting_reader) { reads(&args, 1); }

/* Counts launches, slowly: two at a time lose one. */
KERNEL(nested_turn)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0) {
        uint32_t before = k_load_relaxed(&args.state->began);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
        k_store_relaxed(&args.state->began, before + 1);
    }
}

/* A reader that is launched twice: the first launch is slow, and only the second one tells the writer that it began. */
KERNEL(nested_again)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0) {
        uint32_t before = k_load_relaxed(&args.state->began);
        if (before)
            k_store_relaxed(&args.state->alive, 1);
        else
            k_delay(args.state, plan.hold_ns);
        k_store_relaxed(&args.state->began, before + 1);
    }
    k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
}

struct nested {
    struct ask *ask;
    struct host_room *room;    /* plan and state; the words lie in device memory */
    struct kernel_args args;
};

static cudaError_t open_nested(struct nested *n, struct ask *ask)
{
    cudaError_t error = open_room(&n->room, &n->args) ? cudaSuccess : cudaErrorMemoryAllocation;

    n->ask = ask;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&n->args.data, PARTS * PART * sizeof(uint32_t));
    n->args.seen = n->args.data + 2 * PART;
    return error;
}

static void close_nested(struct nested *n)
{
    (void)cudaFree(n->args.data);
    (void)cudaFreeHost(n->room);
}

static cudaError_t prepare_nested(struct nested *n, unsigned trial)
{
    static uint32_t poison[PARTS * PART];
    cudaError_t error;
    unsigned i;

    prepare_trial(n->room, trial);
    for (i = 0; i < PARTS * PART; i++)
        poison[i] = ~words_fresh(n->room->plan.key, i % PART);
    error = cudaMemcpyAsync(n->args.data, poison, sizeof(poison), cudaMemcpyHostToDevice, n->ask->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(n->ask->stream) : error;
}

/* Launches the graph in the question's stream, and waits for it. */
static cudaError_t launch_nested(struct nested *n, unsigned trial, cudaGraphExec_t exec)
{
    cudaError_t error = prepare_nested(n, trial);

    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, n->ask->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(n->ask->stream) : error;
}

/* 1 if a reader did not see the writer's words, or, with `inner`, what the inner kernel made of them. */
static int readers_are_stale(const struct nested *n, unsigned readers, int inner)
{
    static uint32_t seen[2 * READERS * PART];
    unsigned i;

    if (cudaMemcpy(seen, n->args.seen, sizeof(seen), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (i = 0; i < 2 * readers * PART; i++)
        if ((inner || i / PART % 2 == 0) && seen[i] != words_fresh(n->room->plan.key, i % PART))
            return 1;
    return 0;
}

/* ---- around ---- */

enum around {
    AROUND_CHILD, AROUND_CHILDREN, AROUND_INSIDE, AROUND_BODY, AROUND_CHILD_COPY, AROUND_BODY_COPY, AROUND_FAN_IN, AROUND_FAN_OUT,
    AROUND_CHILD_ROOTS, AROUND_BODY_ROOTS, AROUNDS
};

static cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, unsigned programmatic)
{
    cudaGraphEdgeData data = edges_data(programmatic, 0, programmatic);

    return edges_add(graph, &from, &to, &data, 1);
}

static cudaError_t add_child(struct nested *n, cudaGraph_t graph, const void *function, cudaGraphNode_t *node)
{
    cudaGraph_t child;
    cudaGraphNode_t inside;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&inside, child, function, &n->args, PART);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, NULL, 0, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

/* A kernel, and copies side by side, which take the writer's words to where the inner kernel would: what leads out comes after all of them. */
static cudaError_t fill_with_copies(struct nested *n, cudaGraph_t graph)
{
    cudaGraphNode_t kernel, copy;
    unsigned i;
    cudaError_t error = ask_add_kernel(&kernel, graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);

    for (i = 0; i < PART && error == cudaSuccess; i++)
        error = cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, n->args.data + PART + i, n->args.data + i, sizeof(uint32_t),
                                         cudaMemcpyDeviceToDevice);
    return error;
}

/* Twelve readers that nothing in their graph comes before: kernels and copies in turn. */
static cudaError_t fill_with_roots(struct nested *n, cudaGraph_t graph)
{
    struct kernel_args args = n->args;
    cudaError_t error = cudaSuccess;
    cudaGraphNode_t reader;
    unsigned i;

    for (i = 0; i < READERS && error == cudaSuccess; i++) {
        args.seen = n->args.seen + 2 * i * PART;
        error = i % 2 ? cudaGraphAddMemcpyNode1D(&reader, graph, NULL, 0, args.seen, args.data, PART * sizeof(uint32_t), cudaMemcpyDeviceToDevice)
                      : ask_add_kernel(&reader, graph, (const void *)SYMBOL(nested_reader), &args, PART);
    }
    return error;
}

typedef cudaError_t (*fill)(struct nested *n, cudaGraph_t graph);

/* A child graph or a body, and what it is filled with. */
static cudaError_t add_filled(struct nested *n, cudaGraph_t graph, int body, fill fill_inner, cudaGraphNode_t *node)
{
    cudaGraph_t inner;
    cudaError_t error;

#if CUDART_VERSION >= 12040
    if (body) {
        error = ask_add_if(node, graph, graph, 1, &inner);
        return error == cudaSuccess ? fill_inner(n, inner) : error;
    }
#endif
    (void)body;
    error = cudaGraphCreate(&inner, 0);
    if (error == cudaSuccess)
        error = fill_inner(n, inner);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, NULL, 0, inner);
    (void)cudaGraphDestroy(inner);
    return error;
}

static cudaError_t add_body(struct nested *n, cudaGraph_t graph, const void *function, cudaGraphNode_t *node)
{
#if CUDART_VERSION >= 12040
    cudaGraph_t body;
    cudaGraphNode_t inside;
    cudaError_t error = ask_add_if(node, graph, graph, 1, &body);

    return error == cudaSuccess ? ask_add_kernel(&inside, body, function, &n->args, PART) : error;
#else
    return add_child(n, graph, function, node);
#endif
}

/* The mutant's reader comes after the writer alone, by a programmatic edge. */
static cudaError_t connect(struct nested *n, cudaGraph_t graph, cudaGraphNode_t writer, enum around around)
{
    const void *inner = (const void *)SYMBOL(nested_inner);
    int copies = around == AROUND_CHILD_COPY || around == AROUND_BODY_COPY;
    cudaGraphNode_t node, reader;
    cudaError_t error = copies                  ? add_filled(n, graph, around == AROUND_BODY_COPY, fill_with_copies, &node)
                        : around == AROUND_BODY ? add_body(n, graph, inner, &node)
                                                : add_child(n, graph, inner, &node);

    if (error == cudaSuccess && copies) /* which begins sooner than a kernel would */
        error = cudaGraphAddMemcpyNode1D(&reader, graph, NULL, 0, n->args.seen, n->args.data, 2 * PART * sizeof(uint32_t), cudaMemcpyDeviceToDevice);
    else if (error == cudaSuccess)
        error = ask_add_kernel(&reader, graph, (const void *)SYMBOL(nested_reader), &n->args, PART);
    if (error == cudaSuccess && EDGES_KEPT)
        error = add_edge(graph, writer, node, 0);
    if (error == cudaSuccess && EDGES_KEPT)
        error = add_edge(graph, node, reader, 0);
    return error == cudaSuccess && !EDGES_KEPT && !copies ? add_edge(graph, writer, reader, 1) : error;
}

static cudaError_t fan_out(struct nested *n, cudaGraph_t graph, cudaGraphNode_t writer)
{
    struct kernel_args args = n->args;
    cudaError_t error = cudaSuccess;
    cudaGraphNode_t reader;
    unsigned i;

    for (i = 0; i < READERS && error == cudaSuccess; i++) {
        args.seen = n->args.seen + 2 * i * PART;
        error = ask_add_kernel(&reader, graph, (const void *)SYMBOL(nested_reader), &args, PART);
        if (error == cudaSuccess)
            error = add_edge(graph, writer, reader, !EDGES_KEPT);
    }
    return error;
}

/* The writer's edge is the last one into the reader. */
static cudaError_t fan_in(struct nested *n, cudaGraph_t graph, cudaGraphNode_t writer)
{
    cudaGraphNode_t reader, other;
    unsigned i;
    cudaError_t error = ask_add_kernel(&reader, graph, (const void *)SYMBOL(nested_reader), &n->args, PART);

    for (i = 1; i < WRITERS && error == cudaSuccess; i++) {
        error = ask_add_kernel(&other, graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);
        if (error == cudaSuccess)
            error = add_edge(graph, other, reader, 0);
    }
    return error == cudaSuccess ? add_edge(graph, writer, reader, !EDGES_KEPT) : error;
}

/* The readers are the roots of a child graph, or of a body, after the writer. */
static cudaError_t add_roots(struct nested *n, cudaGraph_t graph, cudaGraphNode_t writer, int body)
{
    cudaGraphNode_t node;
    cudaError_t error = add_filled(n, graph, body, fill_with_roots, &node);

    return error == cudaSuccess && EDGES_KEPT ? add_edge(graph, writer, node, 0) : error;
}

/* The graph so far becomes a child of a new one. */
static cudaError_t put_inside(cudaGraph_t *graph)
{
    cudaGraph_t outer;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&outer, 0);

    if (error != cudaSuccess)
        return error;
    error = cudaGraphAddChildGraphNode(&node, outer, NULL, 0, *graph); /* clones it */
    (void)cudaGraphDestroy(*graph);
    *graph = outer;
    return error;
}

static cudaError_t make_around(struct nested *n, enum around around, cudaGraph_t *graph, cudaGraphExec_t *exec)
{
    cudaGraphNode_t writer;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = around == AROUND_CHILDREN && EDGES_KEPT ? add_child(n, *graph, (const void *)SYMBOL(nested_writer), &writer)
                                                        : ask_add_kernel(&writer, *graph, (const void *)SYMBOL(nested_writer), &n->args, PART);
    if (error == cudaSuccess)
        error = around == AROUND_FAN_OUT  ? fan_out(n, *graph, writer)
                : around == AROUND_FAN_IN ? fan_in(n, *graph, writer)
                : around > AROUND_FAN_OUT ? add_roots(n, *graph, writer, around == AROUND_BODY_ROOTS)
                                          : connect(n, *graph, writer, around);
    if (error == cudaSuccess && around == AROUND_INSIDE)
        error = put_inside(graph);
    return error == cudaSuccess ? cudaGraphInstantiate(exec, *graph, 0) : error;
}

static void ask_one_around(struct ask *ask, struct nested *n, enum around around)
{
    static const char *const names[AROUNDS] = { "stale around a child graph", "stale around a child graph after another",
                                                "stale around a child graph inside another", "stale around a conditional body",
                                                "stale around a child graph that ends with a copy", "stale around a body that ends with a copy",
                                                "stale after 24 kernels", "stale in one of twelve dependents",
                                                "stale in one of twelve roots of a child graph", "stale in one of twelve roots of a body" };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned trial, stale = 0, readers = around >= AROUND_FAN_OUT ? READERS : 1;
    cudaError_t error = make_around(n, around, &graph, &exec);

    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        error = launch_nested(n, trial, exec);
        stale += error == cudaSuccess && readers_are_stale(n, readers, around < AROUND_FAN_IN);
    }
    ask_expect(ask, "launches of that graph", error, cudaSuccess);
    ask_expect_none(ask, names[around], stale, ask->trials);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* One graph is a child graph twice, the second time after the first: its kernels, one after the other, count themselves. */
static cudaError_t make_twice(struct nested *n, cudaGraph_t *graph, cudaGraphExec_t *exec)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t node[2] = { NULL, NULL };
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphCreate(&child, 0);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = ask_add_kernel_after(&node[i], child, node, i, (const void *)SYMBOL(nested_turn), &n->args, 1, PART);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node[0], *graph, NULL, 0, child);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node[1], *graph, node, EDGES_KEPT, child);
    if (child)
        (void)cudaGraphDestroy(child);
    return error == cudaSuccess ? cudaGraphInstantiate(exec, *graph, 0) : error;
}

static void ask_twice_around(struct ask *ask, struct nested *n)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned trial, lost = 0;
    cudaError_t error = make_twice(n, &graph, &exec);

    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        error = launch_nested(n, trial, exec);
        lost += error == cudaSuccess && n->room->state.began != 4;
    }
    ask_expect(ask, "launches of a graph that has another one twice", error, cudaSuccess);
    ask_expect_none(ask, "child graphs of one graph that were two at a time", lost, ask->trials);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

#include "nested_copies.h"

static void ask_around(struct ask *ask)
{
    struct nested n = PDL_ZERO;
    unsigned around;

    if (open_nested(&n, ask) != cudaSuccess)
        ask_skip(ask, "memory", "none was given");
    for (around = 0; around < AROUNDS && n.args.data; around++)
        ask_one_around(ask, &n, (enum around)around);
    if (n.args.data)
        ask_twice_around(ask, &n);
    if (n.args.data)
        ask_copies_around(ask, &n);
    close_nested(&n);
}

/* ---- changed ---- */

static cudaError_t add_reader(cudaGraph_t *graph, cudaGraphNode_t *node, struct kernel_args *args)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    return error == cudaSuccess ? ask_add_kernel(node, *graph, (const void *)SYMBOL(nested_reader), args, PART) : error;
}

/* From now on it stores what the next reader would see. */
static cudaError_t change(cudaGraphExec_t exec, cudaGraphNode_t node, struct kernel_args *args, int whole)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(nested_reader), PART, values);
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraphNode_t other;
    cudaGraph_t graph;
    cudaError_t error;

    if (whole) {
        error = add_reader(&graph, &other, args);
        if (error == cudaSuccess)
            error = cudaGraphExecUpdate(exec, graph, &info);
        (void)cudaGraphDestroy(graph);
        return error;
    }
    values[0] = args;
    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
}

/* Launched as it was made, changed, launched again; the words that the second launch had to store. */
static cudaError_t change_and_launch(struct nested *n, unsigned trial, unsigned *missed)
{
    struct kernel_args args = n->args;
    cudaStream_t stream = n->ask->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    uint32_t seen[PART];
    unsigned i, wrong = 0;
    cudaError_t error = prepare_nested(n, trial);

    if (error == cudaSuccess)
        error = add_reader(&graph, &node, &args);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    args.seen += 2 * PART;
    if (error == cudaSuccess)
        error = change(exec, node, &args, trial % 2 != 0);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(args.seen, 0, sizeof(seen), stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(seen, args.seen, sizeof(seen), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    for (i = 0; i < PART && error == cudaSuccess; i++)
        wrong |= seen[i] != ~words_fresh(n->room->plan.key, i);
    *missed += wrong;
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return error;
}

#include "nested_kinds.h"

static void ask_changed(struct ask *ask)
{
    struct nested n = PDL_ZERO;
    cudaError_t error = open_nested(&n, ask);
    unsigned trial, missed = 0;

    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++)
        error = change_and_launch(&n, trial, &missed);
    ask_expect(ask, "launches of graphs that were changed", error, cudaSuccess);
    ask_expect_none(ask, "launches that did not do what the graph was changed to", missed, ask->trials);
    if (error == cudaSuccess)
        ask_times(&n);
    close_nested(&n);
}

#include "nested_triangles.h"
#include "nested_chains.h"
#include "nested_ends.h"
#include "nested_launches.h"

static const struct pair nested_pairs[] = {
    PAIR_ASK("around", ask_around),
    PAIR_ASK("launches", ask_launches),
    PAIR_ASK("changed", ask_changed),
    PAIR_ASK("chains", ask_chains),
    PAIR_ASK("past", ask_past),
    PAIR_ASK("past_set", ask_past_set),
    PAIR_ASK("past_port", ask_past_port),
    PAIR_ASK("ends", ask_ends),
    PAIR_ASK("ends_begun", ask_ends_begun),
};
IMAGE(nested, nested_pairs)
