/* asked.c - linked into the model's harness by pdl-harness-watched: a digest of all its calls, with what they are given.
 *
 * PDL_ASKED=FILE  at the end, the digest and how many calls it is of
 *
 * What watched.c falsifies is called through here. */
#include <stdio.h>
#include <stdlib.h>

#include "edges.h"
#include "tampered_asked.h"

#define MOST_NODES 4096u       /* of one graph */

#define __real_cudaHostAlloc watched_cudaHostAlloc
#define __real_cudaFreeHost watched_cudaFreeHost
#define __real_cudaMemcpy watched_cudaMemcpy
#define __real_cudaMemcpyAsync watched_cudaMemcpyAsync
#define __real_cudaStreamSynchronize watched_cudaStreamSynchronize
#define __real_cudaDeviceSynchronize watched_cudaDeviceSynchronize

/* What was made is another one than what stood there before: the model's handles lie where an older one lay, or not, by chance. */
static void forget_handle(const void *handle)
{
    if (noting && !inside)
        *number_of(handle) = 0;
}

static void forget_nothing() {} /* of arguments of any type */
static void forget_stream(const cudaStream_t *made) { forget_handle(*made); }
static void forget_event(const cudaEvent_t *made) { forget_handle(*made); }
static void forget_graph(const cudaGraph_t *made) { forget_handle(*made); }
static void forget_node(const cudaGraphNode_t *made) { forget_handle(*made); }
static void forget_exec(const cudaGraphExec_t *made) { forget_handle(*made); }

static void forget_bodies(const struct cudaGraphNodeParams *made)
{
    unsigned i;

    for (i = 0; made->type == cudaGraphNodeTypeConditional && i < made->conditional.size; i++)
        forget_handle(made->conditional.phGraph_out[i]);
}

/* The nodes of a graph that ends. */
cudaError_t __real_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
static void forget_nodes(cudaGraph_t graph)
{
    cudaGraphNode_t node[MOST_NODES];
    size_t i, count = MOST_NODES;

    if (!noting || inside)
        return;
    inside++;
    if (__real_cudaGraphGetNodes(graph, node, &count) != cudaSuccess)
        count = 0;
    inside--;
    for (i = 0; i < count && i < MOST_NODES; i++)
        forget_handle(node[i]);
}

/* What a call has made, by where it stands. */
#define FORGET(a)                                                                                                                     \
    _Generic((a), cudaStream_t *: forget_stream, cudaEvent_t *: forget_event, cudaGraph_t *: forget_graph,                            \
        cudaGraphNode_t *: forget_node, cudaGraphExec_t *: forget_exec, struct cudaGraphNodeParams *: forget_bodies,               \
        default: forget_nothing)(a)

#define FORGET_EACH(...) EACH(FORGET, ##__VA_ARGS__)
#define END(a) _Generic((a), cudaGraph_t: forget_nodes, default: forget_nothing)(a);
#define KEEP(...)

#define LEAD(name, params, args, makes, ends)                        \
    cudaError_t __real_##name params;                                \
    cudaError_t __wrap_##name params;                                \
    cudaError_t __wrap_##name params                                 \
    {                                                                \
        cudaError_t error;                                           \
                                                                     \
        ASKED(name, args)                                            \
        ends args                                                    \
        inside++;                                                    \
        error = __real_##name args;                                  \
        inside--;                                                    \
        if (error == cudaSuccess && (makes)) {                       \
            FORGET_EACH args                                         \
        }                                                            \
        return error;                                                \
    }
#define TELL(name, params, args, where) LEAD(name, params, args, strcmp(#name, "cudaStreamEndCapture") == 0, KEEP)
#define MAKE(name, params, args) LEAD(name, params, args, 1, KEEP)
#define DO(name, params, args) LEAD(name, params, args, 0, KEEP)
#define COUNT(name, params, args) LEAD(name, params, args, 0, END)
#include "tampered_calls.h"

__attribute__((constructor)) static void begin_asked(void)
{
    if (getenv("PDL_ASKED"))
        begin_noting();
}

__attribute__((destructor)) static void tell_asked(void)
{
    const char *path = getenv("PDL_ASKED");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "0x%x of %u\n", question, questions);
    fclose(file);
}
