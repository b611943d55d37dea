/* nested_launches.h - the pair of nested.cu with graphs that are launched again while they run. */
#ifndef NESTED_LAUNCHES_H_INCLUDED
#define NESTED_LAUNCHES_H_INCLUDED

/* What is done to the executable graph, or instead, between a launch and the next one; no launch under way may take notice. */
enum meddle {
    MEDDLE_NOT, MEDDLE_WAIT, MEDDLE_DISABLED, MEDDLE_ENABLED, MEDDLE_KERNEL, MEDDLE_SET, MEDDLE_COPY, MEDDLE_HOST, MEDDLE_CHILD, MEDDLE_EVENT,
    MEDDLE_GENERAL, MEDDLE_UPLOAD, MEDDLE_WHOLE, MEDDLE_SOURCE, MEDDLE_REFUSED_WHOLE, MEDDLE_REFUSED_KERNEL, MEDDLE_CLONE, MEDDLES
};

/* A kernel; then a disabled one, a memset, a copy, a host function, an event's record and a child graph, which do nothing that is asked about; then
 * an empty kernel. */
enum repeated_node {
    REPEATED_KERNEL, REPEATED_DISABLED, REPEATED_SET, REPEATED_COPY, REPEATED_HOST, REPEATED_RECORD, REPEATED_CHILD, REPEATED_LAST, REPEATED_NODES
};

struct repeated {
    const void *function;
    cudaGraph_t graph, child;
    cudaGraphNode_t node[REPEATED_NODES];
    cudaEvent_t event;         /* that it records, for nobody */
    cudaGraphExec_t exec[2];
    unsigned used;             /* the one that is launched and changed; the mutant launches both */
};

struct launches {
    struct nested n;
    cudaGraphExec_t reader;
    struct repeated turn, again;
    cudaGraphExec_t early[2];  /* its last kernel ends long before the first one does; the mutant launches both */
    cudaStream_t elsewhere, idle;
    unsigned stale, stale_again, stale_gone, lost, lost_early, passed;
};

/* ---- graphs ---- */

/* A memset of the first word that no reader stores, or a copy to it. */
static struct cudaMemsetParams aside_set(const struct nested *n)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = n->args.seen + 2 * PART;
    set.elementSize = 4;
    set.width = set.height = 1;
    return set;
}

static struct cudaHostNodeParams aside_host(void)
{
    struct cudaHostNodeParams host = PDL_ZERO;

    host.fn = ask_host_nothing;
    return host;
}

static cudaError_t add_aside(struct nested *n, struct repeated *r, cudaGraph_t graph, enum repeated_node kind, cudaGraphNode_t *node)
{
    const cudaGraphNode_t *after = &node[REPEATED_KERNEL];
    struct cudaMemsetParams set = aside_set(n);
    struct cudaHostNodeParams host = aside_host();
    uint32_t *aside = n->args.seen + 2 * PART;

    switch (kind) {
    case REPEATED_SET: return cudaGraphAddMemsetNode(&node[kind], graph, after, 1, &set);
    case REPEATED_COPY: return cudaGraphAddMemcpyNode1D(&node[kind], graph, after, 1, aside + 1, aside + 2, 4, cudaMemcpyDeviceToDevice);
    case REPEATED_HOST: return cudaGraphAddHostNode(&node[kind], graph, after, 1, &host);
    case REPEATED_RECORD: return cudaGraphAddEventRecordNode(&node[kind], graph, after, 1, r->event);
    case REPEATED_CHILD: return cudaGraphAddChildGraphNode(&node[kind], graph, after, 1, r->child);
    default: return ask_add_kernel_after(&node[kind], graph, after, 1, (const void *)SYMBOL(nested_nothing), &n->args, 1, 1);
    }
}

static cudaError_t fill_repeated(struct nested *n, struct repeated *r, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaError_t error = ask_add_kernel(&node[REPEATED_KERNEL], graph, r->function, &n->args, PART);
    unsigned i;

    for (i = REPEATED_DISABLED; i < REPEATED_LAST && error == cudaSuccess; i++)
        error = add_aside(n, r, graph, (enum repeated_node)i, node);
    if (error != cudaSuccess)
        return error;
    return ask_add_kernel_after(&node[REPEATED_LAST], graph, &node[REPEATED_DISABLED], REPEATED_LAST - REPEATED_DISABLED,
                                (const void *)SYMBOL(nested_nothing), &n->args, 1, 1);
}

static cudaError_t make_repeated(struct nested *n, struct repeated *r, const void *function)
{
    cudaGraphNode_t inside;
    cudaError_t error = cudaGraphCreate(&r->graph, 0);
    unsigned i;

    r->function = function;
    if (error == cudaSuccess)
        error = cudaGraphCreate(&r->child, 0);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&r->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = ask_add_kernel(&inside, r->child, (const void *)SYMBOL(nested_nothing), &n->args, 1);
    if (error == cudaSuccess)
        error = fill_repeated(n, r, r->graph, r->node);
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = cudaGraphInstantiate(&r->exec[i], r->graph, 0);
        if (error == cudaSuccess)
            error = cudaGraphNodeSetEnabled(r->exec[i], r->node[REPEATED_DISABLED], 0);
    }
    return error;
}

/* The kernel that counts, and one that comes after its trigger alone and does not wait: a launch has ended when both have. */
static cudaError_t make_early(struct nested *n, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t turn, last;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned i;

    if (error == cudaSuccess)
        error = ask_add_kernel(&turn, graph, (const void *)SYMBOL(nested_turn), &n->args, PART);
    if (error == cudaSuccess)
        error = ask_add_kernel(&last, graph, (const void *)SYMBOL(nested_nothing), &n->args, 1);
    if (error == cudaSuccess)
        error = add_edge(graph, turn, last, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaGraphInstantiate(&exec[i], graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void destroy_repeated(struct repeated *r)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        if (r->exec[i])
            (void)cudaGraphExecDestroy(r->exec[i]);
    if (r->graph)
        (void)cudaGraphDestroy(r->graph);
    if (r->child)
        (void)cudaGraphDestroy(r->child);
    if (r->event)
        (void)cudaEventDestroy(r->event);
}

/* ---- between two launches ---- */

/* The host waits for a kernel that has nothing to do with the graph under way. */
static cudaError_t wait_elsewhere(struct launches *l)
{
    cudaError_t error = launch_one((const void *)SYMBOL(nested_nothing), &l->n.args, 1, l->idle, NULL, 0);

    return error == cudaSuccess ? cudaStreamSynchronize(l->idle) : error;
}

/* The parameters that it has already. */
static cudaError_t renew_kernel(struct nested *n, const struct repeated *r, int generally)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(r->function, PART, values);

    values[0] = &n->args;
#if CUDART_VERSION >= 12030
    if (generally) {
        struct cudaGraphNodeParams general = ask_generally(&params);
        return cudaGraphExecNodeSetParams(r->exec[r->used], r->node[REPEATED_KERNEL], &general);
    }
#endif
    (void)generally;
    return cudaGraphExecKernelNodeSetParams(r->exec[r->used], r->node[REPEATED_KERNEL], &params);
}

static cudaError_t renew_all(struct nested *n, struct repeated *r)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraphNode_t node[REPEATED_NODES];
    cudaGraph_t same;
    cudaError_t error = cudaGraphCreate(&same, 0);

    if (error != cudaSuccess)
        return error;
    error = fill_repeated(n, r, same, node);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(r->exec[r->used], same, &info);
    (void)cudaGraphDestroy(same);
    return error;
}

/* The graph that it was made of loses a node: its last one, and then one that it is given. */
static cudaError_t lose_node(struct repeated *r)
{
    cudaGraphNode_t *last = &r->node[REPEATED_LAST];
    cudaError_t error = *last ? cudaSuccess : cudaGraphAddEmptyNode(last, r->graph, NULL, 0);

    if (error == cudaSuccess)
        error = cudaGraphDestroyNode(*last);
    *last = NULL;
    return error;
}

/* An update from a graph of another shape, or a kernel without threads. */
static cudaError_t is_refused(struct nested *n, const struct repeated *r, int whole)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(r->function, 0, values);
    cudaError_t error;

    values[0] = &n->args;
    error = whole ? cudaGraphExecUpdate(r->exec[r->used], r->child, &info)
                  : cudaGraphExecKernelNodeSetParams(r->exec[r->used], r->node[REPEATED_KERNEL], &params);
    (void)cudaGetLastError();
    return error == cudaSuccess ? cudaErrorUnknown : cudaSuccess;
}

/* A clone of its graph comes and goes. */
static cudaError_t clone_and_destroy(const struct repeated *r)
{
    cudaGraph_t clone;
    cudaError_t error = cudaGraphClone(&clone, r->graph);

    return error == cudaSuccess ? cudaGraphDestroy(clone) : error;
}

static cudaError_t meddle(struct launches *l, struct repeated *r, enum meddle how)
{
    uint32_t *aside = l->n.args.seen + 2 * PART;
    struct cudaMemsetParams set = aside_set(&l->n);
    struct cudaHostNodeParams host = aside_host();

    switch (how) {
    case MEDDLE_WAIT: return wait_elsewhere(l);
    case MEDDLE_DISABLED: return cudaGraphNodeSetEnabled(r->exec[r->used], r->node[REPEATED_DISABLED], 0);
    case MEDDLE_ENABLED: return cudaGraphNodeSetEnabled(r->exec[r->used], r->node[REPEATED_COPY], 1);
    case MEDDLE_KERNEL:
    case MEDDLE_GENERAL: return renew_kernel(&l->n, r, how == MEDDLE_GENERAL);
    case MEDDLE_SET: return cudaGraphExecMemsetNodeSetParams(r->exec[r->used], r->node[REPEATED_SET], &set);
    case MEDDLE_COPY:
        return cudaGraphExecMemcpyNodeSetParams1D(r->exec[r->used], r->node[REPEATED_COPY], aside + 1, aside + 2, 4, cudaMemcpyDeviceToDevice);
    case MEDDLE_HOST: return cudaGraphExecHostNodeSetParams(r->exec[r->used], r->node[REPEATED_HOST], &host);
    case MEDDLE_CHILD: return cudaGraphExecChildGraphNodeSetParams(r->exec[r->used], r->node[REPEATED_CHILD], r->child);
    case MEDDLE_EVENT: return cudaGraphExecEventRecordNodeSetEvent(r->exec[r->used], r->node[REPEATED_RECORD], r->event);
    case MEDDLE_UPLOAD: return cudaGraphUpload(r->exec[r->used], l->idle);
    case MEDDLE_WHOLE: return renew_all(&l->n, r);
    case MEDDLE_SOURCE: return lose_node(r);
    case MEDDLE_REFUSED_WHOLE:
    case MEDDLE_REFUSED_KERNEL: return is_refused(&l->n, r, how == MEDDLE_REFUSED_WHOLE);
    case MEDDLE_CLONE: return clone_and_destroy(r);
    default: return cudaSuccess;
    }
}

/* ---- launches ---- */

/* The stream waits for the writer. In every second row of six trials it also waits for an earlier event, before that and after. */
static cudaError_t await_events(cudaStream_t stream, cudaEvent_t event, cudaEvent_t other, unsigned trial)
{
    int others = trial / 6 % 2 != 0;
    cudaError_t error = others ? cudaStreamWaitEvent(stream, other, 0) : cudaSuccess;

    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, event, 0);
    return error == cudaSuccess && others ? cudaStreamWaitEvent(stream, other, 0) : error;
}

/* The events live until they are awaited: the wait outlives them. */
static cudaError_t await_writer(struct nested *n, unsigned trial, cudaStream_t stream)
{
    struct ask *ask = n->ask;
    cudaEvent_t event = NULL, other = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, trial % 2 ? cudaEventDefault : cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&other, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventRecord(other, ask->side);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(nested_writer), &n->args, PART, ask->side, NULL, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, ask->side);
    if (error == cudaSuccess && EDGES_KEPT)
        error = await_events(stream, event, other, trial);
    if (event)
        (void)cudaEventDestroy(event);
    if (other)
        (void)cudaEventDestroy(other);
    return error;
}

/* The reader's graph after an event, in streams of each kind. */
static cudaError_t launch_after_writer(struct launches *l, unsigned trial)
{
    cudaStream_t stream = trial / 2 % 3 == 0 ? l->n.ask->stream : trial / 2 % 3 == 1 ? cudaStreamLegacy : cudaStreamPerThread;
    cudaError_t error = prepare_nested(&l->n, trial);

    if (error == cudaSuccess)
        error = await_writer(&l->n, trial, stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->reader, stream);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->stale += error == cudaSuccess && readers_are_stale(&l->n, 1, 0);
    return error;
}

/* In two streams: one launch at a time. */
static cudaError_t launch_twice(struct launches *l, unsigned trial)
{
    struct ask *ask = l->n.ask;
    cudaError_t error = prepare_nested(&l->n, trial);

    l->turn.used = trial / MEDDLES % 2;
    l->n.room->plan.hold_ns = 30000; /* the host is to have launched it again by then */
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->turn.exec[l->turn.used], ask->stream);
    if (error == cudaSuccess)
        error = meddle(l, &l->turn, (enum meddle)(trial % MEDDLES));
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->turn.exec[EDGES_KEPT ? l->turn.used : 1 - l->turn.used], ask->side);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->lost += error == cudaSuccess && l->n.room->state.began != 2;
    return error;
}

/* In two streams, and in some trials a third time in the first one. Every second trial is enough. */
static cudaError_t launch_early(struct launches *l, unsigned trial)
{
    struct ask *ask = l->n.ask;
    unsigned launches = 2 + trial / 2 % 2, i;
    cudaError_t error;

    if (trial % 2)
        return cudaSuccess;
    error = prepare_nested(&l->n, trial);
    l->n.room->plan.hold_ns = 30000;
    for (i = 0; i < launches && error == cudaSuccess; i++)
        error = cudaGraphLaunch(l->early[EDGES_KEPT ? 0 : i % 2], i % 2 ? ask->side : ask->stream);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->lost_early += error == cudaSuccess && l->n.room->state.began != launches;
    return error;
}

/* Two executable graphs of one graph in one stream: one after the other. */
static cudaError_t launch_siblings(struct launches *l, unsigned trial)
{
    struct ask *ask = l->n.ask;
    cudaError_t error = prepare_nested(&l->n, trial);

    l->n.room->plan.hold_ns = 30000;
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->turn.exec[trial % 2], ask->stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->turn.exec[1 - trial % 2], EDGES_KEPT ? ask->stream : ask->side);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->passed += error == cudaSuccess && l->n.room->state.began != 2;
    return error;
}

/* A second launch after the writer, while the first one still runs in another stream, or in its own: that it waits for the first is not all. */
static cudaError_t launch_again(struct launches *l, unsigned trial)
{
    struct nested *n = &l->n;
    struct ask *ask = n->ask;
    unsigned place = trial / MEDDLES % 3;
    cudaError_t error = prepare_nested(n, trial);

    n->room->plan.hold_ns = 30000;
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->again.exec[0], place == 1 ? ask->stream : l->elsewhere);
    if (error == cudaSuccess && place < 2)
        error = await_writer(n, trial, ask->stream);
    else if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(nested_writer), &n->args, PART, EDGES_KEPT ? ask->stream : ask->side, NULL, 0);
    if (error == cudaSuccess)
        error = meddle(l, &l->again, (enum meddle)(trial % MEDDLES));
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->again.exec[0], ask->stream);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->stale_again += error == cudaSuccess && readers_are_stale(n, 1, 0);
    return error;
}

/* A graph runs, its stream is to wait for the writer, and then the executable graph goes, or what it was made of: "if there is a launch in flight it
 * will not be terminated", and the stream waits all the same. */
static cudaError_t launch_and_go(struct launches *l, unsigned trial)
{
    struct nested *n = &l->n;
    cudaStream_t stream = n->ask->stream;
    cudaGraphExec_t exec = NULL;
    cudaGraph_t clone = NULL;
    cudaError_t error = prepare_nested(n, trial);

    if (error == cudaSuccess)
        error = cudaGraphClone(&clone, l->turn.graph);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, clone, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = await_writer(n, trial, stream);
    if (error == cudaSuccess && trial / 2 % 2)
        error = cudaGraphExecDestroy(exec);
    else if (error == cudaSuccess)
        error = cudaGraphDestroy(clone);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(nested_reader), &n->args, PART, stream, NULL, 0);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    l->stale_gone += error == cudaSuccess && (readers_are_stale(n, 1, 0) || n->room->state.began != 1);
    if (error == cudaSuccess)
        error = trial / 2 % 2 ? cudaGraphDestroy(clone) : cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t open_launches(struct launches *l, struct ask *ask)
{
    cudaError_t error = open_nested(&l->n, ask);

    if (error == cudaSuccess)
        error = ask_graph_of_kernel(&l->reader, (const void *)SYMBOL(nested_reader), &l->n.args, PART);
    if (error == cudaSuccess)
        error = make_repeated(&l->n, &l->turn, (const void *)SYMBOL(nested_turn));
    if (error == cudaSuccess)
        error = make_repeated(&l->n, &l->again, (const void *)SYMBOL(nested_again));
    if (error == cudaSuccess)
        error = make_early(&l->n, l->early);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&l->idle, cudaStreamNonBlocking);
    return error == cudaSuccess ? cudaStreamCreateWithFlags(&l->elsewhere, cudaStreamNonBlocking) : error;
}

static void close_launches(struct launches *l)
{
    unsigned i;

    if (l->reader)
        (void)cudaGraphExecDestroy(l->reader);
    for (i = 0; i < 2; i++)
        if (l->early[i])
            (void)cudaGraphExecDestroy(l->early[i]);
    destroy_repeated(&l->turn);
    destroy_repeated(&l->again);
    if (l->idle)
        (void)cudaStreamDestroy(l->idle);
    if (l->elsewhere)
        (void)cudaStreamDestroy(l->elsewhere);
    close_nested(&l->n);
}

static void ask_launches(struct ask *ask)
{
    struct launches l = PDL_ZERO;
    cudaError_t error = open_launches(&l, ask);
    unsigned trial;

    for (trial = 0; ask_goes_on(ask, trial, ask->trials) && error == cudaSuccess; trial++) {
        error = launch_after_writer(&l, trial);
        if (error == cudaSuccess)
            error = launch_twice(&l, trial);
        if (error == cudaSuccess)
            error = launch_early(&l, trial);
        if (error == cudaSuccess)
            error = launch_again(&l, trial);
        if (error == cudaSuccess)
            error = launch_siblings(&l, trial);
        if (error == cudaSuccess)
            error = launch_and_go(&l, trial);
    }
    ask_expect(ask, "launches of graphs", error, cudaSuccess);
    ask_expect_none(ask, "stale in a graph after an event", l.stale, ask->trials);
    ask_expect_none(ask, "stale in a graph that is launched again while it runs", l.stale_again, ask->trials);
    ask_expect_none(ask, "stale after a graph that went while it ran", l.stale_gone, ask->trials);
    ask_expect_none(ask, "launches of one executable graph at a time that were two", l.lost, ask->trials);
    ask_expect_none(ask, "launches of one executable graph at a time that were two, once its last kernel had ended", l.lost_early,
                    (ask->trials + 1) / 2);
    ask_expect_none(ask, "executable graphs of one graph in one stream that were two at a time", l.passed, ask->trials);
    close_launches(&l);
}

#endif
