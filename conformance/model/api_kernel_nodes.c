/* Kernel nodes of graphs: the calls that tell and change their parameters and attributes. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static struct request *kernel_of(cudaGraphNode_t handle)
{
    struct node *n = node_of(handle);
    return n != NULL && n->type == cudaGraphNodeTypeKernel ? n->kernel : NULL;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, struct cudaKernelNodeParams *p)
{
    CALL(cudaGraphKernelNodeGetParams);
    struct request *r = kernel_of(handle);
    FAIL_IF(r == NULL || p == NULL, cudaErrorInvalidValue);
    void **extra = p->extra;
    memset(p, 0, sizeof *p);
    p->extra = device.faults.extra_untold ? extra : NULL;
    memcpy(&p->func, &r->kernel->func, sizeof p->func);
    p->gridDim.x = r->grid[0];
    p->gridDim.y = r->grid[1];
    p->gridDim.z = r->grid[2];
    p->blockDim.x = r->block[0];
    p->blockDim.y = r->block[1];
    p->blockDim.z = r->block[2];
    p->sharedMemBytes = (unsigned)(device.faults.shared_told_by_12_bits ? r->shared_bytes & 4095 : r->shared_bytes);
    r->told[0] = device.faults.argument_of_first_told ? r->first_args : r->args;
    p->kernelParams = r->told;
    return cudaSuccess;
}

/* What is known of what the function before does. */
void request_keeps_function(struct request *r, const struct model_kernel *before)
{
    const struct function *was = function_find(before->func);
    if (was == NULL || r->kernel == before)
        return;
    r->never_waited |= !was->has_waited;
    r->never_triggered |= !was->has_triggered;
}

/* The attributes stay. */
cudaError_t kernel_replace(struct request *r, const struct cudaKernelNodeParams *p)
{
    struct request fresh;
    cudaError_t error = request_fill_node(&fresh, p);
    FAIL_IF(error != cudaSuccess, error);
    const struct model_kernel *before = r->kernel;
    if (!device.faults.params_keep_function)
        r->kernel = fresh.kernel;
    if (device.faults.new_function_uncovered || device.faults.new_function_lets_go)
        request_keeps_function(r, before);
    memcpy(r->grid, fresh.grid, sizeof r->grid);
    if (device.faults.params_by_16_bits)
        r->grid[0] &= 0xffff;
    memcpy(r->block, fresh.block, (device.faults.params_keep_block_z ? 2 : 3) * sizeof r->block[0]);
    if (!device.faults.params_keep_shared)
        r->shared_bytes = fresh.shared_bytes;
    if (p->extra == NULL || !device.faults.changed_piece_lost)
        memcpy(r->args, fresh.args, fresh.kernel->args_bytes);
    size_t most = device.faults.params_end_at_64 ? 64 : device.faults.params_end_at_128 ? 128 : sizeof r->args;
    if (r->kernel->args_bytes > most)
        memset(r->args + most, 0, r->kernel->args_bytes - most);
    if (device.faults.params_lose_attributes && r->num_attrs > 1)
        r->num_attrs = 1;
    if (device.faults.params_lose_cooperative)
        request_loses_cooperative(r);
    if (device.faults.renewed_loses_cluster)
        r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
    return cudaSuccess;
}

static void completions_become_full(const struct node *from)
{
    for (size_t i = 0; i < from->graph->arcs; i++) {
        struct arc *a = &from->graph->arc[i];
        if (a->from == from && a->data.from_port == 2 && a->data.type == cudaGraphDependencyTypeDefault)
            a->data = full_edge;
    }
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t handle, const struct cudaKernelNodeParams *p)
{
    CALL(cudaGraphKernelNodeSetParams);
    struct request *r = kernel_of(handle);
    FAIL_IF(r == NULL || p == NULL, cudaErrorInvalidValue);
    if (node_is_fixed(node_of(handle)))
        return cudaSuccess;
    cudaError_t error = kernel_replace(r, p);
    if (error == cudaSuccess && device.faults.params_fill_completions)
        completions_become_full(node_of(handle));
    if (error != cudaSuccess && device.faults.refused_params_shrink_node)
        r->grid[0] = 1;
    const struct graph *in = node_of(handle)->graph;
    bool followed = device.faults.source_changes_copies ||
                    (device.faults.body_kernel_changes_copies && graph_is_inside(in, cudaGraphNodeTypeConditional));
    if (error == cudaSuccess && followed)
        graphs_follow(node_of(handle));
    bool goes_back = device.faults.child_kernel_changes_source && in->owner != NULL;
    if (device.faults.second_clone_params_go_back && in->owner == NULL) {
        const struct node *source = node_of(handle)->original; /* may be gone: only this device looks at it */
        goes_back |= source != NULL && source->original != NULL;
    }
    if (error == cudaSuccess && goes_back)
        original_follows(node_of(handle));
    return error;
}

/* ATTR-06: overlap in a graph lives on edges, not on nodes */
static bool is_node_attribute(int id)
{
    return id == 1 || id == 2 || id == 4 || id == 5 || id == 8 || id == 9 || id == 10 || id == 11 || id == 13 || id == 14;
}

static cudaError_t node_keeps_attribute(struct node *n, const cudaLaunchAttribute *a)
{
    const struct faults *f = &device.faults;
    struct request *r = n->kernel;
    for (unsigned i = 0; i < r->num_attrs; i++)
        if (r->attrs[i].id == a->id) {
            if (!f->attribute_set_once)
                r->attrs[i].val = a->val;
            return cudaSuccess;
        }
    if ((f->fifth_node_attribute_lost && r->num_attrs >= 4) || (f->captured_takes_no_attribute && n->captured) ||
        (f->other_thread_attribute_lost && device.other_thread) || (f->made_takes_no_attribute && n->graph->made))
        return cudaSuccess;
    FAIL_IF(r->num_attrs == MODEL_MAX_ATTRS, cudaErrorInvalidValue);
    r->attrs[r->num_attrs++] = *a;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                                      const cudaLaunchAttributeValue *value)
{
    CALL(cudaGraphKernelNodeSetAttribute);
    struct request *r = kernel_of(handle);
    FAIL_IF(r == NULL || value == NULL || !is_node_attribute((int)id), cudaErrorInvalidValue);
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = id;
    attribute.val = *value;
    cudaError_t error = request_attribute(r, &attribute);
    if (error != cudaSuccess && device.faults.refused_attribute_ends_clusters)
        r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
    if (error != cudaSuccess && device.faults.refused_attribute_drops_others)
        r->num_attrs = 0;
    FAIL_IF(error != cudaSuccess, error);
    r->late_to |= node_of(handle)->incoming != 0 ? 1u << id : 0;
    r->late_from |= node_of(handle)->outgoing != 0 ? 1u << id : 0;
    r->cooperative &= !(device.faults.node_carve_out_drops_cooperative && (int)id == 14);
    r->cooperative &= !(device.faults.node_priority_drops_cooperative && id == cudaLaunchAttributePriority) &&
                      !(device.faults.node_scheduling_drops_cooperative && id == cudaLaunchAttributeClusterSchedulingPolicyPreference);
    if (device.faults.node_domain_map_drops_clusters && (int)id == 9)
        r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
    if (device.faults.nested_attribute_ignored && graph_is_inside(node_of(handle)->graph, cudaGraphNodeTypeGraph))
        return cudaSuccess;
    if (device.faults.source_attribute_changes_copies)
        graphs_follow_attribute(node_of(handle), &attribute);
    return node_keeps_attribute(node_of(handle), &attribute);
}

static void edges_become_programmatic(const struct node *to)
{
    for (size_t i = 0; i < to->graph->arcs; i++)
        if (to->graph->arc[i].to == to && to->graph->arc[i].from->kernel != NULL)
            to->graph->arc[i].data.from_port = to->graph->arc[i].data.type = 1;
}

static void fill_edges(const struct node *to)
{
    for (size_t i = 0; i < to->graph->arcs; i++)
        if (to->graph->arc[i].to == to)
            to->graph->arc[i].data = full_edge;
}

static void lose_edges(const struct node *to)
{
    for (size_t i = to->graph->arcs; i-- > 0;)
        if (to->graph->arc[i].to == to)
            graph_drop_arc(to->graph, i);
}

/* Devices on which a node keeps its attributes when it is to have those of another one */
static bool keeps_attributes(const struct node *to)
{
    const struct faults *f = &device.faults;
    return (f->captured_borrows_nothing && to->captured) || (f->inner_borrows_nothing && to->graph->owner != NULL) ||
           (f->clone_borrows_nothing && to->graph->owner == NULL && to->original != NULL);
}

/* Attributes of a launch that no node has, as attribute 6, stay behind. */
cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    CALL(cudaGraphKernelNodeCopyAttributes);
    struct request *r = kernel_of(to);
    const struct request *source = kernel_of(from);
    FAIL_IF(r == NULL || source == NULL, cudaErrorInvalidValue);
    if (keeps_attributes(node_of(to)))
        return cudaSuccess;
    if (device.faults.own_attributes_wiped && r == source) {
        r->num_attrs = 0;
        r->cooperative = r->urgent = false;
        r->domain = 0;
        r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
    }
    if (device.faults.copied_attributes_overlap && source->programmatic)
        edges_become_programmatic(node_of(to));
    if (device.faults.copied_attributes_fill)
        fill_edges(node_of(to));
    if (device.faults.copied_attributes_cut)
        lose_edges(node_of(to));
    for (unsigned i = 0; i < source->num_attrs; i++) {
        int id = (int)source->attrs[i].id;
        if (!is_node_attribute(id) || (id == 10 && device.faults.copied_domain_lost) || (id == 8 && device.faults.copied_priority_lost))
            continue;
        if ((id == 9 && device.faults.copied_map_lost) || (id == 14 && device.faults.copied_carve_out_lost))
            continue;
        bool told_only = (id == 2 && (device.faults.lent_cooperative_told_only ||
                                      (device.faults.lent_cooperative_beside_told_only && source->num_attrs > 1))) || (id == 4 && device.faults.lent_clusters_told_only);
        cudaError_t error = told_only ? cudaSuccess : request_attribute(r, &source->attrs[i]);
        if (error == cudaSuccess)
            error = node_keeps_attribute(node_of(to), &source->attrs[i]);
        FAIL_IF(error != cudaSuccess, error);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                                      cudaLaunchAttributeValue *value)
{
    CALL(cudaGraphKernelNodeGetAttribute);
    const struct request *r = kernel_of(handle);
    FAIL_IF(r == NULL || value == NULL || !is_node_attribute((int)id), cudaErrorInvalidValue);
    memset(value, 0, sizeof *value);
    for (unsigned i = 0; i < r->num_attrs; i++)
        if (r->attrs[i].id == id)
            *value = r->attrs[i].val;
    if (((int)id == 14 && device.faults.node_carve_out_not_kept) || ((int)id == 1 && device.faults.node_window_not_kept))
        memset(value, 0, sizeof *value);
    return cudaSuccess;
}
