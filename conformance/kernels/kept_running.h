/* kept_running.h - the pair of kept.cu with calls while a launch is under way: what they change, make and destroy reaches later launches alone. */
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
        room->plan.bound_ns = GATE_NS;
        ask_objects(&kept, room, &gate);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

#endif
