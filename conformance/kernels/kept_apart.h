/* kept_apart.h - the pairs of kept.cu with graphs inside others that are changed there, and with several graphs that came of one. */
#ifndef KEPT_APART_H_INCLUDED
#define KEPT_APART_H_INCLUDED

/* ---- handed ---- */

enum change {
    CHANGE_NOTHING, CHANGE_ADDED, CHANGE_KERNEL, CHANGE_SET, CHANGE_COPY, CHANGE_ROWS, CHANGE_LAYERS, CHANGE_DESTROYED, CHANGE_EDGE, CHANGE_NO_EDGE,
    CHANGE_GENERAL, CHANGES
};

#define ALL_ITEMS ((1u << ITEMS) - 1)
#define LAST_WORD (WORDS - 1)  /* the one that no item sets at first */
/* What is set once this item sets the last word instead of its own. */
#define MOVED(item) ((ALL_ITEMS & ~(1u << (item))) | 1u << LAST_WORD)

/* The item of a graph that is not executable is to set this word. */
static cudaError_t move_item(struct kept *kept, const cudaGraphNode_t *node, enum item item, unsigned word)
{
    return set_item(kept, node[item], item, word);
}

static cudaError_t add_and_remove(cudaGraph_t graph, const cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = edges_add(graph, &node[0], &node[1], &full, 1);

    return error == cudaSuccess ? edges_remove(graph, &node[0], &node[1], &full, 1) : error;
}

/* Changes the graph; the words that it sets from now on. */
static cudaError_t change_graph(struct kept *kept, cudaGraph_t graph, const cudaGraphNode_t *node, enum change change, unsigned *want)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t added;
    int moves = change >= CHANGE_KERNEL && change < CHANGE_KERNEL + (int)ITEMS; /* in the order of the items */

    *want = change == CHANGE_ADDED       ? ALL_ITEMS | 1u << LAST_WORD
            : moves                      ? MOVED(change - CHANGE_KERNEL)
            : change == CHANGE_GENERAL   ? MOVED(ITEM_KERNEL)
            : change == CHANGE_DESTROYED ? ALL_ITEMS & ~(1u << ITEM_KERNEL)
                                         : ALL_ITEMS;
    if (moves)
        return move_item(kept, node, (enum item)(change - CHANGE_KERNEL), LAST_WORD);
    switch (change) {
    case CHANGE_ADDED: return add_set(kept, graph, LAST_WORD, &added);
    case CHANGE_DESTROYED: return cudaGraphDestroyNode(node[ITEM_KERNEL]);
    case CHANGE_EDGE: return edges_add(graph, &node[ITEM_KERNEL], &node[ITEM_SET], &full, 1);
    case CHANGE_NO_EDGE: return add_and_remove(graph, node);
    case CHANGE_GENERAL: return give_item_generally(kept, NULL, node[ITEM_KERNEL], ITEM_KERNEL, LAST_WORD);
    default: return cudaSuccess;
    }
}

static void expect_roots(struct ask *ask, const char *what, cudaGraph_t graph, long want)
{
    size_t count = 99;

    ask_expect(ask, what, cudaGraphGetRootNodes(graph, NULL, &count), cudaSuccess);
    ask_expect_number(ask, what, (long)count, want);
}

static void expect_edges(struct ask *ask, const char *what, cudaGraph_t graph, long want)
{
    size_t count = 99;

    ask_expect(ask, what, edges_of_graph(graph, NULL, NULL, NULL, &count), cudaSuccess);
    ask_expect_number(ask, what, (long)count, want);
}

/* Which item a node is; none of them is ITEMS. */
static cudaError_t tell_item(cudaGraphNode_t node, unsigned *item)
{
    struct cudaMemsetParams set = PDL_ZERO;
    struct cudaMemcpy3DParms copy = PDL_ZERO;
    enum cudaGraphNodeType type;
    cudaError_t error = cudaGraphNodeGetType(node, &type);

    if (error == cudaSuccess && type == cudaGraphNodeTypeMemset)
        error = cudaGraphMemsetNodeGetParams(node, &set);
    if (error == cudaSuccess && type == cudaGraphNodeTypeMemcpy)
        error = cudaGraphMemcpyNodeGetParams(node, &copy);
    *item = error != cudaSuccess              ? ITEMS
            : type == cudaGraphNodeTypeKernel ? ITEM_KERNEL
            : type == cudaGraphNodeTypeMemset ? (set.height > 1 ? ITEM_ROWS : ITEM_SET)
            : type == cudaGraphNodeTypeMemcpy ? (copy.extent.height > 1 ? ITEM_LAYERS : ITEM_COPY)
                                              : ITEMS;
    return error;
}

/* The items of a graph, among so many nodes. */
static cudaError_t find_items_of(cudaGraph_t graph, cudaGraphNode_t *node, size_t nodes)
{
    cudaGraphNode_t list[ITEMS + 1];
    size_t count = ITEMS + 1, i;
    unsigned item, found = 0;
    cudaError_t error = cudaGraphGetNodes(graph, list, &count);

    for (i = 0; i < count && error == cudaSuccess; i++) {
        error = tell_item(list[i], &item);
        node[item] = list[i];
        found |= 1u << item;
    }
    return error == cudaSuccess && (count != nodes || (found & ALL_ITEMS) != ALL_ITEMS) ? cudaErrorUnknown : error;
}

static cudaError_t find_items(cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphNode_t found[ITEMS + 1] = { NULL };
    cudaError_t error = find_items_of(graph, found, ITEMS);

    memcpy(node, found, ITEMS * sizeof(*node));
    return error;
}

/* A graph of items in a child graph, whose source goes at once unless it is asked for, or in a body. */
static cudaError_t make_handed(struct kept *kept, int in_body, cudaGraph_t *graph, cudaGraph_t *inner, cudaGraphNode_t *node,
                               cudaGraph_t *kept_source)
{
    cudaGraph_t source = NULL;
    cudaGraphNode_t child = NULL;
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error != cudaSuccess)
        return error;
#if CUDART_VERSION >= 12040
    if (in_body) {
        error = ask_add_if(&child, *graph, *graph, 1, inner);
        for (i = 0; i < ITEMS && error == cudaSuccess; i++)
            error = add_item(kept, *inner, (enum item)i, i);
        return error == cudaSuccess ? find_items(*inner, node) : error;
    }
#endif
    (void)in_body;
    (void)i;
    error = make_items(kept, &source, node);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&child, *graph, NULL, 0, source);
    if (kept_source)
        *kept_source = source;
    else
        (void)cudaGraphDestroy(source);
    if (error == cudaSuccess)
        error = cudaGraphChildGraphNodeGetGraph(child, inner);
    return error == cudaSuccess ? find_items(*inner, node) : error;
}

static const char *const change_name[CHANGES] = { "as it was", "a node more", "other parameters of its kernel", "other parameters of its memset",
                                                  "other parameters of its copy", "other parameters of its memset of rows",
                                                  "other parameters of its copy of layers", "a node less", "an edge more", "an edge that came and went",
                                                  "other parameters by the general call" };

/* "Changes to the graph will be reflected in the node" */
static void ask_changed_inside(struct kept *kept, int in_body, enum change change)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, inner = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };
    unsigned want;
    char text[80];

    snprintf(text, sizeof(text), "a %s: %s", in_body ? "body" : "child graph", change_name[change]);
    ask_expect(ask, text, make_handed(kept, in_body, &graph, &inner, node, NULL), cudaSuccess);
    ask_expect(ask, text, change_graph(kept, inner, node, change, &want), cudaSuccess);
    expect_edges(ask, text, inner, change == CHANGE_EDGE);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, want);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

static void CUDART_CB kept_host_set(void *word)
{
    unsigned i;

    for (i = 0; i < CELLS; i++)
        ((volatile uint32_t *)word)[i] = 1;
}
static void CUDART_CB kept_host_set_next(void *word) { kept_host_set((uint32_t *)word + CELLS); }

/* Every other word by another function, which is given the word before it. */
static void fill_host(struct kept *kept, unsigned word, struct cudaHostNodeParams *host)
{
    host->fn = word % 2 ? kept_host_set_next : kept_host_set;
    host->userData = kept->words + (word - word % 2) * CELLS;
}

static void ask_host_inside(struct kept *kept)
{
    struct ask *ask = kept->ask;
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraph_t graph = NULL, source = NULL, inner = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    size_t one = 1;

    fill_host(kept, 0, &host);
    ask_expect(ask, "a graph", cudaGraphCreate(&source, 0), cudaSuccess);
    ask_expect(ask, "a host function", cudaGraphAddHostNode(&node, source, NULL, 0, &host), cudaSuccess);
    ask_expect(ask, "a graph around it", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a child graph", cudaGraphAddChildGraphNode(&node, graph, NULL, 0, source), cudaSuccess);
    ask_expect(ask, "its graph", cudaGraphChildGraphNodeGetGraph(node, &inner), cudaSuccess);
    ask_expect(ask, "its node", cudaGraphGetNodes(inner, &node, &one), cudaSuccess);
    fill_host(kept, LAST_WORD, &host);
    ask_expect(ask, "another host function", cudaGraphHostNodeSetParams(node, &host), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, "a launch of the other host function", 1u << LAST_WORD);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(source);
    (void)cudaGraphDestroy(graph);
}

#if CUDART_VERSION >= 12040
#define MOST_BODIES 40u

/* "If the condition >= size, no body graph is executed."; a loop's is executed "as long as the condition is non-zero". So it is in a body that runs. */
static void ask_bodies(struct kept *kept, enum cudaGraphConditionalNodeType type, unsigned size, unsigned value, unsigned want)
{
    struct ask *ask = kept->ask;
    unsigned inside, i;

    for (inside = 0; inside < 2; inside++) {
        cudaGraphConditionalHandle handle = 0;
        cudaGraph_t graph = NULL, around, body[MOST_BODIES];
        cudaGraphExec_t exec = NULL;
        cudaGraphNode_t node = NULL;
        cudaError_t error = cudaGraphCreate(&graph, 0);
        around = graph;
        if (error == cudaSuccess && inside)
            error = ask_add_if(&node, graph, graph, 1, &around);
        if (error == cudaSuccess && inside)
            error = add_item(kept, around, ITEM_KERNEL, LAST_WORD);
        if (error == cudaSuccess)
            error = cudaGraphConditionalHandleCreate(&handle, graph, value, cudaGraphCondAssignDefault);
        if (error == cudaSuccess)
            error = ask_add_conditional(&node, around, handle, type, size, body);
        for (i = 0; i < size && error == cudaSuccess; i++)
            error = add_item(kept, body[i], ITEM_KERNEL, i % LAST_WORD);
        ask_expect(ask, "bodies", error, cudaSuccess);
        ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        expect_words(kept, exec, inside ? "which of the bodies in a body runs" : "which of the bodies runs", want | inside << LAST_WORD);
        (void)cudaGraphExecDestroy(exec);
        (void)cudaGraphDestroy(graph);
    }
}
#endif

static void ask_handed(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned change;

    if (!open_kept(&kept, ask))
        return;
    for (change = 0; change < CHANGES; change++) {
        ask_changed_inside(&kept, 0, (enum change)change);
#if CUDART_VERSION >= 12040
        if (has_conditions())
            ask_changed_inside(&kept, 1, (enum change)change);
#endif
    }
    ask_host_inside(&kept);
#if CUDART_VERSION >= 12040
    if (has_conditions()) {
        unsigned bit;
        ask_bodies(&kept, cudaGraphCondTypeWhile, 1, 0, 0);
        ask_bodies(&kept, cudaGraphCondTypeIf, 1, 0, 0);
        for (bit = 1; bit < 32; bit += 6)
            ask_bodies(&kept, cudaGraphCondTypeIf, 1, 1u << bit, 1);
    }
#endif
#if CUDART_VERSION >= 12080
    if (has_version(12080)) {
        ask_bodies(&kept, cudaGraphCondTypeIf, 2, 0, 2);
        ask_bodies(&kept, cudaGraphCondTypeIf, 2, 1, 1);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 2, 0, 1);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 2, 1, 2);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 2, 2, 0);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 2, 256, 0);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 2, 65537, 0);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, 18, 16, 1u << 16 % LAST_WORD);
        ask_bodies(&kept, cudaGraphCondTypeSwitch, MOST_BODIES, 39, 1u << 39 % LAST_WORD);
    }
#endif
    close_kept(&kept);
}

/* ---- apart ---- */

static void expect_graph(struct kept *kept, const char *what, cudaGraph_t graph, unsigned want)
{
    cudaGraphExec_t exec = NULL;

    ask_expect(kept->ask, what, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, what, want);
    (void)cudaGraphExecDestroy(exec);
}

/* "originalNode must have been in the original graph at the time of the call to cudaGraphClone": one that came later is not in the clone. */
static void expect_not_found(struct kept *kept, cudaGraph_t graph, cudaGraph_t clone, const cudaGraphNode_t *node, const cudaGraphNode_t *cloned)
{
    struct ask *ask = kept->ask;
    cudaGraphNode_t late = NULL, found = NULL;
    unsigned i;

    ask_expect(ask, "a node that comes after the clone", cudaGraphAddEmptyNode(&late, graph, NULL, 0), cudaSuccess);
    ask_expect_refusal(ask, "that node in the clone", cudaGraphNodeFindInClone(&found, late, clone));
    (void)cudaGetLastError();
    for (i = 0; i < ITEMS; i++) {
        ask_expect(ask, "a node of before in the clone", cudaGraphNodeFindInClone(&found, node[i], clone), cudaSuccess);
        ask_expect_number(ask, "it is the clone's", found == cloned[i], 1);
    }
    ask_expect(ask, "the end of the node that came later", cudaGraphDestroyNode(late), cudaSuccess);
}

/* Each of two graphs, one of them a clone of the other, is changed after that. "The original graph may be modified after this call without
 * affecting the clone." */
static void ask_clone_apart(struct kept *kept, int clone_first)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL, clone = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, cloned[ITEMS] = { NULL };

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "a clone", cudaGraphClone(&clone, graph), cudaSuccess);
    ask_expect(ask, "its nodes", find_items(clone, cloned), cudaSuccess);
    if (clone_first)
        ask_expect(ask, "an edge of the clone", edges_add(clone, &cloned[0], &cloned[1], &full, 1), cudaSuccess);
    expect_edges(ask, "the edges of the graph before it has any", graph, 0);
    expect_roots(ask, "the roots of the graph before it has edges", graph, ITEMS);
    ask_expect(ask, "an edge of the graph", edges_add(graph, &node[0], &node[1], &full, 1), cudaSuccess);
    ask_expect(ask, "another one", edges_add(graph, &node[1], &node[2], &full, 1), cudaSuccess);
    expect_edges(ask, "the edges of the graph", graph, 2);
    expect_roots(ask, "the roots of the graph", graph, ITEMS - 2);
    ask_expect(ask, "removing an edge of the graph", edges_remove(graph, &node[1], &node[2], &full, 1), cudaSuccess);
    expect_edges(ask, "the edges of the graph then", graph, 1);
    ask_expect(ask, "the edge once more", edges_add(graph, &node[1], &node[2], &full, 1), cudaSuccess);
    expect_edges(ask, "the edges of the clone", clone, clone_first);
    if (clone_first) {
        ask_expect(ask, "removing the edge of the clone", edges_remove(clone, &cloned[0], &cloned[1], &full, 1), cudaSuccess);
        expect_edges(ask, "the edges of the clone then", clone, 0);
    }
    ask_expect(ask, "other parameters of the graph", move_item(kept, node, ITEM_KERNEL, LAST_WORD), cudaSuccess);
    ask_expect(ask, "other parameters of the clone", move_item(kept, cloned, ITEM_SET, LAST_WORD), cudaSuccess);
    expect_graph(kept, "a launch of the clone", clone, MOVED(ITEM_SET));
    expect_not_found(kept, graph, clone, node, cloned);
    ask_expect(ask, "the end of the clone", cudaGraphDestroy(clone), cudaSuccess);
    expect_edges(ask, "the edges of the graph without its clone", graph, 2);
    expect_graph(kept, "a launch of the graph without its clone", graph, MOVED(ITEM_KERNEL));
    (void)cudaGraphDestroy(graph);
}

/* A child graph node that is destroyed takes no edge between others along. */
static void ask_without_child(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, child = NULL;

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "a child graph", ask_add_child(&child, graph), cudaSuccess);
    ask_expect(ask, "an edge into it", edges_add(graph, &node[0], &child, &full, 1), cudaSuccess);
    ask_expect(ask, "an edge beside it", edges_add(graph, &node[0], &node[1], &full, 1), cudaSuccess);
    ask_expect(ask, "the end of the child graph", cudaGraphDestroyNode(child), cudaSuccess);
    expect_edges(ask, "the edges without the child graph", graph, 1);
    (void)cudaGraphDestroy(graph);
}

/* A change of a graph that another host thread may make. */
struct changing {
    struct kept *kept;
    cudaGraph_t graph;
    const cudaGraphNode_t *node;
    enum change change;
    unsigned want;             /* the words that it sets then */
    cudaError_t error;
};

static void change_now(void *opaque)
{
    struct changing *c = (struct changing *)opaque;

    c->error = change_graph(c->kept, c->graph, c->node, c->change, &c->want);
}

/* A graph goes on being changed after an executable one was made of it, and what is made of it next does what it has become. "API calls
 * accessing the same graph object must be serialized externally": then another thread may make them. */
static void ask_again(struct kept *kept, enum change change, int elsewhere)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t first = NULL, second = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };
    struct changing changing = { kept, NULL, node, change, 0, cudaErrorUnknown };
    unsigned want;

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&first, graph, 0), cudaSuccess);
    ask_expect(ask, "its copy left out", cudaGraphNodeSetEnabled(first, node[ITEM_COPY], 0), cudaSuccess);
    changing.graph = graph;
    if (!elsewhere || !run_in_thread(change_now, &changing)) {
        change_now(&changing);
        if (elsewhere)
            ask_skip(ask, "a change by another host thread", "no thread was had");
    }
    ask_expect(ask, elsewhere ? "a change of the graph by another host thread" : "a change of the graph", changing.error, cudaSuccess);
    want = changing.want;
    expect_edges(ask, "the edges of the changed graph", graph, change == CHANGE_EDGE);
    ask_expect(ask, "a second executable one", cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
    expect_words(kept, second, "a launch of what the graph has become", want);
    expect_words(kept, first, "a launch of what it was", ALL_ITEMS & ~(1u << ITEM_COPY));
    (void)cudaGraphExecDestroy(first);
    expect_words(kept, second, "a launch once the first one is gone", want);
    expect_edges(ask, "the edges once it is gone", graph, change == CHANGE_EDGE);
    (void)cudaGraphExecDestroy(second);
    (void)cudaGraphDestroy(graph);
}

/* A body or a child graph is changed after an executable graph was made of what is around it: that one does what it did, and so does the graph
 * that the child is a copy of. "childGraph ... is cloned in this call" */
static void ask_again_inside(struct kept *kept, int in_body, enum change change)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, inner = NULL, source = NULL;
    cudaGraphExec_t first = NULL, second = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };
    unsigned want;
    char text[96];

    snprintf(text, sizeof(text), "a %s, later: %s", in_body ? "body" : "child graph", change_name[change]);
    ask_expect(ask, text, make_handed(kept, in_body, &graph, &inner, node, &source), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&first, graph, 0), cudaSuccess);
    ask_expect(ask, text, change_graph(kept, inner, node, change, &want), cudaSuccess);
    expect_words(kept, first, text, ALL_ITEMS);
    if (in_body) { /* of a graph with conditional nodes there is one executable graph at a time */
        (void)cudaGraphExecDestroy(first);
        first = NULL;
    }
    ask_expect(ask, text, cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
    expect_words(kept, second, text, want);
    if (first) {
        expect_words(kept, first, text, ALL_ITEMS);
        (void)cudaGraphExecDestroy(first);
    }
    if (source) {
        expect_edges(ask, "the edges of the graph that the child is a copy of", source, 0);
        expect_graph(kept, "a launch of the graph that the child is a copy of", source, ALL_ITEMS);
        (void)cudaGraphDestroy(source);
    }
    (void)cudaGraphExecDestroy(second);
    (void)cudaGraphDestroy(graph);
}

/* "The nodes' ... status in other graphExecs": each of two executable graphs of one graph has its own. */
static void ask_two(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t first = NULL, second = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };
    unsigned i, enabled;

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&first, graph, 0), cudaSuccess);
    ask_expect(ask, "another one", cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
    for (i = 0; i < ITEMS; i++) {
        ask_expect(ask, "leaving out one item of the first", cudaGraphNodeSetEnabled(first, node[i], 0), cudaSuccess);
        enabled = 2;
        ask_expect(ask, "whether the second has it", cudaGraphNodeGetEnabled(second, node[i], &enabled), cudaSuccess);
        ask_expect_number(ask, "whether the second has it", (long)enabled, 1);
        enabled = 2;
        ask_expect(ask, "whether the first has it", cudaGraphNodeGetEnabled(first, node[i], &enabled), cudaSuccess);
        ask_expect_number(ask, "whether the first has it", (long)enabled, 0);
        expect_words(kept, second, "a launch of the second", ALL_ITEMS);
        expect_words(kept, first, "a launch of the first", ALL_ITEMS & ~(1u << i));
        ask_expect(ask, "enabling it by another number", cudaGraphNodeSetEnabled(first, node[i], 2), cudaSuccess);
        expect_words(kept, first, "a launch with it", ALL_ITEMS);
    }
    ask_expect(ask, "new parameters of the first", give_word(kept, first, node[ITEM_KERNEL], LAST_WORD), cudaSuccess);
    expect_words(kept, second, "a launch of the second", ALL_ITEMS);
    expect_words(kept, first, "a launch of the first with new parameters", MOVED(ITEM_KERNEL));
    (void)cudaGraphExecDestroy(first);
    (void)cudaGraphExecDestroy(second);
    (void)cudaGraphDestroy(graph);
}

/* What an executable graph was given goes with it: its graph is as it was. */
static void ask_given_and_gone(struct kept *kept, enum item item)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };

    ask_expect(ask, "a graph", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "new parameters of it", give_item(kept, exec, node[item], item, LAST_WORD), cudaSuccess);
    expect_words(kept, exec, "a launch with new parameters", MOVED(item));
    ask_expect(ask, "its end", cudaGraphExecDestroy(exec), cudaSuccess);
    expect_graph(kept, "a launch of what the graph was before and is still", graph, ALL_ITEMS);
    ask_expect(ask, "another executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "one of its nodes left out", cudaGraphNodeSetEnabled(exec, node[item], 0), cudaSuccess);
    ask_expect(ask, "its end", cudaGraphExecDestroy(exec), cudaSuccess);
    expect_graph(kept, "a launch once the one is gone that left a node out", graph, ALL_ITEMS);
    (void)cudaGraphDestroy(graph);
}

static void ask_apart(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned change;

    if (!open_kept(&kept, ask))
        return;
    ask_clone_apart(&kept, 0);
    ask_clone_apart(&kept, 1);
    ask_without_child(&kept);
    for (change = 0; change < CHANGES; change++) {
        ask_again(&kept, (enum change)change, 0);
        ask_again(&kept, (enum change)change, 1);
        ask_again_inside(&kept, 0, (enum change)change);
#if CUDART_VERSION >= 12040
        if (has_conditions())
            ask_again_inside(&kept, 1, (enum change)change);
#endif
    }
    ask_two(&kept);
    for (change = 0; change < ITEMS; change++)
        if (takes_changes(change))
            ask_given_and_gone(&kept, (enum item)change);
    close_kept(&kept);
}

#endif
