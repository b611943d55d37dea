/* program_rows.c - which rows of the covering array ran. */
#include "program_rows.h"

#include <stdio.h>
#include <string.h>

/* Whether a step is directly before the kernel, or after it. */
static int is_beside(const struct program *p, unsigned kernel, unsigned other, unsigned axis)
{
    unsigned from = axis == AXIS_BEFORE ? other : kernel, to = axis == AXIS_BEFORE ? kernel : other;

    if (p->streams)
        return p->step[from].lane == p->step[to].lane && program_next_in_lane(p, from) == to;
    return program_is_linked(p, from, to);
}

static int has_beside(const struct program *p, unsigned kernel, const unsigned char *row, unsigned axis)
{
    unsigned i;

    for (i = 0; i < p->steps; i++)
        if (i != kernel && p->step[i].kind == row_kind(row, axis) && is_beside(p, kernel, i, axis) &&
            (p->step[i].kind != STEP_COPY || (p->step[i].to_host != 0) == row_to_host(row, axis)))
            return 1;
    return 0;
}

/* Whether an eager launch records this event: for another step, or else for nobody. Beside a full link alone it records any, which no row counts. */
static int records(const struct program *p, unsigned kernel, unsigned event)
{
    unsigned l, full = 0;

    for (l = 0; l < p->links; l++)
        if (p->link[l].from == kernel && p->link[l].kind != LINK_FULL)
            return event == (p->link[l].kind == LINK_START ? EVENT_START : EVENT_TRIGGER);
        else
            full |= p->link[l].from == kernel;
    return !full && event == p->step[kernel].event;
}

/* What only a launch in a stream has; of a carve-out and an event only one that is not captured. */
static int is_launched_as_row(const struct program *p, unsigned kernel, const unsigned char *row, int eager)
{
    const struct step *step = &p->step[kernel];

    return (p->streams && step->attribute) == (row[AXIS_ATTRIBUTE] == ATTRIBUTE_ON) &&
           (eager ? records(p, kernel, row[AXIS_EVENT]) : row[AXIS_EVENT] == EVENT_NONE) &&
           (eager ? step->carveout : NO_CARVEOUT) == row_carveout(row);
}

/* Whether a step is still launched as its row says: what a program is for, or the device, may have changed it. A grid of one is one whole cluster. */
static int is_as_row(const struct step *step, const unsigned char *row)
{
    enum { BOTH = STEP_TRIGGERS_FIRST | STEP_TRIGGERS_LATE };

    return step->kernel == row_kernel(row) && (step->flags & BOTH) == row_trigger(row) &&
           ((step->flags & STEP_WAITS) != 0) == (row[AXIS_WAIT] == WAIT_YES) && program_product(step->cluster) == row_cluster(row) &&
           (program_product(step->grid) == program_product(step->cluster) || row[AXIS_GRID] != GRID_ONE) &&
           (step->cooperative != 0) == (row[AXIS_COOPERATIVE] == COOPERATIVE_YES) &&
           (step->urgent != 0) == (row[AXIS_PRIORITY] == PRIORITY_HIGH) && (step->domain != 0) == (row[AXIS_DOMAIN] == DOMAIN_REMOTE) &&
           (step->shared_bytes != 0) == (row[AXIS_SHARED] != SHARED_NONE);
}

void program_count_rows(unsigned char *ran, const struct program *p, int eager)
{
    unsigned i;

    for (i = 0; i < p->steps; i++) {
        const unsigned char *row = kit_axis_rows[p->step[i].row];
        if (p->step[i].kind == STEP_KERNEL && is_as_row(&p->step[i], row) && is_launched_as_row(p, i, row, eager) &&
            has_beside(p, i, row, AXIS_BEFORE) && has_beside(p, i, row, AXIS_AFTER))
            ran[p->step[i].row] = 1;
    }
}

void program_tell_rows(struct ask *ask, const unsigned char *ran)
{
    char text[512] = "";
    unsigned i, missing = 0;

    for (i = 0; i < KIT_AXIS_ROWS; i++)
        if (!ran[i]) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof(text) - used, "%s %u", missing++ ? "" : "all but", i);
        }
    if (!missing)
        snprintf(text, sizeof(text), "all of %u", KIT_AXIS_ROWS);
    ask_row(ask, "rows of the covering array that ran", text);
}
