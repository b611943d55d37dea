/* program_deep.c - more launches in a row than a launch queue holds: four steps in turn, each reads what the others have left. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "try.h"

#define DEEP 1100u             /* a queue of 1,024 launches is known */
#define ALIKE 8u               /* so many with the attribute, which wait, then so many without, which do not */
#define STEPS 4u

static void draw(struct program *p)
{
    unsigned i, k;

    memset(p, 0, sizeof(*p));
    p->streams = 1;
    p->steps = STEPS;
    for (i = 0; i < STEPS; i++) {
        struct step *step = &p->step[i];
        step->grid[0] = step->grid[1] = step->grid[2] = step->block[1] = step->block[2] = 1;
        step->cluster[0] = step->cluster[1] = step->cluster[2] = 1;
        step->block[0] = 2;
        step->attribute = i < 2;
        step->flags = STEP_TRIGGERS_FIRST | (step->attribute ? STEP_WAITS : 0);
        step->hold_ns = 64;
        for (k = 0; k < STEPS; k++)
            if (k != i)
                step->read[step->reads++] = k;
    }
}

static unsigned nth_step(unsigned n) { return n / ALIKE % 2 * 2 + n % 2; }

static cudaError_t launch_all(struct made *made)
{
    unsigned n;

    TRY(program_prepare(made));
    for (n = 0; n < DEEP; n++)
        TRY(program_launch_step(made, nth_step(n), made->room->stream, NULL, LINK_FULL, NULL));
    return cudaStreamSynchronize(made->room->stream);
}

static int is_right(const struct made *made)
{
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[STEPS][PROGRAM_WORDS];
    unsigned i, w, n;

    for (i = 0; i < STEPS; i++)
        for (w = 0; w < PROGRAM_WORDS; w++)
            want[i][w] = program_poison(made->room->key, i);
    for (n = 0; n < DEEP; n++)
        program_expect_step(made->program, nth_step(n), made->room->key, want);
    return cudaMemcpy(got, made->room->data, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess && memcmp(got, want, sizeof(got)) == 0;
}

void program_ask_depth(struct ask *ask, struct program_room *room)
{
    static struct program p;
    struct made made;
    cudaError_t error;

    draw(&p);
    memset(&made, 0, sizeof(made));
    made.program = &p;
    made.room = room;
    made.dice.state = ask->seed;
    error = launch_all(&made);
    ask_expect(ask, "more launches than a queue holds", error, cudaSuccess);
    ask_expect_none(ask, "chains of launches that end with other words", error == cudaSuccess && !is_right(&made), 1);
}
