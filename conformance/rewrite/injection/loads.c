/* loads.c - every function that loads code: the driver is given the rewritten image, and the original if it refuses that */
#define _GNU_SOURCE
#include "loaded.h"

#include <stdlib.h>

/* Returns from the function. `loaded` and `original` are calls of the driver: with the rewritten image, and as the program made it. */
#define REWRITTEN_OR_ORIGINAL(changed, loaded, original)                                                                   \
    do {                                                                                                                   \
        result code_ = (changed) ? (loaded) : 0;                                                                           \
        if ((changed) && code_ == 0) {                                                                                     \
            return 0;                                                                                                      \
        }                                                                                                                  \
        if (changed) {                                                                                                     \
            image_refused(code_);                                                                                          \
        }                                                                                                                  \
        return (original);                                                                                                 \
    } while (0)

#define LOAD(name, parameters, arguments, with_changed)                                                                    \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        loading_begins();                                                                                                  \
        const void *changed = image_instead(image, 0, NULL);                                                               \
        REWRITTEN_OR_ORIGINAL(changed, real with_changed, real arguments);                                                 \
    }
LOAD(cuModuleLoadData, (void **module, const void *image), (module, image), (module, changed))
LOAD(cuModuleLoadDataEx, (void **module, const void *image, unsigned n, void *options, void **values),
     (module, image, n, options, values), (module, changed, n, options, values))
LOAD(cuLibraryLoadData, (void **library, const void *image, void *o, void **v, unsigned n, void *p, void **w, unsigned m),
     (library, image, o, v, n, p, w, m), (library, changed, o, v, n, p, w, m))

typedef result (*load_module)(void **, const void *);
typedef result (*load_library)(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);

/* What is made of a fat binary may be plain machine code, which only cuModuleLoadData takes. */
VISIBLE result cuModuleLoadFatBinary(void **module, const void *image);
VISIBLE result cuModuleLoadFatBinary(void **module, const void *image)
{
    REAL(cuModuleLoadFatBinary, load_module)
    load_module from_data = (load_module)real_symbol(hook_named("cuModuleLoadData"));
    loading_begins();
    const void *changed = from_data ? image_instead(image, 0, NULL) : NULL;
    REWRITTEN_OR_ORIGINAL(changed, from_data(module, changed), real(module, image));
}

static const void *file_instead(const char *path, const void *from_data)
{
    size_t size = 0;
    loading_begins();
    char *contents = plan_is_on() && path && from_data ? file_contents(path, &size) : NULL;
    const void *changed = contents ? image_instead(contents, size, NULL) : NULL;
    free(contents);
    return changed;
}

VISIBLE result cuModuleLoad(void **module, const char *path);
VISIBLE result cuModuleLoad(void **module, const char *path)
{
    REAL(cuModuleLoad, result(*)(void **, const char *))
    load_module from_data = (load_module)real_symbol(hook_named("cuModuleLoadData"));
    const void *changed = file_instead(path, (const void *)from_data);
    REWRITTEN_OR_ORIGINAL(changed, from_data(module, changed), real(module, path));
}

VISIBLE result cuLibraryLoadFromFile(void **library, const char *path, void *o, void **v, unsigned n, void *p, void **w, unsigned m);
VISIBLE result cuLibraryLoadFromFile(void **library, const char *path, void *o, void **v, unsigned n, void *p, void **w, unsigned m)
{
    REAL(cuLibraryLoadFromFile, load_library)
    load_library from_data = (load_library)real_symbol(hook_named("cuLibraryLoadData"));
    const void *changed = file_instead(path, (const void *)from_data);
    REWRITTEN_OR_ORIGINAL(changed, from_data(library, changed, o, v, n, p, w, m), real(library, path, o, v, n, p, w, m));
}

struct hook load_hooks[] = {
    ONE_HOOK(cuModuleLoad), ONE_HOOK(cuModuleLoadData), ONE_HOOK(cuModuleLoadDataEx), ONE_HOOK(cuModuleLoadFatBinary),
    ONE_HOOK(cuLibraryLoadData), ONE_HOOK(cuLibraryLoadFromFile),
};
const size_t load_hook_count = sizeof load_hooks / sizeof load_hooks[0];
