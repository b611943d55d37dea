/* kept_captured.h - the pair of kept.cu with graphs that came of a capture and are changed afterwards. */
#ifndef KEPT_CAPTURED_H_INCLUDED
#define KEPT_CAPTURED_H_INCLUDED

#define CAUGHT (ITEMS + 1u)    /* the items and a host function: each sets the word of its number */
#define ALL_CAUGHT ((1u << CAUGHT) - 1)
static const char *const caught_name[CAUGHT] = { "a kernel", "a memset", "a copy", "a host function" };
static const enum cudaGraphNodeType caught_type[CAUGHT] = { cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemcpy,
                                                            cudaGraphNodeTypeHost };

static cudaError_t queue_caught(struct kept *kept, unsigned which, cudaStream_t stream)
{
    struct cudaHostNodeParams host = PDL_ZERO;

    fill_host(kept, which, &host);
    switch (which) {
    case ITEM_KERNEL: return launch_one((const void *)SYMBOL(kept_set), &kept->args[which], 1, stream, NULL, 0);
    case ITEM_SET: return cudaMemsetAsync(kept->args[which].data, 1, 4, stream);
    case ITEM_COPY: return cudaMemcpyAsync(kept->args[which].data, kept->args[0].data + WORDS, 4, cudaMemcpyDefault, stream);
    default: return cudaLaunchHostFunc(stream, host.fn, host.userData);
    }
}

/* The one node of this type. */
static cudaError_t find_caught(cudaGraph_t graph, enum cudaGraphNodeType type, cudaGraphNode_t *found)
{
    cudaGraphNode_t node[8];
    enum cudaGraphNodeType is = type;
    size_t count = 8, i;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    *found = NULL;
    for (i = 0; i < count && error == cudaSuccess; i++) {
        error = cudaGraphNodeGetType(node[i], &is);
        if (error == cudaSuccess && is == type)
            *found = node[i];
    }
    return error == cudaSuccess && !*found ? cudaErrorUnknown : error;
}

/* All four in a row; `first` is the one that the row begins with. */
static cudaError_t catch_row(struct kept *kept, unsigned first, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaStream_t stream = kept->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < CAUGHT && error == cudaSuccess; i++)
        error = queue_caught(kept, (first + i) % CAUGHT, stream);
    end = cudaStreamEndCapture(stream, graph);
    error = error == cudaSuccess ? end : error;
    for (i = 0; i < CAUGHT && error == cudaSuccess; i++)
        error = find_caught(*graph, caught_type[i], &node[i]);
    return error;
}

/* Only where a memset goes may be changed for sure: the rest stays as the capture made it. */
static cudaError_t move_caught(struct kept *kept, cudaGraphExec_t exec, const cudaGraphNode_t *node, unsigned which, unsigned word)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    struct cudaMemsetParams set = PDL_ZERO;
    cudaError_t error;

    fill_host(kept, word, &host);
    if (which == SINGLE_HOST)
        return exec ? cudaGraphExecHostNodeSetParams(exec, node[which], &host) : cudaGraphHostNodeSetParams(node[which], &host);
    if (which == ITEM_SET) {
        error = cudaGraphMemsetNodeGetParams(node[which], &set);
        set.dst = kept->args[word].data;
        if (error != cudaSuccess)
            return error;
        return exec ? cudaGraphExecMemsetNodeSetParams(exec, node[which], &set) : cudaGraphMemsetNodeSetParams(node[which], &set);
    }
    return exec ? give_single(kept, which, exec, node[which], word) : move_item(kept, node, (enum item)which, word);
}

/* One of the four is to set the word of the next one: in the graph before it is made executable, or in the executable one. */
static void ask_moved(struct kept *kept, unsigned which, int in_exec)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL, fresh = NULL;
    cudaGraphNode_t node[CAUGHT] = { NULL };
    unsigned without = ALL_CAUGHT & ~(1u << which);
    char text[96];

    snprintf(text, sizeof(text), "%s that was captured, changed in the %s", caught_name[which], in_exec ? "executable graph" : "graph");
    ask_expect(ask, text, catch_row(kept, which, &graph, node), cudaSuccess);
    if (in_exec)
        ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, text, move_caught(kept, exec, node, which, (which + 1) % CAUGHT), cudaSuccess);
    if (!in_exec)
        ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, without);
    ask_expect(ask, text, cudaGraphInstantiate(&fresh, graph, 0), cudaSuccess);
    expect_words(kept, fresh, text, in_exec ? ALL_CAUGHT : without); /* the source is not changed along */
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphExecDestroy(fresh);
    (void)cudaGraphDestroy(graph);
}

/* One of the row, at its beginning or at its end, is destroyed. */
static void ask_captured_without(struct kept *kept, unsigned which, unsigned first)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[CAUGHT] = { NULL };
    size_t nodes = 0, edges = 0;
    char text[96];

    snprintf(text, sizeof(text), "%s that was captured, destroyed", caught_name[which]);
    ask_expect(ask, text, catch_row(kept, first, &graph, node), cudaSuccess);
    ask_expect(ask, text, cudaGraphDestroyNode(node[which]), cudaSuccess);
    ask_expect(ask, text, cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    ask_expect_number(ask, text, (long)nodes, CAUGHT - 1);
    ask_expect(ask, text, edges_of_graph(graph, NULL, NULL, NULL, &edges), cudaSuccess);
    ask_expect_number(ask, text, (long)edges, CAUGHT - 2);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, ALL_CAUGHT & ~(1u << which));
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* ---- edges ---- */

/* A kernel that sets the first word late, and a copy of that word to the second one, in this order or the other one. */
static cudaError_t catch_two(struct kept *kept, const struct kernel_args *late, int copy_first, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaStream_t stream = kept->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    int i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = i == copy_first ? launch_one((const void *)SYMBOL(kept_late), late, 1, stream, NULL, 0)
                                : cudaMemcpyAsync(kept->args[1].data, kept->args[0].data, 4, cudaMemcpyDefault, stream);
    end = cudaStreamEndCapture(stream, graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = find_caught(*graph, cudaGraphNodeTypeKernel, &node[0]);
    return error == cudaSuccess ? find_caught(*graph, cudaGraphNodeTypeMemcpy, &node[1]) : error;
}

/* The captured edge goes, another one comes. */
static void ask_other_edge(struct kept *kept, const struct kernel_args *late, int copy_first, int copy_first_then)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[2] = { NULL, NULL };
    size_t edges = 1;
    char text[96];

    snprintf(text, sizeof(text), "a captured copy %s a kernel, %s it instead", copy_first ? "before" : "after", copy_first_then ? "before" : "after");
    ask_expect(ask, text, catch_two(kept, late, copy_first, &graph, node), cudaSuccess);
    ask_expect(ask, text, edges_remove(graph, &node[copy_first], &node[!copy_first], &full, 1), cudaSuccess);
    ask_expect(ask, text, edges_of_graph(graph, NULL, NULL, NULL, &edges), cudaSuccess);
    ask_expect_number(ask, text, (long)edges, 0);
    ask_expect(ask, text, edges_add(graph, &node[copy_first_then], &node[!copy_first_then], &full, 1), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, copy_first_then ? 1 : 3);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* A copy that was not captured comes after a kernel that was; and before one. */
static void ask_added_to(struct kept *kept, const struct kernel_args *late, int before)
{
    struct ask *ask = kept->ask;
    const char *text = before ? "a copy that is added before a captured kernel" : "a copy that is added after a captured kernel";
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[2] = { NULL, NULL }, added = NULL;

    ask_expect(ask, text, catch_two(kept, late, 0, &graph, node), cudaSuccess);
    ask_expect(ask, text, cudaGraphAddMemcpyNode1D(&added, graph, before ? NULL : node, !before, kept->args[2].data, kept->args[0].data, 4,
                                              cudaMemcpyDefault), cudaSuccess);
    if (before)
        ask_expect(ask, text, edges_add(graph, &added, node, &full, 1), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, text, before ? 3 : 7);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

static void ask_captured_edges(struct kept *kept)
{
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    int i;

    if (!open_late(kept, &room, &late))
        return;
    for (i = 0; i < 4; i++)
        ask_other_edge(kept, &late, i & 1, i >> 1);
    ask_added_to(kept, &late, 0);
    ask_added_to(kept, &late, 1);
    (void)cudaFreeHost(room);
}

static void ask_caught(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned which;

    if (!open_kept(&kept, ask))
        return;
    for (which = 0; which < CAUGHT; which++) {
        ask_moved(&kept, which, 0);
        ask_moved(&kept, which, 1);
        ask_captured_without(&kept, which, which);
        ask_captured_without(&kept, which, (which + 1) % CAUGHT);
    }
    ask_captured_edges(&kept);
    close_kept(&kept);
}

#endif
