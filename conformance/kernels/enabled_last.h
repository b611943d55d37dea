/* enabled_last.h - the pair of enabled.cu with graphs whose last nodes are disabled: the graph still ends after what comes before them. */
#ifndef ENABLED_LAST_H_INCLUDED
#define ENABLED_LAST_H_INCLUDED

/* What comes before the last node: a kernel that stores late, or a host function that does. */
enum before { BEFORE_KERNEL, BEFORE_HOST, BEFORES };
#define LAST_PLACES (BEFORES * MIDDLES)

struct last_out {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;
    cudaGraph_t graph[LAST_PLACES];
    cudaGraphNode_t last[LAST_PLACES];
    cudaGraphExec_t exec[LAST_PLACES];
    unsigned told, passed, launches; /* said to have ended before it had; passed by what came after the graph */
};

/* Stores what a kernel would, after the time that it would take. */
static void CUDART_CB host_stores_late(void *opaque)
{
    struct host_room *room = (struct host_room *)opaque;
    volatile uint32_t *words = room->data;
    uint32_t i;

    host_pauses(room->plan.hold_ns);
    for (i = 0; i < ASK_WORDS / 2; i++)
        words[i] = words_fresh(room->plan.key, i);
}

static cudaError_t add_last(struct last_out *l, cudaGraph_t graph, enum middle kind, const cudaGraphNode_t *before, cudaGraphNode_t *node)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    uint32_t *aside = l->args.seen;
    cudaError_t error;

    set.dst = aside;
    set.elementSize = 4;
    set.width = set.height = 1;
    switch (kind) {
    case MIDDLE_SET: return cudaGraphAddMemsetNode(node, graph, before, 1, &set);
    case MIDDLE_COPY: return cudaGraphAddMemcpyNode1D(node, graph, before, 1, aside, aside + 1, 4, cudaMemcpyDeviceToDevice);
    default: break;
    }
    error = ask_add_kernel(node, graph, (const void *)SYMBOL(enabled_nothing), &l->args, 1);
    return error == cudaSuccess ? edges_add(graph, before, node, &full, 1) : error;
}

static cudaError_t make_last(struct last_out *l, unsigned place)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraphNode_t before = NULL;
    cudaError_t error = cudaGraphCreate(&l->graph[place], 0);

    host.fn = host_stores_late;
    host.userData = l->room;
    if (error == cudaSuccess && place / MIDDLES == BEFORE_HOST)
        error = cudaGraphAddHostNode(&before, l->graph[place], NULL, 0, &host);
    else if (error == cudaSuccess)
        error = ask_add_kernel(&before, l->graph[place], (const void *)SYMBOL(enabled_writer), &l->args, ASK_WORDS / 2);
    if (error == cudaSuccess)
        error = add_last(l, l->graph[place], (enum middle)(place % MIDDLES), &before, &l->last[place]);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&l->exec[place], l->graph[place], 0);
    return error == cudaSuccess ? cudaGraphNodeSetEnabled(l->exec[place], l->last[place], 0) : error;
}

static cudaError_t open_last(struct last_out *l, struct ask *ask)
{
    cudaError_t error = open_room(&l->room, &l->args) ? cudaSuccess : cudaErrorMemoryAllocation;
    unsigned place;

    l->ask = ask;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&l->args.seen, 2 * sizeof(uint32_t));
    for (place = 0; place < LAST_PLACES && error == cudaSuccess; place++)
        error = make_last(l, place);
    return error;
}

static void close_last(struct last_out *l)
{
    unsigned place;

    (void)cudaDeviceSynchronize();
    for (place = 0; place < LAST_PLACES; place++) {
        if (l->exec[place])
            (void)cudaGraphExecDestroy(l->exec[place]);
        if (l->graph[place])
            (void)cudaGraphDestroy(l->graph[place]);
    }
    (void)cudaFree(l->args.seen);
    (void)cudaFreeHost(l->room);
}

/* The host waits for the graph, or a kernel comes after it that copies what it finds. Where a host function may still go on, it is waited for, a
 * fifth of a second at most, before the next launch. */
static cudaError_t launch_last(struct last_out *l, unsigned trial)
{
    unsigned place = trial % LAST_PLACES, reads = trial / LAST_PLACES % 2, pauses = 0;
    cudaStream_t stream = l->ask->stream;
    cudaError_t error;

    prepare_trial(l->room, trial);
    l->room->plan.hold_ns = 60000;
    error = cudaGraphLaunch(l->exec[place], stream);
    if (error == cudaSuccess && reads)
        error = launch_one((const void *)SYMBOL(enabled_copies), &l->args, ASK_WORDS / 2, stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) {
        l->told += work_is_stale(l->room);
        l->passed += reads && copy_is_stale(l->room);
        l->launches++;
        error = cudaDeviceSynchronize();
    }
    for (; error == cudaSuccess && pauses < 200 && place / MIDDLES == BEFORE_HOST && work_is_stale(l->room); pauses++)
        host_pauses(1000000);
    return error;
}

static void ask_last(struct ask *ask)
{
    struct last_out l = PDL_ZERO;
    cudaError_t error = open_last(&l, ask);
    unsigned trial;

    for (trial = 0; ask_goes_on(ask, trial, 8 * LAST_PLACES) && error == cudaSuccess; trial++)
        error = launch_last(&l, trial);
    ask_expect(ask, "launches of graphs whose last node is disabled", error, cudaSuccess);
    ask_expect_none(ask, "such graphs that had ended before what comes before their last node", l.told, l.launches);
    ask_expect_none(ask, "kernels after such graphs that did not come after what is in them", l.passed, l.launches);
    close_last(&l);
}

#endif
