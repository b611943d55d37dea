/* plan.h - the plan file: which kernel gets what
 *
 *   NAME flags least_ns span_ns seed     one kernel, by its mangled name; flags are the PLAN_... of rewrite.h added up
 *   * flags least_ns span_ns seed        all kernels that are not named
 *   # ...                                a comment
 *   WORD                                 a switch for whoever reads the plan (calibrate, live, ...)
 */
#ifndef PDL_REWRITE_PLAN_H
#define PDL_REWRITE_PLAN_H

#include "rewrite.h"

#include <stdio.h>

struct plan_line {
    char *name;
    struct kernel_plan plan;
};

enum { MOST_SWITCHES = 8, SWITCH_ROOM = 32 };

struct plan_file {
    struct plan_line *table; /* open addressing, a power of two */
    size_t room, count;
    struct kernel_plan others;
    char switches[MOST_SWITCHES][SWITCH_ROOM];
    size_t switch_count;
};

/* NULL, or what is wrong with line *line. call plan_free in either case. */
const char *plan_read(struct plan_file *plan, FILE *file, unsigned *line);
void plan_free(struct plan_file *plan);
const struct kernel_plan *plan_for(const struct plan_file *plan, const char *kernel);
int plan_switch(const struct plan_file *plan, const char *word);

#endif
