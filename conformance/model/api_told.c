/* What nodes and executable graphs tell of themselves. */
#include "api.h"

#include <string.h>

cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t handle, struct cudaMemsetParams *p)
{
    CALL(cudaGraphMemsetNodeGetParams);
    const struct node *n = node_of_type(handle, cudaGraphNodeTypeMemset);
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    const struct move *m = &n->move;
    *p = (struct cudaMemsetParams){m->to, m->pitch, m->value, (unsigned)m->width, m->bytes / m->width, m->rows};
    if (device.faults.high_bit_not_told)
        p->value &= 0x7fffffffu;
    if (device.faults.value_told_as_byte)
        p->value &= 255;
    if (device.faults.rows_not_told || (device.faults.captured_set_tells_one_row && n->captured))
        p->height = 1;
    if (device.faults.nested_rows_told_as_one && n->graph->owner != NULL)
        p->pitch = p->width * p->elementSize;
    if (device.faults.set_tells_16_bits)
        p->width &= 65535;
    if (device.faults.captured_halves_told_as_bytes && n->captured && p->elementSize == 2)
        p->elementSize = 1, p->width *= 2;
    if (device.faults.captured_memset_told_as_word && n->captured)
        p->elementSize = 4, p->value *= 0x01010101u;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t handle, struct cudaMemcpy3DParms *p)
{
    CALL(cudaGraphMemcpyNodeGetParams);
    const struct node *n = node_of_type(handle, cudaGraphNodeTypeMemcpy);
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    const struct move *m = &n->move;
    cudaArray_t from = device.faults.arrays_untold ? p->srcArray : NULL, to = device.faults.arrays_untold ? p->dstArray : NULL;
    *p = (struct cudaMemcpy3DParms){.srcArray = from, .dstArray = to, .kind = cudaMemcpyDefault};
    p->extent = (struct cudaExtent){m->bytes, m->rows, m->layers > 1 ? m->layers : 1};
    p->dstPtr = (struct cudaPitchedPtr){m->to, m->pitch, m->bytes, m->rows};
    p->srcPtr.pitch = m->from_pitch;
    memcpy(&p->srcPtr.ptr, &m->from, sizeof p->srcPtr.ptr);
    if (device.faults.copy_tells_one_row)
        p->extent.height = 1;
    if (device.faults.copy_tells_pitches_swapped)
        p->srcPtr.pitch = m->pitch, p->dstPtr.pitch = m->from_pitch;
    if (device.faults.copy_tells_16_bits)
        p->extent.width &= 65535;
    if (device.faults.captured_copy_tells_whole_words && n->captured)
        p->extent.width &= ~(size_t)3;
    if (device.faults.copy_tells_target_twice)
        p->srcPtr.ptr = m->to;
    p->srcPtr.xsize = m->bytes;
    p->srcPtr.ysize = m->rows;
    if (m->layers > 1) {
        p->dstPtr.ysize = m->layer / m->pitch;
        p->srcPtr.ysize = m->from_layer / m->from_pitch;
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t handle, struct cudaHostNodeParams *p)
{
    CALL(cudaGraphHostNodeGetParams);
    const struct node *n = node_of_type(handle, cudaGraphNodeTypeHost);
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    *p = n->host;
    if (device.faults.host_data_not_told || (device.faults.captured_host_data_not_told && n->captured))
        p->userData = NULL;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long *flags)
{
    CALL(cudaGraphExecGetFlags);
    const struct graph_exec *e = exec_of(handle);
    FAIL_IF(e == NULL || flags == NULL, cudaErrorInvalidValue);
    if (device.faults.flags_told_of_newest)
        e = exec_newest(e);
    bool none = device.faults.flags_told_as_none || (device.faults.update_clears_flags && e->features & HAS(updated));
    none |= (device.faults.flags_told_once && e->launches > 1) || (device.faults.upload_clears_flags && e->features & HAS(uploaded));
    *flags = none ? 0 : e->flags;
    return cudaSuccess;
}

/* The model prints nothing: it is asked whether anything else changes. */
cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    CALL(cudaGraphDebugDotPrint);
    (void)flags;
    FAIL_IF(graph_of(graph) == NULL || path == NULL, cudaErrorInvalidValue);
    device.printed_graph_at = device.serial;
    return cudaSuccess;
}

/* ---- reading nodes ---- */

static void list_nodes(struct graph *g, bool roots, cudaGraphNode_t *nodes, size_t *count)
{
    size_t room = nodes != NULL ? *count : 0, n = 0, arcs = device.faults.late_edges_rootless && g->arcs > 3 ? 3 : g->arcs;
    if (device.faults.roots_remembered && roots) {
        arcs = g->roots_of != 0 && g->roots_of <= arcs ? g->roots_of - 1 : arcs;
        g->roots_of = arcs + 1;
    }
    for (size_t i = 0; i < g->nodes; i++) {
        bool has_incoming = false;
        for (size_t a = 0; roots && a < arcs; a++)
            has_incoming |= g->arc[a].to == g->node[i];
        if (has_incoming)
            continue;
        if (n < room)
            nodes[n] = (cudaGraphNode_t)(void *)g->node[i];
        n++;
    }
    if (device.faults.told_nodes_repeat && nodes != NULL && n >= 257 && room >= n)
        nodes[n - 1] = nodes[0];
    for (size_t i = n; i < room; i++)
        nodes[i] = NULL;
    *count = nodes != NULL && room < n && !device.faults.short_list_counts_all ? room : n;
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    CALL(cudaGraphGetNodes);
    FAIL_IF(graph_of(graph) == NULL || count == NULL, cudaErrorInvalidValue);
    list_nodes(graph_of(graph), false, nodes, count);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    CALL(cudaGraphGetRootNodes);
    FAIL_IF(graph_of(graph) == NULL || count == NULL, cudaErrorInvalidValue);
    list_nodes(graph_of(graph), true, nodes, count);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t handle, enum cudaGraphNodeType *type)
{
    CALL(cudaGraphNodeGetType);
    const struct node *n = node_of(handle);
    FAIL_IF(n == NULL || type == NULL, cudaErrorInvalidValue);
    bool as_empty = device.faults.copied_host_told_empty && n->original != NULL && n->type == cudaGraphNodeTypeHost;
    *type = as_empty ? cudaGraphNodeTypeEmpty : n->type;
    return cudaSuccess;
}
