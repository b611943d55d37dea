/* kept_queued.h - questions of kept.cu with many launches of one executable graph behind a gate that the host holds shut, and a change before
 * each. Every launch does what the graph said when it was launched, however many launches follow. */
#ifndef KEPT_QUEUED_H_INCLUDED
#define KEPT_QUEUED_H_INCLUDED

#define SLOTS 40u              /* launches; more than a device keeps small numbers of */
#define SLOTS_GATE_NS 2000000u /* a device may wait for launches before it takes so many: it is not asked for room */

/* A word for each launch. */
struct slots {
    uint32_t *words;           /* pinned */
    struct kept kept;          /* whose first word is the one of this launch */
};

static int open_slots(struct slots *slots, const struct kept *kept)
{
    cudaError_t error = cudaHostAlloc((void **)&slots->words, SLOTS * WORD_BYTES, cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&slots->kept.args[0].data, slots->words, 0);
    ask_expect(kept->ask, "pinned memory of many launches", error, cudaSuccess);
    slots->kept.ask = kept->ask;
    slots->kept.source = kept->source;
    slots->kept.words = slots->words;
    return error == cudaSuccess;
}

static void first_slot(struct slots *slots)
{
    slots->kept.args[0].data -= slots->kept.words - slots->words;
    slots->kept.words = slots->words;
}

static void next_slot(struct slots *slots)
{
    slots->kept.args[0].data += CELLS;
    slots->kept.words += CELLS;
}

static cudaError_t change_queued(struct ordered *o, enum call call)
{
    switch (call) {
    case CALL_PARAMS: return give_single(o->kept, o->single, o->exec, o->node, 0);
    case CALL_GENERAL: return give_single_generally(o->kept, o->single, o->exec, o->node, 0);
    default: return update_single(o);
    }
}

/* The first launch sets the word that the graph was made for. */
static cudaError_t launch_slots(struct slots *slots, struct ordered *o, enum call call)
{
    cudaError_t error = cudaSuccess;
    unsigned slot;

    for (slot = 0; slot < SLOTS && error == cudaSuccess; slot++) {
        if (slot) {
            next_slot(slots);
            error = change_queued(o, call);
        }
        if (error == cudaSuccess)
            error = cudaGraphLaunch(o->exec, o->kept->ask->stream);
    }
    return error;
}

static void ask_slots(struct slots *slots, struct host_room *room, struct kernel_args *gate, unsigned single, enum call call)
{
    struct ask *ask = slots->kept.ask;
    struct ordered o = { &slots->kept, single, 0, 0, NULL, NULL, NULL };
    struct trial_state empty = PDL_ZERO;
    unsigned slot, lost = 0;
    char text[96];

    snprintf(text, sizeof(text), "many launches of %s behind a gate, with %s before each", single_name(single),
             call == CALL_UPDATE ? "an update" : "new parameters");
    room->state = empty;
    memset(slots->words, 0, SLOTS * WORD_BYTES);
    first_slot(slots);
    ask_expect(ask, text, make_single(&slots->kept, single, 0, &o.graph, &o.node), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&o.exec, o.graph, 0), cudaSuccess);
    ask_expect(ask, text, launch_one((const void *)SYMBOL(kept_gate), gate, 1, ask->stream, NULL, 0), cudaSuccess);
    ask_expect(ask, text, launch_slots(slots, &o, call), cudaSuccess);
    *(volatile uint32_t *)&room->state.alive = 1;
    ask_expect(ask, text, cudaStreamSynchronize(ask->stream), cudaSuccess);
    for (slot = 0; slot < SLOTS; slot++)
        lost += which_are_set(slots->words + slot * CELLS, 1) != 1;
    ask_expect_none(ask, text, lost, SLOTS);
    (void)cudaGraphExecDestroy(o.exec);
    (void)cudaGraphDestroy(o.graph);
}

static void ask_queued(struct kept *kept, struct host_room *room, struct kernel_args *gate)
{
    struct slots slots = PDL_ZERO;
    unsigned single;

    if (!open_slots(&slots, kept))
        return;
    room->plan.bound_ns = SLOTS_GATE_NS;
    for (single = 0; single < SINGLES; single++) {
        if (!takes_changes(single))
            continue;
        ask_slots(&slots, room, gate, single, CALL_PARAMS);
        ask_slots(&slots, room, gate, single, CALL_UPDATE);
        ask_slots(&slots, room, gate, single, CALL_GENERAL);
    }
    (void)cudaFreeHost(slots.words);
}

#endif
