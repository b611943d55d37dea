/* graph_test.c - what a stream that captures says it depends on is compared with what it was told to depend on: one wrong answer shows. */
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
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
