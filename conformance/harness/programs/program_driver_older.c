/* program_driver_older.c - the driver's calls as they were before edges had data and calls took flags. Programs that older toolkits built
 * make them. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#include "../edges.h"

/* What nothing can name, or a driver lacks, stays NULL. */
void program_open_driver_older(struct program_room *room)
{
    static const struct driver_call calls[DRIVER_OLDER_CALLS] = {
        [OLDER_ADDS_EDGES] = { "cuGraphAddDependencies", 10000 }, [OLDER_REMOVES_EDGES] = { "cuGraphRemoveDependencies", 10000 },
        [OLDER_EDGES] = { "cuGraphGetEdges", 10000 }, [OLDER_DEPEND] = { "cuStreamUpdateCaptureDependencies", 11030 },
        [OLDER_BEGIN] = { "cuStreamBeginCapture", 10000 }, [OLDER_INSTANTIATE] = { "cuGraphInstantiate", 11000 },
        [OLDER_UPDATE] = { "cuGraphExecUpdate", 10020 }, [OLDER_ADDS_ANY] = { "cuGraphAddNode", 12020 },
        [OLDER_ADDS_KERNEL] = { "cuGraphAddKernelNode", 10000 }, [OLDER_SETS_KERNEL] = { "cuGraphKernelNodeSetParams", 10000 },
        [OLDER_SETS_EXEC_KERNEL] = { "cuGraphExecKernelNodeSetParams", 10010 },
        [OLDER_INTO] = { "cuGraphNodeGetDependencies", 10000 }, [OLDER_OUT_OF] = { "cuGraphNodeGetDependentNodes", 10000 },
        [OLDER_INFO] = { "cuStreamGetCaptureInfo", 11030 }, [OLDER_STATUS] = { "cuStreamGetCaptureInfo", 10010 },
        [OLDER_TELLS_KERNEL] = { "cuGraphKernelNodeGetParams", 10000 },
    };
    unsigned i;

    for (i = 0; i < DRIVER_OLDER_CALLS; i++)
        room->driver.older_call[i] = CUDART_VERSION >= 12050 ? program_driver_call(&calls[i]) : NULL;
}

void *program_older_call(const struct made *made, enum driver_older_call call, struct dice *dice)
{
    void *function = made->room->driver.older_call[call];

    return function && program_goes_by_driver(made, dice) ? function : NULL;
}

static int are_full(const cudaGraphEdgeData *data, size_t count)
{
    static const cudaGraphEdgeData full = PDL_ZERO;
    size_t e;

    for (e = 0; data && e < count; e++)
        if (memcmp(&data[e], &full, sizeof(full)) != 0)
            return 0;
    return 1;
}

int program_changed_by_older(struct made *made, enum driver_older_call call, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                             const cudaGraphEdgeData *data, size_t count, cudaError_t *error)
{
    typedef CUresult(CUDAAPI *edges_fn)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);
    void *function = are_full(data, count) ? program_older_call(made, call, &made->dice) : NULL;

    if (function)
        *error = (cudaError_t)((edges_fn)function)(made->inner, from, to, count);
    return function != NULL;
}

int program_depended_by_older(const struct made *made, cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count,
                              unsigned flags, struct dice *dice, cudaError_t *error)
{
    typedef CUresult(CUDAAPI *depend_fn)(CUstream, CUgraphNode *, size_t, unsigned);
    void *function = are_full(data, count) ? program_older_call(made, OLDER_DEPEND, dice) : NULL;

    if (function)
        *error = (cudaError_t)((depend_fn)function)(stream, nodes, count, flags);
    return function != NULL;
}

int program_begun_by_older(const struct made *made, cudaStream_t stream, struct dice *dice, cudaError_t *error)
{
    typedef CUresult(CUDAAPI *begin_fn)(CUstream);
    void *function = program_older_call(made, OLDER_BEGIN, dice);

    if (function)
        *error = (cudaError_t)((begin_fn)function)(stream);
    return function != NULL;
}

int program_instantiated_by_older(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, struct dice *dice, cudaError_t *error)
{
    typedef CUresult(CUDAAPI *instantiate_fn)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
    void *function = program_older_call(made, OLDER_INSTANTIATE, dice);

    if (function)
        *error = (cudaError_t)((instantiate_fn)function)(exec, graph, NULL, NULL, 0);
    return function != NULL;
}

int program_updated_by_older(const struct made *made, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info, struct dice *dice,
                             cudaError_t *error)
{
    typedef CUresult(CUDAAPI *update_fn)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *);
    void *function = program_older_call(made, OLDER_UPDATE, dice);
    CUgraphExecUpdateResult result;

    if (!function)
        return 0;
    memset(&result, 0xA5, sizeof(result));
    *error = (cudaError_t)((update_fn)function)(exec, graph, &info->errorNode, &result);
    info->result = (enum cudaGraphExecUpdateResult)result;
    return 1;
}

cudaError_t program_tell_capture(cudaStream_t stream, struct told_capture *told)
{
    return edges_of_capture(stream, &told->status, &told->id, &told->graph, NULL, NULL, NULL);
}

int program_tells_same(const struct told_capture *told, unsigned status, unsigned long long id, const void *graph)
{
    return (unsigned)told->status == status && told->id == id && told->graph == graph;
}

/* An answer that would lose data is an error, and the caller asks in another way. */
int program_told_by_older(const struct made *made, cudaStream_t stream, const cudaGraphNode_t **nodes, size_t *count, struct dice *dice,
                          cudaError_t *error)
{
    typedef CUresult(CUDAAPI *info_fn)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *);
    void *function = program_older_call(made, OLDER_INFO, dice);
    struct told_capture runtime = PDL_ZERO;
    CUstreamCaptureStatus told = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    enum cudaStreamCaptureStatus status;
    const cudaGraphEdgeData *data = NULL;

    if (!function)
        return 0;
    *error = program_tell_capture(stream, &runtime);
    if (*error != cudaSuccess)
        return 1;
    *error = (cudaError_t)((info_fn)function)(stream, &told, &id, &graph, nodes, count);
    if (*error == cudaSuccess && !program_tells_same(&runtime, (unsigned)told, id, graph))
        *error = cudaErrorUnknown;
    if (*error != cudaErrorLossyQuery)
        return 1;
    *error = edges_of_capture(stream, &status, NULL, NULL, nodes, &data, count);
    if (*error == cudaSuccess && are_full(data, *count))
        *error = cudaErrorUnknown;
    return *error != cudaSuccess;
}

int program_status_by_older(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureStatus *status, struct dice *dice,
                            cudaError_t *error)
{
    typedef CUresult(CUDAAPI *status_fn)(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
    void *function = program_older_call(made, OLDER_STATUS, dice);
    CUstreamCaptureStatus told = CU_STREAM_CAPTURE_STATUS_NONE;
    unsigned long long same = 0;
    cuuint64_t id = 0;

    if (!function)
        return 0;
    *error = (cudaError_t)((status_fn)function)(stream, &told, &id);
    if (*error == cudaSuccess)
        *error = edges_of_capture(stream, status, &same, NULL, NULL, NULL, NULL);
    if (*error == cudaSuccess && *status == cudaStreamCaptureStatusActive && id != same)
        *error = cudaErrorUnknown;
    *status = (enum cudaStreamCaptureStatus)told;
    return 1;
}

/* The older call for one direction tells the neighbours of an edge's node. */
static int tells_neighbours(const struct made *made, enum driver_older_call call, const cudaGraphNode_t *nodes,
                            const cudaGraphNode_t *others, const cudaGraphEdgeData *data, size_t count)
{
    typedef CUresult(CUDAAPI *neighbours_fn)(CUgraphNode, CUgraphNode *, size_t *);
    static cudaGraphNode_t told[PROGRAM_LINKS + 1];
    void *function = made->room->driver.older_call[call];
    cudaGraphNode_t node = nodes[made->room->key % count];
    size_t room = PROGRAM_LINKS + 1, e, k;
    CUresult result;

    if (!function)
        return 1;
    result = ((neighbours_fn)function)(node, told, &room);
    for (e = 0; e < count; e++)
        if (nodes[e] == node && !are_full(&data[e], 1))
            return result == CUDA_ERROR_LOSSY_QUERY;
    for (e = 0; e < count && result == CUDA_SUCCESS; e++) {
        for (k = 0; nodes[e] == node && k < room && told[k] != others[e]; k++)
            ;
        if (nodes[e] == node && k == room)
            return 0;
        room -= nodes[e] == node;
        told[k] = nodes[e] == node ? told[room] : told[k];
    }
    return result == CUDA_SUCCESS && room == 0;
}

/* Whether each of these edges, `from` and `to`, is among those that were told. */
static int has_edges(const cudaGraphNode_t *told_from, const cudaGraphNode_t *told_to, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                     size_t count)
{
    size_t e, k;

    for (e = 0; e < count; e++) {
        for (k = 0; k < count && (told_from[k] != from[e] || told_to[k] != to[e]); k++)
            ;
        if (k == count)
            return 0;
    }
    return 1;
}

int program_older_tells(const struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                        size_t count)
{
    typedef CUresult(CUDAAPI *edges_fn)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
    static cudaGraphNode_t told_from[PROGRAM_LINKS + 1], told_to[PROGRAM_LINKS + 1];
    void *function = made->room->driver.older_call[OLDER_EDGES];
    size_t room = PROGRAM_LINKS + 1;
    CUresult result;

    if (!function || count == 0)
        return 1;
    result = ((edges_fn)function)(made->inner, told_from, told_to, &room);
    return (are_full(data, count) ? result == CUDA_SUCCESS && room == count && has_edges(told_from, told_to, from, to, count)
                                  : result == CUDA_ERROR_LOSSY_QUERY) &&
           tells_neighbours(made, OLDER_INTO, to, from, data, count) && tells_neighbours(made, OLDER_OUT_OF, from, to, data, count);
}
