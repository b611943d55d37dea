/* kept_later.h - the pairs of kept.cu with edges that come once an executable graph was made, with changes while a launch is under way, and with
 * two child graphs in a row. */
#ifndef KEPT_LATER_H_INCLUDED
#define KEPT_LATER_H_INCLUDED

/* Lets a dependent begin and sets its word late. */
KERNEL(kept_open)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    set_word(args.data);
}

DEVICE_FN void copy_word(const struct kernel_args *args)
{
    uint32_t i;

    for (i = 0; i < CELLS; i++)
        k_store(args->seen + i, k_load(args->data + i));
}

/* Waits, and copies a word as it finds it. */
KERNEL(kept_waiting_copy)
{
    k_wait_device();
    copy_word(&args);
}

KERNEL(kept_bare_copy) { copy_word(&args); }

/* Until the host says so: at the latest after a while. */
DEVICE_FN void await_host(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint64_t begin = k_now();
    uint32_t spins = 0;

    while (!k_load_system(&args->state->alive) && k_now() - begin < plan.bound_ns && ++spins < K_SPIN_LIMIT)
        k_pause();
}

/* Tells that it runs, and ends when the host says so. */
KERNEL(kept_gate)
{
    k_store_relaxed(&args.state->began, 1);
    await_host(&args);
}

/* The host goes on once the gate in this stream has begun, or all of the stream has ended. */
static void await_gate(const struct host_room *room, cudaStream_t stream)
{
    volatile const uint32_t *began = &room->state.began;

    while (!*began && cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    (void)cudaGetLastError();
}

/* ---- later ---- */

struct later {
    cudaGraph_t graph;
    cudaGraphNode_t late, copy, other; /* the last two copy the first word, to the second and to the third */
};

static cudaError_t add_copying(struct kept *kept, cudaGraph_t graph, unsigned word, cudaGraphNode_t *node)
{
    struct kernel_args args = kept->args[0];

    args.seen = kept->args[word].data;
    return ask_add_kernel(node, graph, (const void *)SYMBOL(kept_waiting_copy), &args, 1);
}

static cudaError_t make_later(struct kept *kept, struct kernel_args *late, const cudaGraphEdgeData *data, struct later *later)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = cudaGraphCreate(&later->graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&later->late, later->graph, (const void *)SYMBOL(kept_open), late, 1);
    if (error == cudaSuccess)
        error = add_copying(kept, later->graph, 1, &later->copy);
    if (error == cudaSuccess)
        error = add_copying(kept, later->graph, 2, &later->other);
    if (error == cudaSuccess)
        error = edges_add(later->graph, &later->late, &later->copy, data, 1);
    return error == cudaSuccess ? edges_add(later->graph, &later->other, &later->late, &full, 1) : error;
}

/* The edge between two nodes that are there is taken out, and one of this kind leads the other way. */
static cudaError_t turn(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData *old_data, const cudaGraphEdgeData *data)
{
    cudaError_t error = edges_remove(graph, &from, &to, old_data, 1);

    return error == cudaSuccess ? edges_add(graph, &to, &from, data, 1) : error;
}

/* Each executable graph has the edges that its graph had then: a copy before the late kernel does not set its word, one after it does. */
static void ask_edges_later(struct kept *kept, struct kernel_args *late, int programmatic)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0), data = programmatic ? edges_data(1, 0, 1) : full;
    struct later later = PDL_ZERO;
    cudaGraphExec_t exec[3] = { NULL, NULL, NULL };
    const char *kind = programmatic ? "a programmatic edge that comes later" : "a full edge that comes later";
    unsigned i;

    ask_expect(ask, "a graph", make_later(kept, late, &data, &later), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec[0], later.graph, 0), cudaSuccess);
    expect_words(kept, exec[0], "a launch before edges come", 3);
    ask_expect(ask, kind, turn(later.graph, later.other, later.late, &full, &data), cudaSuccess);
    ask_expect(ask, "a second executable one", cudaGraphInstantiate(&exec[1], later.graph, 0), cudaSuccess);
    expect_words(kept, exec[1], kind, 7);
    expect_words(kept, exec[0], "a launch of what was made before an edge came", 3);
    ask_expect(ask, "an edge turned back", turn(later.graph, later.late, later.copy, &data, &full), cudaSuccess);
    ask_expect(ask, "a third executable one", cudaGraphInstantiate(&exec[2], later.graph, 0), cudaSuccess);
    expect_words(kept, exec[2], "a launch with an edge turned back", 5);
    expect_words(kept, exec[1], "a launch of the second one then", 7);
    expect_words(kept, exec[0], "a launch of the first one then", 3);
    for (i = 0; i < 3; i++)
        (void)cudaGraphExecDestroy(exec[i]);
    (void)cudaGraphDestroy(later.graph);
}

/* A late kernel and another one lead to a copy of the late one's word: the one by a full edge, the other by a programmatic one. */
static cudaError_t make_both_kinds(struct kept *kept, struct kernel_args *late, enum item other, unsigned full_from_late, unsigned turn,
                                   struct later *later)
{
    struct kernel_args args = kept->args[0];
    cudaGraphEdgeData data[2] = { edges_data(1, 0, 1), edges_data(0, 0, 0) };
    cudaGraphNode_t from[2];
    unsigned i;
    cudaError_t error = cudaGraphCreate(&later->graph, 0);

    args.seen = kept->args[2].data;
    if (error == cudaSuccess)
        error = ask_add_kernel(&later->late, later->graph, (const void *)SYMBOL(kept_open), late, 1);
    if (error == cudaSuccess)
        error = add_item_to(later->graph, other, &kept->args[1], kept->source, &later->other);
    if (error == cudaSuccess)
        error = ask_add_kernel(&later->copy, later->graph, (const void *)SYMBOL(kept_bare_copy), &args, 1);
    from[0] = later->other;
    from[1] = later->late;
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = edges_add(later->graph, &from[(i + turn) % 2], &later->copy, &data[(i + turn) % 2 == full_from_late], 1);
    return error;
}

/* An update that is taken takes the data of the edges along, also of edges that only change places with others. */
static void ask_kinds_turned(struct kept *kept, struct kernel_args *late, unsigned turn)
{
    static const char what[] = "a launch after the kinds of two edges have changed places";
    struct ask *ask = kept->ask;
    struct later was = PDL_ZERO, is = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    ask_expect(ask, "a graph", make_both_kinds(kept, late, ITEM_KERNEL, 0, turn, &was), cudaSuccess);
    ask_expect(ask, "a graph of the other kinds", make_both_kinds(kept, late, ITEM_KERNEL, 1, turn, &is), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, was.graph, 0), cudaSuccess);
    error = update_from(exec, is.graph);
    if (error == cudaErrorGraphExecUpdateFailure) {
        (void)cudaGetLastError();
        (void)cudaGraphExecDestroy(exec);
        error = cudaGraphInstantiate(&exec, is.graph, 0);
    }
    ask_expect(ask, "an update to the other kinds, or an executable graph of them", error, cudaSuccess);
    expect_words(kept, exec, what, 7);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(was.graph);
    (void)cudaGraphDestroy(is.graph);
}

/* What stays as it is when one executable graph gets other kinds of edges: executable graphs of the same graph, of a clone and of a graph around it. */
struct apart_kinds {
    cudaGraph_t graph[3];      /* the graph itself, or one around it; a clone of that; one around that */
    cudaGraphNode_t child;
    cudaGraphExec_t changed, other[4]; /* the last one of the graph, once the first one was changed */
};

static cudaError_t make_apart_kinds(struct apart_kinds *a, cudaGraph_t graph, int in_child)
{
    cudaGraphNode_t node = NULL;
    cudaError_t error = in_child ? cudaGraphCreate(&a->graph[0], 0) : cudaGraphClone(&a->graph[0], graph);
    unsigned i;

    if (error == cudaSuccess && in_child)
        error = cudaGraphAddChildGraphNode(&a->child, a->graph[0], NULL, 0, graph);
    if (error == cudaSuccess)
        error = cudaGraphClone(&a->graph[1], a->graph[0]);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&a->graph[2], 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, a->graph[2], NULL, 0, a->graph[0]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&a->changed, a->graph[0], 0);
    for (i = 0; i < 3 && error == cudaSuccess; i++)
        error = cudaGraphInstantiate(&a->other[i], a->graph[i], 0);
    return error;
}

static void drop_apart_kinds(struct apart_kinds *a)
{
    unsigned i;

    (void)cudaGraphExecDestroy(a->changed);
    for (i = 0; i < 4; i++)
        (void)cudaGraphExecDestroy(a->other[i]);
    for (i = 0; i < 3; i++)
        (void)cudaGraphDestroy(a->graph[i]);
}

/* "Updates" an executable graph, and no other one: whether other kinds of edges are taken is not promised (EDGE-23), and what has them is not
 * launched. */
static void ask_kinds_apart(struct kept *kept, struct kernel_args *late, unsigned turn, int in_child)
{
    static const char *const what[] = { "one of the same graph, after another one was given other kinds of edges", "one of a clone, then",
                                        "one of a graph around it, then", "one that is made then" };
    struct ask *ask = kept->ask;
    struct later was = PDL_ZERO, is = PDL_ZERO;
    struct apart_kinds a = PDL_ZERO;
    unsigned i;

    ask_expect(ask, "a graph", make_both_kinds(kept, late, ITEM_KERNEL, 1, turn, &was), cudaSuccess);
    ask_expect(ask, "a graph of the other kinds", make_both_kinds(kept, late, ITEM_KERNEL, 0, turn, &is), cudaSuccess);
    ask_expect(ask, "executable graphs of a graph and its copies", make_apart_kinds(&a, was.graph, in_child), cudaSuccess);
    (void)(in_child ? cudaGraphExecChildGraphNodeSetParams(a.changed, a.child, is.graph) : update_from(a.changed, is.graph));
    (void)cudaGetLastError();
    ask_expect(ask, what[3], cudaGraphInstantiate(&a.other[3], a.graph[0], 0), cudaSuccess);
    for (i = 0; i < 4; i++)
        expect_words(kept, a.other[i], what[i], 7);
    drop_apart_kinds(&a);
    (void)cudaGraphDestroy(was.graph);
    (void)cudaGraphDestroy(is.graph);
}

/* "cudaGraphExecUpdateErrorNodeTypeChanged if the type of a node changed": an update that is refused for that leaves the edges what they were;
 * so does the graph that is refused for a child graph. */
static void ask_kinds_refused(struct kept *kept, struct kernel_args *late, unsigned turn, int in_child)
{
    struct ask *ask = kept->ask;
    struct later was = PDL_ZERO, is = PDL_ZERO;
    cudaGraphNode_t child = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraph_t around = NULL;

    ask_expect(ask, "a graph", make_both_kinds(kept, late, ITEM_KERNEL, 1, turn, &was), cudaSuccess);
    ask_expect(ask, "a graph of the other kinds, with a memset", make_both_kinds(kept, late, ITEM_SET, 0, turn, &is), cudaSuccess);
    if (in_child) {
        ask_expect(ask, "a graph around it", cudaGraphCreate(&around, 0), cudaSuccess);
        ask_expect(ask, "a child graph", cudaGraphAddChildGraphNode(&child, around, NULL, 0, was.graph), cudaSuccess);
    }
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, in_child ? around : was.graph, 0), cudaSuccess);
    ask_expect_refusal(ask, "an update to a memset and the other kinds",
                       in_child ? cudaGraphExecChildGraphNodeSetParams(exec, child, is.graph) : update_from(exec, is.graph));
    (void)cudaGetLastError();
    expect_words(kept, exec, "a launch after an update to other kinds was refused", 7);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(was.graph);
    (void)cudaGraphDestroy(is.graph);
    if (around)
        (void)cudaGraphDestroy(around);
}

/* "Requires that both nodes be kernel nodes": an empty node that is refused for its programmatic edge leaves the edge out of the same node what it
 * was. */
static void ask_kinds_beside_refused(struct kept *kept, unsigned port)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData data = edges_data(port, 0, port != 0), bad = edges_data(1, 0, 1);
    struct cudaGraphNodeParams params = PDL_ZERO;
    cudaGraphNode_t first = NULL, second = NULL, added = NULL;
    cudaGraph_t graph = NULL;

    params.type = cudaGraphNodeTypeEmpty;
    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &first), cudaSuccess);
    ask_expect(ask, "a second kernel", add_set(kept, graph, 1, &second), cudaSuccess);
    ask_expect(ask, "an edge", edges_add(graph, &first, &second, &data, 1), cudaSuccess);
    ask_expect_refusal(ask, "an empty node by a programmatic edge", edges_add_node(&added, graph, &first, &bad, 1, &params));
    (void)cudaGetLastError();
    expect_edge(ask, "the edge beside one that was refused", first, second, &data);
    (void)cudaGraphDestroy(graph);
}

static void ask_later(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned i;

    if (!open_kept(&kept, ask))
        return;
    if (open_late(&kept, &room, &late)) {
        ask_edges_later(&kept, &late, 0);
        ask_edges_later(&kept, &late, 1);
        ask_kinds_turned(&kept, &late, 0);
        ask_kinds_turned(&kept, &late, 1);
        for (i = 0; i < 3; i++)
            ask_kinds_beside_refused(&kept, i);
        for (i = 0; i < 4; i++)
            ask_kinds_apart(&kept, &late, i % 2, i / 2 != 0);
        for (i = 0; i < 4; i++)
            ask_kinds_refused(&kept, &late, i % 2, i / 2 != 0);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

/* ---- running ---- */

#define GATE_NS 5000000u       /* longer than the calls of the host in between take */

/* A gate, and a node of this kind after it. */
static cudaError_t make_gated(struct kept *kept, struct kernel_args *gate, unsigned single, unsigned word, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t before = NULL;
    cudaError_t error = make_single(kept, single, word, graph, node);

    if (error == cudaSuccess)
        error = ask_add_kernel(&before, *graph, (const void *)SYMBOL(kept_gate), gate, 1);
    return error == cudaSuccess ? edges_add(*graph, &before, node, &full, 1) : error;
}

static cudaError_t change_gated(struct ordered *o, struct kernel_args *gate, enum call call)
{
    cudaGraph_t other = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error;

    if (call != CALL_UPDATE)
        return call_once(o, call);
    o->word = (o->word + 1) % WORDS;
    error = make_gated(o->kept, gate, o->single, o->word, &other, &node);
    if (error == cudaSuccess)
        error = update_from(o->exec, other);
    (void)cudaGraphDestroy(other);
    return error;
}

static const char *const running_name[CALLS] = {
    "an upload while a launch is under way", "new parameters while a launch is under way", "an update while a launch is under way", NULL,
    "a node left out and back while a launch is under way", "another executable graph while a launch is under way",
    "new parameters by the general call while a launch is under way"
};

/* "Updates take effect the next time the graph is launched, so they will not impact previous graph launches, even if they are running when the update
 * takes place": one launch is under way, whose gate the host holds shut, and one is queued behind it. */
static void ask_changed_while_running(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned single, enum call call)
{
    struct ask *ask = kept->ask;
    struct ordered o = PDL_ZERO;
    struct trial_state empty = PDL_ZERO;
    const char *what = running_name[call];

    o.kept = kept;
    o.single = single;
    room->state = empty;
    ask_expect(ask, "a gate and a node", make_gated(kept, gate, single, 0, &o.graph, &o.node), cudaSuccess);
    ask_expect(ask, "an executable graph", cudaGraphInstantiate(&o.exec, o.graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, "a launch", call_once(&o, CALL_LAUNCH), cudaSuccess);
    await_gate(room, ask->stream);
    ask_expect(ask, what, change_gated(&o, gate, call), cudaSuccess);
    ask_expect(ask, "a launch after it", call_once(&o, CALL_LAUNCH), cudaSuccess);
    ask_expect(ask, what, change_gated(&o, gate, call), cudaSuccess);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect_number(ask, what, words_then(kept), (long)o.launched);
    ask_expect(ask, "a launch after both", cudaGraphLaunch(o.exec, ask->stream), cudaSuccess);
    ask_expect_number(ask, "what a launch sets after changes while others were under way", words_then(kept), 1l << o.word);
    (void)cudaGraphExecDestroy(o.exec);
    (void)cudaGraphDestroy(o.graph);
}

#endif
