/* nested_chains.h - the pair of nested.cu in which nodes of every two kinds stand between the writer and the reader. */
#ifndef NESTED_CHAINS_H_INCLUDED
#define NESTED_CHAINS_H_INCLUDED

#define CHAIN_KINDS (NODE_KINDS + 1u) /* the last one is a conditional node */

static cudaError_t add_link(struct nested *n, cudaGraph_t graph, unsigned kind, const struct node_room *room, cudaGraphNode_t *node)
{
    return kind == NODE_KINDS ? add_body(n, graph, room->function, node) : ask_add(node, graph, (enum node_kind)kind, room);
}

/* Writer, two nodes, reader, by full edges; the mutant's two nodes have none between them. */
static cudaError_t make_chain(struct nested *n, unsigned first, unsigned second, const struct node_room room[2], cudaGraph_t graph)
{
    cudaGraphNode_t node[4];
    cudaError_t error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(nested_writer), &n->args, PART);
    unsigned i;

    if (error == cudaSuccess)
        error = add_link(n, graph, first, &room[0], &node[1]);
    if (error == cudaSuccess)
        error = add_link(n, graph, second, &room[1], &node[2]);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[3], graph, (const void *)SYMBOL(nested_reader), &n->args, PART);
    for (i = 0; i < 3 && error == cudaSuccess; i++)
        if (EDGES_KEPT || i != 1)
            error = add_edge(graph, node[i], node[i + 1], 0);
    return error;
}

static cudaError_t run_chain(struct nested *n, unsigned pair, unsigned trial, const struct node_room room[2])
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = prepare_nested(n, trial);

    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = make_chain(n, pair / CHAIN_KINDS, pair % CHAIN_KINDS, room, graph);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, n->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(n->ask->stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* By the first of the two kinds: where the reader was stale. */
static void ask_chains(struct ask *ask)
{
    struct nested n = PDL_ZERO;
    struct node_room room[2] = { PDL_ZERO, PDL_ZERO };
    unsigned trial, kind, stale[CHAIN_KINDS] = { 0 }, trials[CHAIN_KINDS] = { 0 };
    cudaError_t error = open_nested(&n, ask);
    char text[80];

    for (kind = 0; kind < 2 && error == cudaSuccess; kind++)
        error = ask_open_room(&room[kind], (const void *)SYMBOL(nested_nothing));
    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        unsigned pair = trial % (CHAIN_KINDS * CHAIN_KINDS);
        error = run_chain(&n, pair, trial, room);
        trials[pair / CHAIN_KINDS]++;
        stale[pair / CHAIN_KINDS] += error == cudaSuccess && readers_are_stale(&n, 1, 0);
    }
    ask_expect(ask, "launches of chains", error, cudaSuccess);
    for (kind = 0; kind < CHAIN_KINDS; kind++) {
        snprintf(text, sizeof(text), "stale after a chain of two, the first a %s", kind == NODE_KINDS ? "conditional node" : node_kind_name[kind]);
        ask_expect_none(ask, text, stale[kind], trials[kind]);
    }
    for (kind = 0; kind < 2; kind++)
        ask_close_room(&room[kind]);
    close_nested(&n);
}

#endif
