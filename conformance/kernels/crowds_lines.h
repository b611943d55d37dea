/* crowds_lines.h - what crowds.cu asks of lines that a grid has read through the read-only path: words come, by a copy or a kernel, and a grid
 * reads them; then other words come, and a grid of each kind, launched in each way, reads those. */
#ifndef CROWDS_LINES_H_INCLUDED
#define CROWDS_LINES_H_INCLUDED

#define LINES_ROUNDS 8u

/* Writer, reader, writer, reader: as the first one of a row, and as the ordinary last one, which then knows of the first one's words only. */
static void draw_lines(struct shapes *s)
{
    struct shaped_row *row = &s->row;
    uint64_t state = s->ask->seed * 1000003 + s->trial;
    unsigned round = s->trial / SHAPED_DRESSES, i, copies;

    row->way = (enum shaped_way)(round % (has_conditions() ? 5 : 3));
    row->reads_lines = 1;
    row->asks = 0;
    row->by_thread = draws(&state, 4) == 0;
    row->stream = s->stream[draws(&state, row->way == SHAPED_LAUNCHED ? 4 : 3)];
    copies = row->way < SHAPED_IN_BODY && (draws(&state, 2) || round < 4); /* a body takes no copies from the host */
    for (i = 0; i < SHAPED; i++) {
        struct shaped_launch *launch = &row->launch[i];
        struct shaped_args *args = &launch->args;

        draw_launch(s, launch, i % 2 ? SHAPED - 1 : 0, (i == 3 ? s->trial : draws(&state, SHAPED_DRESSES)) % shaped_dresses(row), &state);
        if (i > 1) /* the keys are those of the other plan */
            args->plan = (const struct trial_plan *)((const char *)args->plan + offsetof(struct shaped_room, again));
        args->first = args->slow = 0;
        args->marks = NULL;
        args->found = 1;
        launch->copied = copies && i % 2 == 0 ? s->room->words[i / 2] : NULL;
        args->threads[0] = copies ? DRAWN_MOST : shaped_blocks(&row->launch[i / 2 * 2]) * row->launch[i / 2 * 2].threads;
        args->threads[SHAPED - 1] = shaped_blocks(launch) * launch->threads;
    }
}

static void ask_lines(struct shapes *s)
{
    for (s->trial = 0; ask_goes_on(s->ask, s->trial, LINES_ROUNDS * SHAPED_DRESSES) && s->error == cudaSuccess; s->trial++) {
        draw_lines(s);
        if (!s->row.by_thread || !run_in_thread(run_shapes, s))
            run_shapes(s);
    }
    ask_expect(s->ask, "grids that read through the read-only path", s->error, cudaSuccess);
    ask_expect_none(s->ask, "grids that found words of before through the read-only path", s->kept, s->trial);
}

#endif
