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

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static int how_launched(const void *stream, int per_thread)
{
    result (*is_capturing)(const void *, int *) =
        plan_is_calibrating() ? driver_symbol(per_thread ? "cuStreamIsCapturing_ptsz" : "cuStreamIsCapturing") : NULL;
    int status = 0;
    return is_capturing && is_capturing(stream, &status) == 0 && status == 1 ? CAPTURED : EAGER;
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
    return kernel_launched(function, launch->stream, how_launched(launch->stream, per_thread), attribute, event, cooperative);
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

/* ---- copies to the host, and the waits that end them ---------------------------------------------------------------- */

typedef result (*copy_down)(void *, devptr, size_t);
typedef result (*copy_down_async)(void *, devptr, size_t, void *);
typedef result (*copy_any)(devptr, devptr, size_t);
typedef result (*copy_any_async)(devptr, devptr, size_t, void *);
typedef result (*wait_for)(void *);

/* For ordinary host memory the driver returns an error instead of a type. */
static int is_hosts(devptr address)
{
    enum { MEMORY_TYPE = 2, HOST = 1 };
    result (*ask)(void *, int, devptr) = driver_symbol("cuPointerGetAttribute");
    unsigned type = HOST;
    return !ask || ask(&type, MEMORY_TYPE, address) != 0 || type == HOST;
}

static int is_captured(const void *stream)
{
    result (*ask)(const void *, int *) = driver_symbol("cuStreamIsCapturing");
    int status = 0;
    return ask && ask(stream, &status) == 0 && status != 0;
}

#define COPIES(suffix, stream_suffix)                                                                              \
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
            copied_to_host(to, bytes, stream, 0);                                                                  \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    VISIBLE result cuMemcpyAsync##stream_suffix(devptr to, devptr from, size_t bytes, void *stream)                \
    {                                                                                                              \
        REAL(cuMemcpyAsync##stream_suffix, copy_any_async);                                                        \
        result code = real(to, from, bytes, stream);                                                               \
        if (code == 0 && digests_are_wanted() && is_hosts(to) && !is_captured(stream)) {                           \
            copied_to_host((const void *)(uintptr_t)to, bytes, stream, 0);                                         \
        }                                                                                                          \
        return code;                                                                                               \
    }                                                                                                              \
    VISIBLE result cuStreamSynchronize##stream_suffix(void *stream)                                                \
    {                                                                                                              \
        REAL(cuStreamSynchronize##stream_suffix, wait_for);                                                        \
        result code = real(stream);                                                                                \
        if (code == 0 && digests_are_wanted()) {                                                                   \
            host_waited(WAITED_FOR_STREAM, stream);                                                                \
        }                                                                                                          \
        return code;                                                                                               \
    }
COPIES(, )
COPIES(_ptds, _ptsz)

VISIBLE result cuEventSynchronize(void *event)
{
    REAL(cuEventSynchronize, wait_for);
    result code = real(event);
    if (code == 0 && digests_are_wanted()) {
        host_waited(WAITED_FOR_EVENT, NULL);
    }
    return code;
}

VISIBLE result cuCtxSynchronize(void)
{
    result (*real)(void) = (result (*)(void))real_symbol(hook_named("cuCtxSynchronize"));
    result code = real ? real() : NO_REAL_FUNCTION;
    if (code == 0 && digests_are_wanted()) {
        host_waited(WAITED_FOR_ALL, NULL);
    }
    return code;
}

VISIBLE result cuCtxSynchronize_v2(void *context)
{
    REAL(cuCtxSynchronize_v2, wait_for);
    result code = real(context);
    if (code == 0 && digests_are_wanted()) {
        host_waited(WAITED_FOR_EVENT, NULL); /* it may be another context than the copies', so each stream is asked */
    }
    return code;
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

static struct hook stress_hooks[] = {
    ONE_HOOK(cuModuleGetFunction),
    ONE_HOOK(cuLibraryGetKernel),
    ONE_HOOK(cuKernelGetFunction),
    HOOK(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, 12000, NEVER, 0),
    HOOK(cuGraphAddNode, cuGraphAddNode, 0, 12030, 0),
    HOOK(cuGraphAddNode, cuGraphAddNode_v2, 12030, NEVER, 0),
    BOTH(cuLaunchKernel),
    BOTH(cuLaunchKernelEx),
    BOTH(cuLaunchCooperativeKernel),
    BOTH(cuGraphLaunch),
    BOTH(cuStreamSynchronize),
    HOOK(cuCtxSynchronize, cuCtxSynchronize, 0, 13000, 0),
    HOOK(cuCtxSynchronize, cuCtxSynchronize_v2, 13000, NEVER, 0),
    ONE_HOOK(cuEventSynchronize),
    BOTH_SYNC(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020),
    BOTH_SINCE(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020),
    BOTH_SYNC(cuMemcpy, cuMemcpy, 0),
    BOTH(cuMemcpyAsync),
};
static const size_t stress_hook_count = sizeof stress_hooks / sizeof stress_hooks[0];
const struct hook_table hook_tables[] = {{load_hooks, &load_hook_count}, {stress_hooks, &stress_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
