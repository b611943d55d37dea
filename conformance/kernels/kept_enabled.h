/* kept_enabled.h - the pair of kept.cu with graphs of two nodes of each kind, of which one is left out: all others run; updates of such a graph
 * that are refused. */
#ifndef KEPT_ENABLED_H_INCLUDED
#define KEPT_ENABLED_H_INCLUDED

/* Two of each item, the kernels of one function; then a host function and a child graph of a kernel. Each sets the word of its number. */
#define LEFT_ITEMS (2u * ITEMS)
#define LEFT_NODES (LEFT_ITEMS + 2u)
#define ALL_LEFT ((1u << LEFT_NODES) - 1)

enum spread { SPREAD_FLAT, SPREAD_OUT, SPREAD_IN, SPREAD_LINE, SPREADS };
static const char *const spread_name[SPREADS] = { "side by side", "after one of them", "before one of them", "in a line" };

struct left {
    struct ask *ask;
    uint32_t *words;           /* pinned: one of each node, one that nothing that runs sets, and what copies read */
    uint32_t *set[LEFT_NODES]; /* what host functions set */
    const uint32_t *source;
    struct kernel_args args[LEFT_NODES];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node[LEFT_NODES];
};
#define STRAY_WORD LEFT_NODES

static int open_left(struct left *left, struct ask *ask)
{
    char *device = NULL;
    unsigned i;
    cudaError_t error = cudaHostAlloc((void **)&left->words, (STRAY_WORD + 1) * WORD_BYTES + SOURCE_BYTES, cudaHostAllocMapped);

    left->ask = ask;
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, left->words, 0);
    ask_expect(ask, "pinned memory", error, cudaSuccess);
    for (i = 0; i < LEFT_NODES && error == cudaSuccess; i++) {
        left->args[i].data = (uint32_t *)(void *)device + i * CELLS;
        left->set[i] = left->words + i * CELLS;
    }
    left->source = (const uint32_t *)(void *)device + (STRAY_WORD + 1) * CELLS;
    if (error == cudaSuccess)
        fill_source(left->words + (STRAY_WORD + 1) * CELLS);
    return error == cudaSuccess;
}

static cudaError_t add_left_child(struct left *left, unsigned i)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t inside;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&inside, child, (const void *)SYMBOL(kept_set), &left->args[i], 1);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&left->node[i], left->graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* Of one kind after the other, twice. */
static cudaError_t add_left(struct left *left, unsigned i)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraphNode_t *node = &left->node[i];

    if (i == LEFT_ITEMS + 1)
        return add_left_child(left, i);
    if (i == LEFT_ITEMS) {
        host.fn = kept_host_set;
        host.userData = left->set[i];
        return cudaGraphAddHostNode(node, left->graph, NULL, 0, &host);
    }
    return add_item_to(left->graph, (enum item)(i % ITEMS), &left->args[i], left->source, node);
}

/* `hub`: the one that all others come after, or before. */
static cudaError_t make_left(struct left *left, enum spread spread, unsigned hub)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = cudaGraphCreate(&left->graph, 0);
    unsigned i;

    for (i = 0; i < LEFT_NODES && error == cudaSuccess; i++)
        error = add_left(left, i);
    for (i = 0; i < LEFT_NODES && error == cudaSuccess && spread != SPREAD_FLAT; i++) {
        cudaGraphNode_t *from = &left->node[spread == SPREAD_IN ? i : hub], *to = &left->node[spread == SPREAD_IN ? hub : i];
        if (spread == SPREAD_LINE && i + 1 < LEFT_NODES)
            error = edges_add(left->graph, &left->node[i], &left->node[i + 1], &full, 1);
        else if (spread != SPREAD_LINE && i != hub)
            error = edges_add(left->graph, from, to, &full, 1);
    }
    return error == cudaSuccess ? cudaGraphInstantiate(&left->exec, left->graph, 0) : error;
}

static void drop_left(struct left *left)
{
    (void)cudaGraphExecDestroy(left->exec);
    (void)cudaGraphDestroy(left->graph);
    left->exec = NULL;
    left->graph = NULL;
}

/* These nodes and no others say that they are enabled, and these words and no others are set. */
static void expect_left_words(struct left *left, const char *what, unsigned enables, unsigned want)
{
    unsigned tells = 0, enabled, i;

    memset(left->words, 0, (STRAY_WORD + 1) * WORD_BYTES);
    for (i = 0; i < LEFT_ITEMS; i++) {
        enabled = 2;
        ask_expect(left->ask, what, cudaGraphNodeGetEnabled(left->exec, left->node[i], &enabled), cudaSuccess);
        tells |= (enabled < 2 ? enabled : 1u << LEFT_ITEMS) << i;
    }
    ask_expect_number(left->ask, what, (long)tells, (long)(enables & ((1u << LEFT_ITEMS) - 1)));
    ask_expect(left->ask, what, cudaGraphLaunch(left->exec, left->ask->stream), cudaSuccess);
    ask_expect(left->ask, what, cudaStreamSynchronize(left->ask->stream), cudaSuccess);
    ask_expect_number(left->ask, what, (long)which_are_set(left->words, STRAY_WORD + 1), (long)want);
}

static void expect_left(struct left *left, const char *what, unsigned want) { expect_left_words(left, what, want, want); }

/* "Currently only kernel, memset and memcpy nodes are supported": a call for another kind that is refused changes none. One that is taken is
 * taken back. */
static void refuse_left(struct left *left)
{
    unsigned i;

    for (i = 2 * LEFT_ITEMS; i < 2 * LEFT_NODES; i++)
        if (cudaGraphNodeSetEnabled(left->exec, left->node[i / 2], i % 2) == cudaSuccess)
            (void)cudaGraphNodeSetEnabled(left->exec, left->node[i / 2], 1);
    (void)cudaGetLastError();
}

/* While the side stream captures, or not. */
static cudaError_t leave_out(struct left *left, unsigned i, int beside)
{
    cudaError_t error = beside ? cudaStreamBeginCapture(left->ask->side, cudaStreamCaptureModeRelaxed) : cudaSuccess;

    if (error == cudaSuccess)
        error = cudaGraphNodeSetEnabled(left->exec, left->node[i], 0);
    if (beside)
        ask_drop_capture(left->ask->side);
    return error;
}

/* Each in turn is left out and taken back; then two are left out and taken back one after the other. A node that others come before stays in:
 * whether the graph's end still waits for them without it, EDGE-27a asks. */
static void ask_left_in(struct left *left, enum spread spread, unsigned hub)
{
    struct ask *ask = left->ask;
    unsigned i, next, most;
    char text[96];

    snprintf(text, sizeof(text), "two nodes of each kind, %s", spread_name[spread]);
    ask_expect(ask, text, make_left(left, spread, hub), cudaSuccess);
    expect_left(left, text, ALL_LEFT);
    refuse_left(left);
    expect_left(left, text, ALL_LEFT);
    for (i = 0; i < LEFT_ITEMS; i++) {
        next = (i + 1 + hub) % LEFT_ITEMS;
        if (spread == SPREAD_IN && (i == hub || next == hub))
            continue;
        most = ALL_LEFT & ~(1u << i);
        snprintf(text, sizeof(text), "without %u of two nodes of each kind, %s", i, spread_name[spread]);
        ask_expect(ask, text, leave_out(left, i, (int)(i % 2)), cudaSuccess);
        expect_left(left, text, most);
        refuse_left(left);
        ask_expect(ask, text, cudaGraphNodeSetEnabled(left->exec, left->node[next], 0), cudaSuccess);
        expect_left(left, text, most & ~(1u << next));
        ask_expect(ask, text, cudaGraphNodeSetEnabled(left->exec, left->node[next], 1), cudaSuccess);
        if (next != i)
            expect_left(left, text, most);
        ask_expect(ask, text, cudaGraphNodeSetEnabled(left->exec, left->node[i], 1), cudaSuccess);
        expect_left(left, text, ALL_LEFT);
    }
    drop_left(left);
}

/* New parameters reach the node that they are given to and no other one, before an update from its graph and after it. */
static void ask_left_given(struct left *left)
{
    struct ask *ask = left->ask;
    struct kernel_args stray = left->args[0];
    unsigned i;

    stray.data += STRAY_WORD * CELLS;
    ask_expect(ask, "two nodes of each kind", make_left(left, SPREAD_LINE, 0), cudaSuccess);
    for (i = 0; i < 2 * LEFT_ITEMS; i++) {
        unsigned at = i % LEFT_ITEMS;
        enum item item = (enum item)(at % ITEMS);
        if (i == LEFT_ITEMS)
            ask_expect_update(ask, "an update", update_from(left->exec, left->graph));
        if (!takes_changes(item))
            continue;
        ask_expect(ask, "new parameters of one", give_item_to(left->exec, left->node[at], item, &stray, left->source), cudaSuccess);
        expect_left_words(left, "a launch after new parameters of one", ALL_LEFT, (ALL_LEFT & ~(1u << at)) | 1u << STRAY_WORD);
        ask_expect(ask, "its own again", give_item_to(left->exec, left->node[at], item, &left->args[at], left->source), cudaSuccess);
        expect_left(left, "a launch after its own parameters", ALL_LEFT);
    }
    drop_left(left);
}

/* ---- updates that are refused ---- */

enum decline { DECLINE_FIRST, DECLINE_LAST, DECLINE_NODE, DECLINE_EDGE, DECLINE_ATTRIBUTE, DECLINES };
static const char *const decline_name[DECLINES] = { "its first node of another kind", "its last node of another kind", "a node more", "an edge more",
                                                    "a cooperative kernel" };

/* A graph of the same nodes, which set the stray word wherever an update could change it, but for what an update from it is refused for. */
static cudaError_t make_declined(const struct left *left, enum decline why, struct left *other)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaGraphNode_t more;
    cudaError_t error = cudaGraphCreate(&other->graph, 0);
    unsigned i;

    other->source = left->source;
    for (i = 0; i < LEFT_NODES && error == cudaSuccess; i++) {
        other->args[i].data = i < LEFT_ITEMS && !takes_changes(i % ITEMS) ? left->args[i].data : left->args[0].data + STRAY_WORD * CELLS;
        other->set[i] = left->words + STRAY_WORD * CELLS;
        if ((why == DECLINE_FIRST && i == 0) || (why == DECLINE_LAST && i + 1 == LEFT_NODES))
            error = cudaGraphAddEmptyNode(&other->node[i], other->graph, NULL, 0);
        else
            error = add_left(other, i);
    }
    value.cooperative = 1;
    if (error == cudaSuccess && why == DECLINE_NODE)
        error = cudaGraphAddEmptyNode(&more, other->graph, NULL, 0);
    if (error == cudaSuccess && why == DECLINE_EDGE)
        error = edges_add(other->graph, &other->node[0], &other->node[1], &full, 1);
    if (error == cudaSuccess && why == DECLINE_ATTRIBUTE)
        error = cudaGraphKernelNodeSetAttribute(other->node[ITEM_KERNEL + ITEMS], cudaLaunchAttributeCooperative, &value);
    return error;
}

/* "cudaErrorGraphExecUpdateFailure if the graph update was not performed": whichever node is left out stays so, and all others do what they did. */
static void ask_left_declined(struct left *left, enum decline why)
{
    struct ask *ask = left->ask;
    struct left other = PDL_ZERO;
    unsigned i, most;
    char text[96];

    snprintf(text, sizeof(text), "two nodes of each kind and an update with %s", decline_name[why]);
    ask_expect(ask, text, make_left(left, SPREAD_FLAT, 0), cudaSuccess);
    ask_expect(ask, text, make_declined(left, why, &other), cudaSuccess);
    for (i = 0; i <= LEFT_ITEMS; i++) { /* at last without a node that is left out */
        most = i < LEFT_ITEMS ? ALL_LEFT & ~(1u << i) : ALL_LEFT;
        if (i < LEFT_ITEMS)
            ask_expect(ask, text, cudaGraphNodeSetEnabled(left->exec, left->node[i], 0), cudaSuccess);
        ask_expect(ask, text, update_from(left->exec, other.graph), cudaErrorGraphExecUpdateFailure);
        (void)cudaGetLastError();
        expect_left(left, text, most);
        if (i < LEFT_ITEMS)
            ask_expect(ask, text, cudaGraphNodeSetEnabled(left->exec, left->node[i], 1), cudaSuccess);
        expect_left(left, text, ALL_LEFT);
    }
    (void)cudaGraphExecDestroy(left->exec);
    (void)cudaGraphDestroy(left->graph);
    (void)cudaGraphDestroy(other.graph);
}

static void ask_all_left_declined(struct ask *ask)
{
    struct left left = PDL_ZERO;
    unsigned why;

    if (open_left(&left, ask))
        for (why = 0; why < DECLINES; why++)
            ask_left_declined(&left, (enum decline)why);
    (void)cudaFreeHost(left.words);
}

/* Each row of four calls, with those that change nothing, is in it. */
#define TOLD_BITS 0xF59u /* 0000 1111 0101 1001 */
#define TOLD_CALLS 16u

/* The last call counts, however many of its kind came before it: each item is told by a row of calls, in which the others are elsewhere then. A
 * launch comes after so many of them. */
static cudaError_t tell_in_a_row(struct kept *kept, cudaGraphExec_t exec, const cudaGraphNode_t *node, unsigned each, unsigned *wrong,
                                 unsigned *asked)
{
    unsigned call, i, runs = 0, enabled, told = 0;
    cudaError_t error = cudaSuccess;

    for (call = 0; call < 2 * TOLD_CALLS && error == cudaSuccess; call++) {
        for (i = 0, runs = told = 0; i < ITEMS && error == cudaSuccess; i++) {
            unsigned on = TOLD_BITS >> (call + 3 * i) % TOLD_CALLS & 1;
            error = cudaGraphNodeSetEnabled(exec, node[i], on);
            runs |= on << i;
            if (error == cudaSuccess)
                error = cudaGraphNodeGetEnabled(exec, node[i], &enabled);
            told |= (enabled != 0) << i;
        }
        *wrong += told != runs;
        ++*asked;
        if (call % each != each - 1 || error != cudaSuccess)
            continue;
        memset(kept->words, 0, WORDS * WORD_BYTES);
        error = cudaGraphLaunch(exec, kept->ask->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(kept->ask->stream);
        *wrong += error == cudaSuccess && which_are_set(kept->words, WORDS) != runs;
        ++*asked;
    }
    return error;
}

static void ask_told_in_rows(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL };
    unsigned each, wrong = 0, asked = 0;
    cudaError_t error;

    if (!open_kept(&kept, ask))
        return;
    ask_expect(ask, "a graph of all items", make_items(&kept, &graph, node), cudaSuccess);
    error = cudaGraphInstantiate(&exec, graph, 0);
    for (each = 1; each <= 3 && error == cudaSuccess; each += 2)
        error = tell_in_a_row(&kept, exec, node, each, &wrong, &asked);
    ask_expect(ask, "nodes that are disabled or enabled several times in a row", error, cudaSuccess);
    ask_expect_none(ask, "wrong after nodes were disabled or enabled several times in a row", wrong, asked);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    close_kept(&kept);
}

static void ask_left(struct ask *ask)
{
    struct left left = PDL_ZERO;
    unsigned spread, hub;

    ask_told_in_rows(ask);
    if (open_left(&left, ask)) {
        ask_left_given(&left);
        for (spread = 0; spread < SPREADS; spread++)
            for (hub = 0; hub < ITEMS; hub++)
                if (hub == 0 || spread == SPREAD_OUT || spread == SPREAD_IN)
                    ask_left_in(&left, (enum spread)spread, hub);
    }
    (void)cudaFreeHost(left.words);
}

#endif
