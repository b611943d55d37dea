/* Nodes of graphs that allocate memory and free it. The memory is there from the node on, at an address that it keeps. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

struct graph_memory {
    void *p;
    size_t bytes;
    uint64_t graph;            /* the number of the graph whose node allocates it */
    const struct node *frees;  /* a node of that graph; NULL: none */
    bool freed_elsewhere;      /* a node of another graph frees it */
    bool given;                /* once it was freed, to a later node */
    bool held;                 /* since a launch, and not freed by that one */
    struct graph_memory *next;
};
static struct graph_memory *memories;

void graph_memories_reset(void)
{
    while (memories != NULL) {
        struct graph_memory *next = memories->next;
        free(memories);
        memories = next;
    }
}

static bool is_freed(const struct graph_memory *m) { return m->frees != NULL || m->freed_elsewhere; }

/* What is not freed counts before what is. */
static struct graph_memory *memory_at(const void *p)
{
    struct graph_memory *found = NULL;
    for (struct graph_memory *m = memories; m != NULL; m = m->next) /* the one that was allocated last comes first */
        if (m->p == p && (found == NULL || (is_freed(found) && !is_freed(m))))
            found = m;
    return found;
}

bool graph_has_memory(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->memory != NULL)
            return true;
    return false;
}

static bool comes_after(const struct node *n, const struct node *other)
{
    if (n == other)
        return true;
    for (size_t i = 0; i < n->graph->arcs; i++)
        if (n->graph->arc[i].to == n && comes_after(n->graph->arc[i].from, other))
            return true;
    return false;
}

static unsigned allocated_by(const struct graph *g)
{
    unsigned count = 0;
    for (const struct graph_memory *m = memories; m != NULL; m = m->next)
        count += m->graph == g->number;
    return count;
}

/* Whether the graph of that number is a child graph of this one. */
static bool holds_child(const struct graph *g, uint64_t number)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->type == cudaGraphNodeTypeGraph && g->node[i]->child[0]->number == number)
            return true;
    return false;
}

/* Memory that a node before this one has freed; NULL: none of that size */
static struct graph_memory *memory_for(const struct node *n, size_t bytes)
{
    const struct faults *f = &device.faults;
    const bool third = f->third_alloc_node_shares && allocated_by(n->graph) >= 2;
    for (struct graph_memory *m = memories; m != NULL; m = m->next) {
        bool same = m->graph == n->graph->number, ordered = same && m->frees != NULL && comes_after(n, m->frees);
        ordered |= same && m->frees != NULL && f->alloc_nodes_share;
        ordered |= !same && m->frees != NULL && f->graphs_share_allocations;
        ordered |= !same && m->frees == NULL && !m->freed_elsewhere && f->graphs_share_unfreed;
        ordered |= !same && m->frees == NULL && m->freed_elsewhere && f->left_memory_shared;
        ordered |= same && third;
        ordered |= f->moved_allocations_shared && m->frees != NULL && holds_child(n->graph, m->graph);
        if (ordered && !m->given && (m->bytes == bytes || (f->alloc_pieces_overlap && m->bytes > bytes)))
            return m;
    }
    return NULL;
}

/* The node stands in its graph by now. */
static cudaError_t node_allocates(struct node *n, size_t bytes, void **p)
{
    struct graph_memory *before = memory_for(n, bytes), *m = calloc(1, sizeof *m);
    FAIL_IF(m == NULL, cudaErrorMemoryAllocation);
    m->p = before != NULL ? before->p : memory_allocate(bytes, false);
    if (before != NULL)
        before->given = before->bytes == bytes; /* else the device alloc-pieces-overlap gives it again */
    if (m->p != NULL)
        memory_marks(MARK_OF_GRAPH, m->p, bytes);
    m->bytes = bytes;
    m->graph = n->graph->number;
    m->next = memories;
    memories = m;
    n->memory = m;
    *p = m->p;
    return m->p == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

/* The memory that such a node may free; NULL: none */
static struct graph_memory *memory_to_free(const void *p)
{
    struct graph_memory *m = memory_at(p);
    bool twice = m != NULL && is_freed(m);
    return twice && !device.faults.second_free_node_taken ? NULL : m;
}

static void node_frees(struct node *n, struct graph_memory *m)
{
    n->memory = m;
    n->frees = true;
    if (m->graph == n->graph->number)
        m->frees = n;
    else
        m->freed_elsewhere = true;
}

/* ---- the calls ---- */

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                               struct cudaMemAllocNodeParams *p)
{
    CALL(cudaGraphAddMemAllocNode);
    FAIL_IF(out == NULL || graph_of(graph) == NULL || (count != 0 && deps == NULL) || p == NULL || p->bytesize == 0, cudaErrorInvalidValue);
    struct node *n = node_new(graph_of(graph), cudaGraphNodeTypeMemAlloc);
    cudaError_t error = node_finish(out, n, deps, NULL, count);
    return error == cudaSuccess ? node_allocates(n, p->bytesize, &p->dptr) : error;
}

cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, void *p)
{
    CALL(cudaGraphAddMemFreeNode);
    FAIL_IF(out == NULL || graph_of(graph) == NULL || (count != 0 && deps == NULL), cudaErrorInvalidValue);
    struct graph_memory *m = memory_to_free(p);
    FAIL_IF(m == NULL, cudaErrorInvalidValue);
    struct node *n = node_new(graph_of(graph), cudaGraphNodeTypeMemFree);
    node_frees(n, m);
    return node_finish(out, n, deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p)
{
    CALL(cudaGraphMemAllocNodeGetParams);
    struct node *n = node_of_type(node, cudaGraphNodeTypeMemAlloc);
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    p->bytesize = n->memory->bytes;
    p->dptr = n->memory->p;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
    CALL(cudaGraphMemFreeNodeGetParams);
    struct node *n = node_of_type(node, cudaGraphNodeTypeMemFree);
    FAIL_IF(n == NULL || out == NULL, cudaErrorInvalidValue);
    *(void **)out = n->memory->p;
    return cudaSuccess;
}

/* ---- captured ---- */

cudaError_t capture_memory(struct stream *s, void **p, size_t bytes)
{
    struct node *n = node_new(capture_graph(s), cudaGraphNodeTypeMemAlloc);
    cudaError_t error = device.faults.captured_allocation_loose ? cudaSuccess : capture_node(s, n);
    return error == cudaSuccess ? node_allocates(n, bytes, p) : error;
}

cudaError_t capture_end_of_memory(struct stream *s, const void *p)
{
    struct graph_memory *m = memory_to_free(p);
    FAIL_IF(m == NULL, cudaErrorInvalidValue);
    struct node *n = node_new(capture_graph(s), cudaGraphNodeTypeMemFree);
    node_frees(n, m);
    return device.faults.captured_free_loose ? cudaSuccess : capture_node(s, n);
}

/* ---- launched ---- */

/* "each launch behaves as though it called cudaMemFreeAsync for every unfreed allocation": else it is refused while one is held. */
bool graph_memory_launched(const struct graph *g, unsigned long long flags)
{
    bool frees = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0 || device.faults.held_allocation_launched;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->memory != NULL && !g->node[i]->frees && g->node[i]->memory->held && !frees)
            return false;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->memory != NULL)
            g->node[i]->memory->held = !g->node[i]->frees && g->node[i]->memory->frees == NULL;
    return true;
}

/* What is held is in use. */
cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int index)
{
    CALL(cudaDeviceGraphMemTrim);
    FAIL_IF(index != current_device(), cudaErrorInvalidDevice);
    if (device.faults.graph_trim_ends_frees)
        pools_end_frees(NULL);
    for (struct graph_memory *m = memories; device.faults.trim_takes_held && m != NULL; m = m->next)
        if (m->held)
            memset(m->p, 0xa5, m->bytes);
    return cudaSuccess;
}

/* What its launches left allocated is anybody's. */
void graph_memory_ends(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        const struct graph_memory *m = g->node[i]->memory;
        if (m != NULL && m->held)
            pool_takes_left(m->p, m->bytes, stream_of(cudaStreamLegacy));
    }
}

/* Whether a launch has allocated it, and nobody freed it yet: now it is free. */
bool graph_memory_freed(const void *p, size_t *bytes)
{
    for (struct graph_memory *m = memories; m != NULL; m = m->next)
        if (m->p == p && m->held) {
            m->held = false;
            *bytes = m->bytes;
            return true;
        }
    return false;
}
