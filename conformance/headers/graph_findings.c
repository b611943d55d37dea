/* pdl_graph_check case by case: the known traps, what is safe, memory of every size, and what cannot be checked. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

enum { MOST = 16 };

static pdl_kernel plain;
static const dim3 one = {1, 1, 1};
static cudaGraph_t graph;
static cudaGraphNode_t node[8];
static unsigned waits_of[8], nodes;
static unsigned char scratch[PDL_GRAPH_SCRATCH(16, 32) + 8];
static pdl_graph_finding finding[MOST];
static size_t findings;
static struct number number = {1};
static void *args[] = {&number};

static unsigned answer(cudaGraphNode_t asked, void *user)
{
    EXPECT(user == &graph);
    for (unsigned i = 0; i < nodes; i++) {
        if (node[i] == asked) {
            return waits_of[i];
        }
    }
    EXPECT(!"a kernel node of the graph");
    return 0;
}

static void set_up(void)
{
    fresh_device();
    nodes = 0;
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
}

static unsigned add(unsigned waits)
{
    EXPECT_IS(pdl_graph_add_kernel(&node[nodes], graph, NULL, 0, &plain, one, one, args, 0, NULL), cudaSuccess);
    waits_of[nodes] = waits;
    return nodes++;
}

static void join(unsigned from, unsigned to, unsigned kind)
{
    pdl_graph_edge edge = PDL_ZERO;

    edge.from = node[from];
    edge.to = node[to];
    edge.kind = kind;
    EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, &plain, PDL_OVERLAP_REQUIRED), cudaSuccess);
}

static size_t check(cudaGraph_t which)
{
    size_t bytes = sizeof scratch;

    findings = MOST;
    memset(finding, 0, sizeof finding);
    EXPECT_IS(pdl_graph_check(which, answer, &graph, scratch, &bytes, finding, &findings), cudaSuccess);
    return findings;
}

/* The only finding, or one of several. */
static void is(size_t i, unsigned kind, unsigned severity, unsigned from, unsigned to, int missed)
{
    EXPECT(i < findings);
    EXPECT_IS(finding[i].kind, kind);
    EXPECT_IS(finding[i].severity, severity);
    EXPECT(finding[i].from == node[from]);
    EXPECT(finding[i].to == node[to]);
    EXPECT(finding[i].missed == (missed < 0 ? NULL : node[missed]));
    EXPECT(finding[i].sentence != NULL && strlen(finding[i].sentence) > 20);
}

/* A -programmatic-> B -full-> C, F13: what it depends on is whether B waits. */
static void full_edge_behind_overlap(void)
{
    const unsigned kinds[] = {PDL_EDGE_PROGRAMMATIC, PDL_EDGE_BLOCK_START};

    for (unsigned i = 0; i < 2; i++) {
        set_up();
        add(PDL_WAITS_YES), add(PDL_WAITS_NO), add(PDL_WAITS_YES);
        join(0, 1, kinds[i]);
        join(1, 2, PDL_EDGE_FULL);
        EXPECT_IS(check(graph), 2);
        is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);
        is(1, PDL_FINDING_FULL_EDGE, PDL_SEVERITY_ERROR, 1, 2, 0);
        waits_of[1] = PDL_WAITS_YES;
        EXPECT_IS(check(graph), 0);
        waits_of[1] = PDL_WAITS_UNKNOWN;
        EXPECT_IS(check(graph), 2);
        is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_HINT, 0, 1, 0);
        is(1, PDL_FINDING_FULL_EDGE, PDL_SEVERITY_HINT, 1, 2, 0);
        for (unsigned no_answer = 3; no_answer < 5; no_answer++) {
            waits_of[1] = no_answer;
            EXPECT_IS(check(graph), 2);
            is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_HINT, 0, 1, 0);
        }
        waits_of[1] = PDL_WAITS_NO;
        join(0, 2, PDL_EDGE_FULL); /* F15: what capture adds */
        EXPECT_IS(check(graph), 1);
        is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);
    }
}

/* F14: the last wait reaches back over a kernel that did not wait; through an empty node the trap is still one. */
static void waits_reach_back(void)
{
    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_NO), add(PDL_WAITS_YES);
    join(0, 1, PDL_EDGE_PROGRAMMATIC);
    join(1, 2, PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(check(graph), 1);
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);

    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_NO);
    EXPECT_IS(cudaGraphAddEmptyNode(&node[nodes++], graph, NULL, 0), cudaSuccess);
    add(PDL_WAITS_YES);
    join(0, 1, PDL_EDGE_PROGRAMMATIC);
    join(1, 2, PDL_EDGE_FULL);
    EXPECT_IS(check(graph), 1); /* an empty node looks at nothing */
    join(2, 3, PDL_EDGE_FULL);
    EXPECT_IS(check(graph), 2);
    is(1, PDL_FINDING_FULL_EDGE, PDL_SEVERITY_ERROR, 2, 3, 0);
}

/* The order is lost once, at the first full edge: what comes later misses the same, and is not named again. */
static void named_where_it_is_lost(void)
{
    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_NO), add(PDL_WAITS_NO), add(PDL_WAITS_NO);
    join(0, 1, PDL_EDGE_PROGRAMMATIC);
    join(1, 2, PDL_EDGE_FULL);
    join(2, 3, PDL_EDGE_FULL);
    EXPECT_IS(check(graph), 2);
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);
    is(1, PDL_FINDING_FULL_EDGE, PDL_SEVERITY_ERROR, 1, 2, 0);
}

/* F18, and the same edge where others make it harmless. */
static void launch_completion(void)
{
    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_YES), add(PDL_WAITS_YES);
    join(0, 2, PDL_EDGE_LAUNCH_COMPLETION);
    EXPECT_IS(check(graph), 1);
    is(0, PDL_FINDING_LAUNCH_COMPLETION, PDL_SEVERITY_ERROR, 0, 2, 0);
    join(0, 1, PDL_EDGE_FULL);
    join(1, 2, PDL_EDGE_FULL);
    EXPECT_IS(check(graph), 1);
    is(0, PDL_FINDING_LAUNCH_COMPLETION, PDL_SEVERITY_HINT, 0, 2, -1);
}

static void harmless_and_slow(void)
{
    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_YES), add(PDL_WAITS_NO);
    join(0, 1, PDL_EDGE_FULL);
    join(1, 2, PDL_EDGE_FULL);
    join(0, 2, PDL_EDGE_PROGRAMMATIC); /* does not wait, and need not */
    EXPECT_IS(check(graph), 2);
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_HINT, 0, 2, -1);
    is(1, PDL_FINDING_FAN_IN, PDL_SEVERITY_HINT, 0, 2, -1);
}

/* What capture makes of a stream is safe wherever the stream was. */
static void captured(void)
{
    pdl_options overlap = PDL_ZERO;
    cudaStream_t stream;
    cudaGraph_t made;
    size_t count = 8;

    set_up();
    overlap.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, &overlap), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, one, one, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(cudaStreamEndCapture(stream, &made), cudaSuccess);
    EXPECT_IS(cudaGraphGetNodes(made, node, &count), cudaSuccess);
    nodes = (unsigned)count;
    waits_of[0] = waits_of[2] = PDL_WAITS_YES;
    waits_of[1] = PDL_WAITS_NO;
    EXPECT_IS(check(made), 1); /* F11: nothing about the last one */
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);
}

/* Every size and alignment of scratch: no byte beyond it is written, and the size that is needed is returned. */
static void memory_of_every_size(void)
{
    size_t bytes, needed = 0;

    full_edge_behind_overlap(); /* 3 nodes, 3 edges, 1 finding */
    for (size_t given = 0; given <= PDL_GRAPH_SCRATCH(4, 5); given++) {
        for (size_t aside = 0; aside < 8; aside++) {
            cudaError_t error;

            memset(scratch, 0xa5, sizeof scratch);
            bytes = given;
            findings = MOST;
            error = pdl_graph_check(graph, answer, &graph, scratch + aside, &bytes, finding, &findings);
            EXPECT(error == cudaSuccess || (error == cudaErrorMemoryAllocation && bytes > given && findings == 0));
            EXPECT(error != cudaSuccess || (findings == 1 && given >= PDL_GRAPH_SCRATCH(3, 3)));
            EXPECT(error == cudaSuccess || given < PDL_GRAPH_SCRATCH(3, 4)); /* one spare edge always does */
            needed = error == cudaSuccess && needed == 0 ? given : needed;
            for (size_t i = 0; i < sizeof scratch; i++) {
                EXPECT(scratch[i] == 0xa5 || (i >= aside && i < aside + given));
            }
        }
    }
    EXPECT(needed >= PDL_GRAPH_SCRATCH(3, 3) && needed <= PDL_GRAPH_SCRATCH(3, 4));
    bytes = sizeof scratch;
    findings = 0;
    EXPECT_IS(pdl_graph_check(graph, answer, &graph, scratch, &bytes, NULL, &findings), cudaErrorMemoryAllocation);
    EXPECT_IS(findings, 1);
    EXPECT_IS(bytes, PDL_GRAPH_SCRATCH(3, 3));
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
}

/* Exactly what is needed is enough, where CUDA tells how many edges there are. */
static void memory_of_the_exact_size(void)
{
    set_up();
    for (unsigned edges = 0; edges < 2; edges++) {
        const unsigned last = add(PDL_WAITS_YES);
        size_t bytes = PDL_GRAPH_SCRATCH(nodes, edges);

        if (edges != 0) {
            join(0, last, PDL_EDGE_FULL);
        }
        findings = MOST;
        EXPECT_IS(pdl_graph_check(graph, answer, &graph, scratch, &bytes, finding, &findings), cudaSuccess);
        EXPECT_IS(bytes, PDL_GRAPH_SCRATCH(nodes, edges));
    }
}

/* Too few places: the errors come first, and all are counted. */
static void too_few_places(void)
{
    size_t bytes = sizeof scratch;

    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_YES), add(PDL_WAITS_UNKNOWN), add(PDL_WAITS_NO);
    join(0, 2, PDL_EDGE_PROGRAMMATIC);
    join(1, 2, PDL_EDGE_FULL);
    join(0, 3, PDL_EDGE_PROGRAMMATIC);
    memset(finding, 0, sizeof finding);
    findings = 1;
    EXPECT_IS(pdl_graph_check(graph, answer, &graph, scratch, &bytes, finding, &findings), cudaErrorMemoryAllocation);
    EXPECT_IS(findings, 3);
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 3, 0);
    EXPECT(finding[1].sentence == NULL);
}

static void bad_arguments(void)
{
    size_t bytes = sizeof scratch;

    set_up();
    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
#define BAD(...) (findings = MOST, pdl_graph_check(__VA_ARGS__))
    EXPECT_IS(BAD(NULL, NULL, NULL, scratch, &bytes, finding, &findings), cudaErrorInvalidValue);
    EXPECT_IS(findings, 0); /* as after every error */
    EXPECT_IS(BAD(graph, NULL, NULL, NULL, &bytes, finding, &findings), cudaErrorInvalidValue);
    EXPECT_IS(findings, 0);
    EXPECT_IS(BAD(graph, NULL, NULL, scratch, NULL, finding, &findings), cudaErrorInvalidValue);
    EXPECT_IS(findings, 0);
    EXPECT_IS(BAD(graph, NULL, NULL, scratch, &bytes, NULL, &findings), cudaErrorInvalidValue);
    EXPECT_IS(findings, 0);
    EXPECT_IS(pdl_graph_check(graph, NULL, NULL, scratch, &bytes, finding, NULL), cudaErrorInvalidValue);
    EXPECT_IS(BAD(graph, NULL, NULL, scratch, &bytes, finding, &findings), cudaSuccess);
    EXPECT_IS(findings, 0); /* an empty graph */
    bytes = 0;
    EXPECT_IS(BAD(graph, NULL, NULL, NULL, &bytes, finding, &findings), cudaErrorMemoryAllocation);
    EXPECT(bytes >= PDL_GRAPH_SCRATCH(0, 0)); /* a guess: the last error is not clean */
    model_set_versions(0, 12020); /* a driver without edge data */
    EXPECT_IS(BAD(graph, NULL, NULL, scratch, &bytes, finding, &findings), cudaErrorNotSupported);
    EXPECT_IS(findings, 0);
#undef BAD
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
}

/* A cycle, edge data that nobody knows, a child graph. */
static void what_cannot_be_checked(void)
{
    const cudaGraphEdgeData odd = {3, 0, 0, {0}};
    size_t bytes = sizeof scratch;
    cudaError_t error;

    set_up();
    add(PDL_WAITS_YES), add(PDL_WAITS_YES);
    join(0, 1, PDL_EDGE_FULL);
    join(1, 0, PDL_EDGE_FULL);
    findings = MOST;
    EXPECT_IS(pdl_graph_check(graph, answer, &graph, scratch, &bytes, finding, &findings), cudaErrorInvalidValue);
    EXPECT_IS(findings, 0);

    set_up();
    model_reset("illegal-edge-accepted", 1);
    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    add(PDL_WAITS_YES), add(PDL_WAITS_YES);
    error = PDL_IMPL_EDGES(cudaGraphAddDependencies, _v2)(graph, &node[0], &node[1], &odd, 1);
    EXPECT_IS(error, cudaSuccess);
    EXPECT_IS(check(graph), 1);
    is(0, PDL_FINDING_UNKNOWN_EDGE, PDL_SEVERITY_HINT, 0, 1, -1);
}

/* Not looked into, and said so; the traps in it are found when it is checked by itself. */
static void child_graph(void)
{
    cudaGraphNode_t child_node;
    cudaGraph_t child, parent;

    set_up();
    child = graph;
    add(PDL_WAITS_YES), add(PDL_WAITS_NO);
    join(0, 1, PDL_EDGE_PROGRAMMATIC);
    EXPECT_IS(cudaGraphCreate(&parent, 0), cudaSuccess);
    EXPECT_IS(cudaGraphAddChildGraphNode(&child_node, parent, NULL, 0, child), cudaSuccess);
    EXPECT_IS(check(parent), 1);
    EXPECT_IS(finding[0].kind, PDL_FINDING_NESTED);
    EXPECT_IS(finding[0].severity, PDL_SEVERITY_HINT);
    EXPECT(finding[0].from == NULL && finding[0].to == child_node && finding[0].missed == NULL);
    EXPECT_IS(check(child), 1);
    is(0, PDL_FINDING_NO_WAIT, PDL_SEVERITY_ERROR, 0, 1, 0);
}

/* Nor is the body of a conditional node. */
static void condition(void)
{
#if CUDART_VERSION >= 12040
    cudaGraphConditionalHandle handle;
    struct cudaGraphNodeParams params;
    cudaGraphNode_t made;

    set_up();
    memset(&params, 0, sizeof(params));
    EXPECT_IS(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), cudaSuccess);
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    EXPECT_IS(PDL_IMPL_EDGES(cudaGraphAddNode, _v2)(&made, graph, NULL, NULL, 0, &params), cudaSuccess);
    EXPECT_IS(check(graph), 1);
    EXPECT_IS(finding[0].kind, PDL_FINDING_NESTED);
    EXPECT(finding[0].from == NULL && finding[0].to == made);
#endif
}

int main(void)
{
    void (*const tests[])(void) = {full_edge_behind_overlap, waits_reach_back, named_where_it_is_lost, launch_completion, harmless_and_slow,
                                   captured, memory_of_every_size, memory_of_the_exact_size, too_few_places, bad_arguments, what_cannot_be_checked,
                                   child_graph, condition};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tests[i]();
    }
    return failed;
}
