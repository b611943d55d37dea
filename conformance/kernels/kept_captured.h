/* kept_captured.h - the pair of kept.cu with graphs that came of a capture and are changed afterwards. */
#ifndef KEPT_CAPTURED_H_INCLUDED
#define KEPT_CAPTURED_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

#define CAUGHT (ITEMS + 1u)    /* the items and a host function: each sets the word of its number */
#define ALL_CAUGHT ((1u << CAUGHT) - 1)

/* The memset or the copy by the driver's call. */
static cudaError_t queue_by_driver(struct kept *kept, unsigned which, unsigned word, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, unsigned, size_t, CUstream);
    typedef CUresult(CUDAAPI *copy_fn)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)kept->args[word].data, from = (CUdeviceptr)(uintptr_t)kept->source;
    void *call = NULL;
    cudaError_t error = which == ITEM_SET ? driver_function("cuMemsetD32Async", 3020, &call) : driver_function("cuMemcpyAsync", 4000, &call);

    if (error != cudaSuccess)
        return error;
    return (cudaError_t)(which == ITEM_SET ? ((set_fn)call)(to, 1, CELLS, stream) : ((copy_fn)call)(to, from, WORD_BYTES, stream));
}

static cudaError_t queue_caught(struct kept *kept, unsigned which, unsigned word, int by_driver, cudaStream_t stream)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    uint32_t *to = kept->args[word].data;
    struct cudaMemsetParams rows = set_of(to, 1);
    struct cudaMemcpy3DParms layers = layers_of_words(to, kept->source + CELLS);

    if (by_driver && (which == ITEM_SET || which == ITEM_COPY))
        return queue_by_driver(kept, which, word, stream);
    fill_host(kept, word, &host);
    switch (which) {
    case ITEM_KERNEL: return launch_one((const void *)SYMBOL(kept_set), &kept->args[word], 1, stream, NULL, 0);
    case ITEM_SET: return cudaMemsetAsync(to, 1, WORD_BYTES, stream);
    case ITEM_COPY: return cudaMemcpyAsync(to, kept->source, WORD_BYTES, cudaMemcpyDefault, stream);
    case ITEM_ROWS: return cudaMemset2DAsync(to, rows.pitch, 1, sizeof(*to), rows.height, stream);
    case ITEM_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
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

/* All of them in a row; `first` is the one that the row begins with. The driver's calls become nodes as those of the runtime do. */
static cudaError_t catch_row(struct kept *kept, unsigned first, int by_driver, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaStream_t stream = kept->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < CAUGHT && error == cudaSuccess; i++)
        error = queue_caught(kept, (first + i) % CAUGHT, (first + i) % CAUGHT, by_driver, stream);
    end = cudaStreamEndCapture(stream, graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? find_items_of(*graph, node, CAUGHT) : error;
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
    if (which == ITEM_SET || which == ITEM_ROWS) {
        error = cudaGraphMemsetNodeGetParams(node[which], &set);
        set.dst = kept->args[word].data;
        if (error != cudaSuccess)
            return error;
        return exec ? cudaGraphExecMemsetNodeSetParams(exec, node[which], &set) : cudaGraphMemsetNodeSetParams(node[which], &set);
    }
    return exec ? give_single(kept, which, exec, node[which], word) : move_item(kept, node, (enum item)which, word);
}

/* Where one of them is changed: in the graph before it is made executable; in the executable one; in the graph or a clone of it, which then
 * updates the executable one. */
enum moving { IN_SOURCE, IN_EXEC, BY_UPDATE, BY_CLONE, CHANGINGS };
static const char *const changing_name[CHANGINGS] = { "the graph", "the executable graph", "the graph of an update",
                                                      "the clone of an update" };

/* The graph, or a clone of it with the node that stands for this one. */
static cudaError_t updating_graph(cudaGraph_t graph, int cloned, cudaGraph_t *from, cudaGraphNode_t *node)
{
    cudaError_t error = cloned ? cudaGraphClone(from, graph) : cudaSuccess;

    if (!cloned)
        *from = graph;
    return error == cudaSuccess && cloned ? cudaGraphNodeFindInClone(node, *node, *from) : error;
}

/* An executable graph of the row, one of which then sets another word. */
static cudaError_t move_in(struct kept *kept, cudaGraph_t graph, cudaGraphNode_t *node, unsigned which, enum moving in, int generally,
                           cudaGraphExec_t *exec)
{
    cudaGraph_t from = graph;
    unsigned word = (which + 1) % CAUGHT;
    cudaError_t error = in == IN_SOURCE ? cudaSuccess : cudaGraphInstantiate(exec, graph, 0);

    if (error == cudaSuccess && in != IN_EXEC)
        error = updating_graph(graph, in == BY_CLONE, &from, &node[which]);
    if (error == cudaSuccess)
        error = generally ? give_item_generally(kept, in == IN_EXEC ? *exec : NULL, node[which], (enum item)which, word)
                          : move_caught(kept, in == IN_EXEC ? *exec : NULL, node, which, word);
    if (error == cudaSuccess && in == IN_SOURCE)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess && in >= BY_UPDATE)
        error = update_from(*exec, from);
    if (from && from != graph)
        (void)cudaGraphDestroy(from);
    return error;
}

/* One of them is to set the word of the next one. */
static void ask_moved(struct kept *kept, unsigned which, enum moving in, int by_driver, int generally)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL, fresh = NULL;
    cudaGraphNode_t node[CAUGHT] = { NULL };
    unsigned without = ALL_CAUGHT & ~(1u << which);
    char text[96];

    snprintf(text, sizeof(text), "%s that was captured%s, changed in %s", single_name(which), by_driver ? " by the driver's calls" : "",
             changing_name[in]);
    ask_expect(ask, text, catch_row(kept, which, by_driver, &graph, node), cudaSuccess);
    ask_expect(ask, text, move_in(kept, graph, node, which, in, generally, &exec), cudaSuccess);
    expect_words(kept, exec, text, without);
    ask_expect(ask, text, cudaGraphInstantiate(&fresh, graph, 0), cudaSuccess);
    expect_words(kept, fresh, text, in == IN_EXEC || in == BY_CLONE ? ALL_CAUGHT : without); /* the source is not changed along */
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphExecDestroy(fresh);
    (void)cudaGraphDestroy(graph);
}

/* The captured memset is given another value, of elements of this size: in the graph, or in a clone of it. */
static void ask_refilled(struct kept *kept, unsigned element, int in_clone, int by_driver)
{
    struct ask *ask = kept->ask;
    struct cudaMemsetParams set = set_of(kept->args[ITEM_SET].data, 0);
    volatile const uint32_t *words = kept->words;
    uint32_t value = 0xA1B2C3D4u >> (32 - 8 * element), want = element == 1 ? value * 0x1010101u : element == 2 ? value * 0x10001u : value;
    cudaGraph_t graph = NULL, clone = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[CAUGHT] = { NULL }, changed;
    char text[96];

    snprintf(text, sizeof(text), "a captured memset%s, given another value of %u bytes", in_clone ? ", in a clone" : "", element);
    ask_expect(ask, text, catch_row(kept, ITEM_SET, by_driver, &graph, node), cudaSuccess);
    changed = node[ITEM_SET];
    if (in_clone) {
        ask_expect(ask, text, cudaGraphClone(&clone, graph), cudaSuccess);
        ask_expect(ask, text, cudaGraphNodeFindInClone(&changed, node[ITEM_SET], clone), cudaSuccess);
    }
    set.value = value;
    set.elementSize = element;
    set.width = WORD_BYTES / element;
    ask_expect(ask, text, cudaGraphMemsetNodeSetParams(changed, &set), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, in_clone ? clone : graph, 0), cudaSuccess);
    expect_words(kept, exec, text, ALL_CAUGHT);
    ask_expect_number(ask, text, (long)words[ITEM_SET * CELLS], (long)want);
    (void)cudaGraphExecDestroy(exec);
    if (clone)
        (void)cudaGraphDestroy(clone);
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

    snprintf(text, sizeof(text), "%s that was captured, destroyed", single_name(which));
    ask_expect(ask, text, catch_row(kept, first, 0, &graph, node), cudaSuccess);
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
                                : cudaMemcpyAsync(kept->args[1].data, kept->args[0].data, WORD_BYTES, cudaMemcpyDefault, stream);
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
    ask_expect(ask, text, cudaGraphAddMemcpyNode1D(&added, graph, before ? NULL : node, !before, kept->args[2].data,
                                                   kept->args[0].data, WORD_BYTES, cudaMemcpyDefault), cudaSuccess);
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
    int i;

    if (!open_kept(&kept, ask))
        return;
    for (i = 0; i < 12; i++)
        ask_refilled(&kept, 1u << i % 3, i / 3 & 1, i / 6);
    for (which = 0; which < CAUGHT; which++) {
        for (i = 0; i < 2 * CHANGINGS; i++)
            if (takes_changes(which) || i / 2 == IN_SOURCE)
                ask_moved(&kept, which, (enum moving)(i / 2), i % 2, 0);
        if (which < ITEMS)
            ask_moved(&kept, which, IN_SOURCE, 0, 1);
        ask_captured_without(&kept, which, which);
        ask_captured_without(&kept, which, (which + 1) % CAUGHT);
    }
    ask_captured_edges(&kept);
    close_kept(&kept);
}

#endif
