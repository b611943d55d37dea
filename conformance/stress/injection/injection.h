/* injection.h - what the parts of the injection library share
 *
 * LD_PRELOAD loads the library into a program. It rewrites the machine code that the program gives to the driver as the
 * plan says, and notes what is launched and how.
 */
#ifndef PDL_STRESS_INJECTION_H
#define PDL_STRESS_INJECTION_H

#include "loaded.h"

#include <stddef.h>
#include <stdint.h>

/* kernels.c: handles and launches */
enum { IN_MODULE, IN_LIBRARY };
enum { EAGER, CAPTURED, BUILT };
void kernel_found(const void *handle, const char *name, int where);
void kernel_alias(const void *handle, const void *kernel);
/* 1 if the plan protects this kernel but could not put a wait into it: its launch must then lose the attribute */
int kernel_launched(const void *handle, const void *stream, int how, int attribute, int event, int cooperative);
void graph_launched(void);
void code_unloaded(void); /* handles of kernels may stand for others from now on */

const char *last_kernel(void); /* the name of the kernel that was launched last, NULL if there is none */

/* records.c: whether a signal has come in the middle of a record of this thread's */
int record_is_being_written(void);

/* Default streams go by the driver's names for them. */
#define LEGACY_STREAM ((const void *)1)
#define THREADS_STREAM ((const void *)2)

/* digests.c: what the program copies to the host */
const void *current_context(void); /* NULL if there is none */
enum waited { WAITED_FOR_STREAM, WAITED_FOR_EVENT, WAITED_FOR_CONTEXT };
int digests_are_wanted(void);
void copied_to_host(const void *data, size_t bytes, const void *stream, int ended);
void host_waited(enum waited what, const void *handle); /* of the stream or context; context NULL: the current one */
void memory_goes(const void *start, size_t bytes);      /* before the program gives this memory of the host back */
void stream_goes(const void *stream);                   /* before the driver may forget the stream */
void digests_forked(void); /* in a child, before anything else */

#endif
