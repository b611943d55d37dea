/* program_rows.h - what a row of the covering array says of a launch: for who draws the launch, and for who says which rows ran. */
#ifndef PROGRAM_ROWS_H_INCLUDED
#define PROGRAM_ROWS_H_INCLUDED

#include "axes.h"
#include "program.h"

static inline unsigned row_cluster(const unsigned char *row) { return 1u << row[AXIS_CLUSTER]; } /* one, two, four, eight */

static inline uint32_t row_trigger(const unsigned char *row)
{
    return row[AXIS_TRIGGER] == TRIGGER_FIRST ? STEP_TRIGGERS_FIRST : row[AXIS_TRIGGER] == TRIGGER_LATE ? STEP_TRIGGERS_LATE : 0;
}

#endif
