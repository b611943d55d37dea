/* kept_objects.h - the part of the pair running of kept.cu with user objects: what a graph refers to lives as long as the graph, its copies and
 * their launches, and ends once. */
#ifndef KEPT_OBJECTS_H_INCLUDED
#define KEPT_OBJECTS_H_INCLUDED

/* What refers to the objects in the end: an executable graph of the graph, of its clone, of a graph around it, one of two, one that was
 * updated from the graph or given it for a child graph, or one that was updated from another graph while its launch is under way, or that
 * was destroyed or updated while two launches of it are. */
enum owner { OWNED_BY_EXEC, OWNED_BY_CLONE, OWNED_BY_PARENT, OWNED_BY_SIBLING, OWNED_BY_UPDATED, OWNED_BY_GIVEN, OWNED_BY_LAUNCH,
             OWNED_BY_SECOND, OWNERS };
static const char *const owner_name[OWNERS] = { "an executable graph", "an executable graph of a clone", "an executable graph around a child graph",
                                                "one of two executable graphs", "an updated executable graph",
                                                "an executable graph that was given another child graph",
                                                "a launch of an executable graph that is updated",
                                                "the second launch of an executable graph" };

#define OBJECT_TURNS 2u        /* of each owner: with one to three references, moved to the graph or not; the launch is under way, or has ended */
#define OBJECTS (OWNERS * OBJECT_TURNS * 2u) /* two of each graph: one that its dependent reads, and one beside that */
#define OBJECT_LOOKS 16u       /* at what must not come */
#define OBJECT_POLLS 4000000u  /* for what has to come, from another thread */

struct object {                /* in pinned memory */
    uint32_t word[CELLS];      /* what a dependent reads */
    uint32_t ends;             /* so often it has ended */
};

/* As if its memory were given to somebody else. */
static void CUDART_CB object_ends(void *of)
{
    volatile struct object *object = (struct object *)of;
    unsigned i;

    for (i = 0; i < CELLS; i++)
        object->word[i] = 0;
    object->ends = object->ends + 1;
}

struct owning {
    struct kept *kept;
    struct host_room *room;
    struct kernel_args primary, dependent; /* the dependent copies the object's word */
    struct host_room *gate_room;
    struct kernel_args gate;   /* of a second launch */
    volatile struct object *object, *beside;
    cudaGraph_t graph, other;  /* the one that got the object; a clone of it, one around it, or one without the object */
    cudaGraphExec_t exec, sibling;
};

static cudaError_t make_owned(struct owning *o, cudaGraph_t *graph)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaGraphNode_t primary, dependent;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&primary, *graph, (const void *)SYMBOL(kept_held), &o->primary, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&dependent, *graph, (const void *)SYMBOL(kept_waiting_copy), &o->dependent, 1);
    return error == cudaSuccess ? edges_add(*graph, &primary, &dependent, &data, 1) : error;
}

/* The graph gets all references, and the caller keeps none. */
static cudaError_t give_object(const struct owning *o, volatile struct object *of, unsigned references, int moves, cudaUserObject_t *object)
{
    cudaError_t error = cudaUserObjectCreate(object, (void *)(uintptr_t)of, object_ends, 1, cudaUserObjectNoDestructorSync);

    if (error == cudaSuccess && references > 1)
        error = cudaUserObjectRetain(*object, references - 1);
    if (error == cudaSuccess)
        error = cudaGraphRetainUserObject(o->graph, *object, references, moves ? cudaGraphUserObjectMove : 0);
    return error == cudaSuccess && !moves ? cudaUserObjectRelease(*object, references) : error;
}

/* The graph has one reference to each in the end. By turns the one that the dependent reads is given first or last. */
static cudaError_t give_objects(const struct owning *o, unsigned references, int moves, int last)
{
    cudaUserObject_t object = NULL, beside = NULL;
    cudaError_t error = last ? give_object(o, o->beside, 1, !moves, &beside) : cudaSuccess;

    if (error == cudaSuccess)
        error = give_object(o, o->object, references, moves, &object);
    if (error == cudaSuccess && !last)
        error = give_object(o, o->beside, 1, !moves, &beside);
    return error == cudaSuccess && references > 1 ? cudaGraphReleaseUserObject(o->graph, object, references - 1) : error;
}

/* A graph around a child graph without the object. */
static cudaError_t make_around(struct owning *o, cudaGraphNode_t *node)
{
    cudaGraph_t plain = NULL;
    cudaError_t error = make_owned(o, &plain);

    if (error == cudaSuccess)
        error = cudaGraphCreate(&o->other, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, o->other, NULL, 0, plain);
    return error == cudaSuccess ? cudaGraphDestroy(plain) : error;
}

/* By a graph without the objects. */
static int is_replaced(enum owner owner) { return owner == OWNED_BY_LAUNCH || owner == OWNED_BY_SECOND; }

/* In no circumstance, which might have copies of its own. */
static cudaError_t make_owner(struct owning *o, enum owner owner)
{
    cudaGraphNode_t node = NULL;
    cudaError_t error = owner == OWNED_BY_GIVEN ? make_around(o, &node) : cudaSuccess;

    if (owner == OWNED_BY_CLONE)
        error = cudaGraphClone(&o->other, o->graph);
    if (owner == OWNED_BY_PARENT)
        error = cudaGraphCreate(&o->other, 0);
    if (error == cudaSuccess && owner == OWNED_BY_PARENT)
        error = cudaGraphAddChildGraphNode(&node, o->other, NULL, 0, o->graph);
    if (owner == OWNED_BY_UPDATED || is_replaced(owner))
        error = make_owned(o, &o->other);
    if (error == cudaSuccess)
        error = cudaGraphInstantiateWithFlags(&o->exec, o->other && !is_replaced(owner) ? o->other : o->graph, 0);
    if (error == cudaSuccess && owner == OWNED_BY_UPDATED)
        error = update_from(o->exec, o->graph);
    if (error == cudaSuccess && owner == OWNED_BY_GIVEN)
        error = cudaGraphExecChildGraphNodeSetParams(o->exec, node, o->graph);
    if (error == cudaSuccess && owner == OWNED_BY_SIBLING)
        error = cudaGraphInstantiateWithFlags(&o->sibling, o->graph, 0);
    return error;
}

/* Only the owner is left. */
static cudaError_t drop_sources(struct owning *o, enum owner owner)
{
    cudaError_t error = cudaGraphDestroy(o->graph);

    if (error == cudaSuccess && o->sibling)
        error = cudaGraphExecDestroy(o->sibling);
    if (error == cudaSuccess && o->other && !is_replaced(owner))
        error = cudaGraphDestroy(o->other);
    return error;
}

/* by_launch: only while a launch in this stream is under way, which nobody keeps so for ever; NULL: without one. */
static void expect_alive(const struct owning *o, const char *text, const cudaStream_t *by_launch)
{
    struct ask *ask = o->kept->ask;
    unsigned looks, ends;
    int judged;

    for (looks = 0; looks < OBJECT_LOOKS && !o->object->ends && !o->beside->ends; looks++)
        (void)cudaStreamQuery(ask->side);
    ends = o->object->ends + o->beside->ends;
    judged = !by_launch || cudaStreamQuery(*by_launch) == cudaErrorNotReady;
    (void)cudaGetLastError();
    if (judged)
        ask_expect_number(ask, text, (long)ends, 0);
}

static void make_owners(struct owning *o, enum owner owner, unsigned turn, const char *text)
{
    struct ask *ask = o->kept->ask;
    struct trial_state empty = PDL_ZERO;

    o->room->state = o->gate_room->state = empty;
    (void)words_then(o->kept);
    ask_expect(ask, text, make_owned(o, &o->graph), cudaSuccess);
    ask_expect(ask, text, give_objects(o, 1 + (owner + turn) % 3, owner / 2 % 2 != 0, turn % 2 == 0), cudaSuccess);
    ask_expect(ask, text, make_owner(o, owner), cudaSuccess);
    ask_expect(ask, text, drop_sources(o, owner), cudaSuccess);
    expect_alive(o, text, NULL);
}

static void update_from_other(struct owning *o, const char *text)
{
    ask_expect(o->kept->ask, text, update_from(o->exec, o->other), cudaSuccess);
    ask_expect(o->kept->ask, text, cudaGraphDestroy(o->other), cudaSuccess);
    o->other = NULL;
}

/* Of every second owner by the driver. */
static cudaError_t destroy_owner(const struct owning *o, enum owner owner)
{
    void *destroy = owner % 2 ? driver_function_if_any("cuGraphExecDestroy", 10000) : NULL;

    return destroy ? (cudaError_t)((CUresult(CUDAAPI *)(CUgraphExec))destroy)((CUgraphExec)o->exec) : cudaGraphExecDestroy(o->exec);
}

/* "When a cudaGraphExec_t is destroyed without being synchronized, the references are retained until the execution is completed": so they
 * are when an update replaces them. With two executable graphs of one graph the launch is waited for. */
static void ask_owned(struct owning *o, enum owner owner, unsigned turn)
{
    struct ask *ask = o->kept->ask;
    int under_way = turn == 0 && owner != OWNED_BY_SIBLING;
    char text[128];

    snprintf(text, sizeof(text), "objects of %s%s", owner_name[owner], under_way ? ", which is destroyed while it runs" : "");
    make_owners(o, owner, turn, text);
    ask_expect(ask, text, cudaGraphLaunch(o->exec, ask->stream), cudaSuccess);
    if (owner == OWNED_BY_LAUNCH)
        update_from_other(o, text);
    if (under_way)
        ask_expect(ask, text, destroy_owner(o, owner), cudaSuccess);
    expect_alive(o, text, under_way || owner == OWNED_BY_LAUNCH ? &ask->stream : NULL);
    *(volatile uint32_t *)&o->room->state.alive = 1;
    ask_expect_number(ask, text, words_then(o->kept), 1 | 1 << 2);
    if (!under_way)
        ask_expect(ask, text, destroy_owner(o, owner), cudaSuccess);
}

/* Two launches stand behind a gate each; the executable graph is destroyed or updated, and then the first one ends. */
static void ask_owned_by_second(struct owning *o, unsigned turn)
{
    struct ask *ask = o->kept->ask;
    const char *text = turn ? "objects of the second launch of an executable graph that is updated"
                            : "objects of the second launch of an executable graph that is destroyed";

    make_owners(o, OWNED_BY_SECOND, turn, text);
    ask_expect(ask, text, launch_one((const void *)SYMBOL(kept_gate), &o->gate, 1, ask->side, NULL, 0), cudaSuccess);
    ask_expect(ask, text, cudaGraphLaunch(o->exec, ask->stream), cudaSuccess);
    ask_expect(ask, text, cudaGraphLaunch(o->exec, ask->side), cudaSuccess);
    if (turn)
        update_from_other(o, text);
    else
        ask_expect(ask, text, cudaGraphExecDestroy(o->exec), cudaSuccess);
    *(volatile uint32_t *)&o->room->state.alive = 1;
    ask_expect_number(ask, text, words_then(o->kept), 1 | 1 << 2);
    expect_alive(o, text, &ask->side);
    *(volatile uint32_t *)&o->gate_room->state.alive = 1;
    ask_expect(ask, text, cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect_number(ask, text, words_then(o->kept), 1 | 1 << 2);
    if (turn)
        ask_expect(ask, text, cudaGraphExecDestroy(o->exec), cudaSuccess);
    else
        ask_expect(ask, text, cudaGraphDestroy(o->other), cudaSuccess);
}

/* "The object's destructor is invoked if the reference count reaches zero", by another thread. Returns whether all have ended. */
static int expect_ends(struct ask *ask, volatile const struct object *object)
{
    unsigned polls = 0, ended = 0, i;
    char text[128];

    for (i = 0; i < OBJECTS; i++) {
        for (; polls < OBJECT_POLLS && !object[i].ends; polls++)
            (void)cudaStreamQuery(ask->stream);
        snprintf(text, sizeof(text), "how often an object of %s ended", owner_name[i / 2 / OBJECT_TURNS]);
        ask_expect_number(ask, text, (long)object[i].ends, 1);
        ended += object[i].ends != 0;
    }
    return ended == OBJECTS;
}

/* seen: the object as the device sees it. */
static void ask_object(const struct owning *of, const struct kernel_args *held, unsigned which, volatile struct object *object,
                       struct object *seen)
{
    struct owning o = *of;
    enum owner owner = (enum owner)(which / OBJECT_TURNS);
    unsigned i;

    for (i = 0; i < CELLS; i++)
        object->word[i] = 1;
    object[0].ends = object[1].ends = 0;
    o.primary = o.dependent = *held;
    o.dependent.data = seen->word;
    o.dependent.seen = o.kept->args[2].data;
    o.object = object;
    o.beside = object + 1;
    if (owner == OWNED_BY_SECOND)
        ask_owned_by_second(&o, which % OBJECT_TURNS);
    else
        ask_owned(&o, owner, which % OBJECT_TURNS);
}

static void ask_objects(struct kept *kept, struct host_room *room, const struct kernel_args *held)
{
    struct owning o = PDL_ZERO;
    struct object *object = NULL, *seen = NULL;
    unsigned i;
    cudaError_t error = cudaHostAlloc((void **)&object, OBJECTS * sizeof(*object), cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&seen, object, 0);
    ask_expect(kept->ask, "pinned memory for objects", error, cudaSuccess);
    if (error != cudaSuccess || !open_late(kept, &o.gate_room, &o.gate))
        return;
    o.kept = kept;
    o.room = room;
    o.gate_room->plan.bound_ns = GATE_NS;
    for (i = 0; i < OBJECTS; i += 2)
        ask_object(&o, held, i / 2, &object[i], &seen[i]);
    if (expect_ends(kept->ask, object)) /* else they may still end */
        (void)cudaFreeHost(object);
    (void)cudaFreeHost(o.gate_room);
}

#endif
