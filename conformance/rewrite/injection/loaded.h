/* loaded.h - what is shared by the injection libraries that rewrite the code a program loads
 *
 * loads.c replaces the driver's functions that load code, images.c makes the image that the driver gets instead, and
 * plans.c holds the plan and what is known of each kernel by its name. $PDL_STRESS_PLAN names the plan file; without
 * it nothing is rewritten.
 */
#ifndef PDL_INJECTION_LOADED_H
#define PDL_INJECTION_LOADED_H

#include "interpose.h"
#include "record.h"
#include "rewrite.h"

enum { WORDS = 4 }; /* flags, least, span, seed */

/* ---- plans.c ------------------------------------------------------------------------------------------------------- */

struct named {
    char *name;
    int seen, rewritten;   /* the number of images that hold it, and of those in which it was rewritten */
    char *refusal;         /* why it was not rewritten in the last image in which it was not; NULL if there is no reason */
    unsigned waits, triggers, registers_before, registers;
    int spilled;           /* it records without registers above its own */
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
void note_outcome(const struct kernel_outcome *outcome);
uint64_t live_words(struct named *kernel); /* the device's address of its numbers; 0 where the plan is not live */
void plans_forked(void); /* in a child after a fork, before anything else */
void each_named(void (*tell)(const struct named *kernel));

/* Between the two some context is current, and no capture of the program's forbids what the library does. enter_context
 * answers 0 if that is impossible; call leave_context in either case. */
struct entered {
    void *pushed;
    int capture_mode;
};
int enter_context(struct entered *entered);
void leave_context(struct entered *entered);

/* Memory that kernels of every device reach. `on_host` stays NULL where it is the device's own. 1 if there is some. */
int kernels_memory(size_t bytes, uint64_t *address, void **on_host);

/* ---- images.c ------------------------------------------------------------------------------------------------------ */

/* What the driver is to be given instead of an image; NULL: the image itself. */
const void *image_instead(const void *image, size_t size, size_t *new_size);
char *file_contents(const char *path, size_t *size);

/* ---- loads.c ------------------------------------------------------------------------------------------------------- */

extern struct hook load_hooks[];
extern const size_t load_hook_count;

/* ---- what each library defines ------------------------------------------------------------------------------------- */

void loading_begins(void);          /* before each function that loads code */
void image_refused(result code);    /* the driver did not take a rewritten image; it is given the program's own */

/* Where a kernel with PLAN_RECORD writes its records; 0 if nowhere, and then it records nothing. Only the library of
 * `trace --inside` defines it. */
__attribute__((weak)) int record_room(const char *kernel, struct record_room *room);

#endif
