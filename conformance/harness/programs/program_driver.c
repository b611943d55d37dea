/* program_driver.c - the driver's own calls, by which a program is launched, ordered and given its edges as well. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#include "../driver_function.h"
#include "../edges.h"
#include "try.h"

typedef CUresult(CUDAAPI *launch_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
typedef CUresult(CUDAAPI *launch_cooperative_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **);
typedef CUresult(CUDAAPI *launch_ex_fn)(const CUlaunchConfig *, CUfunction, void **, void **);

void *program_driver_call(const struct driver_call *call)
{
    int one_of_two = call->since == WITH_EDGE_DATA;

    return CUDART_VERSION < 12050 && one_of_two ? NULL : driver_function_if_any(call->name, call->since);
}

static void find(const char *name, unsigned version, void **function)
{
    struct driver_call call = { name, version };

    *function = program_driver_call(&call);
}

cudaError_t program_open_driver(struct program_room *room)
{
    struct program_driver *driver = &room->driver;
    unsigned i;

    for (i = 0; i < PROGRAM_KERNELS; i++) {
        TRY(cudaGetFuncBySymbol(&driver->kernel[i], room->kernel[i]));
        TRY(cudaGetKernel(&driver->handle[i], room->kernel[i]));
    }
    find("cuLaunchKernel", 4000, &driver->launch);
    find("cuLaunchCooperativeKernel", 9000, &driver->launch_cooperative);
    find("cuLaunchKernelEx", 11060, &driver->launch_ex);
    find("cuEventRecord", 2000, &driver->record);
    find("cuStreamWaitEvent", 3020, &driver->await);
    find("cuGraphLaunch", 10000, &driver->launch_graph);
    find("cuGraphAddDependencies", WITH_EDGE_DATA, &driver->add_edges);
    find("cuGraphRemoveDependencies", WITH_EDGE_DATA, &driver->remove_edges);
    program_open_driver_moves(room);
    program_open_driver_graphs(room);
    program_open_driver_nodes(room);
    program_open_driver_older(room);
    return cudaSuccess;
}

/* A thread that has only begun has no context of its own that the driver could work in. */
int program_goes_by_driver(const struct made *made, struct dice *dice)
{
    return dice && !(made->program->streams && made->way == WAY_OTHER_THREAD) && dice_below(dice, 4) == 0;
}

/* ---- launches ---- */

static cudaError_t launch_plainly(const struct program_driver *driver, CUfunction kernel, const cudaLaunchConfig_t *c, void **values)
{
    return (cudaError_t)((launch_fn)driver->launch)(kernel, c->gridDim.x, c->gridDim.y, c->gridDim.z, c->blockDim.x, c->blockDim.y, c->blockDim.z,
                                                    (unsigned)c->dynamicSmemBytes, c->stream, values, NULL);
}

static cudaError_t launch_cooperatively(const struct program_driver *driver, CUfunction kernel, const cudaLaunchConfig_t *c, void **values)
{
    return (cudaError_t)((launch_cooperative_fn)driver->launch_cooperative)(kernel, c->gridDim.x, c->gridDim.y, c->gridDim.z, c->blockDim.x,
                                                                            c->blockDim.y, c->blockDim.z, (unsigned)c->dynamicSmemBytes,
                                                                            c->stream, values);
}

static cudaError_t launch_with_attributes(const struct program_driver *driver, CUfunction kernel, const cudaLaunchConfig_t *c, void **values)
{
    CUlaunchAttribute attrs[LAUNCH_ATTRIBUTES];
    CUlaunchConfig config = PDL_ZERO;

    _Static_assert(sizeof(attrs[0]) == sizeof(c->attrs[0]), "both libraries have the same attributes");
    config.gridDimX = c->gridDim.x, config.gridDimY = c->gridDim.y, config.gridDimZ = c->gridDim.z;
    config.blockDimX = c->blockDim.x, config.blockDimY = c->blockDim.y, config.blockDimZ = c->blockDim.z;
    config.sharedMemBytes = (unsigned)c->dynamicSmemBytes;
    config.hStream = c->stream;
    if (c->numAttrs)
        memcpy(attrs, c->attrs, c->numAttrs * sizeof(attrs[0]));
    config.attrs = c->numAttrs ? attrs : NULL;
    config.numAttrs = c->numAttrs;
    return (cudaError_t)((launch_ex_fn)driver->launch_ex)(&config, kernel, values, NULL);
}

static unsigned index_of(const struct program_room *room, const void *kernel)
{
    unsigned which = 0;

    while (which + 1 < PROGRAM_KERNELS && room->kernel[which] != kernel)
        which++;
    return which;
}

cudaFunction_t program_driver_kernel(const struct program_room *room, const void *kernel) { return room->driver.kernel[index_of(room, kernel)]; }

/* Launches take a kernel's handle as well, "by casting to CUfunction". */
static CUfunction function_or_handle(const struct program_room *room, const void *kernel, struct dice *dice)
{
    return dice_below(dice, 2) ? (CUfunction)room->driver.handle[index_of(room, kernel)] : program_driver_kernel(room, kernel);
}

cudaError_t program_launch_by_driver(const struct made *made, const void *kernel, const cudaLaunchConfig_t *config, void **values, struct dice *dice)
{
    const struct program_driver *driver = &made->room->driver;
    CUfunction function = function_or_handle(made->room, kernel, dice);

    if (config->numAttrs == 0 && driver->launch && dice_below(dice, 3))
        return launch_plainly(driver, function, config, values);
    if (config->numAttrs == 1 && config->attrs[0].id == cudaLaunchAttributeCooperative && driver->launch_cooperative && dice_below(dice, 2))
        return launch_cooperatively(driver, function, config, values);
    return driver->launch_ex ? launch_with_attributes(driver, function, config, values) : cudaLaunchKernelExC(config, kernel, values);
}

cudaError_t program_launch_exec(const struct made *made, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice)
{
    typedef CUresult(CUDAAPI *launch_graph_fn)(CUgraphExec, CUstream);
    void *function = made->room->driver.launch_graph;

    return function && program_goes_by_driver(made, dice) ? (cudaError_t)((launch_graph_fn)function)(exec, stream) : cudaGraphLaunch(exec, stream);
}

/* ---- events ---- */

/* Without flags all these calls mean the same. */
cudaError_t program_record(const struct made *made, cudaEvent_t event, cudaStream_t stream, struct dice *dice)
{
    typedef CUresult(CUDAAPI *record_fn)(CUevent, CUstream);
    void *function = made->room->driver.record;

    if (function && program_goes_by_driver(made, dice))
        return (cudaError_t)((record_fn)function)(event, stream);
    return dice_below(dice, 2) ? cudaEventRecord(event, stream) : cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t program_await(const struct made *made, cudaStream_t stream, cudaEvent_t event, struct dice *dice)
{
    typedef CUresult(CUDAAPI *await_fn)(CUstream, CUevent, unsigned);
    void *function = made->room->driver.await;

    if (function && program_goes_by_driver(made, dice))
        return (cudaError_t)((await_fn)function)(stream, event, 0);
    return cudaStreamWaitEvent(stream, event, 0);
}

/* ---- edges ---- */

typedef CUresult(CUDAAPI *edges_fn)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);

static cudaError_t change_by_driver(void *function, struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    const cudaGraphEdgeData *data, size_t count)
{
    _Static_assert(sizeof(CUgraphEdgeData) == sizeof(*data), "both libraries have the same edge data");
    return (cudaError_t)((edges_fn)function)(made->inner, from, to, (const CUgraphEdgeData *)(const void *)data, count);
}

cudaError_t program_add_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count)
{
    cudaError_t error;

    if (program_changed_by_older(made, OLDER_ADDS_EDGES, from, to, data, count, &error))
        return error;
    if (made->room->driver.add_edges && dice_below(&made->dice, 4) == 0)
        return change_by_driver(made->room->driver.add_edges, made, from, to, data, count);
    return edges_add(made->inner, from, to, data, count);
}

cudaError_t program_remove_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                 size_t count)
{
    cudaError_t error;

    if (program_changed_by_older(made, OLDER_REMOVES_EDGES, from, to, data, count, &error))
        return error;
    if (made->room->driver.remove_edges && dice_below(&made->dice, 4) == 0)
        return change_by_driver(made->room->driver.remove_edges, made, from, to, data, count);
    return edges_remove(made->inner, from, to, data, count);
}
