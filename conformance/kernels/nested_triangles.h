/* nested_triangles.h - the part of nested.cu in which an edge leads from writer to reader beside a path of other edges. The path does not make
 * the edge redundant: it begins with an edge that lets the next kernel begin while the writer runs, and no kernel on it waits. */
#ifndef NESTED_TRIANGLES_H_INCLUDED
#define NESTED_TRIANGLES_H_INCLUDED

#define TRIANGLE_MOST 4u       /* kernels on the path */
#define TRIANGLE_LENGTHS 3u
#define TRIANGLE_TURNS 2u      /* the direct edge is made before the others or after them; that it is made with them in one call EDGE-33 asks */
#define TRIANGLES (8u * TRIANGLE_LENGTHS * TRIANGLE_TURNS)

struct triangle {
    unsigned between;          /* kernels */
    unsigned from_start;       /* the path leaves the writer by its block starts, or by its trigger */
    unsigned ends_programmatic; /* its last edge is; the ones between are full */
    unsigned direct;           /* the edge beside it is programmatic, and the reader waits */
    unsigned turn;
};

static struct triangle triangle_of(unsigned i)
{
    static const unsigned lengths[TRIANGLE_LENGTHS] = { 1, 2, TRIANGLE_MOST };
    struct triangle t = PDL_ZERO;

    t.from_start = i & 1;
    t.ends_programmatic = i >> 1 & 1;
    t.direct = i >> 2 & 1;
    t.between = lengths[i / 8 % TRIANGLE_LENGTHS];
    t.turn = i / 8 / TRIANGLE_LENGTHS;
    return t;
}

struct triangle_edges {
    cudaGraphNode_t from[TRIANGLE_MOST + 2], to[TRIANGLE_MOST + 2];
    cudaGraphEdgeData data[TRIANGLE_MOST + 2];
    unsigned count;
};

static void triangle_edge(struct triangle_edges *e, cudaGraphNode_t from, cudaGraphNode_t to, cudaGraphEdgeData data)
{
    e->from[e->count] = from;
    e->to[e->count] = to;
    e->data[e->count++] = data;
}

/* The mutant has no direct edge. */
static cudaError_t connect_triangle(const struct triangle *t, cudaGraph_t graph, const cudaGraphNode_t *node)
{
    struct triangle_edges e = PDL_ZERO;
    cudaGraphEdgeData direct = edges_data(t->direct, 0, t->direct);
    unsigned last = t->between + 1, i;
    cudaError_t error = cudaSuccess;

    if (EDGES_KEPT && t->turn == 0)
        triangle_edge(&e, node[0], node[last], direct);
    for (i = 0; i < last; i++) {
        unsigned programmatic = i == 0 || (i + 1 == last && t->ends_programmatic);
        triangle_edge(&e, node[i], node[i + 1], i == 0 && t->from_start ? edges_completion() : edges_data(programmatic, 0, programmatic));
    }
    if (EDGES_KEPT && t->turn != 0)
        triangle_edge(&e, node[0], node[last], direct);
    for (i = 0; i < e.count && error == cudaSuccess; i++)
        error = edges_add(graph, &e.from[i], &e.to[i], &e.data[i], 1);
    return error;
}

static cudaError_t run_triangle(struct nested *n, unsigned trial)
{
    struct triangle t = triangle_of(trial);
    const void *reader = t.direct ? (const void *)SYMBOL(nested_waiting_reader) : (const void *)SYMBOL(nested_reader);
    cudaGraphNode_t node[TRIANGLE_MOST + 2];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned i;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], graph, (const void *)SYMBOL(nested_writer), &n->args, PART);
    for (i = 1; i <= t.between && error == cudaSuccess; i++)
        error = ask_add_kernel(&node[i], graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[i], graph, reader, &n->args, PART);
    if (error == cudaSuccess)
        error = connect_triangle(&t, graph, node);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess)
        error = launch_nested(n, trial, exec);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_triangles(struct ask *ask)
{
    struct nested n = PDL_ZERO;
    unsigned trial, stale[2] = { 0, 0 };
    cudaError_t error = open_nested(&n, ask);

    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(nested_nothing)), cudaSuccess);
    for (trial = 0; ask_goes_on(ask, trial, TRIANGLES) && error == cudaSuccess; trial++) {
        error = run_triangle(&n, trial);
        stale[triangle_of(trial).direct] += error == cudaSuccess && readers_are_stale(&n, 1, 0);
    }
    ask_expect(ask, "launches of edges beside paths", error, cudaSuccess);
    ask_expect_none(ask, "stale after a full edge beside a path of others", stale[0], TRIANGLES / 2);
    ask_expect_none(ask, "stale after a programmatic edge beside a path of others", stale[1], TRIANGLES / 2);
    close_nested(&n);
}

#endif
