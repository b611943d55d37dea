/* Executable graphs: which there are, and the calls that make, upload, launch and end them. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

enum { EXEC_MAGIC = 0x45584331 };

static struct graph_exec *execs;
static struct graph_exec *gone; /* the last one that was destroyed while it ran: for the device gone-exec-recycled */

struct graph_exec *exec_of(cudaGraphExec_t handle)
{
    struct graph_exec *e = (struct graph_exec *)(void *)handle;
    for (struct graph_exec *known = execs; known != NULL; known = known->next)
        if (known == e && e->magic == EXEC_MAGIC)
            return e;
    return NULL;
}

void execs_lose_arc(const struct graph *source)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->made_from == source->number && e->copy->arcs != 0)
            graph_drop_last_arc(e->copy);
}

void execs_turn(const struct node *from, const struct node *to)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = 0; i < e->copy->arcs; i++) {
            struct arc *a = &e->copy->arc[i];
            struct node *turned = a->from;
            if (turned->original != to || a->to->original != from)
                continue;
            a->from = a->to;
            a->to = turned;
        }
}

/* What an executable graph leaves out of the edges that its graph got once another one had been made of it. */
static void drop_later(struct graph *copy)
{
    const struct faults *f = &device.faults;
    for (size_t i = copy->arcs; i > 0; i--) {
        bool programmatic = copy->arc[i - 1].data.type == cudaGraphDependencyTypeProgrammatic;
        if (copy->arc[i - 1].later && (f->later_edge_not_made || (f->later_program_edge_not_made && programmatic)))
            graph_drop_arc(copy, i - 1);
    }
}

/* For the device lost-node-shifts: from the place of n on, nodes of executable graphs are known by those before them. */
void execs_shift(const struct node *n)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = n->index; e->made_from == n->graph->number && i + 1 < e->copy->nodes; i++)
            e->copy->node[i]->original = e->copy->node[i + 1]->original;
}

void execs_free(uint64_t source)
{
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->made_from == source)
            e->running = NULL;
}

static void CUDART_CB do_nothing(void *data)
{
    (void)data;
}

/* A memset, a copy or a host function does nothing. */
static void drop_op(struct op *op)
{
    op->move.rows = 0;
    if (op->kind == OP_HOST)
        op->host.call = do_nothing;
}

/* What a broken device leaves out of a launch that has not ended when the graph is destroyed that its executable graph was made from. */
static void source_stops(const struct graph *g)
{
    const struct faults *f = &device.faults;
    for (size_t i = 0; i < g->nodes; i++) {
        struct op *op = g->node[i]->op;
        bool to_come = op != NULL && !op->done;
        if (to_come && ((f->source_end_stops_sets && op->kind == OP_SET) || (f->source_end_stops_copies && op->kind == OP_COPY)))
            op->move.rows = 0;
        if (to_come && f->source_end_stops_hosts && op->kind == OP_HOST)
            op->host.call = do_nothing;
    }
}

void execs_lose_source(const struct graph *source)
{
    for (struct graph_exec *e = execs; e != NULL; e = e->next) {
        if (e->made_from != source->number)
            continue;
        e->source_gone = true;
        bool running = e->running != NULL && !e->running->retired;
        if (running && device.faults.source_end_cuts && e->in->tail == e->running)
            stream_cuts(e->in);
        if (running)
            source_stops(e->copy);
        if (device.faults.source_end_frees_exec)
            e->running = NULL;
        for (size_t i = 0; device.faults.source_end_enables && i < e->copy->nodes; i++)
            e->copy->node[i]->disabled = false;
    }
}

void execs_leave(const struct stream *s)
{
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->in == s)
            e->running = NULL;
}

struct node *execs_oldest(const struct node *n)
{
    struct node *oldest = NULL; /* the list begins with the newest */
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = 0; i < e->copy->nodes; i++)
            if (e->copy->node[i]->original == n->original)
                oldest = e->copy->node[i];
    return oldest;
}

void execs_disable(const struct node *n)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = 0; i < e->copy->nodes; i++)
            e->copy->node[i]->disabled |= e->copy->node[i]->original == n->original;
}

void execs_take_kinds(const struct graph_exec *e)
{
    for (struct graph_exec *o = execs; o != NULL; o = o->next)
        if (o->made_from == e->made_from)
            kinds_reach(o->copy, e->copy);
}

void execs_take_child_kinds(const struct graph_exec *e, const struct node *n)
{
    for (struct graph_exec *o = execs; o != NULL; o = o->next)
        if (o->made_from == e->made_from && o->copy->nodes == e->copy->nodes)
            kinds_reach(o->copy->node[n->index]->child[0], n->child[0]);
}

void execs_set(const struct node *n)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = 0; i < e->copy->nodes; i++)
            if (e->copy->node[i]->original == n->original)
                e->copy->node[i]->move = n->move;
}

static void node_rest_takes(struct op *op, const struct node *n)
{
    if (op == NULL || op->ready)
        return;
    op->move = n->move;
    if (op->host.call != NULL) {
        op->host.call = n->host.fn;
        op->host.data = n->host.userData;
    }
    if (op->grid != NULL)
        memcpy(op->grid->args, n->kernel->args, op->grid->kernel->args_bytes);
}

void bodies_take(const struct graph *of, const struct graph *from)
{
    for (size_t i = 0; i < of->nodes; i++)
        for (unsigned c = 0; of->node[i]->type == cudaGraphNodeTypeConditional && c < of->node[i]->children; c++)
            rest_takes(of->node[i]->child[c], from->node[i]->child[c]);
}

void rest_takes(const struct graph *of, const struct graph *from)
{
    for (size_t i = 0; i < of->nodes; i++) {
        struct op *op = of->node[i]->op;
        const struct node *n = from->node[i];
        if (op == NULL || op->ready)
            continue;
        node_rest_takes(op, n);
        for (unsigned c = 0; c < n->children; c++)
            rest_takes(of->node[i]->child[c], n->child[c]);
    }
}

void execs_rest_set(const struct node *n)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        for (size_t i = 0; e->running != NULL && !e->running->retired && i < e->copy->nodes; i++) {
            const struct node *sibling = e->copy->node[i];
            if (sibling->original == n->original && sibling != n)
                node_rest_takes(sibling->op, n);
        }
}

const struct graph_exec *exec_newest(const struct graph_exec *e)
{
    const struct graph_exec *newest = execs; /* the list begins with the newest */
    while (newest->made_from != e->made_from)
        newest = newest->next;
    return newest;
}

bool exec_under_way(const struct graph_exec *e)
{
    unsigned begun = 0, waiting = 0;
    for (size_t i = 0; e->running != NULL && !e->running->retired && i < e->copy->nodes; i++) {
        const struct op *op = e->copy->node[i]->op;
        begun += op != NULL && op->ready;
        waiting += op != NULL && !op->ready;
    }
    return begun != 0 && waiting != 0;
}

bool exec_made(const struct graph *g)
{
    for (const struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->copy == g)
            return true;
    return false;
}

static void forget_gone(void)
{
    if (gone != NULL)
        graph_delete(gone->copy);
    free(gone);
    gone = NULL;
}

static bool same_kinds(const struct graph *a, const struct graph *b)
{
    if (a->nodes != b->nodes)
        return false;
    for (size_t i = 0; i < a->nodes; i++) {
        if (a->node[i]->type != b->node[i]->type || a->node[i]->children != b->node[i]->children)
            return false;
        for (unsigned c = 0; c < a->node[i]->children; c++)
            if (!same_kinds(a->node[i]->child[c], b->node[i]->child[c]))
                return false;
    }
    return true;
}

/* Another executable graph is made of a graph like this. */
static void gone_recycled(const struct graph *g)
{
    if (gone == NULL)
        return;
    if (gone->running != NULL && !gone->running->retired && same_kinds(gone->copy, g))
        rest_takes(gone->copy, g);
    forget_gone();
}

void execs_reset(void)
{
    free(gone); /* its graph goes with all others */
    gone = NULL;
    while (execs != NULL) {
        struct graph_exec *next = execs->next;
        free(execs);
        execs = next;
    }
}

void execs_forget_retired(void)
{
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        upload_ends(e, NULL);
    if (gone != NULL && (gone->running == NULL || gone->running->retired))
        forget_gone();
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->running != NULL && (e->running->retired || device.faults.host_wait_forgets_exec))
            e->running = NULL;
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->first != NULL && e->first->retired)
            e->first = NULL;
    for (struct graph_exec *e = execs; e != NULL; e = e->next)
        if (e->leaf != NULL && e->leaf->retired) {
            e->leaf = NULL;
            e->running = device.faults.exec_waits_for_last ? NULL : e->running;
        }
}

/* ---- the calls ---- */

/* For the device cooperative-in-body-is-plain: the node keeps its attribute, and its launch is none. */
static void bodies_lose_cooperative(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        struct node *n = g->node[i];
        for (unsigned c = 0; c < n->children; c++)
            bodies_lose_cooperative(n->child[c]);
        if (n->kernel != NULL && graph_is_inside(g, cudaGraphNodeTypeConditional))
            n->kernel->cooperative = false;
    }
}

/* For the device same-shape-cached: the edges have the data that an executable graph of the same graph has, if it has them all. */
static void take_cached_data(struct graph *copy, uint64_t source)
{
    const struct graph_exec *o = execs; /* the newest one */
    while (o != NULL && o->made_from != source)
        o = o->next;
    if (o == NULL || o->copy->arcs != copy->arcs)
        return;
    for (size_t i = 0; i < copy->arcs; i++)
        for (size_t k = 0; k < copy->arcs; k++)
            if (o->copy->arc[k].from->index == copy->arc[i].from->index && o->copy->arc[k].to->index == copy->arc[i].to->index)
                copy->arc[i].data = o->copy->arc[k].data;
}

cudaError_t graph_instantiate(cudaGraphExec_t *out, cudaGraph_t handle, unsigned long long flags)
{
    struct graph *g = graph_of(handle);
    if (g != NULL && device.faults.refused_graph_stays_refused) {
        FAIL_IF(g->refused, cudaErrorInvalidValue);
        g->refused = graph_has_cycle(g) || !bodies_hold_the_allowed(g, false);
    }
    for (size_t i = 0; device.faults.failed_instance_fills && g != NULL && graph_has_cycle(g) && i < g->arcs; i++)
        g->arc[i].data = full_edge;
    FAIL_IF(out == NULL || g == NULL || (graph_has_cycle(g) && !device.faults.cycles_accepted), cudaErrorInvalidValue);
    FAIL_IF(!bodies_hold_the_allowed(g, false), cudaErrorNotSupported);
    for (const struct graph_exec *o = execs; graph_has_memory(g) && !device.faults.memory_made_twice && o != NULL; o = o->next)
        FAIL_IF(o->made_from == g->number, cudaErrorNotSupported);
    struct graph_exec *e = calloc(1, sizeof *e);
    FAIL_IF(e == NULL, cudaErrorMemoryAllocation);
    e->magic = EXEC_MAGIC;
    e->copy = graph_copy(g);
    if (device.faults.exec_takes_no_object)
        objects_lose(e->copy);
    gone_recycled(e->copy);
    drop_later(e->copy);
    if (device.faults.same_shape_cached)
        take_cached_data(e->copy, g->number);
    g->made = true;
    g->made_of = g->nodes;
    if (device.faults.cooperative_in_body_is_plain)
        bodies_lose_cooperative(e->copy);
    for (struct graph_exec *o = execs; device.faults.sibling_frees && o != NULL; o = o->next)
        if (o->made_from == g->number)
            o->running = NULL;
    unsigned others = 0, alike = 0;
    for (const struct graph_exec *o = execs; o != NULL; o = o->next) {
        others++;
        alike += o->made_from == g->number;
    }
    e->features |= alike != 0 ? HAS(secondexec) : 0;
    if (device.faults.second_exec_cooperative_is_plain && alike != 0)
        graph_starts_in_parts(e->copy, false);
    bool drops_edge = (device.faults.third_exec_drops_edge && alike >= 2) || (device.faults.ninth_exec_loses_edge && others >= 8);
    drops_edge |= device.faults.exec_of_cloned_loses_edge && g->clones >= 3;
    for (const struct graph_exec *o = execs; device.faults.instance_under_way_loses_edge && o != NULL; o = o->next)
        drops_edge |= o->made_from == g->number && o->running != NULL && !o->running->retired;
    if (drops_edge)
        graph_drop_last_arc(e->copy);
    e->made_elsewhere = device.other_thread;
    e->frames_then = device.largest_frame;
    e->made_from = e->taken_from = g->number;
    e->taken = device.faults.unchanged_update_ignored ? graph_does(g) : 0;
    e->flags = flags & ~(unsigned long long)cudaGraphInstantiateFlagUpload; /* that one is not told */
    e->next = execs;
    execs = e;
    *out = (cudaGraphExec_t)(void *)e;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    CALL(cudaGraphInstantiate);
    return graph_instantiate(out, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    CALL(cudaGraphInstantiateWithFlags);
    cudaError_t error = graph_instantiate(out, graph, flags);
    if (device.faults.flagged_instance_loses_edge && error == cudaSuccess)
        graph_drop_last_arc(execs->copy);
    if (device.faults.flagged_instance_tells_none && error == cudaSuccess)
        execs->flags = 0;
    return error;
}

/* For the device upload-counts-anew: in the launch under way, each node that waits for several others waits for one more only. */
static void counts_begin_anew(const struct graph_exec *e)
{
    const bool under_way = exec_under_way(e);
    for (size_t i = 0; under_way && i < e->copy->nodes; i++) {
        struct op *op = e->copy->node[i]->op;
        if (op != NULL && op->blocked > 1)
            op->blocked = 1; /* what ends later than the first counts below 0, which lets nothing go */
    }
}

cudaError_t graph_upload(cudaGraphExec_t handle, cudaStream_t stream)
{
    if (exec_of(handle) == NULL && device.faults.upload_of_nothing_taken)
        return cudaSuccess;
    FAIL_IF(exec_of(handle) == NULL, cudaErrorInvalidValue);
    FAIL_IF(stream_of(stream) == NULL, cudaErrorInvalidResourceHandle);
    if (device.faults.upload_forgets_events)
        stream_of(stream)->waits = 0;
    if (device.faults.upload_cuts)
        stream_cuts(stream_of(stream));
    for (size_t i = 0; device.faults.upload_enables && i < exec_of(handle)->copy->nodes; i++)
        exec_of(handle)->copy->node[i]->disabled = false;
    conditions_stay(exec_of(handle), device.faults.upload_takes_left_condition);
    exec_of(handle)->features |= HAS(uploaded);
    if (device.faults.upload_while_out_uncovers)
        arcs_lose(exec_of(handle)->copy, NULL);
    if (device.faults.upload_counts_anew)
        counts_begin_anew(exec_of(handle));
    upload_waits(exec_of(handle), stream_of(stream));
    if (device.faults.upload_frees_exec)
        exec_of(handle)->running = NULL;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream)
{
    CALL(cudaGraphUpload);
    return graph_upload(handle, stream);
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    CALL(cudaGraphLaunch);
    struct graph_exec *e = exec_of(handle);
    struct stream *s = stream_of(stream);
    if (device.faults.refused_graph_cuts && e == NULL && s != NULL)
        stream_cuts(s);
    FAIL_IF(e == NULL, cudaErrorInvalidValue);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(legacy_use_spoils(s), cudaErrorStreamCaptureImplicit);
    FAIL_IF(s->capture != NULL, cudaErrorStreamCaptureUnsupported);
    FAIL_IF(!graph_memory_launched(e->copy, e->flags), cudaErrorInvalidValue);
    return call_result(graph_queue(e, s));
}

/* What a broken device leaves out of a launch that has not ended when its executable graph is destroyed. */
static void stop_running(const struct graph *g, bool queued_too)
{
    for (size_t i = 0; i < g->nodes; i++) {
        struct op *op = g->node[i]->op;
        bool to_come = op != NULL && !op->done;
        if (device.faults.destroyed_exec_stops && to_come && op->kind == OP_SET)
            op->move.rows = 0;
        if (device.faults.destroyed_exec_drops_queued && to_come && queued_too)
            drop_op(op);
        if (device.faults.destroyed_child_stops && to_come && op->kind == OP_HOST && g->owner != NULL)
            op->host.call = do_nothing;
        if (device.faults.exec_end_frees_waits && to_come && op->kind == OP_KERNEL && op->turn)
            op->waits_freed = true;
        if (g->node[i]->type == cudaGraphNodeTypeGraph)
            stop_running(g->node[i]->child[0], queued_too);
    }
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    CALL(cudaGraphExecDestroy);
    struct graph_exec *e = exec_of(handle);
    FAIL_IF(e == NULL, cudaErrorInvalidValue);
    for (struct graph_exec **at = &execs; *at != NULL; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            break;
        }
    for (struct graph_exec *o = execs; device.faults.sibling_end_frees && o != NULL; o = o->next)
        if (o->made_from == e->made_from)
            o->running = NULL;
    exec_ends_loops(e);
    if (e->running != NULL && !e->running->retired)
        stop_running(e->copy, e->in_flight > 1);
    waiters_recheck();
    if (device.faults.exec_end_frees_stream && e->running != NULL && !e->running->retired && e->in != NULL)
        e->in->waits = 0;
    for (size_t i = 0; device.faults.exec_end_writes_back && i < e->copy->nodes; i++)
        node_takes_back(e->copy->node[i]);
    if (device.faults.gone_exec_recycled && e->running != NULL && !e->running->retired) {
        forget_gone();
        gone = e;
        return cudaSuccess;
    }
    if (e->as_uploaded != NULL)
        graph_delete(e->as_uploaded);
    if (device.faults.exec_end_frees_memory)
        graph_memory_ends(e->copy);
    if (!device.faults.destroyed_exec_ends_objects)
        objects_wait_for(e->copy, e);
    graph_delete(e->copy);
    free(e);
    return cudaSuccess;
}
