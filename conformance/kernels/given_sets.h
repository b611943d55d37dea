/* given_sets.h - the pair of given.cu with memset nodes. */
#ifndef GIVEN_SETS_H_INCLUDED
#define GIVEN_SETS_H_INCLUDED

#define SET_ROOM 64u            /* bytes that are looked at */

struct fill {
    unsigned at, value, element, width;
};
#define FILLS 4u
/* They differ in all, but for the element size of the first and the last. */
static const struct fill fills[FILLS] = { { 4, 0xA1B2C3D4u, 4, 5 }, { 9, 0x7F, 1, 13 }, { 16, 0x1234, 2, 7 }, { 12, 0x01020304u, 4, 9 } };

static struct cudaMemsetParams fill_of(struct given *g, unsigned which)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = (unsigned char *)g->args.data + fills[which].at;
    set.value = fills[which].value;
    set.elementSize = fills[which].element;
    set.width = fills[which].width;
    set.height = 1;
    return set;
}

static cudaError_t set_add(struct given *g, cudaGraph_t graph, unsigned which, cudaGraphNode_t *node)
{
    struct cudaMemsetParams set = fill_of(g, which);

    return cudaGraphAddMemsetNode(node, graph, NULL, 0, &set);
}

static cudaError_t set_set(struct given *g, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemsetParams set = fill_of(g, which);

    return cudaGraphMemsetNodeSetParams(node, &set);
}

static cudaError_t set_set_exec(struct given *g, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemsetParams set = fill_of(g, which);

    return cudaGraphExecMemsetNodeSetParams(exec, node, &set);
}

#if CUDART_VERSION >= 12030
static void set_fill_general(struct given *g, struct cudaGraphNodeParams *params, unsigned which)
{
    struct cudaMemsetParams set = fill_of(g, which);

    params->type = cudaGraphNodeTypeMemset;
    params->memset.dst = set.dst;
    params->memset.value = set.value;
    params->memset.elementSize = set.elementSize;
    params->memset.width = set.width;
    params->memset.height = set.height;
}
#endif

static cudaError_t set_look(struct given *g, unsigned which)
{
    const struct fill *f = &fills[which];
    cudaError_t error = cudaStreamSynchronize(g->ask->stream);
    volatile const unsigned char *bytes = (volatile const unsigned char *)g->room->data;
    unsigned differs = 0, i;

    for (i = 0; i < SET_ROOM; i++) {
        unsigned inside = i >= f->at && i < f->at + f->element * f->width;
        differs |= bytes[i] != (inside ? (unsigned char)(f->value >> 8 * ((i - f->at) % f->element)) : 0xFF);
    }
    g->wrong += error == cudaSuccess && differs;
    g->trials++;
    memset(g->room->data, 0xFF, sizeof(g->room->data));
    return error;
}

/* Which memsets may be exchanged in an executable graph, the documents leave open: a change may be refused. */
static const struct subject set_subject = { set_add, set_set, set_set_exec,
#if CUDART_VERSION >= 12030
                                            set_fill_general,
#endif
                                            set_look, 1 };

static void ask_sets(struct ask *ask)
{
    struct given g = PDL_ZERO;

    if (!open_given(&g, ask))
        return;
    memset(g.room->data, 0xFF, sizeof(g.room->data));
    ask_ways(&g, &set_subject, FILLS);
    ask_expect_none(ask, "memsets of graphs that set other bytes, or others than they were given", g.wrong, g.trials);
    (void)cudaFreeHost(g.room);
}

#endif
