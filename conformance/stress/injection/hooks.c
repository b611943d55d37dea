/* hooks.c - the functions that the program calls instead of the driver's */
#define _GNU_SOURCE
#include "injection.h"
#include "launches.h"

/* ---- the library --------------------------------------------------------------------------------------------------- */

void loading_begins(void)
{
}

void image_refused(result code)
{
    record("{\"record\":\"trouble\",\"what\":\"the driver refused a rewritten image with error %d; it was given the original\"}", code);
}

/* ---- handles ------------------------------------------------------------------------------------------------------- */

typedef result (*get_by_name)(void **, void *, const char *);
typedef result (*get_function)(void **, void *);

VISIBLE result cuModuleGetFunction(void **function, void *module, const char *name)
{
    REAL(cuModuleGetFunction, get_by_name);
    result code = real(function, module, name);
    if (code == 0 && name) {
        kernel_found(*function, name, IN_MODULE);
    }
    return code;
}

VISIBLE result cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
    REAL(cuLibraryGetKernel, get_by_name);
    result code = real(kernel, library, name);
    if (code == 0 && name) {
        kernel_found(*kernel, name, IN_LIBRARY);
    }
    return code;
}

VISIBLE result cuKernelGetFunction(void **function, void *kernel)
{
    REAL(cuKernelGetFunction, get_function);
    result code = real(function, kernel);
    if (code == 0) {
        kernel_alias(*function, kernel);
    }
    return code;
}

/* After it, because until then the handles are the old ones. */
#define UNLOAD(name)                                                      \
    VISIBLE result name(void *code)                                       \
    {                                                                     \
        REAL(name, result(*)(void *));                                    \
        result answer = real(code);                                       \
        code_unloaded();                                                  \
        return answer;                                                    \
    }
UNLOAD(cuModuleUnload)
UNLOAD(cuLibraryUnload)

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static int how_launched(const void *stream, int per_thread)
{
    result (*is_capturing)(const void *, int *) =
        plan_is_calibrating() ? driver_symbol(per_thread ? "cuStreamIsCapturing_ptsz" : "cuStreamIsCapturing") : NULL;
    int status = 0;
    return is_capturing && is_capturing(stream, &status) == 0 && status == 1 ? CAPTURED : EAGER;
}

static const void *named_stream(const void *stream, int per_thread)
{
    return stream ? stream : per_thread ? THREADS_STREAM : LEGACY_STREAM;
}

static int note(const struct launch *launch, const void *function, int per_thread, int cooperative)
{
    int attribute = 0, event = 0;
    if (!plan_is_on()) {
        return 0;
    }
    for (unsigned i = 0; launch->attributes && i < launch->attribute_count; i++) {
        attribute |= launch->attributes[i].id == SERIALIZATION && launch->attributes[i].value.number;
        event |= launch->attributes[i].id == EVENT;
        cooperative |= launch->attributes[i].id == COOPERATIVE && launch->attributes[i].value.number;
    }
    return kernel_launched(function, named_stream(launch->stream, per_thread), how_launched(launch->stream, per_thread), attribute, event, cooperative);
}

typedef result (*launch_graph)(void *, void *);

#define LAUNCHES(suffix, per_thread)                                                                                      \
    VISIBLE result cuLaunchKernel##suffix PLAIN_LAUNCH                                                                    \
    {                                                                                                                     \
        REAL(cuLaunchKernel##suffix, result(*) PLAIN_LAUNCH)                                                              \
        const struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                               \
        note(&launch, f, per_thread, 0);                                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);                                         \
    }                                                                                                                     \
    VISIBLE result cuLaunchCooperativeKernel##suffix COOPERATIVE_LAUNCH                                                   \
    {                                                                                                                     \
        REAL(cuLaunchCooperativeKernel##suffix, result(*) COOPERATIVE_LAUNCH)                                             \
        const struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                               \
        note(&launch, f, per_thread, 1);                                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments);                                                \
    }                                                                                                                     \
    VISIBLE result cuLaunchKernelEx##suffix EXTENSIBLE_LAUNCH                                                             \
    {                                                                                                                     \
        REAL(cuLaunchKernelEx##suffix, result(*) EXTENSIBLE_LAUNCH)                                                       \
        struct changed_launch changed; /* a kernel is protected by losing the attribute where no wait can be inserted */  \
        if (launch && note(launch, f, per_thread, 0) && launch_without_overlap(launch, &changed)) {                       \
            return real(&changed.launch, f, arguments, extra);                                                            \
        }                                                                                                                 \
        return real(launch, f, arguments, extra);                                                                         \
    }                                                                                                                     \
    VISIBLE result cuGraphLaunch##suffix(void *graph, void *stream)                                                       \
    {                                                                                                                     \
        REAL(cuGraphLaunch##suffix, launch_graph);                                                                        \
        graph_launched();                                                                                                 \
        return real(graph, stream);                                                                                       \
    }
LAUNCHES(, 0)
LAUNCHES(_ptsz, 1)

/* Kernel nodes that a program adds by hand. */
static void note_node(const struct node_parameters *parameters)
{
    const void *function = parameters->function ? parameters->function : parameters->kernel;
    if (plan_is_on() && function) {
        kernel_launched(function, NULL, BUILT, 0, 0, 0);
    }
}

typedef result (*add_kernel)(void **, void *, const void *, size_t, const struct node_parameters *);
typedef result (*add_node)(void **, void *, const void *, size_t, const int *);
typedef result (*add_node_2)(void **, void *, const void *, const void *, size_t, const int *);

VISIBLE result cuGraphAddKernelNode_v2(void **node, void *graph, const void *before, size_t n, const struct node_parameters *parameters)
{
    REAL(cuGraphAddKernelNode_v2, add_kernel);
    if (parameters) {
        note_node(parameters);
    }
    return real(node, graph, before, n, parameters);
}

VISIBLE result cuGraphAddNode(void **node, void *graph, const void *before, size_t n, const int *parameters)
{
    REAL(cuGraphAddNode, add_node);
    if (parameters && parameters[0] == 0) {
        note_node((const struct node_parameters *)(const void *)(parameters + 4));
    }
    return real(node, graph, before, n, parameters);
}

VISIBLE result cuGraphAddNode_v2(void **node, void *graph, const void *before, const void *edges, size_t n,
                                 const int *parameters)
{
    REAL(cuGraphAddNode_v2, add_node_2);
    if (parameters && parameters[0] == 0) {
        note_node((const struct node_parameters *)(const void *)(parameters + 4));
    }
    return real(node, graph, before, edges, n, parameters);
}

/* A node may get another kernel later, in a graph or in one that is ready to run. */
#define NODE_CHANGES(of_kernel, of_any, parameters_of, before)                                       \
    VISIBLE result of_kernel(parameters_of, const struct node_parameters *parameters)                \
    {                                                                                                \
        REAL(of_kernel, result(*)(parameters_of, const struct node_parameters *));                   \
        if (parameters) {                                                                            \
            note_node(parameters);                                                                   \
        }                                                                                            \
        return real(before, parameters);                                                             \
    }                                                                                                \
    VISIBLE result of_any(parameters_of, const int *parameters)                                      \
    {                                                                                                \
        REAL(of_any, result(*)(parameters_of, const int *));                                         \
        if (parameters && parameters[0] == 0) {                                                      \
            note_node((const struct node_parameters *)(const void *)(parameters + 4));               \
        }                                                                                            \
        return real(before, parameters);                                                             \
    }
#define IN_GRAPH void *node
#define IN_EXEC void *exec, void *node
#define OF_GRAPH node
#define OF_EXEC exec, node
NODE_CHANGES(cuGraphKernelNodeSetParams_v2, cuGraphNodeSetParams, IN_GRAPH, OF_GRAPH)
NODE_CHANGES(cuGraphExecKernelNodeSetParams_v2, cuGraphExecNodeSetParams, IN_EXEC, OF_EXEC)

/* ---- copies to the host, and the waits that end them ---------------------------------------------------------------- */

typedef result (*copy_down)(void *, devptr, size_t);
typedef result (*copy_down_async)(void *, devptr, size_t, void *);
typedef result (*copy_any)(devptr, devptr, size_t);
typedef result (*copy_any_async)(devptr, devptr, size_t, void *);
typedef result (*wait_for)(void *);

/* CU_POINTER_ATTRIBUTE_... of a pointer; `absent` for memory that the driver does not know. */
static uint64_t about(const void *address, int what, uint64_t absent)
{
    result (*ask)(void *, int, devptr) = driver_symbol("cuPointerGetAttribute");
    uint64_t found = 0;
    return ask && ask(&found, what, (devptr)(uintptr_t)address) == 0 ? found : absent;
}
enum { MEMORY_TYPE = 2, RANGE_SIZE = 12, UNKNOWN = 0, HOST = 1 };

static int is_hosts(devptr address)
{
    return (unsigned)about((const void *)(uintptr_t)address, MEMORY_TYPE, HOST) == HOST;
}

/* A copy to memory that is not page-locked has ended when its function returns; the program may then free that memory at once. */
static int is_pageable(const void *address)
{
    return (unsigned)about(address, MEMORY_TYPE, UNKNOWN) == UNKNOWN;
}

static int is_captured(const void *stream)
{
    result (*ask)(const void *, int *) = driver_symbol("cuStreamIsCapturing");
    int status = 0;
    return ask && ask(stream, &status) == 0 && status != 0;
}

#define COPIES(suffix, stream_suffix, per_thread)                                                                  \
    VISIBLE result cuMemcpyDtoH_v2##suffix(void *to, devptr from, size_t bytes)                                    \
    {                                                                                                              \
        REAL(cuMemcpyDtoH_v2##suffix, copy_down);                                                                  \
        result code = real(to, from, bytes);                                                                       \
        if (code == 0 && digests_are_wanted()) {                                                                   \
            copied_to_host(to, bytes, NULL, 1);                                                                    \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    VISIBLE result cuMemcpy##suffix(devptr to, devptr from, size_t bytes)                                          \
    {                                                                                                              \
        REAL(cuMemcpy##suffix, copy_any);                                                                          \
        result code = real(to, from, bytes);                                                                       \
        if (code == 0 && digests_are_wanted() && is_hosts(to)) {                                                   \
            copied_to_host((const void *)(uintptr_t)to, bytes, NULL, 1);                                           \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    VISIBLE result cuMemcpyDtoHAsync_v2##stream_suffix(void *to, devptr from, size_t bytes, void *stream)          \
    {                                                                                                              \
        REAL(cuMemcpyDtoHAsync_v2##stream_suffix, copy_down_async);                                                \
        result code = real(to, from, bytes, stream);                                                               \
        if (code == 0 && digests_are_wanted() && !is_captured(stream)) {                                           \
            copied_to_host(to, bytes, named_stream(stream, per_thread), is_pageable(to));                          \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    VISIBLE result cuMemcpyAsync##stream_suffix(devptr to, devptr from, size_t bytes, void *stream)                \
    {                                                                                                              \
        REAL(cuMemcpyAsync##stream_suffix, copy_any_async);                                                        \
        result code = real(to, from, bytes, stream);                                                               \
        if (code == 0 && digests_are_wanted() && is_hosts(to) && !is_captured(stream)) {                           \
            const void *data = (const void *)(uintptr_t)to;                                                        \
            copied_to_host(data, bytes, named_stream(stream, per_thread), is_pageable(data));                      \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    WAIT(cuStreamSynchronize##stream_suffix, WAITED_FOR_STREAM, named_stream(waited_for, per_thread))              \
    WAIT(cuStreamQuery##stream_suffix, WAITED_FOR_STREAM, named_stream(waited_for, per_thread))

/* A function by which the program learns that something has ended; `waited_for` is its only argument. */
#define WAIT(name, what, handle)                                                                                   \
    VISIBLE result name(void *waited_for)                                                                          \
    {                                                                                                              \
        REAL(name, wait_for);                                                                                      \
        result code = real(waited_for);                                                                            \
        if (code == 0 && digests_are_wanted()) {                                                                   \
            host_waited(what, handle);                                                                             \
        }                                                                                                          \
        return code;                                                                                               \
    }
COPIES(, , 0)
COPIES(_ptds, _ptsz, 1)
WAIT(cuEventSynchronize, WAITED_FOR_EVENT, NULL)
WAIT(cuEventQuery, WAITED_FOR_EVENT, NULL)
WAIT(cuCtxSynchronize_v2, WAITED_FOR_CONTEXT, waited_for)

VISIBLE result cuCtxSynchronize(void)
{
    result (*real)(void) = (result (*)(void))real_symbol(hook_named("cuCtxSynchronize"));
    result code = real ? real() : NO_REAL_FUNCTION;
    if (code == 0 && digests_are_wanted()) {
        host_waited(WAITED_FOR_CONTEXT, NULL);
    }
    return code;
}

/* ---- what ends before its copies are read ---------------------------------------------------------------------------- */

#define GOES(name, type, parameter, before)                                                                        \
    VISIBLE result name(type parameter);                                                                           \
    VISIBLE result name(type parameter)                                                                            \
    {                                                                                                              \
        REAL(name, result(*)(type));                                                                               \
        if (digests_are_wanted()) {                                                                                \
            before;                                                                                                \
        }                                                                                                          \
        return real(parameter);                                                                                    \
    }
GOES(cuMemFreeHost, void *, memory, memory_goes(memory, memory ? about(memory, RANGE_SIZE, SIZE_MAX) : 0))
GOES(cuMemHostUnregister, void *, memory, memory_goes(memory, about(memory, RANGE_SIZE, SIZE_MAX)))
GOES(cuStreamDestroy_v2, void *, stream, stream_goes(stream))
GOES(cuCtxDestroy_v2, void *, context, memory_goes(NULL, SIZE_MAX))
GOES(cuDevicePrimaryCtxReset_v2, int, device, memory_goes(NULL, SIZE_MAX))
GOES(cuDevicePrimaryCtxRelease_v2, int, device, memory_goes(NULL, SIZE_MAX))

/* ---- the list ------------------------------------------------------------------------------------------------------ */

static struct hook stress_hooks[] = {
    ONE_HOOK(cuModuleGetFunction),
    ONE_HOOK(cuLibraryGetKernel),
    ONE_HOOK(cuKernelGetFunction),
    HOOK(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, 12000, NEVER, 0),
    HOOK(cuGraphAddNode, cuGraphAddNode, 0, 12030, 0),
    HOOK(cuGraphAddNode, cuGraphAddNode_v2, 12030, NEVER, 0),
    HOOK(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, 12000, NEVER, 0),
    HOOK(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, 12000, NEVER, 0),
    ONE_HOOK(cuGraphNodeSetParams),
    ONE_HOOK(cuGraphExecNodeSetParams),
    ONE_HOOK(cuModuleUnload),
    ONE_HOOK(cuLibraryUnload),
    BOTH(cuLaunchKernel),
    BOTH(cuLaunchKernelEx),
    BOTH(cuLaunchCooperativeKernel),
    BOTH(cuGraphLaunch),
    BOTH(cuStreamSynchronize),
    BOTH(cuStreamQuery),
    HOOK(cuCtxSynchronize, cuCtxSynchronize, 0, 13000, 0),
    HOOK(cuCtxSynchronize, cuCtxSynchronize_v2, 13000, NEVER, 0),
    ONE_HOOK(cuEventSynchronize),
    ONE_HOOK(cuEventQuery),
    ONE_HOOK(cuMemFreeHost),
    ONE_HOOK(cuMemHostUnregister),
    HOOK(cuStreamDestroy, cuStreamDestroy_v2, 4000, NEVER, 0),
    HOOK(cuCtxDestroy, cuCtxDestroy_v2, 4000, NEVER, 0),
    HOOK(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, 11000, NEVER, 0),
    HOOK(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 11000, NEVER, 0),
    BOTH_SYNC(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020),
    BOTH_SINCE(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020),
    BOTH_SYNC(cuMemcpy, cuMemcpy, 0),
    BOTH(cuMemcpyAsync),
};
static const size_t stress_hook_count = sizeof stress_hooks / sizeof stress_hooks[0];
const struct hook_table hook_tables[] = {{load_hooks, &load_hook_count}, {stress_hooks, &stress_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
