/* program_rows.h - what a row of the covering array says of a launch: for who draws the launch, and for who says which rows ran. */
#ifndef PROGRAM_ROWS_H_INCLUDED
#define PROGRAM_ROWS_H_INCLUDED

#include "axes.h"
#include "program.h"

static inline unsigned row_cluster(const unsigned char *row) { return 1u << row[AXIS_CLUSTER]; } /* one, two, four, eight */

static inline unsigned row_kernel(const unsigned char *row) { return 2u * row[AXIS_ARGUMENTS] + (row[AXIS_REGISTERS] == REGISTERS_MANY); }

static inline unsigned row_carveout(const unsigned char *row)
{
    return row[AXIS_CARVEOUT] == CARVEOUT_OPEN ? NO_CARVEOUT : row[AXIS_CARVEOUT] == CARVEOUT_CACHE ? 0 : 100;
}

/* What stands before the kernel of this row, or after it. */
static inline enum step_kind row_kind(const unsigned char *row, unsigned axis)
{
    static const enum step_kind kinds[] = { [BEFORE_KERNEL] = STEP_KERNEL, [BEFORE_MEMSET] = STEP_SET, [BEFORE_COPY] = STEP_COPY,
                                            [BEFORE_TOHOST] = STEP_COPY, [BEFORE_HOST] = STEP_HOST, [BEFORE_EMPTY] = STEP_EMPTY,
                                            [BEFORE_RECORD] = STEP_RECORD, [BEFORE_AWAIT] = STEP_AWAIT };
    return kinds[row[axis]];
}

static inline int row_to_host(const unsigned char *row, unsigned axis) { return row[axis] == BEFORE_TOHOST; }

static inline uint32_t row_trigger(const unsigned char *row)
{
    return row[AXIS_TRIGGER] == TRIGGER_FIRST ? STEP_TRIGGERS_FIRST : row[AXIS_TRIGGER] == TRIGGER_LATE ? STEP_TRIGGERS_LATE : 0;
}

/* ran: one per row; set where a kernel of this program is launched as its row says. eager: launched, not captured. */
void program_count_rows(unsigned char *ran, const struct program *program, int eager);
/* Which rows ran, as an answer: "all of 80", or those that did not. */
void program_tell_rows(struct ask *ask, const unsigned char *ran);

#endif
