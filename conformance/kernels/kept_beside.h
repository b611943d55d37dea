/* kept_beside.h - the part of kept.cu with graphs of a primary, a dependent, and a copy or a memset after them: an update changes nothing but what
 * is copied, or the value that is set. */
#ifndef KEPT_BESIDE_H_INCLUDED
#define KEPT_BESIDE_H_INCLUDED

struct beside {
    struct kept *kept;
    struct kernel_args args[2];
    const void *function[2];
    cudaGraph_t graph;
    cudaGraphNode_t node[2], item;
    cudaGraphExec_t exec;
};

/* The primary triggers, and sets the first word late; the dependent copies that word to the second one once it has waited. */
static void name_beside(struct beside *d, struct kept *kept, const struct kernel_args *late)
{
    d->kept = kept;
    d->function[0] = (const void *)SYMBOL(kept_open);
    d->function[1] = (const void *)SYMBOL(kept_waiting_copy);
    d->args[0] = *late;
    d->args[1] = kept->args[0];
    d->args[1].seen = kept->args[1].data;
}

static cudaError_t make_beside(struct beside *d)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaError_t error = cudaGraphCreate(&d->graph, 0);
    unsigned i;

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = ask_add_kernel(&d->node[i], d->graph, d->function[i], &d->args[i], 1);
    if (error == cudaSuccess)
        error = edges_add(d->graph, &d->node[0], &d->node[1], &data, 1);
    return error;
}

static void end_beside(struct beside *d)
{
    if (d->exec)
        (void)cudaGraphExecDestroy(d->exec);
    if (d->graph)
        (void)cudaGraphDestroy(d->graph);
    d->exec = NULL;
    d->graph = NULL;
}

/* After the dependent, to the third word: a copy of the last word, which no node sets, or of one that is set; or a memset to 0 or 1. */
static cudaError_t add_beside_item(struct beside *d, int copies, int sets)
{
    struct cudaMemsetParams set = set_of(d->kept->args[2].data, 0);
    const uint32_t *source = sets ? d->kept->source : d->kept->args[WORDS - 1].data;

    set.value = sets != 0;
    if (!copies)
        return cudaGraphAddMemsetNode(&d->item, d->graph, &d->node[1], 1, &set);
    return cudaGraphAddMemcpyNode1D(&d->item, d->graph, &d->node[1], 1, d->kept->args[2].data, source, WORD_BYTES, cudaMemcpyDefault);
}

static cudaError_t make_with_item(struct beside *d, int copies, int sets)
{
    cudaError_t error = make_beside(d);

    if (error == cudaSuccess)
        error = add_beside_item(d, copies, sets);
    return error == cudaSuccess ? cudaGraphInstantiate(&d->exec, d->graph, 0) : error;
}

/* An update that changes nothing but what is copied, or the value that is set: it holds beside a programmatic edge, too, and so does one back. */
static void ask_item_beside(struct kept *kept, const struct kernel_args *late, int copies)
{
    const char *what = copies ? "an update of what is copied beside a pair" : "an update of a memset's value beside a pair";
    struct beside d[2] = { PDL_ZERO, PDL_ZERO };
    struct ask *ask = kept->ask;
    int i;

    for (i = 0; i < 2; i++) {
        name_beside(&d[i], kept, late);
        ask_expect(ask, "a graph of a pair and one more node", make_with_item(&d[i], copies, i), cudaSuccess);
    }
    if (d[0].exec && d[1].exec) {
        expect_words(kept, d[0].exec, "a launch of a pair and one more node", 3);
        ask_expect_update(ask, what, update_from(d[0].exec, d[1].graph));
        expect_words(kept, d[0].exec, what, 7);
        ask_expect_update(ask, what, update_from(d[0].exec, d[0].graph));
        expect_words(kept, d[0].exec, what, 3);
    }
    for (i = 0; i < 2; i++)
        end_beside(&d[i]);
}

static void ask_made_and_beside(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;

    ask_made(ask);
    if (!open_kept(&kept, ask))
        return;
    if (open_late(&kept, &room, &late)) {
        ask_item_beside(&kept, &late, 1);
        ask_item_beside(&kept, &late, 0);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

#endif
