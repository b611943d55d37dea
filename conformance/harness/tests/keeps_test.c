/* keeps_test.c - what a graph tells of the nodes that were made of a program is compared to the last field: one that is told otherwise, by
 * the runtime or by the driver, shows. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#include "check.h"
#include "edges.h"
#include "programs/program.h"

enum teller { NOBODY, RUNTIME, DRIVER, OLDER };
enum about { ABOUT_TYPE, ABOUT_LAUNCH, ABOUT_ATTRIBUTE, ABOUT_EVENT, ABOUT_HOST, ABOUT_MORE };

static enum teller liar;
static enum about about;
static unsigned lie;           /* which step's type, which field, whose event */
static int by_driver;          /* what the driver's calls ask of the runtime is the truth */
static struct program program;
static struct program_room room;
static struct made made;

static int lies(enum teller teller, enum about of) { return liar == teller && about == of && (teller != RUNTIME || !by_driver); }

/* ---- the runtime's calls ---- */

cudaError_t __real_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
cudaError_t __wrap_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
cudaError_t __wrap_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    cudaError_t error = __real_cudaGraphNodeGetType(node, type);

    if (lies(RUNTIME, ABOUT_TYPE) && node == made.node[lie])
        *type = *type == cudaGraphNodeTypeEmpty ? cudaGraphNodeTypeHost : cudaGraphNodeTypeEmpty;
    return error;
}

#define LAUNCH_FIELDS 7u
cudaError_t __real_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    cudaError_t error = __real_cudaGraphKernelNodeGetParams(node, params);
    unsigned *const field[LAUNCH_FIELDS] = { &params->gridDim.x, &params->gridDim.y, &params->gridDim.z, &params->blockDim.x,
                                             &params->blockDim.y, &params->blockDim.z, &params->sharedMemBytes };
    if (lies(RUNTIME, ABOUT_LAUNCH))
        ++*field[lie];
    return error;
}

#define ATTRIBUTE_FIELDS 6u
static void change_attribute(int id, cudaLaunchAttributeValue *value)
{
    static const int ids[ATTRIBUTE_FIELDS] = { cudaLaunchAttributeClusterDimension, cudaLaunchAttributeClusterDimension,
                                               cudaLaunchAttributeClusterDimension, cudaLaunchAttributeCooperative,
                                               cudaLaunchAttributePriority, cudaLaunchAttributeMemSyncDomain };
    if (id != ids[lie])
        return;
    switch (lie) {
    case 0: value->clusterDim.x++; break;
    case 1: value->clusterDim.y++; break;
    case 2: value->clusterDim.z++; break;
    case 3: value->cooperative = !value->cooperative; break;
    case 4: value->priority++; break;
    default: value->memSyncDomain = cudaLaunchMemSyncDomainDefault; break;
    }
}

/* The first step, which is in clusters, is cooperative; or the cooperative one is in clusters along one axis. */
static void give_more(cudaLaunchAttributeValue *value)
{
    if (lie == 0)
        value->cooperative = 1;
    else
        *(lie == 1 ? &value->clusterDim.x : lie == 2 ? &value->clusterDim.y : &value->clusterDim.z) = 2;
}

cudaError_t __real_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    cudaError_t error = __real_cudaGraphKernelNodeGetAttribute(node, id, value);

    if (lies(RUNTIME, ABOUT_ATTRIBUTE))
        change_attribute((int)id, value);
    if (lies(RUNTIME, ABOUT_MORE) && node == made.node[lie ? STEP_KINDS : 0] && id == (lie ? cudaLaunchAttributeClusterDimension : cudaLaunchAttributeCooperative))
        give_more(value);
    return error;
}

#define EVENT_OF(name, which)                                                    \
    cudaError_t __real_##name(cudaGraphNode_t node, cudaEvent_t *event);         \
    cudaError_t __wrap_##name(cudaGraphNode_t node, cudaEvent_t *event);         \
    cudaError_t __wrap_##name(cudaGraphNode_t node, cudaEvent_t *event)          \
    {                                                                            \
        cudaError_t error = __real_##name(node, event);                          \
                                                                                 \
        if (lies(RUNTIME, ABOUT_EVENT) && lie == (which))                        \
            *event = room.passed;                                                \
        return error;                                                            \
    }
EVENT_OF(cudaGraphEventRecordNodeGetEvent, 0)
EVENT_OF(cudaGraphEventWaitNodeGetEvent, 1)

/* ---- the driver's ---- */

#define ASK_DRIVER(result, call) (by_driver = 1, (result) = (call), by_driver = 0)

static void *type_call, *kernel_call, *older_call, *attribute_call, *host_call, *event_call[2];

static CUresult CUDAAPI type_by_driver(CUgraphNode node, CUgraphNodeType *type)
{
    CUresult result;

    ASK_DRIVER(result, ((CUresult(CUDAAPI *)(CUgraphNode, CUgraphNodeType *))type_call)(node, type));
    if (lies(DRIVER, ABOUT_TYPE) && node == (CUgraphNode)made.node[lie])
        *type = *type == CU_GRAPH_NODE_TYPE_EMPTY ? CU_GRAPH_NODE_TYPE_HOST : CU_GRAPH_NODE_TYPE_EMPTY;
    return result;
}

static CUresult launch_of(void *call, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params, enum teller teller)
{
    unsigned *const field[LAUNCH_FIELDS] = { &params->gridDimX, &params->gridDimY, &params->gridDimZ, &params->blockDimX,
                                             &params->blockDimY, &params->blockDimZ, &params->sharedMemBytes };
    CUresult result;

    ASK_DRIVER(result, ((CUresult(CUDAAPI *)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))call)(node, params));
    if (lies(teller, ABOUT_LAUNCH))
        ++*field[lie];
    return result;
}

static CUresult CUDAAPI kernel_by_driver(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    return launch_of(kernel_call, node, params, DRIVER);
}

static CUresult CUDAAPI kernel_by_older(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    return launch_of(older_call, node, params, OLDER);
}

static CUresult CUDAAPI attribute_by_driver(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    CUresult result;

    ASK_DRIVER(result, ((CUresult(CUDAAPI *)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *))attribute_call)(node, id, value));
    if (lies(DRIVER, ABOUT_ATTRIBUTE))
        change_attribute((int)id, (cudaLaunchAttributeValue *)(void *)value);
    return result;
}

static CUresult CUDAAPI host_by_driver(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result;

    ASK_DRIVER(result, ((CUresult(CUDAAPI *)(CUgraphNode, CUDA_HOST_NODE_PARAMS *))host_call)(node, params));
    if (lies(DRIVER, ABOUT_HOST) && lie == 0)
        params->fn = NULL;
    if (lies(DRIVER, ABOUT_HOST) && lie == 1)
        params->userData = &room;
    return result;
}

static CUresult event_of(unsigned which, CUgraphNode node, CUevent *event)
{
    CUresult result;

    ASK_DRIVER(result, ((CUresult(CUDAAPI *)(CUgraphNode, CUevent *))event_call[which])(node, event));
    if (lies(DRIVER, ABOUT_EVENT) && lie == which)
        *event = (CUevent)room.passed;
    return result;
}

static CUresult CUDAAPI recorded_by_driver(CUgraphNode node, CUevent *event) { return event_of(0, node, event); }
static CUresult CUDAAPI awaited_by_driver(CUgraphNode node, CUevent *event) { return event_of(1, node, event); }

static unsigned taken;         /* of the driver's calls; before toolkit 12.5 it is asked for none */

static void take_place(void **call, void *own, void **before)
{
    if (!*call)
        return;
    *before = *call;
    *call = own;
    taken++;
}

/* ---- a graph of each kind of step, and a kernel that is cooperative ---- */

void programs_few_base(struct kernel_args args);
#define STEPS (STEP_KINDS + 1u)

static void open_steps(void)
{
    static const void *kernels[PROGRAM_KERNELS];
    unsigned i;

    for (i = 0; i < PROGRAM_KERNELS; i++)
        kernels[i] = (const void *)programs_few_base;
    room.kernel = kernels;
    program.steps = STEPS;
    for (i = 0; i < STEPS; i++) {
        struct step *step = &program.step[i];
        unsigned k;
        step->kind = i < STEP_KINDS ? (enum step_kind)i : STEP_KERNEL;
        for (k = 0; k < 3; k++)
            step->grid[k] = step->block[k] = step->cluster[k] = 1;
        step->element = 4;
        step->bytes = step->pitch = STEP_BYTES;
        step->rows = 1;
    }
    program.step[0].grid[0] = program.step[0].cluster[0] = 2;
    program.step[0].shared_bytes = 256;
    program.step[0].urgent = program.step[0].domain = 1;
    program.step[STEP_KINDS].cooperative = 1;
    made.program = &program;
    made.room = &room;
}

static int open_graph(void)
{
    unsigned i;

    if (cudaStreamCreateWithFlags(&room.stream, cudaStreamNonBlocking) != cudaSuccess || program_open_room(&room) != cudaSuccess ||
        cudaGraphCreate(&made.inner, 0) != cudaSuccess)
        return 0;
    for (i = 0; i < STEPS; i++)
        if (program_add_step(&made, made.inner, i, NULL, NULL, 0, 0, &made.node[i]) != cudaSuccess)
            return 0;
    return 1;
}

static int all_kept(void)
{
    unsigned i, kept = 0;

    for (i = 0; i < STEPS; i++)
        kept += program_keeps_node(&made, i) != 0;
    return kept == STEPS;
}

static void test_lies(enum teller teller, const char *by, enum about of, const char *what, unsigned count)
{
    char text[96];

    if (teller != RUNTIME && !taken)
        return;
    liar = teller;
    about = of;
    for (lie = 0; lie < count; lie++) {
        snprintf(text, sizeof(text), "%s %u, told otherwise by %s", what, lie, by);
        check(!all_kept(), text);
    }
    liar = NOBODY;
}

/* A captured program is asked for its launches; one that was put into another graph is not. */
static void test_captured(void)
{
    check(program_captured_right(&made, WAY_CAPTURED) && program_captured_right(&made, WAY_CAPTURED_TO_GRAPH), "a capture that is right");
    liar = RUNTIME;
    about = ABOUT_LAUNCH;
    lie = 0;
    check(!program_captured_right(&made, WAY_CAPTURED) && !program_captured_right(&made, WAY_CAPTURED_TO_GRAPH), "one with another grid");
    check(program_captured_right(&made, WAY_CAPTURED_CLONE), "whose nodes are not known");
    liar = NOBODY;
}

/* Where a step depends on an event alone, the capture has the edge of that event. */
static void test_captured_edge(void)
{
    cudaGraphEdgeData data = edges_data(0, 0, 0);

    program.links = 1;
    program.link[0].to = program.step[1].lane = 1;
    check(!program_captured_right(&made, WAY_CAPTURED), "a capture without the edge of an event is wrong");
    check(edges_add(made.inner, &made.node[0], &made.node[1], &data, 1) == cudaSuccess && program_captured_right(&made, WAY_CAPTURED),
          "one that has it is right");
    program.link[0].kind = LINK_TRIGGER;
    check(!program_captured_right(&made, WAY_CAPTURED), "one with an edge of another kind is wrong");
    program.links = program.step[1].lane = 0;
}

/* Where a launch with the attribute follows another launch, the capture has a programmatic edge. */
static void test_captured_attribute(void)
{
    static struct program two;
    struct made of = PDL_ZERO;
    cudaGraphEdgeData full = edges_data(0, 0, 0), early = edges_data(1, 0, 1);
    unsigned i;

    of.program = &two;
    of.room = &room;
    two.steps = 2;
    check(cudaGraphCreate(&of.inner, 0) == cudaSuccess, "there is another graph");
    for (i = 0; i < 2; i++) {
        two.step[i] = program.step[0];
        check(program_add_step(&of, of.inner, i, NULL, NULL, 0, 0, &of.node[i]) == cudaSuccess, "a graph of two launches");
    }
    check(program_captured_right(&of, WAY_CAPTURED), "a launch without the attribute needs no edge");
    two.step[1].attribute = 1;
    check(!program_captured_right(&of, WAY_CAPTURED), "a launch with the attribute needs an edge");
    check(edges_add(of.inner, &of.node[0], &of.node[1], &full, 1) == cudaSuccess && !program_captured_right(&of, WAY_CAPTURED),
          "a full edge is wrong");
    check(edges_remove(of.inner, &of.node[0], &of.node[1], &full, 1) == cudaSuccess &&
              edges_add(of.inner, &of.node[0], &of.node[1], &early, 1) == cudaSuccess && program_captured_right(&of, WAY_CAPTURED),
          "a programmatic edge is right");
    (void)cudaGraphDestroy(of.inner);
}

int main(void)
{
    void **tells = room.driver.node_call[DRIVER_TELLS];

    open_steps();
    check(open_graph(), "there is a graph");
    take_place(&tells[STEP_KINDS], (void *)type_by_driver, &type_call);
    take_place(&tells[STEP_KERNEL], (void *)kernel_by_driver, &kernel_call);
    take_place(&tells[STEP_HOST], (void *)host_by_driver, &host_call);
    take_place(&tells[STEP_RECORD], (void *)recorded_by_driver, &event_call[0]);
    take_place(&tells[STEP_AWAIT], (void *)awaited_by_driver, &event_call[1]);
    take_place(&room.driver.older_call[OLDER_TELLS_KERNEL], (void *)kernel_by_older, &older_call);
    take_place(&room.driver.graph_call[DRIVER_GET_ATTRIBUTE], (void *)attribute_by_driver, &attribute_call);
    check(taken == 7 || (taken == 0 && CUDART_VERSION < 12050), "the driver is asked, too");
    check(all_kept(), "where the truth is told every node is kept");
    test_lies(RUNTIME, "the runtime", ABOUT_TYPE, "the type of step", STEPS);
    test_lies(DRIVER, "the driver", ABOUT_TYPE, "the type of step", STEPS);
    test_lies(RUNTIME, "the runtime", ABOUT_LAUNCH, "size", LAUNCH_FIELDS);
    test_lies(DRIVER, "the driver", ABOUT_LAUNCH, "size", LAUNCH_FIELDS);
    test_lies(OLDER, "the driver's older call", ABOUT_LAUNCH, "size", LAUNCH_FIELDS);
    test_lies(RUNTIME, "the runtime", ABOUT_ATTRIBUTE, "attribute", ATTRIBUTE_FIELDS);
    test_lies(DRIVER, "the driver", ABOUT_ATTRIBUTE, "attribute", ATTRIBUTE_FIELDS);
    test_lies(RUNTIME, "the runtime", ABOUT_MORE, "an attribute that was not given,", 4);
    test_lies(RUNTIME, "the runtime", ABOUT_EVENT, "event", 2);
    test_lies(DRIVER, "the driver", ABOUT_EVENT, "event", 2);
    test_lies(DRIVER, "the driver", ABOUT_HOST, "the host's function or its data,", 2);
    test_captured();
    test_captured_edge();
    test_captured_attribute();
    (void)cudaGraphDestroy(made.inner);
    program_close_room(&room);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
