/* detours_test.c - detours leave a graph what it is, each kind of them is made, and a refused call that succeeds shows. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "edges.h"
#include "programs/program_detours.c" /* whole: it is called, and what it calls is counted */

static struct program program;
static struct program_room room;
static struct made made;

enum call {
    CALL_CLONE, CALL_CHILD, CALL_INSTANCE, CALL_CAPTURE, CALL_SET_NODE, CALL_ATTRIBUTE, CALL_STEP, CALL_DESTROY, CALL_ENABLE, CALL_EDGES_OF_NODE,
    CALL_ADD_EDGE, CALL_REMOVE_EDGE, CALL_NODE, CALL_PARAMS, CALL_EXEC_PARAMS, CALL_UPDATE, CALLS
};
static const char *const call_name[CALLS] = {
    "clone", "child graph", "executable graph", "capture", "parameters and back", "attribute and back", "second node of a step", "destroyed node",
    "node that is enabled again", "question about a node's edges", "edge twice", "edge that there is not", "node with one dependency twice",
    "parameters that are refused", "parameters of an executable graph that are refused", "update that is refused"
};
static unsigned called[CALLS];
static enum call taken = CALLS; /* this call must be refused: it says success and does nothing */

#define COUNTED(call, name, params, args)               \
    cudaError_t REAL(name) params;                      \
    cudaError_t WRAPPED(name) params;                   \
    cudaError_t WRAPPED(name) params                    \
    {                                                   \
        called[call]++;                                 \
        return taken == (call) ? cudaSuccess : REAL(name) args; \
    }
COUNTED(CALL_CLONE, program_clone, (const struct made *of, cudaGraph_t *clone, cudaGraph_t graph, struct dice *dice), (of, clone, graph, dice))
COUNTED(CALL_CHILD, program_add_child,
        (const struct made *of, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraph_t child, struct dice *dice),
        (of, node, graph, after, count, child, dice))
COUNTED(CALL_INSTANCE, program_instantiate,
        (const struct made *of, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags, struct dice *dice), (of, exec, graph, flags, dice))
COUNTED(CALL_CAPTURE, program_begin_capture_to,
        (const struct made *of, cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data, size_t count,
         enum cudaStreamCaptureMode mode, struct dice *dice),
        (of, stream, graph, deps, data, count, mode, dice))
COUNTED(CALL_SET_NODE, program_set_node, (const struct made *of, cudaGraphNode_t node, unsigned step, int general, struct dice *dice),
        (of, node, step, general, dice))
COUNTED(CALL_ATTRIBUTE, program_set_attribute,
        (const struct made *of, cudaGraphNode_t node, const cudaLaunchAttribute *attribute, struct dice *dice), (of, node, attribute, dice))
COUNTED(CALL_STEP, program_add_step,
        (struct made *of, cudaGraph_t graph, unsigned step, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data, size_t count, int general,
         cudaGraphNode_t *node),
        (of, graph, step, deps, data, count, general, node))
COUNTED(CALL_DESTROY, program_destroy_node, (const struct made *of, cudaGraphNode_t node, struct dice *dice), (of, node, dice))
COUNTED(CALL_ENABLE, program_enable, (const struct made *of, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled, struct dice *dice),
        (of, exec, node, enabled, dice))
COUNTED(CALL_EDGES_OF_NODE, edges_into_node, (cudaGraphNode_t node, cudaGraphNode_t *from, cudaGraphEdgeData *data, size_t *count),
        (node, from, data, count))
COUNTED(CALL_ADD_EDGE, edges_add,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (graph, from, to, data, count))
COUNTED(CALL_REMOVE_EDGE, edges_remove,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (graph, from, to, data, count))
COUNTED(CALL_NODE, cudaGraphAddEmptyNode, (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count),
        (node, graph, deps, count))
COUNTED(CALL_PARAMS, cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const struct cudaKernelNodeParams *params), (node, params))
COUNTED(CALL_EXEC_PARAMS, cudaGraphExecKernelNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params),
        (exec, node, params))
COUNTED(CALL_UPDATE, program_update_exec,
        (const struct made *of, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info, struct dice *dice),
        (of, exec, graph, info, dice))

/* ---- a graph of three kernels and a memset ---- */

void programs_few_base(struct kernel_args args);
#define STEPS 4u

static void open_steps(void)
{
    static const struct link links[] = { { 0, 1, LINK_TRIGGER }, { 1, 2, LINK_START }, { 0, 2, LINK_FULL }, { 2, 3, LINK_FULL } };
    static const void *kernels[PROGRAM_KERNELS];
    unsigned i, k;

    for (i = 0; i < PROGRAM_KERNELS; i++)
        kernels[i] = (const void *)programs_few_base;
    room.kernel = kernels;
    program.steps = STEPS;
    program.links = sizeof(links) / sizeof(links[0]);
    memcpy(program.link, links, sizeof(links));
    for (i = 0; i < STEPS; i++) {
        struct step *step = &program.step[i];
        step->kind = i < 3 ? STEP_KERNEL : STEP_SET;
        for (k = 0; k < 3; k++)
            step->grid[k] = step->block[k] = step->cluster[k] = 1;
        step->element = 4;
        step->bytes = step->pitch = STEP_BYTES;
        step->rows = 1;
    }
    program.step[0].urgent = program.step[1].domain = 1;
    made.program = &program;
    made.room = &room;
    made.detours = 1;
}

static int open_graph(cudaGraphExec_t *exec)
{
    unsigned i;

    if (cudaStreamCreateWithFlags(&room.stream, cudaStreamNonBlocking) != cudaSuccess || program_open_room(&room) != cudaSuccess ||
        cudaGraphCreate(&made.graph, 0) != cudaSuccess)
        return 0;
    made.inner = made.graph;
    for (i = 0; i < STEPS; i++)
        if (REAL(program_add_step)(&made, made.inner, i, NULL, NULL, 0, 0, &made.node[i]) != cudaSuccess)
            return 0;
    for (i = 0; i < program.links; i++) {
        cudaGraphEdgeData data = program_edge(program.link[i].kind);
        if (REAL(edges_add)(made.inner, &made.node[program.link[i].from], &made.node[program.link[i].to], &data, 1) != cudaSuccess)
            return 0;
    }
    return cudaGraphInstantiate(exec, made.graph, 0) == cudaSuccess;
}

/* So many of them; returns how many failed. */
static unsigned take(cudaGraphExec_t exec, unsigned count)
{
    unsigned i, wrong = 0;

    for (i = 0; i < count; i++)
        wrong += program_detour(&made) != cudaSuccess || program_detour_of_exec(&made, exec) != cudaSuccess;
    return wrong;
}

static void test_kept(cudaGraphExec_t exec)
{
    struct difference found;
    char text[96];
    unsigned i;

    memset(&found, 0, sizeof(found));
    memset(called, 0, sizeof(called));
    check(take(exec, 6000) == 0, "no detour fails");
    graph_compare(&made, &found);
    check(!found.count, "the graph is what it was");
    for (i = 0; i < CALLS; i++) {
        snprintf(text, sizeof(text), "among them: %s", call_name[i]);
        check(called[i] > 4, text);
    }
}

static void test_taken(cudaGraphExec_t exec)
{
    char text[96];
    unsigned call;

    for (call = CALL_ADD_EDGE; call < CALLS; call++) {
        taken = (enum call)call;
        snprintf(text, sizeof(text), "shown, as it is not refused: %s", call_name[call]);
        check(take(exec, 2000) > 2, text);
    }
    taken = CALLS;
}

static void test_none(cudaGraphExec_t exec)
{
    memset(called, 0, sizeof(called));
    made.detours = 0;
    check(take(exec, 1000) == 0 && called[CALL_STEP] == 0, "a graph that is paired by the order of its nodes takes no detours");
    made.detours = 1;
    made.bodies = 1;
    memset(called, 0, sizeof(called));
    check(take(exec, 1000) == 0 && called[CALL_STEP] == 0 && called[CALL_UPDATE] == 0, "nor do bodies");
}

int main(void)
{
    cudaGraphExec_t exec = NULL;

    open_steps();
    check(open_graph(&exec), "there is a graph, and an executable one");
    test_kept(exec);
    test_taken(exec);
    test_none(exec);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(made.graph);
    program_close_room(&room);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
