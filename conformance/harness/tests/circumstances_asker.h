/* circumstances_asker.h - for circumstances_test.c: who makes the calls around which a circumstance stands, and what is there before and after. */
#ifndef CIRCUMSTANCES_ASKER_H
#define CIRCUMSTANCES_ASKER_H

#include "circumstances_cuda.h"
#include "circumstances_made.h"

static cudaStream_t stream, side; /* s1 and s2 */
static cudaEvent_t event;         /* e1 */
static cudaGraph_t graph;         /* g1 */

static void begin(enum circumstance circumstance)
{
    begin_anew();
    stream = handle_of(STREAM, 1);
    side = handle_of(STREAM, 2);
    event = handle_of(EVENT, 1);
    graph = handle_of(GRAPH, 1);
    circumstances_begin(circumstance);
}

/* The calls since the last look. */
static int called(const char *calls)
{
    int same = strcmp(calls_made, calls) == 0;

    if (!same)
        printf("called %s\nnot    %s\n", calls_made, calls);
    forget_calls();
    return same;
}

/* What the asker has is left, and nothing else. */
static int is_left(unsigned graphs, unsigned execs, unsigned streams, unsigned events)
{
    return count_alive(GRAPH) == graphs && count_alive(EXEC) == execs && count_alive(STREAM) == streams && count_alive(EVENT) == events &&
           misused == 0 && !some_capture() && thread_mode == cudaStreamCaptureModeGlobal && last_error == cudaSuccess;
}

/* An error that was there before is not told from those of the ends, which are cleared; alone there are none. */
static void end(void)
{
    forget_calls();
    last_error = around.now == ALONE ? cudaSuccess : cudaErrorUnknown;
    (void)circumstances_end();
}

/* The asker's calls, one of each. */
static cudaError_t instantiate(unsigned long long flags)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = around_instantiate(&exec, graph, flags);

    if (error == cudaSuccess)
        give_back(EXEC, exec);
    return error;
}

static cudaError_t create(void)
{
    cudaGraph_t own = NULL;
    cudaError_t error = around_graph_create(&own, 3);

    if (error == cudaSuccess)
        give_back(GRAPH, own);
    return error;
}

static cudaError_t finish(cudaStream_t of)
{
    cudaGraph_t captured = NULL;
    cudaError_t error = around_end_capture(of, &captured);

    if (captured)
        give_back(GRAPH, captured);
    return error;
}

static cudaError_t create_event(void)
{
    cudaEvent_t own = NULL;
    cudaError_t error = around_event_create(&own, 2);

    if (error == cudaSuccess)
        give_back(EVENT, own);
    return error;
}

static cudaError_t create_stream(void)
{
    cudaStream_t own = NULL;
    cudaError_t error = around_stream_create(&own, 1);

    if (error == cudaSuccess)
        give_back(STREAM, own);
    return error;
}

static cudaError_t begin_capture(void) { return around_begin_capture(stream, cudaStreamCaptureModeThreadLocal); }

static cudaError_t await(void) { return around_wait_event(stream, event, 1); }

#define TO ((void *)0x2000)
#define FROM ((const void *)0x1000)

static cudaError_t copy(size_t bytes) { return around_memcpy_async(TO, FROM, bytes, cudaMemcpyHostToDevice, stream); }

static cudaError_t set(size_t bytes) { return around_memset_async(TO, 5, bytes, stream); }

static cudaError_t add_copy(size_t bytes)
{
    cudaGraphNode_t node, after = handle_of(NODE, 9);

    return around_add_memcpy_node(&node, graph, &after, 1, TO, FROM, bytes, cudaMemcpyDefault);
}

static cudaError_t add_set(size_t width, size_t height)
{
    struct cudaMemsetParams params = { .dst = TO, .elementSize = 2, .height = height, .pitch = 100, .value = 5, .width = width };
    cudaGraphNode_t node, after = handle_of(NODE, 9);

    return around_add_memset_node(&node, graph, &after, 1, &params);
}

#if CUDART_VERSION >= 12040
static cudaError_t condition(void)
{
    cudaGraphConditionalHandle handle = 0;
    cudaError_t error = around_condition_create(&handle, graph, 4, 1);

    return error == cudaSuccess && handle != 7 ? cudaErrorInvalidValue : error;
}
#endif

static cudaError_t exec(void) { return instantiate(2); }
static cudaError_t copy_4(void) { return copy(4); }
static cudaError_t set_4(void) { return set(4); }
static cudaError_t add_copy_4(void) { return add_copy(4); }
static cudaError_t add_set_4(void) { return add_set(4, 1); }
static cudaError_t finish_it(void) { return finish(stream); }

/* Each of them, the one call that it is, and the kind that it tells. */
static const struct {
    cudaError_t (*call)(void);
    const char *fails, *calls;
    unsigned kind;
} asked[] = {
    { create, "create", "create g2 3; ", CALLED_GRAPH },
#if CUDART_VERSION >= 12040
    { condition, "condition", "condition g1 4 1; ", CALLED_CONDITION },
#endif
    { exec, "exec", "exec x1 g1 2; ", CALLED_EXEC },
    { begin_capture, "begin", "begin s1 1; ", CALLED_CAPTURE },
    { finish_it, "finish", "finish s1; ", 0 },
    { copy_4, "copy", "copy s1: 0x1000>0x2000 4 1; ", CALLED_COPY },
    { set_4, "set", "set s1: 0x2000 5 4; ", CALLED_COPY },
    { add_copy_4, "copy", "copy g1 after 1 n9: 0x1000>0x2000 4 4; ", CALLED_COPY },
    { add_set_4, "set", "set g1 after 1 n9: 0x2000 5 of 2 4x1 100; ", CALLED_COPY },
    { await, "wait", "wait s1 e1 1; ", CALLED_WAIT },
    { create_event, "event", "event e2 2; ", CALLED_MAKE },
    { create_stream, "stream", "stream s3 1; ", CALLED_MAKE },
};
#define ASKED_CALLS (sizeof(asked) / sizeof(asked[0]))

#endif
