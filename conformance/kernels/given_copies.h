/* given_copies.h - the pair of given.cu with copy nodes, of one row and of several. */
#ifndef GIVEN_COPIES_H_INCLUDED
#define GIVEN_COPIES_H_INCLUDED

#define COPY_ROOM 96u           /* bytes that are looked at; as many after them are what is copied */

struct rectangle {              /* bytes */
    unsigned to, to_pitch, from, from_pitch, width, rows;
};
#define RECTANGLES 4u
/* Each next one differs in all. */
static const struct rectangle rectangles[RECTANGLES] = {
    { 4, 20, 0, 24, 20, 1 }, { 9, 11, 5, 13, 7, 3 }, { 1, 16, 8, 12, 12, 2 }, { 16, 9, 3, 10, 8, 4 }
};

static struct cudaMemcpy3DParms copy_of(struct given *g, unsigned which)
{
    const struct rectangle *r = &rectangles[which];
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.dstPtr.ptr = (unsigned char *)g->args.data + r->to;
    copy.dstPtr.pitch = copy.dstPtr.xsize = r->to_pitch;
    copy.srcPtr.ptr = (unsigned char *)g->args.data + COPY_ROOM + r->from;
    copy.srcPtr.pitch = copy.srcPtr.xsize = r->from_pitch;
    copy.dstPtr.ysize = copy.srcPtr.ysize = copy.extent.height = r->rows;
    copy.extent.width = r->width;
    copy.extent.depth = 1;
    copy.kind = cudaMemcpyDefault;
    return copy;
}

static cudaError_t copy_add(struct given *g, cudaGraph_t graph, unsigned which, cudaGraphNode_t *node)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);

    return cudaGraphAddMemcpyNode(node, graph, NULL, 0, &copy);
}

static cudaError_t copy_set(struct given *g, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);

    return cudaGraphMemcpyNodeSetParams(node, &copy);
}

static cudaError_t copy_set_exec(struct given *g, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);

    return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

#if CUDART_VERSION >= 12030
static void copy_fill_general(struct given *g, struct cudaGraphNodeParams *params, unsigned which)
{
    params->type = cudaGraphNodeTypeMemcpy;
    params->memcpy.copyParams = copy_of(g, which);
}
#endif

static void clear_copies(struct given *g)
{
    unsigned char *bytes = (unsigned char *)g->room->data;
    unsigned i;

    memset(bytes, 0xFF, COPY_ROOM);
    for (i = 0; i < COPY_ROOM; i++)
        bytes[COPY_ROOM + i] = (unsigned char)i;
}

static cudaError_t copy_look(struct given *g, unsigned which)
{
    const struct rectangle *r = &rectangles[which];
    cudaError_t error = cudaStreamSynchronize(g->ask->stream);
    volatile const unsigned char *bytes = (volatile const unsigned char *)g->room->data;
    unsigned differs = 0, i;

    for (i = 0; i < COPY_ROOM; i++) {
        unsigned row = i < r->to ? r->rows : (i - r->to) / r->to_pitch, column = i < r->to ? 0 : (i - r->to) % r->to_pitch;
        unsigned inside = row < r->rows && column < r->width;
        differs |= bytes[i] != (inside ? r->from + row * r->from_pitch + column : 0xFF);
    }
    g->wrong += error == cudaSuccess && differs;
    g->trials++;
    clear_copies(g);
    return error;
}

/* Copies of several rows may not be exchanged in an executable graph, others may be. */
static const struct subject copy_subject = { copy_add, copy_set, copy_set_exec,
#if CUDART_VERSION >= 12030
                                             copy_fill_general,
#endif
                                             copy_look, 1 };

static void ask_copies(struct ask *ask)
{
    struct given g = PDL_ZERO;

    if (!open_given(&g, ask))
        return;
    clear_copies(&g);
    ask_ways(&g, &copy_subject, RECTANGLES);
    ask_expect_none(ask, "copies of graphs that left other bytes than they were given to copy", g.wrong, g.trials);
    (void)cudaFreeHost(g.room);
}

#endif
