/* updates_test.c - what an update says of itself is asked whole: its result, and which node it names, or that it names none. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX kept_told
#include "kept.cu" /* whole, as the other: what is asked is static */
#undef IMAGE_SUFFIX
#define IMAGE_SUFFIX limits_told
#include "limits.cu"

#include "check.h"

enum lie { NO_LIE, RESULT_LEFT, NODE_LEFT, FROM_LEFT, NODE_NAMED }; /* left: as the caller had it */
static enum lie lie;
static unsigned named_instead; /* the number of a node of the graph */

cudaError_t __real_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
cudaError_t __wrap_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
cudaError_t __wrap_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    cudaGraphExecUpdateResultInfo before = *info;
    cudaGraphNode_t node[NAMED_NODES] = { NULL };
    size_t count = NAMED_NODES;
    cudaError_t error = __real_cudaGraphExecUpdate(exec, graph, info);

    info->result = lie == RESULT_LEFT ? before.result : info->result;
    info->errorNode = lie == NODE_LEFT ? before.errorNode : info->errorNode;
    info->errorFromNode = lie == FROM_LEFT ? before.errorFromNode : info->errorFromNode;
    if (lie == NODE_NAMED && cudaGraphGetNodes(graph, node, &count) == cudaSuccess)
        info->errorNode = node[named_instead];
    return error;
}

/* How many answers about a refused update are wrong. */
static unsigned wrong_of_named(struct kept *kept, const struct named *shape, enum lie now, unsigned node)
{
    unsigned wrong = kept->ask->wrong;

    lie = now;
    named_instead = node;
    ask_named_by(kept, shape);
    lie = NO_LIE;
    return kept->ask->wrong - wrong;
}

static void test_named(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned i, node, wrong = 0, missed = 0, other = 0;

    if (!open_kept(&kept, ask)) {
        check(0, "words that kernels set");
        return;
    }
    for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        const struct named *shape = &named[i];
        wrong += wrong_of_named(&kept, shape, NO_LIE, 0);
        missed += wrong_of_named(&kept, shape, NODE_LEFT, 0) != 1;
        missed += wrong_of_named(&kept, shape, FROM_LEFT, 0) != (shape->result != TOPOLOGY || shape->from != NO_NODE);
        for (node = 0; node < shape->nodes; node++)
            other += wrong_of_named(&kept, shape, NODE_NAMED, node) != !(shape->may_be >> node & 1);
    }
    check(wrong == 0, "refused updates that name a node as they may");
    check(missed == 0, "a node that is not told is wrong, as is one before it that was to be told");
    check(other == 0, "and so is one that it may not be, or one where there is none");
    close_kept(&kept);
}

static void test_results(struct ask *ask)
{
    unsigned i, before = ask->wrong, wrong, missed = 0;

    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        ask_update(ask, &shapes[i], 0, IN_GRAPH);
    check(ask->wrong == before, "updates that have the results that they are to have");
    lie = RESULT_LEFT;
    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        wrong = ask->wrong;
        ask_update(ask, &shapes[i], 0, IN_GRAPH);
        missed += ask->wrong - wrong != 1;
    }
    lie = NO_LIE;
    check(missed == 0, "a result that is not told is wrong, also where the update was taken");
}

int main(void)
{
    struct ask ask = PDL_ZERO;

    if (cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    test_named(&ask);
    test_results(&ask);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
