/* program_steps.c - one step of a program as a node of a graph: its arguments, its attributes, and what a host step does. */
#include "program.h"

#include <string.h>

#include "../edges.h"
#include "../words.h"
#include "try.h"

int program_is_decoy(const struct made *made, unsigned step) { return (made->decoys >> step & 1) != 0; }

void program_step_args(const struct made *made, unsigned step, struct kernel_args *args)
{
    const struct program_room *room = made->room;
    const struct program_staging *device = (const struct program_staging *)(const void *)room->mapped;
    unsigned decoy = program_is_decoy(made, step) != 0;

    memset(args, 0, sizeof(*args));
    args->plan = (const struct trial_plan *)(const void *)(room->plan + step + decoy * PROGRAM_STEPS);
    args->data = room->data + decoy * PROGRAM_STEPS * PROGRAM_WORDS;
    args->state = room->state;
    args->primary_sm = room->began + decoy * PROGRAM_BEGAN;
    args->dependent_sm = args->primary_sm + PROGRAM_STEPS;
    args->seen = (uint32_t *)(uintptr_t)device->mark;
    args->input = (uint32_t *)(uintptr_t)device->on_host;
}

static uint32_t *words_at(const struct made *made, unsigned step, int decoy)
{
    struct program_room *room = made->room;

    if (program_is_on_host(&made->program->step[step]))
        return decoy ? room->staging->decoy_on_host[step] : room->staging->on_host[step];
    return room->data + ((decoy ? PROGRAM_STEPS : 0) + step) * PROGRAM_WORDS;
}

uint32_t *program_words_of(const struct made *made, unsigned step) { return words_at(made, step, program_is_decoy(made, step)); }

/* The default kind lets the addresses tell. */
enum cudaMemcpyKind program_copy_kind(const struct program *program, unsigned index)
{
    const struct step *step = &program->step[index];
    int from_host = !step->reads || program_is_on_host(&program->step[step->read[0]]);

    if (index % 3 == 0)
        return cudaMemcpyDefault;
    if (step->to_host)
        return from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/* What a copy reads: the words of another step, of the same memory as its own; or those that the host gives. */
static uint32_t *source_of(const struct made *made, unsigned index)
{
    const struct step *step = &made->program->step[index];

    return step->reads ? words_at(made, step->read[0], program_is_decoy(made, index)) : made->room->staging->given[index];
}

static void fill_copy(const struct made *made, unsigned index, struct step_params *params)
{
    const struct step *step = &made->program->step[index];

    params->as.copy.to = (char *)program_words_of(made, index) + step->begin;
    params->as.copy.from = (char *)source_of(made, index) + step->source;
    params->as.copy.bytes = program_is_decoy(made, index) && !program_keeps_size(index) ? (step->bytes + 1) / 2 : step->bytes;
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
    room->staging->host_runs[host->step]++;
    room->host_wrong += *(volatile const uint32_t *)room->staging->ahead_mark != (uint32_t)room->key;
    for (i = 0; i < host->reads; i++)
        room->host_wrong += mark[host->read[i]] != (uint32_t)room->key + host->read[i];
    for (i = 0; i < PROGRAM_WORDS; i++)
        room->staging->on_host[host->step][i] = ~words_fresh(room->key, host->step * PROGRAM_WORDS + i);
}

/* The event of a node that records or awaits one; the decoy's is another. */
static cudaEvent_t event_of(const struct made *made, unsigned index)
{
    return made->room->node_event[index + (program_is_decoy(made, index) ? PROGRAM_STEPS : 0)];
}

/* Of every other step the decoy has one cluster, of the others one more than the step itself. */
static unsigned decoy_blocks(const struct step *step, unsigned index)
{
    if (step->cooperative)
        return step->grid[0];
    return index % 2 && step->grid[0] > step->cluster[0] ? step->cluster[0] : step->grid[0] + step->cluster[0];
}

void program_fill_kernel(const struct made *made, unsigned index, struct step_params *params)
{
    const struct step *step = &made->program->step[index];
    struct cudaKernelNodeParams *kernel = &params->as.kernel;
    int otherwise = program_is_decoy(made, index);

    program_step_args(made, index, &params->args);
    made->room->args.head = params->args;
    params->values[0] = step->more ? (void *)&made->room->args : &params->args;
    kernel->func = (void *)(uintptr_t)made->room->kernel[otherwise ? step->kernel ^ 1 : step->kernel];
    kernel->gridDim.x = otherwise ? decoy_blocks(step, index) : step->grid[0];
    kernel->gridDim.y = step->grid[1];
    kernel->gridDim.z = step->grid[2];
    kernel->blockDim.x = otherwise && step->block[0] > 1 ? step->block[0] - 1 : step->block[0];
    kernel->blockDim.y = step->block[1];
    kernel->blockDim.z = step->block[2];
    kernel->sharedMemBytes = otherwise && step->shared_bytes ? step->shared_bytes - 128 : step->shared_bytes;
    kernel->kernelParams = params->values;
}

static void fill_set(const struct made *made, unsigned index, struct cudaMemsetParams *set)
{
    const struct step *step = &made->program->step[index];

    set->dst = (char *)program_words_of(made, index) + step->begin;
    set->value = program_is_decoy(made, index) ? 0 : program_set_value(made->program, index);
    set->elementSize = step->element;
    set->width = step->bytes / step->element;
    set->height = step->rows;
    set->pitch = step->pitch;
}

static void fill_host(const struct made *made, unsigned index, struct cudaHostNodeParams *host)
{
    const struct step *step = &made->program->step[index];
    struct program_host_step *data = &made->room->host[program_is_decoy(made, index) ? PROGRAM_STEPS + index : index];

    data->room = made->room;
    data->decoy = program_is_decoy(made, index);
    data->step = index;
    data->reads = step->reads;
    memcpy(data->read, step->read, sizeof(data->read));
    host->fn = host_step_runs;
    host->userData = data;
}

void program_fill_step(const struct made *made, unsigned index, struct step_params *params)
{
    memset(params, 0, sizeof(*params));
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: program_fill_kernel(made, index, params); break;
    case STEP_SET: fill_set(made, index, &params->as.set); break;
    case STEP_COPY: fill_copy(made, index, params); break;
    case STEP_HOST: fill_host(made, index, &params->as.host); break;
    case STEP_RECORD:
    case STEP_AWAIT: params->as.event = event_of(made, index); break;
    default: break;
    }
}

cudaLaunchAttributeValue *program_add_attribute(cudaLaunchAttribute *attrs, unsigned *count, cudaLaunchAttributeID id)
{
    memset(&attrs[*count], 0, sizeof(attrs[0]));
    attrs[*count].id = id;
    return &attrs[(*count)++].val;
}

/* Each above the least one, from step to step. */
static int urgent_priority(const struct made *made, unsigned index)
{
    int highest = made->room->high_priority;

    return highest < 0 ? highest + (int)(index % (unsigned)-highest) : highest;
}

unsigned program_list_attributes(const struct made *made, unsigned index, cudaLaunchAttribute *attrs)
{
    const struct step *step = &made->program->step[index];
    unsigned n = 0;

    if (step->cluster[0] * step->cluster[1] * step->cluster[2] > 1) {
        cudaLaunchAttributeValue *value = program_add_attribute(attrs, &n, cudaLaunchAttributeClusterDimension);
        value->clusterDim.x = step->cluster[0];
        value->clusterDim.y = step->cluster[1];
        value->clusterDim.z = step->cluster[2];
    }
    if (step->cooperative)
        program_add_attribute(attrs, &n, cudaLaunchAttributeCooperative)->cooperative = 1;
    if (made->bare && program_is_decoy(made, index))
        return n;
    if (step->urgent)
        program_add_attribute(attrs, &n, cudaLaunchAttributePriority)->priority = urgent_priority(made, index);
    if (step->domain)
        program_add_attribute(attrs, &n, cudaLaunchAttributeMemSyncDomain)->memSyncDomain = cudaLaunchMemSyncDomainRemote;
    return n;
}

static cudaError_t set_attributes(const struct made *made, unsigned index, cudaGraphNode_t node, struct dice *dice)
{
    cudaLaunchAttribute attrs[PROGRAM_ATTRIBUTES];
    cudaLaunchAttribute plain = PDL_ZERO; /* no priority, and the default domain */
    unsigned n = program_list_attributes(made, index, attrs), i;

    for (i = 0; i < n; i++) {
        plain.id = attrs[i].id;
        if (index % 2 && (attrs[i].id == cudaLaunchAttributePriority || attrs[i].id == cudaLaunchAttributeMemSyncDomain))
            TRY(program_set_attribute(made, node, &plain, dice)); /* the last value counts */
        TRY(program_set_attribute(made, node, &attrs[i], dice));
    }
    return cudaSuccess;
}

static int is_same_value(const cudaLaunchAttribute *want, const cudaLaunchAttributeValue *is)
{
    switch (want->id) {
    case cudaLaunchAttributeClusterDimension: return memcmp(&want->val.clusterDim, &is->clusterDim, sizeof(is->clusterDim)) == 0;
    case cudaLaunchAttributeCooperative: return want->val.cooperative == is->cooperative;
    case cudaLaunchAttributePriority: return want->val.priority == is->priority;
    default: return want->val.memSyncDomain == is->memSyncDomain;
    }
}

static int has_launch(const struct cudaKernelNodeParams *want, const struct cudaKernelNodeParams *is)
{
    return memcmp(&want->gridDim, &is->gridDim, sizeof(is->gridDim)) == 0 && memcmp(&want->blockDim, &is->blockDim, sizeof(is->blockDim)) == 0 &&
           want->sharedMemBytes == is->sharedMemBytes;
}

/* Neither cooperative nor in clusters, where it was to be neither. */
static int has_nothing_more(const struct made *made, unsigned index)
{
    const struct step *step = &made->program->step[index];
    cudaLaunchAttributeValue cooperative = PDL_ZERO, clusters = PDL_ZERO;

    if (cudaGraphKernelNodeGetAttribute(made->node[index], cudaLaunchAttributeCooperative, &cooperative) != cudaSuccess ||
        cudaGraphKernelNodeGetAttribute(made->node[index], cudaLaunchAttributeClusterDimension, &clusters) != cudaSuccess)
        return 0;
    return (step->cooperative || !cooperative.cooperative) &&
           (program_product(step->cluster) > 1 || (clusters.clusterDim.x < 2 && clusters.clusterDim.y < 2 && clusters.clusterDim.z < 2));
}

static int keeps_kernel(const struct made *made, unsigned index)
{
    cudaLaunchAttribute attrs[PROGRAM_ATTRIBUTES];
    unsigned n = program_list_attributes(made, index, attrs), i;
    cudaLaunchAttributeValue value[2]; /* as the runtime tells it, and the driver */
    struct cudaKernelNodeParams is = PDL_ZERO;
    struct step_params params;

    program_fill_step(made, index, &params);
    if (cudaGraphKernelNodeGetParams(made->node[index], &is) != cudaSuccess || !has_launch(&params.as.kernel, &is))
        return 0;
    for (i = 0; i < n; i++) {
        memset(value, 0, sizeof(value));
        if (cudaGraphKernelNodeGetAttribute(made->node[index], attrs[i].id, &value[0]) != cudaSuccess || !is_same_value(&attrs[i], &value[0]) ||
            program_attribute_of(made, made->node[index], attrs[i].id, &value[1]) != cudaSuccess || !is_same_value(&attrs[i], &value[1]))
            return 0;
    }
    return has_nothing_more(made, index);
}

static const enum cudaGraphNodeType node_types[STEP_KINDS] = {
    cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeHost, cudaGraphNodeTypeEmpty,
    cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent
};

#if CUDART_VERSION >= 12040
static const enum cudaGraphNodeType node_type_condition = cudaGraphNodeTypeConditional;
#else
static const enum cudaGraphNodeType node_type_condition = cudaGraphNodeTypeCount;
#endif

/* In a conditional node of its own; an empty step is one that runs nothing. */
static int is_condition(const struct made *made, unsigned index)
{
    const struct step *step = &made->program->step[index];
    int may_be = step->kind < STEP_HOST || step->kind == STEP_EMPTY;

    return (made->bodies >> index & 1) && may_be && (!step->cooperative || made->room->size.cooperative_bodies);
}

int program_keeps_node(const struct made *made, unsigned index)
{
    cudaEvent_t event = NULL;
    enum cudaGraphNodeType type;

    if (cudaGraphNodeGetType(made->node[index], &type) != cudaSuccess)
        return 0;
    if (program_is_wrapped(made, index))
        return type == (is_condition(made, index) ? node_type_condition : cudaGraphNodeTypeGraph);
    if (type != node_types[made->program->step[index].kind] || !program_driver_tells_node(made, made->node[index], index))
        return 0;
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: return keeps_kernel(made, index);
    case STEP_RECORD: return cudaGraphEventRecordNodeGetEvent(made->node[index], &event) == cudaSuccess && event == event_of(made, index);
    case STEP_AWAIT: return cudaGraphEventWaitNodeGetEvent(made->node[index], &event) == cudaSuccess && event == event_of(made, index);
    default: return 1;
    }
}

static struct cudaPitchedPtr row_of(char *bytes)
{
    struct cudaPitchedPtr row = { bytes, STEP_BYTES, STEP_BYTES, 1 };

    return row;
}

/* The structures of the general calls begin as those of the calls of one kind. */
void program_fill_general(const struct made *made, unsigned index, struct step_params *params, struct cudaGraphNodeParams *general)
{
    enum step_kind kind = made->program->step[index].kind;

    program_fill_step(made, index, params);
    memset(general, 0, sizeof(*general));
    general->type = node_types[kind];
    switch (kind) {
    case STEP_KERNEL: memcpy(&general->kernel, &params->as.kernel, sizeof(params->as.kernel)); break;
    case STEP_SET: memcpy(&general->memset, &params->as.set, sizeof(params->as.set)); break;
    case STEP_COPY:
        general->memcpy.copyParams.kind = program_copy_kind(made->program, index);
        general->memcpy.copyParams.srcPtr = row_of(params->as.copy.from - made->program->step[index].source);
        general->memcpy.copyParams.srcPos.x = made->program->step[index].source;
        general->memcpy.copyParams.dstPtr = row_of(params->as.copy.to - made->program->step[index].begin);
        general->memcpy.copyParams.dstPos.x = made->program->step[index].begin;
        general->memcpy.copyParams.extent.width = params->as.copy.bytes;
        general->memcpy.copyParams.extent.height = general->memcpy.copyParams.extent.depth = 1;
        break;
    case STEP_HOST: memcpy(&general->host, &params->as.host, sizeof(params->as.host)); break;
    case STEP_RECORD: general->eventRecord.event = params->as.event; break;
    case STEP_AWAIT: general->eventWait.event = params->as.event; break;
    default: break;
    }
}

static cudaError_t add_general(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                               const cudaGraphEdgeData *data, size_t count, cudaGraphNode_t *node, struct dice *dice)
{
    struct cudaGraphNodeParams general;
    struct step_params params;
    cudaError_t error;

    if (program_added_by_driver(made, graph, index, deps, data, count, 1, node, dice, &error))
        return error;
    program_fill_general(made, index, &params, &general);
    return edges_add_node(node, graph, deps, data, count, &general);
}

/* By the function of its kind, which makes full edges. */
static cudaError_t add_typed(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                             cudaGraphNode_t *node, struct dice *dice)
{
    struct step_params params;
    cudaError_t error;

    if (program_added_by_driver(made, graph, index, deps, NULL, count, 0, node, dice, &error))
        return error;
    program_fill_step(made, index, &params);
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: return cudaGraphAddKernelNode(node, graph, deps, count, &params.as.kernel);
    case STEP_SET: return cudaGraphAddMemsetNode(node, graph, deps, count, &params.as.set);
    case STEP_COPY:
        return cudaGraphAddMemcpyNode1D(node, graph, deps, count, params.as.copy.to, params.as.copy.from, params.as.copy.bytes,
                                        program_copy_kind(made->program, index));
    case STEP_HOST: return cudaGraphAddHostNode(node, graph, deps, count, &params.as.host);
    case STEP_RECORD: return cudaGraphAddEventRecordNode(node, graph, deps, count, params.as.event);
    case STEP_AWAIT: return cudaGraphAddEventWaitNode(node, graph, deps, count, params.as.event);
    default: return cudaGraphAddEmptyNode(node, graph, deps, count);
    }
}

/* ---- other parameters ---- */

cudaError_t program_set_node(const struct made *made, cudaGraphNode_t node, unsigned index, int general, struct dice *dice)
{
    struct cudaGraphNodeParams all;
    struct step_params params;
    cudaError_t error;

    general = general && made->program->step[index].kind != STEP_EMPTY;
    if (program_set_by_driver(made, NULL, node, index, general, dice, &error))
        return error;
    if (general) {
        program_fill_general(made, index, &params, &all);
        return cudaGraphNodeSetParams(node, &all);
    }
    program_fill_step(made, index, &params);
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: return cudaGraphKernelNodeSetParams(node, &params.as.kernel);
    case STEP_SET: return cudaGraphMemsetNodeSetParams(node, &params.as.set);
    case STEP_COPY:
        return cudaGraphMemcpyNodeSetParams1D(node, params.as.copy.to, params.as.copy.from, params.as.copy.bytes,
                                              program_copy_kind(made->program, index));
    case STEP_HOST: return cudaGraphHostNodeSetParams(node, &params.as.host);
    case STEP_RECORD: return cudaGraphEventRecordNodeSetEvent(node, params.as.event);
    case STEP_AWAIT: return cudaGraphEventWaitNodeSetEvent(node, params.as.event);
    default: return cudaSuccess;
    }
}

/* Of the general call the documents promise other addresses of copies, not other sizes. */
static int may_be_general(const struct made *made, unsigned index)
{
    enum step_kind kind = made->program->step[index].kind;

    return kind != STEP_EMPTY && (kind != STEP_COPY || program_keeps_size(index));
}

cudaError_t program_set_exec_node(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned index, int general, struct dice *dice)
{
    struct cudaGraphNodeParams all;
    struct step_params params;
    cudaError_t error;

    general = general && may_be_general(made, index);
    if (program_set_by_driver(made, exec, node, index, general, dice, &error))
        return error;
    if (general) {
        program_fill_general(made, index, &params, &all);
        return cudaGraphExecNodeSetParams(exec, node, &all);
    }
    program_fill_step(made, index, &params);
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: return cudaGraphExecKernelNodeSetParams(exec, node, &params.as.kernel);
    case STEP_SET: return cudaGraphExecMemsetNodeSetParams(exec, node, &params.as.set);
    case STEP_COPY:
        return cudaGraphExecMemcpyNodeSetParams1D(exec, node, params.as.copy.to, params.as.copy.from, params.as.copy.bytes,
                                                  program_copy_kind(made->program, index));
    case STEP_HOST: return cudaGraphExecHostNodeSetParams(exec, node, &params.as.host);
    case STEP_RECORD: return cudaGraphExecEventRecordNodeSetEvent(exec, node, params.as.event);
    case STEP_AWAIT: return cudaGraphExecEventWaitNodeSetEvent(exec, node, params.as.event);
    default: return cudaSuccess;
    }
}

int program_has_full_edges(const struct program *p, unsigned index)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if ((p->link[l].from == index || p->link[l].to == index) && p->link[l].kind != LINK_FULL)
            return 0;
    return 1;
}

int program_is_wrapped(const struct made *made, unsigned index) { return (made->wraps >> index & 1) && program_has_full_edges(made->program, index); }

static cudaError_t add_inside(const struct made *made, cudaGraph_t graph, unsigned index, struct dice *dice)
{
    cudaGraphNode_t inside;

    if (made->program->step[index].kind == STEP_EMPTY && index % 2)
        return cudaSuccess; /* an empty graph orders as an empty node does */
    TRY(add_typed(made, graph, index, NULL, 0, &inside, dice));
    return made->program->step[index].kind == STEP_KERNEL ? set_attributes(made, index, inside, dice) : cudaSuccess;
}

cudaError_t program_make_child(const struct made *made, unsigned index, cudaGraph_t *child, struct dice *dice)
{
    cudaError_t error;

    TRY(cudaGraphCreate(child, 0));
    error = add_inside(made, *child, index, dice);
    if (error != cudaSuccess)
        (void)cudaGraphDestroy(*child);
    return error;
}

/* ---- bodies and child graphs ---- */

#if CUDART_VERSION >= 12040
/* An `if` whose body runs; from 12.8 on also one whose other body runs, or one of several bodies.
 * Returns which one runs. */
static unsigned draw_condition(struct made *made, struct cudaConditionalNodeParams *params, unsigned *value)
{
    params->type = cudaGraphCondTypeIf;
    params->size = 1;
    *value = 1 + dice_below(&made->dice, 3); /* all but 0 hold */
#if CUDART_VERSION >= 12080
    if (made->room->size.other_bodies && dice_below(&made->dice, 2)) {
        int one_of_several = dice_below(&made->dice, 2) != 0;
        params->type = one_of_several ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf;
        params->size = one_of_several ? 2 + dice_below(&made->dice, 3) : 2;
        *value = dice_below(&made->dice, one_of_several ? params->size : 3);
        return one_of_several ? *value : !*value;
    }
#else
    (void)made;
#endif
    return 0;
}
#endif

#if CUDART_VERSION >= 12040
/* None of its bodies runs: an `if`, or a loop, whose condition does not hold; from 12.8 on also one of several that are not so many.
 * Returns how many bodies it has. */
static unsigned draw_idle(struct made *made, struct cudaConditionalNodeParams *params, unsigned *value)
{
    params->type = dice_below(&made->dice, 2) ? cudaGraphCondTypeIf : cudaGraphCondTypeWhile;
    params->size = 1;
    *value = 0;
#if CUDART_VERSION >= 12080
    if (made->room->size.other_bodies && dice_below(&made->dice, 2)) {
        params->type = cudaGraphCondTypeSwitch;
        params->size = 1 + dice_below(&made->dice, 3);
        *value = params->size + dice_below(&made->dice, 3);
    }
#endif
    return params->size;
}

/* The compared words tell if it runs all the same. */
static cudaError_t must_not_run(const struct made *made, cudaGraph_t body)
{
    struct cudaMemsetParams set = PDL_ZERO;
    cudaGraphNode_t node;

    set.dst = made->room->began + PROGRAM_STEPS + 1;
    set.value = set.elementSize = 4;
    set.width = set.height = 1;
    return cudaGraphAddMemsetNode(&node, body, NULL, 0, &set);
}
#endif

cudaError_t program_add_condition(struct made *made, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, cudaGraphNode_t *node, cudaGraph_t *body)
{
#if CUDART_VERSION >= 12040
    int chosen = graph == made->graph && made->way == WAY_DECIDED; /* by a kernel before it */
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams params = PDL_ZERO;
    cudaGraphNode_t chooser;
    unsigned value = 1, runs, i;

    params.type = cudaGraphNodeTypeConditional;
    runs = body ? draw_condition(made, &params.conditional, &value) : draw_idle(made, &params.conditional, &value);
    TRY(cudaGraphConditionalHandleCreate(&handle, made->graph, chosen ? 0 : value, chosen ? 0 : cudaGraphCondAssignDefault));
    params.conditional.handle = handle;
    if (chosen)
        TRY(program_add_chooser(made, graph, handle, value, &chooser));
    TRY(edges_add_node(node, graph, chosen ? &chooser : deps, NULL, chosen ? 1 : count, &params));
    for (i = 0; i < params.conditional.size; i++)
        if (i != runs)
            TRY(must_not_run(made, params.conditional.phGraph_out[i]));
    if (body)
        *body = params.conditional.phGraph_out[runs];
    return cudaSuccess;
#else
    (void)made, (void)graph, (void)deps, (void)count, (void)node, (void)body;
    return cudaErrorNotSupported;
#endif
}

static cudaError_t add_wrapped(struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, size_t count,
                               cudaGraphNode_t *node)
{
    cudaGraph_t child;
    cudaError_t error;

    if (is_condition(made, index)) {
        int runs = made->program->step[index].kind != STEP_EMPTY;
        TRY(program_add_condition(made, graph, deps, count, node, runs ? &child : NULL));
        return runs ? add_inside(made, child, index, &made->dice) : cudaSuccess;
    }
    TRY(program_make_child(made, index, &child, &made->dice));
    error = cudaGraphAddChildGraphNode(node, graph, deps, count, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

cudaError_t program_add_step(struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, int general, cudaGraphNode_t *node)
{
    struct made as = *made;

    if (program_is_wrapped(made, index))
        return add_wrapped(made, graph, index, deps, count, node);
    if (graph == made->inner && !made->program->streams && dice_below(&made->dice, 4) == 0) /* its parameters come later */
        as.decoys ^= (uint64_t)1 << index;
    if (general)
        TRY(add_general(&as, graph, index, deps, data, count, node, &made->dice));
    else
        TRY(add_typed(&as, graph, index, deps, count, node, &made->dice));
    if (as.decoys != made->decoys)
        TRY(program_set_node(made, *node, index, dice_below(&made->dice, 2) != 0, &made->dice));
    return made->program->step[index].kind == STEP_KERNEL ? set_attributes(made, index, *node, &made->dice) : cudaSuccess;
}

static void CUDART_CB host_step_called(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream;
    if (status == cudaSuccess)
        host_step_runs(opaque);
}

cudaError_t program_launch_host(const struct made *made, unsigned index, cudaStream_t stream, struct dice *dice)
{
    struct step_params params;

    program_fill_step(made, index, &params);
    if (made->eager && dice && dice_below(dice, 8) == 0)
        return cudaStreamAddCallback(stream, host_step_called, params.as.host.userData, 0);
    return cudaLaunchHostFunc(stream, params.as.host.fn, params.as.host.userData);
}
