/* interpose.h - how a preloaded library takes the place of a driver's functions
 *
 * A program reaches the driver in three ways: linked against libcuda, through dlsym, and through cuGetProcAddress, which
 * is what the CUDA runtime uses. interpose.c catches all three for the functions that a library lists in `hook_tables`.
 * No file of an injection library includes a CUDA header, so that it compiles on any machine with a C compiler.
 */
#ifndef PDL_INTERPOSE_H
#define PDL_INTERPOSE_H

#include <stddef.h>
#include <stdint.h>

typedef int result;      /* CUresult; 0 is success */
typedef uint64_t devptr; /* CUdeviceptr */

#define VISIBLE __attribute__((visibility("default")))

/* One function that is replaced. `since` and `before` bound the version argument of cuGetProcAddress that selects it. */
struct hook {
    const char *symbol;   /* as cuGetProcAddress is asked for it */
    const char *exported; /* as dlsym is */
    int since, before;
    int per_thread; /* 1: the variant of per-thread default streams */
    void *replacement;
    void *real;
};
/* What a library replaces: one table for each part that it is made of. cuGetProcAddress need not be listed. */
struct hook_table {
    struct hook *hooks;
    const size_t *count;
};
extern const struct hook_table hook_tables[];
extern const size_t hook_table_count;

struct hook *hook_named(const char *exported);
void *real_symbol(struct hook *hook);  /* the driver's own function, NULL if it cannot be found */
void *driver_symbol(const char *name); /* any other function of the driver, NULL if there is none */

/* CUDA_ERROR_UNKNOWN: what a replaced function answers when the driver's own cannot be found. */
enum { NO_REAL_FUNCTION = 999 };

/* Declares `real`, the function that is replaced. The variable keeps the look-up to one per function. */
#define REAL(name, type)                                                                                                  \
    static struct hook *own_hook;                                                                                         \
    if (!own_hook) {                                                                                                      \
        own_hook = hook_named(#name);                                                                                     \
    }                                                                                                                     \
    __typeof__(type) real = (__typeof__(type))real_symbol(own_hook);                                                      \
    if (!real) {                                                                                                          \
        return NO_REAL_FUNCTION;                                                                                          \
    }

/* Declares a variable `name` that holds a function of the driver, NULL if there is none. */
#define DRIVER(name, ...) static result (*name)(__VA_ARGS__); if (!name) { name = (result(*)(__VA_ARGS__))driver_symbol(#name); }

/* Entries of a hook table. Most functions with a stream have a variant whose name ends in _ptsz, synchronous ones in _ptds. */
#define NEVER 1000000
#define HOOK(symbol, exported, since, before, per_thread) {#symbol, #exported, since, before, per_thread, (void *)exported, NULL}
#define ONE_HOOK(name) HOOK(name, name, 0, NEVER, 0)
#define BOTH_SINCE(symbol, exported, since) HOOK(symbol, exported, since, NEVER, 0), HOOK(symbol, exported##_ptsz, since, NEVER, 1)
#define BOTH(name) BOTH_SINCE(name, name, 0)
#define BOTH_SYNC(symbol, exported, since) HOOK(symbol, exported, since, NEVER, 0), HOOK(symbol, exported##_ptds, since, NEVER, 1)

#endif
