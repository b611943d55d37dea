/* given_moves.h - the pairs of given.cu with memset nodes and copy nodes: of one row, of several, and of layers. */
#ifndef GIVEN_MOVES_H_INCLUDED
#define GIVEN_MOVES_H_INCLUDED

#define MOVE_ROOM 128u          /* bytes that are looked at; as many after them are what is copied */

struct place {                  /* bytes, and rows from one layer to the next */
    unsigned at, pitch, height;
};

struct move {
    unsigned value, element;    /* of a memset; element 0: it is a copy */
    unsigned width, rows, layers; /* width: bytes */
    struct place to, from;
};

#define FILLS 13u
/* Each is given after the one before it and after the one before that. They differ in all, but for the element size of some, and but for these: the
 * two after the fifth one differ from it in one thing, its rows or its pitch; the last but two differs from the one before it in its element size
 * alone; and the last two differ from the first one in its width or its value. */
static const struct move fills[FILLS] = {
    { 0xA1B2C3D4u, 4, 20, 1, 1, { 4, 0, 1 }, PDL_ZERO },  { 0x7F, 1, 13, 1, 1, { 9, 0, 1 }, PDL_ZERO },
    { 0x1234, 2, 14, 1, 1, { 16, 0, 1 }, PDL_ZERO },      { 0x01020304u, 4, 36, 1, 1, { 12, 0, 1 }, PDL_ZERO },
    { 0xC0FFEE11u, 4, 8, 3, 1, { 8, 12, 3 }, PDL_ZERO },  { 0xC0FFEE11u, 4, 8, 2, 1, { 8, 12, 2 }, PDL_ZERO },
    { 0xC0FFEE11u, 4, 8, 3, 1, { 8, 20, 3 }, PDL_ZERO },  { 0x5678, 2, 6, 4, 1, { 6, 10, 4 }, PDL_ZERO },
    { 0x3D, 1, 7, 2, 1, { 5, 9, 2 }, PDL_ZERO },          { 0x6B, 4, 20, 1, 1, { 8, 0, 1 }, PDL_ZERO },
    { 0x6B, 1, 5, 1, 1, { 8, 0, 1 }, PDL_ZERO },          { 0xA1B2C3D4u, 4, 28, 1, 1, { 4, 0, 1 }, PDL_ZERO },
    { 0x0BADCAFEu, 4, 20, 1, 1, { 4, 0, 1 }, PDL_ZERO },
};
#define RECTANGLES 14u
/* The two after the fourth one differ from it in one thing, its rows or the pitch of its target. The last four begin with the first one again: the
 * others differ from it in one thing, the width, the source or the target. */
static const struct move rectangles[RECTANGLES] = {
    { 0, 0, 20, 1, 1, { 4, 32, 1 }, { 0, 36, 1 } },  { 0, 0, 7, 3, 1, { 9, 11, 3 }, { 5, 13, 3 } }, { 0, 0, 12, 2, 1, { 1, 16, 2 }, { 8, 12, 2 } },
    { 0, 0, 8, 4, 1, { 16, 9, 4 }, { 3, 10, 4 } },   { 0, 0, 8, 3, 1, { 16, 9, 4 }, { 3, 10, 4 } }, { 0, 0, 8, 4, 1, { 16, 12, 4 }, { 3, 10, 4 } },
    { 0, 0, 5, 2, 3, { 2, 8, 3 }, { 1, 7, 4 } },     { 0, 0, 9, 3, 2, { 0, 10, 5 }, { 2, 11, 3 } }, { 0, 0, 4, 2, 4, { 6, 6, 4 }, { 7, 5, 2 } },
    { 0, 0, 1, 3, 1, { 3, 5, 3 }, { 11, 4, 3 } },    { 0, 0, 20, 1, 1, { 4, 32, 1 }, { 0, 36, 1 } }, { 0, 0, 28, 1, 1, { 4, 32, 1 }, { 0, 36, 1 } },
    { 0, 0, 20, 1, 1, { 4, 32, 1 }, { 6, 36, 1 } },  { 0, 0, 20, 1, 1, { 10, 32, 1 }, { 0, 36, 1 } },
};

static unsigned char *target_of(const struct given *g) { return (unsigned char *)((const struct kernel_args *)g->values[0])->data; }

static struct cudaMemsetParams fill_of(const struct given *g, unsigned which)
{
    const struct move *m = &g->moves[which];
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = target_of(g) + m->to.at;
    set.value = m->value;
    set.elementSize = m->element;
    set.width = m->width / m->element;
    set.height = m->rows;
    set.pitch = m->to.pitch;
    return set;
}

static struct cudaPitchedPtr pitched(unsigned char *room, const struct place *place)
{
    struct cudaPitchedPtr at;

    at.ptr = room + place->at;
    at.pitch = at.xsize = place->pitch;
    at.ysize = place->height;
    return at;
}

static struct cudaMemcpy3DParms copy_of(const struct given *g, unsigned which)
{
    const struct move *m = &g->moves[which];
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.dstPtr = pitched(target_of(g), &m->to);
    copy.srcPtr = pitched((unsigned char *)g->args.data + MOVE_ROOM, &m->from);
    copy.extent.width = m->width;
    copy.extent.height = m->rows;
    copy.extent.depth = m->layers;
    copy.kind = cudaMemcpyDefault;
    return copy;
}

static int is_fill(const struct given *g) { return g->moves[0].element != 0; }

static cudaError_t move_add(struct given *g, cudaGraph_t graph, unsigned which, cudaGraphNode_t *node)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);
    struct cudaMemsetParams set;

    if (!is_fill(g))
        return cudaGraphAddMemcpyNode(node, graph, NULL, 0, &copy);
    set = fill_of(g, which);
    return cudaGraphAddMemsetNode(node, graph, NULL, 0, &set);
}

static cudaError_t move_set(struct given *g, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);
    struct cudaMemsetParams set;

    if (!is_fill(g))
        return cudaGraphMemcpyNodeSetParams(node, &copy);
    set = fill_of(g, which);
    return cudaGraphMemsetNodeSetParams(node, &set);
}

static cudaError_t move_set_exec(struct given *g, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned which)
{
    struct cudaMemcpy3DParms copy = copy_of(g, which);
    struct cudaMemsetParams set;

    if (!is_fill(g))
        return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
    set = fill_of(g, which);
    return cudaGraphExecMemsetNodeSetParams(exec, node, &set);
}

#if CUDART_VERSION >= 12030
static void move_fill_general(struct given *g, struct cudaGraphNodeParams *params, unsigned which)
{
    struct cudaMemsetParams set;

    if (is_fill(g)) {
        set = fill_of(g, which);
        *params = ask_general_memset(&set);
        return;
    }
    params->type = cudaGraphNodeTypeMemcpy;
    params->memcpy.copyParams = copy_of(g, which);
}
#endif

static void clear_moves(struct given *g)
{
    unsigned char *bytes = (unsigned char *)g->room->data;
    unsigned i;

    memset(bytes, 0xFF, MOVE_ROOM);
    for (i = 0; i < MOVE_ROOM; i++)
        bytes[MOVE_ROOM + i] = (unsigned char)i;
}

/* What these parameters make of all the bytes. */
static void expect_moved(const struct move *m, unsigned char *bytes)
{
    unsigned layer, row, x;

    memset(bytes, 0xFF, MOVE_ROOM);
    for (layer = 0; layer < m->layers; layer++)
        for (row = 0; row < m->rows; row++)
            for (x = 0; x < m->width; x++)
                bytes[m->to.at + (layer * m->to.height + row) * m->to.pitch + x] =
                    (unsigned char)(m->element ? m->value >> 8 * (x % m->element)
                                               : m->from.at + (layer * m->from.height + row) * m->from.pitch + x);
}

static cudaError_t move_look(struct given *g, unsigned which)
{
    unsigned char want[MOVE_ROOM];
    cudaError_t error = cudaStreamSynchronize(g->ask->stream);

    expect_moved(&g->moves[which], want);
    g->wrong += error == cudaSuccess && memcmp(g->room->data, want, MOVE_ROOM) != 0;
    g->trials++;
    clear_moves(g);
    return error;
}

/* Which memsets may be exchanged in an executable graph, the documents leave open, and copies of several rows may not be: a change may be
 * refused. */
static const struct subject move_subject = { move_add, move_set, move_set_exec,
#if CUDART_VERSION >= 12030
                                             move_fill_general,
#endif
                                             move_look, 1 };

static void ask_moves(struct ask *ask, const struct move *moves, unsigned count, const char *wrong)
{
    struct given g = PDL_ZERO;

    if (!open_given(&g, ask))
        return;
    g.moves = moves;
    clear_moves(&g);
    ask_ways(&g, &move_subject, count);
    ask_expect_none(ask, wrong, g.wrong, g.trials);
    (void)cudaFreeHost(g.room);
}

static void ask_sets(struct ask *ask) { ask_moves(ask, fills, FILLS, "memsets of graphs that set other bytes, or others than they were given"); }

static void ask_copies(struct ask *ask)
{
    ask_moves(ask, rectangles, RECTANGLES, "copies of graphs that left other bytes than they were given to copy");
}

#endif
