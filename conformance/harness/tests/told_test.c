/* told_test.c - what the driver's calls tell of edges, those of today and those of before edges had data, is held against the edges that
 * there are: each lie about one of them has to be noticed, and no order of a list. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#include "check.h"
#include "programs/program.h"

#define EDGES 5u
#define NODES 5u

enum lie { NO_LIE, LESS, MORE, OTHER_FROM, OTHER_TO, CROSSED, TWICE, CODE, LOSSY, OTHER_PORT, LIES };
enum who { NOBODY, EDGES_NOW, INTO_NOW, OUT_OF_NOW, EDGES_THEN, INTO_THEN, OUT_OF_THEN, ALL };
static const char *const lie_name[LIES] = { "no lie", "an edge less", "an edge more", "another beginning", "another end", "ends exchanged",
                                            "an edge twice", "a code", "that data would be lost", "another port" };
static const char *const who_name[ALL] = { "nobody", "edges", "those before", "those behind", "older edges", "older those before", "older those behind" };

static enum lie lie;
static enum who liar;
static int full, forward;      /* all edges are; they are told from the first one to the last */
static unsigned at, edges;     /* which edge is lied about; how many there are */
static cudaGraphNode_t from[EDGES], to[EDGES];
static cudaGraphEdgeData data[EDGES];
static struct program_room room;
static struct made made;

static cudaGraphNode_t node_of(unsigned i) { return (cudaGraphNode_t)(void *)((char *)&made + 1 + i); }

/* 0 leads to 1, 2 and 3, 1 to 3, 2 to 3; without data all edges are full. */
static void open_edges(int are_full)
{
    static const unsigned ends[EDGES][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 3 }, { 2, 3 } };
    unsigned i;

    full = are_full;
    for (i = 0; i < EDGES; i++) {
        from[i] = node_of(ends[i][0]);
        to[i] = node_of(ends[i][1]);
        data[i] = program_edge(full || i % 2 ? LINK_FULL : LINK_TRIGGER);
    }
}

static CUresult code_of(enum who who, int loses)
{
    if (liar == who && lie == CODE)
        return CUDA_ERROR_INVALID_VALUE;
    if (liar == who && lie == LOSSY)
        return loses ? CUDA_SUCCESS : CUDA_ERROR_LOSSY_QUERY;
    return loses ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

static CUresult tell_edges(enum who who, CUgraphNode *first, CUgraphNode *second, CUgraphEdgeData *told, size_t *count)
{
    unsigned i, other = edges ? (at + 2) % edges : 0;

    for (i = 0; i < edges; i++) {
        unsigned e = forward ? i : edges - 1 - i;
        first[i] = from[e];
        second[i] = to[e];
        if (told)
            memcpy(&told[i], &data[e], sizeof(told[i]));
    }
    *count = edges;
    if (liar == who) {
        *count += (lie == MORE) - (lie == LESS);
        first[at] = lie == OTHER_FROM ? node_of(4) : first[at];
        second[at] = lie == OTHER_TO ? node_of(4) : second[at];
        if (lie == CROSSED) {
            CUgraphNode end = second[at];
            second[at] = second[other], second[other] = end;
        }
        if (lie == TWICE)
            first[at] = first[other], second[at] = second[other];
        if (lie == OTHER_PORT && told)
            told[at].from_port ^= 1;
    }
    return code_of(who, !told && !full);
}

static CUresult CUDAAPI edges_now(CUgraph graph, CUgraphNode *first, CUgraphNode *second, CUgraphEdgeData *told, size_t *count)
{
    (void)graph;
    return tell_edges(EDGES_NOW, first, second, told, count);
}

static CUresult CUDAAPI edges_then(CUgraph graph, CUgraphNode *first, CUgraphNode *second, size_t *count)
{
    (void)graph;
    return tell_edges(EDGES_THEN, first, second, NULL, count);
}

/* Of a node, in one direction. */
static CUresult tell_side(enum who who, int into, CUgraphNode node, CUgraphNode *others, CUgraphEdgeData *told, size_t *count)
{
    unsigned i, k;
    size_t n = 0;
    int loses = 0;

    for (k = 0; k < edges; k++) {
        i = forward ? k : edges - 1 - k;
        if ((into ? to[i] : from[i]) == node) {
            others[n] = into ? from[i] : to[i];
            if (told)
                memcpy(&told[n], &data[i], sizeof(told[n]));
            loses |= data[i].type != 0;
            n++;
        }
    }
    if (liar == who) {
        if (lie == OTHER_FROM || lie == OTHER_TO || lie == CROSSED)
            for (i = 0; i < n; i++)
                others[i] = node_of(4);
        for (i = 0; lie == OTHER_PORT && told && i < n; i++)
            told[i].from_port ^= 1;
        for (i = 0; lie == TWICE && i < n; i++)
            others[i] = others[n - 1];
        others[n] = node_of(4);
        n += (lie == MORE) - (lie == LESS);
    }
    *count = n;
    return code_of(who, !told && loses);
}

static CUresult CUDAAPI into_now(CUgraphNode node, CUgraphNode *others, CUgraphEdgeData *told, size_t *count)
{
    return tell_side(INTO_NOW, 1, node, others, told, count);
}

static CUresult CUDAAPI out_of_now(CUgraphNode node, CUgraphNode *others, CUgraphEdgeData *told, size_t *count)
{
    return tell_side(OUT_OF_NOW, 0, node, others, told, count);
}

static CUresult CUDAAPI into_then(CUgraphNode node, CUgraphNode *others, size_t *count) { return tell_side(INTO_THEN, 1, node, others, NULL, count); }
static CUresult CUDAAPI out_of_then(CUgraphNode node, CUgraphNode *others, size_t *count) { return tell_side(OUT_OF_THEN, 0, node, others, NULL, count); }

/* How often a lie of this one about this edge is noticed, whichever edge is looked at. */
static unsigned times_noticed(enum who who, enum lie now)
{
    unsigned key, noticed = 0;

    liar = who;
    lie = now;
    for (key = 0; key < EDGES; key++) {
        room.key = key;
        noticed += !program_driver_tells(&made, from, to, data, edges);
    }
    liar = NOBODY;
    return noticed;
}

/* An error each time, and what is told of a whole graph; what is told of a node, when that one is looked at. */
static int is_noticed(enum who who, enum lie now)
{
    unsigned most = now == CODE || now == LOSSY || who == EDGES_NOW || who == EDGES_THEN ? EDGES : 1;

    return times_noticed(who, now) >= most;
}

static int is_accepted(void) { return times_noticed(NOBODY, NO_LIE) == 0; }

/* Whether it changes anything that is told, and that is asked for. */
static int is_lie(enum who who, enum lie now)
{
    unsigned one = forward ? at : EDGES - 1 - at, two = forward ? (at + 2) % EDGES : EDGES - 1 - (at + 2) % EDGES;

    if (now == CROSSED && (who == EDGES_NOW || who == EDGES_THEN) && (from[one] == from[two] || to[one] == to[two]))
        return 0;
    if (now == OTHER_PORT)
        return who <= OUT_OF_NOW;
    if (who == EDGES_THEN && !full)
        return now == CODE || now == LOSSY; /* nothing is told then but the error */
    return now != TWICE || who == EDGES_NOW || who == EDGES_THEN || full; /* of two that are told only one is looked for */
}

static void test_lies(void)
{
    unsigned who, now;
    char text[96];

    for (who = EDGES_NOW; who < ALL; who++)
        for (now = NO_LIE + 1; now < LIES; now++) {
            if (!is_lie((enum who)who, (enum lie)now))
                continue;
            snprintf(text, sizeof(text), "%s: %s at %u is noticed%s", who_name[who], lie_name[now], at, full ? ", where all edges are full" : "");
            check(is_noticed((enum who)who, (enum lie)now), text);
        }
}

static void open_calls(int older)
{
    memset(&room, 0, sizeof(room));
    room.driver.graph_call[DRIVER_EDGES] = (void *)edges_now;
    room.driver.graph_call[DRIVER_INTO] = (void *)into_now;
    room.driver.graph_call[DRIVER_OUT_OF] = (void *)out_of_now;
    if (older) {
        room.driver.older_call[OLDER_EDGES] = (void *)edges_then;
        room.driver.older_call[OLDER_INTO] = (void *)into_then;
        room.driver.older_call[OLDER_OUT_OF] = (void *)out_of_then;
    }
}

/* A driver may have some of them only. */
static void test_missing(void)
{
    static const enum driver_graph_call now[] = { DRIVER_INTO, DRIVER_OUT_OF, DRIVER_EDGES };
    static const enum driver_older_call then[] = { OLDER_INTO, OLDER_OUT_OF, OLDER_EDGES };
    unsigned i;

    for (i = 0; i < 3; i++) {
        open_calls(1);
        room.driver.older_call[then[i]] = NULL;
        check(is_accepted() && is_noticed(EDGES_NOW, CODE), "a driver may lack an older call");
        open_calls(1);
        room.driver.graph_call[now[i]] = NULL;
        check(is_accepted() && (now[i] == DRIVER_EDGES || is_noticed(EDGES_NOW, CODE)), "a driver may lack a call");
    }
    open_calls(0);
    check(times_noticed(EDGES_THEN, CODE) == 0, "without the older calls those of today are asked");
}

static void test_edges(int are_full)
{
    open_edges(are_full);
    for (forward = 0; forward < 2; forward++) {
        open_calls(1);
        check(is_accepted(), "the truth is accepted in each order");
        for (at = 0; at < EDGES; at++)
            test_lies();
        at = 0;
        test_missing();
    }
}

int main(void)
{
    int are_full;

    made.room = &room;
    edges = EDGES;
    test_edges(0);
    test_edges(1);
    for (are_full = 0; are_full < 2; are_full++) {
        open_edges(are_full);
        open_calls(1);
        edges = 1;
        check(is_accepted() && is_noticed(INTO_NOW, CODE) && is_noticed(OUT_OF_NOW, LESS) && is_noticed(EDGES_THEN, CODE), "one edge is asked about");
        edges = 0;
        check(is_accepted() && times_noticed(EDGES_NOW, CODE) == EDGES && times_noticed(EDGES_NOW, MORE) == EDGES, "so is none");
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
