/* kept_gone.h - questions of kept.cu in which an executable graph goes while its launch is under way, and others are made at once, which may lie
 * where it lay. */
#ifndef KEPT_GONE_H_INCLUDED
#define KEPT_GONE_H_INCLUDED

#define NEST_NONE NESTS        /* the row stands in no other graph */
#define SUCCESSORS 4u

/* A gate, and a row after it, which stands in another graph or in none. */
static cudaError_t make_gated_row(struct kept *kept, struct row *row, unsigned nest, struct kernel_args *gate, cudaGraph_t *graph)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t inner = NULL;
    cudaGraphNode_t begin = NULL, before = NULL;
    cudaError_t error = nest == NEST_NONE ? make_row(kept, row, MADE_BY_HAND) : nest_row(kept, row, (enum nest)nest, graph, &inner, &begin);

    if (nest == NEST_NONE) {
        *graph = row->graph;
        begin = row->node[row->first];
    }
    if (error == cudaSuccess)
        error = ask_add_kernel(&before, *graph, (const void *)SYMBOL(kept_gate), gate, 1);
    return error == cudaSuccess ? edges_add(*graph, &before, &begin, &full, 1) : error;
}

/* Of the same shape: all their nodes set one word. The first one is launched in the other stream. */
static void succeed(struct kept *kept, cudaGraph_t graph, cudaGraphExec_t *exec, unsigned count, const char *text)
{
    unsigned i;

    for (i = 0; i < count; i++)
        ask_expect(kept->ask, text, cudaGraphInstantiate(&exec[i], graph, 0), cudaSuccess);
    ask_expect(kept->ask, text, cudaGraphLaunch(exec[0], kept->ask->side), cudaSuccess);
}

/* "If there is a launch in flight it will not be terminated": the launch sets its words, whatever takes the place of what is destroyed. The host
 * holds the gate shut meanwhile. */
static void ask_succeeded(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned nest, int source)
{
    struct ask *ask = kept->ask;
    struct row row = row_of((enum nest)nest, ITEM_COPY), other = row;
    struct trial_state empty = PDL_ZERO;
    unsigned word = nest % 2 ? LAST_WORD : 0, i;
    cudaGraph_t graph = NULL, others = NULL;
    cudaGraphExec_t exec = NULL, successor[SUCCESSORS] = { NULL };
    char text[128];

    snprintf(text, sizeof(text), "%s in an executable graph that is destroyed while it runs%s, and others are made",
             nest == NEST_NONE ? "a row" : nest_name[nest], source ? " with its graph" : "");
    other.onto = word + 1;
    room->state = empty;
    ask_expect(ask, text, make_gated_row(kept, &row, nest, gate, &graph), cudaSuccess);
    ask_expect(ask, text, make_gated_row(kept, &other, nest, gate, &others), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, text, cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    await_gate(room, ask->stream);
    ask_expect(ask, text, cudaGraphExecDestroy(exec), cudaSuccess);
    if (source)
        ask_expect(ask, text, cudaGraphDestroy(graph), cudaSuccess);
    succeed(kept, others, successor, nest == NEST_BODY ? 1 : SUCCESSORS, text); /* of a graph with a conditional node only one may exist at a time */
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect(ask, text, cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect_number(ask, text, words_then(kept), (long)(set_by_row(&row) | 1u << word));
    for (i = 0; i < SUCCESSORS; i++)
        if (successor[i])
            (void)cudaGraphExecDestroy(successor[i]);
    (void)cudaGraphDestroy(others);
    if (!source)
        (void)cudaGraphDestroy(graph);
}

#define RENEWED ITEM_ROWS      /* the items before it, which any update may change */

/* An executable graph is launched, and the host holds its gate shut. It is updated and launched again in the other stream. Then it is destroyed, with
 * its graph or without. Each launch still sets the words that it was launched with. A device may refuse the update: then there is one launch. */
static void ask_renewed_and_gone(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned nest, int source)
{
    struct ask *ask = kept->ask;
    struct row row = PDL_ZERO, other;
    struct trial_state empty = PDL_ZERO;
    cudaGraph_t graph = NULL, others = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t update;
    char text[128];

    snprintf(text, sizeof(text), "%s in an executable graph that is updated and destroyed while it runs",
             nest == NEST_NONE ? "a row" : nest_name[nest]);
    row.nodes = RENEWED;
    row.moved = UNMOVED;
    other = row;
    other.onto = LAST_WORD + 1;
    room->state = empty;
    ask_expect(ask, text, make_gated_row(kept, &row, nest, gate, &graph), cudaSuccess);
    ask_expect(ask, text, make_gated_row(kept, &other, nest, gate, &others), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&exec, others, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, text, cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    await_gate(room, ask->stream);
    update = update_from(exec, graph);
    ask_expect_update(ask, text, update);
    if (update == cudaSuccess)
        ask_expect(ask, text, cudaGraphLaunch(exec, ask->side), cudaSuccess);
    ask_expect(ask, text, cudaGraphExecDestroy(exec), cudaSuccess);
    if (source)
        ask_expect(ask, text, cudaGraphDestroy(others), cudaSuccess);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect(ask, text, cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect_number(ask, text, words_then(kept), (long)((update == cudaSuccess ? set_by_row(&row) : 0) | 1u << LAST_WORD));
    if (!source)
        (void)cudaGraphDestroy(others);
    (void)cudaGraphDestroy(graph);
}

static void ask_all_succeeded(struct kept *kept, struct host_room *room, struct kernel_args *gate)
{
    unsigned nest;

    for (nest = 0; nest <= NEST_NONE; nest++) {
        if (nest == NEST_BODY && !has_conditions())
            continue;
        ask_succeeded(kept, room, gate, nest, 0);
        ask_succeeded(kept, room, gate, nest, 1);
        ask_renewed_and_gone(kept, room, gate, nest, nest % 2 != 0);
    }
}

#endif
