/* Building and reading graphs: the calls. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static edge_data data_at(const edge_data *data, size_t i)
{
    return data != NULL ? data[i] : full_edge;
}

/* ---- graphs and nodes ---- */

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    CALL(cudaGraphCreate);
    device.made_graph_at = device.serial;
    FAIL_IF(out == NULL || (flags != 0 && !device.faults.graph_flags_taken), cudaErrorInvalidValue);
    *out = (cudaGraph_t)(void *)graph_new();
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t handle)
{
    CALL(cudaGraphDestroy);
    struct graph *g = graph_of(handle);
    FAIL_IF(g == NULL || g->owner != NULL, cudaErrorInvalidValue);
    execs_lose_source(g);
    if (device.faults.clone_end_frees_exec && g->copied_from != 0)
        execs_free(g->copied_from);
    graph_clone_ends(g);
    if (device.faults.graph_end_frees_memory)
        graph_memory_ends(g);
    graph_delete(g);
    return cudaSuccess;
}

void edges_become_full(struct graph *g)
{
    for (size_t i = 0; i < g->arcs; i++)
        g->arc[i].data = full_edge;
}

/* For the device cloned-empty-cuts. */
static void empties_lose_arcs(struct graph *g)
{
    for (size_t i = g->arcs; i > 0; i--)
        if (g->arc[i - 1].to->type == cudaGraphNodeTypeEmpty)
            graph_drop_arc(g, i - 1);
}

static void spoil_clone(struct request *r)
{
    if (device.faults.clone_loses_attributes)
        r->num_attrs = 0;
    unsigned y = r->grid[1];
    if (device.faults.clone_swaps_axes) {
        r->grid[1] = r->grid[2];
        r->grid[2] = y;
    }
}

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *out, cudaGraph_t handle)
{
    CALL(cudaGraphClone);
    struct graph *g = graph_of(handle);
    FAIL_IF(out == NULL || g == NULL || graph_has_condition(g), cudaErrorInvalidValue);
    FAIL_IF(graph_has_memory(g) && !device.faults.memory_cloned, cudaErrorNotSupported);
    struct graph *copy = graph_copy(g);
    if (device.faults.clone_takes_no_object)
        objects_lose(copy);
    graph_loses_values(copy);
    g->clones++;
    g->cloned = true;
    if (device.faults.third_clone_loses_edge && g->clones >= 3 && copy->arcs != 0)
        graph_drop_last_arc(copy);
    if (device.faults.clone_takes_lost_data && g->lost_arc.from != NULL && g->lost_at < copy->arcs)
        copy->arc[g->lost_at].data = g->lost_arc.data;
    if (device.faults.others_clone_full && device.other_thread)
        edges_become_full(copy);
    if (device.faults.clone_loses_edges)
        edges_become_full(copy);
    for (size_t i = 0; i < copy->arcs; i++) {
        edge_data *d = &copy->arc[i].data;
        copy->arc[i].lost_order |= device.faults.clone_beyond_1024_lets_go && copy->arc[i].to->index >= 1024;
        if (d->from_port == 2 && device.faults.clone_completion_full && d->type == 0)
            d->from_port = 0;
        if (d->from_port == 2 && device.faults.clone_ninth_start_at_trigger && i >= 8 && d->type != 0)
            d->from_port = 1;
    }
    for (size_t i = 0; device.faults.clone_forgets_child_edges && i < copy->nodes; i++)
        for (unsigned c = 0; c < copy->node[i]->children; c++)
            edges_become_full(copy->node[i]->child[c]);
    for (size_t i = 0; device.faults.cloned_empty_cuts && i < copy->nodes; i++)
        for (unsigned c = 0; c < copy->node[i]->children; c++)
            empties_lose_arcs(copy->node[i]->child[c]);
    for (size_t i = 0; i < copy->nodes; i++)
        if (copy->node[i]->kernel != NULL)
            spoil_clone(copy->node[i]->kernel);
    for (size_t i = 0; device.faults.capture_clone_full && i < copy->arcs; i++)
        if (copy->arc[i].from->captured && copy->arc[i].to->captured)
            copy->arc[i].data = full_edge;
    if (device.faults.second_clone_drops_edge && g->nodes != 0 && g->node[0]->original != NULL && copy->arcs != 0)
        graph_drop_last_arc(copy);
    struct request *first = copy->nodes != 0 ? copy->node[0]->kernel : NULL;
    if (device.faults.clone_cuts_args && first != NULL && first->kernel->args_bytes > 64)
        memset(first->args + 64, 0, first->kernel->args_bytes - 64);
    for (size_t i = copy->nodes; device.faults.cloned_moves_as_before && i-- > 1;)
        if (copy->node[i]->type == copy->node[i - 1]->type && copy->node[i]->move.to != NULL)
            copy->node[i]->move = copy->node[i - 1]->move;
    if (device.faults.clone_of_captured_loses_cooperative)
        graph_starts_in_parts(copy, true);
    if (device.faults.clone_drops_edge && copy->arcs > 8)
        graph_drop_last_arc(copy);
    *out = (cudaGraph_t)(void *)copy;
    return cudaSuccess;
}

static bool stands_before(const cudaGraphNode_t *deps, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (deps[k] == deps[i])
            return true;
    return false;
}

static cudaError_t connect_all(struct graph *g, struct node *n, const cudaGraphNode_t *deps, const edge_data *data,
                               size_t count)
{
    size_t before = g->arcs;
    for (size_t i = 0; i < count; i++) {
        struct node *from = node_of(deps[i]);
        edge_data d = data_at(data, device.faults.new_node_shares_data ? 0 : i);
        if (device.faults.typed_edges_programmatic && data == NULL && n->kernel != NULL && from != NULL && from->kernel != NULL)
            d.from_port = d.type = 1;
        if (device.faults.fourth_bare_edge_lost && data == NULL && i >= 3)
            continue;
        bool foreign = from != NULL && from->graph != g;
        if ((device.faults.duplicates_accepted && stands_before(deps, i)) || (device.faults.foreign_node_dropped && foreign))
            continue;
        cudaError_t error = from == NULL ? cudaErrorInvalidValue : graph_connect(g, from, n, d);
        if (error == cudaSuccess)
            continue;
        while (g->arcs > before)
            graph_drop_last_arc(g);
        if (!device.faults.refused_node_stays && !(device.faults.node_of_refused_data_stays && data != NULL && !foreign && !stands_before(deps, i)))
            node_drop_last(g);
        return error;
    }
    return cudaSuccess;
}

static unsigned age_of(cudaGraphNode_t handle)
{
    const struct node *n = node_of(handle);
    return n != NULL ? n->index : 0;
}

/* For the device new-node-sorts-nodes: the nodes by their age, the data as they stand. */
static void sort_by_age(cudaGraphNode_t *sorted, const cudaGraphNode_t *deps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && age_of(sorted[at - 1]) > age_of(deps[i]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = deps[i];
    }
}

cudaError_t node_finish(cudaGraphNode_t *out, struct node *n, const cudaGraphNode_t *deps, const edge_data *data, size_t count)
{
    count -= device.faults.new_node_loses_65th && count > 64;
    bool edgeless = device.faults.late_nodes_edgeless && n->graph->lost_node;
    if (device.faults.clone_takes_full_edges && n->graph->copied_from != 0)
        data = NULL;
    cudaGraphNode_t sorted[256];
    if (device.faults.new_node_sorts_nodes && data != NULL && count <= 256) {
        sort_by_age(sorted, deps, count);
        deps = sorted;
    }
    cudaError_t error = connect_all(n->graph, n, deps, data, edgeless ? 0 : count);
    FAIL_IF(error != cudaSuccess, error);
    if (device.faults.new_node_takes_lost_edge && node_of((cudaGraphNode_t)(void *)n->graph->heir_of) != NULL)
        (void)graph_connect(n->graph, n->graph->heir_of, n, full_edge);
    n->graph->heir_of = NULL;
    *out = (cudaGraphNode_t)(void *)n;
    return cudaSuccess;
}

bool add_arguments_sound(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count)
{
    return out != NULL && graph_of(graph) != NULL && (count == 0 || deps != NULL);
}

static cudaError_t add_kernel(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                              const edge_data *data, size_t count, const struct cudaKernelNodeParams *p)
{
    struct request *r = malloc(sizeof *r);
    FAIL_IF(r == NULL, cudaErrorMemoryAllocation);
    cudaError_t error = request_fill_node(r, p);
    if (device.faults.misfit_node_accepted && error == cudaErrorInvalidConfiguration) {
        struct cudaKernelNodeParams fits = *p;
        fits.gridDim.x = fits.gridDim.y = fits.gridDim.z = fits.blockDim.x = fits.blockDim.y = fits.blockDim.z = 1;
        error = request_fill_node(r, &fits);
    }
    if (error != cudaSuccess) {
        free(r);
        return call_result(error);
    }
    struct node *n = node_new(graph_of(graph), cudaGraphNodeTypeKernel);
    n->kernel = r;
    const struct request *lost = n->graph->lost_kernel;
    for (unsigned i = 0; device.faults.new_node_takes_lost_attributes && lost != NULL && i < lost->num_attrs; i++) {
        (void)request_attribute(r, &lost->attrs[i]);
        r->attrs[r->num_attrs++] = lost->attrs[i];
    }
    free(n->graph->lost_kernel);
    n->graph->lost_kernel = NULL;
    if (device.faults.node_rows_by_8_bits)
        r->grid[1] &= 0xff;
    return node_finish(out, n, deps, data, count);
}

bool set_sound(const struct cudaMemsetParams *p)
{
    if (p == NULL || p->height == 0 || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4 && !device.faults.elements_of_eight_taken))
        return false;
    size_t row = p->width * p->elementSize;
    return (p->height == 1 || p->pitch >= row || device.faults.short_set_pitch_taken) && memory_contains(p->dst, (p->height - 1) * p->pitch + row);
}

void set_fill(struct node *n, const struct cudaMemsetParams *p)
{
    n->move.to = p->dst;
    n->move.width = p->elementSize;
    n->move.bytes = p->width * p->elementSize;
    n->move.rows = device.faults.set_takes_one_row ? 1 : p->height;
    n->move.pitch = p->pitch;
    n->move.value = device.faults.set_takes_bytes ? (p->value & 255) * 0x01010101u : p->value;
}

static struct node *set_node(struct graph *g, const struct cudaMemsetParams *p)
{
    struct node *n = node_new(g, cudaGraphNodeTypeMemset);
    set_fill(n, p);
    return n;
}

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                             size_t count, const struct cudaKernelNodeParams *p)
{
    CALL(cudaGraphAddKernelNode);
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || p == NULL, cudaErrorInvalidValue);
    return add_kernel(out, graph, deps, NULL, count, p);
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                            size_t count)
{
    CALL(cudaGraphAddEmptyNode);
    FAIL_IF(!add_arguments_sound(out, graph, deps, count), cudaErrorInvalidValue);
    return node_finish(out, node_new(graph_of(graph), cudaGraphNodeTypeEmpty), deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                             size_t count, const struct cudaMemsetParams *p)
{
    CALL(cudaGraphAddMemsetNode);
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || !set_sound(p), cudaErrorInvalidValue);
    struct node *set = set_node(graph_of(graph), p);
    if (device.faults.child_source_followed || device.faults.late_node_runs)
        execs_gain(set);
    return node_finish(out, set, deps, NULL, count);
}

/* On devices that forget the last dependency of copies from the host, or to it. */
static bool copy_forgets_last(enum cudaMemcpyKind kind, size_t count)
{
    const struct faults *f = &device.faults;
    return count != 0 && ((f->host_source_unordered && kind == cudaMemcpyHostToDevice) || (f->host_target_unordered && kind == cudaMemcpyDeviceToHost));
}

cudaError_t copy_node_added(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, void *to, const void *from,
                            size_t bytes, enum cudaMemcpyKind kind)
{
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || to == NULL || from == NULL, cudaErrorInvalidValue);
    count -= copy_forgets_last(kind, count);
    return node_finish(out, copy_node(graph_of(graph), (struct move){.to = to, .from = from, .bytes = bytes, .rows = 1}), deps, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                               size_t count, void *to, const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    CALL(cudaGraphAddMemcpyNode1D);
    return copy_node_added(out, graph, deps, count, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                             const struct cudaMemcpy3DParms *p)
{
    CALL(cudaGraphAddMemcpyNode);
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || p == NULL || !rows_sound(p), cudaErrorInvalidValue);
    return node_finish(out, copy_node(graph_of(graph), copy_of(p)), deps, NULL, count - copy_forgets_last(p->kind, count));
}

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                           size_t count, const struct cudaHostNodeParams *p)
{
    CALL(cudaGraphAddHostNode);
    bool none = p != NULL && p->fn == NULL && !device.faults.host_without_function_added;
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || p == NULL || none, cudaErrorInvalidValue);
    struct node *n = node_new(graph_of(graph), cudaGraphNodeTypeHost);
    n->host.fn = p->fn;
    n->host.userData = p->userData;
    return node_finish(out, n, deps, NULL, count);
}

#if CUDART_VERSION >= 12020
struct cudaKernelNodeParams kernel_params_of(const struct cudaGraphNodeParams *p)
{
    return (struct cudaKernelNodeParams){p->kernel.func,           p->kernel.gridDim,      p->kernel.blockDim,
                                         p->kernel.sharedMemBytes, p->kernel.kernelParams, p->kernel.extra};
}

struct cudaMemsetParams set_params_of(const struct cudaGraphNodeParams *p)
{
    return (struct cudaMemsetParams){p->memset.dst,         p->memset.pitch, p->memset.value,
                                     p->memset.elementSize, p->memset.width, p->memset.height};
}

/* Devices on which new nodes of some kinds have full edges */
static bool new_node_drops_data(int type)
{
    const struct faults *f = &device.faults;
    bool of_event = type == cudaGraphNodeTypeEventRecord || type == cudaGraphNodeTypeWaitEvent;
    return (f->new_memset_drops_data && type == cudaGraphNodeTypeMemset) || (f->new_copy_drops_data && type == cudaGraphNodeTypeMemcpy) ||
           (f->new_event_node_drops_data && of_event);
}

cudaError_t graph_add_node(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, const edge_data *data,
                           size_t count, struct cudaGraphNodeParams *p)
{
    FAIL_IF(!add_arguments_sound(out, graph, deps, count) || p == NULL, cudaErrorInvalidValue);
    struct graph *g = graph_of(graph);
    struct node *n;
    struct cudaKernelNodeParams kernel = kernel_params_of(p);
    switch ((int)p->type) {
    case cudaGraphNodeTypeKernel: return add_kernel(out, graph, deps, data, count, &kernel);
    case cudaGraphNodeTypeEmpty: n = node_new(g, cudaGraphNodeTypeEmpty); break;
    case cudaGraphNodeTypeHost:
        if (p->host.fn == NULL && device.faults.general_hostless_taken)
            return cudaSuccess;
        FAIL_IF(p->host.fn == NULL, cudaErrorInvalidValue);
        n = node_new(g, cudaGraphNodeTypeHost);
        n->host.fn = p->host.fn;
        n->host.userData = p->host.userData;
        break;
    case cudaGraphNodeTypeMemset: {
        struct cudaMemsetParams set = set_params_of(p);
        FAIL_IF(!set_sound(&set), cudaErrorInvalidValue);
        n = set_node(g, &set);
        break;
    }
    case cudaGraphNodeTypeMemcpy: {
        const struct cudaMemcpy3DParms *c = &p->memcpy.copyParams;
        FAIL_IF(!rows_sound(c), cudaErrorInvalidValue);
        n = copy_node(g, copy_of(c));
        count -= copy_forgets_last(c->kind, count);
        break;
    }
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent:
        n = event_node(g, p->type, (int)p->type == cudaGraphNodeTypeWaitEvent ? p->eventWait.event : p->eventRecord.event);
        FAIL_IF(n == NULL, cudaErrorInvalidValue);
        break;
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeConditional:
        n = nested_node(g, p);
        FAIL_IF(n == NULL, cudaErrorInvalidValue);
        break;
    default: return call_result(cudaErrorNotSupported);
    }
    return node_finish(out, n, deps, new_node_drops_data((int)p->type) ? NULL : data, count);
}
#endif

/* ---- edges ---- */

/* Which entry of the array edge i gets: its own, but on the devices that break EDGE-33 */
static size_t entry_of(size_t i, size_t count)
{
    if (device.faults.edges_share_data)
        return 0;
    if (device.faults.last_edge_data)
        return count - 1;
    if (device.faults.array_swaps_pair && count > 16)
        return (i ^ 1) < count ? i ^ 1 : i;
    return i;
}

static bool holds(const struct graph *g, const struct node *n)
{
    return n->graph->owner != NULL && n->graph->owner->graph == g;
}

/* Edges between a graph and a child graph in it, on the devices that take them, and make none. */
static bool crosses_border(const struct graph *g, const struct node *a, const struct node *b)
{
    const struct faults *f = &device.faults;
    if (a == NULL || b == NULL)
        return false;
    return (f->edge_into_child_taken && a->graph == g && holds(g, b)) || (f->edge_out_of_child_taken && holds(g, a) && b->graph == g) ||
           (f->edge_from_around_taken && b->graph == g && holds(a->graph, b));
}

cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                   const edge_data *data, size_t count)
{
    struct graph *g = graph_of(graph);
    FAIL_IF(g == NULL || (count != 0 && (from == NULL || to == NULL)), cudaErrorInvalidValue);
    FAIL_IF(device.faults.no_edges_refused && count == 0, cudaErrorInvalidValue);
    FAIL_IF(device.faults.several_edges_refused && count > 1, cudaErrorNotSupported);
    size_t before = g->arcs;
    if (device.faults.source_edges_cut_copies)
        execs_lose_arc(g);
    for (size_t i = 0; i < count; i++) {
        struct node *a = node_of(from[i]), *b = node_of(to[i]);
        bool ours = a != NULL && b != NULL && a->graph == g && b->graph == g;
        bool lost = (device.faults.captured_takes_no_edges && ours && a->captured && b->captured) ||
                    (device.faults.other_thread_edges_lost && device.other_thread) || (device.faults.late_edges_lost && g->lost_node);
        lost |= device.faults.made_takes_one_edge && g->made && i != 0;
        if (lost || crosses_border(g, a, b) || (a != NULL && b != NULL && !ours && device.faults.foreign_edge_taken))
            continue;
        if (!ours || graph_connect(g, a, b, data_at(data, entry_of(i, count))) != cudaSuccess) {
            while (g->arcs > before) /* all or none */
                graph_drop_last_arc(g);
            return call_result(cudaErrorInvalidValue);
        }
    }
    return cudaSuccess;
}

static size_t arc_find(const struct graph *g, const struct node *from, const struct node *to, edge_data d)
{
    for (size_t i = 0; i < g->arcs; i++)
        if (g->arc[i].from == from && g->arc[i].to == to &&
            (memcmp(&g->arc[i].data, &d, sizeof d) == 0 || (device.faults.removal_ignores_type && g->arc[i].data.from_port == d.from_port) ||
             device.faults.removal_ignores_data))
            return i;
    return g->arcs;
}

/* Whichever edge there is between two nodes, on the device that removes it in spite of its refusal. */
static void drop_any_arc(struct graph *g, const struct node *from, const struct node *to)
{
    for (size_t i = g->arcs; i-- > 0;)
        if (g->arc[i].from == from && g->arc[i].to == to)
            graph_drop_arc(g, i);
}

cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                      const edge_data *data, size_t count)
{
    struct graph *g = graph_of(graph);
    FAIL_IF(g == NULL || (count != 0 && (from == NULL || to == NULL)), cudaErrorInvalidValue);
    FAIL_IF(count != 0 && graph_has_memory(g), cudaErrorNotSupported);
    for (size_t i = 0; i < count; i++) {
        bool there = (device.faults.gone_edges_removed && i != 0) || arc_find(g, node_of(from[i]), node_of(to[i]), data_at(data, i)) != g->arcs;
        if (there || device.faults.absent_edge_removed)
            continue;
        if (device.faults.refused_removal_removes)
            drop_any_arc(g, node_of(from[i]), node_of(to[i]));
        return call_result(cudaErrorInvalidValue);
    }
    if ((device.faults.inner_edges_stay && g->owner != NULL) || (device.faults.cloned_edges_stay && g->cloned))
        return cudaSuccess;
    for (size_t i = 0; i < (device.faults.removal_stops_early ? count != 0 : count); i++) {
        size_t at = arc_find(g, node_of(from[i]), node_of(to[i]), data_at(data, i));
        bool of_starts = at < g->arcs && g->arc[at].data.from_port == 2;
        if (device.faults.inner_start_edges_stay && of_starts && g->owner != NULL)
            continue;
        bool stays = device.faults.captured_edges_stay && at < g->arcs && g->arc[at].from->captured && g->arc[at].to->captured;
        if (at < g->arcs && !stays)
            graphs_lose_arc(g->arc[at].from, g->arc[at].to);
        struct arc gone = at < g->arcs ? g->arc[at] : (struct arc){0};
        if (at < g->arcs && !stays)
            graph_drop_arc(g, device.faults.neighbour_removed && at > 0 ? at - 1 : at);
        if (device.faults.removal_shifts_data && !stays && at < g->arcs && g->arc[at].from == gone.from &&
            edge_check(gone.from, g->arc[at].to, gone.data) == cudaSuccess)
            g->arc[at].data = gone.data;
    }
    return cudaSuccess;
}

/* EDGE-14: a query that would drop edge data is refused */
static bool drops_data(const struct graph *g, const struct node *from, const struct node *to, const edge_data *data)
{
    if (data != NULL || device.faults.lossy_query_succeeds)
        return false;
    for (size_t i = 0; i < g->arcs; i++)
        if ((from == NULL || g->arc[i].from == from) && (to == NULL || g->arc[i].to == to) &&
            !edge_is_default(g->arc[i].data) && !(device.faults.lossy_start_succeeds && g->arc[i].data.from_port == 2) &&
            !(device.faults.lossy_beyond_eight_succeeds && i >= 8))
            return true;
    return false;
}

/* Fills up to *count entries and leaves the rest empty; without arrays it only counts. */
static void list_arcs(const struct graph *g, const struct node *from, const struct node *to, cudaGraphNode_t *froms,
                      cudaGraphNode_t *tos, edge_data *data, size_t *count)
{
    bool fill = froms != NULL || tos != NULL;
    size_t room = fill ? *count : 0, n = 0;
    for (size_t i = 0; i < g->arcs; i++) {
        const struct arc *a = &g->arc[i];
        if ((from != NULL && a->from != from) || (to != NULL && a->to != to))
            continue;
        if (device.faults.conditions_before_untold && to != NULL && a->from->type == cudaGraphNodeTypeConditional)
            continue;
        if (n < room + (device.faults.short_list_overruns && room != 0)) {
            if (froms != NULL)
                froms[n] = (cudaGraphNode_t)(void *)a->from;
            if (tos != NULL)
                tos[n] = (cudaGraphNode_t)(void *)a->to;
            if (data != NULL)
                data[n] = device.faults.edges_beyond_1024_told_full && n >= 1024 ? full_edge : a->data;
        }
        n++;
    }
    for (size_t i = n; i < room; i++) {
        if (froms != NULL)
            froms[i] = NULL;
        if (tos != NULL)
            tos[i] = NULL;
    }
    *count = fill && room < n ? room : n;
}

cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, edge_data *data,
                            size_t *count)
{
    const struct graph *g = graph_of(graph);
    FAIL_IF(g == NULL || count == NULL || (from == NULL) != (to == NULL), cudaErrorInvalidValue);
    FAIL_IF(data != NULL && from == NULL, cudaErrorInvalidValue);
    FAIL_IF(drops_data(g, NULL, NULL, data), cudaErrorLossyQuery);
    list_arcs(g, NULL, NULL, from, to, data, count);
    return cudaSuccess;
}

cudaError_t graph_node_arcs(cudaGraphNode_t node, bool outgoing, cudaGraphNode_t *nodes, edge_data *data,
                            size_t *count)
{
    const struct node *n = node_of(node);
    FAIL_IF(n == NULL || count == NULL || (data != NULL && nodes == NULL), cudaErrorInvalidValue);
    const struct node *from = outgoing ? n : NULL, *to = outgoing ? NULL : n;
    FAIL_IF(drops_data(n->graph, from, to, data), cudaErrorLossyQuery);
    size_t room = *count;
    list_arcs(n->graph, from, to, outgoing ? NULL : nodes, outgoing ? nodes : NULL, data, count);
    for (size_t i = 0; device.faults.short_list_shares_data && !outgoing && data != NULL && room < n->incoming && i < *count; i++)
        data[i] = data[*count - 1];
    *count += device.faults.lost_dependents_counted && outgoing && nodes == NULL && n->graph->lost_node && n->graph->lost_arc.from == n;
    for (size_t i = 0; device.faults.readded_dependent_counted_twice && outgoing && nodes == NULL && i < n->graph->arcs; i++)
        *count += n->graph->lost_arc.from == n && n->graph->arc[i].from == n && n->graph->arc[i].to == n->graph->lost_arc.to;
    if (device.faults.captured_dependents_hidden && outgoing && n->captured)
        *count = 0;
    for (size_t i = 0; device.faults.inner_completions_told_full && n->graph->owner != NULL && data != NULL && i < *count; i++)
        data[i] = data[i].type == cudaGraphDependencyTypeDefault ? full_edge : data[i];
    for (size_t i = 0; device.faults.captured_starts_told_as_completion && outgoing && n->captured && data != NULL && i < *count; i++)
        data[i].type = data[i].from_port == 2 ? cudaGraphDependencyTypeDefault : data[i].type;
    for (size_t i = 0; device.faults.clone_tells_full_edges && n->original != NULL && data != NULL && i < *count; i++)
        data[i] = full_edge;
    return cudaSuccess;
}
