/* updates_test.c - what an update tells is judged whole: its result, and which node it names, or that it names none. So is the result that
 * is told of a graph that is made executable, and what the launches between changes set. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX kept_told
#include "kept.cu" /* this and the next one whole: what is asked is static */
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
        unsigned calls = shape->result == cudaGraphExecUpdateErrorNodeTypeChanged ? 2 : 1; /* the driver's older one tells the node, too */
        wrong += wrong_of_named(&kept, shape, NO_LIE, 0);
        missed += wrong_of_named(&kept, shape, NODE_LEFT, 0) != calls;
        missed += wrong_of_named(&kept, shape, FROM_LEFT, 0) != (shape->result != TOPOLOGY || shape->from != NO_NODE);
        for (node = 0; node < shape->nodes; node++)
            other += wrong_of_named(&kept, shape, NODE_NAMED, node) != (shape->may_be >> node & 1 ? 0 : calls);
    }
    check(wrong == 0, "refused updates name a node that they may name");
    check(missed == 0, "a refused update that does not tell its node, or the one before that was to be told, is wrong");
    check(other == 0, "a refused update that names a node that it may not name is wrong");
    close_kept(&kept);
}

static struct kept orders;     /* whose words a wait spoils */
static unsigned waits, spoilt_at; /* so far; the wait after which a word more is set, 0: none */

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);
    static const unsigned cells[] = { 0, 2, 6, 8 };
    unsigned i;

    if (++waits == spoilt_at)
        for (i = 0; i < 4; i++)
            orders.words[(WORDS - 1) * CELLS + cells[i]] = 1;
    return error;
}

/* How often three launches in a row are found wrong, if a word more is set after this wait. */
static unsigned wrong_order(unsigned spoils)
{
    unsigned wrong = 0, order = CALL_LAUNCH + CALLS * (CALL_LAUNCH + CALLS * CALL_LAUNCH);

    waits = 0;
    spoilt_at = spoils;
    check(run_order(&orders, 0, order, &wrong) == cudaSuccess, "launches in their order");
    spoilt_at = 0;
    return wrong;
}

static void test_orders(struct ask *ask)
{
    check(open_kept(&orders, ask), "words that kernels set");
    check(wrong_order(0) == 0 && waits == 3, "launches set their words, and the host waits three times");
    check(wrong_order(2) == 1 && wrong_order(3) == 1, "a word more than launches were to set is wrong, whichever wait it comes after");
    close_kept(&orders);
}

static void test_results(struct ask *ask)
{
    unsigned i, before = ask->wrong, wrong, missed = 0;

    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        ask_update(ask, &shapes[i], 0, IN_GRAPH);
    check(ask->wrong == before, "updates have the results that they are to have");
    lie = RESULT_LEFT;
    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        wrong = ask->wrong;
        ask_update(ask, &shapes[i], 0, IN_GRAPH);
        missed += ask->wrong - wrong != 1;
    }
    lie = NO_LIE;
    check(missed == 0, "a result that is not told is wrong, also where the update was taken");
}

static cudaGraphInstantiateResult told_result;
static int tells_result;       /* told_result is told, whatever came of it */

cudaError_t __real_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params);
cudaError_t __wrap_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params);
cudaError_t __wrap_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    cudaError_t error = __real_cudaGraphInstantiateWithParams(exec, graph, params);

    params->result_out = tells_result ? told_result : params->result_out;
    return error;
}

/* How many answers are wrong about two nodes that are made executable, or are refused as a circle, if this result is told. */
static unsigned wrong_instance(struct ask *ask, int circle, int tells, cudaGraphInstantiateResult result)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[2];
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    unsigned i, before = ask->wrong;

    check(cudaGraphCreate(&graph, 0) == cudaSuccess, "a graph");
    for (i = 0; i < 2; i++)
        check(cudaGraphAddEmptyNode(&node[i], graph, NULL, 0) == cudaSuccess, "a node");
    for (i = 0; circle && i < 2; i++)
        check(edges_add(graph, &node[i], &node[1 - i], &full, 1) == cudaSuccess, "an edge");
    tells_result = tells;
    told_result = result;
    check((instantiate_told(ask, &exec, graph) == cudaSuccess) != circle, "a graph is made executable unless it is a circle");
    tells_result = 0;
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    return ask->wrong - before;
}

static void test_instances(struct ask *ask)
{
    check(wrong_instance(ask, 0, 0, cudaGraphInstantiateSuccess) == 0 && wrong_instance(ask, 1, 0, cudaGraphInstantiateSuccess) == 0,
          "the result is what came of it");
    check(wrong_instance(ask, 0, 1, cudaGraphInstantiateError) == 1 && wrong_instance(ask, 1, 1, cudaGraphInstantiateSuccess) == 1,
          "another result is wrong");
}

int main(void)
{
    struct ask ask = PDL_ZERO;

    if (cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    test_named(&ask);
    test_orders(&ask);
    test_results(&ask);
    test_instances(&ask);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
