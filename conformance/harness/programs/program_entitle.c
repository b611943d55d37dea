/* program_entitle.c - says what each step of a program may read, and which later steps it watches. */
#include "program.h"

#include <string.h>

typedef uint64_t step_set;     /* one bit per step */
static step_set bit(unsigned step) { return (step_set)1 << step; }

struct order {
    step_set before[PROGRAM_STEPS];   /* complete and visible when the step begins */
    step_set complete[PROGRAM_STEPS]; /* complete when the step is: itself, what it began after, what it waited for */
};

static step_set later_part(const struct step *step, step_set by_wait)
{
    return step->kind == STEP_KERNEL && (step->flags & STEP_WAITS) ? by_wait : 0;
}

/* In a stream a plain launch and every other item begins after all of its lane, whatever that overlapped. */
static void order_lane(const struct program *p, struct order *o, unsigned i, step_set *by_wait)
{
    const struct step *step = &p->step[i];
    unsigned k, last = PROGRAM_STEPS;
    step_set lane = 0;

    for (k = 0; k < i; k++)
        if (p->step[k].lane == step->lane) {
            lane |= o->complete[k] | o->before[k] | bit(k);
            last = k;
        } else if (p->legacy && (p->step[k].lane == 0 || step->lane == 0)) {
            o->before[i] |= o->complete[k] | o->before[k] | bit(k);
        }
    if (last == PROGRAM_STEPS)
        return;
    if (step->kind == STEP_KERNEL && step->attribute)
        *by_wait |= p->step[last].kind == STEP_KERNEL ? o->complete[last] : lane;
    else
        o->before[i] |= lane;
}

/* All that an event of the other lane stands for: everything queued there before it. */
static step_set lane_until(const struct program *p, const struct order *o, unsigned from)
{
    step_set all = 0;
    unsigned k;

    for (k = 0; k <= from; k++)
        if (p->step[k].lane == p->step[from].lane)
            all |= o->complete[k];
    return all;
}

/* All that an event stands for that is recorded in this lane after the step. The legacy stream waits for the other lanes, and they for it. */
static step_set complete_after(const struct program *p, const struct order *o, unsigned i, unsigned lane)
{
    step_set all = 0;
    unsigned k;

    for (k = 0; k <= i; k++)
        if (p->step[k].lane == lane || (p->legacy && (p->step[k].lane == 0 || lane == 0)))
            all |= o->complete[k];
    return all;
}

static void find_order(const struct program *p, struct order *o)
{
    unsigned i, l;

    memset(o, 0, sizeof(*o));
    for (i = 0; i < p->steps; i++) {
        step_set by_wait = 0;
        for (l = 0; l < p->links; l++) {
            const struct link *link = &p->link[l];
            if (link->to != i)
                continue;
            if (link->kind == LINK_FULL)
                o->before[i] |= p->streams ? lane_until(p, o, link->from) : o->complete[link->from];
            else if (link->kind != LINK_LAUNCH)
                by_wait |= o->complete[link->from];
        }
        if (p->streams)
            order_lane(p, o, i, &by_wait);
        o->complete[i] = bit(i) | o->before[i] | later_part(&p->step[i], by_wait);
    }
}

static int is_direct(const struct program *p, unsigned from, unsigned to)
{
    return program_is_linked(p, from, to) || (p->streams && from + 1 == to);
}

int program_is_root(const struct program *p, unsigned step)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].to == step)
            return 0;
    return 1;
}

unsigned program_next_in_lane(const struct program *p, unsigned step)
{
    unsigned i;

    for (i = step + 1; i < p->steps; i++)
        if (p->step[i].lane == p->step[step].lane)
            return i;
    return PROGRAM_STEPS;
}

int program_leads_on_early(const struct program *p, unsigned i)
{
    unsigned next = program_next_in_lane(p, i);

    return next != PROGRAM_STEPS && p->step[next].attribute;
}

/* The steps that come before this one by an edge, or by edges through steps that are no kernels. In a lane: by the order of it. */
static step_set direct_or_through(const struct program *p, unsigned to, const step_set *through)
{
    step_set set = 0;
    unsigned k;

    for (k = 0; k < to; k++)
        if (is_direct(p, k, to) || (p->streams && p->step[k].lane == p->step[to].lane && program_next_in_lane(p, k) == to))
            set |= bit(k) | (p->step[k].kind == STEP_KERNEL ? 0 : through[k]);
    return set;
}

void program_add_read(struct step *step, unsigned from)
{
    unsigned i;

    for (i = 0; i < step->reads; i++)
        if (step->read[i] == from)
            return;
    if (step->reads < PROGRAM_READS)
        step->read[step->reads++] = from;
}

/* A memset reads nothing, a host step no words; what has no words cannot be read. Copies from the host that only the legacy stream's order puts
 * after what writes their source are asked by rule COMP-06c alone: a driver is known that reads the source before. */
static int may_read(const struct program *p, unsigned reader, unsigned from)
{
    if (p->legacy && p->step[reader].kind == STEP_COPY && program_is_on_host(&p->step[from]) && p->step[reader].lane != p->step[from].lane)
        return 0;
    if (p->step[from].kind == STEP_EMPTY || p->step[from].kind == STEP_RECORD)
        return 0;
    if (p->step[reader].kind == STEP_HOST)
        return p->step[from].kind == STEP_KERNEL;
    return p->step[reader].kind == STEP_KERNEL || p->step[reader].kind == STEP_COPY;
}

/* May `to` begin only when all blocks of `from` have triggered, all of them triggering at their end or not at all? */
static int begins_at_end(const struct program *p, unsigned from, enum link_kind kind)
{
    return kind == LINK_FULL || (kind == LINK_TRIGGER && !(p->step[from].flags & STEP_TRIGGERS_FIRST));
}

void program_add_watch(struct program *p, unsigned from, unsigned to)
{
    struct step *step = &p->step[from];

    if (step->kind == STEP_KERNEL && p->step[to].kind <= STEP_COPY && !program_is_on_host(&p->step[to]) && step->watches < PROGRAM_WATCHES)
        step->watch[step->watches++] = to;
}

static void find_watches(struct program *p, const struct order *order, const step_set *through)
{
    unsigned i, k, l, next;

    for (i = 0; i < p->steps; i++)
        p->step[i].watches = 0;
    for (l = 0; l < p->links; l++)
        if (begins_at_end(p, p->link[l].from, p->link[l].kind))
            program_add_watch(p, p->link[l].from, p->link[l].to);
    for (i = 0; p->streams && i < p->steps; i++) {
        next = program_next_in_lane(p, i);
        if (next != PROGRAM_STEPS && begins_at_end(p, i, p->step[next].kind == STEP_KERNEL && p->step[next].attribute ? LINK_TRIGGER : LINK_FULL))
            program_add_watch(p, i, next);
    }
    for (i = 0; i < p->steps; i++) /* after other steps: complete before this one begins */
        for (k = i; k-- > 0;)
            if ((p->streams ? order->before[i] : through[i] & order->before[i]) & bit(k) && !is_direct(p, k, i))
                program_add_watch(p, k, i);
}

void program_entitle(struct program *p, struct dice *dice)
{
    struct order order;
    step_set through[PROGRAM_STEPS];
    unsigned i, k, n;

    find_order(p, &order);
    for (i = 0; i < p->steps; i++) {
        struct step *step = &p->step[i];
        through[i] = direct_or_through(p, i, through);
        step_set visible = order.complete[i] & ~bit(i);
        step->reads = 0;
        step->before = order.before[i];
        for (k = 0; k < PROGRAM_LANES; k++)
            step->after[k] = complete_after(p, &order, i, k);
        for (k = i; k-- > 0;)
            if ((visible & bit(k)) && is_direct(p, k, i) && may_read(p, i, k))
                program_add_read(step, k);
        for (k = i; k-- > 0;)
            if ((visible & through[i] & bit(k)) && may_read(p, i, k))
                program_add_read(step, k);
        for (n = 0; n < 2 * PROGRAM_READS && i > 0; n++) {
            k = dice_below(dice, i);
            if ((visible & bit(k)) && may_read(p, i, k))
                program_add_read(step, k);
        }
        if (step->kind == STEP_COPY) /* of what it may read, or of what the host gives */
            step->reads = step->reads != 0 && dice_below(dice, 4) != 0;
    }
    find_watches(p, &order, through);
}
