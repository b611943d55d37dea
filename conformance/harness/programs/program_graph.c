/* program_graph.c - makes a program as a graph, in many ways that mean the same, and reads back what was made. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../edges.h"
#include "../words.h"

#define TRY(call)                       \
    do {                                \
        cudaError_t error_ = (call);    \
        if (error_ != cudaSuccess)      \
            return error_;              \
    } while (0)

const char *const graph_way_name[GRAPH_WAYS] = {
    "nodes, then edges one by one", "nodes, then edges in any order", "each node with its edges", "nodes, then the edges of a kind in one call",
    "each node captured after its edges", "one capture whose dependencies are updated", "a clone", "a child graph",
    "the body of a conditional node", "edges made otherwise, removed and made again", "nodes and edges too many, destroyed again",
    "kernels between full edges as child graphs",
    "nodes, then all edges in one call"
};
const char *const exec_way_name[EXEC_WAYS] = { "instantiated", "instantiated twice", "updated from another graph", "updated node by node",
                                               "nodes disabled and enabled again", "uploaded first", "launched three times" };

/* ---- steps ---- */

void program_step_args(const struct made *made, unsigned step, struct kernel_args *args)
{
    const struct program_room *room = made->room;
    const struct program_staging *device = (const struct program_staging *)(const void *)room->mapped;

    memset(args, 0, sizeof(*args));
    args->plan = (const struct trial_plan *)(const void *)(room->plan + step + (made->decoy ? PROGRAM_STEPS : 0));
    args->data = room->data + (made->decoy ? PROGRAM_STEPS * PROGRAM_WORDS : 0);
    args->state = room->state;
    args->primary_sm = room->began;
    args->dependent_sm = room->began + PROGRAM_STEPS;
    args->seen = (uint32_t *)(uintptr_t)device->mark;
    args->input = (uint32_t *)(uintptr_t)device->from_host;
}

static uint32_t *words_of(const struct made *made, unsigned step)
{
    return made->room->data + ((made->decoy ? PROGRAM_STEPS : 0) + step) * PROGRAM_WORDS;
}

static dim3 grid_of(const struct step *step)
{
    dim3 grid;

    grid.x = step->grid[0];
    grid.y = step->grid[1];
    grid.z = step->grid[2];
    return grid;
}

static dim3 line_of(unsigned threads)
{
    dim3 block;

    block.x = threads;
    block.y = block.z = 1;
    return block;
}

cudaError_t program_set_attributes(const struct made *made, unsigned index, cudaGraphNode_t node)
{
    const struct step *step = &made->program->step[index];
    cudaLaunchAttributeValue value;

    memset(&value, 0, sizeof(value));
    if (step->cluster > 1) {
        value.clusterDim.x = step->cluster;
        value.clusterDim.y = value.clusterDim.z = 1;
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    }
    memset(&value, 0, sizeof(value));
    value.cooperative = 1;
    if (step->cooperative)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    value.priority = made->room->high_priority;
    if (step->urgent)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
    value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    if (step->domain)
        TRY(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeMemSyncDomain, &value));
    return cudaSuccess;
}

static void fill_set(const struct made *made, unsigned index, struct cudaMemsetParams *set)
{
    memset(set, 0, sizeof(*set));
    set->dst = words_of(made, index);
    set->value = program_set_word(index);
    set->elementSize = 4;
    set->width = PROGRAM_WORDS;
    set->height = 1;
    set->pitch = PROGRAM_WORDS * 4;
}

static void fill_host(const struct made *made, unsigned index, struct cudaHostNodeParams *host);

static cudaError_t add_general(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                               const cudaGraphEdgeData *data, size_t count, cudaGraphNode_t *node)
{
    const struct step *step = &made->program->step[index];
    struct cudaGraphNodeParams params;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    struct kernel_args args;
    void *values[1];

    memset(&params, 0, sizeof(params));
    values[0] = &args;
    switch (step->kind) {
    case STEP_KERNEL:
        program_step_args(made, index, &args);
        params.type = cudaGraphNodeTypeKernel;
        params.kernel.func = (void *)(uintptr_t)made->room->kernel;
        params.kernel.gridDim = grid_of(step);
        params.kernel.blockDim = line_of(step->threads);
        params.kernel.sharedMemBytes = step->shared_bytes;
        params.kernel.kernelParams = values;
        break;
    case STEP_SET:
        fill_set(made, index, &set);
        params.type = cudaGraphNodeTypeMemset;
        params.memset.dst = set.dst;
        params.memset.pitch = set.pitch;
        params.memset.value = set.value;
        params.memset.elementSize = set.elementSize;
        params.memset.width = set.width;
        params.memset.height = set.height;
        break;
    case STEP_COPY:
        params.type = cudaGraphNodeTypeMemcpy;
        params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
        params.memcpy.copyParams.srcPtr.ptr = words_of(made, step->read[0]);
        params.memcpy.copyParams.dstPtr.ptr = words_of(made, index);
        params.memcpy.copyParams.srcPtr.pitch = params.memcpy.copyParams.dstPtr.pitch = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.srcPtr.xsize = params.memcpy.copyParams.dstPtr.xsize = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.srcPtr.ysize = params.memcpy.copyParams.dstPtr.ysize = 1;
        params.memcpy.copyParams.extent.width = PROGRAM_WORDS * 4;
        params.memcpy.copyParams.extent.height = params.memcpy.copyParams.extent.depth = 1;
        break;
    case STEP_HOST:
        fill_host(made, index, &host);
        params.type = cudaGraphNodeTypeHost;
        params.host.fn = host.fn;
        params.host.userData = host.userData;
        break;
    default: params.type = cudaGraphNodeTypeEmpty; break;
    }
    return edges_add_node(node, graph, deps, data, count, &params);
}

/* By the function of its kind, which makes full edges. */
static cudaError_t add_typed(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                             cudaGraphNode_t *node)
{
    const struct step *step = &made->program->step[index];
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    struct kernel_args args;
    void *values[1];

    switch (step->kind) {
    case STEP_KERNEL:
        program_step_args(made, index, &args);
        values[0] = &args;
        memset(&kernel, 0, sizeof(kernel));
        kernel.func = (void *)(uintptr_t)made->room->kernel;
        kernel.gridDim = grid_of(step);
        kernel.blockDim = line_of(step->threads);
        kernel.sharedMemBytes = step->shared_bytes;
        kernel.kernelParams = values;
        return cudaGraphAddKernelNode(node, graph, deps, count, &kernel);
    case STEP_SET: fill_set(made, index, &set); return cudaGraphAddMemsetNode(node, graph, deps, count, &set);
    case STEP_COPY:
        return cudaGraphAddMemcpyNode1D(node, graph, deps, count, words_of(made, index), words_of(made, step->read[0]), PROGRAM_WORDS * 4,
                                        cudaMemcpyDeviceToDevice);
    case STEP_HOST: fill_host(made, index, &host); return cudaGraphAddHostNode(node, graph, deps, count, &host);
    default: return cudaGraphAddEmptyNode(node, graph, deps, count);
    }
}

/* In a child graph of its own a kernel means the same, as long as all its edges are full. */
static int may_be_wrapped(const struct program *p, unsigned index)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if ((p->link[l].from == index || p->link[l].to == index) && p->link[l].kind != LINK_FULL)
            return 0;
    return p->step[index].kind == STEP_KERNEL;
}

static cudaError_t add_wrapped(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                               cudaGraphNode_t *node)
{
    cudaGraph_t child;
    cudaGraphNode_t inside;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error != cudaSuccess)
        return error;
    error = add_typed(made, child, index, NULL, 0, &inside);
    if (error == cudaSuccess)
        error = program_set_attributes(made, index, inside);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, graph, deps, count, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

cudaError_t program_add_step(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, int general, cudaGraphNode_t *node)
{
    if (made->way == WAY_WRAPPED && may_be_wrapped(made->program, index))
        return add_wrapped(made, graph, index, deps, count, node);
    if (general)
        TRY(add_general(made, graph, index, deps, data, count, node));
    else
        TRY(add_typed(made, graph, index, deps, count, node));
    return made->program->step[index].kind == STEP_KERNEL ? program_set_attributes(made, index, *node) : cudaSuccess;
}

/* A host step looks whether the kernels before it are complete, and writes its words. */
static void CUDART_CB host_step_runs(void *opaque)
{
    const struct program_host_step *host = (const struct program_host_step *)opaque;
    struct program_room *room = host->room;
    volatile const uint32_t *mark = room->staging->mark;
    unsigned i;

    if (host->decoy)
        return;
    for (i = 0; i < host->reads; i++)
        room->host_wrong += mark[host->read[i]] != (uint32_t)room->key + host->read[i];
    for (i = 0; i < PROGRAM_WORDS; i++)
        room->staging->from_host[host->step][i] = ~words_fresh(room->key, host->step * PROGRAM_WORDS + i);
}

static void fill_host(const struct made *made, unsigned index, struct cudaHostNodeParams *host)
{
    const struct step *step = &made->program->step[index];
    struct program_host_step *data = &made->room->host[made->decoy_hosts ? PROGRAM_STEPS + index : index];

    data->room = made->room;
    data->decoy = made->decoy_hosts;
    data->step = index;
    data->reads = step->reads;
    memcpy(data->read, step->read, sizeof(data->read));
    memset(host, 0, sizeof(*host));
    host->fn = host_step_runs;
    host->userData = data;
}

cudaError_t program_launch_host(const struct made *made, unsigned index, cudaStream_t stream)
{
    struct cudaHostNodeParams host;

    fill_host(made, index, &host);
    return cudaLaunchHostFunc(stream, host.fn, host.userData);
}

/* ---- ways to make the graph ---- */

static cudaError_t add_nodes(struct made *made)
{
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        TRY(program_add_step(made, made->inner, i, NULL, NULL, 0, dice_below(&made->dice, 2) != 0, &made->node[i]));
    return cudaSuccess;
}

static cudaError_t add_edge(const struct made *made, unsigned l)
{
    const struct link *link = &made->program->link[l];
    cudaGraphEdgeData data = program_edge(link->kind);
    int bare = link->kind == LINK_FULL && l % 2;

    return edges_add(made->inner, &made->node[link->from], &made->node[link->to], bare ? NULL : &data, 1);
}

static cudaError_t add_edges(struct made *made)
{
    unsigned l;

    for (l = 0; l < made->program->links; l++)
        TRY(add_edge(made, l));
    return cudaSuccess;
}

static cudaError_t add_edges_in_any_order(struct made *made)
{
    unsigned order[PROGRAM_LINKS], l;

    for (l = 0; l < made->program->links; l++) {
        unsigned k = dice_below(&made->dice, l + 1);
        order[l] = order[k];
        order[k] = l;
    }
    for (l = 0; l < made->program->links; l++)
        TRY(add_edge(made, order[l]));
    return cudaSuccess;
}

/* The links that `takes` chooses, as arrays. */
struct edge_list {
    cudaGraphNode_t from[PROGRAM_LINKS], to[PROGRAM_LINKS];
    cudaGraphEdgeData data[PROGRAM_LINKS];
    unsigned count;
};

static void list_edge(const struct made *made, unsigned l, struct edge_list *list)
{
    const struct link *link = &made->program->link[l];

    list->from[list->count] = made->node[link->from];
    list->to[list->count] = made->node[link->to];
    list->data[list->count++] = program_edge(link->kind);
}

static void list_into(const struct made *made, unsigned step, struct edge_list *list)
{
    unsigned l;

    list->count = 0;
    for (l = 0; l < made->program->links; l++)
        if (made->program->link[l].to == step)
            list_edge(made, l, list);
}

static cudaError_t add_edges_by_kind(struct made *made)
{
    static struct edge_list list;
    unsigned kind, l;

    for (kind = 0; kind < LINK_KINDS; kind++) {
        list.count = 0;
        for (l = 0; l < made->program->links; l++)
            if (made->program->link[l].kind == (enum link_kind)kind)
                list_edge(made, l, &list);
        if (list.count)
            TRY(edges_add(made->inner, list.from, list.to, list.data, list.count));
    }
    return cudaSuccess;
}

static cudaError_t add_edges_in_one_call(struct made *made)
{
    static struct edge_list list;
    unsigned l;

    list.count = 0;
    for (l = 0; l < made->program->links; l++)
        list_edge(made, l, &list);
    return list.count ? edges_add(made->inner, list.from, list.to, list.data, list.count) : cudaSuccess;
}

static cudaError_t add_nodes_with_edges(struct made *made)
{
    static struct edge_list list;
    unsigned i, full, e;

    for (i = 0; i < made->program->steps; i++) {
        list_into(made, i, &list);
        for (full = 1, e = 0; e < list.count; e++)
            full &= list.data[e].type == 0 && list.data[e].from_port == 0;
        TRY(program_add_step(made, made->inner, i, list.from, full && i % 2 ? NULL : list.data, list.count, !full || dice_below(&made->dice, 2),
                             &made->node[i]));
    }
    return cudaSuccess;
}

/* The node that the capture added last: what the stream would depend on now. */
static cudaError_t captured_node(const struct made *made, cudaStream_t stream, cudaGraphNode_t *node)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0;

    (void)made;
#if CUDART_VERSION >= 13000
    TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &data, &count));
#else
    TRY(cudaStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, &data, &count));
#endif
    if (count != 1)
        return cudaErrorUnknown;
    *node = nodes[0];
    return cudaSuccess;
}

static cudaError_t capture_step(struct made *made, unsigned i)
{
    cudaError_t error = program_launch_step(made, i, made->room->stream, NULL, LINK_FULL, NULL);
    return error == cudaSuccess ? captured_node(made, made->room->stream, &made->node[i]) : error;
}

static int captures_steps(const struct program *p)
{
    unsigned i;

    for (i = 0; i < p->steps; i++)
        if (p->step[i].kind == STEP_EMPTY)
            return 0;
    return 1;
}

static cudaError_t begin_each(struct made *made)
{
    static struct edge_list list;
    unsigned i;

    if (!captures_steps(made->program))
        return program_declines(made);
    for (i = 0; i < made->program->steps; i++) {
        cudaError_t error, end;
        cudaGraph_t out = NULL;
        list_into(made, i, &list);
        TRY(cudaStreamBeginCaptureToGraph(made->room->stream, made->inner, list.count ? list.from : NULL, list.count ? list.data : NULL,
                                          list.count, cudaStreamCaptureModeThreadLocal));
        error = capture_step(made, i);
        end = cudaStreamEndCapture(made->room->stream, &out);
        TRY(error);
        TRY(end);
    }
    return cudaSuccess;
}

static cudaError_t update_all(struct made *made)
{
    static struct edge_list list;
    unsigned i;

    for (i = 0; i < made->program->steps; i++) {
        list_into(made, i, &list);
        TRY(edges_update_capture(made->room->stream, list.count ? list.from : NULL, list.count ? list.data : NULL, list.count,
                                 cudaStreamSetCaptureDependencies));
        TRY(capture_step(made, i));
    }
    return cudaSuccess;
}

static cudaError_t update_in_one_capture(struct made *made)
{
    cudaError_t error, end;
    cudaGraph_t out = NULL;

    if (!captures_steps(made->program))
        return program_declines(made);
    TRY(cudaStreamBeginCaptureToGraph(made->room->stream, made->inner, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal));
    error = update_all(made);
    end = cudaStreamEndCapture(made->room->stream, &out);
    return error == cudaSuccess ? end : error;
}

/* Every edge is first of the next kind that its nodes may have, then removed and made right. */
static cudaError_t correct_edges(struct made *made)
{
    unsigned l;

    for (l = 0; l < made->program->links; l++) {
        const struct link *link = &made->program->link[l];
        int kernels = made->program->step[link->from].kind == STEP_KERNEL && made->program->step[link->to].kind == STEP_KERNEL;
        cudaGraphEdgeData wrong = program_edge(kernels ? (enum link_kind)((link->kind + 1) % LINK_KINDS) : LINK_FULL);
        TRY(edges_add(made->inner, &made->node[link->from], &made->node[link->to], &wrong, 1));
        TRY(edges_remove(made->inner, &made->node[link->from], &made->node[link->to], &wrong, 1));
        TRY(add_edge(made, l));
    }
    return cudaSuccess;
}

/* Extra nodes between those of the program. They are destroyed once all edges exist. */
static cudaError_t prune(struct made *made)
{
    cudaGraphNode_t extra[4];
    unsigned i, extras = 0;

    TRY(cudaGraphAddEmptyNode(&extra[extras++], made->inner, NULL, 0));
    TRY(add_nodes(made));
    for (i = 0; i < 3; i++) {
        cudaGraphNode_t from = made->node[dice_below(&made->dice, made->program->steps)];
        TRY(cudaGraphAddEmptyNode(&extra[extras++], made->inner, &from, 1));
    }
    TRY(add_edges(made));
    for (i = 0; i < extras; i++)
        TRY(cudaGraphDestroyNode(extra[i]));
    return cudaSuccess;
}

static cudaError_t make_inner(struct made *made, enum graph_way way)
{
    switch (way) {
    case WAY_NEW_NODES: return add_nodes_with_edges(made);
    case WAY_BEGUN: return begin_each(made);
    case WAY_UPDATED_CAPTURE: return update_in_one_capture(made);
    case WAY_PRUNED: return prune(made);
    default: TRY(add_nodes(made)); break;
    }
    switch (way) {
    case WAY_ANY_ORDER: return add_edges_in_any_order(made);
    case WAY_BY_KIND: return add_edges_by_kind(made);
    case WAY_ONE_CALL: return add_edges_in_one_call(made);
    case WAY_CORRECTED: return correct_edges(made);
    default: return add_edges(made);
    }
}

/* ---- graphs around it ---- */

static cudaError_t find_again(struct made *made, cudaGraph_t in)
{
    cudaGraphNode_t found[PROGRAM_STEPS];
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        TRY(cudaGraphNodeFindInClone(&found[i], made->node[i], in));
    memcpy(made->node, found, made->program->steps * sizeof(found[0]));
    return cudaSuccess;
}

static cudaError_t clone_it(struct made *made)
{
    cudaGraph_t clone;

    TRY(cudaGraphClone(&clone, made->inner));
    TRY(find_again(made, clone));
    TRY(cudaGraphDestroy(made->inner));
    made->graph = made->inner = clone;
    return cudaSuccess;
}

/* The nodes of the copy inside: as those of a clone, or else by the order in which both graphs list them. */
static cudaError_t find_inside(struct made *made, cudaGraph_t inside)
{
    static cudaGraphNode_t old_list[PROGRAM_STEPS], new_list[PROGRAM_STEPS];
    size_t olds = PROGRAM_STEPS, news = PROGRAM_STEPS, k;
    unsigned i;

    if (find_again(made, inside) == cudaSuccess)
        return cudaSuccess;
    (void)cudaGetLastError();
    TRY(cudaGraphGetNodes(made->inner, old_list, &olds));
    TRY(cudaGraphGetNodes(inside, new_list, &news));
    if (olds != news)
        return cudaErrorUnknown;
    for (i = 0; i < made->program->steps; i++)
        for (k = 0; k < olds; k++)
            if (old_list[k] == made->node[i]) {
                made->node[i] = new_list[k];
                break;
            }
    return cudaSuccess;
}

/* From now on the program is what lies in this graph, `levels` child graphs deep; what it was before goes. */
static cudaError_t descend(struct made *made, cudaGraph_t graph, unsigned levels)
{
    cudaGraph_t before = made->graph, inside = graph;
    cudaGraphNode_t node;
    size_t one = 1;

    made->graph = graph;
    while (levels--) {
        TRY(cudaGraphGetNodes(inside, &node, &one));
        TRY(cudaGraphChildGraphNodeGetGraph(node, &inside));
    }
    TRY(find_inside(made, inside));
    made->inner = inside;
    return cudaGraphDestroy(before);
}

static cudaError_t put_into_children(struct made *made)
{
    unsigned level, deepest = 1 + dice_below(&made->dice, 3);
    cudaGraphNode_t node;
    cudaGraph_t outer;

    for (level = 1; level <= deepest; level++) {
        TRY(cudaGraphCreate(&outer, 0));
        TRY(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, made->graph)); /* clones it */
        TRY(descend(made, outer, level));
    }
    if (dice_below(&made->dice, 2))
        return cudaSuccess;
    TRY(cudaGraphClone(&outer, made->graph));
    return descend(made, outer, deepest);
}

static cudaError_t open_body(struct made *made)
{
#if CUDART_VERSION >= 12040
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams params;
    cudaGraphNode_t node;
    unsigned i;

    for (i = 0; i < made->program->steps; i++)
        if (made->program->step[i].kind == STEP_HOST)
            return program_declines(made); /* a body takes no host functions */
    TRY(cudaGraphCreate(&made->graph, 0));
    TRY(cudaGraphConditionalHandleCreate(&handle, made->graph, 1, cudaGraphCondAssignDefault));
    memset(&params, 0, sizeof(params));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    TRY(edges_add_node(&node, made->graph, NULL, NULL, 0, &params));
    made->inner = params.conditional.phGraph_out[0];
    return cudaSuccess;
#else
    return program_declines(made);
#endif
}

cudaError_t program_declines(struct made *made)
{
    made->declined = 1;
    return cudaErrorNotSupported;
}

cudaError_t graph_make(struct made *made, enum graph_way way)
{
    made->way = way;
    if (way == WAY_BODY) {
        TRY(open_body(made));
        return make_inner(made, WAY_ONE_BY_ONE);
    }
    TRY(cudaGraphCreate(&made->inner, 0));
    made->graph = made->inner;
    TRY(make_inner(made, way));
    if (way == WAY_CLONE)
        return clone_it(made);
    return way == WAY_CHILD ? put_into_children(made) : cudaSuccess;
}

void graph_unmake(struct made *made)
{
    if (made->graph)
        (void)cudaGraphDestroy(made->graph);
    made->graph = made->inner = NULL;
}

/* ---- reading back ---- */

static void tell_edge(char *text, size_t room, const struct link *link, const char *what, cudaGraphEdgeData data)
{
    cudaGraphEdgeData want = program_edge(link->kind);

    snprintf(text, room, "%u>%u was to be %u,%u,%u and is %s%u,%u,%u", link->from, link->to, want.from_port, want.to_port, want.type, what,
             data.from_port, data.to_port, data.type);
}

unsigned graph_compare(const struct made *made, char *text, size_t room)
{
    static cudaGraphNode_t from[PROGRAM_LINKS + 1], to[PROGRAM_LINKS + 1];
    static cudaGraphEdgeData data[PROGRAM_LINKS + 1];
    const struct program *p = made->program;
    size_t count = PROGRAM_LINKS + 1, nodes = 0, e;
    unsigned l, wrong = 0;

    if (edges_of_graph(made->inner, from, to, data, &count) != cudaSuccess || cudaGraphGetNodes(made->inner, NULL, &nodes) != cudaSuccess) {
        snprintf(text, room, "its edges cannot be read");
        return 1;
    }
    for (l = 0; l < p->links; l++) {
        cudaGraphEdgeData want = program_edge(p->link[l].kind);
        for (e = 0; e < count && !(from[e] == made->node[p->link[l].from] && to[e] == made->node[p->link[l].to]); e++)
            ;
        if (e < count && memcmp(&data[e], &want, sizeof(want)) == 0)
            continue;
        if (!wrong++)
            tell_edge(text, room, &p->link[l], e < count ? "" : "absent ", e < count ? data[e] : want);
    }
    if (!wrong && (count != p->links || nodes != p->steps)) {
        snprintf(text, room, "it has %u nodes and %u edges instead of %u and %u", (unsigned)nodes, (unsigned)count, p->steps, p->links);
        wrong++;
    }
    return wrong;
}

/* ---- ways to make it executable ---- */

/* The same nodes and edges; the kernels work on other memory. hosts: the host functions do nothing. */
static cudaError_t make_decoy(const struct made *made, struct made *decoy, int hosts)
{
    memset(decoy, 0, sizeof(*decoy));
    decoy->program = made->program;
    decoy->room = made->room;
    decoy->dice = made->dice;
    decoy->decoy = 1;
    decoy->decoy_hosts = hosts;
    return graph_make(decoy, WAY_ONE_BY_ONE);
}

/* An update pairs nodes by the order in which they and their edges were added and removed (CUDA Programming Guide, whole graph
 * update). Only these ways keep the order of the decoy; for another order the documents promise no pairing. */
static int keeps_the_decoys_order(enum graph_way way)
{
    return way == WAY_ONE_BY_ONE || way == WAY_NEW_NODES || way == WAY_ONE_CALL;
}

static cudaError_t update_whole(struct made *made, cudaGraphExec_t *exec)
{
    cudaGraphExecUpdateResultInfo info;
    struct made decoy;
    cudaError_t error;

    if (made->graph != made->inner || !keeps_the_decoys_order(made->way))
        return program_declines(made);
    error = make_decoy(made, &decoy, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, decoy.graph, 0);
    if (error == cudaSuccess && dice_below(&made->dice, 2)) /* the last update counts */
        error = cudaGraphExecUpdate(*exec, decoy.graph, &info);
    if (error == cudaSuccess)
        error = cudaGraphExecUpdate(*exec, made->graph, &info);
    graph_unmake(&decoy);
    if (error != cudaErrorGraphExecUpdateFailure || made->way == WAY_ONE_BY_ONE)
        return error;
    (void)cudaGetLastError(); /* nodes or edges that were made in another order may be refused */
    (void)cudaGraphExecDestroy(*exec);
    *exec = NULL;
    return program_declines(made);
}

static cudaError_t update_nodes(struct made *made, cudaGraphExec_t *exec)
{
    struct made decoy;
    unsigned i;
    cudaError_t error = made->graph == made->inner ? make_decoy(made, &decoy, 0) : program_declines(made);

    if (error != cudaSuccess)
        return error;
    for (i = 0; i < made->program->steps; i++)
        if (made->program->step[i].kind == STEP_SET || made->program->step[i].kind == STEP_COPY) {
            graph_unmake(&decoy);
            return program_declines(made); /* only the kernels' parameters are set anew */
        }
    error = cudaGraphInstantiate(exec, decoy.graph, 0);
    for (i = 0; i < made->program->steps && error == cudaSuccess; i++) {
        const struct step *step = &made->program->step[i];
        struct cudaKernelNodeParams params;
        struct kernel_args args;
        void *values[1];
        if (step->kind != STEP_KERNEL)
            continue;
        memset(&params, 0, sizeof(params));
        values[0] = &args;
        params.func = (void *)(uintptr_t)made->room->kernel;
        params.gridDim = grid_of(step);
        params.blockDim = line_of(step->threads);
        params.sharedMemBytes = step->shared_bytes;
        params.kernelParams = values;
        if (dice_below(&made->dice, 2)) { /* the last parameters count */
            program_step_args(&decoy, i, &args);
            error = cudaGraphExecKernelNodeSetParams(*exec, decoy.node[i], &params);
        }
        program_step_args(made, i, &args);
        if (error == cudaSuccess)
            error = cudaGraphExecKernelNodeSetParams(*exec, decoy.node[i], &params);
    }
    graph_unmake(&decoy);
    return error;
}

static cudaError_t enable_again(struct made *made, cudaGraphExec_t exec)
{
    unsigned i;

    if (made->graph != made->inner || made->way == WAY_WRAPPED) /* a child graph is not left out */
        return program_declines(made);
    for (i = 0; i < made->program->steps; i++) {
        enum step_kind kind = made->program->step[i].kind;
        if (kind == STEP_HOST || kind == STEP_EMPTY || dice_below(&made->dice, 2))
            continue;
        TRY(cudaGraphNodeSetEnabled(exec, made->node[i], 0));
        TRY(cudaGraphNodeSetEnabled(exec, made->node[i], 1));
    }
    return cudaSuccess;
}

cudaError_t exec_make(struct made *made, enum exec_way way, cudaGraphExec_t *exec)
{
    cudaGraphExec_t first;

    *exec = NULL;
    switch (way) {
    case EXEC_UPDATED: return update_whole(made, exec);
    case EXEC_BY_NODE: return update_nodes(made, exec);
    case EXEC_SECOND:
        TRY(cudaGraphInstantiate(&first, made->graph, 0));
        if (made->way == WAY_BODY) { /* of a graph with a conditional node only one instantiation may exist at a time */
            TRY(cudaGraphExecDestroy(first));
            return cudaGraphInstantiate(exec, made->graph, 0);
        }
        TRY(cudaGraphInstantiate(exec, made->graph, 0));
        return cudaGraphExecDestroy(first);
    default: break;
    }
    TRY(cudaGraphInstantiate(exec, made->graph, way == EXEC_AGAIN ? cudaGraphInstantiateFlagUseNodePriority : 0));
    if (way == EXEC_REENABLED)
        return enable_again(made, *exec);
    return way == EXEC_UPLOADED ? cudaGraphUpload(*exec, made->room->stream) : cudaSuccess;
}
