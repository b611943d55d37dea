/* interpose.h - how a preloaded library stands in front of a driver's functions
 *
 * A program reaches the driver in three ways: linked against libcuda, through dlsym, or through cuGetProcAddress, which
 * is how the CUDA runtime does it. interpose.c catches all three for the functions that a library lists in `hook_tables`.
 * It includes no CUDA header, so that it compiles on any machine with a C compiler.
 */
#ifndef PDL_INTERPOSE_H
#define PDL_INTERPOSE_H

#include <stddef.h>
#include <stdint.h>

typedef int result; /* CUresult; 0 is success */

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
/* What a library replaces: one table, or several parts that it is made of. */
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

/* `real` becomes the function that stands after this one; the variable keeps the look-up to one per function. */
#define REAL(name, type)                                                                                                  \
    static struct hook *own_hook;                                                                                         \
    if (!own_hook) {                                                                                                      \
        own_hook = hook_named(#name);                                                                                     \
    }                                                                                                                     \
    __typeof__(type) real = (__typeof__(type))real_symbol(own_hook);                                                                             \
    if (!real) {                                                                                                          \
        return NO_REAL_FUNCTION;                                                                                          \
    }

#endif
