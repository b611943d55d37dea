/* injection.h - what the parts of the injection library share
 *
 * The library is put in front of a program with LD_PRELOAD. It hands PTX to the rewriter before the driver compiles it,
 * writes the plan's numbers into the kernels' module variables, and notes what is launched and how. It includes no CUDA
 * header, so that it can be compiled on any machine with a C compiler.
 */
#ifndef PDL_STRESS_INJECTION_H
#define PDL_STRESS_INJECTION_H

#include <stddef.h>
#include <stdint.h>

typedef int result;     /* CUresult; 0 is success */
typedef uint64_t devptr; /* CUdeviceptr */

enum { FLAG_TRIGGER = 1, FLAG_HOLD = 2, FLAG_PROTECT = 4 };

/* One function that is replaced. `since` and `before` bound the version argument of cuGetProcAddress that selects it. */
struct hook {
    const char *symbol;   /* as cuGetProcAddress is asked for it */
    const char *exported; /* as dlsym is */
    int since, before;
    int per_thread; /* 1: the variant of per-thread default streams */
    void *replacement;
    void *real;
};
extern struct hook hooks[];
extern const size_t hook_count;

void *real_symbol(struct hook *hook);              /* the driver's own function, NULL if it cannot be found */
void *driver_symbol(const char *name);             /* any other function of the driver */
struct hook *hook_named(const char *exported);

/* kernels.c */
enum { IN_MODULE, IN_LIBRARY };
void kernel_found(const void *handle, const char *name, void *home, int where);
void kernel_alias(const void *handle, const void *kernel);
enum { EAGER, CAPTURED, BUILT };
/* 1 if the plan protects this kernel and it is machine code only: its launch must then lose the attribute */
int kernel_launched(const void *handle, const void *stream, int how, int attribute, int event);
void graph_launched(void);
int stress_is_on(void);         /* a plan is there */
int stress_watches_capture(void);

/* images.c: a rewritten copy that lives for ever, or NULL if the image is not PTX or nothing could be rewritten */
const void *image_rewritten(const void *image, size_t size, size_t *new_size);
char *file_contents(const char *path, size_t *size);
void *cubin_of(const char *ptx, size_t *size);

/* records.c */
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));
void json_text(char *out, size_t room, const char *text);

#endif
