/* interpose.c - see interpose.h. Functions that a program links against need no code here: preloading replaces them. */
#define _GNU_SOURCE
#include "interpose.h"

#include <dlfcn.h>
#include <string.h>

typedef void *(*dlsym_type)(void *, const char *);
typedef result (*get_address)(const char *, void **, int, uint64_t, void *);

static dlsym_type real_dlsym(void)
{
    static dlsym_type found;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++) {
        found = (dlsym_type)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    return found;
}

void *driver_symbol(const char *name)
{
    static void *handle;
    if (!handle) {
        handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    }
    return handle ? real_dlsym()(handle, name) : NULL;
}

VISIBLE result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags, void *status);
VISIBLE result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status);

static struct hook address_hooks[] = {
    HOOK(cuGetProcAddress, cuGetProcAddress, 0, 12000, 0),
    HOOK(cuGetProcAddress, cuGetProcAddress_v2, 12000, NEVER, 0),
};
static const size_t address_hook_count = sizeof address_hooks / sizeof address_hooks[0];
static const struct hook_table own_table = {address_hooks, &address_hook_count};

/* Goes through all hooks: those of this file first, then the library's. NULL at the end. */
struct place {
    size_t table, index;
};
static struct hook *next_hook(struct place *at)
{
    for (; at->table <= hook_table_count; at->table++, at->index = 0) {
        const struct hook_table *table = at->table == 0 ? &own_table : &hook_tables[at->table - 1];
        if (at->index < *table->count) {
            return &table->hooks[at->index++];
        }
    }
    return NULL;
}

struct hook *hook_named(const char *exported)
{
    struct place at = {0, 0};
    struct hook *hook;
    while ((hook = next_hook(&at)) != NULL && strcmp(hook->exported, exported) != 0) {
    }
    return hook;
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

/* Most functions have no variant for per-thread default streams: the ordinary one is taken then. */
static struct hook *hook_for(const char *symbol, int version, int per_thread)
{
    struct hook *ordinary = NULL, *hook;
    struct place at = {0, 0};
    while ((hook = next_hook(&at)) != NULL) {
        if (strcmp(hook->symbol, symbol) != 0 || version < hook->since || version >= hook->before) {
            continue;
        }
        if (hook->per_thread == per_thread) {
            return hook;
        }
        ordinary = hook->per_thread == 0 ? hook : ordinary;
    }
    return ordinary;
}

static result answer(get_address real, const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    enum { PER_THREAD_DEFAULT_STREAM = 2 };
    result code = real(symbol, function, version, flags, status);
    if (code != 0 || !function || !*function || !symbol) {
        return code;
    }
    struct hook *hook = hook_for(symbol, version, (flags & PER_THREAD_DEFAULT_STREAM) != 0);
    if (hook && *function != hook->replacement) { /* a driver may return our own function, which it found by its name */
        hook->real = *function;
        *function = hook->replacement;
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
