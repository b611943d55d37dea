/* kept_running.h - the pair of kept.cu with calls while a launch is under way: what they change, make and destroy reaches later launches alone;
 * and with changes while an upload is under way, which it does not undo; and with an upload while a node waits for several others. */
#ifndef KEPT_RUNNING_H_INCLUDED
#define KEPT_RUNNING_H_INCLUDED

/* Each call of the orders but the launch: those that change the executable graph, and those that change nothing of it. */
static void ask_calls_while_running(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned single)
{
    unsigned call;

    for (call = 0; call < CALLS; call++)
        if (call != CALL_LAUNCH && (call != CALL_OUT_AND_IN || single < ITEMS)) /* only the items may be left out */
            ask_changed_while_running(kept, room, gate, single, (enum call)call);
}

/* ---- an upload under way ---- */

#define UPLOAD_GATE_NS 400000u /* a device may wait for the upload before it launches: then it is not asked much */

static const char *const pending_name[CALLS] = { NULL, "new parameters while an upload waits", "an update while an upload waits", NULL,
                                                 "a node left out, then back, while an upload waits", NULL,
                                                 "new parameters by the general call while an upload waits" };

/* ... a node is left out by the first change, and taken back by the second. */
static cudaError_t change_uploaded(struct ordered *o, enum call call, unsigned enabled)
{
    return call == CALL_OUT_AND_IN ? cudaGraphNodeSetEnabled(o->exec, o->node, enabled) : call_once(o, call);
}

static void launch_uploaded(struct ordered *o, enum call call, unsigned enabled, const char *what)
{
    unsigned launched = o->launched;

    ask_expect(o->kept->ask, what, change_uploaded(o, call, enabled), cudaSuccess);
    ask_expect(o->kept->ask, what, call_once(o, CALL_LAUNCH), cudaSuccess);
    if (call == CALL_OUT_AND_IN && !enabled)
        o->launched = launched;
}

/* "The modifications only affect future launches": those after them, also if what is uploaded behind other work of the upload's stream has not been
 * uploaded yet, and once it is. */
static void ask_changed_while_uploading(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned single, enum call call)
{
    struct ask *ask = kept->ask;
    struct ordered o = { kept, single, 0, 0, NULL, NULL, NULL };
    struct trial_state empty = PDL_ZERO;
    const char *what = pending_name[call];

    room->state = empty;
    ask_expect(ask, what, make_single(kept, single, 0, &o.graph, &o.node), cudaSuccess);
    ask_expect(ask, what, cudaGraphInstantiate(&o.exec, o.graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, what, launch_one((const void *)SYMBOL(kept_gate), gate, 1, ask->side, NULL, 0), cudaSuccess);
    await_gate(room, ask->side);
    ask_expect(ask, what, cudaGraphUpload(o.exec, ask->side), cudaSuccess);
    launch_uploaded(&o, call, 0, what);
    launch_uploaded(&o, call, 1, what);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect(ask, what, cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect_number(ask, what, words_then(kept), (long)o.launched);
    ask_expect(ask, "a launch after the upload", cudaGraphLaunch(o.exec, ask->stream), cudaSuccess);
    ask_expect_number(ask, "what a launch sets after changes while an upload waited", words_then(kept), 1l << o.word);
    (void)cudaGraphExecDestroy(o.exec);
    (void)cudaGraphDestroy(o.graph);
}

static void ask_uploading(struct kept *kept, struct host_room *room, struct kernel_args *gate)
{
    unsigned single, call;

    room->plan.bound_ns = UPLOAD_GATE_NS;
    for (single = 0; single < SINGLES; single++)
        for (call = 0; call < CALLS && takes_changes(single); call++)
            if (pending_name[call] && (call != CALL_OUT_AND_IN || single == ITEM_KERNEL || single == ITEM_COPY)) /* a disabled memset is EDGE-27a's */
                ask_changed_while_uploading(kept, room, gate, single, (enum call)call);
}

/* ---- an upload while a node of the launch waits for several others ---- */

/* A gate, then two kernels that set a word each, one of them late, then a kernel that copies the late one's word. late_last: of the two edges
 * into the copy the late kernel's is the second one. */
static cudaError_t make_joining(struct kept *kept, struct kernel_args *gate, unsigned late_last, cudaGraph_t *graph)
{
    struct kernel_args copies = kept->args[0];
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t before = NULL, copy = NULL, sets[2] = { NULL, NULL };
    unsigned i;
    cudaError_t error = cudaGraphCreate(graph, 0);

    copies.seen = kept->args[2].data;
    if (error == cudaSuccess)
        error = ask_add_kernel(&before, *graph, (const void *)SYMBOL(kept_gate), gate, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&sets[late_last], *graph, (const void *)SYMBOL(kept_late), gate, 1);
    if (error == cudaSuccess)
        error = add_set(kept, *graph, 1, &sets[!late_last]);
    if (error == cudaSuccess)
        error = ask_add_kernel(&copy, *graph, (const void *)SYMBOL(kept_bare_copy), &copies, 1);
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = edges_add(*graph, &before, &sets[i], &full, 1);
        if (error == cudaSuccess)
            error = edges_add(*graph, &sets[i], &copy, &full, 1);
    }
    return error;
}

/* "Each upload is ordered behind ... any previous launches" of the executable graph: in whichever stream it is queued, it changes nothing of
 * the launch whose gate the host holds shut. A device may make the host wait for that launch: the gate opens by itself then. */
static void ask_joining(struct kept *kept, struct host_room *room, struct kernel_args *gate, unsigned late_last, int by_driver)
{
    static const char what[] = "a launch in which a node waits for two others, with an upload in another stream meanwhile";
    struct ask *ask = kept->ask;
    struct trial_state empty = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;

    room->state = empty;
    ask_expect(ask, what, make_joining(kept, gate, late_last, &graph), cudaSuccess);
    ask_expect(ask, what, cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, what, cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    await_gate(room, ask->stream);
    ask_expect(ask, what, by_driver ? upload_by_driver(exec, ask->side) : cudaGraphUpload(exec, ask->side), cudaSuccess);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect_number(ask, what, words_then(kept), 7);
    ask_expect(ask, "the end of the upload", cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect(ask, "a launch after that upload", cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    ask_expect_number(ask, "what a launch sets after that upload", words_then(kept), 7);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

static void ask_joining_uploaded(struct kept *kept, struct host_room *room, struct kernel_args *gate)
{
    unsigned way;

    room->plan.bound_ns = UPLOAD_GATE_NS;
    for (way = 0; way < 4; way++)
        ask_joining(kept, room, gate, way % 2, way / 2 != 0);
}

static void ask_running(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct kernel_args gate = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned single;

    if (!open_kept(&kept, ask))
        return;
    if (open_late(&kept, &room, &gate)) {
        room->plan.bound_ns = GATE_NS;
        for (single = 0; single < SINGLES; single++)
            if (takes_changes(single))
                ask_calls_while_running(&kept, room, &gate, single);
        ask_all_succeeded(&kept, room, &gate);
        ask_queued(&kept, room, &gate);
        ask_uploading(&kept, room, &gate);
        ask_joining_uploaded(&kept, room, &gate);
        room->plan.bound_ns = GATE_NS;
        ask_objects(&kept, room, &gate);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

#endif
