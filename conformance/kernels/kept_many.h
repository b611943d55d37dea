/* kept_many.h - questions of kept.cu with an executable graph of many nodes of each kind, all of which are changed before one launch. */
#ifndef KEPT_MANY_H_INCLUDED
#define KEPT_MANY_H_INCLUDED

#define MANY_EACH 66u          /* of each kind: more than a device notes at once */
#define MANY_NODES (SINGLES * MANY_EACH)

/* Each node sets its word in the first half, or in the second one. */
struct many {
    struct kept kept;          /* whose first word is the one at hand */
    uint32_t *words, *device;  /* pinned: 2 * MANY_NODES, as the host and as the device see them */
    cudaGraph_t graph, other;  /* of the first half, and of the second one */
    cudaGraphExec_t exec;
    cudaGraphNode_t node[MANY_NODES], unused[MANY_NODES];
};

static int open_many(struct many *many, const struct kept *kept)
{
    cudaError_t error = cudaHostAlloc((void **)&many->words, 2 * MANY_NODES * WORD_BYTES, cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&many->device, many->words, 0);
    ask_expect(kept->ask, "pinned memory of many nodes", error, cudaSuccess);
    many->kept.ask = kept->ask;
    many->kept.source = kept->source;
    return error == cudaSuccess;
}

static void at_word(struct many *many, unsigned word)
{
    many->kept.words = many->words + word * CELLS;
    many->kept.args[0].data = many->device + word * CELLS;
}

/* A node of this kind that sets the word at hand. */
static cudaError_t add_single(struct many *many, cudaGraph_t graph, unsigned single, cudaGraphNode_t *node)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraph_t child = NULL;
    cudaGraphNode_t inside = NULL;
    cudaError_t error;

    fill_host(&many->kept, 0, &host);
    if (single == SINGLE_HOST)
        return cudaGraphAddHostNode(node, graph, NULL, 0, &host);
    if (single < ITEMS)
        return add_item_to(graph, (enum item)single, &many->kept.args[0], many->kept.source, node);
    error = make_set(&many->kept, 0, &child, &inside);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* The kinds in turn, side by side. */
static cudaError_t make_many(struct many *many, unsigned half, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaError_t error = cudaGraphCreate(graph, 0);
    unsigned i;

    for (i = 0; i < MANY_NODES && error == cudaSuccess; i++) {
        at_word(many, half * MANY_NODES + i);
        if (takes_changes(i % SINGLES))
            error = add_single(many, *graph, i % SINGLES, &node[i]);
    }
    return error;
}

static cudaError_t give_many(struct many *many, unsigned half, int generally)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < MANY_NODES && error == cudaSuccess; i++) {
        at_word(many, half * MANY_NODES + i);
        if (takes_changes(i % SINGLES))
            error = generally ? give_single_generally(&many->kept, i % SINGLES, many->exec, many->node[i], 0)
                              : give_single(&many->kept, i % SINGLES, many->exec, many->node[i], 0);
    }
    return error;
}

/* All words of this half are set, and none of the other one. */
static void expect_half(struct many *many, const char *what, unsigned half)
{
    struct ask *ask = many->kept.ask;
    unsigned i, wrong = 0;

    memset(many->words, 0, 2 * MANY_NODES * WORD_BYTES);
    ask_expect(ask, what, cudaGraphLaunch(many->exec, ask->stream), cudaSuccess);
    ask_expect(ask, what, cudaStreamSynchronize(ask->stream), cudaSuccess);
    for (i = 0; i < 2 * MANY_NODES; i++)
        wrong += which_are_set(many->words + i * CELLS, 1) != (i / MANY_NODES == half && takes_changes(i % SINGLES));
    ask_expect_none(ask, what, wrong, 2 * MANY_NODES);
}

static void ask_many_changed(const struct kept *kept)
{
    struct ask *ask = kept->ask;
    static struct many many;

    memset(&many, 0, sizeof(many));
    if (!open_many(&many, kept))
        return;
    ask_expect(ask, "a graph of many nodes", make_many(&many, 0, &many.graph, many.node), cudaSuccess);
    ask_expect(ask, "another one", make_many(&many, 1, &many.other, many.unused), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&many.exec, many.graph, 0), cudaSuccess);
    expect_half(&many, "wrong words of many nodes", 0);
    ask_expect(ask, "new parameters of many nodes", give_many(&many, 1, 0), cudaSuccess);
    expect_half(&many, "wrong words after new parameters of many nodes", 1);
    ask_expect(ask, "new parameters of many nodes by the general call", give_many(&many, 0, 1), cudaSuccess);
    expect_half(&many, "wrong words after new parameters of many nodes by the general call", 0);
    ask_expect_update(ask, "an update of many nodes", update_from(many.exec, many.other));
    expect_half(&many, "wrong words after an update of many nodes", 1);
    (void)cudaGraphExecDestroy(many.exec);
    (void)cudaGraphDestroy(many.graph);
    (void)cudaGraphDestroy(many.other);
    (void)cudaFreeHost(many.words);
}

#endif
