/* kept_objects.h - the part of the pair running of kept.cu with user objects: what a graph refers to lives as long as the graph, its copies and
 * their launches, and ends once. */
#ifndef KEPT_OBJECTS_H_INCLUDED
#define KEPT_OBJECTS_H_INCLUDED

/* What refers to the object in the end: an executable graph of the graph, of its clone, of a graph around it, one of two, one that was updated from
 * the graph or given it for a child graph, or one that was updated from another graph while its launch is under way. */
enum owner { OWNED_BY_EXEC, OWNED_BY_CLONE, OWNED_BY_PARENT, OWNED_BY_SIBLING, OWNED_BY_UPDATED, OWNED_BY_GIVEN, OWNED_BY_LAUNCH, OWNERS };
static const char *const owner_name[OWNERS] = { "an executable graph", "an executable graph of a clone", "an executable graph around a child graph",
                                                "one of two executable graphs", "an updated executable graph",
                                                "an executable graph that was given another child graph",
                                                "a launch of an executable graph that is updated" };

#define OBJECT_TURNS 2u        /* of each owner: with one reference or three, moved to the graph or not; the launch is under way, or has ended */
#define OBJECTS (OWNERS * OBJECT_TURNS)
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
    volatile struct object *object;
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

/* The graph has one reference in the end, and the caller none. */
static cudaError_t give_object(const struct owning *o, unsigned references, int moves)
{
    cudaUserObject_t object = NULL;
    cudaError_t error = cudaUserObjectCreate(&object, (void *)(uintptr_t)o->object, object_ends, 1, cudaUserObjectNoDestructorSync);

    if (error == cudaSuccess && references > 1)
        error = cudaUserObjectRetain(object, references - 1);
    if (error == cudaSuccess)
        error = cudaGraphRetainUserObject(o->graph, object, references, moves ? cudaGraphUserObjectMove : 0);
    if (error == cudaSuccess && !moves)
        error = cudaUserObjectRelease(object, references);
    if (error == cudaSuccess && references > 1)
        error = cudaGraphReleaseUserObject(o->graph, object, references - 1);
    return error;
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
    if (owner == OWNED_BY_UPDATED || owner == OWNED_BY_LAUNCH)
        error = make_owned(o, &o->other);
    if (error == cudaSuccess)
        error = cudaGraphInstantiateWithFlags(&o->exec, o->other && owner != OWNED_BY_LAUNCH ? o->other : o->graph, 0);
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
    if (error == cudaSuccess && o->other && owner != OWNED_BY_LAUNCH)
        error = cudaGraphDestroy(o->other);
    return error;
}

/* by_launch: only while the launch is under way, which nobody keeps so for ever. */
static void expect_alive(const struct owning *o, const char *text, int by_launch)
{
    struct ask *ask = o->kept->ask;
    unsigned looks, ends;
    int judged;

    for (looks = 0; looks < OBJECT_LOOKS && !o->object->ends; looks++)
        (void)cudaStreamQuery(ask->side);
    ends = o->object->ends;
    judged = !by_launch || cudaStreamQuery(ask->stream) == cudaErrorNotReady;
    (void)cudaGetLastError();
    if (judged)
        ask_expect_number(ask, text, (long)ends, 0);
}

/* "When a cudaGraphExec_t is destroyed without being synchronized, the references are retained until the execution is completed": so they are when an
 * update replaces them. With two executable graphs of one graph the launch is waited for. */
static void ask_owned(struct owning *o, enum owner owner, unsigned turn)
{
    struct ask *ask = o->kept->ask;
    struct trial_state empty = PDL_ZERO;
    int under_way = turn == 0 && owner != OWNED_BY_SIBLING, moves = owner / 2 % 2 != 0;
    char text[128];

    snprintf(text, sizeof(text), "an object of %s%s", owner_name[owner], under_way ? ", which is destroyed while it runs" : "");
    o->room->state = empty;
    (void)words_then(o->kept);
    ask_expect(ask, text, make_owned(o, &o->graph), cudaSuccess);
    ask_expect(ask, text, give_object(o, (owner + turn) % 2 ? 3 : 1, moves), cudaSuccess);
    ask_expect(ask, text, make_owner(o, owner), cudaSuccess);
    ask_expect(ask, text, drop_sources(o, owner), cudaSuccess);
    expect_alive(o, text, 0);
    ask_expect(ask, text, cudaGraphLaunch(o->exec, ask->stream), cudaSuccess);
    if (owner == OWNED_BY_LAUNCH) {
        ask_expect(ask, text, update_from(o->exec, o->other), cudaSuccess);
        ask_expect(ask, text, cudaGraphDestroy(o->other), cudaSuccess);
    }
    if (under_way)
        ask_expect(ask, text, cudaGraphExecDestroy(o->exec), cudaSuccess);
    expect_alive(o, text, under_way || owner == OWNED_BY_LAUNCH);
    *(volatile uint32_t *)&o->room->state.alive = 1;
    ask_expect_number(ask, text, words_then(o->kept), 1 | 1 << 2);
    if (!under_way)
        ask_expect(ask, text, cudaGraphExecDestroy(o->exec), cudaSuccess);
}

/* "The object's destructor is invoked if the reference count reaches zero", by another thread. Returns whether all have ended. */
static int expect_ends(struct ask *ask, volatile const struct object *object)
{
    unsigned polls = 0, ended = 0, i;
    char text[128];

    for (i = 0; i < OBJECTS; i++) {
        for (; polls < OBJECT_POLLS && !object[i].ends; polls++)
            (void)cudaStreamQuery(ask->stream);
        snprintf(text, sizeof(text), "how often an object of %s ended", owner_name[i / OBJECT_TURNS]);
        ask_expect_number(ask, text, (long)object[i].ends, 1);
        ended += object[i].ends != 0;
    }
    return ended == OBJECTS;
}

/* seen: the object as the device sees it. */
static void ask_object(struct kept *kept, struct host_room *room, const struct kernel_args *held, unsigned which, volatile struct object *object,
                       struct object *seen)
{
    struct owning o = PDL_ZERO;
    unsigned i;

    for (i = 0; i < CELLS; i++)
        object->word[i] = 1;
    object->ends = 0;
    o.kept = kept;
    o.room = room;
    o.primary = o.dependent = *held;
    o.dependent.data = seen->word;
    o.dependent.seen = kept->args[2].data;
    o.object = object;
    ask_owned(&o, (enum owner)(which / OBJECT_TURNS), which % OBJECT_TURNS);
}

static void ask_objects(struct kept *kept, struct host_room *room, const struct kernel_args *held)
{
    struct object *object = NULL, *seen = NULL;
    unsigned i;
    cudaError_t error = cudaHostAlloc((void **)&object, OBJECTS * sizeof(*object), cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&seen, object, 0);
    ask_expect(kept->ask, "pinned memory for objects", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    for (i = 0; i < OBJECTS; i++)
        ask_object(kept, room, held, i, &object[i], &seen[i]);
    if (expect_ends(kept->ask, object)) /* else they may still end */
        (void)cudaFreeHost(object);
}

#endif
