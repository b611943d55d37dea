/* User objects: what graphs refer to, and a function that is called once nothing refers to it any more. A graph's copies refer to what it does, and
 * so does a launch until it has ended. */
#include "api.h"

#include <stdlib.h>

enum { OBJECT_MAGIC = 0x0B7EC700 };

struct user_object {
    uint32_t magic;
    cudaHostFn_t destroy;
    void *data;
    unsigned long long references;
};

struct object_reference { /* of a graph; or of a launch, until that has ended */
    struct user_object *object;
    unsigned count;
    const struct op *held_by;
    struct object_reference *next;
};
static struct object_reference *held;
static bool forgotten; /* the memory of what was made before a reset is gone */

static struct user_object *object_of(cudaUserObject_t handle)
{
    struct user_object *object = (struct user_object *)(void *)handle;
    return object != NULL && object->magic == OBJECT_MAGIC ? object : NULL;
}

static void object_loses(struct user_object *object, unsigned count)
{
    object->references -= count < object->references ? count : object->references;
    if (object->references != 0)
        return;
    object->magic = 0;
    if (!forgotten)
        object->destroy(object->data);
    free(object);
}

static void refers(struct object_reference **to, struct user_object *object, unsigned count)
{
    struct object_reference *r = calloc(1, sizeof *r);
    if (r == NULL)
        abort();
    r->object = object;
    r->count = count;
    r->next = *to;
    *to = r;
}

void objects_follow(struct graph *copy, const struct graph *g)
{
    for (const struct object_reference *r = g->objects; r != NULL; r = device.faults.one_object_copied ? NULL : r->next) {
        refers(&copy->objects, r->object, r->count);
        r->object->references += r->count;
    }
}

void objects_lose(struct graph *g)
{
    while (g->objects != NULL) {
        struct object_reference *r = g->objects;
        g->objects = r->next;
        object_loses(r->object, r->count);
        free(r);
    }
}

void objects_wait(struct graph *g, const struct op *running)
{
    if (running == NULL || running->retired)
        return;
    while (g->objects != NULL) {
        struct object_reference *r = g->objects;
        g->objects = r->next;
        r->held_by = running;
        r->next = held;
        held = r;
    }
    for (size_t i = 0; i < g->nodes; i++)
        for (unsigned c = 0; c < g->node[i]->children; c++)
            objects_wait(g->node[i]->child[c], running);
}

void objects_wait_for(struct graph *g, const struct graph_exec *e)
{
    bool by_first = device.faults.objects_wait_for_first && e->running != NULL && !e->running->retired;
    if (by_first && (e->first == NULL || e->first->retired))
        return;
    objects_wait(g, by_first ? e->first : e->running);
}

void objects_forget_retired(void)
{
    for (struct object_reference **at = &held; *at != NULL;) {
        struct object_reference *r = *at;
        if (!r->held_by->retired) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        object_loses(r->object, r->count);
        free(r);
    }
}

void objects_reset(bool begins)
{
    forgotten = begins;
    while (begins && held != NULL) {
        struct object_reference *r = held;
        held = r->next;
        object_loses(r->object, r->count);
        free(r);
    }
}

/* ---- the calls ---- */

cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned references, unsigned flags)
{
    CALL(cudaUserObjectCreate);
    FAIL_IF(out == NULL || destroy == NULL || references == 0, cudaErrorInvalidValue);
    FAIL_IF(flags != cudaUserObjectNoDestructorSync && !device.faults.object_flags_taken, cudaErrorInvalidValue);
    struct user_object *object = calloc(1, sizeof *object);
    FAIL_IF(object == NULL, cudaErrorMemoryAllocation);
    object->magic = OBJECT_MAGIC;
    object->destroy = destroy;
    object->data = data;
    object->references = references;
    *out = (cudaUserObject_t)(void *)object;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t handle, unsigned count)
{
    CALL(cudaUserObjectRetain);
    FAIL_IF(object_of(handle) == NULL || count == 0, cudaErrorInvalidValue);
    FAIL_IF(device.faults.retain_of_one_refused && count == 1, cudaErrorInvalidValue);
    object_of(handle)->references += count;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t handle, unsigned count)
{
    CALL(cudaUserObjectRelease);
    FAIL_IF(object_of(handle) == NULL || count == 0, cudaErrorInvalidValue);
    object_loses(object_of(handle), count);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count, unsigned flags)
{
    CALL(cudaGraphRetainUserObject);
    struct user_object *object = object_of(handle);
    FAIL_IF(graph_of(graph) == NULL || object == NULL || count == 0 || flags > cudaGraphUserObjectMove, cudaErrorInvalidValue);
    if (flags == 0)
        object->references += count;
    refers(&graph_of(graph)->objects, object, count);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count)
{
    CALL(cudaGraphReleaseUserObject);
    struct user_object *object = object_of(handle);
    FAIL_IF(graph_of(graph) == NULL || object == NULL || count == 0, cudaErrorInvalidValue);
    struct object_reference **at = &graph_of(graph)->objects;
    while (*at != NULL && (*at)->object != object && !device.faults.newest_object_released)
        at = &(*at)->next;
    struct object_reference *r = *at;
    FAIL_IF(r == NULL || (r->count < count && !device.faults.newest_object_released), cudaErrorInvalidValue);
    object = r->object;
    count = count < r->count ? count : r->count;
    count = device.faults.object_references_go_at_once ? r->count : count;
    r->count -= count;
    if (r->count == 0) {
        *at = r->next;
        free(r);
    }
    object_loses(object, count);
    return cudaSuccess;
}
