/* program_deep.c - rows of steps that are longer than programs: each step reads what the others have left.
 *
 * launches   more launches than a launch queue holds, of four kernels in turn, by each call, in a stream of some kind; fewer in those of
 *            the others
 * moves      after a kernel that holds, many copies and memsets in a row, each of what the one before it wrote
 */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "try.h"

#define DEEP 1100u             /* a queue of 1,024 launches is known */
#define PART 48u               /* launches of a row in streams of other kinds */
#define ALIKE 8u               /* so many with the attribute, which wait, then so many without, which do not */
#define KERNELS 4u
#define MOVES_HOLD_NS 2000000u /* longer than the host takes for a row */

static void draw_kernel(struct program *p, unsigned i, unsigned others, uint32_t hold_ns)
{
    struct step *step = &p->step[i];
    unsigned k;

    step->grid[0] = step->grid[1] = step->grid[2] = step->block[1] = step->block[2] = 1;
    step->cluster[0] = step->cluster[1] = step->cluster[2] = 1;
    step->block[0] = 2;
    step->flags = STEP_TRIGGERS_FIRST;
    step->hold_ns = hold_ns;
    for (k = 0; k < others; k++)
        if (k != i)
            step->read[step->reads++] = k;
}

static void draw_launches(struct program *p)
{
    unsigned i;

    p->steps = KERNELS;
    for (i = 0; i < KERNELS; i++) {
        draw_kernel(p, i, KERNELS, 64);
        p->step[i].attribute = i < 2;
        p->step[i].flags |= p->step[i].attribute ? STEP_WAITS : 0;
    }
}

static unsigned nth_launch(unsigned n) { return n / ALIKE % 2 * 2 + n % 2; }

/* A row is a kernel, copies of its words from place to place with a memset now and then, and a last copy, which nothing writes again. */
enum move { MOVE_KERNEL, MOVE_OUT, MOVE_BACK, MOVE_SET, MOVE_LAST, MOVE_STEPS };
static const unsigned row_lengths[] = { 10, 20, 40, 80, 300 };
#define ALL_MOVES 450u         /* of all rows */

static void draw_moves(struct program *p)
{
    static const unsigned from[MOVE_STEPS] = { 0, MOVE_KERNEL, MOVE_OUT, 0, MOVE_BACK };
    unsigned i;

    p->steps = MOVE_STEPS;
    draw_kernel(p, MOVE_KERNEL, MOVE_STEPS, MOVES_HOLD_NS);
    for (i = MOVE_OUT; i < MOVE_STEPS; i++) {
        struct step *step = &p->step[i];
        step->kind = i == MOVE_SET ? STEP_SET : STEP_COPY;
        step->element = 4;
        step->bytes = PROGRAM_WORDS * (unsigned)sizeof(uint32_t);
        step->rows = 1;
        step->reads = i != MOVE_SET;
        step->read[0] = from[i];
    }
}

static unsigned nth_move(unsigned n)
{
    unsigned row = 0;

    for (; n >= row_lengths[row]; row++)
        n -= row_lengths[row];
    if (n == 0 || n + 1 == row_lengths[row])
        return n == 0 ? MOVE_KERNEL : MOVE_LAST;
    return n % 5 == 0 ? MOVE_SET : n % 2 ? MOVE_OUT : MOVE_BACK;
}

/* ---- any of them ---- */

static const struct line {
    void (*draw)(struct program *p);
    unsigned (*nth)(unsigned n);
    unsigned count, part; /* part: in streams of the other kinds; 0: in a plain one only */
    const char *launches, *wrong;
} lines[] = {
    { draw_launches, nth_launch, DEEP, PART,
      "more launches than a queue holds", "chains of launches that end with other words" },
    { draw_moves, nth_move, ALL_MOVES, 0,
      "rows of copies and memsets after kernels", "rows of copies and memsets that end with other words" },
};

enum kind { KIND_PLAIN, KIND_BLOCKING, KIND_URGENT, KIND_PER_THREAD, KIND_LEGACY, KINDS };

static cudaStream_t stream_of(const struct program_room *room, enum kind kind)
{
    return kind == KIND_BLOCKING ? room->blocking : kind == KIND_URGENT ? room->urgent : kind == KIND_PER_THREAD ? cudaStreamPerThread
           : kind == KIND_LEGACY ? cudaStreamLegacy : room->stream;
}

/* The first so many of the line. */
static cudaError_t launch_all(struct made *made, const struct line *line, unsigned count, cudaStream_t stream)
{
    unsigned n;

    TRY(program_prepare(made));
    for (n = 0; n < count; n++)
        TRY(program_launch_step(made, line->nth(n), stream, NULL, LINK_FULL, &made->dice));
    return cudaStreamSynchronize(stream);
}

static int is_right(const struct made *made, const struct line *line, unsigned count)
{
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i, w, n, steps = made->program->steps;

    for (i = 0; i < steps; i++)
        for (w = 0; w < PROGRAM_WORDS; w++)
            want[i][w] = program_poison(made->room->key, i);
    for (n = 0; n < count; n++)
        program_expect_step(made->program, line->nth(n), made->room->key, want);
    return cudaMemcpy(got, made->room->data, steps * sizeof(got[0]), cudaMemcpyDeviceToHost) == cudaSuccess &&
           memcmp(got, want, steps * sizeof(got[0])) == 0;
}

/* The whole line in a stream of one kind, and the first part of it in each of the others. */
static void ask_line(struct ask *ask, struct program_room *room, const struct line *line)
{
    static struct program p;
    struct made made = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned kind, deep, wrong = 0, rows = 0;

    memset(&p, 0, sizeof(p));
    p.streams = 1;
    line->draw(&p);
    made.program = &p;
    made.room = room;
    made.dice.state = ask->seed;
    deep = line->part ? dice_below(&made.dice, KINDS) : KIND_PLAIN;
    for (kind = 0; kind < KINDS && error == cudaSuccess; kind++) {
        unsigned count = kind == deep ? line->count : line->part;
        if (count == 0)
            continue;
        error = launch_all(&made, line, count, stream_of(room, (enum kind)kind));
        wrong += error == cudaSuccess && !is_right(&made, line, count);
        rows++;
    }
    ask_expect(ask, line->launches, error, cudaSuccess);
    ask_expect_none(ask, line->wrong, wrong, rows);
}

void program_ask_depth(struct ask *ask, struct program_room *room)
{
    unsigned i;

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ask_line(ask, room, &lines[i]);
}
