/* kept_waiting.h - the pair of kept.cu with calls of the host while a dependent waits for its primary, in a graph and in a stream: whatever they
 * change for later launches, they neither end the wait nor change what is under way. */
#ifndef KEPT_WAITING_H_INCLUDED
#define KEPT_WAITING_H_INCLUDED

/* Lets its dependent begin, and sets its word when the host says so. */
KERNEL(kept_held)
{
    k_trigger();
    await_host(&args);
    set_word(args.data);
}

/* Tells that it runs, waits, and copies a word as it finds it. */
KERNEL(kept_begun_copy)
{
    k_store_relaxed(&args.state->began, 1);
    k_wait_device();
    copy_word(&args);
}

struct waiting {
    struct kept *kept;
    struct kernel_args primary, dependent;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node[2];
    cudaEvent_t event;
};

/* The last ones are for graphs alone. */
enum meanwhile { MEANWHILE_QUERY, MEANWHILE_RECORD, MEANWHILE_OTHER, MEANWHILE_STREAM, MEANWHILE_MORE, MEANWHILES_OF_ALL,
                 MEANWHILE_DESTROY = MEANWHILES_OF_ALL, MEANWHILE_DESTROY_BOTH, MEANWHILE_UPDATE, MEANWHILE_PARAMS, MEANWHILE_DISABLE, MEANWHILES };
static const char *const meanwhile_name[MEANWHILES] = {
    "a query while a dependent waits", "a record while a dependent waits", "a launch in another stream while a dependent waits",
    "a stream made and destroyed while a dependent waits", "a launch after a dependent that waits", "the end of its executable graph while a dependent waits",
    "the end of its graphs while a dependent waits", "an update while a dependent waits", "new parameters while a dependent waits",
    "a dependent disabled and enabled while it waits"
};

static cudaError_t launch_nothing(struct waiting *w, cudaStream_t stream)
{
    cudaError_t error = launch_one((const void *)SYMBOL(kept_nothing), &w->primary, 1, stream, NULL, 0);

    return error == cudaSuccess && stream != w->kept->ask->stream ? cudaStreamSynchronize(stream) : error;
}

static cudaError_t make_and_destroy_stream(void)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    return error == cudaSuccess ? cudaStreamDestroy(stream) : error;
}

static cudaError_t destroy_exec_of(struct waiting *w)
{
    cudaGraphExec_t exec = w->exec;

    w->exec = NULL;
    return cudaGraphExecDestroy(exec);
}

static cudaError_t destroy_both(struct waiting *w)
{
    cudaError_t error = cudaGraphDestroy(w->graph);

    w->graph = NULL;
    return error == cudaSuccess ? destroy_exec_of(w) : error;
}

/* The primary would set nothing, and the dependent find nothing. */
static cudaError_t give_params(struct waiting *w)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(kept_nothing), 1, values);

    values[0] = &w->primary;
    return cudaGraphExecKernelNodeSetParams(w->exec, w->node[0], &params);
}

static cudaError_t disable_and_enable(struct waiting *w)
{
    cudaError_t error = cudaGraphNodeSetEnabled(w->exec, w->node[1], 0);

    return error == cudaSuccess ? cudaGraphNodeSetEnabled(w->exec, w->node[1], 1) : error;
}

static cudaError_t ready_or_not(cudaError_t error)
{
    (void)cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

static cudaError_t call_meanwhile(struct waiting *w, enum meanwhile call)
{
    cudaStream_t stream = w->kept->ask->stream;

    switch (call) {
    case MEANWHILE_QUERY: return ready_or_not(cudaStreamQuery(stream));
    case MEANWHILE_RECORD: return cudaEventRecord(w->event, stream);
    case MEANWHILE_OTHER: return launch_nothing(w, w->kept->ask->side);
    case MEANWHILE_STREAM: return make_and_destroy_stream();
    case MEANWHILE_MORE: return launch_nothing(w, stream);
    case MEANWHILE_DESTROY: return destroy_exec_of(w);
    case MEANWHILE_DESTROY_BOTH: return destroy_both(w);
    case MEANWHILE_UPDATE: return update_from(w->exec, w->graph);
    case MEANWHILE_PARAMS: return give_params(w);
    default: return disable_and_enable(w);
    }
}

static cudaError_t make_waiting(struct waiting *w)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaError_t error = cudaGraphCreate(&w->graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&w->node[0], w->graph, (const void *)SYMBOL(kept_held), &w->primary, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&w->node[1], w->graph, (const void *)SYMBOL(kept_begun_copy), &w->dependent, 1);
    if (error == cudaSuccess)
        error = edges_add(w->graph, &w->node[0], &w->node[1], &data, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&w->exec, w->graph, 0) : error;
}

static cudaError_t launch_waiting(struct waiting *w, int by_graph)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = w->kept->ask->stream;
    cudaError_t error;

    if (by_graph) {
        error = make_waiting(w);
        return error == cudaSuccess ? cudaGraphLaunch(w->exec, stream) : error;
    }
    error = launch_one((const void *)SYMBOL(kept_held), &w->primary, 1, stream, NULL, 0);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(kept_begun_copy), &w->dependent, 1, stream, &attribute, 1) : error;
}

/* The dependent has begun, and waits: it ends, and finds the word, only once the host has let the primary go on. The primary gives up after a
 * while, as on a device that lets no dependent begin early. */
static void ask_meanwhile(struct waiting *w, struct host_room *room, enum meanwhile call, int by_graph)
{
    struct ask *ask = w->kept->ask;
    struct trial_state empty = PDL_ZERO;
    const char *what = meanwhile_name[call];

    room->state = empty;
    (void)words_then(w->kept);
    ask_expect(ask, "a primary that is held, and a dependent", launch_waiting(w, by_graph), cudaSuccess);
    await_gate(room, ask->stream);
    ask_expect(ask, what, call_meanwhile(w, call), cudaSuccess);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect_number(ask, what, words_then(w->kept), 3);
    if (w->exec)
        (void)cudaGraphExecDestroy(w->exec);
    if (w->graph)
        (void)cudaGraphDestroy(w->graph);
    w->exec = NULL;
    w->graph = NULL;
}

static void ask_waiting(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct waiting waiting = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned call;

    if (!open_kept(&kept, ask))
        return;
    waiting.kept = &kept;
    ask_expect(ask, "an event", cudaEventCreateWithFlags(&waiting.event, cudaEventDisableTiming), cudaSuccess);
    if (open_late(&kept, &room, &waiting.primary)) {
        room->plan.bound_ns = GATE_NS;
        waiting.dependent = waiting.primary;
        waiting.dependent.seen = kept.args[1].data;
        for (call = 0; call < MEANWHILES; call++)
            ask_meanwhile(&waiting, room, (enum meanwhile)call, 1);
        for (call = 0; call < MEANWHILES_OF_ALL; call++)
            ask_meanwhile(&waiting, room, (enum meanwhile)call, 0);
        (void)cudaFreeHost(room);
    }
    if (waiting.event)
        (void)cudaEventDestroy(waiting.event);
    close_kept(&kept);
}

#endif
