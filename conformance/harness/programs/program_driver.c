/* program_driver.c - the driver's own calls, by which a program is launched and gets its edges as well: cuLaunchKernel,
 * cuLaunchCooperativeKernel, cuLaunchKernelEx, cuGraphAddDependencies and cuGraphRemoveDependencies. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#include "../driver_function.h"
#include "../edges.h"
#include "try.h"

typedef CUresult(CUDAAPI *launch_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
typedef CUresult(CUDAAPI *launch_cooperative_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **);
typedef CUresult(CUDAAPI *launch_ex_fn)(const CUlaunchConfig *, CUfunction, void **, void **);

#define EDGES_SINCE (CUDART_VERSION >= 13000 ? 13000u : 12030u) /* with edge data */

/* What an older driver lacks stays NULL. */
static void find(const char *name, unsigned version, void **function)
{
    if (driver_function(name, version, function) != cudaSuccess) {
        *function = NULL;
        (void)cudaGetLastError();
    }
}

cudaError_t program_open_driver(struct program_room *room)
{
    struct program_driver *driver = &room->driver;
    unsigned i;

    for (i = 0; i < 2; i++)
        TRY(cudaGetFuncBySymbol(&driver->kernel[i], room->kernel[i]));
    find("cuLaunchKernel", 4000, &driver->launch);
    find("cuLaunchCooperativeKernel", 9000, &driver->launch_cooperative);
    find("cuLaunchKernelEx", 11060, &driver->launch_ex);
#if CUDART_VERSION >= 12050 /* before, nothing says which of two functions of a name is meant */
    find("cuGraphAddDependencies", EDGES_SINCE, &driver->add_edges);
    find("cuGraphRemoveDependencies", EDGES_SINCE, &driver->remove_edges);
#endif
    return cudaSuccess;
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
    CUlaunchConfig config;

    _Static_assert(sizeof(attrs[0]) == sizeof(c->attrs[0]), "both libraries have the same attributes");
    memset(&config, 0, sizeof(config));
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

cudaError_t program_launch_by_driver(const struct made *made, const void *kernel, const cudaLaunchConfig_t *config, void **values, struct dice *dice)
{
    const struct program_driver *driver = &made->room->driver;
    CUfunction function = driver->kernel[kernel == made->room->kernel[0] ? 0 : 1];

    if (config->numAttrs == 0 && driver->launch && dice_below(dice, 3))
        return launch_plainly(driver, function, config, values);
    if (config->numAttrs == 1 && config->attrs[0].id == cudaLaunchAttributeCooperative && driver->launch_cooperative && dice_below(dice, 2))
        return launch_cooperatively(driver, function, config, values);
    return driver->launch_ex ? launch_with_attributes(driver, function, config, values) : cudaLaunchKernelExC(config, kernel, values);
}

/* ---- edges ---- */

#if CUDART_VERSION >= 12050
typedef CUresult(CUDAAPI *edges_fn)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);

static cudaError_t change_by_driver(void *function, struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    const cudaGraphEdgeData *data, size_t count)
{
    _Static_assert(sizeof(CUgraphEdgeData) == sizeof(*data), "both libraries have the same edge data");
    return (cudaError_t)((edges_fn)function)(made->inner, from, to, (const CUgraphEdgeData *)(const void *)data, count);
}
#endif

cudaError_t program_add_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count)
{
#if CUDART_VERSION >= 12050
    if (made->room->driver.add_edges && dice_below(&made->dice, 4) == 0)
        return change_by_driver(made->room->driver.add_edges, made, from, to, data, count);
#endif
    return edges_add(made->inner, from, to, data, count);
}

cudaError_t program_remove_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                 size_t count)
{
#if CUDART_VERSION >= 12050
    if (made->room->driver.remove_edges && dice_below(&made->dice, 4) == 0)
        return change_by_driver(made->room->driver.remove_edges, made, from, to, data, count);
#endif
    return edges_remove(made->inner, from, to, data, count);
}
