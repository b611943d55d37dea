/* kept_items.h - the pairs of kept.cu with memsets, copies, edges, child graphs and conditional bodies. */
#ifndef KEPT_ITEMS_H_INCLUDED
#define KEPT_ITEMS_H_INCLUDED

/* ---- items ---- */

/* A node of this kind that sets the word of these arguments. */
static cudaError_t add_item_to(cudaGraph_t graph, enum item item, struct kernel_args *args, const uint32_t *source, cudaGraphNode_t *node)
{
    struct cudaMemsetParams set = set_of(args->data, item == ITEM_ROWS);
    struct cudaMemcpy3DParms layers = layers_of_words(args->data, source + CELLS);

    switch (item) {
    case ITEM_KERNEL: return ask_add_kernel(node, graph, (const void *)SYMBOL(kept_set), args, 1);
    case ITEM_COPY: return cudaGraphAddMemcpyNode1D(node, graph, NULL, 0, args->data, source, WORD_BYTES, cudaMemcpyDefault);
    case ITEM_LAYERS: return cudaGraphAddMemcpyNode(node, graph, NULL, 0, &layers);
    default: return cudaGraphAddMemsetNode(node, graph, NULL, 0, &set);
    }
}

/* Each sets the word of its number. */
static cudaError_t make_items(struct kept *kept, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaError_t error = cudaGraphCreate(graph, 0);
    unsigned i;

    for (i = 0; i < ITEMS && error == cudaSuccess; i++)
        error = add_item_to(*graph, (enum item)i, &kept->args[i], kept->source, &node[i]);
    return error;
}

/* Copies of layers take no new parameters in an executable graph, and no update: "Both the instantiation-time memory operands and the memory
 * operands in pNodeParams must be 1-dimensional." */
static int takes_changes(unsigned item) { return item != ITEM_LAYERS; }

/* The item of a graph that is not executable is to set this word. */
static cudaError_t set_item(struct kept *kept, cudaGraphNode_t node, enum item item, unsigned word)
{
    void *values[1];
    struct cudaKernelNodeParams kernel = params_of_set(&kept->args[word], values);
    struct cudaMemsetParams set = set_of(kept->args[word].data, item == ITEM_ROWS);
    struct cudaMemcpy3DParms layers = layers_of_words(kept->args[word].data, kept->source + CELLS);

    switch (item) {
    case ITEM_KERNEL: return cudaGraphKernelNodeSetParams(node, &kernel);
    case ITEM_COPY: return cudaGraphMemcpyNodeSetParams1D(node, kept->args[word].data, kept->source, WORD_BYTES, cudaMemcpyDefault);
    case ITEM_LAYERS: return cudaGraphMemcpyNodeSetParams(node, &layers);
    default: return cudaGraphMemsetNodeSetParams(node, &set);
    }
}

/* It is to set the word of these arguments, by the call for its kind. */
static cudaError_t give_item_to(cudaGraphExec_t exec, cudaGraphNode_t node, enum item item, struct kernel_args *args, const uint32_t *source)
{
    struct cudaMemsetParams set = set_of(args->data, item == ITEM_ROWS);

    switch (item) {
    case ITEM_KERNEL: return give_kernel(exec, node, args);
    case ITEM_COPY: return cudaGraphExecMemcpyNodeSetParams1D(exec, node, args->data, source, WORD_BYTES, cudaMemcpyDefault);
    default: return cudaGraphExecMemsetNodeSetParams(exec, node, &set);
    }
}

static cudaError_t give_item(struct kept *kept, cudaGraphExec_t exec, cudaGraphNode_t node, enum item item, unsigned word)
{
    return give_item_to(exec, node, item, &kept->args[word], kept->source);
}

/* ... or by the call for nodes of every kind: of the executable graph, or NULL of its graph. Copies take the call for their kind. */
static cudaError_t give_item_generally(struct kept *kept, cudaGraphExec_t exec, cudaGraphNode_t node, enum item item, unsigned word)
{
#if CUDART_VERSION >= 12040
    struct cudaGraphNodeParams params = PDL_ZERO;
    struct cudaMemsetParams set = set_of(kept->args[word].data, item == ITEM_ROWS);
    void *values[1];

    values[0] = &kept->args[word];
    params = item == ITEM_KERNEL ? ask_general_kernel((const void *)SYMBOL(kept_set), values) : ask_general_memset(&set);
    if (item != ITEM_COPY && item != ITEM_LAYERS)
        return exec ? cudaGraphExecNodeSetParams(exec, node, &params) : cudaGraphNodeSetParams(node, &params);
#endif
    return exec ? give_item(kept, exec, node, item, word) : set_item(kept, node, item, word);
}

/* Each gets the parameters that it has. */
static cudaError_t give_items(struct kept *kept, cudaGraphExec_t exec, const cudaGraphNode_t *node, int generally)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < ITEMS && error == cudaSuccess; i++)
        if (takes_changes(i))
            error = generally ? give_item_generally(kept, exec, node[i], (enum item)i, i) : give_item(kept, exec, node[i], (enum item)i, i);
    return error;
}

static void ask_items_without(struct kept *kept, unsigned disabled)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, unused[ITEMS] = { NULL };
    unsigned all = (1u << ITEMS) - 1, i;

    ask_expect(ask, "a graph of all items", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "another one", make_items(kept, &other, unused), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (i = 0; i < ITEMS; i++)
        if (disabled >> i & 1)
            ask_expect(ask, "disabling one", cudaGraphNodeSetEnabled(exec, node[i], 0), cudaSuccess);
    expect_words(kept, exec, "a launch without what is disabled", all & ~disabled);
    ask_expect(ask, "new parameters", give_items(kept, exec, node, 0), cudaSuccess);
    expect_words(kept, exec, "a launch after new parameters", all & ~disabled);
    ask_expect(ask, "new parameters by the general call", give_items(kept, exec, node, 1), cudaSuccess);
    expect_words(kept, exec, "a launch after new parameters by the general call", all & ~disabled);
    ask_expect_update(ask, "an update", update_from(exec, other));
    expect_words(kept, exec, "a launch after an update", all & ~disabled);
    ask_expect(ask, "an upload", cudaGraphUpload(exec, ask->stream), cudaSuccess);
    expect_words(kept, exec, "a launch after an upload", all & ~disabled);
    for (i = 0; i < ITEMS; i++)
        ask_expect(ask, "enabling all", cudaGraphNodeSetEnabled(exec, node[i], 1), cudaSuccess);
    expect_words(kept, exec, "a launch when all are enabled", all);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static void ask_items(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned disabled;

    if (!open_kept(&kept, ask))
        return;
    for (disabled = 1; disabled < 1u << ITEMS; disabled++)
        ask_items_without(&kept, disabled);
    close_kept(&kept);
}

/* ---- edges ---- */

/* Whether the second kernel has this edge from the first, and no other. */
static void expect_edge(struct ask *ask, const char *what, cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData *want)
{
    cudaGraphEdgeData data[2];
    cudaGraphNode_t node[2] = { NULL, NULL };
    size_t count = 2;

    ask_expect(ask, what, edges_into_node(to, node, data, &count), cudaSuccess);
    ask_expect_number(ask, what, (long)count, 1);
    ask_expect_number(ask, what, node[0] == from && memcmp(&data[0], want, sizeof(*want)) == 0, 1);
}

/* Whether an edge with other data counts as the one that is there is not promised (AMB-12); a refused one changes nothing. */
static void ask_other_data(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData kinds[4];
    cudaGraph_t graph = NULL;
    cudaGraphNode_t first = NULL, second = NULL;
    unsigned i;

    kinds[0] = edges_data(0, 0, 0);
    kinds[1] = edges_data(1, 0, 1);
    kinds[2] = edges_data(2, 0, 1);
    kinds[3] = edges_data(0, 0, 0);
    for (i = 0; i < 3; i++) {
        ask_expect(ask, "a graph", make_set(kept, 0, &graph, &first), cudaSuccess);
        ask_expect(ask, "a second kernel", add_set(kept, graph, 1, &second), cudaSuccess);
        ask_expect(ask, "an edge", edges_add(graph, &first, &second, &kinds[i], 1), cudaSuccess);
        if (edges_add(graph, &first, &second, &kinds[i + 1], 1) != cudaSuccess)
            expect_edge(ask, "the edge after another one was refused", first, second, &kinds[i]);
        (void)cudaGetLastError();
        (void)cudaGraphDestroy(graph);
    }
}

/* A kernel that is added now: it comes after this node alone, or after none. */
static void expect_newcomer(struct kept *kept, cudaGraph_t graph, cudaGraphNode_t after, size_t edges, size_t roots)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t added = NULL;
    size_t count = 0, first = 0, before = 0;

    ask_expect(ask, "a kernel after the loss", add_set(kept, graph, 0, &added), cudaSuccess);
    if (after) {
        ask_expect(ask, "its edge", edges_add(graph, &after, &added, &full, 1), cudaSuccess);
        expect_edge(ask, "its edge is the one that was added", after, added, &full);
    }
    ask_expect(ask, "what comes before it", edges_into_node(added, NULL, NULL, &before), cudaSuccess);
    ask_expect_number(ask, "what comes before it", (long)before, after != NULL);
    ask_expect(ask, "the edges with it", edges_of_graph(graph, NULL, NULL, NULL, &count), cudaSuccess);
    ask_expect_number(ask, "the edges with it", (long)count, (long)edges);
    ask_expect(ask, "the roots with it", cudaGraphGetRootNodes(graph, NULL, &first), cudaSuccess);
    ask_expect_number(ask, "the roots with it", (long)first, (long)roots);
}

/* Of three kernels in a row this one goes; what is added then has edges of its own only. */
static void ask_without(struct kept *kept, unsigned port, unsigned which)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData data = edges_data(port, 0, port != 0), full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[3] = { NULL, NULL, NULL }, left[2];
    size_t edges = 0, roots = 0, stay = which != 1;
    unsigned i;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node[0]), cudaSuccess);
    for (i = 1; i < 3; i++) {
        ask_expect(ask, "a kernel", add_set(kept, graph, i, &node[i]), cudaSuccess);
        ask_expect(ask, "an edge", edges_add(graph, &node[i - 1], &node[i], &data, 1), cudaSuccess);
    }
    ask_expect(ask, "destroying one of three", cudaGraphDestroyNode(node[which]), cudaSuccess);
    left[0] = node[which == 0], left[1] = node[2 - (which == 2)];
    if (stay) { /* taken out, since without room for its data its count may be refused */
        ask_expect(ask, "the edge that stays", edges_remove(graph, &left[0], &left[1], &data, 1), cudaSuccess);
        ask_expect(ask, "a full one instead", edges_add(graph, &left[0], &left[1], &full, 1), cudaSuccess);
    }
    ask_expect(ask, "the edges then", edges_of_graph(graph, NULL, NULL, NULL, &edges), cudaSuccess);
    ask_expect_number(ask, "the edges then", (long)edges, (long)stay);
    ask_expect(ask, "the roots then", cudaGraphGetRootNodes(graph, NULL, &roots), cudaSuccess);
    ask_expect_number(ask, "the roots then", (long)roots, 2 - (long)stay);
    expect_newcomer(kept, graph, NULL, stay, 3 - stay);
    expect_newcomer(kept, graph, left[1], stay + 1, 3 - stay);
    expect_newcomer(kept, graph, left[0], stay + 2, 3 - stay);
    (void)cudaGraphDestroy(graph);
}

#if CUDART_VERSION >= 12040
/* "Requires that both nodes be kernel nodes" */
static void ask_into_condition(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, body = NULL;
    cudaGraphNode_t first = NULL, second = NULL;
    unsigned port;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &first), cudaSuccess);
    ask_expect(ask, "a conditional node", ask_add_if(&second, graph, graph, 1, &body), cudaSuccess);
    for (port = 1; port < 3; port++) {
        cudaGraphEdgeData data = edges_data(port, 0, 1);
        ask_expect_refusal(ask, "a programmatic edge into a conditional node", edges_add(graph, &first, &second, &data, 1));
        ask_expect_refusal(ask, "a programmatic edge out of one", edges_add(graph, &second, &first, &data, 1));
    }
    (void)cudaGraphDestroy(graph);
}
#endif

/* An empty node after another one, by the call for nodes of every kind. */
static cudaError_t add_generally(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t after)
{
    struct cudaGraphNodeParams params = PDL_ZERO;
    cudaGraphEdgeData full = edges_data(0, 0, 0);

    params.type = cudaGraphNodeTypeEmpty;
    return edges_add_node(node, graph, &after, &full, 1, &params);
}

/* A node before or after a late kernel goes. A node of this kind, or one by the general call, that is added after that kernel then comes after
 * it; so does a copy of its word after that node, which gets its edge with it or by a call of its own. */
static void ask_added_without(struct kept *kept, struct kernel_args *late, int lost_first, unsigned kind, const struct node_room *nodes)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    size_t with = kind % 2;
    cudaGraphNode_t pair[2] = { NULL, NULL }, added = NULL, copy = NULL, *kernel = &pair[lost_first], *lost = &pair[!lost_first];
    char text[96];

    snprintf(text, sizeof(text), "added after a node was destroyed: %s", kind < NODE_KINDS ? node_kind_name[kind] : "by the general call");
    ask_expect(ask, text, cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, text, ask_add_kernel(kernel, graph, (const void *)SYMBOL(kept_late), late, 1), cudaSuccess);
    ask_expect(ask, text, add_set(kept, graph, 2, lost), cudaSuccess);
    ask_expect(ask, text, edges_add(graph, &pair[0], &pair[1], &full, 1), cudaSuccess);
    ask_expect(ask, text, cudaGraphDestroyNode(*lost), cudaSuccess);
    ask_expect(ask, text, kind < NODE_KINDS ? ask_add_after(&added, graph, kernel, 1, (enum node_kind)kind, nodes)
                                            : add_generally(&added, graph, *kernel), cudaSuccess);
    ask_expect(ask, text, cudaGraphAddMemcpyNode1D(&copy, graph, with ? &added : NULL, with, kept->args[1].data, kept->args[0].data,
                                                   WORD_BYTES, cudaMemcpyDefault), cudaSuccess);
    if (!with)
        ask_expect(ask, text, edges_add(graph, &added, &copy, &full, 1), cudaSuccess);
    expect_edge(ask, text, *kernel, added, &full);
    expect_edge(ask, text, added, copy, &full);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, 3);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

static void ask_added_later(struct kept *kept)
{
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    struct node_room nodes = PDL_ZERO;
    unsigned i;

    if (!open_late(kept, &room, &late))
        return;
    ask_expect(kept->ask, "memory and an event of nodes", ask_open_room(&nodes, (const void *)SYMBOL(kept_nothing)), cudaSuccess);
    for (i = 0; i < 2 * (NODE_KINDS + 1u) && nodes.event; i++)
        ask_added_without(kept, &late, i % 2, i / 2, &nodes);
    ask_close_room(&nodes);
    (void)cudaFreeHost(room);
}

/* A child graph of two kernels with this edge between them, cloned or moved. */
static cudaError_t add_child_of_two(struct kept *kept, cudaGraph_t graph, const cudaGraphEdgeData *data, int moved, cudaGraphNode_t *child)
{
    cudaGraphNode_t node[2] = { NULL, NULL };
    cudaGraph_t inner = NULL;
    cudaError_t error = make_set(kept, 0, &inner, &node[0]);

    if (error == cudaSuccess)
        error = add_set(kept, inner, 1, &node[1]);
    if (error == cudaSuccess)
        error = edges_add(inner, &node[0], &node[1], data, 1);
    return error == cudaSuccess ? ask_nest(child, graph, inner, moved) : error;
}

/* A new child graph has its own edges, and none of one that was destroyed. */
static void ask_child_after_destroyed(struct kept *kept, unsigned lost_port, unsigned port)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData lost = edges_data(lost_port, 0, lost_port != 0), want = edges_data(port, 0, port != 0), is[2];
    cudaGraphNode_t child = NULL, from[2], to[2];
    cudaGraph_t graph = NULL, inner = NULL;
    size_t count = 2;

    ask_expect(ask, "a graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a child graph", add_child_of_two(kept, graph, &lost, 0, &child), cudaSuccess);
    ask_expect(ask, "its end", cudaGraphDestroyNode(child), cudaSuccess);
    ask_expect(ask, "another child graph", add_child_of_two(kept, graph, &want, lost_port == 0, &child), cudaSuccess);
    ask_expect(ask, "its graph", cudaGraphChildGraphNodeGetGraph(child, &inner), cudaSuccess);
    ask_expect(ask, "its edges", edges_of_graph(inner, from, to, is, &count), cudaSuccess);
    ask_expect_number(ask, "its edge is its own", count == 1 && memcmp(&is[0], &want, sizeof(want)) == 0, 1);
    (void)cudaGraphDestroy(graph);
}

/* Three kernels, of which an edge of each kind leads on; the refused instance or the refused edge of a cycle leaves them what they were. */
static void ask_kinds_without_cycle(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t node[3] = { NULL, NULL, NULL };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned i;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node[0]), cudaSuccess);
    for (i = 1; i < 3; i++) {
        cudaGraphEdgeData data = edges_data(i, 0, 1);
        ask_expect(ask, "another kernel", add_set(kept, graph, i, &node[i]), cudaSuccess);
        ask_expect(ask, "a programmatic edge", edges_add(graph, &node[i - 1], &node[i], &data, 1), cudaSuccess);
    }
    if (edges_add(graph, &node[2], &node[0], &full, 1) == cudaSuccess) {
        ask_expect_refusal(ask, "an executable graph with a cycle of three", cudaGraphInstantiate(&exec, graph, 0));
        ask_expect(ask, "removing the edge back to the first", edges_remove(graph, &node[2], &node[0], &full, 1), cudaSuccess);
    }
    (void)cudaGetLastError();
    for (i = 1; i < 3; i++) {
        cudaGraphEdgeData data = edges_data(i, 0, 1);
        expect_edge(ask, "a programmatic edge once its cycle was refused", node[i - 1], node[i], &data);
    }
    (void)cudaGraphDestroy(graph);
}

static void ask_edges(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned i;

    if (!open_kept(&kept, ask))
        return;
    ask_other_data(&kept);
    ask_kinds_without_cycle(&kept);
    for (i = 0; i < 3 * 3; i++)
        ask_child_after_destroyed(&kept, i % 3, i / 3);
    for (i = 0; i < 2 * 3; i++)
        ask_without(&kept, i % 2, i / 2);
    ask_added_later(&kept);
#if CUDART_VERSION >= 12040
    if (has_conditions())
        ask_into_condition(&kept);
#endif
    close_kept(&kept);
}

/* ---- inside ---- */

#define NEVER WORDS             /* for a word: the first one, in a body that does not run */

/* One node of this kind that sets this word. */
static cudaError_t add_item(struct kept *kept, cudaGraph_t graph, enum item item, unsigned word)
{
    cudaGraphNode_t node = NULL;

    return add_item_to(graph, item, &kept->args[word], kept->source, &node);
}

/* in_body: so many bodies, one in the other, of which the outer one runs; 0: a child graph. */
static cudaError_t make_inside(struct kept *kept, int in_body, enum item item, unsigned word, cudaGraph_t *graph)
{
    cudaGraph_t inner = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error != cudaSuccess)
        return error;
#if CUDART_VERSION >= 12040
    if (in_body) {
        cudaGraph_t around = *graph;
        if (in_body > 1)
            error = ask_add_if(&node, *graph, *graph, 1, &around);
        if (error == cudaSuccess)
            error = ask_add_if(&node, *graph, around, word != NEVER, &inner);
        word = word == NEVER ? 0 : word;
        return error == cudaSuccess ? add_item(kept, inner, item, word) : error;
    }
#endif
    error = cudaGraphCreate(&inner, 0);
    if (error == cudaSuccess)
        error = add_item(kept, inner, item, word);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, inner);
    (void)cudaGraphDestroy(inner);
    return error;
}

/* "Changing parameters of nodes within the conditional body graph is subject to the rules above" */
static void ask_updated_inside(struct kept *kept, int in_body, enum item item)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    char text[64];

    snprintf(text, sizeof(text), "%s in a %s", item_name[item], in_body ? "body" : "child");
    ask_expect(ask, text, make_inside(kept, in_body, item, 0, &graph), cudaSuccess);
    ask_expect(ask, text, make_inside(kept, in_body, item, 1, &other), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, 1);
    ask_expect_update(ask, text, update_from(exec, other));
    snprintf(text, sizeof(text), "%s in a %s, updated", item_name[item], in_body ? "body" : "child");
    expect_words(kept, exec, text, 2);
    ask_expect_update(ask, text, update_from(exec, graph));
    expect_words(kept, exec, text, 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

#if CUDART_VERSION >= 12040
struct bodies {
    enum cudaGraphConditionalNodeType type;
    unsigned size, value; /* of the condition */
};

/* A conditional node whose first body sets the word `first`, each next one the word after it. */
static cudaError_t make_bodies(struct kept *kept, const struct bodies *of, unsigned first, cudaGraph_t *graph)
{
    cudaGraphConditionalHandle handle = 0;
    cudaGraph_t body[WORDS];
    cudaGraphNode_t node = NULL;
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphConditionalHandleCreate(&handle, *graph, of->value, cudaGraphCondAssignDefault);
    if (error == cudaSuccess)
        error = ask_add_conditional(&node, *graph, handle, of->type, of->size, body);
    for (i = 0; i < of->size && error == cudaSuccess; i++)
        error = add_item(kept, body[i], ITEM_KERNEL, first + i);
    return error;
}

/* "Conditional handle flags and default values are updated as part of the graph update." was, is: the words of the bodies that run. */
static void expect_turns(struct kept *kept, cudaGraph_t graph, cudaGraph_t other, unsigned was, unsigned is)
{
    struct ask *ask = kept->ask;
    cudaGraphExec_t exec = NULL;

    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, "the body that runs", was);
    ask_expect_update(ask, "an update", update_from(exec, other));
    expect_words(kept, exec, "the body that runs after an update", is);
    ask_expect_update(ask, "an update", update_from(exec, graph));
    expect_words(kept, exec, "the body that runs again", was);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static void ask_updated_condition(struct kept *kept, int bodies)
{
    struct ask *ask = kept->ask;
    cudaGraph_t runs = NULL, rests = NULL;

    ask_expect(ask, "a body that runs", make_inside(kept, bodies, ITEM_KERNEL, 0, &runs), cudaSuccess);
    ask_expect(ask, "a body that does not", make_inside(kept, bodies, ITEM_KERNEL, NEVER, &rests), cudaSuccess);
    expect_turns(kept, runs, rests, 1, 0);
}

#if CUDART_VERSION >= 12080
/* The same of several bodies, of which another one runs. */
static void ask_updated_choice(struct kept *kept, enum cudaGraphConditionalNodeType type, unsigned was, unsigned is)
{
    struct ask *ask = kept->ask;
    struct bodies before = { type, 2, was }, after = { type, 2, is };
    int by_value = type == cudaGraphCondTypeSwitch;
    cudaGraph_t graph = NULL, other = NULL;

    ask_expect(ask, "a choice of bodies", make_bodies(kept, &before, 0, &graph), cudaSuccess);
    ask_expect(ask, "another choice", make_bodies(kept, &after, 0, &other), cudaSuccess);
    expect_turns(kept, graph, other, 1u << (by_value ? was : !was), 1u << (by_value ? is : !is));
}
#endif

/* "If childGraph contains ... conditional nodes, this call will return an error", which newer drivers may well lift. */
static void note_condition_in_child(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, outer = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "a conditional node", make_inside(kept, 1, ITEM_KERNEL, 0, &graph), cudaSuccess);
    ask_expect(ask, "a graph around it", cudaGraphCreate(&outer, 0), cudaSuccess);
    ask_row(ask, "a child graph with a conditional node", cudaGetErrorName(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph)));
    (void)cudaGetLastError();
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(outer);
}
#endif

static void ask_inside(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned item;

    if (!open_kept(&kept, ask))
        return;
    for (item = 0; item < ITEMS && takes_changes(item); item++) {
        ask_updated_inside(&kept, 0, (enum item)item);
#if CUDART_VERSION >= 12040
        if (has_conditions())
            ask_updated_inside(&kept, 1, (enum item)item);
#endif
    }
#if CUDART_VERSION >= 12040
    if (has_conditions()) {
        ask_updated_condition(&kept, 1);
        ask_updated_condition(&kept, 2);
#if CUDART_VERSION >= 12080
        for (item = 0; item < 2 && has_version(12080); item++) {
            ask_updated_choice(&kept, cudaGraphCondTypeSwitch, item, !item);
            ask_updated_choice(&kept, cudaGraphCondTypeIf, item, !item);
        }
#endif
        note_condition_in_child(&kept);
    }
#endif
    close_kept(&kept);
}

#endif
