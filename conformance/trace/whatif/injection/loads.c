/* loads.c - every function that loads code: the driver is given the rewritten image, and the original should it refuse that */
#define _GNU_SOURCE
#include "trace.h"

#include <stdlib.h>

/* Of stress's injection library, whose files are compiled into this one: its header has another `struct hook`. */
const void *image_instead(const void *image, size_t size, size_t *new_size);
char *file_contents(const char *path, size_t *size);
int plan_is_on(void);

static int refusals;

int whatif_refusals(void);
int whatif_refusals(void)
{
    return __atomic_load_n(&refusals, __ATOMIC_RELAXED);
}

/* Tries the rewritten image first. `loaded` stands for the driver's function with the image in its place. */
#define INSTEAD(changed, loaded, original)                                                                                 \
    do {                                                                                                                   \
        result code_ = (changed) ? (loaded) : 1;                                                                           \
        if ((changed) && code_ != 0) {                                                                                     \
            __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);                                                            \
            write_line("{\"refused\":%d}", code_);                                                                         \
        }                                                                                                                  \
        return code_ == 0 ? 0 : (original);                                                                                \
    } while (0)

#define LOAD(name, parameters, arguments, with)                                                                            \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        trace_start();                                                                                                     \
        const void *changed = image_instead(image, 0, NULL);                                                               \
        INSTEAD(changed, real with, real arguments);                                                                       \
    }
LOAD(cuModuleLoadData, (void **module, const void *image), (module, image), (module, changed))
LOAD(cuModuleLoadDataEx, (void **module, const void *image, unsigned n, void *options, void **values),
     (module, image, n, options, values), (module, changed, n, options, values))
LOAD(cuLibraryLoadData, (void **library, const void *image, void *o, void **v, unsigned n, void *p, void **w, unsigned m),
     (library, image, o, v, n, p, w, m), (library, changed, o, v, n, p, w, m))

/* What is made of a fat binary may be plain machine code, which only cuModuleLoadData takes. */
VISIBLE result cuModuleLoadFatBinary(void **module, const void *image);
VISIBLE result cuModuleLoadFatBinary(void **module, const void *image)
{
    REAL(cuModuleLoadFatBinary, result(*)(void **, const void *))
    result (*from_data)(void **, const void *) = (result(*)(void **, const void *))real_symbol(hook_named("cuModuleLoadData"));
    trace_start();
    const void *changed = from_data ? image_instead(image, 0, NULL) : NULL;
    INSTEAD(changed, from_data(module, changed), real(module, image));
}

static const void *file_instead(const char *path, char **contents)
{
    size_t size = 0;
    trace_start();
    *contents = plan_is_on() && path ? file_contents(path, &size) : NULL;
    return *contents ? image_instead(*contents, size, NULL) : NULL;
}

VISIBLE result cuModuleLoad(void **module, const char *path);
VISIBLE result cuModuleLoad(void **module, const char *path)
{
    REAL(cuModuleLoad, result(*)(void **, const char *))
    result (*from_data)(void **, const void *) = (result(*)(void **, const void *))real_symbol(hook_named("cuModuleLoadData"));
    char *contents = NULL;
    const void *changed = from_data ? file_instead(path, &contents) : NULL;
    free(contents);
    INSTEAD(changed, from_data(module, changed), real(module, path));
}

typedef result (*load_library)(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);
VISIBLE result cuLibraryLoadFromFile(void **library, const char *path, void *o, void **v, unsigned n, void *p, void **w, unsigned m);
VISIBLE result cuLibraryLoadFromFile(void **library, const char *path, void *o, void **v, unsigned n, void *p, void **w, unsigned m)
{
    REAL(cuLibraryLoadFromFile, load_library)
    load_library from_data = (load_library)real_symbol(hook_named("cuLibraryLoadData"));
    char *contents = NULL;
    const void *changed = from_data ? file_instead(path, &contents) : NULL;
    free(contents);
    INSTEAD(changed, from_data(library, changed, o, v, n, p, w, m), real(library, path, o, v, n, p, w, m));
}

#define NEVER 1000000
#define HOOK(name) {#name, #name, 0, NEVER, 0, (void *)name, NULL}
static struct hook load_hooks[] = {HOOK(cuModuleLoad), HOOK(cuModuleLoadData), HOOK(cuModuleLoadDataEx), HOOK(cuModuleLoadFatBinary),
                                   HOOK(cuLibraryLoadData), HOOK(cuLibraryLoadFromFile)};
static const size_t load_hook_count = sizeof load_hooks / sizeof load_hooks[0];

extern struct hook node_hooks[];
extern const size_t node_hook_count;
const struct hook_table hook_tables[] = {
    {trace_hooks, &trace_hook_count}, {load_hooks, &load_hook_count}, {node_hooks, &node_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
