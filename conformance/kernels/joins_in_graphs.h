/* joins_in_graphs.h - the part of joins.cu whose work and followers are nodes of graphs. */
#ifndef JOINS_IN_GRAPHS_H_INCLUDED
#define JOINS_IN_GRAPHS_H_INCLUDED

/* ---- many edges, many levels ---- */

#define FANS 5u                /* ways to ask; each of twelve works is the longest in one of twelve trials of each */

#ifdef MUTANT_otherstream
#define FOLLOWS_IN_GRAPH 0
#else
#define FOLLOWS_IN_GRAPH 1
#endif

static cudaError_t add_work(struct joins *joins, cudaGraph_t graph, unsigned place, cudaGraphNode_t *node)
{
    return ask_add_kernel(node, graph, (const void *)SYMBOL(joins_work), &joins->work[place], PLACE_WORDS);
}

/* A follower that waits, if the edge is a programmatic one. added: its node, or NULL if there is none. */
static cudaError_t add_follower_node(struct joins *joins, cudaGraph_t graph, unsigned place, const cudaGraphNode_t *after, unsigned edges,
                                     unsigned port, cudaGraphNode_t *added)
{
    const void *function = port ? (const void *)SYMBOL(joins_waiting_follower) : (const void *)SYMBOL(joins_follower);
    cudaGraphEdgeData data = edges_data(port, 0, port != 0);
    cudaError_t error;
    unsigned i;

    *added = NULL;
    if (!FOLLOWS_IN_GRAPH)
        return launch_one(function, &joins->follower[place], PLACE_WORDS, joins->loose, NULL, 0);
    error = ask_add_kernel(added, graph, function, &joins->follower[place], PLACE_WORDS);
    for (i = 0; i < edges && error == cudaSuccess; i++)
        error = edges_add(graph, &after[i], added, &data, 1);
    return error;
}

static cudaError_t add_follower(struct joins *joins, cudaGraph_t graph, unsigned place, const cudaGraphNode_t *after, unsigned edges, unsigned port)
{
    cudaGraphNode_t node;

    return add_follower_node(joins, graph, place, after, edges, port, &node);
}

/* Where a fan lies: in the graph itself, in a child graph, or in a body. They begin with a child graph, so that 15 turns have a body in which one
 * of the works beyond the eighth is the longest. */
enum fan_place { FAN_PLAIN, FAN_IN_CHILD, FAN_IN_BODY };

static enum fan_place place_of_fan(const struct joins *joins)
{
    return (enum fan_place)((joins->trial / FANS + 1) % (has_conditions() ? FAN_IN_BODY + 1u : FAN_IN_BODY));
}

static cudaError_t open_fan(enum fan_place place, cudaGraph_t *outer, cudaGraph_t *graph)
{
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(outer, 0);

    *graph = *outer;
    if (error != cudaSuccess || place == FAN_PLAIN)
        return error;
#if CUDART_VERSION >= 12040
    if (place == FAN_IN_BODY)
        return ask_add_if(&node, *outer, *outer, 1, graph);
#endif
    return ask_add_empty_child(&node, *outer, graph);
}

static cudaError_t run_fan(struct joins *joins, cudaGraph_t outer, cudaError_t error)
{
    if (error == cudaSuccess)
        error = ask_run_once(outer, joins->stream[0]);
    if (outer)
        (void)cudaGraphDestroy(outer);
    return error;
}

#define LATE_KINDS 8u

/* Gives a node that has its edges an attribute, which changes neither them nor what the wait covers: one of seven, or none; whether it may be
 * cooperative is for the caller to know. Devices may refuse hints. */
static cudaError_t dress_late(cudaGraphNode_t node, unsigned kind, int cooperates)
{
    cudaLaunchAttribute attribute;
    cudaError_t error;

    switch (kind % LATE_KINDS) {
    case 0: attribute = of_priority(0); break;
    case 1: attribute = in_remote_domain(); break;
    case 6: attribute = cooperatively(); break;
    case 7: return cudaSuccess;
    default: attribute = nth_hint(kind % LATE_KINDS - 2);
    }
    if (attribute.id == cudaLaunchAttributeCooperative && !cooperates)
        return cudaSuccess;
    error = cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
    if (!is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* In every other turn every other work is cooperative, but in bodies, where that is not always permitted. All are given the same attribute late. */
static cudaError_t join_fan_in(struct joins *joins)
{
    cudaLaunchAttribute grouped = cooperatively();
    cudaGraphNode_t node[PLACES];
    cudaGraph_t outer = NULL, graph = NULL;
    enum fan_place place = place_of_fan(joins);
    unsigned turn = joins->trial / FANS;
    cudaError_t error = open_fan(place, &outer, &graph);
    unsigned i;

    prepare(joins, PLACES, 1);
    for (i = 0; i < PLACES && error == cudaSuccess; i++) {
        error = add_work(joins, graph, i, &node[i]);
        if (error == cudaSuccess && turn % 2 && (i + turn / 2) % 2 && place != FAN_IN_BODY)
            error = cudaGraphKernelNodeSetAttribute(node[i], grouped.id, &grouped.val);
    }
    if (error == cudaSuccess)
        error = add_follower(joins, graph, 0, node, PLACES, 1);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = dress_late(node[i], turn, place != FAN_IN_BODY);
    return run_fan(joins, outer, error);
}

/* Every other one comes after the work by a full edge. All are given attributes late, the work its own. */
static cudaError_t join_fan_out(struct joins *joins)
{
    cudaGraphNode_t node, dependent;
    cudaGraph_t outer = NULL, graph = NULL;
    enum fan_place place = place_of_fan(joins);
    cudaError_t error = open_fan(place, &outer, &graph);
    unsigned i;

    prepare(joins, 1, PLACES);
    if (error == cudaSuccess)
        error = add_work(joins, graph, 0, &node);
    for (i = 0; i < PLACES && error == cudaSuccess; i++) {
        error = add_follower_node(joins, graph, i, &node, 1, i % 2 == 0, &dependent);
        if (error == cudaSuccess && dependent)
            error = dress_late(dependent, joins->trial / FANS + i, place != FAN_IN_BODY);
    }
    if (error == cudaSuccess)
        error = dress_late(node, joins->trial / FANS, place != FAN_IN_BODY);
    return run_fan(joins, outer, error);
}

/* ---- large grids ---- */

#define LARGE_BLOCKS 1025u
#define LARGE_WORKS 3u

/* Programmatic edges from all of them into one. */
static cudaError_t add_large_fan(struct joins *joins, cudaGraph_t graph)
{
    const void *work = (const void *)SYMBOL(joins_large_work), *follower = (const void *)SYMBOL(joins_large_follower);
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t node[LARGE_WORKS], last;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < LARGE_WORKS && error == cudaSuccess; i++)
        error = ask_add_kernel_after(&node[i], graph, NULL, 0, work, &joins->work[i], LARGE_BLOCKS, 1);
    if (error == cudaSuccess && FOLLOWS_IN_GRAPH)
        error = ask_add_kernel_after(&last, graph, NULL, 0, follower, &joins->follower[0], LARGE_BLOCKS, 1);
    for (i = 0; i < LARGE_WORKS && FOLLOWS_IN_GRAPH && error == cudaSuccess; i++)
        error = edges_add(graph, &node[i], &last, &data, 1);
    return error;
}

/* The work's own event leads to the follower, and another one back. */
static cudaError_t capture_large(struct joins *joins, cudaEvent_t event, cudaEvent_t back)
{
    const void *work = (const void *)SYMBOL(joins_large_work), *follower = (const void *)SYMBOL(joins_large_follower);
    cudaStream_t stream = joins->stream[0], side = joins->stream[1];
    cudaLaunchAttribute attribute = recording(event);
    cudaError_t error = launch_blocks(work, &joins->work[0], LARGE_BLOCKS, 1, stream, &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(side, event, 0);
    if (error == cudaSuccess && FOLLOWS_IN_GRAPH)
        error = launch_blocks(follower, &joins->follower[0], LARGE_BLOCKS, 1, side, NULL, 0);
    if (error == cudaSuccess)
        error = record_and_await(back, side, stream);
    return error;
}

static cudaError_t make_captured_large(struct joins *joins, cudaGraph_t *graph)
{
    cudaEvent_t event = NULL, back = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming), end;

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&back, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = capture_large(joins, event, back);
        end = cudaStreamEndCapture(joins->stream[0], graph);
        error = error == cudaSuccess ? end : error;
    }
    if (event)
        (void)cudaEventDestroy(event);
    if (back)
        (void)cudaEventDestroy(back);
    return error;
}

/* The nodes have their edges by now. Grids of so many blocks are not cooperative everywhere. */
static cudaError_t dress_captured(const struct joins *joins, cudaGraph_t graph)
{
    cudaGraphNode_t node[2];
    size_t count = 2, i;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    for (i = 0; i < count && error == cudaSuccess; i++)
        error = dress_late(node[i], joins->trial / FANS / 2, 0);
    return error;
}

/* What the follower of the third launch sees is judged; the words are old again before each of them. */
static cudaError_t launch_large(struct joins *joins, cudaGraph_t graph, unsigned works)
{
    cudaGraphExec_t exec;
    cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
    unsigned i;

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < 3 && error == cudaSuccess; i++) {
        prepare(joins, works, 1);
        error = cudaGraphLaunch(exec, joins->stream[0]);
        if (error == cudaSuccess && !FOLLOWS_IN_GRAPH)
            error = launch_one((const void *)SYMBOL(joins_follower), &joins->follower[0], PLACE_WORDS, joins->loose, NULL, 0);
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
    }
    (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t join_large(struct joins *joins)
{
    int captured = joins->trial / FANS % 2 != 0;
    cudaGraph_t graph = NULL;
    cudaError_t error = captured ? make_captured_large(joins, &graph) : cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = captured ? dress_captured(joins, graph) : add_large_fan(joins, graph);
    if (error == cudaSuccess)
        error = launch_large(joins, graph, captured ? 1 : LARGE_WORKS);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

#if CUDART_VERSION >= 12040
/* A conditional node whose body runs, and has no nodes. */
static cudaError_t add_empty_body(cudaGraph_t outer, cudaGraph_t graph, const cudaGraphNode_t *after, unsigned count, cudaGraphNode_t *node)
{
    cudaGraph_t body;
    cudaError_t error = ask_add_if(node, outer, graph, 1, &body);
    unsigned i;

    for (i = 0; i < count && error == cudaSuccess; i++)
        error = edges_add(graph, &after[i], node, NULL, 1);
    return error;
}
#endif

/* A node that does nothing to the words, of this kind, after all of these: the last kind is a body without nodes, where there is one. */
#define BETWEEN_HOST 2u
#define BETWEEN_BODY 5u
#define BETWEEN_KINDS (BETWEEN_BODY + (unsigned)has_conditions())
static cudaError_t add_between(struct joins *joins, cudaGraph_t outer, cudaGraph_t graph, unsigned kind, const cudaGraphNode_t *after,
                               unsigned count, cudaGraphNode_t *node)
{
    uint32_t *aside = joins->follower[PLACES - 1].seen;
    struct cudaHostNodeParams host = PDL_ZERO;
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraph_t child = NULL;
    cudaError_t error;

    host.fn = ask_host_nothing;
    set.dst = aside;
    set.elementSize = 4;
    set.width = set.height = 1;
    switch (kind) {
    case 0: return cudaGraphAddEmptyNode(node, graph, after, count);
    case 1: return cudaGraphAddMemsetNode(node, graph, after, count, &set);
    case BETWEEN_HOST: return cudaGraphAddHostNode(node, graph, after, count, &host);
    case 3: return cudaGraphAddMemcpyNode1D(node, graph, after, count, aside, aside + 1, 4, cudaMemcpyDefault);
#if CUDART_VERSION >= 12040
    case BETWEEN_BODY: return add_empty_body(outer, graph, after, count, node);
#endif
    default: break;
    }
    error = cudaGraphCreate(&child, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, after, count, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* No host function may be in a body, and no conditional node in a child graph; the kinds change their place from one round of them to the next. */
static unsigned kind_between(const struct joins *joins, enum fan_place place)
{
    unsigned turn = joins->trial / FANS, kind = (turn + turn / BETWEEN_KINDS) % BETWEEN_KINDS;

    if (kind == BETWEEN_HOST && place == FAN_IN_BODY)
        return BETWEEN_HOST + 1u;
    return kind == BETWEEN_BODY && place == FAN_IN_CHILD ? BETWEEN_BODY - 1u : kind;
}

/* A silent dependent of this work, which begins at its trigger: what comes after the work by a full edge does not. */
static cudaError_t add_silent_dependent(struct joins *joins, cudaGraph_t graph, const cudaGraphNode_t *after)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t node;
    cudaError_t error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_silent), &joins->work[0], 1);

    return error == cudaSuccess ? edges_add(graph, after, &node, &data, 1) : error;
}

/* Two to twelve works, full edges from all of them to a node of another kind, and from that to one to twelve followers. In every other turn the works
 * have a dependent as well. */
static cudaError_t join_through(struct joins *joins)
{
    static const unsigned readers[] = { 2, 12, 7, 1, 9 };
    cudaGraphNode_t node[PLACES], between;
    cudaGraph_t outer = NULL, graph = NULL;
    enum fan_place place = place_of_fan(joins);
    unsigned turn = joins->trial / FANS, works = 2 + turn * 4 % 11, followers = readers[turn / 5 % 5], i;
    cudaError_t error = open_fan(place, &outer, &graph);

    prepare(joins, works, followers);
    for (i = 0; i < works && error == cudaSuccess; i++) {
        error = add_work(joins, graph, i, &node[i]);
        if (error == cudaSuccess && turn % 2)
            error = add_silent_dependent(joins, graph, &node[i]);
    }
    if (error == cudaSuccess)
        error = add_between(joins, outer, graph, kind_between(joins, place), node, works, &between);
    for (i = 0; i < followers && error == cudaSuccess; i++)
        error = add_follower(joins, graph, i, &between, 1, 0);
    return run_fan(joins, outer, error);
}

#define LEVELS 40u

/* Work and a follower by a full edge, in a child of a child and so on. */
static cudaError_t join_deep(struct joins *joins)
{
    cudaGraph_t graph, around;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    unsigned level, levels = 2 + joins->trial / FANS * 7 % (LEVELS - 1); /* 7 and 39 have no common factor: each depth has its turn */

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = add_work(joins, graph, 0, &node);
    if (error == cudaSuccess)
        error = add_follower(joins, graph, 0, &node, 1, 0);
    for (level = 1; level < levels && error == cudaSuccess; level++) {
        error = cudaGraphCreate(&around, 0);
        if (error == cudaSuccess)
            error = cudaGraphAddChildGraphNode(&node, around, NULL, 0, graph);
        (void)cudaGraphDestroy(graph);
        graph = around;
    }
    if (error == cudaSuccess)
        error = ask_run_once(graph, joins->stream[0]);
    (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_fans(struct ask *ask)
{
    static const struct join joins[FANS] = {
        { "stale after twelve primaries", join_fan_in },
        { "stale in one of twelve dependents", join_fan_out },
        { "stale in a child graph up to 40 deep", join_deep },
        { "stale after several works and a node of another kind", join_through },
        { "stale in a large grid after three, or after a captured event of another one, in the third launch", join_large },
    };

    ask_joins(ask, joins, FANS, cudaStreamNonBlocking);
}

/* ---- one executable graph ---- */

static cudaError_t one_kernel(cudaGraph_t *graph, cudaGraphExec_t *exec, struct kernel_args *args)
{
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node, *graph, (const void *)SYMBOL(joins_alone), args, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(exec, *graph, 0) : error;
}

#define FLIGHTS 4u             /* and in every fourth trial one in each stream */

static unsigned flights_of(const struct joins *joins) { return joins->trial % 4 == 1 ? PLACES : FLIGHTS; }

struct flight {
    cudaGraphExec_t exec;
    cudaStream_t stream;
    cudaError_t error;
};

static void take_off(void *of)
{
    struct flight *flight = (struct flight *)of;

    flight->error = cudaGraphLaunch(flight->exec, flight->stream);
}

struct runway {
    cudaGraphExec_t empty;
    cudaEvent_t event;
    cudaStream_t urgent;       /* of every other trial, for one launch */
};

static cudaError_t open_runway(struct joins *joins, struct runway *runway)
{
    cudaGraph_t graph = NULL;
    int least, greatest = 0;
    cudaError_t error = open_aside(joins);

    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&runway->urgent, cudaStreamNonBlocking, greatest);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&runway->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&runway->empty, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void close_runway(const struct runway *runway)
{
    if (runway->empty)
        (void)cudaGraphExecDestroy(runway->empty);
    if (runway->event)
        (void)cudaEventDestroy(runway->event);
    if (runway->urgent)
        (void)cudaStreamDestroy(runway->urgent);
}

static cudaError_t await_on_runway(struct joins *joins, const struct runway *runway, unsigned i, cudaStream_t stream)
{
    cudaError_t error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[i], 1, joins->loose, NULL, 0);

    return error == cudaSuccess ? record_and_await(runway->event, joins->loose, stream) : error;
}

/* What a stream holds before the launch, none of which takes long: nothing, a graph without nodes, a memset, a kernel, a record, an event to wait
 * for. */
#define RUNWAYS 6u
static cudaError_t put_on_runway(struct joins *joins, const struct runway *runway, unsigned i, cudaStream_t stream)
{
    switch ((joins->trial / 4 + i) % RUNWAYS) {
    case 1: return cudaGraphLaunch(runway->empty, stream);
    case 2: return cudaMemsetAsync(joins->aside + i, 0, sizeof(uint32_t), stream);
    case 3: return launch_one((const void *)SYMBOL(joins_silent), &joins->work[i], 1, stream, NULL, 0);
    case 4: return cudaEventRecord(runway->event, stream);
    case 5: return await_on_runway(joins, runway, i, stream);
    default: return cudaSuccess;
    }
}

/* Of a launch: one of its own; or of high priority, or a default one, in some trials. */
static cudaStream_t lane(const struct joins *joins, const struct runway *runway, unsigned i)
{
    if (i == 2 && joins->trial % 2 == 0)
        return runway->urgent;
    if (i == 1 && joins->trial % 3 != 0)
        return joins->trial % 3 == 1 ? cudaStreamLegacy : cudaStreamPerThread;
    return joins->stream[i];
}

/* exec: the same for all launches; of the mutant each launch has its own. Another one of the same graph is made meanwhile. In one trial of
 * four another thread launches, too: that takes long, and so the work holds on. */
static cudaError_t fly(struct joins *joins, cudaGraphExec_t *exec, cudaGraph_t graph, const struct runway *runway)
{
    cudaGraphExec_t sibling = NULL;
    cudaStream_t gone;
    cudaError_t error = cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);
    unsigned i, threads = joins->trial % 4 == 3;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = threads ? 200000 : 5000;
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec[0], gone);
    if (error == cudaSuccess)
        error = cudaStreamDestroy(gone); /* the launch goes on */
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&sibling, graph, 0);
    for (i = 1; i < flights_of(joins) && error == cudaSuccess; i++) {
        struct flight flight = { exec[i], lane(joins, runway, i), cudaSuccess };
        error = put_on_runway(joins, runway, i, flight.stream);
        if (error == cudaSuccess && (!threads || i % 2 || !run_in_thread(take_off, &flight)))
            take_off(&flight);
        error = error == cudaSuccess ? flight.error : error;
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (sibling)
        (void)cudaGraphExecDestroy(sibling);
    return error;
}

static void ask_flights(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    struct runway runway = PDL_ZERO;
    cudaGraphExec_t exec[PLACES] = { NULL };
    cudaGraph_t graph[PLACES] = { NULL };
    unsigned long long beside = 0, lost = 0;
    unsigned i;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = open_runway(&joins, &runway);
    for (i = 0; i < PLACES && error == cudaSuccess; i++) {
        exec[i] = exec[0];
#ifdef MUTANT_otherstream
        error = one_kernel(&graph[i], &exec[i], &joins.work[0]);
#else
        error = i == 0 ? one_kernel(&graph[0], &exec[0], &joins.work[0]) : cudaSuccess;
        exec[i] = exec[0];
#endif
    }
    for (; ask_goes_on(ask, joins.trial, ask->trials) && error == cudaSuccess; joins.trial++) {
        error = fly(&joins, exec, graph[0], &runway);
        beside += error == cudaSuccess && joins.pinned->state.early != 0;
        lost += error == cudaSuccess && joins.pinned->state.finished != flights_of(&joins);
    }
    ask_expect(ask, "four or twelve launches of one executable graph", error, cudaSuccess);
    ask_expect_none(ask, "trials in which it ran beside itself", beside, joins.trial);
    ask_expect_number(ask, "trials in which a launch did not run once", (long)lost, 0);
    for (i = 0; i < PLACES; i++)
        if (exec[i] && (i == 0 || exec[i] != exec[0]))
            (void)cudaGraphExecDestroy(exec[i]);
    close_runway(&runway);
    for (i = 0; i < PLACES; i++)
        if (graph[i])
            (void)cudaGraphDestroy(graph[i]);
    close_joins(&joins);
}

#endif
