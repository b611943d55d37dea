/* interpose.c - the ways in: dlsym and cuGetProcAddress; functions that a program links against come here by preloading */
#define _GNU_SOURCE
#include "interpose.h"

#include <dlfcn.h>
#include <string.h>

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

void *driver_symbol(const char *name)
{
    static void *handle;
    if (!handle) {
        handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    }
    return handle ? real_dlsym()(handle, name) : NULL;
}

struct hook *hook_named(const char *exported)
{
    for (size_t t = 0; t < hook_table_count; t++) {
        for (size_t i = 0; i < *hook_tables[t].count; i++) {
            if (strcmp(hook_tables[t].hooks[i].exported, exported) == 0) {
                return &hook_tables[t].hooks[i];
            }
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

typedef result (*get_address)(const char *, void **, int, uint64_t, void *);

/* Most functions have no variant for per-thread default streams: the ordinary one is taken then. */
static struct hook *hook_for(const char *symbol, int version, int per_thread)
{
    struct hook *ordinary = NULL;
    for (size_t t = 0; t < hook_table_count; t++) {
        for (size_t i = 0; i < *hook_tables[t].count; i++) {
            struct hook *hook = &hook_tables[t].hooks[i];
            if (strcmp(hook->symbol, symbol) != 0 || version < hook->since || version >= hook->before) {
                continue;
            }
            if (hook->per_thread == per_thread) {
                return hook;
            }
            ordinary = hook->per_thread == 0 ? hook : ordinary;
        }
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
    if (hook && *function != hook->replacement) { /* a driver may hand out its own entry, which is already ours */
        hook->real = *function;
        *function = hook->replacement;
    }
    return code;
}

VISIBLE result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags, void *status);
VISIBLE result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    REAL(cuGetProcAddress, get_address);
    return answer(real, symbol, function, version, flags, status);
}

VISIBLE result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status);
VISIBLE result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    REAL(cuGetProcAddress_v2, get_address);
    return answer(real, symbol, function, version, flags, status);
}

/* In front of everybody's dlsym. Any other name is passed on as a tail call, because dlsym looks at who called it. */
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
