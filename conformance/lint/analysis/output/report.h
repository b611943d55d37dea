/* What the files around the analysis share: reading the image, what the code of a kernel's calls holds, hints. */
#ifndef PDL_LINT_REPORT_H
#define PDL_LINT_REPORT_H

#include "analysis.h"

/* image.c: fills `image`; a malformed line of constraints ends the process with a sentence and 64. */
void read_image(FILE *);
size_t constant4_symbols(const name **symbols); /* those of the map, in any order */

/* call_graph.c */
uint32_t closure_kinds(name kernel); /* of all code that the kernel may reach: a bit, 1 << kind, for each kind in it */
/* How many instructions of that code can touch global memory; and its calls into code that is not in this file. */
size_t closure_touches(name kernel, struct unresolved **unseen, size_t *unseen_count);

/* hints.c: of one section; places as indices of instructions, -1: none */
struct hints {
    int64_t wait_in_loop, wait_at_once, read_only, store_after_trigger, fence_then_trigger;
    uint32_t read_only_count;
};
struct hints hints_of(const struct section *);

#endif
