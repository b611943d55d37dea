/* hooks.c - the functions that the program calls instead of the driver's
 *
 * A program reaches the driver in three ways: linked against libcuda, through dlsym, or through cuGetProcAddress, which
 * is how the CUDA runtime does it. All three end here.
 */
#define _GNU_SOURCE
#include "injection.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define REAL(name, type) type real = (type)real_symbol(hook_named(#name)); if (!real) return 999

typedef void *(*dlsym_type)(void *, const char *);

static dlsym_type real_dlsym(void)
{
    static dlsym_type found;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++) {
        found = (dlsym_type)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    return found;
}

static void *driver(void)
{
    static void *handle;
    if (!handle) {
        handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    }
    return handle;
}

void *driver_symbol(const char *name)
{
    void *handle = driver();
    return handle ? real_dlsym()(handle, name) : NULL;
}

struct hook *hook_named(const char *exported)
{
    for (size_t i = 0; i < hook_count; i++) {
        if (strcmp(hooks[i].exported, exported) == 0) {
            return &hooks[i];
        }
    }
    return NULL;
}

void *real_symbol(struct hook *hook)
{
    if (!hook->real && strncmp(hook->exported, "cu", 2) == 0) {
        hook->real = driver_symbol(hook->exported);
    }
    if (!hook->real) {
        hook->real = real_dlsym()(RTLD_NEXT, hook->exported);
    }
    return hook->real;
}

/* ---- images -------------------------------------------------------------------------------------------------------- */

typedef result (*load_ex)(void **, const void *, unsigned, void *, void **);
typedef result (*load)(void **, const void *);

/* Everywhere below: if the driver refuses the changed image, it is given the program's own. */
static void refused(result code)
{
    record("{\"record\":\"trouble\",\"what\":\"the driver refused a rewritten image with error %d; it was given the original\"}", code);
}

VISIBLE result cuModuleLoadDataEx(void **module, const void *image, unsigned n, void *options, void **values)
{
    REAL(cuModuleLoadDataEx, load_ex);
    const void *changed = image_instead(image, 0, NULL);
    result code = changed ? real(module, changed, n, options, values) : 0;
    if (changed && code == 0) {
        return 0;
    }
    if (changed) {
        refused(code);
    }
    return real(module, image, n, options, values);
}

#define LOAD_IMAGE(name)                                         \
    VISIBLE result name(void **module, const void *image)        \
    {                                                            \
        REAL(name, load);                                        \
        const void *changed = image_instead(image, 0, NULL);     \
        result code = changed ? real(module, changed) : 0;       \
        if (changed && code == 0) {                              \
            return 0;                                            \
        }                                                        \
        if (changed) {                                           \
            refused(code);                                       \
        }                                                        \
        return real(module, image);                              \
    }
LOAD_IMAGE(cuModuleLoadData)

/* What is made of a fat binary may be plain machine code, which only cuModuleLoadData takes. */
VISIBLE result cuModuleLoadFatBinary(void **module, const void *image)
{
    REAL(cuModuleLoadFatBinary, load);
    load from_data = (load)real_symbol(hook_named("cuModuleLoadData"));
    const void *changed = from_data ? image_instead(image, 0, NULL) : NULL;
    result code = changed ? from_data(module, changed) : 0;
    if (changed && code == 0) {
        return 0;
    }
    if (changed) {
        refused(code);
    }
    return real(module, image);
}

VISIBLE result cuModuleLoad(void **module, const char *path)
{
    REAL(cuModuleLoad, load);
    load from_data = (load)real_symbol(hook_named("cuModuleLoadData"));
    size_t size = 0;
    char *image = plan_is_on() && from_data && path ? file_contents(path, &size) : NULL;
    const void *changed = image ? image_instead(image, size, NULL) : NULL;
    result code = changed ? from_data(module, changed) : 0;
    free(image);
    if (changed && code == 0) {
        return 0;
    }
    if (changed) {
        refused(code);
    }
    return real(module, path);
}

typedef result (*load_library)(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);

VISIBLE result cuLibraryLoadData(void **library, const void *code, void *options, void **values, unsigned n,
                                 void *more, void **more_values, unsigned m)
{
    REAL(cuLibraryLoadData, load_library);
    const void *changed = image_instead(code, 0, NULL);
    result done = changed ? real(library, changed, options, values, n, more, more_values, m) : 0;
    if (changed && done == 0) {
        return 0;
    }
    if (changed) {
        refused(done);
    }
    return real(library, code, options, values, n, more, more_values, m);
}

VISIBLE result cuLibraryLoadFromFile(void **library, const char *path, void *options, void **values, unsigned n,
                                     void *more, void **more_values, unsigned m)
{
    REAL(cuLibraryLoadFromFile, load_library);
    load_library from_data = (load_library)real_symbol(hook_named("cuLibraryLoadData"));
    size_t size = 0;
    char *image = plan_is_on() && from_data && path ? file_contents(path, &size) : NULL;
    const void *changed = image ? image_instead(image, size, NULL) : NULL;
    result done = changed ? from_data(library, changed, options, values, n, more, more_values, m) : 0;
    free(image);
    if (changed && done == 0) {
        return 0;
    }
    if (changed) {
        refused(done);
    }
    return real(library, path, options, values, n, more, more_values, m);
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

struct attribute {
    int id;
    char pad[4];
    union { int number; char bytes[64]; void *event; } value;
};
struct launch {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};
enum { COOPERATIVE = 2, SERIALIZATION = 6, EVENT = 7 };

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

/* The same launch without the attribute: how a kernel is protected into which no wait can be inserted. */
enum { MOST_ATTRIBUTES = 64 };
static struct launch without_overlap(const struct launch *launch, struct attribute kept[MOST_ATTRIBUTES])
{
    struct launch changed = *launch;
    changed.attribute_count = 0;
    changed.attributes = kept;
    for (unsigned i = 0; launch->attributes && i < launch->attribute_count; i++) {
        if (launch->attributes[i].id != SERIALIZATION && changed.attribute_count < MOST_ATTRIBUTES) {
            kept[changed.attribute_count++] = launch->attributes[i];
        }
    }
    return changed;
}

typedef result (*launch_plain)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                               void **);
typedef result (*launch_cooperative)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                                     void **);
typedef result (*launch_ex)(const struct launch *, void *, void **, void **);
typedef result (*launch_graph)(void *, void *);

#define LAUNCHES(suffix, per_thread)                                                                                      \
    VISIBLE result cuLaunchKernel##suffix(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,       \
                                          unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)     \
    {                                                                                                                     \
        REAL(cuLaunchKernel##suffix, launch_plain);                                                                       \
        struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                                     \
        note(&launch, f, per_thread, 0);                                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);                                         \
    }                                                                                                                     \
    VISIBLE result cuLaunchCooperativeKernel##suffix(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,         \
                                                     unsigned by, unsigned bz, unsigned shared, void *stream,             \
                                                     void **arguments)                                                    \
    {                                                                                                                     \
        REAL(cuLaunchCooperativeKernel##suffix, launch_cooperative);                                                      \
        struct launch launch = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};                                     \
        note(&launch, f, per_thread, 1);                                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments);                                                \
    }                                                                                                                     \
    VISIBLE result cuLaunchKernelEx##suffix(const struct launch *launch, void *f, void **arguments, void **extra)         \
    {                                                                                                                     \
        REAL(cuLaunchKernelEx##suffix, launch_ex);                                                                        \
        struct attribute kept[MOST_ATTRIBUTES];                                                                           \
        if (launch && note(launch, f, per_thread, 0)) {                                                                   \
            struct launch changed = without_overlap(launch, kept);                                                        \
            return real(&changed, f, arguments, extra);                                                                   \
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

/* Kernel nodes that a program adds by hand. The parameters begin with the function; `kern` follows 56 bytes later. */
static void note_node(void *const *parameters)
{
    void *function = parameters[0] ? parameters[0] : parameters[7];
    if (plan_is_on() && function) {
        kernel_launched(function, NULL, BUILT, 0, 0, 0);
    }
}

typedef result (*add_kernel)(void **, void *, const void *, size_t, void *const *);
typedef result (*add_node)(void **, void *, const void *, size_t, const int *);
typedef result (*add_node_2)(void **, void *, const void *, const void *, size_t, const int *);

VISIBLE result cuGraphAddKernelNode_v2(void **node, void *graph, const void *before, size_t n, void *const *parameters)
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
        note_node((void *const *)(const void *)(parameters + 4));
    }
    return real(node, graph, before, n, parameters);
}

VISIBLE result cuGraphAddNode_v2(void **node, void *graph, const void *before, const void *edges, size_t n,
                                 const int *parameters)
{
    REAL(cuGraphAddNode_v2, add_node_2);
    if (parameters && parameters[0] == 0) {
        note_node((void *const *)(const void *)(parameters + 4));
    }
    return real(node, graph, before, edges, n, parameters);
}

/* ---- copies to the host, and the waits that end them ---------------------------------------------------------------- */

typedef result (*copy_down)(void *, devptr, size_t);
typedef result (*copy_down_async)(void *, devptr, size_t, void *);
typedef result (*copy_any)(devptr, devptr, size_t);
typedef result (*copy_any_async)(devptr, devptr, size_t, void *);
typedef result (*wait_for)(void *);

/* The driver reports no type for host memory that it does not know. */
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
    result code = real ? real() : 999;
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
        host_waited(WAITED_FOR_EVENT, NULL); /* its context may differ from that of the copies: each stream is asked */
    }
    return code;
}

/* ---- the ways in --------------------------------------------------------------------------------------------------- */

typedef result (*get_address)(const char *, void **, int, uint64_t, void *);

static result answer(get_address real, const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    result code = real(symbol, function, version, flags, status);
    int per_thread = (flags & 2) != 0;
    if (code != 0 || !function || !*function || !symbol) {
        return code;
    }
    for (int exact = 1; exact >= 0; exact--) { /* most functions have no per-thread variant: take the other then */
        for (size_t i = 0; i < hook_count; i++) {
            struct hook *hook = &hooks[i];
            if (strcmp(hook->symbol, symbol) == 0 && version >= hook->since && version < hook->before
                && (exact ? hook->per_thread == per_thread : !hook->per_thread)) {
                if (*function != hook->replacement) { /* a driver may hand out its own entry, which is already ours */
                    hook->real = *function;
                    *function = hook->replacement;
                }
                return code;
            }
        }
    }
    return code;
}

VISIBLE result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    REAL(cuGetProcAddress, get_address);
    return answer(real, symbol, function, version, flags, status);
}

VISIBLE result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    REAL(cuGetProcAddress_v2, get_address);
    return answer(real, symbol, function, version, flags, status);
}

#define NEVER 1000000
#define HOOK(symbol, exported, since, before, per_thread) {#symbol, #exported, since, before, per_thread, (void *)exported, NULL}
#define BOTH(name) HOOK(name, name, 0, NEVER, 0), HOOK(name, name##_ptsz, 0, NEVER, 1)
struct hook hooks[] = {
    HOOK(cuGetProcAddress, cuGetProcAddress, 0, 12000, 0),
    HOOK(cuGetProcAddress, cuGetProcAddress_v2, 12000, NEVER, 0),
    HOOK(cuModuleLoad, cuModuleLoad, 0, NEVER, 0),
    HOOK(cuModuleLoadData, cuModuleLoadData, 0, NEVER, 0),
    HOOK(cuModuleLoadDataEx, cuModuleLoadDataEx, 0, NEVER, 0),
    HOOK(cuModuleLoadFatBinary, cuModuleLoadFatBinary, 0, NEVER, 0),
    HOOK(cuLibraryLoadData, cuLibraryLoadData, 0, NEVER, 0),
    HOOK(cuLibraryLoadFromFile, cuLibraryLoadFromFile, 0, NEVER, 0),
    HOOK(cuModuleGetFunction, cuModuleGetFunction, 0, NEVER, 0),
    HOOK(cuLibraryGetKernel, cuLibraryGetKernel, 0, NEVER, 0),
    HOOK(cuKernelGetFunction, cuKernelGetFunction, 0, NEVER, 0),
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
    HOOK(cuEventSynchronize, cuEventSynchronize, 0, NEVER, 0),
    HOOK(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020, NEVER, 0),
    HOOK(cuMemcpyDtoH, cuMemcpyDtoH_v2_ptds, 3020, NEVER, 1),
    HOOK(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020, NEVER, 0),
    HOOK(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2_ptsz, 3020, NEVER, 1),
    HOOK(cuMemcpy, cuMemcpy, 0, NEVER, 0),
    HOOK(cuMemcpy, cuMemcpy_ptds, 0, NEVER, 1),
    BOTH(cuMemcpyAsync),
};
const size_t hook_count = sizeof hooks / sizeof hooks[0];

/* Replaces dlsym for the whole process. Any other name is passed on as a tail call, because dlsym looks at who called it. */
VISIBLE void *dlsym(void *handle, const char *name)
{
    if (strncmp(name, "cu", 2) == 0) {
        struct hook *hook = hook_named(name);
        void *found = hook ? real_dlsym()(handle, name) : NULL;
        if (found && found != hook->replacement) {
            hook->real = found;
        }
        if (found) {
            return hook->replacement;
        }
    }
    return real_dlsym()(handle, name);
}
