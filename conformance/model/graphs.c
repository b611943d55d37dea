/* Graphs: nodes, edges and which of them are legal, and copies. */
#include "api.h"
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH_MAGIC = 0x47524631, NODE_MAGIC = 0x4e4f4431 };

static struct graph *graphs;
static uint64_t graphs_made;

static void *grown(void *array, size_t count, size_t *room, size_t each)
{
    if (count < *room)
        return array;
    *room = *room != 0 ? 2 * *room : 16;
    array = realloc(array, *room * each);
    if (array == NULL) {
        fputs("pdl model: no memory for a graph\n", stderr);
        abort();
    }
    return array;
}

struct graph *graph_of(cudaGraph_t handle)
{
    struct graph *g = (struct graph *)(void *)handle;
    for (struct graph *known = graphs; known != NULL; known = known->next)
        if (known == g)
            return g;
    return NULL;
}

struct node *node_of(cudaGraphNode_t handle)
{
    struct node *n = (struct node *)(void *)handle;
    return n != NULL && n->magic == NODE_MAGIC ? n : NULL;
}

struct graph *graph_new(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (g == NULL)
        abort();
    g->magic = GRAPH_MAGIC;
    g->number = ++graphs_made;
    g->made_elsewhere = device.other_thread;
    g->next = graphs;
    if (graphs != NULL)
        graphs->previous = g;
    graphs = g;
    return g;
}

static void node_delete(struct node *n)
{
    n->magic = 0;
    for (unsigned i = 0; i < n->children; i++)
        if (n->child[i] != NULL)
            graph_delete(n->child[i]);
    free(n->kernel);
    free(n->body);
    free(n);
}

void node_drop_last(struct graph *g)
{
    node_delete(g->node[--g->nodes]);
}

void node_owns(struct node *n, struct graph *child)
{
    child->owner = n;
    n->child[n->children++] = child;
}

void graph_delete(struct graph *g)
{
    for (size_t i = 0; i < g->nodes; i++)
        node_delete(g->node[i]);
    for (unsigned i = 0; g->owner != NULL && i < g->owner->children; i++)
        if (g->owner->child[i] == g)
            g->owner->child[i] = NULL;
    while (g->conditions != NULL) {
        struct condition *next = g->conditions->next;
        free(g->conditions);
        g->conditions = next;
    }
    objects_lose(g);
    free(g->lost_kernel);
    free(g->node);
    free(g->arc);
    if (g->previous != NULL)
        g->previous->next = g->next;
    else
        graphs = g->next;
    if (g->next != NULL)
        g->next->previous = g->previous;
    free(g);
}

/* Which copies lose what the graph loses, on the devices where any do. */
static bool loses_too(const struct graph *g, bool clones, bool children)
{
    return g->owner != NULL ? children && graph_is_inside(g, cudaGraphNodeTypeGraph) : clones && !exec_made(g);
}

void graphs_lose_arc(const struct node *from, const struct node *to)
{
    for (struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = g->arcs; loses_too(g, false, device.faults.removal_reaches_children) && i > 0; i--)
            if (g->arc[i - 1].from->original == from && g->arc[i - 1].to->original == to)
                graph_drop_arc(g, i - 1);
}

void graphs_follow_attribute(const struct node *original, const cudaLaunchAttribute *a)
{
    for (const struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = 0; i < g->nodes; i++)
            if (g->node[i]->original == original && g->node[i]->kernel != NULL && g->node[i]->kernel->num_attrs < MODEL_MAX_ATTRS) {
                struct request *r = g->node[i]->kernel;
                request_attribute(r, a);
                unsigned k = 0;
                while (k < r->num_attrs && r->attrs[k].id != a->id)
                    k++;
                r->attrs[k] = *a;
                r->num_attrs += k == r->num_attrs;
            }
}

void graph_takes_kinds(uint64_t number, const struct graph *from)
{
    for (struct graph *g = graphs; g != NULL; g = g->next)
        if (g->number == number)
            kinds_reach(g, from);
}

void graphs_follow(const struct node *original)
{
    for (const struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = 0; i < g->nodes; i++) {
            struct node *n = g->node[i];
            if (n->original != original || n->type != original->type)
                continue;
            n->move = original->move;
            if (n->kernel != NULL)
                request_copy(n->kernel, original->kernel);
        }
}

void execs_gain(const struct node *n)
{
    unsigned long long from = n->graph->number;
    for (struct graph *g = graphs; g != NULL; g = g->next) {
        bool child = g->owner != NULL && g->owner->type == cudaGraphNodeTypeGraph;
        if (g->copied_from == from && (child ? device.faults.child_source_followed : device.faults.late_node_runs && exec_made(g)))
            node_new(g, n->type)->move = n->move;
    }
}

unsigned graph_level(const struct graph *g)
{
    unsigned level = 0;
    for (const struct node *owner = g->owner; owner != NULL; owner = owner->graph->owner)
        level++;
    return level;
}

bool graph_is_inside(const struct graph *g, enum cudaGraphNodeType type)
{
    return g->owner != NULL && g->owner->type == type;
}

void graph_clone_ends(const struct graph *clone)
{
    for (struct graph *g = graphs; g != NULL && device.faults.clone_end_takes_edge; g = g->next)
        if (g->number == clone->copied_from && g->arcs != 0)
            graph_drop_last_arc(g);
}

bool node_is_fixed(const struct node *n)
{
    const struct faults *f = &device.faults;
    bool in_child = graph_is_inside(n->graph, cudaGraphNodeTypeGraph);
    if (f->other_thread_source_fixed && device.other_thread)
        return true;
    switch ((int)n->type) {
    case cudaGraphNodeTypeKernel:
        return (f->captured_kernel_fixed && n->captured) || (f->child_takes_no_params && in_child) ||
               (f->cloned_takes_no_params && n->graph->cloned) || (f->made_takes_no_params && n->graph->made);
    case cudaGraphNodeTypeMemset: return (f->captured_set_fixed && n->captured) || (f->made_takes_no_set_params && n->graph->made);
    case cudaGraphNodeTypeMemcpy: return (f->captured_copy_fixed && n->captured) || (f->made_takes_no_copy_params && n->graph->made);
    case cudaGraphNodeTypeHost: return (f->captured_host_fixed && n->captured) || (f->child_takes_no_host_params && in_child);
    default: return false;
    }
}

void graphs_reset(void)
{
    execs_reset();
    while (graphs != NULL)
        graph_delete(graphs);
}

struct node *node_new(struct graph *g, enum cudaGraphNodeType type)
{
    struct node *n = calloc(1, sizeof *n);
    if (n == NULL)
        abort();
    n->magic = NODE_MAGIC;
    n->type = type;
    n->graph = g;
    n->late = graph_is_inside(g, cudaGraphNodeTypeGraph);
    g->node = grown(g->node, g->nodes, &g->node_room, sizeof *g->node);
    n->index = (unsigned)g->nodes;
    g->node[g->nodes++] = n;
    return n;
}

void original_follows(const struct node *n)
{
    for (const struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = 0; i < g->nodes; i++)
            if (g->node[i] == n->original && g->node[i]->kernel != NULL)
                request_copy(g->node[i]->kernel, n->kernel);
}

void node_takes_back(const struct node *n)
{
    for (const struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = 0; i < g->nodes; i++)
            if (g->node[i] == n->original && n->type == cudaGraphNodeTypeMemset)
                g->node[i]->move = n->move;
}

/* Edges from each node before n to each after it, on the device that makes them when n goes. */
static void bridge(const struct node *n)
{
    struct graph *g = n->graph;
    size_t arcs = g->arcs; /* new ones come after these */
    for (size_t i = 0; i < arcs; i++)
        for (size_t k = 0; g->arc[i].to == n && k < arcs; k++)
            if (g->arc[k].from == n)
                (void)graph_connect(g, g->arc[i].from, g->arc[k].to, full_edge); /* refused if there is an edge already */
}

/* For the device lost-node-leaves-data: once this edge is gone, those that stand behind it at the same node have the data of the one before. */
static void data_stay(struct graph *g, size_t at)
{
    edge_data data = g->arc[at].data;
    for (size_t i = at + 1; device.faults.lost_node_leaves_data && i < g->arcs; i++)
        if (g->arc[i].to == g->arc[at].to) {
            edge_data own = g->arc[i].data;
            g->arc[i].data = data;
            data = own;
        }
}

static void node_remove(struct node *n)
{
    struct graph *g = n->graph;
    g->lost_node = true;
    if (n->kernel != NULL && g->lost_kernel == NULL)
        g->lost_kernel = calloc(1, sizeof *g->lost_kernel);
    if (n->kernel != NULL && g->lost_kernel != NULL)
        request_copy(g->lost_kernel, n->kernel);
    if (device.faults.source_node_end_frees_exec)
        execs_free(g->number);
    if (device.faults.destroy_takes_edge && g->arcs != 0)
        graph_drop_arc(g, 0);
    if (device.faults.destroyed_child_takes_edge && n->type == cudaGraphNodeTypeGraph && g->arcs != 0)
        graph_drop_last_arc(g);
    if (device.faults.lost_node_shifts)
        execs_shift(n);
    if (device.faults.destruction_bridges)
        bridge(n);
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].to == n)
            g->heir_of = g->arc[i].from;
    for (size_t i = g->arcs; i > 0; i--)
        if (g->arc[i - 1].from == n || g->arc[i - 1].to == n) {
            data_stay(g, i - 1);
            graph_drop_arc(g, i - 1);
        }
    memmove(&g->node[n->index], &g->node[n->index + 1], (g->nodes - n->index - 1) * sizeof *g->node);
    g->nodes--;
    for (size_t i = n->index; i < g->nodes; i++)
        g->node[i]->index = (unsigned)i;
    node_delete(n);
}

/* What a graph loses its copies lose, too, on the devices destruction-reaches-clones and destruction-reaches-children. */
static void copies_lose_node(const struct node *original)
{
    const struct faults *f = &device.faults;
    for (const struct graph *g = graphs; g != NULL; g = g->next)
        for (size_t i = g->nodes; loses_too(g, f->destruction_reaches_clones, f->destruction_reaches_children) && i > 0; i--)
            if (g->node[i - 1]->original == original)
                node_remove(g->node[i - 1]);
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t handle)
{
    CALL(cudaGraphDestroyNode);
    struct node *n = node_of(handle);
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    FAIL_IF(graph_has_memory(n->graph), cudaErrorNotSupported);
    if ((device.faults.captured_nodes_stay && n->captured) || (device.faults.other_thread_node_stays && device.other_thread))
        return cudaSuccess;
    if ((device.faults.child_nodes_stay && graph_is_inside(n->graph, cudaGraphNodeTypeGraph)) ||
        (device.faults.body_nodes_stay && graph_is_inside(n->graph, cudaGraphNodeTypeConditional)))
        return cudaSuccess;
    copies_lose_node(n);
    node_remove(n);
    return cudaSuccess;
}

/* ---- edges ---- */

bool edge_is_default(edge_data d)
{
    return d.from_port == 0 && d.to_port == 0 && d.type == 0;
}

static bool edge_is_legal(const struct node *from, const struct node *to, edge_data d)
{
    bool from_kernel = from->type == cudaGraphNodeTypeKernel, to_kernel = to->type == cudaGraphNodeTypeKernel;
    for (size_t i = 0; i < sizeof d.reserved; i++)
        if (d.reserved[i] != 0)
            return false;
    if (d.to_port != 0 && !(device.faults.to_port_2_accepted && d.to_port > 1))
        return false;
    to_kernel |= device.faults.programmatic_into_conditional && to->type == cudaGraphNodeTypeConditional;
    if (d.type == cudaGraphDependencyTypeDefault)
        return d.from_port == 0 || (d.from_port == 2 && from_kernel);
    return d.type == cudaGraphDependencyTypeProgrammatic && (d.from_port == 1 || d.from_port == 2 || (device.faults.high_port_accepted && d.from_port > 3)) &&
           from_kernel && to_kernel;
}

/* EDGE-05 to EDGE-08 and the table of model.h */
cudaError_t edge_check(const struct node *from, const struct node *to, edge_data d)
{
    if (from == to || from->graph != to->graph)
        return cudaErrorInvalidValue;
    bool legal = edge_is_legal(from, to, d);
    if (device.faults.illegal_edge_accepted || device.faults.captured_anywhere)
        return cudaSuccess;
    if (device.faults.legal_edge_refused && legal && d.type == cudaGraphDependencyTypeProgrammatic)
        return cudaErrorInvalidValue;
    return legal ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t graph_connect(struct graph *g, struct node *from, struct node *to, edge_data d)
{
    cudaError_t error = edge_check(from, to, d);
    if (error != cudaSuccess)
        return error;
    if ((device.faults.cloned_takes_no_edges && g->cloned) || (device.faults.made_takes_no_edges && g->made) ||
        (device.faults.child_takes_no_edges && graph_is_inside(g, cudaGraphNodeTypeGraph)))
        return cudaSuccess;
    unsigned left = to->incoming; /* the newest arcs are the likeliest: an arc array is long, a node's share of it short */
    for (size_t i = g->arcs; left != 0; i--) {
        if (g->arc[i - 1].to != to)
            continue;
        if (g->arc[i - 1].from == from && device.faults.other_data_replaces)
            g->arc[i - 1].data = d;
        if (g->arc[i - 1].from == from) /* EDGE-16 */
            return device.faults.edge_twice_accepted ? cudaSuccess : cudaErrorInvalidValue;
        left--;
    }
    if (device.faults.readded_edge_keeps_data && g->lost_arc.from == from && g->lost_arc.to == to)
        d = g->lost_arc.data;
    if (device.faults.next_edge_takes_lost_kind && g->lost_arc.from == from && from->kernel != NULL && to->kernel != NULL)
        d = g->lost_arc.data;
    g->arc = grown(g->arc, g->arcs, &g->arc_room, sizeof *g->arc);
    bool later = from->index < g->made_of && to->index < g->made_of;
    struct arc a = {from, to, d, false, to->incoming == 0, later, false, from->outgoing++, to->incoming, false, false};
    g->arc[g->arcs++] = a;
    if (device.faults.turned_edge_reaches_execs)
        execs_turn(from, to);
    to->incoming++;
    return cudaSuccess;
}

/* The arcs after it move up: their order is that of their making. */
void graph_drop_arc(struct graph *g, size_t index)
{
    g->arc[index].to->incoming--;
    g->arc[index].from->outgoing--;
    g->lost_arc = g->arc[index];
    g->lost_at = index;
    memmove(&g->arc[index], &g->arc[index + 1], (g->arcs - index - 1) * sizeof *g->arc);
    g->arcs--;
}

void graph_drop_last_arc(struct graph *g)
{
    if (g->arcs != 0)
        graph_drop_arc(g, g->arcs - 1);
}

void graph_starts_in_parts(struct graph *g, bool captured_only)
{
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i]->kernel != NULL && (g->node[i]->captured || !captured_only))
            g->node[i]->kernel->cooperative = false;
}

/* Most graphs have their nodes in an order that their edges agree with: no cycle, at one look. */
static bool edges_go_on(const struct graph *g)
{
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].from->index >= g->arc[i].to->index)
            return false;
    return true;
}

static bool edges_make_cycle(const struct graph *g)
{
    if (edges_go_on(g) || (device.faults.long_cycles_accepted && g->nodes > 16))
        return false;
    unsigned *open = calloc(g->nodes + 1, sizeof *open), left = (unsigned)g->nodes;
    if (open == NULL)
        abort();
    for (size_t i = 0; i < g->arcs; i++)
        open[g->arc[i].to->index]++;
    for (bool moved = true; moved && left != 0;) {
        moved = false;
        for (size_t n = 0; n < g->nodes; n++) {
            if (open[n] != 0)
                continue;
            open[n] = UINT32_MAX;
            left--;
            moved = true;
            for (size_t i = 0; i < g->arcs; i++)
                if (g->arc[i].from->index == n)
                    open[g->arc[i].to->index]--;
        }
    }
    free(open);
    return left != 0;
}

/* The graph itself, or one of those that its nodes hold. */
bool graph_has_cycle(const struct graph *g)
{
    for (size_t i = 0; i < g->nodes && !device.faults.inner_cycles_accepted; i++)
        for (unsigned c = 0; c < g->node[i]->children; c++)
            if (graph_has_cycle(g->node[i]->child[c]))
                return true;
    return edges_make_cycle(g);
}

static void node_copy(struct graph *into, const struct node *from)
{
    struct node *n = node_new(into, from->type);
    n->move = from->move;
    n->host = from->host;
    n->event = from->event;
    n->incoming = from->incoming;
    n->outgoing = from->outgoing;
    n->captured = from->captured;
    n->late = from->late;
    n->child_of = from->child_of;
    n->choice = from->choice;
    n->handle = from->handle;
    n->undecided = from->undecided;
    n->condition = from->condition;
    n->memory = from->memory;
    n->frees = from->frees;
    n->value = from->value;
    memcpy(n->more, from->more, sizeof n->more);
    n->values_more = from->values_more;
    n->original = from;
    if (from->kernel != NULL) {
        n->kernel = malloc(sizeof *n->kernel);
        if (n->kernel == NULL)
            abort();
        request_copy(n->kernel, from->kernel);
    }
    for (unsigned i = 0; i < from->children; i++)
        node_owns(n, graph_copy(from->child[i]));
}

void graph_loses_values(struct graph *g)
{
    for (size_t i = 0; device.faults.copied_batch_does_one && i < g->nodes; i++)
        g->node[i]->values_more = 0;
}

struct graph *graph_copy(const struct graph *g)
{
    struct graph *copy = graph_new();
    copy->copied_from = g->number;
    copy->moved = g->moved;
    copy->copies = g->copies + 1;
    copy->first = g->first != 0 ? g->first : g->number;
    for (size_t i = 0; i < g->nodes; i++)
        node_copy(copy, g->node[i]);
    copy->arc = calloc(g->arcs + 1, sizeof *copy->arc);
    if (copy->arc == NULL)
        abort();
    copy->arcs = g->arcs;
    copy->arc_room = g->arcs + 1;
    for (size_t i = 0; i < g->arcs; i++) {
        copy->arc[i] = g->arc[i];
        copy->arc[i].from = copy->node[g->arc[i].from->index];
        copy->arc[i].to = copy->node[g->arc[i].to->index];
    }
    objects_follow(copy, g);
    return copy;
}
