/* program_driver_nodes.c - the driver's own calls that add nodes to a graph, and give them other parameters there or in an executable graph. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#define ANY_KIND STEP_KINDS /* the call for nodes of every kind */

/* What an older driver lacks stays NULL. */
void program_open_driver_nodes(struct program_room *room)
{
    static const struct driver_call calls[DRIVER_NODE_CALLS][STEP_KINDS + 1] = {
        [DRIVER_ADDS] = { [STEP_KERNEL] = { "cuGraphAddKernelNode", 12000 }, [STEP_SET] = { "cuGraphAddMemsetNode", 10000 },
                          [STEP_COPY] = { "cuGraphAddMemcpyNode", 10000 }, [STEP_HOST] = { "cuGraphAddHostNode", 10000 },
                          [STEP_EMPTY] = { "cuGraphAddEmptyNode", 10000 }, [STEP_RECORD] = { "cuGraphAddEventRecordNode", 11010 },
                          [STEP_AWAIT] = { "cuGraphAddEventWaitNode", 11010 }, [ANY_KIND] = { "cuGraphAddNode", WITH_EDGE_DATA } },
        [DRIVER_SETS] = { [STEP_KERNEL] = { "cuGraphKernelNodeSetParams", 12000 }, [STEP_SET] = { "cuGraphMemsetNodeSetParams", 10000 },
                          [STEP_COPY] = { "cuGraphMemcpyNodeSetParams", 10000 }, [STEP_HOST] = { "cuGraphHostNodeSetParams", 10000 },
                          [STEP_RECORD] = { "cuGraphEventRecordNodeSetEvent", 11010 }, [STEP_AWAIT] = { "cuGraphEventWaitNodeSetEvent", 11010 },
                          [ANY_KIND] = { "cuGraphNodeSetParams", 12020 } },
        [DRIVER_SETS_EXEC] = { [STEP_KERNEL] = { "cuGraphExecKernelNodeSetParams", 12000 },
                               [STEP_SET] = { "cuGraphExecMemsetNodeSetParams", 10020 },
                               [STEP_COPY] = { "cuGraphExecMemcpyNodeSetParams", 10020 },
                               [STEP_HOST] = { "cuGraphExecHostNodeSetParams", 10020 },
                               [STEP_RECORD] = { "cuGraphExecEventRecordNodeSetEvent", 11010 },
                               [STEP_AWAIT] = { "cuGraphExecEventWaitNodeSetEvent", 11010 },
                               [ANY_KIND] = { "cuGraphExecNodeSetParams", 12020 } },
        [DRIVER_TELLS] = { [STEP_KERNEL] = { "cuGraphKernelNodeGetParams", 12000 }, [STEP_HOST] = { "cuGraphHostNodeGetParams", 10000 },
                           [STEP_RECORD] = { "cuGraphEventRecordNodeGetEvent", 11010 },
                           [STEP_AWAIT] = { "cuGraphEventWaitNodeGetEvent", 11010 }, [ANY_KIND] = { "cuGraphNodeGetType", 10000 } },
    };
    static const struct driver_call context = { "cuCtxGetCurrent", 4000 };
    typedef CUresult(CUDAAPI *current_fn)(CUcontext *);
    void *current = program_driver_call(&context);
    CUcontext now = NULL;
    unsigned call, kind;

    if (current && ((current_fn)current)(&now) != CUDA_SUCCESS)
        now = NULL;
    room->driver.context = now;
    for (call = 0; call < DRIVER_NODE_CALLS; call++)
        for (kind = 0; kind <= STEP_KINDS; kind++)
            room->driver.node_call[call][kind] = now && calls[call][kind].name ? program_driver_call(&calls[call][kind]) : NULL;
}

/* ---- what the calls are given ---- */

struct driver_params {
    union {
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUDA_MEMSET_NODE_PARAMS set;
        CUDA_MEMCPY3D copy;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
    } as;
    struct step_params given;  /* keeps a kernel's arguments */
    CUcontext context;
};

static void fill_kernel(const struct program_room *room, const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    to->func = program_driver_kernel(room, from->func);
    to->gridDimX = from->gridDim.x, to->gridDimY = from->gridDim.y, to->gridDimZ = from->gridDim.z;
    to->blockDimX = from->blockDim.x, to->blockDimY = from->blockDim.y, to->blockDimZ = from->blockDim.z;
    to->sharedMemBytes = from->sharedMemBytes;
    to->kernelParams = from->kernelParams;
}

static void fill_set(const struct cudaMemsetParams *from, CUDA_MEMSET_NODE_PARAMS *to)
{
    to->dst = (CUdeviceptr)(uintptr_t)from->dst;
    to->pitch = from->pitch;
    to->value = from->value;
    to->elementSize = from->elementSize;
    to->width = from->width;
    to->height = from->height;
}

/* One row of bytes. An update may not change where an end lies, and a driver takes it for a change if one call says so and another leaves that
 * to the address: all say so, as the runtime's calls do. */
static void fill_copy(const struct step_params *from, enum cudaMemcpyKind kind, CUDA_MEMCPY3D *to)
{
    int from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
    int to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;

    to->srcMemoryType = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    to->dstMemoryType = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    to->srcHost = from->as.copy.from;
    to->srcDevice = (CUdeviceptr)(uintptr_t)from->as.copy.from;
    to->dstHost = from->as.copy.to;
    to->dstDevice = (CUdeviceptr)(uintptr_t)from->as.copy.to;
    to->WidthInBytes = to->srcPitch = to->dstPitch = from->as.copy.bytes;
    to->Height = to->Depth = to->srcHeight = to->dstHeight = 1;
}

static void fill(const struct made *made, unsigned index, struct driver_params *p)
{
    memset(p, 0, sizeof(*p));
    p->context = (CUcontext)made->room->driver.context;
    program_fill_step(made, index, &p->given);
    switch (made->program->step[index].kind) {
    case STEP_KERNEL: fill_kernel(made->room, &p->given.as.kernel, &p->as.kernel); break;
    case STEP_SET: fill_set(&p->given.as.set, &p->as.set); break;
    case STEP_COPY: fill_copy(&p->given, program_copy_kind(made->program, index), &p->as.copy); break;
    case STEP_HOST:
        p->as.host.fn = p->given.as.host.fn;
        p->as.host.userData = p->given.as.host.userData;
        break;
    case STEP_RECORD:
    case STEP_AWAIT: p->as.event = p->given.as.event; break;
    default: break;
    }
}

static const CUgraphNodeType node_types[STEP_KINDS] = { CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY,
                                                        CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                        CU_GRAPH_NODE_TYPE_WAIT_EVENT };

static void fill_any(const struct made *made, unsigned index, struct driver_params *p, CUgraphNodeParams *any)
{
    enum step_kind kind = made->program->step[index].kind;

    fill(made, index, p);
    memset(any, 0, sizeof(*any));
    any->type = node_types[kind];
    switch (kind) { /* the structures begin as those of the calls of one kind */
    case STEP_KERNEL: memcpy(&any->kernel, &p->as.kernel, sizeof(p->as.kernel)); break;
    case STEP_SET:
        memcpy(&any->memset, &p->as.set, sizeof(p->as.set));
        any->memset.ctx = p->context;
        break;
    case STEP_COPY:
        any->memcpy.copyParams = p->as.copy;
        any->memcpy.copyCtx = p->context;
        break;
    case STEP_HOST: memcpy(&any->host, &p->as.host, sizeof(p->as.host)); break;
    case STEP_RECORD: any->eventRecord.event = p->as.event; break;
    case STEP_AWAIT: any->eventWait.event = p->as.event; break;
    default: break;
    }
}

/* The call for this step, if it is this time by the driver's. What the older calls for kernels read is how the structure of the others begins. */
static void *drawn_call(const struct made *made, enum driver_node_call call, unsigned index, int general, struct dice *dice)
{
    static const enum driver_older_call older[DRIVER_NODE_CALLS] = { OLDER_ADDS_KERNEL, OLDER_SETS_KERNEL, OLDER_SETS_EXEC_KERNEL,
                                                                      OLDER_TELLS_KERNEL };
    unsigned kind = general ? ANY_KIND : made->program->step[index].kind;
    void *function = kind == STEP_KERNEL ? program_older_call(made, older[call], dice) : NULL;

    if (function)
        return function;
    function = made->room->driver.node_call[call][kind];
    return function && program_goes_by_driver(made, dice) ? function : NULL;
}

/* ---- the calls ---- */

static CUresult add_of_kind(void *call, enum step_kind kind, CUgraph graph, const CUgraphNode *deps, size_t count, const struct driver_params *p,
                            CUgraphNode *node)
{
    typedef CUresult(CUDAAPI *kernel_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *set_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
    typedef CUresult(CUDAAPI *copy_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext);
    typedef CUresult(CUDAAPI *host_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *event_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent);
    typedef CUresult(CUDAAPI *empty_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t);

    switch (kind) {
    case STEP_KERNEL: return ((kernel_fn)call)(node, graph, deps, count, &p->as.kernel);
    case STEP_SET: return ((set_fn)call)(node, graph, deps, count, &p->as.set, p->context);
    case STEP_COPY: return ((copy_fn)call)(node, graph, deps, count, &p->as.copy, p->context);
    case STEP_HOST: return ((host_fn)call)(node, graph, deps, count, &p->as.host);
    case STEP_RECORD:
    case STEP_AWAIT: return ((event_fn)call)(node, graph, deps, count, p->as.event);
    default: return ((empty_fn)call)(node, graph, deps, count);
    }
}

int program_added_by_driver(const struct made *made, cudaGraph_t graph, unsigned index, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                            size_t count, int general, cudaGraphNode_t *node, struct dice *dice, cudaError_t *error)
{
    typedef CUresult(CUDAAPI *any_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
    typedef CUresult(CUDAAPI *older_fn)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *);
    void *older = general && !data ? program_older_call(made, OLDER_ADDS_ANY, dice) : NULL;
    void *call = older ? older : drawn_call(made, DRIVER_ADDS, index, general, dice);
    struct driver_params params;
    CUgraphNodeParams any;

    if (!call)
        return 0;
    if (older) {
        fill_any(made, index, &params, &any);
        *error = (cudaError_t)((older_fn)older)(node, graph, deps, count, &any);
    } else if (general) {
        fill_any(made, index, &params, &any);
        *error = (cudaError_t)((any_fn)call)(node, graph, deps, (const CUgraphEdgeData *)(const void *)data, count, &any);
    } else {
        fill(made, index, &params);
        *error = (cudaError_t)add_of_kind(call, made->program->step[index].kind, graph, deps, count, &params, node);
    }
    return 1;
}

static CUresult set_of_kind(void *call, enum step_kind kind, CUgraphNode node, const struct driver_params *p)
{
    typedef CUresult(CUDAAPI *kernel_fn)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *set_fn)(CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *copy_fn)(CUgraphNode, const CUDA_MEMCPY3D *);
    typedef CUresult(CUDAAPI *host_fn)(CUgraphNode, const CUDA_HOST_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *event_fn)(CUgraphNode, CUevent);

    switch (kind) {
    case STEP_KERNEL: return ((kernel_fn)call)(node, &p->as.kernel);
    case STEP_SET: return ((set_fn)call)(node, &p->as.set);
    case STEP_COPY: return ((copy_fn)call)(node, &p->as.copy);
    case STEP_HOST: return ((host_fn)call)(node, &p->as.host);
    default: return ((event_fn)call)(node, p->as.event);
    }
}

static CUresult set_exec_of_kind(void *call, enum step_kind kind, CUgraphExec exec, CUgraphNode node, const struct driver_params *p)
{
    typedef CUresult(CUDAAPI *kernel_fn)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *set_fn)(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
    typedef CUresult(CUDAAPI *copy_fn)(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext);
    typedef CUresult(CUDAAPI *host_fn)(CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *);
    typedef CUresult(CUDAAPI *event_fn)(CUgraphExec, CUgraphNode, CUevent);

    switch (kind) {
    case STEP_KERNEL: return ((kernel_fn)call)(exec, node, &p->as.kernel);
    case STEP_SET: return ((set_fn)call)(exec, node, &p->as.set, p->context);
    case STEP_COPY: return ((copy_fn)call)(exec, node, &p->as.copy, p->context);
    case STEP_HOST: return ((host_fn)call)(exec, node, &p->as.host);
    default: return ((event_fn)call)(exec, node, p->as.event);
    }
}

int program_set_by_driver(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned index, int general, struct dice *dice,
                          cudaError_t *error)
{
    typedef CUresult(CUDAAPI *any_fn)(CUgraphNode, CUgraphNodeParams *);
    typedef CUresult(CUDAAPI *any_exec_fn)(CUgraphExec, CUgraphNode, CUgraphNodeParams *);
    enum step_kind kind = made->program->step[index].kind;
    void *call = drawn_call(made, exec ? DRIVER_SETS_EXEC : DRIVER_SETS, index, general, dice);
    struct driver_params params;
    CUgraphNodeParams any;

    if (!call)
        return 0;
    if (general) {
        fill_any(made, index, &params, &any);
        *error = (cudaError_t)(exec ? ((any_exec_fn)call)(exec, node, &any) : ((any_fn)call)(node, &any));
    } else {
        fill(made, index, &params);
        *error = (cudaError_t)(exec ? set_exec_of_kind(call, kind, exec, node, &params) : set_of_kind(call, kind, node, &params));
    }
    return 1;
}

/* ---- what the calls tell ---- */

static int tells_kernel(void *call, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *want)
{
    typedef CUresult(CUDAAPI *kernel_fn)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
    CUDA_KERNEL_NODE_PARAMS told = PDL_ZERO; /* of it the older call fills the beginning */

    return ((kernel_fn)call)(node, &told) == CUDA_SUCCESS && told.gridDimX == want->gridDimX && told.gridDimY == want->gridDimY &&
           told.gridDimZ == want->gridDimZ && told.blockDimX == want->blockDimX && told.blockDimY == want->blockDimY &&
           told.blockDimZ == want->blockDimZ && told.sharedMemBytes == want->sharedMemBytes;
}

static int tells_host(void *call, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *want)
{
    typedef CUresult(CUDAAPI *host_fn)(CUgraphNode, CUDA_HOST_NODE_PARAMS *);
    CUDA_HOST_NODE_PARAMS told = PDL_ZERO;

    return ((host_fn)call)(node, &told) == CUDA_SUCCESS && told.fn == want->fn && told.userData == want->userData;
}

static int tells_event(void *call, CUgraphNode node, CUevent want)
{
    typedef CUresult(CUDAAPI *event_fn)(CUgraphNode, CUevent *);
    CUevent told = NULL;

    return ((event_fn)call)(node, &told) == CUDA_SUCCESS && told == want;
}

int program_driver_tells_node(const struct made *made, cudaGraphNode_t node, unsigned index)
{
    typedef CUresult(CUDAAPI *type_fn)(CUgraphNode, CUgraphNodeType *);
    enum step_kind kind = made->program->step[index].kind;
    void *const *calls = made->room->driver.node_call[DRIVER_TELLS], *older = made->room->driver.older_call[OLDER_TELLS_KERNEL];
    struct driver_params want;
    CUgraphNodeType type;

    fill(made, index, &want);
    if (calls[ANY_KIND] && (((type_fn)calls[ANY_KIND])(node, &type) != CUDA_SUCCESS || type != node_types[kind]))
        return 0;
    if (kind == STEP_KERNEL && older && !tells_kernel(older, node, &want.as.kernel))
        return 0;
    if (!calls[kind])
        return 1;
    switch (kind) {
    case STEP_KERNEL: return tells_kernel(calls[kind], node, &want.as.kernel);
    case STEP_HOST: return tells_host(calls[kind], node, &want.as.host);
    default: return tells_event(calls[kind], node, want.as.event);
    }
}
