/* crowds_begun.h - what crowds.cu asks of events and edges at block starts, in grids of which a few blocks have room at a time: the waiter
 * begins after the last block has begun, and the host is told of it no sooner. Edges stand in graphs, child graphs, bodies and loops, or
 * are captured. A launch-completion event is released "once all blocks of the kernel have begun execution", which "is a best effort": it is
 * only asked that this one is not released while its kernel waits for its turn. */
#ifndef CROWDS_BEGUN_H_INCLUDED
#define CROWDS_BEGUN_H_INCLUDED

#include "start.h"

/* There is room for plan.residents blocks, so the last one cannot have begun before all but so many have left. */
DEVICE_FN void watches_and_leaves(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    watches(args, &plan, CROWD_BLOCKS - plan.residents);
    k_add(&args->state->left, 1);
    k_fence();
}

KERNEL(crowds_busy) { watches_and_leaves(&args); }
KERNEL_OF(crowds_busy_long, struct long_args) { watches_and_leaves(&args.args); }

KERNEL(crowds_waiter) { k_store_relaxed(&args.state->alive, 1); }

/* What comes after it begins while the grid runs. */
KERNEL(crowds_spacer)
{
    struct trial_plan plan = k_plan(&args);

    (void)k_poll(args.state, &args.state->left, 1, plan.bound_ns);
}

/* Each block stores its word last of all. */
DEVICE_FN void stores_and_leaves(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    k_delay(args->state, plan.hold_ns);
    k_store(args->data + CROWD_BLOCK, 1);
    k_fence_system();
}

KERNEL(crowds_leaver) { stores_and_leaves(&args); }
KERNEL_OF(crowds_leaver_long, struct long_args) { stores_and_leaves(&args.args); }

/* The first block triggers at once; the others store their words and leave. */
KERNEL(crowds_first_triggers)
{
    struct trial_plan plan = k_plan(&args);

    if (CROWD_BLOCK == 0) {
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    } else {
        stores_and_leaves(&args);
    }
}

/* Keeps its place until the word is set, bounded. */
KERNEL(crowds_stays)
{
    struct trial_plan plan = k_plan(&args);

    if (!k_poll(args.state, args.data, 1, plan.bound_ns))
        k_add(&args.state->cut_short, 1);
}

/* Looks for the word that a kernel before it has stored. */
KERNEL(crowds_looks)
{
    if (k_load_relaxed(args.data) == 0)
        k_add(&args.state->early, 1);
}

#define BEGUN_MOST 65537u      /* blocks */
#define BEGUN_LONG 1000u       /* blocks of a grid that takes long */
#define TOLD_HOLD_NS 100000u
#define BEGUN_LAYERS ((unsigned)DRESS_GROUPED) /* in place of a cooperative grid, which has to have room as a whole: one of two layers */
#define BEGUN_DRESSES (BEGUN_LAYERS + 1u)

struct begun {
    struct crowd *crowd;
    struct kernel_args args;   /* its state lies in the device's memory: each block adds to it */
    size_t shared_bytes;       /* of which an SM has enough for one block, and for what needs none beside it */
    cudaEvent_t event;
    cudaEvent_t completion;    /* beside it */
    cudaStream_t urgent;       /* of that priority */
    cudaStream_t blocking;     /* waits for the legacy stream, too */
    int greatest;              /* priority */
    uint32_t *left;            /* pinned; a word of each block that has left */
    struct node_room beside;   /* of nodes beside a grid */
    unsigned recorders;        /* so many were launched */
    unsigned hinted;           /* of these with a hint, or without one that is not offered */
    unsigned early, trials, seen;
    unsigned missing, launched; /* grids of which a block, or the waiter, did not run; all of them */
    unsigned told_early, told; /* of those that the host is told of */
};

static cudaError_t open_begun(struct begun *b, struct crowd *crowd)
{
    const void *function = (const void *)SYMBOL(crowds_busy);
    const void *const all[] = { function, (const void *)SYMBOL(crowds_leaver), (const void *)SYMBOL(crowds_stays),
                                (const void *)SYMBOL(crowds_busy_long), (const void *)SYMBOL(crowds_leaver_long),
                                (const void *)SYMBOL(crowds_spacer), (const void *)SYMBOL(crowds_waiter), (const void *)SYMBOL(crowds_looks) };
    unsigned i;
    int device = 0, sms = 0, per_sm = 0, fit = 0, least;
    cudaError_t error = cudaGetDevice(&device);

    b->crowd = crowd;
    b->args = crowd->args;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    b->shared_bytes = (size_t)per_sm / 2 + 1024;
    for (i = 0; i < sizeof(all) / sizeof(all[0]) && error == cudaSuccess; i++) /* the same for all, so that no SM has to be idle between them */
        error = cudaFuncSetAttribute(all[i], cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    for (i = 0; i < 5 && error == cudaSuccess; i++)
        error = cudaFuncSetAttribute(all[i], cudaFuncAttributeMaxDynamicSharedMemorySize, (int)b->shared_bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, 1, b->shared_bytes);
    crowd->room->plan.residents = (uint32_t)(sms * fit);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &b->greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&b->urgent, cudaStreamNonBlocking, b->greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreate(&b->blocking);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&b->args.state, sizeof(*b->args.state));
    if (error == cudaSuccess)
        error = cudaMallocHost((void **)&b->left, BEGUN_MOST * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&b->completion, cudaEventDisableTiming);
    return error == cudaSuccess ? cudaEventCreateWithFlags(&b->event, cudaEventDisableTiming) : error;
}

static void close_begun(struct begun *b)
{
    (void)cudaDeviceSynchronize();
    if (b->event)
        (void)cudaEventDestroy(b->event);
    if (b->completion)
        (void)cudaEventDestroy(b->completion);
    if (b->urgent)
        (void)cudaStreamDestroy(b->urgent);
    if (b->blocking)
        (void)cudaStreamDestroy(b->blocking);
    if (b->args.state != b->crowd->args.state)
        (void)cudaFree(b->args.state);
    (void)cudaFreeHost(b->left);
}

/* In the side stream, after the event of the grid's launch; as a control after a kernel that has seen that the grid runs. */
static cudaError_t launch_waiter(struct begun *b, int control)
{
    cudaStream_t side = b->crowd->ask->side;
    cudaLaunchAttribute urgent = of_priority(b->greatest); /* else it could queue after blocks that have not begun */
    cudaError_t error;

    error = control ? launch_one((const void *)SYMBOL(crowds_spacer), &b->args, 1, side, &urgent, 1) : cudaStreamWaitEvent(side, b->event, 0);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(crowds_waiter), &b->args, 1, side, &urgent, 1) : error;
}

static cudaError_t forget_begun(struct begun *b)
{
    cudaError_t error = cudaMemset(b->args.state, 0, sizeof(*b->args.state));

    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* error: of the launches. early: counts whether the waiter was. One that has not run at all is none of those. */
static cudaError_t look_at_begun(struct begun *b, cudaError_t error, unsigned blocks, unsigned *early)
{
    struct trial_state state;

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(&state, b->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return error;
    *early += state.early != 0;
    b->missing += state.left != blocks || !state.alive;
    b->launched++;
    return cudaSuccess;
}

static cudaStream_t recorder_stream(const struct begun *b, unsigned round)
{
    switch (round / 2 % 5) {
    case 1: return cudaStreamPerThread;
    case 2: return b->urgent;
    case 3: return cudaStreamLegacy;
    case 4: return b->blocking;
    default: return b->crowd->ask->stream;
    }
}

/* A grid that records the event at its block starts; one in clusters, of two rows or of two layers has a number of blocks that it takes.
 * Some have long arguments, are launched by the driver, or in streams of other kinds; those that are given nothing more have the nth hint of so
 * many, where it is offered, and those that need no more memory than others a completion event. By a carve-out no more blocks have room. */
static cudaError_t launch_recorder(struct begun *b, const void *const functions[2], const struct kernel_args *args, unsigned *blocks, unsigned dress,
                                   unsigned hints)
{
    cudaLaunchAttribute attrs[3] = { recording_at(b->event, 1) };
    unsigned round = b->recorders++, layers = dress == BEGUN_LAYERS, rows = !layers && round % 4 == 1;
    unsigned more = layers ? 0 : dress_crowd(dress, b->greatest, attrs + 1);
    unsigned hinted = dress == DRESS_NONE, completing = dress == DRESS_SHARED;
    struct long_args copy = PDL_ZERO; /* of which most kernels take the first ones only */
    cudaLaunchConfig_t config = PDL_ZERO;
    void *params[1];

    params[0] = &copy;
    copy.args = *args;
    if (hinted)
        attrs[1] = nth_hint(b->hinted++ % hints);
    if (completing)
        attrs[1] = recording_begin(b->completion);
    *blocks -= dress == DRESS_CLUSTERS || layers || rows ? *blocks % 4 : 0;
    config.gridDim.x = *blocks / (1 + layers + rows);
    config.gridDim.y = 1 + rows;
    config.gridDim.z = 1 + layers;
    config.blockDim.x = config.blockDim.y = config.blockDim.z = 1;
    config.dynamicSmemBytes = b->shared_bytes;
    config.stream = recorder_stream(b, round);
    config.attrs = attrs;
    config.numAttrs = 1 + more + (hinted || completing);
    return round % 7 > 4 && !hinted && !completing ? launch_by_driver(&config, functions[round % 3 == 2], params)
                                                   : launch_spare(&config, functions[round % 3 == 2], params, hinted || completing);
}

static cudaError_t run_begun(struct begun *b, unsigned blocks, int control, unsigned dress)
{
    static const void *const busy[2] = { (const void *)SYMBOL(crowds_busy), (const void *)SYMBOL(crowds_busy_long) };
    cudaError_t error = forget_begun(b);

    if (error == cudaSuccess)
        error = launch_recorder(b, busy, &b->args, &blocks, dress, control ? HINT_KINDS - 1 : HINT_KINDS);
    if (error == cudaSuccess)
        error = launch_waiter(b, control);
    b->trials += control ? 0 : 1;
    return look_at_begun(b, error, blocks, control ? &b->seen : &b->early);
}

#if CUDART_VERSION >= 12040
struct begun_turn {
    struct trial_state *state;
    uint64_t handle;           /* of the loop */
};

/* Ends each of two rounds of a loop, or lets a body run. The second round counts all anew, but for waiters that were early. */
KERNEL_OF(crowds_begun_turns, struct begun_turn)
{
    uint32_t is_first = k_load_relaxed(&args.state->finished) == 0;

    if (is_first) {
        k_store_relaxed(&args.state->alive, 0);
        k_store_relaxed(&args.state->left, 0);
    }
    k_store_relaxed(&args.state->finished, 1);
    k_set_condition(args.handle, is_first);
}

static cudaError_t open_begun_loop(cudaGraph_t graph, cudaGraph_t *body, uint64_t *loop)
{
    cudaGraphConditionalHandle handle = 0;
    cudaGraphNode_t node;
    cudaError_t error = ask_add_loop(&node, graph, &handle, body);

    *loop = handle;
    return error;
}

static cudaError_t add_turn(const struct begun *b, cudaGraph_t graph, uint64_t handle, const cudaGraphNode_t *after, size_t count,
                            cudaGraphNode_t *node)
{
    struct begun_turn turn = { b->args.state, handle };
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(crowds_begun_turns), 1, values);

    values[0] = &turn;
    return cudaGraphAddKernelNode(node, graph, after, count, &params);
}

/* A body that always runs, or one that the kernel before it lets run. */
static cudaError_t open_begun_body(const struct begun *b, cudaGraph_t graph, cudaGraph_t *body, int chosen)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node, chooses;
    cudaError_t error;

    if (!chosen)
        return ask_add_if(&node, graph, graph, 1, body);
    error = ask_add_chosen(&node, graph, graph, &handle, cudaGraphCondTypeIf, 1, body);
    if (error == cudaSuccess)
        error = add_turn(b, graph, handle, NULL, 0, &chooses);
    return error == cudaSuccess ? edges_add(graph, &chooses, &node, &full, 1) : error;
}
#endif

/* A node of so many blocks, of which an SM has room for one. */
static cudaError_t add_large(const struct begun *b, cudaGraph_t graph, const void *function, const struct kernel_args *args, unsigned blocks,
                             cudaGraphNode_t *node)
{
    struct long_args copy = PDL_ZERO; /* of which most kernels take the first ones only */
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(function, 1, values);

    values[0] = &copy;
    copy.args = *args;
    params.gridDim.x = blocks;
    params.sharedMemBytes = (unsigned)b->shared_bytes;
    return cudaGraphAddKernelNode(node, graph, NULL, 0, &params);
}

static const void *busy_kernel(unsigned has_long_args)
{
    return has_long_args ? (const void *)SYMBOL(crowds_busy_long) : (const void *)SYMBOL(crowds_busy);
}

#define BEGUN_TURNS 6u         /* with other edges */

/* Before the waiter, by a programmatic edge, a kernel that lets it begin while the grid runs, if nothing else holds it back. */
static cudaError_t space_out(struct begun *b, cudaGraph_t graph, cudaGraphNode_t waiter)
{
    cudaLaunchAttribute urgent = of_priority(b->greatest);
    cudaGraphEdgeData trigger = edges_data(1, 0, 1);
    cudaGraphNode_t spacer;
    cudaError_t error = ask_add_kernel(&spacer, graph, (const void *)SYMBOL(crowds_spacer), &b->args, 1);

    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetAttribute(spacer, urgent.id, &urgent.val);
    return error == cudaSuccess ? edges_add(graph, &spacer, &waiter, &trigger, 1) : error;
}

/* The same with nodes: an edge of either type from block starts leads from the grid to the waiter, in some turns after a full edge and a programmatic
 * one. A body has no launch-completion edge: at its end driver 580.159.04 does not wait for a grid with such an edge, not even where another node
 * comes after the grid, and rule EDGE-26d alone asks for that. After both nodes of a body comes an empty node, or the kernel that ends a loop's
 * round. In the last turn the waiter is cooperative, but not in bodies; there, and in the turn before, it is in the remote memory-sync domain. */
static cudaError_t add_begun(struct begun *b, cudaGraph_t graph, unsigned blocks, unsigned turn, int is_body, uint64_t loop)
{
    cudaLaunchAttribute urgent = of_priority(b->greatest), other = turn == BEGUN_TURNS - 1 && !is_body ? cooperatively() : in_remote_domain();
    cudaGraphEdgeData full = edges_data(0, 0, 0), starts = is_body || turn % 2 || turn + 2 >= BEGUN_TURNS ? edges_data(2, 0, 1) : edges_completion();
    cudaGraphNode_t busy = NULL, waiter = NULL, empty, both[2];
    unsigned idle = turn / 2 % 2 * 2, i;
    cudaError_t error = add_large(b, graph, busy_kernel(turn % 3 == 1), &b->args, blocks, &busy);

    if (error == cudaSuccess)
        error = ask_add_kernel(&waiter, graph, (const void *)SYMBOL(crowds_waiter), &b->args, 1);
    for (i = 0; i < idle && error == cudaSuccess; i++) {
        error = i && !is_body ? space_out(b, graph, waiter) : cudaGraphAddEmptyNode(&empty, graph, NULL, 0);
        if (error == cudaSuccess && (i == 0 || is_body))
            error = edges_add(graph, &empty, &waiter, &full, 1);
    }
    if (error == cudaSuccess)
        error = cudaGraphKernelNodeSetAttribute(waiter, urgent.id, &urgent.val);
    if (error == cudaSuccess && turn + 2 >= BEGUN_TURNS)
        error = cudaGraphKernelNodeSetAttribute(waiter, other.id, &other.val);
    if (error == cudaSuccess)
        error = edges_add(graph, &busy, &waiter, &starts, 1);
    both[0] = busy;
    both[1] = waiter;
#if CUDART_VERSION >= 12040
    if (error == cudaSuccess && loop)
        return add_turn(b, graph, loop, both, 2, &empty);
#else
    (void)loop;
#endif
    return error == cudaSuccess && is_body ? cudaGraphAddEmptyNode(&empty, graph, both, 2) : error;
}

/* The same captured: what leads to the waiter is the event of the grid's launch, of its block starts or, where such edges are taken, of its
 * completion. */
static cudaError_t capture_begun(struct begun *b, unsigned blocks, unsigned turn, cudaEvent_t back, cudaGraph_t *graph)
{
    cudaStream_t stream = b->crowd->ask->stream, side = b->crowd->ask->side;
    cudaLaunchAttribute attrs[2] = { turn / 2 % 2 && edges_completion().from_port ? recording_begin(b->event) : recording_at(b->event, 1),
                                     serialization(1) };
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_sized((const void *)SYMBOL(crowds_busy), &b->args, blocks, 1, b->shared_bytes, stream, attrs, 1 + turn % 2);
    if (error == cudaSuccess)
        error = launch_waiter(b, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(back, side);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, back, 0);
    end = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? end : error;
}

enum begun_place {
    BEGUN_IN_GRAPH, BEGUN_IN_CHILD, BEGUN_CAPTURED,
#if CUDART_VERSION >= 12040
    BEGUN_IN_BODY, BEGUN_IN_LOOP, BEGUN_IN_CHOSEN,
#endif
    BEGUN_PLACES
};

static cudaError_t make_begun(struct begun *b, unsigned blocks, enum begun_place place, unsigned turn, cudaGraph_t *graph)
{
    cudaGraph_t child = NULL, inside;
    cudaGraphNode_t node;
    cudaEvent_t back = NULL;
    uint64_t loop = 0;
    cudaError_t error;
    int is_body = 0;

    if (place == BEGUN_CAPTURED) {
        error = cudaEventCreateWithFlags(&back, cudaEventDisableTiming);
        error = error == cudaSuccess ? capture_begun(b, blocks, turn, back, graph) : error;
        (void)cudaEventDestroy(back);
        return error;
    }
    error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess && place == BEGUN_IN_CHILD)
        error = cudaGraphCreate(&child, 0);
    inside = child ? child : *graph;
#if CUDART_VERSION >= 12040
    is_body = place >= BEGUN_IN_BODY;
    if (error == cudaSuccess && place == BEGUN_IN_LOOP)
        error = open_begun_loop(*graph, &inside, &loop);
    else if (error == cudaSuccess && is_body)
        error = open_begun_body(b, *graph, &inside, place == BEGUN_IN_CHOSEN);
#endif
    if (error == cudaSuccess)
        error = add_begun(b, inside, blocks, turn, is_body, loop);
    if (error == cudaSuccess && child)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, child); /* a copy of it */
    if (child)
        (void)cudaGraphDestroy(child);
    return error;
}

/* Each kernel of the graph itself is left out and comes back; those in child graphs and bodies are not. */
static cudaError_t leave_out_for_a_while(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphNode_t node[16];
    enum cudaGraphNodeType type;
    size_t count = sizeof(node) / sizeof(node[0]), i;
    cudaError_t error = cudaGraphGetNodes(graph, node, &count);

    for (i = 0; i < count && error == cudaSuccess; i++) {
        error = cudaGraphNodeGetType(node[i], &type);
        if (error == cudaSuccess && type == cudaGraphNodeTypeKernel)
            error = cudaGraphNodeSetEnabled(exec, node[i], 0);
        if (error == cudaSuccess && type == cudaGraphNodeTypeKernel)
            error = cudaGraphNodeSetEnabled(exec, node[i], 1);
    }
    return error;
}

/* Makes an executable graph, or renews it from the graph that it was made of; where a driver takes no such update it stays as it is. In
 * a third of the turns kernels are left out for a while instead. */
static cudaError_t instantiate_begun(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned turn)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;

    if (!*exec)
        return cudaGraphInstantiate(exec, graph, cudaGraphInstantiateFlagUseNodePriority);
    if (turn / 2 % 2)
        return leave_out_for_a_while(*exec, graph);
    if (cudaGraphExecUpdate(*exec, graph, &info) != cudaSuccess)
        (void)cudaGetLastError();
    return cudaSuccess;
}

/* Two executable graphs and the graphs that they were made of, as far as there are any. */
static void destroy_two(const cudaGraphExec_t *exec, const cudaGraph_t *graph, unsigned graphs)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        if (exec[i])
            (void)cudaGraphExecDestroy(exec[i]);
    for (i = 0; i < graphs; i++)
        if (graph[i])
            (void)cudaGraphDestroy(graph[i]);
}

/* An executable graph is launched as it was made, and again once it was renewed; one with a grid that ends soon a third time, in half of the turns
 * after an upload. */
static cudaError_t ready_begun(struct begun *b, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned turn, unsigned nth)
{
    if (nth < 2)
        return instantiate_begun(exec, graph, turn);
    return b->trials % 2 ? cudaGraphUpload(*exec, b->crowd->ask->stream) : cudaSuccess;
}

/* Each graph is launched so, and then as another executable graph, in half of the turns of a clone. Of a graph with a body there is only one at a
 * time. */
static cudaError_t run_begun_nodes(struct begun *b, unsigned blocks, enum begun_place place, unsigned turn)
{
    cudaGraphExec_t exec[2] = { NULL, NULL };
    cudaGraph_t graph = NULL;
    unsigned each = blocks < BEGUN_LONG ? 3 : 2, most = place > BEGUN_CAPTURED ? each : each + 1, i;
    cudaError_t error = make_begun(b, blocks, place, turn, &graph);

    for (i = 0; i < most && error == cudaSuccess; i++) {
        if (i == each && (turn + (unsigned)place) % 2)
            error = ask_clone_instead(&graph, NULL);
        if (error == cudaSuccess)
            error = ready_begun(b, &exec[i / each], graph, place == BEGUN_IN_GRAPH || place == BEGUN_CAPTURED ? turn : 0, i % each);
        if (error == cudaSuccess)
            error = forget_begun(b);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(exec[i / each], b->crowd->ask->stream);
        error = look_at_begun(b, error, blocks, &b->early);
        b->trials++;
    }
    destroy_two(exec, &graph, 1);
    return error;
}

#include "crowds_told.h"

static void ask_begun(struct crowd *crowd)
{
    static const unsigned sizes[] = { 65, 257, 300,
#ifndef PDL_MODEL
                                      513, 1025, BEGUN_MOST
#endif
    };
    unsigned count = sizeof(sizes) / sizeof(sizes[0]), i, places = has_conditions() ? (unsigned)BEGUN_PLACES : BEGUN_CAPTURED + 1u;
    struct begun b = PDL_ZERO;
    cudaError_t error;

    prepare_trial(crowd->room, 0);
    crowd->room->plan.hold_ns = 1000 + 4 * (uint32_t)crowd->tick_ns;
    crowd->room->plan.bound_ns = crowd_bound_ns(BEGUN_MOST);
    error = open_begun(&b, crowd);
    for (i = 0; i < (BEGUN_DRESSES + 1) * count && error == cudaSuccess; i++)
        if (sizes[i % count] > 2 * crowd->room->plan.residents)
            error = run_begun(&b, sizes[i % count], i / count == BEGUN_DRESSES, i / count % BEGUN_DRESSES);
    if (error == cudaSuccess)
        error = ask_completion_edges((const void *)SYMBOL(crowds_waiter));
    for (i = 0; i < BEGUN_TURNS * places && error == cudaSuccess; i++)
        if (sizes[(i + i / count) % count] > 2 * crowd->room->plan.residents)
            error = run_begun_nodes(&b, sizes[(i + i / count) % count], (enum begun_place)(i % places), i / places);
    ask_expect(crowd->ask, "events and edges at block starts", error, cudaSuccess);
    if (error == cudaSuccess && b.seen == 0)
        ask_skip(crowd->ask, "events at block starts", "no kernel without dependency had room beside the grid");
    ask_expect_none(crowd->ask, "waiters for an event or an edge at block starts that began before the last block", b.early, b.trials);
    ask_expect_none(crowd->ask, "grids before such waiters, or waiters, that did not run", b.missing, b.launched);
    if (error == cudaSuccess)
        ask_told(&b, sizes, count);
    close_begun(&b);
}

#endif
