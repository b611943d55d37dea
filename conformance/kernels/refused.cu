/* refused.cu - nodes and events that the documents exclude are refused, and what was there before goes on.
 *
 * pair    rules    what is asked
 * bodies  EDGE-39  graphs with a node of each kind in the body of a conditional node, in a body inside it and in a child graph inside it
 * events  EVT-16   each call that takes an event, without one; a launch whose event keeps time, which does not run if it is refused
 * values  COMP-04g  flags, modes, kinds, sizes, nodes and functions that a call's documents exclude (refused_values.h)
 */
#include <stdio.h>

#include "cleared.h"
#include "graph_ask.h"
#include "host_room.h"

KERNEL(refused_count) { k_add(&args.state->finished, 1); }

/* ---- bodies ---- */

#if CUDART_VERSION >= 12040
enum depth { IN_BODY, IN_BODY_OF_BODY, IN_CHILD_OF_BODY, DEPTHS };
static const char *const depth_name[DEPTHS] = { "the body of a conditional node", "a body inside a body", "a child graph inside a body" };

/* All other nodes "may not be used in loops or conditionals", at any depth. */
static int may_be_in_body(enum node_kind kind) { return kind != NODE_HOST && kind != NODE_RECORD && kind != NODE_WAIT; }

/* `answer` is what came of the node itself, or of the child graph that holds it. */
static cudaError_t put_node(cudaGraph_t graph, enum depth depth, enum node_kind kind, const struct node_room *room, cudaError_t *answer)
{
    cudaGraph_t body = NULL, child = NULL;
    cudaGraphNode_t node;
    cudaError_t error = ask_add_if(&node, graph, graph, 1, &body);

    if (error == cudaSuccess && depth == IN_BODY_OF_BODY)
        error = ask_add_if(&node, graph, body, 1, &body);
    if (error != cudaSuccess)
        return error;
    if (depth != IN_CHILD_OF_BODY) {
        *answer = ask_add(&node, body, kind, room);
        return cudaSuccess;
    }
    error = cudaGraphCreate(&child, 0);
    if (error == cudaSuccess)
        error = ask_add(&node, child, kind, room);
    if (error == cudaSuccess)
        *answer = cudaGraphAddChildGraphNode(&node, body, NULL, 0, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

static void ask_body(struct ask *ask, enum depth depth, enum node_kind kind, const struct node_room *room)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t answer = cudaSuccess, error = cudaGraphCreate(&graph, 0);
    char text[96];

    snprintf(text, sizeof(text), "%s node in %s", node_kind_name[kind], depth_name[depth]);
    if (error == cudaSuccess)
        error = put_node(graph, depth, kind, room, &answer);
    if (error == cudaSuccess && answer == cudaSuccess) {
        answer = cudaGraphInstantiate(&exec, graph, 0);
        if (answer == cudaSuccess)
            (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(graph);
    if (error != cudaSuccess)
        ask_expect(ask, text, error, cudaSuccess);
    else if (may_be_in_body(kind))
        ask_expect(ask, text, answer, cudaSuccess);
    else
        ask_expect_refusal(ask, text, answer);
}

static void ask_bodies(struct ask *ask)
{
    struct node_room room = PDL_ZERO;
    cudaError_t error = ask_open_room(&room, (const void *)SYMBOL(refused_count));
    unsigned depth, kind;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (depth = 0; depth < DEPTHS && error == cudaSuccess; depth++)
        for (kind = 0; kind < NODE_KINDS; kind++)
            ask_body(ask, (enum depth)depth, (enum node_kind)kind, &room);
    ask_close_room(&room);
}
#else
static void ask_bodies(struct ask *ask) { ask_skip(ask, "conditional nodes", "the toolkit is older than 12.4"); }
#endif

/* ---- events ---- */

/* One of the calls: 0 to EVENT_CALLS - 1, in the order of their names. */
static const char *const event_call[] = { "cudaEventRecord", "cudaEventRecordWithFlags", "cudaStreamWaitEvent", "cudaEventQuery",
                                          "cudaEventSynchronize", "cudaEventElapsedTime from", "cudaEventElapsedTime to", "cudaEventDestroy" };
#define EVENT_CALLS (sizeof(event_call) / sizeof(event_call[0]))

static cudaError_t call_without_event(unsigned call, cudaStream_t stream, cudaEvent_t event)
{
    float ms = 0.0f;

    switch (call) {
    case 0: return cudaEventRecord(NULL, stream);
    case 1: return cudaEventRecordWithFlags(NULL, stream, cudaEventRecordDefault);
    case 2: return cudaStreamWaitEvent(stream, NULL, 0);
    case 3: return cudaEventQuery(NULL);
    case 4: return cudaEventSynchronize(NULL);
    case 5: return cudaEventElapsedTime(&ms, NULL, event);
    case 6: return cudaEventElapsedTime(&ms, event, NULL);
    default: return cudaEventDestroy(NULL);
    }
}

/* A launch that records this event, which keeps time: whether it is taken is asked elsewhere (EVT-04). */
static cudaError_t launch_with(struct ask *ask, const struct kernel_args *args, cudaEvent_t event, int completion)
{
    cudaLaunchAttribute attribute = completion ? recording_begin(event) : recording(event);

    return launch_one((const void *)SYMBOL(refused_count), args, 1, ask->stream, &attribute, 1);
}

/* Between two kernels of a stream, both of which run all the same. A launch that is refused does not run. */
static void ask_call(struct ask *ask, unsigned call, const struct kernel_args *args, cudaEvent_t event)
{
    struct trial_state before = PDL_ZERO, after = PDL_ZERO;
    cudaError_t error = cudaMemcpy(&before, args->state, sizeof(before), cudaMemcpyDeviceToHost), answer;
    cudaLaunchAttribute attribute = serialization(1);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(refused_count), args, 1, ask->stream, NULL, 0);
    answer = call < EVENT_CALLS ? call_without_event(call, ask->stream, event) : launch_with(ask, args, event, call > EVENT_CALLS);
    if (call < EVENT_CALLS)
        ask_expect_refusal(ask, event_call[call], answer);
    (void)cudaGetLastError();
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(refused_count), args, 1, ask->stream, &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(&after, args->state, sizeof(after), cudaMemcpyDeviceToHost);
    ask_expect(ask, "the kernels before and after it", error, cudaSuccess);
    ask_expect_number(ask, "kernels that ran", (long)(after.finished - before.finished), call >= EVENT_CALLS && answer == cudaSuccess ? 3 : 2);
}

static void ask_events(struct ask *ask)
{
    struct kernel_args args = PDL_ZERO;
    cudaEvent_t event = NULL, sleeping = NULL;
    cudaError_t error = cleared_alloc((void **)&args.state, sizeof(struct trial_state));
    unsigned call;

    if (error == cudaSuccess)
        error = cudaEventCreate(&event);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&sleeping, cudaEventBlockingSync);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, ask->stream);
    ask_expect(ask, "memory and two events", error, cudaSuccess);
    for (call = 0; call < EVENT_CALLS + 2 && error == cudaSuccess; call++)
        ask_call(ask, call, &args, event);
    for (call = EVENT_CALLS; call < EVENT_CALLS + 2 && error == cudaSuccess; call++)
        ask_call(ask, call, &args, sleeping);
    if (sleeping)
        (void)cudaEventDestroy(sleeping);
    if (event)
        (void)cudaEventDestroy(event);
    (void)cudaFree(args.state);
}

#include "refused_values.h"

static const struct pair refused_pairs[] = {
    PAIR_ASK("bodies", ask_bodies),
    PAIR_ASK("events", ask_events),
    PAIR_ASK("values", ask_values),
};
IMAGE(refused, refused_pairs)
