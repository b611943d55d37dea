/* program_draw.c - draws programs, and makes them smaller. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "../edges.h"
#include "program_rows.h"

uint64_t dice_roll(struct dice *dice)
{
    uint64_t z = dice->state += 0x9E3779B97F4A7C15ull;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

unsigned dice_below(struct dice *dice, unsigned n) { return (unsigned)((dice_roll(dice) >> 32) * n >> 32); }

static int one_in(struct dice *dice, unsigned n) { return dice_below(dice, n) == 0; }

cudaGraphEdgeData program_edge(enum link_kind kind)
{
    static const unsigned rows[LINK_KINDS - 1][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 } };

    return kind == LINK_LAUNCH ? edges_completion() : edges_data(rows[kind][0], rows[kind][1], rows[kind][2]);
}

/* ---- one step: its launch comes from the covering array of rules.toml, the rest from the dice ---- */

/* Now and then half of the blocks, or a quarter, stands along one other axis, or along two. */
static void spread_grid(struct step *step, struct dice *dice, unsigned along)
{
    unsigned axis;

    for (axis = 0; axis < 3; axis++)
        if (axis != along && step->grid[along] > 1 && one_in(dice, 3)) {
            step->grid[axis] = 2;
            step->grid[along] /= 2;
        }
}

static void draw_grid(struct step *step, struct dice *dice, const struct program_size *size, unsigned value)
{
    unsigned blocks = 1 + dice_below(dice, size->blocks), along = value == GRID_Y ? 1 : value == GRID_Z ? 2 : 0;

    step->grid[0] = step->grid[1] = step->grid[2] = 1;
    if (value == GRID_ONE)
        return;
    step->grid[along] = value == GRID_MANY ? size->many_blocks + dice_below(dice, size->many_blocks) : blocks;
    spread_grid(step, dice, along);
    if (value == GRID_MANY && size->most_blocks && one_in(dice, 64)) {
        step->grid[0] = size->most_blocks; /* more than two bytes count */
        step->grid[1] = step->grid[2] = 1;
    }
}

/* Blocks of one, two or three dimensions. */
static void draw_block(struct step *step, struct dice *dice, unsigned threads)
{
    unsigned y = 1u << dice_below(dice, 3), z = 1u << dice_below(dice, 2), flat = one_in(dice, 2) || y * z > threads;

    step->block[0] = flat ? threads : threads / (y * z);
    step->block[1] = flat ? 1 : y;
    step->block[2] = flat ? 1 : z;
}

/* Along one axis, the grid's longest or another one that is long enough; the grid is made to hold whole ones. */
static void draw_cluster(struct step *step, struct dice *dice, unsigned blocks)
{
    unsigned along = dice_below(dice, 3), axis;

    for (axis = 0; axis < 3 && step->grid[along] < blocks; axis++)
        if (step->grid[axis] > step->grid[along])
            along = axis;
    step->cluster[0] = step->cluster[1] = step->cluster[2] = 1;
    step->cluster[along] = blocks;
    step->grid[along] = (step->grid[along] + blocks - 1) / blocks * blocks;
}

unsigned program_product(const unsigned n[3]) { return n[0] * n[1] * n[2]; }

static void draw_launch(struct step *step, struct dice *dice, const struct program_size *size, const unsigned char *row)
{
    unsigned cluster = row_cluster(row);
    int cooperative = row[AXIS_COOPERATIVE] == COOPERATIVE_YES; /* then all of it has to fit at once */

    draw_grid(step, dice, size, cooperative && row[AXIS_GRID] == GRID_MANY ? GRID_X : row[AXIS_GRID]);
    draw_block(step, dice, row[AXIS_THREADS] == THREADS_WARP ? size->threads / 4 : row[AXIS_THREADS] == THREADS_MOST ? size->threads
                                                  : 1 + dice_below(dice, 1 + dice_below(dice, size->threads))); /* often few */
    draw_cluster(step, dice, cluster > size->clusters ? size->clusters : cluster);
    step->kernel = row_kernel(row);
    step->more = size->more[step->kernel];
    step->carveout = size->carveouts ? row_carveout(row) : NO_CARVEOUT;
    step->event = row[AXIS_EVENT];
    step->cooperative = cooperative;
    step->urgent = row[AXIS_PRIORITY] == PRIORITY_HIGH;
    step->domain = row[AXIS_DOMAIN] == DOMAIN_REMOTE;
    step->attribute = row[AXIS_ATTRIBUTE] == ATTRIBUTE_ON;
    step->shared_bytes = row[AXIS_SHARED] == SHARED_NONE ? 0 : row[AXIS_SHARED] == SHARED_SOME || cooperative ? 1024 : size->shared_bytes;
    if (cooperative && program_product(step->grid) > size->blocks)
        memcpy(step->grid, step->cluster, sizeof(step->grid));
    step->flags = row_trigger(row) | (row[AXIS_WAIT] == WAIT_YES ? STEP_WAITS : 0);
    step->flags |= one_in(dice, 2) ? STEP_TRIGGERS_ALL : 0;
    step->flags |= (step->flags & STEP_WAITS) && one_in(dice, 2) ? STEP_READS_EARLY : 0;
    step->flags |= one_in(dice, 4) ? STEP_LAST_LEADS : 0;
    step->flags |= (one_in(dice, 8) ? STEP_SAYS_TWICE : 0) | (one_in(dice, 4) ? STEP_IDLE_BLOCKS : 0);
    step->flags |= one_in(dice, 4) ? STEP_LEAVES_FIRST : one_in(dice, 4) ? STEP_LEAVES_LATE : 0;
    step->hold_ns = size->hold_ns / 4 + dice_below(dice, size->hold_ns);
}

void program_draw_launch(struct step *step, struct dice *dice, const struct program_size *size, unsigned number)
{
    memset(step, 0, sizeof(*step));
    step->row = number % KIT_AXIS_ROWS;
    draw_launch(step, dice, size, kit_axis_rows[step->row]);
}

#define DRAWN_KINDS (STEP_EMPTY + 1u)

/* What a program has much of, so that rows of steps of one kind, and nodes with many full edges, are drawn as well. */
struct flavour {
    enum step_kind kind;       /* STEP_KERNEL: no other kind is favoured */
    int full_edges;            /* all edges are full */
    unsigned fan_in;           /* most edges into a step */
    int row;                   /* each step comes after the one before it, and nothing else orders them */
    int loose;                 /* most kernels overlap what comes before them, and wait for none of it */
    int around;                /* every third step is a kernel between steps of the kinds that its row says */
};

static struct flavour draw_flavour(struct dice *dice, const struct program_size *size)
{
    struct flavour flavour = { STEP_KERNEL, 0, 3, 0, 0, 0 };

    if (size->programmatic)
        return flavour;
    flavour.kind = one_in(dice, 2) ? (enum step_kind)dice_below(dice, DRAWN_KINDS) : STEP_KERNEL;
    flavour.full_edges = one_in(dice, 3);
    flavour.fan_in = one_in(dice, flavour.full_edges ? 2 : 4) ? 8 : 3;
    flavour.row = one_in(dice, 2);
    flavour.loose = one_in(dice, 5);
    flavour.around = !flavour.loose && one_in(dice, 3);
    if (flavour.loose)
        flavour.kind = STEP_KERNEL;
    if (flavour.loose || flavour.around)
        flavour.row = 0;
    return flavour;
}

/* Which bytes of its words a memset or a copy writes: mostly all; or some, at odd places; or, of a memset, those of several rows. */
static void draw_bytes(struct step *step, struct dice *dice)
{
    unsigned unit = step->kind == STEP_SET ? 1u << dice_below(dice, 3) : 1;

    step->element = unit;
    step->begin = step->source = 0;
    step->uneven = one_in(dice, 4);
    step->to_host = one_in(dice, 4);
    step->rows = step->kind == STEP_SET && one_in(dice, 8) ? 2 + dice_below(dice, 3) : 1;
    step->pitch = (unsigned)STEP_BYTES / (step->rows == 3 ? 4 : step->rows);
    step->bytes = step->rows > 1 ? step->pitch / 2 : step->pitch;
    if (dice_below(dice, 3))
        return;
    step->begin = dice_below(dice, 8) / unit * unit;
    step->source = dice_below(dice, 8);
    if (step->rows > 1) {
        step->bytes = unit + dice_below(dice, step->pitch / 2) / unit * unit;
        step->pitch -= unit;
    } else if (step->kind == STEP_SET && one_in(dice, 4)) {
        step->begin = step->begin / 4 * 4;
        step->bytes = 4; /* one word */
    } else {
        step->bytes = (unsigned)STEP_BYTES - 8 - dice_below(dice, 56) / unit * unit;
    }
}

/* Of the kinds that are no kernels the last one stands for all three that move nothing. */
static enum step_kind draw_kind(struct dice *dice, enum step_kind kind)
{
    static const enum step_kind still[] = { STEP_EMPTY, STEP_RECORD, STEP_AWAIT };

    return kind == STEP_EMPTY ? still[dice_below(dice, 3)] : kind;
}

enum seat { SEAT_BEFORE, SEAT_KERNEL, SEAT_AFTER, SEATS };

/* Of the kind that the row of the kernel says which stands after the step, or before it. */
static void seat_step(struct step *step, struct dice *dice, unsigned number, enum seat seat)
{
    const unsigned char *row = kit_axis_rows[(number + SEAT_KERNEL - seat) % KIT_AXIS_ROWS];
    unsigned axis = seat == SEAT_BEFORE ? AXIS_BEFORE : AXIS_AFTER;

    step->kind = seat == SEAT_KERNEL ? STEP_KERNEL : row_kind(row, axis);
    draw_bytes(step, dice);
    if (seat != SEAT_KERNEL)
        step->to_host = row_to_host(row, axis);
}

static void draw_step(struct step *step, struct dice *dice, const struct program_size *size, unsigned number, const struct flavour *flavour)
{
    program_draw_launch(step, dice, size, number);
    step->kind = flavour->kind != STEP_KERNEL && one_in(dice, 2) ? flavour->kind
                 : one_in(dice, flavour->row ? 2 : 4) ? (enum step_kind)dice_below(dice, DRAWN_KINDS) : STEP_KERNEL;
    step->kind = draw_kind(dice, step->kind);
    if (flavour->loose && dice_below(dice, 4)) {
        step->flags = (step->flags & ~(STEP_WAITS | STEP_READS_EARLY | STEP_TRIGGERS_LATE)) | STEP_TRIGGERS_FIRST;
        step->attribute = 1;
        step->hold_ns *= one_in(dice, 3) ? 4 : 1;
    }
    draw_bytes(step, dice);
}

int program_is_linked(const struct program *p, unsigned from, unsigned to)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].from == from && p->link[l].to == to)
            return 1;
    return 0;
}

static void add_link(struct program *p, unsigned from, unsigned to, enum link_kind kind)
{
    if (p->links == PROGRAM_LINKS || program_is_linked(p, from, to))
        return;
    p->link[p->links].from = from;
    p->link[p->links].to = to;
    p->link[p->links++].kind = kind;
}

static unsigned draw_steps(struct dice *dice) { return one_in(dice, 64) ? PROGRAM_STEPS : 2 + dice_below(dice, one_in(dice, 4) ? 20 : 6); }

/* Each step after the one before it, by a full edge. If one edge is lost, nothing else orders the two parts of the row. */
static void draw_row(struct program *p, struct dice *dice)
{
    unsigned to;

    p->steps = 4 + dice_below(dice, 5);
    for (to = 1; to < p->steps; to++)
        add_link(p, to - 1, to, LINK_FULL);
}

/* Of two neighbours every pair of kinds is as likely. */
static void draw_pair(struct program *p, struct dice *dice)
{
    unsigned pair = dice_below(dice, STEP_KINDS * STEP_KINDS), at = 1 + dice_below(dice, p->steps - 3), i;

    for (i = 0; i < 2; i++) {
        p->step[at + i].kind = (enum step_kind)(i ? pair % STEP_KINDS : pair / STEP_KINDS);
        draw_bytes(&p->step[at + i], dice);
    }
}

static void draw_links(struct program *p, struct dice *dice, unsigned to, const struct flavour *flavour)
{
    unsigned most = one_in(dice, 6) ? 8 : flavour->fan_in, n;
    unsigned links = to == 0 || one_in(dice, 8) ? 0 : flavour->fan_in == 3 && dice_below(dice, 2) ? 1 : 1 + dice_below(dice, most);

    for (n = 0; n < links; n++) {
        unsigned reach = to < 4 || most == 8 || one_in(dice, 4) ? to : 4, from = to - 1 - dice_below(dice, reach);
        int kernels = p->step[from].kind == STEP_KERNEL && p->step[to].kind == STEP_KERNEL && !flavour->full_edges;
        add_link(p, from, to, kernels && dice_below(dice, 3) ? (enum link_kind)(1 + dice_below(dice, one_in(dice, 8) ? 3 : 2)) : LINK_FULL);
    }
}

/* Directly after the step before it; now and then after others, too. */
static void draw_neighbour(struct program *p, struct dice *dice, unsigned to, const struct flavour *flavour)
{
    int kernels = p->step[to - 1].kind == STEP_KERNEL && p->step[to].kind == STEP_KERNEL && !flavour->full_edges;

    add_link(p, to - 1, to, kernels && one_in(dice, 2) ? (enum link_kind)(1 + dice_below(dice, 2)) : LINK_FULL);
    if (one_in(dice, 4))
        draw_links(p, dice, to, flavour);
}

/* All steps but one come after that one, or it comes after all of them. */
static void draw_fan(struct program *p, struct dice *dice)
{
    unsigned i, out = dice_below(dice, 2);

    for (i = 1; i < p->steps; i++)
        add_link(p, out ? 0 : i - 1, out ? i : p->steps - 1, LINK_FULL);
}

void program_draw_graph(struct program *p, struct dice *dice, const struct program_size *size, unsigned number)
{
    struct flavour flavour = draw_flavour(dice, size);
    int fan = !size->programmatic && one_in(dice, 32);
    unsigned to;

    memset(p, 0, sizeof(*p));
    p->steps = draw_steps(dice);
    if (flavour.fan_in > 3 && p->steps < 6)
        p->steps += 5; /* room for many edges into one */
    if (fan)
        p->steps = PROGRAM_STEPS / 2 + dice_below(dice, PROGRAM_STEPS / 2);
    if (fan)
        draw_fan(p, dice);
    else if (flavour.row)
        draw_row(p, dice);
    else if (flavour.around)
        p->steps = SEATS * (1 + dice_below(dice, 4));
    for (to = 0; to < p->steps; to++) {
        draw_step(&p->step[to], dice, size, number * 7 + to, &flavour);
        if (!fan && flavour.around)
            seat_step(&p->step[to], dice, number * 7 + to, (enum seat)(to % SEATS));
        if (!fan && flavour.around && to % SEATS != SEAT_BEFORE)
            draw_neighbour(p, dice, to, &flavour);
        else if (!fan && !flavour.row)
            draw_links(p, dice, to, &flavour);
    }
    if (!fan && flavour.row)
        draw_pair(p, dice);
    program_entitle(p, dice);
}

/* A launch records one programmatic event: every waiter of it has the same kind. */
static enum link_kind event_of_launch(const struct program *p, unsigned from, struct dice *dice)
{
    unsigned l;

    for (l = 0; l < p->links; l++)
        if (p->link[l].from == from && p->link[l].kind != LINK_FULL)
            return p->link[l].kind;
    if (p->step[from].event == EVENT_TRIGGER || p->step[from].event == EVENT_START)
        return p->step[from].event == EVENT_TRIGGER ? LINK_TRIGGER : LINK_START;
    return dice_below(dice, 2) ? LINK_TRIGGER : LINK_START;
}

/* The last step of a lane, or now and then an earlier one: the wait for its event is called once the lane was given more. */
static unsigned draw_recorded(const struct program *p, struct dice *dice, unsigned last)
{
    unsigned i;

    if (dice_below(dice, 3))
        return last;
    for (i = last; i-- > 0;)
        if (p->step[i].lane == p->step[last].lane && one_in(dice, 2))
            return i;
    return last;
}

/* The events that a step waits for: of the first lane where its own lane begins, and now and then of any other. */
static void draw_events(struct program *p, struct dice *dice, unsigned i, const unsigned *last, const struct flavour *flavour)
{
    struct step *step = &p->step[i];
    unsigned other;

    for (other = 0; other < PROGRAM_LANES; other++) {
        int begins = last[step->lane] == PROGRAM_STEPS && other == 0;
        unsigned from;
        int early;
        if (other == step->lane || last[other] == PROGRAM_STEPS || (!begins && !one_in(dice, flavour->fan_in > 3 ? 2 : 4)))
            continue;
        from = draw_recorded(p, dice, last[other]);
        early = p->step[from].kind == STEP_KERNEL && step->kind == STEP_KERNEL && !flavour->full_edges &&
                dice_below(dice, flavour->fan_in > 3 ? 4 : 2);
        if (early && one_in(dice, 2)) /* an event that is complete too early shows in blocks that trigger late */
            p->step[from].flags = (p->step[from].flags & ~STEP_TRIGGERS_FIRST) | STEP_TRIGGERS_LATE;
        add_link(p, from, i, early ? event_of_launch(p, from, dice) : LINK_FULL);
        step->attribute = 0; /* what the attribute means after an event is an open question */
    }
}

static int others_between(const struct program *p, unsigned i, unsigned last)
{
    while (i-- > 0 && i != last)
        if ((p->step[i].lane == 0) != (p->step[i + 1].lane == 0))
            return 1;
    return 0;
}

/* Several lanes, each in a stream of its own; events lead from one to another. */
void program_draw_stream(struct program *p, struct dice *dice, const struct program_size *size, unsigned number)
{
    struct flavour flavour = draw_flavour(dice, size);
    int forks = one_in(dice, 2), legacy = one_in(dice, 3);
    unsigned i, last[PROGRAM_LANES];

    memset(p, 0, sizeof(*p));
    p->streams = 1;
    p->legacy = forks && legacy && !size->programmatic;
    p->steps = flavour.around ? SEATS * (1 + dice_below(dice, 4)) : draw_steps(dice);
    for (i = 0; i < PROGRAM_LANES; i++)
        last[i] = PROGRAM_STEPS;
    for (i = 0; i < p->steps; i++) {
        struct step *step = &p->step[i];
        int seated = flavour.around && i % SEATS != SEAT_BEFORE; /* directly after the step before it */
        draw_step(step, dice, size, number * 7 + i, &flavour);
        if (flavour.around)
            seat_step(step, dice, number * 7 + i, (enum seat)(i % SEATS));
        step->lane = seated ? p->step[i - 1].lane : forks && i > 0 ? dice_below(dice, PROGRAM_LANES) : 0;
        if (step->kind >= STEP_EMPTY)
            step->kind = STEP_SET; /* a stream has no empty node */
        step->uneven = 0;          /* nor a memset of more than a byte at a time */
        if (!seated)
            draw_events(p, dice, i, last, &flavour);
        /* It might begin before the item, fill the device and wait for an item that waits for another lane: a legal deadlock. */
        if (forks && last[step->lane] != PROGRAM_STEPS && p->step[last[step->lane]].kind != STEP_KERNEL)
            step->attribute = 0;
        if (p->legacy && others_between(p, i, last[step->lane]))
            step->attribute = 0; /* what it means after work that the stream waits for unasked is an open question */
        last[step->lane] = i;
    }
    program_entitle(p, dice);
}

/* ---- smaller programs ---- */

void program_without_link(struct program *p, unsigned link)
{
    memmove(&p->link[link], &p->link[link + 1], (p->links - link - 1) * sizeof(p->link[0]));
    p->links--;
}

void program_without_step(struct program *p, unsigned step)
{
    unsigned l;

    for (l = p->links; l-- > 0;) {
        if (p->link[l].from == step || p->link[l].to == step) {
            program_without_link(p, l);
            continue;
        }
        p->link[l].from -= p->link[l].from > step;
        p->link[l].to -= p->link[l].to > step;
    }
    memmove(&p->step[step], &p->step[step + 1], (p->steps - step - 1) * sizeof(p->step[0]));
    p->steps--;
}

static void append(char *text, size_t room, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, room - used, "%s", more);
}

#define TOLD_WHOLE 8u          /* of programs of so many steps it is told how each is launched, and what it reads */

/* How a kernel is launched. */
static void append_launch(const struct program *p, const struct step *step, char *text, size_t room)
{
    static const char *const events[] = { "none", "trigger", "start", "launch" };
    char part[192];

    snprintf(part, sizeof(part), "%s blocks %u threads %u cluster %u shared %u arguments %u%s%s%s",
             step->flags & STEP_TRIGGERS_FIRST ? " first" : step->flags & STEP_TRIGGERS_LATE ? " late" : "", program_product(step->grid),
             program_product(step->block), program_product(step->cluster), step->shared_bytes, step->more, step->cooperative ? " cooperative" : "",
             step->urgent ? " urgent" : "", step->domain ? " remote" : "");
    append(text, room, part);
    if (p->streams && step->carveout != NO_CARVEOUT) {
        snprintf(part, sizeof(part), " carveout %u", step->carveout);
        append(text, room, part);
    }
    if (p->streams) {
        snprintf(part, sizeof(part), " event %s", events[step->event]);
        append(text, room, part);
    }
}

static void append_reads(const struct step *step, char *text, size_t room)
{
    char part[16];
    unsigned i;

    for (i = 0; i < step->reads; i++) {
        snprintf(part, sizeof(part), "%s %u", i ? "" : " reads", step->read[i]);
        append(text, room, part);
    }
}

/* in_stream: it is launched in a stream, not by a graph. */
static void append_step(const struct program *p, unsigned i, int in_stream, char *text, size_t room)
{
    static const char *const kinds[STEP_KINDS] = { "kernel", "memset", "copy", "host", "empty", "record", "await" };
    const struct step *step = &p->step[i];
    char part[96];

    snprintf(part, sizeof(part), "%u %s%s%s%s%s", i, kinds[step->kind],
             step->kind == STEP_COPY && step->to_host ? " to the host" : "",
             step->kind == STEP_KERNEL && (step->flags & STEP_WAITS) ? " waits" : "",
             step->kind == STEP_KERNEL && step->attribute && in_stream ? " attribute" : "",
             p->legacy && !step->lane ? " legacy" : !p->streams || !step->lane ? "" : step->lane == 1 ? " in lane 1" : " in lane 2");
    append(text, room, part);
    if (p->steps <= TOLD_WHOLE && step->kind == STEP_KERNEL)
        append_launch(p, step, text, room);
    if (p->steps <= TOLD_WHOLE)
        append_reads(step, text, room);
}

void program_text(const struct program *p, char *text, size_t room)
{
    char part[96];
    unsigned i;

    text[0] = '\0';
    for (i = 0; i < p->steps; i++) {
        append(text, room, i ? ", " : "");
        append_step(p, i, p->streams, text, room);
    }
    append(text, room, ";");
    for (i = 0; i < p->links; i++) {
        cudaGraphEdgeData data = program_edge(p->link[i].kind);
        snprintf(part, sizeof(part), " %u>%u:%u,%u,%u", p->link[i].from, p->link[i].to, data.from_port, data.to_port, data.type);
        append(text, room, part);
    }
}

void program_text_around(const struct made *made, char *text, size_t room)
{
    unsigned i;

    text[0] = '\0';
    for (i = made->behind_step; i < made->program->steps; i++) {
        append(text, room, i < made->before_step ? "; after the graph " : "; before the graph ");
        append_step(made->program, i, 1, text, room);
    }
}
