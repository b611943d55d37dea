/* graph_test.c - what a stream that captures says it depends on is compared with what it was told to depend on: one wrong answer shows. And
 * which nodes of a child graph are those of the steps. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "edges.h"
#include "programs/program_graph.c" /* whole: what compares is static */

enum lie { NO_LIE, UNREADABLE, ONE_LESS, ONE_MORE, ANOTHER_NODE, ANOTHER_PORT, ANOTHER_TYPE, NO_DATA, LIES };
static const char *const lie_name[LIES] = { "no lie", "an answer that cannot be had", "a node less", "a node more", "another node", "another port",
                                            "another type", "no data where an edge is not full" };
#define EDGES 3u

static enum lie lie;
static struct edge_list list;
static struct program_room room;
static struct made made;

static cudaGraphNode_t node_of(unsigned i) { return (cudaGraphNode_t)(void *)((char *)&list + 1 + i); }

/* From the last to the first: no order is promised. */
cudaError_t WRAPPED(edges_of_capture)(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count)
{
    static cudaGraphNode_t told[EDGES + 1];
    static cudaGraphEdgeData with[EDGES + 1];
    unsigned i;

    (void)stream, (void)id, (void)graph;
    memset(with, 0, sizeof(with));
    for (i = 0; i < EDGES; i++) {
        told[i] = node_of(EDGES - 1 - i);
        with[i] = list.data[EDGES - 1 - i];
    }
    told[EDGES] = node_of(EDGES);
    told[0] = lie == ANOTHER_NODE ? node_of(EDGES) : told[0];
    with[0].from_port ^= lie == ANOTHER_PORT;
    with[0].type ^= lie == ANOTHER_TYPE;
    *status = cudaStreamCaptureStatusActive;
    *nodes = told;
    *data = lie == NO_DATA ? NULL : with;
    *count = EDGES + (lie == ONE_MORE) - (lie == ONE_LESS);
    return lie == UNREADABLE ? cudaErrorInvalidValue : cudaSuccess;
}

static void tell_list(int full)
{
    unsigned i;

    memset(&list, 0, sizeof(list));
    list.count = EDGES;
    for (i = 0; i < EDGES; i++) {
        list.from[i] = node_of(i);
        list.data[i] = program_edge(full || i == 1 ? LINK_FULL : LINK_TRIGGER);
    }
}

/* ---- a child graph in which no node is found by its original ---- */

#define STEPS 3u

static cudaGraph_t original, child;
static size_t nodes_of_child;
static int finds;              /* they are found, after all */

cudaError_t __wrap_program_find_node(const struct made *of, cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone, struct dice *dice);
cudaError_t __wrap_program_find_node(const struct made *of, cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone, struct dice *dice)
{
    (void)of, (void)clone, (void)dice;
    *found = node_of((unsigned)((char *)(void *)node - (char *)(void *)node_of(0)) + 20);
    return finds ? cudaSuccess : cudaErrorInvalidValue;
}

/* Both list an extra node, and the steps in the same order, which is not theirs. */
cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t __wrap_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    static const unsigned order[STEPS + 1] = { 2, 0, 3, 1 };
    size_t i;

    check(*count >= STEPS + 1, "there is room for all nodes");
    for (i = 0; i <= STEPS; i++)
        nodes[i] = node_of(order[i] + (graph == child ? 10 : 0));
    *count = graph == child ? nodes_of_child : STEPS + 1;
    return graph == child || graph == original ? cudaSuccess : cudaErrorInvalidValue;
}

/* Whether find_inside() gives the steps the nodes first, first + 1, first + 2. */
static int finds_from(unsigned first)
{
    unsigned i, right = 0;

    for (i = 0; i < STEPS; i++)
        made.node[i] = node_of(i);
    if (find_inside(&made, child) != cudaSuccess)
        return 0;
    for (i = 0; i < STEPS; i++)
        right += made.node[i] == node_of(first + i);
    return right == STEPS;
}

static void test_child(void)
{
    static struct program program;

    program.steps = STEPS;
    made.program = &program;
    made.inner = original = (cudaGraph_t)(void *)&program;
    child = (cudaGraph_t)(void *)&made;
    nodes_of_child = STEPS + 1;
    check(finds_from(10), "nodes that are not found are those at the same places of the list");
    finds = 1;
    check(finds_from(20), "nodes that are found are those");
    finds = 0;
    nodes_of_child = STEPS;
    check(!finds_from(10), "a child graph of other nodes is none of this graph");
}

int main(void)
{
    unsigned now, full;
    char text[96];

    made.room = &room;
    for (full = 0; full < 2; full++) {
        tell_list((int)full);
        for (now = NO_LIE; now < LIES; now++) {
            int right = now == NO_LIE || (full && now == NO_DATA); /* full edges have none to tell */
            lie = (enum lie)now;
            snprintf(text, sizeof(text), "%s is %s", lie_name[now], right ? "what was to be" : "noticed");
            check(has_dependencies(&made, &list) == right, text);
        }
    }
    list.data[1] = program_edge(LINK_LAUNCH); /* only its port tells it from a full edge */
    lie = NO_LIE;
    check(has_dependencies(&made, &list), "a launch-completion edge is told rightly");
    lie = NO_DATA;
    check(!has_dependencies(&made, &list), "a launch-completion edge without its data is noticed");
    test_child();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
