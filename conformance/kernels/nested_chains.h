/* nested_chains.h - the pairs of nested.cu in which nodes of every two kinds stand between the writer and the reader, next to each other or before
 * and after a disabled node. */
#ifndef NESTED_CHAINS_H_INCLUDED
#define NESTED_CHAINS_H_INCLUDED

#define CHAIN_KINDS (NODE_KINDS + 1u) /* the last one is a conditional node */
#define LINKS 3u               /* between writer and reader, at most */

struct chain {
    unsigned kind[LINKS], links;
    unsigned disabled;         /* the link that is, or LINKS: none */
    int beside;                /* that link has a second edge into it and out of it as well, each made before the others */
    int programmatic;          /* the edge to the reader, who waits */
    int into_port;             /* the edge between the first two links, both kernels, is programmatic, too */
    int in_body;               /* all of it lies in the body of a conditional node */
    int from_start;            /* the first link is a kernel, and the edge to the second link comes from its start, where such edges are taken */
    cudaGraphNode_t node[LINKS + 2];
};

static const char *name_of_link(unsigned kind) { return kind == NODE_KINDS ? "conditional node" : node_kind_name[kind]; }

static cudaError_t add_link(struct nested *n, cudaGraph_t graph, unsigned kind, const struct node_room *room, cudaGraphNode_t *node)
{
    return kind == NODE_KINDS ? add_body(n, graph, room->function, node) : ask_add(node, graph, (enum node_kind)kind, room);
}

static cudaError_t add_beside(struct nested *n, const struct chain *chain, cudaGraph_t graph)
{
    cudaGraphNode_t before, after, link = chain->node[1 + chain->disabled];
    cudaError_t error = ask_add_kernel(&before, graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);

    if (error == cudaSuccess)
        error = ask_add_kernel(&after, graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);
    if (error == cudaSuccess)
        error = add_edge(graph, before, link, 0);
    return error == cudaSuccess ? add_edge(graph, link, after, 0) : error;
}

/* "This port activates when all blocks of the kernel have begun execution": it begins after the writer, and what comes after its start does too.
 * Whether nodes other than kernels may have such an edge is not said: a full one does where it is refused. */
static cudaError_t add_start_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to)
{
    cudaGraphEdgeData start = edges_data(2, 0, 0);
    cudaGraphExec_t exec = NULL;
    cudaError_t error = edges_add(graph, &from, &to, &start, 1);

    if (error == cudaSuccess) {
        if (cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess)
            return cudaGraphExecDestroy(exec);
        error = edges_remove(graph, &from, &to, &start, 1);
        if (error != cudaSuccess)
            return error;
    }
    (void)cudaGetLastError();
    return add_edge(graph, from, to, 0);
}

/* Writer, links, reader, by full edges but perhaps the last ones; the mutant has none between the first two links. */
static cudaError_t make_chain(struct nested *n, struct chain *chain, const struct node_room room[LINKS], cudaGraph_t graph)
{
    const void *reader = chain->programmatic ? (const void *)SYMBOL(nested_waiting_reader) : (const void *)SYMBOL(nested_reader);
    cudaGraphNode_t *node = chain->node;
    cudaError_t error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(nested_writer), &n->args, PART);
    unsigned i, links = chain->links;

    for (i = 0; i < links && error == cudaSuccess; i++)
        error = add_link(n, graph, chain->kind[i], &room[i], &node[i + 1]);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[links + 1], graph, reader, &n->args, PART);
    if (error == cudaSuccess && chain->beside)
        error = add_beside(n, chain, graph);
    for (i = 0; i <= links && error == cudaSuccess; i++) {
        unsigned programmatic = (i == links && chain->programmatic) || (i == 1 && chain->into_port);
        if (EDGES_KEPT || i != 1)
            error = i == 1 && chain->from_start ? add_start_edge(graph, node[1], node[2]) : add_edge(graph, node[i], node[i + 1], programmatic);
    }
    return error;
}

/* The graph that the chain stands in. */
static cudaError_t chain_place(const struct chain *chain, cudaGraph_t graph, cudaGraph_t *place)
{
    *place = graph;
#if CUDART_VERSION >= 12040
    if (chain->in_body) {
        cudaGraphNode_t node;
        return ask_add_if(&node, graph, graph, 1, place);
    }
#endif
    (void)chain;
    return cudaSuccess;
}

/* With a disabled node every other row of trials is launched twice: the reader of the second launch is asked. */
static cudaError_t run_chain(struct nested *n, struct chain *chain, unsigned trial, const struct node_room room[LINKS])
{
    cudaGraph_t graph = NULL, place = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned launch, launches = chain->disabled < LINKS && trial / CHAIN_KINDS % 2 ? 2 : 1;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = chain_place(chain, graph, &place);
    if (error == cudaSuccess)
        error = make_chain(n, chain, room, place);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && chain->disabled < LINKS)
        error = cudaGraphNodeSetEnabled(exec, chain->node[1 + chain->disabled], 0);
    for (launch = 0; launch < launches && error == cudaSuccess; launch++)
        error = launch_nested(n, trial, exec);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

typedef unsigned draw_chain(struct chain *chain, unsigned trial, uint64_t seed); /* gives the kind that the trial is counted for */

/* By kind, how often the reader was stale. */
static void ask_chains_of(struct ask *ask, draw_chain *draw, const char *what)
{
    struct nested n = PDL_ZERO;
    struct node_room room[LINKS] = { PDL_ZERO, PDL_ZERO, PDL_ZERO };
    unsigned trial, kind, i, stale[CHAIN_KINDS] = { 0 }, trials[CHAIN_KINDS] = { 0 };
    cudaError_t error = open_nested(&n, ask);
    char text[128];

    for (i = 0; i < LINKS && error == cudaSuccess; i++)
        error = ask_open_room(&room[i], (const void *)SYMBOL(nested_nothing));
    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        struct chain chain = PDL_ZERO;
        kind = draw(&chain, trial, ask->seed);
        error = run_chain(&n, &chain, trial, room);
        trials[kind]++;
        stale[kind] += error == cudaSuccess && readers_are_stale(&n, 1, 0);
    }
    ask_expect(ask, "launches of chains", error, cudaSuccess);
    for (kind = 0; kind < CHAIN_KINDS; kind++) {
        snprintf(text, sizeof(text), "%s %s", what, name_of_link(kind));
        if (trials[kind] || error != cudaSuccess)
            ask_expect_none(ask, text, stale[kind], trials[kind]);
    }
    for (i = 0; i < LINKS; i++)
        ask_close_room(&room[i]);
    close_nested(&n);
}

/* "Allowed node types are kernel nodes, empty nodes, child graphs, memsets, memcopies, and conditionals", of which the last are asked elsewhere. */
static int may_lie_in_body(unsigned kind)
{
    return kind != NODE_HOST && kind != NODE_RECORD && kind != NODE_WAIT && kind != NODE_KINDS && has_conditions();
}

/* The second time the pair lies in a body, or comes from the start of a kernel. */
static unsigned draw_pair(struct chain *chain, unsigned trial, uint64_t seed)
{
    int again = trial / CHAIN_KINDS / CHAIN_KINDS % 2 != 0;

    (void)seed;
    chain->kind[0] = trial / CHAIN_KINDS % CHAIN_KINDS;
    chain->kind[1] = trial % CHAIN_KINDS;
    chain->links = 2;
    chain->disabled = LINKS;
    chain->from_start = again && chain->kind[0] == NODE_KERNEL;
    chain->in_body = again && !chain->from_start && may_lie_in_body(chain->kind[0]) && may_lie_in_body(chain->kind[1]);
    return chain->kind[0];
}

/* A node of each kind before the disabled one, and one of each kind after it. */
static unsigned draw_around(struct chain *chain, enum node_kind disabled, unsigned turn, uint64_t seed)
{
    unsigned round = turn / CHAIN_KINDS;

    chain->kind[0] = turn % CHAIN_KINDS;
    chain->kind[1] = disabled;
    chain->kind[2] = (unsigned)((turn + round + seed % CHAIN_KINDS) % CHAIN_KINDS);
    chain->links = LINKS;
    chain->disabled = 1;
    chain->beside = round % 2 != 0;
    return chain->kind[2];
}

static unsigned draw_past(struct chain *chain, unsigned trial, uint64_t seed)
{
    static const enum node_kind disabled[] = { NODE_KERNEL, NODE_MEMCPY, NODE_LAYERS };

    return draw_around(chain, disabled[trial % 3], trial / 3, seed);
}

static unsigned draw_past_set(struct chain *chain, unsigned trial, uint64_t seed)
{
    return draw_around(chain, trial % 2 ? NODE_ROWS : NODE_MEMSET, trial / 2, seed);
}

/* A disabled kernel leads to the reader. Every other time a kernel before it leads to it by its trigger: it begins after the writer, and what comes
 * after its trigger does too. */
static unsigned draw_past_port(struct chain *chain, unsigned trial, uint64_t seed)
{
    (void)draw_around(chain, NODE_KERNEL, trial, seed);
    chain->links = 2;
    chain->programmatic = 1;
    chain->into_port = chain->kind[0] == NODE_KERNEL && trial / CHAIN_KINDS % 2;
    return chain->kind[0];
}

static void ask_chains(struct ask *ask)
{
    ask_chains_of(ask, draw_pair, "stale after two nodes, the first of kind");
    ask_triangles(ask);
}

static void ask_past(struct ask *ask) { ask_chains_of(ask, draw_past, "stale past a disabled kernel or copy to"); }
static void ask_past_set(struct ask *ask) { ask_chains_of(ask, draw_past_set, "stale past a disabled memset to"); }
static void ask_past_port(struct ask *ask)
{
    ask_chains_of(ask, draw_past_port, "stale past a disabled kernel from");
}

#endif
