/* crossed_judged.h - what is made of the trials of crossed_graphs.cu, and what they need. */
#ifndef CROSSED_JUDGED_H_INCLUDED
#define CROSSED_JUDGED_H_INCLUDED

/* ---- what the cells have to hold ---- */

/* A part does to one byte of a cell what it does to its cell; rows leave the end of each as it is. */
static void act(const struct part *part, unsigned char (*cells)[CELL_BYTES])
{
    unsigned char *here = cells[part->cell], *next = cells[part->cell + 1];
    unsigned i, value = value_of(part);

    for (i = 0; i < CELL_BYTES; i++) {
        if (is_rows(part->kind) && i % ROW_PITCH >= ROW_BYTES)
            continue;
        if (is_set(part->kind))
            here[i] = (unsigned char)(part->kind == PART_SET_HALVES && i % 2 ? value >> 8 : value);
        else if (carries(part->kind))
            next[i] = here[i];
    }
}

static void fill_cells(struct crossed *c, uint32_t (*cells)[CELL])
{
    unsigned cell, i;

    for (cell = 0; cell < ALL_CELLS; cell++)
        for (i = 0; i < CELL; i++) {
            uint32_t word = words_fresh(c->key, cell * CELL + i);
            cells[cell][i] = cell == 0 || cell == SIDE ? word : ~word;
        }
}

static int is_right(struct crossed *c, unsigned cell, const uint32_t *want, const uint32_t (*in_device)[CELL])
{
    return memcmp(cell < CELLS && c->drawn.pinned[cell] ? c->pinned->cells[0][cell] : in_device[cell], want, CELL_BYTES) == 0;
}

/* The first part that was too soon, PARTS: none was; PARTS + 1: the graph, after the kernel before it. */
static cudaError_t find_too_soon(struct crossed *c, unsigned *part)
{
    static uint32_t want[ALL_CELLS][CELL], got[ALL_CELLS][CELL];
    const struct drawn *d = &c->drawn;
    unsigned i, cell, owner[ALL_CELLS];
    cudaError_t error = cudaMemcpy(got, c->cells[0], sizeof(got), cudaMemcpyDeviceToHost);

    fill_cells(c, want);
    for (cell = 0; cell < ALL_CELLS; cell++)
        owner[cell] = PARTS + 1;
    if (d->ahead)
        memcpy(want[1], want[0], CELL_BYTES);
    for (i = 0; i < d->parts; i++) {
        act(&d->part[i], (unsigned char(*)[CELL_BYTES])want);
        if (is_set(d->part[i].kind) || carries(d->part[i].kind))
            owner[d->part[i].cell + (carries(d->part[i].kind) ? 1 : 0)] = i;
    }
    if (d->reader != NOWHERE) {
        memcpy(want[SIDE + 1], want[SIDE], CELL_BYTES);
        memcpy(want[SIDE + 2], want[SIDE], CELL_BYTES);
        owner[SIDE + 1] = owner[SIDE + 2] = d->beside != NOWHERE ? d->beside : d->wait;
    }
    if (d->record != NOWHERE) {
        memcpy(want[RECORD], want[d->part[d->record].cell], CELL_BYTES);
        owner[RECORD] = d->record;
    }
    *part = PARTS;
    for (cell = 0; cell < ALL_CELLS && *part == PARTS; cell++)
        if (!is_right(c, cell, want[cell], (const uint32_t(*)[CELL])got))
            *part = owner[cell];
    return error;
}

/* ---- what is counted ---- */

struct tally { unsigned soon, trials; };

struct tallies {
    struct tally kind[PART_KINDS], place[PLACES], made[MADES], executable[EXECUTABLES], street[STREETS];
    unsigned unordered;        /* graphs that did not come after the kernel before them */
    char first[360];           /* what went wrong first */
};

static void count_in(struct tally *tally, int soon)
{
    tally->trials++;
    tally->soon += soon != 0;
}

static void judge_trial(struct crossed *c, struct tallies *t, unsigned soon)
{
    const struct drawn *d = &c->drawn;
    unsigned i;

    for (i = 0; i < d->parts; i++) {
        count_in(&t->kind[d->part[i].kind], i == soon);
        count_in(&t->place[place_of(d, i)], i == soon);
    }
    count_in(&t->made[d->made], soon != PARTS);
    count_in(&t->executable[d->executable], soon != PARTS);
    count_in(&t->street[d->street], soon != PARTS);
    t->unordered += soon > PARTS;
    if (soon == PARTS || t->first[0])
        return;
    tell_trial(d, c->trial, soon, t->first, sizeof(t->first));
    ask_accuse(c->ask, "too soon", t->first);
}

static void tell_tallies(struct ask *ask, const char *what, const char *const *name, const struct tally *tally, unsigned count)
{
    char text[96];
    unsigned i;

    for (i = 0; i < count; i++) {
        snprintf(text, sizeof(text), what, name[i]);
        ask_expect_none(ask, text, tally[i].soon, tally[i].trials);
    }
}

/* ---- what they need ---- */

static cudaError_t open_events(struct crossed *c)
{
    static const unsigned flags[EVENT_KINDS] = { cudaEventDisableTiming, cudaEventDefault, cudaEventBlockingSync };
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < EVENTS * EVENT_KINDS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&c->event[i / EVENTS][i % EVENTS], flags[i / EVENTS]);
    return error;
}

static cudaError_t open_streets(struct crossed *c)
{
    int least = 0, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    c->street[STREET_PER_THREAD] = cudaStreamPerThread;
    c->street[STREET_LEGACY] = cudaStreamLegacy;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_PLAIN], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_BLOCKING], cudaStreamDefault);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&c->street[STREET_URGENT], cudaStreamNonBlocking, greatest) : error;
}

static cudaError_t open_crossed(struct crossed *c, struct ask *ask)
{
    static const unsigned hold_ns[HOLDS] = { 2000, 12000, 40000 };
    void *cells = NULL, *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)&c->pinned, sizeof(*c->pinned), cudaHostAllocMapped);
    unsigned i;

    c->ask = ask;
    if (error != cudaSuccess)
        return error;
    memset(c->pinned, 0, sizeof(*c->pinned));
    for (i = 0; i < 2 * HOLDS; i++) {
        c->pinned->plan[i / HOLDS][i % HOLDS].hold_ns = hold_ns[i % HOLDS];
        c->pinned->plan[i / HOLDS][i % HOLDS].words = i < HOLDS ? CELL : MANY;
    }
    error = cudaHostGetDevicePointer(&device, c->pinned, 0);
    c->seen_by_device = (char *)device;
    if (error == cudaSuccess)
        error = cudaMalloc(&cells, 2 * sizeof(*c->cells));
    c->cells = (uint32_t(*)[ALL_CELLS][CELL])cells;
    if (error == cudaSuccess)
        error = open_events(c);
    return error == cudaSuccess ? open_streets(c) : error;
}

static void close_crossed(struct crossed *c)
{
    unsigned i;

    (void)cudaDeviceSynchronize();
    for (i = 0; i < EVENTS * EVENT_KINDS; i++)
        (void)cudaEventDestroy(c->event[i / EVENTS][i % EVENTS]);
    for (i = 0; i < STREET_PER_THREAD; i++)
        if (c->street[i])
            (void)cudaStreamDestroy(c->street[i]);
    (void)cudaFree(c->cells);
    (void)cudaFreeHost(c->pinned);
    (void)cudaGetLastError();
}

#endif
