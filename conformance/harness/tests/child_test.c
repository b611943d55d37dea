/* child_test.c - if the device refuses the node of a step, its child graph fails and is destroyed: an empty one would order as the step does,
 * and hide the refusal. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "programs/program.h"

static struct program program;
static struct program_room room;
static struct program_staging staging;
static struct made made;

static int refuses;
static unsigned added, open_graphs;

static cudaError_t answer(void)
{
    added++;
    return refuses ? cudaErrorNotSupported : cudaSuccess;
}

#define ADDS(name, ...)                                                                                                              \
    cudaError_t __wrap_##name(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, ##__VA_ARGS__);   \
    cudaError_t __wrap_##name(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, ##__VA_ARGS__)    \
    {                                                                                                                                \
        (void)graph, (void)deps, (void)count;                                                                                        \
        *node = NULL;                                                                                                                \
        return answer();                                                                                                             \
    }
#define UNUSED __attribute__((unused))
ADDS(cudaGraphAddMemsetNode, const struct cudaMemsetParams *params UNUSED)
ADDS(cudaGraphAddMemcpyNode1D, void *to UNUSED, const void *from UNUSED, size_t bytes UNUSED, enum cudaMemcpyKind kind UNUSED)
ADDS(cudaGraphAddHostNode, const struct cudaHostNodeParams *params UNUSED)
ADDS(cudaGraphAddEventRecordNode, cudaEvent_t event UNUSED)
ADDS(cudaGraphAddEventWaitNode, cudaEvent_t event UNUSED)
ADDS(cudaGraphAddEmptyNode)

cudaError_t __real_cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t __wrap_cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t __wrap_cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    open_graphs++;
    return __real_cudaGraphCreate(graph, flags);
}

cudaError_t __real_cudaGraphDestroy(cudaGraph_t graph);
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph);
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph)
{
    open_graphs--;
    return __real_cudaGraphDestroy(graph);
}

static cudaError_t made_child(unsigned index, struct dice *dice)
{
    cudaGraph_t child;

    added = 0;
    return program_make_child(&made, index, &child, dice);
}

int main(void)
{
    static const enum step_kind kinds[] = { STEP_SET, STEP_COPY, STEP_HOST, STEP_RECORD, STEP_AWAIT, STEP_EMPTY };
    struct dice dice;
    unsigned i;
    char text[64];

    memset(&dice, 0, sizeof(dice));
    made.program = &program;
    made.room = &room;
    room.staging = &staging;
    program.steps = 2;
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        program.step[0].kind = program.step[1].kind = kinds[i];
        program.step[0].element = 1;
        refuses = 1;
        open_graphs = 0;
        snprintf(text, sizeof(text), "a child graph of a refused step of kind %u", (unsigned)kinds[i]);
        check(made_child(0, &dice) == cudaErrorNotSupported && added == 1 && open_graphs == 0, text);
        refuses = 0;
        check(made_child(0, &dice) == cudaSuccess && added == 1 && open_graphs == 1, "and of one that is taken");
    }
    refuses = 1;
    check(made_child(1, &dice) == cudaSuccess && added == 0, "an empty step may be an empty graph");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
