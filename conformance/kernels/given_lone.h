/* given_lone.h - for given.cu: shapes that differ in one number alone, with the same arguments. What looks at some of what a kernel is given, to
 * see whether it is what it had, takes the one for the other. */
#ifndef GIVEN_LONE_H_INCLUDED
#define GIVEN_LONE_H_INCLUDED

/* Each way that gives a node parameters, from the first of these shapes to each other one or back, in turn. */
static void ask_lone_ways(struct given *g)
{
    unsigned way, i;

    g->goes_first = 0;
    g->same_args = 1;
    for (way = 0; way < (unsigned)WAYS_ASKED; way++) {
        cudaError_t error = cudaSuccess;
        for (i = 1; i < LONE_SHAPES && !only_adds((enum way)way) && error == cudaSuccess; i++) {
            unsigned lone = SHAPES + i, turned = (way + i) % 2;
            error = run_way(g, &shape_subject, (enum way)way, turned ? lone : SHAPES, turned ? SHAPES : lone, 0);
        }
        ask_expect(g->ask, way_names[way], error, cudaSuccess);
    }
    g->same_args = 0;
}

/* Clusters change with the graph alone: an update, or another child graph, may be refused them. */
static void ask_lone_clusters(struct given *g)
{
    static const enum way ways[] = { WAY_UPDATE, WAY_UPDATE_INSIDE, WAY_CHILD, WAY_CHILD_INSIDE };
    unsigned way, turned;
    cudaError_t error = cudaSuccess;

    g->clusters = 1;
    for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
        for (turned = 0; turned < 2 && error == cudaSuccess; turned++)
            error = run_way(g, &shape_subject, ways[way], LONE_CLUSTERED + turned, LONE_CLUSTERED + !turned, 0);
    ask_expect(g->ask, "a node that gets another cluster alone", error, cudaSuccess);
    g->clusters = 0;
}

/* A launch that differs from the one before it in one number, by each call; and one that differs from that. */
static cudaError_t launch_lone(struct given *g, enum call call)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 1; i < LONE_SHAPES && error == cudaSuccess; i++) {
        error = launch_by(g, call, &shapes[SHAPES], g->ask->stream);
        if (error == cudaSuccess && i % 2)
            error = look_at_shape(g, &shapes[SHAPES]);
        if (error == cudaSuccess)
            error = launch_by(g, call, &shapes[SHAPES + i], g->ask->stream);
        if (error == cudaSuccess)
            error = look_at_shape(g, &shapes[SHAPES + i]);
    }
    return error;
}

#endif
