/* kept_running.h - the pair of kept.cu with calls while a launch is under way: what they change, make and destroy reaches later launches alone;
 * and with changes while an upload is under way, which it does not undo. */
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
    volatile const uint32_t *began = &room->state.began;
    const char *what = pending_name[call];

    room->state = empty;
    ask_expect(ask, what, make_single(kept, single, 0, &o.graph, &o.node), cudaSuccess);
    ask_expect(ask, what, cudaGraphInstantiate(&o.exec, o.graph, 0), cudaSuccess);
    (void)words_then(kept);
    ask_expect(ask, what, launch_one((const void *)SYMBOL(kept_gate), gate, 1, ask->side, NULL, 0), cudaSuccess);
    while (!*began && cudaStreamQuery(ask->side) == cudaErrorNotReady) {
    }
    (void)cudaGetLastError();
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
        room->plan.bound_ns = GATE_NS;
        ask_objects(&kept, room, &gate);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

#endif
