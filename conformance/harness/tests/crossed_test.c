/* crossed_test.c - what a trial of crossed_graphs.cu leaves in the cells is compared to the last byte, and counted where it belongs. */
#define PDL_MODEL 1
#define IMAGE_SUFFIX told
#define IMAGE_TAG "told"
#include "crossed_graphs.cu" /* whole: what compares is static */

#include "check.h"

#define TRIALS 40u

/* The cells of this test lie in the host's memory. */
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

static unsigned char *byte_of(struct crossed *c, unsigned cell, unsigned i)
{
    uint32_t *words = cell < CELLS && c->drawn.pinned[cell] ? c->pinned->cells[0][cell] : c->cells[0][cell];

    return (unsigned char *)words + i;
}

/* The first byte that is another one names its part; *missed counts those that do not. */
static void falsify_each(struct crossed *c, const struct expected *want, unsigned *missed)
{
    unsigned cell, i, part = 0;

    for (cell = 0; cell < ALL_CELLS; cell++)
        for (i = 0; i < CELL_BYTES; i++) {
            *byte_of(c, cell, i) ^= 1;
            *missed += find_too_soon(c, &part) != cudaSuccess || part != want->owner[cell][i] || part == PARTS;
            *byte_of(c, cell, i) ^= 1;
        }
    *missed += find_too_soon(c, &part) != cudaSuccess || part != PARTS;
}

static void compare_trials(struct crossed *c)
{
    static struct expected want;
    unsigned missed = 0, cell, i;

    for (c->trial = 0; c->trial < TRIALS; c->trial++) {
        struct dice dice = { c->trial };
        c->key = dice.state;
        draw_trial(&c->drawn, &dice, c->trial, 0);
        expect_cells(c, &want);
        for (cell = 0; cell < ALL_CELLS; cell++)
            for (i = 0; i < CELL_BYTES; i++)
                *byte_of(c, cell, i) = ((unsigned char *)want.cells[cell])[i];
        falsify_each(c, &want, &missed);
    }
    check(missed == 0, "a byte that is another one names the part that was too soon");
}

static void count_trials(struct crossed *c)
{
    struct tallies t = PDL_ZERO;
    struct ask ask = PDL_ZERO;
    struct dice dice = { 1 };
    const struct part *first = &c->drawn.part[0];

    c->ask = &ask;
    draw_trial(&c->drawn, &dice, 1, 0);
    judge_trial(c, &t, PARTS);
    check(t.wrong == 0 && t.unordered == 0 && !t.first[0], "none was too soon");
    judge_trial(c, &t, 0);
    judge_trial(c, &t, PARTS + 1);
    check(t.wrong == 2 && t.unordered == 1 && t.first[0], "a node, and the graph after the kernel before it");
    check(t.kind[first->kind].soon == 1 && t.place[place_of(&c->drawn, 0)].soon == 1, "the node by its kind and its place");
    check(t.made[c->drawn.made].soon == 2 && t.made[c->drawn.made].trials == 3, "both by how the graph was made");
    check(t.executable[c->drawn.executable].soon == 2 && t.street[c->drawn.street].soon == 2, "and by what was launched, and where");
}

int main(void)
{
    static uint32_t cells[2][ALL_CELLS][CELL];
    static struct crossed_pinned pinned;
    static struct crossed c;

    c.cells = cells;
    c.pinned = &pinned;
    compare_trials(&c);
    count_trials(&c);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
