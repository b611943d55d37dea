/* crowds_events.h - what crowds.cu asks of streams that wait for the events of launches. A programmatic event comes when all blocks have
 * triggered, whatever else the launch is given and whoever made the event; an event of a launch's completion not before its kernel's turn. An
 * edge from the block starts of a grid of any kind lets go when the last one has begun, and so does an event of them. Each of many programmatic
 * edges lets go when all blocks have triggered. */
#ifndef CROWDS_EVENTS_H_INCLUDED
#define CROWDS_EVENTS_H_INCLUDED

/* Without timing; one that the host would sleep for; one that another host thread made. */
#define STARTED_HOLD_NS 20000u
#define COMPLETION_COOPERATIVE ((unsigned)DRESS_GROUPED) /* not in clusters */
#define COMPLETION_HINTED (COMPLETION_COOPERATIVE + 1) /* the first of as many as there are hints */
#define COMPLETION_DRESSES (COMPLETION_HINTED + HINT_KINDS)
#define COMPLETIONS (8 * COMPLETION_DRESSES) /* trials */
#define CROWD_EVENTS 3u
static cudaError_t event_for(unsigned which, cudaEvent_t *event)
{
    unsigned flags = cudaEventDisableTiming | (which == 1 ? cudaEventBlockingSync : 0u);

    return which == 2 ? event_of_other(flags, event) : cudaEventCreateWithFlags(event, flags);
}

/* Of the case, urgent, or a default stream. */
static cudaStream_t crowd_stream(const struct crowd *crowd, unsigned kind, cudaStream_t own)
{
    switch (kind % 4) {
    case 0: return own;
    case 1: return cudaStreamLegacy;
    case 2: return cudaStreamPerThread;
    default: return crowd->urgent;
    }
}

/* By the runtime or the driver; blocks along x, or in two rows or layers. clustered: two of a row are in a cluster; hinted: the last attribute
 * is a hint. */
static cudaError_t launch_event_primary(const struct crowd *crowd, const void *function, cudaLaunchConfig_t *config, unsigned way, int clustered,
                                        int hinted)
{
    struct long_args copy = PDL_ZERO;
    void *params[1];

    params[0] = &copy;
    copy.args = crowd->args;
    if (way % 3 && config->gridDim.x % (clustered ? 4 : 2) == 0) {
        config->gridDim.x /= 2;
        *(way % 3 == 1 ? &config->gridDim.y : &config->gridDim.z) = 2;
    }
    return way / 3 % 2 && !hinted ? launch_by_driver(config, function, params) : launch_spare(config, function, params, hinted);
}

/* The dependent comes in another stream, after the event of the primary's launch, which may be given a hint instead of more. Both are in streams
 * of each kind, in some trials in the same one. */
static cudaError_t run_event_crowd(struct crowd *crowd, unsigned blocks)
{
    cudaStream_t stream = crowd_stream(crowd, crowd->trials / 5, crowd->ask->stream), side = crowd_stream(crowd, crowd->trials / 7, crowd->ask->side);
    cudaLaunchAttribute attributes[3];
    cudaLaunchConfig_t config;
    cudaEvent_t event = NULL;
    unsigned dress = crowd->trials % CROWD_DRESSES, more = dress_crowd(dress, crowd->greatest, &attributes[1]);
    unsigned hint = dress == DRESS_NONE ? crowd->trials / CROWD_DRESSES % (1 + HINT_KINDS) : 0;
    unsigned round = crowd->trials / CROWD_DRESSES / CROWD_EVENTS;
    const void *primary = round % 2 ? (const void *)SYMBOL(crowds_primary_long) : (const void *)SYMBOL(crowds_primary);
    const void *dependent = round / 2 % 2 ? (const void *)SYMBOL(crowds_dependent_long) : (const void *)SYMBOL(crowds_dependent);
    cudaError_t error = event_for(crowd->trials / CROWD_DRESSES % CROWD_EVENTS, &event);

    if (error != cudaSuccess)
        return error;
    prepare_crowd(crowd, blocks);
    attributes[0] = recording(event);
    if (hint)
        attributes[1 + more++] = nth_hint(hint - 1);
    blocks = dress == DRESS_GROUPED ? GROUPED_BLOCKS : blocks;
    config = sized_config(blocks, 1, dress_bytes(dress), stream, attributes, 1 + more);
    error = launch_event_primary(crowd, primary, &config, crowd->trials + crowd->trials / CROWD_DRESSES,
                                 dress == DRESS_CLUSTERS || dress == DRESS_GROUPED, hint != 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(side, event, 0);
    if (error == cudaSuccess)
        error = launch_with_long_args(dependent, &crowd->args, blocks, 1, 0, side, NULL, 0);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    (void)cudaEventDestroy(event);
    crowd->trials++;
    if (error == cudaSuccess)
        look_at_crowd(crowd);
    return error;
}

enum more { MORE_NOTHING, MORE_SERIALIZATION, MORE_EVENT, MORE_LEGACY, MORES }; /* of the launch, or its stream */

static unsigned dress_completion(const struct crowd *crowd, unsigned dress, cudaLaunchAttribute *attribute)
{
    if (dress < COMPLETION_COOPERATIVE)
        return dress_crowd(dress, crowd->greatest, attribute);
    *attribute = dress >= COMPLETION_HINTED ? nth_hint(dress - COMPLETION_HINTED) : cooperatively();
    return 1;
}

/* Dressed; the completion event is the first of the attributes. */
static cudaError_t launch_completion(struct crowd *crowd, unsigned dress, cudaLaunchAttribute attrs[4], enum more more, cudaStream_t stream)
{
    unsigned count = 1 + dress_completion(crowd, dress, attrs + 1);
    struct kernel_args args = crowd->args;
    cudaEvent_t second = NULL;
    cudaError_t error = more == MORE_EVENT ? event_for(0, &second) : cudaSuccess;

    args.data++;
    if (more == MORE_SERIALIZATION)
        attrs[count++] = serialization(1);
    if (second)
        attrs[count++] = recording(second);
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_leaver), &args, dress == DRESS_CLUSTERS ? 2 : 1, 1, dress_bytes(dress), stream, attrs,
                             count);
    if (second)
        (void)cudaEventDestroy(second);
    return error;
}

/* A kernel, and one whose completion event another stream waits for. That stream is new, or has had work, and in the later trials has captured.
 * The first kernel may record the event, too: the later launch takes it over. In every third trial what comes after the event has attribute 6:
 * it may overlap a kernel of its own stream, but not pass the event. */
static cudaError_t run_completion(struct crowd *crowd, unsigned trial, unsigned dress, unsigned *early)
{
    int fresh = trial / 2 % 2 == 0;
    enum more more = (enum more)((trial + trial / 4) % MORES);
    cudaStream_t stream = more == MORE_LEGACY ? cudaStreamLegacy : crowd->ask->stream, side = crowd->ask->side;
    cudaLaunchAttribute attrs[4], six = serialization(1);
    cudaEvent_t event = NULL;
    cudaError_t error = event_for(trial % 2 * 2, &event); /* drivers take none that the host would sleep for */

    if (error != cudaSuccess)
        return error;
    prepare_crowd(crowd, 2);
    crowd->room->data[0] = crowd->room->data[1] = 0;
    attrs[0] = recording_begin(event);
    if (fresh && cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) != cudaSuccess)
        fresh = 0;
    if (trial >= COMPLETIONS / 2 && cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal) == cudaSuccess)
        ask_drop_capture(side);
    if (!fresh)
        error = launch_one((const void *)SYMBOL(crowds_waiter), &crowd->args, 1, side, NULL, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(crowds_leaver), &crowd->args, 1, stream, attrs, trial % 4 == 3);
    if (error == cudaSuccess)
        error = launch_completion(crowd, dress, attrs, more, stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(side, event, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(crowds_looks), &crowd->args, 1, side, &six, trial % 3 == 1);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    (void)cudaEventDestroy(event);
    if (fresh)
        (void)cudaStreamDestroy(side);
    *early += error == cudaSuccess && crowd->room->state.early != 0;
    if (dress < COMPLETION_COOPERATIVE || !is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    return cudaDeviceSynchronize();
}

/* A block takes the room of one; a grid for which there would be just enough begins beside it, and keeps its places until it has left. What
 * comes after the grid's block starts begins when that block has left, too. */
static cudaError_t add_started(struct begun *b, cudaGraph_t graph, unsigned dress)
{
    cudaLaunchAttribute attrs[2];
    unsigned given = dress_crowd(dress, b->greatest, attrs), residents = b->crowd->room->plan.residents;
    unsigned i = dress == DRESS_GROUPED ? 1 : 0; /* cooperative alone: in clusters, too, it might never have room as a whole */
    cudaGraphEdgeData starts[2] = { edges_completion(), edges_completion() };
    struct kernel_args args = b->args;
    cudaGraphNode_t node[3];
    cudaError_t error;

    args.data = &b->args.state->left;
    error = add_large(b, graph, (const void *)SYMBOL(crowds_leaver), &args, 1, &node[0]);
    if (error == cudaSuccess)
        error = add_large(b, graph, (const void *)SYMBOL(crowds_stays), &args, residents, &node[1]);
    for (; i < given && error == cudaSuccess; i++)
        error = cudaGraphKernelNodeSetAttribute(node[1], attrs[i].id, &attrs[i].val);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[2], graph, (const void *)SYMBOL(crowds_looks), &args, 1);
    return error == cudaSuccess ? edges_add(graph, node, node + 1, starts, 2) : error;
}

/* What the launch is given beside the event; or the event was recorded in two streams before. */
enum started { STARTED_ALONE, STARTED_SERIALIZATION, STARTED_SECOND, STARTED_MOVED, STARTED_WAYS };

static cudaError_t give_started(const struct begun *b, enum started way, cudaEvent_t second, unsigned *count, cudaLaunchAttribute *attrs)
{
    cudaError_t error = cudaSuccess;

    if (way == STARTED_SERIALIZATION)
        attrs[(*count)++] = serialization(1);
    if (way == STARTED_SECOND)
        attrs[(*count)++] = recording_begin(second);
    if (way == STARTED_MOVED)
        error = cudaEventRecord(b->event, b->crowd->ask->side);
    return error == cudaSuccess && way == STARTED_MOVED ? cudaEventRecord(b->event, b->crowd->ask->stream) : error;
}

/* The same in streams: what comes after the grid's event at block starts. A grid that needs no more memory than the others is given a hint,
 * another one in each way: an SM has room for one block whatever the carve-out. */
static cudaError_t launch_started(struct begun *b, unsigned dress, enum started way, cudaEvent_t second)
{
    cudaStream_t side = b->crowd->ask->side, third = NULL;
    cudaLaunchAttribute attrs[4] = { recording_at(b->event, 1) };
    unsigned grouped = dress == DRESS_GROUPED, count = 1 + (grouped ? 1 : dress_crowd(dress, b->greatest, attrs + 1));
    unsigned hint = dress == DRESS_SHARED ? 1 + (unsigned)way % HINT_KINDS : 0;
    struct kernel_args args = b->args;
    cudaError_t error = cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);

    if (error != cudaSuccess)
        return error;
    args.data = &b->args.state->left;
    if (grouped)
        attrs[1] = cooperatively();
    error = give_started(b, grouped || hint ? STARTED_ALONE : way, second, &count, attrs);
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_leaver), &args, 1, 1, b->shared_bytes, side, NULL, 0);
    if (error == cudaSuccess)
        error = launch_hinted((const void *)SYMBOL(crowds_stays), &args, b->crowd->room->plan.residents, 1, b->shared_bytes, b->crowd->ask->stream,
                              attrs, count, hint);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(third, b->event, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(crowds_looks), &args, 1, third, NULL, 0);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    (void)cudaStreamDestroy(third);
    return error;
}

static cudaError_t look_at_started(struct begun *b, cudaError_t error)
{
    struct trial_state state = PDL_ZERO;

    if (error == cudaSuccess)
        error = cudaMemcpy(&state, b->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    b->early += error == cudaSuccess && state.early && !state.cut_short;
    b->missing += error == cudaSuccess && !state.left;
    b->trials++;
    return error;
}

/* Launches it once, unless something failed before, and destroys both. */
static cudaError_t end_crowd_graph(const struct crowd *crowd, cudaGraph_t graph, cudaGraphExec_t exec, cudaError_t error)
{
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, crowd->ask->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(crowd->ask->stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* beside: 0, or which kind of node, counted from 1, stands beside them. The executable graph gives that node what it has already. */
static cudaError_t run_started_graph(struct begun *b, unsigned dress, unsigned beside)
{
    enum node_kind kind = kinds_beside[beside ? beside - 1 : 0];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = forget_begun(b);
    if (error == cudaSuccess)
        error = add_started(b, graph, dress);
    if (error == cudaSuccess && beside)
        error = ask_add(&node, graph, kind, &b->beside);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    if (error == cudaSuccess && beside)
        give_beside(exec, node, kind, &b->beside);
    error = end_crowd_graph(b->crowd, graph, exec, error);
    return look_at_started(b, error);
}

static cudaError_t run_started_launch(struct begun *b, unsigned dress, enum started way)
{
    cudaEvent_t second = NULL;
    cudaError_t error = forget_begun(b);

    if (error == cudaSuccess)
        error = event_for(0, &second);
    error = error == cudaSuccess ? look_at_started(b, launch_started(b, dress, way, second)) : error;
    if (second)
        (void)cudaEventDestroy(second);
    return error;
}

/* Where a block of the grid gave up, nobody says when the last one began. Hints are asked twice, in place of a graph like another one. */
static cudaError_t run_started(struct begun *b, unsigned dress, enum started way)
{
    unsigned beside = (dress + (unsigned)way) % (BESIDES + 1);
    cudaError_t error = dress == DRESS_SHARED ? run_started_launch(b, dress, way) : run_started_graph(b, dress, beside);

    return error == cudaSuccess ? run_started_launch(b, dress, way) : error;
}

/* Edges from the block starts of grids of each kind. One in clusters needs an even number of blocks. */
static void ask_started(struct crowd *crowd)
{
    struct begun b = PDL_ZERO;
    cudaError_t error;
    unsigned i, dress;

    prepare_crowd(crowd, BEGUN_MOST);
    crowd->room->plan.hold_ns = STARTED_HOLD_NS;
    error = open_begun(&b, crowd);
    if (error == cudaSuccess)
        error = ask_open_room(&b.beside, (const void *)SYMBOL(crowds_waiter));
    for (i = 0; i < (unsigned)STARTED_WAYS * CROWD_DRESSES && error == cudaSuccess; i++) {
        dress = i % CROWD_DRESSES;
        if (crowd->room->plan.residents % 2 == 0 || dress != DRESS_CLUSTERS)
            error = run_started(&b, dress, (enum started)(i / CROWD_DRESSES));
    }
    ask_expect(crowd->ask, "edges from the block starts of grids of each kind, and events of them", error, cudaSuccess);
    ask_expect_none(crowd->ask, "kernels after an edge or event of block starts that began before the last block", b.early, b.trials);
    ask_expect_none(crowd->ask, "kernels before such an edge or event that did not run", b.missing, b.trials);
    ask_close_room(&b.beside);
    close_begun(&b);
}

#define FAN 12u                /* programmatic edges into a node, or out of it */
#define FANS (2 * FAN)         /* trials */

KERNEL(crowds_triggers)
{
    (void)args;
    k_trigger();
}

/* Its first block triggers at once; the last one keeps its trigger back and watches for who comes after the grid. */
KERNEL(crowds_withholds)
{
    struct trial_plan plan = k_plan(&args);

    if (EAGER || k_block() + 1 != k_blocks())
        k_trigger();
    if (k_block() + 1 == k_blocks() && k_poll(args.state, &args.state->alive, 1, plan.hold_ns))
        k_add(&args.state->early, 1);
    k_trigger();
}

/* Into the last node, or out of it; one of the nodes that edges lead from withholds, and is given more. */
static cudaError_t add_fan(const struct crowd *crowd, cudaGraph_t graph, unsigned trial)
{
    unsigned out = trial / FAN, withholds = out ? FAN : trial % FAN, dress = trial % CROWD_DRESSES, i;
    cudaLaunchAttribute attrs[2];
    unsigned given = dress_crowd(dress, crowd->greatest, attrs);
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    struct kernel_args args = crowd->args;
    cudaGraphNode_t node[FAN + 1];
    cudaError_t error = cudaSuccess;

    for (i = 0; i <= FAN && error == cudaSuccess; i++) {
        int comes_after = out ? i < FAN : i == FAN;
        const void *function = i == withholds ? (const void *)SYMBOL(crowds_withholds)
                               : comes_after ? (const void *)SYMBOL(crowds_waiter) : (const void *)SYMBOL(crowds_triggers);

        error = ask_add_kernel_after(&node[i], graph, NULL, 0, function, &args, comes_after ? 1 : 2, 1);
    }
    for (i = dress == DRESS_GROUPED ? 1 : 0; i < given && error == cudaSuccess; i++) /* cooperative alone */
        error = cudaGraphKernelNodeSetAttribute(node[withholds], attrs[i].id, &attrs[i].val);
    for (i = 0; i < FAN && error == cudaSuccess; i++)
        error = edges_add(graph, &node[out ? FAN : i], &node[out ? i : FAN], &data, 1);
    return error;
}

/* Who comes after several grids begins after the last block of each has triggered, in an executable graph that was renewed, too. */
static cudaError_t run_fan(struct crowd *crowd, unsigned trial, unsigned *early)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned makes;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare_crowd(crowd, 2);
    if (error == cudaSuccess)
        error = add_fan(crowd, graph, trial);
    for (makes = 0; makes <= trial / CROWD_DRESSES % 2 && error == cudaSuccess; makes++)
        error = instantiate_begun(&exec, graph, trial);
    error = end_crowd_graph(crowd, graph, exec, error);
    *early += error == cudaSuccess && crowd->room->state.early != 0;
    return error;
}

#include "crowds_changed.h"
#include "crowds_twins.h"

static void ask_fans(struct crowd *crowd)
{
    unsigned i, early = 0;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < FANS && error == cudaSuccess; i++)
        error = run_fan(crowd, i, &early);
    ask_expect(crowd->ask, "graphs of many programmatic edges", error, cudaSuccess);
    ask_expect_none(crowd->ask, "kernels with many programmatic edges that began before all blocks of one before them had triggered", early, FANS);
}

static void ask_crowd_events(struct crowd *crowd)
{
    static const unsigned sizes[] = { 34, 66, 130, 258, 300 };
    unsigned i, early = 0, trials = CROWD_DRESSES * CROWD_EVENTS * 5;
    cudaError_t error = cudaStreamCreateWithPriority(&crowd->urgent, cudaStreamNonBlocking, crowd->greatest);

    crowd->stale = crowd->early = crowd->trials = 0;
    for (i = 0; i < trials && error == cudaSuccess; i++)
        error = run_event_crowd(crowd, sizes[i % 5]);
    if (crowd->urgent)
        (void)cudaStreamDestroy(crowd->urgent);
    crowd->urgent = NULL;
    ask_expect(crowd->ask, "events of launches of many blocks", error, cudaSuccess);
    ask_expect_none(crowd->ask, "dependents that began before all blocks of the launch whose event they come after had triggered", crowd->early, trials);
    ask_expect_none(crowd->ask, "stale after the event of a launch of many blocks", crowd->stale, trials);
    for (i = 0; i < COMPLETIONS && error == cudaSuccess; i++)
        error = run_completion(crowd, i, i / 4 % COMPLETION_DRESSES, &early);
    ask_expect(crowd->ask, "events of the completion of launches", error, cudaSuccess);
    ask_expect_none(crowd->ask, "kernels that came before the turn of the one whose completion event they come after", early, COMPLETIONS);
    if (error == cudaSuccess)
        ask_started(crowd);
    if (error == cudaSuccess)
        ask_fans(crowd);
    if (error == cudaSuccess)
        ask_changed_crowds(crowd);
    if (error == cudaSuccess)
        ask_twins(crowd);
}

#endif
