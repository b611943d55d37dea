/* joins_pieces.h - the part of joins_allocations.h with several pieces of memory in use at once: in place of a large one that the graph freed, or one
 * in a child graph that was moved and one beside that. The mutant has no part in it. */
#ifndef JOINS_PIECES_H_INCLUDED
#define JOINS_PIECES_H_INCLUDED

#ifndef MUTANT_otherstream
#define PIECES 6u              /* in use at once */
#define PIECE_TRIALS 4u

static size_t bytes_of_piece(unsigned i) { return POOL_BYTES << (i % 3 * 4); } /* twice each size */

/* In the place of a large piece of memory that late work used there may be several smaller ones, and each has a kernel's words until all are copied.
 * They are freed in another order. */
static cudaError_t lend_pieces(struct lending *l, uint32_t **piece)
{
    uint32_t *large = NULL;
    unsigned i;
    cudaError_t error = use_late(l, &large);

    if (error == cudaSuccess)
        error = lend_no_more(l, large);
    for (i = 0; i < PIECES && error == cudaSuccess; i++) {
        struct kernel_args fills;
        l->bytes = bytes_of_piece(i);
        error = lend(l, &piece[i]);
        fills = with_data(&l->joins->work[i + 1], piece[i]);
        if (error == cudaSuccess)
            error = lend_kernel(l, (const void *)SYMBOL(joins_fills), &fills, 0);
    }
    for (i = 0; i < PIECES && error == cudaSuccess; i++)
        error = lend_copy(l, i, piece[i]);
    for (i = 0; i < PIECES && error == cudaSuccess; i++)
        error = lend_no_more(l, piece[5 * i % PIECES]);
    return error;
}

/* Whether two of them lie in one place. */
static unsigned pieces_overlap(uint32_t *const *piece)
{
    unsigned i, k, overlap = 0;

    for (i = 0; i < PIECES; i++)
        for (k = 0; k < PIECES; k++)
            overlap |= i != k && (const char *)piece[i] >= (const char *)piece[k] &&
                       (const char *)piece[i] < (const char *)piece[k] + bytes_of_piece(k);
    return overlap;
}

static cudaError_t use_pieces(struct joins *joins)
{
    struct lending l = PDL_ZERO;
    uint32_t *piece[PIECES] = { NULL };
    unsigned i;
    cudaError_t error = begin_lending(&l, joins, joins->stream[0]);

    prepare(joins, 1, 0);
    l.bytes = 2 * PIECES * bytes_of_piece(2);
    error = run_lending(&l, error == cudaSuccess ? lend_pieces(&l, piece) : error);
    joins->pinned->host_is_stale |= error == cudaSuccess && pieces_overlap(piece);
    for (i = 0; i < PIECES; i++)
        expect_words(joins, i, i + 1);
    return error;
}

#if CUDART_VERSION >= 12090
/* Late work in memory of a child graph that its graph owns, and beside it memory of that graph's own. */
static cudaError_t lend_to_moved(struct lending *l, struct lending *inner, uint32_t **memory, uint32_t **beside)
{
    cudaGraphNode_t child;
    cudaError_t error = cudaGraphCreate(&inner->graph, 0);

    if (error == cudaSuccess)
        error = use_late(inner, memory);
    if (error == cudaSuccess)
        error = copy_and_end(inner, 0, *memory);
    if (error == cudaSuccess)
        error = ask_nest(&child, l->graph, inner->graph, 1);
    if (error == cudaSuccess)
        inner->graph = NULL; /* it goes with the other one */
    return error == cudaSuccess ? lend_beside(l, beside) : error;
}

/* "The graph can only be used in a child node if the ownership is moved to the parent." */
static void ask_moved(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    unsigned wrong = 0;
    cudaError_t error = has_version(12090) ? open_joins(&joins, ask, cudaStreamNonBlocking) : cudaSuccess;

    if (!has_version(12090))
        return;
    for (; joins.trial < PIECE_TRIALS && error == cudaSuccess; joins.trial++) {
        struct lending l = PDL_ZERO, inner = PDL_ZERO;
        uint32_t *memory = NULL, *beside = NULL;
        prepare_beside(&joins);
        l.joins = inner.joins = &joins;
        l.bytes = inner.bytes = POOL_BYTES << (joins.trial * 4);
        error = cudaGraphCreate(&l.graph, 0);
        error = run_lending(&l, error == cudaSuccess ? lend_to_moved(&l, &inner, &memory, &beside) : error);
        drop_lending(&inner);
        expect_words(&joins, 0, 0);
        expect_words(&joins, 1, 1);
        wrong += error == cudaSuccess && (joins.pinned->host_is_stale || share(&l, memory, beside));
    }
    ask_expect(ask, "memory of a child graph that was moved", error, cudaSuccess);
    ask_expect_none(ask, "overwritten in memory of a child graph that was moved, or beside it", wrong, joins.trial);
    close_joins(&joins);
}
#endif

static void ask_pieces(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    unsigned wrong = 0;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    for (; joins.trial < PIECE_TRIALS && error == cudaSuccess; joins.trial++) {
        error = use_pieces(&joins);
        wrong += error == cudaSuccess && joins.pinned->host_is_stale;
    }
    ask_expect(ask, "graphs that allocate six times in place of memory that they freed", error, cudaSuccess);
    ask_expect_none(ask, "overwritten in one of six allocations of a graph, or two of them in one place", wrong, joins.trial);
    close_joins(&joins);
}
#endif

#endif
