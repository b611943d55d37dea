/* enabled.cu - executable graphs that are launched while some of their nodes are disabled.
 *
 * pair         rules     what is launched
 * left_out     EDGE-27a  a writer that triggers, a kernel, a memset and a copy, a reader that does not wait, all edges full: in a line
 *                        in three orders, side by side, and with the writer before the graph. Which of the three in the middle run
 *                        changes from launch to launch
 * cooperative  EDGE-27b  the same, and the kernel in the middle is a cooperative one; nothing else is disabled
 * last         EDGE-27a  a kernel or a host function, and after it a disabled kernel, memset or copy, the last node: what the host finds once it
 *                        has waited for the graph, and what a kernel after the graph finds
 *
 * Mutant `graphedge`: the writer has one edge, a programmatic one to the reader, and those in the middle lead nowhere.
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"

#ifdef MUTANT_graphedge
#define EDGES_KEPT 0
#else
#define EDGES_KEPT 1
#endif

#define PART 16u               /* words of each part of the memory */
#define SET_WORD 0x5E75E75Eu

enum part { PART_DATA, PART_KERNEL, PART_SET, PART_COPY, PART_SEEN, PART_SEEN_SET, PARTS };
enum middle { MIDDLE_KERNEL, MIDDLE_SET, MIDDLE_COPY, MIDDLES };
enum layout { LAYOUT_LINE, LAYOUT_LINE_2, LAYOUT_LINE_3, LAYOUT_SIDE_BY_SIDE, LAYOUT_BEFORE, LAYOUTS };

KERNEL(enabled_writer) { slow_stores(&args); }
KERNEL(enabled_nothing) { (void)args; }
KERNEL(enabled_copies) { reader_copies(&args, 0); }
KERNEL(enabled_middle) { k_store(args.data + PART_KERNEL * PART + k_thread(), k_load(args.data + k_thread())); }

KERNEL(enabled_reader)
{
    if (k_thread() == 0)
        k_store_relaxed(&args.state->alive, 1);
    k_store(args.data + PART_SEEN * PART + k_thread(), k_load(args.data + k_thread()));
    k_store(args.data + PART_SEEN_SET * PART + k_thread(), k_load(args.data + PART_SET * PART + k_thread()));
}

struct left_out {
    struct ask *ask;
    int cooperative;           /* the kernel in the middle; it alone is disabled */
    struct host_room *room;    /* plan and state; the words lie in device memory */
    struct kernel_args args;
    cudaGraph_t graph[LAYOUTS];
    cudaGraphNode_t middle[LAYOUTS][MIDDLES];
    cudaGraphExec_t exec[LAYOUTS];
    unsigned long long stale, misrun, launches;
};

static cudaError_t add_middle_kernel(struct left_out *l, unsigned layout, cudaGraphNode_t *node)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaError_t error = ask_add_kernel(node, l->graph[layout], (const void *)SYMBOL(enabled_middle), &l->args, PART);

    if (error != cudaSuccess || !l->cooperative)
        return error;
    value.cooperative = 1;
    error = cudaGraphKernelNodeSetAttribute(*node, cudaLaunchAttributeCooperative, &value);
    value.cooperative = 0;
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeGetAttribute(*node, cudaLaunchAttributeCooperative, &value);
    return error == cudaSuccess && value.cooperative != 1 ? cudaErrorUnknown : error;
}

static cudaError_t add_middle(struct left_out *l, unsigned layout, enum middle kind)
{
    cudaGraphNode_t *node = &l->middle[layout][kind];
    struct cudaMemsetParams set = PDL_ZERO;

    if (kind == MIDDLE_KERNEL)
        return add_middle_kernel(l, layout, node);
    if (kind == MIDDLE_COPY)
        return cudaGraphAddMemcpyNode1D(node, l->graph[layout], NULL, 0, l->args.data + PART_COPY * PART, l->args.data, PART * sizeof(uint32_t),
                                        cudaMemcpyDeviceToDevice);
    set.dst = l->args.data + PART_SET * PART;
    set.value = SET_WORD;
    set.elementSize = 4;
    set.width = PART;
    set.height = 1;
    return cudaGraphAddMemsetNode(node, l->graph[layout], NULL, 0, &set);
}

static cudaError_t add_edge(const struct left_out *l, unsigned layout, cudaGraphNode_t from, cudaGraphNode_t to, unsigned programmatic)
{
    cudaGraphEdgeData data = edges_data(programmatic, 0, programmatic);

    return edges_add(l->graph[layout], &from, &to, &data, 1);
}

/* Edges between writer, what stands in the middle, and reader; no writer: it is launched before the graph. */
static cudaError_t connect(const struct left_out *l, unsigned layout, cudaGraphNode_t writer, cudaGraphNode_t reader)
{
    const cudaGraphNode_t *middle = l->middle[layout];
    int side_by_side = layout == LAYOUT_SIDE_BY_SIDE, kept = EDGES_KEPT || !writer;
    cudaGraphNode_t last = writer;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < MIDDLES && error == cudaSuccess; i++) {
        cudaGraphNode_t node = middle[(layout + i) % MIDDLES], from = side_by_side ? writer : last;
        if (from && (kept || from != writer))
            error = add_edge(l, layout, from, node, 0);
        if (error == cudaSuccess && kept && (side_by_side || i + 1 == MIDDLES))
            error = add_edge(l, layout, node, reader, 0);
        last = node;
    }
    return error == cudaSuccess && !kept ? add_edge(l, layout, writer, reader, 1) : error;
}

static cudaError_t make_layout(struct left_out *l, unsigned layout)
{
    cudaGraphNode_t writer = NULL, reader;
    cudaError_t error = cudaGraphCreate(&l->graph[layout], 0);
    unsigned i;

    if (error == cudaSuccess && layout != LAYOUT_BEFORE)
        error = ask_add_kernel(&writer, l->graph[layout], (const void *)SYMBOL(enabled_writer), &l->args, PART);
    for (i = 0; i < MIDDLES && error == cudaSuccess; i++)
        error = add_middle(l, layout, (enum middle)i);
    if (error == cudaSuccess)
        error = ask_add_kernel(&reader, l->graph[layout], (const void *)SYMBOL(enabled_reader), &l->args, PART);
    if (error == cudaSuccess)
        error = connect(l, layout, writer, reader);
    return error == cudaSuccess ? cudaGraphInstantiate(&l->exec[layout], l->graph[layout], 0) : error;
}

static cudaError_t open_left_out(struct left_out *l)
{
    cudaError_t error = open_room(&l->room, &l->args) ? cudaSuccess : cudaErrorMemoryAllocation;
    unsigned i;

    if (error == cudaSuccess)
        error = cudaMalloc((void **)&l->args.data, PARTS * PART * sizeof(uint32_t));
    for (i = 0; i < LAYOUTS && error == cudaSuccess; i++)
        error = make_layout(l, i);
    return error;
}

static void close_left_out(struct left_out *l)
{
    unsigned i;

    for (i = 0; i < LAYOUTS; i++) {
        if (l->exec[i])
            (void)cudaGraphExecDestroy(l->exec[i]);
        if (l->graph[i])
            (void)cudaGraphDestroy(l->graph[i]);
    }
    (void)cudaFree(l->args.data);
    (void)cudaFreeHost(l->room);
}

/* 1: all of the part is what the writer stored; 0: all of it is as it was before the launch; else -1. */
static int part_is(const struct left_out *l, const uint32_t *part, int set)
{
    unsigned i, made = 0, left = 0;

    for (i = 0; i < PART; i++) {
        made += part[i] == (set ? SET_WORD : words_fresh(l->room->plan.key, i));
        left += part[i] == 0;
    }
    return made == PART ? 1 : left == PART ? 0 : -1;
}

static void judge_launch(struct left_out *l, unsigned enabled, uint32_t words[PARTS][PART])
{
    static const enum part parts[MIDDLES] = { PART_KERNEL, PART_SET, PART_COPY };
    unsigned i, misrun = 0, stale = part_is(l, words[PART_SEEN], 0) != 1;

    for (i = 0; i < MIDDLES; i++) {
        int runs = (int)(enabled >> i & 1), is = part_is(l, words[parts[i]], i == MIDDLE_SET);
        misrun |= runs == (is == 0);
        stale |= runs && is == -1;
    }
    stale |= part_is(l, words[PART_SEEN_SET], 1) != part_is(l, words[PART_SET], 1);
    l->misrun += misrun;
    l->stale += stale;
    l->launches++;
}

static cudaError_t launch_left_out(struct left_out *l, unsigned trial)
{
    uint32_t words[PARTS][PART];
    unsigned layout = trial % LAYOUTS, enabled = trial / LAYOUTS % (1u << MIDDLES), i;
    cudaError_t error;

    if (l->cooperative)
        enabled |= (1u << MIDDLES) - 1 - (1u << MIDDLE_KERNEL);

    prepare_trial(l->room, trial);
    memset(words, 0, sizeof(words));
    for (i = 0; i < PART; i++)
        words[PART_DATA][i] = ~words_fresh(l->room->plan.key, i);
    error = cudaMemcpyAsync(l->args.data, words, sizeof(words), cudaMemcpyHostToDevice, l->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->ask->stream);
    for (i = 0; i < MIDDLES && error == cudaSuccess; i++)
        error = cudaGraphNodeSetEnabled(l->exec[layout], l->middle[layout][i], enabled >> i & 1);
    if (error == cudaSuccess && layout == LAYOUT_BEFORE)
        error = launch_one((const void *)SYMBOL(enabled_writer), &l->args, PART, l->ask->stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->exec[layout], l->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->ask->stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(words, l->args.data, sizeof(words), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        judge_launch(l, enabled, words);
    return error;
}

static void ask_disabled(struct ask *ask, int cooperative)
{
    struct left_out l = PDL_ZERO;
    cudaError_t error;
    unsigned trial;

    l.ask = ask;
    l.cooperative = cooperative;
    error = open_left_out(&l);
    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++)
        error = launch_left_out(&l, trial);
    ask_expect(ask, "launches of graphs with disabled nodes", error, cudaSuccess);
    ask_expect_none(ask, "launches in which a node did not follow the one before it", l.stale, l.launches);
    ask_expect_none(ask, "launches in which a disabled node ran, or an enabled one did not", l.misrun, l.launches);
    close_left_out(&l);
}

static void ask_left_out(struct ask *ask) { ask_disabled(ask, 0); }
static void ask_cooperative(struct ask *ask) { ask_disabled(ask, 1); }

#include "enabled_last.h"

static const struct pair enabled_pairs[] = {
    PAIR_ASK("left_out", ask_left_out),
    PAIR_ASK("cooperative", ask_cooperative),
    PAIR_ASK("last", ask_last),
};
IMAGE(enabled, enabled_pairs)
