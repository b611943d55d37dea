/* Graphs inside graphs: child graphs, bodies of conditional nodes, clones, nodes that are left out. */
#include "check.h"

struct arguments {
    uint32_t *count;
};
MODEL_KERNEL_OF(test_counts, struct arguments, 16, 0, 90, 90)
{
    model_atomic_add32(args.count, 1);
}

#if CUDART_VERSION >= 13000
#define add_node cudaGraphAddNode
#define add_edges cudaGraphAddDependencies
#define get_edges cudaGraphGetEdges
#else
#define add_node cudaGraphAddNode_v2
#define add_edges cudaGraphAddDependencies_v2
#define get_edges cudaGraphGetEdges_v2
#endif

static struct arguments args;
static cudaStream_t stream;

static void begin(void)
{
    model_reset(NULL, 1);
    OK(cudaMalloc((void **)&args.count, 4));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

static cudaGraphNode_t counting_node(cudaGraph_t g)
{
    const void *kernel = (const void *)test_counts;
    cudaGraphNode_t n = NULL;
    void *values[1] = {&args};
    struct cudaKernelNodeParams p;
    memset(&p, 0, sizeof p);
    memcpy(&p.func, &kernel, sizeof kernel);
    p.gridDim.x = p.gridDim.y = p.gridDim.z = p.blockDim.x = p.blockDim.y = p.blockDim.z = 1;
    p.kernelParams = values;
    OK(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    return n;
}

/* How often the kernel ran in one launch. */
static uint32_t runs_of(cudaGraphExec_t exec)
{
    OK(cudaMemset(args.count, 0, 4));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    return *args.count;
}

static uint32_t runs(cudaGraph_t g)
{
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, g, 0));
    uint32_t count = runs_of(exec);
    OK(cudaGraphExecDestroy(exec));
    return count;
}

/* Two kernels after a programmatic edge. */
static cudaGraph_t chain(void)
{
    cudaGraph_t g;
    cudaGraphEdgeData d;
    memset(&d, 0, sizeof d);
    d.from_port = d.type = 1;
    OK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t a = counting_node(g), b = counting_node(g);
    OK(add_edges(g, &a, &b, &d, 1));
    return g;
}

static void child_graphs(void)
{
    cudaGraph_t outer, inner, kept = NULL;
    cudaGraphNode_t child, from[1], to[1];
    cudaGraphEdgeData d[1], programmatic;
    size_t n = 1;
    begin();
    inner = chain();
    OK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t first = counting_node(outer);
    OK(cudaGraphAddChildGraphNode(&child, outer, &first, 1, inner));
    OK(cudaGraphDestroy(inner)); /* the node has a copy of its own */
    OK(cudaGraphChildGraphNodeGetGraph(child, &kept));
    OK(get_edges(kept, from, to, d, &n));
    CHECK(n == 1 && d[0].from_port == 1 && d[0].type == 1);
    GIVES(cudaErrorInvalidValue, cudaGraphDestroy(kept));
    GIVES(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(first, &kept));
    memset(&programmatic, 0, sizeof programmatic);
    programmatic.from_port = programmatic.type = 1;
    cudaGraphNode_t last = counting_node(outer);
    GIVES(cudaErrorInvalidValue, add_edges(outer, &child, &last, &programmatic, 1));
    OK(add_edges(outer, &child, &last, NULL, 1));
    CHECK(runs(outer) == 4);
}

static void clones(void)
{
    cudaGraph_t g, clone, other;
    cudaGraphNode_t found = NULL;
    begin();
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphCreate(&other, 0));
    cudaGraphNode_t n = counting_node(g);
    OK(cudaGraphClone(&clone, g));
    OK(cudaGraphNodeFindInClone(&found, n, clone));
    CHECK(found != NULL && found != n);
    GIVES(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, n, other));
}

static void left_out(void)
{
    cudaGraph_t g;
    cudaGraphExec_t exec;
    unsigned enabled = 7;
    begin();
    OK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t a = counting_node(g), b = counting_node(g);
    OK(add_edges(g, &a, &b, NULL, 1));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphNodeSetEnabled(exec, a, 0));
    OK(cudaGraphNodeGetEnabled(exec, a, &enabled));
    CHECK(enabled == 0 && runs_of(exec) == 1);
    OK(cudaGraphNodeSetEnabled(exec, a, 1));
    CHECK(runs_of(exec) == 2);
}

static void updates(void)
{
    cudaGraph_t programmatic, plain, single;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    unsigned taken = 0;
    begin();
    programmatic = chain();
    OK(cudaGraphCreate(&plain, 0));
    cudaGraphNode_t a = counting_node(plain), b = counting_node(plain);
    OK(add_edges(plain, &a, &b, NULL, 1));
    OK(cudaGraphCreate(&single, 0));
    (void)counting_node(single);
    OK(cudaGraphInstantiate(&exec, programmatic, 0));
    OK(cudaGraphExecUpdate(exec, programmatic, &info));
    GIVES(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, single, &info));
    for (int i = 0; i < 32; i++) /* EDGE-23: other edge data may be refused or taken over */
        taken += cudaGraphExecUpdate(exec, i % 2 ? programmatic : plain, &info) == cudaSuccess;
    CHECK(taken > 0 && taken < 32);
    CHECK(runs_of(exec) == 2);
}

#if CUDART_VERSION >= 12030
/* A body of one kernel, and if there are two, one of two kernels as the second. */
static uint32_t runs_under(unsigned value, unsigned size)
{
    cudaGraph_t g, bodies[2];
    cudaGraphNode_t n;
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams p;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, g, value, cudaGraphCondAssignDefault));
    memset(&p, 0, sizeof p);
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeIf;
    p.conditional.size = size;
    OK(add_node(&n, g, NULL, NULL, 0, &p));
    memcpy(bodies, p.conditional.phGraph_out, size * sizeof bodies[0]);
    (void)counting_node(bodies[0]);
    if (size == 2) {
        (void)counting_node(bodies[1]);
        (void)counting_node(bodies[1]);
    }
    p.conditional.size = 0;
    GIVES(cudaErrorInvalidValue, add_node(&n, g, NULL, NULL, 0, &p));
    uint32_t count = runs(g);
    OK(cudaGraphDestroy(g));
    return count;
}

/* "The graph cannot be used in a child node. [...] The graph cannot be cloned." */
static void conditions_stay(void)
{
    cudaGraph_t g, outer, clone;
    cudaGraphNode_t n;
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams p;
    begin();
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, g, 1, cudaGraphCondAssignDefault));
    memset(&p, 0, sizeof p);
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeIf;
    p.conditional.size = 1;
    OK(add_node(&n, g, NULL, NULL, 0, &p));
    GIVES(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&n, outer, NULL, 0, g));
    memset(&p, 0, sizeof p);
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = g;
    GIVES(cudaErrorInvalidValue, add_node(&n, outer, NULL, NULL, 0, &p));
    GIVES(cudaErrorInvalidValue, cudaGraphClone(&clone, g));
    CHECK(runs(outer) == 0); /* the refused nodes are not in it */
    OK(cudaGraphDestroy(g));
}

static void conditions(void)
{
    begin();
    CHECK(runs_under(1, 1) == 1);
    CHECK(runs_under(0, 1) == 0);
    CHECK(runs_under(5, 2) == 1);
    CHECK(runs_under(0, 2) == 2);
}
#endif

int main(void)
{
    child_graphs();
    clones();
    left_out();
    updates();
#if CUDART_VERSION >= 12030
    conditions();
    conditions_stay();
#endif
    return failures != 0;
}
