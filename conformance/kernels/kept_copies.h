/* kept_copies.h - the pair of kept.cu with graphs that lose something, or all, after they were copied: to clones, child graphs, executable ones. */
#ifndef KEPT_COPIES_H_INCLUDED
#define KEPT_COPIES_H_INCLUDED

#define CLONES 5u
#define ALL_WORDS_SET 15u       /* the first four words */

/* A late kernel sets the first word. Copies of its word come after it by full edges, one of which is the last edge of all; a kernel that need not
 * wait comes after it by a programmatic one. */
struct origin {
    cudaGraph_t graph;
    cudaGraphNode_t late, copy, other, last;
};

static cudaError_t make_origin(struct kept *kept, struct kernel_args *late, struct origin *origin)
{
    cudaGraphEdgeData programmatic = edges_data(1, 0, 1);
    uint32_t *word = kept->args[0].data;
    cudaError_t error = cudaGraphCreate(&origin->graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&origin->late, origin->graph, (const void *)SYMBOL(kept_late), late, 1);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&origin->copy, origin->graph, &origin->late, 1, kept->args[1].data, word,
                                         WORD_BYTES, cudaMemcpyDefault);
    if (error == cudaSuccess)
        error = add_set(kept, origin->graph, 2, &origin->other);
    if (error == cudaSuccess)
        error = edges_add(origin->graph, &origin->late, &origin->other, &programmatic, 1);
    return error == cudaSuccess ? cudaGraphAddMemcpyNode1D(&origin->last, origin->graph, &origin->late, 1, kept->args[3].data, word,
                                                           WORD_BYTES, cudaMemcpyDefault)
                                : error;
}

/* Its three edges, one of them programmatic. */
static void expect_origin_edges(struct ask *ask, const char *what, cudaGraph_t graph)
{
    cudaGraphNode_t from[8], to[8];
    cudaGraphEdgeData data[8] = PDL_ZERO; /* a call that fails tells nothing */
    size_t count = 8, i;
    unsigned programmatic = 0;

    ask_expect(ask, what, edges_of_graph(graph, from, to, data, &count), cudaSuccess);
    ask_expect_number(ask, what, (long)count, 3);
    for (i = 0; i < count; i++)
        programmatic += data[i].type == 1;
    ask_expect_number(ask, what, (long)programmatic, 1);
}

/* ---- what is taken out of the graph ---- */

enum loss { LOSS_NODE, LOSS_EDGE, LOSS_ALL, LOSSES };
static const char *const loss_name[LOSSES] = { "lost a node", "lost an edge", "was destroyed" };

static cudaError_t lose(struct origin *origin, enum loss loss)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = origin->graph;

    switch (loss) {
    case LOSS_NODE: return cudaGraphDestroyNode(origin->other);
    case LOSS_EDGE: return edges_remove(graph, &origin->late, &origin->copy, &full, 1);
    default: origin->graph = NULL; return cudaGraphDestroy(graph);
    }
}

/* "The original graph may be modified after this call without affecting the clone", and a child graph node has a clone. */
static void ask_lost(struct kept *kept, struct kernel_args *late, enum loss loss)
{
    struct ask *ask = kept->ask;
    struct origin origin = PDL_ZERO;
    cudaGraph_t clone = NULL, second = NULL, outer = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t child = NULL;
    char text[96];

    snprintf(text, sizeof(text), "copies of a graph that %s", loss_name[loss]);
    ask_expect(ask, text, make_origin(kept, late, &origin), cudaSuccess);
    ask_expect(ask, text, cudaGraphClone(&clone, origin.graph), cudaSuccess);
    ask_expect(ask, text, cudaGraphClone(&second, clone), cudaSuccess);
    ask_expect(ask, text, cudaGraphCreate(&outer, 0), cudaSuccess);
    ask_expect(ask, text, cudaGraphAddChildGraphNode(&child, outer, NULL, 0, origin.graph), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, origin.graph, 0), cudaSuccess);
    ask_expect(ask, text, lose(&origin, loss), cudaSuccess);
    expect_origin_edges(ask, text, clone);
    expect_words(kept, exec, "an executable graph after its graph lost something", ALL_WORDS_SET);
    expect_graph(kept, "a clone of a graph that lost something", clone, ALL_WORDS_SET);
    expect_graph(kept, "a clone of a clone", second, ALL_WORDS_SET);
    expect_graph(kept, "a child graph that is a copy of one that lost something", outer, ALL_WORDS_SET);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(clone);
    (void)cudaGraphDestroy(second);
    (void)cudaGraphDestroy(outer);
    if (origin.graph)
        (void)cudaGraphDestroy(origin.graph);
}

/* ---- clones ---- */

struct cloning {
    cudaGraph_t graph, clone;
    cudaError_t error;
};

static void clone_now(void *opaque)
{
    struct cloning *c = (struct cloning *)opaque;

    c->error = cudaGraphClone(&c->clone, c->graph);
}

/* Every other clone is made by another host thread. What is made of the graph once it has many of them does what the graph does. */
static void ask_many_clones(struct kept *kept, struct kernel_args *late)
{
    struct ask *ask = kept->ask;
    struct origin origin = PDL_ZERO;
    unsigned i;

    ask_expect(ask, "a graph", make_origin(kept, late, &origin), cudaSuccess);
    for (i = 0; i < CLONES; i++) {
        struct cloning cloning = { origin.graph, NULL, cudaErrorUnknown };
        if (i % 2 == 0 || !run_in_thread(clone_now, &cloning))
            clone_now(&cloning);
        ask_expect(ask, "one of many clones", cloning.error, cudaSuccess);
        expect_origin_edges(ask, "the edges of one of many clones", cloning.clone);
        expect_graph(kept, "a launch of one of many clones", cloning.clone, ALL_WORDS_SET);
        (void)cudaGraphDestroy(cloning.clone);
    }
    expect_origin_edges(ask, "the edges of a graph that was cloned often", origin.graph);
    expect_graph(kept, "a launch of a graph that was cloned often", origin.graph, ALL_WORDS_SET);
    (void)cudaGraphDestroy(origin.graph);
}

/* An executable graph is updated from a clone of its graph that was changed. */
static void ask_update_by_clone(struct kept *kept, enum item item)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, clone = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, cloned[ITEMS] = { NULL };

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "a clone", cudaGraphClone(&clone, graph), cudaSuccess);
    ask_expect(ask, "its nodes", find_items(clone, cloned), cudaSuccess);
    ask_expect(ask, "other parameters of the clone", move_item(kept, cloned, item, LAST_WORD), cudaSuccess);
    ask_expect_update(ask, "an update from the clone", update_from(exec, clone));
    expect_words(kept, exec, "a launch after an update from a clone", MOVED(item));
    ask_expect_update(ask, "an update from the graph", update_from(exec, graph));
    expect_words(kept, exec, "a launch after an update back from the graph", ALL_ITEMS);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(clone);
}

/* What is left out of an executable graph stays out when its graph goes. */
static void ask_left_out_of_gone(struct kept *kept, enum item item)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "leaving one out", cudaGraphNodeSetEnabled(exec, node[item], 0), cudaSuccess);
    ask_expect(ask, "the end of the graph", cudaGraphDestroy(graph), cudaSuccess);
    expect_words(kept, exec, "a launch without what was left out, once the graph is gone", ALL_ITEMS & ~(1u << item));
    (void)cudaGraphExecDestroy(exec);
}

static void ask_copies(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned i;

    if (!open_kept(&kept, ask))
        return;
    if (open_late(&kept, &room, &late)) {
        for (i = 0; i < LOSSES; i++)
            ask_lost(&kept, &late, (enum loss)i);
        ask_many_clones(&kept, &late);
        (void)cudaFreeHost(room);
    }
    for (i = 0; i < ITEMS; i++) {
        if (takes_changes(i))
            ask_update_by_clone(&kept, (enum item)i);
        ask_left_out_of_gone(&kept, (enum item)i);
    }
    close_kept(&kept);
}

#endif
