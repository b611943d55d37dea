/* injection.h - what the parts of the injection library share
 *
 * LD_PRELOAD loads the library into a program. It rewrites the machine code that the program gives to the
 * driver as the plan says, and notes what is launched and how. It includes no CUDA header, so that it can be compiled on any
 * machine with a C compiler.
 */
#ifndef PDL_STRESS_INJECTION_H
#define PDL_STRESS_INJECTION_H

#include "rewrite.h"

#include <stddef.h>
#include <stdint.h>

typedef int result;      /* CUresult; 0 is success */
typedef uint64_t devptr; /* CUdeviceptr */

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

void *real_symbol(struct hook *hook);     /* the driver's own function, NULL if it cannot be found */
void *driver_symbol(const char *name);    /* any other function of the driver */
struct hook *hook_named(const char *exported);

enum { WORDS = 4 }; /* flags, least, span, seed */

/* names.c: the plan, and what is known of each kernel by its name */
struct named {
    char *name;
    int seen, rewritten;   /* images that hold it, and those in which it was rewritten */
    char *refusal;         /* why not, of the last image in which it was not; NULL: nothing stood in the way */
    unsigned waits, triggers;
    uint64_t words;        /* the device's address of its numbers, where the plan is live; else 0 */
    uint32_t *on_host;     /* the same for the host, if it can be written there */
    uint32_t now[WORDS];   /* the numbers that stand there */
    struct named *next;
};
int plan_is_on(void);
int plan_is_calibrating(void);
void plan_reload(void);
const struct kernel_plan *plan_of(const char *kernel);
struct named *named(const char *kernel); /* NULL if there is no memory */
void note_outcome(const char *kernel, int rewritten, const char *refusal, unsigned waits, unsigned triggers);
uint64_t live_words(struct named *kernel); /* the device's address of its numbers; 0 where the plan is not live */
int enter_context(void **outer);           /* 1: some context is current; what was done is undone by leave_context */
void leave_context(void *outer);

/* kernels.c: handles and launches */
enum { IN_MODULE, IN_LIBRARY };
enum { EAGER, CAPTURED, BUILT };
void kernel_found(const void *handle, const char *name, int where);
void kernel_alias(const void *handle, const void *kernel);
/* 1 if the plan protects this kernel but could not put a wait into it: its launch must then lose the attribute */
int kernel_launched(const void *handle, const void *stream, int how, int attribute, int event, int cooperative);
void graph_launched(void);

const char *last_kernel(void); /* the name of the kernel that was launched last, NULL if there is none */

/* digests.c: what the program copies to the host */
enum waited { WAITED_FOR_STREAM, WAITED_FOR_EVENT, WAITED_FOR_ALL };
int digests_are_wanted(void);
void copied_to_host(const void *data, size_t bytes, const void *stream, int ended);
void host_waited(enum waited what, const void *stream);

/* images.c: what the driver is to be given instead of an image; NULL: the image itself */
const void *image_instead(const void *image, size_t size, size_t *new_size);
const void *ptx_assembled(const char *ptx, size_t size, size_t *new_size); /* PTX as rewritten machine code */
char *file_contents(const char *path, size_t *size);

/* records.c */
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));
void json_text(char *out, size_t room, const char *text);

#endif
